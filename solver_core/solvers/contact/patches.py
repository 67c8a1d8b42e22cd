"""Patches: the few bodies of a large island among which a problem is not solved yet, as a problem of their own.

Where one box rolls down a heap that lies still, most contacts of the island are solved by the impulses of the substep
before. A sweep goes over all of them, and Newton's method asks them all anew. A patch holds the blocks whose error is
large, and those among the bodies that push on theirs. The impulses of all other blocks stay, so for P, the rows of the
patch, and its bodies

    v = v_0 + M^-1 J_P' r_P,      v_0 = v_free + M^-1 J_o' r_o       (o: all other rows)

which is a contact problem like any other, with v_0 in the place of v_free: block Gauss-Seidel on the blocks of P.
Its rows lie side by side in memory, its bodies have numbers of their own. Solved, it leaves errors in the blocks around
it, which are smaller by what the bodies of the patch have taken; sweeps spread them, and the next patch is another one.

(Bodies around the patch that are held instead, with free impulses at its edge, are the worse choice: all of their load
then lands on bodies that no one has asked. A heap of 1,000 boxes at rest was worse after that than before.)
"""

from typing import NamedTuple

import numpy as np

from ...kernel import kernel, subkernel
from ...residuals import block_errors, natural_map
from ...rows import (
    IslandArrays,
    RowArrays,
    SolverWorkspace,
    allocate_islands,
    allocate_rows,
    allocate_solver_workspace,
)
from .limits import with_ends
from .nncg import solve_nncg
from .parts import lay_blocks

# Blocks of the largest patch. A Newton step on so many takes a millisecond or two.
MOST_BLOCKS = 1500
# Rows of a block for which there is room, on the average.
_ROWS_A_BLOCK = 3
# The blocks of the rings that push on a hit are swept with it, so often at most, to this share of what is asked for;
# after so many patches the whole island is swept.
_RINGS_OF_HIT, _SHARE_OF_HIT, _MOST_HITS = np.int64(2), 0.5, 4


class PatchArrays(NamedTuple):
    """Room for one patch.

    Attributes
    ----------
    rows : RowArrays
    islands : IslandArrays
        One island, the patch.
    free_velocity, velocity : float64 [bodies of the patch, 6]
    sweep : SolverWorkspace
        For sweeps over the patch.
    block, body : int64 [blocks, bodies of the patch]
        Which they are of the whole.
    number : int64 [body_capacity]
        Of each body of the island: its number in the patch; before there is one, the ring in which it lies, 0 for none.
    """

    rows: RowArrays
    islands: IslandArrays
    free_velocity: np.ndarray
    velocity: np.ndarray
    sweep: SolverWorkspace
    block: np.ndarray
    body: np.ndarray
    number: np.ndarray


def allocate_patch(row_capacity: int, body_capacity: int) -> PatchArrays:
    """Room for a patch of an island with so many rows and bodies."""
    rows = min(row_capacity, _ROWS_A_BLOCK * MOST_BLOCKS)
    blocks, bodies = min(row_capacity, MOST_BLOCKS), min(body_capacity, 2 * MOST_BLOCKS)
    return PatchArrays(
        rows=allocate_rows(blocks, rows, bodies),
        islands=allocate_islands(blocks, bodies),
        free_velocity=np.zeros((bodies, 6)),
        velocity=np.zeros((bodies, 6)),
        sweep=allocate_solver_workspace(rows, bodies),
        block=np.zeros(blocks, np.int64),
        body=np.zeros(bodies, np.int64),
        number=np.zeros(body_capacity, np.int64),
    )


@kernel
def cut_patch(rows, islands, island, velocity, error, above, rings, patch):
    """Cut out what is around the blocks with a large error.

    Parameters
    ----------
    rows, islands, island, velocity
        Read.
    error : float64 [blocks of the island]
        ``residuals.block_errors`` [m/s].
    above : float
        Errors above this are large [m/s].
    rings : int
        Bodies that push on those of such blocks are the first ring, what pushes on these the second.
    patch : PatchArrays
        Written.

    Returns
    -------
    bool
        False where there is no such block, or no room.
    """
    first, end = islands.block_first[island], islands.block_first[island + 1]
    ring = patch.number
    for index in range(first, end):
        block = islands.block_order[index]
        ring[rows.body_a[block]] = ring[rows.body_b[block]] = 0
    for index in range(first, end):
        if error[index - first] > above:
            block = islands.block_order[index]
            _join_ring(rows, ring, rows.body_a[block], np.int64(1))
            _join_ring(rows, ring, rows.body_b[block], np.int64(1))
    for present in range(1, rings + 1):
        for index in range(first, end):
            block = islands.block_order[index]
            a, b = rows.body_a[block], rows.body_b[block]
            if (ring[a] == present or ring[b] == present) and _pushes(rows, block):
                _join_ring(rows, ring, a, present + 1)
                _join_ring(rows, ring, b, present + 1)
    blocks, used_rows = np.int64(0), np.int64(0)
    for index in range(first, end):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        # bodies that cannot be pushed are in no ring
        if (ring[a] > 0 or not _can_be_pushed(rows, a)) and (ring[b] > 0 or not _can_be_pushed(rows, b)):
            used_rows += rows.block_row[block + 1] - rows.block_row[block]
            if blocks == patch.block.size or used_rows > patch.rows.impulse.size:
                return False
            patch.block[blocks] = block
            blocks += 1
    patch.rows.count[0], patch.rows.count[1] = blocks, used_rows
    _number_bodies(rows, islands, island, velocity, patch)
    _lay_patch(rows, patch)
    return blocks > 0


