"""Contacts of one triangle of a mesh with a capsule, cylinder or cone: of its face, and of its edges and corners.

The triangle stands in the mesh's first row among the polytopes (``mesh_contacts.set_triangle``); it is shape a.
"""

import numpy as np

from ..kernel import subkernel
from .closest_points import RATIO_TOUCHING, into_frame
from .mesh_features import (
    BEHIND,
    FACE,
    FIRST_EDGE,
    GONE_THROUGH,
    can_push,
    edge_pushes,
    has_edges_that_push,
    highest_feature,
)
from .mesh_manifold import keep_contact, least_gap
from .mesh_tables import FLAGS
from .round_contacts import RATIO_AGREE, RATIO_SLAB, meet_features, set_feature
from .round_manifold import face_of_round_manifold, place_ends, turned
from .round_points import nearest_on_segment
from .round_separation import closest_cores, least_depth
from .round_support import rounding, support_point
from .workspace import B_IN_A, CAPSULE, DIRECTION, FACES, GAP, HULL, NORMAL, ON_A, ON_B, POSITION, SIDE, VERTICES

# A shape that overlaps a triangle is shrunk by this much more than the overlap, at least by a share of its size that
# doubles can tell, and no more than by the other share: what is deeper has other ways out.
FACTOR_SHRINK = 4.0
LEAST_SHRINK = 1e-6
MOST_SHRINK = 0.1

# Where support points find what is nearest farther off an edge than this share of the shape's size, it is another one.
RATIO_OFF_EDGE = 1e-3

INFINITE = 1e300


@subkernel
def touch_round(
    vertices,
    triangles,
    normals,
    triangle,
    side,
    where,
    polytopes,
    row,
    other,
    kind,
    parameters,
    reach,
    size,
    maximal_points,
    scratch,
    contact,
    count,
):
    """Add the contacts of a round shape with a triangle; arguments and returns as of ``touch_sphere``."""
    pose, axes, closest = scratch.pose, scratch.axes, scratch.closest
    radius = rounding(kind, parameters)
    separation = lowest_of_round(polytopes, row, kind, parameters, pose[B_IN_A])
    if separation - radius > reach:
        return count
    touching = RATIO_TOUCHING * size
    if not has_edges_that_push(triangles[triangle, FLAGS], side):
        if where == BEHIND:
            return count
        points = face_points_of_round(polytopes, row, other, kind, parameters, reach, size, maximal_points, scratch)
        return keep_all(contact, count, triangle, points, -INFINITE, scratch)
    for i in range(3):
        axes[SIDE, i] = polytopes.plane[polytopes.start[row, FACES], i]
    distance = closest_cores(
        polytopes,
        row,
        other,
        np.int64(HULL),
        kind,
        parameters,
        parameters,
        reach + radius,
        touching,
        pose,
        axes,
        scratch.simplex,
        closest,
    )
    if distance > reach + radius:
        return count
    if distance > 0.0:
        distance = sharpen(vertices, triangles, triangle, side, kind, parameters, distance, size, scratch)
    if distance > 0.0:
        x, y, z = closest[DIRECTION, 0], closest[DIRECTION, 1], closest[DIRECTION, 2]
        # What lies over the face is at least as far. A point beside it may count as over it, but gives no contact.
        lowest = distance - radius - touching
        if where == GONE_THROUGH and x * axes[SIDE, 0] + y * axes[SIDE, 1] + z * axes[SIDE, 2] < 0.0:
            points = face_points_of_round(polytopes, row, other, kind, parameters, reach, size, maximal_points, scratch)
            return keep_all(contact, count, triangle, points, -INFINITE, scratch)
    else:
        x, y, z = axes[SIDE, 0], axes[SIDE, 1], axes[SIDE, 2]
        distance, x, y, z = least_depth(
            polytopes,
            row,
            other,
            np.int64(HULL),
            kind,
            parameters,
            parameters,
            size,
            RATIO_SLAB * (parameters[0] + parameters[1]),
            pose,
            axes,
            scratch.expansion,
            -separation,
            x,
            y,
            z,
        )
        distance = -distance
        lowest = -INFINITE
    feature = highest_feature(vertices, triangles, triangle, x, y, z)
    is_edge = feature != FACE and can_push(vertices, triangles, normals, triangle, feature, x, y, z, side)
    if where != BEHIND and not (is_edge and distance <= 0.0):
        points = face_points_of_round(polytopes, row, other, kind, parameters, reach, size, maximal_points, scratch)
        earlier = count
        count = keep_all(contact, count, triangle, points, lowest, scratch)
        if distance <= 0.0 and least_gap(contact, earlier, count) <= touching:
            return count
    if not is_edge and distance <= 0.0:
        distance, x, y, z = direction_when_shrunk(
            vertices, triangles, triangle, polytopes, row, other, kind, parameters, distance, touching, scratch
        )
        if distance > -INFINITE:
            feature = highest_feature(vertices, triangles, triangle, x, y, z)
            is_edge = feature != FACE and can_push(vertices, triangles, normals, triangle, feature, x, y, z, side)
            is_outwards = x * axes[SIDE, 0] + y * axes[SIDE, 1] + z * axes[SIDE, 2] > 0.0
            if feature == FACE and is_outwards and where != BEHIND:
                px, py, pz = lowest_point(polytopes, other, kind, parameters, pose[B_IN_A], x, y, z)
                qx, qy, qz = px - distance * x, py - distance * y, pz - distance * z
                return keep_contact(contact, count, triangle, qx, qy, qz, px, py, pz, distance, x, y, z)
    if is_edge:
        bend = set_ends(vertices, triangles, triangle, feature, polytopes, kind, parameters, x, y, z, scratch)
        points = meet_features(scratch, 0.0, radius, bend, distance, x, y, z, RATIO_AGREE * size, reach)
        count = keep_all(contact, count, triangle, points, -INFINITE, scratch)
    return count


