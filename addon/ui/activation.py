"""*Activation* of a rigid body: its panel."""

import bpy

from .body_panels import OfBody


class PHYSICS_PT_cairn_activation(OfBody, bpy.types.Panel):
    """What wakes the body."""

    bl_label = "Activation"

    def draw(self, context):
        column, settings = self.column(context), context.object.cairn
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
