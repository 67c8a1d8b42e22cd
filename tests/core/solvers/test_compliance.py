"""Rows with a compliance: every solver takes W + C for W, from rigid rows to ones that bear next to nothing."""

import numpy as np
import pytest
import scipy.sparse
from contact_problems import (
    amgs_reference,
    compliant_problem,
    dense_form,
    make_compliant,
    mixed_problem,
    natural_map_reference,
    nncg_reference,
    pgs_reference,
    random_problem,
)
from nightly import in_turns

from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.problem.problem import ContactProblem, ProblemError, SolverOptions, Status
from cairn.solver_core.problem.rows import allocate_rows, single_island
from cairn.solver_core.problem.substep_impulses import allocate_substep_impulses
from cairn.solver_core.solve import solve_contacts
from cairn.solver_core.solvers.active_subdomain import allocate_subdomain, cut_subdomain
from cairn.solver_core.solvers.batches.sweep_workspace import allocate_sweep_workspace
from cairn.solver_core.solvers.registry import METHODS, find_method, kernel_settings_of
from cairn.solver_core.solvers.shared.small_step_input import SmallStepInput, SmallStepMotion, SmallStepPace
from cairn.solver_core.solvers.small_steps import allocate_small_steps, take_small_steps

TOLERANCE = 1e-10
PAIRS = [(method, friction) for method in METHODS for friction in find_method(method).frictions]
each_method = pytest.mark.parametrize(("method", "friction"), PAIRS)


def solve(problem, method, friction="box", **options):
    options = {"tolerance": TOLERANCE, "max_iterations": 50_000} | options
    return solve_contacts(problem, method, friction, options=SolverOptions(**options))


def body_on_row(lower, upper, compliance, inverse_mass, bias, speed):
    """One row between the world and a body that can move along x only."""
    rows = allocate_rows(1, 1, 2)
    rows.count[:] = 1
    rows.block_row[1] = 1
    rows.body_b[0] = 1
    rows.jacobian[0, [0, 6]] = -1.0, 1.0
    rows.response[0, 6] = inverse_mass
    rows.diagonal[0], rows.compliance[0], rows.bias[0] = inverse_mass + compliance, compliance, bias
    rows.lower[0], rows.upper[0] = lower, upper
    if inverse_mass > 0.0:
        rows.body_mass[1] = np.eye(6) / inverse_mass
    velocity = np.zeros((2, 6))
    velocity[1, 0] = speed
    return ContactProblem(rows, velocity)


@each_method
@pytest.mark.parametrize("stiffness", [1e-6, 1.0, 3e3, 1e9])
def test_spring_has_its_closed_form(method, friction, stiffness):
    """An implicit step of a spring: m (v' - v) = -h k (x + h v'), as v' + x / h + r / (h^2 k) = 0."""
    mass, h, x, v = 2.0, 0.01, 0.3, -1.5
    problem = body_on_row(-np.inf, np.inf, 1.0 / (h * h * stiffness), 1.0 / mass, x / h, v)
    result = solve(problem, method, friction)
    expected = (v - h * stiffness * x / mass) / (1.0 + h * h * stiffness / mass)
    assert result.status.converged
    assert result.velocity[1, 0] == pytest.approx(expected, abs=1e-8 * abs(expected - v) + 1e-14)


