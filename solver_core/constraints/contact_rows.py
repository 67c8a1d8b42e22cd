"""Contacts -> rows: Jacobian, response, bias and bounds of a normal row and two friction rows each.

For a contact at the point p with normal n (from body a to body b) and a direction d in {n, t1, t2}

    J = [-d, -(p - x_a) x d,  d, (p - x_b) x d],      u = J v + bias.

Where a mesh deforms, its surface moves by itself: d . drift is part of every bias, and not written out below.

Two biases a normal row, for the two questions that a step asks (``stepper``):

where do the bodies go (poses):      a gap: u_n + gap / h >= 0; they may close the gap, not more (speculative)
                                     touching: u_n >= 0
                                     an overlap: u_n >= recovery speed, which takes it out a bit a substep; but what
                                     the substep itself would lead into (AT_ONCE) at once
how fast are they then (velocities): the same, but an overlap: u_n >= 0, so recovery adds no kinetic energy;
                                     a bounce: u_n >= e w

w is the speed at which the surfaces meet in free flight, from the speed s at the substep's start and the relative
free acceleration a_n: w^2 = s^2 - 2 a_n gap. The first question has led the surfaces to each other, so the bounce
starts there, with its speed at the substep's end: one of restitution e rises to e^2 of its height at any h.
"""

import math
from typing import NamedTuple

import numpy as np

from ..contacts import AT_ONCE, PARTED
from ..kernel import borrowed, kernel, subkernel

# A gap or an overlap below this share of the bodies' size is one of bodies that touch: rounding and solver tolerances
# make such ones. Were the four gaps under a face closed to the last digit, they could not all bear at once (a rigid
# face cannot be twisted), and a whole step's force would go from one to another because of a nanometre.
RATIO_TOUCHING = 1e-5
# A larger overlap is taken out down to this share. Down to the one above, ever smaller speeds would be asked for
# without an end; in a heap some contradict each other (a wedged body), and then nothing solves the problem.
_RATIO_LEFT = 5e-6
# Share of an overlap that is taken out in a substep, and the most of it as a share of the bodies' size.
_FACTOR_RECOVERY = 0.2
_RATIO_RECOVERY_MOST = 0.01
# Restitution acts above this multiple of the speed that gravity gives in a substep.
FACTOR_BOUNCE = 2.0
# The first tangent follows the slip where that is above this multiple of the speed that gravity gives in a substep.
_FACTOR_SLIP = 1e-2
# ... and above this share of the approach, of which a smaller slip may be the rounding.
_RATIO_SLIP_ROUNDING = 1e-9

_ROWS_PER_CONTACT = 3

# Columns of ContactRowArrays.impact.
RESTITUTION = 0
PUSHES = 1

# Values of ``ask_for_velocities``.
SAME = 0
BOUNCES = 1
RECOVERS = 2

# Energy that contacts may seem to give an island's bodies, as a share of what they have: rounding, and the tolerance of
# the solver. More means that it has not solved the problem.
_RATIO_ENERGY_GAIN = 1e-3


class ContactRowArrays(NamedTuple):
    """What the second question needs besides the rows.

    Attributes
    ----------
    velocity_bias : float64 [contact_capacity]
        Bias of the normal row where velocities are asked for and nothing bounces [m/s].
    bounce_speed : float64 [contact_capacity]
        Speed of separation after a bounce [m/s]; 0 where the contact does not bounce.
    impact : float64 [contact_capacity, 2]
        Columns RESTITUTION of the pair, and PUSHES: 1 where the contact pushed when poses were asked for (``impacts``).
    order : int64 [contact_capacity]
        Workspace of ``impacts``.
    """

    velocity_bias: np.ndarray
    bounce_speed: np.ndarray
    impact: np.ndarray
    order: np.ndarray


def allocate_contact_rows(contact_capacity: int) -> ContactRowArrays:
    """Room for so many contacts."""
    return ContactRowArrays(
        velocity_bias=np.zeros(contact_capacity),
        bounce_speed=np.zeros(contact_capacity),
        impact=np.zeros((contact_capacity, 2)),
        order=np.zeros(contact_capacity, np.int64),
    )


