"""Joints -> rows: a block a joint, behind those of the contacts.

Each row is one coordinate x of the joint (``coordinate_geometry``), or one of what acts on it: to hold it, its limits,
a spring, a motor, friction. Angles are taken times the joint's size, so all rows are in metres. A block at the world
names body a twice, and has no columns for the second.

The position solve is an implicit midpoint rule (docs/decisions/28-joints.md). The bodies of joints move by the mean
d = (w + v) / 2 of their velocities at the substep's start and end, and forces act at the poses in the middle; bodies
that go by END (``dynamics.motion.position_update``) move by d = v, and forces act at the end. With s = 1/2 or 1, and y
the change of the coordinate over h,

    hold      x(t + h) = 0                       r free
    range     x(t + h) >= 0, of the distance from the nearer limit; r >= 0
    spring    r = -h (k (x(t) + x(t + h)) / 2 + c y);   soft range: the same of the distance from the limit, r >= 0
    motor     J v = target, |r| <= h largest;    friction: a motor that stands

are solved by Newton's method: at the velocity v_k that the last solve had, where the coordinate ends at x_k,

    x(t + h) = x_k + h s J (v - v_k)

A row is this equation divided by h s; that of a spring has the compliance 1 / (h s (h k / 2 + c)). What bodies are to
the solver meanwhile: ``joint_motion``. An error that a joint has at the start is taken out bit by bit, as overlaps are
(``aim``).

Limits of Euler's angles about x and z are distances on the sphere where that about y may pass a quarter turn: there two
angles are about one axis. On its other side such a distance has the other sign, so these rows know their sheet.
"""

import math

from ...compiled.kernel import subkernel
from ...model.joints.joint_arrays import HOLD, MOTOR, RANGE, SOFT_RANGE, SPRING, WORLD
from ..contact_rows import RATIO_TOUCHING
from .coordinate_geometry import is_angle
from .joint_motion import share_of_step
from .row_measures import (
    error_of,
    fill_joint_row,
    frames_of_joint,
    is_on_sphere,
    measure_row,
    respond,
    row_speed,
    scale_of,
    turn_to_side,
)
from .servo import aim_servos

# Share of an error that is taken out in a substep, and the most of it, as a share of the joint's size.
_FACTOR_RECOVERY = 0.2
_RATIO_RECOVERY_MOST = 0.01
# Likewise where joints are solved by the rows of the start, which leaves them open by more.
_RATIO_RECOVERY_FROM_START = 0.1
# A coordinate is where it is to be within this share of the joint's size.
RATIO_EXACT = 1e-9
# What joints give under an impulse, as a share of what one body of their mass would move.
RATIO_GIVE = 1e-10
# What a motor may give its own bodies, as a multiple of a speed, and the least of that as a share of their size a
# substep.
_FACTOR_MOTOR, _RATIO_MOTOR = 1e4, 1e-2
# Over turns below this one curves are straight [rad].
_LEAST_TURN = 1e-6


@subkernel
def acts(joints, joint_state, joint, can_be_pushed):
    """Whether a joint has rows.

    Parameters
    ----------
    joints, joint_state
        Read.
    joint : int64
    can_be_pushed : bool [body_count]
        Read.
    """
    a, b = joints.body_a[joint], joints.body_b[joint]
    moves = can_be_pushed[a] or (b != WORLD and can_be_pushed[b])
    return moves and joint_state.enabled[joint] and not joint_state.broken[joint]


