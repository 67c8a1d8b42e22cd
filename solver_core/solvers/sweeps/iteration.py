"""Sweep until the island is solved: the loop that pgs, psor, amgs and amsor share."""

import math

import numpy as np

from ...compiled.kernel import subkernel
from ..batches.partitioned_sweep import forget_excess, lay_rows, residual_of, sweep_island
from ..shared.limits import FACTOR_NEXT_CHECK
from ..shared.status import begin_solve, fail, record, status_of


@subkernel
def sweep_until_solved(rows, islands, island, free_velocity, velocity, workspace, settings, step, memory):
    """Repeat ``sweep_rows`` until the natural map is below the tolerance or the limit is reached.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of every contact solver (``registry.Method``).
    workspace : SweepWorkspace
    step, memory : float
        As in ``sweep_rows``.

    Returns
    -------
    tuple
        (status, iterations, residual [m/s], scale [m/s], worst block).
    """
    scale, target, residual, worst_block = begin_solve(rows, islands, island, free_velocity, velocity, settings)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    if memory != 0.0:
        forget_excess(rows, islands, island, workspace)
    check_below = target
    iteration = np.int64(0)
    if not residual <= target and settings.max_iterations > 0:
        lay_rows(rows, islands, island, velocity, workspace)
    while not residual <= target and iteration < settings.max_iterations:
        largest, merit = sweep_island(rows, islands, island, velocity, workspace, settings, step, memory)
        if not merit < math.inf:
            return fail(rows, islands, island, free_velocity, velocity)
        record(workspace, iteration, largest, merit)
        iteration += 1
        # What the sweep saw is a cheap forecast; the true residual costs as much as a sweep, so it is measured last.
        if largest <= check_below or iteration == settings.max_iterations:
            residual, worst_block = residual_of(rows, islands, island, velocity, workspace, settings)
            check_below = FACTOR_NEXT_CHECK * largest
    return status_of(residual, target, settings.absolute_tolerance), iteration, residual, scale, worst_block
