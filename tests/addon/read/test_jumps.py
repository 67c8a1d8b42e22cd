"""Which driven bodies are put elsewhere in no time, and which only move fast."""

import bpy
import numpy as np
import pytest
from scene_maker import SceneMaker

from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.jumps import note_jumps
from cairn.addon.read.scene_export import export_scene


def curves(ob):
    animation = ob.animation_data
    for layer in animation.action.layers:
        for strip in layer.strips:
            yield from strip.channelbag(animation.action_slot).fcurves


def interpolate(ob, kind):
    for curve in curves(ob):
        for point in curve.keyframe_points:
            point.interpolation = kind


def jumps_by_frame(maker, last=30):
    """{frame: names of the bodies that jump}."""
    export, found = export_scene(maker.scene), {}
    before = export.default_sample.position
    with simulation_paused(maker.scene):
        for frame in range(2, last + 1):
            sample = sample_frame(maker.scene, export, frame)
            note_jumps(maker.scene, export, before, sample)
            before = sample.position
            if sample.jumps is not None:
                found[frame] = {export.model.names[index] for index in np.flatnonzero(sample.jumps)}
    return found


def driven(maker, name, keys, kind="LINEAR"):
    ob = maker.body(name, type="PASSIVE", settings={"kinematic": True})
    maker.key(ob, "location", keys)
    interpolate(ob, kind)
    return ob


def test_what_goes_round_and_what_is_held_jumps(maker):
    """A slat that begins anew by a Cycles modifier, one keyed by Constant, and the child of an empty that is."""
    slat = driven(maker, "Slat", {1: (0, 0, 0), 11: (5, 0, 0)})
    for curve in curves(slat):
        curve.modifiers.new("CYCLES")
    driven(maker, "Held", {1: (0, 9, 0), 8: (0, 12, 0)}, "CONSTANT")
    empty = maker.object("Empty")
    maker.key(empty, "location", {1: (0, 0, 0), 15: (0, -8, 0)})
    interpolate(empty, "CONSTANT")
    maker.body("Child", type="PASSIVE", settings={"kinematic": True}, parent=empty)
    assert jumps_by_frame(maker) == {8: {"Held"}, 12: {"Slat"}, 15: {"Child"}, 22: {"Slat"}}


@pytest.mark.parametrize("kind", ["LINEAR", "BEZIER", "EXPO", "BACK", "QUINT"])
@pytest.mark.parametrize("frames", [1, 2, 4])
def test_what_is_fast_does_not_jump(maker: SceneMaker, kind, frames):
    """Twenty sizes in a frame or two, starting and stopping at once."""
    driven(maker, "Fast", {1: (0, 0, 0), 10: (0, 0, 0), 10 + frames: (20, 0, 0)}, kind)
    assert jumps_by_frame(maker, 20) == {}


def test_what_joints_hold_is_led(maker):
    """A jump would tear them off."""
    driven(maker, "Held", {1: (0, 0, 0), 8: (0, 12, 0)}, "CONSTANT")
    maker.body("Hanging", location=(0, 0, -2))
    bpy.ops.object.empty_add(location=(0, 0, -1))
    empty = bpy.context.object
    bpy.ops.rigidbody.constraint_add(type="POINT")
    empty.rigid_body_constraint.object1 = bpy.data.objects["Held"]
    empty.rigid_body_constraint.object2 = bpy.data.objects["Hanging"]
    assert jumps_by_frame(maker, 10) == {}
