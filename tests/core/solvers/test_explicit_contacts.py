"""Contacts with an explicit W are the same problem as rows: the same iterates, residuals and solutions."""

import numpy as np
import pytest
from contact_problems import dense_form, natural_map_reference, random_problem

from cairn.solver_core.problem.problem import ContactProblem, Delassus, SolverOptions, Status
from cairn.solver_core.problem.residuals import cone_natural_map, project_on_cones
from cairn.solver_core.scenes.stacks import stack
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solve import solve_contacts
from cairn.solver_core.solvers.pivoting.polyhedral import delassus_of
from cairn.solver_core.solvers.registry import METHODS, find_method

TOLERANCE = 1e-10
PAIRS = [
    (method, friction)
    for method in METHODS
    if find_method(method).explicit is not None
    for friction in find_method(method).frictions
]
each_method = pytest.mark.parametrize(("method", "friction"), PAIRS)
SWEEPING = [pair for pair in PAIRS if pair[0] in ("pgs", "psor", "nncg")]


def explicit_form(problem):
    """The problem with its W."""
    matrix, b = dense_form(problem)
    return ContactProblem.from_delassus(matrix, b, problem.rows.friction[1 : len(b) : 3])


def solve(problem, method, friction, **options):
    options = {"tolerance": TOLERANCE, "max_iterations": 20_000} | options
    return solve_contacts(problem, method, friction, options=SolverOptions(**options))


@pytest.mark.parametrize(("method", "friction"), SWEEPING)
@pytest.mark.parametrize("iterations", [1, 2, 7])
def test_iterates_are_those_on_rows(method, friction, iterations):
    """The sweep on W takes the steps of the sweep on bodies."""
    problem = random_problem(8, 14, friction=0.5, seed=2, redundant=3)
    on_rows = solve(problem, method, friction, max_iterations=iterations)
    on_matrix = solve(explicit_form(problem), method, friction, max_iterations=iterations)
    assert on_matrix.r == pytest.approx(on_rows.r, abs=1e-11)
    assert on_matrix.iterations == on_rows.iterations
    assert on_matrix.status is on_rows.status
    assert on_matrix.residual == pytest.approx(on_rows.residual, rel=1e-6)
    assert on_matrix.worst_block == on_rows.worst_block
    assert on_matrix.history == pytest.approx(on_rows.history, rel=1e-6)


@pytest.mark.parametrize("options", [{"line_search": True}, {"conjugacy": "polak_ribiere"}])
@pytest.mark.parametrize("friction", ["box", "cone"])
def test_options_of_nncg_are_those_on_rows(options, friction):
    """Ten sweeps agree, a line search's trials among them."""
    problem = random_problem(8, 14, friction=0.4, seed=5)
    on_rows = solve(problem, "nncg", friction, max_iterations=10, **options)
    on_matrix = solve(explicit_form(problem), "nncg", friction, max_iterations=10, **options)
    assert on_matrix.r == pytest.approx(on_rows.r, abs=1e-10)


@each_method
@pytest.mark.parametrize("seed", range(3))
def test_solution_has_no_residual(method, friction, seed):
    """Converge with redundant contacts; the natural map agrees with the plain formula."""
    problem = random_problem(8, 14, friction=0.6, seed=seed, redundant=4)
    result = solve(explicit_form(problem), method, friction)
    assert result.status.converged
    assert result.velocity is None
    scale = np.abs(dense_form(problem)[1]).max()
    assert natural_map_reference(problem, result.r, friction) <= (TOLERANCE + 1e-13) * scale


@each_method
def test_one_contact_has_its_closed_form(method, friction):
    """W = identity: the normal impulse is -b_n, and friction takes mu times it from the slip along an axis."""
    problem = ContactProblem.from_delassus(np.eye(3), [-2.0, 3.0, 0.0], [0.25])
    assert solve(problem, method, friction).r == pytest.approx([2.0, -0.5, 0.0], abs=1e-9)


