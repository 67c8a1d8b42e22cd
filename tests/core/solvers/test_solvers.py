"""The contact solvers solve their complementarity problems: against SciPy, plain references and the natural map.

What holds for every solver is asserted for each with each model of friction that it knows.
"""

import inspect

import numpy as np
import pytest
import scipy.sparse
from contact_problems import (
    amgs_reference,
    dense_form,
    mixed_problem,
    natural_map_reference,
    nncg_reference,
    pgs_reference,
    project_friction_reference,
    random_problem,
)
from nightly import in_turns
from scipy.optimize import nnls

from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.problem import ContactProblem, SolverOptions, Status
from cairn.solver_core.problem.rows import RowArrays, single_island
from cairn.solver_core.solve import solve_contacts
from cairn.solver_core.solvers.registry import METHODS, find_method, kernel_settings_of

TOLERANCE = 1e-9
PAIRS = [(method, friction) for method in METHODS for friction in find_method(method).frictions]
SWEEPING = ("pgs", "psor", "nncg", "amgs", "amsor")
each_method = pytest.mark.parametrize(("method", "friction"), PAIRS)


def solve(problem, method, friction="box", **options):
    options = {"tolerance": TOLERANCE, "max_iterations": 20_000} | options
    return solve_contacts(problem, method, friction, options=SolverOptions(**options))


def column(count):
    """Point masses of 1 kg on each other and on body 0, falling at 0.1 m/s."""
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
    return problem


def scale_of(problem):
    """|b|; random problems have no open gap and so every row counts but separating normals."""
    _, b = dense_form(problem)
    normal = problem.rows.normal_row[: len(b)] < 0
    return np.abs(np.where(normal, np.minimum(b, 0.0), b)).max()


@each_method
def test_no_contact_is_solved_by_nothing(method, friction):
    """Return at once where there is no row."""
    rows = RowArrays(*(array.copy() for array in random_problem(2, 1).rows))
    rows.count[:] = 0
    velocity = np.arange(12.0).reshape(2, 6)
    result = solve(ContactProblem(rows, velocity), method, friction)
    assert result.status.converged
    assert result.iterations == 0
    assert result.worst_block == -1
    assert np.array_equal(result.velocity, velocity)


@each_method
def test_one_contact_has_its_closed_form(method, friction):
    """A point mass that hits a plane stops; friction takes from its slip what the model allows: P(-m slip)."""
    problem = random_problem(2, 1, friction=0.3)
    rows = problem.rows
    rows.jacobian[:3] = 0.0
    rows.jacobian[:3, 6:9] = np.eye(3)[[2, 0, 1]]
    rows.response[:3] = rows.jacobian[:3] / 2.0
    rows.diagonal[:3] = 0.5
    rows.body_mass[1] = 2.0 * np.eye(6)
    problem.free_velocity[1] = [5.0, 0.4, -3.0, 0.0, 0.0, 0.0]
    result = solve(problem, method, friction)
    expected = project_friction_reference(friction, 0.3 * 6.0, [-2.0 * 5.0, -2.0 * 0.4])
    error = 2.0 * 5.0 * TOLERANCE
    assert result.r == pytest.approx([6.0, *expected], abs=error)
    slip = np.array([5.0, 0.4]) + expected / 2.0
    assert result.velocity[1] == pytest.approx([*slip, 0.0, 0.0, 0.0, 0.0], abs=error)


@pytest.mark.parametrize(("method", "friction", "seed"), in_turns(PAIRS, range(6), 2))
def test_frictionless_agrees_with_nonnegative_least_squares(method, friction, seed):
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
    result = solve(problem, method, friction)
    assert result.status.converged
    assert matrix @ result.r[normal] == pytest.approx(matrix @ reference, abs=1e-6 * np.abs(b).max())


