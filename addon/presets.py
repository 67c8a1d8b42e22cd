"""Cairn's presets in Blender's own preset menu: Preview, Production, Exact, and what users add."""

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase

ROOT = str(Path(__file__).resolve().parents[1])  # holds the folder "presets"


class CAIRN_OT_preset_add(AddPresetBase, bpy.types.Operator):
    """Add or remove a preset of Cairn's solver settings"""

    bl_idname = "cairn.preset_add"
    bl_label = "Add Cairn Preset"
    preset_menu = "CAIRN_PT_presets"
    preset_subdir = "cairn"
    preset_defines = ["settings = bpy.context.scene.cairn"]
    preset_values = [
        "settings.method",
        "settings.friction",
        "settings.substeps",
        "settings.tolerance",
        "settings.max_iterations",
    ]


def register():
    bpy.utils.register_class(CAIRN_OT_preset_add)
    bpy.utils.register_preset_path(ROOT)


def unregister():
    bpy.utils.unregister_preset_path(ROOT)
    bpy.utils.unregister_class(CAIRN_OT_preset_add)
