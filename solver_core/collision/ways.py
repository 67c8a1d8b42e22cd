"""Where two fast shapes meet on their ways through a substep: conservative advancement (Mirtich 1996).

A contact made from the poses at a substep's start is a plane between the shapes that neither may pass. A fast body that
flies past a corner would be stopped by that plane in mid-air. So of pairs that may come closer by more than a share of
their size, contacts are made where they meet:

    t <- t + d(t) / c(t),    d: distance at t,    c: bound on the speed at which points come closer along the normal

d never reaches 0 in between, so no meeting is jumped over. Without spin d is convex in t and this is Newton's method:
some three steps.

Bodies go straight and turn at constant spin. They may be off that way by the fall that gravity adds and by what slow
contacts change; ``slack`` is that much. Pairs that pass each other by more are set aside. Where contacts with others
change the ways of their bodies, the stepper looks again, along the new ways too (``narrow_phase.meet_on_new_ways``).
"""

import math

from ..contacts import AT_ONCE, CONTACT_COUNT, CONTACT_START, PARTED
from ..kernel import subkernel
from .closest_points import RATIO_TOUCHING, closest_points, into_frame
from .round_separation import closest_cores
from .round_support import depth_inside, rounding
from .workspace import (
    A_IN_B,
    B_IN_A,
    BODY_A,
    BODY_B,
    CAPSULE,
    CONE,
    DIRECTION,
    FACE_OF_A,
    FACE_OF_B,
    GAP,
    LOOK,
    MESH,
    MOST_LOOKS,
    NORMAL,
    ORIGIN,
    POINT_A,
    POINT_B,
    POSITION,
    SHAPE_A,
    SHAPE_B,
    SPHERE,
)

# Pairs that may come closer in a substep by more than this share of the smaller one's size are followed. In slower ones
# a plane taken at the start is off by no more than that.
RATIO_FAST = 0.25

# Most of a gap of the end that is taken out at once, as a share of the smaller size: more is no corner that turned
# over an edge. A box that spins by 15 rad/s turns its corners by 0.14 of its size in 1/96 s.
RATIO_AT_ONCE = 0.25
# Shapes that overlap by no more than this share at the start count as apart then.
RATIO_APART = 2e-3
# Shapes meet when they are this close (share of the smaller one's size).
RATIO_MEETING = 1e-3
# Steps of following a pair. Bodies that turn and nearly graze each other may need more; they count as meeting then.
MOST_STEPS = 40

# What ``follow_pair`` returns for shapes that pass each other.
NEVER = -1.0

INFINITE = 1e300


@subkernel
def is_followed(kind_a, kind_b):
    """Whether both shapes are convex: meshes look along the ways of what comes near them by themselves."""
    return kind_a != MESH and kind_b != MESH


@subkernel
def find_meeting(
    polytopes,
    row_a,
    row_b,
    kind_a,
    kind_b,
    parameters_a,
    parameters_b,
    a,
    b,
    body_pose,
    local_a,
    local_b,
    velocity,
    outlook,
    lever_a,
    lever_b,
    h,
    size,
    slack,
    pose,
    axes,
    simplex,
    closest,
):
    """Where two shapes meet, on the ways that their bodies start on or else on those that contacts lead them.

    Parameters
    ----------
    a, b : int
        Bodies.
    velocity, outlook : float64 [B, 6], [B, 8]
        At the start, and of ``CollisionWorkspace`` (read).

    Others as those of ``follow_pair``.

    Returns
    -------
    share : float
        As of ``follow_pair``.
    is_new : bool
        Whether on the new ways.
    """
    for is_new in range(2):
        way_a, way_b = (outlook[a], outlook[b]) if is_new == 1 else (velocity[a], velocity[b])
        if is_new == 1:
            if outlook[a, LOOK] == 0.0:
                return NEVER, False
            changed = way_change(velocity[a], way_a, lever_a) + way_change(velocity[b], way_b, lever_b)
            if h * changed <= slack:
                return NEVER, False
        share = follow_pair(
            polytopes,
            row_a,
            row_b,
            kind_a,
            kind_b,
            parameters_a,
            parameters_b,
            body_pose[a],
            body_pose[b],
            local_a,
            local_b,
            way_a,
            way_b,
            lever_a,
            lever_b,
            h,
            size,
            slack,
            pose,
            axes,
            simplex,
            closest,
        )
        if share >= 0.0:
            return share, is_new == 1
    # Where nobody looks once more, where they come to must not matter: a plane from the start holds everywhere.
    return (0.0, False) if outlook[a, LOOK] + 1 >= MOST_LOOKS else (NEVER, True)


