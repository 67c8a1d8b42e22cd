"""The rows of the velocity solve: how fast are the bodies once they are where the position solve has led them?

The rows that moved the poses are changed in place: other biases (``contact_rows``), measured from where the bodies will
be; and the answer is checked for energy that it must not have.
"""

import math

from ..compiled.kernel import borrowed, subkernel
from .contact_rows import (
    RATIO_TOUCHING,
    arms_of,
    bounce_speed,
    fill_inertia,
    fill_row,
    normal_speed,
    side_of,
    size_that_moves,
)
from .meeting_arms import arms_of_bounce, carried_arms, has_toi_offset, meeting_arms

# Values of ``set_velocity_bias``.
SAME = 0
BOUNCES = 1
RECOVERS = 2

# Energy that contacts may seem to give an island's bodies, as a share of what they have: rounding, and the tolerance of
# the solver. More means that it has not solved the problem.
_RATIO_ENERGY_GAIN = 1e-3
# An impulse above this multiple of all momentum of an island balances another one, and nothing that moves: wedges and
# arches press some ten times as hard as they weigh.
_RATIO_OVERGROWN = 100.0


@subkernel
def set_velocity_bias(islands, island, rows, contacts, model, state, motion, h, contact_rows):
    """Change the rows of an island from those of the position solve to those of the velocity solve, where they differ.

    They differ where an overlap is being taken out, and where bodies bounce: where an approaching contact really
    pushes (others may have stopped the body before).

    Parameters
    ----------
    islands, island, contacts, model, state
        Read.
    rows : RowArrays
        Read: impulse. Written: bias of the contacts' normal rows.
    motion : MotionArrays
        Read.
    gravity : float64 [3]
        [m/s^2] (read).
    h : float
        [s].
    contact_rows : ContactRowArrays
        Read; ``is_open`` written, and ``bounce_speed`` of what turns into a hit.

    Returns
    -------
    int
        SAME if the solutions do not differ; else the sum of BOUNCES, where impacts come first (``restitution``), and
        RECOVERS.
    """
    differs = bounces = recovers = False
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        contact_rows.is_open[block] = False
        if block >= contacts.count[0]:
            continue
        row = rows.block_row[block]
        a, b = rows.body_a[block], rows.body_b[block]
        pushes = rows.impulse[row] > 0.0
        if pushes and contact_rows.restitution[block] > 0.0 and contact_rows.bounce_speed[block] == 0.0:
            # A corner that turns may part from a wall at the substep's start, and hit it before the end.
            if has_toi_offset(contacts, block):
                arms = arms_of(contacts, block, model.shapes.kind, state.position, motion.can_be_pushed, a, b)
            else:
                arms = meeting_arms(contacts, block, contacts.normal[block], model, state, motion, a, b, h)
            speed = _speed_of_arms(rows.jacobian, row, arms, motion.free_velocity, a, b)
            set_bounce_speed(contacts, block, rows, motion, speed, h, contact_rows)
        if pushes and contact_rows.bounce_speed[block] > 0.0:
            differs = bounces = True
        moved = contact_rows.surface_speed[block] + normal_speed(rows.jacobian, row, motion.position_velocity, a, b)
        touching = RATIO_TOUCHING * size_that_moves(model.size, motion.can_be_pushed, a, b)
        contact_rows.is_open[block] = contacts.gap[block] + h * moved > touching
        bias = contact_rows.velocity_bias[block]
        if bias != rows.bias[row]:
            recovers = recovers or rows.bias[row] < 0.0
            rows.bias[row] = bias
            differs = differs or pushes
    if not differs:
        return SAME
    return (BOUNCES if bounces else 0) + (RECOVERS if recovers else 0)


@subkernel
def _speed_of_arms(jacobian, row, arms, velocity, a, b):
    """Normal speed of a row with these arms."""
    n0, n1, n2 = jacobian[row, 6], jacobian[row, 7], jacobian[row, 8]
    a0, a1, a2, b0, b1, b2 = arms
    va, vb = velocity[a], velocity[b]
    u0 = vb[0] - va[0] + (vb[4] * b2 - vb[5] * b1) - (va[4] * a2 - va[5] * a1)
    u1 = vb[1] - va[1] + (vb[5] * b0 - vb[3] * b2) - (va[5] * a0 - va[3] * a2)
    u2 = vb[2] - va[2] + (vb[3] * b1 - vb[4] * b0) - (va[3] * a1 - va[4] * a0)
    return n0 * u0 + n1 * u1 + n2 * u2


