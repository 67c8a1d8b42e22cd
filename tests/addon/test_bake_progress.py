"""The time left counts all that is to be done, at its pace, and is told where it is known; the bar is one of frames."""

import math
import random

import pytest

from cairn.addon import bake_progress
from cairn.addon.bake_progress import Forecast, share_of_unknown


class Bake:
    """Plays a bake whose frames, samples and objects take so long each [s]."""

    def __init__(self, frames=100, samples=0, objects=0, bar=(0.0, 1.0), lead_in=0):
        self.time = 50.0
        self.forecast = Forecast(frames, samples, objects, bar, lead_in=lead_in, clock=lambda: self.time)
        self.factors = []

    def work(self, stage, units, seconds):
        self.time += seconds
        self.forecast.note(stage, units)
        self.factors.append(self.forecast.factor)
        return self.forecast.seconds_left


def test_nothing_is_said_before_some_frames_are_done():
    bake = Bake()
    assert [bake.work("simulate", 1, 1.0) is None for _ in range(5)] == [True] * 4 + [False]


def test_steady_frames_and_writing_add_up(monkeypatch):
    """The time left is that of the frames left and of all keyframes; the bar has a part for each, by time."""
    monkeypatch.setattr(bake_progress, "SECONDS_OF_OBJECT", 0.1)
    monkeypatch.setattr(bake_progress, "SECONDS_OF_KEYS", 0.0)
    bake = Bake(frames=100, samples=100, objects=500, bar=(0.2, 1.0))
    for done in range(20, 101, 20):
        bake.work("animation", 20, 4.0)
        for frame in range(done - 19, done + 1):
            left = bake.work("simulate", 1, 0.5)
            if frame > 5:
                assert left == pytest.approx(0.5 * (100 - frame) + 0.2 * (100 - done) + 50.0)
    assert bake.forecast.factor == pytest.approx(0.2 + 0.8 * 70.0 / 120.0, abs=0.02)
    for written in range(50, 501, 50):
        left = bake.work("write", 50, 5.0)
        assert left == pytest.approx(0.1 * (500 - written))
    assert bake.factors == sorted(bake.factors)
    assert bake.factors[-1] == 1.0


def test_a_frame_that_takes_long_counts_while_it_lasts():
    """Substeps let time pass: the forecast falls by it, not by a frame at its end."""
    bake = Bake()
    for _ in range(10):
        bake.work("simulate", 1, 4.0)
    lefts = [bake.work("simulate", 0, 1.0) for _ in range(3)] + [bake.work("simulate", 1, 1.0)]
    assert lefts == pytest.approx([359.0, 358.0, 357.0, 356.0])


def costs_of(kind, frames=200):
    """Seconds of each frame."""
    noise = random.Random(5)
    return {
        # nothing happens for a third of the frames; then a hit takes most of the time, and what it has thrown some
        "hit": lambda frame: 0.01 if frame < 74 else 9.2 if frame == 74 else 0.05,
        "slow hit": lambda frame: 0.01 if frame < 74 else 0.05 + 3.0 * math.exp(0.5 * (74 - frame)),
        "steps up": lambda frame: 0.1 if frame < 100 else 1.0,
        "grows": lambda frame: 0.2 + 0.01 * frame,
        "saturates": lambda frame: 1.0 - 0.9 * math.exp(-frame / 60),
        "every tenth": lambda frame: 2.0 if frame % 10 == 0 else 0.1,
        "noise": lambda frame: noise.lognormvariate(-2.0, 0.8),
        "tells": lambda frame: 0.5,
    }[kind], frames


@pytest.mark.parametrize("kind", ["hit", "slow hit", "steps up", "grows", "saturates", "every tenth", "noise", "tells"])
def test_a_time_that_is_told_is_never_far_off_for_long(kind):
    """Once a tenth is done, not above twice or below half for longer than a tenth of the bake; and it is told at all.

    Substeps let time pass, so that a frame which takes long is seen while it lasts.
    """
    cost_of, frames = costs_of(kind)
    bake, told = Bake(frames=frames), []
    for frame in range(frames):
        cost = cost_of(frame)
        pieces = max(round(cost / 0.05), 1)
        for piece in range(pieces):
            left = bake.work("simulate", int(piece == pieces - 1), cost / pieces)
            told.append((bake.time - 50.0, left))
    whole = told[-1][0]
    longest = off_since = 0.0
    for at, left in told:
        is_off = left is not None and whole - at > 1.0 and not 0.5 <= left / (whole - at) <= 2.0
        off_since = off_since if is_off else at
        if at > 0.1 * whole:
            longest = max(longest, at - max(off_since, 0.1 * whole))
    assert longest <= 0.1 * whole
    assert sum(left is not None for _, left in told) > 0.2 * len(told)


