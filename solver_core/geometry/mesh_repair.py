"""How triangle meshes are mended, step by step: one set of rules for collision, mass and convex decomposition.

What real files hold is mended rather than refused. ``clean`` takes the steps that every use needs:

    merge_vertices            vertices in one place become one
    drop_flat_triangles       triangles without area go
    drop_doubled_triangles    of triangles that are there twice one stays
    split_at_corners          triangles are split where corners of others lie on their border edges
    drop_unused_vertices      vertices that no triangle has go

Two more steps are taken by those that need them:

    close_small_holes         only of solids that move. In a mesh that stands still a hole may be meant: things fall
                              through it, and an open part has a behaviour of its own there (a sheet).
    orient                    neighbours look the same way, closed parts outwards. Not of solids that stay open: their
                              convex parts are made anew from a grid, which does not ask which way a face looks.

A half edge is ``3 t + e``: edge e of triangle t runs from its corner e to the next.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .points import RATIO_SAME_POINT, RATIO_SINGLE_PRECISION, first_equal_row
from .volume_integrals import signed_volumes, triangle_areas

# Triangles whose height is below this share of the mesh's size have no area. Below the rounding of single precision.
RATIO_NO_HEIGHT = 1e-7
# A corner this close to a border edge lies on it (share of the mesh's size): above the rounding of single precision,
# and above the height of flat triangles, so that what was beside one of them is joined again.
RATIO_ON_EDGE = 1e-6
# Holes are closed if their covers have less than this share of the mesh's area: a bowl's mouth is none.
RATIO_HOLES = 0.1
# A mesh with more corners near its border edges is a cloud of triangles: they are not searched, and it stays as it is.
MAXIMAL_CORNERS_NEAR_EDGES = 5_000_000


@dataclass(frozen=True, eq=False)
class CleanMesh:
    """What the steps of ``clean`` leave of a mesh, and what they did.

    Attributes
    ----------
    vertices : float64 [vertex_count, 3]
        Distinct, all of them used.
    triangles : int64 [triangle_count, 3]
        With an area; there may be none.
    given_vertex : int64 [vertex_count]
        Which of the given vertices each one is; ascending.
    vertices_merged, flat_dropped, doubled_dropped, corners_joined : int
        Vertices, triangles, triangles and corners that the steps have changed.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    given_vertex: np.ndarray
    vertices_merged: int
    flat_dropped: int
    doubled_dropped: int
    corners_joined: int

    @property
    def notes(self) -> list[str]:
        """What was done, for the user."""
        counts = (
            (self.vertices_merged, "doubled vertices were merged"),
            (self.flat_dropped, "faces without area were left out"),
            (self.doubled_dropped, "faces that were there twice were left out"),
            (self.corners_joined, "corners that lie on edges of other faces were joined with them"),
        )
        return [f"{count} {text}" for count, text in counts if count]


class OrientedTriangles(NamedTuple):
    """Triangles that look the same way as their neighbours.

    Attributes
    ----------
    triangles : int64 [triangle_count, 3]
    neighbors : int64 [triangle_count, 3]
        The half edge on the other side of each edge; -1 at a border, and where more than two triangles meet.
    is_closed : bool [triangle_count]
        Whether the triangle's connected part is closed: such a part looks outwards, or inwards as a cavity of another.
    part : int64 [triangle_count]
        Which connected part that is.
    turned, crowded_edges, part_count, parts_inside_out : int
        Triangles that looked the other way than their neighbours, edges of more than two triangles, connected parts,
        and those of them that were turned as a whole.
    is_one_sided : bool
        Like a Moebius strip; it is cut where its sides meet.
    """

    triangles: np.ndarray
    neighbors: np.ndarray
    is_closed: np.ndarray
    part: np.ndarray
    turned: int
    crowded_edges: int
    part_count: int
    parts_inside_out: int
    is_one_sided: bool