@subkernel
def build_joint_rows(joints, joint_state, state, motion, h, rows):
    """Add a block of rows for each joint that acts.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        Read: what the last substep left; poses; guess. Written: block, angle, side, start, aim; target_speed of servos.
    state, motion
        Read.
    h : float
        [s]
    rows : RowArrays
        Written behind the blocks that it has.
    """
    first_block = rows.count[0]
    block, row = first_block, rows.count[1]
    for joint in range(joints.body_a.size):
        joint_state.block[joint] = -1
        if not acts(joints, joint_state, joint, motion.can_be_pushed):
            continue
        joint_state.block[joint] = block
        joint_state.joint_of_block[block - first_block] = joint
        a, b = joints.body_a[joint], joints.body_b[joint]
        rows.block_row[block] = row
        rows.body_a[block], rows.body_b[block] = a, a if b == WORLD else b
        frames_at_start = frames_of_joint(joints, joint, state.position, state.orientation)
        frames_at_end = frames_of_joint(joints, joint, joint_state.end_position, joint_state.end_orientation)
        frames = frames_of_joint(joints, joint, joint_state.pose_position, joint_state.pose_orientation)
        masses = motion.inverse_mass[a] + motion.inverse_mass[rows.body_b[block]]
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            give = h * RATIO_GIVE * masses * joint_state.impulse[index]
            _begin_row(joints, joint_state, joint, index, frames_at_start, frames_at_end, give)
            joint_state.end_error[index] = end_error(joints, joint_state, joint, index, frames_at_end)
            rows.normal_row[row], rows.friction[row] = -1, 0.0
            rows.impulse[row] = joint_state.impulse[index]
            fill_position_row(joints, joint_state, joint, index, frames, motion, h, rows, row, block, False)
            row += 1
        aim_servos(joints, joint_state, joint, motion, h, rows, block)
        block += 1
        rows.block_row[block] = row
    rows.count[0], rows.count[1] = block, row


@subkernel
def _begin_row(joints, joint_state, joint, index, frames_at_start, frames_at_end, give):
    """Where a coordinate is at the substep's start, and where it is to be at its end.

    What the joint gives under its load is no error: were it to be closed as well, it would grow to a multiple.
    """
    role, size = joints.role[index], joints.size[joint]
    value, one, two, sheet, _, _, _, _ = measure_row(joints, joint_state, joint, index, frames_at_start)
    joint_state.angle[index, 0], joint_state.angle[index, 1] = one, two
    joint_state.sheet[index, 0] = joint_state.sheet[index, 1] = sheet
    joint_state.given[index] = 0.0
    if role in (RANGE, SOFT_RANGE):
        ahead, angle, _, _, _, _, _, _ = measure_row(joints, joint_state, joint, index, frames_at_end)
        on_sphere = is_on_sphere(joints, index)
        _choose_side(joints, joint_state, index, angle if on_sphere else ahead)
        if on_sphere:
            value, _, _, _, _, _, _, _ = measure_row(joints, joint_state, joint, index, frames_at_start)
    if role == MOTOR and not math.isnan(joint_state.target_position[index]):
        # its speed needs the masses of all rows of the joint, so it comes when these are there
        joint_state.start[index] = value
        return
    error = error_of(joints, joint_state, joint, index, value)
    joint_state.start[index], joint_state.aim[index] = error, _aim_of(role, error + give, size, _RATIO_RECOVERY_MOST)


@subkernel
def _choose_side(joints, joint_state, index, ahead):
    """Let a range's row stand for the limit that the coordinate will be nearer to."""
    lower, upper = joints.lower[index], joints.upper[index]
    is_lower = math.isinf(upper) or (not math.isinf(lower) and ahead - lower <= upper - ahead)
    side = 1.0 if is_lower else -1.0
    if side != joint_state.side[index]:
        joint_state.side[index] = side
        joint_state.impulse[index] = joint_state.change[index] = 0.0


@subkernel
def _aim_of(role, error, size, most):
    """The error that a coordinate is to have at the substep's end: most of a large one stays for now."""
    if (role != HOLD and role != RANGE) or abs(error) <= RATIO_TOUCHING * size or (role == RANGE and error > 0.0):
        return 0.0
    taken = min(_FACTOR_RECOVERY * abs(error), most * size)
    return error - math.copysign(taken, error)


@subkernel
def _asked(joint_state, role, index):
    """The error that velocities are to lead a coordinate to: beyond a limit no farther.

    Limits may exclude each other. Asked for nothing that is open, rest always answers; poses take out what is
    (``dynamics.pose_correction``).
    """
    aim = joint_state.aim[index]
    return joint_state.start[index] if role == RANGE and aim < 0.0 else aim


