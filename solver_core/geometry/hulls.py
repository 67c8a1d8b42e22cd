"""Convex hulls as collision shapes in the user frame, and their tables for the kernels.

A hull is kept as a polyhedron with polygonal faces: Qhull's triangles that lie in one plane are merged, so that a box
given as eight corners has six faces of four corners, and a face that rests on another has a corner wherever the user
sees one. A flat hull (a sheet: a plane as a floor, a card) is a prism of zero thickness with two opposite faces; its
sides have no area, and both of its faces push.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .polyhedra import polyhedron_of_points
from .shapes import ShapeKind
from .volume_integrals import MassProperties, enclosed_volume, surface_area


class ConvexHull:
    """A convex polyhedron, in the user frame. Make one with ``ConvexHull.from_points``.

    Attributes
    ----------
    vertices : float64 [vertex_count, 3]
    loops : tuple of int64 arrays
        Vertices of each face, counterclockwise seen from outside.
    normals, offsets : float64 [face_count, 3], [face_count]
        The face's plane: ``normal . x = offset``, normal outwards.
    edges : int64 [edge_count, 2]
        Vertices of each edge.
    edge_faces : int64 [edge_count, 2]
        The face in whose loop the edge runs as in ``edges``, and the one in which it runs backwards.
    position : float64 [3]
        Centre of volume (flat: of area), the origin of the hull's own frame in the tables of ``pack_hulls``.
    flat_face : int or None
        None for a solid. Else the hull is two-sided with zero thickness; this face and the next are the two sides,
        and the vertices of one coincide with the other's.
    """

    kind = ShapeKind.HULL
    orientation = (1.0, 0.0, 0.0, 0.0)
    parameters = (0.0, 0.0, 0.0)

    def __init__(self, vertices: ArrayLike, loops: Sequence, normals: ArrayLike, flat_face: int | None = None):
        self.vertices = np.ascontiguousarray(vertices, float)
        self.loops = tuple(np.asarray(loop, np.int64) for loop in loops)
        self.normals = np.ascontiguousarray(normals, float)
        self.flat_face = flat_face
        self.offsets = np.array(
            [(self.vertices[loop] @ normal).max() for loop, normal in zip(self.loops, self.normals, strict=True)]
        )
        self.edges, self.edge_faces = _edges_of(self.loops)
        self._mass_properties = _integrate(self)
        self.position = self._mass_properties.center

    @classmethod
    def from_points(cls, points: ArrayLike, *, thickness: float | None = None) -> "ConvexHull":
        """Hull of a point set.

        Parameters
        ----------
        points : array-like [point_count, 3]
            In the user frame [m]. Points inside, duplicates and thousands of points are fine.
        thickness : float, optional
            Flat point sets only: make a prism of this thickness [m], half of it to either side of the plane.
            Without it a flat set gives a two-sided sheet.

        Returns
        -------
        ConvexHull

        Raises
        ------
        ShapeError
            Numbers that are not finite, points that span no area, thickness not above 0.
        """
        return cls(*polyhedron_of_points(points, thickness))

    @classmethod
    def from_box(cls, half_extents: ArrayLike) -> "ConvexHull":
        """The box about the origin as a hull, with vertices, faces and edges in a fixed order.

        Faces 2 i and 2 i + 1 look along +axis i and -axis i. Bit i of a vertex's number is set where the vertex lies
        on the positive side of axis i.
        """
        half_extents = np.asarray(half_extents, float)
        signs = np.array([[1.0 if vertex >> axis & 1 else -1.0 for axis in range(3)] for vertex in range(8)])
        loops = [(1, 3, 7, 5), (0, 4, 6, 2), (2, 6, 7, 3), (0, 1, 5, 4), (4, 5, 7, 6), (0, 2, 3, 1)]
        normals = np.repeat(np.eye(3), 2, axis=0) * np.tile([1.0, -1.0], 3)[:, None]
        return cls(
            signs * half_extents,
            loops,
            normals,
            2 * int(np.argmin(half_extents)) if half_extents.min() == 0.0 else None,
        )

    @property
    def is_flat(self) -> bool:
        """Whether it is a sheet."""
        return self.flat_face is not None

    @property
    def bounding_radius(self) -> float:
        """Of the farthest vertex from ``position`` [m]."""
        return float(np.linalg.norm(self.vertices - self.position, axis=1).max())

    @property
    def size(self) -> float:
        """Longest side of the bounding box [m]."""
        return float(np.ptp(self.vertices, axis=0).max())

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner in the user frame [m]."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    def mass_properties(self) -> MassProperties:
        """Exact integrals over the polyhedron, or over the area of a flat one."""
        return self._mass_properties


def _integrate(hull) -> MassProperties:
    """Of the polyhedron, or of the area of one side of a flat one; the apex lies inside, so that no terms cancel."""
    loops = [hull.loops[hull.flat_face]] if hull.is_flat else hull.loops
    corners = np.concatenate([_fan(hull.vertices[loop]) for loop in loops])
    apex = hull.vertices.mean(axis=0)
    return surface_area(corners, apex) if hull.is_flat else enclosed_volume(corners, apex)


class HullArrays(NamedTuple):
    """All hulls of a model in flat tables. Few arrays: each one passed to a kernel costs time when it is compiled.

    Positions are in the hull's own frame: origin at ``ConvexHull.position``, axes of the user frame. Vertex and face
    numbers inside the tables count from the hull's own first vertex and face.

    Attributes
    ----------
    start : int64 [hull_count + 1, 3]
        First row of each hull in the tables of vertices, of faces, and of edges.
    vertex : float64 [vertex_count, 3]
    neighbor_start : int64 [vertex_count + 1]
    neighbor : int64 [2 edge_count]
        Vertices that share an edge with a vertex.
    plane : float64 [face_count, 4]
        Outward normal and offset: ``normal . x = offset``.
    loop_start : int64 [face_count + 1]
    loop : int64 [loop_length_sum]
    edge : int64 [edge_count, 4]
        Two vertices, then two faces, as in ``ConvexHull.edges`` and ``edge_faces``.
    bounds : float64 [hull_count, 2, 3]
        Lower and upper corner of the bounding box.
    flat_face : int64 [hull_count]
        As in ``ConvexHull``, -1 for a solid.
    """

    start: np.ndarray
    vertex: np.ndarray
    neighbor_start: np.ndarray
    neighbor: np.ndarray
    plane: np.ndarray
    loop_start: np.ndarray
    loop: np.ndarray
    edge: np.ndarray
    bounds: np.ndarray
    flat_face: np.ndarray


def pack_hulls(hulls: Iterable[ConvexHull]) -> HullArrays:
    """Write hulls into tables for the kernels.

    Parameters
    ----------
    hulls : sequence of ConvexHull
        May be empty.

    Returns
    -------
    HullArrays
    """
    hulls = list(hulls)
    vertices = [hull.vertices - hull.position for hull in hulls]
    neighbors = [row for hull in hulls for row in _neighbors_of(hull)]
    loops = [loop for hull in hulls for loop in hull.loops]
    planes = [np.column_stack([hull.normals, hull.offsets - hull.normals @ hull.position]) for hull in hulls]
    starts = [
        _starts(len(table) for table in tables)
        for tables in (vertices, [hull.loops for hull in hulls], [hull.edges for hull in hulls])
    ]
    return HullArrays(
        start=np.ascontiguousarray(np.column_stack(starts)),
        vertex=_stacked(vertices, (0, 3), float),
        neighbor_start=_starts(len(row) for row in neighbors),
        neighbor=_stacked(neighbors, (0,), np.int64),
        plane=_stacked(planes, (0, 4), float),
        loop_start=_starts(len(loop) for loop in loops),
        loop=_stacked(loops, (0,), np.int64),
        edge=_stacked([np.column_stack([hull.edges, hull.edge_faces]) for hull in hulls], (0, 4), np.int64),
        bounds=_stacked([np.array([[rows.min(axis=0), rows.max(axis=0)]]) for rows in vertices], (0, 2, 3), float),
        flat_face=np.array([hull.flat_face if hull.is_flat else -1 for hull in hulls], np.int64),
    )


def pack_boxes(half_extents: ArrayLike) -> HullArrays:
    """The tables of ``ConvexHull.from_box`` for many boxes at once: they differ in where vertices and planes are.

    Parameters
    ----------
    half_extents : array-like [box_count, 3]
        May be empty.

    Returns
    -------
    HullArrays
    """
    half_extents = np.asarray(half_extents, float).reshape(-1, 3)
    count, unit = len(half_extents), _unit_box()
    normals = np.tile(unit.plane[:, :3], (count, 1))
    offsets = np.repeat(half_extents, 2, axis=1).reshape(-1, 1)
    return HullArrays(
        start=np.arange(count + 1)[:, None] * unit.start[1],
        vertex=(half_extents[:, None] * unit.vertex).reshape(-1, 3),
        neighbor_start=_starts(np.tile(np.diff(unit.neighbor_start), count)),
        neighbor=np.tile(unit.neighbor, count),
        plane=np.hstack([normals, offsets]),
        loop_start=_starts(np.tile(np.diff(unit.loop_start), count)),
        loop=np.tile(unit.loop, count),
        edge=np.tile(unit.edge, (count, 1)),
        bounds=half_extents[:, None] * unit.bounds,
        flat_face=np.where(half_extents.min(axis=1) == 0.0, 2 * half_extents.argmin(axis=1), -1),
    )


# ---- polyhedron -> tables


@functools.cache
def _unit_box() -> HullArrays:
    """Tables of a box of the half extents 1."""
    return pack_hulls([ConvexHull.from_box((1.0, 1.0, 1.0))])


def _edges_of(loops):
    """Edges and the two faces of each, in the order in which the loops name them."""
    owner = {}
    for face, loop in enumerate(loops):
        for a, b in zip(loop.tolist(), np.roll(loop, -1).tolist(), strict=True):
            owner[a, b] = face
    edges = [(a, b) for a, b in owner if a < b]
    return np.array(edges, np.int64), np.array([(owner[a, b], owner[b, a]) for a, b in edges], np.int64)


def _neighbors_of(hull):
    rows: list[list[int]] = [[] for _ in hull.vertices]
    for a, b in hull.edges.tolist():
        rows[a].append(b)
        rows[b].append(a)
    return [np.array(row, np.int64) for row in rows]


def _fan(corners) -> np.ndarray:
    """Triangles [n, 3, 3] of a convex polygon."""
    return np.array([(corners[0], corners[i], corners[i + 1]) for i in range(1, len(corners) - 1)])


def _starts(counts) -> np.ndarray:
    counts = np.fromiter(counts, np.int64)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _stacked(arrays, empty_shape, dtype) -> np.ndarray:
    arrays = list(arrays)
    return np.ascontiguousarray(np.concatenate(arrays), dtype) if arrays else np.zeros(empty_shape, dtype)
