"""Triangle meshes as collision shapes of bodies that are not dynamic, cleaned, and their tables for the kernels.

What real files hold is mended rather than refused: doubled vertices become one, faces without area are left out, faces
that look the other way than their neighbours are turned, parts that are closed but inside out likewise. ``notes`` says
what was found and done.

A part of a mesh that is closed is solid: it pushes outwards. An open part is a sheet without thickness: it pushes a
body to the side on which its centre is.
"""

from typing import NamedTuple

import numpy as np

from .polyhedra import RATIO_SAME_POINT, RATIO_SINGLE_PRECISION, ShapeError, describe
from .shapes import MassProperties, ShapeKind

# Triangles whose height is below this share of the mesh's size have no area. Below the rounding of single precision.
RATIO_NO_HEIGHT = 1e-7
# A corner this close to a border edge lies on it (share of the mesh's size): above the rounding of single precision.
RATIO_ON_EDGE = 1e-6
# So many corners near border edges are looked at; a mesh with more is a cloud of triangles, and stays as it is.
_MOST_CORNERS_NEAR_EDGES = 5_000_000


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

    def __init__(self, vertices, triangles):
        given, triangles = _checked(vertices, triangles)
        lower, upper = given[triangles.ravel()].min(axis=0), given[triangles.ravel()].max(axis=0)
        size = float((upper - lower).max())
        notes = []
        self.given_vertex, triangles = _merge_vertices(given, triangles, size, notes)
        self.vertices = np.ascontiguousarray(given[self.given_vertex])
        triangles = _drop_flat_triangles(self.vertices, triangles, size, notes)
        triangles = _split_at_corners(self.vertices, triangles, size, notes)
        self.triangles, self.neighbors, self.is_solid = _orient(self.vertices, triangles, notes)
        self.position = 0.5 * (lower + upper)
        self.notes = tuple(notes)

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

    def bounding_box(self):
        """Lower and upper corner in the user frame [m]."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    def mass_properties(self) -> MassProperties:
        """Of the closed parts (tetrahedra to the middle of the mesh, with their signs); else of the area.

        Of a simplex of dimension d with corners p_i, its apex at the origin, the second moments are
        ``measure / ((d + 1) (d + 2)) (sum p_i p_i' + s s')`` with s = sum p_i, as in ``ConvexHull``.
        """
        corners = self.vertices[self.triangles] - self.position
        if self.is_flat:
            areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            measures, dimension = 0.5 * np.linalg.norm(areas, axis=1), 2
        else:
            corners = corners[self.is_solid]
            measures, dimension = _signed_volumes(corners), 3
        sums = corners.sum(axis=1)
        measure = float(measures.sum())
        mean = measures @ sums / ((dimension + 1) * measure)
        second = np.einsum("n,nki,nkj->ij", measures, corners, corners) + np.einsum("n,ni,nj->ij", measures, sums, sums)
        covariance = second / ((dimension + 1) * (dimension + 2)) - measure * np.outer(mean, mean)
        return MassProperties(measure, self.position + mean, np.trace(covariance) * np.eye(3) - covariance)


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


def pack_meshes(meshes) -> MeshArrays:
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


# ---- cleaning


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
    bad = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if len(bad):
        raise ShapeError(f"mesh: vertex {bad[0]} is {describe(vertices[bad[0]])}; vertices must be finite")
    return vertices, triangles.astype(np.int64)


def _merge_vertices(given, triangles, size, notes):
    """Make one of vertices in one place, and leave out those that no triangle has.

    Returns
    -------
    kept : int64 [vertex_count]
        Numbers of the given vertices that stay.
    triangles : int64 [n, 3]
    """
    used = np.unique(triangles)
    spacing = max(RATIO_SAME_POINT * size, RATIO_SINGLE_PRECISION * np.abs(given[used]).max())
    cells = np.round((given[used] - given[used].min(axis=0)) / spacing) if spacing > 0.0 else np.zeros((len(used), 3))
    order = np.lexsort(cells.T)
    is_first = np.ones(len(used), bool)
    is_first[1:] = np.any(cells[order][1:] != cells[order][:-1], axis=1)
    # Of each cell the vertex that was given first stays (the sort is stable), and vertices keep their order.
    first = order[is_first]
    place = np.empty(len(first), np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(len(first))
    new_number = np.full(len(given), -1, np.int64)
    new_number[used[order]] = place[np.cumsum(is_first) - 1]
    if len(first) < len(used):
        notes.append(f"{len(used) - len(first)} doubled vertices were merged")
    return used[np.sort(first)], new_number[triangles]


def _drop_flat_triangles(vertices, triangles, size, notes):
    corners = vertices[triangles]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    kept = areas > RATIO_NO_HEIGHT * size * sides
    if not kept.any():
        raise ShapeError(f"mesh: none of its {len(triangles)} triangles has an area")
    if not kept.all():
        notes.append(f"{np.count_nonzero(~kept)} faces without area were left out")
    triangles = triangles[kept]
    corners = np.sort(triangles, axis=1)
    order = np.lexsort(corners.T)
    is_double = np.zeros(len(triangles), bool)
    is_double[order[1:]] = np.all(corners[order][1:] == corners[order][:-1], axis=1)
    if is_double.any():
        notes.append(f"{np.count_nonzero(is_double)} faces that were there twice were left out")
    return triangles[~is_double]


def _split_at_corners(vertices, triangles, size, notes):
    """Split triangles at corners of others that lie on their border edges, so that the two sides are neighbours.

    Else such a border would be felt: both of its sides are rims, over which nothing goes on.
    """
    joined = 0
    # A triangle is split at one of its edges at a time.
    for _ in range(3):
        half_edge, corner, share = _corners_on_borders(vertices, triangles, size)
        if not len(half_edge):
            break
        first_edge = np.full(len(triangles), 3)
        np.minimum.at(first_edge, half_edge // 3, half_edge % 3)
        now = half_edge % 3 == first_edge[half_edge // 3]
        half_edge, corner, share = half_edge[now], corner[now], share[now]
        order = np.lexsort([share, half_edge])
        half_edge, corner = half_edge[order], corner[order]
        split, start = np.unique(half_edge, return_index=True)
        pieces = []
        for edge, points in zip(split, np.split(corner, start[1:]), strict=True):
            tail, head, opposite = np.roll(triangles[edge // 3], -(edge % 3))
            chain = np.concatenate([[tail], points, [head]])
            pieces.append(np.column_stack([chain[:-1], chain[1:], np.full(len(chain) - 1, opposite)]))
        triangles = np.concatenate([np.delete(triangles, split // 3, axis=0), *pieces])
        joined += len(corner)
    if joined:
        notes.append(f"{joined} corners that lie on edges of other faces were joined with them")
    return triangles


def _corners_on_borders(vertices, triangles, size):
    """Border edges as ``3 t + e``, corners of other triangles on them, and where along the edge [0, 1] they lie."""
    from scipy.spatial import cKDTree

    tails, heads = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    key = np.minimum(tails, heads) * len(vertices) + np.maximum(tails, heads)
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    border = first[count == 1]
    none = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    if not len(border):
        return none
    corners = np.unique(np.concatenate([tails[border], heads[border]]))
    tail, along = vertices[tails[border]], vertices[heads[border]] - vertices[tails[border]]
    lengths = np.linalg.norm(along, axis=1)
    tree = cKDTree(vertices[corners])
    middles, radii = tail + 0.5 * along, 0.5 * lengths
    if tree.query_ball_point(middles, radii, return_length=True).sum() > _MOST_CORNERS_NEAR_EDGES:
        return none
    near = tree.query_ball_point(middles, radii)
    edge = np.repeat(np.arange(len(border)), [len(found) for found in near])
    corner = corners[np.concatenate([np.array(found, np.int64) for found in near])]
    between = vertices[corner] - tail[edge]
    share = np.einsum("ni,ni->n", between, along[edge]) / lengths[edge] ** 2
    distance = np.linalg.norm(between - share[:, None] * along[edge], axis=1)
    margin = RATIO_ON_EDGE * size / lengths[edge]
    lies_on = (distance <= RATIO_ON_EDGE * size) & (share > margin) & (share < 1.0 - margin)
    return border[edge[lies_on]], corner[lies_on], share[lies_on]


def _orient(vertices, triangles, notes):
    """Turn triangles so that neighbours look the same way and closed parts outwards.

    Returns
    -------
    triangles, neighbors, is_solid
        As in ``TriangleMesh``.
    """
    one, two, crowded = _edge_pairs(triangles)
    if crowded:
        notes.append(f"{crowded} edges have more than two faces: they count as borders")
    turned, part = _consistent_turns(triangles, one, two, vertices)
    if turned.any():
        notes.append(f"{np.count_nonzero(turned)} faces looked the other way than their neighbours: turned")
    tails = triangles.ravel()
    runs_alike = (tails[one] == tails[two]) == (turned[one // 3] == turned[two // 3])
    if runs_alike.any():
        notes.append("one-sided like a Moebius strip: it is cut where its sides meet")
    one, two = one[~runs_alike], two[~runs_alike]
    neighbors = np.full(3 * len(triangles), -1, np.int64)
    neighbors[one], neighbors[two] = two, one
    neighbors = neighbors.reshape(-1, 3)

    part_count = int(part.max()) + 1
    is_closed = np.bincount(part, (neighbors < 0).any(axis=1), part_count) == 0
    signs = np.where(turned, -1.0, 1.0)
    middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    volume = np.bincount(part, signs * _signed_volumes(vertices[triangles] - middle), part_count)
    inside_out = is_closed & (volume < 0.0)
    if inside_out.any():
        inside_out &= ~_cavities(vertices, triangles, part, is_closed)
    if inside_out.any():
        notes.append("it was inside out: turned" if part_count == 1 else f"{inside_out.sum()} parts were inside out")
    if not is_closed.all():
        notes.append(
            f"is open, with {np.count_nonzero(neighbors < 0)} border edges: "
            "simulated as a sheet that nothing passes from either side"
        )
    turned = turned ^ inside_out[part]
    triangles, neighbors = triangles.copy(), neighbors.copy()
    # Corners 0, 1, 2 become 0, 2, 1: the edges 0, 1, 2 become 2, 1, 0.
    triangles[turned] = triangles[turned][:, [0, 2, 1]]
    neighbors[turned] = neighbors[turned][:, [2, 1, 0]]
    known = neighbors >= 0
    other = neighbors[known]
    neighbors[known] = np.where(turned[other // 3], 3 * (other // 3) + 2 - other % 3, other)
    return triangles, neighbors, is_closed[part]


def _edge_pairs(triangles):
    """Pairs of half edges ``3 t + e`` that join two triangles, and how many edges have more than two."""
    tails, heads = triangles, np.roll(triangles, -1, axis=1)
    lower, upper = np.minimum(tails, heads).ravel(), np.maximum(tails, heads).ravel()
    key = lower * (int(upper.max()) + 1) + upper
    order = np.argsort(key, kind="stable")
    _, first, count = np.unique(key[order], return_index=True, return_counts=True)
    pairs = first[count == 2]
    return order[pairs], order[pairs + 1], int(np.count_nonzero(count > 2))


def _consistent_turns(triangles, one, two, vertices):
    """Which triangles to turn so that neighbours agree, and the connected part of each triangle.

    Each triangle is two nodes of a graph, as it is and turned; an edge joins the nodes that agree. Each connected part
    then appears twice, once turned as a whole; taken is the one that keeps more of the area as it is.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    count = len(triangles)
    a, b = one // 3, two // 3
    disagree = (triangles.ravel()[one] == triangles.ravel()[two]).astype(np.int64)

    def components(rows, columns, nodes):
        graph = coo_matrix((np.ones(len(rows), np.int8), (rows, columns)), shape=(nodes, nodes))
        return connected_components(graph, directed=False)[1].astype(np.int64)

    part = components(a, b, count)
    if not disagree.any():
        return np.zeros(count, bool), part
    rows, columns = np.concatenate([2 * a, 2 * a + 1]), np.concatenate([2 * b + disagree, 2 * b + 1 - disagree])
    side = components(rows, columns, 2 * count).reshape(-1, 2)
    corners = vertices[triangles]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    kept_area = np.bincount(side[:, 0], areas, side.max() + 1)
    # Where a part's two copies are one, it is one-sided, and nothing is turned.
    return kept_area[side[:, 0]] < kept_area[side[:, 1]], part


def _signed_volumes(corners):
    return np.einsum("ni,ni->n", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0


def _cavities(vertices, triangles, part, is_closed):
    """Which parts lie within the bounding box of another closed part: their inward look may be meant."""
    count = int(part.max()) + 1
    lower, upper = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(lower, part, vertices[triangles].min(axis=1))
    np.maximum.at(upper, part, vertices[triangles].max(axis=1))
    inside = np.zeros(count, bool)
    for outer in np.flatnonzero(is_closed) if count > 1 else ():
        inside |= (lower > lower[outer]).all(axis=1) & (upper < upper[outer]).all(axis=1)
    return inside
