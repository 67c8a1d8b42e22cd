"""A wind of m g on bodies of the mass m is gravity: joints, bounces, rolling and rest have to make the same of both."""

import math

import numpy as np
import pytest

from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.fields import Wind
from cairn.solver_core.model.joints.hinge import Hinge
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

G, MASS = 9.81, 0.7


def pendulum(builder):
    """A bar of 1 m on a hinge at its upper end, let go to the side."""
    bar = builder.add_body(shape=Box((0.5, 0.05, 0.05)), mass=MASS, position=(0.5, 0.0, 0.0))
    turn = (math.cos(math.pi / 4), math.sin(math.pi / 4), 0.0, 0.0)  # z along y
    builder.add_joint(Hinge(), bar, position=(0.0, 0.0, 0.0), orientation=turn)


def floor(builder):
    builder.add_body(
        shape=Box((9.0, 9.0, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC, restitution=1.0, friction=1
    )


def bouncing(builder):
    floor(builder)
    builder.add_body(shape=Sphere(0.2), mass=MASS, position=(0.0, 0.0, 1.0), restitution=0.8)


def rolling(builder):
    floor(builder)
    builder.add_body(
        shape=Sphere(0.2), mass=MASS, position=(0.0, 0.0, 0.2), linear_velocity=(2, 0, 0), angular_velocity=(0, 10, 0)
    )


def stack(builder):
    floor(builder)
    for row in range(3):
        builder.add_body(shape=Box((0.2, 0.2, 0.2)), mass=MASS, position=(0.01 * row, 0.0, 0.21 + 0.41 * row))


@pytest.mark.parametrize("scene", [pendulum, bouncing, rolling, stack])
def test_wind_of_the_weight_is_gravity(scene):
    """Half of the weight by gravity and half by wind: a body without any gravity has no scale of speeds."""
    paths = []
    for share in (1.0, 0.5):
        builder = ModelBuilder(gravity=(0.0, 0.0, -share * G))
        scene(builder)
        if share < 1.0:
            builder.add_field(Wind(strength=MASS * G * (1.0 - share), axis=(0.0, 0.0, -1.0)))
        simulation = Simulation(builder.build(), SimulationOptions())
        path = []
        for _ in range(48):
            simulation.advance_frame()
            path.append(simulation.poses()[0])
        paths.append(np.array(path))
    way = np.abs(paths[0][-1] - paths[0][0]).max() + np.ptp(paths[0], axis=0).max()
    assert way > 1e-3
    assert np.abs(paths[1] - paths[0]).max() < 1e-3 * max(way, 0.1)


@pytest.mark.parametrize("along_body", [False, True])
def test_a_torque_turns_a_door_about_its_hinge(along_body):
    """Its speed grows by torque over the moment about the hinge; no guard of energy takes it for an error."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    door = builder.add_body(shape=Box((0.5, 0.05, 1.0)), mass=MASS, position=(0.5, 0.0, 0.0))
    builder.add_joint(Hinge(), door, position=(0.0, 0.0, 0.0))
    builder.push_body(door, torque=(0.0, 0.0, 0.3), along_body=along_body)
    simulation = Simulation(builder.build(), SimulationOptions())
    moment = MASS * ((1.0 + 0.01) / 12.0 + 0.25)
    for frame in range(1, 37):
        simulation.advance_frame()
        assert simulation.velocities()[0, 5] == pytest.approx(0.3 / moment * frame / 24.0, rel=5e-3)
