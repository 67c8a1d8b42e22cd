"""A bake that is stopped, killed or robbed of its disk goes on to the same bits; what is there is never harmed."""

import errno
import json
import os
import random
import shutil
import signal
import struct
import sys
import time
import zipfile
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from command_line import run, start
from joint_scenes import joint

from cairn.addon.checkpoints import folder as files
from cairn.addon.checkpoints import running

FRAMES = 40
BOXES = 12


@pytest.fixture
def shot(maker, tmp_path):
    """Boxes that fall on a plate that is carried to and fro, a growing ball, a hinge, and a rope that breaks."""
    random_state = np.random.default_rng(1)
    maker.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(20, 20, 1))
    plate = maker.body("Plate", shape="BOX", type="PASSIVE", location=(0, 0, 0.2), scale=(3, 3, 0.2))
    maker.key(plate, "location", {1: (0, 0, 0.2), 20: (1.5, 0, 0.2), 40: (0, 0, 0.2)})
    ball = maker.body("Ball", shape="SPHERE", type="PASSIVE", location=(4, 0, 0.5))
    maker.key(ball, "scale", {1: (1, 1, 1), 30: (2, 2, 2)})
    for number in range(BOXES):
        place = (0.3 * random_state.random(), 0.3 * random_state.random(), 1.0 + 1.1 * number)
        maker.body(f"Box {number}", shape="BOX", location=place, rotation_euler=random_state.random(3))
    launched = maker.body("Launched", shape="BOX", location=(-5, 0, 3))
    maker.key(launched, "location", {1: (-5, 0, 3), 11: (-4, 0, 3)})
    maker.key(launched, "rigid_body.kinematic", {1: True, 11: False})
    swing = [maker.body(f"Swing {number}", shape="BOX", location=(6, 2.0 * number, 4)) for number in range(2)]
    joint(maker, "Hinge", None, swing[0], kind="HINGE", location=(6, 0.5, 5), rotation_euler=(0, 1.5, 0))
    joint(maker, "Rope", None, swing[1], location=(6, 2.5, 5), use_breaking=True, breaking_threshold=0.5)
    maker.scene.frame_end = maker.world.point_cache.frame_end = FRAMES
    return maker.save(tmp_path / "shot.blend")


@pytest.fixture
def whole(shot):
    """Report and keys of the shot, baked without a stop."""
    return baked(shot, "whole")


def baked(shot, name, *options):
    """Run one bake to the end: what its report says of the motion, and the keys that it has written."""
    out = shot.with_name(f"{name}.blend")
    report = shot.with_name(f"{name}.json")
    code, _, lines = run("bake", shot, "-o", out, "--report", report, "--quiet", *options)
    assert code == 0, lines
    return outcome(out, report)


def outcome(out, report):
    told = json.loads(report.read_text())
    for frame in told["frames"]:
        frame.pop("seconds")
    bpy.ops.wm.open_mainfile(filepath=str(out), load_ui=False)
    keys = {}
    for action in bpy.data.actions:
        for bag in (bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags):
            for curve in bag.fcurves:
                points = np.empty(2 * len(curve.keyframe_points), np.float32)
                curve.keyframe_points.foreach_get("co", points)
                keys[action.name, curve.data_path, curve.array_index] = points.tobytes()
    return told["totals"]["digest"], told["frames"], told["breaks"], told["notes"], keys


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# Stops


def test_a_bake_in_stages_is_the_unbroken_one(shot, whole):
    """Motion, report and keys; the folder of the checkpoints is gone at the end."""
    out = shot.with_name("stages.blend")
    for until in (5, 5, 17, 30):
        code, said, lines = run("bake", shot, "-o", out, "--resume", "--until", until)
        assert code == 0, lines
        assert f"stopped after frame {until}" in said
        assert not out.exists()
    assert (shot.parent / "stages.checkpoint" / "state.npz").exists()
    assert baked(shot, "stages", "--resume") == whole
    assert not (shot.parent / "stages.checkpoint").exists()


def test_resume_without_a_checkpoint_begins_at_the_start(shot, whole):
    assert baked(shot, "new", "--resume") == whole


def test_a_bake_goes_on_to_another_last_frame(shot, whole):
    """Stopped on its way to frame 20, it goes on to 40; one that is shorter than what is there is cut off."""
    out = shot.with_name("longer.blend")
    assert run("bake", shot, "-o", out, "--end", 20, "--until", 15)[0] == 0
    assert baked(shot, "longer", "--resume") == whole
    assert run("bake", shot, "-o", out, "--until", 25)[0] == 0
    shorter = baked(shot, "longer", "--resume", "--end", 12)
    assert shorter[1] == whole[1][:11]


