"""The globalised Newton iteration that min-map Newton and Fischer-Newton share (Erleben 2013, sections 5.4 to 6).

    F(x) = 0,   merit theta(x) = 1/2 |F(x)|^2;        J dx = -F,   x <- max(0, x + tau dx)

tau = 1, 1/2, 1/4, ... is the first that passes Armijo's rule (eqs. 81 and 83, projected)

    theta(max(0, x + tau dx)) <= theta(x) + alpha tau F' J dx.

What is beyond the paper:

- Scaling. The iteration works on y = x / d with d_i = c A_ii^-1/2 (d_i = 1 where A_ii is not positive), so that
  A' = D A D has a constant diagonal; c makes its absolute row sums ``SCALED_ROW_SUM`` on average. Both reformulations
  compare x_i with w_i, which have different units: without scaling a matrix whose diagonal runs over some powers of
  ten is out of reach. A LinearOperator has no known entries: there d = 1, which is the paper's method.
- Directions in turn, each only where the ones before made no proper step: Newton; Newton for A' + eps I, eps growing
  tenfold, which is solvable also where J is singular (redundant contacts, zero diagonal); the projected gradient.

Ends: ``residual`` in the tolerance; merit below ``merit_tolerance`` (eq. 107, of the merit without scaling); merit or
x hardly changed (eqs. 108, 109); where no direction makes a step: ``round_off`` where doubles allow no more,
``local_minimum`` where the gradient vanishes, ``non_descent`` where no direction goes down, else ``stagnated``.
"""

from typing import NamedTuple, Protocol

import numpy as np
import scipy  # its parts are loaded where they are first used

from ....problem.problem import LCP, ProblemError, SolverOptions, Status
from ...registry import find_lcp_method
from ..stopping import stopping_limits

# Armijo's rule: the share of the promised decrease that is asked for (1e-4 in Nocedal and Wright), and the factor on
# the step while it is missed.
ARMIJO_DECREASE = 1e-4
ARMIJO_FACTOR = 0.5

# Steps below the first are not tried; below the second the next direction is tried too.
SMALLEST_STEP = 1e-6
PROPER_STEP = 0.1

# Mean absolute row sum of the scaled matrix. With larger ones Fischer's function settles sooner which variables are
# active (5 steps on 1,000 pressures, 7 at a sum of 2); with much larger ones singular problems need more steps.
SCALED_ROW_SUM = 10.0

# Regularisation eps of the scaled matrix, whose entries are around 1: the first, its bounds, how it grows and shrinks,
# and how many are tried in one iteration.
FIRST_SHIFT = 1e-3
SHIFT_BOUNDS = (1e-12, 1e2)
SHIFT_FACTOR = 10.0
SHIFTS = 6

# A gradient of the merit below this, relative to |F|, is zero; the scaled J has entries around 1.
ZERO_GRADIENT = 1e-9

# A direction goes down where the slope is below minus this times |dx|^2.
DESCENT = np.finfo(float).eps

# The residual counts as rounding below this many units in the last place of |b| + |A x|.
ROUNDING_UNITS = 10.0

# GMRES: first tolerance; it shrinks with |F|, so that the last steps converge quadratically, down to the second.
LOOSE_GMRES = 0.1
TIGHT_GMRES = 1e-12

MAX_ITERATIONS = 100


class Linearisation(Protocol):
    """F near one iterate: F(x + dx) = F + J dx + ..., in scaled variables."""

    def apply(self, dx: np.ndarray) -> np.ndarray:
        """J dx."""

    def gradient(self) -> np.ndarray | None:
        """J' F; None where A has no transposed product."""

    def direction(self, shift: float) -> np.ndarray | None:
        """Solve J dx = -F for A + shift I; None where that is singular."""


