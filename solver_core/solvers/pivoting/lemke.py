"""Lemke's method on contacts with polyhedral friction, on the full matrix of their LCP.

    w = M z + q,   z = (theta, phi, lambda),   w = (nu, sigma, gamma)        n (2 + K) variables for n contacts

M is formed, dense, from the island's rows (in the units of ``polyhedral_groups``, bilateral rows eliminated) and
solved by the plain method (``lcp.lemke_kernel``), which knows nothing of contacts. This is what ``lemke_structural``
and ``lemke_reduced`` are measured against; they solve the same problem with a fraction of the work.

Cost of a pivot: 2 n (2 + K) k for k basic z; forming M: 12 m n^2 (2 + K). Memory: 4 (n (2 + K))^2 doubles.
Statuses: as ``lemke_structural``. An iteration is a pivot.

Source: Lloyd 2004, eq. 8 and section 4.
"""

import math

import numpy as np

from ...compiled.kernel import borrowed, kernel, subkernel
from ...problem.problem import CAPACITY
from ..lcp.pivoting.lemke_basis import LemkeWorkspace
from ..lcp.pivoting.lemke_kernel import LIMIT as LCP_LIMIT
from ..lcp.pivoting.lemke_kernel import RAY as LCP_RAY
from ..lcp.pivoting.lemke_kernel import solve_lemke
from ..registry import Method, register
from ..shared.directions import copy_impulses
from ..shared.status import begin_solve, fail, status_of
from .almost_complementary import CHANGE, DRIVE, SOURCE, W, fill_speeds, fill_star, price, takes_part
from .bilateral import FIRST
from .explicit_lemke import solve_explicit
from .lemke_island import MAX_PIVOTS, MOST_DOUBLES, allocate_lemke_island, ending_of, keep_better
from .lemke_path import LIMIT, RAY, SOLVED, fill_source
from .polyhedral_groups import gather_groups, measure_island, write_impulses

# Natural map, in units of the largest speed, that ends the passes of the plain method.
_TOLERANCE_LCP = 1e-12


@kernel(allocates=True)
def solve_lemke_contacts(rows, islands, island, free_velocity, velocity, workspace, settings):
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
    if doubles_of_matrix(counts[1], settings.directions) > MOST_DOUBLES:
        return CAPACITY, 0, residual, scale, worst_block
    groups, bilateral = gather_groups(
        rows, islands, island, free_velocity, workspace.body_place, counts, settings.directions
    )
    copy_impulses(rows.block_row, islands, island, rows.impulse, workspace.best)
    z = np.zeros(counts[1] * (settings.directions + 2))
    outcome, pivots = solve_groups_densely(groups, z, settings.max_iterations)
    write_impulses(rows, islands, island, free_velocity, velocity, groups, bilateral, z)
    residual, worst_block = keep_better(
        rows, islands, island, free_velocity, velocity, workspace.best, settings, residual, worst_block
    )
    return ending_of(outcome, residual, target, settings), pivots, residual, scale, worst_block


@kernel(allocates=True)
def solve_groups_densely(groups, z, limit):
    """Form the LCP of the groups and solve it.

    Parameters
    ----------
    groups : Groups
        The solver's own columns are written.
    z : float64 [pair_count]
        Written.
    limit : int
        Pivots allowed.

    Returns
    -------
    outcome : int
        As ``lemke_path.follow_path``.
    pivots : int
    """
    groups, z = borrowed(groups), borrowed(z)
    pairs = _pairs_that_take_part(groups)
    size = pairs.size
    A, b, x = np.empty((size, size)), np.empty(size), np.zeros(size)
    _form_problem(groups, pairs, A, b)
    ending, pivots, _ = solve_lemke(size, A, b, np.zeros(0), x, _allocate(size), _TOLERANCE_LCP, limit)
    for place in range(size):
        z[pairs[place]] = x[place]
    outcome = SOLVED
    if ending == LCP_RAY:
        outcome = RAY
    elif ending == LCP_LIMIT:
        outcome = LIMIT
    return outcome, pivots


@kernel
def doubles_of_matrix(contacts, directions):
    """Memory of the plain method: M and three more of its size."""
    return 4 * (contacts * (directions + 2)) ** 2


@subkernel(allocates=True)
def _pairs_that_take_part(groups):
    """Numbers of all pairs, with all friction."""
    each, stride = groups.each, groups.angle.shape[1] + 2
    pairs = np.empty(each.size * stride, np.int64)
    count = 0
    for group in range(each.size):
        each[group]["included"] = 1
        for slot in range(stride):
            if takes_part(each, group, slot, stride):
                pairs[count] = group * stride + slot
                count += 1
    return pairs[:count]


@subkernel(allocates=True)
def _form_problem(groups, pairs, A, b):
    """M, column by column: what w becomes for a unit of one z; and q."""
    each, angle, place, jacobian = groups.each, groups.angle, groups.place, groups.jacobian
    pair_count = each.size * (angle.shape[1] + 2)
    velocity = np.empty((1, groups.response.shape[1]))
    speed = np.zeros(jacobian.shape[0] + 1)
    table = np.zeros((SOURCE + 1, pair_count + 1))
    basic = np.zeros((2, pair_count + 1), np.int64)
    for pair in range(pair_count):
        basic[W, pair] = 1
    fill_source(groups, table, SOURCE)
    for column in range(pairs.size):
        pair = pairs[column]
        fill_star(each, angle, groups.response, velocity, FIRST, pair)
        fill_speeds(place, jacobian, velocity, FIRST, speed)
        table[CHANGE, pair] = 1.0
        price(each, angle, speed, basic, table, 0.0, SOURCE, DRIVE)
        table[CHANGE, pair] = 0.0
        for row in range(pairs.size):
            A[row, column] = table[DRIVE, pairs[row]]
        b[column] = table[SOURCE, pair]


@subkernel(allocates=True)
def _allocate(size):
    """Room for the plain method, as ``lemke_basis.allocate_lemke`` gives it to Python."""
    return LemkeWorkspace(
        columns=np.empty((size + 1, size)),
        inverse=np.empty((size + 1, size)),
        factors=np.empty((size, size)),
        right_side=np.empty(size),
        value=np.empty(size),
        magnitude=np.empty(size),
        drive=np.empty(size),
        spare=np.empty(size),
        row_scale=np.empty(size),
        column_scale=np.empty(size),
        row_unit=np.empty(size),
        cover=np.empty(size),
        trial=np.empty(size),
        ray=np.empty(size),
        basis=np.empty(size, np.int64),
        place=np.empty(size, np.int64),
        slot=np.empty(size + 1, np.int64),
        tied=np.empty(size, np.int64),
        exchange=np.empty(size, np.int64),
        history=np.zeros(0),
    )


def _solve_explicit(delassus, start, friction, options):
    return solve_explicit(delassus, start, friction, options, solve_groups_densely, doubles_of_matrix)


register(
    Method(
        name="lemke",
        title="Lemke's method",
        kernel=solve_lemke_contacts,
        frictions=("polyhedral",),
        max_iterations=MAX_PIVOTS,
        source="Lloyd 2004, section 4",
        options={"directions": 8},
        allocate=allocate_lemke_island,
        explicit=_solve_explicit,
    )
)
