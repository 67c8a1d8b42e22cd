"""Contacts of a sphere with any convex shape: one point, along the line to the closest point.

A sphere whose centre lies inside the other shape is pushed out through the nearest face. A sheet pushes to the side on
which the centre is; against gravity if that is in the sheet or hardly below (``sheet_sides``).
"""

from ...compiled.kernel import subkernel
from ..data.workspace import BOX, CLOSEST_POINTS, FACES, INFINITE, POSITION, SPHERE, has_axis
from ..distance.closest_points import RATIO_TOUCHING, closest_points, into_frame, to_middle
from ..distance.sheet_sides import is_astride, is_steep
from .round_points import round_and_point

# A ball's centre is over a sheet's face, and not beside it, if the cosine between the way to it and the normal is above
# this.
COSINE_OVER_FACE = 0.999


@subkernel
def sphere_contacts(polytopes, a, b, size, reach, scratch):
    """Make the manifold of two shapes of which at least one is a sphere.

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
    scratch : PairScratch
        Relative pose (read); the manifold (written).

    Returns
    -------
    int
        Contacts: 0 or 1.
    """
    pose, closest = scratch.pose, scratch.closest
    touching = RATIO_TOUCHING * size
    radius_a = a.parameters[0] if a.kind == SPHERE else 0.0
    radius_b = b.parameters[0] if b.kind == SPHERE else 0.0
    # From here on the spheres are their centres: points.
    if a.kind == SPHERE and b.kind == SPHERE:
        distance = between_points(pose.b_in_a, touching, closest)
    elif a.kind == BOX:
        distance = box_and_point(a.parameters, pose.b_in_a, touching, closest)
    elif b.kind == BOX:
        distance = box_and_point(b.parameters, pose.a_in_b, touching, closest)
        change_roles(pose.b_in_a, closest)
    elif has_axis(a.kind):
        at = pose.b_in_a[POSITION]
        distance = round_and_point(a.kind, a.parameters, at, touching, closest.on_a, closest.on_b, closest.direction)
    elif has_axis(b.kind):
        at = pose.a_in_b[POSITION]
        distance = round_and_point(b.kind, b.parameters, at, touching, closest.on_a, closest.on_b, closest.direction)
        change_roles(pose.b_in_a, closest)
    else:
        farthest = reach + radius_a + radius_b
        x, y, z = to_middle(pose.b_in_a)
        distance = closest_points(polytopes, a.polytope, b.polytope, x, y, z, farthest, touching, scratch)
        if distance == 0.0 and b.kind == SPHERE:
            distance = hull_and_point_inside(polytopes, a.polytope, pose.b_in_a, closest)
        elif distance == 0.0:
            distance = hull_and_point_inside(polytopes, b.polytope, pose.a_in_b, closest)
            change_roles(pose.b_in_a, closest)
        distance = lift_astride(polytopes, a, b, 2.0 * max(radius_a, radius_b), distance, scratch)
    gap = distance - radius_a - radius_b
    if gap > reach:
        return 0
    for i in range(3):
        normal = closest.direction[i]
        scratch.axes.normal[i] = normal
        scratch.manifold.point_a[0, i] = closest.on_a[i] + radius_a * normal
        scratch.manifold.point_b[0, i] = closest.on_b[i] - radius_b * normal
    scratch.manifold.gap[0] = gap
    scratch.feature.origin[0] = CLOSEST_POINTS
    scratch.feature.origin_feature[0] = -1
    return 1


@subkernel
def lift_astride(polytopes, a, b, thickness, distance, scratch):
    """Turn what was found of a ball and a sheet round if the ball is astride it with its centre below.

    Returns
    -------
    float
        Distance of the centre, negative if it was turned [m].
    """
    pose, closest = scratch.pose, scratch.closest
    sheet = a.polytope if b.kind == SPHERE else b.polytope
    flat_face = polytopes.flat_face[sheet]
    if flat_face < 0 or distance < 0.0 or not is_astride(distance, thickness):
        return distance
    plane, x, y, z = polytopes.plane[polytopes.start[sheet, FACES] + flat_face], 0.0, 0.0, 0.0
    d0, d1, d2 = closest.direction[0], closest.direction[1], closest.direction[2]
    rises = d0 * pose.up_in_a[0] + d1 * pose.up_in_a[1] + d2 * pose.up_in_a[2]
    x, y, z = d0, d1, d2
    if b.kind != SPHERE:
        # the direction leads from the ball to the sheet
        rises = -rises
        x, y, z = into_frame(pose.b_in_a, d0, d1, d2)
    is_over_face = abs(plane[0] * x + plane[1] * y + plane[2] * z) > COSINE_OVER_FACE
    if rises >= 0.0 or is_steep(rises) or not is_over_face:
        return distance
    for i in range(3):
        closest.direction[i] = -closest.direction[i]
    return -distance


