"""Shapes in a closed part of a mesh: whether it is a room for them, and the way out for those whose centre is inside.

A shape that lies within a closed part when the two first meet, but for what touching costs, is in a room, which pushes
inwards (``mesh_pairs``). Any other shape is pushed out, however deep it has come.

Where its centre is inside, the triangles around may push in any direction, even against each other. So one way out is
chosen for all. Let c be the centre, and p the point of a triangle that is nearest to c; where p lies on an edge or a
corner, it must be locally nearest: the triangles around it do not come nearer. Seen from inside those are faces, seams
of flat areas, and hollow edges and corners. The way leads along n = (p - c) / |p - c|, and the depth along it is

    n . p - min over x in the shape of n . x

which for a ball of radius r is |p - c| + r. The nearest point of all the part is among the p, so there always is a way;
the one of the least depth is taken. Contacts that oppose it (n_k . n < 0) are dropped: moving along it closes none of
the gaps of those left.
"""

from ...compiled.function_tables import call_for_count
from ...compiled.kernel import subkernel
from ..data.mesh_tables import CONTACT_ROWS, FLAGS, SOLID
from ..data.workspace import INFINITE, ROUND_ON_FACE, SPHERE, has_axis
from ..distance.closest_points import RATIO_TOUCHING
from .mesh_features import FACE, can_push, set_triangle, side_of_point
from .mesh_manifold import DROPPED, close_up, keep_contact, keep_points, thin_out
from .mesh_polytopes import face_points
from .mesh_round import lowest_point
from .mesh_tree import closest_on_triangle, nearest_triangle

# Two directions are one, for what is pushed out of a mesh in which it lies deeper than its centre (cosine).
COSINE_ALIKE = 0.999

# Another way out is taken if it is shorter by this share of the smaller shape's size than those before it.
RATIO_SHORTER = 1e-9


@subkernel
def is_behind(mesh, tables, side, size):
    """Whether the other's centre lies on the wrong side of a closed part, which pushes to ``side``, or on its surface.

    Returns
    -------
    is_behind : bool
    row : int
        The triangle nearest to the centre.
    distance : float
        From it [m].
    """
    probe = tables.probe
    x, y, z = probe.center[0], probe.center[1], probe.center[2]
    row, distance = nearest_triangle(
        mesh.vertices, mesh.triangles, mesh.nodes, mesh.boxes, x, y, z, tables.candidate.stack
    )
    if not (mesh.triangles[row, FLAGS] >> SOLID) & 1:
        return False, row, distance
    height = side_of_point(mesh.vertices, mesh.triangles, mesh.normals, row, x, y, z)
    return height * side < 0.0 or distance <= RATIO_TOUCHING * size, row, distance


@subkernel
def push_out(mesh, tables, polytopes, pair, listed, reach, scratch, pair_kernels, count):
    """Where the other's centre lies inside of a closed part, drop what opposes the way out, and add its contacts.

    Parameters
    ----------
    mesh : MeshView
        (read)
    tables : MeshTables
        ``candidate``: the ``listed`` triangles; ``probe``: the other's centre (read). ``contact`` (written).
    polytopes : HullArrays
        Read; the mesh's rows are written.
    pair : MeshPair
        (read)
    listed : int
    reach : float
        Largest gap that makes a contact [m].
    scratch : PairScratch
        Relative poses (read); memory.
    pair_kernels : table of ``pair_dispatch``
        (read)
    count : int
        Contacts so far.

    Returns
    -------
    int
        Contacts.
    """
    triangles, normals, candidate, contact = mesh.triangles, mesh.normals, tables.candidate, tables.contact
    side, size = pair.side, pair.size
    behind, best, _ = is_behind(mesh, tables, side, size)
    if not behind:
        return count
    depth, nx, ny, nz, _ = way_through(mesh, tables, polytopes, pair, best, scratch)
    for place in range(listed):
        triangle = candidate.listed[place]
        if not (triangles[triangle, FLAGS] >> SOLID) & 1 or triangle == best:
            continue
        deep, x, y, z, is_way = way_through(mesh, tables, polytopes, pair, triangle, scratch)
        if is_way and deep < depth - RATIO_SHORTER * size:
            depth, nx, ny, nz, best = deep, x, y, z, triangle
    count = drop_opposing(triangles, contact, count, nx, ny, nz)
    first = count
    if pair.other.kind != SPHERE:
        for place in range(listed):
            triangle = candidate.listed[place]
            cosine = side * (normals[triangle, 0] * nx + normals[triangle, 1] * ny + normals[triangle, 2] * nz)
            if cosine < COSINE_ALIKE or not (triangles[triangle, FLAGS] >> SOLID) & 1:
                continue
            if count > CONTACT_ROWS - 3 * pair.maximal_points:
                count = thin_out(contact, count, pair.maximal_points, size)
                first = 0
            count = add_face(mesh, tables, polytopes, pair, triangle, reach, scratch, pair_kernels, count)
    for known in range(first, count):
        if contact.gap[known] <= RATIO_SHORTER * size - depth:
            return count
    x, y, z = lowest_point(polytopes, pair.other, scratch.pose.b_in_a, nx, ny, nz)
    on_mesh = x + depth * nx, y + depth * ny, z + depth * nz
    return keep_contact(contact, count, best, on_mesh, (x, y, z), -depth, (nx, ny, nz))


