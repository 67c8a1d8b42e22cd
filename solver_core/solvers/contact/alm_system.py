"""What alm_newton asks of the rows: projected impulses, the stiffness of each contact, and H = M + J' D J.

For row groups i (a contact's three rows, or one row) with the multiplier lambda_i, the penalty rho_i = c weight_i and
the shift s_i of contacts' normal rows

    z_i = lambda_i - rho_i (u_i + s_i n),     p_i = P(z_i),     D_i = rho_i dP(z_i),        weight_i = 1 / mean W_ii

P projects on the contact's cone (``cone``), with s = 0 it may be Coulomb's law as it stands instead, or on the constant
bounds of a row. A friction row without the normal row
right before it (and its twin right behind) has the bound of the last multiplier of its normal row. Rows with W_ii <= 0
keep their impulse.

All functions run over the blocks of one island and cost O(rows).
"""

import math

from ...kernel import subkernel
from ...residuals import row_velocity
from .block_products import add_contact, add_row, add_speeds, push
from .cone import (
    fill_cone_derivative,
    fill_coulomb_derivative,
    project_by_coulomb,
    project_impulse_on_cone,
    shift_of_slip,
)

_BLOCK = 36
# A contact's D counts as changed where an entry differs by more than this share of its penalty.
_RATIO_CHANGED = 0.05


@subkernel
def group_rows(rows, islands, island, group, weight):
    """Find the contacts among the rows, and weigh them.

    Parameters
    ----------
    rows, islands, island
        Read.
    group : int64 [row_capacity]
        Written: 3 at the normal row of a contact whose two friction rows follow, 1 at rows for themselves. Asking here
        once and not in each pass makes those several times faster.
    weight : float64 [row_capacity]
        Written: 1 / mean W_ii of the group, 0 where it moves nothing.

    Returns
    -------
    int
        Groups.
    """
    groups = 0
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
                row += 1
    return groups


@subkernel
def measure_speeds(rows, islands, island, group, velocity, with_bias, speed):
    """``speed`` = J v + with_bias * bias."""
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
    """``velocity`` = v_free + M^-1 J' r, to the bits of ``sweep.apply_impulses``, which takes three times as long."""
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
    """De Saxce's shift of each contact, at its normal row; returns the largest change [m/s]."""
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
                shift[row] = 0.0
                row += 1
    return largest


@subkernel
def settle_speeds(block_row, islands, island, group, noise, multiplier, speed):
    """Speeds of contacts that go with their impulses: up to ``noise`` none where one pushes, else that of opening."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        row, end = block_row[block], block_row[block + 1]
        while row < end:
            if group[row] == 3:
                if multiplier[row] > 0.0:
                    if abs(speed[row]) <= noise:
                        speed[row] = 0.0
                    if math.hypot(speed[row + 1], speed[row + 2]) <= noise:
                        speed[row + 1], speed[row + 2] = 0.0, 0.0
                elif speed[row] >= -noise:
                    speed[row], speed[row + 1], speed[row + 2] = max(speed[row], noise), 0.0, 0.0
            row += group[row]


@subkernel
def subtract_stiffness(block_row, islands, island, group, stiffness, speed, origin, impulse):
    """``impulse`` -= D (speed - origin) of the contacts; other rows have both the same."""
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
            row += group[row]


@subkernel
def project_rows(rows, islands, island, group, model, slip, penalty, arrays, step, projected):
    """p at v + step * direction.

    Parameters
    ----------
    rows, islands, island
        Read.
    group : int64 [row_capacity]
        Read; of ``group_rows``, as in the functions below.
    model : int
        BOX, else the cone.
    slip : float
        0 projects contacts on their cone, 1 takes the law as it stands (a number: Numba compiles a constant bool anew).
    penalty : float
        c.
    arrays : tuple of float64 [row_capacity]
        Read: multiplier, weight, shift, speed, change of speed along the direction.
    step : float
    projected : float64 [row_capacity]
        Written.

    Returns
    -------
    float
        (projected - rows.impulse) . change of speed: minus this is what p adds to the slope of the energy.
    """
    multiplier, weight, shift, speed, change = arrays
    total = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        while row < end:
            rho = penalty * weight[row]
            z0 = multiplier[row] - rho * (speed[row] + step * change[row])
            if group[row] == 3:
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
                p0 = min(upper, max(lower, z0)) if rho > 0.0 else multiplier[row]
                total += (p0 - rows.impulse[row]) * change[row]
                projected[row] = p0
                row += 1
    return total


@subkernel
def _bounds(normal_row, friction, lower, upper, multiplier, row):
    """Bounds of a row that is no contact's."""
    if normal_row[row] < 0:
        return lower[row], upper[row]
    bound = friction[row] * max(multiplier[normal_row[row]], 0.0)
    return -bound, bound


