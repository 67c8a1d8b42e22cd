"""Fallback sweeps: some more sweeps over an island that was not solved to its tolerance, whatever its method.

In the middle of impacts a large island has no solution to the tolerance that a method could find in time, and a new
solve moves every body of it. If only some contacts are added, projected Gauss-Seidel from the present impulses changes
little except what these contacts require.
"""

import math

import numpy as np

from ..compiled.kernel import subkernel
from ..problem.residuals import problem_scale
from .batches.partitioned_sweep import lay_rows, residual_of, sweep_island
from .policy import RATIO_ROUGH
from .shared.status import fail, status_of


@subkernel
def sweep_as_fallback(rows, islands, island, free_velocity, velocity, workspace, settings, sweeps, most_sweeps):
    """Sweep over one island, and go on while a sweep changes it much.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of every contact solver (``registry.Method``).
    workspace : SweepWorkspace
    sweeps, most_sweeps : int
        The least number of sweeps; and the most, as long as they change a speed by more than RATIO_ROUGH of the scale.
        Never more than ``max_iterations`` of the settings.

    Returns
    -------
    tuple
        (status, sweeps, residual [m/s], scale [m/s], worst block).
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
