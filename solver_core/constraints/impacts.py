"""Impacts: who bounces off whom, where many bodies touch.

One question with u_n >= -e u_n- for all contacts at once would move the balls of Newton's cradle apart in a spread. So
an island in which something bounces plays a sequence of impacts (generalised reflections; Smith, Kaufman, Vouga,
Tamstorf and Grinspun 2012): of all contacts that push, those which approach are reflected, all at once,

    u_n >= -e u_n-  (approaching contacts only),    then again with those that approach now, until none does,

and what is left (resting forces) is one solve without restitution. The impulses r of a reflection change the energy by
r'(u + u-) / 2 = r_n'(1 - e) u_n- / 2 <= 0 without friction. Friction could add some, as it is held to the velocity
after the impact only; then the change of velocities is shortened to the length that leaves the energy as it was.
"""

from ..kernel import subkernel
from .contact_rows import FACTOR_BOUNCE, PUSHES, RESTITUTION, normal_speed

# Impacts an island plays in a substep at most; what still approaches then stops.
MAX_IMPACTS = 32
# Approaches below this share of the fastest one are none: the solver's errors, or drops of energy.
_RATIO_APPROACH = 1e-3


@subkernel
def begin_impacts(islands, island, rows, contact_rows, velocity, free_velocity):
    """Take the impulses off an island's bodies, and note its order of blocks and which contacts push.

    Parameters
    ----------
    islands, island
        Read.
    rows : RowArrays
        Read: impulse; written: impulse, to 0.
    contact_rows : ContactRowArrays
        Written: order, and PUSHES.
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
        contact_rows.order[index] = block
        row = rows.block_row[block]
        pushes = rows.impulse[row] > 0.0
        contact_rows.impact[block, PUSHES] = 1.0 if pushes else 0.0
        if pushes:
            speed = normal_speed(rows.jacobian, row, velocity, rows.body_a[block], rows.body_b[block])
            fastest = max(fastest, -speed)
        rows.impulse[row : rows.block_row[block + 1]] = 0.0
    return fastest


@subkernel
def threshold_of_impacts(fastest, gravity_speed):
    """Speed from which on an approach is an impact [m/s]; below it bodies rest on each other."""
    return max(FACTOR_BOUNCE * gravity_speed, _RATIO_APPROACH * fastest)


@subkernel
def pick_impacts(islands, island, last, rows, contact_count, contact_rows, velocity, threshold, is_first):
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
        block = contact_rows.order[index]
        row = rows.block_row[block]
        chosen = block >= contact_count
        if not chosen and contact_rows.impact[block, PUSHES] > 0.0:
            speed = normal_speed(rows.jacobian, row, velocity, rows.body_a[block], rows.body_b[block])
            if is_first and contact_rows.bounce_speed[block] > 0.0:
                rows.bias[row] = -contact_rows.bounce_speed[block]
                chosen = True
            elif speed < -threshold:
                rows.bias[row] = contact_rows.impact[block, RESTITUTION] * speed
                chosen = True
            found = found or chosen
        if chosen:
            islands.block_order[place] = block
            place += 1
    islands.block_first[island + 1] = place
    return found


@subkernel
def end_impact(islands, island, rows, velocity, free_velocity):
    """Make the velocities after an impact the free ones of the next, without having gained energy.

    Parameters
    ----------
    islands, island
        Read.
    rows : RowArrays
        Read: jacobian; written: impulse of the island's blocks, to 0.
    velocity, free_velocity : float64 [body_count, 6]
        After and before the impact; written.
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
    share = 1.0
    if work + gain > 0.0:
        share = max(0.0, -work / gain)
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for i in range(6):
            free_velocity[body, i] += share * (velocity[body, i] - free_velocity[body, i])
            velocity[body, i] = free_velocity[body, i]
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        rows.impulse[rows.block_row[block] : rows.block_row[block + 1]] = 0.0


@subkernel
def end_impacts(islands, island, last, rows, contact_count, contact_rows):
    """Put all blocks of an island back, to be asked for their velocities without restitution.

    Parameters
    ----------
    islands : IslandArrays
        Written, as it was before ``begin_impacts``.
    island, last : int
    rows : RowArrays
        Written: bias of the contacts' normal rows.
    contact_count : int
    contact_rows : ContactRowArrays
        Read.
    """
    islands.block_first[island + 1] = last
    for index in range(islands.block_first[island], last):
        block = contact_rows.order[index]
        islands.block_order[index] = block
        if block < contact_count:
            rows.bias[rows.block_row[block]] = contact_rows.velocity_bias[block]
