"""Cairn in Blender: everything that touches bpy. Loads neither Numba nor SciPy; the first bake does."""

from . import cli, operators, panels, preferences, presets, properties

_MODULES = (properties, preferences, presets, operators, panels, cli)
_registered = False


def register():
    """Add Cairn's classes, properties, presets and command to Blender; a second call does nothing."""
    global _registered
    if _registered:
        return
    for module in _MODULES:
        module.register()
    _registered = True


def unregister():
    """Take all of it out of Blender again; what is in the files stays."""
    global _registered
    if not _registered:
        return
    for module in reversed(_MODULES):
        module.unregister()
    _registered = False
