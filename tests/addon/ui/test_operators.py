"""The operators: what a press of Bake does in the background and tick by tick in a window, how it ends, what it says.

The modal part runs in a harness, a plain class with the operator's own methods, since the bpy module has no window.
"""

import json
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from window_harness import Harness

import cairn
from cairn.addon import runtime
from cairn.addon.ui import let_through, navigation, operators
from cairn.addon.ui.operators import CAIRN_OT_bake, CAIRN_OT_check_scene
from cairn.addon.ui.preferences import CAIRN_OT_prepare
from cairn.addon.write import since_bake
from cairn.solver_core.geometry.shapes import ShapeKind
from cairn.solver_core.simulation import Simulation, SimulationError


@pytest.fixture
def stack(maker):
    """Three boxes on a floor, 25 frames."""
    cairn.register()
    maker.world.point_cache.frame_end = 25
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(10, 10, 1))
    for i in range(3):
        maker.body(f"Box{i}", shape="BOX", location=(0, 0, 0.5 + i))
    session = bpy.context.window_manager.cairn
    session.error = session.error_object = session.check = ""
    yield maker
    operators.running = None


@pytest.fixture
def harness(stack, monkeypatch):
    harness = Harness(stack.scene)
    # one step a tick, so that a test can stop anywhere
    monkeypatch.setattr(operators, "TICK_SLICE", 0.0)
    patch = pytest.MonkeyPatch()
    harness.begin(patch)
    return harness


# In the background


def test_bake_and_delete_bake_without_a_window(stack):
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert stack.scene.cairn.is_baked
    assert stack.scene.objects["Box2"].animation_data.action.name == "Box2 Cairn"
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    assert stack.scene.objects["Box2"].animation_data is None
    assert stack.world.enabled


def test_invoking_without_a_window_bakes_too(stack):
    assert bpy.ops.cairn.bake("INVOKE_DEFAULT") == {"FINISHED"}
    assert operators.running is None


def refusal(operator):
    """What a call says that cannot be made."""
    with pytest.raises(RuntimeError) as error:
        operator()
    return str(error.value)


def test_polls_say_why_not(stack):
    assert "has no bake" in refusal(bpy.ops.cairn.delete_bake)
    bpy.ops.rigidbody.world_remove()
    assert "no rigid body world" in refusal(bpy.ops.cairn.bake)
    bpy.ops.rigidbody.world_add()
    operators.running = {"scene": "Scene", "text": "", "factor": 0.0, "task": "A bake", "can_stop": True}
    assert "A bake is running; ESC stops it" in refusal(bpy.ops.cairn.bake)
    assert "A bake is running; ESC stops it" in refusal(bpy.ops.cairn.delete_bake)
    operators.running.update(task="A deletion", can_stop=False)
    said = refusal(bpy.ops.cairn.bake)
    assert "A deletion is running" in said
    assert "ESC" not in said


def test_bake_needs_object_mode(stack):
    bpy.context.view_layer.objects.active = stack.scene.objects["Box0"]
    bpy.ops.object.mode_set(mode="EDIT")
    assert "Object Mode" in refusal(bpy.ops.cairn.bake)


def shear(maker):
    parent = maker.object("Parent", scale=(1, 3, 1), rotation_euler=(0.5, 0, 0))
    box = maker.scene.objects["Box1"]
    box.parent, box.rotation_euler = parent, (0.7, 0.4, 0)


def zero_scale(maker):
    maker.scene.objects["Box1"].scale = (1, 0, 1)


@pytest.mark.parametrize("break_it", [shear, zero_scale])
def test_a_scene_error_names_the_object_and_changes_nothing(stack, break_it):
    break_it(stack)
    text = refusal(bpy.ops.cairn.bake)
    session = bpy.context.window_manager.cairn
    assert "Box1: " in text
    assert "Traceback" not in text
    assert "\n" not in session.error
    assert session.error_object == "Box1"
    assert not stack.scene.cairn.is_baked
    assert stack.world.enabled
    # the button in the panel leads there
    assert bpy.ops.cairn.select_object(object_name="Box1") == {"FINISHED"}
    assert bpy.context.selected_objects == [stack.scene.objects["Box1"]]
    assert bpy.ops.cairn.clear_error() == {"FINISHED"}
    assert session.error == session.error_object == ""


