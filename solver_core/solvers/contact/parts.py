"""What sweeping solvers do all over an island: at once, or where it is large part by part.

A large island is divided into parts of two colours (``IslandArrays``); those of one colour share no body that can be
pushed, so they may be swept in any order, or at the same time, to the same bits. A sweep goes over the parts of the
first colour, then over those of the second. Sums are taken part by part and added in the parts' order. All of that
hangs on the island alone. How many lanes do the parts (``jobs``) changes the time only.

Rows lie in memory as contacts were found. To sweep a large island in another order takes a quarter longer, so a solver
begins by laying its rows in the order of parts (``lay_rows``) and works on these, contacts eight at a time where they
are in packs (``packs``). The residual is one of the rows themselves, which take over the impulses for it.

What is said here of one island holds for islands without parts alike; for them ``lay_rows`` and ``take_impulses`` do
nothing.
"""

import numpy as np

from ...jobs import (
    DIRECTIONS,
    FRICTION,
    ISLAND,
    JOB,
    PART,
    await_pieces,
    end_piece,
    offer_pieces,
    take_piece,
)
from ...kernel import kernel, subkernel
from ...residuals import natural_map
from .directions import copy_impulses, follow_in_bodies, follow_in_rows, follow_in_run
from .packs import lay_packs, sweep_packs, take_packs
from .sweep import sweep_blocks

# Values of JOB; no literals, for which Numba would compile what they are handed to once each.
_LAY, _SWEEP, _FOLLOW, _COPY = np.int64(0), np.int64(1), np.int64(2), np.int64(3)


@subkernel
def is_divided(islands, island):
    """Whether an island has parts, and these are all of it; impacts take contacts out for a while."""
    first, end = islands.part_first[island], islands.part_first[island + 1]
    return end > first and islands.part_block[end - 1, 1] == islands.block_first[island + 1]


@subkernel
def lay_rows(rows, islands, island, velocity, workspace):
    """Copy the rows of a divided island to ``workspace.laid`` and its packs, in the order of its parts.

    Parameters
    ----------
    rows, islands, island, velocity
        Read.
    workspace : SolverWorkspace
        Written.
    """
    if is_divided(islands, island):
        first, end = islands.part_first[island], islands.part_first[island + 1]
        _do_job(rows, islands, island, velocity, workspace, _LAY, first, end)


@subkernel
def take_impulses(rows, islands, island, workspace):
    """Copy the impulses of a divided island's laid rows to its rows.

    Parameters
    ----------
    rows : RowArrays
        Written: impulse.
    islands, island, workspace
        Read.
    """
    if not is_divided(islands, island):
        return
    laid, packs = workspace.laid, workspace.packs
    for part in range(islands.part_first[island], islands.part_first[island + 1]):
        take_packs(rows, packs, part, laid)
        for index in range(packs.part_loose[part], islands.part_block[part, 1]):
            block = islands.block_order[index]
            shift = laid.block_row[index] - rows.block_row[block]
            for row in range(rows.block_row[block], rows.block_row[block + 1]):
                rows.impulse[row] = laid.impulse[row + shift]


@subkernel
def residual_of(rows, islands, island, velocity, workspace, settings):
    """``natural_map`` of the present impulses, which the rows take over.

    Parameters
    ----------
    rows : RowArrays
        Read; ``impulse`` written.
    islands, island, velocity, workspace, settings
        Read.

    Returns
    -------
    residual : float
        [m/s]
    worst_block : int
    """
    take_impulses(rows, islands, island, workspace)
    return natural_map(rows, islands, island, velocity, settings)


@subkernel
def sweep_island(rows, islands, island, velocity, workspace, settings, step, memory):
    """Sweep once over an island with the model of friction that is asked for.

    Parameters
    ----------
    rows : RowArrays
        Read; ``impulse`` written, of a divided island that of ``workspace.laid``.
    islands : IslandArrays
        Read.
    island : int
    velocity : float64 [body_count, 6]
        Written.
    workspace : SolverWorkspace
        ``change`` is written, ``excess`` as in ``sweep_rows``; of a divided island ``laid_numbers``.
    settings : SolverSettings
    step, memory : float
        As in ``sweep_rows``; only the box has a memory.

    Returns
    -------
    largest, merit : float
        As in ``sweep_rows``.
    """
    if not is_divided(islands, island):
        return sweep_blocks(
            rows,
            islands.block_order,
            islands.block_first[island],
            islands.block_first[island + 1],
            velocity,
            workspace.change,
            step,
            memory,
            workspace.excess,
            settings.friction,
            settings.directions,
        )
    first, second, end = islands.part_first[island], islands.second_part[island], islands.part_first[island + 1]
    board = workspace.board
    board[FRICTION], board[DIRECTIONS] = settings.friction, settings.directions
    workspace.amounts[0], workspace.amounts[1] = step, memory
    _do_job(rows, islands, island, velocity, workspace, _SWEEP, first, second)
    _do_job(rows, islands, island, velocity, workspace, _SWEEP, second, end)
    largest, merit = 0.0, 0.0
    for part in range(first, end):
        largest = max(largest, workspace.found[part, 0])
        merit += workspace.found[part, 1]
    return largest, merit


