"""Closest points of two convex polytopes: the algorithm of Gilbert, Johnson and Keerthi (1988).

The distance of a and b is that of the origin from their Minkowski difference {x - y}. A simplex of its points is
improved by the support point in the direction towards the origin until that brings nothing (van den Bergen 2003,
chapter 4). The closest point of a simplex is found by trying the newest corner and all edges and triangles that it has:
up to seven closed forms, of which degenerate ones drop out, in place of Johnson's recursion and its tolerances.
"""

import numpy as np

from ...compiled.kernel import subkernel
from ..data.workspace import (
    INFINITE,
    POSITION,
    VERTICES,
)

# A support point must come nearer to the origin than the present point by this share of the squared distance.
# Doubles cannot show much less.
RATIO_PROGRESS = 1e-13

# Distance below which the pair counts as touching (share of the smaller shape's size): the direction of a shorter
# vector would be rounding.
RATIO_TOUCHING = 1e-9

# A tetrahedron whose volume is less than this share of that of a box with its edges is flat: rounding of doubles.
RATIO_FLAT = 1e-14

# Far above what was seen (some 30 with hulls of 500 vertices); against endless cycles only.
MOST_ITERATIONS = 200

# Hulls with more vertices climb along their edges to a support point; smaller ones try all vertices.
CLIMB_FROM = 32


@subkernel
def closest_points(polytopes, a, b, x, y, z, reach, touching, scratch):
    """Distance of two polytopes, with closest points.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    a, b : int
        Their rows.
    x, y, z : float
        Direction from a to b, of any length, with which the search starts; frame of a. The nearer it is to that of the
        closest points, the sooner they are found.
    reach : float
        Distances above it need not be exact [m].
    touching : float
        Distances below it count as none [m].
    scratch : PairScratch
        Relative pose and scales (read); ``simplex`` (written), closest points and direction (written unless 0 is
        returned).

    Returns
    -------
    float
        Distance [m]; a lower bound of it if above ``reach``; 0 if touching or overlapping.
    """
    start, vertex = polytopes.start, polytopes.vertex
    neighbor_start, neighbor = polytopes.neighbor_start, polytopes.neighbor
    base_a, count_a = start[a, VERTICES], start[a + 1, VERTICES] - start[a, VERTICES]
    base_b, count_b = start[b, VERTICES], start[b + 1, VERTICES] - start[b, VERTICES]
    r, simplex, closest = scratch.pose.b_in_a, scratch.simplex, scratch.closest
    scale_a, scale_b = scratch.scale_a, scratch.scale_b
    # Not plain zeros: Numba would compile all that they are passed to once more, for the literal.
    vertex_a, vertex_b, corners = np.int64(0), np.int64(0), np.int64(0)
    x, y, z = -x, -y, -z
    square, least = x * x + y * y + z * z, INFINITE
    if square <= touching * touching:
        x, square = 1.0, 1.0 + y * y + z * z
    for _ in range(MOST_ITERATIONS):
        p, q, s = scaled(scale_a, -x, -y, -z)
        vertex_a = support_vertex(vertex, neighbor_start, neighbor, base_a, count_a, p, q, s, vertex_a)
        p, q, s = into_frame(r, x, y, z)
        p, q, s = scaled(scale_b, p, q, s)
        vertex_b = support_vertex(vertex, neighbor_start, neighbor, base_b, count_b, p, q, s, vertex_b)
        set_corner(simplex, corners, vertex[base_a + vertex_a], vertex[base_b + vertex_b], scale_a, scale_b, r)
        progress = x * simplex.point[corners, 0] + y * simplex.point[corners, 1] + z * simplex.point[corners, 2]
        if progress > 0.0 and progress * progress > reach * reach * square:
            return progress / square**0.5
        if corners > 0 and (square - progress <= RATIO_PROGRESS * square or is_known(simplex.point, corners)):
            break
        p, q, s, corners = nearest_of_simplex(simplex, corners + 1)
        if corners == 4:
            return 0.0
        square = p * p + q * q + s * s
        if square >= least:
            break
        x, y, z, least = p, q, s, square
        weigh_corners(simplex, corners, closest)
        if square <= touching * touching:
            return 0.0
    distance = (x * x + y * y + z * z) ** 0.5
    if distance <= touching:
        return 0.0
    # a - b points from b to a.
    closest.direction[0] = -x / distance
    closest.direction[1] = -y / distance
    closest.direction[2] = -z / distance
    return distance


