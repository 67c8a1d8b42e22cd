"""Stage ``activate``: which waiting bodies wake in a substep (``waiting``; docs/decisions/47-activation.md).

- By a volume: before the substep, if the volume comes to hold the centre of mass within it.
- By touch or a hit: once the substep is solved. What wakes is dynamic from the substep's beginning: the substep is
  solved again with it, until nothing else wakes, and so it moves off as if it had never waited.
- By what is driven, which makes no contact with what is static: a waiting body that a driven one comes near is dynamic
  for a trial, without gravity, and the substep is solved again, whatever came of it.

With P_k what pushes a waiting body in substep k, and L the smaller one of P_{k-1} and P_{k-2}, a hit is |P_k - L|: what
rests on the body does not count, whatever its weight. One substep alone can be a hit itself, so L is not that of one.
"""

import math

import numpy as np

from ...collision.data.workspace import MESH
from ...compiled.kernel import entry, subkernel
from ...compiled.views import numbers_of, views_of
from ...constraints.contact_rows import normal_speed
from ...model.activation import IMPULSE, TOUCH, VOLUME
from ...model.joints.joint_arrays import WORLD
from ...model.state import DYNAMIC, STATIC
from ..motion.frame_impulses import impulse_of
from .joint_activation import change_joint, note_held, place_of, push_between
from .sleeping import are_near, is_driven
from .waiting import REFUSED, TRIED, UNTRIED

# When it is called: before the substep; after the broad phase; after the solves.
BEFORE, NEAR, AFTER = (np.int64(number) for number in range(3))

# Pushes below this share of what a body weighs in a substep are rounding.
_RATIO_TOUCH = 1e-9


@entry
def run_activate(arrays, moment):
    """Stage ``activate``.

    Parameters
    ----------
    arrays : StepArrays
        Written: waiting, the kinds of bodies.
    moment : int64
        BEFORE, NEAR or AFTER.

    Returns
    -------
    int64
        1 if bodies have become dynamic, or are no longer: AFTER, the substep is to be solved again.
    """
    members = views_of(arrays)
    if moment == BEFORE:
        note_held(members)
        return _wake_in_volumes(members)
    if moment == NEAR:
        return _try_near_driven(members)
    return _wake_pushed(members)


@subkernel
def _wake(members, body):
    waiting = members.waiting
    waiting.waits[body] = False
    waiting.trial[body] = UNTRIED
    waiting.count[0] -= 1
    waiting.woke_in[body] = members.record.substeps[0]
    members.state.kind[body] = DYNAMIC
    members.motion.memory.is_lost[body] = False
    members.sleep.time_at_rest[body] = 0.0


# Driven bodies


@subkernel
def _try_near_driven(members):
    """Let waiting bodies be dynamic that a driven body, or a surface that moves, may touch in this substep."""
    model, state, waiting, tree = members.model, members.state, members.waiting, members.collision.workspace.tree
    body_of, trigger, h = model.shapes.body, model.activation.trigger, numbers_of(members.settings.step).h
    found = np.int64(0)
    for one in range(body_of.size):
        mover = body_of[one]
        if not _is_mover(members, one, mover, h):
            continue
        for two in range(body_of.size):
            body = body_of[two]
            if (
                waiting.waits[body]
                and waiting.trial[body] == UNTRIED
                and (trigger[body] == TOUCH or trigger[body] == IMPULSE)
                and (model.collision_mask[body] & model.collision_mask[mover]) != 0
                and are_near(tree.bounds, tree.margin, one, two)
            ):
                waiting.trial[body] = TRIED
                state.kind[body] = DYNAMIC
                found = np.int64(1)
    return found


@subkernel
def _is_mover(members, shape, body, h):
    """Whether a shape that cannot be pushed moves in this substep."""
    model, state, workspace = members.model, members.state, members.collision.workspace
    if state.kind[body] == DYNAMIC:
        return False
    if is_driven(state.kind, state.velocity, state.position, model.size, h, body):
        return True
    if model.shapes.kind[shape] == MESH:
        return workspace.meshes.speed[model.shapes.hull[shape]] > 0.0
    return workspace.shape_parameters.surface_speed[shape] > 0.0