@kernel(inline=True)
def build_contact_rows(model, state, motion, contacts, gravity_norm, h, rows, contact_rows):
    """Fill ``rows`` from the contacts, block i from contact i; impulses start from the contacts' impulses.

    Parameters
    ----------
    model, state, motion, contacts
        Read.
    gravity_norm, h : float
        [m/s^2], [s].
    rows : RowArrays
        Written; has room for a block a contact and a mass a body.
    contact_rows : ContactRowArrays
        Written.
    """
    # Borrowed, and taken apart before the loop: references to arrays would be counted at each contact.
    model, state, motion, contacts = borrowed(model), borrowed(state), borrowed(motion), borrowed(contacts)
    rows, contact_rows = borrowed(rows), borrowed(contact_rows)
    velocity, free_velocity, position = state.velocity, motion.free_velocity, state.position
    inverse_mass, inverse_inertia, can_be_pushed = motion.inverse_mass, motion.inverse_inertia, motion.can_be_pushed
    jacobian, response, diagonal, bias = rows.jacobian, rows.response, rows.diagonal, rows.bias
    count = contacts.count[0]
    gravity_speed = gravity_norm * h
    _fill_body_masses(inverse_mass, inverse_inertia, can_be_pushed, rows.body_mass)
    for contact in range(count):
        a, b = contacts.body_a[contact], contacts.body_b[contact]
        row = _ROWS_PER_CONTACT * contact
        rows.block_row[contact] = row
        rows.body_a[contact] = a
        rows.body_b[contact] = b
        normal = contacts.normal[contact, 0], contacts.normal[contact, 1], contacts.normal[contact, 2]
        drift = contacts.drift[contact]
        arms = _arms(contacts.position, drift, contact, position, a, b)
        slip = _slip(free_velocity, a, b, arms, drift, normal)
        tangent = _first_tangent(slip, normal, _FACTOR_SLIP * gravity_speed)
        other_tangent = _cross(normal, tangent)
        side_a, side_b = _side(inverse_mass, inverse_inertia, a), _side(inverse_mass, inverse_inertia, b)
        diagonal[row] = _fill_row(jacobian[row], response[row], normal, arms, side_a, side_b)
        diagonal[row + 1] = _fill_row(jacobian[row + 1], response[row + 1], tangent, arms, side_a, side_b)
        diagonal[row + 2] = _fill_row(jacobian[row + 2], response[row + 2], other_tangent, arms, side_a, side_b)
        impulse = contacts.impulse[contact]
        pressing = max(_along(normal, impulse), 0.0)
        friction = model.friction[a] * model.friction[b]
        _set_bounds(rows, row, np.int64(-1), 0.0, math.inf, pressing)
        _set_bounds(rows, row + 1, row, friction, 0.0, _inside(_along(tangent, impulse), friction * pressing))
        _set_bounds(rows, row + 2, row, friction, 0.0, _inside(_along(other_tangent, impulse), friction * pressing))
        along = _along(normal, drift)
        bias[row + 1], bias[row + 2] = _along(tangent, drift), _along(other_tangent, drift)

        gap = contacts.gap[contact]
        size = size_that_moves(model.size, can_be_pushed, a, b)
        closing = gap / h if gap > RATIO_TOUCHING * size else 0.0
        at_once = drift[AT_ONCE]
        bias[row] = along + closing - at_once / h - _recovery_speed(-gap - at_once, size, h)
        contact_rows.velocity_bias[contact] = along + closing
        restitution = model.restitution[a] * model.restitution[b]
        contact_rows.impact[contact, RESTITUTION] = restitution
        contact_rows.bounce_speed[contact] = 0.0
        if restitution > 0.0:
            contact_rows.bounce_speed[contact] = _bounce_speed(
                along + normal_speed(jacobian, row, velocity, a, b),
                along + normal_speed(jacobian, row, free_velocity, a, b),
                max(gap, 0.0),
                restitution,
                gravity_speed,
                h,
            )
    rows.block_row[count] = _ROWS_PER_CONTACT * count
    rows.count[0] = count
    rows.count[1] = _ROWS_PER_CONTACT * count


