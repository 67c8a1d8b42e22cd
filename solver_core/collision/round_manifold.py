"""Manifolds of round shapes: what of a cap, a ruling or a segment lies over the other's face, and along its line.

A *feature* is what a shape turns towards the other: a disc (a cap), a segment (a ruling of a cylinder or cone, a
capsule's axis, an edge) or a polygon. The region in which two features lie over each other along the normal is convex.
Contacts are its outermost points in eight directions that are fixed in the disc's body, so they stay where they are
however the region was found, and in the direction in which the gap shrinks, so that a tilted rim touches with its
lowest point.
"""

import numpy as np

from ..kernel import subkernel
from .closest_points import into_frame
from .manifold import RATIO_CLIP, most_opposed_face, place_face, reduce_polygon, side_plane
from .round_support import UPPER_CAP
from .workspace import (
    B_IN_A,
    BOX,
    CAPSULE,
    CLIPPED,
    CONE,
    CYLINDER,
    FACES,
    GAP,
    HULL,
    POINT_A,
    POINT_B,
    POSITION,
    REFERENCE_FACE,
)

# Below this tilt [rad] of a disc against the other face its lowest point is noise, and the fixed directions suffice.
TILT_STEADY = 1e-5
# A disc tilted by less than this [rad] stands; tilted more it rolls on its rim.
TILT_STANDING = 0.002

# Segments at a larger sine than this cross at a point.
SINE_ALONG = 0.1
# Shorter stretches of two segments along each other (share of the shorter one) are points.
RATIO_STRETCH = 1e-3

DIRECTIONS = 8

# Points at which a disc's rim is tested against another disc; two discs cross twice, their ellipses at most four times.
RIM_SAMPLES = 16
# Halvings of a piece of rim: 2 pi / 16 / 2^48 is rounding.
HALVINGS = 48

# Rows of PairScratch.expansion here: discs (centre, two axes, normal; from row 4 on the second), the outline of a
# polygon in the disc's plane, and corners of the region.
DISCS = 0
OUTLINE = 1
SPOTS = 2
CENTER = 0
AXIS_1 = 1
AXIS_2 = 2
AXIS = 3
SECOND_DISC = 4

INFINITE = 1e300