@subkernel
def sharpen(vertices, triangles, triangle, side, kind, parameters, distance, size, scratch):
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
    if kind == CAPSULE:
        return distance
    pose, closest, memory = scratch.pose, scratch.closest, scratch.simplex
    tail, flags = scratch.expansion[0, 0], triangles[triangle, FLAGS]
    px, py, pz = closest[ON_A, 0], closest[ON_A, 1], closest[ON_A, 2]
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
        r = pose[B_IN_A]
        tail[0], tail[1], tail[2] = into_frame(
            r,
            vertices[a, 0] - r[POSITION, 0],
            vertices[a, 1] - r[POSITION, 1],
            vertices[a, 2] - r[POSITION, 2],
        )
        x, y, z = into_frame(r, x, y, z)
        found = nearest_on_segment(kind, parameters, tail, x, y, z, guess, memory)
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
            closest[ON_A, i] = r[POSITION, i] + memory[ON_B, i]
            closest[ON_B, i] = r[POSITION, i] + memory[ON_A, i]
            closest[DIRECTION, i] = -memory[DIRECTION, i]
    return best if best < INFINITE else distance


@subkernel
def direction_when_shrunk(
    vertices, triangles, triangle, polytopes, row, other, kind, parameters, depth, touching, scratch
):
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
    shrunk, closest, pose = scratch.expansion[0, 0], scratch.closest, scratch.pose
    share = FACTOR_SHRINK * -depth / min(parameters[0], parameters[1]) if parameters[1] > 0.0 else 1.0
    if share > MOST_SHRINK or rounding(kind, parameters) > 0.0:
        return -INFINITE, 0.0, 0.0, 0.0
    for i in range(3):
        shrunk[i] = (1.0 - max(share, LEAST_SHRINK)) * parameters[i]
    distance = closest_cores(
        polytopes,
        row,
        other,
        np.int64(HULL),
        kind,
        shrunk,
        shrunk,
        INFINITE,
        touching,
        pose,
        scratch.axes,
        scratch.simplex,
        closest,
    )
    if distance <= 0.0:
        return -INFINITE, 0.0, 0.0, 0.0
    x, y, z = closest[DIRECTION, 0], closest[DIRECTION, 1], closest[DIRECTION, 2]
    gap = lowest_along(polytopes, kind, parameters, pose[B_IN_A], x, y, z)
    highest = -INFINITE
    for corner in range(3):
        vertex = triangles[triangle, corner]
        highest = max(highest, vertices[vertex, 0] * x + vertices[vertex, 1] * y + vertices[vertex, 2] * z)
    return gap - highest, x, y, z


