"""What the user made is never lost: earlier animation is kept, goes on where it can, and Delete Bake brings it back.

Trajectories are made up here (tumbling.py), so nothing is simulated.
"""

import bpy
import numpy as np
import pytest
from tumbling import (
    Tumble,
    add_body,
    add_empty,
    assert_motion,
    curves,
    key,
    launched_body,
    new_scene,
    state,
    transforms,
    world_at,
)

from cairn.addon.read import lead_in
from cairn.addon.read.frame_samples import simulation_paused
from cairn.addon.write import attach, earlier_animation, fcurves


@pytest.fixture
def scene():
    return new_scene()


def test_delete_bake_of_an_object_without_animation_leaves_none(scene):
    obj = add_body(scene, mode="QUATERNION")
    before, actions = state(obj), len(bpy.data.actions)
    tumble = Tumble(scene)
    tumble.write(scene)
    assert len(bpy.data.actions) == actions + 1
    scene.frame_set(20)
    assert attach.delete_bake(scene) == 1
    assert state(obj) == before
    assert len(bpy.data.actions) == actions
    assert not obj.cairn.is_baked
    assert not scene.cairn.is_baked


def test_motion_before_the_launch_stays_as_it_was(scene):
    obj = launched_body(scene)
    times = [(frame, subframe) for frame in (-3, 0, 2, 5, 9) for subframe in (0.0, 0.3)]
    with simulation_paused(scene):
        before = [world_at(obj, *at) for at in times]
    tumble = Tumble(scene)
    tumble.write(scene)
    for at, wanted in zip(times, before, strict=True):
        assert world_at(obj, *at) == pytest.approx(wanted, abs=2e-5), f"frame {at}"
    assert_motion(tumble, scene)


@pytest.mark.parametrize("interpolation", ["CONSTANT", "LINEAR", "BEZIER", "SINE", "BOUNCE"])
@pytest.mark.parametrize("start", [7, 12, 20])
def test_lead_in_keeps_every_interpolation(scene, interpolation, start):
    """Keys before the bake go on: cut inside a segment, at a key, and after the last key."""
    obj = add_body(scene)
    key(obj, "location", {1: (0, 0, 0), 4: (1, 0, 1), 12: (4, 5, 6)})
    for curve in curves(obj).values():
        for point in curve.keyframe_points:
            point.interpolation = interpolation
            point.handle_right_type = "FREE"
        curve.keyframe_points[1].handle_right = (11.5, 3.0)
    scene.rigidbody_world.point_cache.frame_end = 60
    scene.rigidbody_world.point_cache.frame_start = start
    times = [(frame, subframe) for frame in (2, 5, 6, start - 1) for subframe in (0.0, 0.5)]
    with simulation_paused(scene):
        before = [world_at(obj, *at) for at in times]
    Tumble(scene, 10).write(scene)
    for at, wanted in zip(times, before, strict=True):
        # an easing is kept at whole frames only
        if interpolation not in {"SINE", "BOUNCE"} or at[1] == 0.0:
            assert world_at(obj, *at) == pytest.approx(wanted, abs=1e-4), f"frame {at}"


def test_other_channels_go_on_playing(scene):
    obj = launched_body(scene)
    Tumble(scene).write(scene)
    assert ("hide_render", 0) in curves(obj)
    assert ('["glow"]', 0) in curves(obj)
    scene.frame_set(10)
    assert obj.hide_render
    scene.frame_set(20)
    assert not obj.hide_render


def test_delete_bake_brings_the_action_back(scene):
    obj = launched_body(scene)
    scene.frame_set(3)
    before, motion = state(obj), transforms(scene, (1, 10, 25))
    scene.frame_set(3)
    tumble = Tumble(scene)
    tumble.write(scene)
    assert obj.animation_data.action.name == "Body Cairn"
    attach.delete_bake(scene)
    assert state(obj) == before
    assert np.array_equal(transforms(scene, (1, 10, 25)), motion)
    assert "Body Cairn" not in bpy.data.actions


