"""What is written in more than one place must agree."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import cairn
from cairn.solver_core.compiled.versions import NEWEST_NUMBA, OLDEST_NUMBA, why_untested

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))


def test_version_is_the_same_everywhere():
    version = PROJECT["project"]["version"]
    assert MANIFEST["version"] == version
    assert cairn.__version__ == version


def test_numbas_bounds_are_those_that_were_tested():
    """The requirement admits exactly the minor releases that the room for compiled code names."""
    (requirement,) = (text for text in PROJECT["project"]["dependencies"] if text.startswith("numba"))
    (major, oldest), (_, newest) = OLDEST_NUMBA, NEWEST_NUMBA
    assert requirement == f"numba>={major}.{oldest},<{major}.{newest + 1}"
    for version, is_allowed in (
        (f"{major}.{oldest}.0", True),
        (f"{major}.{newest}.9", True),
        (f"{major}.{oldest - 1}.3", False),
        (f"{major}.{newest + 1}.0rc1", False),
    ):
        assert (why_untested(version) == "") == is_allowed, version


def test_changelog_has_an_entry_for_the_version():
    headings = re.findall(r"(?m)^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert headings[0] == PROJECT["project"]["version"]


def test_installed_packages_are_those_that_exist():
    """A package that is missing from the list would be missing from an install that is not editable."""
    folders = {path.parent for name in ("addon", "solver_core") for path in (ROOT / name).rglob("__init__.py")}
    packages = {"cairn"} | {f"cairn.{folder.relative_to(ROOT).as_posix().replace('/', '.')}" for folder in folders}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages


@pytest.mark.parametrize("extra", ["bpy", "bpy,test"])
def test_readme_gives_the_same_command_for_windows(extra):
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    unix, windows = (line for line in lines if f'pip install -e ".[{extra}]"' in line)
    as_unix = windows.replace("py -3.13", "python3").replace("Scripts", "bin").replace("\\", "/")
    assert as_unix == unix


def test_readme_example_drops_a_box_that_comes_to_rest_on_the_floor():
    (example,) = re.findall(r"(?s)```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"))
    names = {}
    exec(example, names)
    height = names["simulation"].poses()[0][1][2]
    assert abs(height - 0.5) < 1e-5
    assert names["report"].sleeping == 1
    assert names["report"].kinetic_energy < 1e-6


def test_import_of_the_package_needs_neither_blender_nor_numba():
    script = "import cairn, sys, json; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"bpy", "numba", "scipy"} & set(json.loads(done.stdout))
