"""Face manifolds: the incident face clipped against the sides of the reference face, then reduced.

Sutherland and Hodgman's clipping (1974; Ericson 2005, section 8.3.4). The reference face gives the normal; each corner
of the clipped polygon gives a contact, with its foot on the reference plane as the other surface point, so that the
gap along the normal is exact.

Of a triangle with a hull the hull's lowest vertex, and low ones beside the incident face, are contacts too. These are
chosen by when they would land: around a rounded edge the outer vertices are higher, and a body that rested on them
alone would sink between them. Of two hulls all facets that touch are laid over each other (``cap_manifold``).

Reduction drops, one by one, the corner whose loss changes the polygon least (as Visvalingam and Whyatt 1993 simplify
lines), never the deepest; of several that change it alike, the highest. That keeps area, needs no tolerance in metres,
and merges corners that clipping has doubled.
"""

import numpy as np

from ...compiled.kernel import subkernel
from ..data.workspace import (
    FACE_OF_A,
    FACE_OF_B,
    FACES,
    INFINITE,
    POSITION,
    VERTICES,
)
from ..distance.closest_points import into_frame

# A corner this far outside a clipping plane still counts as inside (share of the smaller shape's size), so that two
# equal faces on each other are not cut by the small shifts of bodies at rest.
RATIO_CLIP = 1e-6

# A corner is dropped if the polygon loses less than this share of itself: two corners this close are one contact.
RATIO_NEGLIGIBLE_CORNER = 1e-3

# Weight of perimeter times diameter against area in what a polygon loses. Decides only where the polygon is nearly a
# line and has no area to lose: then its ends must stay.
WEIGHT_PERIMETER = 1e-3

# Of low vertices, two this close are one contact, and heights above the deepest count from so far below it: what lies
# less above it can act before contacts are made anew (shares of the smaller shape's size).
RATIO_SAME_VERTEX = 1e-3
RATIO_LEVEL = 0.002

# Vertices that lie at most this share of the smaller shape's size above the lowest one are low.
RATIO_LOW_VERTEX = 0.01
# Faces within 25 degrees of opposing the reference face may have low vertices. Not the far side of a thin plate.
COSINE_LOW_FACE = -0.9


@subkernel
def face_manifold(polytopes, reference, face, incident, is_face_of_b, reach, size, maximal_points, scratch):
    """Contacts of a reference face of one polytope with the face of the other one that looks most against it.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    reference, face : int
        The polytope that has the reference face, and the face.
    incident : int
        The other polytope.
    is_face_of_b : bool
        Whether the reference face belongs to shape b.
    reach : float
        Largest gap that makes a contact [m].
    size : float
        Of the smaller shape [m].
    maximal_points : int
    scratch : PairScratch
        Relative pose (read); ``manifold``, its normal and origin, and ``cull_distance`` (written).

    Returns
    -------
    count : int
        Contacts.
    deepest : float
        Smallest gap among them [m].
    """
    row = polytopes.start[reference, FACES] + face
    nx, ny, nz = placed_normal(polytopes.plane[row], is_face_of_b, scratch.pose.b_in_a)
    count, _, _ = clip_incident_face(
        polytopes, reference, face, incident, nx, ny, nz, is_face_of_b, reach, size, scratch
    )
    count = reduce_polygon(scratch.manifold, is_face_of_b, count, maximal_points, nx, ny, nz)
    return count, finish_manifold(face, nx, ny, nz, is_face_of_b, count, scratch)


@subkernel
def clip_incident_face(polytopes, reference, face, incident, nx, ny, nz, is_face_of_b, reach, size, scratch):
    """Make a contact of each corner that the face most opposed to the reference face has over it.

    Returns
    -------
    count : int
        Contacts.
    sides : int
        Of the reference face.
    incident_face : int
        The face of the other polytope.
    """
    pose, polygon, manifold = scratch.pose.b_in_a, scratch.polygon, scratch.manifold
    start, plane = polytopes.start, polytopes.plane
    first, last = start[incident, FACES], start[incident + 1, FACES]
    incident_face = most_opposed_face(plane, first, last, nx, ny, nz, not is_face_of_b, pose)
    sides = place_face(polytopes, reference, face, is_face_of_b, pose, polygon.reference)
    corners = place_face(polytopes, incident, incident_face, not is_face_of_b, pose, polygon.clipped)
    corners = clip_against_sides(polygon, sides, corners, nx, ny, nz, RATIO_CLIP * size)
    # The corners of the polygon are the points on the incident shape.
    # Not a plain 0: Numba would compile what it is passed to once more, for the literal.
    count, cull_distance = np.int64(0), INFINITE
    for corner in range(corners):
        x, y, z = polygon.clipped[corner, 0], polygon.clipped[corner, 1], polygon.clipped[corner, 2]
        before = count
        count = add_contact(polygon.reference, x, y, z, nx, ny, nz, reach, is_face_of_b, manifold, count)
        if count == before:
            cull_distance = min(cull_distance, height_above(polygon.reference, x, y, z, nx, ny, nz))
    scratch.cull_distance[0] = cull_distance
    return count, sides, incident_face


