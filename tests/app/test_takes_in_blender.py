"""Takes, Show and ghosts in a window on an X screen; it makes the pictures of the guide, too.

To draw them anew::

    CAIRN_BLENDER=blender CAIRN_PICTURES=docs/guide pytest --nightly tests/app/test_takes_in_blender.py
"""

import os
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guide" / "takes.md"

# What is shown at each step.
SHOWN = {
    "ghost": "CAIRN",
    "bullet": "BULLET",
    "start": "START",
    "cairn": "CAIRN",
    "used": "CAIRN",
    "opened": "BULLET",
    "again": "CAIRN",
    "deleted": "BULLET",
}

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not os.environ.get("DISPLAY"), reason="there is no X screen: DISPLAY is not set"),
]


def test_takes_are_kept_shown_and_drawn_as_ghosts(blender, tmp_path):
    """What each button shows, at the same frame, and that Undo goes back through it."""
    seen = blender.script("takes_in_window.py", tmp_path, window=True)
    names = ["Take 1", "Light ball"]
    assert {name: seen[name]["shown"] for name in SHOWN} == SHOWN
    steps = (*SHOWN, "undone", "twice")
    assert all(seen[name]["takes"] == names for name in steps)
    assert all(seen[name]["frame"] == seen["ghost"]["frame"] for name in steps)
    assert seen["cairn"]["ball"] == seen["again"]["ball"] == seen["ghost"]["ball"]
    places = [tuple(seen[name]["ball"]) for name in ("cairn", "bullet", "start", "used")]
    assert len(set(places)) == len(places)
    assert (seen["ghost"]["ghosts"], seen["cairn"]["ghosts"]) == (1, 1)
    assert seen["undone"] == {**seen["cairn"], "ghosts": seen["undone"]["ghosts"]}
    assert seen["twice"]["shown"] == "START"
    made = {path.name for path in tmp_path.iterdir()}
    shown = set(re.findall(r"!\[[^]]*\]\(([^)]+)\)", PAGE.read_text(encoding="utf-8")))
    assert shown <= made
    if folder := os.environ.get("CAIRN_PICTURES"):
        for name in shown:
            shutil.copy(tmp_path / name, ROOT / folder)
