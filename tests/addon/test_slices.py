"""What a bake does to thousands of objects is done some at a time, and is whole or not at all however it ends.

The steps are counted in objects, not in seconds: a stage that goes through all of them in one step fails here.
"""

import contextlib
import json
from collections import deque

import bpy
import numpy as np
import pytest
from joint_scenes import joint
from scene_state import visible_state
from window_harness import Harness

import cairn
from cairn.addon.bake import BakeStopped, bake_frames, bake_scene
from cairn.addon.checkpoints.running import CheckpointPlan
from cairn.addon.read import forces, guides, locked_axes, scene_digest, scene_export, scene_notes
from cairn.addon.read.faults import SceneError
from cairn.addon.read.scene_export import export_scene, export_steps
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


def read_in_steps(scene, a_step, monkeypatch):
    """What is read in steps of some objects, and what could be seen of the scene between them."""
    monkeypatch.setattr(scene_export, "A_STEP", a_step)
    steps, seen = export_steps(scene, frame_start=1, frame_end=4, for_bake=True), []
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value, seen
        shown = [np.array(ob.matrix_world) for ob in scene.objects]
        seen.append((visible_state(scene), np.array(shown), [one.name for one in bpy.data.scenes]))


@pytest.mark.parametrize("is_baked", [False, True])
def test_no_step_of_reading_asks_all_bodies_for_what_few_have(row, monkeypatch, is_baked):
    """Constant forces, guides and locked axes: their keys are looked for, which takes as long as most of reading."""
    if is_baked:
        bake_scene(row.scene, FAST)
    asked: dict = {}

    def counted(module, name):
        work = getattr(module, name)

        def count(*arguments):
            asked.setdefault(name, [0])[-1] += 1
            return work(*arguments)

        monkeypatch.setattr(module, name, count)
        monkeypatch.setattr(module, "A_STEP", A_STEP)

    monkeypatch.setattr(scene_export, "A_STEP", A_STEP)
    for module, name in ((forces, "has_force"), (guides, "has_guide"), (locked_axes, "held_axes")):
        counted(module, name)
    for _ in export_steps(row.scene, frame_start=1, frame_end=4, for_bake=True):
        for of_steps in asked.values():
            of_steps.append(0)
    assert len(asked) == 3
    for name, of_steps in asked.items():
        assert sum(of_steps) >= COUNT, name
        assert max(of_steps) <= A_STEP, (name, of_steps)


def test_a_scene_that_is_read_in_steps_gives_the_same_and_stays_as_it_was(row, monkeypatch):
    """Keyed bodies, a child and a joint, at a late frame."""
    scene = row.scene
    joint(row, "Hinge", scene.objects["Box3"], scene.objects["Box4"], kind="HINGE")
    scene.frame_set(scene.frame_current)
    whole = export_scene(scene, frame_start=1, frame_end=4, decompose=False, for_bake=True)
    before = visible_state(scene)
    poses = np.array([np.array(ob.matrix_world) for ob in scene.objects])
    export, seen = read_in_steps(scene, A_STEP, monkeypatch)
    assert len(seen) > 2 * COUNT / A_STEP
    assert export.fingerprint == whole.fingerprint
    assert [str(note) for note in export.notes] == [str(note) for note in whole.notes]
    assert export.model.names == whole.model.names
    assert all(state == before for state, _, _ in seen)
    assert all(np.array_equal(shown, poses) for _, shown, _ in seen)
    # what is evaluated aside is there while bodies are read, and gone afterwards
    assert sum(len(names) == 2 for _, _, names in seen) > 2 * COUNT / A_STEP
    assert len(bpy.data.scenes) == 1
    assert visible_state(scene) == before


@pytest.fixture
def led(row):
    """The same with bodies of all kinds of animation, some of which a bake shows elsewhere at its start."""
    scene, boxes = row.scene, row.scene.objects
    joint(row, "Hinge", boxes["Box3"], boxes["Box4"], kind="HINGE")
    row.key(boxes["Box4"], "location", {1: (12, 0, 0.5), 3: (12, 0, 1.5)})
    row.key(boxes["Box4"], "rigid_body.kinematic", {1: True, 3: False})
    leader = row.object("Leader", location=(0, 3, 4))
    row.key(leader, "location", {1: (0, 3, 4), 9: (0, 9, 4)})
    boxes["Box5"].parent = leader
    turned = boxes["Box6"]
    turned.rotation_mode = "QUATERNION"
    turned.rotation_quaternion = (0.9, 0.1, -0.3, 0.2)
    turned.constraints.new("LIMIT_LOCATION").use_max_z = True
    boxes["Box0"].driver_add("location", 2).driver.expression = "3 + 4"
    boxes["Box1"].rotation_euler = (0.3, -2.9, 1.7)
    row.key(boxes["Box3"], "rigid_body.mass", {1: 2.0, 9: 3.0})
    scene.frame_set(3)
    return row


