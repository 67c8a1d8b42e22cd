"""Projected Jacobi on a plain LCP, damped by choice.

All rows from the same iterate,

    x_i <- max(0, x_i - lambda (A x + b)_i / A_ii).

Converges where the diagonal dominates strictly, at lambda = 1. For symmetric positive definite A it converges if
lambda < 2 / (largest eigenvalue of D^-1 A), D the diagonal of A. Many contact problems do not fulfil that at
lambda = 1; the method then ends with its best iterate and ``max_iterations``, or ``failed`` where the iterates outgrow
doubles. It is here because its rows can be done at the same time, and as the measure for the others.

Cost of an iteration: one product with A, or 3 passes over J. Source: Erleben 2013, section 5.2, eq. 51.
"""

import numpy as np

from ...registry import LcpMethod, register
from .splitting import solve_by_splitting
from .sweep import require_positive_diagonal


def solve_jacobi(lcp, x0, options):
    """Solve ``lcp``; ``LcpMethod.function``."""
    return solve_by_splitting(lcp, x0, options, options.relaxation / lcp.diagonal, np.zeros(lcp.size), False)


register(
    LcpMethod(
        name="jacobi",
        title="Projected Jacobi",
        function=solve_jacobi,
        suits="a dominant diagonal",
        max_iterations=1000,
        source="Erleben 2013, section 5.2",
        requires=require_positive_diagonal,
        options={"relaxation": 1.0},
    )
)
