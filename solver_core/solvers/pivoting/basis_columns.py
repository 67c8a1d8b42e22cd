"""Columns of the tableau from the reduced inverse of an almost complementary basis, and the inverse built anew.

See ``almost_complementary`` for K and its inverse.
"""

import numpy as np

from ...compiled.kernel import subkernel
from .almost_complementary import (
    CHANGE,
    DRIVE,
    SOURCE,
    W,
    Z,
    add_push,
    clear,
    direct_entry,
    fill_cover_star,
    fill_speeds,
    fill_star,
    price,
    put_pair,
    row_entry,
    takes_part,
)

# A pivot in K below this share of its largest entry is taken for zero: the basis is singular to rounding.
_TOLERANCE_SINGULAR = 1e-14


@subkernel
def drive_z(groups, basis, pair):
    """Tableau's column of a z that enters: DRIVE.

    Parameters
    ----------
    groups : Groups
        Read.
    basis : Basis
        ``table[DRIVE]``, ``velocity[DRIVE]`` and ``solution`` are written.
    pair : int
        Of the entering variable.
    """
    each, angle, place, jacobian = groups.each, groups.angle, groups.place, groups.jacobian
    size, label, table, velocity = basis.size[0], basis.label, basis.table, basis.velocity
    fill_star(each, angle, groups.response, velocity, DRIVE, pair)
    fill_speeds(place, jacobian, velocity, DRIVE, basis.speed)
    _solve_column(size, each, angle, basis.speed, label, basis.inverse, basis.solution, pair)
    _spread_solution(size, label, basis.star, basis.solution, table, velocity, DRIVE)
    table[CHANGE, pair] = 1.0
    fill_speeds(place, jacobian, velocity, DRIVE, basis.speed)
    price(each, angle, basis.speed, basis.basic, table, 0.0, SOURCE, DRIVE)
    table[CHANGE, pair] = 0.0
    _collect_solution(size, label, table)


@subkernel
def drive_w(groups, basis, pair):
    """Tableau's column of a w that enters: DRIVE.

    Parameters
    ----------
    groups, basis, pair
        As in ``drive_z``.
    """
    size, label, table, velocity = basis.size[0], basis.label, basis.table, basis.velocity
    clear(velocity, DRIVE)
    k = basis.place[W, pair]
    for i in range(size):
        basis.solution[i] = basis.inverse[i, k]
    _spread_solution(size, label, basis.star, basis.solution, table, velocity, DRIVE)
    fill_speeds(groups.place, groups.jacobian, velocity, DRIVE, basis.speed)
    price(groups.each, groups.angle, basis.speed, basis.basic, table, 0.0, SOURCE, DRIVE)
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
    each, angle, table, solution, velocity = groups.each, groups.angle, basis.table, basis.solution, basis.velocity
    size, stride = basis.size[0], angle.shape[1] + 2
    clear(velocity, column)
    for group in range(each.size):
        local, rest = each[group]["local"], table[source, group * stride + stride - 1]
        if local >= 0 and rest != 0.0:
            first, second = rest * angle[0, local], rest * angle[1, local]
            add_push(groups.response, each[group]["tangent_row"], first, second, velocity, column)
    fill_speeds(groups.place, groups.jacobian, velocity, column, basis.speed)
    for i in range(size):
        solution[i] = 0.0
    for k in range(size):
        pair = basis.label[W, k]
        group = pair // stride
        entry = row_entry(each, angle, basis.speed, stride, pair) + table[source, pair]
        if each[group]["local"] >= 0 and pair != group * stride:
            entry -= table[source, group * stride + 1 + each[group]["local"]]
        for i in range(size):
            solution[i] -= basis.inverse[i, k] * entry
    _spread_solution(size, basis.label, basis.star, solution, table, velocity, column)
    fill_speeds(groups.place, groups.jacobian, velocity, column, basis.speed)
    price(each, angle, basis.speed, basis.basic, table, 1.0, source, column)
    _collect_solution(size, basis.label, table)


@subkernel
def _solve_column(size, each, angle, speed, label, inverse, solution, pair):
    """K's part of the column of an entering z, whose own velocities are behind ``speed``."""
    stride = angle.shape[1] + 2
    for i in range(size):
        solution[i] = 0.0
    for k in range(size):
        row_pair = label[W, k]
        entry = row_entry(each, angle, speed, stride, row_pair) + direct_entry(each, stride, row_pair, pair)
        for i in range(size):
            solution[i] -= inverse[i, k] * entry


@subkernel
def _spread_solution(size, label, star, solution, table, velocity, column):
    """Put K's part of a column in its places, and add its velocities to ``velocity[column]``."""
    for k in range(size):
        amount = solution[k]
        table[CHANGE, label[Z, k]] = amount
        for place in range(velocity.shape[1]):
            velocity[column, place] += amount * star[k, place]


@subkernel
def _collect_solution(size, label, table):
    """Leave CHANGE empty."""
    for k in range(size):
        table[CHANGE, label[Z, k]] = 0.0


@subkernel
def rebuild(groups, basis):
    """Build K from the rows and invert it. False where it is singular or outgrows its room.

    Parameters
    ----------
    groups : Groups
        Read; ``local`` is written.
    basis : Basis
        Written.

    Returns
    -------
    bool
    """
    each, angle, stride = groups.each, groups.angle, groups.angle.shape[1] + 2
    label, speed, z0_pair = basis.label, basis.speed, basis.table.shape[1] - 1
    size = _label_basis(each, basis.basic, basis.place, label, stride)
    basis.size[0], basis.pivots_since_rebuild[0] = max(size, 0), 0
    for i in range(size):
        if label[Z, i] == z0_pair:
            fill_cover_star(each, angle, groups.response, basis.star, i)
        else:
            fill_star(each, angle, groups.response, basis.star, i, label[Z, i])
        fill_speeds(groups.place, groups.jacobian, basis.star, i, speed)
        for k in range(size):
            entry = row_entry(each, angle, speed, stride, label[W, k])
            basis.inverse[k, i] = entry + direct_entry(each, stride, label[W, k], label[Z, i])
    return size >= 0 and _invert(basis.inverse, size)


@subkernel
def _label_basis(each, basic, place, label, stride):
    """Choose what is eliminated, and number K's rows and columns.

    Returns their count; -1 where rows and columns are not as many, or too many.
    """
    z0_pair, capacity = each.size * stride, label.shape[1]
    columns, rows = 0, 0
    for group in range(each.size):
        first = group * stride
        local = _local_direction(each, basic, group, first, stride - 1)
        each[group]["local"] = local
        for slot in range(stride):
            pair = first + slot
            place[W, pair], place[Z, pair] = -1, -1
            eliminated = local >= 0 and (slot == stride - 1 or slot == local + 1)
            if takes_part(each, group, slot, stride) and not eliminated:
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
def _local_direction(each, basic, group, first, last):
    """The direction that can be eliminated together with lambda; -1 where none can."""
    if each[group]["included"] and basic[Z, first + last] and not basic[W, first + last]:
        for direction in range(each[group]["directions"]):
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
