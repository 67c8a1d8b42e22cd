"""The buttons of Takes: what they do, what they say, Undo, and what a wedge and each bake leave among the takes."""

import bpy
import pytest
from tumbling import curves
from wedge_scenes import make_slope
from window_harness import Harness

import cairn
from cairn.addon.takes import book, ghosts, showing
from cairn.addon.ui import operators, takes_panel, wedge_panel
from cairn.addon.write import earlier_animation, fcurves

LAST = 8


@pytest.fixture
def scene(maker):
    cairn.register()
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(20, 20, 1))
    maker.body("Box", shape="BOX", location=(0, 0, 1.2))
    maker.body("Other", shape="BOX", location=(4, 0, 1.2))
    maker.scene.frame_end = maker.world.point_cache.frame_end = LAST
    maker.scene.frame_set(1)
    yield maker.scene
    operators.running = None


def motion(scene):
    return {obj.name: {key: fcurves.digest(curve) for key, curve in curves(obj).items()} for obj in scene.objects}


def two_takes(scene):
    """Two takes of other starts; returns the motion of each."""
    motions = []
    for height in (1.2, 3.0):
        scene.frame_set(1)
        scene.objects["Box"].location.z = height
        assert bpy.ops.cairn.bake() == {"FINISHED"}
        motions.append(motion(scene))
        assert bpy.ops.cairn.take_keep() == {"FINISHED"}
    return motions


def test_buttons_keep_use_rename_and_remove(scene, capfd):
    assert not bpy.ops.cairn.take_keep.poll()
    assert not bpy.ops.cairn.take_use.poll()
    first, second = two_takes(scene)
    assert scene.cairn.take_index == 1
    assert bpy.ops.cairn.take_use(index=0) == {"FINISHED"}
    assert motion(scene) == first
    assert bpy.ops.cairn.take_use() == {"FINISHED"}  # the one that is chosen
    assert motion(scene) == second
    assert bpy.ops.cairn.take_rename(index=0, name="Slow") == {"FINISHED"}
    assert [take.name for take in scene.cairn.takes] == ["Slow", "Take 2"]
    assert bpy.ops.cairn.take_remove(index=0) == {"FINISHED"}
    assert [take.name for take in scene.cairn.takes] == ["Take 2"]
    assert motion(scene) == second
    for button in (bpy.ops.cairn.take_use, bpy.ops.cairn.take_rename, bpy.ops.cairn.take_remove):
        with pytest.raises(RuntimeError, match="no take at this place"):
            button(index=5)
    assert "Traceback" not in capfd.readouterr().err


def test_show_by_button(scene):
    first, _ = two_takes(scene)
    bpy.ops.cairn.take_use(index=0)
    for shown in ("BULLET", "START", "CAIRN"):
        assert bpy.ops.cairn.show(motion=shown) == {"FINISHED"}
        assert showing.shown(scene) == shown
    assert motion(scene) == first


def test_undo_and_redo_of_each_button(scene):
    """State, keys and takes are those of the step, as often as one goes back and forth."""
    two_takes(scene)
    steps = [
        lambda: bpy.ops.cairn.take_use(index=0),
        lambda: bpy.ops.cairn.show(motion="BULLET"),
        lambda: bpy.ops.cairn.show(motion="START"),
        lambda: bpy.ops.cairn.show(motion="CAIRN"),
        lambda: bpy.ops.cairn.take_rename(index=1, name="Renamed"),
        lambda: bpy.ops.cairn.delete_bake(),
        lambda: bpy.ops.cairn.take_use(index=1),
        lambda: bpy.ops.cairn.take_remove(index=1),
    ]

    def seen():
        scene = bpy.context.scene
        takes = [(take.name, take.uid, take.action.name, len(take.bodies)) for take in scene.cairn.takes]
        return motion(scene), takes, book.facts_of(scene), scene.cairn.take, showing.shown(scene)

    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="Before")
    states = [seen()]
    for number, step in enumerate(steps):
        assert step() == {"FINISHED"}
        states.append(seen())
        bpy.ops.ed.undo_push(message=f"Step {number}")  # the window manager does this for operators with UNDO
    for _ in range(2):
        for state in reversed(states[:-1]):
            bpy.ops.ed.undo()
            assert seen() == state
        for state in states[1:]:
            bpy.ops.ed.redo()
            assert seen() == state


def begun(scene, monkeypatch, motion):
    """Show in a window, for which two bodies are many."""
    monkeypatch.setattr(takes_panel.attach, "ATTACHED", 1)
    harness = Harness(scene, takes_panel.CAIRN_OT_show, motion=motion)
    harness.begin(monkeypatch)
    return harness


