"""At what speed a servo is to be at the end of a substep: there as soon as its force allows, and never beyond.

Seen from where the servo is aimed at, which goes at a steady rate u, the way that is left is e and the speed w. A
substep of length h takes the speed from w to w', and goes h (w + w') / 2, or h w' where bodies go by END. From then on
the servo can take off at most a h of its speed in each, where a is its largest force, less what pushes it on, over the
inertia, both as its own joint leaves them. It stops in n substeps after

    h (w' / 2 + (w' - a h) + (w' - 2 a h) + ...) = h ((n - 1/2) w' - a h n (n - 1) / 2),    (n - 1) a h < w' <= n a h

(END: half a substep of w' less), so that it does not go beyond if n w' - a h n (n - 1) / 2 <= r with r = e / h - w / 2
(END: e / h). The fastest such w', for c = |r| / (a h), is

    n = the least with n (n + 1) / 2 >= c,     w' = |r| / n + a h (n - 1) / 2

This is the time-optimal control of a double integrator in discrete time (Han 2009, "From PID to active disturbance
rejection control", IEEE Trans. Ind. Electron. 56). Where the force is ample, it is there at the end of the frame, and
no sooner: over m substeps, of which the last one stops it, w' = r / (m - 1).
"""

import math

from ...compiled.kernel import subkernel
from ...model.joints.joint_arrays import HOLD, MOTOR
from .joint_motion import share_of_step
from .row_measures import row_speed, scale_of

# What is left of a row's inverse mass below this share is rounding: its joint does not let it move at all.
_RATIO_HELD = 1e-9
# A way from which on a change of what pushes is measured [m or rad].
_LEAST_WAY = 1e-6
# Column of the factor that is the right side: the joint of a servo holds no more than five coordinates.
_GAIN = 5


@subkernel
def aim_servos(joints, joint_state, joint, motion, h, rows, block):
    """Give the servos of a joint, all of whose rows are there, their speeds for a substep.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        Read: start, target_position, target_rate, largest, time_left, own_velocity. Written: target_speed,
        coupling, push.
    joint : int64
    motion : MotionArrays
        Read: start_velocity, free_velocity.
    h : float
        [s]
    rows : RowArrays
        Written: bias of the servos.
    block : int64
    """
    first, begin = rows.block_row[block], joints.row_first[joint]
    for index in range(begin, joints.row_first[joint + 1]):
        if joints.role[index] != MOTOR or math.isnan(joint_state.target_position[index]):
            continue
        row, scale = first + index - begin, scale_of(joints, joint, index)
        share = share_of_step(joints, joint_state, joint, motion.can_be_pushed)
        speed = row_speed(rows, row, block, motion.start_velocity) / scale
        inverse_inertia, pushed = _condense(joints, joint_state, joint, index, motion, rows, block)
        most = joint_state.largest[index] * h * inverse_inertia / (scale * scale) if inverse_inertia > 0.0 else 0.0
        rate, left = joint_state.target_rate[index], joint_state.time_left[0]
        way = joint_state.target_position[index] - rate * left - joint_state.start[index]
        pushed = _on_the_way(joint_state.push[index], joint_state.start[index], pushed / scale, way)
        speed = rate + _speed_towards(way, speed - rate, most, pushed, share, left, h)
        joint_state.target_speed[index] = speed
        rows.bias[row] = -scale * speed


@subkernel
def _on_the_way(push, place, pushed, way):
    """What pushes a servo from here to where it is aimed at, in the mean, if it changes with the way as it last did."""
    if math.isnan(push[0]):
        push[0], push[1], push[2] = place, pushed, 0.0
    elif abs(place - push[0]) > _LEAST_WAY:
        push[2] = (pushed - push[1]) / (place - push[0])
        push[0], push[1] = place, pushed
    return pushed + 0.5 * push[2] * way


@subkernel
def _speed_towards(way, speed, most, pushed, share, left, h):
    """The speed at a substep's end, seen from where the servo is aimed at.

    In a substep it can lose ``most`` of it by its own force, and gains ``pushed`` by what else acts. What holds it back
    is no help to count on: the weight of an arm does less and less of it the higher it goes.
    """
    rest = way / h - (1.0 - share) * speed
    wanted = abs(rest) / max(math.floor(left / h + 0.5) - 1.0, 1.0)
    most -= max(0.0, pushed if rest > 0.0 else -pushed)
    if not most > 0.0:
        return 0.0
    steps = max(1.0, math.ceil(0.5 * (math.sqrt(1.0 + 8.0 * abs(rest) / most) - 1.0)))
    fastest = abs(rest) / steps
    if steps > 1.0:
        fastest += 0.5 * most * (steps - 1.0)
    return math.copysign(min(wanted, fastest), rest)


@subkernel
def _condense(joints, joint_state, joint, servo, motion, rows, block):
    """A servo's inverse mass, and the speed that it gains in a substep without its force, both as its joint holds it.

    A Cholesky factor of J M^-1 J' of what is held and of the servo, row after row, solves for both: the first is the
    square of its last pivot.
    """
    factor, begin, first = joint_state.coupling, joints.row_first[joint], rows.block_row[block]
    column = 0
    for index in range(begin, joints.row_first[joint + 1]):
        if joints.role[index] == HOLD:
            own = _product(rows, first + index - begin, first + index - begin)
            rest, gain = _eliminate(joints, joint_state, joint, index, index, motion, rows, block)
            pivot = math.sqrt(rest) if rest > _RATIO_HELD * own else 0.0
            factor[index, column], factor[index, _GAIN] = pivot, gain / pivot if pivot > 0.0 else 0.0
            column += 1
    own = _product(rows, first + servo - begin, first + servo - begin)
    rest, gain = _eliminate(joints, joint_state, joint, servo, joints.row_first[joint + 1], motion, rows, block)
    return (rest, gain) if rest > _RATIO_HELD * own else (0.0, 0.0)


@subkernel
def _eliminate(joints, joint_state, joint, index, last, motion, rows, block):
    """J M^-1 J' of a row, and its gain of speed, without what the held rows before ``last`` take of them."""
    factor, begin, first = joint_state.coupling, joints.row_first[joint], rows.block_row[block]
    row, column = first + index - begin, 0
    rest, gain = _product(rows, row, row), _free_gain(joint_state, motion, rows, row, block)
    for other in range(begin, last):
        if joints.role[other] != HOLD:
            continue
        value, pivot = 0.0, factor[other, column]
        if pivot > 0.0:
            value = _product(rows, row, first + other - begin)
            for before in range(column):
                value -= factor[index, before] * factor[other, before]
            value /= pivot
        factor[index, column] = value
        rest -= value * value
        gain -= value * factor[other, _GAIN]
        column += 1
    return rest, gain


@subkernel
def _free_gain(joint_state, motion, rows, row, block):
    """J of what gravity and damping give the bodies in a substep."""
    total = 0.0
    for side in range(2):
        body = rows.body_b[block] if side else rows.body_a[block]
        free = joint_state.own_velocity if joint_state.is_held[body] else motion.free_velocity
        for column in range(6):
            gain = free[body, column] - motion.start_velocity[body, column]
            total += rows.jacobian[row, 6 * side + column] * gain
    return total


@subkernel
def _product(rows, row, other):
    """J M^-1 J' of two rows of a block."""
    total = 0.0
    for column in range(12):
        total += rows.jacobian[row, column] * rows.response[other, column]
    return total
