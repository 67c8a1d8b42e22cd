"""Collision shapes in the user frame, their mass properties, and hull tables for the kernels.

A hull is kept as a polyhedron with polygonal faces: Qhull's triangles that lie in one plane are merged, so that a box
given as eight corners has six faces of four corners, and a face that rests on another has a corner wherever the user
sees one. A flat shape (a sheet: a plane as a floor, a card) is a prism of zero thickness with two opposite faces; its
sides have no area, and both of its faces push.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

# Lengths below are shares of the longest side of a shape's bounding box.
# Two given points closer than this are one; single precision rounds at 6e-8.
RATIO_SAME_POINT = 1e-7
# Triangles whose corners are this close to one plane are one face. Above the rounding of single-precision meshes,
# far below what can be seen or felt.
RATIO_COPLANAR = 1e-6
# A point set that is thinner than this is flat; one whose second extent is below it lies on a line.
RATIO_FLAT = 1e-5


class ShapeError(ValueError):
    """A shape that cannot exist; one line with the bad value and what is allowed."""


class MassProperties(NamedTuple):
    """Mass properties for density 1 [kg/m^3]; of a flat shape for 1 [kg/m^2].

    Attributes
    ----------
    volume : float
        [m^3]; the area [m^2] of a flat shape.
    center : float64 [3]
        Centre of mass [m].
    inertia : float64 [3, 3]
        About the centre, in user-frame axes; [m^5] or, flat, [m^4]. Times mass/volume: [kg m^2].
    """

    volume: float
    center: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True, eq=False)
class Box:
    """A box.

    Parameters
    ----------
    half_extents : array-like [3]
        Half of each side [m], above 0; one may be 0, which makes a sheet for bodies that are not dynamic.
    position, orientation : array-like [3], [4]
        Pose in the user frame; the quaternion (w, x, y, z) is normalised.

    Raises
    ------
    ShapeError
    """

    half_extents: np.ndarray
    position: np.ndarray = (0.0, 0.0, 0.0)
    orientation: np.ndarray = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self):
        half_extents = _finite_vector("box: half extents", self.half_extents, 3)
        if np.any(half_extents < 0.0) or np.sum(half_extents > 0.0) < 2:
            raise ShapeError(f"box: half extents are {_text(half_extents)}; they must be above 0, or one of them 0")
        orientation = _finite_vector("box: orientation", self.orientation, 4)
        length = np.linalg.norm(orientation)
        if length == 0.0:
            raise ShapeError("box: orientation is zero; it must be a quaternion (w, x, y, z)")
        object.__setattr__(self, "half_extents", half_extents)
        object.__setattr__(self, "position", _finite_vector("box: position", self.position, 3))
        object.__setattr__(self, "orientation", orientation / length)

    @property
    def is_flat(self) -> bool:
        """Whether it is a sheet."""
        return bool(np.any(self.half_extents == 0.0))

    @property
    def size(self) -> float:
        """Longest side [m]."""
        return float(2.0 * self.half_extents.max())

    def bounding_box(self):
        """Lower and upper corner in the user frame [m]."""
        reach = np.abs(_rotation_matrix(self.orientation)) @ self.half_extents
        return self.position - reach, self.position + reach

    def mass_properties(self) -> MassProperties:
        """Closed form; a sheet's for its area."""
        sides = 2.0 * self.half_extents
        volume = float(np.prod(sides[sides > 0.0]))
        squares = sides**2
        moments = volume / 12.0 * (squares.sum() - squares)
        axes = _rotation_matrix(self.orientation)
        return MassProperties(volume, self.position.copy(), (axes * moments) @ axes.T)


