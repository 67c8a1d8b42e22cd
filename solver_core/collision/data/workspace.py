"""Memory and constant tables of the collision stages, allocated once per model.

In the step, kernels see these tuples, and those within them, as views: a pointer each.
"""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel
from ...geometry.hulls import HullArrays
from ...geometry.shapes import ShapeKind
from .mesh_tables import MeshTables

# Values of ShapeArrays.kind, as plain numbers for kernels.
BOX, SPHERE, HULL, CAPSULE, CYLINDER, CONE, MESH = (int(kind) for kind in ShapeKind)
# Those of shapes that ``has_axis`` and ``is_round`` tell apart one by one, for whole arrays of kinds.
KINDS_WITH_AXIS = (CAPSULE, CYLINDER, CONE)
ROUND_KINDS = (SPHERE, *KINDS_WITH_AXIS)

# More than any length of a scene [m].
INFINITE = 1e300

# Places in the table of ``pair_dispatch``: what makes the contacts of pairs with a ball; with a capsule, cylinder or
# cone; with a mesh; of a mesh's triangle with a round shape, and of its face alone.
SPHERES = 0
ROUND_SHAPES = 1
MESHES = 2
ROUND_ON_MESH = 3
ROUND_ON_FACE = 4
PAIR_KERNELS = 5

# Values of PairArrays.reference: where a manifold's normal comes from.
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

# Values of PredictedMotion.near_stand; and pairs that a body may meet first, all at once, that are noted.
NEAR_NONE, NEAR_SEVERAL, MOST_FIRST_PAIRS = -1, -2, 8

# Detection passes of a substep that look for pairs anew: contacts change where bodies go.
MAX_PASSES = 3
# ... and with those that keep the pairs and only add contacts at the poses to which the last solution leads.
MAX_END_POSE_PASSES = 12

# Shapes at rest get contacts up to a gap of this fraction of the smaller one's size: what is about to touch is in the
# manifold before it does. Must exceed pair_cache.RATIO_RECYCLE; larger means more rows that never act.
RATIO_MARGIN = 0.01

# Room for corners and faces of the polytope that grows in the overlap of two curved shapes; some 100 were seen.
EXPANSION_ROWS = 256
# Room for the corners of the region in which two discs lie over each other, beside those of a disc over a polygon.
DISC_CROSSINGS = 16
# Ways in which a body may tilt, for each of which the contact that lands first is kept.
TILT_ROWS = 36


@subkernel(inline=True)
def has_axis(kind):
    """Whether a shape is a capsule, cylinder or cone: round about the z axis of its own frame, and no ball."""
    return CAPSULE <= kind <= CONE


@subkernel(inline=True)
def is_round(kind):
    """Whether a shape is a ball, capsule, cylinder or cone."""
    return kind == SPHERE or has_axis(kind)


class PairShape(NamedTuple):
    """One of the two shapes of a pair, for whatever makes their contacts; made anew for each pair.

    Attributes
    ----------
    kind : int
        ``ShapeKind``.
    polytope : int
        Its row among ``CollisionWorkspace.polytopes``; that of all round shapes is a point.
    parameters : float64 [>= 3]
        As in ``ShapeArrays``, of this moment [m].
    bounding_radius : float
        Of a ball about the shape's position that holds it [m].
    swept_radius : float
        Distance of its farthest point from its body's centre of mass; 0 for a ball that turns about it [m].
    """

    kind: int
    polytope: int
    parameters: np.ndarray
    bounding_radius: float
    swept_radius: float


class PairPoses(NamedTuple):
    """Poses of a pair's shapes.

    Attributes
    ----------
    b_in_a, a_in_b : float64 [4, 3]
        Of shape b in the frame of shape a, and of a in the frame of b.
    body_a, body_b, shape_a, shape_b : float64 [4, 3]
        In the world, where contacts are made.
    up, up_in_a : float64 [3]
        Direction against gravity in the world, and in the frame of shape a; 0 without gravity.
    """

    b_in_a: np.ndarray
    a_in_b: np.ndarray
    body_a: np.ndarray
    body_b: np.ndarray
    shape_a: np.ndarray
    shape_b: np.ndarray
    up: np.ndarray
    up_in_a: np.ndarray


