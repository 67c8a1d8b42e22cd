"""What ``solve_lcp`` promises of every method: bad input is refused before any work, results are whole and honest."""

import functools
import warnings

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from lcp_oracles import solutions_by_enumeration
from lcp_problems import in_all_forms, natural_map, random_factors

from cairn.solver_core.problem.problem import LCP, LcpResult, ProblemError, SolverOptions, Status
from cairn.solver_core.problem.residuals import measure_lcp
from cairn.solver_core.solve import solve_lcp
from cairn.solver_core.solvers.registry import LCP_METHODS, find_lcp_method

pytestmark = pytest.mark.one_python

# Jacobi needs damping on what is not diagonally dominant.
DAMPED = {"jacobi": {"relaxation": 0.15}}
TAKES_OPERATOR = [method for method in LCP_METHODS if "operator" in find_lcp_method(method).forms]


def solve(lcp, method, x0=None, **options) -> LcpResult:
    options = {"tolerance": 1e-8} | DAMPED.get(method, {}) | options
    return solve_lcp(lcp, method, x0, SolverOptions(**options))


@functools.cache
def the_solution(seed):
    """By enumeration of all bases."""
    lcp = in_all_forms(*random_factors(6, 20, seed))[0]
    return solutions_by_enumeration(lcp.A, lcp.b)[0]


def check_promises(result, lcp, A, limit):
    """The measures are those of x, the status follows from them, and nothing is NaN."""
    scale = np.abs(lcp.b).max()
    assert np.all(np.isfinite(result.x))
    assert result.x.shape == (lcp.size,)
    assert result.residual * scale == pytest.approx(natural_map(A, lcp.b, result.x), rel=1e-6, abs=1e-13 * scale)
    assert result.status.converged == (result.residual <= 1e-8 + 1e-14)
    assert 0 <= result.iterations <= limit
    assert len(result.history) >= 1
    assert not np.any(np.isnan(result.history))
    assert np.all(result.history >= 0.0)
    assert len(result.merit_history) == 0 or not np.any(np.isnan(result.merit_history))
    assert result.method in LCP_METHODS
    assert result.seconds > 0.0


