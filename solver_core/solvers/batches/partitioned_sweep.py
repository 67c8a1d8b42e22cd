"""What sweeping solvers do over a whole island: in one go, or, if the island is large, domain by domain.

A large island is partitioned into domains of two colours (``IslandArrays``). Domains of one colour share no body that
can be pushed, so they may be swept in any order, or at the same time, to the same bits. A sweep goes over the domains
of the first colour, then over those of the second. Sums are taken per domain and added in the order of the domains. All
of that depends on the island alone; how many workers take the domains (``work_queue``) changes the time only.

Rows lie in memory in the order in which contacts were found. Sweeping a large island in another order takes a quarter
longer, so a solver first copies its rows into the order of the domains (``lay_rows``) and works on the copy; contacts
that are in batches are swept eight at a time (``batched_sweep``). The residual is measured on the original rows, which
first take over the impulses (``take_impulses``).

All functions here also serve islands without domains; for them ``lay_rows`` and ``take_impulses`` do nothing.
"""

import math

import numpy as np

from ...compiled.kernel import kernel, subkernel
from ...compiled.views import whole
from ...parallel.work_queue import await_tasks, end_task, offer_tasks, take_task
from ...problem.residuals import natural_map
from ..shared.directions import copy_impulses, follow_in_bodies, follow_in_rows, follow_in_run
from ..shared.sweep import sweep_blocks
from .batched_sweep import fill_batches, read_batches, sweep_batches

# Kinds of jobs (``DomainJobs``). Not literals, for each of which Numba would compile the callee anew.
_LAY, _SWEEP, _FOLLOW, _COPY = np.int64(0), np.int64(1), np.int64(2), np.int64(3)


@subkernel
def is_partitioned(islands, island):
    """Whether an island has domains that cover it all; impacts take contacts out for a while."""
    first, end = islands.domain_first[island], islands.domain_first[island + 1]
    return end > first and islands.domain_block[end - 1, 1] == islands.block_first[island + 1]


@subkernel
def lay_rows(rows, islands, island, velocity, workspace):
    """Copy the rows of a partitioned island to ``workspace.domains``, in the order of its domains.

    Parameters
    ----------
    rows, islands, island, velocity
        Read.
    workspace : SweepWorkspace
        Written.
    """
    if is_partitioned(islands, island):
        first, end = islands.domain_first[island], islands.domain_first[island + 1]
        _do_job(rows, islands, island, velocity, workspace, _LAY, first, end)


@subkernel
def take_impulses(rows, islands, island, workspace):
    """Copy the impulses of a partitioned island from ``workspace.domains`` to its rows.

    Parameters
    ----------
    rows : RowArrays
        Written: impulse.
    islands, island, workspace
        Read.
    """
    if not is_partitioned(islands, island):
        return
    laid, batches = workspace.domains.rows, workspace.domains.batches
    for domain in range(islands.domain_first[island], islands.domain_first[island + 1]):
        read_batches(rows, batches, domain, laid)
        for index in range(batches.domain_loose[domain], islands.domain_block[domain, 1]):
            block = islands.block_order[index]
            shift = laid.block_row[index] - rows.block_row[block]
            for row in range(rows.block_row[block], rows.block_row[block + 1]):
                rows.impulse[row] = laid.impulse[row + shift]


@subkernel
def residual_of(rows, islands, island, velocity, workspace, settings):
    """``natural_map`` of the present impulses, which the rows take over.

    Parameters
    ----------
    rows : RowArrays
        Read; ``impulse`` written.
    islands, island, velocity, workspace, settings
        Read.

    Returns
    -------
    residual : float
        [m/s]
    worst_block : int
    """
    take_impulses(rows, islands, island, workspace)
    return natural_map(rows, islands, island, velocity, settings)


