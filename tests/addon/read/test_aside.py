"""Frames evaluated in a copy of the scene: the same numbers, nothing left behind, and what has to stay in the scene."""

import contextlib

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import BakeStopped, bake_frames, bake_scene
from cairn.addon.read import lead_in
from cairn.addon.read.aside import Aside
from cairn.addon.read.faults import SceneError
from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.jumps import note_jumps
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings

FRAMES = range(2, 13)


@pytest.fixture(autouse=True)
def registered(maker):
    cairn.register()


def pushed(maker):
    """A box that falls and a keyed one; others may be built on these."""
    maker.body("Falling", location=(0, 0, 3))
    pusher = maker.body("Pusher", type="PASSIVE", settings={"kinematic": True})
    maker.key(pusher, "location", {1: (5, 0, 0), 13: (6, 0, 1)})
    return pusher


def keyed(maker):
    pushed(maker).rotation_euler.z = 0.3


def below_moving_parents(maker):
    pusher = pushed(maker)
    pusher.animation_data_clear()
    top = maker.object("Top", scale=(2, 2, 2))
    maker.key(top, "rotation_euler", {1: (0, 0, 0), 13: (1, 2, 3)})
    middle = maker.object("Middle", parent=top, location=(1, 0, 0))
    maker.key(middle, "location", {1: (0, 0, 0), 13: (3, 0, 0)})
    pusher.parent = maker.bpy.data.objects["Falling"].parent = middle


def led_by_constraints(maker):
    pusher = pushed(maker)
    leader = maker.object("Leader")
    maker.key(leader, "location", {1: (0, 4, 0), 13: (9, 4, 0)})
    for ob in (maker.body("Second", type="PASSIVE", settings={"kinematic": True}), bpy.data.objects["Falling"]):
        constraint = ob.constraints.new("COPY_LOCATION")
        constraint.target, constraint.use_offset = leader, True
    limit = pusher.constraints.new("LIMIT_LOCATION")
    limit.use_max_x, limit.max_x = True, 5.4


def driven_by_the_frame(maker):
    pusher = pushed(maker)
    pusher.animation_data_clear()
    pusher.driver_add("location", 2).driver.expression = "frame * 0.1"


def on_a_bone(maker):
    armature = bpy.data.armatures.new("Arm")
    arm = maker.object("Arm", armature)
    bpy.context.view_layer.objects.active = arm
    bpy.ops.object.mode_set(mode="EDIT")
    armature.edit_bones.new("Bone").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    arm.pose.bones["Bone"].rotation_mode = "XYZ"
    maker.key(arm, 'pose.bones["Bone"].rotation_euler', {1: (0, 0, 0), 13: (1, 0, 0)})
    pusher = pushed(maker)
    pusher.animation_data_clear()
    pusher.parent, pusher.parent_type, pusher.parent_bone = arm, "BONE", "Bone"


def a_mesh_that_deforms(maker):
    floor = maker.body("Floor", shape="MESH", type="PASSIVE")
    floor.shape_key_add(name="Basis")
    high = floor.shape_key_add(name="High")
    for point in high.data:
        point.co.z += 0.5
    maker.key(floor.data.shape_keys, 'key_blocks["High"].value', {1: 0.0, 5: 0.4, 13: 1.0})
    maker.body("Falling", location=(0, 0, 3))


def a_scene_that_changes(maker):
    pushed(maker)
    maker.key(maker.scene, "gravity", {1: (0, 0, -9.81), 6: (1, 0, 2)})
    maker.key(maker.scene, "rigidbody_world.time_scale", {1: 1.0, 8: 0.25})


def a_body_let_go_and_one_that_jumps(maker):
    pusher = pushed(maker)
    maker.key(pusher, "location", {7: (90, 0, 0), 8: (5, 0, 0)})
    falling = bpy.data.objects["Falling"]
    maker.key(falling, "location", {1: (0, 0, 3), 13: (0, 3, 3)})
    maker.key(falling, "rigid_body.kinematic", {1: True, 9: False})


SCENES = [
    keyed,
    below_moving_parents,
    led_by_constraints,
    driven_by_the_frame,
    on_a_bone,
    a_mesh_that_deforms,
    a_scene_that_changes,
    a_body_let_go_and_one_that_jumps,
]


