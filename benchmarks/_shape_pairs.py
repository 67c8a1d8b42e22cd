"""Random pairs of shapes, as ours, as coal's and as MuJoCo's, at chosen distances.

Coal (the library behind Pinocchio; GJK and EPA) and MuJoCo share no code with Cairn. A new kind of shape is one more
entry of ``KINDS``.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cairn.solver_core.shapes import Box, ConvexHull, Sphere

# Gaps of random pairs along a random direction, as shares of the smaller one's size; the direction is that of the
# centres' line only by chance, so true distances are smaller: far, near, touching and deep.
TARGETS = (0.5, 0.05, 1e-3, 1e-6, 0.0, -1e-6, -1e-3, -0.05, -0.3)


@dataclass(frozen=True)
class Sample:
    """One shape.

    Attributes
    ----------
    shape : shape of ``solver_core.shapes``
    points : float64 [n, 3]
        Whose hull, grown by ``radius``, the shape is.
    radius : float
    """

    shape: object
    points: np.ndarray
    radius: float = 0.0

    def support(self, orientation, direction) -> float:
        """How far the shape reaches in a direction, turned by a rotation matrix."""
        return float((self.points @ orientation.T @ direction).max()) + self.radius


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


# Name -> maker of a random sample.
KINDS = {"box": _box, "sphere": _sphere, "hull": _hull, "hull of 500": _large_hull}
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


def mujoco_geom(sample, asset: str) -> tuple[str, str]:
    """A sample as attributes of MuJoCo's geom, and the asset that it needs."""
    if isinstance(sample.shape, Box):
        return f'type="box" size="{_numbers(sample.shape.half_extents)}"', ""
    if isinstance(sample.shape, Sphere):
        return f'type="sphere" size="{sample.shape.radius!r}"', ""
    # MuJoCo moves a mesh to its centre of mass and principal axes; the model says by how much.
    return f'type="mesh" mesh="{asset}"', f'<mesh name="{asset}" vertex="{_numbers(sample.points.ravel())}"/>'


def _numbers(values) -> str:
    return " ".join(repr(float(value)) for value in values)
