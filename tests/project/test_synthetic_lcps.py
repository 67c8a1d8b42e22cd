"""The synthetic LCPs: what is planted is a solution, and the matrices are what Erleben 2013 describes."""

import numpy as np
import pytest

from benchmarks.problems.synthetic_lcps import (
    CONTACT_ROWS,
    contact_lcp,
    contact_matrix,
    fluid_lcp,
    fluid_matrix,
    plant_solution,
    positive_definite_lcp,
    semidefinite_lcp,
)
from cairn.solver_core.problem.residuals import measure_lcp

MAKERS = {
    "fluid": lambda seed: fluid_lcp((4, 5, 3), seed),
    "contact": lambda seed: contact_lcp(9, seed),
    "positive_definite": lambda seed: positive_definite_lcp(20, seed),
    "semidefinite": lambda seed: semidefinite_lcp(20, 0.5, seed),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_the_planted_pair_is_a_solution(kind):
    """x >= 0, s >= 0, x' s = 0 and s = A x + b up to rounding, for many seeds."""
    for seed in range(20):
        problem = MAKERS[kind](seed)
        assert np.all(problem.solution >= 0.0)
        assert np.all(problem.slack >= 0.0)
        assert problem.solution @ problem.slack == 0.0
        np.testing.assert_allclose(problem.lcp.slack(problem.solution), problem.slack, atol=1e-14 * 20)
        assert measure_lcp(problem.lcp, problem.solution).relative_residual < 1e-14


@pytest.mark.parametrize("kind", MAKERS)
def test_seeds_decide(kind):
    """The same seed makes the same problem, another seed another."""
    first, again, other = (MAKERS[kind](seed) for seed in (3, 3, 4))
    assert np.array_equal(first.lcp.dense, again.lcp.dense)
    assert np.array_equal(first.lcp.b, again.lcp.b)
    assert not np.array_equal(first.lcp.b, other.lcp.b)


def test_shares_of_the_plant():
    """The asked parts of the variables are zero with slack, zero without, and positive."""
    problem = plant_solution(np.eye(4000), np.random.default_rng(0), zero_share=0.3, degenerate_share=0.2)
    zero = problem.solution == 0.0
    strict = problem.slack > 0.0
    assert np.mean(strict) == pytest.approx(0.3, abs=0.03)
    assert np.mean(zero & ~strict) == pytest.approx(0.2, abs=0.03)


def test_fluid_matrix():
    """Eigenvalues are the closed form of the Dirichlet Laplacian: sums of 2 - 2 cos(k pi / (cells + 1))."""
    grid = (3, 4, 5)
    lines = [2.0 - 2.0 * np.cos(np.arange(1, cells + 1) * np.pi / (cells + 1)) for cells in grid]
    expected = np.sort(np.add.outer(np.add.outer(lines[0], lines[1]), lines[2]).ravel())
    A = fluid_matrix(grid)
    np.testing.assert_allclose(np.linalg.eigvalsh(A.toarray()), expected, atol=1e-12)
    assert np.all(A.diagonal() == 6.0)
    assert np.diff(A.indptr).max() == 7


def test_contact_matrix():
    """Eq. 27: B symmetric, semidefinite, singular; e, mu and -e' in the diagonal blocks; nothing else."""
    friction = 0.3
    contacts = 12
    A = contact_matrix(contacts, np.random.default_rng(1), friction).toarray()
    blocks = A.reshape(contacts, CONTACT_ROWS, contacts, CONTACT_ROWS)
    slip = np.arange(contacts)
    expected = np.zeros((contacts, CONTACT_ROWS, contacts))
    expected[slip, 1:5, slip] = 1.0
    assert np.array_equal(blocks[:, :, :, 5], expected)
    expected = np.zeros((contacts, contacts, CONTACT_ROWS))
    expected[slip, slip] = [friction, -1.0, -1.0, -1.0, -1.0, 0.0]
    assert np.array_equal(blocks[:, 5], expected)
    B = blocks[:, :5, :, :5].reshape(5 * contacts, 5 * contacts)
    np.testing.assert_allclose(B, B.T, atol=1e-15)
    eigenvalues = np.linalg.eigvalsh(B)
    assert eigenvalues[0] > -1e-13
    bodies = contacts // 3
    assert np.sum(eigenvalues > 1e-10) <= min(3 * contacts, 6 * bodies)


def test_contacts_move():
    """Opposite tangents have opposite b, slip rows none; friction stays in its polygon."""
    problem = contact_lcp(30, 2, friction=0.4)
    b = problem.lcp.b.reshape(30, CONTACT_ROWS)
    np.testing.assert_allclose(b[:, 1:3], -b[:, 3:5], atol=1e-14)
    assert not b[:, 5].any()
    impulse = problem.solution.reshape(30, CONTACT_ROWS)
    assert np.all(impulse[:, 1:5].sum(axis=1) <= 0.4 * impulse[:, 0] + 1e-15)
    opens, slips = impulse[:, 0] == 0.0, (impulse[:, 0] > 0.0) & (impulse[:, 5] > 0.0)
    sticks = impulse[:, 5] == 0.0
    assert min(opens.sum(), slips.sum(), sticks.sum()) > 0
    assert np.all(opens | slips | sticks)


def test_zero_eigenvalues():
    """The asked share of eigenvalues is zero, the others are k / n."""
    expected = np.arange(1, 41) / 40
    expected[:16] = 0.0
    np.testing.assert_allclose(np.linalg.eigvalsh(semidefinite_lcp(40, 0.4).lcp.dense), expected, atol=1e-14)
