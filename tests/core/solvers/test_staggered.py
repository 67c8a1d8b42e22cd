"""Staggered projections: a fixed point solves both convex programs (SciPy, Clarabel) and so the whole problem."""

import numpy as np
import pytest
import scipy.sparse
from contact_problems import dense_form, mixed_problem, natural_map_reference, random_problem
from scipy.optimize import nnls

from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.problem import SolverOptions, Status
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solve import solve_contacts

TOLERANCE = 1e-9
FRICTIONS = ("polyhedral", "box", "cone")


def solve(problem, friction="polyhedral", **options):
    options = {"tolerance": TOLERANCE} | options
    return solve_contacts(problem, "staggered", friction, options=SolverOptions(**options))


@pytest.mark.parametrize("friction", FRICTIONS)
def test_point_on_a_slope(friction):
    """Friction angle 26.6 degrees: at 20 it sticks, at 40 it keeps sin - mu cos of gravity's speed."""
    problem = random_problem(2, 1, friction=0.5)
    rows = problem.rows
    rows.jacobian[:3] = 0.0
    rows.jacobian[:3, 6:9] = np.eye(3)[[2, 0, 1]]
    rows.response[:3] = rows.jacobian[:3] / 2.0
    rows.diagonal[:3] = 0.5
    for degrees, kept in ((20.0, 0.0), (40.0, np.sin(np.radians(40.0)) - 0.5 * np.cos(np.radians(40.0)))):
        angle = np.radians(degrees)
        problem.free_velocity[1] = [np.sin(angle), 0.0, -np.cos(angle), 0.0, 0.0, 0.0]
        result = solve(problem, friction)
        assert result.status.converged
        assert result.velocity[1] == pytest.approx([kept, 0.0, 0.0, 0.0, 0.0, 0.0], abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_frictionless_takes_the_normal_program_alone(seed):
    """mu = 0: nonnegative least squares' velocities (SciPy)."""
    problem = random_problem(6, 12, friction=0.0, seed=seed, redundant=6)
    matrix, b = dense_form(problem)
    normal = np.arange(0, 36, 3)
    matrix, b = matrix[np.ix_(normal, normal)], b[normal]
    values, vectors = np.linalg.eigh(matrix)
    kept = values > 1e-10 * values[-1]
    root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    reference, _ = nnls(root, -(vectors[:, kept] / np.sqrt(values[kept])).T @ b)
    result = solve(problem)
    assert result.status.converged
    assert matrix @ result.r[normal] == pytest.approx(matrix @ reference, abs=1e-6 * np.abs(b).max())


def polygon_program(clarabel, matrix, b, bound, directions=8):
    """Least 1/2 t' W t + b' t over t_i = D phi_i, phi_i >= 0, sum phi_i <= bound_i, by Clarabel."""
    contacts = len(bound)
    angles = 2.0 * np.pi * np.arange(directions) / directions
    corners = np.kron(np.eye(contacts), np.vstack([np.cos(angles), np.sin(angles)]))
    sums = np.kron(np.eye(contacts), np.ones((1, directions)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    size = contacts * directions
    solution = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix(np.triu(corners.T @ matrix @ corners)),
        corners.T @ b,
        scipy.sparse.csc_matrix(np.vstack([-np.eye(size), sums])),
        np.concatenate([np.zeros(size), bound]),
        [clarabel.NonnegativeConeT(size + contacts)],
        settings,
    ).solve()
    return solution.obj_val


@pytest.mark.parametrize("seed", range(4))
def test_fixed_point_solves_the_friction_program(seed):
    """With the normal impulses it found, no other friction has a smaller value (Erleben 2013, eq. 111)."""
    clarabel = pytest.importorskip("clarabel")
    problem = random_problem(6, 9, friction=0.4, seed=seed, redundant=2)
    result = solve(problem)
    assert result.status.converged
    matrix, b = dense_form(problem)
    normal = np.arange(0, 27, 3)
    friction = np.setdiff1d(np.arange(27), normal)
    W, t = matrix[np.ix_(friction, friction)], result.r[friction]
    c = b[friction] + matrix[np.ix_(friction, normal)] @ result.r[normal]
    value = 0.5 * t @ W @ t + c @ t
    least = polygon_program(clarabel, W, c, 0.4 * result.r[normal])
    assert value == pytest.approx(least, abs=1e-7 * max(1.0, abs(least)))


@pytest.mark.parametrize("friction", FRICTIONS)
def test_converges_where_friction_is_moderate_and_says_where_not(friction):
    """Of 40 random problems, half redundant some: nearly all below mu = 0.5; the others end with a better iterate."""
    rng = np.random.default_rng(0)
    solved = 0
    for seed in range(40):
        bodies = int(rng.integers(3, 25))
        contacts = int(bodies * rng.uniform(1.0, 3.0))
        redundant = int(contacts * rng.uniform(0.0, 0.5))
        problem = random_problem(bodies, contacts, rng.uniform(0.1, 0.5), seed, redundant)
        result = solve(problem, friction)
        residual = natural_map_reference(problem, result.r, friction)
        scale = np.abs(dense_form(problem)[1]).max()
        if result.status.converged:
            solved += 1
            assert residual <= (TOLERANCE + 1e-13) * scale, seed
        else:
            assert result.status in (Status.STAGNATED, Status.MAX_ITERATIONS)
            assert residual < natural_map_reference(problem, np.zeros(3 * contacts), friction), seed
    assert solved >= 38


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_all_kinds_at_once(seed):
    """Contacts, joints, motors and limits: the natural map of all rows."""
    problem = mixed_problem(seed, friction=0.3)
    result = solve(problem, tolerance=1e-7, max_iterations=2000)
    assert result.status.converged
    assert natural_map_reference(problem, result.r, "polyhedral") <= 1.01e-7 * np.abs(dense_form(problem)[1]).max()


def test_a_box_stands_still_in_the_stepper():
    """One box on a floor, 12 frames: no drift, no solve that missed its tolerance."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(shape=Box((5.0, 5.0, 0.0)), kind=BodyKind.STATIC, friction=0.7)
    builder.add_body(shape=Box((0.5,) * 3), position=(0.0, 0.0, 0.5), friction=0.7)
    simulation = Simulation(builder.build(), SimulationOptions(method="staggered", friction="polyhedral"))
    start = simulation.poses()[0]
    reports = [simulation.advance_frame() for _ in range(12)]
    assert np.abs(simulation.poses()[0] - start).max() < 1e-5
    assert sum(report.missed for report in reports) == 0
