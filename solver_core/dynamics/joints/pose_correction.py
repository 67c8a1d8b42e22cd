"""Poses of joined bodies are corrected apart: what is open or overlaps never enters a velocity.

With v+ = v + M^-1 J' r and J v+ = -b the energy changes by -r . b - r' G r / 2 <= b' G^+ b / 2, G = J M^-1 J', whatever
J's rank. So energy comes in by b alone, by errors of position that are put into rows of velocities, and by
contradictions without bound: what an overlap asks for, joints may forbid (bars that meet at one point and are not all
joined to each other, a glued brick that is a bit too thick), and impulses that ask for both grow for ever. So
velocities are solved with rows in which nothing is open: overlaps must not grow, which standing still always does. What
the position solve leaves is led back here, after it, by changes dq of the poses, at the poses of the end, from nothing:

    J dq = -(error at the end) of what holds,   n . dq >= -s (gap at the end) of what overlaps,   n . dq >= -gap else

with the joints eliminated (``solvers.joint_elimination``), in rounds as long as joints are open, each of which squares
the error near the end. Contacts push only where joints let them. What that does to the bodies' heights is in the ledger
(``joint_ledger``).

The masses alone are the wrong measure of a round where a chain is nearly straight. Its links are light, so all that is
open is asked of their turning, by phi = e / theta of a link that leans by theta; but that shortens the chain by
phi^2 / 2, too, and where e > theta^2 it opens more than it closes, round after round. Newton's method for the nearest
pose has H = M + h sum of L_i d^2 g_i / dq^2, with the impulses L that have led bodies so far: what pulls at a link
holds it straight, and the load gives way instead. That is the stiffness of ``constraints.joints.joint_motion``, by body
and without what is negative; L is what the rounds before have added up.

Limits that exclude each other yield by a thousandth of their W_ii, so a round is a damped step of least squares; where
one hardly leads bodies any farther, what is still open is what contradicts, and no solve is missed.

Bodies that joints connect, through whatever others, are not led out of each other: that would lift a ring of bars by
its corners, and who set it up so has said that they meet there.

Sources: Garcia Orden 2010 (projection of poses and velocities); Carpentier, Budhiraja and Mansard 2021 (joints that
contradict each other).
"""

import math

import numpy as np

from ...compiled.function_tables import caller
from ...compiled.kernel import subkernel
from ...compiled.views import numbers_of
from ...constraints.contact_rows import RATIO_TOUCHING, fill_inertia, normal_speed, size_that_moves
from ...constraints.joints.joint_motion import add_stiffness, clear_stiffness, restore_own, stiffen_inertia
from ...constraints.joints.joint_rows import (
    RATIO_EXACT,
    RATIO_GIVE,
    distance_off,
    end_error,
    note_opening,
    respond_anew,
)
from ...constraints.joints.row_measures import fill_joint_row, frames_of_joint, turn_to_side
from ...model.joints.joint_arrays import HOLD, RANGE, SOFT_RANGE, SPRING
from ...problem.problem import FAILED
from ...problem.residuals import row_velocity
from ...solvers.shared.status import start_from_impulses
from ..motion.free_rotation import TURN_PER_CYCLE
from ..motion.integration import place_at_end
from ..schedule.stage_table import SOLVE_JOINTED, SOLVER_OUTCOME
from .held_contacts import are_joined, is_left_out
from .joint_ends import find_turn_rate

