"""The motion that a body begins with, as its panel *Initial Motion* says: of its centre of mass, in simulated seconds.

A body that is let go by its animation has that motion instead (``launches``). With *Random* each body differs from what
its panel says by up to that share of its speed and of its spin, in directions that its name and the seed give.
"""

import zlib

import numpy as np

from ...solver_core.geometry import rotations
from ...solver_core.model.model import BodyKind
from .notes import Note
from .scene_poses import SceneError

# Properties of ``Object.cairn`` that say how a body begins.
START_SETTINGS = ("start_velocity", "start_spin", "start_space", "start_random", "start_seed")

NOT_MOVED_YET = "its initial motion is not used: it does not move by simulation in the first frame"
WAITS = "its initial motion is not used: it waits for its Activation"
NEVER_MOVED = "its initial motion is not used: it never moves by simulation"


def has_start_motion(ob) -> bool:
    """Whether an object's panel gives it a velocity or a spin."""
    # who reads a scene from a script may not have registered the add-on
    settings = getattr(ob, "cairn", None)
    return settings is not None and (any(settings.start_velocity) or any(settings.start_spin))


def start_motion(ob, orientation) -> np.ndarray:
    """Linear [m/s] and angular velocity [rad/s] that an object's panel says, in world axes [6].

    Parameters
    ----------
    ob : bpy.types.Object
    orientation : float64 [4]
        Of its axes at the start (w, x, y, z).

    Raises
    ------
    SceneError
        A value is no number, which a driver or a script can make it.
    """
    settings = ob.cairn
    parts = [np.array(settings.start_velocity, float), np.array(settings.start_spin, float)]
    for part, name in zip(parts, ("velocity", "spin"), strict=True):
        if not np.all(np.isfinite(part)):
            raise SceneError(
                ob.name, f"its initial {name} is no number; set it in Physics > Rigid Body > Initial Motion"
            )
    if settings.start_space == "LOCAL":
        parts = [rotations.rotate(orientation, part) for part in parts]
    if settings.start_random > 0.0:
        random = np.random.default_rng([settings.start_seed, zlib.crc32(ob.name.encode())])
        parts = [part + settings.start_random * np.linalg.norm(part) * _in_unit_ball(random) for part in parts]
    return np.concatenate(parts)


def _in_unit_ball(random) -> np.ndarray:
    """A point of the unit ball, each as likely as another."""
    while True:
        point = 2.0 * random.random(3) - 1.0
        if point @ point <= 1.0:
            return point


def give_start_motion(model, objects, bodies) -> list[Note]:
    """Let the bodies of a model begin as their panels say.

    Parameters
    ----------
    model : Model
        The velocities of its initial state are written.
    objects : sequence of bpy.types.Object
    bodies : sequence of ExportedBody
        In the same order.

    Returns
    -------
    list of Note
        On what is not used.
    """
    notes = []
    for ob, body in zip(objects, bodies, strict=True):
        if not has_start_motion(ob):
            continue
        if not body.moves:
            notes.append(Note("info", ob.name, NEVER_MOVED))
        elif model.arrays.activation.waits.size and model.arrays.activation.waits[body.index]:
            notes.append(Note("warning", ob.name, WAITS))
        elif model.initial_state.kind[body.index] != BodyKind.DYNAMIC:
            notes.append(Note("warning", ob.name, NOT_MOVED_YET))
        else:
            orientation = rotations.from_matrix(body.rigid_start[None, :3, :3])[0]
            model.initial_state.velocity[body.index] = start_motion(ob, orientation)
    return notes
