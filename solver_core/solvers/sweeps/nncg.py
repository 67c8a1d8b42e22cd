"""Nonsmooth nonlinear conjugate gradients on contact problems, matrix-free.

One projected Gauss-Seidel sweep r -> PGS(r) is taken as a descent step: its change is minus the gradient of a merit,
    grad = -(PGS(r) - r),        f = |grad|^2 / 2,
and conjugate directions are laid through these gradients with the full step and the update in place:

    r <- PGS(r);   beta = |grad|^2 / |grad of the last sweep|^2       (Fletcher-Reeves)
    |grad| grew:    forget the direction                              (restart)
    else:           r <- r + beta p;   p <- beta p - grad

The norm is taken in the metric diag(W), so that the method does not depend on units and masses. Every impulse has its
velocity: r + beta p goes with v + beta M^-1 J' p, which is kept per body, so an iteration costs one sweep and O(rows).

Options: ``conjugacy`` polak_ribiere, beta = max(0, <grad, grad - grad of the last sweep>) / |grad of the last sweep|^2;
``line_search``, which halves the step until f(r + tau p) <= f(r) + c tau grad' p (Armijo), a sweep for each trial.

On small and structured problems (stacks) it needs many times fewer iterations than pgs; where bounds keep changing
it restarts and is no worse. Ends with ``max_iterations`` and its best iterate, or ``failed`` where the problem holds
NaN or infinity.

Source: Silcowitz-Hansen, Niebe and Erleben 2010, section 4 (the listing; the line search of figure 3).
"""

import functools
import math

import numpy as np

from ...compiled.kernel import kernel, subkernel
from ...problem.problem import MAX_ITERATIONS, POLAK_RIBIERE
from ...problem.residuals import natural_map
from ..batches.partitioned_sweep import (
    follow_direction,
    go_back_to_best,
    keep_best,
    lay_rows,
    mix_changes,
    residual_of,
    step_back,
    sweep_island,
    take_impulses,
)
from ..batches.sweep_workspace import allocate_sweep_workspace
from ..linear_algebra.explicit import solve_explicit
from ..registry import Method, register
from ..shared.directions import copy_impulses, remember_velocity
from ..shared.limits import FACTOR_NEXT_CHECK
from ..shared.status import begin_solve, fail, record, status_of, step_is_too_long
from ..shared.sweep import apply_impulses

# A forecast above this many targets is hopeless; conjugate gradients mostly gain more in the end than at first.
_FACTOR_HOPELESS = 10.0


