"""The view of a bake: when it draws, how much of the time that takes, and that its handlers go however the bake ends.

Drawing itself needs a window (tests/app); here the handlers are noted, and drawings are played.
"""

import bpy
import numpy as np
import pytest
from window_harness import Harness

import cairn
from cairn.addon import bake
from cairn.addon.bake import BakeStopped, bake_frames
from cairn.addon.settings import BakeSettings
from cairn.addon.sight import bake_view, poses_view
from cairn.addon.ui import operators


class Views:
    """Blender's handlers of 3D views, and a clock."""

    def __init__(self):
        self.handlers, self.removed, self.asked, self.now = [], [], [], 0.0

    def draw_handler_add(self, function, arguments, region, when):
        self.handlers.append((when, function))
        return self.handlers[-1]

    def draw_handler_remove(self, handler, region):
        self.handlers.remove(handler)
        self.removed.append(handler)


@pytest.fixture
def views(monkeypatch):
    made = Views()
    monkeypatch.setattr(poses_view, "_view_type", lambda: made)
    monkeypatch.setattr(bake_view, "perf_counter", lambda: made.now)
    monkeypatch.setattr(bake_view.BakeView, "_redraw", lambda view: made.asked.append((made.now, view._frame)))
    return made


@pytest.fixture
def scene(maker):
    cairn.register()
    maker.scene.frame_end = maker.world.point_cache.frame_end = 12
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(20, 20, 1))
    maker.body("Falls", shape="BOX", location=(0, 0, 1.0))
    return maker.scene


def played(view, views, cost, seconds, pause=0.01):
    """A bake of so long whose frames take ``pause``, in a window that draws when it is asked."""
    frame = 1
    while views.now < seconds:
        views.now += pause
        frame += 1
        asked = len(views.asked)
        view.show(frame, np.zeros((2, 3)), np.zeros((2, 4)))
        if len(views.asked) > asked:
            views.now += cost
            view.seconds += cost
            view.drawings += 1


@pytest.fixture
def view(scene, views):
    from cairn.addon.read.scene_export import export_scene

    shown = bake_view.Shown(True)
    shown.begin(export_scene(scene), scene.name)
    return shown.view


@pytest.mark.parametrize("cost", [0.0005, 0.02, 0.4])
def test_drawing_takes_a_twentieth_of_the_time_at_most(view, views, cost):
    """But for the first picture; and a card that is quick draws ten times a second, no more."""
    played(view, views, cost, 60.0)
    assert view.seconds <= bake_view.LARGEST_SHARE * views.now + cost
    times = [when for when, _ in views.asked]
    assert min(np.diff(times)) >= bake_view.INTERVAL - 1e-9
    assert view.drawings >= min(0.8 * 60.0 / bake_view.INTERVAL, 0.8 * bake_view.LARGEST_SHARE * 60.0 / cost)


def test_it_draws_only_what_is_new(view, views):
    views.now = 5.0
    view.show(2, *view._poses)
    assert views.asked == [(5.0, 2)]
    view.drawings = 1
    views.now = 60.0
    view.look()
    assert len(views.asked) == 1
    view.show(3, *view._poses)
    assert views.asked[1:] == [(60.0, 3)]


def test_a_hidden_view_is_asked_now_and_then(view, views):
    """Nothing draws: it is not asked with each frame."""
    for frame in range(2, 1002):
        views.now += 0.01
        view.show(frame, *view._poses)
    assert 3 <= len(views.asked) <= 6


def test_a_short_bake_needs_no_picture(scene, views):
    list(bake_frames(scene, BakeSettings.from_scene(scene), shows=True))
    assert len(views.asked) == 1  # at its end, when the handlers are gone
    assert views.handlers == []
    assert len(views.removed) == 3


def test_without_there_is_no_handler(scene, views):
    list(bake_frames(scene, BakeSettings.from_scene(scene)))
    assert views.removed == []


@pytest.mark.parametrize("end", ["stop", "close", "error"])
def test_handlers_go_however_a_bake_ends(scene, views, monkeypatch, end):
    steps = bake_frames(scene, BakeSettings.from_scene(scene), shows=True)
    for progress in steps:
        if progress.frame is not None and progress.frame >= 4:
            break
    assert [when for when, _ in views.handlers] == ["PRE_VIEW", "POST_VIEW", "POST_PIXEL"]
    if end == "stop":
        steps.throw(BakeStopped())
        list(steps)
    elif end == "close":
        steps.close()
    else:
        monkeypatch.setattr(bake.Bake, "_note_turns", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            list(steps)
    assert views.handlers == []
    assert len(views.removed) == 3


def test_in_a_window_it_is_on_unless_it_is_switched_off(scene, views, monkeypatch):
    monkeypatch.setattr(operators, "TICK_SLICE", 0.0)
    for newest in (True, False):
        scene.cairn.overlay.newest = newest
        window = Harness(scene)
        with monkeypatch.context() as begins:
            window.begin(begins)
        window.tick_until(lambda answer: operators.running is None or operators.running["text"].startswith("Frame 5"))
        assert bool(views.handlers) == newest
        window.operator.cancel(window.context)  # another file is opened, or the add-on is switched off
        window.assert_cleaned_up()
        assert views.handlers == []


def test_a_view_that_cannot_draw_is_given_up_and_the_bake_goes_on(scene, views, view, capsys):
    (_, handler) = views.handlers[1]
    handler()  # there is no window
    assert views.handlers == []
    assert "Traceback" in capsys.readouterr().err
    view.show(2, *view._poses)
    assert bpy.context.scene == scene
