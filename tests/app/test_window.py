"""What an animator sees: the panel in the sidebar of the 3D view, in a window."""

import os
import shutil
import sys

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform == "linux" and not os.environ.get("DISPLAY"), reason="there is no screen: DISPLAY is not set"
)


def test_panel_is_in_the_sidebar(blender, scene, tmp_path):
    """Take the picture that the user guide shows; set CAIRN_PICTURES to a folder to keep it."""
    picture = tmp_path / "panel.png"
    shown = blender.script("show_panel.py", picture, blend=scene, window=True)
    assert shown["tab"] == "Cairn"
    assert picture.read_bytes().startswith(b"\x89PNG")
    if folder := os.environ.get("CAIRN_PICTURES"):
        shutil.copy(picture, folder)
