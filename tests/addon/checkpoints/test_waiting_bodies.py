"""Bodies that wait for an activation, in bakes that go on from a checkpoint or begin anew in the middle."""

import contextlib
import json

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import BakeStopped, bake_frames
from cairn.addon.checkpoints import in_window
from cairn.addon.settings import BakeSettings

FRAMES, GRAVITY = 26, 9.81


@pytest.fixture
def scene(maker, tmp_path):
    """One that a frame lets go and stops, two that a ball may touch, of which it meets one, and two for a volume."""
    cairn.register()
    free = {"linear_damping": 0.0, "angular_damping": 0.0}
    timed = maker.body("Timed", shape="BOX", location=(-5, 0, 9), settings=free)
    timed.cairn.activation, timed.cairn.activation_frame = "FRAME", 6
    timed.cairn.use_deactivation_frame, timed.cairn.deactivation_frame = True, 18
    for name, x in (("Met", 0.0), ("Spared", 3.0)):
        maker.body(name, shape="BOX", location=(x, 0, 9), settings=free).cairn.activation = "TOUCH"
    ball = maker.body("Ball", shape="SPHERE", location=(0, -4, 9.9), settings=free)
    ball.cairn.start_velocity = (0.0, 9.0, 1.0)
    volume = maker.object("Volume", data=maker.mesh())
    maker.key(volume, "location", {1: (10, -3, 9), FRAMES: (10, 2, 9)})
    for name, y in (("Early", -1.0), ("Late", 1.0)):
        body = maker.body(name, shape="SPHERE", location=(10, y, 9), settings=free)
        body.cairn.activation, body.cairn.activation_volume = "VOLUME", volume
    maker.scene.frame_end = maker.world.point_cache.frame_end = FRAMES
    maker.save(tmp_path / "shot.blend")
    return maker.scene


def heights(scene, name):
    found = []
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        found.append(scene.objects[name].matrix_world.translation.z)
    return np.array(found)


def report_of(scene):
    report = json.loads(scene.cairn.report)
    return report["totals"]["digest"], [note for note in report["notes"] if "awake" in note["text"]]


def _stop_at(steps, frame):
    """ESC after a frame."""
    for progress in steps:
        if progress.frame == frame:
            break
    with contextlib.suppress(StopIteration):
        steps.throw(BakeStopped())
    for _ in steps:
        pass


def test_a_bake_that_was_stopped_goes_on_to_the_same_bits(scene):
    """Before and after a body has woken, and before one has been stopped."""
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    whole = report_of(scene)
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    assert {note["object"] for note in whole[1]} == {"Timed", "Met", "Early", "Late"}
    settings = BakeSettings.from_scene(scene)
    for frame in (4, 9, 16):
        _stop_at(bake_frames(scene, settings, in_window.plan_of(scene), keeps_earlier=True), frame)
        assert bpy.ops.cairn.continue_bake() == {"FINISHED"}
        assert report_of(scene) == whole
        assert bpy.ops.cairn.remove_checkpoints() == {"FINISHED"}


def test_a_bake_from_the_middle_knows_who_is_awake(scene):
    """Who has woken by then flies on, who waits waits; later frames wake and stop as before."""
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    before = {name: heights(scene, name) for name in ("Timed", "Met", "Spared", "Early", "Late")}
    assert before["Early"][11] < 9.0
    assert before["Late"][11] == 9.0
    scene.frame_set(12)
    scene.objects["Spared"].rigid_body.friction = 0.01
    assert bpy.ops.cairn.bake_from_current() == {"FINISHED"}
    for name, found in before.items():
        # the volume wakes in another substep at most: it has the frame's pose at the frame where the bake begins
        assert heights(scene, name) == pytest.approx(found, abs=2e-3), name
    fallen = 0.5 * GRAVITY * (np.clip(np.arange(1, FRAMES + 1), 6, 18) - 6) ** 2 / 24.0**2
    assert heights(scene, "Timed") == pytest.approx(9.0 - fallen, abs=1e-3)