@subkernel
def set_bounce_speed(contacts, contact, rows, motion, speed_free, h, contact_rows):
    """Set the speed of a bounce by how the surfaces meet.

    A corner of what spins meets a wall with another speed than it has had along the wall's normal at the start. At the
    poses where they meet free motion ends with u, of which gravity has given h a_n: s = u - h a_n (``contact_rows``).

    Parameters
    ----------
    contacts, contact, rows
        Read.
    motion : MotionArrays
        Read: can_be_pushed, acceleration.
    speed_free : float
        u, of the bodies alone [m/s].
    h : float
        [s].
    contact_rows : ContactRowArrays
        Written: bounce_speed.
    """
    row = rows.block_row[contact]
    u = contact_rows.surface_speed[contact] + speed_free
    a, b, can_be_pushed, last = (
        rows.body_a[contact],
        rows.body_b[contact],
        motion.can_be_pushed,
        motion.acceleration.shape[0] - 1,
    )
    of_a, of_b = motion.acceleration[min(a, last)], motion.acceleration[min(b, last)]
    gravity_speed = h * max(_size_of_pull(of_a, can_be_pushed[a]), _size_of_pull(of_b, can_be_pushed[b]))
    fallen = 0.0
    for axis in range(3):
        if can_be_pushed[a]:
            fallen += rows.jacobian[row, axis] * (h * of_a[axis])
        if can_be_pushed[b]:
            fallen += rows.jacobian[row, 6 + axis] * (h * of_b[axis])
    if last > 0:
        for axis in range(3, 6):
            if can_be_pushed[a]:
                fallen += rows.jacobian[row, axis] * (h * of_a[axis])
            if can_be_pushed[b]:
                fallen += rows.jacobian[row, 6 + axis] * (h * of_b[axis])
    contact_rows.bounce_speed[contact] = bounce_speed(
        u - fallen, u, max(contacts.gap[contact], 0.0), contact_rows.restitution[contact], gravity_speed, h
    )


@subkernel
def move_rows_along(islands, island, rows, contacts, model, state, motion, h, bounces, is_free):
    """Measure the rows of an island from where its bodies will be, for the velocity solve.

    Poses move by h times the position-update velocities, contact points as the surfaces do that touch there. Impulses
    of bounces act at one common point of the new poses (``meeting_arms``), so they keep the angular momentum to
    rounding; from the old arms a bounce would miss it by h u x impulse. Contacts of fast bodies have the arms of the
    moment when they meet.

    Where overlaps are taken out and nothing bounces, the velocity is taken anew from the free one and the present
    impulses: the part of them that moves bodies apart would else leave them a spin.

    Parameters
    ----------
    islands, island, contacts, model, state
        Read; the poses are still the old ones.
        Written: the velocity of the island's bodies, unless something ``bounces``.
    rows : RowArrays
        Written: jacobian, response and diagonal of the island's blocks; body_mass.
    motion : MotionArrays
        Read: position_velocity, inverse_inertia. ``free_velocity`` read, and written of what ``bounces`` and
        ``is_free``.
    h : float
        [s].
    bounces : bool
        Whether bounces are to follow, which start from the free velocity and no impulses.
    is_free : bool
        Whether no body of the island touches one that cannot be pushed. Then the free velocity is taken anew, so that
        the present impulses still give the present velocity: v_free <- v - M^-1 J' r, which keeps the island's angular
        momentum; the position solve has led the bodies elsewhere than free motion, by h M^-1 J' r.
    """
    rows, contacts, state, motion = borrowed(rows), borrowed(contacts), borrowed(state), borrowed(motion)
    free_velocity, velocity = motion.free_velocity, state.velocity
    inverse_mass, inverse_inertia = motion.inverse_mass, motion.inverse_inertia
    jacobian, response, diagonal = rows.jacobian, rows.response, rows.diagonal
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        is_fast = block < contacts.count[0] and has_toi_offset(contacts, block)
        if block >= contacts.count[0] or (is_fast and not bounces):
            continue
        a, b = rows.body_a[block], rows.body_b[block]
        if is_fast:
            # they are those of when it meets, but the inertia is another one
            arms = arms_of(contacts, block, model.shapes.kind, state.position, motion.can_be_pushed, a, b)
        elif bounces:
            arms = arms_of_bounce(contacts, block, model, state, motion, rows, a, b, h)
        else:
            # These push for many substeps, so a small torque of theirs would add up.
            arms = carried_arms(contacts, block, model, state, motion, a, b, h)
        side_a, side_b = side_of(inverse_mass, inverse_inertia, a), side_of(inverse_mass, inverse_inertia, b)
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            direction = jacobian[row, 6], jacobian[row, 7], jacobian[row, 8]
            diagonal[row] = fill_row(jacobian[row], response[row], direction, arms, side_a, side_b)
    if bounces:
        for index in range(islands.body_first[island], islands.body_first[island + 1]):
            body = islands.body_order[index]
            fill_inertia(inverse_inertia[body], rows.body_mass[body])
            for column in range(6):
                if is_free:
                    free_velocity[body, column] = velocity[body, column]
        if is_free:
            push_by_contacts(islands, island, rows, contacts, free_velocity, -1.0)
        return
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for column in range(6):
            velocity[body, column] = free_velocity[body, column]
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            for column in range(6):
                velocity[a, column] += rows.response[row, column] * rows.impulse[row]
                velocity[b, column] += rows.response[row, 6 + column] * rows.impulse[row]


