"""From what the panel says to where it is: select the objects, and let a 3D view show them."""

import json

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty
from mathutils import Vector

from ..read.scene_notes import OUTSIDE
from ..write import attach, excluded_pairs
from . import operators
from .words import rpt_, tip_

# Names of a note's objects that its button's tooltip lists.
_NAMES_IN_TOOLTIP = 12
# A contact is shown from so far away: this many times the object's size fit into the 3D view's narrower side.
_SIZES_SHOWN = 5.0
# Width that a perspective 3D view shows at its distance, over that distance, is this over its lens [mm].
_VIEW_SENSOR = 72.0
# Where notes stand.
_SOURCES = (
    ("check", "Check", "Notes that a check or a bake has found"),
    ("status", "Status", "Notes that stand above the button Bake"),
    ("faults", "Faults", "Faults for which a bake has refused the scene"),
)


class _GoingOperator:
    """Operators that select objects, which Blender lets nobody do in other modes."""

    bl_options = {"UNDO", "INTERNAL"}

    @classmethod
    def poll(cls, context):
        if context.mode != "OBJECT":
            cls.poll_message_set("Switch to Object Mode first")
            return False
        return True

    def _go_to(self, context, names):
        """Select and show; say which objects cannot be selected, if these are all."""
        if not select(context, names):
            text = rpt_("{} is not in this view layer, or hidden")
            if len(names) > 1:
                text = rpt_("{} and {:,d} more are not in this view layer, or hidden")
            self.report({"WARNING"}, text.format(names[0], len(names) - 1))
            return {"CANCELLED"}
        show_selected(context)
        return {"FINISHED"}


class CAIRN_OT_select_object(_GoingOperator, bpy.types.Operator):
    """Select the object that the message is about, make it active and show it in the 3D view"""

    bl_idname = "cairn.select_object"
    bl_label = "Select Object"

    object_name: StringProperty(name="Object", description="Name the object that is to be selected")

    def execute(self, context):
        return self._go_to(context, [self.object_name])


class CAIRN_OT_select_noted(_GoingOperator, bpy.types.Operator):
    """Select the objects that this note is about, and show them in the 3D view"""

    bl_idname = "cairn.select_noted"
    bl_label = "Select Objects of Note"

    source: EnumProperty(name="Source", description="Tell which list the note stands in", items=_SOURCES)
    place: IntProperty(name="Place", description="Tell the place of the note in its list", min=0)

    @classmethod
    def description(cls, context, properties):
        names = noted_names(context, properties.source, properties.place)
        listed = ", ".join(names[:_NAMES_IN_TOOLTIP])
        more = len(names) - _NAMES_IN_TOOLTIP
        if more > 0:
            return tip_("Select {} and {:,d} more, and show them in the 3D view").format(listed, more)
        if len(names) > 1:
            return tip_("Select {}, and show them in the 3D view").format(listed)
        return tip_("Select {} and show it in the 3D view").format(listed)

    def execute(self, context):
        names = noted_names(context, self.source, self.place)
        if not names:
            self.report({"WARNING"}, "The scene has changed meanwhile")
            return {"CANCELLED"}
        return self._go_to(context, names)


class CAIRN_OT_leave_out(bpy.types.Operator):
    """Take these bodies out of the Rigid Body World's collection, so that neither Blender nor Cairn simulates them"""

    bl_idname = "cairn.leave_out"
    bl_label = "Leave Out Bodies of Note"
    bl_options = {"UNDO", "INTERNAL"}

    source: EnumProperty(name="Source", description="Tell which list the note stands in", items=_SOURCES)
    place: IntProperty(name="Place", description="Tell the place of the note in its list", min=0)

    @classmethod
    def poll(cls, context):
        return operators.running is None and operators.scene_bodies(context.scene) is not None

    def execute(self, context):
        collection = operators.scene_bodies(context.scene)
        names = noted_names(context, self.source, self.place)
        found = [ob for ob in collection.objects if ob.name in names]
        for ob in found:
            attach.take_off_bake(ob)
            collection.objects.unlink(ob)
        if found:
            operators.forget_note(context, OUTSIDE)
        text = rpt_("Left out {:,d} of {:,d} bodies").format(len(found), len(names))
        if len(found) == len(names) == 1:
            text = rpt_("Left out {}").format(names[0])
        self.report({"INFO"} if found else {"WARNING"}, text)
        return {"FINISHED"} if found else {"CANCELLED"}


