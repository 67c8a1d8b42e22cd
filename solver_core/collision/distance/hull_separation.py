"""Separating axes of two convex polytopes: face normals, and normals of edge pairs that meet on the Gauss map.

Gregorius, "The Separating Axis Test between Convex Polyhedra", GDC 2013. What makes it fast with hundreds of vertices:
a face is left as soon as one vertex of the other hull lies deeper than the best face so far, and edges are tried
only within the slab in which the two hulls can overlap.
"""

import numpy as np

from ...compiled.kernel import subkernel
from ..data.workspace import (
    EDGES,
    FACES,
    INFINITE,
    POSITION,
    VERTICES,
)
from .closest_points import into_frame, support_vertex

# Sine of the angle between two edges below which their cross product is no axis of its own: face normals separate as
# well.
SINE_PARALLEL_EDGES = 1e-6

# An axis leads to a sheet's wrong side if its cosine with the right one is below minus this; along the sheet may be.
COSINE_WRONG_SIDE = 1e-6


@subkernel
def separate_faces(polytopes, hull, other, pose, side_x, side_y, side_z, reach, favoured, favour):
    """Face of a hull whose plane keeps the other hull farthest out.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    hull, other : int
    pose : float64 [4, 3]
        Of the other hull in the frame of this one (read).
    side_x, side_y, side_z : float
        Of ``find_side``, in the frame of this hull and away from it.
    reach : float
        The first face with more separation than this ends the search [m].
    favoured : int
        A face that wins near ties, -1 for none.
    favour : float
        How near [m].

    Returns
    -------
    separation : float
        [m]
    face : int
    """
    start, plane, vertex = polytopes.start, polytopes.plane, polytopes.vertex
    first = start[hull, FACES]
    base, count = start[other, VERTICES], start[other + 1, VERTICES] - start[other, VERTICES]
    best = -INFINITE
    best_separation = -INFINITE
    best_face = np.int64(0)
    deepest = np.int64(0)
    for turn in range(-1, start[hull + 1, FACES] - first):
        # The favoured face goes first: mostly it is still the best, and all others are left after one vertex.
        face = favoured if turn < 0 else turn
        if face < 0:
            continue
        row = first + face
        nx, ny, nz = plane[row, 0], plane[row, 1], plane[row, 2]
        offset = nx * pose[POSITION, 0] + ny * pose[POSITION, 1] + nz * pose[POSITION, 2] - plane[row, 3]
        if nx * side_x + ny * side_y + nz * side_z < -COSINE_WRONG_SIDE:
            continue
        x, y, z = into_frame(pose, nx, ny, nz)
        bonus = favour if face == favoured else 0.0
        at = base + deepest
        if offset + x * vertex[at, 0] + y * vertex[at, 1] + z * vertex[at, 2] + bonus <= best:
            continue
        deepest = support_vertex(vertex, polytopes.neighbor_start, polytopes.neighbor, base, count, -x, -y, -z, deepest)
        at = base + deepest
        separation = offset + x * vertex[at, 0] + y * vertex[at, 1] + z * vertex[at, 2]
        if separation + bonus > best:
            best = separation + bonus
            best_separation = separation
            best_face = face
            if separation > reach:
                break
    return best_separation, best_face


@subkernel
def separate_hull_edges(polytopes, a, b, slack, scratch):
    """Largest separation of two overlapping (or just touching) hulls along the normal of an edge of each.

    Where that normal is the least way out, the two edges come closer to each other than the depth. So both lie within
    a slab along the best face normal, as thick as the overlap and the depth on either side.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    a, b : int
    slack : float
        Added to the slab against rounding [m].
    scratch : PairScratch
        Relative pose and the faces' separations (read); those of edges (written).
    """
    pose, axes, heights = scratch.pose.b_in_a, scratch.axes, scratch.heights
    start, vertex = polytopes.start, polytopes.vertex
    depth = max(slack, -max(axes.separation_a[0], axes.separation_b[0])) + slack
    nx, ny, nz = best_face_normal(polytopes.plane, start[a, FACES], start[b, FACES], axes, scratch.feature, pose)
    highest_a = set_heights(vertex, start[a, VERTICES], start[a + 1, VERTICES], nx, ny, nz, 0.0, heights[0])
    # Heights of b are along -n, so that the slab is at the top of either.
    x, y, z = into_frame(pose, -nx, -ny, -nz)
    origin = -(nx * pose[POSITION, 0] + ny * pose[POSITION, 1] + nz * pose[POSITION, 2])
    highest_b = set_heights(vertex, start[b, VERTICES], start[b + 1, VERTICES], x, y, z, origin, heights[1])
    edge, plane = polytopes.edge, polytopes.plane
    near_a, near_b = scratch.near_edges_a, scratch.near_edges_b
    first, last, base, faces = start[a, EDGES], start[a + 1, EDGES], start[a, VERTICES], start[a, FACES]
    count_a = edges_above(edge, vertex, plane, first, last, base, faces, heights[0], -highest_b - depth, near_a)
    first, last, base, faces = start[b, EDGES], start[b + 1, EDGES], start[b, VERTICES], start[b, FACES]
    count_b = edges_above(edge, vertex, plane, first, last, base, faces, heights[1], -highest_a - depth, near_b)
    place_edges(near_b, count_b, pose)
    separate_edge_pairs(near_a, count_a, near_b, count_b, axes, scratch.feature)


