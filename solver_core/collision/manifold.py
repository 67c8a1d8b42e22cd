"""Face manifolds: the incident face clipped against the sides of the reference face, then reduced.

Sutherland and Hodgman's clipping (1974; Ericson 2005, section 8.3.4). The reference face gives the normal; each corner
of the clipped polygon gives a contact, with its foot on the reference plane as the other surface point, so that the
gap along the normal is exact.

Reduction drops, one by one, the corner whose loss changes the polygon least (as Visvalingam and Whyatt 1993 simplify
lines), never the deepest. That keeps area, needs no tolerance in metres, and merges corners that clipping has doubled.
"""

from ..kernel import kernel
from .workspace import FACE_OF_A, FACE_OF_B

# A corner this far outside a clipping plane still counts as inside (share of the smaller shape's size), so that two
# equal faces on each other are not cut by rounding.
RATIO_CLIP = 1e-9

# A corner is dropped if the polygon loses less than this share of itself: two corners this close are one contact.
RATIO_NEGLIGIBLE_CORNER = 1e-3

# Weight of perimeter times diameter against area in what a polygon loses. Decides only where the polygon is nearly a
# line and has no area to lose: then its ends must stay.
WEIGHT_PERIMETER = 1e-3

INFINITE = 1e300


@kernel
def face_manifold(polytopes, reference_hull, reference_face, incident_hull, is_face_of_b, reach, size, maximal_points,
                  scratch, manifold):
    """Contacts of a reference face of one polytope with the other polytope.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    reference_hull, reference_face, incident_hull : int
    is_face_of_b : bool
        Whether the reference face belongs to shape b.
    reach : float
        Largest gap that makes a contact [m].
    size : float
        Of the smaller shape [m].
    maximal_points : int
    scratch : PairScratch
        Relative pose (read).
    manifold : ManifoldScratch
        (written)

    Returns
    -------
    count : int
        Contacts.
    deepest : float
        Smallest gap among them [m].
    """
    sides = place_face(polytopes, reference_hull, reference_face, is_face_of_b, scratch, manifold.plane_polygon)
    nx, ny, nz = placed_normal(polytopes, reference_hull, reference_face, is_face_of_b, scratch)
    incident_face = most_opposed_face(polytopes, incident_hull, nx, ny, nz, not is_face_of_b, scratch)
    corners = place_face(polytopes, incident_hull, incident_face, not is_face_of_b, scratch, manifold.polygon)
    corners = clip_against_sides(manifold, sides, corners, nx, ny, nz, RATIO_CLIP * size)
    px, py, pz = manifold.plane_polygon[0]
    count = 0
    for corner in range(corners):
        x, y, z = manifold.polygon[corner]
        gap = nx * (x - px) + ny * (y - py) + nz * (z - pz)
        if gap <= reach:
            manifold.polygon[count, 0] = x
            manifold.polygon[count, 1] = y
            manifold.polygon[count, 2] = z
            manifold.gap[count] = gap
            count += 1
    count = reduce_polygon(manifold.polygon, manifold.gap, count, maximal_points)
    deepest = INFINITE
    sign = -1.0 if is_face_of_b else 1.0
    manifold.normal[0] = sign * nx
    manifold.normal[1] = sign * ny
    manifold.normal[2] = sign * nz
    manifold.origin[0] = FACE_OF_B if is_face_of_b else FACE_OF_A
    manifold.origin[1] = reference_face
    on_incident = manifold.point_a if is_face_of_b else manifold.point_b
    on_reference = manifold.point_b if is_face_of_b else manifold.point_a
    for point in range(count):
        gap = manifold.gap[point]
        deepest = min(deepest, gap)
        on_incident[point, :] = manifold.polygon[point, :]
        on_reference[point, 0] = manifold.polygon[point, 0] - gap * nx
        on_reference[point, 1] = manifold.polygon[point, 1] - gap * ny
        on_reference[point, 2] = manifold.polygon[point, 2] - gap * nz
    return count, deepest


@kernel
def placed_normal(polytopes, hull, face, is_b, scratch):
    """Outward normal of a face in the frame of shape a."""
    x, y, z = polytopes.face_normal[polytopes.face_start[hull] + face]
    if not is_b:
        return x, y, z
    r = scratch.rotation
    return (
        r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
        r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
        r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
    )


@kernel
def place_face(polytopes, hull, face, is_b, scratch, corners):
    """Write a face's corners in the frame of shape a; return how many they are."""
    row = polytopes.face_start[hull] + face
    first = polytopes.loop_start[row]
    count = polytopes.loop_start[row + 1] - first
    base = polytopes.vertex_start[hull]
    for corner in range(count):
        x, y, z = polytopes.vertex[base + polytopes.loop[first + corner]]
        if is_b:
            for axis in range(3):
                corners[corner, axis] = (
                    scratch.translation[axis]
                    + scratch.rotation[axis, 0] * x
                    + scratch.rotation[axis, 1] * y
                    + scratch.rotation[axis, 2] * z
                )
        else:
            corners[corner, 0] = x
            corners[corner, 1] = y
            corners[corner, 2] = z
    return count


