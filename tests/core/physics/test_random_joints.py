"""Jointed scenes drawn at random: the motion is finite, and what only falls makes no energy."""

import numpy as np
import pytest

from cairn.solver_core import (
    Axis,
    ConeTwist,
    FrameInput,
    Generic,
    Hinge,
    ModelBuilder,
    Piston,
    Point,
    Simulation,
    SimulationOptions,
    Slider,
)
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.joints.fixed import Fixed
from cairn.solver_core.model.model import BodyKind

LENGTH = 0.2


def crumpled_chain(generator):
    """A chain whose links lie anyhow, with a load at its end that is thrown while they rest."""
    links, ratio = int(generator.integers(3, 16)), 10.0 ** generator.uniform(0.0, 5.0)
    joint = Point() if generator.random() < 0.5 else Hinge()
    builder = ModelBuilder()
    place = np.array([0.0, 0.0, 10.0])
    builder.add_body(shape=Box((0.05, 0.05, 0.05)), kind=BodyKind.STATIC, position=place)
    for link in range(links):
        along = generator.normal(size=3) * (1.0, 1.0, 0.3)
        along /= np.linalg.norm(along)
        turn = np.array([1.0 + along[0], *np.cross((1.0, 0.0, 0.0), along)])
        builder.add_body(
            shape=Box((0.07, 0.02, 0.02)),
            mass=0.5,
            position=place + 0.5 * LENGTH * along,
            orientation=turn / np.linalg.norm(turn),
        )
        builder.add_joint(joint, link, link + 1, position=place)
        place = place + LENGTH * along
    velocity = 3.0 * generator.normal(size=3)
    builder.add_body(shape=Sphere(0.15), mass=0.5 * ratio, position=place - (0.0, 0.0, 0.2), linear_velocity=velocity)
    builder.add_joint(Point(), links, links + 1, position=place)
    return builder.build()


def overstretched_net(generator):
    """A net between what stands and what is driven away, and the driven bodies and where they go."""
    rows, links = int(generator.integers(1, 3)), int(generator.integers(2, 8))
    joint = Fixed() if generator.random() < 0.5 else Point()
    builder = ModelBuilder()
    for row in range(rows):
        for link in range(links + 2):
            kind = BodyKind.DYNAMIC
            if link in (0, links + 1):
                kind = BodyKind.STATIC if link == 0 else BodyKind.KINEMATIC
            mass = {"mass": 0.5} if kind == BodyKind.DYNAMIC else {}
            builder.add_body(shape=Box((0.1, 0.03, 0.03)), kind=kind, position=(0.3 * link, 0.3 * row, 3.0), **mass)
    for row in range(rows):
        first = row * (links + 2)
        for link in range(links + 1):
            position = (0.3 * (link + 0.5), 0.3 * row, 3.0)
            builder.add_joint(joint, first + link, first + link + 1, position=position)
            if row > 0 and link > 0:
                builder.add_joint(
                    Point(), first + link - links - 2, first + link, position=(0.3 * link, 0.3 * row - 0.15, 3.0)
                )
    return builder.build(), [row * (links + 2) + links + 1 for row in range(rows)], generator.uniform(0.1, 0.6)


def limited(generator, least, most):
    """An axis with a limit to each side."""
    return Axis(lower=-generator.uniform(least, most), upper=generator.uniform(least, most))


def any_joint(generator):
    """A joint of any type, with limits where it is free."""
    held, kind = Axis(lower=0.0, upper=0.0), int(generator.integers(0, 8))
    way, turns = limited(generator, 0.05, 0.3), [limited(generator, 0.2, 1.2) for _ in range(3)]
    return (
        Hinge(turns[0]),
        ConeTwist(swing=turns[0].upper, twist=turns[1].upper),
        Slider(way),
        Piston(linear=way, angular=turns[0]),
        Generic(linear=(held, held, held), angular=tuple(turns)),
        Generic(linear=(way, held, held), angular=(turns[0], held, turns[1])),
        Point(friction=turns[0].upper),
        Fixed(),
    )[kind]


def joint_that_goes_over(generator):
    """A joint that is free about y, also beyond a quarter turn, and limited about x and z."""
    held, turns = Axis(lower=0.0, upper=0.0), [limited(generator, 0.2, 1.2) for _ in range(2)]
    return Generic(linear=(held, held, held), angular=(turns[0], Axis(), turns[1]))


