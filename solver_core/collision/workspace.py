"""Memory and constant tables of the collision stages, allocated once a model."""

from typing import NamedTuple

import numpy as np

from ..shapes import ConvexHull, HullArrays, pack_hulls

# Values of ShapeArrays.kind.
BOX = 0
SPHERE = 1
HULL = 2

# Values of PairArrays.reference: where a manifold's normal comes from.
NO_CONTACT = -1
FACE_OF_A = 0
FACE_OF_B = 1
TWO_EDGES = 2
CLOSEST_POINTS = 3


class StepScalars(NamedTuple):
    """What the collision stages read of a step; any NamedTuple with these fields will do.

    Attributes
    ----------
    h : float
        Length of the substep [s].
    gravity_norm : float
        [m/s^2].
    maximal_points : int
        Contacts a pair keeps at most.
    """

    h: float
    gravity_norm: float
    maximal_points: int


class ManifoldScratch(NamedTuple):
    """The contacts of one pair while they are made, in the frame of shape a.

    Attributes
    ----------
    normal : float64 [3]
        From a to b.
    point_a, point_b : float64 [M, 3]
        Points of the two surfaces.
    gap : float64 [M]
    origin : int64 [2]
        ``reference`` and ``feature`` as in ``PairArrays``.
    polygon, clipped : float64 [M, 3]
        For clipping.
    plane_polygon : float64 [M, 3]
        The reference face.
    """

    normal: np.ndarray
    point_a: np.ndarray
    point_b: np.ndarray
    gap: np.ndarray
    origin: np.ndarray
    polygon: np.ndarray
    clipped: np.ndarray
    plane_polygon: np.ndarray


class PairScratch(NamedTuple):
    """One pair's relative pose and what the separating-axis and closest-point queries find.

    Attributes
    ----------
    rotation, translation : float64 [3, 3], [3]
        Pose of shape b in the frame of shape a.
    inverse_rotation, inverse_translation : float64 [3, 3], [3]
        Pose of shape a in the frame of shape b.
    separation : float64 [3]
        Largest separation along a face normal of a, of b, and along the normal of two edges [m].
    feature : int64 [4]
        Face of a, face of b, edge of a, edge of b that give these.
    edge_normal : float64 [3]
        From a to b.
    closest_a, closest_b, closest_normal : float64 [3]
        Closest points and direction from a to b.
    simplex, simplex_a, simplex_b : float64 [4, 3]
        Points of the Minkowski difference a - b, and of a and b.
    weight : float64 [4]
        Barycentric coordinates of the closest point of the simplex.
    height_a, height_b : float64 [V]
        Vertices' heights along an axis.
    near_edges_a, near_edges_b : int64 [E]
        Edges that may decide the separation.
    """

    rotation: np.ndarray
    translation: np.ndarray
    inverse_rotation: np.ndarray
    inverse_translation: np.ndarray
    separation: np.ndarray
    feature: np.ndarray
    edge_normal: np.ndarray
    closest_a: np.ndarray
    closest_b: np.ndarray
    closest_normal: np.ndarray
    simplex: np.ndarray
    simplex_a: np.ndarray
    simplex_b: np.ndarray
    weight: np.ndarray
    height_a: np.ndarray
    height_b: np.ndarray
    near_edges_a: np.ndarray
    near_edges_b: np.ndarray


class CollisionWorkspace(NamedTuple):
    """Constant tables, this step's poses, and scratch memory.

    Attributes
    ----------
    polytopes : HullArrays
        The model's hulls, then its boxes, then one point for the centres of spheres.
    polytope : int64 [S]
        Each shape's row in ``polytopes``.
    size : float64 [S]
        Longest side of the shape [m].
    local_rotation : float64 [S, 3, 3]
        The shape's orientation in its body.
    body_position, body_rotation : float64 [B, 3], [B, 3, 3]
        This step's poses; written by ``broad_phase``.
    shape_position, shape_rotation : float64 [S, 3], [S, 3, 3]
        Likewise.
    motion : float64 [S]
        How far any point of the shape may come within the substep [m].
    lower, upper : float64 [S, 3]
        Bounds of the shape along the substep.
    order : int64 [S]
        Shapes sorted along the sweep axis, kept from step to step.
    order_scratch : int64 [S]
    key : float64 [S]
        Where a shape's interval starts on the sweep axis.
    swept : float64 [S, 6]
        Bounds in sorted order.
    bucket : int64 [S + 1]
    manifold : ManifoldScratch
    scratch : PairScratch
    """

    polytopes: HullArrays
    polytope: np.ndarray
    size: np.ndarray
    local_rotation: np.ndarray
    body_position: np.ndarray
    body_rotation: np.ndarray
    shape_position: np.ndarray
    shape_rotation: np.ndarray
    motion: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    order: np.ndarray
    order_scratch: np.ndarray
    key: np.ndarray
    swept: np.ndarray
    bucket: np.ndarray
    manifold: ManifoldScratch
    scratch: PairScratch


