"""*Follow* of a rigid body: its panel."""

import bpy

from .body_panels import OfBody


class PHYSICS_PT_cairn_follow(OfBody, bpy.types.Panel):
    """How far the body is led by its animation."""

    bl_label = "Follow"

    def draw(self, context):
        column, settings = self.column(context), context.object.cairn
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