@subkernel
def fill_position_row(joints, joint_state, joint, index, frames, motion, h, rows, row, block, from_start):
    """A row of the position solve, by what the last solve, or the guess, has led to.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        Read: end_error, guess, start, aim, target_speed. Written: aim, from the start.
    joint, index : int64
    frames : tuple
        Where forces act, of ``frames_of_joint``.
    motion : MotionArrays
        Read: inertia as the solve takes it.
    h : float
        [s]
    rows : RowArrays
        Written: all of the row; its impulse, within new bounds.
    row, block : int64
    from_start : bool
        The row is that of the substep's start instead: it asks nothing of what the last solve has led to.
    """
    role, scale = joints.role[index], scale_of(joints, joint, index)
    _, sheet = fill_joint_row(joints, joint_state, joint, index, frames, motion, rows, row)
    if role in (RANGE, SOFT_RANGE):
        turn_to_side(joint_state.side[index], rows, row)
    if is_on_sphere(joints, index):
        if from_start:
            _take_sheet(joints, joint_state, joint, index, joint_state.sheet[index, 0])
        else:
            if sheet != joint_state.sheet[index, 1]:
                turn_to_side(-1.0, rows, row)
            _fit_to_motion(joints, joint_state, joint, index, motion, h, rows, row)
    error, speed = joint_state.start[index], 0.0
    if from_start:
        joint_state.aim[index] = _aim_of(role, error, joints.size[joint], _RATIO_RECOVERY_FROM_START)
    else:
        error, speed = joint_state.end_error[index], row_speed(rows, row, block, joint_state.guess)
    share, diagonal = share_of_step(joints, joint_state, joint, motion.can_be_pushed), rows.diagonal[row]
    lower, upper, compliance, bias = -math.inf, math.inf, 0.0, 0.0
    if role in (HOLD, RANGE):
        lower = 0.0 if role == RANGE else lower
        masses = motion.inverse_mass[rows.body_a[block]] + motion.inverse_mass[rows.body_b[block]]
        compliance = RATIO_GIVE * masses / share
        bias = (error - _asked(joint_state, role, index)) / (h * share) - speed
    elif role in (SPRING, SOFT_RANGE):
        start, damping = joint_state.start[index], joint_state.spring_damping[index]
        pulled = start
        if role == SOFT_RANGE:
            # What comes from within meets no spring before the limit: half of what it would be at the end is more than
            # the energy that it takes in, and there is no damping yet.
            lower, pulled, damping = 0.0, min(start, 0.5 * start), damping if start < 0.0 else 0.0
        rate = (0.5 * h * joint_state.spring_stiffness[index] + damping) / (scale * scale)
        if rate > 0.0:
            pull = joint_state.spring_stiffness[index] / (scale * scale) * pulled / rate
            bias = (pull + (error - start) / h) / share - speed
            compliance = 1.0 / (h * share * rate)
        else:
            lower = upper = 0.0
    else:
        upper = largest_impulse(joints, joint_state, joint, index, h, diagonal)
        lower = -upper
        if role == MOTOR:
            bias = -scale * joint_state.target_speed[index]
    rows.bias[row], rows.lower[row], rows.upper[row], rows.compliance[row] = bias, lower, upper, compliance
    rows.diagonal[row] = diagonal + compliance
    rows.impulse[row] = min(upper, max(lower, rows.impulse[row]))


@subkernel
def largest_impulse(joints, joint_state, joint, index, h, diagonal):
    """Largest impulse of a motor or of friction [N s], as a row's, of which ``diagonal`` is W_ii.

    A motor yields to a limit, and to what cannot move, whatever its strength: one of any force has no solution there.
    So it gives its own bodies no more than a multiple of the speed that it asks for, that gravity gives in a substep
    and that takes them a hundredth of their size in one. That moves ten thousand times their mass.
    """
    scale = scale_of(joints, joint, index)
    most = joint_state.largest[index] * h / scale
    if joints.role[index] != MOTOR or diagonal <= 0.0:
        return most
    speed = scale * abs(joint_state.target_speed[index]) + joint_state.fall[0]
    return min(most, _FACTOR_MOTOR * (speed + _RATIO_MOTOR * joints.size[joint] / h) / diagonal)


