"""Lemke's method on a dense problem, as one compiled pass: from the covering vector to a solution or a ray.

    w = A x + b + c z0,   x >= 0,   w >= 0,   z0 >= 0,   x' w = 0,        c > 0 (covering vector)

0. b >= 0: x = 0. Else z0 enters, the row with the least b_i / c_i leaves, and its x drives.
1. d = B^-1 (column of the driving variable). No d_p > 0: the variables can grow for ever along a ray; stop.
2. The row with the least value_p / d_p leaves; ties are broken lexicographically by the rows of B^-1 / d_p.
3. z0 left: solved. Else the complement of what left drives next.

The basis B holds the columns e_i of the basic w_i, -A_j of the basic x_j and -c of z0. Of B^-1 only the columns of the
nonbasic w are kept (as many as there are basic x and z0); those of the basic w are unit columns. A pivot updates them
by a rank-one product form, so it costs 2 n k where k of n variables are basic x. The residuals of B value = b and
B d = column are measured now and then, and where they grew the inverse is computed afresh.

The problem is equilibrated before: rows and columns are multiplied by positive powers of two, which keeps the LCP and
is exact. In the scaled problem the entries of A and b are of order 1, and tolerances are relative to that.

Sources: Lloyd 2004, section 4; Cottle, Pang and Stone 1992, sections 4.4 and 4.9 (lexicographic rule).
"""

import math
from typing import NamedTuple

import numpy as np

from ...kernel import kernel, subkernel
from .dense_lu import factor_lu, solve_lu

# How a pass ended.
SOLVED, RAY, LIMIT, SINGULAR = 0, 1, 2, 3

