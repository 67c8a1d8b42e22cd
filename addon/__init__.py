"""Cairn in Blender: everything that touches bpy, and the command line. A scene is read (``read/``), baked by the core
(bake.py), and written as keyframes (``write/``); ``ui/`` is what users see. Loads neither Numba nor SciPy: a bake does.
"""

import atexit

import bpy

from . import cli
from .ui import (
    activation,
    add_menu,
    continue_bake,
    delete_bake,
    follow,
    forces,
    ghost_view,
    glue_operators,
    glue_profile,
    glue_variation_panels,
    initial_motion,
    live_panel,
    matter,
    moments_panel,
    navigation,
    operators,
    overlay_panel,
    overlay_view,
    panels,
    preferences,
    presets,
    properties,
    ragdoll_operator,
    settle_operator,
    sounds_operator,
    takes_panel,
    waiting_world,
    watch,
    wedge_panel,
)

_MODULES = (
    properties,
    preferences,
    presets,
    operators,
    delete_bake,
    continue_bake,
    navigation,
    panels,
    takes_panel,
    live_panel,
    moments_panel,
    initial_motion,
    matter,
    activation,
    follow,
    forces,
    settle_operator,
    sounds_operator,
    ragdoll_operator,
    glue_operators,
    glue_profile,
    glue_variation_panels,
    wedge_panel,
    add_menu,
    watch,
    overlay_panel,
    overlay_view,
    ghost_view,
    waiting_world,
    cli,
)
_registered = False


def register():
    """Add Cairn's classes, properties, presets and command to Blender; a second call does nothing."""
    global _registered
    if _registered:
        return
    done = []
    try:
        for module in _MODULES:
            module.register()
            done.append(module)
    except BaseException:  # leave nothing half-registered; Blender shows the error
        for module in reversed(done):
            module.unregister()
        raise
    _registered = True
    if bpy.app.module:
        # Without an application nobody switches the add-on off, and bpy 4.5 hangs or crashes at its end if it is on.
        atexit.register(unregister)


def unregister():
    """Take all of it out of Blender again; what is in the files stays."""
    global _registered
    if not _registered:
        return
    for module in reversed(_MODULES):
        module.unregister()
    _registered = False
    atexit.unregister(unregister)
