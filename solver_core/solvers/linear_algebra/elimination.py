"""Order in which bodies are eliminated, and the blocks of the factor that follow from it.

Minimum degree on the quotient graph (George and Liu 1989): the next body is one with the fewest neighbours; its
neighbours become an element, a clique that is kept as one list, and elements that touch it are absorbed. Lists of
neighbours only ever shrink, so they stay where they are. Ties go to the lowest number: the order depends on the graph
alone. The list of an eliminated body is the structure of its column in the factor.

Stacks and arches have no fill at all; walls and heaps little. Where the factor would have more blocks than there is
room for (a number that depends on the count of bodies alone), columns are left empty: what is left is block-diagonal.
"""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel

# Room for blocks of the factor: this many, and this many a body.
_BLOCKS_AT_LEAST = 64
_BLOCKS_PER_BODY = 48


class Elimination(NamedTuple):
    """Order and structure of a factor.

    Attributes
    ----------
    count : int64 [1]
        Bodies.
    order, position : int64 [body_capacity]
        Number of the body eliminated k-th, and its inverse.
    column_start : int64 [body_capacity + 1]
        Blocks ``column_start[k]`` to ``column_start[k + 1]`` lie below the diagonal of column k.
    row : int64 [factor_capacity]
        Their positions, ascending in a column.
    edge_block : int64 [edge_capacity]
        The block that an edge of the graph falls into.
    list_start, list_length : int64 [body_capacity]
        Workspace: where each body's list of neighbours begins in ``entry``, and its length.
    degree, mark : int64 [body_capacity]
        Workspace: neighbours of each body, -1 of an absorbed element; the stamp it was last seen with.
    entry : int64 [2 edge_capacity]
        Workspace: lists of neighbours; number of a body, or -1 - position of an element.
    """

    count: np.ndarray
    order: np.ndarray
    position: np.ndarray
    column_start: np.ndarray
    row: np.ndarray
    edge_block: np.ndarray
    list_start: np.ndarray
    list_length: np.ndarray
    degree: np.ndarray
    mark: np.ndarray
    entry: np.ndarray


def factor_capacity(body_capacity: int) -> int:
    """Blocks below the diagonal that a factor of this many bodies may have."""
    dense = body_capacity * (body_capacity - 1) // 2
    return max(1, min(dense, _BLOCKS_AT_LEAST + _BLOCKS_PER_BODY * body_capacity))


def allocate_elimination(edge_capacity: int, body_capacity: int) -> Elimination:
    """Room for graphs of this many edges and bodies."""
    return Elimination(
        count=np.zeros(1, np.int64),
        order=np.zeros(body_capacity, np.int64),
        position=np.zeros(body_capacity, np.int64),
        column_start=np.zeros(body_capacity + 1, np.int64),
        row=np.zeros(factor_capacity(body_capacity), np.int64),
        edge_block=np.zeros(edge_capacity, np.int64),
        list_start=np.zeros(body_capacity, np.int64),
        list_length=np.zeros(body_capacity, np.int64),
        degree=np.zeros(body_capacity, np.int64),
        mark=np.zeros(body_capacity, np.int64),
        entry=np.zeros(2 * edge_capacity, np.int64),
    )


@subkernel
def find_elimination(graph, elimination):
    """Order the bodies of a graph and find the structure of the factor.

    Parameters
    ----------
    graph : BodyGraph
        Read.
    elimination : Elimination
        Written.

    Returns
    -------
    bool
        Whether the factor fits; else its columns are empty.
    """
    count, edge_count = graph.count[0], graph.count[1]
    position, column_start, row = elimination.position, elimination.column_start, elimination.row
    elimination.count[0] = count
    _list_neighbors(graph, elimination)
    stamp = 0
    for body in range(count):
        position[body] = -1
        elimination.degree[body] = elimination.list_length[body]
        elimination.mark[body] = 0
    column_start[0] = 0
    for step in range(count):
        body = _least_degree(position, elimination.degree, count)
        position[body] = step
        elimination.order[step] = body
        stamp += 1
        if not _merge_neighbors(elimination, body, step, stamp):
            _leave_empty(elimination, count)
            return False
        stamp = _update_neighbors(elimination, step, stamp)
    for step in range(count):
        _sort_column(position, row, column_start[step], column_start[step + 1])
    for edge in range(edge_count):
        one, other = position[graph.low[edge]], position[graph.high[edge]]
        block = column_start[min(one, other)]
        while row[block] != max(one, other):
            block += 1
        elimination.edge_block[edge] = block
    return True