class PairAxes(NamedTuple):
    """Separating axes of a pair, and the normal of its manifold. Normals point from a to b.

    Attributes
    ----------
    separation_a, separation_b, separation_edges : float64 [1]
        Largest ones along face normals of a, of b, and of edge pairs [m].
    edge_normal : float64 [3]
        Normal of the best edge pair.
    normal : float64 [3]
        Of the manifold.
    side : float64 [3]
        Normal of a sheet on the side of the other's centre, else 0.
    """

    separation_a: np.ndarray
    separation_b: np.ndarray
    separation_edges: np.ndarray
    edge_normal: np.ndarray
    normal: np.ndarray
    side: np.ndarray


class PairFeatures(NamedTuple):
    """Features of a pair that decide, each int64 [1].

    Attributes
    ----------
    best_a, best_b : int64 [1]
        The faces of a and of b that separate best.
    edge_of_a, edge_of_b : int64 [1]
        The two edges that do.
    origin, origin_feature : int64 [1]
        Where the manifold comes from, as ``reference`` and ``feature`` of PairArrays.
    is_curved : int64 [1]
        1: a curved surface is touched, and the contact wanders over it as the body rolls.
    """

    best_a: np.ndarray
    best_b: np.ndarray
    edge_of_a: np.ndarray
    edge_of_b: np.ndarray
    origin: np.ndarray
    origin_feature: np.ndarray
    is_curved: np.ndarray


class ClosestPoints(NamedTuple):
    """Closest points of a pair.

    Attributes
    ----------
    on_a, on_b : float64 [3]
        [m]
    direction : float64 [3]
        Unit vector from a to b.
    """

    on_a: np.ndarray
    on_b: np.ndarray
    direction: np.ndarray


class Manifold(NamedTuple):
    """Contacts of a pair that are being made, in the frame of shape a.

    Attributes
    ----------
    point_a, point_b : float64 [M, 3]
        Points of the two surfaces [m].
    gap : float64 [M]
        [m]
    angle : float64 [M]
        While points are chosen: squared distances from those that are kept, or what is lost without each [m^2].
    """

    point_a: np.ndarray
    point_b: np.ndarray
    gap: np.ndarray
    angle: np.ndarray


class MinkowskiPoints(NamedTuple):
    """Points x - y of a pair's Minkowski difference, in the frame of shape a: corners of a simplex or of a polytope.

    Attributes
    ----------
    point : float64 [N, 3]
        [m]
    on_a, on_b : float64 [N, 3]
        The points x of a and y of b that they are made of [m].
    weight : float64 [N]
        Of a simplex: their shares of its point that is nearest to the origin.
    """

    point: np.ndarray
    on_a: np.ndarray
    on_b: np.ndarray
    weight: np.ndarray


class Expansion(NamedTuple):
    """The polytope that grows within the Minkowski difference of two shapes that overlap (``round_separation``).

    Attributes
    ----------
    corner : MinkowskiPoints
    normal : float64 [N, 3]
        Of its faces, outwards.
    distance : float64 [N]
        Of the faces' planes from the origin [m].
    face_corners : int64 [N, 3]
        Counterclockwise.
    rim : int64 [N, 2]
        Edges around a hole in it: tail and head.
    """

    corner: MinkowskiPoints
    normal: np.ndarray
    distance: np.ndarray
    face_corners: np.ndarray
    rim: np.ndarray


