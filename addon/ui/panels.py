"""Cairn's panels: the same in Scene > Rigid Body World and in the 3D view's sidebar.

Blender draws all the time, so nothing here takes time to compute: what a check or a bake has found is kept on the
window manager (operators.py).
"""

import functools
import json
from pathlib import Path

import bpy
from bl_ui.utils import PresetPanel

from ..checkpoints import housekeeping
from ..joint_kinds import OPEN_AXES, SERVO_AXES, joints_sentence
from ..read.early_notes import nothing_to_bake
from ..read.scene_notes import HELD, OUTSIDE
from ..settings import VARIANT_NAMES, friction_mismatch, why_without
from . import operators, watch
from .breaking import breaking_texts
from .continue_bake import size_text
from .errors import sentence
from .lines import LETTER_WIDTH, draw_lines, is_narrow, panel_width, wrapped
from .operators import is_baked, scene_bodies
from .words import iface_, names_told, objects_in, told

# Share of a wider panel that Blender gives to names, letters of a value, and what a panel has at its sides [pixels].
SHARE_OF_NAMES, LETTERS_OF_VALUE, MARGIN = 0.4, 9, 40
# What is beside a bar's text: the panel's sides, and the button that stops [pixels at a scale of 1].
MARGIN_OF_BAR = 65
# What a bake leaves beside its keys of motion.
_BESIDE = ("hit_keys", "contact_points", "impact_curves", "report_curves")
# Notes may be many: they stand below Solver and Wedge.
LAST = 10
LINES_OF_NOTES = 6
LINES_OF_ERROR = 8
# Words with which a note's text goes on from the name of its object.
VERBS_OF_NOTES = ("is", "has", "starts", "joins", "broke", "may", "turns", "let", "holds")


class CAIRN_PT_presets(PresetPanel, bpy.types.Panel):
    bl_label = "Cairn Presets"
    preset_subdir = "cairn"
    preset_operator = "script.execute_preset"
    preset_add_operator = "cairn.preset_add"

    @staticmethod
    def post_cb(context, _filepath):
        """Blender reports no change of what a script has set."""
        context.scene.update_tag()


class _InScene:
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "scene"


class _InSidebar:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Cairn"


class _Bake:
    bl_label = "Cairn"

    def draw_header_preset(self, context):
        CAIRN_PT_presets.draw_panel_header(self.layout)

    def draw(self, context):
        layout = self.layout
        lay_out(layout, context)
        scene = context.scene
        if scene.rigidbody_world is None:
            draw_first_steps(layout, context)
            if is_baked(context):  # the world was removed; its bake plays on
                layout.operator("cairn.delete_bake", icon="TRASH")
            return
        draw_settings(layout, context)
        draw_bake(layout, context)
        draw_error(layout, context)
        draw_summary(layout, context)
        draw_waiting(layout, context)


class _Solver:
    """The solver and its limits, for those who compare methods."""

    bl_label = "Solver"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return context.scene.rigidbody_world is not None

    def draw(self, context):
        layout = self.layout
        lay_out(layout, context)
        draw_solver(layout, context)


class _Check:
    bl_label = "Check"

    @classmethod
    def poll(cls, context):
        return context.scene.rigidbody_world is not None

    def draw(self, context):
        row = self.layout.column(align=True) if is_narrow(context) else self.layout.row(align=True)
        row.operator("cairn.check_scene", icon="FILE_REFRESH")
        row.operator("cairn.check_scene", text="And Overlaps", icon="SELECT_INTERSECT").find_overlaps = True
        draw_notes(self.layout, context)


class _Parts:
    """How a concave mesh that moves is made of convex parts."""

    bl_label = "Convex Parts"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        ob = context.object
        return ob is not None and ob.rigid_body is not None and ob.rigid_body.collision_shape == "MESH"

    def draw(self, context):
        layout = self.layout
        lay_out(layout, context)
        column = layout.column()
        column.enabled = operators.running is None
        column.active = context.object.rigid_body.type == "ACTIVE"
        draw_option(column, context, context.object.cairn, "concavity")
        draw_option(column, context, context.object.cairn, "maximal_parts")
        draw_option(column, context, context.object.cairn, "repair_resolution")


class InPhysics:
    """Sub-panels of Blender's own panel of a rigid body."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"


class _Joint:
    """What Blender's rigid body constraints lack."""

    bl_label = "Cairn"

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.rigid_body_constraint is not None

    def draw(self, context):
        layout = self.layout
        lay_out(layout, context)
        constraint, extras = context.object.rigid_body_constraint, context.object.cairn.joint
        column = layout.column()
        column.enabled = operators.running is None
        column.active = constraint.enabled
        draw_option(column, context, extras, "kind")
        if extras.kind == "BLENDER":
            draw_axes(column, context, constraint.type, extras)
        else:
            draw_kind(column, context, extras)
        for text in breaking_texts(context.scene, context.object):
            draw_lines(column, context, text, "INFO")