@kernel
def solve_nncg(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Solve one island.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of every contact solver (``registry.Method``).
    workspace : SweepWorkspace

    Returns
    -------
    tuple
        (status, iterations, residual [m/s], scale [m/s], worst block).
    """
    scale, _, residual, worst_block = begin_solve(rows, islands, island, free_velocity, velocity, settings)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    start, never = (residual, worst_block), np.int64(0)
    status, iterations, residual, worst_block = iterate_nncg(
        rows, islands, island, free_velocity, velocity, workspace, settings, scale, start, never
    )
    return status, iterations, residual, scale, worst_block


@subkernel
def iterate_nncg(rows, islands, island, free_velocity, velocity, workspace, settings, scale, start, first_forecast):
    """Iterate on an island whose scale and residual are known.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, workspace, settings
        As of ``solve_nncg``.
    scale : float
        [m/s]
    start : tuple of (float, int)
        ``natural_map`` at the start.
    first_forecast : int
        After this many sweeps, and after each doubling, the sweeps still allowed are given up where their mean gain so
        far would not do, by a factor of ten. 0 never gives up.

    Returns
    -------
    tuple
        (status, sweeps, residual [m/s], worst block). Where it has given up the residual is infinite and the impulses
        are the last iterate's.
    """
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    check_below = target
    residual, worst_block = start
    least_seen, first_seen, next_forecast = math.inf, 0.0, first_forecast
    last_merit, slope, step = 0.0, 0.0, 1.0
    first_body, end_body = islands.body_first[island], islands.body_first[island + 1]
    iteration = calmest = np.int64(0)
    if not residual <= target and settings.max_iterations > 0:
        lay_rows(rows, islands, island, velocity, workspace)
    remember_velocity(islands.body_order, first_body, end_body, velocity, workspace)
    while not residual <= target and iteration < settings.max_iterations:
        largest, merit = sweep_island(rows, islands, island, velocity, workspace, settings, 1.0, 0.0)
        if not merit < math.inf:
            status, _, residual, _, worst_block = fail(rows, islands, island, free_velocity, velocity)
            return status, iteration, residual, worst_block
        record(workspace, iteration, largest, merit)
        iteration += 1
        if iteration == 1:
            first_seen = largest
        if iteration == next_forecast:
            next_forecast *= 2
            if _is_hopeless(first_seen, largest, iteration, settings.max_iterations, target):
                take_impulses(rows, islands, island, workspace)
                return MAX_ITERATIONS, iteration, math.inf, worst_block
        if largest < least_seen:
            least_seen, calmest = largest, iteration
            keep_best(rows, islands, island, velocity, workspace)
        if largest <= check_below:
            residual, worst_block = residual_of(rows, islands, island, velocity, workspace, settings)
            check_below = FACTOR_NEXT_CHECK * largest
        if residual <= target or iteration == settings.max_iterations:
            continue
        if settings.line_search == 1 and step_is_too_long(merit, last_merit, slope, step):
            step *= 0.5
            step_back(rows, islands, island, velocity, workspace, step)
            remember_velocity(islands.body_order, first_body, end_body, velocity, workspace)
            continue
        beta = _conjugacy(rows, islands, island, workspace, settings.conjugacy, merit, last_merit)
        slope = follow_direction(rows, islands, island, velocity, workspace, beta)
        step = 1.0
        last_merit = merit
    if iteration > 0 and residual > target:
        if calmest == iteration:
            residual, worst_block = residual_of(rows, islands, island, velocity, workspace, settings)
        else:
            residual, worst_block = _take_better(rows, islands, island, free_velocity, velocity, workspace, settings)
    return status_of(residual, target, settings.absolute_tolerance), iteration, residual, worst_block


@subkernel
def _is_hopeless(first, present, done, allowed, target):
    """Whether sweeps that go on gaining as they did from the first to the present one end far above the target."""
    if not (first > 0.0 and present > 0.0 and done > 1):
        return False
    gained = math.log(present / first) / (done - 1)
    return present * math.exp(gained * (allowed - done)) > _FACTOR_HOPELESS * target


@subkernel
def _conjugacy(rows, islands, island, workspace, conjugacy, merit, last_merit):
    """beta; 0 in the first iteration, -1 where the merit grew: restart."""
    beta = 0.0 if last_merit == 0.0 else merit / last_merit
    if conjugacy == POLAK_RIBIERE:
        mixed = mix_changes(rows, islands, island, workspace)
        if 0.0 < beta <= 1.0:
            return max(0.0, beta - mixed / last_merit)
    return beta if beta <= 1.0 else -1.0


@subkernel
def _take_better(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Of the last iterate and the one after the calmest sweep, keep the one with the smaller residual."""
    residual, worst_block = residual_of(rows, islands, island, velocity, workspace, settings)
    go_back_to_best(rows, islands, island, workspace)
    apply_impulses(rows, islands, island, free_velocity, velocity)
    best_residual, best_block = natural_map(rows, islands, island, velocity, settings)
    if not residual < best_residual:
        return best_residual, best_block
    copy_impulses(rows.block_row, islands, island, workspace.change, rows.impulse)
    apply_impulses(rows, islands, island, free_velocity, velocity)
    return residual, worst_block


register(
    Method(
        name="nncg",
        title="Nonsmooth nonlinear conjugate gradients",
        kernel=solve_nncg,
        frictions=("box", "cone", "polyhedral"),
        max_iterations=500,
        source="Silcowitz-Hansen, Niebe and Erleben 2010, section 4",
        allocate=allocate_sweep_workspace,
        explicit=functools.partial(solve_explicit, conjugate=True),
        options={"conjugacy": "fletcher_reeves", "line_search": False, "directions": 8},
    )
)