# Share of an overlap that a substep takes out, and what it takes out at most, as a share of the smaller body's size: at
# most a tenth of it a second. Farther than that no body is led, so joints open by the square of that.
_SHARE, _RATIO_MOST = 0.2, 1e-3
# Joints are open from this share of their size on, and missed from the second one on.
_RATIO_OPEN, _RATIO_MISSED = 1e-8, 1e-5
# So far a body is led in a round, where joints are open.
_RATIO_MOST_OPEN = 0.25
# Rounds at most; what one is to take from the error, as a share of what it promised, and how many in turn may fail
# to: on their way to each other poses may open elsewhere, and limits that contradict each other stay.
_MOST_ROUNDS, _RATIO_GAIN, _PATIENCE = 48, 0.3, 12
# Limits yield by this share of their W_ii, so that what contradicts ends in a compromise (least squares);
# where a round leads no body farther than this share of the largest opening, it is found.
_RATIO_YIELDS, _RATIO_SETTLED = 1e-3, 1e-2
# Limits contradict each other where a round would leave more than this share of the largest error if all were linear:
# they yield, and the rest is closed.
_RATIO_PROMISED = 0.5
# Bodies are made stiffer against turning up to this multiple of what they are: beyond it the responses of what is
# joined (``joint_elimination``) are rounding, as those of chains whose loads are 1e6 of their links.
_MOST_STIFFNESS = 1e3
# The least volume of the columns of a derivative of turns that has an inverse.
_LEAST_VOLUME = 1e-3
# The lever of a turn, as a share of a body's size.
_FACTOR_LEVER = 0.5
# Sweeps over contacts at most: what they leave is taken out later.
_SWEEPS = np.int64(40)

# What poses were corrected for: nothing, what is open, and what overlaps.
NOT_LED, LED_BACK, LED_OUT = map(np.int8, range(3))

_call_solver = caller(SOLVER_OUTCOME)


@subkernel
def correct_poses(arrays, members, rows, islands, island):
    """Close the joints of an island where it goes, and lead it out of what it overlaps, as far as joints let it.

    Parameters
    ----------
    arrays : StepArrays
        ``position_velocity`` of the island's bodies is written; end poses, errors and openings of its joints; and what
        a velocity solve no longer needs: biases, bounds, and free velocities.
    members : StepMembers
        Its views.
    rows : RowArrays
        Of the velocity solve.
    islands, island
        Read.
    """
    joint_state, motion = members.joint_state, members.motion
    contacts, h = members.collision.contacts[members.collision.roles.present[0]], numbers_of(members.settings.step).h
    enough = _RATIO_OPEN / RATIO_EXACT
    error = 0.0
    if joint_state.off[island] > enough or joint_state.is_beyond[island]:
        joint_state.off[island], error, _, _ = _measure(members, rows, islands, island, contacts.count[0], h)
    is_open = joint_state.off[island] > enough
    overlaps = _ask_contacts(members, rows, islands, island, contacts, not is_open)
    joint_state.is_led[island] = LED_OUT if overlaps else (LED_BACK if is_open else NOT_LED)
    if joint_state.is_led[island] == NOT_LED:
        return
    _put_aside(members, rows, islands, island)
    velocity, stale, settled, yields, least = members.state.velocity, 0, False, False, math.inf
    _add_impulses(members, rows, islands, island, contacts.count[0], 0.0)
    for number in range(_MOST_ROUNDS):
        # to the tolerance and not beyond: rounds go on from what one leaves
        before = joint_state.off[island]
        if number > 0:
            _stiffen(members, rows, islands, island, contacts.count[0], h)
            _ask_contacts(members, rows, islands, island, contacts, False)
        _ask_joints(members, rows, islands, island, contacts.count[0], number > 0, yields)
        for place in range(islands.body_first[island], islands.body_first[island + 1]):
            body = islands.body_order[place]
            for column in range(6):
                velocity[body, column] = motion.free_velocity[body, column] = 0.0
        outcome = _call_solver(members.kernels.stages, SOLVE_JOINTED, arrays, island, _SWEEPS, 1.0, 0.0)
        most = _RATIO_MOST if before <= enough else _RATIO_MOST_OPEN
        way, length = _largest_ways(members, islands, island, h)
        if outcome[0] == FAILED or not way < math.inf:
            start_from_impulses(rows, islands, island, motion.free_velocity, velocity)
            break
        share = min(1.0, most / way) if way > 0.0 else 1.0
        if length < _RATIO_SETTLED * error:
            settled = True
            break
        promised = _promised(members, rows, islands, island, contacts.count[0], h)
        if not yields and 0.0 < error < promised / _RATIO_PROMISED:
            yields, least = True, math.inf
        _move(members, islands, island, share, h)
        _add_impulses(members, rows, islands, island, contacts.count[0], share)
        off, error, held_off, held_error = _measure(members, rows, islands, island, contacts.count[0], h)
        if yields:
            off, error = held_off, held_error
        joint_state.off[island] = off
        if off < least:
            least = off
            _copy_ways(islands, island, members.problem.jointed.kept_way, motion.position_velocity)
        stale = stale + 1 if joint_state.off[island] > (1.0 - _RATIO_GAIN * share) * before else 0
        if joint_state.off[island] <= 1.0 or stale == _PATIENCE:
            break
    if least < joint_state.off[island]:
        joint_state.off[island] = least
        _copy_ways(islands, island, motion.position_velocity, members.problem.jointed.kept_way)
        _place_at_end(members, islands, island, h)
        _measure(members, rows, islands, island, contacts.count[0], h)
    if joint_state.off[island] > _RATIO_MISSED / RATIO_EXACT and not (settled or joint_state.starts_open[island]):
        members.solves.missed[island] += 1
    _take_back(members, rows, islands, island)


