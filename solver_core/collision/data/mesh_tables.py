"""Tables of meshes for the kernels, and names of their columns; ``mesh_tree`` fills them.

A mesh has two rows among the polytopes: the triangle that is tested just now, as a sheet, and the same triangle
swept backwards along the other body's path. So everything that knows hulls knows triangles.
"""

from typing import NamedTuple

import numpy as np

from ...geometry.hulls import HullArrays, pack_hulls

# Columns of MeshTables.triangle: corners, the neighbours' half edges ``3 t + e`` across the edges, and flags. They are
# one array because most functions on triangles need them all, and each array is some eight more words to pass.
CORNERS = 0
NEIGHBORS = 3
FLAGS = 6
# Flags: two bits an edge for its class, a bit a corner that lies amid a flat area, and whether the part is closed.
FLAT = 0
CONVEX = 1
CONCAVE = 2
RIM = 3
AMID_FLAT = 6
SOLID = 9

# Last contacts of a pair that are held, at most.
MOST_HELD = 16
# Instead of the triangle of such a contact: it is not among those listed; it is one of a closed part.
UNLISTED, CLOSED = -1, -2

# Contacts of a pair that are held at a time; when they are full they are thinned out.
CONTACT_ROWS = 1024


class MeshContacts(NamedTuple):
    """Contacts of a mesh with another shape that are being made, in the mesh's frame.

    The point of the other shape and the gap are those of the substep's start.

    Attributes
    ----------
    on_mesh, on_other : float64 [CONTACT_ROWS, 3]
        Points of the two surfaces [m].
    gap : float64 [CONTACT_ROWS]
        [m]
    apart : float64 [CONTACT_ROWS]
        When they are thinned out: squared distance from those that stay [m^2], or DROPPED for these.
    normal : float64 [CONTACT_ROWS, 3]
        Out of the mesh.
    triangle : int64 [CONTACT_ROWS]
    group : int64 [CONTACT_ROWS]
        When they are thinned out: the first contact of the same direction, or DROPPED.
    toi_offset : float64 [CONTACT_ROWS, 3]
        The other shape's path until it meets the triangle [m].
    """

    on_mesh: np.ndarray
    on_other: np.ndarray
    gap: np.ndarray
    apart: np.ndarray
    normal: np.ndarray
    triangle: np.ndarray
    group: np.ndarray
    toi_offset: np.ndarray


class MeshProbe(NamedTuple):
    """What is searched for in a mesh, in its frame.

    Attributes
    ----------
    lower, upper : float64 [3]
        Corners of the box that is searched [m].
    path, new_path : float64 [3]
        The other shape's path in this substep, and the one that contacts lead it [m].
    motion : float64 [3]
        The first of these, also where it is shorter than what counts as a path [m].
    fall : float64 [1]
        What gravity may add to it [m].
    loss : float64 [1]
        By how much the other shape is smaller where it is followed, for both [m].
    meets : bool [1]
        Whether the other shape meets the triangle to which it was followed last, or only passes it.
    is_ahead : bool [1]
        Whether contacts were made elsewhere on it than at the start, or left out.
    center, mass_center : float64 [3]
        Of the other shape and of its body [m].
    up : float64 [3]
        Direction against gravity; 0 without gravity.
    held, held_point : float64 [MOST_HELD, 3]
        Normals of the pair's last contacts, and their points on the mesh [m].
    held_triangle : int64 [MOST_HELD]
        The triangles that these lie on, if they are listed and of an open part; else UNLISTED or CLOSED.
    held_count : int64 [1]
        How many these are.
    """

    lower: np.ndarray
    upper: np.ndarray
    path: np.ndarray
    new_path: np.ndarray
    motion: np.ndarray
    fall: np.ndarray
    loss: np.ndarray
    meets: np.ndarray
    is_ahead: np.ndarray
    center: np.ndarray
    mass_center: np.ndarray
    up: np.ndarray
    held: np.ndarray
    held_point: np.ndarray
    held_triangle: np.ndarray
    held_count: np.ndarray


