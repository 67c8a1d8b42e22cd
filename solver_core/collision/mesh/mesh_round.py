"""Contacts of one triangle of a mesh with a capsule, cylinder or cone: of its face, and of its edges and corners.

The triangle stands in the mesh's first row among the polytopes (``mesh_features.set_triangle``); it is shape a.
"""

import numpy as np

from ...compiled.kernel import subkernel
from ..data.mesh_tables import FLAGS
from ..data.workspace import CAPSULE, FACES, INFINITE, POSITION, PairShape
from ..distance.closest_points import RATIO_TOUCHING, into_frame
from ..distance.round_separation import closest_cores, least_depth
from ..distance.round_support import rounding, support_point, turned
from ..manifold.round_contacts import RATIO_AGREE, RATIO_SLAB, meet_features, set_feature
from ..manifold.round_manifold import face_of_round_manifold, place_ends
from ..manifold.round_points import nearest_on_segment
from .mesh_features import (
    BEHIND,
    FACE,
    FIRST_EDGE,
    GONE_THROUGH,
    can_push,
    edge_pushes,
    from_triangle,
    has_edges_that_push,
    highest_feature,
)
from .mesh_manifold import keep_contact, keep_points, least_gap
from .mesh_query import triangle_shape

# A shape that overlaps a triangle is shrunk by this much more than the overlap, at least by a share of its size that
# doubles can tell, and no more than by the other share: what is deeper has other ways out.
FACTOR_SHRINK = 4.0
LEAST_SHRINK = 1e-6
MOST_SHRINK = 0.1

# Where support points find what is nearest farther off an edge than this share of the shape's size, it is another one.
RATIO_OFF_EDGE = 1e-3


@subkernel
def touch_round(mesh, polytopes, pair, triangle, side, where, reach, scratch, contact, count):
    """Add the contacts of a round shape with a triangle.

    Parameters
    ----------
    mesh : MeshView
        (read)
    polytopes : HullArrays
        (read)
    pair : MeshPair
        (read)
    triangle, side : int
        The triangle, and the side to which it pushes.
    where : int
        BEHIND, BEFORE or GONE_THROUGH.
    reach : float
        Largest gap that makes a contact [m].
    scratch : PairScratch
        Relative poses (read); memory.
    contact, count : MeshContacts, int
        The mesh's contacts so far (written).

    Returns
    -------
    int
        Contacts.
    """
    axes, closest, size = scratch.axes, scratch.closest, pair.size
    radius = rounding(pair.other)
    separation = lowest_of_round(polytopes, pair.row, pair.other, scratch.pose.b_in_a)
    if separation - radius > reach:
        return count
    touching = RATIO_TOUCHING * size
    if not has_edges_that_push(mesh.triangles[triangle, FLAGS], side):
        if where == BEHIND:
            return count
        return add_face_points(polytopes, pair, triangle, reach, -INFINITE, scratch, contact, count)
    for i in range(3):
        axes.side[i] = polytopes.plane[polytopes.start[pair.row, FACES], i]
    sheet = triangle_shape(pair.row, pair.other)
    x, y, z = axes.side[0], axes.side[1], axes.side[2]
    distance = closest_cores(polytopes, sheet, pair.other, x, y, z, reach + radius, touching, scratch)
    if distance > reach + radius:
        return count
    if distance > 0.0:
        distance = sharpen(mesh, triangle, side, pair.other, distance, size, scratch)
    if distance > 0.0:
        x, y, z = closest.direction[0], closest.direction[1], closest.direction[2]
        # What lies over the face is at least as far. A point beside it may count as over it, but gives no contact.
        lowest = distance - radius - touching
        if where == GONE_THROUGH and x * axes.side[0] + y * axes.side[1] + z * axes.side[2] < 0.0:
            return add_face_points(polytopes, pair, triangle, reach, -INFINITE, scratch, contact, count)
    else:
        x, y, z = axes.side[0], axes.side[1], axes.side[2]
        thickness = RATIO_SLAB * (pair.other.parameters[0] + pair.other.parameters[1])
        distance, x, y, z = least_depth(polytopes, sheet, pair.other, size, thickness, scratch, -separation, x, y, z)
        distance = -distance
        lowest = -INFINITE
    feature, is_edge = feature_that_pushes(mesh, triangle, side, x, y, z)
    if where != BEHIND and not (is_edge and distance <= 0.0):
        earlier = count
        count = add_face_points(polytopes, pair, triangle, reach, lowest, scratch, contact, count)
        if distance <= 0.0 and least_gap(contact.gap, earlier, count) <= touching:
            return count
    if not is_edge and distance <= 0.0:
        distance, x, y, z = direction_when_shrunk(mesh, triangle, polytopes, pair, distance, scratch)
        if distance > -INFINITE:
            feature, is_edge = feature_that_pushes(mesh, triangle, side, x, y, z)
            is_outwards = x * axes.side[0] + y * axes.side[1] + z * axes.side[2] > 0.0
            if feature == FACE and is_outwards and where != BEHIND:
                px, py, pz = lowest_point(polytopes, pair.other, scratch.pose.b_in_a, x, y, z)
                on_mesh = px - distance * x, py - distance * y, pz - distance * z
                return keep_contact(contact, count, triangle, on_mesh, (px, py, pz), distance, (x, y, z))
    if is_edge:
        bend = set_ends(mesh, triangle, feature, polytopes, pair.other, x, y, z, scratch)
        points = meet_features(scratch, 0.0, radius, bend, distance, x, y, z, RATIO_AGREE * size, reach)
        count = keep_points(contact, count, triangle, points, -INFINITE, INFINITE, scratch)
    return count


