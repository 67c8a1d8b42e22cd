"""One measure that judges every solver: the natural map of the boxed complementarity problem, in velocities.

For row i with bounds [l_i, h_i] (friction rows: +-friction * r_normal)

    residual_i = W_ii | r_i - clip(r_i - u_i / W_ii, l_i, h_i) |        [m/s]

which is zero exactly at a solution: u_i >= 0 at the lower bound, u_i = 0 between the bounds, u_i <= 0 at the upper.
Multiplied by W_ii it is a velocity, so that it does not hang on masses: the speed by which a contact still
approaches or slips, or the speed that its surplus impulse makes. A problem's residual is the largest over its rows.

Its scale is |b| = |J v_free + bias|, in which a normal row counts only where it would approach: an open gap far away
must not loosen the tolerance of a stack beside it.
"""

from .kernel import kernel, subkernel


@subkernel
def row_velocity(jacobian, row, bias, velocity, a, b):
    """u = J v + bias of one row [m/s]."""
    speed = bias
    for column in range(6):
        speed += jacobian[row, column] * velocity[a, column] + jacobian[row, 6 + column] * velocity[b, column]
    return speed


@subkernel
def project_impulse(value, row, lower, upper, normal_row, friction, impulse):
    """Clip ``value`` to the bounds of ``row``, of which a friction row's hang on the present normal impulse."""
    normal = normal_row[row]
    if normal >= 0:
        bound = friction[row] * max(impulse[normal], 0.0)
        return min(bound, max(-bound, value))
    return min(upper[row], max(lower[row], value))


@kernel
def natural_map(rows, islands, island, velocity):
    """Residual of one island at (rows.impulse, velocity).

    Parameters
    ----------
    rows : RowArrays
        Read.
    islands : IslandArrays
        Read.
    island : int
    velocity : float64 [body_count, 6]
        Read; v = v_free + M^-1 J' r.

    Returns
    -------
    residual : float
        [m/s].
    worst_block : int
        Where it is largest; -1 where there is no block.
    """
    residual = 0.0
    worst_block = -1
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            weight = rows.diagonal[row]
            if weight <= 0.0:
                continue
            impulse = rows.impulse[row]
            speed = row_velocity(rows.jacobian, row, rows.bias[row], velocity, a, b)
            wanted = project_impulse(
                impulse - speed / weight, row, rows.lower, rows.upper, rows.normal_row, rows.friction, rows.impulse
            )
            error = weight * abs(impulse - wanted)
            if error > residual:
                residual = error
                worst_block = block
    return residual, worst_block


@kernel
def problem_scale(rows, islands, island, free_velocity):
    """|b| of one island: the speed that the impulses have to take away [m/s].

    NaN where a row holds NaN: every row is looked at here before a solver starts, and comparisons later drop NaN.
    """
    scale = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            speed = row_velocity(rows.jacobian, row, rows.bias[row], free_velocity, a, b)
            if speed != speed:
                return speed
            if rows.normal_row[row] < 0 and rows.lower[row] == 0.0:
                speed = min(speed, 0.0)
            scale = max(scale, abs(speed))
    return scale
