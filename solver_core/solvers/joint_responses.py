"""What rows that do not hold do to each other through bodies that joints hold: columns of W = J H^-1 J'.

H is factorised (``joint_elimination``). Rows that act on such bodies have seats; a sweep over them needs no velocities
of bodies, only the rows' speeds, to which an impulse adds its column. A column is made when first needed, by a solve
among the bodies of the row's lots. What other bodies add to a speed is theirs: they respond by themselves.
"""

import numpy as np

from ..compiled.kernel import subkernel
from ..compiled.simd import WIDTH, load, spread, store
from ..problem.residuals import row_velocity
from ..problem.rows import BOX_FRICTION
from .joint_factor import is_bilateral
from .linear_algebra.block_products import BLOCK, SIZE, add_products, subtract_image

# How a row is visited that does not hold: by itself, with the next one, with the last one; by itself, and drives.
SINGLE, PAIR, SECOND, MOTOR = map(np.int8, range(4))


@subkernel
def find_parts(rows, joints, workspace):
    """Sort the bodies of joints into lots, by the trees of the elimination.

    Parameters
    ----------
    rows, joints
        Read; the joints are one island.
    workspace : JointedArrays
        Its parts are written.
    """
    graph, elimination = workspace.alm.graph, workspace.alm.elimination
    part, of_position, first = workspace.part, workspace.part_of_position, workspace.part_first
    count, start, row = graph.count[0], elimination.column_start, elimination.row
    for index in range(joints.block_first[1]):
        block = joints.block_order[index]
        # also those that cannot be pushed
        part[rows.body_a[block]] = part[rows.body_b[block]] = -1
    parts = 0
    first[0] = 0
    for position in range(count - 1, -1, -1):
        if start[position] < start[position + 1]:
            of_position[position] = of_position[row[start[position]]]
        else:
            of_position[position] = parts
            parts += 1
            first[parts] = 0
        first[of_position[position] + 1] += 1
    total = 0
    for number in range(parts):
        size = first[number + 1]
        first[number + 1] = total
        total += size
    for position in range(count):
        number, body = of_position[position], graph.body[elimination.order[position]]
        place = first[number + 1]
        workspace.part_position[place], workspace.part_body[place] = position, body
        part[body] = number
        first[number + 1] += 1


@subkernel
def list_rows(rows, islands, island, workspace, model):
    """List the rows of an island that do not hold, and seat those that act on bodies of joints.

    Parameters
    ----------
    rows, islands, island
        Read.
    workspace : JointedArrays
        Lists and seats are written, as ``find_parts`` has sorted the bodies; no row has a column.
    model : int64
        Of friction: of a box the two directions are visited one by one.
    """
    joints, part, joint, seats, listed, outside = workspace.islands, workspace.part, 0, 0, 0, 0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        holds = joint < joints.block_first[1] and joints.block_order[joint] == block
        joint += 1 if holds else 0
        is_held = part[rows.body_a[block]] >= 0 or part[rows.body_b[block]] >= 0
        kind, normal = SINGLE, -1
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            workspace.seat[row] = workspace.column[row] = -1
            if holds and is_bilateral(rows, row):
                continue
            if model != BOX_FRICTION and rows.normal_row[row] >= 0 and rows.normal_row[row] == normal:
                # the second of two directions
                workspace.row_kind[listed - 1], kind, normal = PAIR, SECOND, -1
            else:
                kind, normal = MOTOR if holds and rows.lower[row] < 0.0 else SINGLE, rows.normal_row[row]
            workspace.listed_row[listed], workspace.listed_block[listed] = row, block
            workspace.row_kind[listed] = kind
            listed += 1
            if is_held:
                workspace.seat[row] = seats
                workspace.seat_row[seats], workspace.seat_block[seats] = row, block
                seats += 1
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        if part[body] < 0:
            workspace.outside[outside] = body
            outside += 1
    workspace.used[0], workspace.used[1], workspace.used[2], workspace.used[3] = 0, seats, listed, outside


@subkernel
def measure_seats(rows, velocity, workspace):
    """Measure the speeds of the rows that have seats, less what bodies outside of joints add.

    Parameters
    ----------
    rows : RowArrays
        Read.
    velocity : float64 [body_count, 6]
        Read.
    workspace : JointedArrays
        ``speed`` is written [m/s].
    """
    jacobian, part = rows.jacobian, workspace.part
    for seat in range(workspace.used[1]):
        row, block = workspace.seat_row[seat], workspace.seat_block[seat]
        a, b = rows.body_a[block], rows.body_b[block]
        total = rows.bias[row] + rows.compliance[row] * rows.impulse[row]
        if part[a] >= 0:
            for column in range(6):
                total += jacobian[row, column] * velocity[a, column]
        if part[b] >= 0:
            for column in range(6):
                total += jacobian[row, 6 + column] * velocity[b, column]
        workspace.speed[seat] = total
    for seat in range(workspace.used[1], _whole_vectors(workspace.used[1])):
        workspace.speed[seat] = 0.0