@subkernel
def _fit_to_motion(joints, joint_state, joint, index, motion, h, rows, row):
    """Let the work of a limit be that of the way to it: h J d is what the distance from it changes by.

    Of the pairs of torques with this property it is the nearest one (Gonzalez 1996).
    """
    a, b = joints.body_a[joint], joints.body_b[joint]
    jacobian, velocity = rows.jacobian[row], motion.position_velocity
    missing, square = joint_state.end_error[index] - joint_state.start[index], 0.0
    for axis in range(3, 6):
        turn = h * (velocity[a, axis] - (0.0 if b == WORLD else velocity[b, axis]))
        missing -= jacobian[axis] * turn
        square += turn * turn
    if square < _LEAST_TURN**2:
        return
    for axis in range(3, 6):
        turn = h * (velocity[a, axis] - (0.0 if b == WORLD else velocity[b, axis]))
        jacobian[axis] += missing / square * turn
    rows.diagonal[row] = respond(motion, a, jacobian, rows.response[row], 0)
    if b != WORLD:
        for axis in range(3, 6):
            jacobian[6 + axis] = -jacobian[axis]
        rows.diagonal[row] += respond(motion, b, jacobian, rows.response[row], 6)


@subkernel
def _take_sheet(joints, joint_state, joint, index, sheet):
    """Let the distance from a limit be that of the side of a quarter turn on which the angles are.

    What goes over is as far beyond its limit there as it was within it here, and may stay so: no work is done on it.
    """
    if sheet != joint_state.sheet[index, 1]:
        joint_state.start[index] = -joint_state.start[index]
        joint_state.sheet[index, 1] = sheet
    start = joint_state.start[index]
    joint_state.aim[index] = min(start, 0.0)
    if sheet == joint_state.sheet[index, 0]:
        joint_state.aim[index] = _aim_of(joints.role[index], start, joints.size[joint], _RATIO_RECOVERY_MOST)


@subkernel
def end_error(joints, joint_state, joint, index, frames):
    """The error of a row [m] at the end poses, where the joint has these ``frames``."""
    value, _, _, sheet, _, _, _, _ = measure_row(joints, joint_state, joint, index, frames)
    if sheet != joint_state.sheet[index, 1] and is_on_sphere(joints, index):
        _take_sheet(joints, joint_state, joint, index, sheet)
    return error_of(joints, joint_state, joint, index, value)


@subkernel
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
def measure_errors(joints, joint_state, can_be_pushed, islands, h, rows, of_all):
    """Find how far the joints of each island are from where they are to be.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        Read: end poses, aim, block, island, is_due. Written: end_error, off, starts_open, is_beyond, opening: joints
        that close by and by were set up so, or cannot close.
    can_be_pushed : bool [body_count]
        Read.
    islands, rows
        Read.
    h : float
        [s]
    of_all : bool
        Else of the islands that are due: no others have been moved.
    """
    for island in range(islands.count[0]):
        if of_all or joint_state.is_due[island]:
            joint_state.off[island] = 0.0
            joint_state.starts_open[island] = joint_state.is_beyond[island] = False
    for joint in range(joints.body_a.size):
        block, island = joint_state.block[joint], joint_state.island[joint]
        if block < 0 or not (of_all or joint_state.is_due[island]):
            continue
        off = 0.0
        share = share_of_step(joints, joint_state, joint, can_be_pushed)
        frames = frames_of_joint(joints, joint, joint_state.end_position, joint_state.end_orientation)
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            error = joint_state.end_error[index] = end_error(joints, joint_state, joint, index, frames)
            row = rows.block_row[block] + index - joints.row_first[joint]
            impulse = rows.impulse[row]
            role = joints.role[index]
            give = h * share * rows.compliance[row] * impulse if role in (HOLD, RANGE) else 0.0
            row_off = distance_off(role, error + give - _asked(joint_state, role, index), impulse)
            # what is no number is as far off as can be
            off = max(off, row_off if row_off < math.inf else math.inf)
            if role == HOLD and joint_state.aim[index] != 0.0:
                joint_state.starts_open[island] = True
            if role == RANGE and joint_state.aim[index] < 0.0:
                joint_state.is_beyond[island] = True
        note_opening(joints, joint_state, joint)
        joint_state.off[island] = max(joint_state.off[island], off / (RATIO_EXACT * joints.size[joint]))


