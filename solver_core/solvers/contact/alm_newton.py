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

from ...kernel import kernel, subkernel
from ...problem import Status
from ...residuals import natural_map, problem_scale
from ..registry import Method, register
from .alm_explicit import solve_alm_explicit
from .alm_linear import iterate_gmres, iterate_gradients, solve_with_factor
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
    set_velocities,
    settle_speeds,
    shift_contacts,
    subtract_stiffness,
)
from .alm_workspace import (
    BEST,
    CHANGE,
    DIRECTION,
    FACTORED_PENALTY,
    FACTORISATIONS,
    FORCING,
    GRADIENT,
    GROUPS,
    IMAGE,
    KEPT,
    KEPT_VELOCITY,
    LAST,
    LEAST,
    MILESTONE,
    MULTIPLIER,
    SCALE,
    SEARCH,
    SHIFT,
    SPEED,
    STALLED,
    STEPS,
    TRIAL,
    VELOCITY,
    WEIGHT,
    WORST_BLOCK,
    allocate_alm_workspace,
)
from .block_cholesky import factorize
from .body_graph import build_body_graph
from .elimination import find_elimination
from .ending import fail, status_of

_MAX_ITERATIONS = int(Status.MAX_ITERATIONS)
_STAGNATED = int(Status.STAGNATED)

# Penalty c (dimensionless): from a cold start, from a warm one, and what a start must reach to be warm (of the scale).
_PENALTY_COLD = 3e1
_PENALTY_WARM = 4e3
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
# An outer step begins with the states that the impulses tell where the residual is below this share of the scale;
# speeds up to so many residuals are errors there. Where such a step of Coulomb's law, begun near the solution, brings
# the residual down by the next factor, the penalty grows by the last.
_RATIO_STILL = 1e-3
_FACTOR_NOISE = 2.0
_RATIO_GAIN = 0.1
_GROWTH_NEAR = 100.0
# GMRES stops at this share of the first residual, and near the solution, where one Newton step ends an outer one.
_FORCING, _FORCING_NEAR = 1e-3, 1e-6
# Line search: slopes relative to the first; shares of the bracket that a trial keeps away from its ends.
_RATIO_SLOPE_FULL = 0.5
_RATIO_SLOPE = 0.1
_RATIO_BRACKET = 0.05
_MAX_TRIALS = 30
# An old factor serves while at most so many contacts have changed, or this share of all; GMRES has few steps to do
# then, and none where no D has changed by more than the last share of its penalty.
_CHANGED_AT_LEAST = 3
_RATIO_CHANGED = 1.0 / 16.0
_RATIO_SAME = 1e-9
# The solver gives up after so many Newton steps in which the residual has not come down by this factor.
_MAX_STALLED = 60
_RATIO_PROGRESS = 0.5


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
    counts, numbers, by_row, by_body = workspace.counts, workspace.numbers, workspace.by_row, workspace.by_body
    numbers[SCALE] = scale
    penalty = _PENALTY_COLD if residual > _RATIO_WARM * scale else _PENALTY_WARM
    # not the literal False, for which Numba would compile what it is handed to a second time
    model, near, failed = settings.friction, residual <= target, False
    direct = _has_factor(workspace.graph, workspace.elimination)
    # the penalty before it was raised in haste; 0 where it has not been, -1 once that was too much: no haste any more
    earlier_penalty = 0.0
    while not _is_over(counts, numbers, settings, target):
        residual, steps = numbers[LAST], counts[STEPS]
        began_near, still = near, direct and residual <= _RATIO_STILL * scale and earlier_penalty >= 0.0
        _begin_outer_step(rows, islands, island, by_row, workspace.group, by_body[VELOCITY], model, penalty, still)
        if not near:
            if still:
                _step_as_impulses_say(
                    rows, islands, island, free_velocity, velocity, workspace, model, penalty, 0.0, residual
                )
            _minimise_energy(
                rows, islands, island, free_velocity, velocity, workspace, settings, penalty, target, still
            )
            if _is_over(counts, numbers, settings, target):
                break
        inner_steps = counts[STEPS] - steps
        if near or _slips(rows, islands, island, by_row, workspace.group, model, numbers[LAST]):
            failed = _follow_slip(
                rows, islands, island, free_velocity, velocity, workspace, settings, penalty, target, near, still
            )
            near = not failed and counts[STEPS] - steps - inner_steps <= _MAX_STEPS_NEAR
        else:
            near = False
        if (failed and earlier_penalty > 0.0) or (still and not numbers[LAST] <= _RATIO_SLOW * residual):
            # bodies that are not at rest: speeds of their contacts are no errors
            penalty, earlier_penalty = earlier_penalty if earlier_penalty > 0.0 else penalty, -1.0
        if not failed:
            if near and direct and numbers[LAST] <= _RATIO_STILL * scale and earlier_penalty >= 0.0:
                earlier_penalty = penalty
                gains = began_near and still and numbers[LAST] <= _RATIO_GAIN * residual
                growth = _GROWTH_NEAR if gains else _GROWTH_FAST
            else:
                foretells = began_near or still or not direct or earlier_penalty < 0.0
                growth = _growth_of_penalty(inner_steps, residual, numbers[LAST], target, foretells)
            if growth > 1.0:
                largest = largest_term(rows, islands, island, by_body[VELOCITY])
                penalty = _raise_penalty(penalty, growth, target, largest)
    residual, worst_block = numbers[LAST], counts[WORST_BLOCK]
    if residual > numbers[LEAST]:
        copy_impulses(rows.block_row, islands, island, by_row[BEST], rows.impulse)
        set_velocities(rows, islands, island, workspace.group, free_velocity, velocity)
        residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    status = status_of(residual, target, settings.absolute_tolerance)
    if status == _MAX_ITERATIONS and counts[STEPS] < settings.max_iterations:
        status = _STAGNATED
    return status, counts[STEPS], residual, scale, worst_block


