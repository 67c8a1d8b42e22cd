"""What the panel offers: to continue after ESC or a crash, and to keep what is before the current frame."""

import json

import bpy
import numpy as np
import pytest
from joint_scenes import joint

import cairn
from cairn.addon.bake import BakeStopped, bake_frames, bake_scene
from cairn.addon.checkpoints import in_window
from cairn.addon.checkpoints.folder import CheckpointError
from cairn.addon.settings import BakeSettings
from cairn.addon.ui import operators, watch
from cairn.addon.write import attach

FRAMES = 24
GRAVITY = 9.81


@pytest.fixture
def scene(maker, tmp_path):
    """Two boxes that fall on each other and on a plate that moves, one that flies, and a rope that breaks at once."""
    cairn.register()
    free = {"linear_damping": 0.0, "angular_damping": 0.0}
    maker.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(20, 20, 1))
    plate = maker.body("Plate", shape="BOX", type="PASSIVE", location=(0, 0, 0.2), scale=(3, 3, 0.2))
    maker.key(plate, "location", {1: (0, 0, 0.2), FRAMES: (1.5, 0, 0.2)})
    for number in range(2):
        maker.body(f"Box {number}", shape="BOX", location=(0, 0.1 * number, 0.9 + 1.05 * number))
    maker.body("Flying", shape="BOX", location=(-5, 0, 30), rotation_euler=(0.1, 0.2, 0.3), settings=free)
    hung = maker.body("Hung", shape="BOX", location=(5, 0, 30), settings=free)
    joint(maker, "Rope", None, hung, location=(5, 0, 30), use_breaking=True, breaking_threshold=1e-4)
    maker.scene.frame_end = maker.world.point_cache.frame_end = FRAMES
    maker.save(tmp_path / "shot.blend")
    bpy.context.window_manager.cairn.status = ""
    return maker.scene


def settings(scene):
    return BakeSettings.from_scene(scene)


def stop_at(scene, frame):
    """A bake in the window, and ESC after a frame."""
    return stopped_at(bake_frames(scene, settings(scene), in_window.plan_of(scene), keeps_earlier=True), frame)


def stopped_at(steps, frame):
    for progress in steps:
        if progress.frame == frame:
            break
    try:
        progress = steps.throw(BakeStopped())
        while True:
            progress = next(steps)
    except StopIteration as end:
        return end.value


def crash_at(scene, frame):
    """The same, and Blender is gone: nothing of it but the files."""
    plan = in_window.plan_of(scene)
    steps = bake_frames(scene, settings(scene), plan.__class__(**vars(plan) | {"every_frames": 1}))
    for progress in steps:
        if progress.frame == frame:
            steps.close()
            return


def status(scene):
    watch.look_at(scene, bpy.context.window_manager.cairn)
    return json.loads(bpy.context.window_manager.cairn.status)


def offer(scene):
    return status(scene)["checkpoint"]


@pytest.mark.parametrize("end", [stop_at, crash_at])
def test_a_bake_that_ended_early_continues_to_the_same_bits(scene, end):
    """ESC or a crash at frame 9: the panel offers to continue; at the end there is nothing more to continue to."""
    unbroken = bake_scene(scene, settings(scene)).report["totals"]["digest"]
    attach.delete_bake(scene)
    end(scene, 9)
    assert scene.cairn.is_baked == (end is stop_at)
    assert offer(scene) == {"frame": 9, "start": 1, "end": FRAMES, "fits": True}
    assert bpy.ops.cairn.continue_bake() == {"FINISHED"}
    assert json.loads(scene.cairn.report)["totals"]["digest"] == unbroken
    assert (scene.cairn.baked_start, scene.cairn.baked_end) == (1, FRAMES)
    assert offer(scene)["frame"] == FRAMES


def test_a_longer_range_only_computes_what_is_new(scene):
    scene.rigidbody_world.point_cache.frame_end = 15
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    scene.rigidbody_world.point_cache.frame_end = FRAMES
    assert offer(scene) == {"frame": 15, "start": 1, "end": FRAMES, "fits": True}
    assert bpy.ops.cairn.continue_bake() == {"FINISHED"}
    longer = json.loads(scene.cairn.report)["totals"]
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    again = json.loads(scene.cairn.report)["totals"]
    assert longer["digest"] == again["digest"]
    assert longer["frames"] == again["frames"] == FRAMES - 1


