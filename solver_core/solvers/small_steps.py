"""Small steps: an island in motion, in n steps of tau = h / n with two sweeps each, at a cost that is known beforehand.

Where bodies hit each other there is no exact answer worth its price: the next substep is another problem. Many small
steps with one sweep each come closer to the motion than few steps with many sweeps (Macklin et al. 2019, "Small Steps
in Physics Simulation"), and what is left of an error is smaller by the square of n. Contacts keep their points and
directions over the substep; only their gaps change. With J the rows, v the velocities, d the way so far, each small
step is

    v <- v + (v_free - v_start) / n + M^-1 J' r      forces, and the impulses of the step before as a start
    sweeps with         u_n >= -gap / tau or 0       gaps may close, not more; overlaps do not grow
    d <- d + tau v,     gap <- gap + tau u_n

and after the last one overlaps are taken out softly, by velocities w that move the bodies and are forgotten:

    one sweep from w = 0 over the normal rows with   w_n >= min(-c gap / h, fastest) or -gap / h,      d <- d + h w

Overlaps are targets with a bounded speed, so those that contradict each other keep no solve from ending; and as their
impulses are no start of the next step's, they keep no body from coming to rest. (With the recovery in the first sweep
of each step, and a second one without it to take its speed back, as in the soft step of Catto's Solver2D, 2024, hard
contacts that are sixfold redundant never came to rest: on frozen rows the speeds grew to what gravity gives in a
substep. With w apart from v they fall to rounding. Friction on w, or w in every small step, brought that back.)
After the last step come impacts, where something has hit (``shared.impacts``).

Rows with a compliance C bear their force in n parts r / n, and have n C for that long: u = J v + bias + n C (r / n).

The sweeps (``small_step_sweeps``) are those of ``partitioned_sweep``: eight contacts at a time in islands that are
partitioned, and more than two only where they change something.
"""

import math
from typing import NamedTuple

import numpy as np

from ..compiled.kernel import subkernel
from ..compiled.simd import WIDTH, any_of, load, select, spread, store
from ..problem.substep_impulses import add_impulses_of_rows
from .batches.batched_sweep import advance_laid_gaps, part_batches
from .batches.partitioned_sweep import (
    is_moved,
    is_partitioned,
    lay_rows,
    note_moved,
    take_impulses,
)
from .batches.simd_batches import BIAS, NUMBERS, laid_row_capacity
from .policy import RATIO_ROUGH
from .shared.impacts import keep_resting_impulses, solve_impacts
from .shared.status import status_of
from .small_step_balance import (
    keep_angular_momentum,
    keep_energy,
    limit_speeds,
    most_that_drives,
    pay_for_lifts,
    speed_taken,
)
from .small_step_sweeps import forget_moved, sweep_until_settled

# Share of an overlap that is taken out in a substep ...
_RATIO_RECOVERY = 0.3
# ... but no more than this share of the smallest body ...
RATIO_FASTEST_RECOVERY = 0.02
# ... nor faster than a fall through half of that one would be, however short substeps are ...
# ... and down to this share: what rests would tremble for the last of it.
_RATIO_LEFT_OVERLAP = 5e-4
# Sweeps that take out overlaps, until they change places by less than this share of the smallest body.
_MOST_SWEEPS_APART, _RATIO_LEFT_APART = 16, 1e-4
_ROWS_PER_CONTACT = 3