def test_an_error_stays_until_the_next_bake(stack):
    zero_scale(stack)
    refusal(bpy.ops.cairn.bake)
    assert bpy.context.window_manager.cairn.error
    stack.scene.objects["Box1"].scale = (1, 1, 1)
    bpy.ops.cairn.bake()
    assert not bpy.context.window_manager.cairn.error


def test_numba_missing_is_one_line(stack, monkeypatch):
    def unavailable():
        raise runtime.RuntimeUnavailable("numba cannot be loaded (no module named numba); reinstall Cairn")

    monkeypatch.setattr(runtime, "prepare", unavailable)
    assert "numba cannot be loaded" in refusal(bpy.ops.cairn.bake)
    assert not stack.scene.cairn.is_baked


def test_go_to_worst_goes_there(stack):
    """To the body that moves, of the two that touch; where all is within tolerance there is nothing to go to."""
    bpy.ops.cairn.bake()
    facts = stack.scene.cairn
    assert facts.worst_object == ""
    assert not bpy.ops.cairn.go_to_worst.poll()
    facts.quality, facts.max_iterations = "exact", 1
    bpy.ops.cairn.bake()
    assert "above tolerance" in facts.summary
    assert facts.worst_object.startswith("Box")
    stack.scene.frame_set(1)
    assert bpy.ops.cairn.go_to_worst() == {"FINISHED"}
    assert stack.scene.frame_current == facts.worst_frame
    assert bpy.context.view_layer.objects.active.name == facts.worst_object


def test_what_is_shown_around_is_as_large_as_the_object_looks(stack):
    """Middle and diagonal of the bounding box in the world, of scaled and turned objects, too."""
    box = stack.scene.objects["Box1"]
    box.data.transform(Matrix.Translation((2.0, 0.0, 0.0)))
    box.location, box.scale, box.rotation_euler = (1.0, 2.0, 3.0), (1.0, 2.0, 2.0), (0.0, 0.0, np.pi / 2)
    graph = bpy.context.evaluated_depsgraph_get()
    middle, size = navigation.middle_and_size(box.evaluated_get(graph))
    np.testing.assert_allclose(middle, (1.0, 4.0, 3.0), atol=1e-5)
    assert size == pytest.approx(3.0, rel=1e-5)


def test_check_scene_lists_bodies_and_notes(stack):
    stack.scene.objects["Box1"].rigid_body.collision_shape = "COMPOUND"
    assert bpy.ops.cairn.check_scene() == {"FINISHED"}
    check = json.loads(bpy.context.window_manager.cairn.check)
    assert (check["bodies"], check["moving"]) == (4, 3)
    assert any("Box1" in names for _, _, names in check["notes"])


def test_the_objects_of_a_note_are_selected(stack):
    """All of a kind that can be, and none that cannot; a list that has changed meanwhile is said."""
    for name in ("Box0", "Box2"):
        stack.scene.objects[name].rigid_body.collision_shape = "COMPOUND"
    bpy.ops.cairn.check_scene()
    notes = json.loads(bpy.context.window_manager.cairn.check)["notes"]
    place = next(place for place, (_, _, names) in enumerate(notes) if names == ["Box0", "Box2"])
    stack.scene.objects["Floor"].select_set(True)
    assert bpy.ops.cairn.select_noted(source="check", place=place) == {"FINISHED"}
    assert {ob.name for ob in bpy.context.selected_objects} == {"Box0", "Box2"}
    assert bpy.context.view_layer.objects.active.name == "Box0"
    stack.scene.objects["Box0"].hide_set(True)
    assert bpy.ops.cairn.select_noted(source="check", place=place) == {"FINISHED"}
    assert {ob.name for ob in bpy.context.selected_objects} == {"Box2"}
    stack.scene.objects["Box2"].hide_set(True)
    assert bpy.ops.cairn.select_noted(source="check", place=place) == {"CANCELLED"}
    assert bpy.ops.cairn.select_noted(source="check", place=99) == {"CANCELLED"}


