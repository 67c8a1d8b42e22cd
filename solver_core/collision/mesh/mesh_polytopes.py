"""Contacts of one triangle of a mesh with a polytope: of its face, and of its edges and corners.

The triangle stands in the mesh's first row among the polytopes (``mesh_features.set_triangle``).
"""

import numpy as np

from ...compiled.kernel import subkernel
from ..data.mesh_tables import AMID_FLAT, CONCAVE, CONVEX, FLAGS, FLAT, NEIGHBORS, RIM, SOLID
from ..data.workspace import (
    EDGES,
    FACES,
    INFINITE,
    POSITION,
    VERTICES,
)
from ..distance.closest_points import RATIO_TOUCHING, closest_points, into_frame, support_vertex
from ..distance.hull_separation import (
    COSINE_WRONG_SIDE,
    edges_above,
    place_edges,
    separate_edge_pairs,
)
from ..manifold.face_manifold import (
    RATIO_CLIP,
    add_contact,
    add_low_vertices,
    choose_vertices,
    face_manifold,
    most_opposed_face,
    move_point,
    place_face,
    reduce_polygon,
    side_plane,
)
from ..manifold.polytope_contacts import RATIO_FACE_PREFERRED, RATIO_TIE, closest_of_edges
from .mesh_features import (
    BEHIND,
    FACE,
    FIRST_EDGE,
    GONE_THROUGH,
    MOST_AROUND,
    can_push,
    from_triangle,
    has_edges_that_push,
    highest_feature,
    place_corners,
)
from .mesh_manifold import keep_points, least_gap
from .mesh_ridges import add_ends, pushes_along

# Of a face of the other shape that lies on an edge or corner of the mesh, points up to this much above the lowest one
# are contacts (share of the smaller shape's size): what the shapes may move before contacts are made anew.
RATIO_LEVEL_POINTS = 0.002

# A face of the other shape lies against a direction if their cosine is nearer to -1 than this: 4e-5 rad.
COSINE_AGAINST = 1e-9


@subkernel
def touch_polytope(mesh, polytopes, pair, triangle, side, where, reach, scratch, contact, count):
    """Add the contacts of a box or hull with a triangle; arguments and returns as of ``mesh_round.touch_round``."""
    size, row, other = pair.size, pair.row, pair.other.polytope
    separation = lowest_height(polytopes, row, other, scratch.pose.b_in_a)
    if separation > reach:
        return count
    flags = mesh.triangles[triangle, FLAGS]
    touching = RATIO_TOUCHING * size
    if not has_edges_that_push(flags, side):
        if where == BEHIND:
            return count
        points = face_points(polytopes, pair, flags, side, reach, scratch)
        return keep_points(contact, count, triangle, points, -INFINITE, reach, scratch)
    plane = polytopes.plane[polytopes.start[row, FACES]]
    x, y, z = plane[0], plane[1], plane[2]
    distance = closest_points(polytopes, row, other, x, y, z, reach, touching, scratch)
    if distance > reach:
        return count
    # A shape before a sheet stays there: beyond a rim, too, no way out leads to the sheet's other side.
    is_sheet = where != BEHIND and not (flags >> SOLID) & 1
    for i in range(3):
        scratch.axes.side[i] = polytopes.plane[polytopes.start[row, FACES], i] if is_sheet else 0.0
    if distance > 0.0:
        return touch_apart(mesh, polytopes, pair, triangle, side, where, distance, reach, scratch, contact, count)
    best = separation if where != BEHIND else -INFINITE
    face, best = separate_faces_of_other(mesh, triangle, side, polytopes, pair, best, scratch)
    edges = separate_edges(mesh, triangle, side, polytopes, other, scratch)
    if edges > best + RATIO_FACE_PREFERRED * abs(best) + RATIO_TIE * size:
        points = edge_points(polytopes, row, other, scratch)
        points = add_ends(polytopes, row, other, scratch.feature.edge_of_a[0], size, scratch, points)
    elif face >= 0:
        points = face_manifold_of_other(polytopes, pair, face, reach, scratch)
    elif where != BEHIND:
        points = face_points(polytopes, pair, flags, side, reach, scratch)
    else:
        return count
    return keep_points(contact, count, triangle, points, -INFINITE, reach, scratch)


