"""What the solvers of contact problems do alike: how they begin, what they record, how they end and fail."""

import math

from ...compiled.kernel import subkernel
from ...problem.problem import CONVERGED_ABSOLUTE, CONVERGED_RELATIVE, FAILED, MAX_ITERATIONS, STAGNATED
from ...problem.residuals import natural_map, problem_scale
from .sweep import apply_impulses

# Armijo's constant (Silcowitz-Hansen et al. 2010, figure 3), and the shortest step that is tried.
_SUFFICIENT_DECREASE = 0.01
_SHORTEST_STEP = 1.0 / 32.0


@subkernel
def begin_solve(rows, islands, island, free_velocity, velocity, settings):
    """Measure an island before a solve.

    Parameters
    ----------
    rows, islands, island
        Read.
    free_velocity, velocity : float64 [body_count, 6]
        Read.
    settings : SolverSettings

    Returns
    -------
    scale : float
        [m/s]; not finite if the problem holds NaN or infinity, and then the solve ends with ``fail``.
    target : float
        Residual that solves the problem [m/s].
    residual : float
        At the start [m/s].
    worst_block : int
    """
    scale = problem_scale(rows, islands, island, free_velocity)
    residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    return scale, max(settings.tolerance * scale, settings.absolute_tolerance), residual, worst_block


@subkernel
def record(workspace, iteration, largest, merit):
    """Write one iteration into the histories, as far as they reach.

    Parameters
    ----------
    workspace : SweepWorkspace
        ``history`` and ``merit_history`` are written.
    iteration : int
    largest, merit : float
        Of ``sweep_rows``.
    """
    if iteration < workspace.history.size:
        workspace.history[iteration] = largest
        workspace.merit_history[iteration] = merit


@subkernel
def status_of(residual, target, absolute_tolerance):
    """Status of a solver that stopped at ``residual`` with this target and absolute tolerance [m/s]."""
    if residual <= absolute_tolerance:
        return CONVERGED_ABSOLUTE
    return CONVERGED_RELATIVE if residual <= target else MAX_ITERATIONS


@subkernel
def status_of_iteration(residual, target, iterations, settings):
    """Status of a solver that gives up before its limit of iterations if it gains nothing."""
    if residual > target and iterations < settings.max_iterations:
        return STAGNATED
    return status_of(residual, target, settings.absolute_tolerance)


@subkernel
def step_is_too_long(merit, last_merit, slope, step):
    """Whether a step along a direction fails Armijo's rule; ``slope`` is grad' p [J], of a restart 0, which passes."""
    if slope >= 0.0 or step <= _SHORTEST_STEP:
        return False
    # the merit is twice f
    return merit > last_merit + 2.0 * _SUFFICIENT_DECREASE * step * slope


@subkernel
def fail(rows, islands, island, free_velocity, velocity):
    """Outcome of an island that holds NaN or infinity: zero impulses, so that no NaN is returned.

    Parameters
    ----------
    rows, islands, island
        ``rows.impulse`` is written.
    free_velocity, velocity : float64 [body_count, 6]
        Read; written.

    Returns
    -------
    tuple
        As of every contact solver (``registry.Method``).
    """
    worst_block = -1
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        worst_block = block
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[row] = 0.0
    apply_impulses(rows, islands, island, free_velocity, velocity)
    return FAILED, 0, math.inf, 1.0, worst_block


@subkernel
def start_from_impulses(rows, islands, island, free_velocity, velocity):
    """Let velocities be those of an island's impulses; and there be no impulses where some are no numbers.

    Velocities that are no numbers are put back, also of what cannot be pushed: zero times infinity is none.

    Parameters
    ----------
    rows, islands, island
        ``rows.impulse`` is written where it is no number.
    free_velocity, velocity : float64 [body_count, 6]
        Read; written.
    """
    keeps_impulses = are_finite(rows, islands, island)
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[row] = rows.impulse[row] if keeps_impulses else 0.0
        for body in (rows.body_a[block], rows.body_b[block]):
            for column in range(6):
                if not abs(velocity[body, column]) < math.inf:
                    velocity[body, column] = free_velocity[body, column]
    apply_impulses(rows, islands, island, free_velocity, velocity)


@subkernel
def are_finite(rows, islands, island):
    """Whether the impulses of an island are numbers."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if not abs(rows.impulse[row]) < math.inf:
                return False
    return True
