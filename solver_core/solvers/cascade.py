"""The solver cascade: what the default method tries on one island, in which order, and at what cost.

``auto`` runs it with an exact method: Newton's (``alm_newton``) for cone and box, and what ``auto_polyhedral`` chooses
for the polygon. The attempts, each only if the one before has not reached the tolerance:

at rest       The impulses of the last substep solve the problem as they are, so a solve only measures the residual.
              To use the same impulses again and again is unstable: the velocities that are left grow slowly. When the
              residual of the start exceeds a share of the tolerance (``SHARE_AT_REST``), the exact method solves far
              below it, and once more in the next substep, because the impulses that stop the drift differ from those
              that carry the load. Then nothing is to be done for many substeps. How many depends only on the ratio of
              the two residuals, and how far bodies creep on the first one; so that one is as small as rounding allows.
subdomains    A large island of which most is solved by the start: the exact method on the few bodies around the
              largest errors, and some sweeps, in alternation (``active_subdomain``). Newton's method on the whole of a
              heap on which a box still rolls takes fifty steps to find again what the start already knew, if it does.
first sweeps  A few sweeps of conjugate gradients (``nncg``). They often are enough for a few bodies that touch in
              passing, and then cost less than a step of Newton's method. They are given up as soon as their gain
              forecasts that they will not do: after two of them in a stack.
exact         From the same start again, the exact method. Newton's finds the forces of whatever stands with one to
              some tens of factorisations, however high the stack and however unequal the masses.
last sweeps   Conjugate gradients from there, up to the limit: heaps in the middle of an impact, where neither gets
              far. Counts as a fallback in the report.

If the exact method fails, the next solves of these bodies do without it, twice as many after each failure, or until the
bodies have calmed down (``SolveMemory``). Sweeps alone then do what they can in a share of the limit: bodies that fly
about need no more, and are solved anew in the next substep.

The exact method does not begin where the first sweeps ended: sweeps spoil the start for Newton's method (a cold stack
of 30 took 18 steps from there and 5 from zero). One residual judges all attempts, and a later one never makes it worse.
What was measured: docs/solvers/auto.md.

Ends with the status of the last attempt; ``failed`` if the problem holds NaN or infinity.
"""

import math
from typing import NamedTuple

import numpy as np

from ..compiled.kernel import bind, inlined, subkernel
from ..problem.problem import CONFLICTING
from ..problem.residuals import natural_map, problem_scale
from .active_subdomain import SubdomainArrays, allocate_subdomain, solve_subdomains, suits_subdomains, sweep_hits
from .batches.sweep_workspace import SweepWorkspace, allocate_sweep_workspace
from .policy import (
    BLOCKS_FOR_SUBDOMAINS,
    FACTOR_BEYOND,
    FACTOR_CORRECTED,
    FACTOR_RESTING,
    FEW_BLOCKS,
    FORECAST_FEW,
    FORECAST_MANY,
    RATIO_AT_REST,
    RATIO_ROUGH,
    RATIO_SETTLED,
    RATIO_SLOW,
    SHARE_AT_REST,
    STEPS_EXACT,
    STEPS_RESTING,
    SWEEPS_FIRST,
    SWEEPS_HIT,
    SWEEPS_MOVING,
)
from .shared.directions import copy_impulses
from .shared.limits import with_ends, with_limit
from .shared.status import fail, status_of
from .shared.sweep import apply_impulses
from .solve_memory import (
    SolveMemory,
    allocate_solve_memory,
    count_down_wait,
    note_failure,
    note_success,
    swap_values,
)
from .sweeps.nncg import iterate_nncg, solve_nncg

# The first measurement, which is all that a solve at rest does.
_first_scale, _first_residual = inlined(problem_scale), inlined(natural_map)


class CascadeWorkspace(NamedTuple):
    """Room for all attempts.

    Attributes
    ----------
    sweep : SweepWorkspace
    exact : workspace of the exact method
    subdomain : SubdomainArrays
    kept : float64 [row_capacity]
        Impulses of an earlier attempt [N s].
    memory : SolveMemory
        Carried from call to call.
    fallbacks : int64 [1]
        Written: grows by one each time that the last sweeps were needed; never reset.
    history : float64 [any]
        Not written.
    """

    sweep: SweepWorkspace
    exact: tuple
    subdomain: SubdomainArrays
    kept: np.ndarray
    memory: SolveMemory
    fallbacks: np.ndarray
    history: np.ndarray


