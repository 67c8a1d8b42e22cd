"""Atomic operations: what each does to an entry, compiled and as plain Python."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import config

from cairn.solver_core.compiled.atomics import (
    add_shared,
    fetch_and_increment,
    load_shared,
    replace_shared,
    store_shared,
)
from cairn.solver_core.compiled.kernel import kernel


@kernel
def use_each(array):
    """Return what was read, on an array of at least three entries."""
    store_shared(array, 1, 7)
    add_shared(array, 1, -2)
    read = load_shared(array, 1)
    was_replaced = replace_shared(array, 2, 30, 31)
    was_kept = not replace_shared(array, 2, 30, 32)
    return read, was_replaced, was_kept, fetch_and_increment(array), fetch_and_increment(array)


def test_each_operation():
    array = np.array([10, 20, 30, 40])
    assert use_each(array) == (5, True, True, 10, 11)
    assert array.tolist() == [12, 5, 31, 40]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="is plain Python already")
def test_the_same_in_plain_python():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
