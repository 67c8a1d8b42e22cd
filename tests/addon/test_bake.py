"""A bake keeps its contract: what was simulated is what Blender shows, at every moment the scene is as its user left
it, and what is stored are facts.
"""

import json

import bpy
import numpy as np
import pytest
from scene_state import visible_state

import cairn
from cairn.addon import bake, bake_report, scene_preparation
from cairn.addon.bake import BakeStopped, bake_frames, bake_scene
from cairn.addon.read import concave_shapes
from cairn.addon.read.faults import SceneError
from cairn.addon.read.frame_samples import simulation_paused
from cairn.addon.read.scene_check import export_for_bake
from cairn.addon.settings import BakeSettings
from cairn.addon.write import attach, fcurves, keyframes
from cairn.solver_core.simulation import Simulation, SimulationError

FAST = BakeSettings(start=1, end=25)
GRAVITY = 9.81


@pytest.fixture
def drop(maker):
    """A box that falls to a floor, and one that lies there."""
    cairn.register()
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(10, 10, 1))
    free = {"linear_damping": 0.0, "angular_damping": 0.0}
    maker.body("Falling", shape="BOX", location=(0, 0, 3), rotation_euler=(0.1, 0.2, 0.3), settings=free)
    maker.body("Lying", shape="BOX", location=(3, 0, 0.5))
    maker.scene.frame_set(7)
    return maker


def world_at(scene, name, frame):
    scene.frame_set(frame)
    return np.array(scene.objects[name].evaluated_get(bpy.context.view_layer.depsgraph).matrix_world)


def key_frames(obj):
    curves = fcurves.curves_of(fcurves.channelbag(obj.animation_data.action, obj.animation_data.action_slot))
    return [int(frame) for frame in fcurves.Keys.of(curves[("location", 2)]).fields["co"][:, 0]]


# What a bake writes


def test_blender_shows_what_was_simulated(drop):
    result = bake_scene(drop.scene, FAST)
    for name, index in (("Falling", 1), ("Lying", 2)):
        for frame in (1, 9, 17, 25):
            position = world_at(drop.scene, name, frame)[:3, 3]
            assert position == pytest.approx(result.trajectory.position[frame - 1, index], abs=1e-6)


def test_a_falling_body_follows_its_parabola(drop):
    """z = z0 - g t^2 / 2, in Blender's own world matrices."""
    bake_scene(drop.scene, FAST)
    for frame in (1, 5, 10, 15):
        time = (frame - 1) / 24
        assert world_at(drop.scene, "Falling", frame)[2, 3] == pytest.approx(3 - 0.5 * GRAVITY * time**2, abs=1e-5)


def test_a_fall_is_as_fast_as_speed_is_keyed(drop):
    """Each frame lasts as long as the world's Speed says at its end: the parabola, at the time that has gone by."""
    drop.key(drop.scene, "rigidbody_world.time_scale", {1: 1.0, 6: 0.25, 11: 2.0})
    bake_scene(drop.scene, FAST)
    time = 0.0
    for frame in range(2, 14):
        time += (1.0 if frame < 6 else 0.25 if frame < 11 else 2.0) / 24
        assert world_at(drop.scene, "Falling", frame)[2, 3] == pytest.approx(3 - 0.5 * GRAVITY * time**2, abs=1e-5)


def test_a_keyed_body_leaves_with_the_velocity_it_had(drop):
    """Carried along x at 2.4 m/s, and let go at frame 11."""
    body = drop.scene.objects["Falling"]
    drop.key(body, "location", {1: (0, 0, 3), 21: (2.0, 0, 3)})
    drop.key(body, "rigid_body.kinematic", {1: True, 11: False})
    bake_scene(drop.scene, FAST)
    assert world_at(drop.scene, "Falling", 6)[0, 3] == pytest.approx(0.5, abs=1e-5)
    assert world_at(drop.scene, "Falling", 16)[0, 3] == pytest.approx(1.5, abs=1e-3)
    assert world_at(drop.scene, "Falling", 16)[2, 3] < 3
    assert key_frames(body)[:2] == [1, 10]  # the user's own key, then the bake's first


