"""Kernels: the same as plain Python, the same in every process, and loaded only when needed."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from nightly import at_night
from numba import config, njit
from numba.core.errors import NumbaError

from cairn.solver_core.compiled import kernel as kernel_module
from cairn.solver_core.compiled import sources

compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python counts and links nothing")

STEP = """
import json
import numpy as np
from cairn.solver_core.scenes import stack
from cairn.solver_core.simulation import Simulation, SimulationOptions
simulation = Simulation(stack(2).build_model(), SimulationOptions(substeps=2, method="{method}", max_iterations=4))
for _ in range({frames}):
    simulation.advance_frame()
print(json.dumps([simulation.state.position.tolist(), simulation.state.velocity.tolist()]))
"""


def in_new_process(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("method", ["auto", "pgs", at_night("nncg")])
def test_compiled_kernels_agree_with_plain_python(method):
    """NUMBA_DISABLE_JIT=1 runs the same step as Python; two frames of two boxes agree to rounding."""
    code = STEP.format(method=method, frames=2)
    compiled = json.loads(in_new_process(code))
    plain = json.loads(in_new_process(code, NUMBA_DISABLE_JIT="1"))
    for values, expected in zip(compiled, plain, strict=True):
        for row, expected_row in zip(values, expected, strict=True):
            assert row == pytest.approx(expected_row, abs=1e-9)


def test_two_processes_have_the_same_bits():
    """Printed with all digits, the states of two runs in two processes are the same text."""
    code = STEP.format(method="auto", frames=12)
    assert in_new_process(code) == in_new_process(code)


def test_models_need_no_numba():
    """Building a model loads NumPy only; SciPy comes with the first hull, Numba with the first simulation."""
    code = (
        "import sys, cairn, cairn.solver_core\n"
        "from cairn.solver_core import BodyKind, Box, ModelBuilder\n"
        "from cairn.solver_core.scenes import SCENES\n"
        "builder = ModelBuilder()\n"
        "builder.add_body(shape=Box((1, 1, 1)))\n"
        "builder.build()\n"
        "print([name for name in ('numba', 'scipy', 'bpy') if name in sys.modules])"
    )
    assert in_new_process(code).strip() == "[]"


def test_the_folder_that_was_chosen_wins_over_the_environments(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "environment"))
    try:
        kernel_module.cache_folder.cache_clear()
        assert kernel_module.cache_folder() == tmp_path / "environment" / "cairn-kernels"
        kernel_module.set_cache_folder(tmp_path / "chosen")
        assert kernel_module.cache_folder() == tmp_path / "chosen" / "cairn-kernels"
    finally:
        kernel_module.set_cache_folder(None)


def test_the_fingerprint_is_that_of_all_bytes(tmp_path, monkeypatch):
    """Another byte, another fingerprint."""
    monkeypatch.setattr(sources, "CORE_FOLDER", tmp_path)
    fingerprints = []
    try:
        for text in ("a = 1", "a = 2", "a = 1"):
            (tmp_path / "solver.py").write_text(text)
            sources.core_fingerprint.cache_clear()
            sources._core_files.cache_clear()
            fingerprints.append(sources.core_fingerprint())
    finally:
        sources.core_fingerprint.cache_clear()
        sources._core_files.cache_clear()
    assert fingerprints[0] == fingerprints[2] != fingerprints[1]


def test_numbas_own_settings_are_put_back(tmp_path):
    """Defining a kernel leaves Numba's cache folder as other packages set it."""
    from numba import config

    earlier = config.CACHE_DIR
    kernel_module.kernel(lambda x: x)
    assert earlier == config.CACHE_DIR


def test_bound_copies_call_what_they_are_bound_to():
    """Two copies of one function differ in the kernel that they call."""

    @kernel_module.subkernel
    def double(x):
        return 2 * x

    @kernel_module.subkernel
    def triple(x):
        return 3 * x

    assert kernel_module.bind(_apply, "apply_double", step=double)(7) == 14
    assert kernel_module.bind(_apply, "apply_triple", step=triple)(7) == 21


def _apply(x):
    return step(x)  # noqa: F821 - bound by the test


