"""The splitting and gradient methods on a plain LCP: against plain references, enumeration, Clarabel and nnls."""

import functools

import numpy as np
import pytest
import scipy.sparse
from lcp_oracles import solutions_by_enumeration
from lcp_problems import (
    in_all_forms,
    modulus_reference,
    natural_map,
    nncg_reference,
    random_factors,
    sweep_reference,
)
from scipy.optimize import nnls

from cairn.solver_core.problem.problem import CONJUGACIES, LCP, ProblemError, SolverOptions, Status
from cairn.solver_core.solve import solve_lcp

pytestmark = pytest.mark.one_python

# Damped so that it converges on every symmetric positive definite problem here.
JACOBI_RELAXATION = 0.15
METHODS = {
    "jacobi": {"relaxation": JACOBI_RELAXATION},
    "pgs": {},
    "psor": {"relaxation": 1.3},
    "nncg": {},
    "amgs": {},
    "amsor": {"relaxation": 1.1},
}
FORMS = ("dense", "sparse", "factors")


def solve(lcp, method, x0=None, **options):
    options = {"tolerance": 1e-9, "max_iterations": 20_000} | METHODS.get(method, {}) | options
    return solve_lcp(lcp, method, x0, SolverOptions(**options))


def of_form(form, *problem):
    return in_all_forms(*problem)[FORMS.index(form)]


@functools.cache
def the_solution(seed):
    """By enumeration of all bases."""
    lcp = of_form("dense", *random_factors(6, 9, seed))
    return solutions_by_enumeration(lcp.A, lcp.b)[0]


def jacobi_reference(A, b, x, relaxation):
    return np.maximum(0.0, x - relaxation * (A @ x + b) / np.diag(A))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", METHODS)