@subkernel
def sweep_island(rows, islands, island, velocity, workspace, settings, step, memory):
    """Sweep once over an island with the model of friction of the settings.

    Parameters
    ----------
    rows : RowArrays
        Read; ``impulse`` written, of a partitioned island that of ``workspace.domains.rows``.
    islands : IslandArrays
        Read.
    island : int
    velocity : float64 [body_count, 6]
        Written.
    workspace : SweepWorkspace
        ``change`` is written, ``excess`` as in ``sweep_rows``; of a partitioned island those of ``domains``.
    settings : SolverSettings
    step, memory : float
        As in ``sweep_rows``; only the box has a memory.

    Returns
    -------
    largest, merit : float
        As in ``sweep_rows``.
    """
    if not is_partitioned(islands, island):
        return sweep_blocks(
            rows,
            islands.block_order,
            islands.block_first[island],
            islands.block_first[island + 1],
            velocity,
            workspace.change,
            step,
            memory,
            workspace.excess,
            settings.friction,
            settings.directions,
        )
    # all, whatever has been moved when
    jobs, worker = workspace.domains.jobs, workspace.domains.worker[0]
    jobs.since[worker] = jobs.this_sweep[worker] = 0
    jobs.enough[worker] = math.inf
    return _sweep_domains(rows, islands, island, velocity, workspace, settings, step, memory)


@subkernel
def sweep_moved(rows, islands, island, velocity, workspace, settings, sweep):
    """Sweep once over those contacts of a partitioned island of which a body has been moved.

    Parameters
    ----------
    rows, islands, island, velocity, workspace, settings
        As of ``sweep_island``; ``workspace.domains.moved_in`` read and written.
    sweep : tuple of (int, int, float)
        The first sweep that counts: what no body has been moved since then is left out; with 0 nothing is. The number
        of this sweep, above 0, which is noted for the bodies whose contacts it changes by more than a speed; and that
        speed [m/s].

    Returns
    -------
    float
        ``largest`` of ``sweep_island``, of what has been visited.
    """
    jobs, worker = workspace.domains.jobs, workspace.domains.worker[0]
    jobs.since[worker], jobs.this_sweep[worker], jobs.enough[worker] = sweep
    return _sweep_domains(rows, islands, island, velocity, workspace, settings, 1.0, 0.0)[0]


@subkernel
def _sweep_domains(rows, islands, island, velocity, workspace, settings, step, memory):
    first, second, end = islands.domain_first[island], islands.second_domain[island], islands.domain_first[island + 1]
    domains = workspace.domains
    jobs, worker = domains.jobs, domains.worker[0]
    jobs.friction[worker], jobs.directions[worker] = settings.friction, settings.directions
    jobs.step[worker], jobs.memory[worker] = step, memory
    _do_job(rows, islands, island, velocity, workspace, _SWEEP, first, second)
    _do_job(rows, islands, island, velocity, workspace, _SWEEP, second, end)
    largest, merit = 0.0, 0.0
    for domain in range(first, end):
        largest = max(largest, domains.largest[domain])
        merit += domains.merit[domain]
    return largest, merit


@subkernel
def follow_direction(rows, islands, island, velocity, workspace, beta):
    """r += beta p, p = beta p + change, and the same for the velocities; p = 0 at a restart (beta < 0).

    Parameters
    ----------
    rows : RowArrays
        Read; ``impulse`` written, of a partitioned island that of ``workspace.domains.rows``.
    islands : IslandArrays
        Read.
    island : int
    velocity : float64 [body_count, 6]
        Read and written.
    workspace : SweepWorkspace
        ``change`` read, ``direction`` and ``velocity_direction`` read and written; ``velocity_before`` read, and then
        the velocities written to it.
    beta : float

    Returns
    -------
    float
        grad' p, in the metric diag(W), of the new direction.
    """
    first, end = islands.domain_first[island], islands.domain_first[island + 1]
    if not is_partitioned(islands, island):
        blocks = islands.block_first[island], islands.block_first[island + 1]
        bodies = islands.body_first[island], islands.body_first[island + 1]
        follow_in_bodies(
            islands.body_order,
            bodies[0],
            bodies[1],
            velocity,
            workspace.velocity_before,
            workspace.velocity_direction,
            beta,
        )
        order, change, direction = islands.block_order, workspace.change, workspace.direction
        return follow_in_rows(rows, order, blocks[0], blocks[1], change, direction, beta)
    workspace.domains.jobs.beta[workspace.domains.worker[0]] = beta
    _do_job(rows, islands, island, velocity, workspace, _FOLLOW, first, end)
    slope = 0.0
    for domain in range(first, end):
        slope += workspace.domains.slope[domain]
    return slope