def test_in_a_window_all_is_done_in_steps_and_esc_ends_bullet_alone(scene, monkeypatch):
    two_takes(scene)
    harness = begun(scene, monkeypatch, "BULLET")
    harness.feed("ESC")  # too early: the bake is still to be taken off
    while "simulate" not in harness.operator._stages:
        assert harness.feed("TIMER") == {"RUNNING_MODAL"}
    assert not harness.operator._stopping
    assert operators.running["hint"] == "ESC stops Bullet; the frames so far stay"
    monkeypatch.setattr(operators, "TICK_SLICE", 0.0)
    harness.feed("ESC")
    assert harness.run() == {"FINISHED"}
    harness.assert_cleaned_up()
    assert showing.shown(scene) == "BULLET"
    assert 0 < len(ghosts.bullet_of(scene).matrices) < LAST
    harness = begun(scene, monkeypatch, "CAIRN")
    assert harness.run() == {"FINISHED"}
    assert harness.reports == [({"INFO"}, "Take 2 plays")]
    assert showing.shown(scene) == "CAIRN"


def test_what_is_shown_stays_where_blender_cancels(scene, monkeypatch):
    """It opens another file, or quits: an autosave has what was there, and the takes."""
    two_takes(scene)
    bpy.ops.cairn.show(motion="START")
    own = motion(scene)
    harness = begun(scene, monkeypatch, "CAIRN")
    monkeypatch.setattr(operators, "TICK_SLICE", 0.0)
    monkeypatch.setattr(takes_panel.attach, "ATTACHED", 1)
    while not earlier_animation.baked_objects(scene):
        assert harness.feed("TIMER") == {"RUNNING_MODAL"}
    assert len(earlier_animation.baked_objects(scene)) == 1  # of two
    harness.operator.cancel(harness.context)
    harness.assert_cleaned_up()
    assert motion(scene) == own
    assert showing.shown(scene) == "START"
    assert bpy.ops.cairn.show(motion="CAIRN") == {"FINISHED"}


def test_what_is_said(scene, capfd):
    two_takes(scene)
    bpy.data.objects.remove(scene.objects["Other"])
    copy = scene.objects["Box"].copy()
    copy.name = "New"
    scene.collection.objects.link(copy)
    assert bpy.ops.cairn.take_use(index=0) == {"FINISHED"}
    said = capfd.readouterr().out
    assert "Take 1 plays. " in said
    assert "No longer in the scene: Other. Without keys in this take: New" in said
    scene.objects["Box"].rotation_mode = "QUATERNION"
    with pytest.raises(RuntimeError, match="Box: its rotation mode is QUATERNION"):
        bpy.ops.cairn.take_use(index=1)
    assert "Box: its rotation mode" in bpy.context.window_manager.cairn.error


def test_how_a_take_was_baked_is_told(scene):
    scene.cairn.quality = "preview"
    bpy.ops.cairn.bake()
    bpy.ops.cairn.take_keep(name="Kept")
    (take,) = scene.cairn.takes
    assert take.name == "Kept"
    take.seconds, take.date = 12.4, "2026-03-04T15:06"
    assert takes_panel.take_text(take) == "Preview, 12 s, 2026/03/04 15:06"


def test_each_bake_is_kept_where_that_is_asked_for(scene):
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert len(scene.cairn.takes) == 0
    scene.cairn.keep_takes = True
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert [take.name for take in scene.cairn.takes] == ["Take 1", "Take 2"]
    assert scene.cairn.take == scene.cairn.takes[1].uid


def test_a_variant_that_is_taken_becomes_a_take_and_the_bake_before_too(maker, tmp_path):
    cairn.register()
    make_slope(maker, tmp_path / "slope.blend")
    wedge_panel._shown.clear()
    assert bpy.ops.cairn.wedge_add(path="friction", values="0.2,0.9") == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    scene = bpy.context.scene
    assert bpy.ops.cairn.wedge() == {"FINISHED"}
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    own = motion(scene)
    assert bpy.ops.cairn.wedge_use(number=2) == {"FINISHED"}
    assert [take.name for take in scene.cairn.takes] == ["Take 1", "friction 0.9"]
    assert bpy.ops.cairn.wedge_use(number=1) == {"FINISHED"}
    assert [take.name for take in scene.cairn.takes] == ["Take 1", "friction 0.9", "friction 0.2"]
    assert bpy.ops.cairn.take_use(index=0) == {"FINISHED"}
    assert motion(scene) == own
    bpy.ops.cairn.delete_bake()
    assert earlier_animation.baked_objects(scene) == []
