"""What an animator sees: the panel in the sidebar of the 3D view, in a window on an X screen."""

import os
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
