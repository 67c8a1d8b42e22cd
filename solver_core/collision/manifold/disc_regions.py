"""What two faces share where one is a disc: the outermost points of the region in which they lie over each other.

The region of a disc with a polygon, or with another disc, along the manifold's normal is convex. Its outermost point in
a direction is the rim's, if that lies over the other face, else one of its corners. Eight directions are fixed in the
disc's body, so the points stay where they are however the region was found; one more leads down where the disc is
tilted, so that the lowest point of its rim is a contact.
"""

import numpy as np

from ...compiled.kernel import subkernel
from ..data.workspace import INFINITE

# Below this tilt [rad] of a disc against the other face its lowest point is noise, and the fixed directions suffice.
TILT_STEADY = 1e-5

DIRECTIONS = 8

# Points at which a disc's rim is tested against another disc; two discs cross twice, their ellipses at most four times.
RIM_SAMPLES = 16
# Cosines and sines of their angles: to work them out took longer than all else here.
RIM_DIRECTIONS = np.array(
    [(np.cos(angle), np.sin(angle)) for angle in 2.0 * np.pi / RIM_SAMPLES * np.arange(RIM_SAMPLES + 1)]
)
# Steps of Newton's method for a crossing, or halvings where it leads astray: 2 pi / 16 / 2^48 is rounding. It ends
# with a step (tangent of the angle) that is.
MOST_STEPS = 48
LAST_STEP = 1e-14

# Rows of DiscRegions.disc: centre, two axes and normal of a disc; from row 4 on of the second one.
CENTER = 0
AXIS_1 = 1
AXIS_2 = 2
AXIS = 3
SECOND_DISC = 4


@subkernel
def add_over_plane(plane, x, y, z, radius, reach, is_face_of_b, manifold, count):
    """Add a point of the incident core, with its foot on a plane (point, normal), if within reach; return the count."""
    qx, qy, qz, nx, ny, nz = plane
    height = nx * (x - qx) + ny * (y - qy) + nz * (z - qz)
    if height - radius > reach:
        return count
    points = manifold.point_a if is_face_of_b else manifold.point_b
    feet = manifold.point_b if is_face_of_b else manifold.point_a
    points[count, 0], points[count, 1], points[count, 2] = x - radius * nx, y - radius * ny, z - radius * nz
    feet[count, 0], feet[count, 1], feet[count, 2] = x - height * nx, y - height * ny, z - height * nz
    manifold.gap[count] = height - radius
    return count + 1


