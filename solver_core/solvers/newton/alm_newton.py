"""Augmented Lagrangian with a semismooth Newton method in velocity space, on the cone of Coulomb's law or of the box.

With the velocities v of the bodies as unknowns, u_i = J_i v + bias_i, and for each contact its multiplier lambda_i, its
penalty rho_i = c / mean W_ii and De Saxce's shift s_i (``cone``):

    outer step    lambda_i <- p_i;  s_i from the slip at the present v;  then v so that g = 0

    p_i = P_K(lambda_i - rho_i (u_i + s_i n)),    g = M (v - v_free) - J' p = M (v - v_p),    v_p = v_free + M^-1 J' p

Shifts fixed: g is the gradient of the convex phi(v) = 1/2 (v - v_free)' M (v - v_free) + sum_i |p_i|^2 / (2 rho_i);
Newton steps H dv = -g with H = M + J' D J, D_i in rho_i dP_K, and a line search on the slope of phi.
With slip: from there on p_i follows Coulomb's law as it stands, without a shift. D_i is asymmetric where a contact
slides; the same factor preconditions GMRES, and steps are halved until |g| falls. Where that fails, the shifts of the
next outer step do the rest. Rows with constant bounds and bilateral rows project on their interval; with a compliance
C_i they add min_p ((p - lambda_i)^2 / (2 rho_i) + C_i p^2 / 2 + p u_i) to phi with its sign turned, which for a spring
(bilateral, rho_i = inf) is the energy u_i^2 / (2 C_i) that it takes up (``alm_system``).

What is judged after each Newton step, and returned, are p and v_p.

Islands with joints: see ``alm_bilateral``. The penalty c runs along a continuation: from a cold start it is low and
rises from outer step to outer step, the faster the fewer Newton steps the last one took; a warm start begins high. The
outer error shrinks the more a step the higher c is, and heavy loads on light bodies need a high one; but far from the
solution a high c makes the inner problems hard.

H has the graph of the bodies (``body_graph``) and is factorised (``block_cholesky``). While the penalty stays and only
few contacts change their D, the old factor serves on. Where the factor would not fit, conjugate gradients run with the
diagonal blocks as preconditioner.

Cost of a Newton step: one factorisation, one solve, and some ten passes over the rows. Ends with ``max_iterations`` or
``stagnated`` and the best iterate; ``failed`` where the problem holds NaN or infinity.

Sources: Alart and Curnier 1991 (augmented Lagrangian of contact and friction); De Saxce and Feng 1998 (the shift);
Acary, Cadoux, Lemarechal and Malick 2011 (fixed point in s); Castro et al. 2022 (Newton in velocity space, sparse).
"""

import math

from ...compiled.kernel import kernel, subkernel
from ...problem.problem import CONFLICTING, MAX_ITERATIONS, STAGNATED
from ...problem.residuals import natural_map
from ..linear_algebra.block_cholesky import factorize
from ..linear_algebra.body_graph import build_body_graph
from ..linear_algebra.elimination import find_elimination
from ..registry import Method, register
from ..shared.directions import copy_impulses
from ..shared.status import begin_solve, fail, status_of
from .alm_bilateral import PENALTY_BILATERAL, take_conflicts_out
from .alm_explicit import solve_alm_explicit
from .alm_hessian import assemble, dot_bodies, multiply_mass
from .alm_linear import iterate_gmres, iterate_gradients, solve_asymmetric, solve_with_factor
from .alm_penalty import EPSILON, GROWTH_FAST, RATIO_SLOW, growth_of_penalty, raise_penalty
from .alm_system import (
    fill_slip_stiffness,
    fill_stiffness,
    gap_of_multipliers,
    group_rows,
    largest_speed,
    largest_term,
    measure_speeds,
    project_rows,
    set_velocities,
    settle_speeds,
    shift_contacts,
    subtract_stiffness,
)
from .alm_workspace import allocate_alm_workspace

