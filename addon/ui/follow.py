"""*Follow* of a rigid body: its panel, and keys of all selected bodies at once."""

import contextlib

import bpy

from ..read.scene_animation import action_curves
from . import operators
from .body_panels import OfBody
from .words import rpt_

_PATH = "cairn.follow"


class PHYSICS_PT_cairn_follow(OfBody, bpy.types.Panel):
    """How far the body is led by its animation."""

    bl_label = "Follow"

    def draw(self, context):
        column, settings = self.column(context), context.object.cairn
        keyed = column.column()
        keyed.use_property_decorate = True
        keyed.prop(settings, "follow", slider=True)
        column.operator(CAIRN_OT_key_follow.bl_idname)
        part = column.column(align=True)
        part.prop(settings, "follow_frequency")
        part.prop(settings, "follow_damping")
        part = column.column(align=True)
        part.prop(settings, "follow_force")
        part.prop(settings, "follow_torque", text="Torque")


class CAIRN_OT_key_follow(bpy.types.Operator):
    bl_idname = "cairn.key_follow"
    bl_label = "Key on All Selected"
    bl_description = (
        "Key Follow of all selected rigid bodies at this frame, with the value that is shown. It holds until the next "
        "key; another interpolation of the key lets it change slowly"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if operators.running is not None:
            cls.poll_message_set(operators.what_runs())
            return False
        return context.object is not None and context.object.rigid_body is not None

    def execute(self, context):
        value, frame = context.object.cairn.follow, context.scene.frame_current
        chosen = {context.object, *context.selected_objects}
        bodies = [
            ob for ob in chosen if ob.rigid_body is not None and ob.rigid_body.type == "ACTIVE" and ob.is_editable
        ]
        for ob in bodies:
            ob.cairn.follow = value
            ob.keyframe_insert(_PATH, frame=frame)
            for curve in action_curves(ob):
                for point in curve.keyframe_points if curve.data_path == _PATH else ():
                    if round(point.co.x) == frame:
                        point.interpolation = "CONSTANT"
        text = rpt_("Follow of {} bodies is {} from frame {} on")
        self.report({"INFO"}, text.format(f"{len(bodies):,}", f"{value:.2g}", frame))
        return {"FINISHED"}


CLASSES = (CAIRN_OT_key_follow, PHYSICS_PT_cairn_follow)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        with contextlib.suppress(RuntimeError):
            bpy.utils.unregister_class(cls)
