"""Keyframes: the motion that Blender shows after a bake is the motion that was simulated.

Trajectories are made up here (tumbling.py), so nothing is simulated.
"""

import time

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix
from tumbling import (
    FRAMES,
    Tumble,
    add_body,
    add_empty,
    assert_motion,
    cube_mesh,
    curves,
    key,
    launched_body,
    new_scene,
    proper,
    state,
    world_at,
)

from cairn.addon.read.faults import SceneError
from cairn.addon.read.scene_export import export_scene
from cairn.addon.write import attach, channels, earlier_animation, fcurves, keyframes
from cairn.solver_core.trajectory import Trajectory

MODES = ["QUATERNION", "AXIS_ANGLE", *channels.EULER_ORDERS]


@pytest.fixture
def scene():
    return new_scene()


# The poses


@pytest.mark.parametrize("mode", MODES)
def test_every_rotation_mode_shows_the_simulated_poses(scene, mode):
    add_body(scene, mode=mode)
    tumble = Tumble(scene)
    tumble.write(scene)
    assert_motion(tumble, scene)


@pytest.mark.parametrize("mode", MODES)
def test_rotation_channels_have_no_jumps(scene, mode):
    """A body that turns by 0.3 rad a frame turns by some 10 rad in all; no channel may leap back by a turn."""
    obj = add_body(scene, mode=mode)
    tumble = Tumble(scene)
    tumble.write(scene)
    path = channels.rotation_path(mode)
    values = [fcurves.Keys.of(curve).fields["co"][:, 1] for (name, _), curve in curves(obj).items() if name == path]
    # Half-way between two frames the shown rotation lies half-way on the short arc.
    for frame in range(1, FRAMES, 7):
        before, middle, after = (
            proper(Matrix(world_at(obj, frame, subframe))).to_quaternion() for subframe in (0.0, 0.5, 0.99999)
        )
        short = before.slerp(after if before.dot(after) > 0 else -after, 0.5)
        assert abs(middle.dot(short)) > 0.985, f"{mode}, frame {frame}: {values}"
    assert len(values) == len(getattr(obj, path))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("speed", [0.3, 4.0], ids=["slow", "fast"])
def test_the_first_frame_shows_what_is_there_without_the_bake_to_the_bit(scene, mode, speed):
    """Also of a child of a body that moves, and at the frames before."""
    bodies = [
        add_body(scene, name, mode=mode, location=(1234.567, at, 0.1)) for at, name in enumerate(("Body", "Child"))
    ]
    bodies[1].parent, bodies[1].delta_location = bodies[0], (0.1, 0.2, 0.3)
    bodies[1].delta_rotation_euler = (0.1, 0.7, -0.2)
    path = channels.rotation_path(mode)
    own = [(tuple(obj.location), tuple(getattr(obj, path))) for obj in bodies]
    scene.frame_set(1)
    before = [world_at(obj, 1) for obj in bodies]
    Tumble(scene, speed=speed).write(scene)
    for frame in (0, 1):
        assert np.array_equal([world_at(obj, frame) for obj in bodies], before)
        assert [(tuple(obj.location), tuple(getattr(obj, path))) for obj in bodies] == own
        assert all(earlier_animation.shows_earlier(obj, frame) for obj in bodies)
    assert not any(earlier_animation.shows_earlier(obj, 2) for obj in bodies)


def _key_location(scene, obj):
    key(obj, "location", {1: (0.3, -0.2, 2.0)})


def _constrain(scene, obj):
    obj.constraints.new("LIMIT_LOCATION").use_max_z = True


def _drive(scene, obj):
    obj.driver_add("location", 2).driver.expression = "2"


def _make_long(scene, obj):
    obj.rotation_mode, obj.rotation_quaternion = "QUATERNION", (2, 0, 0.3, 0)


@pytest.mark.parametrize("change", [_key_location, _constrain, _drive, _make_long])
def test_what_a_bake_shows_elsewhere_at_its_start_is_known(scene, change):
    obj = add_body(scene)
    change(scene, obj)
    Tumble(scene).write(scene)
    assert not earlier_animation.shows_earlier(obj, 1)


def _mute(obj):
    next(iter(curves(obj).values())).mute = True


def _move_key(obj):
    curves(obj)["location", 0].keyframe_points[0].co.y += 0.5


