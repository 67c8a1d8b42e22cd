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


def test_escape_ends_compiling_at_once(blender, scene):
    """While processes of its own compile, the window lives on; ESC ends them and the bake, and nothing has changed."""
    seen = blender.script("stop_in_window.py", blend=scene, window=True, window_words=["--enable-event-simulate"])
    assert re.fullmatch(r"Compiling \(once\), \d+ of \d+", seen["text"])
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


def test_the_loop_of_an_animator(blender, scene, tmp_path):
    """Bake, move, duplicate, look, bake again, undo, delete: nothing that the user has done is lost."""
    seen = blender.script("loop_in_window.py", tmp_path, blend=scene, window=True)
    start, moved, beside = [0.0, 0.0, 2.1], [0.75, 0.0, 2.1], [0.75, 3.0, 2.1]
    assert seen["baked"]["outdated"] == ""
    assert seen["baked"]["upper"] == start
    assert seen["moved"]["outdated"] == "Out of date: start pose of Upper"
    for name in ("duplicated", "looked"):  # a look at another frame lies between them
        assert (seen[name]["upper"], seen[name]["copy"]) == (moved, beside)
        assert not seen[name]["copy_is_baked"]
        assert seen[name]["outdated"] == "Out of date: start pose of Upper, 1 new body"
    assert seen["again"]["outdated"] == ""
    assert seen["again"]["copy_is_baked"]
    assert seen["changed"]["outdated"] == "Out of date: friction of Lower"
    assert any("force fields" in text for text in seen["changed"]["warnings"])
    for name in ("again", "third", "undone", "deleted"):
        assert (seen[name]["upper"], seen[name]["copy"]) == (moved, beside), name
    assert seen["undone"]["outdated"] == "Out of date: friction of Lower"
    assert seen["deleted"]["outdated"] == ""
    assert (seen["undone"]["baked"], seen["deleted"]["baked"]) == (True, False)
    if folder := os.environ.get("CAIRN_PICTURES"):
        shutil.copytree(tmp_path, os.path.join(folder, "loop"), dirs_exist_ok=True)
