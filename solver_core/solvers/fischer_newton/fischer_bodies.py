"""The Newton equation of the Fischer-Newton method in the bodies' velocities: a sparse matrix, factorised directly.

Without what a unit's own impulses do to its own speeds, its equations answer a change s of its speeds by

    y = -K s,      K = [ a_0          0           ]      a = q / (p + q epsilon),   m = sum a_k d_k,   d_k directions
                       [ b mu a_0 m   V + c m m'  ]      V = sum a_k (d_k - m / A)(d_k - m / A)',      A = sum a_k
                                                         b, c by lambda's row

(other rows: K = a_0, with the compliance C_ii / W_ii on top of epsilon, and D without it). So (I + G (W S - D)) y = t,
the system of ``block_gmres``, becomes with v = M^-1 J' S y

    (M + J' S K J) v = J' S (t + K D t),      y = t + K (D t - J v).

Blocks of the matrix are 6 x 6, one for each body and each pair in touch: a stack has no fill, a wall little. It is not
symmetric, since friction follows the normal impulse but not the other way round. Where a pair sticks a is 1 / epsilon,
so y is the difference of large numbers: exact enough to precondition GMRES, which then needs one to three iterations
where a sweep needs hundreds in a high stack.

Cost: O(rows) to assemble; the factorisation as ``block_lu``. Where the factor has no room (``elimination``), or W is
explicit, the sweep is the preconditioner.
"""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import kernel, subkernel
from ..linear_algebra.block_lu import BlockLu, allocate_block_lu, factorize_lu, solve_lu
from ..linear_algebra.block_products import BLOCK, SIZE, add_contact, add_row
from ..linear_algebra.body_graph import BodyGraph, allocate_body_graph, build_body_graph
from ..linear_algebra.compact_rows import (
    own_speeds,
)
from ..linear_algebra.elimination import Elimination, allocate_elimination, find_elimination

# Places in ``BodySystem.count``: bodies, whether their factor fits, and whether there is one to solve with.
BODIES, FITS, FACTORED = range(3)


class BodySystem(NamedTuple):
    """The matrix over the bodies of an island.

    Attributes
    ----------
    count : int64 [3]
        Bodies, and two flags (``BODIES``, ``FITS``, ``FACTORED``).
    graph : BodyGraph
    elimination : Elimination
        Both kept from call to call.
    factor : BlockLu
    place : int64 [body_capacity + 1]
        Place in the order of elimination of each body of ``CompactRows``; -1 for what cannot be pushed.
    unit_block : int64 [row_capacity]
        Block off the diagonal of each unit; -1 where one of its bodies cannot be pushed.
    mass : float64 [36 body_capacity]
        M by place.
    stiffness, turned : float64 [row_capacity, 3]
        S K of each unit, and transposed.
    x : float64 [6 body_capacity]
        Right side and solution by place.
    """

    count: np.ndarray
    graph: BodyGraph
    elimination: Elimination
    factor: BlockLu
    place: np.ndarray
    unit_block: np.ndarray
    mass: np.ndarray
    stiffness: np.ndarray
    turned: np.ndarray
    x: np.ndarray


def allocate_body_system(row_capacity: int, body_capacity: int) -> BodySystem:
    """Room for this many rows and bodies."""
    return BodySystem(
        count=np.zeros(3, np.int64),
        graph=allocate_body_graph(row_capacity, body_capacity),
        elimination=allocate_elimination(row_capacity, body_capacity),
        factor=allocate_block_lu(body_capacity),
        place=np.full(body_capacity + 1, -1, np.int64),
        unit_block=np.full(row_capacity, -1, np.int64),
        mass=np.zeros(BLOCK * body_capacity),
        stiffness=np.zeros((row_capacity, 3)),
        turned=np.zeros((row_capacity, 3)),
        x=np.zeros(SIZE * body_capacity),
    )


@kernel
def order_bodies(rows, islands, island, compact, system):
    """Find who touches whom in an island, the order of elimination, and where each unit belongs.

    Parameters
    ----------
    rows, islands, island
        Read.
    compact : CompactRows
        The island's; read.
    system : BodySystem
        Written.
    """
    graph, elimination = system.graph, system.elimination
    if not build_body_graph(rows, islands, island, graph):
        system.count[FITS] = 1 if find_elimination(graph, elimination) else 0
    count, position = graph.count[0], elimination.position
    system.count[BODIES], system.count[FACTORED] = count, 0
    first = islands.body_first[island]
    for index in range(first, islands.body_first[island + 1]):
        number = graph.local[islands.body_order[index]]
        system.place[index - first] = position[number] if number >= 0 else -1
    system.place[compact.count[2]] = -1
    for number in range(count):
        mass, start = rows.body_mass[graph.body[number]], BLOCK * position[number]
        for m in range(SIZE):
            for r in range(SIZE):
                system.mass[start + SIZE * m + r] = mass[m, r]
    if system.count[FITS] == 1:
        for unit in range(compact.count[0]):
            a, b = system.place[compact.body_a[unit]], system.place[compact.body_b[unit]]
            system.unit_block[unit] = _block_of_pair(graph, elimination, a, b)


