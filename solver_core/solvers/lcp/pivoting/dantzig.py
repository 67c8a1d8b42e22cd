"""Dantzig's principal pivoting in Baraff's incremental form, for symmetric positive semi-definite A.

    w = A x + b,   x >= 0,   w >= 0,   x' w = 0

Indices are taken up one by one. Those already taken up are either active (w_i = 0, x_i >= 0; the set C) or free
(x_i = 0, w_i >= 0), and stay complementary while the next one, j with the most negative w_j, is driven:

    dx_j = 1,   dx_C = -A_CC^-1 A_Cj,   dw = A_:j + A_:C dx_C,   dw_j = A_jj - A_jC A_CC^-1 A_Cj = s

The step ends at the first of: w_j = 0 (j becomes active, done), an active x_k = 0 (k becomes free), a free w_k = 0
(k becomes active); after the latter two j is driven on. The Cholesky factor L of A_CC gets a row appended or removed
(Givens rotations), so a pivot costs k^2 for it and n k for dw, where k indices are active.

Where A is singular, s = 0 says that column j depends on those of C. Then dw = 0: the step runs along the null space to
the first active x_k that vanishes, and without k the column is independent. Where none vanishes there is no solution:
y = dx >= 0 has A y = 0 and b' y = w_j < 0. A free k that stops a step has a positive s of its own, so A_CC is always
regular. s < 0 shows an indefinite A.

Statuses: ``ray_termination`` (no solution), ``failed`` (A is indefinite), ``max_iterations``, ``round_off``, each with
the best iterate. An iteration is a pivot.

Source: Erleben 2013, section 5.1.1 (the signs of its dw_j are corrected here); Baraff 1994; Chang and Cottle 1980 (the
least index among ties).
"""

import math
from typing import NamedTuple

import numpy as np

from ....compiled.kernel import kernel, subkernel
from ....problem.problem import Status
from ....problem.residuals import measure_lcp
from ...inner_product import dot
from ...registry import LcpMethod, register
from .active_factor import TOLERANCE_DEPENDENT, append_row, factor_anew, remove_row, solve_lower, solve_upper

# How the kernel ended.
_SOLVED, _RAY, _LIMIT, _INDEFINITE = 0, 1, 2, 3

# All relative to the problem scaled to A_ii near 1 and |b| near 1.
# A w that is negative by less than this, times the largest x, is zero.
_TOLERANCE_VALUE = 1e-13
# A w that no step can change and that is negative by less than this is rounding, not a proof of infeasibility.
_TOLERANCE_PROOF = 1e-9
# Changes below this share of the largest do not block a step.
_TOLERANCE_CHANGE = 1e-13
# Steps closer than this are tied.
_TOLERANCE_TIE = 1e-12
# Residual of A_CC x_C = -b_C, times the largest x, from which L is computed afresh.
_TOLERANCE_DRIFT = 1e-11
# Indices taken up between two recomputations of x and w.
_REFRESH_EVERY = 10
# Sweeps over indices that rounding left violated.
_SWEEPS = 3

# The history holds no more pivots than this.
_HISTORY_LIMIT = 100_000


class DantzigWorkspace(NamedTuple):
    """Room for ``solve_dantzig``.

    Attributes
    ----------
    matrix : float64 [n, n]
        Scaled A, D A D with powers of two in D.
    factor : float64 [n, n]
        L by rows, in the order of ``active``.
    scale, right_side : float64 [n]
        D; scaled b.
    value, slack : float64 [n]
        Scaled x and w.
    step, change, solved : float64 [n]
        dx of the active, in their order; dw; room.
    active : int64 [n]
        The active indices in the order of L's rows.
    place : int64 [n]
        Row of L of an index; -1 where it is not active.
    taken : int64 [n]
        1 where an index has been taken up, 2 where its w is not to block the present step.
    history : float64 [any]
        Written: natural map after each pivot, as far as it reaches.
    """

    matrix: np.ndarray
    factor: np.ndarray
    scale: np.ndarray
    right_side: np.ndarray
    value: np.ndarray
    slack: np.ndarray
    step: np.ndarray
    change: np.ndarray
    solved: np.ndarray
    active: np.ndarray
    place: np.ndarray
    taken: np.ndarray
    history: np.ndarray


