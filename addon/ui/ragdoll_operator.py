"""*Object > Rigid Body > Make Ragdoll*: bodies and joints of an armature, which follow its motion."""

import contextlib

import bpy
from bpy.props import FloatProperty

from .. import ragdoll
from ..read.faults import SceneError
from . import operators
from .words import rpt_


class CAIRN_OT_make_ragdoll(bpy.types.Operator):
    bl_idname = "cairn.make_ragdoll"
    bl_label = "Make Ragdoll"
    bl_description = (
        "Make a rigid body of each deforming bone of the armature, as large as what is weighted to it, and joints with "
        "the bones' limits. The bodies follow the armature's motion, of which a hidden copy is kept, and lead its "
        "bones: key their Follow to let the figure go limp and come back"
    )
    bl_options = {"REGISTER", "UNDO"}

    follow: FloatProperty(
        name="Follow",
        description="Set how much the bodies follow the armature's motion: 1 leads them there, 0 lets them fall",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    density: FloatProperty(
        name="Density",
        description="Set what a cubic metre of the bodies weighs, in kilograms",
        default=ragdoll.DENSITY,
        min=1.0,
        soft_max=10000.0,
    )

    @classmethod
    def poll(cls, context):
        if operators.running is not None:
            cls.poll_message_set(operators.what_runs())
            return False
        if context.mode != "OBJECT" or context.object is None or context.object.type != "ARMATURE":
            cls.poll_message_set("Select an armature in Object Mode")
            return False
        return True

    def execute(self, context):
        try:
            bodies, joints = ragdoll.make_ragdoll(
                context.scene, context.object, follow=self.follow, density=self.density
            )
        except SceneError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        # what is to be set next is Follow of all of them
        for ob in context.selected_objects:
            ob.select_set(False)
        for ob in bodies:
            ob.select_set(True)
        context.view_layer.objects.active = bodies[0]
        text = rpt_("Made {} bodies and {} joints; they follow the armature's motion in the next bake")
        self.report({"INFO"}, text.format(len(bodies), len(joints)))
        return {"FINISHED"}


def draw_in_rigid_body(menu, context):
    """At the end of the 3D view's *Object > Rigid Body* menu."""
    menu.layout.operator(CAIRN_OT_make_ragdoll.bl_idname)


def register():
    bpy.utils.register_class(CAIRN_OT_make_ragdoll)
    bpy.types.VIEW3D_MT_object_rigid_body.append(draw_in_rigid_body)


def unregister():
    bpy.types.VIEW3D_MT_object_rigid_body.remove(draw_in_rigid_body)
    with contextlib.suppress(RuntimeError):
        bpy.utils.unregister_class(CAIRN_OT_make_ragdoll)