@subkernel
def to_middle(pose):
    """Direction from the middle of shape a to that of b, with the relative pose ``b_in_a``."""
    return pose[POSITION, 0], pose[POSITION, 1], pose[POSITION, 2]


@subkernel
def into_frame(pose, x, y, z):
    """A direction of the outer frame in the frame that ``pose`` places."""
    return (
        pose[0, 0] * x + pose[1, 0] * y + pose[2, 0] * z,
        pose[0, 1] * x + pose[1, 1] * y + pose[2, 1] * z,
        pose[0, 2] * x + pose[1, 2] * y + pose[2, 2] * z,
    )


@subkernel
def scaled(scale, x, y, z):
    """A vector of a shape's frame, scaled along its axes.

    The point D x of a scaled shape lies farthest in a direction n where x does in the direction D n.
    """
    return scale[0] * x, scale[1] * y, scale[2] * z


@subkernel
def set_corner(simplex, corner, of_a, of_b, scale_a, scale_b, pose):
    """Write a corner of the simplex: a vertex of a, one of b, both scaled, and their difference."""
    x, y, z = scaled(scale_b, of_b[0], of_b[1], of_b[2])
    for i in range(3):
        own = scale_a[i] * of_a[i]
        placed = pose[POSITION, i] + pose[i, 0] * x + pose[i, 1] * y + pose[i, 2] * z
        simplex.on_a[corner, i] = own
        simplex.on_b[corner, i] = placed
        simplex.point[corner, i] = own - placed


@subkernel
def support_vertex(vertices, neighbor_start, neighbor, base, count, x, y, z, start):
    """The vertex that lies farthest in a direction of the hull's own frame.

    Along the edges of a convex polytope every way up ends at a highest vertex, so climbing finds it.
    """
    best = start
    highest = vertices[base + best, 0] * x + vertices[base + best, 1] * y + vertices[base + best, 2] * z
    if count < CLIMB_FROM:
        for vertex in range(count):
            height = vertices[base + vertex, 0] * x + vertices[base + vertex, 1] * y + vertices[base + vertex, 2] * z
            if height > highest:
                highest = height
                best = vertex
        return best
    climbing = True
    while climbing:
        climbing = False
        here = base + best
        for row in range(neighbor_start[here], neighbor_start[here + 1]):
            vertex = neighbor[row]
            height = vertices[base + vertex, 0] * x + vertices[base + vertex, 1] * y + vertices[base + vertex, 2] * z
            if height > highest:
                highest = height
                best = vertex
                climbing = True
    return best


@subkernel
def is_known(points, corner):
    """Whether a corner is one of those before it."""
    for other in range(corner):
        if (
            points[other, 0] == points[corner, 0]
            and points[other, 1] == points[corner, 1]
            and points[other, 2] == points[corner, 2]
        ):
            return True
    return False


@subkernel
def weigh_corners(simplex, corners, closest):
    """Write the simplex's closest point as a point of each shape."""
    for i in range(3):
        on_a, on_b = 0.0, 0.0
        for corner in range(corners):
            on_a += simplex.weight[corner] * simplex.on_a[corner, i]
            on_b += simplex.weight[corner] * simplex.on_b[corner, i]
        closest.on_a[i] = on_a
        closest.on_b[i] = on_b


@subkernel
def nearest_of_simplex(simplex, corners):
    """Reduce the simplex to the corners that carry its point nearest to the origin, and set their weights.

    The last corner is one of them: without it, nothing is nearer than before.

    Returns
    -------
    x, y, z : float
        The nearest point.
    corners : int
        Corners left; 4 if the origin lies inside.
    """
    if corners == 4 and holds_origin(simplex.point):
        return 0.0, 0.0, 0.0, 4
    last = corners - 1
    x, y, z = simplex.point[last, 0], simplex.point[last, 1], simplex.point[last, 2]
    least = x * x + y * y + z * z
    kept, first, second, third = 1, last, 0, 0
    weight_second, weight_third = 0.0, 0.0
    for i in range(last):
        share, p, q, r = nearest_of_segment(simplex.point, i, last)
        square = p * p + q * q + r * r
        if 0.0 < share < 1.0 and square < least:
            least, kept, first, second, weight_second = square, 2, i, last, share
            x, y, z = p, q, r
        for j in range(i + 1, last):
            share_j, share_last, p, q, r = nearest_of_triangle(simplex.point, i, j, last)
            square = p * p + q * q + r * r
            if share_j > 0.0 and share_last > 0.0 and share_j + share_last < 1.0 and square < least:
                least, kept, first, second, third = square, 3, i, j, last
                weight_second, weight_third = share_j, share_last
                x, y, z = p, q, r
    if kept < 3:
        weight_third = 0.0
    if kept < 2:
        weight_second = 0.0
    # first < second < third, so no corner is overwritten before it is moved.
    for points in (simplex.point, simplex.on_a, simplex.on_b):
        for i in range(3):
            points[0, i] = points[first, i]
            points[1, i] = points[second, i]
            points[2, i] = points[third, i]
    simplex.weight[0] = 1.0 - weight_second - weight_third
    simplex.weight[1] = weight_second
    simplex.weight[2] = weight_third
    return x, y, z, kept