def test_a_scene_that_has_changed_does_not_continue(scene):
    """Nothing is offered; called all the same it says what has changed, and the bake stays as it is."""
    stop_at(scene, 9)
    scene.objects["Box 1"].rigid_body.friction = 0.1
    assert not offer(scene)["fits"]
    with pytest.raises(RuntimeError, match="friction of Box 1"):
        bpy.ops.cairn.continue_bake()
    assert scene.cairn.baked_end == 9


def test_without_checkpoints_nothing_is_written(scene):
    scene.cairn.use_checkpoints = False
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert not in_window.folder_of(scene).exists()
    assert offer(scene) == {}


def test_an_unsaved_file_keeps_them_for_the_session(maker):
    cairn.register()
    maker.body("Ball", shape="SPHERE", location=(0, 0, 3))
    maker.world.point_cache.frame_end = 9
    place = in_window.folder_of(maker.scene)
    assert str(place).startswith(bpy.app.tempdir)
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert (place / "state.npz").exists()


# From the current frame


def positions(scene, name):
    heights = []
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        heights.append(np.array(scene.objects[name].evaluated_get(graph).matrix_world)[:3, 3])
    return np.array(heights)


def bake_from(scene, frame):
    scene.frame_set(frame)
    return bpy.ops.cairn.bake_from_current()


def test_what_is_before_the_current_frame_stays(scene):
    """With other friction, a new body and one less: until frame 12 as before; what flies goes on along its parabola."""
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    before = {name: positions(scene, name) for name in ("Box 0", "Box 1", "Flying", "Hung")}
    scene.frame_set(1)
    scene.objects["Box 0"].rigid_body.friction = 0.0
    bpy.data.objects.remove(scene.objects["Box 1"])
    new = scene.objects["Flying"].copy()
    new.name, new.location = "New", (-8, 0, 30)
    scene.collection.objects.link(new)
    offer(scene)  # by now Blender would have shown the copy without the bake
    assert bake_from(scene, 12) == {"FINISHED"}
    after = {name: positions(scene, name) for name in ("Box 0", "Flying", "Hung", "New")}
    for name in ("Box 0", "Flying", "Hung"):
        assert np.array_equal(after[name][:12], before[name][:12]), name
    time = np.arange(FRAMES) / 24
    assert after["Flying"][:, 2] == pytest.approx(30 - 0.5 * GRAVITY * time**2, abs=1e-4)
    # the rope stays broken
    assert after["Hung"][:, 2] == pytest.approx(before["Hung"][:, 2], abs=1e-4)
    assert np.abs(after["Box 0"][-1] - before["Box 0"][-1]).max() > 0.01
    assert np.ptp(after["New"][:12], axis=0).max() < 1e-6
    assert after["New"][-1, 2] == pytest.approx(30 - 0.5 * GRAVITY * (time[-1] - time[11]) ** 2, abs=1e-3)


def test_a_body_that_was_moved_goes_on_from_where_the_bake_has_it(scene):
    """Its new start is that of the next bake from the start; what is kept, and what follows, has not moved."""
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    before = positions(scene, "Flying")
    scene.frame_set(1)
    scene.objects["Flying"].location.x += 2.0
    bpy.context.view_layer.update()
    status(scene)  # by now the place is the body's start
    assert bake_from(scene, 12) == {"FINISHED"}
    after = positions(scene, "Flying")
    assert after[0] == pytest.approx(before[0] + (2, 0, 0), abs=1e-6)
    assert np.abs(after[1:] - before[1:]).max() < 1e-4


def test_keys_of_looks_do_not_hinder_continue(scene):
    stop_at(scene, 9)
    scene.objects["Plate"].keyframe_insert("hide_render", frame=3)
    assert offer(scene)["fits"]
    assert bpy.ops.cairn.continue_bake() == {"FINISHED"}


def test_the_plate_carries_on_from_where_it_is(scene):
    """Unchanged, the motion from frame 12 on is what it was, but for contacts that are found anew."""
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    before = positions(scene, "Box 0")
    assert bake_from(scene, 12) == {"FINISHED"}
    assert np.abs(positions(scene, "Box 0") - before).max() < 0.01


def test_a_bake_from_the_middle_continues_to_the_same_bits(scene):
    """Its own checkpoints hold what it has kept."""
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    scene.rigidbody_world.point_cache.frame_end = 18
    assert bake_from(scene, 12) == {"FINISHED"}
    scene.rigidbody_world.point_cache.frame_end = FRAMES
    assert bpy.ops.cairn.continue_bake() == {"FINISHED"}
    continued = json.loads(scene.cairn.report)["totals"]["digest"]
    assert bake_from(scene, 12) == {"FINISHED"}
    assert json.loads(scene.cairn.report)["totals"]["digest"] == continued


