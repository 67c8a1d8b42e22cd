"""Joints -> rows: a block a joint, behind those of the contacts.

Each row is one coordinate x of the joint (``coordinate_geometry``), or one of what acts on it: to hold it, its limits,
a spring, a motor, friction. Angles are taken times the joint's size, so all rows are in metres. A block at the world
names body a twice, and has no columns for the second.

The position solve is SHAKE, the velocity solve RATTLE (docs/decisions/28-joints.md). A body that falls moves by
v - h g / 2 (``dynamics.position_update``), so with s = h g / 2 of the bodies that fall, and 0 of others,

    hold      x(t + h) = 0:    u = J (v - s) + x / h + correction          r free
    range     x(t + h) >= 0:   the same, of the distance from the nearer limit; r >= 0
    spring    r = -share h (k (x(t) + x(t + h)) / 2 + c (x(t + h) - x(t)) / h):

              u = J (v - s) + k x / (h k / 2 + c),   compliance 1 / (share h (h k / 2 + c))
    motor     J (v - s) = target,   |r| <= share h largest;       friction: a motor that stands

The share is a half where all of the joint's bodies fall: they move by half of the substep's kick, and the velocity
solve gives them the other half. The correction makes the equations true at the poses to which the solution leads
(``correct_joint_rows``): J is that of the substep's start, so its impulses are equal and opposite there.

An error that a joint has at the start is taken out bit by bit, as overlaps are (``aim``).
"""

import math

from ...compiled.kernel import borrowed, kernel, subkernel
from ...model.joints.joint_arrays import FRICTION, HOLD, MOTOR, RANGE, SPRING, WORLD
from ..contact_rows import RATIO_TOUCHING
from .coordinate_geometry import frame_of, is_angle, measure_coordinate, value_of

# Share of an error that is taken out in a substep, and the most of it, as a share of the joint's size.
_FACTOR_RECOVERY = 0.2
_RATIO_RECOVERY_MOST = 0.01
# A coordinate is where it is to be within this share of the joint's size.
_RATIO_EXACT = 1e-9
# A limit is touched within this share.
RATIO_AT_LIMIT = 1e-7
# Joints that end this far off contradict each other, or something holds them: the next substep begins afresh.
_RATIO_CONFLICT = 1e-5
# Compliance of rows that hold, as a share of their W_ii.
RATIO_COMPLIANCE = 1e-9
# An error must come down by this factor in a correction, or there are no more.
_RATIO_GAIN = 0.5
# A servo slows down by this share of what its largest force could.
_SHARE_BRAKING = 0.8


@kernel
def build_joint_rows(joints, joint_state, state, motion, gravity, h, rows):
    """Add a block of rows for each joint that acts.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        Read: what the last substep left. Written: block, rules, angle, side, start, aim.
    state, motion
        Read.
    gravity : float64 [3]
        [m/s^2] (read).
    h : float
        [s]
    rows : RowArrays
        Written behind the blocks that it has.
    """
    joints, joint_state, state, motion = borrowed(joints), borrowed(joint_state), borrowed(state), borrowed(motion)
    rows = borrowed(rows)
    first_block = rows.count[0]
    block, row = first_block, rows.count[1]
    for joint in range(joints.body_a.size):
        joint_state.block[joint] = -1
        a, b = joints.body_a[joint], joints.body_b[joint]
        moves = motion.can_be_pushed[a] or (b != WORLD and motion.can_be_pushed[b])
        if not moves or not joint_state.enabled[joint] or joint_state.broken[joint]:
            continue
        joint_state.block[joint] = block
        joint_state.joint_of_block[block - first_block] = joint
        rows.block_row[block] = row
        rows.body_a[block], rows.body_b[block] = a, a if b == WORLD else b
        joint_state.rules[joint] = _rules_of(a, b, motion, joint_state.falls)
        first = joints.row_first[joint]
        for index in range(first, joints.row_first[joint + 1]):
            value, one, two = fill_joint_row(
                joints, joint_state, joint, index, state.position, state.orientation, motion, rows, row
            )
            joint_state.angle[index, 0], joint_state.angle[index, 1] = one, two
            if joints.role[index] == RANGE:
                ahead = value + h * row_speed(rows, row, block, motion.free_velocity) / scale_of(joints, joint, index)
                _choose_side(joints, joint_state, index, ahead)
                turn_to_side(joint_state.side[index], rows, row)
            _begin_row(joints, joint_state, joint, index, value, gravity, h, motion, rows, row, block)
            row += 1
        block += 1
        rows.block_row[block] = row
    rows.count[0], rows.count[1] = block, row