@subkernel
def face_of_round_manifold(
    polytopes,
    reference,
    reference_kind,
    reference_parameters,
    face,
    incident,
    incident_kind,
    incident_parameters,
    is_face_of_b,
    radius,
    reach,
    size,
    maximal_points,
    scratch,
):
    """Contacts of a face of one shape (a polytope's, or a cap) with the other shape; one of the two is round.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    reference, reference_kind, reference_parameters, face : int, int, float64 [3], int
        The shape that has the face, and the face.
    incident, incident_kind, incident_parameters : int, int, float64 [3]
        The other shape.
    is_face_of_b : bool
        Whether the face belongs to shape b.
    radius : float
        Around the incident shape's core [m].
    reach : float
        Largest gap of the surfaces that makes a contact [m].
    size : float
        Of the smaller shape [m].
    maximal_points : int
    scratch : PairScratch
        Relative pose (read); ``contact`` (written).

    Returns
    -------
    count : int
        Contacts.
    nx, ny, nz : float
        The face's normal, outwards.
    is_standing : bool
        Whether a cap lies flat on a face.
    """
    pose, discs, contact = scratch.pose[B_IN_A], scratch.expansion[DISCS], scratch.contact
    polygon, plane, tolerance = scratch.polygon, polytopes.plane, RATIO_CLIP * size
    column = POINT_A if is_face_of_b else POINT_B
    # The face: its plane's normal n and a point q of it.
    sides = 0
    has_cap = reference_kind in (CYLINDER, CONE)
    if has_cap:
        place_cap(reference_parameters, face, is_face_of_b, pose, discs, 0)
        nx, ny, nz = discs[AXIS, 0], discs[AXIS, 1], discs[AXIS, 2]
        qx, qy, qz = discs[CENTER, 0], discs[CENTER, 1], discs[CENTER, 2]
    else:
        row = polytopes.start[reference, FACES] + face
        nx, ny, nz = plane[row, 0], plane[row, 1], plane[row, 2]
        if is_face_of_b:
            nx, ny, nz = turned(pose, nx, ny, nz)
        sides = place_face(polytopes, reference, face, is_face_of_b, pose, polygon[REFERENCE_FACE])
        qx, qy, qz = polygon[REFERENCE_FACE, 0, 0], polygon[REFERENCE_FACE, 0, 1], polygon[REFERENCE_FACE, 0, 2]

    if incident_kind in (BOX, HULL):
        first, last = polytopes.start[incident, FACES], polytopes.start[incident + 1, FACES]
        opposed = most_opposed_face(plane, first, last, nx, ny, nz, not is_face_of_b, pose)
        corners = place_face(polytopes, incident, opposed, not is_face_of_b, pose, polygon[CLIPPED])
        mx, my, mz = plane[first + opposed, 0], plane[first + opposed, 1], plane[first + opposed, 2]
        if not is_face_of_b:
            mx, my, mz = turned(pose, mx, my, mz)
        px, py, pz = polygon[CLIPPED, 0, 0], polygon[CLIPPED, 0, 1], polygon[CLIPPED, 0, 2]
        count, tilt = disc_over_polygon(
            discs,
            reference_parameters[0],
            polygon[CLIPPED],
            corners,
            scratch.expansion,
            (px, py, pz, mx, my, mz),
            (qx, qy, qz, nx, ny, nz),
            tolerance,
            reach,
            column,
            contact,
        )
    else:
        # Towards the face, in the frame of the incident shape.
        x, y, z = -nx, -ny, -nz
        if not is_face_of_b:
            x, y, z = into_frame(pose, x, y, z)
        cap = opposed_cap(incident_kind, incident_parameters, x, y, z)
        if cap < 0:
            ends = scratch.simplex
            set_ruling(incident_kind, incident_parameters, x, y, z, ends)
            if not is_face_of_b:
                place_ends(pose, ends, 0)
            low, high = 0.0, 1.0
            if has_cap:
                low, high = clip_by_disc(ends, discs, reference_parameters[0] + tolerance)
            else:
                low, high = clip_by_sides(ends, polygon[REFERENCE_FACE], sides, nx, ny, nz, tolerance)
            count = np.int64(0)
            if low <= high:
                for share in (low, high):
                    x = ends[0, 0] + share * (ends[1, 0] - ends[0, 0])
                    y = ends[0, 1] + share * (ends[1, 1] - ends[0, 1])
                    z = ends[0, 2] + share * (ends[1, 2] - ends[0, 2])
                    count = add_over_plane((qx, qy, qz, nx, ny, nz), x, y, z, radius, reach, column, contact, count)
            tilt = INFINITE
        elif has_cap:
            place_cap(incident_parameters, cap, not is_face_of_b, pose, discs, SECOND_DISC)
            # Directions stay with the smaller disc.
            first, second = 0, SECOND_DISC
            first_radius, second_radius = reference_parameters[0], incident_parameters[0]
            if second_radius < first_radius:
                first, second, first_radius, second_radius = second, first, second_radius, first_radius
            row = SECOND_DISC
            plane_of_incident = (
                discs[row, 0],
                discs[row, 1],
                discs[row, 2],
                discs[row + AXIS, 0],
                discs[row + AXIS, 1],
                discs[row + AXIS, 2],
            )
            count, tilt = disc_over_disc(
                discs,
                first,
                first_radius,
                second,
                second_radius,
                scratch.expansion[SPOTS],
                plane_of_incident,
                (qx, qy, qz, nx, ny, nz),
                tolerance,
                reach,
                column,
                contact,
            )
        else:
            place_cap(incident_parameters, cap, not is_face_of_b, pose, discs, 0)
            plane_of_incident = (
                discs[0, 0],
                discs[0, 1],
                discs[0, 2],
                discs[AXIS, 0],
                discs[AXIS, 1],
                discs[AXIS, 2],
            )
            count, tilt = disc_over_polygon(
                discs,
                incident_parameters[0],
                polygon[REFERENCE_FACE],
                sides,
                scratch.expansion,
                plane_of_incident,
                (qx, qy, qz, nx, ny, nz),
                tolerance,
                reach,
                column,
                contact,
            )
    count = reduce_polygon(contact, column, count, maximal_points, nx, ny, nz)
    return count, nx, ny, nz, tilt < TILT_STANDING and count > 2


