"""Stage ``solve_positions``: where do the bodies go? Gaps may close but not more, overlaps are taken out a bit.

The answer moves the poses (``position_update``, ``integration``). It is found island by island, once in each detection
pass (``detection``).
"""

import numpy as np

from ...compiled.kernel import entry, inlined, subkernel
from ...compiled.views import numbers_of, views_of, whole
from ...constraints.velocity_rows import (
    forget_impulses,
    kinetic_energy,
    overgrowth,
    scale_impulses,
    touches_kinematic,
)
from ...parallel.workers import take_next
from ...problem.problem import CONVERGED_RELATIVE
from ...solvers.shared.sweep import apply_impulses
from ..islands.islands import has_joints
from ..islands.policy import (
    CREDIT_TO_TRY,
    PRICE_OF_FAILURE,
    RATIO_STILL,
    SHARE_CALMER,
    SHARE_OF_OVERGROWN,
    SHARE_OF_SUCCESS,
)
from ..islands.small_step_motion import (
    credit_of,
    earn_credit,
    keeps_overlaps,
    note_solved_by_method,
    spend_credit,
    use_small_steps,
)
from ..islands.solve_flags import note_solved
from ..rest.standstill import keep_velocities, keeps_standing
from ..schedule.sharing import begin_islands, call_stage, help_others
from ..schedule.stage_table import LEAVE_HELD_CONTACTS
from .island_solve import (
    FEW_SWEEPS,
    FIRST_PASS,
    IN_SMALL_STEPS,
    METHOD,
    NOTHING,
    SAME_CONTACTS,
    SAME_ROWS,
    budget_of_method,
    effort_for_positions,
    forget_outcome,
    is_worse_than_nothing,
    note_outcome,
    solve_island,
)
from .jointed_solve import note_jointed, solve_jointed

_apply_impulses = inlined(apply_impulses)


@entry
def solve_positions(arrays, worker):
    """Task: solve the islands for positions, each from its present impulses.

    Parameters
    ----------
    arrays : StepArrays
        Written: impulses and velocities of the islands, and of ``solves`` how that ended; which bodies are left
        unsolved (``solve_flags``).
    worker : int64
    """
    members = views_of(arrays)
    problem, sharing, solves = members.problem, members.sharing, members.solves
    rows, islands = whole(problem.rows), whole(problem.islands)
    begin_islands(sharing, solves, islands)
    worked = False
    while True:
        island = take_next(sharing.next)
        if island >= islands.count[0]:
            break
        worked = True
        if solves.pass_kind[0] >= SAME_CONTACTS and not members.joint_state.is_due[island]:
            # its outcome stands
            solves.iterations[island] = 0
            continue
        forget_outcome(solves, island)
        stands = _keep_standing(members, rows, islands, island)
        solves.keeps_standing[island] = stands
        if not stands:
            _solve_island(arrays, members, rows, islands, island)
    help_others(arrays, members, worker, worked)


@subkernel(inline=True)
def _keep_standing(members, rows, islands, island):
    """Let an island stand still that has done so in this frame; returns whether it does."""
    motion, contacts = members.motion, members.collision.contacts[members.collision.roles.present[0]]
    if not keeps_standing(rows, islands, island, contacts, motion.free_velocity, motion.stands):
        return False
    keep_velocities(islands, island, motion.start_velocity, members.state.velocity)
    note_solved(islands, island, motion.solve_flags, np.bool_(False))
    return True


