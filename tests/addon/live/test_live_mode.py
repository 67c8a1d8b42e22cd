"""*Live* as the window has it: what is there while it is on, and that nothing is there before it and after it."""

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.live.drags import Spring
from cairn.addon.sight import poses_view
from cairn.addon.ui import live_drag, live_mode, live_panel, operators


class Handlers:
    """Blender's handlers of 3D views."""

    def __init__(self):
        self.there = []

    def draw_handler_add(self, function, arguments, region, when):
        self.there.append((when, function))
        return self.there[-1]

    def draw_handler_remove(self, handler, region):
        self.there.remove(handler)


@pytest.fixture
def views(monkeypatch):
    made = Handlers()
    monkeypatch.setattr(poses_view, "_view_type", lambda: made)
    return made


@pytest.fixture
def scene(maker):
    cairn.register()
    maker.scene.frame_end = maker.world.point_cache.frame_end = 12
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(20, 20, 1))
    maker.body("Falls", shape="BOX", location=(0, 0, 1.0))
    bpy.context.view_layer.update()
    return maker.scene


def own_handlers():
    """Live's handlers among Blender's."""
    return sum(getattr(bpy.app.handlers, occasion).count(handler) for occasion, handler in live_mode.HANDLERS)


@pytest.fixture
def mode(scene, views):
    live_mode.mode = live_mode.LiveMode(scene)
    yield live_mode.mode
    live_mode.end()


def ticked(until):
    while not until():
        if live_mode._tick() is None:
            return


def assert_all_gone(views):
    assert live_mode.mode is None
    assert own_handlers() == 0
    assert views.there == []
    assert not bpy.app.timers.is_registered(live_mode._tick)


def test_while_it_is_off_there_is_nothing(scene, views):
    assert_all_gone(views)


def test_it_brings_handlers_a_timer_and_what_draws_and_takes_them_away(mode, views):
    assert own_handlers() == len(live_mode.HANDLERS)
    assert [when for when, _ in views.there] == ["PRE_VIEW", "POST_VIEW", "POST_PIXEL"]
    assert bpy.app.timers.is_registered(live_mode._tick)
    assert live_panel.CAIRN_OT_live.poll(bpy.context)
    assert bpy.ops.cairn.live() == {"FINISHED"}
    assert_all_gone(views)


def test_without_a_window_it_does_not_begin(scene, views):
    with pytest.raises(RuntimeError, match="needs a window"):
        bpy.ops.cairn.live()
    assert_all_gone(views)


def test_the_view_has_the_poses_of_the_timeline(scene, mode):
    ticked(lambda: mode.session.is_done)
    for frame, shown in ((1, 1), (7, 7), (40, 12)):
        scene.frame_set(frame)
        key, _, (position, _) = mode.view.shown()
        assert key == (1, shown - 1)
        assert position[1, 2] == mode.session._run.memory.trajectory.position[shown - 1, 1, 2]
    assert mode.line() == "Live: simulated up to frame 12 of 12"


def test_a_change_that_blender_tells_of_begins_it_again(scene, mode):
    ticked(lambda: mode.session.is_done)
    scene.objects["Falls"].location.x = 1.0
    bpy.context.view_layer.update()
    assert not mode.session.is_done
    ticked(lambda: mode.session.is_done)
    assert mode.session.runs == 2


@pytest.mark.parametrize("how", ["deleted", "world", "file", "off", "bake"])
def test_it_ends_with_its_scene_its_file_and_the_add_on(scene, mode, views, how):
    ticked(lambda: mode.session.frames is not None)
    if how == "deleted":
        bpy.data.scenes.new("Other")
        bpy.data.scenes.remove(scene)
        assert live_mode._tick() is None
    elif how == "world":
        bpy.ops.rigidbody.world_remove()
        assert live_mode._tick() is None
    elif how == "file":
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    elif how == "off":
        cairn.unregister()
    else:
        operators.running = {"task": "A bake"}
        assert live_mode._tick() is None
        operators.running = None
    assert_all_gone(views)


def test_a_renamed_scene_goes_on(scene, mode):
    ticked(lambda: mode.session.is_done)
    scene.name = "Another"
    ticked(lambda: mode.session.runs == 2 and mode.session.is_done)
    assert mode.session.error is None
    assert mode.view.scene_name == "Another"


def test_undo_is_a_change(scene, mode):
    ticked(lambda: mode.session.is_done)
    mode.note_change()
    assert not mode.session.is_done
    ticked(lambda: mode.session.is_done)
    assert mode.session.runs == 1


def test_what_fails_ends_it_and_says_why(scene, mode, views, monkeypatch, capsys):
    monkeypatch.setattr(mode.session, "tick", lambda seconds: 1 / 0)
    assert live_mode._tick() is None
    assert_all_gone(views)
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert bpy.context.window_manager.cairn.error


def test_a_line_of_sight_takes_a_body_into_the_hand(scene, mode):
    """Frames come one by one, as the timeline does; where it plays from its beginning again the body is let go."""
    ticked(lambda: mode.session.is_done)
    spring = Spring()
    assert live_drag.grab(mode, (30.0, -30.0, 1.0), (0.0, 1.0, 0.0), 3, spring) is None
    assert mode.view.spring() is None
    scene.frame_set(3)
    fallen = mode.session.picture(3).poses[0][1, 2]
    place = live_drag.grab(mode, (0.0, -30.0, fallen), (0.0, 1.0, 0.0), 3, spring)
    assert mode.session.drags.held.name == "Falls"
    begin, end = mode.view.spring()
    assert np.allclose(begin, place)
    assert np.allclose(end, place)
    mode.session.drags.move(place + (0.0, 0.0, 1.0))
    for frame in (3, 4, 5):
        scene.frame_set(frame)
        ticked(lambda frame=frame: mode.session.frames[1] == frame + 1)
        for _ in range(5):
            live_mode._tick()
        assert mode.session.frames[1] == frame + 1
    assert mode.session.picture(6).poses[0][1, 2] > fallen
    scene.frame_set(2)
    ticked(lambda: mode.session.is_done)
    assert not mode.session.drags.is_held
    assert mode.session.frames[1] == 12
    assert sorted(mode.session.drags.frames) == [4, 5, 6]
    assert bpy.ops.cairn.live_forget() == {"FINISHED"}
    assert mode.session.drags.frames == {}


def test_keep_is_a_bake(scene, mode, views):
    """It ends Live."""
    ticked(lambda: mode.session.is_done)
    assert bpy.ops.cairn.live_keep() == {"FINISHED"}
    assert scene.cairn.is_baked
    assert scene.cairn.baked_end == 12
    assert_all_gone(views)


def test_keep_needs_live(scene):
    assert not live_panel.CAIRN_OT_live_keep.poll(bpy.context)
