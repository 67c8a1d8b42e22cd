"""What an edit recompiles: kernels that it could reach and no other, in a small package around this ``compiled``."""

import importlib
import json
import os
import shutil
import subprocess
import sys

import pytest
from numba import config

from cairn.solver_core.compile_plan import what_to_compile
from cairn.solver_core.compiled import kernel_keys, sources
from cairn.solver_core.compiled.sources import CORE_FOLDER

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python has nothing to compile")

TIMEOUT = 120

# The files of a core whose kernels reach each other in the ways that the real one's do.
FILES = {
    "sizes": "SIZE = 3\nUNUSED = 1\n",
    "more_sizes": "from .sizes import SIZE\nLARGER = SIZE + 1\n",
    "unrelated": "WEIGHT = 1\n",
    "callee": '''
from .compiled.kernel import subkernel
from .more_sizes import LARGER

@subkernel
def grown(x):
    """Say what it does."""
    return x + LARGER
''',
    "caller": """
from .compiled.kernel import kernel
from .callee import grown

@kernel
def of_callee(x):
    return 2 * grown(x)
""",
    "steps": """
from .compiled.kernel import subkernel

@subkernel
def doubled(x):
    return 2 * x

@subkernel
def tripled(x):
    return 3 * x
""",
    "template": """
from .compiled.kernel import bind
step = None
FACTOR = 0

def _apply(x):
    return FACTOR * step(x)

def applied(name, kernel, factor):
    return bind(_apply, name, step=kernel, FACTOR=factor)
""",
    "binder": """
import importlib
from .template import applied

def of_bound():
    return applied("of_bound", importlib.import_module(".steps", __package__).doubled, 1)
""",
    "pairs": """
from typing import NamedTuple

class Pair(NamedTuple):
    first: int
    second: int
""",
    "differences": """
from .compiled.kernel import kernel

@kernel
def of_fields(pair):
    return pair.first - pair.second
""",
}

# Tells of each kernel whether it was in the cache, and what it returns.
SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from probe.solver_core.binder import of_bound
from probe.solver_core.caller import of_callee
from probe.solver_core.differences import of_fields
from probe.solver_core.pairs import Pair
from probe.solver_core.compiled.kernel import is_cached, kinds_of
if len(sys.argv) > 2:
    with open(sys.argv[2], "a") as file:
        file.write("# changed while it runs")
told = {}
for kernel, argument in ((of_callee, 5), (of_bound(), 5), (of_fields, Pair(7, 2))):
    before = is_cached(kernel, kinds_of((argument,)))
    told[kernel.__name__] = [before, kernel(argument)]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """The folder of the small core, whose kernels have been compiled once."""
    folder = tmp_path_factory.mktemp("package") / "probe" / "solver_core"
    shutil.copytree(CORE_FOLDER / "compiled", folder / "compiled", ignore=shutil.ignore_patterns("__pycache__"))
    for package in (folder.parent, folder):
        (package / "__init__.py").touch()
    for name in FILES:
        write(folder, name, FILES[name])
    assert run(folder) == {"of_callee": [False, 18], "of_bound": [False, 10], "of_fields": [False, 5]}
    return folder


def write(core, name, text):
    path = core / f"{name}.py"
    path.write_text(text)
    os.utime(path, (1, 1))  # as an archive or a copy would: time stamps say nothing


def run(core, *words):
    command = [sys.executable, "-B", "-c", SCRIPT, str(core.parents[1]), *map(str, words)]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(core.parents[1] / "cache")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


EVERY_KERNEL = {"of_callee": 18, "of_bound": 10, "of_fields": 5}


