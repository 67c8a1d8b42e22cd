"""Projected successive over-relaxation on a plain LCP.

Each row in turn, with the rows before it already new,

    x_i <- max(0, x_i - lambda (A x + b)_i / A_ii),      0 < lambda < 2.

For symmetric A every such step lowers x'Ax/2 + x'b over x >= 0. For symmetric positive semidefinite A it converges
wherever the problem has a solution (Luo and Tseng 1991), linearly, and slowly where A is badly conditioned. A need not
be symmetric to run; then nothing promises convergence but a dominant diagonal.

The best lambda depends on the problem: near 1.4 on Erleben's fluid problems, the nearer to 2 the worse the
condition. Cost of an iteration: 1 to 1.5 products with A, or 3 passes over J.

Source: Erleben 2013, section 5.3, eq. 59.
"""

import numpy as np

from ...registry import LcpMethod, register
from .splitting import solve_by_splitting
from .sweep import require_positive_diagonal


def solve_psor(lcp, x0, options):
    """Solve ``lcp``; ``LcpMethod.function``."""
    return solve_by_splitting(lcp, x0, options, options.relaxation / lcp.diagonal, np.zeros(lcp.size), True)


register(
    LcpMethod(
        name="psor",
        title="Projected successive over-relaxation",
        function=solve_psor,
        suits="symmetric positive semidefinite A, or a dominant diagonal; large and sparse",
        max_iterations=1000,
        source="Erleben 2013, section 5.3",
        requires=require_positive_diagonal,
        options={"relaxation": 1.4},
    )
)
