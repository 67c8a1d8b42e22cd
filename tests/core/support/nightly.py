"""What random and long tests take each time, and what only at night (``--nightly``)."""

import pytest

from cairn.solver_core.solvers.registry import METHODS

# To compile a step with one of these takes half a minute. Each time they are tested without a step, on many problems.
LONG_TO_COMPILE = ("fischer_newton", "lemke", "lemke_structural")


def seeds(usual: int, nightly: int) -> list:
    """Parameters 0, 1, ... ``nightly`` - 1, of which the first ``usual`` run each time."""
    return [seed if seed < usual else at_night(seed) for seed in range(nightly)]


def at_night(*values):
    """Parameters of a case that runs only at night."""
    return pytest.param(*values, marks=pytest.mark.nightly)


def methods_of_a_step() -> list:
    """All methods of contact problems, of which those that compile quickly run each time."""
    return [at_night(method) if method in LONG_TO_COMPILE else method for method in METHODS]
