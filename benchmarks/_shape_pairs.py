"""Random pairs of shapes, as ours, as coal's and as MuJoCo's, at chosen distances.

Coal (the library behind Pinocchio; GJK and EPA) and MuJoCo share no code with Cairn. A new kind of shape is one more
entry of ``KINDS``.

MuJoCo has no cone and no triangle mesh that is not convex. There a cone is the hull of ``CONE_SIDES`` points around its
rim and its apex, a closed convex mesh its hull, and a ground of triangles MuJoCo's height field over the same grid.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.compound import Compound

# Gaps of random pairs along a random direction, as shares of the smaller one's size; the direction is that of the
# centres' line only by chance, so true distances are smaller: far, near, touching and deep.
TARGETS = (0.5, 0.05, 1e-3, 1e-6, 0.0, -1e-6, -1e-3, -0.05, -0.3)
# Corners of the polygon that stands for a cone's rim in MuJoCo.
CONE_SIDES = 64
# Of a ground: half its side and its height [m], and cells along a side.
_GROUND_HALF, _GROUND_HEIGHT, _GROUND_CELLS = 1.5, 0.3, 20


@dataclass(frozen=True)
class Sample:
    """One shape.

    Attributes
    ----------
    shape : shape of ``solver_core``
    points : float64 [n, 3]
    radius : float
    rims : float or float64 [n]
        Its hull is that of discs about the points, across z and with these radii, grown by ``radius``.
    """

    shape: object
    points: np.ndarray
    radius: float = 0.0
    rims: np.ndarray | float = 0.0

    def support(self, orientation, direction) -> float:
        """How far the shape reaches in a direction, turned by a rotation matrix."""
        local = orientation.T @ direction
        return float((self.points @ local + self.rims * np.hypot(local[0], local[1])).max()) + self.radius


class Pose(NamedTuple):
    """Position, unit quaternion (w, x, y, z)."""

    position: np.ndarray
    orientation: np.ndarray


def _box(rng):
    half_extents = rng.uniform(0.1, 1.0, 3)
    return Sample(Box(half_extents), ConvexHull.from_box(half_extents).vertices)


def _sphere(rng):
    radius = float(rng.uniform(0.1, 0.7))
    return Sample(Sphere(radius), np.zeros((1, 3)), radius)


def _hull(rng):
    hull = ConvexHull.from_points(rng.normal(size=(rng.integers(4, 30), 3)) * rng.uniform(0.2, 1.0, 3))
    return Sample(hull, hull.vertices)


def _large_hull(rng):
    points = rng.normal(size=(500, 3))
    hull = ConvexHull.from_points(points / np.linalg.norm(points, axis=1, keepdims=True) * rng.uniform(0.3, 1.0, 3))
    return Sample(hull, hull.vertices)


def _axis(half):
    return np.array([(0.0, 0.0, half), (0.0, 0.0, -half)])


def _capsule(rng):
    radius, half_length = rng.uniform(0.1, 0.5, 2).tolist()
    return Sample(Capsule(radius, half_length), _axis(half_length), radius)


def _cylinder(rng):
    radius, half_height = rng.uniform(0.1, 0.7, 2).tolist()
    return Sample(Cylinder(radius, half_height), _axis(half_height), rims=radius)


def _cone(rng):
    radius, half_height = rng.uniform(0.1, 0.7, 2).tolist()
    return Sample(Cone(radius, half_height), _axis(half_height), rims=np.array([0.0, radius]))


def _compound(rng):
    """Three boxes as the two legs and the seat of a chair without a back: concave."""
    width, thick, height = rng.uniform((0.4, 0.05, 0.2), (1.0, 0.15, 0.8))
    sides = [(-width + thick, -thick - height), (width - thick, -thick - height)]
    boxes = [Box((width, 0.3, thick))] + [Box((thick, 0.3, height), (x, 0.0, z)) for x, z in sides]
    corners = [ConvexHull.from_box(box.half_extents).vertices + box.position for box in boxes]
    return Sample(Compound(boxes), np.concatenate(corners))


def _mesh(rng):
    """The surface of a random hull as triangles."""
    hull = ConvexHull.from_points(rng.normal(size=(30, 3)) * rng.uniform(0.2, 1.0, 3))
    triangles = [(loop[0], loop[i], loop[i + 1]) for loop in hull.loops for i in range(1, len(loop) - 1)]
    return Sample(TriangleMesh(hull.vertices, np.array(triangles)), hull.vertices)


def _ground(rng):
    """Smooth hills over a square grid, open: its rows run along x, its columns along y."""
    count = _GROUND_CELLS + 1
    line = np.linspace(-_GROUND_HALF, _GROUND_HALF, count)
    x, y = np.meshgrid(line, line)
    shift = rng.uniform(0.0, 6.0, 2)
    z = np.sin(2.0 * x + shift[0]) * np.cos(1.7 * y + shift[1])
    z = _GROUND_HEIGHT * (z - z.min()) / np.ptp(z)
    a = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    triangles = np.concatenate([np.stack([a, a + 1, a + count + 1], 1), np.stack([a, a + count + 1, a + count], 1)])
    vertices = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    return Sample(TriangleMesh(vertices, triangles), vertices)


# Name -> maker of a random sample.
KINDS = {
    "sphere": _sphere,
    "capsule": _capsule,
    "box": _box,
    "cylinder": _cylinder,
    "cone": _cone,
    "hull": _hull,
    "compound": _compound,
    "hull of 500": _large_hull,
    "mesh": _mesh,
    "ground": _ground,
}
# Those that bodies which move may have.
_MOVING = ("sphere", "capsule", "box", "cylinder", "cone", "hull", "compound")
# Pairs of kinds that are timed: every two that may meet. Meshes belong to bodies that never move.
TIMED_PAIRS = [
    *((one, two) for place, two in enumerate(_MOVING) for one in _MOVING[: place + 1]),
    ("hull of 500", "sphere"),
    ("hull of 500", "hull"),
    *((one, two) for one in ("mesh", "ground") for two in _MOVING),
]
# Pairs of kinds, and the share of the size within which gaps must agree: closed forms, and polytopes.
TOLERANCE_ANALYTIC, TOLERANCE_HULL = 1e-6, 1e-4
PAIRS = {
    ("sphere", "sphere"): TOLERANCE_ANALYTIC,
    ("box", "sphere"): TOLERANCE_ANALYTIC,
    ("hull", "sphere"): TOLERANCE_HULL,
    ("box", "box"): TOLERANCE_HULL,
    ("box", "hull"): TOLERANCE_HULL,
    ("hull", "hull"): TOLERANCE_HULL,
    ("hull of 500", "hull"): TOLERANCE_HULL,
    ("hull of 500", "sphere"): TOLERANCE_HULL,
}


def rotation(orientation) -> np.ndarray:
    """Rotation matrix of a unit quaternion."""
    w, x, y, z = orientation
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def random_pair(rng, kinds, target):
    """Two samples and their poses; b lies ``target`` times the smaller one's size beyond a in a random direction."""
    one, two = (KINDS[kind](rng) for kind in kinds)
    turns = rng.normal(size=(2, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    if kinds[0] == "ground":
        # Above it, as height fields are in MuJoCo.
        turns[0], direction = (1.0, 0.0, 0.0, 0.0), np.array([0.0, 0.0, 1.0])
    between = one.support(rotation(turns[0]), direction) + two.support(rotation(turns[1]), -direction)
    size = min(one.shape.size, two.shape.size)
    place = rng.normal(size=3)
    return one, two, Pose(place, turns[0]), Pose(place + (between + target * size) * direction, turns[1]), size


def separation(one, two, pose_a, pose_b, normal) -> float:
    """Gap between the slabs of two samples along a normal from a to b: at most their signed distance."""
    reach = one.support(rotation(pose_a.orientation), normal) + two.support(rotation(pose_b.orientation), -normal)
    return float((pose_b.position - pose_a.position) @ normal) - reach


def coal_distance(coal, one, two, pose_a, pose_b):
    """Signed distance of two samples by coal, and its normal from a to b."""
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-10
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    result = coal.DistanceResult()
    geometries = [_coal_geometry(coal, sample) for sample in (one, two)]
    places = [coal.Transform3s(rotation(pose.orientation), pose.position) for pose in (pose_a, pose_b)]
    distance = coal.distance(geometries[0], places[0], geometries[1], places[1], request, result)
    return distance, np.array(result.normal)


def _coal_geometry(coal, sample):
    if isinstance(sample.shape, Box):
        return coal.Box(*(2.0 * sample.shape.half_extents))
    if isinstance(sample.shape, Sphere):
        return coal.Sphere(sample.shape.radius)
    points = coal.StdVec_Vec3s()
    points.extend(list(sample.points))
    return coal.Convex.convexHull(points, False, "")


def mujoco_geoms(sample, asset: str) -> tuple[list[str], str]:
    """A sample as attributes of MuJoCo's geoms in one body, and the assets that they need."""
    shape = sample.shape
    if isinstance(shape, Compound):
        boxes = [f'{_mujoco_box(box)} pos="{numbers(box.position)}"' for box in shape.parts]
        return boxes, ""
    if isinstance(shape, Box):
        return [_mujoco_box(shape)], ""
    if isinstance(shape, Sphere):
        return [f'type="sphere" size="{shape.radius!r}"'], ""
    if isinstance(shape, Capsule):
        return [f'type="capsule" size="{shape.radius!r} {shape.half_length!r}"'], ""
    if isinstance(shape, Cylinder):
        return [f'type="cylinder" size="{shape.radius!r} {shape.half_height!r}"'], ""
    if isinstance(shape, TriangleMesh) and shape.is_flat:
        side, heights = _GROUND_CELLS + 1, sample.points[:, 2] / _GROUND_HEIGHT
        size = numbers((_GROUND_HALF, _GROUND_HALF, _GROUND_HEIGHT, 0.1))
        field = f'<hfield name="{asset}" nrow="{side}" ncol="{side}" size="{size}" elevation="{numbers(heights)}"/>'
        return [f'type="hfield" hfield="{asset}"'], field
    points = sample.points
    if isinstance(shape, Cone):
        angles = 2.0 * np.pi * np.arange(CONE_SIDES) / CONE_SIDES
        rim = np.stack([np.cos(angles), np.sin(angles), np.zeros(CONE_SIDES)], axis=1)
        points = np.concatenate([points[:1], points[1] + shape.radius * rim])
    # MuJoCo moves a mesh to its centre of mass and principal axes; the model says by how much.
    return [f'type="mesh" mesh="{asset}"'], f'<mesh name="{asset}" vertex="{numbers(points.ravel())}"/>'


def _mujoco_box(box) -> str:
    return f'type="box" size="{numbers(box.half_extents)}"'


def numbers(values) -> str:
    """Numbers as an attribute of MuJoCo's XML."""
    return " ".join(repr(float(value)) for value in values)