def test_old_notes_go_when_a_bake_begins(stack, monkeypatch):
    session = bpy.context.window_manager.cairn
    bpy.ops.cairn.check_scene()
    assert json.loads(session.check)["notes"]
    harness = Harness(stack.scene)
    harness.begin(monkeypatch)
    assert session.check == ""
    harness.run()
    assert json.loads(session.check)["notes"]


def test_check_scene_of_a_baked_scene_is_that_of_the_unbaked(stack):
    bpy.ops.cairn.check_scene()
    before = bpy.context.window_manager.cairn.check
    bpy.ops.cairn.bake()
    bpy.ops.cairn.check_scene()
    assert bpy.context.window_manager.cairn.check == before
    assert stack.scene.cairn.is_baked
    assert not stack.world.enabled


# In a window


@pytest.fixture
def sunk_check(stack, monkeypatch):
    """A check for overlaps in a window, of which one box has some; one step a tick, and two minutes to compile."""
    stack.scene.objects["Box0"].location.z = 0.4
    monkeypatch.setattr(operators, "TICK_SLICE", 0.0)

    def compile_contacts(shape_kinds):
        yield 0, 0, ""
        for done in range(2):
            yield 120.0 * done, 240.0, "look_at_pairs"

    monkeypatch.setattr(runtime, "compile_contacts", compile_contacts)
    check = Harness(stack.scene, CAIRN_OT_check_scene, find_overlaps=True)
    check.begin(pytest.MonkeyPatch())
    return check


def test_a_check_for_overlaps_shows_what_it_compiles(stack, sunk_check):
    """Kernels are compiled step by step before the window waits for anything; then the overlap is listed."""
    sunk_check.tick_until(lambda answer: "Preparing the solver, first time only" in operators.running["text"])
    assert 0.0 <= operators.running["factor"] < 1.0
    assert "ESC stops" in sunk_check.status
    assert "frames" not in sunk_check.status
    assert sunk_check.run() == {"FINISHED"}
    sunk_check.assert_cleaned_up()
    check = json.loads(bpy.context.window_manager.cairn.check)
    assert any("0.1 deep in Floor" in text for _, text, _ in check["notes"])
    assert sunk_check.reports == []


def test_buttons_say_that_a_check_is_running(stack, sunk_check):
    """Not a bake."""
    assert "A check is running; ESC stops it" in refusal(bpy.ops.cairn.bake)
    sunk_check.run()


def test_a_search_without_overlaps_says_so(stack):
    """In the panel and in the status bar; a check that does not look for overlaps says nothing of them."""
    for i in range(3):
        stack.scene.objects[f"Box{i}"].location.z = 5.0 + 2.0 * i
    text = "no bodies overlap at the start by more than 0.5 % of their size"
    for find_overlaps in (False, True):
        check = Harness(stack.scene, CAIRN_OT_check_scene, find_overlaps=find_overlaps)
        assert check.operator.execute(check.context) == {"FINISHED"}
        notes = json.loads(bpy.context.window_manager.cairn.check)["notes"]
        assert (["info", text, []] in notes) == find_overlaps
        assert check.reports == ([({"INFO"}, "N" + text[1:])] if find_overlaps else [])


def test_escape_ends_a_check(stack, sunk_check):
    """Nothing is listed then."""
    sunk_check.tick_until(lambda answer: "Preparing the solver" in operators.running["text"])
    sunk_check.feed("ESC")
    assert sunk_check.run() == {"CANCELLED"}
    sunk_check.assert_cleaned_up()
    assert bpy.context.window_manager.cairn.check == ""


def test_what_has_nothing_to_compile_is_checked_at_once(stack, monkeypatch):
    """Without the search for overlaps, and where no bounding boxes overlap, no kernel is asked for."""
    monkeypatch.setattr(runtime, "compile_contacts", lambda shape_kinds: pytest.fail("something was compiled"))
    for i in range(3):
        stack.scene.objects[f"Box{i}"].location.z = 5.0 + 2.0 * i
    for find_overlaps in (False, True):
        assert bpy.ops.cairn.check_scene("INVOKE_DEFAULT", find_overlaps=find_overlaps) == {"FINISHED"}