@subkernel
def _rules_of(a, b, motion, falls):
    """1 if a falls and 2 if b does; what cannot be pushed does not."""
    first = 1 if motion.can_be_pushed[a] and falls[a] else 0
    return first + (2 if b != WORLD and motion.can_be_pushed[b] and falls[b] else 0)


@subkernel
def share_of(rules, a, b, can_be_pushed):
    """Share of a substep's impulses that belongs to the position solve."""
    all_fall = (not can_be_pushed[a] or rules % 2 == 1) and (b == WORLD or not can_be_pushed[b] or rules >= 2)
    return 0.5 if all_fall else 1.0


@subkernel
def scale_of(joints, joint, index):
    """What the coordinate is multiplied with [m/rad or 1]."""
    return joints.size[joint] if is_angle(joints.kind[index]) else 1.0


@subkernel
def fill_joint_row(joints, joint_state, joint, index, position, orientation, motion, rows, row):
    """Jacobian, response and diagonal of a row at these poses; returns its coordinate [m or rad] and two numbers."""
    a, b = joints.body_a[joint], joints.body_b[joint]
    value, first, second, push, share, turn_a, turn_b = _measure(
        joints, joint_state, joint, index, position, orientation
    )
    scale = scale_of(joints, joint, index)
    p0, p1, p2 = push
    m0, m1, m2 = turn_a
    jacobian, response = rows.jacobian[row], rows.response[row]
    jacobian[0], jacobian[1], jacobian[2] = -scale * share * p0, -scale * share * p1, -scale * share * p2
    jacobian[3], jacobian[4], jacobian[5] = scale * m0, scale * m1, scale * m2
    diagonal = _respond(motion, a, jacobian, response, 0)
    if b == WORLD:
        for column in range(6, 12):
            jacobian[column] = response[column] = 0.0
    else:
        m0, m1, m2 = turn_b
        jacobian[6], jacobian[7], jacobian[8] = scale * p0, scale * p1, scale * p2
        jacobian[9], jacobian[10], jacobian[11] = scale * m0, scale * m1, scale * m2
        diagonal += _respond(motion, b, jacobian, response, 6)
    rows.diagonal[row] = diagonal
    return value, first, second


@subkernel
def _respond(motion, body, jacobian, response, first):
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
def _measure(joints, joint_state, joint, index, position, orientation):
    """A row's coordinate at these poses, its two numbers, and what ``measure_coordinate`` returns besides."""
    a, b = joints.body_a[joint], joints.body_b[joint]
    other = a if b == WORLD else b
    frame_a = frame_of(a, joints.position_a[joint], joints.orientation_a[joint], position, orientation)
    frame_b = frame_of(b, joints.position_b[joint], joints.orientation_b[joint], position, orientation)
    start = frame_of(WORLD, joints.start_position[joint], joints.start_orientation[joint], position, orientation)
    kind, factor = joints.kind[index], joints.factor[index]
    numbers, push, share, turn_a, turn_b = measure_coordinate(
        kind,
        joints.axis[index],
        joints.about[index],
        factor,
        frame_a,
        frame_b,
        start,
        (position[a, 0], position[a, 1], position[a, 2]),
        (position[other, 0], position[other, 1], position[other, 2]),
    )
    value, first, second = value_of(kind, factor, numbers, joint_state.angle[index])
    return value, first, second, push, share, turn_a, turn_b


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
def _choose_side(joints, joint_state, index, ahead):
    """Let a range's row stand for the limit that the coordinate will be nearer to."""
    lower, upper = joints.lower[index], joints.upper[index]
    is_lower = math.isinf(upper) or (not math.isinf(lower) and ahead - lower <= upper - ahead)
    side = 1.0 if is_lower else -1.0
    if side != joint_state.side[index]:
        joint_state.side[index] = side
        joint_state.impulse[index] = joint_state.change[index] = joint_state.correction[index] = 0.0


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
    if role == RANGE:
        if joint_state.side[index] > 0.0:
            return scale * (value - joints.lower[index])
        return scale * (joints.upper[index] - value)
    if role == SPRING:
        return scale * (value - joints.rest[index])
    return 0.0


@subkernel
def _aim_of(role, error, size):
    """The error that a coordinate is to have at the substep's end: most of a large one stays for now."""
    if (role != HOLD and role != RANGE) or abs(error) <= RATIO_TOUCHING * size or (role == RANGE and error > 0.0):
        return 0.0
    taken = min(_FACTOR_RECOVERY * abs(error), _RATIO_RECOVERY_MOST * size)
    return error - math.copysign(taken, error)


