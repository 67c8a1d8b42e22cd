"""Support points and faces of convex shapes, round ones included.

A shape is its *core* and a radius around it: a sphere is a point, a capsule a segment with a radius; cylinders, cones,
boxes and hulls are cores with radius 0. The support function of a core K is h(n) = max over x in K of n . x; that of
the Minkowski difference A - B, h(n) = h_A(n) + h_B(-n), holds all that two shapes can do to each other: minus its
least value over unit n is their signed distance (Gilbert and Foo 1990; Cameron 1997).

With the radius r, half height h and direction (x, y, z) of a shape's own frame, s = |(x, y)|:

    cylinder   (r x / s, r y / s, sign(z) h)
    cone       the apex (0, 0, h) if 2 h z >= r s, else (r x / s, r y / s, -h)
"""

from ...compiled.kernel import subkernel
from ..data.workspace import (
    BOX,
    CAPSULE,
    CONE,
    CYLINDER,
    FACES,
    HULL,
    INFINITE,
    POSITION,
    SPHERE,
    VERTICES,
)
from .closest_points import into_frame, scaled, support_vertex

# Faces of a cylinder; a cone has the lower one only.
UPPER_CAP = 0
LOWER_CAP = 1

# Axes that lead to a sheet's wrong side have a cosine with the right one below minus this; along the sheet may be.
COSINE_WRONG_SIDE = 1e-6


@subkernel
def rounding(shape):
    """Radius around a shape's core [m]."""
    return shape.parameters[0] if shape.kind in (SPHERE, CAPSULE) else 0.0


@subkernel
def support_point(polytopes, shape, x, y, z, start):
    """Point of a core that lies farthest in a direction of the shape's own frame.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    shape : PairShape
        (read)
    x, y, z : float
        Direction, of any length but 0.
    start : int
        Vertex where climbing starts.

    Returns
    -------
    x, y, z : float
        [m]
    vertex : int
        Where to start the next time.
    """
    kind, parameters = shape.kind, shape.parameters
    if kind in (BOX, HULL):
        vertex = polytopes.vertex
        base = polytopes.start[shape.polytope, VERTICES]
        count = polytopes.start[shape.polytope + 1, VERTICES] - base
        best = support_vertex(vertex, polytopes.neighbor_start, polytopes.neighbor, base, count, x, y, z, start)
        row = base + best
        return vertex[row, 0], vertex[row, 1], vertex[row, 2], best
    if kind == SPHERE:
        return 0.0, 0.0, 0.0, start
    if kind == CAPSULE:
        return 0.0, 0.0, parameters[1] if z >= 0.0 else -parameters[1], start
    radius, half = parameters[0], parameters[1]
    across = (x * x + y * y) ** 0.5
    if kind == CONE and 2.0 * half * z >= radius * across:
        return 0.0, 0.0, half, start
    # Along the axis all points of the rim are as far as the cap's others: any will do.
    u, v = 1.0, 0.0
    if across > 0.0:
        u, v = x / across, y / across
    return radius * u, radius * v, half if kind == CYLINDER and z >= 0.0 else -half, start


@subkernel
def support_difference(polytopes, a, b, scratch, thickness, x, y, z, start_a, start_b, corners, corner):
    """Point of A - B that lies farthest in a direction, all in the frame of shape a.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    a, b : PairShape
        (read)
    scratch : PairScratch
        Relative pose, scales, and the normal of a sheet from a to b (read).
    thickness : float
        A sheet counts as a slab of this thickness on the side to which it does not push [m].
    x, y, z : float
        Direction, of any length but 0.
    start_a, start_b : int
        Vertices where climbing starts.
    corners, corner : MinkowskiPoints, int
        Where the point is written.

    Returns
    -------
    height : float
        Support function [m], for a unit direction.
    start_a, start_b : int
        Where to start the next time.
    """
    r, axes = scratch.pose.b_in_a, scratch.axes
    p, q, s = scaled(scratch.scale_a, x, y, z)
    p, q, s, start_a = support_point(polytopes, a, p, q, s, start_a)
    p, q, s = scaled(scratch.scale_a, p, q, s)
    point, on_a, on_b = corners.point[corner], corners.on_a[corner], corners.on_b[corner]
    on_a[0], on_a[1], on_a[2] = p, q, s
    p, q, s = into_frame(r, -x, -y, -z)
    p, q, s = scaled(scratch.scale_b, p, q, s)
    p, q, s, start_b = support_point(polytopes, b, p, q, s, start_b)
    p, q, s = scaled(scratch.scale_b, p, q, s)
    back = 0.0
    if thickness > 0.0 and x * axes.side[0] + y * axes.side[1] + z * axes.side[2] < 0.0:
        back = thickness
    for i in range(3):
        on_b[i] = r[POSITION, i] + r[i, 0] * p + r[i, 1] * q + r[i, 2] * s
        point[i] = on_a[i] - on_b[i] - back * axes.side[i]
    return x * point[0] + y * point[1] + z * point[2], start_a, start_b