@subkernel
def finish_manifold(face, nx, ny, nz, is_face_of_b, count, scratch):
    """Note the manifold's normal and where it comes from; return its smallest gap [m]."""
    deepest = INFINITE
    for point in range(count):
        deepest = min(deepest, scratch.manifold.gap[point])
    sign = -1.0 if is_face_of_b else 1.0
    scratch.axes.normal[0] = sign * nx
    scratch.axes.normal[1] = sign * ny
    scratch.axes.normal[2] = sign * nz
    scratch.feature.origin[0] = FACE_OF_B if is_face_of_b else FACE_OF_A
    scratch.feature.origin_feature[0] = face
    return deepest


@subkernel
def placed_normal(plane, is_b, pose):
    """Outward normal of a face in the frame of shape a."""
    x, y, z = plane[0], plane[1], plane[2]
    if not is_b:
        return x, y, z
    return (
        pose[0, 0] * x + pose[0, 1] * y + pose[0, 2] * z,
        pose[1, 0] * x + pose[1, 1] * y + pose[1, 2] * z,
        pose[2, 0] * x + pose[2, 1] * y + pose[2, 2] * z,
    )


@subkernel
def place_face(polytopes, hull, face, is_b, pose, corners):
    """Write a face's corners in the frame of shape a; return how many they are."""
    row = polytopes.start[hull, FACES] + face
    base = polytopes.start[hull, VERTICES]
    first = polytopes.loop_start[row]
    count = polytopes.loop_start[row + 1] - first
    for corner in range(count):
        vertex = base + polytopes.loop[first + corner]
        x, y, z = polytopes.vertex[vertex, 0], polytopes.vertex[vertex, 1], polytopes.vertex[vertex, 2]
        if is_b:
            for i in range(3):
                corners[corner, i] = pose[POSITION, i] + pose[i, 0] * x + pose[i, 1] * y + pose[i, 2] * z
        else:
            corners[corner, 0] = x
            corners[corner, 1] = y
            corners[corner, 2] = z
    return count


@subkernel
def most_opposed_face(plane, first, last, nx, ny, nz, is_b, pose):
    """The face among rows ``first`` to ``last`` that looks most against the direction ``n`` (frame of shape a)."""
    if is_b:
        nx, ny, nz = into_frame(pose, nx, ny, nz)
    least = INFINITE
    opposed = 0
    for row in range(first, last):
        cosine = plane[row, 0] * nx + plane[row, 1] * ny + plane[row, 2] * nz
        if cosine < least:
            least = cosine
            opposed = row - first
    return opposed


@subkernel
def height_above(reference, x, y, z, nx, ny, nz):
    """Height of a point above the reference plane."""
    return nx * (x - reference[0, 0]) + ny * (y - reference[0, 1]) + nz * (z - reference[0, 2])


@subkernel
def move_point(manifold, source, target):
    """Copy a point of a manifold, without its angle."""
    for i in range(3):
        manifold.point_a[target, i] = manifold.point_a[source, i]
        manifold.point_b[target, i] = manifold.point_b[source, i]
    manifold.gap[target] = manifold.gap[source]


@subkernel
def swap_points(manifold, one, two):
    """Exchange two points of a manifold."""
    point_a, point_b, gap, angle = manifold.point_a, manifold.point_b, manifold.gap, manifold.angle
    for i in range(3):
        point_a[one, i], point_a[two, i] = point_a[two, i], point_a[one, i]
        point_b[one, i], point_b[two, i] = point_b[two, i], point_b[one, i]
    gap[one], gap[two] = gap[two], gap[one]
    angle[one], angle[two] = angle[two], angle[one]