@pytest.mark.parametrize(
    ("name", "edits", "recompiled"),
    [
        pytest.param(
            "callee", {"from .co": '"""New."""\n\n# why\nfrom .co', "Say what": "Do what"}, {}, id="docstrings"
        ),
        pytest.param("caller", {"(x):": '(x):\n    """New."""\n    # why'}, {}, id="docstring-of-a-kernel"),
        pytest.param("unrelated", {"1": "2"}, {}, id="unrelated-module"),
        pytest.param("callee", {"x + ": "x - "}, {"of_callee": 2}, id="callee"),
        pytest.param("sizes", {"= 3": "= 4"}, {"of_callee": 20}, id="constant-of-a-constant"),
        pytest.param("steps", {"2 * x": "4 * x"}, {"of_bound": 20}, id="bound-kernel"),
        pytest.param("template", {"FACTOR * step": "FACTOR + step"}, {"of_bound": 11}, id="template"),
        pytest.param("binder", {"doubled, 1": "tripled, 1"}, {"of_bound": 15}, id="another-bound-kernel"),
        pytest.param("binder", {"doubled, 1": "doubled, 7"}, {"of_bound": 70}, id="bound-constant"),
        pytest.param("pairs", {"first": "other", "second": "first", "other": "second"}, {"of_fields": -5}, id="fields"),
        pytest.param("compiled/linking", {"waiting.pop(0)": "waiting.pop()"}, EVERY_KERNEL, id="compiler"),
    ],
)
def test_an_edit_recompiles_what_it_reaches(core, name, edits, recompiled):
    """Kernels that it reaches give the new value at once; all others are loaded."""
    original = edited = (core / f"{name}.py").read_text()
    for before, after in edits.items():
        assert before in edited
        edited = edited.replace(before, after)
    write(core, name, edited)
    try:
        told = run(core)
    finally:
        write(core, name, original)
    assert told == {kernel: [kernel not in recompiled, value] for kernel, value in (EVERY_KERNEL | recompiled).items()}


def test_what_is_edited_while_it_is_loaded_is_not_kept(core):
    """A process that has loaded another text neither reads nor writes code; when it is taken back, all is there."""
    original = (core / "callee.py").read_text()
    try:
        first, second = run(core, core / "callee.py"), run(core)
    finally:
        write(core, "callee", original)
    assert first == {"of_callee": [False, 18], "of_bound": [True, 10], "of_fields": [True, 5]}
    assert second == {kernel: [True, value] for kernel, value in EVERY_KERNEL.items()}


def folders_of(name):
    """Folders of the core whose edits recompile the kernel of this name."""
    (kernel,) = (c.kernel for c in what_to_compile("auto", "cone", [0], 1) if c.name == name)
    reached = kernel_keys._reached(kernel).sources
    assert not reached >= sources.everything()
    closure = set().union(*(sources._closure(source, None) for source in reached))
    return {source.removeprefix(str(CORE_FOLDER)).strip("/\\").split(os.sep)[0] for source in closure}


def test_an_edit_of_the_step_keeps_collision_and_solvers():
    """The two kernels that take longest to compile know nothing of most of what is edited."""
    assert not folders_of("solve_island") & {"collision", "constraints", "dynamics", "model", "geometry"}
    assert not folders_of("narrow_phase") & {"solvers", "constraints", "simulation.py"}


def test_imports_for_type_checkers_are_none():
    """Imports within functions and in the branch that runs are."""
    text = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from .a import A
else:
    from .b import B
def use():
    try:
        from ..c import d
    finally:
        import e.f
"""
    found = sorted(sources._parse(text.encode()).imports)
    assert found == [(0, "e.f", []), (0, "typing", ["TYPE_CHECKING"]), (1, "b", ["B"]), (2, "c", ["d"])]


@pytest.mark.parametrize("folder", ["site-packages", "dist-packages"])
def test_installed_packages_are_no_part_of_a_key(folder, tmp_path, monkeypatch):
    """Nor where Debian installs them: what a process has loaded of NumPy would be part of it, its child's not."""
    package = tmp_path / folder / f"of_{folder[:4]}"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(package.parent)
    importlib.import_module(package.name)
    assert sources.source_of(package.name) is None
    own = sys.modules[__name__]
    assert sources.source_of(__name__) == os.path.realpath(own.__file__)
