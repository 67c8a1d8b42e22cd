"""The reduced inverse of an almost complementary basis: Lloyd's section 5.1 and appendix A.

Lemke's method on w = M z + c z0 + q keeps the square matrix A of the basic z (z0 among them, columns) and the rows of
the non-basic w. For contacts A falls apart. Where lambda_g is basic, gamma_g is not, and one direction x of the contact
has phi_x basic and sigma_x not; the four meet in

    rows sigma_x, gamma_g; columns phi_x, lambda_g:     [ d_x' W d_x   1 ]
                                                        [    -1        0 ]

which is eliminated by hand. With N, D for the velocities that a unit of theta, phi makes (rows of ``response``)

    gamma_g = 0:    phi_x  = cap + mu theta - sum of the other phi + c_gamma z0
    sigma_x = 0:    lambda = -d_x' u - c_sigma z0

so that what is left, K, has the columns and rows

    theta:  N + mu D_x         phi_j:   D_j - D_x         z0:  c and sum of c_gamma D_x
    nu:     n' u               sigma_j: (d_j - d_x)' u    (its c is c_sigma - c_sigma = 0)

K = [n; d_j - d_x] [N + mu D_x, D_j - D_x] has at most the rank of the velocities: 6 m rows for m bodies, and one more
for z0.
Contacts where lambda is not basic have their phi in K as they are, without the terms in x.

K's inverse is kept. It is the block of A's inverse that belongs to K's rows and columns, so (``basis_exchange``)

    eliminating four more     drops two rows and two columns of the inverse;
    taking four back          adds the two rows and columns of A's inverse, by the two formulas above;
    a pivot                   is a change of rank one, of the whole of A's inverse and so of the block.

Each costs O(s^2) for s rows of K, and a column of the tableau O(s^2 + s m + n K): the s^2 from K's inverse, the rest
from pricing velocities on all rows. M and A are never formed. Now and then K is built from the rows and
inverted anew, and all values are computed afresh.

Names: a pair (w_i, z_i) has the number group * (K + 2) + slot; slot 0 is (nu, theta), slots 1 to K are (sigma, phi),
the last is (gamma, lambda). z0 has the number after all pairs.

Source: Lloyd 2004, eqs. 19-33 and 37-47 (K is his eq. 31 and 42). That an explicit inverse is kept is ours.
"""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel
from .bilateral import base_speed

# Room beyond 6 m + 1 rows of K: four rows of two released groups, and a pivot's own.
_MARGIN = 8

# Slot of (nu, theta).
NORMAL = 0
# Places that functions are given are np.int64: each plain integer would be a type of its own to Numba.
# Rows of ``Basis.basic``, ``place`` and ``label``: K's rows belong to w, its columns to z.
W, Z = np.int64(0), np.int64(1)
# Rows of ``Basis.table``; the first three are rows of ``Basis.velocity`` too.
VALUE, NOISE_VALUE, DRIVE, CHANGE, SOURCE, NOISE = (np.int64(row) for row in range(6))
# Row of ``Basis.velocity``: workspace.
PUSH = np.int64(3)


class Basis(NamedTuple):
    """An almost complementary basis with its values.

    ``basic``, ``place``, ``label``, ``table`` and ``velocity`` have rows named by constants, since which row a function
    works on is chosen at run time: whether w or z enters, whether the column of q or that of noise is solved for.

    Attributes
    ----------
    size : int64 [1]
        Rows of K: s.
    pivots_since_rebuild : int64 [1]
    basic : int64 [2, pair_count + 1]
        W, Z: 1 where basic. Of the pair that enters next neither is.
    place : int64 [2, pair_count + 1]
        W, Z: row and column of K; -1 where it has none. Filled by ``rebuild``.
    label : int64 [2, capacity]
        W, Z: pair of each row and column of K.
    table : float64 [6, pair_count + 1]
        VALUE, NOISE_VALUE, DRIVE: tableau's columns q', noise' and that of the entering variable, of what is basic in
        each pair; 0 where nothing is. SOURCE, NOISE: q and the perturbation that decides ties. CHANGE: workspace.
    inverse : float64 [capacity, capacity]
        K^-1: its rows belong to K's columns.
    star : float64 [capacity, velocity_count]
        The velocities of K's columns.
    solution : float64 [capacity]
        K's part of the entering column.
    border, spare : float64 [capacity]
        Workspace: rows that are added to the inverse.
    velocity : float64 [4, velocity_count]
        The velocities that belong to VALUE, NOISE_VALUE and DRIVE; workspace.
    speed : float64 [row_count + 1]
        Workspace: J v of the scaled rows, and a 0.
    """

    size: np.ndarray
    pivots_since_rebuild: np.ndarray
    basic: np.ndarray
    place: np.ndarray
    label: np.ndarray
    table: np.ndarray
    inverse: np.ndarray
    star: np.ndarray
    solution: np.ndarray
    border: np.ndarray
    spare: np.ndarray
    velocity: np.ndarray
    speed: np.ndarray


