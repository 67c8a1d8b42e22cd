"""Contacts of a pair of convex shapes: of the start of a substep, or of where they meet on their way."""

import numpy as np

from ..compiled.function_tables import call_for_count
from ..compiled.kernel import subkernel
from .anti_tunnelling import add_anti_tunnelling_contacts
from .data.contact_buffers import append_contacts, drop_contacts, remember_pose, start_contacts
from .data.workspace import (
    CAPSULE,
    CONE,
    FACE_OF_A,
    FACE_OF_B,
    FACES,
    INFINITE,
    MAX_PASSES,
    NEAR_SEVERAL,
    NO_CONTACT,
    POSITION,
    RATIO_MARGIN,
    ROUND_SHAPES,
    SPHERE,
    SPHERES,
    has_axis,
    is_round,
)
from .distance.closest_points import RATIO_TOUCHING, into_frame
from .distance.round_support import LOWER_CAP, UPPER_CAP
from .distance.shape_distance import (
    RATIO_FAST,
    RATIO_SAME_NORMAL,
    RATIO_STOPS,
    horizon_of,
    restore_shapes,
    shape_distance,
    wear,
)
from .manifold.face_manifold import distance_to_side
from .manifold.polytope_contacts import polytope_contacts
from .reach_of_turning import leave_out_unreachable
from .scaled_shapes import set_surface_velocity
from .swept_motion import closest_approach, take_poses
from .time_of_impact import SEPARATED_BY_CCD, find_time_of_impact, place_swept, shift_to_start, sweep_slack, turns_away

# A value of PairArrays.reach that recycles nothing, like SEPARATED_BY_CCD: of contacts that hold in this pass only.
NOT_KEPT = -1.0

# By how much shapes are smaller where it is only asked whether they meet as they were seen (share of the smaller size).
RATIO_LOSS_AS_SEEN = 1e-3
# ... and by how much the cosine of two directions of flat shapes may differ from 1 then: within a hundredth.
_RATIO_ALIKE = 5e-5
# What comes nearer to a mesh by less than this in a substep comes to rest.
_RATIO_AT_REST = 1e-4


@subkernel(inline=True)
def make_convex_contacts(arrays, pair, approach):
    """Append new contacts of a pair of convex shapes.

    Contacts of the start are planes for the whole substep. Of a slow pair they stand if they stop nothing, or if the
    shapes do meet with their normal along the predicted motion.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        The pair's entry in the cache, the contacts and the scratch are written.
    approach : float
        How much nearer points of the two shapes may come in the substep [m].

    Returns
    -------
    bool
        False if the shapes pass each other and are separated by CCD.
    """
    pairs, contacts, workspace, step = arrays.pairs, arrays.contacts, arrays.workspace, arrays.step
    pair_number, velocity = pair.number, arrays.state.velocity
    fast, fall = RATIO_FAST * pair.size, step.gravity_norm * step.h * step.h
    slack = sweep_slack(pair, workspace.size, fall) + step.h * pair.surface_speed
    radius_a, radius_b = pair.shape_a.swept_radius, pair.shape_b.swept_radius
    va, vb = velocity[pair.body_a], velocity[pair.body_b]
    fastest = step.h * closest_approach(va, vb, radius_a, radius_b)
    first, is_fast = contacts.count[0], approach > fast
    if not is_fast:
        make_start_contacts(arrays, pair, approach, fastest)
        stops = note_meetings(arrays, pair, approach)
        # Of what turns far the poses at the end are looked at.
        if not stops or turns_away(workspace, pair, va, vb, step.h) or is_met_as_seen(arrays, pair, first):
            return True
    fraction, is_predicted = find_time_of_impact(arrays, pair, slack, horizon_of(fall, fastest))
    if is_fast and fraction < 0.0 and is_predicted and workspace.predicted.detection_pass[0] + 1 >= MAX_PASSES:
        # If no other pass follows, it must not matter where they come to: a plane from the start holds everywhere.
        fraction = 0.0
    if fraction == 0.0 and is_fast:
        make_start_contacts(arrays, pair, approach, fastest)
        note_meetings(arrays, pair, approach)
    if fraction == 0.0 or (fraction > 0.0 and not is_fast and has_normal(arrays, pair, first, RATIO_SAME_NORMAL)):
        return True
    if not is_fast:
        drop_contacts(pairs, pair_number, contacts)
    if fraction < 0.0:
        remember_pose(pairs, pair_number, SEPARATED_BY_CCD, workspace.scratch.pose)
        start_contacts(pairs, pair_number, first, np.int64(NO_CONTACT), np.int64(-1), np.bool_(False))
        return False
    reach = max(1.0 - fraction, 0.0) * approach + RATIO_MARGIN * pair.size + slack
    impact_velocity = workspace.predicted.velocity if is_predicted else velocity
    va, vb = impact_velocity[pair.body_a], impact_velocity[pair.body_b]
    make_contacts_on_the_way(arrays, pair, fraction, va, vb, approach, reach, fastest)
    note_meetings(arrays, pair, approach)
    return True


