"""Contacts -> rows: Jacobian, response, bias and bounds of a normal row and two friction rows each.

For a contact at the point p with normal n (from body a to body b) and a direction d in {n, t1, t2}

    J = [-d, -(p - x_a) x d,  d, (p - x_b) x d],      u = J v + bias.

Two biases a normal row, for the two questions that a step asks (``stepper``):

where do the bodies go (poses):      gap > 0: u_n + gap / h >= 0; they may close the gap, not more (speculative)
                                     gap < 0: u_n >= recovery speed, which takes an overlap out a bit a substep
how fast are they then (velocities): gap > 0: the same;   gap < 0: u_n >= 0, so recovery adds no kinetic energy;
                                     a bounce: u_n >= e w + |a_n| h / 2

w is the speed at which the surfaces meet in free flight, from the speed s at the substep's start and the relative
free acceleration a_n: w^2 = s^2 - 2 a_n gap. The state's velocity lies half a substep behind its pose (``motion``),
whence |a_n| h / 2: then a bounce of restitution e rises to e^2 of its height at any h.
"""

import math
from typing import NamedTuple

import numpy as np

from ..kernel import kernel

# An overlap below this share of the bodies' size is left alone: rounding and solver tolerances make such ones.
_RATIO_OVERLAP_LEFT = 1e-5
# Share of an overlap that is taken out in a substep, and the most of it as a share of the bodies' size.
_FACTOR_RECOVERY = 0.2
_RATIO_RECOVERY_MOST = 0.01
# Restitution acts above this multiple of the speed that gravity gives in a substep.
_FACTOR_BOUNCE = 2.0
# The first tangent follows the slip where that is above this multiple of the speed that gravity gives in a substep.
_FACTOR_SLIP = 1e-2

_ROWS_PER_CONTACT = 3


class ContactRowArrays(NamedTuple):
    """What the second question needs besides the rows.

    Attributes
    ----------
    velocity_bias : float64 [contact_capacity]
        Bias of the normal row where velocities are asked for and nothing bounces [m/s].
    bounce_speed : float64 [contact_capacity]
        Speed of separation after a bounce [m/s]; 0 where the contact does not bounce.
    """

    velocity_bias: np.ndarray
    bounce_speed: np.ndarray


def allocate_contact_rows(contact_capacity: int) -> ContactRowArrays:
    """Room for so many contacts."""
    return ContactRowArrays(velocity_bias=np.zeros(contact_capacity), bounce_speed=np.zeros(contact_capacity))


@kernel
def build_contact_rows(model, state, motion, contacts, gravity_norm, h, rows, contact_rows):
    """Fill ``rows`` from the contacts, block i from contact i; impulses start from the contacts' impulses.

    Parameters
    ----------
    model, state, motion, contacts
        Read.
    gravity_norm, h : float
        [m/s^2], [s].
    rows : RowArrays
        Written; has room for a block a contact.
    contact_rows : ContactRowArrays
        Written.
    """
    count = contacts.count[0]
    for contact in range(count):
        a, b = contacts.body_a[contact], contacts.body_b[contact]
        row = _ROWS_PER_CONTACT * contact
        rows.block_row[contact] = row
        rows.body_a[contact] = a
        rows.body_b[contact] = b
        n0, n1, n2 = contacts.normal[contact]
        _fill_row(state, motion, contacts, contact, a, b, n0, n1, n2, rows, row)
        t0, t1, t2 = _first_tangent(motion, rows, row, a, b, n0, n1, n2, contacts, contact, state, gravity_norm * h)
        _fill_row(state, motion, contacts, contact, a, b, t0, t1, t2, rows, row + 1)
        s0, s1, s2 = n1 * t2 - n2 * t1, n2 * t0 - n0 * t2, n0 * t1 - n1 * t0
        _fill_row(state, motion, contacts, contact, a, b, s0, s1, s2, rows, row + 2)
        _set_bounds(model, contacts, contact, a, b, rows, row)
        _set_biases(model, state, motion, contacts, contact, a, b, gravity_norm, h, rows, row, contact_rows)
    rows.block_row[count] = _ROWS_PER_CONTACT * count
    rows.count[0] = count
    rows.count[1] = _ROWS_PER_CONTACT * count


