"""Coulomb's disc has no preferred direction; the box has two, and brakes along their diagonal with sqrt(2) mu N.

A slab that is pushed with the speed v stops after v^2 / (2 mu g) whatever the angle. In a simulation that holds with
the box too, because the first of its directions is laid along the slip; where something else turns the slip, the box
brakes with a second mu N across.
"""

import math

import numpy as np
import pytest
from contact_problems import brake_reference, project_friction_reference

from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.friction import project_friction, solve_friction, stick_or_slide
from cairn.solver_core.problem.problem import SolverOptions
from cairn.solver_core.problem.rows import BOX_FRICTION, CONE_FRICTION, FRICTION_MODELS, POLYHEDRAL_FRICTION
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solve import solve_contacts

G, SPEED, FRICTION = 9.81, 3.0, 0.5
ANGLES = np.radians(np.arange(0.0, 360.0, 15.0))
DISTANCE = SPEED**2 / (2.0 * FRICTION * G)


def pushed_slabs(friction):
    """Paths to rest of one slab for each angle, [angles, 2] [m]."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    builder.add_body(shape=Box((200.0, 10.0, 0.0)), kind=BodyKind.STATIC, friction=math.sqrt(FRICTION))
    for index, angle in enumerate(ANGLES):
        builder.add_body(
            shape=Box((0.5, 0.5, 0.1)),
            position=(5.0 * index - 60.0, 0.0, 0.1),
            friction=math.sqrt(FRICTION),
            linear_velocity=(SPEED * math.cos(angle), SPEED * math.sin(angle), 0.0),
        )
    simulation = Simulation(builder.build(), SimulationOptions(friction=friction))
    start = simulation.poses()[0]
    for _ in range(24):
        simulation.advance_frame()
    assert np.abs(simulation.velocities()[1:]).max() < 1e-5  # all at rest
    return (simulation.poses()[0] - start)[1:, :2]


def test_cone_brakes_alike_in_every_direction():
    """Stop after v^2 / (2 mu g), but for half a substep's way, within 1 %, and straight ahead."""
    paths = pushed_slabs("cone")
    distances = np.linalg.norm(paths, axis=1)
    assert distances.max() <= 1.01 * distances.min()
    assert distances == pytest.approx(np.full(len(ANGLES), DISTANCE), abs=0.5 * SPEED / 96.0)
    ahead = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
    assert np.sum(paths * ahead, axis=1) == pytest.approx(distances, rel=1e-4)


def test_box_brakes_free_slip_alike_too():
    """Its first direction follows the slip."""
    distances = np.linalg.norm(pushed_slabs("box"), axis=1)
    assert distances.max() <= 1.01 * distances.min()


