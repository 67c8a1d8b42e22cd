"""Face manifolds of hulls whose faces are not flat: the facets that are touched, laid over each other.

What a user sees as one face of a scanned, imported or remeshed body is many facets, tilted against each other by noise,
by a bump or a bevel. Bodies that rest on each other touch with all of them, so the manifold takes whole *caps*: of
either hull the facets that look nearly along the normal n and can have a contact.

Over the plane across n let h_a be the height of the reference hull's surface and h_b that of the other hull above it.
The first is concave and the second convex, so the gap along n

    g(x) = h_b(x) - h_a(x)

is convex, and linear within each part that a facet of one and a facet of the other have in common. Small motions add a
linear function to it: whatever they are, what lands first is a corner of such a part. These corners (vertices of either
hull over the other, and crossings of their edges) are the contacts. They are true points of both surfaces, and the same
ones whichever facet the normal is taken from. Of two flat faces they are the corners of the polygon that these share.

A facet can have a contact if g there can be as small as its least value and ``RATIO_LOW_VERTEX`` of the size. Let the
reference facet's plane be at the height 0 and the lowest vertex of the other hull at d. Then h_a <= 0 and h_b >= d, and
the least gap is at least d. So facets of the reference hull count from min(d, 0) - RATIO_LOW_VERTEX size upwards, and
those of the other one up to max(d, 0) + RATIO_LOW_VERTEX size.
"""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel
from ..data.workspace import FACES, INFINITE, POSITION, VERTICES
from ..distance.closest_points import into_frame, support_vertex
from .face_manifold import (
    COSINE_LOW_FACE,
    RATIO_CLIP,
    RATIO_LOW_VERTEX,
    RATIO_SAME_VERTEX,
    add_low_vertices,
    clip_against_sides,
    clip_incident_face,
    finish_manifold,
    move_point,
    place_face,
    placed_normal,
    reduce_polygon,
    swap_points,
)

# Rows of ``HullCaps``.
REFERENCE, INCIDENT = 0, 1

# Of the many points that facets give, those are kept that land first if the body turns by one of these angles [rad] in
# one of so many directions. The least is by how much bodies may turn before contacts are made anew, the largest about
# the angle between facets of a ball; cosine and sine of the angle between two directions.
LEAST_TILT, TILT_FACTOR, TILTS = 0.002, 10.0, 3
DIRECTIONS, COSINE_STEP, SINE_STEP = 12, 0.75**0.5, 0.5


class FacePair(NamedTuple):
    """A face of one hull and the hull that it may touch.

    Attributes
    ----------
    holder, face : int
        The hull that has the face, and the face.
    other : int
        The other hull.
    is_of_b : bool
        Whether the face belongs to shape b.
    normal : tuple of 3 float
        Of the face, outwards, in the frame of shape a.
    """

    holder: int
    face: int
    other: int
    is_of_b: bool
    normal: tuple


@subkernel
def hull_manifold(polytopes, reference, face, incident, is_face_of_b, reach, size, maximal_points, scratch):
    """Contacts of a face of a hull, and of the facets that go on beside it, with another hull.

    Parameters and returns as of ``face_manifold``.
    """
    manifold, row = scratch.manifold, polytopes.start[reference, FACES] + face
    normal = placed_normal(polytopes.plane[row], is_face_of_b, scratch.pose.b_in_a)
    pair = FacePair(reference, face, incident, is_face_of_b, normal)
    nx, ny, nz = normal
    list_caps(polytopes, pair, size, scratch)
    if scratch.caps.count[REFERENCE] > 1:
        count = lay_caps_over(polytopes, pair, reach, size, maximal_points, scratch)
        count = choose_first_to_land(manifold, pair, count, maximal_points, scratch.caps.landed)
        return count, finish_manifold(face, nx, ny, nz, is_face_of_b, count, scratch)
    count, sides, opposed = clip_incident_face(
        polytopes, reference, face, incident, nx, ny, nz, is_face_of_b, reach, size, scratch
    )
    of_polygon = count
    count = add_low_vertices(polytopes, incident, opposed, sides, nx, ny, nz, is_face_of_b, reach, size, scratch, count)
    count = add_cut_facets(polytopes, pair, opposed, reach, size, maximal_points, scratch, count)
    if count > of_polygon:
        count = choose_first_to_land(manifold, pair, count, maximal_points, scratch.caps.landed)
    else:
        count = reduce_polygon(manifold, is_face_of_b, count, maximal_points, nx, ny, nz)
    return count, finish_manifold(face, nx, ny, nz, is_face_of_b, count, scratch)