@pytest.mark.parametrize(("method", "friction", "seed"), in_turns(PAIRS, range(8), 2))
def test_reported_residual_is_the_natural_map(method, friction, seed):
    """Converge with friction and redundant contacts; the residual agrees with the plain formula on explicit W."""
    problem = random_problem(8, 14, friction=0.6, seed=seed, redundant=4)
    result = solve(problem, method, friction)
    assert result.status.converged
    assert result.residual <= TOLERANCE
    assert natural_map_reference(problem, result.r, friction) <= (TOLERANCE + 1e-13) * scale_of(problem)
    impulse = result.r.reshape(-1, 3)
    largest = np.abs(impulse).max()
    assert np.all(impulse[:, 0] >= -1e-12 * largest)
    for normal, *tangential in impulse:
        allowed = project_friction_reference(friction, 0.6 * max(normal, 0.0), tangential)
        assert tangential == pytest.approx(allowed, abs=TOLERANCE * largest)


@pytest.mark.parametrize("friction", ["box", "cone"])
def test_pgs_iterates_are_gauss_seidel(friction):
    """Three sweeps agree with the plain reference on the explicit W."""
    problem = random_problem(6, 12, friction=0.4, seed=3)
    result = solve(problem, "pgs", friction, max_iterations=3)
    assert result.status is Status.MAX_ITERATIONS
    assert result.iterations == 3
    assert result.r == pytest.approx(pgs_reference(problem, np.zeros(36), 3, friction), abs=1e-11)


@pytest.mark.parametrize(("method", "relaxation"), [("amgs", None), ("amsor", 0.8), ("amsor", 1.2)])
@pytest.mark.parametrize("alpha", [0.2, 0.4, 0.7])
def test_amgs_iterates_solve_the_modulus_equation(method, relaxation, alpha):
    """Five sweeps agree with the paper's fixed-point equation on the explicit W, friction's bounds following."""
    problem = random_problem(6, 12, friction=0.4, seed=3)
    result = solve(problem, method, max_iterations=5, alpha=alpha, relaxation=relaxation)
    assert result.r == pytest.approx(amgs_reference(problem, 5, alpha, relaxation or 1.0), abs=1e-11)


def test_amgs_with_alpha_one_half_is_gauss_seidel():
    """With Omega = D / gamma the modulus drops out, whatever gamma is: the iterates are those of pgs, to the bit."""
    problem = random_problem(6, 12, friction=0.4, seed=3)
    pgs = solve(problem, "pgs", max_iterations=7)
    assert solve(problem, "amgs", max_iterations=7, alpha=0.5).r.tobytes() == pgs.r.tobytes()


def test_psor_with_relaxation_one_is_gauss_seidel():
    """The iterates are those of pgs, to the bit."""
    problem = random_problem(6, 12, friction=0.4, seed=3)
    pgs = solve(problem, "pgs", max_iterations=7)
    assert solve(problem, "psor", max_iterations=7, relaxation=1.0).r.tobytes() == pgs.r.tobytes()


@pytest.mark.parametrize("friction", ["box", "cone"])
def test_what_dies_down_does_not_get_denormal(friction):
    """A sideways motion that thousands of sweeps take out stays above the numbers that stall processors."""
    problem = column(4)
    problem.free_velocity[3, 0] = 1e-3
    result = solve(problem, "pgs", friction, tolerance=0.0, max_iterations=5_000)
    for values in (result.r, result.velocity):
        assert np.abs(values[values != 0.0]).min() > 1e-200


def test_what_the_bounds_cut_off_does_not_get_denormal():
    """A mass that hangs in the air just above one that lands: amgs forgets the excess of their contact to zero.

    It falls by a factor of four a sweep once both rest, to numbers that stall processors after some 500 sweeps.
    """
    problem = column(2)
    problem.free_velocity[2] = 0.0
    method = find_method("amgs", "box")
    settings = kernel_settings_of(method, SolverOptions(max_iterations=520), "box")
    # below any residual, so that all sweeps are done
    settings = settings._replace(tolerance=-1.0, absolute_tolerance=-1.0)
    workspace = method.allocate(6, 3, 0)
    rows = RowArrays(*(array.copy() for array in problem.rows))
    islands, velocity = single_island(rows, 3), problem.free_velocity.copy()
    outcome = method.solve_island(rows, islands, 0, problem.free_velocity, velocity, workspace, settings)
    assert outcome[1] == 520
    excess = np.abs(workspace.excess)
    assert excess[3] == 0.0
    assert excess[excess != 0.0].min(initial=1.0) > 1e-200