# Touch and hits


@subkernel
def _wake_pushed(members):
    """Wake what has been pushed enough, and end trials; returns 1 if there was any of either."""
    waiting, state, activation = members.waiting, members.state, members.model.activation
    waits, trial, given, is_touched = waiting.waits, waiting.trial, waiting.given, waiting.is_touched
    for body in range(waits.size):
        is_touched[body] = False
        for axis in range(3):
            given[body, axis] = 0.0
    _gather_pushes(members)
    changed = False
    for body in range(waits.size):
        if not waits[body]:
            continue
        wakes = activation.trigger[body] == TOUCH and is_touched[body]
        if activation.trigger[body] == IMPULSE:
            wakes = _hit(waiting, body) > activation.threshold[body]
        if wakes:
            _wake(members, body)
            changed = True
        elif trial[body] == TRIED:
            trial[body] = REFUSED
            state.kind[body] = STATIC
            changed = True
    for joint in range(waiting.joint_waits.size):
        if waiting.joint_waits[joint] and _joint_changes(members, joint):
            change_joint(members, joint)
            changed = True
    if changed:
        return np.int64(1)
    for body in range(waits.size):
        trial[body] = UNTRIED
        for axis in range(3):
            waiting.earlier_load[body, axis] = waiting.load[body, axis]
            waiting.load[body, axis] = given[body, axis]
    return np.int64(0)


@subkernel
def _joint_changes(members, joint):
    """Whether what a joint waits for has happened in this substep, but for a volume."""
    waiting, activation, joints = members.waiting, members.model.activation, members.model.joints
    trigger, threshold = activation.joint_trigger[joint], activation.joint_threshold[joint]
    a, b = joints.body_a[joint], joints.body_b[joint]
    if trigger != TOUCH and trigger != IMPULSE:
        return False
    if not activation.joint_until[joint]:
        least = _least_push(members, a, a) if b == WORLD else _least_push(members, a, b)
        return push_between(members, joint) > (least if trigger == TOUCH else threshold)
    for body in (a, b):
        if body == WORLD:
            continue
        if waiting.is_touched[body] if trigger == TOUCH else _hit(waiting, body) > threshold:
            return True
    return False


@subkernel
def _gather_pushes(members):
    """Add up what moving bodies have given waiting ones in this substep, and note who was touched."""
    waiting = members.waiting
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    for contact in range(contacts.count[0]):
        a, b = contacts.body_a[contact], contacts.body_b[contact]
        for body, other, sign in ((a, b, -1.0), (b, a, 1.0)):
            if not (waiting.waits[body] or waiting.is_held[body]) or not _counts(members, contact, body, other):
                continue
            p0, p1, p2 = impulse_of(members, contact)
            normal, given = contacts.normal[contact], waiting.given[body]
            share = sign * _share_of_hit(members, contact, other, other == a)
            given[0] += share * p0
            given[1] += share * p1
            given[2] += share * p2
            if p0 * normal[0] + p1 * normal[1] + p2 * normal[2] > _least_push(members, body, other):
                waiting.is_touched[body] = True


@subkernel
def _share_of_hit(members, contact, other, is_first):
    """The share of a contact's impulse that is its hit, where it bounces: the rest is weight after it.

    A body that meets the surface with the speed v, of restitution e, and that gravity would have at u by the end of the
    substep, is given m (u + e v), of which the hit is m (1 + e) v.
    """
    rows, contact_rows, motion = members.problem.rows, members.problem.contact_rows, members.motion
    bounce, restitution = contact_rows.bounce_speed[contact], contact_rows.restitution[contact]
    if bounce == 0.0 or not motion.can_be_pushed[other]:
        return 1.0
    row, first = rows.block_row[contact], 0 if is_first else 6
    speed = contact_rows.surface_speed[contact]
    speed += normal_speed(rows.jacobian, row, motion.start_velocity, rows.body_a[contact], rows.body_b[contact])
    for axis in range(3):
        fall = numbers_of(members.settings.step).h * members.settings.gravity[axis]
        speed += rows.jacobian[row, first + axis] * fall
    hit = bounce / restitution
    return min(1.0, (hit + bounce) / (bounce - speed)) if speed < 0.0 else 1.0


