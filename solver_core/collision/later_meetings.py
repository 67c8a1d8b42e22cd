"""Pairs that meet after others: what a body meets first leads it elsewhere, and there it may meet the second no more.

A ball that falls on a floor of pieces, at an angle and near a seam, would go on into the floor, and there meet the side
of the next piece. But it does not come there: the first piece stops its fall. So of pairs that meet after another pair
of one of their bodies, the contacts are made once more, for the velocity at which the solve of positions leads the body
along what it meets first,

    v' = v + n max(-u_n - gap / h, 0),    n, u_n, gap: of each contact of the first pair

(of two bodies that can be pushed each takes its share). If these contacts stop the body at v', too, it is followed at
v', and gets the contacts of where it meets the second one then.
"""

import numpy as np

from ..compiled.kernel import subkernel
from ..model.state import DYNAMIC
from .convex_contacts import (
    NOT_KEPT,
    RATIO_LOSS_AS_SEEN,
    distance_on_face,
    gap_speed,
    has_normal,
    make_contacts_on_the_way,
)
from .data.contact_arrays import copy_contact
from .data.workspace import INFINITE, MESH, MOST_FIRST_PAIRS, NEAR_NONE, NEAR_SEVERAL, POSITION, RATIO_MARGIN
from .distance.shape_distance import RATIO_SAME_NORMAL, RATIO_STOPS, horizon_of
from .mesh_pair_contacts import make_mesh_contacts_along
from .pair_context import approach_of_substep
from .swept_motion import closest_approach, place_pair
from .time_of_impact import advance_to_impact, turns_away

# What is met by this fraction of the substep later is met at the same time.
_SAME_TIME = 1e-9
# Which contacts a body is led to, and how near to its centre they push it (shares of the smaller size).
_RATIO_REACHED, _RATIO_CENTER = 1e-3, 1e-2
# Steps in search of that.
_MOST_TURNS = 32
# What a pair's contacts lead a body by is no more than this many times what one of them closes.
_MOST_LED = 1.5
# Contacts of a pair stop together with its first one if the cosine between their normals is above this.
_COSINE_TOGETHER = 0.99


@subkernel
def note_what_stands(pairs, body_of, body_kind, predicted):
    """Note which bodies are near two others that cannot be pushed.

    Parameters
    ----------
    pairs, body_of, body_kind
        (read)
    predicted : PredictedMotion
        ``near_stand`` written.
    """
    near = predicted.near_stand
    for body in range(len(near)):
        near[body] = NEAR_NONE
    for pair_number in range(pairs.count[0]):
        a, b = body_of[pairs.shape_a[pair_number]], body_of[pairs.shape_b[pair_number]]
        if (body_kind[a] == DYNAMIC) == (body_kind[b] == DYNAMIC):
            continue
        body, stand = (a, b) if body_kind[a] == DYNAMIC else (b, a)
        if near[body] == NEAR_NONE:
            near[body] = stand
        elif near[body] != stand:
            near[body] = NEAR_SEVERAL


@subkernel
def note_first_meetings(pairs, model, body_kind, predicted):
    """Note when each body comes to the first contact that stops it, and by which pair.

    Parameters
    ----------
    pairs : PairArrays
        ``meeting`` read.
    model, body_kind
        (read)
    predicted : PredictedMotion
        ``first_meeting``, ``first_pairs`` and ``first_count`` written.

    Returns
    -------
    bool
        Whether some pair is met later than another one.
    """
    body_of, first_meeting = model.shapes.body, predicted.first_meeting
    first_pairs, first_count = predicted.first_pairs, predicted.first_count
    meetings = 0
    for pair_number in range(pairs.count[0]):
        meetings += pairs.meeting[pair_number] < INFINITE
    if meetings < 2:
        return False
    for body in range(len(first_meeting)):
        first_meeting[body], first_count[body] = INFINITE, 0
    for pair_number in range(pairs.count[0]):
        meeting = pairs.meeting[pair_number]
        if meeting == INFINITE:
            continue
        for body in (body_of[pairs.shape_a[pair_number]], body_of[pairs.shape_b[pair_number]]):
            if body_kind[body] == DYNAMIC and meeting < first_meeting[body]:
                first_meeting[body], first_pairs[body, 0], first_count[body] = meeting, pair_number, 1
    for pair_number in range(pairs.count[0]):
        meeting = pairs.meeting[pair_number]
        if meeting == INFINITE:
            continue
        for body in (body_of[pairs.shape_a[pair_number]], body_of[pairs.shape_b[pair_number]]):
            count = first_count[body]
            is_first = meeting <= first_meeting[body] + _SAME_TIME and pair_number != first_pairs[body, 0]
            if body_kind[body] == DYNAMIC and is_first and count < MOST_FIRST_PAIRS:
                first_pairs[body, count], first_count[body] = pair_number, count + 1
    found = False
    for pair_number in range(pairs.count[0]):
        found = found or is_met_later(pairs, pair_number, model, body_kind, predicted)
    return found