@pytest.mark.parametrize(("method", "option"), [("psor", {"relaxation": 1.3}), ("amgs", {"alpha": 0.25})])
def test_over_relaxation_halves_the_sweeps_of_a_column(method, option):
    """On a column of point masses, one contact each, steps of 1.3 need at most 0.6 of the sweeps of pgs.

    Gauss-Seidel's rate on a chain is rho near 1, over-relaxation's near 1 - (1 - rho) step / (2 - step).
    """
    problem = column(30)
    sweeps = {name: solve(problem, name, tolerance=1e-6, **own) for name, own in (("pgs", {}), (method, option))}
    assert sweeps[method].iterations <= 0.6 * sweeps["pgs"].iterations


@pytest.mark.parametrize("friction", ["box", "cone"])
@pytest.mark.parametrize("conjugacy", ["fletcher_reeves", "polak_ribiere"])
@pytest.mark.parametrize("iterations", [1, 2, 3, 4])
def test_nncg_iterates_are_the_listing(iterations, conjugacy, friction):
    """The first iterates agree with the paper's listing on the explicit W while the merit falls.

    The solver returns the better of two iterates; these few are still the last one.
    """
    problem = random_problem(6, 9, friction=0.4, seed=5)
    result = solve(problem, "nncg", friction, max_iterations=iterations, conjugacy=conjugacy)
    reference = nncg_reference(problem, iterations, friction, conjugacy)
    assert result.r == pytest.approx(reference, abs=1e-11)
    assert len(result.merit_history) == iterations


@pytest.mark.parametrize("iterations", range(1, 16))
def test_nncg_searches_along_the_line_by_armijo(iterations):
    """Iterates with the line search agree with the plain one; five of these steps are too long and are halved."""
    problem = random_problem(8, 14, friction=0.4, seed=5)
    result = solve(problem, "nncg", max_iterations=iterations, line_search=True)
    assert result.r == pytest.approx(nncg_reference(problem, iterations, line_search=True), abs=1e-10)
    if iterations == 15:
        assert np.sum(np.diff(result.merit_history) > 0.0) == 5


def test_nncg_needs_a_tenth_of_the_sweeps_of_pgs_on_a_column():
    """A column of 30 point masses on a floor: each bears all above it, r_i = (30 - i) m v in closed form."""
    count = 30
    problem = column(count)
    results = {method: solve(problem, method, tolerance=1e-6) for method in ("pgs", "nncg")}
    for result in results.values():
        assert result.r[0::3] == pytest.approx(0.1 * np.arange(count, 0, -1), rel=1e-3)
    assert results["nncg"].iterations <= 0.1 * results["pgs"].iterations


@each_method
def test_solution_as_start_needs_no_iteration(method, friction):
    """Test convergence before the first sweep."""
    problem = random_problem(8, 14, seed=1)
    first = solve(problem, method, friction)
    again = solve_contacts(problem, method, friction, r0=first.r, options=SolverOptions(tolerance=1e-8))
    assert again.iterations == 0
    assert np.array_equal(again.r, first.r)