@subkernel
def move_contact_rows(islands, island, rows, contacts, model, state, motion, h, change):
    """Measure the contacts' rows of an island with joints with the inertia, and from where, its bodies will be.

    As ``move_rows_along``, but impulses and velocities are left to the caller.

    Parameters
    ----------
    islands, island, contacts, model, state, motion, h
        As of ``move_rows_along``.
    rows : RowArrays
        Written: jacobian, response and diagonal of the contacts; body_mass of the island's bodies.
    change : int64
        Of ``set_velocity_bias``.
    """
    jacobian, response, diagonal = rows.jacobian, rows.response, rows.diagonal
    inverse_mass, inverse_inertia = motion.inverse_mass, motion.inverse_inertia
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block >= contacts.count[0]:
            continue
        a, b = rows.body_a[block], rows.body_b[block]
        if change == SAME or has_toi_offset(contacts, block):
            arms = arms_of(contacts, block, model.shapes.kind, state.position, motion.can_be_pushed, a, b)
        elif change == RECOVERS:
            arms = carried_arms(contacts, block, model, state, motion, a, b, h)
        else:
            arms = arms_of_bounce(contacts, block, model, state, motion, rows, a, b, h)
        side_a, side_b = side_of(inverse_mass, inverse_inertia, a), side_of(inverse_mass, inverse_inertia, b)
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            direction = jacobian[row, 6], jacobian[row, 7], jacobian[row, 8]
            diagonal[row] = fill_row(jacobian[row], response[row], direction, arms, side_a, side_b)
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        fill_inertia(inverse_inertia[body], rows.body_mass[body])


@subkernel
def push_by_contacts(islands, island, rows, contacts, velocity, factor):
    """Add what the contacts' impulses do to the velocities of an island, times a factor.

    Parameters
    ----------
    islands, island, rows, contacts
        Read.
    velocity : float64 [body_count, 6]
        Written.
    factor : float
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block >= contacts.count[0]:
            continue
        a, b = rows.body_a[block], rows.body_b[block]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            impulse = factor * rows.impulse[row]
            for column in range(6):
                velocity[a, column] += rows.response[row, column] * impulse
                velocity[b, column] += rows.response[row, 6 + column] * impulse


@subkernel
def gains_energy(islands, island, rows, contacts, free_velocity, velocity):
    """Whether the solution has more kinetic energy than free motion, where contacts can but take some.

    A normal impulse acts where u_n = -gap / h <= 0, friction against u_t, so r . u <= 0 and with r = M (v - v_free)
    v' M v <= v_free' M v_free. What is driven may push energy in; then there is nothing to say.

    Parameters
    ----------
    islands, island, rows, contacts
        Read.
    free_velocity, velocity : float64 [body_count, 6]
        Without and with the contacts (read).

    Returns
    -------
    bool
    """
    if touches_kinematic(islands, island, rows, contacts, velocity):
        return False
    before = kinetic_energy(islands, island, rows, free_velocity)
    return kinetic_energy(islands, island, rows, velocity) > (1.0 + _RATIO_ENERGY_GAIN) * before


@subkernel
def touches_kinematic(islands, island, rows, contacts, velocity):
    """Whether an island touches bodies that are moved by hand, or meshes that deform.

    Parameters
    ----------
    islands, island, rows, contacts
        Read.
    velocity : float64 [body_count, 6]
        Read.
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        if touches_driven(rows, contacts, velocity, islands.block_order[index]):
            return True
    return False


