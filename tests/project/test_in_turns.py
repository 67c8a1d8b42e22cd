"""Grids of cases that take turns: what runs each time, and what at night."""

import pytest
from nightly import in_turns


def values_of(cases, *, marked: bool) -> list:
    return [case.values for case in cases if bool(case.marks) == marked]


@pytest.mark.parametrize(("rows", "columns", "usual"), [(23, 18, 3), (78, 3, 1), (23, 6, 2), (30, 8, 3), (4, 4, 4)])
def test_each_row_takes_as_many_and_all_columns_run(rows, columns, usual):
    """Each row as often as is usual, each column in some row, all the rest at night, and nothing twice."""
    cases = in_turns(range(rows), range(columns), usual)
    usually, at_night = values_of(cases, marked=False), values_of(cases, marked=True)
    assert sorted(usually + at_night) == [(row, column) for row in range(rows) for column in range(columns)]
    assert [row for row, _ in usually] == [row for row in range(rows) for _ in range(usual)]
    assert {column for _, column in usually} == set(range(columns))


def test_rows_and_columns_may_have_several_parameters():
    cases = in_turns([("pgs", "box")], [("a", 1), ("b", 2)], 1)
    assert values_of(cases, marked=False) == [("pgs", "box", "a", 1)]
    assert values_of(cases, marked=True) == [("pgs", "box", "b", 2)]
