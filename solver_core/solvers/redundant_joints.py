"""The impulses of redundant joints, made unique: those of the least norm that do the same to the bodies.

Rows B that hold may bear any n with J_B' n = 0 against each other, which no body notices. With f = J_B' r, what they do
to bodies,

    r* = D J_B (J_B' D J_B)^+ f

has the least norm in D^-1. It depends on J_B, D and f alone, so neither on the order of joints nor on the impulses that
a solve began with. D_i = c / (1 / m_a + 1 / m_b) is the same for all rows of two bodies (those of angles being times
the joint's size), so what joints bear is what equal springs in their places would: three bolts in a row a third each,
where 1 / W_ii would give the one in the middle more. With H = M + J_B' D J_B of ``joint_factor``

    r <- r + D J_B H^-1 (f - J_B' r),    from r = 0,

leaves the share 1 / (1 + rho lambda) of it in each round, of a part that moves bodies by lambda.
"""

import numpy as np

from ..compiled.kernel import subkernel
from .joint_factor import factorize_joints, find_joints, is_bilateral
from .newton.alm_bilateral import PENALTY_BILATERAL
from .newton.alm_linear import solve_with_factor
from .newton.alm_system import measure_speeds, with_compliance

# Rounds at most. The impulses are found where the last one has added less than this share of the largest, in speeds.
_MOST_ROUNDS, _RATIO_LAST = 4, 1e-6


@subkernel
def may_be_redundant(rows, islands, island, parent):
    """Whether joints of an island close a loop, the world being one body: else no row depends on others.

    Parameters
    ----------
    rows, islands, island
        Read.
    parent : int64 [body_count]
        Written: of a forest of bodies; -1 at those that hang on the world.
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        parent[rows.body_a[block]], parent[rows.body_b[block]] = rows.body_a[block], rows.body_b[block]
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if not _holds(rows, block):
            continue
        a, b = rows.body_a[block], rows.body_b[block]
        root_a, root_b = _root(rows, parent, a), _root(rows, parent, b)
        if a == b:
            root_b = np.int64(-1)
        if root_a == root_b:
            return True
        if root_a >= 0:
            parent[root_a] = root_b
        else:
            parent[root_b] = root_a
    return False


@subkernel
def _holds(rows, block):
    """Whether a block is that of a joint that holds something."""
    holds = False
    for row in range(rows.block_row[block], rows.block_row[block + 1]):
        holds = holds or is_bilateral(rows, row)
    return holds


@subkernel
def _root(rows, parent, body):
    """The root of a body's tree; -1 for the world's."""
    if rows.body_mass[body, 0, 0] <= 0.0:
        return np.int64(-1)
    while parent[body] >= 0 and parent[body] != body:
        above = parent[body]
        if parent[above] >= 0:
            # halves the way of those that come later
            parent[body] = parent[above]
        body = above
    return body if parent[body] >= 0 else np.int64(-1)


@subkernel
def find_least_impulses(rows, islands, island, workspace, impulse, stiffness, first_row):
    """Find the impulses r* for the rows of an island that hold.

    Parameters
    ----------
    rows, islands, island
        Read.
    workspace : JointedArrays
        Written: ``islands`` and ``alm``, the joints found; there ``by_row.shift`` to r* - r [N s], in rows that hold
        (those with ``by_row.weight`` < 0).
    impulse : float64 [row_capacity]
        r, of all rows of joints (read).
    stiffness : float64 [joint_row_count or 0]
        By how much D_i is larger than is said above, of the rows from ``first_row`` on (read); empty: nowhere.
    first_row : int64

    Returns
    -------
    bool
        Whether they were found; else ``shift`` means nothing.
    """
    if not find_joints(rows, islands, island, workspace, False):
        return False
    joints, alm, number = workspace.islands, workspace.alm, np.int64(0)
    _weigh_rows(rows, joints, stiffness, first_row, alm.by_row.weight)
    factorize_joints(rows, joints, alm)
    by_row, by_body = alm.by_row, alm.by_body
    weight, diagonal, shift = by_row.weight, rows.diagonal, by_row.shift
    bodies = alm.graph.body[: alm.graph.count[0]]
    for index in range(joints.block_first[1]):
        block = joints.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            shift[row] = -impulse[row]
    for _ in range(_MOST_ROUNDS):
        _gather_shift(rows, joints, bodies, alm)
        solve_with_factor(bodies, alm)
        measure_speeds(rows, joints, number, alm.group, by_body.direction, 0.0, by_row.change)
        largest, added = 0.0, 0.0
        for index in range(joints.block_first[1]):
            block = joints.block_order[index]
            for row in range(rows.block_row[block], rows.block_row[block + 1]):
                if weight[row] < 0.0:
                    _, rho = with_compliance(-weight[row], rows.compliance[row])
                    more = rho * by_row.change[row]
                    shift[row] += more
                    largest = max(largest, diagonal[row] * abs(impulse[row] + shift[row]))
                    added = max(added, diagonal[row] * abs(more))
        if added <= _RATIO_LAST * largest:
            return True
    return False


@subkernel
def _weigh_rows(rows, joints, stiffness, first_row, weight):
    """Let D be the same for all rows of two bodies that hold."""
    for index in range(joints.block_first[1]):
        block = joints.block_order[index]
        mass_a, mass_b = rows.body_mass[rows.body_a[block], 0, 0], rows.body_mass[rows.body_b[block], 0, 0]
        inverse = (1.0 / mass_a if mass_a > 0.0 else 0.0) + (1.0 / mass_b if mass_b > 0.0 else 0.0)
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if weight[row] < 0.0:
                weight[row] = -PENALTY_BILATERAL / inverse
                if stiffness.shape[0] > 0:
                    weight[row] *= stiffness[row - first_row]


@subkernel
def _gather_shift(rows, joints, bodies, alm):
    """The gradient J_B' (r* - r) of what is found so far: what bodies still lack, with the other sign."""
    weight, shift, gradient, local = alm.by_row.weight, alm.by_row.shift, alm.by_body.gradient, alm.graph.local
    for body in bodies:
        for column in range(6):
            gradient[body, column] = 0.0
    for index in range(joints.block_first[1]):
        block = joints.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        pushed_a, pushed_b = local[a] >= 0, local[b] >= 0
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if weight[row] < 0.0:
                for column in range(6):
                    if pushed_a:
                        gradient[a, column] += rows.jacobian[row, column] * shift[row]
                    if pushed_b:
                        gradient[b, column] += rows.jacobian[row, 6 + column] * shift[row]
