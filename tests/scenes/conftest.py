"""Scenes as people make them need Blender's Python module; without it there is nothing to collect here."""

import importlib.util

if importlib.util.find_spec("bpy") is None:
    collect_ignore_glob = ["test_*.py"]
