"""One bake, as a generator of steps: export, compile, sample what is animated, simulate, write.

The operator plays it a slice of time per tick, the command line from beginning to end. Between two steps it holds names
and arrays, never references to Blender's data, and the scene is as the user left it: frames are evaluated, and an
earlier bake is set aside, only within a step, so an autosave in between keeps a sound file.
"""

import contextlib
import json
import time
from dataclasses import asdict, dataclass, replace

import bpy

from .. import __version__
from . import concave_shapes, earlier_animation, keyframes, lead_in, runtime
from .properties import friction_mismatch
from .scene_export import SceneError, export_scene, sample_frame, simulation_paused
from .scene_notes import Note, starting_overlaps

# Animated frames are evaluated in slices, because each slice has to put the frame back at its end [s].
SAMPLE_SLICE = 0.05
# The same while an earlier bake is set aside: each slice makes Blender build its dependency graph anew, twice [s].
SAMPLE_SLICE_BAKED = 0.25
# Compilation that takes longer [s] is named apart from a bake's time; it comes once.
LONG_COMPILATION = 2.0
# A contact that is off by less than this share of the speed that it had to stop is not seen: hits in a heap stay some
# per cent off (docs/baking.md).
RATIO_VISIBLE = 0.05
# Making convex parts, and compiling, each take this share of what is left of the bar, where there is any of it to do.
# Both come before anything is known of how long the frames take.
PREPARATION_SHARE = 0.5


class BakeStopped(Exception):
    """Thrown into the generator to stop it; the frames so far are kept."""


@dataclass(frozen=True, kw_only=True)
class BakeSettings:
    """What a bake is asked for.

    Attributes
    ----------
    start, end : int or None
        First frame (the start pose) and last frame; None: the range of the Rigid Body World's cache.
    method, friction, substeps, tolerance, max_iterations, threads
        As in ``SimulationOptions``; ``max_iterations`` None is the method's own limit.
    """

    start: int | None = None
    end: int | None = None
    method: str = "auto"
    friction: str = "cone"
    substeps: int = 4
    tolerance: float = 1e-6
    max_iterations: int | None = None
    threads: int = 0

    @classmethod
    def from_scene(cls, scene):
        """What the panel holds."""
        panel = scene.cairn
        return cls(
            start=panel.frame_start if panel.use_custom_range else None,
            end=panel.frame_end if panel.use_custom_range else None,
            method=panel.method,
            friction=panel.friction,
            substeps=panel.substeps,
            # The panel holds single precision: 1e-6 is meant where 9.99999997e-07 is stored.
            tolerance=float(f"{panel.tolerance:.6g}"),
            max_iterations=panel.max_iterations or None,
            threads=panel.threads,
        )

    def options(self, frame_rate):
        """Keyword arguments of ``SimulationOptions``."""
        return {
            "frame_rate": frame_rate,
            "substeps": self.substeps,
            "method": self.method,
            "friction": self.friction,
            "tolerance": self.tolerance,
            "max_iterations": self.max_iterations,
            "threads": self.threads,
        }


@dataclass(frozen=True)
class BakeProgress:
    """Where a bake is.

    Attributes
    ----------
    stage : {"export", "decompose", "compile", "animation", "simulate", "write"}
    done, total : int
        Of this stage, and of the simulation while animation is read for it; 0 where nothing can be counted.
    text : str
        For the panel.
    bar : tuple of (float, float)
        Where this stage begins and ends on the one bar of all stages.
    frame : int or None
        The scene's frame that was simulated last.
    report : FrameReport or None
        Of that frame, once.
    """

    stage: str
    done: int
    total: int
    text: str
    bar: tuple = (0.0, 1.0)
    frame: int | None = None
    report: object = None

    @property
    def factor(self):
        """How full the bar is: it stays full while what was simulated is written."""
        if self.stage == "write":
            return 1.0
        begin, end = self.bar
        return begin + (end - begin) * self.done / self.total if self.total else begin


def compile_progress(done, total, bar=(0.0, 1.0)):
    """Progress of ``runtime.compile_kernels``: without a total nothing is compiled, only loaded."""
    text = f"Compiling (once), {done} of {total}" if total else "Loading the solver"
    return BakeProgress("compile", done, total, text, bar)


@dataclass(frozen=True)
class BakeResult:
    """What a bake has given.

    Attributes
    ----------
    trajectory : Trajectory
    reports : list of FrameReport
    summary : str
        The bake in a sentence.
    report : dict
        As the command line writes it (``cairn bake --report``).
    stopped : bool
        Ended by the user; the frames so far are kept.
    error : str or None
        Why the simulation failed; the frames before are kept.
    frame_start, frame_end : int
        What was baked.
    """

    trajectory: object
    reports: list
    summary: str
    report: dict
    stopped: bool
    error: str | None
    frame_start: int
    frame_end: int


