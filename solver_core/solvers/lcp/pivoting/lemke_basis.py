"""The basis of Lemke's method: the problem it is scaled to, and B^-1, kept and updated from pivot to pivot.

    w = A x + b + c z0        B holds the columns e_i of the basic w_i, -A_j of the basic x_j, -c of z0

Of B^-1 only the columns of the nonbasic w are kept (as many as there are basic x and z0); those of the basic w are unit
columns. A pivot updates them by a rank-one product form. The residuals of B value = b and B d = column say how far they
have drifted; ``refactor`` computes them afresh from the LU factors of the core, the equations of the nonbasic w in the
basic x and z0.

The problem is equilibrated before: rows and columns are multiplied by positive powers of two, which keeps the LCP and
is exact. In the scaled problem the entries of A and b are of order 1, and tolerances are relative to that.

Cost, where k of n variables are basic x: n k a column and n k an update; k^3 + n k^2 to refactor.
"""

import math
from typing import NamedTuple

import numpy as np

from ....compiled.kernel import subkernel
from .dense_lu import factor_lu, solve_lu

# Rows that are transposed together.
_TRANSPOSED = 16
# Rounds of equilibration.
_SCALING_ROUNDS = 2
# A smaller share of the smallest pivot in the largest is a singular basis.
_RATIO_SINGULAR = 1e-15


class LemkeWorkspace(NamedTuple):
    """Room for ``lemke_pivot``; arrays may be longer than a problem needs.

    Attributes
    ----------
    columns : float64 [n + 1, n]
        The scaled A transposed, so that a column is contiguous; the covering vector in row n.
    inverse : float64 [n + 1, n]
        Columns of B^-1, one a row, of the nonbasic w in ``slot``.
    factors : float64 [n, n]
        LU factors of the basis' core.
    right_side, value, magnitude, drive, spare : float64 [n]
        Scaled b; basic variables; the largest number that made each of them, which says what is zero; column of the
        driving variable in the basis; room.
    row_scale, column_scale, row_unit : float64 [n]
        Scaled A = row_scale A column_scale; 1 / row_scale.
    cover, trial, ray : float64 [n]
        Scaled covering vector; end of a pass; direction in which x grew where a pass ended on a ray.
    basis : int64 [n]
        Variable of each row: i is w_i, n + j is x_j, 2 n is z0.
    place : int64 [n]
        Row of w_i where it is basic, else -1 - its slot.
    slot : int64 [n + 1]
        w whose column is kept in this row of ``inverse``.
    tied, exchange : int64 [n]
    history : float64 [any]
        Written by ``lemke_pivot``: natural map after pivot i at place i, as far as it reaches.
    """

    columns: np.ndarray
    inverse: np.ndarray
    factors: np.ndarray
    right_side: np.ndarray
    value: np.ndarray
    magnitude: np.ndarray
    drive: np.ndarray
    spare: np.ndarray
    row_scale: np.ndarray
    column_scale: np.ndarray
    row_unit: np.ndarray
    cover: np.ndarray
    trial: np.ndarray
    ray: np.ndarray
    basis: np.ndarray
    place: np.ndarray
    slot: np.ndarray
    tied: np.ndarray
    exchange: np.ndarray
    history: np.ndarray


def allocate_lemke(capacity: int, history: int = 0) -> LemkeWorkspace:
    """Room for problems of up to ``capacity`` variables."""
    vectors = [np.zeros(capacity) for _ in range(11)]
    return LemkeWorkspace(
        np.zeros((capacity + 1, capacity)),
        np.zeros((capacity + 1, capacity)),
        np.zeros((capacity, capacity)),
        *vectors,
        basis=np.zeros(capacity, np.int64),
        place=np.zeros(capacity, np.int64),
        slot=np.zeros(capacity + 1, np.int64),
        tied=np.zeros(capacity, np.int64),
        exchange=np.zeros(capacity, np.int64),
        history=np.zeros(history),
    )


