"""Nonsmooth nonlinear conjugate gradients on a plain LCP.

One projected Gauss-Seidel sweep x -> PGS(x) is taken as a descent step: its change is minus the gradient g of the merit
f = |g|^2, the norm in diag(A) so that units do not matter, and conjugate directions p are laid through these:

    g = x - PGS(x)
    beta = |g|^2 / |g_last|^2                        Fletcher-Reeves;   beta > 1: forget p     (restart)
    beta = max(0, g' D (g - g_last)) / |g_last|^2    Polak-Ribiere; restarts likewise where |g| grew
    p <- beta p - g,   x <- x + p

With ``line_search``, x <- x + tau p, tau = 1, 1/2, 1/4 ... until f(x + tau p) <= f(x) + 2 c tau g' D p. Each trial
costs a sweep; the paper found that it does not pay.

Between sweeps an x may be negative, as in the paper. On A given by J and M^-1, p has its velocities M^-1 J' p, and an
iteration costs one sweep and O(n + m). Linear convergence at least as fast as ``pgs``, and many times faster on
structured problems (stacks); nothing is proved, and A need not be symmetric. The merit reported is |g|^2.
Ends as ``stopping`` says, ``round_off`` where a sweep changes nothing; else the best iterate.

Source: Silcowitz-Hansen, Niebe and Erleben 2010, section 4 (the listing and figure 3).
"""

import math

import numpy as np

from ....compiled.kernel import bind, subkernel
from ....problem.problem import CONJUGACIES, CONVERGED_RELATIVE, ROUND_OFF
from ...registry import LcpMethod, register
from ..stopping import GO_ON, judge, largest_entry, measure, stopping_limits
from .sweep import (
    REFRESH_SWEEPS,
    DenseMatrix,
    FactoredMatrix,
    SparseMatrix,
    keep_nothing,
    kernel_matrix,
    move_velocity,
    refresh_velocity,
    require_positive_diagonal,
    sweep_dense,
    sweep_factored,
    sweep_sparse,
    turn_velocity,
)

# Armijo's constant, the paper's c_1.
_DECREASE = 0.01
# The shortest step that the line search tries.
_SHORTEST_STEP = 1.0 / 32.0

# What the iteration names: the dense form here, another form in the copies that are bound below.
sweep, refresh, turn, move = sweep_dense, keep_nothing, keep_nothing, keep_nothing


def solve_nncg(lcp, x0, options):
    """Solve ``lcp``; ``LcpMethod.function``."""
    matrix = kernel_matrix(lcp)
    x = np.maximum(x0, 0.0)
    history, merits = np.empty((2, options.max_iterations + 1))
    status, iterations = _KERNELS[type(matrix)](
        matrix,
        lcp.b,
        x,
        lcp.diagonal,
        options.conjugacy == CONJUGACIES[1],
        bool(options.line_search),
        stopping_limits(lcp, options),
        history,
        merits,
    )
    return x, status, iterations, history[: iterations + 1], merits[: iterations + 1]


def _iterate(matrix, b, x, weights, polak_ribiere, line_search, limits, history, merits):
    """Iterate until a test stops it; ``x``, ``history`` and ``merits`` are written. Returns (status, iterations)."""
    step, memory, negative = 1.0 / weights, np.zeros(x.size), np.zeros(x.size)
    slack, change, last_change, direction = np.zeros((4, x.size))
    best, best_residual = x.copy(), math.inf
    last_merit, length = math.nan, 1.0
    forget = True
    iteration = 0
    refresh(matrix, x)
    sweep(matrix, b, x, step, memory, negative, True, slack, change)
    while True:
        residual = measure(x, slack)[0]
        merit = _product(weights, change, change)
        history[iteration] = residual
        merits[iteration] = merit
        if residual < best_residual:
            best_residual = residual
            best[:] = x
        status = judge(limits, iteration, residual, merit, last_merit, length * largest_entry(direction))
        if status == GO_ON and merit == 0.0:
            status = ROUND_OFF
        if status != GO_ON:
            break
        restart = merit > last_merit
        beta = 0.0
        if not (forget or restart):
            beta = _conjugacy(polak_ribiere, line_search, weights, change, last_change, direction, merit, last_merit)
        direction[:] = beta * direction + change
        turn(matrix, beta)
        slope = -_product(weights, change, direction)
        last_change[:] = change
        last_merit = merit
        forget = restart
        length = 1.0
        _add_multiple(x, length, direction)
        move(matrix, length)
        iteration += 1
        if iteration % REFRESH_SWEEPS == 0:
            refresh(matrix, x)
        sweep(matrix, b, x, step, memory, negative, True, slack, change)
        while line_search and not _product(weights, change, change) <= merit + 2.0 * _DECREASE * length * slope:
            # Where no step is good, a conjugate direction is left after a short one, and a sweep is taken whole.
            hopeless = length <= _SHORTEST_STEP
            shorter = 0.5 * length
            if hopeless:
                forget = True
                if beta > 0.0:
                    break
                shorter = 1.0
            _add_multiple(x, shorter - length, direction)
            move(matrix, shorter - length)
            length = shorter
            sweep(matrix, b, x, step, memory, negative, True, slack, change)
            if hopeless:
                break
    if status > CONVERGED_RELATIVE:
        x[:] = best
    return status, iteration


@subkernel
def _conjugacy(polak_ribiere, line_search, weights, change, last_change, direction, merit, last_merit):
    """The share beta of the last direction; 0 also where a line search would not find that it descends."""
    beta = merit / last_merit
    if polak_ribiere:
        beta = max(0.0, (merit - _product(weights, change, last_change)) / last_merit)
    if line_search and merit + beta * _product(weights, change, direction) <= 0.0:
        return 0.0
    return beta


@subkernel
def _product(weights, first, second):
    """first' diag(weights) second."""
    total = 0.0
    for index in range(weights.size):
        total += weights[index] * first[index] * second[index]
    return total


@subkernel
def _add_multiple(vector, factor, other):
    """vector += factor other."""
    for index in range(vector.size):
        vector[index] += factor * other[index]


_KERNELS = {
    DenseMatrix: bind(_iterate, "conjugate_dense", allocates=True),
    SparseMatrix: bind(_iterate, "conjugate_sparse", allocates=True, sweep=sweep_sparse),
    FactoredMatrix: bind(
        _iterate,
        "conjugate_factored",
        allocates=True,
        sweep=sweep_factored,
        refresh=refresh_velocity,
        turn=turn_velocity,
        move=move_velocity,
    ),
}

register(
    LcpMethod(
        name="nncg",
        title="Nonsmooth nonlinear conjugate gradients",
        function=solve_nncg,
        suits="symmetric positive semidefinite A, structured (stacks); large and sparse, or given as J and M^-1",
        max_iterations=1000,
        source="Silcowitz-Hansen, Niebe and Erleben 2010, section 4",
        requires=require_positive_diagonal,
        options={"conjugacy": CONJUGACIES[0], "line_search": False},
    )
)
