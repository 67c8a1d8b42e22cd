"""Signed distance of two convex cores from their support functions alone: curved shapes as exactly as flat ones.

Apart: the algorithm of Gilbert, Johnson and Keerthi (1988) as in ``closest_points``, with support points that are
worked out rather than looked up. Near a curved contact its steps shrink by a factor; it ends where doubles end.

Overlapping: a polytope inside A - B grows by the support point above its face nearest to the origin (expanding
polytope algorithm; van den Bergen 2001). Depth lies between that face's distance, below, and the support function along
its normal, above; the least support value that was met is the depth once the two agree. So the minimum found is the
global one. An upper bound known before (the best face's) ends the search sooner.
"""

import numpy as np

from ...compiled.kernel import subkernel
from ..data.workspace import INFINITE, has_axis
from .closest_points import (
    MOST_ITERATIONS,
    RATIO_PROGRESS,
    RATIO_TOUCHING,
    into_frame,
    is_known,
    nearest_of_simplex,
    weigh_corners,
)
from .round_support import support_difference, towards_side, turned

# Bounds of the depth that are this near to each other (share of the smaller shape's size) are equal.
RATIO_DEPTH = 1e-11

# A support point this little above a face (share of the size) lies in it: sums of doubles show no less.
RATIO_VISIBLE = 1e-14

# A corner of the first tetrahedron lies at least this share of the size off the others, or on their other side.
RATIO_FIRST_CORNER = 1e-3

# Normals tried at the end: on the side of a, of b, and on both by this many turns less two.
CREASE_TRIALS = 12


@subkernel
def closest_cores(polytopes, a, b, x, y, z, reach, touching, scratch):
    """Distance of two cores, with closest points.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    a, b : PairShape
        (read)
    x, y, z : float
        As of ``closest_points``.
    reach : float
        Distances above it need not be exact [m].
    touching : float
        Distances below it count as none [m].
    scratch : PairScratch
        Relative pose and a sheet's side (read; a sheet is thin here); ``simplex`` (written), closest points and
        direction (written unless 0 is returned).

    Returns
    -------
    float
        Distance [m]; a lower bound of it if above ``reach``; 0 if touching or overlapping.
    """
    simplex, closest = scratch.simplex, scratch.closest
    # Not plain zeros: Numba would compile all that they are passed to once more, for the literal.
    climb_a, climb_b, corners, fresh = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    x, y, z = -x, -y, -z
    square, least, tolerance = x * x + y * y + z * z, INFINITE, RATIO_DEPTH / RATIO_TOUCHING * touching
    if square <= touching * touching:
        x, square = 1.0, 1.0 + y * y + z * z
    for _ in range(MOST_ITERATIONS):
        fresh = corners
        progress, climb_a, climb_b = support_difference(
            polytopes, a, b, scratch, 0.0, -x, -y, -z, climb_a, climb_b, simplex, fresh
        )
        progress = -progress
        if progress > 0.0 and progress * progress > reach * reach * square:
            return progress / square**0.5
        if corners > 0:
            error = square - progress
            if error <= RATIO_PROGRESS * square or error <= tolerance * square**0.5 or is_known(simplex.point, fresh):
                break
        p, q, s, corners = nearest_of_simplex(simplex, corners + 1)
        if corners == 4:
            return 0.0
        square = p * p + q * q + s * s
        if square >= least:
            break
        x, y, z, least = p, q, s, square
        weigh_corners(simplex, corners, closest)
        if square <= touching * touching:
            return 0.0
    distance = least**0.5
    # a - b points from b to a.
    closest.direction[0] = -x / distance
    closest.direction[1] = -y / distance
    closest.direction[2] = -z / distance
    return distance


@subkernel
def least_depth(polytopes, a, b, size, thickness, scratch, depth, nx, ny, nz):
    """Least translation that takes two overlapping cores apart.

    Parameters
    ----------
    polytopes, a, b
        As in ``closest_cores``.
    size : float
        Of the smaller shape [m].
    thickness : float
        Of a sheet, as in ``support_difference`` [m].
    scratch : PairScratch
        Relative pose and a sheet's side (read); ``expansion`` (written).
    depth, nx, ny, nz : float
        An upper bound [m], and the unit normal that has it. What is found is better by more than RATIO_DEPTH, or this.

    Returns
    -------
    depth, x, y, z : float
        Depth [m] and unit direction from a to b.
    """
    pose, expansion = scratch.pose, scratch.expansion
    corner, normal, distance = expansion.corner.point, expansion.normal, expansion.distance
    climb_a, climb_b, corners, faces, nearest = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    visible, tolerance = RATIO_VISIBLE * size, RATIO_DEPTH * size
    x, y, z, is_turned = nx, ny, nz, False
    while corners < len(corner):
        height, climb_a, climb_b = support_difference(
            polytopes, a, b, scratch, thickness, x, y, z, climb_a, climb_b, expansion.corner, corners
        )
        if corners >= 4:
            if height < depth - tolerance:
                depth, nx, ny, nz = height, x, y, z
            # Where the nearest face lies in the surface, nothing is nearer.
            if height - distance[nearest] <= tolerance:
                break
            faces = grow(expansion, faces, corners, visible)
        elif corners > 0:
            rise = height - x * corner[0, 0] - y * corner[0, 1] - z * corner[0, 2]
            if not is_turned and rise <= RATIO_FIRST_CORNER * size * (x * x + y * y + z * z) ** 0.5:
                x, y, z, is_turned = -x, -y, -z, True
                continue
            faces = first_faces(expansion) if corners == 3 else 1
        else:
            faces = 1
        corners += 1
        if faces == 0:
            break
        if corners < 4:
            x, y, z = first_direction(corner, corners)
            is_turned = False
            continue
        nearest = nearest_face(distance, faces)
        if depth - distance[nearest] <= tolerance:
            break
        x, y, z = normal[nearest, 0], normal[nearest, 1], normal[nearest, 2]
    # The corners are no longer needed. Not a plain 0: Numba would compile the callee once more, for the literal.
    p, q, s, first = nx, ny, nz, np.int64(0)
    for trial in range(CREASE_TRIALS):
        # On the side of a, of b, and on both by turns.
        x, y, z = (nx, ny, nz) if trial < 2 else (p, q, s)
        if trial != 1 and has_axis(a.kind):
            x, y, z = towards_side(a, x, y, z)
        if trial != 0 and has_axis(b.kind):
            x, y, z = into_frame(pose.b_in_a, -x, -y, -z)
            x, y, z = towards_side(b, x, y, z)
            x, y, z = turned(pose.b_in_a, -x, -y, -z)
        p, q, s = x, y, z
        if 1 < trial < CREASE_TRIALS - 1:
            continue
        height, climb_a, climb_b = support_difference(
            polytopes, a, b, scratch, thickness, x, y, z, climb_a, climb_b, expansion.corner, first
        )
        if height < depth:
            depth, nx, ny, nz = height, x, y, z
    return depth, nx, ny, nz