def allocate_dantzig(size: int, history: int = 0) -> DantzigWorkspace:
    """Room for a problem of ``size`` variables."""
    vectors = [np.zeros(size) for _ in range(7)]
    indices = [np.zeros(size, np.int64) for _ in range(3)]
    return DantzigWorkspace(np.zeros((size, size)), np.zeros((size, size)), *vectors, *indices, np.zeros(history))


def solve_lcp_dantzig(lcp, x0, options):
    """Solve by Dantzig's method; ``x0`` is returned where it is a solution, and is not used otherwise.

    Parameters
    ----------
    lcp : LCP
        Symmetric.
    x0 : float64 [n]
    options : SolverOptions

    Returns
    -------
    tuple
        (x, status, iterations, history, merit history, which is empty).
    """
    target = max(options.tolerance * lcp.scale, options.absolute_tolerance)
    given = measure_lcp(lcp, x0).natural_map if x0.any() else math.inf
    if given <= target:
        return x0, _status(given, lcp.scale, _SOLVED, options), 0, np.array([given]), np.zeros(0)
    workspace = allocate_dantzig(lcp.size, min(options.max_iterations, _HISTORY_LIMIT))
    x = np.zeros(lcp.size)
    ending, pivots, residual = solve_dantzig(lcp.dense, lcp.b, x, workspace, target, options.max_iterations)
    history = np.concatenate([[np.max(-lcp.b, initial=0.0)], workspace.history[:pivots]])
    if given < residual:
        x, residual = x0, given
    history[-1] = residual
    return x, _status(residual, lcp.scale, ending, options), pivots, history, np.zeros(0)


def _status(residual, scale, ending, options) -> Status:
    if residual <= options.absolute_tolerance:
        return Status.CONVERGED_ABSOLUTE
    if residual <= options.tolerance * scale:
        return Status.CONVERGED_RELATIVE
    endings = {_RAY: Status.RAY_TERMINATION, _LIMIT: Status.MAX_ITERATIONS, _INDEFINITE: Status.FAILED}
    return endings.get(ending, Status.ROUND_OFF)


@kernel
def solve_dantzig(A, b, x, workspace, target, limit):
    """Solve an LCP with a symmetric positive semi-definite A.

    Parameters
    ----------
    A : float64 [n, n]
        Read.
    b : float64 [n]
        Read.
    x : float64 [n]
        Written: the solution, or the best iterate.
    workspace : DantzigWorkspace
    target : float
        Natural map that counts as a solution.
    limit : int
        Pivots allowed.

    Returns
    -------
    status : int
        _SOLVED, _RAY, _LIMIT or _INDEFINITE.
    pivots : int
    residual : float
        Natural map at x.
    """
    unit = _scale_problem(A, b, workspace)
    x[:] = 0.0
    residual = _natural_map(unit, workspace)
    count, pivots, status = 0, 0, _SOLVED
    for _ in range(_SWEEPS):
        workspace.taken[:] = 0
        since_refresh = 0
        while status == _SOLVED:
            driven = _most_violated(workspace)
            if since_refresh > 0 and (driven < 0 or since_refresh >= _REFRESH_EVERY):
                count = _refresh(count, workspace)
                since_refresh = 0
                continue
            if driven < 0:
                break
            workspace.taken[driven] = 1
            status, count, pivots = _drive(driven, count, pivots, limit, unit, workspace)
            since_refresh += 1
            residual = _keep_better(residual, unit, x, workspace)
        count = _refresh(count, workspace)
        residual = _keep_better(residual, unit, x, workspace)
        if residual <= target or status != _SOLVED:
            break
    return status, pivots, residual


