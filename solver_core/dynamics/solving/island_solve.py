"""Decides, in each detection pass, whether an island gets the method or sweeps only.

What the default method then tries is decided in ``solvers/cascade``.

In the middle of impacts a large island has no solution to the tolerance that the method could find in time. What was
left unsolved is remembered by body, from pass to pass and from substep to substep, and gets sweeps then.
"""

import math

import numpy as np

from ...compiled.function_tables import caller
from ...compiled.kernel import subkernel
from ...compiled.views import arrays_at, numbers_of, views_of
from ...problem.problem import CONVERGED_RELATIVE
from ...problem.residuals import row_velocity
from ..islands.islands import rests_on_something
from ..islands.policy import (
    BUDGET_AGAIN,
    BUDGET_OF_REST,
    CONTACTS_TO_SWEEP,
    CREDIT_MOST,
    CREDIT_OF_REST,
    CREDIT_TO_TRY,
    FACTOR_EXACT,
    FEW_CONTACTS,
    PRICE_OF_FAILURE,
    RATIO_CALM,
    RATIO_CALM_SIZE,
    RATIO_DEEP,
    RATIO_DEEP_IN_MOTION,
    RATIO_ROUGHLY_SETTLED,
    RATIO_SETTLED,
    RATIO_WORSE,
    SWEEPS_AFTER_FAILURE,
    SWEEPS_BEFORE_CONTACTS,
    SWEEPS_MOST,
    TURN_OF_ROLLING,
)
from ..islands.small_step_motion import change_of_last_sweep, credit_of, keeps_overlaps, was_solved_by_method
from ..islands.solve_flags import has_deep_contacts, has_flagged_body
from ..schedule.stage_table import FALLBACK_SWEEPS, SMALL_STEPS, SOLVE_ISLAND, SOLVER_OUTCOME

_call_solver = caller(SOLVER_OUTCOME)

# The detection pass that the rows are of: the first of a substep, another one, one at the same pairs as the previous;
# or the same rows once more, for the islands that the first pass has only swept; or for those whose joints were off,
# and are off once more: then contacts in motion keep their impulses.
FIRST_PASS, NEW_PAIRS, SAME_PAIRS, SAME_ROWS, SAME_CONTACTS, SAME_IMPULSES = map(np.int64, range(6))
# How an island is solved: not at all, by a few sweeps, by sweeps as long as they change it roughly, by the method, in
# small steps.
NOTHING, FEW_SWEEPS, SWEEPS, METHOD, IN_SMALL_STEPS = map(np.int64, range(5))