@subkernel
def make_contacts_on_the_way(arrays, pair, fraction, va, vb, approach, reach, fastest):
    """Append the contacts of a pair where the shapes meet, at the poses in the scratch; they hold in this pass only.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        The pair's entry in the cache, the contacts and the scratch are written.
    fraction : float
        Of the substep, after which they meet.
    va, vb : float64 [6]
        Velocities that lead the bodies there (read).
    approach : float
        As of ``make_convex_contacts``.
    reach : float
        Largest gap that makes a contact there [m].
    fastest : float
        As of ``make_start_contacts``.
    """
    pairs, contacts, workspace = arrays.pairs, arrays.contacts, arrays.workspace
    scratch, first = workspace.scratch, contacts.count[0]
    remember_pose(pairs, pair.number, NOT_KEPT, scratch.pose)
    if not turns_away(workspace, pair, va, vb, arrays.step.h):
        favour_face(arrays, pair)
    count, _ = find_manifold(arrays, pair, reach, INFINITE)
    if count > 0 and fastest > RATIO_FAST * pair.size:
        count = add_anti_tunnelling_contacts(workspace, pair, reach, arrays.step.maximal_points, count)
    append_contacts(
        arrays.model.shapes.body, workspace.local_pose, scratch, pairs, pair.number, count, np.bool_(False), contacts
    )
    leave_out_unreachable(arrays, pair, approach, scratch.pose.body_a, scratch.pose.body_b, first)
    shift_to_start(arrays, pair, first, fraction, va, vb, 0.0)
    if pair.surface_speed > 0.0:
        set_surface_velocity(workspace, pair, contacts, first)


@subkernel
def make_start_contacts(arrays, pair, approach, fastest):
    """Append the contacts of a pair at the start of the substep.

    Parameters
    ----------
    arrays, pair, approach
        As of ``make_convex_contacts``.
    fastest : float
        How much nearer they may come by the velocities at the start, in any direction [m].
    """
    pairs, contacts, workspace = arrays.pairs, arrays.contacts, arrays.workspace
    scratch, body_pose, shape_pose = workspace.scratch, workspace.body_pose, workspace.shape_pose
    reach, fast, first = approach + RATIO_MARGIN * pair.size, RATIO_FAST * pair.size, contacts.count[0]
    take_poses(body_pose[pair.body_a], body_pose[pair.body_b], shape_pose[pair.a], shape_pose[pair.b], scratch.pose)
    remember_pose(pairs, pair.number, reach, scratch.pose)
    count, cull_distance = find_manifold(arrays, pair, reach, INFINITE)
    if fastest <= fast:
        pairs.cull_distance[pair.number] = cull_distance
    elif count > 0:
        count = add_anti_tunnelling_contacts(workspace, pair, reach, arrays.step.maximal_points, count)
    append_contacts(
        arrays.model.shapes.body, workspace.local_pose, scratch, pairs, pair.number, count, np.bool_(False), contacts
    )
    if leave_out_unreachable(arrays, pair, approach, scratch.pose.body_a, scratch.pose.body_b, first):
        pairs.reach[pair.number] = pairs.cull_distance[pair.number] = NOT_KEPT
    if pair.surface_speed > 0.0:
        set_surface_velocity(workspace, pair, contacts, first)