@kernel
def _fill_row(state, motion, contacts, contact, a, b, d0, d1, d2, rows, row):
    """Jacobian, response, diagonal and start impulse of one direction."""
    jacobian, response = rows.jacobian[row], rows.response[row]
    p = contacts.position[contact]
    _fill_side(state, motion, a, p, -d0, -d1, -d2, jacobian, response, 0)
    _fill_side(state, motion, b, p, d0, d1, d2, jacobian, response, 6)
    diagonal = 0.0
    for column in range(12):
        diagonal += jacobian[column] * response[column]
    rows.diagonal[row] = diagonal
    rows.bias[row] = 0.0
    impulse = contacts.impulse[contact]
    rows.impulse[row] = d0 * impulse[0] + d1 * impulse[1] + d2 * impulse[2]


@kernel
def _fill_side(state, motion, body, p, d0, d1, d2, jacobian, response, first):
    """The six columns of one body: [d, (p - x) x d] and M^-1 of them."""
    r0, r1, r2 = p[0] - state.position[body, 0], p[1] - state.position[body, 1], p[2] - state.position[body, 2]
    m0, m1, m2 = r1 * d2 - r2 * d1, r2 * d0 - r0 * d2, r0 * d1 - r1 * d0
    jacobian[first], jacobian[first + 1], jacobian[first + 2] = d0, d1, d2
    jacobian[first + 3], jacobian[first + 4], jacobian[first + 5] = m0, m1, m2
    inverse_mass = motion.inverse_mass[body]
    inverse = motion.inverse_inertia[body]
    response[first], response[first + 1], response[first + 2] = inverse_mass * d0, inverse_mass * d1, inverse_mass * d2
    response[first + 3] = inverse[0] * m0 + inverse[1] * m1 + inverse[2] * m2
    response[first + 4] = inverse[3] * m0 + inverse[4] * m1 + inverse[5] * m2
    response[first + 5] = inverse[6] * m0 + inverse[7] * m1 + inverse[8] * m2


@kernel
def _first_tangent(motion, rows, row, a, b, n0, n1, n2, contacts, contact, state, gravity_speed):
    """Along the slip in free motion, so that box friction brakes it exactly; else fixed by the normal.

    Without slip: the branch-free basis of Duff et al. 2017, which is continuous in n but for n_z = 0.
    """
    p = contacts.position[contact]
    va, vb = motion.free_velocity[a], motion.free_velocity[b]
    x, y, z = state.position[a], state.position[b], p
    ra0, ra1, ra2 = z[0] - x[0], z[1] - x[1], z[2] - x[2]
    rb0, rb1, rb2 = z[0] - y[0], z[1] - y[1], z[2] - y[2]
    u0 = vb[0] - va[0] + (vb[4] * rb2 - vb[5] * rb1) - (va[4] * ra2 - va[5] * ra1)
    u1 = vb[1] - va[1] + (vb[5] * rb0 - vb[3] * rb2) - (va[5] * ra0 - va[3] * ra2)
    u2 = vb[2] - va[2] + (vb[3] * rb1 - vb[4] * rb0) - (va[3] * ra1 - va[4] * ra0)
    along = n0 * u0 + n1 * u1 + n2 * u2
    u0, u1, u2 = u0 - along * n0, u1 - along * n1, u2 - along * n2
    slip = math.sqrt(u0 * u0 + u1 * u1 + u2 * u2)
    # the second condition keeps a slip that is only the rounding of a fast approach from naming a direction
    if slip > _FACTOR_SLIP * gravity_speed and slip > 1e-9 * abs(along):
        return u0 / slip, u1 / slip, u2 / slip
    sign = math.copysign(1.0, n2)
    factor = -1.0 / (sign + n2)
    return 1.0 + sign * n0 * n0 * factor, sign * n0 * n1 * factor, -sign * n0


