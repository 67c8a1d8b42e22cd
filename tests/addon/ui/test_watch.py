"""What the panel says by itself after a change: out of date and why, warnings, errors whose cause is gone.

The timer that looks runs in a window only; here the look is called.
"""

import json
from types import SimpleNamespace

import bpy
import pytest

import cairn
from cairn.addon.read import scene_digest
from cairn.addon.read.early_notes import nothing_to_bake
from cairn.addon.ui import kept_digest, operators, panels, watch
from cairn.addon.write import attach, earlier_animation


@pytest.fixture
def stack(maker):
    """Three boxes on a floor, 10 frames."""
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = 10
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(10, 10, 1))
    for i in range(3):
        maker.body(f"Box{i}", shape="BOX", location=(0, 0, 0.5 + i))
    session = bpy.context.window_manager.cairn
    session.error = session.error_object = session.error_digest = session.check = session.status = ""
    yield maker
    operators.running = None


def look(scene):
    """What the panel would say a moment from now."""
    session = bpy.context.window_manager.cairn
    watch.look_at(scene, session)
    return json.loads(session.status)


def _change_friction(maker):
    for i in range(3):
        maker.scene.objects[f"Box{i}"].rigid_body.friction = 0.25


def _change_one_mass(maker):
    maker.scene.objects["Box1"].rigid_body.mass = 7


def _move_the_floor(maker):
    maker.scene.objects["Floor"].location.z -= 0.25


def _move_at_the_start(maker):
    maker.scene.frame_set(1)
    maker.scene.objects["Box2"].location.x += 0.25


def _scale(maker):
    maker.scene.objects["Box2"].scale.x = 2


def _edit_mesh(maker):
    maker.scene.objects["Box0"].data.vertices[0].co.x -= 0.5


def _key(maker):
    maker.key(maker.scene.objects["Floor"], "location", {1: (0, 0, -0.5), 9: (0, 0, 0)})


def _gravity(maker):
    maker.scene.gravity.z = -1


def _substeps(maker):
    maker.scene.cairn.substeps = 8


def _most_substeps(maker):
    maker.scene.cairn.max_substeps = 32


def _variant(maker):
    # the default solver has kernels of its own for this law, which take longer to compile than all tests here
    maker.scene.cairn.method, maker.scene.cairn.friction = "nncg", "polyhedral"
    bpy.ops.cairn.bake()
    maker.scene.cairn.directions = 12


def _frame_rate(maker):
    maker.scene.render.fps = 25


def _speed(maker):
    maker.world.time_scale = 0.5


def _range(maker):
    maker.world.point_cache.frame_end = 12


def _new_body(maker):
    maker.body("New", shape="BOX", location=(5, 0, 0.5))


def _copy(maker):
    copy = maker.scene.objects["Box1"].copy()
    maker.scene.collection.objects.link(copy)


def _remove(maker):
    bpy.data.objects.remove(maker.scene.objects["Box2"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_change_friction, "friction of 3 bodies"),
        (_change_one_mass, "mass of Box1"),
        (_move_the_floor, "start pose of Floor"),
        (_move_at_the_start, "start pose of Box2"),
        (_scale, "start pose of Box2"),
        (_edit_mesh, "shape of Box0"),
        (_key, "animation of Floor, start pose of Floor"),
        (_gravity, "gravity"),
        (_substeps, "substeps"),
        (_most_substeps, "substeps at most"),
        (_variant, "solver"),
        (_frame_rate, "frame rate"),
        (_speed, "Speed of the Rigid Body World"),
        (_range, "range"),
        (_new_body, "1 new body"),
        (_copy, "1 new body"),
        (_remove, "1 removed body"),
    ],
)
def test_a_bake_that_is_out_of_date_says_why(stack, change, words):
    bpy.ops.cairn.bake()
    assert look(stack.scene)["outdated"] == ""
    change(stack)
    assert look(stack.scene)["outdated"] == f"Out of date: {words}"
    bpy.ops.cairn.bake()
    assert look(stack.scene)["outdated"] == ""


