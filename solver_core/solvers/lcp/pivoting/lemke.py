"""Lemke's method: a pivoting method that ends at a solution or on a ray, for dense problems of any class.

    w = A x + b,   x >= 0,   w >= 0,   x' w = 0

An artificial variable z0 >= 0 with a covering vector c > 0 makes all of w = A x + b + c z0 positive; complementary
pivots drive it back to zero (``lemke_kernel``, where the algorithm is). In exact arithmetic it ends after finitely many
pivots whatever A is. For copositive-plus A (positive semi-definite ones, contacts with friction) and for P-matrices it
ends at a solution if there is one; a ray then proves that there is none.

Cost: 2 n k a pivot, with k basic x of n; some n pivots are usual, 2^n happen (Murty's example).
Statuses: ``ray_termination``, ``max_iterations``, ``round_off`` (the last basis does not reach the tolerance), each
with the best of zero, the start and where the passes ended. An iteration is a pivot.

Source: Lloyd 2004, section 4; Cottle, Pang and Stone 1992, sections 4.4 and 4.9.
"""

import numpy as np

from ....problem.problem import ProblemError, Status
from ....problem.residuals import measure_lcp
from ...registry import LcpMethod, register
from .lemke_basis import allocate_lemke
from .lemke_kernel import LIMIT, RAY, SOLVED, solve_lemke

# The history holds no more pivots than this.
_HISTORY_LIMIT = 100_000


def solve_lcp_lemke(lcp, x0, options):
    """Solve by Lemke's method; ``x0`` is returned where it is a solution, and is not used otherwise.

    Parameters
    ----------
    lcp : LCP
    x0 : float64 [n]
    options : SolverOptions
        ``covering_vector``: None is 1 in the equilibrated problem, and 0.01 where its diagonal is zero.

    Returns
    -------
    tuple
        (x, status, iterations, history, merit history, which is empty).

    Raises
    ------
    ProblemError
        The covering vector has the wrong shape or is not positive.
    """
    cover = _checked_cover(options.covering_vector, lcp.size)
    target = max(options.tolerance * lcp.scale, options.absolute_tolerance)
    given = measure_lcp(lcp, x0).natural_map if x0.any() else np.inf
    if given <= target:
        return x0, _status(given, lcp.scale, SOLVED, options), 0, np.array([given]), np.zeros(0)
    workspace = allocate_lemke(lcp.size, 1 + min(options.max_iterations, _HISTORY_LIMIT))
    x = np.zeros(lcp.size)
    ending, pivots, residual = solve_lemke(
        lcp.size, lcp.dense, lcp.b, cover, x, workspace, target, options.max_iterations
    )
    history = workspace.history[: pivots + 1]
    history[0] = max(-float(lcp.b.min()), 0.0)
    if given < residual:
        x, residual = x0, given
    history[-1] = residual
    return x, _status(residual, lcp.scale, ending, options), pivots, history, np.zeros(0)


def _checked_cover(cover, size) -> np.ndarray:
    """The covering vector as the kernel takes it; empty where the option is open."""
    if cover is None:
        return np.zeros(0)
    cover = np.ascontiguousarray(cover, dtype=float)
    if cover.shape != (size,):
        raise ProblemError(f"covering_vector has the shape {cover.shape}; it must be ({size},)")
    bad = np.flatnonzero(~((cover > 0.0) & np.isfinite(cover)))
    if len(bad):
        raise ProblemError(f"covering_vector is {cover[bad[0]]} at {bad[0]}; it must be positive")
    return cover


def _status(residual, scale, ending, options) -> Status:
    if residual <= options.absolute_tolerance:
        return Status.CONVERGED_ABSOLUTE
    if residual <= options.tolerance * scale:
        return Status.CONVERGED_RELATIVE
    return {RAY: Status.RAY_TERMINATION, LIMIT: Status.MAX_ITERATIONS}.get(ending, Status.ROUND_OFF)


register(
    LcpMethod(
        name="lemke",
        title="Lemke's method",
        function=solve_lcp_lemke,
        suits="dense problems of any class up to some thousand variables; contacts with polyhedral friction",
        max_iterations=lambda lcp: 1000 + 50 * lcp.size,
        source="Lloyd 2004, section 4; Cottle, Pang and Stone 1992, sections 4.4 and 4.9",
        tolerance=1e-10,
        options={"covering_vector": None},
    )
)
