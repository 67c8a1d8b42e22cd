"""Active subdomains: the few bodies of a large island among which it is not solved yet, as a problem of their own.

Where one box rolls down a heap that lies still, the impulses of the last substep solve most contacts of the island. A
sweep goes over all of them, and so does each step of Newton's method. An active subdomain holds the blocks whose error
is large, and those among the bodies that push on theirs. The impulses of all other blocks stay, so for P, the rows of
the subdomain, and its bodies

    v = v_0 + M^-1 J_P' r_P,      v_0 = v_free + M^-1 J_o' r_o       (o: all other rows)

which is a contact problem like any other, with v_0 in the place of v_free: block Gauss-Seidel on the blocks of P.
Its rows lie side by side in memory, its bodies have numbers of their own. Solved, it leaves errors in the blocks around
it, which are smaller by what the bodies of the subdomain have taken; sweeps spread them, and the next subdomain is
another one.

(Holding the bodies around the subdomain instead, with free impulses at its edge, is worse: all of their load then lands
on bodies outside of it. A heap of 1,000 boxes at rest was worse after that than before.)
"""

from typing import NamedTuple

import numpy as np

from ..compiled.kernel import kernel, subkernel
from ..compiled.views import whole
from ..problem.problem import MAX_ITERATIONS
from ..problem.residuals import block_errors, natural_map
from ..problem.rows import IslandArrays, RowArrays, allocate_islands, allocate_rows
from .batches.partitioned_sweep import lay_blocks
from .batches.sweep_workspace import SweepWorkspace, allocate_sweep_workspace
from .policy import (
    FACTOR_UNSOLVED,
    MOST_BLOCKS,
    MOST_HITS,
    MOST_STALLED,
    MOST_SUBDOMAINS,
    RINGS,
    RINGS_OF_HIT,
    SHARE_OF_HIT,
    SHARE_OF_LARGEST,
    SHARE_OF_TARGET,
    SHARE_UNSOLVED,
    STEPS_IN_SUBDOMAIN,
    SWEEPS_BETWEEN,
)
from .shared.limits import with_ends, with_limit
from .solve_memory import may_try_subdomains, note_subdomains
from .sweeps.nncg import iterate_nncg, solve_nncg

# Rows per block for which there is room, on average.
_ROWS_PER_BLOCK = 3


class SubdomainArrays(NamedTuple):
    """Room for one subdomain.

    Attributes
    ----------
    rows : RowArrays
    islands : IslandArrays
        One island, the subdomain.
    free_velocity, velocity : float64 [bodies of the subdomain, 6]
    sweep : SweepWorkspace
        For sweeps over the subdomain.
    block, body : int64 [blocks], int64 [bodies of the subdomain]
        Blocks and bodies of the whole problem.
    number : int64 [body_capacity]
        Number of each body of the island in the subdomain; while that is being cut, the ring in which the body lies, 0
        for none.
    """

    rows: RowArrays
    islands: IslandArrays
    free_velocity: np.ndarray
    velocity: np.ndarray
    sweep: SweepWorkspace
    block: np.ndarray
    body: np.ndarray
    number: np.ndarray


def allocate_subdomain(row_capacity: int, body_capacity: int) -> SubdomainArrays:
    """Room for a subdomain of an island with this many rows and bodies."""
    rows = min(row_capacity, _ROWS_PER_BLOCK * MOST_BLOCKS)
    blocks, bodies = min(row_capacity, MOST_BLOCKS), min(body_capacity, 2 * MOST_BLOCKS)
    return SubdomainArrays(
        rows=allocate_rows(blocks, rows, bodies),
        islands=allocate_islands(blocks, bodies),
        free_velocity=np.zeros((bodies, 6)),
        velocity=np.zeros((bodies, 6)),
        sweep=allocate_sweep_workspace(rows, bodies),
        block=np.zeros(blocks, np.int64),
        body=np.zeros(bodies, np.int64),
        number=np.zeros(body_capacity, np.int64),
    )