@subkernel
def nearest_of_segment(points, i, j):
    """Share of corner j, and the point, of the line through two corners that is nearest to the origin."""
    px, py, pz = points[i, 0], points[i, 1], points[i, 2]
    dx, dy, dz = points[j, 0] - px, points[j, 1] - py, points[j, 2] - pz
    square = dx * dx + dy * dy + dz * dz
    if square == 0.0:
        return -1.0, px, py, pz
    share = -(px * dx + py * dy + pz * dz) / square
    return share, px + share * dx, py + share * dy, pz + share * dz


@subkernel
def nearest_of_triangle(points, i, j, k):
    """Shares of corners j and k, and the point, of the plane of three corners that is nearest to the origin.

    The point is the plane's normal times its distance, which keeps the direction exact however near the origin is. The
    normal is that of the two shorter sides. Corners on a rim come as near to each other as the square root of what
    doubles show, and of two long sides between which such a short one lies hardly a digit of the normal would be left.
    """
    ij, jk, ki = 0.0, 0.0, 0.0
    for column in range(3):
        ij += (points[j, column] - points[i, column]) ** 2
        jk += (points[k, column] - points[j, column]) ** 2
        ki += (points[i, column] - points[k, column]) ** 2
    if jk >= ij and jk >= ki:
        return nearest_from_corner(points, i, j, k)
    if ki >= ij:
        share_k, share_i, x, y, z = nearest_from_corner(points, j, k, i)
        return 1.0 - share_k - share_i, share_k, x, y, z
    share_i, share_j, x, y, z = nearest_from_corner(points, k, i, j)
    return share_j, 1.0 - share_i - share_j, x, y, z


@subkernel
def nearest_from_corner(points, i, j, k):
    """As ``nearest_of_triangle``, by the sides from corner i. One without area has no shares."""
    px, py, pz = points[i, 0], points[i, 1], points[i, 2]
    ux, uy, uz = points[j, 0] - px, points[j, 1] - py, points[j, 2] - pz
    vx, vy, vz = points[k, 0] - px, points[k, 1] - py, points[k, 2] - pz
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    square = nx * nx + ny * ny + nz * nz
    if square == 0.0:
        return -1.0, -1.0, px, py, pz
    # Solves p + s u + t v = c n by the triple products with n.
    share_j = -((py * vz - pz * vy) * nx + (pz * vx - px * vz) * ny + (px * vy - py * vx) * nz) / square
    share_k = -((uy * pz - uz * py) * nx + (uz * px - ux * pz) * ny + (ux * py - uy * px) * nz) / square
    height = (px * nx + py * ny + pz * nz) / square
    return share_j, share_k, height * nx, height * ny, height * nz


@subkernel
def holds_origin(points):
    """Whether the origin lies inside the tetrahedron: on the inner side of each of its four faces.

    Of one so flat that rounding decides on which side of a face its last corner lies, inside is nothing: where the
    origin lies in its plane, its faces are near enough.
    """
    for face in range(4):
        i = (face + 1) % 4
        j = (face + 2) % 4
        k = (face + 3) % 4
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        ux, uy, uz = points[j, 0] - px, points[j, 1] - py, points[j, 2] - pz
        vx, vy, vz = points[k, 0] - px, points[k, 1] - py, points[k, 2] - pz
        wx, wy, wz = points[face, 0] - px, points[face, 1] - py, points[face, 2] - pz
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        inner = nx * wx + ny * wy + nz * wz
        origin = -(nx * px + ny * py + nz * pz)
        if inner * origin <= 0.0:
            return False
        box = (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz) * (wx * wx + wy * wy + wz * wz)
        if inner * inner <= RATIO_FLAT * RATIO_FLAT * box:
            return False
    return True
