"""The Newton methods on a plain LCP: against planted solutions, enumeration, Clarabel and finite differences."""

import itertools

import numpy as np
import pytest
import scipy.sparse
from lcp_oracles import solutions_by_enumeration
from lcp_problems import in_all_forms, natural_map, random_factors
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from benchmarks.problems.synthetic_lcps import (
    contact_lcp,
    fluid_lcp,
    plant_solution,
    positive_definite_lcp,
    semidefinite_lcp,
)
from cairn.solver_core.problem.problem import LCP, STRATEGIES, ProblemError, SolverOptions, Status
from cairn.solver_core.solve import solve_lcp
from cairn.solver_core.solvers.lcp.newton.fischer_newton import FischerBurmeister
from cairn.solver_core.solvers.lcp.newton.minmap_newton import MinimumMap
from cairn.solver_core.solvers.lcp.newton.newton import ScaledProblem

pytestmark = pytest.mark.one_python

# (method, its own options)
VARIANTS = [("minmap_newton", {})] + [("fischer_newton", {"strategy": strategy}) for strategy in STRATEGIES]
METHODS = ("minmap_newton", "fischer_newton")
TIGHT = 1e-11


def solve(lcp, method, x0=None, **options):
    return solve_lcp(lcp, method, x0, SolverOptions(**{"tolerance": TIGHT} | options))


def p_matrix(n, seed):
    """Positive definite and not symmetric, so that every LCP with it has one solution."""
    rng = np.random.default_rng(seed)
    factor, skew = rng.normal(size=(2, n, n))
    return factor @ factor.T + 0.1 * np.eye(n) + skew - skew.T, rng


def operator_of(lcp, transposed=True):
    """The problem with A as an operator, without its transpose where that is not wanted."""
    A = lcp.explicit
    operator = aslinearoperator(A) if transposed else LinearOperator(A.shape, matvec=lambda x: A @ x, dtype=float)
    return LCP(operator, lcp.b)