def test_iterates_are_the_plain_ones(method, form):
    """Five sweeps from a start that is not zero agree with the textbook's loop on the dense A."""
    problem = random_factors(9, 40, seed=8)
    lcp = of_form(form, *problem)
    A, b = lcp.dense, lcp.b
    x0 = np.random.default_rng(1).uniform(0.0, 1.0, 9)
    x = x0.copy()
    for _ in range(5):
        if method == "jacobi":
            x = jacobi_reference(A, b, x, JACOBI_RELAXATION)
        else:
            x = sweep_reference(A, b, x, {"psor": 1.3}.get(method, 1.0))
    if method == "nncg":
        x = nncg_reference(A, b, x0, 5)
    elif method in ("amgs", "amsor"):
        relaxation = METHODS[method].get("relaxation", 1.0)
        x = modulus_reference(A, b, x0, 0.25 * np.diag(A), 2.0, relaxation, 5)
    result = solve(lcp, method, x0, tolerance=0.0, max_iterations=5)
    # The best of the iterates is returned; here it is the last.
    assert np.argmin(result.history) == 5
    assert result.x == pytest.approx(x, abs=1e-12)
    assert result.iterations == 5
    assert result.status is Status.MAX_ITERATIONS


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
def test_small_problems_agree_with_enumeration(method, seed):
    """Positive definite A of 6 variables: the one solution among all bases."""
    lcp = of_form(FORMS[seed % 3], *random_factors(6, 9, seed))
    result = solve(lcp, method, tolerance=1e-11)
    assert result.status.converged
    assert result.x == pytest.approx(the_solution(seed), abs=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", METHODS)
def test_redundant_rows_agree_with_nonnegative_least_squares(method, form):
    """A of rank 8 among 24 rows: A x is unique; the oracle is min |R x - t|, x >= 0, A = R'R (SciPy's nnls)."""
    problem = random_factors(24, 8, seed=2, redundant=8)
    lcp = of_form(form, *problem)
    values, vectors = np.linalg.eigh(lcp.dense)
    kept = values > 1e-10 * values[-1]
    assert np.count_nonzero(kept) == 8
    root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    reference, _ = nnls(root, -(vectors[:, kept] / np.sqrt(values[kept])).T @ lcp.b)
    result = solve(lcp, method, max_iterations=100_000)
    assert result.status.converged
    assert lcp.dense @ result.x == pytest.approx(lcp.dense @ reference, abs=1e-6 * np.abs(lcp.b).max())


@pytest.mark.parametrize("method", METHODS)
def test_large_problem_agrees_with_clarabel(method):
    """The convex program min x'Ax/2 + x'b, x >= 0 by an interior-point method."""
    clarabel = pytest.importorskip("clarabel")
    jacobian, inverse_mass, b = random_factors(40, 120, seed=8)
    lcp = LCP.from_factors(jacobian, inverse_mass, b)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    oracle = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix(np.triu(lcp.dense)),
        b,
        -scipy.sparse.identity(40, format="csc"),
        np.zeros(40),
        [clarabel.NonnegativeConeT(40)],
        settings,
    ).solve()
    result = solve(lcp, method, tolerance=1e-10, max_iterations=100_000)
    assert result.status.converged
    # Its pairs x w end at some 1e-12, so where both are zero x is known to the root of that.
    assert result.x == pytest.approx(np.array(oracle.x), abs=1e-5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", METHODS)
def test_histories_are_those_of_the_iterates(method, form):
    """Entry k of the histories is the natural map, and x'|Ax + b|, of what k iterations give.

    nncg's merit is the squared change of a sweep, in diag(A).
    """
    lcp = of_form(form, *random_factors(12, 12, seed=6))
    A, b = lcp.dense, lcp.b
    whole = solve(lcp, method, tolerance=0.0, max_iterations=80)
    scale = np.abs(b).max()
    assert len(whole.history) == len(whole.merit_history) == 81
    for count in (0, 1, 3, 70):
        part = solve(lcp, method, tolerance=0.0, max_iterations=count)
        best = np.argmin(whole.history[: count + 1])
        assert natural_map(A, b, part.x) == pytest.approx(scale * whole.history[best], rel=1e-9)
        merit = part.x @ np.abs(A @ part.x + b)
        if method == "nncg":
            merit = np.diag(A) @ (sweep_reference(A, b, part.x) - part.x) ** 2
        assert merit == pytest.approx(whole.merit_history[best], rel=1e-6, abs=1e-12)


def test_absolute_and_relative_tolerance_have_their_status():
    """Stop at the first iterate whose natural map is small enough."""
    lcp = of_form("dense", *random_factors(12, 12, seed=6))
    scale = np.abs(lcp.b).max()
    relative = solve(lcp, "pgs", tolerance=1e-5)
    assert relative.status is Status.CONVERGED_RELATIVE
    assert relative.history[-1] <= 1e-5 < relative.history[-2]
    absolute = solve(lcp, "pgs", tolerance=0.0, absolute_tolerance=1e-5 * scale)
    assert absolute.status is Status.CONVERGED_ABSOLUTE
    assert absolute.iterations == relative.iterations


def test_merit_and_its_decrease_stop_by_erlebens_equations():
    """Equations 107 and 108, checked on the merit history."""
    lcp = of_form("dense", *random_factors(12, 12, seed=6))
    merit = solve(lcp, "pgs", x0=np.ones(12), tolerance=0.0, merit_tolerance=1e-3)
    assert merit.status is Status.CONVERGED_ABSOLUTE
    assert merit.merit_history[-1] < 1e-3 <= merit.merit_history[-2]
    slow = solve(lcp, "pgs", x0=np.ones(12), tolerance=0.0, decrease_tolerance=0.4)
    assert slow.status is Status.STAGNATED
    change = np.abs(np.diff(slow.merit_history)) / slow.merit_history[:-1]
    assert change[-1] < 0.4
    assert np.all(change[:-1] >= 0.4)


def test_small_steps_stop_by_erlebens_equation():
    """Equation 109: the last step is below the tolerance, the one before is not."""
    lcp = of_form("dense", *random_factors(12, 12, seed=6))
    result = solve(lcp, "pgs", tolerance=0.0, step_tolerance=1e-4)
    assert result.status is Status.STAGNATED
    iterates = [solve(lcp, "pgs", tolerance=0.0, max_iterations=result.iterations - back).x for back in (0, 1, 2)]
    assert np.abs(iterates[0] - iterates[1]).max() < 1e-4 <= np.abs(iterates[1] - iterates[2]).max()


@pytest.mark.parametrize("method", [method for method in METHODS if method != "nncg"])
def test_merit_that_vanishes_at_zero_does_not_stop(method):
    """x'|Ax + b| is 0 at the start x = 0, which is no solution; Erleben's remark on eq. 106."""
    lcp = of_form("dense", *random_factors(12, 12, seed=6))
    result = solve(lcp, method, tolerance=0.0, merit_tolerance=1e-8, decrease_tolerance=1e-8)
    assert result.merit_history[0] == 0.0
    assert result.iterations > 1
    assert 0.0 < result.merit_history[-1] < 1e-2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", METHODS)
def test_solution_as_start_needs_no_iteration(method, form):
    """Test convergence before the first sweep, and keep the start to the bit."""
    lcp = of_form(form, *random_factors(12, 12, seed=3))
    first = solve(lcp, method)
    again = solve(lcp, method, x0=first.x, tolerance=1e-8)
    assert again.iterations == 0
    assert np.array_equal(again.x, first.x)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["pgs", "psor", "amgs"])
