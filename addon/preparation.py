"""How far the preparation of a bake is, in words and on the bar: by the clock, set right by what is done."""

import contextlib
import math
import os
import time

from .bake_progress import BakeProgress, clock_text, share_of_bar, share_of_unknown
from .read import concave_shapes

# The processes that compile (solver_core/compiled/compile_processes.py, which would load Numba here).
_MOST_PROCESSES = 4
# The bar stops short of its end until all is done.
_ALMOST_DONE = 0.98
# From this share of the work on, how long it has taken tells how long all of it takes, which is said then: before, that
# depends on how fast the machine is, and what else runs on it.
_KNOWN_PACE = 0.2
# Steps of the bar.
_BAR_STEPS = 1000


class Preparation:
    """Progress of ``runtime.compile_kernels``: by the clock, set right by what is done.

    Parameters
    ----------
    bar : tuple of (float, float)
        Where it begins and ends on the one bar of all stages.
    clock : function, optional
    """

    def __init__(self, bar=(0.0, 1.0), clock=time.perf_counter):
        self._bar, self._clock = bar, clock
        self._started: float | None = None
        self._done = self._expected = self._factor = 0.0
        self._left, self._is_known = math.inf, False

    def progress(self, done: float, total: float) -> BakeProgress:
        """As a BakeProgress; ``done`` and ``total`` are seconds of work, without a total all is only loaded."""
        if not total:
            return BakeProgress("compile", 0, 0, "Loading the solver", self._bar[0])
        now = self._clock()
        if self._started is None:
            self._started = now
            # what one core was thought to take is shared
            self._expected = total / max(min(os.cpu_count() or 1, _MOST_PROCESSES), 1)
        elapsed = now - self._started
        if done > max(self._done, _KNOWN_PACE * total):
            self._expected = elapsed * total / done
            self._is_known = True
        self._done = done
        self._factor = min(max(self._factor, elapsed / max(self._expected, elapsed, 1e-9)), _ALMOST_DONE)
        left = ""
        if self._is_known:
            # it only falls: where the rest is slower than thought, it waits
            self._left = min(self._left, max(self._expected - elapsed, 0.0))
            left = f", {_about(self._left)} left"
        text = f"Preparing the solver, first time only{left} ({clock_text(elapsed)})"
        done = round(_BAR_STEPS * self._factor)
        return BakeProgress("compile", done, _BAR_STEPS, text, share_of_bar(done, _BAR_STEPS, self._bar))


def _about(seconds: float) -> str:
    """A duration in round words: "a few seconds", "about 40 seconds", "about 1 minute", "about 3 minutes"."""
    if seconds < 8.0:
        return "a few seconds"
    if seconds < 45.0:
        return f"about {10 * max(round(seconds / 10.0), 1)} seconds"
    minutes = max(round(seconds / 60.0), 1)
    return f"about {minutes} minute{'' if minutes == 1 else 's'}"


def decomposition_progress(pending, bar, timed):
    """Make convex parts, as a generator of BakeProgress; returns what ``concave_shapes.decompose`` does.

    Parameters
    ----------
    pending : list of (str, Decomposition)
    bar : tuple of (float, float)
    timed : callable
        Gives a context manager, in which a step of the work is done.
    """
    count, ends = len(pending), [time.perf_counter()]  # of the meshes so far
    with contextlib.closing(concave_shapes.decompose([decomposition for _, decomposition in pending])) as steps:
        while True:
            with timed():
                try:
                    done = next(steps)
                except StopIteration as end:
                    return end.value
            now = time.perf_counter()
            ends += [now] * (done + 1 - len(ends))
            if done < count:
                # one mesh takes seconds to minutes, and nobody knows how far it is: the clock shows that it lives
                spent, usual = now - ends[-1], (ends[-1] - ends[0]) / max(done, 1)
                text = f"Making convex parts of {pending[done][0]}, mesh {done + 1} of {count} ({clock_text(spent)})"
                share = share_of_bar(done + share_of_unknown(spent, usual), count, bar)
                yield BakeProgress("decompose", done, count, text, share)