@subkernel
def _fill_body_masses(inverse_mass, inverse_inertia, can_be_pushed, body_mass):
    """Mass matrices in world axes, from their inverses; zero for bodies that cannot be pushed.

    Parameters
    ----------
    inverse_mass, inverse_inertia, can_be_pushed
        Read; as in ``MotionArrays``.
    body_mass : float64 [body_count, 6, 6]
        Written.
    """
    for body in range(can_be_pushed.size):
        mass = body_mass[body]
        for i in range(6):
            for j in range(6):
                mass[i, j] = 0.0
        if not can_be_pushed[body]:
            continue
        for axis in range(3):
            mass[axis, axis] = 1.0 / inverse_mass[body]
        _fill_inertia(inverse_inertia[body], mass)


@subkernel
def _fill_inertia(inverse, mass):
    """Inertia of a body, from its inverse, into its mass matrix."""
    a, b, c, _, d, e, _, _, f = inverse
    # the adjugate of a symmetric matrix over its determinant
    c00, c01, c02 = d * f - e * e, c * e - b * f, b * e - c * d
    factor = 1.0 / (a * c00 + b * c01 + c * c02)
    mass[3, 3], mass[4, 4], mass[5, 5] = factor * c00, factor * (a * f - c * c), factor * (a * d - b * b)
    mass[3, 4] = mass[4, 3] = factor * c01
    mass[3, 5] = mass[5, 3] = factor * c02
    mass[4, 5] = mass[5, 4] = factor * (b * c - a * e)


@subkernel
def _arms(point, drift, contact, position, a, b):
    """From the two centres of mass to the contact point; where fast bodies are still to meet, to either one's own."""
    x, y, z = point[contact]
    p, q, r = 0.5 * drift[PARTED], 0.5 * drift[PARTED + 1], 0.5 * drift[PARTED + 2]
    return (
        x - p - position[a, 0],
        y - q - position[a, 1],
        z - r - position[a, 2],
        x + p - position[b, 0],
        y + q - position[b, 1],
        z + r - position[b, 2],
    )


@subkernel
def _is_parted(drift):
    """Whether a contact is made where bodies meet only later: its arms are those of that moment."""
    return drift[PARTED] != 0.0 or drift[PARTED + 1] != 0.0 or drift[PARTED + 2] != 0.0


@subkernel
def _side(inverse_mass, inverse_inertia, body):
    """What says how a body answers an impulse: 1/m, and its inverse inertia in world axes, row by row."""
    inverse = inverse_inertia[body]
    return (
        inverse_mass[body],
        inverse[0],
        inverse[1],
        inverse[2],
        inverse[3],
        inverse[4],
        inverse[5],
        inverse[6],
        inverse[7],
        inverse[8],
    )


@subkernel
def _fill_row(jacobian, response, direction, arms, side_a, side_b):
    """One direction's row of the Jacobian and of the response; returns its entry of the diagonal of W."""
    d0, d1, d2 = direction
    a0, a1, a2, b0, b1, b2 = arms
    m0, m1, m2 = a2 * d1 - a1 * d2, a0 * d2 - a2 * d0, a1 * d0 - a0 * d1
    mass, i0, i1, i2, i3, i4, i5, i6, i7, i8 = side_a
    w0, w1, w2 = i0 * m0 + i1 * m1 + i2 * m2, i3 * m0 + i4 * m1 + i5 * m2, i6 * m0 + i7 * m1 + i8 * m2
    square = d0 * d0 + d1 * d1 + d2 * d2
    diagonal = mass * square + m0 * w0 + m1 * w1 + m2 * w2
    jacobian[0], jacobian[1], jacobian[2] = -d0, -d1, -d2
    jacobian[3], jacobian[4], jacobian[5] = m0, m1, m2
    response[0], response[1], response[2] = -mass * d0, -mass * d1, -mass * d2
    response[3], response[4], response[5] = w0, w1, w2
    m0, m1, m2 = b1 * d2 - b2 * d1, b2 * d0 - b0 * d2, b0 * d1 - b1 * d0
    mass, i0, i1, i2, i3, i4, i5, i6, i7, i8 = side_b
    w0, w1, w2 = i0 * m0 + i1 * m1 + i2 * m2, i3 * m0 + i4 * m1 + i5 * m2, i6 * m0 + i7 * m1 + i8 * m2
    jacobian[6], jacobian[7], jacobian[8] = d0, d1, d2
    jacobian[9], jacobian[10], jacobian[11] = m0, m1, m2
    response[6], response[7], response[8] = mass * d0, mass * d1, mass * d2
    response[9], response[10], response[11] = w0, w1, w2
    return diagonal + (mass * square + m0 * w0 + m1 * w1 + m2 * w2)


