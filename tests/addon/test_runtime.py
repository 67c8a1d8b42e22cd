"""First use of Numba: the packages found are compared with those bundled, errors are one line, the cache goes where
Blender allows it, and compiling can be left between two kernels.
"""

import importlib
import json
import subprocess
import sys
import types
from itertools import pairwise

import pytest

from cairn.addon import runtime
from cairn.solver_core.compiled import compile_processes, function_tables
from cairn.solver_core.geometry.shapes import ShapeKind

OPTIONS = {"frame_rate": 24.0, "substeps": 1, "method": "nncg", "friction": "box", "tolerance": 1e-6}
RECORD = {
    "cairn": "0.1.0",
    "blender": "5.2",
    "platform": "linux-x64",
    "python": "3.13",
    "packages": {"numba": "0.68.1", "scipy": "1.17.1"},
    "numpy": ">=1.26.4,<2.6",
}


@pytest.fixture(autouse=True)
def nothing_is_done(monkeypatch):
    """Each test finds a process in which nothing has been looked for."""
    monkeypatch.setattr("cairn.solver_core.warm_up._done_tasks", set())


def test_what_is_installed_is_found_without_loading_it():
    code = (
        "import bpy, sys; from cairn.addon import runtime\n"
        "found = runtime.found_versions()\n"
        "assert all(found.values()), found\n"
        "assert not {'numba', 'scipy', 'llvmlite'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_equal_versions_raise_nothing(monkeypatch):
    found = runtime.found_versions()
    record = {"packages": {name: version for name, (version, _) in found.items()}}
    assert runtime.differences(record, found) == []
    assert runtime.differences({}, found) == []


def test_a_difference_says_what_lies_where_and_what_to_do():
    found = {"numba": ("0.70.0", "/somewhere/.local/lib"), "scipy": None}
    numba, scipy = runtime.differences(RECORD, found)
    assert all(part in numba for part in ("numba 0.70.0", "/somewhere/.local/lib", "0.68.1", "restart Blender"))
    assert all(part in scipy for part in ("scipy 1.17.1", "missing", "reinstall"))


def test_a_numba_that_cairn_was_not_tested_with_is_one_line():
    """Also where nothing was bundled; a version that is tested raises nothing."""
    (line,) = runtime.differences({}, {"numba": ("0.12.1", "/somewhere/lib")})
    assert all(part in line for part in ("0.12.1", "/somewhere/lib", "tested with Numba"))
    assert "\n" not in line
    assert runtime.differences({}, {"numba": (runtime.found_versions()["numba"][0], "/somewhere/lib")}) == []


def test_another_numba_that_was_tested_is_said_and_used(monkeypatch):
    """Another extension may bring it; the bake says so in a line, and works."""
    monkeypatch.setattr(runtime, "build_record", lambda: {"packages": {"numba": "0.0.1"}})
    runtime.prepare()
    (line,) = [line for line in runtime.remarks() if "0.0.1" in line]
    assert "that Cairn was built with" in line
    assert "\n" not in line


def test_a_numba_that_was_not_tested_stops_the_bake(monkeypatch):
    found = {**runtime.found_versions(), "numba": ("0.99.0", "/somewhere")}
    monkeypatch.setattr(runtime, "found_versions", lambda names=(): found)
    monkeypatch.setattr(runtime, "build_record", lambda: {"packages": {"numba": "0.68.1"}})
    with pytest.raises(runtime.RuntimeUnavailable, match=r"numba 0\.99\.0 .* is not the 0\.68\.1") as error:
        runtime.prepare()
    assert "\n" not in str(error.value)


def test_ready_made_kernels_that_do_not_fit_are_said(monkeypatch):
    from cairn.solver_core.compiled import ready_made

    assert runtime.remarks() == []
    monkeypatch.setattr(ready_made, "why_unused", lambda: "they are for another processor")
    assert runtime.remarks() == ["they are for another processor"]


def test_a_cache_that_cannot_be_written_lies_in_the_folder_of_the_session(monkeypatch):
    """Where a file is in the way Blender gives an empty path; one line says that kernels are not kept."""
    import bpy

    monkeypatch.setattr(runtime, "EXTENSION", "bl_ext.user_default.cairn")
    monkeypatch.setattr(bpy.utils, "extension_path_user", lambda package, *, path="", create=False: "")
    assert runtime.cache_folder().is_relative_to(bpy.app.tempdir)
    (line,) = runtime.remarks()
    assert "numba_cache" in line
    assert "compiled anew in each session" in line
    assert runtime.parts_folder() is None


@pytest.mark.parametrize("name", ["numba", "llvmlite", "scipy"])
def test_a_package_that_does_not_load_is_one_line(monkeypatch, name):
    def load(wanted, *arguments):
        if wanted == name:
            raise ImportError(f"DLL load failed\nwhile importing {name}")
        return importlib.import_module(wanted, *arguments)

    monkeypatch.setattr(runtime, "importlib", types.SimpleNamespace(import_module=load, metadata=importlib.metadata))
    with pytest.raises(runtime.RuntimeUnavailable, match=f"^{name} cannot be loaded") as error:
        runtime.prepare()
    assert "\n" not in str(error.value)
    assert "install it with" in str(error.value)


def test_the_record_is_read_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setattr(runtime, "ROOT", tmp_path)
    assert runtime.build_record() == {}
    (tmp_path / "build_record.json").write_text(json.dumps(RECORD))
    assert runtime.build_record() == RECORD


def test_the_cache_is_the_cores_own_outside_an_extension():
    assert runtime.EXTENSION == "cairn"
    assert runtime.cache_folder() is None


def test_an_extension_keeps_its_cache_in_blenders_user_folder(monkeypatch, tmp_path):
    import bpy

    from cairn.solver_core.compiled import kernel

    places = []
    asked = []

    def extension_path_user(package, *, path="", create=False):
        asked.append((package, path, create))
        (tmp_path / path).mkdir(exist_ok=True)
        return str(tmp_path / path)

    monkeypatch.setattr(runtime, "EXTENSION", "bl_ext.user_default.cairn")
    monkeypatch.setattr(bpy.utils, "extension_path_user", extension_path_user)
    monkeypatch.setattr(kernel, "set_cache_folder", places.append)
    runtime.prepare()
    assert asked == [("bl_ext.user_default.cairn", "numba_cache", True)]
    assert places == [tmp_path / "numba_cache" / runtime.__version__]


def test_compiling_shows_at_once_and_comes_to_an_end(monkeypatch):
    """The first answer comes before anything is loaded."""
    prepared = []
    prepare = runtime.prepare
    monkeypatch.setattr(runtime, "prepare", lambda: prepared.append(prepare()))
    steps = runtime.compile_kernels(OPTIONS, [ShapeKind.BOX])
    assert next(steps) == (0, 0, "")
    assert prepared == []
    for _ in steps:
        pass
    assert prepared == [None]


def names_of(steps):
    return [name for _, _, name in steps]


def test_compiling_pauses_between_two_kernels(monkeypatch):
    """With no time a tick, every kernel that is compiled here is a step of its own, each once and in order."""
    monkeypatch.setattr(compile_processes, "child_count", lambda: 0)
    monkeypatch.setattr(function_tables.Compilation, "is_cached", lambda compilation: False)
    steps = [step for step in runtime.compile_kernels(OPTIONS, [ShapeKind.BOX], time_slice=-1.0) if step[1]]
    assert steps[0][0] == 0.0
    assert all(earlier < later for (earlier, *_), (later, *_) in pairwise(steps))
    assert {total for _, total, _ in steps} == {sum(map(compile_processes.typical_seconds, names_of(steps)))}
    assert "find_contacts" in names_of(steps)


def test_only_shapes_that_the_model_has_are_compiled():
    """Balls ask for their own kernel; boxes alone do not."""
    named = [
        {name for _, _, name in runtime.compile_kernels(OPTIONS, kinds, time_slice=-1.0)}
        for kinds in ([ShapeKind.BOX], [ShapeKind.BOX, ShapeKind.SPHERE])
    ]
    assert named[1] - named[0] == {"narrow_phase: balls"}


def test_stages_of_joints_are_compiled_where_there_are_some(monkeypatch):
    """All ten, and no others besides; without joints none of them."""
    monkeypatch.setattr(compile_processes, "child_count", lambda: 0)
    monkeypatch.setattr(function_tables.Compilation, "compile", lambda compilation: None)
    named = [
        {name for _, _, name in runtime.compile_kernels(OPTIONS, [ShapeKind.BOX], 1, joints, time_slice=-1.0)}
        for joints in (False, True)
    ]
    assert named[1] - named[0] == {
        "prepare_joints",
        "build_joint_rows",
        "glue",
        "correct_joints",
        "move_joint_rows",
        "end_joints",
        "solve_jointed",
        "solve_jointed_velocities",
        "wake_joined",
        "leave_held_contacts",
    }
    assert named[0] < named[1]


def test_forces_are_compiled_where_there_are_fields(monkeypatch):
    """What applies them, and what says to sleeping bodies that they have changed; without fields none of it."""
    monkeypatch.setattr(compile_processes, "child_count", lambda: 0)
    monkeypatch.setattr(function_tables.Compilation, "compile", lambda compilation: None)
    named = [
        {name for _, _, name in runtime.compile_kernels(OPTIONS, [ShapeKind.BOX], fields=fields, time_slice=-1.0)}
        for fields in (False, True)
    ]
    assert named[1] - named[0] == {"apply_fields", "field_changes"}
    assert named[0] < named[1]


def test_servos_are_compiled_where_bodies_are_guided(monkeypatch):
    monkeypatch.setattr(compile_processes, "child_count", lambda: 0)
    monkeypatch.setattr(function_tables.Compilation, "compile", lambda compilation: None)
    named = [
        {name for _, _, name in runtime.compile_kernels(OPTIONS, [ShapeKind.BOX], guides=guides, time_slice=-1.0)}
        for guides in (False, True)
    ]
    assert named[1] - named[0] == {"guide_bodies"}


def test_rolling_friction_is_compiled_where_a_body_has_it(monkeypatch):
    monkeypatch.setattr(compile_processes, "child_count", lambda: 0)
    monkeypatch.setattr(function_tables.Compilation, "compile", lambda compilation: None)
    named = [
        {name for _, _, name in runtime.compile_kernels(OPTIONS, [ShapeKind.BOX], rolls=rolls, time_slice=-1.0)}
        for rolls in (False, True)
    ]
    assert named[1] - named[0] == {"brake_rolling"}


@pytest.mark.parametrize("missing", [(), ("frame",)])
def test_only_what_is_compiled_is_counted(monkeypatch, missing):
    """Where all kernels are in the cache, and only loaded, there is no total; one that is missing makes it a count."""
    monkeypatch.setattr(compile_processes, "child_count", lambda: 0)
    monkeypatch.setattr(function_tables.Compilation, "is_cached", lambda compilation: compilation.name not in missing)
    steps = runtime.compile_kernels(OPTIONS, [ShapeKind.BOX], time_slice=-1.0)
    totals = {total for _, total, name in steps if name}
    assert (totals == {0}) == (not missing)
    contacts = runtime.compile_contacts([ShapeKind.BOX], time_slice=-1.0)  # needs no frame
    assert {total for _, total, name in contacts if name} == {0}


def test_compiling_can_be_left(monkeypatch):
    monkeypatch.setattr(compile_processes, "child_count", lambda: 0)
    monkeypatch.setattr(function_tables.Compilation, "is_cached", lambda compilation: False)
    steps = runtime.compile_kernels(OPTIONS, [ShapeKind.BOX], time_slice=-1.0)
    next(step for step in steps if step[1])
    steps.close()


def test_system_information_names_what_a_report_needs():
    text = runtime.system_information()
    for part in ("Cairn", "Blender", "Python", "numba", "llvmlite", "scipy", "numpy"):
        assert part in text


def test_importing_the_addon_loads_neither_numba_nor_scipy():

    code = (
        "import bpy, sys, cairn\n"
        "cairn.register()\n"
        "loaded = {'numba', 'llvmlite', 'scipy'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
