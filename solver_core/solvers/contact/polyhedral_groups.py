"""An island as groups of complementarity variables with polyhedral friction: what the direct solvers work on.

In units in which every contact has W_nn = 1 and the largest speed to take away is 1, a group has

    theta >= 0   complementary to  nu      = u_n                     (a contact; a row with one finite bound)
    phi_j >= 0   complementary to  sigma_j = d_j' u_t + lambda        j = 0 to K - 1
    lambda >= 0  complementary to  gamma   = cap + mu theta - sum phi

Contacts have both, with cap = 0 and K directions d_j = (cos, sin)(2 pi j / K); a frictionless contact has theta alone.
A motor or limit, lower <= r <= upper, is r = lower + phi with K = 1, cap = upper - lower and no theta: lambda is then
the speed against which it is saturated. Rows with lower = upper push the free velocity and are gone.

Bilateral rows B (u_B = 0) are eliminated: with S = W_BB their impulses are r_B = -S^-1 (b_B + J_B M^-1 J_C' r_C), so
the responses of all other rows become

    M^-1 J_C' <- M^-1 J_C' - M^-1 J_B' S^-1 J_B M^-1 J_C'      (and likewise the free velocity)

S is factored by Cholesky with pivoting; rows that the others imply have no pivot left and get no impulse.

Responses are kept dense, one row over all velocities of the island, because the elimination fills them; Jacobians keep
their twelve columns. Memory: (6 m + 12) doubles a row for m bodies.

Source: Lloyd 2004, eq. 8. The two kinds of bounded rows and the elimination are not in the paper.
"""

import math
from typing import NamedTuple

import numpy as np

from ...kernel import borrowed, subkernel
from ...residuals import row_velocity
from .sweep import apply_impulses

# A bilateral row whose pivot has lost this share of W_ii is implied by the others (twelve of double's sixteen digits).
_TOLERANCE_RANK = 1e-12

# What a row is to these solvers.
_SKIPPED, _CONTACT, _ONE_SIDED, _BOUNDED, _FIXED, _BILATERAL = range(6)


# Row of arrays that have only one. As a plain 0 it would be a type of its own, and compile its callees once more.
FIRST = np.int64(0)
# Columns of ``Groups.shape``.
PLACE_A, PLACE_B, NORMAL_ROW, TANGENT_ROW, DIRECTIONS, INCLUDED, LOCAL = range(7)
# Columns of ``Groups.law``; the covers are those of nu, of all sigma and of gamma.
FRICTION, CAP, COVER_NORMAL, COVER_SLIP, COVER_CONE = range(5)
# Rows of ``Groups.affine``.
SPEED, FACTOR, OFFSET = range(3)


class Groups(NamedTuple):
    """One island in scaled units. Few arrays, because numba passes each by value.

    Attributes
    ----------
    shape : int64 [group_count, 7]
        PLACE_A, PLACE_B: first of the six velocities of the two bodies among the island's, -1 where a body cannot be
        pushed. NORMAL_ROW, TANGENT_ROW: scaled row of theta, first of the scaled rows of phi; -1 without.
        DIRECTIONS: K, 0 without friction. The solver's own: INCLUDED, 1 where friction takes part; LOCAL, the
        direction that is eliminated together with lambda, or -1.
    law : float64 [group_count, 5]
        FRICTION: mu. CAP: of gamma, scaled. The solver's own: covering vector of nu, all sigma, gamma.
    angle : float64 [2, K of the settings]
        Cosines and sines of the directions.
    place : int64 [row_count, 2]
        PLACE_A and PLACE_B of each scaled row.
    jacobian : float64 [row_count, 12]
        Scaled.
    response : float64 [row_count + 1, velocity_count]
        Scaled, without the bilateral rows' freedom. The last row lets a motor have a second tangent, times sin 0.
    affine : float64 [3, row_count]
        SPEED: scaled u at theta = phi = 0. FACTOR, OFFSET: r = offset + factor * scaled impulse [N s].
    row : int64 [row_count]
        The island's row behind a scaled row.
    """

    shape: np.ndarray
    law: np.ndarray
    angle: np.ndarray
    place: np.ndarray
    jacobian: np.ndarray
    response: np.ndarray
    affine: np.ndarray
    row: np.ndarray


