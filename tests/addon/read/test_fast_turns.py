"""How far driven bodies turn in a frame: keyed angles and driven ones say it, and what nothing says is told."""

import math

import bpy
import numpy as np
import pytest

from cairn.addon.read.fast_turns import FastTurns, unknown_notes
from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.scene_export import export_scene


def curves(ob):
    animation = ob.animation_data
    for layer in animation.action.layers:
        for strip in layer.strips:
            yield from strip.channelbag(animation.action_slot).fcurves


def linear(ob):
    for curve in curves(ob):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def turns_of(maker, name, last=6):
    """Rotation vectors of a body in frames 2 to ``last``, None where it is the shorter way round; and the watcher."""
    export = export_scene(maker.scene)
    watcher, row, found = FastTurns(export), export.model.names.index(name), []
    with simulation_paused(maker.scene):
        for frame in range(2, last + 1):
            sample = sample_frame(maker.scene, export, frame)
            watcher.note(maker.scene, sample)
            found.append(sample.turns.get(row))
    return found, watcher


def disc(maker, name="Disc"):
    return maker.body(name, type="PASSIVE", settings={"kinematic": True})


@pytest.mark.parametrize("turns", [0.4, 13 / 24, 1.0, 1.5, 2.25, -0.8])
def test_keyed_angles_say_how_far(maker, turns):
    wheel = disc(maker)
    maker.key(wheel, "rotation_euler", {1: (0, 0, 0), 25: (0, 0, 24 * 2 * math.pi * turns)})
    linear(wheel)
    found, watcher = turns_of(maker, "Disc")
    assert np.array(found) == pytest.approx(np.tile((0, 0, 2 * math.pi * turns), (5, 1)), abs=1e-4)
    assert not watcher.unknown


def test_what_turns_slowly_is_not_evaluated_between_frames(maker):
    wheel = disc(maker)
    maker.key(wheel, "rotation_euler", {1: (0, 0, 0), 25: (0, 0, 20.0)})
    linear(wheel)
    assert turns_of(maker, "Disc")[0] == [None] * 5


def test_the_keys_of_a_parent_of_a_bone_and_a_driver_say_it_too(maker):
    empty = bpy.data.objects.new("Hub", None)
    maker.scene.collection.objects.link(empty)
    maker.key(empty, "rotation_euler", {1: (0, 0, 0), 25: (0, 0, 24 * 2 * math.pi)})
    linear(empty)
    disc(maker, "Child").parent = empty

    driver = disc(maker, "Driven").driver_add("rotation_euler", 1).driver
    driver.expression = f"frame * {2 * math.pi * 0.75}"

    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    maker.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones.new("Bone")
    bone.tail = (0, 1, 0)
    bpy.ops.object.mode_set(mode="OBJECT")
    pose = armature.pose.bones["Bone"]
    pose.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (25, 24 * 2 * math.pi * 0.6)):
        pose.rotation_euler = (0, angle, 0)
        pose.keyframe_insert("rotation_euler", frame=frame)
    linear(armature)
    held = disc(maker, "Held")
    held.parent, held.parent_type, held.parent_bone = armature, "BONE", "Bone"

    for name, wanted in (("Child", (0, 0, 1.0)), ("Driven", (0, 0.75, 0)), ("Held", (0, 0.6, 0))):
        found, _ = turns_of(maker, name)
        assert np.array(found) == pytest.approx(np.tile(2 * math.pi * np.array(wanted), (5, 1)), abs=1e-4), name


def test_a_turn_that_is_held_and_then_jumps_is_no_fast_one(maker):
    """A key that holds turns the body by 170 degrees in no time: that is not a speed, and nothing to be told."""
    door = disc(maker, "Door")
    maker.key(door, "rotation_euler", {1: (0, 0, 0), 4: (0, 0, math.radians(170))})
    for curve in curves(door):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    found, watcher = turns_of(maker, "Door")
    assert found[2] is None
    assert not watcher.unknown


def test_what_nothing_tells_is_told(maker):
    """A driver of a quaternion that turns by more than the finest evaluation can follow."""
    wheel = disc(maker, "Wheel")
    wheel.rotation_mode = "QUATERNION"
    for index, function in ((0, "cos"), (3, "sin")):
        driver = wheel.driver_add("rotation_quaternion", index).driver
        driver.expression = f"{function}(frame * {math.pi * 6.3})"
    _, watcher = turns_of(maker, "Wheel")
    (note,) = unknown_notes(watcher.unknown)
    assert note.object_name == "Wheel"
    assert "from frame 2 on" in note.text