class SmallStepArrays(NamedTuple):
    """Memory of small steps; contents mean nothing between calls.

    Attributes
    ----------
    gap : float64 [block_capacity]
        As the bodies move [m]; below 0 an overlap.
    kept_speed : float64 [block_capacity]
        Part of a normal row's speed that is no body's, of a surface that moves by itself [m/s].
    push_speed : float64 [block_capacity]
        Speed at which a contact parts until the substep's end, not to be led into what the rows do not see [m/s].
    pushed : bool [block_capacity]
        Whether a contact has pushed in any step; only where something may bounce.
    resting_impulse : float64 [3 block_capacity]
        Of contacts where something may bounce: those with which the substep began, then of the last small step [N s].
    hit : int64 [2 block_capacity]
        Contacts of the impacts of islands, at twice the places that their blocks have.
    hit_speed : float64 [3 block_capacity]
        Of their rows before an impact [m/s].
    apart_impulse : float64 [block_capacity]
        Impulses that take out overlaps; they push nothing else.
    before : float64 [body_capacity, 6]
        Velocities before a step's impulses, and then what these have changed; at last those that take out overlaps
        [m/s, rad/s]. 0 for bodies that cannot be pushed.
    laid_gap, laid_speed, laid_push, laid_apart : float64 [8 vector_capacity]
        Those of contacts in batches, lane by lane.
    """

    gap: np.ndarray
    kept_speed: np.ndarray
    push_speed: np.ndarray
    pushed: np.ndarray
    resting_impulse: np.ndarray
    hit: np.ndarray
    hit_speed: np.ndarray
    apart_impulse: np.ndarray
    before: np.ndarray
    laid_gap: np.ndarray
    laid_speed: np.ndarray
    laid_push: np.ndarray
    laid_apart: np.ndarray


def allocate_small_steps(block_capacity: int, body_capacity: int, has_domains: bool) -> SmallStepArrays:
    """Room for this many blocks and bodies; with room for batches only where there are domains."""
    lanes = laid_row_capacity(block_capacity) + WIDTH if has_domains else 0
    return SmallStepArrays(
        gap=np.zeros(block_capacity),
        kept_speed=np.zeros(block_capacity),
        push_speed=np.zeros(block_capacity),
        pushed=np.zeros(block_capacity, np.bool_),
        resting_impulse=np.zeros(_ROWS_PER_CONTACT * block_capacity),
        hit=np.zeros(2 * block_capacity, np.int64),
        hit_speed=np.zeros(_ROWS_PER_CONTACT * block_capacity),
        apart_impulse=np.zeros(block_capacity),
        before=np.zeros((body_capacity, 6)),
        laid_gap=np.zeros(lanes),
        laid_speed=np.zeros(lanes),
        laid_push=np.zeros(lanes),
        laid_apart=np.zeros(lanes),
    )


class _Aim(NamedTuple):
    """What sweeps ask of the normal rows.

    Gaps close by ``closing``, overlaps beyond ``allowed`` [m] are taken out by ``recovery`` [1/s], no faster than
    ``fastest`` [m/s]. ``apart`` is 1 for velocities that only take out overlaps: to these belongs a contact's
    ``push_speed``, and no surface's own speed; else 0.
    """

    closing: float
    recovery: float
    fastest: float
    allowed: float
    apart: float


