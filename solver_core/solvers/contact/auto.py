"""The default: for each island the method that gets to the tolerance soonest, and another where it does not.

At rest the last impulses solve the problem as they are, and a solve is a look at the residual. The small velocities
that are left grow slowly (forces that do not react balance a stack like a broom on a palm). Once the start is beyond a
share of the tolerance, by little, the exact method goes on far below that, and once more in the next substep, for what
stopped the creeping is not what holds the bodies. Then there is nothing to do again for many substeps. How many hangs
on the ratio of the two residuals alone, and how far bodies creep on the first: so that is as small as rounding allows.

Else in turns, each only where the one before has not reached the tolerance:

1. a few sweeps of conjugate gradients (``nncg``), which often are enough for a few bodies that touch in passing, where
   they cost less than a step of Newton's method. They are given up as soon as their gain forecasts that they will not
   do: after two of them in a stack;
2. from the same start again, the exact method: Newton's (``alm_newton``) for cone and box, which finds the forces of
   whatever stands in one to some tens of factorisations, however high the stack and however unequal the masses;
   ``auto_polyhedral`` says which for the polygon;
3. conjugate gradients from there, up to the limit: heaps in the middle of an impact, where neither gets far.

Where turn 2 has failed it is left out for the next solves of these bodies, for twice as many after each failure or
until they have calmed down, and sweeps alone do what they can in a share of the limit: bodies that fly about need no
more, and ask again soon.

Turn 2 does not begin where turn 1 ended: sweeps spoil the start for Newton's method (a cold stack of 30 took 18 steps
from there and 5 from zero). The residual that judges them all decides, and a later turn never makes it worse.
Turn 3 counts as a fallback in the report. What was measured: docs/solvers/auto.md.

Ends with the status of the last turn; ``failed`` where the problem holds NaN or infinity.
"""

import math
from typing import NamedTuple

import numpy as np

from ...kernel import bind, inlined, subkernel
from ...residuals import natural_map, problem_scale
from ...rows import SolverSettings, SolverWorkspace, allocate_solver_workspace
from ..registry import Method, register
from .alm_newton import allocate_alm_workspace, solve_alm_newton
from .ending import fail, status_of
from .nncg import iterate_nncg, solve_nncg
from .sweep import apply_impulses
from .touch_up import RATIO_ROUGH

# A start whose residual is below this share of the scale is that of bodies which rest: only details are missing.
_RATIO_SETTLED = 0.1
# Sweeps of the first turn, and after how many they are first given up where their gain will not do: in islands of up to
# so many contacts, where a step of the exact method costs as much as six sweeps and more, and in others.
_SWEEPS_FIRST = 30
_FEW_BLOCKS, _FORECAST_FEW, _FORECAST_MANY = 16, 4, 2
# A start whose residual is below this many tolerances is that of bodies which have come to rest: the exact method goes
# on to this share of what is due, in so many steps.
_FACTOR_RESTING = 10.0
_FACTOR_BEYOND = 1e-3
_STEPS_RESTING = 12
# What is due: the tolerance; of bodies at rest this share of it, but no less than that of the scale, for starts cannot
# be much better than rounding. They are at rest where no body has more energy than at the last share of the scale:
# creeping is slower by far, and what rolls or spins is faster.
_SHARE_AT_REST = 0.02
_RATIO_AT_REST = 1e-8
_RATIO_SLOW = 1e-3
# What stopped a creeping body is not what holds it: after such a solve the next start must be below this share of what
# is due, or it is repeated. Were it as large as 1, what stops them and what holds them would take turns for ever.
_FACTOR_CORRECTED = 0.01
# Steps of the second turn: where all is in motion Newton's method either ends soon or not at all.
_STEPS_SETTLED, _STEPS_RESTLESS = 100, 40
# Solves without turn 2 after it has failed, at first and at most; but it is tried again once the start is closer by
# this power of two than it was at the failure.
_WAIT_LEAST, _WAIT_MOST = 4, 256
_POWER_CALMED = 4
# The sweeps of such a solve, and how many more there are to bring the residual below this share of the scale: the hits
# themselves.
_SWEEPS_MOVING, _SWEEPS_HIT = 40, 240
# The first look, which is all that a solve at rest does.
_scale_at_first, _residual_at_first = inlined(problem_scale), inlined(natural_map)
# Rows of ``memory``.
_CORRECTED, _WAIT, _LAST_WAIT, _FAILED_AT = range(4)