@subkernel
def follow_direction(rows, islands, island, velocity, workspace, beta):
    """r += beta p, p = beta p + change, and the same for the velocities; p = 0 at a restart (beta < 0).

    Parameters
    ----------
    rows : RowArrays
        Read; ``impulse`` written, of a divided island that of ``workspace.laid``.
    islands : IslandArrays
        Read.
    island : int
    velocity : float64 [body_count, 6]
        Read and written.
    workspace : SolverWorkspace
        ``change`` read, ``direction`` and ``velocity_direction`` read and written; ``velocity_before`` read, and then
        the velocities written to it.
    beta : float

    Returns
    -------
    float
        grad' p, in the metric diag(W), of the new direction.
    """
    first, end = islands.part_first[island], islands.part_first[island + 1]
    if not is_divided(islands, island):
        blocks = islands.block_first[island], islands.block_first[island + 1]
        bodies = islands.body_first[island], islands.body_first[island + 1]
        follow_in_bodies(
            islands.body_order,
            bodies[0],
            bodies[1],
            velocity,
            workspace.velocity_before,
            workspace.velocity_direction,
            beta,
        )
        order, change, direction = islands.block_order, workspace.change, workspace.direction
        return follow_in_rows(rows, order, blocks[0], blocks[1], change, direction, beta)
    workspace.amounts[0] = beta
    _do_job(rows, islands, island, velocity, workspace, _FOLLOW, first, end)
    slope = 0.0
    for part in range(first, end):
        slope += workspace.found[part, 0]
    return slope


@subkernel
def keep_best(rows, islands, island, velocity, workspace):
    """Copy the impulses of an island to ``workspace.best``, of a divided one those of ``workspace.laid``.

    Parameters
    ----------
    rows : RowArrays
        Read.
    islands, island, velocity
        Read.
    workspace : SolverWorkspace
        Written.
    """
    if is_divided(islands, island):
        first, end = islands.part_first[island], islands.part_first[island + 1]
        _do_job(rows, islands, island, velocity, workspace, _COPY, first, end)
        return
    first, end = islands.block_first[island], islands.block_first[island + 1]
    copy_impulses(rows, islands.block_order, first, end, rows.impulse, workspace.best)


@subkernel
def go_back_to_best(rows, islands, island, workspace):
    """The impulses of ``keep_best`` for those of the rows; ``workspace.change`` keeps these.

    Parameters
    ----------
    rows : RowArrays
        Written: impulse.
    islands, island
        Read.
    workspace : SolverWorkspace
        Written: change; of a divided island the impulses of ``laid``, too.
    """
    first, end = islands.block_first[island], islands.block_first[island + 1]
    copy_impulses(rows, islands.block_order, first, end, rows.impulse, workspace.change)
    if not is_divided(islands, island):
        copy_impulses(rows, islands.block_order, first, end, workspace.best, rows.impulse)
        return
    first_row, end_row = _laid_rows(islands, island, workspace)
    for row in range(first_row, end_row):
        workspace.laid.impulse[row] = workspace.laid_numbers[3, row]
    take_impulses(rows, islands, island, workspace)


@subkernel
def mix_changes(rows, islands, island, workspace):
    """<change, change of the sweep before> in the metric diag(W); the changes are kept for the next sweep.

    Parameters
    ----------
    rows, islands, island
        Read.
    workspace : SolverWorkspace
        ``change`` read, ``last_change`` read and written; of a divided island in ``laid_numbers``.

    Returns
    -------
    float
        [J]
    """
    mixed = 0.0
    if is_divided(islands, island):
        numbers, diagonal = workspace.laid_numbers, workspace.laid.diagonal
        first_row, end_row = _laid_rows(islands, island, workspace)
        for row in range(first_row, end_row):
            mixed += diagonal[row] * numbers[0, row] * numbers[1, row]
            numbers[1, row] = numbers[0, row]
        return mixed
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            mixed += rows.diagonal[row] * workspace.change[row] * workspace.last_change[row]
            workspace.last_change[row] = workspace.change[row]
    return mixed


@subkernel
def step_back(rows, islands, island, velocity, workspace, step):
    """Undo the sweep and the half of the step that led to it: r = r_k + step p after r_k + 2 step p was tried.

    Parameters
    ----------
    rows : RowArrays
        Written: impulse, of a divided island that of ``workspace.laid``.
    islands, island
        Read.
    velocity : float64 [body_count, 6]
        Written.
    workspace : SolverWorkspace
        Read.
    step : float
    """
    if is_divided(islands, island):
        numbers, impulse = workspace.laid_numbers, workspace.laid.impulse
        first_row, end_row = _laid_rows(islands, island, workspace)
        for row in range(first_row, end_row):
            impulse[row] -= numbers[0, row] + step * numbers[2, row]
    else:
        for index in range(islands.block_first[island], islands.block_first[island + 1]):
            block = islands.block_order[index]
            for row in range(rows.block_row[block], rows.block_row[block + 1]):
                rows.impulse[row] -= workspace.change[row] + step * workspace.direction[row]
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for column in range(6):
            velocity[body, column] = (
                workspace.velocity_before[body, column] - step * workspace.velocity_direction[body, column]
            )


