"""An island as groups of complementarity variables with polyhedral friction: what the direct solvers work on.

In units in which every contact has W_nn = 1 and the largest speed to take away is 1, a group has

    theta >= 0   complementary to  nu      = u_n                     (a contact; a row with one finite bound)
    phi_j >= 0   complementary to  sigma_j = d_j' u_t + lambda        j = 0 to K - 1
    lambda >= 0  complementary to  gamma   = cap + mu theta - sum phi

Contacts have both, with cap = 0 and K directions d_j = (cos, sin)(2 pi j / K); a frictionless contact has theta alone.
A motor or limit, lower <= r <= upper, is r = lower + phi with K = 1, cap = upper - lower and no theta: lambda is then
the speed against which it is saturated. Rows with lower = upper push the free velocity and are gone.

Bilateral rows are eliminated (``bilateral``). Any other row with a compliance C has a velocity of its own, which its
impulse r pushes to C r and which adds to its u. So C is part of J M^-1 J' here, and what W's rank is stays right.

Responses are kept dense, one row over all velocities of the island, because the elimination fills them; Jacobians keep
their columns. Memory: (6 m + 13) doubles a row for m bodies.

Source: Lloyd 2004, eq. 8. The two kinds of bounded rows and the elimination are not in the paper.
"""

import math
from typing import NamedTuple

import numpy as np

from ...compiled.kernel import borrowed, subkernel
from ...problem.residuals import row_velocity
from ..shared.sweep import apply_impulses
from .bilateral import (
    COLUMNS,
    FIRST,
    PLACES,
    Bilateral,
    base_speed,
    bilateral_speeds,
    factor_bilateral,
    meet_bilateral,
    project_response,
    solve_bilateral,
)

# What a row is to these solvers.
_SKIPPED, _CONTACT, _ONE_SIDED, _BOUNDED, _FIXED, _BILATERAL = range(6)


# One group in scaled units.
#   normal_row, tangent_row  scaled row of theta, first of the scaled rows of phi; -1 without
#   directions               K, 0 without friction
#   friction, cap            mu, and cap of gamma
# The solver's own:
#   included                 1 if friction takes part
#   local                    direction that is eliminated together with lambda, or -1
#   cover_normal, cover_slip, cover_cone    covering vector of nu, of all sigma and of gamma
GROUP = np.dtype(
    [(name, np.int64) for name in "normal_row tangent_row directions included local".split()]
    + [(name, np.float64) for name in "friction cap cover_normal cover_slip cover_cone".split()],
    align=True,
)


class Groups(NamedTuple):
    """One island in scaled units. Few arrays, because Numba passes each by value; a group is one record.

    Attributes
    ----------
    each : GROUP [group_count]
    angle : float64 [2, K of the settings]
        Cosines and sines of the directions.
    place : int64 [row_count, PLACES]
        Of each scaled row: first of the six velocities of its two bodies among the island's, and its own velocity; -1
        where nothing pushes a body, or the row has none.
    jacobian : float64 [row_count, COLUMNS]
        Scaled.
    response : float64 [row_count + 1, velocity_count]
        Scaled, without the bilateral rows' freedom. The last row lets a motor have a second tangent, times sin 0.
    free_speed : float64 [row_count]
        Scaled u at theta = phi = 0.
    factor, offset : float64 [row_count]
        r = offset + factor * scaled impulse [N s].
    row : int64 [row_count]
        The island's row behind a scaled row.
    """

    each: np.ndarray
    angle: np.ndarray
    place: np.ndarray
    jacobian: np.ndarray
    response: np.ndarray
    free_speed: np.ndarray
    factor: np.ndarray
    offset: np.ndarray
    row: np.ndarray