@kernel
def _set_bounds(model, contacts, contact, a, b, rows, row):
    """Bounds and friction of the three rows; the start impulses are moved inside."""
    friction = model.friction[a] * model.friction[b]
    rows.lower[row], rows.upper[row] = 0.0, math.inf
    rows.normal_row[row] = -1
    rows.friction[row] = 0.0
    rows.impulse[row] = max(rows.impulse[row], 0.0)
    bound = friction * rows.impulse[row]
    for tangent in range(row + 1, row + _ROWS_PER_CONTACT):
        rows.lower[tangent], rows.upper[tangent] = 0.0, 0.0
        rows.normal_row[tangent] = row
        rows.friction[tangent] = friction
        rows.impulse[tangent] = min(bound, max(-bound, rows.impulse[tangent]))


@kernel
def _set_biases(model, state, motion, contacts, contact, a, b, gravity_norm, h, rows, row, contact_rows):
    """Biases of the normal row; see the head of this file."""
    gap = contacts.gap[contact]
    speed_before, speed_free = 0.0, 0.0
    for column in range(6):
        to_a, to_b = rows.jacobian[row, column], rows.jacobian[row, 6 + column]
        speed_before += to_a * state.velocity[a, column] + to_b * state.velocity[b, column]
        speed_free += to_a * motion.free_velocity[a, column] + to_b * motion.free_velocity[b, column]
    if gap > 0.0:
        rows.bias[row] = gap / h
        contact_rows.velocity_bias[contact] = gap / h
    else:
        rows.bias[row] = -_recovery_speed(model, motion, a, b, -gap, h)
        contact_rows.velocity_bias[contact] = 0.0
    contact_rows.bounce_speed[contact] = 0.0
    restitution = model.restitution[a] * model.restitution[b]
    if restitution > 0.0:
        lag = _common_lag(motion, a, b)
        acceleration = (speed_free - speed_before) / (lag + 0.5 * h)
        approach = -(speed_before + lag * acceleration)
        impact_squared = approach * approach - 2.0 * acceleration * max(gap, 0.0)
        if approach > 0.0 and impact_squared > (_FACTOR_BOUNCE * gravity_norm * h) ** 2:
            bounce = restitution * math.sqrt(impact_squared) - 0.5 * h * min(acceleration, 0.0)
            contact_rows.bounce_speed[contact] = bounce


@kernel
def _common_lag(motion, a, b):
    """Lag of those of two bodies that can be pushed [s]."""
    lag_a = motion.lag[a] if motion.can_be_pushed[a] else 0.0
    lag_b = motion.lag[b] if motion.can_be_pushed[b] else 0.0
    return max(lag_a, lag_b)


@kernel
def _recovery_speed(model, motion, a, b, overlap, h):
    """Speed at which an overlap is taken out [m/s]."""
    size = math.inf
    if motion.can_be_pushed[a]:
        size = model.size[a]
    if motion.can_be_pushed[b]:
        size = min(size, model.size[b])
    surplus = overlap - _RATIO_OVERLAP_LEFT * size
    return min(_FACTOR_RECOVERY * max(surplus, 0.0), _RATIO_RECOVERY_MOST * size) / h


@kernel
def ask_for_velocities(islands, island, rows, contacts, contact_rows, motion):
    """Turn the rows of an island from the question of poses to that of velocities, where the answers differ.

    They differ where an overlap is being taken out, and where bodies bounce: where an approaching contact really
    pushes (others may have stopped the body before). Also marks the bodies that rest.

    Returns
    -------
    bool
        Whether any bias changed.
    """
    differs = False
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block >= contacts.count[0]:
            continue
        row = rows.block_row[block]
        pushes = rows.impulse[row] > 0.0
        bias = contact_rows.velocity_bias[block]
        if pushes and contact_rows.bounce_speed[block] > 0.0:
            bias = -contact_rows.bounce_speed[block]
        elif pushes:
            motion.rests[rows.body_a[block]] = True
            motion.rests[rows.body_b[block]] = True
        if bias != rows.bias[row]:
            rows.bias[row] = bias
            differs = differs or pushes
    return differs


@kernel
def store_contact_impulses(rows, contacts):
    """Contact impulses as world vectors on body b, from which the next substep starts."""
    for contact in range(contacts.count[0]):
        row = rows.block_row[contact]
        for axis in range(3):
            total = 0.0
            for direction in range(_ROWS_PER_CONTACT):
                total += rows.impulse[row + direction] * rows.jacobian[row + direction, 6 + axis]
            contacts.impulse[contact, axis] = total
