"""Takes: a bake that is kept comes back to the bit, and neither takes nor the user's own animation are ever lost.

Trajectories are made up here (tumbling.py), so nothing is simulated.
"""

import random

import bpy
import numpy as np
import pytest
from tumbling import Tumble, add_body, add_empty, assert_motion, curves, key, launched_body, new_scene, state

from cairn.addon.read.faults import SceneError
from cairn.addon.takes import book, steps
from cairn.addon.ui import watch
from cairn.addon.write import attach, contact_points, earlier_animation, fcurves, report_curves


@pytest.fixture
def scene():
    return new_scene()


def keep(scene, name=""):
    return steps.finished(steps.keep_steps(scene.name, name))


def use(scene, take):
    return steps.finished(steps.use_steps(scene.name, take.uid))


def bake(scene, speed=0.3, frames=20):
    """A made-up bake of a scene at its first frame."""
    scene.frame_set(1)
    tumble = Tumble(scene, frames, speed=speed)
    tumble.write(scene)
    return tumble


def states(scene):
    scene.frame_set(1)
    return {obj.name: state(obj) for obj in scene.objects}


def digests(scene):
    """All that moves the scene's objects, to the bit."""
    return {obj.name: {k: fcurves.digest(c) for k, c in curves(obj).items()} for obj in scene.objects}


@pytest.fixture
def animated(scene):
    """Bodies with keys, a parent, a constraint, a driver and a strip of their own."""
    launched_body(scene)
    parent = add_body(scene, "Parent", mode="QUATERNION")
    child = add_body(scene, "Child", location=(1, 0, 0), mode="AXIS_ANGLE")
    child.parent = parent
    free = add_body(scene, "Free", scale=(1, 2, 0.5))
    free.constraints.new("LIMIT_LOCATION")
    free.driver_add("rotation_euler", 0).driver.expression = "0.1"
    key(free, "hide_render", {5: True})
    carrier = add_empty(scene, "Carrier")
    key(carrier, "location", {1: (0, 0, 0), 20: (0, 0, 3)})
    carried = add_body(scene, "Carried")
    carried.parent = carrier
    return scene


def test_takes_come_back_to_the_bit_and_delete_bake_gives_back_what_was_there(animated):
    before = states(animated)
    motions = []
    for speed in (0.3, 0.1):
        tumble = bake(animated, speed)
        motions.append((tumble, digests(animated)))
        keep(animated)
    for place in (0, 1, 0):
        used = use(animated, animated.cairn.takes[place])
        assert (used.kept, used.missing, used.still) == ("", [], [])
        assert digests(animated) == motions[place][1]
        assert_motion(motions[place][0], animated)
        assert animated.cairn.take == animated.cairn.takes[place].uid
    attach.delete_bake(animated)
    assert states(animated) == before
    assert len(animated.cairn.takes) == 2
    assert animated.cairn.take == ""
    use(animated, animated.cairn.takes[1])
    assert digests(animated) == motions[1][1]
    attach.delete_bake(animated)
    assert states(animated) == before


def test_a_take_is_one_action_with_a_slot_for_each_body_and_nothing_of_the_users(animated):
    bake(animated)
    keep(animated, "First")
    (take,) = animated.cairn.takes
    assert take.action.name == "First"
    assert take.action[book.MARK] == "First"
    assert {slot.name_display for slot in take.action.slots} == {body.name for body in take.bodies}
    paths = {curve.data_path for slot in take.action.slots for curve in fcurves.channelbag(take.action, slot).fcurves}
    assert paths == {"location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle"}


def test_facts_of_the_bake_come_back_with_it(scene):
    add_body(scene)
    facts = scene.cairn
    bake(scene)
    facts.summary, facts.report, facts.ingredients, facts.has_warnings = "One", '{"totals": {}}', "x", True
    facts.worst_object, facts.worst_frame, facts.bake_id = "Body", 7, "abc"
    kept = book.facts_of(scene)
    keep(scene)
    bake(scene, 0.1, frames=10)
    facts.summary = "Two"
    keep(scene)
    use(scene, facts.takes[0])
    assert book.facts_of(scene) == kept
    assert facts.baked_end == 21
    use(scene, facts.takes[1])
    assert (facts.summary, facts.baked_end) == ("Two", 11)