@each_method
@pytest.mark.parametrize("factor", [2.0**-20, 2.0**20])
def test_masses_and_speeds_have_no_unit(method, friction, factor):
    """Scaling masses or speeds changes no iteration count and no residual; by powers of two nothing is rounded."""
    problem = random_problem(8, 14, seed=2)
    heavy = random_problem(8, 14, seed=2)
    heavy.rows.response[:] /= factor
    heavy.rows.diagonal[:] /= factor
    heavy.rows.body_mass[:] *= factor
    fast = ContactProblem(problem.rows, problem.free_velocity * factor)
    plain = solve(problem, method, friction)
    for other, impulse_unit in ((solve(heavy, method, friction), factor), (solve(fast, method, friction), factor)):
        assert other.iterations == plain.iterations
        assert other.residual == pytest.approx(plain.residual, rel=1e-3, abs=1e-12)
        assert other.r / impulse_unit == pytest.approx(plain.r, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("method", "friction"), [pair for pair in PAIRS if pair[0] in SWEEPING])
def test_one_iteration_says_that_it_was_too_few(method, friction):
    """Report max_iterations, with an iterate no worse than the start."""
    problem = random_problem(20, 40, seed=4)
    result = solve(problem, method, friction, max_iterations=1)
    assert result.status is Status.MAX_ITERATIONS
    start = natural_map_reference(problem, np.zeros(120), friction)
    assert natural_map_reference(problem, result.r, friction) <= start


@each_method
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_numbers_are_a_failure_without_nan(method, friction, value):
    """NaN or infinity in the problem: status failed, impulses zero."""
    problem = random_problem(4, 6)
    problem.rows.bias[0] = -value
    result = solve(problem, method, friction)
    assert result.status is Status.FAILED
    assert np.array_equal(result.r, np.zeros(18))


@each_method
def test_rows_that_move_nothing_are_skipped(method, friction):
    """A contact between two immovable bodies has W_ii = 0 and gets no impulse."""
    problem = random_problem(4, 6)
    problem.rows.response[:3] = 0.0
    problem.rows.diagonal[:3] = 0.0
    problem.rows.bias[:3] = -1.0
    result = solve(problem, method, friction)
    assert result.status.converged
    assert np.array_equal(result.r[:3], np.zeros(3))


@each_method
def test_same_bits_twice(method, friction):
    """Repeat to the bit."""
    results = [solve(random_problem(20, 40, seed=9), method, friction) for _ in range(2)]
    assert results[0].r.tobytes() == results[1].r.tobytes()


@each_method
def test_bilateral_and_bounded_rows_are_solved_too(method, friction):
    """A bilateral row ends with u = 0; a motor row with constant bounds pushes at its limit."""
    problem = random_problem(3, 2, seed=7)
    rows = problem.rows
    rows.normal_row[:] = -1
    rows.lower[:6] = [-np.inf, -np.inf, -np.inf, -0.01, -np.inf, -np.inf]
    rows.upper[:6] = [np.inf, np.inf, np.inf, 0.01, np.inf, np.inf]
    rows.bias[3] = 50.0
    result = solve(problem, method, friction)
    matrix, b = dense_form(problem)
    speed = matrix @ result.r + b
    assert result.status.converged
    assert result.r[3] == -0.01
    assert speed[3] > 1.0
    assert np.delete(speed[:6], 3) == pytest.approx(np.zeros(5), abs=1e-6)


@each_method
@pytest.mark.parametrize("seed", range(3))
def test_joints_motors_limits_and_contacts_at_once(method, friction, seed):
    """The natural map of all rows vanishes, with friction, and some motor pushes at its limit."""
    problem = mixed_problem(seed)
    result = solve(problem, method, friction)
    assert result.status.converged
    scale = np.abs(dense_form(problem)[1]).max()
    assert natural_map_reference(problem, result.r, friction) <= 2.0 * TOLERANCE * scale
    rows = problem.rows
    bounded = rows.normal_row < 0
    assert np.all((result.r >= rows.lower - 1e-9)[bounded] & (result.r <= rows.upper + 1e-9)[bounded])
    at_limit = np.abs(result.r[15:30:3]) >= rows.upper[15:30:3] - 1e-9
    assert np.any(at_limit)