def test_the_earlier_action_survives_saving(scene, tmp_path):
    before = state(launched_body(scene))
    Tumble(scene).write(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "baked.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "baked.blend"))
    attach.delete_bake(bpy.context.scene)
    after = state(bpy.context.scene.objects["Body"])
    assert {name: after[name] for name in ("action", "slot", "curves")} == {
        name: before[name] for name in ("action", "slot", "curves")
    }


def override_of_linked_body(path, *, local_action):
    """A library override of a launched body, with a constraint, a driver and, if asked for, an action of its own."""
    library = new_scene()
    obj = launched_body(library)
    obj.constraints.new("LIMIT_LOCATION")
    obj.driver_add("rotation_quaternion", 0).driver.expression = "1"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    scene = new_scene()
    with bpy.data.libraries.load(str(path), link=True) as (_, target):
        target.objects = ["Body"]
    linked = target.objects[0]
    scene.collection.objects.link(linked)
    obj = linked.override_create(remap_local_usages=True)
    scene.rigidbody_world.collection.objects.link(obj)
    if local_action:
        slot = obj.animation_data.action_slot.handle
        obj.animation_data.action = action = obj.animation_data.action.copy()
        obj.animation_data.action_slot = fcurves.find_slot(action, slot)
    return scene, obj


@pytest.mark.parametrize("local_action", [False, True])
def test_the_bake_of_a_library_override_can_be_deleted_after_saving(tmp_path, local_action):
    """Blender saves those properties of an override alone that say that they may be overridden."""
    scene, obj = override_of_linked_body(tmp_path / "library.blend", local_action=local_action)
    scene.frame_set(3)
    before, motion = state(obj), transforms(scene, (1, 10, 25))
    tumble = Tumble(scene)
    tumble.write(scene)

    def saved_and_opened(name):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / name))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / name))
        scene = bpy.context.scene
        return scene, next(obj for obj in scene.objects if obj.override_library is not None)

    for name in ("baked.blend", "baked again.blend"):
        scene, obj = saved_and_opened(name)
        assert obj.cairn.is_baked
        assert obj.animation_data.action.name == "Body Cairn"
        assert obj.constraints[0].mute
        assert_motion(tumble, scene)
    assert attach.delete_bake(scene) == 1
    assert "Body Cairn" not in bpy.data.actions
    scene, obj = saved_and_opened("deleted.blend")
    scene.frame_set(3)
    assert state(obj) == before
    assert np.array_equal(transforms(scene, (1, 10, 25)), motion)


def test_a_hand_made_key_survives_bake_again_and_delete_bake(scene):
    obj = add_body(scene)
    tumble = Tumble(scene)
    tumble.write(scene)
    key(obj, "hide_viewport", {5: True, 9: False})
    tumble.write(scene)
    assert ("hide_viewport", 0) in curves(obj)
    attach.delete_bake(scene)
    assert list(curves(obj)) == [("hide_viewport", 0)]
    assert len(bpy.data.actions) == 1


def test_edits_of_copied_channels_go_back_to_the_users_action(scene):
    obj = launched_body(scene)
    action = obj.animation_data.action
    Tumble(scene).write(scene)
    key(obj, "hide_render", {22: True})
    obj.animation_data.action.layers[0].strips[0].channelbags[0].fcurves.remove(curves(obj)[('["glow"]', 0)])
    attach.delete_bake(scene)
    assert obj.animation_data.action == action
    assert len(curves(obj)[("hide_render", 0)].keyframe_points) == 3
    assert ('["glow"]', 0) not in curves(obj)
    assert len(curves(obj)[("location", 0)].keyframe_points) == 3


def test_a_copied_curve_with_modifiers_stays_the_same(scene):
    """Copies by hand (4.5) and Blender's own (5.0 on) do the same."""
    obj = add_body(scene)
    tumble = Tumble(scene)
    tumble.write(scene)
    for frame, value in {2: 0.0, 20: 3.0}.items():
        obj["glow"] = value
        obj.keyframe_insert('["glow"]', frame=frame)
    curve = curves(obj)[('["glow"]', 0)]
    curve.modifiers.new("CYCLES").mode_after = "REPEAT_OFFSET"  # Blender wants it first
    noise = curve.modifiers.new("NOISE")
    noise.strength, noise.use_restricted_range, noise.frame_end = 2.5, True, 12
    generator = curve.modifiers.new("GENERATOR")
    generator.poly_order = 2
    generator.coefficients = (0.5, 1.0, 0.01)
    values = fcurves.values_at(curve, range(-5, 50))
    attach.delete_bake(scene)
    assert fcurves.values_at(curves(obj)[('["glow"]', 0)], range(-5, 50)) == pytest.approx(values)


