"""The solvers solve the boxed complementarity problem: against SciPy, plain references and the natural map."""

import numpy as np
import pytest
from contact_problems import dense_form, natural_map_reference, nncg_reference, pgs_reference, random_problem
from scipy.optimize import nnls

from cairn.solver_core.problem import ContactProblem, SolverOptions, Status
from cairn.solver_core.rows import RowArrays
from cairn.solver_core.solve import solve_contacts
from cairn.solver_core.solvers.registry import METHODS, find_method

TOLERANCE = 1e-9


def solve(problem, method, **options):
    options = {"tolerance": TOLERANCE, "max_iterations": 20_000} | options
    return solve_contacts(problem, method=method, options=SolverOptions(**options))


def scale_of(problem):
    """|b|; random problems have no open gap and so every row counts but separating normals."""
    _, b = dense_form(problem)
    normal = problem.rows.normal_row[: len(b)] < 0
    return np.abs(np.where(normal, np.minimum(b, 0.0), b)).max()


@pytest.mark.parametrize("method", METHODS)
def test_no_contact_is_solved_by_nothing(method):
    """Return at once where there is no row."""
    rows = RowArrays(*(array.copy() for array in random_problem(2, 1).rows))
    rows.count[:] = 0
    velocity = np.arange(12.0).reshape(2, 6)
    result = solve(ContactProblem(rows, velocity), method)
    assert result.status.converged
    assert result.iterations == 0
    assert result.worst_block == -1
    assert np.array_equal(result.velocity, velocity)


