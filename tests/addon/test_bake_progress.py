"""The time left counts all that is to be done, at its pace; it does not jump, and the bar never runs back."""

from itertools import pairwise

import pytest

from cairn.addon import bake_progress
from cairn.addon.bake_progress import Forecast


class Bake:
    """Plays a bake whose frames, samples and objects take so long each [s]."""

    def __init__(self, frames=100, samples=0, objects=0, bar=(0.0, 1.0)):
        self.time = 50.0
        self.forecast = Forecast(frames, samples, objects, bar, clock=lambda: self.time)
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
    """At every frame the time left is that of the frames left and of all keyframes; the bar is the share of time."""
    monkeypatch.setattr(bake_progress, "SECONDS_OF_OBJECT", 0.1)
    monkeypatch.setattr(bake_progress, "SECONDS_OF_KEYS", 0.0)
    bake = Bake(frames=100, samples=100, objects=500, bar=(0.2, 1.0))
    for done in range(20, 101, 20):
        bake.work("animation", 20, 4.0)
        for frame in range(done - 19, done + 1):
            left = bake.work("simulate", 1, 0.5)
            if frame > 5:
                assert left == pytest.approx(0.5 * (100 - frame) + 0.2 * (100 - done) + 50.0)
    assert bake.forecast.factor == pytest.approx(0.2 + 0.8 * 70.0 / 120.0)
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


def test_the_time_left_does_not_jump():
    """Where frames become ten times as slow, it goes over to the new pace little by little."""
    bake = Bake(frames=400)
    for _ in range(100):
        bake.work("simulate", 1, 0.1)
    assert bake.forecast.seconds_left == pytest.approx(30.0)
    lefts = [bake.work("simulate", 1, 1.0) for _ in range(60)]
    steps = [later - earlier for earlier, later in pairwise(lefts)]
    assert max(steps) < 0.1 * 240
    assert lefts[-1] == pytest.approx(240.0, rel=0.1)
    assert bake.factors == sorted(bake.factors)


def test_the_first_slice_of_writing_hardly_counts(monkeypatch):
    """A window draws after it: one of sixteen slices takes five times as long, and the time left does not jump."""
    monkeypatch.setattr(bake_progress, "SECONDS_OF_OBJECT", 0.01)
    monkeypatch.setattr(bake_progress, "SECONDS_OF_KEYS", 0.0)
    bake = Bake(frames=10, objects=160)
    for _ in range(10):
        before = bake.work("simulate", 1, 0.1)
    assert before == pytest.approx(1.6)
    assert bake.work("write", 10, 0.5) < 2.2
    for _ in range(10):
        left = bake.work("write", 10, 0.1)
    assert left == pytest.approx(0.5, abs=0.25)


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