@subkernel
def _is_over(counts, numbers, settings, target):
    """Whether the last iterate solves the problem, or nothing more is to be hoped for."""
    return numbers[LAST] <= target or counts[STEPS] >= settings.max_iterations or counts[STALLED] >= _MAX_STALLED


@subkernel
def _has_factor(graph, elimination):
    """Whether there is room for the factor of H; else that of its diagonal blocks preconditions."""
    return elimination.column_start[graph.count[0]] > 0 or graph.count[1] == 0


@subkernel
def _prepare(rows, islands, island, velocity, workspace, residual):
    """Graph, order, weights and the start."""
    by_body, numbers = workspace.by_body, workspace.numbers
    for place in range(workspace.counts.size):
        workspace.counts[place] = 0
    numbers[LAST] = numbers[LEAST] = numbers[MILESTONE] = residual
    numbers[FACTORED_PENALTY] = 0.0
    if not build_body_graph(rows, islands, island, workspace.graph):
        find_elimination(workspace.graph, workspace.elimination)
    workspace.counts[GROUPS] = group_rows(rows, islands, island, workspace.group, workspace.by_row[WEIGHT])
    numbers[FORCING] = _FORCING
    copy_impulses(rows.block_row, islands, island, rows.impulse, workspace.by_row[BEST])
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for body in (rows.body_a[block], rows.body_b[block]):
            for column in range(6):
                by_body[VELOCITY, body, column] = velocity[body, column]
                # bodies that cannot be pushed stay as they are in every direction
                by_body[DIRECTION, body, column] = 0.0
                by_body[SEARCH, body, column] = 0.0


@subkernel
def _row_arrays(by_row):
    """What describes p along a direction."""
    return by_row[MULTIPLIER], by_row[WEIGHT], by_row[SHIFT], by_row[SPEED], by_row[CHANGE]


@subkernel
def _begin_outer_step(rows, islands, island, by_row, group, velocity, model, penalty, still):
    """lambda <- p; speeds at v; shifts and p anew, which ``_step_as_impulses_say`` finds itself where it is due."""
    copy_impulses(rows.block_row, islands, island, rows.impulse, by_row[MULTIPLIER])
    measure_speeds(rows, islands, island, group, velocity, 1.0, by_row[SPEED])
    if still:
        return
    shift_contacts(rows, islands, island, group, model, by_row[SPEED], by_row[SHIFT])
    project_rows(rows, islands, island, group, model, 0.0, penalty, _row_arrays(by_row), 0.0, rows.impulse)


