"""Corners that lie over one triangle of a mesh and slide onto the next one, where the surface is hollow.

A triangle's face gives contacts of what lies over it. A corner that slides down into a crease is not over the triangle
on its other side yet, and would be found there only once it is in it: by its path times the sine of the bend. So it may
not pass that triangle's plane either. That is the surface's law, and not only the plane's, as the mesh under the corner
is above that plane too: to get below it, the corner would have to leave what is under it in another direction.

Of a round shape the point that lies over one triangle is not the one that meets the next. What rolls into a crease is
lowest there elsewhere on the same circle about its axis (of a ball: on it), and that point is held.
"""

from ...compiled.kernel import subkernel
from ..data.mesh_tables import CONTACT_ROWS
from ..data.workspace import CAPSULE, CONE, POSITION, has_axis, is_round
from ..distance.closest_points import RATIO_TOUCHING, into_frame
from ..distance.round_support import rounding
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
    fresh, is_curved = count, is_round(pair.other.kind)
    for place in range(listed):
        triangle, side = tables.candidate.listed[place], tables.candidate.pushes_to[place]
        base = triangles[triangle, 0]
        nx, ny, nz = side * normals[triangle, 0], side * normals[triangle, 1], side * normals[triangle, 2]
        offset = nx * mesh.vertices[base, 0] + ny * mesh.vertices[base, 1] + nz * mesh.vertices[base, 2]
        farthest = pair.slack + closing(probe, nx, ny, nz)
        is_seen = False
        for row in range(count):
            on_mesh, normal = contact.on_mesh[row], contact.normal[row]
            x, y, z = contact.on_other[row, 0], contact.on_other[row, 1], contact.on_other[row, 2]
            if is_curved:
                x, y, z = lowest_on_circle(pair.other, scratch.pose, (x, y, z), (nx, ny, nz))
            gap = nx * x + ny * y + nz * z - offset
            # In a crease what is not over a triangle is nearer to the other.
            if gap > farthest or gap < contact.gap[row] - touching or fresh == CONTACT_ROWS:
                continue
            foot = x - gap * nx, y - gap * ny, z - gap * nz
            # The mesh under the point, over the triangle's plane; and that plane is in the mesh there.
            height = nx * on_mesh[0] + ny * on_mesh[1] + nz * on_mesh[2] - offset
            cosine = nx * normal[0] + ny * normal[1] + nz * normal[2]
            sunk = 0.0
            for i in range(3):
                sunk += normal[i] * (on_mesh[i] - foot[i])
            if height < 0.0 or sunk < -touching or cosine > 1.0 - COSINE_SAME_CONTACT:
                continue
            beside = contact.triangle[row]
            if not (share_corner(triangles, triangle, beside) and is_over_face(normals, beside, normal)):
                continue
            if not rises(mesh, triangle, normal, on_mesh, RATIO_OVER * pair.size):
                continue
            if not may_come_over(mesh, pair, triangle, side, (nx, ny, nz), (x, y, z), probe):
                continue
            if not is_seen:
                if where_it_lies(mesh, tables, triangle, side, scratch.pose.b_in_a, pair.size) == BEHIND:
                    break
                is_seen = True
            fresh = keep_contact(contact, fresh, triangle, foot, (x, y, z), gap, (nx, ny, nz))
    return fresh


@subkernel
def lowest_on_circle(shape, pose, point, normal):
    """What of a round shape lies lowest along a normal, on the circle about its axis that a point of it is on.

    Parameters
    ----------
    shape : PairShape
        (read)
    pose : PairPoses
        It is shape b, the mesh a (read).
    point, normal : tuple of 3 float
        In the mesh's frame.

    Returns
    -------
    x, y, z : float
        In the mesh's frame [m].
    """
    r, parameters = pose.b_in_a, shape.parameters
    p, q, s = into_frame(r, -normal[0], -normal[1], -normal[2])
    u, v, w = 0.0, 0.0, 0.0
    if has_axis(shape.kind):
        half = parameters[1]
        for i in range(3):
            w += r[i, 2] * (point[i] - r[POSITION, i])
        w = min(max(w, -half), half)
        across = (p * p + q * q) ** 0.5
        if shape.kind != CAPSULE and across > 0.0:
            # A cone's circles shrink towards its apex.
            radius = parameters[0] * (0.5 * (half - w) / half if shape.kind == CONE else 1.0)
            u, v = radius * p / across, radius * q / across
    radius = rounding(shape)
    u, v, w = u + radius * p, v + radius * q, w + radius * s
    return (
        r[POSITION, 0] + r[0, 0] * u + r[0, 1] * v + r[0, 2] * w,
        r[POSITION, 1] + r[1, 0] * u + r[1, 1] * v + r[1, 2] * w,
        r[POSITION, 2] + r[2, 0] * u + r[2, 1] * v + r[2, 2] * w,
    )


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
def rises(mesh, triangle, normal, base, least):
    """Whether a corner of a triangle is higher than a point along a normal: beside a sharp edge nothing is hollow."""
    found = False
    for corner in range(3):
        height, at = 0.0, mesh.triangles[triangle, corner]
        for i in range(3):
            height += normal[i] * (mesh.vertices[at, i] - base[i])
        found = found or height > least
    return found


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
