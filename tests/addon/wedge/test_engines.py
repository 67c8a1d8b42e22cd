"""Engines that studios have run the same tasks, and give the bits of a wedge on this machine, also after kills.

What a child that bakes a variant does, ``test_wedge_panel.py`` shows on each Python; whole jobs run on one.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import run
from flamenco_manager import compiled_tasks
from scene_maker import SceneMaker
from wedge_scenes import digests, make_slope

import cairn
from cairn.addon.wedge import flamenco

VARY = ["--vary", "friction=0.2,0.9", "--vary", "solver=auto,nncg", "--no-pictures"]
# Long enough to be killed on the way.
FRAMES = 60


@pytest.fixture
def slope(maker, tmp_path):
    cairn.register()
    return make_slope(maker, tmp_path / "slope.blend", FRAMES)


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """Digests of the variants, baked on this machine."""
    cairn.register()
    place = tmp_path_factory.mktemp("local")
    scene = make_slope(SceneMaker(), place / "slope.blend", FRAMES)
    assert run("wedge", scene, *VARY, "-o", place / "local", "--jobs", 2)[0] == 0
    return digests(place / "local")


def tasks_of(folder):
    """Process ids of tasks of a wedge that bake just now, on Linux."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"wedge" in words and b"--task" in words and str(folder).encode() in words and b"cairn" in words:
            found.append(int(place.name))
    return found


def kill_a_task(folder, already=()):
    """Kill -9 a task that bakes; returns its process id."""
    end = time.monotonic() + 120.0
    while time.monotonic() < end:
        for process in tasks_of(folder):
            if process not in already:
                time.sleep(0.5)
                os.kill(process, signal.SIGKILL)
                return process
        time.sleep(0.01)
    return pytest.fail("no task has begun")


# Dask


@pytest.mark.one_python
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_dask_with_a_worker_that_dies(slope, local):
    """Two workers, one of which is killed while it bakes: all variants are there, with the same bits."""
    distributed = pytest.importorskip("distributed")
    folder = slope.parent / "dask"
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        engine = f"dask:{cluster.scheduler_address}"
        command = [sys.executable, "-m", "cairn", "wedge", str(slope), *VARY, "-o", str(folder), "--engine", engine]
        wedge = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        end = time.monotonic() + 120.0
        while not tasks_of(folder) and time.monotonic() < end:
            time.sleep(0.01)
        next(iter(cluster.workers.values())).process.process.kill()
        said, _ = wedge.communicate(timeout=300)
    assert wedge.returncode == 0, said
    assert digests(folder) == local


def test_dask_is_missing(slope, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, lines = run("wedge", slope, *VARY, "-o", slope.parent / "dask", "--engine", "dask", "--quiet")
    assert (code, len(lines)) == (2, 1)
    assert 'pip install "cairn[dask]"' in lines[0]


# Open Job Description


@pytest.fixture
def openjd():
    pytest.importorskip("openjd.cli")
    script = "import sys; from openjd.cli import main; sys.exit(main())"
    return lambda *arguments: [sys.executable, "-c", script, *map(str, arguments)]


@pytest.mark.one_python
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_openjd_checks_and_runs_the_bundle(slope, local, openjd):
    """In a chain of two tasks a variant; two tasks are killed, and the job run again."""
    folder = slope.parent / "openjd"
    own = ["--cairn", f"{sys.executable} -m cairn"]
    assert run("wedge", slope, *VARY, "-o", folder, "--emit", "openjd", "--chunk", 40, *own)[0] == 0
    template = folder / "template.json"
    assert subprocess.run(openjd("check", template), capture_output=True, check=False).returncode == 0
    job = openjd("run", template, "--job-param", f"Scene={slope}", "--job-param", f"Folder={folder}")
    killed = []
    for _ in range(2):
        session = subprocess.Popen(job, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        killed.append(kill_a_task(folder, killed))
        said, _ = session.communicate(timeout=300)
        assert session.returncode != 0, said
    ended = subprocess.run(job, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stdout
    assert digests(folder) == local
    assert (folder / "table.csv").is_file()


def test_the_steps_of_an_openjd_job(slope):
    """A chain from step to step with a task for each variant, and the table at the end."""
    folder = slope.parent / "openjd"
    assert run("wedge", slope, *VARY, "-o", folder, "--emit", "openjd", "--chunk", 25)[0] == 0
    steps = json.loads((folder / "template.json").read_text())["steps"]
    assert {step["script"]["actions"]["onRun"]["command"] for step in steps} == {"cairn"}
    assert [step["name"] for step in steps] == ["BakeUntil26", "BakeUntil51", "Bake", "Table"]
    assert [step.get("dependencies") for step in steps] == [
        None,
        [{"dependsOn": "BakeUntil26"}],
        [{"dependsOn": "BakeUntil51"}],
        [{"dependsOn": "Bake"}],
    ]
    ranges = [step["parameterSpace"]["taskParameterDefinitions"][0]["range"] for step in steps[:-1]]
    assert ranges == ["1-4"] * 3


# Flamenco

# Stands for Blender: takes the blend-file and what follows --command, and runs Cairn's command line on it.
_BLENDER = """
import sys
from cairn.__main__ import main
words = sys.argv[1:]
assert words[:2] == ["-b", "-y"], words
place = words.index("--command")
assert place == 3 and words[place + 1 : place + 3] == ["cairn", "wedge"], words
sys.argv = ["cairn", "wedge", words[2], *words[place + 3 :]]
sys.exit(main())
"""


@pytest.mark.one_python
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_flamenco_compiles_the_job_and_its_tasks_run(slope, local, tmp_path):
    """The manager's functions are stubbed; each task is called as a worker would, after those that it waits for."""
    folder = slope.parent / "flamenco"
    assert run("wedge", slope, *VARY, "-o", folder, "--emit", "flamenco", "--chunk", 40)[0] == 0
    job = json.loads((folder / "flamenco_job.json").read_text())
    assert job["type"] == flamenco.JOB_TYPE
    tasks = compiled_tasks(folder, tmp_path)
    assert len(tasks) == 2 * 4 + 1
    blender = tmp_path / "blender.py"
    blender.write_text(_BLENDER)
    for task in tasks:
        called = [sys.executable, str(blender), *task["words"]]
        ended = subprocess.run(called, capture_output=True, text=True, timeout=300, check=False)
        assert ended.returncode == 0, ended.stderr
    assert digests(folder) == local
    assert (folder / "table.csv").is_file()