@subkernel(inline=True)
def _solve_island(arrays, members, rows, islands, island):
    solves, flags, small_steps = members.solves, members.motion.solve_flags, members.motion.small_steps
    step = numbers_of(members.settings.step)
    contact_count = members.collision.contacts[members.collision.roles.present[0]].count[0]
    if has_joints(rows, islands, island, contact_count):
        _solve_jointed_island(arrays, members, rows, islands, island)
        return
    has_small_steps = step.small_steps > 0
    if has_small_steps and solves.pass_kind[0] == FIRST_PASS:
        earn_credit(islands, island, small_steps)
    budget, rests = budget_of_method(members, rows, islands, island)
    solves.budget[island] = budget
    if budget == 0.0:
        _move_in_small_steps(arrays, members, rows, islands, island)
        return
    effort = METHOD
    if not has_small_steps:
        effort = effort_for_positions(islands, island, flags, solves.pass_kind[0])
    if effort == NOTHING:
        return
    if has_small_steps and keeps_overlaps(islands, island, small_steps):
        _keep_overlaps(members, rows, islands, island)
    _apply_impulses(rows, islands, island, members.motion.free_velocity, members.state.velocity)
    outcome = solve_island(arrays, members.kernels.stages, island, effort, budget)
    if effort == FEW_SWEEPS:
        # No solution yet, so its residual says nothing.
        solves.swept_only[0] = 1
        solves.iterations[island] = outcome[1]
        return
    is_unsolved = outcome[0] > CONVERGED_RELATIVE
    if is_unsolved and is_worse_than_nothing(outcome):
        forget_impulses(islands, island, rows, members.motion.free_velocity, members.state.velocity)
        if not has_small_steps:
            outcome = solve_island(arrays, members.kernels.stages, island, effort, budget)
    comes_to_rest = not is_unsolved and rests and _is_calmer(members, rows, islands, island)
    if has_small_steps:
        share = SHARE_OF_SUCCESS if comes_to_rest else 1.0
        if is_unsolved and not rests:
            share = PRICE_OF_FAILURE
        spend_credit(islands, island, small_steps, share * members.solver_input.work[0])
    if has_small_steps and is_unsolved:
        # The impulses are no solution, but a better start than those of the last substep.
        solves.iterations[island] += outcome[1]
        _move_in_small_steps(arrays, members, rows, islands, island)
        return
    if has_small_steps:
        note_solved_by_method(islands, island, small_steps, comes_to_rest or _may_go_on(islands, island, small_steps))
    note_solved(islands, island, flags, is_unsolved)
    note_outcome(solves, island, rows, outcome, step.gravity_norm * step.h)


@subkernel(inline=True)
def _solve_jointed_island(arrays, members, rows, islands, island):
    """By the method, whatever the last substep was: what is only swept falls apart."""
    solves = members.solves
    if solves.pass_kind[0] == SAME_ROWS:
        return
    if solves.pass_kind[0] < SAME_ROWS:
        call_stage(members.kernels.stages, LEAVE_HELD_CONTACTS, arrays, island)
    _keep_overlaps(members, rows, islands, island)
    outcome, is_swept = solve_jointed(arrays, members, rows, islands, island)
    note_jointed(members, rows, islands, island, outcome, is_swept)
    if not is_swept:
        note_solved(islands, island, members.motion.solve_flags, outcome[0] > CONVERGED_RELATIVE)


@subkernel
def _is_calmer(members, rows, islands, island):
    """Whether a solve has brought an island nearer to rest, by a tenth of its energy, or all but to rest.

    What is carried by something driven keeps its energy at rest on that, so there every solve does.
    """
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    if touches_kinematic(islands, island, rows, contacts, members.motion.free_velocity):
        return True
    step = numbers_of(members.settings.step)
    mass = 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        mass += rows.body_mass[islands.body_order[index], 0, 0]
    before = kinetic_energy(islands, island, rows, members.motion.start_velocity)
    after = kinetic_energy(islands, island, rows, members.state.velocity)
    return after <= SHARE_CALMER * before + 0.5 * mass * (RATIO_STILL * step.gravity_norm * step.h) ** 2


@subkernel
def _may_go_on(islands, island, small_steps):
    """Whether an island can pay for another solve that brings it no nearer to rest."""
    return credit_of(islands, island, small_steps) >= CREDIT_TO_TRY


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
def _move_in_small_steps(arrays, members, rows, islands, island):
    motion = members.motion
    grown = overgrowth(rows, islands, island, motion.start_velocity, motion.free_velocity)
    if grown > 1.0:
        # not forgotten: jaws that have closed on something hold it by what they press
        scale_impulses(islands, island, rows, SHARE_OF_OVERGROWN / grown)
    outcome = solve_island(arrays, members.kernels.stages, island, IN_SMALL_STEPS, 0.0)
    use_small_steps(islands, island, members.motion.small_steps, outcome[2])
    note_solved_by_method(islands, island, members.motion.small_steps, np.bool_(False))
    # They aim at no tolerance, so they miss none.
    members.solves.iterations[island] += outcome[1]
    members.solves.in_small_steps[island] = 1
