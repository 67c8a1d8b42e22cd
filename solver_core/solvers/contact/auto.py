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

In a large island of which most is solved as it is, patches come before all that (``patches``): in turns the exact
method on the few bodies around the largest errors, and some sweeps. Newton's method on the whole of a heap on which a
box still rolls takes fifty steps to find again what the start already knew, if it does.

Turn 2 does not begin where turn 1 ended: sweeps spoil the start for Newton's method (a cold stack of 30 took 18 steps
from there and 5 from zero). The residual that judges them all decides, and a later turn never makes it worse.
Turn 3 counts as a fallback in the report. What was measured: docs/solvers/auto.md.

Ends with the status of the last turn; ``failed`` where the problem holds NaN or infinity.
"""

import math
from typing import NamedTuple

import numpy as np

from ...kernel import bind, inlined, subkernel
from ...problem import Status
from ...residuals import block_errors, natural_map, problem_scale
from ...rows import SolverWorkspace, allocate_solver_workspace
from ..registry import Method, register
from .alm_newton import allocate_alm_workspace, solve_alm_newton
from .ending import fail, status_of
from .limits import with_ends, with_limit
from .nncg import iterate_nncg, solve_nncg
from .patches import MOST_BLOCKS, PatchArrays, allocate_patch, cut_patch, put_back, sweep_hits
from .sweep import apply_impulses
from .touch_up import RATIO_ROUGH

_MAX_ITERATIONS = int(Status.MAX_ITERATIONS)
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
# Patches are for islands from so many blocks on, of which at most this share is not solved by the start. A patch is
# what is around errors above this share of the largest, and is solved to this share of the target in so many steps.
# After each there are so many sweeps.
_BLOCKS_FOR_PATCHES, _SHARE_IN_PATCHES = 300, 0.25
_SHARE_OF_LARGEST, _SHARE_OF_TARGET, _STEPS_PATCH = 0.1, 0.1, 40
_SWEEPS_BETWEEN_PATCHES = 10
# A patch has one ring, and one more for each patch since the residual was last halved; after so many of these, or so
# many patches in all, they are given up.
_RINGS_PATCH, _MOST_STALLED_PATCHES, _MOST_PATCHES = np.int64(1), 2, 12
# Where they fail they are left out for the next 0, 1, 3, 7 and at most so many solves, the longer the more often they
# have failed in turn. The exact method on all of an island takes twenty times as long, so it has its turn only then.
_WAIT_MOST_PATCHES = 15
# The first look, which is all that a solve at rest does.
_scale_at_first, _residual_at_first = inlined(problem_scale), inlined(natural_map)
# Rows of ``memory``.
_CORRECTED, _WAIT, _LAST_WAIT, _FAILED_AT, _PATCH_WAIT, _NEXT_PATCH_WAIT = range(6)


class AutoWorkspace(NamedTuple):
    """Room for all turns.

    Attributes
    ----------
    sweep : SolverWorkspace
    exact : workspace of the exact method
    kept : float64 [row_capacity]
        Impulses of an earlier turn.
    patch : PatchArrays
    memory : int64 [6, body_capacity]
        Carried from call to call: 1 where a body's last solve was one of bodies at rest; for how many solves its
        second turn is left out, and for how many it was at the last failure; and how close the start was then, as a
        power of two of the scale over the residual; for how many solves patches are left out, and for how many they
        are after the next failure.
    fallbacks : int64 [1]
        Written: grows by one for each third turn; never reset.
    history : float64 [0]
        Not written.
    """

    sweep: SolverWorkspace
    exact: tuple
    patch: PatchArrays
    kept: np.ndarray
    memory: np.ndarray
    fallbacks: np.ndarray
    history: np.ndarray


def allocate_in_turns(allocate_exact, row_capacity, body_capacity, history) -> AutoWorkspace:
    """Room for so many rows and bodies; ``allocate_exact`` is ``Method.allocate`` of the exact method."""
    return AutoWorkspace(
        sweep=allocate_solver_workspace(row_capacity, body_capacity, 0),
        exact=allocate_exact(row_capacity, body_capacity, 0),
        patch=allocate_patch(row_capacity, body_capacity),
        kept=np.zeros(row_capacity),
        memory=np.zeros((_NEXT_PATCH_WAIT + 1, body_capacity), np.int64),
        fallbacks=np.zeros(1, np.int64),
        history=np.zeros(history),
    )


def solver_in_turns(name: str, solve_exactly):
    """Kernel that takes turns with this exact method."""
    solve_in_patches = bind(_solve_in_patches, f"{name}_in_patches", solve_exactly=solve_exactly)
    return bind(_solve_in_turns, name, inline=True, solve_exactly=solve_exactly, solve_in_patches=solve_in_patches)


def solve_exactly(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Stand-in for the exact method, which ``solver_in_turns`` binds."""
    raise NotImplementedError("the turns were called without an exact method")


