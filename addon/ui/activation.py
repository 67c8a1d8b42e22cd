"""*Activation* of a rigid body: its panel."""

import bpy

from . import operators
from .panels import InPhysics, lay_out


class PHYSICS_PT_cairn_activation(InPhysics, bpy.types.Panel):
    """What wakes the body."""

    bl_label = "Activation"
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
        column.prop(settings, "activation", text="Wakes By")
        if settings.activation == "IMPULSE":
            column.prop(settings, "activation_impulse")
        elif settings.activation == "FRAME":
            column.prop(settings, "activation_frame")
        elif settings.activation == "VOLUME":
            column.prop(settings, "activation_volume")
        part = column.column(align=True)
        part.prop(settings, "use_deactivation_frame")
        value = part.column()
        value.active = settings.use_deactivation_frame
        value.prop(settings, "deactivation_frame")


CLASSES = (PHYSICS_PT_cairn_activation,)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
