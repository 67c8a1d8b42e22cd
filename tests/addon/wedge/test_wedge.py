"""``cairn wedge`` on this machine: the same bits as single bakes, a table, a sheet, and going on after kills.

What bakes in children runs on one Python by day; ``test_wedge_panel.py`` compares children with the panel on each.
"""

import csv
import itertools
import json
import os
import signal
import sys
import time

import bpy
import numpy as np
import pytest
from bpy_extras.object_utils import world_to_camera_view
from command_line import run, start
from mathutils import Vector
from wedge_scenes import digests, make_slope

from cairn.addon.bake import bake_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.wedge import task
from cairn.addon.wedge.local import _Running

VARY = ["--vary", "friction=0.2,0.9", "--vary", "object:Ball.mass=1,5", "--jobs", "2"]


@pytest.fixture
def slope(maker, tmp_path):
    import cairn

    cairn.register()
    return make_slope(maker, tmp_path / "slope.blend")


@pytest.fixture
def singles(slope):
    """Digests of the four variants of VARY, each set up by hand and baked by itself."""
    found = {}
    for number, (friction, mass) in enumerate([(0.2, 1), (0.2, 5), (0.9, 1), (0.9, 5)], 1):
        bpy.ops.wm.open_mainfile(filepath=str(slope), load_ui=False)
        scene = bpy.context.scene
        for name in ("Floor", "Ball", "Box.001", "Keyed"):
            scene.objects[name].rigid_body.friction = friction
        scene.objects["Ball"].rigid_body.mass = mass
        found[number] = bake_scene(scene, BakeSettings.from_scene(scene)).report["totals"]["digest"]
    assert len(set(found.values())) > 1
    return found


def rows(folder):
    with (folder / "table.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.one_python
def test_variants_are_what_single_bakes_are(slope, singles):
    """To the bit; with a table, pictures and a contact sheet; called again it bakes nothing."""
    folder = slope.parent / "wedge"
    code, said, _ = run("wedge", slope, *VARY, "-o", folder)
    assert code == 0
    assert "4 of 4 variants are baked" in said
    assert digests(folder) == singles
    table = rows(folder)
    assert [(row["variant"], row["friction"], row["object:Ball.mass"]) for row in table] == [
        ("1", "0.2", "1"),
        ("2", "0.2", "5"),
        ("3", "0.9", "1"),
        ("4", "0.9", "5"),
    ]
    assert {row["finished"] for row in table} == {"yes"}
    assert [row["digest"] for row in table] == list(singles.values())
    assert 0 < float(table[0]["farthest [m]"]) < 1.0
    sheet = bpy.data.images.load(str(folder / "sheet.png"))
    assert tuple(sheet.size) == (2 * 320 + 3 * 8, 2 * 180 + 3 * 8)
    assert not list(folder.glob("*.checkpoint"))
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("v*")}
    assert run("wedge", slope, *VARY, "-o", folder)[0] == 0
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("v*")} == before
    bpy.ops.wm.open_mainfile(filepath=str(folder / "v0004.blend"), load_ui=False)
    assert bpy.data.objects["Ball"].rigid_body.mass == 5
    assert bpy.context.scene.cairn.baked_end == 10


@pytest.mark.one_python
def test_trajectories_alone(slope, singles):
    """Poses with names, and no .blend and no pictures."""
    folder = slope.parent / "wedge"
    code, *_ = run("wedge", slope, *VARY, "-o", folder, "--trajectories", "--no-pictures")
    assert code == 0
    assert digests(folder) == singles
    assert {path.suffix for path in folder.glob("v*")} == {".json", ".npz"}
    with np.load(folder / "v0001.npz", allow_pickle=False) as poses:
        assert "Ball" in poses["names"].tolist()
        assert poses["position"].shape == (10, 4, 3)


@pytest.mark.one_python
def test_seeds(slope):
    """Random starts differ, and the same seed gives the same motion again."""
    options = ["--seeds", "2", "--jitter", "0.01", "--no-pictures", "--trajectories"]
    found = []
    for name in ("first", "second"):
        assert run("wedge", slope, *options, "-o", slope.parent / name)[0] == 0
        found.append(digests(slope.parent / name))
    assert found[0] == found[1]
    assert len(set(found[0].values())) == 2