@subkernel
def budget_of_method(members, rows, islands, island):
    """What solving an island by the method may cost, in sweeps over it, and whether it comes to rest.

    All that its bodies have (``small_step_motion``) where the answer stays: nothing moves against each other or falls
    together, so the next substep is the same problem and starts from its solution. What is beyond the reserve for that
    where bodies move.

    Parameters
    ----------
    members : StepMembers
        Read.
    rows, islands, island
        Read.

    Returns
    -------
    budget : float
        0: the island moves in small steps.
    rests : bool
    """
    if numbers_of(members.settings.step).small_steps == 0:
        return math.inf, np.bool_(False)
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    first, end = islands.block_first[island], islands.block_first[island + 1]
    credit = credit_of(islands, island, members.motion.small_steps)
    was_solved = was_solved_by_method(islands, island, members.motion.small_steps)
    # what the method has solved is mostly solved by the same impulses
    again = BUDGET_AGAIN if was_solved else 0.0
    step, velocity, size = numbers_of(members.settings.step), members.motion.start_velocity, members.model.size
    overlap, rolling = _deepest_overlaps(rows, islands, island, contacts, size, velocity, TURN_OF_ROLLING / step.h)
    in_motion, keeps = 0.0, keeps_overlaps(islands, island, members.motion.small_steps)
    if end - first <= FEW_CONTACTS and max(rolling, overlap if keeps else 0.0) <= RATIO_DEEP_IN_MOTION:
        may_cost = (credit - CREDIT_OF_REST) / PRICE_OF_FAILURE
        in_motion = may_cost if may_cost >= CREDIT_TO_TRY else again
    has_to_move = overlap > RATIO_DEEP or rolling > RATIO_DEEP_IN_MOTION
    if has_to_move or not rests_on_something(rows, islands, island, members.motion.can_be_pushed):
        return in_motion, np.bool_(False)
    allowed, smallest = RATIO_CALM * step.gravity_norm * step.h, math.inf
    for index in range(first, end):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        smaller = min(size[a], size[b])
        smallest = min(smallest, smaller)
        calm = allowed + RATIO_CALM_SIZE * smaller / step.h
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if abs(row_velocity(rows.jacobian, row, 0.0, velocity, a, b)) > calm:
                return in_motion, np.bool_(False)
    still = step.gravity_norm * step.h + RATIO_CALM_SIZE * smallest / step.h
    change = change_of_last_sweep(islands, island, members.motion.small_steps)
    if not was_solved and change > RATIO_SETTLED * still:
        roughly = credit >= CREDIT_MOST and change <= RATIO_ROUGHLY_SETTLED * still
        return CREDIT_MOST if roughly else in_motion, np.bool_(True)
    # A series: small steps in between would set in motion again what one solve has stopped.
    begins = credit >= CREDIT_OF_REST or (was_solved and credit >= CREDIT_TO_TRY)
    return max(credit, BUDGET_OF_REST) if begins else again, np.bool_(True)


@subkernel
def _deepest_overlaps(rows, islands, island, contacts, size, velocity, spin):
    """The deepest overlap of an island's contacts, and of those whose bodies turn against each other faster than this.

    Both as shares of the smaller body's size.
    """
    deepest = rolling = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block < contacts.count[0] and contacts.gap[block] < 0.0:
            a, b = rows.body_a[block], rows.body_b[block]
            overlap, square = -contacts.gap[block] / min(size[a], size[b]), 0.0
            for axis in range(3, 6):
                square += (velocity[b, axis] - velocity[a, axis]) ** 2
            deepest = max(deepest, overlap)
            if square > spin * spin:
                rolling = max(rolling, overlap)
    return deepest, rolling


@subkernel
def effort_for_positions(islands, island, flags, pass_kind):
    """How to solve an island for positions where there are no small steps.

    Where the last substep was not solved, in the middle of impacts, the first pass mostly finds that contacts are
    missing: such islands get some sweeps then. Where none are, they are solved from there (SAME_ROWS).

    Parameters
    ----------
    islands, island
        Read.
    flags : SolveFlags
        Read.
    pass_kind : int64

    Returns
    -------
    int64
        NOTHING, FEW_SWEEPS, SWEEPS or METHOD.
    """
    was_unsolved = has_flagged_body(islands, island, flags.was_unsolved)
    if pass_kind == SAME_ROWS and not was_unsolved:
        return NOTHING
    if pass_kind == FIRST_PASS and was_unsolved:
        return FEW_SWEEPS
    if pass_kind == SAME_PAIRS and has_flagged_body(islands, island, flags.is_unsolved):
        return SWEEPS
    return METHOD


@subkernel
def effort_for_velocities(islands, island, contacts, flags, sizes):
    """How to solve an island for velocities.

    Where the positions were left unsolved, the velocities get some sweeps from their impulses. Not where deep overlaps
    have been pushed apart, by impulses from which sweeps are slow to come back; and in small islands it costs little to
    solve to the end.

    Parameters
    ----------
    islands, island, contacts
        Read.
    flags : SolveFlags
        Read.
    sizes : float64 [shape_count]
        [m] (read).

    Returns
    -------
    int64
        SWEEPS or METHOD.
    """
    is_large = islands.block_first[island + 1] - islands.block_first[island] >= CONTACTS_TO_SWEEP
    is_unsolved = has_flagged_body(islands, island, flags.is_unsolved)
    if is_large and is_unsolved and not has_deep_contacts(islands, island, contacts, sizes):
        return SWEEPS
    return METHOD


