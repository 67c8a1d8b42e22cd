"""Projected Gauss-Seidel on a plain LCP: ``psor`` with lambda = 1.

Each row in turn, with the rows before it already new,

    x_i <- max(0, x_i - (A x + b)_i / A_ii).

Converges as ``psor`` does: for symmetric positive definite A always, linearly; for others where the diagonal dominates.

Source: Erleben 2013, sections 5.2 and 5.3, eq. 56.
"""

import numpy as np

from ...registry import LcpMethod, register
from .splitting import solve_by_splitting
from .sweep import require_positive_diagonal


def solve_pgs(lcp, x0, options):
    """Solve ``lcp``; ``LcpMethod.function``."""
    return solve_by_splitting(lcp, x0, options, 1.0 / lcp.diagonal, np.zeros(lcp.size), True)


register(
    LcpMethod(
        name="pgs",
        title="Projected Gauss-Seidel",
        function=solve_pgs,
        suits="symmetric positive semidefinite A, or a dominant diagonal; large and sparse",
        max_iterations=1000,
        source="Erleben 2013, sections 5.2 and 5.3",
        requires=require_positive_diagonal,
    )
)
