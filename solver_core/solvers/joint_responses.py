"""What rows that do not hold do to each other through bodies that joints hold: columns of W = J H^-1 J'.

H is factorised (``joint_elimination``). Bodies that joints connect, through whatever others, are a lot; H couples no
two lots. A row has a seat in each lot that it acts on, which holds what that lot's velocities add to its speed. So a
sweep needs no velocities of such bodies: an impulse adds its column to the speeds of its lots' seats. A column is made
when first needed, by a solve among the bodies of the row's lots. What other bodies add to a speed is theirs: they
respond by themselves. In a heap, where a lot has far more seats than velocities, it keeps its velocities in place of
seats, and columns are H^-1 J'.
"""

import numpy as np

from ..compiled.kernel import subkernel
from ..compiled.simd import WIDTH, any_of, load, size, spread, store
from ..problem.rows import BOX_FRICTION
from .joint_factor import is_bilateral
from .linear_algebra.block_products import BLOCK, SIZE

# A lot keeps velocities where it has this many times as many seats: those are read in one, and of these six or twelve.
_FACTOR_SEATS = 2
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
    workspace.used[4], total = parts, 0
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
    joints, part, joint, listed, outside = workspace.islands, workspace.part, 0, 0, 0
    first = workspace.seat_first
    for lot in range(workspace.used[4] + 1):
        first[lot] = 0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        holds = joint < joints.block_first[1] and joints.block_order[joint] == block
        joint += 1 if holds else 0
        lot_a, lot_b = part[rows.body_a[block]], part[rows.body_b[block]]
        kind, normal = SINGLE, -1
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            workspace.seat[row, 0] = workspace.seat[row, 1] = workspace.column[row] = -1
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
            if lot_a >= 0:
                first[lot_a + 1] += 1
            if lot_b >= 0 and lot_b != lot_a:
                first[lot_b + 1] += 1
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        if part[body] < 0:
            workspace.outside[outside] = body
            outside += 1
    workspace.used[0], workspace.used[2], workspace.used[3] = 0, listed, outside
    _take_seats(rows, workspace)


@subkernel
def _take_seats(rows, workspace):
    """Seat the listed rows, lot by lot, each in whole vectors; ``seat_first`` has how many each lot needs."""
    first, part, total, by_body = workspace.seat_first, workspace.part, 0, workspace.by_body
    for lot in range(workspace.used[4]):
        begin, end = workspace.part_first[lot], workspace.part_first[lot + 1]
        count = first[lot + 1]
        by_body[lot] = count > _FACTOR_SEATS * SIZE * (end - begin)
        if by_body[lot]:
            count = SIZE * (end - begin)
            for index in range(begin, end):
                workspace.velocity_at[workspace.part_body[index]] = total + SIZE * (index - begin)
        first[lot + 1] = total
        total += (count + WIDTH - 1) // WIDTH * WIDTH
    workspace.used[1] = total
    for seat in range(total):
        workspace.seat_row[seat] = -1
    for index in range(workspace.used[2]):
        row, block = workspace.listed_row[index], workspace.listed_block[index]
        lot_a, lot_b = part[rows.body_a[block]], part[rows.body_b[block]]
        for side in range(2):
            lot = lot_a if side == 0 else lot_b
            if lot >= 0 and (side == 0 or lot_b != lot_a) and not by_body[lot]:
                seat = first[lot + 1]
                workspace.seat[row, side], workspace.seat_row[seat], workspace.seat_block[seat] = seat, row, block
                first[lot + 1] += 1
    # where the last lot ends; the others end where the next one begins
    for lot in range(workspace.used[4]):
        if by_body[lot]:
            first[lot + 1] += SIZE * (workspace.part_first[lot + 1] - workspace.part_first[lot])
        first[lot + 1] = (first[lot + 1] + WIDTH - 1) // WIDTH * WIDTH


