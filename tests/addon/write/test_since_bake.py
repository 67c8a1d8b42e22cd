"""The animator's loop: what is copied or moved after a bake is where it was put, at the next bake and without the bake.

Trajectories are made up here (tumbling.py), so nothing is simulated.
"""

import bpy
import numpy as np
import pytest
from tumbling import Tumble, add_body, assert_motion, curves, key, launched_body, new_scene, world_at

from cairn.addon.read.scene_export import export_scene
from cairn.addon.write import attach, earlier_animation, fcurves, keyframes, since_bake


@pytest.fixture
def scene():
    return new_scene()


@pytest.fixture
def baked(scene):
    """A baked body, at the frame at which the bake starts."""
    body = add_body(scene)
    Tumble(scene).write(scene)
    scene.frame_set(1)
    return body


def duplicate(scene, obj, place, *, with_action):
    """What Duplicate Objects does, with either preference of duplicating actions."""
    copy = obj.copy()
    if with_action:
        slot = obj.animation_data.action_slot.handle
        copy.animation_data.action = obj.animation_data.action.copy()
        copy.animation_data.action_slot = fcurves.find_slot(copy.animation_data.action, slot)
    scene.collection.objects.link(copy)  # it is in the world's collection already
    copy.location = place
    return copy


def start_of(scene, obj):
    """Where the next bake starts an object."""
    since_bake.catch_up(scene)
    with earlier_animation.earlier_animation(scene):
        export = export_scene(scene)
    return next(body.matrix_world_start[:3, 3] for body in export.bodies if body.object_name == obj.name)


@pytest.mark.parametrize("with_action", [False, True])
def test_a_copy_of_a_baked_body_starts_where_it_is(scene, baked, with_action):
    place, original = (5.0, 1.0, 3.0), tuple(baked.location)
    copy = duplicate(scene, baked, place, with_action=with_action)
    assert start_of(scene, copy) == pytest.approx(place)
    assert start_of(scene, baked) == pytest.approx(original)
    tumble = Tumble(scene)
    tumble.write(scene)
    assert_motion(tumble, scene)
    assert world_at(copy, 1)[:3, 3] == pytest.approx(place)


@pytest.mark.parametrize("with_action", [False, True])
def test_delete_bake_leaves_a_copy_where_it_is(scene, baked, with_action):
    place = (5.0, 1.0, 3.0)
    copy = duplicate(scene, baked, place, with_action=with_action)
    assert attach.delete_bake(scene) == 1
    assert tuple(copy.location) == place
    assert not copy.cairn.is_baked
    scene.frame_set(20)
    assert tuple(copy.location) == place
    assert not [action for action in bpy.data.actions if earlier_animation.is_bake_action(action)]


def test_a_copy_keeps_the_users_animation(scene):
    """As the original's does: keys of other channels, and the constraints that the bake has muted."""
    body = launched_body(scene)
    action = body.animation_data.action
    body.constraints.new("LIMIT_SCALE")
    Tumble(scene).write(scene)
    copy = duplicate(scene, body, (5, 1, 3), with_action=True)
    since_bake.catch_up(scene)
    assert copy.animation_data.action == action
    assert not copy.constraints[0].mute
    assert body.constraints[0].mute
    assert body.animation_data.action.name == "Body Cairn"


def test_a_renamed_body_keeps_its_bake_also_after_saving(scene, baked, tmp_path):
    place = tuple(baked.location)
    baked.name = "Renamed"
    duplicate(scene, baked, (5, 1, 3), with_action=False)
    for name in ("first.blend", "second.blend"):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / name))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / name))
        scene = bpy.context.scene
        assert [obj.name for obj in earlier_animation.baked_objects(scene)] == ["Renamed"]
    assert attach.delete_bake(scene) == 1
    assert tuple(scene.objects["Renamed"].location) == pytest.approx(place)
    assert tuple(scene.objects["Renamed.001"].location) == (5, 1, 3)


def test_a_renamed_body_keeps_its_bake_where_handlers_do_not_hear_of_saving(scene, baked, tmp_path):
    """Blender calls none for autosaves, and for the last session when it quits."""
    place = tuple(baked.location)
    baked.name = "Renamed"
    since_bake.catch_up(scene)  # as in a window a moment after each change
    heard = bpy.app.handlers.save_pre[:]
    bpy.app.handlers.save_pre.clear()
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "quit.blend"))
    finally:
        bpy.app.handlers.save_pre.extend(heard)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "quit.blend"))
    scene = bpy.context.scene
    assert [obj.name for obj in earlier_animation.baked_objects(scene)] == ["Renamed"]
    assert attach.delete_bake(scene) == 1
    assert tuple(scene.objects["Renamed"].location) == pytest.approx(place)


def test_an_appended_body_whose_name_is_taken_is_given_back(scene, baked, tmp_path):
    place = tuple(baked.location)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "baked.blend"))
    scene = new_scene()
    add_body(scene)
    with bpy.data.libraries.load(str(tmp_path / "baked.blend")) as (_, target):
        target.objects = ["Body"]
    (appended,) = target.objects
    assert appended.name == "Body.001"
    scene.collection.objects.link(appended)
    appended.location = (9, 9, 9)
    assert attach.delete_bake(scene) == 1
    assert tuple(appended.location) == pytest.approx(place)


def test_a_full_copy_of_a_baked_scene_is_baked_too(scene, baked):
    place = tuple(baked.location)
    bpy.ops.scene.new(type="FULL_COPY")
    copied = bpy.context.scene
    assert attach.delete_bake(copied) == 1
    assert tuple(copied.objects[0].location) == pytest.approx(place)
    assert earlier_animation.baked_objects(scene) == [baked]


