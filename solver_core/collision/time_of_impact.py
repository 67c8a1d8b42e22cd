"""Time of impact of two fast convex shapes in a substep: conservative advancement (Mirtich 1996).

A contact made from the poses at the start of a substep is a plane between the shapes that neither may pass. A fast body
that flies past a corner would be stopped by that plane in mid-air. So of pairs that may come closer by more than a
fraction of their size, contacts are made at the time of impact:

    t <- t + d(t) / c(t),    d: distance at t,    c: bound on the speed at which points come closer along the normal

d never reaches 0 in between, so no impact is jumped over. Without spin d is convex in t and this is Newton's method:
some three steps.

Bodies move straight and turn at constant spin. They may be off by the fall that gravity adds and by what slow contacts
change; ``slack`` is that much. Pairs that pass each other at a larger distance are separated by CCD: they get no
contacts. If contacts with others change the motion of their bodies, another detection pass follows the new motion too
(``ccd_recheck.recheck_swept_pairs``).
"""

from ..compiled.kernel import subkernel
from .data.workspace import INFINITE, POSITION, RATIO_MARGIN
from .detection_passes import RATIO_UNFORESEEN_OVERLAP
from .distance.closest_points import RATIO_TOUCHING, into_frame, to_middle
from .distance.round_support import turned
from .distance.shape_distance import (
    MOST_STEPS,
    NO_IMPACT,
    RATIO_FAST,
    RATIO_STOPS,
    loss_of,
    lost_along,
    restore_shapes,
    shape_distance,
    wear,
)
from .swept_motion import (
    closest_approach,
    closing_speed,
    felt_spin,
    place_at_time,
    place_pair,
    turns_about_axis,
    velocity_change_bound,
)

# Shapes meet when they are this close (fraction of the smaller one's size).
RATIO_MEETING = 1e-6
# ... and this close if they turn farther in a substep [rad], as then other points come nearer than those that are now.
RATIO_IMPACT = 1e-3
_MOST_TURN = 0.2

# Steps in search of where shapes that pass each other are closest; mostly five.
_MOST_SECANTS = 16

# Value of PairArrays.reach of pairs that pass each other, and get no contacts.
SEPARATED_BY_CCD = -2.0


@subkernel
def sweep_slack(pair, sizes, fall):
    """How far the bodies of a pair may be off their swept motion without another detection pass [m]."""
    slack = fall
    if pair.moves_a:
        slack += RATIO_MARGIN * sizes[pair.a]
    if pair.moves_b:
        slack += RATIO_MARGIN * sizes[pair.b]
    return slack


@subkernel
def find_time_of_impact(arrays, pair, slack, horizon):
    """Time of impact of two shapes by the velocities at the start, or else by the predicted ones.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        Poses in the scratch are written.
    slack, horizon : float
        As of ``advance_to_impact``.

    Returns
    -------
    fraction : float
        As of ``advance_to_impact``.
    is_predicted : bool
        Whether by the predicted velocities.
    """
    predicted, workspace, h = arrays.workspace.predicted, arrays.workspace, arrays.step.h
    start_a, start_b = arrays.state.velocity[pair.body_a], arrays.state.velocity[pair.body_b]
    for is_predicted in range(2):
        velocity_a, velocity_b = start_a, start_b
        if is_predicted == 1:
            velocity_a, velocity_b = predicted.velocity[pair.body_a], predicted.velocity[pair.body_b]
            if predicted.detection_pass[0] == 0:
                return NO_IMPACT, False
            changed = velocity_change_bound(start_a, velocity_a, pair.shape_a.swept_radius)
            changed += velocity_change_bound(start_b, velocity_b, pair.shape_b.swept_radius)
            if h * changed <= slack:
                return NO_IMPACT, False
        fraction = advance_to_impact(workspace, pair, velocity_a, velocity_b, h, horizon, slack)
        if fraction >= 0.0:
            return fraction, is_predicted == 1
    return NO_IMPACT, True


