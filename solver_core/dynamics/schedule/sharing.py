"""Who does a task of the step: the first worker alone, or all workers side by side.

Two stages share their work (``parallel.workers``): the narrow phase, in runs of pairs, and the solves, island by
island. In a small scene there is one worker. In a large one, sharing little work would cost more than it saves; and
where other programs use the cores, the first worker does all for a while.
"""

import numpy as np
from numba import types

from ...compiled.atomics import add_shared, load_shared
from ...compiled.clock import now
from ...compiled.function_tables import caller, task_caller
from ...compiled.kernel import subkernel
from ...parallel.work_queue import alone_until, be_patient, has_tasks
from .stage_table import HELP_WITH_DOMAINS, RUN_WORKERS

# call_stage(stages, place, *arguments): a kernel of the table, which returns nothing.
call_stage = caller(types.none)
_call_task = task_caller()

# From this many pairs on they are shared; islands from this many contacts on that are not in the largest of them. Less
# takes a millisecond or two; on a busy machine a wait for the other threads takes as long.
PAIRS_TO_SHARE, CONTACTS_TO_SHARE = 2_000, 1_000


@subkernel(inline=True)
def share_pairs(sharing, pairs):
    """Decide whether several workers do the narrow phase.

    Parameters
    ----------
    sharing : SharingArrays
        Written: is_shared.
    pairs : PairArrays
        Read.
    """
    sharing.is_shared[0] = 1 if pairs.count[0] >= sharing.least_pairs[0] and _may_share(sharing) else 0


@subkernel(inline=True)
def share_islands(sharing, solves, islands):
    """Decide whether several workers solve the islands; then note where these begin, for all of them to see.

    Parameters
    ----------
    sharing : SharingArrays
        Written: is_shared.
    solves : IslandSolveArrays
        Written: block_first.
    islands : IslandArrays
        Read.
    """
    largest = np.int64(0)
    for island in range(islands.count[0]):
        largest = max(largest, islands.block_first[island + 1] - islands.block_first[island])
    others = islands.block_first[islands.count[0]] - largest
    is_worth_it = others >= sharing.least_contacts[0] or islands.domain_first[islands.count[0]] > 0
    sharing.is_shared[0] = 1 if is_worth_it and _may_share(sharing) else 0
    if is_shared(sharing):
        _copy_starts(islands.count[0], islands.block_first, solves.block_first)


@subkernel(inline=True)
def is_shared(sharing):
    """Whether several workers do the present task."""
    return sharing.is_shared[0] == 1


@subkernel
def _may_share(sharing):
    """Whether there are several workers, and a core for each as far as is known."""
    return len(sharing.finished) > 1 and (sharing.alone_until[0] == 0 or now() >= sharing.alone_until[0])


@subkernel(inline=True)
def run_task(members, task):
    """Do a task: all workers side by side, if it is shared, else the first one alone.

    Parameters
    ----------
    members : StepMembers
    task : int64
        Of ``stage_table``; a kernel (arrays, worker).
    """
    sharing, stages = members.sharing, members.kernels.stages
    sharing.next[0] = sharing.busy[0] = 0
    if not is_shared(sharing):
        _call_task(stages, task, sharing.contexts[0], np.int64(0))
        return
    for worker in range(len(sharing.finished)):
        sharing.finished[worker] = 0
    started = now()
    call_stage(stages, RUN_WORKERS, stages, task, sharing.contexts)
    _watch_delays(sharing, started)


@subkernel
def _watch_delays(sharing, started):
    """Where other programs use the cores, workers end late that have done nothing: then share nothing for a while."""
    time, last = now(), started
    for worker in range(len(sharing.finished)):
        last = max(last, sharing.finished[worker])
    sharing.alone_until[0] = alone_until(time, time - last)


@subkernel(inline=True)
def begin_islands(sharing, solves, islands):
    """Begin to take islands, as one worker of several or the only one.

    Parameters
    ----------
    sharing : SharingArrays
        Written: busy.
    solves : IslandSolveArrays
        Read: block_first.
    islands : IslandArrays
        Written: block_first of this worker.
    """
    if is_shared(sharing):
        _copy_starts(islands.count[0], solves.block_first, islands.block_first)
    add_shared(sharing.busy, 0, 1)


@subkernel
def help_others(arrays, members, worker, worked):
    """Where no island is left to take, help with the domains of those that other workers are at.

    Parameters
    ----------
    arrays : StepArrays
    members : StepMembers
        Of ``arrays``.
    worker : int64
    worked : bool
        Whether this worker has taken an island.
    """
    sharing = members.sharing
    since = now()
    if worked:
        sharing.finished[worker] = since
    add_shared(sharing.busy, 0, -1)
    while load_shared(sharing.busy, 0) > 0:
        for other in range(len(sharing.queues)):
            if has_tasks(sharing.queues[other]):
                call_stage(members.kernels.stages, HELP_WITH_DOMAINS, arrays, other)
                since = sharing.finished[worker] = now()
        be_patient(now() - since)


@subkernel
def _copy_starts(count, source, target):
    """Where islands begin; impacts move the ends for a while, and only in their own worker."""
    for island in range(count + 1):
        target[island] = source[island]
