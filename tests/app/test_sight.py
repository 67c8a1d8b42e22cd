"""What is seen while a bake runs, and the overlay, in a window on an X screen; it makes the pictures of the guide, too.

To draw them anew::

    CAIRN_BLENDER=blender CAIRN_PICTURES=docs/guide pytest --nightly tests/app/test_sight.py
"""

import os
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guide" / "see.md"

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not os.environ.get("DISPLAY"), reason="there is no X screen: DISPLAY is not set"),
]


def test_what_is_seen_of_a_figure_a_wall_and_a_heap(blender, tmp_path):
    """Newest poses while a bake runs, as rarely as they must be; arrows, joints and what rests after it."""
    seen = blender.script("sight.py", tmp_path, window=True)
    quick, usual, off = seen["views"]
    assert 60 <= seen["see-baking"] <= 110
    assert quick["drawings"] >= 2
    # the first picture comes in any case
    assert usual["drawing"] * (usual["drawings"] - 1) / usual["drawings"] <= usual["share"] * usual["bake"]
    assert off["drawings"] == 0
    assert [view["handlers"] for view in seen["views"]] == [0, 0, 0]
    left_out, handlers = seen["contacts"]
    assert handlers == 1
    assert left_out["shown"] > 100
    assert seen["left"] == 0
    made = {path.name for path in tmp_path.iterdir()}
    shown = set(re.findall(r"!\[[^]]*\]\(([^)]+)\)", PAGE.read_text(encoding="utf-8")))
    assert shown == made
    if folder := os.environ.get("CAIRN_PICTURES"):
        for name in made:
            shutil.copy(tmp_path / name, ROOT / folder)