@subkernel(inline=True)
def _whole_vectors(count):
    return (count + WIDTH - 1) // WIDTH * WIDTH


@subkernel
def remember_speeds(workspace):
    """Copy the speeds of seats to ``speed_before``."""
    for seat in range(0, workspace.used[1], WIDTH):
        store(workspace.speed_before, seat, load(workspace.speed, seat))


@subkernel
def follow_in_seats(workspace, beta):
    """As ``directions.follow_in_bodies``, of the speeds of seats: they are linear in impulses, as velocities are.

    Parameters
    ----------
    workspace : JointedArrays
        Speeds and their direction are read and written.
    beta : float
        Negative: a restart.
    """
    speed, before, direction = workspace.speed, workspace.speed_before, workspace.speed_direction
    keeps, betas = spread(0.0 if beta < 0.0 else 1.0), spread(max(beta, 0.0))
    for seat in range(0, workspace.used[1], WIDTH):
        now = load(speed, seat)
        along = keeps * (now - load(before, seat))
        if beta > 0.0:
            step = betas * load(direction, seat)
            now, along = now + step, along + step
            store(speed, seat, now)
        store(direction, seat, along)
        store(before, seat, now)


@subkernel(inline=True)
def speed_of(rows, velocity, workspace, row, a, b):
    """The speed of a row that does not hold, its compliance included [m/s]."""
    seat, part = workspace.seat[row], workspace.part
    if seat < 0:
        return (
            row_velocity(rows.jacobian, row, rows.bias[row], velocity, a, b) + rows.compliance[row] * rows.impulse[row]
        )
    speed = workspace.speed[seat]
    if part[a] < 0:
        for column in range(6):
            speed += rows.jacobian[row, column] * velocity[a, column]
    if part[b] < 0:
        for column in range(6):
            speed += rows.jacobian[row, 6 + column] * velocity[b, column]
    return speed


@subkernel(inline=True)
def push(rows, velocity, workspace, row, delta, a, b):
    """Add what a change of a row's impulse does to the speeds of seats, and to velocities of bodies outside of joints.

    Parameters
    ----------
    rows : RowArrays
        Read.
    velocity : float64 [body_count, 6]
        Written.
    workspace : JointedArrays
        ``speed`` is written.
    row : int64
        Has a column, if it has a seat.
    delta : float
        [N s]
    a, b : int64
        Its bodies.
    """
    if delta == 0.0:
        return
    if workspace.seat[row] >= 0:
        speed, columns, start, changes = workspace.speed, workspace.columns, workspace.column[row], spread(delta)
        for seat in range(0, workspace.used[1], WIDTH):
            store(speed, seat, load(speed, seat) + load(columns, start + seat) * changes)
    if workspace.part[a] < 0:
        for column in range(6):
            velocity[a, column] += rows.response[row, column] * delta
    if workspace.part[b] < 0:
        for column in range(6):
            velocity[b, column] += rows.response[row, 6 + column] * delta


@subkernel
def make_columns(rows, workspace, row, count, a, b):
    """Make the columns of some rows of a block, and their W among each other.

    Parameters
    ----------
    rows : RowArrays
        Read.
    workspace : JointedArrays
        Columns, diagonal and coupling of the rows are written.
    row, count : int64
        The first row, and how many there are; they have seats.
    a, b : int64
        Their bodies.

    Returns
    -------
    bool
        Whether there was room.
    """
    length = _whole_vectors(workspace.used[1])
    if workspace.used[0] + count * length > workspace.columns.size:
        return False
    for k in range(row, row + count):
        workspace.column[k] = start = workspace.used[0]
        workspace.used[0] += length
        respond(rows.jacobian, workspace, k, a, b)
        for seat in range(workspace.used[1]):
            block = workspace.seat_block[seat]
            other_a, other_b, index = rows.body_a[block], rows.body_b[block], workspace.seat_row[seat]
            workspace.columns[start + seat] = _through_joints(rows.jacobian, workspace, index, other_a, other_b)
        for seat in range(workspace.used[1], length):
            workspace.columns[start + seat] = 0.0
        workspace.diagonal[k] = workspace.columns[start + workspace.seat[k]] + _by_itself(rows, workspace, k, k, a, b)
        last = row + count - 1
        workspace.coupling[k] = workspace.columns[start + workspace.seat[last]]
        workspace.coupling[k] += _by_itself(rows, workspace, last, k, a, b)
        # what gives way by itself adds to its own speed alone
        workspace.columns[start + workspace.seat[k]] += rows.compliance[k]
        forget_response(workspace, a, b)
    return True