def thrown_tree(generator, joint_of=any_joint):
    """Bodies of masses of two decades that joints tie to each other, and some to the world."""
    builder, places = ModelBuilder(), [np.zeros(3)]
    for body in range(int(generator.integers(2, 7))):
        if body > 0:
            along = generator.normal(size=3)
            places.append(places[int(generator.integers(0, body))] + 0.5 * along / np.linalg.norm(along))
        turns = generator.normal(size=(2, 4))
        turns /= np.linalg.norm(turns, axis=1)[:, None]
        builder.add_body(
            shape=Box(tuple(generator.uniform(0.05, 0.15, 3))), mass=10.0 ** generator.uniform(-1.0, 1.0),
            position=places[body], orientation=turns[0], collision_mask=1 << body,
            linear_velocity=2.0 * generator.normal(size=3), angular_velocity=4.0 * generator.normal(size=3),
        )  # fmt: skip
        if body > 0:
            nearest = int(np.argmin(np.linalg.norm(np.array(places[:body]) - places[body], axis=1)))
            middle = 0.5 * (places[body] + places[nearest])
            builder.add_joint(joint_of(generator), nearest, body, position=middle, orientation=turns[1])
        elif generator.random() < 0.6:
            builder.add_joint(joint_of(generator), 0, position=0.3 * generator.normal(size=3), orientation=turns[1])
    return builder.build()


def substeps_of(generator):
    return int(generator.choice([1, 2, 4, 8]))


@pytest.mark.parametrize(
    "seed", [*range(100, 104), *(pytest.param(k, marks=pytest.mark.nightly) for k in range(104, 130))]
)
def test_a_crumpled_chain_has_no_more_energy_than_falling_gives(seed):
    generator = np.random.default_rng(seed)
    model = crumpled_chain(generator)
    options = SimulationOptions(sleeping=False, threads=1, substeps=substeps_of(generator))
    simulation = Simulation(model, options)
    first = simulation.advance_frame()
    energy = first.kinetic_energy + first.potential_energy
    for _ in range(40):
        report = simulation.advance_frame()
        fallen = energy - report.potential_energy
        assert report.kinetic_energy <= 1.5 * fallen + 1e-6 * abs(energy)


@pytest.mark.parametrize(
    "seed", [*range(200, 203), *(pytest.param(k, marks=pytest.mark.nightly) for k in range(203, 220))]
)
def test_a_net_that_is_pulled_beyond_its_reach_stays_finite(seed):
    """It may be flung about (docs/decisions/28-joints.md, "Open")."""
    generator = np.random.default_rng(seed)
    model, driven, pull = overstretched_net(generator)
    options = SimulationOptions(sleeping=False, threads=1, substeps=substeps_of(generator))
    simulation = Simulation(model, options)
    start = simulation.poses()[0].copy()
    for frame in range(36):
        position, orientation = simulation.poses()
        for body in driven:
            position[body] = start[body] + (min(frame / 24.0, pull), 0.0, 0.0)
        simulation.advance_frame(FrameInput(position=position, orientation=orientation))
        assert np.isfinite(simulation.poses()[0]).all()


@pytest.mark.parametrize(
    "seed", [*range(1000, 1010), *(pytest.param(k, marks=pytest.mark.nightly) for k in range(1010, 1100))]
)
def test_a_tree_of_any_joints_stays_closed_and_makes_no_energy(seed):
    """Thrown anyhow, its limits stop it again and again for three seconds."""
    simulation = Simulation(thrown_tree(np.random.default_rng(seed)), SimulationOptions(sleeping=False, threads=1))
    reports = [simulation.advance_frame() for _ in range(72)]
    kinetic = np.array([report.kinetic_energy for report in reports])
    energy = kinetic + [report.potential_energy for report in reports]
    assert np.diff(energy).max() < 2e-3 * kinetic.max() + 1e-9
    assert max(report.joint_error for report in reports) < 1e-6


@pytest.mark.parametrize(
    "seeds", [range(1000, 1010), pytest.param(range(1010, 1100), marks=pytest.mark.nightly, id="nightly")]
)
def test_trees_of_joints_that_go_over_a_quarter_turn_make_next_to_no_energy(seeds):
    """There two angles are about one axis, and both limits' walls meet: a needle's eye.

    What still gives energy are the points, in light bodies that go through it by a third of a radian in a substep.
    """
    gains, openings = [], []
    for seed in seeds:
        tree = thrown_tree(np.random.default_rng(seed), joint_that_goes_over)
        simulation = Simulation(tree, SimulationOptions(sleeping=False, threads=1))
        reports = [simulation.advance_frame() for _ in range(72)]
        kinetic = np.array([report.kinetic_energy for report in reports])
        energy = kinetic + [report.potential_energy for report in reports]
        gains.append(np.diff(energy).max() / kinetic.max())
        openings.append(max(report.joint_error for report in reports))
    assert max(gains) < 0.05
    assert np.mean(np.array(gains) > 2e-3) <= 0.1
    assert max(openings) < 0.02
    assert np.mean(np.array(openings) > 1e-6) <= 0.25
