"""Work shared among the processor's cores, to the same bits by any number of them.

A task is a kernel ``task(arrays, worker)``. As many workers as there are threads run it side by side, and each takes
item after item (islands, runs of pairs) from a common counter until none is left. Who gets which item depends on
chance, so an item writes only what is its own, by the order of items and not of time, in memory that is shared; and
each worker has scratch of its own, in which nothing stays that later items could read. Sums over items are taken
afterwards, in their order.

Numba's threads run the workers, if there is more than one. They exist from their first use on, and hold no Python: a
kernel needs no lock of the interpreter.
"""

import contextlib

import numba
import numpy as np
from numba import config, prange

from ..compiled.atomics import fetch_and_increment
from ..compiled.function_tables import task_caller
from ..compiled.kernel import parallel_kernel

# Bodies from which on sharing the work pays for a second to load what it needs, and for each worker's memory.
_BODIES_TO_SHARE = 500


def worker_count(threads: int, body_count: int) -> int:
    """Workers for a scene.

    Parameters
    ----------
    threads : int
        Most threads; 0: as many as there are cores.
    body_count : int
    """
    if body_count < _BODIES_TO_SHARE or config.DISABLE_JIT:
        return 1
    return min(threads or config.NUMBA_NUM_THREADS, config.NUMBA_NUM_THREADS)


@contextlib.contextmanager
def threads(count: int):
    """Let kernels that are called from here use this many threads; other code's setting comes back afterwards."""
    if count == 1 or config.DISABLE_JIT:
        yield
        return
    earlier = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(earlier)


def contexts_of(step_arrays) -> np.ndarray:
    """Where tasks find the arrays of their workers.

    Parameters
    ----------
    step_arrays : list of StepArrays
        One per worker; they must outlive what is returned.

    Returns
    -------
    int64 [worker_count]
        Addresses. Where kernels run as plain Python: the list.
    """
    return list(step_arrays) if config.DISABLE_JIT else np.array([arrays.address for arrays in step_arrays], np.int64)


def empty_contexts(worker_count: int):
    """Room for ``contexts_of`` this many workers."""
    return [None] * worker_count if config.DISABLE_JIT else np.zeros(worker_count, np.int64)


# take_next(counter): the number of the next task, in an int64 [1] that grows by one; no two workers get the same.
take_next = fetch_and_increment

_call_task = task_caller()


@parallel_kernel
def run_workers(table, index, contexts):
    """Run a task once in each worker, side by side.

    Parameters
    ----------
    table : function table
        (read)
    index : int64
        Of the task in it.
    contexts : int64 [worker_count]
        Of ``contexts_of`` (read).
    """
    for worker in prange(len(contexts)):
        _call_task(table, index, contexts[worker], worker)
