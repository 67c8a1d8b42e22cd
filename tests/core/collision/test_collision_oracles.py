"""Contacts beside an independent library (coal: GJK and EPA), properties of pairs, degenerate pairs, and matching.

``python -m benchmarks collision`` compares 2,000 pairs of every two kinds of shapes; here are some of them.
"""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import cases
from reference_collision import SUBSTEP, Collider, about, collide, rotation

from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.model import BodyKind

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
shape_pairs = importlib.import_module("benchmarks._shape_pairs")
sys.path.pop(0)

IDENTITY = (1.0, 0.0, 0.0, 0.0)
FLOOR = {"shape": Box((5, 5, 0.5)), "position": (0, 0, -0.5), "kind": BodyKind.STATIC}
CUBE = Box((0.5, 0.5, 0.5))
KINDS = pytest.mark.parametrize("kinds", list(shape_pairs.PAIRS), ids=" and ".join)


@pytest.mark.every_python  # coal is on one of them alone
@KINDS
def test_random_pairs_agree_with_coal(kinds):
    """Signed distance within its tolerance; apart, the normal within 0.1 degree; overlapping, a way out as short."""
    coal = pytest.importorskip("coal", reason="coal is not installed")
    rng = np.random.default_rng(17)
    allowed = shape_pairs.PAIRS[kinds]
    for case in range(cases(18, 45)):
        target = shape_pairs.TARGETS[case % len(shape_pairs.TARGETS)]
        one, two, pose_a, pose_b, size = shape_pairs.random_pair(rng, kinds, target)
        exact, exact_normal = shape_pairs.coal_distance(coal, one, two, pose_a, pose_b)
        manifold = collide(one.shape, two.shape, pose_a, pose_b, reach=max(exact, 0.0) + size)
        assert abs(manifold.gap.min() - exact) <= allowed * size, case
        normal = manifold.normal[0]
        assert shape_pairs.separation(one, two, pose_a, pose_b, normal) >= exact - 1e-4 * size, case
        if exact > 2e-6 * size:
            assert np.linalg.norm(normal - exact_normal) <= np.radians(0.1), case


# ---- properties


def sampled(seed, kinds):
    """A random pair about to touch, by seed."""
    rng = np.random.default_rng(seed)
    return shape_pairs.random_pair(rng, kinds, (0.02, 1e-4, -1e-3, -0.05)[seed % 4])


def assert_same_set(points, others, tolerance):
    assert len(points) == len(others)
    for point in points:
        assert np.linalg.norm(others - point, axis=1).min() <= tolerance


PAIRS_WITH_BALLS = st.sampled_from([kinds for kinds in shape_pairs.PAIRS if "hull of 500" not in kinds])


@given(st.integers(0, 100_000), PAIRS_WITH_BALLS)
@settings(max_examples=60)
def test_swapping_turns_the_normal_round(seed, kinds):
    """Of every two kinds: the same points and gaps, the normal reversed."""
    one, two, pose_a, pose_b, size = sampled(seed, kinds)
    first = collide(one.shape, two.shape, pose_a, pose_b, reach=4 * size)
    second = collide(two.shape, one.shape, pose_b, pose_a, reach=4 * size)
    np.testing.assert_allclose(np.sort(first.gap), np.sort(second.gap), atol=1e-9 * size)
    np.testing.assert_allclose(first.normal[0], -second.normal[0], atol=1e-7)
    assert_same_set(first.position, second.position, 1e-7 * size)


@given(st.integers(0, 100_000), PAIRS_WITH_BALLS, st.sampled_from([1e-3, 1e3]))
@settings(max_examples=60)
def test_scaling_scales_the_contacts(seed, kinds, factor):
    """Millimetres and kilometres: gaps and points times the factor, normals as they are."""
    one, two, pose_a, pose_b, size = sampled(seed, kinds)
    first = collide(one.shape, two.shape, pose_a, pose_b, reach=4 * size)

    def scaled(sample):
        if isinstance(sample.shape, Box):
            return Box(factor * sample.shape.half_extents)
        if isinstance(sample.shape, Sphere):
            return Sphere(factor * sample.shape.radius)
        return ConvexHull.from_points(factor * sample.points)

    poses = [pose._replace(position=factor * pose.position) for pose in (pose_a, pose_b)]
    second = collide(scaled(one), scaled(two), *poses, reach=4 * factor * size)
    np.testing.assert_allclose(factor * np.sort(first.gap), np.sort(second.gap), atol=1e-9 * factor * size)
    np.testing.assert_allclose(first.normal[0], second.normal[0], atol=1e-7)
    assert_same_set(factor * first.position, second.position, 1e-7 * factor * size)