@subkernel
def take_small_steps(rows, islands, island, given, moved, workspace, sweep, settings, pace):
    """Move an island through a substep in small steps.

    Parameters
    ----------
    rows : RowArrays
        ``impulse`` holds those of the last substep and is written: those of the last step, times n. ``bias`` written;
        ``compliance`` and ``diagonal`` of rows that are no contacts written and put back.
    islands, island
        Read.
    given : SmallStepInput
        Read.
    moved : SmallStepMotion
        Written.
    workspace : SmallStepArrays
    sweep : SweepWorkspace
    settings : SolverSettings
        Read: tolerances, model of friction.
    pace : SmallStepPace

    Returns
    -------
    tuple
        (status, sweeps, largest change of the last sweep [m/s], scale [m/s], 0), as of a solver.
    """
    h, n, velocity, contact_count = pace.h, pace.steps, moved.velocity, given.contact_count[0]
    tau, is_kept = h / n, moved.impulses.is_kept[0] == 1
    fastest, allowed = RATIO_FASTEST_RECOVERY * pace.size / h, _RATIO_LEFT_OVERLAP * pace.size
    if pace.gravity > 0.0:
        fastest = min(fastest, math.sqrt(pace.gravity * pace.size))
    bounces = _begin(rows, islands, island, given, moved, workspace, 1.0 / n, h)
    if bounces:
        keep_resting_impulses(rows, islands, island, contact_count, float(n), workspace.resting_impulse)
    _multiply_compliance(rows, islands, island, contact_count, float(n))
    lay_rows(rows, islands, island, velocity, sweep)
    if is_partitioned(islands, island):
        _lay_gaps(islands, island, sweep, workspace)
    most = 0.0, 0.0, 0.0
    if pace.is_driven:
        most = most_that_drives(rows, islands, island, given, velocity, workspace)
    largest, sweeps = 0.0, 0
    for number in range(n):
        if number > 0 and is_kept:
            # those of the last step the rows will say
            take_impulses(rows, islands, island, sweep)
            add_impulses_of_rows(rows, islands, island, contact_count, 1.0, moved.impulses)
        aim = _Aim(1.0 / tau, 0.0, fastest, allowed, 0.0)
        largest, done = _take_step(rows, islands, island, given, moved, workspace, sweep, settings, pace, aim)
        sweeps += done
        if bounces:
            take_impulses(rows, islands, island, sweep)
            _note_pushes(rows, islands, island, given, workspace)
    take_impulses(rows, islands, island, sweep)
    if bounces:
        lengths = tau, pace.cube_side
        solve_impacts(rows, islands, island, given, velocity, workspace, sweep, settings, lengths, moved.impulses)
    if is_kept:
        # the rows will say n times those of the last step
        add_impulses_of_rows(rows, islands, island, contact_count, 1.0 - n, moved.impulses)
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[row] *= n
    _multiply_compliance(rows, islands, island, contact_count, 1.0 / n)
    if _has_overlaps(islands, island, given, workspace, sweep, allowed):
        aim = _Aim(1.0 / h, _RATIO_RECOVERY / h, fastest, allowed, 1.0)
        sweeps += _take_out_overlaps(rows, islands, island, given, moved.mean_velocity, workspace, sweep, pace, aim)
    _balance(rows, islands, island, given, moved, workspace, pace, most, fastest)
    scale = speed_taken(islands, island, given.free_velocity, velocity)
    target = max(max(settings.tolerance, RATIO_ROUGH) * scale, settings.absolute_tolerance)
    return status_of(largest, target, settings.absolute_tolerance), sweeps, largest, scale, np.int64(0)


@subkernel
def _take_step(rows, islands, island, given, moved, workspace, sweep, settings, pace, aim):
    """One small step; returns the largest change of its last sweep [m/s], and its sweeps."""
    velocity, before, n = moved.velocity, workspace.before, pace.steps
    bodies = islands.body_first[island], islands.body_first[island + 1]
    for index in range(bodies[0], bodies[1]):
        body = islands.body_order[index]
        for column in range(6):
            forced = (given.free_velocity[body, column] - given.start_velocity[body, column]) / n
            begin = velocity[body, column] + forced
            velocity[body, column] = begin + before[body, column]
            before[body, column] = begin
    _set_bias(rows, islands, island, given, workspace, sweep, aim)
    tau, pays = pace.h / n, pace.is_supported and not pace.is_driven
    largest, sweeps = sweep_until_settled(rows, islands, island, velocity, sweep, settings, tau, pace.cube_side, pays)
    for index in range(bodies[0], bodies[1]):
        body = islands.body_order[index]
        for column in range(6):
            moved.mean_velocity[body, column] += velocity[body, column] / n
            before[body, column] = velocity[body, column] - before[body, column]
    _advance_gaps(rows, islands, island, given, velocity, workspace, sweep, tau)
    return largest, sweeps


@subkernel
def _balance(rows, islands, island, given, moved, workspace, pace, most, fastest):
    """What the island owes to conservation laws, or to what drives it (``small_step_balance``)."""
    velocity, mean_velocity, is_kept = moved.velocity, moved.mean_velocity, moved.impulses.is_kept[0] == 1
    if is_kept:
        _begin_balance(islands, island, velocity, workspace)
    if not pace.is_supported:
        keep_angular_momentum(rows, islands, island, given, velocity, mean_velocity, pace.h)
        keep_energy(rows, islands, island, given, velocity, mean_velocity, pace.h)
    elif not pace.is_driven:
        pay_for_lifts(rows, islands, island, given, velocity, mean_velocity, pace.h)
    else:
        limit_speeds(rows, islands, island, velocity, mean_velocity, most, fastest)
    if is_kept:
        _end_balance(rows, islands, island, velocity, workspace, moved.impulses)