@pytest.mark.parametrize("again", [False, True])
def test_what_a_constraint_did_before_the_bake_still_plays(drop, again):
    """The body hangs on an animated empty until the bake begins at frame 11, and is carried by it until frame 16."""
    body = drop.scene.objects["Falling"]
    drop.object("Crane")
    drop.key(drop.scene.objects["Crane"], "location", {1: (0, 0, 3), 21: (2, 1, 3)})
    body.constraints.new("COPY_LOCATION").target = drop.scene.objects["Crane"]
    drop.key(body, "rigid_body.kinematic", {1: True, 16: False})
    with simulation_paused(drop.scene):
        before = [world_at(drop.scene, "Falling", frame) for frame in range(1, 16)]
    for _ in range(1 + again):
        bake_scene(drop.scene, BakeSettings(start=11, end=20))
    assert body.constraints[0].mute
    for frame, wanted in enumerate(before, 1):
        assert world_at(drop.scene, "Falling", frame) == pytest.approx(wanted, abs=1e-5), f"frame {frame}"
    assert world_at(drop.scene, "Falling", 20)[2, 3] < 3
    attach.delete_bake(drop.scene)
    assert not body.constraints[0].mute


def test_the_same_bake_twice_gives_the_same_bits(drop):
    first = bake_scene(drop.scene, FAST)
    second = bake_scene(drop.scene, FAST)
    assert first.report["totals"]["digest"] == second.report["totals"]["digest"]
    assert np.array_equal(first.trajectory.position, second.trajectory.position)


def test_a_second_bake_starts_where_the_first_did(drop):
    """Also from the middle of a baked shot, with the boxes somewhere else."""
    first = bake_scene(drop.scene, FAST)
    drop.scene.frame_set(20)
    shorter = bake_scene(drop.scene, BakeSettings(start=1, end=10))
    assert np.array_equal(shorter.trajectory.position, first.trajectory.position[:10])
    assert key_frames(drop.scene.objects["Falling"]) == list(range(1, 11))
    assert drop.scene.frame_current == 20


def test_the_range_is_the_caches_unless_another_is_chosen(drop):
    drop.world.point_cache.frame_end = 12
    drop.world.point_cache.frame_start = 3
    bake_scene(drop.scene, BakeSettings.from_scene(drop.scene))
    assert key_frames(drop.scene.objects["Falling"]) == list(range(3, 13))
    drop.scene.cairn.use_custom_range = True
    assert (drop.scene.cairn.frame_start, drop.scene.cairn.frame_end) == (3, 12)
    drop.scene.cairn.frame_end = 5
    bake_scene(drop.scene, BakeSettings.from_scene(drop.scene))
    assert key_frames(drop.scene.objects["Falling"]) == [3, 4, 5]


def test_the_panel_gives_the_options(drop):
    settings = drop.scene.cairn
    settings.method, settings.substeps, settings.tolerance, settings.max_iterations = "pgs", 7, 1e-5, 0
    read = BakeSettings.from_scene(drop.scene)
    assert (read.method, read.substeps, read.tolerance, read.max_iterations) == ("pgs", 7, 1e-5, None)


def test_a_variant_of_the_panel_drives_the_bake(drop):
    """Corners and sweeps go to the solver, the report says so, and the motion is another one; the rest is not asked."""
    panel = drop.scene.cairn
    panel.method, panel.friction, panel.warm_start_sweeps, panel.relaxation = "fischer_newton", "polyhedral", 0, 1.5
    drop.scene.objects["Falling"].rotation_euler = (0.4, 0.3, 0.2)
    digests = set()
    for panel.directions in (4, 16):
        result = bake_scene(drop.scene, BakeSettings.from_scene(drop.scene))
        options, digest = result.report["options"], result.report["totals"]["digest"]
        assert (options["directions"], options["warm_start_sweeps"]) == (panel.directions, 0)
        assert options["relaxation"] is None
        digests.add(digest)
    assert len(digests) == 2


# The report


def test_report_has_what_the_design_lists(drop):
    report = bake_scene(drop.scene, FAST).report
    assert json.loads(json.dumps(report)) == report
    assert report.keys() >= {"cairn", "blender", "scene", "options", "frames", "totals"}
    assert [frame["frame"] for frame in report["frames"]] == list(range(2, 26))
    assert report["frames"][0].keys() >= {
        "frame", "contacts", "islands", "iterations", "residual", "max_penetration",
        "kinetic_energy", "potential_energy", "fallbacks", "detection_passes", "seconds",
    }  # fmt: skip
    assert report["totals"]["contacts"] == max(frame["contacts"] for frame in report["frames"])
    assert report["totals"]["iterations"] == sum(frame["iterations"] for frame in report["frames"])


