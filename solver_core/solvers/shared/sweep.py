"""One projected Gauss-Seidel sweep over a run of blocks: the step that the sweeping solvers share.

For each row in turn, with the velocities kept up to date (matrix-free: no W is ever formed),

    u = J_i v + bias_i + C_i r_i,   x = r_i - step u / W_ii + memory e_i,
    r_i <- clip(x, bounds),   e_i <- x - r_i,   v <- v + M^-1 J_i' (change of r_i).

Gauss-Seidel has step 1, over-relaxation another step; the modulus-based methods (amgs) also remember what the bounds
cut off, the excess e.

Cost: 24 multiplications and additions a row and the loads of two bodies a block; O(rows).
Source: Erleben 2013, section 5.2; Silcowitz-Hansen et al. 2010, eq. 17. (Nielsen 2009 prints the update of the
splitting A = M - N as max(0, M^-1 N r - b), with b out of reach of M^-1: docs/decisions/24-nielsen-update.md.)
"""

from ...compiled.kernel import subkernel
from ...problem.friction import project_friction, visit_friction
from ...problem.residuals import is_friction_pair, is_of_contact, project_impulse
from ...problem.rows import BOX_FRICTION

# Motion that comes from rounding alone (sideways, of a straight stack) dies down from sweep to sweep, to numbers below
# 1e-308, with which processors calculate a hundred times slower. Changes of an impulse below this count as none [N s].
TINY = 1e-120


@subkernel
def sweep_blocks(rows, order, first, end, velocity, change, step, memory, excess, model, directions):
    """Sweep once over a run of blocks with this model of friction.

    Parameters
    ----------
    rows, order, first, end, velocity, change
        As in ``sweep_rows``.
    step, memory : float
        As in ``sweep_rows``; only the box has a memory.
    excess : float64 [row_count]
        As in ``sweep_rows``.
    model, directions : int
        BOX_FRICTION, CONE_FRICTION or POLYHEDRAL_FRICTION, and the corners of the polygon (``friction``).

    Returns
    -------
    largest, merit : float
        As in ``sweep_rows``.
    """
    if model == BOX_FRICTION:
        return sweep_rows(rows, order, first, end, velocity, change, step, memory, excess)
    return sweep_contacts(rows, order, first, end, velocity, change, step, model, directions)


@subkernel
def sweep_rows(rows, order, first, end, velocity, change, step, memory, excess):
    """Sweep once over a run of blocks.

    Parameters
    ----------
    rows : RowArrays
        Read; ``impulse`` written.
    order : int64 [block_capacity]
        ``IslandArrays.block_order`` (read).
    first, end : int
        The places in ``order`` at which the run begins and ends.
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
        max (W_ii - C_i) |change_i| [m/s]: the natural map of each row at the moment when the sweep came to it.
    merit : float
        sum of W_ii change_i^2 [J]; the squared gradient of Silcowitz-Hansen et al. in the metric diag(W), in which
        heavy and light bodies count alike.
    """
    largest = 0.0
    merit = 0.0
    for index in range(first, end):
        block = order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        va, vb = _velocity_of(velocity, a), _velocity_of(velocity, b)
        last = rows.block_row[block + 1]
        for row in range(rows.block_row[block], last):
            weight = rows.diagonal[row]
            impulse = rows.impulse[row]
            if weight <= 0.0 or (memory == 0.0 and _is_open(rows.normal_row[row], impulse, rows.impulse)):
                change[row] = 0.0
                continue
            compliance = 0.0 if is_of_contact(rows.normal_row, row, last) else rows.compliance[row]
            speed = _speed(rows.jacobian[row], va, vb) + rows.bias[row] + compliance * impulse
            # the division does not wait for the speed
            wanted = impulse - (step / weight) * speed
            if memory != 0.0:
                wanted += memory * excess[row]
            projected = project_impulse(
                wanted, row, rows.lower, rows.upper, rows.normal_row, rows.friction, rows.impulse
            )
            if memory != 0.0:
                excess[row] = _without_tiny(wanted - projected)
            delta = _without_tiny(projected - impulse)
            change[row] = delta
            if delta == 0.0:
                continue
            rows.impulse[row] = projected
            va, vb = _pushed(rows.response[row], delta, va, vb)
            error = weight * delta
            merit += error * delta
            largest = max(largest, abs(error - compliance * delta))
        # a last: a block that names one body twice has columns for a only
        _set_velocity(velocity, b, vb)
        _set_velocity(velocity, a, va)
    return largest, merit