def test_a_frame_that_was_not_recorded(scene):
    stop_at(scene, 9)
    with pytest.raises(RuntimeError, match="frames 2 to 9; frame 15 is not one"):
        bake_from(scene, 15)
    assert scene.cairn.baked_end == 9
    in_window.folder_of(scene).joinpath("state.npz").unlink()
    with pytest.raises(RuntimeError, match=r"Cannot read the checkpoint .*state\.npz"):
        bake_from(scene, 5)
    assert issubclass(CheckpointError, operators.SceneError)


# What is finished stays


def said_of_stop(scene, result):
    """What the operator reports; the panel offers the same at once."""
    session = bpy.context.window_manager.cairn
    offers = operators.note_offers(bpy.context, scene.name, result.digest)
    at_once = json.loads(session.status)
    assert {name: at_once[name] for name in offers} == offers
    looked = status(scene)
    assert {name: looked[name] for name in offers} == offers
    return operators.kept_sentence(scene.cairn, result, offers)


def test_what_is_said_of_a_stop_is_what_the_panel_offers(scene):
    """Nothing has changed: the bake that stays is all of the motion; with more frames asked for it is gone on with."""
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert said_of_stop(scene, stop_at(scene, 9)) == f"Stopped. The bake of frames 1 to {FRAMES} stays"
    scene.rigidbody_world.point_cache.frame_end = FRAMES + 10
    stays = f"Stopped. The bake of frames 1 to {FRAMES} stays. Continue goes on from frame {FRAMES}"
    assert said_of_stop(scene, stop_at(scene, 9)) == stays
    assert status(scene)["checkpoint"] == {"frame": FRAMES, "start": 1, "end": FRAMES + 10, "fits": True}


def test_nothing_is_offered_of_checkpoints_that_were_removed(scene):
    """At once, and the look that follows says why."""
    session = bpy.context.window_manager.cairn
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert status(scene)["recorded"] == [1, FRAMES]
    assert bpy.ops.cairn.remove_checkpoints() == {"FINISHED"}
    assert not set(in_window.OFFERS) & set(json.loads(session.status))
    said = status(scene)
    assert (said["checkpoint"], said["recorded"], said["fetch"]) == ({}, [], 0)
    assert said["why_not"].startswith("The checkpoint of this bake is no longer in ")


def test_stopping_bake_again_leaves_the_finished_bake_and_its_checkpoint(scene):
    """The frames of the new one wait: Continue finishes it, to the same bits; until then both can be gone on with."""
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    finished = positions(scene, "Box 0")
    first = scene.cairn.bake_id
    scene.objects["Box 0"].rigid_body.friction = 0.05
    result = stop_at(scene, 9)
    assert result.kept_earlier
    assert said_of_stop(scene, result) == (
        f"Stopped. The bake of frames 1 to {FRAMES} stays. Continue goes on with the new one from frame 9"
    )
    assert (scene.cairn.baked_end, scene.cairn.bake_id) == (FRAMES, first)
    assert np.array_equal(positions(scene, "Box 0"), finished)
    said = status(scene)
    assert said["checkpoint"] == {"frame": 9, "start": 1, "end": FRAMES, "fits": True}
    assert said["recorded"] == [1, FRAMES]
    # the earlier one is there to be baked anew from its middle ...
    scene.objects["Box 0"].rigid_body.friction = 0.5
    said = status(scene)
    assert (said["outdated"], said["fetch"], said["recorded"]) == ("", 0, [1, FRAMES])
    # ... and the new one to be finished
    scene.objects["Box 0"].rigid_body.friction = 0.05
    assert bpy.ops.cairn.continue_bake() == {"FINISHED"}
    continued = json.loads(scene.cairn.report)["totals"]["digest"]
    assert (scene.cairn.baked_end, status(scene)["outdated"]) == (FRAMES, "")
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert json.loads(scene.cairn.report)["totals"]["digest"] == continued
    left = sorted(path.name[:6] for path in in_window.folder_of(scene).iterdir())
    assert left == ["frames", "state."]