def test_stored_facts_say_what_was_baked(drop):
    result = bake_scene(drop.scene, FAST)
    facts = drop.scene.cairn
    assert (facts.is_baked, facts.baked_start, facts.baked_end, facts.requested_end) == (True, 1, 25, 25)
    assert facts.summary == result.summary
    # its seconds and its digest too: both say the same of the same bake
    assert json.loads(facts.report)["totals"] == result.report["totals"]
    assert len(facts.report) < 5000
    attach.delete_bake(drop.scene)
    assert not facts.is_baked
    assert facts.summary == facts.report == ""


WORST = {"residual": 1e-3, "contact": "Cube.014 on Floor", "object": "Cube.014", "frame": 88}


def totals(**values):
    base = {"frames": 249, "seconds": 41.2, "seconds_by_part": {"compile": 0.3}, "missed": 0, "contacts": 9}
    return {**base, "worst": WORST, **values}


@pytest.mark.parametrize(
    ("values", "arguments", "sentence"),
    [
        ({}, {}, "Good: all contacts within tolerance. Baked 250 frames in 41 s"),
        (
            {"missed": 2},
            {},
            "Good: 2 solves above tolerance, the worst off by 0.1 % of the contact speed (Cube.014 on Floor, "
            "frame 88), too little to see. Baked 250 frames in 41 s",
        ),
        (
            {"missed": 1, "worst": {**WORST, "residual": 0.05}},
            {},
            "May be seen: 1 solve above tolerance, off by 5 % of the contact speed (Cube.014 on Floor, frame 88); "
            "more Iterations or Substeps make it smaller. Baked 250 frames in 41 s",
        ),
        ({"contacts": 0}, {}, "Baked 250 frames in 41 s"),
        ({"contacts": 0}, {"stopped": True}, "Stopped. Baked 250 frames in 41 s"),
        ({"contacts": 0}, {"error": "Cube: is lost"}, "Failed: Cube: is lost. Baked 250 frames in 41 s"),
        ({"contacts": 0, "seconds_by_part": {"compile": 30}}, {}, "Baked 250 frames in 11 s after compiling for 30 s"),
        (
            {"contacts": 0},
            {"kept": (1, 50), "kept_settings": True},
            "Baked frames 51 to 250 in 41 s; frames 1 to 50 are those of before, with their settings",
        ),
        ({"contacts": 0}, {"kept": (1, 250)}, "Fetched back frames 1 to 250 in 41 s"),
        ({"contacts": 0}, {"kept": (1, 50)}, "Baked frames 51 to 250 in 41 s; frames 1 to 50 are those of before"),
    ],
)
def test_summary_is_a_sentence(values, arguments, sentence):
    assert bake_report.summary_sentence(totals(**values), **arguments) == sentence


def test_shares_have_two_digits():
    assert [bake_report.percent_text(share) for share in (2e-6, 3.44e-4, 0.0344, 0.214, 0.996, 11.969)] == [
        "less than 0.01 %", "0.034 %", "3.4 %", "21 %", "100 %", "1,200 %"
    ]  # fmt: skip


def test_the_bar_of_a_bake_never_runs_back(drop, monkeypatch):
    """Where all is compiled: animation is read before it is simulated, keyframes are written object by object."""
    drop.key(drop.body("Pusher", type="PASSIVE", location=(5, 0, 0)), "location", {1: (5, 0, 0), 25: (6, 0, 0)})
    drop.body("Other", location=(9, 0, 3))
    monkeypatch.setattr(keyframes, "CHUNK", 1)
    bake_scene(drop.scene, FAST)  # compiles
    seen = []
    bake_scene(drop.scene, FAST, seen.append)
    assert [progress.stage for progress in seen].count("write") > 1
    assert any(progress.text.startswith(f"Reading animation, frame {25 + bake.FRAMES_AHEAD}") for progress in seen)
    assert {progress.text for progress in seen if progress.stage == "compile"} == {"Loading the solver"}
    factors = [progress.factor for progress in seen]
    assert factors == sorted(factors)
    assert (factors[0], factors[-1]) == (0.0, 1.0)


