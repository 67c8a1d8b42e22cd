"""Accelerated modulus-based Gauss-Seidel on a plain LCP.

With x = (|s| + s) / gamma and w = Omega (|s| - s), Omega a positive diagonal, the LCP is one equation in s, without
signs (Zheng and Yin 2013; the paper's Theorem 2.1):

    (A + gamma Omega) s = (gamma Omega - A) |s| - gamma b.

A = D - L - U is split twice, on s by D - L and on |s| by D - U, so that a sweep sees what it has changed in both:

    (D + gamma Omega - L) s_new = U s + (gamma Omega - D + U) |s| + L |s_new| - gamma b.          (paper: eq. 18)

With |s| +- s as the positive and negative parts, and z = 2 s / gamma, row i of this is

    z_i <- z_i - 2 / (A_ii + gamma Omega_i) ((A x + b)_i - gamma Omega_i max(-z_i, 0)),   x_i = max(z_i, 0),

which needs of A what Gauss-Seidel needs (Method 2.2), and on the factors J, M^-1 only the velocities M^-1 J' x, updated
in place (Method 3.1): O(nonzeros of J) a sweep. gamma scales s and enters through gamma Omega only. With
Omega = alpha D, omega = 2 / (1 + gamma alpha) and n_i = max(-z_i, 0) it reads

    z_i <- x_i - omega (A x + b)_i / A_ii + (1 - omega) n_i:

over-relaxation in which a variable at zero remembers how far beyond zero it was, and leaves zero less rashly.

**alpha.** The paper says gamma = 2 and Omega = D / gamma. Then omega = 1, and the method is projected Gauss-Seidel to
the letter. But it reports half of the iterations of Gauss-Seidel there, and a gain for each alpha from 0.1 to 0.6. That
is what gamma alpha from 0.1 to 0.6, and 0.5 for its table, give, as if gamma were 1 in its update; so the default is
gamma = 2 and alpha = 1/4. ``alpha=0.5`` is the text's choice.

**Convergence.** Corollary 4.3 of the paper: with Omega = alpha D it converges from every start if
tau = |(D - L)^-1 U| < 1 and alpha > tau / gamma. Its proof takes the spectral norm of a triangular matrix for that
of its diagonal (Lemma 4.1), which does not hold, so it is no guarantee. This is one: for symmetric positive definite
A and 0 < gamma Omega <= D, a variable that changes goes in the direction in which f = x'Ax/2 + x'b falls, and at most
omega < 2 times as far as to the minimum along it. So f falls by (2 - omega) / (2 omega) A_ii change^2 at least, changes
die out, and x tends to the solution. A small alpha, omega near 2, is fast for ill-conditioned A and restless
otherwise.

Source: Miyamoto and Yamashita 2019, Methods 2.2 and 3.1.
"""

import numpy as np

from ....problem.problem import ProblemError
from ...registry import LcpMethod, register
from .splitting import solve_by_splitting
from .sweep import require_positive_diagonal

# Scale of s against x, as the paper has it.
GAMMA = 2.0


def solve_amgs(lcp, x0, options):
    """Solve ``lcp``; ``LcpMethod.function``."""
    return solve_modulus(lcp, x0, options, 1.0)


def solve_modulus(lcp, x0, options, relaxation):
    """Solve ``lcp`` with D / ``relaxation`` in place of D on s; ``amsor``.

    Raises
    ------
    ProblemError
        alpha is 0.
    """
    if not options.alpha > 0.0:
        raise ProblemError(f"alpha is {options.alpha}; here it must be positive")
    diagonal = lcp.diagonal
    omega = options.alpha * diagonal if options.omega is None else np.asarray(options.omega, float)
    step = 2.0 / (diagonal / relaxation + GAMMA * omega)
    return solve_by_splitting(lcp, x0, options, step, step * GAMMA * omega - 1.0, True)


register(
    LcpMethod(
        name="amgs",
        title="Accelerated modulus-based Gauss-Seidel",
        function=solve_amgs,
        suits="symmetric positive definite A; large, and given as J and M^-1",
        max_iterations=1000,
        source="Miyamoto and Yamashita 2019, Methods 2.2 and 3.1",
        requires=require_positive_diagonal,
        options={"alpha": 0.25, "omega": None},
    )
)
