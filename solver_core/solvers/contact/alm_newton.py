"""Augmented Lagrangian with a semismooth Newton method in velocity space, on the cone of Coulomb's law or of the box.

With the velocities v of the bodies as unknowns, u_i = J_i v + bias_i, and for each contact its multiplier lambda_i, its
penalty rho_i = c / mean W_ii and De Saxce's shift s_i (``cone``):

    outer step    lambda_i <- p_i;  s_i from the slip at the present v;  then v so that g = 0

    p_i = P_K(lambda_i - rho_i (u_i + s_i n)),    g = M (v - v_free) - J' p = M (v - v_p),    v_p = v_free + M^-1 J' p

Shifts fixed: g is the gradient of the convex phi(v) = 1/2 (v - v_free)' M (v - v_free) + sum_i |p_i|^2 / (2 rho_i);
Newton steps H dv = -g with H = M + J' D J, D_i in rho_i dP_K, and a line search on the slope of phi.
With slip: from there on p_i follows Coulomb's law as it stands, without a shift. D_i is asymmetric where a contact
slides; the same factor preconditions GMRES, and steps are halved until |g| falls. Where that fails, the shifts of the
next outer step do the rest. Rows with constant bounds and bilateral rows project on their interval.

What is judged after each Newton step, and returned, are p and v_p.

The penalty c runs along a continuation: from a cold start it is low and rises from outer step to outer step, the faster
the fewer Newton steps the last one took; a warm start begins high. The outer error shrinks the more a step the higher c
is, and heavy loads on light bodies need a high one; but far from the solution a high c makes the inner problems hard.

H has the graph of the bodies (``body_graph``) and is factorised (``block_cholesky``). While the penalty stays and only
few contacts change their D, the old factor serves on. Where the factor would not fit, conjugate gradients run with the
diagonal blocks as preconditioner.

Cost of a Newton step: one factorisation, one solve, and some ten passes over the rows. Ends with ``max_iterations`` or
``stagnated`` and the best iterate; ``failed`` where the problem holds NaN or infinity.

Sources: Alart and Curnier 1991 (augmented Lagrangian of contact and friction); De Saxce and Feng 1998 (the shift);
Acary, Cadoux, Lemarechal and Malick 2011 (fixed point in s); Castro et al. 2022 (Newton in velocity space, sparse).
"""

import math
from typing import NamedTuple

import numpy as np

from ...kernel import kernel, subkernel
from ...problem import Status
from ...residuals import natural_map, problem_scale
from ..registry import Method, register
from .alm_explicit import solve_alm_explicit
from .alm_linear import MAX_STEPS_GMRES, iterate_gmres, iterate_gradients, solve_with_factor
from .alm_system import (
    assemble,
    copy_impulses,
    dot_bodies,
    fill_slip_stiffness,
    fill_stiffness,
    gap_of_multipliers,
    group_rows,
    largest_term,
    measure_speeds,
    multiply_mass,
    project_rows,
    shift_contacts,
)
from .block_cholesky import BlockFactor, allocate_block_factor, factorize
from .body_graph import BodyGraph, allocate_body_graph, build_body_graph
from .elimination import Elimination, allocate_elimination, find_elimination
from .ending import fail, status_of
from .sweep import apply_impulses

_MAX_ITERATIONS = int(Status.MAX_ITERATIONS)
_STAGNATED = int(Status.STAGNATED)