@subkernel
def way_change(velocity, other, lever):
    """How much faster than by one velocity points of a body may go anywhere by another [m/s]."""
    along, spin = 0.0, 0.0
    for i in range(3):
        along += (other[i] - velocity[i]) ** 2
        spin += (other[3 + i] - velocity[3 + i]) ** 2
    return math.sqrt(along) + math.sqrt(spin) * lever


@subkernel
def follow_pair(
    polytopes,
    row_a,
    row_b,
    kind_a,
    kind_b,
    parameters_a,
    parameters_b,
    body_pose_a,
    body_pose_b,
    local_a,
    local_b,
    velocity_a,
    velocity_b,
    lever_a,
    lever_b,
    h,
    size,
    slack,
    pose,
    axes,
    simplex,
    closest,
):
    """Follow two shapes until they meet.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    row_a, row_b : int
        Their rows; of spheres that of a point.
    kind_a, kind_b, parameters_a, parameters_b : int, int, float64 [3], float64 [3]
        The shapes.
    body_pose_a, body_pose_b, local_a, local_b : float64 [4, 3]
        Poses of the bodies at the start, and of the shapes in them (read).
    velocity_a, velocity_b : float64 [6 or more]
        Of the bodies (read).
    lever_a, lever_b : float
        Distances of the shapes' farthest points from their bodies' centres of mass; 0 for balls about them [m].
    h, size, slack : float
        Substep [s]; of the smaller shape [m]; distance at which shapes that pass each other still count [m].
    pose, axes, simplex, closest : arrays of PairScratch
        Poses where they meet (written), memory.

    Returns
    -------
    float
        Share of the substep after which they meet, or are closest; 0 also if they touch at the start; NEVER.
    """
    share, least, least_share = 0.0, INFINITE, 0.0
    for _ in range(MOST_STEPS):
        place_on_way(body_pose_a, local_a, velocity_a, share * h, pose[BODY_A], pose[SHAPE_A])
        place_on_way(body_pose_b, local_b, velocity_b, share * h, pose[BODY_B], pose[SHAPE_B])
        place_pair(pose[SHAPE_A], pose[SHAPE_B], pose)
        reach = (1.0 - share) * h * closest_approach(velocity_a, velocity_b, lever_a, lever_b) + slack
        distance = shape_distance(
            polytopes,
            row_a,
            row_b,
            kind_a,
            kind_b,
            parameters_a,
            parameters_b,
            reach,
            RATIO_TOUCHING * size,
            pose,
            axes,
            simplex,
            closest,
        )
        if distance <= RATIO_MEETING * size:
            return share
        if distance > reach:
            break
        if distance < least:
            least, least_share = distance, share
        closing = closing_speed(pose[SHAPE_A], closest[DIRECTION], velocity_a, velocity_b, lever_a, lever_b)
        if share == 1.0 or closing <= 0.0:
            break
        share = min(share + distance / (h * closing), 1.0)
    else:
        return share
    if least > slack:
        return NEVER
    if least_share < share:
        place_on_way(body_pose_a, local_a, velocity_a, least_share * h, pose[BODY_A], pose[SHAPE_A])
        place_on_way(body_pose_b, local_b, velocity_b, least_share * h, pose[BODY_B], pose[SHAPE_B])
        place_pair(pose[SHAPE_A], pose[SHAPE_B], pose)
    return least_share