@subkernel
def find_diagonal(rows, workspace, row, a, b):
    """W_ii of a row; its bodies are sorted into lots."""
    respond(rows.jacobian, workspace, row, a, b)
    total = _through_joints(rows.jacobian, workspace, row, a, b) + _by_itself(rows, workspace, row, row, a, b)
    forget_response(workspace, a, b)
    return total


@subkernel
def _through_joints(jacobian, workspace, row, a, b):
    """J x of a row, where x is a response of bodies that joints hold."""
    x, position, local = workspace.x, workspace.alm.elimination.position, workspace.alm.graph.local
    total = 0.0
    if workspace.part[a] >= 0:
        place = SIZE * position[local[a]]
        for column in range(6):
            total += jacobian[row, column] * x[place + column]
    if workspace.part[b] >= 0:
        place = SIZE * position[local[b]]
        for column in range(6):
            total += jacobian[row, 6 + column] * x[place + column]
    return total


@subkernel
def _by_itself(rows, workspace, row, other, a, b):
    """J M^-1 J' of two rows of a block, of those of its bodies that no joint holds."""
    total = 0.0
    if workspace.part[a] < 0:
        for column in range(6):
            total += rows.jacobian[row, column] * rows.response[other, column]
    if workspace.part[b] < 0:
        for column in range(6):
            total += rows.jacobian[row, 6 + column] * rows.response[other, 6 + column]
    return total


@subkernel
def respond(jacobian, workspace, row, a, b):
    """Let x be H^-1 J' of a row, of the lots of its bodies; it is zero elsewhere."""
    x, position, local = workspace.x, workspace.alm.elimination.position, workspace.alm.graph.local
    part_a, part_b = workspace.part[a], workspace.part[b]
    if part_a >= 0:
        place = SIZE * position[local[a]]
        for column in range(6):
            x[place + column] = jacobian[row, column]
    if part_b >= 0:
        place = SIZE * position[local[b]]
        for column in range(6):
            x[place + column] += jacobian[row, 6 + column]
    if part_a >= 0:
        _solve_part(workspace, part_a)
    if part_b >= 0 and part_b != part_a:
        _solve_part(workspace, part_b)


@subkernel
def forget_response(workspace, a, b):
    """Let x be zero again."""
    part_a, part_b = workspace.part[a], workspace.part[b]
    if part_a >= 0:
        _clear_part(workspace, part_a)
    if part_b >= 0 and part_b != part_a:
        _clear_part(workspace, part_b)


@subkernel
def _clear_part(workspace, part):
    for index in range(workspace.part_first[part], workspace.part_first[part + 1]):
        start = SIZE * workspace.part_position[index]
        for column in range(SIZE):
            workspace.x[start + column] = 0.0


@subkernel
def _solve_part(workspace, part):
    """x <- (L L')^-1 x among the bodies of one part; before the first that is not zero there is nothing to do."""
    elimination, factor, x = workspace.alm.elimination, workspace.alm.factor, workspace.x
    first, end, of = workspace.part_first[part], workspace.part_first[part + 1], workspace.part_position
    column_start, row = elimination.column_start, elimination.row
    diagonal, inverse, blocks, sums = factor.diagonal, factor.inverse, factor.blocks, factor.sums
    for index in range(first, end):
        at = SIZE * of[index]
        largest = max(abs(x[at]), abs(x[at + 1]), abs(x[at + 2]), abs(x[at + 3]), abs(x[at + 4]), abs(x[at + 5]))
        if largest == 0.0:
            continue
        start = BLOCK * of[index]
        for m in range(6):
            value = x[at + m] * inverse[at + m]
            x[at + m] = value
            for r in range(m + 1, 6):
                x[at + r] -= diagonal[start + 6 * m + r] * value
        for block in range(column_start[of[index]], column_start[of[index] + 1]):
            subtract_image(x, SIZE * row[block], blocks, BLOCK * block, x, at)
    for index in range(end - 1, first - 1, -1):
        at, start = SIZE * of[index], BLOCK * of[index]
        begin, last = column_start[of[index]], column_start[of[index] + 1]
        if begin < last:
            for m in range(BLOCK):
                sums[m] = 0.0
            for block in range(begin, last):
                add_products(sums, 0, blocks, BLOCK * block, x, SIZE * row[block])
            for m in range(SIZE):
                s = SIZE * m
                x[at + m] -= (sums[s] + sums[s + 1]) + (sums[s + 2] + sums[s + 3]) + (sums[s + 4] + sums[s + 5])
        for m in range(SIZE - 1, -1, -1):
            value = x[at + m]
            for r in range(m + 1, SIZE):
                value -= diagonal[start + SIZE * m + r] * x[at + r]
            x[at + m] = value * inverse[at + m]