@subkernel
def _cross(first, second):
    a0, a1, a2 = first
    b0, b1, b2 = second
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


@subkernel
def _along(direction, vector):
    """Part of a vector along a direction."""
    d0, d1, d2 = direction
    return d0 * vector[0] + d1 * vector[1] + d2 * vector[2]


@subkernel
def _slip(free_velocity, a, b, arms, drift, normal):
    """Relative velocity at the contact in free motion: its three tangential parts, and its size along the normal."""
    va, vb = free_velocity[a], free_velocity[b]
    a0, a1, a2, b0, b1, b2 = arms
    n0, n1, n2 = normal
    u0 = drift[0] + vb[0] - va[0] + (vb[4] * b2 - vb[5] * b1) - (va[4] * a2 - va[5] * a1)
    u1 = drift[1] + vb[1] - va[1] + (vb[5] * b0 - vb[3] * b2) - (va[5] * a0 - va[3] * a2)
    u2 = drift[2] + vb[2] - va[2] + (vb[3] * b1 - vb[4] * b0) - (va[3] * a1 - va[4] * a0)
    along = n0 * u0 + n1 * u1 + n2 * u2
    return u0 - along * n0, u1 - along * n1, u2 - along * n2, abs(along)


@subkernel
def _first_tangent(slip, normal, threshold_speed):
    """Along the slip in free motion, so that box friction brakes it exactly; else fixed by the normal.

    Without slip: the branch-free basis of Duff et al. 2017, which is continuous in n but for n_z = 0.
    """
    u0, u1, u2, along = slip
    speed = math.sqrt(u0 * u0 + u1 * u1 + u2 * u2)
    # a slip that is only the rounding of a fast approach names no direction
    if speed > threshold_speed and speed > _RATIO_SLIP_ROUNDING * along:
        return u0 / speed, u1 / speed, u2 / speed
    n0, n1, n2 = normal
    sign = math.copysign(1.0, n2)
    factor = -1.0 / (sign + n2)
    return 1.0 + sign * n0 * n0 * factor, sign * n0 * n1 * factor, -sign * n0


@subkernel
def _set_bounds(rows, row, normal_row, friction, upper, impulse):
    """Bounds of a row, and the impulse that it starts from [N s]."""
    rows.lower[row] = 0.0
    rows.upper[row] = upper
    rows.normal_row[row] = normal_row
    rows.friction[row] = friction
    rows.impulse[row] = impulse


@subkernel
def _inside(impulse, bound):
    return min(bound, max(-bound, impulse))


@subkernel
def normal_speed(jacobian, row, velocity, a, b):
    """J v of one row [m/s]."""
    speed = 0.0
    for column in range(6):
        speed += jacobian[row, column] * velocity[a, column] + jacobian[row, 6 + column] * velocity[b, column]
    return speed


@subkernel
def size_that_moves(size, can_be_pushed, a, b):
    """Size of the smaller of those of two bodies that can be pushed [m]."""
    if not can_be_pushed[a]:
        return size[b]
    if not can_be_pushed[b]:
        return size[a]
    return min(size[a], size[b])


@subkernel
def _recovery_speed(overlap, size, h):
    """Speed at which an overlap is taken out [m/s]."""
    surplus = overlap - _RATIO_LEFT * size if overlap > RATIO_TOUCHING * size else 0.0
    return min(_FACTOR_RECOVERY * surplus, _RATIO_RECOVERY_MOST * size) / h


@subkernel
def _bounce_speed(speed_before, speed_free, gap, restitution, gravity_speed, h):
    """Speed of separation after a bounce [m/s], see the head of this file; 0 where there is none."""
    acceleration = (speed_free - speed_before) / h
    impact_squared = speed_before * speed_before - 2.0 * acceleration * gap
    if restitution == 0.0 or speed_before >= 0.0 or impact_squared <= (FACTOR_BOUNCE * gravity_speed) ** 2:
        return 0.0
    return restitution * math.sqrt(impact_squared)