@subkernel
def measure_island(rows, islands, island, body_place):
    """Number the bodies that can be pushed, and count what ``gather_groups`` needs room for.

    Parameters
    ----------
    rows, islands, island
        Read.
    body_place : int64 [body_capacity]
        Written: first velocity of each body of the island's blocks; -1 where nothing pushes it.

    Returns
    -------
    velocities, groups, scaled rows, bilateral rows : int
    """
    first, end = islands.block_first[island], islands.block_first[island + 1]
    for index in range(first, end):
        block = islands.block_order[index]
        body_place[rows.body_a[block]] = -1
        body_place[rows.body_b[block]] = -1
    diagonal, normal_row, lower, upper, friction = rows.diagonal, rows.normal_row, rows.lower, rows.upper, rows.friction
    velocities, groups, scaled, bilateral, compliant = 0, 0, 0, 0, 0
    for index in range(first, end):
        block = islands.block_order[index]
        for side in range(0, 12, 6):
            body = rows.body_a[block] if side == 0 else rows.body_b[block]
            if body_place[body] < 0 and _is_pushed(
                rows.response, rows.block_row[block], rows.block_row[block + 1], side
            ):
                body_place[body] = velocities
                velocities += 6
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            kind = _kind_of(diagonal, normal_row, lower, upper, friction, row, rows.block_row[block + 1])
            if kind == _BILATERAL:
                bilateral += 1
            elif kind == _CONTACT:
                groups += 1
                scaled += 3
            elif kind != _SKIPPED and kind != _FIXED:
                groups += 1
                scaled += 1
                if rows.compliance[row] > 0.0:
                    compliant += 1
    # those of rows come after the bodies'
    return velocities + compliant, groups, scaled, bilateral


@subkernel
def _is_pushed(response, row, end, side):
    for index in range(row, end):
        for column in range(side, side + 6):
            if response[index, column] != 0.0:
                return True
    return False


@subkernel
def _kind_of(diagonal, normal_row, lower, upper, friction, row, end):
    """What ``row`` is, of a block that ends before ``end``. A contact's friction rows are part of its normal row."""
    kind = _ONE_SIDED
    if diagonal[row] <= 0.0 or normal_row[row] >= 0:
        kind = _SKIPPED
    elif lower[row] == upper[row]:
        kind = _FIXED
    elif lower[row] == -math.inf and upper[row] == math.inf:
        kind = _BILATERAL
    elif lower[row] > -math.inf and upper[row] < math.inf:
        kind = _BOUNDED
    elif (
        row + 2 < end
        and normal_row[row + 1] == row
        and normal_row[row + 2] == row
        and friction[row + 1] > 0.0
        and max(diagonal[row + 1], diagonal[row + 2]) > 0.0
    ):
        kind = _CONTACT
    return kind


@subkernel(allocates=True)
def gather_groups(rows, islands, island, free_velocity, body_place, counts, directions):
    """Copy an island into scaled groups and eliminate its bilateral rows.

    Parameters
    ----------
    rows, islands, island, free_velocity
        Read.
    body_place : int64 [body_capacity]
        Read; from ``measure_island``.
    counts : tuple of four int
        What ``measure_island`` returned.
    directions : int
        K of the polygon.

    Returns
    -------
    groups : Groups
    bilateral : Bilateral
    """
    velocities, group_count, row_count, bilateral_count = counts
    groups = _allocate_groups(velocities, group_count, row_count, directions)
    everything = Bilateral(
        block=np.empty(bilateral_count, np.int64),
        row=np.empty(bilateral_count, np.int64),
        place=np.full((bilateral_count, PLACES), -1, np.int64),
        jacobian=np.zeros((bilateral_count, COLUMNS)),
        response=np.zeros((bilateral_count, velocities)),
        factor=np.empty((bilateral_count, bilateral_count)),
        compliance=np.empty(bilateral_count),
    )
    shift = np.zeros((1, velocities))
    _sort_rows(rows, islands, island, body_place, borrowed(groups), borrowed(everything), borrowed(shift))
    bilateral = everything
    if bilateral_count > 0:
        bilateral = factor_bilateral(everything)
        meet_bilateral(rows, free_velocity, bilateral, shift)
        for row in range(row_count):
            project_response(bilateral, groups.response, row)
    _scale_groups(rows, islands, island, free_velocity, borrowed(groups), shift)
    return groups, bilateral


@subkernel(allocates=True)
def _allocate_groups(velocities, group_count, row_count, directions):
    angle = np.empty((2, directions))
    half = directions // 2
    for direction in range(half):
        turn = 2.0 * math.pi * direction / directions
        angle[0, direction], angle[1, direction] = math.cos(turn), math.sin(turn)
        # opposite directions cancel to the bit
        angle[0, half + direction], angle[1, half + direction] = -angle[0, direction], -angle[1, direction]
    each = np.zeros(group_count, GROUP)
    for group in range(group_count):
        each[group]["normal_row"] = each[group]["tangent_row"] = each[group]["local"] = -1
        each[group]["cover_normal"] = each[group]["cover_slip"] = each[group]["cover_cone"] = 1.0
    return Groups(
        each=each,
        angle=angle,
        place=np.full((row_count, PLACES), -1, np.int64),
        jacobian=np.zeros((row_count, COLUMNS)),
        response=np.zeros((row_count + 1, velocities)),
        free_speed=np.zeros(row_count),
        factor=np.zeros(row_count),
        offset=np.zeros(row_count),
        row=np.empty(row_count, np.int64),
    )