@subkernel
def inverse_capacity(velocities, pair_count):
    """Rows that K can have: its rank is at most that of the velocities, and no more than there are pairs."""
    return min(velocities, pair_count) + 1 + _MARGIN


@subkernel(allocates=True)
def allocate_basis(groups):
    """An empty basis with room for the island."""
    velocities = groups.response.shape[1]
    pair_count = groups.each.size * (groups.angle.shape[1] + 2)
    capacity = inverse_capacity(velocities, pair_count)
    return Basis(
        size=np.zeros(1, np.int64),
        pivots_since_rebuild=np.zeros(1, np.int64),
        basic=np.zeros((2, pair_count + 1), np.int64),
        place=np.empty((2, pair_count + 1), np.int64),
        label=np.zeros((2, capacity), np.int64),
        table=np.zeros((6, pair_count + 1)),
        inverse=np.empty((capacity, capacity)),
        star=np.empty((capacity, velocities)),
        solution=np.zeros(capacity),
        border=np.zeros(capacity),
        spare=np.zeros(capacity),
        velocity=np.zeros((4, velocities)),
        speed=np.zeros(groups.jacobian.shape[0] + 1),
    )


@subkernel
def fill_speeds(place, jacobian, velocity, index, speed):
    """speed = J velocity[index] of all scaled rows.

    Parameters
    ----------
    place : int64 [row_count, PLACES]
    jacobian : float64 [row_count, COLUMNS]
        Of ``Groups`` (read).
    velocity : float64 [any, velocity_count]
        Read.
    index : int
        Row of ``velocity``.
    speed : float64 [row_count + 1]
        Written.
    """
    for row in range(jacobian.shape[0]):
        speed[row] = base_speed(jacobian, row, place, velocity, index)


@subkernel
def add_push(response, row, first, second, velocity, index):
    """velocity[index] += first and second times the responses of ``row`` and the next.

    Parameters
    ----------
    response : float64 [row_count + 1, velocity_count]
        Of ``Groups`` (read).
    row : int
    first, second : float
    velocity : float64 [any, velocity_count]
        Written.
    index : int
        Row of ``velocity``.
    """
    for column in range(velocity.shape[1]):
        velocity[index, column] += first * response[row, column] + second * response[row + 1, column]


@subkernel
def clear(velocity, index):
    """velocity[index] = 0."""
    for column in range(velocity.shape[1]):
        velocity[index, column] = 0.0


@subkernel
def fill_star(each, angle, response, velocity, index, pair):
    """velocity[index] becomes what a column of K other than z0 makes: N + mu D_x, D_j - D_x, D_j, or 0.

    Parameters
    ----------
    each : GROUP [group_count]
        Read.
    angle : float64 [2, K]
        Cosines and sines of the directions (read).
    response : float64 [row_count + 1, velocity_count]
        Read.
    velocity : float64 [any, velocity_count]
        Written.
    index : int
        Row of ``velocity``.
    pair : int
    """
    stride = angle.shape[1] + 2
    group, slot = pair // stride, pair % stride
    normal, tangent, local = each[group]["normal_row"], each[group]["tangent_row"], each[group]["local"]
    factor, first, second = 0.0, 0.0, 0.0
    if slot == NORMAL:
        factor = 1.0
    elif slot < stride - 1:
        first, second = angle[0, slot - 1], angle[1, slot - 1]
    if local >= 0:
        share = each[group]["friction"] if slot == NORMAL else -1.0
        first, second = first + share * angle[0, local], second + share * angle[1, local]
    if tangent < 0:
        tangent = response.shape[0] - 2
    if normal < 0:
        normal = tangent
    for column in range(velocity.shape[1]):
        velocity[index, column] = (
            factor * response[normal, column]
            + first * response[tangent, column]
            + second * response[tangent + 1, column]
        )


@subkernel
def fill_cover_star(each, angle, response, velocity, index):
    """velocity[index] becomes what the column of z0 makes: sum of c_gamma D_x.

    Parameters
    ----------
    each, angle, response, velocity, index
        As in ``fill_star``.
    """
    clear(velocity, index)
    for group in range(each.size):
        local, cover = each[group]["local"], each[group]["cover_cone"]
        if local >= 0:
            first, second = cover * angle[0, local], cover * angle[1, local]
            add_push(response, each[group]["tangent_row"], first, second, velocity, index)


