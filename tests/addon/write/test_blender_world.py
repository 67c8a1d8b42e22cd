"""Blender's own simulation comes back without moving a body, at whatever frame, and goes on where it can begin.

Nothing here was simulated by Blender: its cache is empty, and what it keeps of each body's pose is the origin.
"""

import bpy
import numpy as np
import pytest
from joint_scenes import joint

import cairn
from cairn.addon.bake import BakeStopped, bake_frames, bake_scene
from cairn.addon.read.faults import SceneError
from cairn.addon.read.scene_check import check_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.write import attach

FRAMES = 8
# Early, late, beyond the bake, beyond the world's cache, and before all.
TRIED = [-3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 20, 30, 50, 80, 120, 249, 250, 300]


@pytest.fixture
def scene(maker, tmp_path):
    """Bodies with joints, parents, keys of their own and a flag that is keyed; one is an override of another file."""
    cairn.register()
    maker.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(20, 20, 1))
    for number in range(2):
        maker.body(f"Box {number}", shape="BOX", location=(number, 0, 3 + number), rotation_euler=(0.1, 0.2, 0.3))
    hung = maker.body("Hung", shape="BOX", location=(5, 0, 4))
    joint(maker, "Hook", None, hung, location=(5, 0, 4.5))
    stand = maker.object("Stand", location=(-3, 2, 1), rotation_euler=(0, 0, 1))
    child = maker.body("Child", shape="BOX", location=(1, 2, 3), rotation_euler=(0.3, 0.2, 0.1))
    child.parent = stand
    grandchild = maker.body("Grandchild", shape="BOX", location=(0, 0, 2))
    grandchild.parent = child
    thrown = maker.body("Thrown", shape="BOX", location=(0, 8, 5))
    maker.key(thrown, "location", {1: (0, 8, 5), 4: (1, 8, 5)})
    maker.key(thrown, "rigid_body.kinematic", {1: True, 4: False})
    plate = maker.body("Plate", type="PASSIVE", shape="BOX", location=(9, 9, 1))
    maker.key(plate, "location", {1: (9, 9, 1), 8: (9, 9, 3)})
    overridden(maker, tmp_path / "library.blend")
    maker.scene.frame_end = maker.world.point_cache.frame_end = FRAMES
    return maker.scene


def overridden(maker, path):
    """A body as an override of another file."""
    source = maker.body("Borrowed", shape="BOX", location=(4, 4, 6))
    bpy.data.libraries.write(str(path), {source})
    bpy.data.objects.remove(source)
    with bpy.data.libraries.load(str(path), link=True) as (_, into):
        into.objects = ["Borrowed"]
    maker.scene.collection.objects.link(bpy.data.objects["Borrowed"])
    own = bpy.data.objects["Borrowed"].override_create(remap_local_usages=True)
    maker.world.collection.objects.link(own)


def poses(scene):
    """World matrices of all bodies as Blender shows them."""
    graph = bpy.context.evaluated_depsgraph_get()
    return {ob.name: np.array(ob.evaluated_get(graph).matrix_world) for ob in bodies(scene)}


def bodies(scene):
    return [ob for ob in scene.objects if ob.rigid_body is not None]


def assert_poses(scene, expected, but=()):
    shown = poses(scene)
    assert shown.keys() == expected.keys()
    for name, matrix in expected.items():
        if name not in but:
            assert shown[name] == pytest.approx(matrix, abs=1e-6), name
    # ... and what tools read
    for ob in bodies(scene):
        assert np.array(ob.matrix_world) == pytest.approx(shown[ob.name], abs=1e-6), ob.name


def without_simulation(scene, frame):
    """The same matrices in a copy of the scene whose world is off."""
    copy = scene.copy()
    try:
        copy.rigidbody_world.enabled = False
        copy.frame_set(frame)
        graph = copy.view_layers[0].depsgraph
        return {ob.name: np.array(ob.evaluated_get(graph).matrix_world) for ob in bodies(scene)}
    finally:
        bpy.data.scenes.remove(copy)


# Ways that switch the world on: what happens at the first frame, and at the one that is tried


def bake(scene):
    bake_scene(scene, BakeSettings())


def nothing(scene):
    pass


def delete(scene):
    attach.delete_bake(scene)


def bake_again_and_delete(scene):
    bake(scene)
    delete(scene)


def delete_bake_and_delete(scene):
    """Baked while the world waits."""
    delete(scene)
    bake_again_and_delete(scene)


def be_refused(scene):
    scene.objects["Box 1"].scale.z = 0.0
    with pytest.raises(SceneError, match="scale"):
        bake(scene)
    scene.objects["Box 1"].scale.z = 1.0


