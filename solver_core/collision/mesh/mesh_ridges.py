"""Ends of a mesh's edge under a face of a box or hull that lies nearly along it.

Where a face is tilted against an edge, the closest points are at one end of what of the edge is under the face. A
contact there alone lets the shape turn about it: the other end is found only once it is the deeper one, and the shape
rocks from end to end. So both ends are contacts, as all points of a face manifold are.
"""

import numpy as np

from ...compiled.kernel import subkernel
from ..data.mesh_tables import FLAGS
from ..data.workspace import FACES, VERTICES
from ..manifold.face_manifold import RATIO_CLIP, height_above, most_opposed_face, place_face, placed_normal, side_plane
from ..manifold.polytope_contacts import COSINE_SAME_FACE, RATIO_SAME_CONTACT
from .mesh_features import FIRST_EDGE, can_push, edge_pushes


@subkernel
def pushes_along(vertices, triangles, normals, triangle, feature, edge, side, dx, dy, dz):
    """Whether an edge of a triangle pushes about along the direction d, in which ``feature`` of it does."""
    if feature >= FIRST_EDGE:
        return feature - FIRST_EDGE == edge
    if feature not in (edge, (edge + 1) % 3) or not edge_pushes(triangles[triangle, FLAGS], edge, side):
        return False
    tail, head = triangles[triangle, edge], triangles[triangle, (edge + 1) % 3]
    x, y, z = (
        vertices[head, 0] - vertices[tail, 0],
        vertices[head, 1] - vertices[tail, 1],
        vertices[head, 2] - vertices[tail, 2],
    )
    # The edge's own directions are across it.
    share = (dx * x + dy * y + dz * z) / (x * x + y * y + z * z)
    dx, dy, dz = dx - share * x, dy - share * y, dz - share * z
    return can_push(vertices, triangles, normals, triangle, FIRST_EDGE + edge, dx, dy, dz, side)


@subkernel
def add_ends(polytopes, row, other, edge, size, scratch, count):
    """Add the ends of what of an edge is under a face that lies nearly along it; return how many contacts there are.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    row, other : int
        The triangle, and the box or hull.
    edge : int
        Of the triangle in the mesh's row.
    size : float
        Of the smaller shape [m].
    scratch : PairScratch
        The relative pose and the normal (read); ``manifold`` (written): the first one is that of the closest points.
    count : int
        Contacts there are.
    """
    pose, manifold, axes = scratch.pose.b_in_a, scratch.manifold, scratch.axes
    reference = scratch.polygon.reference
    start, plane, vertex = polytopes.start, polytopes.plane, polytopes.vertex
    nx, ny, nz = axes.normal[0], axes.normal[1], axes.normal[2]
    # Not a plain True: Numba would compile what it is passed to once more, for the literal.
    is_b, first = np.bool_(True), start[other, FACES]
    face = most_opposed_face(plane, first, start[other + 1, FACES], nx, ny, nz, is_b, pose)
    fx, fy, fz = placed_normal(plane[first + face], is_b, pose)
    cosine = -(fx * nx + fy * ny + fz * nz)
    if cosine < COSINE_SAME_FACE:
        return count
    sides = place_face(polytopes, other, face, is_b, pose, reference)
    tail, head = start[row, VERTICES] + edge, start[row, VERTICES] + (edge + 1) % 3
    x, y, z = vertex[tail, 0], vertex[tail, 1], vertex[tail, 2]
    along_x, along_y, along_z = vertex[head, 0] - x, vertex[head, 1] - y, vertex[head, 2] - z
    lower, upper = 0.0, 1.0
    for place in range(sides):
        ux, uy, uz, offset = side_plane(reference, place, sides, fx, fy, fz)
        beyond = ux * x + uy * y + uz * z - offset - RATIO_CLIP * size
        outwards = ux * along_x + uy * along_y + uz * along_z
        if outwards > 0.0:
            upper = min(upper, -beyond / outwards)
        elif outwards < 0.0:
            lower = max(lower, -beyond / outwards)
        elif beyond > 0.0:
            return count
    if lower >= upper:
        return count
    for end in range(2):
        share = lower if end == 0 else upper
        px, py, pz = x + share * along_x, y + share * along_y, z + share * along_z
        is_new = True
        for known in range(count):
            square = (px - manifold.point_a[known, 0]) ** 2 + (py - manifold.point_a[known, 1]) ** 2
            square += (pz - manifold.point_a[known, 2]) ** 2
            is_new = is_new and square > (RATIO_SAME_CONTACT * size) ** 2
        if not is_new:
            continue
        # Along the normal to the face's plane. Nothing is nearer than the closest points.
        gap = max(height_above(reference, px, py, pz, fx, fy, fz) / cosine, manifold.gap[0])
        manifold.point_a[count, 0], manifold.point_a[count, 1], manifold.point_a[count, 2] = px, py, pz
        manifold.point_b[count, 0] = px + gap * nx
        manifold.point_b[count, 1] = py + gap * ny
        manifold.point_b[count, 2] = pz + gap * nz
        manifold.gap[count] = gap
        count += 1
    return count