def test_animation_is_read_ahead_and_the_first_frame_does_not_wait_for_it(drop, monkeypatch):
    """Each reading makes a window draw its scene several times: one a frame would be slow, all at first late."""
    drop.key(drop.body("Pusher", type="PASSIVE", location=(5, 0, 0)), "location", {1: (5, 0, 0), 25: (6, 0, 0)})
    readings = []
    for ahead in (0.0, bake.READ_AHEAD):
        monkeypatch.setattr(bake, "READ_AHEAD", ahead)
        seen = []
        bake_scene(drop.scene, FAST, seen.append)
        stages = [progress.stage for progress in seen if progress.stage in ("animation", "simulate")]
        assert stages[:2] == ["animation", "simulate"]
        readings.append([progress.text for progress in seen if progress.stage == "animation"])
    assert readings[0][0].startswith(f"Reading animation, frame {2 + bake.FRAMES_AHEAD}")
    assert len(readings[0]) == 24
    assert len(readings[1]) < 12


def test_escape_while_keys_are_written_loses_nothing(drop):
    """The frames are all there, and are kept."""
    for number in range(70):
        drop.body(f"Other {number}", location=(3 + 2 * number, 0, 1))
    steps = bake_frames(drop.scene, FAST)
    next(progress for progress in steps if progress.stage == "write")
    assert steps.throw(BakeStopped()).stage == "write"
    for _ in steps:
        pass
    assert drop.scene.cairn.baked_end == 25
    assert drop.scene.cairn.summary.startswith("Good: all contacts within tolerance. Baked 25 frames in ")
    assert len(key_frames(drop.scene.objects["Falling"])) > 10


def test_the_bar_of_a_bake_that_prepares_never_runs_back(drop, monkeypatch):
    """Making convex parts fills half of it, compiling half of what is left, and the frames all the rest."""
    bake_scene(drop.scene, FAST)  # compiles
    reads, seen = [], []

    def read(*arguments, **keywords):
        reads.append(export_for_bake(*arguments, **keywords))
        if len(reads) == 1:
            reads[0].pending[:] = [("Ring", None), ("Bowl", None)]
        return reads[-1]

    def decompose(decompositions):
        yield from (0, 0, 1)

    def compile_kernels(options, shape_kinds, body_count, joints, waits, fields, guides, rolls):
        yield 0, 0, ""
        for done in range(4):
            yield done, 4, "a_kernel"

    monkeypatch.setattr(scene_preparation, "export_for_bake", read)
    monkeypatch.setattr(concave_shapes, "decompose", decompose)
    monkeypatch.setattr(scene_preparation.runtime, "compile_kernels", compile_kernels)
    bake_scene(drop.scene, FAST, seen.append)
    factors = [progress.factor for progress in seen]
    assert factors == sorted(factors)
    last = {progress.stage: progress.factor for progress in seen}
    assert {stage: last[stage] for stage in ("decompose", "export", "compile", "write")} == {
        **{"decompose": pytest.approx(0.25, abs=0.01), "export": 0.5, "compile": 0.75},
        "write": 1.0,
    }
    assert 0.75 < last["simulate"] < 1.0  # what is left of the bar is for the keyframes
    assert next(progress.factor for progress in seen if progress.stage == "simulate") >= 0.75


def test_loading_is_not_called_compiling(drop):
    """What is compiled already is only loaded, and counts as a part of the bake's own time."""
    bake_scene(drop.scene, FAST)
    seconds = bake_scene(drop.scene, FAST).report["totals"]["seconds_by_part"]
    assert seconds["compile"] == 0.0 < seconds["load"]


def test_durations_read_as_people_say_them():
    assert [bake_report.duration_text(seconds) for seconds in (0.04, 9.97, 59.6, 200, 7500)] == [
        "0.0 s", "10 s", "1 min 0 s", "3 min 20 s", "2 h 5 min"
    ]  # fmt: skip


# Between two steps


def test_between_steps_the_scene_is_as_the_user_left_it(drop):
    """An animated body makes the bake evaluate frames; nobody sees it."""
    drop.key(drop.scene.objects["Lying"], "location", {1: (3, 0, 0.5), 30: (5, 0, 0.5)})
    drop.key(drop.scene.objects["Lying"], "rigid_body.kinematic", {1: True})
    drop.scene.frame_set(7)
    before = visible_state(drop.scene)
    stages = []
    for progress in bake_frames(drop.scene, FAST):
        stages.append(progress.stage)
        assert visible_state(drop.scene) == before, progress.text
    assert list(dict.fromkeys(stages)) == ["export", "compile", "animation", "simulate", "write"]