class CAIRN_OT_let_pass(bpy.types.Operator):
    """Let these bodies never touch what they overlap: by Disable Collisions of a constraint between the two"""

    bl_idname = "cairn.let_pass"
    bl_label = "Let Bodies of Note Pass"
    bl_options = {"UNDO", "INTERNAL"}

    place: IntProperty(name="Place", description="Tell the place of the note in the list of the check", min=0)

    @classmethod
    def poll(cls, context):
        return operators.running is None and operators.scene_bodies(context.scene) is not None

    def execute(self, context):
        check, done = operators.check_of(context), 0
        notes = check.get("notes", [])
        text, names = notes[self.place][1:] if self.place < len(notes) else ("", [])
        pairs = [pair for pair in check.get("held", []) if pair[0] in names]
        objects = {ob.name: ob for ob in operators.scene_bodies(context.scene).all_objects}
        for first, second in pairs:
            if first in objects and second in objects:
                excluded_pairs.exclude(context.scene, objects[first], objects[second])
                done += 1
        if done:
            operators.forget_note(context, text)
        said = rpt_("{:,d} of {:,d} pairs will not touch").format(done, len(pairs))
        self.report({"INFO"} if done else {"WARNING"}, said)
        return {"FINISHED"} if done else {"CANCELLED"}


class CAIRN_OT_go_to_worst(bpy.types.Operator):
    """Go to the frame of the last bake's largest remaining error, select the object at that contact and show it"""

    bl_idname = "cairn.go_to_worst"
    bl_label = "Go to Worst Contact"
    bl_options = {"UNDO", "INTERNAL"}

    @classmethod
    def poll(cls, context):
        return bool(context.scene.cairn.worst_object) and operators.running is None

    def execute(self, context):
        facts = context.scene.cairn
        context.scene.frame_set(facts.worst_frame)
        if context.mode == "OBJECT" and select(context, [facts.worst_object]):
            show_around(context, context.view_layer.objects.active)
        return {"FINISHED"}


def noted_names(context, source, place):
    """Objects of a note that the panel shows; none where the list has changed meanwhile."""
    session = context.window_manager.cairn
    if source == "faults":
        notes = json.loads(session.faults or "[]")
    else:
        known = operators.check_of(context) if source == "check" else json.loads(session.status or "{}")
        notes = known.get("notes", [])
    return notes[place][2] if place < len(notes) else []


def select(context, names):
    """Select these objects alone, those that are there and visible; False if none is."""
    found = [context.view_layer.objects.get(name) for name in names]
    found = [ob for ob in found if ob is not None and ob.visible_get()]
    if not found:
        return False
    for other in context.selected_objects:
        other.select_set(False)
    for ob in found:
        ob.select_set(True)
    context.view_layer.objects.active = found[0]
    return True


def show_selected(context):
    """Let the 3D view that is used, or else the window's largest, show what is selected; no window, no view."""
    area, region = _view(context)
    if area is None:
        return
    with context.temp_override(area=area, region=region):
        bpy.ops.view3d.view_selected()


def show_around(context, ob):
    """Let the same view show an object with what is beside it, from the direction it looks from."""
    area, region = _view(context)
    if area is None:
        return
    space, middle, size = area.spaces.active, *middle_and_size(ob.evaluated_get(context.evaluated_depsgraph_get()))
    view = space.region_3d
    if view.view_perspective == "CAMERA":
        view.view_perspective = "PERSP"
    view.view_location = middle
    # the lens' width belongs to the wider side, so that the narrower one shows less
    narrower = min(region.width, region.height) / max(region.width, region.height)
    view.view_distance = _SIZES_SHOWN * size * space.lens / _VIEW_SENSOR / narrower


def middle_and_size(ob):
    """Middle of an evaluated object's bounding box in the world, and the diagonal of that [m]."""
    corners = [ob.matrix_world @ Vector(corner) for corner in ob.bound_box]
    low = Vector([min(corner[axis] for corner in corners) for axis in range(3)])
    high = Vector([max(corner[axis] for corner in corners) for axis in range(3)])
    return 0.5 * (low + high), (high - low).length


def _view(context):
    """The 3D view that is used, or else the window's largest, and its region; no window, no view."""
    if bpy.app.background or context.window is None:
        return None, None
    views = [area for area in context.window.screen.areas if area.type == "VIEW_3D"]
    if not views:
        return None, None
    area = context.area if context.area in views else max(views, key=lambda area: area.width * area.height)
    return area, next(region for region in area.regions if region.type == "WINDOW")


CLASSES = (CAIRN_OT_select_object, CAIRN_OT_select_noted, CAIRN_OT_leave_out, CAIRN_OT_let_pass, CAIRN_OT_go_to_worst)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
