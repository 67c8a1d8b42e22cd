"""Constant forces and torques of bodies, as *Constant Force* in their panel says and as they are keyed."""

import math
from collections.abc import Generator

import numpy as np

from .exported_scene import A_STEP
from .faults import SceneError
from .object_keys import find_object
from .own_settings import OwnSettings
from .scene_animation import animated_paths
from .scene_poses import vector_text

# Properties of ``Object.cairn`` that say what pushes a body.
FORCE_SETTINGS = ("constant_force", "constant_torque", "force_space")
_KEYED = ("cairn.constant_force", "cairn.constant_torque", "*")


def are_keyed(ob) -> bool:
    """Whether what pushes an object may change from frame to frame."""
    return not animated_paths(ob).isdisjoint(_KEYED)


def has_force(ob) -> bool:
    """Whether a force or torque acts on an object in any frame."""
    # who reads a scene from a script may not have registered the add-on
    own = getattr(ob, "cairn", None)
    if own is None:
        return False
    return any(own.constant_force) or any(own.constant_torque) or not animated_paths(ob).isdisjoint(_KEYED[:2])


def add_forces(builder, objects, bodies, depsgraph) -> Generator[None, None, bool]:
    """Let forces of the bodies that move act at the evaluated frame, ``A_STEP`` bodies a step.

    Returns
    -------
    is_keyed : bool
        Whether any of them is.
    """
    is_keyed = False
    for row, (ob, body) in enumerate(zip(objects, bodies, strict=True)):
        if row % A_STEP == 0:
            yield
        if body.moves and has_force(ob):
            own = OwnSettings(ob, depsgraph)
            pushes = _pushes_of(ob, own)
            builder.push_body(body.index, pushes[:3], pushes[3:], along_body=own.force_space == "LOCAL")
            is_keyed = is_keyed or are_keyed(ob)
    return is_keyed


def forces_at(bodies, depsgraph) -> np.ndarray:
    """Forces and torques of all bodies at an evaluated frame, float64 [body_count, 6]."""
    found = np.zeros((len(bodies), 6))
    for body in bodies:
        ob = find_object(body.object_name, body.library)
        if body.moves and ob is not None and has_force(ob):
            own = OwnSettings(ob, depsgraph)
            found[body.index] = _pushes_of(ob, own)
    return found


def _pushes_of(ob, own):
    """Force and torque of an object; raises SceneError where they are no numbers."""
    for name, label in (("constant_force", "Constant Force"), ("constant_torque", "Constant Torque")):
        value = getattr(own, name)
        if not all(map(math.isfinite, value)):
            raise SceneError(ob.name, f"{label} is {vector_text(value)}; it must be finite")
    return (*own.constant_force, *own.constant_torque)
