"""Random pairs with a capsule, cylinder or cone: signed distance and normal against coal, and against a plain search.

The signed distance of convex shapes is the largest separation along any normal. So a normal whose separation is the gap
proves a lower bound, and where two results differ the larger proven one is nearer to the truth: that decides where
coal's iterations ended early. ``CAIRN_ROUND_PAIRS=2000`` sets the number of pairs of each two kinds.
"""

import os

import numpy as np
import pytest
from nightly import cases
from reference_collision import about, collide, rotation
from reference_round import search_signed_distance, separations

from cairn.solver_core.collision.data.workspace import RATIO_MARGIN
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere

PAIRS = int(os.environ.get("CAIRN_ROUND_PAIRS", cases(24, 48)))
SEARCHED_PAIRS = max(PAIRS // 8, 6)
# Shares of the smaller shape's size.
TOLERANCE = 1e-6
HULL_TOLERANCE = 1e-4

ROUND = ["capsule", "cylinder", "cone"]
KINDS = [*ROUND, "box", "sphere", "hull"]
KIND_PAIRS = [(a, b) for a in ROUND for b in KINDS if b not in ROUND[: ROUND.index(a)]]
# Gaps along a random direction, of shapes of about 1 m: far, near, touching and deep.
TARGETS = (0.3, 1e-3, 1e-7, 0.0, -1e-7, -1e-3, -0.05, -0.3)


def random_shape(rng, kind):
    lengths = rng.uniform(0.1, 1.0, 3)
    if kind == "box":
        return Box(lengths)
    if kind == "sphere":
        return Sphere(lengths[0])
    if kind == "hull":
        return ConvexHull.from_points(rng.normal(size=(rng.integers(4, 16), 3)) * lengths)
    return {"capsule": Capsule, "cylinder": Cylinder, "cone": Cone}[kind](lengths[0], lengths[1])


def random_pair(rng, kinds, case):
    """Two shapes with poses; every third pair has parallel or crossed axes."""
    a, b = (random_shape(rng, kind) for kind in kinds)
    turn_a, turn_b = rng.normal(size=4), rng.normal(size=4)
    if case % 3 == 0:
        turn_a = np.array([1.0, 0.0, 0.0, 0.0])
        turn_b = about([(1, 0, 0), (0, 1, 0), (1, 1, 0)][case // 3 % 3], rng.integers(5) * np.pi / 4)
    turn_a, turn_b = turn_a / np.linalg.norm(turn_a), turn_b / np.linalg.norm(turn_b)
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    pose_a, pose_b = (rng.normal(size=3), turn_a), (np.zeros(3), turn_b)
    gap = separations(a, pose_a, b, pose_b, direction[None])[0]
    return a, pose_a, b, ((TARGETS[case % 8] - gap) * direction, turn_b)


def deepest_contact(a, pose_a, b, pose_b, tolerance, case):
    """Smallest gap and normal, proven by the separation along the normal; None where nothing is within reach."""
    manifold = collide(a, b, pose_a, pose_b, reach=0.8)
    assert len(manifold.gap) <= 8
    if len(manifold.gap) == 0:
        return None
    np.testing.assert_allclose(np.linalg.norm(manifold.normal, axis=1), 1.0, atol=1e-12)
    gap, normal = manifold.gap.min(), manifold.normal[0]
    proven = separations(a, pose_a, b, pose_b, normal[None])[0]
    if abs(gap - proven) > tolerance:
        # A face nearly across the line between the closest points: its manifold has the distance, its normal nearly.
        exact, best = search_signed_distance(a, pose_a, b, pose_b)
        assert abs(gap - exact) <= tolerance, (case, gap, proven, exact, manifold)
        assert np.linalg.norm(np.cross(normal, best)) < np.radians(0.1), (case, normal, best)
    between = manifold.position[np.argmin(manifold.gap)]
    for shape, pose in ((a, pose_a), (b, pose_b)):
        # The contact lies between the surfaces: no farther out of either shape than half the gap.
        outside = search_free_distance(shape, pose, between, normal)
        assert outside <= 0.5 * abs(gap) + 10 * tolerance, (case, outside, manifold)
    return gap, normal


def search_free_distance(shape, pose, point, normal):
    """How far a point lies beyond a shape along the normal, either way; a bound from below of its distance."""
    ball = Sphere(1e-12)
    return separations(shape, pose, ball, (point, (1.0, 0.0, 0.0, 0.0)), np.array([normal, -normal])).max()


@pytest.mark.parametrize("kinds", KIND_PAIRS, ids="-".join)
def test_signed_distance_and_normal_are_those_of_a_search(kinds):
    """Nothing beats our normal's separation, and where another normal differs it has less."""
    rng = np.random.default_rng(sum(map(ord, "".join(kinds))))
    found = 0
    for case in range(SEARCHED_PAIRS):
        a, pose_a, b, pose_b = random_pair(rng, kinds, case)
        size = min(a.size, b.size)
        contact = deepest_contact(a, pose_a, b, pose_b, TOLERANCE * size, case)
        exact, normal = search_signed_distance(a, pose_a, b, pose_b, starts=4)
        if contact is None:
            assert exact > 0.8 * RATIO_MARGIN * size, (case, exact)
            continue
        found += 1
        assert contact[0] >= exact - TOLERANCE * size, (case, contact, exact, normal)
        angle = np.linalg.norm(np.cross(contact[1], normal))
        assert angle < np.radians(0.1) or contact[0] >= exact - 1e-9 * size, (case, contact, exact, normal)
    assert found >= SEARCHED_PAIRS // 3


@pytest.mark.every_python  # coal is on one of them alone
@pytest.mark.parametrize("kinds", KIND_PAIRS, ids="-".join)
def test_signed_distance_and_normal_are_those_of_coal(kinds):
    """Agreement with coal on nearly all pairs; where it differs, our normal proves the larger separation."""
    coal = pytest.importorskip("coal", reason="coal is not installed")
    rng = np.random.default_rng(1 + sum(map(ord, "".join(kinds))))
    tolerance = HULL_TOLERANCE if "hull" in kinds else TOLERANCE
    found, agreed = 0, 0
    for case in range(PAIRS):
        a, pose_a, b, pose_b = random_pair(rng, kinds, case)
        size = min(a.size, b.size)
        contact = deepest_contact(a, pose_a, b, pose_b, TOLERANCE * size, case)
        theirs, normal = coal_signed_distance(coal, a, pose_a, b, pose_b)
        if contact is None:
            assert theirs > 0.8 * RATIO_MARGIN * size, (case, theirs)
            continue
        found += 1
        gap = contact[0]
        if abs(gap - theirs) <= tolerance * size:
            angle = np.linalg.norm(np.cross(contact[1], normal))
            proven = separations(a, pose_a, b, pose_b, normal[None])[0]
            assert angle < np.radians(0.1) or gap >= proven - 1e-9 * size, (case, contact, theirs, normal)
            agreed += 1
            continue
        exact = search_signed_distance(a, pose_a, b, pose_b)[0]
        assert gap >= exact - TOLERANCE * size, (case, contact, theirs, exact)
    assert found >= PAIRS // 3
    assert agreed >= 0.9 * found, (agreed, found)


def coal_signed_distance(coal, a, pose_a, b, pose_b):
    """Coal's signed distance, and its normal from a to b."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = 1e-10
    request.gjk_max_iterations = request.epa_max_iterations = 500
    placed = []
    for shape, (position, turn) in ((a, pose_a), (b, pose_b)):
        placed += [coal_shape(coal, shape), coal.Transform3s(rotation(turn), np.asarray(position, float))]
    distance = coal.distance(*placed, request, result)
    return distance, np.array(result.normal)


def coal_shape(coal, shape):
    if isinstance(shape, Capsule):
        return coal.Capsule(shape.radius, 2.0 * shape.half_length)
    if isinstance(shape, (Cylinder, Cone)):
        return getattr(coal, type(shape).__name__)(shape.radius, 2.0 * shape.half_height)
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Box):
        return coal.Box(*(2.0 * shape.half_extents))
    points = coal.StdVec_Vec3s()
    for point in shape.vertices:
        points.append(point)
    return coal.Convex.convexHull(points, True, None)