@subkernel
def sweep_contacts(rows, order, first, end, velocity, change, step, model, directions):
    """Sweep once over a run of blocks in which the two friction rows of a contact are one unknown in the plane.

    Other rows as in ``sweep_rows``.

    Parameters
    ----------
    rows, order, first, end, velocity, change, step
        As in ``sweep_rows``.
    model, directions : int
        CONE_FRICTION or POLYHEDRAL_FRICTION, and its corners (``friction``).

    Returns
    -------
    largest, merit : float
        As in ``sweep_rows``.
    """
    largest = 0.0
    merit = 0.0
    for index in range(first, end):
        block = order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        va, vb = _velocity_of(velocity, a), _velocity_of(velocity, b)
        row, last = rows.block_row[block], rows.block_row[block + 1]
        while row < last:
            weight = rows.diagonal[row]
            impulse = rows.impulse[row]
            wanted = impulse
            compliance = 0.0
            if is_friction_pair(rows.normal_row, row, last):
                second, second_weight = rows.impulse[row + 1], rows.diagonal[row + 1]
                bound = rows.friction[row] * max(rows.impulse[rows.normal_row[row]], 0.0)
                if bound == 0.0 and impulse == 0.0 and second == 0.0:
                    # an open contact, as a third of a heap's are
                    change[row] = change[row + 1] = 0.0
                    row += 2
                    continue
                second_wanted = second
                if bound == 0.0:
                    wanted, second_wanted = 0.0, 0.0
                elif max(weight, second_weight) > 0.0:
                    wanted, second_wanted = _friction_step(
                        model,
                        directions,
                        bound,
                        step,
                        weight,
                        _coupling(rows.jacobian[row], rows.response[row + 1]),
                        second_weight,
                        _speed(rows.jacobian[row], va, vb) + rows.bias[row],
                        _speed(rows.jacobian[row + 1], va, vb) + rows.bias[row + 1],
                        impulse,
                        second,
                    )
                second_delta = _without_tiny(second_wanted - second)
                va, vb = _pushed(rows.response[row + 1], second_delta, va, vb)
                rows.impulse[row + 1] = second_wanted
                change[row + 1] = second_delta
                merit += second_weight * second_delta * second_delta
                largest = max(largest, second_weight * abs(second_delta))
                rows_done = 2
            else:
                if weight > 0.0:
                    if not is_of_contact(rows.normal_row, row, last):
                        compliance = rows.compliance[row]
                    speed = _speed(rows.jacobian[row], va, vb) + rows.bias[row] + compliance * impulse
                    wanted = project_impulse(
                        impulse - (step / weight) * speed,
                        row,
                        rows.lower,
                        rows.upper,
                        rows.normal_row,
                        rows.friction,
                        rows.impulse,
                    )
                rows_done = 1
            delta = _without_tiny(wanted - impulse)
            change[row] = delta
            if delta != 0.0:
                va, vb = _pushed(rows.response[row], delta, va, vb)
                rows.impulse[row] = wanted
                merit += weight * delta * delta
                largest = max(largest, (weight - compliance) * abs(delta))
            row += rows_done
        # a last: a block that names one body twice has columns for a only
        _set_velocity(velocity, b, vb)
        _set_velocity(velocity, a, va)
    return largest, merit


@subkernel
def _is_open(normal, friction_impulse, impulse):
    """Whether a row is friction of a contact that does not push, and has no impulse to give back."""
    return normal >= 0 and friction_impulse == 0.0 and impulse[normal] <= 0.0


@subkernel
def _without_tiny(number):
    """The number, or 0 where it is tiny; NaN stays."""
    return 0.0 if abs(number) <= TINY else number


@subkernel
def _friction_step(model, directions, bound, step, first, coupling, second, speed_1, speed_2, t1, t2):
    """Friction of one contact: ``step`` times the way to its solution for the present normal impulse."""
    new_1, new_2 = visit_friction(model, directions, bound, first, coupling, coupling, second, speed_1, speed_2, t1, t2)
    if step == 1.0:
        return new_1, new_2
    return project_friction(model, directions, bound, t1 + step * (new_1 - t1), t2 + step * (new_2 - t2))


@subkernel
def _velocity_of(velocity, body):
    """Velocity of one body as numbers, which stay in registers while its block is worked on."""
    return (
        velocity[body, 0],
        velocity[body, 1],
        velocity[body, 2],
        velocity[body, 3],
        velocity[body, 4],
        velocity[body, 5],
    )


@subkernel
def _set_velocity(velocity, body, value):
    for column in range(6):
        velocity[body, column] = value[column]


@subkernel
def _speed(j, va, vb):
    """J_i v: four short sums, which the processor adds side by side."""
    return (
        (j[0] * va[0] + j[1] * va[1] + j[2] * va[2])
        + (j[3] * va[3] + j[4] * va[4] + j[5] * va[5])
        + (j[6] * vb[0] + j[7] * vb[1] + j[8] * vb[2])
        + (j[9] * vb[3] + j[10] * vb[4] + j[11] * vb[5])
    )


@subkernel
def _pushed(y, delta, va, vb):
    """Velocities of both bodies after the impulse ``delta`` on a row with M^-1 J_i' = y."""
    return (
        (
            va[0] + y[0] * delta,
            va[1] + y[1] * delta,
            va[2] + y[2] * delta,
            va[3] + y[3] * delta,
            va[4] + y[4] * delta,
            va[5] + y[5] * delta,
        ),
        (
            vb[0] + y[6] * delta,
            vb[1] + y[7] * delta,
            vb[2] + y[8] * delta,
            vb[3] + y[9] * delta,
            vb[4] + y[10] * delta,
            vb[5] + y[11] * delta,
        ),
    )


@subkernel
def _coupling(j, y):
    """W between two rows of one block."""
    total = 0.0
    for column in range(12):
        total += j[column] * y[column]
    return total


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
