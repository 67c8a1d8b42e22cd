"""Cairn: contact-rich rigid-body animation for Blender.

This folder is both the Blender extension and the Python package ``cairn``. Importing it needs no Blender.
"""

__version__ = "0.1.0"


def settle(scene, objects=None, max_seconds=10.0):
    """Let rigid bodies of a Blender scene come to rest, and start there; ``addon.settle.settle``.

    Parameters
    ----------
    scene : bpy.types.Scene
    objects : iterable of bpy.types.Object, optional
        The bodies that settle, while all others are held; without them all that move.
    max_seconds : float
        [s]

    Returns
    -------
    addon.settle.SettleResult
        Who is at rest, who is still moving, and who was left where it is.
    """
    from .addon.settle import settle

    return settle(scene, objects, max_seconds)


def register():
    """Called by Blender when the extension is switched on."""
    from . import addon

    addon.register()


def unregister():
    """Called by Blender when the extension is switched off."""
    from . import addon

    addon.unregister()
