"""Overlaps of joined bodies with others are taken out of poses, apart: they never enter a velocity.

What an overlap asks for, joints may forbid: bars that meet at one point and are not all joined to each other, a glued
brick that is a bit too thick. As rows of velocities both together have no solution, and impulses that ask for one grow
without bound. So velocities are solved with rows in which nothing is open: overlaps must not grow, which standing still
always does. Of bodies that joints connect, through whatever others, that is all: to lead them out of each other would
lift a ring of bars by its corners, and who set it up so has said that they meet there. Of others it is one solve of the
poses' change dq, at the poses of the end and from nothing,

    J dq = 0 of what holds,     n . dq >= -s (gap at the end) of what overlaps,     n . dq >= -gap of what is apart

with the joints eliminated (``solvers.joint_elimination``), so contacts push only where joints let them. dq is small:
joints open by half its square, and are closed in the next substep.
"""

import math

import numpy as np

from ..compiled.function_tables import caller
from ..compiled.kernel import subkernel
from ..compiled.views import numbers_of
from ..constraints.contact_rows import RATIO_TOUCHING, normal_speed, size_that_moves
from ..constraints.joints.joint_rows import lowest_joined
from ..model.joints.joint_arrays import SOFT_RANGE, SPRING
from ..problem.problem import FAILED
from .island_solve import SOLVER_OUTCOME
from .stage_names import SOLVE_JOINTED

# Share of an overlap that a substep takes out, and what it takes out at most, as a share of the smaller body's size:
# at most a tenth of it a second. Farther than that no body is led, so joints open by the square of that.
_SHARE, _RATIO_MOST = 0.2, 1e-3
# The lever of a turn, likewise.
_FACTOR_LEVER = 0.5
# Sweeps over contacts at most: what they leave is taken out later.
_SWEEPS = np.int64(10)

_call_solver = caller(SOLVER_OUTCOME)


@subkernel
def take_overlaps_out(arrays, members, rows, islands, island):
    """Lead the bodies of an island with joints out of what they overlap, as far as joints let them.

    Parameters
    ----------
    arrays : StepArrays
        ``position_velocity`` of the island's bodies is written, and what a velocity solve no longer needs: biases, and
        free velocities.
    members : StepMembers
        Its views.
    rows : RowArrays
        Of the velocity solve.
    islands, island
        Read.
    """
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    if not _set_biases(members, rows, islands, island, contacts):
        return
    motion, velocity, kept = members.motion, members.state.velocity, members.problem.jointed
    h = numbers_of(members.settings.step).h
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            kept.kept_impulse[row], rows.impulse[row] = rows.impulse[row], 0.0
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        for column in range(6):
            kept.kept_velocity[body, column] = velocity[body, column]
            velocity[body, column] = motion.free_velocity[body, column] = 0.0
    outcome = _call_solver(members.kernels.stages, SOLVE_JOINTED, arrays, island, _SWEEPS)
    share = _share_of_way(members, islands, island, h) if outcome[0] != FAILED else 0.0
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        for column in range(6):
            motion.position_velocity[body, column] += share * velocity[body, column] if share > 0.0 else 0.0
            velocity[body, column] = kept.kept_velocity[body, column]
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[row] = kept.kept_impulse[row]


@subkernel
def _set_biases(members, rows, islands, island, contacts):
    """Let the rows of an island ask for the change of the poses; returns whether anything overlaps."""
    motion, size, h = members.motion, members.model.size, numbers_of(members.settings.step).h
    joints, joint_state = members.model.joints, members.joint_state
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
        if gap < -touching and not _are_joined(members, rows, islands, island, a, b, contacts.count[0]):
            overlaps = True
            wanted = -min(_SHARE * (-gap - touching), _RATIO_MOST * smaller)
        rows.bias[row] = wanted / h - _speed_of_driven(members, rows, row, a, b)
        for direction in range(row + 1, rows.block_row[block + 1]):
            rows.bias[direction] = -_speed_of_driven(members, rows, direction, a, b)
    if not overlaps:
        return False
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block < contacts.count[0]:
            continue
        row, a, b = rows.block_row[block], rows.body_a[block], rows.body_b[block]
        joint = joint_state.joint_of_block[block - contacts.count[0]]
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            rows.bias[row] = -_speed_of_driven(members, rows, row, a, b)
            if joints.role[index] in (SPRING, SOFT_RANGE):
                rows.lower[row] = rows.upper[row] = 0.0
            row += 1
    return True


@subkernel
def _are_joined(members, rows, islands, island, a, b, contact_count):
    """Whether joints connect two bodies, through whatever others."""
    can_be_pushed, lowest = members.motion.can_be_pushed, members.joint_state.lowest
    if can_be_pushed[a] and can_be_pushed[b]:
        if lowest_joined(lowest, a) == lowest_joined(lowest, b):
            return True
        # or by something that stands
        for place in range(islands.block_first[island], islands.block_first[island + 1]):
            block = islands.block_order[place]
            one, other = rows.body_a[block], rows.body_b[block]
            if block >= contact_count and can_be_pushed[one] != can_be_pushed[other]:
                moves, stands = (one, other) if can_be_pushed[one] else (other, one)
                if lowest_joined(lowest, moves) == lowest_joined(lowest, a) and _is_joined_to(
                    members, rows, islands, island, stands, b, contact_count
                ):
                    return True
        return False
    moves, stands = (a, b) if can_be_pushed[a] else (b, a)
    return _is_joined_to(members, rows, islands, island, stands, moves, contact_count)


@subkernel
def _is_joined_to(members, rows, islands, island, stands, moves, contact_count):
    """Whether joints connect a body to one that cannot be pushed."""
    lowest = members.joint_state.lowest
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block >= contact_count and (rows.body_a[block] == stands or rows.body_b[block] == stands):
            other = rows.body_a[block] if rows.body_b[block] == stands else rows.body_b[block]
            if lowest_joined(lowest, other) == lowest_joined(lowest, moves):
                return True
    return False


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
def _share_of_way(members, islands, island, h):
    """The share of a change of the poses that leads no body too far, or out of all numbers."""
    velocity, size, share = members.state.velocity, members.model.size, 1.0
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body, linear, angular = islands.body_order[place], 0.0, 0.0
        for axis in range(3):
            linear += velocity[body, axis] ** 2
            angular += velocity[body, 3 + axis] ** 2
        way = h * (math.sqrt(linear) + _FACTOR_LEVER * size[body] * math.sqrt(angular))
        if not way < math.inf:
            return 0.0
        if way > _RATIO_MOST * size[body]:
            share = min(share, _RATIO_MOST * size[body] / way)
    return share