@subkernel
def _minimise_energy(rows, islands, island, free_velocity, velocity, workspace, settings, penalty, target, begun):
    """The inner problem: v <- argmin phi with the shifts as they are; ``begun`` where a step has been taken."""
    counts, numbers, by_row, by_body = workspace.counts, workspace.numbers, workspace.by_row, workspace.by_body
    bodies = workspace.graph.body[: workspace.graph.count[0]]
    while True:
        set_velocities(rows, islands, island, workspace.group, free_velocity, velocity)
        error = _measure_gradient(bodies, rows.body_mass, by_body, velocity)
        if begun:
            _judge(rows, islands, island, velocity, counts, numbers, workspace.history, by_row[BEST], settings)
            if _is_over(counts, numbers, settings, target) or error <= _allowed(rows, islands, island, penalty, by_row):
                return
        _find_direction(rows, islands, island, workspace, settings.friction, penalty, 0.0)
        step = _search_line(rows, islands, island, bodies, by_row, by_body, workspace.group, settings.friction, penalty)
        _move(rows.block_row, islands, island, bodies, by_row, by_body, step)
        copy_impulses(rows.block_row, islands, island, by_row[TRIAL], rows.impulse)
        begun = True


@subkernel
def _step_as_impulses_say(rows, islands, island, free_velocity, velocity, workspace, model, penalty, slip, residual):
    """The first Newton step of an outer one near the solution: each contact is taken to be in the state of its impulse.

    Most speeds of contacts are errors there, of the last outer step or of a start at rest, and c times them would open,
    close and slide contacts at random, in a wall every fifth. So p is linearised not at u but where these are none:

        p(u) = P(lambda - rho u~) - D (u - u~),      u~: ``settle_speeds``

    With slip = 1 (else 0) by Coulomb's law as it stands.
    """
    by_row, by_body, group = workspace.by_row, workspace.by_body, workspace.group
    noise = _FACTOR_NOISE * residual
    bodies = workspace.graph.body[: workspace.graph.count[0]]
    arrays = _row_arrays(by_row)
    copy_impulses(rows.block_row, islands, island, by_row[SPEED], by_row[TRIAL])
    settle_speeds(rows.block_row, islands, island, group, noise, by_row[MULTIPLIER], by_row[SPEED])
    shift_contacts(rows, islands, island, group, model, by_row[SPEED], by_row[SHIFT])
    project_rows(rows, islands, island, group, model, slip, penalty, arrays, 0.0, rows.impulse)
    fill_stiffness(rows, islands, island, group, model, penalty, arrays, workspace.factored, workspace.stiffness)
    if slip > 0.0:
        fill_slip_stiffness(rows, islands, island, group, model, penalty, arrays, workspace.stiffness)
    subtract_stiffness(
        rows.block_row, islands, island, group, workspace.stiffness, by_row[TRIAL], by_row[SPEED], rows.impulse
    )
    set_velocities(rows, islands, island, group, free_velocity, velocity)
    _measure_gradient(bodies, rows.body_mass, by_body, velocity)
    _find_direction(rows, islands, island, workspace, model, penalty, slip)
    copy_impulses(rows.block_row, islands, island, by_row[TRIAL], by_row[SPEED])
    _move(rows.block_row, islands, island, bodies, by_row, by_body, 1.0)
    project_rows(rows, islands, island, group, model, slip, penalty, arrays, 0.0, rows.impulse)


@subkernel
def _slips(rows, islands, island, by_row, group, model, residual):
    """Whether the shifts are not those of the slip at the present v."""
    return shift_contacts(rows, islands, island, group, model, by_row[SPEED], by_row[SHIFT]) > _RATIO_SHIFT * residual