def exported(export):
    """What there is to compare of two exports."""
    model = export.model
    arrays = [*model.initial_state, model.arrays.mass, model.arrays.friction, model.frame_position]
    return (
        export.fingerprint,
        [str(note) for note in export.notes],
        [array.tobytes() for array in arrays],
        [str(body) for body in export.bodies],
        [str(one) for one in export.joints],
    )


@pytest.mark.parametrize("a_step", [A_STEP, 100], ids=["in steps", "in one"])
def test_a_scene_that_has_a_bake_is_read_as_one_without(led, monkeypatch, a_step):
    """To the bit, and nothing of the bake is set aside between two steps."""
    scene = led.scene
    whole = exported(export_scene(scene, frame_start=1, frame_end=4, decompose=False, for_bake=True))
    bake_scene(scene, FAST)
    before = visible_state(scene)
    poses = np.array([np.array(ob.matrix_world) for ob in scene.objects])
    export, seen = read_in_steps(scene, a_step, monkeypatch)
    assert (len(seen) > 3 * COUNT / A_STEP) == (a_step == A_STEP)
    assert exported(export) == whole
    assert all(state == before for state, _, _ in seen)
    assert all(np.array_equal(shown, poses) for _, shown, _ in seen)
    assert len(bpy.data.scenes) == 1
    assert visible_state(scene) == before
    attach.refresh(scene)
    assert np.array_equal(np.array([np.array(ob.matrix_world) for ob in scene.objects]), poses)


def test_only_what_a_bake_shows_elsewhere_is_set_aside_to_read_it(led, monkeypatch):
    """Not thousands of bodies that just lie where they were put, for one that was thrown."""
    scene, given = led.scene, []
    bake_scene(scene, FAST)
    give_back = earlier_animation.give_back
    monkeypatch.setattr(earlier_animation, "give_back", lambda obj: (given.append(obj.name), give_back(obj)))
    read_in_steps(scene, A_STEP, monkeypatch)
    # driven, keyed, let go and constrained
    assert sorted(given) == ["Box0", "Box2", "Box4", "Box6"]


@pytest.mark.parametrize("frames", [(2, 4), (1, 3)])
def test_a_bake_is_read_as_none_at_other_start_frames(led, monkeypatch, frames):
    """Where all of it is set aside, as it shows something else there."""
    scene = led.scene
    arguments = {"frame_start": frames[0], "frame_end": frames[1], "for_bake": True}
    whole = exported(export_scene(scene, decompose=False, **arguments))
    bake_scene(scene, FAST)
    monkeypatch.setattr(scene_export, "A_STEP", A_STEP)
    assert exported(result_of(export_steps(scene, **arguments))) == whole


def result_of(steps):
    """What a generator returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def test_reading_that_is_given_up_leaves_no_copy(row, monkeypatch):
    monkeypatch.setattr(scene_export, "A_STEP", A_STEP)
    before = visible_state(row.scene)
    steps = export_steps(row.scene, frame_start=1, frame_end=4, for_bake=True)
    while len(bpy.data.scenes) == 1:
        next(steps)
    steps.close()
    assert len(bpy.data.scenes) == 1
    assert visible_state(row.scene) == before


@pytest.mark.parametrize("at", [1, 3, 8, 12])
def test_an_object_that_a_script_removes_while_it_is_read_is_said(row, monkeypatch, at):
    monkeypatch.setattr(scene_export, "A_STEP", A_STEP)
    steps = export_steps(row.scene, frame_start=1, frame_end=4, for_bake=True)
    for _ in range(at):
        next(steps)
    bpy.data.objects.remove(row.scene.objects["Box6"])
    with pytest.raises(SceneError, match="while the scene was read; bake again"):
        deque(steps, maxlen=0)
    assert len(bpy.data.scenes) == 1


@pytest.mark.parametrize("how", ["hidden", "few", "split"])
def test_what_cannot_be_read_in_steps_is_read_in_one(row, monkeypatch, how):
    """A hidden body, a scene of few, and bodies added since a bake that has taken the world's collection out."""
    scene = row.scene
    if how == "hidden":
        scene.objects["Box3"].hide_set(True)
    if how == "split":
        bake_scene(scene, FAST)
        assert scene.rigidbody_world.collection is None
        scene.rigidbody_world.collection = bpy.data.collections.new("More")
    export, seen = read_in_steps(scene, 100 if how == "few" else A_STEP, monkeypatch)
    assert all(len(names) == 1 for _, _, names in seen)
    assert (len(seen) > 0) == (how != "few")  # in which bodies are looked for that are let go
    assert len(export.bodies) == COUNT + 1


def test_a_bake_in_a_window_reads_in_steps(row, monkeypatch):
    """And bakes the same as one that does not."""
    monkeypatch.setattr(scene_export, "A_STEP", A_STEP)
    steps = bake_frames(row.scene, FAST, beside=True)
    stages = [progress.stage for progress in steps]
    assert stages.count("export") > 2 * COUNT / A_STEP
    report = json.loads(row.scene.cairn.report)
    attach.delete_bake(row.scene)
    bake_scene(row.scene, FAST)
    assert json.loads(row.scene.cairn.report)["totals"]["digest"] == report["totals"]["digest"]
