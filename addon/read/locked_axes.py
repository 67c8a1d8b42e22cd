"""An object's locks of location and rotation, which Blender's simulation honours too, as joints that hold these axes.

Locks are along and about the world's axes, also of children: Bullet lets no impulse act there. A joint holds the
object's origin and its turn as they are at the start. Its axes are carried by its first body, so that is one that never
moves; without one, only locks that turn with the body into themselves can be held, by a joint to the world.
"""

from collections.abc import Generator

import numpy as np

from ... import solver_core as core
from .exported_scene import A_STEP, ExportedJoint
from .notes import Note

_FREE, _LOCKED = core.Axis(), core.Axis(lower=0.0, upper=0.0)


def add_locks(builder, objects, bodies) -> Generator[None, None, tuple[list[ExportedJoint], list[Note]]]:
    """Add a joint for each body with locked axes that is dynamic throughout, ``A_STEP`` bodies a step.

    Parameters
    ----------
    builder : ModelBuilder
        Of the bodies; gets the joints.
    objects : sequence of bpy.types.Object
    bodies : sequence of ExportedBody
        Likewise, in the same order.

    Returns
    -------
    joints : list of ExportedJoint
    notes : list of Note
        On locks that are not held.
    """
    joints, notes = [], []
    still = next((body for body in bodies if body.passive and not (body.follows or body.deforming_vertices)), None)
    for row, (ob, body) in enumerate(zip(objects, bodies, strict=True)):
        if row % A_STEP == 0:
            yield
        if not body.moves:
            continue
        location, rotation, texts = held_axes(ob, body.flags_change, still is not None)
        notes += [Note("warning", ob.name, text) for text in texts]
        if location.any() or rotation.any():
            joints.append(_add(builder, ob, body, still, location, rotation))
    return joints, notes


def held_axes(ob, flags_change, has_still) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Which locked axes of location and rotation of a body that moves are held, and why others are not.

    ``flags_change``: whether it is dynamic in some frames only; ``has_still``: whether any body never moves.
    """
    location, rotation = np.array(ob.lock_location[:]), np.array(ob.lock_rotation[:])
    texts = []
    if not (location.any() or rotation.any()):
        return location, rotation, texts
    if flags_change:
        texts.append("its locked axes are not held, as Animated or Dynamic is keyed")
        return np.zeros(3, bool), np.zeros(3, bool), texts
    if rotation.sum() == 1:
        texts.append("one locked rotation axis alone is not supported: it turns freely")
        rotation[:] = False
    if not has_still and not _turns_into_itself(location, rotation):
        texts.append("its locked location is not held: that needs a passive body that never moves in the scene")
        location[:] = False
    return location, rotation, texts


def _turns_into_itself(location, rotation) -> bool:
    """Whether the locked directions stay the same ones while the body turns as it may."""
    if location.all() or not location.any() or rotation.all():
        return True
    if rotation.sum() < 2:
        return False
    about = int(np.argmin(rotation))
    return location[(about + 1) % 3] == location[(about + 2) % 3]


def _add(builder, ob, body, still, location, rotation) -> ExportedJoint:
    joint = core.Generic(
        linear=tuple(_LOCKED if locked else _FREE for locked in location),
        angular=tuple(_LOCKED if locked else _FREE for locked in rotation),
    )
    name, position = f"{ob.name} (locked axes)", body.matrix_world_start[:3, 3]
    ends = (body.index,) if still is None else (still.index, body.index)
    index = builder.add_joint(joint, *ends, position=position, name=name, collide=True)
    return ExportedJoint(
        object_name=name,
        index=index,
        kind="LOCKED_AXES",
        first=None if still is None else still.object_name,
        second=ob.name,
        joint=joint,
        position=tuple(position.tolist()),
        orientation=(1.0, 0.0, 0.0, 0.0),
        breaking_load=None,
        enabled=True,
        enabled_changes=False,
        drives=(),
    )