@subkernel
def advance_to_impact(workspace, pair, velocity_a, velocity_b, h, horizon, slack):
    """Advance two shapes, each smaller by what counts as touching, until they meet.

    Parameters
    ----------
    workspace : CollisionWorkspace
        Poses at the start read; poses in the scratch written, those of the impact, and the direction from a to b there
        (frame of a; unless they overlap at the start).
    pair : Pair
    velocity_a, velocity_b : float64 [6]
        Of the bodies (read).
    h, horizon : float
        Substep [s]; up to which fraction of it they are followed.
    slack : float
        Distance at which shapes that pass each other still count [m].

    Returns
    -------
    float
        Fraction of the substep after which they meet, or are closest; 0 also if they overlap at the start; NO_IMPACT.
    """
    scratch = workspace.scratch
    if turns_away(workspace, pair, velocity_a, velocity_b, h):
        restore_shapes(scratch)
        return follow_pair(workspace, pair, velocity_a, velocity_b, h, 1.0, slack)
    loss_a = loss_of(workspace.size[pair.a], pair.moves_a, pair.size)
    loss_b = loss_of(workspace.size[pair.b], pair.moves_b, pair.size)
    scratch.worn[0] = wear(workspace.polytopes, pair.shape_a, loss_a, scratch.scale_a)
    scratch.worn[0] += wear(workspace.polytopes, pair.shape_b, loss_b, scratch.scale_b)
    fraction = follow_pair(workspace, pair, velocity_a, velocity_b, h, horizon, slack)
    restore_shapes(scratch)
    if not scratch.meets[0]:
        return fraction
    earlier = time_of_loss(pair, scratch, loss_a, loss_b, velocity_a, velocity_b) / h
    if earlier < fraction:
        # Contacts are of where the shapes themselves meet: what slides by meanwhile has other arms there.
        fraction -= earlier
        place_swept(workspace, pair, velocity_a, velocity_b, fraction * h)
    return fraction


@subkernel
def time_of_loss(pair, scratch, loss_a, loss_b, velocity_a, velocity_b):
    """How long before smaller shapes two shapes themselves meet, or up to how long if they are oblique [s].

    ``loss_a`` and ``loss_b`` are by how much the shapes are smaller [m]; the poses and the direction in the scratch are
    those of where the smaller ones meet.
    """
    pose, closest = scratch.pose, scratch.closest
    x, y, z = closest.direction[0], closest.direction[1], closest.direction[2]
    lost = lost_along(pair.shape_a, loss_a, x, y, z)
    x, y, z = into_frame(pose.b_in_a, x, y, z)
    lost += lost_along(pair.shape_b, loss_b, x, y, z)
    closing = speed_of_points(pose, closest, velocity_a, velocity_b)
    return lost / closing if closing > 0.0 else 0.0


@subkernel
def follow_pair(workspace, pair, velocity_a, velocity_b, h, horizon, slack):
    """As ``advance_to_impact``, for the shapes with the scales in the scratch."""
    a, b, polytopes, scratch = pair.shape_a, pair.shape_b, workspace.polytopes, workspace.scratch
    local_a, local_b = workspace.local_pose[pair.a], workspace.local_pose[pair.b]
    pose, closest, radius_a, radius_b = scratch.pose, scratch.closest, a.swept_radius, b.swept_radius
    rolls_a, rolls_b = turns_about_axis(a.kind, local_a), turns_about_axis(b.kind, local_b)
    touching, is_turning = RATIO_TOUCHING * pair.size, turns_away(workspace, pair, velocity_a, velocity_b, h)
    meeting = (RATIO_IMPACT if is_turning else RATIO_MEETING) * pair.size
    fraction, least, least_fraction, is_bracketed = 0.0, INFINITE, 0.0, False
    place_swept(workspace, pair, velocity_a, velocity_b, 0.0)
    x, y, z = to_middle(pose.b_in_a)
    p, q, r = x, y, z
    scratch.meets[0] = False
    for _ in range(MOST_STEPS):
        if fraction > 0.0:
            place_swept(workspace, pair, velocity_a, velocity_b, fraction * h)
        reach = (horizon - fraction) * h * closest_approach(velocity_a, velocity_b, radius_a, radius_b) + slack
        distance = shape_distance(polytopes, a, b, x, y, z, reach, touching, scratch)
        if distance <= meeting:
            if distance <= touching:
                # Where they overlap there is no direction but the last one.
                closest.direction[0], closest.direction[1], closest.direction[2] = p, q, r
            scratch.meets[0] = fraction > 0.0
            return fraction
        is_bracketed = distance > least
        if distance > reach:
            break
        x, y, z = closest.direction[0], closest.direction[1], closest.direction[2]
        if distance < least:
            least, least_fraction, p, q, r = distance, fraction, x, y, z
        if fraction == horizon:
            break
        if distance <= RATIO_MARGIN * pair.size and not is_turning:
            # So near, nothing comes before the closest points. By the bound, what turns would come there by halves.
            closing = speed_of_points(pose, closest, velocity_a, velocity_b)
        else:
            closing = closing_speed(
                pose, closest.direction, velocity_a, velocity_b, radius_a, radius_b, rolls_a, rolls_b
            )
        if closing <= 0.0:
            break
        fraction = min(fraction + distance / (h * closing), horizon)
    else:
        return fraction
    if is_bracketed and not is_turning:
        return closest_on_the_way(workspace, pair, velocity_a, velocity_b, h, least_fraction, fraction, p, q, r, slack)
    if least > slack:
        return NO_IMPACT
    travel = h * closest_approach(velocity_a, velocity_b, radius_a, radius_b)
    if least_fraction < horizon and travel > meeting and not is_turning:
        # What slides along is as near at the end: there it lies on all that it comes to lie on.
        place_swept(workspace, pair, velocity_a, velocity_b, horizon * h)
        distance = shape_distance(polytopes, a, b, p, q, r, slack, touching, scratch)
        if meeting < distance <= least + meeting:
            return horizon
    if least_fraction < horizon:
        place_swept(workspace, pair, velocity_a, velocity_b, least_fraction * h)
        closest.direction[0], closest.direction[1], closest.direction[2] = p, q, r
    return least_fraction