@subkernel
def add_contact(reference, x, y, z, nx, ny, nz, reach, is_face_of_b, manifold, count):
    """Add a point of the incident shape, with its foot on the reference plane, if within reach; return the count."""
    gap = height_above(reference, x, y, z, nx, ny, nz)
    if gap > reach:
        return count
    points = manifold.point_a if is_face_of_b else manifold.point_b
    feet = manifold.point_b if is_face_of_b else manifold.point_a
    points[count, 0], points[count, 1], points[count, 2] = x, y, z
    feet[count, 0], feet[count, 1], feet[count, 2] = x - gap * nx, y - gap * ny, z - gap * nz
    manifold.gap[count] = gap
    return count + 1


@subkernel
def add_low_vertices(polytopes, incident, incident_face, sides, nx, ny, nz, is_face_of_b, reach, size, scratch, count):
    """Add the lowest vertex of the incident shape, and low vertices of faces that look nearly the same way.

    A finely faceted hull is about to touch with more than its incident face, and need not have its lowest vertex in it.
    """
    start, plane, vertex, loop_start = polytopes.start, polytopes.plane, polytopes.vertex, polytopes.loop_start
    base, first = start[incident, VERTICES], start[incident, FACES]
    pose, reference = scratch.pose.b_in_a, scratch.polygon.reference
    # The gap of a vertex v of the incident hull is h . v + origin, in the hull's own frame.
    hx, hy, hz = nx, ny, nz
    origin = -(nx * reference[0, 0] + ny * reference[0, 1] + nz * reference[0, 2])
    if not is_face_of_b:
        hx, hy, hz = into_frame(pose, nx, ny, nz)
        origin += nx * pose[POSITION, 0] + ny * pose[POSITION, 1] + nz * pose[POSITION, 2]
    lowest = base
    least = INFINITE
    for row in range(base, start[incident + 1, VERTICES]):
        gap = origin + hx * vertex[row, 0] + hy * vertex[row, 1] + hz * vertex[row, 2]
        if gap < least:
            least = gap
            lowest = row
    limit = min(reach, least + RATIO_LOW_VERTEX * size)
    tolerance = RATIO_CLIP * size
    count = add_vertex(vertex[lowest], sides, nx, ny, nz, is_face_of_b, limit, tolerance, scratch, count)
    for row in range(first, start[incident + 1, FACES]):
        if row == first + incident_face:
            continue
        if plane[row, 0] * hx + plane[row, 1] * hy + plane[row, 2] * hz > COSINE_LOW_FACE:
            continue
        for place in range(loop_start[row], loop_start[row + 1]):
            corner = vertex[base + polytopes.loop[place]]
            if origin + hx * corner[0] + hy * corner[1] + hz * corner[2] <= limit:
                count = add_vertex(corner, sides, nx, ny, nz, is_face_of_b, limit, tolerance, scratch, count)
    return count


@subkernel
def add_vertex(corner, sides, nx, ny, nz, is_face_of_b, limit, tolerance, scratch, count):
    """Add a vertex of the incident hull if it lies over the reference face and is not there yet; return the count."""
    pose, polygon, manifold = scratch.pose.b_in_a, scratch.polygon, scratch.manifold
    x, y, z = corner[0], corner[1], corner[2]
    if not is_face_of_b:
        x, y, z = (
            pose[POSITION, 0] + pose[0, 0] * x + pose[0, 1] * y + pose[0, 2] * z,
            pose[POSITION, 1] + pose[1, 0] * x + pose[1, 1] * y + pose[1, 2] * z,
            pose[POSITION, 2] + pose[2, 0] * x + pose[2, 1] * y + pose[2, 2] * z,
        )
    points = manifold.point_a if is_face_of_b else manifold.point_b
    for point in range(count):
        # The same vertex has the same bits: it is placed by the same sums.
        if points[point, 0] == x and points[point, 1] == y and points[point, 2] == z:
            return count
    for side in range(sides):
        ux, uy, uz, offset = side_plane(polygon.reference, side, sides, nx, ny, nz)
        if ux * x + uy * y + uz * z > offset + tolerance:
            return count
    return add_contact(polygon.reference, x, y, z, nx, ny, nz, limit, is_face_of_b, manifold, count)