# Entries of a driving column below this share of its largest are rounding.
_TOLERANCE_PIVOT = 1e-9
# By how much a basic variable of the scaled problem may be negative, relative to the largest: what counts as zero.
_TOLERANCE_VALUE = 1e-12
# Ratios of the lexicographic rule closer than this, relative to the largest involved, are tied.
_TOLERANCE_TIE = 1e-11
# Of tied rows those whose pivot is below this share of the largest among them are not taken: they would spoil B^-1.
_RATIO_PIVOT = 1e-6
# Pivots between two measurements of the residual, and the residual from which B^-1 is computed afresh.
_CHECK_EVERY = 20
_TOLERANCE_DRIFT = 1e-11
# A pivot below this share of the column's largest entry is taken only from a fresh B^-1.
_RATIO_DOUBTFUL = 1e-5
# Passes of ``solve_lemke``, each with its own covering vector.
_ATTEMPTS = 3
# What counts as zero in the proof that a problem has no solution, relative to the ray's length.
_TOLERANCE_PROOF = 1e-9
# Its multiples modulo 1 are spread evenly.
_GOLDEN = 0.6180339887498949
# Rounds of equilibration.
_SCALING_ROUNDS = 3
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
    right_side, value, drive, spare : float64 [n]
        Scaled b; basic variables; column of the driving variable in the basis; room.
    row_scale, column_scale : float64 [n]
        Scaled A = row_scale A column_scale.
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
        Written by ``lemke_pivot``: natural map after each pivot, as far as it reaches.
    """

    columns: np.ndarray
    inverse: np.ndarray
    factors: np.ndarray
    right_side: np.ndarray
    value: np.ndarray
    drive: np.ndarray
    spare: np.ndarray
    row_scale: np.ndarray
    column_scale: np.ndarray
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
    vectors = [np.zeros(capacity) for _ in range(9)]
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


@kernel
def solve_lemke(size, A, b, cover, x, workspace, target, limit):
    """Solve an LCP: passes of Lemke's method, as many as it takes.

    A pass that ends on a ray which proves that there is no solution is the last one. One that ends without a solution
    for another reason (a ray that proves nothing, a basis spoilt by rounding) is repeated with another covering vector.

    Parameters
    ----------
    size : int
        n.
    A : float64 [n or more, n or more]
        Read.
    b : float64 [n or more]
        Read.
    cover : float64 [n or more] or [0]
        Read; covering vector, positive. Empty: ones in the equilibrated problem.
    x : float64 [n or more]
        Written: the solution, or the best of zero and where the passes ended.
    workspace : LemkeWorkspace
    target : float
        Natural map that counts as a solution.
    limit : int
        Pivots allowed in all.

    Returns
    -------
    status : int
        How the last pass ended: SOLVED, RAY, LIMIT or SINGULAR.
    pivots : int
    residual : float
        Natural map at x, max |min(x, A x + b)|.
    """
    unit = equilibrate(size, A, b, workspace)
    trial, scaled_cover = workspace.trial, workspace.cover
    residual = 0.0
    for i in range(size):
        x[i] = 0.0
        residual = max(residual, -b[i])
        scaled_cover[i] = cover[i] * workspace.row_scale[i] if cover.size > 0 else 1.0
    status, pivots = SOLVED, 0
    for attempt in range(_ATTEMPTS):
        if residual <= target:
            break
        if attempt > 0:
            _vary_cover(size, scaled_cover)
        status, pivots = lemke_pivot(size, scaled_cover, unit, trial, workspace, pivots, limit)
        error = _natural_map(size, unit, trial, workspace)
        if error < residual:
            residual = error
            for i in range(size):
                x[i] = trial[i]
        if status == LIMIT or (status == RAY and _proves_infeasible(size, workspace)):
            break
    return status, pivots, residual


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
    for i in range(size):
        row_scale[i] = 1.0
        column_scale[i] = 1.0
        for j in range(size):
            columns[j, i] = A[i, j]
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
    for j in range(size):
        column, scale = columns[j], column_scale[j]
        for i in range(size):
            column[i] *= row_scale[i] * scale
    return unit


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
    """Power of two nearest to a positive value."""
    return math.ldexp(1.0, math.floor(math.log2(value) + 0.5))


@subkernel
def _inverse_root(value):
    """Power of two near 1 / sqrt(value); 1 for zero."""
    return math.ldexp(1.0, math.floor(0.5 - 0.5 * math.log2(value))) if value > 0.0 else 1.0


@subkernel
def lemke_pivot(size, cover, unit, x, workspace, pivots, limit):
    """One pass of Lemke's method on the problem that ``equilibrate`` scaled.

    Parameters
    ----------
    size : int
        n.
    cover : float64 [n or more]
        Read; covering vector of the scaled problem, positive.
    unit : float
        From ``equilibrate``.
    x : float64 [n or more]
        Written: the solution, or where the pass ended without one; not negative.
    workspace : LemkeWorkspace
        Scaled problem read.
    pivots, limit : int
        Pivots made in earlier passes; pivots allowed in all.

    Returns
    -------
    status : int
        SOLVED, RAY (its direction is in ``ray``), LIMIT, or SINGULAR (the basis cannot be factored).
    pivots : int
        Made in all.
    """
    columns, inverse, drive, value = workspace.columns, workspace.inverse, workspace.drive, workspace.value
    basis, place, slot = workspace.basis, workspace.place, workspace.slot
    leaving = _start(size, cover, columns, workspace.right_side, value, basis, place)
    if leaving < 0:
        _write_solution(size, value, basis, workspace.column_scale, unit, x)
        return SOLVED, pivots
    z0 = 2 * size
    entering = z0
    kept = 0
    since_check = 0
    status = LIMIT
    _column_in_basis(size, kept, entering, columns, inverse, place, slot, drive)
    while pivots < limit:
        kept, left = _exchange(size, kept, entering, leaving, value, drive, inverse, basis, place, slot)
        _record(size, pivots, cover, unit, workspace)
        pivots += 1
        since_check += 1
        if left == z0 or _z0_is_zero(size, value, basis):
            status = SOLVED
            break
        entering = left - size if left >= size else left + size
        _column_in_basis(size, kept, entering, columns, inverse, place, slot, drive)
        leaving = _choose_row(size, drive, value, inverse, basis, place, workspace.tied)
        doubtful = leaving < 0 or _is_small(size, drive, leaving)
        if since_check > 0 and (doubtful or since_check >= _CHECK_EVERY):
            if doubtful or _drift(size, entering, workspace) > _TOLERANCE_DRIFT:
                if not _refactor(size, kept, workspace):
                    status = SINGULAR
                    break
                if _z0_is_zero(size, value, basis):
                    status = SOLVED
                    break
                _column_in_basis(size, kept, entering, columns, inverse, place, slot, drive)
                leaving = _choose_row(size, drive, value, inverse, basis, place, workspace.tied)
            since_check = 0
        if leaving < 0:
            _write_ray(size, entering, workspace)
            status = RAY
            break
    if status == SOLVED:
        kept = _drop_z0(size, kept, workspace)
    if kept > 0 and status != SINGULAR:
        _refine(size, kept, workspace)
    _write_solution(size, value, basis, workspace.column_scale, unit, x)
    return status, pivots


@subkernel
def _start(size, cover, columns, right_side, value, basis, place):
    """Make all w basic; the row from which z0 lifts them all, -1 where none is negative.

    The last of tied rows: the lexicographic minimum of the rows (b_i, e_i) / c_i.
    """
    least = 0.0
    for i in range(size):
        columns[size, i] = cover[i]
        value[i] = right_side[i]
        basis[i] = i
        place[i] = i
        least = min(least, value[i] / cover[i])
    if not least < 0.0:
        return -1
    leaving = -1
    for i in range(size):
        if value[i] <= (least + _TOLERANCE_VALUE) * cover[i] and value[i] < 0.0:
            leaving = i
    return leaving


@subkernel
def _column_in_basis(size, kept, entering, columns, inverse, place, slot, drive):
    """drive = B^-1 times the column of the entering variable."""
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
def _choose_row(size, drive, value, inverse, basis, place, tied):
    """Row that leaves: the least ratio value / drive, z0 first among tied ones, then the lexicographic least; or -1."""
    largest_drive, largest_value = 0.0, 1.0
    for p in range(size):
        largest_drive = max(largest_drive, abs(drive[p]))
        largest_value = max(largest_value, value[p])
    smallest_pivot = _TOLERANCE_PIVOT * largest_drive
    zero = _TOLERANCE_VALUE * largest_value
    longest = math.inf
    for p in range(size):
        if drive[p] > smallest_pivot:
            longest = min(longest, (max(value[p], 0.0) + zero) / drive[p])
    count = 0
    largest_pivot = 0.0
    for p in range(size):
        if drive[p] > smallest_pivot and value[p] <= longest * drive[p]:
            if basis[p] == 2 * size:
                return p
            tied[count] = p
            count += 1
            largest_pivot = max(largest_pivot, drive[p])
    kept_count = 0
    for t in range(count):
        if drive[tied[t]] >= _RATIO_PIVOT * largest_pivot:
            tied[kept_count] = tied[t]
            kept_count += 1
    count = kept_count
    if count > 1:
        count = _break_tie(size, count, drive, inverse, basis, place, tied)
    return tied[0] if count > 0 else -1


@subkernel
def _is_small(size, drive, leaving):
    """Whether a pivot may be made of rounding."""
    largest = 0.0
    for p in range(size):
        largest = max(largest, abs(drive[p]))
    return drive[leaving] < _RATIO_DOUBTFUL * largest


@subkernel
def _break_tie(size, count, drive, inverse, basis, place, tied):
    """Reduce ``tied`` to the row whose row of B^-1 / drive is lexicographically least; returns how many are left."""
    for i in range(size):
        if count == 1:
            return count
        row = place[i]
        if row >= 0:
            # a unit column: positive in its own row, which therefore is not the least
            kept_count = 0
            for t in range(count):
                if tied[t] != row:
                    tied[kept_count] = tied[t]
                    kept_count += 1
            count = kept_count
            continue
        column = inverse[-1 - row]
        least, largest = math.inf, 0.0
        for t in range(count):
            ratio = column[tied[t]] / drive[tied[t]]
            least = min(least, ratio)
            largest = max(largest, abs(ratio))
        limit = least + _TOLERANCE_TIE * largest
        kept_count = 0
        for t in range(count):
            if column[tied[t]] / drive[tied[t]] <= limit:
                tied[kept_count] = tied[t]
                kept_count += 1
        count = kept_count
    return count


@subkernel
def _exchange(size, kept, entering, leaving, value, drive, inverse, basis, place, slot):
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
    for p in range(size):
        value[p] -= length * drive[p]
    value[leaving] = length
    basis[leaving] = entering
    return kept, left


@subkernel
def _z0_is_zero(size, value, basis):
    """Whether z0 is basic at a value that is rounding: then x solves the problem, though the basis still holds z0."""
    largest, artificial = 1.0, math.inf
    for p in range(size):
        largest = max(largest, value[p])
        if basis[p] == 2 * size:
            artificial = value[p]
    return artificial <= _TOLERANCE_VALUE * largest


@subkernel
def _record(size, pivot, cover, unit, workspace):
    """Write the natural map after a pivot, in the units of the problem: w_i is short by c_i z0."""
    if pivot >= workspace.history.size:
        return
    artificial = 0.0
    for p in range(size):
        if workspace.basis[p] == 2 * size:
            artificial = max(workspace.value[p], 0.0)
    error = 0.0
    for i in range(size):
        row = workspace.place[i]
        reserve = workspace.value[row] if row >= 0 else 0.0
        error = max(error, (cover[i] * artificial - reserve) / workspace.row_scale[i])
    workspace.history[pivot] = error * unit


@subkernel
def _drift(size, entering, workspace):
    """Largest residual of B value = b and B drive = column, each relative to the largest number involved."""
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


@subkernel
def _refactor(size, kept, workspace):
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
            entry = spare[q]
            if entry != 0.0:
                column = columns[basis[tied[q]] - size]
                for p in range(size):
                    if basis[p] < size:
                        target[p] += entry * column[basis[p]]
        for q in range(kept):
            target[tied[q]] = spare[q]
    return True


@subkernel
def _drop_z0(size, kept, workspace):
    """Where z0 is still basic, at zero, exchange it for the w or x of the pair that is missing; columns kept then."""
    basis, place, drive = workspace.basis, workspace.place, workspace.drive
    row = -1
    for p in range(size):
        if basis[p] == 2 * size:
            row = p
    if row < 0:
        return kept
    spare = workspace.spare
    for i in range(size):
        spare[i] = 0.0 if place[i] >= 0 else 1.0
    for p in range(size):
        if basis[p] >= size and p != row:
            spare[basis[p] - size] = 0.0
    missing = 0
    for i in range(size):
        if spare[i] == 1.0:
            missing = i
    pivot_w = abs(workspace.inverse[-1 - place[missing], row])
    entering = size + missing
    _column_in_basis(size, kept, entering, workspace.columns, workspace.inverse, place, workspace.slot, drive)
    if pivot_w >= abs(drive[row]):
        entering = missing
        _column_in_basis(size, kept, entering, workspace.columns, workspace.inverse, place, workspace.slot, drive)
    if drive[row] == 0.0:
        return kept
    workspace.value[row] = 0.0
    kept, _ = _exchange(
        size, kept, entering, row, workspace.value, drive, workspace.inverse, basis, place, workspace.slot
    )
    return kept


@subkernel
def _refine(size, kept, workspace):
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
def _write_solution(size, value, basis, column_scale, unit, x):
    for j in range(size):
        x[j] = 0.0
    for p in range(size):
        if size <= basis[p] < 2 * size:
            j = basis[p] - size
            x[j] = max(value[p], 0.0) * column_scale[j] * unit


@subkernel
def _write_ray(size, entering, workspace):
    """Direction in which the scaled x grows when the driving variable does."""
    for j in range(size):
        workspace.ray[j] = 0.0
    if entering >= size:
        workspace.ray[entering - size] = 1.0
    for p in range(size):
        if size <= workspace.basis[p] < 2 * size:
            workspace.ray[workspace.basis[p] - size] = max(-workspace.drive[p], 0.0)


@subkernel
def _proves_infeasible(size, workspace):
    """Whether the ray y >= 0 has A' y <= 0 and b' y < 0: then y' (A x + b) < 0 for all x >= 0, and no w is feasible.

    For copositive-plus A every ray of Lemke's method has this property (Cottle, Pang and Stone 1992, theorem 4.4.9).
    """
    spare = workspace.spare
    length = 0.0
    for i in range(size):
        # the multiplier of a scaled row from the direction of a scaled x
        spare[i] = workspace.ray[i] * workspace.column_scale[i] / workspace.row_scale[i]
        length = max(length, spare[i])
    fall = 0.0
    for i in range(size):
        fall += workspace.right_side[i] * spare[i]
    if not fall < -_TOLERANCE_PROOF * length:
        return False
    for j in range(size):
        column = workspace.columns[j]
        total = 0.0
        for i in range(size):
            total += column[i] * spare[i]
        if not total <= _TOLERANCE_PROOF * length:
            return False
    return True


@subkernel
def _natural_map(size, unit, x, workspace):
    """max |min(x, A x + b)| in the units of the problem; infinite where that is not a number."""
    slack = workspace.spare
    for i in range(size):
        slack[i] = workspace.right_side[i]
    for j in range(size):
        entry = x[j] / (workspace.column_scale[j] * unit)
        if entry != 0.0:
            column = workspace.columns[j]
            for i in range(size):
                slack[i] += entry * column[i]
    worst = 0.0
    for i in range(size):
        error = abs(min(x[i], slack[i] * unit / workspace.row_scale[i]))
        if not error <= worst:
            worst = error
        if error != error:
            return math.inf
    return worst


@subkernel
def _vary_cover(size, cover):
    """Multiply the covering vector by numbers from 1 to 2 that follow no pattern of the problem."""
    for i in range(size):
        cover[i] *= 1.0 + (i * _GOLDEN) % 1.0