@pytest.mark.parametrize(("method", "options"), VARIANTS)
def test_closed_form(method, options):
    """A diagonal A gives x = max(0, -b / A_ii)."""
    diagonal, b = np.array([2.0, 0.5, 4.0, 1.0]), np.array([-3.0, 1.0, -8.0, 0.0])
    result = solve(LCP(np.diag(diagonal), b), method, **options)
    assert result.status.converged
    np.testing.assert_allclose(result.x, [1.5, 0.0, 2.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_zero_solves_at_once(method):
    """With b >= 0 the start x = 0 is the solution."""
    result = solve(LCP(p_matrix(4, 0)[0], np.array([1.0, 0.0, 2.0, 3.0])), method)
    assert result.status.converged
    assert result.iterations == 0
    assert not result.x.any()


@pytest.mark.parametrize(("method", "options"), VARIANTS)
@pytest.mark.parametrize("n", [2, 3, 5])
def test_enumeration(method, options, n):
    """The only complementary basis that is feasible is found, also where x_i = w_i = 0 at the solution."""
    for seed in range(8):
        A, rng = p_matrix(n, seed)
        problem = plant_solution(A, rng, 0.3, 0.3).lcp
        expected = solutions_by_enumeration(A, problem.b)[0]
        result = solve(problem, method, **options)
        assert result.status.converged, f"seed {seed} ended as {result.status.word} at {result.residual}"
        np.testing.assert_allclose(result.x, expected, atol=1e-8)


@pytest.mark.parametrize(("method", "options"), VARIANTS)
@pytest.mark.parametrize("make", [lambda: fluid_lcp((6, 5, 4), 3), lambda: positive_definite_lcp(40, 3)])
def test_planted_solution(method, options, make):
    """Where A is positive definite the planted solution comes back."""
    problem = make()
    result = solve(problem.lcp, method, **options)
    weakest = np.linalg.eigvalsh(problem.lcp.dense)[0]
    assert result.status.converged
    assert np.linalg.norm(result.x - problem.solution) <= 10.0 * result.measures.natural_map_norm / weakest


@pytest.mark.parametrize("method", METHODS)
def test_clarabel_agrees(method):
    """A singular convex problem: x is not unique, A x is, and it is that of the quadratic program (eq. 53)."""
    clarabel = pytest.importorskip("clarabel")
    lcp = in_all_forms(*random_factors(30, 12, seed=5, redundant=6))[0]
    assert np.linalg.matrix_rank(lcp.A) < 30
    n = lcp.size
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix(np.triu(lcp.A)),
        lcp.b,
        scipy.sparse.csc_matrix(-np.eye(n)),
        np.zeros(n),
        [clarabel.NonnegativeConeT(n)],
        settings,
    )
    result = solve(lcp, method, tolerance=1e-9)
    assert result.status.converged
    np.testing.assert_allclose(lcp.A @ result.x, lcp.A @ np.array(solver.solve().x), atol=1e-5 * np.abs(lcp.b).max())


@pytest.mark.parametrize("equations", [MinimumMap(), FischerBurmeister("perturbation", 0)])
def test_derivatives_are_those_of_differences(equations):
    """Where F is smooth, J d and J' F are what central differences of F and of the merit give."""
    A, rng = p_matrix(6, 4)
    problem = ScaledProblem(LCP(A, rng.normal(size=6)), True)
    x, d = rng.uniform(0.2, 1.0, 6), rng.normal(size=6)
    h = 1e-6

    def residual(x):
        return equations.residual(x, problem.apply(x) + problem.b)

    linear = equations.linearise(problem, x, problem.apply(x) + problem.b, 0.1)
    np.testing.assert_allclose(linear.apply(d), (residual(x + h * d) - residual(x - h * d)) / (2 * h), atol=1e-8)
    slope = (np.sum(residual(x + h * d) ** 2) - np.sum(residual(x - h * d) ** 2)) / (4 * h)
    assert linear.gradient() @ d == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("strategy", ["perturbation", "zero", "random"])
def test_weights_belong_to_the_generalised_jacobian(strategy):
    """Where x_i = w_i = 0, (p + 1, q + 1) lies in the unit disc (eq. 98); elsewhere on its rim (eq. 97)."""
    x, w = np.array([0.0, 3.0, 0.0, -1.0, 0.0]), np.array([0.0, 4.0, 2.0, 0.0, 0.0])
    p, q = FischerBurmeister(strategy, 7).weights(x, w, 0.0)
    length = np.hypot(p + 1.0, q + 1.0)
    np.testing.assert_allclose(length[1:4], 1.0)
    assert np.all(length[[0, 4]] <= 1.0)
    assert p[1] == pytest.approx(3.0 / 5.0 - 1.0)


def test_strategies_agree():
    """All four find the solution from a start that is degenerate in half of the variables."""
    A, rng = p_matrix(20, 9)
    problem = plant_solution(A, rng, 0.3, 0.2)
    b = problem.lcp.b
    start = problem.solution * (rng.uniform(size=20) < 0.5)
    b[:10] = -(A @ start)[:10] * (start[:10] == 0.0) + b[:10] * (start[:10] != 0.0)
    lcp = LCP(A, b)
    assert np.any((start == 0.0) & (np.abs(lcp.slack(start)) < 1e-14))
    found = [solve(lcp, "fischer_newton", start, strategy=strategy) for strategy in STRATEGIES]
    for strategy, result in zip(STRATEGIES, found, strict=True):
        assert result.status.converged, f"{strategy} ended as {result.status.word}"
        np.testing.assert_allclose(result.x, found[0].x, atol=1e-8)


def test_random_strategy_repeats():
    """The same seed gives the same bits."""
    lcp = contact_lcp(8, 2).lcp
    first, again = (solve(lcp, "fischer_newton", strategy="random", seed=5, tolerance=1e-6) for _ in range(2))
    assert np.array_equal(first.x, again.x)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("linear_solver", ["direct", "gmres"])
def test_forms_agree(method, linear_solver):
    """Dense, sparse, factors and operator give one solution, by either linear solver."""
    forms = in_all_forms(*random_factors(24, 40, seed=3))
    forms += [operator_of(forms[0]), operator_of(forms[1], transposed=False)] if linear_solver == "gmres" else []
    found = [solve(lcp, method, linear_solver=linear_solver, tolerance=1e-10) for lcp in forms]
    for lcp, result in zip(forms, found, strict=True):
        assert result.status.converged, f"{lcp.form} ended as {result.status.word} at {result.residual}"
        np.testing.assert_allclose(result.x, found[0].x, atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_gmres_agrees_with_direct(method):
    """On 1,000 pressures of a fluid GMRES makes as many steps as LU does, or one more, to the same solution."""
    lcp = fluid_lcp((10, 10, 10), 1).lcp
    direct, gmres = (solve(lcp, method, linear_solver=name) for name in ("direct", "gmres"))
    assert gmres.iterations <= direct.iterations + 1
    np.testing.assert_allclose(gmres.x, direct.x, atol=1e-9)


def test_operator_chooses_gmres():
    """Without an option an operator is solved by products; a direct solution of one is refused."""
    lcp = operator_of(positive_definite_lcp(12, 1).lcp)
    assert solve(lcp, "minmap_newton").status.converged
    with pytest.raises(ProblemError, match="gmres"):
        solve(lcp, "minmap_newton", linear_solver="direct")
    with pytest.raises(ProblemError, match="approximation"):
        solve(positive_definite_lcp(5).lcp, "fischer_newton", strategy="approximation", linear_solver="direct")


@pytest.mark.parametrize(("method", "options"), VARIANTS)
@pytest.mark.parametrize("make", [lambda: fluid_lcp((5, 5, 5), 2), lambda: positive_definite_lcp(60, 2)])
def test_quadratic_end(method, options, make):
    """The last two steps gain a factor of 1e4 or more, where the solution is unique and strictly complementary."""
    history = solve(make().lcp, method, **options).history
    assert history[-3] >= 1e4 * history[-1], history


@pytest.mark.parametrize(("method", "options"), VARIANTS)
def test_merit_never_rises(method, options):
    """Armijo's rule: every step goes down; the history starts at x0 and ends at the result."""
    lcp = contact_lcp(10, 4).lcp
    result = solve(lcp, method, tolerance=1e-6, **options)
    assert np.all(np.diff(result.merit_history) < 0.0)
    assert len(result.history) == len(result.merit_history) == result.iterations + 1
    scale = np.abs(lcp.b).max()
    assert result.history[0] * scale == pytest.approx(np.max(np.abs(np.minimum(lcp.b, 0.0))))
    assert result.history[-1] * scale == pytest.approx(natural_map(lcp.dense, lcp.b, result.x), rel=1e-6, abs=1e-14)
    assert np.all(result.x >= 0.0)


@pytest.mark.parametrize("method", METHODS)
def test_units_do_not_matter(method):
    """D A D and D b, with D over eight powers of ten, are solved in the same steps as A and b."""
    problem = semidefinite_lcp(30, 0.2, seed=6).lcp
    scaling = 10.0 ** np.random.default_rng(1).uniform(-4.0, 4.0, 30)
    scaled = LCP(scaling[:, None] * problem.A * scaling, scaling * problem.b)
    limits = {"tolerance": 0.0, "max_iterations": 4}
    plain, other = solve(problem, method, **limits), solve(scaled, method, **limits)
    np.testing.assert_allclose(other.merit_history, plain.merit_history, rtol=1e-6, atol=1e-20)


@pytest.mark.parametrize("method", METHODS)
def test_warm_start(method):
    """Started at the solution no step is made; ten sweeps of Gauss-Seidel save steps."""
    problem = positive_definite_lcp(100, 7)
    assert solve(problem.lcp, method, problem.solution).iterations == 0
    cold, warm = (solve(problem.lcp, method, tolerance=1e-6, warm_start_sweeps=sweeps) for sweeps in (0, 10))
    assert warm.status.converged
    assert warm.iterations < cold.iterations
    assert warm.history[0] < 0.1 * cold.history[0]


def test_warm_start_needs_gauss_seidel():
    """Sweeps on a zero diagonal, or on an operator, are refused with the reason."""
    with pytest.raises(ProblemError, match="diagonal"):
        solve(contact_lcp(3).lcp, "fischer_newton", warm_start_sweeps=5)
    with pytest.raises(ProblemError, match="LinearOperator"):
        solve(operator_of(positive_definite_lcp(5).lcp), "fischer_newton", warm_start_sweeps=5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_zero_eigenvalues(method, share):
    """Singular convex problems with a solution are solved: a singular system is regularised."""
    for seed in range(4):
        result = solve(semidefinite_lcp(60, share, seed).lcp, method, tolerance=1e-6)
        assert result.status.converged, f"seed {seed} ended as {result.status.word} at {result.residual}"


@pytest.mark.parametrize(("method", "options"), VARIANTS)
def test_contacts(method, options):
    """Frictional contacts, singular and degenerate at the solution, reach Erleben's absolute tolerance."""
    for seed in range(4):
        result = solve(contact_lcp(12, seed).lcp, method, tolerance=0.0, merit_tolerance=1e-3, **options)
        assert result.status == Status.CONVERGED_ABSOLUTE, f"seed {seed} ended as {result.status.word}"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "A", [np.zeros((2, 2)), -np.eye(2), np.array([[0.0, 0.0], [-1.0, 1.0]]), np.array([[0.0, 1e-3], [-1e-3, 0.0]])]
)
def test_no_solution(method, A):
    """w = A x + b never gets to zero: the end is honest, finite and comes soon."""
    b = np.array([-1.0, -1.0]) if A[0, 1] == 0.0 else np.array([1.0, -1.0])
    assert not solutions_by_enumeration(A, b)
    result = solve(LCP(A, b), method)
    assert not result.status.converged
    assert np.all(np.isfinite(result.x))
    assert np.all(np.isfinite(result.history))
    assert result.iterations <= 100


def test_end_local_minimum():
    """w = -x - 1 has no zero for x >= 0, and x = 0 is the merit's minimum there."""
    for method in METHODS:
        assert solve(LCP([[-1.0]], [-1.0]), method).status == Status.LOCAL_MINIMUM


def test_end_non_descent():
    """w = -1 whatever x is, and without A' there is no gradient to fall back on."""
    problem = operator_of(LCP(np.zeros((1, 1)), [-1.0]), transposed=False)
    assert solve(problem, "minmap_newton").status == Status.NON_DESCENT


@pytest.mark.parametrize("method", METHODS)
def test_ends_of_the_iteration(method):
    """Each stopping rule has its own status (Erleben section 6)."""
    lcp = fluid_lcp((4, 4, 4), 1).lcp
    off = {"tolerance": 0.0}
    assert solve(lcp, method, max_iterations=1).status == Status.MAX_ITERATIONS
    assert solve(lcp, method, max_iterations=1).iterations == 1
    assert solve(lcp, method, absolute_tolerance=1e-6).status == Status.CONVERGED_ABSOLUTE
    assert solve(lcp, method, **off, merit_tolerance=1e-3).status == Status.CONVERGED_ABSOLUTE
    assert solve(lcp, method, **off, merit_tolerance=1e-3).measures.fischer_burmeister < 1e-2
    assert solve(lcp, method, **off, decrease_tolerance=0.99999).status == Status.STAGNATED
    assert solve(lcp, method, **off, step_tolerance=1e9).iterations == 1
    assert solve(lcp, method, **off, step_tolerance=1e9).status == Status.STAGNATED


@pytest.mark.parametrize("method", METHODS)
def test_as_far_as_doubles_go(method):
    """Without a tolerance the method stops by itself, at rounding."""
    for seed, make in itertools.product(
        range(3), (lambda s: positive_definite_lcp(30, s), lambda s: fluid_lcp((4, 4, 4), s))
    ):
        result = solve(make(seed).lcp, method, tolerance=0.0)
        assert result.status in (Status.ROUND_OFF, Status.CONVERGED_ABSOLUTE), result.status.word
        assert result.residual < 1e-14
