"""Islands with joints in motion: the joints solved exactly within, and sweeps over what else there is.

Sweeps do not converge across joints that bear heavy loads, and Newton's method finds the states of contacts and limits
step by step, at the price of a factorisation each. But what a joint holds needs no search. With B the rows that hold
(bilateral ones, springs with them) and U the others (contacts, limits, motors, friction),

    H = M + J_B' D J_B,    v moves by H^-1 J_i' where row i of U pushes

is to rounding the response of bodies that the joints hold together (D: the penalty of ``alm_bilateral``). H is
factorised once a solve, of trees in linear time. So

1. the joints are solved for the present impulses of U,
2. projected Gauss-Seidel sweeps over U, with these responses and their W_ii, change U's impulses,
3. the joints are solved again, to the same error as elsewhere.

Rows whose W_ii is nothing are left as they are: of two bricks that are glued and touch, joints keep the speed,
and where that is not what the contact asks for (an overlap that is to be taken out), its impulse would grow in each
sweep, and push when the glue breaks.

A sweep visits only rows that are off by more than a share of what the sweeps aim at, and responses are made when first
needed: limits that nothing touches, and contacts that are open, cost one product each. Bodies outside of joints respond
by themselves.

Responses are as exact as H (rounding grows with D), which is enough to sweep by; step 3 makes up for it.

Sources: Baraff 1996 (linear time for trees); Silcowitz-Hansen et al. 2010 (sweeps).
"""

import math

import numpy as np

from ..compiled.kernel import subkernel
from ..problem.friction import visit_friction
from ..problem.problem import FAILED
from ..problem.residuals import natural_map, problem_scale, project_impulse, row_velocity
from .joint_factor import factorize_joints, factorize_joints_at_end, find_joints, is_bilateral, is_pushing_limit
from .joint_responses import (
    MOTOR,
    PAIR,
    SECOND,
    find_diagonal,
    find_parts,
    follow_in_seats,
    list_rows,
    make_columns,
    measure_seats,
    push,
    remember_speeds,
    speed_of,
)
from .jointed_arrays import rows_at_end
from .newton.alm_bilateral import PENALTY_BILATERAL, take_conflicts_out
from .newton.alm_linear import solve_with_asymmetric_factor, solve_with_factor
from .newton.alm_penalty import EPSILON
from .newton.alm_system import largest_speed, measure_speeds, set_velocities, with_compliance
from .shared.directions import follow_in_bodies, remember_velocity
from .shared.status import fail, status_of

# Sweeps end when one changes speeds by less than this share of the scale.
_RATIO_SWEEPS = 1e-3
# Before the sweeps the joints may be off by this share of that.
_SHARE_BEFORE_SWEEPS = 1e-2
# A row is visited where it is off by more than this share of that.
_SHARE_OFF = 0.25
# Newton steps on the joints at most; more than three are conflicts.
_MOST_STEPS = 8
# What bodies that joints hold give way by is rounding of H below this share of what they would alone: joints hold the
# row, and no impulse does anything to it.
_RATIO_HELD = EPSILON * PENALTY_BILATERAL
# The joints are solved where the residual is this multiple of the speeds' rounding.
_FACTOR_ROUNDING = 1e3
# Rounds in which limits change that are taken to push or not, and an impulse that says so [N s].
_MOST_ROUNDS, _LEAST_IMPULSE = 4, 1e-30
# Joints that are off by more than this many targets are left to others: they contradict each other.
_FACTOR_UNSOLVED = 1e3

_ROWS = 3


