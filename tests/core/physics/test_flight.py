"""From contact into flight and back: closed forms, and energy that falls or stays at every single substep."""

import math

import numpy as np
import pytest

from cairn.solver_core import diagnostics
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.scenes import pile
from cairn.solver_core.simulation import Simulation

G = 9.81
RATE = 96
H = 1.0 / RATE
ANGLE = math.radians(30.0)
SMOOTH_FLOOR = {"shape": Box((2.0, 2.0, 0.5)), "kind": BodyKind.STATIC, "position": (0.0, 0.0, -0.5)}


def build(*bodies):
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    for body in bodies:
        builder.add_body(**body)
    return builder.build()


def play(model, seconds, **options):
    """Energies [J], positions and velocities at the start and after each substep, which is a frame here."""
    options = {"method": "nncg", "sleeping": False, **options}
    simulation = Simulation(model, SimulationOptions(frame_rate=RATE, substeps=1, **options))
    energy = diagnostics.kinetic_energy(model, model.initial_state)
    energies = [energy + diagnostics.potential_energy(model, model.initial_state, model.gravity)]
    positions, velocities = [simulation.poses()[0]], [simulation.velocities()]
    for _ in range(round(seconds * RATE)):
        report = simulation.advance_frame()
        energies.append(report.kinetic_energy + report.potential_energy)
        positions.append(simulation.poses()[0])
        velocities.append(simulation.velocities())
    return np.array(energies), np.array(positions), np.array(velocities)


def growth(energies, scale):
    """Largest growth in a substep, as a share."""
    return np.diff(energies).max() / scale


@pytest.mark.parametrize("friction", [0.0, 0.2])
def test_block_slides_down_an_incline_and_off_its_edge(friction):
    """On the incline it follows a t^2 / 2, and from the edge on it has the energy that friction has left it."""
    turned = (math.cos(0.5 * ANGLE), 0.0, math.sin(0.5 * ANGLE), 0.0)
    downhill, normal = np.array([math.cos(ANGLE), 0, -math.sin(ANGLE)]), np.array([math.sin(ANGLE), 0, math.cos(ANGLE)])
    plate = {"shape": Box((2.0, 1.0, 0.1)), "kind": BodyKind.STATIC, "position": -0.1 * normal}
    block = {"shape": Box((0.2, 0.2, 0.1)), "position": 0.1 * normal - downhill}
    same = {"orientation": turned, "friction": math.sqrt(friction)}
    energies, positions, velocities = play(build({**plate, **same}, {**block, **same}), 1.3, tolerance=1e-10)
    acceleration = G * (math.sin(ANGLE) - friction * math.cos(ANGLE))
    times = np.arange(len(positions)) * H
    # The centre of mass reaches the edge after 3 m; it may tip before.
    on_plate = times < 0.99 * math.sqrt(2.0 * 2.8 / acceleration)
    way = (positions[:, 1] - positions[0, 1]) @ downhill
    assert way[on_plate] == pytest.approx(0.5 * acceleration * times[on_plate] ** 2, abs=1e-6)
    assert (velocities[:, 1, :3] @ downhill)[on_plate] == pytest.approx(acceleration * times[on_plate], abs=1e-5)
    scale = G * 3.0
    assert growth(energies, scale) <= 1e-7
    assert energies.max() <= energies[0] + 1e-6 * scale
    assert energies[-1] >= energies[0] - scale * (1e-3 + 1.01 * friction * math.cos(ANGLE))


def test_ball_rolls_off_a_table_and_lands():
    """It keeps its energy to rounding until it lands; a fall of a metre takes sqrt(2 / g)."""
    table = {"shape": Box((1.0, 1.0, 0.1)), "kind": BodyKind.STATIC, "position": (0.0, 0.0, -0.1)}
    floor = {"shape": Box((9.0, 9.0, 0.1)), "kind": BodyKind.STATIC, "position": (0.0, 0.0, -1.1)}
    ball = {"shape": Sphere(0.1), "position": (0.5, 0.0, 0.1), "linear_velocity": (1.0, 0.0, 0.0)}
    energies, positions, velocities = play(build(table, floor, {**ball, "angular_velocity": (0.0, 10.0, 0.0)}), 2.0)
    assert growth(energies, G) <= 1e-12
    falls = (positions[:, 2, 2] < 0.0) & (positions[:, 2, 2] > -0.89)
    assert energies[falls] == pytest.approx(np.full(falls.sum(), energies[falls][0]), rel=1e-12)
    assert energies[0] - energies[falls][0] <= 2e-3 * G
    # It takes with it the half gravity that it gained while the edge turned away below it, and no more.
    assert np.diff(velocities[falls, 2, 2]) == pytest.approx(-G * H, rel=1e-9)


