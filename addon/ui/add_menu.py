"""*Add > Cairn*: the ready-made scenes. Each comes as a scene of its own into the open file.

A ready-made scene has a world, a range, a frame rate, a gravity and a camera, which a file has once a scene. So it is a
new scene, and nothing in the user's own scene changes; Undo or deleting the scene takes it away.
"""

import bpy
from bpy.props import EnumProperty

from .. import runtime
from ..demo_list import DEMO_GROUPS, DEMOS
from . import operators
from .words import rpt_, tip_


class CAIRN_OT_add_demo(bpy.types.Operator):
    bl_idname = "cairn.add_demo"
    bl_label = "Add Ready-Made Scene"
    bl_description = "Add a ready-made scene to this file, ready to be baked. Your own scene stays as it is"
    # No REGISTER: the redo panel would make the scene again at every touch.
    bl_options = {"UNDO"}

    demo: EnumProperty(name="Scene", description="Choose the ready-made scene that is added", items=DEMOS)

    @classmethod
    def description(cls, context, properties):
        """What happens in the scene, and where it comes."""
        what = next(what for name, _, what in DEMOS if name == properties.demo)
        where = tip_("Comes as a scene of its own, ready to be baked; your scene stays as it is")
        return ".\n".join((tip_(what), where))

    @classmethod
    def poll(cls, context):
        if operators.running is not None:
            cls.poll_message_set(operators.what_runs())
            return False
        if context.mode != "OBJECT":
            cls.poll_message_set("Switch to Object Mode first")
            return False
        return True

    def execute(self, context):
        try:
            runtime.prepare()
        except runtime.RuntimeUnavailable as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        from .. import demo

        description = demo.description_of(self.demo)
        scene = bpy.data.scenes.new(description.title)
        demo.fill_scene(scene, description)
        show(context, scene)
        remedy = demo.missing_for(description)
        if remedy:
            self.report({"WARNING"}, ": ".join((scene.name, remedy)))
        else:
            self.report({"INFO"}, rpt_("{}: press Bake in the Cairn tab, then play").format(scene.name))
        return {"FINISHED"}


def show(context, scene):
    """Let the window show the scene, and its 3D view what the scene's camera sees, with the sidebar beside it."""
    if context.window is None:
        return
    context.window.scene = scene
    if context.area is not None and context.area.type == "VIEW_3D":
        space = context.area.spaces.active
        space.region_3d.view_perspective = "CAMERA"
        space.show_region_ui = True


class VIEW3D_MT_cairn_add(bpy.types.Menu):
    """Ready-made scenes: stacks, walls, heaps, gears and joints, to be baked at once"""

    bl_idname = "VIEW3D_MT_cairn_add"
    bl_label = "Cairn"

    def draw(self, context):
        for number, group in enumerate(DEMO_GROUPS):
            if number:
                self.layout.separator()
            for name, title, _ in group:
                self.layout.operator("cairn.add_demo", text=title).demo = name


def draw_in_add(menu, context):
    """At the end of the 3D view's *Add* menu."""
    menu.layout.separator()
    menu.layout.menu(VIEW3D_MT_cairn_add.bl_idname, icon="RIGID_BODY")


CLASSES = (CAIRN_OT_add_demo, VIEW3D_MT_cairn_add)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.VIEW3D_MT_add.append(draw_in_add)


def unregister():
    bpy.types.VIEW3D_MT_add.remove(draw_in_add)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