@subkernel
def solve_island(arrays, stages, island, effort, budget):
    """Solve an island of the step's rows from its present impulses.

    Parameters
    ----------
    arrays : StepArrays
        Impulses and velocities written.
    stages : table of kernels
    island : int64
    effort : int64
        FEW_SWEEPS, SWEEPS, METHOD or IN_SMALL_STEPS.
    budget : float
        What the method may cost, in sweeps over the island.

    Returns
    -------
    tuple
        (status, iterations, residual [m/s], scale [m/s], worst block).
    """
    if effort == IN_SMALL_STEPS:
        return _call_solver(stages, SMALL_STEPS, arrays, island)
    if effort == METHOD:
        members = views_of(arrays)
        contacts = members.problem.islands.block_first[island + 1] - members.problem.islands.block_first[island]
        # each worker has settings of its own
        members.settings.solver.max_work[0] = budget * contacts
        return _call_solver(stages, SOLVE_ISLAND, arrays_at(members.solver_input), island)
    most = SWEEPS_BEFORE_CONTACTS if effort == FEW_SWEEPS else SWEEPS_MOST
    least = SWEEPS_BEFORE_CONTACTS if effort == FEW_SWEEPS else SWEEPS_AFTER_FAILURE
    return _call_solver(stages, FALLBACK_SWEEPS, arrays, island, least, most)


@subkernel
def solve_exactly(arrays, stages, island):
    """Solve an island that has joints: by the method, to far below its tolerance, which Newton's last steps reach.

    Parameters
    ----------
    arrays : StepArrays
        Impulses and velocities written.
    stages : table of kernels
    island : int64

    Returns
    -------
    tuple
        As of ``solve_island``.
    """
    # each worker has settings of its own
    settings = views_of(arrays).settings.solver
    settings.exactly[0] = FACTOR_EXACT
    outcome = solve_island(arrays, stages, island, METHOD, math.inf)
    settings.exactly[0] = 0.0
    return outcome


@subkernel
def is_worse_than_nothing(outcome):
    """Whether an outcome of ``solve_island`` leaves far more speed than there would be without any impulse.

    Where a body is pinched by what is driven, there is no solution, and impulses may grow without end.
    """
    _, _, residual, scale, _ = outcome
    return not residual <= RATIO_WORSE * scale


@subkernel(inline=True)
def forget_outcome(solves, island):
    """Begin to solve an island.

    Parameters
    ----------
    solves : IslandSolveArrays
        Written.
    island : int64
    """
    solves.iterations[island] = solves.missed[island] = solves.in_small_steps[island] = 0
    solves.worst_a[island] = solves.worst_b[island] = -1
    solves.residual[island] = 0.0


@subkernel(inline=True)
def note_outcome(solves, island, rows, outcome, least_scale):
    """Add one solver call's outcome to the island's.

    Parameters
    ----------
    solves : IslandSolveArrays
        Written.
    island : int64
    rows : RowArrays
        Read.
    outcome : tuple
        Of ``solve_island``.
    least_scale : float
        What gravity gives in a substep [m/s]: where all separates the problem's own scale is that of rounding.
    """
    status, iterations, residual, scale, worst_block = outcome
    solves.iterations[island] += iterations
    if status > CONVERGED_RELATIVE:
        solves.missed[island] += 1
    scale = max(scale, least_scale)
    relative = residual / scale if scale > 0.0 else residual
    if worst_block >= 0 and not relative <= solves.residual[island]:
        solves.residual[island] = relative
        solves.worst_a[island], solves.worst_b[island] = rows.body_a[worst_block], rows.body_b[worst_block]