@subkernel
def equilibrate(size, A, b, workspace):
    """Fill ``columns``, ``right_side`` and the scales: the largest entry of each row and column comes near 1.

    Parameters
    ----------
    size : int
        n.
    A : float64 [n or more, n or more]
        Read.
    b : float64 [n or more]
        Read.
    workspace : LemkeWorkspace

    Returns
    -------
    float
        Unit of the scaled x and w: a power of two near the largest |row_scale b|.
    """
    columns, row_scale, column_scale = workspace.columns, workspace.row_scale, workspace.column_scale
    row_largest, column_largest, right_side = workspace.spare, workspace.drive, workspace.right_side
    _transpose(size, A, columns)
    for i in range(size):
        row_scale[i] = 1.0
        column_scale[i] = 1.0
    for _ in range(_SCALING_ROUNDS):
        _largest_entries(size, A, row_scale, column_largest)
        _largest_entries(size, columns, column_scale, row_largest)
        for i in range(size):
            row_scale[i] *= _inverse_root(row_largest[i] * row_scale[i])
            column_scale[i] *= _inverse_root(column_largest[i] * column_scale[i])
    unit = 0.0
    for i in range(size):
        right_side[i] = row_scale[i] * b[i]
        unit = max(unit, abs(right_side[i]))
    unit = _power_of_two(unit) if unit > 0.0 else 1.0
    for i in range(size):
        right_side[i] /= unit
        workspace.row_unit[i] = 1.0 / row_scale[i]
    for j in range(size):
        column, scale = columns[j], column_scale[j]
        for i in range(size):
            column[i] *= row_scale[i] * scale
    return unit


@subkernel
def _transpose(size, A, columns):
    """A's columns, some rows of A at a time so that what is read stays in the cache."""
    for first in range(0, size, _TRANSPOSED):
        end = min(first + _TRANSPOSED, size)
        for j in range(size):
            column = columns[j]
            for i in range(first, end):
                column[i] = A[i, j]


@subkernel
def _largest_entries(size, matrix, row_scale, largest):
    """Largest |row_scale_i matrix_ij| of each column j."""
    for j in range(size):
        largest[j] = 0.0
    for i in range(size):
        row, scale = matrix[i], row_scale[i]
        for j in range(size):
            entry = abs(row[j]) * scale
            largest[j] = entry if entry > largest[j] else largest[j]


@subkernel
def _power_of_two(value):
    """Power of two from a half to one of a positive value."""
    return math.ldexp(0.5, math.frexp(value)[1])


