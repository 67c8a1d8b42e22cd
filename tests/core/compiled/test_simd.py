"""Vectors of eight numbers in kernels: the same as NumPy's arrays to the bit, compiled and as plain Python."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import config

from cairn.solver_core.compiled import simd
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.compiled.simd import (
    ROW,
    WIDTH,
    any_of,
    fetch,
    gather_rows,
    load,
    number_at,
    root,
    scatter_rows,
    select,
    size,
    spread,
    store,
)


@kernel
def combine(first, second, out):
    """Row by row of ``out``: every operation once. To fetch what is beyond an array's end does nothing."""
    for place in (0, 10 * WIDTH, 10_000_000 * WIDTH):
        fetch(out, place)
    a, b, one = load(first, 0), load(second, WIDTH), spread(1.0)
    store(out, 0, a + b)
    store(out, WIDTH, a - b)
    store(out, 2 * WIDTH, a * b)
    store(out, 3 * WIDTH, a / b)
    store(out, 4 * WIDTH, root(size(a)))
    store(out, 5 * WIDTH, select(a < b, a, b))
    store(out, 6 * WIDTH, select((a <= b) & (a > one), one, select((a >= one) | (b < one), b, a)))
    total = 0.0
    for place in range(WIDTH):
        total += number_at(a, place)
    return total, any_of(a > b), any_of(a > b) or any_of(a <= b)


@kernel
def move(source, places, target):
    """Gather rows from ``source``, and scatter them to ``target``, where each number is its column's multiple."""
    where = (places[0], places[1], places[2], places[3], places[4], places[5], places[6], places[7])
    a, b, c, d, e, f = gather_rows(source, where)
    b, c, d = spread(2.0) * b, spread(3.0) * c, spread(4.0) * d
    scatter_rows(target, where, (a, b, c, d, spread(5.0) * e, spread(6.0) * f))


def check(seed):
    """Random numbers, NaN and infinities among them."""
    random = np.random.default_rng(seed)
    first, second = random.normal(size=WIDTH), random.normal(size=(2, WIDTH)) + 0.5
    if seed % 3 == 1:
        first[random.integers(WIDTH)] = np.nan
        second[1, random.integers(WIDTH)] = np.inf
    if seed % 3 == 2:
        first[0], second[1, 0] = second[1, 0], first[0]
        first[3] = second[1, 3]
    out = np.empty((7, WIDTH))
    total, larger, ordered = combine(first, second, out)
    a, b = first, second[1]
    expected = [a + b, a - b, a * b, a / b, np.sqrt(np.abs(a)), np.where(a < b, a, b)]
    expected.append(np.where((a <= b) & (a > 1.0), 1.0, np.where((a >= 1.0) | (b < 1.0), b, a)))
    assert np.array_equal(out, expected, equal_nan=True)
    in_turn = 0.0
    for number in a:
        in_turn += number
    assert np.array_equal(total, in_turn, equal_nan=True)
    assert larger == np.any(a > b)
    assert ordered == np.any((a > b) | (a <= b))


@pytest.mark.parametrize("seed", range(9))
def test_operations(seed):
    """Place by place; comparisons with NaN are false."""
    check(seed)


def test_of_equal_places_the_first_stays():
    """Rows may begin at any entry, overlap, and end with the last one; what is beside them is not touched."""
    source = np.arange(40.0).reshape(4, 10)
    target = np.full((4, 10), -1.0)
    places = np.array([30, 7, 7, 12, 0, 34, 21, 10])
    move(source, places, target)
    flat, columns = np.full(40, -1.0), np.arange(ROW)
    for place in places[::-1]:
        flat[place + columns] = (columns + 1.0) * (place + columns)
    assert np.array_equal(target.ravel(), flat)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="is plain Python already")
def test_the_same_in_plain_python():
    """NUMBA_DISABLE_JIT=1 has arrays for vectors."""
    assert not isinstance(simd.load, type(np.where))
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