@subkernel
def nearest_face(distance, faces):
    """The face with the least distance from the origin."""
    nearest = 0
    for row in range(1, faces):
        if distance[row] < distance[nearest]:
            nearest = row
    return nearest


@subkernel
def first_direction(corner, corners):
    """Direction of the next corner of the first tetrahedron: away from the point, the line or the plane so far."""
    if corners == 1:
        return -corner[0, 0], -corner[0, 1], -corner[0, 2]
    ux, uy, uz = corner[1, 0] - corner[0, 0], corner[1, 1] - corner[0, 1], corner[1, 2] - corner[0, 2]
    if corners == 2:
        # Across the line, along the coordinate axis that it follows least.
        px, py, pz = abs(ux), abs(uy), abs(uz)
        if px <= py and px <= pz:
            return 0.0, uz, -uy
        if py <= pz:
            return -uz, 0.0, ux
        return uy, -ux, 0.0
    vx, vy, vz = corner[2, 0] - corner[0, 0], corner[2, 1] - corner[0, 1], corner[2, 2] - corner[0, 2]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


@subkernel
def first_faces(expansion):
    """Faces of the first tetrahedron, turned outwards; returns how many, 0 if its corners lie in a plane."""
    for row in range(4):
        i, j, k = (row + 1) % 4, (row + 2) % 4, (row + 3) % 4
        set_face(expansion, row, i, j, k)
        inner = -expansion.distance[row]
        for axis in range(3):
            inner += expansion.normal[row, axis] * expansion.corner.point[row, axis]
        if inner == 0.0:
            return 0
        if inner > 0.0:
            set_face(expansion, row, i, k, j)
    return 4


@subkernel
def set_face(expansion, row, i, j, k):
    """Write a face of three corners, counterclockwise seen from outside. One without area is never the nearest."""
    corner, normal, face_corners = expansion.corner.point, expansion.normal[row], expansion.face_corners[row]
    px, py, pz = corner[i, 0], corner[i, 1], corner[i, 2]
    ux, uy, uz = corner[j, 0] - px, corner[j, 1] - py, corner[j, 2] - pz
    vx, vy, vz = corner[k, 0] - px, corner[k, 1] - py, corner[k, 2] - pz
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = (nx * nx + ny * ny + nz * nz) ** 0.5
    expansion.distance[row] = INFINITE
    normal[0], normal[1], normal[2] = 0.0, 0.0, 0.0
    if length > 0.0:
        normal[0], normal[1], normal[2] = nx / length, ny / length, nz / length
        expansion.distance[row] = normal[0] * px + normal[1] * py + normal[2] * pz
    face_corners[0], face_corners[1], face_corners[2] = i, j, k


@subkernel
def grow(expansion, faces, fresh, visible):
    """Put a corner on the polytope: faces that see it give way to those between it and the hole's rim.

    Returns
    -------
    int
        Faces; 0 if none sees it, or if there is no room.
    """
    corner, normal, distance = expansion.corner.point, expansion.normal, expansion.distance
    face_corners, rim = expansion.face_corners, expansion.rim
    x, y, z = corner[fresh, 0], corner[fresh, 1], corner[fresh, 2]
    edges = 0
    row = 0
    while row < faces:
        if normal[row, 0] * x + normal[row, 1] * y + normal[row, 2] * z - distance[row] <= visible:
            row += 1
            continue
        for side in range(3):
            tail, head = face_corners[row, side], face_corners[row, (side + 1) % 3]
            edges = add_edge(rim, edges, tail, head)
            if edges == len(rim):
                return 0
        faces -= 1
        distance[row] = distance[faces]
        for i in range(3):
            normal[row, i], face_corners[row, i] = normal[faces, i], face_corners[faces, i]
    if edges == 0 or faces + edges > len(distance):
        return 0
    for edge in range(edges):
        set_face(expansion, faces, rim[edge, 0], rim[edge, 1], fresh)
        faces += 1
    return faces


@subkernel
def add_edge(rim, edges, tail, head):
    """Add a directed edge of the hole; one that is there the other way round lies inside, and goes."""
    for edge in range(edges):
        if rim[edge, 0] == head and rim[edge, 1] == tail:
            rim[edge, 0], rim[edge, 1] = rim[edges - 1, 0], rim[edges - 1, 1]
            return edges - 1
    rim[edges, 0], rim[edges, 1] = tail, head
    return edges + 1
