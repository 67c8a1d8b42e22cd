"""Triangle meshes as solids: cleaned, turned the right way round, and their exact mass properties.

A mesh bounds a solid where it is closed: every edge lies in two triangles, which run through it in opposite
directions. What people model often is not: double vertices, faces without area, faces turned inside out, holes.
``solid_mesh`` mends what can be mended without a guess, and says what it has met.
"""

from dataclasses import dataclass

import numpy as np

from .polyhedra import RATIO_SAME_POINT
from .shapes import MassProperties

# Holes are closed if their covers have less than this share of the mesh's area: a bowl's mouth is none.
RATIO_HOLES = 0.1


@dataclass(frozen=True, eq=False)
class SolidMesh:
    """A cleaned mesh, and what was found out about it.

    Attributes
    ----------
    vertices : float64 [vertex_count, 3]
        Distinct, all of them used.
    triangles : int64 [triangle_count, 3]
        With three distinct corners each, counterclockwise seen from outside if ``is_closed``.
    vertices_joined, triangles_dropped : int
        Doubled vertices, and triangles without three corners or without area, that are gone.
    holes_filled : int
        Small holes that were covered, each by a fan about its middle.
    open_edges : int
        Edges of one triangle only, of larger holes.
    crowded_edges : int
        Edges of more than two triangles.
    was_inverted : bool
        All of the mesh was inside out.
    was_mixed : bool
        Neighbouring triangles were turned against each other.
    properties : MassProperties or None
        Of the solid; None if the mesh is not closed or has no volume.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    vertices_joined: int
    triangles_dropped: int
    holes_filled: int
    open_edges: int
    crowded_edges: int
    was_inverted: bool
    was_mixed: bool
    properties: MassProperties | None

    @property
    def is_closed(self) -> bool:
        """Whether it bounds a solid."""
        return self.properties is not None


def solid_mesh(vertices, triangles) -> SolidMesh:
    """Clean a mesh: join vertices at one place, drop triangles without area, cover small holes, turn all outwards.

    Parameters
    ----------
    vertices : array-like [vertex_count, 3]
        Finite.
    triangles : array-like of int [triangle_count, 3]

    Returns
    -------
    SolidMesh
    """
    given = np.asarray(triangles, np.int64)
    vertices, triangles, vertices_joined = _joined(np.asarray(vertices, float), given)
    triangles_dropped = len(given) - len(triangles)
    count, open_edges, crowded_edges = count_edges(triangles)
    holes_filled = 0
    if open_edges and not crowded_edges:
        vertices, triangles, holes_filled = _without_small_holes(vertices, triangles)
        open_edges = 0 if holes_filled else open_edges
    was_mixed = was_inverted = False
    if count and not (open_edges or crowded_edges):
        was_mixed = not _is_consistent(triangles)
        if was_mixed:
            triangles = _turned_alike(triangles)
            triangles = _turned_outwards(vertices, triangles)
        was_inverted = not was_mixed and _volume(vertices, triangles) < 0.0
        if was_inverted:
            triangles = triangles[:, ::-1]
    properties = None
    if count and not (open_edges or crowded_edges):
        properties = mass_properties(vertices, triangles)
        # Two sheets back to back close a mesh and hold nothing.
        if not properties.volume > RATIO_SAME_POINT * np.ptp(vertices, axis=0).max() ** 3:
            properties = None
    return SolidMesh(
        vertices=vertices,
        triangles=np.ascontiguousarray(triangles),
        vertices_joined=vertices_joined,
        triangles_dropped=triangles_dropped,
        holes_filled=holes_filled,
        open_edges=open_edges,
        crowded_edges=crowded_edges,
        was_inverted=was_inverted,
        was_mixed=was_mixed,
        properties=properties,
    )


def mass_properties(vertices, triangles) -> MassProperties:
    """Integrals over the solid that a closed mesh bounds.

    Sum over the tetrahedra of a point inside and a triangle, with the sign of their volume. A tetrahedron with one
    corner at the origin and the others at p_i has second moments ``volume / 20 (sum p_i p_i' + s s')``, s = sum p_i
    (Tonon 2004).

    Parameters
    ----------
    vertices : float64 [vertex_count, 3]
    triangles : int64 [triangle_count, 3]
        Counterclockwise seen from outside.

    Returns
    -------
    MassProperties
    """
    apex = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    corners = vertices[triangles] - apex
    volumes = np.einsum("ni,ni->n", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    sums = corners.sum(axis=1)
    volume = float(volumes.sum())
    if volume == 0.0:
        return MassProperties(0.0, apex, np.zeros((3, 3)))
    mean = volumes @ sums / (4.0 * volume)
    second = np.einsum("n,nki,nkj->ij", volumes, corners, corners) + np.einsum("n,ni,nj->ij", volumes, sums, sums)
    covariance = second / 20.0 - volume * np.outer(mean, mean)
    return MassProperties(volume, apex + mean, np.trace(covariance) * np.eye(3) - covariance)


def _joined(vertices, triangles):
    """Vertices at one place are one, the first of them; triangles without three corners or without area go.

    Returns the vertices that are left, the triangles, and how many vertices were joined to others.
    """
    if not len(triangles):
        return vertices[:0], triangles.reshape(0, 3), 0
    size = np.ptp(vertices[triangles.ravel()], axis=0).max()
    spacing = max(RATIO_SAME_POINT * size, np.finfo(float).tiny)
    first = _first_alike(np.round((vertices - vertices.min(axis=0)) / spacing))
    given = np.unique(triangles)
    doubled = len(given) - len(np.unique(first[given]))
    triangles = first[triangles]
    corners = vertices[triangles]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    distinct = np.all(triangles != np.roll(triangles, 1, axis=1), axis=1)
    # A needle between three corners in a line has none of its own, but its neighbours need it to close the mesh.
    triangles = triangles[distinct & ((areas > 0.0) | _has_neighbors(triangles, distinct))]
    used, triangles = np.unique(triangles, return_inverse=True)
    return np.ascontiguousarray(vertices[used]), triangles.reshape(-1, 3).astype(np.int64), doubled


def _first_alike(rows) -> np.ndarray:
    """For each row of a table the first row that is equal to it."""
    # Sorted stably, so the first of equal rows comes first; much faster than np.unique(axis=0).
    order = np.lexsort(rows.T)
    is_new = np.ones(len(rows), bool)
    is_new[1:] = np.any(rows[order[1:]] != rows[order[:-1]], axis=1)
    first = np.empty(len(rows), np.int64)
    first[order] = order[is_new][np.cumsum(is_new) - 1]
    return first


def _has_neighbors(triangles, distinct) -> np.ndarray:
    """Whether each edge of a triangle is also another's."""
    keys, label = np.unique(_edge_keys(triangles), return_inverse=True)
    uses = np.bincount(label, np.repeat(distinct, 3).astype(float), minlength=len(keys))
    return np.all(uses[label].reshape(-1, 3) >= 2, axis=1)