# ---- caps


@subkernel
def list_caps(polytopes, pair, size, scratch):
    """List the facets of both hulls that can have a contact along the face's normal.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    pair : FacePair
        (read)
    size : float
        Of the smaller shape [m].
    scratch : PairScratch
        Relative pose (read); ``caps`` (written), but for their bounds.
    """
    pose, start, vertex = scratch.pose.b_in_a, polytopes.start, polytopes.vertex
    plane = polytopes.plane[start[pair.holder, FACES] + pair.face]
    # The height over the face's plane of a vertex v of the other hull is h . v + origin, in that hull's own frame.
    nx, ny, nz = pair.normal
    shift = nx * pose[POSITION, 0] + ny * pose[POSITION, 1] + nz * pose[POSITION, 2]
    hx, hy, hz, origin = nx, ny, nz, -plane[3] - shift
    if not pair.is_of_b:
        hx, hy, hz = into_frame(pose, nx, ny, nz)
        origin = shift - plane[3]
    base = start[pair.other, VERTICES]
    vertices = start[pair.other + 1, VERTICES] - base
    lowest = support_vertex(
        vertex, polytopes.neighbor_start, polytopes.neighbor, base, vertices, -hx, -hy, -hz, np.int64(0)
    )
    at = base + lowest
    depth = origin + hx * vertex[at, 0] + hy * vertex[at, 1] + hz * vertex[at, 2]
    band = RATIO_LOW_VERTEX * size
    # A face holds its own vertices: none is the lowest of the other hull.
    list_cap(
        polytopes, pair.holder, plane[0], plane[1], plane[2], plane[3] + min(depth, 0.0) - band, -1, REFERENCE, scratch
    )
    list_cap(polytopes, pair.other, -hx, -hy, -hz, origin - max(depth, 0.0) - band, lowest, INCIDENT, scratch)


@subkernel
def list_cap(polytopes, hull, x, y, z, least, lowest, place, scratch):
    """List the facets of a hull that look along a unit vector u within 25 degrees and reach up to ``u . x = least``.

    Of the facets at the vertex ``lowest`` that which looks most along u is listed in any case: so the vertex is there.
    All in the hull's own frame.
    """
    start, plane, loop_start, loop = polytopes.start, polytopes.plane, polytopes.loop_start, polytopes.loop
    vertex, base, first = polytopes.vertex, start[hull, VERTICES], start[hull, FACES]
    caps, count = scratch.caps, np.int64(0)
    most, highest, is_listed = -INFINITE, np.int64(-1), False
    for row in range(first, start[hull + 1, FACES]):
        cosine = plane[row, 0] * x + plane[row, 1] * y + plane[row, 2] * z
        if cosine <= 0.0 or (cosine < -COSINE_LOW_FACE and lowest < 0):
            continue
        reaches, holds = False, False
        for corner in range(loop_start[row], loop_start[row + 1]):
            at = base + loop[corner]
            holds = holds or loop[corner] == lowest
            reaches = reaches or vertex[at, 0] * x + vertex[at, 1] * y + vertex[at, 2] * z >= least
        if reaches and cosine >= -COSINE_LOW_FACE:
            caps.face[place, count] = row - first
            count += 1
            is_listed = is_listed or holds
        elif holds and cosine > most:
            most, highest = cosine, row - first
    if highest >= 0 and not is_listed:
        caps.face[place, count] = highest
        count += 1
    caps.count[place] = count


