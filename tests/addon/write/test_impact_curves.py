"""*Impact Curves*: a property with a key for each frame; its sums are those of the contacts; it goes with the bake."""

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.contacts import contacts_file
from cairn.addon.settings import BakeSettings
from cairn.addon.write import fcurves, impact_curves


@pytest.fixture
def scene(maker):
    cairn.register()
    maker.scene.frame_end = maker.world.point_cache.frame_end = 16
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(20, 20, 1))
    maker.body("Lies", shape="BOX", location=(0, 0, 0.5), settings={"mass": 2.0})
    maker.body("Falls", shape="BOX", location=(5, 0, 1.0))
    maker.scene.cairn.impact_curves = True
    return maker.scene


def curve_of(name):
    data = bpy.data.objects[name].animation_data
    return fcurves.channelbag(data.action, data.action_slot).fcurves.find(impact_curves.PATH)


def test_sums_are_those_of_the_contacts(scene):
    """Of each frame and body; and what lies is pushed by its weight."""
    result = bake_scene(scene, BakeSettings.from_scene(scene))
    arrays = contacts_file(result.export, result.trajectory)
    names, strength = list(arrays["names"]), np.linalg.norm(arrays["impulse"].astype(float), axis=1)
    for name in ("Lies", "Falls"):
        curve, row = curve_of(name), names.index(name)
        own = (arrays["body_a"] == row) | (arrays["body_b"] == row)
        assert curve.evaluate(1) == 0.0
        for frame in range(2, 17):
            expected = strength[own & (arrays["frame"] == frame)].sum()
            assert curve.evaluate(frame) == pytest.approx(expected, rel=1e-5, abs=1e-7)
    assert curve_of("Lies").evaluate(10) == pytest.approx(2.0 * 9.81 / 24, rel=2e-2)
    hits = [curve_of("Falls").evaluate(frame) for frame in range(2, 17)]
    assert max(hits) > 1.0 * 9.81 * 2 / 24
    assert hits[0] == 0.0


def test_what_pushes_two_bodies_counts_for_both():
    class Frame:
        impulse = np.array([[3.0, 0.0, 4.0], [0.0, 0.0, -2.0]], np.float32)
        body_a, body_b = np.array([0, 2]), np.array([1, 1])

    found = impact_curves.impacts_of([None, Frame()], 2, 4)
    assert found.tolist() == [[0, 0, 0, 0], [5, 7, 2, 0]]


def test_the_property_follows_the_frame_and_goes_with_the_bake(scene):
    ob = bpy.data.objects["Lies"]
    ob["impact"] = "the user's own"
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    scene.frame_set(10)
    assert ob[impact_curves.NAME] == pytest.approx(curve_of("Lies").evaluate(10))
    assert impact_curves.NAME not in bpy.data.objects["Floor"]
    assert bpy.ops.cairn.bake() == {"FINISHED"}  # again, over itself
    assert curve_of("Lies") is not None
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    assert impact_curves.NAME not in ob
    assert ob["impact"] == "the user's own"
    assert ob.animation_data is None


def test_it_is_no_edit_of_the_users_and_no_part_of_the_scene(scene):
    """Delete Bake carries keys of the user's over, and not these; a bake again is not out of date for them."""
    ob = bpy.data.objects["Lies"]
    ob["glow"] = 1.0
    ob.keyframe_insert('["glow"]', frame=3)
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    from cairn.addon.read import scene_digest

    before = scene_digest.unpacked(scene.cairn.ingredients)
    assert scene_digest.changes(before, scene_digest.scene_digest(scene)) == []
    scene.cairn.impact_curves = False
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert curve_of("Lies") is None
    assert impact_curves.NAME not in ob
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    bag = fcurves.channelbag(ob.animation_data.action, ob.animation_data.action_slot)
    assert [curve.data_path for curve in bag.fcurves] == ['["glow"]']


def test_the_motion_is_the_same(scene):
    digests = []
    for on in (True, False):
        scene.cairn.impact_curves = on
        digests.append(bake_scene(scene, BakeSettings.from_scene(scene)).trajectory.digest())
    assert digests[0] == digests[1]
    assert curve_of("Lies") is None
