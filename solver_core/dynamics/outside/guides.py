"""Servos that lead bodies to moving poses: what they add to the free velocities of a substep.

Seen from its target a body is e away (a turn: the rotation vector of it) and has the velocity w. A servo of frequency
f and damping ratio z, led by a share g ("follow"), gives a body the acceleration

    a = -k e - c w + g (a* - a_own),     k = g (2 pi f)^2,  c = 2 z (2 pi f) sqrt(g)

with the target's acceleration a* and what gravity, damping and the body's own spin do to it: so a body that is led all
the way stays on its target, and the servo is for what pushes it off. Forces are in proportion to a body's mass and
inertia; so whatever joints hold of bodies with one f swings with that f, in each of its modes.

In a substep h bodies go by h ((1 - s) v + s v'), with s = 1/2 for the mean and 1 for END (``position_update``). With

    w' = w - G w - K e / h,     e' = e + h ((1 - s) w + s w')

the two poles have the product 1 - G + (1 - s) K and the sum 2 - G - s K. They are those of the oscillator, exp(h p),
where with T their sum and D their product

    K = 1 - T + D,     G = 1 - D + (1 - s) K

Of the other changes of velocity in w' the share K / (2 pi f h)^2 counts, so under a constant force it yields as the
oscillator does. So frequency and damping are exact at any h, and no linkage and no load lets a body gain by them
(docs/decisions/48).

The target's velocity in w' is that of its way from t' - s h to t' + (1 - s) h: the one by which the rule takes
a body along its path. That of w is what the last substep took. Forces beyond the servo's largest are scaled down to
that.
"""

import math

from ...compiled.kernel import entry, subkernel
from ...compiled.views import numbers_of, views_of
from ...constraints.matter import limit_speed
from ...geometry.rotation_kernels import multiply, rotate, rotate_back
from ...model.guides import DAMPING_RATIO, FREQUENCY, LARGEST_FORCE, LARGEST_TORQUE
from ...model.state import DYNAMIC
from ..islands.memory import forget_standing
from ..motion.integration import share_kept
from ..rest.waiting import hold_tried
from .driven_paths import pose_on_path, way_on_path
from .field_forces import clear_accelerations
from .frame_poses import turn_vector

# The largest angle by which a servo swings in a substep [rad]: a fifth of the substeps a second. Beyond, a body that
# goes by another rule than the last one could gain.
_MOST_ANGLE = 1.25


@entry
def run_guide_bodies(arrays):
    """What servos add to the free velocities, after ``apply_forces`` and ``apply_fields``.

    Parameters
    ----------
    arrays : StepArrays
        Written: motion.free_velocity, motion.acceleration; guides.velocity; who stands still, where targets move.
    """
    members = views_of(arrays)
    model, state, motion, guides = members.model, members.state, members.motion, members.guides
    step, gravity = numbers_of(members.settings.step), members.settings.gravity
    if guides.moves[0] == 1:
        forget_standing(motion.memory)
    if members.fields.responds.size == 0:
        clear_accelerations(motion.acceleration, gravity)
    begin, length = members.record.substeps[0] / step.substeps, 1.0 / step.substeps
    for body in range(state.kind.size):
        if state.kind[body] != DYNAMIC or guides.numbers[body, FREQUENCY] == 0.0 or guides.follow[body] == 0.0:
            for column in range(6):
                guides.velocity[1, body, column] = math.nan
            continue
        _aim(guides, body, begin, length, step.h)
        _lead(model, state, motion, guides, gravity, body, begin, step.h)
        if model.matter.largest_speed.size > 0:
            limit_speed(motion.free_velocity[body], model.matter.largest_speed[body])
    if members.waiting.count[0] > 0:
        hold_tried(members.waiting, motion.free_velocity)


@subkernel
def servo_gains(frequency, damping_ratio, share, h):
    """K and G of a servo in a substep.

    Parameters
    ----------
    frequency, damping_ratio : float
        [Hz]; of the undamped oscillator, and 1 where it is critically damped.
    share : float
        s.
    h : float
        [s].

    Returns
    -------
    tuple of float
    """
    angle = min(2.0 * math.pi * frequency * h, _MOST_ANGLE)
    if damping_ratio < 1.0:
        turned = angle * math.sqrt(1.0 - damping_ratio * damping_ratio)
        decay, half = math.exp(-damping_ratio * angle), math.sin(0.5 * turned)
        stiffness = (1.0 - decay) ** 2 + 4.0 * decay * half * half
    else:
        apart = math.sqrt(damping_ratio * damping_ratio - 1.0)
        # the product of both rates is the angle squared
        stiffness = math.expm1(-(damping_ratio + apart) * angle) * math.expm1(-angle / (damping_ratio + apart))
    return stiffness, -math.expm1(-2.0 * damping_ratio * angle) + (1.0 - share) * stiffness


