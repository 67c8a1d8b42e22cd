"""Settle: bodies come to rest and start there; all else is as it was."""

import math

import bpy
import numpy as np
import pytest
from scene_state import visible_state

import cairn
from cairn.addon import settle
from cairn.addon.bake import bake_scene
from cairn.addon.read.faults import SceneError
from cairn.addon.settings import BakeSettings
from cairn.addon.ui import operators, watch
from cairn.addon.write import attach


@pytest.fixture
def floor(maker):
    """A floor whose top is at 0."""
    cairn.register()
    maker.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(40, 40, 1))
    return maker


def box(maker, name, at, **values):
    return maker.body(name, shape="BOX", location=at, **values)


def place(ob):
    bpy.context.view_layer.update()
    return np.array(ob.matrix_world)


def test_what_was_chosen_lies_on_what_was_not_and_nothing_is_keyed(floor):
    """The upper box on the lower one, which is held in the air; a third, which nobody chose, stays above both."""
    held = box(floor, "Held", (0, 0, 2.0))
    falling = box(floor, "Falling", (0.1, 0, 3.4))
    above = box(floor, "Above", (0, 0, 6.0))
    falling.cairn.start_velocity = (0.0, 0.0, 30.0)
    floor.scene.frame_set(30)
    result = cairn.settle(floor.scene, [falling])
    assert (result.at_rest, result.moving, result.left_out) == (("Falling",), (), ())
    # it falls by 0.4 m, comes to rest, and is watched for a second
    assert math.sqrt(2 * 0.4 / 9.81) + 1.0 < result.seconds < 4.0
    assert list(falling.location) == pytest.approx([0.1, 0, 3.0], abs=2e-4)
    assert (list(held.location), list(above.location)) == ([0, 0, 2.0], [0, 0, 6.0])
    assert all(ob.animation_data is None for ob in floor.scene.objects)
    assert len(bpy.data.actions) == 0
    assert list(falling.cairn.start_velocity) == [0.0, 0.0, 30.0]
    assert (floor.scene.frame_current, floor.scene.cairn.is_baked) == (30, False)


def test_without_objects_all_that_move_settle_and_a_bake_from_there_moves_nothing(floor):
    """Boxes of some sizes on each other and tilted, one that starts deactivated and one that never falls asleep."""
    rng = np.random.default_rng(4)
    for number in range(8):
        at = (0.3 * (number % 2), 0.2 * (number % 3), 0.8 + 0.9 * number)
        box(floor, f"Box {number}", at, scale=rng.uniform(0.4, 0.8, 3), rotation_euler=rng.normal(scale=0.4, size=3))
    bodies = [ob for ob in floor.scene.objects if ob.name != "Floor"]
    bodies[0].rigid_body.use_start_deactivated = True
    bodies[1].rigid_body.use_deactivation = False
    result = cairn.settle(floor.scene)
    assert sorted(result.at_rest) == sorted(ob.name for ob in bodies)
    before = {ob.name: place(ob) for ob in bodies}
    assert all(matrix[2, 3] < 4.0 for matrix in before.values())
    bake_scene(floor.scene, BakeSettings(start=1, end=49))
    floor.scene.frame_set(49)
    for ob in bodies:
        assert place(ob)[:3, 3] == pytest.approx(before[ob.name][:3, 3], abs=1e-4 * min(ob.scale)), ob.name


@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "QUATERNION", "AXIS_ANGLE"])
def test_the_channels_give_the_pose_in_any_rotation_mode_below_a_parent_and_with_deltas(floor, mode):
    """The same box settles to the same pose however its pose is written."""
    turn = (0.3, 0.2, 0.1)
    plain = box(floor, "Plain", (0, 0, 1.0), rotation_euler=turn)
    start = place(plain)
    cairn.settle(floor.scene, [plain])
    expected = place(plain)
    assert np.abs(expected - start).max() > 0.1
    floor.scene.collection.objects.unlink(plain)
    bpy.data.objects.remove(plain)
    parent = floor.object("Parent", location=(3, 1, 0), rotation_euler=(0, 0, 1.0), scale=(2, 2, 2))
    other = box(floor, "Other", (0, 0, 0))
    other.rotation_mode, other.parent, other.delta_location = mode, parent, (0.25, 0, 0)
    if mode in ("XYZ", "ZXY"):
        other.delta_rotation_euler = (0.1, 0.2, 0.3)
    bpy.context.view_layer.update()
    other.matrix_world = expected_start = type(parent.matrix_world)(start.tolist())
    assert place(other) == pytest.approx(np.array(expected_start), abs=1e-6)
    result = cairn.settle(floor.scene, [other])
    assert result.at_rest == ("Other",)
    assert place(other) == pytest.approx(expected, abs=1e-5)


def test_what_hangs_on_a_body_that_settles_stays(floor):
    """A rigid body that is its child and was not chosen is where it was; other children go along."""
    lead = box(floor, "Lead", (0, 0, 2.0))
    child = box(floor, "Child", (4, 0, 3.0))
    lamp = floor.object("Lamp", location=(1, 0, 0))
    lamp.parent = lead
    child.parent = lead
    cairn.settle(floor.scene, [lead])
    assert place(lead)[2, 3] == pytest.approx(0.5, abs=1e-4)
    assert place(child)[:3, 3] == pytest.approx([4, 0, 5], abs=1e-6)
    assert place(lamp)[:3, 3] == pytest.approx(place(lead)[:3, 3] + [1, 0, 0], abs=1e-3)


