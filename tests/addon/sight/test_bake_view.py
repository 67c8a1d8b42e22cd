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


@pytest.fixture
def scrubbed(scene, views):
    """A view of a bake of twelve frames, of which the sixth is the newest."""
    from cairn.addon.read.scene_export import export_scene
    from cairn.solver_core.trajectory import Trajectory

    export = export_scene(scene)
    state = export.model.initial_state
    start = export.model.user_poses(state.position, state.orientation)
    shown, trajectory = bake_view.Shown(True), Trajectory(*start)
    shown.begin(export, scene.name, trajectory)
    for frame in range(2, 7):
        position = start[0] + (0.0, 0.0, frame)
        trajectory.append(position, start[1], None)
        shown.show(frame, position, start[1])
    yield shown.view
    shown.close()


def heights(view):
    frame, _, (position, _) = view.shown()
    return frame, round(position[1, 2] - 1.0)


def test_the_newest_until_the_timeline_is_moved(scene, scrubbed):
    """Then the frame that it goes to, where that is there; beyond, and before the start, the newest again."""
    assert heights(scrubbed) == (6, 6)
    for frame, seen in ((3, (3, 3)), (5, (5, 5)), (6, (6, 6)), (9, (6, 6)), (1, (1, 0)), (-4, (6, 6)), (2, (2, 2))):
        scene.frame_set(frame)
        assert heights(scrubbed) == seen


def test_a_timeline_that_stood_on_a_frame_from_the_start_does_not_hold_the_view(scene, views):
    """Also where it has stood in the middle of the range; and what it says is which of them is seen."""
    from cairn.addon.read.scene_export import export_scene
    from cairn.solver_core.trajectory import Trajectory

    scene.frame_set(4)
    export = export_scene(scene)
    state = export.model.initial_state
    start = export.model.user_poses(state.position, state.orientation)
    trajectory = Trajectory(*start)
    view = bake_view.BakeView(scene.name, 1, 12, export.model, trajectory)
    for frame in range(2, 9):
        trajectory.append(*start, None)
        view.show(frame, *start)
    view._surface = poses_view.surface_of(export.model)
    view._on_card = 8, None
    assert (view.shown()[0], view.text()) == (8, "Newest: frame 8 of 12")
    scene.frame_set(5)
    scene.frame_set(4)
    view.shown()
    scene.frame_set(3)
    assert view.shown()[0] == 3
    scene.frame_set(4)
    view._on_card = 4, None
    assert (view.shown()[0], view.text()) == (4, "Frame 4; newest: frame 8 of 12")
    view.close()


def test_what_was_chosen_is_not_drawn_again_for_each_new_frame(scene, scrubbed, views):
    scene.frame_set(3)
    views.now, asked = 100.0, len(views.asked)
    scrubbed.show(7, *scrubbed._poses)
    assert len(views.asked) == asked
    scene.frame_set(12)
    scrubbed.look()
    assert views.asked[asked:] == [(100.0, 7)]


def test_a_bake_whose_timeline_is_moved_is_the_same_and_leaves_it_there(scene, views, monkeypatch):
    """Poses and keys are those of one that nobody has looked at."""
    monkeypatch.setattr(operators, "TICK_SLICE", 0.0)
    undisturbed = bake.bake_scene(scene, BakeSettings.from_scene(scene)).trajectory.digest()
    scene.frame_set(1)
    digests = []
    window = Harness(scene)
    with monkeypatch.context() as begins:
        window.begin(begins)
    conclude = window.operator._conclude
    window.operator._conclude = lambda context, result: (
        digests.append(result.trajectory.digest()) or conclude(context, result)
    )
    moved = []

    def moves(answer):
        if operators.running is not None and operators.running["text"].startswith("Frame"):
            scene.frame_set(2 + len(moved) % 5)
            moved.append(scene.frame_current)
        return answer != {"RUNNING_MODAL"}

    window.tick_until(moves)
    assert len(moved) > 5
    assert digests == [undisturbed]
    assert scene.frame_current == moved[-1]
