"""The way from a frame to Newton's method is as ``tools/floor_plan.py`` lists it, and no longer than decided."""

from pathlib import Path

import floor_plan
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("place", range(1, len(floor_plan.WAY)))
def test_each_calls_the_next(place):
    (file, function, _), (*_, called) = floor_plan.WAY[place - 1], floor_plan.WAY[place]
    assert called in floor_plan.names_called(file, function)


def test_the_way_ends_at_the_method():
    file, function, _ = floor_plan.WAY[-1]
    assert floor_plan.names_called(file, function)


def test_the_decision_says_how_long_the_way_is():
    page = (ROOT / "docs" / "decisions" / "53-one-way-through-an-island.md").read_text(encoding="utf-8")
    assert f"{len(floor_plan.WAY)} functions" in page


def test_thresholds_are_found(tmp_path):
    path = tmp_path / "sample.py"
    path.write_text("_A, B = 1e-3, 0.5\nCOUNT = 3\nname = 0.1\n\n\ndef f():\n    LOCAL = 0.2\n", encoding="utf-8")
    assert floor_plan.thresholds(path) == 2