@subkernel
def turns_away(workspace, pair, velocity_a, velocity_b, h):
    """Whether two shapes turn so far in a substep that what is nearest says nothing of what will be.

    Paths along a mesh are straight and do not turn: there, whether a point leaves its tangent by an overlap.
    """
    local_pose, shape_pose = workspace.local_pose, workspace.shape_pose
    turn_a = h * felt_spin(velocity_a, pair.shape_a.kind, local_pose[pair.a], shape_pose[pair.a])
    turn_b = h * felt_spin(velocity_b, pair.shape_b.kind, local_pose[pair.b], shape_pose[pair.b])
    if not pair.with_mesh:
        return turn_a + turn_b > _MOST_TURN
    of_mesh, turn = (turn_a, turn_b) if pair.other == pair.a else (turn_b, turn_a)
    is_off_tangent = 0.5 * turn * turn * pair.moving_radius > RATIO_UNFORESEEN_OVERLAP * pair.size
    return is_off_tangent or of_mesh > RATIO_UNFORESEEN_OVERLAP


@subkernel
def closest_on_the_way(workspace, pair, velocity_a, velocity_b, h, before, after, x, y, z, slack):
    """Where two shapes are closest between two fractions, at the first of which they come closer, at the other not.

    The zero of the speed at which their closest points come closer, by the secant (Illinois), until it is none that a
    contact there would stop.

    Parameters
    ----------
    workspace, pair, velocity_a, velocity_b, h, slack
        As of ``advance_to_impact``.
    before, after : float
        The fractions.
    x, y, z : float
        Direction at the first.

    Returns
    -------
    float
        As of ``advance_to_impact``.
    """
    a, b, polytopes, scratch = pair.shape_a, pair.shape_b, workspace.polytopes, workspace.scratch
    closest, touching, meeting = scratch.closest, RATIO_TOUCHING * pair.size, RATIO_MEETING * pair.size
    fraction, speed_before, speed_after, side, distance = before, 0.0, 0.0, 0, INFINITE
    for step in range(_MOST_SECANTS):
        place_swept(workspace, pair, velocity_a, velocity_b, fraction * h)
        distance = shape_distance(polytopes, a, b, x, y, z, INFINITE, touching, scratch)
        if distance <= meeting:
            if distance <= touching:
                closest.direction[0], closest.direction[1], closest.direction[2] = x, y, z
            scratch.meets[0] = True
            return fraction
        x, y, z = closest.direction[0], closest.direction[1], closest.direction[2]
        speed = speed_of_points(scratch.pose, closest, velocity_a, velocity_b)
        # They came there by a bound: their closest points may go apart already.
        if (step == 0 and speed <= 0.0) or (step > 0 and abs(speed) * h <= RATIO_STOPS * pair.size):
            break
        if step == 0:
            speed_before, fraction = speed, after
            continue
        if step == 1:
            speed_after = min(speed, 0.0)
        elif speed > 0.0:
            speed_after *= 0.5 if side > 0 else 1.0
            before, speed_before, side = fraction, speed, 1
        else:
            speed_before *= 0.5 if side < 0 else 1.0
            after, speed_after, side = fraction, speed, -1
        if speed_before <= speed_after:
            break
        fraction = before + (after - before) * speed_before / (speed_before - speed_after)
    return fraction if distance <= slack else NO_IMPACT


@subkernel
def speed_of_points(pose, closest, velocity_a, velocity_b):
    """Speed at which the closest points of two bodies, or of their cores, come closer along the direction [m/s]."""
    r, speed = pose.shape_a, 0.0
    nx, ny, nz = turned(r, closest.direction[0], closest.direction[1], closest.direction[2])
    for is_b in range(2):
        point, body = (closest.on_b, pose.body_b) if is_b == 1 else (closest.on_a, pose.body_a)
        velocity, sign = (velocity_b, -1.0) if is_b == 1 else (velocity_a, 1.0)
        x, y, z = turned(r, point[0], point[1], point[2])
        x += r[POSITION, 0] - body[POSITION, 0]
        y += r[POSITION, 1] - body[POSITION, 1]
        z += r[POSITION, 2] - body[POSITION, 2]
        along = nx * (velocity[0] + velocity[4] * z - velocity[5] * y)
        along += ny * (velocity[1] + velocity[5] * x - velocity[3] * z)
        along += nz * (velocity[2] + velocity[3] * y - velocity[4] * x)
        speed += sign * along
    return speed


