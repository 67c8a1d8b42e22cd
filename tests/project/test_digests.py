"""The fingerprints of trajectories: what was recorded is played again, and what differs is told."""

import json

import pytest

from benchmarks import __main__, digests


def test_a_scene_that_moves_otherwise_is_told(tmp_path, capsys):
    """Nothing differs from what has just been recorded; of a list with another digest that scene alone is printed."""
    recorded, names = tmp_path / "recorded.json", ["cards", "fuzz 3"]
    assert __main__.main(["digests", "--quick", "--only", *names, "--json", str(recorded)]) == 0
    assert __main__.main(["digests", "--against", str(recorded)]) == 0
    table = json.loads(recorded.read_text())
    assert [(row["scene"], row["frames"]) for row in table["rows"]] == [(name, 12) for name in names]
    table["rows"][1]["digest"] = "0" * 64
    recorded.write_text(json.dumps(table))
    capsys.readouterr()
    assert __main__.main(["digests", "--against", str(recorded)]) == 1
    printed = capsys.readouterr().out
    assert "fuzz 3" in printed
    assert "cards" not in printed


@pytest.mark.parametrize("kind", ["gauntlet", "joints", "fuzz"])
def test_scenes_of_other_benchmarks_are_among_them(kind):
    """Each gives the same model twice; the quick run, which is compared between Pythons, has none of them."""
    names = [name for name in digests.CASES if name.startswith(kind)]
    case = digests.CASES[names[0]]
    assert case.make_model().names == case.make_model().names
    assert not set(names) & set(digests._QUICK)