@subkernel
def _counts(members, contact, body, other):
    """Whether the other body moves, so that what it pushes is touched: what waits, also on trial, or stands does not.

    What joints hold until it is pushed is not touched by what is held so, too.
    """
    state, waiting = members.state, members.waiting
    if state.kind[other] == DYNAMIC:
        return not waiting.waits[other] and (waiting.waits[body] or not waiting.is_held[other])
    h = numbers_of(members.settings.step).h
    if is_driven(state.kind, state.velocity, state.position, members.model.size, h, other):
        return True
    return members.problem.contact_rows.surface_speed[contact] != 0.0


@subkernel
def _least_push(members, body, other):
    """What is more than rounding [N s]."""
    step, mass = numbers_of(members.settings.step), members.model.mass
    pusher = mass[other] if members.state.kind[other] == DYNAMIC else mass[body]
    return _RATIO_TOUCH * pusher * step.gravity_norm * step.h


@subkernel
def _hit(waiting, body):
    """By how much a waiting body was pushed harder than it was before; 0 in its first substep [N s]."""
    given, load, earlier = waiting.given[body], waiting.load[body], waiting.earlier_load[body]
    if math.isnan(load[0]):
        # on trial it has no load yet
        if waiting.trial[body] == TRIED:
            return math.sqrt(given[0] ** 2 + given[1] ** 2 + given[2] ** 2)
        return 0.0
    square, earlier_square, changed, changed_earlier = 0.0, 0.0, 0.0, 0.0
    for axis in range(3):
        square += load[axis] ** 2
        earlier_square += earlier[axis] ** 2
        changed += (given[axis] - load[axis]) ** 2
        changed_earlier += (given[axis] - earlier[axis]) ** 2
    return math.sqrt(changed_earlier if earlier_square < square else changed)


# Volumes


@subkernel
def _wake_in_volumes(members):
    """Wake the bodies whose centres of mass are in their volumes within this substep."""
    waiting, activation, step = members.waiting, members.model.activation, numbers_of(members.settings.step)
    first = members.record.substeps[0] / step.substeps
    last = (members.record.substeps[0] + 1) / step.substeps
    woken = np.int64(0)
    for body in range(waiting.waits.size):
        volume = activation.volume[body]
        if not (waiting.waits[body] and activation.trigger[body] == VOLUME):
            continue
        x, y, z = members.state.position[body]
        if _comes_to_hold(members, volume, (x, y, z), first, last):
            _wake(members, body)
            woken = np.int64(1)
    for joint in range(waiting.joint_waits.size):
        if waiting.joint_waits[joint] and activation.joint_trigger[joint] == VOLUME:
            place = place_of(members, joint)
            if _comes_to_hold(members, activation.joint_volume[joint], place, first, last):
                change_joint(members, joint)
                woken = np.int64(1)
    return woken


@subkernel
def _comes_to_hold(members, volume, point, first, last):
    """Whether a volume holds a point at the end of a part of a frame, or its surface passes over it on the way."""
    activation = members.model.activation
    is_there, q0, q1, q2 = _in_volume_frame(members.waiting, volume, point, last)
    if not is_there:
        return False
    was_there, p0, p1, p2 = _in_volume_frame(members.waiting, volume, point, first)
    if not was_there:
        # it has grown from nothing
        p0, p1, p2 = q0, q1, q2
    bounds = activation.bounds[volume]
    for axis, (one, other) in enumerate(((p0, q0), (p1, q1), (p2, q2))):
        if max(one, other) < bounds[0, axis] or min(one, other) > bounds[1, axis]:
            return False
    winding = 0.0
    for triangle in range(activation.triangle_start[volume], activation.triangle_start[volume + 1]):
        corners = activation.triangle[triangle]
        if _crosses(corners, p0, p1, p2, q0, q1, q2):
            return True
        winding += _solid_angle(corners, q0, q1, q2)
    return abs(winding) > 2.0 * math.pi


