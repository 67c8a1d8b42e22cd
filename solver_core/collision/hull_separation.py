"""Separating axes of two convex polytopes: face normals, and normals of edge pairs that meet on the Gauss map.

Gregorius, "The Separating Axis Test between Convex Polyhedra", GDC 2013. What makes it fast with hundreds of vertices:
a face is left as soon as one vertex of the other hull lies deeper than the best face so far, and edges are looked at
only within the slab in which the two hulls can overlap.
"""

from ..kernel import kernel
from .closest_points import support_vertex

# Sine of the angle between two edges below which their cross product is no axis of its own.
SINE_PARALLEL_EDGES = 1e-6

INFINITE = 1e300


@kernel
def separate_faces(polytopes, hull, other, rotation, translation, reach, favoured, favour):
    """Face of a hull whose plane keeps the other hull farthest out.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    hull, other : int
    rotation, translation : float64 [3, 3], [3]
        Pose of the other hull in the frame of this one (read).
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
    r, t = rotation, translation
    first = polytopes.face_start[hull]
    count = polytopes.face_start[hull + 1] - first
    base = polytopes.vertex_start[other]
    best = -INFINITE
    best_separation = -INFINITE
    best_face = 0
    deepest = 0
    for turn in range(-1, count):
        # The favoured face goes first: mostly it is still the best, and all others are left after one vertex.
        face = turn
        if turn < 0:
            if favoured < 0:
                continue
            face = favoured
        nx, ny, nz = polytopes.face_normal[first + face]
        offset = nx * t[0] + ny * t[1] + nz * t[2] - polytopes.face_offset[first + face]
        if polytopes.is_flat[hull] and face < 2 and offset < 0.0:
            # A sheet pushes to the side on which the other's centre is.
            continue
        x = r[0, 0] * nx + r[1, 0] * ny + r[2, 0] * nz
        y = r[0, 1] * nx + r[1, 1] * ny + r[2, 1] * nz
        z = r[0, 2] * nx + r[1, 2] * ny + r[2, 2] * nz
        bonus = favour if face == favoured else 0.0
        vertex = polytopes.vertex[base + deepest]
        if offset + x * vertex[0] + y * vertex[1] + z * vertex[2] + bonus <= best:
            continue
        deepest = support_vertex(polytopes, other, -x, -y, -z, deepest)
        vertex = polytopes.vertex[base + deepest]
        separation = offset + x * vertex[0] + y * vertex[1] + z * vertex[2]
        if separation + bonus > best:
            best = separation + bonus
            best_separation = separation
            best_face = face
            if separation > reach:
                break
    return best_separation, best_face


@kernel
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
        Relative pose and the faces' separations (read); ``separation[2]``, ``feature[2:4]``, ``edge_normal`` written.
    """
    scratch.separation[2] = -INFINITE
    depth = max(slack, -max(scratch.separation[0], scratch.separation[1])) + slack
    nx, ny, nz = best_face_normal(polytopes, a, b, scratch)
    lowest_b = slab_heights(polytopes, a, b, nx, ny, nz, scratch)
    highest_a = scratch.height_a[0]
    for vertex in range(polytopes.vertex_start[a + 1] - polytopes.vertex_start[a]):
        highest_a = max(highest_a, scratch.height_a[vertex])
    count_a = edges_in_slab(polytopes, a, scratch.height_a, 1.0, lowest_b - depth, scratch.near_edges_a)
    count_b = edges_in_slab(polytopes, b, scratch.height_b, -1.0, -highest_a - depth, scratch.near_edges_b)
    for place_b in range(count_b):
        edge_b = scratch.near_edges_b[place_b]
        for place_a in range(count_a):
            separate_edge_pair(polytopes, a, scratch.near_edges_a[place_a], b, edge_b, scratch)


@kernel
def best_face_normal(polytopes, a, b, scratch):
    """Normal of the better of the two best faces, from a to b, in the frame of a."""
    if scratch.separation[0] >= scratch.separation[1]:
        x, y, z = polytopes.face_normal[polytopes.face_start[a] + scratch.feature[0]]
        return x, y, z
    x, y, z = polytopes.face_normal[polytopes.face_start[b] + scratch.feature[1]]
    r = scratch.rotation
    return (
        -r[0, 0] * x - r[0, 1] * y - r[0, 2] * z,
        -r[1, 0] * x - r[1, 1] * y - r[1, 2] * z,
        -r[2, 0] * x - r[2, 1] * y - r[2, 2] * z,
    )


@kernel
def slab_heights(polytopes, a, b, nx, ny, nz, scratch):
    """Heights of all vertices along ``n``; returns the lowest of b."""
    base = polytopes.vertex_start[a]
    for vertex in range(polytopes.vertex_start[a + 1] - base):
        x, y, z = polytopes.vertex[base + vertex]
        scratch.height_a[vertex] = nx * x + ny * y + nz * z
    r, t = scratch.rotation, scratch.translation
    origin = nx * t[0] + ny * t[1] + nz * t[2]
    ux = r[0, 0] * nx + r[1, 0] * ny + r[2, 0] * nz
    uy = r[0, 1] * nx + r[1, 1] * ny + r[2, 1] * nz
    uz = r[0, 2] * nx + r[1, 2] * ny + r[2, 2] * nz
    base = polytopes.vertex_start[b]
    lowest = INFINITE
    for vertex in range(polytopes.vertex_start[b + 1] - base):
        x, y, z = polytopes.vertex[base + vertex]
        scratch.height_b[vertex] = origin + ux * x + uy * y + uz * z
        lowest = min(lowest, scratch.height_b[vertex])
    return lowest


