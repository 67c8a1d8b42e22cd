"""What wakes a body that waits: until then it stays as if static, also in the air, and holds what leans on it.

``Activation`` is what one body is given; ``ActivationArrays`` are tables of all, empty where no body waits.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from .errors import ModelError


class Trigger(IntEnum):
    """What wakes a waiting body; ``FrameInput.activate`` wakes any."""

    TOLD = 0
    TOUCH = 1
    IMPULSE = 2
    VOLUME = 3


# As kernels read them: Numba would take a member of the enumeration for a type of its own.
TOLD, TOUCH, IMPULSE, VOLUME = range(4)


@dataclass(frozen=True)
class Activation:
    """How a body waits, and for what.

    Attributes
    ----------
    trigger : Trigger
    threshold : float
        Of IMPULSE: a harder hit wakes it [N s].
    volume : int
        Of VOLUME: what ``ModelBuilder.add_volume`` has returned.
    waits : bool
        It waits from the start; else it only may be put to waiting (``FrameInput.deactivate``).
    """

    trigger: Trigger = Trigger.TOLD
    threshold: float = 0.0
    volume: int = -1
    waits: bool = True

    @classmethod
    def touch(cls) -> "Activation":
        """It wakes as soon as something that moves pushes it."""
        return cls(Trigger.TOUCH)

    @classmethod
    def impulse(cls, threshold: float) -> "Activation":
        """A hit that is harder than the threshold [N s], above 0, wakes it."""
        return cls(Trigger.IMPULSE, threshold=threshold)

    @classmethod
    def in_volume(cls, volume: int) -> "Activation":
        """It wakes as soon as its centre of mass is in a volume."""
        return cls(Trigger.VOLUME, volume=volume)

    @classmethod
    def told(cls) -> "Activation":
        """It wakes when ``FrameInput.activate`` says so, and never by what happens to it."""
        return cls(Trigger.TOLD)


class ActivationArrays(NamedTuple):
    """Of all bodies, or empty where none waits.

    Attributes
    ----------
    trigger : int64 [body_count or 0]
        ``Trigger``.
    threshold : float64 [body_count or 0]
        [N s].
    volume : int64 [body_count or 0]
        Which one wakes it; -1: none does.
    waits : bool [body_count or 0]
        It waits from the start.
    triangle : float64 [triangle_count, 3, 3]
        Corners of the volumes' surfaces, in their own frames.
    triangle_start : int64 [volume_count + 1]
        Where those of each volume begin.
    bounds : float64 [volume_count, 2, 3]
        Least and largest coordinates of each volume in its frame.
    start : float64 [volume_count, 3, 4]
        Matrices that lead from the volumes' frames to the world, at the start.
    joint_trigger, joint_threshold, joint_volume : int64, float64, int64 [joint_count or 0]
        Likewise of joints; empty where none is let go or begins to hold by a trigger. TOLD where one is not.
    joint_until : bool [joint_count or 0]
        The joint holds until then; else from then on.
    """

    trigger: np.ndarray
    threshold: np.ndarray
    volume: np.ndarray
    waits: np.ndarray
    triangle: np.ndarray
    triangle_start: np.ndarray
    bounds: np.ndarray
    start: np.ndarray
    joint_trigger: np.ndarray
    joint_threshold: np.ndarray
    joint_volume: np.ndarray
    joint_until: np.ndarray


@dataclass(frozen=True)
class Volume:
    """A closed surface that wakes what it comes to hold.

    Attributes
    ----------
    corners : float64 [triangle_count, 3, 3]
        Of its triangles, in its own frame.
    matrix : float64 [3, 4]
        From there to the world, at the start.
    """

    corners: np.ndarray
    matrix: np.ndarray


def checked_volume(name, vertices, triangles, matrix) -> Volume:
    """A volume of what is given; a ModelError where that has no faces or is not finite."""
    vertices, triangles = np.array(vertices, float), np.array(triangles, np.int64)
    if len(triangles) == 0:
        raise ModelError(f"{name}: it has no faces; a volume must be a closed surface")
    matrix = np.array(matrix, float)
    if matrix.shape != (3, 4) or not np.isfinite(matrix).all() or not np.isfinite(vertices).all():
        raise ModelError(f"{name}: its vertices and its matrix [3, 4] must be finite numbers")
    return Volume(np.ascontiguousarray(vertices[triangles]), matrix)


def checked_activation(name: str, activation: Activation | None, may_move: bool, volumes: int) -> Activation | None:
    """What a body is given, if its numbers can be; else a ModelError.

    Parameters
    ----------
    name : str
        Of the body.
    activation : Activation or None
    may_move : bool
        Whether the body is dynamic: others have nothing to wait for.
    volumes : int
        How many there are.
    """
    if activation is None:
        return None
    if not may_move:
        raise ModelError(f"{name}: it is not dynamic and has an activation; only dynamic bodies wait")
    if activation.trigger == Trigger.IMPULSE and not 0.0 < activation.threshold < np.inf:
        raise ModelError(f"{name}: the activation's impulse is {activation.threshold:g}; it must be finite and above 0")
    if activation.trigger == Trigger.VOLUME and not 0 <= activation.volume < volumes:
        raise ModelError(f"{name}: there is no volume {activation.volume}; there are {volumes}")
    return activation


def checked_trigger(name: str, until: Activation | None, since: Activation | None, volumes: int) -> Activation | None:
    """What lets a joint go, or what it holds from, if its numbers can be; else a ModelError.

    Parameters
    ----------
    name : str
        Of the joint.
    until, since : Activation or None
        One at most.
    volumes : int
        How many there are.
    """
    if until is not None and since is not None:
        raise ModelError(f"{name}: the joint has holds_until and holds_from; it may have one of them")
    return checked_activation(name, since if until is None else until, True, volumes)


def pack_activation(
    bodies: list[Activation | None], volumes: list[Volume], joints: list[tuple[Activation | None, bool]] | None = None
) -> ActivationArrays:
    """Tables of what bodies and joints wait for.

    Parameters
    ----------
    bodies : list of Activation or None
    volumes : list of Volume
    joints : list of (Activation or None, bool), optional
        And whether the joint holds until then.
    """
    joints = joints if joints and any(trigger is not None for trigger, _ in joints) else []
    if all(body is None for body in bodies) and not joints:
        bodies, volumes = [], []
    given = [Activation(waits=False) if body is None else body for body in bodies]
    of_joints = [Activation() if trigger is None else trigger for trigger, _ in joints]
    corners = [volume.corners for volume in volumes]
    counts = np.array([0, *map(len, corners)], np.int64)
    return ActivationArrays(
        trigger=np.array([body.trigger for body in given], np.int64),
        threshold=np.array([body.threshold for body in given], float),
        volume=np.array([body.volume for body in given], np.int64),
        waits=np.array([body.waits for body in given], np.bool_),
        triangle=np.concatenate([np.zeros((0, 3, 3)), *corners]),
        triangle_start=np.cumsum(counts),
        bounds=np.array([(own.min(axis=(0, 1)), own.max(axis=(0, 1))) for own in corners]).reshape(-1, 2, 3),
        start=np.array([volume.matrix for volume in volumes], float).reshape(-1, 3, 4),
        joint_trigger=np.array([one.trigger for one in of_joints], np.int64),
        joint_threshold=np.array([one.threshold for one in of_joints], float),
        joint_volume=np.array([one.volume for one in of_joints], np.int64),
        joint_until=np.array([until for _, until in joints], np.bool_),
    )
