"""What Lemke's three methods share on an island: trivial cases before, the verdict after, the way along the path."""

import math
from typing import NamedTuple

import numpy as np

from ...compiled.kernel import bind, borrowed, kernel, subkernel
from ...problem.problem import CAPACITY, MAX_ITERATIONS, RAY_TERMINATION, ROUND_OFF
from ...problem.residuals import natural_map
from ..shared.directions import copy_impulses
from ..shared.status import begin_solve, fail, status_of
from ..shared.sweep import apply_impulses
from .almost_complementary import VALUE, Z, allocate_basis, inverse_capacity
from .bilateral import COLUMNS
from .lemke_path import LIMIT, RAY, SOLVED, follow_path, refine_solution
from .polyhedral_groups import gather_groups, measure_island, write_impulses

# An island that needs more doubles than this is refused: 512 MB.
MOST_DOUBLES = 2**26
# Times that a path is begun: after a ray, a spoilt basis or an end that misses the tolerance with all friction from the
# start, and other noise.
_ATTEMPTS = 3
# Pivots of all paths of a solve.
MAX_PIVOTS = 20_000
# A history holds no more pivots than this.
_HISTORY_LIMIT = 2000


class LemkeIslandWorkspace(NamedTuple):
    """What can be allocated before an island is known; the rest is allocated by the kernels.

    Attributes
    ----------
    body_place : int64 [body_capacity]
    best : float64 [row_capacity]
    history : float64 [any]
        Written: z0 after each pivot, times the problem's scale [m/s].
    """

    body_place: np.ndarray
    best: np.ndarray
    history: np.ndarray


def allocate_lemke_island(row_capacity: int, body_capacity: int, history: int = 0) -> LemkeIslandWorkspace:
    """Room for the direct methods."""
    return LemkeIslandWorkspace(
        body_place=np.zeros(body_capacity, np.int64),
        best=np.zeros(row_capacity),
        history=np.zeros(min(history, _HISTORY_LIMIT)),
    )


def island_solver(name: str, joins: int):
    """Kernel of a method that follows Lemke's path with the reduced inverse.

    Parameters
    ----------
    name : str
        Of the kernel.
    joins : int
        1: friction takes part contact by contact, as their theta enter; 0: from the start.
    """
    return bind(_solve_along_path, name, allocates=True, FRICTION_JOINS=np.int64(joins))


# Bound by ``island_solver``.
FRICTION_JOINS = np.int64(0)


def _solve_along_path(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Solve one island.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of every contact solver (``registry.Method``).
    workspace : LemkeIslandWorkspace

    Returns
    -------
    tuple
        (status, pivots, residual [m/s], scale [m/s], worst block).
    """
    rows, islands = borrowed(rows), borrowed(islands)
    free_velocity, velocity = borrowed(free_velocity), borrowed(velocity)
    scale, target, residual, worst_block = begin_solve(rows, islands, island, free_velocity, velocity, settings)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    if residual <= target:
        return status_of(residual, target, settings.absolute_tolerance), 0, residual, scale, worst_block
    counts = measure_island(rows, islands, island, workspace.body_place)
    if doubles_needed(counts, settings.directions) > MOST_DOUBLES:
        return CAPACITY, 0, residual, scale, worst_block
    groups, bilateral = gather_groups(
        rows, islands, island, free_velocity, workspace.body_place, counts, settings.directions
    )
    copy_impulses(rows.block_row, islands, island, rows.impulse, workspace.best)
    joins, outcome, pivots = FRICTION_JOINS, LIMIT, 0
    for attempt in range(_ATTEMPTS):
        basis = allocate_basis(groups)
        history = workspace.history[min(pivots, workspace.history.size) :]
        outcome, steps = follow_path(
            borrowed(groups), borrowed(basis), joins, settings.max_iterations - pivots, attempt + 1, history
        )
        pivots += steps
        if outcome == SOLVED:
            refine_solution(borrowed(groups), borrowed(basis))
        forget_slack(basis)
        write_impulses(rows, islands, island, free_velocity, velocity, groups, bilateral, basis.table[VALUE])
        residual, worst_block = keep_better(
            rows, islands, island, free_velocity, velocity, workspace.best, settings, residual, worst_block
        )
        if residual <= target or outcome == LIMIT:
            break
        joins = np.int64(0)
    for index in range(min(pivots, workspace.history.size)):
        workspace.history[index] *= scale
    return ending_of(outcome, residual, target, settings), pivots, residual, scale, worst_block


@kernel(allocates=True)
def solve_groups_along_path(groups, z, limit, joins):
    """Solve groups that do not come from an island.

    Parameters
    ----------
    groups : Groups
        The solver's own columns are written.
    z : float64 [pair_count]
        Written: theta, phi, lambda where the last path ended.
    limit : int
        Pivots allowed.
    joins : int
        As ``island_solver``.

    Returns
    -------
    outcome : int
        SOLVED, RAY, LIMIT or BROKEN.
    pivots : int
    """
    outcome, pivots = LIMIT, 0
    for attempt in range(_ATTEMPTS):
        basis = allocate_basis(groups)
        outcome, steps = follow_path(borrowed(groups), borrowed(basis), joins, limit - pivots, attempt + 1, np.zeros(0))
        pivots += steps
        if outcome == SOLVED:
            refine_solution(borrowed(groups), borrowed(basis))
        forget_slack(basis)
        for pair in range(z.size):
            z[pair] = basis.table[VALUE, pair]
        if outcome in (SOLVED, LIMIT):
            break
        joins = np.int64(0)
    return outcome, pivots


@subkernel
def forget_slack(basis):
    """Leave in VALUE the z alone."""
    for pair in range(basis.table.shape[1]):
        basis.table[VALUE, pair] *= basis.basic[Z, pair]


@kernel
def doubles_needed(counts, directions):
    """Memory of the groups, of the bilateral rows and of a basis.

    Parameters
    ----------
    counts : tuple of four int
        Of ``measure_island``.
    directions : int
        K.

    Returns
    -------
    int
        Float64 numbers.
    """
    velocities, groups, rows, bilateral = counts
    capacity = inverse_capacity(velocities, groups * (directions + 2))
    joints = bilateral * (2 * bilateral + velocities + COLUMNS)
    return rows * (velocities + COLUMNS) + joints + capacity * (capacity + velocities) + 10 * groups * (directions + 2)


@subkernel
def keep_better(rows, islands, island, free_velocity, velocity, best, settings, residual, worst_block):
    """Of the present impulses and ``best``, whose residual is given, keep the better ones in both places.

    Parameters
    ----------
    rows, islands, island
        ``rows.impulse`` is written.
    free_velocity, velocity : float64 [body_count, 6]
        Read; written.
    best : float64 [row_capacity]
        Read and written.
    settings : SolverSettings
    residual, worst_block
        Of ``best``.

    Returns
    -------
    residual, worst_block
        Of what was kept.
    """
    present, present_block = natural_map(rows, islands, island, velocity, settings)
    if present < residual:
        copy_impulses(rows.block_row, islands, island, rows.impulse, best)
        residual, worst_block = present, present_block
    else:
        copy_impulses(rows.block_row, islands, island, best, rows.impulse)
        apply_impulses(rows, islands, island, free_velocity, velocity)
    return residual, worst_block


@subkernel
def ending_of(outcome, residual, target, settings):
    """Status of a method whose last path ended so, with this residual."""
    status = status_of(residual, target, settings.absolute_tolerance)
    if status == MAX_ITERATIONS and outcome != LIMIT:
        status = RAY_TERMINATION if outcome == RAY else ROUND_OFF
    return status
