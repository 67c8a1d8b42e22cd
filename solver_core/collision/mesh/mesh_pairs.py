"""A mesh in the narrow phase: what its contacts are asked with, and how they get into the step's buffers."""

import math

import numpy as np

from ...compiled.kernel import subkernel
from ..data.contact_buffers import start_contacts
from ..data.mesh_tables import MOST_HELD
from ..data.workspace import (
    FACE_OF_A,
    FACE_OF_B,
    NO_CONTACT,
    POSITION,
    SPHERE,
)
from .mesh_contacts import bound_path, mesh_contacts
from .mesh_deep import touches_any
from .mesh_inside import is_behind
from .mesh_motion import surface_velocity
from .mesh_query import MeshPair, ball_radius, first_row, view_of_mesh
from .mesh_tree import list_triangles

# What a shape within a closed part may reach out of it when the two first meet (share of the smaller shape's size):
# marbles that stand on the floor of their box touch it, to the precision of those who place them.
RATIO_OUT_OF_ROOM = 0.05

# Values of PairArrays.feature for a mesh: whether closed parts push outwards, or hold a body that is within them.
OUTSIDE = 0
INSIDE = 1


@subkernel
def mesh_pair_contacts(tables, polytopes, mesh, other, size, reach, maximal_points, feature, scratch, pair_kernels):
    """Make the contacts of a pair with a mesh.

    Parameters
    ----------
    tables : MeshTables
        Read, and written: the contacts. ``probe`` holds the other shape's paths, its centres and the last contacts'
        normals, and how many these are.
    polytopes : HullArrays
        Read; the mesh's two rows are written.
    mesh : int
    other : PairShape
        The other shape (read).
    size : float
        Of the smaller shape [m].
    reach : float
        Largest gap that makes a contact for a shape that does not move along its path [m].
    maximal_points : int
    feature : int
        Of the last contacts: OUTSIDE or INSIDE; -1 if there is no knowing.
    scratch : PairScratch
        Relative poses, the mesh being shape a (read); memory; ``feature.origin_feature``: OUTSIDE or INSIDE (written).
    pair_kernels : table of ``pair_dispatch``
        (read)

    Returns
    -------
    int
        Rows of ``tables.contact``.
    """
    row, outwards = first_row(tables, polytopes, mesh), np.int64(1)
    outside = MeshPair(row, other, size, reach, maximal_points, outwards)
    inside = MeshPair(row, other, size, reach, maximal_points, -outwards)
    if feature < 0:
        is_inside = is_within(tables, mesh, polytopes, outside, inside, scratch, pair_kernels)
        feature = INSIDE if is_inside else OUTSIDE
    pair = inside if feature == INSIDE else outside
    count = mesh_contacts(tables, mesh, polytopes, pair, scratch, pair_kernels)
    scratch.feature.origin_feature[0] = feature
    return count


@subkernel
def is_within(tables, number, polytopes, outside, inside, scratch, pair_kernels):
    """Whether a shape lies within a closed part: then the part is a room for it, and pushes inwards.

    It does where it touches nothing, or as in a room no deeper than RATIO_OUT_OF_ROOM.
    """
    mesh, other, probe = view_of_mesh(tables, number), outside.other, tables.probe
    most = RATIO_OUT_OF_ROOM * outside.size
    behind, _, distance = is_behind(mesh, tables, outside.side, outside.size)
    if not behind or distance > other.bounding_radius:
        return behind
    if other.kind == SPHERE:
        return distance >= other.parameters[0] - most
    if distance <= most:
        return False
    bound_path(polytopes.bounds[other.polytope], ball_radius(other), 0.0, scratch.pose.b_in_a, probe)
    listed = list_triangles(mesh.vertices, mesh.triangles, mesh.nodes, mesh.boxes, probe, tables.candidate)
    if not touches_any(mesh, tables, polytopes, outside, listed, scratch):
        return True
    count = mesh_contacts(tables, number, polytopes, inside, scratch, pair_kernels)
    for row in range(count):
        if tables.contact.gap[row] < -most:
            return False
    return count > 0


@subkernel
def set_path(of_mesh, of_other, mesh_body_pose, other_body_pose, mesh_pose, other_pose, h, least, step):
    """Write the other shape's path in this substep, seen from the mesh and in its frame; return its length [m].

    ``of_mesh`` and ``of_other`` are the velocities of the bodies. A path no longer than ``least`` [m] counts as none.
    """
    length = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        along = of_other[i] - of_mesh[i]
        along += of_other[3 + j] * (other_pose[POSITION, k] - other_body_pose[POSITION, k])
        along -= of_other[3 + k] * (other_pose[POSITION, j] - other_body_pose[POSITION, j])
        along -= of_mesh[3 + j] * (other_pose[POSITION, k] - mesh_body_pose[POSITION, k])
        along += of_mesh[3 + k] * (other_pose[POSITION, j] - mesh_body_pose[POSITION, j])
        step[i] = h * along
        length += step[i] * step[i]
    length = length**0.5
    if length <= least:
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
        probe.center[i], probe.mass_center[i] = center, mass_center


