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

from ...kernel import subkernel
from .polyhedral_groups import (
    COVER_CONE,
    COVER_NORMAL,
    COVER_SLIP,
    DIRECTIONS,
    FRICTION,
    INCLUDED,
    LOCAL,
    NORMAL_ROW,
    TANGENT_ROW,
    base_speed,
)

# A pivot in K below this share of its largest entry is taken for zero: the basis is singular to rounding.
_TOLERANCE_SINGULAR = 1e-14
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
# Rows of ``Basis.work``.
SOLUTION, BORDER, SPARE = np.int64(0), np.int64(1), np.int64(2)
# Elements of ``Basis.size``.
ROWS_OF_K, PIVOTS_SINCE_REBUILD = range(2)


class Basis(NamedTuple):
    """An almost complementary basis with its values.

    Attributes
    ----------
    size : int64 [2]
        ROWS_OF_K: s. PIVOTS_SINCE_REBUILD.
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
    work : float64 [3, capacity]
        K's part of the entering column; workspace.
    velocity : float64 [4, velocity_count]
        The velocities that belong to VALUE, NOISE_VALUE and DRIVE; workspace.
    speed : float64 [row_count + 1]
        Workspace: J v of the scaled rows, and a 0.
    """

    size: np.ndarray
    basic: np.ndarray
    place: np.ndarray
    label: np.ndarray
    table: np.ndarray
    inverse: np.ndarray
    star: np.ndarray
    work: np.ndarray
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
    pair_count = groups.shape.shape[0] * (groups.angle.shape[1] + 2)
    capacity = inverse_capacity(velocities, pair_count)
    return Basis(
        size=np.zeros(2, np.int64),
        basic=np.zeros((2, pair_count + 1), np.int64),
        place=np.empty((2, pair_count + 1), np.int64),
        label=np.zeros((2, capacity), np.int64),
        table=np.zeros((6, pair_count + 1)),
        inverse=np.empty((capacity, capacity)),
        star=np.empty((capacity, velocities)),
        work=np.zeros((3, capacity)),
        velocity=np.zeros((4, velocities)),
        speed=np.zeros(groups.jacobian.shape[0] + 1),
    )


@subkernel
def fill_speeds(place, jacobian, velocity, index, speed):
    """speed = J velocity[index] of all scaled rows."""
    for row in range(jacobian.shape[0]):
        speed[row] = base_speed(jacobian, row, place[row, 0], place[row, 1], velocity, index)


@subkernel
def add_push(response, row, first, second, velocity, index):
    """velocity[index] += first and second times the responses of ``row`` and the next."""
    for column in range(velocity.shape[1]):
        velocity[index, column] += first * response[row, column] + second * response[row + 1, column]


@subkernel
def clear(velocity, index):
    """velocity[index] = 0."""
    for column in range(velocity.shape[1]):
        velocity[index, column] = 0.0


@subkernel
def fill_star(shape, law, angle, response, velocity, index, pair):
    """velocity[index] becomes what a column of K other than z0 makes: N + mu D_x, D_j - D_x, D_j, or 0."""
    stride = angle.shape[1] + 2
    group, slot = pair // stride, pair % stride
    normal, tangent, local = shape[group, NORMAL_ROW], shape[group, TANGENT_ROW], shape[group, LOCAL]
    factor, first, second = 0.0, 0.0, 0.0
    if slot == NORMAL:
        factor = 1.0
    elif slot < stride - 1:
        first, second = angle[0, slot - 1], angle[1, slot - 1]
    if local >= 0:
        share = law[group, FRICTION] if slot == NORMAL else -1.0
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
def fill_cover_star(shape, law, angle, response, velocity, index):
    """velocity[index] becomes what the column of z0 makes: sum of c_gamma D_x."""
    clear(velocity, index)
    for group in range(shape.shape[0]):
        local, cover = shape[group, LOCAL], law[group, COVER_CONE]
        if local >= 0:
            first, second = cover * angle[0, local], cover * angle[1, local]
            add_push(response, shape[group, TANGENT_ROW], first, second, velocity, index)


