"""Manifolds of round shapes: what of a cap, a ruling or a segment lies over the other's face, and along its line.

A *feature* is what a shape turns towards the other: a disc (a cap), a segment (a ruling of a cylinder or cone, a
capsule's axis, an edge) or a polygon. ``disc_regions`` has what two faces share; here are the choice of features, and
segments: over a face, and along each other.
"""

import numpy as np

from ...compiled.kernel import subkernel
from ..data.workspace import (
    BOX,
    CAPSULE,
    CONE,
    CYLINDER,
    FACES,
    HULL,
    INFINITE,
    POSITION,
)
from ..distance.closest_points import into_frame
from ..distance.round_support import UPPER_CAP, turned
from .disc_regions import (
    AXIS,
    AXIS_1,
    AXIS_2,
    CENTER,
    SECOND_DISC,
    add_over_plane,
    disc_over_disc,
    disc_over_polygon,
)
from .face_manifold import RATIO_CLIP, most_opposed_face, place_face, reduce_polygon, side_plane

# A disc tilted by less than this [rad] stands; tilted more it rolls on its rim.
TILT_STANDING = 0.002

# Segments at a larger sine than this cross at a point.
SINE_ALONG = 0.1
# Shorter stretches of two segments along each other (share of the shorter one) are points.
RATIO_STRETCH = 1e-3


@subkernel
def face_of_round_manifold(
    polytopes, reference, face, incident, is_face_of_b, radius, reach, size, maximal_points, scratch
):
    """Contacts of a face of one shape (a polytope's, or a cap) with the other shape; one of the two is round.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    reference, face : PairShape, int
        The shape that has the face (read), and the face.
    incident : PairShape
        The other shape (read).
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
        Relative pose (read); ``manifold`` (written).

    Returns
    -------
    count : int
        Contacts.
    nx, ny, nz : float
        The face's normal, outwards.
    is_standing : bool
        Whether a cap lies flat on a face.
    """
    tolerance = RATIO_CLIP * size
    plane, sides = place_reference_face(polytopes, reference, face, is_face_of_b, scratch)
    nx, ny, nz = plane[3], plane[4], plane[5]
    cap, tilt = -1, INFINITE
    if incident.kind not in (BOX, HULL):
        # Towards the face, in the frame of the incident shape.
        x, y, z = -nx, -ny, -nz
        if not is_face_of_b:
            x, y, z = into_frame(scratch.pose.b_in_a, x, y, z)
        cap = opposed_cap(incident.kind, incident.parameters, x, y, z)
        if cap < 0:
            set_ruling(incident.kind, incident.parameters, x, y, z, scratch.ends)
    if incident.kind in (BOX, HULL):
        count, tilt = cap_and_polygon(polytopes, reference, incident, is_face_of_b, plane, tolerance, reach, scratch)
    elif cap < 0:
        count = ruling_over_face(reference, sides, is_face_of_b, plane, radius, tolerance, reach, scratch)
    else:
        count, tilt = cap_over_face(reference, sides, incident, cap, is_face_of_b, plane, tolerance, reach, scratch)
    count = reduce_polygon(scratch.manifold, is_face_of_b, count, maximal_points, nx, ny, nz)
    return count, nx, ny, nz, tilt < TILT_STANDING and count > 2


@subkernel
def place_reference_face(polytopes, reference, face, is_face_of_b, scratch):
    """Write a shape's face in the frame of shape a: a cap's first disc, or the corners of a polytope's face.

    Returns
    -------
    plane : tuple of 6 float
        A point of the face's plane and its normal, outwards.
    sides : int
        Of the face; 0 for a cap.
    """
    pose, discs, polygon = scratch.pose.b_in_a, scratch.discs.disc, scratch.polygon.reference
    if reference.kind in (CYLINDER, CONE):
        place_cap(reference.parameters, face, is_face_of_b, pose, discs, np.int64(0))
        return plane_of_disc(discs, np.int64(0)), np.int64(0)
    row = polytopes.start[reference.polytope, FACES] + face
    nx, ny, nz = polytopes.plane[row, 0], polytopes.plane[row, 1], polytopes.plane[row, 2]
    if is_face_of_b:
        nx, ny, nz = turned(pose, nx, ny, nz)
    sides = place_face(polytopes, reference.polytope, face, is_face_of_b, pose, polygon)
    return (polygon[0, 0], polygon[0, 1], polygon[0, 2], nx, ny, nz), sides