@subkernel
def note_opening(joints, joint_state, joint):
    """Note how far a joint is open, by the errors of its rows at the end poses.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        Read: end_error. Written: opening.
    joint : int64
    """
    linear, angular = 0.0, 0.0
    for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
        error = joint_state.end_error[index]
        if joints.role[index] == HOLD and is_angle(joints.kind[index]):
            angular += (error / joints.size[joint]) ** 2
        elif joints.role[index] == HOLD:
            linear += error * error
    joint_state.opening[joint, 0], joint_state.opening[joint, 1] = math.sqrt(linear), math.sqrt(angular)


@subkernel
def measure_end(joints, joint_state, joint):
    """Measure a joint's rows at the end poses, and how far it is open there.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        Read: end poses. Written: end_error, opening.
    joint : int64
    """
    frames = frames_of_joint(joints, joint, joint_state.end_position, joint_state.end_orientation)
    for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
        joint_state.end_error[index] = end_error(joints, joint_state, joint, index, frames)
    note_opening(joints, joint_state, joint)


@subkernel
def distance_off(role, off, impulse):
    """How far a row is from where it is to be [m]: locked coordinates, and those beyond limits or that limits hold."""
    if role == HOLD or (role == RANGE and impulse > 0.0):
        return abs(off)
    return max(-off, 0.0) if role == RANGE else 0.0


@subkernel
def respond_anew(islands, island, contact_count, motion, rows):
    """Response and diagonal of an island's contacts, whose bodies the next solve takes for stiffer or softer ones.

    Parameters
    ----------
    islands, island
        Read.
    contact_count : int64
    motion : MotionArrays
        Read: inverse_mass, inverse_inertia.
    rows : RowArrays
        Written.
    """
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block < contact_count:
            a, b = rows.body_a[block], rows.body_b[block]
            for row in range(rows.block_row[block], rows.block_row[block + 1]):
                diagonal = respond(motion, a, rows.jacobian[row], rows.response[row], 0)
                rows.diagonal[row] = diagonal + respond(motion, b, rows.jacobian[row], rows.response[row], 6)


@subkernel
def store_joint_impulses(joints, joint_state, rows):
    """Keep what the position solve has found, for the next one to begin with.

    Parameters
    ----------
    joints, rows
        Read.
    joint_state : JointStateArrays
        Written: impulse.
    """
    for joint in range(joints.body_a.size):
        block = joint_state.block[joint]
        if block >= 0:
            row = rows.block_row[block]
            for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
                joint_state.impulse[index] = rows.impulse[row]
                row += 1


@subkernel
def find_held_bodies(joints, joint_state, can_be_pushed):
    """Note which bodies joints hold, and put those that joints connect into rings.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        Written: is_held, ring, lowest.
    can_be_pushed : bool [body_count]
        Read.

    Returns
    -------
    bool
        Whether joints hold as many as they did the last time.
    """
    is_held, ring, lowest = joint_state.is_held, joint_state.ring, joint_state.lowest
    before, count = 0, 0
    for body in range(is_held.size):
        before += 1 if is_held[body] else 0
        is_held[body], ring[body], lowest[body] = False, body, body
    for joint in range(joints.body_a.size):
        if not acts(joints, joint_state, joint, can_be_pushed):
            continue
        a, b = joints.body_a[joint], joints.body_b[joint]
        is_held[a] = is_held[a] or can_be_pushed[a]
        if b == WORLD:
            continue
        is_held[b] = is_held[b] or can_be_pushed[b]
        if can_be_pushed[a] and can_be_pushed[b]:
            one, other = lowest_joined(lowest, a), lowest_joined(lowest, b)
            if one != other:
                lowest[max(one, other)] = min(one, other)
                # two rings become one where two of their links change places
                ring[a], ring[b] = ring[b], ring[a]
    for body in range(is_held.size):
        count += 1 if is_held[body] else 0
    return count == before


@subkernel
def lowest_joined(lowest, body):
    """The body that stands for a ring; halves the path on the way."""
    while lowest[body] != body:
        lowest[body] = lowest[lowest[body]]
        body = lowest[body]
    return body
