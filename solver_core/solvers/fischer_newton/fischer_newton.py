"""The Fischer-Newton method on contacts with polyhedral friction, matrix-free.

The whole linear complementarity problem, normal impulses, K direction impulses and a slip a contact, with bilateral
and bounded rows beside it, becomes F(x) = 0 by Fischer's function (``fischer_blocks``), and a step is

    (P + Q (A + epsilon I)) dx = -F(x),    x <- project(x + tau dx)                  (Erleben 2013, eqs. 85, 86, 96)

with products A p through the bodies' velocities, block-diagonal preconditioning and GMRES (``block_gmres``), and the
projected Armijo line search on 1/2 |F|^2 (eqs. 83 and 103). A direction that does not descend gives way to -gradient.

What the paper does not have, and redundant contacts need (numbers in docs/solvers/fischer_newton_contacts.md):
    factor          the same equation in the bodies' velocities, a sparse matrix, factorised (``fischer_bodies``), is
                    GMRES's preconditioner: one to three products where sweeps needed hundreds and did not suffice
    smoothing       m in Fischer's function starts at the mean of |F_i| and falls by 2.5 while |F| keeps below it, so
                    that pairs do not run into their kinks too early, nor end zero twice; it grows by 3 after a step
                    that had to be short
    epsilon         1e-7 of the relative residual: P + Q A is singular wherever impulses are not unique. A step that had
                    to be short makes it grow by 100: what asked for large changes of impulses is held back
    restart         where 8 steps have not halved the residual, sweeps of Gauss-Seidel from the best iterate

Cost of a step: a few passes over the rows a product, and the factor; O(rows) for walls of any length. Quadratic at the
end. Ends with ``stagnated`` or ``max_iterations`` and its best iterate where restarts gain nothing: in the middle of
hits, and where friction wedges.

Source: Erleben 2013, section 5.5; Silcowitz, Niebe and Erleben 2009. Smoothing: Kanzow 1996; Chen, Qi and Sun 1998.
"""

import math

from ...compiled.kernel import kernel, subkernel
from ...problem.residuals import natural_map
from ...problem.rows import POLYHEDRAL_FRICTION
from ..linear_algebra.compact_explicit import solve_explicit_compact
from ..linear_algebra.compact_rows import (
    gather_island,
    multiply,
    multiply_transposed,
    read_impulses,
    set_velocity,
    write_impulses,
)
from ..linear_algebra.compact_sweep import ALL, compact_residual, sweep_units
from ..registry import Method, register
from ..shared.direction_impulses import project_unknowns, start_unknowns
from ..shared.status import begin_solve, fail, status_of_iteration
from ..shared.sweep import apply_impulses
from .block_gmres import solve_coupled_units
from .fischer_blocks import (
    combine_directions,
    compute_slacks,
    differentiate_equations,
    evaluate_equations,
    factor_units,
    recover_unknowns,
    spread_gradient,
)
from .fischer_bodies import FACTORED, factor_bodies, order_bodies
from .fischer_state import allocate_fischer_workspace, prepare_state

# Shift of A's diagonal as a share of the relative residual, and the least; A's own diagonal is 1 for normal rows.
_EPSILON, _LEAST_EPSILON = 1e-7, 1e-11
# After a short step epsilon grows by this factor, after a long one it falls again; the most.
_DAMPING_GROWTH, _MOST_EPSILON, _LONG_STEP = 100.0, 1e-2, 0.5
# Armijo's share of the slope; steps are halved down to the least.
_ARMIJO, _LEAST_STEP = 1e-4, 1e-5
# A direction descends where the merit's slope is below minus this share of the merit.
_RATIO_DESCENT = 1e-10
# GMRES: largest ratio of the residual that a step leaves (the relative residual itself, below), and the least.
_LARGEST_RATIO, _LEAST_RATIO = 0.1, 1e-8
_MOST_PRODUCTS = 400
# Smoothing: fall while |F| <= m sqrt(unknowns), growth after a step below the threshold, the most of mean |F_i|. A fall
# by 5 overshoots, and pairs that could have a positive number end zero twice: then the end is linear.
_SMOOTHING_FALL, _SMOOTHING_GROWTH, _SHORT_STEP, _MOST_SMOOTHING = 0.4, 3.0, 0.1, 100.0
_SMOOTHING_FALLS = 40
_LEAST_SMOOTHING = 1e-17
# Restart where this many steps have not brought the residual below this share; with a larger smoothing.
_STALL_STEPS, _STALL_RATIO, _RESTART_SMOOTHING = 8, 0.5, 10.0
# Each of them in vain doubles the sweeps; after this many in a row the method has stagnated.
_RESTART_SWEEPS, _MOST_RESTARTS = 10, 4
# An impulse is at its bound where its distance, as a speed, is below this share of the speed at which its row parts.
_RATIO_SETTLED = 1e-6


