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


def test_words_say_how_long_and_how_long_it_has_taken(clock):
    """120 s of work for two cores."""
    preparation = Preparation((0.0, 1.0), clock)
    assert shown(preparation, clock, 0.0, 0.0, 120.0).text == (
        "Preparing the solver, first time only, about 1 minute (0:00)"
    )
    progress = shown(preparation, clock, 24.3, 20.0, 120.0)
    assert progress.text == "Preparing the solver, first time only, about 1 minute (0:24)"
    assert progress.factor == pytest.approx(24.3 / 60.0, abs=1e-3)


@pytest.mark.parametrize(
    ("work", "words"),
    [(4.0, "a few seconds"), (50.0, "about 20 seconds"), (110.0, "about 1 minute"), (400.0, "about 3 minutes")],
)
def test_round_words(clock, work, words):
    assert words in Preparation((0.0, 1.0), clock).progress(0.0, work).text


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
    assert all(re.fullmatch(r"Preparing the solver, first time only, .+ \(\d:\d\d\)", text) for text in texts)