@subkernel
def note_meetings(arrays, pair, approach):
    """Note when the bodies of a pair come to contacts that stop them, by their velocities at the start.

    A contact that they come to a little later counts as well, as gravity may lead them there.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        Contacts and velocities read; the pair's ``meeting``, ``last_meeting`` and ``closing`` written.
    approach : float
        How much nearer points of the two shapes may come in the substep, with what gravity may add [m].

    Returns
    -------
    bool
        Whether a contact stops them.
    """
    pairs, contacts, step, body_pose = arrays.pairs, arrays.contacts, arrays.step, arrays.workspace.body_pose
    va, vb = arrays.state.velocity[pair.body_a], arrays.state.velocity[pair.body_b]
    least, fall = RATIO_STOPS * pair.size, step.gravity_norm * step.h * step.h
    earliest, latest, most = INFINITE, 0.0, 0.0
    first, count = pairs.contact_start[pair.number], pairs.contact_count[pair.number]
    if approach - fall > least:
        for contact in range(first, first + count):
            closing = -step.h * gap_speed(contacts, contact, body_pose, va, vb)
            if closing > least and closing + fall > contacts.gap[contact]:
                meeting = max(contacts.gap[contact], 0.0) / closing
                earliest, latest, most = min(earliest, meeting), max(latest, meeting), max(most, closing)
    pairs.meeting[pair.number], pairs.last_meeting[pair.number] = earliest, latest
    pairs.closing[pair.number] = most
    return earliest < INFINITE


@subkernel
def gap_speed(contacts, contact, body_pose, va, vb):
    """Speed u_n at which a contact's gap grows by some velocities of its two bodies [m/s].

    Parameters
    ----------
    contacts, contact : ContactArrays, int
        (read)
    body_pose : float64 [B, 4, 3]
        At the start of the substep (read).
    va, vb : float64 [6]
        Of the contact's bodies (read).

    Returns
    -------
    float
    """
    start_a, start_b = body_pose[contacts.body_a[contact]], body_pose[contacts.body_b[contact]]
    at, normal, offset = contacts.position[contact], contacts.normal[contact], contacts.toi_offset[contact]
    surface = contacts.surface_velocity[contact]
    p, q, r = 0.5 * offset[0], 0.5 * offset[1], 0.5 * offset[2]
    a0, b0 = at[0] - p - start_a[POSITION, 0], at[0] + p - start_b[POSITION, 0]
    a1, b1 = at[1] - q - start_a[POSITION, 1], at[1] + q - start_b[POSITION, 1]
    a2, b2 = at[2] - r - start_a[POSITION, 2], at[2] + r - start_b[POSITION, 2]
    u0 = surface[0] + vb[0] - va[0] + (vb[4] * b2 - vb[5] * b1) - (va[4] * a2 - va[5] * a1)
    u1 = surface[1] + vb[1] - va[1] + (vb[5] * b0 - vb[3] * b2) - (va[5] * a0 - va[3] * a2)
    u2 = surface[2] + vb[2] - va[2] + (vb[3] * b1 - vb[4] * b0) - (va[3] * a1 - va[4] * a0)
    return normal[0] * u0 + normal[1] * u1 + normal[2] * u2