@subkernel
def _begin_balance(islands, island, velocity, workspace):
    """Keep the velocities that impulses have led to."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for axis in range(3):
            workspace.before[body, axis] = velocity[body, axis]


@subkernel
def _end_balance(rows, islands, island, velocity, workspace, impulses):
    """Note by how much what conservation laws ask for has changed the momentum of bodies."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for axis in range(3):
            change = velocity[body, axis] - workspace.before[body, axis]
            impulses.balance[body, axis] = rows.body_mass[body, 0, 0] * change


@subkernel
def _begin(rows, islands, island, given, moved, workspace, share, h):
    """Gaps, a step's share of the last substep's impulses, and what these change; whether some contact may bounce."""
    velocity, mean_velocity, before, bounces = moved.velocity, moved.mean_velocity, workspace.before, False
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for column in range(6):
            velocity[body, column] = given.start_velocity[body, column]
            mean_velocity[body, column] = before[body, column] = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block < given.contact_count[0]:
            unrelaxed = given.unrelaxed_gap[block]
            workspace.gap[block], workspace.push_speed[block] = given.gap[block] + unrelaxed, unrelaxed / h
            workspace.kept_speed[block] = given.surface_speed[block]
            workspace.pushed[block] = False
            bounces = bounces or given.bounce_speed[block] > 0.0
            rows.bias[rows.block_row[block]] = 0.0
        a, b = rows.body_a[block], rows.body_b[block]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            impulse = share * rows.impulse[row]
            if impulse == 0.0:
                continue
            rows.impulse[row] = impulse
            for column in range(6):
                before[a, column] += rows.response[row, column] * impulse
                before[b, column] += rows.response[row, 6 + column] * impulse
    return bounces


@subkernel
def _multiply_compliance(rows, islands, island, contact_count, factor):
    """Multiply the compliances of an island's rows."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block >= contact_count:
            for row in range(rows.block_row[block], rows.block_row[block + 1]):
                if rows.compliance[row] > 0.0:
                    own = rows.diagonal[row] - rows.compliance[row]
                    rows.compliance[row] *= factor
                    rows.diagonal[row] = own + rows.compliance[row]


@subkernel
def _lay_gaps(islands, island, sweep, workspace):
    """Copy gaps and speeds of contacts in batches to where their lanes are."""
    batches = sweep.domains.batches
    first, end = islands.domain_first[island], islands.domain_first[island + 1]
    for vector in _vectors(batches, first, end):
        for lane in range(WIDTH):
            block, place = batches.block[vector, lane], WIDTH * vector + lane
            workspace.laid_gap[place] = workspace.gap[block] if block >= 0 else 0.0
            workspace.laid_speed[place] = workspace.kept_speed[block] if block >= 0 else 0.0
            workspace.laid_push[place] = workspace.push_speed[block] if block >= 0 else 0.0


@subkernel(inline=True)
def _vectors(batches, first_domain, end_domain):
    """The vectors of all batches of some domains, which lie side by side."""
    return range(
        batches.batch_vector[batches.domain_batch[first_domain]], batches.batch_vector[batches.domain_batch[end_domain]]
    )


@subkernel
def _wanted_speed(workspace, block, aim):
    """Bias of a contact's normal row [m/s]."""
    gap = workspace.gap[block]
    wanted = aim.closing * gap if gap > 0.0 else max(aim.recovery * min(gap + aim.allowed, 0.0), -aim.fastest)
    wanted += (1.0 - aim.apart) * workspace.kept_speed[block] - aim.apart * workspace.push_speed[block]
    return wanted


