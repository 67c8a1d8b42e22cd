"""When two points count as one: the same answer for convex hulls and for triangle meshes."""

import numpy as np

# Rounding of single precision, relative to the coordinates: meshes are stored so, wherever they lie.
RATIO_SINGLE_PRECISION = 2e-7
# Two given points closer than this share of the size are one; single precision rounds at 6e-8.
RATIO_SAME_POINT = 1e-7


def first_equal_row(rows: np.ndarray) -> np.ndarray:
    """For each row of a table [row_count, column_count] the number of the first row that equals it."""
    # The sort is stable, so the first of equal rows comes first; much faster than np.unique(axis=0).
    order = np.lexsort(rows.T)
    is_new = np.ones(len(rows), bool)
    is_new[1:] = np.any(rows[order[1:]] != rows[order[:-1]], axis=1)
    first = np.empty(len(rows), np.int64)
    first[order] = order[is_new][np.cumsum(is_new) - 1]
    return first
