"""The iteration that jacobi, pgs, psor, amgs and amsor share: sweep, measure, stop or go on.

A method is its vectors ``step`` and ``memory`` (``sweep``), and whether a row sees what the sweep has changed before
it. The merit is Erleben's x' |A x + b| (eq. 106). He remarks that it fails at x = 0, where it vanishes whatever w
is; so the tests that use it (eqs. 107, 108) do not apply there. If x = 0 is the solution, the natural map says so.

Ends as ``stopping`` says; ``round_off`` where a sweep changes nothing any more; ``failed`` where the iterates grow
beyond what doubles hold. What is not converged returns its best iterate.
"""

import math

import numpy as np

from ....compiled.kernel import bind
from ....problem.problem import CONVERGED_RELATIVE, ROUND_OFF
from ..stopping import GO_ON, judge, largest_entry, measure, stopping_limits
from .sweep import (
    REFRESH_SWEEPS,
    DenseMatrix,
    FactoredMatrix,
    SparseMatrix,
    advance_velocity,
    keep_nothing,
    kernel_matrix,
    refresh_velocity,
    sweep_dense,
    sweep_factored,
    sweep_sparse,
)

# What the iteration names: the dense form here, another form in the copies that are bound below.
sweep, refresh, advance = sweep_dense, keep_nothing, keep_nothing


def solve_by_splitting(lcp, x0, options, step, memory, coupled):
    """Solve ``lcp``.

    Parameters
    ----------
    lcp : LCP
    x0 : float64 [n]
        Negative entries are taken as 0.
    options : SolverOptions
    step, memory : float64 [n]
        Of ``sweep``.
    coupled : bool
        Gauss-Seidel; else Jacobi.

    Returns
    -------
    tuple
        (x, status, iterations, history, merit_history) as ``LcpMethod.function``.
    """
    matrix = kernel_matrix(lcp)
    x = np.maximum(x0, 0.0)
    history, merits = np.empty((2, options.max_iterations + 1))
    status, iterations = _KERNELS[type(matrix)](
        matrix, lcp.b, x, step, memory, coupled, stopping_limits(lcp, options), history, merits
    )
    return x, status, iterations, history[: iterations + 1], merits[: iterations + 1]


def _iterate(matrix, b, x, step, memory, coupled, limits, history, merits):
    """Sweep until a test stops it; ``x``, ``history`` and ``merits`` are written. Returns (status, iterations)."""
    negative, slack, change = np.zeros(x.size), np.zeros(x.size), np.zeros(x.size)
    best, best_residual = x.copy(), math.inf
    last_merit = math.nan
    iteration = 0
    while True:
        if iteration % REFRESH_SWEEPS == 0:
            refresh(matrix, x)
        step_size = largest_entry(change)
        moved = sweep(matrix, b, x, step, memory, negative, coupled, slack, change)
        residual, product, nonzero = measure(x, slack)
        history[iteration] = residual
        merits[iteration] = product
        if residual < best_residual:
            best_residual = residual
            best[:] = x
        merit = product if nonzero else math.nan
        status = judge(limits, iteration, residual, merit, last_merit, step_size)
        if status == GO_ON and not moved:
            status = ROUND_OFF
        if status != GO_ON:
            break
        last_merit = merit
        for index in range(x.size):
            x[index] += change[index]
        advance(matrix, x)
        iteration += 1
    if status > CONVERGED_RELATIVE:
        x[:] = best
    return status, iteration


_KERNELS = {
    DenseMatrix: bind(_iterate, "split_dense", allocates=True),
    SparseMatrix: bind(_iterate, "split_sparse", allocates=True, sweep=sweep_sparse),
    FactoredMatrix: bind(
        _iterate,
        "split_factored",
        allocates=True,
        sweep=sweep_factored,
        refresh=refresh_velocity,
        advance=advance_velocity,
    ),
}