@subkernel
def touch_apart(mesh, polytopes, pair, triangle, side, where, distance, reach, scratch, contact, count):
    """As ``touch_polytope``, of a shape that is apart from the triangle: ``scratch.closest`` holds what is nearest."""
    vertices, triangles, normals = mesh.vertices, mesh.triangles, mesh.normals
    flags, size, row, other = triangles[triangle, FLAGS], pair.size, pair.row, pair.other.polytope
    touching = RATIO_TOUCHING * size
    # Copied: the clipping below needs the memory.
    dx, dy, dz = scratch.closest.direction[0], scratch.closest.direction[1], scratch.closest.direction[2]
    feature = highest_feature(vertices, triangles, triangle, dx, dy, dz)
    # What lies over the face is at least as far. A point beside it may count as over it, but gives no contact: the
    # edge or corner that is nearest does, or the neighbour.
    lowest = -touching if feature == FACE else distance - touching
    if (
        where == GONE_THROUGH
        and dx * scratch.axes.side[0] + dy * scratch.axes.side[1] + dz * scratch.axes.side[2] < 0.0
    ):
        lowest = -INFINITE
    points = np.int64(0)
    if where != BEHIND:
        points = face_points(polytopes, pair, flags, side, reach, scratch)
        count = keep_points(contact, count, triangle, points, lowest, reach, scratch)
    if lowest == -INFINITE or feature == FACE:
        return count
    if can_push(vertices, triangles, normals, triangle, feature, dx, dy, dz, side):
        points, is_closest = feature_points(polytopes, pair, dx, dy, dz, distance, reach, scratch)
        for edge in range(3):
            if is_closest and pushes_along(vertices, triangles, normals, triangle, feature, edge, side, dx, dy, dz):
                points = add_ends(polytopes, row, other, edge_seen_from(side, edge), size, scratch, points)
        count = keep_points(contact, count, triangle, points, -INFINITE, reach, scratch)
    elif least_gap(scratch.manifold.gap, 0, points) < -touching and goes_through_beside(
        mesh, triangle, feature, distance, side, polytopes, pair, scratch
    ):
        count = keep_points(contact, count, triangle, points, -INFINITE, -touching, scratch)
    return count


@subkernel
def lowest_height(polytopes, row, other, pose):
    """Height of the lowest vertex of the other shape over the triangle's plane [m]."""
    start, plane, vertex = polytopes.start, polytopes.plane, polytopes.vertex
    face, base = start[row, FACES], start[other, VERTICES]
    nx, ny, nz = plane[face, 0], plane[face, 1], plane[face, 2]
    x, y, z = into_frame(pose, nx, ny, nz)
    count = start[other + 1, VERTICES] - base
    lowest = support_vertex(vertex, polytopes.neighbor_start, polytopes.neighbor, base, count, -x, -y, -z, np.int64(0))
    at = base + lowest
    height = x * vertex[at, 0] + y * vertex[at, 1] + z * vertex[at, 2] - plane[face, 3]
    return height + nx * pose[POSITION, 0] + ny * pose[POSITION, 1] + nz * pose[POSITION, 2]


@subkernel
def goes_through_beside(mesh, triangle, feature, distance, side, polytopes, pair, scratch):
    """Whether the other shape goes through what is flat with a triangle, around the edge or corner nearest to it.

    Then what is below the triangle is deep in the mesh, as a sharp tip that went in through the neighbour. That has no
    contact of it: the tip does not lie over it. Writes the neighbours into the mesh's row among the polytopes.
    """
    triangles, touching = mesh.triangles, RATIO_TOUCHING * pair.size
    for way in range(2):
        # Around a corner, either way; of an edge, over it around its tail, and around its head.
        here, place = triangle, feature % FIRST_EDGE
        if way == 1 and feature >= FIRST_EDGE:
            place = (place + 1) % 3
        nearest = distance
        for _ in range(MOST_AROUND):
            edge = place if way == 0 else (place + 2) % 3
            if (triangles[here, FLAGS] >> (2 * edge)) & 3 != FLAT:
                break
            following = triangles[here, NEIGHBORS + edge]
            here = following // 3
            place = (following % 3 + 1) % 3 if way == 0 else following % 3
            if here == triangle:
                break
            place_corners(mesh, polytopes, pair.row, here, side)
            x, y, z = from_triangle(polytopes, pair.row, scratch.pose.b_in_a)
            now = closest_points(polytopes, pair.row, pair.other.polytope, x, y, z, INFINITE, touching, scratch)
            if now <= 0.0:
                return True
            # Along the plane the distance has but one valley: farther on it is farther.
            if now > nearest + touching:
                break
            nearest = now
    return False


