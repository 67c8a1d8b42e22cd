"""Some more sweeps, by whatever method an island was solved, where it was not solved to its tolerance.

In the middle of impacts a large island has no solution to the tolerance that a method could find in time, and asking
anew moves every body of it. Where only some contacts are added, projected Gauss-Seidel from the present impulses
changes little but what these ask for.
"""

import math

import numpy as np

from ...kernel import subkernel
from ...residuals import problem_scale
from .ending import fail, status_of
from .parts import lay_rows, residual_of, sweep_island

# Bodies that fly about need no smaller residual than this share of the scale; a larger one is that of a hit.
RATIO_ROUGH = 1e-2


@subkernel
def touch_up_island(rows, islands, island, free_velocity, velocity, workspace, settings, sweeps, most_sweeps):
    """Sweep over one island, and on while a sweep changes it roughly.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of a solver's kernel.
    workspace : SolverWorkspace
    sweeps, most_sweeps : int
        How many there are at least; and at most, as long as they change a speed by more than RATIO_ROUGH of the scale.
        No more than ``max_iterations`` of the settings.

    Returns
    -------
    tuple
        (status, sweeps, residual [m/s], scale [m/s], worst block), as of a solver's kernel.
    """
    scale = problem_scale(rows, islands, island, free_velocity)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    rough = RATIO_ROUGH * scale
    sweeps, most_sweeps = min(sweeps, settings.max_iterations), min(most_sweeps, settings.max_iterations)
    lay_rows(rows, islands, island, velocity, workspace)
    done, largest = np.int64(0), math.inf
    while done < sweeps or (done < most_sweeps and largest > rough):
        largest, _ = sweep_island(rows, islands, island, velocity, workspace, settings, 1.0, 0.0)
        done += 1
    residual, worst_block = residual_of(rows, islands, island, velocity, workspace, settings)
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    return status_of(residual, target, settings.absolute_tolerance), done, residual, scale, worst_block
