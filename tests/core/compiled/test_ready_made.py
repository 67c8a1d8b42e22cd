"""Kernels that were compiled elsewhere: loaded under any name of the package without compiling, and refused where they
do not fit.
"""

import hashlib
import json
import os
import subprocess
import sys
import types as types_of_python
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from numba import config, types

from cairn.solver_core.collision.mesh.mesh_tree import refit_trees
from cairn.solver_core.compiled import ready_made
from cairn.solver_core.compiled.kernel import CORE_FOLDER, is_cached

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python has nothing to compile")

TIMEOUT = 300
# Called from Python, one of them with memory of its own; called by address; with Numba's threads.
NAMES = ["trees of meshes", "boxes of meshes", "match_contacts", "run_workers"]

# Compiles where the package is called ``cairn`` and for an old processor, or loads where Blender calls it otherwise;
# tells what was compiled, and the bits of a mesh's tables.
SCRIPT = """
import hashlib, importlib, json, os, sys, types
from pathlib import Path

does, package, core, folder, names = json.loads(sys.argv[1])
if does == "make":
    os.environ["NUMBA_CPU_NAME"], os.environ["NUMBA_CPU_FEATURES"] = PROCESSOR, ""
parts = package.split(".")
for count in range(1, len(parts) + 1):
    name = ".".join(parts[:count])
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [str(Path(core).parent)] if name == package else []

def of(name):
    return importlib.import_module(f"{package}.solver_core.{name}")

from numba.core import event
compiled = []
listener = type("Listener", (event.Listener,), {
    "on_start": lambda self, data: compiled.append(data.data["dispatcher"].py_func.__name__),
    "on_end": lambda self, data: None,
})
event.register("numba:compile", listener())
ready_made, kernel = of("compiled.ready_made"), of("compiled.kernel")
if does == "load":
    ready_made.FOLDER = Path(folder)
kinds = [6]
plan = [c for c in of("compile_plan").what_to_compile("pgs", "box", kinds, 2, False) if c.name in names]
ready = [ready_made.is_ready_made(c.kernel.py_func, kernel.kinds_of(c.arguments)) for c in plan]
for compilation in plan:
    compilation.compile()
if does == "make":
    machine_code = of("compiled.cache_files").machine_code
    made = [(c.kernel.py_func, kernel.kinds_of(c.arguments)) for c in plan]
    ready_made.write(Path(folder), [
        (function, kinds, c.kernel.overloads[kinds], machine_code(c.kernel, kinds))
        for c, (function, kinds) in zip(plan, made)
    ], PROCESSOR, [])
scene = of("model.builder").ModelBuilder()
vertices = [(x, y, 0.1 * (x * y % 3)) for x in range(6) for y in range(6)]
corners = [(6 * x + y, 6 * x + y + 6, 6 * x + y + 1) for x in range(5) for y in range(5)]
shape = of("geometry.triangle_mesh").TriangleMesh(vertices, corners)
scene.add_body(shape=shape, kind=of("model.model").BodyKind.STATIC)
tables = of("dynamics.frame.allocation").allocate_collision(scene.build()).workspace.meshes
digest = hashlib.sha256(b"".join(getattr(tables, name).tobytes() for name in ("node", "box", "normal", "triangle")))
addresses = [c.table[c.index].tolist() for c in plan if c.table is not None]
print(json.dumps([ready, compiled, digest.hexdigest(), addresses, ready_made.why_unused()]))
"""


