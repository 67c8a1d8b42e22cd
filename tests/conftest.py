"""What all tests share: Numba's cache, nightly tests, Hypothesis's profile, and what the report's header says.

There is no ``__init__.py`` below ``tests``: the root is the package ``cairn``, and tests are no part of it.
"""

import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# Tests of the core and the add-on from which on compiling ahead pays.
_MANY_TESTS = 500

# The tests' own cache of compiled kernels.
# Numba reads the variable once, when it is imported, so it is set here and not in a fixture.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".pytest_cache" / "numba"))

# A first call compiles, which no deadline foresees; the same examples in each run keep a failure findable.
settings.register_profile("cairn", deadline=None, derandomize=True, database=None)
settings.load_profile("cairn")


def pytest_addoption(parser) -> None:
    parser.addoption(
        "--nightly", action="store_true", help="also run the long sweeps over many seeds (CAIRN_NIGHTLY=1)"
    )


def is_nightly(config) -> bool:
    return config.getoption("nightly") or os.environ.get("CAIRN_NIGHTLY", "") not in ("", "0")


def pytest_collection_modifyitems(config, items) -> None:
    """Leave out what is marked ``nightly``, but in nightly runs."""
    if not is_nightly(config):
        nightly = [item for item in items if item.get_closest_marker("nightly")]
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=nightly)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node, ids) -> None:
    """Compile what most tests call before the first one runs (``common_kernels``); a few tests do without.

    The process that hands out the tests does it, when the first of the others has told which tests there are.
    """
    simulating = [name for name in ids if name.startswith(("tests/core/", "tests/addon/"))]
    if len(simulating) >= _MANY_TESTS and os.environ.get("NUMBA_DISABLE_JIT", "0") == "0":
        from common_kernels import compile_common_kernels

        compile_common_kernels()


def pytest_report_header(config) -> list[str]:
    bpy = importlib.util.find_spec("bpy")
    application = os.environ.get("CAIRN_BLENDER")
    return [
        f"cairn: kernels are cached in {os.environ['NUMBA_CACHE_DIR']}",
        f"cairn: tests marked nightly {'run' if is_nightly(config) else 'are left out, --nightly is not given'}",
        f"cairn: tests/addon {'run with the bpy module' if bpy else 'are skipped, there is no bpy module'}",
        f"cairn: tests/app {f'run in {application}' if application else 'are skipped, CAIRN_BLENDER is not set'}",
    ]
