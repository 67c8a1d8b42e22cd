"""Contacts -> rows: Jacobian, response, bias and bounds of a normal row and two friction rows each.

For a contact at the point p with normal n (from body a to body b) and a direction d in {n, t1, t2}

    J = [-d, -(p - x_a) x d,  d, (p - x_b) x d],      u = J v + bias.

If a mesh deforms, its surface moves by itself: d . surface_velocity is part of every bias (omitted below); of a body
whose surface does not drag, of the normal row's alone.

Two biases a normal row, for the two solves of a substep (``dynamics.frame.step``):

positions (where do the bodies go?):  a gap: u_n + gap / h >= 0; they may close the gap, not more (speculative)
                                      touching: u_n >= 0
                                      an overlap: u_n >= recovery speed, which takes it out a bit a substep; but what
                                      the substep itself would lead into (unrelaxed_gap) in full
velocities (how fast are they then?): the same, but an overlap: u_n >= 0, so recovery adds no kinetic energy;
                                      a bounce: u_n >= e w

w is the speed at which the surfaces meet in free flight, from the speed s at the substep's start and the relative
free acceleration a_n: w^2 = s^2 - 2 a_n gap (``bounce_speed``; of what turns meanwhile it is measured again where the
surfaces meet). The position solve has led the surfaces to each other, so the bounce
starts there, with its speed at the substep's end: one of restitution e rises to e^2 of its height at any h.
"""

import math
from typing import NamedTuple

import numpy as np

from ..collision.data.workspace import SPHERE
from ..compiled.kernel import borrowed, kernel, subkernel
from ..geometry.vectors import cross
from .matter import pair_friction, pair_restitution

# A gap or an overlap below this share of the bodies' size is one of bodies that touch: rounding and solver tolerances
# make such ones. Were the four gaps under a face closed to the last digit, they could not all bear together (a rigid
# face cannot be twisted), and a whole step's force would go from one to another because of a nanometre.
RATIO_TOUCHING = 1e-5
# Restitution acts above this multiple of the speed that gravity gives in a substep.
FACTOR_BOUNCE = 2.0
# The first tangent follows the slip where that is above this multiple of the speed that gravity gives in a substep.
_FACTOR_SLIP = 1e-2
# ... and above this share of the approach, of which a smaller slip may be the rounding.
_RATIO_SLIP_ROUNDING = 1e-9
# Surfaces slide only above this share of the bodies' size a substep, too: without gravity rounding of a spin does not.
_RATIO_SLIP_SIZE = 1e-9

ROWS_PER_CONTACT = 3


class Recovery(NamedTuple):
    """How overlaps are taken out by the rows of the position solve.

    Attributes
    ----------
    share : float
        Of an overlap, in a substep.
    most, left : float
        Taken out in a substep at most, and left in the end, as shares of the bodies' size.
    """

    share: float
    most: float
    left: float


class ContactRowArrays(NamedTuple):
    """What the velocity solve needs besides the rows.

    Attributes
    ----------
    velocity_bias : float64 [contact_capacity]
        Bias of the normal row in the velocity solve where nothing bounces [m/s].
    surface_speed : float64 [contact_capacity]
        Part of that bias which comes from a surface that moves by itself, or along a bend (``bend_of_turning``) [m/s].
    restitution : float64 [contact_capacity]
        Of the pair.
    bounce_speed : float64 [contact_capacity]
        Speed of separation after a bounce [m/s]; 0 where the contact does not bounce.
    is_open : bool [block_capacity]
        Whether the position solve leaves the contact's surfaces apart; written by ``set_velocity_bias``.
    pushes : bool [block_capacity]
        Whether the block pushed in the position solve; written by ``restitution``.
    block_order : int64 [block_capacity]
        Workspace of ``restitution``: an island's blocks, which need not all be contacts.
    joint_impulse : float64 [joint_row_count]
        Impulses that the rows behind those of contacts have had in impacts [N s].
    """

    velocity_bias: np.ndarray
    surface_speed: np.ndarray
    restitution: np.ndarray
    bounce_speed: np.ndarray
    is_open: np.ndarray
    pushes: np.ndarray
    block_order: np.ndarray
    joint_impulse: np.ndarray


