"""Face manifolds: the incident face clipped against the sides of the reference face, then reduced.

Sutherland and Hodgman's clipping (1974; Ericson 2005, section 8.3.4). The reference face gives the normal; each corner
of the clipped polygon gives a contact, with its foot on the reference plane as the other surface point, so that the
gap along the normal is exact.

Reduction drops, one by one, the corner whose loss changes the polygon least (as Visvalingam and Whyatt 1993 simplify
lines), never the deepest. That keeps area, needs no tolerance in metres, and merges corners that clipping has doubled.
"""

import numpy as np

from ..kernel import subkernel
from .closest_points import into_frame
from .workspace import (
    B_IN_A,
    CLIPPED,
    FACE_OF_A,
    FACE_OF_B,
    FACES,
    GAP,
    NORMAL,
    ORIGIN,
    ORIGIN_FEATURE,
    POINT_A,
    POINT_B,
    POSITION,
    REFERENCE_FACE,
    SPARE,
    VERTICES,
)

# A corner this far outside a clipping plane still counts as inside (share of the smaller shape's size), so that two
# equal faces on each other are not cut by the small shifts of bodies at rest.
RATIO_CLIP = 1e-6

# A corner is dropped if the polygon loses less than this share of itself: two corners this close are one contact.
RATIO_NEGLIGIBLE_CORNER = 1e-3

# Weight of perimeter times diameter against area in what a polygon loses. Decides only where the polygon is nearly a
# line and has no area to lose: then its ends must stay.
WEIGHT_PERIMETER = 1e-3

INFINITE = 1e300


@subkernel
def face_manifold(polytopes, reference, face, incident, is_face_of_b, reach, size, maximal_points, scratch):
    """Contacts of a reference face of one polytope with the other polytope.

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
        Relative pose (read); ``contact``, the manifold's normal and origin (written).

    Returns
    -------
    count : int
        Contacts.
    deepest : float
        Smallest gap among them [m].
    """
    pose, polygon, contact = scratch.pose[B_IN_A], scratch.polygon, scratch.contact
    start, plane = polytopes.start, polytopes.plane
    nx, ny, nz = placed_normal(plane[start[reference, FACES] + face], is_face_of_b, pose)
    first, last = start[incident, FACES], start[incident + 1, FACES]
    incident_face = most_opposed_face(plane, first, last, nx, ny, nz, not is_face_of_b, pose)
    sides = place_face(polytopes, reference, face, is_face_of_b, pose, polygon[REFERENCE_FACE])
    corners = place_face(polytopes, incident, incident_face, not is_face_of_b, pose, polygon[CLIPPED])
    corners = clip_against_sides(polygon, sides, corners, nx, ny, nz, RATIO_CLIP * size)
    count = keep_within_reach(polygon, corners, nx, ny, nz, reach, is_face_of_b, contact)
    # The corners of the polygon are the points on the incident shape.
    count = reduce_polygon(contact, POINT_A if is_face_of_b else POINT_B, count, maximal_points)
    deepest = INFINITE
    for point in range(count):
        deepest = min(deepest, contact[point, GAP])
    sign = -1.0 if is_face_of_b else 1.0
    scratch.axes[NORMAL, 0] = sign * nx
    scratch.axes[NORMAL, 1] = sign * ny
    scratch.axes[NORMAL, 2] = sign * nz
    scratch.feature[ORIGIN] = FACE_OF_B if is_face_of_b else FACE_OF_A
    scratch.feature[ORIGIN_FEATURE] = face
    return count, deepest


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
def keep_within_reach(polygon, corners, nx, ny, nz, reach, is_face_of_b, contact):
    """Turn the corners of the clipped polygon that are within reach into contacts; return how many they are."""
    reference = polygon[REFERENCE_FACE]
    on_incident, on_reference = (POINT_A, POINT_B) if is_face_of_b else (POINT_B, POINT_A)
    count = 0
    for corner in range(corners):
        x, y, z = polygon[CLIPPED, corner, 0], polygon[CLIPPED, corner, 1], polygon[CLIPPED, corner, 2]
        gap = nx * (x - reference[0, 0]) + ny * (y - reference[0, 1]) + nz * (z - reference[0, 2])
        if gap <= reach:
            contact[count, on_incident] = x
            contact[count, on_incident + 1] = y
            contact[count, on_incident + 2] = z
            contact[count, on_reference] = x - gap * nx
            contact[count, on_reference + 1] = y - gap * ny
            contact[count, on_reference + 2] = z - gap * nz
            contact[count, GAP] = gap
            count += 1
    return count