def allocate_cascade(allocate_exact, row_capacity: int, body_capacity: int, history: int) -> CascadeWorkspace:
    """Room for this many rows and bodies; ``allocate_exact`` is ``Method.allocate`` of the exact method."""
    return CascadeWorkspace(
        sweep=allocate_sweep_workspace(row_capacity, body_capacity, 0),
        exact=allocate_exact(row_capacity, body_capacity, 0),
        subdomain=allocate_subdomain(row_capacity, body_capacity),
        kept=np.zeros(row_capacity),
        memory=allocate_solve_memory(body_capacity),
        fallbacks=np.zeros(1, np.int64),
        history=np.zeros(history),
    )


def cascade_solver(name: str, solve_exactly):
    """Kernel of the cascade with this exact method, a kernel itself.

    Parameters
    ----------
    name : str
        Of the kernel.
    solve_exactly : kernel
        Takes and returns what ``registry.Method.kernel`` does; its workspace is ``CascadeWorkspace.exact``.

    Returns
    -------
    kernel
    """
    method = {"solve_exactly": solve_exactly}
    first = bind(
        _attempt_first,
        f"{name}_at_first",
        inline=True,
        solve_active_subdomains=bind(solve_subdomains, f"{name}_in_subdomains", **method),
        solve_at_rest=bind(_solve_at_rest, f"{name}_at_rest", inline=True, **method),
    )
    return bind(_solve_cascade, name, inline=True, attempt_first=first, **method)


