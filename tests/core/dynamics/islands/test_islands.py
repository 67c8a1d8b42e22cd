"""Islands are the connected components of the bodies that can be pushed."""

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from cairn.solver_core.dynamics.islands.islands import find_islands
from cairn.solver_core.problem.rows import allocate_islands, allocate_rows


@pytest.mark.parametrize("seed", range(20))
def test_islands_are_connected_components(seed):
    """Agree with SciPy's components on random graphs, keep the order of blocks and bodies, and lose nothing."""
    rng = np.random.default_rng(seed)
    body_count, block_count = int(rng.integers(2, 40)), int(rng.integers(0, 40))
    can_be_pushed = rng.random(body_count) < 0.7
    can_be_pushed[0] = True
    pairs = rng.integers(0, body_count, size=(block_count, 2))
    pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & can_be_pushed[pairs].any(axis=1)]
    rows = allocate_rows(max(len(pairs), 1), 1)
    rows.count[0] = len(pairs)
    rows.body_a[: len(pairs)], rows.body_b[: len(pairs)] = pairs.T if len(pairs) else ([], [])
    islands = allocate_islands(max(len(pairs), 1), body_count)
    find_islands(rows, can_be_pushed, islands, np.empty(body_count, np.int64), np.empty(body_count, np.int64))

    joined = pairs[can_be_pushed[pairs].all(axis=1)]
    graph = coo_matrix((np.ones(len(joined)), joined.T), shape=(body_count, body_count)) if len(joined) else None
    label = connected_components(graph, directed=False)[1] if graph is not None else np.arange(body_count)
    block_label = [label[a] if can_be_pushed[a] else label[b] for a, b in pairs]
    expected = list(dict.fromkeys(block_label))
    assert islands.count[0] == len(expected)
    for island, component in enumerate(expected):
        blocks = islands.block_order[islands.block_first[island] : islands.block_first[island + 1]]
        bodies = islands.body_order[islands.body_first[island] : islands.body_first[island + 1]]
        assert list(blocks) == [block for block, own in enumerate(block_label) if own == component]
        assert list(bodies) == [body for body in range(body_count) if label[body] == component and can_be_pushed[body]]