def clean(vertices: np.ndarray, triangles: np.ndarray) -> CleanMesh:
    """Take the steps that every use of a mesh needs.

    Parameters
    ----------
    vertices : float64 [given_vertex_count, 3]
        Finite [m].
    triangles : int64 [given_triangle_count, 3]

    Returns
    -------
    CleanMesh
    """
    if not len(triangles):
        none = np.zeros(0, np.int64)
        return CleanMesh(vertices[:0], triangles.reshape(0, 3), none, 0, 0, 0, 0)
    size = float(np.ptp(vertices[triangles.ravel()], axis=0).max())
    triangles, vertices_merged = merge_vertices(vertices, triangles, size)
    triangles, flat_dropped = drop_flat_triangles(vertices, triangles, size)
    triangles, doubled_dropped = drop_doubled_triangles(triangles)
    triangles, corners_joined = split_at_corners(vertices, triangles, size)
    given_vertex, triangles = drop_unused_vertices(triangles)
    return CleanMesh(
        np.ascontiguousarray(vertices[given_vertex]),
        triangles,
        given_vertex,
        vertices_merged,
        flat_dropped,
        doubled_dropped,
        corners_joined,
    )


# ---- the steps of ``clean``


def merge_vertices(vertices: np.ndarray, triangles: np.ndarray, size: float) -> tuple[np.ndarray, int]:
    """Triangles that name, of vertices in one place, the one given first; and how many others they named."""
    used = np.unique(triangles)
    spacing = max(RATIO_SAME_POINT * size, RATIO_SINGLE_PRECISION * np.abs(vertices[used]).max())
    if spacing > 0.0:
        cells = np.round((vertices[used] - vertices[used].min(axis=0)) / spacing)
    else:  # all of them lie at the origin
        cells = np.zeros((len(used), 3))
    first = first_equal_row(cells)
    kept = np.full(len(vertices), -1, np.int64)
    kept[used] = used[first]
    return kept[triangles], int(np.count_nonzero(first != np.arange(len(used))))


def drop_flat_triangles(vertices: np.ndarray, triangles: np.ndarray, size: float) -> tuple[np.ndarray, int]:
    """Triangles that have an area, and how many have none.

    A needle between three corners in a line leaves a gap between its neighbours, which ``split_at_corners`` closes.
    """
    corners = vertices[triangles]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    has_area = areas > RATIO_NO_HEIGHT * size * sides
    return triangles[has_area], int(np.count_nonzero(~has_area))


def drop_doubled_triangles(triangles: np.ndarray) -> tuple[np.ndarray, int]:
    """Of triangles with the same corners, whichever way they look, the first; and how many others there were."""
    is_first = first_equal_row(np.sort(triangles, axis=1)) == np.arange(len(triangles))
    return triangles[is_first], int(np.count_nonzero(~is_first))


