"""What alm_newton computes from the rows: speeds, projected impulses, and the stiffness of each contact.

For row groups i (a contact's three rows, or one row) with the multiplier lambda_i, the penalty rho_i = c weight_i and
the shift s_i of contacts' normal rows

    z_i = lambda_i - rho_i (u_i + s_i n),     p_i = P(z_i),     D_i = rho_i dP(z_i),        weight_i = 1 / mean W_ii

P projects on the contact's cone (``cone``), with s = 0 it may be Coulomb's law as it stands instead, or on the constant
bounds of a row. With the compliance C of a row p itself is part of its speed, p = P(lambda - rho (u + C p)), so

    z = (lambda - rho u) / (1 + rho C),     D = rho / (1 + rho C) dP(z),                u = J v + bias without C p

and where rho C >= 1 the multiplier is left out, z = -u / C, D = dP(z) / C: that is the limit of an infinite penalty,
which is exact at once, no stiffer than the penalty of a rigid row, and takes no outer step. A friction row without the
normal row right before it (and its twin right behind) has the bound of the last multiplier of its normal row. Rows with
W_ii <= 0 keep their impulse.

All functions run over the blocks of one island and cost O(rows).
"""

import math

from ...compiled.kernel import subkernel
from ...problem.residuals import row_velocity
from ..linear_algebra.block_products import add_speeds, push
from .cone import (
    fill_cone_derivative,
    fill_coulomb_derivative,
    project_by_coulomb,
    project_impulse_on_cone,
    shift_of_slip,
)

# A contact's D counts as changed where an entry differs by more than this share of its penalty.
_RATIO_CHANGED = 0.05


@subkernel
def group_rows(rows, islands, island, group, weight, stiff):
    """Find the contacts among the rows, and weigh them.

    Parameters
    ----------
    rows, islands, island
        Read.
    group : int64 [row_capacity]
        Written: 3 at the normal row of a contact whose two friction rows follow, 1 at rows for themselves. Asking here
        once and not in each pass makes those several times faster.
    weight : float64 [row_capacity]
        Written: 1 / mean W_ii of the group, 0 where it moves nothing; - ``stiff`` / W_ii of bilateral rows.
    stiff : float
        Penalty of bilateral rows, which stays as it is; 0 where it is that of all rows.

    Returns
    -------
    tuple of (int, int)
        Groups, and single rows among them.
    """
    groups, singles = 0, 0
    diagonal, normal_row = rows.diagonal, rows.normal_row
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        while row < end:
            groups += 1
            if row + 2 < end and normal_row[row + 1] == row and normal_row[row + 2] == row:
                group[row] = 3
                total = diagonal[row] + diagonal[row + 1] + diagonal[row + 2]
                inverse = 3.0 / total if total > 0.0 else 0.0
                weight[row], weight[row + 1], weight[row + 2] = inverse, inverse, inverse
                row += 3
            else:
                group[row] = 1
                weight[row] = 1.0 / diagonal[row] if diagonal[row] > 0.0 else 0.0
                is_bilateral = normal_row[row] < 0 and rows.lower[row] == -math.inf and rows.upper[row] == math.inf
                if is_bilateral and stiff > 0.0:
                    weight[row] *= -stiff
                singles += 1
                row += 1
    return groups, singles


@subkernel
def penalty_of(penalty, weight):
    """rho of a row [kg].

    Parameters
    ----------
    penalty : float
        c.
    weight : float
        Of ``RowVectors``.
    """
    return penalty * weight if weight >= 0.0 else -weight


