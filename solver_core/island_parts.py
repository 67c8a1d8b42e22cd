"""Parts of a large island, in two colours: those of one colour share no body that can be pushed.

Seen from a body at the island's edge, the others lie in levels: those that touch it, those that touch these, and so on
(breadth-first search over the pairs of bodies in contact). Contacts are within a level or between neighbours. Levels
are put together to slabs. Every other slab, from the first on, gives a part of the first colour: all contacts of its
bodies, also those with the slabs on either side. The slabs in between give the parts of the second colour: what is
left, contacts within the slab. A slab in between has two levels at least, of which its neighbours touch one each.

    levels      0 | 1 2 | 3 4 | 5 6 7 | 8 ...
    slabs       first     first        first
    parts       0 0-1     2-3 3-4 4-5  7-8 ...      and       1-2     5-6-7

So the order of contacts hangs on the island alone, and not on how many lanes will solve it. A part is small enough for
some lanes to end together, and its contacts lie side by side in memory and in space.

Islands of which all bodies touch one, as boxes on a moving tray, have too few levels and are one part.

Contacts of a part are then put together to packs (``island_packs``), which sorts them once more.
"""

from typing import NamedTuple

import numpy as np

from .island_packs import find_packs
from .kernel import kernel, subkernel
from .vectors import WIDTH

# Contacts of an island that is divided, which takes as long as five sweeps over its packs.
BLOCKS_TO_DIVIDE = 400
# Bodies slower than this share of what gravity gives in a substep rest.
RATIO_REST = 0.1
# A part has as many contacts as fill packs and take some microseconds, or this share of the island.
_BLOCKS_A_PART, _PARTS = 256, 32


class BodyGraph(NamedTuple):
    """Workspace: who touches whom, and how far the bodies of an island are from one of them.

    Attributes
    ----------
    first, end : int64 [body_count]
        Where a body's neighbours begin and end.
    neighbour : int64 [2 block_capacity]
    level, queue : int64 [body_count]
        Of each body; bodies in the order in which they were found.
    within, onwards, slab : int64 [body_count]
        Of each level: contacts within it, and with the next; its slab.
    order : int64 [block_capacity]
        Blocks as they are sorted.
    """

    first: np.ndarray
    end: np.ndarray
    neighbour: np.ndarray
    level: np.ndarray
    queue: np.ndarray
    within: np.ndarray
    onwards: np.ndarray
    slab: np.ndarray
    order: np.ndarray


def allocate_body_graph(block_capacity: int, body_count: int) -> BodyGraph:
    """Room for the contacts of so many bodies."""
    return BodyGraph(
        first=np.zeros(body_count, np.int64),
        end=np.zeros(body_count, np.int64),
        neighbour=np.zeros(2 * block_capacity, np.int64),
        level=np.zeros(body_count, np.int64),
        queue=np.zeros(body_count, np.int64),
        within=np.zeros(body_count, np.int64),
        onwards=np.zeros(body_count, np.int64),
        slab=np.zeros(body_count, np.int64),
        order=np.zeros(block_capacity, np.int64),
    )


