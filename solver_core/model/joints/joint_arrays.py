"""Joints as kernels read them: ends, frames, and the rows that each may need, one after the other."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...geometry import rotations
from .axis import Spring
from .bond import Bond
from .coordinates import Coordinate, Joint

# What a row does: hold a coordinate where it is locked; keep it within its range; a spring; a motor; friction; push it
# back into its range by a spring.
HOLD, RANGE, SPRING, MOTOR, FRICTION, SOFT_RANGE = range(6)

# The world, as an end of a joint.
WORLD = -1


class JointArrays(NamedTuple):
    """All joints of a model.

    Attributes
    ----------
    body_a, body_b : int64 [joint_count]
        WORLD for the world, which only b may be.
    position_a, position_b : float64 [joint_count, 3]
        Origins of the joint's frames in the body frames [m]; in the world where it is the end.
    orientation_a, orientation_b : float64 [joint_count, 4]
        Their turns, likewise.
    start_position, start_orientation : float64 [joint_count, 3], [joint_count, 4]
        Frame B in the world at the start.
    size : float64 [joint_count]
        Of the smaller body [m]: turns times it are compared with lengths.
    breaking : float64 [joint_count, 2]
        Largest force [N] and torque [N m]; infinite where it never breaks.
    bond : float64 [joint_count or 0, 8]
        What bonds bear: tension and shear [N], torsion and bending about y and z [N m]; then their areas [m^2], and
        squares of the radii of gyration about y and z [m^2]. NaN of other joints. Empty where there are no bonds.
    enabled : bool [joint_count]
        At the start.
    excluded_key : int64 [joint_count]
        Of ``ModelArrays.excluded_pairs``: the pair that does not collide as long as the joint holds; -1 without.
    row_first : int64 [joint_count + 1]
        Where the rows of each joint begin.
    is_jointed : bool [body_count]
        Whether a joint ends at the body.
    kind, axis, about, number : int64 [joint_row_count]
        The row's coordinate (``coordinates.Coordinate``).
    factor : float64 [joint_row_count]
        Of gears.
    role : int64 [joint_row_count]
        HOLD, RANGE, SPRING, MOTOR, FRICTION or SOFT_RANGE.
    lower, upper : float64 [joint_row_count]
        Range of HOLD, RANGE and SOFT_RANGE [m, rad].
    stiffness, damping, rest : float64 [joint_row_count]
        Of a SPRING, and but for the rest of a SOFT_RANGE.
    largest : float64 [joint_row_count]
        Force of a MOTOR or of FRICTION [N, N m].
    target_speed, target_position : float64 [joint_row_count]
        Of a MOTOR at the start; NaN for one that is no servo.
    """

    body_a: np.ndarray
    body_b: np.ndarray
    position_a: np.ndarray
    position_b: np.ndarray
    orientation_a: np.ndarray
    orientation_b: np.ndarray
    start_position: np.ndarray
    start_orientation: np.ndarray
    size: np.ndarray
    breaking: np.ndarray
    bond: np.ndarray
    enabled: np.ndarray
    excluded_key: np.ndarray
    row_first: np.ndarray
    is_jointed: np.ndarray
    kind: np.ndarray
    axis: np.ndarray
    about: np.ndarray
    number: np.ndarray
    factor: np.ndarray
    role: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    rest: np.ndarray
    largest: np.ndarray
    target_speed: np.ndarray
    target_position: np.ndarray

    @property
    def joint_count(self) -> int:
        """Number of joints."""
        return len(self.body_a)

    @property
    def row_count(self) -> int:
        """Most rows that all joints together can need."""
        return len(self.kind)


@dataclass(frozen=True)
class PlacedJoint:
    """A joint as the builder keeps it: checked.

    Attributes
    ----------
    name : str
    joint : Joint
    body_a, body_b : int
        WORLD for the world.
    position, orientation, anchor_b : float64 [3], [4], [3]
        The joint's frame in the world at the start, and the origin of frame B.
    breaking : tuple of float
        Largest force and torque.
    enabled, collide : bool
    """

    name: str
    joint: Joint
    body_a: int
    body_b: int
    position: np.ndarray
    orientation: np.ndarray
    anchor_b: np.ndarray
    breaking: tuple[float, float]
    enabled: bool
    collide: bool


def pack_joints(joints, position, orientation, size) -> JointArrays:
    """The joints of a model.

    Parameters
    ----------
    joints : sequence of PlacedJoint
    position, orientation : float64 [body_count, 3], [body_count, 4]
        Poses of the body frames at the start.
    size : float64 [body_count]
        [m]
    """
    body_a = np.array([joint.body_a for joint in joints], np.int64)
    body_b = np.array([joint.body_b for joint in joints], np.int64)
    start = np.array([joint.orientation for joint in joints], float).reshape(-1, 4)
    first = np.array([joint.position for joint in joints], float).reshape(-1, 3)
    second = np.array([joint.anchor_b for joint in joints], float).reshape(-1, 3)
    is_world = body_b == WORLD
    other = np.where(is_world, body_a, body_b)
    in_a, turn_a = _in_body(first, start, position[body_a], orientation[body_a])
    in_b, turn_b = _in_body(second, start, position[other], orientation[other])
    in_b[is_world], turn_b[is_world] = second[is_world], start[is_world]
    rows = [_rows_of(coordinate) for joint in joints for coordinate in joint.joint.coordinates()]
    counts = [sum(len(_rows_of(coordinate)) for coordinate in joint.joint.coordinates()) for joint in joints]
    columns = list(zip(*(row for group in rows for row in group), strict=True)) or [()] * len(_COLUMNS)
    is_jointed = np.zeros(len(position), bool)
    is_jointed[body_a] = is_jointed[other] = True
    keys = [
        -1 if joint.collide or joint.body_b == WORLD else _pair_key(joint.body_a, joint.body_b, len(position))
        for joint in joints
    ]
    return JointArrays(
        body_a=body_a,
        body_b=body_b,
        position_a=in_a,
        position_b=in_b,
        orientation_a=turn_a,
        orientation_b=turn_b,
        start_position=second,
        start_orientation=start,
        size=np.minimum(size[body_a], size[other]),
        breaking=np.array([joint.breaking for joint in joints], float).reshape(-1, 2),
        bond=_bonds_of(joints),
        enabled=np.array([joint.enabled for joint in joints], np.bool_),
        excluded_key=np.array(keys, np.int64),
        row_first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        is_jointed=is_jointed,
        **{
            name: np.array(column, np.int64 if name in _WHOLE else float)
            for name, column in zip(_COLUMNS, columns, strict=True)
        },
    )


_WHOLE = ("kind", "axis", "about", "number", "role")
_COLUMNS = (
    *("kind", "axis", "about", "number", "factor", "role", "lower", "upper"),
    *("stiffness", "damping", "rest", "largest", "target_speed", "target_position"),
)


def _bonds_of(joints) -> np.ndarray:
    if not any(isinstance(joint.joint, Bond) for joint in joints):
        return np.zeros((0, 8))
    return np.array([_bond_of(joint.joint) for joint in joints], float)


def _bond_of(joint):
    if not isinstance(joint, Bond):
        return (np.nan,) * 8
    return *joint.strengths, joint.area, joint.gyration_y**2, joint.gyration_z**2


def _pair_key(a: int, b: int, body_count: int) -> int:
    return min(a, b) * body_count + max(a, b)


def _in_body(point, turn, position, orientation):
    """Frames in the world, seen from bodies."""
    back = rotations.conjugate(orientation)
    return rotations.rotate(back, point - position), rotations.multiply(back, turn)


def _rows_of(coordinate: Coordinate) -> list[tuple]:
    """The rows of one coordinate, in the order of ``_COLUMNS``."""
    given = coordinate.range
    same = coordinate.kind, coordinate.axis, coordinate.about, coordinate.number, coordinate.factor
    if given.is_locked:
        return [(*same, HOLD, given.lower, given.upper, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)]
    rows = []
    spring, motor, soft = given.spring, given.motor, given.limit_spring
    if given.has_limits and soft is None:
        rows.append((*same, RANGE, given.lower, given.upper, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    elif given.has_limits and soft is not None and _acts(soft):
        rows.append((*same, SOFT_RANGE, given.lower, given.upper, soft.stiffness, soft.damping, 0.0, 0.0, 0.0, 0.0))
    if spring is not None:  # one of no stiffness may get some from keys
        rows.append((*same, SPRING, 0.0, 0.0, spring.stiffness, spring.damping, spring.rest, 0.0, 0.0, 0.0))
    if motor is not None:
        position = np.nan if motor.position is None else motor.position
        rows.append((*same, MOTOR, 0.0, 0.0, 0.0, 0.0, 0.0, motor.largest, motor.velocity, position))
    if given.friction > 0.0:
        rows.append((*same, FRICTION, 0.0, 0.0, 0.0, 0.0, 0.0, given.friction, 0.0, 0.0))
    return rows


def _acts(spring: Spring) -> bool:
    return spring.stiffness > 0.0 or spring.damping > 0.0