@pytest.mark.one_python
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_after_a_kill_of_parent_and_child(slope, singles):
    """The parent is killed while variants are baked, its children end, and a second call does the rest."""
    folder = slope.parent / "wedge"
    arguments = ["wedge", slope, *VARY, "-o", folder, "--no-pictures"]
    parent = start(*arguments)
    children = wait_for(lambda: processes_below(parent.pid))
    os.kill(children[0], signal.SIGKILL)
    wait_for(lambda: list(folder.glob("v*.json")))
    parent.kill()
    parent.communicate()
    assert len(digests(folder)) < 4
    assert run(*arguments)[0] == 0
    assert digests(folder) == singles


@pytest.mark.one_python
@pytest.mark.nightly
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_24_variants_on_two_processes(slope):
    """One child is killed, then the parent; called again it leaves what 24 single bakes leave, with table and sheet."""
    folder = slope.parent / "wedge"
    frictions, masses, solvers = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), (1, 5), ("auto", "nncg")
    vary = ["--vary", "friction=0.1:0.6:6", "--vary", "object:Ball.mass=1,5", "--vary", "solver=auto,nncg"]
    arguments = ["wedge", slope, *vary, "-o", folder, "--jobs", 2]
    parent = start(*arguments)
    os.kill(wait_for(lambda: processes_below(parent.pid))[0], signal.SIGKILL)
    wait_for(lambda: len(digests(folder)) >= 3)
    parent.kill()
    parent.communicate()
    assert len(digests(folder)) < 24
    assert run(*arguments)[0] == 0

    singles = {}
    for number, (friction, mass, solver) in enumerate(itertools.product(frictions, masses, solvers), 1):
        bpy.ops.wm.open_mainfile(filepath=str(slope), load_ui=False)
        scene = bpy.context.scene
        scene.cairn.method = solver
        for body in ("Floor", "Ball", "Box.001", "Keyed"):
            scene.objects[body].rigid_body.friction = friction
        scene.objects["Ball"].rigid_body.mass = mass
        singles[number] = bake_scene(scene, BakeSettings.from_scene(scene)).report["totals"]["digest"]
    assert digests(folder) == singles
    assert [row["digest"] for row in rows(folder)] == list(singles.values())
    assert (folder / "sheet.png").is_file()


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    pytest.fail("it did not happen")


def processes_below(parent):
    """Children of a process, on Linux; elsewhere none are known."""
    found = []
    for stat in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if stat.isdigit():
            try:
                with open(f"/proc/{stat}/stat") as file:
                    if int(file.read().rpartition(")")[2].split()[1]) == parent:
                        found.append(int(stat))
            except OSError:
                continue
    return found


@pytest.mark.one_python
def test_a_variant_that_fails(slope, monkeypatch):
    """The others are baked; the failed one is named with its values, and the exit code is 1."""
    bpy.ops.wm.open_mainfile(filepath=str(slope), load_ui=False)
    bpy.data.objects["Box.001"].rigid_body.mass = 1e-3
    bpy.ops.wm.save_as_mainfile(filepath=str(slope), check_existing=False)
    folder = slope.parent / "wedge"
    code, said, lines = run(
        "wedge",
        slope,
        "--vary",
        "object:Box.001.scale.x=1,0",
        "-o",
        folder,
        "--no-pictures",
        "--trajectories",
        "--jobs",
        1,
    )
    assert code == 1
    assert "1 of 2 variants are baked" in said
    assert "variant 2 (object:Box.001.scale.x 0) has failed: Box.001: " in lines[-1]
    assert [row["finished"] for row in rows(folder)] == ["yes", "no"]


def test_how_far_a_task_is_and_what_it_died_of(tmp_path):
    """From its frames, wherever it began; an error of Python is told by its last line, a signal by none."""
    lines = tmp_path / "lines"
    task = _Running(None, None, lines)
    lines.write_text("")
    assert (task.share(), task.said()) == (0.0, "")
    lines.write_text("cairn: Frame 101 of 201\ncairn: Frame 151 of 201, 3 s left\n")
    assert task.share() == pytest.approx(0.5)
    lines.write_text("cairn: Frame 1 of 2\ncairn: Box: it is sheared\nError: Not freed memory blocks: 3\n")
    assert task.said() == "Box: it is sheared"
    lines.write_text("cairn: Frame 1 of 2\nTraceback (most recent call last):\n  here: there\nOSError: no\nquit\n")
    assert task.said() == "OSError: no"