@subkernel
def row_entry(shape, angle, speed, stride, pair):
    """What the velocities behind ``speed`` give in a row of K."""
    group, slot = pair // stride, pair % stride
    entry = 0.0
    if slot == NORMAL:
        entry = speed[shape[group, NORMAL_ROW]]
    elif slot < stride - 1:
        cosine, sine, local = angle[0, slot - 1], angle[1, slot - 1], shape[group, LOCAL]
        if local >= 0:
            cosine, sine = cosine - angle[0, local], sine - angle[1, local]
        row = shape[group, TANGENT_ROW]
        entry = cosine * speed[row] + sine * speed[row + 1]
    return entry


@subkernel
def direct_entry(shape, law, stride, row_pair, column_pair):
    """The part of an entry of K that does not go through velocities: c, mu, E."""
    group, slot, last = row_pair // stride, row_pair % stride, stride - 1
    first = row_pair - slot
    entry = 0.0
    if column_pair == shape.shape[0] * stride:
        if slot == NORMAL:
            entry = law[group, COVER_NORMAL]
        elif slot == last:
            entry = law[group, COVER_CONE]
        elif shape[group, LOCAL] < 0:
            entry = law[group, COVER_SLIP]
    elif first <= column_pair <= first + last:
        if slot == last:
            if column_pair == first:
                entry = law[group, FRICTION]
            elif column_pair != row_pair:
                entry = -1.0
        elif column_pair == first + last and slot != NORMAL:
            entry = 1.0
    return entry


@subkernel
def price(shape, law, angle, speed, basic, table, share, source, column):
    """Fill ``table[column]``: K's part of it stands in ``table[CHANGE]``, its velocities are behind ``speed``.

    ``share`` is the factor on the constants ``table[source]``: 1 for the columns of q and noise, 0 for others.
    """
    stride = angle.shape[1] + 2
    last, z0_pair = stride - 1, shape.shape[0] * stride
    z0 = table[CHANGE, z0_pair]
    table[column, z0_pair] = z0
    for group in range(shape.shape[0]):
        first, row = group * stride, shape[group, NORMAL_ROW]
        if row >= 0:
            slack = speed[row] + law[group, COVER_NORMAL] * z0 + share * table[source, first]
            table[column, first] = basic[W, first] * slack + basic[Z, first] * table[CHANGE, first]
        if shape[group, INCLUDED]:
            row, x = shape[group, TANGENT_ROW], shape[group, LOCAL]
            speed_1, speed_2 = speed[row], speed[row + 1]
            slip = table[CHANGE, first + last] + law[group, COVER_SLIP] * z0
            if x >= 0:
                slip = -(angle[0, x] * speed_1 + angle[1, x] * speed_2) - share * table[source, first + 1 + x]
            rest = law[group, FRICTION] * table[CHANGE, first] + law[group, COVER_CONE] * z0
            rest += share * table[source, first + last]
            for direction in range(shape[group, DIRECTIONS]):
                pair = first + 1 + direction
                change = table[CHANGE, pair]
                rest -= change
                slack = angle[0, direction] * speed_1 + angle[1, direction] * speed_2 + slip
                slack += share * table[source, pair]
                table[column, pair] = basic[W, pair] * slack + basic[Z, pair] * change
            pair = first + last
            if x >= 0:
                table[column, first + 1 + x] = rest
                table[column, pair] = slip - law[group, COVER_SLIP] * z0
            else:
                table[column, pair] = basic[W, pair] * rest + basic[Z, pair] * table[CHANGE, pair]


@subkernel
def _spread_solution(size, label, star, work, table, velocity, column):
    """Put K's part of a column in its places, and add its velocities to ``velocity[column]``."""
    for k in range(size):
        amount = work[SOLUTION, k]
        table[CHANGE, label[Z, k]] = amount
        for place in range(velocity.shape[1]):
            velocity[column, place] += amount * star[k, place]


@subkernel
def _collect_solution(size, label, table):
    """Leave CHANGE empty."""
    for k in range(size):
        table[CHANGE, label[Z, k]] = 0.0