@subkernel
def stays_as_seen(arrays, pair, approach):
    """Whether contacts of the last substep that stop something are what happens.

    Those of a mesh are asked only where it moves by more than what comes to rest: to make them anew is dear.
    """
    va, vb = arrays.state.velocity[pair.body_a], arrays.state.velocity[pair.body_b]
    if turns_away(arrays.workspace, pair, va, vb, arrays.step.h):
        return True
    if pair.with_mesh:
        fall = arrays.step.gravity_norm * arrays.step.h * arrays.step.h
        return approach - fall <= _RATIO_AT_REST * pair.size or not is_near_seam(arrays, pair)
    return is_met_as_seen(arrays, pair, arrays.pairs.contact_start[pair.number])


@subkernel(inline=True)
def is_near_seam(arrays, pair):
    """Whether what comes near a mesh is near something else that stands, too; within a mesh seams push nowhere."""
    return arrays.workspace.predicted.near_stand[arrays.model.shapes.body[pair.moving]] == NEAR_SEVERAL


@subkernel
def is_met_as_seen(arrays, pair, contact):
    """Whether shapes are closest along the normal of their contacts when they come to the first of them.

    Then it is that plane that they meet, and they need not be followed. Where that is not seen from the face that the
    normal is of (``distance_on_face``), the distance tells: shapes smaller by more than where they are followed have a
    direction also where a turn leads them a little into each other; of flat ones that come to pass each other it lies
    between the two axes.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        ``meeting`` and contacts read; the scratch is written.
    contact : int
        The pair's first one.

    Returns
    -------
    bool
    """
    workspace, velocity = arrays.workspace, arrays.state.velocity
    scratch, polytopes, a, b = workspace.scratch, workspace.polytopes, pair.shape_a, pair.shape_b
    va, vb, loss = velocity[pair.body_a], velocity[pair.body_b], RATIO_LOSS_AS_SEEN * pair.size
    time = arrays.pairs.meeting[pair.number] * arrays.step.h
    within, speed = distance_on_face(arrays, pair, va, vb, time)
    arrays.pairs.within[pair.number] = within - loss - arrays.step.h * speed
    if within >= loss:
        return True
    place_swept(workspace, pair, va, vb, time)
    normal = arrays.contacts.normal[contact]
    x, y, z = into_frame(workspace.shape_pose[pair.a], normal[0], normal[1], normal[2])
    scratch.worn[0] = wear(polytopes, a, loss, scratch.scale_a)
    scratch.worn[0] += wear(polytopes, b, loss, scratch.scale_b)
    most = RATIO_MARGIN * pair.size
    distance = shape_distance(polytopes, a, b, x, y, z, most, RATIO_TOUCHING * pair.size, scratch)
    restore_shapes(scratch)
    is_round_pair = is_round(a.kind) or is_round(b.kind)
    tolerance = RATIO_SAME_NORMAL if is_round_pair else _RATIO_ALIKE
    return 0.0 < distance <= most and has_normal(arrays, pair, contact, tolerance)