def test_a_take_says_how_it_was_baked(scene):
    add_body(scene)
    bake(scene)
    options = '{"options": {"method": "%s", "quality": "preview"}, "totals": {"seconds": 12.5}}'
    scene.cairn.report = options % "auto"
    keep(scene)
    scene.cairn.report = options % "nncg"
    keep(scene)
    assert [(take.quality, take.seconds) for take in scene.cairn.takes] == [("preview", 12.5), ("nncg", 12.5)]
    assert all(take.date[:2] == "20" for take in scene.cairn.takes)


def test_a_bake_that_is_no_take_becomes_one_before_another_takes_its_place(scene):
    add_body(scene)
    bake(scene)
    keep(scene)
    second = bake(scene, 0.1)
    assert scene.cairn.take == ""
    assert use(scene, scene.cairn.takes[0]).kept == "Take 2"
    use(scene, scene.cairn.takes[1])
    assert_motion(second, scene)


@pytest.mark.parametrize("path", ["location", "rotation_euler"])
def test_keys_that_the_user_has_edited_since_become_a_take(scene, path):
    obj = add_body(scene)
    bake(scene)
    keep(scene)
    bake(scene, 0.1)
    keep(scene)
    curves(obj)[path, 0].keyframe_points[5].co.y += 1.0
    edited = digests(scene)
    assert use(scene, scene.cairn.takes[0]).kept == "Take 3"
    use(scene, scene.cairn.takes[2])
    assert digests(scene) == edited


def test_the_users_other_channels_stay_his_in_every_take(scene):
    """An edit in one take is there in the others, and after Delete Bake."""
    obj = launched_body(scene)
    bake(scene)
    keep(scene)
    bake(scene, 0.1)
    keep(scene)
    curves(obj)['["glow"]', 0].keyframe_points[0].co.y = 5.0
    use(scene, scene.cairn.takes[0])
    assert curves(obj)['["glow"]', 0].keyframe_points[0].co.y == 5.0
    attach.delete_bake(scene)
    assert curves(obj)['["glow"]', 0].keyframe_points[0].co.y == 5.0


def test_takes_survive_saving(animated, tmp_path):
    before = states(animated)
    motions = []
    for speed in (0.3, 0.1):
        bake(animated, speed)
        motions.append(digests(animated))
        keep(animated)
    attach.delete_bake(animated)
    for _ in range(2):  # what nothing uses goes with the first saving
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "takes.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "takes.blend"))
    scene = bpy.context.scene
    for place in (1, 0):
        assert use(scene, scene.cairn.takes[place]).missing == []
        assert digests(scene) == motions[place]
    attach.delete_bake(scene)
    assert states(scene) == before


@pytest.mark.parametrize("saved", [False, True])
def test_a_body_with_a_new_name_has_its_keys(scene, tmp_path, saved):
    obj = add_body(scene, "Body")
    add_body(scene, "Other", location=(3, 0, 0))
    bake(scene)
    keep(scene)
    motion = digests(scene)["Body"]
    attach.delete_bake(scene)
    obj.name = "Renamed"
    scene.objects["Other"].name = "Body"  # which is not what was kept under that name
    if saved:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "renamed.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "renamed.blend"))
        scene = bpy.context.scene
    assert use(scene, scene.cairn.takes[0]).missing == []
    assert digests(scene)["Renamed"] == motion
    assert digests(scene)["Body"] != motion


def test_a_look_at_the_scene_notes_new_names(scene):
    """An autosave has them, of which nobody is told."""
    obj = add_body(scene, "Body")
    bake(scene)
    keep(scene)
    attach.delete_bake(scene)
    obj.name = "Renamed"
    watch.look_at(scene, bpy.context.window_manager.cairn)
    assert [body.name for body in scene.cairn.takes[0].bodies] == ["Renamed"]


def test_a_copy_of_a_body_is_left_alone(scene):
    obj = add_body(scene)
    tumble = bake(scene)
    keep(scene)
    copy = obj.copy()
    scene.collection.objects.link(copy)
    copy.location = (7, 8, 9)
    used = use(scene, scene.cairn.takes[0])
    assert_motion(tumble, scene)
    assert tuple(copy.location) == (7, 8, 9)
    assert not copy.cairn.is_baked
    assert used.still == [copy.name]


