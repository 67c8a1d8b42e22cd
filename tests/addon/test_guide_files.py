"""The files of docs/guide/how-do-i.md do what the page says of them."""

from pathlib import Path

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.settings import BakeSettings

FILES = Path(__file__).resolve().parents[2] / "docs" / "files"
FRAME_RATE = 24.0


@pytest.fixture
def baked():
    """Bake a file; returns its result and the paths of its bodies [frames, 3], from frame 1 on."""
    cairn.register()

    def bake(name, end):
        bpy.ops.wm.open_mainfile(filepath=str(FILES / f"{name}.blend"))
        scene = bpy.context.scene
        result = bake_scene(scene, BakeSettings(start=1, end=end))
        names = result.export.model.names
        return result, {name: result.trajectory.position[:, index] for index, name in enumerate(names)}

    return bake


def test_what_begins_with_a_velocity_flies_on_with_it(baked):
    """The ball in an arc whose first frame is as its panel says; bricks up, each by up to 30 % differently."""
    _, paths = baked("begin", 8)
    ball, seconds = paths["Ball"], 1 / FRAME_RATE
    damping = 0.96  # Blender's default damping takes 4 % a second
    assert (ball[1] - ball[0])[[0, 1]] / seconds == pytest.approx([5.0, 0.0], rel=1.0 - damping, abs=1e-9)
    # over six frames it has fallen by half of g times their time squared, from a line
    assert ball[6, 2] - ball[0, 2] == pytest.approx(4.0 * 0.25 - 0.5 * 9.81 * 0.25**2, abs=0.04)
    first = np.array([(path[1] - path[0]) / seconds for name, path in paths.items() if name.startswith("Brick")])
    assert len(first) == 6
    assert np.all(np.linalg.norm(first - [0.0, 0.0, 5.0], axis=1) < 0.3 * 5.0 + 0.5)
    assert np.ptp(first, axis=0).min() > 0.1  # they differ along all axes


def test_what_is_thrown_leaves_with_the_speed_of_its_keys(baked):
    """1 m in four frames are 6 m/s; then it flies on, and falls freely from frame 5."""
    _, paths = baked("throw", 16)
    ball, seconds = paths["Ball"], 4 / FRAME_RATE
    assert ball[4] == pytest.approx([0, 0, 1], abs=1e-6)
    damping = 0.96  # Blender's default damping takes 4 % a second
    assert (ball[8, 0] - ball[4, 0]) / seconds == pytest.approx(6.0, rel=1.0 - damping)
    assert ball[8, 2] == pytest.approx(1.0 - 0.5 * 9.81 * seconds**2, abs=0.02)


def test_slow_motion_shows_the_same_motion_in_four_times_as_many_frames(baked):
    _, fast = baked("throw", 12)
    _, slow = baked("slow", 45)
    assert slow["Ball"][::4] == pytest.approx(fast["Ball"], abs=0.05)


def test_what_is_held_waits_until_it_is_touched(baked):
    """The ball hits the first of three boxes, which falls; those that nothing touches hang in the air."""
    _, paths = baked("hold", 40)
    assert np.abs(paths["Box.0"][:6] - paths["Box.0"][0]).max() < 1e-6
    assert paths["Box.0"][-1, 2] < 1.0
    assert np.abs(paths["Box.2"] - paths["Box.2"][0]).max() < 1e-6


def test_a_glued_wall_stands_and_breaks_where_it_is_hit(baked):
    result, paths = baked("glued", 30)
    standing = np.abs(paths["Brick.12"][:6] - paths["Brick.12"][0]).max()
    assert standing < 1e-3
    assert np.abs(paths["Brick.12"][-1] - paths["Brick.12"][0]).max() > 0.5
    broken = result.report["breaks"]
    assert 0 < len(broken) < len(result.report["joints"])
    assert min(entry["frame"] for entry in broken) > 5
