"""Poses between a step and whoever calls it: where driven bodies are to be, and where the user frames are.

The caller's poses are those of the user frames, the step's those of the body frames; ``Model`` says how the two lie to
each other. A frame of a few bodies takes less time than NumPy's calls for this would.
"""

import math

from ...compiled.kernel import kernel, subkernel
from ...geometry.rotation_kernels import multiply, rotate
from ...model.state import KINEMATIC

# Below this sine of half the angle a turn has no axis.
_SINE_OF_NOTHING = 1e-150


@kernel
def write_user_poses(frame_position, frame_orientation, position, orientation, user_position, user_orientation):
    """Poses of the user frames.

    Parameters
    ----------
    frame_position, frame_orientation : float64 [body_count, 3], [body_count, 4]
        Of the user frames in the body frames (read).
    position, orientation : float64 [body_count, 3], [body_count, 4]
        Of the body frames (read).
    user_position, user_orientation : float64 [body_count, 3], [body_count, 4]
        Written.
    """
    for body in range(len(position)):
        turn = _quaternion(orientation, body)
        away = rotate(*turn, *_vector(frame_position, body))
        for axis in range(3):
            user_position[body, axis] = position[body, axis] + away[axis]
        _set_quaternion(user_orientation, body, multiply(*turn, *_quaternion(frame_orientation, body)))


@kernel
def find_driven_poses(kind, frame_position, frame_orientation, position, orientation):
    """Turn the poses given for driven bodies into those of their body frames, in place.

    Parameters
    ----------
    kind : int64 [body_count]
    frame_position, frame_orientation : float64 [body_count, 3], [body_count, 4]
        Of the user frames in the body frames (read).
    position, orientation : float64 [body_count, 3], [body_count, 4]
        Written where ``kind`` is KINEMATIC; quaternions of any length but 0 come in.

    Returns
    -------
    int
        The first driven body whose pose is not finite, or -1.
    """
    for body in range(len(kind)):
        if kind[body] != KINEMATIC:
            continue
        x, y, z = _vector(position, body)
        w, p, q, r = _quaternion(orientation, body)
        length = math.sqrt(w * w + p * p + q * q + r * r)
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z) and math.isfinite(length)):
            return body
        o, a, b, c = _quaternion(frame_orientation, body)
        turn = multiply(w / length, p / length, q / length, r / length, o, -a, -b, -c)
        away = rotate(*turn, *_vector(frame_position, body))
        for axis in range(3):
            position[body, axis] -= away[axis]
        _set_quaternion(orientation, body, turn)
    return -1


@kernel
def aim_driven(kind, present_position, present_orientation, velocity, position, orientation, duration):
    """Give driven bodies the constant velocities that take them to their poses.

    Parameters
    ----------
    kind : int64 [body_count]
    present_position, present_orientation : float64 [body_count, 3], [body_count, 4]
        Of the body frames (read).
    velocity : float64 [body_count, 6]
        Written where ``kind`` is KINEMATIC.
    position, orientation : float64 [body_count, 3], [body_count, 4]
        Of the body frames at the end (read).
    duration : float
        [s].
    """
    for body in range(len(kind)):
        if kind[body] != KINEMATIC:
            continue
        w, x, y, z = _quaternion(present_orientation, body)
        turn = turn_vector(*multiply(*_quaternion(orientation, body), w, -x, -y, -z))
        for axis in range(3):
            velocity[body, axis] = (position[body, axis] - present_position[body, axis]) / duration
            velocity[body, 3 + axis] = turn[axis] / duration


@kernel
def place_driven(kind, present_position, present_orientation, position, orientation):
    """Put driven bodies exactly there, so that rounding never parts them from their animation.

    Parameters
    ----------
    kind : int64 [body_count]
    present_position, present_orientation : float64 [body_count, 3], [body_count, 4]
        Written where ``kind`` is KINEMATIC.
    position, orientation : float64 [body_count, 3], [body_count, 4]
        Of the body frames (read).
    """
    for body in range(len(kind)):
        if kind[body] == KINEMATIC:
            for axis in range(3):
                present_position[body, axis] = position[body, axis]
            _set_quaternion(present_orientation, body, _quaternion(orientation, body))


@subkernel
def _vector(vectors, body):
    return vectors[body, 0], vectors[body, 1], vectors[body, 2]


@subkernel
def _quaternion(quaternions, body):
    return quaternions[body, 0], quaternions[body, 1], quaternions[body, 2], quaternions[body, 3]


@subkernel
def _set_quaternion(quaternions, body, value):
    for part in range(4):
        quaternions[body, part] = value[part]


@subkernel
def turn_vector(w, x, y, z):
    """Turn by at most pi as a vector, angle [rad] times axis."""
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = math.sqrt(x * x + y * y + z * z)
    # a / sin(a/2) -> 2 for a -> 0
    factor = 2.0 if sine < _SINE_OF_NOTHING else 2.0 * math.atan2(sine, w) / sine
    return factor * x, factor * y, factor * z