def allocate_contact_rows(contact_capacity: int, block_capacity: int, joint_rows: int = 0) -> ContactRowArrays:
    """Room for this many contacts, among this many blocks, and for the rows of joints."""
    return ContactRowArrays(
        velocity_bias=np.zeros(contact_capacity),
        surface_speed=np.zeros(contact_capacity),
        restitution=np.zeros(contact_capacity),
        bounce_speed=np.zeros(contact_capacity),
        is_open=np.zeros(block_capacity, np.bool_),
        pushes=np.zeros(block_capacity, np.bool_),
        block_order=np.zeros(block_capacity, np.int64),
        joint_impulse=np.zeros(joint_rows),
    )


@kernel(inline=True)
def build_contact_rows(model, state, motion, contacts, gravity_norm, h, recovery, rows, contact_rows):
    """Fill ``rows`` from the contacts, block i from contact i; impulses start from the contacts' impulses.

    Parameters
    ----------
    model, state, motion, contacts
        Read.
    gravity_norm, h : float
        [m/s^2], [s].
    recovery : Recovery
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
    has_rules, slides_otherwise = model.matter.rules.shape[0] > 0, model.matter.sliding_friction.size > 0
    _fill_body_masses(inverse_mass, inverse_inertia, can_be_pushed, rows.body_mass)
    for contact in range(count):
        a, b = contacts.body_a[contact], contacts.body_b[contact]
        row = ROWS_PER_CONTACT * contact
        rows.block_row[contact] = row
        rows.body_a[contact] = a
        rows.body_b[contact] = b
        normal = contacts.normal[contact, 0], contacts.normal[contact, 1], contacts.normal[contact, 2]
        # only the surface of a body that cannot be pushed moves by itself
        drags = (can_be_pushed[a] or model.surface_drags[a]) and (can_be_pushed[b] or model.surface_drags[b])
        surface_velocity = _surface_velocity(contacts, contact, normal, drags)
        arms = arms_of(contacts, contact, model.shapes.kind, position, can_be_pushed, a, b)
        slip = _slip(free_velocity, a, b, arms, surface_velocity, normal)
        tangent = _first_tangent(slip, normal, _FACTOR_SLIP * gravity_speed)
        other_tangent = cross(normal, tangent)
        side_a, side_b = side_of(inverse_mass, inverse_inertia, a), side_of(inverse_mass, inverse_inertia, b)
        diagonal[row] = fill_row(jacobian[row], response[row], normal, arms, side_a, side_b)
        diagonal[row + 1] = fill_row(jacobian[row + 1], response[row + 1], tangent, arms, side_a, side_b)
        diagonal[row + 2] = fill_row(jacobian[row + 2], response[row + 2], other_tangent, arms, side_a, side_b)
        impulse = contacts.impulse[contact]
        pressing = max(_along(normal, impulse), 0.0)
        friction = model.friction[a] * model.friction[b]
        if has_rules or slides_otherwise:
            slow = (
                _FACTOR_SLIP * gravity_speed + _RATIO_SLIP_SIZE * size_that_moves(model.size, can_be_pushed, a, b) / h
            )
            slides = slides_otherwise and _slides(velocity, a, b, arms, surface_velocity, normal, slow)
            friction = pair_friction(model, a, b, slides)
        _set_bounds(rows, row, np.int64(-1), 0.0, math.inf, pressing)
        _set_bounds(rows, row + 1, row, friction, 0.0, _inside(_along(tangent, impulse), friction * pressing))
        _set_bounds(rows, row + 2, row, friction, 0.0, _inside(_along(other_tangent, impulse), friction * pressing))
        along = _along(normal, surface_velocity)
        bias[row + 1], bias[row + 2] = _along(tangent, surface_velocity), _along(other_tangent, surface_velocity)

        bend = 0.0
        if turns(velocity, can_be_pushed, a) or turns(velocity, can_be_pushed, b):
            at = contacts.position[contact]
            bend = bend_of_turning(velocity, free_velocity, can_be_pushed, position, a, b, at, normal, h)

        gap = contacts.gap[contact]
        size = size_that_moves(model.size, can_be_pushed, a, b)
        closing = bend + (gap / h if gap > RATIO_TOUCHING * size else 0.0)
        unrelaxed = contacts.unrelaxed_gap[contact]
        bias[row] = along + closing - unrelaxed / h - _recovery_speed(-gap - unrelaxed, size, h, recovery)
        contact_rows.velocity_bias[contact] = along + closing
        contact_rows.surface_speed[contact] = along + bend
        restitution = model.restitution[a] * model.restitution[b]
        if has_rules:
            restitution = pair_restitution(model, a, b)
        contact_rows.restitution[contact] = restitution
        contact_rows.bounce_speed[contact] = 0.0
        if restitution > 0.0:
            contact_rows.bounce_speed[contact] = bounce_speed(
                along + normal_speed(jacobian, row, velocity, a, b),
                along + normal_speed(jacobian, row, free_velocity, a, b),
                max(gap, 0.0),
                restitution,
                gravity_speed,
                h,
            )
    rows.block_row[count] = ROWS_PER_CONTACT * count
    rows.count[0] = count
    rows.count[1] = ROWS_PER_CONTACT * count


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
        fill_inertia(inverse_inertia[body], mass)


@subkernel
def fill_inertia(inverse, mass):
    """Inertia of a body, from its inverse, into its mass matrix.

    Parameters
    ----------
    inverse : float64 [9]
        Row by row [1/(kg m^2)] (read).
    mass : float64 [6, 6]
        Its lower right block is written [kg m^2].
    """
    a, b, c, _, d, e, _, _, f = inverse
    # the adjugate of a symmetric matrix over its determinant
    c00, c01, c02 = d * f - e * e, c * e - b * f, b * e - c * d
    factor = 1.0 / (a * c00 + b * c01 + c * c02)
    mass[3, 3], mass[4, 4], mass[5, 5] = factor * c00, factor * (a * f - c * c), factor * (a * d - b * b)
    mass[3, 4] = mass[4, 3] = factor * c01
    mass[3, 5] = mass[5, 3] = factor * c02
    mass[4, 5] = mass[5, 4] = factor * (b * c - a * e)


@subkernel
def arms_of(contacts, contact, shape_kind, position, can_be_pushed, a, b):
    """From the two centres of mass to the contact point; where bodies are still to meet, to either one's own.

    A ball that will meet what stands is pushed at its own point: friction that acts in the middle of the gap would turn
    it by more than its radius tells. Of two bodies that both give way it is the middle all the same: from one common
    point no impulse changes their angular momentum.

    Parameters
    ----------
    contacts, contact
        Read.
    shape_kind : int64 [shape_count]
        (read)
    position : float64 [body_count, 3]
        [m] (read).
    can_be_pushed : bool [body_count]
        Read.
    a, b : int64
        Bodies of the contact.

    Returns
    -------
    tuple of six float
        [m].
    """
    x, y, z = contacts.position[contact]
    offset = contacts.toi_offset[contact]
    p, q, r = 0.5 * offset[0], 0.5 * offset[1], 0.5 * offset[2]
    pushed = contacts.shape_b[contact] if can_be_pushed[b] else contacts.shape_a[contact]
    is_ball_pushed = shape_kind[pushed] == SPHERE
    is_apart = is_ball_pushed and contacts.gap[contact] > 0.0 and not (can_be_pushed[a] and can_be_pushed[b])
    if is_apart and p == 0.0 and q == 0.0 and r == 0.0:
        n0, n1, n2 = contacts.normal[contact]
        half = 0.5 * contacts.gap[contact]
        p, q, r = half * n0, half * n1, half * n2
    return (
        x - p - position[a, 0],
        y - q - position[a, 1],
        z - r - position[a, 2],
        x + p - position[b, 0],
        y + q - position[b, 1],
        z + r - position[b, 2],
    )


@subkernel
def side_of(inverse_mass, inverse_inertia, body):
    """What says how a body answers an impulse: 1/m, and its inverse inertia in world axes, row by row.

    Parameters
    ----------
    inverse_mass, inverse_inertia
        Of ``MotionArrays`` (read).
    body : int64

    Returns
    -------
    tuple of ten float
        [1/kg], [1/(kg m^2)].
    """
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
def fill_row(jacobian, response, direction, arms, side_a, side_b):
    """One direction's row of the Jacobian and of the response; returns its entry of the diagonal of W.

    Parameters
    ----------
    jacobian, response : float64 [12]
        Written.
    direction : tuple of three float
    arms : tuple of six float
        Of ``arms_of`` [m].
    side_a, side_b : tuple of ten float
        Of ``side_of``.

    Returns
    -------
    float
        [1/kg].
    """
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
def _along(direction, vector):
    """Part of a vector along a direction."""
    d0, d1, d2 = direction
    return d0 * vector[0] + d1 * vector[1] + d2 * vector[2]


@subkernel
def _surface_velocity(contacts, contact, normal, drags):
    """Velocity of b's surface less a's, beyond the bodies' own motion; its normal part alone unless it ``drags``."""
    x, y, z = contacts.surface_velocity[contact]
    if drags:
        return x, y, z
    along = normal[0] * x + normal[1] * y + normal[2] * z
    return along * normal[0], along * normal[1], along * normal[2]


