"""*Make Ragdoll* in a window, by the words of the guide: made, keyed, baked, undone, saved, switched off."""

import os

import pytest

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not os.environ.get("DISPLAY"), reason="there is no X screen: DISPLAY is not set"),
]
# A scene of four objects gets eleven bodies, ten joints and the target.
BEFORE, AFTER, BODIES = 4, 26, 11


def test_a_rig_with_a_mesh_goes_limp_and_comes_back(blender, tmp_path):
    seen = blender.script("ragdoll_in_window.py", tmp_path, window=True)
    assert [seen[name]["objects"] for name in ("before", "made", "undone", "redone")] == [BEFORE, AFTER, BEFORE, AFTER]
    assert [seen[name]["selected"] for name in ("made", "undone", "redone")] == [BODIES, 1, BODIES]
    names = ("led", "limp", "back", "unbaked", "baked again", "opened", "deleted")
    assert [seen[name]["baked"] for name in names] == [True, True, True, False, True, True, False]
    assert all(answer[1] in {"FINISHED", "RUNNING_MODAL"} for answer in seen["answers"])
    # it stands as its keys say, sinks, lies before it is called back, and stands again
    for name in ("led", "back", "deleted"):
        assert seen[name]["Head"] == pytest.approx([0.0, 0.0, 1.5], abs=0.005), name
    assert seen["limp"]["Hips"][2] < 0.9
    assert seen["baked again"]["Head"][2] < 0.3
    assert seen["opened"]["Head"] == seen["limp"]["Head"] == seen["off"]
