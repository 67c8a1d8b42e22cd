"""Joints that break: by closed forms, whatever the substeps are, and where they are hit."""

import numpy as np
import pytest

from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.joints.cone_twist import ConeTwist
from cairn.solver_core.model.joints.fixed import Fixed
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

G = 9.81
IMPACT_TIME = 1.0 / 240.0


def play(builder, frames, **options):
    """The names of the joints that broke, the largest load of each, and the simulation."""
    simulation = Simulation(builder.build(), SimulationOptions(**options))
    broke, peak = [], np.zeros((simulation.joint_count, 2))
    for _ in range(frames):
        report = simulation.advance_frame()
        broke += report.broke
        peak = np.maximum(peak, np.column_stack([report.joints.peak_force, report.joints.peak_torque]))
    return broke, peak, simulation


def hit_block(bears, speed=5.0):
    """A block of 10 kg that is glued to the world, and one that comes to it through its centre."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((0.5, 0.5, 0.5)), mass=10.0, friction=0.0)
    builder.add_body(
        shape=Box((0.5, 0.5, 0.5)),
        mass=10.0,
        position=(-1.3, 0.0, 0.0),
        linear_velocity=(speed, 0.0, 0.0),
        friction=0.0,
    )
    builder.add_joint(Fixed(), 0, position=(0.0, 0.0, 0.0), breaking_force=bears, name="glue")
    return builder


@pytest.mark.parametrize("substeps", [4, 8, 16])
@pytest.mark.parametrize("share", [0.98, 1.02])
def test_a_hit_breaks_what_does_not_bear_its_impulse_over_the_time_of_a_hit(substeps, share):
    """m v / T; what breaks has taken as much as it bears, and the two go on with what is left."""
    load = 10.0 * 5.0 / IMPACT_TIME
    broke, peak, simulation = play(hit_block(share * load), 6, substeps=substeps)
    assert broke == (["glue"] if share < 1.0 else [])
    assert peak[0, 0] == pytest.approx(load, rel=1e-3)
    left = (1.0 - share) * 10.0 * 5.0 / 20.0 if share < 1.0 else 0.0
    # where the hit is spread over two substeps, as much of the second one's share
    assert -1e-6 < simulation.velocities()[0, 0] < left + 1e-6


@pytest.mark.parametrize("time", [1.0 / 480.0, 1.0 / 100.0])
def test_the_time_of_a_hit_is_an_option(time):
    """Half the time is twice the force."""
    _, peak, _ = play(hit_block(1e9), 6, impact_time=time)
    assert peak[0, 0] == pytest.approx(10.0 * 5.0 / time, rel=2e-2)


def test_the_time_of_a_hit_is_above_zero():
    with pytest.raises(ValueError, match="impact_time is 0"):
        SimulationOptions(impact_time=0)


@pytest.mark.parametrize("substeps", [4, 8, 16])
@pytest.mark.parametrize("share", [0.99, 1.01])
def test_a_bar_in_tension_breaks_at_its_weight(substeps, share):
    """Ten cubes of a kilogram hang glued below each other: the highest bond bears 100 G, and breaks alone."""
    builder = ModelBuilder()
    for place in range(10):
        builder.add_body(shape=Box((0.1, 0.1, 0.1)), mass=10.0, position=(0.0, 0.0, -0.2 * place))
    builder.add_joint(Fixed(), 0, position=(0.0, 0.0, 0.1), breaking_force=share * 100.0 * G, name="0")
    for place in range(9):
        at = 0.0, 0.0, -0.2 * place - 0.1
        builder.add_joint(Fixed(), place, place + 1, position=at, breaking_force=share * 100.0 * G, name=str(place + 1))
    broke, _, _ = play(builder, 3, substeps=substeps)
    assert broke == (["0"] if share < 1.0 else [])


@pytest.mark.parametrize("substeps", [4, 8, 16])
@pytest.mark.parametrize("share", [0.99, 1.01])
def test_a_cantilever_breaks_at_its_root(substeps, share):
    """Eight cubes of a kilogram and 0.2 m: the torque at the root is 8 G times 0.8 m."""
    builder, bears = ModelBuilder(), share * 8.0 * G * 0.8
    for place in range(8):
        builder.add_body(shape=Box((0.1, 0.1, 0.1)), mass=1.0, position=(0.1 + 0.2 * place, 0.0, 0.0))
    builder.add_joint(Fixed(), 0, position=(0.0, 0.0, 0.0), breaking_torque=bears, name="0")
    for place in range(7):
        at = 0.2 * (place + 1), 0.0, 0.0
        builder.add_joint(Fixed(), place, place + 1, position=at, breaking_torque=bears, name=str(place + 1))
    broke, _, _ = play(builder, 3, substeps=substeps)
    assert broke == (["0"] if share < 1.0 else [])


def wall(bears, speed, mass, rows=6, columns=8):
    """A wall of bricks of 16 kg glued to each other and to the floor, and a ball that flies at it."""
    builder, bricks = ModelBuilder(), []
    builder.add_body(kind=BodyKind.STATIC, shape=Box((5.0, 5.0, 0.5)), position=(0.0, 0.0, -0.5), friction=0.6)
    for row in range(rows):
        for column in range(columns):
            x, z = (column - columns / 2 + 0.5 * (row % 2) + 0.25) * 0.4, 0.1 + 0.2 * row
            body = builder.add_body(shape=Box((0.2, 0.1, 0.1)), mass=16.0, position=(x, 0.0, z), friction=0.6)
            bricks.append((body, x, z))
    places = []

    def glue(body, other, x, z):
        builder.add_joint(
            Fixed(),
            body,
            other,
            position=(x, 0.0, z),
            breaking_force=bears,
            breaking_torque=bears,
            name=str(len(places)),
        )
        places.append((x, z))

    for number, (body, x, z) in enumerate(bricks):
        for other, u, w in bricks[number + 1 :]:
            beside = abs(z - w) < 1e-6 and abs(abs(x - u) - 0.4) < 1e-6
            above = abs(abs(z - w) - 0.2) < 1e-6 and abs(x - u) < 0.39
            if beside or above:
                glue(body, other, 0.5 * (x + u), 0.5 * (z + w))
        if z < 0.15:
            glue(body, 0, x, 0.0)
    builder.add_body(
        shape=Sphere(0.2), mass=mass, position=(0.0, -0.8, 0.7), linear_velocity=(0.0, speed, 0.3), friction=0.4
    )
    return builder, np.array(places)


@pytest.mark.parametrize(("bears", "speed", "mass"), [(7500.0, 7.0, 25.0), (5600.0, 5.0, 23.0), (12000.0, 3.0, 20.0)])
def test_a_wall_breaks_where_it_is_hit_whatever_the_substeps_are(bears, speed, mass):
    """Some bonds by the ball, none farther off than a brick and a half; as many, but for two, at any substeps."""
    counts = []
    for substeps in (4, 8, 16):
        builder, places = wall(bears, speed, mass)
        broke, _, simulation = play(builder, 24, substeps=substeps, threads=1)
        away = np.linalg.norm(places[[int(name) for name in broke]] - [0.0, 0.7], axis=1)
        assert np.all(away < 0.8)
        assert np.all(np.isfinite(simulation.velocities()))
        counts.append(len(broke))
    assert max(counts) - min(counts) <= 2
    # a bond takes its force times the time of a hit
    assert max(counts) <= 3.0 * mass * speed / (bears * IMPACT_TIME)


def test_more_breaks_of_a_harder_hit_and_less_of_stronger_glue():
    counts = []
    for bears, speed in ((9000.0, 4.0), (9000.0, 7.0), (6000.0, 7.0)):
        builder, _ = wall(bears, speed, 25.0)
        broke, _, _ = play(builder, 24, threads=1)
        counts.append(len(broke))
    assert counts[0] <= counts[1] <= counts[2]
    assert counts[2] > counts[0]


def test_pieces_collide_once_their_joint_has_broken():
    """One of two glued cubes is pulled off by its weight and comes back: they touch again, and do not overlap."""
    builder = ModelBuilder()
    builder.add_body(kind=BodyKind.STATIC, shape=Box((2.0, 2.0, 0.5)), position=(0.0, 0.0, -0.5))
    lower = builder.add_body(shape=Box((0.1, 0.1, 0.1)), position=(0.0, 0.0, 0.1))
    upper = builder.add_body(shape=Box((0.1, 0.1, 0.1)), position=(0.0, 0.0, 0.3))
    builder.add_joint(Fixed(), lower, upper, position=(0.0, 0.0, 0.2), breaking_force=0.0, breaking_torque=0.0)
    builder.add_body(shape=Box((0.1, 0.1, 0.1)), mass=20.0, position=(0.0, 0.0, 0.9))
    broke, _, simulation = play(builder, 48)
    assert len(broke) == 1
    assert simulation.poses()[0][upper, 2] == pytest.approx(0.3, abs=1e-4)


@pytest.mark.parametrize("substeps", [4, 8, 16])
def test_what_breaks_at_a_long_lever_turns_nothing_away(substeps):
    """A ball of 7 cm at a lever of 4.7 m: what the joint has given is taken back at the arms at which it was given.

    As the ball's inertia is next to nothing there, at other arms it kept 18 times the energy that was there (a scene
    of the fuzz).
    """
    builder = ModelBuilder()
    builder.add_body(shape=Sphere(0.0663), mass=0.909, position=(0.6473, 2.1987, 0.3668))
    half, place, speed = (0.1182, 0.0098, 0.0829), (2.0162, -2.2932, 0.5151), (-0.4907, 4.2474, 1.6982)
    builder.add_body(shape=Box(half), mass=2.123, position=place, linear_velocity=speed)
    builder.add_joint(
        ConeTwist(swing=0.2285, twist=1.4772), 1, 0, position=(1.9762, -2.2296, 0.5887),
        orientation=(0.2219, -0.0938, -0.6556, -0.6785), breaking_force=222.9, name="lever",
    )  # fmt: skip
    simulation = Simulation(builder.build(), SimulationOptions(substeps=substeps))
    start = 0.5 * 2.123 * np.dot(speed, speed) + G * (0.909 * 0.3668 + 2.123 * 0.5151)
    broke = []
    for _ in range(6):
        report = simulation.advance_frame()
        broke += report.broke
        assert report.kinetic_energy + report.potential_energy <= start
    assert broke == ["lever"]
