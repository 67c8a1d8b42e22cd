"""*Activation* of a rigid body: what of its panel reaches the model, what is said, and what a bake shows."""

import math

import numpy as np
import pytest

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.read.scene_digest import changes, scene_digest
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.wedge.targets import set_property
from cairn.solver_core.model.activation import Trigger

FREE = {"linear_damping": 0.0, "angular_damping": 0.0}
FRAMES = 30


@pytest.fixture
def box(maker):
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = FRAMES
    return maker.body("Box", shape="BOX", location=(0, 0, 5), settings=FREE)


def read(scene, name="Box"):
    """Arrays of the model, the body's place in them, and the notes on it."""
    export = export_scene(scene)
    texts = [note.text for note in export.notes if note.object_name == name]
    return export.model.arrays.activation, export.model.names.index(name), texts


def heights(scene, ob):
    """Of each frame."""
    found = []
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        found.append(ob.matrix_world.translation.z)
    return np.array(found)


def bake(scene):
    return bake_scene(scene, BakeSettings(quality="exact", substeps=4, max_substeps=4))


def test_who_uses_nothing_has_empty_tables(maker, box):
    activation, _, _ = read(maker.scene)
    assert [len(array) for array in activation] == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("value", "trigger", "waits"),
    [
        ("TOUCH", Trigger.TOUCH, True),
        ("IMPULSE", Trigger.IMPULSE, True),
        ("FRAME", Trigger.TOLD, True),
        ("NEVER", Trigger.TOLD, True),
    ],
)
def test_all_of_it_reaches_the_model(maker, box, value, trigger, waits):
    box.cairn.activation, box.cairn.activation_impulse = value, 7.5
    activation, index, texts = read(maker.scene)
    assert activation.trigger[index] == trigger
    assert activation.waits[index] == waits
    assert activation.threshold[index] == (7.5 if value == "IMPULSE" else 0.0)
    assert texts == []


def test_what_contradicts_is_one_line(maker, box):
    own = box.cairn
    own.activation, own.activation_impulse = "IMPULSE", 0.0
    activation, index, texts = read(maker.scene)
    assert activation.trigger[index] == Trigger.TOUCH
    assert texts == ["its Activation by Impulse has a threshold of 0: the first touch counts"]
    own.activation = "VOLUME"
    activation, index, texts = read(maker.scene)
    assert activation.trigger[index] == Trigger.TOLD
    assert texts == ["its Activation by Volume has no object: it waits throughout"]
    own.activation_volume = maker.object("Empty")
    assert read(maker.scene)[2] == ["its Activation by Volume has Empty without faces: it waits throughout"]
    own.activation, own.activation_frame = "FRAME", 20
    own.use_deactivation_frame, own.deactivation_frame = True, 12
    assert read(maker.scene)[2] == ["Deactivate at frame 12 is not used: it must be after its Activation at frame 20"]
    own.use_deactivation_frame = False
    box.rigid_body.use_deactivation = box.rigid_body.use_start_deactivated = True
    assert read(maker.scene)[2] == ["Start Deactivated is not used: its Activation says when it wakes"]
    box.rigid_body.use_start_deactivated, own.start_velocity = False, (1.0, 0.0, 0.0)
    assert read(maker.scene)[2] == ["its initial motion is not used: it waits for its Activation"]
    own.start_velocity, box.rigid_body.kinematic = (0.0, 0.0, 0.0), True
    activation, _, texts = read(maker.scene)
    assert len(activation.trigger) == 0
    assert texts == ["its Activation is not used: it never moves by simulation"]
    box.keyframe_insert("rigid_body.kinematic", frame=1)
    box.rigid_body.kinematic = False
    box.keyframe_insert("rigid_body.kinematic", frame=10)
    activation, _, texts = read(maker.scene)
    assert len(activation.trigger) == 0
    assert "its Activation is not used: Animated or Dynamic is on or keyed, which says when it moves" in texts


def test_a_frame_wakes_it_and_another_one_stops_it(maker, box):
    """In the frame of its activation it is where it waited; in that of Deactivate it stops."""
    own = box.cairn
    own.activation, own.activation_frame = "FRAME", 9
    own.use_deactivation_frame, own.deactivation_frame = True, 21
    result = bake(maker.scene)
    found = heights(maker.scene, box)
    time = (np.clip(np.arange(1, FRAMES + 1), 9, 21) - 9) / 24.0
    assert found == pytest.approx(5.0 - 0.5 * 9.81 * time**2, abs=1e-5)
    assert [(frame["frame"], frame["activated"]) for frame in result.report["frames"] if frame["activated"]] == [
        (10, ["Box"])
    ]
    notes = [(note["object"], note["text"]) for note in result.report["notes"]]
    assert ("Box", "is awake from frame 10 on") in notes


def test_a_volume_that_is_animated_wakes_it(maker, box):
    """100 m/s along x: it is at the box within a thousandth of a second of 1/10 s after the start."""
    volume = maker.object("Volume", data=maker.mesh(), scale=(0.1, 1.0, 1.0))
    maker.key(volume, "location", {1: (-10.05, 0.0, 5.0), 25: (89.95, 0.0, 5.0)})
    box.cairn.activation, box.cairn.activation_volume = "VOLUME", volume
    aside = maker.body("Aside", shape="BOX", location=(3, 4, 5), settings=FREE)
    aside.cairn.activation, aside.cairn.activation_volume = "VOLUME", volume
    result = bake(maker.scene)
    # its front is at the box 0.1 s after the start: in substep 9 of 1/96 s, the second of the frame's four
    wakes = math.floor(0.1 * 96) / 96.0
    time = np.maximum(np.arange(FRAMES) / 24.0 - wakes, 0.0)
    assert heights(maker.scene, box) == pytest.approx(5.0 - 0.5 * 9.81 * time**2, abs=1e-5)
    assert np.all(heights(maker.scene, aside) == 5.0)
    woken = {name: frame["frame"] for frame in result.report["frames"] for name in frame["activated"]}
    assert woken == {"Box": 4}


def test_a_bake_by_touch_is_told_from_one_without(maker, box):
    """The digest names the change, a fresh one does not; and a wedge varies it."""
    before = scene_digest(maker.scene)
    box.cairn.activation_impulse = 3.0
    # it is not in use
    assert changes(before, scene_digest(maker.scene)) == []
    box.cairn.activation = "IMPULSE"
    after = scene_digest(maker.scene)
    assert changes(before, after) == ["activation of Box"]
    set_property(maker.scene, "object:Box.cairn.activation_impulse", 5.0)
    assert box.cairn.activation_impulse == 5.0
    assert changes(after, scene_digest(maker.scene)) == ["activation of Box"]
    set_property(maker.scene, "object:Box.cairn.activation", "TOUCH")
    assert box.cairn.activation == "TOUCH"


def test_an_animated_volume_is_a_mover(maker, box):
    volume = maker.object("Volume", data=maker.mesh())
    box.cairn.activation, box.cairn.activation_volume = "VOLUME", volume
    before = scene_digest(maker.scene)
    volume.location.x = 3.0
    assert changes(before, scene_digest(maker.scene)) == ["start pose of Volume"]


def test_settle_lets_what_waits_come_to_rest(maker, box):
    """Its activation is for the bake."""
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(20, 20, 1))
    box.cairn.activation, box.location.z = "NEVER", 1.0
    result = cairn.settle(maker.scene, [box])
    assert result.at_rest == ("Box",)
    assert box.location.z == pytest.approx(0.5, abs=1e-3)