@kernel(inline=True)
def ask_for_velocities(islands, island, rows, contacts, contact_rows):
    """Turn the rows of an island from the question of poses to that of velocities, where the answers differ.

    They differ where an overlap is being taken out, and where bodies bounce: where an approaching contact really
    pushes (others may have stopped the body before).

    Returns
    -------
    int
        SAME where the answers do not differ; else the sum of BOUNCES, where ``impacts`` come first, and RECOVERS.
    """
    differs = bounces = recovers = False
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block >= contacts.count[0]:
            continue
        row = rows.block_row[block]
        pushes = rows.impulse[row] > 0.0
        if pushes and contact_rows.bounce_speed[block] > 0.0:
            differs = bounces = True
        bias = contact_rows.velocity_bias[block]
        if bias != rows.bias[row]:
            recovers = recovers or rows.bias[row] < 0.0
            rows.bias[row] = bias
            differs = differs or pushes
    if not differs:
        return SAME
    return (BOUNCES if bounces else 0) + (RECOVERS if recovers else 0)


@subkernel
def move_rows_along(islands, island, rows, contacts, state, motion, h, keeps_impulses):
    """Measure the rows of an island from where its bodies will be, for the question of velocities.

    Poses move by h times the displacing velocities, contact points with them. Impulses that are added now act
    at one common point of the new poses, so they keep the angular momentum to rounding; from the old arms a bounce
    would miss it by h u x impulse. The free velocity is taken anew, so that the present impulses still give
    the present velocity: v_free <- v - M^-1 J' r. Contacts of fast bodies have the arms of the moment when they meet.

    Where overlaps are taken out and nothing bounces, the present impulses are not to stay: the free velocity is kept,
    or the part of them that moves bodies apart would leave them a spin, and the velocity is taken anew.

    Parameters
    ----------
    islands, island, contacts, state
        Read; ``state.velocity`` is v', the poses are still the old ones.
        Written: the velocity of the island's bodies, unless ``keeps_impulses``.
    rows : RowArrays
        Written: jacobian, response and diagonal of the island's blocks; body_mass.
    motion : MotionArrays
        Read: displacing_velocity, inverse_inertia. Written: free_velocity of the island's bodies, where
        ``keeps_impulses``.
    h : float
        [s].
    keeps_impulses : bool
        Whether the present impulses are to stay, nearly.
    """
    rows, contacts, state, motion = borrowed(rows), borrowed(contacts), borrowed(state), borrowed(motion)
    free_velocity, velocity, displacing = motion.free_velocity, state.velocity, motion.displacing_velocity
    inverse_mass, inverse_inertia = motion.inverse_mass, motion.inverse_inertia
    jacobian, response, diagonal = rows.jacobian, rows.response, rows.diagonal
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block >= contacts.count[0] or _is_parted(contacts.drift[block]):
            continue
        a, b = rows.body_a[block], rows.body_b[block]
        drift = contacts.drift[block]
        if keeps_impulses:
            arms = _moved_arms(contacts.position, drift, block, state.position, displacing, a, b, h)
        else:
            # These push for many substeps, so a small torque of theirs would add up.
            arms = _carried_arms(
                contacts.position, drift, block, state.position, displacing, motion.can_be_pushed, a, b, h
            )
        side_a, side_b = _side(inverse_mass, inverse_inertia, a), _side(inverse_mass, inverse_inertia, b)
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            direction = jacobian[row, 6], jacobian[row, 7], jacobian[row, 8]
            diagonal[row] = _fill_row(jacobian[row], response[row], direction, arms, side_a, side_b)
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for column in range(6):
            if keeps_impulses:
                free_velocity[body, column] = velocity[body, column]
            else:
                velocity[body, column] = free_velocity[body, column]
        if keeps_impulses:
            _fill_inertia(inverse_inertia[body], rows.body_mass[body])
    sign, changed = (-1.0, free_velocity) if keeps_impulses else (1.0, velocity)
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            for column in range(6):
                changed[a, column] += sign * rows.response[row, column] * rows.impulse[row]
                changed[b, column] += sign * rows.response[row, 6 + column] * rows.impulse[row]


