"""The worst moments of a bake as a list: each leads to its frame, and shows what it is about."""

import functools
import json

import bpy
from bpy.props import IntProperty

from . import navigation, operators, panels
from .lines import draw_lines
from .words import iface_

_ICONS = {"missed": "ERROR", "overlap": "SELECT_INTERSECT", "opening": "UNLINKED", "breaks": "MOD_EXPLODE"}


@functools.lru_cache(maxsize=2)
def _moments(report):
    """Those of a bake's report as it is stored, which a panel asks for each time that it is drawn."""
    return json.loads(report).get("moments", []) if report else []


def moments_of(scene):
    """The moments of a scene's bake; none where it is not baked."""
    return _moments(scene.cairn.report) if scene.cairn.is_baked else []


def moment_text(moment):
    """What happens at a moment, in the window's language."""
    frame, name, other, value = moment["frame"], moment["object"] or "", moment["other"], moment["value"]
    if moment["kind"] == "missed":
        pair = iface_("{} on {}").format(name, other) if other else name
        return iface_("{:d}: {} is off by {:.2g} % of its speed").format(frame, pair, 100.0 * value)
    if moment["kind"] == "overlap":
        return iface_("{:d}: {} is {:.2g} m deep in {}").format(frame, name, value, other)
    if moment["kind"] == "opening":
        return iface_("{:d}: {} is open by {:.2g} m").format(frame, name, value)
    if value > 1:
        return iface_("{:d}: {:,d} joints break, the first of {}").format(frame, int(value), name)
    return iface_("{:d}: {} breaks").format(frame, name)


class CAIRN_OT_go_to_moment(bpy.types.Operator):
    """Go to the frame of this moment, select what it is about and show it"""

    bl_idname = "cairn.go_to_moment"
    bl_label = "Go to Moment"
    bl_options = {"UNDO", "INTERNAL"}

    place: IntProperty(name="Place", description="Tell the place of the moment in the list", min=0)

    @classmethod
    def poll(cls, context):
        return operators.running is None and bool(moments_of(context.scene))

    def execute(self, context):
        moments = moments_of(context.scene)
        if self.place >= len(moments):  # another bake has taken the place of that one
            return {"CANCELLED"}
        moment = moments[self.place]
        context.scene.frame_set(moment["frame"])
        names = [name for name in (moment["object"], moment["other"]) if name]
        if context.mode == "OBJECT" and navigation.select(context, names):
            navigation.show_around(context, context.view_layer.objects.active)
        return {"FINISHED"}


class _Moments:
    bl_label = "Worst Moments"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = panels.LAST - 1  # above what the check says

    @classmethod
    def poll(cls, context):
        return operators.running is None and bool(moments_of(context.scene))

    def draw(self, context):
        for place, moment in enumerate(moments_of(context.scene)):
            row = self.layout.row()
            draw_lines(row, context, moment_text(moment), _ICONS[moment["kind"]], 8)
            row.operator("cairn.go_to_moment", text="", icon="VIEWZOOM", emboss=False).place = place


class SCENE_PT_cairn_moments(_Moments, bpy.types.Panel):
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "scene"
    bl_parent_id = "SCENE_PT_cairn"


class VIEW3D_PT_cairn_moments(_Moments, bpy.types.Panel):
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Cairn"
    bl_parent_id = "VIEW3D_PT_cairn"


CLASSES = (CAIRN_OT_go_to_moment, SCENE_PT_cairn_moments, VIEW3D_PT_cairn_moments)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