@subkernel
def _add_impulses(members, rows, islands, island, contact_count, share):
    """Add a share of the rounds' impulses of joints to those that have led the bodies so far; 0: there are none yet."""
    way_impulse = members.problem.jointed.way_impulse
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block >= contact_count:
            for row in range(rows.block_row[block], rows.block_row[block + 1]):
                way_impulse[row] = way_impulse[row] + share * rows.impulse[row] if share > 0.0 else 0.0


@subkernel
def _stiffen(members, rows, islands, island, contact_count, h):
    """Let bodies be as stiff against turning as the impulses make them that have led them so far."""
    joints, motion, joint_state = members.model.joints, members.motion, members.joint_state
    position, orientation = joint_state.end_position, joint_state.end_orientation
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        clear_stiffness(joint_state, islands.body_order[place])
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block >= contact_count:
            joint, impulse = joint_state.joint_of_block[block - contact_count], members.problem.jointed.way_impulse
            add_stiffness(joints, joint_state, joint, impulse, rows.block_row[block], position, orientation)
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body]:
            stiffen_inertia(joint_state, motion, body, h, _MOST_STIFFNESS)
            fill_inertia(motion.inverse_inertia[body], rows.body_mass[body])
    respond_anew(islands, island, contact_count, motion, rows)


@subkernel
def _move(members, islands, island, share, h):
    """Add a share of the change of the poses to the way of an island's bodies, and place them there."""
    motion, velocity = members.motion, members.state.velocity
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        own, change = motion.position_velocity[body], velocity[body]
        inertia, orientation = members.model.inertia[body], members.state.orientation[body]
        t0, t1, t2 = _turning_for(orientation, own, inertia, h, (change[3], change[4], change[5]))
        for axis in range(3):
            own[axis] += share * change[axis]
        own[3], own[4], own[5] = own[3] + share * t0, own[4] + share * t1, own[5] + share * t2
    _place_at_end(members, islands, island, h)


@subkernel
def _place_at_end(members, islands, island, h):
    """Place the bodies that joints hold where their way leads."""
    motion, joint_state = members.motion, members.joint_state
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body]:
            end = joint_state.end_position, joint_state.end_orientation
            place_at_end(members.model, members.state, motion, h, body, end[0], end[1])


@subkernel
def _copy_ways(islands, island, target, source):
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        for column in range(6):
            target[body, column] = source[body, column]