def test_an_earlier_bake_is_seen_until_the_new_one_is_done(drop):
    drop.key(drop.scene.objects["Lying"], "location", {1: (3, 0, 0.5), 30: (5, 0, 0.5)})
    drop.key(drop.scene.objects["Lying"], "rigid_body.kinematic", {1: True, 9: False})
    bake_scene(drop.scene, FAST)
    drop.scene.frame_set(12)
    before, shown = visible_state(drop.scene), world_at(drop.scene, "Lying", 12)
    steps = bake_frames(drop.scene, BakeSettings(start=1, end=12))
    for progress in steps:
        if progress.text.startswith("Removing the bake before"):
            break
        assert visible_state(drop.scene) == before, progress.text
        evaluated = drop.scene.objects["Lying"].evaluated_get(bpy.context.view_layer.depsgraph)
        assert np.array(evaluated.matrix_world) == pytest.approx(shown, abs=1e-6), progress.text
    assert drop.scene.cairn.baked_end == 12


def test_esc_after_the_last_key_stops_nothing(drop):
    """All that is left then are the actions of the bake before."""
    bake_scene(drop.scene, FAST)
    names = sorted(action.name for action in bpy.data.actions)
    steps = bake_frames(drop.scene, BakeSettings(start=1, end=12))
    next(progress for progress in steps if progress.text.startswith("Removing the bake before"))
    assert len(bpy.data.actions) == 2 * len(names)
    with pytest.raises(StopIteration) as end:
        steps.throw(BakeStopped())
    assert end.value.value.frame_end == drop.scene.cairn.baked_end == 12
    assert sorted(action.name for action in bpy.data.actions) == names


def test_a_file_saved_during_a_bake_never_says_baking(drop, tmp_path):
    steps = bake_frames(drop.scene, FAST)
    next(progress for progress in steps if progress.stage == "simulate")
    drop.save(tmp_path / "autosave.blend")
    steps.close()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "autosave.blend"))
    scene = bpy.context.scene
    assert not scene.cairn.is_baked
    assert scene.rigidbody_world.enabled or scene.cairn.world_waits
    assert bake_scene(scene, FAST).summary.startswith("Good: all contacts within tolerance. Baked 25 frames")


# Early ends


def rest_of(steps):
    """Stages of the steps that are left, and what they return."""
    stages = set()
    while True:
        try:
            stages.add(next(steps).stage)
        except StopIteration as end:
            return stages, end.value


def test_stopping_keeps_the_frames_so_far(drop):
    steps = bake_frames(drop.scene, FAST)
    next(progress for progress in steps if progress.frame == 10)
    assert steps.throw(BakeStopped()).stage == "write"
    stages, result = rest_of(steps)
    assert stages == {"write"}
    assert (result.stopped, result.error, result.frame_end) == (True, None, 10)
    assert key_frames(drop.scene.objects["Falling"]) == list(range(1, 11))
    assert (drop.scene.cairn.baked_end, drop.scene.cairn.requested_end) == (10, 25)


def test_stopping_before_the_first_frame_changes_nothing(drop):
    before = visible_state(drop.scene)
    steps = bake_frames(drop.scene, FAST)
    next(steps)
    with pytest.raises(BakeStopped):
        steps.throw(BakeStopped())
    assert visible_state(drop.scene) == before


def test_a_body_that_was_not_let_go_yet_keeps_its_own_animation(drop):
    """Stopped at frame 10, while the body is carried until frame 20."""
    body = drop.scene.objects["Falling"]
    drop.key(body, "location", {1: (0, 0, 3), 21: (2.0, 0, 3)})
    drop.key(body, "rigid_body.kinematic", {1: True, 20: False})
    own = body.animation_data.action
    steps = bake_frames(drop.scene, FAST)
    next(progress for progress in steps if progress.frame == 10)
    steps.throw(BakeStopped())
    for _ in steps:
        pass
    assert body.animation_data.action == own
    assert drop.scene.objects["Lying"].cairn.is_baked


