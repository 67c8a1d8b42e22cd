"""Rigid body constraints that hold until something, or from then on: what is read, what a bake shows, and bad input."""

import bpy
import pytest
from joint_scenes import joint

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.checkpoints import in_window
from cairn.addon.read import joint_activation
from cairn.addon.read.scene_digest import scene_digest
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.wedge import targets
from cairn.addon.write import attach

FRAMES = 30
GRAVITY, RATE = 9.81, 24.0
FREE = {"linear_damping": 0.0, "angular_damping": 0.0}


@pytest.fixture
def scene(maker):
    """A box that hangs on a constraint, and a floor far below."""
    cairn.register()
    hook = maker.body("Hook", shape="BOX", type="PASSIVE", location=(0, 0, 12), scale=(0.2, 0.2, 0.2))
    box = maker.body("Box", shape="BOX", location=(0, 0, 10), settings=FREE)
    pin = joint(maker, "Pin", hook, box, location=(0, 0, 10))
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(20, 20, 1))
    pin.cairn.activation_holds = "UNTIL"
    maker.scene.gravity = (0, 0, -GRAVITY)
    maker.scene.frame_end = maker.world.point_cache.frame_end = FRAMES
    return maker.scene


def pin():
    return bpy.data.objects["Pin"].cairn


def heights(result):
    row = result.export.model.names.index("Box")
    return result.trajectory.position[:, row, 2]


def baked(scene):
    return bake_scene(scene, BakeSettings.from_scene(scene))


def notes_of(export):
    return [(note.object_name, note.text) for note in export.notes]


@pytest.mark.parametrize(("holds", "first"), [("UNTIL", 10), ("FROM", None)])
def test_a_frame(scene, holds, first):
    """In the frame it is still held, in the next one it has begun to fall; from a frame on a joint holds what fell."""
    pin().activation_holds, pin().activation, pin().activation_frame = holds, "FRAME", 10
    height = heights(baked(scene))
    if holds == "UNTIL":
        for frame in range(1, FRAMES + 1):
            fallen = 0.5 * GRAVITY * (max(0, frame - 10) / RATE) ** 2
            assert height[frame - 1] == pytest.approx(10.0 - fallen, abs=1e-6), frame
    else:
        assert height[9] == pytest.approx(10.0 - 0.5 * GRAVITY * (9 / RATE) ** 2, abs=1e-6)
        assert height[-1] > height[9]


def test_a_touch(scene, maker):
    """What is thrown at the box lets it go, and the box takes the hit."""
    pin().activation = "TOUCH"
    thrown = maker.body("Thrown", shape="SPHERE", location=(-4, 0, 10.4), scale=(0.5, 0.5, 0.5), settings=FREE)
    thrown.cairn.start_velocity = (12.0, 0.0, 0.0)
    result = baked(scene)
    let_go = [report.frame for report in result.reports if report.let_go == ["Pin"]]
    assert len(let_go) == 1
    assert ("Pin", f"let its bodies go in frame {1 + let_go[0]}") in notes_of(result.export)
    assert heights(result)[let_go[0] - 1] == pytest.approx(10.0, abs=1e-6)
    assert heights(result)[-1] < 9.0
    assert result.trajectory.position[-1, result.export.model.names.index("Box"), 0] > 0.1


def test_a_volume_that_moves(scene, maker):
    volume = maker.object("Sweep", maker.mesh(), location=(-10, 0, 10))
    maker.key(volume, "location", {1: (-10, 0, 10), 21: (10, 0, 10)})
    pin().activation, pin().activation_volume = "VOLUME", volume
    result = baked(scene)
    # its side is at the pin after 9.5 frames
    assert [report.frame for report in result.reports if report.let_go] == [10]
    height = heights(result)
    assert height[9] == pytest.approx(10.0, abs=1e-6)
    assert height[-1] < 9.0
    attach.delete_bake(scene)
    assert pin().activation_volume == volume


@pytest.mark.parametrize(
    ("values", "text", "falls"),
    [
        ({"activation": "START"}, joint_activation.NO_TRIGGER, False),
        ({"activation": "NEVER"}, None, False),
        ({"activation": "NEVER", "activation_holds": "FROM"}, joint_activation.NEVER_HELD, True),
        ({"activation": "VOLUME"}, "its Activation by Volume has no object: it waits throughout", False),
        (
            {"activation": "IMPULSE", "activation_impulse": 0.0},
            "its Activation by Impulse has a threshold of 0: the first touch counts",
            False,
        ),
    ],
)
def test_bad_input_is_told(scene, values, text, falls):
    for name, value in values.items():
        setattr(pin(), name, value)
    result = baked(scene)
    texts = [found for name, found in notes_of(result.export) if name == "Pin"]
    assert texts == ([] if text is None else [text])
    assert (heights(result)[-1] < 9.0) == falls


def test_contradicting_settings_are_told(scene, maker):
    """Enabled keyed or off, and an object that is a body as well."""
    pin().activation = "TOUCH"
    ob = bpy.data.objects["Pin"]
    ob.rigid_body_constraint.enabled = False
    assert ("Pin", joint_activation.IS_OFF) in notes_of(export_scene(scene))
    maker.key(ob, "rigid_body_constraint.enabled", {1: True, 10: False})
    assert ("Pin", joint_activation.IS_KEYED) in notes_of(export_scene(scene))
    empty = maker.object("Empty", maker.mesh([(0, 0, 0)], []))
    ob.animation_data_clear()
    ob.rigid_body_constraint.enabled = True
    pin().activation, pin().activation_volume = "VOLUME", empty
    text = "its Activation by Volume has Empty without faces: it waits throughout"
    assert ("Pin", text) in notes_of(export_scene(scene))


def test_a_keyed_activation_is_told(scene, maker):
    pin().activation = "FRAME"
    maker.key(bpy.data.objects["Pin"], "cairn.activation_frame", {1: 5, 10: 9})
    text = "Activation is animated: the start frame's value is used throughout"
    assert ("Pin", text) in notes_of(export_scene(scene))


def test_from_current_frame_remembers_what_was_let_go(scene, tmp_path):
    """A bake that begins anew in the middle does not hold again what has fallen."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"), check_existing=False)
    thrown = scene.objects["Box"].copy()
    thrown.name, thrown.location = "Thrown", (-4, 0, 10.4)
    scene.collection.objects.link(thrown)
    thrown.scale = (0.5, 0.5, 0.5)
    thrown.cairn.start_velocity = (12.0, 0.0, 0.0)
    pin().activation = "TOUCH"
    settings = BakeSettings.from_scene(scene)
    whole = bake_scene(scene, settings, checkpoints=in_window.plan_of(scene))
    anew = bake_scene(scene, settings, checkpoints=in_window.plan_of(scene, from_frame=20))
    assert any(report.let_go for report in whole.reports[:18])
    assert heights(anew)[-1] == pytest.approx(heights(whole)[-1], abs=1e-3)


def test_what_changes_is_out_of_date(scene):
    pin().activation_holds = "ALWAYS"
    before = scene_digest(scene)
    pin().activation = "IMPULSE"
    assert scene_digest(scene) == before  # nobody listens
    pin().activation_holds = "UNTIL"
    changed = scene_digest(scene)
    assert changed != before
    targets.set_property(scene, "object:Pin.activation_impulse", 3.0)
    assert pin().activation_impulse == 3.0
    assert scene_digest(scene) != changed