@subkernel
def solve_with_joints_eliminated(
    rows, islands, island, free_velocity, velocity, workspace, settings, aims, sweeps, at_end
):
    """Solve an island in motion.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of every contact solver (``registry.Method``).
    workspace : JointedArrays
    aims : tuple of two float
        The joints' share of the tolerance; what gravity gives in a substep: the sweeps' scale is not below that [m/s].
    sweeps : int
        At most; 0: contacts keep their impulses, and limits that push hold.
    at_end : bool
        Rows ask for what the workspace's rows of the substep's end do (``joint_ends``); there are no sweeps then.

    Returns
    -------
    tuple
        (status, sweeps, residual [m/s], scale [m/s], worst block); FAILED without room for the factor or a response,
        or where the joints are not solved, and then impulses are somewhere.
    """
    scale = problem_scale(rows, islands, island, free_velocity)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    exactly, least = aims
    rounding = _FACTOR_ROUNDING * EPSILON * largest_speed(rows, islands, island, velocity)
    target = max(exactly * max(settings.tolerance * scale, settings.absolute_tolerance), rounding)
    asked_rows = rows_at_end(rows, workspace) if at_end else rows
    if not _begin(rows, islands, island, workspace, sweeps == 0, at_end):
        return FAILED, 0, math.inf, scale, -1
    enough = _RATIO_SWEEPS * max(scale, least)
    done, largest, total = 0, math.inf, 0.0
    first_target = target if sweeps == 0 else max(target, _SHARE_BEFORE_SWEEPS * enough)
    left = _solve_joints(rows, asked_rows, islands, island, free_velocity, velocity, workspace, first_target, at_end)
    if sweeps > 0:
        list_rows(rows, islands, island, workspace, settings.friction)
        measure_seats(rows, velocity, workspace)
    for motors_push in (True, False):
        if not motors_push:
            # what drives against something that stands has no end: motors keep their impulses, and yield
            sweeps = 2 * done if _has_motors(rows, workspace.islands) else done
        merit = 0.0
        if sweeps > 0:
            _remember(rows, velocity, workspace)
        while largest > enough and done < sweeps:
            largest = _sweep(rows, velocity, workspace, settings, _SHARE_OFF * enough, motors_push)
            if largest < 0.0:
                return FAILED, done, math.inf, scale, -1
            total += largest
            done += 1
            if largest > enough and done < sweeps:
                merit = _follow_direction(rows, velocity, workspace, merit)
    if total > 0.0 or left > target:
        left = _solve_joints(rows, asked_rows, islands, island, free_velocity, velocity, workspace, target, at_end)
    rounds = 0
    while sweeps == 0 and rounds < _MOST_ROUNDS and _change_limits(asked_rows, workspace, velocity, target):
        _begin(rows, islands, island, workspace, True, at_end)
        left = _solve_joints(rows, asked_rows, islands, island, free_velocity, velocity, workspace, target, at_end)
        rounds += 1
    if not left <= _FACTOR_UNSOLVED * target:
        return FAILED, done, math.inf, scale, -1
    residual, worst_block = natural_map(asked_rows, islands, island, velocity, settings)
    # not the sweeps' aim, but what is reported as missed
    asked = max(settings.tolerance * scale, settings.absolute_tolerance)
    return status_of(residual, asked, settings.absolute_tolerance), done, residual, scale, worst_block


@subkernel
def find_held_contacts(rows, islands, island, workspace, least):
    """Find the contacts that joints hold: their bodies give way by less than a share of what they would alone.

    Parameters
    ----------
    rows, islands, island
        Read.
    workspace : JointedArrays
        ``is_held``: which contacts are asked for, and which joints hold (written).
    least : float
        The share of W_ii below which a row is held.
    """
    if not _begin(rows, islands, island, workspace, False, np.bool_(False)):
        for place in range(islands.block_first[island], islands.block_first[island + 1]):
            workspace.is_held[islands.block_order[place]] = False
        return
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if workspace.is_held[block]:
            row = rows.block_row[block]
            gives = find_diagonal(rows, workspace, row, rows.body_a[block], rows.body_b[block])
            workspace.is_held[block] = gives < least * rows.diagonal[row]


@subkernel
def _change_limits(rows, workspace, velocity, target):
    """Let limits go that would pull, and let those push that bodies pass; returns whether there was any."""
    joints, by_row, changed = workspace.islands, workspace.alm.by_row, False
    for index in range(joints.block_first[1]):
        block = joints.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if rows.normal_row[row] >= 0 or rows.lower[row] != 0.0 or rows.upper[row] != math.inf:
                continue
            if rows.impulse[row] < 0.0:
                rows.impulse[row] = 0.0
                changed = True
            elif by_row.weight[row] > 0.0:
                speed = row_velocity(rows.jacobian, row, rows.bias[row], velocity, a, b)
                if speed < -target:
                    rows.impulse[row] = _LEAST_IMPULSE
                    changed = True
    return changed


