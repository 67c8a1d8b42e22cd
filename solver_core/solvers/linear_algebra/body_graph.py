"""The graph of an island: bodies that can be pushed, and an edge where blocks act between two of them.

It is the graph of the matrix M + J' D J, whose blocks are 6 x 6. Bodies are numbered in the island's order, so the
graph depends on the island alone.
"""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel


class BodyGraph(NamedTuple):
    """One island's graph.

    Attributes
    ----------
    count : int64 [2]
        Bodies and edges; -1 before the first.
    local : int64 [body_capacity]
        Number of each of the island's bodies in the graph; -1 for those that cannot be pushed.
    body : int64 [body_capacity]
        Body of each number.
    low, high : int64 [edge_capacity]
        The two numbers that an edge joins, low < high.
    block_edge : int64 [block_capacity]
        Edge of the island's blocks, in the island's order; -1 where one body cannot be pushed.
    first_edge : int64 [body_capacity]
        First edge of the list of those with this low number; -1 for none.
    next_edge : int64 [edge_capacity]
    """

    count: np.ndarray
    local: np.ndarray
    body: np.ndarray
    low: np.ndarray
    high: np.ndarray
    block_edge: np.ndarray
    first_edge: np.ndarray
    next_edge: np.ndarray


def allocate_body_graph(block_capacity: int, body_capacity: int) -> BodyGraph:
    """Room for an edge a block."""
    return BodyGraph(
        count=np.full(2, -1, np.int64),
        local=np.full(body_capacity, -1, np.int64),
        body=np.zeros(body_capacity, np.int64),
        low=np.zeros(block_capacity, np.int64),
        high=np.zeros(block_capacity, np.int64),
        block_edge=np.zeros(block_capacity, np.int64),
        first_edge=np.zeros(body_capacity, np.int64),
        next_edge=np.zeros(block_capacity, np.int64),
    )


@subkernel
def build_body_graph(rows, islands, island, graph):
    """Fill ``graph`` with the graph of an island.

    Parameters
    ----------
    rows : RowArrays
        Read: bodies of the blocks, and masses.
    islands, island
        Read.
    graph : BodyGraph
        Written.

    Returns
    -------
    bool
        Whether it is the same graph as before.
    """
    count = 0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        graph.local[body] = -1
        if rows.body_mass[body, 0, 0] > 0.0:
            graph.local[body] = count
            graph.body[count] = body
            graph.first_edge[count] = -1
            count += 1
    same = graph.count[0] == count
    graph.count[0] = count
    edge_count = np.int64(0)
    last_a, last_b, edge = -1, -1, -1
    first = islands.block_first[island]
    for index in range(first, islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        if a != last_a or b != last_b:
            edge, edge_count, known = _find_edge(
                _number(rows, graph.local, a), _number(rows, graph.local, b), graph, edge_count
            )
            same = same and known
            last_a, last_b = a, b
        graph.block_edge[index - first] = edge
    same = same and graph.count[1] == edge_count
    graph.count[1] = edge_count
    return same


@subkernel
def _number(rows, local, body):
    """Number of a block's body; -1 where it cannot be pushed."""
    if rows.body_mass[body, 0, 0] > 0.0:
        return local[body]
    local[body] = -1
    return -1


@subkernel
def _find_edge(one, other, graph, edge_count):
    """The edge between two numbers, added where it is new; -1 where one of them cannot be pushed.

    Returns
    -------
    tuple of (int, int, bool)
        The edge, the count of edges, and whether the last graph had an edge like a new one.
    """
    if one < 0 or other < 0 or one == other:
        return -1, edge_count, True
    low, high = min(one, other), max(one, other)
    edge = graph.first_edge[low]
    while edge >= 0:
        if graph.high[edge] == high:
            return edge, edge_count, True
        edge = graph.next_edge[edge]
    edge = edge_count
    known = edge < graph.count[1] and graph.low[edge] == low and graph.high[edge] == high
    graph.low[edge], graph.high[edge] = low, high
    graph.next_edge[edge] = graph.first_edge[low]
    graph.first_edge[low] = edge
    return edge, edge_count + 1, known
