"""The default: for each island the method that gets to the tolerance soonest, and a stronger one where it does not.

Newton's method (``alm_newton``) finds the forces of whatever stands, in one to some tens of factorisations, however
high the stack and however unequal the masses; conjugate gradients (``nncg``) are cheaper where few bodies touch in
passing, and where a heap is so large and so restless that the active set changes at every step. What decides was
measured on frozen steps of all ready-made scenes (``python -m benchmarks time_to_tolerance``, docs/solvers):

    start within _RATIO_SETTLED of the solution, or few contacts    Newton's method
    otherwise                                                       a few conjugate gradients first; they often do
    tolerance missed                                                Newton's method from there
    Newton's method gives up                                        conjugate gradients from its best iterate

The residual that judges them all decides, and the better iterate is kept, so a later stage never makes it worse. Each
stage but the first that was planned counts as a fallback in the report.

Ends with the status of the last stage; ``failed`` where the problem holds NaN or infinity.
"""

import math
from typing import NamedTuple

import numpy as np

from ...kernel import kernel, subkernel
from ...problem import Status
from ...residuals import natural_map, problem_scale
from ...rows import SolverSettings, SolverWorkspace, allocate_solver_workspace
from ..registry import Method, register
from .alm_newton import AlmWorkspace, allocate_alm_workspace, solve_alm_newton
from .ending import fail, status_of
from .nncg import solve_nncg
from .sweep import apply_impulses

_STAGNATED = int(Status.STAGNATED)
_MAX_ITERATIONS = int(Status.MAX_ITERATIONS)

# A start whose residual is below this share of the scale is that of bodies which rest: only details are missing.
_RATIO_SETTLED = 0.1
_SWEEPS_SETTLED = 10
_SWEEPS_RESTLESS = 20
_NEWTON_STEPS = 100


class AutoWorkspace(NamedTuple):
    """Room for both methods.

    Attributes
    ----------
    sweep : SolverWorkspace
    newton : AlmWorkspace
    kept : float64 [row_capacity]
        Impulses of an earlier stage.
    fallbacks : int64 [1]
        Written: grows by one for each stage that was not planned; never reset.
    history : float64 [0]
        Stages keep their own.
    """

    sweep: SolverWorkspace
    newton: AlmWorkspace
    kept: np.ndarray
    fallbacks: np.ndarray
    history: np.ndarray


def allocate_auto_workspace(row_capacity: int, body_capacity: int, history: int = 0) -> AutoWorkspace:
    """Room for so many rows and bodies."""
    return AutoWorkspace(
        sweep=allocate_solver_workspace(row_capacity, body_capacity, 0),
        newton=allocate_alm_workspace(row_capacity, body_capacity, 0),
        kept=np.zeros(row_capacity),
        fallbacks=np.zeros(1, np.int64),
        history=np.zeros(history),
    )


@kernel
def solve_auto(rows, islands, island, free_velocity, velocity, workspace, settings):
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
    workspace : AutoWorkspace
    settings : SolverSettings
        ``max_iterations`` holds for all stages together.

    Returns
    -------
    tuple
        (status, iterations of all stages, residual [m/s], scale [m/s], worst block).
    """
    scale = problem_scale(rows, islands, island, free_velocity)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    iterations = np.int64(0)
    if residual <= target or settings.max_iterations == 0:
        return status_of(residual, target, settings.absolute_tolerance), iterations, residual, scale, worst_block
    settled = residual <= _RATIO_SETTLED * scale
    _copy(rows, islands, island, rows.impulse, workspace.kept)
    part = _with_limit(settings, min(_SWEEPS_SETTLED if settled else _SWEEPS_RESTLESS, settings.max_iterations))
    status, done, residual, _, worst_block = solve_nncg(
        rows, islands, island, free_velocity, velocity, workspace.sweep, part
    )
    iterations += done
    if residual > target and iterations < settings.max_iterations:
        _copy(rows, islands, island, workspace.kept, rows.impulse)
        apply_impulses(rows, islands, island, free_velocity, velocity)
        part = _with_limit(settings, min(_NEWTON_STEPS, settings.max_iterations - iterations))
        status, done, residual, _, worst_block = solve_alm_newton(
            rows, islands, island, free_velocity, velocity, workspace.newton, part
        )
        iterations += done
    if residual > target and iterations < settings.max_iterations:
        workspace.fallbacks[0] += 1
        part = _with_limit(settings, settings.max_iterations - iterations)
        status, done, residual, worst_block = _sweep_on(
            rows, islands, island, free_velocity, velocity, workspace, part, residual, worst_block, status
        )
        iterations += done
    return status, iterations, residual, scale, worst_block


@subkernel
def _copy(rows, islands, island, source, target):
    """Impulses of an island."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            target[row] = source[row]


@subkernel
def _with_limit(settings, limit):
    """The same settings with another iteration limit."""
    return SolverSettings(
        settings.tolerance,
        settings.absolute_tolerance,
        limit,
        settings.friction,
        settings.directions,
        settings.relaxation,
        settings.alpha,
        settings.conjugacy,
        settings.line_search,
        settings.strategy,
        settings.warm_start_sweeps,
        settings.seed,
    )


@subkernel
def _sweep_on(rows, islands, island, free_velocity, velocity, workspace, settings, residual, worst_block, status):
    """Conjugate gradients from where Newton's method gave up; its own iterate stays where that was better."""
    _copy(rows, islands, island, rows.impulse, workspace.kept)
    swept_status, done, swept_residual, _, swept_block = solve_nncg(
        rows, islands, island, free_velocity, velocity, workspace.sweep, settings
    )
    if swept_residual <= residual:
        return swept_status, done, swept_residual, swept_block
    _copy(rows, islands, island, workspace.kept, rows.impulse)
    apply_impulses(rows, islands, island, free_velocity, velocity)
    return status, done, residual, worst_block


register(
    Method(
        name="auto",
        title="Chosen by the island",
        kernel=solve_auto,
        frictions=("cone", "box"),
        max_iterations=500,
        source="docs/solvers/auto.md",
        allocate=allocate_auto_workspace,
        fallbacks=lambda workspace: workspace.fallbacks,
    )
)
