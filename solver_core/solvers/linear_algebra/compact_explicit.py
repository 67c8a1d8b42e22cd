"""Contacts with an explicit W in the form of ``compact_rows``, and the call of a solver that works on that form."""

import numpy as np

from ...problem.problem import Status, kernel_settings
from ...problem.residuals import explicit_scale, residual_of_delassus
from .compact_rows import CompactRows, allocate_compact_rows


def gather_explicit(delassus) -> CompactRows:
    """Contacts with an explicit W in compact form.

    Parameters
    ----------
    delassus : Delassus

    Returns
    -------
    CompactRows
        A contact without response to normal impulses (W_nn <= 0) is omitted.
    """
    diagonal = delassus.matrix.diagonal()[0::3]
    kept = np.flatnonzero(diagonal > 0.0)
    rows = (3 * kept[:, None] + np.arange(3)).ravel()
    scale = 1.0 / diagonal[kept]
    matrix = delassus.matrix[rows][:, rows].tocsr()
    matrix.data = matrix.data * np.repeat(scale, 3)[matrix.indices]
    compact = allocate_compact_rows(len(rows), 1)
    compact.count[:] = len(kept), len(rows), 0, 1
    compact.first_row[: len(kept) + 1] = 3 * np.arange(len(kept) + 1)
    compact.upper[:] = np.inf
    compact.friction[: len(kept)] = delassus.friction[kept]
    compact.scale[: len(kept)] = scale
    compact.source[:] = rows
    compact.offset[:] = delassus.b[rows]
    entries = matrix.tocoo()
    inside = entries.row // 3 == entries.col // 3
    compact.own[entries.row[inside], entries.col[inside] % 3] = entries.data[inside]
    return compact._replace(
        start=matrix.indptr.astype(np.int64), column=matrix.indices.astype(np.int64), entry=matrix.data
    )


def solve_explicit_compact(delassus, r0, friction, options, solve):
    """Solve contacts with an explicit W by a method on compact rows.

    Parameters
    ----------
    delassus, r0, friction, options
        As ``registry.Method.explicit`` takes them.
    solve : callable
        (compact, settings, scale, target, y, history) -> iterations; y [m/s] is the start and the result.

    Returns
    -------
    tuple
        As ``registry.Method.explicit``.
    """
    compact = gather_explicit(delassus)
    settings = kernel_settings(options, friction)
    scale = explicit_scale(delassus.b)
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    history = np.zeros(settings.max_iterations)
    r = r0.copy()
    residual, worst_contact = residual_of_delassus(delassus, r, settings)
    iterations = 0
    if residual > target and settings.max_iterations > 0:
        rows = compact.source
        unit_of_row = np.repeat(compact.scale[: compact.count[0]], 3)
        y = r[rows] / unit_of_row
        iterations = solve(compact, settings, scale, target, y, history)
        r[rows] = y * unit_of_row
        residual, worst_contact = residual_of_delassus(delassus, r, settings)
    status = _status(residual, target, settings, iterations)
    return r, status, iterations, residual, scale, worst_contact, history[:iterations]


def _status(residual, target, settings, iterations):
    if residual > target:
        return Status.MAX_ITERATIONS if iterations >= settings.max_iterations else Status.STAGNATED
    return Status.CONVERGED_ABSOLUTE if residual <= settings.absolute_tolerance else Status.CONVERGED_RELATIVE