@subkernel
def _begin(rows, islands, island, workspace, limits_hold, at_end):
    """Find the joints, and factorise H; returns whether there is room for the factor."""
    joints, by_row = workspace.islands, workspace.alm.by_row
    if not find_joints(rows, islands, island, workspace, limits_hold):
        return False
    for index in range(joints.block_first[1]):
        block = joints.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            by_row.bias[row] = rows.bias[row]
            if limits_hold and by_row.weight[row] > 0.0 and is_pushing_limit(rows, row):
                by_row.weight[row] *= -PENALTY_BILATERAL
    if at_end:
        factorize_joints_at_end(rows, workspace)
        return True
    factorize_joints(rows, joints, workspace.alm)
    find_parts(rows, joints, workspace)
    return True


@subkernel
def _solve_joints(rows, asked_rows, islands, island, free_velocity, velocity, workspace, target, at_end):
    """Find the impulses of the rows that hold, for those of the others as they are, and the velocities.

    Returns by how much they were off the last time that they were measured [m/s].
    """
    joints, alm, base, part = workspace.islands, workspace.alm, workspace.base, workspace.part
    by_row, by_body, number = alm.by_row, alm.by_body, np.int64(0)
    bodies = alm.graph.body[: alm.graph.count[0]]
    for body in bodies:
        for column in range(6):
            base[body, column] = free_velocity[body, column]
    joint = 0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if joint < joints.block_first[1] and joints.block_order[joint] == block:
            joint += 1
            continue
        a, b = rows.body_a[block], rows.body_b[block]
        if part[a] < 0 and part[b] < 0:
            continue
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            impulse = rows.impulse[row]
            if impulse != 0.0:
                for column in range(6):
                    if part[a] >= 0:
                        base[a, column] += rows.response[row, column] * impulse
                    if part[b] >= 0:
                        base[b, column] += rows.response[row, 6 + column] * impulse
    set_velocities(rows, joints, number, alm.group, base, velocity)
    alm.progress.conflicts[0], left = 0, 0.0
    if at_end:
        _begin_at_last_velocities(rows, bodies, workspace, velocity)
    for step in range(_MOST_STEPS):
        measure_speeds(asked_rows, joints, number, alm.group, velocity, 1.0, by_row.speed)
        left = _push_off(rows, joints, bodies, alm)
        if left <= target and not (at_end and step == 0):
            break
        if at_end:
            if step == 0:
                _add_forces_off(bodies, workspace)
            solve_with_asymmetric_factor(bodies, alm)
        else:
            solve_with_factor(bodies, alm)
        measure_speeds(asked_rows, joints, number, alm.group, by_body.direction, 0.0, by_row.change)
        if not _take_step(rows, joints, alm):
            left = math.inf
            break
        if step > 0 and not at_end:
            take_conflicts_out(rows, joints, number, alm, target)
        if at_end:
            for body in bodies:
                for column in range(6):
                    velocity[body, column] += by_body.direction[body, column]
        else:
            set_velocities(rows, joints, number, alm.group, base, velocity)
    if alm.progress.conflicts[0] > 0:
        for index in range(joints.block_first[1]):
            block = joints.block_order[index]
            for row in range(rows.block_row[block], rows.block_row[block + 1]):
                rows.bias[row] = by_row.bias[row]
    return left


@subkernel
def _begin_at_last_velocities(rows, bodies, workspace, velocity):
    """Go back from the velocities of the impulses to those of the last solve, and note M times the difference.

    The forces of these impulses are those of the poses that velocities lead to, so the two change together: from here
    on velocities are added to, and not those of the impulses.
    """
    base, last = workspace.base, workspace.last_velocity
    for body in bodies:
        mass = rows.body_mass[body]
        for column in range(6):
            velocity[body, column] = last[body, column] - velocity[body, column]
        for row in range(6):
            total = 0.0
            for column in range(6):
                total += mass[row, column] * velocity[body, column]
            base[body, row] = total
        for column in range(6):
            velocity[body, column] = last[body, column]


@subkernel
def _add_forces_off(bodies, workspace):
    """Add to the gradient what ``_begin_at_last_velocities`` has noted."""
    gradient, base = workspace.alm.by_body.gradient, workspace.base
    for body in bodies:
        for column in range(6):
            gradient[body, column] += base[body, column]