@subkernel
def bound_cap(polytopes, hull, is_b, pair, place, scratch):
    """Write the bounds of a cap's facets along two directions across the normal, in the frame of shape a."""
    caps, corners, pose = scratch.caps, scratch.polygon.spare, scratch.pose.b_in_a
    ux, uy, uz, vx, vy, vz = directions_across(pair.normal[0], pair.normal[1], pair.normal[2])
    for number in range(caps.count[place]):
        bounds = caps.bounds[place, number]
        bounds[0] = bounds[2] = INFINITE
        bounds[1] = bounds[3] = -INFINITE
        for corner in range(place_face(polytopes, hull, caps.face[place, number], is_b, pose, corners)):
            x, y, z = corners[corner, 0], corners[corner, 1], corners[corner, 2]
            u, v = ux * x + uy * y + uz * z, vx * x + vy * y + vz * z
            bounds[0], bounds[1] = min(bounds[0], u), max(bounds[1], u)
            bounds[2], bounds[3] = min(bounds[2], v), max(bounds[3], v)


@subkernel
def directions_across(nx, ny, nz):
    """Two unit vectors across a unit vector, and across each other."""
    # Away from the axis that is nearest to n.
    if abs(nx) < 0.6:
        ux, uy, uz = 0.0, nz, -ny
    else:
        ux, uy, uz = -nz, 0.0, nx
    length = (ux * ux + uy * uy + uz * uz) ** 0.5
    ux, uy, uz = ux / length, uy / length, uz / length
    return ux, uy, uz, ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux


# ---- contacts


@subkernel
def lay_caps_over(polytopes, pair, reach, size, maximal_points, scratch):
    """Add the corners of all parts that a facet of one cap and a facet of the other share; return how many."""
    caps, polygon, manifold = scratch.caps, scratch.polygon, scratch.manifold
    pose, first, tolerance = scratch.pose.b_in_a, polytopes.start[pair.holder, FACES], RATIO_CLIP * size
    nx, ny, nz = pair.normal
    bound_cap(polytopes, pair.holder, pair.is_of_b, pair, np.int64(REFERENCE), scratch)
    bound_cap(polytopes, pair.other, not pair.is_of_b, pair, np.int64(INCIDENT), scratch)
    count = np.int64(0)
    for mine in range(caps.count[REFERENCE]):
        face = caps.face[REFERENCE, mine]
        sides = place_face(polytopes, pair.holder, face, pair.is_of_b, pose, polygon.reference)
        fx, fy, fz = placed_normal(polytopes.plane[first + face], pair.is_of_b, pose)
        # The gap along n is that along the facet's own normal f over their cosine.
        cosine = fx * nx + fy * ny + fz * nz
        for theirs in range(caps.count[INCIDENT]):
            if lie_apart(caps.bounds[REFERENCE, mine], caps.bounds[INCIDENT, theirs], tolerance):
                continue
            corners = place_face(
                polytopes, pair.other, caps.face[INCIDENT, theirs], not pair.is_of_b, pose, polygon.clipped
            )
            corners = clip_against_sides(polygon, sides, corners, nx, ny, nz, tolerance)
            for corner in range(corners):
                x, y, z = polygon.clipped[corner, 0], polygon.clipped[corner, 1], polygon.clipped[corner, 2]
                gap = fx * (x - polygon.reference[0, 0]) + fy * (y - polygon.reference[0, 1])
                gap = (gap + fz * (z - polygon.reference[0, 2])) / cosine
                if gap <= reach:
                    if count + 1 >= len(manifold.gap):
                        count = choose_first_to_land(manifold, pair, count, maximal_points, caps.landed)
                    count = add_distinct(manifold, pair, x, y, z, gap, size, count)
    return keep_low(manifold, count, RATIO_LOW_VERTEX * size)


