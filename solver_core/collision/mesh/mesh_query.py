"""What the functions of this folder are given: the arrays of one mesh, and what its contacts are asked with."""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel
from ..data.workspace import HULL, SPHERE, PairShape, has_axis


class MeshView(NamedTuple):
    """One mesh's rows of ``MeshTables``, read by all; numbers of triangles, vertices and nodes count from its first.

    Attributes
    ----------
    vertices : float64 [V, 3]
    triangles : int64 [T, 7]
        Columns in ``mesh_tables``.
    normals : float64 [T, 3]
    nodes : int64 [N, 2]
    boxes : float64 [N, 6]
    """

    vertices: np.ndarray
    triangles: np.ndarray
    normals: np.ndarray
    nodes: np.ndarray
    boxes: np.ndarray


class MeshPair(NamedTuple):
    """A mesh and another shape, whose contacts are asked for.

    Attributes
    ----------
    row : int
        The first of the mesh's two rows among the polytopes: the triangle that is being tested.
    other : PairShape
        The other shape.
    size : float
        Of the smaller shape [m].
    slack : float
        Largest gap that makes a contact for a shape that does not move along its path [m].
    maximal_points : int
        Contacts of each direction.
    side : int
        To which side closed parts push: 1 outwards, -1 inwards.
    """

    row: int
    other: PairShape
    size: float
    slack: float
    maximal_points: int
    side: int


@subkernel
def view_of_mesh(tables, mesh):
    """The ``MeshView`` of a mesh in ``MeshTables``."""
    first, last = tables.triangle_start[mesh], tables.triangle_start[mesh + 1]
    root, end = tables.node_start[mesh], tables.node_start[mesh + 1]
    return MeshView(
        tables.vertex[tables.vertex_start[mesh] : tables.vertex_start[mesh + 1]],
        tables.triangle[first:last],
        tables.normal[first:last],
        tables.node[root:end],
        tables.box[root:end],
    )


@subkernel
def first_row(tables, polytopes, mesh):
    """The first of a mesh's two rows among the polytopes, of which those of the meshes are the last."""
    return len(polytopes.flat_face) - 2 * (len(tables.speed) - mesh)


@subkernel
def triangle_shape(row, other):
    """A mesh's row among the polytopes as the shape a of a pair with another shape."""
    # A hull has no parameters: those of the other stand for them.
    return PairShape(np.int64(HULL), row, other.parameters, 0.0, 0.0)


@subkernel
def ball_radius(shape):
    """Radius of a ball about its position that holds a round shape; 0 of others, which have bounds [m]."""
    if shape.kind == SPHERE:
        return shape.parameters[0]
    return shape.bounding_radius if has_axis(shape.kind) else 0.0
