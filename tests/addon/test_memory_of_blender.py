"""A Blender that is used for long takes no more memory with each bake, nor with the add-on switched off and on."""

import bpy
import pytest
from memory_in_use import memory_in_use, needs_statm
from nightly import at_night

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.settings import BakeSettings

# Of a bake, or of switching off and on, once the first third is over: what allocators scatter, and Blender's undo.
BYTES_EACH, BLOCKS_EACH = 20_000, 30


@pytest.fixture
def scene(maker):
    """Some boxes that fall on a floor."""
    cairn.register()
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(10, 10, 1))
    for i in range(5):
        maker.body(f"Box {i}", shape="BOX", location=(0.1 * i, 0, 1.5 + 1.2 * i))
    return maker.scene


def grown(times, do):
    """What memory has grown by, in bytes and blocks, from a third of the times on."""
    for time in range(times):
        do()
        if time == times // 3:
            before = memory_in_use()
    after = memory_in_use()
    return after[0] - before[0], after[1] - before[1]


@needs_statm
@pytest.mark.parametrize("times", [60, at_night(1000)])
def test_bakes_in_one_blender(scene, times):
    """Each baked, gone through and taken back."""

    def bake_and_delete():
        bake_scene(scene, BakeSettings(start=1, end=8))
        for frame in (1, 5, 8):
            scene.frame_set(frame)
        assert bpy.ops.cairn.delete_bake() == {"FINISHED"}

    size, blocks = grown(times, bake_and_delete)
    assert size < BYTES_EACH * times + (2 << 20)
    assert blocks < BLOCKS_EACH * times


@needs_statm
@pytest.mark.parametrize("times", [30, at_night(1000)])
def test_switching_off_and_on(times):
    def off_and_on():
        cairn.unregister()
        cairn.register()

    cairn.register()
    size, blocks = grown(times, off_and_on)
    assert size < BYTES_EACH * times + (2 << 20)
    assert blocks < BLOCKS_EACH * times