def draw_axes(column, context, kind, extras):
    """Friction, servos and soft limits of the axes that a type of constraint leaves free."""
    free = OPEN_AXES.get(kind, ())
    if kind == "POINT":
        draw_option(column, context, extras, "friction_torque")
        return
    for word, axes, target, friction, largest in (
        ("lin", range(3), "servo_position", "friction_force", "servo_force"),
        ("ang", range(3, 6), "servo_angle", "friction_torque", "servo_torque"),
    ):
        if kind != "MOTOR" and not set(axes).isdisjoint(free):
            draw_option(column, context, extras, friction)
        if not set(axes).isdisjoint(SERVO_AXES.get(kind, ())):
            draw_option(column, context, extras, f"use_servo_{word}")
            servo = column.column(align=True)
            servo.active = getattr(extras, f"use_servo_{word}")
            draw_option(servo, context, extras, target)
            draw_option(servo, context, extras, largest)
    if free and kind != "MOTOR":
        draw_option(column, context, extras, "use_soft_limits")
        soft = column.column(align=True)
        soft.active = extras.use_soft_limits
        for word, axes in (("lin", range(3)), ("ang", range(3, 6))):
            if not set(axes).isdisjoint(free):
                draw_option(soft, context, extras, f"limit_stiffness_{word}")
                draw_option(soft, context, extras, f"limit_damping_{word}")
    if not free:
        draw_lines(column, context, iface_("Nothing more for this type"), "INFO")


def draw_kind(column, context, extras):
    """Settings of a kind that Blender lacks."""
    if extras.kind == "CONE_TWIST":
        draw_option(column, context, extras, "cone_angle")
        draw_option(column, context, extras, "twist_angle")
        draw_option(column, context, extras, "friction_torque")
    elif extras.kind == "ROPE":
        draw_option(column, context, extras, "rope_end")
        draw_option(column, context, extras, "use_rope_length")
        length = column.column()
        length.active = extras.use_rope_length
        draw_option(length, context, extras, "rope_length")
    elif extras.kind == "GEAR":
        draw_option(column, context, extras, "gear_ratio")
    else:
        draw_option(column, context, extras, "rack_radius")


def draw_settings(layout, context):
    """What animators choose for every shot; the rest is in the sub-panel Solver."""
    scene = context.scene
    settings = scene.cairn
    column = layout.column()
    column.enabled = operators.running is None
    quality = column.row()
    quality.use_property_split = False  # the three words need the panel's width
    quality.active = settings.method == "auto"
    if is_narrow(context):
        quality.prop(settings, "quality", text="")
    else:
        quality.prop(settings, "quality", expand=True)
    steps = column.column(align=True)
    steps.prop(settings, "substeps")
    steps.prop(settings, "max_substeps")

    column = layout.column(align=True)
    column.enabled = operators.running is None
    column.prop(settings, "use_custom_range")
    owner = settings if settings.use_custom_range else scene.rigidbody_world.point_cache
    column.prop(owner, "frame_start", text="Simulation Start")
    column.prop(owner, "frame_end", text="End")
    cache = scene.rigidbody_world.point_cache
    same = (cache.frame_start, cache.frame_end) == (scene.frame_start, scene.frame_end)
    if not settings.use_custom_range and not same:
        column.operator("cairn.use_scene_range", icon="PREVIEW_RANGE")
    draw_mismatch(layout, context)


def draw_solver(layout, context):
    """How contacts are solved: closed, since the defaults suit almost every scene."""
    settings = context.scene.cairn
    column = layout.column()
    column.enabled = operators.running is None
    for name in ("method", "friction", "tolerance", "max_iterations", "threads", "use_checkpoints", *_BESIDE):
        draw_option(column, context, settings, name)
    draw_checkpoints(layout)
    # those of other solvers are not shown
    for name in VARIANT_NAMES:
        if not why_without(name, settings.method, settings.friction):
            draw_option(column, context, settings, name)


def draw_checkpoints(layout):
    """What checkpoints take beside this file, and a button that removes them."""
    usage = housekeeping.usage_of(Path(bpy.data.filepath)) if bpy.data.filepath else None
    if usage is None or not usage.count:
        return
    text = iface_("Remove Checkpoints ({} MB)").format(size_text(usage))
    layout.operator("cairn.remove_checkpoints", text=text, icon="TRASH", translate=False)