@kernel
def most_opposed_face(polytopes, hull, nx, ny, nz, is_b, scratch):
    """The face that looks most against the direction ``n`` (frame of shape a)."""
    if is_b:
        r = scratch.rotation
        nx, ny, nz = (
            r[0, 0] * nx + r[1, 0] * ny + r[2, 0] * nz,
            r[0, 1] * nx + r[1, 1] * ny + r[2, 1] * nz,
            r[0, 2] * nx + r[1, 2] * ny + r[2, 2] * nz,
        )
    first = polytopes.face_start[hull]
    least = INFINITE
    opposed = 0
    for face in range(polytopes.face_start[hull + 1] - first):
        normal = polytopes.face_normal[first + face]
        cosine = normal[0] * nx + normal[1] * ny + normal[2] * nz
        if cosine < least:
            least = cosine
            opposed = face
    return opposed


@kernel
def clip_against_sides(manifold, sides, corners, nx, ny, nz, tolerance):
    """Clip ``manifold.polygon`` against the planes through the reference face's sides, along its normal."""
    for side in range(sides):
        ax, ay, az = manifold.plane_polygon[side]
        bx, by, bz = manifold.plane_polygon[(side + 1) % sides]
        # Outward: the side's direction times the face's normal.
        ux = (by - ay) * nz - (bz - az) * ny
        uy = (bz - az) * nx - (bx - ax) * nz
        uz = (bx - ax) * ny - (by - ay) * nx
        length = (ux * ux + uy * uy + uz * uz) ** 0.5
        if length == 0.0:
            # The side of a sheet's side, along its thickness.
            continue
        ux /= length
        uy /= length
        uz /= length
        offset = ux * ax + uy * ay + uz * az + tolerance
        corners = clip_polygon(manifold.polygon, corners, manifold.clipped, ux, uy, uz, offset)
        manifold.polygon[:corners] = manifold.clipped[:corners]
        if corners == 0:
            break
    return corners


@kernel
def clip_polygon(polygon, corners, clipped, ux, uy, uz, offset):
    """Write the part of a polygon with ``u . x <= offset`` into ``clipped``; return its number of corners."""
    count = 0
    if corners == 0:
        return count
    x, y, z = polygon[corners - 1]
    before = ux * x + uy * y + uz * z - offset
    for corner in range(corners):
        p, q, r = polygon[corner]
        here = ux * p + uy * q + uz * r - offset
        if (before < 0.0 and here > 0.0) or (before > 0.0 and here < 0.0):
            share = before / (before - here)
            clipped[count, 0] = x + share * (p - x)
            clipped[count, 1] = y + share * (q - y)
            clipped[count, 2] = z + share * (r - z)
            count += 1
        if here <= 0.0:
            clipped[count, 0] = p
            clipped[count, 1] = q
            clipped[count, 2] = r
            count += 1
        x, y, z, before = p, q, r, here
    return count


@kernel
def reduce_polygon(polygon, gap, count, maximal_points):
    """Drop corners that matter least, in place, until each of the rest matters and there are few enough."""
    if count < 2:
        return count
    diameter = 0.0
    perimeter = 0.0
    area = 0.0
    for corner in range(count):
        following = (corner + 1) % count
        diameter = max(diameter, distance(polygon, 0, corner))
        perimeter += distance(polygon, corner, following)
        area += triangle_area(polygon, 0, corner, following)
    negligible = RATIO_NEGLIGIBLE_CORNER * (area + WEIGHT_PERIMETER * diameter * perimeter)
    while count > 1:
        deepest = 0
        for corner in range(count):
            if gap[corner] < gap[deepest]:
                deepest = corner
        least = INFINITE
        dropped = -1
        for corner in range(count):
            if corner == deepest:
                continue
            before = (corner + count - 1) % count
            after = (corner + 1) % count
            detour = distance(polygon, before, corner) + distance(polygon, corner, after) - distance(polygon, before, after)
            loss = triangle_area(polygon, before, corner, after) + WEIGHT_PERIMETER * diameter * detour
            if loss < least:
                least = loss
                dropped = corner
        if count <= maximal_points and least > negligible:
            break
        count -= 1
        for corner in range(dropped, count):
            polygon[corner, :] = polygon[corner + 1, :]
            gap[corner] = gap[corner + 1]
    return count


@kernel
def distance(points, i, j):
    """Distance of two of the points."""
    return (
        (points[i, 0] - points[j, 0]) ** 2 + (points[i, 1] - points[j, 1]) ** 2 + (points[i, 2] - points[j, 2]) ** 2
    ) ** 0.5


@kernel
def triangle_area(points, i, j, k):
    """Area of the triangle of three of the points."""
    ux, uy, uz = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], points[j, 2] - points[i, 2]
    vx, vy, vz = points[k, 0] - points[i, 0], points[k, 1] - points[i, 1], points[k, 2] - points[i, 2]
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return 0.5 * (x * x + y * y + z * z) ** 0.5
