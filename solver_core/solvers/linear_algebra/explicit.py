"""pgs, psor and nncg on contacts with an explicit W: u = W r + b, rows normal, tangent, tangent of each contact.

One sweep goes over the contacts; a contact's 3 x 3 block of W is solved as ``sweep.sweep_contacts`` does, the normal
row first, and the speeds of its rows come from W's rows in full, so a sweep costs one product W r. W is used as it is:
no symmetry is assumed, and rank-deficient W have many solutions r, of which one is found.

nncg as in ``nncg``, with vectors of impulses only. Ends as on rows; ``failed``, with the iterate after the calmest
sweep, where the impulses grow beyond what doubles hold.
"""

import math
from typing import NamedTuple

import numpy as np

from ...compiled.kernel import kernel, subkernel
from ...problem.friction import project_friction, visit_friction
from ...problem.problem import FAILED, POLAK_RIBIERE, kernel_settings
from ...problem.residuals import explicit_natural_map, explicit_scale
from ...problem.rows import BOX_FRICTION
from ..shared.limits import FACTOR_NEXT_CHECK
from ..shared.status import status_of, step_is_too_long


class ExplicitArrays(NamedTuple):
    """Contacts with an explicit W, as kernels read them.

    Attributes
    ----------
    indptr, indices : int64
    data : float64
        W in compressed rows.
    diagonal, b : float64 [3 contacts]
    friction : float64 [contacts]
    coupling : float64 [contacts, 2]
        W between each contact's two friction rows, above and below the diagonal.
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    diagonal: np.ndarray
    b: np.ndarray
    friction: np.ndarray
    coupling: np.ndarray


def solve_explicit(delassus, start, friction, options, conjugate):
    """Solve contacts with an explicit W.

    Parameters
    ----------
    delassus : Delassus
    start : float64 [3 contacts]
        Impulses to begin with [N s].
    friction : {"box", "cone", "polyhedral"}
    options : SolverOptions
        Complete.
    conjugate : bool
        nncg; else Gauss-Seidel with ``options.relaxation``.

    Returns
    -------
    tuple
        (r, status, iterations, residual, scale, worst contact, history), as ``registry.Method.explicit``.
    """
    scale = explicit_scale(delassus.b)
    settings = kernel_settings(options, friction)
    history = np.zeros(settings.max_iterations)
    r = start.copy()
    status, iterations, residual, worst_contact = sweep_explicit_until_solved(
        explicit_arrays(delassus), r, np.zeros((5, len(r))), scale, settings, conjugate, history
    )
    return r, status, iterations, residual, scale, worst_contact, history[:iterations]


def explicit_arrays(delassus) -> ExplicitArrays:
    """W and b of a ``Delassus`` for kernels."""
    matrix = delassus.matrix
    first = np.arange(1, len(delassus.b), 3)
    coupling = np.zeros((len(first), 2))
    if len(first):
        coupling[:, 0] = np.ravel(matrix[first, first + 1])
        coupling[:, 1] = np.ravel(matrix[first + 1, first])
    return ExplicitArrays(
        indptr=matrix.indptr.astype(np.int64),
        indices=matrix.indices.astype(np.int64),
        data=matrix.data,
        diagonal=np.array(matrix.diagonal(), float),
        b=delassus.b,
        friction=delassus.friction,
        coupling=coupling,
    )


@kernel(allocates=True)
def sweep_explicit_until_solved(problem, r, work, scale, settings, conjugate, history):
    """Repeat sweeps, with conjugate directions or without, until the natural map is below the tolerance.

    Parameters
    ----------
    problem : ExplicitArrays
        Read.
    r : float64 [3 contacts]
        The start; written [N s].
    work : float64 [5, 3 contacts]
        Workspace.
    scale : float
        Of the problem [m/s].
    settings : SolverSettings
    conjugate : bool
        nncg.
    history : float64 [max_iterations]
        Written.

    Returns
    -------
    tuple
        (status, iterations, residual [m/s], worst contact).
    """
    change, last_change, direction, best, before = work[0], work[1], work[2], work[3], work[4]
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    check_below = target
    residual, worst_contact = _natural_map(problem, r, settings)
    least_seen = math.inf
    best[:] = r
    last_merit, slope, step = 0.0, 0.0, 1.0
    iteration = 0
    while not residual <= target and iteration < settings.max_iterations:
        before[:] = r
        largest, merit = sweep_explicit(problem, r, change, settings)
        if not merit < math.inf:
            # a W that is not positive semidefinite can let the impulses grow without end
            r[:] = best
            residual, worst_contact = _natural_map(problem, r, settings)
            return FAILED, iteration, residual, worst_contact
        history[iteration] = largest
        iteration += 1
        if largest < least_seen:
            least_seen = largest
            best[:] = r
        if largest <= check_below:
            residual, worst_contact = _natural_map(problem, r, settings)
            check_below = FACTOR_NEXT_CHECK * largest
        if not conjugate or residual <= target or iteration == settings.max_iterations:
            continue
        if settings.line_search == 1 and step_is_too_long(merit, last_merit, slope, step):
            step *= 0.5
            r[:] = before - step * direction
            continue
        beta = _conjugacy(problem.diagonal, change, last_change, settings.conjugacy, merit, last_merit)
        if beta < 0.0:
            direction[:] = 0.0
        else:
            r += beta * direction
            direction[:] = beta * direction + change
        slope = -np.sum(problem.diagonal * change * direction)
        last_change[:] = change
        step, last_merit = 1.0, merit
    if iteration > 0 and residual > target:
        residual, worst_contact = _take_better(problem, r, best, settings)
    return status_of(residual, target, settings.absolute_tolerance), iteration, residual, worst_contact


@subkernel
def _natural_map(problem, r, settings):
    return explicit_natural_map(
        problem.indptr,
        problem.indices,
        problem.data,
        problem.b,
        problem.friction,
        r,
        settings.friction,
        settings.directions,
    )


@subkernel
def sweep_explicit(problem, r, change, settings):
    """Sweep once over the contacts; ``r`` and ``change`` are written.

    Parameters
    ----------
    problem : ExplicitArrays
        Read.
    r, change : float64 [3 contacts]
        Written [N s].
    settings : SolverSettings

    Returns
    -------
    largest, merit : float
        As in ``sweep.sweep_rows``.
    """
    largest = 0.0
    merit = 0.0
    relaxation = settings.relaxation
    for contact in range(problem.friction.size):
        row = 3 * contact
        w0, w1, w2 = problem.diagonal[row], problem.diagonal[row + 1], problem.diagonal[row + 2]
        old_0, old_1, old_2 = r[row], r[row + 1], r[row + 2]
        if w0 > 0.0:
            r[row] = max(old_0 - relaxation * _speed(problem, r, row) / w0, 0.0)
        bound = problem.friction[contact] * max(r[row], 0.0)
        if settings.friction == BOX_FRICTION:
            if w1 > 0.0:
                r[row + 1] = min(bound, max(-bound, old_1 - relaxation * _speed(problem, r, row + 1) / w1))
            if w2 > 0.0:
                r[row + 2] = min(bound, max(-bound, old_2 - relaxation * _speed(problem, r, row + 2) / w2))
        elif bound == 0.0:
            r[row + 1], r[row + 2] = 0.0, 0.0
        elif max(w1, w2) > 0.0:
            new_1, new_2 = visit_friction(
                settings.friction,
                settings.directions,
                bound,
                w1,
                problem.coupling[contact, 0],
                problem.coupling[contact, 1],
                w2,
                _speed(problem, r, row + 1),
                _speed(problem, r, row + 2),
                old_1,
                old_2,
            )
            if relaxation != 1.0:
                new_1, new_2 = project_friction(
                    settings.friction,
                    settings.directions,
                    bound,
                    old_1 + relaxation * (new_1 - old_1),
                    old_2 + relaxation * (new_2 - old_2),
                )
            r[row + 1], r[row + 2] = new_1, new_2
        for place, old in ((row, old_0), (row + 1, old_1), (row + 2, old_2)):
            delta = r[place] - old
            change[place] = delta
            error = problem.diagonal[place] * delta
            merit += error * delta
            largest = max(largest, abs(error))
    return largest, merit


@subkernel
def _speed(problem, r, row):
    """u = W r + b of one row."""
    speed = problem.b[row]
    for entry in range(problem.indptr[row], problem.indptr[row + 1]):
        speed += problem.data[entry] * r[problem.indices[entry]]
    return speed


@subkernel
def _conjugacy(diagonal, change, last_change, conjugacy, merit, last_merit):
    """beta; 0 in the first iteration, -1 where the merit grew: restart."""
    beta = 0.0 if last_merit == 0.0 else merit / last_merit
    if conjugacy == POLAK_RIBIERE and 0.0 < beta <= 1.0:
        mixed = 0.0
        for row in range(change.size):
            mixed += diagonal[row] * change[row] * last_change[row]
        return max(0.0, beta - mixed / last_merit)
    return beta if beta <= 1.0 else -1.0


@subkernel(allocates=True)
def _take_better(problem, r, best, settings):
    """Of the last iterate and the one after the calmest sweep, keep the one with the smaller residual."""
    residual, worst_contact = _natural_map(problem, r, settings)
    best_residual, best_contact = _natural_map(problem, best, settings)
    if residual < best_residual:
        return residual, worst_contact
    r[:] = best
    return best_residual, best_contact
