"""Closest points of two convex polytopes: the algorithm of Gilbert, Johnson and Keerthi (1988).

The distance of a and b is that of the origin from their Minkowski difference {x - y}. A simplex of its points is
improved by the support point in the direction towards the origin until that brings nothing (van den Bergen 2003,
chapter 4). The closest point of a simplex is found by trying all its corners, edges and triangles: up to 14 closed
forms, of which degenerate ones drop out, in place of Johnson's recursion and its tolerances.
"""

from ..kernel import kernel

# A support point must come nearer to the origin than the present point by this share of the squared distance.
# Doubles cannot show much less.
RATIO_PROGRESS = 1e-13

# Distance below which the pair counts as touching (share of the smaller shape's size): the direction of a shorter
# vector would be rounding.
RATIO_TOUCHING = 1e-9

# Far above what was seen (some 30 with hulls of 500 vertices); against endless cycles only.
MOST_ITERATIONS = 200

# Hulls with more vertices climb along their edges to a support point; smaller ones look at all vertices.
CLIMB_FROM = 32

INFINITE = 1e300


@kernel
def closest_points(polytopes, a, b, reach, touching, scratch):
    """Distance of two polytopes, with closest points.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    a, b : int
        Their rows.
    reach : float
        Distances above it need not be exact [m].
    touching : float
        Distances below it count as none [m].
    scratch : PairScratch
        Relative pose (read); ``closest_a``, ``closest_b``, ``closest_normal`` written unless the result is 0.

    Returns
    -------
    float
        Distance [m]; a lower bound of it if above ``reach``; 0 if touching or overlapping.
    """
    corners = 1
    vertex_a, vertex_b = add_support(polytopes, a, b, 1.0, 0.0, 0.0, 0, 0, scratch, 0)
    scratch.weight[0] = 1.0
    x, y, z = weighted_points(scratch, corners)
    for _ in range(MOST_ITERATIONS):
        square = x * x + y * y + z * z
        if square <= touching * touching:
            return 0.0
        vertex_a, vertex_b = add_support(polytopes, a, b, x, y, z, vertex_a, vertex_b, scratch, corners)
        progress = x * scratch.simplex[corners, 0] + y * scratch.simplex[corners, 1] + z * scratch.simplex[corners, 2]
        if progress > 0.0 and progress * progress > reach * reach * square:
            return progress / square**0.5
        if square - progress <= RATIO_PROGRESS * square or is_known(scratch.simplex, corners):
            break
        p, q, r, corners = nearest_of_simplex(scratch, corners + 1)
        if corners == 4:
            return 0.0
        if p * p + q * q + r * r >= square:
            break
        x, y, z = p, q, r
        weighted_points(scratch, corners)
    distance = (x * x + y * y + z * z) ** 0.5
    if distance <= touching:
        return 0.0
    # a - b points from b to a.
    scratch.closest_normal[0] = -x / distance
    scratch.closest_normal[1] = -y / distance
    scratch.closest_normal[2] = -z / distance
    return distance


@kernel
def add_support(polytopes, a, b, x, y, z, start_a, start_b, scratch, corner):
    """Write the point of a - b that lies farthest against (x, y, z) as a corner of the simplex."""
    r = scratch.rotation
    vertex_a = support_vertex(polytopes, a, -x, -y, -z, start_a)
    vertex_b = support_vertex(
        polytopes,
        b,
        r[0, 0] * x + r[1, 0] * y + r[2, 0] * z,
        r[0, 1] * x + r[1, 1] * y + r[2, 1] * z,
        r[0, 2] * x + r[1, 2] * y + r[2, 2] * z,
        start_b,
    )
    of_a = polytopes.vertex[polytopes.vertex_start[a] + vertex_a]
    of_b = polytopes.vertex[polytopes.vertex_start[b] + vertex_b]
    for axis in range(3):
        placed = scratch.translation[axis] + r[axis, 0] * of_b[0] + r[axis, 1] * of_b[1] + r[axis, 2] * of_b[2]
        scratch.simplex_a[corner, axis] = of_a[axis]
        scratch.simplex_b[corner, axis] = placed
        scratch.simplex[corner, axis] = of_a[axis] - placed
    return vertex_a, vertex_b


@kernel
def support_vertex(polytopes, hull, x, y, z, start):
    """The vertex that lies farthest in a direction of the hull's own frame.

    Along the edges of a convex polytope every way up ends at a highest vertex, so climbing finds it.
    """
    base = polytopes.vertex_start[hull]
    count = polytopes.vertex_start[hull + 1] - base
    vertices = polytopes.vertex
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
        for row in range(polytopes.neighbor_start[here], polytopes.neighbor_start[here + 1]):
            vertex = polytopes.neighbor[row]
            height = vertices[base + vertex, 0] * x + vertices[base + vertex, 1] * y + vertices[base + vertex, 2] * z
            if height > highest:
                highest = height
                best = vertex
                climbing = True
    return best


@kernel
def is_known(simplex, corner):
    """Whether a corner is one of those before it."""
    for other in range(corner):
        if (
            simplex[other, 0] == simplex[corner, 0]
            and simplex[other, 1] == simplex[corner, 1]
            and simplex[other, 2] == simplex[corner, 2]
        ):
            return True
    return False


