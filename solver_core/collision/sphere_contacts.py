"""Contacts of a sphere with any convex shape: one point, along the line to the closest point.

A sphere whose centre lies inside the other shape is pushed out through the nearest face.
"""

from ..kernel import subkernel
from .closest_points import RATIO_TOUCHING, closest_points
from .round_points import round_and_point
from .workspace import (
    A_IN_B,
    B_IN_A,
    BOX,
    CAPSULE,
    CLOSEST_POINTS,
    CONE,
    DIRECTION,
    FACES,
    GAP,
    NORMAL,
    ON_A,
    ON_B,
    ORIGIN,
    ORIGIN_FEATURE,
    POINT_A,
    POINT_B,
    POSITION,
    SPHERE,
)

INFINITE = 1e300


@subkernel
def sphere_contacts(polytopes, a, b, kind_a, kind_b, parameters_a, parameters_b, size, reach, scratch):
    """Make the manifold of two shapes of which at least one is a sphere.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    a, b : int
        Their rows; the row of a round shape is a point.
    kind_a, kind_b : int
        ``ShapeKind``.
    parameters_a, parameters_b : float64 [3]
        As in ``ShapeArrays`` [m] (read).
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
    radius_a = parameters_a[0] if kind_a == SPHERE else 0.0
    radius_b = parameters_b[0] if kind_b == SPHERE else 0.0
    # From here on the spheres are their centres: points.
    if kind_a == SPHERE and kind_b == SPHERE:
        distance = between_points(pose[B_IN_A], touching, closest)
    elif kind_a == BOX:
        distance = box_and_point(parameters_a, pose[B_IN_A], touching, closest)
    elif kind_b == BOX:
        distance = box_and_point(parameters_b, pose[A_IN_B], touching, closest)
        change_roles(pose[B_IN_A], closest)
    elif CAPSULE <= kind_a <= CONE:
        distance = round_and_point(kind_a, parameters_a, pose[B_IN_A], touching, closest)
    elif CAPSULE <= kind_b <= CONE:
        distance = round_and_point(kind_b, parameters_b, pose[A_IN_B], touching, closest)
        change_roles(pose[B_IN_A], closest)
    else:
        farthest = reach + radius_a + radius_b
        distance = closest_points(polytopes, a, b, farthest, touching, pose, scratch.simplex, closest)
        if distance == 0.0 and kind_b == SPHERE:
            distance = hull_and_point_inside(polytopes, a, pose[B_IN_A], closest)
        elif distance == 0.0:
            distance = hull_and_point_inside(polytopes, b, pose[A_IN_B], closest)
            change_roles(pose[B_IN_A], closest)
    gap = distance - radius_a - radius_b
    if gap > reach:
        return 0
    for i in range(3):
        normal = closest[DIRECTION, i]
        scratch.axes[NORMAL, i] = normal
        scratch.contact[0, POINT_A + i] = closest[ON_A, i] + radius_a * normal
        scratch.contact[0, POINT_B + i] = closest[ON_B, i] - radius_b * normal
    scratch.contact[0, GAP] = gap
    scratch.feature[ORIGIN] = CLOSEST_POINTS
    scratch.feature[ORIGIN_FEATURE] = -1
    return 1


@subkernel
def between_points(pose, touching, closest):
    """Distance and direction of the two shapes' origins; upwards along z of a where they coincide."""
    distance = (pose[POSITION, 0] ** 2 + pose[POSITION, 1] ** 2 + pose[POSITION, 2] ** 2) ** 0.5
    for i in range(3):
        closest[ON_A, i] = 0.0
        closest[ON_B, i] = pose[POSITION, i]
        closest[DIRECTION, i] = pose[POSITION, i] / distance if distance > touching else 0.0
    if distance <= touching:
        closest[DIRECTION, 2] = 1.0
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
        closest[ON_A, i] = held
        closest[ON_B, i] = point
        closest[DIRECTION, i] = point - held
        square += (point - held) ** 2
        if half[i] - abs(point) < nearest:
            nearest = half[i] - abs(point)
            nearest_axis = i
    distance = square**0.5
    if distance > touching:
        for i in range(3):
            closest[DIRECTION, i] /= distance
        return distance
    sign = -1.0 if pose[POSITION, nearest_axis] < 0.0 else 1.0
    for i in range(3):
        closest[DIRECTION, i] = 0.0
    closest[DIRECTION, nearest_axis] = sign
    closest[ON_A, nearest_axis] = sign * half[nearest_axis]
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
        closest[DIRECTION, i] = plane[best_row, i]
        closest[ON_A, i] = pose[POSITION, i] - best * plane[best_row, i]
        closest[ON_B, i] = pose[POSITION, i]
    return best


@subkernel
def change_roles(pose, closest):
    """What was found as (shape b, point a) in b's frame becomes (a, b) in a's frame."""
    bx, by, bz = closest[ON_A, 0], closest[ON_A, 1], closest[ON_A, 2]
    ax, ay, az = closest[ON_B, 0], closest[ON_B, 1], closest[ON_B, 2]
    nx, ny, nz = closest[DIRECTION, 0], closest[DIRECTION, 1], closest[DIRECTION, 2]
    for i in range(3):
        closest[ON_A, i] = pose[POSITION, i] + pose[i, 0] * ax + pose[i, 1] * ay + pose[i, 2] * az
        closest[ON_B, i] = pose[POSITION, i] + pose[i, 0] * bx + pose[i, 1] * by + pose[i, 2] * bz
        closest[DIRECTION, i] = -(pose[i, 0] * nx + pose[i, 1] * ny + pose[i, 2] * nz)
