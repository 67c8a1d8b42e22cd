"""Bilateral rows of an island, which the direct solvers eliminate.

Bilateral rows B (u_B = 0) are eliminated: with S = W_BB, compliances included, their impulses are r_B = -S^-1 (b_B +
J_B M^-1 J_C' r_C), so the responses of all other rows become

    M^-1 J_C' <- M^-1 J_C' - M^-1 J_B' S^-1 J_B M^-1 J_C'      (and likewise the free velocity)

S is factored by Cholesky with pivoting; rows that the others imply have no pivot left and get no impulse.
"""

import math
from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel
from ...problem.residuals import row_velocity

# A bilateral row whose pivot has lost this share of W_ii is implied by the others (twelve of double's sixteen digits).
_TOLERANCE_RANK = 1e-12
# Of a row: bodies, and a velocity of its own; six columns for each body, and one for that.
PLACES, COLUMNS = 3, 13
# Row of arrays that have only one. As a plain 0 it would be a type of its own, and compile its callees once more.
FIRST = np.int64(0)


class Bilateral(NamedTuple):
    """The bilateral rows of an island that do not follow from each other.

    Attributes
    ----------
    block, row : int64 [count]
        Of the island.
    place : int64 [count, PLACES]
        As in ``Groups``.
    jacobian : float64 [count, COLUMNS]
    response : float64 [count, velocity_count]
    factor : float64 [count, count]
        Lower triangle of the Cholesky factor of W_BB.
    compliance : float64 [count]
    """

    block: np.ndarray
    row: np.ndarray
    place: np.ndarray
    jacobian: np.ndarray
    response: np.ndarray
    factor: np.ndarray
    compliance: np.ndarray


@subkernel
def base_speed(jacobian, row, place, velocities, index):
    """J v of one row, v = velocities[index] over the island's velocities.

    Parameters
    ----------
    jacobian : float64 [row_count, COLUMNS]
        Read.
    row : int
    place : int64 [row_count, PLACES]
        As of ``Groups`` (read).
    velocities : float64 [any, velocity_count]
        Read.
    index : int
    """
    place_a, place_b, own = place[row, 0], place[row, 1], place[row, 2]
    speed = 0.0
    if place_a >= 0:
        for column in range(6):
            speed += jacobian[row, column] * velocities[index, place_a + column]
    if place_b >= 0:
        for column in range(6):
            speed += jacobian[row, 6 + column] * velocities[index, place_b + column]
    if own >= 0:
        speed += jacobian[row, 12] * velocities[index, own]
    return speed


@subkernel(allocates=True)
def factor_bilateral(rows):
    """Cholesky with pivoting of W_BB; keeps the rows that have a pivot, in the order of their pivots."""
    count, velocities = rows.response.shape
    matrix = np.empty((count, count))
    for i in range(count):
        for j in range(count):
            matrix[i, j] = base_speed(rows.jacobian, i, rows.place, rows.response, j)
        matrix[i, i] += rows.compliance[i]
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
        place=np.empty((rank, PLACES), np.int64),
        jacobian=np.empty((rank, COLUMNS)),
        response=np.empty((rank, velocities)),
        factor=np.zeros((rank, rank)),
        compliance=np.empty(rank),
    )
    for i in range(rank):
        source = order[i]
        kept.block[i], kept.row[i] = rows.block[source], rows.row[source]
        kept.compliance[i] = rows.compliance[source]
        for body in range(PLACES):
            kept.place[i, body] = rows.place[source, body]
        for column in range(COLUMNS):
            kept.jacobian[i, column] = rows.jacobian[source, column]
        for column in range(velocities):
            kept.response[i, column] = rows.response[source, column]
        for j in range(i + 1):
            kept.factor[i, j] = matrix[source, order[j]]
    return kept


@subkernel
def solve_bilateral(bilateral, speed):
    """S^-1 times ``speed``, in place.

    Parameters
    ----------
    bilateral : Bilateral
        Read.
    speed : float64 [count]
        [m/s]; written: impulses [N s].
    """
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
def project_response(bilateral, response, row):
    """Take from a response what breaks the bilateral rows: y -= M^-1 J_B' S^-1 J_B y.

    Parameters
    ----------
    bilateral : Bilateral
        Read.
    response : float64 [any, velocity_count]
        Written.
    row : int
        Of ``response``.
    """
    count = bilateral.row.size
    impulse = np.empty(count)
    for i in range(count):
        impulse[i] = base_speed(bilateral.jacobian, i, bilateral.place, response, row)
    solve_bilateral(bilateral, impulse)
    for i in range(count):
        for column in range(response.shape[1]):
            response[row, column] -= impulse[i] * bilateral.response[i, column]


@subkernel(allocates=True)
def bilateral_speeds(rows, bilateral, velocity):
    """u of the kept bilateral rows [m/s], without what their compliance adds.

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
def meet_bilateral(rows, free_velocity, bilateral, shift):
    """Add to ``shift`` what takes the free motion, with the shift so far, onto the bilateral rows.

    Parameters
    ----------
    rows : RowArrays
        Read.
    free_velocity : float64 [body_count, 6]
        Read.
    bilateral : Bilateral
        Read.
    shift : float64 [1, velocity_count]
        Written.
    """
    impulse = bilateral_speeds(rows, bilateral, free_velocity)
    for i in range(impulse.size):
        impulse[i] += base_speed(bilateral.jacobian, i, bilateral.place, shift, FIRST)
    solve_bilateral(bilateral, impulse)
    for i in range(impulse.size):
        for column in range(shift.shape[1]):
            shift[0, column] -= impulse[i] * bilateral.response[i, column]
