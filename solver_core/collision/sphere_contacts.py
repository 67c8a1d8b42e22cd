"""Contacts of a sphere with a sphere, a box or a hull: one point, along the line to the closest point.

A sphere whose centre lies inside the other shape is pushed out through the nearest face.
"""

from ..kernel import kernel
from .closest_points import RATIO_TOUCHING, closest_points
from .workspace import BOX, CLOSEST_POINTS, SPHERE

INFINITE = 1e300


@kernel
def sphere_contacts(workspace, shape_a, shape_b, shapes, reach):
    """Make the manifold of two shapes of which at least one is a sphere.

    Parameters
    ----------
    workspace : CollisionWorkspace
        Relative pose in ``scratch`` (read); ``manifold`` written.
    shape_a, shape_b : int
    shapes : ShapeArrays
        (read)
    reach : float
        Largest gap that makes a contact [m].

    Returns
    -------
    int
        Contacts: 0 or 1.
    """
    scratch, manifold = workspace.scratch, workspace.manifold
    polytopes = workspace.polytopes
    a, b = workspace.polytope[shape_a], workspace.polytope[shape_b]
    touching = RATIO_TOUCHING * min(workspace.size[shape_a], workspace.size[shape_b])
    radius_a = shapes.parameters[shape_a, 0] if shapes.kind[shape_a] == SPHERE else 0.0
    radius_b = shapes.parameters[shape_b, 0] if shapes.kind[shape_b] == SPHERE else 0.0
    # From here on the spheres are their centres: points.
    if shapes.kind[shape_a] == SPHERE and shapes.kind[shape_b] == SPHERE:
        distance = between_points(scratch, touching)
    elif shapes.kind[shape_a] == BOX:
        distance = box_and_point(shapes.parameters[shape_a], scratch.translation, scratch, touching)
    elif shapes.kind[shape_b] == BOX:
        distance = box_and_point(shapes.parameters[shape_b], scratch.inverse_translation, scratch, touching)
        turn_to_frame_of_a(scratch)
    else:
        distance = closest_points(polytopes, a, b, reach + radius_a + radius_b, touching, scratch)
        if distance == 0.0 and radius_b > 0.0:
            distance = hull_and_point_inside(polytopes, a, scratch.translation, scratch)
        elif distance == 0.0:
            distance = hull_and_point_inside(polytopes, b, scratch.inverse_translation, scratch)
            turn_to_frame_of_a(scratch)
    gap = distance - radius_a - radius_b
    if gap > reach:
        return 0
    for axis in range(3):
        normal = scratch.closest_normal[axis]
        manifold.normal[axis] = normal
        manifold.point_a[0, axis] = scratch.closest_a[axis] + radius_a * normal
        manifold.point_b[0, axis] = scratch.closest_b[axis] - radius_b * normal
    manifold.gap[0] = gap
    manifold.origin[0] = CLOSEST_POINTS
    manifold.origin[1] = -1
    return 1


@kernel
def between_points(scratch, touching):
    """Distance and direction of the two shapes' origins; upwards along z of a where they coincide."""
    x, y, z = scratch.translation
    distance = (x * x + y * y + z * z) ** 0.5
    scratch.closest_a[:] = 0.0
    scratch.closest_b[:] = scratch.translation[:]
    scratch.closest_normal[:] = 0.0
    if distance <= touching:
        scratch.closest_normal[2] = 1.0
        return distance
    scratch.closest_normal[0] = x / distance
    scratch.closest_normal[1] = y / distance
    scratch.closest_normal[2] = z / distance
    return distance


@kernel
def box_and_point(half, point, scratch, touching):
    """Signed distance of a point from a box in the box's frame, where a is the box and b the point."""
    square = 0.0
    nearest = INFINITE
    nearest_axis = 0
    for axis in range(3):
        held = min(max(point[axis], -half[axis]), half[axis])
        scratch.closest_a[axis] = held
        scratch.closest_b[axis] = point[axis]
        scratch.closest_normal[axis] = point[axis] - held
        square += (point[axis] - held) ** 2
        if half[axis] - abs(point[axis]) < nearest:
            nearest = half[axis] - abs(point[axis])
            nearest_axis = axis
    distance = square**0.5
    if distance > touching:
        for axis in range(3):
            scratch.closest_normal[axis] /= distance
        return distance
    sign = -1.0 if point[nearest_axis] < 0.0 else 1.0
    scratch.closest_normal[:] = 0.0
    scratch.closest_normal[nearest_axis] = sign
    scratch.closest_a[nearest_axis] = sign * half[nearest_axis]
    return -nearest


@kernel
def hull_and_point_inside(polytopes, hull, point, scratch):
    """Signed distance of a point inside a hull (or on it) from its nearest face, in the hull's frame; a is the hull."""
    first = polytopes.face_start[hull]
    best = -INFINITE
    best_face = 0
    for face in range(polytopes.face_start[hull + 1] - first):
        normal = polytopes.face_normal[first + face]
        distance = normal[0] * point[0] + normal[1] * point[1] + normal[2] * point[2]
        distance -= polytopes.face_offset[first + face]
        if polytopes.is_flat[hull] and face < 2 and distance < 0.0:
            # A sheet pushes to the side on which the centre is.
            continue
        if distance > best:
            best = distance
            best_face = face
    for axis in range(3):
        normal_component = polytopes.face_normal[first + best_face, axis]
        scratch.closest_normal[axis] = normal_component
        scratch.closest_a[axis] = point[axis] - best * normal_component
        scratch.closest_b[axis] = point[axis]
    return best


@kernel
def turn_to_frame_of_a(scratch):
    """Change roles: what was found as (shape b, point a) in b's frame becomes (a, b) in a's frame."""
    r, t = scratch.rotation, scratch.translation
    bx, by, bz = scratch.closest_a
    ax, ay, az = scratch.closest_b
    nx, ny, nz = scratch.closest_normal
    for axis in range(3):
        scratch.closest_a[axis] = t[axis] + r[axis, 0] * ax + r[axis, 1] * ay + r[axis, 2] * az
        scratch.closest_b[axis] = t[axis] + r[axis, 0] * bx + r[axis, 1] * by + r[axis, 2] * bz
        scratch.closest_normal[axis] = -(r[axis, 0] * nx + r[axis, 1] * ny + r[axis, 2] * nz)
