"""Operators that go on from a checkpoint: to the end of the range, or anew from the current frame."""

import bpy

from ..bake import bake_frames
from ..checkpoints import in_window
from .operators import BakeOperator


class CAIRN_OT_continue_bake(BakeOperator, bpy.types.Operator):
    """Go on from the last checkpoint of a bake that was stopped or has crashed, to the end of the range. \
The motion is the same as that of a bake without a stop
    """

    bl_idname = "cairn.continue_bake"
    bl_label = "Continue Bake"
    bl_options = {"UNDO"}

    def _work(self, scene, settings):
        return bake_frames(scene, settings, in_window.plan_of(scene, resume=True), beside=self._in_window)


class CAIRN_OT_bake_from_current(BakeOperator, bpy.types.Operator):
    """Keep the bake up to the current frame, and bake anew from there on, with the settings as they are now: \
bodies go on with the poses and velocities that they have there
    """

    bl_idname = "cairn.bake_from_current"
    bl_label = "Bake from Current Frame"
    bl_options = {"UNDO"}

    def _work(self, scene, settings):
        plan = in_window.plan_of(scene, from_frame=scene.frame_current)
        return bake_frames(scene, settings, plan, beside=self._in_window)


CLASSES = (CAIRN_OT_continue_bake, CAIRN_OT_bake_from_current)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
