"""The value of a joint's coordinate, and its derivative: the row of the Jacobian.

What the kinds of coordinates are says ``model.joints.coordinates``. The derivatives are exact where the joint's locked
coordinates are at their places; then all impulses of a joint act at the common point p_B, or as pairs of torques, so
the momentum of its two bodies stays.
"""

import math

from ...compiled.kernel import subkernel
from ...geometry.rotation_kernels import multiply, rotate
from ...geometry.vectors import cross, dot
from ...model.joints.coordinates import ALIGN, DISTANCE, EULER, GEAR, LINEAR, RACK, SWING, TURN, TWIST
from ...model.joints.joint_arrays import WORLD

# Closer to their singular places than this (of a cosine) coordinates are taken to be here: EULER's second angle at a
# right angle, TWIST's axes opposite.
_LEAST_COSINE = 0.05
# Two points, or two axes, that are closer than this have no direction [m, rad].
_NOWHERE = 1e-12

_TURN = 2.0 * math.pi


@subkernel
def frame_of(body, local_position, local_orientation, position, orientation):
    """A joint's frame in the world.

    Parameters
    ----------
    body : int64
        WORLD where the frame is given in the world.
    local_position, local_orientation : float64 [3], [4]
        The frame in the body frame (read).
    position, orientation : float64 [body_count, 3], [body_count, 4]
        Of the bodies (read).

    Returns
    -------
    tuple of seven float
        Its origin and its quaternion.
    """
    x, y, z = local_position
    p, a, b, c = local_orientation
    if body == WORLD:
        return x, y, z, p, a, b, c
    w, i, j, k = orientation[body]
    x, y, z = rotate(w, i, j, k, x, y, z)
    p, a, b, c = multiply(w, i, j, k, p, a, b, c)
    return position[body, 0] + x, position[body, 1] + y, position[body, 2] + z, p, a, b, c


@subkernel
def axis_of(frame, axis):
    """An axis of a frame in the world.

    Parameters
    ----------
    frame : tuple of seven float
        Of ``frame_of``.
    axis : int64
        0, 1 or 2.

    Returns
    -------
    tuple of three float
    """
    _, _, _, w, x, y, z = frame
    if axis == 0:
        return rotate(w, x, y, z, 1.0, 0.0, 0.0)
    if axis == 1:
        return rotate(w, x, y, z, 0.0, 1.0, 0.0)
    return rotate(w, x, y, z, 0.0, 0.0, 1.0)


@subkernel
def _times(factor, vector):
    x, y, z = vector
    return factor * x, factor * y, factor * z


@subkernel
def _sum(one, other):
    a0, a1, a2 = one
    b0, b1, b2 = other
    return a0 + b0, a1 + b1, a2 + b2


@subkernel
def _from_to(frame_a, frame_b):
    """From the origin of one frame to that of another."""
    a0, a1, a2, _, _, _, _ = frame_a
    b0, b1, b2, _, _, _, _ = frame_b
    return b0 - a0, b1 - a1, b2 - a2


@subkernel
def _arm(center, frame):
    """From a centre of mass to a frame's origin."""
    c0, c1, c2 = center
    p0, p1, p2, _, _, _, _ = frame
    return p0 - c0, p1 - c1, p2 - c2


@subkernel
def _turn_between(frame_a, frame_b):
    """Quaternion of the turn of B as seen from A."""
    _, _, _, w, x, y, z = frame_a
    _, _, _, p, a, b, c = frame_b
    return multiply(w, -x, -y, -z, p, a, b, c)


@subkernel
def _angle_about(turn, axis):
    """Part of a turn about an axis, in (-pi, pi]."""
    w, x, y, z = turn
    along = x if axis == 0 else (y if axis == 1 else z)
    angle = 2.0 * math.atan2(along, w)
    if angle > math.pi:
        return angle - _TURN
    if angle <= -math.pi:
        return angle + _TURN
    return angle


@subkernel
def _twist_rate(one, other):
    """What the angle about two nearly parallel axes is per angular velocity."""
    factor = 1.0 / max(1.0 + dot(one, other), _LEAST_COSINE)
    return _times(factor, _sum(one, other))


