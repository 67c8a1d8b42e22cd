"""What all tests share: Numba's cache, what runs by day and at night, Hypothesis's profile, and the report's header.

There is no ``__init__.py`` below ``tests``: the root is the package ``cairn``, and tests are no part of it.
"""

import gc
import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# Tests of the core and the add-on from which on compiling ahead pays.
_MANY_TESTS = 500
# How many cases another Python runs.
_LEFT = pytest.StashKey[int]()

# The tests' own cache of compiled kernels.
# Numba reads the variable once, when it is imported, so it is set here and not in a fixture.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".pytest_cache" / "numba"))

# Matrices here have some hundred rows. Threads for them, which wait for each other by turning in a loop, take up to a
# hundred times the processor time of one where other work has the cores. NumPy reads it when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Numba keeps millions of objects, among which Python would look for garbage hundreds of times while it compiles: an
# eighth of the time, as in the processes that compile (``compile_processes``).
gc.set_threshold(500_000)

# A first call compiles, which no deadline foresees; the same examples in each run keep a failure findable.
settings.register_profile("cairn", deadline=None, derandomize=True, database=None)
settings.load_profile("cairn")


def pytest_addoption(parser) -> None:
    parser.addoption(
        "--nightly", action="store_true", help="run every case, and the long sweeps over many seeds (CAIRN_NIGHTLY=1)"
    )
    parser.addoption("--every-case", action="store_true", help="also run the cases of grids that the other Python runs")


def pytest_configure(config) -> None:
    if is_nightly(config):
        os.environ["CAIRN_NIGHTLY"] = "1"  # ``nightly.cases``, and processes of xdist


def is_nightly(config) -> bool:
    return config.getoption("nightly") or os.environ.get("CAIRN_NIGHTLY", "") not in ("", "0")


def runs_every_case(config) -> bool:
    """At night, where the user says so, and of what is named: a test, a file or a folder."""
    return is_nightly(config) or config.getoption("every_case") or list(config.args) != config.getini("testpaths")


def pytest_collection_modifyitems(config, items) -> None:
    """Leave out what is marked ``nightly``, and then what the other Python runs by day (``turns``).

    Tests of the core come first: they compile in this process, which keeps what a kernel is made from for the next
    ones, and bakes find the kernels in the cache. The children of a bake would each make it anew.
    """
    items.sort(key=lambda item: not item.nodeid.startswith("tests/core/"))
    if not is_nightly(config):
        leave_out(config, items, [item for item in items if item.get_closest_marker("nightly")])
    if not runs_every_case(config):
        from turns import left_to_others

        left = left_to_others(items)
        leave_out(config, items, left)
        config.stash[_LEFT] = len(left)


def leave_out(config, items, left) -> None:
    chosen = set(left)
    items[:] = [item for item in items if item not in chosen]
    config.hook.pytest_deselected(items=left)


def pytest_sessionfinish(session) -> None:
    if hasattr(session.config, "workeroutput"):  # a process of xdist, which tells the one that reports
        session.config.workeroutput["cairn_left"] = session.config.stash.get(_LEFT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error) -> None:
    node.config.stash[_LEFT] = getattr(node, "workeroutput", {}).get("cairn_left", 0)


def pytest_terminal_summary(terminalreporter, config) -> None:
    if left := config.stash.get(_LEFT, 0):
        terminalreporter.write_line(
            f"cairn: {left} cases were left to the other Python; --every-case runs them too, --nightly all there are"
        )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node, ids) -> None:
    """Compile what most tests call before the first one runs (``common_kernels``); a few tests do without.

    The process that hands out the tests does it, when the first of the others has told which tests there are.
    """
    simulating = [name for name in ids if name.startswith(("tests/core/", "tests/addon/"))]
    if len(simulating) >= _MANY_TESTS and os.environ.get("NUMBA_DISABLE_JIT", "0") == "0":
        from common_kernels import compile_common_kernels

        compile_common_kernels(simulating)


def pytest_report_header(config) -> list[str]:
    bpy = importlib.util.find_spec("bpy")
    application = os.environ.get("CAIRN_BLENDER")
    return [
        f"cairn: kernels are cached in {os.environ['NUMBA_CACHE_DIR']}",
        f"cairn: tests marked nightly {'run' if is_nightly(config) else 'are left out, --nightly is not given'}",
        f"cairn: tests/addon {'run with the bpy module' if bpy else 'are skipped, there is no bpy module'}",
        f"cairn: tests/app {f'run in {application}' if application else 'are skipped, CAIRN_BLENDER is not set'}",
    ]
