"""How far a bake is and how long it still takes: to read animation, to simulate, and to write keyframes."""

import bisect
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it loads Numba
    from ..solver_core import FrameReport

# To write an object's keys takes so long for each object and for each of its frames, until it has been measured [s].
SECONDS_OF_OBJECT, SECONDS_OF_KEYS = 1e-3, 4e-6
# A window takes this many times as long: after a slice of writing it draws, or waits for the next tick, as long again.
IN_WINDOW = 2.0
# The pace of what is done is that of the latest part of it: heaps take longer as they form.
LATEST = 0.25
# The time left goes over to a new forecast within so long [s], so that it does not jump.
SMOOTHING = 3.0
# A forecast holds for so long [s]: to make one takes as long as a frame of a few bodies.
FORECAST_EVERY = 0.02
# Frames after which their pace is known well enough to be told.
FIRST_FRAMES = 5


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
    factor : float
        How full the one bar of all stages is, 0 to 1.
    frame : int or None
        The scene's frame that was simulated last.
    report : FrameReport or None
        Of that frame, once.
    """

    stage: str
    done: int
    total: int
    text: str
    factor: float = 0.0
    frame: int | None = None
    report: "FrameReport | None" = None


def share_of_bar(done: int, total: int, bar: tuple[float, float]) -> float:
    """How full the bar is within the part of it that a stage has."""
    begin, end = bar
    return begin + (end - begin) * done / total if total else begin


class _Work:
    """Work in units of about the same cost, and the time that it has taken so far.

    A guess of the pace, where there is one, counts as much as ``LATEST`` of the work: the first slice of writing ends
    with the drawing of a window, and says little.
    """

    def __init__(self, units: int, guess: float):
        self.units, self._guess = units, guess
        self._done, self._spent = [0], [0.0]
        self._open = 0.0  # time spent since the last unit was done

    @property
    def done(self) -> int:
        return self._done[-1]

    def note(self, units: int, seconds: float) -> None:
        """Count time, and the units that it has finished."""
        self._open += seconds
        if units:
            self._done.append(self.done + units)
            self._spent.append(self._spent[-1] + self._open)
            self._open = 0.0

    def left(self) -> float:
        """Forecast of the time that the rest takes [s], at the pace of the latest part."""
        latest = bisect.bisect_right(self._done, (1.0 - LATEST) * self.done) - 1
        guessed = LATEST * self.units if self._guess else 0.0
        units, spent = self.done - self._done[latest], self._spent[-1] - self._spent[latest]
        pace = (guessed * self._guess + spent) / (guessed + units) if guessed + units else 0.0
        return max(pace * (self.units - self.done) - self._open, 0.0)


class Forecast:
    """How long the frames of a bake and their keyframes still take, by the clock: drawing of the window included.

    Parameters
    ----------
    frames, sampled_frames, objects : int
        To simulate, to read animation of, and to write.
    bar : tuple of (float, float)
        The part of the bar that these have.
    in_window : bool
        Whether a window draws between two slices of the work.
    clock : callable () -> float
        [s]
    """

    def __init__(
        self,
        frames: int,
        sampled_frames: int,
        objects: int,
        bar: tuple[float, float],
        in_window: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ):
        self._works = {
            "simulate": _Work(frames, 0.0),
            "animation": _Work(sampled_frames, 0.0),
            "write": _Work(objects, (SECONDS_OF_OBJECT + SECONDS_OF_KEYS * frames) * (IN_WINDOW if in_window else 1.0)),
        }
        self._bar, self._clock = bar, clock
        self._start = self._last = self._told = clock()
        self._left: float | None = None
        self._filled = 0.0

    def note(self, stage: str, units: int = 1) -> None:
        """Say that so many units of a stage are done: all time since the last call went into it."""
        now, work = self._clock(), self._works[stage]
        work.note(units, now - self._last)
        self._last = now
        if self._left is not None and now - self._told < FORECAST_EVERY and work.done < work.units:
            return
        if self._is_known():
            self._tell(now)

    def _tell(self, now):
        """Make a new forecast."""
        since, self._told = now - self._told, now
        if all(work.done >= work.units for work in self._works.values()):
            self._left, self._filled = 0.0, 1.0
            return
        forecast = sum(work.left() for work in self._works.values())
        expected = forecast if self._left is None else max(self._left - since, 0.0)
        self._left = forecast + (expected - forecast) * math.exp(-since / SMOOTHING)
        passed = now - self._start
        self._filled = max(self._filled, passed / (passed + self._left) if passed > 0.0 else 0.0)

    def stop(self) -> None:
        """No more frames: what is left is to write those that are done."""
        for stage in ("simulate", "animation"):
            self._works[stage].units = self._works[stage].done
        self._left = None

    def _is_known(self):
        frames = self._works["simulate"]
        return frames.done >= min(FIRST_FRAMES, frames.units)

    @property
    def seconds_left(self) -> float | None:
        """[s]; None before anything can be said."""
        return self._left

    @property
    def factor(self) -> float:
        """How full the bar is; it never runs back, and is full when all is written."""
        begin, end = self._bar
        return begin + (end - begin) * self._filled
