"""The Cholesky factor of A over the active indices of Dantzig's method; each pivot appends or removes a row."""

import math

from ....compiled.kernel import subkernel
from ...inner_product import dot

# Relative to the problem scaled to A_ii near 1: a Schur complement s below this is that of a dependent column; below
# minus this A is indefinite.
TOLERANCE_DEPENDENT = 1e-10


@subkernel
def append_row(index, count, workspace):
    """Append the row of ``index`` to L.

    Parameters
    ----------
    index, count : int
        The index, and how many are active.
    workspace : DantzigWorkspace
        ``factor`` is written.

    Returns
    -------
    bool
        False if its column depends on the active ones; then L is as before.
    """
    row, column = workspace.factor[count], workspace.matrix[index]
    for c in range(count):
        row[c] = column[workspace.active[c]]
    solve_lower(count, workspace.factor, row)
    rest = column[index] - dot(row, row, count)
    if not rest > TOLERANCE_DEPENDENT:
        return False
    row[count] = math.sqrt(rest)
    return True


@subkernel
def remove_row(gone, count, workspace):
    """Take a row out of L and rotate the rest back to triangular form.

    Parameters
    ----------
    gone, count : int
        Place of the index among the active ones, and how many these are.
    workspace : DantzigWorkspace
        ``factor``, ``active`` and ``place`` are written.
    """
    factor, active, place = workspace.factor, workspace.active, workspace.place
    place[active[gone]] = -1
    for c in range(gone, count - 1):
        active[c] = active[c + 1]
        place[active[c]] = c
        for column in range(c + 2):
            factor[c, column] = factor[c + 1, column]
    for c in range(gone, count - 1):
        length = math.hypot(factor[c, c], factor[c, c + 1])
        cosine, sine = factor[c, c] / length, factor[c, c + 1] / length
        for row in range(c, count - 1):
            first, second = factor[row, c], factor[row, c + 1]
            factor[row, c] = cosine * first + sine * second
            factor[row, c + 1] = cosine * second - sine * first


@subkernel
def factor_anew(count, workspace):
    """Build L row by row; an index whose column turns out to depend on the others is no longer active.

    Parameters
    ----------
    count : int
        Active indices.
    workspace : DantzigWorkspace
        ``factor``, ``active`` and ``place`` are written.

    Returns
    -------
    int
        Indices that are active still.
    """
    regular = 0
    for c in range(count):
        index = workspace.active[c]
        if append_row(index, regular, workspace):
            workspace.active[regular] = index
            workspace.place[index] = regular
            regular += 1
        else:
            workspace.place[index] = -1
    return regular


@subkernel
def solve_lower(count, factor, vector):
    """vector <- L^-1 vector.

    Parameters
    ----------
    count : int
    factor : float64 [n, n]
        L by rows (read).
    vector : float64 [n]
        Written.
    """
    for row in range(count):
        vector[row] = (vector[row] - dot(factor[row], vector, row)) / factor[row, row]


@subkernel
def solve_upper(count, factor, vector):
    """vector <- L^-T vector; arguments as in ``solve_lower``."""
    for row in range(count - 1, -1, -1):
        entry = vector[row] / factor[row, row]
        vector[row] = entry
        for column in range(row):
            vector[column] -= factor[row, column] * entry
