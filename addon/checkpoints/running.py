"""A bake's checkpoints while it runs: where it begins, when the next one is due, and what is said if one fails."""

import contextlib
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..read.notes import Note
from . import folder as files
from . import housekeeping
from .folder import CheckpointError
from .identity import difference
from .recording import Recording, piece_of, recording_of
from .restart import arrive, restart

if TYPE_CHECKING:  # they load Numba
    from ...solver_core import Simulation, Trajectory

# Time between two checkpoints if nothing else is asked for [s]: no more than this is computed twice.
SECONDS = 30.0
# To write them takes at most this share of a bake's time, however long each takes.
LARGEST_SHARE = 0.01
_OF_SIMULATION = "simulation."


@dataclass(frozen=True, kw_only=True)
class CheckpointPlan:
    """When a bake leaves checkpoints, and what it does with those that are there.

    Attributes
    ----------
    folder : Path
    every_frames : int or None
        A checkpoint after every so many frames, whatever it costs; None: by the clock.
    every_seconds : float
        By the clock: after so many seconds, or later if that would cost more than ``LARGEST_SHARE``.
    resume : bool
        Go on from the checkpoint that is there; without one, begin.
    from_frame : int or None
        Keep what an earlier bake has recorded up to this frame, and begin anew there (``restart``).
    until : int or None
        Stop after this frame with a checkpoint, and write nothing else.
    keep : bool
        The last frame has a checkpoint, too, which stays: a bake in the window may go on to another last frame. And
        the checkpoint of the bake before it stays until ``BakeCheckpoints.accept``.
    source : Path or None
        State file to go on from, or to begin anew from; None: the folder's own.
    """

    folder: Path
    every_frames: int | None = None
    every_seconds: float = SECONDS
    resume: bool = False
    from_frame: int | None = None
    until: int | None = None
    keep: bool = False
    source: Path | None = None

    @property
    def read_from(self) -> Path:
        """The state file that a bake goes on from."""
        return self.source or self.folder / files.STATE


