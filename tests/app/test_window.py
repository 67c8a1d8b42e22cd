"""What an animator sees and presses: the panel in the sidebar and the bake by timer, in a window on an X screen."""

import os
import re
import shutil

import pytest

pytestmark = pytest.mark.skipif(not os.environ.get("DISPLAY"), reason="there is no X screen: DISPLAY is not set")


def test_panel_is_in_the_sidebar(blender, scene, tmp_path):
    """Take the picture that the user guide shows; set CAIRN_PICTURES to a folder to keep it."""
    picture = tmp_path / "panel.png"
    shown = blender.script("show_panel.py", picture, blend=scene, window=True)
    # Blender takes a tab's name only where a panel of that tab was drawn
    assert shown["tab"] == "Cairn"
    # text has soft edges; a window that was not drawn has one colour
    assert shown["colours"] > 100
    if folder := os.environ.get("CAIRN_PICTURES"):
        shutil.copy(picture, folder)


def test_escape_ends_compiling_at_once(bare_blender, scene):
    """While processes of its own compile, the window lives on; ESC ends them and the bake, and nothing has changed."""
    seen = bare_blender.script("stop_in_window.py", blend=scene, window=True, window_words=["--enable-event-simulate"])
    assert re.fullmatch(r"Preparing the solver, first time only, about .+ \(\d:\d\d\)", seen["text"])
    assert seen["hint"] == "ESC stops"
    assert seen["ticks"] >= 10
    assert seen["at_work"] >= 1
    assert seen["left_at_work"] == 0
    assert seen["seconds_to_end"] < 2.0
    assert not seen["baked"]


def test_bake_in_the_window_is_one_step_of_undo(blender, scene, tmp_path):
    """Bake by the operator's timer: keys and summary are there; Undo, Redo and Delete Bake agree with the panel."""
    picture = tmp_path / "baked.png"
    seen = blender.script("bake_in_window.py", picture, blend=scene, window=True)
    assert seen["started"] == ["RUNNING_MODAL"]
    assert seen["before"] == {"baked": False, "world": True, "action": "", "frame": 1}
    assert seen["after"] == {"baked": True, "world": False, "action": "Upper Cairn", "frame": 1}
    assert seen["undone"] == seen["before"]
    assert seen["redone"] == seen["after"]
    assert seen["deleted"] == seen["before"]
    assert seen["summary"].startswith("Baked 48 frames in ")
    assert abs(seen["height"] - 1.5) < 1e-3  # on the lower box, which lies on the floor
    if folder := os.environ.get("CAIRN_PICTURES"):
        shutil.copy(picture, folder)
