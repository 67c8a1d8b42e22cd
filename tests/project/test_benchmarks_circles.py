"""The benchmarks on circles, on a few of them: what the reports hold, and what is true at any size."""

import importlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.problems.circles import circle_stack, pool

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def load(monkeypatch):
    """Import a benchmark, which is no part of the package."""
    monkeypatch.syspath_prepend(ROOT)
    return lambda name: importlib.import_module(f"benchmarks.{name}")


@pytest.fixture
def small_nielsen(load):
    nielsen = load("nielsen2009")
    return nielsen, nielsen.Setting(ball_count=25, steps=130)


@pytest.fixture
def small_miyamoto(load):
    """Scenes of 16 and 20 circles, and a short simulation."""
    miyamoto = load("miyamoto2019")
    pool_scene, _, stack_scene = miyamoto.SCENES
    scenes = (
        replace(
            pool_scene,
            make_plain=lambda seed: pool(4, 4, friction=0.0, seed=seed),
            make_rough=lambda: pool(4, 4),
        ),
        replace(
            stack_scene,
            make_plain=lambda seed: circle_stack(20, friction=0.0),
            make_rough=lambda: circle_stack(6),
        ),
    )
    return miyamoto, miyamoto.Setting(scenes=scenes, step=20, seeds=3, figure_steps=40, table_2_steps=8)


def claims_of(report):
    return {claim.claim: claim for claim in report.claims}


def test_nielsen2009_holds_what_it_claims(small_nielsen, tmp_path):
    """Every claim holds for fewer balls too, and the report can be written and read."""
    nielsen, setting = small_nielsen
    report = nielsen.measure(setting)
    assert [claim.claim for claim in report.claims if not claim.holds] == []
    assert {row["start"] for row in report.rows[:2]} == {"zero", "last step's impulses"}
    assert all(row["steps"] == 130 and row["largest r'r"] <= 1e-5 for row in report.rows[:2])
    assert all(row["at last"] < row["energy at first [J]"] for row in report.rows[:2])
    report.save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["name"] == "nielsen2009"
    assert "Note:" in report.text()


def test_nielsen2009_notices_what_is_wrong(small_nielsen, monkeypatch):
    """A solver that is stopped after one sweep fails the claim on the residual, and the report with it."""
    nielsen, setting = small_nielsen
    monkeypatch.setattr(nielsen, "_MOST_ITERATIONS", 1)
    report = nielsen.measure(setting)
    assert not claims_of(report)["r'r in every step"].holds
    assert not report.holds()


def test_miyamoto2019_has_both_tables_and_the_figures(small_miyamoto):
    """Each scene has its rows, the counts do not depend on A's form, and gamma Omega = D is Gauss-Seidel."""
    miyamoto, setting = small_miyamoto
    report = miyamoto.measure(setting)
    parts = {row["part"] for row in report.rows}
    assert parts == {
        f"{part}, {scene}" for part in ("Table 1", "Table 2", "Figures 6 to 8") for scene in ("Pool 1", "Stacking")
    }
    claims = claims_of(report)
    for scene in ("Pool 1", "Stacking"):
        assert claims[f"Table 1, {scene}: sweeps of 3.1 and 2.2 differ by"].holds
        assert claims[f"Table 1, {scene}: sweeps at gamma Omega = D and of PGS differ by"].holds
    # times are noise in a test, and must not decide whether a report holds
    assert all(claim.timed == ("time" in claim.claim) for claim in report.claims)


def test_half_of_the_sweeps_on_a_chain(small_miyamoto):
    """On a stack the ratio of sweeps is that of the theory of over-relaxation: (2 - omega) / omega, omega = 4/3."""
    miyamoto, setting = small_miyamoto
    report = miyamoto.measure(replace(setting, scenes=setting.scenes[1:]))
    ratio = claims_of(report)["Table 1, Stacking: sweeps over PGS"].ours
    assert ratio == pytest.approx(0.5, abs=0.03)


def test_count_of_sweeps_is_exact(small_miyamoto):
    """The count is the first at which RES < 1e-4, found by trying each in turn."""
    miyamoto, setting = small_miyamoto
    problem = miyamoto._step_problem(setting.scenes[1], 20, 0)
    lcp, start = problem
    count = miyamoto._count(problem, "PGS")
    x, matrix = start.copy(), lcp.dense
    for sweeps in range(count + 1):
        error = np.linalg.norm(np.minimum(x, matrix @ x + lcp.b))
        assert (error < 1e-4) == (sweeps == count), sweeps
        for row in range(len(x)):
            x[row] = max(0.0, x[row] - (matrix[row] @ x + lcp.b[row]) / matrix[row, row])


def test_pictures_are_saved(small_nielsen, small_miyamoto, tmp_path):
    """The strip, the moving picture and a plot a scene are PNG and GIF files that are not empty."""
    pytest.importorskip("matplotlib")
    nielsen, _ = small_nielsen
    nielsen.measure(nielsen.Setting(ball_count=6, steps=24), tmp_path)
    miyamoto, setting = small_miyamoto
    miyamoto.measure(replace(setting, scenes=setting.scenes[:1], seeds=1, figure_steps=30, table_2_steps=2), tmp_path)
    starts = {path.name: path.read_bytes()[:4] for path in tmp_path.iterdir()}
    assert starts == {
        "nielsen2009_balls.png": b"\x89PNG",
        "nielsen2009_balls.gif": b"GIF8",
        "miyamoto2019_pool1.png": b"\x89PNG",
    }
