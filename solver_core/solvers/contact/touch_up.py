"""Some more sweeps, by whatever method an island was solved, where it was not solved to its tolerance.

In the middle of impacts a large island has no solution to the tolerance that a method could find in time, and asking
anew moves every body of it. Where only some contacts are added, projected Gauss-Seidel from the present impulses
changes little but what these ask for.
"""

import math

from ...kernel import subkernel
from ...residuals import natural_map, problem_scale
from ...rows import BOX
from .ending import fail, status_of
from .sweep import sweep_contacts, sweep_rows


@subkernel
def touch_up_island(rows, islands, island, free_velocity, velocity, change, settings, sweeps):
    """Sweep over one island.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of a solver's kernel.
    change : float64 [row_capacity]
        Workspace.
    sweeps : int

    Returns
    -------
    tuple
        (status, sweeps, residual [m/s], scale [m/s], worst block), as of a solver's kernel.
    """
    scale = problem_scale(rows, islands, island, free_velocity)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    for _ in range(sweeps):
        if settings.friction == BOX:
            sweep_rows(rows, islands, island, velocity, change, 1.0, 0.0, change)
        else:
            sweep_contacts(rows, islands, island, velocity, change, 1.0, settings.friction, settings.directions)
    residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    return status_of(residual, target, settings.absolute_tolerance), sweeps, residual, scale, worst_block
