"""alm_newton's form for an explicit W: Newton's method on Coulomb's law as it stands, with r as unknowns.

    F(r) = r - P(r - rho (W r + b)) = 0,     P: Coulomb's law (``cone``),     rho_i = 1 / mean W_ii of a contact

F is semismooth. With D the derivative of P at its argument, block by block, a step solves

    J dr = -F,      J = I - D (I - diag(rho) W)

damped, and where that does not do by damped least squares, since W may be rank-deficient (forces are not unique then,
velocities are), and is not taken to be symmetric. Norms are taken in diag(rho)^-1, and steps are halved until |F|
falls. Far from a solution that may end in a local minimum of |F|: sweeps of nncg come first, and again, more of them,
where Newton's method gets no further.

Cost of a Newton step: a dense factorisation over the closed contacts. Ends with ``round_off`` where doubles allow no
more; the best iterate is returned.

Sources: Alart and Curnier 1991; Acary, Bremond and Huber 2018, which compares this form with others.
"""

import numpy as np
import scipy  # its parts are loaded where they are first used

from ...problem.problem import Status, kernel_settings
from ...problem.residuals import explicit_natural_map, explicit_scale
from ..linear_algebra.explicit import explicit_arrays, sweep_explicit_until_solved
from .cone import project_contacts

# Sweeps before Newton's method, and the factor on them for every further round.
_FIRST_SWEEPS = 50
_FACTOR_SWEEPS = 4
_MAX_ROUNDS = 5
# Sweeps of a round at most, times the entries of W: a second or two.
_MOST_PRODUCTS = 1e9
# Newton steps in a round.
_STEPS_PER_ROUND = 30
# Damping; J scaled is of the order 1. Steps of refinement, which take from a solution what the damping did to it.
_DAMPING, _REFINEMENTS = 1e-10, 2
# A step must bring |F| down by this share of its length, which may be halved so often.
_RATIO_DECREASE = 1e-3
_MAX_HALVINGS = 12
# A residual that is no longer brought down, but below this share of the scale, is what rounding leaves.
_RATIO_ROUNDING = 1e-12


def solve_alm_explicit(delassus, start, friction, options):
    """Solve contacts with an explicit W.

    Parameters
    ----------
    delassus : Delassus
    start : float64 [3 contacts]
        Impulses to begin with [N s].
    friction : {"cone", "box"}
    options : SolverOptions
        Complete; ``max_iterations`` counts Newton steps.

    Returns
    -------
    tuple
        (r, status, Newton steps, residual, scale, worst contact, history), as ``registry.Method.explicit``.
    """
    search = _NewtonSearch(delassus, friction, options)
    search.judge(start)
    sweeps = _FIRST_SWEEPS
    for _ in range(_MAX_ROUNDS):
        if search.is_over():
            break
        search.sweep(int(min(sweeps, max(_MOST_PRODUCTS / max(delassus.matrix.nnz, 1), _FIRST_SWEEPS))))
        search.take_steps()
        sweeps *= _FACTOR_SWEEPS
    return search.r, search.status(), search.steps, search.residual, search.scale, search.worst_contact, search.history