@kernel
def divide_islands(rows, can_be_pushed, islands, graph, laid_row, packs, packable, motion):
    """Find the parts of large islands, and sort their blocks by parts.

    Parameters
    ----------
    rows : RowArrays
        Read: blocks and their bodies.
    can_be_pushed : bool [body_count]
        Read.
    islands : IslandArrays
        Written: the blocks' order and the parts; of ``find_islands``.
    graph : BodyGraph
        Workspace.
    laid_row : int64 [block_capacity + 1]
        Written, where an island is divided: the first row of each block that is in no pack, were rows laid in the
        new order (``PackArrays``). Without room for a block: no island is divided.
    packs : PackArrays
        Written.
    packable : int
        Blocks before this one may be packed: contacts as ``build_contact_rows`` makes them, with friction in the disc.
    motion : tuple of (float64 [body_count, 6], float64 [body_count], float)
        Velocities [m/s], sizes of the bodies [m], and the speed below which they rest [m/s]. An island at rest is left
        as it is, where the method does not solve such ones by sweeps: where it does, the speed is 0.
    """
    if len(laid_row) == 1:
        return
    islands.part_first[0] = 0
    packs.part_pack[0] = packs.pack_slot[0] = 0
    for island in range(islands.count[0]):
        first = islands.part_first[island]
        islands.part_first[island + 1] = islands.second_part[island] = first
        blocks = islands.block_first[island + 1] - islands.block_first[island]
        if blocks < BLOCKS_TO_DIVIDE or not _moves(islands, island, motion):
            continue
        _find_neighbours(rows, can_be_pushed, islands, island, graph)
        # The body that is farthest from some body lies at the edge.
        edge = _find_levels(islands, island, graph, islands.body_order[islands.body_first[island]])
        level_count = graph.level[_find_levels(islands, island, graph, edge)] + 1
        _count_by_level(rows, can_be_pushed, islands, island, graph, level_count)
        slabs = _cut_into_slabs(graph, level_count, max(_BLOCKS_A_PART, blocks // _PARTS))
        if slabs > 2:
            islands.part_first[island + 1] = first + slabs
            islands.second_part[island] = first + (slabs + 1) // 2
            _sort_blocks(rows, can_be_pushed, islands, island, graph)
        else:
            islands.part_first[island + 1] = islands.second_part[island] = first + 1
            islands.part_block[first, 0] = islands.block_first[island]
            islands.part_block[first, 1] = islands.block_first[island + 1]
        for part in range(first, islands.part_first[island + 1]):
            if packable > 0:
                find_packs(rows, packable, can_be_pushed, islands, part, graph.order, packs)
            else:
                packs.part_pack[part + 1] = packs.part_pack[part]
                packs.part_loose[part] = islands.part_block[part, 0]
    _lay_out(rows, islands, laid_row, packs)


@subkernel
def _moves(islands, island, motion):
    """Whether a body of an island is faster than at rest, or would be with its spin at its size from the centre."""
    velocity, size, speed = motion
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        own = velocity[body]
        square = own[0] ** 2 + own[1] ** 2 + own[2] ** 2
        turning = size[body] ** 2 * (own[3] ** 2 + own[4] ** 2 + own[5] ** 2)
        if not square + turning < speed * speed:
            return True
    return False


@subkernel
def _lay_out(rows, islands, laid_row, packs):
    """Where the rows of parts lie: of packs ``PackArrays.part_row``, of loose blocks ``laid_row``."""
    row, place = np.int64(0), np.int64(0)
    for part in range(islands.part_first[islands.count[0]]):
        # islands in between have no parts
        while place < islands.part_block[part, 0]:
            laid_row[place] = row
            place += 1
        packs.part_row[part] = row
        slots = packs.pack_slot[packs.part_pack[part + 1]] - packs.pack_slot[packs.part_pack[part]]
        while place < packs.part_loose[part]:
            # not before the part: there the rows of the last one end
            laid_row[place] = row
            place += 1
        row += 3 * WIDTH * slots
        while place < islands.part_block[part, 1]:
            laid_row[place] = row
            block = islands.block_order[place]
            row += rows.block_row[block + 1] - rows.block_row[block]
            place += 1
        packs.part_row[part + 1] = row
        laid_row[place] = row


@subkernel
def _find_neighbours(rows, can_be_pushed, islands, island, graph):
    """Who touches whom, a pair once for each run of blocks."""
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
def _cut_into_slabs(graph, level_count, enough):
    """Give every level its slab, so that parts have as many contacts as are ``enough``; returns how many there are."""
    slab = length = contacts = 0
    for level in range(level_count):
        graph.slab[level] = slab
        length += 1
        contacts += graph.within[level]
        backwards = graph.onwards[level - 1] if level > 0 else 0
        if slab % 2 == 0:
            contacts += graph.onwards[level] + (backwards if length == 1 else 0)
        elif length > 1:
            contacts += backwards
        if contacts >= enough and (slab % 2 == 0 or length > 1):
            slab += 1
            length = contacts = 0
    return graph.slab[level_count - 1] + 1


@subkernel
def _part_of(rows, can_be_pushed, islands, island, graph, block):
    low, high = _levels_of(rows, can_be_pushed, graph.level, block)
    slab = graph.slab[low]
    if slab % 2 == 1 and graph.slab[high] != slab:
        slab = graph.slab[high]
    first = islands.part_first[island] if slab % 2 == 0 else islands.second_part[island]
    return first + slab // 2


@subkernel
def _sort_blocks(rows, can_be_pushed, islands, island, graph):
    """Counting sort that keeps the order of blocks within a part."""
    first, end = islands.part_first[island], islands.part_first[island + 1]
    first_block, end_block = islands.block_first[island], islands.block_first[island + 1]
    for part in range(first, end):
        islands.part_block[part, 1] = 0
    for index in range(first_block, end_block):
        block = islands.block_order[index]
        graph.order[index] = block
        islands.part_block[_part_of(rows, can_be_pushed, islands, island, graph, block), 1] += 1
    place = first_block
    for part in range(first, end):
        islands.part_block[part, 0] = place
        place += islands.part_block[part, 1]
        islands.part_block[part, 1] = islands.part_block[part, 0]
    for index in range(first_block, end_block):
        part = _part_of(rows, can_be_pushed, islands, island, graph, graph.order[index])
        islands.block_order[islands.part_block[part, 1]] = graph.order[index]
        islands.part_block[part, 1] += 1