@subkernel
def hold_contacts(first, count, local_normal, local_point, sign, local_pose, tables):
    """Write the pair's earlier contacts to the probe, in the mesh's frame.

    Parameters
    ----------
    first, count : int
        These contacts.
    local_normal, local_point : float64 [C, 3]
        In the frame of the mesh's body; the points on the mesh (read).
    sign : float
        1 if the normals lead out of the mesh, else -1.
    local_pose : float64 [4, 3]
        Of the mesh in its body's frame (read).
    tables : MeshTables
        ``probe.held``, ``held_point`` and ``held_count`` are written.
    """
    count, probe = min(count, MOST_HELD), tables.probe
    for place in range(count):
        normal, point = local_normal[first + place], local_point[first + place]
        for i in range(3):
            along, at = 0.0, 0.0
            for j in range(3):
                along += local_pose[j, i] * normal[j]
                at += local_pose[j, i] * (point[j] - local_pose[POSITION, j])
            probe.held[place, i], probe.held_point[place, i] = sign * along, at
    probe.held_count[0] = count


@subkernel
def exchange_poses(pose):
    """Turn the relative poses of a and b into those of b and a."""
    for i in range(4):
        for j in range(3):
            pose.a_in_b[i, j], pose.b_in_a[i, j] = pose.b_in_a[i, j], pose.a_in_b[i, j]


@subkernel
def append_mesh_contacts(
    meshes, number, body_of, local_pose, mesh_pose, pose, pairs, pair_number, is_b, count, joins, contacts
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
    pose : PairPoses
        Relative poses; the mesh is a (read).
    pairs, contacts
        (written)
    pair_number : int
    is_b : bool
        Whether the mesh is the pair's shape b.
    count : int
        Rows of ``meshes.contact``.
    joins : bool
        Whether they join the pair's contacts, and do not replace them.
    """
    table = meshes.contact
    first = contacts.count[0]
    contacts.needed[0] += count
    if not joins:
        # The normals turn with the mesh.
        holds = FACE_OF_B if is_b else FACE_OF_A
        reference = holds if count > 0 else NO_CONTACT
        start_contacts(pairs, pair_number, first, reference, pairs.feature[pair_number], pairs.is_curved[pair_number])
    if contacts.needed[0] > len(contacts.gap) or count == 0:
        return
    pairs.contact_count[pair_number] += count
    contacts.count[0] += count
    a, b = pairs.shape_a[pair_number], pairs.shape_b[pair_number]
    mesh, other = (b, a) if is_b else (a, b)
    sign = -1.0 if is_b else 1.0
    for contact in range(first, first + count):
        row = contact - first
        contacts.shape_a[contact] = a
        contacts.shape_b[contact] = b
        contacts.body_a[contact] = body_of[a]
        contacts.body_b[contact] = body_of[b]
        contacts.gap[contact] = table.gap[row]
        contacts.matched[contact] = -1
        on_mesh = contacts.local_b[contact] if is_b else contacts.local_a[contact]
        on_other = contacts.local_a[contact] if is_b else contacts.local_b[contact]
        place(local_pose[mesh], table.on_mesh[row, 0], table.on_mesh[row, 1], table.on_mesh[row, 2], on_mesh)
        place(pose.a_in_b, table.on_other[row, 0], table.on_other[row, 1], table.on_other[row, 2], on_other)
        place(local_pose[other], on_other[0], on_other[1], on_other[2], on_other)
        x = 0.5 * (table.on_mesh[row, 0] + table.on_other[row, 0])
        y = 0.5 * (table.on_mesh[row, 1] + table.on_other[row, 1])
        z = 0.5 * (table.on_mesh[row, 2] + table.on_other[row, 2])
        place(mesh_pose, x, y, z, contacts.position[contact])
        x, y, z = sign * table.normal[row, 0], sign * table.normal[row, 1], sign * table.normal[row, 2]
        turn(local_pose[mesh], x, y, z, contacts.local_normal[contact])
        turn(mesh_pose, x, y, z, contacts.normal[contact])
        contacts.unrelaxed_gap[contact] = 0.0
        contacts.face_length[contact] = _least_height(meshes, number, table.triangle[row])
        x, y, z = surface_velocity(meshes, number, table.triangle[row], table.on_mesh[row])
        turn(mesh_pose, -sign * x, -sign * y, -sign * z, contacts.surface_velocity[contact])
        x, y, z = table.toi_offset[row, 0], table.toi_offset[row, 1], table.toi_offset[row, 2]
        turn(mesh_pose, -sign * x, -sign * y, -sign * z, contacts.toi_offset[contact])


@subkernel
def _least_height(meshes, number, triangle):
    """Height of a triangle over its longest side [m]: how far it goes on the way across a strip of such."""
    corners, first = meshes.triangle[meshes.triangle_start[number] + triangle], meshes.vertex_start[number]
    longest = 0.0
    for corner in range(3):
        one = meshes.vertex[first + corners[corner]]
        two = meshes.vertex[first + corners[(corner + 1) % 3]]
        longest = max(longest, (two[0] - one[0]) ** 2 + (two[1] - one[1]) ** 2 + (two[2] - one[2]) ** 2)
    zero, one, two = (
        meshes.vertex[first + corners[0]],
        meshes.vertex[first + corners[1]],
        meshes.vertex[first + corners[2]],
    )
    a0, a1, a2 = one[0] - zero[0], one[1] - zero[1], one[2] - zero[2]
    b0, b1, b2 = two[0] - zero[0], two[1] - zero[1], two[2] - zero[2]
    c0, c1, c2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    return math.sqrt((c0 * c0 + c1 * c1 + c2 * c2) / longest) if longest > 0.0 else 0.0


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
