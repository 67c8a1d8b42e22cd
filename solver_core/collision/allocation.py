"""Allocate the workspace of the collision stages for one model: its constant tables and its scratch memory."""

import itertools

import numpy as np

from ..geometry.hulls import HullArrays, pack_boxes, pack_hulls
from .data.mesh_tables import triangle_rows
from .data.workspace import (
    BOX,
    CAPSULE,
    HULL,
    MESH,
    MOST_FIRST_PAIRS,
    NEAR_NONE,
    RATIO_MARGIN,
    ROUND_KINDS,
    SPHERE,
    CollisionWorkspace,
    PredictedMotion,
    ShapeParameters,
    TreeArrays,
    allocate_pair_scratch,
)
from .mesh.mesh_tree import allocate_mesh_tables


def allocate_collision_workspace(shapes, hulls, meshes, body_count: int) -> CollisionWorkspace:
    """Allocate the memory of the collision stages and fill its constant tables.

    Parameters
    ----------
    shapes : ShapeArrays
    hulls : HullArrays
    meshes : MeshArrays
    body_count : int

    Returns
    -------
    CollisionWorkspace
    """
    shape_count = len(shapes.body)
    tables = allocate_mesh_tables(meshes)
    polytopes, polytope = _polytope_tables(shapes, hulls, meshes)
    extents = np.ptp(polytopes.bounds, axis=1).max(axis=1)
    size = np.where(np.isin(shapes.kind, ROUND_KINDS), _round_sizes(shapes.kind, shapes.parameters), extents[polytope])
    vertex_count, _, edge_count = np.diff(polytopes.start, axis=0).max(axis=0)
    loop_length = np.diff(polytopes.loop_start).max(initial=4)
    return CollisionWorkspace(
        polytopes=polytopes,
        polytope=polytope,
        size=size,
        shape_parameters=_shape_parameters(shapes),
        local_pose=_poses(shapes.position, shapes.orientation),
        body_pose=np.zeros((body_count, 4, 3)),
        shape_pose=np.zeros((shape_count, 4, 3)),
        predicted=_no_prediction(body_count, shape_count),
        tree=TreeArrays(
            bounds=np.zeros((shape_count, 2, 3)),
            margin=0.5 * RATIO_MARGIN * size,
            is_active=np.zeros(shape_count, np.int64),
            node=np.zeros((2 * shape_count - 1, 4), np.int64),
            box=np.zeros((2 * shape_count - 1, 6)),
            order=np.zeros(shape_count, np.int64),
            stack=np.zeros((7 * shape_count + 1, 3), np.int64),
            record=np.zeros(3, np.int64),
            bucket=np.zeros(shape_count + 1, np.int64),
        ),
        scratch=allocate_pair_scratch(int(vertex_count), int(edge_count), int(loop_length)),
        meshes=tables,
    )


def _polytope_tables(shapes, hulls, meshes):
    """Tables of hulls, of boxes as hulls (equal boxes once), of a point and of meshes; and the row of each shape."""
    hull_count = len(hulls.flat_face)
    polytope = np.zeros(len(shapes.kind), np.int64)
    is_hull, is_box = shapes.kind == HULL, shapes.kind == BOX
    boxes, row = np.unique(shapes.parameters[is_box], axis=0, return_inverse=True)
    polytope[is_hull] = shapes.hull[is_hull]
    polytope[is_box] = hull_count + row.reshape(-1)
    polytope[np.isin(shapes.kind, ROUND_KINDS)] = hull_count + len(boxes)
    is_mesh = shapes.kind == MESH
    polytope[is_mesh] = hull_count + len(boxes) + 1 + 2 * shapes.hull[is_mesh]
    tables = _joined(_joined(hulls, pack_boxes(boxes)), _point_table())
    for first, last in itertools.pairwise(meshes.start[:, 0]):
        vertices = meshes.vertex[first:last]
        tables = _joined(tables, triangle_rows((vertices.min(axis=0), vertices.max(axis=0))))
    return tables, polytope


def _shape_parameters(shapes) -> ShapeParameters:
    """The shapes as the model has them; nothing grows."""
    shape_count = len(shapes.kind)
    return ShapeParameters(
        parameters=shapes.parameters.copy(),
        bounding_radius=shapes.bounding_radius.copy(),
        parameter_rate=np.zeros((shape_count, 2)),
        position_rate=np.zeros((shape_count, 3)),
        surface_speed=np.zeros(shape_count),
        has_grown=np.zeros(shape_count, np.bool_),
    )


def _no_prediction(body_count, shape_count) -> PredictedMotion:
    return PredictedMotion(
        detection_pass=np.zeros(1, np.int64),
        velocity=np.zeros((body_count, 6)),
        is_looked_along=np.zeros(1, np.bool_),
        surplus=np.zeros(body_count),
        is_diverted=np.zeros(body_count, np.bool_),
        is_deep=np.zeros(body_count, np.bool_),
        is_coarse=np.zeros(body_count, np.bool_),
        first_meeting=np.zeros(body_count),
        first_pairs=np.zeros((body_count, MOST_FIRST_PAIRS), np.int64),
        first_count=np.zeros(body_count, np.int64),
        near_stand=np.full(body_count, NEAR_NONE, np.int64),
        body_pose=np.zeros((body_count, 4, 3)),
        shape_pose=np.zeros((shape_count, 4, 3)),
    )


def _round_sizes(kind, parameters) -> np.ndarray:
    """Longest sides of spheres, capsules, cylinders and cones [m]."""
    radius, half = parameters[:, 0], parameters[:, 1]
    sizes = np.where(kind == CAPSULE, radius + half, np.maximum(radius, half))
    return 2.0 * np.where(kind == SPHERE, radius, sizes)


def _point_table() -> HullArrays:
    """One hull that is a point without faces and edges."""
    return pack_hulls([])._replace(
        start=np.array([[0, 0, 0], [1, 0, 0]], np.int64),
        vertex=np.zeros((1, 3)),
        neighbor_start=np.zeros(2, np.int64),
        bounds=np.zeros((1, 2, 3)),
        flat_face=np.full(1, -1, np.int64),
    )


def _joined(first: HullArrays, second: HullArrays) -> HullArrays:
    """The hulls of both tables in one."""
    columns = {}
    for name in HullArrays._fields:
        head, tail = getattr(first, name), getattr(second, name)
        columns[name] = np.concatenate([head, head[-1] + tail[1:]] if name.endswith("start") else [head, tail])
    return HullArrays(**columns)


def _poses(position, orientation) -> np.ndarray:
    """Poses [n, 4, 3]: rotation matrix, then position."""
    w, x, y, z = np.asarray(orientation, float).reshape(-1, 4).T
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.ascontiguousarray(np.concatenate([np.moveaxis(rotation, 2, 0), np.asarray(position)[:, None, :]], axis=1))
