"""Contacts of a capsule, cylinder or cone with any convex shape.

Stages, each only where the one before leaves the answer open. Distances are those of the cores (``round_support``),
less the radii around them.

1. two axes: capsules and cylinders side by side;
2. faces: the manifold of the face or cap that keeps the other farthest out. Apart it is exact where its smallest gap is
   the separation along the face's normal. Overlapping it is exact where a point of the other that deep lies at least
   as deep below all of the shape's surface: moved by less in any direction it would still be inside;
3. closest points where the cores are apart, the least depth where they overlap.

Where the closest features are lines along each other, contacts lie at the ends of their common stretch.
"""

import numpy as np

from ...compiled.kernel import subkernel
from ..data.workspace import (
    BOX,
    CAPSULE,
    CLOSEST_POINTS,
    CONE,
    CYLINDER,
    FACE_OF_A,
    FACE_OF_B,
    HULL,
    INFINITE,
    POSITION,
    SPHERE,
    VERTICES,
)
from ..distance.closest_points import RATIO_TOUCHING, into_frame, to_middle
from ..distance.round_separation import closest_cores, least_depth
from ..distance.round_support import depth_inside, rounding, separate_along_faces, support_point
from ..distance.sheet_sides import find_side
from .round_manifold import face_of_round_manifold, line_manifold, place_ends, set_ruling

# A manifold whose smallest gap is this near (share of the smaller shape's size) to the exact distance or depth has it.
RATIO_AGREE = 5e-7

# The face of the last step is kept until another is better by this share of the size.
RATIO_HYSTERESIS = 1e-4

# Axes at a smaller sine than this are parallel where their closest points are asked for.
SINE_PARALLEL_AXES = 1e-4

# A ruling, or an edge, belongs to a contact if its angle to the plane across the normal has a smaller sine.
SINE_OF_FEATURE = 0.01

# A sheet is taken this many times as thick as the other shape is large, on its far side: no way out leads there.
RATIO_SLAB = 4.0


@subkernel
def round_contacts(polytopes, a, b, size, reach, maximal_points, reference, feature, scratch):
    """Make the manifold of two shapes, at least one of them a capsule, cylinder or cone; neither a sphere.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    a, b : PairShape
        (read)
    size : float
        Of the smaller shape [m].
    reach : float
        Largest gap that makes a contact [m].
    maximal_points : int
    reference, feature : int
        As in ``PairArrays``, of the last step; they decide near ties. A cap's number is 0 above, 1 below.
    scratch : PairScratch
        Relative pose (read); the manifold (written).

    Returns
    -------
    int
        Contacts.
    """
    axes, best, pose = scratch.axes, scratch.feature, scratch.pose
    touching, agree, favour = RATIO_TOUCHING * size, RATIO_AGREE * size, RATIO_HYSTERESIS * size
    radius = rounding(a) + rounding(b)
    best.is_curved[0] = 1
    if a.kind in (CAPSULE, CYLINDER) and b.kind in (CAPSULE, CYLINDER):
        count = axis_contacts(a, b, touching, agree, reach, scratch)
        if count >= 0:
            return count

    favoured_a = feature if reference == FACE_OF_A else -1
    favoured_b = feature if reference == FACE_OF_B else -1
    stays_on_sheet = find_side(polytopes, a, b, size, favoured_a, favoured_b, pose, axes.side)
    is_sheet = polytopes.flat_face[a.polytope] >= 0 or polytopes.flat_face[b.polytope] >= 0
    x, y, z = axes.side[0], axes.side[1], axes.side[2]
    axes.separation_b[0] = -INFINITE
    axes.separation_a[0], best.best_a[0] = separate_along_faces(
        polytopes, a, b, pose.b_in_a, x, y, z, reach + radius, favoured_a, favour
    )
    if axes.separation_a[0] > reach + radius:
        return 0
    x, y, z = into_frame(pose.b_in_a, -x, -y, -z)
    axes.separation_b[0], best.best_b[0] = separate_along_faces(
        polytopes, b, a, pose.a_in_b, x, y, z, reach + radius, favoured_b, favour
    )
    if axes.separation_b[0] > reach + radius:
        return 0

    allowed = agree
    separation = max(axes.separation_a[0], axes.separation_b[0])
    is_face_of_b = axes.separation_b[0] > axes.separation_a[0] + agree
    if favoured_a >= 0 and favoured_a == best.best_a[0]:
        is_face_of_b = axes.separation_b[0] > axes.separation_a[0] + favour
        allowed = agree if is_face_of_b else favour
    elif favoured_b >= 0 and favoured_b == best.best_b[0]:
        is_face_of_b = axes.separation_b[0] >= axes.separation_a[0] - favour
        allowed = favour if is_face_of_b else agree
    count, deepest = make_face_manifold(polytopes, a, b, is_face_of_b, radius, reach, size, maximal_points, scratch)
    if stays_on_sheet and count > 0 and deepest <= touching:
        # What is nearest may lie on the sheet's other side.
        return count
    if count > 0 and abs(deepest + radius - separation) <= allowed:
        if separation > touching:
            return count
        if is_certain(polytopes, a, b, is_face_of_b, count, radius, allowed, scratch):
            return count

    x, y, z = to_middle(pose.b_in_a)
    distance = closest_cores(polytopes, a, b, x, y, z, reach + radius, touching, scratch)
    if distance > reach + radius:
        return 0
    if distance > 0.0:
        x, y, z = scratch.closest.direction[0], scratch.closest.direction[1], scratch.closest.direction[2]
    else:
        thickness = 0.0
        if is_sheet:
            body = b.parameters if polytopes.flat_face[a.polytope] >= 0 else a.parameters
            thickness = RATIO_SLAB * (body[0] + body[1])
        x, y, z = axes.normal[0], axes.normal[1], axes.normal[2]
        best_face = axes.separation_b[0] if is_face_of_b else axes.separation_a[0]
        distance, x, y, z = least_depth(polytopes, a, b, size, thickness, scratch, -best_face, x, y, z)
        distance = -distance
        if abs(deepest + radius - distance) <= allowed:
            return count
        if distance == best_face:
            # The face is the way out, but what is deepest below it does not lie over it.
            return add_deepest(polytopes, a, b, is_face_of_b, distance, count, maximal_points, scratch)
    if abs(deepest + radius - distance) <= allowed:
        return count
    return contact_along(polytopes, a, b, distance, x, y, z, agree, reach, scratch)


