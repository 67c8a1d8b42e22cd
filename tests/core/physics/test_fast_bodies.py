"""Fast bodies: nothing passes through anything, nothing that is missed pushes, and energy never grows.

At 24 frames a second and 4 substeps a ball of 100 m/s goes a metre a substep.
"""

import numpy as np
import pytest

from cairn.solver_core.collision.time_of_impact import SEPARATED_BY_CCD
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
FRAME = 1.0 / 24.0
SUBSTEP = FRAME / 4.0


def hull_of_box(half_extents) -> ConvexHull:
    return ConvexHull.from_points(CORNERS * half_extents)


def fixed(shape, position=(0.0, 0.0, 0.0), **options) -> dict:
    return {"shape": shape, "position": position, "kind": BodyKind.STATIC, **options}


def start(bodies, gravity=(0.0, 0.0, 0.0), **options) -> Simulation:
    builder = ModelBuilder(gravity=gravity)
    for body in bodies:
        builder.add_body(**body)
    return Simulation(builder.build(), SimulationOptions(method="nncg", friction="box", **options))


def play(simulation, frames):
    """Positions of all bodies a frame, and energies, each with the start."""
    report = simulation.advance_frame()
    positions, energies = [simulation.poses()[0]], [report.kinetic_energy + report.potential_energy]
    for _ in range(frames - 1):
        report = simulation.advance_frame()
        positions.append(simulation.poses()[0])
        energies.append(report.kinetic_energy + report.potential_energy)
    return np.array(positions), np.array(energies)


def kinetic(bodies) -> float:
    """Kinetic energy of bodies of 1 kg that do not turn."""
    return sum(0.5 * np.dot(body["linear_velocity"], body["linear_velocity"]) for body in bodies)


# ---- nothing passes


WALLS = pytest.mark.parametrize(
    "wall",
    [
        Box((0.005, 1, 1)),
        hull_of_box((0.005, 1, 1)),
        Box((0, 1, 1)),
        ConvexHull.from_points([(0, -1, -1), (0, 1, -1), (0, 1, 1), (0, -1, 1)]),
    ],
    ids=["box", "hull", "sheet", "flat hull"],
)


@WALLS
@pytest.mark.parametrize("angle", [0.0, 0.7, 1.2])
def test_a_bullet_does_not_pass_a_thin_wall(wall, angle):
    """A ball of 2 cm at 100 m/s against 1 cm, straight and at an angle, from every phase of the substep."""
    direction = np.array([np.cos(angle), np.sin(angle), 0.0])
    for phase in np.linspace(0.0, 1.0, 5):
        aim = np.array([-0.005, 0.05, 0.03])
        ball = {
            "shape": Sphere(0.01),
            "position": aim - (1.5 + phase) * direction,
            "linear_velocity": 100 * direction,
        }
        positions, energies = play(start([fixed(wall), ball]), 2)
        assert positions[:, 1, 0].max() <= -0.0099, phase
        assert energies.max() <= 0.5 * 100.0**2 * (1.0 + 1e-9)