@subkernel(inline=True)
def turns(velocity, can_be_pushed, body):
    """Whether a body is driven and turns."""
    own = velocity[body]
    return not can_be_pushed[body] and (own[3] != 0.0 or own[4] != 0.0 or own[5] != 0.0)


@subkernel
def bend_of_turning(velocity, free_velocity, can_be_pushed, position, a, b, at, normal, h):
    """How fast a surface that turns comes nearer by the bend of its path, in the mean of a substep [m/s].

    A point r away from the axis of a driven body that turns by w goes inwards by w^2 r h / 2 a second more than its
    tangent tells. So does what goes along with it, whose middle moves as the driven body does there. What stays behind
    by the share s of that, round an axis that is the wall's own, needs (1 - s)^2 of it: none if it turns in its place.
    A surface that bends away from what lies on it, as a roller's, lets nothing come nearer: it is round, or an edge.

    Parameters
    ----------
    velocity, free_velocity : float64 [body_count, 6]
        Of driven bodies; of all at the substep's end without contacts (read).
    can_be_pushed, position, a, b
        Read.
    at, normal : float64 [3]
        Of the contact (read).
    h : float
        [s].

    Returns
    -------
    float
        Part of d gap / dt; not above 0.
    """
    total = 0.0
    for body, other, sign in ((a, b, -0.5), (b, a, 0.5)):
        if not turns(velocity, can_be_pushed, body):
            continue
        own, center, middle, moves = velocity[body], position[body], position[other], free_velocity[other]
        w0, w1, w2 = own[3], own[4], own[5]
        m0, m1, m2 = middle[0] - center[0], middle[1] - center[1], middle[2] - center[2]
        v0, v1, v2 = w1 * m2 - w2 * m1, w2 * m0 - w0 * m2, w0 * m1 - w1 * m0
        d0, d1, d2 = moves[0] - own[0] - v0, moves[1] - own[1] - v1, moves[2] - own[2] - v2
        apart = normal[0] * d0 + normal[1] * d1 + normal[2] * d2
        speed, behind = v0 * v0 + v1 * v1 + v2 * v2, d0 * d0 + d1 * d1 + d2 * d2 - apart * apart
        if not behind < speed:
            continue
        r0, r1, r2 = at[0] - center[0], at[1] - center[1], at[2] - center[2]
        v0, v1, v2 = w1 * r2 - w2 * r1, w2 * r0 - w0 * r2, w0 * r1 - w1 * r0
        inwards = normal[0] * (w1 * v2 - w2 * v1) + normal[1] * (w2 * v0 - w0 * v2) + normal[2] * (w0 * v1 - w1 * v0)
        total += min(0.0, sign * h * (1.0 - math.sqrt(max(behind, 0.0) / speed)) ** 2 * inwards)
    return total


