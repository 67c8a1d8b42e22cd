"""Accelerated modulus-based successive over-relaxation on a plain LCP.

``amgs`` with D / lambda - L in place of D - L as the splitting on s. By the same steps as there, row i is

    z_i <- z_i - 2 / (A_ii / lambda + gamma Omega_i) ((A x + b)_i - gamma Omega_i max(-z_i, 0)),   x_i = max(z_i, 0).

With Omega = alpha D the step is omega / A_ii, omega = 2 / (1 / lambda + gamma alpha), and for symmetric positive
definite A the argument of ``amgs`` holds if omega < 2 and gamma alpha lambda <= 1. lambda = 1 is ``amgs``; lambda and
alpha do partly the same.

Source: Miyamoto and Yamashita 2019, section 2.3; Zheng and Yin 2013.
"""

from ...registry import LcpMethod, register
from .amgs import solve_modulus
from .sweep import require_positive_diagonal


def solve_amsor(lcp, x0, options):
    """Solve ``lcp``; ``LcpMethod.function``."""
    return solve_modulus(lcp, x0, options, options.relaxation)


register(
    LcpMethod(
        name="amsor",
        title="Accelerated modulus-based successive over-relaxation",
        function=solve_amsor,
        suits="symmetric positive definite A; large, and given as J and M^-1",
        max_iterations=1000,
        source="Miyamoto and Yamashita 2019, section 2.3",
        requires=require_positive_diagonal,
        options={"alpha": 0.25, "omega": None, "relaxation": 1.2},
    )
)