@subkernel
def lie_apart(one, two, tolerance):
    """Whether two rectangles have no point in common, to tolerance."""
    return (
        one[0] > two[1] + tolerance
        or two[0] > one[1] + tolerance
        or one[2] > two[3] + tolerance
        or two[2] > one[3] + tolerance
    )


@subkernel
def add_distinct(manifold, pair, x, y, z, gap, size, count):
    """Add a point of the other hull with its foot along the normal; of two at one place the lower one stays.

    Returns the contacts.
    """
    points = manifold.point_a if pair.is_of_b else manifold.point_b
    feet = manifold.point_b if pair.is_of_b else manifold.point_a
    row, limit = count, (RATIO_SAME_VERTEX * size) ** 2
    for point in range(count):
        if (points[point, 0] - x) ** 2 + (points[point, 1] - y) ** 2 + (points[point, 2] - z) ** 2 <= limit:
            if manifold.gap[point] <= gap:
                return count
            row = point
            break
    points[row, 0], points[row, 1], points[row, 2] = x, y, z
    feet[row, 0], feet[row, 1] = x - gap * pair.normal[0], y - gap * pair.normal[1]
    feet[row, 2] = z - gap * pair.normal[2]
    manifold.gap[row] = gap
    return max(count, row + 1)


@subkernel
def keep_low(manifold, count, band):
    """Keep the contacts that are at most ``band`` above the lowest one; return how many they are."""
    least = INFINITE
    for point in range(count):
        least = min(least, manifold.gap[point])
    kept = np.int64(0)
    for point in range(count):
        if manifold.gap[point] <= least + band:
            move_point(manifold, point, kept)
            kept += 1
    return kept


@subkernel
def add_cut_facets(polytopes, pair, opposed, reach, size, maximal_points, scratch, count):
    """Add where sides of the reference face, which has no facets beside it, cut facets of the other cap.

    Their vertices over the face are there already (``add_low_vertices``), and of the facet ``opposed`` all corners.
    Returns the contacts.
    """
    caps, polygon, manifold, pose = scratch.caps, scratch.polygon, scratch.manifold, scratch.pose.b_in_a
    nx, ny, nz = pair.normal
    row = polytopes.start[pair.holder, FACES] + pair.face
    sides = polytopes.loop_start[row + 1] - polytopes.loop_start[row]
    if caps.count[INCIDENT] < 2:
        return count
    least = INFINITE
    for point in range(count):
        least = min(least, manifold.gap[point])
    limit = min(reach, least + RATIO_LOW_VERTEX * size)
    for number in range(caps.count[INCIDENT]):
        facet = caps.face[INCIDENT, number]
        if facet == opposed:
            continue
        whole = place_face(polytopes, pair.other, facet, not pair.is_of_b, pose, polygon.clipped)
        corners = clip_against_sides(polygon, sides, whole, nx, ny, nz, RATIO_CLIP * size)
        for corner in range(corners):
            x, y, z = polygon.clipped[corner, 0], polygon.clipped[corner, 1], polygon.clipped[corner, 2]
            gap = nx * (x - polygon.reference[0, 0]) + ny * (y - polygon.reference[0, 1])
            gap += nz * (z - polygon.reference[0, 2])
            if gap <= limit and not is_there(manifold, pair, x, y, z, count):
                if count + 1 >= len(manifold.gap):
                    count = choose_first_to_land(manifold, pair, count, maximal_points, caps.landed)
                count = add_distinct(manifold, pair, x, y, z, gap, size, count)
    return count


@subkernel
def is_there(manifold, pair, x, y, z, count):
    """Whether a contact has this point of the other hull, to the bit: the same vertex is placed by the same sums."""
    points = manifold.point_a if pair.is_of_b else manifold.point_b
    for point in range(count):  # noqa: SIM110 (Numba would compile a generator for any())
        if points[point, 0] == x and points[point, 1] == y and points[point, 2] == z:
            return True
    return False