@subkernel
def is_met_later(pairs, pair_number, model, body_kind, predicted):
    """Whether something else stops one of a pair's bodies before it comes to all contacts of the pair that stop it.

    Not if it can only lead them where they stay over the face that they meet, nor within a single mesh.
    """
    if pairs.meeting[pair_number] == INFINITE:
        return False
    shapes, a, b = model.shapes, pairs.shape_a[pair_number], pairs.shape_b[pair_number]
    with_mesh, last, led, is_later = (
        shapes.kind[a] == MESH or shapes.kind[b] == MESH,
        pairs.last_meeting[pair_number],
        0.0,
        False,
    )
    for shape in (a, b):
        body = shapes.body[shape]
        if body_kind[body] != DYNAMIC or not is_stopped_before(predicted, body, pair_number, with_mesh, last):
            continue
        if with_mesh and predicted.near_stand[body] != NEAR_SEVERAL:
            continue
        is_later = True
        led += _MOST_LED * pairs.closing[predicted.first_pairs[body, 0]]
    return is_later and led > pairs.within[pair_number]


@subkernel
def is_stopped_before(predicted, body, pair_number, with_mesh, meeting):
    """Whether a body is stopped before a pair's last meeting, by another pair, or by another part of the same mesh."""
    is_other = with_mesh or predicted.first_pairs[body, 0] != pair_number
    return is_other and meeting > predicted.first_meeting[body] + _SAME_TIME


@subkernel
def look_again(arrays, pair):
    """Make the contacts of a pair that is met after others once more, if they would stop what does not come there.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        The pair's contacts are written, in their places.

    Returns
    -------
    bool
        False if there is no room in the buffer of contacts.
    """
    pairs, contacts, workspace, step = arrays.pairs, arrays.contacts, arrays.workspace, arrays.step
    scratch, pair_number, size = workspace.scratch, pair.number, pair.size
    first, count = pairs.contact_start[pair_number], pairs.contact_count[pair_number]
    is_led_a, earliest_a = lead(arrays, pair, pair.body_a, scratch.led_a)
    is_led_b, earliest_b = lead(arrays, pair, pair.body_b, scratch.led_b)
    if not (is_led_a or is_led_b) or stands(arrays, pair):
        return True
    # Whether they are turned in place of led is dear to find, so it comes last.
    is_held_a = not is_led_a or is_stopped_at_center(arrays, pair.body_a, scratch.led_a, earliest_a)
    is_held_b = not is_led_b or is_stopped_at_center(arrays, pair.body_b, scratch.led_b, earliest_b)
    if not is_held_a:
        copy_velocity(arrays.state.velocity[pair.body_a], scratch.led_a)
    if not is_held_b:
        copy_velocity(arrays.state.velocity[pair.body_b], scratch.led_b)
    if not ((is_led_a and is_held_a) or (is_led_b and is_held_b)):
        return True
    if not (is_held_a and is_held_b) and stands(arrays, pair):
        return True
    fall = step.gravity_norm * step.h * step.h
    approach, last, needed = approach_of_substep(arrays, pair), contacts.count[0], contacts.needed[0]
    if pair.with_mesh:
        place_pair(workspace.shape_pose[pair.a], workspace.shape_pose[pair.b], scratch.pose)
        make_mesh_contacts_along(arrays, pair, approach, scratch.led_a, scratch.led_b, np.bool_(False))
        pairs.reach[pair_number] = pairs.cull_distance[pair_number] = NOT_KEPT
    else:
        reach = approach + RATIO_MARGIN * size
        radius_a, radius_b = pair.shape_a.swept_radius, pair.shape_b.swept_radius
        fastest = step.h * closest_approach(scratch.led_a, scratch.led_b, radius_a, radius_b)
        horizon = horizon_of(fall, fastest)
        fraction = advance_to_impact(workspace, pair, scratch.led_a, scratch.led_b, step.h, horizon, reach)
        if fraction == 0.0 or (fraction > 0.0 and has_normal(arrays, pair, first, RATIO_SAME_NORMAL)):
            return True
        if fraction > 0.0:
            make_contacts_on_the_way(arrays, pair, fraction, scratch.led_a, scratch.led_b, approach, reach, fastest)
    if contacts.needed[0] > len(contacts.gap):
        return False
    replace_contacts(contacts, first, count, last, approach + RATIO_MARGIN * size)
    contacts.count[0], contacts.needed[0] = last, needed
    pairs.contact_start[pair_number], pairs.contact_count[pair_number] = first, count
    return True