@subkernel
def place_swept(workspace, pair, velocity_a, velocity_b, time):
    """Write the poses of a pair after a time to the scratch."""
    pose, body_pose, local_pose = workspace.scratch.pose, workspace.body_pose, workspace.local_pose
    place_at_time(body_pose[pair.body_a], local_pose[pair.a], velocity_a, time, pose.body_a, pose.shape_a)
    place_at_time(body_pose[pair.body_b], local_pose[pair.b], velocity_b, time, pose.body_b, pose.shape_b)
    place_pair(pose.shape_a, pose.shape_b, pose)


@subkernel
def shift_to_start(arrays, pair, first, fraction, va, vb, least_approach):
    """Turn contacts that were made at a time of impact into those of the start of the substep.

    Arms and normals of fast bodies stay what they are at the impact, since there the impulse acts: their angular
    momentum is kept there, and not as it is measured at the start. Those of others go from the start to one common
    point, in the middle, which keeps it to rounding. The gap is the approach along the normal until the impact plus
    what is left then, so that the row lets the bodies come as far:

        gap = d + t h max(-u_n, least_approach),    u_n = n . (v_b + omega_b x r_b - v_a - omega_a x r_a)

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        Of the contacts: ``position`` and ``gap`` read and written, ``toi_offset`` written. Poses at the start, and in
        the scratch those of the impact, are read.
    first : int
        The pair's contacts from here on, the last of all.
    fraction : float
        t.
    va, vb : float64 [6]
        With which the bodies reach the impact (read).
    least_approach : float
        A smaller approach counts as this. 0 for a time of impact. -INFINITE at the end, of bodies that are apart at
        the start: a corner that is led out of a plane of the end has been deeper behind it [m/s].
    """
    contacts, h, pose = arrays.contacts, arrays.step.h, arrays.workspace.scratch.pose
    start_a, start_b = arrays.workspace.body_pose[pair.body_a], arrays.workspace.body_pose[pair.body_b]
    shift = (
        start_b[POSITION, 0] - pose.body_b[POSITION, 0] - start_a[POSITION, 0] + pose.body_a[POSITION, 0],
        start_b[POSITION, 1] - pose.body_b[POSITION, 1] - start_a[POSITION, 1] + pose.body_a[POSITION, 1],
        start_b[POSITION, 2] - pose.body_b[POSITION, 2] - start_a[POSITION, 2] + pose.body_a[POSITION, 2],
    )
    # From this relative motion in the whole substep on, either body has arms of its own.
    least_shift = RATIO_FAST * pair.size if pair.moves_a and pair.moves_b else 0.0
    has_offset = shift[0] * shift[0] + shift[1] * shift[1] + shift[2] * shift[2] > (fraction * least_shift) ** 2
    for contact in range(first, contacts.count[0]):
        at, normal, offset = contacts.position[contact], contacts.normal[contact], contacts.toi_offset[contact]
        for i in range(3):
            at[i] += 0.5 * (start_a[POSITION, i] - pose.body_a[POSITION, i])
            at[i] += 0.5 * (start_b[POSITION, i] - pose.body_b[POSITION, i])
            offset[i] = shift[i] if has_offset else 0.0
        p, q, r = 0.5 * offset[0], 0.5 * offset[1], 0.5 * offset[2]
        a0, b0 = at[0] - p - start_a[POSITION, 0], at[0] + p - start_b[POSITION, 0]
        a1, b1 = at[1] - q - start_a[POSITION, 1], at[1] + q - start_b[POSITION, 1]
        a2, b2 = at[2] - r - start_a[POSITION, 2], at[2] + r - start_b[POSITION, 2]
        u0 = vb[0] - va[0] + (vb[4] * b2 - vb[5] * b1) - (va[4] * a2 - va[5] * a1)
        u1 = vb[1] - va[1] + (vb[5] * b0 - vb[3] * b2) - (va[5] * a0 - va[3] * a2)
        u2 = vb[2] - va[2] + (vb[3] * b1 - vb[4] * b0) - (va[3] * a1 - va[4] * a0)
        approach = -(normal[0] * u0 + normal[1] * u1 + normal[2] * u2)
        contacts.gap[contact] += fraction * h * max(approach, least_approach)
