"""A child Python has the package under its name here and nothing of Blender, and ends when the parent wants or ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import child_tasks
import pytest

from cairn.solver_core.compiled import child_process

TIMEOUT = 60
# Plays Blender, which ignores the environment and knows the package by another name.
AS_EXTENSION = """
import importlib, subprocess, sys, types
root, tests, package = sys.argv[1:]
names = package.split(".")
for count in range(1, len(names) + 1):
    module = sys.modules[".".join(names[:count])] = types.ModuleType(names[count - 1])
    module.__path__ = [root]
sys.path[:] = [tests, *(folder for folder in sys.path if "site-packages" in folder or "lib" in folder)]
import child_tasks
child_process = importlib.import_module(package + ".solver_core.compiled.child_process")
child = child_process.start(child_tasks.tell, package, stdout=subprocess.PIPE, stderr=None)
print(child.communicate()[0].decode())
"""


def loaded_of_addon(modules) -> list[str]:
    return [name for name in modules if name.split(".")[0] in {"bpy", "numba", "pytest"} or ".addon" in name]


def test_a_child_looks_where_its_parent_does_and_loads_only_its_task():
    child = child_process.start(child_tasks.tell, "cairn", "one", "två", stdout=subprocess.PIPE)
    words, name, loaded, path = json.loads(child.communicate(timeout=TIMEOUT)[0])
    folders = [folder for folder in sys.path if folder]
    assert words == ["one", "två"]
    assert name == "cairn.solver_core.geometry.shapes"
    assert path[: len(folders)] == folders
    assert loaded_of_addon(loaded) == []
    child_process.stop(child)


def test_a_child_knows_the_package_as_blender_does(tmp_path):
    """Loaded as ``bl_ext.REPOSITORY.cairn`` by a Python that ignores PYTHONPATH, it is that in the child, too."""
    package = "bl_ext.some_repository.cairn"
    script = tmp_path / "as_extension.py"
    script.write_text(AS_EXTENSION)
    root, tests = Path(child_process.__file__).parents[2], Path(child_tasks.__file__).parent
    command = [sys.executable, "-E", script, root, tests, package]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True).stdout
    _, name, loaded, _ = json.loads(printed)
    assert name == f"{package}.solver_core.geometry.shapes"
    assert loaded_of_addon(loaded) == []


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege")
def test_a_child_finds_kernels_where_its_parent_does(tmp_path):
    """Also where the add-on's folder is a link: the path is part of the cache's names."""
    (tmp_path / "linked").symlink_to(Path(child_process.__file__).parents[2], target_is_directory=True)
    script = tmp_path / "script.py"
    script.write_text(
        "import subprocess, sys\n"
        "import child_tasks\n"
        "from linked.solver_core.compiled import child_process\n"
        "from linked.solver_core.geometry import shapes\n"
        "child = child_process.start(child_tasks.tell_file, 'linked', stdout=subprocess.PIPE)\n"
        "print(shapes.__file__, child.communicate()[0].decode(), sep='\\n')\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(child_tasks.__file__).parent)])}
    command = [sys.executable, script]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=True)
    mine, others = printed.stdout.split()
    assert mine == others
    assert str(tmp_path / "linked") in mine


def test_a_child_that_fails_says_so():
    child = child_process.start(child_tasks.fail, stderr=subprocess.PIPE)
    _, said = child.communicate(timeout=TIMEOUT)
    assert child.returncode == 1
    assert b"ValueError: no such thing" in said


def test_a_child_at_work_is_stopped_at_once():
    child = child_process.start(child_tasks.wait_for_input)
    assert child.poll() is None
    child_process.stop(child)
    assert child.returncode is not None
    assert child.stdin.closed
    child_process.stop(child)


def test_a_child_that_has_ended_is_stopped_all_the_same():
    """Also when it was told something that it did not read."""
    child = child_process.start(child_tasks.fail)
    child.wait(timeout=TIMEOUT)
    child.stdin.write(b"go on")
    child_process.stop(child)
    assert child.returncode == 1
    assert child.stdin.closed


def test_a_child_notices_that_its_parent_has_ended():
    """Its input ends with the process that holds the other end."""
    child = child_process.start(child_tasks.wait_for_input)
    child.stdin.close()
    assert child.wait(timeout=TIMEOUT) == 0
    child_process.stop(child)


def test_where_no_python_can_be_started_that_is_an_error(monkeypatch, tmp_path):
    for executable in ("", None, str(tmp_path / "python")):
        monkeypatch.setattr(sys, "executable", executable)
        with pytest.raises(OSError, match=r"its own executable|No such file|cannot find"):
            child_process.start(child_tasks.fail)
