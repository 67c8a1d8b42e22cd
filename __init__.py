"""Cairn: contact-rich rigid-body animation for Blender.

This folder is both the Blender extension and the Python package ``cairn``. Importing it needs no Blender.
"""

__version__ = "0.1.0"


def register():
    """Called by Blender when the extension is switched on."""
    from . import addon

    addon.register()


def unregister():
    """Called by Blender when the extension is switched off."""
    from . import addon

    addon.unregister()
