"""One worker's work that others may help with, task by task: what a solver does with the domains of a large island.

A worker that solves a large island notes what is to be done, and writes into its queue of how many tasks that is made.
It takes task after task itself, and so does every worker that has nothing else to do; then it waits until those are
done that others have taken. It needs nobody: if no other worker comes, it has done all tasks by itself, and none is
started or waited for that has not taken a task. A job of some microseconds is therefore worth offering.

Job, number of tasks and the next task are one word of 64 bits, so a worker that comes late takes nothing from a job
that it has not seen. What a job writes for one task is written before the task is counted as done, and is seen by
whoever sees that count.

The operating system may take a worker off its core in the middle of a task, for milliseconds. After such a wait a
worker offers nothing for a while, in proportion to the wait.
"""

import numpy as np

from ..compiled.atomics import add_shared, load_shared, replace_shared, store_shared
from ..compiled.clock import now, sleep_for, yield_core
from ..compiled.kernel import subkernel

# Entries of a queue: the word; and, in another line of the cache, how many tasks are done, and until when nothing is
# offered [ns]. What is to be done is noted elsewhere, by those who know of it.
_WORD, _DONE, _CLOSED = 0, 8, 9
QUEUE = 16

# Most tasks of a job; the jobs' own numbers begin again after this many.
_MOST_TASKS, _JOBS = (1 << 16) - 1, 1 << 30

# Nanoseconds: of looking without a pause, of looking that gives others their turn each time, and of a nap after that.
_LOOK, _YIELD, _NAP = 50_000, 500_000, 100_000
# A wait of this many nanoseconds was for a worker off its core; nothing is offered then for this many times as long.
_LONG_WAIT, _FACTOR_ALONE = 200_000, 16


@subkernel
def be_patient(waited):
    """Wait a moment, after ``waited`` nanoseconds in which nothing happened."""
    if waited > _YIELD:
        sleep_for(_NAP)
    elif waited > _LOOK:
        yield_core()


@subkernel
def offer_tasks(queue, count):
    """Let all workers take tasks of the job that this worker has noted, at most 65,535.

    Parameters
    ----------
    queue : int64 [QUEUE]
        Written.
    count : int64
        Of the tasks.

    Returns
    -------
    bool
        False where nothing is offered for now: the caller does them all.
    """
    store_shared(queue, _DONE, 0)
    if queue[_CLOSED] > 0:
        if now() < queue[_CLOSED]:
            return False
        queue[_CLOSED] = 0
    job = ((queue[_WORD] >> 32) + 1) % _JOBS
    store_shared(queue, _WORD, (job << 32) + (count << 16))
    return True


@subkernel
def take_task(queue):
    """A task that nobody else does; -1 where none is left. It must be ended with ``end_task``."""
    while True:
        word = load_shared(queue, _WORD)
        task = word & _MOST_TASKS
        if task >= (word >> 16) & _MOST_TASKS:
            return -1
        if replace_shared(queue, _WORD, word, word + 1):
            return task


@subkernel
def has_tasks(queue):
    """Whether there is something to take."""
    word = load_shared(queue, _WORD)
    return word & _MOST_TASKS < (word >> 16) & _MOST_TASKS


@subkernel
def end_task(queue):
    """Count a task as done."""
    add_shared(queue, _DONE, 1)


@subkernel
def await_tasks(queue, count):
    """Wait until all tasks are done; none is left to take.

    Parameters
    ----------
    queue : int64 [QUEUE]
        Read; written where the wait was long.
    count : int64
        Of the tasks.
    """
    if load_shared(queue, _DONE) == count:
        return
    started = now()
    time = started
    while load_shared(queue, _DONE) < count:
        # no nap: this worker's work is what everything waits for
        be_patient(min(time - started, _YIELD))
        time = now()
    queue[_CLOSED] = alone_until(time, time - started)


@subkernel
def alone_until(time, waited):
    """Until when a worker works alone that has waited this many nanoseconds for others; 0 if that was not long.

    Parameters
    ----------
    time, waited : int64
        [ns].
    """
    return time + _FACTOR_ALONE * waited if waited > _LONG_WAIT else np.int64(0)