def plain(value):
    """All that a sample holds, as lists."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


def samples_of(scene, export, shown):
    before, samples = export.default_sample.position, []
    for frame in FRAMES:
        sample = sample_frame(scene, export, frame, shown)
        note_jumps(scene, export, before, sample, shown)
        before = sample.position
        samples.append(plain(vars(sample)))
    return samples


@pytest.mark.parametrize("make", SCENES)
def test_a_frame_aside_is_the_frame_of_the_scene_to_the_bit(maker, make):
    make(maker)
    scene = maker.scene
    scene.frame_set(4)
    export = export_scene(scene)
    names = lead_in.objects_to_sample(scene, export)
    with simulation_paused(scene):
        expected = samples_of(scene, export, None)
        leads = lead_in.sample(scene, export, names, 3)
    with Aside(scene, export, names) as aside:
        assert aside.is_open
        assert not aside.is_seen
        with aside.frames(scene) as shown:
            assert shown != scene
            assert samples_of(scene, export, shown) == expected
            assert str(lead_in.sample(scene, export, names, 3, shown)) == str(leads)
    assert (list(bpy.data.scenes), scene.frame_current, scene.rigidbody_world.enabled) == ([scene], 4, True)


def by_code(maker):
    pusher = pushed(maker)
    bpy.app.driver_namespace["place"] = lambda: bpy.context.scene.frame_current
    pusher.animation_data_clear()
    pusher.driver_add("location", 2).driver.expression = "place()"


def by_the_scene(maker):
    pusher = pushed(maker)
    pusher.animation_data_clear()
    driver = pusher.driver_add("location", 2).driver
    variable = driver.variables.new()
    variable.targets[0].id_type, variable.targets[0].id = "SCENE", maker.scene
    variable.targets[0].data_path = "gravity[2]"
    driver.expression = variable.name


def by_the_scene_in_view(maker):
    pusher = pushed(maker)
    pusher.animation_data_clear()
    driver = pusher.driver_add("location", 2).driver
    variable = driver.variables.new()
    variable.type = "CONTEXT_PROP"
    variable.targets[0].data_path = "gravity[2]"
    driver.expression = variable.name


def with_cloth(maker):
    pushed(maker).modifiers.new("Cloth", "CLOTH")


def below_simulation_nodes(maker):
    tree = bpy.data.node_groups.new("Nodes", "GeometryNodeTree")
    tree.nodes.new("GeometryNodeSimulationInput")
    pushed(maker).modifiers.new("Nodes", "NODES").node_group = tree


def hidden(maker):
    pushed(maker).hide_viewport = True


@pytest.mark.parametrize(
    "make", [by_code, by_the_scene, by_the_scene_in_view, with_cloth, below_simulation_nodes, hidden]
)
def test_what_a_copy_might_not_show_is_read_in_the_scene(maker, make):
    make(maker)
    export = export_scene(maker.scene)
    assert export.samples_needed
    with Aside(maker.scene, export, []) as aside:
        assert not aside.is_open
        with aside.frames(maker.scene) as shown:
            assert shown == maker.scene
            assert not shown.rigidbody_world.enabled
    assert maker.scene.rigidbody_world.enabled
    assert list(bpy.data.scenes) == [maker.scene]


def test_handlers_of_others_see_the_scene(maker):
    """They may move what is read, and ask for the scene that the window shows."""
    pusher, seen = pushed(maker), set()

    def follow(scene, *_):
        seen.add(scene.name)
        pusher.location.y = scene.frame_current

    bpy.app.handlers.frame_change_pre.append(follow)
    try:
        bake_scene(maker.scene, BakeSettings(start=1, end=12))
    finally:
        bpy.app.handlers.frame_change_pre.remove(follow)
    assert seen == {maker.scene.name}


def test_no_file_keeps_the_copy(maker, tmp_path):
    pushed(maker)
    with Aside(maker.scene, export_scene(maker.scene), []) as aside:
        assert len(bpy.data.scenes) == 2
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"), copy=True)
        with bpy.data.libraries.load(str(tmp_path / "saved.blend")) as (saved, _):
            assert saved.scenes == [maker.scene.name]
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
        aside.close()  # another file is open
    assert [scene.name for scene in bpy.data.scenes] == ["Scene"]


@pytest.mark.parametrize("end", ["stop", "close", "fail"])
@pytest.mark.parametrize("stage", ["animation", "simulate"])
def test_nothing_is_left_of_it_however_a_bake_ends(maker, monkeypatch, stage, end):
    """One frame is read at a time, so that there is one to fail."""
    monkeypatch.setattr("cairn.addon.bake.READ_AHEAD", 0.0)
    pusher = pushed(maker)
    steps = bake_frames(maker.scene, BakeSettings(start=1, end=12))
    while next(steps).stage != stage:
        pass
    assert len(bpy.data.scenes) == 2
    if end == "fail":
        pusher.name = "Renamed"
        with pytest.raises(SceneError, match="Pusher"):
            list(steps)
    elif end == "close":
        steps.close()
    else:
        with contextlib.suppress(BakeStopped, StopIteration):  # before the first frame nothing is kept
            steps.throw(BakeStopped())
            list(steps)
    assert list(bpy.data.scenes) == [maker.scene]
    assert maker.scene.rigidbody_world.enabled != maker.scene.cairn.is_baked


def test_a_bake_that_is_read_again_stays_while_the_animation_before_it_is_read(maker):
    """What was let go has a bake, which is set aside only while the copy is read."""
    a_body_let_go_and_one_that_jumps(maker)
    settings = BakeSettings(start=1, end=12)
    first = bake_scene(maker.scene, settings).trajectory
    steps, seen = bake_frames(maker.scene, settings), set()
    for progress in steps:
        seen.add((progress.stage, len(bpy.data.scenes)))
        assert bpy.data.objects["Falling"].animation_data.action.name == "Falling Cairn" or progress.stage == "write"
        if progress.stage == "write":
            break
    again = bake_scene(maker.scene, settings).trajectory
    assert ("animation", 2) in seen
    assert list(bpy.data.scenes) == [maker.scene]
    assert np.array_equal(first.position, again.position)