@pytest.mark.parametrize(("total", "said"), [(240.0, "The solver is ready"), (0.0, "The solver was ready already")])
def test_prepare_now_compiles_all_that_a_scene_may_need(stack, monkeypatch, total, said):
    """For shapes of every kind, joints and threads; it needs no rigid body world."""
    asked = []

    def compile_kernels(options, shape_kinds, body_count, joints, waits, fields, guides, rolls):
        asked.append((options["method"], set(shape_kinds), body_count > 500, joints))
        yield 0.0, 0.0, ""
        yield 0.0, total, "frame"

    bpy.ops.rigidbody.world_remove()
    monkeypatch.setattr(runtime, "compile_kernels", compile_kernels)
    assert CAIRN_OT_prepare.poll(bpy.context)
    monkeypatch.setattr(operators, "TICK_SLICE", 0.0)
    preparing = Harness(stack.scene, CAIRN_OT_prepare)
    preparing.begin(pytest.MonkeyPatch())
    assert not CAIRN_OT_prepare.poll(bpy.context)
    assert preparing.run() == {"FINISHED"}
    preparing.assert_cleaned_up()
    assert preparing.reports == [({"INFO"}, said)]
    assert asked == [("auto", set(ShapeKind), True, True)]


def test_modal_bake_equals_the_one_in_the_background(stack, harness):
    assert harness.run() == {"FINISHED"}
    modal = json.loads(stack.scene.cairn.report)["totals"]["digest"]
    harness.assert_cleaned_up()
    bpy.ops.cairn.bake()
    assert json.loads(stack.scene.cairn.report)["totals"]["digest"] == modal
    assert harness.reports[0][0] == {"WARNING"}  # the cache ends before the scene does
    assert harness.reports[0][1].startswith("Good: all contacts within tolerance. Baked 25 frames")
    assert stack.scene.cairn.has_warnings


def test_a_bake_without_warnings_ends_in_a_tick(stack):
    stack.scene.frame_end = 25
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert not stack.scene.cairn.has_warnings


def test_progress_is_shown_while_it_runs(harness):
    assert operators.running["text"] == "Reading the scene"
    harness.tick_until(lambda answer: "Frame 12 of 25" in operators.running["text"])
    assert 0.0 < operators.running["factor"] < 1.0
    assert operators.running["text"].endswith(" left")
    assert "ESC" in harness.status


def test_frames_are_spoken_of_once_there_are_some(harness):
    """While the solver is prepared there is nothing that ESC could keep."""
    harness.tick_until(lambda answer: "Loading the solver" in operators.running["text"])
    assert harness.status.endswith("ESC stops")
    harness.tick_until(lambda answer: "Frame 2 of 25" in operators.running["text"])
    assert operators.running["hint"] == "ESC stops and keeps the frames so far"


def test_loading_is_shown_before_it_begins(stack, monkeypatch):
    """Loading Numba takes longer than a tick may, so the words must be there before."""
    shown = []
    harness = Harness(stack.scene)
    monkeypatch.setattr(runtime, "prepare", lambda: shown.append(harness.status))
    patch = pytest.MonkeyPatch()
    harness.begin(patch)
    harness.run()
    assert "Loading the solver" in shown[0]


@pytest.mark.parametrize("way", ["ESC", "Stop"])
def test_escape_keeps_the_frames_so_far(stack, harness, way):
    harness.tick_until(lambda answer: "Frame 12 of 25" in operators.running["text"])
    if way == "ESC":
        assert harness.feed("ESC") == {"RUNNING_MODAL"}
        assert operators.running["text"] == "Stopping"
    else:
        assert bpy.ops.cairn.stop() == {"FINISHED"}
        assert not bpy.ops.cairn.stop.poll()  # once is enough
    assert harness.run() == {"FINISHED"}  # frames are kept: an undo step must be pushed
    harness.assert_cleaned_up()
    assert (stack.scene.cairn.baked_end, stack.scene.cairn.requested_end) == (12, 25)
    assert harness.reports[-1][1].startswith("Stopped. Good: all contacts within tolerance. Baked 12 frames")


def test_escape_before_the_first_frame_changes_nothing(stack, harness):
    harness.feed("ESC")
    assert harness.run() == {"CANCELLED"}
    harness.assert_cleaned_up()
    assert not stack.scene.cairn.is_baked
    assert len(bpy.data.actions) == 0


