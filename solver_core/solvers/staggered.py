"""Staggered projections: normal impulses and friction in turn, each as a convex program, until neither changes.

With the normal rows n and the friction rows t of all contacts (Erleben 2013, eqs. 110 to 112)

    r_n <- argmin 1/2 r_n' W_nn r_n + (b_n + W_nt r_t)' r_n,   r_n >= 0
    r_t <- argmin 1/2 r_t' W_tt r_t + (b_t + W_tn r_n)' r_t,   r_t of each contact within the bound mu r_n

Rows of other kinds take part in both. A fixed point solves the whole problem. Each program is solved by sweeps of
projected Gauss-Seidel with conjugate directions laid through them (as in ``nncg``), matrix-free, to a share of the
present residual.

Nothing promises that a fixed point is reached: where friction makes normal impulses that make friction (blocks wedged
in, mu above 1, arches) the two can chase each other. After a residual that grew, friction goes only half as far
as its program says, down to an eighth; each success doubles the step again. Ends with ``stagnated`` and the best
iterate where that does not help.

Cost: O(rows) a sweep, some tens of sweeps a program, two programs an iteration.
Source: Erleben 2013, section 8; Kaufman, Sueda, James and Pai 2008. The relaxation is ours.
"""

import math
from typing import NamedTuple

import numpy as np

from ..compiled.kernel import kernel, subkernel
from ..problem.residuals import natural_map
from .linear_algebra.compact_explicit import solve_explicit_compact
from .linear_algebra.compact_rows import (
    CompactRows,
    allocate_compact_rows,
    gather_island,
    multiply,
    read_impulses,
    set_velocity,
    write_impulses,
)
from .linear_algebra.compact_sweep import FRICTION, NORMALS, compact_residual, sweep_units
from .registry import Method, register
from .shared.status import begin_solve, fail, status_of_iteration
from .shared.sweep import apply_impulses

# Sweeps a program at most, and the share of the residual, or of the tolerance, that it is solved to.
_MOST_SWEEPS = 300
_RATIO_RESIDUAL, _RATIO_TARGET = 0.02, 0.1
# Step towards the program's friction: shrinks after a residual that grew, grows after one that fell.
_SHRINKAGE, _GROWTH, _LEAST_STEP = 0.5, 2.0, 0.125
# Iterations that must bring the residual below this share of what it was.
_STALL_ITERATIONS, _STALL_RATIO = 40, 0.7


class StaggeredWorkspace(NamedTuple):
    """Room for the method; contents mean nothing between calls.

    Attributes
    ----------
    compact : CompactRows
    y, u, best, before, last, direction : float64 [row_capacity]
        Impulses, speeds, best impulses; impulses before a sweep and before a program; direction [m/s].
    history : float64 [any]
        Written: the residual after each iteration [m/s].
    """

    compact: CompactRows
    y: np.ndarray
    u: np.ndarray
    best: np.ndarray
    before: np.ndarray
    last: np.ndarray
    direction: np.ndarray
    history: np.ndarray


def allocate_staggered_workspace(row_capacity: int, body_capacity: int, history: int = 0) -> StaggeredWorkspace:
    """Room for as many rows and bodies."""
    return StaggeredWorkspace(
        compact=allocate_compact_rows(row_capacity, body_capacity),
        y=np.zeros(row_capacity),
        u=np.zeros(row_capacity),
        best=np.zeros(row_capacity),
        before=np.zeros(row_capacity),
        last=np.zeros(row_capacity),
        direction=np.zeros(row_capacity),
        history=np.zeros(history),
    )


