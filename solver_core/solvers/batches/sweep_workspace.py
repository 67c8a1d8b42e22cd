"""The memory of the solvers that sweep: vectors over rows and bodies, and what the domains of a large island share.

A worker that helps with another's domains works on the same ``DomainWorkspace`` arrays; only the queue, and an entry of
each array of ``jobs``, belong to the worker whose island it is.
"""

from typing import NamedTuple

import numpy as np

from ...parallel.work_queue import QUEUE
from ...problem.rows import RowArrays, allocate_rows
from .simd_batches import BatchArrays, allocate_batches, laid_row_capacity


class DomainJobs(NamedTuple):
    """What each worker has to do with the domains of its island, for all who help it; W workers.

    Attributes
    ----------
    kind : int64 [W]
        LAY, SWEEP, FOLLOW or COPY of ``partitioned_sweep``.
    first_domain : int64 [W]
        The domain of the first task; the others follow.
    island : int64 [W]
    friction, directions : int64 [W]
        Of a sweep: as in ``SolverSettings``.
    since, this_sweep : int64 [W]
        Of a sweep: what is visited, and the sweep's own number (``sweep_moved``).
    step, memory : float64 [W]
        Of a sweep: as in ``sweep_rows``.
    beta : float64 [W]
        Of the new direction that is to be followed.
    enough : float64 [W]
        Of a sweep: bodies whose contacts change by more count as moved [m/s].
    """

    kind: np.ndarray
    first_domain: np.ndarray
    island: np.ndarray
    friction: np.ndarray
    directions: np.ndarray
    since: np.ndarray
    this_sweep: np.ndarray
    step: np.ndarray
    memory: np.ndarray
    beta: np.ndarray
    enough: np.ndarray


class DomainWorkspace(NamedTuple):
    """What is needed to sweep an island domain by domain; empty where no island is large enough.

    Attributes
    ----------
    queue : int64 [16]
        The tasks of this worker's job that others may take (``work_queue``).
    worker : int64 [1]
        This worker's entry in ``jobs``.
    jobs : DomainJobs
        Of all workers.
    largest, merit, slope : float64 [body_capacity]
        Written by each domain's task: results of ``sweep_rows``, or of ``follow_in_rows``.
    moved_in : int64 [body_capacity]
        In which sweep each body has been moved last (``sweep_moved``).
    rows : RowArrays
        The island's rows in the order of its domains, side by side in memory. Of rows in batches only ``impulse`` and
        ``diagonal`` are used; ``block_row`` says where the other blocks begin (``partition_islands``).
    order : int64 [block_capacity]
        Order of these blocks: 0, 1, 2 ...
    change, last_change, direction, best, excess : float64 [row capacity of ``rows``]
        As in ``SweepWorkspace``, in the order of ``rows``.
    batches : BatchArrays
        Contacts that are swept eight at a time.
    """

    queue: np.ndarray
    worker: np.ndarray
    jobs: DomainJobs
    largest: np.ndarray
    merit: np.ndarray
    slope: np.ndarray
    moved_in: np.ndarray
    rows: RowArrays
    order: np.ndarray
    change: np.ndarray
    last_change: np.ndarray
    direction: np.ndarray
    best: np.ndarray
    excess: np.ndarray
    batches: BatchArrays


class SweepWorkspace(NamedTuple):
    """Room for the solvers that sweep over rows; contents mean nothing between calls.

    Attributes
    ----------
    change, last_change : float64 [row_capacity]
        Changes of the impulses in this sweep and in the one before [N s].
    direction : float64 [row_capacity]
        Conjugate direction p [N s].
    best : float64 [row_capacity]
        Impulses after the sweep with the smallest residual [N s].
    excess : float64 [row_capacity]
        What the bounds cut off [N s].
    velocity_before, velocity_direction : float64 [body_capacity, 6]
        Velocities before the sweep, and those that go with ``direction`` [m/s, rad/s].
    history, merit_history : float64 [any]
        Written: one residual [m/s] and one merit [J] per iteration, as far as they reach.
    domains : DomainWorkspace
    """

    change: np.ndarray
    last_change: np.ndarray
    direction: np.ndarray
    best: np.ndarray
    excess: np.ndarray
    velocity_before: np.ndarray
    velocity_direction: np.ndarray
    history: np.ndarray
    merit_history: np.ndarray
    domains: DomainWorkspace


