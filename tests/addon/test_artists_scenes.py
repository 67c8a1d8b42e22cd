"""Scenes with settings as artists produce them: the motion is right, or it is told; nothing of the user is lost."""

import inspect

import bpy
import numpy as np
import pytest
from artists import KINDS, LAST, Kind, plain
from user_data import differences, user_data

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.read.faults import SceneError
from cairn.addon.settings import BakeSettings
from cairn.addon.write.attach import delete_bake

# Kinds that were wrong once.
MENDED = {
    "linked_pusher_beside_a_local_one",
    "linked_pusher_beside_a_local_body",
    "linked_floor_beside_a_local_rock",
    "linked_parent_with_the_name_of_a_body",
    "two_libraries_with_one_name",
    "missing_library_of_a_body",
    "missing_library_of_a_mesh",
    "missing_library_of_an_action",
    "driven_rock",
    "far_from_the_origin",
    "geometry_nodes",
}
# Of the others, each night all and each day one in so many.
DAILY = 4
EVERY = [
    pytest.param(name, marks=() if name in MENDED or number % DAILY == 0 else pytest.mark.nightly)
    for number, name in enumerate(KINDS)
]
# World matrices are of single precision, and a pose that is made up of others is rounded some times [m].
TOLERANCE = 2e-5


@pytest.fixture(autouse=True)
def registered():
    cairn.register()


def poses(kind):
    """World matrices of the bodies [LAST, 4, 4], by their names in the plain scene."""
    scene, shown = bpy.context.scene, (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe)
    found = {name: [] for name in ("Ball", "Rock", "Floor", "Pusher")}
    for frame in range(1 + kind.shift, 1 + kind.shift + LAST):
        scene.frame_set(frame)
        depsgraph = bpy.context.view_layer.depsgraph
        for name, matrices in found.items():
            key = kind.names.get(name, name)
            ob = bpy.data.objects[key]
            matrices.append(np.array(ob.evaluated_get(depsgraph).matrix_world))
    scene.frame_set(shown[0], subframe=shown[1])
    return {name: np.array(matrices) for name, matrices in found.items()}


def said_by_a_bake(scene):
    """What a bake says, a line a note; or the faults, and that it is refused."""
    try:
        notes = bake_scene(scene, BakeSettings.from_scene(scene)).report["notes"]
    except SceneError as error:
        return [str(fault) for fault in error.faults], True
    return [f"{note['object']}: {note['text']}" for note in notes], False


def reopen(path):
    bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False)
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    return bpy.context.scene


def make(maker, kind, folder):
    """Make a kind of scene; its file is in the folder already where a library was removed."""
    plain(maker)
    arguments = [maker, folder][: len(inspect.signature(kind.make).parameters)]
    kind.make(*arguments)
    path = folder / "shot.blend"
    if kind.reopen:
        if not path.exists():
            maker.save(path)
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    scene = bpy.context.scene
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    return scene


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Poses of the plain scene."""
    from scene_maker import SceneMaker

    cairn.register()
    kind = Kind(lambda maker: None, True)
    scene = make(SceneMaker(), kind, tmp_path_factory.mktemp("plain"))
    bake_scene(scene, BakeSettings.from_scene(scene))
    found = poses(kind)
    # all that moves does, and the pusher hits the ball
    assert all(np.ptp(found[name][:, :3, 3], axis=0).max() > 0.05 for name in ("Ball", "Rock", "Pusher"))
    return found


@pytest.mark.parametrize("name", EVERY)
def test_it_is_right_or_told(expected, maker, tmp_path, name):
    """The poses are those of the plain scene, also in the file that is saved; Delete Bake leaves what was there."""
    kind = KINDS[name]
    scene = make(maker, kind, tmp_path)
    before = user_data()
    lines, is_refused = said_by_a_bake(scene)
    assert is_refused == kind.error, lines
    assert not [word for word in kind.words if not any(word.lower() in line.lower() for line in lines)], lines
    if not is_refused:
        if kind.same:
            check_poses(expected, poses(kind))
        if kind.reopen:
            scene = reopen(tmp_path / "baked.blend")
            if kind.same:
                check_poses(expected, poses(kind))
        delete_bake(scene)
    assert differences(before, user_data()) == {}


def check_poses(expected, found):
    for body, matrices in found.items():
        assert matrices[:, :3, 3] == pytest.approx(expected[body][:, :3, 3], abs=TOLERANCE), body
    # scale and mirror aside, the rock turns as the plain one does
    first, plain_first = (poses["Rock"][0, :3, :3] for poses in (found, expected))
    turn = found["Rock"][:, :3, :3] @ np.linalg.inv(first)
    assert turn == pytest.approx(expected["Rock"][:, :3, :3] @ np.linalg.inv(plain_first), abs=10 * TOLERANCE)
