"""A body that the Rigid Body World simulates though no collection of the scene has it: unlinked, or only instanced."""

import json

import bpy
import pytest

import cairn
from cairn.addon.read.scene_notes import OUTSIDE
from cairn.addon.ui import watch


@pytest.fixture
def scene(maker):
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = 8
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(10, 10, 1))
    maker.body("Box", shape="BOX", location=(3, 0, 2))
    prop = maker.body("Prop", shape="BOX", location=(0, 0, 2), rotation_euler=(0.1, 0.2, 0.3))
    maker.scene.collection.objects.unlink(prop)
    session = bpy.context.window_manager.cairn
    session.error = session.check = session.status = ""
    return maker.scene


def notes(scene):
    watch.look_at(scene, bpy.context.window_manager.cairn)
    return json.loads(bpy.context.window_manager.cairn.status)["notes"]


def test_it_is_simulated_keyed_and_given_back(scene):
    """As Blender simulates it; baked again and deleted it is as it was."""
    prop = bpy.data.objects["Prop"]
    before = tuple(prop.location), tuple(prop.rotation_euler)
    assert notes(scene) == [["warning", OUTSIDE, ["Prop"]]]
    for _ in range(2):
        assert bpy.ops.cairn.bake() == {"FINISHED"}
        curves = prop.animation_data.action.layers[0].strips[0].channelbags[0].fcurves
        fallen = curves.find("location", index=2)
        assert fallen.evaluate(8) == pytest.approx(2.0 - 0.5 * 9.81 * (7 / 24) ** 2, rel=0.05)
        assert json.loads(bpy.context.window_manager.cairn.status)["outdated"] == ""
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    assert (tuple(prop.location), tuple(prop.rotation_euler)) == before
    assert prop.animation_data is None
    assert not prop.cairn.is_baked


def test_a_button_leaves_it_out(scene):
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    place = [text for _, text, _ in notes(scene)].index(OUTSIDE)
    assert bpy.ops.cairn.leave_out(source="status", place=place) == {"FINISHED"}
    # what a check or a look has said before says it no more
    said = bpy.context.window_manager.cairn
    assert all(OUTSIDE not in text for text in (said.check, said.status))
    prop = bpy.data.objects["Prop"]
    assert prop.name not in scene.rigidbody_world.collection.objects
    assert not prop.cairn.is_baked
    assert OUTSIDE not in [text for _, text, _ in notes(scene)]
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert prop.animation_data is None