@subkernel
def touches_driven(rows, contacts, velocity, block):
    """Whether a side of a contact is moved by hand, or deforms.

    Parameters
    ----------
    rows, contacts
        Read.
    velocity : float64 [body_count, 6]
        Read.
    block : int64
    """
    if block < contacts.count[0]:
        for axis in range(3):
            if contacts.surface_velocity[block, axis] != 0.0:
                return True
    for body in (rows.body_a[block], rows.body_b[block]):
        if rows.body_mass[body, 0, 0] == 0.0:
            for column in range(6):
                if velocity[body, column] != 0.0:
                    return True
    return False


@subkernel
def kinetic_energy(islands, island, rows, velocity):
    """Of an island's bodies [J].

    Parameters
    ----------
    islands, island, rows
        Read.
    velocity : float64 [body_count, 6]
        Read.
    """
    energy = 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        mass = rows.body_mass[body]
        for i in range(6):
            for j in range(6):
                energy += 0.5 * velocity[body, i] * mass[i, j] * velocity[body, j]
    return energy


@subkernel
def overgrowth(rows, islands, island, start_velocity, free_velocity):
    """By how much an island's largest impulse is larger than 100 times all momentum that there is.

    Where overlaps contradict each other, impulses that balance each other may grow without end, and no residual tells.
    As a start of small steps, whose rows are others, they no longer balance, and shoot bodies away.

    Parameters
    ----------
    rows, islands, island
        Read.
    start_velocity, free_velocity : float64 [body_count, 6]
        At the substep's start, and at its end without impulses; of what is driven, how it moves (read).

    Returns
    -------
    float
        The ratio of the two; 0 if it is no larger, infinite where there is no momentum.
    """
    momentum, driven, total = 0.0, 0.0, 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        mass = rows.body_mass[body]
        total += mass[0, 0]
        for velocity in (start_velocity[body], free_velocity[body]):
            # with spins, at the gyration radius
            square = 0.0
            for i in range(6):
                for j in range(6):
                    square += velocity[i] * mass[i, j] * velocity[j]
            momentum += math.sqrt(mass[0, 0] * square)
    largest = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for body in (rows.body_a[block], rows.body_b[block]):
            if rows.body_mass[body, 0, 0] == 0.0:
                for column in range(3):
                    driven = max(driven, abs(free_velocity[body, column]))
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            largest = max(largest, abs(rows.impulse[row]))
    most = _RATIO_OVERGROWN * (momentum + total * driven)
    if not largest > most:
        return 0.0
    return largest / most if most > 0.0 else math.inf


@subkernel
def scale_impulses(islands, island, rows, factor):
    """Multiply an island's impulses: those that balance each other still do.

    Parameters
    ----------
    islands, island
        Read.
    rows : RowArrays
        ``impulse`` written.
    factor : float
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[row] *= factor


@subkernel
def forget_impulses(islands, island, rows, free_velocity, velocity):
    """Put an island back to where no impulse acts.

    Parameters
    ----------
    islands, island
        Read.
    rows : RowArrays
        Written: impulse.
    free_velocity, velocity : float64 [body_count, 6]
        Read; written.
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[row] = 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for column in range(6):
            velocity[body, column] = free_velocity[body, column]


@subkernel
def _size_of_pull(acceleration, can_be_pushed):
    """Size of a body's linear acceleration by forces; 0 of what nothing pushes [m/s^2]."""
    if not can_be_pushed:
        return 0.0
    return math.sqrt(acceleration[0] ** 2 + acceleration[1] ** 2 + acceleration[2] ** 2)
