"""Contacts of two shapes: closed forms, an independent reference (Minkowski difference), MuJoCo, and invariances.

Where a face manifold is preferred to edges that cross it (``polytope_contacts``), its smallest gap may differ from the
exact distance or depth by RATIO_FACE_PREFERRED of the size. Elsewhere gaps are exact to rounding.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import cases
from reference_collision import about, collide, rotation, separation_along, signed_distance

from cairn.solver_core.collision.data.workspace import CLOSEST_POINTS, RATIO_MARGIN, TWO_EDGES
from cairn.solver_core.collision.manifold.polytope_contacts import RATIO_FACE_PREFERRED, RATIO_TIE
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, Sphere

IDENTITY = (1.0, 0.0, 0.0, 0.0)
SQUARE = np.array([(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)])


def corners(half_extents) -> np.ndarray:
    return ConvexHull.from_box(half_extents).vertices


def hull_of_box(half_extents) -> ConvexHull:
    return ConvexHull.from_points(corners(half_extents))


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def random_polytope(rng, kind):
    """A shape and the points whose hull it is."""
    if kind == "box":
        half_extents = rng.uniform(0.1, 1.0, 3)
        return Box(half_extents), corners(half_extents)
    points = rng.normal(size=({"hull": rng.integers(4, 16), "large": 120}[kind], 3)) * rng.uniform(0.2, 1.0, 3)
    return ConvexHull.from_points(points), points


def assert_consistent(manifold, size):
    """Unit normals, few points, finite numbers."""
    np.testing.assert_allclose(np.linalg.norm(manifold.normal, axis=1), 1.0, atol=1e-12)
    assert len(manifold.gap) <= 8
    assert np.all(np.isfinite(manifold.position))
    assert np.all(np.abs(manifold.gap) < 10 * size)


# ---- closed forms


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("gap", [-0.3, -1e-6, 0.0, 1e-6, 0.009])
def test_two_spheres(gap, scale):
    """Gap is the distance of the centres less the radii, the point lies between the surfaces."""
    direction = np.array([2.0, -1.0, 2.0]) / 3.0
    manifold = collide(Sphere(0.5 * scale), Sphere(scale), pose_b=(scale * (1.5 + gap) * direction, IDENTITY))
    np.testing.assert_allclose(manifold.gap, [gap * scale], atol=1e-15 * scale)
    np.testing.assert_allclose(manifold.normal, [direction], atol=1e-14)
    np.testing.assert_allclose(manifold.position, [scale * (0.5 + 0.5 * gap) * direction], atol=1e-14 * scale)


def test_spheres_with_one_centre_are_pushed_apart_somewhere():
    """Coincident centres: full depth and some unit normal."""
    manifold = collide(Sphere(0.5), Sphere(0.3))
    np.testing.assert_allclose(manifold.gap, [-0.8])
    np.testing.assert_allclose(np.linalg.norm(manifold.normal, axis=1), 1.0)


@pytest.mark.parametrize("make", [Box, hull_of_box])
@pytest.mark.parametrize(
    ("center", "gap", "normal"),
    [
        ((0.2, -0.3, 1.5), 0.0, (0, 0, 1)),  # over a face
        ((0.2, -0.3, 1.4), -0.1, (0, 0, 1)),
        ((1.3, 0.5, 1.4), 0.0, (0.6, 0, 0.8)),  # beside an edge
        ((1.0 + 1 / 3, 1.0 + 2 / 3, 1.0 + 2 / 3), 0.5, (1 / 3, 2 / 3, 2 / 3)),  # beyond a corner
        ((0.2, -0.9, 0.3), -0.6, (0, -1, 0)),  # the centre inside: out through the nearest face
        ((0.0, 0.0, 0.999), -0.501, (0, 0, 1)),
        ((1.0, 0.4, 0.2), -0.5, (1, 0, 0)),  # the centre on a face
    ],
)
def test_a_sphere_and_a_box(make, center, gap, normal):
    """Closest point of a cube, as a box and as a hull, and with the roles changed."""
    manifold = collide(make((1, 1, 1)), Sphere(0.5), pose_b=(center, IDENTITY), reach=0.5)
    np.testing.assert_allclose(manifold.gap, [gap], atol=1e-12)
    np.testing.assert_allclose(manifold.normal, [normal], atol=1e-12)
    swapped = collide(Sphere(0.5), make((1, 1, 1)), pose_a=(center, IDENTITY), reach=0.5)
    np.testing.assert_allclose(swapped.gap, [gap], atol=1e-12)
    np.testing.assert_allclose(swapped.normal, -manifold.normal, atol=1e-12)
    np.testing.assert_allclose(swapped.position, manifold.position, atol=1e-12)


def test_a_sphere_in_the_middle_of_a_box():
    """Equally near to all faces: full depth through one of them."""
    for shape in (Box((1, 1, 1)), hull_of_box((1, 1, 1))):
        manifold = collide(shape, Sphere(0.5))
        np.testing.assert_allclose(manifold.gap, [-1.5])
        assert np.sort(np.abs(manifold.normal[0])) == pytest.approx([0, 0, 1])


# ---- face manifolds of boxes, as boxes and as hulls


BOX_MAKERS = pytest.mark.parametrize(
    ("make_a", "make_b"), [(Box, Box), (Box, hull_of_box), (hull_of_box, Box), (hull_of_box, hull_of_box)]
)


@BOX_MAKERS
@pytest.mark.parametrize("gap", [0.0, 1e-9, -1e-9, 1e-6, -1e-6, -1e-3, 5e-3])
def test_a_box_on_an_equal_box_touches_at_its_four_corners(make_a, make_b, gap):
    """Exactly four contacts, at the corners, with exact gaps, in one order whatever the rounding."""
    manifold = collide(make_a((0.5, 0.5, 0.5)), make_b((0.5, 0.5, 0.5)), pose_b=((0, 0, 1 + gap), IDENTITY))
    np.testing.assert_allclose(manifold.gap, np.full(4, gap), atol=1e-15)
    np.testing.assert_allclose(manifold.normal, np.tile((0.0, 0.0, 1.0), (4, 1)), atol=1e-15)
    expected = [(-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5)]
    turns = [np.roll(order, start, axis=0) for order in (expected, expected[::-1]) for start in range(4)]
    assert any(np.allclose(manifold.position[:, :2], turn, atol=1e-9) for turn in turns)
    np.testing.assert_allclose(manifold.position[:, 2], 0.5 + 0.5 * gap, atol=1e-12)


def test_the_order_of_the_corners_does_not_hang_on_rounding():
    """Gaps, shifts and turns of 1e-9 leave points and order as they are."""
    reference = collide(Box((0.5, 0.5, 0.5)), Box((0.5, 0.5, 0.5)), pose_b=((0, 0, 1), IDENTITY))
    rng = np.random.default_rng(0)
    for _ in range(100):
        turn = about(rng.normal(size=3), 1e-9)
        shaken = collide(
            Box((0.5, 0.5, 0.5)), Box((0.5, 0.5, 0.5)), pose_b=(np.array([0, 0, 1]) + rng.normal(size=3) * 1e-9, turn)
        )
        np.testing.assert_allclose(shaken.position, reference.position, atol=1e-8)


@BOX_MAKERS
def test_a_small_box_on_a_large_one(make_a, make_b):
    """The small face's corners, whichever of the two has it."""
    small, large = (0.2, 0.3, 0.1), (2.0, 3.0, 0.5)
    pose = ((0.4, -0.6, 0.6), about((0, 0, 1), 0.3))
    expected = (corners(small) @ rotation(pose[1]).T + pose[0])[:4, :2]
    for manifold in (
        collide(make_a(large), make_b(small), pose_b=pose),
        collide(make_a(small), make_b(large), pose_a=pose),
    ):
        assert len(manifold.gap) == 4
        np.testing.assert_allclose(manifold.gap, 0.0, atol=1e-12)
        for corner in expected:
            assert np.linalg.norm(manifold.position[:, :2] - corner, axis=1).min() < 1e-9


