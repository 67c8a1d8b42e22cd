"""The extension's preferences: which packages Cairn runs with, and where its compiled kernels are."""

import bpy

from .. import runtime


class CairnPreferences(bpy.types.AddonPreferences):
    bl_idname = runtime.EXTENSION

    def draw(self, context):
        layout = self.layout
        column = layout.column(align=True)
        for line in versions():
            column.label(text=line, translate=False)
        layout.operator("cairn.copy_system_information", icon="COPYDOWN")


_lines = []


def versions():
    """Versions and the cache's folder in words; looked up once, as Blender draws all the time."""
    if not _lines:
        record = runtime.build_record()
        found = runtime.found_versions()
        _lines.append(", ".join(f"{name} {value[0] if value else 'missing'}" for name, value in found.items()))
        _lines.extend(runtime.differences(record, found))
        _lines.append(f"Compiled kernels: {runtime.cache_folder() or 'beside the sources, or in NUMBA_CACHE_DIR'}")
    return _lines


def register():
    bpy.utils.register_class(CairnPreferences)


def unregister():
    _lines.clear()
    bpy.utils.unregister_class(CairnPreferences)