# ---- the triangle's face


@subkernel
def face_points(polytopes, pair, flags, side, reach, scratch):
    """Points of the other shape over a triangle; returns how many there are in the scratch."""
    row, other, size = pair.row, pair.other.polytope, pair.size
    pose, polygon, manifold = scratch.pose.b_in_a, scratch.polygon, scratch.manifold
    start, plane = polytopes.start, polytopes.plane
    face = start[row, FACES]
    # Not a plain False: Numba would compile all that it is passed to once more, for the literal.
    no = np.bool_(False)
    nx, ny, nz = plane[face, 0], plane[face, 1], plane[face, 2]
    opposed = most_opposed_face(plane, start[other, FACES], start[other + 1, FACES], nx, ny, nz, True, pose)
    place_face(polytopes, row, np.int64(0), False, pose, polygon.reference)
    corners = place_face(polytopes, other, opposed, True, pose, polygon.clipped)
    corners = clip_to_triangle(polygon, corners, nx, ny, nz, RATIO_CLIP * size)
    count = np.int64(0)
    for corner in range(corners):
        if is_corner(polygon.cut[corner], flags, side):
            x, y, z = polygon.clipped[corner, 0], polygon.clipped[corner, 1], polygon.clipped[corner, 2]
            count = add_contact(polygon.reference, x, y, z, nx, ny, nz, reach, no, manifold, count)
    of_polygon = count
    count = add_low_vertices(polytopes, other, opposed, 3, nx, ny, nz, no, reach, size, scratch, count)
    if count > of_polygon:
        count = choose_vertices(manifold, no, count, pair.maximal_points, size)
    elif count > pair.maximal_points:
        count = reduce_polygon(manifold, no, count, pair.maximal_points, nx, ny, nz)
    scratch.axes.normal[0], scratch.axes.normal[1], scratch.axes.normal[2] = nx, ny, nz
    return count


@subkernel
def clip_to_triangle(polygon, corners, nx, ny, nz, tolerance):
    """Clip the polygon against the triangle's sides, noting by which each new corner is cut; return its corners.

    As ``manifold.clip_polygon``; ``cut`` of a corner has bit i set if side i has cut it.
    """
    for corner in range(corners):
        polygon.cut[corner] = 0
    for side in range(3):
        ux, uy, uz, offset = side_plane(polygon.reference, side, 3, nx, ny, nz)
        corners = clip_to_side(polygon, corners, ux, uy, uz, offset, tolerance, 1 << side)
        for corner in range(corners):
            polygon.cut[corner] = polygon.spare_cut[corner]
            for i in range(3):
                polygon.clipped[corner, i] = polygon.spare[corner, i]
    return corners


@subkernel
def clip_to_side(polygon, corners, ux, uy, uz, offset, tolerance, bit):
    """Write the part of the polygon with ``u . x <= offset`` into ``spare``; return its number of corners."""
    whole, cut, part, part_cut = polygon.clipped, polygon.cut, polygon.spare, polygon.spare_cut
    count = 0
    for corner in range(corners):
        last = corner - 1 if corner > 0 else corners - 1
        before = ux * whole[last, 0] + uy * whole[last, 1] + uz * whole[last, 2] - offset
        here = ux * whole[corner, 0] + uy * whole[corner, 1] + uz * whole[corner, 2] - offset
        if (before <= tolerance) != (here <= tolerance):
            share = min(max(before / (before - here), 0.0), 1.0)
            for i in range(3):
                part[count, i] = whole[last, i] + share * (whole[corner, i] - whole[last, i])
            # A side that is cut twice along one edge ends in the triangle's corner.
            part_cut[count] = (cut[last] & cut[corner]) | bit
            count += 1
        if here <= tolerance:
            part_cut[count] = cut[corner]
            for i in range(3):
                part[count, i] = whole[corner, i]
            count += 1
    return count


