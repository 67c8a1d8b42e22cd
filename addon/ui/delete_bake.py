"""Delete Bake: many objects are given back in steps, as a bake is made."""

import contextlib

import bpy

from ..bake_progress import BakeProgress
from ..write import attach, earlier_animation
from . import operators
from .operators import StepsOperator
from .words import rpt_

# What takes a few seconds and cannot be left in its middle.
_HINT = "It goes on to the end"
# What the panel says of the scene, which stays true.
_SAID = ("error", "error_object", "faults", "check")


class CAIRN_OT_delete_bake(StepsOperator, bpy.types.Operator):
    bl_idname = "cairn.delete_bake"
    bl_label = "Delete Bake"
    bl_description = (
        "Delete Cairn's keyframes and bring back what was there before: earlier animation, constraints, drivers, and "
        "Blender's own simulation. Keys that you made by hand on other channels stay"
    )
    bl_options = {"UNDO"}

    _task = "A deletion"
    _hint = _HINT

    @classmethod
    def poll(cls, context):
        if operators.running is None and not operators.is_baked(context):
            cls.poll_message_set("This scene has no bake by Cairn")
            return False
        if operators.running is None and context.scene.rigidbody_world is None:
            return context.mode == "OBJECT"  # the world is gone; its bake can still be deleted
        return super().poll(context)

    def invoke(self, context, event):
        """Few objects are given back at once, many in steps."""
        few = len(earlier_animation.baked_objects(context.scene)) <= attach.ATTACHED
        return self.execute(context) if few else super().invoke(context, event)

    def _begin(self, context, in_window=False):
        session = context.window_manager.cairn
        said = {name: getattr(session, name) for name in _SAID}
        StepsOperator._begin(self, context, in_window)
        for name, value in said.items():
            setattr(session, name, value)
        self._steps = operators.running["steps"] = operators.after_recording(self._scene_name, self._steps)
        operators.running["hint"] = self._hint
        operators.running["can_stop"] = False

    def _stop(self, context):
        """It goes on to the end: half a bake is none."""

    def _work(self, scene, settings):
        return deletion(scene.name)

    def _conclude(self, context, result):
        operators.redraw(context)
        if result is None:
            return {"CANCELLED"}
        operators.note_state(context, self._scene_name, {"outdated": ""})  # the buttons of a bake that is there no more
        self.report({"INFO"}, rpt_("Restored {:,d} object" if result == 1 else "Restored {:,d} objects").format(result))
        return {"FINISHED"}


def deletion(scene_name):
    """Delete a scene's bake, as a generator of BakeProgress that returns how many objects were given back."""
    steps = attach.delete_steps(scene_name)
    with contextlib.closing(steps):
        while True:
            try:
                done, total = next(steps)
            except StopIteration as end:
                return end.value
            share = done / total if total else 0.0
            yield BakeProgress("delete", done, total, f"Deleting the bake, {done:,} of {total:,}", share)


def register():
    bpy.utils.register_class(CAIRN_OT_delete_bake)


def unregister():
    with contextlib.suppress(RuntimeError):
        bpy.utils.unregister_class(CAIRN_OT_delete_bake)
