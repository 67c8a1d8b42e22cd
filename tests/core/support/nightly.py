"""What random and long tests take each time, and what only at night (``--nightly``)."""

import pytest


def seeds(usual: int, nightly: int) -> list:
    """Parameters 0, 1, ... ``nightly`` - 1, of which the first ``usual`` run each time."""
    return [seed if seed < usual else at_night(seed) for seed in range(nightly)]


def at_night(*values):
    """Parameters of a case that runs only at night."""
    return pytest.param(*values, marks=pytest.mark.nightly)
