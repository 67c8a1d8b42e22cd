"""The Newton equations' linear systems, directly or by GMRES; None where there is no usable answer.

Direct: LU with partial pivoting, dense (LAPACK) or sparse (SuperLU); n^3 / 3 multiplications dense.
GMRES: products with the matrix only; restarted.

A singular system is nothing unusual in contact problems, so it is no error here: the caller regularises it.
"""

import warnings

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

# Smallest pivot over largest below which a matrix counts as singular: doubles hold 1e-16, and a direction that is
# wrong in its first three digits is still one of descent.
PIVOT_RATIO = 1e-13

# GMRES: vectors before a restart, and restarts at most.
RESTART = 100
RESTARTS = 2


def solve_direct(matrix, right_side) -> np.ndarray | None:
    """Solve by LU.

    Parameters
    ----------
    matrix : ndarray or sparse [n, n]
    right_side : float64 [n]
    """
    if len(right_side) == 0:
        return np.zeros(0)
    if scipy.sparse.issparse(matrix):
        try:
            factor = scipy.sparse.linalg.splu(scipy.sparse.csc_array(matrix))
        except RuntimeError:  # a pivot is exactly zero
            return None
        pivots, solve = factor.U.diagonal(), factor.solve
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", scipy.linalg.LinAlgWarning)  # a pivot is exactly zero; seen below
            factor = scipy.linalg.lu_factor(matrix, check_finite=False)
        pivots = np.diagonal(factor[0])

        def solve(vector):
            return scipy.linalg.lu_solve(factor, vector, check_finite=False)

    pivots = np.abs(pivots)
    if not pivots.min() > PIVOT_RATIO * pivots.max():
        return None
    return solve(right_side)


def identity_like(matrix):
    """The identity of the shape and kind, dense or sparse, of ``matrix``."""
    return scipy.sparse.eye_array(matrix.shape[0]) if scipy.sparse.issparse(matrix) else np.eye(len(matrix))


def solve_gmres(apply, right_side, tolerance) -> np.ndarray | None:
    """Solve by products with the matrix.

    Parameters
    ----------
    apply : callable (float64 [n]) -> float64 [n]
    right_side : float64 [n]
    tolerance : float
        On the residual, relative to ``right_side``. A direction that misses it is given back: whether it is one of
        descent is checked later (Erleben 2013, theorem 5.2).
    """
    n = len(right_side)
    if n == 0:
        return np.zeros(0)
    operator = scipy.sparse.linalg.LinearOperator((n, n), matvec=apply, dtype=float)
    solution, _ = scipy.sparse.linalg.gmres(
        operator, right_side, rtol=tolerance, atol=0.0, restart=min(n, RESTART), maxiter=RESTARTS
    )
    return solution if np.all(np.isfinite(solution)) else None
