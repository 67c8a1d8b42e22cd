"""A body that is dragged in *Live*, and the timeline that is moved while a bake runs, in a window on an X screen.

To draw the guide's film anew::

    CAIRN_BLENDER=blender CAIRN_PICTURES=docs/guide pytest --nightly tests/app/test_drag_in_blender.py
"""

import os
import shutil
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not os.environ.get("DISPLAY"), reason="there is no X screen: DISPLAY is not set"),
]
ROOT = Path(__file__).resolve().parents[2]
WORDS = ("--enable-event-simulate",)


def test_a_box_is_dragged_by_the_mouse(blender, tmp_path):
    """A click still selects; letting go keeps what it did, ESC takes it back; Keep writes what was seen."""
    seen = blender.script("drag_in_window.py", tmp_path, window=True, window_words=WORDS)
    assert (seen["keys_before"], seen["keys"] > 0, seen["keys_after"]) == (0, True, 0)
    assert (seen["clicked"]["held"], seen["clicked"]["frames"]) == (False, 0)
    assert seen["clicked"]["selected"] == ["Box.024"]
    assert seen["dragged"]["held"]
    assert seen["dragged"]["frames"] > 3
    # the mouse went up and to the right
    assert seen["dragged"]["place"][2] > seen["before"]["place"][2] + 0.5
    assert not seen["let_go"]["held"]
    assert seen["after_drag"] != seen["undragged"]
    assert seen["dragged_again"]["held"]
    assert not seen["taken_back"]["held"]
    assert seen["taken_back"]["frames"] == seen["let_go"]["frames"]
    assert seen["after_taking_back"] == seen["after_drag"]
    assert seen["kept"]
    assert seen["kept_differs_by"] < 1e-6  # keys are single precision
    assert seen["pictures"] > 0.0
    if folder := os.environ.get("CAIRN_PICTURES"):
        shutil.copy(tmp_path / "live-drag.webp", ROOT / folder)


def test_the_timeline_is_moved_while_a_bake_runs(blender, tmp_path):
    """The view shows the poses of its frame, or the newest ones beyond them; no key of Blender's does anything else."""
    seen = blender.script("scrub_in_window.py", tmp_path, window=True, window_words=WORDS)
    frame, shown, _, newest, _ = seen["newest"]
    assert (frame, shown) == (1, newest)
    frame, shown, drawn, newest, text = seen["clicked"]
    assert abs(frame - 20) <= 4
    assert (shown, drawn, newest > 40) == (frame, frame, True)
    assert text.startswith(f"Frame {frame}; newest: frame ")
    assert seen["arrow"][:3] == [frame + 1] * 3
    beyond, shown, _, newest, text = seen["beyond"]
    assert abs(beyond - 1900) <= 20
    assert (shown, text.startswith("Newest: frame ")) == (newest, True)
    assert seen["end"] == [True, True, beyond]
