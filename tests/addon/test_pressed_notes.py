"""What a bake says of bodies that something keyed presses where there is no room for them."""

import pytest

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.settings import BakeSettings


@pytest.fixture
def pressed(maker):
    """A press that comes down to half of a box's height by frame 12, and a box beside it."""
    cairn.register()
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(10, 10, 1))
    maker.body("Under", shape="BOX", location=(0, 0, 0.5))
    maker.body("Beside", shape="BOX", location=(4, 0, 0.5))
    press = maker.body(
        "Press", shape="BOX", type="PASSIVE", location=(0, 0, 3), scale=(2, 2, 2), settings={"kinematic": True}
    )
    maker.key(press, "location", {1: (0, 0, 3), 12: (0, 0, 1.5), 16: (0, 0, 1.5), 24: (0, 0, 3)})
    return maker


def notes_of(result):
    return [(note.object_name, note.text) for note in result.export.notes if "there is no room" in note.text]


def test_what_a_press_crushes_is_named(pressed):
    """With the press, the frame and how deep; what is not under it is not."""
    result = bake_scene(pressed.scene, BakeSettings(start=1, end=30))
    ((name, text),) = notes_of(result)
    assert name == "Under"
    assert text.startswith("is pressed 0.")
    assert "into Press at frame 1" in text
    pressed.scene.frame_set(30)
    assert pressed.scene.objects["Under"].matrix_world.translation.z == pytest.approx(0.5, abs=0.01)


def test_a_press_that_stops_in_time_is_not_named(pressed):
    press = pressed.scene.objects["Press"]
    press.animation_data_clear()
    pressed.key(press, "location", {1: (0, 0, 3), 12: (0, 0, 2.0), 24: (0, 0, 3)})
    assert notes_of(bake_scene(pressed.scene, BakeSettings(start=1, end=30))) == []