def test_a_tick_works_as_long_as_the_window_draws(harness):
    """But hears ESC within a second, as long as there is something to stop."""
    operator = harness.operator
    operator._stages = {"export", "simulate"}
    assert [operator._slice_after(pause) for pause in (0.02, 0.3, 3.0)] == [operators.TICK_SLICE, 0.3, 0.4]
    operator._stages.add("write")
    assert [operator._slice_after(pause) for pause in (0.02, 0.3, 3.0)] == [operators.TICK_SLICE, 0.3, 3.0]


def test_only_view_events_pass(harness):
    for kind in ("MIDDLEMOUSE", "WHEELUPMOUSE", "MOUSEMOVE"):
        assert harness.feed(kind) == {"PASS_THROUGH"}, kind
    for kind in ("LEFTMOUSE", "RIGHTMOUSE", "X", "DEL", "Z", "SPACE", "TAB", "RET"):
        assert harness.feed(kind) == {"RUNNING_MODAL"}, kind


def test_what_looks_around_in_a_view_alone_passes_there_alone(harness):
    """Elsewhere it changes the number under the mouse: minus, and the wheel with Ctrl."""

    def region(kind, x, width):
        return SimpleNamespace(type=kind, x=x, y=0, width=width, height=50)

    regions = [region("WINDOW", 0, 300), region("UI", 200, 100)]
    harness.context.window.screen.areas = [SimpleNamespace(type="VIEW_3D", regions=regions)]
    view, sidebar, beside = (100, 20), (250, 20), (400, 20)
    for kind, ctrl in (("NUMPAD_1", False), ("NUMPAD_1", True), ("NUMPAD_MINUS", False), ("WHEELUPMOUSE", True)):
        assert harness.feed(kind, ctrl=ctrl, place=view) == {"PASS_THROUGH"}, kind
        for place in (sidebar, beside):
            assert harness.feed(kind, ctrl=ctrl, place=place) == {"RUNNING_MODAL"}, kind
    # to another frame, and another camera
    assert harness.feed("WHEELUPMOUSE", alt=True, place=view) == {"RUNNING_MODAL"}
    assert harness.feed("NUMPAD_0", ctrl=True, place=view) == {"RUNNING_MODAL"}


@pytest.mark.parametrize(("kind", "ctrl"), [("RIGHTMOUSE", False), ("LEFTMOUSE", False), ("Z", True), ("S", True)])
def test_what_does_nothing_now_says_why_and_stops_nothing(stack, harness, kind, ctrl, monkeypatch):
    """A right click, a click, Ctrl Z, Ctrl S in a file that has no name: a few words, for some seconds."""
    harness.tick_until(lambda answer: "Frame 12 of 25" in operators.running["text"])
    assert harness.feed("LEFT_CTRL") == {"RUNNING_MODAL"}
    assert operators.running["remark"] == ""
    assert harness.feed(kind, ctrl=ctrl) == {"RUNNING_MODAL"}
    assert operators.running["remark"] == "Only looking around works while a bake runs; ESC stops it"
    assert harness.status.endswith(operators.running["remark"])
    harness.operator._remark_until = 0.0
    harness.feed("TIMER", "NOTHING")
    assert operators.running["remark"] == ""
    assert harness.run() == {"FINISHED"}
    assert stack.scene.cairn.baked_end == 25


def test_a_file_is_saved_while_a_bake_runs(stack, harness, tmp_path):
    """Between two steps it is sound: what is saved is the scene before the bake."""
    harness.tick_until(lambda answer: "Frame 12 of 25" in operators.running["text"])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert harness.feed("S", ctrl=True) == {"PASS_THROUGH"}
    harness.run()


