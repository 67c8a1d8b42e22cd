"""What a worker of a farm calls, in the real application with the installed zip: tasks, checkpoints, a table."""

import csv
import json
import shutil

import pytest
from flamenco_manager import compiled_tasks

TILT = "object:Upper.rotation_euler.y"


def digest(report):
    return json.loads(report.read_text())["totals"]["digest"]


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_tasks_of_flamenco_run_as_they_stand(blender, scene, tmp_path):
    """Two variants, each in a chain of two tasks: the bits of single bakes, pictures, and the table at the end."""
    folder = tmp_path / "wedge"
    emit = ["--emit", "flamenco", "--chunk", 24]
    blender.run("-b", scene, "--command", "cairn", "wedge", "--vary", f"{TILT}=0.1,0.3", "-o", folder, *emit)
    tasks = compiled_tasks(folder, tmp_path)
    assert [task["name"] for task in tasks] == [
        *("variant-1-until-25", "variant-1", "variant-2-until-25", "variant-2"),
        "table",
    ]
    for task in tasks:
        blender.run(*task["words"])
    for number, tilt in enumerate((0.1, 0.3), 1):
        report = tmp_path / f"{number}.json"
        change = f"import bpy; bpy.data.objects['Upper'].rotation_euler.y = {tilt}"
        output = ["-o", tmp_path / "single.blend", "--report", report]
        blender.run("-b", scene, "--python-expr", change, "--command", "cairn", "bake", *output)
        assert digest(folder / f"v000{number}.json") == digest(report)
        assert (folder / f"v000{number}.png").stat().st_size > 1000
    with (folder / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row[TILT], row["finished"], row["moved"]) for row in rows] == [("0.1", "yes", "2"), ("0.3", "yes", "2")]
    assert rows[0]["digest"] != rows[1]["digest"]
    assert (folder / "sheet.png").is_file()
    assert not list(folder.glob("*.checkpoint"))
