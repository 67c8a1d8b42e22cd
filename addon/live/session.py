"""When *Live* reads, simulates and begins again: a machine that is told of changes, and given time by ticks.

A change is followed by 0.3 s of quiet, then by a look at the scene; where something is another than the run had read, a
new run begins, else the run goes on to its last frame.

Between two ticks it holds names and arrays.
"""

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..bake_progress import BakeProgress
from ..beside import Beside
from ..read.faults import SceneError
from ..settings import BakeSettings
from .drags import Drags, Spring
from .memory import EVERY
from .run import LiveRun

if TYPE_CHECKING:
    import numpy as np

    from ...solver_core.model.model import Model

# A scene is looked at after so long without a change [s].
QUIET = 0.3
# So few frames are sent ahead to the process, since ticks follow each other quickly, and should not take long.
AHEAD = 16


class Picture(NamedTuple):
    """Poses to be drawn.

    Attributes
    ----------
    key : tuple of int
        Another one where anything of it is another.
    frame : int
        Of the scene.
    model : Model
    poses : tuple of float64 [body_count, 3], [body_count, 4]
        Of the user frames.
    """

    key: tuple[int, int]
    frame: int
    model: "Model"
    poses: "tuple[np.ndarray, np.ndarray]"


class Session:
    """A scene that is simulated while it is changed; ``close`` ends it.

    Parameters
    ----------
    scene_name : str
    settings : callable () -> BakeSettings
    look : callable () -> iterator
        Reads the scene in steps that give None, and at last its digest.
    clock : callable () -> float
        [s]

    Attributes
    ----------
    error : Exception or None
        Why the scene cannot be simulated as it is, or why the run has ended early.
    text : str
        What is being done.
    waits : bool
        There is nothing to do but to wait: for a change, or for the process beside.
    runs : int
        How many have begun.
    drags : Drags
        What was dragged; each run has it.
    """

    def __init__(
        self,
        scene_name: str,
        settings: Callable[[], BakeSettings],
        look: Callable[[], Iterator[Any]],
        clock: Callable[[], float] = time.perf_counter,
    ):
        self.error: Exception | None = None
        self.text, self.waits, self.runs = "", False, 0
        self._scene_name, self._settings, self._look, self._clock = scene_name, settings, look, clock
        self.drags = Drags()
        self._beside = Beside(True, ahead=AHEAD, checkpoint_every=EVERY)
        self._changed: float | None = None
        self._looking: Iterator[Any] | None = None
        self._run: LiveRun | None = None
        self._steps: Iterator[BakeProgress] | None = None
        self._shown: LiveRun | None = None  # the run before, until this one has poses
        self._begin()

    # What happens

    def note_change(self, *, plays: bool = False) -> None:
        """Something may have changed: it is looked at once all is quiet, or, while frames are played, soon."""
        if not plays:
            self._looking = None  # what it has read may be no more
        if self._changed is None or not plays:
            self._changed = self._clock()

    def rename(self, scene_name: str) -> None:
        """The scene has another name now."""
        if scene_name != self._scene_name:
            self._scene_name = scene_name
            self._begin()

    def grab(self, frame: int, body: int, point, place, spring: Spring) -> bool:
        """Take a body into the hand: what comes after a frame is simulated anew, as far as ``reach`` lets it.

        Parameters
        ----------
        frame : int
            Of the scene, which is shown.
        body : int
            Row of the model.
        point : sequence of float [3]
            Where it is held, in its user frame [m].
        place : sequence of float [3]
            Where that is in the world [m].
        spring : Spring

        Returns
        -------
        bool
            False where that cannot be: it never moves by simulation, the present scene has no poses yet, or no frame
            is left.
        """
        run = self._run
        if run is None or run.memory.trajectory is None or self._latest() is not run:
            return False
        first = run.export.frame_start
        frame = min(max(frame, first), first + run.memory.trajectory.frame_count)
        moves = any(each.moves for each in run.export.bodies if each.index == body)
        if frame >= run.export.frame_end or not moves:
            return False
        self.drags.grab(frame, run.export.model.names[body], point, place, spring)
        self._simulate_again(frame)
        return True

    def reach(self, frame: int) -> None:
        """Time has come to a frame, with the hand where it is now."""
        if self.drags.is_held and self._run is not None:
            self.drags.reach(min(frame, self._run.export.frame_end))

    def cancel_drag(self) -> None:
        """Let go, and have all as it was before that."""
        if self.drags.is_held:
            self.drags.cancel()
            self._simulate_again(self.drags.first)

    def forget_drags(self) -> None:
        """Simulate as if nothing had been dragged."""
        self.drags.release()
        if self.drags.frames:
            self.drags.frames = {}
            self._begin()

    def tick(self, seconds: float) -> None:
        """Work for so long, or a little longer."""
        end = self._clock() + seconds
        if self._changed is not None and self._clock() - self._changed >= QUIET:
            self._changed, self._looking = None, self._look()
        self.waits = False
        while not self.waits and self._clock() < end:
            if self._looking is not None:
                self._look_on(self._looking)
            elif self._steps is not None:
                self._work(self._steps)
            else:
                self.waits = True

    def close(self) -> None:
        """End the run and the process."""
        self._end_run()
        self._beside.close()

    # What there is

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to simulate, for now."""
        return self._steps is None and self._looking is None and self._changed is None

    @property
    def frames(self) -> tuple[int, int, int] | None:
        """First frame of the scene that has poses, the newest one, and the last one that is wanted; None: none has."""
        shown = self._latest()
        if shown is None:
            return None
        export, trajectory = shown.export, shown.memory.trajectory
        assert trajectory is not None
        return export.frame_start, export.frame_start + trajectory.frame_count, export.frame_end

    def picture(self, frame: int) -> "Picture | None":
        """Poses at a frame of the scene, or at the nearest one that has any; None: none has."""
        shown = self._latest()
        if shown is None:
            return None
        trajectory, first = shown.memory.trajectory, shown.export.frame_start
        assert trajectory is not None
        done = min(max(frame - first, 0), trajectory.frame_count)
        poses = trajectory.position[done], trajectory.orientation[done]
        return Picture((shown.number, done), first + done, shown.export.model, poses)

    def take(self, digest: dict) -> tuple[LiveRun, Iterator[BakeProgress]]:
        """Hand over a run of the scene with this digest, and the steps that are left of it; ends the session."""
        assert self._run is not None
        self.drags.release()
        has_nothing = self._steps is None and self._run.memory.trajectory is None
        if has_nothing or self._is_outdated(digest):
            self._begin()
        run, steps = self._run, self._steps or iter(())
        self._run = self._steps = self._looking = self._changed = None
        return run, steps

    # What is done

    def _look_on(self, looking):
        try:
            digest = next(looking)
        except (KeyError, ReferenceError):  # something was removed meanwhile
            self.note_change()
            return
        if digest is not None:
            self._looking = None
            if self._is_outdated(digest):
                self._begin()

    def _is_outdated(self, digest):
        """Whether the run is not one of a scene with this digest, or of its settings; one that has read nothing is."""
        run = self._run
        has_read = bool(run.digest) or self._steps is None
        return (has_read and run.digest != digest) or run.settings != self._settings()

    def _work(self, steps):
        try:
            progress = next(steps)
        except StopIteration:
            self._steps, failure = None, self._run.error
            self.error = SceneError(None, failure) if failure else None
        except Exception as error:
            self._steps, self.error = None, error
        else:
            self.text, self.waits = progress.text, progress.waits

    def _begin(self):
        """Begin another run, which goes on from what the last one that has simulated anything has left."""
        self.drags.release()
        self._shown = self._latest()
        self._end_run()
        earlier = self._shown.memory if self._shown is not None else None
        self.runs += 1
        self._run = LiveRun(self._scene_name, self._settings(), self._beside, earlier, self.runs, self.drags)
        self._steps, self.error, self.waits = self._run.frames(), None, False

    def _simulate_again(self, frame):
        """Simulate what comes after a frame anew."""
        assert self._run is not None
        self._shown = self._latest()
        self._end_run()
        self.runs += 1
        self._run = self._run.again(self.runs, frame)
        self._steps, self.error, self.waits = self._run.go_on(), None, False

    def _end_run(self):
        if self._steps is not None:
            self._steps.close()
        self._steps = None
        self._beside.rest()

    def _latest(self):
        """The run whose poses are the newest; the one before, while there are none of the present."""
        trajectory = self._run.memory.trajectory if self._run is not None else None
        has_begun = self._run is not None and trajectory is not None
        return self._run if has_begun and trajectory.frame_count >= self._run.shown_from else self._shown