def test_missing_and_new_bodies_are_told_by_name(scene):
    for name in ("One", "Two", "Three"):
        add_body(scene, name, location=(len(name), 0, 0))
    bake(scene)
    keep(scene)
    bpy.data.objects.remove(scene.objects["Two"])
    add_body(scene, "Four")
    used = use(scene, scene.cairn.takes[0])
    assert (used.missing, used.still) == (["Two"], ["Four"])
    assert {obj.name for obj in earlier_animation.baked_objects(scene)} == {"One", "Three"}
    bpy.data.objects.remove(scene.objects["One"])
    bpy.data.objects.remove(scene.objects["Three"])
    with pytest.raises(SceneError, match="none of the bodies of Take 1: One, Two, Three"):
        use(scene, scene.cairn.takes[0])


def test_bodies_of_another_bake_are_given_back_where_a_take_has_not_moved_them(scene):
    add_body(scene, "One")
    bake(scene)
    keep(scene)
    other = add_body(scene, "Two", location=(5, 0, 0))
    before = state(other)
    bake(scene, 0.1)
    use(scene, scene.cairn.takes[0])
    assert not other.cairn.is_baked
    scene.frame_set(15)
    assert state(other) == before


def test_an_action_that_the_user_has_put_in_place_of_the_bake_stays(scene):
    obj, action = add_body(scene), bpy.data.actions.new("Mine")
    other = add_body(scene, "Other", location=(4, 0, 0))
    bake(scene)
    keep(scene)
    bake(scene, 0.1)
    obj.animation_data.action = action
    keep(scene)
    assert [body.name for body in scene.cairn.takes[1].bodies] == ["Other"]
    use(scene, scene.cairn.takes[0])
    assert obj.cairn.earlier_action == action
    attach.delete_bake(scene)
    assert obj.animation_data.action == action
    assert other.animation_data is None


def test_what_stands_in_the_way_is_told_and_nothing_is_changed(scene):
    obj = add_body(scene)
    bake(scene)
    keep(scene)
    bake(scene, 0.1)
    keep(scene)
    before = digests(scene), book.facts_of(scene), scene.cairn.take
    obj.rotation_mode = "QUATERNION"
    with pytest.raises(
        SceneError, match="Body: its rotation mode is QUATERNION, and that of its keys XYZ: set it back"
    ):
        use(scene, scene.cairn.takes[0])
    obj.rotation_mode = "XYZ"
    bpy.data.actions.remove(scene.cairn.takes[0].action)
    with pytest.raises(SceneError, match="the action of Take 1 was deleted"):
        use(scene, scene.cairn.takes[0])
    assert (digests(scene), book.facts_of(scene), scene.cairn.take) == before


@pytest.mark.parametrize("stop", range(6))
def test_leaving_in_the_middle_puts_everything_back(scene, stop, monkeypatch):
    monkeypatch.setattr(steps, "COPIED", 1)
    monkeypatch.setattr(attach, "ATTACHED", 1)
    for name in ("One", "Two", "Three"):
        add_body(scene, name, location=(len(name), 0, 0))
    bake(scene)
    keep(scene)
    bake(scene, 0.1)
    keep(scene)
    before = digests(scene), book.facts_of(scene), scene.cairn.take, sorted(action.name for action in bpy.data.actions)
    going = steps.use_steps(scene.name, scene.cairn.takes[0].uid)
    for _ in range(stop):
        next(going)
    going.close()
    after = digests(scene), book.facts_of(scene), scene.cairn.take, sorted(action.name for action in bpy.data.actions)
    assert after == before


def test_leaving_while_a_bake_is_kept_leaves_no_take(scene, monkeypatch):
    monkeypatch.setattr(steps, "COPIED", 1)
    add_body(scene, "One")
    add_body(scene, "Two", location=(3, 0, 0))
    bake(scene)
    actions = len(bpy.data.actions)
    going = steps.keep_steps(scene.name)
    while next(going) != (1, 2):
        pass
    going.close()
    assert len(bpy.data.actions) == actions
    assert len(scene.cairn.takes) == 0


def test_a_take_keeps_what_was_baked_although_bodies_are_moved_since(scene):
    """A move at the start changes the first key of the bake that plays, and of no take."""
    obj = add_body(scene)
    tumble = bake(scene)
    keep(scene)
    scene.frame_set(1)
    obj.location = (5, 5, 5)
    used = use(scene, scene.cairn.takes[0])
    assert used.kept == "Take 2"
    assert_motion(tumble, scene)
    attach.delete_bake(scene)
    assert tuple(obj.location) == (5, 5, 5)