def test_a_new_name_does_not_make_a_bake_out_of_date(stack):
    """Neither of a body nor of a joint, whatever names them; what else has changed is said."""
    floor, box, child = (stack.scene.objects[name] for name in ("Floor", "Box1", "Box2"))
    child.parent = box
    joint = stack.object("Hinge")
    bpy.context.view_layer.objects.active = joint
    bpy.ops.rigidbody.constraint_add(type="HINGE")
    joint.rigid_body_constraint.object1, joint.rigid_body_constraint.object2 = box, child
    before = scene_digest.scene_digest(stack.scene)

    def found():
        now = scene_digest.scene_digest(stack.scene)
        return scene_digest.changes(scene_digest.unpacked(scene_digest.packed(before)), now)

    floor.name, box.name, joint.name = "Ground", "Crate", "Door"
    assert found() == []
    child.parent = floor
    joint.rigid_body_constraint.object1 = floor
    assert found() == ["start pose of Box2", "1 new joint", "1 removed joint"]
    joint.name = "Hinge"
    assert found() == ["start pose of Box2", "settings of Hinge"]
    child.parent, joint.rigid_body_constraint.object1 = box, box
    assert found() == []
    box.rigid_body.mass = 9
    assert {"1 new body", "1 removed body"} < set(found())


def test_bodies_that_have_lost_their_keys_are_named(stack):
    """One whose action the user takes off, and those whose bake is deleted in another scene that has them too."""
    bpy.ops.cairn.bake()
    stack.scene.objects["Box1"].animation_data.action = None
    assert look(stack.scene)["outdated"] == "Out of date: keys of Box1"
    bpy.ops.cairn.bake()
    assert look(stack.scene)["outdated"] == ""
    bpy.ops.scene.new(type="LINK_COPY")
    other = bpy.context.scene
    attach.delete_bake(other)
    assert look(stack.scene)["outdated"] == "Out of date: keys of 3 bodies"
    attach.delete_bake(stack.scene)
    assert look(stack.scene)["outdated"] == ""
    assert stack.world.enabled


@pytest.mark.parametrize("kind", ["FULL_COPY", "LINK_COPY"])
@pytest.mark.parametrize("is_nested", [False, True])
def test_a_copy_of_a_scene_keeps_its_bake(stack, kind, is_nested, tmp_path):
    """Also where baked bodies are children of such: the bake has taken the collection out, which is not copied."""
    scene = stack.scene
    if is_nested:
        scene.objects["Box2"].parent = scene.objects["Box1"]
    bpy.ops.cairn.bake()

    def motion(of):
        bpy.context.window.scene = of
        bodies = [ob for ob in of.objects if ob.rigid_body is not None]
        return [[of.frame_set(frame), *([*map(tuple, ob.matrix_world)] for ob in bodies)][1:] for frame in (1, 4, 10)]

    def carrying(of):
        return [ob.name for ob in earlier_animation.baked_objects(of)]

    before = motion(scene)
    bpy.ops.scene.new(type=kind)
    name, copied = scene.name, bpy.context.scene.name
    for of in (copied, name):
        assert look(bpy.data.scenes[of])["outdated"] == ""
        assert motion(bpy.data.scenes[of]) == before
    assert len(carrying(bpy.data.scenes[copied])) == 3
    assert (carrying(scene) == carrying(bpy.data.scenes[copied])) == (kind == "LINK_COPY")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "both.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "both.blend"))
    scene, copied = bpy.data.scenes[name], bpy.data.scenes[copied]
    assert [look(of)["outdated"] for of in (copied, scene)] == ["", ""]
    if kind == "FULL_COPY":  # each can be deleted alone
        attach.delete_bake(copied)
        assert carrying(copied) == []
        assert len(copied.rigidbody_world.collection.objects) == 4
        assert set(copied.rigidbody_world.collection.objects) <= set(copied.objects)
        assert len(carrying(scene)) == 3
        assert motion(scene) == before


