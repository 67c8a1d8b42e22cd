"""Numba in quicker words makes the same code, and is itself again afterwards."""

import json
import subprocess
import sys

import pytest
from numba import config
from numba.core.postproc import PostProcessor

from cairn.solver_core.compiled import quick_numba

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python has nothing to compile")

TIMEOUT = 120

# Compiles loops, branches, tuples, operators on literals and calls; tells the machine code's text.
SCRIPT = r"""
import json, re, sys
from typing import NamedTuple

import numpy as np
from cairn.solver_core.compiled import quick_numba, short_code
from cairn.solver_core.compiled.kernel import inlined, kernel, set_cache_folder, subkernel

if sys.argv[1] == "plain":
    quick_numba._WORDS = ()
if sys.argv[1] != "short":
    short_code.WORDS = ()
set_cache_folder(sys.argv[2])


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


@subkernel
def norm(values):
    total = 0.0
    for value in values:
        if value < 0.0:
            continue
        total += value**2
    return np.sqrt(total)


in_place = inlined(norm)


@kernel
def compiled(pair, count):
    i, largest = 0, (0.0, -1)
    while i < count:
        if pair.first[i] > 1e300:
            raise ValueError("too large")
        both = norm(pair.first[i:]) + 2 * in_place(pair.second[:-1])
        largest = (max(largest[0], both // 3), i) if both > largest[0] else largest
        pair.first[i] *= i % 3 - largest[1]
        i += 1
    return largest


pair = Pair(np.arange(5.0), np.arange(5.0))
told = compiled(pair, 3)
(made,) = compiled.overloads.values()
# an exception's text is named by where it lies in memory
code = re.sub(r"(pickle\w+)\.\d+", r"\1", made.library.get_asm_str())
print(json.dumps([[float(number) for number in told], code]))
"""


def compile_with(words, folder):
    script = folder / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), words, str(folder / words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_code_is_the_same(tmp_path):
    """To the letter, with Numba's own words and with the quick ones; with the short ones it has the same results."""
    plain, quick, short = (compile_with(words, tmp_path) for words in ("plain", "quick", "short"))
    assert plain == quick
    assert len(plain[1]) > 1000
    assert plain[0] == short[0]
    lines = [len(code.splitlines()) for _, code in (plain, short)]
    assert abs(lines[0] - lines[1]) < 0.2 * lines[0]


def test_numba_is_itself_again():
    """Also where one kernel is compiled within another, and where it fails."""

    def fail():
        with quick_numba.quick_numba(), quick_numba.quick_numba():
            assert PostProcessor.run is not quick_numba._post_process
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert {name: vars(place)[name] for place, name, _ in quick_numba._WORDS} == {
        "run": quick_numba._post_process,
        "_rec_list_vars": quick_numba._list_parts,
        "refresh": quick_numba._refresh,
        "order_by_target_specificity": quick_numba._order,
        "_has_loc": quick_numba._takes_location,
        "get_call_type": quick_numba._resolve,
        "get_abi_sizeof": quick_numba._size,
        "assign_names": quick_numba._name,
    }


def test_what_is_registered_later_is_found():
    """An operation that is defined after a kernel was compiled is known to the next."""
    from numba.extending import overload

    from cairn.solver_core.compiled.kernel import kernel

    def later(x):
        return 0

    compiled = kernel(lambda x: x + 1)
    assert compiled(1) == 2
    overload(later)(lambda x: lambda x: 3 * x)
    assert kernel(lambda x: later(x))(2) == 6