@subkernel
def _scale_problem(A, b, workspace):
    """Fill the scaled problem, with A_ii from 1/2 to 2, and start at x = 0; returns the unit of the scaled w."""
    size = b.size
    scale = workspace.scale
    unit = 0.0
    for i in range(size):
        scale[i] = math.ldexp(1.0, (1 - math.frexp(A[i, i])[1]) // 2) if A[i, i] > 0.0 else 1.0
        unit = max(unit, scale[i] * abs(b[i]))
    unit = math.ldexp(0.5, math.frexp(unit)[1]) if unit > 0.0 else 1.0
    for i in range(size):
        for j in range(size):
            workspace.matrix[i, j] = A[i, j] * (scale[i] * scale[j])
        workspace.right_side[i] = scale[i] * b[i] / unit
        workspace.slack[i] = workspace.right_side[i]
        workspace.value[i] = 0.0
        workspace.place[i] = -1
    return unit


@subkernel
def _natural_map(unit, workspace):
    """max |min(x, w)| in the units of the problem."""
    worst = 0.0
    for i in range(workspace.value.size):
        error = min(workspace.value[i] * workspace.scale[i], workspace.slack[i] / workspace.scale[i])
        worst = max(worst, abs(error))
    return worst * unit


@subkernel
def _zero_of(values):
    """What counts as zero beside these x."""
    largest = 1.0
    for value in values:
        largest = max(largest, value)
    return _TOLERANCE_VALUE * largest


@subkernel
def _most_violated(workspace):
    """Index with the most negative w among those not taken up; -1 where none is negative."""
    least, driven = -_zero_of(workspace.value), -1
    for i in range(workspace.slack.size):
        if workspace.taken[i] == 0 and workspace.place[i] < 0 and workspace.slack[i] < least:
            least = workspace.slack[i]
            driven = i
    return driven


@subkernel
def _drive(driven, count, pivots, limit, unit, workspace):
    """Drive index ``driven`` until its w is zero; returns (status, active indices, pivots)."""
    place, taken = workspace.place, workspace.taken
    fresh = False
    while pivots < limit:
        curvature = _directions(driven, count, workspace)
        length, blocking = _longest_step(driven, count, curvature, workspace)
        if curvature < -TOLERANCE_DEPENDENT or blocking < 0:
            if workspace.slack[driven] > -_TOLERANCE_PROOF:
                return _SOLVED, count, pivots
            if fresh:
                return (_RAY if _is_null(count, curvature, workspace) else _INDEFINITE), count, pivots
            count = factor_anew(count, workspace)
            fresh = True
            continue
        fresh = False
        entering = place[blocking] < 0
        if entering and not append_row(blocking, count, workspace):
            # its column depends on the active ones, so its w cannot change: what looked like a change was rounding
            taken[blocking] = 2
            continue
        _take_step(driven, length, count, workspace)
        if entering:
            active_count = count + 1
            place[blocking] = count
            workspace.active[count] = blocking
            workspace.slack[blocking] = 0.0
        else:
            active_count = count - 1
            remove_row(place[blocking], count, workspace)
            workspace.value[blocking] = 0.0
        count = active_count
        for i in range(taken.size):
            taken[i] = min(taken[i], 1)
        if pivots < workspace.history.size:
            workspace.history[pivots] = _natural_map(unit, workspace)
        pivots += 1
        if blocking == driven:
            return _SOLVED, count, pivots
    return _LIMIT, count, pivots


@subkernel
def _directions(driven, count, workspace):
    """Fill ``step`` (dx of the active) and ``change`` (dw); returns s = dw of the driven index."""
    matrix, active, step, change = workspace.matrix, workspace.active, workspace.step, workspace.change
    column = matrix[driven]
    for c in range(count):
        step[c] = -column[active[c]]
    solve_lower(count, workspace.factor, step)
    curvature = column[driven] - dot(step, step, count)
    solve_upper(count, workspace.factor, step)
    for i in range(change.size):
        change[i] = column[i]
    for c in range(count):
        row, factor = matrix[active[c]], step[c]
        if factor != 0.0:
            for i in range(change.size):
                change[i] += factor * row[i]
    return curvature


@subkernel
def _longest_step(driven, count, curvature, workspace):
    """Length of the step, and the index that stops it; -1 where nothing does.

    Among tied ones the driven index comes first, then the least index.
    """
    active, value, slack, step, change = (
        workspace.active,
        workspace.value,
        workspace.slack,
        workspace.step,
        workspace.change,
    )
    length, blocking = math.inf, -1
    moves = curvature > TOLERANCE_DEPENDENT
    if moves:
        length, blocking = -slack[driven] / curvature, driven
    largest = 1.0
    for c in range(count):
        largest = max(largest, abs(step[c]))
    for c in range(count):
        if step[c] < -_TOLERANCE_CHANGE * largest:
            k = active[c]
            length, blocking = _shorter(length, blocking, max(value[k], 0.0) / -step[c], k, driven)
    if moves:
        for k in range(slack.size):
            if workspace.taken[k] == 1 and workspace.place[k] < 0 and change[k] < -_TOLERANCE_CHANGE * largest:
                length, blocking = _shorter(length, blocking, max(slack[k], 0.0) / -change[k], k, driven)
    return length, blocking


@subkernel
def _shorter(length, blocking, other_length, other, driven):
    """The shorter of two steps and its index; of tied ones the driven index, else the smaller."""
    tie = _TOLERANCE_TIE * length if length < math.inf else 0.0
    if other_length < length - tie:
        return other_length, other
    if other_length <= length + tie and other != driven and blocking != driven and other < blocking:
        return min(length, other_length), other
    return length, blocking


@subkernel
def _is_null(count, curvature, workspace):
    """Whether the step changes no w, as one with s = 0 does where A is positive semi-definite."""
    largest = 1.0
    for c in range(count):
        largest = max(largest, abs(workspace.step[c]))
    if curvature < -TOLERANCE_DEPENDENT:
        return False
    for i in range(workspace.change.size):
        # |s_ij| <= sqrt(s_ii s_jj), and s_jj is known to TOLERANCE_DEPENDENT only
        if abs(workspace.change[i]) > 2.0 * math.sqrt(TOLERANCE_DEPENDENT) * largest:
            return False
    return True


@subkernel
def _take_step(driven, length, count, workspace):
    """Move x and w; w of the active stays zero."""
    for c in range(count):
        workspace.value[workspace.active[c]] += length * workspace.step[c]
    workspace.value[driven] += length
    for i in range(workspace.slack.size):
        if workspace.place[i] < 0:
            workspace.slack[i] += length * workspace.change[i]


@subkernel
def _refresh(count, workspace):
    """Refine x of the active and recompute w, so that errors do not add up; returns how many are active.

    L is computed afresh where the residual says that its updates have spoilt it.
    """
    active, value, slack, solved = workspace.active, workspace.value, workspace.slack, workspace.solved
    _recompute_slack(workspace)
    if _largest_active_slack(count, workspace) > _TOLERANCE_DRIFT / _TOLERANCE_VALUE * _zero_of(value):
        count = factor_anew(count, workspace)
    for c in range(count):
        solved[c] = -slack[active[c]]
    solve_lower(count, workspace.factor, solved)
    solve_upper(count, workspace.factor, solved)
    for c in range(count):
        value[active[c]] = max(value[active[c]] + solved[c], 0.0)
    _recompute_slack(workspace)
    return count


@subkernel
def _recompute_slack(workspace):
    """w = A x + b."""
    slack = workspace.slack
    for i in range(slack.size):
        slack[i] = workspace.right_side[i]
    for j in range(slack.size):
        entry = workspace.value[j]
        if entry != 0.0:
            row = workspace.matrix[j]
            for i in range(slack.size):
                slack[i] += entry * row[i]


@subkernel
def _largest_active_slack(count, workspace):
    largest = 0.0
    for c in range(count):
        largest = max(largest, abs(workspace.slack[workspace.active[c]]))
    return largest


@subkernel
def _keep_better(residual, unit, x, workspace):
    """Copy the present iterate to x where its natural map is smaller; returns the smaller one."""
    error = _natural_map(unit, workspace)
    if not error < residual:
        return residual
    for i in range(x.size):
        x[i] = workspace.value[i] * workspace.scale[i] * unit
    return error


def _objection(lcp):
    """Why Dantzig's method cannot solve this problem; None where it may."""
    if not lcp.is_symmetric:
        return "A is not symmetric"
    worst = int(np.argmin(lcp.diagonal)) if lcp.size else 0
    if lcp.size and lcp.diagonal[worst] < 0.0:
        return f"A has {lcp.diagonal[worst]} on its diagonal at {worst}, so it is not positive semi-definite"
    return None


register(
    LcpMethod(
        name="dantzig",
        title="Dantzig's principal pivoting, as Baraff has it",
        function=solve_lcp_dantzig,
        suits="symmetric positive semi-definite A up to some thousand variables: contacts without friction",
        max_iterations=lambda lcp: 1000 + 50 * lcp.size,
        source="Erleben 2013, section 5.1.1; Baraff 1994",
        tolerance=1e-10,
        requires=_objection,
    )
)