def test_the_picture_shows_where_bodies_fall_to(maker, tmp_path):
    """Of a scene without a camera: the start, and the ground below it, also below another body."""
    import cairn

    cairn.register()
    maker.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(20, 20, 1))
    for height in (2.0, 6.0):
        maker.body(f"At {height}", shape="BOX", location=(0, 0, height))
    bpy.context.view_layer.update()
    starts = np.array([[0.0, 0.0, 2.0], [0.0, 0.0, 6.0], [100.0, 0.0, 2.0]])
    grounds = task._grounds(maker.scene, starts, 1.0, {"At 2.0", "At 6.0"})
    assert grounds == pytest.approx(np.zeros((2, 3)), abs=1e-5)
    camera = task._camera(maker.scene, np.concatenate([starts[:2], grounds]), 1.0)
    bpy.context.view_layer.update()
    for corner in ((0.5, 0.5, 0.0), (-0.5, -0.5, 0.0), (0.5, -0.5, 6.5)):
        x, y, depth = world_to_camera_view(maker.scene, camera, Vector(corner))
        assert depth > 0
        assert 0 < x < 1
        assert 0 < y < 1


WRONG = [
    ([], "nothing varies"),
    (["--vary", "magic=1"], "no property 'magic'"),
    (["--vary", "mass=0.5,-1"], "variant 2: mass of"),
    (["--vary", "object:Keyed.location.x=1"], "keyed"),
    (["--seeds", "3"], "--jitter"),
    (["--vary", "friction=1", "--jitter", "0.1"], "--seeds"),
    (["--vary", "friction=1", "--engine", "magic"], "magic"),
    (["--table-of-variants", "none.csv"], "none.csv"),
    (["--task", "1"], "no wedge"),
    (["--table"], "no wedge"),
    (["--task", "1", "--vary", "friction=1"], "--task makes no use of --vary"),
    (["--table-of-variants", "none.csv", "--zip"], "no use of --zip"),
    (["--vary", "friction=1", "--chunk", "5"], "with --emit only"),
    (["--vary", "friction=1", "--until", "5"], "with --task only"),
    (["--vary", "friction=1", "--emit", "openjd", "--engine", "dask"], "no use of --engine"),
    (["--vary", "friction=1", "--start", "5", "--end", "5"], "before the end frame"),
]


@pytest.mark.parametrize(("options", "word"), WRONG, ids=[" ".join(options) for options, _ in WRONG])
def test_wrong_usage(slope, options, word):
    """One line, and no folder is left with variants in it."""
    folder = slope.parent / "wedge"
    code, said, lines = run("wedge", slope, *options, "-o", folder, "--quiet")
    assert code in (1, 2)
    assert (said, len(lines)) == ("", 1)
    assert word in lines[0]
    assert not folder.exists()


def test_another_wedge_in_the_folder(slope):
    """It is not replaced unless that is asked for; a changed scene is another wedge, also for a task."""
    folder = slope.parent / "wedge"
    options = ["-o", folder, "--trajectories", "--no-pictures", "--quiet"]
    assert run("wedge", slope, "--vary", "friction=0.2", *options)[0] == 0
    before = digests(folder)
    code, _, lines = run("wedge", slope, "--vary", "friction=0.9", *options)
    assert code == 2
    assert "holds another wedge" in lines[0]
    assert digests(folder) == before
    assert run("wedge", slope, "--vary", "friction=0.9", "--replace", *options)[0] == 0
    assert digests(folder) != before
    (folder / "v0001.json").unlink()
    slope.write_bytes(slope.read_bytes() + b" ")
    code, _, lines = run("wedge", slope, "--task", 1, *options[:2])
    assert code == 2
    assert "has changed" in lines[0]


@pytest.mark.parametrize("damage", ["", "{}", '{"format": 99}', '{"format": 1, "variants": 3}'])
def test_a_damaged_plan(slope, damage):
    folder = slope.parent / "wedge"
    folder.mkdir()
    (folder / "wedge.json").write_text(damage)
    code, _, lines = run("wedge", "--task", 1, "-o", folder)
    assert code == 2
    assert len(lines) == 1
    assert "wedge.json" in lines[0]


@pytest.mark.one_python
def test_a_task_goes_on_from_its_checkpoint(slope, singles):
    """A variant in a chain of tasks, the last of which leaves what one task would have left."""
    folder = slope.parent / "wedge"
    assert run("wedge", slope, *VARY, "-o", folder, "--emit", "openjd", "--no-pictures")[0] == 0
    for until in (["--until", 4], ["--until", 4], ["--until", 7], []):
        assert run("wedge", "--task", 3, "-o", folder, *until)[0] == 0
        assert (folder / "v0003.json").exists() == (not until)
    assert digests(folder) == {3: singles[3]}
    assert json.loads((folder / "v0003.json").read_text())["wedge"]["values"] == {
        "friction": 0.9,
        "object:Ball.mass": 1,
    }