class _NewtonSearch:
    """One problem and the best impulses found for it so far."""

    def __init__(self, delassus, friction, options):
        self.arrays = explicit_arrays(delassus)
        self.settings = kernel_settings(options, friction)
        self.matrix = delassus.matrix.toarray()
        self.scale = explicit_scale(delassus.b)
        self.absolute_tolerance = options.absolute_tolerance
        self.target = max(options.tolerance * self.scale, options.absolute_tolerance)
        weight = self.arrays.diagonal.reshape(-1, 3).mean(axis=1)
        # a contact that moves nothing is left as it is: its rows of J are those of I
        self.rho = np.repeat(np.where(weight > 0.0, 1.0 / np.where(weight > 0.0, weight, 1.0), 0.0), 3)
        self.root = np.sqrt(np.where(self.rho > 0.0, self.rho, 1.0))
        self.r, self.residual, self.worst_contact = None, np.inf, -1
        self.steps, self.history = 0, []

    def status(self):
        """How the search ended."""
        if self.residual <= self.absolute_tolerance:
            return Status.CONVERGED_ABSOLUTE
        if self.residual <= self.target:
            return Status.CONVERGED_RELATIVE
        if self.residual <= _RATIO_ROUNDING * self.scale:
            return Status.ROUND_OFF
        return Status.MAX_ITERATIONS if self.steps >= self.settings.max_iterations else Status.STAGNATED

    def is_over(self):
        return self.residual <= self.target or self.steps >= self.settings.max_iterations

    def judge(self, r):
        """Measure impulses, and keep them where they are the best so far; returns their residual."""
        arrays, settings = self.arrays, self.settings
        residual, worst_contact = explicit_natural_map(
            arrays.indptr,
            arrays.indices,
            arrays.data,
            arrays.b,
            arrays.friction,
            r,
            settings.friction,
            settings.directions,
        )
        if residual < self.residual or self.r is None:
            self.r, self.residual, self.worst_contact = r.copy(), residual, worst_contact
        return residual

    def sweep(self, count):
        """So many iterations of nncg from the best impulses."""
        r = self.r.copy()
        settings = self.settings._replace(max_iterations=count)
        sweep_explicit_until_solved(self.arrays, r, np.zeros((5, len(r))), self.scale, settings, True, np.zeros(count))
        self.judge(r)

    def take_steps(self):
        """Newton steps from the best impulses until they solve the problem or |F| falls no more."""
        r = self.r.copy()
        error, derivative = self._error(r)
        for _ in range(_STEPS_PER_ROUND):
            if self.is_over():
                return
            size, taken = np.linalg.norm(error / self.root), None
            for by_least_squares in (False, True):
                direction = self._direction(error, derivative, by_least_squares)
                taken = self._halve(r, direction, size)
                if taken is not None:
                    break
            if taken is None:
                return
            step, error, derivative = taken
            r += step * direction
            self.steps += 1
            self.history.append(self.judge(r))

    def _halve(self, r, direction, size):
        """The longest of the steps 1, 1/2, ... that brings |F| down from ``size``: (step, F, D), or None."""
        step = 1.0
        for _ in range(_MAX_HALVINGS):
            error, derivative = self._error(r + step * direction)
            if np.linalg.norm(error / self.root) <= (1.0 - _RATIO_DECREASE * step) * size:
                return step, error, derivative
            step *= 0.5
        return None

    def _error(self, r):
        """F, and D block by block [contacts, 3, 3]."""
        projected, derivative = np.zeros(len(r)), np.zeros((len(r), 3))
        argument = r - self.rho * (self.matrix @ r + self.arrays.b)
        project_contacts(self.settings.friction, False, self.arrays.friction, argument, projected, derivative)
        return np.where(self.rho > 0.0, r - projected, 0.0), derivative.reshape(-1, 3, 3)

    def _direction(self, error, derivative, by_least_squares):
        """Solution of J dr = -F; open contacts, whose rows of J are those of I, first."""
        size = len(error)
        closed = np.repeat(derivative.any(axis=(1, 2)) & (self.rho[0::3] > 0.0), 3)
        direction = -error
        contacts = closed[0::3]
        inner = np.eye(size)[closed] - self.rho[closed, None] * self.matrix[closed]
        product = np.einsum("cij,cjk->cik", derivative[contacts], inner.reshape(-1, 3, size)).reshape(-1, size)
        rest = product[:, ~closed] @ direction[~closed] - error[closed]
        jacobian = np.eye(len(rest)) - product[:, closed]
        root = self.root[closed]
        jacobian *= root[None, :] / root[:, None]
        if by_least_squares:
            normal = jacobian.T @ jacobian + _DAMPING * np.eye(len(rest))
            factor = scipy.linalg.cho_factor(normal, check_finite=False)
            direction[closed] = root * scipy.linalg.cho_solve(factor, jacobian.T @ (rest / root), check_finite=False)
        else:
            direction[closed] = root * _solve_damped(jacobian, rest / root)
        return direction


def _solve_damped(jacobian, right):
    """Solution of a system that may be singular, damped, and refined where that took something away.

    Loses half as many digits as least squares where W is ill-conditioned, and all where the system has no solution.
    """
    factor = scipy.linalg.lu_factor(jacobian + _DAMPING * np.eye(len(right)), check_finite=False)
    found = scipy.linalg.lu_solve(factor, right, check_finite=False)
    for _ in range(_REFINEMENTS):
        found += scipy.linalg.lu_solve(factor, right - jacobian @ found, check_finite=False)
    return found