def solve_exactly(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Stand-in for the exact method, which ``cascade_solver`` binds."""
    raise NotImplementedError("the cascade was called without an exact method")


# Stand-ins for the attempts with an exact method, which ``cascade_solver`` binds.
solve_active_subdomains = solve_at_rest = attempt_first = solve_exactly


def _solve_cascade(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Solve one island.

    Parameters
    ----------
    rows : RowArrays
        Read; ``impulse`` holds the start and is written.
    islands : IslandArrays
        Read.
    island : int
    free_velocity : float64 [body_count, 6]
        Read.
    velocity : float64 [body_count, 6]
        v_free + M^-1 J' r at the start; written.
    workspace : CascadeWorkspace
    settings : SolverSettings
        ``max_iterations`` holds for all attempts together.

    Returns
    -------
    tuple
        (status, iterations of all attempts, residual [m/s], scale [m/s], worst block).
    """
    scale = _first_scale(rows, islands, island, free_velocity)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    residual, worst_block = _first_residual(rows, islands, island, velocity, settings)
    # not a literal, for which Numba would compile the callees a second time
    iterations, steps, closeness = np.int64(0), settings.max_iterations, 0.0
    is_large = islands.block_first[island + 1] - islands.block_first[island] >= BLOCKS_FOR_SUBDOMAINS
    rests, due, allowed = _what_is_due(
        rows, islands, island, velocity, workspace.memory, residual, scale, target, is_large
    )
    if settings.exactly > 0.0:
        allowed = settings.exactly * target
    if residual <= allowed or settings.max_iterations == 0:
        return status_of(residual, target, settings.absolute_tolerance), iterations, residual, scale, worst_block
    copy_impulses(rows.block_row, islands, island, rows.impulse, workspace.kept)
    if not settings.exactly > 0.0:
        aims, start = (scale, target, due, rests), (residual, worst_block)
        steps, closeness, outcome = attempt_first(
            rows, islands, island, free_velocity, velocity, workspace, settings, aims, start
        )
        status, iterations, residual, worst_block = outcome
        if steps <= 0:
            return status, iterations, residual, scale, worst_block
    _go_back(rows, islands, island, free_velocity, velocity, workspace.kept)
    status, done, residual, _, worst_block = solve_exactly(
        rows, islands, island, free_velocity, velocity, workspace.exact, with_limit(settings, steps)
    )
    iterations += done
    last_wait = note_success(islands, island, workspace.memory)
    # rows that contradict each other are as good as solved
    if residual > target and status != CONFLICTING and settings.waits > 0:
        note_failure(islands, island, workspace.memory, last_wait, closeness)
        outcome = status, iterations, residual, worst_block
        status, iterations, residual, worst_block = _sweep_on(
            rows, islands, island, free_velocity, velocity, workspace, settings, outcome
        )
    return status, iterations, residual, scale, worst_block


def _attempt_first(rows, islands, island, free_velocity, velocity, workspace, settings, aims, start):
    """The attempts before "exact".

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, workspace, settings
        As of the cascade.
    aims : tuple
        (scale, target, what is due [m/s], whether the bodies rest).
    start : tuple
        (residual [m/s], worst block).

    Returns
    -------
    steps : int
        Left for the exact method; 0 if no more is to be tried.
    closeness : float
        Of ``count_down_wait``.
    outcome : tuple
        (status, iterations, residual [m/s], worst block).
    """
    (scale, target, due, rests), (residual, worst_block) = aims, start
    memory, blocks = workspace.memory, islands.block_first[island + 1] - islands.block_first[island]
    none, iterations, is_large = np.int64(0), np.int64(0), blocks >= BLOCKS_FOR_SUBDOMAINS
    if rests:
        iterations, residual, worst_block = solve_at_rest(
            rows, islands, island, free_velocity, velocity, workspace, settings, due, target
        )
        if residual <= target:
            status = status_of(residual, target, settings.absolute_tolerance)
            return none, 0.0, (status, iterations, residual, worst_block)
    suits = is_large and residual <= RATIO_SETTLED * scale
    if suits and suits_subdomains(rows, islands, island, velocity, memory, workspace.sweep.change, settings, target):
        status, iterations, residual, worst_block = solve_active_subdomains(
            rows, islands, island, free_velocity, velocity, workspace, settings, scale, (residual, worst_block)
        )
        if iterations > 0:
            workspace.fallbacks[0] += 1 if residual > target else 0
            return none, 0.0, (status, iterations, residual, worst_block)
        # there was no room for the first subdomain
    wait, closeness = count_down_wait(islands, island, memory, scale, residual)
    if settings.waits == 0:
        wait = none
    sweeps, forecast = _allowed_sweeps(blocks, wait, settings.max_iterations - iterations)
    status, done, residual, worst_block = iterate_nncg(
        rows,
        islands,
        island,
        free_velocity,
        velocity,
        workspace.sweep,
        with_limit(settings, sweeps),
        scale,
        (residual, worst_block),
        forecast,
    )
    iterations += done
    outcome = status, iterations, residual, worst_block
    if residual > target and wait > 0:
        workspace.fallbacks[0] += 1
        outcome = _soften_hits(rows, islands, island, free_velocity, velocity, workspace, settings, scale, outcome)
    if not residual > target or wait > 0:
        return none, closeness, outcome
    steps = settings.max_iterations - iterations
    return (min(steps, STEPS_EXACT) if settings.waits > 0 else steps), closeness, outcome


@subkernel
def _what_is_due(rows, islands, island, velocity, memory, residual, scale, target, is_large):
    """Whether the bodies of an island rest; the residual that is due then, and the start that is good enough [m/s]."""
    corrected = swap_values(islands, island, memory.corrected, np.int64(0))
    share_due = FACTOR_CORRECTED if corrected > 0 else 1.0
    due = min(target, max(SHARE_AT_REST * target, RATIO_AT_REST * scale))
    rests = residual <= FACTOR_RESTING * target
    if rests and residual > share_due * due and not _is_slow(rows, islands, island, velocity, RATIO_SLOW * scale):
        due = target
        if is_large:
            # a body that moves in a heap is no reason to solve all of it to the end
            share_due, rests = 1.0, False
    return rests, due, share_due * due


def _solve_at_rest(rows, islands, island, free_velocity, velocity, workspace, settings, due, target):
    """The attempt "at rest": the exact method to far below what is due; goes back to the start if that fails.

    Returns (steps, residual [m/s], worst block) of the exact method, also if it failed.
    """
    factor = FACTOR_BEYOND * due / target if target > 0.0 else FACTOR_BEYOND
    steps = min(STEPS_RESTING, settings.max_iterations)
    beyond = with_ends(settings, factor * settings.tolerance, factor * settings.absolute_tolerance, steps)
    _, done, residual, _, worst_block = solve_exactly(
        rows, islands, island, free_velocity, velocity, workspace.exact, beyond
    )
    if residual <= target:
        swap_values(islands, island, workspace.memory.corrected, np.int64(1))
    else:
        _go_back(rows, islands, island, free_velocity, velocity, workspace.kept)
    return done, residual, worst_block


@subkernel
def _allowed_sweeps(blocks, wait, limit):
    """How many first sweeps there are, and after how many they are first given up (0: never)."""
    sweeps, forecast = SWEEPS_FIRST, np.int64(FORECAST_FEW if blocks <= FEW_BLOCKS else FORECAST_MANY)
    if wait > 0:
        sweeps, forecast = SWEEPS_MOVING, np.int64(0)
    if sweeps >= limit:
        sweeps, forecast = limit, np.int64(0)
    return sweeps, forecast


@subkernel(inline=True)
def _soften_hits(rows, islands, island, free_velocity, velocity, workspace, settings, scale, outcome):
    """The end of a solve without the exact method: more sweeps while the residual is that of a hit.

    ``outcome`` and what is returned: (status, iterations, residual [m/s], worst block).
    """
    status, iterations, residual, worst_block = outcome
    rough = RATIO_ROUGH * scale
    is_large = islands.block_first[island + 1] - islands.block_first[island] >= BLOCKS_FOR_SUBDOMAINS
    if is_large and residual > rough and iterations < settings.max_iterations:
        limit = min(SWEEPS_HIT, settings.max_iterations - iterations)
        start, error = (residual, worst_block), workspace.sweep.change
        done, residual, worst_block = sweep_hits(
            rows, islands, island, velocity, workspace.subdomain, error, settings, rough, limit, start
        )
        iterations += done
    if residual > rough and iterations < settings.max_iterations:
        limit = min(SWEEPS_HIT, settings.max_iterations - iterations)
        rough_settings = with_ends(settings, max(RATIO_ROUGH, settings.tolerance), settings.absolute_tolerance, limit)
        status, done, residual, _, worst_block = solve_nncg(
            rows, islands, island, free_velocity, velocity, workspace.sweep, rough_settings
        )
        iterations += done
        target = max(settings.tolerance * scale, settings.absolute_tolerance)
        status = status_of(residual, target, settings.absolute_tolerance)
    return status, iterations, residual, worst_block


@subkernel(inline=True)
def _sweep_on(rows, islands, island, free_velocity, velocity, workspace, settings, outcome):
    """The attempt "last sweeps", after the exact method has failed; its outcome stays if that is the better one.

    ``outcome`` and what is returned: (status, iterations, residual [m/s], worst block).
    """
    status, iterations, residual, worst_block = outcome
    workspace.fallbacks[0] += 1
    copy_impulses(rows.block_row, islands, island, rows.impulse, workspace.kept)
    limited = with_limit(settings, settings.max_iterations - iterations)
    swept_status, done, swept_residual, _, swept_block = solve_nncg(
        rows, islands, island, free_velocity, velocity, workspace.sweep, limited
    )
    iterations += done
    if swept_residual <= residual:
        return swept_status, iterations, swept_residual, swept_block
    _go_back(rows, islands, island, free_velocity, velocity, workspace.kept)
    return status, iterations, residual, worst_block


@subkernel
def _go_back(rows, islands, island, free_velocity, velocity, kept):
    """Take the kept impulses again, and their velocities."""
    copy_impulses(rows.block_row, islands, island, kept, rows.impulse)
    apply_impulses(rows, islands, island, free_velocity, velocity)


@subkernel
def _is_slow(rows, islands, island, velocity, speed):
    """Whether each body of an island has less kinetic energy than at this speed [m/s] without spin."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        mass, total = rows.body_mass[body], 0.0
        for i in range(6):
            for j in range(6):
                total += velocity[body, i] * mass[i, j] * velocity[body, j]
        if total > mass[0, 0] * speed * speed:
            return False
    return True