@subkernel
def forget_excess(rows, islands, island, workspace):
    """Set what the bounds cut off to 0.

    Parameters
    ----------
    rows, islands, island
        Read.
    workspace : SolverWorkspace
        Written: excess; of a divided island in ``laid_numbers``.
    """
    if is_divided(islands, island):
        first_row, end_row = _laid_rows(islands, island, workspace)
        for row in range(first_row, end_row):
            workspace.laid_numbers[4, row] = 0.0
        return
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            workspace.excess[row] = 0.0


@subkernel
def _laid_rows(islands, island, workspace):
    """Where the laid rows of a divided island begin and end."""
    part_row = workspace.packs.part_row
    return part_row[islands.part_first[island]], part_row[islands.part_first[island + 1]]


@subkernel
def _do_job(rows, islands, island, velocity, workspace, job, first, end):
    """Do a job with the parts from ``first`` to ``end``, together with whoever helps."""
    board = workspace.board
    board[JOB], board[PART], board[ISLAND] = job, first, island
    if not offer_pieces(board, end - first):
        for part in range(first, end):
            _do_part(rows, islands, velocity, workspace, board, workspace.amounts, part)
        return
    help_with_parts(rows, islands, velocity, workspace, board, workspace.amounts)
    await_pieces(board, end - first)


@kernel
def help_with_parts(rows, islands, velocity, workspace, board, amounts):
    """Do parts of a lane's present job until none is left.

    Parameters
    ----------
    rows, islands, velocity, workspace
        As of ``lay_rows``, written as the job does.
    board, amounts : int64 [16], float64 [2]
        Of the lane whose job it is.
    """
    while True:
        piece = take_piece(board)
        if piece < 0:
            return
        _do_part(rows, islands, velocity, workspace, board, amounts, board[PART] + piece)
        end_piece(board)


@subkernel
def _do_part(rows, islands, velocity, workspace, board, amounts, part):
    """Do the job that the board says with one part."""
    job, island = board[JOB], board[ISLAND]
    packs, laid, found, numbers = workspace.packs, workspace.laid, workspace.found[part], workspace.laid_numbers
    first, end = packs.part_loose[part], islands.part_block[part, 1]
    first_row, end_row = packs.part_row[part], packs.part_row[part + 1]
    if job == _LAY:
        lay_packs(rows, packs, part, laid)
        lay_blocks(rows, islands.block_order, first, end, laid)
    elif job == _SWEEP:
        largest, merit = sweep_packs(packs, part, laid.impulse, velocity, numbers[0], amounts[0])
        order, model, directions = workspace.laid_order, board[FRICTION], board[DIRECTIONS]
        loose_largest, loose_merit = sweep_blocks(
            laid, order, first, end, velocity, numbers[0], amounts[0], amounts[1], numbers[4], model, directions
        )
        found[0], found[1] = max(largest, loose_largest), merit + loose_merit
    elif job == _COPY:
        for row in range(first_row, end_row):
            numbers[3, row] = laid.impulse[row]
    else:
        found[0] = follow_in_run(laid.impulse, laid.diagonal, first_row, end_row, numbers[0], numbers[2], amounts[0])
        # bodies belong to no part: as many of them are done with each
        parts = islands.part_first[island + 1] - islands.part_first[island]
        place = part - islands.part_first[island]
        first_body = islands.body_first[island]
        bodies = islands.body_first[island + 1] - first_body
        follow_in_bodies(
            islands.body_order,
            first_body + bodies * place // parts,
            first_body + bodies * (place + 1) // parts,
            velocity,
            workspace.velocity_before,
            workspace.velocity_direction,
            amounts[0],
        )


@subkernel
def lay_blocks(rows, order, first, end, laid):
    """Copy a run of blocks to their places in ``laid``; the bodies' masses stay where they are."""
    for index in range(first, end):
        block = order[index]
        laid.body_a[index], laid.body_b[index] = rows.body_a[block], rows.body_b[block]
        shift = laid.block_row[index] - rows.block_row[block]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            place = row + shift
            for column in range(12):
                laid.jacobian[place, column] = rows.jacobian[row, column]
                laid.response[place, column] = rows.response[row, column]
            laid.diagonal[place] = rows.diagonal[row]
            laid.bias[place] = rows.bias[row]
            laid.lower[place] = rows.lower[row]
            laid.upper[place] = rows.upper[row]
            laid.friction[place] = rows.friction[row]
            laid.impulse[place] = rows.impulse[row]
            # the normal row of a friction row is one of the same block
            normal = rows.normal_row[row]
            laid.normal_row[place] = normal + shift if normal >= 0 else normal
