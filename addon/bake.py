"""One bake, as a generator of steps: export, compile, sample what is animated, simulate, write.

The operator runs it a slice of time per tick, the command line from beginning to end. Between two steps it holds names
and arrays, never references to Blender's data, and until keys are attached the scene is as the user left it: only
within a step are frames evaluated and an earlier bake set aside, so an autosave in between saves a sound file.
"""

import contextlib
import json
import time
from collections import deque
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import bpy

from .. import __version__
from . import contacts
from .bake_progress import BakeProgress, Forecast
from .bake_report import duration_text, report_dictionary, summary_sentence, totals_of
from .bake_result import BakeResult
from .beside import LONG_FRAME, MANY, Beside
from .checkpoints.identity import identity_of
from .checkpoints.running import BakeCheckpoints, CheckpointPlan
from .late_notes import add_late_notes
from .read import lead_in
from .read.aside import Aside
from .read.exported_scene import FrameSample
from .read.fast_turns import FastTurns, unknown_notes
from .read.faults import SceneError
from .read.frame_samples import sample_frame
from .read.guides import note_follow
from .read.jumps import note_jumps
from .read.let_go import note_let_go
from .read.notes import Note
from .read.scene_digest import baked_digest, packed, scene_digest_steps
from .read.smooth_motion import FRAMES_AHEAD, MotionWindow
from .scene_preparation import ScenePreparation
from .settings import BakeSettings
from .sight import known_scenes
from .sight.bake_view import Shown
from .write import attach, contact_points, impact_curves, keyframes, report_curves, spin

if TYPE_CHECKING:  # they load Numba
    from ..solver_core import Simulation, Trajectory

# Animated frames are evaluated in slices of so long [s].
SAMPLE_SLICE = 0.1
# The same where the window sees it (``Aside.is_seen``): each slice has to put the frame back at its end, and lets the
# window draw the whole scene anew; with an earlier bake to set aside, Blender builds its dependency graph anew, too.
SEEN_SLICE = 0.3
# Frames are evaluated ahead for as long as has been simulated, but not longer than this [s]: a window draws once after
# frames were read aside, more often where it sees them; but the first frame should be there soon.
READ_AHEAD = 1.0
# Whoever waits for a frame that is simulated beside looks again after so long [s].
SECONDS_TO_WAIT = 0.005


class BakeStopped(Exception):
    """Thrown into the generator to stop it; the frames so far are kept."""


def bake_scene(
    scene: bpy.types.Scene,
    settings: BakeSettings,
    on_progress: "Callable[[BakeProgress], object] | None" = None,
    checkpoints: CheckpointPlan | None = None,
    *,
    beside: bool = False,
) -> "BakeResult":
    """Bake from beginning to end; ``on_progress`` is called with each BakeProgress."""
    steps = bake_frames(scene, settings, checkpoints, beside=beside)
    while True:
        try:
            progress = next(steps)
            if on_progress is not None:
                on_progress(progress)
            if progress.waits:
                time.sleep(SECONDS_TO_WAIT)
        except StopIteration as end:
            return end.value


def bake_frames(
    scene: bpy.types.Scene,
    settings: BakeSettings,
    checkpoints: CheckpointPlan | None = None,
    *,
    beside: bool = False,
    keeps_earlier: bool = False,
    shows: bool = False,
) -> "Generator[BakeProgress, None, BakeResult]":
    """Bake a scene, as a generator of BakeProgress whose return value is the BakeResult.

    Throwing ``BakeStopped`` in, or a KeyboardInterrupt while it runs, ends the simulation; the frames so far are
    written. Closing the generator leaves the scene unchanged.

    Parameters
    ----------
    scene : bpy.types.Scene
    settings : BakeSettings
    checkpoints : CheckpointPlan, optional
        Without, there are none.
    beside : bool
        Simulate frames that take long in a process of their own, to the same bits, so that no step takes long.
    keeps_earlier : bool
        A bake that ends early does not take the place of one with frames that it lacks.
    shows : bool
        Draw the newest poses into the 3D views meanwhile.

    Raises
    ------
    SceneError, RuntimeUnavailable
        Nothing has changed; also if there is a checkpoint to go on from that cannot be used.
    SimulationError
        Before the first frame was done; nothing has changed. Later it ends up in ``BakeResult.error``.
    """
    bake = Bake(scene.name, settings, checkpoints, beside, shows)
    with contextlib.closing(bake.beside):
        yield from bake.frames()
    return (yield from bake.conclude(keeps_earlier))