@subkernel
def turned(pose, x, y, z):
    """A direction of the frame that ``pose`` places, in the outer frame."""
    return (
        pose[0, 0] * x + pose[0, 1] * y + pose[0, 2] * z,
        pose[1, 0] * x + pose[1, 1] * y + pose[1, 2] * z,
        pose[2, 0] * x + pose[2, 1] * y + pose[2, 2] * z,
    )


@subkernel
def place_cap(parameters, cap, is_b, pose, discs, row):
    """Write a cap's centre, two axes in its plane and its outward normal in the frame of shape a."""
    rise = 1.0 if cap == UPPER_CAP else -1.0
    for i in range(3):
        for j in range(3):
            axis = 1.0 if i == j else 0.0
            discs[row + AXIS_1 + j, i] = pose[i, j] if is_b else axis
        discs[row + AXIS, i] *= rise
        discs[row + CENTER, i] = parameters[1] * discs[row + AXIS, i] + (pose[POSITION, i] if is_b else 0.0)


@subkernel
def opposed_cap(kind, parameters, x, y, z):
    """The cap that looks most in a direction of the shape's own frame, -1 if the side looks there more."""
    if kind == CAPSULE:
        return -1
    across = (x * x + y * y) ** 0.5
    if kind == CYLINDER:
        if abs(z) < across:
            return -1
        return UPPER_CAP if z > 0.0 else 1
    radius, height = parameters[0], 2.0 * parameters[1]
    slope = (height * height + radius * radius) ** 0.5
    return -1 if height * across + radius * z > -z * slope else 1


@subkernel
def set_ruling(kind, parameters, x, y, z, ends):
    """Write the ends of the ruling (of a capsule the axis) that looks most in a direction; own frame."""
    radius, half = parameters[0], parameters[1]
    u, v = 0.0, 0.0
    across = (x * x + y * y) ** 0.5
    if kind != CAPSULE:
        u, v = radius, 0.0
        if across > 0.0:
            u, v = radius * x / across, radius * y / across
    taper = 0.0 if kind == CONE else 1.0
    ends[0, 0], ends[0, 1], ends[0, 2] = u, v, -half
    ends[1, 0], ends[1, 1], ends[1, 2] = taper * u, taper * v, half


@subkernel
def place_ends(pose, ends, first):
    """Two points of shape b's frame, in the frame of shape a."""
    for end in range(first, first + 2):
        x, y, z = ends[end, 0], ends[end, 1], ends[end, 2]
        for i in range(3):
            ends[end, i] = pose[POSITION, i] + pose[i, 0] * x + pose[i, 1] * y + pose[i, 2] * z


@subkernel
def clip_by_sides(ends, reference, sides, nx, ny, nz, tolerance):
    """Shares between which a segment lies over a polygon; the first is larger if it does nowhere."""
    low, high = 0.0, 1.0
    for side in range(sides):
        ux, uy, uz, offset = side_plane(reference, side, sides, nx, ny, nz)
        start = ux * ends[0, 0] + uy * ends[0, 1] + uz * ends[0, 2] - offset
        end = ux * ends[1, 0] + uy * ends[1, 1] + uz * ends[1, 2] - offset
        if start > tolerance and end > tolerance:
            return 1.0, 0.0
        if start > tolerance:
            low = max(low, min(start / (start - end), 1.0))
        elif end > tolerance:
            high = min(high, max(start / (start - end), 0.0))
    return low, high


@subkernel
def clip_by_disc(ends, discs, radius):
    """Shares between which a segment lies over a disc; the first is larger if it does nowhere."""
    aa, ab, bb = 0.0, 0.0, 0.0
    for axis in range(AXIS_1, AXIS_2 + 1):
        start, along = 0.0, 0.0
        for i in range(3):
            start += discs[axis, i] * (ends[0, i] - discs[CENTER, i])
            along += discs[axis, i] * (ends[1, i] - ends[0, i])
        aa += along * along
        ab += along * start
        bb += start * start
    beyond = bb - radius * radius
    root = ab * ab - aa * beyond
    if root < 0.0 or (aa == 0.0 and beyond > 0.0):
        return 1.0, 0.0
    if aa == 0.0:
        return 0.0, 1.0
    return max((-ab - root**0.5) / aa, 0.0), min((-ab + root**0.5) / aa, 1.0)