@subkernel
def clip_against_sides(polygon, sides, corners, nx, ny, nz, tolerance):
    """Clip the polygon against the planes through the reference face's sides, along its normal."""
    reference = polygon[REFERENCE_FACE]
    for side in range(sides):
        following = side + 1 if side + 1 < sides else 0
        ax, ay, az = reference[side, 0], reference[side, 1], reference[side, 2]
        bx, by, bz = reference[following, 0] - ax, reference[following, 1] - ay, reference[following, 2] - az
        # Outward: the side's direction times the face's normal.
        ux, uy, uz = by * nz - bz * ny, bz * nx - bx * nz, bx * ny - by * nx
        length = (ux * ux + uy * uy + uz * uz) ** 0.5
        if length == 0.0:
            # A side face of a sheet has sides of no length.
            continue
        ux, uy, uz = ux / length, uy / length, uz / length
        offset = ux * ax + uy * ay + uz * az
        corners = clip_polygon(polygon[CLIPPED], corners, polygon[SPARE], ux, uy, uz, offset, tolerance)
        for corner in range(corners):
            for i in range(3):
                polygon[CLIPPED, corner, i] = polygon[SPARE, corner, i]
    return corners


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
def reduce_polygon(contact, column, count, maximal_points):
    """Drop contacts that matter least, in place, until each of the rest matters and there are few enough.

    Parameters
    ----------
    contact : float64 [M, 7]
        As in ``PairScratch``; the rows are the corners of the polygon, in order around it.
    column : int
        Where the corners' coordinates start.
    count, maximal_points : int

    Returns
    -------
    int
        Contacts left.
    """
    # Not a plain 0: Numba would compile what it is passed to once more, for the literal.
    first = np.int64(0)
    diameter, perimeter, area = 0.0, 0.0, 0.0
    for corner in range(count):
        following = corner + 1 if corner + 1 < count else 0
        # The triangle between the first corner and a side.
        triangle, _, side, across = triangle_measures(contact, column, first, corner, following)
        diameter = max(diameter, across)
        perimeter += side
        area += triangle
    negligible = RATIO_NEGLIGIBLE_CORNER * (area + WEIGHT_PERIMETER * diameter * perimeter)
    while count > 1:
        deepest = 0
        for corner in range(1, count):
            if contact[corner, GAP] < contact[deepest, GAP]:
                deepest = corner
        least = INFINITE
        dropped = -1
        for corner in range(count):
            if corner == deepest:
                continue
            before = corner - 1 if corner > 0 else count - 1
            after = corner + 1 if corner + 1 < count else 0
            triangle, here, beyond, straight = triangle_measures(contact, column, before, corner, after)
            loss = triangle + WEIGHT_PERIMETER * diameter * (here + beyond - straight)
            if loss < least:
                least = loss
                dropped = corner
        if count <= maximal_points and least > negligible:
            break
        count -= 1
        for corner in range(dropped, count):
            for i in range(7):
                contact[corner, i] = contact[corner + 1, i]
    return count


@subkernel
def triangle_measures(contact, column, i, j, k):
    """Area of the triangle of three corners, and the lengths of its sides ij, jk and ik."""
    px, py, pz = contact[j, column], contact[j, column + 1], contact[j, column + 2]
    ux, uy, uz = px - contact[i, column], py - contact[i, column + 1], pz - contact[i, column + 2]
    vx, vy, vz = contact[k, column] - px, contact[k, column + 1] - py, contact[k, column + 2] - pz
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return (
        0.5 * (x * x + y * y + z * z) ** 0.5,
        (ux * ux + uy * uy + uz * uz) ** 0.5,
        (vx * vx + vy * vy + vz * vz) ** 0.5,
        ((ux + vx) ** 2 + (uy + vy) ** 2 + (uz + vz) ** 2) ** 0.5,
    )
