"""*Live*: the button that switches it on and off, the one that keeps what it shows, and their panel."""

import bpy

from . import live_drag, live_mode
from .lines import draw_lines
from .operators import BakeOperator, SceneOperator
from .panels import lay_out


class CAIRN_OT_live(SceneOperator, bpy.types.Operator):
    bl_idname = "cairn.live"
    bl_label = "Live"
    bl_description = (
        "Simulate in memory and show it in the 3D view while the timeline plays and you go on working. A change begins "
        "it again where it matters; no object is touched and nothing is keyed. ESC, or once more, ends it"
    )
    bl_options = set()  # what it does is no step of Undo

    @classmethod
    def poll(cls, context):
        return live_mode.mode is not None or super().poll(context)

    def execute(self, context):
        if live_mode.mode is not None:
            live_mode.end()
            return {"FINISHED"}
        if bpy.app.background or context.window is None:
            self.report({"ERROR"}, "Live needs a window; without one there is Bake")
            return {"CANCELLED"}
        live_mode.begin(context)
        return {"FINISHED"}


class CAIRN_OT_live_keep(BakeOperator, bpy.types.Operator):
    bl_idname = "cairn.live_keep"
    bl_label = "Keep"
    bl_description = (
        "End Live and write what it shows as keyframes, the same as Bake would. Frames that are still missing are "
        "simulated first"
    )
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context):
        if live_mode.mode is None or live_mode.mode.scene != context.scene:
            cls.poll_message_set("Switch Live on first")
            return False
        return super().poll(context)

    def _work(self, scene, settings):
        run, steps = live_mode.mode.take(scene)
        return run.keep_steps(steps, keeps_earlier=True)


class _Live:
    bl_label = "Live"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return context.scene.rigidbody_world is not None

    def draw(self, context):
        layout, mode = self.layout, live_mode.mode
        row = layout.row(align=True)
        row.operator("cairn.live", icon="PAUSE" if mode else "PLAY", depress=mode is not None)
        if mode is not None:
            row.operator("cairn.live_keep", icon="REC")
            is_stopped = mode.session.error is not None
            draw_lines(layout, context, mode.line(), "ERROR" if is_stopped else "INFO")


class SCENE_PT_cairn_live(_Live, bpy.types.Panel):
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "scene"
    bl_parent_id = "SCENE_PT_cairn"


class VIEW3D_PT_cairn_live(_Live, bpy.types.Panel):
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Cairn"
    bl_parent_id = "VIEW3D_PT_cairn"


class _Dragging:
    bl_label = "Dragging"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return _Live.poll(context)

    def draw(self, context):
        layout, settings = self.layout, context.scene.cairn
        lay_out(layout, context)
        column = layout.column()
        column.prop(settings, "drag_frequency")
        column.prop(settings, "drag_damping")
        column.prop(settings, "drag_force")
        layout.operator("cairn.live_forget", icon="X")


class SCENE_PT_cairn_live_dragging(_Dragging, bpy.types.Panel):
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "scene"
    bl_parent_id = "SCENE_PT_cairn_live"


class VIEW3D_PT_cairn_live_dragging(_Dragging, bpy.types.Panel):
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Cairn"
    bl_parent_id = "VIEW3D_PT_cairn_live"


CLASSES = (
    CAIRN_OT_live,
    CAIRN_OT_live_keep,
    *live_drag.CLASSES,
    SCENE_PT_cairn_live,
    VIEW3D_PT_cairn_live,
    SCENE_PT_cairn_live_dragging,
    VIEW3D_PT_cairn_live_dragging,
)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    live_mode.end()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