@subkernel
def finish(scratch, origin, feature, nx, ny, nz, is_curved):
    """Note the manifold's normal and where it comes from."""
    scratch.axes.normal[0], scratch.axes.normal[1], scratch.axes.normal[2] = nx, ny, nz
    scratch.feature.origin[0], scratch.feature.origin_feature[0] = origin, feature
    scratch.feature.is_curved[0] = 1 if is_curved else 0


@subkernel
def smallest_gap(manifold, count):
    """Of the manifold so far."""
    deepest = INFINITE
    for point in range(count):
        deepest = min(deepest, manifold.gap[point])
    return deepest


# ---- faces


@subkernel
def make_face_manifold(polytopes, a, b, is_face_of_b, radius, reach, size, maximal_points, scratch):
    """Manifold of the better one of the two best faces; returns its contacts and smallest gap."""
    holder, other, face = (b, a, scratch.feature.best_b[0]) if is_face_of_b else (a, b, scratch.feature.best_a[0])
    count, nx, ny, nz, is_standing = face_of_round_manifold(
        polytopes, holder, face, other, is_face_of_b, radius, reach, size, maximal_points, scratch
    )
    sign = -1.0 if is_face_of_b else 1.0
    finish(scratch, FACE_OF_B if is_face_of_b else FACE_OF_A, face, sign * nx, sign * ny, sign * nz, not is_standing)
    return count, smallest_gap(scratch.manifold, count)


@subkernel
def is_certain(polytopes, a, b, is_face_of_b, count, radius, allowed, scratch):
    """Whether no way out of the overlap is shorter than the face's by more than ``allowed``.

    The middle of the deepest contacts is a point of the other core. Where its distance from all of the holder's surface
    is the depth, the other cannot leave by less in any direction.
    """
    manifold, pose, axes = scratch.manifold, scratch.pose, scratch.axes
    deepest = smallest_gap(manifold, count)
    points = manifold.point_a if is_face_of_b else manifold.point_b
    x, y, z, taken = 0.0, 0.0, 0.0, 0
    for point in range(count):
        if manifold.gap[point] <= deepest + allowed:
            x, y, z = x + points[point, 0], y + points[point, 1], z + points[point, 2]
            taken += 1
    # From the other's surface back to its core: the normal leads from a to b.
    inwards = (-radius if is_face_of_b else radius) * taken
    x = (x + inwards * axes.normal[0]) / taken
    y = (y + inwards * axes.normal[1]) / taken
    z = (z + inwards * axes.normal[2]) / taken
    sx, sy, sz = axes.side[0], axes.side[1], axes.side[2]
    if not is_face_of_b:
        depth = depth_inside(polytopes, a, sx, sy, sz, x, y, z)
    else:
        r = pose.b_in_a
        x, y, z = into_frame(r, x - r[POSITION, 0], y - r[POSITION, 1], z - r[POSITION, 2])
        sx, sy, sz = into_frame(r, -sx, -sy, -sz)
        depth = depth_inside(polytopes, b, sx, sy, sz, x, y, z)
    return depth >= -(deepest + radius) - allowed


