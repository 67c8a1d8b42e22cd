"""One run of *Live*: a bake whose frames stay in memory, and that goes on from what the run before it has left.

While it waits for the next tick the user may do anything, Undo included. So all that is read of the scene is read
within one step, and no copy of the scene outlives it, which Undo would bring back.
"""

import contextlib
import copy
from collections.abc import Iterator
from dataclasses import replace

from ..bake import Bake
from ..bake_progress import BakeProgress
from ..bake_result import BakeResult
from ..beside import Beside
from ..read.aside import Aside
from ..read.notes import Note
from ..settings import BakeSettings
from .drags import Drags
from .memory import Memory, MemoryCheckpoints, hash_of, identity_of

# Animation is read in slices of so long: after each of them, since a copy of the scene was there, a window draws [s].
READING_SLICE = 0.4


class LiveRun(Bake):
    """A bake that is not written, unless somebody keeps it.

    Parameters
    ----------
    scene_name : str
    settings : BakeSettings
    beside : Beside
        The process, which outlives the run.
    earlier : Memory or None
        What the run before it has left.
    number : int
        Tells it from others.
    drags : Drags
        What was dragged, which drives frames, too.

    Attributes
    ----------
    shown_from : int
        So many frames have to be there before it is shown in place of the run before it.
    """

    checkpoints: MemoryCheckpoints

    def __init__(
        self,
        scene_name: str,
        settings: BakeSettings,
        beside: Beside,
        earlier: Memory | None,
        number: int,
        drags: Drags | None = None,
    ):
        super().__init__(scene_name, settings, beside=True)
        self.beside, self.checkpoints = beside, MemoryCheckpoints()
        self.drags, self.shown_from = drags or Drags(), 0
        self.digest, self.number = {}, number
        self._earlier = earlier

    @property
    def memory(self) -> Memory:
        """What it has simulated so far."""
        return self.checkpoints.memory

    def reading(self, steps):
        """Read all in one step."""
        yield BakeProgress("export", 0, 0, "Reading the scene", self.bar_filled)
        with self.timed("export"):
            while True:
                try:
                    next(steps)
                except StopIteration as end:
                    return end.value

    def evaluating_aside(self):
        """Nothing: each slice of reading animation has a copy of the scene for itself."""
        return contextlib.nullcontext()

    @contextlib.contextmanager
    def _evaluating(self):
        with (
            self.timed("animation"),
            Aside(self.scene, self.export, self.lead_in_names) as self.aside,
            self.aside.frames(self.scene) as shown,
        ):
            yield shown

    def compile(self):
        """As of a bake; then the process starts, also for few bodies: the window plays meanwhile."""
        yield from super().compile()
        self.beside.start()

    def simulate(self):
        """Go on where the run before it is still right, and simulate the rest."""
        yield from self._find_first_touched()
        self._notes = list(self.export.notes)
        yield from super().simulate()

    def _find_first_touched(self):
        """Compare what drives each frame with what has driven it, as far as states are kept."""
        from ...solver_core.trajectory import Trajectory

        earlier, self._earlier = self._earlier, None
        self.memory.identity = identity_of(self.export, self.options)
        if earlier is None or earlier.identity != self.memory.identity:
            return
        model, first, same = self.export.model, self.export.frame_start, 0
        # what reading animation tells of where it is
        state = model.initial_state
        self.trajectory = Trajectory(*model.user_poses(state.position, state.orientation))
        self.forecast = self._forecast(first + 1, self.export.frame_end)
        last = min(first + max(earlier.states, default=0), self.export.frame_end)
        yield from self._sample_up_to(last)
        for frame in range(first + 1, last + 1):
            self._given_sample_of(frame)
            if self.memory.inputs[frame] != earlier.inputs.get(frame):
                break
            same = frame - first
        self.checkpoints.go_on_from(earlier, same)

    @property
    def _slice(self):
        return READING_SLICE

    def again(self, number: int, frame: int) -> "LiveRun":
        """Another run of what this one has read, which simulates anew what comes after a frame (``go_on``).

        What drives the frames up to that one has to be the same.
        """
        run, first = copy.copy(self), self.export.frame_start
        run.number, run.shown_from, run.turns = number, frame - first, {}
        run.export = replace(self.export, notes=list(self._notes))
        run.error, run.stopped, run.seconds = None, False, dict(self.seconds)
        run.checkpoints = MemoryCheckpoints()
        run.memory.identity = self.memory.identity
        run.memory.inputs = {each: held for each, held in self.memory.inputs.items() if each <= frame}
        run.checkpoints.go_on_from(self.memory, frame - first)
        return run

    def go_on(self) -> Iterator[BakeProgress]:
        """The steps of what ``again`` has given."""
        yield from super().simulate()

    def _simulate_frame(self, simulation, frame, last):
        while not self.drags.is_known(frame):
            yield self._progress("simulate", f"Frame {frame} of {self.export.frame_end}", frame - 1, waits=True)
        return (yield from super()._simulate_frame(simulation, frame, last))

    def _known_sample_of(self, frame):
        return super()._known_sample_of(frame) if self.drags.is_known(frame) else None

    def _release(self, sample):
        """Nothing is forgotten: what follows a frame may be simulated again."""

    def _given_sample_of(self, frame):
        sample = super()._given_sample_of(frame)
        pull = self.drags.pull(frame, self.export.model)
        if pull is not None:
            sample = replace(sample, pull=pull)
        if frame not in self.memory.inputs:
            self.memory.inputs[frame] = hash_of(sample.frame_input)
        return sample

    def keep_steps(self, steps: Iterator[BakeProgress], keeps_earlier: bool) -> Iterator[BakeProgress]:
        """Simulate what is left, and write it as a bake would: a generator that returns the BakeResult.

        Parameters
        ----------
        steps : iterator of BakeProgress
            Of ``frames``, as far as it is.
        keeps_earlier : bool
            As of ``bake_frames``.
        """
        with contextlib.closing(self.beside):
            yield from steps
        self.kept = None  # all of it is new
        last = self.export.frame_start + self.trajectory.frame_count
        for name, begin, end in self.drags.spans():
            if begin <= last:
                text = f"was dragged by hand in frames {begin} to {min(end, last)}; another bake moves without that"
                self.export.notes.append(Note("info", name, text))
        result: BakeResult = yield from self.conclude(keeps_earlier)
        return result
