"""Where contacts act once bodies have moved: arms from the moved centres of mass to where the surfaces touch.

For the velocity solve (``velocity_rows``): bounces act where the surfaces meet; what has taken overlaps out, where it
is carried to. Of contacts that were made at a time of impact the arms are those of that moment already.
"""

import math

from ..collision.data.workspace import SPHERE, has_axis
from ..compiled.kernel import subkernel
from ..geometry.rotation_kernels import from_rotation_vector, multiply, rotate
from .contact_rows import arms_of

# How steeply the share of two bodies that carry a contact point along falls with their sizes.
_POWER_OF_SIZE = 4


@subkernel
def has_toi_offset(contacts, contact):
    """Whether a contact was made at a later time of impact: its arms are those of that moment."""
    offset = contacts.toi_offset[contact]
    return offset[0] != 0.0 or offset[1] != 0.0 or offset[2] != 0.0


@subkernel
def _are_balls(contacts, contact, model):
    kind = model.shapes.kind
    return kind[contacts.shape_a[contact]] == SPHERE and kind[contacts.shape_b[contact]] == SPHERE


@subkernel
def _carrier_share(contacts, contact, model, a, b):
    """Share of the two bodies that carry a contact point along which b has; the rest is a's.

    What touches of a ball stays where its centre goes. Of two other shapes the one with the smaller surface carries the
    point: a box that slides over a floor takes its corners along, and over a peg the peg keeps the point. Of two equal
    ones that slide over each other the edge of either bounds where they touch, so its middle goes half of the way.
    """
    is_ball_a = model.shapes.kind[contacts.shape_a[contact]] == SPHERE
    is_ball_b = model.shapes.kind[contacts.shape_b[contact]] == SPHERE
    if is_ball_a != is_ball_b:
        return 1.0 if is_ball_b else 0.0
    # a steep power: of a surface that is a few times as large nothing counts
    ratio = (model.size[b] / model.size[a]) ** _POWER_OF_SIZE
    return 1.0 / (1.0 + ratio)


@subkernel
def _turned_arm(shape, model, orientation, x, y, z, t0, t1, t2):
    """The arm (x, y, z) of a shape's point after its body's turn by the vector (t0, t1, t2) [rad].

    A point of a box or hull is one of its material. What touches of a round shape stays on the same side of its centre,
    or of its axis, while that turns; of a ball below its centre however it spins.
    """
    kind = model.shapes.kind[shape]
    q0, q1, q2, q3 = orientation
    c0, c1, c2 = model.shapes.position[shape]
    c0, c1, c2 = rotate(q0, q1, q2, q3, c0, c1, c2)
    w, p, q, r = from_rotation_vector(t0, t1, t2)
    x, y, z = x - c0, y - c1, z - c2
    c0, c1, c2 = rotate(w, p, q, r, c0, c1, c2)
    if kind != SPHERE:
        if has_axis(kind):
            s0, s1, s2, s3 = model.shapes.orientation[shape]
            s0, s1, s2, s3 = multiply(q0, q1, q2, q3, s0, s1, s2, s3)
            a0, a1, a2 = rotate(s0, s1, s2, s3, 0.0, 0.0, 1.0)
            about = t0 * a0 + t1 * a1 + t2 * a2
            w, p, q, r = from_rotation_vector(t0 - about * a0, t1 - about * a1, t2 - about * a2)
        x, y, z = rotate(w, p, q, r, x, y, z)
    return c0 + x, c1 + y, c2 + z


@subkernel
def arms_of_bounce(contacts, contact, model, state, motion, rows, a, b, h):
    """Arms where a contact's surfaces meet; two balls' directions are turned to where that is."""
    if _are_balls(contacts, contact, model):
        _aim_at_centres(contacts, contact, model, state, motion, rows, a, b, h)
    row = rows.block_row[contact]
    normal = rows.jacobian[row, 6], rows.jacobian[row, 7], rows.jacobian[row, 8]
    return meeting_arms(contacts, contact, normal, model, state, motion, a, b, h)