@kernel
def weighted_points(scratch, corners):
    """Write the simplex's closest point as a point of each shape; return their difference a - b."""
    for axis in range(3):
        on_a = 0.0
        on_b = 0.0
        for corner in range(corners):
            on_a += scratch.weight[corner] * scratch.simplex_a[corner, axis]
            on_b += scratch.weight[corner] * scratch.simplex_b[corner, axis]
        scratch.closest_a[axis] = on_a
        scratch.closest_b[axis] = on_b
    return (
        scratch.closest_a[0] - scratch.closest_b[0],
        scratch.closest_a[1] - scratch.closest_b[1],
        scratch.closest_a[2] - scratch.closest_b[2],
    )


@kernel
def nearest_of_simplex(scratch, corners):
    """Reduce the simplex to the corners that carry its point nearest to the origin, and set their weights.

    Returns
    -------
    x, y, z : float
        The nearest point.
    corners : int
        Corners left; 4 if the origin lies inside.
    """
    simplex = scratch.simplex
    if corners == 4 and holds_origin(simplex):
        return 0.0, 0.0, 0.0, 4
    least = INFINITE
    x, y, z = 0.0, 0.0, 0.0
    kept = 0
    first, second, third = 0, 0, 0
    weight_second, weight_third = 0.0, 0.0
    for i in range(corners):
        p, q, r = simplex[i]
        square = p * p + q * q + r * r
        if square < least:
            least, kept, first = square, 1, i
            x, y, z = p, q, r
        for j in range(i + 1, corners):
            share, p, q, r = nearest_of_segment(simplex, i, j)
            square = p * p + q * q + r * r
            if 0.0 < share < 1.0 and square < least:
                least, kept, first, second, weight_second = square, 2, i, j, share
                x, y, z = p, q, r
            for k in range(j + 1, corners):
                share_j, share_k, p, q, r = nearest_of_triangle(simplex, i, j, k)
                square = p * p + q * q + r * r
                if share_j > 0.0 and share_k > 0.0 and share_j + share_k < 1.0 and square < least:
                    least, kept, first, second, third = square, 3, i, j, k
                    weight_second, weight_third = share_j, share_k
                    x, y, z = p, q, r
    # first < second < third, so no corner is overwritten before it is moved.
    move_corner(scratch, first, 0)
    if kept > 1:
        move_corner(scratch, second, 1)
    if kept > 2:
        move_corner(scratch, third, 2)
    scratch.weight[1] = weight_second
    scratch.weight[2] = weight_third if kept > 2 else 0.0
    scratch.weight[0] = 1.0 - (weight_second if kept > 1 else 0.0) - scratch.weight[2]
    return x, y, z, kept


@kernel
def move_corner(scratch, source, target):
    """Copy a corner of the simplex."""
    for axis in range(3):
        scratch.simplex[target, axis] = scratch.simplex[source, axis]
        scratch.simplex_a[target, axis] = scratch.simplex_a[source, axis]
        scratch.simplex_b[target, axis] = scratch.simplex_b[source, axis]


@kernel
def nearest_of_segment(simplex, i, j):
    """Share of corner j, and the point, of the line through two corners that is nearest to the origin."""
    px, py, pz = simplex[i]
    dx, dy, dz = simplex[j, 0] - px, simplex[j, 1] - py, simplex[j, 2] - pz
    square = dx * dx + dy * dy + dz * dz
    if square == 0.0:
        return -1.0, px, py, pz
    share = -(px * dx + py * dy + pz * dz) / square
    return share, px + share * dx, py + share * dy, pz + share * dz


@kernel
def nearest_of_triangle(simplex, i, j, k):
    """Shares of corners j and k, and the point, of the plane of three corners that is nearest to the origin.

    The point is the plane's normal times its distance, which keeps the direction exact however near the origin is.
    """
    px, py, pz = simplex[i]
    ux, uy, uz = simplex[j, 0] - px, simplex[j, 1] - py, simplex[j, 2] - pz
    vx, vy, vz = simplex[k, 0] - px, simplex[k, 1] - py, simplex[k, 2] - pz
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    square = nx * nx + ny * ny + nz * nz
    if square == 0.0:
        return -1.0, -1.0, px, py, pz
    # Solves p + s u + t v = c n by the triple products with n.
    share_j = -((py * vz - pz * vy) * nx + (pz * vx - px * vz) * ny + (px * vy - py * vx) * nz) / square
    share_k = -((uy * pz - uz * py) * nx + (uz * px - ux * pz) * ny + (ux * py - uy * px) * nz) / square
    height = (px * nx + py * ny + pz * nz) / square
    return share_j, share_k, height * nx, height * ny, height * nz


@kernel
def holds_origin(simplex):
    """Whether the origin lies inside the tetrahedron: on the inner side of each of its four faces."""
    for face in range(4):
        i = (face + 1) % 4
        j = (face + 2) % 4
        k = (face + 3) % 4
        px, py, pz = simplex[i]
        ux, uy, uz = simplex[j, 0] - px, simplex[j, 1] - py, simplex[j, 2] - pz
        vx, vy, vz = simplex[k, 0] - px, simplex[k, 1] - py, simplex[k, 2] - pz
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        inner = nx * (simplex[face, 0] - px) + ny * (simplex[face, 1] - py) + nz * (simplex[face, 2] - pz)
        origin = -(nx * px + ny * py + nz * pz)
        if inner * origin <= 0.0:
            return False
    return True