class AutoWorkspace(NamedTuple):
    """Room for all turns.

    Attributes
    ----------
    sweep : SolverWorkspace
    exact : workspace of the exact method
    kept : float64 [row_capacity]
        Impulses of an earlier turn.
    memory : int64 [4, body_capacity]
        Carried from call to call: 1 where a body's last solve was one of bodies at rest; for how many solves its
        second turn is left out, and for how many it was at the last failure; and how close the start was then, as a
        power of two of the scale over the residual.
    fallbacks : int64 [1]
        Written: grows by one for each third turn; never reset.
    history : float64 [0]
        Not written.
    """

    sweep: SolverWorkspace
    exact: tuple
    kept: np.ndarray
    memory: np.ndarray
    fallbacks: np.ndarray
    history: np.ndarray


def allocate_in_turns(allocate_exact, row_capacity, body_capacity, history) -> AutoWorkspace:
    """Room for so many rows and bodies; ``allocate_exact`` is ``Method.allocate`` of the exact method."""
    return AutoWorkspace(
        sweep=allocate_solver_workspace(row_capacity, body_capacity, 0),
        exact=allocate_exact(row_capacity, body_capacity, 0),
        kept=np.zeros(row_capacity),
        memory=np.zeros((_FAILED_AT + 1, body_capacity), np.int64),
        fallbacks=np.zeros(1, np.int64),
        history=np.zeros(history),
    )


def solver_in_turns(name: str, solve_exactly):
    """Kernel that takes turns with this exact method."""
    return bind(_solve_in_turns, name, inline=True, solve_exactly=solve_exactly)