def test_asked_for_the_impossible_it_says_round_off_or_the_limit(method, form):
    """Tolerance 0 ends by itself where the sweep changes nothing, at rounding level."""
    lcp = of_form(form, *random_factors(8, 16, seed=3))
    result = solve(lcp, method, tolerance=0.0, max_iterations=5000)
    assert result.status in (Status.ROUND_OFF, Status.MAX_ITERATIONS, Status.CONVERGED_ABSOLUTE)
    assert result.residual < 1e-14


@pytest.mark.parametrize("form", FORMS)
def test_iterates_that_outgrow_doubles_fail_with_the_best_one(form):
    """Plain Jacobi diverges on A = 11' + I/10: the start is returned, and no NaN."""
    jacobian = np.hstack([np.ones((9, 1)), np.sqrt(0.1) * np.eye(9)])
    lcp = of_form(form, jacobian, np.eye(10), -np.arange(1.0, 10.0))
    result = solve_lcp(lcp, "jacobi", options=SolverOptions(max_iterations=5000))
    assert result.status in (Status.FAILED, Status.MAX_ITERATIONS)
    assert np.all(np.isfinite(result.x))
    assert result.measures.natural_map <= natural_map(lcp.dense, lcp.b, np.zeros(9))
    unbounded = solve_lcp(LCP([[1.0, -3.0], [-3.0, 1.0]], [-1.0, -1.0]), "pgs", options=SolverOptions())
    assert unbounded.status is Status.FAILED
    assert np.array_equal(unbounded.x, np.zeros(2))


@pytest.mark.parametrize("iterations", [1, 2, 3, 6, 9])
def test_nncg_with_polak_ribiere_is_the_listing_with_its_beta(iterations):
    """The iterates agree with the plain reference, through restarts too."""
    lcp = of_form("dense", *random_factors(9, 40, seed=8))
    run = solve(lcp, "nncg", conjugacy="polak_ribiere", tolerance=0.0, max_iterations=iterations)
    reference = nncg_reference(lcp.dense, lcp.b, np.zeros(9), iterations, polak_ribiere=True)
    assert np.argmin(run.history) == iterations
    assert run.x == pytest.approx(reference, abs=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("conjugacy", CONJUGACIES)
@pytest.mark.parametrize("seed", range(4))
def test_nncg_with_line_search_never_raises_its_merit(conjugacy, form, seed):
    """Armijo's rule: |g|^2 falls in each iteration but those that take a whole sweep, and it solves the problem."""
    lcp = of_form(form, *random_factors(20, 30, seed=seed))
    run = solve(lcp, "nncg", conjugacy=conjugacy, line_search=True, tolerance=1e-8)
    plain = solve(lcp, "nncg", tolerance=1e-8)
    assert run.status.converged
    grown = np.count_nonzero(np.diff(run.merit_history) > 0.0)
    assert grown <= np.count_nonzero(np.diff(plain.merit_history) > 0.0)
    assert run.x == pytest.approx(plain.x, abs=1e-4)


def test_nncg_needs_a_tenth_of_the_sweeps_of_pgs_on_a_stack():
    """A stack of 30 discs on a floor: x_i in closed form is the weight above."""
    count = 30
    jacobian = np.eye(count) - np.eye(count, k=-1)
    lcp = LCP.from_factors(jacobian, np.eye(count), -jacobian @ np.full(count, 0.15))
    runs = {method: solve(lcp, method, tolerance=1e-6, max_iterations=50_000) for method in ("pgs", "nncg")}
    for run in runs.values():
        assert run.x == pytest.approx(0.15 * np.arange(count, 0, -1), rel=1e-3)
    assert runs["nncg"].iterations <= 0.1 * runs["pgs"].iterations


def test_amgs_at_gamma_omega_equal_to_the_diagonal_is_gauss_seidel():
    """The text's own choice, Omega = D / gamma, is projected Gauss-Seidel, sweep by sweep."""
    problem = random_factors(12, 12, seed=5)
    for lcp in in_all_forms(*problem):
        plain = solve(lcp, "pgs")
        for own in ({"alpha": 0.5}, {"omega": 0.5 * lcp.diagonal}):
            result = solve(lcp, "amgs", **own)
            assert result.iterations == plain.iterations
            assert result.x == pytest.approx(plain.x, abs=1e-14)
    A, b, x0 = lcp.dense, lcp.b, np.ones(12)
    text = modulus_reference(A, b, x0, np.diag(A) / 2.0, gamma=2.0, relaxation=1.0, sweeps=4)
    swept = x0
    for _ in range(4):
        swept = sweep_reference(A, b, swept)
    assert text == pytest.approx(swept, abs=1e-12)


@pytest.mark.parametrize("relaxation", [0.8, 1.0, 1.3])
def test_amsor_solves_the_equation_of_the_splittings(relaxation):
    """Any Omega and relaxation, against eq. 17 with a gamma that only scales s."""
    lcp = of_form("dense", *random_factors(10, 40, seed=7))
    omega = np.random.default_rng(3).uniform(0.15, 0.6, 10) * lcp.diagonal
    x0 = np.random.default_rng(4).uniform(0.0, 1.0, 10)
    result = solve(lcp, "amsor", x0, omega=omega, relaxation=relaxation, tolerance=0.0, max_iterations=3)
    reference = modulus_reference(lcp.dense, lcp.b, x0, 0.4 * omega, 5.0, relaxation, 3)
    assert np.argmin(result.history) == 3
    assert result.x == pytest.approx(reference, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.05, 0.15, 0.25, 0.4, 0.5])
