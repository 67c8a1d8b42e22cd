"""*Follow* of a rigid body: what is read, that a bake follows, lets go and comes back, and that no key is lost."""

import contextlib
import math

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import BakeStopped, bake_frames, bake_scene
from cairn.addon.checkpoints import in_window
from cairn.addon.read import guides
from cairn.addon.read.frame_samples import evaluate_frame, simulation_paused
from cairn.addon.read.scene_digest import changes, scene_digest
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.settle import settle
from cairn.addon.ui import follow
from cairn.addon.ui.kept_digest import KeptDigest
from cairn.addon.wedge.targets import set_property
from cairn.addon.write import attach
from tests.addon.support.scene_state import visible_state

LAST = 40


@pytest.fixture
def box(maker):
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = LAST
    return maker.body("Box", shape="BOX", location=(0, 0, 3))


def key_a_swing(maker, box, last=LAST + 4):
    """Keys at each frame: a swing along x, and a turn about z."""
    rows = {"location": [], "rotation_euler": []}
    for frame in range(1, last + 1):
        angle = 2.0 * math.pi * (frame - 1) / 24.0
        rows["location"].append((frame, (math.sin(angle) ** 2, 0.0, 3.0)))
        rows["rotation_euler"].append((frame, (0.0, 0.0, 0.4 * math.sin(angle) ** 2)))
    for path, values in rows.items():
        for frame, value in values:
            setattr(box, path, value)
            box.keyframe_insert(path, frame=frame)


def key_follow(box, *pairs):
    for frame, value in pairs:
        box.cairn.follow = value
        box.keyframe_insert("cairn.follow", frame=frame)
    curves = guides.animated_paths(box)
    assert "cairn.follow" in curves
    for layer in box.animation_data.action.layers:
        for strip in layer.strips:
            for bag in strip.channelbags:
                for curve in bag.fcurves:
                    if curve.data_path == "cairn.follow":
                        for point in curve.keyframe_points:
                            point.interpolation = "CONSTANT"


def matrices(scene, name, frames=range(1, LAST + 1)):
    found, shown = [], scene.frame_current
    for frame in frames:
        graph = evaluate_frame(scene, frame)
        found.append(np.array(scene.objects[name].evaluated_get(graph).matrix_world))
    scene.frame_set(shown)
    return np.array(found)


def targets(scene):
    """Where its animation puts the box, without any simulation."""
    with simulation_paused(scene):
        return matrices(scene, "Box")


def texts(export, name):
    return [note.text for note in export.notes if note.object_name == name]


def bake(scene, **options):
    return bake_scene(scene, BakeSettings(**options))


# what is read


def test_without_follow_nothing_is_guided(maker, box):
    export = export_scene(maker.scene)
    assert len(export.model.guides) == 0
    assert not export.samples_needed
    assert "follow" not in scene_digest(maker.scene)["bodies"]["Box"]


def test_numbers_are_read_and_zero_sets_no_limit(maker, box):
    maker.body("Other", shape="BOX", location=(3, 0, 0))
    key_a_swing(maker, box)
    own = box.cairn
    own.follow, own.follow_frequency, own.follow_damping, own.follow_force, own.follow_torque = (
        0.5,
        3.0,
        0.25,
        50.0,
        0.0,
    )
    export = export_scene(maker.scene)
    index = export.model.names.index("Box")
    assert export.model.guides[index] == pytest.approx([3.0, 0.25, 50.0, math.inf, 0.5])
    assert not export.model.guides[1 - index].any()
    assert export.bodies[index].follows
    assert not export.follow_changes
    # its keys lead it: nothing is replaced
    assert not any("replaces them" in text or "Animated off" in text for text in texts(export, "Box"))


def test_without_anything_that_moves_it_a_note_says_that_it_is_held(maker, box):
    box.cairn.follow = 1.0
    export = export_scene(maker.scene)
    assert guides.NO_TARGET in texts(export, "Box")
    bake(maker.scene, end=20)
    assert matrices(maker.scene, "Box", [20])[0, 2, 3] == pytest.approx(3.0, abs=1e-5)


