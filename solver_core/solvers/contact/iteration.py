"""Sweep until the island is solved: the loop that pgs, psor, amgs and amsor share."""

import math

import numpy as np

from ...kernel import subkernel
from ...residuals import natural_map, problem_scale
from .ending import fail, record, status_of
from .parts import is_divided, lay_rows, sweep_island, take_impulses

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
    start = natural_map(rows, islands, island, velocity, settings)
    if not is_divided(islands, island):
        return _sweep_on(
            rows, islands, island, free_velocity, velocity, workspace, settings, step, memory, scale, start
        )
    laid_islands, laid_workspace = lay_rows(rows, islands, island, velocity, workspace)
    status, iterations, residual, scale, place = _sweep_on(
        workspace.laid,
        laid_islands,
        island,
        free_velocity,
        velocity,
        laid_workspace,
        settings,
        step,
        memory,
        scale,
        (start[0], np.int64(-1)),
    )
    take_impulses(rows, islands, island, workspace.laid)
    return status, iterations, residual, scale, islands.block_order[place] if place >= 0 else start[1]


@subkernel
def _sweep_on(rows, islands, island, free_velocity, velocity, workspace, settings, step, memory, scale, start):
    """``sweep_until_solved`` on rows that lie as they are swept, with a known start."""
    if memory != 0.0:
        _forget_excess(rows, islands, island, workspace.excess)
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    check_below = target
    residual, worst_block = start
    iteration = np.int64(0)
    while not residual <= target and iteration < settings.max_iterations:
        largest, merit = sweep_island(rows, islands, island, velocity, workspace, settings, step, memory)
        if not merit < math.inf:
            return fail(rows, islands, island, free_velocity, velocity)
        record(workspace, iteration, largest, merit)
        iteration += 1
        # What the sweep saw is a cheap forecast; the true residual costs as much as a sweep, so it is asked for last.
        if largest <= check_below or iteration == settings.max_iterations:
            residual, worst_block = natural_map(rows, islands, island, velocity, settings)
            check_below = _FACTOR_NEXT_CHECK * largest
    return status_of(residual, target, settings.absolute_tolerance), iteration, residual, scale, worst_block


@subkernel
def _forget_excess(rows, islands, island, excess):
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            excess[row] = 0.0