# Penalty c (dimensionless): from a cold start, from a warm one, and what a start must reach to be warm (of the scale).
_PENALTY_COLD = 3e1
_PENALTY_WARM = 4e3
_RATIO_WARM = 0.1
# An inner problem is solved when its error is this share of what the outer step moved.
_RATIO_INNER = 0.1
# Coulomb's law as it stands: due where a shift is off by this share of the residual; a step must bring the error down
# by this share of its length, which may be halved so often; this many steps.
_RATIO_SHIFT = 1e-2
_RATIO_DECREASE = 0.1
_MAX_SLIP_STEPS = 20
# After at most this many, the next outer step begins with them.
_MAX_STEPS_NEAR = 4
_MAX_HALVINGS = 7
# An outer step begins with the states that the impulses tell where the residual is below this share of the scale;
# speeds up to this many residuals are errors there. Where such a step of Coulomb's law, begun near the solution, brings
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
# An old factor serves while at most this many contacts have changed, or this share of all; GMRES has few steps to do
# then, and none where no D has changed by more than the last share of its penalty.
_CHANGED_AT_LEAST = 3
_RATIO_CHANGED = 1.0 / 16.0
_RATIO_SAME = 1e-9
# What a Newton step costs beside its factorisation, in visits of a contact by a sweep.
_VISITS_A_STEP, _VISITS_A_GROUP, _VISITS_A_BODY = 100.0, 10.0, 20.0
# What solves exactly ends where the residual is this multiple of the speeds' rounding.
_FACTOR_ROUNDING = 1e3
# The solver gives up after this many Newton steps in which the residual has not come down by this factor.
_MAX_STALLED = 60
_RATIO_PROGRESS = 0.5
# ... and after so many where it is below the tolerance, and more was aimed at: joints that contacts contradict, or that
# bear what others could, have no better solution than rounding of a factor so stiff leaves (docs/decisions/42).
_MAX_STALLED_ENOUGH = 24