@subkernel
def fill_stiffness(rows, islands, island, group, model, penalty, arrays, factored, stiffness):
    """D of each group at the present speeds; single rows have theirs in column 0.

    Parameters
    ----------
    rows, islands, island, group, model, penalty, arrays
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
    multiplier, weight, shift, speed, _ = arrays
    changed = 0
    largest = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        while row < end:
            rho = penalty * weight[row]
            z0 = multiplier[row] - rho * (speed[row] + shift[row])
            difference = 0.0
            size = 1
            if group[row] == 3:
                size = 3
                z1 = multiplier[row + 1] - rho * speed[row + 1]
                z2 = multiplier[row + 2] - rho * speed[row + 2]
                fill_cone_derivative(model, rows.friction[row + 1], z0, z1, z2, rho, stiffness, row)
                for k in range(row, row + 3):
                    for m in range(3):
                        difference = max(difference, abs(stiffness[k, m] - factored[k, m]))
            else:
                lower, upper = _bounds(rows.normal_row, rows.friction, rows.lower, rows.upper, multiplier, row)
                stiffness[row, 0] = rho if lower <= z0 <= upper and lower < upper else 0.0
                difference = abs(stiffness[row, 0] - factored[row, 0])
            if difference > _RATIO_CHANGED * rho:
                changed += 1
            if difference > largest * rho:
                largest = difference / rho
            row += size
    return changed, largest


@subkernel
def fill_slip_stiffness(rows, islands, island, group, model, penalty, arrays, stiffness):
    """D of the contacts by the law as it stands, over what ``fill_stiffness`` left; returns whether any slides."""
    multiplier, weight, _, speed, _ = arrays
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
    """Largest sum of |J_k v_k| of a row that pushes: what its speed is the rounded difference of [m/s]."""
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
def assemble(rows, islands, island, group, graph, elimination, factor, whole, stiffness, factored):
    """H into ``factor``, and D into ``factored``.

    Parameters
    ----------
    rows, islands, island, group, graph, elimination
        Read.
    factor : BlockFactor
        Written.
    whole : bool
        False leaves the blocks off the diagonal out.
    stiffness, factored : float64 [row_capacity, 3]
        D, read; its copy, written.
    """
    diagonal, blocks, position = factor.diagonal, factor.blocks, elimination.position
    jacobian = rows.jacobian
    count = graph.count[0]
    for body in range(count):
        start = _BLOCK * position[body]
        mass = rows.body_mass[graph.body[body]]
        for m in range(6):
            for r in range(6):
                diagonal[start + 6 * m + r] = mass[m, r]
    for entry in range(_BLOCK * elimination.column_start[count]):
        blocks[entry] = 0.0
    first = islands.block_first[island]
    for index in range(first, islands.block_first[island + 1]):
        block = islands.block_order[index]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        a, b = graph.local[rows.body_a[block]], graph.local[rows.body_b[block]]
        position_a = position[a] if a >= 0 else -1
        position_b = position[b] if b >= 0 else -1
        edge = graph.block_edge[index - first]
        target = _BLOCK * elimination.edge_block[edge] if whole and edge >= 0 else -1
        # columns of the later body are the rows of the block off the diagonal
        later, earlier = (6, 0) if position_b > position_a else (0, 6)
        while row < end:
            here = 12 * row
            if group[row] == 3:
                for k in range(row, row + 3):
                    for m in range(3):
                        factored[k, m] = stiffness[k, m]
                # D = 0 where the normal entry is: the contact is open
                if stiffness[row, 0] > 0.0:
                    if a >= 0:
                        add_contact(diagonal, _BLOCK * position_a, jacobian, here, jacobian, here, stiffness, 3 * row)
                    if b >= 0:
                        place = here + 6
                        add_contact(diagonal, _BLOCK * position_b, jacobian, place, jacobian, place, stiffness, 3 * row)
                    if target >= 0:
                        add_contact(
                            blocks, target, jacobian, here + later, jacobian, here + earlier, stiffness, 3 * row
                        )
                row += 3
            else:
                factored[row, 0] = stiffness[row, 0]
                if stiffness[row, 0] > 0.0:
                    if a >= 0:
                        add_row(diagonal, _BLOCK * position_a, jacobian, here, jacobian, here, stiffness, 3 * row)
                    if b >= 0:
                        place = here + 6
                        add_row(diagonal, _BLOCK * position_b, jacobian, place, jacobian, place, stiffness, 3 * row)
                    if target >= 0:
                        add_row(blocks, target, jacobian, here + later, jacobian, here + earlier, stiffness, 3 * row)
                row += 1


@subkernel
def multiply_mass(bodies, body_mass, vector, product):
    """product = M vector on these bodies."""
    for body in bodies:
        mass = body_mass[body]
        for m in range(6):
            total = 0.0
            for r in range(6):
                total += mass[m, r] * vector[body, r]
            product[body, m] = total


@subkernel
def multiply_hessian(rows, islands, island, group, graph, stiffness, vector, product):
    """product = (M + J' D J) vector on the graph's bodies; ``vector`` is zero on others, D may be asymmetric."""
    multiply_mass(graph.body[: graph.count[0]], rows.body_mass, vector, product)
    jacobian = rows.jacobian
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        a, b = rows.body_a[block], rows.body_b[block]
        pushed_a, pushed_b = graph.local[a] >= 0, graph.local[b] >= 0
        while row < end:
            size = group[row]
            if stiffness[row, 0] > 0.0:
                u0 = row_velocity(jacobian, row, 0.0, vector, a, b)
                if size == 3:
                    u1 = row_velocity(jacobian, row + 1, 0.0, vector, a, b)
                    u2 = row_velocity(jacobian, row + 2, 0.0, vector, a, b)
                    for k in range(row, row + 3):
                        force = stiffness[k, 0] * u0 + stiffness[k, 1] * u1 + stiffness[k, 2] * u2
                        _push(jacobian, k, force, product, a, b, pushed_a, pushed_b)
                else:
                    _push(jacobian, row, stiffness[row, 0] * u0, product, a, b, pushed_a, pushed_b)
            row += size


@subkernel
def _push(jacobian, row, force, product, a, b, pushed_a, pushed_b):
    """product += J_row' force."""
    if pushed_a:
        for column in range(6):
            product[a, column] += jacobian[row, column] * force
    if pushed_b:
        for column in range(6):
            product[b, column] += jacobian[row, 6 + column] * force


@subkernel
def gap_of_multipliers(block_row, islands, island, penalty, weight, multiplier, impulse):
    """sqrt(sum |lambda - p|^2 / rho) [sqrt(J)]: by how much the outer step has moved."""
    total = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(block_row[block], block_row[block + 1]):
            if weight[row] > 0.0:
                total += (multiplier[row] - impulse[row]) ** 2 / (penalty * weight[row])
    return math.sqrt(total)


@subkernel
def copy_impulses(block_row, islands, island, source, target):
    """Copy a row array on the rows of an island."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(block_row[block], block_row[block + 1]):
            target[row] = source[row]


@subkernel
def dot_bodies(bodies, one, other):
    """Scalar product of two velocities on these bodies."""
    total = 0.0
    for body in bodies:
        for column in range(6):
            total += one[body, column] * other[body, column]
    return total