@subkernel
def choose_vertices(manifold, is_face_of_b, count, maximal_points, size):
    """Keep the deepest contact, and after it always the one that would land first if the shape turned about a kept one.

    Of that one the distance from all that are kept, over its height above the deepest, is largest: of vertices at one
    height the farthest one (Gonzalez 1985). In place, in the order in which they are chosen; returns how many are kept.
    """
    points, gap, apart = manifold.point_a if is_face_of_b else manifold.point_b, manifold.gap, manifold.angle
    best = np.int64(0)
    for point in range(count):
        apart[point] = INFINITE
        if gap[point] < gap[best]:
            best = point
    base, limit = gap[best] - RATIO_LEVEL * size, (RATIO_SAME_VERTEX * size) ** 2
    kept = np.int64(0)
    while True:
        swap_points(manifold, kept, best)
        kept += 1
        most, best = 0.0, np.int64(-1)
        for point in range(kept, count):
            square = 0.0
            for i in range(3):
                square += (points[point, i] - points[kept - 1, i]) ** 2
            apart[point] = min(apart[point], square)
            slope = apart[point] / (gap[point] - base) ** 2
            if apart[point] > limit and slope > most:
                most, best = slope, point
        if best < 0 or kept >= maximal_points:
            break
    return kept


@subkernel
def side_plane(reference, side, sides, nx, ny, nz):
    """Outward unit normal and offset of the plane through a side of the reference face, along the face's normal.

    A side face of a sheet has sides of no length: their normal is 0, and everything is inside.
    """
    following = side + 1 if side + 1 < sides else 0
    return plane_through_side(reference[side], reference[following], nx, ny, nz)


@subkernel
def plane_through_side(start, end, nx, ny, nz):
    """As ``side_plane``, of the side between two corners."""
    ax, ay, az = start[0], start[1], start[2]
    bx, by, bz = end[0] - ax, end[1] - ay, end[2] - az
    ux, uy, uz = by * nz - bz * ny, bz * nx - bx * nz, bx * ny - by * nx
    length = (ux * ux + uy * uy + uz * uz) ** 0.5
    if length == 0.0:
        return 0.0, 0.0, 0.0, 0.0
    ux, uy, uz = ux / length, uy / length, uz / length
    return ux, uy, uz, ux * ax + uy * ay + uz * az


@subkernel
def distance_to_side(polytopes, hull, face, x, y, z):
    """How far within the planes through a face's sides a point is (own frame) [m]; outside of one it is negative."""
    row, base = polytopes.start[hull, FACES] + face, polytopes.start[hull, VERTICES]
    plane, first, last = polytopes.plane[row], polytopes.loop_start[row], polytopes.loop_start[row + 1]
    vertex, nearest, before = polytopes.vertex, INFINITE, base + polytopes.loop[last - 1]
    for place in range(first, last):
        corner = base + polytopes.loop[place]
        ux, uy, uz, offset = plane_through_side(vertex[before], vertex[corner], plane[0], plane[1], plane[2])
        nearest, before = min(nearest, offset - (ux * x + uy * y + uz * z)), corner
    return nearest


@subkernel
def clip_against_sides(polygon, sides, corners, nx, ny, nz, tolerance):
    """Clip the polygon against the planes through the reference face's sides, along its normal."""
    for side in range(sides):
        ux, uy, uz, offset = side_plane(polygon.reference, side, sides, nx, ny, nz)
        if not reaches_beyond(polygon.clipped, corners, ux, uy, uz, offset + tolerance):
            continue
        corners = clip_polygon(polygon.clipped, corners, polygon.spare, ux, uy, uz, offset, tolerance)
        for corner in range(corners):
            for i in range(3):
                polygon.clipped[corner, i] = polygon.spare[corner, i]
    return corners


@subkernel
def reaches_beyond(polygon, corners, ux, uy, uz, limit):
    """Whether a corner has ``u . x > limit``."""
    highest = -INFINITE
    for corner in range(corners):
        highest = max(highest, ux * polygon[corner, 0] + uy * polygon[corner, 1] + uz * polygon[corner, 2])
    return highest > limit


@subkernel
def clip_polygon(polygon, corners, clipped, ux, uy, uz, offset, tolerance):
    """Write the part of a polygon with ``u . x <= offset`` into ``clipped``; return its number of corners.

    Corners up to ``tolerance`` outside stay where they are; what is cut is cut at the plane itself.
    """
    count = 0
    if corners == 0:
        return count
    x, y, z = polygon[corners - 1, 0], polygon[corners - 1, 1], polygon[corners - 1, 2]
    before = ux * x + uy * y + uz * z - offset
    for corner in range(corners):
        p, q, r = polygon[corner, 0], polygon[corner, 1], polygon[corner, 2]
        here = ux * p + uy * q + uz * r - offset
        if (before <= tolerance) != (here <= tolerance):
            # A corner that is kept beyond the plane is cut no nearer to the inside.
            share = min(max(before / (before - here), 0.0), 1.0)
            clipped[count, 0] = x + share * (p - x)
            clipped[count, 1] = y + share * (q - y)
            clipped[count, 2] = z + share * (r - z)
            count += 1
        if here <= tolerance:
            clipped[count, 0] = p
            clipped[count, 1] = q
            clipped[count, 2] = r
            count += 1
        x, y, z, before = p, q, r, here
    return count


