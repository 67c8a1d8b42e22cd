"""Packs: which contacts are swept together, and where their numbers lie."""

import numpy as np
import pytest
from numba import config

from cairn.solver_core.compiled.simd import WIDTH
from cairn.solver_core.dynamics.islands.islands import find_islands
from cairn.solver_core.problem.rows import allocate_islands, allocate_rows
from cairn.solver_core.solvers.batches.domain_partition import (
    BLOCKS_TO_PARTITION,
    allocate_contact_graph,
    partition_islands,
)
from cairn.solver_core.solvers.batches.simd_batches import allocate_batches, laid_row_capacity

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="kernels run as plain Python")


def blocks_between(runs, lengths, row_counts=None):
    """Rows in which only their bodies count: a run of blocks for each pair."""
    pairs = np.repeat(runs, lengths, axis=0)
    sizes = np.full(len(pairs), 3) if row_counts is None else row_counts
    rows = allocate_rows(len(pairs), int(sizes.sum()))
    rows.count[:] = len(pairs), sizes.sum()
    rows.block_row[1:] = np.cumsum(sizes)
    rows.body_a[:], rows.body_b[:] = pairs.T
    return rows


def packed(rows, can_be_pushed, batchable):
    """Islands and packs of some rows, all in motion, and where loose blocks lie."""
    blocks, bodies = int(rows.count[0]), len(can_be_pushed)
    islands, batches = allocate_islands(blocks, bodies), allocate_batches(blocks, bodies)
    laid_row, graph = np.zeros(blocks + 1, np.int64), allocate_contact_graph(blocks, bodies)
    find_islands(rows, can_be_pushed, islands, np.zeros(bodies, np.int64), np.zeros(bodies, np.int64))
    motion = np.ones((bodies, 6)), np.ones(bodies), 1e-3, np.zeros(bodies, np.bool_)
    partition_islands(rows, can_be_pushed, islands, graph, laid_row, batches, batchable, motion)
    return islands, batches, laid_row


def check_packs(rows, can_be_pushed, batchable):
    """What holds of any packs; returns the share of divided islands' blocks that is in one."""
    islands, batches, laid_row = packed(rows, can_be_pushed, batchable)
    parts = int(islands.domain_first[islands.count[0]])
    taken, in_packs, total = set(), 0, 0
    for part in range(parts):
        first, end = islands.domain_block[part]
        in_order = []
        for batch in range(batches.domain_batch[part], batches.domain_batch[part + 1]):
            vectors = slice(batches.batch_vector[batch], batches.batch_vector[batch + 1])
            lanes = batches.block[vectors]
            seen = set()
            for lane in range(WIDTH):
                held = lanes[:, lane][lanes[:, lane] >= 0]
                # no gaps, one pair of bodies, the blocks side by side and none that may not be packed
                assert np.array_equal(lanes[: len(held), lane], held)
                assert np.all(held < batchable)
                at = batches.body[batch, :, lane]
                if len(held) == 0:
                    assert np.array_equal(at, batches.body[batch, :, 0])
                    continue
                assert set(rows.body_a[held]) == {at[0]}
                assert set(rows.body_b[held]) == {at[1]}
                pushed = {int(body) for body in at if can_be_pushed[body]}
                assert not pushed & seen
                seen |= pushed
                in_order += list(held)
            assert lanes[0, 0] >= 0
            assert lanes[-1, 0] >= 0
            assert 8 * (lanes >= 0).sum() >= 3 * lanes.size
        loose = islands.block_order[batches.domain_loose[part] : end]
        assert in_order == list(islands.block_order[first : batches.domain_loose[part]])
        assert len(in_order) + len(loose) == end - first
        assert not taken & {*in_order, *loose}
        taken |= {*in_order, *loose}
        in_packs, total = in_packs + len(in_order), total + end - first
        # rows: those of the packs, then those of the loose blocks, side by side
        vectors = (
            batches.batch_vector[batches.domain_batch[part + 1]] - batches.batch_vector[batches.domain_batch[part]]
        )
        sizes = rows.block_row[loose + 1] - rows.block_row[loose]
        starts = batches.domain_row[part] + 3 * WIDTH * vectors + np.concatenate([[0], np.cumsum(sizes)])
        assert np.array_equal(laid_row[batches.domain_loose[part] : end], starts[:-1])
        assert laid_row[end] == starts[-1] == batches.domain_row[part + 1]
    assert batches.domain_row[parts] <= laid_row_capacity(int(rows.count[1]))
    assert total >= BLOCKS_TO_PARTITION
    return in_packs / total