def test_playing_and_saving_do_not_make_a_bake_out_of_date(stack, tmp_path):
    """Neither do keys on channels that the bake leaves alone."""
    bpy.ops.cairn.bake()
    for frame in (1, 4, 10):
        stack.scene.frame_set(frame)
        assert look(stack.scene)["outdated"] == ""
    stack.scene.objects["Box0"].keyframe_insert("hide_render", frame=3)
    stack.scene.cairn.threads = 1
    stack.reopen(tmp_path / "baked.blend")
    assert look(stack.scene)["outdated"] == ""
    stack.scene.frame_set(7)
    assert look(stack.scene)["outdated"] == ""
    attach.delete_bake(stack.scene)
    assert look(stack.scene)["outdated"] == ""


def test_keyed_bodies_are_not_out_of_date_at_other_frames(stack):
    """Their channels are the present frame's."""
    stack.key(stack.scene.objects["Floor"], "location", {1: (0, 0, -0.5), 9: (0, 0, 0)})
    stack.scene.objects["Box2"].driver_add("location", 0).driver.expression = "frame / 10"
    bpy.ops.cairn.bake()
    for frame in (1, 4, 10):
        stack.scene.frame_set(frame)
        assert look(stack.scene)["outdated"] == ""


def test_warnings_stand_there_before_a_bake(stack):
    """Fields, meshes without vertices and constraints without effect; the panel shows them without a click."""
    assert look(stack.scene)["notes"] == []
    field = stack.object("Wind")
    bpy.context.view_layer.objects.active = field
    bpy.ops.object.forcefield_toggle()
    field.field.type = "BOID"
    stack.scene.objects["Box2"].data.clear_geometry()
    joint = stack.object("Hinge")
    bpy.context.view_layer.objects.active = joint
    bpy.ops.rigidbody.constraint_add(type="HINGE")
    constraint = joint.rigid_body_constraint
    constraint.object1 = constraint.object2 = stack.scene.objects["Box0"]
    found = {names[0]: text for level, text, names in look(stack.scene)["notes"] if level == "warning"}
    assert "kind Boid" in found["Wind"]
    assert "no vertices" in found["Box2"]
    assert "with itself" in found["Hinge"]


def test_the_range_and_the_speed_are_warned_of_before_a_bake(stack):
    stack.scene.frame_end = 20
    stack.scene.render.frame_map_new = 200
    stack.world.time_scale = 0.0
    first, second, third = (text for _, text, _ in look(stack.scene)["notes"])
    assert first.startswith("Time Remapping")
    assert second == "Speed of the Rigid Body World is 0: nothing moves"
    assert third.endswith("the scene plays 1 to 20: bodies stand still after frame 10")
    stack.scene.cairn.use_custom_range = True
    assert len(look(stack.scene)["notes"]) == 2


def test_linked_bodies_are_warned_of_before_a_bake(stack, tmp_path):
    """All of them, where a bake names the first that it cannot key."""
    for name in ("First", "Second"):
        stack.body(name, shape="BOX")
    bodies, library = [stack.scene.objects[name] for name in ("First", "Second")], str(tmp_path / "library.blend")
    bpy.data.libraries.write(library, set(bodies))
    bpy.data.batch_remove(bodies)
    with bpy.data.libraries.load(library, link=True) as (source, target):
        target.objects = source.objects
    for ob in target.objects:
        stack.scene.collection.objects.link(ob)
        stack.world.collection.objects.link(ob)
    ((level, text, names),) = look(stack.scene)["notes"]
    assert (level, sorted(names)) == ("warning", ["First", "Second"])
    assert "is linked from another file" in text
    with pytest.raises(RuntimeError, match="is linked"):
        bpy.ops.cairn.bake()


def test_an_error_goes_when_its_cause_goes(stack):
    """Not when something else changes."""
    session = bpy.context.window_manager.cairn
    stack.scene.objects["Box1"].scale.y = 0
    with pytest.raises(RuntimeError):
        bpy.ops.cairn.bake()
    look(stack.scene)
    assert session.error_object == "Box1"
    stack.scene.objects["Box0"].location.x = 5
    look(stack.scene)
    assert session.error_object == "Box1"
    stack.scene.objects["Box1"].scale.y = 1
    look(stack.scene)
    assert session.error == session.error_object == ""