@subkernel
def keep_best(rows, islands, island, velocity, workspace):
    """Copy the impulses of an island to ``best`` of its workspace, or of its domains if it is partitioned.

    Parameters
    ----------
    rows : RowArrays
        Read.
    islands, island, velocity
        Read.
    workspace : SweepWorkspace
        Written.
    """
    if is_partitioned(islands, island):
        first, end = islands.domain_first[island], islands.domain_first[island + 1]
        _do_job(rows, islands, island, velocity, workspace, _COPY, first, end)
        return
    copy_impulses(rows.block_row, islands, island, rows.impulse, workspace.best)


@subkernel
def go_back_to_best(rows, islands, island, workspace):
    """Replace the impulses of the rows by those of ``keep_best``; ``workspace.change`` keeps the former.

    Parameters
    ----------
    rows : RowArrays
        Written: impulse.
    islands, island
        Read.
    workspace : SweepWorkspace
        Written: change; of a partitioned island also the impulses of ``domains.rows``.
    """
    copy_impulses(rows.block_row, islands, island, rows.impulse, workspace.change)
    if not is_partitioned(islands, island):
        copy_impulses(rows.block_row, islands, island, workspace.best, rows.impulse)
        return
    first_row, end_row = _laid_rows(islands, island, workspace)
    for row in range(first_row, end_row):
        workspace.domains.rows.impulse[row] = workspace.domains.best[row]
    take_impulses(rows, islands, island, workspace)


@subkernel
def mix_changes(rows, islands, island, workspace):
    """<change, change of the sweep before> in the metric diag(W); the changes are kept for the next sweep.

    Parameters
    ----------
    rows, islands, island
        Read.
    workspace : SweepWorkspace
        ``change`` read, ``last_change`` read and written; of a partitioned island those of ``domains``.

    Returns
    -------
    float
        [J]
    """
    mixed = 0.0
    if is_partitioned(islands, island):
        change, last_change = workspace.domains.change, workspace.domains.last_change
        diagonal = workspace.domains.rows.diagonal
        first_row, end_row = _laid_rows(islands, island, workspace)
        for row in range(first_row, end_row):
            mixed += diagonal[row] * change[row] * last_change[row]
            last_change[row] = change[row]
        return mixed
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            mixed += rows.diagonal[row] * workspace.change[row] * workspace.last_change[row]
            workspace.last_change[row] = workspace.change[row]
    return mixed


@subkernel
def step_back(rows, islands, island, velocity, workspace, step):
    """Undo the sweep and the half of the step that led to it: r = r_k + step p after r_k + 2 step p was tried.

    Parameters
    ----------
    rows : RowArrays
        Written: impulse, of a partitioned island that of ``workspace.domains.rows``.
    islands, island
        Read.
    velocity : float64 [body_count, 6]
        Written.
    workspace : SweepWorkspace
        Read.
    step : float
    """
    if is_partitioned(islands, island):
        domains = workspace.domains
        first_row, end_row = _laid_rows(islands, island, workspace)
        for row in range(first_row, end_row):
            domains.rows.impulse[row] -= domains.change[row] + step * domains.direction[row]
    else:
        for index in range(islands.block_first[island], islands.block_first[island + 1]):
            block = islands.block_order[index]
            for row in range(rows.block_row[block], rows.block_row[block + 1]):
                rows.impulse[row] -= workspace.change[row] + step * workspace.direction[row]
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for column in range(6):
            velocity[body, column] = (
                workspace.velocity_before[body, column] - step * workspace.velocity_direction[body, column]
            )