# ---- degenerate pairs


def sliver(width):
    """A tetrahedron whose faces are slivers."""
    return ConvexHull.from_points([(-1, 0, 0), (1, 0, 0), (0, width, 0.3 * width), (0.1, 0.2 * width, width)])


@pytest.mark.parametrize("width", [1e-1, 1e-2, 1e-3])
def test_slivers_have_the_exact_gap(width):
    """Thin tetrahedra over a floor, at any turn: the lowest vertex's gap and the floor's normal."""
    rng = np.random.default_rng(2)
    shape = sliver(width)
    for _ in range(25):
        turn = rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        lowest = (shape.vertices @ rotation(turn).T)[:, 2].min()
        for gap in (1e-3 * width, 0.0, -1e-3 * width):
            manifold = collide(FLOOR["shape"], shape, ((0, 0, -0.5), IDENTITY), ((0, 0, gap - lowest), turn), reach=0.1)
            assert manifold.gap.min() == pytest.approx(gap, abs=1e-9)
            np.testing.assert_allclose(manifold.normal, np.tile((0, 0, 1.0), (len(manifold.gap), 1)), atol=1e-9)


def test_a_needle_stuck_into_a_box_comes_out_sideways():
    """A needle of 1 : 1000 through a box near its side: out over that side, by the depth of its thickness and place."""
    needle = Box((0.001, 0.001, 1.0))
    manifold = collide(CUBE, needle, pose_b=((0.45, 0, 0), IDENTITY))
    np.testing.assert_allclose(manifold.gap.min(), -0.051, atol=1e-12)
    np.testing.assert_allclose(manifold.normal[0], (1, 0, 0), atol=1e-12)


@pytest.mark.parametrize("make", [Box, lambda half: ConvexHull.from_points(ConvexHull.from_box(half).vertices)])
@pytest.mark.parametrize("point", [(0.5, 0.0, 0.5), (0.5, 0.5, 0.5), (0.0, 0.0, 0.5)], ids=["edge", "vertex", "face"])
def test_a_vertex_on_a_feature(make, point):
    """A cube's corner that points straight down touches an edge, a vertex and a face of another: one point there."""
    diagonal = about((1, -1, 0), np.arctan(np.sqrt(2.0)))
    corner = (ConvexHull.from_box((0.5, 0.5, 0.5)).vertices @ rotation(diagonal).T)[:, 2].argmin()
    down = (ConvexHull.from_box((0.5, 0.5, 0.5)).vertices @ rotation(diagonal).T)[corner]
    for gap in (1e-4, -1e-4):
        manifold = collide(
            make((0.5, 0.5, 0.5)), make((0.5, 0.5, 0.5)), pose_b=(np.array(point) - down + (0, 0, gap), diagonal)
        )
        assert len(manifold.gap) == 1
        # Above a vertex or an edge the way out may be shorter than straight up.
        assert abs(manifold.gap[0]) <= 1e-4 * (1 + 1e-9)
        assert manifold.gap[0] * gap > 0.0
        assert np.linalg.norm(manifold.position[0] - point) < 2e-4


def test_hulls_of_500_vertices_on_each_other():
    """Faceted balls within the ball of radius 1: apart by their supports, at any turn, and the same swapped."""
    rng = np.random.default_rng(8)
    points = rng.normal(size=(500, 3))
    ball = ConvexHull.from_points(points / np.linalg.norm(points, axis=1, keepdims=True))
    for case in range(12):
        turn = rng.normal(size=4)
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        distance = (2.05, 2.0, 1.99, 1.5)[case % 4]
        first = collide(ball, ball, pose_b=(distance * direction, turn), reach=1.0)
        second = collide(ball, ball, pose_a=(distance * direction, turn), reach=1.0)
        # The hull lies between the balls of radius 1 and of the cosine of its largest face's half angle.
        assert distance - 2.0 - 1e-12 <= first.gap.min() <= distance - 1.9
        np.testing.assert_allclose(first.gap.min(), second.gap.min(), atol=1e-9)
        assert first.normal[0] @ direction > 0.98


