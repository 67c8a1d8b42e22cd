"""Lemke's method on plain LCPs: closed forms, enumeration of bases, cycling and exponential examples, rays, scaling."""

import numpy as np
import pytest
import scipy.sparse
from contact_problems import dense_form, random_problem
from lcp_oracles import random_semidefinite, solutions_by_enumeration

from benchmarks.problems.peg_in_hole import peg_in_hole
from cairn.solver_core.problem.problem import LCP, ProblemError, SolverOptions, Status
from cairn.solver_core.solve import solve_lcp
from cairn.solver_core.solvers.pivoting.polyhedral import delassus_of, impulses_from_lcp, polyhedral_lcp

pytestmark = pytest.mark.one_python

# Direct methods end where rounding does: some hundred times the unit roundoff, relative to b.
ROUNDING = 1e-13


def lemke(A, b, **options):
    options.setdefault("tolerance", 1e-10)
    return solve_lcp(LCP(A, b), "lemke", options=SolverOptions(**options))


def test_independent_rows_are_solved_one_by_one():
    """Compare with max(-b / a, 0) for a diagonal A."""
    b = np.array([-3.0, 2.0, 0.0, -1e-3])
    result = lemke(np.diag([1.0, 2.0, 3.0, 4.0]), b)
    np.testing.assert_allclose(result.x, [3.0, 0.0, 0.0, 2.5e-4], rtol=1e-15)
    assert result.status.converged


def test_nothing_to_do_needs_no_pivot():
    """Give b >= 0, then a start that is a solution."""
    assert lemke(-np.eye(3), [0.0, 1.0, 2.0]).iterations == 0
    started = solve_lcp(LCP(np.eye(2), [-1.0, 1.0]), "lemke", x0=[1.0, 0.0])
    assert started.iterations == 0
    assert started.status is Status.CONVERGED_ABSOLUTE


@pytest.mark.parametrize("seed", range(40))
def test_semidefinite_problems_are_solved_where_they_can_be(seed):
    """Enumerate all bases of degenerate problems of whole numbers: singular A, zeros and repeats in b."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    A = random_semidefinite(rng, size, int(rng.integers(1, size + 1)))
    skew = rng.integers(-1, 2, (size, size))
    A += skew - skew.T
    b = rng.integers(-2, 2, size).astype(float)
    result = lemke(A, b)
    if solutions_by_enumeration(A, b):
        assert result.status.converged, result
        assert result.residual <= ROUNDING
    else:
        assert result.status is Status.RAY_TERMINATION


@pytest.mark.parametrize("seed", range(20))
def test_general_problems_never_claim_a_solution_that_is_none(seed):
    """Enumerate the bases of problems with any A; where there is no solution a pass must end all the same."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (4, 4)).astype(float)
    b = rng.integers(-2, 2, 4).astype(float)
    result = lemke(A, b)
    assert np.all(np.isfinite(result.x))
    if result.status.converged:
        assert result.measures.natural_map <= ROUNDING
        assert solutions_by_enumeration(A, b)


@pytest.mark.parametrize("seed", range(10))
def test_the_one_solution_of_a_p_matrix_is_found(seed):
    """Compare with the solution that enumeration finds; A is diagonally dominant and not symmetric."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(5, 5))
    np.fill_diagonal(A, np.abs(A).sum(axis=1))
    b = rng.normal(size=5)
    np.testing.assert_allclose(lemke(A, b).x, solutions_by_enumeration(A, b)[0], atol=1e-9)


def test_large_convex_problem_has_the_slack_of_its_quadratic_program():
    """Compare w = A x + b with Clarabel's; A is singular, so x is not unique, but A x is."""
    clarabel = pytest.importorskip("clarabel")
    rng = np.random.default_rng(7)
    size = 80
    factor = rng.normal(size=(size, 50))
    A = factor @ factor.T
    b = rng.normal(size=size) + A @ np.maximum(rng.normal(size=size), 0.0)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    program = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix(np.triu(A)),
        b,
        scipy.sparse.csc_matrix(-np.eye(size)),
        np.zeros(size),
        [clarabel.NonnegativeConeT(size)],
        settings,
    ).solve()
    result = lemke(A, b)
    assert result.residual <= ROUNDING
    np.testing.assert_allclose(A @ result.x, A @ np.array(program.x), atol=1e-6 * np.abs(b).max())