@subkernel
def lowest_of_round(polytopes, row, kind, parameters, pose):
    """Height of the lowest point of a core over the triangle's plane [m]."""
    plane = polytopes.plane[polytopes.start[row, FACES]]
    return lowest_along(polytopes, kind, parameters, pose, plane[0], plane[1], plane[2]) - plane[3]


@subkernel
def lowest_along(polytopes, kind, parameters, pose, nx, ny, nz):
    """Height of the lowest point of a core along a direction [m]."""
    p, q, s = into_frame(pose, -nx, -ny, -nz)
    none = np.int64(0)
    x, y, z, _ = support_point(
        kind, parameters, polytopes.vertex, polytopes.neighbor_start, polytopes.neighbor, none, none, p, q, s, none
    )
    return nx * pose[POSITION, 0] + ny * pose[POSITION, 1] + nz * pose[POSITION, 2] - p * x - q * y - s * z


@subkernel
def lowest_point(polytopes, row, kind, parameters, pose, nx, ny, nz):
    """The point of a shape that is lowest along a direction, both in the mesh's frame."""
    base = polytopes.start[row, VERTICES]
    count = polytopes.start[row + 1, VERTICES] - base
    p, q, s = into_frame(pose, -nx, -ny, -nz)
    x, y, z, _ = support_point(
        kind,
        parameters,
        polytopes.vertex,
        polytopes.neighbor_start,
        polytopes.neighbor,
        base,
        count,
        p,
        q,
        s,
        np.int64(0),
    )
    radius = rounding(kind, parameters)
    x, y, z = x + radius * p, y + radius * q, z + radius * s
    return (
        pose[POSITION, 0] + pose[0, 0] * x + pose[0, 1] * y + pose[0, 2] * z,
        pose[POSITION, 1] + pose[1, 0] * x + pose[1, 1] * y + pose[1, 2] * z,
        pose[POSITION, 2] + pose[2, 0] * x + pose[2, 1] * y + pose[2, 2] * z,
    )


@subkernel
def set_ends(vertices, triangles, triangle, feature, polytopes, kind, parameters, x, y, z, scratch):
    """Write the ends of the triangle's edge (or twice its corner) and of what a round shape turns towards it.

    Returns
    -------
    float
        Radius of curvature across the round shape's feature [m].
    """
    pose, ends = scratch.pose[B_IN_A], scratch.simplex
    p, q, s = into_frame(pose, -x, -y, -z)
    none = np.int64(0)
    bend = set_feature(
        kind, parameters, polytopes.vertex, polytopes.neighbor_start, polytopes.neighbor, none, none, p, q, s, ends
    )
    tail = triangles[triangle, feature % FIRST_EDGE]
    head = triangles[triangle, (feature - FIRST_EDGE + 1) % 3] if feature >= FIRST_EDGE else tail
    for i in range(3):
        ends[2, i], ends[3, i] = ends[0, i], ends[1, i]
        ends[0, i], ends[1, i] = vertices[tail, i], vertices[head, i]
    place_ends(pose, ends, np.int64(2))
    return bend


@subkernel
def face_points_of_round(polytopes, row, other, kind, parameters, reach, size, maximal_points, scratch):
    """Points of a round shape over a triangle; returns how many there are in the scratch."""
    count, x, y, z, _ = face_of_round_manifold(
        polytopes,
        row,
        np.int64(HULL),
        parameters,
        np.int64(0),
        other,
        kind,
        parameters,
        False,
        rounding(kind, parameters),
        reach,
        size,
        maximal_points,
        scratch,
    )
    scratch.axes[NORMAL, 0], scratch.axes[NORMAL, 1], scratch.axes[NORMAL, 2] = x, y, z
    return count


@subkernel
def keep_all(contact, count, triangle, points, lowest, scratch):
    """Add the points in the scratch whose gaps are not below ``lowest`` to the mesh's contacts."""
    nx, ny, nz = scratch.axes[NORMAL, 0], scratch.axes[NORMAL, 1], scratch.axes[NORMAL, 2]
    for point in range(points):
        here = scratch.contact[point]
        if here[GAP] >= lowest:
            count = keep_contact(
                contact, count, triangle, here[0], here[1], here[2], here[3], here[4], here[5], here[GAP], nx, ny, nz
            )
    return count
