"""*Write Impact Sounds*: hits are found, each has a strip of its own in its frame, and what is the user's stays."""

import wave

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.ui import sounds_operator
from cairn.addon.write import impact_sounds
from cairn.addon.write.impact_sounds import Hit, channels_for, hits_in


@pytest.fixture
def sound(tmp_path):
    path = tmp_path / "hit.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes((20000 * np.exp(-np.arange(1600) / 200.0)).astype("<i2").tobytes())
    return path


@pytest.fixture
def scene(maker):
    cairn.register()
    maker.scene.frame_end = maker.world.point_cache.frame_end = 30
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(40, 40, 1))
    maker.body("Low", shape="BOX", location=(0, 0, 0.8))
    maker.body("High", shape="BOX", location=(5, 0, 2.5))
    maker.scene.cairn.impact_curves = True
    return maker.scene


def strip_of(scene, sound, frame=1):
    strips = impact_sounds.strips_of(scene.sequence_editor_create())
    return strips.new_sound(name="Knock", filepath=str(sound), channel=2, frame_start=frame)


def placed(scene):
    strips = impact_sounds.strips_of(scene.sequence_editor)
    found = [strip for strip in strips if impact_sounds.is_placed(strip)]
    return sorted(found, key=lambda strip: (impact_sounds.start_of(strip), strip.channel))


def test_a_hit_is_a_rise():
    """What lies and what slides goes on; half of the strength before is none."""
    impacts = np.array([0.0, 0.0, 5.0, 0.4, 0.4, 0.4, 0.7, 0.9, 2.0, 0.1, 0.1, 0.3])
    assert hits_in(10, impacts, 0.0) == [(12, 5.0), (18, 2.0), (21, 0.3)]
    assert hits_in(10, impacts, 1.0) == [(12, 5.0), (18, 2.0)]
    assert hits_in(1, np.zeros(4), 0.0) == []


def test_strips_do_not_overlap():
    hits = [Hit(frame, 1.0) for frame in (4, 1, 2, 6, 9)]
    found = channels_for(hits, 5, 3)
    assert [(hit.frame, channel) for hit, channel in found] == [(1, 3), (2, 4), (4, 5), (6, 3), (9, 4)]
    assert len(channels_for([Hit(1, 1.0)] * 300, 5, 100)) == impact_sounds.CHANNELS - 99


def test_sounds_are_in_the_frames_of_hits_and_as_loud(scene, sound):
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    source = strip_of(scene, sound)
    assert bpy.ops.cairn.write_impact_sounds() == {"FINISHED"}
    found = placed(scene)
    expected = {}
    for name in ("Low", "High"):
        first, impacts = impact_sounds.impacts_of_object(bpy.data.objects[name])
        frame, strength = max(hits_in(first, impacts, 0.0), key=lambda hit: hit.strength)
        expected[int(frame)] = strength
    assert set(expected) <= {impact_sounds.start_of(strip) for strip in found}
    volumes = {impact_sounds.start_of(strip): strip.volume for strip in found}
    for frame, strength in expected.items():
        assert volumes[frame] == pytest.approx(strength / max(expected.values()), rel=1e-4)
    assert all(strip.sound == source.sound for strip in found)
    assert min(strip.channel for strip in found) > source.channel
    assert len(bpy.data.sounds) == 1


def test_a_second_time_replaces_the_first_and_leaves_the_users(scene, sound):
    bpy.ops.cairn.bake()
    source = strip_of(scene, sound)
    bpy.ops.cairn.write_impact_sounds()
    count = len(placed(scene))
    bpy.ops.cairn.write_impact_sounds()
    assert len(placed(scene)) == count
    for ob in scene.objects:
        ob.select_set(ob.name == "High")
    bpy.ops.cairn.write_impact_sounds(threshold=1e-6)
    high = {hit.frame for hit in hits_in(*impact_sounds.impacts_of_object(bpy.data.objects["High"]), 1e-6)}
    assert {impact_sounds.start_of(strip) for strip in placed(scene)} <= high
    strips = impact_sounds.strips_of(scene.sequence_editor)
    assert [strip.name for strip in strips if not impact_sounds.is_placed(strip)] == [source.name]


def test_without_curves_or_a_sound_it_says_so(scene, sound):
    assert not bpy.ops.cairn.write_impact_sounds.poll()
    strip_of(scene, sound)
    assert bpy.ops.cairn.write_impact_sounds.poll()
    assert bpy.ops.cairn.write_impact_sounds() == {"CANCELLED"}
    assert placed(scene) == []
    strip_of(scene, sound, 40)
    assert sounds_operator.source_of(bpy.context) is None  # two, and none of them is the active one
