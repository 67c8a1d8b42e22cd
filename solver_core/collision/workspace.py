"""Memory and constant tables of the collision stages, allocated once a model.

Few arrays, each of several rows with a name: a kernel's compile time grows with the number of arrays that it, and
everything that it calls, is passed (an array is some ten arguments to LLVM). For the same reason functions at the
bottom take the arrays that they need and not the workspace.
"""

import itertools
from typing import NamedTuple

import numpy as np

from ..shapes import ConvexHull, HullArrays, pack_hulls
from .mesh_tables import MeshTables, triangle_rows
from .mesh_tree import allocate_mesh_tables

# Values of ShapeArrays.kind.
BOX = 0
SPHERE = 1
HULL = 2
CAPSULE = 3
CYLINDER = 4
CONE = 5
MESH = 6

# Places in the table of ``pair_families``: what makes the contacts of pairs with a ball; with a capsule, cylinder or
# cone; with a mesh; of a mesh's triangle with a round shape, and of its face alone.
SPHERES = 0
ROUND_SHAPES = 1
MESHES = 2
ROUND_ON_MESH = 3
ROUND_ON_FACE = 4
FAMILIES = 5

# Values of PairArrays' column REFERENCE: where a manifold's normal comes from.
NO_CONTACT = -1
FACE_OF_A = 0
FACE_OF_B = 1
TWO_EDGES = 2
CLOSEST_POINTS = 3

# Rows of a pose [4, 3]: the rotation matrix, then the position.
POSITION = 3

# Tables of HullArrays.start.
VERTICES = 0
FACES = 1
EDGES = 2

# Rows of PairScratch.pose: of shape b in the frame of shape a, and of a in the frame of b; in the world, where contacts
# are made, of the bodies and of the shapes.
B_IN_A = 0
A_IN_B = 1
BODY_A = 2
BODY_B = 3
SHAPE_A = 4
SHAPE_B = 5

# Columns of CollisionWorkspace.outlook. From 0 on: the velocity that the last look's solution gave the body.
SURPLUS = 6
LOOK = 7
# 1: its island was not solved to the tolerance in the last look.
UNSOLVED = 8
# 1: it has been so deep in another body in this substep that where a look leads it tells nothing.
DEEP = 9
# And whether the last substep left it in such an island.
RESTLESS = 10
OUTLOOK_COLUMNS = 11
# How often contacts are looked for in a substep: contacts change the ways of bodies.
MOST_LOOKS = 3
# ... and with those that only look at where the last solution has led.
MOST_LOOKS_AT_ENDS = 12

# Columns of CollisionWorkspace.form: parameters as in ShapeArrays; a bounding radius for the whole frame; and of round
# shapes that grow (``growth``): rates of the parameters, velocity of the position in the body frame, a bound on the
# speed of the surface, and whether they have grown since their contacts were made.
BOUNDING_RADIUS = 3
RATE = 4
SHIFT = 6
GROWS = 9
GROWN = 10
FORM_COLUMNS = 11

# Rows of PairScratch.axes.
SEPARATION = 0
EDGE_NORMAL = 1
NORMAL = 2
SIDE = 3

# Columns of the row SEPARATION, and entries of PairScratch.feature: the best face of a, the best face of b, and the
# best two edges.
BEST_A = 0
BEST_B = 1
BEST_EDGES = 2
EDGE_OF_A = 2
EDGE_OF_B = 3
# Entries of PairScratch.feature: the manifold's origin, as the columns REFERENCE and FEATURE of PairArrays.
ORIGIN = 4
ORIGIN_FEATURE = 5
# 1: a curved surface is touched, and the contact wanders over it as the body rolls.
IS_CURVED = 6

# Rows of PairScratch.closest.
ON_A = 0
ON_B = 1
DIRECTION = 2

# Columns of PairScratch.simplex: the corner as point of a - b, of a, of b, and its weight.
CORNER = 0
CORNER_A = 3
CORNER_B = 6
WEIGHT = 9

