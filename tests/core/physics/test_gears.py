"""The gear train: wheels that turn each other by their teeth alone, on pins that hold them by contact alone."""

import functools
import math

import numpy as np
import pytest

from cairn.solver_core.diagnostics import deepest_overlap
from cairn.solver_core.geometry import rotations
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.scenes import SCENES
from cairn.solver_core.scenes.gears import ADDENDUM, DEDENDUM, END_PLAY, HOLE_RADIUS, MODULE, PIN_RADIUS, gear_shape
from cairn.solver_core.simulation import Simulation

TEETH = np.array([12, 20, 14, 24])
RATIO = TEETH[0] / TEETH * [1.0, -1.0, 1.0, -1.0]
TURN = 72  # frames of a turn of the first wheel
START_UP = 24
AXIS = np.array([0.0, -1.0, 0.0])  # of all wheels, towards the viewer
TOOTH = (ADDENDUM + DEDENDUM) * MODULE


def train():
    """The scene, its model, and which bodies are wheels."""
    scene = SCENES["gears"]()
    wheels = [row for row, body in enumerate(scene.bodies) if body.name.startswith("Gear")]
    return scene, scene.build_model(), wheels


@functools.cache
def played():
    """Poses of the wheels at each frame, [frame, wheel, 3] and [frame, wheel, 4], and the frames' reports."""
    scene, model, wheels = train()
    simulation = Simulation(model, SimulationOptions())
    poses, reports = [simulation.poses()], []
    for _ in range(scene.frame_count):
        reports.append(simulation.advance_frame())
        poses.append(simulation.poses())
    position, orientation = (np.array(of_all)[:, wheels] for of_all in zip(*poses, strict=True))
    return position, orientation, reports


def turned(model, wheels, angles):
    """The deepest overlap of wheels that are turned by so much, in the middle of their holes."""
    position, orientation = model.user_poses(model.initial_state.position, model.initial_state.orientation)
    for row, angle in zip(wheels, angles, strict=True):
        orientation[row] = rotations.multiply(rotations.from_rotation_vector(angle * AXIS), orientation[row])
    return deepest_overlap(model, position, orientation)


def test_teeth_pass_each_other_with_play():
    """Turned at the ratios of their teeth, wheels never overlap; turned by more than their play they do."""
    _, model, wheels = train()
    for angle in np.linspace(0.0, 2.0 * math.pi, 61):
        assert turned(model, wheels, angle * RATIO) == 0.0
    # the first two wheels have 0.1 modules to either side, at the pitch circle
    play = 0.1 * MODULE / (0.5 * MODULE * TEETH[0])
    for side in (-1.0, 1.0):
        assert turned(model, wheels, [0.9 * side * play, 0.0, 0.0, 0.0]) == 0.0
        assert turned(model, wheels, [1.2 * side * play, 0.0, 0.0, 0.0]) > 0.0


@pytest.mark.parametrize("count", TEETH)
def test_a_wheel_is_balanced_and_as_large_as_its_teeth_say(count):
    """Its centre is in the hole's middle, its volume between those of the root and tip discs; the hole is free."""
    shape = gear_shape(count)
    properties = shape.mass_properties()
    assert properties.center == pytest.approx(np.zeros(3), abs=1e-12)
    tip, root = (MODULE * (0.5 * count + step) for step in (ADDENDUM, -DEDENDUM))
    assert 0.5 * shape.size <= tip
    area = properties.volume / 0.2
    assert 0.9 * math.pi * (root**2 - HOLE_RADIUS**2) < area < math.pi * (tip**2 - HOLE_RADIUS**2)
    corners = np.concatenate([part.vertices for part in shape.parts])
    assert np.linalg.norm(corners[:, :2], axis=1).min() * math.cos(math.pi / count) == pytest.approx(HOLE_RADIUS)


def test_wheels_turn_as_their_teeth_count():
    """After the start-up, over whole turns of the first wheel: omega_1 z_1 / z_k, every other one backwards.

    A free wheel may be anywhere in its play, the last one in that of three meshings: 0.6 modules of 12 pi a turn,
    1.6 %. So one turn is not enough to tell.
    """
    _, orientation, _ = played()
    steps = rotations.multiply(orientation[1:], rotations.conjugate(orientation[:-1]))
    angles = np.cumsum(rotations.to_rotation_vector(steps.reshape(-1, 4)).reshape(*steps.shape[:2], 3) @ AXIS, axis=0)
    assert len(angles) == START_UP + 3 * TURN
    for first, turns in ((0, 2), (1, 2), (0, 3)):
        start = START_UP + first * TURN
        gone = angles[start + turns * TURN - 1] - angles[start - 1]
        assert gone == pytest.approx(2.0 * math.pi * turns * RATIO, rel=0.01)


def test_no_wheel_leaves_its_pin():
    """Each stays within the play of its hole and between its collars, upright, and the first one in its place."""
    position, orientation, _ = played()
    way = np.abs(position - position[0])
    play = (HOLE_RADIUS - PIN_RADIUS) / math.cos(math.pi / TEETH.min())
    # A hole that leans with its wheel has its middle off by no more than the play at its ends.
    assert np.linalg.norm(way[:, :, [0, 2]], axis=2).max() <= play + 0.01 * TOOTH
    assert way[:, :, 1].max() <= END_PLAY + 0.01 * TOOTH
    assert way[:, 0].max() <= 1e-12
    axes = rotations.rotate(orientation, np.array([0.0, 0.0, 1.0]))
    assert np.arccos(np.clip(axes @ AXIS, -1.0, 1.0)).max() <= 2.0 * play / 0.2


def test_teeth_do_not_sink_in():
    """No substep starts with an overlap above a hundredth of a tooth, and no solve ends far from its answer."""
    _, _, reports = played()
    assert max(report.max_penetration for report in reports) <= 0.01 * TOOTH
    assert max(report.residual for report in reports) <= 0.01