@each_method
@pytest.mark.parametrize("seed", range(3))
def test_frictionless_joints_agree_with_a_quadratic_program(method, friction, seed):
    """Velocities of the convex problem are unique: min r' W r / 2 + b' r within the bounds (Clarabel)."""
    clarabel = pytest.importorskip("clarabel")
    problem = mixed_problem(seed, friction=0.0)
    rows = problem.rows
    matrix, b = dense_form(problem)
    lower, upper = rows.lower[:60].copy(), rows.upper[:60].copy()
    tangential = rows.normal_row[:60] >= 0
    lower[tangential] = upper[tangential] = 0.0
    below, above = np.isfinite(lower), np.isfinite(upper)
    identity = np.eye(60)
    constraints = scipy.sparse.csc_matrix(np.vstack([-identity[below], identity[above]]))
    offsets = np.concatenate([-lower[below], upper[above]])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solver = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix(np.triu(matrix)),
        b,
        constraints,
        offsets,
        [clarabel.NonnegativeConeT(len(offsets))],
        settings,
    )
    reference = np.array(solver.solve().x)
    result = solve(problem, method, friction)
    assert result.status.converged
    assert matrix @ result.r == pytest.approx(matrix @ reference, abs=1e-6 * np.abs(b).max())


@each_method
@pytest.mark.parametrize(("target", "impulse"), [(1.0, 2.0), (5.0, 3.0), (-5.0, -3.0), (-0.5, -1.0)])
def test_motor_has_its_closed_form(method, friction, target, impulse):
    """A mass of 2 kg at rest is driven to ``target`` with the impulse 2 target, or with the limit of 3 N s.

    A bilateral row holds it across, and a floor takes what falls on it, with friction's bound 0.
    """
    problem = random_problem(2, 2, friction=0.0)
    rows = problem.rows
    rows.body_a[:], rows.body_b[:] = 0, 1
    rows.jacobian[:] = 0.0
    rows.jacobian[:, 6:9] = np.eye(3)[[0, 1, 2, 2, 0, 1]]
    rows.response[:] = rows.jacobian / 2.0
    rows.diagonal[:] = 0.5
    rows.body_mass[1] = 2.0 * np.eye(6)
    rows.normal_row[:3] = -1
    rows.lower[:3], rows.upper[:3] = (-3.0, -np.inf, 0.0), (3.0, np.inf, 0.0)
    rows.bias[0] = -target
    problem.free_velocity[1] = [0.0, 0.7, -4.0, 0.0, 0.0, 0.0]
    result = solve(problem, method, friction)
    error = 2.0 * 5.0 * TOLERANCE
    assert result.r == pytest.approx([impulse, -1.4, 0.0, 8.0, 0.0, 0.0], abs=error)
    assert result.velocity[1] == pytest.approx([impulse / 2.0, 0.0, 0.0, 0.0, 0.0, 0.0], abs=error)


def test_what_is_not_said_means_the_same_in_a_bake_and_in_a_solve():
    """``solve_contacts`` and ``SimulationOptions`` have the same defaults; an explicit W has them too."""
    options = SimulationOptions()
    parameters = inspect.signature(solve_contacts).parameters
    assert (parameters["method"].default, parameters["friction"].default) == (options.method, options.friction)
    assert SolverOptions().tolerance == options.tolerance
    problem = random_problem(8, 14, friction=0.5, seed=1)
    told = solve_contacts(problem, "auto", "cone")
    assert np.array_equal(solve_contacts(problem).r, told.r)
    matrix, b = dense_form(problem)
    explicit = ContactProblem.from_delassus(matrix, b, problem.rows.friction[1 : len(b) : 3])
    assert solve_contacts(explicit).residual <= options.tolerance


def test_unknown_names_are_one_clear_line():
    """Say which solvers there are."""
    with pytest.raises(ValueError, match="no solver 'magic'; choose one of auto, "):
        find_method("magic")
    with pytest.raises(ValueError, match="knows friction box, not 'cone'"):
        find_method("amgs", "cone")
    with pytest.raises(ValueError, match="r0 has the shape"):
        solve_contacts(random_problem(2, 1), r0=np.zeros(4))