# ---- matching while bodies move


def matched_share(bodies, place, steps):
    """Share of the contacts of all steps but the first that were there the step before."""
    collider = Collider(bodies)
    matched = count = 0
    for step in range(steps):
        place(collider, step * SUBSTEP)
        manifold = collider.step().manifold()
        if step:
            matched += int((manifold.matched >= 0).sum())
            count += len(manifold.gap)
    return matched / count


@pytest.mark.parametrize("speed", [0.5, 5.0, 20.0])
def test_a_sliding_box_keeps_its_contacts(speed):
    """All of them, up to a fifth of its size a substep, and over an equal box, whose edges cut its face."""
    floor = matched_share(
        [FLOOR, {"shape": CUBE, "position": (0, 0, 0.5)}],
        lambda collider, time: collider.place(1, (speed * time % 4.0, 0, 0.5)),
        min(100, int(3.9 / speed / SUBSTEP)),
    )
    assert floor == 1.0
    box = matched_share(
        [{"shape": CUBE}, {"shape": CUBE, "position": (0, 0, 1.0)}],
        lambda collider, time: collider.place(1, (speed * time - 0.8, 0.1, 1.0)),
        min(100, int(1.6 / speed / SUBSTEP)),
    )
    assert box == 1.0


@pytest.mark.parametrize("spin", [0.5, 5.0, 30.0, 100.0])
def test_a_spinning_box_keeps_its_contacts(spin):
    """On a floor all; on an equal box nearly all: corners of the octagon come and go where sides become parallel."""
    below = {FLOOR["shape"]: (FLOOR, 0.5, 1.0), CUBE: ({"shape": CUBE}, 1.0, 0.97)}
    for body, height, least in below.values():
        share = matched_share(
            [body, {"shape": CUBE, "position": (0, 0, height)}],
            lambda collider, time, height=height: collider.place(1, (0, 0, height), about((0, 0, 1), spin * time)),
            150,
        )
        assert share >= least


@pytest.mark.parametrize(("spin", "least"), [(0.5, 0.98), (2.0, 0.94)])
def test_a_rolling_prism_keeps_its_contacts(spin, least):
    """24 sides on a floor: a side that comes down brings two new points every 0.26 radians, all others stay."""
    angles = np.arange(24) * 2 * np.pi / 24
    ring = np.column_stack([0.5 * np.cos(angles), np.full(24, -0.5), 0.5 * np.sin(angles)])
    prism = ConvexHull.from_points(np.vstack([ring, ring + (0, 1, 0)]))

    def roll(collider, time):
        turn = about((0, 1, 0), spin * time)
        lowest = (prism.vertices @ rotation(turn).T)[:, 2].min()
        collider.place(1, (0.5 * spin * time - 2.0, 0, -lowest), turn)

    assert matched_share([FLOOR, {"shape": prism, "position": (0, 0, 0.6)}], roll, 200) >= least


def test_an_edge_that_decides_keeps_the_contacts_of_the_face_beside_it():
    """Cubes a few degrees off each other's face: where the way out is no face's normal, it still bears on an area."""
    rng = np.random.default_rng(5)
    decided = 0
    for _ in range(300):
        half_turn = 0.5 * np.radians(rng.uniform(1.0, 6.0, 3)) * rng.choice([-1.0, 1.0], 3)
        half_turn[2] = rng.uniform(0.2, 0.6)
        turn = np.concatenate([[1.0], half_turn]) / np.linalg.norm([1.0, *half_turn])
        offset = rng.uniform(0.1, 0.6, 2) * rng.choice([-1.0, 1.0], 2)
        pose = np.array([*offset, rng.uniform(0.95, 1.02)]), turn
        manifold = collide(CUBE, CUBE, (np.zeros(3), IDENTITY), pose, reach=0.1)
        if len(manifold.gap) == 0:
            continue
        normal = manifold.normal[0]
        cosines = np.abs(np.concatenate([normal, rotation(turn).T @ normal]))
        if cosines.max() > 1.0 - 1e-9 or cosines.max() < 0.991:
            continue
        decided += 1
        assert len(manifold.gap) >= 3
        np.testing.assert_allclose(manifold.normal, np.tile(normal, (len(manifold.gap), 1)), atol=1e-12)
    assert decided >= 5
