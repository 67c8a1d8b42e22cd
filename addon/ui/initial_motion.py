"""*Initial Motion* of a rigid body: its panel, its arrow in the 3D view, and what takes it from animation."""

import contextlib

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..read.scene_poses import SceneError
from . import operators
from .body_panels import OfBody
from .operators import SceneOperator
from .words import rpt_

# The arrow ends where the body comes to in this time, if nothing holds or pulls it [s].
_SECONDS_SHOWN = 0.25
# How often is looked whether the tip is still held [s].
_SECONDS_TO_LOOK = 0.2
# The tip that was pulled at last.
_tips: list = []
_COLOR, _COLOR_TOUCHED = (0.25, 0.7, 1.0), (1.0, 1.0, 1.0)


class PHYSICS_PT_cairn_start(OfBody, bpy.types.Panel):
    """The motion that a body begins with."""

    bl_label = "Initial Motion"

    def draw(self, context):
        column, settings = self.column(context), context.object.cairn
        column.prop(settings, "start_velocity")
        column.prop(settings, "start_spin")
        column.prop(settings, "start_space")
        column.prop(settings, "start_random")
        row = column.row()
        row.active = settings.start_random > 0.0
        row.prop(settings, "start_seed")
        column.operator("cairn.start_from_animation", icon="ANIM")


class CAIRN_OT_start_from_animation(SceneOperator, bpy.types.Operator):
    """Let the selected bodies begin as their animation brings them to the first frame: keys, parents, constraints"""

    bl_idname = "cairn.start_from_animation"
    bl_label = "From Animation"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        from ..read.launches import motion_into_start
        from ..read.scene_export import export_scene

        chosen = [ob for ob in context.selected_objects or [context.object] if ob and ob.rigid_body]
        chosen = [ob for ob in chosen if ob.rigid_body.type == "ACTIVE" and ob.is_editable]
        baked = next((ob for ob in chosen if ob.cairn.is_baked), None)
        if not chosen:
            self.report({"WARNING"}, rpt_("Select active rigid bodies first"))
            return {"CANCELLED"}
        if baked is not None:
            text = rpt_("{} has the keys of a bake; delete the bake first")
            self.report({"WARNING"}, text.format(baked.name))
            return {"CANCELLED"}
        shown = context.scene.frame_current
        try:
            export = export_scene(context.scene, decompose=False)
            found = motion_into_start(context.scene, chosen, export)
        except SceneError as error:
            self.report({"ERROR"}, operators.sentence(str(error)))
            return {"CANCELLED"}
        finally:
            context.scene.frame_set(shown)
        moved = 0
        for ob, motion in found.items():
            ob.cairn.start_space, ob.cairn.start_random = "WORLD", 0.0
            ob.cairn.start_velocity, ob.cairn.start_spin = motion[:3], motion[3:]
            moved += bool(np.any(motion))
        still = len(found) - moved
        text = (
            rpt_("{} bodies begin as animated, {} do not move there") if still else rpt_("{} bodies begin as animated")
        )
        self.report({"INFO"}, text.format(moved, still))
        return {"FINISHED"}


class CAIRN_GGT_start_velocity(bpy.types.GizmoGroup):
    """An arrow from the active body to where it comes to in a quarter of a second; its tip sets the velocity."""

    bl_idname = "CAIRN_GGT_start_velocity"
    bl_label = "Initial Velocity"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context):
        ob = context.object
        if ob is None or ob.rigid_body is None or ob.rigid_body.type != "ACTIVE" or operators.running is not None:
            return False
        return context.mode == "OBJECT" and any(ob.cairn.start_velocity) and not ob.cairn.is_baked

    def setup(self, context):
        self.shaft = self.gizmos.new("GIZMO_GT_arrow_3d")
        self.shaft.use_draw_modal = True
        self.shaft.hide_select = True
        self.tip = self.gizmos.new("GIZMO_GT_move_3d")
        self.tip.draw_options = {"FILL", "ALIGN_VIEW"}
        self.tip.use_draw_modal = True
        self.tip.scale_basis = 0.1
        self.tip.target_set_handler("offset", get=_shown_offset, set=self._take_offset)
        for gizmo in (self.shaft, self.tip):
            gizmo.color, gizmo.alpha = _COLOR, 0.8
            gizmo.color_highlight, gizmo.alpha_highlight = _COLOR_TOUCHED, 1.0

    def refresh(self, context):
        ob = context.object
        offset = Vector(_shown_offset())
        place = ob.matrix_world.translation
        self.tip.matrix_basis = Matrix.Translation(place)
        turn = Vector((0, 0, 1)).rotation_difference(offset).to_matrix().to_4x4()
        self.shaft.matrix_basis = Matrix.Translation(place) @ turn
        self.shaft.length = offset.length
        self.shaft.scale_basis = 1.0
        self.shaft.use_draw_scale = False
        self.tip.use_draw_offset_scale = False

    def draw_prepare(self, context):
        self.refresh(context)

    def _take_offset(self, value):
        _tips[:] = [self.tip]
        _take_offset(value)


def _axes(ob):
    """From the axes of an object's velocity to those of the world."""
    return ob.matrix_world.to_quaternion() if ob.cairn.start_space == "LOCAL" else Matrix.Identity(3).to_quaternion()


def _shown_offset():
    ob = bpy.context.object
    return _axes(ob) @ Vector(ob.cairn.start_velocity) * _SECONDS_SHOWN


def _take_offset(value):
    ob = bpy.context.object
    ob.cairn.start_velocity = _axes(ob).inverted() @ Vector(value) / _SECONDS_SHOWN
    for area in bpy.context.screen.areas:
        if area.type == "PROPERTIES":
            area.tag_redraw()
    # Blender notes no step of undo for what a gizmo sets by itself
    if bpy.app.timers.is_registered(_note_undo):
        bpy.app.timers.unregister(_note_undo)
    bpy.app.timers.register(_note_undo, first_interval=_SECONDS_TO_LOOK)


def _note_undo():
    """One step of undo, once the arrow's tip is let go."""
    with contextlib.suppress(ReferenceError):  # its view is closed
        if _tips and _tips[-1].is_modal:
            return _SECONDS_TO_LOOK
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        bpy.ops.ed.undo_push(message="Initial Velocity")
    return None


CLASSES = (CAIRN_OT_start_from_animation, PHYSICS_PT_cairn_start, CAIRN_GGT_start_velocity)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    if bpy.app.timers.is_registered(_note_undo):
        bpy.app.timers.unregister(_note_undo)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
