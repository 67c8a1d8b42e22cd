"""Minimum map Newton method on a plain LCP.

    H(x) = min(x, w) = 0,   w = A x + b                                                          (eqs. 60, 61)

Which of the two is smaller splits the variables (eq. 77): active a = {w_i < x_i}, free f = {w_i >= x_i}. There

    H_a = w_a,  H_f = x_f,    J = [ A_aa  A_af ]      so that    dx_f = -x_f,
                                  [ 0     I    ]                 A_aa dx_a = A_af x_f - w_a       (eqs. 78 to 80)

which is solved on the active set only. Line search, scaling and the ways out where A_aa is singular: ``newton``.

| paper      | here                  | shape |
|------------|-----------------------|-------|
| H          | ``residual``          | [n]   |
| A (a set)  | ``active``            | [n]   |
| theta      | ``merit``             |       |

An iteration costs |a|^3 / 3 for a dense A, a sparse factorisation of A_aa, or some products with A (GMRES), and one
product for each step that the line search tries. On P-matrices it mostly ends after a few steps, exactly. Contact
matrices of eq. 27 have singular A_aa (a slip speed alone is a zero row): the paper's method ends there as
``non_descent``; this one goes on with A + eps I, and ends as ``local_minimum``, ``stagnated`` or ``max_iterations``
where that does not help.

Source: Erleben 2013, section 5.4.
"""

import numpy as np

from ...registry import LcpMethod, register
from .linear_systems import identity_like, solve_direct, solve_gmres
from .newton import MAX_ITERATIONS, ScaledProblem, choose_linear_solver, solve_newton


def solve_minmap_newton(lcp, x0, options):
    """Solve ``lcp``; ``LcpMethod.function``."""
    return solve_newton(lcp, x0, options, MinimumMap(), choose_linear_solver(lcp, options))


class MinimumMap:
    """H(x) = min(x, w)."""

    def residual(self, x, w) -> np.ndarray:
        """H."""
        return np.minimum(x, w)

    def linearise(self, problem, x, w, tolerance) -> "MinimumMapDerivative":
        """One element of the B-derivative at x."""
        return MinimumMapDerivative(problem, x, w, tolerance)


class MinimumMapDerivative:
    """J = rows of A where w is smaller than x, of the identity elsewhere."""

    def __init__(self, problem: ScaledProblem, x, w, tolerance):
        self._problem = problem
        self._x, self._w = x, w
        self._tolerance = tolerance
        self.active = w < x

    def apply(self, dx) -> np.ndarray:
        """J dx."""
        return np.where(self.active, self._problem.apply(dx), dx)

    def gradient(self) -> np.ndarray | None:
        """J' H."""
        transposed = self._problem.apply_transposed(np.where(self.active, self._w, 0.0))
        return None if transposed is None else transposed + np.where(self.active, 0.0, self._x)

    def direction(self, shift) -> np.ndarray | None:
        """dx_f = -x_f, and dx_a from the reduced system with A_aa + shift I."""
        active = np.flatnonzero(self.active)
        dx = np.where(self.active, 0.0, -self._x)
        right_side = -(self._w + self._problem.apply(dx))[active]
        if self._problem.matrix is not None:
            solution = solve_direct(self._reduced_matrix(active, shift), right_side)
        else:
            solution = solve_gmres(lambda part: self._apply_reduced(part, active, shift), right_side, self._tolerance)
        if solution is None:
            return None
        dx[active] = solution
        return dx

    def _reduced_matrix(self, active, shift):
        """A_aa + shift I."""
        matrix = self._problem.matrix[active][:, active]
        return matrix + shift * identity_like(matrix) if shift else matrix

    def _apply_reduced(self, part, active, shift):
        """(A_aa + shift I) times a vector on the active set."""
        whole = np.zeros(len(self._x))
        whole[active] = part
        return self._problem.apply(whole)[active] + shift * part


register(
    LcpMethod(
        name="minmap_newton",
        title="Minimum map Newton",
        function=solve_minmap_newton,
        suits="P-matrices: fluids, contacts without friction; large and sparse too",
        max_iterations=MAX_ITERATIONS,
        source="Erleben 2013, section 5.4",
        forms=("dense", "sparse", "factors", "operator"),
        options={"linear_solver": None, "warm_start_sweeps": 0},
    )
)
