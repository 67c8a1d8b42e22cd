"""Elements, rows, loops, tuples and variables mean what they mean in Python, however short their code is."""

from typing import NamedTuple

import numpy as np
import pytest

from cairn.solver_core.compiled.kernel import kernel, subkernel


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


@subkernel
def swapped(pair, scale):
    return (pair.second, scale * 2.0, pair.first)


@kernel
def read_elements(table, flags, small, places):
    """Elements by numbers of any sign and kind, of arrays of any kind."""
    total = table[-1, -2] + 2.0 * table[1, 0] + 3.0 * table[np.uint32(1), np.int32(-1)]
    row = table[1]
    total += 5.0 * row[-1] + 7.0 * row[0] + len(table) + 11 * len(row)
    if flags[0] and not flags[-1]:
        total += 13.0
    total += 17 * small[places[-1]] + 19 * table[places[0]][places[1]]
    return total + row.size + row.shape[0] + table[1:][0][1] + table[:, 1][-1]


@kernel
def write_elements(table, flags, small):
    """Numbers are written as numbers of the array's kind."""
    for i in range(len(table)):
        table[i, -1] = i
        row = table[-1 - i]
        row[0] += 0.5
    flags[-1], flags[0] = True, 3 > 4
    small[0], small[-1] = 7, small[0]
    small[1] -= 2


@kernel
def count(start, stop, step):
    """Loops of each kind, and the variables that they leave."""
    total, last = 0, -1
    for i in range(stop):
        total += i
        last = i
    for i in range(start, stop):
        if i == start + 2:
            continue
        total += 3 * i
        for j in range(i):
            total += j
            if j > 3:
                break
        else:
            total += 100
    for i in range(stop, start, -step):
        total += 7 * i
        last = i
    for i in range(start, stop, step):
        total += 11 * i
    return total, last, len(range(start, stop, step))


@kernel
def pass_on(pair, turns):
    """Tuples that are passed on, put together anew and kept over branches and loops."""
    kept, total = pair, 0.0
    for turn in range(turns):
        second, scale, first = swapped(kept, pair.first[0])
        both = Pair(second, first) if turn % 2 else Pair(first, second)
        largest = (turn, both.first[turn % 2])
        if largest[1] > 2.0:
            kept = both
        total += largest[0] * scale + both.second[-1]
    return total + kept.first[1]


@kernel
def refuse(values, limit):
    """An exception of a callee reaches Python."""
    for i in range(len(values)):
        fail_above(values[i], limit)
    return len(values)


@subkernel
def fail_above(value, limit):
    if value > limit:
        raise ValueError("too large")


def elements():
    flags, small = np.array([True, True, False]), np.array([4, 5, 6], np.int16)
    return np.arange(12.0).reshape(3, 4), flags, small, np.array([2, 1], np.int64)


@pytest.mark.parametrize("columns", [slice(None), slice(None, None, 2)], ids=["one after the other", "with gaps"])
def test_elements_are_read(columns):
    table, *others = elements()
    table = table[:, columns]
    assert read_elements(table, *others) == read_elements.py_func(table, *others)


@pytest.mark.parametrize("columns", [slice(None), slice(None, None, 2)], ids=["one after the other", "with gaps"])
def test_elements_are_written(columns):
    made, expected = elements(), elements()
    write_elements(made[0][:, columns], *made[1:3])
    write_elements.py_func(expected[0][:, columns], *expected[1:3])
    for mine, right in zip(made, expected, strict=True):
        assert np.array_equal(mine, right)


@pytest.mark.parametrize(("start", "stop", "step"), [(0, 5, 1), (2, 9, 3), (-3, 8, 2), (5, 2, 1), (0, 0, 4)])
def test_loops_count(start, stop, step):
    assert count(start, stop, step) == count.py_func(start, stop, step)


@pytest.mark.parametrize("turns", range(5))
def test_tuples_are_passed_on(turns):
    pair = Pair(np.array([1.0, 2.0, 3.0]), np.array([4.0, 0.5, -1.0]))

    def plainly(pair, turns):
        kept, total = pair, 0.0
        for turn in range(turns):
            second, scale, first = kept.second, 2.0 * pair.first[0], kept.first
            both = Pair(second, first) if turn % 2 else Pair(first, second)
            kept = both if both.first[turn % 2] > 2.0 else kept
            total += turn * scale + both.second[-1]
        return total + kept.first[1]

    assert pass_on(pair, turns) == plainly(pair, turns)


def test_exceptions_come_through():
    assert refuse(np.arange(3.0), 2.0) == 3
    with pytest.raises(ValueError, match="too large"):
        refuse(np.arange(4.0), 2.0)