@subkernel
def gains_energy(islands, island, rows, contacts, free_velocity, velocity):
    """Whether the answer has more kinetic energy than free motion, where contacts can but take some.

    A normal impulse acts where u_n = -gap / h <= 0, friction against u_t, so r . u <= 0 and with r = M (v - v_free)
    v' M v <= v_free' M v_free. What is driven may push energy in; then there is nothing to say.

    Returns
    -------
    bool
    """
    if is_driven(islands, island, rows, contacts, velocity):
        return False
    before = kinetic_energy(islands, island, rows, free_velocity)
    return kinetic_energy(islands, island, rows, velocity) > (1.0 + _RATIO_ENERGY_GAIN) * before


@subkernel
def is_driven(islands, island, rows, contacts, velocity):
    """Whether an island touches bodies that are moved by hand, or meshes that deform."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        if touches_driven(rows, contacts, velocity, islands.block_order[index]):
            return True
    return False


@subkernel
def touches_driven(rows, contacts, velocity, block):
    """Whether a side of a contact is moved by hand, or deforms."""
    if block < contacts.count[0]:
        for axis in range(3):
            if contacts.drift[block, axis] != 0.0:
                return True
    for body in (rows.body_a[block], rows.body_b[block]):
        if rows.body_mass[body, 0, 0] == 0.0:
            for column in range(6):
                if velocity[body, column] != 0.0:
                    return True
    return False


@subkernel
def kinetic_energy(islands, island, rows, velocity):
    """Of an island's bodies [J]."""
    energy = 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        mass = rows.body_mass[body]
        for i in range(6):
            for j in range(6):
                energy += 0.5 * velocity[body, i] * mass[i, j] * velocity[body, j]
    return energy


@subkernel
def forget_impulses(islands, island, rows, free_velocity, velocity):
    """Put an island back to where no impulse acts."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[row] = 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for column in range(6):
            velocity[body, column] = free_velocity[body, column]


@subkernel
def _moved_arms(point, drift, contact, position, velocity, a, b, h):
    """Arms from the moved centres of mass to the moved contact point: half way between where its bodies take it."""
    a0, a1, a2, b0, b1, b2 = _arms(point, drift, contact, position, a, b)
    va, vb = velocity[a], velocity[b]
    # what the surfaces do more than their centres of mass, in h
    p0, p1, p2 = h * (va[4] * a2 - va[5] * a1), h * (va[5] * a0 - va[3] * a2), h * (va[3] * a1 - va[4] * a0)
    q0, q1, q2 = h * (vb[4] * b2 - vb[5] * b1), h * (vb[5] * b0 - vb[3] * b2), h * (vb[3] * b1 - vb[4] * b0)
    # half of what b's surface does more than a's: from either surface to the middle
    c0 = 0.5 * (h * (vb[0] - va[0]) + q0 - p0)
    c1 = 0.5 * (h * (vb[1] - va[1]) + q1 - p1)
    c2 = 0.5 * (h * (vb[2] - va[2]) + q2 - p2)
    return a0 + p0 + c0, a1 + p1 + c1, a2 + p2 + c2, b0 + q0 - c0, b1 + q1 - c1, b2 + q2 - c2


@subkernel
def _carried_arms(point, drift, contact, position, velocity, can_be_pushed, a, b, h):
    """Arms from the moved centres of mass to the contact point, carried along without turning.

    Carried with the body that can be pushed, or half way between two of them: what touches of a ball stays below its
    centre however it spins. A point that turned with it would have the floor's push turn it, faster and faster.
    """
    a0, a1, a2, b0, b1, b2 = _arms(point, drift, contact, position, a, b)
    share = 0.5
    if not can_be_pushed[a]:
        share = 0.0
    elif not can_be_pushed[b]:
        share = 1.0
    va, vb = velocity[a], velocity[b]
    d0, d1, d2 = h * (vb[0] - va[0]), h * (vb[1] - va[1]), h * (vb[2] - va[2])
    kept = 1.0 - share
    return a0 + kept * d0, a1 + kept * d1, a2 + kept * d2, b0 - share * d0, b1 - share * d1, b2 - share * d2


@subkernel(inline=True)
def store_contact_impulses(rows, contacts):
    """Contact impulses as world vectors on body b, from which the next substep starts."""
    for contact in range(contacts.count[0]):
        row = rows.block_row[contact]
        for axis in range(3):
            total = 0.0
            for direction in range(_ROWS_PER_CONTACT):
                total += rows.impulse[row + direction] * rows.jacobian[row + direction, 6 + axis]
            contacts.impulse[contact, axis] = total
