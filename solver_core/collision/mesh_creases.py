"""Corners that lie over one triangle of a mesh and slide onto the next one, where the surface is hollow.

A triangle's face gives contacts of what lies over it. A corner that slides down into a crease is not over the triangle
on its other side yet, and would be found there only once it is in it: by its way times the sine of the bend. So it may
not pass that triangle's plane either. That is the surface's law, and not only the plane's, as the mesh under the corner
is above that plane too: to get below it, the corner would have to leave what is under it another way.
"""

from ..kernel import subkernel
from .closest_points import RATIO_TOUCHING
from .mesh_features import BEHIND, where_it_lies
from .mesh_manifold import COSINE_SAME_CONTACT, keep_contact
from .mesh_tables import (
    CONTACT_ROWS,
    LISTED,
    NEW_PATH,
    ON_MESH,
    ON_OTHER,
    OUTWARDS,
    PATH,
    PUSHES_TO,
    TRIANGLE,
)
from .workspace import B_IN_A, GAP

# What lies over a triangle, and farther within its sides than this share of the smaller shape's size, has contacts with
# it already.
RATIO_OVER = 1e-6


@subkernel
def hold_over_creases(
    vertices, triangles, normals, candidate, listed, held, size, slack, probe, scratch, contact, count
):
    """Add contacts of the points that there are with triangles beside the ones that they lie over.

    Parameters
    ----------
    vertices, triangles, normals : arrays of one mesh
        (read)
    candidate : int64 [4, any]
        The first ``listed`` triangles and the sides to which they push (read).
    listed, held : int
    size : float
        Of the smaller shape [m].
    slack : float
        How far the other shape may come beside its path [m].
    probe : float64 [any, 3]
        Paths, and what tells on which side of a triangle the other shape is (read).
    scratch : PairScratch
        The relative pose (read).
    contact : float64 [CONTACT_ROWS, CONTACT_COLUMNS]
        (written)
    count : int

    Returns
    -------
    int
        Contacts there are then.
    """
    fresh = count
    for place in range(listed):
        triangle, side = candidate[LISTED, place], candidate[PUSHES_TO, place]
        base = triangles[triangle, 0]
        nx, ny, nz = side * normals[triangle, 0], side * normals[triangle, 1], side * normals[triangle, 2]
        offset = nx * vertices[base, 0] + ny * vertices[base, 1] + nz * vertices[base, 2]
        farthest = slack + closing(probe, nx, ny, nz)
        is_seen = False
        for row in range(count):
            here = contact[row]
            gap = nx * here[ON_OTHER] + ny * here[ON_OTHER + 1] + nz * here[ON_OTHER + 2] - offset
            # In a crease what is not over a triangle is nearer to the other.
            if gap > farthest or gap < here[GAP] - RATIO_TOUCHING * size or fresh == CONTACT_ROWS:
                continue
            # The mesh under the point, over the triangle's plane.
            height = nx * here[ON_MESH] + ny * here[ON_MESH + 1] + nz * here[ON_MESH + 2] - offset
            cosine = nx * here[OUTWARDS] + ny * here[OUTWARDS + 1] + nz * here[OUTWARDS + 2]
            if height < 0.0 or cosine > 1.0 - COSINE_SAME_CONTACT:
                continue
            beside = int(here[TRIANGLE])
            if not (share_corner(triangles, triangle, beside) and is_over_face(normals, beside, here)):
                continue
            x, y, z = here[ON_OTHER], here[ON_OTHER + 1], here[ON_OTHER + 2]
            if not may_come_over(vertices, triangles, triangle, side, nx, ny, nz, x, y, z, size, slack, probe):
                continue
            if not is_seen:
                where = where_it_lies(
                    vertices, triangles, normals, triangle, side, probe, scratch.pose[B_IN_A], held, size
                )
                if where == BEHIND:
                    break
                is_seen = True
            fresh = keep_contact(
                contact, fresh, triangle, x - gap * nx, y - gap * ny, z - gap * nz, x, y, z, gap, nx, ny, nz
            )
    return fresh


@subkernel
def closing(probe, nx, ny, nz):
    """How far the other shape may come along its paths against a direction [m]."""
    way = 0.0
    for path in (PATH, NEW_PATH):
        way = max(way, -(nx * probe[path, 0] + ny * probe[path, 1] + nz * probe[path, 2]))
    return way


@subkernel
def is_over_face(normals, triangle, row):
    """Whether a contact is one of its triangle's face, and not of an edge or corner."""
    cosine = 0.0
    for i in range(3):
        cosine += normals[triangle, i] * row[OUTWARDS + i]
    return abs(cosine) > 1.0 - COSINE_SAME_CONTACT


@subkernel
def share_corner(triangles, one, two):
    """Whether two different triangles have a corner in common."""
    if one == two:
        return False
    for i in range(3):
        for j in range(3):
            if triangles[one, i] == triangles[two, j]:
                return True
    return False


@subkernel
def may_come_over(vertices, triangles, triangle, side, nx, ny, nz, x, y, z, size, slack, probe):
    """Whether a point that is not over a triangle may come over it: it may go as far as it is beyond each side."""
    is_within = True
    for edge in range(3):
        tail, head = triangles[triangle, edge], triangles[triangle, (edge + 1) % 3]
        ex = side * (vertices[head, 0] - vertices[tail, 0])
        ey = side * (vertices[head, 1] - vertices[tail, 1])
        ez = side * (vertices[head, 2] - vertices[tail, 2])
        # Out of the triangle, in its plane.
        ux, uy, uz = ey * nz - ez * ny, ez * nx - ex * nz, ex * ny - ey * nx
        length = (ux * ux + uy * uy + uz * uz) ** 0.5
        if length == 0.0:
            return False
        ux, uy, uz = ux / length, uy / length, uz / length
        beyond = ux * (x - vertices[tail, 0]) + uy * (y - vertices[tail, 1]) + uz * (z - vertices[tail, 2])
        if beyond > slack + closing(probe, ux, uy, uz):
            return False
        is_within = is_within and beyond < -RATIO_OVER * size
    return not is_within
