"""Oracles for small linear complementarity problems: enumeration of all bases."""

from itertools import product

import numpy as np
from scipy.optimize import linprog


def solutions_by_enumeration(A, b):
    """One solution of w = A x + b of each choice of which x may be positive, by linear programming; n up to 6.

    Each choice is a system of linear equations and inequalities that has a solution or not, also where A is singular,
    so an empty list proves that the problem has none.
    """
    A, b = np.asarray(A, float), np.asarray(b, float)
    size = len(b)
    found = []
    for basic in product([False, True], repeat=size):
        basic = np.array(basic)
        program = linprog(
            np.zeros(size),
            A_ub=-A[~basic],
            b_ub=b[~basic],
            A_eq=A[basic],
            b_eq=-b[basic],
            bounds=[(0.0, None) if free else (0.0, 0.0) for free in basic],
            method="highs",
        )
        if program.status == 0:
            found.append(program.x)
    return found


def random_semidefinite(rng, size, rank):
    """Symmetric, of whole numbers, so that ties and dependent rows are exact."""
    factor = rng.integers(-2, 3, (size, rank)).astype(float)
    return factor @ factor.T