@dataclass(frozen=True, eq=False)
class Sphere:
    """A ball.

    Parameters
    ----------
    radius : float
        [m], above 0.
    position : array-like [3]
        Centre in the user frame.

    Raises
    ------
    ShapeError
    """

    radius: float
    position: np.ndarray = (0.0, 0.0, 0.0)

    def __post_init__(self):
        radius = float(_finite_vector("sphere: radius", [self.radius], 1)[0])
        if radius <= 0.0:
            raise ShapeError(f"sphere: radius is {radius:g}; it must be above 0")
        object.__setattr__(self, "radius", radius)
        object.__setattr__(self, "position", _finite_vector("sphere: position", self.position, 3))

    is_flat = False

    @property
    def size(self) -> float:
        """Diameter [m]."""
        return 2.0 * self.radius

    def bounding_box(self):
        """Lower and upper corner in the user frame [m]."""
        return self.position - self.radius, self.position + self.radius

    def mass_properties(self) -> MassProperties:
        """Closed form."""
        volume = 4.0 / 3.0 * np.pi * self.radius**3
        return MassProperties(float(volume), self.position.copy(), 0.4 * volume * self.radius**2 * np.eye(3))


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

    def __init__(self, vertices, loops, normals, flat_face=None):
        self.vertices = np.ascontiguousarray(vertices, float)
        self.loops = tuple(np.asarray(loop, np.int64) for loop in loops)
        self.normals = np.ascontiguousarray(normals, float)
        self.flat_face = flat_face
        self.offsets = np.array(
            [(self.vertices[loop] @ normal).max() for loop, normal in zip(self.loops, self.normals, strict=True)]
        )
        self.edges, self.edge_faces = _edges_of(self.loops)
        self._mass_properties = self._integrate()
        self.position = self._mass_properties.center

    @classmethod
    def from_points(cls, points, *, thickness=None) -> "ConvexHull":
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
        points = _checked_points(points)
        center, size = _center_and_size(points)
        unit = _distinct((points - center) / size)
        extents, axes = _extents_along_principal_axes(unit)
        if extents[1] <= RATIO_FLAT:
            raise ShapeError(f"convex hull: {len(points)} points lie on a line {size:g} long; they must span an area")
        if extents[2] > RATIO_FLAT:
            vertices, loops, normals = _polyhedron(unit)
            return cls(center + size * vertices, loops, normals)
        if thickness is not None and not (np.isfinite(thickness) and thickness > 0.0):
            raise ShapeError(f"convex hull: thickness is {thickness!r}; it must be above 0")
        return cls(*_prism(unit, axes, center, size, 0.0 if thickness is None else float(thickness)))

    @classmethod
    def from_box(cls, half_extents) -> "ConvexHull":
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
    def size(self) -> float:
        """Longest side of the bounding box [m]."""
        return float(np.ptp(self.vertices, axis=0).max())

    def bounding_box(self):
        """Lower and upper corner in the user frame [m]."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    def mass_properties(self) -> MassProperties:
        """Exact integrals over the polyhedron, or over the area of a flat one."""
        return self._mass_properties

    def _integrate(self) -> MassProperties:
        """Sum over tetrahedra with one apex inside, so that no two terms cancel; of a flat hull over triangles.

        A simplex of dimension d with corners p_i has second moments about the origin of
        ``measure / ((d + 1) (d + 2)) (sum p_i p_i' + s s')`` with s = sum p_i (Tonon 2004; Eberly, Polyhedral Mass
        Properties). The apex is the origin.
        """
        apex = self.vertices.mean(axis=0)
        loops = [self.loops[self.flat_face]] if self.is_flat else self.loops
        corners = np.concatenate([_fan(self.vertices[loop]) for loop in loops]) - apex
        if self.is_flat:
            areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            measures, dimension = 0.5 * np.linalg.norm(areas, axis=1), 2
        else:
            measures = np.einsum("ni,ni->n", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
            dimension = 3
        sums = corners.sum(axis=1)
        measure = float(measures.sum())
        mean = measures @ sums / ((dimension + 1) * measure)
        second = np.einsum("n,nki,nkj->ij", measures, corners, corners) + np.einsum("n,ni,nj->ij", measures, sums, sums)
        covariance = second / ((dimension + 1) * (dimension + 2)) - measure * np.outer(mean, mean)
        return MassProperties(measure, apex + mean, np.trace(covariance) * np.eye(3) - covariance)


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


def pack_hulls(hulls) -> HullArrays:
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


# ---- points -> polyhedron


def _checked_points(points) -> np.ndarray:
    try:
        points = np.array(points, float)
    except (TypeError, ValueError):
        raise ShapeError("convex hull: points must be numbers [point_count, 3]") from None
    if points.ndim != 2 or points.shape[1] != 3:
        raise ShapeError(f"convex hull: points have shape {points.shape}; they must be [point_count, 3]")
    if len(points) == 0:
        raise ShapeError("convex hull: there is no point")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise ShapeError(f"convex hull: point {bad[0]} is {_text(points[bad[0]])}; points must be finite")
    return points


def _center_and_size(points):
    """Middle and longest side of the bounding box: what brings the points into a unit cube."""
    lower, upper = points.min(axis=0), points.max(axis=0)
    # Halved before the sum, which could overflow.
    with np.errstate(over="ignore"):
        center, size = 0.5 * lower + 0.5 * upper, (upper - lower).max()
    if not np.isfinite(size):
        raise ShapeError(f"convex hull: points reach from {_text(lower)} to {_text(upper)}; that must be finite")
    if size <= RATIO_SAME_POINT * np.abs(points).max():
        raise ShapeError(f"convex hull: {len(points)} points lie all at {_text(center)}; they must span an area")
    return center, size


def _distinct(unit) -> np.ndarray:
    """One point a grid cell of the size in which points count as the same, the first in the order given.

    Sorted by place in the input, so that the hull does not hang on how the cells sort.
    """
    _, first = np.unique(np.round(unit / RATIO_SAME_POINT), axis=0, return_index=True)
    return unit[np.sort(first)]


def _extents_along_principal_axes(unit):
    """Extents of the points along their principal axes, largest first, and the axes as rows.

    The second axis and the third are found from distances, not from the covariance: it would square the small ones
    away (1e-9 of the first), and one far point among thousands would not weigh.
    """
    start = unit[np.argmax(np.linalg.norm(unit - unit[0], axis=1))]
    span = unit[np.argmax(np.linalg.norm(unit - start, axis=1))] - start
    first = span / np.linalg.norm(span)
    across = unit - start
    across = across - np.outer(across @ first, first)
    distances = np.linalg.norm(across, axis=1)
    widest = int(np.argmax(distances))
    if distances[widest] <= RATIO_FLAT:
        return np.array([np.linalg.norm(span), distances[widest], 0.0]), np.eye(3)
    second = across[widest] / distances[widest]
    third = np.cross(first, second)
    # The plane of those three points, then the best plane through all: the least singular direction.
    _, _, rows = np.linalg.svd(unit - unit.mean(axis=0), full_matrices=False)
    fitted = rows[-1]
    if np.ptp(unit @ fitted) < np.ptp(unit @ third):
        third = fitted * np.sign(fitted @ third)
        first = first - (first @ third) * third
        first /= np.linalg.norm(first)
        second = np.cross(third, first)
    axes = np.array([first, second, third])
    return np.ptp(unit @ axes.T, axis=0), axes


def _polyhedron(unit):
    """Vertices, loops and normals of the hull of points in a unit cube, coplanar triangles merged."""
    from scipy.spatial import ConvexHull as Qhull
    from scipy.spatial import QhullError

    try:
        hull = Qhull(unit)
    except QhullError as error:
        reason = str(error).strip().splitlines()[0]
        raise ShapeError(f"convex hull: Qhull found no hull of {len(unit)} points: {reason}") from None
    triangles = _oriented(unit, hull.simplices.astype(np.int64), hull.equations[:, :3])
    for tolerance in (RATIO_COPLANAR, 0.0):
        faces = _coplanar_groups(unit, triangles, hull.neighbors, hull.equations, tolerance)
        loops = [_boundary_loop(triangles[face]) for face in faces]
        loops = _without_straight_corners(loops)
        if loops is not None and _is_closed(loops):
            break
    else:
        raise ShapeError(f"convex hull: {len(unit)} points are too close to flat or to a line to make faces of")
    used = np.unique(np.concatenate(loops))
    renumber = np.full(len(unit), -1, np.int64)
    renumber[used] = np.arange(len(used))
    vertices = unit[used]
    loops = [renumber[loop] for loop in loops]
    return vertices, loops, np.array([_newell_normal(vertices[loop]) for loop in loops])


def _oriented(unit, triangles, normals) -> np.ndarray:
    """Triangles counterclockwise seen from outside."""
    corners = unit[triangles]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ni,ni->n", areas, normals) < 0.0
    triangles = triangles.copy()
    triangles[inward, 1], triangles[inward, 2] = triangles[inward, 2], triangles[inward, 1].copy()
    return triangles


def _coplanar_groups(unit, triangles, neighbors, equations, tolerance):
    """Triangles grouped into faces.

    A group grows from its largest triangle and keeps that one's plane, so that slivers, whose own planes are noise,
    join a real face, and a smooth surface does not melt into one face step by step.
    """
    corners = unit[triangles]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    group = np.full(len(triangles), -1, np.int64)
    groups = []
    for seed in np.argsort(-areas, kind="stable"):
        if group[seed] >= 0:
            continue
        group[seed] = len(groups)
        members = [seed]
        normal, offset = equations[seed, :3], equations[seed, 3]
        for member in members:
            for neighbor in neighbors[member]:
                if group[neighbor] < 0 and np.all(np.abs(corners[neighbor] @ normal + offset) <= tolerance):
                    group[neighbor] = len(groups)
                    members.append(neighbor)
        groups.append(members)
    return groups


def _boundary_loop(triangles):
    """The outline of triangles of one face; None where it is not one simple loop."""
    following = {}
    edges = {(a, b) for a, b, c in triangles} | {(b, c) for a, b, c in triangles} | {(c, a) for a, b, c in triangles}
    for a, b in edges:
        if (b, a) not in edges:
            if a in following:
                return None
            following[a] = b
    if not following:
        return None
    start = min(following)
    loop = [start]
    while (vertex := following.get(loop[-1])) is not None and vertex != start and len(loop) <= len(following):
        loop.append(vertex)
    return np.array(loop, np.int64) if len(loop) == len(following) else None


def _without_straight_corners(loops):
    """Drop vertices of only two faces: they lie inside an edge (to tolerance). None where a face is lost."""
    if any(loop is None for loop in loops):
        return None
    while True:
        count = np.bincount(np.concatenate(loops))
        shorter = [loop[count[loop] > 2] for loop in loops]
        if all(len(new) == len(old) for new, old in zip(shorter, loops, strict=True)):
            return loops
        # A sliver that has become a line goes; its two neighbours then share that edge.
        loops = [loop for loop in shorter if len(loop) >= 3]
        if len(loops) < 4:
            return None


def _is_closed(loops) -> bool:
    """Whether every edge lies in two faces, once in each direction, and Euler's V - E + F = 2 holds."""
    directed = [(int(a), int(b)) for loop in loops for a, b in zip(loop, np.roll(loop, -1), strict=True)]
    edges = set(directed)
    if len(edges) != len(directed) or any((b, a) not in edges for a, b in edges):
        return False
    vertex_count = len(np.unique(np.concatenate(loops)))
    return vertex_count - len(edges) // 2 + len(loops) == 2