@kernel
def put_back(rows, velocity, patch):
    """Take over the impulses of a patch, and the velocities of its bodies.

    Parameters
    ----------
    rows : RowArrays
        Written: impulse.
    velocity : float64 [body_count, 6]
        Written.
    patch : PatchArrays
        Read.
    """
    row = 0
    for place in range(patch.rows.count[0]):
        block = patch.block[place]
        for old in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[old] = patch.rows.impulse[row]
            row += 1
    for number in range(patch.islands.body_first[1]):
        body = patch.body[number]
        for column in range(6):
            velocity[body, column] = patch.velocity[number, column]


@subkernel
def sweep_hits(rows, islands, island, velocity, patch, error, settings, rough, most_sweeps, start):
    """Sweep over the surroundings of hits, of which a large island has few at a time.

    Parameters
    ----------
    rows, islands, island, velocity
        Impulses and velocities are written.
    patch : PatchArrays
        Workspace.
    error : float64 [blocks of the island or more]
        Workspace.
    settings : SolverSettings
    rough : float
        Errors above this are those of hits [m/s].
    most_sweeps : int
        Over each patch.
    start : tuple of (float, int)
        ``natural_map`` at the start.

    Returns
    -------
    tuple
        (sweeps, residual [m/s], worst block).
    """
    residual, worst_block = start
    sweeps = np.int64(0)
    for _ in range(_MOST_HITS):
        block_errors(rows, islands, island, velocity, settings, error)
        if not cut_patch(rows, islands, island, velocity, error, _SHARE_OF_HIT * rough, _RINGS_OF_HIT, patch):
            break
        _, done, _, _, _ = solve_nncg(
            patch.rows,
            patch.islands,
            np.int64(0),
            patch.free_velocity,
            patch.velocity,
            patch.sweep,
            with_ends(settings, 0.0, _SHARE_OF_HIT * rough, most_sweeps),
        )
        sweeps += done
        put_back(rows, velocity, patch)
        residual, worst_block = natural_map(rows, islands, island, velocity, settings)
        if residual <= rough:
            break
    return sweeps, residual, worst_block


@subkernel
def _can_be_pushed(rows, body):
    return rows.body_mass[body, 0, 0] > 0.0


@subkernel
def _join_ring(rows, ring, body, number):
    """Let a body join a ring if it is in none and can be pushed."""
    if ring[body] == 0 and _can_be_pushed(rows, body):
        ring[body] = number


@subkernel
def _pushes(rows, block):
    """Whether a block has an impulse."""
    found = False
    for row in range(rows.block_row[block], rows.block_row[block + 1]):
        found = found or rows.impulse[row] != 0.0
    return found


@subkernel
def _number_bodies(rows, islands, island, velocity, patch):
    """Number the bodies of a patch's blocks: first those that can be pushed, in the island's order, then the others."""
    number, count = patch.number, np.int64(0)
    for place in range(patch.rows.count[0]):
        block = patch.block[place]
        number[rows.body_a[block]] = number[rows.body_b[block]] = -1
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        if number[body] == -1:
            number[body] = _add_body(rows, velocity, patch, body, count)
            patch.islands.body_order[count] = count
            count += 1
    patch.islands.count[0] = 1
    patch.islands.body_first[1] = count
    for place in range(patch.rows.count[0]):
        block = patch.block[place]
        for body in (rows.body_a[block], rows.body_b[block]):
            if number[body] == -1:
                number[body] = _add_body(rows, velocity, patch, body, count)
                count += 1


@subkernel
def _add_body(rows, velocity, patch, body, number):
    patch.body[number] = body
    for column in range(6):
        patch.velocity[number, column] = patch.free_velocity[number, column] = velocity[body, column]
        for other in range(6):
            patch.rows.body_mass[number, column, other] = rows.body_mass[body, column, other]
    return number


@subkernel
def _lay_patch(rows, patch):
    """Copy the blocks' rows, and take their impulses out of the free velocities."""
    laid, blocks = patch.rows, patch.rows.count[0]
    laid.block_row[0] = patch.islands.block_first[0] = 0
    for place in range(blocks):
        block = patch.block[place]
        laid.block_row[place + 1] = laid.block_row[place] + rows.block_row[block + 1] - rows.block_row[block]
        patch.islands.block_order[place] = place
    patch.islands.block_first[1] = blocks
    lay_blocks(rows, patch.block, 0, blocks, laid)
    for place in range(blocks):
        a, b = patch.number[laid.body_a[place]], patch.number[laid.body_b[place]]
        laid.body_a[place], laid.body_b[place] = a, b
        for row in range(laid.block_row[place], laid.block_row[place + 1]):
            for column in range(6):
                patch.free_velocity[a, column] -= laid.response[row, column] * laid.impulse[row]
                patch.free_velocity[b, column] -= laid.response[row, 6 + column] * laid.impulse[row]