# Penalty c (dimensionless): from a cold start, from a warm one, and what a start must reach to be warm (of the scale).
_PENALTY_COLD = 3e1
_PENALTY_WARM = 1e5
_RATIO_WARM = 0.1
# The highest penalty: rounding of speeds enters the residual c-fold, and must stay below this share of the target.
_PENALTY_LEAST_LIMIT = 1e4
_PENALTY_MOST = 1e12
_RATIO_ROUNDING = 0.1
_EPSILON = 2.2e-16
_SMALLEST = 1e-300
# Growth of the penalty after an outer step that took one, up to three, or more Newton steps; the first also after two
# that brought the residual down by less than this factor.
_RATIO_SLOW = 0.5
_GROWTH_FAST, _GROWTH_GOOD, _GROWTH_SLOW = 10.0, 4.0, 2.0
# The penalty stays where so many outer steps like the last one will do.
_OUTER_STEPS_AHEAD = 1.0
# An inner problem is solved when its error is this share of what the outer step moved.
_RATIO_INNER = 0.1
# Coulomb's law as it stands: due where a shift is off by this share of the residual; a step must bring the error down
# by this share of its length, which may be halved so often; so many steps.
_RATIO_SHIFT = 1e-2
_RATIO_DECREASE = 0.1
_MAX_SLIP_STEPS = 20
# After at most so many, the next outer step begins with them.
_MAX_STEPS_NEAR = 4
_MAX_HALVINGS = 7
# Line search: slopes relative to the first; shares of the bracket that a trial keeps away from its ends.
_RATIO_SLOPE_FULL = 0.5
_RATIO_SLOPE = 0.1
_RATIO_BRACKET = 0.05
_MAX_TRIALS = 30
# An old factor serves while at most so many contacts have changed; GMRES has few steps to do then, and none where no D
# has changed by more than this share of its penalty.
_MAX_CHANGED = 3
_RATIO_SAME = 1e-9
# Places in ``counts`` and ``residuals``.
FACTORISATIONS, LINEAR_STEPS, _STEPS, _STALLED, _WORST_BLOCK = 0, 1, 2, 3, 4
_LAST, _LEAST, _MILESTONE = 0, 1, 2
# The solver gives up after so many Newton steps in which the residual has not come down by this factor.
_MAX_STALLED = 60
_RATIO_PROGRESS = 0.5


class AlmWorkspace(NamedTuple):
    """Room for ``solve_alm_newton``.

    Attributes
    ----------
    graph : BodyGraph
    elimination : Elimination
    factor : BlockFactor
    multiplier, weight, shift, speed, change, trial, kept, best : float64 [row_capacity]
        lambda, 1 / mean W_ii, s, u, J dv, p of a trial step, p before a step, best impulses.
    group : int64 [row_capacity]
        Rows of the contact that begins here.
    stiffness, factored : float64 [row_capacity, 3]
        D now, and as it was factorised.
    velocity, kept_velocity, gradient, direction, remainder, search, image : float64 [body_capacity, 6]
        v, v before a step, g, dv; of the linear solvers what is left of g, a search direction and a product with H.
    solution : float64 [6 body_capacity]
        Right-hand side and solution by position.
    basis : float64 [6 body_capacity (MAX_STEPS_GMRES + 1)]
    hessenberg : float64 [MAX_STEPS_GMRES + 1, MAX_STEPS_GMRES + 3]
        Of GMRES.
    counts : int64 [5]
        Written: factorisations, steps of GMRES and conjugate gradients, Newton steps, those since real progress, and
        the worst block, of the last call.
    residuals : float64 [3]
        Written: of the last iterate, of the best, and where the count of those since the best began anew [m/s].
    factored_penalty : float64 [1]
        c of the factor; 0 before the first.
    history : float64 [any]
        Written: one residual a Newton step [m/s], as far as it reaches.
    """

    graph: BodyGraph
    elimination: Elimination
    factor: BlockFactor
    multiplier: np.ndarray
    weight: np.ndarray
    shift: np.ndarray
    speed: np.ndarray
    change: np.ndarray
    trial: np.ndarray
    kept: np.ndarray
    best: np.ndarray
    group: np.ndarray
    stiffness: np.ndarray
    factored: np.ndarray
    velocity: np.ndarray
    kept_velocity: np.ndarray
    gradient: np.ndarray
    direction: np.ndarray
    remainder: np.ndarray
    search: np.ndarray
    image: np.ndarray
    solution: np.ndarray
    basis: np.ndarray
    hessenberg: np.ndarray
    counts: np.ndarray
    residuals: np.ndarray
    factored_penalty: np.ndarray
    history: np.ndarray


