"""What the sweeping solvers decide alike: what they write down, when a step is too long, how they end and fail."""

import math

from ...kernel import subkernel
from ...problem import Status
from .sweep import apply_impulses

_CONVERGED_ABSOLUTE = int(Status.CONVERGED_ABSOLUTE)
_CONVERGED_RELATIVE = int(Status.CONVERGED_RELATIVE)
_STAGNATED = int(Status.STAGNATED)
_MAX_ITERATIONS = int(Status.MAX_ITERATIONS)
_FAILED = int(Status.FAILED)
# Armijo's constant (Silcowitz-Hansen et al. 2010, figure 3), and the shortest step that is tried.
_SUFFICIENT_DECREASE = 0.01
_SHORTEST_STEP = 1.0 / 32.0


@subkernel
def record(workspace, iteration, largest, merit):
    """Write one iteration into the histories, as far as they reach."""
    if iteration < workspace.history.size:
        workspace.history[iteration] = largest
        workspace.merit_history[iteration] = merit


@subkernel
def status_of(residual, target, absolute_tolerance):
    """Status of a solver that stopped at ``residual``."""
    if residual <= absolute_tolerance:
        return _CONVERGED_ABSOLUTE
    return _CONVERGED_RELATIVE if residual <= target else _MAX_ITERATIONS


@subkernel
def status_of_iteration(residual, target, iterations, settings):
    """Status of a solver that gives up before its limit where it gains nothing."""
    if residual > target and iterations < settings.max_iterations:
        return _STAGNATED
    return status_of(residual, target, settings.absolute_tolerance)


@subkernel
def step_is_too_long(merit, last_merit, slope, step):
    """Whether a step along a direction with grad' p = ``slope`` fails Armijo's rule; a restart (0) is not searched."""
    if slope >= 0.0 or step <= _SHORTEST_STEP:
        return False
    # the merit is twice f
    return merit > last_merit + 2.0 * _SUFFICIENT_DECREASE * step * slope


@subkernel
def fail(rows, islands, island, free_velocity, velocity):
    """Outcome of an island that holds NaN or infinity: zero impulses, so that no NaN is returned."""
    worst_block = -1
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        worst_block = block
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[row] = 0.0
    apply_impulses(rows, islands, island, free_velocity, velocity)
    return _FAILED, 0, math.inf, 1.0, worst_block
