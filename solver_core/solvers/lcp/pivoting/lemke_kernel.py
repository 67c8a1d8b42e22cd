"""Lemke's method on a dense problem, as one compiled pass: from the covering vector to a solution or a ray.

    w = A x + b + c z0,   x >= 0,   w >= 0,   z0 >= 0,   x' w = 0,        c > 0 (covering vector)

0. b >= 0: x = 0. Else z0 enters, the row with the least b_i / c_i leaves, and its x drives.
1. d = B^-1 (column of the driving variable). No d_p > 0: the variables can grow for ever along a ray; stop.
2. The row with the least value_p / d_p leaves; ties are broken lexicographically by the rows of B^-1 / d_p.
3. z0 left: solved. Else the complement of what left drives next.

B^-1 is kept and updated (``lemke_basis``), so a pivot costs 2 n k where k of n variables are basic x. It is computed
afresh where its residual grew, where a pivot may be made of rounding and before a ray is believed. At the end the
system of the last basis is solved afresh with one step of iterative refinement.

Sources: Lloyd 2004, section 4; Cottle, Pang and Stone 1992, sections 4.4 and 4.9 (lexicographic rule).
"""

import math

from ....compiled.kernel import kernel, subkernel
from .lemke_basis import column_in_basis, drift, equilibrate, exchange, refactor, refine

# How a pass ended.
SOLVED, RAY, LIMIT, SINGULAR = 0, 1, 2, 3

# Entries of a driving column below this share of its largest are rounding.
_TOLERANCE_PIVOT = 1e-9
# By how much a basic variable of the scaled problem may be negative, relative to the largest change that it has had (at
# the start to its part of the covering vector): what counts as zero.
_TOLERANCE_VALUE = 1e-12
# Ratios of the lexicographic rule closer than this, relative to the largest involved, are tied.
_TOLERANCE_TIE = 1e-11
# Pivots between two measurements of the residual, and the residual from which B^-1 is computed afresh.
_CHECK_EVERY = 20
_TOLERANCE_DRIFT = 1e-11
# A pivot below this share of the column's largest entry is taken only from a fresh B^-1.
_RATIO_DOUBTFUL = 1e-5
# Covering vector of rows without a diagonal, such as the bounds of friction. What they bound then enters late, which
# takes 30 to 45 % fewer pivots on contacts than ones do (docs/solvers/lemke.md).
_COVER_BOUND = 0.01
# Passes of ``solve_lemke``, each with its own covering vector.
_ATTEMPTS = 3
# What counts as zero in the proof that a problem has no solution, relative to the ray's length.
_TOLERANCE_PROOF = 1e-9
# Its multiples modulo 1 are spread evenly.
_GOLDEN = 0.6180339887498949


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
        Read; covering vector, positive. Empty: in the equilibrated problem 1, and less where the diagonal is zero.
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
        if cover.size > 0:
            scaled_cover[i] = cover[i] * workspace.row_scale[i]
        else:
            scaled_cover[i] = 1.0 if workspace.columns[i, i] > 0.0 else _COVER_BOUND
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
    value, magnitude, basis, place = workspace.value, workspace.magnitude, workspace.basis, workspace.place
    leaving = _start(size, cover, workspace.columns, workspace.right_side, value, magnitude, basis, place)
    if leaving < 0:
        _write_solution(size, value, basis, workspace.column_scale, unit, x)
        return SOLVED, pivots
    z0 = 2 * size
    entering, kept, since_check = z0, 0, 0
    status = LIMIT
    _column(size, kept, entering, workspace)
    while pivots < limit:
        kept, left = _pivot(size, kept, entering, leaving, workspace)
        pivots += 1
        _record(size, pivots, cover, unit, workspace)
        since_check += 1
        if left == z0 or _z0_is_zero(size, value, magnitude, basis):
            status = SOLVED
            break
        entering = left - size if left >= size else left + size
        _column(size, kept, entering, workspace)
        leaving, doubtful = _row(size, workspace)
        if since_check > 0 and (doubtful or since_check >= _CHECK_EVERY):
            if doubtful or drift(size, entering, workspace) > _TOLERANCE_DRIFT:
                if not refactor(size, kept, workspace):
                    status = SINGULAR
                    break
                if _z0_is_zero(size, value, magnitude, basis):
                    status = SOLVED
                    break
                _column(size, kept, entering, workspace)
                leaving, doubtful = _row(size, workspace)
            since_check = 0
        if leaving < 0:
            _write_ray(size, entering, workspace)
            status = RAY
            break
    if status == SOLVED:
        kept = _drop_z0(size, kept, workspace)
    if kept > 0 and status != SINGULAR:
        refine(size, kept, workspace)
    _write_solution(size, value, basis, workspace.column_scale, unit, x)
    return status, pivots