@kernel(allocates=True)
def solve_fischer_newton(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Solve one island.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of every contact solver (``registry.Method``).
    workspace : FischerWorkspace

    Returns
    -------
    tuple
        (status, iterations, residual [m/s], scale [m/s], worst block).
    """
    scale, target, residual, worst_block = begin_solve(rows, islands, island, free_velocity, velocity, settings)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    iterations = 0
    if not residual <= target and settings.max_iterations > 0:
        compact = workspace.compact
        gather_island(rows, islands, island, free_velocity, compact)
        order_bodies(rows, islands, island, compact, workspace.system)
        state = prepare_state(compact, workspace, settings)
        read_impulses(compact, rows.impulse, state.y)
        iterations = iterate_fischer_newton(state, settings, scale, target, workspace.history, workspace.merit_history)
        write_impulses(compact, state.best, rows.impulse)
        apply_impulses(rows, islands, island, free_velocity, velocity)
        residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    return status_of_iteration(residual, target, iterations, settings), iterations, residual, scale, worst_block


@kernel
def iterate_fischer_newton(state, settings, scale, target, history, merit_history):
    """Newton steps from ``state.y`` until the residual is below ``target``; ``state.best`` holds the best impulses.

    Parameters
    ----------
    state : NewtonState
        Read and written.
    settings : SolverSettings
    scale, target : float
        [m/s]
    history, merit_history : float64 [any]
        Written: the residual after each step, and 1/2 |F|^2 without smoothing.

    Returns
    -------
    int
        Steps done.
    """
    compact = state.compact
    unit_speed = scale if scale > 0.0 else 1.0
    residual = _start_from_sweeps(state, settings, settings.warm_start_sweeps)
    smoothing = _mean_error(state, 0.0)
    _keep_best(state)
    least = milestone = residual
    restarts, iteration, damping = 0, 0, 1.0
    while not residual <= target and iteration < settings.max_iterations:
        if iteration > 0 and iteration % _STALL_STEPS == 0:
            restarts = restarts + 1 if least > _STALL_RATIO * milestone else 0
            if restarts > _MOST_RESTARTS:
                break
            if restarts > 0:
                residual = _restart(state, settings, restarts)
                smoothing = _RESTART_SMOOTHING * _mean_error(state, 0.0)
            milestone = least
        merit = evaluate_equations(compact, state.first_unknown, state.x, state.w, smoothing, state.value)
        slope = _newton_direction(state, settings, smoothing, unit_speed, residual / unit_speed, damping)
        if not slope < -_RATIO_DESCENT * merit:
            slope = _gradient_direction(state)
        tau = _search_line(state, smoothing, merit, slope)
        smoothing = _next_smoothing(state, smoothing, tau, unit_speed)
        damping = _next_damping(damping, tau)
        residual = compact_residual(compact, POLYHEDRAL_FRICTION, settings.directions, state.y, state.u)
        if residual < least:
            least = residual
            _keep_best(state)
        if iteration < history.size:
            history[iteration] = residual
        if iteration < merit_history.size:
            merit_history[iteration] = evaluate_equations(
                compact, state.first_unknown, state.x, state.w, 0.0, state.value
            )
        iteration += 1
    _settle_at_bounds(state, settings, max(least, target))
    return iteration


@subkernel
def _restart(state, settings, restarts):
    """Sweep from the best impulses; returns the residual."""
    for row in range(state.compact.count[1]):
        state.y[row] = state.best[row]
    return _start_from_sweeps(state, settings, _RESTART_SWEEPS << restarts)


@subkernel
def _start_from_sweeps(state, settings, sweeps):
    """Make y feasible, sweep, and set x, u and w; returns the residual."""
    compact = state.compact
    start_unknowns(compact, state.first_unknown, state.corners, state.y, state.u, state.x)
    combine_directions(compact, state.first_unknown, state.corners, state.x, state.y)
    set_velocity(compact, state.y)
    for _ in range(sweeps):
        sweep_units(compact, ALL, POLYHEDRAL_FRICTION, settings.directions, state.y)
    _update_speeds(state, state.y)
    start_unknowns(compact, state.first_unknown, state.corners, state.y, state.u, state.x)
    compute_slacks(compact, state.first_unknown, state.corners, state.x, state.u, state.w)
    return compact_residual(compact, POLYHEDRAL_FRICTION, settings.directions, state.y, state.u)


@subkernel
def _settle_at_bounds(state, settings, allowed):
    """Put best impulses that hardly differ from their bound on it, where the residual stays below ``allowed``.

    Fischer's function comes near bounds and never quite to them: a contact that parts would keep a trace of an
    impulse.
    """
    compact, y, u = state.compact, state.y, state.u
    for row in range(compact.count[1]):
        y[row] = state.best[row]
    _update_speeds(state, y)
    for unit in range(compact.count[0]):
        row, end = compact.first_row[unit], compact.first_row[unit + 1]
        lower, upper = compact.lower[row], compact.upper[row]
        if y[row] - lower <= _RATIO_SETTLED * u[row]:
            for place in range(row, end):
                y[place] = lower if place == row else 0.0
        elif upper - y[row] <= -_RATIO_SETTLED * u[row]:
            y[row] = upper
    _update_speeds(state, y)
    if compact_residual(compact, POLYHEDRAL_FRICTION, settings.directions, y, u) <= allowed:
        _keep_best(state)


@subkernel
def _update_speeds(state, y):
    """u = W S y + b."""
    multiply(state.compact, y, state.u)
    for row in range(state.compact.count[1]):
        state.u[row] += state.compact.offset[row]


@subkernel
def _keep_best(state):
    for row in range(state.compact.count[1]):
        state.best[row] = state.y[row]


@subkernel
def _mean_error(state, smoothing):
    """Root of the mean square of F at x."""
    count = state.first_unknown[state.compact.count[0]]
    merit = evaluate_equations(state.compact, state.first_unknown, state.x, state.w, smoothing, state.value)
    return math.sqrt(2.0 * merit / max(count, 1))


@subkernel
def _newton_direction(state, settings, smoothing, unit_speed, relative_residual, damping):
    """Solve the Newton equation for ``state.dx``; returns the merit's slope along it (eq. 104)."""
    compact, first_unknown, corners = state.compact, state.first_unknown, state.corners
    differentiate_equations(
        compact,
        first_unknown,
        state.x,
        state.w,
        smoothing,
        unit_speed,
        settings.strategy,
        state.random,
        state.p,
        state.q,
    )
    epsilon = min(damping * max(_EPSILON * min(relative_residual, 1.0), _LEAST_EPSILON), _MOST_EPSILON)
    factor_units(
        compact,
        first_unknown,
        corners,
        state.p,
        state.q,
        state.value,
        epsilon,
        state.block,
        state.answer,
        state.step,
        state.gain,
        state.goal,
    )
    factor_bodies(compact, first_unknown, corners, state.p, state.q, epsilon, state.system)
    _solve_for_impulses(state, max(min(_LARGEST_RATIO, relative_residual), _LEAST_RATIO))
    multiply(compact, state.dy, state.du)
    recover_unknowns(compact, first_unknown, state.answer, state.step, state.dy, state.du, state.dx)
    combine_directions(compact, first_unknown, corners, state.dx, state.dy)
    multiply(compact, state.dy, state.du)
    compute_slacks(compact, first_unknown, corners, state.dx, state.du, state.dw)
    slope = 0.0
    for place in range(first_unknown[compact.count[0]]):
        slope += state.value[place] * (state.p[place] * state.dx[place] + state.q[place] * state.dw[place])
    return slope


@subkernel
def _solve_for_impulses(state, ratio):
    """Set ``state.dy`` to the change of impulses; by the factor, and from there by sweeps where that was spoilt."""
    compact, system = state.compact, state.system
    for row in range(compact.count[1]):
        state.dy[row] = 0.0
    while True:
        _, reached = solve_coupled_units(
            compact,
            state.gain,
            state.goal,
            system,
            ratio,
            _MOST_PRODUCTS,
            state.basis,
            state.hessenberg,
            state.work,
            state.dy,
        )
        if reached <= ratio or system.count[FACTORED] == 0:
            break
        system.count[FACTORED] = 0
        if not reached < 1.0:
            for row in range(compact.count[1]):
                state.dy[row] = 0.0


@subkernel
def _gradient_direction(state):
    """Set ``state.dx`` to minus the merit's gradient; returns the slope along it."""
    compact, first_unknown = state.compact, state.first_unknown
    for _ in range(2):
        # the first call makes t, whose product the second call needs
        spread_gradient(
            compact, first_unknown, state.corners, state.p, state.q, state.value, state.work, state.du, state.dx
        )
        multiply_transposed(compact, state.work, state.du)
    slope = 0.0
    for place in range(first_unknown[compact.count[0]]):
        slope -= state.dx[place] * state.dx[place]
        state.dx[place] = -state.dx[place]
    return slope


@subkernel
def _search_line(state, smoothing, merit, slope):
    """Largest tau of 1, 1/2, 1/4, ... at which the projected step fulfils Armijo's rule (eq. 83), or the least.

    Takes the step: sets x, y, u and w.
    """
    compact, first_unknown, corners = state.compact, state.first_unknown, state.corners
    tau = 1.0
    while True:
        for place in range(first_unknown[compact.count[0]]):
            state.trial[place] = state.x[place] + tau * state.dx[place]
        project_unknowns(compact, first_unknown, corners, state.trial)
        combine_directions(compact, first_unknown, corners, state.trial, state.y)
        _update_speeds(state, state.y)
        compute_slacks(compact, first_unknown, corners, state.trial, state.u, state.w)
        trial_merit = evaluate_equations(compact, first_unknown, state.trial, state.w, smoothing, state.value)
        if trial_merit <= merit + _ARMIJO * tau * slope or tau < _LEAST_STEP:
            break
        tau *= 0.5
    for place in range(first_unknown[compact.count[0]]):
        state.x[place] = state.trial[place]
    return tau


@subkernel
def _next_smoothing(state, smoothing, tau, unit_speed):
    """m of the next step."""
    for _ in range(_SMOOTHING_FALLS):
        if smoothing <= _LEAST_SMOOTHING * unit_speed or _mean_error(state, smoothing) > smoothing:
            break
        smoothing *= _SMOOTHING_FALL
    if tau < _SHORT_STEP:
        smoothing = min(_SMOOTHING_GROWTH * smoothing, _MOST_SMOOTHING * _mean_error(state, 0.0))
    return smoothing


@subkernel
def _next_damping(damping, tau):
    """By how much epsilon of the next step is enlarged."""
    if tau < _SHORT_STEP:
        return _DAMPING_GROWTH * damping
    if tau >= _LONG_STEP:
        return max(damping / _DAMPING_GROWTH, 1.0)
    return damping


def solve_explicit(delassus, r0, friction, options):
    """Solve contacts with an explicit W; arguments and result as ``registry.Method.explicit`` says."""

    def solve(compact, settings, scale, target, y, history):
        workspace = allocate_fischer_workspace(len(y), 1)
        return _solve_compact(compact, workspace, settings, scale, target, y, history)

    return solve_explicit_compact(delassus, r0, friction, options, solve)


@kernel(allocates=True)
def _solve_compact(compact, workspace, settings, scale, target, y, history):
    """Solve compact rows from the impulses y to the impulses y [m/s]; returns the steps done."""
    state = prepare_state(compact, workspace, settings)
    for row in range(compact.count[1]):
        state.y[row] = y[row]
    iterations = iterate_fischer_newton(state, settings, scale, target, history, workspace.merit_history)
    for row in range(compact.count[1]):
        y[row] = state.best[row]
    return iterations


register(
    Method(
        name="fischer_newton",
        title="Fischer-Newton",
        kernel=solve_fischer_newton,
        frictions=("polyhedral",),
        max_iterations=100,
        source="Erleben 2013, section 5.5",
        options={"strategy": "perturbation", "warm_start_sweeps": 10, "directions": 8, "seed": 0},
        allocate=allocate_fischer_workspace,
        explicit=solve_explicit,
    )
)