def test_bake_says_why_there_is_nothing_to_bake(stack):
    assert nothing_to_bake(stack.scene) == ""
    for i in range(3):
        stack.scene.objects[f"Box{i}"].rigid_body.enabled = False
    assert "Active and Dynamic" in nothing_to_bake(stack.scene)
    with pytest.raises(RuntimeError, match="Active and Dynamic"):
        bpy.ops.cairn.bake()
    stack.scene.objects["Box0"].rigid_body.enabled = True
    assert panels.nothing_to_bake(stack.scene) == ""
    for ob in list(stack.scene.objects):
        bpy.data.objects.remove(ob)
    assert "No rigid bodies yet" in nothing_to_bake(stack.scene)


def test_what_is_offered_after_a_bake_is_there_without_a_look(stack):
    """And nothing of before: a button that is to be fetched back, or that is out of date."""
    session = bpy.context.window_manager.cairn
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert json.loads(session.status) == look(stack.scene)
    _change_friction(stack)
    assert look(stack.scene)["outdated"]
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    after_bake = json.loads(session.status)
    assert (after_bake["outdated"], after_bake["recorded"], after_bake["fetch"]) == ("", [1, 10], 0)
    assert after_bake == look(stack.scene)
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    deleted = json.loads(session.status)
    assert not any(deleted.get(name) for name in ("outdated", "recorded", "checkpoint"))


def test_an_edit_after_a_rest_is_looked_at_soon(stack, monkeypatch):
    """Only what a window reports by itself, just after a look that has found nothing, waits."""
    waits = []
    now = [1000.0]
    monkeypatch.setattr(watch.time, "perf_counter", lambda: now[0])
    timers = SimpleNamespace(
        is_registered=lambda function: False,
        register=lambda function, first_interval: waits.append(first_interval),
    )
    monkeypatch.setattr(
        watch, "bpy", SimpleNamespace(app=SimpleNamespace(background=False, timers=timers), context=bpy.context)
    )
    monkeypatch.setattr(watch, "_rested", now[0])
    monkeypatch.setattr(watch, "is_idle", lambda manager: False)
    for seconds in (0.1, 1.0, 2.5):
        now[0] = 1000.0 + seconds
        watch.note_change()
    assert waits == [watch.PAUSE_AT_REST, watch.PAUSE_AT_REST, watch.PAUSE]


def test_what_is_read_for_a_bake_is_looked_at_soon_at_rest_too(stack, monkeypatch):
    """A look that waits for the window's own reports begins sooner where one is of a body."""
    times, timers = [], {}
    registered = SimpleNamespace(
        is_registered=lambda function: function in timers,
        register=lambda function, first_interval: timers.update({function: first_interval}),
        unregister=timers.pop,
    )
    app = SimpleNamespace(background=False, timers=registered, is_job_running=lambda kind: False)
    monkeypatch.setattr(watch, "bpy", SimpleNamespace(app=app, context=bpy.context, data=bpy.data))
    monkeypatch.setattr(watch, "_rested", watch.time.perf_counter() + 100.0)
    monkeypatch.setattr(watch, "_kept", kept_digest.KeptDigest())
    graph = bpy.context.evaluated_depsgraph_get()

    def told_of(block):
        update = SimpleNamespace(
            id=block.evaluated_get(graph), is_updated_geometry=True, is_updated_shading=False, is_updated_transform=True
        )
        watch.note_change(None, SimpleNamespace(updates=[update]))
        times.append(*timers.values())

    for _ in watch.look_steps(stack.scene.name, bpy.context.window_manager.cairn, watch._kept):
        pass
    told_of(stack.scene)
    told_of(stack.scene.objects["Box1"])
    told_of(stack.scene)
    assert times == [watch.PAUSE_AT_REST, watch.PAUSE, watch.PAUSE]