@pytest.mark.parametrize("method", METHODS)
def test_one_contact_has_its_closed_form(method):
    """A point mass that hits a plane stops; friction takes mu times the normal impulse from its slip."""
    problem = random_problem(2, 1, friction=0.3)
    rows = problem.rows
    rows.jacobian[:3] = 0.0
    rows.jacobian[:3, 6:9] = np.eye(3)[[2, 0, 1]]
    rows.response[:3] = rows.jacobian[:3] / 2.0
    rows.diagonal[:3] = 0.5
    rows.body_mass[1] = 2.0 * np.eye(6)
    problem.free_velocity[1] = [5.0, 0.4, -3.0, 0.0, 0.0, 0.0]
    result = solve(problem, method)
    assert result.r == pytest.approx([6.0, -1.8, -0.8], abs=1e-12)
    assert result.velocity[1] == pytest.approx([5.0 - 0.9, 0.0, 0.0, 0.0, 0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
def test_frictionless_agrees_with_nonnegative_least_squares(method, seed):
    """Velocities of the convex problem are unique: min |M^-1/2 J' r + M^1/2 v_free|, r >= 0 (SciPy's nnls).

    Half of the contacts repeat others, so W is singular and the impulses are not unique.
    """
    problem = random_problem(6, 12, friction=0.0, seed=seed, redundant=6)
    normal = np.arange(0, 36, 3)
    matrix, b = dense_form(problem)
    matrix, b = matrix[np.ix_(normal, normal)], b[normal]
    values, vectors = np.linalg.eigh(matrix)
    kept = values > 1e-10 * values[-1]
    root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    target = -(vectors[:, kept] / np.sqrt(values[kept])).T @ b
    reference, _ = nnls(root, target)
    result = solve(problem, method)
    assert result.status.converged
    assert matrix @ result.r[normal] == pytest.approx(matrix @ reference, abs=1e-6 * np.abs(b).max())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(8))
def test_reported_residual_is_the_natural_map(method, seed):
    """Converge with friction and redundant contacts; the residual agrees with the plain formula on explicit W."""
    problem = random_problem(8, 14, friction=0.6, seed=seed, redundant=4)
    result = solve(problem, method)
    assert result.status.converged
    assert result.residual <= TOLERANCE
    assert natural_map_reference(problem, result.r) <= (TOLERANCE + 1e-13) * scale_of(problem)
    matrix, b = dense_form(problem)
    span = slice(0, 3 * 14)
    slip = (matrix @ result.r + b)[span].reshape(-1, 3)
    impulse = result.r.reshape(-1, 3)
    assert np.all(impulse[:, 0] >= 0.0)
    assert np.all(np.abs(impulse[:, 1:]) <= 0.6 * impulse[:, :1] + 1e-15)
    assert np.all(impulse[:, 1:] * slip[:, 1:] <= 1e-6)


def test_pgs_iterates_are_gauss_seidel():
    """Three sweeps agree with the plain reference on the explicit W."""
    problem = random_problem(6, 12, friction=0.4, seed=3)
    result = solve(problem, "pgs", max_iterations=3)
    assert result.status is Status.MAX_ITERATIONS
    assert result.iterations == 3
    assert result.r == pytest.approx(pgs_reference(problem, np.zeros(36), 3), abs=1e-12)


@pytest.mark.parametrize("iterations", [1, 2, 3, 4])
def test_nncg_iterates_are_the_listing(iterations):
    """The first iterates agree with the paper's listing on the explicit W while the merit falls.

    The solver returns the better of two iterates; these few are still the last one.
    """
    problem = random_problem(6, 9, friction=0.4, seed=5)
    result = solve(problem, "nncg", max_iterations=iterations)
    assert result.r == pytest.approx(nncg_reference(problem, iterations), abs=1e-11)


def test_nncg_needs_a_tenth_of_the_sweeps_of_pgs_on_a_column():
    """A column of 30 point masses on a floor: each bears all above it, r_i = (30 - i) m v in closed form."""
    count = 30
    problem = random_problem(count + 1, count, friction=0.5)
    rows = problem.rows
    rows.body_a[:], rows.body_b[:] = np.arange(count), np.arange(1, count + 1)
    rows.jacobian[:] = 0.0
    for direction, axis in enumerate((2, 0, 1)):
        rows.jacobian[direction::3, axis] = -1.0
        rows.jacobian[direction::3, 6 + axis] = 1.0
    rows.response[:] = rows.jacobian
    rows.response[:3, :6] = 0.0
    rows.diagonal[:] = np.sum(rows.jacobian * rows.response, axis=1)
    rows.body_mass[1:] = np.eye(6)
    problem.free_velocity[:] = 0.0
    problem.free_velocity[1:, 2] = -0.1
    results = {method: solve(problem, method, tolerance=1e-6) for method in ("pgs", "nncg")}
    for result in results.values():
        assert result.r[0::3] == pytest.approx(0.1 * np.arange(count, 0, -1), rel=1e-3)
    assert results["nncg"].iterations <= 0.1 * results["pgs"].iterations


@pytest.mark.parametrize("method", METHODS)
def test_solution_as_start_needs_no_iteration(method):
    """Test convergence before the first sweep."""
    problem = random_problem(8, 14, seed=1)
    first = solve(problem, method)
    again = solve_contacts(problem, method=method, r0=first.r, options=SolverOptions(tolerance=1e-8))
    assert again.iterations == 0
    assert np.array_equal(again.r, first.r)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_masses_and_speeds_have_no_unit(method, factor):
    """Scaling masses or speeds changes no iteration count and no residual."""
    problem = random_problem(8, 14, seed=2)
    heavy = random_problem(8, 14, seed=2)
    heavy.rows.response[:] /= factor
    heavy.rows.diagonal[:] /= factor
    heavy.rows.body_mass[:] *= factor
    fast = ContactProblem(problem.rows, problem.free_velocity * factor)
    plain = solve(problem, method)
    for other, impulse_unit in ((solve(heavy, method), factor), (solve(fast, method), factor)):
        assert other.iterations == plain.iterations
        assert other.residual == pytest.approx(plain.residual, rel=1e-3, abs=1e-12)
        assert other.r / impulse_unit == pytest.approx(plain.r, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_one_iteration_says_that_it_was_too_few(method):
    """Report max_iterations, with an iterate no worse than the start."""
    problem = random_problem(20, 40, seed=4)
    result = solve(problem, method, max_iterations=1)
    assert result.status is Status.MAX_ITERATIONS
    assert natural_map_reference(problem, result.r) <= natural_map_reference(problem, np.zeros(120))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_numbers_are_a_failure_without_nan(method, value):
    """NaN or infinity in the problem: status failed, impulses zero."""
    problem = random_problem(4, 6)
    problem.rows.bias[0] = -value
    result = solve(problem, method)
    assert result.status is Status.FAILED
    assert np.array_equal(result.r, np.zeros(18))


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_move_nothing_are_skipped(method):
    """A contact between two immovable bodies has W_ii = 0 and gets no impulse."""
    problem = random_problem(4, 6)
    problem.rows.response[:3] = 0.0
    problem.rows.diagonal[:3] = 0.0
    problem.rows.bias[:3] = -1.0
    result = solve(problem, method)
    assert result.status.converged
    assert np.array_equal(result.r[:3], np.zeros(3))


@pytest.mark.parametrize("method", METHODS)
def test_same_bits_twice(method):
    """Repeat to the bit."""
    results = [solve(random_problem(20, 40, seed=9), method) for _ in range(2)]
    assert results[0].r.tobytes() == results[1].r.tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_bilateral_and_bounded_rows_are_solved_too(method):
    """A bilateral row ends with u = 0; a motor row with constant bounds pushes at its limit."""
    problem = random_problem(3, 2, seed=7)
    rows = problem.rows
    rows.normal_row[:] = -1
    rows.lower[:6] = [-np.inf, -np.inf, -np.inf, -0.01, -np.inf, -np.inf]
    rows.upper[:6] = [np.inf, np.inf, np.inf, 0.01, np.inf, np.inf]
    rows.bias[3] = 50.0
    result = solve(problem, method)
    matrix, b = dense_form(problem)
    speed = matrix @ result.r + b
    assert result.status.converged
    assert result.r[3] == -0.01
    assert speed[3] > 1.0
    assert np.delete(speed[:6], 3) == pytest.approx(np.zeros(5), abs=1e-6)


def test_unknown_names_are_one_clear_line():
    """Say which solvers there are."""
    with pytest.raises(ValueError, match="no solver 'magic'; choose one of nncg"):
        find_method("magic")
    with pytest.raises(ValueError, match="knows friction box, not 'cone'"):
        find_method("pgs", "cone")
    with pytest.raises(ValueError, match="r0 has the shape"):
        solve_contacts(random_problem(2, 1), r0=np.zeros(4))
