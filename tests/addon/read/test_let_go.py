"""The velocity with which a body is let go by *Animated*: of closed forms, however they were keyed."""

import math

import numpy as np
import pytest

from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.let_go import note_let_go
from cairn.addon.read.scene_export import export_scene

RATE = 24


def curves(ob):
    animation = ob.animation_data
    for layer in animation.action.layers:
        for strip in layer.strips:
            yield from strip.channelbag(animation.action_slot).fcurves


def let_go(maker, name, frame):
    """Velocity of the body that is let go after ``frame`` [m/s, rad/s]."""
    export = export_scene(maker.scene)
    with simulation_paused(maker.scene):
        before = sample_frame(maker.scene, export, frame)
        note_let_go(maker.scene, export, before, sample_frame(maker.scene, export, frame + 1))
    return before.let_go[export.model.names.index(name)] * RATE


def thrown(maker, keys, path="location", last=13, interpolation="LINEAR"):
    ob = maker.body("Ball")
    maker.key(ob, path, keys)
    maker.key(ob, "rigid_body.kinematic", {1: True, last: True, last + 1: False})
    for curve in curves(ob):
        if curve.data_path == path:
            for point in curve.keyframe_points:
                point.interpolation = interpolation
    return ob


def arc(frame):
    """Place and velocity of a throw along an arc that speeds up."""
    time = (frame - 1) / RATE
    return (
        (2.0 * math.sin(3.0 * time**2), 0.5 * time, 2.0 - 2.0 * math.cos(3.0 * time**2)),
        (12.0 * time * math.cos(3.0 * time**2), 0.5, 12.0 * time * math.sin(3.0 * time**2)),
    )


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER"])
@pytest.mark.parametrize("further", [0, 6], ids=["keyed to the end", "keyed beyond it"])
def test_an_arc_keyed_at_each_frame(maker, interpolation, further):
    """Whatever Blender does between the keys, and whether these go on."""
    thrown(maker, {frame: arc(frame)[0] for frame in range(1, 14 + further)}, interpolation=interpolation)
    assert let_go(maker, "Ball", 13)[:3] == pytest.approx(arc(13)[1], rel=1e-3)


def test_two_linear_keys_of_which_the_first_is_three_frames_ago(maker):
    """The frames before were at rest, and say nothing."""
    thrown(maker, {1: (0, 0, 0), 10: (0, 0, 0), 13: (1.5, 0, 0.75)})
    assert let_go(maker, "Ball", 13)[:3] == pytest.approx((12.0, 0.0, 6.0), rel=1e-4)


def test_two_keys_that_are_eased_end_at_rest(maker):
    thrown(maker, {1: (0, 0, 0), 13: (3, 0, 0)}, interpolation="BEZIER")
    assert np.abs(let_go(maker, "Ball", 13)).max() < 1e-3


def test_eased_keys_that_are_let_go_on_the_way(maker):
    """3 s^2 - 2 s^3 of 3 m in 24 frames, at the middle: 1.5 times the mean speed."""
    thrown(maker, {1: (0, 0, 0), 25: (3, 0, 0)}, interpolation="BEZIER")
    assert let_go(maker, "Ball", 13)[:3] == pytest.approx((4.5, 0.0, 0.0), rel=1e-3)


@pytest.mark.parametrize("turns", [0.5, 3.0, 7.0], ids=lambda turns: f"{turns} turns a second")
def test_on_the_end_of_an_arm_that_turns(maker, turns):
    """A child 2 m off the axis of an empty: turn rate and speed, also where frames are too far apart to tell."""
    arm = maker.object("Arm")
    speed = 2.0 * math.pi * turns
    maker.key(arm, "rotation_euler", {1: (0, 0, 0), 25: (0, 0, speed)})
    for curve in curves(arm):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    ball = maker.body("Ball", location=(2, 0, 0))
    ball.parent = arm
    maker.key(ball, "rigid_body.kinematic", {1: True, 13: True, 14: False})
    velocity, angle = let_go(maker, "Ball", 13), 0.5 * speed
    assert velocity[3:] == pytest.approx((0, 0, speed), rel=1e-3, abs=1e-3 * speed)
    wanted = 2.0 * speed * np.array([-math.sin(angle), math.cos(angle), 0.0])
    assert velocity[:3] == pytest.approx(wanted, abs=1e-3 * 2.0 * speed)
