"""Paths of driven bodies within a frame: cubic ones, where the velocities at the frame's two ends are given.

A driven body goes from pose to pose. At constant velocity it would get all of a change of velocity in one substep of
the frame: with 4 substeps what lies on it feels four times the acceleration in the first, none in the others, and
slides or is left behind where its animation would carry it. With the velocities at both ends it goes by Hermite's
cubic, as a share s of the frame of duration T,

    x(s) = x_0 + (s - 2 s^2 + s^3) T v_0 + (3 s^2 - 2 s^3) (x_1 - x_0) + (s^3 - s^2) T v_1

and in each substep at the velocity of the chord, so it is on its path at the end of each. If the ends of neighbouring
frames agree, the velocity is continuous, and the cubic is exact to the fourth order of the frame.

A turn is R(s) = exp(p(s) d) exp(w(s)) R_0 with Hermite's cubic w(s) of a rotation vector, from 0 to the turn of the
whole frame. Poses tell a turn but for whole turns: it is the one that is nearest to what the velocities at both ends
say, so a body may turn by several turns a frame. dw/dt at the end is the inverse of the left Jacobian of exp at w_1,
times the angular velocity (Chirikjian 2012, 10.3). Beyond half a turn, where that grows without bound, w is along the
mean of the two velocities, and the rest of the turn, d, is a small one that comes in by p = 3 s^2 - 2 s^3.
"""

import math
from typing import NamedTuple

import numpy as np

from ...compiled.kernel import kernel, subkernel
from ...geometry.rotation_kernels import from_rotation_vector, multiply, rotate
from ...model.state import KINEMATIC
from .frame_poses import turn_vector

# Below this angle the left Jacobian's inverse is taken from its series [rad].
_ANGLE_SMALL = 1e-3


class DrivenPaths(NamedTuple):
    """Paths of all bodies in a frame; those of bodies whose ``is_curved`` is off are not read.

    Attributes
    ----------
    is_curved : bool [body_count]
    start_position, start_orientation : float64 [body_count, 3], [body_count, 4]
        Of the body frames at the frame's beginning.
    way : float64 [body_count, 3, 3]
        Hermite's coefficients of the position: T v_0, x_1 - x_0, T v_1 [m].
    turn : float64 [body_count, 3, 3]
        Of the rotation vector w, likewise [rad].
    swing : float64 [body_count, 3]
        d [rad].
    end_velocity : float64 [body_count, 6]
        At the frame's end [m/s, rad/s].
    """

    is_curved: np.ndarray
    start_position: np.ndarray
    start_orientation: np.ndarray
    way: np.ndarray
    turn: np.ndarray
    swing: np.ndarray
    end_velocity: np.ndarray


def allocate_paths(body_count: int) -> DrivenPaths:
    """Room for a path a body."""
    return DrivenPaths(
        is_curved=np.zeros(body_count, np.bool_),
        start_position=np.zeros((body_count, 3)),
        start_orientation=np.zeros((body_count, 4)),
        way=np.zeros((body_count, 3, 3)),
        turn=np.zeros((body_count, 3, 3)),
        swing=np.zeros((body_count, 3)),
        end_velocity=np.zeros((body_count, 6)),
    )


def hermite(share: float) -> tuple[float, float, float]:
    """Weights of T v_0, x_1 - x_0 and T v_1 at a share of a frame."""
    square = share * share
    return share - 2.0 * square + share * square, square * (3.0 - 2.0 * share), square * (share - 1.0)