@kernel
def cut_subdomain(rows, islands, island, velocity, error, above, rings, subdomain):
    """Cut out a subdomain: the blocks with a large error, and those around them.

    Parameters
    ----------
    rows, islands, island, velocity
        Read.
    error : float64 [blocks of the island]
        ``residuals.block_errors`` [m/s].
    above : float
        Errors above this are large [m/s].
    rings : int
        The first ring are bodies that push on those of such blocks, the second those that push on these.
    subdomain : SubdomainArrays
        Written.

    Returns
    -------
    bool
        False if there is no such block, or no room.
    """
    first, end = islands.block_first[island], islands.block_first[island + 1]
    ring = subdomain.number
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
            if blocks == subdomain.block.size or used_rows > subdomain.rows.impulse.size:
                return False
            subdomain.block[blocks] = block
            blocks += 1
    subdomain.rows.count[0], subdomain.rows.count[1] = blocks, used_rows
    _number_bodies(rows, islands, island, velocity, subdomain)
    _lay_subdomain(rows, subdomain)
    return blocks > 0


@kernel
def put_back(rows, velocity, subdomain):
    """Copy the impulses of a subdomain and the velocities of its bodies back to the whole problem.

    Parameters
    ----------
    rows : RowArrays
        Written: impulse.
    velocity : float64 [body_count, 6]
        Written.
    subdomain : SubdomainArrays
        Read.
    """
    row = 0
    for place in range(subdomain.rows.count[0]):
        block = subdomain.block[place]
        for old in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[old] = subdomain.rows.impulse[row]
            row += 1
    for number in range(subdomain.islands.body_first[1]):
        body = subdomain.body[number]
        for column in range(6):
            velocity[body, column] = subdomain.velocity[number, column]


@subkernel
def suits_subdomains(rows, islands, island, velocity, memory, error, settings, target):
    """Whether an island is solved but for a small share, and subdomains have not just failed there.

    Parameters
    ----------
    rows, islands, island, velocity
        Read.
    memory : SolveMemory
        Read and written.
    error : float64 [blocks of the island or more]
        Workspace.
    settings : SolverSettings
    target : float
        [m/s]

    Returns
    -------
    bool
    """
    if not may_try_subdomains(islands, island, memory):
        return False
    count, unsolved = islands.block_first[island + 1] - islands.block_first[island], 0
    block_errors(rows, islands, island, velocity, settings, error)
    for place in range(count):
        if error[place] > FACTOR_UNSOLVED * target:
            unsolved += 1
    return unsolved <= min(MOST_BLOCKS, SHARE_UNSOLVED * count)