@subkernel
def _turning_for(orientation, turning, inertia, h, change):
    """By what the ``turning`` of a body is to change for the pose that it leads to to turn on by h times ``change``.

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
    change : tuple of 3 floats
        Angular velocity [rad/s].

    Returns
    -------
    tuple of 3 floats
        [rad/s]; ``change`` itself where there is no inverse.
    """
    (a0, a1, a2), (b0, b1, b2), (c0, c1, c2) = find_turn_rate(orientation, turning, inertia, h, TURN_PER_CYCLE)
    x, y, z = change
    # Cramer's rule on the columns a, b, c
    u0, u1, u2 = b1 * c2 - b2 * c1, b2 * c0 - b0 * c2, b0 * c1 - b1 * c0
    volume = a0 * u0 + a1 * u1 + a2 * u2
    if not abs(volume) > _LEAST_VOLUME:
        return x, y, z
    v0, v1, v2 = c1 * a2 - c2 * a1, c2 * a0 - c0 * a2, c0 * a1 - c1 * a0
    w0, w1, w2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    return (
        (u0 * x + u1 * y + u2 * z) / volume,
        (v0 * x + v1 * y + v2 * z) / volume,
        (w0 * x + w1 * y + w2 * z) / volume,
    )


@subkernel
def _put_aside(members, rows, islands, island):
    """Keep what the velocity solve has found."""
    kept = members.problem.jointed
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            kept.kept_impulse[row] = rows.impulse[row]
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        for column in range(6):
            kept.kept_velocity[body, column] = members.state.velocity[body, column]


@subkernel
def _take_back(members, rows, islands, island):
    """Give back what the velocity solve has found, and let bodies be what they are."""
    kept, joint_state = members.problem.jointed, members.joint_state
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[row] = kept.kept_impulse[row]
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body]:
            restore_own(joint_state, members.motion, rows, body)
        for column in range(6):
            members.state.velocity[body, column] = kept.kept_velocity[body, column]


@subkernel
def _ask_contacts(members, rows, islands, island, contacts, takes_out):
    """Let the contacts' rows ask for the change of the poses; returns whether one overlaps that is to be taken out.

    Joints are closed first: each changes what the other has.
    """
    motion, size, h = members.motion, members.model.size, numbers_of(members.settings.step).h
    surface_speed, overlaps = members.problem.contact_rows.surface_speed, False
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block >= contacts.count[0]:
            continue
        row, a, b = rows.block_row[block], rows.body_a[block], rows.body_b[block]
        moved = surface_speed[block] + normal_speed(rows.jacobian, row, motion.position_velocity, a, b)
        smaller = size_that_moves(size, motion.can_be_pushed, a, b)
        gap, touching = contacts.gap[block] + h * moved, RATIO_TOUCHING * smaller
        wanted = max(gap + touching, 0.0)
        if is_left_out(members, block):
            rows.bias[row] = members.problem.contact_rows.velocity_bias[block]
            continue
        if takes_out and gap < -touching and not are_joined(members, rows, islands, island, a, b, contacts.count[0]):
            overlaps = True
            wanted = -min(_SHARE * (-gap - touching), _RATIO_MOST * smaller)
        rows.bias[row] = wanted / h - _speed_of_driven(members, rows, row, a, b)
    return overlaps


@subkernel
def _ask_joints(members, rows, islands, island, contact_count, has_moved, yields):
    """Let the joints' rows ask for the change of the poses, limits that yield for none, and all impulses be none."""
    joints, joint_state, motion = members.model.joints, members.joint_state, members.motion
    h = numbers_of(members.settings.step).h
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        row, a, b = rows.block_row[block], rows.body_a[block], rows.body_b[block]
        if block < contact_count:
            for direction in range(row, rows.block_row[block + 1]):
                rows.impulse[direction] = 0.0
                if direction > row:
                    rows.bias[direction] = -_speed_of_driven(members, rows, direction, a, b)
            continue
        joint = joint_state.joint_of_block[block - contact_count]
        frames = frames_of_joint(joints, joint, joint_state.end_position, joint_state.end_orientation)
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            role, off = joints.role[index], 0.0
            if has_moved:
                fill_joint_row(joints, joint_state, joint, index, frames, motion, rows, row)
                if role in (RANGE, SOFT_RANGE):
                    turn_to_side(joint_state.side[index], rows, row)
            if role in (HOLD, RANGE):
                off = _error(members, rows, block, joint, index, h)
            if role == RANGE:
                off = max(off, 0.0) if yields else off
                rows.lower[row], rows.upper[row] = 0.0, math.inf
            elif role in (SPRING, SOFT_RANGE):
                rows.lower[row] = rows.upper[row] = 0.0
            rows.bias[row] = off / h - _speed_of_driven(members, rows, row, a, b)
            rows.impulse[row] = 0.0
            rows.compliance[row] = _RATIO_YIELDS * rows.diagonal[row] if role == RANGE else 0.0
            row += 1