@subkernel
def feature_that_pushes(mesh, triangle, side, x, y, z):
    """What of a triangle is highest along a direction, and whether it is an edge or corner that pushes along it."""
    feature = highest_feature(mesh.vertices, mesh.triangles, triangle, x, y, z)
    if feature == FACE:
        return feature, False
    return feature, can_push(mesh.vertices, mesh.triangles, mesh.normals, triangle, feature, x, y, z, side)


@subkernel
def add_face_points(polytopes, pair, triangle, reach, lowest, scratch, contact, count):
    """Add the points of a round shape over a triangle whose gaps are not below ``lowest``; return the contacts."""
    points = face_points_of_round(polytopes, pair, reach, scratch)
    return keep_points(contact, count, triangle, points, lowest, INFINITE, scratch)


@subkernel
def sharpen(mesh, triangle, side, other, distance, size, scratch):
    """Take the closest points of a cylinder or cone and a triangle's edge from closed forms, where they are nearer.

    Support points lead to chords of a rim or a side. What is nearest on an edge that is long beside the shape lies
    between points that are nearly one, on slivers of triangles that doubles cannot tell.

    Parameters
    ----------
    distance : float
        Of the cores, by support points: never less than it is [m]. ``scratch.closest`` has what belongs to it (read,
        written unless 0 is returned).

    Returns
    -------
    float
        [m]; 0 if touching or overlapping.
    """
    if other.kind == CAPSULE:
        return distance
    vertices, triangles = mesh.vertices, mesh.triangles
    pose, closest, memory = scratch.pose, scratch.closest, scratch.on_edge
    on_shape, on_edge, outwards = memory[0], memory[1], memory[2]
    tail, flags = scratch.edge_tail, triangles[triangle, FLAGS]
    px, py, pz = closest.on_a[0], closest.on_a[1], closest.on_a[2]
    best = INFINITE
    for edge in range(3):
        if not edge_pushes(flags, edge, side):
            continue
        a, b = triangles[triangle, edge], triangles[triangle, (edge + 1) % 3]
        x, y, z = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2]
        dx, dy, dz = px - vertices[a, 0], py - vertices[a, 1], pz - vertices[a, 2]
        guess = min(max((dx * x + dy * y + dz * z) / (x * x + y * y + z * z), 0.0), 1.0)
        off = (dx - guess * x) ** 2 + (dy - guess * y) ** 2 + (dz - guess * z) ** 2
        if off > (RATIO_OFF_EDGE * size) ** 2:
            continue
        r = pose.b_in_a
        tail[0], tail[1], tail[2] = into_frame(
            r,
            vertices[a, 0] - r[POSITION, 0],
            vertices[a, 1] - r[POSITION, 1],
            vertices[a, 2] - r[POSITION, 2],
        )
        x, y, z = into_frame(r, x, y, z)
        found = nearest_on_segment(other.kind, other.parameters, tail, x, y, z, guess, memory)
        if found <= RATIO_TOUCHING * size:
            return 0.0
        if found >= min(best, distance + RATIO_TOUCHING * size):
            continue
        best = found
        # The shape's point, the edge's, and the direction from the shape.
        for column in range(3):
            x, y, z = turned(r, memory[column, 0], memory[column, 1], memory[column, 2])
            memory[column, 0], memory[column, 1], memory[column, 2] = x, y, z
        for i in range(3):
            closest.on_a[i] = r[POSITION, i] + on_edge[i]
            closest.on_b[i] = r[POSITION, i] + on_shape[i]
            closest.direction[i] = -outwards[i]
    return best if best < INFINITE else distance