def test_the_bar_is_one_of_frames():
    """A wall that is hit late: it has come as far as the frames, moves with each, and never runs back."""
    cost_of, frames = costs_of("hit")
    bake = Bake(frames=frames, samples=frames, objects=10)
    bake.work("animation", frames, 5.0)  # all was read ahead
    for frame in range(frames):
        before = bake.forecast.factor
        bake.work("simulate", 1, cost_of(frame))
        if frame > bake_progress.FIRST_FRAMES and cost_of(frame) > bake_progress.FORECAST_EVERY:
            assert bake.forecast.factor > before
    assert bake.factors == sorted(bake.factors)
    middle = bake.factors[1 + 100]
    assert 0.45 < middle <= 0.51


def test_the_bar_has_come_as_far_as_frames_that_end_at_once():
    """A process of its own hands over several together; the next one may take long."""
    bake = Bake(frames=100)
    for _ in range(10):
        bake.work("simulate", 1, 1.0)
    for _ in range(20):
        bake.work("simulate", 1, 1e-4)
    assert bake.forecast.factor == pytest.approx(0.3)


def test_frames_read_before_the_first_move_the_bar():
    bake = Bake(frames=50, samples=100, lead_in=50)
    for _ in range(50):
        before = bake.forecast.factor
        bake.work("animation", 1, 1.0)
        assert bake.forecast.factor > before
    assert bake.forecast.factor == pytest.approx(0.5)
    bake.work("animation", 10, 1.0)
    assert bake.forecast.factor == pytest.approx(0.5)


def test_what_nobody_knows_moves_the_bar_by_the_clock():
    """Half of it in the time that is expected; it never ends."""
    shares = [share_of_unknown(seconds) for seconds in range(100)]
    assert shares == sorted(set(shares))
    assert shares[-1] < 1.0
    assert share_of_unknown(25.0, 25.0) == 0.5


def test_the_first_slice_of_writing_hardly_counts(monkeypatch):
    """A window draws after it: one of sixteen slices takes five times as long, and the time left does not jump."""
    monkeypatch.setattr(bake_progress, "SECONDS_OF_OBJECT", 0.01)
    monkeypatch.setattr(bake_progress, "SECONDS_OF_KEYS", 0.0)
    bake = Bake(frames=10, objects=160)
    for _ in range(10):
        before = bake.work("simulate", 1, 0.1)
    assert before == pytest.approx(1.6)
    left = bake.work("write", 10, 0.5)
    assert left is None or left < 2.2
    for _ in range(10):
        left = bake.work("write", 10, 0.1)
    assert left == pytest.approx(0.5, abs=0.25)
    assert bake.factors[-1] < 1.0


def test_writing_takes_longer_where_a_window_draws():
    lefts = []
    for in_window in (False, True):
        now = [0.0]
        forecast = Forecast(10, 0, 1000, (0.0, 1.0), in_window, clock=lambda now=now: now[0])
        for _ in range(10):
            now[0] += 0.1
            forecast.note("simulate")
        lefts.append(forecast.seconds_left)
    assert lefts[1] == pytest.approx(bake_progress.IN_WINDOW * lefts[0])


def test_after_a_stop_only_what_is_done_is_written(monkeypatch):
    monkeypatch.setattr(bake_progress, "SECONDS_OF_OBJECT", 0.1)
    monkeypatch.setattr(bake_progress, "SECONDS_OF_KEYS", 0.0)
    bake = Bake(frames=1000, samples=1000, objects=100)
    bake.work("animation", 10, 1.0)
    for _ in range(8):
        bake.work("simulate", 1, 1.0)
    bake.forecast.stop()
    assert bake.work("write", 50, 5.0) == pytest.approx(5.0)
    assert bake.work("write", 50, 5.0) == 0.0
    assert bake.factors[-1] == 1.0


def test_fast_frames_share_a_forecast():
    """Frames of a millisecond: it is made anew after 20 ms, and nothing is left at the end."""
    bake = Bake(frames=1000, samples=0, objects=0)
    told = [bake.work("simulate", 1, 1e-3) for _ in range(1000)]
    assert 45 <= len(set(told[5:])) <= 52
    assert told[499] == pytest.approx(0.5, abs=0.03)
    assert told[-1] == 0.0
    assert bake.forecast.factor == 1.0