@subkernel
def lead(arrays, pair, body, led):
    """Write the velocity at which a body goes along what it meets before a pair.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        (read)
    body : int
        One of the pair's.
    led : float64 [6]
        Written.

    Returns
    -------
    is_led : bool
        Whether something leads it.
    earliest : int
        The contact to which it comes first.
    """
    pairs, contacts, model, state = arrays.pairs, arrays.contacts, arrays.model, arrays.state
    predicted, body_pose, h = arrays.workspace.predicted, arrays.workspace.body_pose, arrays.step.h
    copy_velocity(state.velocity[body], led)
    last = pairs.last_meeting[pair.number]
    if state.kind[body] != DYNAMIC or not is_stopped_before(predicted, body, pair.number, pair.with_mesh, last):
        return False, np.int64(-1)
    before = predicted.first_pairs[body, 0]
    first, count = pairs.contact_start[before], pairs.contact_count[before]
    earliest = first_to_stop(arrays, first, count)
    for contact in range(first, first + count):
        a, b = contacts.body_a[contact], contacts.body_b[contact]
        other, sign = (a, 1.0) if body == b else (b, -1.0)
        va, vb = (state.velocity[a], led) if body == b else (led, state.velocity[b])
        cosine = 0.0
        for i in range(3):
            cosine += contacts.normal[contact, i] * contacts.normal[earliest, i]
        missing = -gap_speed(contacts, contact, body_pose, va, vb) - max(contacts.gap[contact], 0.0) / h
        if missing <= 0.0 or cosine < _COSINE_TOGETHER:
            continue
        if state.kind[other] == DYNAMIC:
            missing *= model.mass[other] / (model.mass[body] + model.mass[other])
        for i in range(3):
            led[i] += sign * missing * contacts.normal[contact, i]
    return True, earliest


@subkernel
def copy_velocity(velocity, led):
    """Let a body be led nowhere."""
    for i in range(6):
        led[i] = velocity[i]


@subkernel
def stands(arrays, pair):
    """Whether the contacts of a pair would stop nothing at the velocities in the scratch, or would be what happens."""
    pairs, contacts, workspace, step = arrays.pairs, arrays.contacts, arrays.workspace, arrays.step
    led_a, led_b, earliest = workspace.scratch.led_a, workspace.scratch.led_b, INFINITE
    first, fall, size = pairs.contact_start[pair.number], step.gravity_norm * step.h * step.h, pair.size
    for contact in range(first, first + pairs.contact_count[pair.number]):
        closing = -step.h * gap_speed(contacts, contact, workspace.body_pose, led_a, led_b)
        if closing + fall > contacts.gap[contact] and closing > RATIO_STOPS * size:
            earliest = min(earliest, max(contacts.gap[contact], 0.0) / closing)
    if earliest == INFINITE or turns_away(workspace, pair, led_a, led_b, step.h):
        return True
    within, _ = distance_on_face(arrays, pair, led_a, led_b, earliest * step.h)
    return within >= RATIO_LOSS_AS_SEEN * size


