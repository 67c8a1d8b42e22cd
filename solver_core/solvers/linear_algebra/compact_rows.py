"""The rows of one island in compact form, scaled so that every unknown is a speed, and the products with W.

Rows come in units, the smallest parts that are solved as a whole: a contact (normal and two friction rows) or any other
row by itself. With S = diag(1 / W_ii), W_ii of its normal row for a contact, impulses are r = S y, so

    u = W S y + b,        y in m/s like u,

and masses and units are gone. W S is never formed: W S y = J (Y y) + C S y, with Y = M^-1 J' S by columns and
velocities of bodies in between, and the compliances C of rows that are no contacts. Rows with W_ii = 0, between bodies
that cannot be pushed, are omitted.

The same form holds contacts with an explicit W (``compact_explicit``), whose columns are scaled; then the products
are those of compressed rows.

Cost of every function here: O(rows).
"""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import kernel, subkernel
from ...problem.residuals import is_friction_pair, row_velocity


class CompactRows(NamedTuple):
    """Units, their rows, and the velocities that products go through.

    Attributes
    ----------
    count : int64 [4]
        Units, rows, bodies; 1 in the last place where W is explicit.
    first_row : int64 [row_capacity + 1]
        First row of each unit; the next entry ends it.
    body_a, body_b : int64 [row_capacity]
        Of each unit, in the numbers of the island.
    friction : float64 [row_capacity]
        Of each unit: mu of a contact, -1 for another row.
    scale : float64 [row_capacity]
        Of each unit: 1 / W_ii, the impulse of one m/s [kg].
    compliance : float64 [row_capacity]
        Of each unit: C_ii / W_ii; 0 of a contact.
    source : int64 [row_capacity]
        Of each row: its place in ``RowArrays``, or in W.
    lower, upper : float64 [row_capacity]
        Bounds of other rows [m/s].
    jacobian, response : float64 [row_capacity, 12]
        J; Y, scaled.
    offset : float64 [row_capacity]
        b [m/s].
    own : float64 [row_capacity, 3]
        The unit's own block of W S.
    velocity : float64 [body_capacity + 1, 6]
        Workspace of the products. The place after the island's bodies is for all that cannot be pushed: it stays 0.
    body_place : int64 [body_capacity]
        Workspace: the island's number of a body.
    start, column : int64 [row_capacity + 1], [entries]
        Explicit W: where its rows begin, and the columns of its entries.
    entry : float64 [entries]
        Explicit W: entries of W S.
    """

    count: np.ndarray
    first_row: np.ndarray
    body_a: np.ndarray
    body_b: np.ndarray
    friction: np.ndarray
    scale: np.ndarray
    compliance: np.ndarray
    source: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    jacobian: np.ndarray
    response: np.ndarray
    offset: np.ndarray
    own: np.ndarray
    velocity: np.ndarray
    body_place: np.ndarray
    start: np.ndarray
    column: np.ndarray
    entry: np.ndarray


def allocate_compact_rows(row_capacity: int, body_capacity: int) -> CompactRows:
    """Room for the rows of an island."""
    return CompactRows(
        count=np.zeros(4, np.int64),
        first_row=np.zeros(row_capacity + 1, np.int64),
        body_a=np.zeros(row_capacity, np.int64),
        body_b=np.zeros(row_capacity, np.int64),
        friction=np.zeros(row_capacity),
        scale=np.zeros(row_capacity),
        compliance=np.zeros(row_capacity),
        source=np.zeros(row_capacity, np.int64),
        lower=np.zeros(row_capacity),
        upper=np.zeros(row_capacity),
        jacobian=np.zeros((row_capacity, 12)),
        response=np.zeros((row_capacity, 12)),
        offset=np.zeros(row_capacity),
        own=np.zeros((row_capacity, 3)),
        velocity=np.zeros((body_capacity + 1, 6)),
        body_place=np.zeros(body_capacity, np.int64),
        start=np.zeros(1, np.int64),
        column=np.zeros(0, np.int64),
        entry=np.zeros(0),
    )


