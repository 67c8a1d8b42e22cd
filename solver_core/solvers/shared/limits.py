"""Limits: when the residual is measured anew, and a method's settings with other limits for the methods it calls."""

from ...compiled.kernel import subkernel
from ...problem.rows import SolverSettings

# After a forecast that the true residual did not confirm, it is measured again when the forecast has fallen by this.
FACTOR_NEXT_CHECK = 0.5


@subkernel
def with_limit(settings, limit):
    """The same settings with another iteration limit."""
    return with_ends(settings, settings.tolerance, settings.absolute_tolerance, limit)


@subkernel
def with_ends(settings, tolerance, absolute_tolerance, limit):
    """The same settings with other tolerances and another iteration limit."""
    return SolverSettings(
        tolerance,
        absolute_tolerance,
        limit,
        settings.friction,
        settings.directions,
        settings.relaxation,
        settings.alpha,
        settings.conjugacy,
        settings.line_search,
        settings.strategy,
        settings.warm_start_sweeps,
        settings.seed,
        settings.waits,
        settings.exactly,
    )