@each_method
def test_nothing_to_solve(method, friction):
    """No contact, and contacts that part: no iteration."""
    for b in ([], [1.0, 2.0, 3.0]):
        problem = ContactProblem.from_delassus(np.eye(len(b)), b, np.ones(len(b) // 3))
        result = solve(problem, method, friction)
        assert result.status.converged
        assert result.iterations == 0
        assert np.array_equal(result.r, np.zeros(len(b)))


@pytest.mark.parametrize(("method", "friction"), SWEEPING)
def test_rows_that_move_nothing_are_skipped(method, friction):
    """A contact with W_ii = 0 gets no impulse."""
    matrix = np.diag([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    problem = ContactProblem.from_delassus(matrix, [-1.0, 1.0, 1.0, -1.0, 0.1, 0.0], [0.5, 0.5])
    result = solve(problem, method, friction)
    assert result.status.converged
    assert result.r == pytest.approx([0.0, 0.0, 0.0, 1.0, -0.1, 0.0], abs=1e-9)


@pytest.mark.parametrize(("method", "friction"), SWEEPING)
def test_impulses_that_grow_without_end_are_a_failure(method, friction):
    """Two contacts that push each other in more than out have no solution: status failed, no NaN, an early iterate."""
    matrix = np.array([[1.0, 0, 0, -2.0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]])
    matrix = np.vstack([matrix, np.roll(matrix, 3, axis=1)])
    problem = ContactProblem.from_delassus(matrix, [-1.0, 0.0, 0.0, -1.0, 0.0, 0.0], [0.5, 0.5])
    result = solve(problem, method, friction)
    assert result.status is Status.FAILED
    assert np.all(np.abs(result.r) < 100.0)
    assert np.isfinite(result.residual)


def random_delassus(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(12, 12))
    problem = ContactProblem.from_delassus(root @ root.T, rng.normal(size=12), rng.uniform(0.2, 1.0, 4))
    return problem.delassus


def test_projection_on_the_cones_obeys_moreau():
    """x = P(x) - P*(-x): in the cone, orthogonal to the rest, whose negative lies in the dual cone."""
    rng = np.random.default_rng(0)
    friction = rng.uniform(0.1, 2.0, 2000)
    points = rng.normal(size=(2000, 3))
    inside = project_on_cones(friction, points)
    rest = inside - points
    assert np.all(np.hypot(inside[:, 1], inside[:, 2]) <= friction * inside[:, 0] + 1e-14)
    assert np.all(friction * np.hypot(rest[:, 1], rest[:, 2]) <= rest[:, 0] + 1e-13)
    assert np.abs(np.sum(inside * rest, axis=1)).max() < 1e-13


def test_cone_residual_is_zero_at_a_solution_only():
    """Zero to rounding where nncg has converged; as the formula says elsewhere, contact by contact."""
    delassus = random_delassus(1)
    problem = ContactProblem(None, None, delassus)
    result = solve(problem, "nncg", "cone", tolerance=1e-14, max_iterations=5000)
    assert cone_natural_map(delassus, result.r) < 1e-12
    r = result.r + 0.1 * np.random.default_rng(2).normal(size=12)
    matrix = delassus.matrix.toarray()
    rho = 12.0 / np.trace(matrix)
    u = matrix @ r + delassus.b
    total = 0.0
    for contact, mu in enumerate(delassus.friction):
        span = slice(3 * contact, 3 * contact + 3)
        shifted = r[span] - rho * (u[span] + np.array([mu * np.linalg.norm(u[span][1:]), 0.0, 0.0]))
        # the nearest point of the cone lies in the half plane through the axis and the point
        normal, length = shifted[0], np.linalg.norm(shifted[1:])
        along = max(0.0, (normal + mu * length) / (1.0 + mu**2))
        nearest = (normal, length) if length <= mu * normal else (along, mu * along)
        projected = np.array([nearest[0], *(shifted[1:] / length * nearest[1])])
        total += np.sum((r[span] - projected) ** 2)
    expected = np.sqrt(total) / (rho * np.linalg.norm(delassus.b))
    assert cone_natural_map(delassus, r) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_cone_residual_has_no_unit(factor):
    """Scaling masses or speeds changes nothing."""
    delassus = random_delassus(3)
    r = np.random.default_rng(4).normal(size=12)
    plain = cone_natural_map(delassus, r)
    heavy = Delassus(delassus.matrix / factor, delassus.b, delassus.friction)
    fast = Delassus(delassus.matrix, delassus.b * factor, delassus.friction)
    assert cone_natural_map(heavy, r * factor) == pytest.approx(plain, rel=1e-9)
    assert cone_natural_map(fast, r * factor) == pytest.approx(plain, rel=1e-9)


def test_iteration_limit_is_reported():
    """One sweep is too few: max_iterations, one entry in the history."""
    result = solve(ContactProblem(None, None, random_delassus(5)), "pgs", "cone", max_iterations=1)
    assert result.status is Status.MAX_ITERATIONS
    assert len(result.history) == 1


@pytest.mark.parametrize("load", [1e3, 1e7])
def test_newton_on_an_ill_conditioned_matrix(load):
    """A stack of ten with a heavy top: rank 60 of 120, and loads that differ by millions."""
    simulation = Simulation(stack(10, top_mass=load).build_model())
    matrix, b, mu = delassus_of(simulation.contact_problem())
    problem = ContactProblem.from_delassus(matrix, b, mu)
    result = solve_contacts(problem, "alm_newton", "cone", options=SolverOptions(tolerance=1e-7))
    assert result.status.converged
    assert result.iterations <= 20
