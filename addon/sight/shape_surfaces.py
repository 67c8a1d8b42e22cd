"""Collision shapes as triangles and edges, in plain arrays: what is simulated, ready to be drawn.

All shapes of a model become one surface whose vertices name their body, so that one call draws a scene and only the
poses change from frame to frame.
"""

from typing import NamedTuple

import numpy as np

from ...solver_core.geometry import rotations
from ...solver_core.geometry.shapes import ShapeKind
from ...solver_core.model.model import BodyKind, Model

# A surface has so many vertices at most; beyond that the largest shapes stand as their bounding boxes.
MOST_VERTICES = 400_000
# Round shapes have so many sides; where there are many of them the second number.
_SIDES, _FEWER_SIDES, _MANY = 20, 8, 500
# Bodies by how they move: static (which hide less of the others), kinematic, dynamic.
KIND_COLOURS = np.array([[0.55, 0.57, 0.6, 0.4], [0.35, 0.62, 0.8, 1.0], [0.93, 0.6, 0.25, 1.0]], np.float32)
# Parts of one body, so that neighbours differ (Okabe and Ito's colours, which most eyes tell apart).
PART_COLOURS = np.array(
    [
        [0.90, 0.62, 0.0, 1.0],
        [0.34, 0.71, 0.91, 1.0],
        [0.0, 0.62, 0.45, 1.0],
        [0.94, 0.89, 0.26, 1.0],
        [0.0, 0.45, 0.70, 1.0],
        [0.84, 0.37, 0.0, 1.0],
        [0.80, 0.47, 0.65, 1.0],
    ],
    np.float32,
)

_CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
_BOX_EDGES = np.array([(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7)])
_BOX_QUADS = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
_BOX_TRIANGLES = np.concatenate([_BOX_QUADS[:, [0, 1, 2]], _BOX_QUADS[:, [0, 2, 3]]])
_NO_EDGES = np.zeros((0, 2), np.int64)


class Surface(NamedTuple):
    """Triangles and edges of many shapes.

    Attributes
    ----------
    place : float32 [vertex_count, 4]
        In the body frame [m], and the number of the body.
    colour : float32 [vertex_count, 4]
    triangles, edges : int32 [triangle_count, 3], [edge_count, 2]
    boxed : int
        Shapes that stand as their bounding boxes, since there are too many vertices.
    """

    place: np.ndarray
    colour: np.ndarray
    triangles: np.ndarray
    edges: np.ndarray
    boxed: int


def surface_of(model: Model, colours: np.ndarray | None = None, most_vertices: int = MOST_VERTICES) -> Surface:
    """The collision shapes of a model.

    Parameters
    ----------
    model : Model
    colours : float32 [shape_count, 4], optional
        By default ``colours_of``.
    most_vertices : int
        Where shapes have more, the largest of them stand as boxes.
    """
    shapes = model.arrays.shapes
    colours = colours_of(model) if colours is None else colours
    boxed = _boxed(model, _vertex_counts(model), most_vertices)
    pieces = []
    for kind in ShapeKind:
        rows = np.flatnonzero((shapes.kind == kind) & ~boxed)
        if len(rows) == 0:
            continue
        if kind == ShapeKind.HULL:
            pieces.append(_hulls(model.hulls, shapes.hull[rows], rows))
        elif kind == ShapeKind.MESH:
            pieces += [_mesh(model.meshes, shapes.hull[row], row) for row in rows]
        else:
            pieces.append(_repeated(rows, *_solid(kind, shapes.parameters[rows], _sides(model))))
    rows = np.flatnonzero(boxed)
    if len(rows):
        pieces.append(_repeated(rows, *_bounding_boxes(model, rows)))
    return _joined(shapes, colours, pieces, int(boxed.sum()))


