"""*Live* without a window: when it looks, from which frame it begins again, and that what is kept is a bake.

The clock is the test's: it stands unless the test lets time pass.
"""

import time
from dataclasses import replace

import bpy
import numpy as np
import pytest
from user_data import differences, user_data

import cairn
from cairn.addon.bake import BakeStopped, bake_scene
from cairn.addon.live import memory
from cairn.addon.live.session import QUIET, Session
from cairn.addon.read.scene_digest import scene_digest, scene_digest_steps
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.write import fcurves
from cairn.solver_core.simulation_beside import SimulationBeside

FRAMES = 40
# for a Python to start, and to load what it needs [s]
PATIENCE = 60.0


@pytest.fixture
def scene(maker):
    """A box that falls on a plate, which a keyed one pushes from frame 20 on; and one that lies apart."""
    cairn.register()
    maker.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(20, 20, 1))
    pusher = maker.body("Pusher", shape="BOX", type="PASSIVE", location=(-3, 0, 0.5))
    pusher.rigid_body.kinematic = True
    maker.key(pusher, "location", {1: (-3, 0, 0.5), 20: (-3, 0, 0.5), 35: (-1, 0, 0.5)})
    maker.body("Box", shape="BOX", location=(-1.6, 0, 1.2))
    maker.body("High", shape="BOX", location=(5, 0, 30), rotation_euler=(0.1, 0.2, 0.3))
    maker.scene.frame_end = maker.world.point_cache.frame_end = FRAMES
    maker.scene.frame_set(1)
    return maker.scene


class User:
    """Somebody at a scene with *Live* on: has it tick, and changes something now and then."""

    def __init__(self, scene, **options):
        self.scene, self.now, self.looks = scene, 0.0, 0
        self.session = Session(scene.name, self._settings, self._look, lambda: self.now, **options)

    def _settings(self):
        return BakeSettings.from_scene(self.scene)

    def _look(self):
        self.looks += 1
        yield from scene_digest_steps(self.scene.name)
        yield scene_digest(self.scene)

    def tick(self):
        """One tick: time passes in it, since it works until its end."""
        begin = time.perf_counter()
        self.session._clock = lambda: self.now + 1e-6 * (time.perf_counter() - begin)
        self.session.tick(2e-9)

    def until(self, done):
        begin = time.monotonic()
        while not done():
            self.tick()
            if self.session.waits:
                time.sleep(0.002)
            assert time.monotonic() - begin < PATIENCE
        return self

    def to_the_end(self):
        return self.until(lambda: self.session.is_done)

    def change(self, quiet=QUIET):
        """Blender has told of a change, after which nothing happens for so long."""
        self.session.note_change()
        self.now += quiet + 1e-3
        return self

    def run(self):
        return self.session._run

    def poses(self):
        trajectory = self.run().memory.trajectory
        return trajectory.position.copy(), trajectory.orientation.copy()


@pytest.fixture
def user(scene):
    made = User(scene)
    yield made
    made.session.close()


def baked(scene):
    """The motion of a bake, which is written."""
    return bake_scene(scene, BakeSettings.from_scene(scene)).trajectory


def simulated_frames(run):
    """Frames that a run has simulated itself."""
    first = run.kept[1] + 1 if run.kept else run.export.frame_start + 1
    return first, run.export.frame_start + run.memory.trajectory.frame_count


def test_it_simulates_what_a_bake_does_and_touches_nothing(scene, user):
    before = user_data()
    user.to_the_end()
    assert differences(before, user_data()) == {}
    trajectory = baked(scene)
    position, orientation = user.poses()
    assert np.array_equal(position, trajectory.position)
    assert np.array_equal(orientation, trajectory.orientation)
    assert user.session.frames == (1, FRAMES, FRAMES)


def test_between_two_ticks_there_is_no_other_scene(user):
    """Undo would bring it back."""

    def is_done():
        assert len(bpy.data.scenes) == 1
        return user.session.is_done

    user.until(is_done)