@subkernel
def _begin_row(joints, joint_state, joint, index, value, gravity, h, motion, rows, row, block):
    """Bias, bounds, compliance and the first impulse of a row of the position solve."""
    role, size = joints.role[index], joints.size[joint]
    error = error_of(joints, joint_state, joint, index, value)
    aim = _aim_of(role, error, size)
    joint_state.start[index], joint_state.aim[index], joint_state.given[index] = error, aim, 0.0
    if role == RANGE and not joint_state.impulse[index] > 0.0:
        joint_state.correction[index] = 0.0
    if role == MOTOR and not math.isnan(joint_state.target_position[index]):
        _aim_servo(joints, joint_state, joint, index, value, h, rows.diagonal[row])
    rows.normal_row[row], rows.friction[row] = -1, 0.0
    share = share_of(joint_state.rules[joint], joints.body_a[joint], joints.body_b[joint], motion.can_be_pushed)
    _set_bounds(joints, joint, index, share * h, rows, row)
    rows.impulse[row] = min(rows.upper[row], max(rows.lower[row], joint_state.impulse[index]))
    shift = _fall_speed(joint_state.rules[joint], gravity, h, rows, row)
    rows.bias[row] = _linear_bias(joints, joint_state, joint, index, h) + joint_state.correction[index] - shift
    _set_compliance(joints, joint, index, share, h, rows, row)


@subkernel
def _fall_speed(rules, gravity, h, rows, row):
    """J s of a row: what bodies that fall do not do of their velocities [m/s]."""
    total = 0.0
    for axis in range(3):
        if rules % 2 == 1:
            total += 0.5 * h * gravity[axis] * rows.jacobian[row, axis]
        if rules >= 2:
            total += 0.5 * h * gravity[axis] * rows.jacobian[row, 6 + axis]
    return total


@subkernel
def _spring_rate(joints, joint, index, h):
    """The force of a spring per speed along the substep [N s/m], for the row in metres."""
    scale = scale_of(joints, joint, index)
    return (0.5 * h * joints.stiffness[index] + joints.damping[index]) / (scale * scale)


@subkernel
def _linear_bias(joints, joint_state, joint, index, h):
    """Bias of a row as if J were the same along the substep, and no body fell [m/s]."""
    role, scale = joints.role[index], scale_of(joints, joint, index)
    if role == HOLD or role == RANGE:
        return (joint_state.start[index] - joint_state.aim[index]) / h
    if role == SPRING:
        stiffness = joints.stiffness[index] / (scale * scale)
        return stiffness * joint_state.start[index] / _spring_rate(joints, joint, index, h)
    if role == MOTOR:
        return -scale * joint_state.target_speed[index]
    return 0.0


@subkernel
def _set_bounds(joints, joint, index, duration, rows, row):
    """Bounds of a row's impulse over ``duration`` [s]."""
    role = joints.role[index]
    rows.lower[row], rows.upper[row] = -math.inf, math.inf
    if role == RANGE:
        rows.lower[row] = 0.0
    elif role == MOTOR or role == FRICTION:
        most = joints.largest[index] * duration / scale_of(joints, joint, index)
        rows.lower[row], rows.upper[row] = -most, most


@subkernel
def _set_compliance(joints, joint, index, share, h, rows, row):
    """Compliance of a row of the position solve; its diagonal is W_ii alone before.

    Rows that hold have next to none, which makes the impulses of redundant joints unique.
    """
    role = joints.role[index]
    compliance = 0.0
    if role == SPRING:
        compliance = 1.0 / (share * h * _spring_rate(joints, joint, index, h))
    elif role == HOLD or role == RANGE:
        compliance = RATIO_COMPLIANCE * rows.diagonal[row]
    rows.compliance[row] = compliance
    rows.diagonal[row] += compliance


@subkernel
def _aim_servo(joints, joint_state, joint, index, value, h, diagonal):
    """The speed of a servo: there at the substep's end, but no faster than from where it can still brake."""
    scale = scale_of(joints, joint, index)
    way = joint_state.target_position[index] - value
    acceleration = joints.largest[index] * diagonal / (scale * scale)
    fastest = math.sqrt(2.0 * _SHARE_BRAKING * acceleration * abs(way))
    joint_state.target_speed[index] = math.copysign(min(abs(way) / h, fastest), way)