def _prism(unit, axes, center, size, thickness):
    """Vertices, loops, normals and flat face of a flat point set's hull, extruded by ``thickness`` [m]."""
    from scipy.spatial import ConvexHull as Qhull
    from scipy.spatial import QhullError

    local = unit @ axes.T
    try:
        outline = Qhull(local[:, :2]).vertices
    except QhullError as error:
        reason = str(error).strip().splitlines()[0]
        raise ShapeError(f"convex hull: Qhull found no outline of {len(unit)} points: {reason}") from None
    outline = _without_nearly_straight(local, outline)
    height = local[outline, 2].mean()
    corners = center + size * (np.column_stack([local[outline, :2], np.full(len(outline), height)]) @ axes)
    half = 0.5 * thickness * axes[2]
    count = len(outline)
    numbers = np.arange(count)
    following = np.roll(numbers, -1)
    loops = [numbers, count + numbers[::-1]]
    loops += [np.array([a, count + a, count + b, b]) for a, b in zip(numbers, following, strict=True)]
    sides = np.cross(corners[following] - corners, axes[2])
    sides /= np.linalg.norm(sides, axis=1, keepdims=True)
    normals = np.vstack([axes[2], -axes[2], sides])
    return np.concatenate([corners + half, corners - half]), loops, normals, 0 if thickness == 0.0 else None


