"""The matrix of alm_newton's Newton steps, H = M + J' D J: its assembly, and products with it and with M.

D is that of ``alm_system.fill_stiffness``, block by block: 3 x 3 for a contact, one number for another row. All
functions cost O(rows).
"""

from ...compiled.kernel import subkernel
from ...problem.residuals import row_velocity
from ..linear_algebra.block_products import BLOCK, add_contact, add_row


@subkernel
def set_masses(rows, graph, position, diagonal):
    """M into the blocks of the diagonal.

    Parameters
    ----------
    rows, graph
        Read.
    position : int64 [body_capacity]
        Of ``Elimination``; read.
    diagonal : float64 [36 body_capacity]
        Written.
    """
    for body in range(graph.count[0]):
        start = BLOCK * position[body]
        mass = rows.body_mass[graph.body[body]]
        for m in range(6):
            for r in range(6):
                diagonal[start + 6 * m + r] = mass[m, r]


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
    set_masses(rows, graph, position, diagonal)
    for entry in range(BLOCK * elimination.column_start[count]):
        blocks[entry] = 0.0
    first = islands.block_first[island]
    for index in range(first, islands.block_first[island + 1]):
        block = islands.block_order[index]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        a, b = graph.local[rows.body_a[block]], graph.local[rows.body_b[block]]
        position_a = position[a] if a >= 0 else -1
        position_b = position[b] if b >= 0 else -1
        edge = graph.block_edge[index - first]
        target = BLOCK * elimination.edge_block[edge] if whole and edge >= 0 else -1
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
                        add_contact(diagonal, BLOCK * position_a, jacobian, here, jacobian, here, stiffness, 3 * row)
                    if b >= 0:
                        place = here + 6
                        add_contact(diagonal, BLOCK * position_b, jacobian, place, jacobian, place, stiffness, 3 * row)
                    if target >= 0:
                        add_contact(
                            blocks, target, jacobian, here + later, jacobian, here + earlier, stiffness, 3 * row
                        )
                row += 3
            else:
                factored[row, 0] = stiffness[row, 0]
                if stiffness[row, 0] > 0.0:
                    if a >= 0:
                        add_row(diagonal, BLOCK * position_a, jacobian, here, jacobian, here, stiffness, 3 * row)
                    if b >= 0:
                        place = here + 6
                        add_row(diagonal, BLOCK * position_b, jacobian, place, jacobian, place, stiffness, 3 * row)
                    if target >= 0:
                        add_row(blocks, target, jacobian, here + later, jacobian, here + earlier, stiffness, 3 * row)
                row += 1


@subkernel
def assemble_asymmetric(rows, islands, island, group, graph, elimination, factor, stiffness, turned):
    """H of an asymmetric D into ``factor``, to be factorised by ``block_lu``.

    Parameters
    ----------
    rows, islands, island, group, graph, elimination
        Read.
    factor : BlockLu
        Written.
    stiffness, turned : float64 [row_capacity, 3]
        D, read; D' of each contact, written.
    """
    diagonal, lower, upper, position = factor.diagonal, factor.lower, factor.upper, elimination.position
    jacobian = rows.jacobian
    count = graph.count[0]
    set_masses(rows, graph, position, diagonal)
    for entry in range(BLOCK * elimination.column_start[count]):
        lower[entry] = 0.0
        upper[entry] = 0.0
    first = islands.block_first[island]
    for index in range(first, islands.block_first[island + 1]):
        block = islands.block_order[index]
        row, end = rows.block_row[block], rows.block_row[block + 1]
        a, b = graph.local[rows.body_a[block]], graph.local[rows.body_b[block]]
        position_a = position[a] if a >= 0 else -1
        position_b = position[b] if b >= 0 else -1
        edge = graph.block_edge[index - first]
        target = BLOCK * elimination.edge_block[edge] if edge >= 0 else -1
        later, earlier = (6, 0) if position_b > position_a else (0, 6)
        while row < end:
            here, there = 12 * row, 12 * row + 6
            size = group[row]
            if stiffness[row, 0] > 0.0 and size == 3:
                for k in range(3):
                    for m in range(3):
                        turned[row + k, m] = stiffness[row + m, k]
                # ``add_contact`` adds J_r' D' J_c where D is not symmetric
                if a >= 0:
                    add_contact(diagonal, BLOCK * position_a, jacobian, here, jacobian, here, turned, 3 * row)
                if b >= 0:
                    add_contact(diagonal, BLOCK * position_b, jacobian, there, jacobian, there, turned, 3 * row)
                if target >= 0:
                    add_contact(lower, target, jacobian, here + later, jacobian, here + earlier, turned, 3 * row)
                    add_contact(upper, target, jacobian, here + later, jacobian, here + earlier, stiffness, 3 * row)
            elif stiffness[row, 0] > 0.0:
                if a >= 0:
                    add_row(diagonal, BLOCK * position_a, jacobian, here, jacobian, here, stiffness, 3 * row)
                if b >= 0:
                    add_row(diagonal, BLOCK * position_b, jacobian, there, jacobian, there, stiffness, 3 * row)
                if target >= 0:
                    add_row(lower, target, jacobian, here + later, jacobian, here + earlier, stiffness, 3 * row)
                    add_row(upper, target, jacobian, here + later, jacobian, here + earlier, stiffness, 3 * row)
            row += size


@subkernel
def multiply_mass(bodies, body_mass, vector, product):
    """product = M vector on these bodies.

    Parameters
    ----------
    bodies : int64 [any]
        Read.
    body_mass : float64 [body_capacity, 6, 6]
        Read.
    vector, product : float64 [body_capacity, 6]
        Read; written.
    """
    for body in bodies:
        mass = body_mass[body]
        for m in range(6):
            total = 0.0
            for r in range(6):
                total += mass[m, r] * vector[body, r]
            product[body, m] = total


@subkernel
def multiply_hessian(rows, islands, island, group, graph, stiffness, vector, product):
    """product = (M + J' D J) vector on the graph's bodies; ``vector`` is zero on others, D may be asymmetric.

    Parameters
    ----------
    rows, islands, island
        Read.
    group : int64 [row_capacity]
        Read; of ``group_rows``.
    graph : BodyGraph
        Read.
    stiffness : float64 [row_capacity, 3]
        D (read).
    vector, product : float64 [body_capacity, 6]
        Read; written.
    """
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
def dot_bodies(bodies, one, other):
    """Scalar product of two velocities on these bodies."""
    total = 0.0
    for body in bodies:
        for column in range(6):
            total += one[body, column] * other[body, column]
    return total