def draw_option(column, context, owner, name):
    """A property; its name stands above it where there is no room for it beside the value, or within the field."""
    option = owner.bl_rna.properties[name]
    if option.type != "BOOLEAN" and not has_room(context, iface_(option.name), option.type == "ENUM"):
        column.label(text=option.name)
        column.prop(owner, name, text="")
    else:
        column.prop(owner, name)


def has_room(context, name, is_choice):
    """Whether the name of a property is not cut beside its value, or in a narrow panel within the field."""
    if is_narrow(context):
        # a choice shows its value alone there
        return not is_choice and (len(name) + LETTERS_OF_VALUE) * LETTER_WIDTH < panel_width(context) - MARGIN
    return len(name) * LETTER_WIDTH < SHARE_OF_NAMES * panel_width(context)


def draw_mismatch(layout, context):
    """Say that solver and friction model do not go together: a bake would refuse them."""
    settings = context.scene.cairn
    mismatch = friction_mismatch(settings.method, settings.friction)
    if mismatch:
        warning = layout.column(align=True)
        warning.alert = True
        for i, line in enumerate(wrapped(context, told(mismatch), 8)):
            warning.label(text=line, icon="BLANK1" if i else "ERROR", translate=False)


def draw_bake(layout, context):
    """The bake as a state in words: what would be baked, how far it is, what is there."""
    scene, running = context.scene, operators.running
    if running is not None:
        # a bar's text does not wrap: where it would be cut it stands below
        fits = len(running["text"]) * LETTER_WIDTH < panel_width(context) - MARGIN_OF_BAR
        row = layout.row(align=True)
        row.progress(factor=running["factor"], text=running["text"] if fits else "")
        if context.area.type == "VIEW_3D":  # elsewhere clicks do not arrive
            row.operator("cairn.stop", text="", icon="CANCEL")
        draw_lines(layout, context, "" if fits else running["text"], "NONE", 2)
        draw_lines(layout, context, running["remark"] or iface_(running["hint"]), "NONE", 0)
        return
    bodies = scene_bodies(scene)
    count = len(bodies.all_objects) if bodies is not None else 0
    reason = nothing_to_bake(scene)
    if count and not is_baked(context):
        draw_lines(layout, context, counted(count), "INFO")
    status = status_of(context)
    if reason and not count:
        draw_first_steps(layout, context)
    elif reason:
        draw_lines(layout, context, told(reason), "INFO")
        draw_adding(layout)
    draw_folded(layout, context, "status", status.get("notes", ()))
    outdated = status.get("outdated", "")
    draw_lines(layout, context, told(outdated, names_told(outdated)), "FILE_REFRESH")
    row = layout.row(align=True)
    row.scale_y = 1.4
    button = row.row(align=True)
    button.alert = bool(outdated)
    button.operator("cairn.bake", text="Bake Again" if is_baked(context) else "Bake", icon="REC")
    if is_baked(context):
        row.operator("cairn.delete_bake", text="", icon="TRASH")
    draw_continue(layout, context, status)


def draw_first_steps(layout, context):
    """What to do in an empty scene: something ready-made, or bodies of one's own."""
    text = iface_(
        "To try it: Add > Cairn, then Bake. For your own scene: select meshes, make some Active and the floor Passive"
    )
    draw_lines(layout, context, text, "INFO")
    layout.menu("VIEW3D_MT_cairn_add", text="Ready-Made Scene", icon="ADD")
    draw_adding(layout)


def draw_adding(layout):
    row = layout.row(align=True)
    row.operator("rigidbody.objects_add", text="Add Active").type = "ACTIVE"
    row.operator("rigidbody.objects_add", text="Add Passive").type = "PASSIVE"


def draw_continue(layout, context, status):
    """What checkpoints allow: to go on to the end, to fetch what is there, and to keep what is before the frame."""
    offer, fetch, recorded = status.get("checkpoint", {}), status.get("fetch", 0), status.get("recorded", [])
    column = layout.column(align=True)
    if fetch:
        text = iface_("Fetch Back to Frame {:d}").format(fetch)
        column.operator("cairn.continue_bake", text=text, icon="IMPORT", translate=False)
    elif offer and offer["fits"] and offer["frame"] < offer["end"]:
        text = iface_("Continue to {:d}").format(offer["end"])
        column.operator("cairn.continue_bake", text=text, icon="PLAY", translate=False)
    if recorded:
        row = column.row(align=True)
        row.enabled = recorded[0] < context.scene.frame_current <= recorded[1]
        row.operator("cairn.bake_from_current", icon="PREV_KEYFRAME")
    why_not = status.get("why_not", "")
    draw_lines(layout, context, told(why_not, names_told(why_not)), "INFO")