# ---- the few that are kept


@subkernel
def choose_first_to_land(manifold, pair, count, maximal_points, landed):
    """Keep the contacts that land first if the other hull tilts, one way or another; in place; return how many.

    If it turns by a small angle about an axis across the normal, a contact at x across it loses s . x of its gap, and
    that with the least gap - s . x lands first. The lowest contact is kept, and what lands first for some s of a fan of
    them. Where that is too many, after the lowest one always that is kept which reaches farthest beyond those that are:
    which would land before them by the most, over the angle.

    Parameters
    ----------
    manifold : Manifold
        (read, written)
    pair : FacePair
        (read)
    count, maximal_points : int
    landed : float64 [TILTS * DIRECTIONS]
        Least gap - s . x of what is kept (memory) [m].
    """
    if count == 0:
        return count
    ux, uy, uz, vx, vy, vz = directions_across(pair.normal[0], pair.normal[1], pair.normal[2])
    points, gap, mark = manifold.point_a if pair.is_of_b else manifold.point_b, manifold.gap, manifold.angle
    deepest = np.int64(0)
    for point in range(count):
        mark[point] = 0.0
        if gap[point] < gap[deepest]:
            deepest = point
    swap_points(manifold, np.int64(0), deepest)
    cosine, sine = 1.0, 0.0
    for direction in range(DIRECTIONS):
        dx, dy, dz = cosine * ux + sine * vx, cosine * uy + sine * vy, cosine * uz + sine * vz
        tilt = LEAST_TILT
        for number in range(direction * TILTS, (direction + 1) * TILTS):
            first, least = 0, INFINITE
            for point in range(count):
                along = dx * points[point, 0] + dy * points[point, 1] + dz * points[point, 2]
                if gap[point] - tilt * along < least:
                    first, least = point, gap[point] - tilt * along
            mark[first] = 1.0
            landed[number] = gap[0] - tilt * (dx * points[0, 0] + dy * points[0, 1] + dz * points[0, 2])
            tilt *= TILT_FACTOR
        cosine, sine = COSINE_STEP * cosine - SINE_STEP * sine, SINE_STEP * cosine + COSINE_STEP * sine
    marked = np.int64(1)
    for point in range(1, count):
        if mark[point] > 0.0:
            swap_points(manifold, point, marked)
            marked += 1
    if marked <= maximal_points:
        return marked
    for kept in range(1, maximal_points):
        best, most = kept, -INFINITE
        for point in range(kept, marked):
            reach = reach_beyond(points[point], gap[point], ux, uy, uz, vx, vy, vz, landed, False)
            if reach > most:
                best, most = point, reach
        swap_points(manifold, kept, best)
        reach_beyond(points[kept], gap[kept], ux, uy, uz, vx, vy, vz, landed, True)
    return np.int64(maximal_points)


@subkernel
def reach_beyond(point, gap, ux, uy, uz, vx, vy, vz, landed, is_kept):
    """How far a contact reaches beyond those that are kept [m]; if it is kept itself, ``landed`` is written."""
    x, y = ux * point[0] + uy * point[1] + uz * point[2], vx * point[0] + vy * point[1] + vz * point[2]
    cosine, sine, most = 1.0, 0.0, -INFINITE
    for direction in range(DIRECTIONS):
        tilt = LEAST_TILT
        for number in range(direction * TILTS, (direction + 1) * TILTS):
            height = gap - tilt * (cosine * x + sine * y)
            most = max(most, (landed[number] - height) / tilt)
            if is_kept:
                landed[number] = min(landed[number], height)
            tilt *= TILT_FACTOR
        cosine, sine = COSINE_STEP * cosine - SINE_STEP * sine, SINE_STEP * cosine + COSINE_STEP * sine
    return most
