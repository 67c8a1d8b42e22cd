"""Panels of what pushes a body, and of what Blender's force fields lack."""

import bpy

from . import operators
from .body_panels import OfBody
from .panels import InPhysics, lay_out

# Kinds of fields that can act by area.
_BY_AREA = {"WIND", "DRAG"}


class PHYSICS_PT_cairn_forces(OfBody, bpy.types.Panel):
    """A constant force and torque."""

    bl_label = "Constant Force"

    def draw(self, context):
        column, settings = self.column(context), context.object.cairn
        column.prop(settings, "constant_force")
        column.prop(settings, "constant_torque")
        column.prop(settings, "force_space")


class PHYSICS_PT_cairn_field(InPhysics, bpy.types.Panel):
    """What a wind or a drag does to rigid bodies."""

    bl_label = "Cairn"
    bl_parent_id = "PHYSICS_PT_field"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        ob = context.object
        has_bodies = context.scene.rigidbody_world is not None
        return has_bodies and ob is not None and ob.field is not None and ob.field.type in _BY_AREA

    def draw(self, context):
        layout = self.layout
        lay_out(layout, context)
        column = layout.column()
        column.enabled = operators.running is None
        column.prop(context.object.cairn, "field_by_area")


CLASSES = (PHYSICS_PT_cairn_forces, PHYSICS_PT_cairn_field)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
