"""One projected Gauss-Seidel sweep over the rows of an island: the step that the sweeping solvers share.

For each row in turn, with the velocities kept up to date (matrix-free: no W is ever formed),

    u = J_i v + bias_i,   x = r_i - step u / W_ii + memory e_i,
    r_i <- clip(x, bounds),   e_i <- x - r_i,   v <- v + M^-1 J_i' (change of r_i).

Gauss-Seidel has step 1, over-relaxation another step; the modulus-based methods (amgs) also remember what the bounds
cut off, the excess e.

Cost: 24 multiplications and additions a row and the loads of two bodies a block; O(rows).
Source: Erleben 2013, section 5.2; Silcowitz-Hansen et al. 2010, eq. 17. (Nielsen 2009 prints the update without
M^-1 on J', which would not be a Gauss-Seidel step of W.)
"""

from ...kernel import subkernel
from ...residuals import project_impulse


@subkernel
def sweep_rows(rows, islands, island, velocity, change, step, memory, excess):
    """Sweep once over an island.

    Parameters
    ----------
    rows : RowArrays
        Read; ``impulse`` written.
    islands : IslandArrays
        Read.
    island : int
    velocity : float64 [body_count, 6]
        Written.
    change : float64 [row_count]
        Written: by how much each impulse changed [N s].
    step, memory : float
    excess : float64 [row_count]
        Read and written where ``memory`` is not 0: what the bounds cut off [N s].

    Returns
    -------
    largest : float
        max W_ii |change_i| [m/s]: the natural map of each row at the moment when the sweep came to it.
    merit : float
        sum of W_ii change_i^2 [J]; the squared gradient of Silcowitz-Hansen et al. in the metric diag(W), in which
        heavy and light bodies count alike.
    """
    largest = 0.0
    merit = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        a0, a1, a2 = velocity[a, 0], velocity[a, 1], velocity[a, 2]
        a3, a4, a5 = velocity[a, 3], velocity[a, 4], velocity[a, 5]
        b0, b1, b2 = velocity[b, 0], velocity[b, 1], velocity[b, 2]
        b3, b4, b5 = velocity[b, 3], velocity[b, 4], velocity[b, 5]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            weight = rows.diagonal[row]
            if weight <= 0.0:
                change[row] = 0.0
                continue
            j = rows.jacobian[row]
            speed = (
                (j[0] * a0 + j[1] * a1 + j[2] * a2)
                + (j[3] * a3 + j[4] * a4 + j[5] * a5)
                + (j[6] * b0 + j[7] * b1 + j[8] * b2)
                + (j[9] * b3 + j[10] * b4 + j[11] * b5)
                + rows.bias[row]
            )
            impulse = rows.impulse[row]
            wanted = impulse - step * speed / weight
            if memory != 0.0:
                wanted += memory * excess[row]
            projected = project_impulse(
                wanted, row, rows.lower, rows.upper, rows.normal_row, rows.friction, rows.impulse
            )
            if memory != 0.0:
                excess[row] = wanted - projected
            delta = projected - impulse
            change[row] = delta
            if delta == 0.0:
                continue
            rows.impulse[row] = projected
            y = rows.response[row]
            a0 += y[0] * delta
            a1 += y[1] * delta
            a2 += y[2] * delta
            a3 += y[3] * delta
            a4 += y[4] * delta
            a5 += y[5] * delta
            b0 += y[6] * delta
            b1 += y[7] * delta
            b2 += y[8] * delta
            b3 += y[9] * delta
            b4 += y[10] * delta
            b5 += y[11] * delta
            error = weight * delta
            merit += error * delta
            largest = max(largest, abs(error))
        velocity[a, 0], velocity[a, 1], velocity[a, 2] = a0, a1, a2
        velocity[a, 3], velocity[a, 4], velocity[a, 5] = a3, a4, a5
        velocity[b, 0], velocity[b, 1], velocity[b, 2] = b0, b1, b2
        velocity[b, 3], velocity[b, 4], velocity[b, 5] = b3, b4, b5
    return largest, merit


@subkernel
def apply_impulses(rows, islands, island, free_velocity, velocity):
    """v = v_free + M^-1 J' r on the bodies of an island.

    Parameters
    ----------
    rows, islands, island
        Read.
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
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            impulse = rows.impulse[row]
            for column in range(6):
                velocity[a, column] += rows.response[row, column] * impulse
                velocity[b, column] += rows.response[row, 6 + column] * impulse
