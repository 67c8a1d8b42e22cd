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
from .data.workspace import INFINITE, MAX_PASSES, POSITION, RATIO_MARGIN
from .distance.closest_points import RATIO_TOUCHING, to_middle
from .distance.shape_distance import MOST_STEPS, NO_IMPACT, RATIO_FAST, shape_distance
from .swept_motion import closest_approach, closing_speed, place_at_time, place_pair, velocity_change_bound

# Shapes meet when they are this close (fraction of the smaller one's size).
RATIO_IMPACT = 1e-3

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
def find_time_of_impact(arrays, pair, slack):
    """Time of impact of two shapes by the velocities at the start, or else by the predicted ones.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        Poses in the scratch are written.
    slack : float
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
        fraction = advance_to_impact(workspace, pair, velocity_a, velocity_b, h, slack)
        if fraction >= 0.0:
            return fraction, is_predicted == 1
    # If no other pass follows, it must not matter where they come to: a plane from the start holds everywhere.
    return (0.0, False) if predicted.detection_pass[0] + 1 >= MAX_PASSES else (NO_IMPACT, True)


@subkernel
def advance_to_impact(workspace, pair, velocity_a, velocity_b, h, slack):
    """Advance two shapes until they meet.

    Parameters
    ----------
    workspace : CollisionWorkspace
        Poses at the start read; poses in the scratch written, those of the impact.
    pair : Pair
    velocity_a, velocity_b : float64 [6]
        Of the bodies (read).
    h, slack : float
        Substep [s]; distance at which shapes that pass each other still count [m].

    Returns
    -------
    float
        Fraction of the substep after which they meet, or are closest; 0 also if they touch at the start; NO_IMPACT.
    """
    a, b, polytopes, scratch = pair.shape_a, pair.shape_b, workspace.polytopes, workspace.scratch
    start_a, start_b = workspace.body_pose[pair.body_a], workspace.body_pose[pair.body_b]
    local_a, local_b = workspace.local_pose[pair.a], workspace.local_pose[pair.b]
    pose, closest, radius_a, radius_b = scratch.pose, scratch.closest, a.swept_radius, b.swept_radius
    fraction, least, least_fraction = 0.0, INFINITE, 0.0
    x, y, z = 0.0, 0.0, 0.0
    for _ in range(MOST_STEPS):
        place_at_time(start_a, local_a, velocity_a, fraction * h, pose.body_a, pose.shape_a)
        place_at_time(start_b, local_b, velocity_b, fraction * h, pose.body_b, pose.shape_b)
        place_pair(pose.shape_a, pose.shape_b, pose)
        if fraction == 0.0:
            x, y, z = to_middle(pose.b_in_a)
        reach = (1.0 - fraction) * h * closest_approach(velocity_a, velocity_b, radius_a, radius_b) + slack
        distance = shape_distance(polytopes, a, b, x, y, z, reach, RATIO_TOUCHING * pair.size, scratch)
        if distance <= RATIO_IMPACT * pair.size:
            return fraction
        if distance > reach:
            break
        if distance < least:
            least, least_fraction = distance, fraction
        closing = closing_speed(pose.shape_a, closest.direction, velocity_a, velocity_b, radius_a, radius_b)
        if fraction == 1.0 or closing <= 0.0:
            break
        fraction = min(fraction + distance / (h * closing), 1.0)
        x, y, z = closest.direction[0], closest.direction[1], closest.direction[2]
    else:
        return fraction
    if least > slack:
        return NO_IMPACT
    if least_fraction < fraction:
        place_at_time(start_a, local_a, velocity_a, least_fraction * h, pose.body_a, pose.shape_a)
        place_at_time(start_b, local_b, velocity_b, least_fraction * h, pose.body_b, pose.shape_b)
        place_pair(pose.shape_a, pose.shape_b, pose)
    return least_fraction


@subkernel
def shift_to_start(arrays, pair, first, fraction, velocity, least_approach):
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
    velocity : float64 [B, 6]
        With which the bodies reach the impact (read).
    least_approach : float
        A smaller approach counts as this. 0 for a time of impact. -INFINITE at the end, of bodies that are apart at
        the start: a corner that is led out of a plane of the end has been deeper behind it [m/s].
    """
    contacts, h, pose = arrays.contacts, arrays.step.h, arrays.workspace.scratch.pose
    start_a, start_b = arrays.workspace.body_pose[pair.body_a], arrays.workspace.body_pose[pair.body_b]
    va, vb = velocity[pair.body_a], velocity[pair.body_b]
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