@kernel_module.subkernel
def _halves(array):
    return array[: array.size // 2], array[array.size // 2 :]


@kernel_module.subkernel(allocates=True)
def _doubled(array):
    return 2.0 * array


@kernel_module.kernel
def _difference_of_halves(array):
    first, second = _halves(array)
    return second.sum() - first.sum()


@kernel_module.kernel(allocates=True)
def _doubled_for_python(array):
    return _doubled(array)


def test_kernels_return_what_they_allocate():
    """Views go from kernel to kernel where none allocates, new arrays where all do, and then also to Python."""
    array = np.arange(6.0)
    assert _difference_of_halves(array) == 9.0
    count = sys.getrefcount(array)
    for _ in range(10):
        assert np.array_equal(_doubled_for_python(array), 2.0 * np.arange(6.0))
        assert _difference_of_halves(array) == 9.0
    assert sys.getrefcount(array) == count


@kernel_module.subkernel
def _third_of(total):
    if total < 0:
        raise ValueError("nothing to divide")
    return total / 3.0


_third_in_place = kernel_module.inlined(_third_of)


@kernel_module.kernel
def _total_of_thirds(array):
    first = 0.0
    for number in array[1:]:
        first += _third_of(number)
    return first + _third_in_place(array[0])


def test_what_is_called_both_ways_is_compiled_once():
    """A subkernel, and the same whose code is put in the place of a call: one compilation, and the same exceptions."""
    assert _total_of_thirds(np.array([3.0, 6.0])) == 3.0
    for array in ([-3.0, 6.0], [3.0, -6.0]):
        with pytest.raises(ValueError, match="nothing to divide"):
            _total_of_thirds(np.array(array))
    if not config.DISABLE_JIT:
        assert not _third_in_place.overloads


@compiled_only
def test_kernels_that_allocate_must_say_so():
    """What would lose count of references is refused, with the names: making, and returning across the border."""

    @kernel_module.kernel
    def make(array):
        return (2.0 * array).sum()

    @kernel_module.kernel
    def give_to_python(array):
        return _halves(array)

    @kernel_module.kernel
    def take_new(array):
        return _doubled(array).sum()

    @kernel_module.kernel(allocates=True)
    def take_views(array):
        return _halves(array)[0].sum()

    for function, message in (
        (make, "NRT required but not enabled"),
        (give_to_python, "give_to_python returns an array to Python"),
        (take_new, "_doubled returns an array to take_new"),
        (take_views, "_halves returns an array to take_views"),
    ):
        with pytest.raises(NumbaError, match=message):
            function(np.arange(6.0))


@compiled_only
def test_subkernels_are_for_kernels_only():
    """Numba's own functions would call code that is not there."""

    @njit
    def strange(array):
        return _halves(array)[0].sum()

    with pytest.raises(NumbaError, match="_halves is a subkernel"):
        strange(np.arange(6.0))
    assert _difference_of_halves(np.arange(6.0)) == 9.0


def _twice(x):
    return x + x


@compiled_only
def test_processes_that_compile_for_different_types_at_once_keep_both(tmp_path):
    """Another process whose index does not know of the first's code writes its own beside that, and not over it."""
    folders = [tmp_path / "first", tmp_path / "second"]
    names = []
    for folder, number in zip(folders, (1, 0.5), strict=True):
        kernel_module.set_cache_folder(folder)
        try:
            twice = kernel_module.kernel(_twice)
        finally:
            kernel_module.set_cache_folder(None)
        assert twice(number) == 2 * number
        assert kernel_module.is_cached(twice, kernel_module.kinds_of((number,)))
        names.append({path.name for path in folder.rglob("*.nbc")})
    assert names[0]
    assert names[1]
    assert not names[0] & names[1]


@pytest.mark.parametrize("version", ["0.1.0", "0.999.0"])
def test_a_numba_that_was_not_tested_is_refused_in_one_line(version):
    """The first kernel that is loaded says which version is installed and which ones are allowed."""
    code = f"import numba; numba.__version__ = {version!r}; import cairn.solver_core.simulation"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: Cairn was tested with Numba 0.")
    assert version in last
