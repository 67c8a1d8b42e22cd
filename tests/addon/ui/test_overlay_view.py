"""The overlay: handlers only while something of it is on, what is read and when, and what is drawn of a bake."""

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.sight import known_scenes, overlay_arrays
from cairn.addon.ui import overlay_panel, overlay_view, watch
from cairn.addon.ui.overlay_properties import PARTS
from cairn.addon.write import contact_points


@pytest.fixture
def scene(maker):
    cairn.unregister()
    cairn.register()
    maker.scene.frame_end = maker.world.point_cache.frame_end = 16
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(20, 20, 1))
    maker.body("Lies", shape="BOX", location=(0, 0, 0.5), settings={"mass": 2.0})
    maker.body("Falls", shape="BOX", location=(5, 0, 2.0))
    return maker.scene


def read(scene):
    """What the timers of a window do: the watch's look, and the reading."""
    watch.look_at(scene, bpy.context.window_manager.cairn)
    while overlay_view._reading:
        overlay_view._read_on()
    if bpy.app.timers.is_registered(overlay_view._read_on):
        bpy.app.timers.unregister(overlay_view._read_on)


def test_handlers_are_there_while_something_is_on(scene):
    assert (overlay_view._handlers, watch.listeners) == ([], [])
    for name in PARTS:
        setattr(scene.cairn.overlay, name, True)
        assert len(overlay_view._handlers) == len(watch.listeners) == 1
    for name in PARTS:
        assert len(overlay_view._handlers) == 1
        setattr(scene.cairn.overlay, name, False)
    assert (overlay_view._handlers, watch.listeners) == ([], [])


def test_none_is_left_after_unregister(scene):
    scene.cairn.overlay.contacts = True
    cairn.unregister()
    assert (overlay_view._handlers, watch.listeners) == ([], [])
    cairn.register()  # the file still has it on
    assert len(overlay_view._handlers) == 1
    scene.cairn.overlay.contacts = False


