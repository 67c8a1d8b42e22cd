"""Domains of a large island, in two colours: those of one colour share no body that can be pushed.

Seen from a body at the island's edge, the others lie in levels: those that touch it, those that touch these, and so on
(breadth-first search over the pairs of bodies in contact). Contacts are within a level or between neighbours. Levels
are put together into layers. Every other layer, from the first on, gives a domain of the first colour: all contacts of
its bodies, also those with the layers on either side. The layers in between give the domains of the second colour: what
is left, contacts within the layer. A layer in between has at least two levels, so that each neighbour touches another.

    levels      0 | 1 2 | 3 4 | 5 6 7 | 8 ...
    layers      first     first        first
    domains     0 0-1     2-3 3-4 4-5  7-8 ...      and       1-2     5-6-7

So the order of contacts depends on the island alone, and not on how many workers will solve it. A domain is small
enough for several workers to finish together, and its contacts lie side by side in memory and in space.

Islands of which all bodies touch one, as boxes on a moving tray, have too few levels and are one domain.

Contacts of a domain are then put into batches (``simd_batches``), which sorts them once more.
"""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import kernel, subkernel
from ...compiled.simd import WIDTH
from .simd_batches import find_batches

# Contacts of an island that is worth partitioning, which takes as long as five sweeps over its batches.
BLOCKS_TO_PARTITION = 32
# Bodies slower than this share of the speed that gravity gives in a substep are at rest.
RATIO_REST = 0.1
# A domain has enough contacts to fill batches and to take some microseconds, or one part in this many of the island.
_BLOCKS_PER_DOMAIN, _DOMAINS = 256, 32


class ContactGraph(NamedTuple):
    """Workspace: which bodies touch, and how far those of an island are from one of them.

    Attributes
    ----------
    first, end : int64 [body_count]
        Where a body's neighbours begin and end.
    neighbour : int64 [2 block_capacity]
    level, queue : int64 [body_count]
        Of each body; bodies in the order in which they were found.
    within, onwards, layer : int64 [body_count]
        Of each level: contacts within it, and with the next; its layer.
    order : int64 [block_capacity]
        The blocks before they are sorted.
    """

    first: np.ndarray
    end: np.ndarray
    neighbour: np.ndarray
    level: np.ndarray
    queue: np.ndarray
    within: np.ndarray
    onwards: np.ndarray
    layer: np.ndarray
    order: np.ndarray


def allocate_contact_graph(block_capacity: int, body_count: int) -> ContactGraph:
    """Room for the contacts of this many bodies."""
    return ContactGraph(
        first=np.zeros(body_count, np.int64),
        end=np.zeros(body_count, np.int64),
        neighbour=np.zeros(2 * block_capacity, np.int64),
        level=np.zeros(body_count, np.int64),
        queue=np.zeros(body_count, np.int64),
        within=np.zeros(body_count, np.int64),
        onwards=np.zeros(body_count, np.int64),
        layer=np.zeros(body_count, np.int64),
        order=np.zeros(block_capacity, np.int64),
    )


