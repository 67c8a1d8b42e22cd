"""Cairn's presets in Blender's own preset menu: Preview, Production, Exact, and what users add."""

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase

from ..settings import OPTION_NAMES

ROOT = str(Path(__file__).resolve().parents[2])  # holds the folder "presets"


class CAIRN_OT_preset_add(AddPresetBase, bpy.types.Operator):
    """Add or remove a preset of Cairn's solver settings"""

    bl_idname = "cairn.preset_add"
    bl_label = "Add Cairn Preset"
    preset_menu = "CAIRN_PT_presets"
    preset_subdir = "cairn"
    preset_defines = ["settings = bpy.context.scene.cairn"]
    # The number of threads is a matter of the machine, not of the motion.
    preset_values = [f"settings.{name}" for name in OPTION_NAMES if name != "threads"]


def register():
    bpy.utils.register_class(CAIRN_OT_preset_add)
    bpy.utils.register_preset_path(ROOT)


def unregister():
    bpy.utils.unregister_preset_path(ROOT)
    bpy.utils.unregister_class(CAIRN_OT_preset_add)
