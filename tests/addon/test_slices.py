"""What a bake does to thousands of objects is done some at a time, and is whole or not at all however it ends.

The steps are counted in objects, not in seconds: a stage that goes through all of them in one step fails here.
"""

import contextlib
import json
from collections import deque

import bpy
import pytest
from scene_state import visible_state
from window_harness import Harness

import cairn
from cairn.addon.bake import BakeStopped, bake_frames, bake_scene
from cairn.addon.checkpoints.running import CheckpointPlan
from cairn.addon.read import scene_digest, scene_notes
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.ui import delete_bake, operators
from cairn.addon.write import attach, earlier_animation, keyframes, since_bake

# Bodies that move, and how many of them a step may take.
COUNT, A_STEP = 7, 2
FAST = BakeSettings(start=1, end=4)
# What is done to each object, by the module that has it.
WORK = (
    (scene_digest, "body_numbers"),
    (since_bake, "_take_over_start"),
    (earlier_animation, "keep_edits"),
    (earlier_animation, "take_off"),
    (keyframes, "_build_action"),
    (attach, "_put_on"),
)


@pytest.fixture
def row(maker, monkeypatch):
    """Boxes beside each other, keyed ones among them, and a child; shown at a late frame."""
    cairn.register()
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(40, 10, 1))
    boxes = [maker.body(f"Box{i}", shape="BOX", location=(3 * i, 0, 0.5)) for i in range(COUNT)]
    boxes[1].parent = boxes[0]
    maker.key(boxes[2], "location", {1: (6, 0, 2), 2: (6, 0, 1.5)})
    maker.key(boxes[3], "scale", {1: (1, 1, 1), 9: (1, 1, 1)})
    maker.scene.frame_set(3)
    for module, name in ((keyframes, "CHUNK"), (attach, "ATTACHED"), (attach, "REMOVED"), (scene_digest, "A_STEP")):
        monkeypatch.setattr(module, name, A_STEP)
    monkeypatch.setattr(since_bake, "A_STEP", A_STEP)
    return maker


def state(scene):
    """All that a bake changes of a scene and its objects."""
    books = {obj.name: [getattr(obj.cairn, name) for name in earlier_animation.BOOKKEEPING] for obj in scene.objects}
    facts = [scene.cairn.baked_start, scene.cairn.baked_end, scene.cairn.world_collection]
    return visible_state(scene), books, facts, scene.rigidbody_world.collection


def names_of_actions():
    return sorted(action.name for action in bpy.data.actions)


def work_by_step(scene, monkeypatch):
    """How often a bake does something to an object in each of its steps, {what: [number of a step]}.

    What sets an earlier bake aside to evaluate frames without it counts for nothing: that is one step.
    """
    counts = {name: [0] for _, name in WORK}
    aside = []
    set_aside = earlier_animation.earlier_animation

    @contextlib.contextmanager
    def noted(scene):
        aside.append(scene.name)
        with set_aside(scene):
            yield
        aside.pop()

    def counted(module, name):
        work = getattr(module, name)

        def count(*arguments):
            counts[name][-1] += not aside
            return work(*arguments)

        monkeypatch.setattr(module, name, count)

    monkeypatch.setattr(earlier_animation, "earlier_animation", noted)
    for module, name in WORK:
        counted(module, name)
    for _ in bake_frames(scene, FAST):
        for of_steps in counts.values():
            of_steps.append(0)
    return counts


def test_no_step_of_a_bake_works_on_all_objects(row, monkeypatch):
    """Of one that replaces another, which does all that there is."""
    bake_scene(row.scene, FAST)
    for name, of_steps in work_by_step(row.scene, monkeypatch).items():
        assert sum(of_steps) >= COUNT, name
        assert max(of_steps) <= A_STEP, (name, of_steps)


def test_actions_of_the_bake_before_are_removed_in_steps(row):
    bake_scene(row.scene, FAST)
    names = names_of_actions()
    before, removed = None, []
    for progress in bake_frames(row.scene, FAST):
        if progress.text.startswith("Removing"):
            removed.append(0 if before is None else before - len(bpy.data.actions))
            before = len(bpy.data.actions)
    removed.append(before - len(bpy.data.actions))
    assert sum(removed) == COUNT
    assert max(removed) <= A_STEP
    assert names_of_actions() == names


def steps_of_writing(scene):
    """How many steps a bake has in which it writes."""
    return sum(progress.text.startswith("Writing") for progress in bake_frames(scene, FAST))


def written_up_to(scene, count):
    """A bake that has reported ``count`` steps of writing."""
    steps = bake_frames(scene, FAST)
    for progress in steps:
        count -= progress.text.startswith("Writing")
        if count == 0:
            return steps
    raise AssertionError("it has fewer steps")


@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_esc_while_keys_are_attached_leaves_the_bake_whole(row, again):
    """At each step of writing: the frames are there, and all objects get them."""
    if again:
        bake_scene(row.scene, FAST)
    bodies = [obj for obj in row.scene.objects if obj.name.startswith("Box")]
    count = steps_of_writing(row.scene)
    assert count > 2 * COUNT / A_STEP
    for step in range(1, count + 1):
        if not again:
            attach.delete_bake(row.scene)
        steps = written_up_to(row.scene, step)
        with contextlib.suppress(StopIteration):  # the last step has none after it
            steps.throw(BakeStopped())
        deque(steps, maxlen=0)
        assert row.scene.cairn.baked_end == 4
        assert row.scene.cairn.summary.startswith("Good")
        assert all(earlier_animation.plays_bake(obj) for obj in bodies), step
    attach.delete_bake(row.scene)
    assert names_of_actions() == sorted(
        {obj.animation_data.action.name for obj in bodies if obj.animation_data is not None}
    )