@subkernel
def _push_off(rows, joints, bodies, alm):
    """The gradient J' D u of what the rows that hold are off; returns the largest [m/s]."""
    weight, speed, gradient, local = alm.by_row.weight, alm.by_row.speed, alm.by_body.gradient, alm.graph.local
    for body in bodies:
        for column in range(6):
            gradient[body, column] = 0.0
    largest = 0.0
    for index in range(joints.block_first[1]):
        block = joints.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        pushed_a, pushed_b = local[a] >= 0, local[b] >= 0
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if weight[row] < 0.0:
                compliance, impulse = rows.compliance[row], rows.impulse[row]
                share, rho = with_compliance(-weight[row], compliance)
                off = abs(speed[row] + compliance * impulse)
                # what is no number is not to be dropped
                largest = max(largest, (1.0 - compliance / rows.diagonal[row]) * off if off < math.inf else math.inf)
                # what the impulse is at this velocity, less what it is
                push = impulse - (share * impulse - rho * speed[row])
                for column in range(6):
                    if pushed_a:
                        gradient[a, column] += rows.jacobian[row, column] * push
                    if pushed_b:
                        gradient[b, column] += rows.jacobian[row, 6 + column] * push
    return largest


@subkernel
def _take_step(rows, joints, alm):
    """The impulses of the rows that hold at the velocities of the Newton step, and speeds there.

    Returns whether all are numbers; the others are not written.
    """
    weight, speed, change, multiplier = alm.by_row.weight, alm.by_row.speed, alm.by_row.change, alm.by_row.multiplier
    for index in range(joints.block_first[1]):
        block = joints.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            multiplier[row] = rows.impulse[row]
            if weight[row] < 0.0:
                share, rho = with_compliance(-weight[row], rows.compliance[row])
                speed[row] += change[row]
                wanted = share * multiplier[row] - rho * speed[row]
                if not abs(wanted) < math.inf:
                    return False
                rows.impulse[row] = wanted
    return True


@subkernel
def _remember(rows, velocity, workspace):
    """Keep impulses, the speeds of seats, and the velocities of bodies outside of joints, for the first direction."""
    for index in range(workspace.used[2]):
        row = workspace.listed_row[index]
        workspace.impulse_before[row] = rows.impulse[row]
    remember_speeds(workspace)
    remember_velocity(workspace.outside, 0, workspace.used[3], velocity, workspace)


@subkernel
def _follow_direction(rows, velocity, workspace, last_merit):
    """Go on along the conjugate direction after a sweep; returns the sweep's merit.

    As ``sweeps.nncg``, in the metric diag(W) of bodies that joints hold. The next sweep takes back what impulses may
    not be.
    """
    before, direction, merit = workspace.impulse_before, workspace.impulse_direction, 0.0
    for index in range(workspace.used[2]):
        row = workspace.listed_row[index]
        change = rows.impulse[row] - before[row]
        weight = workspace.diagonal[row] if workspace.column[row] >= 0 else rows.diagonal[row]
        merit += weight * change * change
    beta = 0.0
    if last_merit > 0.0:
        beta = merit / last_merit if merit <= last_merit else -1.0
    keep, share = 0.0 if beta < 0.0 else 1.0, max(beta, 0.0)
    for index in range(workspace.used[2]):
        row = workspace.listed_row[index]
        step = share * direction[row] if share > 0.0 else 0.0
        direction[row] = keep * (rows.impulse[row] - before[row]) + step
        rows.impulse[row] += step
        before[row] = rows.impulse[row]
    follow_in_seats(workspace, beta)
    follow_in_bodies(
        workspace.outside,
        0,
        workspace.used[3],
        velocity,
        workspace.velocity_before,
        workspace.velocity_direction,
        beta,
    )
    return merit


@subkernel
def _has_motors(rows, joints):
    """Whether there is a row that pushes both ways, and not without bounds."""
    for index in range(joints.block_first[1]):
        block = joints.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if rows.lower[row] < 0.0 and not is_bilateral(rows, row):
                return True
    return False


