"""What is kept of frames that were simulated, so that the next run goes on from the first one that a change touches.

What drives a simulation from outside is one ``FrameInput`` a frame; all else is the model and the options. Where these
are the same, and the inputs up to a frame are, too, so are the poses up to that frame, to the bit.
"""

import hashlib
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checkpoints.running import BakeCheckpoints
from ..read.export_parts import fingerprint_of

if TYPE_CHECKING:  # they load Numba
    from ...solver_core import Simulation, Trajectory
    from ...solver_core.checkpoint import Checkpoint
    from ..read.exported_scene import SceneExport

# A state is kept after so many frames, and of so many at most every other one is forgotten.
EVERY, MOST = 8, 64


@dataclass
class Memory:
    """The frames of one run; 0 is the start pose.

    Attributes
    ----------
    identity : tuple
        Of ``identity_of``.
    inputs : dict of int to bytes
        By frame of the scene, the hash of what has driven it.
    velocities : list of float64 [body_count, 6]
    states : dict of int to Checkpoint
        By the number of frames done.
    trajectory : Trajectory or None
        None before the simulation has begun.
    """

    identity: tuple = ()
    inputs: dict[int, bytes] = field(default_factory=dict)
    velocities: list[np.ndarray] = field(default_factory=list)
    states: "dict[int, Checkpoint]" = field(default_factory=dict)
    trajectory: "Trajectory | None" = None

    def keep(self, state: "Checkpoint") -> None:
        """Keep a state; where there are many, every other of the earlier ones goes."""
        self.states[state.frame] = state
        if len(self.states) > MOST:
            for frame in sorted(self.states)[1:-1:2]:
                del self.states[frame]

    def last_state(self, frame_count: int) -> "Checkpoint | None":
        """The last state of at most so many frames."""
        kept = [frame for frame in self.states if frame <= frame_count]
        return self.states[max(kept)] if kept else None


class MemoryCheckpoints(BakeCheckpoints):
    """Checkpoints of a run, which are kept in memory alone.

    Attributes
    ----------
    memory : Memory
        What this run leaves.
    """

    def __init__(self):
        super().__init__(None)
        self.memory = Memory()
        self._earlier: tuple[Memory, Checkpoint] | None = None

    def go_on_from(self, earlier: Memory, frame_count: int) -> None:
        """Begin after the last state that another run has left within its first so many frames."""
        state = earlier.last_state(frame_count)
        self._earlier = (earlier, state) if state is not None else None

    def begin(self, simulation: "Simulation", identity: dict[str, Any], frame_count: int) -> "Trajectory":
        """As of ``BakeCheckpoints``."""
        trajectory = super().begin(simulation, identity, frame_count)
        if self._earlier is not None:
            earlier, state = self._earlier
            simulation.restore(state)
            for frame in range(1, state.frame + 1):
                before = earlier.trajectory
                trajectory.append(before.position[frame], before.orientation[frame], before.reports[frame - 1])
            self.velocities = earlier.velocities[: state.frame + 1]
            self.memory.states = {frame: kept for frame, kept in earlier.states.items() if frame <= state.frame}
            self._earlier = None  # nor what it had gone on from
        self.memory.trajectory, self.memory.velocities = trajectory, self.velocities
        return trajectory

    def note_frame(self, simulation: "Simulation", trajectory: "Trajectory") -> None:
        """Keep a state now and then; what is simulated beside has one of this frame or of one before."""
        self.velocities.append(simulation.velocities())
        if trajectory.frame_count < max(self.memory.states, default=0) + EVERY:
            return
        state = simulation.checkpoint()
        if state.frame > max(self.memory.states, default=0):
            self.memory.keep(state)


def identity_of(export: "SceneExport", options: dict[str, Any]) -> tuple:
    """What has to be the same for any frame to be: all but what drives frames, which is compared frame by frame.

    Parameters
    ----------
    export : SceneExport
    options : dict
        Keyword arguments of ``SimulationOptions``.
    """
    return fingerprint_of(export, export.default_sample, {}), tuple(sorted(options.items()))


def hash_of(value: Any) -> bytes:
    """A hash of what a ``FrameInput`` holds: numbers, texts, arrays, and these by name or one after the other."""
    digest = hashlib.blake2b(digest_size=16)
    _hash(digest, value)
    return digest.digest()


def _hash(digest, value):
    if isinstance(value, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    elif is_dataclass(value):
        digest.update(type(value).__name__.encode())
        _hash(digest, {entry.name: getattr(value, entry.name) for entry in fields(value)})
    elif isinstance(value, dict):
        for key, held in value.items():
            digest.update(repr(key).encode())
            _hash(digest, held)
    elif isinstance(value, (tuple, list)):
        digest.update(f"{len(value)}:".encode())
        for held in value:
            _hash(digest, held)
    else:
        digest.update(f"{value!r};".encode())