@BOX_MAKERS
def test_a_turned_box_on_an_equal_one_touches_at_eight_points(make_a, make_b):
    """At 45 degrees the squares meet in a regular octagon."""
    manifold = collide(
        make_a((0.5, 0.5, 0.5)), make_b((0.5, 0.5, 0.5)), pose_b=((0, 0, 1), about((0, 0, 1), np.pi / 4))
    )
    assert len(manifold.gap) == 8
    np.testing.assert_allclose(np.linalg.norm(manifold.position[:, :2], axis=1), 0.5 / np.cos(np.pi / 8), rtol=1e-9)


def test_a_manifold_keeps_at_most_the_points_asked_for():
    """Of the octagon's corners, four opposite ones: the largest area that four have, within a quarter."""
    manifold = collide(
        Box((0.5, 0.5, 0.5)), Box((0.5, 0.5, 0.5)), pose_b=((0, 0, 1), about((0, 0, 1), np.pi / 4)), maximal_points=4
    )
    assert len(manifold.gap) == 4
    x, y = manifold.position[:, 0], manifold.position[:, 1]
    area = 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
    octagon = 8 * 0.25 * np.tan(np.pi / 8)
    assert area > 0.6 * octagon


def test_the_deepest_point_is_kept():
    """A box pressed in with one corner first keeps that corner, whatever is dropped."""
    rng = np.random.default_rng(4)
    for _ in range(50):
        turn = about((0, 0, 1), rng.uniform(0, np.pi)) + np.array([0, *rng.uniform(-0.01, 0.01, 2), 0])
        points = corners((0.5, 0.5, 0.5)) @ rotation(turn).T + np.array([0.1, 0.2, 0.99])
        for maximal_points in (1, 3, 4, 8):
            manifold = collide(
                Box((3, 3, 0.5)), Box((0.5, 0.5, 0.5)), pose_b=((0.1, 0.2, 0.99), turn), maximal_points=maximal_points
            )
            assert len(manifold.gap) <= maximal_points
            assert manifold.gap.min() == pytest.approx(points[:, 2].min() - 0.5, abs=1e-12)


