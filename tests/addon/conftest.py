"""Tests with Blender's Python module; without it there is nothing to collect here."""

import importlib.util

import pytest
from scene_maker import SceneMaker

if importlib.util.find_spec("bpy") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def maker():
    """A fresh file with a Rigid Body World."""
    return SceneMaker()
