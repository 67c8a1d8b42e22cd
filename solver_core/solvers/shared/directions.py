"""Conjugate directions of impulses and of velocities, over runs of blocks, of rows and of bodies."""

from ...compiled.kernel import subkernel
from ...compiled.simd import WIDTH, load, number_at, spread, store


@subkernel
def remember_velocity(order, first, end, velocity, workspace):
    """Copy the velocities of a run of bodies to ``workspace.velocity_before``.

    Parameters
    ----------
    order : int64 [body_capacity]
        Bodies (read).
    first, end : int
        The places in ``order`` at which the run begins and ends.
    velocity : float64 [body_count, 6]
        Read.
    workspace : SweepWorkspace
        ``velocity_before`` is written.
    """
    for index in range(first, end):
        body = order[index]
        for column in range(6):
            workspace.velocity_before[body, column] = velocity[body, column]


@subkernel
def follow_in_rows(rows, order, first, end, changes, direction, beta):
    """r += beta p, p = beta p + change; p = 0 at a restart (beta < 0).

    Parameters
    ----------
    rows : RowArrays
        Read; ``impulse`` written.
    order : int64 [block_capacity]
        Blocks (read).
    first, end : int
        The places in ``order`` at which the run begins and ends.
    changes, direction : float64 [row_count]
        Read; read and written.
    beta : float

    Returns
    -------
    float
        grad' p, in the metric diag(W), of the new direction.
    """
    keep = 0.0 if beta < 0.0 else 1.0
    beta = max(beta, 0.0)
    slope = 0.0
    for index in range(first, end):
        block = order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            change = changes[row]
            step = beta * direction[row] if beta > 0.0 else 0.0
            rows.impulse[row] += step
            direction[row] = keep * change + step
            slope -= rows.diagonal[row] * change * direction[row]
    return slope


@subkernel
def follow_in_run(impulse, diagonal, first, end, changes, direction, beta):
    """``follow_in_rows`` for rows that lie side by side.

    Parameters
    ----------
    impulse, diagonal : float64 [row_count]
        Written; read.
    first, end : int
        The rows.
    changes, direction, beta
        As of ``follow_in_rows``.

    Returns
    -------
    float
        As of ``follow_in_rows``.
    """
    keep = 0.0 if beta < 0.0 else 1.0
    beta = max(beta, 0.0)
    slope = 0.0
    even = first + (end - first) // WIDTH * WIDTH
    slopes, betas, keeps = spread(0.0), spread(beta), spread(keep)
    for row in range(first, even, WIDTH):
        moved = load(changes, row)
        along = keeps * moved
        if beta > 0.0:
            steps = betas * load(direction, row)
            store(impulse, row, load(impulse, row) + steps)
            along = along + steps
        store(direction, row, along)
        slopes = slopes - load(diagonal, row) * moved * along
    for lane in range(WIDTH):
        slope += number_at(slopes, lane)
    for row in range(even, end):
        change = changes[row]
        step = beta * direction[row] if beta > 0.0 else 0.0
        impulse[row] += step
        direction[row] = keep * change + step
        slope -= diagonal[row] * change * direction[row]
    return slope


@subkernel
def follow_in_bodies(order, first, end, velocity, before, direction, beta):
    """The same for the velocities, of which the change is that since ``remember_velocity``; then remember them.

    Parameters
    ----------
    order : int64 [body_capacity]
        Bodies (read).
    first, end : int
        The places in ``order`` at which the run begins and ends.
    velocity : float64 [body_count, 6]
        Read and written.
    before, direction : float64 [body_count, 6]
        Read and written.
    beta : float
    """
    keep = 0.0 if beta < 0.0 else 1.0
    beta = max(beta, 0.0)
    for index in range(first, end):
        body = order[index]
        for column in range(6):
            change = velocity[body, column] - before[body, column]
            step = beta * direction[body, column] if beta > 0.0 else 0.0
            velocity[body, column] += step
            direction[body, column] = keep * change + step
            before[body, column] = velocity[body, column]


@subkernel
def copy_impulses(block_row, islands, island, source, target):
    """Copy a vector over the rows of an island.

    Parameters
    ----------
    block_row : int64 [block_capacity + 1]
        ``RowArrays.block_row`` (read).
    islands, island
        Read.
    source, target : float64 [row_capacity]
        Read; written.
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(block_row[block], block_row[block + 1]):
            target[row] = source[row]
