"""A body that its animation lets go leaves with the speed of its keys, also of two at the start; the check says it."""

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings

RATE = 24.0


def thrown(maker, places, off, **values):
    cairn.register()
    free = {"linear_damping": 0.0, "angular_damping": 0.0}
    ball = maker.body("Ball", shape="BOX", settings=free, **values)
    maker.key(ball, "location", places)
    maker.key(ball, "rigid_body.kinematic", {1: True, off: False})
    maker.scene.gravity = (0, 0, 0)
    maker.world.point_cache.frame_end = maker.scene.frame_end = 12
    return ball


def note(scene):
    texts = [note.text for note in export_scene(scene).notes if note.object_name == "Ball"]
    return next(text for text in texts if text.startswith(("leaves", "is let go")))


def places(scene, name="Ball"):
    found = []
    for frame in range(1, 13):
        scene.frame_set(frame)
        found.append(tuple(scene.objects[name].matrix_world.translation))
    return np.array(found)


@pytest.mark.parametrize("off", [2, 3])
def test_two_keys_are_a_speed(maker, off):
    """A quarter of a unit a frame, 6 m/s: let go in the frame after the start, or in the next one."""
    thrown(maker, {1: (0, 0, 5), off: (0.25 * (off - 1), 0, 5)}, off)
    assert note(maker.scene) == f"leaves at 6 m/s in frame {off}"
    bake_scene(maker.scene, BakeSettings())
    assert places(maker.scene)[:, 0] == pytest.approx(0.25 * np.arange(12), abs=1e-4)


def test_a_spin_is_a_speed_too(maker):
    """Ten degrees a frame about an axis through its origin, which is beside its centre of mass."""
    ball = thrown(maker, {1: (0, 0, 5), 2: (0, 0, 5)}, 2)
    maker.key(ball, "rotation_euler", {1: (0, 0, 0), 2: (0, 0, np.radians(10.0))})
    assert note(maker.scene) == "leaves turning at 4.2 rad/s in frame 2"
    bake_scene(maker.scene, BakeSettings())
    maker.scene.frame_set(10)
    assert ball.matrix_world.to_euler().z == pytest.approx(np.radians(90.0), abs=1e-3)


def test_no_speed_is_said(maker):
    """Keys that stand still: the body drops."""
    thrown(maker, {1: (0, 0, 5), 8: (0, 0, 5)}, 4)
    assert note(maker.scene).startswith("is let go in frame 4 without any speed")


def test_what_carries_it_counts(maker):
    """A hand that moves, and a ball that is its child."""
    ball = thrown(maker, {1: (0, 0, 0), 12: (0, 0, 0)}, 2)
    hand = maker.object("Hand", location=(0, 0, 5))
    maker.key(hand, "location", {1: (0, 0, 5), 2: (0, 0.5, 5), 12: (0, 0.5, 5)})
    ball.parent = hand
    assert note(maker.scene) == "leaves at 12 m/s in frame 2"
    bake_scene(maker.scene, BakeSettings())
    assert places(maker.scene)[:, 1] == pytest.approx(0.5 * np.arange(12), abs=1e-3)
    assert bpy.context.scene == maker.scene