@subkernel
def shape_distance(
    polytopes,
    row_a,
    row_b,
    kind_a,
    kind_b,
    parameters_a,
    parameters_b,
    reach,
    touching,
    pose,
    axes,
    simplex,
    closest,
):
    """Distance of two convex shapes, exact up to ``reach``; not above 0 where they overlap."""
    radii = rounding(kind_a, parameters_a) + rounding(kind_b, parameters_b)
    if CAPSULE <= kind_a <= CONE or CAPSULE <= kind_b <= CONE:
        distance = closest_cores(
            polytopes,
            row_a,
            row_b,
            kind_a,
            kind_b,
            parameters_a,
            parameters_b,
            reach + radii,
            touching,
            pose,
            axes,
            simplex,
            closest,
        )
    else:
        distance = closest_points(polytopes, row_a, row_b, reach + radii, touching, pose, simplex, closest)
    return distance - radii


@subkernel
def place_on_way(body_pose, local_pose, velocity, time, body_placed, shape_placed):
    """Poses of a body and its shape after ``time`` at constant velocity and spin."""
    x, y, z = velocity[3], velocity[4], velocity[5]
    speed = math.sqrt(x * x + y * y + z * z)
    angle = speed * time
    sine, cosine = 0.0, 0.0
    if angle > 0.0:
        # (1 - cos) as twice the sine of the half squared: exact for small angles too.
        sine, cosine = math.sin(angle), 2.0 * math.sin(0.5 * angle) ** 2
        x, y, z = x / speed, y / speed, z / speed
    for i in range(3):
        body_placed[POSITION, i] = body_pose[POSITION, i] + time * velocity[i]
    for j in range(3):
        # Rodrigues: v + sin k x v + (1 - cos) k x (k x v), column by column.
        a, b, c = body_pose[0, j], body_pose[1, j], body_pose[2, j]
        p, q, r = y * c - z * b, z * a - x * c, x * b - y * a
        body_placed[0, j] = a + sine * p + cosine * (y * r - z * q)
        body_placed[1, j] = b + sine * q + cosine * (z * p - x * r)
        body_placed[2, j] = c + sine * r + cosine * (x * q - y * p)
    for i in range(3):
        at = body_placed[POSITION, i]
        for j in range(3):
            at += body_placed[i, j] * local_pose[POSITION, j]
            shape_placed[i, j] = (
                body_placed[i, 0] * local_pose[0, j]
                + body_placed[i, 1] * local_pose[1, j]
                + body_placed[i, 2] * local_pose[2, j]
            )
        shape_placed[POSITION, i] = at


@subkernel
def place_pair(pose_a, pose_b, pose):
    """Pose of shape b in the frame of shape a, and the other way round."""
    dx = pose_b[POSITION, 0] - pose_a[POSITION, 0]
    dy = pose_b[POSITION, 1] - pose_a[POSITION, 1]
    dz = pose_b[POSITION, 2] - pose_a[POSITION, 2]
    for i in range(3):
        pose[B_IN_A, POSITION, i] = pose_a[0, i] * dx + pose_a[1, i] * dy + pose_a[2, i] * dz
        pose[A_IN_B, POSITION, i] = -(pose_b[0, i] * dx + pose_b[1, i] * dy + pose_b[2, i] * dz)
        for j in range(3):
            element = pose_a[0, i] * pose_b[0, j] + pose_a[1, i] * pose_b[1, j] + pose_a[2, i] * pose_b[2, j]
            pose[B_IN_A, i, j] = element
            pose[A_IN_B, j, i] = element


@subkernel
def way_lever(kind, local_pose, radius):
    """Distance of a shape's farthest point from its body's centre of mass; a ball that turns there sweeps nothing."""
    offset = 0.0
    for i in range(3):
        offset += local_pose[POSITION, i] ** 2
    return math.sqrt(offset) + (0.0 if kind == SPHERE else radius)


@subkernel
def closest_approach(velocity_a, velocity_b, lever_a, lever_b):
    """Bound on the speed at which points of two bodies come closer in any direction [m/s]."""
    along, spin_a, spin_b = 0.0, 0.0, 0.0
    for i in range(3):
        along += (velocity_b[i] - velocity_a[i]) ** 2
        spin_a += velocity_a[3 + i] ** 2
        spin_b += velocity_b[3 + i] ** 2
    return math.sqrt(along) + math.sqrt(spin_a) * lever_a + math.sqrt(spin_b) * lever_b