@subkernel
def _sort_rows(rows, islands, island, body_place, groups, bilateral, shift):
    """Fill groups and bilateral rows, not yet scaled; ``factor`` holds signs. Constant impulses go to ``shift``."""
    each = groups.each
    diagonal, normal_row, friction = rows.diagonal, rows.normal_row, rows.friction
    lower_bound, upper_bound = rows.lower, rows.upper
    group, scaled, joint, own = 0, 0, 0, groups.response.shape[1]
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        place_a, place_b = body_place[rows.body_a[block]], body_place[rows.body_b[block]]
        end = rows.block_row[block + 1]
        for row in range(rows.block_row[block], end):
            kind = _kind_of(diagonal, normal_row, lower_bound, upper_bound, friction, row, end)
            lower, upper = lower_bound[row], upper_bound[row]
            if kind == _FIXED:
                _add_response(rows.response, row, place_a, place_b, lower, shift[0])
            elif kind == _BILATERAL:
                bilateral.block[joint], bilateral.row[joint] = block, row
                bilateral.place[joint, 0], bilateral.place[joint, 1] = place_a, place_b
                bilateral.compliance[joint] = rows.compliance[row]
                for column in range(12):
                    bilateral.jacobian[joint, column] = rows.jacobian[row, column]
                _add_response(rows.response, row, place_a, place_b, 1.0, bilateral.response[joint])
                joint += 1
            elif kind != _SKIPPED:
                each[group]["friction"], each[group]["cap"] = 0.0, 0.0
                # a row with an upper bound alone is one with a lower bound, mirrored
                sign, offset, count = 1.0, lower, 1
                if kind == _BOUNDED:
                    each[group]["tangent_row"], each[group]["directions"] = scaled, 1
                    each[group]["cap"] = upper - lower
                else:
                    each[group]["normal_row"] = scaled
                    if lower == -math.inf:
                        sign, offset = -1.0, upper
                if kind == _CONTACT:
                    each[group]["tangent_row"], each[group]["directions"] = scaled + 1, groups.angle.shape[1]
                    each[group]["friction"] = rows.friction[row + 1]
                    count = 3
                if offset != 0.0:
                    _add_response(rows.response, row, place_a, place_b, offset, shift[0])
                groups.offset[scaled] = offset
                if kind != _CONTACT and rows.compliance[row] > 0.0:
                    own -= 1
                    groups.place[scaled, 2] = own
                    groups.jacobian[scaled, 12] = sign
                    groups.response[scaled, own] = sign * rows.compliance[row]
                    shift[0, own] = offset * rows.compliance[row]
                for part in range(count):
                    groups.row[scaled] = row + part
                    groups.place[scaled, 0], groups.place[scaled, 1] = place_a, place_b
                    groups.factor[scaled] = sign
                    for column in range(12):
                        groups.jacobian[scaled, column] = sign * rows.jacobian[row + part, column]
                    _add_response(rows.response, row + part, place_a, place_b, sign, groups.response[scaled])
                    scaled += 1
                group += 1


@subkernel
def _add_response(response, row, place_a, place_b, impulse, velocity):
    """velocity += impulse * M^-1 J' of one row."""
    if place_a >= 0:
        for column in range(6):
            velocity[place_a + column] += impulse * response[row, column]
    if place_b >= 0:
        for column in range(6):
            velocity[place_b + column] += impulse * response[row, 6 + column]


