"""*Object > Rigid Body > Settle*: the selected bodies come to rest, and start there."""

import contextlib

import bpy
from bpy.props import FloatProperty

from .. import settle
from ..read.early_notes import may_move
from . import operators
from .operators import StepsOperator
from .words import told


class CAIRN_OT_settle(StepsOperator, bpy.types.Operator):
    bl_idname = "cairn.settle"
    bl_label = "Settle"
    bl_description = (
        "Simulate the selected rigid bodies until they rest, with all others held where they are at the start, and let "
        "them start there. Nothing is keyed; a bake comes later, if at all"
    )
    # No REGISTER: the redo panel would simulate again at every touch.
    bl_options = {"UNDO"}

    max_seconds: FloatProperty(
        name="Longest Time",
        description="Stop after so much simulated time; what is still moving starts from where it is then",
        default=settle.MAX_SECONDS,
        min=0.1,
        soft_max=60.0,
        unit="TIME_ABSOLUTE",
    )

    _task = "A settling"
    _hint = "ESC stops and changes nothing"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not _selected(context):
            cls.poll_message_set("Select the rigid bodies that are to settle; they have to be Active and Dynamic")
            return False
        return True

    def _work(self, scene, settings):
        names = [ob.name for ob in _selected(bpy.context)]
        return settle.settle_steps(scene.name, names, self.max_seconds, in_steps=self._in_window)

    def _conclude(self, context, result):
        if result is None:
            self.report({"INFO"}, "Stopped; nothing was changed")
            return {"CANCELLED"}
        operators.redraw(context)
        names = [*result.moving, *(note.object_name for note in result.left_out)]
        text = told(settle.settled_sentence(result), names)
        self.report({"WARNING"} if names else {"INFO"}, text)
        return {"FINISHED"}


def _selected(context):
    return [ob for ob in context.selected_objects if ob.rigid_body is not None and may_move(ob)]


def draw_in_rigid_body(menu, context):
    """At the end of the 3D view's *Object > Rigid Body* menu."""
    menu.layout.separator()
    menu.layout.operator_context = "INVOKE_DEFAULT"
    menu.layout.operator(CAIRN_OT_settle.bl_idname)


def register():
    bpy.utils.register_class(CAIRN_OT_settle)
    bpy.types.VIEW3D_MT_object_rigid_body.append(draw_in_rigid_body)


def unregister():
    bpy.types.VIEW3D_MT_object_rigid_body.remove(draw_in_rigid_body)
    with contextlib.suppress(RuntimeError):
        bpy.utils.unregister_class(CAIRN_OT_settle)
