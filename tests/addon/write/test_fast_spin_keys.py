"""Spin above half a turn a frame: keys turn the way that the body does, also between frames."""

import math

import bpy
import numpy as np
import pytest
from joint_scenes import joint
from mathutils import Matrix, Quaternion
from tumbling import Tumble, add_body, add_empty, curves, new_scene, proper

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.write import spin

MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX")
FRAMES = 12


def shown(obj, frame):
    """World rotation at a frame with a fraction."""
    bpy.context.scene.frame_set(math.floor(frame), subframe=frame % 1.0)
    return proper(obj.evaluated_get(bpy.context.view_layer.depsgraph).matrix_world).to_quaternion()


def spun(scene, speed, mode, parent=None):
    """A body that a made-up simulation turns by ``speed`` [rad] a frame, and its axis."""
    obj = add_body(scene, mode=mode)
    obj.parent = parent
    tumble = Tumble(scene, FRAMES, speed=speed)
    axis = np.random.default_rng(1).normal(size=(1, 3))[0]
    axis /= np.linalg.norm(axis)
    velocity = np.zeros((1, 6))
    velocity[0, 3:] = 24 * speed * axis
    turns = {frame: spin.fast_turns(velocity, velocity, 1 / 24) for frame in range(1, FRAMES + 1)}
    tumble.write(scene, turns=turns)
    return obj, tumble, axis


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("degrees", [200, 270, 360, 540, 630, 720, -270])
def test_between_frames_it_turns_as_the_body_does(mode, degrees):
    """About any axis: the pose at any time is that of a steady turn."""
    scene, speed = new_scene(), math.radians(degrees)
    obj, tumble, axis = spun(scene, speed, mode)
    start = Quaternion(tumble.trajectory.orientation[0][0])
    for frame in (3.0, 3.25, 3.5, 3.9, 7.5):
        expected = Quaternion(axis, speed * (frame - 1)) @ start
        off = shown(obj, frame).rotation_difference(expected).angle
        # whole frames to single precision; between keys lines stand for turns of at most 30 degrees, which are most off
        # near the lock of Euler angles
        between = {"QUATERNION": 0.01, "AXIS_ANGLE": 0.05}.get(mode, 0.12)
        assert min(off, 2 * math.pi - off) < (1e-4 if frame == round(frame) else between), frame


@pytest.mark.parametrize("mode", MODES)
def test_slow_turns_get_no_keys_in_between(mode):
    obj, _, _ = spun(new_scene(), math.radians(100), mode)
    for curve in curves(obj).values():
        times = [point.co[0] for point in curve.keyframe_points]
        assert times == [round(time) for time in times]


def test_angles_about_an_axis_of_the_channels_count_on():
    """270 degrees a frame about z: one key a frame, each 270 degrees on."""
    at, rotation = spin.spread(
        np.array([np.array(Matrix.Rotation(math.radians(270 * i), 3, "Z")) for i in range(5)]),
        {i: np.array([0.0, 0.0, math.radians(265)]) for i in range(1, 5)},
    )
    from cairn.addon.write.channels import rotation_channels

    values = rotation_channels(rotation[None], "XYZ", np.zeros((1, 3)), np.array([0]))[0]
    keep = spin.needed(at, values)
    assert at[keep].tolist() == [0, 1, 2, 3, 4]
    assert np.degrees(values[keep][:, 2]) == pytest.approx([0, 270, 540, 810, 1080])


def test_a_parent_turns_the_axis():
    """Turned and scaled by its parent, the same turns are seen in the world."""
    scene, speed = new_scene(), math.radians(270)
    parent = add_empty(scene, rotation_euler=(1.0, 0.5, -0.7), scale=(2, 2, 2), location=(1, 2, 3))
    obj, tumble, axis = spun(scene, speed, "QUATERNION", parent)
    start = Quaternion(tumble.trajectory.orientation[0][0])
    off = shown(obj, 4.5).rotation_difference(Quaternion(axis, 3.5 * speed) @ start).angle
    assert min(off, 2 * math.pi - off) < 0.12


@pytest.mark.parametrize("whole_turns", [-2, -1, 0, 1, 3])
def test_what_the_velocities_say_but_roughly_ends_at_the_pose(whole_turns):
    """A turn that is guessed a tenth of a turn off, about another axis: the way begins and ends at the two poses."""
    angle = math.radians(30 + 360 * whole_turns)
    after = np.array(Matrix.Rotation(angle, 3, "X"))
    shares = np.array([0.0, 0.5, 1.0])
    rough = spin.between(np.eye(3), after, np.array([angle + 0.4, 0.2, -0.1]), shares)
    assert rough[[0, 2]] == pytest.approx(np.array([np.eye(3), after]), abs=1e-6)
    exact = spin.between(np.eye(3), after, np.array([angle + 0.4, 0.0, 0.0]), shares)
    assert exact[1] == pytest.approx(np.array(Matrix.Rotation(angle / 2, 3, "X")), abs=1e-6)


@pytest.mark.parametrize(("turns", "noted"), [(0.7, False), (30, True)])
def test_a_motor_of_a_bake(maker, turns, noted):
    """A wheel on a motor, without gravity: its angle counts on by so many turns a frame; what cannot is said."""
    cairn.register()
    maker.scene.gravity = (0, 0, 0)
    free = {"linear_damping": 0.0, "angular_damping": 0.0}
    wheel = maker.body("Wheel", shape="BOX", location=(0, 0, 2), settings=free)
    speed = 24 * 2 * math.pi * turns
    values = {"use_motor_ang": True, "motor_ang_target_velocity": speed, "motor_ang_max_impulse": 1e6}
    joint(maker, "Motor", None, wheel, kind="MOTOR", location=(0, 0, 2), **values)
    result = bake_scene(maker.scene, BakeSettings(start=1, end=12))
    assert any(note["text"] == spin.TOO_FAST for note in result.report["notes"]) == noted
    angles = []
    for frame in (8, 9):
        maker.scene.frame_set(frame)
        angles.append(wheel.rotation_euler.x)
    if not noted:
        assert abs(angles[1] - angles[0]) == pytest.approx(2 * math.pi * turns, rel=1e-3)