@subkernel
def _block_of_pair(graph, elimination, a, b):
    """The block of two places; -1 where one of them cannot be pushed."""
    if a < 0 or b < 0 or a == b:
        return -1
    one, other = elimination.order[a], elimination.order[b]
    edge = graph.first_edge[min(one, other)]
    while graph.high[edge] != max(one, other):
        edge = graph.next_edge[edge]
    return elimination.edge_block[edge]


@kernel
def factor_bodies(compact, first_unknown, corners, p, q, epsilon, system):
    """Assemble M + J' S K J and factorise it.

    Parameters
    ----------
    compact, first_unknown, corners
        Read.
    p, q : float64 [unknowns]
        Derivatives of the equations; read.
    epsilon : float
        Added to the diagonal of A.
    system : BodySystem
        Written.
    """
    count = system.count[BODIES]
    system.count[FACTORED] = system.count[FITS]
    if system.count[FITS] == 0:
        return
    column_start, row = system.elimination.column_start, system.elimination.row
    factor = system.factor
    for entry in range(BLOCK * count):
        factor.diagonal[entry] = system.mass[entry]
    for entry in range(BLOCK * column_start[count]):
        factor.lower[entry] = 0.0
        factor.upper[entry] = 0.0
    fill_stiffness(compact, first_unknown, corners, p, q, epsilon, system.stiffness, system.turned)
    _add_units(compact, system.place, system.unit_block, system.stiffness, system.turned, factor)
    factorize_lu(count, column_start, row, factor)


@kernel
def fill_stiffness(compact, first_unknown, corners, p, q, epsilon, stiffness, turned):
    """S K of each unit, and transposed; other rows have theirs in column 0.

    Parameters
    ----------
    compact, first_unknown, corners, p, q, epsilon
        As in ``factor_bodies``.
    stiffness, turned : float64 [rows, 3]
        Written [kg].
    """
    for unit in range(compact.count[0]):
        row, first = compact.first_row[unit], first_unknown[unit]
        scale = compact.scale[unit]
        normal = _softness(p, q, first, epsilon + compact.compliance[unit])
        if compact.friction[unit] < 0.0:
            stiffness[row, 0] = turned[row, 0] = scale * normal
            continue
        last = first_unknown[unit + 1] - 1
        total, m1, m2 = 0.0, 0.0, 0.0
        for k in range(corners.shape[0]):
            a = _softness(p, q, first + 1 + k, epsilon)
            total += a
            m1 += a * corners[k, 0]
            m2 += a * corners[k, 1]
        if not total > 0.0:
            # no direction answers any more, to the last bit
            for k in range(row, row + 3):
                for m in range(3):
                    stiffness[k, m] = turned[k, m] = 0.0
            stiffness[row, 0] = turned[row, 0] = scale * normal
            continue
        # around the mean direction, so that one large a leaves no rounding across it
        c1, c2 = m1 / total, m2 / total
        v11, v12, v22 = 0.0, 0.0, 0.0
        for k in range(corners.shape[0]):
            a = _softness(p, q, first + 1 + k, epsilon)
            d1, d2 = corners[k, 0] - c1, corners[k, 1] - c2
            v11 += a * d1 * d1
            v12 += a * d1 * d2
            v22 += a * d2 * d2
        own = p[last] + q[last] * epsilon
        divisor = own + q[last] * total
        follow, rest = compact.friction[unit] * normal * q[last] / divisor, own / (divisor * total)
        stiffness[row, 0], stiffness[row, 1], stiffness[row, 2] = scale * normal, 0.0, 0.0
        stiffness[row + 1, 0], stiffness[row + 2, 0] = scale * follow * m1, scale * follow * m2
        stiffness[row + 1, 1] = scale * (v11 + rest * m1 * m1)
        stiffness[row + 1, 2] = stiffness[row + 2, 1] = scale * (v12 + rest * m1 * m2)
        stiffness[row + 2, 2] = scale * (v22 + rest * m2 * m2)
        for k in range(3):
            for m in range(3):
                turned[row + k, m] = stiffness[row + m, k]