@each_method
def test_bounds_hold_compliant_rows(method, friction):
    """A motor that slips, a soft limit that is not touched, one that pushes, and an upper bound alone."""
    motor = solve(body_on_row(-0.25, 0.25, 3.0, 0.5, -4.0, 1.0), method, friction)
    assert motor.r[0] == pytest.approx(0.25)
    assert solve(body_on_row(-2.0, 2.0, 3.0, 0.5, -4.0, 1.0), method, friction).r[0] == pytest.approx(3.0 / 3.5)
    assert solve(body_on_row(0.0, np.inf, 3.0, 0.5, 2.0, -1.0), method, friction).r[0] == pytest.approx(0.0, abs=1e-14)
    assert solve(body_on_row(0.0, np.inf, 3.0, 0.5, 0.0, -1.0), method, friction).r[0] == pytest.approx(1.0 / 3.5)
    assert solve(body_on_row(-np.inf, 0.0, 3.0, 0.5, 0.0, 1.0), method, friction).r[0] == pytest.approx(-1.0 / 3.5)
    assert solve(body_on_row(0.1, np.inf, 3.0, 0.5, 0.0, -1.0), method, friction).r[0] == pytest.approx(1.0 / 3.5)
    assert solve(body_on_row(0.5, 2.0, 3.0, 0.5, 0.0, -1.0), method, friction).r[0] == pytest.approx(0.5)


