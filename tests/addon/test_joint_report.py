"""What a bake says of joints: counts by kind, what each bears in every frame, which broke, when and under what load."""

import dataclasses
import json

import bpy
import pytest
from joint_scenes import cube, joint

from cairn.addon import cli, cli_scene, joint_report
from cairn.addon.bake import bake_scene
from cairn.addon.joint_report import NAMED_BREAKS, JointBreak, break_lines, break_notes
from cairn.addon.read.notes import grouped_notes
from cairn.addon.settings import BakeSettings

FRAMES = 12
GRAVITY = 9.81


@pytest.fixture
def hung(maker, tmp_path):
    """Three cubes that hang: one by a strong tie, one by a weak one, one by a hinge that it leans on."""
    cli_scene.ensure_registered()
    floor = cube(maker, "Floor", type="PASSIVE")
    for number, (name, threshold) in enumerate((("Strong", None), ("Weak", 0.030))):
        body = cube(maker, name, location=(3.0 * number, 0, 3))
        values = {} if threshold is None else {"use_breaking": True, "breaking_threshold": threshold}
        joint(maker, f"{name} Tie", floor, body, kind="FIXED", location=(3.0 * number, 0, 3), **values)
    cube(maker, "Arm", location=(0, 5, 3), mass=2.0)
    joint(maker, "Elbow", floor, maker.scene.objects["Arm"], kind="FIXED", location=(0, 4, 3))
    maker.scene.frame_end = maker.world.point_cache.frame_end = 1 + FRAMES
    return maker.save(tmp_path / "hung.blend")


def run(capsys, *arguments):
    capsys.readouterr()
    code = cli.main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, [line for line in err.splitlines() if line.startswith("cairn: ")]


def test_info_counts_joints_by_kind(hung, capsys):
    """As a line for people, one by one for programs."""
    assert "3 joints: 3 Fixed" in run(capsys, "info", hung)[1].splitlines()
    listed = json.loads(run(capsys, "info", hung, "--json")[1])["joints"]
    assert {entry["name"]: (entry["kind"], entry["first"], entry["second"]) for entry in listed} == {
        "Strong Tie": ("FIXED", "Floor", "Strong"),
        "Weak Tie": ("FIXED", "Floor", "Weak"),
        "Elbow": ("FIXED", "Floor", "Arm"),
    }


def test_without_joints_nothing_is_said_of_them(maker, tmp_path, capsys):
    """Neither by info nor in a report."""
    cube(maker)
    maker.world.point_cache.frame_end = 3
    path = maker.save(tmp_path / "plain.blend")
    assert " joint" not in run(capsys, "info", path)[1]
    report = tmp_path / "plain.json"
    assert run(capsys, "bake", path, "--report", report)[0] == 0
    written = json.loads(report.read_text())
    assert (written["joints"], written["breaks"], written["totals"]["joints"]) == ([], [], {})
    assert "joints" not in written["frames"][0]


def test_the_report_has_what_every_joint_bears(hung, capsys):
    """Weight in N, and its lever's torque in N m; how far a joint is open is next to nothing."""
    path = hung.with_name("report.json")
    assert run(capsys, "bake", hung, "--report", path)[0] == 0
    report = json.loads(path.read_text())
    rows = {name: row for row, name in enumerate(report["joints"])}
    assert report["totals"]["joints"] == {"FIXED": 3}
    last = report["frames"][-1]["joints"]
    assert set(last) == {"error", "error_angle", "force", "torque"}
    assert last["force"][rows["Strong Tie"]] == pytest.approx(GRAVITY, rel=1e-3)
    assert last["torque"][rows["Strong Tie"]] == pytest.approx(0.0, abs=1e-6)
    assert last["force"][rows["Elbow"]] == pytest.approx(2.0 * GRAVITY, rel=1e-3)
    assert last["torque"][rows["Elbow"]] == pytest.approx(2.0 * GRAVITY, rel=1e-3)
    assert last["force"][rows["Weak Tie"]] == 0.0
    for frame in report["frames"]:
        assert max(frame["joints"]["error"][rows[name]] for name in ("Strong Tie", "Elbow")) < 1e-6
        assert max(frame["joints"]["error_angle"][rows[name]] for name in ("Strong Tie", "Elbow")) < 1e-6