class DiscRegions(NamedTuple):
    """The region in which a disc lies over another face (``disc_regions``).

    Attributes
    ----------
    disc : float64 [8, 3]
        Two discs; rows in ``disc_regions``.
    outline : float64 [M, 2]
        A polygon in the first disc's plane [m].
    spot : float64 [3 M + 16, 2]
        Corners of the region, likewise.
    """

    disc: np.ndarray
    outline: np.ndarray
    spot: np.ndarray


class NearEdges(NamedTuple):
    """Edges of one polytope that may decide the separation of a pair, in the frame of shape a.

    Attributes
    ----------
    direction : float64 [E, 3]
        From tail to head [m].
    normal_one, normal_two : float64 [E, 3]
        Outward normals of the two faces beside it.
    tail : float64 [E, 3]
        [m]
    number : int64 [E]
        Within the polytope.
    """

    direction: np.ndarray
    normal_one: np.ndarray
    normal_two: np.ndarray
    tail: np.ndarray
    number: np.ndarray


class FacePolygons(NamedTuple):
    """Two faces of a pair while one is clipped against the other's sides, corner by corner.

    Attributes
    ----------
    reference : float64 [M, 3]
        The face that clips [m].
    clipped, spare : float64 [M, 3]
        What is left of the other one, and where a part of it is written [m].
    cut, spare_cut : int64 [M]
        Likewise, of a triangle's face: bit i says that side i has cut the corner.
    """

    reference: np.ndarray
    clipped: np.ndarray
    spare: np.ndarray
    cut: np.ndarray
    spare_cut: np.ndarray


class HullCaps(NamedTuple):
    """The facets of two hulls that may touch, first of the one that has the manifold's face (``cap_manifold``).

    Attributes
    ----------
    count : int64 [2]
    face : int64 [2, F]
        Within the hull.
    bounds : float64 [2, F, 4]
        Least and largest coordinate along each of two directions across the manifold's normal [m].
    landed : float64 [TILT_ROWS]
        For each tilt, how low the lowest of the contacts comes that are kept [m].
    """

    count: np.ndarray
    face: np.ndarray
    bounds: np.ndarray
    landed: np.ndarray


class PairScratch(NamedTuple):
    """What is worked out for one pair, in the frame of shape a unless said otherwise.

    Attributes
    ----------
    pose : PairPoses
        Relative poses, and those in the world.
    axes : PairAxes
    feature : PairFeatures
        The features that give these, and the manifold's.
    closest : ClosestPoints
    simplex : MinkowskiPoints
    expansion : Expansion
    discs : DiscRegions
    ends : float64 [4, 3]
        Of two segments: first those of a's [m].
    on_edge : float64 [4, 3]
        What ``nearest_on_segment`` finds on a triangle's edge, which begins at ``edge_tail``.
    edge_tail : float64 [3]
        [m]
    shrunk : float64 [3]
        ``parameters`` of a shape that is made smaller.
    scale_a, scale_b : float64 [3]
        By which distances take the cores for smaller, along their own axes; 1 but while a pair is swept.
    led_a, led_b : float64 [6]
        Velocities to which what they meet first leads the bodies [m/s, rad/s].
    meets : bool [1]
        Whether the pair that was followed last meets, and does not only pass.
    worn : float64 [1]
        By how much both radii around the cores, together, are smaller then [m].
    carried : float64 [3, 3]
        For ``match_contacts``: where an earlier contact would be now; world [m].
    heights : float64 [2, V]
        Vertices of a and b along an axis.
    near_edges_a, near_edges_b : NearEdges
    polygon : FacePolygons
    caps : HullCaps
    manifold : Manifold
    cull_distance : float64 [1]
        Gap of the nearest point that a manifold of polytopes leaves out; where it is empty, less than the distance [m].
    """

    pose: PairPoses
    axes: PairAxes
    feature: PairFeatures
    closest: ClosestPoints
    simplex: MinkowskiPoints
    expansion: Expansion
    discs: DiscRegions
    ends: np.ndarray
    on_edge: np.ndarray
    edge_tail: np.ndarray
    shrunk: np.ndarray
    scale_a: np.ndarray
    scale_b: np.ndarray
    led_a: np.ndarray
    led_b: np.ndarray
    meets: np.ndarray
    worn: np.ndarray
    carried: np.ndarray
    heights: np.ndarray
    near_edges_a: NearEdges
    near_edges_b: NearEdges
    polygon: FacePolygons
    caps: HullCaps
    manifold: Manifold
    cull_distance: np.ndarray


