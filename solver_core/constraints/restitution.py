"""Restitution: who bounces off whom, where many bodies touch.

One solve with u_n >= -e u_n- for all contacts together would move the balls of Newton's cradle apart in a spread. So
an island in which something bounces goes through a sequence of impacts (generalised reflections; Smith, Kaufman, Vouga,
Tamstorf and Grinspun 2012): of all contacts that push, those which approach are reflected together,

    u_n >= -e u_n-  (approaching contacts only),    then again with those that approach now, until none does,

and what is left (resting forces) is one solve without restitution. The impulses r of a reflection change the energy by
r'(u + u-) / 2 = r_n'(1 - e) u_n- / 2 <= 0 without friction. Friction may add energy, since it opposes the slip after
the impact only. If it does, the change of velocities is scaled down until energy no longer grows (``end_impact``).

Before the sequence comes a solve of its own: how fast are the bodies just before the impacts (``set_approach_bias``)?
Free velocities include a whole substep of gravity, even for bodies that rest or have met long before. To reflect them
would add energy. So bouncing contacts are held to the speed at which they meet, others to what they are
held to without impacts. Kinetic energy that is still above what bodies had, and gravity gave them as they moved, is to
be lost in the impacts (``allowed_energy``).

What the substep leaves open takes no part in any of these: how fast surfaces come near that are still apart is the next
substep's concern, in which they bounce with the whole of that speed.

The solves are the caller's (``dynamics.solving.velocity_solve``). In its order: ``measure_bounces``, ``begin_impacts``,
``set_approach_bias``, solve, ``restart_from_velocities``; while ``select_impacts`` finds some, solve and
``end_impact``; ``end_impacts``; the solve without restitution; and ``take_all_blocks``.
"""

import math

from ..compiled.kernel import subkernel
from ..problem.substep_impulses import add_impulse_of_rows
from .contact_rows import FACTOR_BOUNCE, normal_speed
from .velocity_rows import set_bounce_speed, touches_kinematic

# Most impacts of an island in a substep; what still approaches then stops.
MAX_IMPACTS = 32
# Approaches below this share of the fastest one are none: the solver's errors, or drops of energy.
_RATIO_APPROACH = 1e-3
# The most of an impact's change of velocities that makes up for energy that turning has cost, or what leads what flies
# freely elsewhere than free motion does.
_MOST_SHARE = 1.25