@subkernel
def distance_on_face(arrays, pair, va, vb, time):
    """How far from its sides the middle of a pair's contacts is over the face that gave their normal after a time.

    A face is a plane for what comes down on it, and none for what comes down beside it: so a contact of a face is what
    happens if it is over the face when it closes. Where two faces overlap by less than counts as touching, as those of
    boxes that stand level do, the middle of their contacts is no farther from the face's side.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        (read)
    va, vb : float64 [6]
        Velocities of the two bodies (read).
    time : float
        [s]

    Returns
    -------
    within : float
        [m]; below 0 beside the face, where no face of a polytope gave the normal, and of contacts that were made ahead.
    speed : float
        Of the middle, as seen from the face [m/s].
    """
    pairs, contacts, workspace, polytopes = arrays.pairs, arrays.contacts, arrays.workspace, arrays.workspace.polytopes
    first, count = pairs.contact_start[pair.number], pairs.contact_count[pair.number]
    is_round_a, is_round_b = is_round(pair.shape_a.kind), is_round(pair.shape_b.kind)
    origin, face = pairs.reference[pair.number], pairs.feature[pair.number]
    # Contacts of where shapes meet on their way are nowhere at the start.
    is_ahead = pairs.reach[pair.number] == NOT_KEPT
    if pair.with_mesh or is_ahead or count == 0 or (is_round_a and is_round_b):
        return -INFINITE, 0.0
    if is_round_a or is_round_b:
        shape, pose = (
            (pair.shape_b, workspace.shape_pose[pair.b]) if is_round_a else (pair.shape_a, workspace.shape_pose[pair.a])
        )
        sign, normal = -1.0 if is_round_a else 1.0, contacts.normal[first]
        x, y, z = into_frame(pose, sign * normal[0], sign * normal[1], sign * normal[2])
        origin, face = FACE_OF_B if is_round_a else FACE_OF_A, face_along(polytopes, shape, x, y, z)
    if face < 0 or (origin != FACE_OF_A and origin != FACE_OF_B):
        return -INFINITE, 0.0
    x, y, z = 0.0, 0.0, 0.0
    for contact in range(first, first + count):
        at = contacts.position[contact]
        x, y, z = x + at[0] / count, y + at[1] / count, z + at[2] / count
    # where it goes with the shape that comes down on the face, and of a round one also with its centre
    body_a, body_b = workspace.body_pose[pair.body_a], workspace.body_pose[pair.body_b]
    p, q, r = x - body_a[POSITION, 0], y - body_a[POSITION, 1], z - body_a[POSITION, 2]
    i, j, k = x - body_b[POSITION, 0], y - body_b[POSITION, 1], z - body_b[POSITION, 2]
    is_b = origin == FACE_OF_B
    shape, pose = (pair.shape_b, workspace.shape_pose[pair.b]) if is_b else (pair.shape_a, workspace.shape_pose[pair.a])
    sign = -1.0 if is_b else 1.0
    l0, l1, l2 = sign * (vb[0] - va[0]), sign * (vb[1] - va[1]), sign * (vb[2] - va[2])
    a0, a1, a2 = sign * (va[4] * r - va[5] * q), sign * (va[5] * p - va[3] * r), sign * (va[3] * q - va[4] * p)
    b0, b1, b2 = sign * (vb[4] * k - vb[5] * j), sign * (vb[5] * i - vb[3] * k), sign * (vb[3] * j - vb[4] * i)
    x, y, z = x - pose[POSITION, 0], y - pose[POSITION, 1], z - pose[POSITION, 2]
    u0, u1, u2 = l0 + b0 - a0, l1 + b1 - a1, l2 + b2 - a2
    speed = (u0 * u0 + u1 * u1 + u2 * u2) ** 0.5
    p, q, r = into_frame(pose, x + time * u0, y + time * u1, z + time * u2)
    within = distance_to_side(polytopes, shape.polytope, face, p, q, r)
    if is_round_a or is_round_b:
        u0, u1, u2 = (l0 + b0, l1 + b1, l2 + b2) if is_b else (l0 - a0, l1 - a1, l2 - a2)
        speed = max(speed, (u0 * u0 + u1 * u1 + u2 * u2) ** 0.5)
        p, q, r = into_frame(pose, x + time * u0, y + time * u1, z + time * u2)
        within = min(within, distance_to_side(polytopes, shape.polytope, face, p, q, r))
    return within, speed


@subkernel
def has_normal(arrays, pair, contact, tolerance):
    """Whether a contact of the start has the normal with which the shapes meet, in the frame of either of them.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        Poses and direction of the impact in the scratch, and contacts, are read.
    contact : int
        The pair's first one.
    tolerance : float
        By how much their cosine may differ from 1.

    Returns
    -------
    bool
    """
    scratch, shape_pose = arrays.workspace.scratch, arrays.workspace.shape_pose
    normal, direction = arrays.contacts.normal[contact], scratch.closest.direction
    x, y, z = into_frame(shape_pose[pair.a], normal[0], normal[1], normal[2])
    cosine = x * direction[0] + y * direction[1] + z * direction[2]
    p, q, r = into_frame(shape_pose[pair.b], normal[0], normal[1], normal[2])
    x, y, z = into_frame(scratch.pose.b_in_a, direction[0], direction[1], direction[2])
    return max(cosine, p * x + q * y + r * z) > 1.0 - tolerance