@subkernel
def _sweep(rows, velocity, workspace, settings, allowed, motors_push):
    """Sweep once over the rows that do not hold; returns the largest change [m/s].

    Or -1, without room, or where an impulse is no number: what stands gets none of it (0 times infinity is no 0).
    """
    model, directions, largest = settings.friction, settings.directions, 0.0
    for index in range(workspace.used[2]):
        row, block, kind = workspace.listed_row[index], workspace.listed_block[index], workspace.row_kind[index]
        if kind == SECOND or (kind == MOTOR and not motors_push):
            continue
        a, b = rows.body_a[block], rows.body_b[block]
        if kind == PAIR:
            error = _visit_friction(rows, velocity, workspace, index, row, a, b, model, directions, allowed)
        else:
            error = _visit_row(rows, velocity, workspace, index, row, a, b, allowed)
        if error < 0.0:
            return -1.0
        largest = max(largest, error)
    return largest


@subkernel(inline=True)
def _visit_row(rows, velocity, workspace, index, row, a, b, allowed):
    """Let the impulse of one row be that at which all others stay; returns by how much it changes its speed [m/s]."""
    impulse, compliance, weight = rows.impulse[row], rows.compliance[row], rows.diagonal[row]
    normal = rows.normal_row[row]
    if weight <= 0.0 or (normal >= 0 and impulse == 0.0 and rows.impulse[normal] <= 0.0):
        return 0.0
    speed = speed_of(rows, velocity, workspace, row, a, b)
    wanted = _projected(rows, row, impulse - speed / weight)
    # a conjugate direction may lead beyond the bounds
    if weight * abs(wanted - impulse) <= allowed and _projected(rows, row, impulse) == impulse:
        return 0.0
    if max(workspace.part[a], workspace.part[b]) >= 0:
        if workspace.column[row] < 0 and not make_columns(rows, velocity, workspace, index, allowed):
            return -1.0
        if workspace.diagonal[row] <= _RATIO_HELD * weight:
            return 0.0
        weight = workspace.diagonal[row] + compliance
        wanted = _projected(rows, row, impulse - speed / weight)
    if not abs(wanted) < math.inf:
        return -1.0
    push(rows, velocity, workspace, row, wanted - impulse, a, b)
    rows.impulse[row] = wanted
    return (weight - compliance) * abs(wanted - impulse)


@subkernel(inline=True)
def _projected(rows, row, wanted):
    return project_impulse(wanted, row, rows.lower, rows.upper, rows.normal_row, rows.friction, rows.impulse)


@subkernel(inline=True)
def _visit_friction(rows, velocity, workspace, index, row, a, b, model, directions, allowed):
    """As ``_visit_row``, of the two friction rows of a contact."""
    first, second = rows.impulse[row], rows.impulse[row + 1]
    bound = rows.friction[row] * max(rows.impulse[rows.normal_row[row]], 0.0)
    if bound == 0.0 and first == 0.0 and second == 0.0:
        return 0.0
    weight_1, weight_2, coupling = rows.diagonal[row], rows.diagonal[row + 1], 0.0
    if max(weight_1, weight_2) <= 0.0:
        return 0.0
    speed_1 = speed_of(rows, velocity, workspace, row, a, b)
    speed_2 = speed_of(rows, velocity, workspace, row + 1, a, b)
    if max(workspace.part[a], workspace.part[b]) >= 0:
        if min(workspace.column[row], workspace.column[row + 1]) < 0 and not make_columns(
            rows, velocity, workspace, index, allowed
        ):
            return -1.0
        held_1, held_2 = workspace.diagonal[row], workspace.diagonal[row + 1]
        if max(held_1, held_2) <= _RATIO_HELD * max(weight_1, weight_2):
            return 0.0
        weight_1, weight_2, coupling = held_1, held_2, workspace.coupling[row]
    else:
        for column in range(12):
            coupling += rows.jacobian[row, column] * rows.response[row + 1, column]
    new_1, new_2 = 0.0, 0.0
    if bound > 0.0 and max(weight_1, weight_2) > 0.0:
        new_1, new_2 = visit_friction(
            model, directions, bound, weight_1, coupling, coupling, weight_2, speed_1, speed_2, first, second
        )
    error = max(weight_1 * abs(new_1 - first), weight_2 * abs(new_2 - second))
    if error <= allowed and bound > 0.0:
        return 0.0
    if not abs(new_1) + abs(new_2) < math.inf:
        return -1.0
    push(rows, velocity, workspace, row, new_1 - first, a, b)
    push(rows, velocity, workspace, row + 1, new_2 - second, a, b)
    rows.impulse[row], rows.impulse[row + 1] = new_1, new_2
    return error