@subkernel
def _in_volume_frame(waiting, volume, point, share):
    """A point in a volume's frame at a share of the frame's time; and whether there is one, or it has no extent."""
    one, other = waiting.volume_from[volume], waiting.volume_to[volume]
    rest = 1.0 - share
    m00, m01, m02 = _mixed(one[0], other[0], rest, share)
    m10, m11, m12 = _mixed(one[1], other[1], rest, share)
    m20, m21, m22 = _mixed(one[2], other[2], rest, share)
    x = point[0] - (rest * one[0, 3] + share * other[0, 3])
    y = point[1] - (rest * one[1, 3] + share * other[1, 3])
    z = point[2] - (rest * one[2, 3] + share * other[2, 3])
    c00, c01, c02 = m11 * m22 - m12 * m21, m02 * m21 - m01 * m22, m01 * m12 - m02 * m11
    c10, c11, c12 = m12 * m20 - m10 * m22, m00 * m22 - m02 * m20, m02 * m10 - m00 * m12
    c20, c21, c22 = m10 * m21 - m11 * m20, m01 * m20 - m00 * m21, m00 * m11 - m01 * m10
    determinant = m00 * c00 + m01 * c10 + m02 * c20
    if determinant == 0.0:
        return False, 0.0, 0.0, 0.0
    q0 = (c00 * x + c01 * y + c02 * z) / determinant
    q1 = (c10 * x + c11 * y + c12 * z) / determinant
    q2 = (c20 * x + c21 * y + c22 * z) / determinant
    return True, q0, q1, q2


@subkernel
def _mixed(one, other, rest, share):
    return (
        rest * one[0] + share * other[0],
        rest * one[1] + share * other[1],
        rest * one[2] + share * other[2],
    )


@subkernel
def _crosses(corners, p0, p1, p2, q0, q1, q2):
    """Whether the way from p to q meets a triangle (Moeller and Trumbore 1997), its edges included."""
    d0, d1, d2 = q0 - p0, q1 - p1, q2 - p2
    a, b, c = corners[0], corners[1], corners[2]
    e0, e1, e2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    f0, f1, f2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    h0, h1, h2 = d1 * f2 - d2 * f1, d2 * f0 - d0 * f2, d0 * f1 - d1 * f0
    determinant = e0 * h0 + e1 * h1 + e2 * h2
    if determinant == 0.0:
        return False
    s0, s1, s2 = p0 - a[0], p1 - a[1], p2 - a[2]
    u = (s0 * h0 + s1 * h1 + s2 * h2) / determinant
    g0, g1, g2 = s1 * e2 - s2 * e1, s2 * e0 - s0 * e2, s0 * e1 - s1 * e0
    v = (d0 * g0 + d1 * g1 + d2 * g2) / determinant
    t = (f0 * g0 + f1 * g1 + f2 * g2) / determinant
    return u >= 0.0 and v >= 0.0 and u + v <= 1.0 and 0.0 <= t <= 1.0


@subkernel
def _solid_angle(corners, x, y, z):
    """Solid angle of a triangle as seen from a point, with its sign (Van Oosterom and Strackee 1983)."""
    a0, a1, a2 = corners[0, 0] - x, corners[0, 1] - y, corners[0, 2] - z
    b0, b1, b2 = corners[1, 0] - x, corners[1, 1] - y, corners[1, 2] - z
    c0, c1, c2 = corners[2, 0] - x, corners[2, 1] - y, corners[2, 2] - z
    la = math.sqrt(a0 * a0 + a1 * a1 + a2 * a2)
    lb = math.sqrt(b0 * b0 + b1 * b1 + b2 * b2)
    lc = math.sqrt(c0 * c0 + c1 * c1 + c2 * c2)
    triple = a0 * (b1 * c2 - b2 * c1) + a1 * (b2 * c0 - b0 * c2) + a2 * (b0 * c1 - b1 * c0)
    below = la * lb * lc + (a0 * b0 + a1 * b1 + a2 * b2) * lc
    below += (b0 * c0 + b1 * c1 + b2 * c2) * la + (c0 * a0 + c1 * a1 + c2 * a2) * lb
    return 2.0 * math.atan2(triple, below)
