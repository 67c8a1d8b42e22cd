"""How far a bake is and how long it still takes: to read animation, to simulate, and to write keyframes."""

import bisect
import itertools
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it loads Numba
    from ..solver_core import FrameReport

# To write an object's keys takes so long for each object and for each of its frames, until it has been measured [s].
SECONDS_OF_OBJECT, SECONDS_OF_KEYS = 1e-3, 4e-6
# A window takes this many times as long: after a slice of writing it draws, or waits for the next tick, as long again.
IN_WINDOW = 2.0
# The pace of what is done is that of its latest units: of so many at least, which have taken this share of the time of
# all. What a hit has cost is then soon forgotten, and what heaps cost as they form is soon known.
LATEST_UNITS, LATEST_SHARE = 5, 0.1
# A guess of the pace counts as much as this share of the units that are left: the first slice of writing ends with the
# drawing of a window, and says little.
GUESSED = 0.5
# A time is told where the forecasts of the latest share of the bake agree: within this factor, or so much [s].
AGREE_SHARE, AGREE_FACTOR, AGREE_SECONDS = 0.1, 1.5, 1.0
# ... and while no frame takes more than so many times what frames have lately taken, and longer than this [s].
LONG_FRAME, LONG_FRAME_SECONDS = 2.0, 0.2
# Forecasts are remembered that lie so far apart, as a share of the time of all.
KEPT_SHARE = 1e-3
# A forecast holds for so long [s]: to make one takes as long as a frame of a few bodies.
FORECAST_EVERY = 0.02
# Frames after which their pace is known well enough to be told.
FIRST_FRAMES = 5
# To write keyframes has this share of the bar at most.
LARGEST_WRITE_SHARE = 0.5
# A stage of which nothing is known moves the bar by half of what is left of its part in so long [s].
SECONDS_OF_UNKNOWN = 10.0


@dataclass(frozen=True)
class BakeProgress:
    """Where a bake is.

    Attributes
    ----------
    stage : {"export", "decompose", "compile", "animation", "simulate", "write", "delete"}
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
    waits : bool
        There is nothing to do at the moment but to wait for another process.
    """

    stage: str
    done: int
    total: int
    text: str
    factor: float = 0.0
    frame: int | None = None
    report: "FrameReport | None" = None
    waits: bool = False