def test_checkpoints_do_not_change_a_bake(shot, whole):
    assert baked(shot, "every", "--checkpoint", "1") == whole


# kill -9


def kill_at(shot, moment, out):
    """Start a bake and kill it after so many seconds; says whether it still ran."""
    process = start("bake", shot, "-o", out, "--checkpoint", "1", "--quiet")
    time.sleep(moment)
    running_still = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return running_still


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("kills", [4, pytest.param(200, marks=pytest.mark.nightly)])
def test_killed_at_any_moment(shot, whole, kills):
    """The earlier output stays as it was until the new one is whole; and the same bits come of it."""
    out = shot.with_name("killed.blend")
    begun = time.monotonic()
    assert start("bake", shot, "-o", out, "--checkpoint", "1", "--quiet").wait() == 0
    duration = time.monotonic() - begun
    moments, killed = random.Random(kills), 0
    while killed < kills:
        out.write_bytes(b"earlier")
        # half of them while frames are computed and written, which is at the end of a short bake
        first = 0.0 if killed % 2 else 0.6
        if not kill_at(shot, moments.uniform(first, 1.0) * duration, out):
            continue
        killed += 1
        if out.read_bytes() != b"earlier":  # it was killed after saving: what is there is whole
            bpy.ops.wm.open_mainfile(filepath=str(out), load_ui=False)
            assert bpy.context.scene.cairn.baked_end == FRAMES
        assert baked(shot, "killed", "--resume") == whole
        assert not shot.with_name("killed.checkpoint").exists()
    for path in shot.parent.glob(".killed-*.blend"):  # of bakes that were killed while they saved
        path.unlink()


# Foreign and damaged checkpoints


def another_tolerance(shot):
    return ["--tolerance", "1e-3"], "tolerance"


def another_start(shot):
    return ["--start", "2"], "begins at frame 1"


def another_scene(shot):
    bpy.ops.wm.open_mainfile(filepath=str(shot), load_ui=False)
    bpy.data.objects["Box 3"].rigid_body.friction = 0.1
    bpy.data.objects["Box 5"].location.x += 0.5
    bpy.ops.wm.save_as_mainfile(filepath=str(shot), check_existing=False)
    return [], "friction of Box 3"


def one_body_less(shot):
    bpy.ops.wm.open_mainfile(filepath=str(shot), load_ui=False)
    bpy.data.objects.remove(bpy.data.objects["Box 3"])
    bpy.ops.wm.save_as_mainfile(filepath=str(shot), check_existing=False)
    return [], "1 removed body"


def state_cut_off(shot):
    state = shot.parent / "out.checkpoint" / "state.npz"
    state.write_bytes(state.read_bytes()[:-500])
    return [], "state.npz is damaged"


