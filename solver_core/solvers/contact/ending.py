"""What the sweeping solvers write down as they go, how they end, and what a failed one leaves behind."""

import math

from ...kernel import subkernel
from ...problem import Status
from .sweep import apply_impulses

_CONVERGED_ABSOLUTE = int(Status.CONVERGED_ABSOLUTE)
_CONVERGED_RELATIVE = int(Status.CONVERGED_RELATIVE)
_MAX_ITERATIONS = int(Status.MAX_ITERATIONS)
_FAILED = int(Status.FAILED)


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