@subkernel
def measure_bounces(islands, island, rows, contacts, contact_rows, motion, h):
    """Measure the speeds of bounces where the surfaces meet (``set_bounce_speed``).

    Parameters
    ----------
    islands, island, contacts, motion
        Read; ``motion.free_velocity`` at the poses where the surfaces meet.
    rows : RowArrays
        Read; of these poses.
    contact_rows : ContactRowArrays
        Written: bounce_speed.
    gravity : float64 [3]
        [m/s^2] (read).
    h : float
        [s].
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block >= contacts.count[0] or contact_rows.bounce_speed[block] == 0.0:
            continue
        a, b = rows.body_a[block], rows.body_b[block]
        speed = normal_speed(rows.jacobian, rows.block_row[block], motion.free_velocity, a, b)
        set_bounce_speed(contacts, block, rows, motion, speed, h, contact_rows)


@subkernel
def begin_impacts(islands, island, rows, contact_rows, velocity, free_velocity):
    """Take the impulses off an island's bodies, note its order of blocks, and which contacts push; leave out open ones.

    Parameters
    ----------
    islands : IslandArrays
        Written: the island's blocks, and their end.
    island : int
    rows : RowArrays
        Read: impulse; written: impulse, to 0.
    contact_rows : ContactRowArrays
        Written: block_order, and pushes.
    velocity : float64 [body_count, 6]
        Written: ``free_velocity`` (read).

    Returns
    -------
    float
        Fastest approach of the contacts that push [m/s].
    """
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for column in range(6):
            velocity[body, column] = free_velocity[body, column]
    fastest = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        contact_rows.block_order[index] = block
        row = rows.block_row[block]
        pushes = rows.impulse[row] > 0.0
        contact_rows.pushes[block] = pushes
        if pushes:
            speed = normal_speed(rows.jacobian, row, velocity, rows.body_a[block], rows.body_b[block])
            fastest = max(fastest, -speed)
        rows.impulse[row : rows.block_row[block + 1]] = 0.0
    _leave_open_ones_out(islands, island, islands.block_first[island + 1], contact_rows)
    return fastest


@subkernel
def _leave_open_ones_out(islands, island, last, contact_rows):
    """Leave only those blocks in an island whose surfaces the substep leads together."""
    place = islands.block_first[island]
    for index in range(place, last):
        block = contact_rows.block_order[index]
        if not contact_rows.is_open[block]:
            islands.block_order[place] = block
            place += 1
    islands.block_first[island + 1] = place


@subkernel
def take_all_blocks(islands, island, last, contact_rows):
    """Put all blocks of an island back, as before ``begin_impacts``.

    Parameters
    ----------
    islands : IslandArrays
        Written.
    island, last : int
        ``last`` is the end of all of its blocks.
    contact_rows : ContactRowArrays
        Read.
    """
    islands.block_first[island + 1] = last
    for index in range(islands.block_first[island], last):
        islands.block_order[index] = contact_rows.block_order[index]


@subkernel
def allowed_energy(islands, island, rows, contacts, motion, velocity, h):
    """Kinetic energy that an island may have after this substep: what it had, and what gravity adds as it moves [J].

    Parameters
    ----------
    islands, island, rows, contacts
        Read.
    motion : MotionArrays
        Read: free_velocity, position_velocity, acceleration.
    velocity : float64 [body_count, 6]
        Read: of what is driven.
    h : float
        [s].

    Returns
    -------
    float
        Infinite where something driven may push energy in.
    """
    if touches_kinematic(islands, island, rows, contacts, velocity):
        return math.inf
    energy = 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        mass, free = rows.body_mass[body], motion.free_velocity[body]
        gravity = motion.acceleration[min(body, motion.acceleration.shape[0] - 1)]
        for axis in range(3):
            before = free[axis] - h * gravity[axis]
            displacement = h * motion.position_velocity[body, axis]
            energy += mass[axis, axis] * (0.5 * before * before + gravity[axis] * displacement)
            for other in range(3):
                energy += 0.5 * free[3 + axis] * mass[3 + axis, 3 + other] * free[3 + other]
    return energy


@subkernel
def set_approach_bias(islands, island, rows, contact_count, contact_rows):
    """Ask for the velocities just before the impacts: what bounces approaches as when it meets, the rest is held.

    Parameters
    ----------
    islands, island
        Read.
    rows : RowArrays
        Written: bias of the contacts' normal rows.
    contact_count : int
    contact_rows : ContactRowArrays
        Read.
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block < contact_count and contact_rows.bounce_speed[block] > 0.0:
            rows.bias[rows.block_row[block]] = contact_rows.bounce_speed[block] / contact_rows.restitution[block]


@subkernel
def restart_from_velocities(
    islands, island, rows, contact_count, contact_rows, velocity, free_velocity, share, impulses
):
    """Let the next solve start from the present velocities: they become the free ones, and impulses become 0.

    Parameters
    ----------
    islands, island
        Read.
    rows : RowArrays
        Written: impulse of the island's blocks, to 0.
    contact_count : int
    contact_rows : ContactRowArrays
        Written: joint_impulse.
    velocity, free_velocity : float64 [body_count, 6]
        Read; written.
    share : float
        Of the impulses that the velocities have.
    impulses : SubstepImpulses
        Written where they are kept: ``beside`` of contacts.
    """
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for i in range(6):
            free_velocity[body, i] = velocity[body, i]
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block >= contact_count:
            for row in range(rows.block_row[block], rows.block_row[block + 1]):
                contact_rows.joint_impulse[row - rows.block_row[contact_count]] += share * rows.impulse[row]
        elif impulses.is_kept[0] == 1:
            add_impulse_of_rows(rows, block, share, impulses.beside[block])
        rows.impulse[rows.block_row[block] : rows.block_row[block + 1]] = 0.0


@subkernel
def impact_threshold(fastest, gravity_speed):
    """Speed from which on an approach is an impact [m/s]; below it bodies rest on each other.

    Parameters
    ----------
    fastest : float
        Approach of the contacts that push [m/s].
    gravity_speed : float
        That gravity gives in a substep [m/s].
    """
    return max(FACTOR_BOUNCE * gravity_speed, _RATIO_APPROACH * fastest)


