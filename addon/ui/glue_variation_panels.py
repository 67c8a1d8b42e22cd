"""Sub-panels of *Glue*: how the strength of the bonds varies from place to place."""

import contextlib

import bpy

from ..read.glue_bonds import is_glue
from . import operators
from .glue_profile import draw_profile
from .panels import InPhysics, lay_out


class _OfGlue:
    """Closed, and locked while a bake runs."""

    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return is_glue(context.object)

    def column(self, context):
        lay_out(self.layout, context)
        column = self.layout.column()
        column.enabled = operators.running is None
        return column


class _Painted(_OfGlue):
    bl_label = "Painted"

    def draw(self, context):
        column, settings = self.column(context), context.object.cairn.glue
        column.prop(settings, "paint")
        part = column.column()
        part.active = bool(settings.paint)
        part.prop(settings, "paint_object")
        part = part.column(align=True)
        part.prop(settings, "paint_low")
        part.prop(settings, "paint_high")


class _Gradient(_OfGlue):
    bl_label = "Gradient"

    def draw(self, context):
        column, settings = self.column(context), context.object.cairn.glue
        column.prop(settings, "gradient_object")
        part = column.column()
        part.active = settings.gradient_object is not None
        part.prop(settings, "gradient_axis")
        part.prop(settings, "gradient_curve")
        if settings.gradient_curve == "CUSTOM":
            draw_profile(part, settings)
        ends = part.column(align=True)
        ends.prop(settings, "gradient_low")
        ends.prop(settings, "gradient_high")


class _Clusters(_OfGlue):
    bl_label = "Clusters"

    def draw(self, context):
        column, settings = self.column(context), context.object.cairn.glue
        column.prop(settings, "cluster_by", text="By")
        if settings.cluster_by == "NUMBER":
            part = column.column(align=True)
            part.prop(settings, "cluster_count")
            part.prop(settings, "cluster_seed")
        elif settings.cluster_by == "ATTRIBUTE":
            column.prop(settings, "cluster_attribute")
        part = column.column()
        part.active = settings.cluster_by != "NONE"
        part.prop(settings, "cluster_factor")


class _InPhysics(InPhysics):
    bl_parent_id = "PHYSICS_PT_cairn_glue"


class _InSidebar:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Cairn"
    bl_parent_id = "VIEW3D_PT_cairn_glue"


class PHYSICS_PT_cairn_glue_painted(_Painted, _InPhysics, bpy.types.Panel):
    pass


class PHYSICS_PT_cairn_glue_gradient(_Gradient, _InPhysics, bpy.types.Panel):
    pass


class PHYSICS_PT_cairn_glue_clusters(_Clusters, _InPhysics, bpy.types.Panel):
    pass


class VIEW3D_PT_cairn_glue_painted(_Painted, _InSidebar, bpy.types.Panel):
    pass


class VIEW3D_PT_cairn_glue_gradient(_Gradient, _InSidebar, bpy.types.Panel):
    pass


class VIEW3D_PT_cairn_glue_clusters(_Clusters, _InSidebar, bpy.types.Panel):
    pass


CLASSES = (
    PHYSICS_PT_cairn_glue_painted,
    PHYSICS_PT_cairn_glue_gradient,
    PHYSICS_PT_cairn_glue_clusters,
    VIEW3D_PT_cairn_glue_painted,
    VIEW3D_PT_cairn_glue_gradient,
    VIEW3D_PT_cairn_glue_clusters,
)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        with contextlib.suppress(RuntimeError):
            bpy.utils.unregister_class(cls)