@subkernel
def is_corner(cut, flags, side):
    """Whether a corner of the clipped polygon is one of the whole surface: not only cut off at a flat edge."""
    if cut == 0:
        return True
    edges = 0
    first = -1
    for place in range(3):
        if (cut >> place) & 1:
            edge = edge_seen_from(side, place)
            edges += 1
            first = edge if first < 0 else first + edge
    if edges == 1:
        return (flags >> (2 * first)) & 3 != FLAT
    if edges == 2:
        # The edges 0 and 1 meet in corner 1, 1 and 2 in corner 2, 2 and 0 in corner 0: sums 1, 3, 2.
        corner = 1 if first == 1 else (2 if first == 3 else 0)
        return (flags >> (AMID_FLAT + corner)) & 1 == 0
    return True


# ---- its edges and corners


@subkernel
def feature_points(polytopes, pair, dx, dy, dz, distance, reach, scratch):
    """Contacts of an edge or corner that is apart from the other shape in the direction d.

    Where a face of the other lies against it, it is the face that the edge meets; else there are the closest points.
    Returns their number, and whether they are the closest points.
    """
    pose, axes, plane, other = scratch.pose.b_in_a, scratch.axes, polytopes.plane, pair.other.polytope
    first = polytopes.start[other, FACES]
    face = most_opposed_face(plane, first, polytopes.start[other + 1, FACES], dx, dy, dz, True, pose)
    x, y, z = into_frame(pose, dx, dy, dz)
    against = plane[first + face, 0] * x + plane[first + face, 1] * y + plane[first + face, 2] * z
    if against <= -1.0 + COSINE_AGAINST:
        count = face_manifold_of_other(polytopes, pair, face, reach, scratch)
        if count > 0:
            return count, False
    for i in range(3):
        scratch.manifold.point_a[0, i] = scratch.closest.on_a[i]
        scratch.manifold.point_b[0, i] = scratch.closest.on_b[i]
    scratch.manifold.gap[0] = distance
    axes.normal[0], axes.normal[1], axes.normal[2] = dx, dy, dz
    return np.int64(1), True


@subkernel
def face_manifold_of_other(polytopes, pair, face, reach, scratch):
    """Points of the triangle under a face of the other shape that are about as low as the lowest; their number."""
    # Not a plain True: Numba would compile all that it is passed to once more, for the literal.
    yes = np.bool_(True)
    other, size = pair.other.polytope, pair.size
    count, lowest = face_manifold(polytopes, other, face, pair.row, yes, reach, size, pair.maximal_points, scratch)
    kept = np.int64(0)
    for point in range(count):
        if scratch.manifold.gap[point] <= lowest + RATIO_LEVEL_POINTS * size:
            move_point(scratch.manifold, point, kept)
            kept += 1
    return kept


@subkernel
def separate_faces_of_other(mesh, triangle, side, polytopes, pair, best, scratch):
    """Face of the other shape along whose normal it is farthest out of the triangle, if farther than ``best``.

    Returns
    -------
    face : int
        -1 if there is none against which the triangle can push.
    separation : float
        The better one [m].
    """
    start, plane, vertex = polytopes.start, polytopes.plane, polytopes.vertex
    row, other, size, axes = pair.row, pair.other.polytope, pair.size, scratch.axes
    base, first = start[row, VERTICES], start[other, FACES]
    there = scratch.pose.b_in_a
    best_face = -1
    for face in range(start[other + 1, FACES] - first):
        nx, ny, nz, offset = (
            plane[first + face, 0],
            plane[first + face, 1],
            plane[first + face, 2],
            plane[first + face, 3],
        )
        # The face's normal in the mesh's frame.
        x = there[0, 0] * nx + there[0, 1] * ny + there[0, 2] * nz
        y = there[1, 0] * nx + there[1, 1] * ny + there[1, 2] * nz
        z = there[2, 0] * nx + there[2, 1] * ny + there[2, 2] * nz
        if x * axes.side[0] + y * axes.side[1] + z * axes.side[2] > COSINE_WRONG_SIDE:
            continue
        offset += x * there[POSITION, 0] + y * there[POSITION, 1] + z * there[POSITION, 2]
        lowest = INFINITE
        for corner in range(base, base + 3):
            lowest = min(lowest, x * vertex[corner, 0] + y * vertex[corner, 1] + z * vertex[corner, 2])
        separation = lowest - offset
        if separation <= best + RATIO_FACE_PREFERRED * abs(best) + RATIO_TIE * size:
            continue
        feature = highest_feature(mesh.vertices, mesh.triangles, triangle, -x, -y, -z)
        if feature != FACE and can_push(
            mesh.vertices, mesh.triangles, mesh.normals, triangle, feature, -x, -y, -z, side
        ):
            best = separation
            best_face = face
    return best_face, best