def test_the_button_turns_red_before_all_is_gone_through(stack, monkeypatch):
    """However many bodies there are: what Blender has told of is looked at first, and what that says is the whole."""
    session = bpy.context.window_manager.cairn
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    kept, said_first = kept_digest.KeptDigest(), []

    def look_with():
        for _ in watch.look_steps(stack.scene.name, session, kept):
            pass

    look_with()
    bpy.app.handlers.depsgraph_update_post.append(lambda _, graph: kept.note(graph))
    try:
        _move_at_the_start(stack)
        stack.scene.objects["Box1"].rigid_body.mass = 7
        bpy.context.view_layer.update()
    finally:
        bpy.app.handlers.depsgraph_update_post.pop()
    steps = kept.steps
    monkeypatch.setattr(kept, "steps", lambda name: said_first.append(json.loads(session.status)) or steps(name))
    look_with()
    assert [said["outdated"] for said in said_first] == ["Out of date: mass of Box1, start pose of Box2"]
    assert json.loads(session.status) == said_first[0] == look(stack.scene)


def test_a_scene_that_a_window_shows_anew_is_looked_at_once(stack, monkeypatch):
    """Blender tells of no change where another scene is shown, and the panel had nothing to say of it."""
    timers = []
    registered = SimpleNamespace(
        is_registered=lambda function: bool(timers),
        register=lambda function, first_interval: timers.append(function),
        unregister=timers.remove,
    )
    windows = [SimpleNamespace(scene=stack.scene)]
    context = SimpleNamespace(window_manager=SimpleNamespace(windows=windows, cairn=bpy.context.window_manager.cairn))
    app = SimpleNamespace(background=False, timers=registered)
    monkeypatch.setattr(watch, "bpy", SimpleNamespace(app=app, context=context, data=bpy.data))
    monkeypatch.setattr(watch, "_looked_at", ["Another"])
    monkeypatch.setattr(watch, "_looking", None)
    watch.look_at_new(SimpleNamespace(name="Pinned in an editor"))
    assert timers == []
    watch.look_at_new(stack.scene)
    watch.look_at_new(stack.scene)
    assert timers == [watch._look_when_idle]
    for _ in watch._look_steps(context.window_manager):
        pass
    timers.clear()
    watch.look_at_new(stack.scene)
    assert timers == []


@pytest.mark.parametrize(("drawing", "slices"), [(0.0, 0.008), (0.05, 0.008), (0.5, 0.05), (5.0, 0.08)])
def test_a_look_takes_longer_slices_where_drawing_takes_long(monkeypatch, drawing, slices):
    """A slice of some thousandths after each drawing of a second would find a change after a minute."""
    now = [1000.0]
    monkeypatch.setattr(watch.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(watch, "is_idle", lambda manager: True)

    def work():
        while True:
            now[0] += 0.001
            yield

    monkeypatch.setattr(watch, "_looking", work())
    monkeypatch.setattr(watch, "_due", now[0] - drawing)
    for _ in range(3):
        began = now[0]
        assert watch._look_when_idle() == watch.BETWEEN_SLICES
        assert now[0] - began == pytest.approx(slices, abs=0.0011)
        now[0] += watch.BETWEEN_SLICES + drawing


def test_the_button_turns_red_before_the_notes_are_looked_for(stack, monkeypatch):
    """They take as long again with thousands of bodies."""
    session = bpy.context.window_manager.cairn
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    before = look(stack.scene)
    _change_friction(stack)
    said = []
    notes_steps = watch.early_notes.early_notes_steps

    def noting(scene):
        said.append(json.loads(session.status))
        return notes_steps(scene)

    monkeypatch.setattr(watch.early_notes, "early_notes_steps", noting)
    after = look(stack.scene)
    assert said[0]["outdated"] == after["outdated"] != ""
    assert said[0]["notes"] == before["notes"]
    assert said[0] | {"notes": after["notes"]} == after