def solve_in_patches(rows, islands, island, free_velocity, velocity, workspace, settings, scale, start):
    """Stand-in for ``_solve_in_patches`` with this exact method, which ``solver_in_turns`` binds."""
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
    is_large = islands.block_first[island + 1] - islands.block_first[island] >= _BLOCKS_FOR_PATCHES
    rests = residual <= _FACTOR_RESTING * target
    if rests and residual > share_due * due and not _is_slow(rows, islands, island, velocity, _RATIO_SLOW * scale):
        due = target
        if is_large:
            # what moves in a heap is no reason to ask all of it to the end
            share_due, rests = 1.0, False
    if residual <= share_due * due or settings.max_iterations == 0:
        return status_of(residual, target, settings.absolute_tolerance), iterations, residual, scale, worst_block
    _copy(rows, islands, island, rows.impulse, workspace.kept)
    if rests:
        status, iterations, residual, _, worst_block = solve_exactly(
            rows, islands, island, free_velocity, velocity, workspace.exact, _beyond(settings, due, target)
        )
        if residual <= target:
            _replace_memory(islands, island, memory[_CORRECTED], nothing + 1)
            return status_of(residual, target, settings.absolute_tolerance), iterations, residual, scale, worst_block
        _copy(rows, islands, island, workspace.kept, rows.impulse)
        apply_impulses(rows, islands, island, free_velocity, velocity)
    settled = residual <= _RATIO_SETTLED * scale
    if is_large and settled and _is_for_patches(rows, islands, island, velocity, workspace, settings, target):
        status, iterations, residual, worst_block = solve_in_patches(
            rows, islands, island, free_velocity, velocity, workspace, settings, scale, (residual, worst_block)
        )
        if iterations > 0:
            workspace.fallbacks[0] += 1 if residual > target else 0
            return status, iterations, residual, scale, worst_block
        # there was no room for the first patch
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
        if is_large and residual > RATIO_ROUGH * scale and iterations < settings.max_iterations:
            limit = min(_SWEEPS_HIT, settings.max_iterations - iterations)
            done, residual, worst_block = sweep_hits(
                rows,
                islands,
                island,
                velocity,
                workspace.patch,
                workspace.sweep.change,
                settings,
                RATIO_ROUGH * scale,
                limit,
                (residual, worst_block),
            )
            iterations += done
        if residual > RATIO_ROUGH * scale and iterations < settings.max_iterations:
            limit = min(_SWEEPS_HIT, settings.max_iterations - iterations)
            status, done, residual, _, worst_block = solve_nncg(
                rows,
                islands,
                island,
                free_velocity,
                velocity,
                workspace.sweep,
                with_ends(settings, max(RATIO_ROUGH, settings.tolerance), settings.absolute_tolerance, limit),
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
def _is_for_patches(rows, islands, island, velocity, workspace, settings, target):
    """Whether an island is solved but for a small share, and patches have not just failed there."""
    count = islands.block_first[island + 1] - islands.block_first[island]
    wait = _replace_memory(islands, island, workspace.memory[_PATCH_WAIT], np.int64(0))
    if wait > 0:
        _replace_memory(islands, island, workspace.memory[_PATCH_WAIT], wait - 1)
        return False
    error, unsolved = workspace.sweep.change, 0
    block_errors(rows, islands, island, velocity, settings, error)
    for place in range(count):
        if error[place] > _FACTOR_RESTING * target:
            unsolved += 1
    return unsolved <= min(MOST_BLOCKS, _SHARE_IN_PATCHES * count)


def _solve_in_patches(rows, islands, island, free_velocity, velocity, workspace, settings, scale, start):
    """Solve one island patch by patch.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, workspace, settings
        As of ``_solve_in_turns``.
    scale : float
        [m/s]
    start : tuple of (float, int)
        ``natural_map`` at the start.

    Returns
    -------
    tuple
        (status, iterations, residual [m/s], worst block).
    """
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    residual, worst_block = start
    iterations = stalled = np.int64(0)
    least, error, patch, status = residual, workspace.sweep.change, workspace.patch, _MAX_ITERATIONS
    for _ in range(_MOST_PATCHES):
        block_errors(rows, islands, island, velocity, settings, error)
        above = max(target, _SHARE_OF_LARGEST * residual)
        if not cut_patch(rows, islands, island, velocity, error, above, _RINGS_PATCH + stalled, patch):
            break
        steps = min(_STEPS_PATCH, settings.max_iterations - iterations)
        _, done, _, _, _ = solve_exactly(
            patch.rows,
            patch.islands,
            np.int64(0),
            patch.free_velocity,
            patch.velocity,
            workspace.exact,
            with_ends(settings, 0.0, _SHARE_OF_TARGET * target, steps),
        )
        iterations += done
        put_back(rows, velocity, patch)
        start = natural_map(rows, islands, island, velocity, settings)
        status, done, residual, worst_block = iterate_nncg(
            rows,
            islands,
            island,
            free_velocity,
            velocity,
            workspace.sweep,
            with_limit(settings, min(_SWEEPS_BETWEEN_PATCHES, settings.max_iterations - iterations)),
            scale,
            start,
            np.int64(0),
        )
        iterations += done
        if residual <= 0.5 * least:
            least, stalled = residual, np.int64(0)
        else:
            stalled += 1
        if residual <= target or iterations >= settings.max_iterations or stalled == _MOST_STALLED_PATCHES:
            break
    wait = next_wait = np.int64(0)
    if residual > target:
        wait = _largest_memory(islands, island, workspace.memory[_NEXT_PATCH_WAIT])
        next_wait = min(2 * wait + 1, _WAIT_MOST_PATCHES)
    _replace_memory(islands, island, workspace.memory[_PATCH_WAIT], wait)
    _replace_memory(islands, island, workspace.memory[_NEXT_PATCH_WAIT], next_wait)
    return status, iterations, residual, worst_block


@subkernel
def _copy(rows, islands, island, source, target):
    """Impulses of an island."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            target[row] = source[row]


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
    return with_ends(
        settings,
        factor * settings.tolerance,
        factor * settings.absolute_tolerance,
        min(_STEPS_RESTING, settings.max_iterations),
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
