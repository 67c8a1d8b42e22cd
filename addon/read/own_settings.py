"""Cairn's own settings of an object at the evaluated frame."""

import bpy

from .scene_animation import animated_paths


class OwnSettings:
    """``Object.cairn`` as it is in the frame that is evaluated.

    A script that sets one of these tells Blender nothing, so an evaluated copy may still have what was there before. It
    counts only for what is animated.

    Parameters
    ----------
    ob : bpy.types.Object
        The user's.
    depsgraph : bpy.types.Depsgraph
    """

    def __init__(self, ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph):
        self._own, self._evaluated = ob.cairn, ob.evaluated_get(depsgraph).cairn
        self._animated = animated_paths(ob)

    def __getattr__(self, name):
        is_animated = f"cairn.{name}" in self._animated or "*" in self._animated
        return getattr(self._evaluated if is_animated else self._own, name)
