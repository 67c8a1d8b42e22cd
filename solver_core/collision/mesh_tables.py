"""Tables of meshes for the kernels, and names of their rows and columns; ``mesh_tree`` fills them.

A mesh has two rows among the polytopes: the triangle that is looked at just now, as a sheet, and the same triangle
swept backwards along the other body's path. So everything that knows hulls knows triangles.
"""

from typing import NamedTuple

import numpy as np

from ..shapes import HullArrays, pack_hulls

# Columns of MeshTables.start.
VERTEX_START = 0
TRIANGLE_START = 1
NODE_START = 2

# Columns of MeshTables.triangle: corners, the neighbours' half edges ``3 t + e`` across the edges, and flags.
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

# Columns of MeshTables.vertex: position, whether an edge that is not flat ends there, velocity.
IS_SHARP = 3
VELOCITY = 4

# Columns of MeshTables.speed: of the fastest vertex [m/s], and whether the mesh has deformed since its last contacts.
SPEED = 0
STIRRED = 1

# Rows of MeshTables.candidate: triangles of the mesh, the side to which each pushes (1: its normal's), whether the
# other's centre lies before it; a stack; and by triangle its place in the list, from 1.
LISTED = 0
PUSHES_TO = 1
STACK = 2
PLACE = 3

# Rows of MeshTables.probe: the box that is looked through, the other shape's path in this substep, its centre, the path
# that contacts lead it, its body's centre of mass, and normals of the pair's last contacts.
LOWER = 0
UPPER = 1
PATH = 2
CENTER = 3
NEW_PATH = 4
MASS_CENTER = 5
HELD = 6
MOST_HELD = 16

# Columns of MeshTables.contact: surface points of the mesh and of the other shape, gap, a key for sorting around a
# polygon (these as in PairScratch.contact), the normal out of the mesh, the triangle, the group, and the other shape's
# way until it meets the triangle. The point of the other shape and the gap are those of the substep's start.
ON_MESH = 0
ON_OTHER = 3
OUTWARDS = 8
TRIANGLE = 11
GROUP = 12
WAY = 13
CONTACT_COLUMNS = 16

# Contacts of a pair that are held at a time; when they are full they are thinned out.
CONTACT_ROWS = 1024


class MeshTables(NamedTuple):
    """Meshes in their own frames, and scratch memory. Rows and columns: see above.

    Attributes
    ----------
    start : int64 [mesh_count + 1, 3]
        First row of each mesh in the tables of vertices, triangles and nodes; numbers within them count from there.
    vertex : float64 [vertex_count, 7]
        [m], [m/s]
    triangle : int64 [triangle_count, 7]
        In the order of the tree.
    normal : float64 [triangle_count, 3]
    node : int64 [node_count, 2]
        First triangle and number of triangles of a leaf; left child and 0 of other nodes, whose right child follows.
    box : float64 [node_count, 6]
        Lower and upper corner.
    speed : float64 [mesh_count, 2]
    candidate : int64 [4, n]
    probe : float64 [HELD + MOST_HELD, 3]
    contact : float64 [CONTACT_ROWS, 16]
    """

    start: np.ndarray
    vertex: np.ndarray
    triangle: np.ndarray
    normal: np.ndarray
    node: np.ndarray
    box: np.ndarray
    speed: np.ndarray
    candidate: np.ndarray
    probe: np.ndarray
    contact: np.ndarray


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