def test_what_never_moves_is_told(maker, box):
    floor = maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -1))
    floor.cairn.follow = 1.0
    assert guides.NEVER_MOVES in texts(export_scene(maker.scene), "Floor")


def test_a_changed_follow_or_key_puts_a_bake_out_of_date(maker, box):
    def kept(scene):
        return [step for step in KeptDigest().steps(scene.name) if step is not None][-1]

    key_a_swing(maker, box)
    box.cairn.follow = 1.0
    before = scene_digest(maker.scene)
    assert kept(maker.scene) == before
    box.cairn.follow_frequency = 9.0
    assert changes(before, scene_digest(maker.scene)) == ["follow of Box"]
    assert kept(maker.scene) == scene_digest(maker.scene)
    box.cairn.follow_frequency = 5.0
    box.keyframe_insert("location", frame=LAST + 30)
    assert changes(before, scene_digest(maker.scene)) == ["animation of Box"]


def test_it_can_be_varied(maker, box):
    set_property(maker.scene, "follow_frequency", 2.5)
    assert box.cairn.follow_frequency == 2.5
    set_property(maker.scene, "object:Box.cairn.follow", 0.75)
    assert box.cairn.follow == 0.75


def test_the_panel_is_closed_and_there_for_bodies_alone(maker, box):
    assert "DEFAULT_CLOSED" in follow.PHYSICS_PT_cairn_follow.bl_options
    bpy.ops.object.empty_add()
    assert not follow.PHYSICS_PT_cairn_follow.poll(bpy.context)


def test_all_selected_bodies_are_keyed_at_once_and_keys_hold(maker, box):
    other = maker.body("Other", shape="BOX", location=(3, 0, 0))
    floor = maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -1))
    left_out = maker.body("Left Out", shape="BOX", location=(6, 0, 0))
    for ob in (box, other, floor):
        ob.select_set(True)
    left_out.select_set(False)
    bpy.context.view_layer.objects.active = box
    for frame, value in ((1, 1.0), (20, 0.0)):
        maker.scene.frame_set(frame)
        box.cairn.follow = value
        assert bpy.ops.cairn.key_follow() == {"FINISHED"}
    assert not follow.action_curves(floor)
    assert not follow.action_curves(left_out)
    for frame, value in ((1, 1.0), (19, 1.0), (20, 0.0), (30, 0.0)):
        maker.scene.frame_set(frame)
        assert (box.cairn.follow, other.cairn.follow) == (value, value)
    bpy.context.view_layer.objects.active = None
    assert not bpy.ops.cairn.key_follow.poll()


# bakes


def test_a_bake_follows_keys_lets_go_and_comes_back_and_no_key_is_lost(maker, box):
    key_a_swing(maker, box)
    key_follow(box, (1, 1.0), (16, 0.0), (24, 1.0))
    wanted, state = targets(maker.scene), visible_state(maker.scene)
    first = bake(maker.scene)
    assert first.error is None
    found = matrices(maker.scene, "Box")
    # of a size of 1 m
    assert np.abs(found[:16] - wanted[:16]).max() <= 0.01
    step = wanted[15, :3, 3] - wanted[14, :3, 3]
    gone = found[16, :3, 3] - found[15, :3, 3]
    fall = 0.5 * 9.81 / 24.0**2
    assert gone[2] == pytest.approx(-fall, abs=1e-4)
    # a frame on, by the keys' velocity at frame 16
    speed = 2.0 * math.pi / 24.0 * math.sin(4.0 * math.pi * 15.0 / 24.0)
    assert gone[0] == pytest.approx(speed, abs=0.01 * abs(speed))
    assert np.abs(step[0] - gone[0]) > 0.01
    assert found[23, 2, 3] < 3.0 - 0.3
    assert np.abs(found[-1] - wanted[-1]).max() <= 0.02
    digest = first.report["totals"]["digest"]
    assert bake(maker.scene).report["totals"]["digest"] == digest
    attach.delete_bake(maker.scene)
    assert visible_state(maker.scene) == state
    assert np.array_equal(targets(maker.scene), wanted)


