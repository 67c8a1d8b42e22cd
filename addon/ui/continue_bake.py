"""Operators that go on from a checkpoint: to the end of the range, or anew from the current frame."""

from pathlib import Path

import bpy

from ..bake import bake_frames
from ..checkpoints import housekeeping, in_window
from . import operators, watch
from .operators import BakeOperator
from .words import iface_, rpt_


class CAIRN_OT_continue_bake(BakeOperator, bpy.types.Operator):
    bl_idname = "cairn.continue_bake"
    bl_label = "Continue Bake"
    bl_description = (
        "Go on from the last checkpoint of a bake that was stopped or has crashed, to the end of the range. "
        "The motion is the same as that of a bake without a stop"
    )
    bl_options = {"UNDO"}

    def _work(self, scene, settings):
        return bake_frames(scene, settings, in_window.plan_of(scene, resume=True), **self._as_in_window(scene))


class CAIRN_OT_bake_from_current(BakeOperator, bpy.types.Operator):
    bl_idname = "cairn.bake_from_current"
    bl_label = "Bake from Current Frame"
    bl_description = (
        "Keep the bake up to the current frame, and bake anew from there on, with the settings as they are now: "
        "bodies go on with the poses and velocities that they have there"
    )
    bl_options = {"UNDO"}

    def _work(self, scene, settings):
        plan = in_window.plan_of(scene, from_frame=scene.frame_current)
        return bake_frames(scene, settings, plan, **self._as_in_window(scene))


class CAIRN_OT_remove_checkpoints(bpy.types.Operator):
    bl_idname = "cairn.remove_checkpoints"
    bl_label = "Remove Checkpoints"
    bl_description = (
        "Remove the checkpoints of all files that lie where this one does. Bakes stay; they can no longer be "
        "continued, or begun anew in their middle"
    )
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context):
        return operators.running is None and bool(bpy.data.filepath)

    def invoke(self, context, event):
        usage = housekeeping.usage_of(Path(bpy.data.filepath))
        return context.window_manager.invoke_confirm(
            self,
            event,
            title=usage_text(
                usage,
                iface_("Remove the checkpoints of {:,d} scene, {} MB?"),
                iface_("Remove the checkpoints of {:,d} scenes, {} MB?"),
            ),
            message=iface_("Bakes stay; they can no longer be continued, or begun anew in their middle"),
            confirm_text=iface_("Remove"),
        )

    def execute(self, context):
        usage = housekeeping.remove_all(Path(bpy.data.filepath))
        self.report(
            {"INFO"},
            usage_text(
                usage,
                rpt_("Removed checkpoints of {:,d} scene, {} MB"),
                rpt_("Removed checkpoints of {:,d} scenes, {} MB"),
            ),
        )
        operators.forget_offers(context)
        watch.look_soon()  # what lies elsewhere is still there
        operators.redraw(context)
        return {"FINISHED"}


def usage_text(usage, one, many):
    """What checkpoints take, "3 scenes, 34 MB", in a sentence: one for a single scene, and one for several."""
    return (one if usage.count == 1 else many).format(usage.count, size_text(usage))


def size_text(usage):
    """What checkpoints take [MB]."""
    return f"{max(usage.size / 1e6, 0.1):,.{0 if usage.size > 1e7 else 1}f}"


CLASSES = (
    CAIRN_OT_remove_checkpoints,
    CAIRN_OT_continue_bake,
    CAIRN_OT_bake_from_current,
)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
