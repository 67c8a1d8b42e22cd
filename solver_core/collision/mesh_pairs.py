"""A mesh in the narrow phase: what its contacts are asked with, and how they get into the step's buffers."""

import numpy as np

from ..contacts import CONTACT_COUNT, CURVED, DRIFT_COLUMNS, FEATURE, PARTED
from ..kernel import subkernel
from .contact_buffers import link_contacts
from .mesh_contacts import bound_path, mesh_contacts
from .mesh_inside import is_behind, touches_any
from .mesh_motion import surface_velocity
from .mesh_tables import (
    CENTER,
    HELD,
    MASS_CENTER,
    MOST_HELD,
    ON_MESH,
    ON_OTHER,
    OUTWARDS,
    WAY,
)
from .mesh_tree import arrays_of_mesh, list_triangles
from .workspace import (
    A_IN_B,
    B_IN_A,
    CAPSULE,
    CONE,
    FACE_OF_A,
    FACE_OF_B,
    GAP,
    NO_CONTACT,
    POSITION,
    RATIO_MARGIN,
    SPHERE,
)

# Values of the column FEATURE for a mesh: whether closed parts push outwards, or hold a body that is within them.
OUTSIDE = 0
INSIDE = 1


@subkernel
def mesh_pair_contacts(
    tables,
    polytopes,
    mesh,
    row,
    other,
    kind,
    parameters,
    bounding_radius,
    lever,
    size,
    maximal_points,
    held,
    slack,
    link,
    scratch,
    families,
):
    """Make the contacts of a pair with a mesh.

    Parameters
    ----------
    tables, polytopes, mesh, row, other, kind, lever, size, maximal_points, held, slack, scratch
        As of ``mesh_contacts``; ``scratch.pose`` has the mesh as shape a.
    parameters : float64 [3]
        Of the other shape (read).
    bounding_radius : float
        Of the other shape about its position [m].
    link : int64 [9]
        Of the pair: FEATURE read and written.
    families : table of entries
        Of ``pair_families`` (read).

    Returns
    -------
    int
        Rows of ``tables.contact``.
    """
    if link[FEATURE] < 0:
        within = is_within(tables, mesh, polytopes, row, other, kind, parameters, bounding_radius, size, scratch)
        link[FEATURE] = INSIDE if within else OUTSIDE
    side = -1 if link[FEATURE] == INSIDE else 1
    radius = 0.0
    if kind == SPHERE:
        radius = parameters[0]
    elif CAPSULE <= kind <= CONE:
        radius = bounding_radius
    return mesh_contacts(
        tables,
        mesh,
        polytopes,
        row,
        other,
        kind,
        parameters,
        radius,
        lever,
        size,
        slack,
        maximal_points,
        held,
        side,
        scratch,
        families,
    )


@subkernel
def is_within(tables, mesh, polytopes, row, other, kind, parameters, radius, size, scratch):
    """Whether a shape lies wholly within a closed part: then the part is a room for it, and pushes inwards."""
    candidate, probe = tables.candidate, tables.probe
    vertices, triangles, normals, nodes, boxes = arrays_of_mesh(tables, mesh)
    behind, _, distance = is_behind(vertices, triangles, normals, nodes, boxes, candidate, probe, np.int64(1), size)
    if not behind or distance > radius:
        return behind
    if kind == SPHERE:
        return False
    bound_path(polytopes.bounds[other], radius if CAPSULE <= kind <= CONE else 0.0, 0.0, scratch.pose[B_IN_A], probe)
    listed = list_triangles(vertices, triangles, nodes, boxes, probe, candidate)
    return not touches_any(
        vertices, triangles, normals, candidate, listed, polytopes, row, other, kind, parameters, size, probe, scratch
    )


@subkernel
def set_path(velocity, mesh_body, other_body, body_pose, mesh_pose, other_pose, h, size, step):
    """Write the other shape's path in this substep, seen from the mesh and in its frame; return its length [m].

    A path within the margin in which contacts are looked for anyway is none.
    """
    length = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        along = velocity[other_body, i] - velocity[mesh_body, i]
        along += velocity[other_body, 3 + j] * (other_pose[POSITION, k] - body_pose[other_body, POSITION, k])
        along -= velocity[other_body, 3 + k] * (other_pose[POSITION, j] - body_pose[other_body, POSITION, j])
        along -= velocity[mesh_body, 3 + j] * (other_pose[POSITION, k] - body_pose[mesh_body, POSITION, k])
        along += velocity[mesh_body, 3 + k] * (other_pose[POSITION, j] - body_pose[mesh_body, POSITION, j])
        step[i] = h * along
        length += step[i] * step[i]
    length = length**0.5
    if length <= RATIO_MARGIN * size:
        step[0], step[1], step[2] = 0.0, 0.0, 0.0
        return 0.0
    x, y, z = step[0], step[1], step[2]
    for i in range(3):
        step[i] = mesh_pose[0, i] * x + mesh_pose[1, i] * y + mesh_pose[2, i] * z
    return length


