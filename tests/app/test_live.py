"""*Live* of 300 bodies in a window on an X screen; makes the picture of the guide, too.

To draw it anew::

    CAIRN_BLENDER=blender CAIRN_PICTURES=docs/guide pytest --nightly tests/app/test_live.py
"""

import os
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guide" / "live.md"

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not os.environ.get("DISPLAY"), reason="there is no X screen: DISPLAY is not set"),
]


def test_live_of_300_bodies(blender, tmp_path):
    """It plays, begins again where a change is felt, survives Undo, leaves nothing, and keeps what a bake gives."""
    seen = blender.script("live_in_window.py", tmp_path, window=True, window_words=("--enable-event-simulate",))
    nothing, all_of_it = [0, 0, False], [4, 1, True]
    assert seen["handlers_before"] == nothing
    assert seen["handlers_on"] == all_of_it
    assert seen["plays"]
    # a window with software OpenGL draws once a second, and each of these takes some drawings
    assert seen["seconds_from_change"] < 15.0
    assert seen["seconds_from_key"] < 15.0
    assert seen["seconds_from_escape"] < 5.0
    assert seen["playing"]["runs"] == 0
    assert seen["playing"]["pictures a second"] > 0.0
    # the key moves what it touches from frame 81 on, and a velocity is seen from some frames around it
    assert 2 < seen["begun_again_from"] <= 81
    assert seen["after_undo"] == [pytest.approx(seen["place_before"]), True, 1]
    assert seen["saved"] == [1, 302, 1]
    assert seen["handlers_after"] == nothing
    assert not seen["plays_after"]
    assert seen["kept"] == seen["baked"]
    assert seen["kept_summary"].split(" in ")[0] == seen["baked_summary"].split(" in ")[0]
    assert seen["after_deletion"] == [True, nothing]
    assert re.findall(r"!\[[^]]*\]\(([^)]+)\)", PAGE.read_text(encoding="utf-8")) == [
        "live-plays.webp",
        "live-drag.webp",
    ]
    if folder := os.environ.get("CAIRN_PICTURES"):
        shutil.copy(tmp_path / "live-plays.webp", ROOT / folder)