@subkernel
def _slides(velocity, a, b, arms, surface_velocity, normal, slow):
    """Whether two surfaces slide at a contact, faster than ``slow`` [m/s] and than rounding of their approach tells."""
    u0, u1, u2, along = _slip(velocity, a, b, arms, surface_velocity, normal)
    return math.sqrt(u0 * u0 + u1 * u1 + u2 * u2) > max(slow, _RATIO_SLIP_ROUNDING * along)


@subkernel
def _slip(free_velocity, a, b, arms, surface_velocity, normal):
    """Relative velocity at the contact by velocities: its three tangential parts, and its size along the normal."""
    va, vb = free_velocity[a], free_velocity[b]
    a0, a1, a2, b0, b1, b2 = arms
    n0, n1, n2 = normal
    u0 = surface_velocity[0] + vb[0] - va[0] + (vb[4] * b2 - vb[5] * b1) - (va[4] * a2 - va[5] * a1)
    u1 = surface_velocity[1] + vb[1] - va[1] + (vb[5] * b0 - vb[3] * b2) - (va[5] * a0 - va[3] * a2)
    u2 = surface_velocity[2] + vb[2] - va[2] + (vb[3] * b1 - vb[4] * b0) - (va[3] * a1 - va[4] * a0)
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
    rows.compliance[row] = 0.0
    rows.impulse[row] = impulse