def bake_scene(scene, settings, on_progress=None):
    """Bake from beginning to end; ``on_progress`` is called with each BakeProgress."""
    steps = bake_frames(scene, settings)
    while True:
        try:
            progress = next(steps)
            if on_progress is not None:
                on_progress(progress)
        except StopIteration as end:
            return end.value


def bake_frames(scene, settings):
    """Bake a scene, as a generator of BakeProgress whose return value is the BakeResult.

    Throwing ``BakeStopped`` in, or a KeyboardInterrupt while it runs, ends the simulation; the frames so far are
    written. Closing the generator leaves the scene unchanged.

    Parameters
    ----------
    scene : bpy.types.Scene
    settings : BakeSettings

    Raises
    ------
    SceneError, RuntimeUnavailable
        Nothing has changed.
    SimulationError
        Before the first frame was done; nothing has changed. Later it ends up in ``BakeResult.error``.
    """
    bake = _Bake(scene.name, settings)
    yield BakeProgress("export", 0, 0, "Reading the scene")
    bake.read_scene()
    yield from bake.decompose()
    yield from bake.compile()
    bake.note_overlaps()
    yield from bake.simulate()
    if not bake.trajectory.reports:  # stopped before the first frame
        return bake.result()
    return (yield from bake.write())


class _Bake:
    """The state of a bake between two steps."""

    def __init__(self, scene_name, settings):
        self.scene_name = scene_name
        self.settings = settings
        self.started = time.perf_counter()
        self.seconds = {
            "export": 0.0,
            "decompose": 0.0,
            "load": 0.0,
            "compile": 0.0,
            "animation": 0.0,
            "simulate": 0.0,
            "write": 0.0,
        }
        self.export = self.options = self.trajectory = None
        self.lead_in_names, self.lead_in, self.samples = [], {}, []
        self.stopped, self.error = False, None
        self.sample_slice = SAMPLE_SLICE
        self.bar_filled = 0.0

    @property
    def scene(self):
        """The scene, found anew in each step."""
        scene = bpy.data.scenes.get(self.scene_name)
        if scene is None:
            raise SceneError(None, f"scene {self.scene_name!r} is gone")
        return scene

    def _bar_of_preparation(self):
        """The part of the bar that making convex parts takes, or compiling."""
        return self.bar_filled, self.bar_filled + PREPARATION_SHARE * (1.0 - self.bar_filled)

    def _bar_of_frames(self):
        """The rest of it."""
        return self.bar_filled, 1.0

    @contextlib.contextmanager
    def _timed(self, stage):
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - start

    def read_scene(self):
        """Export the scene as it is without an earlier bake."""
        mismatch = friction_mismatch(self.settings.method, self.settings.friction)
        if mismatch:
            raise SceneError(None, mismatch)
        scene = self.scene
        with self._timed("export"), earlier_animation.earlier_animation(scene):
            self.export = export_scene(
                scene, frame_start=self.settings.start, frame_end=self.settings.end, decompose=False
            )
            moving = [body.object_name for body in self.export.bodies if body.moves]
            if not moving:
                raise SceneError(
                    None, "no rigid body of this scene is Active and Dynamic; there is nothing to simulate"
                )
            keyframes.check_writable(scene, moving)
            self.lead_in_names = lead_in.objects_to_sample(scene, self.export)
        self.options = self.settings.options(self.export.frame_rate)
        if earlier_animation.baked_objects(scene):
            self.sample_slice = SAMPLE_SLICE_BAKED
            keyframes.refresh(scene)

    def decompose(self):
        """Make convex parts of concave meshes that are new; then read the scene with them."""
        pending = self.export.pending
        if not pending:
            return
        trouble = yield from self._decompose(pending)
        yield BakeProgress("export", 0, 0, "Reading the scene", self._bar_of_frames())
        self.read_scene()
        if trouble is not None:
            text = f"convex parts were made within Blender, which stood still meanwhile: {trouble}"
            self.export.notes.append(Note("info", None, text))

    def _decompose(self, pending):
        """Pass on how far it is; returns what ``concave_shapes.decompose`` does."""
        bar = self._bar_of_preparation()
        with contextlib.closing(concave_shapes.decompose([decomposition for _, decomposition in pending])) as steps:
            while True:
                with self._timed("decompose"):
                    try:
                        done = next(steps)
                    except StopIteration as end:
                        self.bar_filled = bar[1]
                        return end.value
                if done < len(pending):
                    text = f"Making convex parts of {pending[done][0]}, mesh {done + 1} of {len(pending)}"
                    yield BakeProgress("decompose", done, len(pending), text, bar)

    def note_overlaps(self):
        """Add what overlaps at the start to the notes; needs compiled kernels."""
        self.export.notes.extend(starting_overlaps(self.export.model))

    def compile(self):
        """Load Numba and the kernels; those that are in no cache yet are compiled."""
        start, part, bar = time.perf_counter(), "load", self._bar_of_preparation()
        model = self.export.model
        kernels = runtime.compile_kernels(self.options, model.arrays.shapes.kind, model.body_count)
        with contextlib.closing(kernels):
            for done, total, _name in kernels:
                part = "compile" if total else part
                yield compile_progress(done, total, bar)
        if part == "compile":
            self.bar_filled = bar[1]
        # By the clock: other processes may compile between two steps.
        self.seconds[part] = time.perf_counter() - start

    def simulate(self):
        """Simulate frame by frame until the end, a stop or a failure."""
        from ..solver_core.simulation import Simulation, SimulationError, SimulationOptions
        from ..solver_core.trajectory import Trajectory

        simulation = Simulation(self.export.model, SimulationOptions(**self.options))
        self.trajectory = Trajectory(*simulation.poses())
        try:
            for frame in range(self.export.frame_start + 1, self.export.frame_end + 1):
                yield from self._sample_up_to(frame)
                with self._timed("simulate"):
                    report = simulation.advance_frame(self._sample_of(frame).frame_input)
                    self.trajectory.append(*simulation.poses(), report)
                self._release_poses(frame)
                yield self._frame_progress(frame, report)
        except SimulationError as error:
            if not self.trajectory.reports:
                raise
            self.error = f"{error} (frame {self.export.frame_start + simulation.frame})"
        except (BakeStopped, KeyboardInterrupt):
            self.stopped = True

    def _frame_progress(self, frame, report):
        done, total = self.trajectory.frame_count, self.export.frame_end - self.export.frame_start
        text = f"Frame {frame} of {self.export.frame_end}"
        left = self.seconds["simulate"] / done * (total - done)
        if done >= 5:
            text += f", {duration_text(left)} left"
        return BakeProgress("simulate", done, total, text, self._bar_of_frames(), frame, report)

    def _sample_of(self, frame):
        if not self.export.samples_needed:
            return self.export.default_sample
        return self.samples[frame - self.export.frame_start - 1]

    def _release_poses(self, frame):
        """Forget the poses that a frame was driven by; what the keyframes need of its sample stays."""
        if self.export.samples_needed:
            sample = self._sample_of(frame)
            self.samples[frame - self.export.frame_start - 1] = replace(sample, position=None, orientation=None)

    def _sample_up_to(self, frame):
        """Evaluate animated frames ahead, a slice of time at once, so that frame ``frame`` is known."""
        yield from self._sample_lead_in()
        if not self.export.samples_needed or len(self.samples) >= frame - self.export.frame_start:
            return
        with self._evaluating() as scene:
            start = time.perf_counter()
            for at in range(self.export.frame_start + 1 + len(self.samples), self.export.frame_end + 1):
                self.samples.append(sample_frame(scene, self.export, at))
                if time.perf_counter() - start > self.sample_slice:
                    break
        yield self._animation_progress(at)

    def _sample_lead_in(self):
        """Evaluate the frames before the bake, for objects that something else than plain F-curves moves."""
        frames = range(self.scene.frame_start, self.export.frame_start) if self.lead_in_names else ()
        while len(self.lead_in) < len(frames):
            with self._evaluating() as scene:
                start = time.perf_counter()
                for frame in frames[len(self.lead_in) :]:
                    self.lead_in[frame] = lead_in.sample(scene, self.export, self.lead_in_names, frame)
                    if time.perf_counter() - start > self.sample_slice:
                        break
            yield self._animation_progress(frame)

    def _animation_progress(self, frame):
        done, total = self.trajectory.frame_count, self.export.frame_end - self.export.frame_start
        return BakeProgress("animation", done, total, f"Reading animation, frame {frame}", self._bar_of_frames())

    @contextlib.contextmanager
    def _evaluating(self):
        """Show the scene as it is without bake and without Blender's own simulation, for the moment."""
        scene = self.scene
        with self._timed("animation"):
            with earlier_animation.earlier_animation(scene), simulation_paused(scene):
                yield scene
            if earlier_animation.baked_objects(scene):
                keyframes.refresh(scene)

    def write(self):
        """Write the keyframes, and the facts of this bake; returns its result."""
        steps = keyframes.write_steps(
            self.scene,
            self.export,
            self.trajectory,
            self.samples,
            lead_in.collect(self.lead_in_names, self.lead_in),
        )
        while True:
            with self._timed("write"):
                try:
                    done, total = next(steps)
                except StopIteration:
                    break
            yield BakeProgress("write", done, total, f"Writing keyframes, object {done} of {total}")
        # one result for both: it says how long the bake took until now
        result = self.result()
        self._store_facts(result)
        return result

    def _store_facts(self, result):
        facts = self.scene.cairn
        facts.requested_end = self.export.frame_end
        facts.summary = result.summary
        facts.fingerprint = self.export.fingerprint
        facts.version = __version__
        facts.report = json.dumps({key: value for key, value in result.report.items() if key != "frames"})
        worst = result.report["totals"]["worst"]
        facts.worst_object = worst["object"] or ""
        facts.worst_frame = worst["frame"] or 0

    def result(self):
        """The bake as its callers get it."""
        frame_end = self.export.frame_start + self.trajectory.frame_count
        totals = self._totals()
        report = {
            "cairn": __version__,
            "blender": bpy.app.version_string,
            "scene": bpy.data.filepath,
            "options": {
                **asdict(replace(self.settings, start=self.export.frame_start, end=self.export.frame_end)),
                "frame_rate": self.export.frame_rate,
            },
            "notes": [
                {"level": note.level, "object": note.object_name, "text": note.text} for note in self.export.notes
            ],
            "frames": [
                {**report.as_dict(), "frame": self.export.frame_start + report.frame}
                for report in self.trajectory.reports
            ],
            "totals": totals,
        }
        return BakeResult(
            trajectory=self.trajectory,
            reports=self.trajectory.reports,
            summary=summary_sentence(totals, stopped=self.stopped, error=self.error),
            report=report,
            stopped=self.stopped,
            error=self.error,
            frame_start=self.export.frame_start,
            frame_end=frame_end,
        )

    def _totals(self):
        reports = self.trajectory.reports
        worst = max(reports, key=lambda report: report.residual, default=None)
        stages = {}
        for report in reports:
            for stage, seconds in report.seconds.items():
                stages[stage] = stages.get(stage, 0.0) + seconds
        return {
            "frames": len(reports),
            "bodies": self.export.model.body_count,
            "moving": sum(body.moves for body in self.export.bodies),
            "seconds": time.perf_counter() - self.started,
            "seconds_by_part": dict(self.seconds),
            "seconds_by_stage": stages,
            "contacts": max((report.contacts for report in reports), default=0),
            "iterations": sum(report.iterations for report in reports),
            "missed": sum(report.missed for report in reports),
            "max_penetration": max((report.max_penetration for report in reports), default=0.0),
            "worst": {
                "residual": worst.residual if worst else 0.0,
                "contact": worst.worst if worst else "",
                "object": self._object_of(worst.worst) if worst else None,
                "frame": self.export.frame_start + worst.frame if worst else None,
            },
            "digest": self.trajectory.digest(),
        }

    def _object_of(self, contact):
        """The first object of "Cube.014 on Floor"; a name may itself hold " on "."""
        names = {body.object_name for body in self.export.bodies}
        parts = contact.split(" on ")
        candidates = (" on ".join(parts[:count]) for count in range(1, len(parts) + 1))
        return next((name for name in candidates if name in names), None)