@pytest.mark.parametrize("stage", ["export", "compile", "simulate", "write"])
def test_closing_at_any_stage_leaves_the_scene_unchanged(drop, stage):
    before, actions = visible_state(drop.scene), len(bpy.data.actions)
    steps = bake_frames(drop.scene, FAST)
    next(progress for progress in steps if progress.stage == stage)
    steps.close()
    assert visible_state(drop.scene) == before
    assert len(bpy.data.actions) == actions


def fail_at(monkeypatch, frame):
    steps = Simulation.frame_steps

    def failing(self, frame_input=None):
        if self.frame + 1 == frame:
            raise SimulationError("Falling: its motion is no longer finite")
        return steps(self, frame_input)

    monkeypatch.setattr(Simulation, "frame_steps", failing)


def test_failure_keeps_the_frames_before_it(drop, monkeypatch):
    fail_at(monkeypatch, 6)
    result = bake_scene(drop.scene, FAST)
    assert "no longer finite" in result.error
    assert "Baked 6 frames in " in result.summary
    assert result.summary.startswith("Failed: ")
    assert key_frames(drop.scene.objects["Falling"]) == [1, 2, 3, 4, 5, 6]


def test_failure_in_the_first_frame_changes_nothing(drop, monkeypatch):
    before = visible_state(drop.scene)
    fail_at(monkeypatch, 1)
    with pytest.raises(SimulationError):
        bake_scene(drop.scene, FAST)
    assert visible_state(drop.scene) == before


def test_a_scene_without_a_world_is_refused(maker):
    """In a script, where the button's own condition is not asked."""
    cairn.register()
    scene = bpy.data.scenes.new("Without")
    with pytest.raises(SceneError, match="has no Rigid Body World"):
        bake_scene(scene, FAST)


def test_a_scene_in_which_nothing_moves_is_refused(drop):
    for name in ("Falling", "Lying"):
        drop.scene.objects[name].rigid_body.type = "PASSIVE"
    before = visible_state(drop.scene)
    with pytest.raises(SceneError, match="Active"):
        bake_scene(drop.scene, FAST)
    assert visible_state(drop.scene) == before


def test_an_object_deleted_during_a_bake_is_named(drop):
    steps = bake_frames(drop.scene, FAST)
    next(progress for progress in steps if progress.frame == 10)
    bpy.data.objects.remove(drop.scene.objects["Lying"])
    with pytest.raises(SceneError, match="Lying"):
        for _ in steps:
            pass
    assert drop.scene.objects["Falling"].animation_data is None


def test_a_bake_changes_no_range_and_no_user_preference(drop):
    scene = drop.scene
    scene.frame_start, scene.frame_end, scene.frame_preview_end = 5, 77, 33
    cache = drop.world.point_cache
    before = (scene.frame_start, scene.frame_end, scene.frame_preview_end, scene.render.frame_map_new, cache.frame_end)
    bake_scene(scene, FAST)
    after = (scene.frame_start, scene.frame_end, scene.frame_preview_end, scene.render.frame_map_new, cache.frame_end)
    assert after == before


def test_motion_plays_in_a_file_without_cairn(drop, tmp_path):
    """The keys are Blender's own: a process that has never heard of Cairn shows the same poses."""
    import subprocess
    import sys

    bake_scene(drop.scene, FAST)
    drop.save(tmp_path / "baked.blend")
    code = (
        "import bpy, sys\n"
        "bpy.ops.wm.open_mainfile(filepath=sys.argv[1])\n"
        "bpy.context.scene.frame_set(15)\n"
        "print('z =', bpy.context.scene.objects['Falling'].matrix_world.translation.z)\n"
        "bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "baked.blend")], capture_output=True, text=True, timeout=60
    )
    height = next(float(line.split("=")[1]) for line in done.stdout.splitlines() if line.startswith("z ="))
    assert height == pytest.approx(world_at(drop.scene, "Falling", 15)[2, 3], abs=1e-6)
    # ... and the bookkeeping has come through its saving
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "baked.blend"))
    assert attach.delete_bake(bpy.context.scene) == 2
    scene = bpy.context.scene
    assert scene.rigidbody_world.enabled or scene.cairn.world_waits
    with simulation_paused(bpy.context.scene):
        assert world_at(bpy.context.scene, "Falling", 15)[2, 3] == pytest.approx(3)