@subkernel
def _error(members, rows, block, joint, index, h):
    """How far a coordinate that is held, or limited, is from where it is to be under its load [m]."""
    joint_state, inverse_mass = members.joint_state, members.motion.inverse_mass
    masses = inverse_mass[rows.body_a[block]] + inverse_mass[rows.body_b[block]]
    give = h * RATIO_GIVE * masses * joint_state.impulse[index]
    return joint_state.end_error[index] + give - joint_state.aim[index]


@subkernel
def _measure(members, rows, islands, island, contact_count, h):
    """Measure an island's joints at the end poses.

    Returns the largest error, over what is allowed and [m], and both of what is held alone.
    """
    joints, joint_state = members.model.joints, members.joint_state
    off, largest, held_off, held_largest = 0.0, 0.0, 0.0, 0.0
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block < contact_count:
            continue
        joint = joint_state.joint_of_block[block - contact_count]
        frames = frames_of_joint(joints, joint, joint_state.end_position, joint_state.end_orientation)
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            joint_state.end_error[index] = end_error(joints, joint_state, joint, index, frames)
            error = _error(members, rows, block, joint, index, h)
            # what a limit has pushed away may stay there
            error = distance_off(joints.role[index], error, 0.0)
            error = error if error < math.inf else math.inf
            share = error / (RATIO_EXACT * joints.size[joint])
            off, largest = max(off, share), max(largest, error)
            if joints.role[index] == HOLD:
                held_off, held_largest = max(held_off, share), max(held_largest, error)
        note_opening(joints, joint_state, joint)
    return off, largest, held_off, held_largest


@subkernel
def _promised(members, rows, islands, island, contact_count, h):
    """The largest error of an island's joints that a change of the poses would leave, if it were small [m]."""
    joints, joint_state, velocity, largest = members.model.joints, members.joint_state, members.state.velocity, 0.0
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block < contact_count:
            continue
        row, a, b = rows.block_row[block], rows.body_a[block], rows.body_b[block]
        joint = joint_state.joint_of_block[block - contact_count]
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            role = joints.role[index]
            if role in (HOLD, RANGE):
                left = h * row_velocity(rows.jacobian, row, rows.bias[row], velocity, a, b)
                largest = max(largest, abs(left) if role == HOLD else -left)
            row += 1
    return largest


@subkernel
def _speed_of_driven(members, rows, row, a, b):
    """What the velocities of bodies that cannot be pushed are in a row: here they stand [m/s]."""
    velocity, can_be_pushed, total = members.state.velocity, members.motion.can_be_pushed, 0.0
    for column in range(6):
        if not can_be_pushed[a]:
            total += rows.jacobian[row, column] * velocity[a, column]
        if not can_be_pushed[b]:
            total += rows.jacobian[row, 6 + column] * velocity[b, column]
    return total


@subkernel
def _largest_ways(members, islands, island, h):
    """The farthest that a change of the poses leads a body, as a share of its size, and [m]; infinite: no number."""
    velocity, size, farthest, longest = members.state.velocity, members.model.size, 0.0, 0.0
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body, linear, angular = islands.body_order[place], 0.0, 0.0
        for axis in range(3):
            linear += velocity[body, axis] ** 2
            angular += velocity[body, 3 + axis] ** 2
        way = h * (math.sqrt(linear) + _FACTOR_LEVER * size[body] * math.sqrt(angular))
        if not way < math.inf:
            return math.inf, math.inf
        farthest, longest = max(farthest, way / size[body]), max(longest, way)
    return farthest, longest