def _without_nearly_straight(local, outline) -> np.ndarray:
    """Drop corners of a plane outline that lie on the line between their neighbours, to tolerance."""
    outline = list(outline)
    index = 0
    while index < len(outline) and len(outline) > 3:
        before, here, after = (local[outline[(index + step) % len(outline)], :2] for step in (-1, 0, 1))
        span = after - before
        height = abs(span[0] * (here - before)[1] - span[1] * (here - before)[0]) / np.linalg.norm(span)
        if height <= RATIO_COPLANAR:
            del outline[index]
        else:
            index += 1
    return np.array(outline)


# ---- polyhedron -> tables


def _edges_of(loops):
    """Edges and the two faces of each, in the order in which the loops name them."""
    owner = {}
    for face, loop in enumerate(loops):
        for a, b in zip(loop.tolist(), np.roll(loop, -1).tolist(), strict=True):
            owner[a, b] = face
    edges = [(a, b) for a, b in owner if a < b]
    return np.array(edges, np.int64), np.array([(owner[a, b], owner[b, a]) for a, b in edges], np.int64)


def _neighbors_of(hull):
    rows = [[] for _ in hull.vertices]
    for a, b in hull.edges.tolist():
        rows[a].append(b)
        rows[b].append(a)
    return [np.array(row, np.int64) for row in rows]