@pytest.mark.parametrize("form", range(3))
@pytest.mark.parametrize("method", LCP_METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_symmetric_positive_definite_is_solved_by_all(method, form, seed):
    """The solution is the one that enumeration of the bases finds; the promises of a result hold."""
    lcp = in_all_forms(*random_factors(6, 20, seed))[form]
    result = solve(lcp, method, max_iterations=5000)
    check_promises(result, lcp, lcp.dense, 5000)
    assert result.status.converged
    assert result.x == pytest.approx(the_solution(seed), abs=1e-5)


@pytest.mark.parametrize("form", range(3))
@pytest.mark.parametrize("method", LCP_METHODS)
def test_redundant_contacts_are_solved_by_all(method, form):
    """A of rank 6 among 18 rows: every method ends with the one A x that there is."""
    lcp = in_all_forms(*random_factors(18, 6, seed=1, redundant=6))[form]
    result = solve(lcp, method, max_iterations=20_000)
    check_promises(result, lcp, lcp.dense, 20_000)
    assert result.status.converged
    reference = solve(lcp, "pgs", max_iterations=100_000, tolerance=1e-11)
    assert lcp.dense @ result.x == pytest.approx(lcp.dense @ reference.x, abs=1e-4 * np.abs(lcp.b).max())


@pytest.mark.parametrize("method", LCP_METHODS)
def test_start_at_the_solution_is_returned(method):
    """No iteration, and the start to the bit."""
    lcp = in_all_forms(*random_factors(7, 20, seed=2))[0]
    first = solve(lcp, method, max_iterations=5000, tolerance=1e-10)
    again = solve(lcp, method, x0=first.x, tolerance=1e-8)
    assert again.status.converged
    assert again.iterations == 0
    assert np.array_equal(again.x, first.x)


@pytest.mark.parametrize("method", LCP_METHODS)
def test_zero_solves_what_has_no_negative_b(method):
    """x = 0 at once, also for b = 0, whose scale is 1."""
    for b in (np.arange(5.0), np.zeros(5)):
        result = solve(LCP(np.eye(5) + 0.1, b), method)
        assert result.status.converged
        assert np.array_equal(result.x, np.zeros(5))
        assert result.residual == 0.0


@pytest.mark.parametrize("method", LCP_METHODS)
def test_nothing_is_solved_by_nothing(method):
    """n = 0: an empty, converged result."""
    for lcp in (
        LCP(np.zeros((0, 0)), np.zeros(0)),
        LCP(scipy.sparse.csr_array((0, 0)), np.zeros(0)),
        LCP.from_factors(np.zeros((0, 6)), np.eye(6), np.zeros(0)),
    ):
        result = solve_lcp(lcp, method)
        assert result.status.converged
        assert result.x.shape == (0,)
        assert result.iterations == 0
        assert result.residual == 0.0


@pytest.mark.parametrize("method", LCP_METHODS)
def test_problem_without_solution_ends_with_a_status(method):
    """x1 - x2 >= 1 and x2 - x1 >= 1 cannot be; A is symmetric, semidefinite, and has a positive diagonal."""
    result = solve(LCP([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]), method)
    assert not result.status.converged
    assert np.all(np.isfinite(result.x))
    assert result.measures.natural_map >= 0.5


@pytest.mark.parametrize("method", LCP_METHODS)
@pytest.mark.parametrize("factor", [2.0**-40, 2.0**40])
def test_units_of_b_do_not_matter(method, factor):
    """b and x times a power of two: the same iterations, and the same solution in the other unit."""
    lcp = in_all_forms(*random_factors(9, 30, seed=4))[0]
    plain = solve(lcp, method, max_iterations=5000)
    other = solve(LCP(lcp.A, factor * lcp.b), method, max_iterations=5000)
    assert other.status is plain.status
    assert other.iterations == plain.iterations
    assert other.x / factor == pytest.approx(plain.x, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("method", LCP_METHODS)
def test_input_is_not_changed(method):
    """A, b and the start are the caller's."""
    lcp = in_all_forms(*random_factors(7, 20, seed=5))[0]
    A, b, x0 = lcp.A.copy(), lcp.b.copy(), np.ones(7)
    solve(lcp, method, x0=x0)
    assert np.array_equal(lcp.A, A)
    assert np.array_equal(lcp.b, b)
    assert np.array_equal(x0, np.ones(7))


@pytest.mark.parametrize("method", LCP_METHODS)
def test_operators_are_solved_or_refused(method):
    """A LinearOperator serves the methods that say so; the others ask for the entries of A."""
    dense = in_all_forms(*random_factors(7, 20, seed=3))[0]
    lcp = LCP(scipy.sparse.linalg.aslinearoperator(dense.A), dense.b)
    if method in TAKES_OPERATOR:
        result = solve(lcp, method, max_iterations=5000)
        check_promises(result, lcp, dense.A, 5000)
        assert result.status.converged
    else:
        with pytest.raises(ProblemError, match=f"{method}.*needs the entries of A"):
            solve_lcp(lcp, method)


@pytest.mark.parametrize("method", LCP_METHODS)
def test_options_of_other_methods_are_refused(method):
    """An option that a method lacks is an error that lists its own."""
    foreign = {"directions": 8, "relaxation": 1.1, "strategy": "zero"}
    for name, value in foreign.items():
        if name not in find_lcp_method(method).options:
            with pytest.raises(ProblemError, match=f"{method}.*has no option '{name}'"):
                solve_lcp(LCP(np.eye(2), -np.ones(2)), method, options=SolverOptions(**{name: value}))


def test_unknown_methods_list_the_known_ones():
    """One clear line."""
    with pytest.raises(ProblemError, match=r"no solver 'magic'; choose one of .*pgs") as error:
        solve_lcp(LCP(np.eye(2), np.ones(2)), "magic")
    for method in LCP_METHODS:
        assert method in str(error.value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused_where_they_are(value):
    """NaN and infinity in A, b, the factors and the start, by name."""
    matrix = np.eye(3)
    bad_matrix, bad_vector = np.eye(3), np.zeros(3)
    bad_matrix[1, 2] = bad_vector[1] = value
    for name, build in {
        "A": lambda: LCP(bad_matrix, np.zeros(3)),
        "A ": lambda: LCP(scipy.sparse.csr_array(bad_matrix), np.zeros(3)),
        "b": lambda: LCP(matrix, bad_vector),
        "jacobian": lambda: LCP.from_factors(bad_matrix, matrix, np.zeros(3)),
        "inverse_mass": lambda: LCP.from_factors(matrix, bad_matrix, np.zeros(3)),
        "x0": lambda: solve_lcp(LCP(matrix, np.zeros(3)), "pgs", x0=bad_vector),
    }.items():
        with pytest.raises(ProblemError, match=f"{name.strip()} holds NaN or infinity"):
            build()


def test_complex_numbers_are_refused():
    """The imaginary part is not dropped in silence, dense, sparse, in b or in a factor."""
    matrix, vector = np.eye(3), np.zeros(3)
    for name, build in {
        "A": lambda: LCP(1j * matrix, vector),
        "A ": lambda: LCP(scipy.sparse.csr_array(1j * matrix), vector),
        "b": lambda: LCP(matrix, 1j * vector),
        "jacobian": lambda: LCP.from_factors(1j * matrix, matrix, vector),
    }.items():
        with pytest.raises(ProblemError, match=f"{name.strip()} is complex"):
            build()


def test_inverse_masses_must_be_symmetric():
    """J M^-1 J' is read by rows and by columns of M^-1, so both must be the same."""
    with pytest.raises(ProblemError, match="inverse_mass is not symmetric"):
        LCP.from_factors(np.eye(2), [[1.0, 0.5], [0.0, 1.0]], np.zeros(2))


def test_measures_of_huge_numbers_overflow_in_silence():
    """Squares of 1e200 are infinite; the residual, which has none, is right, and no warning is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        measures = measure_lcp(LCP(np.eye(2), [-1e200, 1e200]), np.zeros(2))
    assert measures.natural_map == 1e200
    assert measures.natural_map_norm == measures.fischer_burmeister == np.inf


def test_shapes_that_do_not_match_are_refused():
    """Say both shapes."""
    with pytest.raises(ProblemError, match=r"A has the shape \(3, 3\).*b of 4"):
        LCP(np.eye(3), np.zeros(4))
    with pytest.raises(ProblemError, match=r"A has the shape \(3, 4\)"):
        LCP(np.zeros((3, 4)), np.zeros(3))
    with pytest.raises(ProblemError, match="A has 1 dimensions"):
        LCP(np.zeros(3), np.zeros(3))
    with pytest.raises(ProblemError, match="b has 2 dimensions"):
        LCP(np.eye(3), np.zeros((3, 1)))
    with pytest.raises(ProblemError, match="jacobian has 2 rows; b has 3"):
        LCP.from_factors(np.zeros((2, 6)), np.eye(6), np.zeros(3))
    with pytest.raises(ProblemError, match=r"inverse_mass has the shape \(5, 5\)"):
        LCP.from_factors(np.zeros((3, 6)), np.eye(5), np.zeros(3))
    with pytest.raises(ProblemError, match=r"x0 has the shape \(2,\)"):
        solve_lcp(LCP(np.eye(3), np.zeros(3)), "pgs", x0=np.zeros(2))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("tolerance", -1.0),
        ("tolerance", np.nan),
        ("absolute_tolerance", np.inf),
        ("merit_tolerance", -1e-9),
        ("max_iterations", -1),
        ("max_iterations", 2.5),
        ("max_iterations", np.inf),
        ("relaxation", 2.0),
        ("alpha", -0.1),
        ("alpha", np.inf),
        ("line_search", "no"),
        ("conjugacy", "steepest"),
        ("strategy", "luck"),
        ("linear_solver", "magic"),
        ("warm_start_sweeps", -1),
        ("directions", 5),
    ],
)
def test_options_out_of_range_are_refused_by_name(option, value):
    """Each names itself and its value."""
    with pytest.raises(ProblemError, match=f"{option} is"):
        SolverOptions(**{option: value})


def test_diagonal_of_factors_is_that_of_their_product():
    """The matrix-free diagonal against the dense product."""
    jacobian, inverse_mass, b = random_factors(9, 12, seed=6)
    lcp = LCP.from_factors(jacobian, inverse_mass, b)
    assert lcp.diagonal == pytest.approx(np.diag(jacobian @ inverse_mass @ jacobian.T), rel=1e-13)
    assert lcp.is_symmetric


def test_sparse_entries_that_are_given_twice_count_as_their_sum():
    """COO duplicates, as an assembly leaves them."""
    A = scipy.sparse.coo_array(([1.0, 1.0, 2.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    result = solve(LCP(A, [-2.0, -2.0]), "pgs")
    assert result.x == pytest.approx([1.0, 1.0], abs=1e-12)
    assert result.status is Status.CONVERGED_ABSOLUTE