@subkernel
def _aim(guides, body, begin, length, h):
    """Write the velocities of a body's target that count for the two ends of a substep."""
    share, velocity = guides.share[body], guides.velocity
    if not math.isfinite(velocity[0, body, 0]):
        before = way_on_path(guides.paths, body, begin - share * length, begin + (1.0 - share) * length)
        for column in range(6):
            velocity[0, body, column] = before[column] / h
    after = way_on_path(guides.paths, body, begin + (1.0 - share) * length, begin + (2.0 - share) * length)
    for column in range(6):
        velocity[1, body, column] = after[column] / h


@subkernel
def _lead(model, state, motion, guides, gravity, body, begin, h):
    """Add what a servo does to a body's free velocity, and to its acceleration."""
    follow, numbers, velocity, own = guides.follow[body], guides.numbers[body], guides.velocity, state.velocity[body]
    frequency = numbers[FREQUENCY] * math.sqrt(follow)
    stiffness, braking = servo_gains(frequency, numbers[DAMPING_RATIO], guides.share[body], h)
    gains = follow, stiffness, braking, stiffness / min(2.0 * math.pi * frequency * h, _MOST_ANGLE) ** 2
    x, y, z, w, p, q, r = pose_on_path(guides.paths, body, begin)
    position, orientation = state.position[body], state.orientation[body]
    o, a, b, c = orientation
    t0, t1, t2 = turn_vector(*multiply(o, a, b, c, w, -p, -q, -r))
    e0, e1, e2 = position[0] - x, position[1] - y, position[2] - z
    before, after = velocity[0, body], velocity[1, body]
    lost_linear = 1.0 - share_kept(model.linear_damping[body], h)
    lost_angular = 1.0 - share_kept(model.angular_damping[body], h)
    # what keeps a spin where it is: w x I w, with the target's spin
    s0, s1, s2 = rotate_back(o, a, b, c, before[3], before[4], before[5])
    i0, i1, i2 = model.inertia[body]
    g0, g1, g2 = s1 * s2 * (i2 - i1) / i0, s2 * s0 * (i0 - i2) / i1, s0 * s1 * (i1 - i0) / i2
    k0, k1, k2 = rotate(o, a, b, c, g0, g1, g2)
    free = motion.free_velocity[body]
    linear0, linear1, linear2 = (
        _gain(own[0], free[0], before[0], after[0], e0, lost_linear * own[0] - h * gravity[0], gains, h),
        _gain(own[1], free[1], before[1], after[1], e1, lost_linear * own[1] - h * gravity[1], gains, h),
        _gain(own[2], free[2], before[2], after[2], e2, lost_linear * own[2] - h * gravity[2], gains, h),
    )
    turn0, turn1, turn2 = (
        _gain(own[3], free[3], before[3], after[3], t0, lost_angular * own[3] + h * k0, gains, h),
        _gain(own[4], free[4], before[4], after[4], t1, lost_angular * own[4] + h * k1, gains, h),
        _gain(own[5], free[5], before[5], after[5], t2, lost_angular * own[5] + h * k2, gains, h),
    )
    force = model.mass[body] * math.sqrt(linear0 * linear0 + linear1 * linear1 + linear2 * linear2) / h
    b0, b1, b2 = rotate_back(o, a, b, c, turn0, turn1, turn2)
    torque = math.sqrt((i0 * b0) ** 2 + (i1 * b1) ** 2 + (i2 * b2) ** 2) / h
    part = numbers[LARGEST_FORCE] / force if force > numbers[LARGEST_FORCE] else 1.0
    part_of_turn = numbers[LARGEST_TORQUE] / torque if torque > numbers[LARGEST_TORQUE] else 1.0
    acceleration = motion.acceleration[body]
    for axis in range(3):
        along = part * (linear0 if axis == 0 else linear1 if axis == 1 else linear2)
        about = part_of_turn * (turn0 if axis == 0 else turn1 if axis == 1 else turn2)
        free[axis] += along
        free[3 + axis] += about
        acceleration[axis] += along / h
        acceleration[3 + axis] += about / h


@subkernel
def _gain(speed, free, before, after, error, carried, gains, h):
    """What a servo adds to a speed; ``carried`` is what makes up for its own weight, damping and spin."""
    follow, stiffness, braking, yields = gains
    own = follow * (after - before + carried) - braking * (speed - before) - stiffness * error / h
    # what is not carried, as the oscillator bears it
    return own + (yields - 1.0) * (free - speed + follow * carried)
