"""The joints' rows in the velocity solve, and what they have borne at its end.

Rows are those of the poses at the substep's end. Impulses are those of the whole substep: what the position solve gave
the bodies stays, and what is added makes the velocities fit the joints,

    hold: J v = 0;   range: J v >= 0 where the limit is touched;   motor: J v = target;   friction: J v = 0

with the bounds of the whole substep. The impulse of a spring, or of a soft limit, is that of the position solve.

Where bodies bounce, impacts come first, and these take no time: forces have their impulses before.
"""

import math

from ...compiled.kernel import subkernel
from ...model.joints.joint_arrays import FRICTION, MOTOR, RANGE, SOFT_RANGE, SPRING, WORLD
from .coordinate_geometry import frame_of
from .joint_rows import largest_impulse
from .row_measures import error_of, fill_joint_row, frames_of_joint, scale_of, turn_to_side

# A limit is touched within this share of the joint's size.
_RATIO_AT_LIMIT = 1e-7


@subkernel
def move_joint_rows(joints, joint_state, motion, islands, island, first_block, h, rows, velocity, bounces):
    """Make the rows of an island's joints those of the velocity solve.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        Read: end poses, impulse, change. Written: given.
    motion : MotionArrays
        Read: inverse inertia at the end.
    islands, island
        Read.
    first_block : int64
        Blocks from this one on are joints.
    h : float
        [s]
    rows : RowArrays
        Written: the joints' rows; ``impulse`` to where the solve begins.
    velocity : float64 [body_count, 6]
        Written: the impulses that the rows now hold are taken off.
    bounces : bool
        Whether there are impacts.
    """
    position, orientation = joint_state.end_position, joint_state.end_orientation
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block < first_block:
            continue
        joint = joint_state.joint_of_block[block - first_block]
        row, frames = rows.block_row[block], frames_of_joint(joints, joint, position, orientation)
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            value, _ = fill_joint_row(joints, joint_state, joint, index, frames, motion, rows, row)
            if joints.role[index] in (RANGE, SOFT_RANGE):
                turn_to_side(joint_state.side[index], rows, row)
            error = error_of(joints, joint_state, joint, index, value)
            _set_terms(joints, joint_state, joint, index, error, h, rows, row, bounces)
            taken = joint_state.impulse[index] - joint_state.given[index]
            _push(rows, row, block, -taken, velocity)
            row += 1


@subkernel
def keep_joint_impulses(joints, joint_state, islands, island, first_block, rows):
    """Let the velocity solve have added nothing to what the joints of an island bear.

    Parameters
    ----------
    joints, joint_state, islands, island
        Read.
    first_block : int64
        Blocks from this one on are joints.
    rows : RowArrays
        Written: impulse.
    """
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block >= first_block:
            joint, row = joint_state.joint_of_block[block - first_block], rows.block_row[block]
            for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
                rows.impulse[row] = joint_state.impulse[index] - joint_state.given[index]
                row += 1


@subkernel
def bear_as_before(joints, joint_state, islands, island, first_block, rows):
    """Let the joints of an island that stands still bear what they bore in the last substep.

    Parameters
    ----------
    joints, joint_state, islands, island
        Read.
    first_block : int64
        Blocks from this one on are joints.
    rows : RowArrays
        Written: impulse.
    """
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block >= first_block:
            joint, row = joint_state.joint_of_block[block - first_block], rows.block_row[block]
            for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
                rows.impulse[row] = joint_state.impulse[index] + joint_state.change[index]
                row += 1


@subkernel
def _push(rows, row, block, impulse, velocity):
    """Add what an impulse of a row does to the bodies' velocities."""
    a, b = rows.body_a[block], rows.body_b[block]
    for column in range(6):
        velocity[a, column] += rows.response[row, column] * impulse
        velocity[b, column] += rows.response[row, 6 + column] * impulse


@subkernel
def _set_terms(joints, joint_state, joint, index, error, h, rows, row, bounces):
    """Bias, bounds, the impulse that the solve begins with, and what is given besides."""
    role, scale = joints.role[index], scale_of(joints, joint, index)
    impulse = joint_state.impulse[index]
    start = impulse + joint_state.change[index]
    bias, lower, upper, given = 0.0, -math.inf, math.inf, 0.0
    if role == RANGE:
        touches = impulse > 0.0 or error <= _RATIO_AT_LIMIT * joints.size[joint]
        lower, upper = 0.0, math.inf if touches else 0.0
    elif role in (SPRING, SOFT_RANGE):
        start = lower = upper = impulse
    elif role in (MOTOR, FRICTION):
        most = largest_impulse(joints, joint_state, joint, index, h, rows.diagonal[row])
        lower, upper = -most, most
        if role == MOTOR:
            bias = -scale * joint_state.target_speed[index]
    start = min(upper, max(lower, start))
    if bounces and (role in (SPRING, SOFT_RANGE) or ((role in (MOTOR, FRICTION)) and math.isfinite(upper))):
        given, start, lower, upper = start, 0.0, 0.0, 0.0
    joint_state.given[index] = given
    rows.bias[row], rows.lower[row], rows.upper[row], rows.compliance[row] = bias, lower, upper, 0.0
    rows.impulse[row] = start


@subkernel
def measure_joints(joints, joint_state, h, rows, taken, first_row):
    """Note what the joints have borne in a substep.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        Written: change, force.
    h : float
        [s]
    rows : RowArrays
        Of the velocity solve (read).
    taken : float64 [joint_row_count]
        Impulses of impacts, by row from ``first_row`` on (read).
    first_row : int64
    """
    for joint in range(joints.body_a.size):
        block = joint_state.block[joint]
        force = joint_state.force[joint]
        if joint_state.broken[joint]:
            # what it bore as it broke stays: that is asked for at the frame's end
            continue
        for axis in range(6):
            force[axis] = 0.0
        if block < 0:
            # of bodies that are lost there may be no number
            for part in range(2):
                if not joint_state.opening[joint, part] < math.inf:
                    joint_state.opening[joint, part] = 0.0
            continue
        row = rows.block_row[block]
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            total = rows.impulse[row] + joint_state.given[index] + taken[row - first_row]
            joint_state.change[index] = total - joint_state.impulse[index]
            _add_force(joints, joint_state, joint, total / h, rows, row, force)
            row += 1


@subkernel
def _add_force(joints, joint_state, joint, size, rows, row, force):
    """Add the force of a row on body b, and its torque about the origin of frame B; the world's is the other's."""
    a, b = joints.body_a[joint], joints.body_b[joint]
    position, orientation = joint_state.end_position, joint_state.end_orientation
    frame = frame_of(b, joints.position_b[joint], joints.orientation_b[joint], position, orientation)
    sign, body, first = (-1.0, a, 0) if b == WORLD else (1.0, b, 6)
    own = rows.jacobian[row]
    p0, p1, p2 = own[first], own[first + 1], own[first + 2]
    a0, a1, a2 = frame[0] - position[body, 0], frame[1] - position[body, 1], frame[2] - position[body, 2]
    force[0] += sign * size * p0
    force[1] += sign * size * p1
    force[2] += sign * size * p2
    force[3] += sign * size * (own[first + 3] - (a1 * p2 - a2 * p1))
    force[4] += sign * size * (own[first + 4] - (a2 * p0 - a0 * p2))
    force[5] += sign * size * (own[first + 5] - (a0 * p1 - a1 * p0))
