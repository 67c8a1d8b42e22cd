"""What alm_newton does otherwise where an island has rows that are no contacts': joints, motors, limits.

Penalty. Bilateral rows never change their D, so a high penalty makes nothing harder far from the solution, and they
have a constant one, rho_i = ``PENALTY_BILATERAL`` / W_ii: chains of 50 links with a load of 1e6 links have eigenvalues
of W below 1e-8 of W_ii, of which an outer step takes but the share rho lambda / (1 + rho lambda).

Rounding of v does not spoil p = lambda - rho u: an outer step goes on from the u that it began with by what its steps
of v add, so an error of that u is to p like one of the bias. After two or three of them the residual is that of the
rounding of v_p.

Conflicts. Where bilateral rows contradict each other, p = lambda - rho u would grow without end in directions that move
nothing. The part t of u that no velocity can take away, in the norm of diag(rho), has J' rho t = 0, so it is a fixed
point of

    t <- t - J H^-1 J' rho t

which takes from everything else all but the share 1 / (1 + rho lambda). What of u is found so is taken out of the
biases: lambda stays small, and the rest is a problem like any other. At the end the biases are put back. The velocities
are those that miss the contradicting rows by least squares.
"""

from ...compiled.kernel import subkernel
from .alm_linear import solve_with_factor
from .alm_system import measure_speeds, with_compliance

# c of bilateral rows.
PENALTY_BILATERAL = 1e11
# Projections at most; they end when one changes t by less than this share. What is left of u after that is a conflict
# if it is more than the last share of u, and is taken out at most so many times.
_MAX_PROJECTIONS, _RATIO_CHANGE, _RATIO_CONFLICT = 3, 1e-3, 0.1
_MAX_TIMES = 8


@subkernel
def take_conflicts_out(rows, islands, island, workspace, target):
    """Take what of bilateral rows' u no velocity can take away out of their biases, speeds and impulses.

    Parameters
    ----------
    rows : RowArrays
        ``bias`` and ``impulse`` of bilateral rows are written.
    islands, island
        Read.
    workspace : AlmWorkspace
        Written: speeds, and what a Newton step works with; there must be a factor.
    target : float
        Errors below this are none [m/s].
    """
    progress, by_row = workspace.progress, workspace.by_row
    left = _copy_speeds(rows, islands, island, by_row)
    if not left > target or progress.conflicts[0] >= _MAX_TIMES:
        return
    allowed = max(target, _RATIO_CONFLICT * left)
    for _ in range(_MAX_PROJECTIONS):
        left, changed = _project(rows, islands, island, workspace)
        if not left > allowed or changed <= _RATIO_CHANGE * left:
            break
    if not left > allowed:
        return
    progress.conflicts[0] += 1
    multiplier, weight, conflict, speed = by_row.multiplier, by_row.weight, by_row.shift, by_row.speed
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if weight[row] < 0.0:
                rows.bias[row] -= conflict[row]
                speed[row] -= conflict[row]
                share, rho = with_compliance(-weight[row], rows.compliance[row])
                rows.impulse[row] = share * multiplier[row] - rho * speed[row]


@subkernel
def _copy_speeds(rows, islands, island, by_row):
    """Copy u of bilateral rows to ``by_row.shift``, 0 for soft ones, which contradict nothing; returns the largest."""
    weight, conflict, speed = by_row.weight, by_row.shift, by_row.speed
    largest = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if weight[row] < 0.0:
                is_soft = -weight[row] * rows.compliance[row] >= 1.0
                conflict[row] = 0.0 if is_soft else speed[row]
                largest = max(largest, abs(conflict[row]))
    return largest


@subkernel
def _project(rows, islands, island, workspace):
    """Take from ``by_row.shift`` what velocities take away; returns the largest entry, and the largest change."""
    by_row, by_body, graph = workspace.by_row, workspace.by_body, workspace.graph
    weight, conflict, change, gradient = by_row.weight, by_row.shift, by_row.change, by_body.gradient
    bodies = graph.body[: graph.count[0]]
    for body in bodies:
        for column in range(6):
            gradient[body, column] = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        pushed_a, pushed_b = graph.local[a] >= 0, graph.local[b] >= 0
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if weight[row] < 0.0:
                push = -weight[row] * conflict[row]
                for column in range(6):
                    if pushed_a:
                        gradient[a, column] += rows.jacobian[row, column] * push
                    if pushed_b:
                        gradient[b, column] += rows.jacobian[row, 6 + column] * push
    solve_with_factor(bodies, workspace)
    measure_speeds(rows, islands, island, workspace.group, by_body.direction, 0.0, change)
    largest, changed = 0.0, 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            if weight[row] < 0.0 and -weight[row] * rows.compliance[row] < 1.0:
                conflict[row] += change[row]
                largest, changed = max(largest, abs(conflict[row])), max(changed, abs(change[row]))
    return largest, changed