@subkernel
def add_over_plane(plane, x, y, z, radius, reach, column, contact, count):
    """Add a point of the incident core, with its foot on a plane (point, normal), if within reach; return the count."""
    qx, qy, qz, nx, ny, nz = plane
    height = nx * (x - qx) + ny * (y - qy) + nz * (z - qz)
    if height - radius > reach:
        return count
    foot = POINT_A + POINT_B - column
    contact[count, column] = x - radius * nx
    contact[count, column + 1] = y - radius * ny
    contact[count, column + 2] = z - radius * nz
    contact[count, foot] = x - height * nx
    contact[count, foot + 1] = y - height * ny
    contact[count, foot + 2] = z - height * nz
    contact[count, GAP] = height - radius
    return count + 1


# ---- a disc over a polygon


@subkernel
def disc_over_polygon(
    discs, radius, polygon, corners, expansion, incident, reference, tolerance, reach, column, contact
):
    """Contacts of the region that a disc and a polygon share along the reference plane's normal.

    Parameters
    ----------
    discs : float64 [>= 4, 10]
        The disc in the first four rows (read).
    radius : float
        [m]
    polygon : float64 [M, 3]
        (read)
    corners : int
    expansion : float64 [3, E, 10]
        ``OUTLINE`` and ``SPOTS`` written.
    incident, reference : tuple of 6 float
        A point and the normal of either plane; the reference's normal is the manifold's.
    tolerance, reach : float
        [m]
    column : int
    contact : float64 [C, 8]
        (written)

    Returns
    -------
    count : int
    tilt : float
        Between the two planes [rad].
    """
    outline, spots = expansion[OUTLINE], expansion[SPOTS]
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
    slope_u, slope_v = slopes_over_disc(discs, 0, radius, incident, reference)
    tilt = (slope_u * slope_u + slope_v * slope_v) ** 0.5
    count = np.int64(0)
    is_lowest_due = tilt > TILT_STEADY
    # From each fixed direction to the next; the lowest comes where it belongs around the rim.
    for turn_of_8 in range(DIRECTIONS):
        du, dv = fixed_direction(turn_of_8)
        count = add_of_polygon(
            discs,
            radius,
            outline,
            corners,
            turn,
            spots,
            spot_count,
            du,
            dv,
            incident,
            reference,
            tolerance,
            reach,
            column,
            contact,
            count,
        )
        eu, ev = fixed_direction(turn_of_8 + 1)
        if is_lowest_due and is_between(-slope_u, -slope_v, du, dv, eu, ev):
            is_lowest_due = False
            count = add_of_polygon(
                discs,
                radius,
                outline,
                corners,
                turn,
                spots,
                spot_count,
                -slope_u / tilt,
                -slope_v / tilt,
                incident,
                reference,
                tolerance,
                reach,
                column,
                contact,
                count,
            )
    return count, tilt


@subkernel
def fixed_direction(turn):
    """One of eight unit directions, an eighth of a turn apart."""
    angle = 0.25 * np.pi * (turn % DIRECTIONS)
    return np.cos(angle), np.sin(angle)


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
def add_of_polygon(
    discs,
    radius,
    outline,
    corners,
    turn,
    spots,
    spot_count,
    du,
    dv,
    incident,
    reference,
    tolerance,
    reach,
    column,
    contact,
    count,
):
    """Add the region's outermost point in a direction: the rim's, if it is in the polygon, else a corner."""
    u, v = radius * du, radius * dv
    if not is_inside(outline, corners, turn, u, v, tolerance):
        spot = farthest_spot(spots, spot_count, du, dv)
        if spot < 0:
            return count
        u, v = spots[spot, 0], spots[spot, 1]
    x, y, z = onto_incident(discs, 0, u, v, incident, reference)
    return add_over_plane(reference, x, y, z, 0.0, reach, column, contact, count)


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
    column,
    contact,
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
        count = add_over_plane(reference, x, y, z, 0.0, reach, column, contact, count)
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
    before = beyond_rim(radius, other, au, av, bu, bv, tu, tv, 0.0)
    for sample in range(RIM_SAMPLES):
        low, high = 2.0 * np.pi * sample / RIM_SAMPLES, 2.0 * np.pi * (sample + 1) / RIM_SAMPLES
        after = beyond_rim(radius, other, au, av, bu, bv, tu, tv, high)
        if (before > 0.0) != (after > 0.0):
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                if (beyond_rim(radius, other, au, av, bu, bv, tu, tv, middle) > 0.0) == (before > 0.0):
                    low = middle
                else:
                    high = middle
            spots[count, 0], spots[count, 1] = radius * np.cos(low), radius * np.sin(low)
            count += 1
        before = after
    return count