@subkernel
def _follow_slip(
    rows, islands, island, free_velocity, velocity, workspace, settings, penalty, target, from_multipliers, still
):
    """The equation g = 0 with Coulomb's law as it stands: damped Newton steps on |g|.

    It begins where the inner problem was solved; or, near the solution, right after the multipliers have been set:
    then one step at least is taken.

    Returns
    -------
    bool
        Whether a step failed. Then the better of the last point and the one at the beginning is kept.
    """
    counts, numbers, by_row, by_body = workspace.counts, workspace.numbers, workspace.by_row, workspace.by_body
    bodies = workspace.graph.body[: workspace.graph.count[0]]
    model, group, residual, arrays = settings.friction, workspace.group, numbers[LAST], _row_arrays(by_row)
    numbers[FORCING] = _FORCING_NEAR if from_multipliers else _FORCING
    start = by_row[MULTIPLIER] if from_multipliers else rows.impulse
    copy_impulses(rows.block_row, islands, island, start, by_row[KEPT])
    _copy_velocities(bodies, by_body[VELOCITY], by_body[KEPT_VELOCITY])
    failed, steps = False, 0
    if from_multipliers and still:
        _step_as_impulses_say(rows, islands, island, free_velocity, velocity, workspace, model, penalty, 1.0, residual)
        steps = 1
    project_rows(rows, islands, island, group, model, 1.0, penalty, arrays, 0.0, rows.impulse)
    set_velocities(rows, islands, island, workspace.group, free_velocity, velocity)
    error = _measure_gradient(bodies, rows.body_mass, by_body, velocity)
    if steps > 0:
        _judge(rows, islands, island, velocity, counts, numbers, workspace.history, by_row[BEST], settings)
        if _is_over(counts, numbers, settings, target):
            return False
    while not failed and steps < _MAX_SLIP_STEPS:
        if (steps > 0 or not from_multipliers) and error <= _allowed(rows, islands, island, penalty, by_row):
            break
        _find_direction(rows, islands, island, workspace, model, penalty, 1.0)
        step, taken, error_before = 1.0, 0.0, error
        for _ in range(_MAX_HALVINGS):
            _move(rows.block_row, islands, island, bodies, by_row, by_body, step - taken)
            taken = step
            project_rows(rows, islands, island, group, model, 1.0, penalty, arrays, 0.0, rows.impulse)
            set_velocities(rows, islands, island, workspace.group, free_velocity, velocity)
            error = _measure_gradient(bodies, rows.body_mass, by_body, velocity)
            if error <= (1.0 - _RATIO_DECREASE * step) * error_before:
                break
            step *= 0.5
        failed = error > (1.0 - _RATIO_DECREASE * taken) * error_before
        _judge(rows, islands, island, velocity, counts, numbers, workspace.history, by_row[BEST], settings)
        if _is_over(counts, numbers, settings, target):
            return failed
        steps += 1
    if failed and numbers[LAST] > residual:
        _copy_velocities(bodies, by_body[KEPT_VELOCITY], by_body[VELOCITY])
        copy_impulses(rows.block_row, islands, island, by_row[KEPT], rows.impulse)
        numbers[LAST] = residual
    return failed


@subkernel
def _judge(rows, islands, island, velocity, counts, numbers, history, best, settings):
    """Count a Newton step and judge the impulses that it led to; keep the best."""
    residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    if counts[STEPS] < history.size:
        history[counts[STEPS]] = residual
    counts[STEPS] += 1
    counts[STALLED] += 1
    counts[WORST_BLOCK] = worst_block
    numbers[LAST] = residual
    if residual < numbers[LEAST]:
        numbers[LEAST] = residual
        if residual < _RATIO_PROGRESS * numbers[MILESTONE]:
            numbers[MILESTONE] = residual
            counts[STALLED] = 0
        copy_impulses(rows.block_row, islands, island, rows.impulse, best)


@subkernel
def _allowed(rows, islands, island, penalty, by_row):
    """The error of v that is small beside what the outer step moves."""
    moved = gap_of_multipliers(
        rows.block_row, islands, island, penalty, by_row[WEIGHT], by_row[MULTIPLIER], rows.impulse
    )
    return _RATIO_INNER * moved


@subkernel
def _copy_velocities(bodies, source, target):
    for body in bodies:
        for column in range(6):
            target[body, column] = source[body, column]