@subkernel
def closing_speed(pose_a, direction, velocity_a, velocity_b, lever_a, lever_b):
    """Bound on the speed at which points of two bodies come closer along a direction of the frame of a [m/s].

    The part of a spin along the direction moves no point along it.
    """
    x = pose_a[0, 0] * direction[0] + pose_a[0, 1] * direction[1] + pose_a[0, 2] * direction[2]
    y = pose_a[1, 0] * direction[0] + pose_a[1, 1] * direction[1] + pose_a[1, 2] * direction[2]
    z = pose_a[2, 0] * direction[0] + pose_a[2, 1] * direction[1] + pose_a[2, 2] * direction[2]
    closing = x * (velocity_a[0] - velocity_b[0])
    closing += y * (velocity_a[1] - velocity_b[1]) + z * (velocity_a[2] - velocity_b[2])
    return closing + lever_a * swing(velocity_a, x, y, z) + lever_b * swing(velocity_b, x, y, z)


@subkernel
def swing(velocity, x, y, z):
    """Length of omega x n."""
    p, q, r = velocity[3], velocity[4], velocity[5]
    return math.sqrt((q * z - r * y) ** 2 + (r * x - p * z) ** 2 + (p * y - q * x) ** 2)


@subkernel
def measure_from_start(
    point,
    normals,
    gap,
    drift,
    first,
    last,
    share,
    h,
    start_a,
    start_b,
    velocity_a,
    velocity_b,
    least_way,
    least_approach,
    pose,
):
    """Turn contacts that were made where two bodies meet into those of the substep's start.

    Arms and normals of fast bodies stay what they are at the meeting, since there the impulse acts: their angular
    momentum is kept there, and not as it is measured at the start. Those of others go from the start to
    one common point, in the middle, which keeps it to rounding. The gap is the way along the normal until they meet and
    what is left, so that the row lets the bodies come as far:

        gap = d + t h max(-u_n, least_approach),    u_n = n . (v_b + omega_b x r_b - v_a - omega_a x r_a)

    Parameters
    ----------
    point, normals, gap, drift : float64 [C, 3], [C, 3], [C], [C, 6]
        Of ``ContactArrays``: position (read and written), normal (read), gap (read and written), drift (its columns
        from PARTED on written).
    first, last : int
    share, h : float
        t; [s].
    start_a, start_b : float64 [4, 3]
        Poses of the bodies at the start (read).
    velocity_a, velocity_b : float64 [6 or more]
        On their ways (read).
    least_way : float
        Relative way in the whole substep from which on either body has its own arms [m].
    least_approach : float
        A smaller approach counts as this. 0 where bodies meet on their ways. -INFINITE at the end, of bodies that are
        apart at the start: a corner that is led out of a plane of the end has been deeper behind it [m/s].
    pose : float64 [6, 4, 3]
        Poses at the meeting (read).
    """
    va, vb = velocity_a, velocity_b
    way = (
        start_b[POSITION, 0] - pose[BODY_B, POSITION, 0] - start_a[POSITION, 0] + pose[BODY_A, POSITION, 0],
        start_b[POSITION, 1] - pose[BODY_B, POSITION, 1] - start_a[POSITION, 1] + pose[BODY_A, POSITION, 1],
        start_b[POSITION, 2] - pose[BODY_B, POSITION, 2] - start_a[POSITION, 2] + pose[BODY_A, POSITION, 2],
    )
    is_parted = way[0] * way[0] + way[1] * way[1] + way[2] * way[2] > (share * least_way) ** 2
    for contact in range(first, last):
        at, normal = point[contact], normals[contact]
        for i in range(3):
            at[i] += 0.5 * (start_a[POSITION, i] - pose[BODY_A, POSITION, i])
            at[i] += 0.5 * (start_b[POSITION, i] - pose[BODY_B, POSITION, i])
            drift[contact, PARTED + i] = way[i] if is_parted else 0.0
        p, q, r = 0.5 * drift[contact, PARTED], 0.5 * drift[contact, PARTED + 1], 0.5 * drift[contact, PARTED + 2]
        a0, b0 = at[0] - p - start_a[POSITION, 0], at[0] + p - start_b[POSITION, 0]
        a1, b1 = at[1] - q - start_a[POSITION, 1], at[1] + q - start_b[POSITION, 1]
        a2, b2 = at[2] - r - start_a[POSITION, 2], at[2] + r - start_b[POSITION, 2]
        u0 = vb[0] - va[0] + (vb[4] * b2 - vb[5] * b1) - (va[4] * a2 - va[5] * a1)
        u1 = vb[1] - va[1] + (vb[5] * b0 - vb[3] * b2) - (va[5] * a0 - va[3] * a2)
        u2 = vb[2] - va[2] + (vb[3] * b1 - vb[4] * b0) - (va[3] * a1 - va[4] * a0)
        approach = -(normal[0] * u0 + normal[1] * u1 + normal[2] * u2)
        gap[contact] += share * h * max(approach, least_approach)