def _edges(triangles) -> np.ndarray:
    """Directed edges [3 triangle_count, 2], those of one triangle in a row."""
    return np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)


def _edge_keys(triangles) -> np.ndarray:
    """A number for each edge in the order of ``_edges``, the same in either direction."""
    edges = np.sort(_edges(triangles), axis=1)
    return edges[:, 0] * (triangles.max(initial=0) + 1) + edges[:, 1]


def count_edges(triangles):
    """Number of edges, of those with one triangle, and of those with more than two."""
    if not len(triangles):
        return 0, 0, 0
    _, uses = np.unique(_edge_keys(triangles), return_counts=True)
    return len(uses), int(np.sum(uses == 1)), int(np.sum(uses > 2))


def _without_small_holes(vertices, triangles):
    """The mesh with its holes covered, and their number; as it was, and 0, where they are too large or too wild."""
    loops = _hole_loops(triangles)
    if loops is None:
        return vertices, triangles, 0
    middles = np.array([vertices[loop].mean(axis=0) for loop in loops])
    covers = np.concatenate(
        [
            np.column_stack([np.roll(loop, -1), loop, np.full(len(loop), len(vertices) + number)])
            for number, loop in enumerate(loops)
        ]
    )
    covered = np.concatenate([vertices, middles])
    if _area(covered, covers) > RATIO_HOLES * _area(vertices, triangles):
        return vertices, triangles, 0
    return covered, np.concatenate([triangles, covers]), len(loops)


def _hole_loops(triangles):
    """Vertices around each hole, in the direction of the triangles there; None where holes meet in a vertex."""
    edges = _edges(triangles)
    _, label, uses = np.unique(_edge_keys(triangles), return_inverse=True, return_counts=True)
    following: dict[int, int] = {}
    for a, b in edges[uses[label] == 1].tolist():
        if a in following:
            return None
        following[a] = b
    if following.keys() != set(following.values()):
        return None
    loops = []
    while following:
        start, vertex = following.popitem()
        loop = [start]
        while vertex != start:
            loop.append(vertex)
            vertex = following.pop(vertex)
        loops.append(np.array(loop))
    return loops


def _area(vertices, triangles) -> float:
    corners = vertices[triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return float(0.5 * np.linalg.norm(across, axis=1).sum())


def _is_consistent(triangles) -> bool:
    """Whether no two triangles run through an edge in the same direction."""
    edges = _edges(triangles)
    keys = edges[:, 0] * (triangles.max(initial=0) + 1) + edges[:, 1]
    return len(np.unique(keys)) == len(keys)


def _turned_alike(triangles) -> np.ndarray:
    """Triangles of each connected piece of a mesh of two triangles an edge, turned as the piece's first is."""
    edges = _edges(triangles)
    order = np.lexsort(np.sort(edges, axis=1).T)
    first, second = order[0::2], order[1::2]
    neighbor = np.empty(len(edges), np.int64)
    neighbor[first], neighbor[second] = second, first
    same_way = edges[:, 0] == edges[neighbor, 0]
    flipped = np.zeros(len(triangles), bool)
    seen = np.zeros(len(triangles), bool)
    for seed in range(len(triangles)):
        if seen[seed]:
            continue
        seen[seed] = True
        front = [seed]
        while front:
            triangle = front.pop()
            for edge in range(3 * triangle, 3 * triangle + 3):
                other = neighbor[edge] // 3
                if not seen[other]:
                    seen[other] = True
                    flipped[other] = flipped[triangle] ^ same_way[edge]
                    front.append(other)
    return np.where(flipped[:, None], triangles[:, ::-1], triangles)


def _turned_outwards(vertices, triangles) -> np.ndarray:
    """Each connected piece with a volume above 0."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = _edges(triangles)
    graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(len(vertices), len(vertices)))
    _, piece_of_vertex = connected_components(graph, directed=False)
    piece = piece_of_vertex[triangles[:, 0]]
    turned = triangles.copy()
    for number in np.unique(piece):
        members = piece == number
        if _volume(vertices, triangles[members]) < 0.0:
            turned[members] = triangles[members][:, ::-1]
    return turned


def _volume(vertices, triangles) -> float:
    return mass_properties(vertices, triangles).volume