@subkernel
def _solve_column(size, shape, law, angle, speed, label, inverse, work, pair):
    """K's part of the column of an entering z, whose own velocities are behind ``speed``."""
    stride = angle.shape[1] + 2
    for i in range(size):
        work[SOLUTION, i] = 0.0
    for k in range(size):
        row_pair = label[W, k]
        entry = row_entry(shape, angle, speed, stride, row_pair) + direct_entry(shape, law, stride, row_pair, pair)
        for i in range(size):
            work[SOLUTION, i] -= inverse[i, k] * entry


@subkernel
def drive_z(groups, basis, pair):
    """Tableau's column of a z that enters: DRIVE."""
    shape, law, angle, place, jacobian = groups.shape, groups.law, groups.angle, groups.place, groups.jacobian
    size, label, table, velocity = basis.size[ROWS_OF_K], basis.label, basis.table, basis.velocity
    fill_star(shape, law, angle, groups.response, velocity, DRIVE, pair)
    fill_speeds(place, jacobian, velocity, DRIVE, basis.speed)
    _solve_column(size, shape, law, angle, basis.speed, label, basis.inverse, basis.work, pair)
    _spread_solution(size, label, basis.star, basis.work, table, velocity, DRIVE)
    table[CHANGE, pair] = 1.0
    fill_speeds(place, jacobian, velocity, DRIVE, basis.speed)
    price(shape, law, angle, basis.speed, basis.basic, table, 0.0, SOURCE, DRIVE)
    table[CHANGE, pair] = 0.0
    _collect_solution(size, label, table)


@subkernel
def drive_w(groups, basis, pair):
    """Tableau's column of a w that enters: DRIVE."""
    size, label, table, velocity = basis.size[ROWS_OF_K], basis.label, basis.table, basis.velocity
    clear(velocity, DRIVE)
    k = basis.place[W, pair]
    for i in range(size):
        basis.work[SOLUTION, i] = basis.inverse[i, k]
    _spread_solution(size, label, basis.star, basis.work, table, velocity, DRIVE)
    fill_speeds(groups.place, groups.jacobian, velocity, DRIVE, basis.speed)
    price(groups.shape, groups.law, groups.angle, basis.speed, basis.basic, table, 0.0, SOURCE, DRIVE)
    _collect_solution(size, label, table)


@subkernel
def solve_source(groups, basis, source, column):
    """Tableau's column of a constant, q' for q: z = -A^-1 q, w = q + M z.

    Parameters
    ----------
    groups, basis
        ``table[column]`` and ``velocity[column]`` are written.
    source, column : int
        Rows of ``table``.
    """
    shape, angle, table, work, velocity = groups.shape, groups.angle, basis.table, basis.work, basis.velocity
    size, stride = basis.size[ROWS_OF_K], angle.shape[1] + 2
    clear(velocity, column)
    for group in range(shape.shape[0]):
        local, rest = shape[group, LOCAL], table[source, group * stride + stride - 1]
        if local >= 0 and rest != 0.0:
            first, second = rest * angle[0, local], rest * angle[1, local]
            add_push(groups.response, shape[group, TANGENT_ROW], first, second, velocity, column)
    fill_speeds(groups.place, groups.jacobian, velocity, column, basis.speed)
    for i in range(size):
        work[SOLUTION, i] = 0.0
    for k in range(size):
        pair = basis.label[W, k]
        group = pair // stride
        entry = row_entry(shape, angle, basis.speed, stride, pair) + table[source, pair]
        if shape[group, LOCAL] >= 0 and pair != group * stride:
            entry -= table[source, group * stride + 1 + shape[group, LOCAL]]
        for i in range(size):
            work[SOLUTION, i] -= basis.inverse[i, k] * entry
    _spread_solution(size, basis.label, basis.star, work, table, velocity, column)
    fill_speeds(groups.place, groups.jacobian, velocity, column, basis.speed)
    price(shape, groups.law, angle, basis.speed, basis.basic, table, 1.0, source, column)
    _collect_solution(size, basis.label, table)


@subkernel
def put_pair(place, label, side, index, pair):
    """Note that ``pair`` has the row (W) or column (Z) ``index`` of K."""
    label[side, index] = pair
    place[side, pair] = index