def test_names_are_unique_and_actions_follow_them(scene):
    add_body(scene)
    bake(scene)
    for _ in range(3):
        keep(scene, "Same")
    assert [take.name for take in scene.cairn.takes] == ["Same", "Same.001", "Same.002"]
    scene.cairn.takes[0].name = "Other"
    assert scene.cairn.takes[0].action.name == "Other"
    scene.cairn.takes[1].name = " "
    assert scene.cairn.takes[1].name == "Take"
    assert book.free_name(scene) == "Take 1"


def test_removing_a_take_leaves_what_plays_and_what_others_use(scene):
    add_body(scene)
    tumble = bake(scene)
    first, second = keep(scene), keep(scene)
    kept = book.take_of(scene, second).action
    kept.use_fake_user = True
    name = kept.name
    book.remove(scene, second)
    assert name in bpy.data.actions
    book.remove(scene, first)
    assert "Take 1" not in bpy.data.actions
    assert scene.cairn.take == ""
    assert_motion(tumble, scene)


def test_impacts_report_and_contacts_go_with_the_take(scene):
    obj = add_body(scene)
    bake(scene)
    bag = fcurves.channelbag(obj.animation_data.action, obj.animation_data.action_slot)
    fcurves.write_linear(bag.fcurves.new('["cairn_impact"]'), [1, 2], [0.0, 3.0])
    obj["cairn_impact"] = 0.0
    value = {"frame": [2], "position": [[1, 2, 3]], "normal": [[0, 0, 1]], "impulse": [[0, 0, 4]], "slip": [[0, 0, 0]]}
    arrays = {name: np.array(values) for name, values in {**value, "body_a": [0], "body_b": [0]}.items()}
    contact_points.write_points(scene, arrays | {"names": np.array(["Body"])})
    report_curves.write_curves(scene, 1, [_Report(1, 0.5), _Report(2, 0.25)])
    keep(scene)
    bake(scene, 0.1)
    report_curves.remove_curves(scene)
    contact_points.remove_points(scene)
    keep(scene)
    assert '["cairn_impact"]' not in {path for path, _ in curves(obj)}
    use(scene, scene.cairn.takes[0])
    assert curves(obj)['["cairn_impact"]', 0].evaluate(2) == 3.0
    points = contact_points.points_of(scene)
    assert contact_points.arrays_of(points)["impulse"].tolist() == [[0, 0, 4]]
    assert contact_points.arrays_of(points)["names"].tolist() == ["Body"]
    report = report_curves.curves_of(scene)
    assert curves(report)['["residual"]', 0].evaluate(3) == 0.25
    use(scene, scene.cairn.takes[1])
    assert "cairn_impact" not in obj
    assert report_curves.curves_of(scene) is None
    assert contact_points.points_of(scene) is None
    attach.delete_bake(scene)
    use(scene, scene.cairn.takes[0])
    assert contact_points.points_of(scene) is not None
    for uid in [take.uid for take in scene.cairn.takes]:
        book.remove(scene, uid)
    attach.delete_bake(scene)
    assert len(bpy.data.actions) == 0
    assert [mesh.name for mesh in bpy.data.meshes] == ["Cube"]


class _Report:
    """What a report of a frame has, as far as curves need it."""

    def __init__(self, frame, residual):
        self.frame, self.residual = frame, residual
        self.missed = self.max_penetration = self.joint_error = self.contacts = 0
        self.kinetic_energy = self.potential_energy = 0.0
        self.seconds = {}


