"""A body that is pulled at a point by a damped spring, as by a hand: what that adds to free velocities.

The point is e away from where it is to be and has the velocity w against that. With the servo's gains K and G
(``guides``), which give a free oscillator its frequency and damping at any h, its velocity is to change by

    d = -K e / h - G w - h g

where the last term carries the body's own weight, so that a light spring does not sag. The impulse at the point is
p = A^-1 d, with A = 1 / m - [r] I^-1 [r], the velocity that a unit of it gives the point; so it swings with the same
frequency wherever it is held. Impulses beyond the largest force are scaled down to that.

A p along d is an orthogonal projection in M, so what docs/decisions/48 says of mixtures of servos, joints and loads
holds for it, too: nothing gains by it.
"""

import math
from typing import NamedTuple

import numpy as np

from ...compiled.kernel import entry, subkernel
from ...compiled.views import numbers_of, views_of
from ...constraints.matter import limit_speed
from ...geometry import rotations
from ...geometry.rotation_kernels import rotate
from ...model.model import Model
from ...model.pull import Pull, checked_pull
from ...model.state import DYNAMIC
from ..islands.memory import forget_standing
from ..rest.sleeping import wake_groups_of
from ..rest.waiting import hold_tried
from .field_forces import clear_accelerations
from .guides import servo_gains

# By which share of its velocity at the end a substep moves a body, for the gains: the mean of both (``guides``).
_SHARE = 0.5


class PullArrays(NamedTuple):
    """What is pulled in the frame.

    Attributes
    ----------
    body : int64 [0 or 1]
        Empty: nothing.
    point : float64 [3]
        Where it is held, in its body frame [m].
    places : float64 [2, 3]
        Where the point is to be at the frame's beginning and end [m].
    numbers : float64 [3]
        Frequency [Hz], damping ratio, largest force [N].
    """

    body: np.ndarray
    point: np.ndarray
    places: np.ndarray
    numbers: np.ndarray


def allocate_pull(pulls: bool = False) -> PullArrays:
    """Nothing is pulled; or, for the types alone, the first body."""
    return PullArrays(np.zeros(int(pulls), np.int64), np.zeros(3), np.zeros((2, 3)), np.ones(3))


def pull_of(given: Pull | None, model: Model) -> PullArrays:
    """What a frame's input pulls, in arrays; parameters as of ``FrameInput``.

    Raises
    ------
    ValueError
        There is no such body, or a number is not one.
    """
    if given is None:
        return allocate_pull()
    checked_pull(given, model.body_count)
    turn = model.frame_orientation[given.body]
    return PullArrays(
        body=np.array([given.body], np.int64),
        point=model.frame_position[given.body] + rotations.rotate(turn, np.array(given.point, float)),
        places=np.array((given.begin, given.end), float),
        numbers=np.array((given.frequency, given.damping_ratio, given.largest_force), float),
    )


def take_pull(given: Pull | None, model: Model, motion, sleep, acting):
    """What a frame pulls and the motion that it needs: where forces differ, each body has an acceleration.

    Parameters
    ----------
    given : Pull or None
    model : Model
    motion : MotionArrays
    sleep : SleepArrays
        The island of what is pulled wakes.
    acting : StateArrays
        With the kinds as the step sees them; written.

    Returns
    -------
    PullArrays, MotionArrays
    """
    pull = pull_of(given, model)
    rows = max(model.body_count, 2) if model.has_forces or pull.body.size else 1
    if len(motion.acceleration) != rows:
        motion = motion._replace(acceleration=np.zeros((rows, 6)))
    if pull.body.size and sleep.sleeping_count[0] > 0:
        wake_groups_of(sleep, acting.kind, np.arange(model.body_count) == given.body)
    return pull, motion


@entry
def run_pull_body(arrays):
    """What the spring adds to a body's free velocity, after ``apply_forces``, ``apply_fields`` and ``guide_bodies``.

    Parameters
    ----------
    arrays : StepArrays
        Written: motion.free_velocity, motion.acceleration; who stands still.
    """
    members = views_of(arrays)
    model, state, motion, pull = members.model, members.state, members.motion, members.pull
    step, gravity, body = numbers_of(members.settings.step), members.settings.gravity, pull.body[0]
    forget_standing(motion.memory)
    if members.fields.responds.size == 0 and members.guides.follow.size == 0:
        clear_accelerations(motion.acceleration, gravity)
    if state.kind[body] != DYNAMIC:
        return
    _add_impulse(state, motion, pull, gravity, members.record.substeps[0] / step.substeps, 1.0 / step.substeps, step.h)
    if model.matter.largest_speed.size > 0:
        limit_speed(motion.free_velocity[body], model.matter.largest_speed[body])
    if members.waiting.count[0] > 0:
        hold_tried(members.waiting, motion.free_velocity)