@subkernel
def way_through(mesh, tables, polytopes, pair, row, scratch):
    """The way out through the point of a triangle that is nearest to the other's centre.

    Returns
    -------
    depth : float
        [m]
    x, y, z : float
        Unit direction.
    is_way : bool
        Whether the point is locally nearest, and the triangle seen from behind.
    """
    vertices, triangles, normals, probe = mesh.vertices, mesh.triangles, mesh.normals, tables.probe
    side = pair.side
    x, y, z = probe.center[0], probe.center[1], probe.center[2]
    p, q, r, feature = closest_on_triangle(vertices, triangles[row, 0], triangles[row, 1], triangles[row, 2], x, y, z)
    dx, dy, dz = p - x, q - y, r - z
    distance = (dx * dx + dy * dy + dz * dz) ** 0.5
    nx, ny, nz = side * normals[row, 0], side * normals[row, 1], side * normals[row, 2]
    is_way = nx * dx + ny * dy + nz * dz > 0.0
    if feature != FACE and distance > RATIO_TOUCHING * pair.size:
        nx, ny, nz = dx / distance, dy / distance, dz / distance
        # Seen from inside it is the highest point of a mesh that pushes to the other side.
        is_way = is_way and can_push(vertices, triangles, normals, row, feature, -nx, -ny, -nz, -side)
    x, y, z = lowest_point(polytopes, pair.other, scratch.pose.b_in_a, nx, ny, nz)
    return nx * (p - x) + ny * (q - y) + nz * (r - z), nx, ny, nz, is_way


@subkernel
def drop_opposing(triangles, contact, count, nx, ny, nz):
    """Drop the contacts of closed parts that oppose a way out; return how many are left."""
    for row in range(count):
        along = contact.normal[row, 0] * nx + contact.normal[row, 1] * ny + contact.normal[row, 2] * nz
        is_solid = (triangles[contact.triangle[row], FLAGS] >> SOLID) & 1
        contact.group[row] = DROPPED if along < 0.0 and is_solid else 0
    return close_up(contact, count)


@subkernel
def add_face(mesh, tables, polytopes, pair, triangle, reach, scratch, pair_kernels, count):
    """Add the points of a shape over a triangle's face; return how many contacts there are."""
    contact = tables.contact
    set_triangle(mesh, polytopes, pair.row, triangle, pair.side, tables.probe)
    if has_axis(pair.other.kind):
        points = call_for_count(pair_kernels, ROUND_ON_FACE, polytopes, pair, reach, scratch)
        return keep_points(contact, count, triangle, points, -INFINITE, INFINITE, scratch)
    points = face_points(polytopes, pair, mesh.triangles[triangle, FLAGS], pair.side, reach, scratch)
    return keep_points(contact, count, triangle, points, -INFINITE, reach, scratch)
