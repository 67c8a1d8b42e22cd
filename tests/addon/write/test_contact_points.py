"""Contacts as points: their numbers, what the node group shows of them, and what Delete Bake leaves."""

import json

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.write import contact_points


@pytest.fixture
def scene(maker):
    """A box that falls on the floor and one that lies there."""
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = 16
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(10, 10, 1))
    maker.body("Lies", shape="BOX", location=(0, 0, 0.5))
    maker.body("Falls", shape="BOX", location=(3, 0, 1.0))
    maker.scene.cairn.contact_points = True
    return maker.scene


def shown():
    """Places of the points that the window would draw, and how many copies of an object."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    depsgraph.update()
    points, copies = [], 0
    for instance in depsgraph.object_instances:
        if instance.object.type == "POINTCLOUD":
            points += [tuple(point.co) for point in instance.object.data.points]
        copies += instance.is_instance and instance.object.type == "MESH"
    return np.array(points).reshape(-1, 3), copies


def values(ob, name, kind="value"):
    attribute = ob.data.attributes[name]
    array = np.zeros(len(attribute.data) * (1 if kind == "value" else 3), np.int32 if kind == "value" else np.float32)
    attribute.data.foreach_get(kind, array)
    return array if kind == "value" else array.reshape(-1, 3)


def give(ob, inputs):
    """Set inputs of the modifier, which Blender 5.2 keeps elsewhere."""
    modifier = ob.modifiers[0]
    for item in modifier.node_group.interface.items_tree:
        if item.name in inputs and hasattr(modifier, "properties"):
            getattr(modifier.properties.inputs, item.identifier).value = inputs[item.name]
        elif item.name in inputs:
            modifier[item.identifier] = inputs[item.name]
    ob.update_tag()


def bake():
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    return contact_points.points_of(bpy.context.scene)


def test_points_have_what_was_pushed(scene):
    """The box that lies is pushed by its weight in each frame, and names tell who it is."""
    ob = bake()
    names, frame = list(ob["bodies"]), values(ob, "frame")
    impulse, one, two = values(ob, "impulse", "vector"), values(ob, "body_a"), values(ob, "body_b")
    mass = bpy.data.objects["Lies"].rigid_body.mass
    for at in (8, 16):
        of_it = (frame == at) & ((one == names.index("Lies")) | (two == names.index("Lies")))
        sign = np.where(two == names.index("Lies"), 1.0, -1.0)[of_it, None]
        assert (sign * impulse[of_it]).sum(axis=0) == pytest.approx([0, 0, mass * 9.81 / 24], abs=1e-2)
    assert np.linalg.norm(values(ob, "normal", "vector"), axis=1) == pytest.approx(1.0, abs=2e-3)
    assert {"velocity", "body_a", "body_b"} <= set(ob.data.attributes.keys())


def test_the_group_shows_those_of_the_frame(scene):
    """Of one frame or of several, above an impulse, as points or as copies of an object."""
    ob = bake()
    frame = values(ob, "frame")
    places = np.array([tuple(vertex.co) for vertex in ob.data.vertices])
    for at in (3, 9):
        scene.frame_set(at)
        points, copies = shown()
        assert copies == 0
        assert np.sort(points, axis=0) == pytest.approx(np.sort(places[frame == at], axis=0), abs=1e-6)
    give(ob, {"Frames": 2})
    assert len(shown()[0]) == ((frame == 8) | (frame == 9)).sum()
    give(ob, {"Least Impulse": 1e6})
    assert len(shown()[0]) == 0
    give(ob, {"Least Impulse": 0.0, "Copies": True, "Object": bpy.data.objects["Falls"]})
    points, copies = shown()
    assert (len(points), copies) == (0, ((frame == 8) | (frame == 9)).sum())


def test_a_bake_fills_the_object_that_is_there(scene):
    """With what somebody has done to it; Delete Bake takes the points, and leaves it then."""
    ob = bake()
    ob.name, count = "Dust", len(ob.data.vertices)
    ob.data.materials.append(bpy.data.materials.new("Smoke"))
    again = bake()
    assert again == ob
    assert len(ob.data.vertices) == count
    assert len([one for one in scene.objects if one.get(contact_points.MARK)]) == 1
    assert len([one for one in bpy.data.node_groups if one.get(contact_points.MARK)]) == 1
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    assert bpy.data.objects["Dust"].data.materials[0].name == "Smoke"
    assert len(bpy.data.objects["Dust"].data.vertices) == 0


def test_nothing_is_left_of_one_that_nobody_has_touched(scene):
    objects = set(bpy.data.objects.keys())
    bake()
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    assert set(bpy.data.objects.keys()) == objects


def test_off_there_is_none_and_the_motion_is_the_same(scene):
    bake()
    digest = json.loads(scene.cairn.report)["totals"]["digest"]
    bpy.ops.cairn.delete_bake()
    scene.cairn.contact_points = False
    assert bake() is None
    assert json.loads(scene.cairn.report)["totals"]["digest"] == digest