def run(does, package, folder, cache):
    processor = "x86-64-v3" if llvm.get_process_triple().startswith("x86_64") else llvm.get_host_cpu_name()
    words = json.dumps([does, package, str(CORE_FOLDER), str(folder), NAMES])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("PROCESSOR", repr(processor)), words],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder of kernels, and what the process that made them told."""
    folder = tmp_path_factory.mktemp("kernels")
    return folder, run("make", "cairn", folder, tmp_path_factory.mktemp("cache"))


def test_kernels_are_loaded_under_another_name_of_the_package(made, tmp_path):
    """Nothing is compiled; the bits are those of the process that compiled; tables get addresses and checksums."""
    folder, (_, compiled_there, bits, addresses, _) = made
    assert compiled_there
    ready, compiled, bits_here, addresses_here, trouble = run("load", "bl_ext.somewhere.cairn", folder, tmp_path)
    assert ready == [True] * len(NAMES)
    assert compiled == []
    assert bits_here == bits
    assert all(address for address, _ in addresses_here)
    assert [checksum for _, checksum in addresses_here] == [checksum for _, checksum in addresses]
    assert trouble == ""


def test_a_damaged_kernel_is_compiled_and_named(made, tmp_path):
    """Its hash is not that of the record; the others are loaded."""
    source, (_, _, bits, *_) = made
    record = json.loads((source / ready_made.RECORD).read_text())
    for file in source.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (damaged,) = [entry for entry in record["kernels"].values() if entry["kernel"].endswith("refit_trees")]
    code = bytearray((source / damaged["file"]).read_bytes())
    code[len(code) // 2] ^= 1
    (tmp_path / damaged["file"]).write_bytes(code)
    ready, compiled, bits_here, _, trouble = run("load", "bl_ext.somewhere.cairn", tmp_path, tmp_path / "cache")
    assert sorted(ready) == [False, True, True, True]
    assert "refit_trees" in compiled
    assert bits_here == bits
    assert "\n" not in trouble
    assert f"{damaged['file']} is damaged" in trouble


def record_of(folder: Path, **changes):
    """Write a record of one kernel that fits this machine, but for ``changes``."""
    code = b"no code"
    (folder / "kernel.o").write_bytes(code)
    entry = {"file": "kernel.o", "sha256": hashlib.sha256(code).hexdigest()}
    key = ready_made.key_of(refit_trees.py_func, (types.int64,))
    record = {**ready_made.made_by(), "features": [], "kernels": {key: entry}, **changes}
    (folder / ready_made.RECORD).write_text(json.dumps(record))


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(ready_made, "FOLDER", tmp_path)
    ready_made.forget()
    yield tmp_path
    ready_made.forget()


def is_found():
    return ready_made.is_ready_made(refit_trees.py_func, (types.int64,))


def test_what_fits_is_found(folder, monkeypatch):
    monkeypatch.setattr(config, "CPU_NAME", None)
    record_of(folder)
    assert is_found()
    assert is_cached(refit_trees, (types.int64,))
    assert not ready_made.is_ready_made(refit_trees.py_func, (types.float64,))
    assert ready_made.why_unused() == ""


def test_without_a_folder_nothing_is_said(folder):
    assert not is_found()
    assert ready_made.why_unused() == ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sources": "000000000000"}, "made with sources 000000000000"),
        ({"numba": "0.1.0"}, "made with numba 0.1.0"),
        ({"llvmlite": "0.1.0"}, "made with llvmlite 0.1.0"),
        ({"python": "2.7"}, "made with python 2.7"),
        ({"system": "riscv64-unknown-linux-gnu"}, "made with system riscv64"),
        ({"features": ["future-instructions"]}, "this processor has no future-instructions"),
        ({"features": None}, "cannot be read"),
        ({"kernels": 3}, "cannot be read"),
    ],
)
def test_what_does_not_fit_is_not_used_and_said_in_a_line(folder, monkeypatch, caplog, changes, said):
    monkeypatch.setattr(config, "CPU_NAME", None)
    record_of(folder, **changes)
    assert not is_found()
    assert said in ready_made.why_unused()
    assert "compiled once" in ready_made.why_unused()
    assert "\n" not in ready_made.why_unused()
    assert caplog.text.count(said) == 1


def test_a_record_that_is_cut_off_is_said(folder):
    (folder / ready_made.RECORD).write_text('{"sources": "0')
    assert not is_found()
    assert "cannot be read" in ready_made.why_unused()


def test_code_for_another_processor_is_compiled(folder, monkeypatch):
    """NUMBA_CPU_NAME asks for it."""
    monkeypatch.setattr(config, "CPU_NAME", "nehalem")
    record_of(folder)
    assert not is_found()
    assert "NUMBA_CPU_NAME" in ready_made.why_unused()


def test_a_kernel_that_holds_objects_of_python_is_refused(monkeypatch, tmp_path):
    """It would need more than its code."""
    environment = types_of_python.SimpleNamespace(consts=["an object"])
    compiled = types_of_python.SimpleNamespace(environment=environment, lifted=(), reload_init=())
    with pytest.raises(ValueError, match="objects of Python"):
        ready_made.write(tmp_path, [(refit_trees.py_func, (types.int64,), compiled, b"")], "any", [])
