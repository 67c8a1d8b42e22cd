"""What the errors of joints at the end of a substep change by with its velocities: the rows of Newton's method.

Forces act at the middle of a substep, along rows J of the poses there; joints are to be closed at its end, where

    e(v + dv) = e(v) + h s E dv,    E = J_end D,    D = d (turn of the end pose) / d (h turning)

Of a body that turns by theta about its axis the axis tilts by sin(theta) / theta of what a tangent says, and by
(1 - cos(theta)) / theta to the side: where bodies hardly turn E is J, and corrections with J on both sides are
Newton's (``joint_corrections``); beyond some two radians they lead away from the answer, and a gyroscope at 400 rad/s
lost its spin. So such islands are asked for

    E (v - v_k) + (e_k - asked) / (h s) + C r = 0,    M (v - v_free) = J' r - K P D (v - v_k)

with what the correction does to forces (``end_stiffness``): Newton's method. It is not symmetric
(``solvers.joint_elimination``), and costs a factor L U, so it is taken where others would take longer.
"""

import math

from ...compiled.kernel import subkernel
from ...compiled.views import numbers_of
from ...constraints.joints.row_measures import fill_joint_row, frames_of_joint, is_on_sphere, turn_to_side
from ...geometry.rotation_kernels import multiply
from ...model.joints.joint_arrays import HOLD, RANGE, SOFT_RANGE, SPRING, WORLD
from ..islands.policy import TURN_OF_ENDS
from ..motion.free_rotation import TURN_PER_CYCLE_ROUGH, turned_freely

# Of differences [rad].
_RATIO_DIFFERENCE = 1e-6


@subkernel
def turns_far(members, island):
    """Whether a body of an island that joints hold turns so far that rows of the middle are none of the end."""
    islands, h = members.problem.islands, numbers_of(members.settings.step).h
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if members.joint_state.is_held[body]:
            way, square = members.motion.position_velocity[body], 0.0
            for axis in range(3, 6):
                square += way[axis] ** 2
            if h * h * square > TURN_OF_ENDS**2:
                return True
    return False


@subkernel
def find_turn_rates(members, island):
    """Write D of the bodies of an island, and the velocities where it is measured."""
    islands, h = members.problem.islands, numbers_of(members.settings.step).h
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if members.joint_state.is_held[body]:
            turning, inertia = members.motion.position_velocity[body], members.model.inertia[body]
            for column in range(6):
                members.problem.jointed.last_velocity[body, column] = members.joint_state.guess[body, column]
            rates, rate = (
                find_turn_rate(members.state.orientation[body], turning, inertia, h, TURN_PER_CYCLE_ROUGH),
                members.problem.jointed.turn_rate[body],
            )
            rate[0], rate[1], rate[2] = rates[0]
            rate[3], rate[4], rate[5] = rates[1]
            rate[6], rate[7], rate[8] = rates[2]


@subkernel
def keep_end_row(members, joint, index, row):
    """Write E of a row of a joint; the row itself is overwritten with that of the end poses."""
    joints, joint_state, rows = members.model.joints, members.joint_state, members.problem.rows
    jointed, role = members.problem.jointed, joints.role[index]
    frames = frames_of_joint(joints, joint, joint_state.end_position, joint_state.end_orientation)
    fill_joint_row(joints, joint_state, joint, index, frames, members.motion, rows, row)
    if role in (RANGE, SOFT_RANGE):
        turn_to_side(joint_state.side[index], rows, row)
    a, b = joints.body_a[joint], joints.body_b[joint]
    for side in range(2):
        body = a if side == 0 else b
        for column in range(6):
            jointed.end_jacobian[row, 6 * side + column] = rows.jacobian[row, 6 * side + column]
        if body == WORLD or not joint_state.is_held[body]:
            continue
        for column in range(3):
            total = 0.0
            for axis in range(3):
                rate = jointed.turn_rate[body, 3 * column + axis]
                total += rows.jacobian[row, 6 * side + 3 + axis] * rate
            jointed.end_jacobian[row, 6 * side + 3 + column] = total


@subkernel
def ask_at_end(members, joint, index, row, block):
    """Let a row of the end ask for what that of the middle does, once this one is filled.

    Rows that ask for speeds (motors, friction) stay as they are, and so do those of bodies that nothing holds.
    """
    joints, joint_state, rows = members.model.joints, members.joint_state, members.problem.rows
    ends, guess, role = members.problem.jointed.end_jacobian, joint_state.guess, joints.role[index]
    is_asked = role in (HOLD, RANGE, SPRING, SOFT_RANGE) and not is_on_sphere(joints, index)
    bias = rows.bias[row]
    for side in range(2):
        body = rows.body_a[block] if side == 0 else rows.body_b[block]
        for column in range(6 * side, 6 * side + 6):
            if not (is_asked and joint_state.is_held[body]):
                ends[row, column] = rows.jacobian[row, column]
            bias += (rows.jacobian[row, column] - ends[row, column]) * guess[body, column - 6 * side]
    members.problem.jointed.end_bias[row] = bias


@subkernel
def copy_contact_rows(members, island, contact_count):
    """Contacts ask for what they do."""
    rows, islands, jointed = members.problem.rows, members.problem.islands, members.problem.jointed
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block < contact_count:
            for row in range(rows.block_row[block], rows.block_row[block + 1]):
                jointed.end_bias[row] = rows.bias[row]
                for column in range(12):
                    jointed.end_jacobian[row, column] = rows.jacobian[row, column]


@subkernel
def find_turn_rate(orientation, turning, inertia, h, turn_per_cycle):
    """D of a body, by differences: three columns.

    exp's derivative is not a small change over large turns, and other momentum leads a body that is not round
    elsewhere.

    Parameters
    ----------
    orientation : float64 [4]
        At the start (read).
    turning : float64 [6]
        Read.
    inertia : float64 [3]
        [kg m^2] (read).
    h : float
        [s].
    turn_per_cycle : float
        How finely free rotation is followed [rad].

    Returns
    -------
    tuple of three tuples of 3 floats
    """
    end = turned_freely(orientation, turning, inertia, h, turn_per_cycle)
    step = _RATIO_DIFFERENCE / h
    return (
        _turned_by(orientation, turning, inertia, h, turn_per_cycle, end, 3, step),
        _turned_by(orientation, turning, inertia, h, turn_per_cycle, end, 4, step),
        _turned_by(orientation, turning, inertia, h, turn_per_cycle, end, 5, step),
    )


@subkernel
def _turned_by(orientation, turning, inertia, h, turn_per_cycle, end, column, step):
    """How far the end pose turns [rad] by a step of the turning, as a multiple of that turn alone."""
    before = turning[column]
    turning[column] = before + step
    other = turned_freely(orientation, turning, inertia, h, turn_per_cycle)
    turning[column] = before
    w, x, y, z = end
    p, a, b, c = multiply(other[0], other[1], other[2], other[3], w, -x, -y, -z)
    factor = math.copysign(2.0, p) / (h * step)
    return factor * a, factor * b, factor * c
