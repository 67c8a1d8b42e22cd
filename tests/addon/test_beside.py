"""Frames simulated in a process of their own: the same motion, an end at any time, and a reason where it fails."""

import json
import time
from pathlib import Path

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon import bake, beside
from cairn.addon.bake import BakeStopped, bake_frames, bake_scene
from cairn.addon.checkpoints import in_window
from cairn.addon.settings import BakeSettings
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.simulation_beside import SimulationBeside

FRAMES = 24
# for a Python to start, and to load what it needs [s]
PATIENCE = 240.0


@pytest.fixture
def scene(maker, tmp_path):
    """A box that falls on a plate that moves and grows, and one that hangs in the air for long."""
    cairn.register()
    maker.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(20, 20, 1))
    plate = maker.body("Plate", shape="BOX", type="PASSIVE", location=(0, 0, 0.2), scale=(3, 3, 0.2))
    maker.key(plate, "location", {1: (0, 0, 0.2), FRAMES: (1.5, 0, 0.2)})
    maker.body("Box", shape="BOX", location=(0, 0, 1.2))
    maker.body("High", shape="BOX", location=(5, 0, 30), rotation_euler=(0.1, 0.2, 0.3))
    maker.scene.frame_end = maker.world.point_cache.frame_end = FRAMES
    maker.save(tmp_path / "shot.blend")
    return maker.scene


def settings(scene):
    return BakeSettings.from_scene(scene)


def unbroken(scene):
    return bake_scene(scene, settings(scene)).report["totals"]["digest"]


@pytest.fixture
def from_the_start(monkeypatch):
    monkeypatch.setattr(bake, "MANY", 0)


def test_the_same_bits_from_the_start(scene, from_the_start):
    """Frames are sent ahead only as far as the animation is read; each is reported once, and joined by its report."""
    seen = []
    digest = unbroken(scene)
    result = bake_scene(scene, settings(scene), seen.append, beside=True)
    assert result.report["totals"]["digest"] == digest
    assert any(progress.waits for progress in seen)
    reported = [progress.frame for progress in seen if progress.report is not None]
    assert reported == list(range(2, FRAMES + 1))
    assert [report.frame for report in result.reports] == list(range(1, FRAMES))
    assert result.report["totals"]["seconds_by_part"]["simulate"] > 0.0


def test_the_same_bits_from_the_frame_on_that_takes_long(scene, monkeypatch):
    """The process starts after the first frame, and takes over between two later ones."""
    digest, here = unbroken(scene), []

    def frame_steps(self, frame_input):
        here.append(self.frame)
        time.sleep(0.3)
        return (yield from steps(self, frame_input))

    steps = Simulation.frame_steps
    monkeypatch.setattr(Simulation, "frame_steps", frame_steps)
    monkeypatch.setattr(bake, "LONG_FRAME", 0.0)
    assert bake_scene(scene, settings(scene), beside=True).report["totals"]["digest"] == digest
    assert here == list(range(len(here)))
    assert len(here) < FRAMES - 1


def test_a_bake_of_few_bodies_starts_no_process(scene, monkeypatch):
    monkeypatch.setattr(SimulationBeside, "__init__", lambda self: pytest.fail("a process"))
    bake_scene(scene, settings(scene), beside=True)


def test_escape_is_heard_in_the_middle_of_a_frame(scene, from_the_start, monkeypatch):
    """Frame 12 is never done. No step takes long; the frames before it are kept, and the bake can be continued."""
    digest = unbroken(scene)
    keep = SimulationBeside.receive
    monkeypatch.setattr(SimulationBeside, "receive", lambda self: keep(self) if self.frame < 10 else None)
    steps = bake_frames(scene, settings(scene), in_window.plan_of(scene), beside=True)
    begun = time.monotonic()
    for progress in steps:
        if progress.frame == 11 and progress.waits:
            break
        assert time.monotonic() - begun < PATIENCE
    pressed = time.monotonic()
    result = to_the_end(steps)
    assert time.monotonic() - pressed < 5.0  # the frame itself would never end
    assert result.stopped
    assert (scene.cairn.baked_start, scene.cairn.baked_end) == (1, 11)
    monkeypatch.setattr(SimulationBeside, "receive", keep)
    assert bpy.ops.cairn.continue_bake() == {"FINISHED"}
    assert json.loads(scene.cairn.report)["totals"]["digest"] == digest


def to_the_end(steps):
    """Stop a bake; returns its result."""
    try:
        steps.throw(BakeStopped())
        while True:
            next(steps)
    except StopIteration as end:
        return end.value


def test_without_a_process_frames_are_simulated_here_and_it_is_said(scene, from_the_start, monkeypatch):
    digest = unbroken(scene)
    monkeypatch.setattr("sys.executable", "")
    result = bake_scene(scene, settings(scene), beside=True)
    assert result.report["totals"]["digest"] == digest
    assert any("frozen meanwhile" in note["text"] for note in result.report["notes"])


def test_a_process_that_ends_at_once_is_done_without(scene, from_the_start, monkeypatch):
    digest, init = unbroken(scene), SimulationBeside.__init__

    def start(self):
        init(self)
        self._process.kill()

    monkeypatch.setattr(SimulationBeside, "__init__", start)
    result = bake_scene(scene, settings(scene), beside=True)
    assert result.report["totals"]["digest"] == digest
    assert any("frozen meanwhile" in note["text"] for note in result.report["notes"])


def test_a_process_that_ends_in_between_leaves_the_frames_before(scene, from_the_start):
    """As any failure: the frames so far are kept, and why it ended is said."""
    steps, killed = bake_frames(scene, settings(scene), beside=True), False
    while True:
        try:
            progress = next(steps)
        except StopIteration as end:
            result = end.value
            break
        if progress.frame == 6 and not killed:
            killed = True
            state = steps.gi_frame.f_locals["bake"].beside.state
            state._process.kill()
            state._process.wait()
            # what it had sent ahead is lost, too
            for path in Path(state._folder).glob("*.out"):
                path.unlink()
    assert "has ended" in result.error
    assert scene.cairn.baked_end == 6


def test_a_checkpoint_of_an_earlier_frame_is_written_with_the_frames_up_to_it(scene, from_the_start):
    """As many frames as the last checkpoint has are recorded, with their velocities."""
    plan = in_window.plan_of(scene)
    bake_scene(scene, settings(scene), checkpoints=plan, beside=True)
    stored, _ = bake_checkpoint(plan.folder)
    assert stored["frame"] == FRAMES - 1


def bake_checkpoint(folder):
    from cairn.addon.checkpoints import folder as files
    from cairn.addon.checkpoints.running import read_recording

    stored, arrays = files.read_file(folder / files.STATE)
    recording = read_recording(folder, stored)
    assert np.isfinite(recording.velocity).all()
    return stored, arrays


def test_few_frames_are_sent_ahead(scene, from_the_start, monkeypatch):
    monkeypatch.setattr(beside, "AHEAD", 3)
    most, send = [], SimulationBeside.send

    def counted(self, *arguments, **keywords):
        send(self, *arguments, **keywords)
        most.append(self.waiting)

    monkeypatch.setattr(SimulationBeside, "send", counted)
    bake_scene(scene, settings(scene), beside=True)
    assert max(most) <= 4