def test_it_looks_once_all_is_quiet(scene, user):
    user.to_the_end()
    scene.objects["Box"].rigid_body.mass = 3.0
    user.change(quiet=0.5 * QUIET).tick()
    user.change(quiet=0.9 * QUIET).tick()
    assert (user.looks, user.session.runs) == (0, 1)
    user.now += 0.2 * QUIET
    user.to_the_end()
    assert (user.looks, user.session.runs) == (1, 2)


def test_while_frames_are_played_it_looks_all_the_same(user):
    """Blender then tells of changes all the time."""
    user.to_the_end()
    for _ in range(10):
        user.session.note_change(plays=True)
        user.now += 0.11 * QUIET
        user.tick()
    user.until(lambda: user.looks > 0)
    assert user.looks == 1


def test_what_changes_nothing_begins_nothing(scene, user):
    user.to_the_end()
    scene.objects["Box"].select_set(True)
    user.change().to_the_end()
    assert (user.looks, user.session.runs) == (1, 1)


def test_a_setting_begins_at_the_start(scene, user):
    user.to_the_end()
    scene.objects["Box"].rigid_body.friction = 0.1
    user.change().to_the_end()
    assert simulated_frames(user.run()) == (2, FRAMES)
    assert np.array_equal(user.poses()[0], baked(scene).position)


@pytest.mark.parametrize("beside", [True, False])
def test_a_key_begins_at_the_frame_that_it_touches(scene, user, monkeypatch, beside):
    """The frames before it stay, and all of them are what a bake gives, whoever has simulated them."""
    monkeypatch.setattr(memory, "EVERY", 2)
    if not beside:
        user.session._beside.wanted = False
    user.to_the_end()
    before = user.poses()[0]
    curve = next(curve for curve in curves_of(scene.objects["Pusher"]) if curve.array_index == 0)
    curve.keyframe_points[-1].co[1] = -0.5
    curve.update()
    user.change().to_the_end()
    first, last = simulated_frames(user.run())
    assert last == FRAMES
    # a velocity at a frame is seen from some frames around it
    assert (13 if not beside else 2) <= first <= 20
    after = user.poses()[0]
    assert np.array_equal(after[: first - 1], before[: first - 1])
    assert not np.array_equal(after, before)
    assert np.array_equal(after, baked(scene).position)


def curves_of(ob):
    data = ob.animation_data
    return list(fcurves.channelbag(data.action, data.action_slot).fcurves)


@pytest.mark.parametrize("changed", ["frame_position", "frame_orientation", "option", "nothing"])
def test_what_tells_whether_frames_can_be_the_same(scene, changed):
    """Also where an object's origin is in its body: poses are those of objects."""
    export, options = export_scene(scene), {"substeps": 4}
    identity = memory.identity_of(export, options)
    if changed.startswith("frame"):
        array = getattr(export.model, changed)
        export = replace(export, model=replace(export.model, **{changed: array + 0.25}))
    elif changed == "option":
        options = {"substeps": 5}
    assert (memory.identity_of(export, options) == identity) == (changed == "nothing")


def test_a_longer_range_goes_on_where_it_ended(scene, user):
    user.to_the_end()
    scene.rigidbody_world.point_cache.frame_end = FRAMES + 10
    user.change().to_the_end()
    first, last = simulated_frames(user.run())
    assert (first > FRAMES - memory.EVERY, last) == (True, FRAMES + 10)
    assert np.array_equal(user.poses()[0], baked(scene).position)


def test_a_change_in_the_middle_begins_again(scene, user):
    """The poses of the run before are there until there are new ones."""
    user.until(lambda: user.session.frames is not None and user.session.frames[1] > 10)
    shown = user.session.picture(8)
    scene.objects["Box"].location.x += 0.1
    user.change()
    user.until(lambda: user.session.runs == 2)
    assert user.session.picture(8).key == shown.key
    user.to_the_end()
    assert user.session.picture(8).key == (2, 7)
    assert np.array_equal(user.poses()[0], baked(scene).position)


def test_what_cannot_be_simulated_is_said_until_it_can(scene, user):
    user.to_the_end()
    box, mass = scene.objects["Box"], scene.objects["Box"].rigid_body.mass
    box.scale.x = 0.0
    user.change().to_the_end()
    assert "Box" in str(user.session.error)
    assert user.session.picture(5) is not None
    box.scale.x, box.rigid_body.mass = 1.0, mass
    user.change().to_the_end()
    assert user.session.error is None
    assert user.session.frames[1] == FRAMES