def clock_text(seconds: float) -> str:
    """A time that runs: "0:07", "12:30"."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def share_of_bar(done: float, total: int, bar: tuple[float, float]) -> float:
    """How full the bar is within the part of it that a stage has."""
    begin, end = bar
    return begin + (end - begin) * done / total if total else begin


def share_of_unknown(seconds: float, expected: float = 0.0) -> float:
    """How much of one thing is done after a time, as if it took about as long again: it always moves, and never ends.

    Parameters
    ----------
    seconds : float
        Since it has begun [s].
    expected : float
        What those before it have taken; 0: nothing is known.
    """
    return seconds / (seconds + (expected or SECONDS_OF_UNKNOWN))


class _Work:
    """Work in units, and the time that it has taken so far."""

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

    @property
    def latest(self) -> int:
        """Index from which on units say how long the next ones take."""
        by_count = bisect.bisect_right(self._done, self.done - LATEST_UNITS) - 1
        by_time = bisect.bisect_right(self._spent, (1.0 - LATEST_SHARE) * self._spent[-1]) - 1
        return max(min(by_count, by_time), 0)

    def pace(self) -> float:
        """Time of a unit [s], by the latest."""
        first, guessed = self.latest, GUESSED * (self.units - self.done) if self._guess else 0.0
        units, spent = self.done - self._done[first], self._spent[-1] - self._spent[first]
        return (guessed * self._guess + spent) / (guessed + units) if guessed + units else 0.0

    def left(self) -> float:
        """Forecast of the time that the rest takes [s]: a unit that takes longer than others says nothing of these."""
        left = self.units - self.done
        return max(left * self.pace() - self._open, (left - 1) * self.pace(), 0.0)

    def is_long(self) -> bool:
        """Whether the unit at work takes much longer than any of the latest."""
        latest = self._spent[self.latest :]
        longest = max((later - earlier for earlier, later in itertools.pairwise(latest)), default=0.0)
        return self._open > max(LONG_FRAME * longest, LONG_FRAME_SECONDS)


class Forecast:
    """How long the frames of a bake and their keyframes still take, by the clock: drawing of the window included.

    The bar is one of frames, since the time of frames to come is not known where something is still to be hit: it moves
    with each frame, and never runs back. To write keyframes has a part of it, by its share of the time; that share is
    the smallest one that was ever thought right, so that the bar does not stand.

    A time is told only where it is known: where forecasts have agreed for a while (``AGREE_SHARE`` of the bake), and
    the frame at work takes no longer than others.

    Parameters
    ----------
    frames, sampled_frames, objects : int
        To simulate, to read animation of, and to write.
    bar : tuple of (float, float)
        The part of the bar that these have.
    in_window : bool
        Whether a window draws between two slices of the work.
    lead_in : int
        How many of the sampled frames are read before the first one is simulated.
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
        lead_in: int = 0,
        clock: Callable[[], float] = time.perf_counter,
    ):
        self._works = {
            "simulate": _Work(frames, 0.0),
            "animation": _Work(sampled_frames, 0.0),
            "write": _Work(objects, (SECONDS_OF_OBJECT + SECONDS_OF_KEYS * frames) * (IN_WINDOW if in_window else 1.0)),
        }
        self._bar, self._lead_in, self._clock = bar, lead_in, clock
        self._start = self._last = self._told = clock()
        self._left: float | None = None
        # when forecasts were made, and the time of the whole bake by each
        self._times: list[float] = []
        self._totals: list[float] = []
        self._ends: deque[float] = deque(maxlen=LATEST_UNITS)  # of the latest frames
        self._write_share = LARGEST_WRITE_SHARE if objects else 0.0
        self._filled = 0.0

    def note(self, stage: str, units: int = 1) -> None:
        """Say that so many units of a stage are done: all time since the last call went into it."""
        now, work = self._clock(), self._works[stage]
        if stage == "simulate" and units:
            self._ends.append(now)
        work.note(units, now - self._last)
        self._last = now
        self._fill()  # frames may come many at once, with a long one after them
        if self._times and now - self._told < FORECAST_EVERY and work.done < work.units:
            return
        self._tell(now)

    def _tell(self, now):
        """Make a new forecast."""
        self._told = now
        if all(work.done >= work.units for work in self._works.values()):
            self._left, self._filled = 0.0, 1.0
            return
        passed, frames, write = now - self._start, self._works["simulate"], self._works["write"]
        left = sum(work.left() for work in self._works.values())
        if frames.done >= min(FIRST_FRAMES, frames.units):
            self._keep(now, passed + left)
            self._left = left if self._is_known(now, left) else None
            if not write.done and left + passed > 0.0:
                self._write_share = min(self._write_share, write.left() / (left + passed))
        self._fill()

    def _fill(self):
        """Move the bar to what is done."""
        frames, write = self._works["simulate"], self._works["write"]
        lead_in = min(self._works["animation"].done, self._lead_in)
        simulated = (lead_in + frames.done) / max(self._lead_in + frames.units, 1)
        written = write.done / write.units if write.units else 1.0
        share = self._write_share
        self._filled = max(self._filled, (1.0 - share) * simulated + share * (written if simulated == 1.0 else 0.0))

    def _keep(self, now, total):
        """Remember a forecast; those that were made at about the same time only once."""
        if self._times and now - self._times[-1] < KEPT_SHARE * (now - self._start):
            self._totals[-1] = total
            return
        self._times.append(now)
        self._totals.append(total)

    def _is_known(self, now, left):
        """Whether the forecasts of late agree with this one, as far as time goes."""
        if self._works["simulate"].is_long():
            return False
        since = min([now - AGREE_SHARE * (now - self._start), *itertools.islice(self._ends, 1)])
        lately = self._totals[bisect.bisect_left(self._times, since) :]
        total = self._totals[-1]
        off = max(max(lately) - total, total - min(lately))
        return off <= max((AGREE_FACTOR - 1.0) * left, AGREE_SECONDS)

    def stop(self) -> None:
        """No more frames: what is left is to write those that are done."""
        for stage in ("simulate", "animation"):
            self._works[stage].units = self._works[stage].done
        self._lead_in = min(self._lead_in, self._works["animation"].done)
        self._times, self._totals, self._left = [], [], None
        self._ends.clear()

    @property
    def seconds_left(self) -> float | None:
        """[s]; None where nothing can be said."""
        return self._left

    @property
    def factor(self) -> float:
        """How full the bar is; it never runs back, and is full when all is written."""
        begin, end = self._bar
        return begin + (end - begin) * self._filled