@kernel
def solve_staggered(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Solve one island.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of every contact solver (``registry.Method``).
    workspace : StaggeredWorkspace

    Returns
    -------
    tuple
        (status, iterations, residual [m/s], scale [m/s], worst block).
    """
    scale, target, residual, worst_block = begin_solve(rows, islands, island, free_velocity, velocity, settings)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    iterations = 0
    if not residual <= target and settings.max_iterations > 0:
        compact = workspace.compact
        gather_island(rows, islands, island, free_velocity, compact)
        read_impulses(compact, rows.impulse, workspace.y)
        iterations = iterate_staggered(compact, workspace, settings, target, workspace.history)
        write_impulses(compact, workspace.best, rows.impulse)
        apply_impulses(rows, islands, island, free_velocity, velocity)
        residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    return status_of_iteration(residual, target, iterations, settings), iterations, residual, scale, worst_block


@kernel
def iterate_staggered(compact, workspace, settings, target, history):
    """Alternate from ``workspace.y`` until the residual is below ``target``; ``best`` holds the best impulses.

    Parameters
    ----------
    compact : CompactRows
        Read.
    workspace : StaggeredWorkspace
        Read and written.
    settings : SolverSettings
    target : float
        [m/s]
    history : float64 [any]
        Written: the residual after each iteration [m/s].

    Returns
    -------
    int
        Iterations done.
    """
    model, directions = settings.friction, settings.directions
    y, u = workspace.y, workspace.u
    rows = compact.count[1]
    residual = _measure(compact, model, directions, y, u)
    _copy(y, workspace.best, rows)
    least = milestone = residual
    step, iteration = 1.0, 0
    while not residual <= target and iteration < settings.max_iterations:
        if iteration > 0 and iteration % _STALL_ITERATIONS == 0:
            if least > _STALL_RATIO * milestone:
                break
            milestone = least
        accuracy = max(_RATIO_TARGET * target, _RATIO_RESIDUAL * residual)
        _solve_program(compact, workspace, NORMALS, model, directions, accuracy)
        _copy(y, workspace.last, rows)
        _solve_program(compact, workspace, FRICTION, model, directions, accuracy)
        _relax_friction(compact, workspace, step)
        before = residual
        residual = _measure(compact, model, directions, y, u)
        step = min(1.0, _GROWTH * step) if residual < before else max(_LEAST_STEP, _SHRINKAGE * step)
        if residual < least:
            least = residual
            _copy(y, workspace.best, rows)
        if iteration < history.size:
            history[iteration] = residual
        iteration += 1
    return iteration


@subkernel
def _solve_program(compact, workspace, part, model, directions, accuracy):
    """Minimise over one part of the impulses, the others kept: swept, and conjugate directions laid through."""
    y, before, direction = workspace.y, workspace.before, workspace.direction
    rows = compact.count[1]
    set_velocity(compact, y)
    last_merit = 0.0
    for sweep in range(_MOST_SWEEPS):
        _copy(y, before, rows)
        largest, merit = sweep_units(compact, part, model, directions, y)
        if largest <= accuracy:
            return
        beta = 0.0
        keep = sweep > 0 and last_merit > 0.0 and merit <= last_merit
        if keep:
            beta = merit / last_merit
        for row in range(rows):
            change = y[row] - before[row]
            along = beta * direction[row] if keep else 0.0
            y[row] += along
            # a merit that grew forgets the direction, and the sweep that made it grow
            direction[row] = along + change if keep or sweep == 0 else 0.0
        if keep:
            set_velocity(compact, y)
        last_merit = merit
    # the last direction may have left the bounds
    sweep_units(compact, part, model, directions, y)


@subkernel
def _relax_friction(compact, workspace, step):
    """Go only ``step`` of the way from the last friction to the program's."""
    if step < 1.0:
        y, last = workspace.y, workspace.last
        for unit in range(compact.count[0]):
            if compact.friction[unit] >= 0.0:
                for row in range(compact.first_row[unit] + 1, compact.first_row[unit + 1]):
                    y[row] = last[row] + step * (y[row] - last[row])


@subkernel
def _measure(compact, model, directions, y, u):
    """Residual of all rows at y."""
    multiply(compact, y, u)
    for row in range(compact.count[1]):
        u[row] += compact.offset[row]
    return compact_residual(compact, model, directions, y, u)


@subkernel
def _copy(source, target, count):
    for place in range(count):
        target[place] = source[place]


def solve_explicit(delassus, r0, friction, options):
    """Solve contacts with an explicit W; arguments and result as ``registry.Method.explicit`` says."""

    def solve(compact, settings, scale, target, y, history):
        workspace = allocate_staggered_workspace(len(y), 1)
        workspace.y[:] = y
        iterations = iterate_staggered(compact, workspace, settings, target, history)
        y[:] = workspace.best
        return iterations

    return solve_explicit_compact(delassus, r0, friction, options, solve)


register(
    Method(
        name="staggered",
        title="Staggered projections",
        kernel=solve_staggered,
        frictions=("polyhedral", "box", "cone"),
        max_iterations=200,
        source="Erleben 2013, section 8; Kaufman et al. 2008",
        options={"directions": 8},
        allocate=allocate_staggered_workspace,
        explicit=solve_explicit,
    )
)
