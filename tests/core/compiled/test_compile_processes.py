"""Children compile what this process then loads; whatever becomes of them, the kernels are there in the end."""

import json
import os
import subprocess
import sys
from itertools import pairwise

import pytest
from numba import config

from cairn.solver_core import compile_plan, warm_up
from cairn.solver_core.compile_plan import what_to_compile
from cairn.solver_core.compiled import compile_processes
from cairn.solver_core.compiled.kernel import kinds_of
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.scenes.stacks import stack
from cairn.solver_core.simulation import Simulation

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python has nothing to compile")

TIMEOUT = 120
# Two quick kernels: one that is called by its address, and one that is called from Python.
NAMES = ["match_contacts", "driven_poses"]
ARGUMENTS = ("pgs", "box", [0], 1, False, False, False, False, False, False)

# In a process of its own, since kernels take the folder of their cache when they are defined.
FILL = """
import json, sys
from cairn.solver_core.compiled import compile_processes
from cairn.solver_core.compile_plan import what_to_compile

names, arguments = json.loads(sys.argv[1])
compile_processes.child_count = lambda: 2
wanted = [compilation for compilation in what_to_compile(*arguments) if compilation.name in names]
before = [compilation.is_cached() for compilation in wanted]
steps = list(compile_processes.compile_in_children(what_to_compile, names, arguments))
after = [compilation.is_cached() for compilation in wanted]
for compilation in wanted:
    compilation.compile()
hits = [sum(compilation.kernel.stats.cache_hits.values()) for compilation in wanted]
misses = [sum(compilation.kernel.stats.cache_misses.values()) for compilation in wanted]
print(json.dumps([before, after, hits, misses, [done for done, _ in steps]]))
"""


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Processes of the children, which have an empty cache; there may be one."""
    processes = []

    def start(*words, **streams):
        processes.append(start_process(*words, **streams))
        return processes[-1]

    start_process = compile_processes.start
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile_processes, "child_count", lambda: 1)
    monkeypatch.setattr(compile_processes, "start", start)
    return processes


def test_what_children_compile_is_loaded_and_not_compiled_again(tmp_path):
    """Each kernel is in no cache before, in the cache after, and one hit for the parent, whose done only grows."""
    command = [sys.executable, "-c", FILL, json.dumps([NAMES, ARGUMENTS])]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    told = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=TIMEOUT, check=False)
    assert told.returncode == 0, told.stderr
    before, after, hits, misses, done = json.loads(told.stdout)
    assert before == [False, False]
    assert after == [True, True]
    assert hits == [1, 1]
    assert misses == [0, 0]
    assert done[0] == 0
    assert all(earlier <= later for earlier, later in pairwise(done))


def test_children_end_at_once_when_they_are_not_wanted_any_more(started):
    """In the middle of a kernel that takes many seconds."""
    steps = compile_processes.compile_in_children(what_to_compile, ["solve_island"], ("auto", "cone", [0], 1))
    assert next(steps) == (0, "solve_island")
    assert next(steps) == (0, "solve_island")
    (process,) = started
    assert process.poll() is None
    steps.close()
    assert process.returncode is not None
    assert process.stdin.closed


def test_a_child_that_fails_leaves_its_kernels_to_this_process(started, monkeypatch, caplog):
    """Here it finds that the core's files are not those of the parent; it says why."""
    monkeypatch.setattr(compile_processes.sources, "core_fingerprint", lambda: "of other files")
    steps = list(compile_processes.compile_in_children(what_to_compile, NAMES, ARGUMENTS))
    assert {done for done, _ in steps} == {0}
    assert started[0].returncode == 1
    assert "has ended: Cairn's files have changed" in caplog.text


def test_where_no_process_can_be_started_there_are_no_children(monkeypatch, caplog):
    monkeypatch.setattr(compile_processes, "child_count", lambda: 2)
    monkeypatch.setattr(sys, "executable", "")
    assert list(compile_processes.compile_in_children(what_to_compile, NAMES, ARGUMENTS)) == []
    assert caplog.text.count("can start no more processes") == 1


def test_one_core_has_no_children(monkeypatch):
    """On four cores there are four children, on more no more than four."""
    for cores, expected in ((1, 0), (2, 2), (4, 4), (32, 4)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: set(range(cores)), raising=False)
        assert compile_processes.child_count() == expected


class _Kernel:
    """Stands for a ``Compilation``."""

    def __init__(self, name, cached):
        self.name, self.cached, self.compiled = name, cached, 0

    def is_cached(self):
        return self.cached

    def compile(self):
        self.compiled += 1


@pytest.mark.parametrize("given_up", [False, True])
def test_all_is_compiled_here_that_children_leave(monkeypatch, given_up):
    """Children get what is in no cache; then each kernel is compiled or loaded once, and progress never goes back."""
    kernels = [_Kernel("a", True), _Kernel("b", False), _Kernel("c", False)]
    asked = []

    def compile_in_children(plan, names, arguments):
        asked.append((names, arguments))
        yield 0, "b"
        if not given_up:
            yield 1, "c"

    monkeypatch.setattr(warm_up, "_done_tasks", set())
    monkeypatch.setattr(warm_up, "what_to_compile", lambda *arguments: kernels)
    monkeypatch.setattr(warm_up, "compile_in_children", compile_in_children)
    options = SimulationOptions(method="pgs", friction="box")
    steps = list(warm_up.warm_up_steps(options, [0]))
    assert asked == [(["b", "c"], ARGUMENTS)]
    assert [kernel.compiled for kernel in kernels] == [1, 1, 1]
    assert all(earlier <= later for (earlier, _, _), (later, _, _) in pairwise(steps))
    assert all(done < total for done, total, _ in steps)


def test_when_all_is_cached_no_child_is_asked(monkeypatch):
    started = []
    monkeypatch.setattr(compile_processes, "start", started.append)
    monkeypatch.setattr(warm_up, "_done_tasks", set())
    monkeypatch.setattr(warm_up, "what_to_compile", lambda *arguments: [_Kernel("a", True)])
    warm_up.warm_up()
    assert started == []


def test_what_is_ready_is_not_looked_for_again(monkeypatch):
    """A second bake of the same kinds of shapes, in any order, has nothing to load; one that was stopped has."""
    kernels = [_Kernel("a", True), _Kernel("b", True)]
    monkeypatch.setattr(warm_up, "_done_tasks", set())
    monkeypatch.setattr(warm_up, "what_to_compile", lambda *arguments: kernels)
    stopped = warm_up.contact_steps([0, 1])
    next(stopped)
    stopped.close()
    assert len(list(warm_up.contact_steps([0, 1]))) == 2
    assert list(warm_up.contact_steps([1, 0, 0])) == []
    assert len(list(warm_up.contact_steps([2]))) == 2


def test_overlaps_call_what_is_compiled_ahead_for_them():
    """After the steps of the warm-up nothing is compiled, and a bake uses the same code again."""
    ahead = compile_plan.what_to_compile("", "", [0], 1)
    list(warm_up.contact_steps([0]))
    known = [len(compilation.kernel.overloads) for compilation in ahead]
    assert all(known)
    Simulation(stack(2).build_model(), SimulationOptions(method="pgs")).overlaps()
    assert [len(compilation.kernel.overloads) for compilation in ahead] == known
    of_bake = {
        compilation.name: (compilation.kernel, kinds_of(compilation.arguments))
        for compilation in compile_plan.what_to_compile(*ARGUMENTS)
    }
    for compilation in ahead:
        assert of_bake[compilation.name] == (compilation.kernel, kinds_of(compilation.arguments))
