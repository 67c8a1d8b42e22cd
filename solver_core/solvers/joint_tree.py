"""Islands of nothing but what holds, along no loop: a chain that swings, a row of bodies that are fixed to each other.

There Newton's method of ``newton.alm_newton`` has no states to find, no line to search and, as rows that close no loop
are independent, no contradictions to take out. What is left of it is the solution of one linear system by a factor that
grows stiff with the penalty of bilateral rows,

    r <- r - D (u + J dv),    (M + J' D J) dv = -J' D u,    u = J v + b + C r,    v = v_free + M^-1 J' r

until u is what rounding leaves: each round takes from u all but a share 1 / (1 + D W). That takes a quarter of the
passes over the rows.
"""

import math

from ..compiled.kernel import subkernel
from ..problem.problem import FAILED
from ..problem.residuals import problem_scale, row_velocity
from .joint_factor import factorize_joints, find_joints, is_bilateral
from .newton.alm_linear import solve_with_factor
from .newton.alm_penalty import EPSILON
from .newton.alm_system import largest_speed, set_velocities, with_compliance
from .shared.status import fail, status_of

# Rounds at most; two are the rule.
_MOST_ROUNDS = 6
# As of ``alm_newton``: solved is what is this multiple of the speeds' rounding.
_FACTOR_ROUNDING = 1e3


@subkernel
def is_tree_of_joints(rows, islands, island, can_be_pushed):
    """Whether an island has only rows that hold, and its blocks close no loop, the world being one body.

    Parameters
    ----------
    rows, islands, island
        Read.
    can_be_pushed : bool [body_count]
        Read.
    """
    first, end, is_tied = islands.block_first[island], islands.block_first[island + 1], False
    for index in range(first, end):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        is_tied = is_tied or a == b or not can_be_pushed[a] or not can_be_pushed[b]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if not is_bilateral(rows, row):
                return False
    # an island hangs together, so it is a tree where it has one block less than bodies
    bodies = islands.body_first[island + 1] - islands.body_first[island]
    return end - first == (bodies if is_tied else bodies - 1)


@subkernel
def solve_tree_of_joints(rows, islands, island, free_velocity, velocity, workspace, settings, aims):
    """Solve an island for which ``is_tree_of_joints`` holds.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of every contact solver (``registry.Method``); the velocities are those of the impulses.
    workspace : JointedArrays
    aims : tuple of two float
        Solved is what is off by these shares: of the tolerance, and of what it was off by at first.

    Returns
    -------
    tuple
        (status, rounds, residual [m/s], scale [m/s], worst block), the status by the tolerance; FAILED without room for
        the factor, or where rounds do not end, and then impulses are somewhere.
    """
    scale = problem_scale(rows, islands, island, free_velocity)
    if not scale < math.inf:
        return fail(rows, islands, island, free_velocity, velocity)
    asked = max(settings.tolerance * scale, settings.absolute_tolerance)
    rounding = _FACTOR_ROUNDING * EPSILON * largest_speed(rows, islands, island, velocity)
    exactly, share = aims
    if not find_joints(rows, islands, island, workspace, False):
        return FAILED, 0, math.inf, scale, -1
    alm, joints = workspace.alm, workspace.islands
    bodies, rounds = alm.graph.body[: alm.graph.count[0]], 0
    left, worst_block = _push_off(rows, islands, island, bodies, velocity, alm)
    enough = max(asked, share * left)
    target = max(min(asked, max(exactly * asked, rounding)), share * left)
    if left > target:
        factorize_joints(rows, joints, alm)
    while left > target and rounds < _MOST_ROUNDS:
        solve_with_factor(bodies, alm)
        _take_step(rows, islands, island, alm)
        set_velocities(rows, islands, island, alm.group, free_velocity, velocity)
        left, worst_block = _push_off(rows, islands, island, bodies, velocity, alm)
        rounds += 1
    if not left <= enough:
        return FAILED, rounds, math.inf, scale, -1
    return status_of(left, asked, settings.absolute_tolerance), rounds, left, scale, worst_block


@subkernel
def _push_off(rows, islands, island, bodies, velocity, alm):
    """Speeds, and the gradient J' D u of what rows are off; returns the largest [m/s], and its block."""
    weight, speed, gradient, local = alm.by_row.weight, alm.by_row.speed, alm.by_body.gradient, alm.graph.local
    for body in bodies:
        for column in range(6):
            gradient[body, column] = 0.0
    largest, worst = 0.0, -1
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        pushed_a, pushed_b = local[a] >= 0, local[b] >= 0
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            compliance, impulse = rows.compliance[row], rows.impulse[row]
            now = row_velocity(rows.jacobian, row, rows.bias[row], velocity, a, b)
            share, rho = with_compliance(-weight[row], compliance)
            off = abs(now + compliance * impulse)
            if rows.diagonal[row] > 0.0:
                off *= 1.0 - compliance / rows.diagonal[row]
            # what is no number is not to be dropped
            off = off if off < math.inf else math.inf
            if off > largest or worst < 0:
                largest, worst = max(largest, off), block
            speed[row] = now
            push = impulse - (share * impulse - rho * now)
            for column in range(6):
                if pushed_a:
                    gradient[a, column] += rows.jacobian[row, column] * push
                if pushed_b:
                    gradient[b, column] += rows.jacobian[row, 6 + column] * push
    return largest, worst


@subkernel
def _take_step(rows, islands, island, alm):
    """The impulses at the velocities that the step leads to."""
    weight, speed, direction, local = alm.by_row.weight, alm.by_row.speed, alm.by_body.direction, alm.graph.local
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        pushed_a, pushed_b = local[a] >= 0, local[b] >= 0
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            change = 0.0
            for column in range(6):
                if pushed_a:
                    change += rows.jacobian[row, column] * direction[a, column]
                if pushed_b:
                    change += rows.jacobian[row, 6 + column] * direction[b, column]
            share, rho = with_compliance(-weight[row], rows.compliance[row])
            rows.impulse[row] = share * rows.impulse[row] - rho * (speed[row] + change)