@subkernel
def is_stopped_at_center(arrays, body, led, earliest):
    """Whether what a body meets first can stop it by a push through its centre; else it is turned.

    Their arms across the normal, r x n, are then around the origin: of all points between them the nearest to it is
    searched for (Gilbert).

    Parameters
    ----------
    arrays : NarrowPhaseArrays
        (read)
    body : int
    led : float64 [6]
        Velocity at which they lead it (read).
    earliest : int
        The contact to which the body comes first.

    Returns
    -------
    bool
    """
    pairs, contacts, predicted = arrays.pairs, arrays.contacts, arrays.workspace.predicted
    pose, sizes, before = arrays.workspace.body_pose, arrays.workspace.size, predicted.first_pairs[body, 0]
    size = min(sizes[pairs.shape_a[before]], sizes[pairs.shape_b[before]])
    x, y, z = 0.0, 0.0, 0.0
    for turn in range(_MOST_TURNS):
        nearest, found, p, q, r = INFINITE, False, 0.0, 0.0, 0.0
        for place in range(predicted.first_count[body]):
            pair_number = predicted.first_pairs[body, place]
            first, count = pairs.contact_start[pair_number], pairs.contact_count[pair_number]
            for contact in range(first, first + count):
                if not is_reached(arrays, contact, earliest, body, led, _RATIO_REACHED * size):
                    continue
                arm = arm_across(contacts, contact, pose[body], 1.0 if body == contacts.body_b[contact] else -1.0)
                along = arm[0] * x + arm[1] * y + arm[2] * z
                if along < nearest:
                    nearest, found = along, True
                    p, q, r = arm
        if not found:
            return False
        if turn == 0:
            x, y, z = p, q, r
        else:
            # The point between the two that is nearest to the origin.
            dx, dy, dz = p - x, q - y, r - z
            square = dx * dx + dy * dy + dz * dz
            share = min(max(-(x * dx + y * dy + z * dz) / square, 0.0), 1.0) if square > 0.0 else 0.0
            x, y, z = x + share * dx, y + share * dy, z + share * dz
        if x * x + y * y + z * z <= (_RATIO_CENTER * size) ** 2:
            return True
    return False


@subkernel
def is_reached(arrays, contact, earliest, body, led, least):
    """Whether a body is led to a contact, up to a gap of ``least`` [m], that stops it together with the earliest."""
    contacts, velocity, cosine = arrays.contacts, arrays.state.velocity, 0.0
    a, b = contacts.body_a[contact], contacts.body_b[contact]
    va, vb = (velocity[a], led) if body == b else (led, velocity[b])
    for i in range(3):
        # Seen from the body: its own side may be another one in another pair.
        cosine += contacts.normal[contact, i] * contacts.normal[earliest, i]
    cosine *= 1.0 if (body == b) == (body == contacts.body_b[earliest]) else -1.0
    left = contacts.gap[contact] + arrays.step.h * gap_speed(contacts, contact, arrays.workspace.body_pose, va, vb)
    return left <= least and cosine >= _COSINE_TOGETHER


@subkernel
def arm_across(contacts, contact, body_pose, side):
    """The arm r x n of a contact about the centre of its body b (``side`` 1) or a (-1), n away from the other [m]."""
    at, normal, offset = contacts.position[contact], contacts.normal[contact], contacts.toi_offset[contact]
    share = 0.5 * side
    x = at[0] + share * offset[0] - body_pose[POSITION, 0]
    y = at[1] + share * offset[1] - body_pose[POSITION, 1]
    z = at[2] + share * offset[2] - body_pose[POSITION, 2]
    nx, ny, nz = side * normal[0], side * normal[1], side * normal[2]
    return y * nz - z * ny, z * nx - x * nz, x * ny - y * nx


@subkernel
def first_to_stop(arrays, first, count):
    """Of some contacts the one to which the bodies come first, by their velocities at the start."""
    contacts, velocity, least, earliest = arrays.contacts, arrays.state.velocity, INFINITE, first
    for contact in range(first, first + count):
        va, vb = velocity[contacts.body_a[contact]], velocity[contacts.body_b[contact]]
        closing = -gap_speed(contacts, contact, arrays.workspace.body_pose, va, vb)
        if closing > 0.0 and max(contacts.gap[contact], 0.0) < least * closing:
            least, earliest = max(contacts.gap[contact], 0.0) / closing, contact
    return earliest


@subkernel
def replace_contacts(contacts, first, count, last, beyond):
    """Put the contacts from ``last`` on in the place of ``count`` others; of more the deepest.

    Where they are fewer, what is left of the others is put out of reach.

    Parameters
    ----------
    contacts : ContactArrays
        Written.
    first, count, last : int
    beyond : float
        A gap that no motion in the substep closes [m].
    """
    fresh = contacts.count[0] - last
    for place in range(min(count, fresh)):
        deepest = last + place
        for other in range(deepest + 1, last + fresh):
            if contacts.gap[other] < contacts.gap[deepest]:
                deepest = other
        copy_contact(contacts, deepest, contacts, first + place)
        if deepest != last + place:
            copy_contact(contacts, last + place, contacts, deepest)
    for place in range(fresh, count):
        if fresh > 0:
            copy_contact(contacts, first, contacts, first + place)
        contacts.gap[first + place] = max(contacts.gap[first + place], 0.0) + beyond