def solve_exactly(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Stand-in for the exact method, to which ``solve_subdomains`` is bound."""
    raise NotImplementedError("subdomains were solved without an exact method")


def solve_subdomains(rows, islands, island, free_velocity, velocity, workspace, settings, scale, start):
    """Solve one island subdomain by subdomain; to be bound to an exact method.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of every contact solver.
    workspace : CascadeWorkspace
    scale : float
        [m/s]
    start : tuple of (float, int)
        ``natural_map`` at the start.

    Returns
    -------
    tuple
        (status, iterations, residual [m/s], worst block).
    """
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    residual, worst_block = start
    iterations = stalled = np.int64(0)
    least, error, subdomain, status = residual, workspace.sweep.change, workspace.subdomain, MAX_ITERATIONS
    # the same types as those of the whole problem, so that methods are compiled once
    own_rows, own_islands = whole(subdomain.rows), whole(subdomain.islands)
    for _ in range(MOST_SUBDOMAINS):
        block_errors(rows, islands, island, velocity, settings, error)
        above = max(target, SHARE_OF_LARGEST * residual)
        if not cut_subdomain(rows, islands, island, velocity, error, above, RINGS + stalled, subdomain):
            break
        steps = min(STEPS_IN_SUBDOMAIN, settings.max_iterations - iterations)
        _, done, _, _, _ = solve_exactly(
            own_rows,
            own_islands,
            np.int64(0),
            subdomain.free_velocity,
            subdomain.velocity,
            workspace.exact,
            with_ends(settings, 0.0, SHARE_OF_TARGET * target, steps),
        )
        iterations += done
        put_back(rows, velocity, subdomain)
        start = natural_map(rows, islands, island, velocity, settings)
        status, done, residual, worst_block = iterate_nncg(
            rows,
            islands,
            island,
            free_velocity,
            velocity,
            workspace.sweep,
            with_limit(settings, min(SWEEPS_BETWEEN, settings.max_iterations - iterations)),
            scale,
            start,
            np.int64(0),
        )
        iterations += done
        if residual <= 0.5 * least:
            least, stalled = residual, np.int64(0)
        else:
            stalled += 1
        if residual <= target or iterations >= settings.max_iterations or stalled == MOST_STALLED:
            break
    note_subdomains(islands, island, workspace.memory, residual > target)
    return status, iterations, residual, worst_block


@subkernel
def sweep_hits(rows, islands, island, velocity, subdomain, error, settings, rough, most_sweeps, start):
    """Sweep over subdomains around hits, of which a large island has few at a time.

    Parameters
    ----------
    rows, islands, island, velocity
        Impulses and velocities are written.
    subdomain : SubdomainArrays
        Workspace.
    error : float64 [blocks of the island or more]
        Workspace.
    settings : SolverSettings
    rough : float
        Errors above this are those of hits [m/s].
    most_sweeps : int
        Over each subdomain.
    start : tuple of (float, int)
        ``natural_map`` at the start.

    Returns
    -------
    tuple
        (sweeps, residual [m/s], worst block).
    """
    residual, worst_block = start
    own_rows, own_islands = whole(subdomain.rows), whole(subdomain.islands)
    sweeps = np.int64(0)
    for _ in range(MOST_HITS):
        block_errors(rows, islands, island, velocity, settings, error)
        if not cut_subdomain(rows, islands, island, velocity, error, SHARE_OF_HIT * rough, RINGS_OF_HIT, subdomain):
            break
        _, done, _, _, _ = solve_nncg(
            own_rows,
            own_islands,
            np.int64(0),
            subdomain.free_velocity,
            subdomain.velocity,
            subdomain.sweep,
            with_ends(settings, 0.0, SHARE_OF_HIT * rough, most_sweeps),
        )
        sweeps += done
        put_back(rows, velocity, subdomain)
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
def _number_bodies(rows, islands, island, velocity, subdomain):
    """Number the bodies of a subdomain: first those that can be pushed, in the order of the island, then the others."""
    number, count = subdomain.number, np.int64(0)
    for place in range(subdomain.rows.count[0]):
        block = subdomain.block[place]
        number[rows.body_a[block]] = number[rows.body_b[block]] = -1
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        if number[body] == -1:
            number[body] = _add_body(rows, velocity, subdomain, body, count)
            subdomain.islands.body_order[count] = count
            count += 1
    subdomain.islands.count[0] = 1
    subdomain.islands.body_first[1] = count
    for place in range(subdomain.rows.count[0]):
        block = subdomain.block[place]
        for body in (rows.body_a[block], rows.body_b[block]):
            if number[body] == -1:
                number[body] = _add_body(rows, velocity, subdomain, body, count)
                count += 1


@subkernel
def _add_body(rows, velocity, subdomain, body, number):
    subdomain.body[number] = body
    for column in range(6):
        subdomain.velocity[number, column] = subdomain.free_velocity[number, column] = velocity[body, column]
        for other in range(6):
            subdomain.rows.body_mass[number, column, other] = rows.body_mass[body, column, other]
    return number


@subkernel
def _lay_subdomain(rows, subdomain):
    """Copy the blocks' rows, and take their impulses out of the free velocities."""
    laid, blocks = whole(subdomain.rows), subdomain.rows.count[0]
    laid.block_row[0] = subdomain.islands.block_first[0] = 0
    for place in range(blocks):
        block = subdomain.block[place]
        laid.block_row[place + 1] = laid.block_row[place] + rows.block_row[block + 1] - rows.block_row[block]
        subdomain.islands.block_order[place] = place
    subdomain.islands.block_first[1] = blocks
    lay_blocks(rows, subdomain.block, 0, blocks, laid)
    for place in range(blocks):
        a, b = subdomain.number[laid.body_a[place]], subdomain.number[laid.body_b[place]]
        laid.body_a[place], laid.body_b[place] = a, b
        for row in range(laid.block_row[place], laid.block_row[place + 1]):
            for column in range(6):
                subdomain.free_velocity[a, column] -= laid.response[row, column] * laid.impulse[row]
                subdomain.free_velocity[b, column] -= laid.response[row, 6 + column] * laid.impulse[row]
