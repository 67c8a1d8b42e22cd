"""Stage ``solve_positions``: where do the bodies go? It is the page on which an island's way through a substep is told.

    plan = plan_for_positions(island)       one look: what it is, what its bodies remember; a strategy and a second one
    prepare                                 overlaps that must only not grow, impulses to start from
    solve_by_plan(plan)                     pursue, judge; at most once more, by the second strategy
    remember                                what the bodies know in the next pass and the next substep

(``strategies``, ``verdicts``, ``islands.memory``.) Gaps may close but not more, overlaps are taken out a bit. The
answer moves the poses (``position_update``, ``integration``). It is found island by island, once in each detection pass
(``frame.detection``). The velocities that stay are those, or solved likewise (``velocity_solve``).
"""

import numpy as np

from ...compiled.kernel import entry, inlined, subkernel
from ...compiled.views import numbers_of, views_of, whole
from ...parallel.workers import take_next
from ...solvers.shared.status import start_from_impulses
from ...solvers.shared.sweep import apply_impulses
from ..islands.memory import (
    credit_of,
    note_small_steps,
    note_solved,
    note_solved_by_method,
    spend_credit,
)
from ..islands.policy import CREDIT_TO_TRY, PRICE_OF_FAILURE, SHARE_OF_SUCCESS
from ..joints.joint_corrections import GIVEN_UP
from ..rest.standstill import keep_velocities
from ..schedule.pass_kinds import SAME_CONTACTS, SAME_ROWS
from ..schedule.sharing import begin_islands, call_stage, help_others
from ..schedule.stage_table import LEAVE_HELD_CONTACTS
from .facts import is_calmer
from .outcomes import forget_outcome, note_jointed, note_outcome
from .strategies import (
    EXACT,
    FEW_SWEEPS,
    JOINTS_EXACT,
    KEEP,
    NOTHING,
    SMALL_STEPS,
    plan_for_positions,
)
from .verdicts import FINE, WORSE, solve_by_plan

_apply_impulses = inlined(apply_impulses)


@entry
def solve_positions(arrays, worker):
    """Task: advance the islands, each from its present impulses.

    Parameters
    ----------
    arrays : StepArrays
        Written: impulses and velocities of the islands, and of ``solves`` how that ended; what bodies remember of it.
    worker : int64
    """
    members = views_of(arrays)
    problem, sharing = members.problem, members.sharing
    rows, islands = whole(problem.rows), whole(problem.islands)
    begin_islands(sharing, members.solves, islands)
    worked = False
    while True:
        island = take_next(sharing.next)
        if island >= islands.count[0]:
            break
        worked = True
        _advance(arrays, members, rows, islands, island)
    help_others(arrays, members, worker, worked)


@subkernel(inline=True)
def _advance(arrays, members, rows, islands, island):
    """An island's way through a detection pass."""
    solves, memory = members.solves, members.motion.memory
    plan = plan_for_positions(members, rows, islands, island)
    if plan.strategy == NOTHING:
        if solves.pass_kind[0] >= SAME_CONTACTS:
            # an earlier outcome stands
            solves.iterations[island] = 0
        else:
            forget_outcome(solves, island)
        return
    forget_outcome(solves, island)
    solves.keeps_standing[island] = plan.strategy == KEEP
    solves.budget[island] = plan.budget
    if plan.strategy == KEEP:
        keep_velocities(islands, island, members.motion.start_velocity, members.state.velocity)
        note_solved(islands, island, memory, np.bool_(False))
        return
    _prepare(arrays, members, rows, islands, island, plan)
    outcome, strategy, verdict, _ = solve_by_plan(arrays, members, rows, islands, island, plan)
    if plan.has_joints:
        _remember_joints(members, rows, islands, island, strategy, verdict, outcome)
    else:
        _remember(members, rows, islands, island, plan, strategy, verdict, outcome)


@subkernel(inline=True)
def _prepare(arrays, members, rows, islands, island, plan):
    """What an island is asked, and starts from: velocities are those of its impulses."""
    if plan.has_joints and members.solves.pass_kind[0] < SAME_ROWS:
        call_stage(members.kernels.stages, LEAVE_HELD_CONTACTS, arrays, island)
    if plan.strategy == SMALL_STEPS:
        # they take overlaps out of poses, and have velocities of their own
        return
    if plan.keeps_overlaps:
        _keep_overlaps(members, rows, islands, island)
    if not plan.has_joints:
        _apply_impulses(rows, islands, island, members.motion.free_velocity, members.state.velocity)


@subkernel
def _keep_overlaps(members, rows, islands, island):
    """Ask of overlaps that they do not grow, which is always possible, and not that they are taken out."""
    contact_count = members.collision.contacts[members.collision.roles.present[0]].count[0]
    velocity_bias = members.problem.contact_rows.velocity_bias
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block < contact_count:
            row = rows.block_row[block]
            rows.bias[row] = max(rows.bias[row], velocity_bias[block])


@subkernel(inline=True)
def _remember(members, rows, islands, island, plan, strategy, verdict, outcome):
    """Credit, and what the next plan is to know, of an island without joints."""
    solves, memory, step = members.solves, members.motion.memory, numbers_of(members.settings.step)
    if strategy == FEW_SWEEPS:
        # no solution yet, so its residual says nothing
        solves.swept_only[0] = 1
        solves.iterations[island] = outcome[1]
        return
    is_solved = strategy == plan.strategy and verdict == FINE
    if plan.strategy == EXACT and step.small_steps > 0:
        nearer = is_solved and plan.comes_to_rest and is_calmer(members, rows, islands, island)
        share = SHARE_OF_SUCCESS if nearer else 1.0
        if not is_solved and not plan.comes_to_rest:
            share = PRICE_OF_FAILURE
        spend_credit(islands, island, memory, share * members.solver_input.work[0])
        if is_solved:
            # another solve that brings it no nearer to rest has to be paid
            may_go_on = nearer or credit_of(islands, island, memory) >= CREDIT_TO_TRY
            note_solved_by_method(islands, island, memory, np.bool_(may_go_on))
    if strategy == SMALL_STEPS:
        # they aim at no tolerance, so they miss none
        note_small_steps(islands, island, memory, outcome[2])
        solves.iterations[island] += outcome[1]
        solves.in_small_steps[island] = 1
        return
    note_solved(islands, island, memory, np.bool_(verdict != FINE))
    note_outcome(solves, island, rows, outcome, step.gravity_norm * step.h)


@subkernel
def _remember_joints(members, rows, islands, island, strategy, verdict, outcome):
    members.joint_state.was_swept[island] = strategy == JOINTS_EXACT
    if strategy == JOINTS_EXACT and verdict == WORSE:
        # limits and joints hold against each other: what corrections have found before is taken (``joint_corrections``)
        members.joint_state.stale[island] = GIVEN_UP
        start_from_impulses(rows, islands, island, members.motion.free_velocity, members.state.velocity)
    note_jointed(members, rows, islands, island, strategy, outcome)
    if strategy != JOINTS_EXACT:
        note_solved(islands, island, members.motion.memory, np.bool_(verdict != FINE))