@subkernel
def measure_speeds(rows, islands, island, group, velocity, with_bias, speed):
    """``speed`` = J v + with_bias * bias.

    Parameters
    ----------
    rows, islands, island
        Read.
    group : int64 [row_capacity]
        Read; of ``group_rows``.
    velocity : float64 [body_count, 6]
        Read.
    with_bias : float
        1 or 0.
    speed : float64 [row_capacity]
        Written [m/s].
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        while row < end:
            if group[row] == 3:
                for k in range(row, row + 3):
                    speed[k] = with_bias * rows.bias[k]
                add_speeds(speed, row, rows.jacobian, 12 * row, velocity, 6 * a, velocity, 6 * b)
                row += 3
            else:
                speed[row] = row_velocity(rows.jacobian, row, with_bias * rows.bias[row], velocity, a, b)
                row += 1


@subkernel
def set_velocities(rows, islands, island, group, free_velocity, velocity):
    """``velocity`` = v_free + M^-1 J' r, to the bits of ``sweep.apply_impulses``, which takes three times as long.

    Parameters
    ----------
    rows, islands, island
        Read.
    group : int64 [row_capacity]
        Read; of ``group_rows``.
    free_velocity, velocity : float64 [body_count, 6]
        Read; written.
    """
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for column in range(6):
            velocity[body, column] = free_velocity[body, column]
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        while row < end:
            if group[row] == 3:
                push(velocity, 6 * a, rows.response, 12 * row, rows.impulse, row)
                push(velocity, 6 * b, rows.response, 12 * row + 6, rows.impulse, row)
            else:
                for column in range(6):
                    velocity[a, column] += rows.response[row, column] * rows.impulse[row]
                    velocity[b, column] += rows.response[row, 6 + column] * rows.impulse[row]
            row += group[row]


@subkernel
def shift_contacts(rows, islands, island, group, model, speed, shift):
    """De Saxce's shift of each contact, at its normal row; returns the largest change [m/s].

    Parameters
    ----------
    rows, islands, island
        Read.
    group : int64 [row_capacity]
        Read; of ``group_rows``.
    model : int
        BOX_FRICTION, else the cone.
    speed, shift : float64 [row_capacity]
        Read; written [m/s].
    """
    largest = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        while row < end:
            if group[row] == 3:
                value = shift_of_slip(model, rows.friction[row + 1], speed[row + 1], speed[row + 2])
                largest = max(largest, abs(value - shift[row]))
                shift[row] = value
                row += 3
            else:
                row += 1
    return largest


@subkernel
def settle_speeds(rows, islands, island, group, noise, multiplier, speed):
    """Speeds of contacts that go with their impulses: up to ``noise`` none where one pushes, else that of opening.

    Likewise of rows with constant bounds: none between the bounds, else the speed that keeps the impulse at its bound.

    Parameters
    ----------
    rows, islands, island
        Read.
    group : int64 [row_capacity]
        Read; of ``group_rows``.
    noise : float
        [m/s]
    multiplier, speed : float64 [row_capacity]
        Read; read and written.
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        while row < end:
            if group[row] == 3:
                if multiplier[row] > 0.0:
                    if abs(speed[row]) <= noise:
                        speed[row] = 0.0
                    if math.hypot(speed[row + 1], speed[row + 2]) <= noise:
                        speed[row + 1], speed[row + 2] = 0.0, 0.0
                elif speed[row] >= -noise:
                    speed[row], speed[row + 1], speed[row + 2] = max(speed[row], noise), 0.0, 0.0
            elif rows.lower[row] == -math.inf and rows.upper[row] == math.inf:
                pass
            elif multiplier[row] <= rows.lower[row]:
                if speed[row] >= -noise:
                    speed[row] = max(speed[row], noise)
            elif multiplier[row] >= rows.upper[row]:
                if speed[row] <= noise:
                    speed[row] = min(speed[row], -noise)
            elif abs(speed[row]) <= noise and (rows.lower[row] > -math.inf or rows.upper[row] < math.inf):
                speed[row] = 0.0
            row += group[row]


