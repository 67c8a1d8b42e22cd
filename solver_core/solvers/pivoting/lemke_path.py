"""Lemke's path on a group problem with the reduced inverse: from the start to a complementary basis.

    w = M z + c z0 + q        c > 0, z0 from infinity down to zero

Start: no z basic; z0 takes the place of the w with the least q / c. Then the complement of what left enters, and what
falls to zero first leaves, until z0 does. While z0 > 0 exactly one pair has neither of its variables basic.

Ties are the normal case: sixteen contacts under one face, all sigma of a contact that does not slip. They are decided
as if q were q + epsilon * noise with epsilon infinitesimal and noise random, fixed and positive. With probability one
no basis has a tie then, so the path never comes back to a basis and ends after finitely many. noise goes along as a
second column, which decides where rows tie in the first.

``joins`` makes the path that of Lloyd's section 5.3: friction of a contact takes part from the pivot on at which its
theta enters. The covering vector's new elements are then chosen so that sigma and gamma start positive (appendix D):
c_sigma = max(1, -2 min_j d_j' u_t / z0), c_gamma = 1.

Source: Lloyd 2004, section 4 (steps 0 to 2), section 5.3 and appendix D; ties: Cottle, Pang and Stone, section 4.9, for
the lexicographic rule, of which the perturbation by random noise is the same argument with one column.
"""

import math

from ...compiled.kernel import subkernel
from .almost_complementary import (
    DRIVE,
    NOISE,
    NOISE_VALUE,
    NORMAL,
    PUSH,
    SOURCE,
    VALUE,
    W,
    Z,
    add_push,
    clear,
    fill_speeds,
)
from .basis_columns import drive_w, drive_z, rebuild, solve_source
from .basis_exchange import exchange

# How a path ends.
SOLVED, RAY, LIMIT, BROKEN = range(4)

# Entries of the entering column below this share of its largest are zero up to rounding.
_TOLERANCE_PIVOT = 1e-10
# Values this close, in units of the largest speed, are the same up to rounding.
_TOLERANCE_TIE = 1e-12
# A value below minus this after a rebuild: rounding has left the path.
_TOLERANCE_LOST = 1e-6
# The inverse is built anew after this many pivots and one for each row.
_PIVOTS_BETWEEN_REBUILDS = 24
# c of gamma over that of nu and sigma. What gamma bounds then enters late, which saves pivots.
_RATIO_COVER_CONE = 0.01
# What sigma starts with when friction joins is this less one, times the largest slip against a direction.
_FACTOR_JOIN = 1.2