def test_shared_actions_are_not_changed_for_others(scene):
    """Two objects play one action and slot; one is baked and edited."""
    obj = launched_body(scene)
    other = add_empty(scene, "Other")
    earlier_animation.assign(other, obj.animation_data.action, obj.animation_data.action_slot)
    before = state(other)["curves"]
    Tumble(scene).write(scene)
    key(obj, "hide_render", {22: True})
    attach.delete_bake(scene)
    assert state(other)["curves"] == before
    assert obj.animation_data.action != other.animation_data.action
    assert len(curves(obj)[("hide_render", 0)].keyframe_points) == 3


def test_one_action_with_a_slot_for_each_object(scene):
    """Blender 5 puts the animation of several objects into one action."""
    bodies = [add_body(scene, f"Body{i}", location=(3 * i, 0, 0)) for i in range(3)]
    action = bpy.data.actions.new("Shared")
    for body in bodies:
        earlier_animation.assign(body, action, action.slots.new("OBJECT", body.name))
        key(body, "scale", {1: (1, 1, 1)})
        key(body, "location", {1: body.location[:]})
    tumble = Tumble(scene)
    tumble.write(scene)
    assert_motion(tumble, scene)
    assert [len(body.animation_data.action.slots) for body in bodies] == [1, 1, 1]
    attach.delete_bake(scene)
    assert [body.animation_data.action for body in bodies] == [action] * 3
    assert [body.animation_data.action_slot.name_display for body in bodies] == [body.name for body in bodies]


def test_constraints_and_drivers_give_way_and_come_back(scene):
    obj = add_body(scene)
    target = add_empty(scene, "Target", location=(1, 2, 3))
    obj.constraints.new("COPY_LOCATION").target = target
    obj.constraints.new("COPY_ROTATION").mute = True
    driver = obj.driver_add("rotation_euler", 0).driver
    driver.expression = "0.7"
    bpy.context.view_layer.update()
    before = state(obj)
    tumble = Tumble(scene)
    tumble.write(scene, lead_in=lead_in.collect(lead_in.objects_to_sample(scene, tumble.export), {}))
    assert_motion(tumble, scene)
    attach.delete_bake(scene)
    after = state(obj)
    assert after["constraints"] == [False, True]
    assert after["drivers"] == before["drivers"] == [False]
    assert world_at(obj, 1)[:3, 3] == pytest.approx((1, 2, 3))


def test_nla_tracks_give_way_and_come_back(scene):
    obj = launched_body(scene)
    data = obj.animation_data
    data.nla_tracks.new().strips.new("strip", -5, data.action)
    data.action = None
    data.action_blend_type, data.action_influence = "ADD", 0.5
    with simulation_paused(scene):
        lead = [world_at(obj, frame) for frame in (2, 5)]
    before = state(obj)
    tumble = Tumble(scene)
    tumble.write(scene, lead_in=lead_in.collect(lead_in.objects_to_sample(scene, tumble.export), {}))
    assert_motion(tumble, scene)
    for frame, wanted in zip((2, 5), lead, strict=True):
        assert world_at(obj, frame) == pytest.approx(wanted, abs=2e-5)
    attach.delete_bake(scene)
    after = state(obj)
    assert (after["action"], after["tracks"]) == (before["action"], before["tracks"])
    assert (data.action_blend_type, data.action_influence) == ("ADD", 0.5)


@pytest.mark.parametrize("kind", ["constraint", "driver", "modifier"])
def test_a_lead_in_that_curves_do_not_say_is_sampled(scene, kind):
    """Before the bake's first frame the body moves by a constraint, a driver or a curve modifier; it still does."""
    obj = add_body(scene)
    if kind == "constraint":
        target = add_empty(scene, "Target")
        key(target, "location", {1: (0, 0, 0), 10: (3, 2, 1)})
        obj.constraints.new("COPY_LOCATION").target = target
    elif kind == "driver":
        obj.driver_add("location", 0).driver.expression = "frame / 7"
    else:
        key(obj, "location", {1: (0, 0, 0), 4: (3, 2, 1)})
        for curve in curves(obj).values():
            curve.modifiers.new("CYCLES")
    scene.rigidbody_world.point_cache.frame_end = 40
    scene.rigidbody_world.point_cache.frame_start = 11
    with simulation_paused(scene):
        before = [world_at(obj, frame) for frame in (1, 5, 8, 10)]
    tumble = Tumble(scene, 10)
    names = lead_in.objects_to_sample(scene, tumble.export)
    with simulation_paused(scene):
        lead = {frame: lead_in.sample(scene, tumble.export, names, frame) for frame in range(1, 11)}
    tumble.write(scene, lead_in=lead_in.collect(names, lead))
    for frame, wanted in zip((1, 5, 8, 10), before, strict=True):
        assert world_at(obj, frame) == pytest.approx(wanted, abs=2e-5), f"frame {frame}"
    assert world_at(obj, 15) == pytest.approx(tumble.world("Body", 15), abs=2e-5)