@subkernel
def favour_face(arrays, pair):
    """Let the face win that looks in the direction in which shapes meet, where others are as near.

    ``reference`` and ``feature`` of the pair are written: as if it had been the face of the last substep.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        The pair's entry in the cache is written; pose and direction in the scratch are read.
    """
    pairs, scratch, polytopes = arrays.pairs, arrays.workspace.scratch, arrays.workspace.polytopes
    x, y, z = scratch.closest.direction[0], scratch.closest.direction[1], scratch.closest.direction[2]
    pairs.reference[pair.number], pairs.feature[pair.number] = NO_CONTACT, -1
    face = face_along(polytopes, pair.shape_a, x, y, z)
    if face >= 0:
        pairs.reference[pair.number], pairs.feature[pair.number] = FACE_OF_A, face
        return
    x, y, z = into_frame(scratch.pose.b_in_a, -x, -y, -z)
    face = face_along(polytopes, pair.shape_b, x, y, z)
    if face >= 0:
        pairs.reference[pair.number], pairs.feature[pair.number] = FACE_OF_B, face


@subkernel
def face_along(polytopes, shape, x, y, z):
    """The face of a shape that has a normal (own frame), -1 if none has; of a sheet none is favoured."""
    if has_axis(shape.kind):
        if shape.kind == CAPSULE or 1.0 - abs(z) > RATIO_SAME_NORMAL or (shape.kind == CONE and z > 0.0):
            return np.int64(-1)
        return np.int64(UPPER_CAP if z > 0.0 else LOWER_CAP)
    if shape.kind == SPHERE or polytopes.flat_face[shape.polytope] >= 0:
        return np.int64(-1)
    plane, start = polytopes.plane, polytopes.start[shape.polytope, FACES]
    for row in range(start, polytopes.start[shape.polytope + 1, FACES]):
        if plane[row, 0] * x + plane[row, 1] * y + plane[row, 2] * z > 1.0 - RATIO_SAME_NORMAL:
            return np.int64(row - start)
    return np.int64(-1)


@subkernel
def find_manifold(arrays, pair, reach, enough):
    """Write the manifold of a pair of convex shapes at the relative poses in the scratch.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        The scratch is written.
    reach : float
        Largest gap that makes a contact [m].
    enough : float
        If the shapes turn out to be farther apart than this, no contact is wanted [m].

    Returns
    -------
    count : int
        Contacts.
    cull_distance : float
        As in ``PairArrays`` [m].
    """
    a, b, scratch, polytopes = pair.shape_a, pair.shape_b, arrays.workspace.scratch, arrays.workspace.polytopes
    reference, feature = arrays.pairs.reference[pair.number], arrays.pairs.feature[pair.number]
    maximal_points = arrays.step.maximal_points
    if a.kind == SPHERE or b.kind == SPHERE:
        scratch.feature.is_curved[0] = 1
        return call_for_count(arrays.pair_kernels, SPHERES, polytopes, a, b, pair.size, reach, scratch), reach
    if has_axis(a.kind) or has_axis(b.kind):
        count = call_for_count(
            arrays.pair_kernels,
            ROUND_SHAPES,
            polytopes,
            a,
            b,
            pair.size,
            reach,
            maximal_points,
            reference,
            feature,
            scratch,
        )
        return count, reach
    scratch.feature.is_curved[0] = 0
    count = polytope_contacts(polytopes, a, b, pair.size, reach, enough, maximal_points, reference, feature, scratch)
    return count, scratch.cull_distance[0]