@subkernel
def measure_seats(rows, velocity, workspace):
    """Measure what each lot adds to the speeds of its rows, or take its velocities.

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
    for lot in range(workspace.used[4]):
        for seat in range(workspace.seat_first[lot], workspace.seat_first[lot + 1]):
            row, total = workspace.seat_row[seat], 0.0
            if row >= 0:
                a, b = rows.body_a[workspace.seat_block[seat]], rows.body_b[workspace.seat_block[seat]]
                for column in range(6):
                    if part[a] == lot:
                        total += jacobian[row, column] * velocity[a, column]
                    if part[b] == lot:
                        total += jacobian[row, 6 + column] * velocity[b, column]
            workspace.speed[seat] = total
        if workspace.by_body[lot]:
            for index in range(workspace.part_first[lot], workspace.part_first[lot + 1]):
                body = workspace.part_body[index]
                for column in range(6):
                    workspace.speed[workspace.velocity_at[body] + column] = velocity[body, column]


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
    part, jacobian, by_body, held = workspace.part, rows.jacobian, workspace.by_body, workspace.speed
    speed = rows.bias[row] + rows.compliance[row] * rows.impulse[row]
    if part[a] < 0:
        for column in range(6):
            speed += jacobian[row, column] * velocity[a, column]
    elif by_body[part[a]]:
        for column in range(6):
            speed += jacobian[row, column] * held[workspace.velocity_at[a] + column]
    else:
        speed += held[workspace.seat[row, 0]]
    if part[b] < 0:
        for column in range(6):
            speed += jacobian[row, 6 + column] * velocity[b, column]
    elif by_body[part[b]]:
        for column in range(6):
            speed += jacobian[row, 6 + column] * held[workspace.velocity_at[b] + column]
    elif part[b] != part[a]:
        speed += held[workspace.seat[row, 1]]
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
    part, place = workspace.part, workspace.column[row]
    if part[a] >= 0:
        place = _push_lot(workspace, part[a], place, delta)
    else:
        for column in range(6):
            velocity[a, column] += rows.response[row, column] * delta
    if part[b] < 0:
        for column in range(6):
            velocity[b, column] += rows.response[row, 6 + column] * delta
    elif part[b] != part[a]:
        _push_lot(workspace, part[b], place, delta)


@subkernel(inline=True)
def _push_lot(workspace, lot, place, delta):
    """Add ``delta`` times a column, from ``place`` on, to the speeds of a lot's seats; returns the place behind it."""
    speed, columns, changes, first = workspace.speed, workspace.columns, spread(delta), workspace.seat_first[lot]
    for seat in range(first, workspace.seat_first[lot + 1], WIDTH):
        store(speed, seat, load(speed, seat) + load(columns, place + seat - first) * changes)
    return place + workspace.seat_first[lot + 1] - first


@subkernel
def _length_of(workspace, lot):
    """Numbers of a column in a lot."""
    return workspace.seat_first[lot + 1] - workspace.seat_first[lot] if lot >= 0 else 0