@subkernel
def forget_excess(rows, islands, island, workspace):
    """Set what the bounds cut off to 0.

    Parameters
    ----------
    rows, islands, island
        Read.
    workspace : SweepWorkspace
        Written: excess; of a partitioned island those of ``domains``.
    """
    if is_partitioned(islands, island):
        first_row, end_row = _laid_rows(islands, island, workspace)
        for row in range(first_row, end_row):
            workspace.domains.excess[row] = 0.0
        return
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            workspace.excess[row] = 0.0


@subkernel
def _laid_rows(islands, island, workspace):
    """Where the rows of a partitioned island begin and end in ``workspace.domains``."""
    domain_row = workspace.domains.batches.domain_row
    return domain_row[islands.domain_first[island]], domain_row[islands.domain_first[island + 1]]


@subkernel
def _do_job(rows, islands, island, velocity, workspace, kind, first, end):
    """Do a job on the domains from ``first`` to ``end``, together with the workers that help."""
    queue, jobs, worker = workspace.domains.queue, workspace.domains.jobs, workspace.domains.worker[0]
    jobs.kind[worker], jobs.first_domain[worker], jobs.island[worker] = kind, first, island
    if not offer_tasks(queue, end - first):
        for domain in range(first, end):
            _do_task(rows, islands, velocity, workspace, worker, domain)
        return
    help_with_domains(rows, islands, velocity, workspace, queue, worker)
    await_tasks(queue, end - first)


@kernel
def help_with_domains(rows, islands, velocity, workspace, queue, worker):
    """Take domains of a worker's present job until none is left.

    Parameters
    ----------
    rows, islands, velocity, workspace
        As of ``lay_rows``, written as the job does.
    queue, worker : int64 [16], int
        Of the worker whose job it is.
    """
    while True:
        task = take_task(queue)
        if task < 0:
            return
        _do_task(rows, islands, velocity, workspace, worker, workspace.domains.jobs.first_domain[worker] + task)
        end_task(queue)


@subkernel
def _do_task(rows, islands, velocity, workspace, worker, domain):
    """Do a worker's job on one domain."""
    domains = workspace.domains
    jobs, kind = domains.jobs, domains.jobs.kind[worker]
    # the same type as the island's own rows, so that sweeps are compiled once
    laid, batches, change = whole(domains.rows), domains.batches, domains.change
    first, end = batches.domain_loose[domain], islands.domain_block[domain, 1]
    first_row, end_row = batches.domain_row[domain], batches.domain_row[domain + 1]
    if kind == _LAY:
        fill_batches(rows, batches, domain, laid)
        lay_blocks(rows, islands.block_order, first, end, laid)
    elif kind == _SWEEP:
        moved = domains.moved_in, jobs.since[worker], jobs.this_sweep[worker], jobs.enough[worker]
        largest, merit = sweep_batches(batches, domain, laid.impulse, velocity, change, jobs.step[worker], moved)
        if jobs.this_sweep[worker] == 0:
            loose_largest, loose_merit = _sweep_loose(laid, velocity, domains, worker, first, end)
        else:
            loose_largest, loose_merit = (
                _sweep_moved_loose(rows, islands.block_order, laid, velocity, domains, worker, first, end),
                0.0,
            )
        domains.largest[domain], domains.merit[domain] = max(largest, loose_largest), merit + loose_merit
    elif kind == _COPY:
        for row in range(first_row, end_row):
            domains.best[row] = laid.impulse[row]
    else:
        beta = jobs.beta[worker]
        domains.slope[domain] = follow_in_run(
            laid.impulse, laid.diagonal, first_row, end_row, change, domains.direction, beta
        )
        _follow_in_share_of_bodies(islands, jobs.island[worker], domain, velocity, workspace, beta)