@subkernel
def select_impacts(islands, island, last, rows, contact_count, contact_rows, velocity, threshold, is_first):
    """Leave only those contacts in an island that approach, and ask for their reflection.

    Parameters
    ----------
    islands : IslandArrays
        Written: the island's blocks, and their end.
    island, last : int
        ``last`` is the end of all of its blocks.
    rows : RowArrays
        Written: bias of the normal rows.
    contact_count : int
        Blocks behind these stay in the island.
    contact_rows : ContactRowArrays
        Read.
    velocity : float64 [body_count, 6]
        Read.
    threshold : float
        Speed from which on an approach counts [m/s].
    is_first : bool
        The first impact of a contact takes the speed with which its surfaces really meet.

    Returns
    -------
    bool
        Whether there is an impact.
    """
    place, found = islands.block_first[island], False
    for index in range(islands.block_first[island], last):
        block = contact_rows.block_order[index]
        row = rows.block_row[block]
        chosen = block >= contact_count
        if not chosen and contact_rows.pushes[block]:
            speed = normal_speed(rows.jacobian, row, velocity, rows.body_a[block], rows.body_b[block])
            if is_first and contact_rows.bounce_speed[block] > 0.0:
                rows.bias[row] = -contact_rows.bounce_speed[block]
                chosen = True
            elif speed < -threshold:
                rows.bias[row] = contact_rows.restitution[block] * speed
                chosen = True
            found = found or chosen
        if chosen:
            islands.block_order[place] = block
            place += 1
    islands.block_first[island + 1] = place
    return found


@subkernel
def end_impact(islands, island, rows, contact_count, contact_rows, velocity, free_velocity, surplus, impulses):
    """Make the velocities after an impact the free ones of the next, without having gained energy but what is to be.

    Parameters
    ----------
    islands, island
        Read.
    rows : RowArrays
        Read: jacobian; written: impulse of the island's blocks, to 0.
    contact_count, contact_rows
        As of ``restart_from_velocities``.
    velocity, free_velocity : float64 [body_count, 6]
        After and before the impact; written.
    surplus : float
        Energy that is to be lost; below 0: that is to be gained [J].
    impulses
        As of ``restart_from_velocities``.

    Returns
    -------
    float
        What is left of the surplus.
    """
    # v = before + s change; the energy grows by s work + s^2 gain, seen from what is driven
    work, gain = 0.0, 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            before = normal_speed(rows.jacobian, row, free_velocity, a, b)
            after = normal_speed(rows.jacobian, row, velocity, a, b)
            work += rows.impulse[row] * before
            gain += 0.5 * rows.impulse[row] * (after - before)
    share, most, target = 1.0, 1.0, -surplus
    if surplus <= 0.0:
        # a somewhat larger share of the change makes up for what is to be gained
        most, target = _MOST_SHARE, min(work + gain, 0.0) - surplus
    if gain > 0.0 and (work + gain > target or surplus < 0.0):
        # The largest share of the change that changes the energy by no more; if none does, the share that loses most.
        share = min(max(0.0, 0.5 * (math.sqrt(max(work * work + 4.0 * gain * target, 0.0)) - work) / gain), most)
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for i in range(6):
            before = free_velocity[body, i]
            velocity[body, i] = before + share * (velocity[body, i] - before)
    restart_from_velocities(
        islands, island, rows, contact_count, contact_rows, velocity, free_velocity, share, impulses
    )
    change = share * (work + share * gain)
    return max(surplus + change, 0.0) if surplus > 0.0 else min(surplus + change - min(work + gain, 0.0), 0.0)


@subkernel
def take_from_spins(islands, island, rows, velocity, free_velocity, surplus):
    """Slow an island's spins by what no impact could take of the energy that turning has given them.

    Parameters
    ----------
    islands, island, rows
        Read.
    velocity, free_velocity : float64 [body_count, 6]
        Written.
    surplus : float
        [J].
    """
    if not surplus > 0.0:
        return
    energy = 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for i in range(3, 6):
            for j in range(3, 6):
                energy += 0.5 * velocity[body, i] * rows.body_mass[body, i, j] * velocity[body, j]
    share = math.sqrt(max(1.0 - surplus / energy, 0.0)) if energy > 0.0 else 1.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for i in range(3, 6):
            velocity[body, i] *= share
            free_velocity[body, i] = velocity[body, i]


@subkernel
def end_impacts(islands, island, last, rows, contact_count, contact_rows):
    """Put the blocks of an island back that are not open, for the solve without restitution.

    Parameters
    ----------
    islands : IslandArrays
        Written: as after ``begin_impacts``.
    island, last : int
    rows : RowArrays
        Written: bias of the contacts' normal rows.
    contact_count : int
    contact_rows : ContactRowArrays
        Read.
    """
    _leave_open_ones_out(islands, island, last, contact_rows)
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block < contact_count:
            rows.bias[rows.block_row[block]] = contact_rows.velocity_bias[block]