@subkernel
def make_columns(rows, velocity, workspace, index, allowed):
    """Make the columns of a row and its friction, and of rows behind it that will be asked for: all in one solve.

    Parameters
    ----------
    rows : RowArrays
        Read.
    velocity : float64 [body_count, 6]
        Read.
    workspace : JointedArrays
        Columns, diagonals and couplings of the rows are written.
    index : int64
        The row's place in the list; it has a seat, and no column.
    allowed : float
        Rows that are off by more than this will be asked for [m/s].

    Returns
    -------
    bool
        Whether there was room.
    """
    lanes = np.int64(0)
    block = workspace.listed_block[index]
    lot_a, lot_b = workspace.part[rows.body_a[block]], workspace.part[rows.body_b[block]]
    length = _length_of(workspace, lot_a) + (_length_of(workspace, lot_b) if lot_b != lot_a else 0)
    place = index
    while place < workspace.used[2]:
        end = _end_of_contact(rows, workspace, place)
        if lanes > 0 and lanes + end - place > WIDTH:
            break
        block = workspace.listed_block[place]
        a, b = rows.body_a[block], rows.body_b[block]
        is_due = lanes == 0 or (
            workspace.part[a] == lot_a
            and workspace.part[b] == lot_b
            and workspace.column[workspace.listed_row[place]] < 0
            and _is_off(rows, velocity, workspace, place, a, b, allowed)
        )
        while is_due and place < end and lanes < WIDTH:
            if workspace.column[workspace.listed_row[place]] < 0:
                workspace.lane[lanes] = place
                lanes += 1
            place += 1
        place = end
    if workspace.used[0] + lanes * length > workspace.columns.size:
        return False
    for lane in range(lanes):
        place = workspace.lane[lane]
        row, block = workspace.listed_row[place], workspace.listed_block[place]
        workspace.column[row] = workspace.used[0]
        workspace.used[0] += length
        _ask(rows.jacobian, workspace, row, rows.body_a[block], rows.body_b[block], lane)
    _solve_lots(workspace, lot_a, lot_b)
    _take_columns(rows, workspace, lot_a, 0, lanes)
    if lot_b != lot_a:
        _take_columns(rows, workspace, lot_b, _length_of(workspace, lot_a), lanes)
    _clear_lots(workspace, lot_a, lot_b)
    for lane in range(lanes):
        place = workspace.lane[lane]
        row, block = workspace.listed_row[place], workspace.listed_block[place]
        a, b = rows.body_a[block], rows.body_b[block]
        workspace.diagonal[row] = _entry(rows, workspace, row, row, a, b)
        if workspace.row_kind[place] == PAIR:
            workspace.coupling[row] = _entry(rows, workspace, row + 1, row, a, b)
    return True


@subkernel
def _entry(rows, workspace, row, other, a, b):
    """W between two rows of a block, of which the second has a column."""
    total, place = _by_itself(rows, workspace, row, other, a, b), workspace.column[other]
    lot_a, lot_b = workspace.part[a], workspace.part[b]
    if lot_a >= 0:
        total += _entry_in_lot(rows, workspace, row, 0, lot_a, place, a, b)
        place += _length_of(workspace, lot_a)
    if lot_b >= 0 and lot_b != lot_a:
        total += _entry_in_lot(rows, workspace, row, 1, lot_b, place, a, b)
    return total


@subkernel
def _entry_in_lot(rows, workspace, row, side, lot, place, a, b):
    """What a lot adds to a row's speed by a column, from ``place`` on."""
    columns, first, total = workspace.columns, workspace.seat_first[lot], 0.0
    if not workspace.by_body[lot]:
        return columns[place + workspace.seat[row, side] - first]
    for column in range(6):
        if workspace.part[a] == lot:
            total += rows.jacobian[row, column] * columns[place + workspace.velocity_at[a] - first + column]
        if workspace.part[b] == lot:
            total += rows.jacobian[row, 6 + column] * columns[place + workspace.velocity_at[b] - first + column]
    return total


@subkernel
def _end_of_contact(rows, workspace, place):
    """Where the listed rows end that are asked for together: a normal row with its friction; two directions."""
    row, end = workspace.listed_row[place], place + 1
    while end < workspace.used[2] and (
        workspace.row_kind[end] == SECOND or rows.normal_row[workspace.listed_row[end]] == row
    ):
        end += 1
    return end


@subkernel
def _is_off(rows, velocity, workspace, place, a, b, allowed):
    """Whether a listed row pushes, or is off by more than is allowed."""
    row = workspace.listed_row[place]
    impulse, weight, normal = rows.impulse[row], rows.diagonal[row], rows.normal_row[row]
    if impulse != 0.0 or weight <= 0.0 or normal >= 0:
        return impulse != 0.0 or (normal >= 0 and rows.impulse[normal] > 0.0)
    wanted = -speed_of(rows, velocity, workspace, row, a, b) / weight
    return weight * abs(min(max(wanted, rows.lower[row]), rows.upper[row])) > allowed


