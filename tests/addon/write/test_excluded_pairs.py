"""Bodies that joints hold in each other: named by the check, and a button lets them pass."""

import json

import bpy
import pytest

import cairn
from cairn.addon.read.scene_notes import HELD


@pytest.fixture
def leg(maker):
    """Hip, thigh and shin in a row, hinged; the shin begins deep in the hip."""
    cairn.register()
    for name, z in (("Hip", 2.0), ("Thigh", 1.0), ("Shin", 2.5)):
        maker.body(name, location=(0, 0, z))
    world = maker.scene.rigidbody_world
    world.constraints = bpy.data.collections.new("Constraints")
    for name, first, second in (("Joint", "Hip", "Thigh"), ("Knee", "Thigh", "Shin")):
        ob = maker.object(name, None, location=(0, 0, 1.5))
        world.constraints.objects.link(ob)
        constraint = ob.rigid_body_constraint
        constraint.type, constraint.disable_collisions = "POINT", True
        constraint.object1, constraint.object2 = bpy.data.objects[first], bpy.data.objects[second]
    return maker.scene


def held(scene):
    """Place in the check's list and objects of the note on bodies that joints hold in each other."""
    assert bpy.ops.cairn.check_scene(find_overlaps=True) == {"FINISHED"}
    notes = json.loads(bpy.context.window_manager.cairn.check)["notes"]
    return [(place, names) for place, (_, text, names) in enumerate(notes) if text.endswith(HELD)]


def test_a_button_lets_them_pass(leg):
    """By an empty whose constraint is switched off, beside the first, which the check and Blender both obey."""
    (note,) = held(leg)
    place, names = note
    before = set(bpy.data.objects)
    assert bpy.ops.cairn.let_pass(place=place) == {"FINISHED"}
    (made,) = set(bpy.data.objects) - before
    constraint = made.rigid_body_constraint
    assert {constraint.object1.name, constraint.object2.name} == {"Hip", "Shin"}
    assert names[0] in ("Hip", "Shin")
    assert constraint.disable_collisions
    assert not constraint.enabled
    assert made.name in leg.rigidbody_world.constraints.objects
    assert held(leg) == []


def test_a_constraint_that_is_there_is_used(leg):
    """Between the two, whatever its order."""
    knee = bpy.data.objects["Knee"].rigid_body_constraint
    knee.object1, knee.object2, knee.disable_collisions = bpy.data.objects["Shin"], bpy.data.objects["Hip"], False
    before = set(bpy.data.objects)
    ((place, _),) = held(leg)
    assert bpy.ops.cairn.let_pass(place=place) == {"FINISHED"}
    assert set(bpy.data.objects) == before
    assert knee.disable_collisions
    assert held(leg) == []


def test_what_has_gone_meanwhile_is_said(leg):
    ((place, _),) = held(leg)
    leg.rigidbody_world.collection.objects.unlink(bpy.data.objects["Shin"])
    assert bpy.ops.cairn.let_pass(place=place) == {"CANCELLED"}
    assert bpy.ops.cairn.let_pass(place=place + 90) == {"CANCELLED"}
