"""The curve of *Gradient* that is drawn by hand, in a window on an X screen."""

import os

import pytest

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not os.environ.get("DISPLAY"), reason="there is no X screen: DISPLAY is not set"),
]


def test_a_bake_is_out_of_date_once_the_curve_is_drawn_otherwise(blender, tmp_path):
    """Blender tells nobody that a curve was changed; drawing its panel does."""
    seen = blender.script("gradient_in_window.py", tmp_path, window=True)
    assert seen["baked"] == ""
    assert seen["drawn"] == "Out of date: glue"