@subkernel
def disc_over_polygon(regions, radius, polygon, corners, incident, reference, tolerance, reach, is_face_of_b, manifold):
    """Contacts of the region that a disc and a polygon share along the reference plane's normal.

    Parameters
    ----------
    regions : DiscRegions
        The disc in the first four rows of ``disc`` (read); ``outline`` and ``spot`` (written).
    radius : float
        [m]
    polygon : float64 [M, 3]
        (read)
    corners : int
    incident, reference : tuple of 6 float
        A point and the normal of either plane; the reference's normal is the manifold's.
    tolerance, reach : float
        [m]
    is_face_of_b : bool
        Whether the incident shape is a.
    manifold : Manifold
        (written)

    Returns
    -------
    count : int
    tilt : float
        Between the two planes [rad].
    """
    discs, outline, spots = regions.disc, regions.outline, regions.spot
    nx, ny, nz = reference[3], reference[4], reference[5]
    area = 0.0
    for corner in range(corners):
        u, v = onto_disc(discs, polygon[corner, 0], polygon[corner, 1], polygon[corner, 2], nx, ny, nz)
        outline[corner, 0], outline[corner, 1] = u, v
        if corner > 0:
            area += outline[corner - 1, 0] * v - outline[corner - 1, 1] * u
    area += outline[corners - 1, 0] * outline[0, 1] - outline[corners - 1, 1] * outline[0, 0]
    turn = 1.0 if area >= 0.0 else -1.0
    spot_count = crossings_with_outline(outline, corners, radius, tolerance, spots)
    slope_u, slope_v = slopes_over_disc(discs, np.int64(0), radius, incident, reference)
    tilt = (slope_u * slope_u + slope_v * slope_v) ** 0.5
    count = np.int64(0)
    is_lowest_due = tilt > TILT_STEADY
    for turn_of_16 in range(2 * DIRECTIONS):
        du, dv = fixed_direction(turn_of_16 // 2)
        if turn_of_16 % 2 == 1:
            # Between two fixed directions, the lowest, where it belongs.
            eu, ev = fixed_direction(turn_of_16 // 2 + 1)
            if not is_lowest_due or not is_between(-slope_u, -slope_v, du, dv, eu, ev):
                continue
            is_lowest_due = False
            du, dv = -slope_u / tilt, -slope_v / tilt
        # The rim's outermost point, if it is in the polygon, else a corner of the region.
        u, v = radius * du, radius * dv
        if not is_inside(outline, corners, turn, u, v, tolerance):
            spot = farthest_spot(spots, spot_count, du, dv)
            if spot < 0:
                continue
            u, v = spots[spot, 0], spots[spot, 1]
        x, y, z = onto_incident(discs, np.int64(0), u, v, incident, reference)
        count = add_over_plane(reference, x, y, z, 0.0, reach, is_face_of_b, manifold, count)
    return count, tilt


@subkernel
def fixed_direction(turn):
    """One of eight unit directions, an eighth of a turn apart."""
    row = turn % DIRECTIONS * (RIM_SAMPLES // DIRECTIONS)
    return RIM_DIRECTIONS[row, 0], RIM_DIRECTIONS[row, 1]


@subkernel
def is_between(u, v, au, av, bu, bv):
    """Whether a direction lies from a (included) to b (not included), counterclockwise."""
    return au * v - av * u >= 0.0 and u * bv - v * bu > 0.0


@subkernel
def onto_disc(discs, x, y, z, nx, ny, nz):
    """Coordinates in the disc's plane of a point projected along n."""
    x, y, z = x - discs[CENTER, 0], y - discs[CENTER, 1], z - discs[CENTER, 2]
    ax, ay, az = discs[AXIS, 0], discs[AXIS, 1], discs[AXIS, 2]
    share = -(x * ax + y * ay + z * az) / (nx * ax + ny * ay + nz * az)
    x, y, z = x + share * nx, y + share * ny, z + share * nz
    return (
        x * discs[AXIS_1, 0] + y * discs[AXIS_1, 1] + z * discs[AXIS_1, 2],
        x * discs[AXIS_2, 0] + y * discs[AXIS_2, 1] + z * discs[AXIS_2, 2],
    )


@subkernel
def crossings_with_outline(outline, corners, radius, tolerance, spots):
    """Write corners of an outline that lie in the disc, and where it crosses the rim; return how many."""
    count = 0
    for corner in range(corners):
        following = corner + 1 if corner + 1 < corners else 0
        u, v = outline[corner, 0], outline[corner, 1]
        du, dv = outline[following, 0] - u, outline[following, 1] - v
        beyond = u * u + v * v - radius * radius
        if beyond <= 2.0 * radius * tolerance:
            spots[count, 0], spots[count, 1] = u, v
            count += 1
        aa, ab = du * du + dv * dv, u * du + v * dv
        root = ab * ab - aa * beyond
        if aa == 0.0 or root <= 0.0:
            continue
        for sign in (-1.0, 1.0):
            share = (-ab + sign * root**0.5) / aa
            if 0.0 < share < 1.0:
                spots[count, 0], spots[count, 1] = u + share * du, v + share * dv
                count += 1
    return count


@subkernel
def is_inside(outline, corners, turn, u, v, tolerance):
    """Whether a point lies in a polygon that runs counterclockwise (``turn`` 1) or clockwise (-1)."""
    for corner in range(corners):
        following = corner + 1 if corner + 1 < corners else 0
        au, av = outline[corner, 0], outline[corner, 1]
        du, dv = outline[following, 0] - au, outline[following, 1] - av
        if turn * (du * (v - av) - dv * (u - au)) < -tolerance * (du * du + dv * dv) ** 0.5:
            return False
    return True


@subkernel
def slopes_over_disc(discs, row, radius, incident, reference):
    """Slopes of the gap along a disc's axes."""
    gap = gap_at(discs, row, 0.0, 0.0, incident, reference)
    slope_u = (gap_at(discs, row, radius, 0.0, incident, reference) - gap) / radius
    slope_v = (gap_at(discs, row, 0.0, radius, incident, reference) - gap) / radius
    return slope_u, slope_v


@subkernel
def gap_at(discs, row, u, v, incident, reference):
    """Gap of the two planes over a point of the disc's plane."""
    x, y, z = onto_incident(discs, row, u, v, incident, reference)
    return reference[3] * (x - reference[0]) + reference[4] * (y - reference[1]) + reference[5] * (z - reference[2])


@subkernel
def onto_incident(discs, row, u, v, incident, reference):
    """A point of the disc's plane, moved along the reference's normal onto the incident plane."""
    x = discs[row, 0] + u * discs[row + AXIS_1, 0] + v * discs[row + AXIS_2, 0]
    y = discs[row, 1] + u * discs[row + AXIS_1, 1] + v * discs[row + AXIS_2, 1]
    z = discs[row, 2] + u * discs[row + AXIS_1, 2] + v * discs[row + AXIS_2, 2]
    px, py, pz, mx, my, mz = incident
    share = (mx * (px - x) + my * (py - y) + mz * (pz - z)) / (
        mx * reference[3] + my * reference[4] + mz * reference[5]
    )
    return x + share * reference[3], y + share * reference[4], z + share * reference[5]


@subkernel
def farthest_spot(spots, count, du, dv):
    """The corner of the region that lies farthest in a direction, -1 if there is none."""
    best, farthest = -1, -INFINITE
    for spot in range(count):
        along = du * spots[spot, 0] + dv * spots[spot, 1]
        if along > farthest:
            best, farthest = spot, along
    return best


# ---- a disc over a disc


@subkernel
def disc_over_disc(
    discs,
    first,
    first_radius,
    second,
    second_radius,
    spots,
    incident,
    reference,
    tolerance,
    reach,
    is_face_of_b,
    manifold,
):
    """Contacts of the region that two discs share along the reference plane's normal.

    In the plane of the first disc the second one is the set |M y + t| <= R: an ellipse, whose outermost point in the
    direction d is M^-1 (R e - t) with e = M^-T d / |M^-T d|.

    Parameters are those of ``disc_over_polygon``; ``first`` and ``second`` are the discs' rows.
    """
    tu, tv = onto_second(discs, first, second, 0.0, 0.0, reference)
    au, av = onto_second(discs, first, second, 1.0, 0.0, reference)
    bu, bv = onto_second(discs, first, second, 0.0, 1.0, reference)
    au, av, bu, bv = au - tu, av - tv, bu - tu, bv - tv
    determinant = au * bv - av * bu
    inner, outer = first_radius + tolerance, second_radius + tolerance
    spot_count = crossings_of_rims(first_radius, second_radius, au, av, bu, bv, tu, tv, spots)
    slope_u, slope_v = slopes_over_disc(discs, first, first_radius, incident, reference)
    tilt = (slope_u * slope_u + slope_v * slope_v) ** 0.5
    count = np.int64(0)
    is_lowest_due = tilt > TILT_STEADY
    for turn in range(2 * DIRECTIONS):
        du, dv = fixed_direction(turn // 2)
        if turn % 2 == 1:
            # Between two fixed directions, the lowest, where it belongs.
            eu, ev = fixed_direction(turn // 2 + 1)
            if not is_lowest_due or not is_between(-slope_u, -slope_v, du, dv, eu, ev):
                continue
            is_lowest_due = False
            du, dv = -slope_u / tilt, -slope_v / tilt
        u, v = first_radius * du, first_radius * dv
        p, q = au * u + bu * v + tu, av * u + bv * v + tv
        if p * p + q * q > outer * outer:
            p, q = (bv * du - av * dv) / determinant, (au * dv - bu * du) / determinant
            length = (p * p + q * q) ** 0.5
            p, q = second_radius * p / length - tu, second_radius * q / length - tv
            u, v = (bv * p - bu * q) / determinant, (au * q - av * p) / determinant
            if u * u + v * v > inner * inner:
                spot = farthest_spot(spots, spot_count, du, dv)
                if spot < 0:
                    continue
                u, v = spots[spot, 0], spots[spot, 1]
        x, y, z = onto_incident(discs, first, u, v, incident, reference)
        count = add_over_plane(reference, x, y, z, 0.0, reach, is_face_of_b, manifold, count)
    return count, tilt


@subkernel
def onto_second(discs, first, second, u, v, reference):
    """Coordinates in the second disc's plane of a point of the first disc's, along the reference's normal."""
    x = discs[first, 0] + u * discs[first + AXIS_1, 0] + v * discs[first + AXIS_2, 0]
    y = discs[first, 1] + u * discs[first + AXIS_1, 1] + v * discs[first + AXIS_2, 1]
    z = discs[first, 2] + u * discs[first + AXIS_1, 2] + v * discs[first + AXIS_2, 2]
    return onto_disc(discs[second : second + 4], x, y, z, reference[3], reference[4], reference[5])


@subkernel
def crossings_of_rims(radius, other, au, av, bu, bv, tu, tv, spots):
    """Write the points of a circle of ``radius`` that lie on the ellipse |M y + t| = other; return how many."""
    count = 0
    before = beyond_rim(radius, other, au, av, bu, bv, tu, tv, RIM_DIRECTIONS[0, 0], RIM_DIRECTIONS[0, 1])[0] > 0.0
    for sample in range(RIM_SAMPLES):
        low_u, low_v = RIM_DIRECTIONS[sample, 0], RIM_DIRECTIONS[sample, 1]
        high_u, high_v = RIM_DIRECTIONS[sample + 1, 0], RIM_DIRECTIONS[sample + 1, 1]
        after = beyond_rim(radius, other, au, av, bu, bv, tu, tv, high_u, high_v)[0] > 0.0
        if before == after:
            continue
        u, v = halfway(low_u, low_v, high_u, high_v)
        for _ in range(MOST_STEPS):
            beyond, slope = beyond_rim(radius, other, au, av, bu, bv, tu, tv, u, v)
            if (beyond > 0.0) == before:
                low_u, low_v = u, v
            else:
                high_u, high_v = u, v
            step = -beyond / slope if slope != 0.0 else INFINITE
            length = (1.0 + step * step) ** 0.5
            u, v = (u - step * v) / length, (v + step * u) / length
            if abs(step) <= LAST_STEP:
                break
            if not is_between(u, v, low_u, low_v, high_u, high_v):
                u, v = halfway(low_u, low_v, high_u, high_v)
        spots[count, 0], spots[count, 1] = radius * u, radius * v
        count += 1
        before = after
    return count


@subkernel
def halfway(au, av, bu, bv):
    """The unit direction halfway between two that are less than half a turn apart."""
    u, v = au + bu, av + bv
    length = (u * u + v * v) ** 0.5
    return u / length, v / length


@subkernel
def beyond_rim(radius, other, au, av, bu, bv, tu, tv, du, dv):
    """How far a circle lies beyond the other disc's rim in a direction, in squares, and the derivative by its angle."""
    u, v = radius * du, radius * dv
    p, q = au * u + bu * v + tu, av * u + bv * v + tv
    return p * p + q * q - other * other, 2.0 * (p * (bu * u - au * v) + q * (bv * u - av * v))