@subkernel
def _scale_groups(rows, islands, island, free_velocity, groups, shift):
    """Turn all into scaled units."""
    _free_speeds(rows, islands, island, free_velocity, groups, shift)
    each = groups.each
    unit = 0.0
    for group in range(each.size):
        first, end = _scaled_rows(each, group)
        weight = 1.0 / math.sqrt(rows.diagonal[groups.row[first]])
        for row in range(first, end):
            groups.factor[row] *= weight
            groups.free_speed[row] *= weight
            for column in range(COLUMNS):
                groups.jacobian[row, column] *= weight
            for column in range(groups.response.shape[1]):
                groups.response[row, column] *= weight
            speed = groups.free_speed[row]
            # a gap far away must not set the unit
            unit = max(unit, -speed if row == each[group]["normal_row"] else abs(speed))
        groups.each[group]["cap"] /= weight
    if unit == 0.0:
        unit = 1.0
    for row in range(groups.row.size):
        groups.free_speed[row] /= unit
        groups.factor[row] *= unit
    for group in range(each.size):
        groups.each[group]["cap"] /= unit


@subkernel
def _scaled_rows(each, group):
    """First scaled row of a group, and the one after its last."""
    normal, tangent = each[group]["normal_row"], each[group]["tangent_row"]
    if normal < 0:
        return tangent, tangent + 1
    return normal, normal + (1 if tangent < 0 else 3)


@subkernel
def _free_speeds(rows, islands, island, free_velocity, groups, shift):
    """u of all scaled rows at v_free + shift, in the signs of ``factor``."""
    group = 0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        while group < groups.each.size:
            first, end = _scaled_rows(groups.each, group)
            if not rows.block_row[block] <= groups.row[first] < rows.block_row[block + 1]:
                break
            for scaled in range(first, end):
                row = groups.row[scaled]
                groups.free_speed[scaled] = groups.factor[scaled] * row_velocity(
                    rows.jacobian, row, rows.bias[row], free_velocity, a, b
                ) + base_speed(groups.jacobian, scaled, groups.place, shift, FIRST)
            group += 1


@subkernel(allocates=True)
def write_impulses(rows, islands, island, free_velocity, velocity, groups, bilateral, z):
    """Turn a solution of the groups into impulses of the island's rows, and into velocities.

    Parameters
    ----------
    rows : RowArrays
        ``impulse`` of the island written.
    islands, island, free_velocity
        Read.
    velocity : float64 [body_count, 6]
        Written.
    groups, bilateral
        Read.
    z : float64 [pair_count or more]
        theta, phi, lambda of each group, scaled. What is below zero by rounding is taken for zero.
    """
    each, angle, stride = groups.each, groups.angle, groups.angle.shape[1] + 2
    _write_constant_impulses(rows, islands, island)
    for group in range(each.size):
        normal, tangent = each[group]["normal_row"], each[group]["tangent_row"]
        first = group * stride
        if normal >= 0:
            impulse = max(z[first], 0.0)
            rows.impulse[groups.row[normal]] = groups.offset[normal] + groups.factor[normal] * impulse
        if each[group]["directions"] > 0:
            along, across = 0.0, 0.0
            for direction in range(each[group]["directions"]):
                amount = max(z[first + 1 + direction], 0.0)
                along += amount * angle[0, direction]
                across += amount * angle[1, direction]
            rows.impulse[groups.row[tangent]] = groups.offset[tangent] + groups.factor[tangent] * along
            if each[group]["directions"] > 1:
                rows.impulse[groups.row[tangent + 1]] = groups.factor[tangent + 1] * across
    apply_impulses(rows, islands, island, free_velocity, velocity)
    if bilateral.row.size > 0:
        # the second time is a step of iterative refinement
        for _ in range(2):
            impulse = bilateral_speeds(rows, bilateral, velocity)
            for i in range(impulse.size):
                impulse[i] += bilateral.compliance[i] * rows.impulse[bilateral.row[i]]
            solve_bilateral(bilateral, impulse)
            for i in range(impulse.size):
                rows.impulse[bilateral.row[i]] -= impulse[i]
            apply_impulses(rows, islands, island, free_velocity, velocity)


@subkernel
def _write_constant_impulses(rows, islands, island):
    """Impulses of rows that are in no group: the bound where both are the same, else zero."""
    diagonal, normal_row, lower, upper, friction = rows.diagonal, rows.normal_row, rows.lower, rows.upper, rows.friction
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        end = rows.block_row[block + 1]
        for row in range(rows.block_row[block], end):
            rows.impulse[row] = (
                rows.lower[row] if _kind_of(diagonal, normal_row, lower, upper, friction, row, end) == _FIXED else 0.0
            )