@subkernel
def rebuild(groups, basis):
    """Build K from the rows and invert it. False where it is singular or outgrows its room."""
    shape, angle, stride = groups.shape, groups.angle, groups.angle.shape[1] + 2
    label, speed, z0_pair = basis.label, basis.speed, basis.table.shape[1] - 1
    size = _label_basis(shape, basis.basic, basis.place, label, stride)
    basis.size[ROWS_OF_K], basis.size[PIVOTS_SINCE_REBUILD] = max(size, 0), 0
    for i in range(size):
        if label[Z, i] == z0_pair:
            fill_cover_star(shape, groups.law, angle, groups.response, basis.star, i)
        else:
            fill_star(shape, groups.law, angle, groups.response, basis.star, i, label[Z, i])
        fill_speeds(groups.place, groups.jacobian, basis.star, i, speed)
        for k in range(size):
            entry = row_entry(shape, angle, speed, stride, label[W, k])
            basis.inverse[k, i] = entry + direct_entry(shape, groups.law, stride, label[W, k], label[Z, i])
    return size >= 0 and _invert(basis.inverse, size)


@subkernel
def _label_basis(shape, basic, place, label, stride):
    """Choose what is eliminated, and number K's rows and columns.

    Returns their count; -1 where rows and columns are not as many, or too many.
    """
    z0_pair, capacity = shape.shape[0] * stride, label.shape[1]
    columns, rows = 0, 0
    for group in range(shape.shape[0]):
        first = group * stride
        local = _local_direction(shape, basic, group, first, stride - 1)
        shape[group, LOCAL] = local
        for slot in range(stride):
            pair = first + slot
            place[W, pair], place[Z, pair] = -1, -1
            eliminated = local >= 0 and (slot == stride - 1 or slot == local + 1)
            if takes_part(shape, group, slot, stride) and not eliminated:
                if basic[Z, pair]:
                    if columns < capacity:
                        put_pair(place, label, Z, columns, pair)
                    columns += 1
                if not basic[W, pair]:
                    if rows < capacity:
                        put_pair(place, label, W, rows, pair)
                    rows += 1
    place[W, z0_pair], place[Z, z0_pair] = -1, -1
    if basic[Z, z0_pair]:
        if columns < capacity:
            put_pair(place, label, Z, columns, z0_pair)
        columns += 1
    return columns if columns == rows and columns <= capacity else -1


@subkernel
def takes_part(shape, group, slot, stride):
    """Whether the problem has this pair at present."""
    if slot == NORMAL:
        return shape[group, NORMAL_ROW] >= 0
    return shape[group, INCLUDED] == 1 and (slot == stride - 1 or slot <= shape[group, DIRECTIONS])


@subkernel
def _local_direction(shape, basic, group, first, last):
    """The direction that can be eliminated together with lambda; -1 where none can."""
    if shape[group, INCLUDED] and basic[Z, first + last] and not basic[W, first + last]:
        for direction in range(shape[group, DIRECTIONS]):
            if basic[Z, first + 1 + direction] and not basic[W, first + 1 + direction]:
                return direction
    return -1


@subkernel(allocates=True)
def _invert(matrix, size):
    """Invert the leading block in place: Gauss-Jordan with row pivoting. False where it is singular."""
    swapped = np.empty(size, np.int64)
    largest = 0.0
    for i in range(size):
        for j in range(size):
            largest = max(largest, abs(matrix[i, j]))
    for k in range(size):
        best = k
        for i in range(k + 1, size):
            if abs(matrix[i, k]) > abs(matrix[best, k]):
                best = i
        pivot = matrix[best, k]
        if not abs(pivot) > _TOLERANCE_SINGULAR * largest:
            return False
        swapped[k] = best
        for j in range(size):
            matrix[best, j], matrix[k, j] = matrix[k, j], matrix[best, j]
        matrix[k, k] = 1.0
        for j in range(size):
            matrix[k, j] /= pivot
        for i in range(size):
            factor = matrix[i, k]
            if i != k and factor != 0.0:
                matrix[i, k] = 0.0
                for j in range(size):
                    matrix[i, j] -= factor * matrix[k, j]
    for k in range(size - 1, -1, -1):
        best = swapped[k]
        if best != k:
            for i in range(size):
                matrix[i, k], matrix[i, best] = matrix[i, best], matrix[i, k]
    return True