def test_clicks_reach_cairns_own_tab_and_not_its_edge(harness):
    """There nothing can be changed while a bake runs; a click on another tab would hide *Stop*."""

    def region(category):
        return SimpleNamespace(type="UI", x=100, y=0, width=200, height=50, active_panel_category=category)

    window = harness.context.window
    window.screen.areas = [SimpleNamespace(regions=[region("Cairn")])]
    places = {"on": (150, 20), "above": (150, 60), "beside": (50, 20), "edge": (299, 20)}
    scale = SimpleNamespace(preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(let_through, "bpy", SimpleNamespace(context=scale, data=bpy.data))
        passed = {name for name, place in places.items() if let_through.is_on_panel(window, *place)}
        assert passed == {"on"}
        assert harness.feed("LEFTMOUSE", place=places["on"]) == {"PASS_THROUGH"}
        window.screen.areas = [SimpleNamespace(regions=[region("Item")])]
        assert not let_through.is_on_panel(window, *places["on"])


def test_cancel_by_blender_cleans_up(stack, harness):
    """Another file is loaded, or Blender quits."""
    harness.tick_until(lambda answer: "Frame 12 of 25" in operators.running["text"])
    harness.operator.cancel(harness.context)
    harness.assert_cleaned_up()
    harness.operator.cancel(harness.context)  # once more does no harm
    assert not stack.scene.cairn.is_baked
    assert len(bpy.data.actions) == 0


def test_a_deleted_scene_ends_the_bake_with_a_line(stack, harness):
    harness.tick_until(lambda answer: "Frame 5 of 25" in operators.running["text"])
    other = bpy.data.scenes.new("Other")
    if bpy.context.window is not None:
        bpy.context.window.scene = other
    bpy.data.scenes.remove(stack.scene)
    assert harness.run() == {"CANCELLED"}
    harness.assert_cleaned_up()
    assert "is gone" in harness.reports[-1][1]


def test_failure_keeps_its_frames_and_stays_in_the_panel(stack, harness, monkeypatch):
    steps = Simulation.frame_steps

    def failing(self, frame_input=None):
        if self.frame == 7:
            raise SimulationError("Box1: its motion is no longer finite")
        return steps(self, frame_input)

    monkeypatch.setattr(Simulation, "frame_steps", failing)
    assert harness.run() == {"FINISHED"}
    harness.assert_cleaned_up()
    assert harness.reports[-1][0] == {"ERROR"}
    assert "no longer finite" in bpy.context.window_manager.cairn.error
    assert stack.scene.cairn.baked_end == 8


def test_an_unforeseen_error_is_said_and_cleans_up(stack, harness, monkeypatch, capsys):
    monkeypatch.setattr(Simulation, "frame_steps", lambda self, frame_input=None: 1 / 0)
    assert harness.run() == {"CANCELLED"}
    harness.assert_cleaned_up()
    assert "nothing was changed" in harness.reports[-1][1]
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert not stack.scene.cairn.is_baked


# Undo


def test_bake_is_one_undo_step(stack):
    """Ctrl Z takes the keys away and brings Blender's simulation back; redo shows keys and panel again."""
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.cairn.bake()
    bpy.ops.ed.undo_push(message="Bake")  # the window manager does this for operators with UNDO
    for _ in range(5):
        bpy.ops.ed.undo()
        scene = bpy.context.scene
        assert not scene.cairn.is_baked
        assert scene.rigidbody_world.enabled
        assert scene.objects["Box1"].animation_data is None
        bpy.ops.ed.redo()
        scene = bpy.context.scene
        assert (scene.cairn.is_baked, scene.rigidbody_world.enabled) == (True, False)
        assert scene.objects["Box1"].animation_data.action.name == "Box1 Cairn"


@pytest.mark.parametrize("again", ["bake", "delete_bake"])
@pytest.mark.parametrize("looked", [False, True])
def test_undo_leaves_a_moved_body_where_it_was_put(stack, again, looked):
    """One Ctrl Z after Bake Again or Delete Bake; looked: the window has taken the move over before."""
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.cairn.bake()
    bpy.ops.ed.undo_push(message="Bake")
    stack.scene.objects["Box2"].location.x += 3.0
    bpy.ops.ed.undo_push(message="Move")
    if looked:
        since_bake.catch_up(stack.scene)
    getattr(bpy.ops.cairn, again)()
    bpy.ops.ed.undo_push(message=again)
    bpy.ops.ed.undo()
    scene = bpy.context.scene
    assert scene.cairn.is_baked
    assert scene.objects["Box2"].location.x == 3.0
    scene.frame_set(2)
    assert scene.objects["Box2"].location.x == pytest.approx(0.0, abs=1e-3)
    scene.frame_set(1)
    assert scene.objects["Box2"].location.x == 3.0


def test_bake_has_undo_without_register():
    assert CAIRN_OT_bake.bl_options == {"UNDO"}