@subkernel
def overlap_at_start(gap, first, last):
    """Depth of a pair's contacts of the start [m]."""
    depth = 0.0
    for contact in range(first, last):
        depth = max(depth, -gap[contact])
    return depth


@subkernel
def keep_apart_at_end(gap, drift, depth, first, last, size):
    """Note of contacts that were made at the end of a substep how much of a negative gap must not be left there.

    Measured from the start their planes may cut into shapes that are still apart: a body has turned or slid on until
    the end. That is no overlap to be taken out bit by bit; of a depth beyond RATIO_AT_ONCE nothing is asked. Pairs that
    overlap at the start by more than RATIO_APART are left to that: several such overlaps may contradict each other, and
    taken out at once they would throw bodies out.

    Parameters
    ----------
    gap, drift : float64 [C], [C, 7]
        Of ``ContactArrays``; ``gap`` and column AT_ONCE of ``drift`` written.
    depth : float
        Of the overlap at the start [m].
    first, last : int
        The pair's contacts of the end.
    size : float
        Of the smaller shape [m].
    """
    is_apart = depth <= RATIO_APART * size
    for contact in range(first, last):
        if is_apart:
            gap[contact] = max(gap[contact], -depth - RATIO_AT_ONCE * size)
        drift[contact, AT_ONCE] = max(0.0, -gap[contact] - depth) if is_apart else 0.0


# ---- hits that spin a body about


@subkernel
def hold_centers(
    polytopes,
    row_a,
    row_b,
    kind_a,
    kind_b,
    parameters_a,
    parameters_b,
    local_a,
    local_b,
    lever_a,
    lever_b,
    moves_a,
    moves_b,
    reach,
    maximal_points,
    count,
    scratch,
):
    """Add contacts of the centres of mass of two fast bodies to their manifold, so that neither turns its way through.

    A hit beside its centre spins a small fast body by many turns a substep. To the linear rows the centre then goes on
    through what was hit, about the point that was stopped. But as long as the body is on its side of a face, its
    centre is farther off by the depth at which it lies within the body. Where the plane is no face of what was hit,
    the centre may swing round it, as far as its distance from the body's farthest point leads.

    Parameters
    ----------
    polytopes, row_a, row_b, kind_a, kind_b, parameters_a, parameters_b, local_a, local_b, lever_a, lever_b
        As of ``follow_pair``.
    moves_a, moves_b : bool
        Whether they can be pushed.
    reach : float
        Largest gap that makes a contact [m].
    maximal_points : int
        Where the manifold has as many, the farthest contact gives way.
    count : int
        Contacts of the manifold in ``scratch``, above 0.
    scratch : PairScratch
        ``contact`` written.

    Returns
    -------
    int
        Contacts.
    """
    contact, normal, origin, pose = scratch.contact, scratch.axes[NORMAL], scratch.feature[ORIGIN], scratch.pose
    deepest = 0
    for row in range(1, count):
        if contact[row, GAP] < contact[deepest, GAP]:
            deepest = row
    for is_b in range(2):
        kind, moves = (kind_b, moves_b) if is_b == 1 else (kind_a, moves_a)
        if kind == SPHERE or not moves:
            continue
        lever = lever_b if is_b == 1 else lever_a
        x, y, z = center_in_shape(local_b if is_b == 1 else local_a)
        if is_b == 1:
            depth = depth_of_point(polytopes, row_b, kind_b, parameters_b, x, y, z)
            r = pose[B_IN_A]
            x, y, z = (
                r[POSITION, 0] + r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
                r[POSITION, 1] + r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
                r[POSITION, 2] + r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
            )
        else:
            depth = depth_of_point(polytopes, row_a, kind_a, parameters_a, x, y, z)
        if depth <= 0.0:
            # A part of a body whose centre lies outside of it.
            continue
        allowed = 0.0
        if origin != (FACE_OF_A if is_b == 1 else FACE_OF_B):
            depth, allowed = 0.0, lever
        column, sign = (POINT_A, 1.0) if is_b == 1 else (POINT_B, -1.0)
        gap = allowed - depth
        gap += sign * normal[0] * (x - contact[deepest, column])
        gap += sign * normal[1] * (y - contact[deepest, column + 1])
        gap += sign * normal[2] * (z - contact[deepest, column + 2])
        if gap > reach:
            continue
        place = count
        if count >= maximal_points:
            place = 0
            for row in range(1, count):
                if contact[row, GAP] > contact[place, GAP]:
                    place = row
        own, across = (POINT_B, POINT_A) if is_b == 1 else (POINT_A, POINT_B)
        for i in range(3):
            at = x if i == 0 else y if i == 1 else z
            contact[place, own + i] = at - sign * depth * normal[i]
            contact[place, across + i] = at - sign * (depth + gap) * normal[i]
        contact[place, GAP] = gap
        count = max(count, place + 1)
    return count


