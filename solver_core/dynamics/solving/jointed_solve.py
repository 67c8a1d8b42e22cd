"""How an island with joints is solved: exactly where it rests, by sweeps around exact joints where it moves.

What moves is another problem in the next substep, so its contacts need no more than the motion needs; its joints are
exact all the same (``solvers.joint_elimination``).
"""

import math

import numpy as np

from ...compiled.function_tables import caller
from ...compiled.kernel import entry, subkernel
from ...compiled.views import numbers_of, views_of, whole
from ...constraints.velocity_rows import forget_impulses
from ...problem.problem import FAILED
from ...solvers.joint_elimination import solve_with_joints_eliminated
from ...solvers.joint_tree import is_tree_of_joints, solve_tree_of_joints
from ...solvers.shared.sweep import apply_impulses
from ..islands.islands import has_contacts
from ..islands.policy import FACTOR_EXACT, SHARE_LEFT_OF_TREES, SUBSTEPS_OF_FALL, SWEEPS_AROUND_JOINTS
from ..islands.small_step_motion import note_swept
from ..joints.joint_corrections import GIVEN_UP, START
from ..schedule.stage_table import SOLVE_JOINTED, SOLVER_OUTCOME
from .island_solve import (
    SAME_CONTACTS,
    SAME_IMPULSES,
    is_worse_than_nothing,
    note_outcome,
    solve_exactly,
)

# In place of sweeps: there are only joints, along no loop.
_TREE = np.int64(-1)

_call_solver = caller(SOLVER_OUTCOME)


@entry
def run_solve_jointed(arrays, island, sweeps, exactly, least):
    """Solve an island with its joints eliminated; returns what a solver returns.

    Parameters
    ----------
    arrays : StepArrays
        Impulses and velocities of the island are written.
    island : int64
    sweeps : int64
        At most; 0: contacts keep their impulses; -1: there are only joints, along no loop.
    exactly, least : float
        The joints' share of the tolerance; the scale that the sweeps aim at is not below the second one [m/s].
    """
    members = views_of(arrays)
    problem = members.problem
    if sweeps == _TREE:
        # What is corrected moves on by far more than such a share, and is measured there.
        share = SHARE_LEFT_OF_TREES if members.solves.pass_kind[0] >= SAME_CONTACTS else 0.0
        return solve_tree_of_joints(
            whole(problem.rows),
            whole(problem.islands),
            island,
            members.motion.free_velocity,
            members.state.velocity,
            problem.jointed,
            numbers_of(members.settings.solver),
            (exactly, share),
        )
    return solve_with_joints_eliminated(
        whole(problem.rows),
        whole(problem.islands),
        island,
        members.motion.free_velocity,
        members.state.velocity,
        problem.jointed,
        numbers_of(members.settings.solver),
        (exactly, least),
        sweeps,
    )


@subkernel
def solve_jointed(arrays, members, rows, islands, island):
    """Solve an island with joints from its present impulses.

    Parameters
    ----------
    arrays : StepArrays
        Impulses and velocities written.
    members : StepMembers
        Its views.
    rows, islands, island
        Read.

    Returns
    -------
    outcome : tuple
        As of a solver; FAILED, without impulses, where there was none that is a number.
    is_swept : bool
        Whether contacts were only swept.
    """
    outcome, is_swept = _solve(arrays, members, rows, islands, island)
    if not _are_finite(rows, islands, island):
        scale, worst_block = outcome[3], islands.block_order[islands.block_first[island]]
        outcome = FAILED, outcome[1], math.inf, scale, worst_block
        _restart(members, rows, islands, island)
    return outcome, is_swept


@subkernel
def _solve(arrays, members, rows, islands, island):
    stages, way = members.kernels.stages, members.joint_state.way[island]
    keeps_impulses = members.solves.pass_kind[0] == SAME_IMPULSES and way != START
    sweeps = np.int64(0) if keeps_impulses else SWEEPS_AROUND_JOINTS
    _restart(members, rows, islands, island)
    step = numbers_of(members.settings.step)
    if step.small_steps > 0 and is_tree_of_joints(rows, islands, island, members.motion.can_be_pushed):
        outcome = _call_solver(stages, SOLVE_JOINTED, arrays, island, _TREE, FACTOR_EXACT, 0.0)
        if outcome[0] != FAILED:
            return outcome, False
        _restart(members, rows, islands, island)
    if _suits_sweeps(members, islands, island):
        least = step.gravity_norm * step.h
        outcome = _call_solver(stages, SOLVE_JOINTED, arrays, island, sweeps, FACTOR_EXACT, least)
        if outcome[0] != FAILED and not is_worse_than_nothing(outcome):
            return outcome, True
        if keeps_impulses:
            # limits and joints hold against each other: what Newton's corrections have found before is kept
            members.joint_state.stale[island] = GIVEN_UP
            _restart(members, rows, islands, island)
            return outcome, True
        _restart(members, rows, islands, island)
    outcome = solve_exactly(arrays, stages, island)
    if is_worse_than_nothing(outcome):
        forget_impulses(islands, island, rows, members.motion.free_velocity, members.state.velocity)
        outcome = solve_exactly(arrays, stages, island)
    return outcome, False


@subkernel
def _restart(members, rows, islands, island):
    """Let velocities be those of the impulses; and there be no impulses where some are no numbers."""
    free_velocity, velocity = members.motion.free_velocity, members.state.velocity
    if not _are_finite(rows, islands, island):
        for place in range(islands.block_first[island], islands.block_first[island + 1]):
            block = islands.block_order[place]
            for row in range(rows.block_row[block], rows.block_row[block + 1]):
                rows.impulse[row] = 0.0
            # also of what cannot be pushed
            for body in (rows.body_a[block], rows.body_b[block]):
                for column in range(6):
                    velocity[body, column] = free_velocity[body, column]
    apply_impulses(rows, islands, island, free_velocity, velocity)


@subkernel
def _are_finite(rows, islands, island):
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if not abs(rows.impulse[row]) < math.inf:
                return False
    return True


@subkernel
def note_jointed(members, rows, islands, island, outcome, is_swept):
    """Add an outcome of ``solve_jointed`` to the island's.

    Parameters
    ----------
    members : StepMembers
        Written: solves.
    rows, islands, island
        Read.
    outcome, is_swept
        Of ``solve_jointed``.
    """
    solves, step = members.solves, numbers_of(members.settings.step)
    if is_swept:
        # sweeps aim at no tolerance, so they miss none
        solves.iterations[island] += outcome[1]
        solves.in_small_steps[island] = 1
        note_swept(islands, island, members.motion.small_steps)
        return
    note_outcome(solves, island, rows, outcome, step.gravity_norm * step.h)


@subkernel
def _suits_sweeps(members, islands, island):
    """Whether an island touches something, and a body of it moves."""
    step = numbers_of(members.settings.step)
    contact_count = members.collision.contacts[members.collision.roles.present[0]].count[0]
    if step.small_steps == 0 or not has_contacts(islands, island, contact_count):
        return False
    return _moves(members, islands, island, SUBSTEPS_OF_FALL * step.gravity_norm * step.h)


@subkernel
def _moves(members, islands, island, speed):
    """Whether some body of an island is faster than this at the substep's start [m/s]."""
    velocity, size = members.motion.start_velocity, members.model.size
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        square, turning = 0.0, 0.0
        for axis in range(3):
            square += velocity[body, axis] ** 2
            turning += velocity[body, 3 + axis] ** 2
        if square + size[body] ** 2 * turning > speed * speed:
            return True
    return False
