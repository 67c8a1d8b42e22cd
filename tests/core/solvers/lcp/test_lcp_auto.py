"""``auto`` solves each class of LCP, says which method did, and goes on where one method is not enough."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from lcp_problems import natural_map, random_factors
from scipy.linalg import block_diag

from cairn.solver_core.problem.problem import LCP, SolverOptions, Status
from cairn.solver_core.solve import solve_lcp
from cairn.solver_core.solvers.registry import find_lcp_method

pytestmark = pytest.mark.one_python


def planted(A, seed):
    """b for which a random x, half of it zero, solves; and that x."""
    rng = np.random.default_rng(seed)
    size = A.shape[0]
    x = rng.uniform(0.5, 1.5, size) * (rng.uniform(size=size) < 0.5)
    return rng.uniform(0.5, 1.5, size) * (x == 0.0) - A @ x, x


def grid(width):
    """Seven-point Poisson matrix."""
    line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(width, width))
    eye = scipy.sparse.eye_array(width)
    kron = scipy.sparse.kron
    return scipy.sparse.csr_array(kron(kron(line, eye), eye) + kron(kron(eye, line), eye) + kron(kron(eye, eye), line))


def check(result, lcp, tolerance=1e-8):
    """Converged, and what it says is so."""
    assert result.status.converged
    error = np.abs(np.minimum(result.x, lcp.slack(result.x))).max()
    assert error <= (tolerance + 1e-14) * np.abs(lcp.b).max()
    assert len(result.history) == result.iterations + 1


def test_small_problems_are_pivoted():
    """Not symmetric, with a zero on the diagonal, as contacts with friction."""
    A = np.array([[2.0, 0.3, 0.0], [-0.2, 1.5, 1.0], [0.5, -1.0, 0.0]])
    lcp = LCP(A, [-1.0, 0.2, 0.0])
    result = solve_lcp(lcp, options=SolverOptions(tolerance=1e-8))
    check(result, lcp)
    assert result.method == "lemke"


def test_large_sparse_fluids_are_swept():
    """A Poisson problem of 1,728 variables: nncg within its sweeps; the planted x is the only solution."""
    A = grid(12)
    b, x = planted(A, seed=1)
    result = solve_lcp(LCP(A, b), options=SolverOptions(tolerance=1e-8))
    check(result, LCP(A, b))
    assert result.method == "nncg"
    assert result.x == pytest.approx(x, abs=1e-5)


def test_what_sweeps_cannot_do_goes_to_another_method():
    """A chain of 400 links, far beyond nncg's sweeps: x is the weight above, and iterations are counted together."""
    count = 400
    jacobian = np.eye(count) - np.eye(count, k=-1)
    lcp = LCP.from_factors(jacobian, np.eye(count), -jacobian @ np.full(count, 0.15))
    alone = solve_lcp(lcp, "nncg", options=SolverOptions(tolerance=1e-8, max_iterations=200))
    assert not alone.status.converged
    result = solve_lcp(lcp, options=SolverOptions(tolerance=1e-8))
    check(result, lcp)
    assert result.method != "nncg"
    assert result.iterations > 200
    assert result.history[:201] == pytest.approx(alone.history)
    assert result.x == pytest.approx(0.15 * np.arange(count, 0, -1), rel=1e-6)


def test_large_problems_without_symmetry_are_solved():
    """Sparse, with a dominant symmetric part."""
    rng = np.random.default_rng(2)
    skew = scipy.sparse.random_array((1331, 1331), density=0.002, rng=rng)
    A = scipy.sparse.csr_array(grid(11) + skew - skew.T)
    b, x = planted(A, seed=3)
    result = solve_lcp(LCP(A, b), options=SolverOptions(tolerance=1e-8))
    check(result, LCP(A, b))
    assert result.method == "fischer_newton"
    assert result.x == pytest.approx(x, abs=1e-4)


def test_operators_are_solved_without_their_entries():
    """A product is all that there is."""
    jacobian, inverse_mass, b = random_factors(40, 120, seed=3)
    dense = jacobian @ inverse_mass @ jacobian.T
    lcp = LCP(scipy.sparse.linalg.aslinearoperator(dense), b)
    check(solve_lcp(lcp, options=SolverOptions(tolerance=1e-8)), lcp)


def test_redundant_contacts_of_a_large_problem_are_solved():
    """A of rank 60 among 400 rows."""
    jacobian, inverse_mass, b = random_factors(400, 60, seed=5, redundant=40)
    lcp = LCP.from_factors(jacobian, inverse_mass, b)
    check(solve_lcp(lcp, options=SolverOptions(tolerance=1e-8)), lcp)


def test_the_limit_holds_for_all_methods_together():
    """Never more iterations than are allowed, and the best x of all."""
    count = 400
    jacobian = np.eye(count) - np.eye(count, k=-1)
    lcp = LCP.from_factors(jacobian, np.eye(count), -jacobian @ np.full(count, 0.15))
    for limit in (0, 3, 200):
        result = solve_lcp(lcp, options=SolverOptions(tolerance=1e-12, max_iterations=limit))
        assert result.iterations <= limit
        assert not result.status.converged
        assert natural_map(lcp.dense, lcp.b, result.x) <= np.min(result.history) * np.abs(lcp.b).max() * (1.0 + 1e-9)


def test_a_problem_without_solution_is_given_up():
    """Infeasible, large enough for each method to try, and still within the limit."""
    block = np.array([[1.0, -1.0], [-1.0, 1.0]])
    lcp = LCP(scipy.sparse.csr_array(block_diag(*[block] * 150)), np.full(300, -1.0))
    result = solve_lcp(lcp)
    assert not result.status.converged
    assert np.all(np.isfinite(result.x))
    assert result.method in {"nncg", "minmap_newton", "fischer_newton", "lemke"}
    assert find_lcp_method("auto").limit(lcp) >= result.iterations


def test_a_ray_is_told_where_no_method_gets_further():
    """x_1 - x_2 >= 1 and x_2 - x_1 >= 1 among 260 variables: sweeps and Newton end at the limit, Lemke's says why."""
    A = block_diag([[1.0, -1.0], [-1.0, 1.0]], np.eye(258))
    result = solve_lcp(LCP(A, -np.ones(260)))
    assert result.status is Status.RAY_TERMINATION
    assert result.method == "lemke"
    assert result.residual == pytest.approx(1.0)
