"""What a user reads while the solver is prepared: how long it takes, and a bar that moves with the clock."""

import re

import pytest

from cairn.addon.preparation import Preparation

CORES = 2


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests set."""
    monkeypatch.setattr("os.cpu_count", lambda: CORES)
    return type("Clock", (), {"now": 100.0, "__call__": lambda self: self.now})()


def shown(preparation, clock, seconds, done, total):
    clock.now = 100.0 + seconds
    return preparation.progress(done, total)


def test_what_is_only_loaded_takes_no_time(clock):
    progress = Preparation((0.2, 0.6), clock).progress(0.0, 0.0)
    assert progress.text == "Loading the solver"
    assert progress.factor == 0.2


def test_words_say_how_long_once_it_is_known(clock):
    """120 s of work for two cores: nothing is said before a fifth of it is done; the clock runs from the start."""
    preparation = Preparation((0.0, 1.0), clock)
    assert shown(preparation, clock, 0.0, 0.0, 120.0).text == "Preparing the solver, first time only (0:00)"
    progress = shown(preparation, clock, 12.3, 20.0, 120.0)
    assert progress.text == "Preparing the solver, first time only (0:12)"
    assert progress.factor == pytest.approx(12.3 / 60.0, abs=1e-3)
    # half of the work in a minute: twice as slow as was thought
    words = shown(preparation, clock, 60.0, 60.0, 120.0).text
    assert words == "Preparing the solver, first time only, about 1 minute left (1:00)"


def test_the_time_left_only_falls(clock):
    """Where what is left is slower than what was done, it waits."""
    preparation, lefts = Preparation((0.0, 1.0), clock), []
    for seconds, done in ((10.0, 30.0), (20.0, 60.0), (60.0, 70.0), (100.0, 80.0), (101.0, 119.0)):
        shown(preparation, clock, seconds, done, 120.0)
        lefts.append(preparation._left)
    assert lefts == sorted(lefts, reverse=True)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(4.0, "a few seconds"), (22.0, "about 20 seconds"), (55.0, "about 1 minute"), (200.0, "about 3 minutes")],
)
def test_round_words(clock, seconds, words):
    """A quarter of the work is done in a third of what is left."""
    preparation = Preparation((0.0, 1.0), clock)
    shown(preparation, clock, 0.0, 0.0, 100.0)
    text = shown(preparation, clock, seconds / 3, 25.0, 100.0).text
    assert f", {words} left (" in text


@pytest.mark.parametrize("pace", [0.3, 1.0, 3.0])
def test_the_bar_grows_with_time_and_ends_with_the_work(clock, pace):
    """On a machine that is busy or fast too: it never goes back, moves at every look, and is nearly full at the end."""
    preparation, total, factors, texts = Preparation((0.0, 1.0), clock), 100.0, [], []
    end = total / (CORES * pace)
    for step in range(101):
        seconds = end * step / 100
        finished = 10.0 * int(pace * CORES * seconds / 10.0)  # kernels of ten seconds
        progress = shown(preparation, clock, seconds, finished, total)
        factors.append(progress.factor)
        texts.append(progress.text)
    assert factors == sorted(factors)
    assert factors[0] == 0.0
    assert factors[25] > 0.0
    assert 0.85 <= factors[-1] < 1.0
    assert all(re.fullmatch(r"Preparing the solver, first time only(, .+ left)? \(\d:\d\d\)", text) for text in texts)