def status_of(context):
    """What was found of the present scene after its last change (watch.py)."""
    watch.look_at_new(context.scene)
    status = json.loads(context.window_manager.cairn.status or "{}")
    return status if status.get("scene") == context.scene.name else {}


def draw_grouped(layout, context, source, notes, but=()):
    """Grouped notes of a list on the window manager, each with a button that selects what it is about.

    Not those of another list that stands there already (``but``).
    """
    for place, (level, text, names) in enumerate(notes):
        if [level, text, names] in but:
            continue
        row, is_held = layout.row(), text.endswith(HELD) and source == "check"
        margin = 5 + (3 if names else 0) + (5 if is_held else 0)
        draw_lines(row, context, noted(text, names), "ERROR" if level == "warning" else "INFO", margin)
        if names:
            if text == OUTSIDE:  # there is nothing to select
                button = row.operator("cairn.leave_out", text="", icon="X", emboss=False)
            else:
                button = row.operator("cairn.select_noted", text="", icon="RESTRICT_SELECT_OFF", emboss=False)
            button.source, button.place = source, place
            if is_held:
                button = row.operator("cairn.let_pass", text="", icon="MOD_BOOLEAN", emboss=False)
                button.place = place


def draw_folded(layout, context, source, notes, but=()):
    """The first of them, and a button that shows the others: what stands below is in sight."""
    session = context.window_manager.cairn
    shown = len(notes) if session.show_all_notes else LINES_OF_NOTES
    draw_grouped(layout, context, source, notes[:shown], but)
    hidden = len(notes) - LINES_OF_NOTES
    if hidden > 0:
        text = iface_("{:d} more").format(hidden)
        icon = "DOWNARROW_HLT" if session.show_all_notes else "RIGHTARROW"
        layout.prop(session, "show_all_notes", text=text, icon=icon, toggle=True, translate=False)


def noted(text, names):
    """A note as a sentence with its object, or the number of them."""
    if not names:
        return told(sentence(text))
    if len(names) == 1:
        return ": ".join((names[0], told(text)))
    # texts go on from an object's name: "is flat", or begin anew: "its origin", "force fields"
    if text.split()[0] in VERBS_OF_NOTES and told(text) == text:
        return iface_("Each of {:,d} objects {}").format(len(names), text)
    return iface_("Each of {:,d} objects: {}").format(len(names), told(text))


def draw_error(layout, context):
    session = context.window_manager.cairn
    if not session.error:
        return
    box = layout.box()
    row = box.row()
    lines = row.column(align=True)
    lines.alert = True
    # several are listed below, by kind and all of them
    faults = json.loads(session.faults or "[]")
    text = (
        iface_("All of this has to be corrected first:")
        if faults
        else told(session.error, [session.error_object, *objects_in(session.error)])
    )
    for i, line in enumerate(wrapped(context, text, 11)[:LINES_OF_ERROR]):
        lines.label(text=line, icon="ERROR" if i == 0 else "BLANK1", translate=False)
    row.operator("cairn.clear_error", text="", icon="X", emboss=False)
    if faults:
        draw_grouped(box, context, "faults", faults)
    elif session.error_object:
        text = iface_("Select {}").format(session.error_object)
        box.operator(
            "cairn.select_object", text=text, icon="RESTRICT_SELECT_OFF", translate=False
        ).object_name = session.error_object


def draw_summary(layout, context):
    facts = context.scene.cairn
    if not facts.is_baked or operators.running is not None:
        return
    column = layout.column(align=True)
    text = iface_("Frames {:d}-{:d}").format(facts.baked_start, facts.baked_end)
    if facts.baked_end < facts.requested_end:
        text = iface_("Frames {:d}-{:d} of {:d}").format(facts.baked_start, facts.baked_end, facts.requested_end)
    draw_lines(column, context, text, "ERROR" if facts.has_warnings else "CHECKMARK")
    for line in wrapped(context, told(facts.summary, [worst_contact(facts.report)]), 3):
        column.label(text=line, icon="BLANK1", translate=False)
    if facts.worst_object:
        layout.operator("cairn.go_to_worst", icon="VIEWZOOM")
    if context.scene.rigidbody_world.enabled:
        draw_lines(layout, context, iface_("Blender's own simulation is on and moves the objects"), "ERROR")