@subkernel
def _take_columns(rows, workspace, lot, behind, lanes):
    """J x of a lot's seats, or x, of its bodies' responses x; into columns, so many numbers behind their begin."""
    if lot < 0:
        return
    if workspace.by_body[lot]:
        _take_responses(workspace, lot, behind, lanes)
        return
    jacobian, part, x, first = rows.jacobian, workspace.part, workspace.x, workspace.seat_first[lot]
    position, local = workspace.alm.elimination.position, workspace.alm.graph.local
    for seat in range(first, workspace.seat_first[lot + 1]):
        row, sums = workspace.seat_row[seat], spread(0.0)
        if row >= 0:
            a, b = rows.body_a[workspace.seat_block[seat]], rows.body_b[workspace.seat_block[seat]]
            if part[a] == lot:
                place = SIZE * position[local[a]]
                for column in range(6):
                    sums = sums + spread(jacobian[row, column]) * load(x, WIDTH * (place + column))
            if part[b] == lot:
                place = SIZE * position[local[b]]
                for column in range(6):
                    sums = sums + spread(jacobian[row, 6 + column]) * load(x, WIDTH * (place + column))
        store(workspace.lane_sums, 0, sums)
        for lane in range(lanes):
            column = workspace.column[workspace.listed_row[workspace.lane[lane]]] + behind
            workspace.columns[column + seat - first] = workspace.lane_sums[lane]


