"""Manifolds of round shapes: what of a cap, a ruling or a segment lies over the other's face, and along its line.

A *feature* is what a shape turns towards the other: a disc (a cap), a segment (a ruling of a cylinder or cone, a
capsule's axis, an edge) or a polygon. ``disc_regions`` has what two faces share; here are the choice of features, and
segments: over a face, and along each other.
"""

import numpy as np

from ..kernel import subkernel
from .closest_points import into_frame
from .disc_regions import (
    AXIS,
    AXIS_1,
    AXIS_2,
    CENTER,
    DISCS,
    SECOND_DISC,
    SPOTS,
    add_over_plane,
    disc_over_disc,
    disc_over_polygon,
)
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

# A disc tilted by less than this [rad] stands; tilted more it rolls on its rim.
TILT_STANDING = 0.002

# Segments at a larger sine than this cross at a point.
SINE_ALONG = 0.1
# Shorter stretches of two segments along each other (share of the shorter one) are points.
RATIO_STRETCH = 1e-3

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
        place_cap(reference_parameters, face, is_face_of_b, pose, discs, np.int64(0))
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
                place_ends(pose, ends, np.int64(0))
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
            place_cap(incident_parameters, cap, not is_face_of_b, pose, discs, np.int64(SECOND_DISC))
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
            place_cap(incident_parameters, cap, not is_face_of_b, pose, discs, np.int64(0))
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