def test_a_bake_is_out_of_date_and_starts_there_when_it_is_made_again(floor):
    box(floor, "Box", (0, 0, 3.0))
    settings = BakeSettings(start=1, end=30)
    bake_scene(floor.scene, settings)
    floor.scene.frame_set(20)
    ob = floor.scene.objects["Box"]
    cairn.settle(floor.scene, [ob])
    watch.look_at(floor.scene, bpy.context.window_manager.cairn)
    assert "start pose of Box" in bpy.context.window_manager.cairn.status
    floor.scene.frame_set(1)
    assert place(ob)[2, 3] == pytest.approx(0.5, abs=1e-4)
    result = bake_scene(floor.scene, settings)
    assert np.ptp(result.trajectory.position[:, result.export.model.names.index("Box"), 2]) < 1e-4
    attach.delete_bake(floor.scene)
    assert ob.location.z == pytest.approx(0.5, abs=1e-4)
    assert ob.animation_data is None


def test_who_does_not_come_to_rest_is_named(floor):
    """A ball rolls on for ever, and time is up; it starts from where it is then, at the height of its radius."""
    box(floor, "Box", (0, 5, 0.6))
    ball = floor.body("Ball", shape="SPHERE", location=(0, 0, 0.5))
    slope = floor.body("Slope", type="PASSIVE", shape="BOX", location=(0, 0, -0.55), scale=(60, 2, 1))
    slope.rotation_euler.y = math.radians(5.0)
    floor.scene.objects["Floor"].location = (0, 5.5, -0.5)
    floor.scene.objects["Floor"].scale = (4, 4, 1)
    result = cairn.settle(floor.scene, max_seconds=1.5)
    assert (result.at_rest, result.moving) == (("Box",), ("Ball",))
    assert settle.settled_sentence(result) == "1 of 2 at rest after 1.5 s. Still moving: Ball"
    assert result.seconds == pytest.approx(1.5, abs=0.05)
    assert ball.location.x > 0.3


def test_who_has_no_start_of_its_own_is_left_where_its_keys_have_it(floor):
    keyed = box(floor, "Keyed", (0, 0, 2.0))
    floor.key(keyed, "location", {1: (0, 0, 2.0), 10: (0, 0, 3.0)})
    animated = box(floor, "Animated", (4, 0, 2.0), settings={"kinematic": True})
    free = box(floor, "Free", (0, 0, 3.2))
    result = cairn.settle(floor.scene, [keyed, animated, free])
    assert result.at_rest == ("Free",)
    assert {note.object_name: note.text for note in result.left_out} == {
        "Keyed": settle.NEEDS_START,
        "Animated": settle.IS_HELD,
    }
    assert free.location.z == pytest.approx(3.0, abs=1e-4)  # on the keyed one
    floor.scene.frame_set(1)
    assert place(keyed)[2, 3] == pytest.approx(2.0)
    with pytest.raises(SceneError, match="Keyed: its place is keyed, driven or constrained"):
        cairn.settle(floor.scene, [keyed])


def test_what_is_wrong_is_said_in_a_line_and_nothing_changes(floor):
    ob = box(floor, "Box", (0, 0, 2.0))
    lamp = floor.object("Lamp")
    before = visible_state(floor.scene)
    with pytest.raises(SceneError, match="Lamp: is no rigid body of this scene"):
        cairn.settle(floor.scene, [ob, lamp])
    for seconds in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(SceneError, match="the longest time to settle is"):
            cairn.settle(floor.scene, [ob], seconds)
    floor.world.time_scale = 0.0
    with pytest.raises(SceneError, match="Speed of the Rigid Body World is 0"):
        cairn.settle(floor.scene, [ob])
    floor.world.time_scale = 1.0
    ob.rigid_body.type = "PASSIVE"
    with pytest.raises(SceneError, match=r"No rigid body is|nothing would move|no rigid body"):
        cairn.settle(floor.scene)
    ob.rigid_body.type = "ACTIVE"
    assert visible_state(floor.scene) == before
    with pytest.raises(SceneError, match="no rigid body world"):
        cairn.settle(bpy.data.scenes.new("Empty"))


def test_closing_it_half_way_leaves_all_as_it_was(floor):
    ob = box(floor, "Box", (0, 0, 2.0), rotation_euler=(0.3, 0.2, 0.1))
    before = visible_state(floor.scene), place(ob).tolist()
    steps = settle.settle_steps(floor.scene.name, ["Box"], 10.0)
    for progress in steps:
        assert (visible_state(floor.scene), place(ob).tolist()) == before, progress.text
        if progress.stage == "simulate" and progress.done == 8:
            assert progress.text == "Settling, 0 of 1 at rest after 0.3 s of at most 10 s"
            break
    steps.close()
    assert (visible_state(floor.scene), place(ob).tolist()) == before
    assert operators.running is None


def test_the_operator_settles_what_is_selected(floor):
    first, second = box(floor, "First", (0, 0, 2.0)), box(floor, "Second", (3, 0, 2.0))
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="Select the rigid bodies that are to settle"):
        bpy.ops.cairn.settle()
    first.select_set(True)
    floor.scene.objects["Floor"].select_set(True)
    assert bpy.ops.cairn.settle() == {"FINISHED"}
    assert (first.location.z, second.location.z) == (pytest.approx(0.5, abs=1e-4), 2.0)
    assert operators.running is None