@subkernel
def _measure_gradient(bodies, body_mass, by_body, own_velocity):
    """g = M (v - v_p), with v_p the impulses' own velocity; returns its norm in M^-1 [sqrt(J)]."""
    velocity, difference, gradient = by_body[VELOCITY], by_body[IMAGE], by_body[GRADIENT]
    for body in bodies:
        for column in range(6):
            difference[body, column] = velocity[body, column] - own_velocity[body, column]
    multiply_mass(bodies, body_mass, difference, gradient)
    return math.sqrt(max(dot_bodies(bodies, difference, gradient), 0.0))


@subkernel
def _find_direction(rows, islands, island, workspace, model, penalty, slip):
    """dv = -H^-1 g, with the old factor where that is good enough, and the change of speeds along it.

    With slip = 1 (else 0) D is that of Coulomb's law as it stands; the factor is that of the contacts' cones.
    """
    graph, elimination, factor = workspace.graph, workspace.elimination, workspace.factor
    group, stiffness, factored = workspace.group, workspace.stiffness, workspace.factored
    arrays, numbers = _row_arrays(workspace.by_row), workspace.numbers
    changed, largest = fill_stiffness(rows, islands, island, group, model, penalty, arrays, factored, stiffness)
    direct = _has_factor(graph, elimination)
    few = _CHANGED_AT_LEAST
    if numbers[LAST] <= _RATIO_STILL * numbers[SCALE]:
        few = max(few, int(_RATIO_CHANGED * workspace.counts[GROUPS]))
    if not (direct and penalty == numbers[FACTORED_PENALTY] and changed <= few):
        assemble(rows, islands, island, group, graph, elimination, factor, direct, stiffness, factored)
        factorize(graph.count[0], elimination.column_start, elimination.row, factor)
        numbers[FACTORED_PENALTY] = penalty
        workspace.counts[FACTORISATIONS] += 1
        largest = 0.0
    asymmetric = slip > 0.0 and fill_slip_stiffness(rows, islands, island, group, model, penalty, arrays, stiffness)
    if not direct and not asymmetric:
        iterate_gradients(rows, islands, island, workspace)
    elif asymmetric or largest > _RATIO_SAME:
        if not iterate_gmres(rows, islands, island, workspace, numbers[FORCING]):
            # the factor is too far from H: the next step has its own
            numbers[FACTORED_PENALTY] = 0.0
    else:
        bodies = graph.body[: graph.count[0]]
        solve_with_factor(bodies, elimination, factor, workspace.by_body, workspace.solution)
    measure_speeds(rows, islands, island, group, workspace.by_body[DIRECTION], 0.0, workspace.by_row[CHANGE])


@subkernel
def _move(block_row, islands, island, bodies, by_row, by_body, step):
    """v += step dv, and the speeds of the rows with it."""
    for body in bodies:
        for column in range(6):
            by_body[VELOCITY, body, column] += step * by_body[DIRECTION, body, column]
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(block_row[block], block_row[block + 1]):
            by_row[SPEED, row] += step * by_row[CHANGE, row]


@subkernel
def _search_line(rows, islands, island, bodies, by_row, by_body, group, model, penalty):
    """The step at which the slope of phi has nearly vanished, or the full one where that halves it; p to ``trial``."""
    direction, image, arrays, trial = by_body[DIRECTION], by_body[IMAGE], _row_arrays(by_row), by_row[TRIAL]
    multiply_mass(bodies, rows.body_mass, direction, image)
    curvature = dot_bodies(bodies, direction, image)
    start_slope = dot_bodies(bodies, by_body[GRADIENT], direction)
    step, low, high = 1.0, 0.0, 1.0
    low_slope, high_slope = start_slope, 0.0
    for attempt in range(_MAX_TRIALS):
        change = project_rows(rows, islands, island, group, model, 0.0, penalty, arrays, step, trial)
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
def _growth_of_penalty(inner_steps, residual_before, residual, target, foretells):
    """Factor on the penalty after an outer step; 1 where a few more steps like the last one will do.

    What the last one gained ``foretells`` that only where it began near the solution or at rest: else it was Newton's
    steps that brought the residual down. Without a factor it is trusted always: a high penalty costs many steps there.
    """
    ratio = residual / residual_before
    if foretells and ratio < 1.0 and math.log(target / residual) >= _OUTER_STEPS_AHEAD * math.log(ratio):
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