@subkernel
def follow_path(groups, basis, joins, max_pivots, seed, history):
    """Pivot until z0 is zero.

    Parameters
    ----------
    groups : Groups
        Read; its solver's own columns are written.
    basis : Basis
        Empty (``allocate_basis``); written. At the end VALUE holds the solution.
    joins : int
        1: friction joins contact by contact.
    max_pivots : int
    seed : int
        Of the noise and of the covering vector.
    history : float64 [any]
        Written: z0 after each pivot, as far as it reaches.

    Returns
    -------
    outcome : int
        SOLVED, RAY, LIMIT or BROKEN.
    pivots : int
    """
    stride = groups.angle.shape[1] + 2
    z0_pair = groups.each.size * stride
    _start(groups, basis, joins, seed)
    entering = _first_pivot(groups, basis)
    if entering < 0:
        return SOLVED, 0
    enter_z, pivots = Z, 1
    if history.size > 0:
        history[0] = basis.table[VALUE, z0_pair]
    while pivots < max_pivots:
        if joins and enter_z and entering % stride == NORMAL and not groups.each[entering // stride]["included"]:
            _join_friction(groups, basis, entering // stride)
        if enter_z:
            drive_z(groups, basis, entering)
        else:
            drive_w(groups, basis, entering)
        leaving = _leaving_pair(basis.table)
        if leaving < 0:
            return RAY, pivots
        leave_z = Z if basis.basic[Z, leaving] else W
        _step(basis.table, basis.velocity, entering, leaving)
        if not exchange(groups, basis, entering, enter_z, leaving, leave_z):
            return BROKEN, pivots
        if pivots < history.size:
            history[pivots] = basis.table[VALUE, z0_pair]
        pivots += 1
        if leaving == z0_pair:
            return SOLVED, pivots
        if basis.pivots_since_rebuild[0] > _PIVOTS_BETWEEN_REBUILDS + basis.size[0] and not _refresh(groups, basis):
            return BROKEN, pivots
        entering, enter_z = leaving, W if leave_z else Z
    return LIMIT, pivots


@subkernel
def _start(groups, basis, joins, seed):
    """q, noise, the pairs that take part, all w basic."""
    each, table, stride = groups.each, basis.table, groups.angle.shape[1] + 2
    state = seed
    for pair in range(table.shape[1]):
        state = _next_random(state)
        table[NOISE, pair] = 0.5 + state / 4294967296.0
    fill_source(groups, table, SOURCE)
    for group in range(each.size):
        each[group]["included"] = 0
        state = _next_random(state)
        each[group]["cover_normal"] = 0.5 + state / 2147483648.0
        state = _next_random(state)
        each[group]["cover_slip"] = 0.5 + state / 2147483648.0
        state = _next_random(state)
        each[group]["cover_cone"] = (0.5 + state / 2147483648.0) * _RATIO_COVER_CONE
        if each[group]["normal_row"] >= 0:
            basis.basic[W, group * stride] = 1
        if each[group]["directions"] > 0 and (joins == 0 or each[group]["normal_row"] < 0):
            _include(each, basis.basic, group, stride)


@subkernel
def fill_source(groups, table, row):
    """table[row] becomes q of all pairs.

    Parameters
    ----------
    groups : Groups
        Read.
    table : float64 [any, pair_count + 1]
        Written.
    row : int
        Of ``table``.
    """
    each, angle, speed, stride = groups.each, groups.angle, groups.free_speed, groups.angle.shape[1] + 2
    for group in range(each.size):
        first, tangent, directions = group * stride, each[group]["tangent_row"], each[group]["directions"]
        if each[group]["normal_row"] >= 0:
            table[row, first] = speed[each[group]["normal_row"]]
        if directions > 0:
            speed_2 = speed[tangent + 1] if directions > 1 else 0.0
            for direction in range(directions):
                along = angle[0, direction] * speed[tangent] + angle[1, direction] * speed_2
                table[row, first + 1 + direction] = along
            table[row, first + stride - 1] = groups.each[group]["cap"]


@subkernel
def _next_random(state):
    """A linear congruence of 31 bits; its high bits are random enough to break ties."""
    return (1103515245 * state + 12345) % 2147483648


@subkernel
def _include(each, basic, group, stride):
    """Let the friction of ``group`` take part, with sigma and gamma basic."""
    first = group * stride
    each[group]["included"] = 1
    for direction in range(each[group]["directions"]):
        basic[W, first + 1 + direction] = 1
    basic[W, first + stride - 1] = 1


@subkernel
def _first_pivot(groups, basis):
    """z0 enters for the w with the least q / c; returns its pair, -1 where q >= 0."""
    table, basic, stride = basis.table, basis.basic, groups.angle.shape[1] + 2
    worst, least, least_noise = -1, -_TOLERANCE_TIE, 0.0
    for pair in range(table.shape[1] - 1):
        table[VALUE, pair] = table[SOURCE, pair] * basic[W, pair]
        group, slot = groups.each[pair // stride], pair % stride
        cover = group["cover_slip"]
        if slot == NORMAL:
            cover = group["cover_normal"]
        elif slot == stride - 1:
            cover = group["cover_cone"]
        ratio, noise = table[VALUE, pair] / cover, table[NOISE, pair] / cover
        tied = ratio < least + _TOLERANCE_TIE and (worst < 0 or noise < least_noise)
        if ratio < 0.0 and (ratio < least - _TOLERANCE_TIE or tied):
            worst, least, least_noise = pair, min(ratio, least), noise
    if worst >= 0:
        basic[Z, table.shape[1] - 1] = 1
        basic[W, worst] = 0
        rebuild(groups, basis)
        _recompute(groups, basis)
    return worst


@subkernel
def _recompute(groups, basis):
    solve_source(groups, basis, SOURCE, VALUE)
    solve_source(groups, basis, NOISE, NOISE_VALUE)


@subkernel
def _refresh(groups, basis):
    """Build the inverse and all values anew. False where rounding has led off the path."""
    if not rebuild(groups, basis):
        return False
    _recompute(groups, basis)
    least = 0.0
    for pair in range(basis.table.shape[1]):
        least = min(least, basis.table[VALUE, pair])
    return least >= -_TOLERANCE_LOST


@subkernel
def _leaving_pair(table):
    """The basic variable that falls to zero first; -1 where none falls.

    z0 wins a tie, since it ends the path; among others the noise decides.
    """
    count = table.shape[1]
    threshold = -_TOLERANCE_PIVOT * _largest_entry(table, DRIVE)
    bound = math.inf
    for pair in range(count):
        if table[DRIVE, pair] < threshold:
            bound = min(bound, (max(table[VALUE, pair], 0.0) + _TOLERANCE_TIE) / -table[DRIVE, pair])
    best, least = -1, math.inf
    for pair in range(count):
        drive = table[DRIVE, pair]
        if drive < threshold and table[VALUE, pair] <= -drive * bound:
            ratio = table[NOISE_VALUE, pair] / -drive
            if ratio < least or pair == count - 1:
                best, least = pair, ratio
    return best


@subkernel
def _largest_entry(table, row):
    """Largest absolute value, by four maxima side by side: one alone would wait for itself."""
    count = table.shape[1]
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    for pair in range(0, count - 3, 4):
        first = max(first, abs(table[row, pair]))
        second = max(second, abs(table[row, pair + 1]))
        third = max(third, abs(table[row, pair + 2]))
        fourth = max(fourth, abs(table[row, pair + 3]))
    for pair in range(count - count % 4, count):
        first = max(first, abs(table[row, pair]))
    return max(max(first, second), max(third, fourth))


@subkernel
def _step(table, velocity, entering, leaving):
    """Move q' and noise' along the entering column to where the leaving variable is zero."""
    length = max(table[VALUE, leaving], 0.0) / -table[DRIVE, leaving]
    noise_length = table[NOISE_VALUE, leaving] / -table[DRIVE, leaving]
    for pair in range(table.shape[1]):
        table[VALUE, pair] += length * table[DRIVE, pair]
        table[NOISE_VALUE, pair] += noise_length * table[DRIVE, pair]
    for column in range(velocity.shape[1]):
        velocity[VALUE, column] += length * velocity[DRIVE, column]
        velocity[NOISE_VALUE, column] += noise_length * velocity[DRIVE, column]
    table[VALUE, leaving], table[NOISE_VALUE, leaving] = 0.0, 0.0
    table[VALUE, entering], table[NOISE_VALUE, entering] = length, noise_length


@subkernel
def _join_friction(groups, basis, group):
    """Let the friction of ``group`` take part from now on; extend c so that sigma and gamma are positive."""
    each, angle, table, stride = groups.each, groups.angle, basis.table, groups.angle.shape[1] + 2
    directions, first = each[group]["directions"], group * stride
    if directions == 0:
        return
    z0, z0_noise = table[VALUE, table.shape[1] - 1], table[NOISE_VALUE, table.shape[1] - 1]
    row, speed = each[group]["tangent_row"], basis.speed
    fill_speeds(groups.place, groups.jacobian, basis.velocity, NOISE_VALUE, speed)
    noise_1, noise_2 = speed[row], speed[row + 1]
    fill_speeds(groups.place, groups.jacobian, basis.velocity, VALUE, speed)
    speed_1, speed_2 = speed[row] + groups.free_speed[row], speed[row + 1] + groups.free_speed[row + 1]
    least = 0.0
    for direction in range(directions):
        least = min(least, angle[0, direction] * speed_1 + angle[1, direction] * speed_2)
    each[group]["cover_slip"] = cover = max(1.0, -_FACTOR_JOIN * least / z0)
    _include(each, basis.basic, group, stride)
    for direction in range(directions):
        pair, cosine, sine = first + 1 + direction, angle[0, direction], angle[1, direction]
        table[VALUE, pair] = cosine * speed_1 + sine * speed_2 + cover * z0
        table[NOISE_VALUE, pair] = cosine * noise_1 + sine * noise_2 + cover * z0_noise + table[NOISE, pair]
    pair, friction, cover = first + stride - 1, each[group]["friction"], each[group]["cover_cone"]
    table[VALUE, pair] = friction * table[VALUE, first] + cover * z0
    table[NOISE_VALUE, pair] = friction * table[NOISE_VALUE, first] + cover * z0_noise + table[NOISE, pair]


@subkernel
def refine_solution(groups, basis):
    """Solve the complementary basis anew and correct it by its own residual. False where it is singular.

    The correction is one step of iterative refinement: what the non-basic w miss is solved for.

    Parameters
    ----------
    groups : Groups
        Read; ``local`` is written.
    basis : Basis
        Complementary; written.

    Returns
    -------
    bool
    """
    if not rebuild(groups, basis):
        return False
    solve_source(groups, basis, SOURCE, VALUE)
    # the noise has done its work; its rows of the table hold the residual and the correction
    _fill_slack(groups, basis)
    solve_source(groups, basis, NOISE, NOISE_VALUE)
    for pair in range(basis.table.shape[1]):
        if basis.basic[Z, pair]:
            basis.table[VALUE, pair] += basis.table[NOISE_VALUE, pair]
    return True


@subkernel
def _fill_slack(groups, basis):
    """NOISE becomes w = M z + q of all pairs that take part, from z itself: without K."""
    each, angle, table, basic, speed = groups.each, groups.angle, basis.table, basis.basic, basis.speed
    stride = angle.shape[1] + 2
    _add_velocities(groups, basis)
    fill_speeds(groups.place, groups.jacobian, basis.velocity, PUSH, speed)
    for group in range(each.size):
        first, last = group * stride, stride - 1
        if each[group]["normal_row"] >= 0:
            table[NOISE, first] = speed[each[group]["normal_row"]] + table[SOURCE, first]
        if each[group]["included"]:
            speed_1, speed_2 = speed[each[group]["tangent_row"]], speed[each[group]["tangent_row"] + 1]
            slip = table[VALUE, first + last] * basic[Z, first + last]
            rest = groups.each[group]["friction"] * table[VALUE, first] * basic[Z, first] + table[SOURCE, first + last]
            for direction in range(each[group]["directions"]):
                pair = first + 1 + direction
                along = angle[0, direction] * speed_1 + angle[1, direction] * speed_2
                table[NOISE, pair] = along + slip + table[SOURCE, pair]
                rest -= table[VALUE, pair] * basic[Z, pair]
            table[NOISE, first + last] = rest


@subkernel
def _add_velocities(groups, basis):
    """velocity[PUSH] becomes what the impulses of the basis make."""
    each, angle, response, velocity = groups.each, groups.angle, groups.response, basis.velocity
    stride = angle.shape[1] + 2
    clear(velocity, PUSH)
    for group in range(each.size):
        first, row = group * stride, each[group]["normal_row"]
        if row >= 0 and basis.basic[Z, first]:
            add_push(response, row, basis.table[VALUE, first], 0.0, velocity, PUSH)
        for direction in range(each[group]["directions"]):
            pair = first + 1 + direction
            if basis.basic[Z, pair]:
                amount = basis.table[VALUE, pair]
                first_push, second_push = amount * angle[0, direction], amount * angle[1, direction]
                add_push(response, each[group]["tangent_row"], first_push, second_push, velocity, PUSH)