@subkernel
def _aim_at_centres(contacts, contact, model, state, motion, rows, a, b, h):
    """Turn a contact's directions to where two balls' centres will lie, so that no push along the normal turns them.

    By the smallest turn from one normal to the other: v + c x v + c x (c x v) / (1 + n . m) with c = n x m.
    """
    d0, d1, d2 = 0.0, 0.0, 0.0
    for side in range(2):
        body = b if side == 1 else a
        shape = contacts.shape_b[contact] if side == 1 else contacts.shape_a[contact]
        sign, own = 2.0 * side - 1.0, motion.position_velocity[body]
        q0, q1, q2, q3 = state.orientation[body]
        c0, c1, c2 = model.shapes.position[shape]
        c0, c1, c2 = rotate(q0, q1, q2, q3, c0, c1, c2)
        w, p, q, r = from_rotation_vector(h * own[3], h * own[4], h * own[5])
        c0, c1, c2 = rotate(w, p, q, r, c0, c1, c2)
        d0 += sign * (c0 + state.position[body, 0] + h * own[0])
        d1 += sign * (c1 + state.position[body, 1] + h * own[1])
        d2 += sign * (c2 + state.position[body, 2] + h * own[2])
    row, length = rows.block_row[contact], math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    n0, n1, n2 = rows.jacobian[row, 6], rows.jacobian[row, 7], rows.jacobian[row, 8]
    along = n0 * d0 + n1 * d1 + n2 * d2
    if not along > 0.0:
        return
    d0, d1, d2, along = d0 / length, d1 / length, d2 / length, along / length
    c0, c1, c2 = n1 * d2 - n2 * d1, n2 * d0 - n0 * d2, n0 * d1 - n1 * d0
    for direction in range(row, row + 3):
        x, y, z = rows.jacobian[direction, 6], rows.jacobian[direction, 7], rows.jacobian[direction, 8]
        p, q, r = c1 * z - c2 * y, c2 * x - c0 * z, c0 * y - c1 * x
        rows.jacobian[direction, 6] = x + p + (c1 * r - c2 * q) / (1.0 + along)
        rows.jacobian[direction, 7] = y + q + (c2 * p - c0 * r) / (1.0 + along)
        rows.jacobian[direction, 8] = z + r + (c0 * q - c1 * p) / (1.0 + along)


@subkernel
def meeting_arms(contacts, contact, normal, model, state, motion, a, b, h):
    """Arms from the moved centres of mass to where the moved surfaces touch; of two balls on the line of their centres.

    ``normal`` is the one there.
    """
    a0, a1, a2, b0, b1, b2 = arms_of(contacts, contact, model.shapes.kind, state.position, motion.can_be_pushed, a, b)
    va, vb = motion.position_velocity[a], motion.position_velocity[b]
    shape_a, shape_b = contacts.shape_a[contact], contacts.shape_b[contact]
    a0, a1, a2 = _turned_arm(shape_a, model, state.orientation[a], a0, a1, a2, h * va[3], h * va[4], h * va[5])
    b0, b1, b2 = _turned_arm(shape_b, model, state.orientation[b], b0, b1, b2, h * vb[3], h * vb[4], h * vb[5])
    if _are_balls(contacts, contact, model):
        half = 0.5 * max(contacts.gap[contact], 0.0)
        of_a, of_b = model.shapes.parameters[shape_a, 0] + half, model.shapes.parameters[shape_b, 0] + half
        n0, n1, n2 = contacts.normal[contact]
        n0, n1, n2 = normal[0] - n0, normal[1] - n1, normal[2] - n2
        a0, a1, a2 = a0 + of_a * n0, a1 + of_a * n1, a2 + of_a * n2
        b0, b1, b2 = b0 - of_b * n0, b1 - of_b * n1, b2 - of_b * n2
    # from a's point to b's
    d0 = state.position[b, 0] - state.position[a, 0] + h * (vb[0] - va[0]) + b0 - a0
    d1 = state.position[b, 1] - state.position[a, 1] + h * (vb[1] - va[1]) + b1 - a1
    d2 = state.position[b, 2] - state.position[a, 2] + h * (vb[2] - va[2]) + b2 - a2
    share = 0.5 if _are_balls(contacts, contact, model) else _carrier_share(contacts, contact, model, a, b)
    rest = 1.0 - share
    return a0 + share * d0, a1 + share * d1, a2 + share * d2, b0 - rest * d0, b1 - rest * d1, b2 - rest * d2


@subkernel
def carried_arms(contacts, contact, model, state, motion, a, b, h):
    """Arms from the moved centres of mass to the contact point, carried along without turning.

    Carried with the body that can be pushed, or as ``_carrier_share`` says with two of them: what touches of a ball
    stays below its centre however it spins. A point that turned with it would have the floor's push turn it, faster and
    faster.
    """
    a0, a1, a2, b0, b1, b2 = arms_of(contacts, contact, model.shapes.kind, state.position, motion.can_be_pushed, a, b)
    if _are_balls(contacts, contact, model):
        return a0, a1, a2, b0, b1, b2
    share = _carrier_share(contacts, contact, model, a, b)
    if not motion.can_be_pushed[a]:
        share = 1.0
    elif not motion.can_be_pushed[b]:
        share = 0.0
    va, vb = motion.position_velocity[a], motion.position_velocity[b]
    d0 = state.position[b, 0] - state.position[a, 0] + h * (vb[0] - va[0]) + b0 - a0
    d1 = state.position[b, 1] - state.position[a, 1] + h * (vb[1] - va[1]) + b1 - a1
    d2 = state.position[b, 2] - state.position[a, 2] + h * (vb[2] - va[2]) + b2 - a2
    rest = 1.0 - share
    return a0 + share * d0, a1 + share * d1, a2 + share * d2, b0 - rest * d0, b1 - rest * d1, b2 - rest * d2