class Bilateral(NamedTuple):
    """The bilateral rows of an island that do not follow from each other.

    Attributes
    ----------
    block, row : int64 [count]
        Of the island.
    place : int64 [count, 2]
        As in ``Groups``.
    jacobian : float64 [count, 12]
    response : float64 [count, velocity_count]
    factor : float64 [count, count]
        Lower triangle of the Cholesky factor of W_BB.
    """

    block: np.ndarray
    row: np.ndarray
    place: np.ndarray
    jacobian: np.ndarray
    response: np.ndarray
    factor: np.ndarray


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
    velocities, groups, scaled, bilateral = 0, 0, 0, 0
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
    return velocities, groups, scaled, bilateral


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
        place=np.empty((bilateral_count, 2), np.int64),
        jacobian=np.empty((bilateral_count, 12)),
        response=np.zeros((bilateral_count, velocities)),
        factor=np.empty((bilateral_count, bilateral_count)),
    )
    shift = np.zeros((1, velocities))
    _sort_rows(rows, islands, island, body_place, borrowed(groups), borrowed(everything), borrowed(shift))
    bilateral = everything
    if bilateral_count > 0:
        bilateral = _factor_bilateral(everything)
        _meet_bilateral(rows, free_velocity, bilateral, shift)
        for row in range(row_count):
            _project_response(bilateral, groups.response, row)
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
    shape = np.zeros((group_count, 7), np.int64)
    for group in range(group_count):
        shape[group, NORMAL_ROW], shape[group, TANGENT_ROW], shape[group, LOCAL] = -1, -1, -1
    return Groups(
        shape=shape,
        law=np.ones((group_count, 5)),
        angle=angle,
        place=np.empty((row_count, 2), np.int64),
        jacobian=np.empty((row_count, 12)),
        response=np.zeros((row_count + 1, velocities)),
        affine=np.zeros((3, row_count)),
        row=np.empty(row_count, np.int64),
    )


@subkernel
def _sort_rows(rows, islands, island, body_place, groups, bilateral, shift):
    """Fill groups and bilateral rows, not yet scaled; FACTOR holds signs. Constant impulses go to ``shift``."""
    shape, law, affine = groups.shape, groups.law, groups.affine
    diagonal, normal_row, friction = rows.diagonal, rows.normal_row, rows.friction
    lower_bound, upper_bound = rows.lower, rows.upper
    group, scaled, joint = 0, 0, 0
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
                for column in range(12):
                    bilateral.jacobian[joint, column] = rows.jacobian[row, column]
                _add_response(rows.response, row, place_a, place_b, 1.0, bilateral.response[joint])
                joint += 1
            elif kind != _SKIPPED:
                shape[group, PLACE_A], shape[group, PLACE_B] = place_a, place_b
                law[group, FRICTION], law[group, CAP] = 0.0, 0.0
                # a row with an upper bound alone is one with a lower bound, mirrored
                sign, offset, count = 1.0, lower, 1
                if kind == _BOUNDED:
                    shape[group, TANGENT_ROW], shape[group, DIRECTIONS] = scaled, 1
                    law[group, CAP] = upper - lower
                else:
                    shape[group, NORMAL_ROW] = scaled
                    if lower == -math.inf:
                        sign, offset = -1.0, upper
                if kind == _CONTACT:
                    shape[group, TANGENT_ROW], shape[group, DIRECTIONS] = scaled + 1, groups.angle.shape[1]
                    law[group, FRICTION] = rows.friction[row + 1]
                    count = 3
                if offset != 0.0:
                    _add_response(rows.response, row, place_a, place_b, offset, shift[0])
                affine[OFFSET, scaled] = offset
                for part in range(count):
                    groups.row[scaled] = row + part
                    groups.place[scaled, 0], groups.place[scaled, 1] = place_a, place_b
                    affine[FACTOR, scaled] = sign
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
def base_speed(jacobian, row, place_a, place_b, velocities, index):
    """J v of one row, v = velocities[index] over the island's velocities."""
    speed = 0.0
    if place_a >= 0:
        for column in range(6):
            speed += jacobian[row, column] * velocities[index, place_a + column]
    if place_b >= 0:
        for column in range(6):
            speed += jacobian[row, 6 + column] * velocities[index, place_b + column]
    return speed