@subkernel
def _set_bias(rows, islands, island, given, workspace, sweep, aim):
    """Biases of the normal rows of a sweep."""
    if not is_partitioned(islands, island):
        for index in range(islands.block_first[island], islands.block_first[island + 1]):
            block = islands.block_order[index]
            if block < given.contact_count[0]:
                rows.bias[rows.block_row[block]] = _wanted_speed(workspace, block, aim)
        return
    laid, batches = sweep.domains.rows, sweep.domains.batches
    first, end = islands.domain_first[island], islands.domain_first[island + 1]
    zero, least, fast, slow = spread(0.0), spread(-aim.fastest), spread(aim.closing), spread(aim.recovery)
    slack, kept, pushed = spread(aim.allowed), spread(1.0 - aim.apart), spread(aim.apart)
    for vector in _vectors(batches, first, end):
        place = WIDTH * vector
        gap = load(workspace.laid_gap, place)
        out = slow * (gap + slack)
        out = select(out > zero, zero, select(out < least, least, out))
        wanted = select(gap > zero, fast * gap, out)
        wanted = wanted + kept * load(workspace.laid_speed, place) - pushed * load(workspace.laid_push, place)
        store(batches.numbers, WIDTH * (NUMBERS * vector + BIAS), wanted)
    for domain in range(first, end):
        for index in range(batches.domain_loose[domain], islands.domain_block[domain, 1]):
            block = islands.block_order[index]
            if block < given.contact_count[0]:
                wanted = _wanted_speed(workspace, block, aim)
                laid.bias[laid.block_row[index]] = wanted
                rows.bias[rows.block_row[block]] = wanted


@subkernel
def _has_overlaps(islands, island, given, workspace, sweep, allowed):
    """Whether some contact of an island is to be pushed apart."""
    if not is_partitioned(islands, island):
        for index in range(islands.block_first[island], islands.block_first[island + 1]):
            if _overlaps(islands.block_order[index], given, workspace, allowed):
                return True
        return False
    batches = sweep.domains.batches
    first, end = islands.domain_first[island], islands.domain_first[island + 1]
    zero, least = spread(0.0), spread(-allowed)
    for vector in _vectors(batches, first, end):
        place = WIDTH * vector
        if any_of(load(workspace.laid_gap, place) < least) or any_of(load(workspace.laid_push, place) > zero):
            return True
    for domain in range(first, end):
        for index in range(batches.domain_loose[domain], islands.domain_block[domain, 1]):
            if _overlaps(islands.block_order[index], given, workspace, allowed):
                return True
    return False


@subkernel
def _overlaps(block, given, workspace, allowed):
    is_contact = block < given.contact_count[0]
    return is_contact and (workspace.gap[block] < -allowed or workspace.push_speed[block] > 0.0)


@subkernel
def _take_out_overlaps(rows, islands, island, given, mean_velocity, workspace, sweep, pace, aim):
    """Sweeps of the normal rows from w = 0, which is added to what moves the bodies.

    A few sweeps lift nothing heavy off something light. Where the island rests on something, and momentum is not kept
    anyway, all bodies are therefore taken as equally heavy. No body goes faster than the aim's ``fastest``,
    however many stand one behind the other or in a wedge: bowls that are nested as hulls part by and by. Returns the
    sweeps that it took until they changed speeds by next to nothing.
    """
    _set_bias(rows, islands, island, given, workspace, sweep, aim)
    apart, enough = workspace.before, _RATIO_LEFT_APART * pace.size / pace.h
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        for column in range(6):
            apart[islands.body_order[index], column] = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        workspace.apart_impulse[islands.block_order[index]] = 0.0
    if is_partitioned(islands, island):
        batches = sweep.domains.batches
        for vector in _vectors(batches, islands.domain_first[island], islands.domain_first[island + 1]):
            store(workspace.laid_apart, WIDTH * vector, spread(0.0))
        forget_moved(islands, island, sweep)
    sweeps, largest = np.int64(0), math.inf
    while sweeps < _MOST_SWEEPS_APART and largest > enough:
        since, sweeps = sweeps, sweeps + 1
        moved = sweep.domains.moved_in, since, sweeps, enough
        largest = _sweep_apart(rows, islands, island, given, workspace, sweep, pace.is_supported, moved)
    share = _share_of_way_apart(islands, island, given, workspace, aim.fastest)
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for column in range(6):
            mean_velocity[body, column] += share * apart[body, column]
    return sweeps


@subkernel
def _share_of_way_apart(islands, island, given, workspace, fastest):
    """How much of the velocities that take out overlaps is within what a body may get."""
    square, push = 0.0, 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        own = workspace.before[islands.body_order[index]]
        square = max(square, own[0] ** 2 + own[1] ** 2 + own[2] ** 2)
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block < given.contact_count[0]:
            push = max(push, workspace.push_speed[block])
    most = fastest + (islands.body_first[island + 1] - islands.body_first[island]) * push
    return most / math.sqrt(square) if square > most * most else 1.0