def _newell_normal(corners) -> np.ndarray:
    """Unit normal of a polygon by the areas of its projections (Newell's method, Ericson 2005, section 12.4.2)."""
    middle = corners - corners.mean(axis=0)
    normal = np.cross(middle, np.roll(middle, -1, axis=0)).sum(axis=0)
    return normal / np.linalg.norm(normal)


def _fan(corners) -> np.ndarray:
    """Triangles [n, 3, 3] of a convex polygon."""
    return np.array([(corners[0], corners[i], corners[i + 1]) for i in range(1, len(corners) - 1)])


def _starts(counts) -> np.ndarray:
    counts = np.fromiter(counts, np.int64)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _stacked(arrays, empty_shape, dtype) -> np.ndarray:
    arrays = list(arrays)
    return np.ascontiguousarray(np.concatenate(arrays), dtype) if arrays else np.zeros(empty_shape, dtype)


# ---- small things


def _finite_vector(what, value, length) -> np.ndarray:
    try:
        vector = np.array(value, float)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (length,) or not np.all(np.isfinite(vector)):
        raise ShapeError(f"{what} must be {length} finite numbers, not {_text(value)}")
    return vector


def _text(value) -> str:
    if isinstance(value, np.ndarray | list | tuple):
        return "(" + ", ".join(f"{number:g}" if isinstance(number, float) else str(number) for number in value) + ")"
    return repr(value)


def _rotation_matrix(orientation) -> np.ndarray:
    w, x, y, z = orientation
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