@subkernel
def set_centers(shape_pose, body_pose, mesh_pose, probe):
    """Write the centre of the other shape and the centre of mass of its body, in the mesh's frame."""
    for i in range(3):
        center, mass_center = 0.0, 0.0
        for j in range(3):
            center += mesh_pose[j, i] * (shape_pose[POSITION, j] - mesh_pose[POSITION, j])
            mass_center += mesh_pose[j, i] * (body_pose[POSITION, j] - mesh_pose[POSITION, j])
        probe[CENTER, i], probe[MASS_CENTER, i] = center, mass_center


@subkernel
def hold_normals(first, count, local_normal, sign, local_pose, probe):
    """Write the normals of the pair's earlier contacts, out of the mesh and in its frame; return how many."""
    count = min(count, MOST_HELD)
    for place in range(count):
        normal = local_normal[first + place]
        for i in range(3):
            along = local_pose[0, i] * normal[0] + local_pose[1, i] * normal[1] + local_pose[2, i] * normal[2]
            probe[HELD + place, i] = sign * along
    return np.int64(count)


@subkernel
def exchange_poses(pose):
    """Turn the relative poses of a and b into those of b and a."""
    for i in range(4):
        for j in range(3):
            pose[A_IN_B, i, j], pose[B_IN_A, i, j] = pose[B_IN_A, i, j], pose[A_IN_B, i, j]


@subkernel
def append_mesh_contacts(
    meshes, number, body_of, local_pose, mesh_pose, pose, pairs, pair, is_b, count, joins, contacts
):
    """Write a mesh's contacts behind the contacts there are; beyond the capacity they are only counted.

    Parameters
    ----------
    meshes : MeshTables
        (read)
    number : int
        The mesh's.
    body_of, local_pose
        As in ``CollisionWorkspace`` (read).
    mesh_pose : float64 [4, 3]
        World pose of the mesh, where the contacts were made (read).
    pose : float64 [2, 4, 3]
        Relative poses; the mesh is a (read).
    pairs, contacts
        (written)
    pair : int
    is_b : bool
        Whether the mesh is the pair's shape b.
    count : int
        Rows of ``meshes.contact``.
    joins : bool
        Whether they join the pair's contacts, and do not replace them.
    """
    link, table = pairs.link[pair], meshes.contact
    first = contacts.count[0]
    contacts.needed[0] += count
    if not joins:
        # The normals turn with the mesh.
        holds = FACE_OF_B if is_b else FACE_OF_A
        link_contacts(link, first, holds if count > 0 else NO_CONTACT, link[FEATURE], link[CURVED])
    if contacts.needed[0] > len(contacts.gap) or count == 0:
        return
    link[CONTACT_COUNT] += count
    contacts.count[0] += count
    a, b = pairs.shape_a[pair], pairs.shape_b[pair]
    mesh, other = (b, a) if is_b else (a, b)
    sign = -1.0 if is_b else 1.0
    for contact in range(first, first + count):
        row = table[contact - first]
        contacts.shape_a[contact] = a
        contacts.shape_b[contact] = b
        contacts.body_a[contact] = body_of[a]
        contacts.body_b[contact] = body_of[b]
        contacts.gap[contact] = row[GAP]
        contacts.matched[contact] = -1
        on_mesh = contacts.local_b[contact] if is_b else contacts.local_a[contact]
        on_other = contacts.local_a[contact] if is_b else contacts.local_b[contact]
        place(local_pose[mesh], row[ON_MESH], row[ON_MESH + 1], row[ON_MESH + 2], on_mesh)
        place(pose[A_IN_B], row[ON_OTHER], row[ON_OTHER + 1], row[ON_OTHER + 2], on_other)
        place(local_pose[other], on_other[0], on_other[1], on_other[2], on_other)
        x = 0.5 * (row[ON_MESH] + row[ON_OTHER])
        y = 0.5 * (row[ON_MESH + 1] + row[ON_OTHER + 1])
        z = 0.5 * (row[ON_MESH + 2] + row[ON_OTHER + 2])
        place(mesh_pose, x, y, z, contacts.position[contact])
        x, y, z = sign * row[OUTWARDS], sign * row[OUTWARDS + 1], sign * row[OUTWARDS + 2]
        turn(local_pose[mesh], x, y, z, contacts.local_normal[contact])
        turn(mesh_pose, x, y, z, contacts.normal[contact])
        for column in range(DRIFT_COLUMNS):
            contacts.drift[contact, column] = 0.0
        x, y, z = surface_velocity(meshes.start, number, meshes.vertex, meshes.triangle, row)
        turn(mesh_pose, -sign * x, -sign * y, -sign * z, contacts.drift[contact])
        x, y, z = row[WAY], row[WAY + 1], row[WAY + 2]
        turn(mesh_pose, -sign * x, -sign * y, -sign * z, contacts.drift[contact, PARTED:])


@subkernel
def place(pose, x, y, z, result):
    """A point of the frame that ``pose`` places, in the outer frame."""
    for i in range(3):
        result[i] = pose[POSITION, i] + pose[i, 0] * x + pose[i, 1] * y + pose[i, 2] * z


@subkernel
def turn(pose, x, y, z, result):
    """A direction of the frame that ``pose`` places, in the outer frame."""
    for i in range(3):
        result[i] = pose[i, 0] * x + pose[i, 1] * y + pose[i, 2] * z