@pytest.mark.parametrize("tilt", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("floor", [Box((3, 3, 0.0)), Box((3, 3, 0.005)), hull_of_box((3, 3, 0.005))])
def test_a_thin_plate_does_not_fall_through_the_floor(floor, tilt):
    """1 m wide and 1 mm thick, at 60 m/s, flat and tilted."""
    plate = {
        "shape": Box((0.5, 0.5, 0.0005)),
        "position": (0, 0, 2.0),
        "orientation": (np.cos(tilt / 2), np.sin(tilt / 2), 0, 0),
        "linear_velocity": (0, 0, -60.0),
    }
    positions, energies = play(start([fixed(floor), plate], gravity=(0, 0, -9.81)), 24)
    top = floor.bounding_box()[1][2]
    # A tilted one slaps down with its far edge at over 100 m/s; it may sink in by its thickness, and comes out again.
    assert positions[:, 1, 2].min() > top - 0.001
    assert positions[-1, 1, 2] == pytest.approx(top + 0.0005, abs=2e-5)
    # The start's energy: 60^2 / 2 and m g times 2 m.
    assert energies.max() <= (1800.0 + 9.81 * 2.0) * (1.0 + 1e-6)


@pytest.mark.parametrize("spin", [30.0, 96.0, 150.0])
@pytest.mark.parametrize("angle", [0.3, 0.9, 1.5])
def test_a_spinning_rod_does_not_pass_a_post(spin, angle):
    """A free rod, up to one and a half radians a substep: it stops where it comes to the post, and not before."""
    rod = {"shape": Box((0.5, 0.01, 0.01)), "angular_velocity": (0, 0, spin)}
    post = fixed(Sphere(0.01), (0.4 * np.cos(angle), 0.4 * np.sin(angle), 0))
    simulation = start([post, rod], substeps=1, frame_rate=1.0 / SUBSTEP)
    # Where the rod's side and the ball touch.
    meeting = angle - np.arcsin(0.02 / 0.4)
    steps = int(np.ceil(meeting / (spin * SUBSTEP)))
    for _ in range(steps):
        assert simulation.velocities()[1, 5] == pytest.approx(spin, rel=1e-9)
        simulation.advance_frame()
    w, _, _, z = simulation.poses()[1][1]
    center = simulation.poses()[0][1]
    turned = 2.0 * np.arctan2(z, w)
    toward = simulation.poses()[0][0] - center
    height = toward[1] * np.cos(turned) - toward[0] * np.sin(turned)
    # The rod is on its side of the post; rows are linear, so it is there to the first order of its turn.
    assert height > 0.0
    assert height == pytest.approx(0.02, abs=0.02)
    moment = simulation.model.arrays.inertia[1].max()
    speed = simulation.velocities()[1]
    assert speed[5] < 0.99 * spin
    assert speed[:3] @ speed[:3] + moment * speed[5] ** 2 <= moment * spin**2 * (1 + 1e-9)


def test_a_bullet_that_is_led_along_the_floor_does_not_pass_a_wall_on_it():
    """It comes down at 45 degrees; its way ends below the floor, before the wall, but the floor leads it there."""
    for distance in (0.1, 0.3, 0.6):
        floor, wall = fixed(Box((3, 3, 0.05)), (0, 0, -0.05)), fixed(Box((0.005, 1, 0.2)), (distance, 0, 0.2))
        ball = {
            "shape": Sphere(0.01),
            "position": (-0.05, 0.03, 0.06),
            "linear_velocity": (70.7, 0, -70.7),
            "friction": 0.0,
        }
        positions, _ = play(start([floor, wall, ball]), 2)
        assert positions[:, 2, 0].max() <= distance - 0.005 - 0.0099, distance
        assert positions[:, 2, 2].min() >= 0.0099


def test_a_bullet_meets_another():
    """Head on at 200 m/s together, of equal masses, without restitution: both end with the mean of their speeds."""
    one = {"shape": Sphere(0.01), "position": (-0.7, 0, 0), "linear_velocity": (100.0, 0, 0)}
    two = {"shape": Sphere(0.01), "position": (0.65, 0, 0), "linear_velocity": (-60.0, 0, 0)}
    simulation = start([one, two])
    positions, energies = play(simulation, 2)
    assert np.all(positions[:, 0, 0] <= positions[:, 1, 0] - 0.0199)
    np.testing.assert_allclose(simulation.velocities()[:, 0], 20.0, rtol=1e-5)
    assert np.all(np.diff(energies) <= 1e-9 * energies[0])


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_bullet_bounces_off_a_wall_with_its_restitution(restitution):
    """Speed after is e times the speed before, to the solver's tolerance, wherever in the substep it meets the wall."""
    for phase in (0.0, 0.37, 0.81):
        ball = {
            "shape": Sphere(0.01),
            "position": (-1.2 - phase, 0, 0),
            "linear_velocity": (100.0, 0, 0),
            "restitution": restitution,
        }
        simulation = start([fixed(Box((0.005, 1, 1)), restitution=1.0), ball])
        play(simulation, 2)
        assert simulation.velocities()[1, 0] == pytest.approx(-100.0 * restitution, abs=1e-3)


# ---- nothing that is missed pushes


@pytest.mark.parametrize(
    ("target", "half"),
    [
        (Box((0.5, 0.5, 0.5)), (0.5, 0.5, 0.5)),
        (hull_of_box((0.5, 0.5, 0.5)), (0.5, 0.5, 0.5)),
        (Box((0.5, 0.5, 0.0)), (0.5, 0.5, 0.0)),
        (Sphere(0.5), None),
    ],
    ids=["box", "hull", "sheet", "sphere"],
)
@pytest.mark.parametrize("kind", [BodyKind.STATIC, BodyKind.DYNAMIC])
def test_a_bullet_that_misses_flies_on(target, half, kind):
    """Past a corner by its own size and more: the straight line of free flight to rounding; the target stays."""
    if target.is_flat and kind == BodyKind.DYNAMIC:
        pytest.skip("sheets do not move")
    rng = np.random.default_rng(5)
    for _ in range(25):
        direction, aside = rng.normal(size=(2, 3))
        direction /= np.linalg.norm(direction)
        aside -= aside @ direction * direction
        aside /= np.linalg.norm(aside)
        # The whole target lies below this height along ``aside``.
        height = 0.5 if half is None else np.abs(aside) @ half
        radius = 0.01
        first = (height + radius + 2 * radius * rng.uniform(1.0, 3.0)) * aside - rng.uniform(0.6, 1.6) * direction
        ball = {"shape": Sphere(radius), "position": first, "linear_velocity": 100 * direction}
        simulation = start([{"shape": target, "kind": kind}, ball])
        positions, _ = play(simulation, 2)
        np.testing.assert_allclose(positions[-1, 1], first + 200 * FRAME * direction, atol=1e-11)
        np.testing.assert_array_equal(positions[-1, 0], 0.0)


def test_a_bullet_goes_through_a_gap():
    """Between two boxes 4 cm apart, and through a ring of pegs round its way."""
    blocks = [fixed(Box((0.5, 0.5, 0.5)), (0, side * 0.52, 0)) for side in (-1, 1)]
    angles = 2 * np.pi * np.arange(8) / 8
    pegs = [fixed(Box((0.2, 0.01, 0.01)), (1.5, 0.05 * np.cos(a), 0.05 * np.sin(a))) for a in angles]
    ball = {"shape": Sphere(0.01), "position": (-1.3, 0, 0), "linear_velocity": (100.0, 0, 0)}
    positions, _ = play(start([*blocks, *pegs, ball]), 2)
    np.testing.assert_allclose(positions[-1, -1], (-1.3 + 200 * FRAME, 0, 0), atol=1e-11)


def test_a_rod_that_spins_past_a_post_is_free():
    """Its tips pass 3 cm from a post, a radian a substep: spin and place stay."""
    rod = {"shape": Box((0.5, 0.01, 0.01)), "angular_velocity": (0, 0, 96.0)}
    post = fixed(Box((0.01, 0.01, 0.3)), (0.55, 0.0, 0.0))
    simulation = start([post, rod])
    positions, _ = play(simulation, 4)
    np.testing.assert_allclose(positions[-1, 1], 0.0, atol=1e-12)
    np.testing.assert_allclose(simulation.velocities()[1], (0, 0, 0, 0, 0, 96.0), atol=1e-9)


def test_pairs_that_pass_each_other_are_set_aside():
    """They are in the list of pairs, marked, and have no contact; the next substep tests them again."""
    ball = {"shape": Sphere(0.01), "position": (0.1, 0.942, 0), "linear_velocity": (70.0, -70.0, 0)}
    simulation = start([fixed(Box((0.5, 0.5, 0.5))), ball], substeps=1, frame_rate=96.0)
    simulation.advance_frame()
    collision = simulation._collision
    pairs = collision.pairs[collision.roles.last_substep[0]]
    assert pairs.count[0] == 1
    assert pairs.reach[0] == SEPARATED_BY_CCD


# ---- energy


def test_a_shot_into_a_rack_adds_no_energy():
    """A fast ball into 20 balls and boxes in a heap, frictionless: energy only falls, momentum stays."""
    rng = np.random.default_rng(1)
    rack = []
    for place in np.ndindex(5, 2, 2):
        shape = Sphere(0.05) if sum(place) % 2 else Box((0.045, 0.045, 0.045))
        rack.append({"shape": shape, "position": 0.101 * np.array(place) + rng.uniform(-1e-3, 1e-3, 3), "friction": 0})
    ball = {"shape": Sphere(0.05), "position": (-0.9, 0.06, 0.05), "linear_velocity": (80.0, 0, 0), "friction": 0.0}
    simulation = start([*rack, ball])
    _, energies = play(simulation, 6)
    assert energies.max() <= kinetic([ball]) * (1 + 1e-6)
    assert np.all(np.diff(energies) <= 1e-6 * energies[0])
    np.testing.assert_allclose(simulation.velocities()[:, :3].sum(axis=0), (80.0, 0, 0), atol=1e-6)


@pytest.mark.parametrize("quality", ["exact", "production"])
@pytest.mark.parametrize("seed", [4, 19, 25])
def test_spinning_boxes_that_meet_are_kept_apart(seed, quality):
    """300 pairs, each of two boxes of 1 m that fly and spin at each other: no overlap of 5 mm within any substep.

    In small steps 3 cm, as they turn by 9 degrees in one.

    A detection pass for one pair is one for all. If a pass dropped the end-pose contact that held a pair, they were
    10 to 50 mm deep in each other.
    """
    rng = np.random.default_rng(seed)
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for pair in range(300):
        center = 20.0 * np.array([pair % 20, pair // 20, 0.0])
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        for side in (-1, 1):
            builder.add_body(
                shape=Box((0.5, 0.5, 0.5)),
                mass=1.0,
                position=center + 1.15 * side * direction + rng.uniform(-0.2, 0.2, 3),
                orientation=rng.normal(size=4),
                linear_velocity=-4.0 * side * direction,
                angular_velocity=14.0 * rng.normal(size=3),
                friction=0.5,
            )
    simulation = Simulation(builder.build(), SimulationOptions(quality=quality))
    deepest = max(simulation.advance_frame().max_penetration for _ in range(8))
    assert 1e-5 < deepest < {"exact": 5e-3, "production": 3e-2}[quality]