@subkernel
def _add_impulse(state, motion, pull, gravity, begin, length, h):
    """Add the impulse of a substep, which begins at a share of the frame and has a length of it."""
    body, places = pull.body[0], pull.places
    position, velocity = state.position[body], state.velocity[body]
    o, a, b, c = state.orientation[body]
    x, y, z = rotate(o, a, b, c, pull.point[0], pull.point[1], pull.point[2])
    stiffness, braking = servo_gains(pull.numbers[0], pull.numbers[1], _SHARE, h)
    arm = x, y, z
    turned = _cross((velocity[3], velocity[4], velocity[5]), arm)
    d0 = _change(0, position, velocity, arm, turned, places, begin, length, gravity, stiffness, braking, h)
    d1 = _change(1, position, velocity, arm, turned, places, begin, length, gravity, stiffness, braking, h)
    d2 = _change(2, position, velocity, arm, turned, places, begin, length, gravity, stiffness, braking, h)
    inverse_mass, moments = motion.inverse_mass[body], motion.inverse_inertia[body]
    p0, p1, p2 = _impulse(inverse_mass, moments, arm, (d0, d1, d2))
    size = math.sqrt(p0 * p0 + p1 * p1 + p2 * p2)
    part = pull.numbers[2] * h / size if size > pull.numbers[2] * h else 1.0
    push = part * p0, part * p1, part * p2
    torque = _cross(arm, push)
    free, acceleration = motion.free_velocity[body], motion.acceleration[body]
    turn = _turned(moments, torque)
    for axis in range(3):
        along = inverse_mass * (push[0] if axis == 0 else push[1] if axis == 1 else push[2])
        about = turn[0] if axis == 0 else turn[1] if axis == 1 else turn[2]
        free[axis] += along
        free[3 + axis] += about
        acceleration[axis] += along / h
        acceleration[3 + axis] += about / h


@subkernel
def _change(axis, position, velocity, arm, turned, places, begin, length, gravity, stiffness, braking, h):
    """By how much the point's speed along an axis is to change."""
    of_arm, of_turn = arm[0], turned[0]
    if axis == 1:
        of_arm, of_turn = arm[1], turned[1]
    elif axis == 2:
        of_arm, of_turn = arm[2], turned[2]
    way = places[1, axis] - places[0, axis]
    error = position[axis] + of_arm - (places[0, axis] + begin * way)
    speed = velocity[axis] + of_turn - length * way / h
    return -stiffness * error / h - braking * speed - h * gravity[axis]


@subkernel
def _impulse(inverse_mass, moments, arm, change):
    """A^-1 d: the impulse at the end of an arm that changes the velocity there by ``change``."""
    # columns of A, which is symmetric
    first = _answer(inverse_mass, moments, arm, (1.0, 0.0, 0.0))
    second = _answer(inverse_mass, moments, arm, (0.0, 1.0, 0.0))
    third = _answer(inverse_mass, moments, arm, (0.0, 0.0, 1.0))
    across = _cross(second, third)
    volume = _dot(first, across)
    return (
        _dot(change, across) / volume,
        _dot(change, _cross(third, first)) / volume,
        _dot(change, _cross(first, second)) / volume,
    )


@subkernel
def _answer(inverse_mass, moments, arm, push):
    """The velocity that an impulse at the end of an arm gives that end."""
    turned = _cross(_turned(moments, _cross(arm, push)), arm)
    return (
        inverse_mass * push[0] + turned[0],
        inverse_mass * push[1] + turned[1],
        inverse_mass * push[2] + turned[2],
    )


@subkernel
def _turned(moments, torque):
    """I^-1 times a vector."""
    return (
        moments[0] * torque[0] + moments[1] * torque[1] + moments[2] * torque[2],
        moments[3] * torque[0] + moments[4] * torque[1] + moments[5] * torque[2],
        moments[6] * torque[0] + moments[7] * torque[1] + moments[8] * torque[2],
    )


@subkernel
def _cross(u, v):
    return u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]


@subkernel
def _dot(u, v):
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