def split_at_corners(vertices: np.ndarray, triangles: np.ndarray, size: float) -> tuple[np.ndarray, int]:
    """Split triangles at corners of others that lie on their border edges, so that the two sides are neighbours.

    Else such a border would be felt, since both of its sides are rims over which nothing goes on, and a solid would
    count as open.

    Returns
    -------
    triangles : int64 [n, 3]
    joined : int
        Corners at which triangles were split.
    """
    joined = 0
    # A triangle is split at one of its edges at a time.
    for _ in range(3):
        half_edge, corner, fraction = _corners_on_borders(vertices, triangles, size)
        if not len(half_edge):
            break
        first_edge = np.full(len(triangles), 3)
        np.minimum.at(first_edge, half_edge // 3, half_edge % 3)
        now = half_edge % 3 == first_edge[half_edge // 3]
        half_edge, corner, fraction = half_edge[now], corner[now], fraction[now]
        order = np.lexsort([fraction, half_edge])
        half_edge, corner = half_edge[order], corner[order]
        split, start = np.unique(half_edge, return_index=True)
        slices = []
        for edge, points in zip(split, np.split(corner, start[1:]), strict=True):
            tail, head, opposite = np.roll(triangles[edge // 3], -(edge % 3))
            chain = np.concatenate([[tail], points, [head]])
            slices.append(np.column_stack([chain[:-1], chain[1:], np.full(len(chain) - 1, opposite)]))
        triangles = np.concatenate([np.delete(triangles, split // 3, axis=0), *slices])
        joined += len(corner)
    return triangles, joined


def drop_unused_vertices(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the vertices that triangles have, ascending, and the triangles with numbers of these."""
    used, numbers = np.unique(triangles, return_inverse=True)
    return used, numbers.reshape(-1, 3).astype(np.int64)


def _corners_on_borders(vertices, triangles, size):
    """Border edges as half edges, corners of other triangles on them, and where along the edge, 0 to 1, they lie."""
    from scipy.spatial import cKDTree

    none = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    keys, tails, heads = _edge_keys(triangles)
    _, first, count = np.unique(keys, return_index=True, return_counts=True)
    border = first[count == 1]
    if not len(border):
        return none
    corners = np.unique(np.concatenate([tails[border], heads[border]]))
    tail, along = vertices[tails[border]], vertices[heads[border]] - vertices[tails[border]]
    lengths = np.linalg.norm(along, axis=1)
    tree = cKDTree(vertices[corners])
    middles, radii = tail + 0.5 * along, 0.5 * lengths
    if tree.query_ball_point(middles, radii, return_length=True).sum() > MAXIMAL_CORNERS_NEAR_EDGES:
        return none
    near = tree.query_ball_point(middles, radii)
    edge = np.repeat(np.arange(len(border)), [len(found) for found in near])
    corner = corners[np.concatenate([np.array(found, np.int64) for found in near])]
    between = vertices[corner] - tail[edge]
    fraction = np.einsum("ni,ni->n", between, along[edge]) / lengths[edge] ** 2
    distance = np.linalg.norm(between - fraction[:, None] * along[edge], axis=1)
    margin = RATIO_ON_EDGE * size / lengths[edge]
    lies_on = (distance <= RATIO_ON_EDGE * size) & (fraction > margin) & (fraction < 1.0 - margin)
    return border[edge[lies_on]], corner[lies_on], fraction[lies_on]


def _edge_keys(triangles):
    """Of each half edge a number that is the same in either direction, and its two vertices."""
    tails, heads = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    return np.minimum(tails, heads) * (triangles.max(initial=0) + 1) + np.maximum(tails, heads), tails, heads


def count_edges(triangles: np.ndarray) -> tuple[int, int]:
    """Number of edges of one triangle only, and of those of more than two."""
    if not len(triangles):
        return 0, 0
    _, uses = np.unique(_edge_keys(triangles)[0], return_counts=True)
    return int(np.sum(uses == 1)), int(np.sum(uses > 2))


# ---- holes


def close_small_holes(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Cover holes by fans about their middles, and count them.

    The mesh stays as it is, and the count is 0, where the covers would be too large (``RATIO_HOLES``), where holes
    meet in a vertex, or where triangles beside one look in different directions.
    """
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
    if triangle_areas(covered[covers]).sum() > RATIO_HOLES * triangle_areas(vertices[triangles]).sum():
        return vertices, triangles, 0
    return covered, np.concatenate([triangles, covers]), len(loops)


def _hole_loops(triangles):
    """Vertices around each hole, in the direction of the triangles there; None where they are not simple loops."""
    keys, tails, heads = _edge_keys(triangles)
    _, label, uses = np.unique(keys, return_inverse=True, return_counts=True)
    is_border = uses[label] == 1
    following: dict[int, int] = {}
    for a, b in zip(tails[is_border].tolist(), heads[is_border].tolist(), strict=True):
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


# ---- which way triangles look


def orient(vertices: np.ndarray, triangles: np.ndarray) -> OrientedTriangles:
    """Turn triangles so that neighbours look the same way and closed parts outwards.

    A part within another one is turned with it, so that a cavity stays one. Of a part whose triangles disagree the
    way stays that more of the area looks; if it is closed, it is then turned outwards.

    Parameters
    ----------
    vertices : float64 [vertex_count, 3]
    triangles : int64 [triangle_count, 3]
        At least one.
    """
    one, two, crowded_edges = _edge_pairs(triangles)
    turned, part = _turns_that_agree(triangles, one, two, vertices)
    turned_count = int(np.count_nonzero(turned))
    tails = triangles.ravel()
    runs_alike = (tails[one] == tails[two]) == (turned[one // 3] == turned[two // 3])
    one, two = one[~runs_alike], two[~runs_alike]
    other_half = np.full(3 * len(triangles), -1, np.int64)
    other_half[one], other_half[two] = two, one
    neighbors = other_half.reshape(-1, 3)

    part_count = int(part.max()) + 1
    is_closed = np.bincount(part, (neighbors < 0).any(axis=1), part_count) == 0
    signs = np.where(turned, -1.0, 1.0)
    middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    volume = np.bincount(part, signs * signed_volumes(vertices[triangles] - middle), part_count)
    inside_out = is_closed & (volume < 0.0)
    if inside_out.any():
        inside_out = is_closed & inside_out[_outermost(vertices, triangles, part, is_closed)]
    turned = turned ^ inside_out[part]
    triangles, neighbors = triangles.copy(), neighbors.copy()
    # Corners 0, 1, 2 become 0, 2, 1: the edges 0, 1, 2 become 2, 1, 0.
    triangles[turned] = triangles[turned][:, [0, 2, 1]]
    neighbors[turned] = neighbors[turned][:, [2, 1, 0]]
    known = neighbors >= 0
    other = neighbors[known]
    neighbors[known] = np.where(turned[other // 3], 3 * (other // 3) + 2 - other % 3, other)
    return OrientedTriangles(
        triangles=triangles,
        neighbors=neighbors,
        is_closed=is_closed[part],
        part=part,
        turned=turned_count,
        crowded_edges=crowded_edges,
        part_count=part_count,
        parts_inside_out=int(np.count_nonzero(inside_out)),
        is_one_sided=bool(runs_alike.any()),
    )


def _edge_pairs(triangles):
    """Pairs of half edges that join two triangles, and how many edges have more than two."""
    keys, _, _ = _edge_keys(triangles)
    order = np.argsort(keys, kind="stable")
    _, first, count = np.unique(keys[order], return_index=True, return_counts=True)
    pairs = first[count == 2]
    return order[pairs], order[pairs + 1], int(np.count_nonzero(count > 2))


def _turns_that_agree(triangles, one, two, vertices):
    """Which triangles to turn so that neighbours agree, and the connected part of each triangle.

    Each triangle is two nodes of a graph, as it is and turned; an edge joins the nodes that agree. Each connected part
    then appears twice, once turned as a whole; the copy is taken that keeps more of the area as it is.
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
    kept_area = np.bincount(side[:, 0], triangle_areas(vertices[triangles]), side.max() + 1)
    # Where a part's two copies are one, it is one-sided, and nothing is turned.
    return kept_area[side[:, 0]] < kept_area[side[:, 1]], part


def _outermost(vertices, triangles, part, is_closed):
    """For each part the largest closed part whose bounding box holds that of this one, itself where there is none."""
    count = int(part.max()) + 1
    lower, upper = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(lower, part, vertices[triangles].min(axis=1))
    np.maximum.at(upper, part, vertices[triangles].max(axis=1))
    outermost = np.arange(count)
    closed = np.flatnonzero(is_closed)
    # From the smallest to the largest, so that the largest has the last word.
    for outer in closed[np.argsort((upper - lower)[closed].prod(axis=1), kind="stable")] if count > 1 else ():
        outermost[(lower > lower[outer]).all(axis=1) & (upper < upper[outer]).all(axis=1)] = outer
    return outermost
