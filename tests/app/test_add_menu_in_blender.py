"""*Add > Cairn* in the real application: every scene opens and bakes; one is baked, played and undone in a window."""

import os

import pytest


def test_every_scene_opens_and_bakes(blender):
    told = blender.script("every_scene.py")
    assert len(told) > 20
    titles = [title for title, *_ in told.values()]
    assert len(set(titles)) == len(titles)
    for name, (_, ended, last, warned) in told.items():
        assert (ended, last) == (["FINISHED"], 8), name
        assert not warned, name


@pytest.mark.skipif(not os.environ.get("DISPLAY"), reason="there is no X screen: DISPLAY is not set")
def test_a_scene_is_added_baked_played_and_undone(blender):
    seen = blender.script("add_scene.py", window=True)
    assert seen["before"]["scenes"] == ["Scene"]
    assert seen["added"] == ["FINISHED"]
    assert seen["after"]["shown"] == "A house of cards of 3 storeys"
    assert "Scene" in seen["after"]["scenes"]
    assert seen["camera"] == "CAMERA"
    assert seen["bake"] == ["RUNNING_MODAL"]
    assert "Baked 30 frames in " in seen["summary"]
    assert seen["undone"][-1] == seen["before"]
    assert seen["after"] in seen["undone"]  # first the bake, then the scene