@pytest.mark.parametrize("look", [False, True])
@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION", "AXIS_ANGLE"])
def test_a_body_moved_at_the_start_frame_starts_there(scene, mode, look):
    """Also where the user looks at other frames before the next bake."""
    body = add_body(scene, mode=mode)
    Tumble(scene).write(scene)
    scene.frame_set(1)
    later = [world_at(body, 2), world_at(body, 15)]
    scene.frame_set(1)
    body.location.x += 2.5
    path = keyframes.channels.rotation_path(mode)
    getattr(body, path)[1] += 0.25
    place, turn = tuple(body.location), tuple(getattr(body, path))
    if look:
        since_bake.catch_up(scene)
        assert np.array_equal([world_at(body, 2), world_at(body, 15)], later)
        scene.frame_set(1)
        assert (tuple(body.location), tuple(getattr(body, path))) == (place, turn)
        scene.frame_set(15)
    assert start_of(scene, body) == pytest.approx(place)
    attach.delete_bake(scene)
    assert (tuple(body.location), tuple(getattr(body, path))) == (place, turn)


def test_moved_at_the_start_frame_of_a_body_at_rest_is_moved_there_alone(scene):
    """The bake has left out keys that repeat others: the next frame keeps its value."""
    body = add_body(scene)
    Tumble(scene).write(scene)
    curve = curves(body)[("location", 0)]
    count = len(curve.keyframe_points)
    fcurves.Keys.linear(*fcurves.without_repeats(np.arange(1, 31), np.full(30, 4.0))).write(curve)
    assert len(curve.keyframe_points) == 2 < count
    since_bake._set_first_key(curve, 1, 7.0)
    assert [curve.evaluate(frame) for frame in (1, 2, 3, 30)] == [7.0, 4.0, 4.0, 4.0]


def test_a_key_at_the_start_frame_is_a_move_too(scene, baked):
    """As Auto Keying makes it, and seen from another frame."""
    place = (1.0, 2.0, 3.0)
    key(baked, "location", {1: place})
    scene.frame_set(12)
    assert start_of(scene, baked) == pytest.approx(place)


@pytest.mark.parametrize("look", [False, True])
def test_a_body_moved_before_the_start_frame_starts_there(scene, look):
    """The bake's first key holds before its frame, too."""
    cache = scene.rigidbody_world.point_cache
    cache.frame_start, cache.frame_end = 10, 10 + 30
    body = add_body(scene)
    Tumble(scene).write(scene)
    scene.frame_set(1)
    later = [world_at(body, 11), world_at(body, 25)]
    scene.frame_set(1)
    assert not since_bake.is_behind(scene)
    body.location.x += 2.5
    place = tuple(body.location)
    if look:
        since_bake.catch_up(scene)
        assert np.array_equal([world_at(body, 11), world_at(body, 25)], later)
        for frame in (10, 1):
            scene.frame_set(frame)
            assert tuple(body.location) == place
    assert start_of(scene, body) == pytest.approx(place)
    attach.delete_bake(scene)
    assert tuple(body.location) == place


def test_keys_before_the_start_frame_are_no_new_start(scene, baked):
    """There the body is seen where they have it, and at the start frame where it was."""
    place = tuple(baked.location)
    key(baked, "location", {-20: (7, 7, 7)})
    for frame in (-20, -5, 1):
        scene.frame_set(frame)
        assert start_of(scene, baked) == pytest.approx(place)


def test_what_is_not_moved_starts_where_it_did(scene, baked):
    """At the start frame and elsewhere, hidden at another frame, and where a script sets the frame unseen."""
    place = tuple(baked.location)
    for frame in (1, 20):
        scene.frame_set(frame)
        assert not since_bake.is_behind(scene)
    baked.hide_viewport = True
    scene.frame_set(1)
    assert start_of(scene, baked) == pytest.approx(place)
    baked.hide_viewport = False
    scene.frame_set(20)
    scene.frame_current = 1
    assert start_of(scene, baked) == pytest.approx(place)


def test_a_keyed_body_starts_where_its_keys_say(scene):
    """Moving it without a key is lost, as everywhere in Blender."""
    body = launched_body(scene)
    Tumble(scene).write(scene)
    scene.frame_set(1)
    place = start_of(scene, body)
    body.location.x += 3
    assert start_of(scene, body) == pytest.approx(place)


def test_keys_that_repeat_both_neighbours_are_left_out():
    """What remains gives the same values to the bit, at whole frames and between; 0 and -0 are two values."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    random = np.random.default_rng(0)
    values = np.repeat(random.normal(size=40), random.integers(1, 9, size=40)).astype(np.float32)
    values = np.concatenate([values, np.float32([0.0, 0.0, -0.0, -0.0, -0.0, 0.1, 0.1])])
    frames = np.arange(-20, len(values) - 20)
    action = bpy.data.actions.new("Action")
    bag = fcurves.channelbag(action, action.slots.new("OBJECT", "Body"), ensure=True)
    full, sparse = bag.fcurves.new("location", index=0), bag.fcurves.new("location", index=1)
    fcurves.write_linear(full, frames, values)
    fcurves.write_linear(sparse, *fcurves.without_repeats(frames, values))
    assert len(sparse.keyframe_points) < 0.6 * len(full.keyframe_points)
    at = np.concatenate([frames, frames + 0.37, [frames[0] - 5, frames[-1] + 5]])
    found, wanted = (np.float32(fcurves.values_at(curve, at)).view(np.int32) for curve in (sparse, full))
    assert np.array_equal(found, wanted)
