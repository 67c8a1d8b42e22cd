"""When the iterative methods on a plain LCP stop, as compiled tests (Erleben 2013, section 6)."""

import math
from typing import NamedTuple

from ...compiled.kernel import subkernel
from ...problem.problem import CONVERGED_ABSOLUTE, CONVERGED_RELATIVE, FAILED, MAX_ITERATIONS, STAGNATED

# The answer of ``judge`` where the iteration goes on.
GO_ON = -1


class StoppingLimits(NamedTuple):
    """``SolverOptions`` as ``judge`` reads them.

    Attributes
    ----------
    target : float
        Relative tolerance times the scale of the problem.
    absolute, merit, decrease, step : float
        The other tolerances.
    max_iterations : int
    """

    target: float
    absolute: float
    merit: float
    decrease: float
    step: float
    max_iterations: int


def stopping_limits(lcp, options) -> StoppingLimits:
    """Limits of ``options`` for ``lcp``."""
    return StoppingLimits(
        target=float(options.tolerance) * lcp.scale,
        absolute=float(options.absolute_tolerance),
        merit=float(options.merit_tolerance),
        decrease=float(options.decrease_tolerance),
        step=float(options.step_tolerance),
        max_iterations=int(options.max_iterations),
    )


@subkernel
def measure(x, slack):
    """Errors of x with w = ``slack``.

    Returns
    -------
    residual : float
        max |min(x, w)|; infinite where anything is not finite.
    product : float
        x' |w| (eq. 106); likewise.
    nonzero : bool
        Whether x has an entry that is not zero. At x = 0 the product is zero whatever w is, and tells nothing.
    """
    residual = product = 0.0
    nonzero = False
    for index in range(x.size):
        residual = max(residual, abs(min(x[index], slack[index])))
        product += abs(x[index]) * abs(slack[index])
        nonzero = nonzero or x[index] != 0.0
    if not product < math.inf:
        return math.inf, math.inf, nonzero
    return residual, product, nonzero


@subkernel
def judge(limits, iteration, residual, merit, last_merit, step):
    """Status of an iterate, or ``GO_ON``.

    Parameters
    ----------
    limits : StoppingLimits
    iteration : int
        0 at the start, which has no earlier iterate.
    residual : float
    merit, last_merit : float
        Of this iterate and the one before; NaN where the merit means nothing.
    step : float
        max |change of x| since the iterate before.
    """
    if residual <= limits.absolute:
        return CONVERGED_ABSOLUTE
    if residual <= limits.target:
        return CONVERGED_RELATIVE
    if merit < limits.merit:
        return CONVERGED_ABSOLUTE
    if iteration > 0 and (abs(merit - last_merit) < limits.decrease * last_merit or step < limits.step):
        return STAGNATED
    if residual == math.inf:
        return FAILED
    return MAX_ITERATIONS if iteration >= limits.max_iterations else GO_ON


@subkernel
def largest_entry(vector):
    """max |vector_i|, 0 where there is none."""
    largest = 0.0
    for value in vector:
        largest = max(largest, abs(value))
    return largest