def test_takes_of_library_overrides(tmp_path):
    library = new_scene()
    launched_body(library).constraints.new("LIMIT_LOCATION")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    scene = new_scene()
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, target):
        target.objects = ["Body"]
    scene.collection.objects.link(target.objects[0])
    obj = target.objects[0].override_create(remap_local_usages=True)
    scene.rigidbody_world.collection.objects.link(obj)
    own = curves_of_own(scene)
    motions = []
    for speed in (0.3, 0.1):
        bake(scene, speed)
        motions.append(digests(scene))
        keep(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    scene = bpy.context.scene
    for place in (0, 1):
        assert use(scene, scene.cairn.takes[place]).missing == []
        assert digests(scene) == motions[place]
    attach.delete_bake(scene)
    assert curves_of_own(scene) == own
    assert [constraint.mute for constraint in scene.objects["Body"].constraints] == [False]


def curves_of_own(scene):
    scene.frame_set(1)
    return digests(scene)


def test_a_full_copy_of_the_scene_keeps_its_bake_and_the_takes_of_the_original(scene):
    add_body(scene)
    bake(scene)
    keep(scene)
    motion = digests(scene)
    bpy.ops.scene.new(type="FULL_COPY")
    copy = bpy.context.scene
    assert copy != scene
    assert copy.cairn.takes[0].action == scene.cairn.takes[0].action
    with pytest.raises(SceneError, match="none of the bodies"):
        use(copy, copy.cairn.takes[0])
    book.remove(copy, copy.cairn.takes[0].uid)
    assert scene.cairn.takes[0].action is not None
    use(scene, scene.cairn.takes[0])
    assert digests(scene) == motion


CHANGES = ("bake", "keep", "use", "delete", "remove", "rename", "rename body", "copy", "save", "edit", "drop")


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_changes_against_a_model_of_the_file(seed, tmp_path):
    """The model holds, by take and body, all curves as they were kept; and what each body had before any bake."""
    chance = random.Random(seed)
    scene = new_scene()
    launched_body(scene)
    add_body(scene, "Free", location=(4, 0, 0), mode="QUATERNION")
    add_body(scene, "Third", location=(8, 0, 0))
    scene.frame_set(1)
    own = states(scene)
    takes: dict = {}  # by number: {label of the body: curves}
    labels = {obj.name: obj.name for obj in scene.objects}  # of present names
    log = []

    def motion():
        return {labels[obj.name]: value for obj in scene.objects if (value := digests(scene)[obj.name])}

    def learn_secured(kept, before):
        if kept:
            takes[next(take.uid for take in scene.cairn.takes if take.name == kept)] = before

    for number in range(14):
        change = chance.choice(CHANGES)
        log.append(change)
        before = motion()
        if change == "bake":
            bake(scene, 0.05 + 0.01 * number)
        elif change == "keep" and scene.cairn.is_baked:
            takes[keep(scene)] = before
        elif change == "use" and takes:
            uid = chance.choice(list(takes))
            there = takes[uid].keys() & set(labels.values())
            if not there:
                continue
            used = steps.finished(steps.use_steps(scene.name, uid))
            learn_secured(used.kept, before)
            assert len(used.missing) == len(takes[uid].keys() - there), log
            after = motion()
            assert {name: after[name] for name in there} == {name: takes[uid][name] for name in there}, log
        elif change == "delete" and scene.cairn.is_baked:
            attach.delete_bake(scene)
        elif change == "remove" and takes:
            uid = chance.choice(list(takes))
            book.remove(scene, uid)
            del takes[uid]
            assert motion() == before, log
        elif change == "rename" and takes:
            book.take_of(scene, chance.choice(list(takes))).name = chance.choice(["A", "B", ""])
        elif change == "rename body":
            obj = chance.choice(list(scene.objects))
            label = labels.pop(obj.name)
            obj.name = f"Name {number}"
            labels[obj.name] = label
        elif change == "copy" and len(scene.objects) < 6:
            obj = chance.choice(list(scene.objects))
            copy = obj.copy()
            scene.collection.objects.link(copy)
            copy.location.x += 20.0
            labels[copy.name] = f"copy {number}"
            attach.keep_steps(scene.name)
        elif change == "save":
            bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "model.blend"))
            bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "model.blend"))
            scene = bpy.context.scene
        elif change == "edit" and scene.cairn.is_baked:
            obj = chance.choice(earlier_animation.baked_objects(scene))
            curve = curves(obj)["location", chance.randint(0, 2)]
            curve.keyframe_points[len(curve.keyframe_points) - 1].co.y += 1.0
        elif change == "drop" and len(scene.objects) > 2:
            obj = chance.choice(list(scene.objects))
            del labels[obj.name]
            bpy.data.objects.remove(obj)
        assert {take.uid for take in scene.cairn.takes} == takes.keys(), log
        assert all(take.action is not None and take.action.name == take.name for take in scene.cairn.takes), log
    if scene.cairn.is_baked:
        attach.delete_bake(scene)
    after = states(scene)
    for name, label in labels.items():
        if label in own:
            kept = {**own[label], "curves": None}
            assert {**after[name], "curves": None} == kept, (log, label)
            assert after[name]["curves"] == own[label]["curves"], (log, label)
    assert all(not obj.cairn.is_baked for obj in scene.objects)