@subkernel(allocates=True)
def _factor_bilateral(rows):
    """Cholesky with pivoting of W_BB; keeps the rows that have a pivot, in the order of their pivots."""
    count, velocities = rows.response.shape
    matrix = np.empty((count, count))
    for i in range(count):
        for j in range(count):
            matrix[i, j] = base_speed(rows.jacobian, i, rows.place[i, 0], rows.place[i, 1], rows.response, j)
    original = np.empty(count)
    for i in range(count):
        original[i] = matrix[i, i]
    order = np.arange(count)
    rank = 0
    while rank < count:
        best = rank
        for i in range(rank, count):
            row, rival = order[i], order[best]
            if matrix[row, row] * original[rival] > matrix[rival, rival] * original[row]:
                best = i
        order[rank], order[best] = order[best], order[rank]
        pivot = order[rank]
        if not matrix[pivot, pivot] > _TOLERANCE_RANK * original[pivot]:
            break
        root = math.sqrt(matrix[pivot, pivot])
        matrix[pivot, pivot] = root
        for i in range(rank + 1, count):
            matrix[order[i], pivot] /= root
        for i in range(rank + 1, count):
            for j in range(rank + 1, i + 1):
                # both triangles, since later pivots may take either
                matrix[order[i], order[j]] -= matrix[order[i], pivot] * matrix[order[j], pivot]
                matrix[order[j], order[i]] = matrix[order[i], order[j]]
        rank += 1
    kept = Bilateral(
        block=np.empty(rank, np.int64),
        row=np.empty(rank, np.int64),
        place=np.empty((rank, 2), np.int64),
        jacobian=np.empty((rank, 12)),
        response=np.empty((rank, velocities)),
        factor=np.zeros((rank, rank)),
    )
    for i in range(rank):
        source = order[i]
        kept.block[i], kept.row[i] = rows.block[source], rows.row[source]
        kept.place[i, 0], kept.place[i, 1] = rows.place[source, 0], rows.place[source, 1]
        for column in range(12):
            kept.jacobian[i, column] = rows.jacobian[source, column]
        for column in range(velocities):
            kept.response[i, column] = rows.response[source, column]
        for j in range(i + 1):
            kept.factor[i, j] = matrix[source, order[j]]
    return kept


@subkernel
def solve_bilateral(bilateral, speed):
    """S^-1 times ``speed``, in place."""
    count = speed.size
    for i in range(count):
        for j in range(i):
            speed[i] -= bilateral.factor[i, j] * speed[j]
        speed[i] /= bilateral.factor[i, i]
    for i in range(count - 1, -1, -1):
        for j in range(i + 1, count):
            speed[i] -= bilateral.factor[j, i] * speed[j]
        speed[i] /= bilateral.factor[i, i]


@subkernel(allocates=True)
def _project_response(bilateral, response, row):
    """Take from a response what breaks the bilateral rows: y -= M^-1 J_B' S^-1 J_B y."""
    count = bilateral.row.size
    impulse = np.empty(count)
    for i in range(count):
        impulse[i] = base_speed(bilateral.jacobian, i, bilateral.place[i, 0], bilateral.place[i, 1], response, row)
    solve_bilateral(bilateral, impulse)
    for i in range(count):
        for column in range(response.shape[1]):
            response[row, column] -= impulse[i] * bilateral.response[i, column]


@subkernel(allocates=True)
def bilateral_speeds(rows, bilateral, velocity):
    """u of the kept bilateral rows [m/s].

    Parameters
    ----------
    rows, bilateral
        Read.
    velocity : float64 [body_count, 6]

    Returns
    -------
    float64 [count]
    """
    speed = np.empty(bilateral.row.size)
    for i in range(speed.size):
        row, block = bilateral.row[i], bilateral.block[i]
        a, b = rows.body_a[block], rows.body_b[block]
        speed[i] = row_velocity(rows.jacobian, row, rows.bias[row], velocity, a, b)
    return speed


