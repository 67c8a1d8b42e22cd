"""What all tests share: Numba's cache, Hypothesis's profile, and what the report's header says.

There is no ``__init__.py`` below ``tests``: the root is the package ``cairn``, and tests are no part of it.
"""

import importlib.util
import os
from pathlib import Path

from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# The tests' own cache of compiled kernels; below it, kernel.py keeps a folder for each state of the core's sources.
# Numba reads the variable once, when it is imported, so it is set here and not in a fixture.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".pytest_cache" / "numba"))

# A first call compiles, which no deadline foresees; the same examples in each run keep a failure findable.
settings.register_profile("cairn", deadline=None, derandomize=True, database=None)
settings.load_profile("cairn")


def pytest_report_header() -> list[str]:
    bpy = importlib.util.find_spec("bpy")
    application = os.environ.get("CAIRN_BLENDER")
    return [
        f"cairn: kernels are cached in {os.environ['NUMBA_CACHE_DIR']}",
        f"cairn: tests/addon {'run with the bpy module' if bpy else 'are skipped, there is no bpy module'}",
        f"cairn: tests/app {f'run in {application}' if application else 'are skipped, CAIRN_BLENDER is not set'}",
    ]