@subkernel
def row_entry(each, angle, speed, stride, pair):
    """What the velocities behind ``speed`` give in a row of K.

    Parameters
    ----------
    each : GROUP [group_count]
        Read.
    angle : float64 [2, K]
        Cosines and sines of the directions (read).
    speed : float64 [row_count + 1]
        Of ``fill_speeds`` (read).
    stride : int
        K + 2.
    pair : int
        Of the row.

    Returns
    -------
    float
    """
    group, slot = pair // stride, pair % stride
    entry = 0.0
    if slot == NORMAL:
        entry = speed[each[group]["normal_row"]]
    elif slot < stride - 1:
        cosine, sine, local = angle[0, slot - 1], angle[1, slot - 1], each[group]["local"]
        if local >= 0:
            cosine, sine = cosine - angle[0, local], sine - angle[1, local]
        row = each[group]["tangent_row"]
        entry = cosine * speed[row] + sine * speed[row + 1]
    return entry


@subkernel
def direct_entry(each, stride, row_pair, column_pair):
    """The part of an entry of K that does not go through velocities: c, mu, E.

    Parameters
    ----------
    each : GROUP [group_count]
        Read.
    stride : int
        K + 2.
    row_pair, column_pair : int

    Returns
    -------
    float
    """
    group, slot, last = row_pair // stride, row_pair % stride, stride - 1
    first = row_pair - slot
    entry = 0.0
    if column_pair == each.size * stride:
        if slot == NORMAL:
            entry = each[group]["cover_normal"]
        elif slot == last:
            entry = each[group]["cover_cone"]
        elif each[group]["local"] < 0:
            entry = each[group]["cover_slip"]
    elif first <= column_pair <= first + last:
        if slot == last:
            if column_pair == first:
                entry = each[group]["friction"]
            elif column_pair != row_pair:
                entry = -1.0
        elif column_pair == first + last and slot != NORMAL:
            entry = 1.0
    return entry


@subkernel
def price(each, angle, speed, basic, table, share, source, column):
    """Fill ``table[column]``: K's part of it stands in ``table[CHANGE]``, its velocities are behind ``speed``.

    ``share`` is the factor on the constants ``table[source]``: 1 for the columns of q and noise, 0 for others.
    """
    stride = angle.shape[1] + 2
    last, z0_pair = stride - 1, each.size * stride
    z0 = table[CHANGE, z0_pair]
    table[column, z0_pair] = z0
    for group in range(each.size):
        first, row = group * stride, each[group]["normal_row"]
        if row >= 0:
            slack = speed[row] + each[group]["cover_normal"] * z0 + share * table[source, first]
            table[column, first] = basic[W, first] * slack + basic[Z, first] * table[CHANGE, first]
        if each[group]["included"]:
            row, x = each[group]["tangent_row"], each[group]["local"]
            speed_1, speed_2 = speed[row], speed[row + 1]
            slip = table[CHANGE, first + last] + each[group]["cover_slip"] * z0
            if x >= 0:
                slip = -(angle[0, x] * speed_1 + angle[1, x] * speed_2) - share * table[source, first + 1 + x]
            rest = each[group]["friction"] * table[CHANGE, first] + each[group]["cover_cone"] * z0
            rest += share * table[source, first + last]
            for direction in range(each[group]["directions"]):
                pair = first + 1 + direction
                change = table[CHANGE, pair]
                rest -= change
                slack = angle[0, direction] * speed_1 + angle[1, direction] * speed_2 + slip
                slack += share * table[source, pair]
                table[column, pair] = basic[W, pair] * slack + basic[Z, pair] * change
            pair = first + last
            if x >= 0:
                table[column, first + 1 + x] = rest
                table[column, pair] = slip - each[group]["cover_slip"] * z0
            else:
                table[column, pair] = basic[W, pair] * rest + basic[Z, pair] * table[CHANGE, pair]


@subkernel
def put_pair(place, label, side, index, pair):
    """Note that ``pair`` has the row (W) or column (Z) ``index`` of K."""
    label[side, index] = pair
    place[side, pair] = index


@subkernel
def takes_part(each, group, slot, stride):
    """Whether the problem has this pair at present."""
    if slot == NORMAL:
        return each[group]["normal_row"] >= 0
    return each[group]["included"] == 1 and (slot == stride - 1 or slot <= each[group]["directions"])