def box_between(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices, triangles and edges of a box between two corners."""
    return 0.5 * (lower + upper) + 0.5 * (upper - lower) * _CORNERS, _BOX_TRIANGLES, _BOX_EDGES


def colours_of(model: Model) -> np.ndarray:
    """A colour for each shape, float32 [shape_count, 4]: by part where a body has several, else by how it moves."""
    shapes = model.arrays.shapes
    kind = np.asarray(model.initial_state.kind)
    colours = KIND_COLOURS[kind[shapes.body]]
    # bodies that never move are told from others at first sight
    count = np.bincount(shapes.body, minlength=model.body_count)
    parts = np.flatnonzero((count[shapes.body] > 1) & (kind[shapes.body] != BodyKind.STATIC))
    first = np.searchsorted(np.sort(shapes.body), shapes.body)
    order = np.empty(len(shapes.body), np.int64)
    order[np.argsort(shapes.body, kind="stable")] = np.arange(len(shapes.body))
    number = order - first
    colours[parts] = PART_COLOURS[number[parts] % len(PART_COLOURS)]
    return colours


def _sides(model):
    round_shapes = np.isin(model.arrays.shapes.kind, (ShapeKind.SPHERE, ShapeKind.CAPSULE)).sum()
    return _FEWER_SIDES if round_shapes > _MANY else _SIDES


def _vertex_counts(model):
    """Vertices that each shape would have."""
    shapes, sides = model.arrays.shapes, _sides(model)
    of_kind = {
        ShapeKind.BOX: 8,
        ShapeKind.SPHERE: len(_ball(sides)[0]),
        ShapeKind.CAPSULE: len(_ball(sides)[0]),
        ShapeKind.CYLINDER: 2 * sides,
        ShapeKind.CONE: sides + 1,
    }
    counts = np.zeros(len(shapes.kind), np.int64)
    for kind, count in of_kind.items():
        counts[shapes.kind == kind] = count
    for kind, table in ((ShapeKind.HULL, model.hulls.start), (ShapeKind.MESH, model.meshes.start)):
        rows = np.flatnonzero(shapes.kind == kind)
        counts[rows] = table[shapes.hull[rows] + 1, 0] - table[shapes.hull[rows], 0]
    return counts


def _boxed(model, counts, most):
    """Which shapes stand as boxes: the largest, as many as it takes."""
    boxed = np.zeros(len(counts), bool)
    over = int(counts.sum()) - most
    if over > 0:
        order = np.argsort(-counts, kind="stable")
        saved = np.cumsum(np.maximum(counts[order] - 8, 0))
        boxed[order[: int(np.searchsorted(saved, over)) + 1]] = True
        boxed &= counts > 8
    return boxed


def _solid(kind, parameters, sides):
    """Vertices [n, v, 3] of n boxes or round shapes, and the triangles and edges of one."""
    if kind == ShapeKind.BOX:
        return parameters[:, None] * _CORNERS, _BOX_TRIANGLES, _BOX_EDGES
    radius, half = parameters[:, 0, None, None], parameters[:, 1, None]
    if kind in (ShapeKind.SPHERE, ShapeKind.CAPSULE):
        points, triangles = _ball(sides)
        places = radius * points
        if kind == ShapeKind.CAPSULE:
            places[:, :, 2] += half * np.where(np.arange(len(points)) < len(points) // 2, 1.0, -1.0)
        return places, triangles, _NO_EDGES
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(sides)])
    around, following = np.arange(sides), np.roll(np.arange(sides), -1)
    base = np.column_stack([np.zeros(sides - 2, int), around[2:], around[1:-1]])
    rim = np.column_stack([around, following])
    lower = radius * ring
    lower[:, :, 2] -= half
    if kind == ShapeKind.CONE:
        apex = np.zeros((len(parameters), 1, 3))
        apex[:, 0, 2] = parameters[:, 1]
        sloped = np.column_stack([around, following, np.full(sides, sides)])
        return np.concatenate([lower, apex], axis=1), np.concatenate([base, sloped]), rim
    upper = radius * ring
    upper[:, :, 2] += half
    walls = [np.column_stack([around, following, sides + around])]
    walls.append(np.column_stack([following, sides + following, sides + around]))
    triangles = np.concatenate([base, base[:, ::-1] + sides, *walls])
    return np.concatenate([lower, upper], axis=1), triangles, np.concatenate([rim, rim + sides])


def _ball(sides):
    """A unit ball of two halves, which a capsule moves apart: first the upper, each with a ring at the equator."""
    rings = max(sides // 4, 2)
    points = []
    for sign in (1.0, -1.0):
        points.append((0.0, 0.0, sign))
        for ring in range(1, rings + 1):
            polar = 0.5 * np.pi * ring / rings
            for side in range(sides):
                angle = 2.0 * np.pi * side / sides
                points.append((np.sin(polar) * np.cos(angle), np.sin(polar) * np.sin(angle), sign * np.cos(polar)))
    half = 1 + rings * sides
    triangles = []
    for upper in (True, False):
        first = 0 if upper else half
        quads = []
        for side in range(sides):
            one, two = 1 + side, 1 + (side + 1) % sides
            quads.append((0, one, two))
            for ring in range(rings - 1):
                a, b = one + ring * sides, two + ring * sides
                quads += [(a, a + sides, b), (b, a + sides, b + sides)]
        turned = np.array(quads) + first
        triangles.append(turned if upper else turned[:, ::-1])
    equator, below = 1 + (rings - 1) * sides, half + 1 + (rings - 1) * sides
    side = np.arange(sides)
    following = np.roll(side, -1)
    triangles.append(np.column_stack([equator + side, below + side, equator + following]))
    triangles.append(np.column_stack([equator + following, below + side, below + following]))
    return np.array(points), np.concatenate(triangles)


def _repeated(rows, vertices, triangles, edges):
    """A piece of shapes that have as many vertices [n, v, 3] each: (row of each vertex, vertices, triangles, edges)."""
    count, each = vertices.shape[:2]
    first = each * np.arange(count)[:, None, None]
    lines = (first + edges).reshape(-1, 2)
    return np.repeat(rows, each), vertices.reshape(-1, 3), (first + triangles).reshape(-1, 3), lines


def _hulls(hulls, own, rows):
    """The piece of some shapes whose hulls are ``own``, faces as fans; all at once, since there may be thousands."""
    length = np.diff(hulls.loop_start)
    face = np.repeat(np.arange(len(length)), length - 2)
    corner = hulls.loop_start[face] + 1 + _counted(length - 2)
    fans = np.column_stack([hulls.loop[hulls.loop_start[face]], hulls.loop[corner], hulls.loop[corner + 1]])
    fan_start = np.concatenate([[0], np.cumsum(length - 2)])[hulls.start[:, 1]]
    counts, first = np.diff(hulls.start[:, 0])[own], hulls.start[own, 0]
    used = np.cumsum(counts) - counts
    tables = []
    for table, start in ((fans, fan_start), (hulls.edge[:, :2], hulls.start[:, 2])):
        of_shape = np.diff(start)[own]
        chosen = np.repeat(start[own], of_shape) + _counted(of_shape)
        tables.append(table[chosen] + np.repeat(used, of_shape)[:, None])
    vertices = hulls.vertex[np.repeat(first, counts) + _counted(counts)]
    return np.repeat(rows, counts), vertices, *tables


def _counted(counts):
    """0 to each of these numbers, one after the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _mesh(meshes, own, row):
    (first, triangle), (last, last_triangle) = meshes.start[own], meshes.start[own + 1]
    triangles = meshes.triangle[triangle:last_triangle]
    edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    return np.full(last - first, row), meshes.vertex[first:last], triangles, np.unique(edges, axis=0)


def _bounding_boxes(model, rows):
    shapes = model.arrays.shapes
    lower, upper = np.empty((2, len(rows), 3))
    for place, row in enumerate(rows):
        kind, hull = shapes.kind[row], shapes.hull[row]
        if kind == ShapeKind.HULL:
            lower[place], upper[place] = model.hulls.bounds[hull]
        elif kind == ShapeKind.MESH:
            vertices = model.meshes.vertex[model.meshes.start[hull, 0] : model.meshes.start[hull + 1, 0]]
            lower[place], upper[place] = vertices.min(axis=0), vertices.max(axis=0)
        else:
            radius, half, _ = shapes.parameters[row]
            height = {ShapeKind.SPHERE: radius, ShapeKind.CAPSULE: radius + half}.get(ShapeKind(kind), half)
            upper[place] = radius, radius, height
            lower[place] = -upper[place]
    centre, extent = 0.5 * (lower + upper), 0.5 * (upper - lower)
    return centre[:, None] + extent[:, None] * _CORNERS, _BOX_TRIANGLES, _BOX_EDGES


def _joined(shapes, colours, pieces, boxed):
    """One surface of pieces of (row of each vertex, vertices, triangles, edges)."""
    place, colour, triangles, edges, used = [], [], [], [], 0
    for rows, vertices, corners, lines in pieces:
        piece = np.empty((len(vertices), 4), np.float32)
        piece[:, :3] = rotations.rotate(shapes.orientation[rows], vertices) + shapes.position[rows]
        piece[:, 3] = shapes.body[rows]
        place.append(piece)
        colour.append(colours[rows])
        triangles.append(used + corners)
        edges.append(used + lines)
        used += len(vertices)
    return Surface(
        np.concatenate([np.zeros((0, 4), np.float32), *place]),
        np.concatenate([np.zeros((0, 4), np.float32), *colour]).astype(np.float32),
        np.concatenate([np.zeros((0, 3), np.int32), *triangles]).astype(np.int32),
        np.concatenate([np.zeros((0, 2), np.int32), *edges]).astype(np.int32),
        boxed,
    )
