"""Frames of a bake in the window that are simulated in a process of their own, so that Blender draws and hears ESC.

A frame that is hit can take seconds, in one call of the solver. What is in a window is simulated beside it: from the
start where there are many bodies or joints, and else from the first frame on that takes long. The frames are the same
to the bit (``solver_core/simulation_beside.py``).
"""

import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # they load Numba
    from ..solver_core import Simulation
    from ..solver_core.simulation_beside import SimulationBeside

# Scenes of so many moving bodies and joints are simulated beside from the start, ...
MANY = 150
# ... and others from the frame on that takes longer than this [s]. To start a Python takes a second or two.
LONG_FRAME = 0.1
# So many frames at most are sent ahead of the one that is awaited: a window looks ten times a second.
AHEAD = 64


class Beside:
    """The process of a bake, if it has one.

    Parameters
    ----------
    wanted : bool
        Whether frames are to be simulated beside at all.
    ahead : int
        So many frames at most are sent ahead of the one that is awaited; None: ``AHEAD``.
    checkpoint_every : int or None
        Checkpoints come after every so many frames, whatever they cost; None: by the clock.
    """

    def __init__(self, wanted: bool, ahead: int | None = None, checkpoint_every: int | None = None):
        self.wanted = wanted
        self._ahead, self._checkpoint_every = ahead, checkpoint_every
        self.trouble = ""
        self._process: SimulationBeside | None = None
        self._loaded = False
        self._sent = 0

    @property
    def simulates(self) -> bool:
        """Whether it does the frames now."""
        return self._loaded

    def start(self) -> None:
        """Start the process, unless it is started or could not be; where that fails frames are simulated here."""
        if not self.wanted or self._process is not None:
            return
        from ..solver_core.simulation_beside import BesideLost, SimulationBeside

        try:
            self._process = SimulationBeside()
        except BesideLost as error:
            self._give_up(error)

    def take_over(self, simulation: "Simulation", frame: int, *, waits: bool) -> None:
        """Go on from a simulation, if there is a process: at once, or (``waits``) once it has started.

        Parameters
        ----------
        simulation : Simulation
        frame : int
            The next one of the scene.
        waits : bool
        """
        if self._process is None or self._loaded or (waits and not self._process.has_started):
            return
        self._process.load(simulation.model, simulation.options, simulation.checkpoint())
        self._loaded, self._sent = True, frame

    def feed(self, samples: "Any", frame: int, last: int) -> None:
        """Send frames ahead, as far as is known what drives them.

        Parameters
        ----------
        samples : callable (int) -> FrameSample or None
            By frame of the scene; None where that is not known yet.
        frame : int
            The one that is awaited.
        last : int
            Of the bake.
        """
        assert self._process is not None
        while self._sent <= min(last, frame + (AHEAD if self._ahead is None else self._ahead)):
            sample = samples(self._sent)
            if sample is None:
                return
            is_due = self._checkpoint_every is not None and self._sent % self._checkpoint_every == 0
            self._process.send(sample.frame_input, wants_checkpoint=is_due or self._sent == last)
            self._sent += 1

    def receive(self, simulation: "Simulation") -> "Any":
        """The awaited frame: (report, where its poses are), or None.

        Raises
        ------
        SimulationError, ValueError
        """
        from ..solver_core.simulation import SimulationError
        from ..solver_core.simulation_beside import BesideLost

        assert self._process is not None
        try:
            return self._process.receive()
        except BesideLost as error:
            if self._process.frame > simulation.frame:
                raise SimulationError(f"the process that simulated has ended: {error}") from error
            self._give_up(error)
            return None

    @property
    def state(self) -> "SimulationBeside":
        """Poses, velocities and checkpoint of the frame that was received last."""
        assert self._process is not None
        return self._process

    def _give_up(self, error):
        self.close()
        self.wanted, self._loaded = False, False
        self.trouble = f"frames were simulated within Blender, which was frozen meanwhile: {error}"

    def rest(self) -> None:
        """End what is simulated; the process stays, for another simulation to be taken over from."""
        self._loaded = False

    def close(self) -> None:
        """End the process."""
        self._loaded = False
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._process.close()
            self._process = None
