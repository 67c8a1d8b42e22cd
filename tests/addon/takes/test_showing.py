"""Show Cairn, Bullet or the start: each shows what it says, and no bake is lost on the way, in whatever order.

Two boxes fall on a floor, one of them keyed before it is let go; Cairn and Bullet are asked for the same few frames.
"""

import bpy
import numpy as np
import pytest
from user_data import differences, user_data

import cairn
from cairn.addon.bake import BakeStopped
from cairn.addon.read.faults import SceneError
from cairn.addon.takes import book, ghosts, showing, steps
from cairn.addon.write import attach, blender_world, fcurves

LAST = 14
ORDER = ("BULLET", "START", "CAIRN", "START", "BULLET", "CAIRN")


@pytest.fixture
def scene(maker):
    cairn.register()
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(20, 20, 1))
    maker.body("Box", shape="BOX", location=(0, 0, 1.2), rotation_euler=(0.3, 0.2, 0.1))
    let_go = maker.body("Let Go", shape="BOX", location=(4, 0, 3))
    maker.key(let_go, "location", {1: (4, 0, 3), 5: (4, 1, 3)})
    maker.key(let_go, "rigid_body.kinematic", {1: True, 5: False})
    maker.scene.frame_end = maker.world.point_cache.frame_end = LAST
    maker.scene.frame_set(1)
    return maker.scene


def show(scene, motion):
    return steps.finished(showing.show_steps(scene.name, motion))


def motion_of(scene):
    """World matrices of the two boxes in all frames, shown one after the other from the first on."""
    found = []
    for frame in range(1, LAST + 1):
        scene.frame_set(frame)
        found.append([np.array(scene.objects[name].matrix_world) for name in ("Box", "Let Go")])
    scene.frame_set(1)
    return np.array(found)


def curves_in(scene):
    names = ("Box", "Let Go")
    found = {}
    for name in names:
        data = scene.objects[name].animation_data
        bag = fcurves.channelbag(data.action, data.action_slot) if data else None
        found[name] = {key: fcurves.digest(curve) for key, curve in fcurves.curves_of(bag).items()}
    return found


def test_each_shows_what_it_says_and_the_bake_comes_back_to_the_bit(scene):
    bullet, own = motion_of(scene), curves_in(scene)
    scene.rigidbody_world.enabled = False
    start = motion_of(scene)
    scene.rigidbody_world.enabled = True
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    wanted = {"CAIRN": (motion_of(scene), curves_in(scene)), "BULLET": (bullet, own), "START": (start, own)}
    assert np.abs(wanted["CAIRN"][0] - bullet).max() > 0.1
    summary = scene.cairn.summary
    for motion in ORDER:
        show(scene, motion)
        assert showing.shown(scene) == motion
        assert curves_in(scene) == wanted[motion][1]
        assert motion_of(scene) == pytest.approx(wanted[motion][0], abs=1e-5), motion
        assert scene.cairn.is_baked == (motion == "CAIRN")
        assert len(scene.cairn.takes) == 1
        assert scene.frame_current == 1
    assert scene.cairn.summary == summary
    attach.delete_bake(scene)
    assert curves_in(scene) == own
    assert scene.rigidbody_world.enabled
    assert motion_of(scene) == pytest.approx(bullet, abs=1e-5)


def test_bullet_is_there_at_once_at_any_frame(scene):
    """All frames are simulated, so that the one which is shown need not be the first."""
    bullet = motion_of(scene)
    bpy.ops.cairn.bake()
    scene.frame_set(9)
    show(scene, "BULLET")
    assert scene.frame_current == 9
    assert np.array(scene.objects["Box"].matrix_world) == pytest.approx(bullet[8, 0], abs=1e-5)
    scene.frame_set(12)
    assert np.array(scene.objects["Box"].matrix_world) == pytest.approx(bullet[11, 0], abs=1e-5)
    _, known = ghosts.bullet_matrices(scene, 7)
    assert pytest.approx(bullet[6, 0], abs=1e-5) == known[0].T


@pytest.mark.parametrize("motion", ["BULLET", "START"])
def test_a_file_saved_meanwhile_has_the_bake(scene, tmp_path, motion):
    bullet = motion_of(scene)
    bpy.ops.cairn.bake()
    baked, own = motion_of(scene), curves_in(scene)
    scene.frame_set(6)
    show(scene, motion)
    path = str(tmp_path / "shown.blend")
    for _ in range(2):
        bpy.ops.wm.save_as_mainfile(filepath=path)
        assert showing.shown(bpy.context.scene) == motion
        bpy.ops.wm.open_mainfile(filepath=path)
        assert showing.shown(bpy.context.scene) == motion
    scene = bpy.context.scene
    show(scene, "CAIRN")
    assert curves_in(scene) == own
    assert motion_of(scene) == pytest.approx(baked, abs=1e-6)
    attach.delete_bake(scene)
    scene.frame_set(1)
    assert scene.rigidbody_world.enabled
    assert motion_of(scene) == pytest.approx(bullet, abs=1e-5)