@subkernel
def _list_neighbors(graph, elimination):
    """Lists of neighbours from the edges, in their order."""
    start, length, entry = elimination.list_start, elimination.list_length, elimination.entry
    count, edge_count = graph.count[0], graph.count[1]
    for body in range(count):
        length[body] = 0
    for edge in range(edge_count):
        length[graph.low[edge]] += 1
        length[graph.high[edge]] += 1
    total = 0
    for body in range(count):
        start[body] = total
        total += length[body]
        length[body] = 0
    for edge in range(edge_count):
        low, high = graph.low[edge], graph.high[edge]
        entry[start[low] + length[low]] = high
        entry[start[high] + length[high]] = low
        length[low] += 1
        length[high] += 1


@subkernel
def _least_degree(position, degree, count):
    """The remaining body with the fewest neighbours."""
    best, least = -1, count + 1
    for body in range(count):
        if position[body] < 0 and degree[body] < least:
            best, least = body, degree[body]
    return best


@subkernel
def _merge_neighbors(elimination, body, step, stamp):
    """Write the column of a body that is being eliminated: its neighbours, and those of its elements.

    Returns False where the factor has no room for it.
    """
    position, mark, row, entry = elimination.position, elimination.mark, elimination.row, elimination.entry
    column_start = elimination.column_start
    end = column_start[step]
    mark[body] = stamp
    first = elimination.list_start[body]
    for place in range(first, first + elimination.list_length[body]):
        neighbor = entry[place]
        element = -1 - neighbor
        inner_first, inner_end = (0, 1) if neighbor >= 0 else (column_start[element], column_start[element + 1])
        for inner in range(inner_first, inner_end):
            other = neighbor if neighbor >= 0 else row[inner]
            if position[other] < 0 and mark[other] != stamp:
                if end == row.size:
                    return False
                mark[other] = stamp
                row[end] = other
                end += 1
        if neighbor < 0:
            # absorbed: whoever lists it lists the new element from now on
            elimination.degree[elimination.order[element]] = -1
    column_start[step + 1] = end
    return True


@subkernel
def _update_neighbors(elimination, step, stamp):
    """Replace, in the lists of the new element's bodies, what it covers by the element; count their neighbours anew.

    Returns the stamp last used.
    """
    position, degree, mark = elimination.position, elimination.degree, elimination.mark
    entry, row, order = elimination.entry, elimination.row, elimination.order
    column_start = elimination.column_start
    for place in range(column_start[step], column_start[step + 1]):
        body = row[place]
        first, kept = elimination.list_start[body], 0
        for inner in range(first, first + elimination.list_length[body]):
            neighbor = entry[inner]
            if neighbor >= 0:
                keep = position[neighbor] < 0 and mark[neighbor] != stamp
            else:
                keep = degree[order[-1 - neighbor]] >= 0
            if keep:
                entry[first + kept] = neighbor
                kept += 1
        entry[first + kept] = -1 - step
        elimination.list_length[body] = kept + 1
    for place in range(column_start[step], column_start[step + 1]):
        body = row[place]
        stamp += 1
        mark[body] = stamp
        total = 0
        first = elimination.list_start[body]
        for inner in range(first, first + elimination.list_length[body]):
            neighbor = entry[inner]
            element = -1 - neighbor
            inner_first, inner_end = (0, 1) if neighbor >= 0 else (column_start[element], column_start[element + 1])
            for member in range(inner_first, inner_end):
                other = neighbor if neighbor >= 0 else row[member]
                if position[other] < 0 and mark[other] != stamp:
                    mark[other] = stamp
                    total += 1
        degree[body] = total
    return stamp


@subkernel
def _leave_empty(elimination, count):
    """The order of the graph, and columns without blocks."""
    for body in range(count):
        elimination.order[body] = body
        elimination.position[body] = body
        elimination.column_start[body] = 0
    elimination.column_start[count] = 0


@subkernel
def _sort_column(position, row, first, end):
    """From numbers of bodies to positions, ascending."""
    for place in range(first, end):
        value = position[row[place]]
        hole = place
        while hole > first and row[hole - 1] > value:
            row[hole] = row[hole - 1]
            hole -= 1
        row[hole] = value