def test_what_loses_its_support_falls_freely():
    """g t^2 / 2 from the moment on at which the support has gone, for a stack as for one box."""
    support = {"shape": Box((1.0, 1.0, 0.1)), "kind": BodyKind.KINEMATIC, "position": (0.0, 0.0, -0.1)}
    boxes = [{"shape": Box((0.15, 0.15, 0.15)), "position": (0.0, 0.0, 0.15 + 0.3 * i)} for i in range(3)]
    simulation = Simulation(build(support, *boxes), SimulationOptions(method="nncg"))
    for _ in range(6):
        simulation.advance_frame()
    position, orientation = simulation.poses()
    heights = position[1:, 2].copy()
    position[0] = (50.0, 0.0, 0.0)
    simulation.advance_frame(FrameInput(duration=0.0, position=position, orientation=orientation))
    for frame in range(1, 13):
        simulation.advance_frame()
        time = frame / 24.0
        assert simulation.poses()[0][1:, 2] == pytest.approx(heights - 0.5 * G * time**2, abs=1e-7)
        assert simulation.velocities()[1:, 2] == pytest.approx(-G * time, abs=1e-6)


def test_bodies_that_meet_in_flight_keep_the_parabola_of_their_centre():
    """They push each other, but nothing holds them."""
    balls = [
        {"shape": Sphere(0.2), "position": (-0.5, 0.0, 0.0), "linear_velocity": (2.0, 0.0, 1.0)},
        {"shape": Sphere(0.2), "position": (0.5, 0.0, 0.05), "linear_velocity": (-2.0, 0.0, 1.0)},
    ]
    energies, positions, velocities = play(build(*balls), 0.5)
    assert np.abs(velocities[-1, :, 0]).max() < 1.0
    times = np.arange(len(positions)) * H
    height = positions[:, :, 2].mean(axis=1)
    assert height == pytest.approx(0.025 + times - 0.5 * G * times**2, abs=1e-12)
    assert growth(energies, energies[0]) <= 1e-12


@pytest.mark.parametrize("restitution", [0.0, 0.8])
@pytest.mark.parametrize("speed", np.linspace(4.2, 5.2, 11))
def test_body_thrown_to_a_ceiling_stays_below_it(speed, restitution):
    """At any speed, also where the end of a substep's fall would be below the ceiling, but not the way there."""
    ceiling = {**SMOOTH_FLOOR, "position": (0.0, 0.0, 1.5), "restitution": 1.0}
    box = {"shape": Box((0.05, 0.05, 0.05)), "linear_velocity": (0.0, 0.0, speed), "restitution": restitution}
    energies, positions, _ = play(build(ceiling, box), 0.6)
    assert positions[:, 1, 2].max() <= 0.95 + 2e-6
    assert growth(energies, energies[0]) <= 1e-9


@pytest.mark.parametrize("rate", [24, 96, 240])
def test_elastic_ball_keeps_its_energy(rate):
    """Bounce after bounce, to rounding; it never rises above its start."""
    ball = {"shape": Sphere(0.1), "position": (0.0, 0.0, 1.1), "restitution": 1.0}
    model = build({**SMOOTH_FLOOR, "restitution": 1.0}, ball)
    simulation = Simulation(model, SimulationOptions(method="nncg", frame_rate=rate, substeps=1))
    for _ in range(4 * rate):
        report = simulation.advance_frame()
        assert report.kinetic_energy + report.potential_energy == pytest.approx(1.1 * G, rel=1e-12)
        assert simulation.poses()[0][1, 2] <= 1.1 + 1e-12


@pytest.mark.parametrize("restitution", [0.5, 0.8, 1.0])
def test_ball_that_bounces_off_a_resting_one_gains_nothing(restitution):
    """The one below rests on the floor: gravity's part of the substep has gone into the floor, not into its bounce."""
    below = {"shape": Sphere(0.1), "position": (0.0, 0.0, 0.1), "restitution": restitution}
    above = {"shape": Sphere(0.1), "position": (0.0, 0.0, 1.0), "restitution": 1.0}
    energies, _, _ = play(build({**SMOOTH_FLOOR, "restitution": 1.0}, below, above), 2.0)
    assert growth(energies, energies[0]) <= 1e-7
    if restitution == 1.0:
        assert energies[-1] >= 0.9 * energies[0]


def test_gravity_that_ends_leaves_the_velocity_that_it_gave():
    """Uniform motion with g t, exactly."""
    simulation = Simulation(build({"shape": Sphere(0.1)}), SimulationOptions(method="nncg"))
    for _ in range(6):
        simulation.advance_frame()
    for _ in range(6):
        simulation.advance_frame(FrameInput(gravity=np.zeros(3)))
    time = 6.0 / 24.0
    assert simulation.poses()[0][0, 2] == pytest.approx(-1.5 * G * time**2, rel=1e-12)


@pytest.mark.parametrize("method", ["auto", "nncg"])
@pytest.mark.parametrize("friction", [0.0, 0.7])
def test_energy_of_a_heap_never_grows_in_a_substep(friction, method):
    """Boxes that fall onto each other, land, slide off and fall again, without restitution."""
    model = pile(12).build_model()
    model.arrays.friction[:] = friction
    energies, _, _ = play(model, 2.0, method=method)
    assert growth(energies, energies[0]) <= 1e-6
    assert energies[-1] < 0.9 * energies[0]
