"""Servos of joints: as fast as their force allows, and never beyond where they are aimed at."""

import math

import numpy as np
import pytest

from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.joints.axis import Axis, Motor
from cairn.solver_core.model.joints.hinge import Hinge
from cairn.solver_core.model.joints.slider import Slider
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.simulation import Simulation

G = 9.81
LENGTH, MASS = 1.0, 2.0
ROD = Box((0.5 * LENGTH, 0.05, 0.05))
# About its end, across its length.
INERTIA = MASS * (LENGTH**2 / 3.0 + 0.1**2 / 12.0)
# The joint's z axis against y of the world: a positive angle lifts what lies along x.
UPWARDS = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)


def arm(torque, position=0.0, gravity=0.0, substeps=4, orientation=(1.0, 0.0, 0.0, 0.0)):
    """A rod along x on a servo hinge at its end, whose first body is a fixed one: angles are those of the rod."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -gravity))
    builder.add_body(shape=ROD, mass=MASS, position=(0.5 * LENGTH, 0.0, 0.0))
    # at the world's end body a is the rod, so the coordinate counts backwards
    motor = Motor(position=-position, largest=torque)
    builder.add_joint(Hinge(Axis(motor=motor)), 0, position=(0.0, 0.0, 0.0), orientation=orientation)
    return Simulation(builder.build(), SimulationOptions(sleeping=False, substeps=substeps))


def aimed(position):
    """The input of a frame."""
    keyed = np.full((1, 6), np.nan)
    keyed[0, 5] = -position
    return FrameInput(motor_position=keyed)


def angle_of(simulation, axis=3):
    turn = simulation.poses()[1][0]
    return 2.0 * math.atan2(turn[axis], turn[0])


@pytest.mark.parametrize("substeps", [1, 2, 4, 16])
def test_a_servo_is_there_after_the_shortest_time_and_not_beyond(substeps):
    """Half of the way it accelerates by its torque, half it brakes: 2 sqrt(angle I / torque) in all."""
    target, torque = 2.0, 3.0
    shortest = 2.0 * math.sqrt(target * INERTIA / torque)
    simulation = arm(torque, target, substeps=substeps)
    angles, speeds = [], []
    for _ in range(60):
        simulation.advance_frame()
        angles.append(angle_of(simulation))
        speeds.append(simulation.velocities()[0, 5])
    late = math.ceil(24.0 * shortest) + 1
    # the middle of the rod goes along chords of its circle: the shares of a turn squared
    beyond = 4e-4 / substeps**2
    assert max(angles) < target + beyond
    assert min(speeds) > -24.0 * substeps * beyond
    assert np.array(angles[late:]) == pytest.approx(target, abs=1e-6)
    assert np.array(speeds[late:]) == pytest.approx(0.0, abs=1e-6)
    half = math.floor(12.0 * shortest) - 1
    assert angles[half] == pytest.approx(0.5 * torque / INERTIA * ((half + 1) / 24.0) ** 2, rel=0.02)


def test_a_frame_in_steps_is_the_same_frame():
    """A servo aims at the frame's end also where the caller comes back after each substep."""
    whole, stepwise = arm(math.inf), arm(math.inf)
    for frame in range(8):
        stepwise._seconds = math.inf  # of a frame that takes long
        assert len(list(stepwise.frame_steps(aimed(0.1 * frame)))) == 3
        whole.advance_frame(aimed(0.1 * frame))
        assert whole.digest() == stepwise.digest()


def test_a_servo_with_force_to_spare_takes_the_frame():
    """It is there, at rest, at its end, and stays."""
    simulation = arm(math.inf)
    simulation.advance_frame()
    simulation.advance_frame(aimed(0.3))
    assert angle_of(simulation) == pytest.approx(0.3, abs=1e-9)
    assert simulation.velocities()[0, 5] == pytest.approx(0.0, abs=1e-9)


def test_a_servo_follows_keys_that_go_on():
    """At each frame's end it is where the keys are, at their speed; where they stop it is beyond for a substep."""
    simulation, step, found = arm(1e4), 0.05, []
    places = [0.0, *(step * np.arange(11)), *[10.0 * step] * 4]
    for place in places:
        simulation.advance_frame(aimed(place))
        found.append(angle_of(simulation) - place)
        if 3 * step < place < 9 * step:
            assert simulation.velocities()[0, 5] == pytest.approx(24.0 * step, abs=1e-6)
    assert np.array(found) == pytest.approx(0.0, abs=1e-6)
    assert simulation.velocities()[0, 5] == pytest.approx(0.0, abs=1e-6)


def test_a_servo_that_lowers_an_arm_brakes_in_time():
    """Its weight takes half of the torque at level, where it is to stop."""
    weight = 0.5 * MASS * G * LENGTH
    simulation = arm(2.0 * weight, 0.0, gravity=G, orientation=UPWARDS)
    angles = []
    for place in [*([1.2] * 30), *([0.0] * 40)]:
        simulation.advance_frame(aimed(place))
        angles.append(angle_of(simulation, axis=2) * -1.0)
    assert angles[29] == pytest.approx(1.2, abs=1e-6)
    assert max(angles) < 1.2 + 1e-3
    assert min(angles) > -1e-2
    assert angles[-1] == pytest.approx(0.0, abs=1e-6)


def test_a_servo_of_a_slider_lifts_what_it_can_and_stops():
    """It accelerates by force / m - g and brakes by force / m at most: with the weight's help it counts not."""
    force, way = 30.0, 1.5
    builder = ModelBuilder()
    builder.add_body(shape=Box((0.5, 0.5, 0.1)), kind=BodyKind.STATIC, position=(0.0, 0.0, -0.5))
    builder.add_body(shape=Box((0.1, 0.1, 0.1)), mass=MASS)
    motor = Motor(position=way, largest=force)
    upright = (math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0)
    builder.add_joint(Slider(Axis(motor=motor)), 0, 1, position=(0.0, 0.0, 0.0), orientation=upright)
    simulation = Simulation(builder.build(), SimulationOptions(sleeping=False))
    up, down = force / MASS - G, force / MASS
    shortest = math.sqrt(2.0 * way * (1.0 / up + 1.0 / down))
    heights = []
    for _ in range(48):
        simulation.advance_frame()
        heights.append(simulation.poses()[0][1, 2])
    assert max(heights) < way + 1e-6
    assert np.array(heights[math.ceil(24.0 * shortest) + 1 :]) == pytest.approx(way, abs=1e-6)
    assert heights[math.floor(24.0 * shortest) - 2] < way - 1e-3