@pytest.mark.parametrize("seed", range(10))
def test_packs_of_random_heaps(seed):
    """Points that touch where they are near; some cannot be pushed, some blocks are no contacts."""
    random = np.random.default_rng(seed)
    count = int(random.integers(150, 900))
    points = random.random((count, 3)) * np.cbrt(count)
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    pairs = np.argwhere(np.triu(distance < random.uniform(1.1, 1.5), 1))
    can_be_pushed = random.random(count) < random.choice([0.8, 1.0])
    pairs = random.permutation(pairs[can_be_pushed[pairs].any(axis=1)])
    lengths = random.integers(1, random.choice([2, 5, 13]), len(pairs))
    sizes = np.where(np.arange(lengths.sum()) < 0.9 * lengths.sum(), 3, random.integers(1, 7, lengths.sum()))
    rows = blocks_between(pairs, lengths, sizes)
    batchable = int(np.argmax(sizes != 3)) if np.any(sizes != 3) else len(sizes)
    assert check_packs(rows, can_be_pushed, batchable) > 0.6


def test_what_touches_one_body_is_loose():
    """A heap that lies on one body which can be pushed: its contacts with it share no pack, others do."""
    bodies = 300
    star = np.column_stack([np.zeros(bodies, np.int64), np.arange(1, bodies + 1)])
    assert check_packs(blocks_between(star, np.full(bodies, 4)), np.ones(bodies + 1, bool), 4 * bodies) == 0.0
    # on one that cannot be pushed, tied together elsewhere
    chain = np.column_stack([np.arange(1, bodies), np.arange(2, bodies + 1)])
    pushed = np.ones(bodies + 1, bool)
    pushed[0] = False
    rows = blocks_between(np.concatenate([star, chain]), np.full(2 * bodies - 1, 4))
    assert check_packs(rows, pushed, int(rows.count[0])) > 0.95


def test_packs_that_are_mostly_empty_are_given_up():
    """Long runs that share a body, each in a pack by itself, and many short ones to fill these."""
    bodies = 60
    star = np.column_stack([np.zeros(bodies, np.int64), np.arange(1, bodies + 1)])
    chain = np.column_stack([np.arange(bodies, 20 * bodies), np.arange(bodies + 1, 20 * bodies + 1)])
    lengths = np.concatenate([np.full(bodies, 8), np.ones(len(chain), np.int64)])
    rows = blocks_between(np.concatenate([star, chain]), lengths)
    assert 0.4 < check_packs(rows, np.ones(20 * bodies + 1, bool), int(rows.count[0])) < 0.8


def test_nothing_is_packed_where_nothing_may_be():
    """With another model of friction all blocks are loose, and lie in the parts' order."""
    chain = np.column_stack([np.arange(600), np.arange(1, 601)])
    assert check_packs(blocks_between(chain, np.full(600, 4)), np.ones(601, bool), 0) == 0.0


def test_islands_at_rest_are_left_as_they_are():
    """The threshold counts spin at the body's size; what moves in small steps is swept, however slow it is."""
    rows = blocks_between(np.column_stack([np.arange(600), np.arange(1, 601)]), np.full(600, 4))
    blocks, bodies, pushed = 2400, 601, np.ones(601, bool)
    none, some = np.zeros(bodies, np.bool_), np.arange(bodies) == 300
    for body, column, value, in_small_steps, divided in (
        (5, 0, 0.9e-3, none, False),
        (7, 4, 0.6e-3, none, True),
        (9, 2, 1.1e-3, none, True),
        (5, 0, 0.9e-3, some, True),
    ):
        islands, batches = allocate_islands(blocks, bodies), allocate_batches(blocks, bodies)
        find_islands(rows, pushed, islands, np.zeros(bodies, np.int64), np.zeros(bodies, np.int64))
        velocity = np.zeros((bodies, 6))
        velocity[body, column] = value
        motion = velocity, np.full(bodies, 2.0), 1e-3, in_small_steps
        graph = allocate_contact_graph(blocks, bodies)
        partition_islands(rows, pushed, islands, graph, np.zeros(blocks + 1, np.int64), batches, blocks, motion)
        assert (islands.domain_first[1] > 0) == divided
