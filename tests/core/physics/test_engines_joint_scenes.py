"""Joint tests of Rapier and Jolt, rewritten: long runs, a net, a high mass ratio, gears; none opens or gains energy.

Their programs are in the examples of rapier3d (joint_prismatic3, joint_ball3, debug_chain_high_mass_ratio3) and in
Jolt's samples (GearConstraintTest, RackAndPinionConstraintTest).
"""

import math

import numpy as np
import pytest

from cairn.solver_core.geometry.round_shapes import Capsule
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.joints.axis import Axis
from cairn.solver_core.model.joints.gear import Gear, RackAndPinion
from cairn.solver_core.model.joints.hinge import Hinge
from cairn.solver_core.model.joints.point import Point
from cairn.solver_core.model.joints.slider import Slider
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

G = 9.81


def play(builder, frames):
    """The simulation, energy after each frame [J], and the largest opening of a joint [m]."""
    simulation = Simulation(builder.build(), SimulationOptions(sleeping=False))
    reports = [simulation.advance_frame() for _ in range(frames)]
    energy = np.array([report.kinetic_energy + report.potential_energy for report in reports])
    return simulation, energy, max(report.joint_error for report in reports)


def net_balls(side):
    """A square of balls a metre apart, level; of the first row every fourth one and the last are fixed."""
    builder = ModelBuilder()
    for row in range(side):
        for place in range(side):
            fixed = row == 0 and (place % 4 == 0 or place == side - 1)
            kind = BodyKind.STATIC if fixed else BodyKind.DYNAMIC
            builder.add_body(shape=Sphere(0.4), position=(place, row, 0.0), kind=kind)
    return builder


@pytest.mark.parametrize("steps", [1920, pytest.param(50_000, marks=pytest.mark.nightly)])
def test_a_chain_of_sliders_gains_no_energy(steps):
    """Ten prismatic joints, along two diagonals in turn, with limits that the boxes fall to and stay at."""
    builder, half = ModelBuilder(), math.radians(22.5)
    builder.add_body(shape=Box((0.4, 0.4, 0.4)), kind=BodyKind.STATIC)
    for place in range(10):
        builder.add_body(shape=Box((0.4, 0.4, 0.4)), position=(0.0, place + 1.0, 0.0))
        # the frame's x axis 45 degrees below and above level, in the plane of x and z
        turn = (math.cos(half), 0.0, (1.0 if place % 2 == 0 else -1.0) * math.sin(half), 0.0)
        builder.add_joint(
            Slider(Axis(lower=-2.0, upper=2.0)), place, place + 1, position=(0.0, place + 0.5, 0.0), orientation=turn
        )
    simulation, energy, opening = play(builder, steps // 4)
    assert opening < 1e-5 * 0.4
    assert np.diff(energy).max() < 1e-6 * 10.0 * G
    assert np.abs(simulation.velocities()).max() < 1e-3


@pytest.mark.parametrize(("side", "frames"), [(12, 36), pytest.param(32, 48, marks=pytest.mark.nightly)])
def test_a_net_of_rapiers_joints_swings_and_stays_closed(side, frames):
    """Balls a metre apart, each tied to the centres of two neighbours, hang by every fourth one of an edge."""
    builder = net_balls(side)
    for row in range(side):
        for place in range(side):
            body = row * side + place
            if row > 0:
                builder.add_joint(Point(), body - side, body, position=(place, row - 1.0, 0.0))
            if place > 0:
                builder.add_joint(Point(), body - 1, body, position=(place - 1.0, row, 0.0))
    _, energy, opening = play(builder, frames)
    assert opening < 1e-5
    # where it is tight its joints' give holds an energy that is not counted
    assert np.diff(energy).max() < 1e-3 * side * side * G
    assert energy.max() < 1e-6 * side * side * G


def test_a_net_that_is_tied_half_way_stays_closed():
    """Joints between the balls: fixed balls do not turn, so the net can hardly fold, and forces are of 1e8 N."""
    builder, side = net_balls(8), 8
    for row in range(side):
        for place in range(side):
            body = row * side + place
            if row > 0:
                builder.add_joint(Point(), body - side, body, position=(place, row - 0.5, 0.0))
            if place > 0:
                builder.add_joint(Point(), body - 1, body, position=(place - 0.5, row, 0.0))
    _, energy, opening = play(builder, 36)
    assert opening < 1e-5
    assert np.diff(energy).max() < 1e-3 * side * side * G
    assert energy.max() < 1e-4 * side * side * G


def test_a_chain_under_a_ball_of_585_times_its_links_stays_closed():
    """Sixteen capsules of 20 cm and the ball, let go level for three seconds."""
    builder, length, load = ModelBuilder(), 0.2, 585.0
    across = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)
    for place in range(16):
        builder.add_body(shape=Capsule(0.05, 0.05), position=((place + 0.5) * length, 0.0, 0.0), orientation=across)
    builder.add_body(shape=Sphere(0.5), mass=load, position=(16 * length + 0.5, 0.0, 0.0))
    for place in range(17):
        ends = (place,) if place == 0 else (place - 1, place)
        builder.add_joint(Point(), *ends, position=(place * length, 0.0, 0.0))
    _, energy, opening = play(builder, 72)
    assert opening < 1e-5 * length
    assert np.diff(energy).max() < 2e-6 * load * G * 16 * length


def test_gears_and_a_rack_run_freely_and_keep_their_ratio():
    """A spun wheel drives a larger one, and that a rack: their speeds stay in ratio, and all of the energy stays."""
    builder, ratio, radius = ModelBuilder(gravity=(0.0, 0.0, 0.0)), 3.0, 0.6
    wheels = [
        builder.add_body(shape=Box((0.2, 0.2, 0.1)), mass=1.0, angular_velocity=(0.0, 0.0, 6.0)),
        builder.add_body(shape=Box((0.6, 0.6, 0.1)), mass=4.0, position=(0.8, 0.0, 0.0), angular_velocity=(0, 0, -2.0)),
    ]
    rack = builder.add_body(
        shape=Box((2.0, 0.1, 0.1)), mass=2.0, position=(0.8, -0.8, 0.0), linear_velocity=(-2.0 * radius, 0.0, 0.0)
    )
    for wheel, place in zip(wheels, (0.0, 0.8), strict=True):
        builder.add_joint(Hinge(), wheel, position=(place, 0.0, 0.0))
    builder.add_joint(Slider(), rack, position=(0.8, -0.8, 0.0))
    builder.add_joint(Gear(ratio=ratio), *wheels, position=(0.0, 0.0, 0.0))
    builder.add_joint(RackAndPinion(radius=radius), wheels[1], rack, position=(0.8, -0.6, 0.0))
    simulation, energy, opening = play(builder, 24)
    velocity = simulation.velocities()
    assert velocity[0, 5] == pytest.approx(6.0, rel=1e-9)
    assert velocity[1, 5] == pytest.approx(-2.0, rel=1e-9)
    assert velocity[2, 0] == pytest.approx(-2.0 * radius, rel=1e-9)
    assert energy == pytest.approx(energy[0], rel=1e-9)
    assert opening < 1e-9