@subkernel
def subtract_stiffness(block_row, islands, island, group, stiffness, speed, origin, impulse):
    """``impulse`` -= D (speed - origin).

    Parameters
    ----------
    block_row, islands, island
        Read.
    group : int64 [row_capacity]
        Read; of ``group_rows``.
    stiffness : float64 [row_capacity, 3]
        Read.
    speed, origin, impulse : float64 [row_capacity]
        Read; read; written.
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        row, end = block_row[block], block_row[block + 1]
        while row < end:
            if group[row] == 3:
                u0, u1, u2 = (
                    speed[row] - origin[row],
                    speed[row + 1] - origin[row + 1],
                    speed[row + 2] - origin[row + 2],
                )
                for k in range(row, row + 3):
                    impulse[k] -= stiffness[k, 0] * u0 + stiffness[k, 1] * u1 + stiffness[k, 2] * u2
            elif speed[row] != origin[row]:
                impulse[row] -= stiffness[row, 0] * (speed[row] - origin[row])
            row += group[row]


@subkernel
def project_rows(rows, islands, island, group, model, slip, penalty, by_row, step, projected):
    """p at v + step * direction.

    Parameters
    ----------
    rows, islands, island
        Read.
    group : int64 [row_capacity]
        Read; of ``group_rows``, as in the functions below.
    model : int
        BOX_FRICTION, else the cone.
    slip : float
        0 projects contacts on their cone, 1 takes the law as it stands (a number: Numba compiles a constant bool anew).
    penalty : float
        c.
    by_row : RowVectors
        Read: multiplier, weight, shift, speed, and its change along the direction.
    step : float
    projected : float64 [row_capacity]
        Written.

    Returns
    -------
    float
        (projected - rows.impulse) . change of speed: minus this is what p adds to the slope of the energy.
    """
    multiplier, weight, shift = by_row.multiplier, by_row.weight, by_row.shift
    speed, change = by_row.speed, by_row.change
    total = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        while row < end:
            rho = penalty * weight[row]
            if group[row] == 3:
                z0 = multiplier[row] - rho * (speed[row] + step * change[row])
                z1 = multiplier[row + 1] - rho * (speed[row + 1] + step * change[row + 1])
                z2 = multiplier[row + 2] - rho * (speed[row + 2] + step * change[row + 2])
                if slip > 0.0:
                    p0, p1, p2 = project_by_coulomb(model, rows.friction[row + 1], z0, z1, z2)
                else:
                    z0 -= rho * shift[row]
                    p0, p1, p2 = project_impulse_on_cone(model, rows.friction[row + 1], z0, z1, z2)
                total += (
                    (p0 - rows.impulse[row]) * change[row]
                    + (p1 - rows.impulse[row + 1]) * change[row + 1]
                    + (p2 - rows.impulse[row + 2]) * change[row + 2]
                )
                projected[row], projected[row + 1], projected[row + 2] = p0, p1, p2
                row += 3
            else:
                lower, upper = _bounds(rows.normal_row, rows.friction, rows.lower, rows.upper, multiplier, row)
                share, rho = with_compliance(penalty_of(penalty, weight[row]), rows.compliance[row])
                z0 = share * multiplier[row] - rho * (speed[row] + step * change[row])
                p0 = min(upper, max(lower, z0)) if rho > 0.0 else multiplier[row]
                total += (p0 - rows.impulse[row]) * change[row]
                projected[row] = p0
                row += 1
    return total


@subkernel
def with_compliance(rho, compliance):
    """A row's factor on its multiplier and on its speed, z = factor lambda - penalty u.

    Parameters
    ----------
    rho : float
        Penalty [kg].
    compliance : float
        [1/kg]

    Returns
    -------
    tuple of (float, float)
        1 and ``rho`` without compliance; 0 and 1 / compliance where the penalty is above that.
    """
    if rho * compliance >= 1.0:
        return 0.0, 1.0 / compliance
    factor = 1.0 / (1.0 + rho * compliance)
    return factor, factor * rho


@subkernel
def _bounds(normal_row, friction, lower, upper, multiplier, row):
    """Bounds of a row that is no contact's."""
    if normal_row[row] < 0:
        return lower[row], upper[row]
    bound = friction[row] * max(multiplier[normal_row[row]], 0.0)
    return -bound, bound