def test_a_box_about_to_land_has_its_four_corners():
    """A tilted box at speed: all four lower corners, each with its own gap."""
    turn = about((1, 2, 0), 0.02)
    points = corners((0.5, 0.5, 0.5)) @ rotation(turn).T + np.array([0, 0, 1.05])
    manifold = collide(Box((5, 5, 0.5)), Box((0.5, 0.5, 0.5)), pose_b=((0, 0, 1.05), turn), reach=0.2)
    assert len(manifold.gap) == 4
    np.testing.assert_allclose(np.sort(manifold.gap), np.sort(points[:4, 2]) - 0.5, atol=1e-12)


@BOX_MAKERS
def test_crossed_edges_touch_at_one_point(make_a, make_b):
    """Two boxes edge to edge at right angles: one contact between the edges, in the direction across both."""
    up, across = about((1, 0, 0), np.pi / 4), about((0, 1, 0), np.pi / 4)
    height = np.sqrt(2.0)
    for gap in (-1e-3, 1e-3):
        manifold = collide(
            make_a((1, 1, 1)), make_b((1, 1, 1)), pose_a=((0, 0, 0), up), pose_b=((0.2, 0.1, 2 * height + gap), across)
        )
        np.testing.assert_allclose(manifold.gap, [gap], atol=1e-12)
        np.testing.assert_allclose(manifold.normal, [(0, 0, 1)], atol=1e-9)
        # The edge of a lies along x at y = 0, that of b along y at x = 0.2.
        np.testing.assert_allclose(manifold.position, [(0.2, 0.0, height + 0.5 * gap)], atol=1e-9)
        assert manifold.reference in (TWO_EDGES, CLOSEST_POINTS)


def test_parallel_edges_and_shared_corners_give_finite_contacts():
    """Boxes that touch along an edge, or at a corner, side by side or in steps."""
    for offset in ((1, 0, 1), (1, 1, 1), (1, 1, 0), (0, 1, 1), (1, 0.5, 1), (2, 0, 0)):
        for make_a, make_b in ((Box, Box), (hull_of_box, hull_of_box), (Box, hull_of_box)):
            manifold = collide(make_a((0.5, 0.5, 0.5)), make_b((0.5, 0.5, 0.5)), pose_b=(offset, IDENTITY))
            if offset == (2, 0, 0):
                assert len(manifold.gap) == 0
                continue
            assert len(manifold.gap) >= 1
            np.testing.assert_allclose(manifold.gap, 0.0, atol=1e-12)
            assert_consistent(manifold, 1.0)