def allocate_alm_workspace(row_capacity: int, body_capacity: int, history: int = 0) -> AlmWorkspace:
    """Room for so many rows and bodies; a block has at least one row."""
    by_row = [np.zeros(row_capacity) for _ in range(8)]
    by_body = [np.zeros((body_capacity, 6)) for _ in range(7)]
    return AlmWorkspace(
        allocate_body_graph(row_capacity, body_capacity),
        allocate_elimination(row_capacity, body_capacity),
        allocate_block_factor(body_capacity),
        *by_row,
        np.zeros(row_capacity, np.int64),
        np.zeros((row_capacity, 3)),
        np.zeros((row_capacity, 3)),
        *by_body,
        solution=np.zeros(6 * body_capacity),
        basis=np.zeros(6 * body_capacity * (MAX_STEPS_GMRES + 1)),
        hessenberg=np.zeros((MAX_STEPS_GMRES + 1, MAX_STEPS_GMRES + 3)),
        counts=np.zeros(5, np.int64),
        residuals=np.zeros(3),
        factored_penalty=np.zeros(1),
        history=np.zeros(history),
    )


@kernel
def solve_alm_newton(rows, islands, island, free_velocity, velocity, workspace, settings):
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
    workspace : AlmWorkspace
    settings : SolverSettings

    Returns
    -------
    tuple
        (status, Newton steps, residual [m/s], scale [m/s], worst block).
    """
    scale = problem_scale(rows, islands, island, free_velocity)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    if residual <= target or settings.max_iterations == 0:
        return status_of(residual, target, settings.absolute_tolerance), 0, residual, scale, worst_block
    _prepare(rows, islands, island, velocity, workspace, residual)
    counts = workspace.counts
    penalty = _PENALTY_COLD if residual > _RATIO_WARM * scale else _PENALTY_WARM
    model, near, failed = settings.friction, False, False
    while not _is_over(workspace, settings, target):
        residual, steps = workspace.residuals[_LAST], counts[_STEPS]
        _begin_outer_step(rows, islands, island, workspace, model, penalty)
        if not near:
            _minimise_energy(rows, islands, island, free_velocity, velocity, workspace, settings, penalty, target)
            if _is_over(workspace, settings, target):
                break
        inner_steps = counts[_STEPS] - steps
        if near or _slips(rows, islands, island, workspace, model):
            failed = _follow_slip(
                rows, islands, island, free_velocity, velocity, workspace, settings, penalty, target, near
            )
            near = not failed and counts[_STEPS] - steps - inner_steps <= _MAX_STEPS_NEAR
        if not failed:
            growth = _growth_of_penalty(inner_steps, residual, workspace.residuals[_LAST], target)
            if growth > 1.0:
                largest = largest_term(rows, islands, island, workspace.velocity)
                penalty = _raise_penalty(penalty, growth, target, largest)
    residual, worst_block = workspace.residuals[_LAST], counts[_WORST_BLOCK]
    if residual > target:
        copy_impulses(rows, islands, island, workspace.best, rows.impulse)
        apply_impulses(rows, islands, island, free_velocity, velocity)
        residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    status = status_of(residual, target, settings.absolute_tolerance)
    if status == _MAX_ITERATIONS and counts[_STEPS] < settings.max_iterations:
        status = _STAGNATED
    return status, counts[_STEPS], residual, scale, worst_block


@subkernel
def _is_over(workspace, settings, target):
    """Whether the last iterate solves the problem, or nothing more is to be hoped for."""
    return (
        workspace.residuals[_LAST] <= target
        or workspace.counts[_STEPS] >= settings.max_iterations
        or workspace.counts[_STALLED] >= _MAX_STALLED
    )


@subkernel
def _prepare(rows, islands, island, velocity, workspace, residual):
    """Graph, order, weights and the start."""
    graph, elimination = workspace.graph, workspace.elimination
    for place in range(workspace.counts.size):
        workspace.counts[place] = 0
    for place in range(workspace.residuals.size):
        workspace.residuals[place] = residual
    workspace.factored_penalty[0] = 0.0
    if not build_body_graph(rows, islands, island, graph):
        find_elimination(graph, elimination)
    group_rows(rows, islands, island, workspace.group, workspace.weight)
    copy_impulses(rows, islands, island, rows.impulse, workspace.best)
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for body in (rows.body_a[block], rows.body_b[block]):
            for column in range(6):
                workspace.velocity[body, column] = velocity[body, column]
                workspace.direction[body, column] = 0.0
                workspace.search[body, column] = 0.0


@subkernel
def _row_arrays(workspace):
    """What describes p along a direction."""
    return workspace.multiplier, workspace.weight, workspace.shift, workspace.speed, workspace.change


@subkernel
def _begin_outer_step(rows, islands, island, workspace, model, penalty):
    """lambda <- p; speeds and shifts at the present v; p anew."""
    copy_impulses(rows, islands, island, rows.impulse, workspace.multiplier)
    measure_speeds(rows, islands, island, workspace.velocity, 1.0, workspace.speed)
    shift_contacts(rows, islands, island, workspace.group, model, workspace.speed, workspace.shift)
    project_rows(rows, islands, island, workspace.group, model, 0.0, penalty, _row_arrays(workspace), 0.0, rows.impulse)


@subkernel
def _minimise_energy(rows, islands, island, free_velocity, velocity, workspace, settings, penalty, target):
    """The inner problem: v <- argmin phi with the shifts as they are."""
    steps = 0
    while True:
        apply_impulses(rows, islands, island, free_velocity, velocity)
        error = _measure_gradient(rows, workspace, velocity)
        if steps > 0:
            _judge(rows, islands, island, velocity, workspace, settings)
            if _is_over(workspace, settings, target) or _is_solved(rows, islands, island, workspace, penalty, error):
                return
        _find_direction(rows, islands, island, workspace, settings.friction, penalty, 0.0)
        step = _search_line(rows, islands, island, workspace, settings.friction, penalty)
        _move(rows, islands, island, workspace, step)
        copy_impulses(rows, islands, island, workspace.trial, rows.impulse)
        steps += 1


@subkernel
def _slips(rows, islands, island, workspace, model):
    """Whether the shifts are not those of the slip at the present v."""
    change = shift_contacts(rows, islands, island, workspace.group, model, workspace.speed, workspace.shift)
    return change > _RATIO_SHIFT * workspace.residuals[_LAST]


@subkernel
def _follow_slip(
    rows, islands, island, free_velocity, velocity, workspace, settings, penalty, target, from_multipliers
):
    """The equation g = 0 with Coulomb's law as it stands: damped Newton steps on |g|.

    It begins where the inner problem was solved; or, near the solution, right after the multipliers have been set:
    then one step at least is taken.

    Returns
    -------
    bool
        Whether a step failed. Then the better of the last point and the one at the beginning is kept.
    """
    model, residual, arrays = settings.friction, workspace.residuals[_LAST], _row_arrays(workspace)
    start = workspace.multiplier if from_multipliers else rows.impulse
    copy_impulses(rows, islands, island, start, workspace.kept)
    _copy_velocities(workspace.graph, workspace.velocity, workspace.kept_velocity)
    project_rows(rows, islands, island, workspace.group, model, 1.0, penalty, arrays, 0.0, rows.impulse)
    apply_impulses(rows, islands, island, free_velocity, velocity)
    error = _measure_gradient(rows, workspace, velocity)
    failed, steps = False, 0
    while not failed and steps < _MAX_SLIP_STEPS:
        if (steps > 0 or not from_multipliers) and _is_solved(rows, islands, island, workspace, penalty, error):
            break
        _find_direction(rows, islands, island, workspace, model, penalty, 1.0)
        step, taken, error_before = 1.0, 0.0, error
        for _ in range(_MAX_HALVINGS):
            _move(rows, islands, island, workspace, step - taken)
            taken = step
            project_rows(rows, islands, island, workspace.group, model, 1.0, penalty, arrays, 0.0, rows.impulse)
            apply_impulses(rows, islands, island, free_velocity, velocity)
            error = _measure_gradient(rows, workspace, velocity)
            if error <= (1.0 - _RATIO_DECREASE * step) * error_before:
                break
            step *= 0.5
        failed = error > (1.0 - _RATIO_DECREASE * taken) * error_before
        _judge(rows, islands, island, velocity, workspace, settings)
        if _is_over(workspace, settings, target):
            return failed
        steps += 1
    if failed and workspace.residuals[_LAST] > residual:
        _copy_velocities(workspace.graph, workspace.kept_velocity, workspace.velocity)
        copy_impulses(rows, islands, island, workspace.kept, rows.impulse)
        workspace.residuals[_LAST] = residual
    return failed


@subkernel
def _judge(rows, islands, island, velocity, workspace, settings):
    """Count a Newton step and judge the impulses that it led to; keep the best."""
    counts, residuals = workspace.counts, workspace.residuals
    residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    if counts[_STEPS] < workspace.history.size:
        workspace.history[counts[_STEPS]] = residual
    counts[_STEPS] += 1
    counts[_STALLED] += 1
    counts[_WORST_BLOCK] = worst_block
    residuals[_LAST] = residual
    if residual < residuals[_LEAST]:
        residuals[_LEAST] = residual
        if residual < _RATIO_PROGRESS * residuals[_MILESTONE]:
            residuals[_MILESTONE] = residual
            counts[_STALLED] = 0
        copy_impulses(rows, islands, island, rows.impulse, workspace.best)


@subkernel
def _is_solved(rows, islands, island, workspace, penalty, error):
    """Whether the error of v is small beside what the outer step moves."""
    return error <= _RATIO_INNER * gap_of_multipliers(
        rows, islands, island, penalty, workspace.weight, workspace.multiplier
    )


@subkernel
def _copy_velocities(graph, source, target):
    for number in range(graph.count[0]):
        body = graph.body[number]
        for column in range(6):
            target[body, column] = source[body, column]


@subkernel
def _measure_gradient(rows, workspace, velocity):
    """g = M (v - v_p); returns its norm in M^-1 [sqrt(J)]."""
    graph, image = workspace.graph, workspace.image
    for number in range(graph.count[0]):
        body = graph.body[number]
        for column in range(6):
            image[body, column] = workspace.velocity[body, column] - velocity[body, column]
    multiply_mass(graph, rows.body_mass, image, workspace.gradient)
    return math.sqrt(max(dot_bodies(graph, image, workspace.gradient), 0.0))


@subkernel
def _find_direction(rows, islands, island, workspace, model, penalty, slip):
    """dv = -H^-1 g, with the old factor where that is good enough, and the change of speeds along it.

    With slip = 1 (else 0) D is that of Coulomb's law as it stands; the factor is that of the contacts' cones.
    """
    graph, elimination, factor = workspace.graph, workspace.elimination, workspace.factor
    stiffness, arrays = workspace.stiffness, _row_arrays(workspace)
    changed, largest = fill_stiffness(
        rows, islands, island, workspace.group, model, penalty, arrays, workspace.factored, stiffness
    )
    direct = elimination.column_start[graph.count[0]] > 0 or graph.count[1] == 0
    usable = direct and penalty == workspace.factored_penalty[0] and changed <= _MAX_CHANGED
    if not usable:
        assemble(
            rows, islands, island, workspace.group, graph, elimination, factor, direct, stiffness, workspace.factored
        )
        factorize(graph.count[0], elimination.column_start, elimination.row, factor)
        workspace.factored_penalty[0] = penalty
        workspace.counts[FACTORISATIONS] += 1
        largest = 0.0
    asymmetric = slip > 0.0 and fill_slip_stiffness(
        rows, islands, island, workspace.group, model, penalty, arrays, stiffness
    )
    if not direct and not asymmetric:
        iterate_gradients(rows, islands, island, workspace)
    elif asymmetric or largest > _RATIO_SAME:
        iterate_gmres(rows, islands, island, workspace)
    else:
        solve_with_factor(workspace)
    measure_speeds(rows, islands, island, workspace.direction, 0.0, workspace.change)


@subkernel
def _move(rows, islands, island, workspace, step):
    """v += step dv, and the speeds of the rows with it."""
    graph, velocity, direction = workspace.graph, workspace.velocity, workspace.direction
    for number in range(graph.count[0]):
        body = graph.body[number]
        for column in range(6):
            velocity[body, column] += step * direction[body, column]
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            workspace.speed[row] += step * workspace.change[row]


@subkernel
def _search_line(rows, islands, island, workspace, model, penalty):
    """The step at which the slope of phi has nearly vanished, or the full one where that halves it; p to ``trial``."""
    graph, direction, image = workspace.graph, workspace.direction, workspace.image
    multiply_mass(graph, rows.body_mass, direction, image)
    curvature = dot_bodies(graph, direction, image)
    start_slope = dot_bodies(graph, workspace.gradient, direction)
    arrays, trial = _row_arrays(workspace), workspace.trial
    step, low, high = 1.0, 0.0, 1.0
    low_slope, high_slope = start_slope, 0.0
    for attempt in range(_MAX_TRIALS):
        change = project_rows(rows, islands, island, workspace.group, model, 0.0, penalty, arrays, step, trial)
        slope = start_slope + step * curvature - change
        enough = _RATIO_SLOPE_FULL if attempt == 0 else _RATIO_SLOPE
        if abs(slope) <= enough * abs(start_slope) or (attempt == 0 and slope <= 0.0):
            break
        if slope < 0.0:
            low, low_slope = step, slope
        else:
            high, high_slope = step, slope
        margin = _RATIO_BRACKET * (high - low)
        step = low - low_slope * (high - low) / (high_slope - low_slope)
        step = min(max(step, low + margin), high - margin)
    return step


@subkernel
def _growth_of_penalty(inner_steps, residual_before, residual, target):
    """Factor on the penalty after an outer step; 1 where a few more steps like the last one will do."""
    ratio = residual / residual_before
    if ratio < 1.0 and math.log(target / residual) >= _OUTER_STEPS_AHEAD * math.log(ratio):
        return 1.0
    if inner_steps <= 1 or (inner_steps <= 2 and ratio > _RATIO_SLOW):
        return _GROWTH_FAST
    return _GROWTH_GOOD if inner_steps <= 3 else _GROWTH_SLOW


@subkernel
def _raise_penalty(penalty, growth, target, largest_term):
    """The penalty times its growth, not above what the rounding of speeds allows; never lower."""
    rounding = max(_EPSILON * largest_term, _SMALLEST)
    limit = max(_PENALTY_LEAST_LIMIT, min(_RATIO_ROUNDING * target / rounding, _PENALTY_MOST))
    return max(penalty, min(limit, growth * penalty))


register(
    Method(
        name="alm_newton",
        title="Augmented Lagrangian with Newton's method",
        kernel=solve_alm_newton,
        frictions=("cone", "box"),
        max_iterations=100,
        source="docs/solvers/alm_newton.md",
        allocate=allocate_alm_workspace,
        explicit=solve_alm_explicit,
    )
)
