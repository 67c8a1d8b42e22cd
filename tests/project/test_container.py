"""The recipe of the container: it copies what the package is built from, and its Python is one that Cairn runs on."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_everything_that_is_built_is_copied():
    lines = (ROOT / "tools" / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert lines[1] == "*"
    copied = {line.removeprefix("!") for line in lines if line.startswith("!")}
    tool = PROJECT["tool"]["setuptools"]
    folders = {package.split(".")[1] for package in tool["packages"] if "." in package}
    files = {pattern.split("/")[0] for pattern in tool["package-data"]["cairn"]}
    modules = {path.name for path in ROOT.glob("*.py")}
    needed = folders | files | modules | {"pyproject.toml", "LICENSE", PROJECT["project"]["readme"]}
    assert copied == needed
    assert all((ROOT / name).exists() for name in copied)


def test_its_python_and_extras_are_the_projects():
    recipe = (ROOT / "tools" / "Dockerfile").read_text(encoding="utf-8")
    (version,) = re.findall(r"^FROM python:(\d\.\d+)-slim$", recipe, re.MULTILINE)
    assert f"Programming Language :: Python :: {version}" in PROJECT["project"]["classifiers"]
    (extras,) = re.findall(r'"/opt/cairn\[([\w,]+)\]"', recipe)
    assert set(extras.split(",")) <= set(PROJECT["project"]["optional-dependencies"])