@functools.lru_cache(maxsize=4)
def worst_contact(report):
    """The contact that a summary names, "Cube.014 on Floor", of a bake's report as it is stored."""
    return json.loads(report).get("totals", {}).get("worst", {}).get("contact", "") if report else ""


def draw_waiting(layout, context):
    """Say why Blender's own simulation is off, and what brings it back."""
    scene = context.scene
    if scene.cairn.world_waits and not scene.cairn.is_baked and operators.running is None:
        text = iface_("Blender's own simulation is off until frame {:d} is shown, where it begins")
        draw_lines(layout, context, text.format(scene.rigidbody_world.point_cache.frame_start), "INFO")


def counted(bodies):
    """A number of rigid bodies in words."""
    return iface_("{:,d} rigid body" if bodies == 1 else "{:,d} rigid bodies").format(bodies)


def draw_notes(layout, context):
    """What the last check or bake of this scene has found."""
    check = operators.check_of(context)
    if not check:
        return
    text = iface_("{:,d} rigid bodies, {:,d} of them move")
    if check["moving"] == 1:
        text = iface_("{:,d} rigid bodies, {:,d} of them moves")
    if check["bodies"] == 1:
        text = iface_("{:,d} rigid body, {:,d} of them moves")
    text = text.format(check["bodies"], check["moving"])
    column = layout.column(align=True)
    draw_lines(column, context, text, "RIGID_BODY")
    joints = told(joints_sentence(check.get("joints", {})))
    for i, line in enumerate(wrapped(context, joints, 3)):
        column.label(text=line, icon="BLANK1" if i else "RIGID_BODY_CONSTRAINT", translate=False)
    if not check["notes"]:
        column.label(text="Nothing is ignored", icon="CHECKMARK")
    draw_folded(column, context, "check", check["notes"], status_of(context).get("notes", []))


def label(layout, text, icon="NONE"):
    """One line on the right, as Blender's physics panels have them."""
    row = layout.row(align=True)
    row.alignment = "RIGHT"
    row.label(text=text, icon=icon, translate=False)


def lay_out(layout, context):
    """Names beside values, as Blender has them; in a narrow sidebar, which would cut them, within the fields."""
    layout.use_property_split = not is_narrow(context)
    layout.use_property_decorate = False


class SCENE_PT_cairn(_Bake, _InScene, bpy.types.Panel):
    bl_parent_id = "SCENE_PT_rigid_body_world"

    @classmethod
    def poll(cls, context):
        return context.scene is not None and context.scene.rigidbody_world is not None


class SCENE_PT_cairn_solver(_Solver, _InScene, bpy.types.Panel):
    bl_parent_id = "SCENE_PT_cairn"


class SCENE_PT_cairn_check(_Check, _InScene, bpy.types.Panel):
    bl_order = LAST
    bl_parent_id = "SCENE_PT_cairn"


class VIEW3D_PT_cairn(_Bake, _InSidebar, bpy.types.Panel):
    @classmethod
    def poll(cls, context):
        return context.scene is not None


class VIEW3D_PT_cairn_solver(_Solver, _InSidebar, bpy.types.Panel):
    bl_parent_id = "VIEW3D_PT_cairn"


class PHYSICS_PT_cairn_parts(_Parts, InPhysics, bpy.types.Panel):
    bl_parent_id = "PHYSICS_PT_rigid_body"


class PHYSICS_PT_cairn_joint(_Joint, InPhysics, bpy.types.Panel):
    bl_parent_id = "PHYSICS_PT_rigid_body_constraint"


class VIEW3D_PT_cairn_joint(_Joint, _InSidebar, bpy.types.Panel):
    bl_label = "Joint"
    bl_parent_id = "VIEW3D_PT_cairn"


class VIEW3D_PT_cairn_parts(_Parts, _InSidebar, bpy.types.Panel):
    bl_parent_id = "VIEW3D_PT_cairn"


class VIEW3D_PT_cairn_check(_Check, _InSidebar, bpy.types.Panel):
    bl_order = LAST
    bl_parent_id = "VIEW3D_PT_cairn"


CLASSES = (
    CAIRN_PT_presets,
    SCENE_PT_cairn,
    SCENE_PT_cairn_solver,
    SCENE_PT_cairn_check,
    VIEW3D_PT_cairn,
    VIEW3D_PT_cairn_parts,
    VIEW3D_PT_cairn_joint,
    VIEW3D_PT_cairn_check,
    VIEW3D_PT_cairn_solver,
    PHYSICS_PT_cairn_parts,
    PHYSICS_PT_cairn_joint,
)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