@kernel
def correct_joint_rows(joints, joint_state, state, motion, islands, gravity, h, rows, is_first):
    """Measure the joints at the poses to which the position solve leads, and correct their rows' biases.

    Newton's method with the Jacobian of the substep's start: the error x(t + h) is to change by its negative, so
    h u = x(t + h) - aim where u has been solved to be what J v says: bias <- (x(t + h) - aim) / h - J v.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        Read: end poses. Written: correction, rules, is_due, error, opening.
    state, motion, islands
        Read; ``state.velocity`` is the solution.
    gravity, h
        [m/s^2], [s].
    rows : RowArrays
        Written: bias, bounds and compliance of the joints' rows.
    is_first : bool
        Whether the rows have not been corrected yet.

    Returns
    -------
    int64
        Islands that are to be solved again.
    """
    joints, joint_state, state, motion = borrowed(joints), borrowed(joint_state), borrowed(state), borrowed(motion)
    rows = borrowed(rows)
    position, orientation = joint_state.end_position, joint_state.end_orientation
    due = 0
    for island in range(islands.count[0]):
        joint_state.is_due[island] = False
        joint_state.worst[island] = 0.0
    for joint in range(joints.body_a.size):
        block = joint_state.block[joint]
        if block < 0:
            continue
        a, b, island = joints.body_a[joint], joints.body_b[joint], joint_state.island[joint]
        rules = _rules_of(a, b, motion, joint_state.falls)
        changed = rules != joint_state.rules[joint]
        joint_state.rules[joint] = rules
        share = share_of(rules, a, b, motion.can_be_pushed)
        first, row = joints.row_first[joint], rows.block_row[block]
        worst = math.inf if changed else 0.0
        for index in range(first, joints.row_first[joint + 1]):
            value, _, _, _, _, _, _ = _measure(joints, joint_state, joint, index, position, orientation)
            error = error_of(joints, joint_state, joint, index, value)
            _correct_row(joints, joint_state, joint, index, error, share, gravity, h, rows, row, block, state.velocity)
            off = _distance_off(joints, joint_state, index, error, rows.impulse[row])
            worst = max(worst, off / joints.size[joint])
            row += 1
        joint_state.worst[island] = max(joint_state.worst[island], worst)
    for island in range(islands.count[0]):
        worst = joint_state.worst[island]
        gains = is_first or not worst > _RATIO_GAIN * joint_state.error[island]
        joint_state.is_due[island] = worst > _RATIO_EXACT and gains
        joint_state.error[island] = worst
        due += 1 if joint_state.is_due[island] else 0
    return due


@kernel
def store_joint_impulses(joints, joint_state, rows):
    """Keep what the position solve has found, for the next one to begin with.

    Parameters
    ----------
    joints, rows
        Read.
    joint_state : JointStateArrays
        Read: error. Written: impulse, correction.
    """
    for joint in range(joints.body_a.size):
        block = joint_state.block[joint]
        if block < 0:
            continue
        row = rows.block_row[block]
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            joint_state.impulse[index] = rows.impulse[row]
            if joint_state.error[joint_state.island[joint]] > _RATIO_CONFLICT:
                joint_state.correction[index] = 0.0
            row += 1


@kernel
def find_joint_islands(joint_state, islands, first_block):
    """Note which island each joint is in.

    Parameters
    ----------
    joint_state : JointStateArrays
        Written: island.
    islands : IslandArrays
        Read.
    first_block : int64
        Blocks from this one on are joints.
    """
    for island in range(islands.count[0]):
        for place in range(islands.block_first[island], islands.block_first[island + 1]):
            block = islands.block_order[place]
            if block >= first_block:
                joint_state.island[joint_state.joint_of_block[block - first_block]] = island


@subkernel
def _distance_off(joints, joint_state, index, error, impulse):
    """How far a row is from where it is to be [m]; what pulls less than it should counts only for locks and limits."""
    role, off = joints.role[index], error - joint_state.aim[index]
    if role == HOLD or (role == RANGE and impulse > 0.0):
        return abs(off)
    return max(-off, 0.0) if role == RANGE else 0.0


@subkernel
def _correct_row(joints, joint_state, joint, index, error, share, gravity, h, rows, row, block, velocity):
    """The bias of a row such that the next solution is true where this one leads."""
    role, speed = joints.role[index], row_speed(rows, row, block, velocity)
    shift = _fall_speed(joint_state.rules[joint], gravity, h, rows, row)
    linear = _linear_bias(joints, joint_state, joint, index, h)
    _set_bounds(joints, joint, index, share * h, rows, row)
    if role == HOLD or role == RANGE:
        # what the row gives way is no error of the joint
        rows.bias[row] = (error - joint_state.aim[index]) / h - speed - rows.compliance[row] * rows.impulse[row]
    elif role == SPRING:
        rows.bias[row] = linear + (error - joint_state.start[index]) / h - speed
        rows.diagonal[row] -= rows.compliance[row]
        _set_compliance(joints, joint, index, share, h, rows, row)
    else:
        rows.bias[row] = linear - shift
    rows.impulse[row] = min(rows.upper[row], max(rows.lower[row], rows.impulse[row]))
    joint_state.correction[index] = rows.bias[row] - linear + shift