def _replace_action(obj):
    obj.animation_data.action = bpy.data.actions.new("Mine")


def _turn_otherwise(obj):
    obj.rotation_mode = "QUATERNION"


@pytest.mark.parametrize("change", [_mute, _move_key, _replace_action, _turn_otherwise])
def test_what_a_user_has_changed_of_a_bake_is_seen(scene, change):
    obj = add_body(scene)
    Tumble(scene).write(scene)
    assert earlier_animation.shows_earlier(obj, 1)
    change(obj)
    assert not earlier_animation.shows_earlier(obj, 1)


@pytest.mark.parametrize("scale", [(2, 0.5, 1.5), (-1, 1, 1), (1, -2, 0.5), (-1, -1, 2), (-1, -1, -1)])
@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION"])
def test_scale_and_mirroring_stay(scene, scale, mode):
    obj = add_body(scene, scale=scale, mode=mode)
    tumble = Tumble(scene)
    tumble.write(scene)
    assert_motion(tumble, scene, 5e-5)
    assert tuple(obj.scale) == pytest.approx(scale)
    assert not [path for path, _ in curves(obj) if "scale" in path]


@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "QUATERNION"])
def test_delta_transforms_stay(scene, mode):
    obj = add_body(scene, mode=mode)
    obj.delta_location = (0.4, 0.1, -0.2)
    obj.delta_rotation_euler = (0.2, 0.5, -0.3)
    obj.delta_rotation_quaternion = Euler((0.2, 0.5, -0.3)).to_quaternion()
    obj.delta_scale = (1.5, 0.5, 1.0)
    tumble = Tumble(scene)
    tumble.write(scene)
    assert_motion(tumble, scene, 5e-5)
    assert tuple(obj.delta_location) == pytest.approx((0.4, 0.1, -0.2))


def test_animated_delta_goes_on(scene):
    obj = add_body(scene)
    key(obj, "delta_location", {1: (0, 0, 0), 20: (1, 2, 3)})
    tumble = Tumble(scene)
    tumble.write(scene)
    assert_motion(tumble, scene)


def _empty_parent(scene, obj):
    obj.parent = add_empty(scene, location=(1, 2, 3), rotation_euler=(0.5, 1, -0.5), scale=(2, 2, 2))


def _parent_inverse(scene, obj):
    _empty_parent(scene, obj)
    obj.matrix_parent_inverse = Matrix.LocRotScale((1, 0, 2), Euler((1, 2, 3)), (0.5, 0.5, 0.5))


def _mirrored_parent(scene, obj):
    obj.parent = add_empty(scene, rotation_euler=(0.5, 1, -0.5), scale=(-1, 1, 1))


def _animated_parent(scene, obj):
    _empty_parent(scene, obj)
    key(obj.parent, "location", {1: (0, 0, 0), 30: (5, 0, 1)})
    key(obj.parent, "rotation_euler", {1: (0, 0, 0), 30: (1, 2, 3)})


def _grandparent(scene, obj):
    _empty_parent(scene, obj)
    obj.parent.parent = add_empty(scene, "Grandparent", rotation_euler=(0.1, 0.2, 0.3))
    key(obj.parent.parent, "rotation_euler", {1: (0, 0, 0), 30: (1, 2, 3)})


def _armature(scene, pose):
    armature = bpy.data.armatures.new("Armature")
    rig = bpy.data.objects.new("Rig", armature)
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, 0.5), (0.3, 0, 1.7)
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.location = (1, 1, 0)
    rig.pose.bones["Bone"].rotation_mode = "XYZ"
    if pose:
        key(rig.pose.bones["Bone"], "rotation_euler", {1: (0, 0, 0), 30: (1, 2, 0.5)})
    return rig


def _bone(scene, obj, pose=False):
    obj.parent, obj.parent_type, obj.parent_bone = _armature(scene, pose), "BONE", "Bone"


def _animated_bone(scene, obj):
    _bone(scene, obj, pose=True)


def _vertex(scene, obj):
    parent = bpy.data.objects.new("Sheet", cube_mesh().copy())
    parent.rotation_euler = (0.3, 0.2, 0.1)
    scene.collection.objects.link(parent)
    obj.parent, obj.parent_type, obj.parent_vertices = parent, "VERTEX", (3, 0, 0)