@pytest.mark.parametrize("size", [2, 3, 6, 8])
def test_murty_needs_exponentially_many_pivots(size):
    """Count 2^n pivots on Murty's P-matrix (ones on the diagonal, twos below, b = -1)."""
    A = np.eye(size) + 2.0 * np.tril(np.ones((size, size)), -1)
    result = lemke(A, -np.ones(size), covering_vector=np.ones(size))
    assert result.iterations == 2**size
    np.testing.assert_array_equal(result.x, np.eye(size)[0])


@pytest.mark.parametrize(
    ("A", "solvable"),
    [
        ([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]], True),
        ([[1.0, -1.0, 3.0], [2.0, -1.0, 3.0], [-1.0, -2.0, 0.0]], False),
    ],
)
def test_kostreva_does_not_cycle(A, solvable):
    """Solve the problems of Kostreva 1979 on which ties broken by the first row make Lemke's method cycle."""
    b = -np.ones(3)
    assert bool(solutions_by_enumeration(A, b)) is solvable
    result = lemke(A, b, covering_vector=np.ones(3))
    assert result.iterations < 30
    assert result.status.converged is solvable
    if solvable:
        np.testing.assert_allclose(result.x, 1.0 / 3.0, rtol=1e-14)
    else:
        assert result.status is Status.RAY_TERMINATION


def test_infeasible_problem_ends_on_a_ray_at_once():
    """Give contradictory rows: x1 - x2 >= 1 and x2 - x1 >= 1; one pass proves it."""
    result = lemke([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0])
    assert result.status is Status.RAY_TERMINATION
    assert result.iterations <= 3
    assert result.residual <= 1.0