@subkernel(allocates=True)
def _meet_bilateral(rows, free_velocity, bilateral, shift):
    """Add to ``shift`` what takes the free motion, with the shift so far, onto the bilateral rows."""
    impulse = bilateral_speeds(rows, bilateral, free_velocity)
    for i in range(impulse.size):
        place_a, place_b = bilateral.place[i, 0], bilateral.place[i, 1]
        impulse[i] += base_speed(bilateral.jacobian, i, place_a, place_b, shift, FIRST)
    solve_bilateral(bilateral, impulse)
    for i in range(impulse.size):
        for column in range(shift.shape[1]):
            shift[0, column] -= impulse[i] * bilateral.response[i, column]


@subkernel
def _scale_groups(rows, islands, island, free_velocity, groups, shift):
    """Turn all into scaled units."""
    _free_speeds(rows, islands, island, free_velocity, groups, shift)
    shape, affine = groups.shape, groups.affine
    unit = 0.0
    for group in range(shape.shape[0]):
        first, end = _scaled_rows(shape, group)
        weight = 1.0 / math.sqrt(rows.diagonal[groups.row[first]])
        for row in range(first, end):
            affine[FACTOR, row] *= weight
            affine[SPEED, row] *= weight
            for column in range(12):
                groups.jacobian[row, column] *= weight
            for column in range(groups.response.shape[1]):
                groups.response[row, column] *= weight
            speed = affine[SPEED, row]
            # a gap far away must not set the unit
            unit = max(unit, -speed if row == shape[group, NORMAL_ROW] else abs(speed))
        groups.law[group, CAP] /= weight
    if unit == 0.0:
        unit = 1.0
    for row in range(affine.shape[1]):
        affine[SPEED, row] /= unit
        affine[FACTOR, row] *= unit
    for group in range(shape.shape[0]):
        groups.law[group, CAP] /= unit


@subkernel
def _scaled_rows(shape, group):
    """First scaled row of a group, and the one after its last."""
    normal, tangent = shape[group, NORMAL_ROW], shape[group, TANGENT_ROW]
    if normal < 0:
        return tangent, tangent + 1
    return normal, normal + (1 if tangent < 0 else 3)


@subkernel
def _free_speeds(rows, islands, island, free_velocity, groups, shift):
    """u of all scaled rows at v_free + shift, in the signs of FACTOR."""
    group = 0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        while group < groups.shape.shape[0]:
            first, end = _scaled_rows(groups.shape, group)
            if not rows.block_row[block] <= groups.row[first] < rows.block_row[block + 1]:
                break
            place_a, place_b = groups.shape[group, PLACE_A], groups.shape[group, PLACE_B]
            for scaled in range(first, end):
                row = groups.row[scaled]
                groups.affine[SPEED, scaled] = groups.affine[FACTOR, scaled] * row_velocity(
                    rows.jacobian, row, rows.bias[row], free_velocity, a, b
                ) + base_speed(groups.jacobian, scaled, place_a, place_b, shift, FIRST)
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
    shape, angle, affine, stride = groups.shape, groups.angle, groups.affine, groups.angle.shape[1] + 2
    _write_constant_impulses(rows, islands, island)
    for group in range(shape.shape[0]):
        normal, tangent = shape[group, NORMAL_ROW], shape[group, TANGENT_ROW]
        first = group * stride
        if normal >= 0:
            impulse = max(z[first], 0.0)
            rows.impulse[groups.row[normal]] = affine[OFFSET, normal] + affine[FACTOR, normal] * impulse
        if shape[group, DIRECTIONS] > 0:
            along, across = 0.0, 0.0
            for direction in range(shape[group, DIRECTIONS]):
                amount = max(z[first + 1 + direction], 0.0)
                along += amount * angle[0, direction]
                across += amount * angle[1, direction]
            rows.impulse[groups.row[tangent]] = affine[OFFSET, tangent] + affine[FACTOR, tangent] * along
            if shape[group, DIRECTIONS] > 1:
                rows.impulse[groups.row[tangent + 1]] = affine[FACTOR, tangent + 1] * across
    apply_impulses(rows, islands, island, free_velocity, velocity)
    if bilateral.row.size > 0:
        # the second time is a step of iterative refinement
        for _ in range(2):
            impulse = bilateral_speeds(rows, bilateral, velocity)
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