@subkernel
def next_angle(angle, last):
    """The angle that is nearest to the last one, of those which differ by whole turns."""
    return angle + _TURN * math.floor((last - angle) / _TURN + 0.5)


@subkernel
def value_beyond_quarter_turn(axis, numbers, last):
    """An EULER angle where that about y may pass a quarter turn.

    (a, b, c) and (a + pi, pi - b, c + pi) are one turn: taken is that whose third angle is nearer to the last one.

    Parameters
    ----------
    axis : int64
    numbers : tuple of two float
        Of ``measure_coordinate``.
    last : float64 [2]
        The last ones (read).

    Returns
    -------
    angle, third : float
    sheet : float
        1 where the second angle is within a quarter turn, else -1: the sign of its rate.
    """
    angle, third = numbers
    half_turns = math.floor((last[1] - third) / math.pi + 0.5)
    third += half_turns * math.pi
    sheet = 1.0
    if half_turns % 2.0 != 0.0:
        sheet = -1.0
        angle = math.pi - angle if axis == 1 else math.pi + angle
    return next_angle(angle, last[0]), third, sheet


@subkernel
def measure_side(axis, limit, frame_a, frame_b):
    """How far an EULER angle about x or z is beyond a limit, on the sphere; and what that is per angular velocity of B.

    That is sin(c - limit) cos(b), of x_B from the plane of z_A and where c is at its limit; and likewise of z_A as seen
    from B for a. Where b is a quarter turn the angles have no rate, but this has one.

    Parameters
    ----------
    axis : int64
        0 or 2.
    limit : float
        [rad]
    frame_a, frame_b : tuple of seven float

    Returns
    -------
    beyond : float
    rate : tuple of three float
    """
    cosine, sine = math.cos(limit), math.sin(limit)
    if axis == 2:
        x_of_b = axis_of(frame_b, 0)
        normal = _sum(_times(-sine, axis_of(frame_a, 0)), _times(cosine, axis_of(frame_a, 1)))
        return dot(normal, x_of_b), cross(x_of_b, normal)
    z = axis_of(frame_a, 2)
    normal = _sum(_times(cosine, axis_of(frame_b, 1)), _times(-sine, axis_of(frame_b, 2)))
    return dot(z, normal), cross(normal, z)


@subkernel
def value_of(kind, factor, numbers, last):
    """The coordinate, and its two numbers counted beyond full turns.

    Parameters
    ----------
    kind, factor
        Of ``JointArrays``.
    numbers : tuple of two float
        Of ``measure_coordinate``.
    last : float64 [2]
        The last ones (read).

    Returns
    -------
    tuple of three float
    """
    first, second = numbers
    if kind in (TWIST, EULER, GEAR, RACK):
        first = next_angle(first, last[0])
    if kind == GEAR:
        second = next_angle(second, last[1])
        return first + factor * second, first, second
    if kind == RACK:
        return second - factor * first, first, second
    return first, first, second


@subkernel
def is_angle(kind):
    """Whether a coordinate is an angle."""
    return kind in (TURN, ALIGN, TWIST, EULER, SWING, GEAR)