@subkernel
def between_points(pose, touching, closest):
    """Distance and direction of the two shapes' origins; upwards along z of a where they coincide."""
    distance = (pose[POSITION, 0] ** 2 + pose[POSITION, 1] ** 2 + pose[POSITION, 2] ** 2) ** 0.5
    for i in range(3):
        closest.on_a[i] = 0.0
        closest.on_b[i] = pose[POSITION, i]
        closest.direction[i] = pose[POSITION, i] / distance if distance > touching else 0.0
    if distance <= touching:
        closest.direction[2] = 1.0
    return distance


@subkernel
def box_and_point(half, pose, touching, closest):
    """Signed distance of a point from a box, in the box's frame; the box is a, the point b."""
    square = 0.0
    nearest = INFINITE
    nearest_axis = 0
    for i in range(3):
        point = pose[POSITION, i]
        held = min(max(point, -half[i]), half[i])
        closest.on_a[i] = held
        closest.on_b[i] = point
        closest.direction[i] = point - held
        square += (point - held) ** 2
        if half[i] - abs(point) < nearest:
            nearest = half[i] - abs(point)
            nearest_axis = i
    distance = square**0.5
    if distance > touching:
        for i in range(3):
            closest.direction[i] /= distance
        return distance
    sign = -1.0 if pose[POSITION, nearest_axis] < 0.0 else 1.0
    for i in range(3):
        closest.direction[i] = 0.0
    closest.direction[nearest_axis] = sign
    closest.on_a[nearest_axis] = sign * half[nearest_axis]
    return -nearest


@subkernel
def hull_and_point_inside(polytopes, hull, pose, closest):
    """Signed distance of a point inside a hull (or on it) from its nearest face, in the hull's frame; a is the hull."""
    x, y, z = pose[POSITION, 0], pose[POSITION, 1], pose[POSITION, 2]
    first, plane = polytopes.start[hull, FACES], polytopes.plane
    best = -INFINITE
    best_row = first
    flat_face = polytopes.flat_face[hull]
    for row in range(first, polytopes.start[hull + 1, FACES]):
        distance = plane[row, 0] * x + plane[row, 1] * y + plane[row, 2] * z - plane[row, 3]
        if flat_face >= 0 and distance < 0.0 and flat_face <= row - first <= flat_face + 1:
            # A sheet pushes to the side on which the centre is.
            continue
        if distance > best:
            best = distance
            best_row = row
    for i in range(3):
        closest.direction[i] = plane[best_row, i]
        closest.on_a[i] = pose[POSITION, i] - best * plane[best_row, i]
        closest.on_b[i] = pose[POSITION, i]
    return best


@subkernel
def change_roles(pose, closest):
    """What was found as (shape b, point a) in b's frame becomes (a, b) in a's frame."""
    bx, by, bz = closest.on_a[0], closest.on_a[1], closest.on_a[2]
    ax, ay, az = closest.on_b[0], closest.on_b[1], closest.on_b[2]
    nx, ny, nz = closest.direction[0], closest.direction[1], closest.direction[2]
    for i in range(3):
        closest.on_a[i] = pose[POSITION, i] + pose[i, 0] * ax + pose[i, 1] * ay + pose[i, 2] * az
        closest.on_b[i] = pose[POSITION, i] + pose[i, 0] * bx + pose[i, 1] * by + pose[i, 2] * bz
        closest.direction[i] = -(pose[i, 0] * nx + pose[i, 1] * ny + pose[i, 2] * nz)
