"""The coordinates of a joint, to which all types are lowered.

Frame A of a joint is carried by body a, frame B by body b (or is fixed in the world). They coincide at the start. With
their origins p_A, p_B, axes x_A, ... z_B, and Q = Q_A' Q_B the turn of B as seen from A:

kind         coordinate                                                          where
LINEAR       axis_A . (p_B - p_A)                                                translations
TURN         component of the rotation vector of Q                               all three turns are locked
ALIGN        component of (k_A x k_B), as long as the angle between them         two are locked, that about k is free
TWIST        the angle of Q about k, counted beyond a full turn                  ... the free one
EULER        Q = Rz(c) Ry(b) Rx(a): about x_B, about z_A x x_B, about z_A        two or three are free
DISTANCE     |p_B - p_A|                                                         ropes
SWING        angle between z_A and z_B                                           cones
GEAR         angle of A about z + factor * that of B, each since the start       gears
RACK         way of p_B along the first x - factor * angle of A about z          rack and pinion

All are positive where B moves or turns in the axis' positive sense as seen from A. Bullet's angles of a generic joint
are the same ones with the opposite sign, and so are its hinge's.
"""

import math
from typing import NamedTuple, Protocol

from .axis import LOCKED, Axis

LINEAR, TURN, ALIGN, TWIST, EULER, DISTANCE, SWING, GEAR, RACK = range(9)


class Coordinate(NamedTuple):
    """One coordinate.

    Attributes
    ----------
    kind : int
    axis : int
        0, 1, 2 for x, y, z: of A; of ALIGN the component.
    range : Axis
    number : int
        0 to 5 for x, y, z, about x, about y, about z: by which frames' inputs name it.
    about : int
        Of ALIGN: the axis k.
    factor : float
        Of GEAR and RACK; of EULER 1 where the second angle may pass a quarter turn, else 0.
    """

    kind: int
    axis: int
    range: Axis
    number: int
    about: int = 0
    factor: float = 0.0


class Joint(Protocol):
    """What a joint's type has."""

    # whether one end may be the world
    may_end_at_world: bool

    def coordinates(self) -> list[Coordinate]:
        """The joint's coordinates."""


def along(axis: int, given: Axis = LOCKED) -> Coordinate:
    """A translation."""
    return Coordinate(LINEAR, axis, given, axis)


def held_point() -> list[Coordinate]:
    """The three translations, locked."""
    return [along(axis) for axis in range(3)]


def friction_of_turns(torque: float) -> list[Coordinate]:
    """What resists turning about each axis of frame A with up to a torque; nothing without one."""
    if torque == 0.0:
        return []
    return [Coordinate(TURN, axis, Axis(friction=torque), 3 + axis) for axis in range(3)]


def turns(angular: tuple[Axis, Axis, Axis]) -> list[Coordinate]:
    """The three turns, in coordinates without a singularity wherever two of them are locked at 0.

    Of Euler's angles that about y may pass a quarter turn where its range allows it: then they count on from there.
    """
    locked = [axis for axis in range(3) if angular[axis].is_locked and angular[axis].lower == 0.0]
    if len(locked) == 3:
        return [Coordinate(TURN, axis, angular[axis], 3 + axis) for axis in range(3)]
    if len(locked) == 2:
        (free,) = set(range(3)) - set(locked)
        aligned = [Coordinate(ALIGN, axis, angular[axis], 3 + axis, about=free) for axis in locked]
        return [*aligned, Coordinate(TWIST, free, angular[free], 3 + free)]
    stays = -0.5 * math.pi <= angular[1].lower <= angular[1].upper <= 0.5 * math.pi
    return [Coordinate(EULER, axis, angular[axis], 3 + axis, factor=0.0 if stays else 1.0) for axis in range(3)]


def about_only(axis: int, given: Axis) -> list[Coordinate]:
    """The three turns where only that about ``axis`` is not locked."""
    x, y, z = (given if other == axis else LOCKED for other in range(3))
    return turns((x, y, z))