class MeshCandidates(NamedTuple):
    """Triangles of a mesh that the other shape may touch.

    Attributes
    ----------
    listed : int64 [N]
        The triangles.
    pushes_to : int64 [N]
        The side to which each of them pushes: 1 its normal's, -1 the other; 0 as long as that is not known.
    stack : int64 [N]
        Of a walk down the tree, or from triangle to triangle.
    place : int64 [N]
        By triangle its place in the list, from 1.
    held : int64 [N]
        By triangle, bit by bit, which of the pair's last contacts were with the connected part that it belongs to.
    """

    listed: np.ndarray
    pushes_to: np.ndarray
    stack: np.ndarray
    place: np.ndarray
    held: np.ndarray


class MeshTables(NamedTuple):
    """Meshes in their own frames, and scratch memory.

    Attributes
    ----------
    vertex_start, triangle_start, node_start : int64 [mesh_count + 1]
        First row of each mesh in the tables of vertices, triangles and nodes; numbers within them count from there.
    vertex : float64 [vertex_count, 3]
        [m]
    is_sharp : bool [vertex_count]
        Whether an edge that is not flat ends there.
    vertex_velocity : float64 [vertex_count, 3]
        [m/s]
    triangle : int64 [triangle_count, 7]
        In the order of the tree; columns: see above.
    normal : float64 [triangle_count, 3]
    node : int64 [node_count, 2]
        Columns in ``aabb_tree``.
    box : float64 [node_count, 6]
        Lower and upper corner.
    speed : float64 [mesh_count]
        Of the fastest vertex [m/s].
    has_deformed : bool [mesh_count]
        Whether the mesh has deformed since its last contacts.
    candidate : MeshCandidates
    probe : MeshProbe
        Each worker has one of its own.
    contact : MeshContacts
    """

    vertex_start: np.ndarray
    triangle_start: np.ndarray
    node_start: np.ndarray
    vertex: np.ndarray
    is_sharp: np.ndarray
    vertex_velocity: np.ndarray
    triangle: np.ndarray
    normal: np.ndarray
    node: np.ndarray
    box: np.ndarray
    speed: np.ndarray
    has_deformed: np.ndarray
    candidate: MeshCandidates
    probe: MeshProbe
    contact: MeshContacts


def allocate_mesh_probe() -> MeshProbe:
    """Memory for what is searched for."""
    return MeshProbe(
        *(np.zeros(3) for _ in range(5)),
        fall=np.zeros(1),
        loss=np.zeros(1),
        meets=np.zeros(1, np.bool_),
        is_ahead=np.zeros(1, np.bool_),
        center=np.zeros(3),
        mass_center=np.zeros(3),
        up=np.zeros(3),
        held=np.zeros((MOST_HELD, 3)),
        held_point=np.zeros((MOST_HELD, 3)),
        held_triangle=np.zeros(MOST_HELD, np.int64),
        held_count=np.zeros(1, np.int64),
    )


def allocate_mesh_contacts() -> MeshContacts:
    """Memory for the contacts of a pair."""
    return MeshContacts(
        on_mesh=np.zeros((CONTACT_ROWS, 3)),
        on_other=np.zeros((CONTACT_ROWS, 3)),
        gap=np.zeros(CONTACT_ROWS),
        apart=np.zeros(CONTACT_ROWS),
        normal=np.zeros((CONTACT_ROWS, 3)),
        triangle=np.zeros(CONTACT_ROWS, np.int64),
        group=np.zeros(CONTACT_ROWS, np.int64),
        toi_offset=np.zeros((CONTACT_ROWS, 3)),
    )


def triangle_rows(bounds) -> HullArrays:
    """A mesh's two rows among the polytopes: a triangle with two sides, and six points without faces.

    Parameters
    ----------
    bounds : float64 [2, 3]
        Of the mesh; it stands for the triangle's, by which the broad phase bounds the shape.
    """
    return pack_hulls([])._replace(
        start=np.array([[0, 0, 0], [3, 2, 3], [9, 2, 3]], np.int64),
        vertex=np.zeros((9, 3)),
        neighbor_start=np.zeros(10, np.int64),
        plane=np.zeros((2, 4)),
        loop_start=np.array([0, 3, 6], np.int64),
        loop=np.array([0, 1, 2, 0, 2, 1], np.int64),
        edge=np.array([[0, 1, 0, 1], [1, 2, 0, 1], [2, 0, 0, 1]], np.int64),
        bounds=np.array([bounds, bounds], float),
        flat_face=np.array([0, 0], np.int64),
    )
