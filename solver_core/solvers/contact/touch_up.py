"""Some more sweeps, by whatever method an island was solved, where it was not solved to its tolerance.

In the middle of impacts a large island has no solution to the tolerance that a method could find in time, and asking
anew moves every body of it. Where only some contacts are added, projected Gauss-Seidel from the present impulses
changes little but what these ask for.
"""

import math

from ...kernel import subkernel
from ...residuals import natural_map, problem_scale
from .ending import fail, status_of
from .parts import is_divided, lay_rows, sweep_island, take_impulses


@subkernel
def touch_up_island(rows, islands, island, free_velocity, velocity, workspace, settings, sweeps):
    """Sweep over one island.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of a solver's kernel.
    workspace : SolverWorkspace
    sweeps : int

    Returns
    -------
    tuple
        (status, sweeps, residual [m/s], scale [m/s], worst block), as of a solver's kernel.
    """
    scale = problem_scale(rows, islands, island, free_velocity)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    if is_divided(islands, island):
        laid_islands, laid_workspace = lay_rows(rows, islands, island, velocity, workspace)
        _sweep(workspace.laid, laid_islands, island, velocity, laid_workspace, settings, sweeps)
        take_impulses(rows, islands, island, workspace.laid)
    else:
        _sweep(rows, islands, island, velocity, workspace, settings, sweeps)
    residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    return status_of(residual, target, settings.absolute_tolerance), sweeps, residual, scale, worst_block


@subkernel
def _sweep(rows, islands, island, velocity, workspace, settings, sweeps):
    for _ in range(sweeps):
        sweep_island(rows, islands, island, velocity, workspace, settings, 1.0, 0.0)