class Equations(Protocol):
    """A reformulation F(x) = 0 of the complementarity problem."""

    def residual(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """F."""

    def linearise(self, problem: "ScaledProblem", x: np.ndarray, w: np.ndarray, tolerance: float) -> Linearisation:
        """J at x; ``tolerance`` is for GMRES."""


class ScaledProblem:
    """w = A x + b with y = x / d and D w in place of x and w.

    Attributes
    ----------
    matrix : ndarray, csr_array or None
        D A D; None where only products are wanted.
    b : float64 [n]
        D b.
    unit : float64 [n]
        d.
    """

    def __init__(self, lcp: LCP, direct: bool):
        self._lcp = lcp
        self.unit = np.ones(lcp.size) if lcp.form == "operator" else balancing_units(lcp)
        self.b = self.unit * lcp.b
        self.matrix = scale_matrix(lcp.explicit, self.unit) if direct else None

    def apply(self, y) -> np.ndarray:
        """D A D y."""
        return self.matrix @ y if self.matrix is not None else self.unit * self._lcp.apply(self.unit * y)

    def apply_transposed(self, y) -> np.ndarray | None:
        """D A' D y; None where the operator has no transposed product."""
        if self.matrix is not None:
            return self.matrix.T @ y
        if self._lcp.form == "factors":
            return self.apply(y)
        try:
            return self.unit * (self._lcp.A.T @ (self.unit * y))
        except NotImplementedError:
            return None


def balancing_units(lcp: LCP) -> np.ndarray:
    """d of the scaled problem, from the entries of A or of its factors."""
    if lcp.form == "factors":
        jacobian, inverse_mass = lcp.factors
        diagonal = np.asarray((jacobian @ inverse_mass).multiply(jacobian).sum(axis=1)).ravel()
    else:
        diagonal = lcp.diagonal
    positive = diagonal > 0.0
    unit = np.ones(lcp.size)
    unit[positive] = diagonal[positive] ** -0.5
    if lcp.form == "factors":
        sums = abs(jacobian) @ (abs(inverse_mass) @ (abs(jacobian).T @ unit))  # at least those of |A|
    else:
        sums = abs(lcp.explicit) @ unit
    mean = float(np.mean(unit * sums))
    if mean > 0.0:
        unit[positive] *= np.sqrt(SCALED_ROW_SUM / mean)
    return unit


def scale_matrix(A, unit):
    """D A D."""
    if scipy.sparse.issparse(A):
        scaling = scipy.sparse.diags_array(unit)
        return scipy.sparse.csr_array(scaling @ A @ scaling)
    return unit[:, None] * A * unit


class Point(NamedTuple):
    """An iterate in scaled variables."""

    x: np.ndarray
    w: np.ndarray
    residual: np.ndarray
    merit: float


def solve_newton(lcp: LCP, x0, options: SolverOptions, equations: Equations, direct: bool):
    """Iterate from x0, or from what projected Gauss-Seidel makes of it.

    Parameters
    ----------
    lcp : LCP
    x0 : float64 [n]
        Negative entries are taken as zero.
    options : SolverOptions
        Complete.
    equations : Equations
    direct : bool
        Whether the linear systems need the entries of A.

    Returns
    -------
    x, status, iterations, history, merit_history
        As ``LcpMethod.function`` has them.
    """
    start = np.maximum(warm_start(lcp, x0, options), 0.0)
    problem = ScaledProblem(lcp, direct)
    search = Search(problem, equations)
    progress = Progress(lcp, problem, options, equations)
    point = search.evaluate(start / problem.unit)
    progress.record(point, start)
    status = progress.verdict()
    first_norm = np.linalg.norm(point.residual)
    while status is None and progress.iterations < options.max_iterations:
        tolerance = max(TIGHT_GMRES, LOOSE_GMRES * min(1.0, np.linalg.norm(point.residual) / first_norm))
        linear = equations.linearise(problem, point.x, point.w, tolerance)
        point, failure = search.step(point, linear)
        if failure is not None:
            status = Status.ROUND_OFF if progress.is_rounding() else failure
        else:
            progress.record(point)
            status = progress.verdict()
    status = Status.MAX_ITERATIONS if status is None else status
    return progress.best, status, progress.iterations, np.array(progress.history), np.array(progress.merits)


def warm_start(lcp: LCP, x0, options: SolverOptions) -> np.ndarray:
    """x0, or the iterate after some sweeps of projected Gauss-Seidel from there.

    Raises
    ------
    ProblemError
        Sweeps are wanted and projected Gauss-Seidel cannot work on this problem.
    """
    if not options.warm_start_sweeps:
        return x0
    sweeper = find_lcp_method("pgs")
    objection = "A is a LinearOperator" if lcp.form not in sweeper.forms else sweeper.requires(lcp)
    if objection:
        raise ProblemError(f"warm_start_sweeps needs projected Gauss-Seidel, which cannot solve this: {objection}")
    sweeps = SolverOptions(tolerance=0.0, max_iterations=options.warm_start_sweeps, **sweeper.options)
    return sweeper.function(lcp, x0, sweeps)[0]


def choose_linear_solver(lcp: LCP, options: SolverOptions, products_only: bool = False) -> bool:
    """Whether to solve directly: where the entries of A are there, and the options do not say otherwise.

    Raises
    ------
    ProblemError
        A direct solution is wanted and only products are to be had.
    """
    if options.linear_solver == "direct":
        if lcp.form == "operator":
            raise ProblemError("linear_solver 'direct' needs the entries of A, which is a LinearOperator; use 'gmres'")
        if products_only:
            raise ProblemError("strategy 'approximation' knows products with the Jacobian only; use 'gmres'")
    return options.linear_solver != "gmres" and lcp.form != "operator" and not products_only


class Search:
    """From one iterate to the next.

    Attributes
    ----------
    shift : float
        eps that worked last, a tenth of it.
    """

    def __init__(self, problem: ScaledProblem, equations: Equations):
        self._problem = problem
        self._equations = equations
        self.shift = FIRST_SHIFT

    def evaluate(self, x) -> Point:
        """w, F and merit at x."""
        w = self._problem.apply(x) + self._problem.b
        residual = self._equations.residual(x, w)
        return Point(x, w, residual, 0.5 * float(residual @ residual))

    def step(self, point: Point, linear: Linearisation):
        """The next iterate and None; or this one and the status that says why there is no next."""
        best, best_step, descends = None, 0.0, False
        for direction in self._directions(point, linear):
            slope = float(point.residual @ linear.apply(direction))
            if not slope < -DESCENT * float(direction @ direction):
                continue
            descends = True
            found, step = self.line_search(point, direction, slope)
            if found is not None and (best is None or found.merit < best.merit):
                best, best_step = found, step
            if best_step >= PROPER_STEP:
                break
        if best is not None:
            return best, None
        if self._is_stationary(point, linear):
            return point, Status.LOCAL_MINIMUM
        return point, Status.STAGNATED if descends else Status.NON_DESCENT

    def line_search(self, point: Point, direction, slope):
        """Projected Armijo: the first iterate that goes down enough and its step; None and 0 where none does."""
        step = 1.0
        while step >= SMALLEST_STEP:
            trial = self.evaluate(np.maximum(point.x + step * direction, 0.0))
            if trial.merit <= point.merit + ARMIJO_DECREASE * step * slope:
                return trial, step
            step *= ARMIJO_FACTOR
        return None, 0.0

    def _directions(self, point, linear):
        """Newton, regularised Newton, gradient; the caller stops asking when it has made a proper step."""
        direction = linear.direction(0.0)
        if direction is not None:
            yield direction
        smallest, largest = SHIFT_BOUNDS
        for _ in range(SHIFTS):
            shift = self.shift
            direction = linear.direction(shift)
            self.shift = max(shift / SHIFT_FACTOR, smallest)  # stays so if the caller calls no more
            if direction is not None:
                yield direction
            self.shift = min(shift * SHIFT_FACTOR, largest)
        gradient = free_gradient(point.x, linear)
        if gradient is not None:
            change = linear.apply(gradient)
            if change @ change > 0.0:
                yield -gradient * (gradient @ gradient) / (change @ change)

    @staticmethod
    def _is_stationary(point, linear):
        gradient = free_gradient(point.x, linear)
        return gradient is not None and np.linalg.norm(gradient) <= ZERO_GRADIENT * np.linalg.norm(point.residual)


def free_gradient(x, linear: Linearisation) -> np.ndarray | None:
    """The merit's gradient without what would only push variables below zero that are zero."""
    gradient = linear.gradient()
    return None if gradient is None else np.where((x <= 0.0) & (gradient > 0.0), 0.0, gradient)


class Progress:
    """Histories, the best iterate, and the stopping rules.

    Attributes
    ----------
    history : list of float
        Natural map in the infinity norm, without scaling.
    merits : list of float
        1/2 |F|^2 of the scaled problem: what the line search makes fall.
    best : float64 [n]
        The iterate x with the smallest natural map.
    """

    def __init__(self, lcp: LCP, problem: ScaledProblem, options: SolverOptions, equations: Equations):
        self._b, self._unit = lcp.b, problem.unit
        self._equations = equations
        self._limits = stopping_limits(lcp, options)
        self.history, self.merits = [], []
        self.best = self._last = None
        self._step = np.inf

    @property
    def iterations(self) -> int:
        """Steps made."""
        return len(self.history) - 1

    def record(self, point: Point, start=None) -> None:
        """Take note of a new iterate, or of the start, which is given so that it can be given back to the bit."""
        x = self._unit * point.x if start is None else start
        w = point.w / self._unit
        residual = float(np.max(np.abs(np.minimum(x, w))))
        if self.best is None or residual < min(self.history):
            self.best = x
        self._step = np.inf if self._last is None else float(np.max(np.abs(x - self._last)))
        self._last, self._slack = x, w
        self.history.append(residual)
        self.merits.append(point.merit)

    def verdict(self) -> Status | None:
        """Status where the last recorded iterate is one to stop at."""
        limits, residual, merit = self._limits, self.history[-1], self.merits[-1]
        if residual <= limits.absolute:
            return Status.CONVERGED_ABSOLUTE
        if residual <= limits.target:
            return Status.CONVERGED_RELATIVE
        if limits.merit > 0.0 and self._plain_merit() < limits.merit:
            self.best = self._last
            return Status.CONVERGED_ABSOLUTE
        if self.iterations and abs(merit - self.merits[-2]) < limits.decrease * self.merits[-2]:
            return Status.STAGNATED
        if self._step < limits.step:
            return Status.STAGNATED
        return None

    def is_rounding(self) -> bool:
        """Whether the natural map is as small as the rounding of w allows."""
        size = np.abs(self._b) + np.abs(self._slack - self._b)
        return self.history[-1] <= ROUNDING_UNITS * np.finfo(float).eps * float(np.max(size))

    def _plain_merit(self):
        return 0.5 * float(np.sum(self._equations.residual(self._last, self._slack) ** 2))