def stop_before_the_first_frame(scene):
    steps = bake_frames(scene, BakeSettings())
    while next(steps).stage != "animation":
        pass
    with pytest.raises(StopIteration):
        steps.throw(BakeStopped())


def check(scene):
    for _ in check_scene(scene, BakeSettings(), False):
        pass


WAYS = [
    (bake, delete),
    (bake, bake_again_and_delete),
    (bake, delete_bake_and_delete),
    (nothing, be_refused),
    (nothing, stop_before_the_first_frame),
    (nothing, check),
]


@pytest.mark.parametrize(("before", "way"), WAYS)
def test_bodies_stand_where_their_channels_have_them_at_any_frame(scene, before, way):
    """At twenty frames: what is shown and what tools read; an edit moves what it moves, and the world goes on after."""
    for frame in TRIED if way is delete else TRIED[1::6]:
        before(scene)
        scene.frame_set(frame)
        way(scene)
        assert not scene.cairn.is_baked
        assert (scene.rigidbody_world.enabled, scene.cairn.world_waits) == (frame <= 1, frame > 1)
        expected = without_simulation(scene, frame)
        assert_poses(scene, expected)
        scene.objects["Box 0"].location.x += 0.5
        scene.objects["Borrowed"].rotation_euler.z += 0.5
        bpy.context.view_layer.update()
        assert_poses(scene, expected, but=("Box 0", "Borrowed"))
        assert poses(scene)["Box 0"][:3, 3] == pytest.approx((0.5, 0, 3), abs=1e-6)
        scene.objects["Box 0"].location.x -= 0.5
        scene.objects["Borrowed"].rotation_euler.z -= 0.5
        scene.frame_set(1)
        assert (scene.rigidbody_world.enabled, scene.cairn.world_waits) == (True, False)


def test_the_world_goes_on_where_it_begins(scene):
    """Deleted late, played from the start: Blender simulates what it did before the bake."""

    def fall():
        heights = []
        for frame in range(1, FRAMES + 1):
            scene.frame_set(frame)
            heights.append(scene.objects["Box 1"].matrix_world.translation.z)
        return heights

    before = fall()
    assert before[-1] < before[0] - 0.1
    bake(scene)
    scene.frame_set(6)
    delete(scene)
    assert fall() == pytest.approx(before, abs=1e-6)


def test_a_saved_file_has_the_world_on_and_opens_as_it_was(scene, tmp_path):
    """Who opens it without Cairn finds Blender's simulation as before the bake."""
    bake(scene)
    scene.frame_set(6)
    delete(scene)
    expected = poses(scene)
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert not scene.rigidbody_world.enabled
    bpy.ops.wm.open_mainfile(filepath=path)
    scene = bpy.context.scene
    bpy.context.view_layer.update()
    assert_poses(scene, expected)
    scene.frame_set(1)
    assert scene.rigidbody_world.enabled
    cairn.unregister()
    try:
        bpy.ops.wm.open_mainfile(filepath=path)
        assert bpy.context.scene.rigidbody_world.enabled
    finally:
        cairn.register()


def test_a_world_that_was_off_stays_off(scene):
    scene.rigidbody_world.enabled = False
    bake(scene)
    scene.frame_set(6)
    delete(scene)
    scene.frame_set(1)
    assert not scene.rigidbody_world.enabled
    assert not scene.cairn.world_waits


def test_another_scene_with_the_same_bodies(scene):
    """Its world is on at a late frame, and a change of a body would take all poses from it."""
    other = scene.copy()
    other.name = "Other"
    bake(scene)
    other.frame_set(6)
    scene.frame_set(6)
    delete(scene)
    assert not other.rigidbody_world.enabled
    other.frame_set(1)
    assert other.rigidbody_world.enabled


def test_undo_of_a_bake_at_a_late_frame(scene):
    """Undo brings the world back on, whatever frame is shown."""
    bpy.ops.ed.undo_push(message="Before")
    bake(scene)
    bpy.ops.ed.undo_push(message="Bake")
    scene.frame_set(6)
    bpy.ops.ed.undo_push(message="Frame")
    delete(scene)
    bpy.ops.ed.undo_push(message="Delete")
    for operator, waits in ((bpy.ops.ed.undo, False), (bpy.ops.ed.redo, True)):
        assert operator() == {"FINISHED"}
        scene = bpy.context.scene
        bpy.context.view_layer.update()
        assert scene.cairn.world_waits == waits
    scene.frame_set(6)
    assert_poses(scene, without_simulation(scene, 6))
