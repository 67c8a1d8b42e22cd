"""What the cascade remembers of the last solves of a body's island, from call to call."""

from typing import NamedTuple

import numpy as np

from ..compiled.kernel import subkernel
from .policy import POWER_CALMED, WAIT_LEAST, WAIT_MOST, WAIT_MOST_SUBDOMAINS

# Of two: starts are not told apart beyond it.
_HIGHEST_POWER = 60


class SolveMemory(NamedTuple):
    """Per body; an island reads the largest value of its bodies.

    Attributes
    ----------
    corrected : int64 [body_capacity]
        1 if the last solve was one of bodies at rest.
    wait : int64 [body_capacity]
        For how many more solves the exact method is not tried.
    last_wait : int64 [body_capacity]
        For how many it was not tried after the last failure.
    failed_at : int64 [body_capacity]
        How close the start was then, as a power of two: scale over residual.
    subdomain_wait, next_subdomain_wait : int64 [body_capacity]
        For how many more solves subdomains are not tried; for how many after the next failure.
    """

    corrected: np.ndarray
    wait: np.ndarray
    last_wait: np.ndarray
    failed_at: np.ndarray
    subdomain_wait: np.ndarray
    next_subdomain_wait: np.ndarray


def allocate_solve_memory(body_capacity: int) -> SolveMemory:
    """Nothing remembered of this many bodies."""
    return SolveMemory(*(np.zeros(body_capacity, np.int64) for _ in SolveMemory._fields))


@subkernel
def swap_values(islands, island, values, value):
    """Set the values of an island's bodies.

    Parameters
    ----------
    islands, island
        Read.
    values : int64 [body_capacity]
        Written.
    value : int

    Returns
    -------
    int
        The largest of the former values.
    """
    largest = np.int64(0)
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        largest = max(largest, values[body])
        values[body] = value
    return largest


@subkernel
def largest_value(islands, island, values):
    """The largest of the values of an island's bodies; arguments as in ``swap_values``, read."""
    largest = np.int64(0)
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        largest = max(largest, values[islands.body_order[index]])
    return largest


@subkernel
def count_down_wait(islands, island, memory, scale, residual):
    """In how many solves the exact method may be tried again, which this solve brings closer by one.

    Parameters
    ----------
    islands, island
        Read.
    memory : SolveMemory
        ``wait`` is written.
    scale, residual : float
        Of the problem and its start [m/s].

    Returns
    -------
    wait : int
        0: now.
    closeness : int
        How close the start is, as in ``SolveMemory.failed_at``.
    """
    wait = swap_values(islands, island, memory.wait, np.int64(0))
    closeness = _power_of_two(scale, residual)
    if wait > 0 and closeness >= largest_value(islands, island, memory.failed_at) + POWER_CALMED:
        wait = np.int64(0)
    if wait > 0:
        swap_values(islands, island, memory.wait, wait - 1)
    return wait, closeness


@subkernel
def note_success(islands, island, memory):
    """Forget the last failure of the exact method; returns for how many solves it was not tried then.

    Parameters
    ----------
    islands, island
        Read.
    memory : SolveMemory
        Written.
    """
    last_wait = swap_values(islands, island, memory.last_wait, np.int64(0))
    swap_values(islands, island, memory.failed_at, np.int64(0))
    return last_wait


@subkernel
def note_failure(islands, island, memory, last_wait, closeness):
    """Do without the exact method twice as long as after the failure before.

    Parameters
    ----------
    islands, island
        Read.
    memory : SolveMemory
        Written.
    last_wait, closeness : int
        Of ``note_success`` and ``count_down_wait``.
    """
    wait = min(max(2 * last_wait, WAIT_LEAST), WAIT_MOST)
    swap_values(islands, island, memory.wait, wait)
    swap_values(islands, island, memory.last_wait, wait)
    swap_values(islands, island, memory.failed_at, closeness)


@subkernel
def may_try_subdomains(islands, island, memory):
    """Whether subdomains may be tried; if not, this solve brings that closer by one.

    Parameters
    ----------
    islands, island
        Read.
    memory : SolveMemory
        ``subdomain_wait`` is written.
    """
    wait = swap_values(islands, island, memory.subdomain_wait, np.int64(0))
    if wait > 0:
        swap_values(islands, island, memory.subdomain_wait, wait - 1)
    return wait == 0


@subkernel
def note_subdomains(islands, island, memory, failed):
    """Remember whether subdomains have failed.

    Parameters
    ----------
    islands, island
        Read.
    memory : SolveMemory
        Written.
    failed : bool
    """
    wait = next_wait = np.int64(0)
    if failed:
        wait = largest_value(islands, island, memory.next_subdomain_wait)
        next_wait = min(2 * wait + 1, WAIT_MOST_SUBDOMAINS)
    swap_values(islands, island, memory.subdomain_wait, wait)
    swap_values(islands, island, memory.next_subdomain_wait, next_wait)


@subkernel
def _power_of_two(larger, smaller):
    """How many times the one can be halved before it is below the other, at most _HIGHEST_POWER; 0 if it is below."""
    power = np.int64(0)
    while power < _HIGHEST_POWER and smaller < larger:
        larger *= 0.5
        power += 1
    return power
