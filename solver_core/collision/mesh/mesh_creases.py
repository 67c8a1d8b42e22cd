"""Corners that lie over one triangle of a mesh and slide onto the next one, where the surface is hollow.

A triangle's face gives contacts of what lies over it. A corner that slides down into a crease is not over the triangle
on its other side yet, and would be found there only once it is in it: by its path times the sine of the bend. So it may
not pass that triangle's plane either. That is the surface's law, and not only the plane's, as the mesh under the corner
is above that plane too: to get below it, the corner would have to leave what is under it in another direction.
"""

from ...compiled.kernel import subkernel
from ..data.mesh_tables import CONTACT_ROWS
from ..distance.closest_points import RATIO_TOUCHING
from .mesh_features import BEHIND, where_it_lies
from .mesh_manifold import COSINE_SAME_CONTACT, keep_contact

# What lies over a triangle, and farther within its sides than this share of the smaller shape's size, has contacts with
# it already.
RATIO_OVER = 1e-6


@subkernel
def hold_over_creases(mesh, tables, pair, listed, scratch, count):
    """Add contacts of the points that there are with triangles beside the ones that they lie over.

    Parameters
    ----------
    mesh : MeshView
        (read)
    tables : MeshTables
        ``candidate``: the first ``listed`` triangles and the sides to which they push; ``probe``: paths, and what tells
        on which side of a triangle the other shape is (read). ``contact`` (written).
    pair : MeshPair
        (read)
    listed : int
    scratch : PairScratch
        The relative pose (read).
    count : int
        Contacts.

    Returns
    -------
    int
        Contacts there are then.
    """
    triangles, normals, contact, probe = mesh.triangles, mesh.normals, tables.contact, tables.probe
    touching = RATIO_TOUCHING * pair.size
    fresh = count
    for place in range(listed):
        triangle, side = tables.candidate.listed[place], tables.candidate.pushes_to[place]
        base = triangles[triangle, 0]
        nx, ny, nz = side * normals[triangle, 0], side * normals[triangle, 1], side * normals[triangle, 2]
        offset = nx * mesh.vertices[base, 0] + ny * mesh.vertices[base, 1] + nz * mesh.vertices[base, 2]
        farthest = pair.slack + closing(probe, nx, ny, nz)
        is_seen = False
        for row in range(count):
            on_mesh, on_other, normal = contact.on_mesh[row], contact.on_other[row], contact.normal[row]
            gap = nx * on_other[0] + ny * on_other[1] + nz * on_other[2] - offset
            # In a crease what is not over a triangle is nearer to the other.
            if gap > farthest or gap < contact.gap[row] - touching or fresh == CONTACT_ROWS:
                continue
            # The mesh under the point, over the triangle's plane.
            height = nx * on_mesh[0] + ny * on_mesh[1] + nz * on_mesh[2] - offset
            cosine = nx * normal[0] + ny * normal[1] + nz * normal[2]
            if height < 0.0 or cosine > 1.0 - COSINE_SAME_CONTACT:
                continue
            beside = contact.triangle[row]
            if not (share_corner(triangles, triangle, beside) and is_over_face(normals, beside, normal)):
                continue
            x, y, z = on_other[0], on_other[1], on_other[2]
            if not may_come_over(mesh, pair, triangle, side, (nx, ny, nz), (x, y, z), probe):
                continue
            if not is_seen:
                if where_it_lies(mesh, tables, triangle, side, scratch.pose.b_in_a, pair.size) == BEHIND:
                    break
                is_seen = True
            foot = x - gap * nx, y - gap * ny, z - gap * nz
            fresh = keep_contact(contact, fresh, triangle, foot, (x, y, z), gap, (nx, ny, nz))
    return fresh


@subkernel
def closing(probe, nx, ny, nz):
    """How far the other shape may come along its paths against a direction [m]."""
    length = 0.0
    for path in (probe.path, probe.new_path):
        length = max(length, -(nx * path[0] + ny * path[1] + nz * path[2]))
    return length


@subkernel
def is_over_face(normals, triangle, normal):
    """Whether a contact's normal is that of its triangle's face, and not of an edge or corner."""
    cosine = 0.0
    for i in range(3):
        cosine += normals[triangle, i] * normal[i]
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
def may_come_over(mesh, pair, triangle, side, normal, point, probe):
    """Whether a point that is not over a triangle may come over it: it may go as far as it is beyond each side."""
    vertices, triangles, nx, ny, nz = mesh.vertices, mesh.triangles, normal[0], normal[1], normal[2]
    x, y, z = point
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
        if beyond > pair.slack + closing(probe, ux, uy, uz):
            return False
        is_within = is_within and beyond < -RATIO_OVER * pair.size
    return not is_within