@kernel
def solve_alm_newton(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Solve one island.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of every contact solver (``registry.Method``).
    workspace : AlmWorkspace

    Returns
    -------
    tuple
        (status, Newton steps, residual [m/s], scale [m/s], worst block).
    """
    scale, target, residual, worst_block = begin_solve(rows, islands, island, free_velocity, velocity, settings)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    asked = target
    if settings.exactly > 0.0:
        rounding = _FACTOR_ROUNDING * EPSILON * largest_speed(rows, islands, island, velocity)
        target = min(target, max(settings.exactly * target, rounding))
    if residual <= target or settings.max_iterations == 0:
        return status_of(residual, asked, settings.absolute_tolerance), 0, residual, scale, worst_block
    _prepare(rows, islands, island, velocity, workspace, settings, residual)
    progress, by_row, by_body = workspace.progress, workspace.by_row, workspace.by_body
    progress.scale[0], progress.asked[0] = scale, asked
    penalty = _PENALTY_COLD if residual > _RATIO_WARM * scale else _PENALTY_WARM
    # not the literal False, for which Numba would compile the callee a second time
    model, near, failed = settings.friction, residual <= target, False
    direct = _has_factor(workspace.graph, workspace.elimination)
    # the penalty before it was raised in haste; 0 where it has not been, -1 once that was too much: no haste any more
    earlier_penalty = 0.0
    while not _is_over(progress, settings, target):
        residual, steps = progress.last[0], progress.steps[0]
        began_near, still = near, direct and residual <= _RATIO_STILL * scale and earlier_penalty >= 0.0
        _begin_outer_step(rows, islands, island, by_row, workspace.group, by_body.velocity, model, penalty, still)
        if not near:
            if still:
                _step_as_impulses_say(
                    rows, islands, island, free_velocity, velocity, workspace, model, penalty, 0.0, residual
                )
            _minimise_energy(
                rows, islands, island, free_velocity, velocity, workspace, settings, penalty, target, still
            )
            if _is_over(progress, settings, target):
                break
        inner_steps = progress.steps[0] - steps
        if near or _slips(rows, islands, island, by_row, workspace.group, model, progress.last[0]):
            failed = _follow_slip(
                rows, islands, island, free_velocity, velocity, workspace, settings, penalty, target, near, still
            )
            near = not failed and progress.steps[0] - steps - inner_steps <= _MAX_STEPS_NEAR
        else:
            near = False
        if (failed and earlier_penalty > 0.0) or (still and not progress.last[0] <= RATIO_SLOW * residual):
            # bodies that are not at rest: speeds of their contacts are no errors
            penalty, earlier_penalty = earlier_penalty if earlier_penalty > 0.0 else penalty, -1.0
        if not failed:
            if near and direct and progress.last[0] <= _RATIO_STILL * scale and earlier_penalty >= 0.0:
                earlier_penalty = penalty
                gains = began_near and still and progress.last[0] <= _RATIO_GAIN * residual
                growth = _GROWTH_NEAR if gains else GROWTH_FAST
            else:
                foretells = began_near or still or not direct or earlier_penalty < 0.0
                growth = growth_of_penalty(inner_steps, residual, progress.last[0], target, foretells)
            if growth > 1.0:
                # where each outer step begins at the impulses' own velocity rounding does not add up
                largest = largest_term(rows, islands, island, by_body.velocity) if progress.singles[0] == 0 else 0.0
                penalty = raise_penalty(penalty, growth, target, largest)
    residual, worst_block = progress.last[0], progress.worst_block[0]
    if residual > progress.least[0]:
        copy_impulses(rows.block_row, islands, island, by_row.best, rows.impulse)
        if not residual < math.inf:
            _restore_unpushed(rows, islands, island, workspace.graph.local, by_body.velocity, velocity)
        set_velocities(rows, islands, island, workspace.group, free_velocity, velocity)
        residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    solved = residual <= asked
    if progress.conflicts[0] > 0:
        copy_impulses(rows.block_row, islands, island, by_row.bias, rows.bias)
        residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    status = status_of(residual, asked, settings.absolute_tolerance)
    if solved and status == MAX_ITERATIONS:
        status = CONFLICTING
    elif status == MAX_ITERATIONS and progress.steps[0] < settings.max_iterations:
        status = STAGNATED
    return status, progress.steps[0], residual, scale, worst_block


@subkernel
def _is_over(progress, settings, target):
    """Whether the last iterate solves the problem, or nothing more is to be hoped for."""
    patience = _MAX_STALLED_ENOUGH if progress.least[0] <= progress.asked[0] else _MAX_STALLED
    return (
        progress.last[0] <= target
        or progress.steps[0] >= settings.max_iterations
        or progress.work[0] >= progress.most_work[0]
        or progress.stalled[0] >= patience
        or not progress.last[0] < math.inf
    )


@subkernel
def _restore_unpushed(rows, islands, island, local, before, velocity):
    """Give bodies that cannot be pushed their velocities back: an impulse that is no number moves them, too."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for body in (rows.body_a[block], rows.body_b[block]):
            if local[body] < 0:
                for column in range(6):
                    velocity[body, column] = before[body, column]


@subkernel
def _has_factor(graph, elimination):
    """Whether there is room for the factor of H; else that of its diagonal blocks preconditions."""
    return elimination.column_start[graph.count[0]] > 0 or graph.count[1] == 0


@subkernel
def _prepare(rows, islands, island, velocity, workspace, settings, residual):
    """Graph, order, weights and the start."""
    by_body, progress = workspace.by_body, workspace.progress
    progress.factorisations[0] = progress.linear_steps[0] = progress.steps[0] = 0
    progress.stalled[0] = progress.worst_block[0] = 0
    progress.most_work[0] = progress.work[0] + settings.max_work
    progress.last[0] = progress.least[0] = progress.milestone[0] = residual
    progress.factored_penalty[0], progress.forcing[0] = 0.0, _FORCING
    if not build_body_graph(rows, islands, island, workspace.graph):
        find_elimination(workspace.graph, workspace.elimination)
    stiff = PENALTY_BILATERAL if _has_factor(workspace.graph, workspace.elimination) else 0.0
    groups, singles = group_rows(rows, islands, island, workspace.group, workspace.by_row.weight, stiff)
    progress.groups[0], progress.singles[0], progress.conflicts[0], progress.splits[0] = groups, singles, 0, 0
    if singles > 0:
        copy_impulses(rows.block_row, islands, island, rows.bias, workspace.by_row.bias)
    copy_impulses(rows.block_row, islands, island, rows.impulse, workspace.by_row.best)
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        # of impacts that are left out, no block may be left at a body
        _begin_body(by_body, velocity, islands.body_order[index])
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for body in (rows.body_a[block], rows.body_b[block]):
            # bodies that cannot be pushed stay as they are in every direction
            _begin_body(by_body, velocity, body)
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            # no step has been taken; what an earlier solve has left may be no number
            workspace.by_row.change[row] = 0.0


@subkernel
def _begin_body(by_body, velocity, body):
    """The body's velocity at the start; nothing of what an earlier solve has left."""
    for column in range(6):
        by_body.velocity[body, column] = velocity[body, column]
        by_body.kept_velocity[body, column] = by_body.gradient[body, column] = by_body.direction[body, column] = 0.0
        by_body.remainder[body, column] = by_body.search[body, column] = by_body.image[body, column] = 0.0


@subkernel
def _begin_outer_step(rows, islands, island, by_row, group, velocity, model, penalty, still):
    """lambda <- p; speeds at v; shifts and p anew, which ``_step_as_impulses_say`` finds itself where it is due."""
    copy_impulses(rows.block_row, islands, island, rows.impulse, by_row.multiplier)
    measure_speeds(rows, islands, island, group, velocity, 1.0, by_row.speed)
    if still:
        return
    shift_contacts(rows, islands, island, group, model, by_row.speed, by_row.shift)
    project_rows(rows, islands, island, group, model, 0.0, penalty, by_row, 0.0, rows.impulse)


@subkernel
def _minimise_energy(rows, islands, island, free_velocity, velocity, workspace, settings, penalty, target, begun):
    """The inner problem: v <- argmin phi with the shifts as they are; ``begun`` where a step has been taken."""
    progress, by_row, by_body = workspace.progress, workspace.by_row, workspace.by_body
    bodies = workspace.graph.body[: workspace.graph.count[0]]
    while True:
        if begun and progress.singles[0] > 0:
            take_conflicts_out(rows, islands, island, workspace, target)
        set_velocities(rows, islands, island, workspace.group, free_velocity, velocity)
        error = _measure_gradient(bodies, rows.body_mass, by_body, velocity)
        if begun:
            _judge(rows, islands, island, velocity, workspace, settings)
            if _is_over(progress, settings, target) or error <= _allowed(rows, islands, island, penalty, by_row):
                return
        _find_direction(rows, islands, island, workspace, settings.friction, penalty, 0.0)
        step = _search_line(rows, islands, island, bodies, workspace, settings.friction, penalty)
        _move(rows.block_row, islands, island, bodies, by_row, by_body, step)
        copy_impulses(rows.block_row, islands, island, by_row.trial, rows.impulse)
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
    copy_impulses(rows.block_row, islands, island, by_row.speed, by_row.trial)
    settle_speeds(rows, islands, island, group, noise, by_row.multiplier, by_row.speed)
    shift_contacts(rows, islands, island, group, model, by_row.speed, by_row.shift)
    project_rows(rows, islands, island, group, model, slip, penalty, by_row, 0.0, rows.impulse)
    fill_stiffness(rows, islands, island, group, model, penalty, by_row, workspace.factored, workspace.stiffness)
    if slip > 0.0:
        fill_slip_stiffness(rows, islands, island, group, model, penalty, by_row, workspace.stiffness)
    subtract_stiffness(
        rows.block_row, islands, island, group, workspace.stiffness, by_row.trial, by_row.speed, rows.impulse
    )
    set_velocities(rows, islands, island, group, free_velocity, velocity)
    _measure_gradient(bodies, rows.body_mass, by_body, velocity)
    _find_direction(rows, islands, island, workspace, model, penalty, slip)
    copy_impulses(rows.block_row, islands, island, by_row.trial, by_row.speed)
    _move(rows.block_row, islands, island, bodies, by_row, by_body, 1.0)
    project_rows(rows, islands, island, group, model, slip, penalty, by_row, 0.0, rows.impulse)


@subkernel
def _slips(rows, islands, island, by_row, group, model, residual):
    """Whether the shifts are not those of the slip at the present v."""
    return shift_contacts(rows, islands, island, group, model, by_row.speed, by_row.shift) > _RATIO_SHIFT * residual


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
    progress, by_row, by_body = workspace.progress, workspace.by_row, workspace.by_body
    bodies = workspace.graph.body[: workspace.graph.count[0]]
    model, group, residual = settings.friction, workspace.group, progress.last[0]
    progress.forcing[0] = _FORCING_NEAR if from_multipliers else _FORCING
    start = by_row.multiplier if from_multipliers else rows.impulse
    copy_impulses(rows.block_row, islands, island, start, by_row.kept)
    _copy_velocities(bodies, by_body.velocity, by_body.kept_velocity)
    failed, steps = False, 0
    if from_multipliers and still:
        _step_as_impulses_say(rows, islands, island, free_velocity, velocity, workspace, model, penalty, 1.0, residual)
        steps = 1
    project_rows(rows, islands, island, group, model, 1.0, penalty, by_row, 0.0, rows.impulse)
    set_velocities(rows, islands, island, workspace.group, free_velocity, velocity)
    error = _measure_gradient(bodies, rows.body_mass, by_body, velocity)
    if steps > 0:
        _judge(rows, islands, island, velocity, workspace, settings)
        if _is_over(progress, settings, target):
            return False
    while not failed and steps < _MAX_SLIP_STEPS:
        if (steps > 0 or not from_multipliers) and error <= _allowed(rows, islands, island, penalty, by_row):
            break
        _find_direction(rows, islands, island, workspace, model, penalty, 1.0)
        step, taken, error_before = 1.0, 0.0, error
        for _ in range(_MAX_HALVINGS):
            _move(rows.block_row, islands, island, bodies, by_row, by_body, step - taken)
            taken = step
            project_rows(rows, islands, island, group, model, 1.0, penalty, by_row, 0.0, rows.impulse)
            set_velocities(rows, islands, island, workspace.group, free_velocity, velocity)
            error = _measure_gradient(bodies, rows.body_mass, by_body, velocity)
            if error <= (1.0 - _RATIO_DECREASE * step) * error_before:
                break
            step *= 0.5
        failed = error > (1.0 - _RATIO_DECREASE * taken) * error_before
        _judge(rows, islands, island, velocity, workspace, settings)
        if _is_over(progress, settings, target):
            return failed
        steps += 1
    if failed and progress.last[0] > residual:
        _copy_velocities(bodies, by_body.kept_velocity, by_body.velocity)
        copy_impulses(rows.block_row, islands, island, by_row.kept, rows.impulse)
        progress.last[0] = residual
    return failed


@subkernel
def _judge(rows, islands, island, velocity, workspace, settings):
    """Count a Newton step and judge the impulses that it led to; keep the best."""
    progress, history = workspace.progress, workspace.history
    residual, worst_block = natural_map(rows, islands, island, velocity, settings)
    if progress.steps[0] < history.size:
        history[progress.steps[0]] = residual
    progress.steps[0] += 1
    progress.stalled[0] += 1
    progress.worst_block[0] = worst_block
    progress.last[0] = residual
    if residual < progress.least[0]:
        progress.least[0] = residual
        if residual < _RATIO_PROGRESS * progress.milestone[0]:
            progress.milestone[0] = residual
            progress.stalled[0] = 0
        copy_impulses(rows.block_row, islands, island, rows.impulse, workspace.by_row.best)


@subkernel
def _allowed(rows, islands, island, penalty, by_row):
    """The error of v that is small beside what the outer step moves."""
    moved = gap_of_multipliers(rows, islands, island, penalty, by_row)
    return _RATIO_INNER * moved


@subkernel
def _copy_velocities(bodies, source, target):
    for body in bodies:
        for column in range(6):
            target[body, column] = source[body, column]


@subkernel
def _measure_gradient(bodies, body_mass, by_body, own_velocity):
    """g = M (v - v_p), with v_p the impulses' own velocity; returns its norm in M^-1 [sqrt(J)]."""
    velocity, difference, gradient = by_body.velocity, by_body.image, by_body.gradient
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
    by_row, progress = workspace.by_row, workspace.progress
    changed, largest = fill_stiffness(rows, islands, island, group, model, penalty, by_row, factored, stiffness)
    progress.work[0] += _VISITS_A_STEP + _VISITS_A_GROUP * progress.groups[0] + _VISITS_A_BODY * graph.count[0]
    direct = _has_factor(graph, elimination)
    few = _CHANGED_AT_LEAST
    if progress.last[0] <= _RATIO_STILL * progress.scale[0]:
        few = max(few, int(_RATIO_CHANGED * progress.groups[0]))
    if not (direct and penalty == progress.factored_penalty[0] and changed <= few):
        assemble(rows, islands, island, group, graph, elimination, factor, direct, stiffness, factored)
        factorize(graph.count[0], elimination.column_start, elimination.row, factor)
        progress.factored_penalty[0] = penalty
        progress.factorisations[0] += 1
        for column in range(graph.count[0]):
            below = elimination.column_start[column + 1] - elimination.column_start[column]
            progress.work[0] += below * below
        largest = 0.0
    asymmetric = slip > 0.0 and fill_slip_stiffness(rows, islands, island, group, model, penalty, by_row, stiffness)
    if not direct and not asymmetric:
        iterate_gradients(rows, islands, island, workspace)
    elif asymmetric and progress.splits[0] == 1:
        solve_asymmetric(rows, islands, island, workspace)
    elif asymmetric or largest > _RATIO_SAME:
        if not iterate_gmres(rows, islands, island, workspace, progress.forcing[0]):
            # the factor is too far from H: the next step has its own
            progress.factored_penalty[0] = 0.0
            if asymmetric and direct and progress.singles[0] > 0:
                solve_asymmetric(rows, islands, island, workspace)
                progress.splits[0] = 1
    else:
        bodies = graph.body[: graph.count[0]]
        solve_with_factor(bodies, workspace)
    measure_speeds(rows, islands, island, group, workspace.by_body.direction, 0.0, workspace.by_row.change)


@subkernel
def _move(block_row, islands, island, bodies, by_row, by_body, step):
    """v += step dv, and the speeds of the rows with it."""
    for body in bodies:
        for column in range(6):
            by_body.velocity[body, column] += step * by_body.direction[body, column]
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(block_row[block], block_row[block + 1]):
            by_row.speed[row] += step * by_row.change[row]


@subkernel
def _search_line(rows, islands, island, bodies, workspace, model, penalty):
    """The step at which the slope of phi has nearly vanished, or the full one where that halves it; p to ``trial``."""
    by_row, by_body, group = workspace.by_row, workspace.by_body, workspace.group
    direction, image = by_body.direction, by_body.image
    multiply_mass(bodies, rows.body_mass, direction, image)
    curvature = dot_bodies(bodies, direction, image)
    start_slope = dot_bodies(bodies, by_body.gradient, direction)
    step, low, high = 1.0, 0.0, 1.0
    low_slope, high_slope = start_slope, 0.0
    for attempt in range(_MAX_TRIALS):
        change = project_rows(rows, islands, island, group, model, 0.0, penalty, by_row, step, by_row.trial)
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
