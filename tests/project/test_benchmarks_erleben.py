"""The benchmark erleben2013 on a few small problems: its problems, its columns, and what is true at any size."""

import importlib
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def load(monkeypatch):
    """Import a benchmark, which is no part of the package."""
    monkeypatch.syspath_prepend(ROOT)
    return lambda name: importlib.import_module(f"benchmarks.{name}")


def test_paper_fluid(load):
    """Three constant bands beside the diagonal, none positive; the least eigenvalue is 1/2 where it was shifted."""
    problems = load("_erleben_problems")
    shifted = 0
    for seed in range(10):
        A = problems.paper_fluid(40, seed).dense
        least = np.linalg.eigvalsh(A)[0]
        for offset in range(4):
            assert np.ptp(np.diagonal(A, offset)) == 0.0
            assert np.array_equal(np.diagonal(A, offset), np.diagonal(A, -offset))
        assert not np.triu(A, 4).any()
        assert np.all(A[~np.eye(40, dtype=bool)] <= 0.0)
        assert least > 0.0
        if A[0, 0] > 1.0:
            shifted += 1
            assert least == pytest.approx(0.5, abs=1e-9)
    assert shifted > 0


def test_paper_contact(load):
    """Zeros on each slip row's diagonal, and mu, e and -e' in every block that is not zero, also off the diagonal."""
    problems = load("_erleben_problems")
    A = problems.paper_contact(6, 1).dense.reshape(6, 6, 6, 6)
    kept = A[:, 0, :, 0] != 0.0
    assert 0 < kept.sum() - 6 < 30
    for row, column in np.ndindex(6, 6):
        block = A[row, :, column, :]
        if kept[row, column]:
            np.testing.assert_array_equal(block[5], [0.5, -1.0, -1.0, -1.0, -1.0, 0.0])
            np.testing.assert_array_equal(block[:, 5], [0.0, 1.0, 1.0, 1.0, 1.0, 0.0])
        else:
            assert not block.any()


def test_right_side_of_the_paper(load):
    """b is -A x for a drawn x in [0, 1) where that is positive, and zero elsewhere: a quarter of the rows."""
    b = load("_erleben_problems").paper_fluid(2000, 3).b
    assert np.mean(b == 0.0) == pytest.approx(0.25, abs=0.04)


def test_warm_starts_halve(load):
    """Figure 6 holds on two problems, and every row counts both."""
    rows, claims, _ = load("erleben2013").warm_starts(2, True)
    assert all(claim.holds for claim in claims)
    assert {row["absolute"] + row["relative"] for row in rows} == {2}


def test_states_are_counted(load):
    """A run that is cut off shows under its own name, beside the ones that converged."""
    benchmark = load("erleben2013")
    problem = load("_erleben_problems").poisson(64, 0)
    found = benchmark.statistics([benchmark.solve(problem, "Fischer"), benchmark.solve(problem, "Fischer", limit=1)])
    assert found["absolute"] == 1
    assert found["other"] == "1 max_iterations"
    assert found["min"] == 1