def test_an_object_that_goes_while_it_is_read_is_a_change(scene, user):
    user.to_the_end()
    bpy.data.objects.remove(scene.objects["High"])
    user.change().to_the_end()
    assert len(user.poses()[0][0]) == 3


def test_a_scene_with_another_name_is_simulated_on(scene, user):
    user.until(lambda: user.session.frames is not None)
    scene.name = "Another"
    user.session.rename("Another")
    user.to_the_end()
    assert user.session.error is None
    assert user.session.frames[1] == FRAMES


def keys(scene):
    """All keys of all objects, to the bit, by name."""
    found = {}
    for ob in scene.objects:
        if ob.animation_data is None or ob.animation_data.action is None:
            continue
        for curve in curves_of(ob):
            values = np.empty(2 * len(curve.keyframe_points), np.float32)
            curve.keyframe_points.foreach_get("co", values)
            found[ob.name, curve.data_path, curve.array_index] = values.tobytes()
    return found


def kept(user, stops=False):
    run, steps = user.session.take(scene_digest(user.scene))
    steps = run.keep_steps(steps, keeps_earlier=True)
    next(steps)
    while True:
        try:
            progress = steps.throw(BakeStopped()) if stops else next(steps)
            stops = False
            if progress.waits:
                time.sleep(0.002)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("at", ["start", "middle", "end", "after a key", "too early"])
def test_what_is_kept_is_a_bake(scene, user, monkeypatch, at):
    """The same keys to the bit, and the same report but for the time; missing frames are simulated first."""
    monkeypatch.setattr(memory, "EVERY", 2)
    if at == "middle":
        user.until(lambda: user.session.frames is not None and user.session.frames[1] > 10)
    elif at != "start":
        user.to_the_end()
    if at == "after a key":
        curves_of(scene.objects["Pusher"])[0].keyframe_points[-1].co[1] = -0.5
        user.change().to_the_end()
    elif at == "too early":
        scene.objects["Box"].rigid_body.friction = 0.1  # it has not looked yet
    result = kept(user)
    assert (result.frame_end, result.error) == (FRAMES, None)
    written, summary = keys(scene), scene.cairn.summary
    bake_scene(scene, BakeSettings.from_scene(scene))
    assert keys(scene) == written
    assert ("Box", "location", 0) in written
    assert summary.split(" in ")[0] == scene.cairn.summary.split(" in ")[0]


def test_a_stop_keeps_the_frames_so_far(scene, user):
    user.until(lambda: user.session.frames is not None and user.session.frames[1] > 10)
    assert kept(user, stops=True).stopped
    assert 10 < scene.cairn.baked_end < FRAMES


def test_one_process_does_all_runs_and_ends_with_the_session(scene, monkeypatch):
    """Also where it is in the middle of frames that are no longer wanted."""
    started, init = [], SimulationBeside.__init__

    def noted(self):
        started.append(self)
        init(self)

    monkeypatch.setattr(SimulationBeside, "__init__", noted)
    monkeypatch.setattr("cairn.addon.bake.MANY", 0)
    user = User(scene)
    user.until(lambda: user.session.frames is not None and user.session.frames[1] > 5)
    for run in (2, 3, 4):
        scene.objects["Box"].rigid_body.mass = run
        user.change().until(lambda run=run: user.session.picture(1).key[0] == run)
        user.until(lambda: user.session.frames[1] > 5)
    user.to_the_end()
    assert np.array_equal(user.poses()[0], baked(scene).position)
    assert (len(started), user.session.runs) == (1, 4)
    user.session.close()
    assert started[0]._process.poll() is not None


def test_memory_keeps_few_states():
    kept = memory.Memory()
    for frame in range(0, 4000, memory.EVERY):
        kept.keep(type("State", (), {"frame": frame}))
    assert len(kept.states) <= memory.MOST
    assert kept.last_state(3999).frame == 4000 - memory.EVERY
    assert kept.last_state(2000).frame <= 2000
