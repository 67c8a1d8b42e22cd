"""What random and long tests take each time, and what only at night (``--nightly``)."""

import os

import pytest


def cases(usual: int, nightly: int) -> int:
    """How many random cases a test draws: the first ``usual`` each time, all at night."""
    return nightly if os.environ.get("CAIRN_NIGHTLY", "") not in ("", "0") else usual


def seeds(usual: int, nightly: int) -> list:
    """Parameters 0, 1, ... ``nightly`` - 1, of which the first ``usual`` run each time."""
    return [seed if seed < usual else at_night(seed) for seed in range(nightly)]


def in_turns(rows, columns, usual: int) -> list:
    """Parameters of a grid, of which each row runs with ``usual`` columns each time, and with all of them at night.

    Rows take other columns than the rows before them, so that each column runs each time where there are enough rows.

    Parameters
    ----------
    rows, columns : iterable
        Of parameters, or of tuples of them.
    usual : int
    """
    columns = list(columns)
    found = []
    for number, row in enumerate(rows):
        chosen = {(number + turn * len(columns) // usual) % len(columns) for turn in range(usual)}
        for place, column in enumerate(columns):
            values = *(row if isinstance(row, tuple) else (row,)), *(column if isinstance(column, tuple) else (column,))
            found.append(pytest.param(*values) if place in chosen else at_night(*values))
    return found


def at_night(*values):
    """Parameters of a case that runs only at night."""
    return pytest.param(*values, marks=pytest.mark.nightly)