@subkernel
def _sweep_apart(rows, islands, island, given, workspace, sweep, as_equals, moved):
    """One of these sweeps; of a partitioned island only over contacts of which a body has been moved.

    Returns the largest change of a speed [m/s].
    """
    impulse, apart, largest = workspace.apart_impulse, workspace.before, 0.0
    if not is_partitioned(islands, island):
        for index in range(islands.block_first[island], islands.block_first[island + 1]):
            largest = max(largest, _part(rows, islands.block_order[index], given, impulse, apart, as_equals))
        return largest
    batches, (moved_in, since, this_sweep, enough) = sweep.domains.batches, moved
    for domain in range(islands.domain_first[island], islands.domain_first[island + 1]):
        largest = max(largest, part_batches(batches, domain, workspace.laid_apart, apart, as_equals, moved))
        for index in range(batches.domain_loose[domain], islands.domain_block[domain, 1]):
            block = islands.block_order[index]
            if is_moved(rows, block, moved_in, since):
                change = _part(rows, block, given, impulse, apart, as_equals)
                note_moved(rows, block, moved_in, this_sweep, change > enough)
                largest = max(largest, change)
    return largest


@subkernel
def _part(rows, block, given, impulse, velocity, as_equals):
    """Visit the normal row of a contact; returns the change of its speed [m/s]."""
    if block >= given.contact_count[0]:
        return 0.0
    row, a, b = rows.block_row[block], rows.body_a[block], rows.body_b[block]
    mass_a, mass_b = 1.0, 1.0
    if as_equals:
        mass_a, mass_b = rows.body_mass[a, 0, 0], rows.body_mass[b, 0, 0]
    weight = 0.0
    for column in range(6):
        weight += mass_a * rows.jacobian[row, column] * rows.response[row, column]
        weight += mass_b * rows.jacobian[row, 6 + column] * rows.response[row, 6 + column]
    speed = _speed_along(rows, row, a, b, velocity) + rows.bias[row]
    if not weight > 0.0:
        return 0.0
    wanted = max(impulse[block] - speed / weight, 0.0)
    delta = wanted - impulse[block]
    impulse[block] = wanted
    for column in range(6):
        velocity[a, column] += delta * mass_a * rows.response[row, column]
        velocity[b, column] += delta * mass_b * rows.response[row, 6 + column]
    return abs(weight * delta)


@subkernel
def _speed_along(rows, row, a, b, velocity):
    """J v of a row."""
    speed = 0.0
    for column in range(6):
        speed += rows.jacobian[row, column] * velocity[a, column] + rows.jacobian[row, 6 + column] * velocity[b, column]
    return speed


@subkernel
def _advance_gaps(rows, islands, island, given, velocity, workspace, sweep, tau):
    """Gaps after a small step of these velocities."""
    if not is_partitioned(islands, island):
        for index in range(islands.block_first[island], islands.block_first[island + 1]):
            _advance_gap(rows, islands.block_order[index], given, velocity, workspace, tau)
        return
    batches = sweep.domains.batches
    first, end = islands.domain_first[island], islands.domain_first[island + 1]
    for batch in range(batches.domain_batch[first], batches.domain_batch[end]):
        advance_laid_gaps(batches, batch, velocity, tau, workspace.laid_speed, workspace.laid_gap)
    for domain in range(first, end):
        for index in range(batches.domain_loose[domain], islands.domain_block[domain, 1]):
            _advance_gap(rows, islands.block_order[index], given, velocity, workspace, tau)


@subkernel
def _advance_gap(rows, block, given, velocity, workspace, tau):
    if block >= given.contact_count[0]:
        return
    a, b = rows.body_a[block], rows.body_b[block]
    speed = workspace.kept_speed[block] + _speed_along(rows, rows.block_row[block], a, b, velocity)
    workspace.gap[block] += tau * speed


@subkernel
def _note_pushes(rows, islands, island, given, workspace):
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block < given.contact_count[0]:
            workspace.pushed[block] = workspace.pushed[block] or rows.impulse[rows.block_row[block]] > 0.0