# Rows of PairScratch.polygon.
CLIPPED = 0
REFERENCE_FACE = 1
SPARE = 2

# Columns of PairScratch.contact: surface points of a and of b, gap, and a key for sorting around a polygon.
POINT_A = 0
POINT_B = 3
GAP = 6
ANGLE = 7
# Column of PairScratch.polygon: by which of a triangle's sides a corner was cut.
CUT = 3

# Shapes get contacts at rest up to a gap of this share of the smaller one's size: what is about to touch is in the
# manifold before it does. Must exceed narrow_phase.RATIO_RECYCLE; larger means more rows that never act.
RATIO_MARGIN = 0.01

# Room for faces of the polytope that grows in the overlap of two curved shapes; some 100 were seen.
EXPANSION_ROWS = 256


class PairScratch(NamedTuple):
    """What is worked out for one pair, in the frame of shape a unless said otherwise. Rows and columns: see above.

    Attributes
    ----------
    pose : float64 [6, 4, 3]
        Relative poses, and those in the world.
    axes : float64 [4, 3]
        Largest separations along face normals of a, of b, and of edge pairs [m]; normal of the best edge pair; normal
        of the manifold; normal of a sheet on the side of the other's centre, else 0. Normals point from a to b.
    feature : int64 [7]
        The features that give these, and IS_CURVED.
    closest : float64 [3, 3]
        Closest points, and the direction from a to b.
    simplex : float64 [4, 10]
    expansion : float64 [3, 256, 10]
        For the depth of curved shapes, in ``round_separation``; then for their contacts, in ``round_manifold``.
    heights : float64 [2, V]
        Vertices of a and b along an axis.
    near_edges : float64 [2, E, 13]
        Edges of a and b that may decide the separation; columns in ``hull_separation``.
    polygon : float64 [3, M, 4]
        For clipping.
    contact : float64 [M, 8]
        The manifold.
    left_out : float64 [1]
        Gap of the nearest point that a manifold of polytopes leaves out; where it is empty, less than the distance [m].
    """

    pose: np.ndarray
    axes: np.ndarray
    feature: np.ndarray
    closest: np.ndarray
    simplex: np.ndarray
    expansion: np.ndarray
    heights: np.ndarray
    near_edges: np.ndarray
    polygon: np.ndarray
    contact: np.ndarray
    left_out: np.ndarray


class TreeArrays(NamedTuple):
    """Memory of the broad phase; columns in ``bounding_tree``.

    Attributes
    ----------
    bounds : float64 [S, 2, 3]
        Lower and upper corner of each shape along the substep.
    margin : float64 [S]
        By which a shape's box in the tree is larger: half the gap up to which it gets contacts at rest [m].
    is_active : int64 [S]
    node : int64 [2 S - 1, 4]
    box : float64 [2 S - 1, 6]
        Lower and upper corner of each node.
    order : int64 [S]
    stack : int64 [7 S + 1, 3]
        A traversal goes down two branches of at most S nodes and leaves at most three pairs waiting at each.
    record : int64 [3]
    bucket : int64 [S + 1]
        For sorting pairs.
    """

    bounds: np.ndarray
    margin: np.ndarray
    is_active: np.ndarray
    node: np.ndarray
    box: np.ndarray
    order: np.ndarray
    stack: np.ndarray
    record: np.ndarray
    bucket: np.ndarray


