"""Tests with Blender's Python module; without it there is nothing to collect here."""

import importlib.util
import os
import shutil
import sys

import pytest
from scene_maker import SceneMaker

if importlib.util.find_spec("bpy") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def maker():
    """A fresh file with a Rigid Body World."""
    return SceneMaker()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    session.config.cairn_exit_status = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """End without Python's clean-up: Blender's module of 4.5 prints a line for each of its blocks, for minutes."""
    if "bpy" in sys.modules and hasattr(config, "cairn_exit_status"):
        shutil.rmtree(sys.modules["bpy"].app.tempdir, ignore_errors=True)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.cairn_exit_status)