@subkernel
def _inside(impulse, bound):
    return min(bound, max(-bound, impulse))


@subkernel
def normal_speed(jacobian, row, velocity, a, b):
    """J v of one row [m/s].

    Parameters
    ----------
    jacobian : float64 [row_count, 12]
        Read.
    row : int64
    velocity : float64 [body_count, 6]
        Read.
    a, b : int64
        Bodies of the row.
    """
    speed = 0.0
    for column in range(6):
        speed += jacobian[row, column] * velocity[a, column] + jacobian[row, 6 + column] * velocity[b, column]
    return speed


@subkernel
def size_that_moves(size, can_be_pushed, a, b):
    """Size of the smaller of those of two bodies that can be pushed [m].

    Parameters
    ----------
    size : float64 [body_count]
        [m] (read).
    can_be_pushed : bool [body_count]
        Read.
    a, b : int64
        Bodies, of which one can be pushed.
    """
    if not can_be_pushed[a]:
        return size[b]
    if not can_be_pushed[b]:
        return size[a]
    return min(size[a], size[b])


@subkernel
def _recovery_speed(overlap, size, h, recovery):
    """Speed at which an overlap is taken out [m/s]."""
    surplus = overlap - recovery.left * size if overlap > RATIO_TOUCHING * size else 0.0
    return min(recovery.share * surplus, recovery.most * size) / h


@subkernel
def bounce_speed(speed_before, speed_free, gap, restitution, gravity_speed, h):
    """Speed of separation after a bounce [m/s], see the head of this file; 0 where there is none.

    Parameters
    ----------
    speed_before, speed_free : float
        Normal speed at the substep's start, and at its end without impulses [m/s].
    gap : float
        At the start, at least 0 [m].
    restitution : float
    gravity_speed : float
        That gravity gives in a substep [m/s].
    h : float
        [s].
    """
    acceleration = (speed_free - speed_before) / h
    impact_squared = speed_before * speed_before - 2.0 * acceleration * gap
    if restitution == 0.0 or speed_before >= 0.0 or impact_squared <= (FACTOR_BOUNCE * gravity_speed) ** 2:
        return 0.0
    return restitution * math.sqrt(impact_squared)


@subkernel(inline=True)
def store_contact_impulses(rows, contacts):
    """Contact impulses as world vectors on body b, from which the next substep starts.

    Parameters
    ----------
    rows : RowArrays
        Read.
    contacts : ContactArrays
        Written: impulse [N s].
    """
    for contact in range(contacts.count[0]):
        row = rows.block_row[contact]
        for axis in range(3):
            total = 0.0
            for direction in range(ROWS_PER_CONTACT):
                total += rows.impulse[row + direction] * rows.jacobian[row + direction, 6 + axis]
            contacts.impulse[contact, axis] = total