@subkernel
def separate_along_faces(polytopes, shape, other, pose, side_x, side_y, side_z, reach, favoured, favour):
    """Face of a shape whose plane keeps the other core farthest out: a polytope's face, or the cap of a round shape.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    shape, other : PairShape
        The one with the faces, and the other (read).
    pose : float64 [4, 3]
        Of the other in the frame of this one (read).
    side_x, side_y, side_z : float
        Of ``find_side``, in the frame of this shape and away from it.
    reach : float
        The first face with more separation than this ends the search [m].
    favoured : int
        A face that wins near ties, -1 for none.
    favour : float
        How near [m].

    Returns
    -------
    separation : float
        [m]; far below 0 if the shape has no face.
    face : int
    """
    start, plane, kind = polytopes.start, polytopes.plane, shape.kind
    is_polytope = kind in (BOX, HULL)
    first = start[shape.polytope, FACES]
    faces = start[shape.polytope + 1, FACES] - first if is_polytope else 2
    if kind in (SPHERE, CAPSULE):
        faces = 0
    best, best_separation, best_face, climb = -INFINITE, -INFINITE, -1, 0
    for face in range(faces):
        if is_polytope:
            row = first + face
            nx, ny, nz, offset = plane[row, 0], plane[row, 1], plane[row, 2], plane[row, 3]
            if nx * side_x + ny * side_y + nz * side_z < -COSINE_WRONG_SIDE:
                continue
        else:
            if kind == CONE and face == UPPER_CAP:
                continue
            nx, ny, nz, offset = 0.0, 0.0, 1.0 if face == UPPER_CAP else -1.0, shape.parameters[1]
            if nz * side_z < -COSINE_WRONG_SIDE:
                continue
        at = nx * pose[POSITION, 0] + ny * pose[POSITION, 1] + nz * pose[POSITION, 2] - offset
        bonus = favour if face == favoured else 0.0
        # The other's origin lies in it: its lowest point is no higher.
        if at + bonus <= best:
            continue
        p, q, s = into_frame(pose, -nx, -ny, -nz)
        x, y, z, climb = support_point(polytopes, other, p, q, s, climb)
        separation = at - p * x - q * y - s * z
        if separation + bonus > best:
            best, best_separation, best_face = separation + bonus, separation, face
            if separation > reach:
                break
    return best_separation, best_face


@subkernel
def towards_side(shape, x, y, z):
    """The normal of a round shape's side that is nearest to a direction; own frame."""
    across = (x * x + y * y) ** 0.5
    u, v = 1.0, 0.0
    if across > 0.0:
        u, v = x / across, y / across
    if shape.kind != CONE:
        return u, v, 0.0
    radius, height = shape.parameters[0], 2.0 * shape.parameters[1]
    slope = (height * height + radius * radius) ** 0.5
    return u * height / slope, v * height / slope, radius / slope


@subkernel
def depth_inside(polytopes, shape, side_x, side_y, side_z, x, y, z):
    """Distance from a point in a core to its surface, less than 0 outside; own frame. A sheet has one surface."""
    kind, parameters, hull = shape.kind, shape.parameters, shape.polytope
    if kind == CYLINDER:
        return min(parameters[0] - (x * x + y * y) ** 0.5, parameters[1] - abs(z))
    if kind == CONE:
        radius, height = parameters[0], 2.0 * parameters[1]
        slope = (height * height + radius * radius) ** 0.5
        side = (height * (x * x + y * y) ** 0.5 + radius * (z - parameters[1])) / slope
        return min(-side, z + parameters[1])
    depth = INFINITE
    for row in range(polytopes.start[hull, FACES], polytopes.start[hull + 1, FACES]):
        nx, ny, nz, offset = polytopes.plane[row]
        if nx * side_x + ny * side_y + nz * side_z < -COSINE_WRONG_SIDE:
            continue
        depth = min(depth, offset - nx * x - ny * y - nz * z)
    return depth


@subkernel
def turned(pose, x, y, z):
    """A direction of the frame that ``pose`` places, in the outer frame."""
    return (
        pose[0, 0] * x + pose[0, 1] * y + pose[0, 2] * z,
        pose[1, 0] * x + pose[1, 1] * y + pose[1, 2] * z,
        pose[2, 0] * x + pose[2, 1] * y + pose[2, 2] * z,
    )