@kernel
def edges_in_slab(polytopes, hull, height, sign, threshold, near):
    """List the edges of which an end has ``sign * height >= threshold``; return how many they are."""
    count = 0
    first = polytopes.edge_start[hull]
    for edge in range(polytopes.edge_start[hull + 1] - first):
        start = polytopes.edge_vertex[first + edge, 0]
        end = polytopes.edge_vertex[first + edge, 1]
        if sign * height[start] >= threshold or sign * height[end] >= threshold:
            near[count] = edge
            count += 1
    return count


@kernel
def separate_edge_pair(polytopes, a, edge_a, b, edge_b, scratch):
    """Take the pair's normal as the best edge axis if it is one (its arcs cross on the Gauss map) and separates more."""
    r, t = scratch.rotation, scratch.translation
    row_a = polytopes.edge_start[a] + edge_a
    row_b = polytopes.edge_start[b] + edge_b
    pa = polytopes.vertex[polytopes.vertex_start[a] + polytopes.edge_vertex[row_a, 0]]
    qa = polytopes.vertex[polytopes.vertex_start[a] + polytopes.edge_vertex[row_a, 1]]
    pb = polytopes.vertex[polytopes.vertex_start[b] + polytopes.edge_vertex[row_b, 0]]
    qb = polytopes.vertex[polytopes.vertex_start[b] + polytopes.edge_vertex[row_b, 1]]
    ax, ay, az = qa[0] - pa[0], qa[1] - pa[1], qa[2] - pa[2]
    x, y, z = qb[0] - pb[0], qb[1] - pb[1], qb[2] - pb[2]
    bx = r[0, 0] * x + r[0, 1] * y + r[0, 2] * z
    by = r[1, 0] * x + r[1, 1] * y + r[1, 2] * z
    bz = r[2, 0] * x + r[2, 1] * y + r[2, 2] * z
    if not arcs_cross(polytopes, a, row_a, b, row_b, ax, ay, az, bx, by, bz, r):
        return
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    square = nx * nx + ny * ny + nz * nz
    lengths = (ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz)
    if square <= SINE_PARALLEL_EDGES * SINE_PARALLEL_EDGES * lengths:
        return
    # Outwards from a: along both faces that meet in the edge of a.
    one = polytopes.face_normal[polytopes.face_start[a] + polytopes.edge_face[row_a, 0]]
    two = polytopes.face_normal[polytopes.face_start[a] + polytopes.edge_face[row_a, 1]]
    outward = nx * (one[0] + two[0]) + ny * (one[1] + two[1]) + nz * (one[2] + two[2])
    scale = (1.0 if outward > 0.0 else -1.0) / square**0.5
    nx, ny, nz = nx * scale, ny * scale, nz * scale
    separation = 0.0
    separation += nx * (t[0] + r[0, 0] * pb[0] + r[0, 1] * pb[1] + r[0, 2] * pb[2] - pa[0])
    separation += ny * (t[1] + r[1, 0] * pb[0] + r[1, 1] * pb[1] + r[1, 2] * pb[2] - pa[1])
    separation += nz * (t[2] + r[2, 0] * pb[0] + r[2, 1] * pb[1] + r[2, 2] * pb[2] - pa[2])
    if separation > scratch.separation[2]:
        scratch.separation[2] = separation
        scratch.feature[2] = edge_a
        scratch.feature[3] = edge_b
        scratch.edge_normal[0] = nx
        scratch.edge_normal[1] = ny
        scratch.edge_normal[2] = nz


@kernel
def arcs_cross(polytopes, a, row_a, b, row_b, ax, ay, az, bx, by, bz, r):
    """Whether the edges' arcs, of a and of the mirrored b, cross on the unit sphere of normals.

    With the normals A, B of the faces at the edge of a, and C, D those at b's, mirrored: A and B must lie on both sides
    of the great circle of C, D, and the other way round, and on the same hemisphere. The edges' directions stand for
    A x B and C x D, whose length may be nothing.
    """
    faces = polytopes.face_start[b]
    p = polytopes.face_normal[faces + polytopes.edge_face[row_b, 0]]
    q = polytopes.face_normal[faces + polytopes.edge_face[row_b, 1]]
    cx = -(r[0, 0] * p[0] + r[0, 1] * p[1] + r[0, 2] * p[2])
    cy = -(r[1, 0] * p[0] + r[1, 1] * p[1] + r[1, 2] * p[2])
    cz = -(r[2, 0] * p[0] + r[2, 1] * p[1] + r[2, 2] * p[2])
    dx = -(r[0, 0] * q[0] + r[0, 1] * q[1] + r[0, 2] * q[2])
    dy = -(r[1, 0] * q[0] + r[1, 1] * q[1] + r[1, 2] * q[2])
    dz = -(r[2, 0] * q[0] + r[2, 1] * q[1] + r[2, 2] * q[2])
    c_side = cx * ax + cy * ay + cz * az
    d_side = dx * ax + dy * ay + dz * az
    if c_side * d_side >= 0.0:
        return False
    faces = polytopes.face_start[a]
    p = polytopes.face_normal[faces + polytopes.edge_face[row_a, 0]]
    q = polytopes.face_normal[faces + polytopes.edge_face[row_a, 1]]
    a_side = p[0] * bx + p[1] * by + p[2] * bz
    b_side = q[0] * bx + q[1] * by + q[2] * bz
    if a_side * b_side >= 0.0:
        return False
    # Loops run counterclockwise, so A x B is along the edge of a, and C x D along that of b.
    return c_side * b_side > 0.0