@subkernel
def _take_responses(workspace, lot, behind, lanes):
    """The responses x of a lot's bodies; as ``_take_columns``."""
    begin, length = workspace.part_first[lot], _length_of(workspace, lot)
    count = SIZE * (workspace.part_first[lot + 1] - begin)
    for lane in range(lanes):
        column = workspace.column[workspace.listed_row[workspace.lane[lane]]] + behind
        for entry in range(count):
            place = SIZE * workspace.part_position[begin + entry // SIZE] + entry % SIZE
            workspace.columns[column + entry] = workspace.x[WIDTH * place + lane]
        for entry in range(count, length):
            workspace.columns[column + entry] = 0.0


@subkernel
def find_diagonal(rows, workspace, row, a, b):
    """W_ii of a row; its bodies are sorted into lots."""
    lot_a, lot_b = workspace.part[a], workspace.part[b]
    position, local = workspace.alm.elimination.position, workspace.alm.graph.local
    _ask(rows.jacobian, workspace, row, a, b, np.int64(0))
    _solve_lots(workspace, lot_a, lot_b)
    total = _by_itself(rows, workspace, row, row, a, b)
    for column in range(6):
        if lot_a >= 0:
            total += rows.jacobian[row, column] * workspace.x[WIDTH * (SIZE * position[local[a]] + column)]
        if lot_b >= 0:
            total += rows.jacobian[row, 6 + column] * workspace.x[WIDTH * (SIZE * position[local[b]] + column)]
    _clear_lots(workspace, lot_a, lot_b)
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
def _ask(jacobian, workspace, row, a, b, lane):
    """Let a lane of x be J' of a row."""
    x, position, local = workspace.x, workspace.alm.elimination.position, workspace.alm.graph.local
    if workspace.part[a] >= 0:
        place = SIZE * position[local[a]]
        for column in range(6):
            x[WIDTH * (place + column) + lane] = jacobian[row, column]
    if workspace.part[b] >= 0:
        place = SIZE * position[local[b]]
        for column in range(6):
            x[WIDTH * (place + column) + lane] += jacobian[row, 6 + column]


@subkernel
def _solve_lots(workspace, lot_a, lot_b):
    """x <- H^-1 x among the bodies of two lots, of which one may be none, or both the same."""
    for turn in range(2):
        lot = lot_a if turn == 0 else lot_b
        if lot >= 0 and (turn == 0 or lot_b != lot_a):
            _solve_lot(workspace, lot)


@subkernel
def _clear_lots(workspace, lot_a, lot_b):
    """Let x be zero again."""
    nothing = spread(0.0)
    for turn in range(2):
        lot = lot_a if turn == 0 else lot_b
        if lot >= 0:
            for index in range(workspace.part_first[lot], workspace.part_first[lot + 1]):
                start = SIZE * workspace.part_position[index]
                for entry in range(start, start + SIZE):
                    store(workspace.x, WIDTH * entry, nothing)


@subkernel
def _solve_lot(workspace, lot):
    """x <- (L L')^-1 x among the bodies of one lot; before the first that is not zero there is nothing to do."""
    elimination, factor, x = workspace.alm.elimination, workspace.alm.factor, workspace.x
    first, end, of = workspace.part_first[lot], workspace.part_first[lot + 1], workspace.part_position
    column_start, row = elimination.column_start, elimination.row
    diagonal, inverse, blocks, nothing = factor.diagonal, factor.inverse, factor.blocks, spread(0.0)
    for index in range(first, end):
        at = SIZE * of[index]
        largest = nothing
        for m in range(SIZE):
            largest = largest + size(load(x, WIDTH * (at + m)))
        if not any_of(largest > nothing):
            continue
        start = BLOCK * of[index]
        for m in range(SIZE):
            value = load(x, WIDTH * (at + m)) * spread(inverse[at + m])
            store(x, WIDTH * (at + m), value)
            for r in range(m + 1, SIZE):
                place = WIDTH * (at + r)
                store(x, place, load(x, place) - spread(diagonal[start + SIZE * m + r]) * value)
        x0, x1, x2, x3, x4, x5 = _six(x, at)
        for block in range(column_start[of[index]], column_start[of[index] + 1]):
            target, entry = SIZE * row[block], BLOCK * block
            for r in range(SIZE):
                place, e = WIDTH * (target + r), entry + r
                image = spread(blocks[e]) * x0 + spread(blocks[e + SIZE]) * x1 + spread(blocks[e + 2 * SIZE]) * x2
                image = image + spread(blocks[e + 3 * SIZE]) * x3 + spread(blocks[e + 4 * SIZE]) * x4
                store(x, place, load(x, place) - (image + spread(blocks[e + 5 * SIZE]) * x5))
    for index in range(end - 1, first - 1, -1):
        at, start = SIZE * of[index], BLOCK * of[index]
        for block in range(column_start[of[index]], column_start[of[index] + 1]):
            y0, y1, y2, y3, y4, y5 = _six(x, SIZE * row[block])
            for m in range(SIZE):
                place, e = WIDTH * (at + m), BLOCK * block + SIZE * m
                image = spread(blocks[e]) * y0 + spread(blocks[e + 1]) * y1 + spread(blocks[e + 2]) * y2
                image = image + spread(blocks[e + 3]) * y3 + spread(blocks[e + 4]) * y4 + spread(blocks[e + 5]) * y5
                store(x, place, load(x, place) - image)
        for m in range(SIZE - 1, -1, -1):
            value = load(x, WIDTH * (at + m))
            for r in range(m + 1, SIZE):
                value = value - spread(diagonal[start + SIZE * m + r]) * load(x, WIDTH * (at + r))
            store(x, WIDTH * (at + m), value * spread(inverse[at + m]))


@subkernel(inline=True)
def _six(x, at):
    """The six numbers of a body from ``at`` on, of all lanes."""
    return (
        load(x, WIDTH * at),
        load(x, WIDTH * (at + 1)),
        load(x, WIDTH * (at + 2)),
        load(x, WIDTH * (at + 3)),
        load(x, WIDTH * (at + 4)),
        load(x, WIDTH * (at + 5)),
    )