@subkernel
def _column(size, kept, entering, workspace):
    """``drive`` = column of the entering variable in the basis."""
    column_in_basis(
        size, kept, entering, workspace.columns, workspace.inverse, workspace.place, workspace.slot, workspace.drive
    )


@subkernel
def _row(size, workspace):
    """Row that leaves, -1 where none does; and whether that is to be believed only of a fresh B^-1."""
    return _choose_row(
        size,
        workspace.drive,
        workspace.value,
        workspace.magnitude,
        workspace.inverse,
        workspace.basis,
        workspace.place,
        workspace.tied,
    )


@subkernel
def _pivot(size, kept, entering, leaving, workspace):
    """Exchange the entering variable for the one in row ``leaving``; returns the columns kept, and what left."""
    return exchange(
        size,
        kept,
        entering,
        leaving,
        workspace.value,
        workspace.magnitude,
        workspace.drive,
        workspace.inverse,
        workspace.basis,
        workspace.place,
        workspace.slot,
    )


@subkernel
def _start(size, cover, columns, right_side, value, magnitude, basis, place):
    """Make all w basic; the row from which z0 lifts them all, -1 where none is negative.

    The last of tied rows: the lexicographic minimum of the rows (b_i, e_i) / c_i.
    """
    least = 0.0
    for i in range(size):
        columns[size, i] = cover[i]
        value[i] = right_side[i]
        magnitude[i] = abs(value[i])
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
def _choose_row(size, drive, value, magnitude, inverse, basis, place, tied):
    """Row that leaves: the least ratio value / drive, z0 first among tied ones, then the lexicographic least.

    -1 where no entry of ``drive`` is positive. Second, whether that, or the pivot, may be due to rounding.
    """
    largest = 0.0
    for p in range(size):
        largest = max(largest, abs(drive[p]))
    smallest_pivot = _TOLERANCE_PIVOT * largest
    longest = math.inf
    for p in range(size):
        if drive[p] > smallest_pivot:
            longest = min(longest, (max(value[p], 0.0) + _TOLERANCE_VALUE * magnitude[p]) / drive[p])
    count = 0
    for p in range(size):
        if drive[p] > smallest_pivot and value[p] <= longest * drive[p]:
            if basis[p] == 2 * size:
                return p, drive[p] < _RATIO_DOUBTFUL * largest
            tied[count] = p
            count += 1
    if count > 1:
        count = _break_tie(size, count, drive, inverse, basis, place, tied)
    if count == 0:
        return -1, True
    return tied[0], drive[tied[0]] < _RATIO_DOUBTFUL * largest


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
def _z0_is_zero(size, value, magnitude, basis):
    """Whether z0 is basic at a value that is rounding: then x solves the problem, though the basis still holds z0."""
    for p in range(size):
        if basis[p] == 2 * size:
            return value[p] <= _TOLERANCE_VALUE * magnitude[p]
    return False


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
        # read in any case: a branch here would be guessed wrong half of the time
        reserve = workspace.value[max(row, 0)]
        if row < 0:
            reserve = 0.0
        error = max(error, (cover[i] * artificial - reserve) * workspace.row_unit[i])
    workspace.history[pivot] = error * unit


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
    _column(size, kept, entering, workspace)
    if pivot_w >= abs(drive[row]):
        entering = missing
        _column(size, kept, entering, workspace)
    if drive[row] == 0.0:
        return kept
    workspace.value[row] = 0.0
    kept, _ = _pivot(size, kept, entering, row, workspace)
    return kept


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

    For copositive-plus A every ray of Lemke's method has this property (Cottle, Pang and Stone 1992, section 4.4).
    """
    spare = workspace.spare
    length = 0.0
    for i in range(size):
        # the multiplier of a scaled row from the direction of a scaled x
        spare[i] = workspace.ray[i] * workspace.column_scale[i] * workspace.row_unit[i]
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
        error = abs(min(x[i], slack[i] * unit * workspace.row_unit[i]))
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
