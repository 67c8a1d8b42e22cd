"""*Follow* of a rigid body: its panel."""

import bpy

from . import operators
from .panels import InPhysics, lay_out


class PHYSICS_PT_cairn_follow(InPhysics, bpy.types.Panel):
    """How far the body is led by its animation."""

    bl_label = "Follow"
    bl_parent_id = "PHYSICS_PT_rigid_body"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.rigid_body is not None

    def draw(self, context):
        layout, settings = self.layout, context.object.cairn
        lay_out(layout, context)
        column = layout.column()
        column.enabled = operators.running is None
        column.active = context.object.rigid_body.type == "ACTIVE"
        keyed = column.column()
        keyed.use_property_decorate = True
        keyed.prop(settings, "follow", slider=True)
        part = column.column(align=True)
        part.prop(settings, "follow_frequency")
        part.prop(settings, "follow_damping")
        part = column.column(align=True)
        part.prop(settings, "follow_force")
        part.prop(settings, "follow_torque", text="Torque")


CLASSES = (PHYSICS_PT_cairn_follow,)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