@subkernel
def plane_of_disc(discs, row):
    """A disc's centre and normal."""
    return (
        discs[row + CENTER, 0],
        discs[row + CENTER, 1],
        discs[row + CENTER, 2],
        discs[row + AXIS, 0],
        discs[row + AXIS, 1],
        discs[row + AXIS, 2],
    )


@subkernel
def cap_and_polygon(polytopes, reference, incident, is_face_of_b, plane, tolerance, reach, scratch):
    """Contacts of a cap, the first disc, with the face of a polytope that looks most against it; and their tilt."""
    pose, polygon = scratch.pose.b_in_a, scratch.polygon.clipped
    first, last = polytopes.start[incident.polytope, FACES], polytopes.start[incident.polytope + 1, FACES]
    opposed = most_opposed_face(polytopes.plane, first, last, plane[3], plane[4], plane[5], not is_face_of_b, pose)
    corners = place_face(polytopes, incident.polytope, opposed, not is_face_of_b, pose, polygon)
    row = first + opposed
    mx, my, mz = polytopes.plane[row, 0], polytopes.plane[row, 1], polytopes.plane[row, 2]
    if not is_face_of_b:
        mx, my, mz = turned(pose, mx, my, mz)
    return disc_over_polygon(
        scratch.discs,
        reference.parameters[0],
        polygon,
        corners,
        (polygon[0, 0], polygon[0, 1], polygon[0, 2], mx, my, mz),
        plane,
        tolerance,
        reach,
        is_face_of_b,
        scratch.manifold,
    )


@subkernel
def ruling_over_face(reference, sides, is_face_of_b, plane, radius, tolerance, reach, scratch):
    """Contacts at the ends of what of the incident shape's ruling (``scratch.ends``) lies over a face; their number."""
    ends = scratch.ends
    if not is_face_of_b:
        place_ends(scratch.pose.b_in_a, ends, np.int64(0))
    if sides == 0:
        low, high = clip_by_disc(ends, scratch.discs.disc, reference.parameters[0] + tolerance)
    else:
        low, high = clip_by_sides(ends, scratch.polygon.reference, sides, plane[3], plane[4], plane[5], tolerance)
    count = np.int64(0)
    if low <= high:
        for share in (low, high):
            x = ends[0, 0] + share * (ends[1, 0] - ends[0, 0])
            y = ends[0, 1] + share * (ends[1, 1] - ends[0, 1])
            z = ends[0, 2] + share * (ends[1, 2] - ends[0, 2])
            count = add_over_plane(plane, x, y, z, radius, reach, is_face_of_b, scratch.manifold, count)
    return count


@subkernel
def cap_over_face(reference, sides, incident, cap, is_face_of_b, plane, tolerance, reach, scratch):
    """Contacts of the incident shape's cap with another cap, the first disc, or with a polygon; and their tilt."""
    pose, discs = scratch.pose.b_in_a, scratch.discs.disc
    if sides > 0:
        place_cap(incident.parameters, cap, not is_face_of_b, pose, discs, np.int64(0))
        return disc_over_polygon(
            scratch.discs,
            incident.parameters[0],
            scratch.polygon.reference,
            sides,
            plane_of_disc(discs, np.int64(0)),
            plane,
            tolerance,
            reach,
            is_face_of_b,
            scratch.manifold,
        )
    place_cap(incident.parameters, cap, not is_face_of_b, pose, discs, np.int64(SECOND_DISC))
    # Directions stay with the smaller disc.
    first, second = 0, SECOND_DISC
    first_radius, second_radius = reference.parameters[0], incident.parameters[0]
    if second_radius < first_radius:
        first, second, first_radius, second_radius = second, first, second_radius, first_radius
    return disc_over_disc(
        discs,
        first,
        first_radius,
        second,
        second_radius,
        scratch.discs.spot,
        plane_of_disc(discs, np.int64(SECOND_DISC)),
        plane,
        tolerance,
        reach,
        is_face_of_b,
        scratch.manifold,
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
def line_manifold(ends, radius_a, radius_b, bend, nx, ny, nz, reach, manifold):
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
    manifold : Manifold
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
            manifold.point_a[count, i] = ends[0, i] + share * along + radius_a * normal
            manifold.point_b[count, i] = manifold.point_a[count, i] + gap * normal
        manifold.gap[count] = gap
        count += 1
    return count