def test_a_file_saved_while_the_start_is_shown_simulates_without_cairn(scene, tmp_path):
    bpy.ops.cairn.bake()
    show(scene, "START")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "start.blend"))
    assert not scene.rigidbody_world.enabled
    name = scene.name
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "start.blend"), link=True) as (_, wanted):
        wanted.scenes = [name]
    assert wanted.scenes[0].rigidbody_world.enabled


def test_a_bake_while_the_start_is_shown_leaves_the_world_on_without_it(scene):
    bpy.ops.cairn.bake()
    show(scene, "START")
    assert not blender_world.plays(scene)
    bpy.ops.cairn.bake()
    assert showing.shown(scene) == "CAIRN"
    assert scene.cairn.take == ""
    attach.delete_bake(scene)
    scene.frame_set(1)
    assert scene.rigidbody_world.enabled
    assert not scene.cairn.world_is_held


def test_a_world_that_the_user_switches_on_is_no_longer_held(scene, tmp_path):
    bpy.ops.cairn.bake()
    show(scene, "START")
    scene.rigidbody_world.enabled = True
    assert showing.shown(scene) == "BULLET"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "on.blend"))
    assert scene.rigidbody_world.enabled
    assert not scene.cairn.world_is_held


def test_moves_while_bullet_is_shown_are_the_users_own(scene):
    bpy.ops.cairn.bake()
    baked = motion_of(scene)
    show(scene, "START")
    box = scene.objects["Box"]
    box.location = (1, 2, 3)
    show(scene, "CAIRN")
    assert motion_of(scene) == pytest.approx(baked, abs=1e-6)
    attach.delete_bake(scene)
    assert tuple(box.location) == (1, 2, 3)


def test_a_bake_that_was_edited_comes_back_edited(scene):
    bpy.ops.cairn.bake()
    show(scene, "BULLET")
    show(scene, "CAIRN")
    data = scene.objects["Box"].animation_data
    fcurves.channelbag(data.action, data.action_slot).fcurves[0].keyframe_points[3].co.y += 0.5
    edited = curves_in(scene)
    assert show(scene, "START").kept == "Take 2"
    show(scene, "CAIRN")
    assert curves_in(scene) == edited


def test_a_world_that_is_off_is_not_switched_on(scene):
    scene.rigidbody_world.enabled = False
    bpy.ops.cairn.bake()
    with pytest.raises(SceneError, match="switched off: switch it on to see Bullet"):
        show(scene, "BULLET")
    assert scene.cairn.is_baked
    show(scene, "START")
    show(scene, "CAIRN")
    attach.delete_bake(scene)
    assert not scene.rigidbody_world.enabled


def test_without_a_bake_there_is_none_to_show(scene):
    with pytest.raises(SceneError, match="no bake to show: press Bake first"):
        show(scene, "CAIRN")


def test_a_stop_leaves_the_frames_that_bullet_has(scene):
    bpy.ops.cairn.bake()
    going = showing.show_steps(scene.name, "BULLET")
    while next(going).stage != "simulate":
        pass
    next(going)
    with pytest.raises(StopIteration):
        going.throw(BakeStopped())
    assert showing.shown(scene) == "BULLET"
    assert scene.frame_current == 1
    assert len(ghosts.bullet_of(scene).matrices) == 2
    show(scene, "CAIRN")
    assert scene.cairn.is_baked


def test_nothing_of_the_users_is_changed_by_all_of_it(scene, tmp_path):
    """Of all that the file holds, once the takes are removed and the bake is deleted."""
    box = scene.objects["Box"]
    box.constraints.new("LIMIT_LOCATION").mute = True
    box["mine"] = 3.0
    track = box.animation_data_create().nla_tracks.new()
    track.name = "Track of mine"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "mine.blend"))
    before = user_data()
    bpy.ops.cairn.bake()
    for motion in ORDER:
        show(scene, motion)
    bpy.ops.cairn.bake()
    for motion in ("BULLET", "CAIRN", "START"):
        show(scene, motion)
    assert len(scene.cairn.takes) == 2
    show(scene, "CAIRN")
    attach.delete_bake(scene)
    for uid in [take.uid for take in scene.cairn.takes]:
        book.remove(scene, uid)
    scene.frame_set(1)
    assert differences(before, user_data()) == {}
