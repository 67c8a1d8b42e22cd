"""*Activation* of a rigid body and of a rigid body constraint: their panels."""

import bpy

from . import operators
from .body_panels import OfBody
from .panels import InPhysics, lay_out


class PHYSICS_PT_cairn_activation(OfBody, bpy.types.Panel):
    """What wakes the body."""

    bl_label = "Activation"

    def draw(self, context):
        column, settings = self.column(context), context.object.cairn
        column.prop(settings, "activation", text="Wakes By")
        draw_trigger(column, settings)
        part = column.column(align=True)
        part.prop(settings, "use_deactivation_frame")
        value = part.column()
        value.active = settings.use_deactivation_frame
        value.prop(settings, "deactivation_frame")


class PHYSICS_PT_cairn_joint_activation(InPhysics, bpy.types.Panel):
    """Until when, or from when, a constraint holds."""

    bl_label = "Activation"
    bl_parent_id = "PHYSICS_PT_rigid_body_constraint"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        ob = context.object
        return ob is not None and ob.rigid_body_constraint is not None and ob.rigid_body is None

    def draw(self, context):
        lay_out(self.layout, context)
        column, settings = self.layout.column(), context.object.cairn
        column.enabled = operators.running is None
        column.active = context.object.rigid_body_constraint.enabled
        column.prop(settings, "activation_holds")
        if settings.activation_holds != "ALWAYS":
            column.prop(settings, "activation", text="Trigger")
            draw_trigger(column, settings)


def draw_trigger(column, settings):
    """What goes with an activation."""
    if settings.activation == "IMPULSE":
        column.prop(settings, "activation_impulse")
    elif settings.activation == "FRAME":
        column.prop(settings, "activation_frame")
    elif settings.activation == "VOLUME":
        column.prop(settings, "activation_volume")


CLASSES = (PHYSICS_PT_cairn_activation, PHYSICS_PT_cairn_joint_activation)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