def solve_exactly(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Stand-in for the exact method, which ``solver_in_turns`` binds."""
    raise NotImplementedError("the turns were called without an exact method")


def _solve_in_turns(rows, islands, island, free_velocity, velocity, workspace, settings):
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
    workspace : AutoWorkspace
    settings : SolverSettings
        ``max_iterations`` holds for all turns together.

    Returns
    -------
    tuple
        (status, iterations of all turns, residual [m/s], scale [m/s], worst block).
    """
    scale = _scale_at_first(rows, islands, island, free_velocity)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    residual, worst_block = _residual_at_first(rows, islands, island, velocity, settings)
    # no literals, for which Numba would compile what they are handed to a second time
    nothing = np.int64(0)
    iterations = nothing
    memory = workspace.memory
    corrected = _replace_memory(islands, island, memory[_CORRECTED], nothing)
    share_due = _FACTOR_CORRECTED if corrected > 0 else 1.0
    due = min(target, max(_SHARE_AT_REST * target, _RATIO_AT_REST * scale))
    if _FACTOR_RESTING * target >= residual > share_due * due and not _is_slow(
        rows, islands, island, velocity, _RATIO_SLOW * scale
    ):
        due = target
    if residual <= share_due * due or settings.max_iterations == 0:
        return status_of(residual, target, settings.absolute_tolerance), iterations, residual, scale, worst_block
    _copy(rows, islands, island, rows.impulse, workspace.kept)
    if residual <= _FACTOR_RESTING * target:
        status, iterations, residual, _, worst_block = solve_exactly(
            rows, islands, island, free_velocity, velocity, workspace.exact, _beyond(settings, due, target)
        )
        if residual <= target:
            _replace_memory(islands, island, memory[_CORRECTED], nothing + 1)
            return status_of(residual, target, settings.absolute_tolerance), iterations, residual, scale, worst_block
        _copy(rows, islands, island, workspace.kept, rows.impulse)
        apply_impulses(rows, islands, island, free_velocity, velocity)
    wait = _replace_memory(islands, island, memory[_WAIT], nothing)
    closeness = _power_of_two(scale, residual)
    if wait > 0 and closeness >= _largest_memory(islands, island, memory[_FAILED_AT]) + _POWER_CALMED:
        wait = nothing
    settled = residual <= _RATIO_SETTLED * scale
    few = islands.block_first[island + 1] - islands.block_first[island] <= _FEW_BLOCKS
    sweeps, forecast = _SWEEPS_FIRST, nothing + (_FORECAST_FEW if few else _FORECAST_MANY)
    if wait > 0:
        sweeps, forecast = _SWEEPS_MOVING, nothing
        _replace_memory(islands, island, memory[_WAIT], wait - 1)
    if sweeps >= settings.max_iterations - iterations:
        sweeps, forecast = settings.max_iterations - iterations, nothing
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
    steps = min(_STEPS_SETTLED if settled else _STEPS_RESTLESS, settings.max_iterations - iterations)
    if residual > target and wait > 0:
        workspace.fallbacks[0] += 1
        if residual > RATIO_ROUGH * scale and iterations < settings.max_iterations:
            limit = min(_SWEEPS_HIT, settings.max_iterations - iterations)
            status, done, residual, _, worst_block = solve_nncg(
                rows,
                islands,
                island,
                free_velocity,
                velocity,
                workspace.sweep,
                _with_ends(settings, max(RATIO_ROUGH, settings.tolerance), settings.absolute_tolerance, limit),
            )
            iterations += done
            status = status_of(residual, target, settings.absolute_tolerance)
    elif residual > target and steps > 0:
        _copy(rows, islands, island, workspace.kept, rows.impulse)
        apply_impulses(rows, islands, island, free_velocity, velocity)
        status, done, residual, _, worst_block = solve_exactly(
            rows, islands, island, free_velocity, velocity, workspace.exact, with_limit(settings, steps)
        )
        iterations += done
        last_wait = _replace_memory(islands, island, memory[_LAST_WAIT], nothing)
        _replace_memory(islands, island, memory[_FAILED_AT], nothing)
        if residual > target:
            wait = min(max(2 * last_wait, _WAIT_LEAST), _WAIT_MOST)
            _replace_memory(islands, island, memory[_WAIT], wait)
            _replace_memory(islands, island, memory[_LAST_WAIT], wait)
            _replace_memory(islands, island, memory[_FAILED_AT], closeness)
            workspace.fallbacks[0] += 1
            rest = with_limit(settings, settings.max_iterations - iterations)
            status, done, residual, worst_block = _sweep_on(
                rows, islands, island, free_velocity, velocity, workspace, rest, residual, worst_block, status
            )
            iterations += done
    return status, iterations, residual, scale, worst_block


@subkernel
def _copy(rows, islands, island, source, target):
    """Impulses of an island."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            target[row] = source[row]


@subkernel
def with_limit(settings, limit):
    """The same settings with another iteration limit."""
    return _with_ends(settings, settings.tolerance, settings.absolute_tolerance, limit)


@subkernel
def _replace_memory(islands, island, memory, value):
    """Set what is remembered of an island's bodies; returns the largest of what was."""
    largest = np.int64(0)
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        largest = max(largest, memory[body])
        memory[body] = value
    return largest


@subkernel
def _largest_memory(islands, island, memory):
    """The largest of what is remembered of an island's bodies."""
    largest = np.int64(0)
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        largest = max(largest, memory[islands.body_order[index]])
    return largest


@subkernel
def _power_of_two(larger, smaller):
    """How many times the one can be halved before it is below the other, at most 60; 0 where it is."""
    power = np.int64(0)
    while power < 60 and smaller < larger:
        larger *= 0.5
        power += 1
    return power


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


@subkernel
def _beyond(settings, due, target):
    """Settings of the exact method for bodies at rest, of whose start not the ``target`` is due but ``due``."""
    factor = _FACTOR_BEYOND * due / target if target > 0.0 else _FACTOR_BEYOND
    return _with_ends(
        settings,
        factor * settings.tolerance,
        factor * settings.absolute_tolerance,
        min(_STEPS_RESTING, settings.max_iterations),
    )


@subkernel
def _with_ends(settings, tolerance, absolute_tolerance, limit):
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


@subkernel
def _sweep_on(rows, islands, island, free_velocity, velocity, workspace, settings, residual, worst_block, status):
    """Conjugate gradients from where the exact method gave up; its iterate stays where that was better."""
    _copy(rows, islands, island, rows.impulse, workspace.kept)
    swept_status, done, swept_residual, _, swept_block = solve_nncg(
        rows, islands, island, free_velocity, velocity, workspace.sweep, settings
    )
    if swept_residual <= residual:
        return swept_status, done, swept_residual, swept_block
    _copy(rows, islands, island, workspace.kept, rows.impulse)
    apply_impulses(rows, islands, island, free_velocity, velocity)
    return status, done, residual, worst_block


solve_auto = solver_in_turns("solve_auto", solve_alm_newton)


def _allocate(row_capacity, body_capacity, history=0):
    return allocate_in_turns(allocate_alm_workspace, row_capacity, body_capacity, history)


register(
    Method(
        name="auto",
        title="Chosen island by island",
        kernel=solve_auto,
        frictions=("cone", "box", "polyhedral"),
        max_iterations=500,
        source="docs/solvers/auto.md",
        allocate=_allocate,
        fallbacks=lambda workspace: workspace.fallbacks,
        carried=("memory",),
    )
)