class TreeArrays(NamedTuple):
    """Memory of the broad phase; columns in ``aabb_tree``.

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


class ShapeParameters(NamedTuple):
    """The shapes as they are now, and the rates at which round shapes grow through a frame.

    Attributes
    ----------
    parameters : float64 [S, 3]
        As in ``ShapeArrays``.
    bounding_radius : float64 [S]
        About the shape's position, for the whole frame [m].
    parameter_rate : float64 [S, 2]
        Of radius and half height [m/s].
    position_rate : float64 [S, 3]
        In the body's frame [m/s].
    surface_speed : float64 [S]
        Bound on the speed of the surface beyond the body's motion; 0: the shape does not grow [m/s].
    has_grown : bool [S]
        Whether it has grown since its contacts were made.
    """

    parameters: np.ndarray
    bounding_radius: np.ndarray
    parameter_rate: np.ndarray
    position_rate: np.ndarray
    surface_speed: np.ndarray
    has_grown: np.ndarray


class PredictedMotion(NamedTuple):
    """Where the previous detection pass of a substep leads the bodies.

    Attributes
    ----------
    detection_pass : int64 [1]
        Number of the present pass, from 0; in pass 0 ``velocity`` means nothing.
    velocity : float64 [B, 6]
        Position-update velocity of the previous pass's solution [m/s, rad/s]; once the pass is solved, of this one's.
    is_looked_along : bool [1]
        Whether the broad phase is to look for pairs that are missing along ``velocity``, and for nothing else.
    surplus : float64 [B]
        How much farther than by its velocity at the start the body may go, because others push it [m]; a part of it
        is kept for the next substep.
    is_diverted : bool [B]
        Whether the solution leads the body elsewhere than its pairs were looked for.
    is_deep : bool [B]
        Whether the body has overlapped another one so deeply in this substep that its predicted end pose means nothing.
    is_coarse : bool [B]
        Whether the body is not solved for exactly, so that it may be led deeper into others before that is looked at.
    first_meeting, first_pairs, first_count : float64 [B], int64 [B, MOST_FIRST_PAIRS], int64 [B]
        Least ``PairArrays.meeting`` of the body's pairs, and the pairs that have it.
    near_stand : int64 [B]
        The one body that cannot be pushed near which a body is; NEAR_NONE, NEAR_SEVERAL.
    body_pose, shape_pose : float64 [B, 4, 3], [S, 4, 3]
        World poses at the end of the substep, written by ``place_end_poses``; of the present pass where it checks them.
    """

    detection_pass: np.ndarray
    velocity: np.ndarray
    is_looked_along: np.ndarray
    surplus: np.ndarray
    is_diverted: np.ndarray
    is_deep: np.ndarray
    is_coarse: np.ndarray
    first_meeting: np.ndarray
    first_pairs: np.ndarray
    first_count: np.ndarray
    near_stand: np.ndarray
    body_pose: np.ndarray
    shape_pose: np.ndarray


class CollisionWorkspace(NamedTuple):
    """Constant tables, the poses of this substep, and scratch memory.

    Attributes
    ----------
    polytopes : HullArrays
        The model's hulls, then its boxes, one point for all round shapes, and two rows for each mesh.
    polytope : int64 [S]
        Each shape's row in ``polytopes``.
    size : float64 [S]
        Longest side of the shape [m].
    shape_parameters : ShapeParameters
    local_pose : float64 [S, 4, 3]
        The shape's pose in its body.
    body_pose, shape_pose : float64 [B, 4, 3], [S, 4, 3]
        World poses at the start of the substep; written by ``broad_phase``.
    predicted : PredictedMotion
    tree : TreeArrays
    scratch : PairScratch
    meshes : MeshTables
    """

    polytopes: HullArrays
    polytope: np.ndarray
    size: np.ndarray
    shape_parameters: ShapeParameters
    local_pose: np.ndarray
    body_pose: np.ndarray
    shape_pose: np.ndarray
    predicted: PredictedMotion
    tree: TreeArrays
    scratch: PairScratch
    meshes: MeshTables


def allocate_pair_scratch(vertex_count: int, edge_count: int, loop_length: int) -> PairScratch:
    """Scratch for pairs of polytopes of at most this many vertices and edges, and corners of a face."""
    # Clipping a polygon against another adds at most one corner for each of the other's sides.
    corner_count = 2 * loop_length + 4
    point_count = corner_count + vertex_count
    return PairScratch(
        pose=PairPoses(*(np.zeros(3 if name.startswith("up") else (4, 3)) for name in PairPoses._fields)),
        axes=PairAxes(*(np.zeros(1 if name.startswith("separation") else 3) for name in PairAxes._fields)),
        feature=PairFeatures(*(np.zeros(1, np.int64) for _ in PairFeatures._fields)),
        closest=ClosestPoints(*(np.zeros(3) for _ in ClosestPoints._fields)),
        simplex=_minkowski_points(4),
        expansion=Expansion(
            corner=_minkowski_points(EXPANSION_ROWS),
            normal=np.zeros((EXPANSION_ROWS, 3)),
            distance=np.zeros(EXPANSION_ROWS),
            face_corners=np.zeros((EXPANSION_ROWS, 3), np.int64),
            rim=np.zeros((EXPANSION_ROWS, 2), np.int64),
        ),
        discs=DiscRegions(
            disc=np.zeros((8, 3)),
            outline=np.zeros((corner_count, 2)),
            spot=np.zeros((3 * corner_count + DISC_CROSSINGS, 2)),
        ),
        ends=np.zeros((4, 3)),
        on_edge=np.zeros((4, 3)),
        edge_tail=np.zeros(3),
        shrunk=np.zeros(3),
        scale_a=np.zeros(3),
        scale_b=np.zeros(3),
        led_a=np.zeros(6),
        led_b=np.zeros(6),
        meets=np.zeros(1, np.bool_),
        worn=np.zeros(1),
        carried=np.zeros((3, 3)),
        heights=np.zeros((2, vertex_count)),
        near_edges_a=_near_edges(edge_count),
        near_edges_b=_near_edges(edge_count),
        polygon=FacePolygons(
            *(np.zeros((corner_count, 3)) for _ in range(3)), *(np.zeros(corner_count, np.int64) for _ in range(2))
        ),
        # A polytope has fewer faces than edges.
        caps=HullCaps(
            count=np.zeros(2, np.int64),
            face=np.zeros((2, edge_count), np.int64),
            bounds=np.zeros((2, edge_count, 4)),
            landed=np.zeros(TILT_ROWS),
        ),
        manifold=Manifold(
            point_a=np.zeros((point_count, 3)),
            point_b=np.zeros((point_count, 3)),
            gap=np.zeros(point_count),
            angle=np.zeros(point_count),
        ),
        cull_distance=np.zeros(1),
    )


def _minkowski_points(count: int) -> MinkowskiPoints:
    return MinkowskiPoints(*(np.zeros((count, 3)) for _ in range(3)), weight=np.zeros(count))


def _near_edges(edge_count: int) -> NearEdges:
    return NearEdges(*(np.zeros((edge_count, 3)) for _ in range(4)), number=np.zeros(edge_count, np.int64))