@pytest.mark.parametrize("seed", range(5))
def test_scaling_rows_and_columns_scales_the_solution(seed):
    """Multiply rows and columns by up to 1e4 and 1e-4: the problem is the same, so the solution is too."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(30, 30))
    A = factor @ factor.T + 0.1 * np.eye(30)
    b = rng.normal(size=30)
    rows, columns = 10.0 ** rng.uniform(-4.0, 4.0, (2, 30))
    plain = lemke(A, b).x
    scaled = lemke(rows[:, None] * A * columns, rows * b).x
    np.testing.assert_allclose(columns * scaled, plain, atol=1e-9 * np.abs(plain).max())


def test_order_of_the_variables_does_not_matter():
    """Permute a problem with one solution."""
    rng = np.random.default_rng(3)
    factor = rng.normal(size=(20, 20))
    A, b = factor @ factor.T + 0.1 * np.eye(20), rng.normal(size=20)
    order = rng.permutation(20)
    permuted = lemke(A[np.ix_(order, order)], b[order]).x
    plain = lemke(A, b).x
    np.testing.assert_allclose(permuted, plain[order], atol=1e-10 * np.abs(plain).max())


@pytest.mark.parametrize("contacts", [2, 8, 32])
def test_peg_in_hole_is_solved_to_rounding(contacts):
    """Solve contact problems whose matrix has rank 6, whatever its size."""
    for seed in range(5):
        W, q, mu = delassus_of(peg_in_hole(contacts, seed))
        result = solve_lcp(polyhedral_lcp(W, q, mu), "lemke")
        assert result.residual <= ROUNDING, (contacts, seed, result)


def test_redundant_contacts_move_bodies_as_single_ones_do():
    """Repeat each contact exactly, without friction: velocities are unique, impulses are not."""
    W, q = dense_form(random_problem(4, 12, seed=5))
    A, b = W[::3, ::3], q[::3]
    single = lemke(A, b)
    twice = lemke(np.tile(A, (2, 2)), np.tile(b, 2))
    assert twice.residual <= ROUNDING
    np.testing.assert_allclose(A @ (twice.x[:12] + twice.x[12:]), A @ single.x, atol=1e-12 * np.abs(b).max())


def test_friction_opposes_the_slip():
    """Slide a block's one contact: friction is mu times the normal impulse along the direction against the slip."""
    lcp = polyhedral_lcp(np.eye(3), [-1.0, 2.0, 0.0], [0.5], directions=8)
    r = impulses_from_lcp(solve_lcp(lcp, "lemke").x, 1, 8)
    np.testing.assert_allclose(r, [1.0, -0.5, 0.0], atol=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_every_covering_vector_leads_to_a_solution(seed):
    """Take random positive covering vectors on a semi-definite problem."""
    rng = np.random.default_rng(seed)
    A = random_semidefinite(rng, 12, 8)
    b = A @ rng.integers(0, 3, 12) - rng.integers(0, 2, 12) * 0.5 @ A
    assert lemke(A, b, covering_vector=rng.uniform(1e-3, 1e3, 12)).residual <= ROUNDING


@pytest.mark.parametrize("cover", [[1.0, 1.0], [1.0, 0.0, 1.0], [1.0, np.nan, 1.0], [[1.0, 1.0, 1.0]]])
def test_wrong_covering_vector_is_refused(cover):
    """Give a wrong shape, zero, NaN."""
    with pytest.raises(ProblemError, match="covering_vector"):
        lemke(np.eye(3), -np.ones(3), covering_vector=np.array(cover))


def test_limit_of_pivots_ends_with_the_best_iterate():
    """Allow three pivots where more are needed: what comes back is no worse than zero."""
    rng = np.random.default_rng(9)
    factor = rng.normal(size=(40, 40))
    A, b = factor @ factor.T + np.eye(40), -np.abs(rng.normal(size=40))
    result = lemke(A, b, max_iterations=3)
    assert result.status is Status.MAX_ITERATIONS
    assert result.iterations == 3
    assert result.measures.natural_map <= np.abs(b).max()


def test_history_ends_at_the_residual():
    """Recompute the natural map of the end and of the start; between them there is one entry a pivot."""
    W, q, mu = delassus_of(peg_in_hole(8, 1))
    lcp = polyhedral_lcp(W, q, mu)
    result = solve_lcp(lcp, "lemke")
    assert len(result.history) == result.iterations + 1
    assert result.history[0] == pytest.approx(np.max(-lcp.b) / result.measures.scale)
    assert result.history[-1] == pytest.approx(result.residual, abs=1e-15)


def test_sparse_and_factored_forms_are_the_dense_problem():
    """Give A as a sparse matrix and as J M^-1 J'."""
    rng = np.random.default_rng(11)
    jacobian = rng.normal(size=(10, 6))
    b = rng.normal(size=10) + jacobian @ rng.normal(size=6)
    dense = lemke(jacobian @ jacobian.T, b)
    sparse = lemke(scipy.sparse.csr_array(jacobian @ jacobian.T), b)
    factored = solve_lcp(LCP.from_factors(jacobian, np.eye(6), b), "lemke")
    np.testing.assert_allclose(jacobian.T @ sparse.x, jacobian.T @ dense.x, atol=1e-10)
    np.testing.assert_allclose(jacobian.T @ factored.x, jacobian.T @ dense.x, atol=1e-10)


def test_the_same_problem_gives_the_same_bits():
    """Solve twice."""
    W, q, mu = delassus_of(peg_in_hole(16, 2))
    lcp = polyhedral_lcp(W, q, mu)
    assert np.array_equal(solve_lcp(lcp, "lemke").x, solve_lcp(lcp, "lemke").x)
