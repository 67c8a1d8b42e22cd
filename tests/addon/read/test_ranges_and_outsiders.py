"""Which frames are simulated where the cache has none of the scene's; and what takes part unseen, or not at all."""

import json

import bpy
import pytest

import cairn
from cairn.addon.read.scene_export import export_scene
from cairn.addon.ui import watch


@pytest.fixture
def scene(maker):
    cairn.register()
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(10, 10, 1))
    maker.body("Box", shape="BOX", location=(0, 0, 2))
    maker.scene.frame_start, maker.scene.frame_end = 1001, 1008
    bpy.context.window_manager.cairn.status = ""
    return maker.scene


def notes(scene):
    watch.look_at(scene, bpy.context.window_manager.cairn)
    return [text for _, text, _ in json.loads(bpy.context.window_manager.cairn.status)["notes"]]


def texts(scene):
    return {note.object_name: note.text for note in export_scene(scene).notes if note.object_name is not None}


def test_a_new_world_takes_the_scenes_range(scene):
    """Frames 1001 to 1008 with a cache of 1 to 250: said, and baked where the scene plays."""
    assert any(text.startswith("frames 1001 to 1008 are simulated, those of the scene") for text in notes(scene))
    scene.frame_set(1001)
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert (scene.cairn.baked_start, scene.cairn.baked_end) == (1001, 1008)
    assert json.loads(bpy.context.window_manager.cairn.status)["outdated"] == ""
    # the same frames by the cache are the same bake
    assert bpy.ops.cairn.use_scene_range() == {"FINISHED"}
    cache = scene.rigidbody_world.point_cache
    assert (cache.frame_start, cache.frame_end) == (1001, 1008)
    assert notes(scene) == []
    assert json.loads(bpy.context.window_manager.cairn.status)["outdated"] == ""


def test_a_range_that_overlaps_is_the_users(scene):
    scene.frame_start = 240
    assert not any("those of the scene" in text for text in notes(scene))


def test_hidden_bodies_and_instances_are_noted(scene):
    scene.unit_settings.scale_length = 0.01
    scene.objects["Box"].hide_viewport = True
    props = bpy.data.collections.new("Props")
    props.objects.link(scene.objects["Floor"])
    instance = bpy.data.objects.new("Instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", props
    scene.collection.objects.link(instance)
    found = texts(scene)
    assert found["Box"] == "is hidden, or in a collection that is: it takes part, as in Blender"
    assert found["Instance"].startswith("shows instances of bodies of Props, which take no part")
    assert any(note.text.startswith("Unit Scale is 0.01") for note in export_scene(scene).notes)