@kernel
def lay_paths(kind, frame_position, present, target, velocity_given, duration, velocity, paths):
    """Find the paths of the driven bodies whose velocities at both ends of a frame are given.

    Parameters
    ----------
    kind : int64 [body_count]
    frame_position : float64 [body_count, 3]
        Of the user frames in the body frames (read).
    present, target : tuple of float64 [body_count, 3], [body_count, 4]
        Poses of the body frames at the frame's two ends (read).
    velocity_given : float64 [2, body_count, 6]
        Of the user frames at the frame's two ends [m/s, rad/s]; NaN: the body goes at constant velocity (read).
    duration : float
        [s].
    velocity : float64 [body_count, 6]
        The mean along the path is written.
    paths : DrivenPaths
        Written.

    Returns
    -------
    bool
        Whether any body is on a curved path.
    """
    found = False
    for body in range(len(kind)):
        paths.is_curved[body] = False
        if kind[body] != KINEMATIC:
            continue
        total = 0.0
        for end in range(2):
            for column in range(6):
                total += velocity_given[end, body, column]
        if not math.isfinite(total):
            continue
        paths.is_curved[body] = found = True
        _lay_turn(paths, body, present[1][body], target[1][body], velocity_given, duration)
        for axis in range(3):
            position = paths.start_position[body, axis] = present[0][body, axis]
            paths.way[body, 1, axis] = target[0][body, axis] - position
            velocity[body, axis] = paths.way[body, 1, axis] / duration
            velocity[body, 3 + axis] = (paths.turn[body, 1, axis] + paths.swing[body, axis]) / duration
        for end in range(2):
            # of the body frame, which lies elsewhere than the user frame
            w, x, y, z = _quaternion(present[1] if end == 0 else target[1], body)
            rx, ry, rz = rotate(
                w, x, y, z, -frame_position[body, 0], -frame_position[body, 1], -frame_position[body, 2]
            )
            given = velocity_given[end, body]
            along = (
                given[0] + given[4] * rz - given[5] * ry,
                given[1] + given[5] * rx - given[3] * rz,
                given[2] + given[3] * ry - given[4] * rx,
            )
            for axis in range(3):
                paths.way[body, 2 * end, axis] = duration * along[axis]
                paths.end_velocity[body, axis] = along[axis]
                paths.end_velocity[body, 3 + axis] = given[3 + axis]
    return found


@kernel
def aim_on_paths(paths, share, previous_share, position, orientation, velocity, h):
    """Give bodies on curved paths the velocities that lead them to where they are to be at the substep's end.

    Parameters
    ----------
    paths : DrivenPaths
        Read.
    share, previous_share : float
        Of the frame, at the substep's two ends.
    position, orientation : float64 [body_count, 3], [body_count, 4]
        Of the body frames at the substep's beginning (read).
    velocity : float64 [body_count, 6]
        Written where a path is curved.
    h : float
        Of the substep [s].
    """
    for body in range(len(position)):
        if not paths.is_curved[body]:
            continue
        x, y, z = _on_cubic(paths.way[body], share)
        start = paths.start_position[body]
        velocity[body, 0] = (start[0] + x - position[body, 0]) / h
        velocity[body, 1] = (start[1] + y - position[body, 1]) / h
        velocity[body, 2] = (start[2] + z - position[body, 2]) / h
        a, b, c = _on_cubic(paths.turn[body], share)
        turn = multiply(*from_rotation_vector(a, b, c), *_quaternion(paths.start_orientation, body))
        comes_in = share * share * (3.0 - 2.0 * share)
        swing = paths.swing[body]
        turn = multiply(*from_rotation_vector(comes_in * swing[0], comes_in * swing[1], comes_in * swing[2]), *turn)
        w, p, q, r = _quaternion(orientation, body)
        before = _on_cubic(paths.turn[body], previous_share)
        main, rest = _split(multiply(*turn, w, -p, -q, -r), a - before[0], b - before[1], c - before[2])
        for axis in range(3):
            velocity[body, 3 + axis] = (main[axis] + rest[axis]) / h


@subkernel
def pose_on_path(paths, body, share):
    """Where a path is at a share of the frame: position and orientation, 7 numbers.

    Parameters
    ----------
    paths : DrivenPaths
        Read.
    body : int64
    share : float
        May lie beyond the frame's ends, where the path goes on as it does there.
    """
    start, swing = paths.start_position[body], paths.swing[body]
    x, y, z = _on_cubic(paths.way[body], share)
    a, b, c = _on_cubic(paths.turn[body], share)
    w, p, q, r = multiply(*from_rotation_vector(a, b, c), *_quaternion(paths.start_orientation, body))
    comes_in = share * share * (3.0 - 2.0 * share)
    w, p, q, r = multiply(
        *from_rotation_vector(comes_in * swing[0], comes_in * swing[1], comes_in * swing[2]), w, p, q, r
    )
    return start[0] + x, start[1] + y, start[2] + z, w, p, q, r


@subkernel
def way_on_path(paths, body, before, after):
    """How far a path goes and turns between two shares of the frame: way and rotation vector, 6 numbers."""
    x0, y0, z0, w, p, q, r = pose_on_path(paths, body, before)
    x1, y1, z1, w1, p1, q1, r1 = pose_on_path(paths, body, after)
    first, last = _on_cubic(paths.turn[body], before), _on_cubic(paths.turn[body], after)
    turn = multiply(w1, p1, q1, r1, w, -p, -q, -r)
    main, rest = _split(turn, last[0] - first[0], last[1] - first[1], last[2] - first[2])
    return x1 - x0, y1 - y0, z1 - z0, main[0] + rest[0], main[1] + rest[1], main[2] + rest[2]


