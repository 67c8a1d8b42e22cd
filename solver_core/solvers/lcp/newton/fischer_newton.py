"""Fischer-Newton method on a plain LCP.

    F(x) = phi(x, w) = 0,   phi(x, w) = sqrt(x^2 + w^2) - x - w,   w = A x + b                    (eqs. 17, 84)

Elements of the generalised Jacobian are (eqs. 96, 97)

    J = diag(p) + diag(q) A,    p = x / sqrt(x^2 + w^2) - 1,    q = w / sqrt(x^2 + w^2) - 1.

Where x_i = w_i = 0 any p = a - 1, q = b - 1 with a^2 + b^2 <= 1 will do (eq. 98). Four strategies choose:

    perturbation    x_i taken as a small positive number:  a = 1, b = 0
    zero            a = b = 0
    random          (a, b) drawn from the unit disc, seeded
    approximation   J is never formed: J d ~ (F(x + h d) - F(x)) / h (eq. 102), with GMRES

Line search, scaling and the ways out where J is singular: ``newton``.

| paper    | here       | shape |
|----------|------------|-------|
| F        | ``residual`` | [n] |
| D_p, D_q | ``p``, ``q`` | [n] |
| theta    | ``merit``  |       |

An iteration costs n^3 / 3 for a dense A, a sparse factorisation of J, or some products with A (GMRES), and one
product for each step that the line search tries. Steps become quadratic where the solution is unique and strictly
complementary. The merit of a problem that is neither monotone nor a P-matrix has other minima (``local_minimum``,
``stagnated``, ``max_iterations``); another start may help.

Source: Erleben 2013, section 5.5; Fischer 1992.
"""

import numpy as np
import scipy  # its parts are loaded where they are first used

from ....problem.residuals import fischer_burmeister
from ...registry import LcpMethod, register
from .linear_systems import solve_direct, solve_gmres
from .newton import MAX_ITERATIONS, ScaledProblem, choose_linear_solver, solve_newton

# x_i and w_i both below this share of |b| count as zero: w is not better known than to its rounding.
DEGENERATE = np.finfo(float).eps

# Length of the difference step over |F|: the optimum of truncation and rounding for one-sided differences. In units of
# |F| because near a solution phi bends on that scale.
DIFFERENCE = np.sqrt(np.finfo(float).eps)


def solve_fischer_newton(lcp, x0, options):
    """Solve ``lcp``; ``LcpMethod.function``."""
    direct = choose_linear_solver(lcp, options, products_only=options.strategy == "approximation")
    return solve_newton(lcp, x0, options, FischerBurmeister(options.strategy, options.seed), direct)


class FischerBurmeister:
    """F(x) = phi(x, w).

    Parameters
    ----------
    strategy : str
        One of ``problem.STRATEGIES``.
    seed : int
        For the random one.
    """

    def __init__(self, strategy, seed):
        self._strategy = strategy
        self._generator = np.random.default_rng(seed)

    def residual(self, x, w) -> np.ndarray:
        """F."""
        return fischer_burmeister(x, w)

    def linearise(self, problem, x, w, tolerance) -> "FischerBurmeisterDerivative":
        """One element of the generalised Jacobian at x."""
        p, q = self.weights(x, w, DEGENERATE * np.max(np.abs(problem.b)))
        kind = DifferencedDerivative if self._strategy == "approximation" else FischerBurmeisterDerivative
        return kind(problem, x, w, p, q, tolerance)

    def weights(self, x, w, smallest):
        """p and q (eqs. 97, 98); ``smallest`` is the length of (x_i, w_i) up to which it counts as zero."""
        length = np.hypot(x, w)
        degenerate = length <= smallest
        length[degenerate] = 1.0
        a, b = x / length, w / length
        count = np.count_nonzero(degenerate)
        if self._strategy == "random":
            radius, angle = np.sqrt(self._generator.random(count)), 2.0 * np.pi * self._generator.random(count)
            a[degenerate], b[degenerate] = radius * np.cos(angle), radius * np.sin(angle)
        else:
            a[degenerate], b[degenerate] = 0.0 if self._strategy == "zero" else 1.0, 0.0
        return a - 1.0, b - 1.0


class FischerBurmeisterDerivative:
    """J = diag(p) + diag(q) A."""

    def __init__(self, problem: ScaledProblem, x, w, p, q, tolerance):
        self._problem = problem
        self._x, self._w, self._p, self._q = x, w, p, q
        self._residual = fischer_burmeister(x, w)
        self._tolerance = tolerance

    def apply(self, dx) -> np.ndarray:
        """J dx."""
        return self._p * dx + self._q * self._problem.apply(dx)

    def gradient(self) -> np.ndarray | None:
        """J' F."""
        transposed = self._problem.apply_transposed(self._q * self._residual)
        return None if transposed is None else self._p * self._residual + transposed

    def direction(self, shift) -> np.ndarray | None:
        """Solve (diag(p + shift q) + diag(q) A) dx = -F."""
        if self._problem.matrix is not None:
            return solve_direct(self._matrix(shift), -self._residual)
        return solve_gmres(lambda dx: self.product(dx, shift), -self._residual, self._tolerance)

    def product(self, dx, shift) -> np.ndarray:
        """J dx with A + shift I, for GMRES."""
        return self.apply(dx) + shift * self._q * dx

    def _matrix(self, shift):
        matrix, diagonal = self._problem.matrix, self._p + shift * self._q
        if scipy.sparse.issparse(matrix):
            return scipy.sparse.diags_array(self._q) @ matrix + scipy.sparse.diags_array(diagonal)
        matrix = self._q[:, None] * matrix
        matrix[np.diag_indices_from(matrix)] += diagonal
        return matrix


class DifferencedDerivative(FischerBurmeisterDerivative):
    """J by differences of F where directions are solved for; the check of descent has the exact one."""

    def product(self, dx, shift) -> np.ndarray:
        """(F(x + h dx) - F(x)) / h with A + shift I (eq. 102)."""
        dw = self._problem.apply(dx) + shift * dx
        length = max(np.max(np.abs(dx)), np.max(np.abs(dw)))
        if length == 0.0:
            return np.zeros(len(dx))
        h = DIFFERENCE * np.max(np.abs(self._residual)) / length
        return (fischer_burmeister(self._x + h * dx, self._w + h * dw) - self._residual) / h


register(
    LcpMethod(
        name="fischer_newton",
        title="Fischer-Newton",
        function=solve_fischer_newton,
        suits="whatever is not far from monotone; contact matrices with friction; large and sparse too",
        max_iterations=MAX_ITERATIONS,
        source="Erleben 2013, section 5.5",
        forms=("dense", "sparse", "factors", "operator"),
        options={"strategy": "perturbation", "linear_solver": None, "warm_start_sweeps": 0, "seed": 0},
    )
)