@kernel
def gather_island(rows, islands, island, free_velocity, compact):
    """Fill ``compact`` with the rows of an island.

    Parameters
    ----------
    rows, islands, island
        Read.
    free_velocity : float64 [body_count, 6]
        Read.
    compact : CompactRows
        Written.
    """
    bodies = islands.body_first[island + 1] - islands.body_first[island]
    for place in range(bodies):
        compact.body_place[islands.body_order[islands.body_first[island] + place]] = place
    units, count = 0, 0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        while row < end:
            is_contact = is_friction_pair(rows.normal_row, row + 1, end) and rows.normal_row[row + 1] == row
            length = 3 if is_contact else 1
            weight = rows.diagonal[row]
            if weight > 0.0:
                compact.first_row[units] = count
                compact.body_a[units] = _place(compact.body_place, islands, island, a, bodies)
                compact.body_b[units] = _place(compact.body_place, islands, island, b, bodies)
                compact.friction[units] = rows.friction[row + 1] if is_contact else -1.0
                compact.scale[units] = 1.0 / weight
                compact.compliance[units] = 0.0 if is_contact else rows.compliance[row] / weight
                for source in range(row, row + length):
                    compact.source[count] = source
                    compact.lower[count] = rows.lower[source] * weight
                    compact.upper[count] = rows.upper[source] * weight
                    compact.offset[count] = row_velocity(rows.jacobian, source, rows.bias[source], free_velocity, a, b)
                    for column in range(12):
                        compact.jacobian[count, column] = rows.jacobian[source, column]
                        compact.response[count, column] = rows.response[source, column] / weight
                    for other in range(length):
                        total = 0.0
                        for column in range(12):
                            total += rows.jacobian[source, column] * rows.response[row + other, column]
                        compact.own[count, other] = total / weight
                    compact.own[count, 0] += compact.compliance[units]
                    count += 1
                units += 1
            row += length
    compact.first_row[units] = count
    compact.count[0], compact.count[1], compact.count[2], compact.count[3] = units, count, bodies, 0


@subkernel
def _place(body_place, islands, island, body, bodies):
    """Number of a body in the island; ``bodies`` for one that cannot be pushed."""
    place = body_place[body]
    if place < bodies and islands.body_order[islands.body_first[island] + place] == body:
        return place
    return bodies


@subkernel
def read_impulses(compact, impulse, y):
    """y of the rows' impulses ``impulse``.

    Parameters
    ----------
    compact : CompactRows
        Read.
    impulse : float64 [row_capacity]
        Of ``RowArrays`` [N s] (read).
    y : float64 [rows]
        Written [m/s].
    """
    for unit in range(compact.count[0]):
        for row in range(compact.first_row[unit], compact.first_row[unit + 1]):
            y[row] = impulse[compact.source[row]] / compact.scale[unit]


@subkernel
def write_impulses(compact, y, impulse):
    """The rows' impulses of y.

    Parameters
    ----------
    compact, y, impulse
        As in ``read_impulses``; ``impulse`` is written.
    """
    for unit in range(compact.count[0]):
        for row in range(compact.first_row[unit], compact.first_row[unit + 1]):
            impulse[compact.source[row]] = y[row] * compact.scale[unit]


@kernel
def multiply(compact, y, u):
    """u = W S y.

    Parameters
    ----------
    compact : CompactRows
        Read.
    y, u : float64 [rows]
        Read; written [m/s].
    """
    if compact.count[3] == 1:
        for row in range(compact.count[1]):
            u[row] = _entries_times(compact.start, compact.column, compact.entry, row, y)
        return
    _reset_velocity(compact)
    for unit in range(compact.count[0]):
        a, b = compact.body_a[unit], compact.body_b[unit]
        for row in range(compact.first_row[unit], compact.first_row[unit + 1]):
            push_bodies(compact.velocity, a, b, compact.response[row], y[row])
    for unit in range(compact.count[0]):
        a, b = compact.body_a[unit], compact.body_b[unit]
        for row in range(compact.first_row[unit], compact.first_row[unit + 1]):
            u[row] = _speed(compact.velocity, a, b, compact.jacobian[row]) + compact.compliance[unit] * y[row]


@kernel
def multiply_transposed(compact, t, out):
    """out = (W S)' t = S W' t.

    Parameters
    ----------
    compact : CompactRows
        Read.
    t, out : float64 [rows]
        Read; written.
    """
    if compact.count[3] == 1:
        for row in range(compact.count[1]):
            out[row] = 0.0
        for row in range(compact.count[1]):
            for place in range(compact.start[row], compact.start[row + 1]):
                out[compact.column[place]] += compact.entry[place] * t[row]
        return
    _reset_velocity(compact)
    for unit in range(compact.count[0]):
        a, b = compact.body_a[unit], compact.body_b[unit]
        for row in range(compact.first_row[unit], compact.first_row[unit + 1]):
            push_bodies(compact.velocity, a, b, compact.jacobian[row], t[row])
    for unit in range(compact.count[0]):
        a, b = compact.body_a[unit], compact.body_b[unit]
        for row in range(compact.first_row[unit], compact.first_row[unit + 1]):
            out[row] = _speed(compact.velocity, a, b, compact.response[row]) + compact.compliance[unit] * t[row]


@subkernel
def solve_forward(compact, gain, t, z):
    """Solve (I + G L) z = t, L the part of W S below its diagonal blocks: one sweep of Gauss-Seidel.

    Afterwards ``compact.velocity`` holds Y z.

    Parameters
    ----------
    compact : CompactRows
        Read.
    gain : float64 [rows, 3]
        The diagonal blocks G: how a unit's y answers a change of its u.
    t, z : float64 [rows]
        Read; written.
    """
    _reset_velocity(compact)
    for row in range(compact.count[1]):
        z[row] = 0.0
    for unit in range(compact.count[0]):
        first, end = compact.first_row[unit], compact.first_row[unit + 1]
        s0, s1, s2 = unit_speeds(compact, unit, z)
        for row in range(first, end):
            z[row] = t[row] - (gain[row, 0] * s0 + gain[row, 1] * s1 + gain[row, 2] * s2)
        _push_unit(compact, unit, z)


