"""Work shared among the processor's cores, to the same bits by any number of them.

A task is a kernel ``task(arrays, lane)``. It runs in as many lanes at once as there are threads, and each lane takes
piece after piece (islands, runs of pairs) from a common counter until none is left. Who gets which piece hangs on
chance, so a piece writes only what is its own, by the order of pieces and not of time, in memory that is shared; and
each lane has scratch of its own, in which nothing stays that later pieces could read. Sums over pieces are taken
afterwards, in their order.

Numba's threads run the lanes, if there is more than one. They exist from the first time that they are asked for, and
hold no Python: a kernel needs no lock of the interpreter.
"""

import contextlib

import numba
import numpy as np
from llvmlite import ir
from numba import config, prange, types
from numba.extending import intrinsic

from .entries import task_caller
from .kernel import parallel_kernel, subkernel

# Bodies from which on sharing the work pays for a second to load what it needs, and for each lane's memory.
_BODIES_TO_SHARE = 500


def lane_count(threads: int, body_count: int) -> int:
    """Lanes for a scene of so many bodies with an option of so many threads; 0: as many as there are cores."""
    if body_count < _BODIES_TO_SHARE or config.DISABLE_JIT:
        return 1
    return min(threads or config.NUMBA_NUM_THREADS, config.NUMBA_NUM_THREADS)


@contextlib.contextmanager
def threads(count: int):
    """Let kernels that are called from here use so many threads; other code's setting comes back afterwards."""
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
    """What tasks are told where to find the arrays of their lanes.

    Parameters
    ----------
    step_arrays : list of StepArrays
        One a lane; they must outlive what is returned.

    Returns
    -------
    int64 [lane_count]
        Addresses. Where kernels run as plain Python: the list.
    """
    return list(step_arrays) if config.DISABLE_JIT else np.array([arrays.address for arrays in step_arrays], np.int64)


def empty_contexts(lane_count: int):
    """Room for ``contexts_of`` so many lanes."""
    return [None] * lane_count if config.DISABLE_JIT else np.zeros(lane_count, np.int64)


def _take_next(counter):
    counter[0] += 1
    return counter[0] - 1


@intrinsic
def _take_next_of_all(typing_context, counter):
    def codegen(context, builder, signature, values):
        data = context.make_array(signature.args[0])(context, builder, values[0]).data
        return builder.atomic_rmw("add", data, ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(counter), codegen


# take_next(counter): the number in the int64 [1], which grows by one; no two lanes get the same.
take_next = _take_next if config.DISABLE_JIT else _take_next_of_all

_call_task = task_caller()


@parallel_kernel
def run_lanes(entries, place, contexts):
    """Run a task once for each lane, side by side.

    Parameters
    ----------
    entries : table of entries
        (read)
    place : int64
        Of the task in it.
    contexts : int64 [lane_count]
        Of ``contexts_of`` (read).
    """
    for lane in prange(len(contexts)):
        _call_task(entries, place, contexts[lane], lane)


@subkernel
def run_alone(entries, place, contexts):
    """Run a task in the one lane that there is."""
    _call_task(entries, place, contexts[0], np.int64(0))