@pytest.mark.parametrize("kind", ["constraint", "parent", "driver"])
def test_whatever_moves_it_is_the_target(maker, box, kind):
    leader = maker.object("Leader")
    for frame, x in ((1, 0.0), (LAST + 4, 2.0)):
        leader.location.x = x
        leader.keyframe_insert("location", frame=frame)
    if kind == "constraint":
        box.constraints.new("COPY_LOCATION").target = leader
        leader.location.z = 3.0
        leader.keyframe_insert("location", index=2, frame=1)
        leader.keyframe_insert("location", index=2, frame=LAST)
    elif kind == "parent":
        box.parent = leader
    else:
        driver = box.driver_add("location", 0).driver
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = leader, "location.x"
        driver.expression = "var"
    box.cairn.follow = 1.0
    wanted, state = targets(maker.scene), visible_state(maker.scene)
    assert np.ptp(wanted[:, 0, 3]) > 1.5
    first = bake(maker.scene)
    assert np.abs(matrices(maker.scene, "Box") - wanted).max() <= 0.01
    # on top of the first one
    assert bake(maker.scene).report["totals"]["digest"] == first.report["totals"]["digest"]
    attach.delete_bake(maker.scene)
    assert visible_state(maker.scene) == state
    assert np.array_equal(targets(maker.scene), wanted)


def test_keys_of_follow_that_are_set_on_a_bake_are_the_user_s(maker, box):
    """They are there after it is deleted, too."""
    key_a_swing(maker, box)
    box.cairn.follow = 1.0
    bake(maker.scene, end=4)
    maker.scene.frame_set(3)
    bpy.context.view_layer.objects.active = box
    assert bpy.ops.cairn.key_follow() == {"FINISHED"}
    bake(maker.scene, end=4)
    attach.delete_bake(maker.scene)
    keys = [curve.keyframe_points for curve in follow.action_curves(box) if curve.data_path == "cairn.follow"]
    assert [(point.co.x, point.co.y, point.interpolation) for points in keys for point in points] == [
        (3.0, 1.0, "CONSTANT")
    ]


def test_it_collides_on_the_way(maker, box):
    """A wall that stands in the way of the swing stops it."""
    maker.body("Wall", shape="BOX", type="PASSIVE", location=(1.5, 0, 3))
    key_a_swing(maker, box)
    box.cairn.follow = 1.0
    bake(maker.scene)
    found = matrices(maker.scene, "Box")
    assert found[:, 0, 3].max() <= 0.5 + 0.02
    assert found[:, 0, 3].min() >= -0.05


def test_an_animated_body_that_is_let_go_into_follow_goes_on(maker, box):
    """*Animated* until frame 10, and led from there on: the motion has no seam."""
    key_a_swing(maker, box)
    for frame, value in ((1, True), (10, False)):
        box.rigid_body.kinematic = value
        box.keyframe_insert("rigid_body.kinematic", frame=frame)
    box.cairn.follow = 1.0
    wanted = targets(maker.scene)
    bake(maker.scene)
    assert np.abs(matrices(maker.scene, "Box") - wanted).max() <= 0.01


def test_a_bake_that_was_stopped_goes_on_to_the_same_bits(maker, box, tmp_path):
    """While it is led, and while it is free."""
    key_a_swing(maker, box)
    key_follow(box, (1, 1.0), (16, 0.0), (24, 1.0))
    maker.save(tmp_path / "shot.blend")
    scene, settings = maker.scene, BakeSettings.from_scene(maker.scene)
    whole = bake(scene).report["totals"]["digest"]
    attach.delete_bake(scene)
    for frame in (9, 20, 30):
        steps = bake_frames(scene, settings, in_window.plan_of(scene))
        for progress in steps:
            if progress.frame == frame:
                break
        with contextlib.suppress(StopIteration):
            steps.throw(BakeStopped())
        for _ in steps:
            pass
        assert bpy.ops.cairn.continue_bake() == {"FINISHED"}
        assert whole in scene.cairn.report
        bpy.ops.cairn.remove_checkpoints()
        attach.delete_bake(scene)


def test_settle_lets_it_fall(maker, box):
    """Nothing leads a body that is to come to rest."""
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5))
    box.cairn.follow = 1.0
    assert settle(maker.scene, [box]).at_rest == ("Box",)
    assert box.location.z == pytest.approx(0.5, abs=0.01)