def test_coincident_boxes_are_pushed_out_along_one_axis():
    """Full overlap: the whole side as depth, four corners."""
    for make in (Box, hull_of_box):
        manifold = collide(make((0.5, 0.4, 0.3)), make((0.5, 0.4, 0.3)))
        np.testing.assert_allclose(manifold.gap, -0.6, atol=1e-12)
        assert np.abs(manifold.normal[0, 2]) == pytest.approx(1.0)


def test_a_corner_is_not_stopped_by_the_air_beside_it():
    """Corner near corner, diagonal: the true distance, not the separation along a face normal."""
    offset = np.array([1.0, 1.0, 1.0]) + 0.02
    manifold = collide(Box((0.5, 0.5, 0.5)), Box((0.5, 0.5, 0.5)), pose_b=(offset, IDENTITY), reach=0.1)
    np.testing.assert_allclose(manifold.gap, [0.02 * np.sqrt(3)], rtol=1e-9)
    np.testing.assert_allclose(manifold.normal, [np.ones(3) / np.sqrt(3)], atol=1e-9)


# ---- hulls


def test_a_hull_with_points_on_its_faces_behaves_as_the_box():
    """Extra coplanar points do not change the manifold of a cube on a floor or on its like."""
    rng = np.random.default_rng(1)
    extra = rng.uniform(-0.5, 0.5, size=(60, 3))
    extra[np.arange(60), rng.integers(3, size=60)] = rng.choice([-0.5, 0.5], size=60)
    rough = ConvexHull.from_points(np.vstack([corners((0.5, 0.5, 0.5)), extra]))
    for below in (Box((5, 5, 0.5)), Box((0.5, 0.5, 0.5)), rough):
        pose = ((0.03, 0.02, 1.0), about((0, 0, 1), 0.1))
        plain, same = (collide(below, shape, pose_b=pose) for shape in (Box((0.5, 0.5, 0.5)), rough))
        assert len(plain.gap) == len(same.gap)
        for point in plain.position:
            assert np.linalg.norm(same.position - point, axis=1).min() < 1e-9


def test_a_cylinder_stands_on_points_around_its_rim():
    """A prism of 32 sides on a floor: 8 points that keep the area of the cap, on the rim."""
    angles = np.arange(32) * 2 * np.pi / 32
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.full(32, -1.0)])
    prism = ConvexHull.from_points(np.vstack([ring, ring + (0, 0, 2)]))
    manifold = collide(Box((5, 5, 0.5)), prism, pose_b=((0, 0, 1.5), IDENTITY))
    assert len(manifold.gap) == 8
    np.testing.assert_allclose(np.linalg.norm(manifold.position[:, :2], axis=1), 1.0, rtol=1e-9)
    turns = np.sort(np.arctan2(manifold.position[:, 1], manifold.position[:, 0]))
    assert np.diff(turns).max() < np.pi / 2