def test_another_file_has_its_own(scene, tmp_path):
    scene.cairn.overlay.shapes = True
    path = str(tmp_path / "on.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    read(scene)
    assert known_scenes.scene_named(scene.name) is not None
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert overlay_view._handlers == []
    assert known_scenes.scene_named("Scene") is None
    bpy.ops.wm.open_mainfile(filepath=path)
    assert len(overlay_view._handlers) == 1
    bpy.context.scene.cairn.overlay.shapes = False


def test_a_scene_is_read_once_and_anew_where_it_has_changed(scene, monkeypatch):
    scene.cairn.overlay.shapes = True
    began = []
    monkeypatch.setattr(overlay_view, "reading_steps", _counted(overlay_view.reading_steps, began))
    read(scene)
    read(scene)
    assert began == ["Scene"]
    known = known_scenes.scene_named("Scene")
    assert known.model.names == ("Floor", "Lies", "Falls")
    assert not overlay_view.is_stale(scene)
    bpy.data.objects["Lies"].rigid_body.collision_shape = "SPHERE"
    bpy.context.view_layer.update()
    read(scene)
    assert began == ["Scene", "Scene"]
    assert known_scenes.scene_named("Scene").number != known.number
    assert scene.frame_current == 1


def _counted(function, calls):
    def counted(name):
        calls.append(name)
        return function(name)

    return counted


def test_a_large_scene_is_read_by_the_button(scene, monkeypatch):
    monkeypatch.setattr(overlay_view, "MOST_BODIES", 2)
    scene.cairn.overlay.shapes = True
    read(scene)
    assert known_scenes.scene_named("Scene") is None
    assert overlay_view.is_large(scene)
    assert bpy.ops.cairn.read_shapes() == {"FINISHED"}
    read(scene)
    assert known_scenes.scene_named("Scene").model.body_count == 3


def test_what_cannot_be_read_is_said(scene):
    bpy.data.objects["Lies"].rigid_body.mass = 0.001
    bpy.data.objects["Lies"].scale = (0.0, 0.0, 0.0)
    scene.cairn.overlay.shapes = True
    read(scene)
    assert known_scenes.scene_named("Scene") is None
    assert any("Lies" in text for text, icon in overlay_panel.what_is_missing(scene) if icon == "ERROR")


def test_arrows_of_a_frame_are_what_pushes_in_it(scene):
    """Lengths by the scale, towards the body that moves: the box that lies bears its weight."""
    scene.cairn.overlay.contacts = True
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    bake = overlay_view.bake_of(scene)
    known = known_scenes.scene_named("Scene")
    assert known is not None  # what was baked is not read again
    scene.frame_set(6)  # the other one is in the air
    surface = overlay_view._of_bake(scene, scene.cairn.overlay, bake, known)
    corners = surface.place[:, :3].reshape(-1, 4, 3).astype(float)
    arrows = corners[:, 3] - corners[:, :3].mean(axis=1)
    scale = overlay_arrays.metres_per_impulse(bake.arrays["impulse"], 1.0)
    assert arrows.sum(axis=0) / scale == pytest.approx([0.0, 0.0, 2.0 * 9.81 / 24], abs=2e-3)
    assert (corners[:, :3, 2] < 0.1).all()
    scene.cairn.overlay.contacts = False


def test_without_contacts_or_a_bake_it_is_said(scene):
    scene.cairn.overlay.contacts = scene.cairn.overlay.at_rest = True
    assert [text for text, _ in overlay_panel.what_is_missing(scene)] == [
        "Contacts and what is at rest are known once the scene is baked"
    ]
    scene.cairn.overlay.contacts = scene.cairn.overlay.at_rest = False
    bpy.ops.cairn.bake()
    scene.cairn.overlay.contacts = True
    assert overlay_panel.what_is_missing(scene) == [("The bake has not kept its contacts: bake again", "INFO")]
    bpy.ops.cairn.bake()
    assert overlay_panel.what_is_missing(scene) == []
    bpy.ops.cairn.delete_bake()
    assert overlay_view.bake_of(scene) is None
    scene.cairn.overlay.contacts = False


def test_contacts_of_a_file_are_read_from_its_points(scene):
    scene.cairn.contact_points = scene.cairn.overlay.contacts = True
    bpy.ops.cairn.bake()
    kept = overlay_view.bake_of(scene).arrays
    known_scenes.forget()  # as in another session
    found = overlay_view.bake_of(scene)
    for name in ("frame", "impulse", "body_a", "body_b", "slip", "position"):
        assert found.arrays[name] == pytest.approx(kept[name].astype(float), abs=1e-6), name
    assert found.moves.tolist() == [False, True, True]
    assert list(found.arrays["names"]) == list(kept["names"]) == list(contact_points.points_of(scene)["bodies"])
    scene.cairn.overlay.contacts = False


def test_what_rests_is_known_of_each_frame(scene):
    scene.cairn.overlay.at_rest = True
    bpy.ops.cairn.bake()
    known = known_scenes.scene_named("Scene")
    scene.frame_set(3)
    resting = overlay_view._resting(scene, known)
    assert resting.tolist() == [False, True, False]  # the floor is not asked; one lies, one falls
    scene.frame_set(1)
    assert overlay_view._resting(scene, known) is None
    scene.cairn.overlay.at_rest = False


def test_poses_are_those_that_are_shown(scene):
    scene.cairn.overlay.shapes = True
    bpy.ops.cairn.bake()
    known = known_scenes.scene_named("Scene")
    scene.frame_set(9)
    position, orientation, number = overlay_view._poses(scene, known)
    assert position[2] == pytest.approx(np.array(bpy.data.objects["Falls"].matrix_world.translation), abs=1e-6)
    assert np.abs(orientation[:, 0]) == pytest.approx(1.0)
    assert overlay_view._poses(scene, known)[2] == number
    scene.frame_set(12)
    assert overlay_view._poses(scene, known)[2] != number
    scene.cairn.overlay.shapes = False
