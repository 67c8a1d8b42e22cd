"""How the sweeping solvers end: the status of a residual, and what a failed one leaves behind."""

from ..kernel import kernel
from ..problem import Status
from .sweep import apply_impulses

_CONVERGED_ABSOLUTE = int(Status.CONVERGED_ABSOLUTE)
_CONVERGED_RELATIVE = int(Status.CONVERGED_RELATIVE)
_MAX_ITERATIONS = int(Status.MAX_ITERATIONS)
FAILED = int(Status.FAILED)


@kernel
def status_of(residual, target, absolute_tolerance):
    """Status of a solver that stopped at ``residual``; NaN and infinity have failed."""
    if not residual < float("inf"):
        return FAILED
    if residual <= absolute_tolerance:
        return _CONVERGED_ABSOLUTE
    return _CONVERGED_RELATIVE if residual <= target else _MAX_ITERATIONS


@kernel
def discard_impulses(rows, islands, island, free_velocity, velocity):
    """Set the impulses of an island to zero: a solver that failed never returns NaN."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[row] = 0.0
    apply_impulses(rows, islands, island, free_velocity, velocity)