def test_a_hull_of_500_vertices_rests_on_its_lowest_point():
    """A faceted ball on a floor: the gap is that of its lowest vertex."""
    points = np.random.default_rng(2).normal(size=(500, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    ball = ConvexHull.from_points(points)
    for height in (1.0, 0.999, 0.9):
        manifold = collide(Box((5, 5, 0.5)), ball, pose_b=((0, 0, height), IDENTITY))
        assert manifold.gap.min() == pytest.approx(points[:, 2].min() + height - 0.5, abs=1e-9)
        np.testing.assert_allclose(manifold.normal[0], (0, 0, 1), atol=1e-9)


def faceted_points(rng, kind):
    """Points of hulls with many small or uneven faces."""
    if kind == "flattened ball":
        points = rng.normal(size=(150, 3))
        return points / np.linalg.norm(points, axis=1, keepdims=True) * rng.uniform(0.1, 1, 3)
    if kind == "uneven cylinder":
        angles = rng.uniform(0, 2 * np.pi, 80)
        return np.column_stack([np.cos(angles), np.sin(angles), rng.uniform(-1, 1, 80)])
    if kind == "rounded box":
        points = rng.uniform(-1, 1, (200, 3))
        return np.sign(points) * np.abs(points) ** 0.2
    return rng.normal(size=(40, 3)) * (1, 1, 0.01)


@pytest.mark.parametrize("kind", ["flattened ball", "uneven cylinder", "rounded box", "flake"])
def test_hulls_touch_every_kind_of_floor_with_their_lowest_vertex(kind):
    """Any hull, dropped anyhow or put on one of its faces: the floor's normal and the lowest vertex's gap."""
    rng = np.random.default_rng(3)
    half = (20.0, 20.0, 0.5)
    floors = [
        (Box(half), -0.5),
        (hull_of_box(half), -0.5),
        (Box((20, 20, 0)), 0.0),
        (ConvexHull.from_points(20 * SQUARE), 0),
    ]
    for case in range(60):
        hull = ConvexHull.from_points(faceted_points(rng, kind))
        turn = random_quaternion(rng)
        if case % 2:
            normal = hull.normals[rng.integers(len(hull.loops))]
            axis = np.cross(normal, (0, 0, -1))
            angle = np.arctan2(np.linalg.norm(axis), -normal[2]) + (0.0, 1e-7, 1e-4, 1e-2)[case // 2 % 4]
            turn = about(axis, angle)
        gap = (1e-3, 0.0, -1e-6, -1e-4, -1e-2)[case % 5]
        lowest = (hull.vertices @ rotation(turn).T)[:, 2].min()
        floor, height = floors[case % 4]
        manifold = collide(floor, hull, ((0, 0, height), IDENTITY), ((0, 0, gap - lowest), turn))
        assert manifold.gap.min() == pytest.approx(gap, abs=1e-9 * hull.size), (case, manifold)
        np.testing.assert_allclose(manifold.normal[0], (0, 0, 1), atol=1e-9)


def test_a_face_with_a_rounded_edge_rests_on_its_own_corners():
    """Not on those around them, which are farther out but higher: the face would sink between them."""
    face = np.column_stack([SQUARE[:, :2], np.zeros(4)])
    edge = np.column_stack([1.03 * SQUARE[:, :2], np.full(4, 0.008)])
    hull = ConvexHull.from_points(np.concatenate([face, edge, edge + (0, 0, 0.5)]))
    for gap in (1e-4, 0.0, -1e-3):
        lowest = hull.vertices[:, 2].min()
        manifold = collide(Box((5, 5, 0.5)), hull, ((0, 0, -0.5), IDENTITY), ((0, 0, gap - lowest), IDENTITY))
        np.testing.assert_allclose(np.sort(manifold.gap)[:4], gap, atol=1e-9)


def test_needles_touch_where_they_cross():
    """Two needles of 1 : 500, crossed: one point, exact gap."""
    needle = ConvexHull.from_points(corners((1.0, 0.002, 0.002)))
    across = about((0, 0, 1), 1.1)
    for gap in (-1e-5, 0.0, 1e-5):
        manifold = collide(needle, needle, pose_b=((0, 0, 0.004 + gap), across))
        np.testing.assert_allclose(manifold.gap, gap, atol=1e-12)
        np.testing.assert_allclose(np.abs(manifold.position[:, :2]).max(), 0.0, atol=0.005)


# ---- sheets: two-sided, without thickness


SHEETS = pytest.mark.parametrize("sheet", [Box((1, 1, 0)), Box((1.0, 1.0, 0.0)), ConvexHull.from_points(SQUARE)])
RESTING = pytest.mark.parametrize("body", [Box((0.2, 0.2, 0.2)), hull_of_box((0.2, 0.2, 0.2)), Sphere(0.2)])


@SHEETS
@RESTING
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("gap", [0.0, 1e-3, -1e-3, -0.1])
def test_a_body_rests_exactly_on_a_sheet(sheet, body, side, gap):
    """From either side, with the surface at the sheet itself; a sunken body is pushed to where its centre is."""
    manifold = collide(sheet, body, pose_b=((0.3, 0.2, side * (0.2 + gap)), IDENTITY))
    assert len(manifold.gap) == (1 if isinstance(body, Sphere) else 4)
    np.testing.assert_allclose(manifold.gap, gap, atol=1e-12)
    np.testing.assert_allclose(manifold.normal, np.tile((0, 0, side), (len(manifold.gap), 1)), atol=1e-12)


@SHEETS
def test_a_body_is_pushed_to_the_side_of_its_centre(sheet):
    """A pyramid whose tip pokes through: its centre of volume decides, not the lesser depth."""
    pyramid = ConvexHull.from_points([(-0.3, -0.3, 0), (0.3, -0.3, 0), (0.3, 0.3, 0), (-0.3, 0.3, 0), (0, 0, 1)])
    # The centre of volume is at 1/4 of the height.
    for height, side in ((-0.2, 1.0), (-0.3, -1.0)):
        manifold = collide(sheet, pyramid, pose_b=((0, 0, height), IDENTITY))
        np.testing.assert_allclose(manifold.normal[0], (0, 0, side), atol=1e-12)
        assert manifold.gap.min() == pytest.approx(-0.2 if side > 0 else -0.7)


@SHEETS
def test_a_tilted_box_on_a_sheet_has_its_lowest_corner(sheet):
    """A tilted box: the exact gaps of its four lower corners."""
    turn = about((1, 2, 0), 0.002)
    points = corners((0.2, 0.2, 0.2)) @ rotation(turn).T + np.array([0, 0, 0.2])
    manifold = collide(sheet, Box((0.2, 0.2, 0.2)), pose_b=((0, 0, 0.2), turn))
    np.testing.assert_allclose(np.sort(manifold.gap), np.sort(points[:4, 2]), atol=1e-12)


def test_random_bodies_near_a_sheet():
    """Apart (also beside its rim): the exact distance. Across it: a push to the side of a centre that is over it."""
    rng = np.random.default_rng(3)
    apart, across = 0, 0
    for case in range(240):
        a, b = rng.uniform(0.3, 2, 2)
        outline = SQUARE * (a, b, 0)
        sheet = Box((a, b, 0)) if case % 2 else ConvexHull.from_points(outline)
        shape, points = random_polytope(rng, "box" if case % 3 else "hull")
        turn_sheet, turn = random_quaternion(rng), random_quaternion(rng)
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        placed, turned = outline @ rotation(turn_sheet).T, points @ rotation(turn).T
        target = (0.05, 1e-3, 1e-7, None)[case % 4]
        if target is None:
            over = rotation(turn_sheet) @ (rng.uniform(-a, a), rng.uniform(-b, b), 0.1 * rng.normal())
            shift = over - rotation(turn) @ shape.mass_properties().center
        else:
            shift = (target - separation_along(placed, turned, direction)) * direction
        manifold = collide(sheet, shape, (np.zeros(3), turn_sheet), (shift, turn), reach=0.3)
        exact, _ = signed_distance(placed, turned + shift)
        size = min(sheet.size, shape.size)
        if len(manifold.gap) == 0:
            assert exact > RATIO_MARGIN * size, case
        elif exact > RATIO_TIE * size:
            apart += 1
            allowed = (RATIO_FACE_PREFERRED + 2 * RATIO_TIE) * size
            assert abs(manifold.gap.min() - exact) <= 1.02 * allowed, (case, exact, manifold)
        elif exact < -RATIO_TIE * size:
            center = rotation(turn_sheet).T @ (shift + rotation(turn) @ shape.mass_properties().center)
            if abs(center[0]) < a and abs(center[1]) < b:
                across += 1
                normal = rotation(turn_sheet).T @ manifold.normal[0]
                assert normal[2] * np.sign(center[2]) > -1e-5, (case, manifold)
    assert apart > 40
    assert across > 20


# ---- random pairs against the Minkowski difference


@pytest.mark.parametrize(
    "kinds", [("box", "box"), ("box", "hull"), ("hull", "hull"), ("hull", "box"), ("large", "hull")]
)
def test_random_polytopes_have_the_exact_gap_and_normal(kinds):
    """Apart, touching and deep; the gap is the distance or the depth, the slab along the normal is free that far."""
    rng = np.random.default_rng(sum(map(len, kinds)))
    checked, count = 0, cases(64, 200) if "large" not in kinds else cases(16, 40)
    for case in range(count):
        (shape_a, points_a), (shape_b, points_b) = (random_polytope(rng, kind) for kind in kinds)
        pose_a, turn = (rng.normal(size=3), random_quaternion(rng)), random_quaternion(rng)
        direction = random_quaternion(rng)[:3]
        direction /= np.linalg.norm(direction)
        placed_a, turned_b = points_a @ rotation(pose_a[1]).T + pose_a[0], points_b @ rotation(turn).T
        target = (0.3, 1e-3, 1e-7, 0.0, -1e-7, -1e-3, -0.05, -0.3)[case % 8]
        shift = (target - separation_along(placed_a, turned_b, direction)) * direction
        reach = 0.5
        manifold = collide(shape_a, shape_b, pose_a, (shift, turn), reach=reach)
        exact, normal = signed_distance(placed_a, turned_b + shift)
        size = min(shape_a.size, shape_b.size)
        if exact > RATIO_MARGIN * size and len(manifold.gap) == 0:
            assert exact > reach
            continue
        checked += 1
        assert_consistent(manifold, size)
        allowed = (RATIO_FACE_PREFERRED + 2 * RATIO_TIE) * size
        assert abs(manifold.gap.min() - exact) <= 1.02 * allowed, (case, exact, manifold)
        assert exact <= reach + 1.01 * RATIO_MARGIN * size
        # Moving b out along the contact's own normal needs no more than the gap says.
        if exact > 1e-6 * size:
            assert manifold.normal[0] @ normal > np.cos(np.radians(9.0)), (case, exact, normal, manifold)
    assert checked >= 0.35 * count


def test_random_spheres_and_polytopes_have_the_exact_gap():
    """Centre outside: distance of the centre less the radius. Inside: depth of the centre plus the radius."""
    rng = np.random.default_rng(9)
    for case in range(150):
        shape, points = random_polytope(rng, ("box", "hull", "large")[case % 3])
        turn, radius, center = random_quaternion(rng), rng.uniform(0.05, 0.5), rng.normal(size=3) * 0.5
        placed = points @ rotation(turn).T
        exact, normal = signed_distance(placed, center[None, :] + np.zeros((1, 3)))
        manifold = collide(shape, Sphere(radius), (np.zeros(3), turn), (center, IDENTITY), reach=2.0)
        if exact - radius > 0.01 * min(shape.size, 2 * radius) and len(manifold.gap) == 0:
            continue
        np.testing.assert_allclose(manifold.gap, [exact - radius], atol=1e-9)
        assert manifold.normal[0] @ normal > 1.0 - 1e-9


# ---- MuJoCo


def test_random_pairs_agree_with_mujoco():
    """Signed distance of boxes and spheres apart, by MuJoCo's mj_geomDistance."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(11)
    compared = 0
    for _ in range(60):
        half_extents, radius = rng.uniform(0.1, 1.0, 3), rng.uniform(0.1, 0.5)
        turn, center = random_quaternion(rng), rng.normal(size=3)
        xml = (
            f'<mujoco><worldbody><geom type="box" size="{" ".join(map(str, half_extents))}" '
            f'quat="{" ".join(map(str, turn))}"/><body pos="{" ".join(map(str, center))}"><freejoint/>'
            f'<geom type="sphere" size="{radius}"/></body></worldbody></mujoco>'
        )
        model = mujoco.MjModel.from_xml_string(xml)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        distance = mujoco.mj_geomDistance(model, data, 0, 1, 10.0, None)
        manifold = collide(Box(half_extents), Sphere(radius), (np.zeros(3), turn), (center, IDENTITY), reach=1.0)
        if len(manifold.gap):
            compared += 1
            assert manifold.gap[0] == pytest.approx(distance, abs=1e-5)
    assert compared > 30


# ---- invariances

POLYTOPES = st.sampled_from(["box", "hull"])


def random_touching_pair(seed, kinds):
    """Two shapes a small random amount apart or into each other, at generic angles."""
    rng = np.random.default_rng(seed)
    (shape_a, points_a), (shape_b, points_b) = (random_polytope(rng, kind) for kind in kinds)
    turn_a, turn_b = random_quaternion(rng), random_quaternion(rng)
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    offset = separation_along(points_a @ rotation(turn_a).T, points_b @ rotation(turn_b).T, direction)
    shift = (rng.uniform(-0.2, -0.01) - offset) * direction
    return (shape_a, points_a, turn_a), (shape_b, points_b, turn_b), shift


def assert_same_points(points, others, tolerance):
    assert len(points) == len(others)
    for point in points:
        assert np.linalg.norm(others - point, axis=1).min() <= tolerance


@given(st.integers(0, 100_000), POLYTOPES, POLYTOPES)
@settings(max_examples=100)
def test_swapping_the_bodies_turns_the_normal_round(seed, kind_a, kind_b):
    """And changes nothing else."""
    (a, _, turn_a), (b, _, turn_b), shift = random_touching_pair(seed, (kind_a, kind_b))
    one = collide(a, b, (np.zeros(3), turn_a), (shift, turn_b))
    two = collide(b, a, (shift, turn_b), (np.zeros(3), turn_a))
    assert len(one.gap) == len(two.gap)
    np.testing.assert_allclose(np.sort(one.gap), np.sort(two.gap), atol=1e-9)
    if len(one.gap):
        np.testing.assert_allclose(one.normal[0], -two.normal[0], atol=1e-9)
    assert_same_points(one.position, two.position, 1e-9)


@given(st.integers(0, 100_000), POLYTOPES, POLYTOPES)
@settings(max_examples=100)
def test_a_rigid_motion_moves_the_contacts(seed, kind_a, kind_b):
    """Contacts depend on where the shapes are to each other, not on where they are."""
    (a, _, turn_a), (b, _, turn_b), shift = random_touching_pair(seed, (kind_a, kind_b))
    one = collide(a, b, (np.zeros(3), turn_a), (shift, turn_b))
    rng = np.random.default_rng(seed + 1)
    moved, turn = rng.normal(size=3) * 100, random_quaternion(rng)

    def turned(q):
        w, v, s, u = turn[0], turn[1:], q[0], np.asarray(q[1:])
        return np.concatenate([[w * s - v @ u], w * u + s * v + np.cross(v, u)])

    two = collide(a, b, (moved, turned(turn_a)), (moved + rotation(turn) @ shift, turned(turn_b)))
    np.testing.assert_allclose(np.sort(one.gap), np.sort(two.gap), atol=1e-9)
    np.testing.assert_allclose(one.normal @ rotation(turn).T, two.normal, atol=1e-7)
    assert_same_points(one.position @ rotation(turn).T + moved, two.position, 1e-7)


@given(st.integers(0, 100_000), POLYTOPES, POLYTOPES, st.sampled_from([1e-3, 1e3]))
@settings(max_examples=100)
def test_scaling_the_scene_scales_the_contacts(seed, kind_a, kind_b, scale):
    """No tolerance is a length: a scene of millimetres and one of kilometres have the same contacts."""
    (a, points_a, turn_a), (b, points_b, turn_b), shift = random_touching_pair(seed, (kind_a, kind_b))
    one = collide(a, b, (np.zeros(3), turn_a), (shift, turn_b))

    def scaled(shape, points):
        return Box(scale * shape.half_extents) if isinstance(shape, Box) else ConvexHull.from_points(scale * points)

    two = collide(scaled(a, points_a), scaled(b, points_b), (np.zeros(3), turn_a), (scale * shift, turn_b))
    np.testing.assert_allclose(np.sort(one.gap) * scale, np.sort(two.gap), atol=1e-9 * scale)
    np.testing.assert_allclose(one.normal, two.normal, atol=1e-7)
    assert_same_points(one.position * scale, two.position, 1e-7 * scale)
