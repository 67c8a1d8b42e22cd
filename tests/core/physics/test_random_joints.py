"""Jointed scenes drawn at random: the motion is finite, and what only falls makes no energy."""

import numpy as np
import pytest

from cairn.solver_core import FrameInput, Hinge, ModelBuilder, Point, Simulation, SimulationOptions
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