@subkernel
def _lay_turn(paths, body, present, target, velocity_given, duration):
    """Write the path of a body's orientation, from one quaternion to another."""
    w, x, y, z = present[0], present[1], present[2], present[3]
    for part in range(4):
        paths.start_orientation[body, part] = present[part]
    first, last = velocity_given[0, body], velocity_given[1, body]
    half = 0.5 * duration
    e0, e1, e2 = half * (first[3] + last[3]), half * (first[4] + last[4]), half * (first[5] + last[5])
    main, rest = _split(multiply(target[0], target[1], target[2], target[3], w, -x, -y, -z), e0, e1, e2)
    end = _rotation_rate(main, duration * last[3], duration * last[4], duration * last[5])
    for axis in range(3):
        paths.turn[body, 0, axis] = duration * first[3 + axis]
        paths.turn[body, 1, axis] = main[axis]
        paths.turn[body, 2, axis] = end[axis]
        paths.swing[body, axis] = rest[axis]


@subkernel
def _split(turn, e0, e1, e2):
    """Split a turn into exp(rest) exp(main), with a main part near the expected one.

    Up to half a turn there is no rest, and the main part is the nearest of all rotation vectors of the turn. Beyond,
    these lie on spheres about 0, so that a small error across would choose another axis: the main part is then along
    the expected one.

    Parameters
    ----------
    turn : tuple of four float
        Quaternion.
    e0, e1, e2 : float
        Expected rotation vector [rad].

    Returns
    -------
    main, rest : tuple of three float
        Rotation vectors [rad].
    """
    expected = math.sqrt(e0 * e0 + e1 * e1 + e2 * e2)
    full = 2.0 * math.pi
    if expected <= math.pi:
        x, y, z = turn_vector(*turn)
        angle = math.sqrt(x * x + y * y + z * z)
        if angle > 0.0:
            # which of angle + 2 pi k, along the same axis
            nearest = angle + full * np.rint(((e0 * x + e1 * y + e2 * z) / angle - angle) / full)
            x, y, z = x * nearest / angle, y * nearest / angle, z * nearest / angle
        return (x, y, z), (0.0, 0.0, 0.0)
    u0, u1, u2 = e0 / expected, e1 / expected, e2 / expected
    w, x, y, z = turn
    angle = 2.0 * math.atan2(u0 * x + u1 * y + u2 * z, w)
    angle += full * np.rint((expected - angle) / full)
    main = angle * u0, angle * u1, angle * u2
    rest = turn_vector(*multiply(w, x, y, z, *from_rotation_vector(-main[0], -main[1], -main[2])))
    return main, rest


@subkernel
def _rotation_rate(vector, w0, w1, w2):
    """dw/dt of a rotation vector w, from the angular velocity: the inverse of the left Jacobian of exp.

    w' - w x w' / 2 + c w x (w x w'), with c = 1/a^2 - cot(a/2) / 2a and the angle a; beyond half a turn the part
    along w.
    """
    x, y, z = vector
    square = x * x + y * y + z * z
    angle = math.sqrt(square)
    if angle > math.pi:
        along = (x * w0 + y * w1 + z * w2) / square
        return along * x, along * y, along * z
    factor = 1.0 / 12.0
    if angle > _ANGLE_SMALL:
        factor = 1.0 / square - 0.5 / (angle * math.tan(0.5 * angle))
    c0, c1, c2 = y * w2 - z * w1, z * w0 - x * w2, x * w1 - y * w0
    return (
        w0 - 0.5 * c0 + factor * (y * c2 - z * c1),
        w1 - 0.5 * c1 + factor * (z * c0 - x * c2),
        w2 - 0.5 * c2 + factor * (x * c1 - y * c0),
    )


@subkernel
def _on_cubic(coefficients, share):
    """Hermite's cubic, from 0, at a share of the frame."""
    square = share * share
    first, whole, last = share - 2.0 * square + share * square, square * (3.0 - 2.0 * share), square * (share - 1.0)
    return (
        first * coefficients[0, 0] + whole * coefficients[1, 0] + last * coefficients[2, 0],
        first * coefficients[0, 1] + whole * coefficients[1, 1] + last * coefficients[2, 1],
        first * coefficients[0, 2] + whole * coefficients[1, 2] + last * coefficients[2, 2],
    )


@subkernel
def _quaternion(quaternions, body):
    return quaternions[body, 0], quaternions[body, 1], quaternions[body, 2], quaternions[body, 3]
