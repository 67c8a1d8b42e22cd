"""The joints of an island as a problem of their own, and the factor of H = M + J_B' D J_B, of the rows B that hold."""

import math

import numpy as np

from ..compiled.kernel import subkernel
from .linear_algebra.block_cholesky import factorize
from .linear_algebra.block_lu import factorize_lu
from .linear_algebra.block_products import BLOCK, add_row
from .linear_algebra.body_graph import build_body_graph
from .linear_algebra.elimination import find_elimination
from .newton.alm_bilateral import PENALTY_BILATERAL
from .newton.alm_hessian import assemble, set_masses
from .newton.alm_system import group_rows, with_compliance


@subkernel
def find_joints(rows, islands, island, workspace, limits_hold):
    """Find the joints of an island, and how to eliminate them.

    Parameters
    ----------
    rows, islands, island
        Read.
    workspace : JointedArrays
        Written: the joints as an island of their own, with graph, elimination, and weights as of ``group_rows``.
    limits_hold : bool
        Limits that push are rows that hold.

    Returns
    -------
    bool
        Whether there is room for the factor.
    """
    part, joints, alm = workspace.part, workspace.islands, workspace.alm
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        part[rows.body_a[block]] = part[rows.body_b[block]] = -1
    blocks = 0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        holds, is_contact = False, False
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            is_contact = is_contact or rows.normal_row[row] >= 0
            holds = holds or is_bilateral(rows, row) or (limits_hold and is_pushing_limit(rows, row))
        holds = holds and not is_contact
        if holds:
            joints.block_order[blocks] = block
            blocks += 1
            part[rows.body_a[block]] = part[rows.body_b[block]] = 0
    bodies = 0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        if part[body] == 0:
            joints.body_order[bodies] = body
            bodies += 1
    joints.count[0], joints.block_first[0], joints.body_first[0] = 1, 0, 0
    joints.block_first[1], joints.body_first[1] = blocks, bodies
    graph, elimination, number = alm.graph, alm.elimination, np.int64(0)
    if not build_body_graph(rows, joints, number, graph):
        find_elimination(graph, elimination)
    if elimination.column_start[graph.count[0]] == 0 and graph.count[1] > 0:
        return False
    group_rows(rows, joints, number, alm.group, alm.by_row.weight, PENALTY_BILATERAL)
    return True


@subkernel
def factorize_joints(rows, joints, alm):
    """Factorise H = M + J_B' D J_B, where D is minus the weight of rows that have a negative one.

    Parameters
    ----------
    rows, joints
        Read; of ``find_joints``.
    alm : AlmWorkspace
        ``by_row.weight`` is read; stiffness and factor are written.
    """
    graph, elimination, number = alm.graph, alm.elimination, np.int64(0)
    _fill_stiffness(rows, joints, alm)
    assemble(rows, joints, number, alm.group, graph, elimination, alm.factor, True, alm.stiffness, alm.factored)
    factorize(graph.count[0], elimination.column_start, elimination.row, alm.factor)


@subkernel
def factorize_joints_at_end(rows, workspace):
    """Factorise H = M + K + J_B' D E_B into ``alm.asymmetric``: K is what forces change by, E what errors do."""
    joints, alm, end_jacobian = workspace.islands, workspace.alm, workspace.end_jacobian
    graph, elimination, factor, stiffness = alm.graph, alm.elimination, alm.asymmetric, alm.stiffness
    diagonal, lower, upper, position = factor.diagonal, factor.lower, factor.upper, elimination.position
    jacobian, count = rows.jacobian, graph.count[0]
    _fill_stiffness(rows, joints, alm)
    set_masses(rows, graph, position, diagonal)
    for body in range(count):
        _add_turns(diagonal, BLOCK * position[body], workspace.turn_stiffness[graph.body[body]], 0, False)
    for entry in range(BLOCK * elimination.column_start[count]):
        lower[entry] = upper[entry] = 0.0
    for index in range(joints.block_first[1]):
        block = joints.block_order[index]
        a, b = graph.local[rows.body_a[block]], graph.local[rows.body_b[block]]
        position_a = position[a] if a >= 0 else -1
        position_b = position[b] if b >= 0 else -1
        edge = graph.block_edge[index]
        target = BLOCK * elimination.edge_block[edge] if edge >= 0 else -1
        later, earlier = (6, 0) if position_b > position_a else (0, 6)
        if target >= 0:
            # what b's turns do to a, and what a's do to b; blocks above the diagonal are transposed
            of_a, of_b = (upper, lower) if position_b > position_a else (lower, upper)
            coupling = workspace.turn_coupling[block]
            _add_turns(of_a, target, coupling, 0, position_b > position_a)
            _add_turns(of_b, target, coupling, 9, position_b < position_a)
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            here, there, d = 12 * row, 12 * row + 6, 3 * row
            if not stiffness[row, 0] > 0.0:
                continue
            if a >= 0:
                add_row(diagonal, BLOCK * position_a, jacobian, here, end_jacobian, here, stiffness, d)
            if b >= 0:
                add_row(diagonal, BLOCK * position_b, jacobian, there, end_jacobian, there, stiffness, d)
            if target >= 0:
                add_row(lower, target, jacobian, here + later, end_jacobian, here + earlier, stiffness, d)
                add_row(upper, target, end_jacobian, here + later, jacobian, here + earlier, stiffness, d)
    factorize_lu(count, elimination.column_start, elimination.row, factor)


@subkernel
def _add_turns(blocks, start, matrix, first, is_transposed):
    """Add a 3 x 3 matrix, row by row, to the corner of a block's turns, column by column."""
    for row in range(3):
        for column in range(3):
            place = 6 * (3 + row) + 3 + column if is_transposed else 6 * (3 + column) + 3 + row
            blocks[start + place] += matrix[first + 3 * row + column]


@subkernel
def _fill_stiffness(rows, joints, alm):
    """D of the rows that hold."""
    weight = alm.by_row.weight
    for index in range(joints.block_first[1]):
        block = joints.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            alm.stiffness[row, 0] = 0.0
            if weight[row] < 0.0:
                _, rho = with_compliance(-weight[row], rows.compliance[row])
                alm.stiffness[row, 0] = rho


@subkernel
def is_bilateral(rows, row):
    """Whether a row holds in both directions, whatever that takes."""
    return rows.normal_row[row] < 0 and rows.lower[row] == -math.inf and rows.upper[row] == math.inf


@subkernel
def is_pushing_limit(rows, row):
    """Whether a row is that of a limit that pushes."""
    is_one_sided = rows.normal_row[row] < 0 and rows.lower[row] == 0.0 and rows.upper[row] == math.inf
    return is_one_sided and rows.impulse[row] > 0.0


@subkernel
def only_holds(rows, islands, island):
    """Whether an island has only rows that hold in both directions, and limits."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            is_limit = rows.normal_row[row] < 0 and rows.lower[row] == 0.0 and rows.upper[row] == math.inf
            if not (is_limit or is_bilateral(rows, row)):
                return False
    return True
