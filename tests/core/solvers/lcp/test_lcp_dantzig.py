"""Dantzig's method on symmetric semi-definite LCPs: closed forms, enumeration, redundant contacts, failures."""

import numpy as np
import pytest
import scipy.sparse
from contact_problems import dense_form, random_problem
from lcp_oracles import random_semidefinite, solutions_by_enumeration

from cairn.solver_core.problem.problem import LCP, ProblemError, SolverOptions, Status
from cairn.solver_core.solve import solve_lcp
from cairn.solver_core.solvers.lcp.pivoting.dantzig import allocate_dantzig, solve_dantzig

pytestmark = pytest.mark.one_python

# Direct methods end where rounding does: some hundred times the unit roundoff, relative to b.
ROUNDING = 1e-13


def dantzig(A, b, **options):
    options.setdefault("tolerance", 1e-10)
    return solve_lcp(LCP(A, b), "dantzig", options=SolverOptions(**options))


def test_independent_rows_are_solved_one_by_one():
    """Compare with max(-b / a, 0) for a diagonal A, one pivot for each negative b."""
    result = dantzig(np.diag([1.0, 2.0, 3.0, 4.0]), [-3.0, 2.0, 0.0, -1e-3])
    np.testing.assert_allclose(result.x, [3.0, 0.0, 0.0, 2.5e-4], rtol=1e-15)
    assert result.iterations == 2