def test_amgs_lowers_the_energy_in_each_sweep(alpha):
    """x'Ax/2 + x'b never grows for 0 < gamma alpha <= 1 and symmetric positive definite A."""
    lcp = of_form("dense", *random_factors(30, 40, seed=11))
    iterates = []
    for count in range(40):
        run = solve(lcp, "amgs", alpha=alpha, tolerance=0.0, max_iterations=count)
        if np.argmin(run.history) == count:
            iterates.append(run.x)
    energy = np.array([0.5 * x @ lcp.dense @ x + lcp.b @ x for x in iterates])
    assert len(energy) > 10
    assert np.all(np.diff(energy) <= 1e-12 * np.abs(energy).max())


def test_amgs_needs_half_the_sweeps_of_pgs_on_a_stack():
    """A stack of 150 discs on a floor, as the paper's: A is tridiagonal, x_i the weight above."""
    count = 150
    jacobian = np.eye(count) - np.eye(count, k=-1)
    lcp = LCP.from_factors(jacobian, np.eye(count), -jacobian @ np.full(count, 0.15))
    runs = {method: solve(lcp, method, tolerance=1e-4, max_iterations=50_000) for method in ("pgs", "amgs")}
    assert runs["amgs"].status.converged
    assert runs["amgs"].iterations == pytest.approx(0.5 * runs["pgs"].iterations, rel=0.1)


@pytest.mark.parametrize("method", METHODS)
def test_same_bits_twice(method):
    """Repeat to the bit."""
    lcp = of_form("factors", *random_factors(20, 30, seed=9))
    assert solve(lcp, method).x.tobytes() == solve(lcp, method).x.tobytes()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", METHODS)
def test_diagonal_that_is_not_positive_is_refused_by_its_row(method, form):
    """Say which entry it is, before any work."""
    jacobian, inverse_mass, b = random_factors(5, 5, seed=1)
    jacobian[3] = 0.0
    lcp = of_form(form, jacobian, inverse_mass, b)
    with pytest.raises(ProblemError, match=rf"{method}.*A\[3, 3\] is 0"):
        solve_lcp(lcp, method)


def test_options_that_do_not_fit_are_refused():
    """Shape and sign of omega, and alpha = 0."""
    lcp = of_form("dense", *random_factors(5, 5, seed=1))
    with pytest.raises(ProblemError, match=r"omega has the shape \(4,\)"):
        solve_lcp(lcp, "amgs", options=SolverOptions(omega=np.ones(4)))
    with pytest.raises(ProblemError, match="omega must be positive"):
        solve_lcp(lcp, "amgs", options=SolverOptions(omega=np.array([1.0, 1.0, 0.0, 1.0, 1.0])))
    with pytest.raises(ProblemError, match="alpha"):
        solve_lcp(lcp, "amgs", options=SolverOptions(alpha=0.0))