def allocate_sweep_workspace(row_capacity: int, body_capacity: int, history: int = 0) -> SweepWorkspace:
    """Room for the sweeping solvers, which sweep each island as a whole."""
    return SweepWorkspace(
        change=np.zeros(row_capacity),
        last_change=np.zeros(row_capacity),
        direction=np.zeros(row_capacity),
        best=np.zeros(row_capacity),
        excess=np.zeros(row_capacity),
        velocity_before=np.zeros((body_capacity, 6)),
        velocity_direction=np.zeros((body_capacity, 6)),
        history=np.zeros(history),
        merit_history=np.zeros(history),
        domains=_allocate_domains(0, 0, 0),
    )


def allocate_domain_jobs(worker_count: int) -> DomainJobs:
    """Nothing to do for this many workers."""
    return DomainJobs(
        *(np.zeros(worker_count, np.int64) for _ in range(7)), *(np.zeros(worker_count) for _ in range(4))
    )


def with_room_for_domains(workspace: SweepWorkspace, block_capacity: int, row_capacity: int) -> SweepWorkspace:
    """The same workspace with room to sweep large islands domain by domain."""
    body_capacity = len(workspace.velocity_before)
    return workspace._replace(domains=_allocate_domains(block_capacity, row_capacity, body_capacity))


def sharing_domains(
    workspace: SweepWorkspace, first: SweepWorkspace, worker: int, queue: np.ndarray, jobs: DomainJobs
) -> SweepWorkspace:
    """A worker's workspace that shares with the first worker's all that belongs to domains and to bodies.

    Parameters
    ----------
    workspace, first : SweepWorkspace
        The worker's own, and the first worker's.
    worker : int
    queue : int64 [16]
        The worker's own.
    jobs : DomainJobs
        Of all workers.
    """
    return workspace._replace(
        velocity_before=first.velocity_before,
        velocity_direction=first.velocity_direction,
        domains=first.domains._replace(queue=queue, worker=np.full(1, worker, np.int64), jobs=jobs),
    )


def sweeping_workspace(workspace) -> SweepWorkspace | None:
    """The part of a method's workspace that is for sweeps: all of it, its field ``sweep``, or nothing."""
    return workspace if isinstance(workspace, SweepWorkspace) else getattr(workspace, "sweep", None)


def with_sweeping_workspace(workspace, sweep: SweepWorkspace):
    """A method's workspace in which ``sweep`` replaces the part that is for sweeps, if it has one."""
    if isinstance(workspace, SweepWorkspace):
        return sweep
    return workspace._replace(sweep=sweep) if "sweep" in workspace._fields else workspace


def _allocate_domains(block_capacity, row_capacity, body_capacity) -> DomainWorkspace:
    laid_rows = laid_row_capacity(row_capacity)
    return DomainWorkspace(
        queue=np.zeros(QUEUE, np.int64),
        worker=np.zeros(1, np.int64),
        jobs=allocate_domain_jobs(1),
        largest=np.zeros(body_capacity),
        merit=np.zeros(body_capacity),
        slope=np.zeros(body_capacity),
        moved_in=np.zeros(body_capacity, np.int64),
        rows=allocate_rows(block_capacity, laid_rows),
        order=np.arange(block_capacity),
        change=np.zeros(laid_rows),
        last_change=np.zeros(laid_rows),
        direction=np.zeros(laid_rows),
        best=np.zeros(laid_rows),
        excess=np.zeros(laid_rows),
        batches=allocate_batches(block_capacity, body_capacity),
    )
