"""*Matter* of a rigid body: its panel, and presets of what things are made of."""

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel
from mathutils import Vector

from ..read.matter import MATTER_SETTINGS
from . import operators
from .body_panels import OfBody
from .words import rpt_

# What a preset leaves as it is: where and how the one body is, not what it is made of.
_OF_ONE_BODY = ("use_center_of_mass", "center_of_mass", "surface_velocity", "use_largest_speed", "largest_speed")


class CAIRN_PT_matter_presets(PresetPanel, bpy.types.Panel):
    bl_label = "Matter Presets"
    preset_subdir = "cairn_matter"
    preset_operator = "script.execute_preset"
    preset_add_operator = "cairn.matter_preset_add"

    @staticmethod
    def post_cb(context, _filepath):
        """Blender reports no change of what a script has set."""
        context.object.update_tag()


class CAIRN_OT_matter_preset_add(AddPresetBase, bpy.types.Operator):
    """Add or remove a preset of what a body is made of"""

    bl_idname = "cairn.matter_preset_add"
    bl_label = "Add Matter Preset"
    preset_menu = "CAIRN_PT_matter_presets"
    preset_subdir = "cairn_matter"
    preset_defines = ["body = bpy.context.object.rigid_body", "matter = bpy.context.object.cairn"]
    preset_values = ["body.friction", "body.restitution"] + [
        f"matter.{name}" for name in MATTER_SETTINGS if name not in _OF_ONE_BODY
    ]


class CAIRN_OT_center_of_mass_from_object(bpy.types.Operator):
    """Put the active body's centre of mass where the other selected object is, such as an empty"""

    bl_idname = "cairn.center_of_mass_from_object"
    bl_label = "From Selected Object"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        ob = context.object
        return ob is not None and ob.rigid_body is not None and ob.is_editable and operators.running is None

    def execute(self, context):
        ob = context.object
        others = [other for other in context.selected_objects if other is not ob]
        if len(others) != 1:
            self.report({"WARNING"}, rpt_("Select the object whose place it is, and then the body"))
            return {"CANCELLED"}
        apart = others[0].matrix_world.translation - ob.matrix_world.translation
        ob.cairn.center_of_mass = ob.matrix_world.to_quaternion().inverted() @ Vector(apart)
        ob.cairn.use_center_of_mass = True
        return {"FINISHED"}


class PHYSICS_PT_cairn_matter(OfBody, bpy.types.Panel):
    """What the body is made of."""

    bl_label = "Matter"

    def draw_header_preset(self, _context):
        CAIRN_PT_matter_presets.draw_panel_header(self.layout)

    def draw(self, context):
        column, settings = self.column(context, of_active=False), context.object.cairn
        moves = context.object.rigid_body.type == "ACTIVE"
        _switched(column, settings, "density", moves)
        _switched(column, settings, "center_of_mass", moves)
        row = column.row()
        row.active = moves
        row.operator("cairn.center_of_mass_from_object", icon="EMPTY_AXIS")
        _switched(column, settings, "sliding_friction", True)
        column.prop(settings, "rolling_friction")
        column.prop(settings, "spinning_friction")
        column.prop(settings, "friction_rule")
        column.prop(settings, "bounce_rule")
        column.prop(settings, "surface_velocity")
        _switched(column, settings, "largest_speed", moves)


def _switched(column, settings, name, is_used):
    """A value that acts if the box above it is ticked."""
    part = column.column(align=True)
    part.active = is_used
    part.prop(settings, f"use_{name}")
    value = part.column()
    value.active = is_used and getattr(settings, f"use_{name}")
    value.prop(settings, name)


CLASSES = (
    CAIRN_OT_matter_preset_add,
    CAIRN_PT_matter_presets,
    CAIRN_OT_center_of_mass_from_object,
    PHYSICS_PT_cairn_matter,
)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
