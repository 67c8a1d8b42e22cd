"""Responses of bodies that joints hold: H^-1 J' of a row, kept for the lot of bodies that it moves.

H is factorised (``joint_elimination``); a response is made when first needed, by a solve among the bodies of its lot.
"""

from ..compiled.kernel import subkernel
from .linear_algebra.block_products import BLOCK, SIZE, add_products, subtract_image


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
def push(own_response, velocity, workspace, row, delta, a, b, part_a, part_b):
    """Add what a change of a row's impulse does to all velocities.

    Parameters
    ----------
    own_response : float64 [row_capacity, 12]
        Of bodies outside of joints (read).
    velocity : float64 [body_count, 6]
        Written.
    workspace : JointedArrays
        Read.
    row : int64
        Of ``respond``, if a body of it is in a part.
    delta : float
        [N s]
    a, b, part_a, part_b : int64
        Bodies and parts; -1 for a body outside of joints.
    """
    if delta == 0.0:
        return
    place = workspace.first[row]
    if part_a >= 0:
        place = _push_part(velocity, workspace, part_a, place, delta)
    else:
        for column in range(6):
            velocity[a, column] += own_response[row, column] * delta
    if part_b < 0:
        for column in range(6):
            velocity[b, column] += own_response[row, 6 + column] * delta
    elif part_b != part_a:
        _push_part(velocity, workspace, part_b, place, delta)


@subkernel
def _push_part(velocity, workspace, part, place, delta):
    """Add ``delta`` times a response, from ``place`` on, to the velocities of a part; returns the place behind it."""
    response, part_body = workspace.response, workspace.part_body
    for index in range(workspace.part_first[part], workspace.part_first[part + 1]):
        body = part_body[index]
        for column in range(6):
            velocity[body, column] += response[place + column] * delta
        place += 6
    return place


@subkernel
def respond(jacobian, own_response, workspace, row, count, a, b, part_a, part_b):
    """Find H^-1 J' of some rows of a block, and their W.

    Parameters
    ----------
    jacobian, own_response : float64 [row_capacity, 12]
        Read.
    workspace : JointedArrays
        Response, diagonal and coupling of the rows are written.
    row, count : int64
        The first row, and how many there are.
    a, b, part_a, part_b : int64
        As of ``push``.

    Returns
    -------
    bool
        Whether there was room.
    """
    first, x, position = workspace.part_first, workspace.x, workspace.alm.elimination.position
    local = workspace.alm.graph.local
    numbers = 0
    if part_a >= 0:
        numbers += SIZE * (first[part_a + 1] - first[part_a])
    if part_b >= 0 and part_b != part_a:
        numbers += SIZE * (first[part_b + 1] - first[part_b])
    if workspace.used[0] + count * numbers > workspace.response.size:
        return False
    place_a = SIZE * position[local[a]] if part_a >= 0 else 0
    place_b = SIZE * position[local[b]] if part_b >= 0 else 0
    for k in range(row, row + count):
        workspace.first[k] = place = workspace.used[0]
        workspace.used[0] += numbers
        total, coupling = 0.0, 0.0
        if part_a >= 0:
            for column in range(6):
                x[place_a + column] = jacobian[k, column]
            if part_b == part_a:
                for column in range(6):
                    x[place_b + column] += jacobian[k, 6 + column]
            _solve_part(workspace, part_a)
            for column in range(6):
                total += jacobian[k, column] * x[place_a + column]
                coupling += jacobian[row + count - 1, column] * x[place_a + column]
                if part_b == part_a:
                    total += jacobian[k, 6 + column] * x[place_b + column]
                    coupling += jacobian[row + count - 1, 6 + column] * x[place_b + column]
            place = _keep_response(workspace, part_a, place)
        else:
            for column in range(6):
                total += jacobian[k, column] * own_response[k, column]
                coupling += jacobian[row + count - 1, column] * own_response[k, column]
        if part_b < 0:
            for column in range(6):
                total += jacobian[k, 6 + column] * own_response[k, 6 + column]
                coupling += jacobian[row + count - 1, 6 + column] * own_response[k, 6 + column]
        elif part_b != part_a:
            for column in range(6):
                x[place_b + column] = jacobian[k, 6 + column]
            _solve_part(workspace, part_b)
            for column in range(6):
                total += jacobian[k, 6 + column] * x[place_b + column]
                coupling += jacobian[row + count - 1, 6 + column] * x[place_b + column]
            _keep_response(workspace, part_b, place)
        workspace.diagonal[k], workspace.coupling[k] = total, coupling
    return True


@subkernel
def _keep_response(workspace, part, place):
    """Copy x of a part's bodies to a response, and clear it; returns the place behind."""
    x, response = workspace.x, workspace.response
    for index in range(workspace.part_first[part], workspace.part_first[part + 1]):
        start = SIZE * workspace.part_position[index]
        for column in range(6):
            response[place + column] = x[start + column]
            x[start + column] = 0.0
        place += 6
    return place


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
