"""A method's settings with other limits, for the methods that it calls."""

from ...kernel import subkernel
from ...rows import SolverSettings


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
    )