@subkernel
def center_in_shape(local_pose):
    """A body's centre of mass, its frame's origin, in the frame of one of its shapes."""
    x, y, z = local_pose[POSITION, 0], local_pose[POSITION, 1], local_pose[POSITION, 2]
    return into_frame(local_pose, -x, -y, -z)


@subkernel
def depth_of_point(polytopes, row, kind, parameters, x, y, z):
    """Distance of a point in a shape from its surface, not above 0 outside; own frame [m]."""
    if kind in (SPHERE, CAPSULE):
        beyond = max(abs(z) - (parameters[1] if kind == CAPSULE else 0.0), 0.0)
        return parameters[0] - (x * x + y * y + beyond * beyond) ** 0.5
    return depth_inside(polytopes, row, kind, parameters, 0.0, 0.0, 0.0, x, y, z)


# ---- what rows tell of the end


@subkernel
def predicted_gap(point, normals, gap, drift, link, h, body_a, body_b, body_pose, velocity):
    """Least gap + h u_n of a pair's contacts, which its rows tell of the end; infinite without contacts [m].

    Parameters
    ----------
    point, normals, gap, drift : float64 [C, 3], [C, 3], [C], [C, 6]
        Of ``ContactArrays`` (read).
    link : int64 [columns]
        The pair's row of ``PairArrays.link`` (read).
    h : float
        [s]
    body_a, body_b : int
    body_pose : float64 [B, 4, 3]
        At the start (read).
    velocity : float64 [B, 6 or more]
        (read)

    Returns
    -------
    float
    """
    start_a, start_b, va, vb = body_pose[body_a], body_pose[body_b], velocity[body_a], velocity[body_b]
    least = INFINITE
    for contact in range(link[CONTACT_START], link[CONTACT_START] + link[CONTACT_COUNT]):
        at, normal, way = point[contact], normals[contact], drift[contact]
        p, q, r = 0.5 * way[PARTED], 0.5 * way[PARTED + 1], 0.5 * way[PARTED + 2]
        a0, b0 = at[0] - p - start_a[POSITION, 0], at[0] + p - start_b[POSITION, 0]
        a1, b1 = at[1] - q - start_a[POSITION, 1], at[1] + q - start_b[POSITION, 1]
        a2, b2 = at[2] - r - start_a[POSITION, 2], at[2] + r - start_b[POSITION, 2]
        u0 = way[0] + vb[0] - va[0] + (vb[4] * b2 - vb[5] * b1) - (va[4] * a2 - va[5] * a1)
        u1 = way[1] + vb[1] - va[1] + (vb[5] * b0 - vb[3] * b2) - (va[5] * a0 - va[3] * a2)
        u2 = way[2] + vb[2] - va[2] + (vb[3] * b1 - vb[4] * b0) - (va[3] * a1 - va[4] * a0)
        least = min(least, gap[contact] + h * (normal[0] * u0 + normal[1] * u1 + normal[2] * u2))
    return least
