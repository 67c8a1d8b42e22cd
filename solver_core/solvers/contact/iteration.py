"""Sweep until the island is solved: the loop that pgs, psor, amgs and amsor share."""

import math

import numpy as np

from ...kernel import subkernel
from ...residuals import natural_map, problem_scale
from .ending import fail, record, status_of
from .parts import forget_excess, lay_rows, residual_of, sweep_island

# After a forecast that the true residual did not confirm, the next is asked for when the forecast has fallen by this.
_FACTOR_NEXT_CHECK = 0.5


@subkernel
def sweep_until_solved(rows, islands, island, free_velocity, velocity, workspace, settings, step, memory):
    """Repeat ``sweep_rows`` until the natural map is below the tolerance or the limit is reached.

    Parameters
    ----------
    rows : RowArrays
        Read; ``impulse`` holds the start and is written.
    islands : IslandArrays
        Read.
    island : int
    free_velocity : float64 [body_count, 6]
        Read.
    velocity : float64 [body_count, 6]
        v_free + M^-1 J' r at the start; written.
    workspace : SolverWorkspace
    settings : SolverSettings
    step, memory : float
        As in ``sweep_rows``.

    Returns
    -------
    tuple
        (status, iterations, residual [m/s], scale [m/s], worst block).
    """
    scale = problem_scale(rows, islands, island, free_velocity)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    if memory != 0.0:
        forget_excess(rows, islands, island, workspace)
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    check_below = target
    residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    iteration = np.int64(0)
    if not residual <= target and settings.max_iterations > 0:
        lay_rows(rows, islands, island, velocity, workspace)
    while not residual <= target and iteration < settings.max_iterations:
        largest, merit = sweep_island(rows, islands, island, velocity, workspace, settings, step, memory)
        if not merit < math.inf:
            return fail(rows, islands, island, free_velocity, velocity)
        record(workspace, iteration, largest, merit)
        iteration += 1
        # What the sweep saw is a cheap forecast; the true residual costs as much as a sweep, so it is asked for last.
        if largest <= check_below or iteration == settings.max_iterations:
            residual, worst_block = residual_of(rows, islands, island, velocity, workspace, settings)
            check_below = _FACTOR_NEXT_CHECK * largest
    return status_of(residual, target, settings.absolute_tolerance), iteration, residual, scale, worst_block