def braking_impulse(friction, angle):
    """Impulse against the slip of a slab in one substep, over mu N, where the tangents stand at ``angle`` to it."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    builder.add_body(shape=Box((20.0, 20.0, 0.0)), kind=BodyKind.STATIC, friction=math.sqrt(FRICTION))
    builder.add_body(
        shape=Box((0.5, 0.5, 0.1)),
        position=(0.0, 0.0, 0.1),
        friction=math.sqrt(FRICTION),
        linear_velocity=(SPEED, 0.0, 0.0),
    )
    simulation = Simulation(builder.build())
    problem = simulation.contact_problem()
    cosine, sine = math.cos(angle), math.sin(angle)
    for array in (problem.rows.jacobian, problem.rows.response):
        first, second = array[1::3].copy(), array[2::3].copy()
        array[1::3], array[2::3] = cosine * first + sine * second, cosine * second - sine * first
    problem.rows.diagonal[:] = np.sum(problem.rows.jacobian * problem.rows.response, axis=1)
    result = solve_contacts(problem, "nncg", friction, options=SolverOptions(tolerance=1e-10))
    assert result.status.converged
    rows = slice(0, int(problem.rows.count[1]))
    impulse = problem.rows.jacobian[rows, 6:9].T @ result.r
    return -impulse[0] / (FRICTION * impulse[2])


def test_frame_of_the_tangents_matters_to_the_box_alone():
    """Turn the tangents over 360 degrees: the disc brakes with mu N within 1 %, the box with up to sqrt(2) mu N."""
    cone = np.array([braking_impulse("cone", angle) for angle in ANGLES])
    box = np.array([braking_impulse("box", angle) for angle in ANGLES])
    polygon = np.array([braking_impulse("polyhedral", angle) for angle in ANGLES])
    assert cone == pytest.approx(np.ones(len(ANGLES)), abs=1e-6)
    assert box == pytest.approx(np.abs(np.cos(ANGLES)) + np.abs(np.sin(ANGLES)), abs=1e-6)
    assert box.max() == pytest.approx(math.sqrt(2.0), abs=1e-6)
    assert polygon.min() >= math.cos(math.pi / 8.0) - 1e-6
    assert polygon.max() <= 1.0 + 1e-6


def drift_across_the_belt(friction):
    """Final speed across a belt of a slab that a smooth wall holds back and a fifth of gravity pulls across [m/s]."""
    builder = ModelBuilder(gravity=(0.0, -0.2 * G, -G))
    builder.add_body(
        shape=Box((100.0, 20.0, 0.0)),
        kind=BodyKind.KINEMATIC,
        friction=math.sqrt(FRICTION),
        linear_velocity=(2.0, 0.0, 0.0),
    )
    builder.add_body(shape=Box((0.1, 20.0, 1.0)), position=(0.6, 0.0, 1.1), kind=BodyKind.STATIC, friction=0.0)
    builder.add_body(shape=Box((0.5, 0.5, 0.1)), position=(0.0, 5.0, 0.1), friction=math.sqrt(FRICTION))
    simulation = Simulation(builder.build(), SimulationOptions(friction=friction))
    for _ in range(72):
        simulation.advance_frame()
    return -simulation.velocities()[2, 1]


def test_slip_one_way_frees_the_other():
    """Friction has mu N in all: on a belt that slips below at V, g_y = 0.4 mu g drags the slab across it at v_y.

    In the end v_y / sqrt(V^2 + v_y^2) = g_y / (mu g). The box keeps the slip where it would point without friction, and
    lets the slab go ever faster.
    """
    expected = 2.0 * 0.4 / math.sqrt(1.0 - 0.4**2)
    assert drift_across_the_belt("cone") == pytest.approx(expected, rel=0.01)
    assert drift_across_the_belt("box") > 2.0 * expected


@kernel
def project(model, directions, bound, t1, t2):
    return project_friction(model, directions, bound, t1, t2)


@kernel
def brake(model, bound, w, speed, t):
    return solve_friction(model, 8, bound, w[0, 0], w[0, 1], w[1, 0], w[1, 1], speed[0], speed[1], t[0], t[1])


@kernel
def sweep_over(bound, w, speed, t):
    return stick_or_slide(bound, w[0, 0], w[0, 1], w[1, 0], w[1, 1], speed[0], speed[1], t[0], t[1])


@pytest.mark.parametrize("model", [BOX_FRICTION, CONE_FRICTION, POLYHEDRAL_FRICTION])
@pytest.mark.parametrize("directions", [4, 8, 14])
def test_projection_is_the_nearest_point(model, directions):
    """Agree with the plain reference; it is idempotent."""
    rng = np.random.default_rng(directions)
    for bound in (0.0, 0.3, 2.0):
        for point in rng.normal(size=(100, 2)):
            nearest = np.array(project(model, directions, bound, *point))
            reference = project_friction_reference(FRICTION_MODELS[model], bound, point, directions)
            assert nearest == pytest.approx(reference, abs=1e-14)
            assert project(model, directions, bound, *nearest) == pytest.approx(tuple(nearest), abs=1e-14)


@pytest.mark.parametrize("asymmetry", [0.0, 0.1])
def test_friction_of_one_contact_is_solved(asymmetry):
    """Agree with bisection, sticking and sliding, also where W is not quite symmetric."""
    rng = np.random.default_rng(3)
    sliding = 0
    for _ in range(300):
        root = rng.normal(size=(2, 2))
        w = root @ root.T + 0.05 * np.eye(2) + asymmetry * np.array([[0.0, 0.05], [-0.05, 0.0]])
        speed, t = rng.normal(size=(2, 2))
        bound = rng.uniform(0.1, 3.0)
        found = np.array(brake(CONE_FRICTION, bound, w, speed, t))
        assert found == pytest.approx(brake_reference(w, w @ t - speed, bound), abs=1e-8)
        sliding += np.linalg.norm(found) > 0.999 * bound
    assert 50 < sliding < 250


@pytest.mark.parametrize("asymmetry", [0.0, 0.1])
@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_sweeps_over_one_contact_end_at_its_solution(spread, asymmetry):
    """Stay at the solution, and get there from anywhere, sticking and sliding, however unlike the two directions are.

    One visit of a sweep lies on the circle where the contact slides, and solves it at once where it sticks.
    """
    rng = np.random.default_rng(8)
    visits = []
    for _ in range(300):
        turn = rng.uniform(0.0, np.pi)
        axes = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        w = axes @ np.diag([1.0, spread]) @ axes.T + asymmetry * np.array([[0.0, 1.0], [-1.0, 0.0]])
        speed, t = rng.normal(size=(2, 2))
        bound = rng.uniform(0.1, 3.0)
        wanted = w @ t - speed
        solution = brake_reference(w, wanted, bound)
        sticks = np.linalg.norm(np.linalg.solve(w, wanted)) <= bound
        assert np.array(sweep_over(bound, w, w @ solution - wanted, solution)) == pytest.approx(solution, abs=1e-8)
        found, count = t, 0
        while np.linalg.norm(found - solution) > 1e-8 * bound and count < 50:
            found = np.array(sweep_over(bound, w, w @ found - wanted, found))
            assert np.linalg.norm(found) <= bound * (1.0 + 1e-12)
            assert sticks or np.linalg.norm(found) == pytest.approx(bound, rel=1e-12)
            count += 1
        assert count < 50
        assert not sticks or count == 1
        visits.append(count)
    assert np.median(visits) <= 3


@pytest.mark.parametrize("bound", [1e-15, 1e-120, 1e-200, 5e-324])
@pytest.mark.parametrize("slip", [1e-170, 1e-20, 1.0])
def test_next_to_no_friction_opposes_the_slip(bound, slip):
    """Impulses that die down to the smallest numbers stay numbers."""
    w = np.array([[2.0, 0.5], [0.5, 1.0]])
    found = np.array(sweep_over(bound, w, np.array([0.6, 0.8]) * slip, np.zeros(2)))
    assert np.all(np.isfinite(found))
    assert np.all(found <= 0.0)
    assert np.linalg.norm(found) <= bound * (1.0 + 1e-12)


def test_friction_of_one_contact_with_a_singular_matrix():
    """A contact that can slip in one direction only is braked there: the slip opposes the impulse or vanishes."""
    w = np.outer([0.6, 0.8], [0.6, 0.8])
    for bound, expected_slip in ((0.5, 0.5), (2.0, 0.0)):
        found = np.array(brake(CONE_FRICTION, bound, w, np.array([-0.6, -0.8]), np.zeros(2)))
        slip = np.array([-0.6, -0.8]) + w @ found
        assert np.linalg.norm(found) <= bound * (1.0 + 1e-12)
        assert slip == pytest.approx(-expected_slip * np.array([0.6, 0.8]), abs=1e-9)
