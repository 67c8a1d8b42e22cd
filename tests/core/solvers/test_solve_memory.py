"""What the cascade remembers: methods that fail are tried again, the more seldom the more often they fail."""

import numpy as np
import pytest

from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.problem.rows import allocate_islands
from cairn.solver_core.solvers.solve_memory import (
    allocate_solve_memory,
    count_down_wait,
    may_try_subdomains,
    note_failure,
    note_subdomains,
    note_success,
)

BODIES, SCALE = 6, 1.0


@kernel
def solve_in_vain(islands, island, memory, scale, residuals, tried):
    """Solve an island whose exact method and subdomains always fail; ``tried`` [solves, 2] says which were tried."""
    for solve in range(residuals.size):
        wait, closeness = count_down_wait(islands, island, memory, scale, residuals[solve])
        if wait == 0:
            tried[solve, 0] = 1
            note_failure(islands, island, memory, note_success(islands, island, memory), closeness)
        if may_try_subdomains(islands, island, memory):
            tried[solve, 1] = 1
            note_subdomains(islands, island, memory, True)


@pytest.fixture
def islands():
    """Two islands of three bodies each."""
    islands = allocate_islands(1, BODIES)
    islands.count[0] = 2
    islands.body_first[:3] = 0, 3, 6
    islands.body_order[:] = np.arange(BODIES)
    return islands


def gaps(tried):
    return np.diff(np.flatnonzero(tried))


def run(islands, residuals, memory=None):
    memory = memory or allocate_solve_memory(BODIES)
    tried = np.zeros((len(residuals), 2), np.int64)
    solve_in_vain(islands, 0, memory, SCALE, np.asarray(residuals, float), tried)
    return memory, tried


def test_failures_are_followed_by_ever_longer_waits_with_an_end(islands):
    """Both are tried in the first solve, then ever more seldom, and never given up."""
    _, tried = run(islands, np.full(3000, 0.5))
    assert np.all(tried[0] == 1)
    for column in range(2):
        between = gaps(tried[:, column])
        assert np.all(np.diff(between) >= 0)
        assert between[-1] == between[-2] < 300


def test_a_start_that_has_calmed_down_is_tried_at_once(islands):
    """A start much closer than at the failure needs no wait; one that is little closer does."""
    memory, _ = run(islands, [0.5])
    _, tried = run(islands, [0.4, 0.5 / 64.0], memory)
    assert list(tried[:, 0]) == [0, 1]


def test_islands_remember_for_themselves(islands):
    """Failures of one island leave nothing with the bodies of another; bodies that join bring their memory along."""
    memory, _ = run(islands, np.full(20, 0.5))
    assert all(np.any(values[:3] != 0) for values in (memory.wait, memory.last_wait, memory.failed_at))
    assert not any(np.any(values[3:]) for values in memory)
    islands.body_first[1] = 4
    _, tried = run(islands, [0.5], memory)
    assert tried[0, 0] == 0