def reading_error(scene: bpy.types.Scene, settings: BakeSettings) -> SceneError | None:
    """Why a bake would refuse the scene, found by reading it; None if it would not. The scene is as it was."""
    try:
        bake = Bake(scene.name, settings)
        deque(bake.catch_up(), maxlen=0)
        deque(bake.read_scene(), maxlen=0)
    except SceneError as error:
        return error
    return None


class Bake(ScenePreparation):
    """The state of a bake between two steps: ``frames`` simulates, and ``conclude`` writes what there is then.

    Parameters
    ----------
    scene_name : str
    settings, checkpoints, beside, shows
        As of ``bake_frames``.
    """

    # From ``frames`` on.
    digest: dict[str, Any]
    trajectory: "Trajectory"
    forecast: Forecast
    aside: Aside
    motion: MotionWindow
    fast_turns: FastTurns

    def __init__(
        self,
        scene_name: str,
        settings: BakeSettings,
        checkpoints: CheckpointPlan | None = None,
        beside: bool = False,
        shows: bool = False,
    ):
        super().__init__(scene_name, settings, in_steps=beside)
        self.checkpoints = BakeCheckpoints(checkpoints)
        self.beside, self.shown = Beside(beside), Shown(shows)
        self.seconds |= dict.fromkeys(("animation", "simulate", "checkpoint", "write"), 0.0)
        self.lead_in_names: list[str] = []
        self.lead_in: dict = {}
        self.samples: list[FrameSample] = []
        # of the last one: a sample forgets them once its frame is simulated
        self.places: Any = None
        # the last frame of which it is asked how things move, and that of which it is said
        self.last_sampled = self.last_given = 0
        # by frame of the trajectory, the bodies that turn far in it
        self.turns: dict[int, dict] = {}
        self.stopped = self.paused = False
        self.error: str | None = None
        # first and last frame that an earlier bake has left
        self.kept: tuple[int, int] | None = None

    def frames(self):
        """Read the scene and simulate it: a generator of BakeProgress, after which nothing has changed."""
        yield BakeProgress("export", 0, 0, "Reading the scene")
        yield from self.catch_up()
        # before the scene, so that what changes in between is seen; without a world the scene is refused
        if self.scene.rigidbody_world is not None:
            self.digest = yield from self.reading(scene_digest_steps(self.scene_name))
        yield from self.read_scene()
        yield from self.decompose()
        with self.evaluating_aside(), contextlib.closing(self.shown):
            yield from self.compile()
            yield BakeProgress("compile", 0, 0, "Loading the solver", self.bar_filled)
            self.note_overlaps()
            self.begin_reading_animation()
            yield from self.simulate()

    def conclude(self, keeps_earlier: bool):
        """Write the frames that there are: a generator of BakeProgress, which returns the BakeResult."""
        if self.paused or not self.trajectory.reports:  # or stopped before the first frame
            return self.result()
        if keeps_earlier and self.lacks_frames():
            return self.result(kept_earlier=True)
        add_late_notes(self.export, self.trajectory, self.turns)
        return (yield from self.write())

    def note_scene(self, scene):
        """Note what moves before the first frame, and has to be evaluated."""
        self.lead_in_names = lead_in.objects_to_sample(scene, self.export)

    def compile(self):
        """Load or compile, and start a process for the frames of what is large."""
        yield from super().compile()
        if self.is_large:
            self.beside.start()

    @property
    def is_large(self) -> bool:
        """Whether its frames are simulated beside from the start."""
        return self.export.model.joint_count + sum(body.moves for body in self.export.bodies) >= MANY

    @contextlib.contextmanager
    def evaluating_aside(self):
        """Have what is animated evaluated aside meanwhile, if there is anything.

        Begun in the step in which the scene was read, after which a window draws anew in any case.
        """
        if self.export.samples_needed or self.lead_in_names:
            with self.timed("animation"):
                self.aside = Aside(self.scene, self.export, self.lead_in_names)
            with self.aside:
                yield
        else:
            yield

    def begin_reading_animation(self):
        """Nothing is read of what is animated yet."""
        self.motion, self.fast_turns = MotionWindow(self.export), FastTurns(self.export)
        self.last_sampled = self.export.frame_end + (FRAMES_AHEAD if self.motion.is_needed else 0)

    def simulate(self):
        """Simulate frame by frame until the end, a stop or a failure; first comes what a checkpoint holds already."""
        from ..solver_core.options import SimulationOptions
        from ..solver_core.simulation import Simulation, SimulationError

        yield BakeProgress("compile", 0, 0, "Loading the solver", self.bar_filled)
        simulation = Simulation(self.export.model, SimulationOptions(**self.options))
        yield BakeProgress("compile", 0, 0, "Loading the solver", self.bar_filled)
        first, end = self.export.frame_start, self.export.frame_end
        last = self.checkpoints.last_frame(end)
        # without checkpoints nobody asks whose they are
        identity = identity_of(self.scene, self.export, self.options, self.digest) if self.checkpoints.plan else {}
        self.trajectory = self.checkpoints.begin(simulation, identity, end - first)
        begin = first + 1 + self.trajectory.frame_count
        self.kept = (first, begin - 1) if begin > first + 1 else None
        self.forecast = self._forecast(begin, last)
        self.shown.begin(self.export, self.scene_name, self.trajectory)
        yield BakeProgress("compile", 0, 0, "Loading the solver", self.bar_filled)
        try:
            for frame in range(first + 1, begin):
                yield from self._sample_up_to(frame)
                sample = self._sample_of(frame)
                self.checkpoints.arrive(simulation, frame, sample)
                self._note_turns(frame - first, self.checkpoints.velocities, sample)
                self._release(sample)
            self.beside.take_over(simulation, begin, waits=not self.is_large)
            if self.beside.simulates:
                yield self._progress("simulate", f"Frame {begin} of {end}")
            velocities = {begin - first - 1: simulation.velocities()}
            for frame in range(begin, last + 1):
                yield from self._sample_up_to(frame)
                state, report = yield from self._simulate_frame(simulation, frame, last)
                position, orientation = state.poses()
                if report.frame_contacts is not None:
                    report.frame_contacts = contacts.kept(report.frame_contacts)
                self.trajectory.append(position, orientation, report)
                self.shown.show(frame, position, orientation)
                velocities = {frame - first - 1: velocities[frame - first - 1], frame - first: state.velocities()}
                self._note_turns(frame - first, velocities, self._sample_of(frame))
                self._release(self._sample_of(frame))
                self.checkpoints.note_frame(state, self.trajectory)
                if self.checkpoints.is_half_written:
                    yield self._progress("simulate", f"Frame {frame} of {end}", frame - 1)
                    self.checkpoints.complete()
                self.forecast.note("simulate")
                yield self._progress("simulate", f"Frame {frame} of {end}", frame, report)
                if self.stopped:
                    break
            self.paused = last < end and not self.stopped
            self.checkpoints.finish(self._state_of(simulation), self.trajectory, self.paused)
            yield from self._told("simulate", f"Frame {last} of {end}")
        except SimulationError as error:
            if not self.trajectory.reports:
                raise
            self.error = f"{error} (frame {first + self.trajectory.frame_count + 1})"
        except BakeStopped:  # thrown in between two frames, other than a KeyboardInterrupt
            self.stopped = True
            self.checkpoints.finish(self._state_of(simulation), self.trajectory)
        except KeyboardInterrupt:
            self.stopped = True
        self.checkpoints.complete()
        self.seconds["checkpoint"] = self.checkpoints.seconds
        self.export.notes.extend(self.checkpoints.notes + unknown_notes(self.fast_turns.unknown))
        if self.beside.trouble:
            self.export.notes.append(Note("info", None, self.beside.trouble))
        if self.stopped or self.error:
            self.forecast.stop()

    def _note_turns(self, index: int, velocities, sample: FrameSample):
        """Remember who turns by about half a turn or more in a frame: two poses do not tell which way."""
        ends, breaks = (velocities[index - 1], velocities[index]), self.trajectory.reports[index - 1].breaks
        if self.settings.hit_keys and breaks is not None:
            turns = spin.broken_turns(*ends, sample.duration, breaks)
        else:
            turns = spin.fast_turns(*ends, sample.duration)
        if turns:
            self.turns[index] = turns

    def _release(self, sample: FrameSample):
        """Forget what has driven a frame, unless it drives all of them."""
        if sample is not self.export.default_sample:
            sample.release()

    def _state_of(self, simulation: "Simulation") -> "Any":
        """What has the poses and velocities of the last frame: the simulation, or that which is beside."""
        return self.beside.state if self.beside.simulates else simulation

    def _simulate_frame(self, simulation: "Simulation", frame: int, last: int):
        """Simulate a frame, here or beside; returns what has its poses, and its report."""
        while self.beside.simulates:
            self.beside.feed(self._known_sample_of, frame, last)
            report = self.beside.receive(simulation)
            if report is not None:
                self.seconds["simulate"] += 1e-9 * sum(report.nanoseconds)
                return self.beside.state, report
            if self.beside.simulates:
                self.forecast.note("simulate", 0)
                self.shown.look()
                yield self._progress("simulate", f"Frame {frame} of {self.export.frame_end}", frame - 1, waits=True)
        report = yield from self._simulate_here(simulation, frame, self._given_sample_of(frame))
        if 1e-9 * sum(report.nanoseconds) > LONG_FRAME:
            self.beside.start()
        self.beside.take_over(simulation, frame + 1, waits=True)
        return simulation, report

    def _simulate_here(self, simulation: "Simulation", frame: int, sample: FrameSample):
        """Simulate a frame, substep by substep, since one of many bodies takes seconds; returns its report.

        A stop within a frame waits for its end where there are checkpoints, which are of whole frames.
        """
        steps = simulation.frame_steps(sample.frame_input)
        while True:
            try:
                with self.timed("simulate"):
                    next(steps)
            except StopIteration as end:
                return end.value
            self.forecast.note("simulate", 0)
            self.shown.look()
            try:
                yield self._progress("simulate", f"Frame {frame} of {self.export.frame_end}", frame - 1)
            except BakeStopped:
                if self.checkpoints.plan is None:
                    raise
                self.stopped = True

    def _forecast(self, begin, last):
        """Of the frames from ``begin`` on, and what is to be read and written for them."""
        sampled = last - self.export.frame_start if self.export.samples_needed else 0
        lead = len(self._lead_in_frames())
        moving = sum(body.moves for body in self.export.bodies)
        written = moving if last == self.export.frame_end else 0
        bar = self.bar_filled, 1.0
        return Forecast(last + 1 - begin, sampled + lead, written, bar, not bpy.app.background, lead)

    def _progress(self, stage, text, frame=None, report=None, counted=None, waits=False):
        """Where the bake is, and how long it takes in all."""
        done, total = counted or (self.trajectory.frame_count, self.export.frame_end - self.export.frame_start)
        left = self.forecast.seconds_left
        if left is not None:
            text += f", {duration_text(left)} left"
        return BakeProgress(stage, done, total, text, self.forecast.factor, frame, report, waits)

    def _told(self, *words, **counts):
        """Tell where the bake is when a stop comes too late: the frames are there, and are to be kept."""
        with contextlib.suppress(BakeStopped):
            yield self._progress(*words, **counts)

    def _sample_of(self, frame):
        if not self.export.samples_needed:
            return self.export.default_sample
        return self.samples[frame - self.export.frame_start - 1]

    def _known_sample_of(self, frame):
        """The same, or None where the animation is not read as far as that."""
        if self.export.samples_needed:
            known = self.export.frame_start + len(self.samples)
            if known < min(frame + FRAMES_AHEAD, self.last_sampled) or known < frame:
                return None
        return self._given_sample_of(frame)

    def _given_sample_of(self, frame):
        """The same, which says how things move in the frame, too; frames are asked for one after the other."""
        if frame > self.last_given:
            self.motion.give_velocities(frame)
            self.last_given = frame
        return self._sample_of(frame)

    def _sample_up_to(self, frame):
        """Evaluate animated frames ahead, one slice of time per step, until frame ``frame`` is known, and some more.

        How things move in a frame is seen from those after it, also beyond the last one: a bake that goes on from here
        is to be the same as one that was longer from the start.
        """
        yield from self._sample_lead_in()
        first, end = self.export.frame_start + 1, self.last_sampled
        frame = min(frame + FRAMES_AHEAD, end)
        if not self.export.samples_needed or len(self.samples) > frame - first:
            return
        left = min(READ_AHEAD, max(self.seconds["simulate"], SAMPLE_SLICE))
        while first + len(self.samples) <= end and (left > 0.0 or len(self.samples) <= frame - first):
            before = len(self.samples)
            with self._evaluating() as shown:
                start = time.perf_counter()
                if not self.samples and self.motion.needs_start:
                    self.motion.add(sample_frame(self.scene, self.export, first - 1, shown))
                for at in range(first + before, end + 1):
                    if not self._take_sample(at, shown):
                        end = self.last_sampled = at - 1
                        break
                    spent = time.perf_counter() - start
                    if spent > self._slice or (spent > left and at >= frame):
                        break
                left -= spent
            self.forecast.note("animation", len(self.samples) - before)
            yield self._progress("animation", f"Reading animation, frame {at}")

    @property
    def _slice(self):
        return SEEN_SLICE if self.aside.is_seen else SAMPLE_SLICE

    def _take_sample(self, frame, shown):
        """Read a frame; False if it lies beyond the last one and cannot be read."""
        try:
            sample = sample_frame(self.scene, self.export, frame, shown)
        except SceneError:
            if frame <= self.export.frame_end:
                raise
            return False
        earlier = self.samples[-1] if self.samples else self.export.default_sample
        before = self.places if self.samples else earlier.position
        self.fast_turns.note(self.scene, sample, shown)
        note_jumps(self.scene, self.export, before, sample, shown)
        note_let_go(self.scene, self.export, earlier, sample, shown)
        note_follow(self.export, earlier, sample)
        self.motion.add(sample)
        self.samples.append(sample)
        self.places = sample.position
        return True

    def _sample_lead_in(self):
        """Evaluate the frames before the bake, for objects that something else than plain F-curves moves."""
        frames = self._lead_in_frames()
        while len(self.lead_in) < len(frames):
            before = len(self.lead_in)
            with self._evaluating() as shown:
                start = time.perf_counter()
                for frame in frames[len(self.lead_in) :]:
                    self.lead_in[frame] = lead_in.sample(self.scene, self.export, self.lead_in_names, frame, shown)
                    if time.perf_counter() - start > self._slice:
                        break
            self.forecast.note("animation", len(self.lead_in) - before)
            yield self._progress("animation", f"Reading animation, frame {frame}")

    def _lead_in_frames(self):
        return range(self.scene.frame_start, self.export.frame_start) if self.lead_in_names else ()

    @contextlib.contextmanager
    def _evaluating(self):
        """The scene whose frames are to be set, without the bake and without Blender's own simulation meanwhile."""
        with self.timed("animation"), self.aside.frames(self.scene) as shown:
            yield shown

    def lacks_frames(self):
        """Whether the bake has ended early, and the one that the scene has goes on beyond it."""
        facts = self.scene.cairn
        if not (self.stopped or self.error) or not facts.is_baked:
            return False
        first, last = self.export.frame_start, self.export.frame_start + self.trajectory.frame_count
        return facts.baked_start < first or facts.baked_end > last

    def write(self):
        """Write the keyframes, and the facts of this bake; returns its result."""
        led_in = lead_in.collect(self.lead_in_names, self.lead_in)
        facts = self.scene.cairn
        impacts = impact_curves.of_objects(self.export, self.trajectory) if facts.impact_curves else None
        steps = keyframes.write_steps(
            self.scene,
            self.export,
            self.trajectory,
            self.samples,
            led_in,
            self.turns,
            impacts,
            at_hits=self.settings.hit_keys,
        )
        written, count = 0, sum(body.moves for body in self.export.bodies)
        text = f"Writing keyframes, object 0 of {count:,}"
        yield from self._told("write", text, counted=(0, count))
        while True:
            with self.timed("write"):
                try:
                    done, total = next(steps)
                except StopIteration as end:
                    replaced = end.value
                    break
            self.forecast.note("write", done - written)
            written = done
            text = f"Writing keyframes, object {done:,} of {total:,}"
            yield from self._told("write", text, counted=(done, total))
        # one result for both: it says how long the bake took until now
        result = self.result()
        self._store_facts(result)
        kept = None
        if self.scene.cairn.contact_points or self.settings.contacts:
            kept = contacts.contacts_file(self.export, self.trajectory)
        if kept is not None and self.scene.cairn.contact_points:
            contact_points.write_points(self.scene, kept)
        if self.scene.cairn.report_curves:
            report_curves.write_curves(self.scene, self.export.frame_start, self.trajectory.reports)
        known_scenes.note_bake(self.scene, self.export, self.trajectory, self.digest, kept)
        self.checkpoints.accept()
        for _ in attach.remove_steps(replaced):
            yield from self._told("write", "Removing the bake before", counted=(written, written))
        return result

    def _store_facts(self, result):
        facts = self.scene.cairn
        facts.requested_end = self.export.frame_end
        facts.summary = result.summary
        facts.has_warnings = self.error is not None or any(note.level == "warning" for note in self.export.notes)
        facts.fingerprint = self.export.fingerprint
        facts.ingredients = packed(baked_digest(self.digest, self.scene))
        facts.version = __version__
        facts.bake_id = self.checkpoints.bake
        facts.checkpoint_folder = str(self.checkpoints.plan.folder) if self.checkpoints.plan else ""
        facts.report = json.dumps({key: value for key, value in result.report.items() if key != "frames"})
        totals = result.report["totals"]
        # where all is within tolerance there is nothing to go to
        facts.worst_object = (totals["worst"]["object"] or "") if totals["missed"] else ""
        facts.worst_frame = totals["worst"]["frame"] or 0

    def result(self, *, kept_earlier=False):
        """The bake as its callers get it."""
        totals = totals_of(self.export, self.trajectory, self.seconds, time.perf_counter() - self.started)
        return BakeResult(
            trajectory=self.trajectory,
            reports=self.trajectory.reports,
            summary=summary_sentence(
                totals, self.kept, self.checkpoints.restarts, stopped=self.stopped, error=self.error
            ),
            report=report_dictionary(self.export, self.trajectory, self.settings, totals),
            stopped=self.stopped,
            paused=self.paused,
            error=self.error,
            kept_earlier=kept_earlier,
            frame_start=self.export.frame_start,
            frame_end=self.export.frame_start + self.trajectory.frame_count,
            checkpoint_frame=self.checkpoints.last_stored(self.export.frame_start),
            export=self.export,
            digest=self.digest,
        )