def test_an_active_index_is_let_go_again():
    """Push x1 first, which x2 then makes superfluous: at (0, 4/3) w is (1/3, 0)."""
    result = dantzig([[1.0, 1.0], [1.0, 1.5]], [-1.0, -2.0])
    np.testing.assert_allclose(result.x, [0.0, 4.0 / 3.0], rtol=1e-14)
    other = dantzig([[1.0, 1.0], [1.0, 1.5]], [-1.9, -2.0])
    np.testing.assert_allclose(other.x, solutions_by_enumeration([[1.0, 1.0], [1.0, 1.5]], [-1.9, -2.0])[0], rtol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_semidefinite_problems_are_solved_where_they_can_be(seed):
    """Enumerate all bases of degenerate problems of whole numbers: singular A, zeros and repeats in b."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    A = random_semidefinite(rng, size, int(rng.integers(1, size + 1)))
    b = rng.integers(-2, 2, size).astype(float)
    result = dantzig(A, b)
    if solutions_by_enumeration(A, b):
        assert result.status.converged, result
        assert result.residual <= ROUNDING
    else:
        assert result.status is Status.RAY_TERMINATION


@pytest.mark.parametrize("seed", range(5))
def test_large_singular_problem_has_the_slack_of_its_quadratic_program(seed):
    """Compare w = A x + b with Clarabel's; x is not unique where A is singular, but A x is."""
    clarabel = pytest.importorskip("clarabel")
    rng = np.random.default_rng(seed)
    size = 90
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
    result = dantzig(A, b)
    assert result.residual <= ROUNDING
    np.testing.assert_allclose(A @ result.x, A @ np.array(program.x), atol=1e-6 * np.abs(b).max())


@pytest.mark.parametrize("copies", [2, 5])
def test_redundant_contacts_move_bodies_as_single_ones_do(copies):
    """Repeat each contact exactly: velocities are unique, impulses are not."""
    W, q = dense_form(random_problem(4, 12, seed=5))
    A, b = W[::3, ::3], q[::3]
    single = dantzig(A, b)
    repeated = dantzig(np.tile(A, (copies, copies)), np.tile(b, copies))
    assert repeated.residual <= ROUNDING
    together = repeated.x.reshape(copies, 12).sum(axis=0)
    np.testing.assert_allclose(A @ together, A @ single.x, atol=1e-12 * np.abs(b).max())


def test_a_plate_on_many_points_carries_its_weight():
    """Rest a plate on 16 points of a square: impulses are many, their sum is the weight and their moment is zero."""
    corners = np.stack(np.meshgrid(np.linspace(-1.0, 1.0, 4), np.linspace(-1.0, 1.0, 4)), axis=-1).reshape(-1, 2)
    jacobian = np.column_stack([np.ones(16), corners[:, 1], -corners[:, 0]])
    A = jacobian @ np.diag([1.0, 3.0, 3.0]) @ jacobian.T
    result = dantzig(A, -np.ones(16))
    assert result.residual <= ROUNDING
    np.testing.assert_allclose(jacobian.T @ result.x, [1.0, 0.0, 0.0], atol=1e-13)


def test_factor_is_that_of_the_active_matrix():
    """Multiply L L' out after pivots that appended and removed rows, and compare with A_CC."""
    rng = np.random.default_rng(8)
    factor = rng.normal(size=(60, 30))
    A = factor @ factor.T + 1e-3 * np.eye(60)
    planted = rng.normal(size=60)
    b = np.maximum(-planted, 0.0) - A @ np.maximum(planted, 0.0)
    workspace, x = allocate_dantzig(60), np.zeros(60)
    _, pivots, residual = solve_dantzig(A, b, x, workspace, 1e-12, 10_000)
    count = np.sum(workspace.place >= 0)
    # a pivot takes an index up or lets it go: of the surplus, half have let one go
    assert pivots >= count + 10
    assert residual <= 1e-12 * np.abs(b).max()
    order = workspace.active[:count]
    lower = np.tril(workspace.factor[:count, :count])
    scaled = A * np.outer(workspace.scale, workspace.scale)
    np.testing.assert_allclose(lower @ lower.T, scaled[np.ix_(order, order)], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_scaling_rows_and_columns_alike_scales_the_solution(seed):
    """Change the unit of each variable by up to 1e4 and 1e-4."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(30, 30))
    A, b = factor @ factor.T + 0.1 * np.eye(30), rng.normal(size=30)
    units = 10.0 ** rng.uniform(-4.0, 4.0, 30)
    plain = dantzig(A, b).x
    scaled = dantzig(units[:, None] * A * units, units * b).x
    np.testing.assert_allclose(units * scaled, plain, atol=1e-9 * np.abs(plain).max())


def test_order_of_the_variables_does_not_matter():
    """Permute a problem with one solution."""
    rng = np.random.default_rng(3)
    factor = rng.normal(size=(20, 20))
    A, b = factor @ factor.T + 0.1 * np.eye(20), rng.normal(size=20)
    order = rng.permutation(20)
    plain = dantzig(A, b).x
    np.testing.assert_allclose(dantzig(A[np.ix_(order, order)], b[order]).x, plain[order], atol=1e-10)


def test_what_it_cannot_solve_is_refused():
    """Give an asymmetric matrix, then a negative diagonal."""
    with pytest.raises(ProblemError, match="not symmetric"):
        dantzig([[1.0, 1.0], [0.0, 1.0]], [-1.0, -1.0])
    with pytest.raises(ProblemError, match="diagonal at 1"):
        dantzig([[1.0, 0.0], [0.0, -1.0]], [-1.0, -1.0])


@pytest.mark.parametrize(
    ("A", "b"),
    [([[0.0, 1.0], [1.0, 0.0]], [-1.0, -1.0]), ([[1.0, -2.0], [-2.0, 1.0]], [-1.0, -1.0])],
)
def test_indefinite_matrix_ends_as_failed(A, b):
    """Give matrices with a negative eigenvalue that the factorisation meets."""
    result = dantzig(A, b)
    assert result.status is Status.FAILED
    assert result.measures.natural_map <= 1.0


def test_infeasible_problem_ends_on_a_ray():
    """Give contradictory rows: x1 - x2 >= 1 and x2 - x1 >= 1; then a row of zeros that asks for 0 >= 1."""
    for A in ([[1.0, -1.0], [-1.0, 1.0]], [[1.0, 0.0], [0.0, 0.0]]):
        result = dantzig(A, [-1.0, -1.0])
        assert result.status is Status.RAY_TERMINATION
        assert np.all(np.isfinite(result.x))


def test_limit_of_pivots_ends_with_the_best_iterate():
    """Allow three pivots where more are needed: what comes back is no worse than zero."""
    rng = np.random.default_rng(9)
    factor = rng.normal(size=(40, 40))
    A, b = factor @ factor.T + np.eye(40), -np.abs(rng.normal(size=40))
    result = dantzig(A, b, max_iterations=3)
    assert result.status is Status.MAX_ITERATIONS
    assert result.iterations == 3
    assert result.measures.natural_map <= np.abs(b).max()


def test_history_starts_at_zero_and_ends_at_the_residual():
    """Recompute both ends; between them there is one entry a pivot."""
    W, q = dense_form(random_problem(4, 12, seed=6))
    result = dantzig(W[::3, ::3], q[::3])
    assert len(result.history) == result.iterations + 1
    assert result.history[0] == pytest.approx(np.max(-q[::3]) / result.measures.scale)
    assert result.history[-1] == pytest.approx(result.residual, abs=1e-15)


def test_a_start_that_is_a_solution_is_kept():
    """Start at the solution, and at something else."""
    assert solve_lcp(LCP(np.eye(2), [-1.0, 1.0]), "dantzig", x0=[1.0, 0.0]).iterations == 0
    np.testing.assert_array_equal(solve_lcp(LCP(np.eye(2), [-1.0, 1.0]), "dantzig", x0=[5.0, 5.0]).x, [1.0, 0.0])