@subkernel
def separate_edges(mesh, triangle, side, polytopes, other, scratch):
    """Largest separation along the normal of one of the triangle's edges and one of the other shape's edges."""
    axes, mine, theirs, start = scratch.axes, scratch.near_edges_a, scratch.near_edges_b, polytopes.start
    count = list_edges(mesh.vertices, mesh.triangles, mesh.normals, triangle, side, mine)
    count_other = edges_above(
        polytopes.edge,
        polytopes.vertex,
        polytopes.plane,
        start[other, EDGES],
        start[other + 1, EDGES],
        start[other, VERTICES],
        start[other, FACES],
        scratch.heights[1],
        -INFINITE,
        theirs,
    )
    place_edges(theirs, count_other, scratch.pose.b_in_a)
    separate_edge_pairs(mine, count, theirs, count_other, axes, scratch.feature)
    return axes.separation_edges[0]


@subkernel
def list_edges(vertices, triangles, normals, triangle, side, near):
    """List the edges of a triangle that can push, as ``hull_separation.edges_above`` does; return how many rows.

    A rim has two rows: from the face's normal outwards to the plane's, and on from there to the back's.
    """
    flags = triangles[triangle, FLAGS]
    convex = CONVEX if side > 0 else CONCAVE
    count = 0
    for edge in range(3):
        kind = (flags >> (2 * edge)) & 3
        if kind not in (convex, RIM):
            continue
        tail, head = triangles[triangle, edge], triangles[triangle, (edge + 1) % 3]
        other = triangles[triangle, NEIGHBORS + edge] // 3
        rows = 2 if kind == RIM else 1
        for part in range(rows):
            for i in range(3):
                near.direction[count + part, i] = side * (vertices[head, i] - vertices[tail, i])
                near.normal_one[count + part, i] = side * normals[triangle, i]
                near.normal_two[count + part, i] = side * normals[other, i]
                near.tail[count + part, i] = vertices[tail, i]
            near.number[count + part] = edge_seen_from(side, edge)
        if kind == RIM:
            set_rim_normals(near, count, count + 1)
        count += rows
    return count


@subkernel
def set_rim_normals(near, first, second):
    """Normals at a rim: the face's, the outward one in its plane, and the back's."""
    length = 0.0
    for i in range(3):
        length += near.direction[first, i] ** 2
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        outwards = near.direction[first, j] * near.normal_one[first, k]
        outwards -= near.direction[first, k] * near.normal_one[first, j]
        near.normal_two[first, i] = outwards / length**0.5
        near.normal_one[second, i] = outwards / length**0.5
        near.normal_two[second, i] = -near.normal_one[first, i]


@subkernel
def edge_points(polytopes, row, other, scratch):
    """One contact where the two edges that separate best come closest."""
    axes, feature, pose = scratch.axes, scratch.feature, scratch.pose.b_in_a
    start, vertex = polytopes.start, polytopes.vertex
    ends = scratch.ends
    base, base_other = start[row, VERTICES], start[other, VERTICES]
    for end in range(2):
        mine = base + (feature.edge_of_a[0] + end) % 3
        theirs = base_other + polytopes.edge[start[other, EDGES] + feature.edge_of_b[0], end]
        for i in range(3):
            ends[end, i] = vertex[mine, i]
            at = pose[POSITION, i] + pose[i, 0] * vertex[theirs, 0] + pose[i, 1] * vertex[theirs, 1]
            ends[2 + end, i] = at + pose[i, 2] * vertex[theirs, 2]
    closest_of_edges(ends, scratch.manifold)
    scratch.manifold.gap[0] = axes.separation_edges[0]
    for i in range(3):
        axes.normal[i] = axes.edge_normal[i]
    return np.int64(1)


@subkernel
def edge_seen_from(side, edge):
    """Edge of the mesh's triangle that is an edge of the one written by ``set_triangle``, and the other way round."""
    return edge if side > 0 else (4 - edge) % 3