PARENTS = [
    _empty_parent, _parent_inverse, _mirrored_parent, _animated_parent, _grandparent, _bone, _animated_bone, _vertex
]  # fmt: skip


@pytest.mark.parametrize("parent", PARENTS)
@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION"])
def test_every_kind_of_parent(scene, parent, mode):
    obj = add_body(scene, mode=mode)
    parent(scene, obj)
    bpy.context.view_layer.update()
    tumble = Tumble(scene)
    tumble.write(scene)
    assert_motion(tumble, scene, 5e-5)


@pytest.mark.parametrize("between", [False, True])
def test_parents_that_are_baked_themselves(scene, between):
    """A body on a body, directly or with an animated empty between them."""
    carrier = add_body(scene, "Carrier", rotation=(0.1, 0.5, 0.2))
    body = add_body(scene, "Body", location=(0, 0, 1.5), rotation=(0, 0.2, 0))
    body.parent = carrier
    if between:
        empty = add_empty(scene, location=(0, 1, 0))
        key(empty, "rotation_euler", {1: (0, 0, 0), 30: (1, 2, 3)})
        empty.parent, body.parent = carrier, empty
    bpy.context.view_layer.update()
    bodies = scene.rigidbody_world.collection
    tumble = Tumble(scene)
    tumble.write(scene)
    tumble.write(scene)  # baking again changes nothing
    assert_motion(tumble, scene, 5e-5)
    with earlier_animation.earlier_animation(scene):
        assert scene.rigidbody_world.collection == bodies
    added = bpy.data.collections.new("Added")
    scene.rigidbody_world.collection = added
    attach.delete_bake(scene)
    assert scene.rigidbody_world.collection == bodies
    scene.frame_set(1)  # at later frames it waits
    assert scene.rigidbody_world.enabled