@subkernel
def _sweep_loose(laid, velocity, domains, worker, first, end):
    """Sweep over the loose blocks at these places."""
    jobs = domains.jobs
    return sweep_blocks(
        laid,
        domains.order,
        first,
        end,
        velocity,
        domains.change,
        jobs.step[worker],
        jobs.memory[worker],
        domains.excess,
        jobs.friction[worker],
        jobs.directions[worker],
    )


@subkernel
def _sweep_moved_loose(rows, order, laid, velocity, domains, worker, first, end):
    """The same, of those of which a body has been moved; and note the bodies that these move."""
    moved_in, jobs, largest = domains.moved_in, domains.jobs, 0.0
    for index in range(first, end):
        if is_moved(rows, order[index], moved_in, jobs.since[worker]):
            change, _ = _sweep_loose(laid, velocity, domains, worker, index, index + 1)
            note_moved(rows, order[index], moved_in, jobs.this_sweep[worker], change > jobs.enough[worker])
            largest = max(largest, change)
    return largest


@subkernel
def is_moved(rows, block, moved_in, since):
    """Whether a body of a block has been moved.

    Parameters
    ----------
    rows : RowArrays
        Read.
    block : int
    moved_in : int64 [body_count]
        Read.
    since : int
        The first sweep that counts.
    """
    return moved_in[rows.body_a[block]] >= since or moved_in[rows.body_b[block]] >= since


@subkernel
def note_moved(rows, block, moved_in, sweep, changes):
    """Note that a sweep moves the bodies of a block that can be pushed.

    Parameters
    ----------
    rows : RowArrays
        Read: what cannot be pushed has no mass there.
    block : int
    moved_in : int64 [body_count]
        Written.
    sweep : int
    changes : bool
        Whether the sweep has changed the block by more than is enough; else nothing is noted.
    """
    if changes:
        if rows.body_mass[rows.body_a[block], 0, 0] > 0.0:
            moved_in[rows.body_a[block]] = sweep
        if rows.body_mass[rows.body_b[block], 0, 0] > 0.0:
            moved_in[rows.body_b[block]] = sweep


@subkernel
def _follow_in_share_of_bodies(islands, island, domain, velocity, workspace, beta):
    """``follow_in_bodies`` on a domain's share of the island's bodies, which belong to no domain themselves."""
    first_domain = islands.domain_first[island]
    count, place = islands.domain_first[island + 1] - first_domain, domain - first_domain
    first_body = islands.body_first[island]
    bodies = islands.body_first[island + 1] - first_body
    follow_in_bodies(
        islands.body_order,
        first_body + bodies * place // count,
        first_body + bodies * (place + 1) // count,
        velocity,
        workspace.velocity_before,
        workspace.velocity_direction,
        beta,
    )


@subkernel
def lay_blocks(rows, order, first, end, laid):
    """Copy a run of blocks to their places in other rows, which ``laid.block_row`` gives; masses are not copied.

    Parameters
    ----------
    rows : RowArrays
        Read.
    order : int64 [block_capacity]
        Blocks of ``rows`` (read).
    first, end : int
        The places in ``order`` at which the run begins and ends; blocks have the same places in ``laid``.
    laid : RowArrays
        Written.
    """
    for index in range(first, end):
        block = order[index]
        laid.body_a[index], laid.body_b[index] = rows.body_a[block], rows.body_b[block]
        shift = laid.block_row[index] - rows.block_row[block]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            place = row + shift
            for column in range(12):
                laid.jacobian[place, column] = rows.jacobian[row, column]
                laid.response[place, column] = rows.response[row, column]
            laid.diagonal[place] = rows.diagonal[row]
            laid.bias[place] = rows.bias[row]
            laid.lower[place] = rows.lower[row]
            laid.upper[place] = rows.upper[row]
            laid.friction[place] = rows.friction[row]
            laid.compliance[place] = rows.compliance[row]
            laid.impulse[place] = rows.impulse[row]
            # the normal row of a friction row is one of the same block
            normal = rows.normal_row[row]
            laid.normal_row[place] = normal + shift if normal >= 0 else normal