def test_a_bake_from_the_middle_that_is_stopped_leaves_the_finished_one(scene):
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    finished = positions(scene, "Box 1")
    scene.frame_set(12)
    scene.objects["Box 0"].rigid_body.friction = 0.0
    plan = in_window.plan_of(scene, from_frame=12)
    assert stopped_at(bake_frames(scene, settings(scene), plan, keeps_earlier=True), 15).kept_earlier
    assert np.array_equal(positions(scene, "Box 1"), finished)
    assert status(scene)["recorded"] == [1, FRAMES]


def test_more_frames_take_the_place_of_fewer(scene):
    """A bake that was stopped has nothing that its continuation lacks."""
    stop_at(scene, 6)
    result = stop_at(scene, 9)
    assert not result.kept_earlier
    assert scene.cairn.baked_end == 9


def test_a_finished_simulation_that_was_not_saved_is_fetched_back(scene, tmp_path):
    """After a kill the file knows nothing of it; one press writes it, and simulates nothing."""
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    digest = json.loads(scene.cairn.report)["totals"]["digest"]
    assert status(scene)["fetch"] == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    scene = bpy.context.scene
    assert not scene.cairn.is_baked
    assert status(scene)["fetch"] == FRAMES
    assert bpy.ops.cairn.continue_bake() == {"FINISHED"}
    totals = json.loads(scene.cairn.report)["totals"]
    assert totals["digest"] == digest
    assert totals["seconds_by_part"]["simulate"] == 0.0
    assert (status(scene)["fetch"], scene.cairn.baked_end) == (0, FRAMES)


def test_fetching_back_leaves_the_checkpoint_of_a_bake_that_was_stopped(scene, tmp_path):
    """Bake, save, change, Bake Again and ESC; the file opened again has the first bake, and can fetch it back whole."""
    bpy.ops.wm.save_mainfile()
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    scene.cairn.substeps = 7
    assert stop_at(scene, 6).kept_earlier
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    scene = bpy.context.scene
    assert status(scene)["fetch"] == FRAMES
    assert bpy.ops.cairn.continue_bake() == {"FINISHED"}
    said = status(scene)
    assert (said["recorded"], said["fetch"], said["why_not"]) == ([1, FRAMES], 0, "")
    assert bake_from(scene, 12) == {"FINISHED"}


def test_the_bake_is_gone_on_with_under_a_new_name(scene, tmp_path):
    """Of the file, and of the scene; where its checkpoint is gone a line says so."""
    scene.rigidbody_world.point_cache.frame_end = 15
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    scene.rigidbody_world.point_cache.frame_end = FRAMES
    (tmp_path / "other").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other" / "shot_2.blend"))
    scene.name = "Take 2"
    said = status(scene)
    assert said["checkpoint"] == {"frame": 15, "start": 1, "end": FRAMES, "fits": True}
    assert (said["recorded"], said["why_not"]) == ([1, 15], "")
    before = sorted(path.name for path in (tmp_path / "cairn checkpoints" / "shot.Scene.checkpoint").iterdir())
    assert bpy.ops.cairn.continue_bake() == {"FINISHED"}
    continued = json.loads(scene.cairn.report)["totals"]["digest"]
    assert sorted(path.name for path in (tmp_path / "cairn checkpoints" / "shot.Scene.checkpoint").iterdir()) == before
    assert status(scene)["recorded"] == [1, FRAMES]
    assert bake_from(scene, 12) == {"FINISHED"}
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert json.loads(scene.cairn.report)["totals"]["digest"] == continued
    for path in in_window.folder_of(scene).iterdir():
        path.unlink()
    said = status(scene)
    assert (said["checkpoint"], said["recorded"]) == ({}, [])
    assert said["why_not"].startswith("The checkpoint of this bake is no longer in shot_2.Take_2.checkpoint")


def test_another_bake_of_the_first_file_is_not_taken_for_the_one_that_was_saved_elsewhere(scene, tmp_path):
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.context.scene.objects["Box 0"].rigid_body.mass = 3.0
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "copy.blend"))
    said = status(bpy.context.scene)
    assert (said["checkpoint"], said["recorded"], said["fetch"]) == ({}, [], 0)
    assert "no longer in shot.Scene.checkpoint" in said["why_not"]


def test_what_cannot_be_continued_is_said_before(scene):
    """A crash, and then a change: no button, and why."""
    crash_at(scene, 9)
    assert status(scene)["why_not"] == ""
    scene.objects["Box 1"].rigid_body.friction = 0.1
    said = status(scene)
    assert not said["checkpoint"]["fits"]
    assert said["why_not"] == "Simulated to frame 9, but not for the scene as it is: friction of Box 1"