@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_what_ends_a_bake_while_keys_are_attached_leaves_the_scene_as_before(row, again):
    """Another file, the add-on switched off (the generator is closed), at each step of writing."""
    count = steps_of_writing(row.scene)
    if not again:
        attach.delete_bake(row.scene)
    before, actions = state(row.scene), names_of_actions()
    for step in range(1, count + 1):
        written_up_to(row.scene, step).close()
        assert state(row.scene) == before, step
        assert names_of_actions() == actions, step


@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_a_failure_between_two_objects_leaves_the_scene_as_before(row, again, monkeypatch):
    if again:
        bake_scene(row.scene, FAST)
    before, actions = state(row.scene), names_of_actions()
    put_on = attach._put_on

    def fail_late(obj, action):
        if obj.name == "Box5":
            raise RuntimeError("half-way")
        put_on(obj, action)

    monkeypatch.setattr(attach, "_put_on", fail_late)
    with pytest.raises(RuntimeError, match="half-way"):
        bake_scene(row.scene, FAST)
    assert state(row.scene) == before
    assert names_of_actions() == actions


@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_a_file_saved_while_keys_are_attached_gives_all_back(row, again, tmp_path):
    """An autosave between two steps: Delete Bake leaves in it what was there before any bake."""
    without = visible_state(row.scene)
    if again:
        bake_scene(row.scene, FAST)
    step = steps_of_writing(row.scene)
    if not again:
        attach.delete_bake(row.scene)
    steps = written_up_to(row.scene, step)  # all but the last objects have their keys
    assert 0 < sum(obj.cairn.is_baked for obj in row.scene.objects) < COUNT or again
    row.save(tmp_path / "autosave.blend")
    steps.close()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "autosave.blend"))
    scene = bpy.context.scene
    assert scene.cairn.is_baked
    attach.delete_bake(scene)
    found = visible_state(scene)
    assert not any(obj.cairn.is_baked for obj in scene.objects)
    for same in ("frame", "enabled", "baked", "locations"):
        assert found[same] == without[same], same
    assert {name for name, action in found["assigned"].items() if action is not None} == {"Box2", "Box3"}


def test_a_bake_is_deleted_in_steps(row, monkeypatch):
    before = visible_state(row.scene)
    bake_scene(row.scene, FAST)
    taken, take_off = [], earlier_animation.take_off

    def count(obj):
        taken[-1] += 1
        return take_off(obj)

    monkeypatch.setattr(earlier_animation, "take_off", count)
    taken.append(0)
    for _ in attach.delete_steps(row.scene.name):
        taken.append(0)
        assert row.scene.cairn.is_baked
    assert sum(taken) == COUNT
    assert max(taken) <= A_STEP
    assert visible_state(row.scene) == before


def test_what_ends_a_deletion_early_does_the_rest(row):
    """Half a bake is none."""
    before = visible_state(row.scene)
    bake_scene(row.scene, FAST)
    steps = attach.delete_steps(row.scene.name)
    next(progress for progress in steps if progress[0] == 2 * A_STEP)
    assert 0 < sum(obj.cairn.is_baked for obj in row.scene.objects) < COUNT
    steps.close()
    assert visible_state(row.scene) == before


def test_the_operator_deletes_in_ticks_and_esc_changes_nothing(row, monkeypatch):
    before = visible_state(row.scene)
    bake_scene(row.scene, FAST)
    monkeypatch.setattr(operators, "TICK_SLICE", 0.0)
    pressed = Harness(row.scene, delete_bake.CAIRN_OT_delete_bake)
    pressed.begin(pytest.MonkeyPatch())
    pressed.feed("TIMER", "NOTHING")
    assert operators.running["hint"] == delete_bake._HINT
    assert not operators.CAIRN_OT_stop.poll(bpy.context)
    pressed.feed("RIGHTMOUSE")
    assert operators.running["remark"] == "Only looking around works while a deletion runs"
    pressed.feed("ESC")
    assert pressed.run() == {"FINISHED"}
    pressed.assert_cleaned_up()
    assert pressed.reports == [({"INFO"}, f"Restored {COUNT} objects")]
    assert visible_state(row.scene) == before


def test_a_bake_knows_its_digest(row, tmp_path):
    """What it has read of the scene at its start is what the window reads of it when it is there."""
    bake_scene(row.scene, FAST, checkpoints=CheckpointPlan(folder=tmp_path / "checkpoint"))
    stored = scene_digest.unpacked(row.scene.cairn.ingredients)
    stored.pop("keyed")
    assert stored == json.loads(json.dumps(scene_digest.scene_digest(row.scene)))


def test_overlaps_are_found_alike_with_and_without_looking_at_boxes_first(row):
    row.scene.objects["Box5"].location.x = 3 * 4 + 0.9
    export = export_scene(row.scene)
    quick = scene_notes.starting_overlaps(export.model, export.surfaces)
    assert quick
    assert scene_notes.starting_overlaps(export.model, export.surfaces, is_compiled=True) == quick