@subkernel
def _softness(p, q, place, epsilon):
    """a: by how much an unknown gives way to a change of its slack."""
    return q[place] / (p[place] + q[place] * epsilon)


@subkernel
def _add_units(compact, place, unit_block, stiffness, turned, factor):
    """Add J' S K J, unit by unit."""
    jacobian, diagonal, lower, upper = compact.jacobian, factor.diagonal, factor.lower, factor.upper
    for unit in range(compact.count[0]):
        row = compact.first_row[unit]
        a, b = place[compact.body_a[unit]], place[compact.body_b[unit]]
        here, there = 12 * row, 12 * row + SIZE
        target = BLOCK * unit_block[unit]
        # rows of a block below the diagonal belong to the body that is eliminated later
        later, earlier = (there, here) if b > a else (here, there)
        if compact.friction[unit] < 0.0:
            if a >= 0:
                add_row(diagonal, BLOCK * a, jacobian, here, jacobian, here, stiffness, 3 * row)
            if b >= 0:
                add_row(diagonal, BLOCK * b, jacobian, there, jacobian, there, stiffness, 3 * row)
            if target >= 0:
                add_row(lower, target, jacobian, later, jacobian, earlier, stiffness, 3 * row)
                add_row(upper, target, jacobian, later, jacobian, earlier, stiffness, 3 * row)
            continue
        # ``add_contact`` adds J_r' D' J_c where D is not symmetric
        if a >= 0:
            add_contact(diagonal, BLOCK * a, jacobian, here, jacobian, here, turned, 3 * row)
        if b >= 0:
            add_contact(diagonal, BLOCK * b, jacobian, there, jacobian, there, turned, 3 * row)
        if target >= 0:
            add_contact(lower, target, jacobian, later, jacobian, earlier, turned, 3 * row)
            add_contact(upper, target, jacobian, later, jacobian, earlier, stiffness, 3 * row)


@subkernel
def solve_through_bodies(compact, system, t, z):
    """Solve (I + G (W S - D)) z = t by the factor at hand.

    Parameters
    ----------
    compact : CompactRows
        Read.
    system : BodySystem
        Read, but for its workspace.
    t, z : float64 [rows]
        Read; written.
    """
    count, place, stiffness, x = system.count[BODIES], system.place, system.stiffness, system.x
    for entry in range(SIZE * count):
        x[entry] = 0.0
    for unit in range(compact.count[0]):
        row, end = compact.first_row[unit], compact.first_row[unit + 1]
        scale = compact.scale[unit]
        a, b = place[compact.body_a[unit]], place[compact.body_b[unit]]
        d0, d1, d2 = own_speeds(compact, unit, t)
        d0 -= compact.compliance[unit] * t[row]
        for k in range(row, end):
            push = scale * t[k] + stiffness[k, 0] * d0
            if end - row == 3:
                push += stiffness[k, 1] * d1 + stiffness[k, 2] * d2
            _spread(compact.jacobian, k, push, a, b, x)
    solve_lu(count, system.elimination.column_start, system.elimination.row, system.factor, x)
    for unit in range(compact.count[0]):
        row, end = compact.first_row[unit], compact.first_row[unit + 1]
        scale = compact.scale[unit]
        a, b = place[compact.body_a[unit]], place[compact.body_b[unit]]
        d0, d1, d2 = own_speeds(compact, unit, t)
        d0 -= compact.compliance[unit] * t[row]
        d0 -= _speed(compact.jacobian, row, a, b, x)
        if end - row == 3:
            d1 -= _speed(compact.jacobian, row + 1, a, b, x)
            d2 -= _speed(compact.jacobian, row + 2, a, b, x)
        for k in range(row, end):
            answer = stiffness[k, 0] * d0
            if end - row == 3:
                answer += stiffness[k, 1] * d1 + stiffness[k, 2] * d2
            z[k] = t[k] + answer / scale


@subkernel
def _spread(jacobian, row, push, a, b, x):
    """X += J_row' push."""
    if a >= 0:
        for column in range(SIZE):
            x[SIZE * a + column] += jacobian[row, column] * push
    if b >= 0:
        for column in range(SIZE):
            x[SIZE * b + column] += jacobian[row, SIZE + column] * push


@subkernel
def _speed(jacobian, row, a, b, x):
    """J_row x."""
    speed = 0.0
    if a >= 0:
        for column in range(SIZE):
            speed += jacobian[row, column] * x[SIZE * a + column]
    if b >= 0:
        for column in range(SIZE):
            speed += jacobian[row, SIZE + column] * x[SIZE * b + column]
    return speed