@subkernel
def measure_coordinate(kind, axis, about, factor, frame_a, frame_b, start, center_a, center_b):
    """A coordinate of a joint, and its row.

    Parameters
    ----------
    kind, axis, about, factor
        Of ``JointArrays``.
    frame_a, frame_b, start : tuple of seven float
        The two frames, and frame B at the start, in the world.
    center_a, center_b : tuple of three float
        Centres of mass [m]; the world's is anywhere.

    Returns
    -------
    numbers : tuple of two float
        What ``value_of`` makes the coordinate of.
    push : tuple of three float
        Direction on b; on a it is minus ``share`` times this.
    share : float
    turn_a, turn_b : tuple of three float
        The row's columns of the angular velocities.
    """
    nothing = (0.0, 0.0, 0.0)
    if kind == LINEAR:
        e = axis_of(frame_a, axis)
        numbers = dot(e, _from_to(frame_a, frame_b)), 0.0
        return numbers, e, 1.0, cross(e, _arm(center_a, frame_b)), cross(_arm(center_b, frame_b), e)
    if kind == DISTANCE:
        between = _from_to(frame_a, frame_b)
        distance = math.sqrt(dot(between, between))
        e = _times(1.0 / distance, between) if distance > _NOWHERE else (0.0, 0.0, 1.0)
        return (distance, 0.0), e, 1.0, cross(e, _arm(center_a, frame_a)), cross(_arm(center_b, frame_b), e)
    if kind == GEAR:
        rate_a = _twist_rate(axis_of(start, axis), axis_of(frame_a, axis))
        rate_b = _times(factor, _twist_rate(axis_of(start, axis), axis_of(frame_b, axis)))
        numbers = _angle_about(_turn_between(start, frame_a), axis), _angle_about(_turn_between(start, frame_b), axis)
        return numbers, nothing, 0.0, rate_a, rate_b
    if kind == RACK:
        e = axis_of(start, 0)
        rate = _times(-factor, _twist_rate(axis_of(start, 2), axis_of(frame_a, 2)))
        numbers = _angle_about(_turn_between(start, frame_a), 2), dot(e, _from_to(start, frame_b))
        return numbers, e, 0.0, rate, cross(_arm(center_b, frame_b), e)
    angle, third, rate = _measure_angle(kind, axis, about, frame_a, frame_b)
    return (angle, third), nothing, 0.0, _times(-1.0, rate), rate


@subkernel
def _measure_angle(kind, axis, about, frame_a, frame_b):
    """An angle between the two frames, EULER's third one, and what it is per angular velocity of B as seen from A."""
    if kind == TURN:
        w, x, y, z = _turn_between(frame_a, frame_b)
        sine = math.sqrt(x * x + y * y + z * z)
        factor = 2.0 if sine < _NOWHERE else 2.0 * math.atan2(sine, abs(w)) / sine
        factor = factor if w >= 0.0 else -factor
        return factor * (x if axis == 0 else (y if axis == 1 else z)), 0.0, axis_of(frame_a, axis)
    if kind == ALIGN:
        one, other, e = axis_of(frame_a, about), axis_of(frame_b, about), axis_of(frame_a, axis)
        normal = cross(one, other)
        sine, cosine = math.sqrt(dot(normal, normal)), dot(one, other)
        factor = 1.0 if sine < _NOWHERE else math.atan2(sine, cosine) / sine
        return factor * dot(e, normal), 0.0, e
    if kind == SWING:
        one, other = axis_of(frame_a, 2), axis_of(frame_b, 2)
        normal = cross(one, other)
        sine = math.sqrt(dot(normal, normal))
        e = _times(1.0 / sine, normal) if sine > _NOWHERE else axis_of(frame_a, 0)
        return math.atan2(sine, dot(one, other)), 0.0, e
    if kind == TWIST:
        angle = _angle_about(_turn_between(frame_a, frame_b), axis)
        return angle, 0.0, _twist_rate(axis_of(frame_a, axis), axis_of(frame_b, axis))
    return _measure_euler(axis, frame_a, frame_b)


@subkernel
def _measure_euler(axis, frame_a, frame_b):
    """One of the angles c, b, a of Rz(c) Ry(b) Rx(a), c, and its rate: dual to the axes z_A, h x z_A and x_B.

    With h the part of x_B across z_A, as a unit vector.
    """
    x, y, z = axis_of(frame_a, 0), axis_of(frame_a, 1), axis_of(frame_a, 2)
    x_of_b, y_of_b, z_of_b = axis_of(frame_b, 0), axis_of(frame_b, 1), axis_of(frame_b, 2)
    third = math.atan2(dot(y, x_of_b), dot(x, x_of_b))
    second = -math.asin(min(1.0, max(-1.0, dot(z, x_of_b))))
    h = _sum(_times(math.cos(third), x), _times(math.sin(third), y))
    if axis == 1:
        return second, third, cross(z, h)
    cosine = max(math.cos(second), _LEAST_COSINE)
    if axis == 2:
        return third, third, _sum(z, _times(math.sin(second) / cosine, h))
    return math.atan2(dot(z, y_of_b), dot(z, z_of_b)), third, _times(1.0 / cosine, h)