@subkernel
def add_deepest(polytopes, a, b, is_face_of_b, distance, count, maximal_points, scratch):
    """Add the point of the other shape that is deepest below a face to the face's manifold; return the contacts."""
    axes, pose, ends = scratch.axes, scratch.pose.b_in_a, scratch.ends
    nx, ny, nz = axes.normal[0], axes.normal[1], axes.normal[2]
    radius_a, radius_b = rounding(a), rounding(b)
    gap = distance - radius_a - radius_b
    if is_face_of_b:
        set_feature(polytopes, a, nx, ny, nz, ends)
        shift = radius_a
    else:
        p, q, s = into_frame(pose, -nx, -ny, -nz)
        set_feature(polytopes, b, p, q, s, ends)
        place_ends(pose, ends, np.int64(0))
        shift = -radius_b - gap
    row = min(count, maximal_points - 1)
    x = 0.5 * (ends[0, 0] + ends[1, 0]) + shift * nx
    y = 0.5 * (ends[0, 1] + ends[1, 1]) + shift * ny
    z = 0.5 * (ends[0, 2] + ends[1, 2]) + shift * nz
    set_point(scratch.manifold, row, x, y, z, nx, ny, nz, gap)
    return row + 1


# ---- two axes


@subkernel
def axis_contacts(a, b, touching, agree, reach, scratch):
    """Contacts of capsules and cylinders side by side, from the closest points of their axes.

    Returns
    -------
    int
        Contacts; -1 if it is the caps, or an end of a cylinder's axis, that decide.
    """
    kind_a, kind_b, parameters_a, parameters_b = a.kind, b.kind, a.parameters, b.parameters
    pose, ends, manifold = scratch.pose.b_in_a, scratch.ends, scratch.manifold
    ux, uy, uz = pose[0, 2], pose[1, 2], pose[2, 2]
    half_a, half_b = parameters_a[1], parameters_b[1]
    px, py, pz = pose[POSITION, 0], pose[POSITION, 1], pose[POSITION, 2]
    s, t = closest_of_axes(uz, pz, px * ux + py * uy + pz * uz, half_a, half_b)
    x, y, z = px + t * ux, py + t * uy, pz + t * uz - s
    length = (x * x + y * y + z * z) ** 0.5
    are_capsules = kind_a == CAPSULE and kind_b == CAPSULE
    if length > touching:
        x, y, z = x / length, y / length, z / length
    elif not are_capsules:
        return -1
    else:
        # Axes that meet: out across both. Where they lie along each other any direction across will do.
        length = 0.0
        x, y, z = -uy, ux, 0.0
        across = (x * x + y * y) ** 0.5
        if across > SINE_PARALLEL_AXES:
            x, y = x / across, y / across
        else:
            x, y, z = 1.0, 0.0, 0.0
    gap = length - parameters_a[0] - parameters_b[0]
    if are_capsules and gap > reach:
        return 0
    along_a, along_b = abs(z), abs(x * ux + y * uy + z * uz)
    if (kind_a == CYLINDER and along_a > SINE_PARALLEL_AXES) or (kind_b == CYLINDER and along_b > SINE_PARALLEL_AXES):
        return -1
    # Cylinders: the gap is at least the separation along the normal, and at most what one point shows.
    if not are_capsules:
        lowest = px * x + py * y + pz * z - parameters_a[0] - parameters_b[0] - half_a * along_a - half_b * along_b
        is_inside_a = kind_a == CYLINDER and half_a - abs(s) >= -gap
        is_inside_b = kind_b == CYLINDER and half_b - abs(t) >= -gap
        core_gap = length
        core_gap -= parameters_a[0] if kind_a == CYLINDER else 0.0
        core_gap -= parameters_b[0] if kind_b == CYLINDER else 0.0
        if abs(gap - lowest) > agree or (core_gap <= touching and not is_inside_a and not is_inside_b):
            return -1
        if lowest > reach:
            return 0
    set_ruling(kind_a, parameters_a, x, y, z, ends)
    # The second one needs rows of its own: the first moves there and back.
    for i in range(3):
        manifold.point_a[0, i], manifold.point_b[0, i] = ends[0, i], ends[1, i]
    p, q, r = into_frame(pose, -x, -y, -z)
    set_ruling(kind_b, parameters_b, p, q, r, ends)
    for i in range(3):
        ends[2, i], ends[3, i] = ends[0, i], ends[1, i]
        ends[0, i], ends[1, i] = manifold.point_a[0, i], manifold.point_b[0, i]
    place_ends(pose, ends, np.int64(2))
    radius_a = parameters_a[0] if kind_a == CAPSULE else 0.0
    radius_b = parameters_b[0] if kind_b == CAPSULE else 0.0
    count = line_manifold(ends, radius_a, radius_b, parameters_a[0] + parameters_b[0], x, y, z, reach, manifold)
    if count == 0 or smallest_gap(manifold, count) > gap + agree:
        set_point(
            manifold,
            count,
            x * parameters_a[0],
            y * parameters_a[0],
            s + z * parameters_a[0],
            x,
            y,
            z,
            gap,
        )
        count += 1
    finish(scratch, np.int64(CLOSEST_POINTS), np.int64(-1), x, y, z, True)
    return count


