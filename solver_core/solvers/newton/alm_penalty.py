"""The continuation of alm_newton's penalty c: how much it grows after an outer step, and how high it may be."""

import math

from ...compiled.kernel import subkernel

# The highest penalty: rounding of speeds enters the residual c-fold, and must stay below this share of the target.
_PENALTY_LEAST_LIMIT = 1e4
_PENALTY_MOST = 1e12
_RATIO_ROUNDING = 0.1
EPSILON = 2.2e-16
_SMALLEST = 1e-300
# Growth of the penalty after an outer step that took one, up to three, or more Newton steps; the first also after two
# that brought the residual down by less than this factor.
RATIO_SLOW = 0.5
GROWTH_FAST, _GROWTH_GOOD, _GROWTH_SLOW = 10.0, 4.0, 2.0
# The penalty stays where this many outer steps like the last one will do.
_OUTER_STEPS_AHEAD = 1.0


@subkernel
def growth_of_penalty(inner_steps, residual_before, residual, target, foretells):
    """Factor on the penalty after an outer step; 1 where a few more steps like the last one will do.

    What the last one gained ``foretells`` that only where it began near the solution or at rest: else it was Newton's
    steps that brought the residual down. Without a factor it is trusted always: a high penalty costs many steps there.

    Parameters
    ----------
    inner_steps : int
        Newton steps of the inner problem.
    residual_before, residual, target : float
        Before and after the outer step, and what is required [m/s].
    foretells : bool

    Returns
    -------
    float
    """
    ratio = residual / residual_before
    if foretells and ratio < 1.0 and math.log(target / residual) >= _OUTER_STEPS_AHEAD * math.log(ratio):
        return 1.0
    if inner_steps <= 1 or (inner_steps <= 2 and ratio > RATIO_SLOW):
        return GROWTH_FAST
    return _GROWTH_GOOD if inner_steps <= 3 else _GROWTH_SLOW


@subkernel
def raise_penalty(penalty, growth, target, largest_term):
    """The penalty times its growth, not above what the rounding of speeds allows; never lower.

    Parameters
    ----------
    penalty, growth : float
    target, largest_term : float
        [m/s]; the latter of ``alm_system.largest_term``.

    Returns
    -------
    float
    """
    rounding = max(EPSILON * largest_term, _SMALLEST)
    limit = max(_PENALTY_LEAST_LIMIT, min(_RATIO_ROUNDING * target / rounding, _PENALTY_MOST))
    return max(penalty, min(limit, growth * penalty))