def quadratic_program(problem):
    """Minimise 1/2 r' (W + C) r + b' r within constant bounds by Clarabel's interior points; r, 0 in friction rows."""
    clarabel = pytest.importorskip("clarabel")
    rows, (matrix, b) = problem.rows, dense_form(problem)
    kept = np.flatnonzero(rows.normal_row < 0)
    scale = 1.0 / np.sqrt(rows.diagonal[kept])
    lower, upper = rows.lower[kept] / scale, rows.upper[kept] / scale
    below, above = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
    identity = scipy.sparse.eye_array(len(kept), format="csr")
    limits = scipy.sparse.csc_matrix(scipy.sparse.vstack([-identity[below], identity[above]]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solution = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix(np.triu(matrix[np.ix_(kept, kept)] * np.outer(scale, scale))),
        scale * b[kept],
        limits,
        np.concatenate([-lower[below], upper[above]]),
        [clarabel.NonnegativeConeT(limits.shape[0])],
        settings,
    ).solve()
    reference = np.zeros(len(b))
    reference[kept] = scale * np.array(solution.x)
    return reference


@pytest.mark.parametrize(("method", "friction", "seed"), in_turns(PAIRS, range(6), 2))
def test_frictionless_agrees_with_a_quadratic_program(method, friction, seed):
    """Velocities of the convex problem are unique."""
    problem = compliant_problem(seed, friction=0.0)
    rows, (matrix, _) = problem.rows, dense_form(problem)
    reference = quadratic_program(problem)
    result = solve(problem, method, friction)
    assert result.status.converged
    speed = (matrix - np.diag(rows.compliance)) @ (result.r - reference)
    assert np.abs(speed).max() <= 1e-7


@pytest.mark.parametrize(("method", "friction", "seed"), in_turns(PAIRS, range(6), 2))
def test_methods_agree_with_friction(method, friction, seed):
    """The residual by its formula on W + C vanishes, and velocities are those of conjugate gradients."""
    problem = compliant_problem(seed)
    result = solve(problem, method, friction)
    assert result.status.converged
    assert natural_map_reference(problem, result.r, friction) <= 1e-8
    reference = solve(problem, "nncg", friction)
    assert result.velocity == pytest.approx(reference.velocity, abs=1e-6)


@pytest.mark.parametrize(
    ("method", "friction"), [pair for pair in PAIRS if pair[0] not in ("pgs", "psor", "amgs", "amsor")]
)
def test_little_compliance_is_none(method, friction):
    """Velocities tend to those of rigid rows, in proportion to the compliance."""
    rigid = solve(mixed_problem(6), method, friction)
    distances = []
    for share in (1e-3, 1e-5, 1e-7):
        problem = mixed_problem(6)
        compliance = np.where(np.arange(60) < 30, share * problem.rows.diagonal, 0.0)
        found = solve(make_compliant(problem, compliance), method, friction)
        assert found.status.converged
        distances.append(np.abs(found.velocity - rigid.velocity).max())
    assert distances[0] <= 1.0
    assert distances[1] <= 0.05 * distances[0]
    assert distances[2] <= 0.05 * distances[1]


@pytest.mark.parametrize("method", METHODS)
def test_huge_compliance_lets_go(method):
    """A row that gives way to everything is as good as absent, and loosens no tolerance for the others."""
    friction = find_method(method).frictions[0]
    problem = mixed_problem(5)
    problem.rows.bias[:30] += 100.0
    absent = mixed_problem(5)
    absent.rows.lower[:30] = absent.rows.upper[:30] = 0.0
    soft = make_compliant(problem, np.where(np.arange(60) < 30, 1e16, 0.0))
    expected = solve(absent, method, friction)
    found = solve(soft, method, friction)
    assert found.status.converged
    assert found.velocity == pytest.approx(expected.velocity, abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_spring_between_immovable_bodies_disturbs_nothing(method):
    """A row that can move nothing bears -bias / C."""
    result = solve(body_on_row(-np.inf, np.inf, 4.0, 0.0, 2.0, 0.0), method, find_method(method).frictions[0])
    assert result.status.converged
    assert np.array_equal(result.velocity, np.zeros((2, 6)))
    assert result.r[0] in (0.0, pytest.approx(-0.5))


@pytest.mark.parametrize("friction", ["box", "cone"])
def test_sweeps_are_those_on_the_explicit_matrix(friction):
    """Gauss-Seidel and conjugate gradients, sweep by sweep."""
    problem = compliant_problem(7, lowest=-2.0, highest=2.0)
    start = np.zeros(len(problem.rows.diagonal))
    for sweeps in (1, 2, 7):
        found = solve(problem, "pgs", friction, max_iterations=sweeps, tolerance=0.0)
        assert found.r == pytest.approx(pgs_reference(problem, start, sweeps, friction), abs=1e-9)
        found = solve(problem, "nncg", friction, max_iterations=sweeps, tolerance=0.0)
        assert found.r == pytest.approx(nncg_reference(problem, sweeps, friction), abs=1e-9)


def test_splitting_with_memory_is_that_on_the_explicit_matrix():
    """amgs and amsor remember what bounds cut off, of compliant rows too."""
    problem = compliant_problem(7, lowest=-2.0, highest=2.0)
    found = solve(problem, "amgs", max_iterations=9, tolerance=0.0, alpha=0.3)
    assert found.r == pytest.approx(amgs_reference(problem, 9, 0.3), abs=1e-9)


def test_newton_needs_one_step_for_springs():
    """Bilateral rows that are soft enough are a quadratic energy, whatever lambda is."""
    problem = compliant_problem(2, lowest=0.0, highest=3.0)
    rows = problem.rows
    rows.count[:] = 5, 15
    make_compliant(problem, np.where(np.arange(60) < 15, np.maximum(rows.compliance, rows.diagonal), 0.0))
    result = solve(problem, "alm_newton", "cone")
    assert result.status.converged
    assert result.iterations == 1


def test_subdomain_copies_compliances():
    """Rows of an active subdomain are those of the island."""
    problem = compliant_problem(4)
    rows = problem.rows
    subdomain = allocate_subdomain(len(rows.diagonal), 10)
    islands = single_island(rows, 10)
    assert cut_subdomain(rows, islands, 0, problem.free_velocity, np.ones(20), 0.5, 1, subdomain)
    count = subdomain.rows.count[1]
    assert count == 60
    assert np.array_equal(subdomain.rows.compliance[:count], rows.compliance)


@kernel(allocates=True)
def take_steps(rows, islands, given, velocity, mean_velocity, workspace, sweep, settings, impulses, n):
    """One island, in n small steps."""
    pace = SmallStepPace(0.1, n, 1.0, 1.0, 0.0, True, True)
    moved = SmallStepMotion(velocity, mean_velocity, impulses)
    return take_small_steps(rows, islands, np.int64(0), given, moved, workspace, sweep, settings, pace)


@pytest.mark.parametrize("n", [1, 3, 8])
def test_small_steps_keep_a_spring_as_stiff(n):
    """Each step bears the n-th part of the impulse against n times the compliance, which is put back."""
    compliance, weight, bias, speed, forced = 0.7, 0.5, 0.4, -1.0, 0.3
    problem = body_on_row(-np.inf, np.inf, compliance, weight, bias, speed)
    rows, free = problem.rows, problem.free_velocity.copy()
    free[1, 0] += forced
    none = np.zeros(0)
    given = SmallStepInput(
        np.zeros(1, np.int64), none, none, none, none, none, problem.free_velocity, free, np.zeros((2, 3)), 0.0
    )
    velocity, mean_velocity = np.zeros((2, 6)), np.zeros((2, 6))
    settings = kernel_settings_of(find_method("nncg", "cone"), SolverOptions(), "cone")
    take_steps(
        rows,
        single_island(rows, 2),
        given,
        velocity,
        mean_velocity,
        allocate_small_steps(1, 2, False),
        allocate_sweep_workspace(1, 2, 0),
        settings,
        allocate_substep_impulses(0, 0, False),
        n,
    )
    expected, mean, give = speed, 0.0, weight / (n * compliance)
    for _ in range(n):
        expected = (expected + forced / n - give * bias) / (1.0 + give)
        mean += expected / n
    assert velocity[1, 0] == pytest.approx(expected, rel=1e-12)
    assert mean_velocity[1, 0] == pytest.approx(mean, rel=1e-12)
    assert rows.impulse[0] == pytest.approx(-(expected + bias) / compliance, rel=1e-12)
    assert rows.compliance[0] == pytest.approx(compliance, rel=1e-15)
    assert rows.diagonal[0] == pytest.approx(weight + compliance, rel=1e-15)


@pytest.mark.parametrize("method", ["nncg", "alm_newton", "fischer_newton", "lemke_reduced", "staggered"])
def test_explicit_matrix_takes_compliances(method):
    """They are added to the diagonal of W."""
    matrix, b = dense_form(random_problem(5, 6, seed=3))
    mu, compliance = np.full(6, 0.4), np.random.default_rng(1).uniform(0.0, 2.0, 18)
    friction = find_method(method).frictions[0]
    found = solve(ContactProblem.from_delassus(matrix, b, mu, compliance), method, friction)
    expected = solve(ContactProblem.from_delassus(matrix + np.diag(compliance), b, mu), method, friction)
    assert np.array_equal(found.r, expected.r)
    with pytest.raises(ProblemError, match=r"compliance is -1\.0 at 2"):
        ContactProblem.from_delassus(matrix, b, mu, np.where(np.arange(18) == 2, -1.0, 0.0))
    with pytest.raises(ProblemError, match="do not match"):
        ContactProblem.from_delassus(matrix, b, mu, np.zeros(6))


def test_bad_compliances_are_refused():
    """Negative ones, those that the diagonal lacks, and those of contacts; NaN ends as a failure without NaN."""
    problem = compliant_problem(1)
    problem.rows.compliance[4] = -1.0
    with pytest.raises(ProblemError, match=r"row 4 is -1\.0; it must be at least 0"):
        solve(problem, "pgs")
    problem = compliant_problem(1)
    problem.rows.compliance[2] = 2.0 * problem.rows.diagonal[2]
    with pytest.raises(ProblemError, match=r"row 2 .* must be part of diagonal"):
        solve(problem, "pgs")
    for row in (30, 31):
        problem = compliant_problem(1)
        compliance = problem.rows.compliance.copy()
        compliance[row] = 1.0
        with pytest.raises(ProblemError, match=f"row {row} is 1.0; it must be 0"):
            solve(make_compliant(problem, compliance), "pgs")


@each_method
def test_a_compliance_that_is_no_number_ends_the_solve(method, friction):
    """No NaN comes back."""
    problem = compliant_problem(1)
    problem.rows.compliance[0] = problem.rows.diagonal[0] = np.nan
    result = solve(problem, method, friction)
    assert result.status == Status.FAILED
    assert np.all(np.isfinite(result.r))
    assert np.all(np.isfinite(result.velocity))
