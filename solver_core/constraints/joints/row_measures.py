"""One row of a joint, at poses that are given: its Jacobian, its coordinate, and how far that is off.

What all rows of a joint have in common, its frames, is found once for them (``frames_of_joint``).
"""

import math

from ...compiled.kernel import subkernel
from ...model.joints.coordinates import EULER
from ...model.joints.joint_arrays import HOLD, RANGE, SOFT_RANGE, SPRING, WORLD
from .coordinate_geometry import (
    frame_of,
    is_angle,
    measure_coordinate,
    measure_side,
    value_beyond_quarter_turn,
    value_of,
)


@subkernel
def scale_of(joints, joint, index):
    """What the coordinate is multiplied with [m/rad or 1]."""
    return joints.size[joint] if is_angle(joints.kind[index]) else 1.0


@subkernel
def frames_of_joint(joints, joint, position, orientation):
    """Where a joint is at these poses.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint : int64
    position, orientation : float64 [body_count, 3], [body_count, 4]
        Of the bodies (read).

    Returns
    -------
    frame_a, frame_b : tuple of seven float
        Of ``frame_of``.
    center_a, center_b : tuple of three float
        Of the bodies [m]; the world's is that of a.
    """
    a, b = joints.body_a[joint], joints.body_b[joint]
    other = a if b == WORLD else b
    return (
        frame_of(a, joints.position_a[joint], joints.orientation_a[joint], position, orientation),
        frame_of(b, joints.position_b[joint], joints.orientation_b[joint], position, orientation),
        (position[a, 0], position[a, 1], position[a, 2]),
        (position[other, 0], position[other, 1], position[other, 2]),
    )


@subkernel
def fill_joint_row(joints, joint_state, joint, index, frames, motion, rows, row):
    """Jacobian, response and diagonal of a row at these frames; returns its coordinate [m or rad] and its sheet."""
    a, b = joints.body_a[joint], joints.body_b[joint]
    value, _, _, sheet, push, share, turn_a, turn_b = measure_row(joints, joint_state, joint, index, frames)
    scale = scale_of(joints, joint, index)
    p0, p1, p2 = push
    m0, m1, m2 = turn_a
    jacobian, response = rows.jacobian[row], rows.response[row]
    jacobian[0], jacobian[1], jacobian[2] = -scale * share * p0, -scale * share * p1, -scale * share * p2
    jacobian[3], jacobian[4], jacobian[5] = scale * m0, scale * m1, scale * m2
    diagonal = respond(motion, a, jacobian, response, 0)
    if b == WORLD:
        for column in range(6, 12):
            jacobian[column] = response[column] = 0.0
    else:
        m0, m1, m2 = turn_b
        jacobian[6], jacobian[7], jacobian[8] = scale * p0, scale * p1, scale * p2
        jacobian[9], jacobian[10], jacobian[11] = scale * m0, scale * m1, scale * m2
        diagonal += respond(motion, b, jacobian, response, 6)
    rows.diagonal[row] = diagonal
    return value, sheet


@subkernel
def respond(motion, body, jacobian, response, first):
    """M^-1 J' of one body; returns J M^-1 J' of it."""
    inverse, mass = motion.inverse_inertia[body], motion.inverse_mass[body]
    total = 0.0
    for axis in range(3):
        response[first + axis] = mass * jacobian[first + axis]
        response[first + 3 + axis] = (
            inverse[3 * axis] * jacobian[first + 3]
            + inverse[3 * axis + 1] * jacobian[first + 4]
            + inverse[3 * axis + 2] * jacobian[first + 5]
        )
        total += jacobian[first + axis] * response[first + axis]
        total += jacobian[first + 3 + axis] * response[first + 3 + axis]
    return total


@subkernel
def measure_row(joints, joint_state, joint, index, frames):
    """A row's coordinate at these frames, its numbers, its sheet, and what ``measure_coordinate`` returns besides."""
    frame_a, frame_b, center_a, center_b = frames
    x, y, z = joints.start_position[joint]
    w, i, j, k = joints.start_orientation[joint]
    kind, factor = joints.kind[index], joints.factor[index]
    numbers, push, share, turn_a, turn_b = measure_coordinate(
        kind,
        joints.axis[index],
        joints.about[index],
        factor,
        frame_a,
        frame_b,
        (x, y, z, w, i, j, k),
        center_a,
        center_b,
    )
    if kind == EULER and factor != 0.0:
        axis = joints.axis[index]
        angle, third, sheet = value_beyond_quarter_turn(axis, numbers, joint_state.angle[index])
        if is_on_sphere(joints, index):
            value, rate = _measure_on_sphere(joints, joint_state, index, angle, sheet, frame_a, frame_b)
            m0, m1, m2 = rate
            return value, angle, third, sheet, push, share, (-m0, -m1, -m2), rate
        sign = sheet if axis == 1 else 1.0
        m0, m1, m2 = turn_a
        n0, n1, n2 = turn_b
        turns = (sign * m0, sign * m1, sign * m2), (sign * n0, sign * n1, sign * n2)
        return angle, angle, third, sheet, push, share, turns[0], turns[1]
    value, first, second = value_of(kind, factor, numbers, joint_state.angle[index])
    return value, first, second, 1.0, push, share, turn_a, turn_b


@subkernel
def is_on_sphere(joints, index):
    """Whether a row is the limit of an angle that has no rate where that about y is a quarter turn."""
    is_singular = joints.kind[index] == EULER and joints.factor[index] != 0.0 and joints.axis[index] != 1
    return is_singular and joints.role[index] == RANGE


@subkernel
def _measure_on_sphere(joints, joint_state, index, angle, sheet, frame_a, frame_b):
    """The limit, and beyond it the distance on the sphere; and its rate.

    More than a quarter turn from the limit, that is as far as it gets there.
    """
    side = joint_state.side[index]
    limit = joints.lower[index] if side > 0.0 else joints.upper[index]
    nearest = angle - 0.5 * math.pi if side > 0.0 else angle + 0.5 * math.pi
    counts_from = max(limit, nearest) if side > 0.0 else min(limit, nearest)
    beyond, rate = measure_side(joints.axis[index], counts_from, frame_a, frame_b)
    m0, m1, m2 = rate
    return limit + sheet * beyond, (sheet * m0, sheet * m1, sheet * m2)


@subkernel
def row_speed(rows, row, block, velocity):
    """J v of a row of a joint [m/s].

    Parameters
    ----------
    rows : RowArrays
        Read.
    row, block : int64
    velocity : float64 [body_count, 6]
        Read.
    """
    a, b = rows.body_a[block], rows.body_b[block]
    jacobian, total = rows.jacobian[row], 0.0
    for column in range(6):
        total += jacobian[column] * velocity[a, column] + jacobian[6 + column] * velocity[b, column]
    return total


@subkernel
def turn_to_side(side, rows, row):
    """Let a row measure the distance from its limit."""
    if side < 0.0:
        for column in range(12):
            rows.jacobian[row, column] = -rows.jacobian[row, column]
            rows.response[row, column] = -rows.response[row, column]


@subkernel
def error_of(joints, joint_state, joint, index, value):
    """What the row is about [m]: the distance from where it is locked, from its limit, or from a spring's rest."""
    role, scale = joints.role[index], scale_of(joints, joint, index)
    if role == HOLD:
        return scale * (value - joints.lower[index])
    if role in (RANGE, SOFT_RANGE):
        if joint_state.side[index] > 0.0:
            return scale * (value - joints.lower[index])
        return scale * (joints.upper[index] - value)
    if role == SPRING:
        return scale * (value - joints.rest[index])
    return 0.0