def test_poses_survive_saving_and_reopening(scene, tmp_path):
    add_body(scene, "Plain")
    _animated_bone(scene, add_body(scene, "Held", mode="QUATERNION"))
    add_body(scene, "Mirrored", scale=(-1, 2, 1), mode="AXIS_ANGLE")
    tumble = Tumble(scene)
    tumble.write(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "baked.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "baked.blend"))
    assert_motion(tumble, bpy.context.scene, 5e-5)
    attach.delete_bake(bpy.context.scene)
    assert "Plain Cairn" not in bpy.data.actions


def test_blenders_own_simulation_stays_off_until_delete_bake(scene):
    add_body(scene)
    tumble = Tumble(scene)
    tumble.write(scene)
    assert not scene.rigidbody_world.enabled
    attach.delete_bake(scene)
    assert scene.rigidbody_world.enabled


def test_a_world_that_was_off_stays_off(scene):
    add_body(scene)
    scene.rigidbody_world.enabled = False
    Tumble(scene).write(scene)
    attach.delete_bake(scene)
    assert not scene.rigidbody_world.enabled


def test_bodies_that_never_move_get_no_keys(scene):
    floor = add_body(scene, "Floor")
    floor.rigid_body.type = "PASSIVE"
    add_body(scene)
    Tumble(scene).write(scene)
    assert floor.animation_data is None
    assert not floor.cairn.is_baked


# Failure


def test_failure_half_way_puts_everything_back(scene, monkeypatch):
    bodies = [launched_body(scene), add_body(scene, "B", location=(3, 0, 0)), add_body(scene, "C", location=(6, 0, 0))]
    scene.frame_set(1)
    before = [state(body) for body in bodies]
    actions = set(bpy.data.actions.keys())
    tumble = Tumble(scene)
    put_on = attach._put_on

    def fails_at_the_last(obj, action):
        put_on(obj, action)
        if obj.name == "C":
            raise RuntimeError("half-way")

    monkeypatch.setattr(attach, "_put_on", fails_at_the_last)
    with pytest.raises(RuntimeError, match="half-way"):
        tumble.write(scene)
    assert [state(body) for body in bodies] == before
    assert set(bpy.data.actions.keys()) == actions
    assert scene.rigidbody_world.enabled
    assert not any(body.cairn.is_baked for body in bodies)


def test_failure_of_a_second_bake_keeps_the_first(scene, monkeypatch):
    add_body(scene)
    tumble = Tumble(scene)
    tumble.write(scene)
    monkeypatch.setattr(attach, "_put_on", lambda obj, action: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        tumble.write(scene)
    assert_motion(tumble, scene)
    monkeypatch.undo()
    assert attach.delete_bake(scene) == 1


def test_closing_the_generator_early_leaves_no_trace(scene, monkeypatch):
    """Also in the middle of those objects whose poses become keys together: eight of four frames are a step."""
    for i in range(keyframes.CHUNK + 1):
        add_body(scene, f"Body{i}", location=(2 * i, 0, 0))
    tumble = Tumble(scene, 3)
    steps = keyframes.write_steps(scene, tumble.export, tumble.trajectory, tumble.samples)
    monkeypatch.setattr(keyframes, "KEYED", 8 * 4)
    assert next(steps) == (8 // 2, keyframes.CHUNK + 1)
    while next(steps) != (keyframes.CHUNK // 2, keyframes.CHUNK + 1):
        pass
    steps.close()
    assert len(bpy.data.actions) == 0
    assert scene.objects["Body0"].animation_data is None


def test_objects_that_cannot_be_written_are_named(scene):
    obj = launched_body(scene)
    data = obj.animation_data
    track = data.nla_tracks.new()
    track.strips.new("strip", 1, data.action)
    track.is_solo = True
    tumble = Tumble(scene)
    with pytest.raises(SceneError, match=r"Body.*solo"):
        tumble.write(scene)
    track.is_solo = False
    bpy.data.objects.remove(obj)
    with pytest.raises(SceneError, match=r"Body.*no longer"):
        tumble.write(scene)


# Speed


def test_writing_takes_little_longer_than_blender_itself_needs_for_the_keys(scene, record_property):
    """1,000 objects and 250 frames, end to end, with rotations in quaternions (the most keys).

    That is 1.6 to 2 s of processor time where nothing else runs, and up to half more beside other programs; so it is
    compared with the least that Blender can be asked to do for as many keys (0.6 to 0.8 s), in turns.
    """
    for i in range(1000):
        add_body(scene, f"Body{i:04d}", location=(2 * (i % 40), 2 * (i // 40), 1), mode="QUATERNION")
    export = export_scene(scene)
    position, orientation = export.model.user_poses(*export.model.initial_state[:2])
    trajectory = Trajectory(position, orientation)
    for frame in range(1, 250):  # no channel stands still: keys that repeat their neighbours would be left out
        turn = np.array([np.cos(0.01 * frame), *np.full(3, np.sin(0.01 * frame) / np.sqrt(3))])
        trajectory.append(position + 0.01 * frame, np.tile(turn, (len(position), 1)), None)
    seconds, least = [], []
    for _ in range(3):
        attach.delete_bake(scene)
        least.append(_seconds_of_bare_keys(1000, 250))
        start = time.process_time()
        keyframes.write_trajectory(scene, export, trajectory)
        seconds.append(time.process_time() - start)
    print(f"1,000 objects x 250 frames of keyframes: {min(seconds):.2f} s, bare keys {min(least):.2f} s")
    record_property("seconds", min(seconds))
    record_property("ratio", min(seconds) / min(least))
    assert len(curves(scene.objects["Body0999"])[("rotation_quaternion", 3)].keyframe_points) == 250
    assert min(seconds) <= 4.0 * min(least)


def _seconds_of_bare_keys(objects, count):
    """Processor time of making an action with seven curves of linear keys for each of some objects, and no more."""
    coordinates = np.stack([np.arange(count), 0.01 * np.arange(count)], axis=1).astype(np.float32).ravel()
    linear, vector = np.full(count, fcurves.LINEAR, np.int32), np.full(count, fcurves.VECTOR, np.int32)
    start = time.process_time()
    actions = [bpy.data.actions.new(f"Bare{i:04d}") for i in range(objects)]
    for action in actions:
        bag = fcurves.channelbag(action, action.slots.new("OBJECT", "Bare"), ensure=True)
        for path, channels_of_path in (("location", 3), ("rotation_quaternion", 4)):
            for index in range(channels_of_path):
                curve = bag.fcurves.new(path, index=index)
                points = curve.keyframe_points
                points.add(count)
                points.foreach_set("co", coordinates)
                points.foreach_set("interpolation", linear)
                points.foreach_set("handle_left_type", vector)
                points.foreach_set("handle_right_type", vector)
                curve.update()
    seconds = time.process_time() - start
    bpy.data.batch_remove(actions)
    return seconds