@kernel
def partition_islands(rows, can_be_pushed, islands, graph, laid_row, batches, batchable, motion):
    """Partition large islands into domains, and sort their blocks by domain.

    Parameters
    ----------
    rows : RowArrays
        Read: blocks and their bodies.
    can_be_pushed : bool [body_count]
        Read.
    islands : IslandArrays
        Of ``find_islands``. Written: the order of the blocks, and the domains.
    graph : ContactGraph
        Workspace.
    laid_row : int64 [block_capacity + 1]
        Written if an island is partitioned: the first row of each block that is in no batch, in the numbering of
        ``BatchArrays``. Without room for a block no island is partitioned.
    batches : BatchArrays
        Written.
    batchable : int
        Blocks before this one may be in batches: contacts as ``build_contact_rows`` makes them, with cone friction.
    motion : tuple of (float64 [body_count, 6], float64 [body_count], float, bool [body_count])
        Velocities [m/s, rad/s], sizes of the bodies [m], the speed below which they rest [m/s], and which bodies have
        moved in small steps last. An island at rest is not partitioned unless it is swept all the same: because it
        moves in small steps, or because the method solves such islands by sweeps; for such a method the speed is 0.
    """
    if len(laid_row) == 1:
        return
    islands.domain_first[0] = 0
    batches.domain_batch[0] = batches.batch_vector[0] = 0
    for island in range(islands.count[0]):
        first = islands.domain_first[island]
        islands.domain_first[island + 1] = islands.second_domain[island] = first
        blocks = islands.block_first[island + 1] - islands.block_first[island]
        if blocks < BLOCKS_TO_PARTITION or not _is_swept(islands, island, motion):
            continue
        _find_neighbours(rows, can_be_pushed, islands, island, graph)
        # The body that is farthest from some body lies at the edge.
        edge = _find_levels(islands, island, graph, islands.body_order[islands.body_first[island]])
        level_count = graph.level[_find_levels(islands, island, graph, edge)] + 1
        _count_by_level(rows, can_be_pushed, islands, island, graph, level_count)
        layers = _cut_into_layers(graph, level_count, max(_BLOCKS_PER_DOMAIN, blocks // _DOMAINS))
        if layers > 2:
            islands.domain_first[island + 1] = first + layers
            islands.second_domain[island] = first + (layers + 1) // 2
            _sort_blocks(rows, can_be_pushed, islands, island, graph)
        else:
            islands.domain_first[island + 1] = islands.second_domain[island] = first + 1
            islands.domain_block[first, 0] = islands.block_first[island]
            islands.domain_block[first, 1] = islands.block_first[island + 1]
        for domain in range(first, islands.domain_first[island + 1]):
            if batchable > 0:
                find_batches(rows, batchable, can_be_pushed, islands, domain, graph.order, batches)
            else:
                batches.domain_batch[domain + 1] = batches.domain_batch[domain]
                batches.domain_loose[domain] = islands.domain_block[domain, 0]
    _lay_out(rows, islands, laid_row, batches)


@subkernel
def _is_swept(islands, island, motion):
    """Whether an island moves in small steps, or some point of a body, up to its size off, is faster than at rest."""
    velocity, size, speed, in_small_steps = motion
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        if in_small_steps[body]:
            return True
        own = velocity[body]
        square = own[0] ** 2 + own[1] ** 2 + own[2] ** 2
        turning = size[body] ** 2 * (own[3] ** 2 + own[4] ** 2 + own[5] ** 2)
        if not square + turning < speed * speed:
            return True
    return False


@subkernel
def _lay_out(rows, islands, laid_row, batches):
    """Say where the rows of domains lie: in ``BatchArrays.domain_row``, of loose blocks also in ``laid_row``."""
    row, place = np.int64(0), np.int64(0)
    for domain in range(islands.domain_first[islands.count[0]]):
        # islands in between have no domains
        while place < islands.domain_block[domain, 0]:
            laid_row[place] = row
            place += 1
        batches.domain_row[domain] = row
        lanes = (
            batches.batch_vector[batches.domain_batch[domain + 1]] - batches.batch_vector[batches.domain_batch[domain]]
        )
        while place < batches.domain_loose[domain]:
            # not before the domain: there the rows of the last one end
            laid_row[place] = row
            place += 1
        row += 3 * WIDTH * lanes
        while place < islands.domain_block[domain, 1]:
            laid_row[place] = row
            block = islands.block_order[place]
            row += rows.block_row[block + 1] - rows.block_row[block]
            place += 1
        batches.domain_row[domain + 1] = row
        laid_row[place] = row


@subkernel
def _find_neighbours(rows, can_be_pushed, islands, island, graph):
    """List which bodies touch, a pair once for each run of blocks."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        graph.end[islands.body_order[index]] = 0
    for filling in range(2):
        last_a = last_b = -1
        for index in range(islands.block_first[island], islands.block_first[island + 1]):
            block = islands.block_order[index]
            a, b = rows.body_a[block], rows.body_b[block]
            if not (can_be_pushed[a] and can_be_pushed[b]) or (a == last_a and b == last_b):
                continue
            last_a, last_b = a, b
            if filling:
                graph.neighbour[graph.end[a]], graph.neighbour[graph.end[b]] = b, a
            graph.end[a] += 1
            graph.end[b] += 1
        if not filling:
            place = 0
            for index in range(islands.body_first[island], islands.body_first[island + 1]):
                body = islands.body_order[index]
                graph.first[body] = place
                place += graph.end[body]
                graph.end[body] = graph.first[body]


@subkernel
def _find_levels(islands, island, graph, start):
    """Levels as seen from ``start``; returns the last body that was found."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        graph.level[islands.body_order[index]] = -1
    graph.queue[0], graph.level[start] = start, 0
    done, found = 0, 1
    while done < found:
        body = graph.queue[done]
        done += 1
        for place in range(graph.first[body], graph.end[body]):
            other = graph.neighbour[place]
            if graph.level[other] < 0:
                graph.level[other] = graph.level[body] + 1
                graph.queue[found] = other
                found += 1
    return graph.queue[found - 1]


@subkernel
def _levels_of(rows, can_be_pushed, level, block):
    """The lower and the higher level of a block's bodies that can be pushed."""
    a, b = rows.body_a[block], rows.body_b[block]
    if not can_be_pushed[a]:
        return level[b], level[b]
    if not can_be_pushed[b]:
        return level[a], level[a]
    return min(level[a], level[b]), max(level[a], level[b])


@subkernel
def _count_by_level(rows, can_be_pushed, islands, island, graph, level_count):
    for level in range(level_count):
        graph.within[level] = graph.onwards[level] = 0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        low, high = _levels_of(rows, can_be_pushed, graph.level, islands.block_order[index])
        if low == high:
            graph.within[low] += 1
        else:
            graph.onwards[low] += 1


@subkernel
def _cut_into_layers(graph, level_count, enough):
    """Give every level its layer, so that domains have ``enough`` contacts; returns the number of layers."""
    layer = length = contacts = 0
    for level in range(level_count):
        graph.layer[level] = layer
        length += 1
        contacts += graph.within[level]
        backwards = graph.onwards[level - 1] if level > 0 else 0
        if layer % 2 == 0:
            contacts += graph.onwards[level] + (backwards if length == 1 else 0)
        elif length > 1:
            contacts += backwards
        if contacts >= enough and (layer % 2 == 0 or length > 1):
            layer += 1
            length = contacts = 0
    return graph.layer[level_count - 1] + 1


@subkernel
def _domain_of(rows, can_be_pushed, islands, island, graph, block):
    low, high = _levels_of(rows, can_be_pushed, graph.level, block)
    layer = graph.layer[low]
    if layer % 2 == 1 and graph.layer[high] != layer:
        layer = graph.layer[high]
    first = islands.domain_first[island] if layer % 2 == 0 else islands.second_domain[island]
    return first + layer // 2


@subkernel
def _sort_blocks(rows, can_be_pushed, islands, island, graph):
    """Counting sort that keeps the order of blocks within a domain."""
    first, end = islands.domain_first[island], islands.domain_first[island + 1]
    first_block, end_block = islands.block_first[island], islands.block_first[island + 1]
    for domain in range(first, end):
        islands.domain_block[domain, 1] = 0
    for index in range(first_block, end_block):
        block = islands.block_order[index]
        graph.order[index] = block
        islands.domain_block[_domain_of(rows, can_be_pushed, islands, island, graph, block), 1] += 1
    place = first_block
    for domain in range(first, end):
        islands.domain_block[domain, 0] = place
        place += islands.domain_block[domain, 1]
        islands.domain_block[domain, 1] = islands.domain_block[domain, 0]
    for index in range(first_block, end_block):
        domain = _domain_of(rows, can_be_pushed, islands, island, graph, graph.order[index])
        islands.block_order[islands.domain_block[domain, 1]] = graph.order[index]
        islands.domain_block[domain, 1] += 1