def garble(path):
    """Change a byte of the largest array; between the arrays there are bytes that say nothing, such as a time."""
    with zipfile.ZipFile(path) as archive:
        largest = max(archive.infolist(), key=lambda member: member.compress_size)
    content = bytearray(path.read_bytes())
    name_and_extra = sum(struct.unpack_from("<HH", content, largest.header_offset + 26))
    content[largest.header_offset + 30 + name_and_extra + largest.compress_size // 2] ^= 0xFF
    path.write_bytes(content)


def state_garbled(shot):
    garble(shot.parent / "out.checkpoint" / "state.npz")
    return [], "state.npz is damaged"


def state_of_something_else(shot):
    np.savez(shot.parent / "out.checkpoint" / "state.npz", position=np.zeros(3))
    return [], "state.npz is damaged"


def state_empty(shot):
    (shot.parent / "out.checkpoint" / "state.npz").write_bytes(b"")
    return [], "state.npz"


def state_with_objects(shot):
    """What NumPy would have to unpickle is refused."""
    np.savez(shot.parent / "out.checkpoint" / "state.npz", json=np.array([{}], object))
    return [], "state.npz is damaged"


def piece_missing(shot):
    next((shot.parent / "out.checkpoint").glob("frames-*-000006.npz")).unlink()
    return [], "000006.npz: No such file"


def piece_garbled(shot):
    garble(next((shot.parent / "out.checkpoint").glob("frames-*-000000.npz")))
    return [], "000000.npz is damaged"


def another_version(shot):
    place = shot.parent / "out.checkpoint" / "state.npz"
    text, arrays = files.read_file(place)
    text["identity"]["versions"]["processor"] = "z80"
    files.write_file(place, text, arrays, compress=True)
    return [], "processor z80"


DAMAGES = [
    another_tolerance,
    another_start,
    another_scene,
    one_body_less,
    state_cut_off,
    state_garbled,
    state_of_something_else,
    state_empty,
    state_with_objects,
    piece_missing,
    piece_garbled,
    another_version,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_checkpoint_that_cannot_be_used(shot, damage):
    """One line that says why; checkpoint and earlier output stay as they were."""
    out = shot.with_name("out.blend")
    assert run("bake", shot, "-o", out, "--checkpoint", "5", "--until", 12)[0] == 0
    out.write_bytes(b"earlier")
    options, word = damage(shot)
    before = contents(shot.parent)
    code, said, lines = run("bake", shot, "-o", out, "--resume", "--quiet", *options)
    assert (code, said) == (2, "")
    assert len(lines) == 1
    assert word in lines[0]
    assert contents(shot.parent) == before


# Disks and folders


@pytest.fixture
def after_frame(monkeypatch):
    """Calls a function when the simulation has done so many frames."""
    from cairn.solver_core.simulation import Simulation

    steps = Simulation.frame_steps

    def install(frame, function):
        def frame_steps(self, *arguments, **options):
            report = yield from steps(self, *arguments, **options)
            if self.frame == frame:
                function()
            return report

        monkeypatch.setattr(Simulation, "frame_steps", frame_steps)

    return install


def test_a_full_disk_costs_the_checkpoint_not_the_bake(shot, whole, monkeypatch):
    """The bake ends as ever and warns; what had been stored before still serves."""

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    out = shot.with_name("full.blend")
    assert run("bake", shot, "-o", out, "--until", 8)[0] == 0
    place = shot.with_name("full.checkpoint")
    before = contents(place)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        code, _, lines = run("bake", shot, "-o", out, "--resume", "--until", 20)
        assert code == 2
        assert len([line for line in lines if "No space left on device" in line]) == 1
        assert contents(place) == before
        found = baked(shot, "full", "--resume", "--checkpoint", "5")
    assert found[0] == whole[0]
    assert [note["text"] for note in found[3] if "No space" in note["text"]] == [
        f"no checkpoint could be written in {place}: No space left on device"
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_a_disk_that_is_full_when_the_result_is_saved(shot, whole):
    """The system itself refuses to write files as large as the output: the earlier one stays, and a bake goes on."""
    import resource

    out = shot.with_name("limited.blend")
    out.write_bytes(b"earlier")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = shot.with_name("whole.blend").stat().st_size - 1000
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        code, _, lines = run("bake", shot, "-o", out, "--checkpoint", "8", "--quiet")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert code == 1
    assert len(lines) == 1
    assert "could not save" in lines[0]
    assert f"--resume goes on from frame {FRAMES}" in lines[0]
    assert out.read_bytes() == b"earlier"
    assert baked(shot, "limited", "--resume") == whole


def test_a_cleared_folder_is_filled_again(shot, whole, after_frame):
    """Somebody deletes the checkpoints while the bake runs: the next one is complete without them."""
    out, place = shot.with_name("cleared.blend"), shot.with_name("cleared.checkpoint")
    after_frame(12, lambda: shutil.rmtree(place))
    assert run("bake", shot, "-o", out, "--checkpoint", "5", "--until", 22)[0] == 0
    assert baked(shot, "cleared", "--resume") == whole


def test_a_folder_that_vanishes(shot, after_frame):
    """With the folder of the output: exit code 1, one line, and nothing made in its place."""
    place = shot.parent / "results"
    place.mkdir()
    after_frame(12, lambda: shutil.rmtree(place))
    code, _, lines = run("bake", shot, "-o", place / "out.blend", "--checkpoint", "5", "--quiet")
    assert code == 1
    assert len(lines) == 1
    assert "could not save" in lines[0]
    assert not place.exists()


def test_removing_them_begins_with_what_names_the_others(shot, monkeypatch):
    """A bake that is killed while it tidies up leaves pieces without a checkpoint, and not the other way round."""
    out = shot.with_name("out.blend")
    assert run("bake", shot, "-o", out, "--checkpoint", "5", "--until", 12)[0] == 0
    removed, unlink = [], files.Path.unlink
    monkeypatch.setattr(files.Path, "unlink", lambda path: (removed.append(path.name), unlink(path)))
    files.clear(shot.with_name("out.checkpoint"))
    assert removed[0] == "state.npz"
    assert len(removed) == 4


def test_other_files_in_the_folder_stay(shot):
    """Only what a bake itself has written is removed."""
    place = shot.with_name("mine.checkpoint")
    place.mkdir()
    (place / "notes.txt").write_text("mine")
    baked(shot, "mine", "--checkpoint", "5")
    assert [path.name for path in place.iterdir()] == ["notes.txt"]


def test_a_new_bake_says_what_it_replaces(shot, whole):
    out = shot.with_name("twice.blend")
    assert run("bake", shot, "-o", out, "--until", 8)[0] == 0
    code, _, lines = run("bake", shot, "-o", out, "--until", 4, "--solver", "nncg")
    assert code == 0
    assert "up to frame 8" in lines[0]
    pieces = list(shot.with_name("twice.checkpoint").glob("frames-*"))
    assert len(pieces) == 1
    assert baked(shot, "twice") == whole


# When


def test_by_the_clock_checkpoints_take_a_hundredth_of_the_time(monkeypatch, tmp_path):
    """Every 10 s; but each 0.3 s that the two halves of one take are followed by 30 s without."""
    clock = [100.0]
    monkeypatch.setattr(running.time, "perf_counter", lambda: clock[0])
    checkpoints = running.BakeCheckpoints(running.CheckpointPlan(folder=tmp_path, every_seconds=10.0))
    checkpoints._last_end, written = clock[0], []

    def write_piece(place, checkpoint, trajectory):
        written.append(clock[0])
        clock[0] += 0.1
        checkpoints._unwritten = checkpoint, "piece"

    def write_state(place, checkpoint, name):
        clock[0] += 0.2

    monkeypatch.setattr(checkpoints, "_write_piece", write_piece)
    monkeypatch.setattr(checkpoints, "_write_state", write_state)

    class Moving:
        frame_count = 0
        velocities = staticmethod(lambda: None)

        @classmethod
        def checkpoint(cls):
            return SimpleNamespace(frame=cls.frame_count)

    while clock[0] < 200.0:
        clock[0] += 1.0
        Moving.frame_count += 1
        checkpoints.complete()
        checkpoints.note_frame(Moving, Moving)
    assert written[0] == pytest.approx(110.0)
    assert np.diff(written).min() >= 30.0
    assert len(written) >= 3
    assert checkpoints.seconds <= 0.01 * (clock[0] - 100.0)


@pytest.mark.parametrize("given", ["soon", "-1", "nans", "1.5"])
def test_no_interval(shot, given):
    code, _, lines = run("bake", shot, f"--checkpoint={given}")
    assert (code, len(lines)) == (2, 1)
    assert "--checkpoint" in lines[0]


@pytest.mark.nightly
def test_what_checkpoints_of_1000_bodies_take(maker, tmp_path):
    """At most 2 MB, beside the frames that are recorded, and 2 % of the time to the first one: a block of boxes falls.

    Those after it keep to a hundredth by the clock (the test of that); a shorter bake has none, so here one is forced.
    """
    random_state = np.random.default_rng(2)
    maker.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(60, 60, 1))
    for number, place in enumerate(np.ndindex(10, 10, 10)):
        start = 1.3 * np.array(place) + (-6.0, -6.0, 0.7) + 0.1 * random_state.random(3)
        maker.body(f"Box {number}", shape="BOX", location=start, rotation_euler=0.3 * random_state.random(3))
    maker.scene.frame_end = maker.world.point_cache.frame_end = 80
    shot = maker.save(tmp_path / "shot.blend")
    report = tmp_path / "report.json"
    stop = ["--until", 60, "--checkpoint", "10"]
    assert run("bake", shot, "-o", tmp_path / "out.blend", *stop, "--quiet")[0] == 0
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "out.checkpoint").iterdir()}
    assert sizes.pop("state.npz") <= 2e6
    assert sum(sizes.values()) <= 60 * 0.12e6
    options = ["--checkpoint", "2s", "--report", report, "--quiet"]
    assert run("bake", shot, "-o", tmp_path / "out.blend", *options)[0] == 0
    parts = json.loads(report.read_text())["totals"]["seconds_by_part"]
    assert 0 < parts["checkpoint"] <= 0.02 * running.SECONDS, parts