@subkernel
def reduce_polygon(manifold, is_face_of_b, count, maximal_points, nx, ny, nz):
    """Drop contacts that matter least, in place, until each of the rest matters and there are few enough.

    Parameters
    ----------
    manifold : Manifold
        The points of the incident shape are the corners of the polygon, in order around it (read, written).
    is_face_of_b : bool
        Whether the incident shape is a.
    count, maximal_points : int
    nx, ny, nz : float
        Normal of the plane in which area is measured.

    Returns
    -------
    int
        Contacts left.
    """
    first = np.int64(0)
    points = manifold.point_a if is_face_of_b else manifold.point_b
    diameter, perimeter, area = 0.0, 0.0, 0.0
    for corner in range(count):
        following = corner + 1 if corner + 1 < count else 0
        # The triangle between the first corner and a side.
        triangle, _, side, across = triangle_measures(points, first, corner, following, nx, ny, nz)
        diameter = max(diameter, across)
        perimeter += side
        area += triangle
    # Of a polygon that runs clockwise areas are negative. A corner inside the others makes the polygon smaller and has
    # nothing to lose.
    turn = 1.0 if area >= 0.0 else -1.0
    area = abs(area)
    negligible = RATIO_NEGLIGIBLE_CORNER * (area + WEIGHT_PERIMETER * diameter * perimeter)
    weight = WEIGHT_PERIMETER * diameter
    losses, deepest = manifold.angle, np.int64(0)
    for corner in range(count):
        losses[corner] = loss_without(points, corner, count, turn, weight, nx, ny, nz)
        if manifold.gap[corner] < manifold.gap[deepest]:
            deepest = corner
    while count > 1:
        least = INFINITE
        dropped = np.int64(-1)
        for corner in range(count):
            if losses[corner] < least and corner != deepest:
                least = losses[corner]
                dropped = corner
        if count <= maximal_points:
            if least > negligible:
                break
        else:
            dropped = highest_of_least(manifold.gap, losses, least + negligible, deepest, dropped, count)
        count -= 1
        for corner in range(dropped, count):
            move_point(manifold, corner + 1, corner)
            losses[corner] = losses[corner + 1]
        deepest -= dropped < deepest
        # Only its neighbours have lost something.
        for corner in (dropped - 1 if dropped > 0 else count - 1, dropped if dropped < count else first):
            losses[corner] = loss_without(points, corner, count, turn, weight, nx, ny, nz)
    return count


@subkernel
def highest_of_least(gap, losses, limit, deepest, dropped, count):
    """Of the corners that lose about as little as ``dropped`` that which lands last.

    Those of a regular polygon lose the same. With rounding to decide, a disc of sixteen corners that falls on its face
    hit with the odd ones or the even ones, and was thrown elsewhere by a millionth of a millimetre.
    """
    for corner in range(count):
        if corner != deepest and losses[corner] <= limit and gap[corner] > gap[dropped]:
            dropped = corner
    return dropped


@subkernel
def loss_without(points, corner, count, turn, weight, nx, ny, nz):
    """What a polygon that runs in the sense ``turn`` loses with a corner: area, and ``weight`` times perimeter."""
    before = corner - 1 if corner > 0 else count - 1
    after = corner + 1 if corner + 1 < count else np.int64(0)
    triangle, here, beyond, straight = triangle_measures(points, before, corner, after, nx, ny, nz)
    return turn * triangle + weight * (here + beyond - straight)


@subkernel
def triangle_measures(points, i, j, k, nx, ny, nz):
    """Area of the triangle of three corners along ``n``, with its sign, and the lengths of its sides ij, jk and ik."""
    px, py, pz = points[j, 0], points[j, 1], points[j, 2]
    ux, uy, uz = px - points[i, 0], py - points[i, 1], pz - points[i, 2]
    vx, vy, vz = points[k, 0] - px, points[k, 1] - py, points[k, 2] - pz
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return (
        0.5 * (nx * x + ny * y + nz * z),
        (ux * ux + uy * uy + uz * uz) ** 0.5,
        (vx * vx + vy * vy + vz * vz) ** 0.5,
        ((ux + vx) ** 2 + (uy + vy) ** 2 + (uz + vz) ** 2) ** 0.5,
    )