def test_numbers_of_a_frame_are_on_one_line(hung, capsys):
    """A list of numbers takes a line, not a line for each number."""
    path = hung.with_name("report.json")
    run(capsys, "bake", hung, "--report", path)
    lines = [line for line in path.read_text().splitlines() if '"force": [' in line and line.strip().startswith('"')]
    assert len([line for line in lines if line.count(",") >= 2]) == FRAMES


def test_a_bake_says_what_broke(hung, capsys):
    """By name, with the frame and the load, on stderr and among the notes; not with --quiet."""
    path = hung.with_name("report.json")
    _, out, lines = run(capsys, "bake", hung, "--report", path)
    (line,) = [line for line in lines if "broke" in line]
    assert line.startswith("cairn: Weak Tie broke at frame 2, under 9.81 N and ")
    assert line.endswith(" N m; by its Breaking Threshold it bears 7.2 N, or 7.2 N m")
    assert " broke at" not in out
    report = json.loads(path.read_text())
    (broken,) = report["breaks"]
    assert (broken["joint"], broken["frame"]) == ("Weak Tie", 2)
    assert broken["force"] == pytest.approx(GRAVITY, rel=1e-3)
    assert broken["bears"] == pytest.approx(0.030 * 24 * 10)
    note = report["notes"][0]
    assert (note["level"], note["object"]) == ("info", "Weak Tie")
    assert note["text"].startswith("broke at frame 2")
    assert run(capsys, "bake", hung, "--quiet") == (0, "", [])


def test_a_stop_before_the_end_tells_what_had_broken(hung):
    """Notes come with the frames that are kept."""
    result = bake_scene(bpy.context.scene, BakeSettings(end=4))
    assert [entry["joint"] for entry in result.report["breaks"]] == ["Weak Tie"]


def test_many_breaks_are_summed_up():
    """A command names the first one by one and counts the rest, with their frames; grouped notes are one."""
    breaks = [JointBreak(f"Glue.{number}", 10 + number, 5.0, 0.25) for number in range(NAMED_BREAKS + 30)]
    lines = break_lines(breaks)
    assert len(lines) == NAMED_BREAKS + 1
    assert lines[1] == "Glue.1 broke at frame 11, under 5 N and 0.25 N m"
    assert lines[-1].startswith("30 more joints broke, at frames 30 to 59")
    assert break_lines([]) == break_notes([]) == []
    alone = break_lines([dataclasses.replace(breaks[0])] * (NAMED_BREAKS + 1))
    assert alone[-1].startswith("1 more joint broke, at frame 10")
    ((level, text, names),) = grouped_notes(break_notes(breaks))
    assert (level, text) == ("info", f"broke at frame 10 to {9 + len(breaks)}, under 5 N and 0.25 N m")
    assert names == [entry.joint for entry in breaks]


def test_loads_and_thresholds_are_in_one_unit():
    """Also where the torque alone would be small; one whose threshold is keyed has none to name."""
    notes = break_notes([JointBreak("Glue", 5, 39123.0, 812.0, 4800.0), JointBreak("Keyed", 6, 1000.0, 20.0)])
    assert [note.text for note in notes] == [
        "broke at frame 5, under 39.1 kN and 0.812 kN m; by its Breaking Threshold it bears 4.8 kN, or 4.8 kN m",
        "broke at frame 6, under 1 kN and 0.02 kN m",
    ]


def test_loads_are_in_one_unit_without_exponents():
    assert joint_report.in_prefix([39123.0, 900.0, 0.0], "N") == ["39.1 kN", "0.9 kN", "0 kN"]
    assert joint_report.in_prefix([0.25, 5.0], "N m") == ["0.25 N m", "5 N m"]
    assert joint_report.in_prefix([7.65e6], "N") == ["7.65 MN"]
    assert joint_report.in_prefix([], "N") == []