def summary_sentence(totals, *, stopped=False, error=None):
    """A bake in a sentence, from the totals of its report."""
    compiling = totals["seconds_by_part"]["compile"]
    if compiling < LONG_COMPILATION:
        compiling = 0.0
    # the start pose is a frame too
    text = f"Baked {totals['frames'] + 1:,} frames in {duration_text(totals['seconds'] - compiling)}"
    if compiling:
        text += f" after compiling for {duration_text(compiling)}"
    if stopped:
        text = f"Stopped: {text[0].lower()}{text[1:]}"
    if error:
        text = f"Failed: {text[0].lower()}{text[1:]}"
    worst = totals["worst"]
    if totals["missed"]:
        solves, the_worst = f"{totals['missed']:,} solves", "the worst "
        if totals["missed"] == 1:
            solves, the_worst = "1 solve", ""
        text += f"; {solves} above tolerance, {the_worst}off by {percent_text(worst['residual'])} of the contact speed"
        text += f" ({worst['contact']}, frame {worst['frame']}): {verdict(worst['residual'])}"
    elif totals["contacts"]:
        text += "; all contacts within tolerance"
    return text + (f". {error}" if error else "")


def verdict(residual):
    """Whether an error, as a share of the speed that a contact had to stop, is worth a user's time."""
    if residual < RATIO_VISIBLE:
        return "too little to see"
    return "may be seen; more Iterations or Substeps make it smaller"


def percent_text(share):
    """A share with two digits, "0.034 %", "3.4 %", "190 %"."""
    percent = 100.0 * share
    if percent < 0.01:
        return "less than 0.01 %"
    if percent < 99.5:  # 100 in two digits would be 1e+02
        return f"{percent:.2g} %"
    return f"{float(f'{percent:.2g}'):,.0f} %"


def duration_text(seconds):
    """A duration as people say it: "0.4 s", "41 s", "3 min 20 s", "2 h 5 min"."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"
