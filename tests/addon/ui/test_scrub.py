"""The playhead while a bake runs: which events move it, and that a bake which nobody sees lets it stand."""

from types import SimpleNamespace

import pytest
from window_harness import Harness

import cairn
from cairn.addon.ui import operators
from cairn.addon.ui import scrub as scrub_module
from cairn.addon.ui.scrub import Scrub
from cairn.addon.ui.settle_operator import CAIRN_OT_settle


def region(x, y, width, height, kind="WINDOW"):
    """A region in which a frame is ten pixels wide, from its left edge on."""
    view = SimpleNamespace(region_to_view=lambda at, _: (at / 10.0, 0.0))
    return SimpleNamespace(x=x, y=y, width=width, height=height, type=kind, view2d=view)


def area(kind, x, y, width, height):
    return SimpleNamespace(type=kind, x=x, y=y, width=width, height=height, regions=[region(x, y, width, height)])


@pytest.fixture
def window():
    """A timeline along the bottom, a 3D view above it, and an outliner."""
    areas = [
        area("DOPESHEET_EDITOR", 0, 0, 1000, 200),
        area("VIEW_3D", 0, 200, 800, 600),
        area("OUTLINER", 800, 200, 200, 600),
    ]
    return SimpleNamespace(screen=SimpleNamespace(areas=areas))


def event(kind, value="PRESS", place=(300, 190), **held):
    keys = {"ctrl": False, "shift": False, "alt": False} | held
    return SimpleNamespace(type=kind, value=value, mouse_x=place[0], mouse_y=place[1], **keys)


@pytest.fixture
def scene(maker, monkeypatch):
    cairn.register()
    monkeypatch.setattr(scrub_module, "_height", lambda: 23.0)  # without a window Blender's scale is 0
    maker.scene.frame_start, maker.scene.frame_end = 1, 60
    maker.scene.frame_set(10)
    return maker.scene


def test_a_drag_along_the_time_moves_it(scene, window):
    """Also where the mouse leaves the strip; and not once the button is up."""
    scrub = Scrub(scene.name)
    assert scrub.hears(event("LEFTMOUSE"), window)
    assert scene.frame_current == 30
    for place, frame in (((400, 190), 40), ((454, 60), 45), ((454, 500), 45)):
        assert scrub.hears(event("MOUSEMOVE", "NOTHING", place), window)
        assert scene.frame_current == frame
    assert scrub.hears(event("LEFTMOUSE", "RELEASE", (454, 500)), window)
    assert not scrub.hears(event("MOUSEMOVE", "NOTHING", (200, 190)), window)
    assert scene.frame_current == 45


@pytest.mark.parametrize(
    ("kind", "value", "place", "held", "frame"),
    [
        ("RIGHT_ARROW", "PRESS", (400, 500), {}, 11),
        ("LEFT_ARROW", "PRESS", (300, 100), {}, 9),
        ("RIGHT_ARROW", "PRESS", (400, 500), {"shift": True}, 60),
        ("LEFT_ARROW", "PRESS", (400, 500), {"shift": True}, 1),
    ],
)
def test_arrows_move_it(scene, window, kind, value, place, held, frame):
    assert Scrub(scene.name).hears(event(kind, value, place, **held), window)
    assert scene.frame_current == frame


@pytest.mark.parametrize(
    ("kind", "value", "place", "held"),
    [
        ("LEFTMOUSE", "PRESS", (300, 100), {}),  # below the time: keys lie there
        ("LEFTMOUSE", "PRESS", (300, 500), {}),  # in the 3D view
        ("LEFTMOUSE", "PRESS", (900, 500), {}),
        ("LEFTMOUSE", "RELEASE", (300, 190), {}),
        ("LEFTMOUSE", "PRESS", (300, 190), {"ctrl": True}),
        ("RIGHT_ARROW", "RELEASE", (400, 500), {}),
        ("RIGHT_ARROW", "PRESS", (900, 500), {}),  # walks through the outliner
        ("RIGHT_ARROW", "PRESS", (400, 500), {"alt": True}),
        ("MOUSEMOVE", "NOTHING", (300, 190), {}),
        ("X", "PRESS", (300, 190), {}),
    ],
)
def test_nothing_else_does(scene, window, kind, value, place, held):
    assert not Scrub(scene.name).hears(event(kind, value, place, **held), window)
    assert scene.frame_current == 10


def test_a_scene_that_is_gone_has_none(window):
    assert not Scrub("gone").hears(event("LEFTMOUSE"), window)


def test_a_bake_hears_it_once_there_are_frames(maker, scene, window, monkeypatch):
    maker.body("Falls", shape="BOX", location=(0, 0, 1.0))
    maker.world.point_cache.frame_end = 60
    monkeypatch.setattr(operators, "TICK_SLICE", 0.0)
    harness = Harness(scene)
    with monkeypatch.context() as begins:
        harness.begin(begins)
    harness.context.window = window
    assert harness.feed("LEFTMOUSE", place=(300, 190)) == {"RUNNING_MODAL"}
    assert scene.frame_current == 10
    harness.tick_until(lambda answer: operators.running["text"].startswith("Frame 5"))
    harness.feed("LEFTMOUSE", place=(30, 190))
    harness.feed("LEFTMOUSE", "RELEASE", place=(30, 190))
    assert scene.frame_current == 3
    assert harness.run() == {"FINISHED"}
    assert scene.frame_current == 3


def test_settle_lets_it_stand():
    """It simulates the frame at which the scene stands."""
    assert not CAIRN_OT_settle._is_seen