def allocate_collision_workspace(model) -> CollisionWorkspace:
    """Memory and tables of the collision stages.

    Parameters
    ----------
    model : ModelArrays

    Returns
    -------
    CollisionWorkspace
    """
    shapes = model.shapes
    shape_count, body_count = len(shapes.body), len(model.mass)
    polytopes, polytope = _polytope_tables(model)
    vertex_count = int(np.diff(polytopes.vertex_start).max())
    edge_count = int(np.diff(polytopes.edge_start).max())
    loop_length = int(np.diff(polytopes.loop_start).max(initial=4))
    return CollisionWorkspace(
        polytopes=polytopes,
        polytope=polytope,
        size=polytopes_size(shapes, polytopes, polytope),
        local_rotation=np.array([_rotation_matrix(q) for q in shapes.orientation]).reshape(-1, 3, 3),
        body_position=np.zeros((body_count, 3)),
        body_rotation=np.zeros((body_count, 3, 3)),
        shape_position=np.zeros((shape_count, 3)),
        shape_rotation=np.zeros((shape_count, 3, 3)),
        motion=np.zeros(shape_count),
        lower=np.zeros((shape_count, 3)),
        upper=np.zeros((shape_count, 3)),
        order=np.arange(shape_count, dtype=np.int64),
        order_scratch=np.zeros(shape_count, np.int64),
        key=np.zeros(shape_count),
        swept=np.zeros((shape_count, 6)),
        bucket=np.zeros(shape_count + 1, np.int64),
        # Clipping a polygon against another adds at most one corner for each of the other's sides.
        manifold=allocate_manifold(2 * max(loop_length, vertex_count, 4) + 4),
        scratch=allocate_pair_scratch(vertex_count, edge_count),
    )


def allocate_manifold(capacity: int) -> ManifoldScratch:
    """Scratch for manifolds of up to ``capacity`` points before they are reduced."""
    return ManifoldScratch(
        normal=np.zeros(3),
        point_a=np.zeros((capacity, 3)),
        point_b=np.zeros((capacity, 3)),
        gap=np.zeros(capacity),
        origin=np.zeros(2, np.int64),
        polygon=np.zeros((capacity, 3)),
        clipped=np.zeros((capacity, 3)),
        plane_polygon=np.zeros((capacity, 3)),
    )


def allocate_pair_scratch(vertex_count: int, edge_count: int) -> PairScratch:
    """Scratch for pairs of polytopes of at most so many vertices and edges."""
    return PairScratch(
        rotation=np.eye(3),
        translation=np.zeros(3),
        inverse_rotation=np.eye(3),
        inverse_translation=np.zeros(3),
        separation=np.zeros(3),
        feature=np.zeros(4, np.int64),
        edge_normal=np.zeros(3),
        closest_a=np.zeros(3),
        closest_b=np.zeros(3),
        closest_normal=np.zeros(3),
        simplex=np.zeros((4, 3)),
        simplex_a=np.zeros((4, 3)),
        simplex_b=np.zeros((4, 3)),
        weight=np.zeros(4),
        height_a=np.zeros(vertex_count),
        height_b=np.zeros(vertex_count),
        near_edges_a=np.zeros(edge_count, np.int64),
        near_edges_b=np.zeros(edge_count, np.int64),
    )


def _polytope_tables(model):
    """Tables of all hulls, of the boxes as hulls (equal boxes once) and of a point, and each shape's row in them."""
    shapes, hulls = model.shapes, model.hulls
    hull_count = len(hulls.is_flat)
    polytope = np.zeros(len(shapes.kind), np.int64)
    boxes, rows = [], {}
    for shape, kind in enumerate(shapes.kind):
        if kind == BOX:
            row = rows.setdefault(tuple(shapes.parameters[shape]), len(boxes))
            if row == len(boxes):
                boxes.append(ConvexHull.from_box(shapes.parameters[shape]))
            polytope[shape] = hull_count + row
        elif kind == HULL:
            polytope[shape] = shapes.hull[shape]
    polytope[shapes.kind == SPHERE] = hull_count + len(boxes)
    return _joined(_joined(hulls, pack_hulls(boxes)), _point_table()), polytope


def _point_table() -> HullArrays:
    """One hull that is a point without faces and edges."""
    empty = pack_hulls([])
    return empty._replace(
        vertex_start=np.array([0, 1], np.int64),
        vertex=np.zeros((1, 3)),
        neighbor_start=np.zeros(2, np.int64),
        face_start=np.zeros(2, np.int64),
        edge_start=np.zeros(2, np.int64),
        lower=np.zeros((1, 3)),
        upper=np.zeros((1, 3)),
        size=np.zeros(1),
        is_flat=np.zeros(1, np.int64),
    )


def _joined(first: HullArrays, second: HullArrays) -> HullArrays:
    """The hulls of both tables in one."""
    columns = {}
    for name in HullArrays._fields:
        head, tail = getattr(first, name), getattr(second, name)
        columns[name] = np.concatenate([head, head[-1] + tail[1:]] if name.endswith("start") else [head, tail])
    return HullArrays(**columns)


def polytopes_size(shapes, polytopes, polytope) -> np.ndarray:
    """Longest side of each shape [m]."""
    return np.where(shapes.kind == SPHERE, 2.0 * shapes.parameters[:, 0], polytopes.size[polytope])


def _rotation_matrix(q) -> np.ndarray:
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