@subkernel
def closest_of_axes(cosine, along_a, along_b, half_a, half_b):
    """Where two segments come closest, from the middle of either (Ericson 2005, section 5.1.9).

    ``along_a`` and ``along_b`` are the way from a's middle to b's along either axis. Of parallel segments it is the
    middle of their common stretch.
    """
    determinant = 1.0 - cosine * cosine
    if determinant > SINE_PARALLEL_AXES * SINE_PARALLEL_AXES:
        s = min(max((along_a - cosine * along_b) / determinant, -half_a), half_a)
    else:
        reach = half_b * abs(cosine)
        low, high = max(-half_a, along_a - reach), min(half_a, along_a + reach)
        s = 0.5 * (low + high) if low <= high else half_a if along_a > 0.0 else -half_a
    t = min(max(s * cosine - along_b, -half_b), half_b)
    s = min(max(along_a + t * cosine, -half_a), half_a)
    return s, t


@subkernel
def set_point(manifold, row, x, y, z, nx, ny, nz, gap):
    """Write a contact from a's surface point."""
    manifold.point_a[row, 0], manifold.point_a[row, 1], manifold.point_a[row, 2] = x, y, z
    manifold.point_b[row, 0], manifold.point_b[row, 1], manifold.point_b[row, 2] = (
        x + gap * nx,
        y + gap * ny,
        z + gap * nz,
    )
    manifold.gap[row] = gap


# ---- what faces each other along a normal


@subkernel
def contact_along(polytopes, a, b, distance, nx, ny, nz, agree, reach, scratch):
    """Contacts along a normal that is no face's: two lines along each other, or one point.

    Parameters
    ----------
    distance : float
        Signed, of the cores [m]. Above 0 ``scratch.closest`` holds the closest points.
    """
    pose, ends = scratch.pose.b_in_a, scratch.ends
    p, q, s = into_frame(pose, -nx, -ny, -nz)
    bend_b = set_feature(polytopes, b, p, q, s, ends)
    for end in range(2):
        for i in range(3):
            ends[2 + end, i] = ends[end, i]
    place_ends(pose, ends, np.int64(2))
    bend_a = set_feature(polytopes, a, nx, ny, nz, ends)
    return meet_features(scratch, rounding(a), rounding(b), bend_a + bend_b, distance, nx, ny, nz, agree, reach)


@subkernel
def meet_features(scratch, radius_a, radius_b, bend, distance, nx, ny, nz, agree, reach):
    """Contacts of two segments (or points) whose ends are in ``scratch.ends``; arguments as of ``line_manifold``."""
    ends, manifold, closest = scratch.ends, scratch.manifold, scratch.closest
    gap = distance - radius_a - radius_b
    count = line_manifold(ends, radius_a, radius_b, bend, nx, ny, nz, reach, manifold)
    if count == 0 or smallest_gap(manifold, count) > gap + agree:
        if distance <= 0.0:
            meet_across(ends, nx, ny, nz, closest)
        x = 0.5 * (closest.on_a[0] + closest.on_b[0] + (radius_a - radius_b - gap) * nx)
        y = 0.5 * (closest.on_a[1] + closest.on_b[1] + (radius_a - radius_b - gap) * ny)
        z = 0.5 * (closest.on_a[2] + closest.on_b[2] + (radius_a - radius_b - gap) * nz)
        set_point(manifold, count, x, y, z, nx, ny, nz, gap)
        count += 1
    finish(scratch, np.int64(CLOSEST_POINTS), np.int64(-1), nx, ny, nz, True)
    return count