@subkernel
def fill_stiffness(rows, islands, island, group, model, penalty, by_row, factored, stiffness):
    """D of each group at the present speeds; single rows have theirs in column 0.

    Parameters
    ----------
    rows, islands, island, group, model, penalty, by_row
        As in ``project_rows``.
    factored : float64 [row_capacity, 3]
        Read: D as it was factorised.
    stiffness : float64 [row_capacity, 3]
        Written.

    Returns
    -------
    changed : int
        Groups of which D is not as it was factorised.
    largest : float
        Largest change of an entry, relative to its penalty.
    """
    multiplier, weight, shift, speed = by_row.multiplier, by_row.weight, by_row.shift, by_row.speed
    changed = 0
    largest = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        while row < end:
            rho = penalty * weight[row]
            difference = 0.0
            size = 1
            if group[row] == 3:
                size = 3
                z0 = multiplier[row] - rho * (speed[row] + shift[row])
                z1 = multiplier[row + 1] - rho * speed[row + 1]
                z2 = multiplier[row + 2] - rho * speed[row + 2]
                fill_cone_derivative(model, rows.friction[row + 1], z0, z1, z2, rho, stiffness, row)
                for k in range(row, row + 3):
                    for m in range(3):
                        difference = max(difference, abs(stiffness[k, m] - factored[k, m]))
            else:
                lower, upper = _bounds(rows.normal_row, rows.friction, rows.lower, rows.upper, multiplier, row)
                share, rho = with_compliance(penalty_of(penalty, weight[row]), rows.compliance[row])
                z0 = share * multiplier[row] - rho * speed[row]
                stiffness[row, 0] = rho if lower <= z0 <= upper and lower < upper else 0.0
                difference = abs(stiffness[row, 0] - factored[row, 0])
            if difference > _RATIO_CHANGED * rho:
                changed += 1
            if difference > largest * rho:
                largest = difference / rho
            row += size
    return changed, largest


@subkernel
def fill_slip_stiffness(rows, islands, island, group, model, penalty, by_row, stiffness):
    """D of the contacts by the law as it stands, over what ``fill_stiffness`` left; returns whether any slides.

    Parameters
    ----------
    rows, islands, island, group, model, penalty, by_row
        As in ``project_rows``.
    stiffness : float64 [row_capacity, 3]
        Written.
    """
    multiplier, weight, speed = by_row.multiplier, by_row.weight, by_row.speed
    any_slides = False
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        while row < end:
            if group[row] == 3:
                rho = penalty * weight[row]
                z0 = multiplier[row] - rho * speed[row]
                z1 = multiplier[row + 1] - rho * speed[row + 1]
                z2 = multiplier[row + 2] - rho * speed[row + 2]
                slides = fill_coulomb_derivative(model, rows.friction[row + 1], z0, z1, z2, rho, stiffness, row)
                any_slides = any_slides or slides
            row += group[row]
    return any_slides


@subkernel
def largest_term(rows, islands, island, velocity):
    """Largest sum of |J_k v_k| of a row that pushes: what its speed is the rounded difference of [m/s].

    Parameters
    ----------
    rows, islands, island
        Read.
    velocity : float64 [body_count, 6]
        Read.
    """
    largest = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if rows.impulse[row] != 0.0:
                total = 0.0
                for column in range(6):
                    total += abs(rows.jacobian[row, column] * velocity[a, column])
                    total += abs(rows.jacobian[row, 6 + column] * velocity[b, column])
                largest = max(largest, total)
    return largest


@subkernel
def largest_speed(rows, islands, island, velocity):
    """As ``largest_term``, of all rows.

    Parameters
    ----------
    rows, islands, island
        Read.
    velocity : float64 [body_count, 6]
        Read.
    """
    largest = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            total = 0.0
            for column in range(6):
                total += abs(rows.jacobian[row, column] * velocity[a, column])
                total += abs(rows.jacobian[row, 6 + column] * velocity[b, column])
            largest = max(largest, total)
    return largest


@subkernel
def gap_of_multipliers(rows, islands, island, penalty, by_row):
    """sqrt(sum |lambda - p|^2 / rho) [sqrt(J)]: by how much the outer step has moved.

    Without rows that need no lambda.

    Parameters
    ----------
    rows, islands, island
        Read; ``impulse`` holds p.
    penalty : float
        c.
    by_row : RowVectors
        Read.
    """
    multiplier, weight = by_row.multiplier, by_row.weight
    total = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rho = penalty_of(penalty, weight[row])
            if rho > 0.0 and rho * rows.compliance[row] < 1.0:
                total += (multiplier[row] - rows.impulse[row]) ** 2 / rho
    return math.sqrt(total)
