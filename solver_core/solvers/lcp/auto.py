"""Any plain LCP: the methods that suit its structure, one after the other until the tolerance is reached.

    small                               lemke, then fischer_newton
    large, symmetric, A_ii > 0          nncg for some sweeps, then minmap_newton, fischer_newton, lemke
    large, other                        fischer_newton, then lemke
    LinearOperator                      fischer_newton, then minmap_newton

Small problems are pivoted through, and exactly, before an iterative method gets far. Large ones of fluids and piles
converge within some tens of sweeps or not for a long time, so nncg gets few; what it leaves is a good start for
Newton's method. Lemke's is last there: it takes what remains, at n^3. Each starts from the best x so far, which is
returned with the status and the name of the method that found it; of equally good ones the one that ended on a ray,
which says most. Iterations are counted together.
"""

from dataclasses import replace

import numpy as np

from ...problem.problem import Status
from ...problem.residuals import measure_lcp
from ..registry import LcpMethod, find_lcp_method, register, resolve_options

# Up to this many variables pivoting is the fastest: where sweeps are possible, and where they are not.
_SMALL = 250
_SMALL_WITHOUT_SWEEPS = 1000
# Above this many variables no dense matrix is made.
_LARGEST_DENSE = 3000
# Sweeps that nncg gets.
_SWEEPS = 200


def plan(lcp) -> list[tuple[str, int]]:
    """Names and iteration limits of the methods to try in turn."""
    if lcp.form == "operator":
        names = ["fischer_newton", "minmap_newton"]
    elif lcp.size > _SMALL and lcp.is_symmetric and lcp.diagonal.min() > 0.0:
        names = ["nncg", "minmap_newton", "fischer_newton"] + (["lemke"] if lcp.size <= _LARGEST_DENSE else [])
    elif lcp.size <= _SMALL_WITHOUT_SWEEPS:
        names = ["lemke", "fischer_newton"]
    else:
        names = ["fischer_newton"] + (["lemke"] if lcp.size <= _LARGEST_DENSE else [])
    limits = [find_lcp_method(name).limit(lcp) for name in names]
    return [(name, min(limit, _SWEEPS) if name == "nncg" else limit) for name, limit in zip(names, limits, strict=True)]


def solve_auto(lcp, x0, options):
    """Solve ``lcp``; ``LcpMethod.function``, with the name of the method that found x as a sixth result."""
    best, least = None, np.inf
    histories, total = [], 0
    for name, limit in plan(lcp):
        method = find_lcp_method(name)
        own = replace(options, max_iterations=min(limit, options.max_iterations - total))
        start = x0 if best is None else best[0]
        x, status, iterations, history, merits = method.function(lcp, start, resolve_options(method, own, limit))
        histories.append(history if best is None else history[1:])
        total += iterations
        residual = measure_lcp(lcp, x).natural_map
        ends_on_ray = residual == least and status == Status.RAY_TERMINATION
        if best is None or residual < least or ends_on_ray:
            best, least = (x, status, merits, name), residual
        if Status(status).converged or total >= options.max_iterations:
            break
    x, status, merits, name = best
    return x, status, total, np.concatenate(histories), merits, name


register(
    LcpMethod(
        name="auto",
        title="Automatic",
        function=solve_auto,
        suits="any problem",
        max_iterations=lambda lcp: sum(limit for _, limit in plan(lcp)),
        source="measured: docs/solvers/auto.md",
        forms=("dense", "sparse", "factors", "operator"),
    )
)
