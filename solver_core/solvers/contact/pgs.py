"""Projected Gauss-Seidel on the boxed complementarity problem, matrix-free.

Repeats one sweep over the rows until the natural map is below the tolerance. Cost of an iteration: one sweep.
Converges linearly, and slowly where long chains of bodies lean on each other (the error travels one body a sweep).
Ends with ``max_iterations`` then; ``failed`` only where the problem holds NaN or infinity.

Source: Erleben 2013, section 5.2; Silcowitz-Hansen et al. 2010, section 3.
"""

import math

from ...kernel import kernel
from ...residuals import natural_map, problem_scale
from ..registry import Method, register
from .ending import fail, status_of
from .sweep import sweep_rows


@kernel
def solve_pgs(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Solve one island.

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

    Returns
    -------
    tuple
        (status, iterations, residual [m/s], scale [m/s], worst block).
    """
    scale = problem_scale(rows, islands, island, free_velocity)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    iteration = 0
    while not residual <= target and iteration < settings.max_iterations:
        largest, _ = sweep_rows(rows, islands, island, velocity, workspace.change)
        if iteration < workspace.history.size:
            workspace.history[iteration] = largest
        iteration += 1
        # What the sweep saw is a cheap forecast; the true residual costs as much as a sweep, so it is asked for last.
        if largest <= target or iteration == settings.max_iterations:
            residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    return status_of(residual, target, settings.absolute_tolerance), iteration, residual, scale, worst_block


register(
    Method(
        name="pgs",
        title="Projected Gauss-Seidel",
        kernel=solve_pgs,
        frictions=("box",),
        max_iterations=1000,
        source="Erleben 2013, section 5.2",
    )
)