class BakeCheckpoints:
    """The checkpoints of one bake.

    Parameters
    ----------
    plan : CheckpointPlan or None
        None: there are none.
    """

    def __init__(self, plan: CheckpointPlan | None):
        self.plan = plan
        self.seconds = 0.0
        self._bake = uuid.uuid4().hex[:8]
        self._identity: dict[str, Any] = {}
        # of all frames that are recorded, the start pose first
        self.velocities: list[np.ndarray] = []
        self._pieces: list[str] = []
        self._stored_frames = 0
        self._trouble = ""
        self._last_end = self._last_cost = 0.0
        self._state = files.NEXT if plan is not None and plan.keep else files.STATE
        self._before: frozenset[str] | None = None  # pieces of the bake before
        self._unwritten: tuple[Any, str] | None = None  # a checkpoint whose piece, of this name, is written

    @property
    def bake(self) -> str:
        """What tells this bake from others, and is the same where it goes on; empty without checkpoints."""
        return self._bake if self.plan else ""

    def last_stored(self, start: int) -> int | None:
        """The frame of the last checkpoint that is whole, of a bake that starts at ``start``; None: there is none."""
        return start + self._stored_frames if self._stored_frames else None

    def accept(self) -> None:
        """Let the bake take the place of the one before it: the scene has it now.

        What is fetched back has nothing to write: a checkpoint that waits then is another bake's, which was stopped.
        """
        if self.plan and self._state == files.NEXT:
            waiting = files.read_text(self.plan.folder / files.NEXT)
            if isinstance(waiting, dict) and waiting.get("bake") == self._bake:
                files.promote(self.plan.folder, waiting["pieces"])

    @property
    def restarts(self) -> bool:
        """Whether it begins anew in the middle of an earlier bake."""
        return bool(self.plan and self.plan.from_frame is not None)

    def last_frame(self, frame_end: int) -> int:
        """The frame after which the bake ends or stops with a checkpoint."""
        until = self.plan.until if self.plan else None
        return frame_end if until is None else min(until, frame_end)

    @property
    def notes(self) -> list[Note]:
        """What is to be said of the checkpoints at the end of the bake."""
        return [Note("warning", None, self._trouble)] if self._trouble else []

    def begin(self, simulation: "Simulation", identity: dict[str, Any], frame_count: int) -> "Trajectory":
        """Where the bake goes on from: the frames that are recorded already, at least the start pose.

        Parameters
        ----------
        simulation : Simulation
            At its beginning; changed to the checkpoint.
        identity : dict
            Of ``identity_of``; empty without a plan.
        frame_count : int
            How many frames the bake has.

        Raises
        ------
        CheckpointError
            There is a checkpoint that is damaged, or not one of this bake.
        """
        from ...solver_core.trajectory import Trajectory

        self._identity = identity
        self._last_end = time.perf_counter()
        if self.plan and self.plan.from_frame is not None:
            return self._restart(self.plan, simulation)
        if self.plan and self.plan.resume and self.plan.read_from.exists():
            return self._resume(self.plan.read_from, simulation, frame_count)
        self.velocities = [simulation.velocities()]
        return Trajectory(*simulation.poses())

    def _resume(self, source: Path, simulation, frame_count):
        from ...solver_core.checkpoint import Checkpoint

        folder = source.parent
        stored, arrays = files.read_file(source)
        reason = difference(stored["identity"], self._identity) if "identity" in stored else "it is of something else"
        if reason:
            remedy = "press Bake" if self.plan and self.plan.keep else "bake anew without resuming, or move it away"
            raise CheckpointError(f"cannot go on from the checkpoint in {folder}: {reason}; {remedy}")
        recording = read_recording(folder, stored)
        own = {name.removeprefix(_OF_SIMULATION): array for name, array in arrays.items()}
        try:
            simulation.restore(Checkpoint(stored["frame"], own))
        except ValueError as error:
            raise CheckpointError(f"the checkpoint in {folder} does not fit: {error}") from error
        self._bake = stored["bake"]
        if self.plan and folder == self.plan.folder:  # else all of it is written anew
            self._pieces, self._stored_frames = stored["pieces"], stored["frame"]
        recording = recording.up_to(frame_count)
        self.velocities = list(recording.velocity)
        return recording.trajectory()

    def _restart(self, plan: CheckpointPlan, simulation):
        """Take over what was recorded up to a frame; it is written anew with the first checkpoint."""
        folder = plan.read_from.parent
        stored, _ = files.read_file(plan.read_from)
        first, frame = self._identity["frame_start"], plan.from_frame
        earlier = stored["identity"]
        if earlier["format"] != self._identity["format"] or earlier["frame_start"] != first:
            raise CheckpointError(f"the recording in {folder} begins at another frame; bake from the start")
        if not first < frame <= first + stored["frame"]:
            raise CheckpointError(
                f"the bake has recorded frames {first + 1} to {first + stored['frame']}; frame {frame} is not one"
            )
        recording = read_recording(folder, stored).up_to(frame - first)
        recording = restart(simulation, recording, earlier["bodies"], earlier["joints"], self._identity["joints"])
        self.velocities = list(recording.velocity)
        return recording.trajectory()

    def arrive(self, simulation: "Simulation", frame: int, sample) -> None:
        """At the frame from which a bake begins anew, put what is animated where it is there.

        Parameters
        ----------
        simulation : Simulation
        frame : int
            Of the scene.
        sample : FrameSample
        """
        if self.plan and frame == self.plan.from_frame:
            arrive(simulation, sample.frame_input)

    def note_frame(self, simulation: "Simulation", trajectory: "Trajectory") -> None:
        """Write a checkpoint if one is due after a frame; a failure to do so is kept for the end of the bake."""
        if not self.plan:
            return
        self.velocities.append(simulation.velocities())
        if self._is_due(self.plan, trajectory.frame_count):
            self.write(simulation, trajectory)

    def write(self, simulation: "Simulation", trajectory: "Trajectory") -> None:
        """Write a checkpoint of the present frame, unless it is there already; ``complete`` does the second half.

        What is simulated beside has one of this frame or of one before; that is then what is written.
        """
        self.complete()
        if not self.plan or trajectory.frame_count <= self._stored_frames:
            return
        start = time.perf_counter()
        checkpoint = simulation.checkpoint()
        if checkpoint.frame <= self._stored_frames:
            return
        self._last_cost = 0.0
        with self._writing(self.plan.folder, start):
            self._write_piece(self.plan.folder, checkpoint, trajectory)

    @property
    def is_half_written(self) -> bool:
        """Whether there is something to ``complete``."""
        return self._unwritten is not None

    def complete(self) -> None:
        """Write what is left of a checkpoint: its state, which takes as long again with thousands of bodies."""
        unwritten, self._unwritten = self._unwritten, None
        if self.plan is not None and unwritten is not None:
            with self._writing(self.plan.folder, time.perf_counter()):
                self._write_state(self.plan.folder, *unwritten)

    @contextlib.contextmanager
    def _writing(self, folder: Path, start: float):
        """Note what it has cost since ``start``, and what has gone wrong."""
        self._trouble = ""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            self._trouble = f"no checkpoint could be written in {folder}: {reason}"
        self._last_end = time.perf_counter()
        self._last_cost += self._last_end - start
        self.seconds += self._last_end - start

    def finish(self, simulation: "Simulation", trajectory: "Trajectory", paused: bool = False) -> None:
        """After the last frame: a checkpoint of it, if the bake has any or is to leave one; then ``complete`` it.

        Raises
        ------
        CheckpointError
            The bake is to stop here, and the checkpoint could not be written.
        """
        if self.plan and (paused or self.plan.keep or self._pieces or self._unwritten):
            self.write(simulation, trajectory)
        if paused:
            self.complete()
        if paused and self._trouble:
            raise CheckpointError(self._trouble)

    def _is_due(self, plan: CheckpointPlan, frame_count):
        if plan.every_frames is not None:
            return frame_count - self._stored_frames >= plan.every_frames
        pause = max(plan.every_seconds, self._last_cost / LARGEST_SHARE)
        return time.perf_counter() - self._last_end >= pause

    def _write_piece(self, place: Path, checkpoint, trajectory):
        if place.parent.name == housekeeping.FOLDER:
            place.parent.mkdir(exist_ok=True)
        place.mkdir(exist_ok=True)  # where the folder of the output is gone nothing is made in its place
        if not all((place / name).exists() for name in self._pieces):  # somebody has cleared the folder
            self._pieces, self._stored_frames = [], 0
        first = self._stored_frames + 1 if self._pieces else 0
        name = files.piece_name(self._bake, first)
        piece = piece_of(trajectory, self.velocities, first, checkpoint.frame)
        files.write_file(place / name, {"first": first}, piece, compress=False)
        if self._before is None:
            self._before = files.pieces_of(place / files.STATE) if self._state != files.STATE else frozenset()
        self._unwritten = checkpoint, name

    def _write_state(self, place: Path, checkpoint, name):
        text = {
            "identity": self._identity,
            "bake": self._bake,
            "frame": checkpoint.frame,
            "pieces": [*self._pieces, name],
        }
        arrays = {f"{_OF_SIMULATION}{key}": array for key, array in checkpoint.arrays.items()}
        files.write_file(place / self._state, text, arrays, compress=True)
        self._pieces, self._stored_frames = text["pieces"], checkpoint.frame
        files.clear(place, keep=frozenset([files.STATE, self._state, *(self._before or ()), *self._pieces]))


def read_recording(folder: Path, stored: dict[str, Any]) -> Recording:
    """All frames that a checkpoint's pieces hold.

    Parameters
    ----------
    folder : Path
    stored : dict
        The text of its ``state.npz``.

    Raises
    ------
    CheckpointError
        A piece is missing or damaged.
    """
    pieces = [files.read_file(folder / name)[1] for name in stored["pieces"]]
    try:
        recording = recording_of(pieces)
    except (KeyError, ValueError, TypeError) as error:
        raise CheckpointError(f"the recording in {folder} is damaged: {error}") from error
    if recording.frame_count != stored["frame"] or len(recording.reports) != stored["frame"]:
        raise CheckpointError(f"the recording in {folder} is not complete; move the folder away")
    return recording