@subkernel
def _inverse_root(value):
    """Power of two near 1 / sqrt(value); 1 for zero."""
    return math.ldexp(1.0, (1 - math.frexp(value)[1]) // 2) if value > 0.0 else 1.0


@subkernel
def column_in_basis(size, kept, entering, columns, inverse, place, slot, drive):
    """drive = B^-1 times the column of the entering variable.

    Parameters
    ----------
    size, kept : int
        Variables of the problem; columns of the inverse that are kept.
    entering : int
        Variable that enters.
    columns, inverse, place, slot, drive : arrays
        Of ``LemkeWorkspace``; ``drive`` is written.
    """
    if entering < size:
        source = inverse[-1 - place[entering]]
        for p in range(size):
            drive[p] = source[p]
        return
    column = columns[entering - size]
    for p in range(size):
        drive[p] = 0.0
    for i in range(size):
        if place[i] >= 0:
            drive[place[i]] = -column[i]
    for c in range(kept):
        factor = column[slot[c]]
        if factor != 0.0:
            source = inverse[c]
            for p in range(size):
                drive[p] -= factor * source[p]


@subkernel
def exchange(size, kept, entering, leaving, value, magnitude, drive, inverse, basis, place, slot):
    """Pivot: the entering variable takes the row ``leaving``. Returns the columns kept, and the variable that left."""
    left = basis[leaving]
    pivot = drive[leaving]
    if entering < size:
        # its column becomes a unit column: forget it, and let the last one take its slot
        gap = -1 - place[entering]
        kept -= 1
        if gap != kept:
            source, target = inverse[kept], inverse[gap]
            for p in range(size):
                target[p] = source[p]
            slot[gap] = slot[kept]
            place[slot[gap]] = -1 - gap
        place[entering] = leaving
    for c in range(kept):
        target = inverse[c]
        factor = target[leaving] / pivot
        if factor != 0.0:
            for p in range(size):
                target[p] -= factor * drive[p]
            target[leaving] = factor
    if left < size:
        target = inverse[kept]
        factor = 1.0 / pivot
        for p in range(size):
            target[p] = -factor * drive[p]
        target[leaving] = factor
        slot[kept] = left
        place[left] = -1 - kept
        kept += 1
    length = max(value[leaving] / pivot, 0.0)
    magnitude_entering = magnitude[leaving] / abs(pivot)
    for p in range(size):
        change = length * drive[p]
        value[p] -= change
        magnitude[p] = max(magnitude[p], abs(change))
    value[leaving] = length
    magnitude[leaving] = magnitude_entering
    basis[leaving] = entering
    return kept, left


@subkernel
def drift(size, entering, workspace):
    """Largest residual of B value = b and B drive = column, each relative to the largest number involved.

    Parameters
    ----------
    size, entering : int
    workspace : LemkeWorkspace
        Read; ``spare`` is written.
    """
    column = workspace.columns[entering - size if entering >= size else 0]
    spare = workspace.spare
    for i in range(size):
        spare[i] = workspace.right_side[i]
    worst = _basis_residual(size, workspace.value, workspace.columns, workspace.basis, spare)
    for i in range(size):
        spare[i] = -column[i] if entering >= size else 0.0
    if entering < size:
        spare[entering] = 1.0
    return max(worst, _basis_residual(size, workspace.drive, workspace.columns, workspace.basis, spare))


@subkernel
def _basis_residual(size, vector, columns, basis, spare):
    """Replace ``spare`` by spare - B vector; its largest entry over the largest of vector."""
    largest = 1.0
    for p in range(size):
        entry = vector[p]
        largest = max(largest, abs(entry))
        if basis[p] < size:
            spare[basis[p]] -= entry
        elif entry != 0.0:
            column = columns[basis[p] - size]
            for i in range(size):
                spare[i] += entry * column[i]
    worst = 0.0
    for i in range(size):
        worst = max(worst, abs(spare[i]))
    return worst / largest


@subkernel
def refactor(size, kept, workspace):
    """Compute B^-1 and the basic variables afresh; returns whether the basis is regular."""
    basis, inverse, columns, slot = workspace.basis, workspace.inverse, workspace.columns, workspace.slot
    tied, value, spare = workspace.tied, workspace.value, workspace.spare
    if not _factor_core(size, kept, workspace):
        return False
    for c in range(kept + 1):
        for d in range(kept):
            if c == kept:
                spare[d] = workspace.right_side[slot[d]]
            else:
                spare[d] = 1.0 if d == c else 0.0
        solve_lu(kept, workspace.factors, workspace.exchange, spare)
        target = value if c == kept else inverse[c]
        for p in range(size):
            target[p] = workspace.right_side[basis[p]] if c == kept and basis[p] < size else 0.0
        for q in range(kept):
            target[tied[q]] = spare[q]
    for q in range(kept):
        # rows of basic w: their w_i less what the basic x give it
        row, column = tied[q], columns[basis[tied[q]] - size]
        for p in range(size):
            spare[p] = column[basis[p]] if basis[p] < size else 0.0
        for c in range(kept + 1):
            target = value if c == kept else inverse[c]
            entry = target[row]
            if entry != 0.0:
                for p in range(size):
                    target[p] += entry * spare[p]
    return True


@subkernel
def refine(size, kept, workspace):
    """Solve the last basis' system afresh, with one step of iterative refinement, for the basic x."""
    basis, slot, spare, value, drive = (
        workspace.basis,
        workspace.slot,
        workspace.spare,
        workspace.value,
        workspace.drive,
    )
    if not _factor_core(size, kept, workspace):
        return
    tied = workspace.tied
    for c in range(kept):
        spare[c] = workspace.right_side[slot[c]]
    solve_lu(kept, workspace.factors, workspace.exchange, spare)
    for q in range(kept):
        drive[q] = spare[q]
    for c in range(kept):
        spare[c] = workspace.right_side[slot[c]]
    for q in range(kept):
        column = workspace.columns[basis[tied[q]] - size]
        for c in range(kept):
            spare[c] += column[slot[c]] * drive[q]
    solve_lu(kept, workspace.factors, workspace.exchange, spare)
    for q in range(kept):
        value[tied[q]] = drive[q] + spare[q]


@subkernel
def _factor_core(size, kept, workspace):
    """Factor the part of B that is not unit columns: equations of the nonbasic w, columns of basic x and z0.

    Returns whether it is regular; ``tied`` then holds the rows of those columns.
    """
    basis, tied, slot = workspace.basis, workspace.tied, workspace.slot
    count = 0
    for p in range(size):
        if basis[p] >= size:
            tied[count] = p
            count += 1
    for q in range(kept):
        column = workspace.columns[basis[tied[q]] - size]
        for c in range(kept):
            workspace.factors[c, q] = -column[slot[c]]
    return factor_lu(kept, workspace.factors, workspace.exchange) > _RATIO_SINGULAR