def test_an_action_that_the_user_puts_in_place_of_the_bake_stays(scene):
    obj = launched_body(scene)
    earlier = obj.animation_data.action
    Tumble(scene).write(scene)
    obj.animation_data.action = own = bpy.data.actions.new("Own")
    attach.delete_bake(scene)
    assert obj.animation_data.action == own
    assert earlier.use_fake_user


def _clear_animation(obj):
    obj.animation_data_clear()


def _delete_action(obj):
    bpy.data.actions.remove(obj.animation_data.action)


def _change_rotation_mode(obj):
    obj.rotation_mode = "QUATERNION"


def _push_down(obj):
    data = obj.animation_data
    data.nla_tracks.new().strips.new("baked", 1, data.action)
    data.action = None


@pytest.mark.parametrize("meddle", [_clear_animation, _delete_action, _change_rotation_mode, _push_down])
def test_delete_bake_gives_back_whatever_was_done_to_the_bake(scene, meddle):
    obj = launched_body(scene)
    earlier, place = obj.animation_data.action, tuple(obj.location)
    Tumble(scene).write(scene)
    meddle(obj)
    assert attach.delete_bake(scene) == 1
    assert obj.animation_data.action == earlier
    assert obj.animation_data.action_slot == earlier.slots[0]
    scene.frame_set(25)
    assert tuple(obj.location) == pytest.approx(place)


def test_an_action_without_a_slot_comes_back_without_one(scene):
    obj = launched_body(scene)
    obj.animation_data.action_slot = None
    action = obj.animation_data.action
    tumble = Tumble(scene)
    tumble.write(scene)
    assert_motion(tumble, scene)
    attach.delete_bake(scene)
    assert (obj.animation_data.action, obj.animation_data.action_slot) == (action, None)


def test_a_deleted_body_does_not_keep_the_others(scene):
    add_body(scene, "Gone", location=(4, 0, 0))
    obj = add_body(scene)
    Tumble(scene).write(scene)
    bpy.data.objects.remove(scene.objects["Gone"])
    assert attach.delete_bake(scene) == 1
    assert obj.animation_data is None


def test_a_baked_object_can_be_appended_and_given_back_elsewhere(scene, tmp_path):
    """The action before the bake comes along with the object."""
    before = state(launched_body(scene))["curves"]
    tumble = Tumble(scene)
    tumble.write(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "baked.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "baked.blend")) as (_, target):
        target.objects = ["Body"]
    obj = target.objects[0]
    bpy.context.scene.collection.objects.link(obj)
    assert world_at(obj, 20) == pytest.approx(tumble.world("Body", 20), abs=2e-5)
    assert attach.delete_bake(bpy.context.scene) == 1
    assert state(obj)["curves"] == before


def test_a_duplicate_of_a_baked_object_gets_the_users_animation(scene):
    obj = launched_body(scene)
    earlier = obj.animation_data.action
    Tumble(scene).write(scene)
    copy = obj.copy()
    copy.animation_data.action = obj.animation_data.action.copy()
    scene.collection.objects.link(copy)
    assert attach.delete_bake(scene) == 1
    assert copy.animation_data.action == earlier
    assert [action.name for action in bpy.data.actions if "Cairn" in action.name] == []


def test_bake_again_leaves_no_old_key_behind(scene):
    obj = add_body(scene)
    Tumble(scene, 30).write(scene)
    with earlier_animation.earlier_animation(scene):
        shorter = Tumble(scene, 10, speed=0.1)
    shorter.write(scene)
    assert len(curves(obj)[("location", 0)].keyframe_points) == 11
    assert obj.animation_data.action.name == "Body Cairn"
    assert len(bpy.data.actions) == 1
    assert_motion(shorter, scene)


def test_a_baked_scene_is_seen_as_before_the_bake(scene):
    obj = launched_body(scene)
    other = add_body(scene, "Other", location=(5, 0, 0))
    scene.frame_set(7)
    before, baked = [state(obj), state(other)], Tumble(scene)
    baked.write(scene)
    after = [state(obj), state(other)]
    with earlier_animation.earlier_animation(scene):
        assert [state(obj), state(other)] == before
    assert [state(obj), state(other)] == after