@subkernel
def couple_units(compact, gain, z, t):
    """t = (I + G (W S - D)) z with the diagonal blocks D, where ``compact.velocity`` holds Y z.

    Parameters
    ----------
    compact : CompactRows
        Read.
    gain : float64 [rows, 3]
        As in ``solve_forward``.
    z, t : float64 [rows]
        Read; written.
    """
    for unit in range(compact.count[0]):
        first, end = compact.first_row[unit], compact.first_row[unit + 1]
        s0, s1, s2 = unit_speeds(compact, unit, z)
        d0, d1, d2 = own_speeds(compact, unit, z)
        s0, s1, s2 = s0 - d0, s1 - d1, s2 - d2
        for row in range(first, end):
            t[row] = z[row] + gain[row, 0] * s0 + gain[row, 1] * s1 + gain[row, 2] * s2


@subkernel
def unit_speeds(compact, unit, z):
    """The rows of W S z of one unit: from the bodies' velocities and z, or from the entries of W; 0 for missing rows.

    Parameters
    ----------
    compact : CompactRows
        Read.
    unit : int
    z : float64 [rows]
        [m/s] (read).

    Returns
    -------
    tuple of three float
        [m/s]
    """
    first, end = compact.first_row[unit], compact.first_row[unit + 1]
    if compact.count[3] == 1:
        s0 = _entries_times(compact.start, compact.column, compact.entry, first, z)
        s1 = _entries_times(compact.start, compact.column, compact.entry, first + 1, z)
        s2 = _entries_times(compact.start, compact.column, compact.entry, first + 2, z)
        return s0, s1, s2
    a, b = compact.body_a[unit], compact.body_b[unit]
    s0 = _speed(compact.velocity, a, b, compact.jacobian[first])
    if end - first == 1:
        return s0 + compact.compliance[unit] * z[first], 0.0, 0.0
    s1 = _speed(compact.velocity, a, b, compact.jacobian[first + 1])
    s2 = _speed(compact.velocity, a, b, compact.jacobian[first + 2])
    return s0, s1, s2


@subkernel
def own_speeds(compact, unit, z):
    """What a unit's own impulses add to its u: its diagonal block times z; 0 for missing rows.

    Parameters
    ----------
    compact : CompactRows
        Read.
    unit : int
    z : float64 [rows]
        [m/s] (read).

    Returns
    -------
    tuple of three float
        [m/s]
    """
    first, end = compact.first_row[unit], compact.first_row[unit + 1]
    own = compact.own
    if end - first == 1:
        return own[first, 0] * z[first], 0.0, 0.0
    z0, z1, z2 = z[first], z[first + 1], z[first + 2]
    return (
        own[first, 0] * z0 + own[first, 1] * z1 + own[first, 2] * z2,
        own[first + 1, 0] * z0 + own[first + 1, 1] * z1 + own[first + 1, 2] * z2,
        own[first + 2, 0] * z0 + own[first + 2, 1] * z1 + own[first + 2, 2] * z2,
    )


@subkernel
def set_velocity(compact, y):
    """``compact.velocity`` = Y y.

    Parameters
    ----------
    compact : CompactRows
        ``velocity`` is written.
    y : float64 [rows]
        [m/s] (read).
    """
    _reset_velocity(compact)
    for unit in range(compact.count[0]):
        _push_unit(compact, unit, y)


@subkernel
def _push_unit(compact, unit, z):
    if compact.count[3] == 0:
        a, b = compact.body_a[unit], compact.body_b[unit]
        for row in range(compact.first_row[unit], compact.first_row[unit + 1]):
            push_bodies(compact.velocity, a, b, compact.response[row], z[row])


@subkernel
def _reset_velocity(compact):
    for body in range(compact.count[2] + 1):
        for column in range(6):
            compact.velocity[body, column] = 0.0


@subkernel
def push_bodies(velocity, a, b, response, impulse):
    """Add what an impulse on one row makes of the velocities of its bodies.

    Parameters
    ----------
    velocity : float64 [body_capacity + 1, 6]
        Written.
    a, b : int
        The bodies.
    response : float64 [12]
        Of the row (read).
    impulse : float
        [m/s]
    """
    for column in range(6):
        velocity[a, column] += response[column] * impulse
        velocity[b, column] += response[6 + column] * impulse


@subkernel
def _speed(velocity, a, b, jacobian):
    speed = 0.0
    for column in range(6):
        speed += jacobian[column] * velocity[a, column] + jacobian[6 + column] * velocity[b, column]
    return speed


@subkernel
def _entries_times(start, column, entry, row, z):
    total = 0.0
    for place in range(start[row], start[row + 1]):
        total += entry[place] * z[column[place]]
    return total