@subkernel
def direction_when_shrunk(mesh, triangle, polytopes, pair, depth, scratch):
    """A direction in which a triangle may push where the least way out of it alone is none of the whole mesh.

    A rim on a mesh's corner leaves the triangles there by the shortest way sideways, into their neighbours. The shape,
    shrunk about its middle until it is apart, is nearest in a direction between (as in growth distances, Ong and
    Gilbert 1996), and what is highest against that direction stays so when it grows again. Where it is the triangle's
    own normal, what is lowest then comes to lie beside the face by a share of its size, about the depth's.

    Returns
    -------
    gap : float
        Of the two along the direction [m]; very low if there is none: they overlap too much.
    x, y, z : float
    """
    vertices, triangles, other = mesh.vertices, mesh.triangles, pair.other
    closest, pose, parameters = scratch.closest, scratch.pose, other.parameters
    shrunk = PairShape(other.kind, other.polytope, scratch.shrunk, other.bounding_radius, other.swept_radius)
    share = FACTOR_SHRINK * -depth / min(parameters[0], parameters[1]) if parameters[1] > 0.0 else 1.0
    if share > MOST_SHRINK or rounding(other) > 0.0:
        return -INFINITE, 0.0, 0.0, 0.0
    for i in range(3):
        shrunk.parameters[i] = (1.0 - max(share, LEAST_SHRINK)) * parameters[i]
    sheet, touching = triangle_shape(pair.row, other), RATIO_TOUCHING * pair.size
    x, y, z = from_triangle(polytopes, pair.row, pose.b_in_a)
    distance = closest_cores(polytopes, sheet, shrunk, x, y, z, INFINITE, touching, scratch)
    if distance <= 0.0:
        return -INFINITE, 0.0, 0.0, 0.0
    x, y, z = closest.direction[0], closest.direction[1], closest.direction[2]
    gap = lowest_along(polytopes, other, pose.b_in_a, x, y, z)
    highest = -INFINITE
    for corner in range(3):
        vertex = triangles[triangle, corner]
        highest = max(highest, vertices[vertex, 0] * x + vertices[vertex, 1] * y + vertices[vertex, 2] * z)
    return gap - highest, x, y, z


@subkernel
def lowest_of_round(polytopes, row, other, pose):
    """Height of the lowest point of a core over the triangle's plane [m]."""
    plane = polytopes.plane[polytopes.start[row, FACES]]
    return lowest_along(polytopes, other, pose, plane[0], plane[1], plane[2]) - plane[3]


@subkernel
def lowest_along(polytopes, shape, pose, nx, ny, nz):
    """Height of the lowest point of a core along a direction [m]."""
    p, q, s = into_frame(pose, -nx, -ny, -nz)
    x, y, z, _ = support_point(polytopes, shape, p, q, s, np.int64(0))
    return nx * pose[POSITION, 0] + ny * pose[POSITION, 1] + nz * pose[POSITION, 2] - p * x - q * y - s * z


@subkernel
def lowest_point(polytopes, shape, pose, nx, ny, nz):
    """The point of a shape that is lowest along a direction, both in the mesh's frame."""
    p, q, s = into_frame(pose, -nx, -ny, -nz)
    x, y, z, _ = support_point(polytopes, shape, p, q, s, np.int64(0))
    radius = rounding(shape)
    x, y, z = x + radius * p, y + radius * q, z + radius * s
    return (
        pose[POSITION, 0] + pose[0, 0] * x + pose[0, 1] * y + pose[0, 2] * z,
        pose[POSITION, 1] + pose[1, 0] * x + pose[1, 1] * y + pose[1, 2] * z,
        pose[POSITION, 2] + pose[2, 0] * x + pose[2, 1] * y + pose[2, 2] * z,
    )


@subkernel
def set_ends(mesh, triangle, feature, polytopes, other, x, y, z, scratch):
    """Write the ends of the triangle's edge (or twice its corner) and of what a round shape turns towards it.

    Returns
    -------
    float
        Radius of curvature across the round shape's feature [m].
    """
    vertices, triangles = mesh.vertices, mesh.triangles
    pose, ends = scratch.pose.b_in_a, scratch.ends
    p, q, s = into_frame(pose, -x, -y, -z)
    bend = set_feature(polytopes, other, p, q, s, ends)
    tail = triangles[triangle, feature % FIRST_EDGE]
    head = triangles[triangle, (feature - FIRST_EDGE + 1) % 3] if feature >= FIRST_EDGE else tail
    for i in range(3):
        ends[2, i], ends[3, i] = ends[0, i], ends[1, i]
        ends[0, i], ends[1, i] = vertices[tail, i], vertices[head, i]
    place_ends(pose, ends, np.int64(2))
    return bend


@subkernel
def face_points_of_round(polytopes, pair, reach, scratch):
    """Points of a round shape over the triangle in the mesh's first row.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    pair : MeshPair
        (read)
    reach : float
        Largest gap that makes a contact [m].
    scratch : PairScratch
        Relative pose (read); ``manifold`` and the normal (written).

    Returns
    -------
    int
        Points in the scratch.
    """
    other = pair.other
    count, x, y, z, _ = face_of_round_manifold(
        polytopes,
        triangle_shape(pair.row, other),
        np.int64(0),
        other,
        False,
        rounding(other),
        reach,
        pair.size,
        pair.maximal_points,
        scratch,
    )
    scratch.axes.normal[0], scratch.axes.normal[1], scratch.axes.normal[2] = x, y, z
    return count