@subkernel
def best_face_normal(plane, first_a, first_b, axes, feature, pose):
    """Normal of the better of the two best faces, from a to b, in the frame of a."""
    if axes.separation_a[0] >= axes.separation_b[0]:
        row = first_a + feature.best_a[0]
        return plane[row, 0], plane[row, 1], plane[row, 2]
    row = first_b + feature.best_b[0]
    x, y, z = plane[row, 0], plane[row, 1], plane[row, 2]
    return (
        -pose[0, 0] * x - pose[0, 1] * y - pose[0, 2] * z,
        -pose[1, 0] * x - pose[1, 1] * y - pose[1, 2] * z,
        -pose[2, 0] * x - pose[2, 1] * y - pose[2, 2] * z,
    )


@subkernel
def set_heights(vertex, first, last, x, y, z, origin, heights):
    """Heights of vertices along a direction; returns the largest."""
    highest = -INFINITE
    for row in range(first, last):
        height = origin + vertex[row, 0] * x + vertex[row, 1] * y + vertex[row, 2] * z
        heights[row - first] = height
        highest = max(highest, height)
    return highest


@subkernel
def edges_above(edge, vertex, plane, first, last, base, faces, heights, threshold, near):
    """List the edges of a hull that reach the threshold with an end; return how many they are.

    Parameters
    ----------
    edge, vertex, plane : arrays of HullArrays
        (read)
    first, last, base, faces : int
        The hull's rows in the tables of edges, and where its vertices and faces start.
    heights : float64 [V]
        (read)
    threshold : float
        [m]
    near : NearEdges
        Written.
    """
    count = 0
    for row in range(first, last):
        if heights[edge[row, 0]] < threshold and heights[edge[row, 1]] < threshold:
            continue
        tail, head = base + edge[row, 0], base + edge[row, 1]
        one, two = faces + edge[row, 2], faces + edge[row, 3]
        for i in range(3):
            near.direction[count, i] = vertex[head, i] - vertex[tail, i]
            near.normal_one[count, i] = plane[one, i]
            near.normal_two[count, i] = plane[two, i]
            near.tail[count, i] = vertex[tail, i]
        near.number[count] = row - first
        count += 1
    return count


@subkernel
def place_edges(near, count, pose):
    """Bring listed edges into the outer frame of ``pose``."""
    for place in range(count):
        for vectors in (near.direction, near.normal_one, near.normal_two, near.tail):
            x, y, z = vectors[place, 0], vectors[place, 1], vectors[place, 2]
            for i in range(3):
                vectors[place, i] = pose[i, 0] * x + pose[i, 1] * y + pose[i, 2] * z
        for i in range(3):
            near.tail[place, i] += pose[POSITION, i]


@subkernel
def separate_edge_pairs(near_a, count_a, near_b, count_b, axes, feature):
    """Find the two listed edges whose normal separates most, among those whose normal is one of the pair's axes.

    It is one if the edges' arcs on the sphere of normals cross, that of b mirrored: the faces at the edge of a look to
    either side of the edge of b, the other way round, and both arcs lie on one hemisphere. Loops run counterclockwise,
    so an edge's direction is the cross product of its faces' normals.
    """
    best = -INFINITE
    for place_b in range(count_b):
        edge_b, c, d = near_b.direction[place_b], near_b.normal_one[place_b], near_b.normal_two[place_b]
        bx, by, bz = edge_b[0], edge_b[1], edge_b[2]
        cx, cy, cz, dx, dy, dz = c[0], c[1], c[2], d[0], d[1], d[2]
        tail_b = near_b.tail[place_b]
        for place_a in range(count_a):
            edge_a, one, two = near_a.direction[place_a], near_a.normal_one[place_a], near_a.normal_two[place_a]
            ax, ay, az = edge_a[0], edge_a[1], edge_a[2]
            side_c = -(cx * ax + cy * ay + cz * az)
            side_d = -(dx * ax + dy * ay + dz * az)
            if side_c * side_d >= 0.0:
                continue
            side_one = one[0] * bx + one[1] * by + one[2] * bz
            side_two = two[0] * bx + two[1] * by + two[2] * bz
            if side_one * side_two >= 0.0 or side_c * side_two <= 0.0:
                continue
            nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
            square = nx * nx + ny * ny + nz * nz
            lengths = (ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz)
            if square <= SINE_PARALLEL_EDGES * SINE_PARALLEL_EDGES * lengths:
                continue
            # Outwards from a: to the side to which both of its faces look.
            outward = nx * (one[0] + two[0]) + ny * (one[1] + two[1]) + nz * (one[2] + two[2])
            scale = (1.0 if outward > 0.0 else -1.0) / square**0.5
            if (nx * axes.side[0] + ny * axes.side[1] + nz * axes.side[2]) * scale < -COSINE_WRONG_SIDE:
                continue
            tail_a = near_a.tail[place_a]
            separation = nx * (tail_b[0] - tail_a[0]) + ny * (tail_b[1] - tail_a[1]) + nz * (tail_b[2] - tail_a[2])
            separation *= scale
            if separation > best:
                best = separation
                feature.edge_of_a[0] = near_a.number[place_a]
                feature.edge_of_b[0] = near_b.number[place_b]
                axes.edge_normal[0] = nx * scale
                axes.edge_normal[1] = ny * scale
                axes.edge_normal[2] = nz * scale
    axes.separation_edges[0] = best
