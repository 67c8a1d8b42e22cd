"""Triangle meshes as collision shapes of bodies that are not dynamic, mended, and their tables for the kernels.

What real files hold is mended rather than refused (``mesh_repair``); ``notes`` says what was found and done.

A part of a mesh that is closed is solid: it pushes outwards. An open part is a sheet without thickness: it pushes a
body to the side on which its centre is.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .hulls import ConvexHull
from .mesh_repair import OrientedTriangles, clean, orient
from .polyhedra import RATIO_COPLANAR
from .shapes import ShapeError, ShapeKind, describe
from .volume_integrals import MassProperties, enclosed_volume, signed_volumes, surface_area, triangle_areas


class TriangleMesh:
    """A triangle mesh, in the user frame.

    Parameters
    ----------
    vertices : array-like [given_vertex_count, 3]
        [m]
    triangles : array-like of int [given_triangle_count, 3]
        Vertices of each, counterclockwise seen from outside.

    Attributes
    ----------
    vertices : float64 [vertex_count, 3]
    triangles : int64 [triangle_count, 3]
        What is left after cleaning.
    neighbors : int64 [triangle_count, 3]
        ``3 t + e`` of the triangle t and its edge e on the other side of an edge; edge e runs from corner e to the
        next. -1 at a border, and where more than two triangles meet.
    is_solid : bool [triangle_count]
        Whether the triangle belongs to a closed part.
    part : int64 [triangle_count]
        The connected part that a triangle belongs to.
    given_vertex : int64 [vertex_count]
        Which of the given vertices each one is.
    position : float64 [3]
        Middle of the bounding box, the origin of the mesh's own frame in the tables.
    notes : tuple of str
        What was found and done.

    Raises
    ------
    ShapeError
        Numbers that are not finite, triangles that name no vertex, no triangle with an area.
    """

    kind = ShapeKind.MESH
    orientation = (1.0, 0.0, 0.0, 0.0)
    parameters = (0.0, 0.0, 0.0)

    def __init__(self, vertices: ArrayLike, triangles: ArrayLike):
        given, corners = _checked(vertices, triangles)
        mesh = clean(given, corners)
        if not len(mesh.triangles):
            raise ShapeError(f"mesh: none of its {len(corners)} triangles has an area")
        oriented = orient(mesh.vertices, mesh.triangles)
        self.vertices, self.given_vertex = mesh.vertices, mesh.given_vertex
        self.triangles, self.neighbors, self.is_solid = oriented.triangles, oriented.neighbors, oriented.is_closed
        lower, upper = self.bounding_box()
        self.part, self.position = oriented.part, 0.5 * (lower + upper)
        self.notes = (*mesh.notes, *_notes_of(oriented))

    @property
    def is_flat(self) -> bool:
        """Whether it has no volume: no part of it is closed."""
        return not self.is_solid.any()

    @property
    def bounding_radius(self) -> float:
        """Of the farthest vertex from ``position`` [m]."""
        return float(np.linalg.norm(self.vertices - self.position, axis=1).max())

    @property
    def size(self) -> float:
        """Longest side of the bounding box [m]."""
        lower, upper = self.bounding_box()
        return float((upper - lower).max())

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner in the user frame [m]."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    def mass_properties(self) -> MassProperties:
        """Of the closed parts, at one density; of a mesh without any, of its area."""
        corners = self.vertices[self.triangles]
        if self.is_flat:
            return surface_area(corners, self.position)
        return enclosed_volume(corners[self.is_solid], self.position)


def convex_sheet(mesh: TriangleMesh) -> ConvexHull | None:
    """The two-sided sheet that a flat and convex mesh is, as a plane or a grid; None of any other.

    Both push alike. A sheet is one face, where a mesh has triangles to be found and edges that are none.

    Parameters
    ----------
    mesh : TriangleMesh
    """
    corners = mesh.vertices[mesh.triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).sum(axis=0)
    length = np.linalg.norm(across)
    if length == 0.0 or np.ptp(mesh.vertices @ (across / length)) > RATIO_COPLANAR * mesh.size:
        return None
    hull = ConvexHull.from_points(mesh.vertices)
    if hull.flat_face is None:
        return None
    outline = hull.vertices[hull.loops[hull.flat_face]]
    # Triangles cover it once, and nothing else: their areas add up to its own, and their borders to its border.
    borders = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)[mesh.neighbors < 0].sum()
    border = np.linalg.norm(np.roll(outline, -1, axis=0) - outline, axis=1).sum()
    covered, area = triangle_areas(corners).sum(), hull.mass_properties().volume
    return hull if np.allclose([covered / area, borders / border], 1.0, rtol=0.0, atol=RATIO_COPLANAR) else None


def nested_meshes(mesh: TriangleMesh) -> list[TriangleMesh]:
    """A mesh as several, where closed parts of it lie within others: a room with furniture, a drum with vanes.

    A closed part is solid for what is outside and a room for what is within, and which of them is asked of a mesh, not
    of each part. So parts that others lie in are apart from these: the first mesh has all that lies in no other, the
    next one what lies in a part of the first, and so on. Cavities stay with what they are in. A mesh that has no such
    parts comes back alone.
    """
    part, part_count = mesh.part, mesh.part.max() + 1
    if part_count == 1:
        return [mesh]
    corners = mesh.vertices[mesh.triangles]
    volume = np.bincount(part, signed_volumes(corners - mesh.position), part_count)
    is_closed = np.bincount(part, mesh.is_solid, part_count) > 0
    lower, upper = np.full((part_count, 3), np.inf), np.full((part_count, 3), -np.inf)
    np.minimum.at(lower, part, corners.min(axis=1))
    np.maximum.at(upper, part, corners.max(axis=1))
    middle, depth = 0.5 * (lower + upper), np.zeros(part_count, np.int64)
    for outer in np.argsort(-volume):
        if is_closed[outer] and volume[outer] > 0.0:
            within = is_closed & (np.abs(volume) < volume[outer])
            within &= ((middle > lower[outer]) & (middle < upper[outer])).all(axis=1)
            depth[within] = np.maximum(depth[within], depth[outer] + (volume[within] > 0.0))
    if not depth.any():
        return [mesh]
    return [_piece(mesh, np.flatnonzero(depth[part] == level)) for level in range(depth.max() + 1)]


def _piece(mesh, triangles):
    """Some triangles of a mesh as one of their own."""
    used, corners = np.unique(mesh.triangles[triangles], return_inverse=True)
    return TriangleMesh(mesh.vertices[used], corners.reshape(-1, 3))


class MeshArrays(NamedTuple):
    """All meshes of a model in flat tables; positions in the mesh's own frame, numbers count from its own first row.

    Attributes
    ----------
    start : int64 [mesh_count + 1, 2]
        First row of each mesh in the tables of vertices and of triangles.
    vertex : float64 [vertex_count, 3]
    triangle, neighbor : int64 [triangle_count, 3]
        As in ``TriangleMesh``.
    is_solid : int64 [triangle_count]
    given_vertex : int64 [vertex_count]
        As in ``TriangleMesh``.
    position : float64 [mesh_count, 3]
        Of each mesh's own frame in the user frame.
    """

    start: np.ndarray
    vertex: np.ndarray
    triangle: np.ndarray
    neighbor: np.ndarray
    is_solid: np.ndarray
    given_vertex: np.ndarray
    position: np.ndarray


def pack_meshes(meshes: Iterable[TriangleMesh]) -> MeshArrays:
    """Write meshes into tables for the kernels; there may be none."""
    meshes = list(meshes)
    counts = np.array([(len(mesh.vertices), len(mesh.triangles)) for mesh in meshes], np.int64).reshape(-1, 2)
    return MeshArrays(
        start=np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(counts, axis=0)]),
        vertex=np.concatenate([np.zeros((0, 3)), *(mesh.vertices - mesh.position for mesh in meshes)]),
        triangle=np.concatenate([np.zeros((0, 3), np.int64), *(mesh.triangles for mesh in meshes)]),
        neighbor=np.concatenate([np.zeros((0, 3), np.int64), *(mesh.neighbors for mesh in meshes)]),
        is_solid=np.concatenate([np.zeros(0, np.int64), *(mesh.is_solid.astype(np.int64) for mesh in meshes)]),
        given_vertex=np.concatenate([np.zeros(0, np.int64), *(mesh.given_vertex for mesh in meshes)]),
        position=np.array([mesh.position for mesh in meshes]).reshape(-1, 3),
    )


def _checked(vertices, triangles):
    try:
        vertices, triangles = np.array(vertices, float), np.array(triangles)
    except (TypeError, ValueError):
        raise ShapeError("mesh: vertices and triangles must be numbers [count, 3]") from None
    for what, array in (("vertices", vertices), ("triangles", triangles)):
        if array.ndim != 2 or array.shape[1] != 3 or len(array) == 0:
            raise ShapeError(f"mesh: {what} have shape {array.shape}; they must be [count, 3], at least one")
    if not np.issubdtype(triangles.dtype, np.integer):
        raise ShapeError(f"mesh: triangles hold {triangles.dtype} numbers; they must be whole")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        bad = int(np.argmax(((triangles < 0) | (triangles >= len(vertices))).any(axis=1)))
        raise ShapeError(
            f"mesh: triangle {bad} is {describe(triangles[bad])}; vertices are numbered from 0 to {len(vertices) - 1}"
        )
    not_finite = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if len(not_finite):
        first = not_finite[0]
        raise ShapeError(f"mesh: vertex {first} is {describe(vertices[first])}; vertices must be finite")
    return vertices, triangles.astype(np.int64)


def _notes_of(oriented: OrientedTriangles) -> list[str]:
    """What was found out about which way triangles look, and what follows for collisions."""
    notes = []
    if oriented.crowded_edges:
        notes.append(f"{oriented.crowded_edges} edges have more than two faces: they count as borders")
    if oriented.turned:
        notes.append(f"{oriented.turned} faces looked the other way than their neighbours: turned")
    if oriented.is_one_sided:
        notes.append("one-sided like a Moebius strip: it is cut where its sides meet")
    if oriented.parts_inside_out:
        whole = oriented.part_count == 1
        notes.append("it was inside out: turned" if whole else f"{oriented.parts_inside_out} parts were inside out")
    if not oriented.is_closed.all():
        notes.append(
            f"is open, with {np.count_nonzero(oriented.neighbors < 0)} border edges: "
            "simulated as a sheet that nothing passes from either side"
        )
    return notes