class CollisionWorkspace(NamedTuple):
    """Constant tables, this step's poses, and scratch memory.

    Attributes
    ----------
    polytopes : HullArrays
        The model's hulls, then its boxes, one point for all round shapes, and two rows for each mesh.
    polytope : int64 [S]
        Each shape's row in ``polytopes``.
    size : float64 [S]
        Longest side of the shape [m].
    form : float64 [S, 11]
        Parameters and bounding radius of the shape as it is now, and how it grows; columns above.
    local_pose : float64 [S, 4, 3]
        The shape's pose in its body.
    body_pose, shape_pose : float64 [B, 4, 3], [S, 4, 3]
        This step's poses in the world; written by ``broad_phase``.
    body_end, shape_end : float64 [B, 4, 3], [S, 4, 3]
        Where the last solution leads them within the substep; written before contacts are looked for there.
    outlook : float64 [B, 10]
        Written by the stepper: velocity after the last look at this substep [m/s, rad/s]; how much farther than by its
        velocity at the start the body may go, because others push it [m]; number of the look, from 0.
    tree : TreeArrays
    scratch : PairScratch
    meshes : MeshTables
    """

    polytopes: HullArrays
    polytope: np.ndarray
    size: np.ndarray
    form: np.ndarray
    local_pose: np.ndarray
    body_pose: np.ndarray
    shape_pose: np.ndarray
    body_end: np.ndarray
    shape_end: np.ndarray
    outlook: np.ndarray
    tree: TreeArrays
    scratch: PairScratch
    meshes: MeshTables


def allocate_collision_workspace(shapes, hulls, meshes, body_count: int) -> CollisionWorkspace:
    """Memory and tables of the collision stages.

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
    size = np.where(_is_round(shapes.kind), _round_sizes(shapes.kind, shapes.parameters), extents[polytope])
    vertex_count, _, edge_count = np.diff(polytopes.start, axis=0).max(axis=0)
    loop_length = np.diff(polytopes.loop_start).max(initial=4)
    return CollisionWorkspace(
        polytopes=polytopes,
        polytope=polytope,
        size=size,
        form=_forms(shapes),
        local_pose=_poses(shapes.position, shapes.orientation),
        body_pose=np.zeros((body_count, 4, 3)),
        shape_pose=np.zeros((shape_count, 4, 3)),
        body_end=np.zeros((body_count, 4, 3)),
        shape_end=np.zeros((shape_count, 4, 3)),
        outlook=np.zeros((body_count, OUTLOOK_COLUMNS)),
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


def allocate_pair_scratch(vertex_count: int, edge_count: int, loop_length: int) -> PairScratch:
    """Scratch for pairs of polytopes of at most so many vertices and edges, and corners of a face."""
    # Clipping a polygon against another adds at most one corner for each of the other's sides.
    corner_count = 2 * loop_length + 4
    return PairScratch(
        pose=np.zeros((6, 4, 3)),
        axes=np.zeros((4, 3)),
        feature=np.zeros(7, np.int64),
        closest=np.zeros((3, 3)),
        simplex=np.zeros((4, 10)),
        expansion=np.zeros((3, EXPANSION_ROWS, 10)),
        heights=np.zeros((2, vertex_count)),
        near_edges=np.zeros((2, edge_count, 13)),
        polygon=np.zeros((3, corner_count, 4)),
        contact=np.zeros((corner_count + vertex_count, 8)),
        left_out=np.zeros(1),
    )


def _polytope_tables(shapes, hulls, meshes):
    """Tables of hulls, of boxes as hulls (equal boxes once), of a point and of meshes, and each shape's row in them."""
    hull_count = len(hulls.flat_face)
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
    polytope[_is_round(shapes.kind)] = hull_count + len(boxes)
    is_mesh = shapes.kind == MESH
    polytope[is_mesh] = hull_count + len(boxes) + 1 + 2 * shapes.hull[is_mesh]
    tables = _joined(_joined(hulls, pack_hulls(boxes)), _point_table())
    for first, last in itertools.pairwise(meshes.start[:, 0]):
        vertices = meshes.vertex[first:last]
        tables = _joined(tables, triangle_rows((vertices.min(axis=0), vertices.max(axis=0))))
    return tables, polytope


def _forms(shapes) -> np.ndarray:
    """Parameters and bounding radii; nothing grows."""
    form = np.zeros((len(shapes.kind), FORM_COLUMNS))
    form[:, :3] = shapes.parameters
    form[:, BOUNDING_RADIUS] = shapes.bounding_radius
    return form


def _is_round(kind) -> np.ndarray:
    return (kind == SPHERE) | ((kind >= CAPSULE) & (kind <= CONE))


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
