"""Separating axes of two convex polytopes: face normals, and normals of edge pairs that meet on the Gauss map.

Gregorius, "The Separating Axis Test between Convex Polyhedra", GDC 2013. What makes it fast with hundreds of vertices:
a face is left as soon as one vertex of the other hull lies deeper than the best face so far, and edges are looked at
only within the slab in which the two hulls can overlap.
"""

import numpy as np

from ..kernel import subkernel
from .closest_points import into_frame, support_vertex
from .workspace import (
    B_IN_A,
    BEST_A,
    BEST_B,
    BEST_EDGES,
    EDGE_NORMAL,
    EDGE_OF_A,
    EDGE_OF_B,
    EDGES,
    FACES,
    POSITION,
    SEPARATION,
    VERTICES,
)

# Sine of the angle between two edges below which their cross product is no axis of its own.
SINE_PARALLEL_EDGES = 1e-6

INFINITE = 1e300


@subkernel
def separate_faces(polytopes, hull, other, pose, reach, favoured, favour):
    """Face of a hull whose plane keeps the other hull farthest out.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    hull, other : int
    pose : float64 [4, 3]
        Of the other hull in the frame of this one (read).
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
    flat_face = polytopes.flat_face[hull]
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
        if flat_face >= 0 and offset < 0.0 and flat_face <= face <= flat_face + 1:
            # A sheet pushes to the side on which the other's centre is.
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
    pose, axes, heights, near_edges = scratch.pose[B_IN_A], scratch.axes, scratch.heights, scratch.near_edges
    start, vertex, edge = polytopes.start, polytopes.vertex, polytopes.edge
    axes[SEPARATION, BEST_EDGES] = -INFINITE
    depth = max(slack, -max(axes[SEPARATION, BEST_A], axes[SEPARATION, BEST_B])) + slack
    nx, ny, nz = best_face_normal(polytopes.plane, start[a, FACES], start[b, FACES], axes, scratch.feature, pose)
    highest_a = set_heights(vertex, start[a, VERTICES], start[a + 1, VERTICES], nx, ny, nz, 0.0, heights[0])
    # Heights of b are along -n, so that the slab is at the top of either.
    x, y, z = into_frame(pose, -nx, -ny, -nz)
    origin = -(nx * pose[POSITION, 0] + ny * pose[POSITION, 1] + nz * pose[POSITION, 2])
    highest_b = set_heights(vertex, start[b, VERTICES], start[b + 1, VERTICES], x, y, z, origin, heights[1])
    count_a = edges_above(edge, start[a, EDGES], start[a + 1, EDGES], heights[0], -highest_b - depth, near_edges[0])
    count_b = edges_above(edge, start[b, EDGES], start[b + 1, EDGES], heights[1], -highest_a - depth, near_edges[1])
    for place_b in range(count_b):
        for place_a in range(count_a):
            separate_edge_pair(
                polytopes, a, near_edges[0, place_a], b, near_edges[1, place_b], pose, axes, scratch.feature
            )


@subkernel
def best_face_normal(plane, first_a, first_b, axes, feature, pose):
    """Normal of the better of the two best faces, from a to b, in the frame of a."""
    if axes[SEPARATION, BEST_A] >= axes[SEPARATION, BEST_B]:
        row = first_a + feature[BEST_A]
        return plane[row, 0], plane[row, 1], plane[row, 2]
    row = first_b + feature[BEST_B]
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
def edges_above(edge, first, last, heights, threshold, near):
    """List the edges that reach the threshold with an end; return how many they are."""
    count = 0
    for row in range(first, last):
        if heights[edge[row, 0]] >= threshold or heights[edge[row, 1]] >= threshold:
            near[count] = row - first
            count += 1
    return count


@subkernel
def separate_edge_pair(polytopes, a, edge_a, b, edge_b, pose, axes, feature):
    """Take the pair's normal as the best edge axis if its arcs cross on the Gauss map and it separates more."""
    start, vertex, edge, plane = polytopes.start, polytopes.vertex, polytopes.edge, polytopes.plane
    row_a, row_b = start[a, EDGES] + edge_a, start[b, EDGES] + edge_b
    tail_a, head_a = start[a, VERTICES] + edge[row_a, 0], start[a, VERTICES] + edge[row_a, 1]
    tail_b, head_b = start[b, VERTICES] + edge[row_b, 0], start[b, VERTICES] + edge[row_b, 1]
    ax = vertex[head_a, 0] - vertex[tail_a, 0]
    ay = vertex[head_a, 1] - vertex[tail_a, 1]
    az = vertex[head_a, 2] - vertex[tail_a, 2]
    x = vertex[head_b, 0] - vertex[tail_b, 0]
    y = vertex[head_b, 1] - vertex[tail_b, 1]
    z = vertex[head_b, 2] - vertex[tail_b, 2]
    # Each edge in the frame of the other's hull, where the faces' normals are.
    p, q, s = into_frame(pose, ax, ay, az)
    bx = pose[0, 0] * x + pose[0, 1] * y + pose[0, 2] * z
    by = pose[1, 0] * x + pose[1, 1] * y + pose[1, 2] * z
    bz = pose[2, 0] * x + pose[2, 1] * y + pose[2, 2] * z
    # The edges' arcs on the sphere of normals, that of b mirrored, must cross: the faces at the edge of a look to
    # either side of the edge of b, the other way round, and both arcs lie on one hemisphere. Loops run
    # counterclockwise, so an edge's direction is the cross product of its faces' normals.
    one_a, two_a = start[a, FACES] + edge[row_a, 2], start[a, FACES] + edge[row_a, 3]
    one_b, two_b = start[b, FACES] + edge[row_b, 2], start[b, FACES] + edge[row_b, 3]
    side_one_b = -(plane[one_b, 0] * p + plane[one_b, 1] * q + plane[one_b, 2] * s)
    side_two_b = -(plane[two_b, 0] * p + plane[two_b, 1] * q + plane[two_b, 2] * s)
    side_one_a = plane[one_a, 0] * bx + plane[one_a, 1] * by + plane[one_a, 2] * bz
    side_two_a = plane[two_a, 0] * bx + plane[two_a, 1] * by + plane[two_a, 2] * bz
    if side_one_b * side_two_b >= 0.0 or side_one_a * side_two_a >= 0.0 or side_one_b * side_two_a <= 0.0:
        return
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    square = nx * nx + ny * ny + nz * nz
    lengths = (ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz)
    if square <= SINE_PARALLEL_EDGES * SINE_PARALLEL_EDGES * lengths:
        return
    # Outwards from a: to the side to which both of its faces look.
    outward = 0.0
    outward += nx * (plane[one_a, 0] + plane[two_a, 0])
    outward += ny * (plane[one_a, 1] + plane[two_a, 1])
    outward += nz * (plane[one_a, 2] + plane[two_a, 2])
    scale = (1.0 if outward > 0.0 else -1.0) / square**0.5
    nx, ny, nz = nx * scale, ny * scale, nz * scale
    p, q, s = into_frame(pose, nx, ny, nz)
    separation = nx * pose[POSITION, 0] + ny * pose[POSITION, 1] + nz * pose[POSITION, 2]
    separation += p * vertex[tail_b, 0] + q * vertex[tail_b, 1] + s * vertex[tail_b, 2]
    separation -= nx * vertex[tail_a, 0] + ny * vertex[tail_a, 1] + nz * vertex[tail_a, 2]
    if separation > axes[SEPARATION, BEST_EDGES]:
        axes[SEPARATION, BEST_EDGES] = separation
        feature[EDGE_OF_A] = edge_a
        feature[EDGE_OF_B] = edge_b
        axes[EDGE_NORMAL, 0] = nx
        axes[EDGE_NORMAL, 1] = ny
        axes[EDGE_NORMAL, 2] = nz