@subkernel
def beyond_rim(radius, other, au, av, bu, bv, tu, tv, angle):
    """Square of how far a point of the circle lies from the other disc's middle, less the square of its radius."""
    u, v = radius * np.cos(angle), radius * np.sin(angle)
    p, q = au * u + bu * v + tu, av * u + bv * v + tv
    return p * p + q * q - other * other


# ---- lines along each other


@subkernel
def line_manifold(ends, radius_a, radius_b, bend, nx, ny, nz, reach, contact):
    """Contacts at the ends of the stretch along which two nearly parallel segments run side by side.

    Parameters
    ----------
    ends : float64 [4, >= 3]
        Ends of the segment of a (two rows) and of b, in one frame (read).
    radius_a, radius_b : float
        Around the segments [m].
    bend : float
        Sum of the radii of curvature across the segments [m]: s off each other sideways, the surfaces are s^2 / (2
        bend) farther apart.
    nx, ny, nz : float
        Normal from a to b.
    reach : float
        [m]
    contact : float64 [C, 8]
        (written)

    Returns
    -------
    int
        0 if there is no such stretch; else contacts, 1 or 2.
    """
    ax, ay, az = ends[1, 0] - ends[0, 0], ends[1, 1] - ends[0, 1], ends[1, 2] - ends[0, 2]
    bx, by, bz = ends[3, 0] - ends[2, 0], ends[3, 1] - ends[2, 1], ends[3, 2] - ends[2, 2]
    square = ax * ax + ay * ay + az * az
    other_square = bx * bx + by * by + bz * bz
    cosine = ax * bx + ay * by + az * bz
    if cosine * cosine <= (1.0 - SINE_ALONG * SINE_ALONG) * square * other_square:
        return 0
    # Shares of a's segment at which b's begins and ends.
    start, end = 0.0, 0.0
    for i, along in enumerate((ax, ay, az)):
        start += along * (ends[2, i] - ends[0, i]) / square
        end += along * (ends[3, i] - ends[0, i]) / square
    low, high = max(min(start, end), 0.0), min(max(start, end), 1.0)
    length = square**0.5
    if (high - low) * length <= RATIO_STRETCH * min(length, other_square**0.5):
        return 0
    # Sideways: across the normal and a's segment.
    sx, sy, sz = ny * az - nz * ay, nz * ax - nx * az, nx * ay - ny * ax
    count = 0
    for share in (low, high):
        other = (share - start) / (end - start)
        apart_x = ends[2, 0] + other * bx - ends[0, 0] - share * ax
        apart_y = ends[2, 1] + other * by - ends[0, 1] - share * ay
        apart_z = ends[2, 2] + other * bz - ends[0, 2] - share * az
        sideways = (sx * apart_x + sy * apart_y + sz * apart_z) / length
        gap = nx * apart_x + ny * apart_y + nz * apart_z - radius_a - radius_b
        gap += sideways * sideways / (2.0 * bend)
        if gap > reach:
            continue
        for i, along in enumerate((ax, ay, az)):
            normal = nx if i == 0 else ny if i == 1 else nz
            contact[count, POINT_A + i] = ends[0, i] + share * along + radius_a * normal
            contact[count, POINT_B + i] = contact[count, POINT_A + i] + gap * normal
        contact[count, GAP] = gap
        count += 1
    return count