@subkernel
def set_feature(polytopes, shape, x, y, z, ends):
    """Write the ends of the ruling or edge that a core turns towards a unit direction, twice the point if it is one.

    Returns
    -------
    float
        Radius of curvature across it [m].
    """
    kind, parameters = shape.kind, shape.parameters
    p, q, s, best = support_point(polytopes, shape, x, y, z, np.int64(0))
    ends[0, 0], ends[0, 1], ends[0, 2] = p, q, s
    ends[1, 0], ends[1, 1], ends[1, 2] = p, q, s
    if kind == SPHERE:
        return parameters[0]
    if kind in (BOX, HULL):
        # The neighbour that lies least below.
        vertex, neighbor_start, neighbor = polytopes.vertex, polytopes.neighbor_start, polytopes.neighbor
        base, least = polytopes.start[shape.polytope, VERTICES], SINE_OF_FEATURE
        for row in range(neighbor_start[base + best], neighbor_start[base + best + 1]):
            other = base + neighbor[row]
            dx, dy, dz = p - vertex[other, 0], q - vertex[other, 1], s - vertex[other, 2]
            drop = (x * dx + y * dy + z * dz) / (dx * dx + dy * dy + dz * dz) ** 0.5
            if drop < least:
                least = drop
                ends[1, 0], ends[1, 1], ends[1, 2] = vertex[other, 0], vertex[other, 1], vertex[other, 2]
        return 0.0
    radius, half = parameters[0], parameters[1]
    across = (x * x + y * y) ** 0.5
    tilt = abs(z)
    bend = radius
    if kind == CONE:
        slope = (4.0 * half * half + radius * radius) ** 0.5
        tilt = abs(z * 2.0 * half - across * radius) / slope
        # At half the height, across the ruling.
        bend = 0.25 * radius * slope / half
    if tilt < SINE_OF_FEATURE and across > SINE_OF_FEATURE:
        set_ruling(kind, parameters, x, y, z, ends)
    return bend


@subkernel
def meet_across(ends, nx, ny, nz, closest):
    """Closest points of two segments (or points) as seen along n (Ericson 2005, section 5.1.9)."""
    aa, ab, bb, ac, bc = 0.0, 0.0, 0.0, 0.0, 0.0
    along_a, along_b, along = 0.0, 0.0, 0.0
    for i in range(3):
        normal = nx if i == 0 else ny if i == 1 else nz
        along_a += normal * (ends[1, i] - ends[0, i])
        along_b += normal * (ends[3, i] - ends[2, i])
        along += normal * (ends[0, i] - ends[2, i])
    for i in range(3):
        normal = nx if i == 0 else ny if i == 1 else nz
        side_a = ends[1, i] - ends[0, i] - along_a * normal
        side_b = ends[3, i] - ends[2, i] - along_b * normal
        between = ends[0, i] - ends[2, i] - along * normal
        aa += side_a * side_a
        ab += side_a * side_b
        bb += side_b * side_b
        ac += side_a * between
        bc += side_b * between
    determinant = aa * bb - ab * ab
    share_a, share_b = 0.0, 0.0
    if determinant > SINE_PARALLEL_AXES * SINE_PARALLEL_AXES * aa * bb:
        share_a = min(max((ab * bc - bb * ac) / determinant, 0.0), 1.0)
    elif aa > 0.0:
        share_a = min(max(-ac / aa, 0.0), 1.0)
    if bb > 0.0:
        share_b = min(max((ab * share_a + bc) / bb, 0.0), 1.0)
    if aa > 0.0:
        share_a = min(max((ab * share_b - ac) / aa, 0.0), 1.0)
    for i in range(3):
        closest.on_a[i] = ends[0, i] + share_a * (ends[1, i] - ends[0, i])
        closest.on_b[i] = ends[2, i] + share_b * (ends[3, i] - ends[2, i])
