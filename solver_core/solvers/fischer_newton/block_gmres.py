"""Restarted GMRES on the coupled units of an island, matrix-free, with a factor over the bodies as preconditioner.

    (I + G (W S - D)) y = g

D are the diagonal blocks of W S, and G has a 3 x 3 matrix a unit (``fischer_blocks``). The system is what a
block-diagonal preconditioner makes of a Newton equation. It is not symmetric, and GMRES needs the fewest products of
all Krylov methods. From the right it is preconditioned by itself, solved by a factor over the bodies
(``fischer_bodies``), which leaves rounding to GMRES; or, where there is none, by its own lower block triangle: one
forward sweep through the bodies' velocities, which costs as much as a product and halves the iterations.

Cost of iteration j of a cycle: two passes over the rows, and j + 1 inner products and updates of vectors with one
number a row. Ends at the required ratio, at the limit, or after a cycle that gained little.

Source: Saad and Schultz 1986; Saad, Iterative Methods for Sparse Linear Systems, 2003, section 9.3.2.
"""

import math

import numpy as np

from ...compiled.kernel import kernel, subkernel
from ..inner_product import dot
from ..linear_algebra.compact_rows import (
    couple_units,
    set_velocity,
    solve_forward,
)
from .fischer_bodies import FACTORED, solve_through_bodies

# Iterations of a cycle: as many as keep the basis within this many numbers, between these limits.
_BASIS_NUMBERS = 3_000_000
_LONGEST_CYCLE, _SHORTEST_CYCLE = 100, 30
# A cycle that leaves more than this share of the residual is the last.
_RATIO_STUCK = 0.9


def allocate_basis(row_capacity: int) -> np.ndarray:
    """Room for the vectors of a cycle, for up to ``row_capacity`` rows."""
    most = max(_BASIS_NUMBERS + row_capacity, (_SHORTEST_CYCLE + 1) * row_capacity)
    return np.zeros(min(most, (_LONGEST_CYCLE + 1) * row_capacity))


def allocate_hessenberg() -> np.ndarray:
    """Room for the small system of a cycle."""
    return np.zeros((_LONGEST_CYCLE + 4, _LONGEST_CYCLE + 1))


@subkernel
def cycle_length(row_count):
    """Iterations of a cycle; a function of the island alone, so that buffers that grow change no result."""
    return min(_LONGEST_CYCLE, max(_SHORTEST_CYCLE, _BASIS_NUMBERS // max(row_count, 1)))


@kernel
def solve_coupled_units(compact, gain, goal, system, ratio, limit, basis, hessenberg, work, y):
    """Solve (I + G (W S - D)) y = g until |residual| <= ratio |g|.

    Parameters
    ----------
    compact : CompactRows
        Read.
    gain : float64 [rows, 3]
        G, read.
    goal : float64 [rows]
        g, read [m/s].
    system : BodySystem
        The preconditioner, where it has a factor.
    ratio : float
    limit : int
        Most products with W.
    basis, hessenberg
        Workspace (``allocate_basis``, ``allocate_hessenberg``).
    work : float64 [rows]
        Workspace.
    y : float64 [rows]
        The start, read; written [m/s].

    Returns
    -------
    tuple of (int, float)
        Products with W, and |residual| / |g|.
    """
    rows = compact.count[1]
    goal_norm = math.sqrt(dot(goal, goal, rows))
    if not 0.0 < goal_norm < math.inf:
        for row in range(rows):
            y[row] = 0.0
        return 0, 0.0
    products = 0
    norm = last = goal_norm
    while True:
        first = basis[:rows]
        set_velocity(compact, y)
        couple_units(compact, gain, y, first)
        for row in range(rows):
            first[row] = goal[row] - first[row]
        norm = math.sqrt(dot(first, first, rows))
        if norm <= ratio * goal_norm or products >= limit or (products > 0 and not norm < _RATIO_STUCK * last):
            return products, norm / goal_norm
        last = norm
        for row in range(rows):
            first[row] /= norm
        length = min(cycle_length(rows), limit - products)
        size = _build_basis(compact, gain, system, norm, ratio * goal_norm, length, basis, hessenberg, work)
        products += size + 1
        _add_combination(compact, gain, system, size, basis, hessenberg, work, y)


@subkernel
def _build_basis(compact, gain, system, norm, target, length, basis, hessenberg, work):
    """Arnoldi's process until the residual that Givens' rotations forecast is below ``target``.

    The rows of ``hessenberg``: column j of the triangular factor in row j; the rotations' cosines and sines, and the
    rotated right side, in the last three.

    Returns
    -------
    int
        Number of basis vectors to combine.
    """
    rows = compact.count[1]
    cosine, sine, right = hessenberg[-3], hessenberg[-2], hessenberg[-1]
    right[0] = norm
    for step in range(length):
        column = hessenberg[step]
        present = basis[step * rows : (step + 1) * rows]
        following = basis[(step + 1) * rows : (step + 2) * rows]
        _precondition(compact, gain, system, present, work)
        couple_units(compact, gain, work, following)
        before = math.sqrt(dot(following, following, rows))
        for place in range(step + 1):
            vector = basis[place * rows : (place + 1) * rows]
            share = dot(vector, following, rows)
            column[place] = share
            for row in range(rows):
                following[row] -= share * vector[row]
        height = math.sqrt(dot(following, following, rows))
        for place in range(step):
            upper, lower = column[place], column[place + 1]
            column[place] = cosine[place] * upper + sine[place] * lower
            column[place + 1] = cosine[place] * lower - sine[place] * upper
        radius = math.hypot(column[step], height)
        if not radius > 0.0:
            return step
        cosine[step], sine[step] = column[step] / radius, height / radius
        column[step] = radius
        if step + 1 < right.size:
            right[step + 1] = -sine[step] * right[step]
        right[step] *= cosine[step]
        forecast = abs(sine[step]) * norm
        norm = forecast
        # a direction that is rounding alone ends the basis: the solution lies in it
        if forecast <= target or height <= _RATIO_ROUNDING * before:
            return step + 1
        for row in range(rows):
            following[row] /= height
    return length


# Share of a vector that the subtraction of its projections leaves as rounding.
_RATIO_ROUNDING = 1e-14


@subkernel
def _add_combination(compact, gain, system, size, basis, hessenberg, work, y):
    """y += P^-1 V c with the triangular system's solution c, V the basis, P the preconditioner."""
    rows = compact.count[1]
    right = hessenberg[-1]
    for step in range(size - 1, -1, -1):
        total = right[step]
        for later in range(step + 1, size):
            total -= hessenberg[later, step] * right[later]
        right[step] = total / hessenberg[step, step]
    combination = basis[:rows]
    for row in range(rows):
        combination[row] *= right[0]
    for step in range(1, size):
        vector = basis[step * rows : (step + 1) * rows]
        for row in range(rows):
            combination[row] += right[step] * vector[row]
    _precondition(compact, gain, system, combination, work)
    for row in range(rows):
        y[row] += work[row]


@subkernel
def _precondition(compact, gain, system, t, z):
    """Solve for t nearly; afterwards ``compact.velocity`` holds Y z."""
    if system.count[FACTORED] == 1:
        solve_through_bodies(compact, system, t, z)
        set_velocity(compact, z)
    else:
        solve_forward(compact, gain, t, z)
