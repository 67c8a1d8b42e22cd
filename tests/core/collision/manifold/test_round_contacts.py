"""Contacts of capsules, cylinders and cones: closed forms, manifolds, degenerate poses, sheets and invariances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_collision import Collider, about, collide, rotation
from reference_round import search_signed_distance, separations
from test_round_pairs import KINDS, ROUND, random_pair

from cairn.solver_core.collision.manifold.disc_regions import TILT_STEADY
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.model import BodyKind

pytestmark = pytest.mark.one_python

IDENTITY = (1.0, 0.0, 0.0, 0.0)
FLOOR = Box((5.0, 5.0, 0.5))
HULL_FLOOR = ConvexHull.from_points(ConvexHull.from_box((5.0, 5.0, 0.5)).vertices)
SHEET = Box((5.0, 5.0, 0.0))
FLOORS = pytest.mark.parametrize(("floor", "top"), [(FLOOR, 0.5), (HULL_FLOOR, 0.5), (SHEET, 0.0)])
SIDEWAYS = about((1, 0, 0), np.pi / 2)


def on_floor(shape, height, turn=IDENTITY, floor=FLOOR, top=0.5, **options):
    """A shape over a floor whose top is at height 0."""
    return collide(floor, shape, ((0, 0, -top), IDENTITY), ((0, 0, height), turn), **options)


def assert_same_points(first, second, tolerance):
    assert len(first) == len(second)
    for point in first:
        assert np.linalg.norm(second - point, axis=1).min() <= tolerance, (first, second)


# ---- on a plane


@FLOORS
@pytest.mark.parametrize(
    "tilt", [0.0, 1e-9, 1e-6, 1e-4, 0.01, 0.3, np.pi / 4, 1.2, np.pi / 2 - 1e-6, np.pi / 2, 2.5, np.pi]
)
@pytest.mark.parametrize("gap", [-0.05, -1e-6, 0.0, 1e-3])
def test_a_cylinder_on_a_plane_at_any_tilt(floor, top, tilt, gap):
    """The lowest point of the rim lies h |cos| + r sin below the middle, and is among the contacts."""
    reach = 0.4 * abs(np.cos(tilt)) + 0.3 * np.sin(tilt)
    turn = about((np.cos(0.7), np.sin(0.7), 0), tilt)
    manifold = on_floor(Cylinder(0.3, 0.4), reach + gap, turn, floor, top)
    assert manifold.gap.min() == pytest.approx(gap, abs=1e-6 if tilt < TILT_STEADY else 1e-12)
    np.testing.assert_allclose(manifold.normal, np.tile((0.0, 0.0, 1.0), (len(manifold.gap), 1)), atol=1e-12)


@FLOORS
@pytest.mark.parametrize("tilt", [0.0, 1e-4, 0.3, 1.0, np.pi / 2, 2.0, np.pi])
@pytest.mark.parametrize("gap", [-0.05, 0.0, 1e-3])
def test_a_cone_on_a_plane_at_any_tilt(floor, top, tilt, gap):
    """Apex, side or base down: the lowest of the apex and the rim."""
    reach = max(-0.4 * np.cos(tilt), 0.4 * np.cos(tilt) + 0.3 * np.sin(tilt))
    turn = about((np.cos(0.7), np.sin(0.7), 0), tilt)
    manifold = on_floor(Cone(0.3, 0.4), reach + gap, turn, floor, top)
    assert manifold.gap.min() == pytest.approx(gap, abs=1e-12)
    np.testing.assert_allclose(manifold.normal, np.tile((0.0, 0.0, 1.0), (len(manifold.gap), 1)), atol=1e-12)


@FLOORS
@pytest.mark.parametrize("tilt", [0.0, 0.3, 1.5, np.pi / 2, 2.0])
@pytest.mark.parametrize("gap", [-0.05, 0.0, 1e-3])
def test_a_capsule_on_a_plane_at_any_tilt(floor, top, tilt, gap):
    """The lower end of the axis, less the radius."""
    turn = about((np.cos(0.7), np.sin(0.7), 0), tilt)
    manifold = on_floor(Capsule(0.3, 0.4), 0.4 * abs(np.cos(tilt)) + 0.3 + gap, turn, floor, top)
    assert manifold.gap.min() == pytest.approx(gap, abs=1e-12)
    np.testing.assert_allclose(manifold.normal, np.tile((0.0, 0.0, 1.0), (len(manifold.gap), 1)), atol=1e-12)


@FLOORS
def test_a_cylinder_on_its_side_touches_at_the_ends_of_one_line(floor, top):
    """Two contacts, below the axis, as far apart as the cylinder is long."""
    manifold = on_floor(Cylinder(0.3, 0.4), 0.3, SIDEWAYS, floor, top)
    assert_same_points(manifold.position, np.array([(0, 0.4, 0), (0, -0.4, 0)]), 1e-12)


@FLOORS
def test_a_capsule_lies_on_two_points(floor, top):
    """Below the ends of its axis."""
    manifold = on_floor(Capsule(0.3, 0.4), 0.3, SIDEWAYS, floor, top)
    assert_same_points(manifold.position, np.array([(0, 0.4, 0), (0, -0.4, 0)]), 1e-12)


@FLOORS
def test_a_cone_on_its_side_touches_from_apex_to_rim(floor, top):
    """A cone of height 0.8 and radius 0.3 lies on a side of length sqrt(0.8^2 + 0.3^2)."""
    side = np.hypot(0.8, 0.3)
    turn = about((1, 0, 0), np.pi / 2 + np.arctan2(0.3, 0.8))
    manifold = on_floor(Cone(0.3, 0.4), 0.4 * 0.3 / side, turn, floor, top)
    np.testing.assert_allclose(manifold.gap, [0.0, 0.0], atol=1e-12)
    assert np.linalg.norm(manifold.position[1] - manifold.position[0]) == pytest.approx(side)


@FLOORS
@pytest.mark.parametrize("shape", [Cylinder(0.3, 0.4), Cone(0.3, 0.4)])
def test_a_cap_stands_on_eight_points_around_its_rim(floor, top, shape):
    """A regular octagon on the rim."""
    manifold = on_floor(shape, 0.4, floor=floor, top=top)
    assert len(manifold.gap) == 8
    np.testing.assert_allclose(np.linalg.norm(manifold.position[:, :2], axis=1), 0.3, rtol=1e-12)
    turns = np.sort(np.arctan2(manifold.position[:, 1], manifold.position[:, 0]))
    np.testing.assert_allclose(np.diff(turns), np.pi / 4, atol=1e-9)


def test_points_of_a_standing_can_do_not_jump():
    """Shifts, turns and tilts of rounding leave the points of contact where they are, in the can's own frame."""
    rng = np.random.default_rng(0)
    reference = on_floor(Cylinder(0.3, 0.4), 0.4)
    for _ in range(100):
        collider = Collider(
            [
                {"shape": FLOOR, "position": (0, 0, -0.5), "kind": BodyKind.STATIC},
                {
                    "shape": Cylinder(0.3, 0.4),
                    "position": np.array([0, 0, 0.4]) + 1e-8 * rng.normal(size=3),
                    "orientation": about(rng.normal(size=3), 1e-7),
                },
            ]
        ).step()
        np.testing.assert_allclose(collider.manifold().local_b, reference.local_b, atol=1e-7)


def test_points_of_a_rocking_can_move_without_gaps():
    """The tilt's direction goes around: every point follows, and the lowest point of the rim is always there."""
    before = None
    for step in range(181):
        angle, tilt = 2.0 * np.pi * step / 180, 1e-3
        turn = about((np.cos(angle), np.sin(angle), 0), tilt)
        height = 0.4 * np.cos(tilt) + 0.3 * np.sin(tilt)
        manifold = on_floor(Cylinder(0.3, 0.4), height, turn)
        assert manifold.gap.min() == pytest.approx(0.0, abs=1e-12)
        points = manifold.position[manifold.gap < 1e-4]
        if before is not None:
            lowest = manifold.position[np.argmin(manifold.gap)]
            assert np.linalg.norm(before - lowest, axis=1).min() < 0.3 * 2.0 * np.pi / 180 * 1.5
        before = points


@pytest.mark.parametrize("maximal_points", [1, 3, 4, 8])
def test_few_points_keep_the_lowest(maximal_points):
    """Whatever is dropped, the lowest point of the rim stays."""
    turn = about((1, 0.4, 0), 0.004)
    height = 0.4 * np.cos(0.004) + 0.3 * np.sin(0.004)
    manifold = on_floor(Cylinder(0.3, 0.4), height, turn, maximal_points=maximal_points)
    assert len(manifold.gap) == maximal_points
    assert manifold.gap.min() == pytest.approx(0.0, abs=1e-12)


# ---- over edges, and on each other


def test_a_can_over_an_edge_touches_up_to_the_edge():
    """A table that ends under the can: the ends of the chord are contacts, and nothing beyond."""
    manifold = collide(Box((1, 1, 0.5)), Cylinder(0.5, 0.2), None, ((0.8, 0.1, 0.7), about((0, 0, 1), 0.3)))
    np.testing.assert_allclose(manifold.gap, 0.0, atol=1e-12)
    chord = np.sqrt(0.5**2 - 0.2**2)
    assert manifold.position[:, 0].max() == pytest.approx(1.0)
    for end in (0.1 - chord, 0.1 + chord):
        assert np.linalg.norm(manifold.position - (1.0, end, 0.5), axis=1).min() < 1e-9


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_cans_that_stand_aside_touch_in_a_lens(swap, turn):
    """Both corners of the lens are contacts, all are in both discs."""
    poses = [((0, 0, 0), IDENTITY), ((0.3, 0, 1.0), about((0, 0, 1), turn))]
    cans = [Cylinder(0.5, 0.5), Cylinder(0.4, 0.5)]
    if swap:
        poses.reverse(), cans.reverse()
    manifold = collide(*cans, *poses)
    np.testing.assert_allclose(manifold.gap, 0.0, atol=1e-12)
    assert np.linalg.norm(manifold.position[:, :2], axis=1).max() <= 0.5 + 1e-6
    assert np.linalg.norm(manifold.position[:, :2] - (0.3, 0), axis=1).max() <= 0.4 + 1e-6
    x = (0.5**2 - 0.4**2 + 0.3**2) / 0.6
    for y in (-np.sqrt(0.25 - x * x), np.sqrt(0.25 - x * x)):
        assert np.linalg.norm(manifold.position - (x, y, 0.5), axis=1).min() < 1e-9


def test_a_box_stands_on_a_can():
    """With its four corners, where they are on the cap; a larger one touches around the rim."""
    small = collide(Cylinder(0.5, 0.5), Box((0.3, 0.2, 0.1)), None, ((0.05, 0, 0.6), about((0, 0, 1), 0.2)))
    corners = np.array([(x, y, 0) for x in (-0.3, 0.3) for y in (-0.2, 0.2)]) @ rotation(about((0, 0, 1), 0.2)).T
    assert_same_points(small.position, corners + (0.05, 0, 0.5), 1e-12)
    large = collide(Cylinder(0.5, 0.5), FLOOR, None, ((0, 0, 1.0), IDENTITY))
    assert len(large.gap) == 8
    np.testing.assert_allclose(np.linalg.norm(large.position[:, :2], axis=1), 0.5)


@pytest.mark.parametrize("make", [Capsule, Cylinder])
@pytest.mark.parametrize("gap", [-0.02, -1e-6, 0.0, 0.005])
@pytest.mark.parametrize("yaw", [0.0, 1e-9, np.pi])
def test_parallel_logs_touch_along_their_common_stretch(make, gap, yaw):
    """Gap: distance of the axes less the radii; contacts at both ends of the stretch."""
    manifold = collide(make(0.3, 0.6), make(0.2, 0.5), None, ((0.5 + gap, 0, 0.4), about((1, 0, 0), yaw)))
    np.testing.assert_allclose(manifold.gap, [gap, gap], atol=1e-9)
    np.testing.assert_allclose(manifold.normal, np.tile((1.0, 0.0, 0.0), (2, 1)), atol=1e-8)
    np.testing.assert_allclose(np.sort(manifold.position[:, 2]), [-0.1, 0.6], atol=1e-8)


@pytest.mark.parametrize("make", [Capsule, Cylinder])
@pytest.mark.parametrize("angle", [np.pi / 2, 1.0, 0.2])
def test_crossed_logs_touch_at_one_point(make, angle):
    """The closest points of the axes, whatever the angle."""
    for gap in (-0.01, 0.0, 0.003):
        manifold = collide(make(0.3, 0.6), make(0.2, 0.5), None, ((0.5 + gap, 0.05, 0.02), about((1, 0, 0), angle)))
        np.testing.assert_allclose(manifold.gap.min(), gap, atol=1e-12)
        np.testing.assert_allclose(manifold.normal[0], (1, 0, 0), atol=1e-9)
        # Where the line through (y, z) = (0.05, 0.02) along the turned axis (-sin, cos) meets y = 0.
        z = 0.02 + 0.05 / np.tan(angle)
        np.testing.assert_allclose(manifold.position[np.argmin(manifold.gap)], (0.3 + gap / 2, 0, z), atol=1e-9)


def test_a_log_lies_on_a_boxs_edge_and_face():
    """Beside an edge, parallel to it: two contacts along the edge, towards the axis."""
    towards = np.array([0.6, 0.0, 0.8])
    manifold = collide(Box((1, 1, 1)), Capsule(0.5, 0.4), None, (np.array([1, 0, 1]) + 0.5 * towards, SIDEWAYS))
    np.testing.assert_allclose(manifold.gap, [0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(manifold.normal, [towards] * 2, atol=1e-9)
    assert_same_points(manifold.position, np.array([(1, 0.4, 1), (1, -0.4, 1)]), 1e-9)


# ---- a ball


@pytest.mark.parametrize(
    ("shape", "center", "distance", "normal"),
    [
        (Cylinder(0.5, 0.8), (0.9, 0.0, 0.3), 0.4, (1, 0, 0)),
        (Cylinder(0.5, 0.8), (0.2, 0.1, 1.1), 0.3, (0, 0, 1)),
        (Cylinder(0.5, 0.8), (0.0, -0.8, -1.2), 0.5, (0, -0.6, -0.8)),
        (Cylinder(0.5, 0.8), (0.0, 0.0, 0.75), -0.05, (0, 0, 1)),
        (Cylinder(0.5, 0.8), (0.0, 0.4, 0.1), -0.1, (0, 1, 0)),
        (Capsule(0.5, 0.8), (0.0, 0.9, 0.3), 0.4, (0, 1, 0)),
        (Capsule(0.5, 0.8), (0.6, 0.0, 1.6), 0.5, (0.6, 0, 0.8)),
        (Cone(0.6, 0.4), (0.1, 0.2, -0.7), 0.3, (0, 0, -1)),
        (Cone(0.6, 0.4), (0.9, 0.0, -0.8), 0.5, (0.6, 0, -0.8)),
        (Cone(0.6, 0.4), (0.0, 0.0, 0.7), 0.3, (0, 0, 1)),
        (Cone(0.6, 0.4), (0.3 + 0.8 * 0.2, 0.0, 0.6 * 0.2), 0.2, (0.8, 0, 0.6)),
        (Cone(0.6, 0.4), (0.3 - 0.8 * 0.1, 0.0, -0.6 * 0.1), -0.1, (0.8, 0, 0.6)),
        (Cone(0.6, 0.4), (0.0, 0.01, -0.35), -0.05, (0, 0, -1)),
    ],
)
def test_a_ball_beside_a_round_shape(shape, center, distance, normal):
    """In the half plane through the axis: beside a side, a rim, an apex, and inside; with the roles changed too."""
    manifold = collide(shape, Sphere(0.3), None, (center, IDENTITY), reach=0.6)
    np.testing.assert_allclose(manifold.gap, [distance - 0.3], atol=1e-12)
    np.testing.assert_allclose(manifold.normal, [normal], atol=1e-12)
    swapped = collide(Sphere(0.3), shape, (center, IDENTITY), None, reach=0.6)
    np.testing.assert_allclose(swapped.gap, manifold.gap, atol=1e-12)
    np.testing.assert_allclose(swapped.normal, -manifold.normal, atol=1e-12)
    np.testing.assert_allclose(swapped.position, manifold.position, atol=1e-12)


# ---- degenerate poses


DEGENERATE = [
    (shape_a, shape_b, pose)
    for shape_a in (Cylinder(0.3, 0.9), Cone(0.5, 0.4), Capsule(0.3, 0.5))
    for shape_b in (Cylinder(0.5, 0.4), Cone(0.4, 0.6), Capsule(0.2, 0.6), Box((0.3, 0.2, 0.5)), Sphere(0.3))
    for pose in (
        ((0, 0, 0), IDENTITY),  # coincident
        ((0, 0, 0.3), IDENTITY),  # coaxial
        ((0, 0, 0.3), about((1, 0, 0), np.pi)),
        ((0, 0, 0), SIDEWAYS),  # axes that cross
        ((0.3, 0, 0), IDENTITY),  # parallel
        ((0.2, 0, 0.8), IDENTITY),
        ((0.4, 0, 0.7), SIDEWAYS),
    )
]


def test_degenerate_poses_have_the_exact_depth_and_finite_contacts():
    """Coincident centres, coaxial, parallel and crossing axes, for each two kinds."""
    for shape_a, shape_b, pose in DEGENERATE:
        manifold = collide(shape_a, shape_b, None, pose, reach=0.6)
        exact, _ = search_signed_distance(shape_a, ((0, 0, 0), IDENTITY), shape_b, pose, starts=3)
        size = min(shape_a.size, shape_b.size)
        case = (shape_a, shape_b, pose)
        assert len(manifold.gap) > 0, case
        proven = separations(shape_a, ((0, 0, 0), IDENTITY), shape_b, pose, manifold.normal[:1])[0]
        assert manifold.gap.min() == pytest.approx(proven, abs=1e-6 * size), case
        assert proven >= exact - 1e-6 * size, case
        assert np.all(np.isfinite(manifold.position)), case


@pytest.mark.parametrize("gap", [-1e-3, -1e-6, 0.0, 1e-6, 1e-3])
def test_apex_on_apex(gap):
    """Two cones tip to tip, one upside down: the tips' gap along the axis, or less where a way aside is shorter."""
    below = about((1, 0, 0), np.pi)
    manifold = collide(Cone(0.3, 0.4), Cone(0.3, 0.4), None, ((0, 0, 0.8 + gap), below))
    # Overlapping tips of half angle atan(3/8): out along the normal of a side, by gap times its axial part.
    exact = gap if gap >= 0.0 else gap * 0.3 / np.hypot(0.3, 0.8)
    assert manifold.gap.min() == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("gap", [-1e-4, 0.0, 1e-4])
def test_rim_on_rim(gap):
    """Two cylinders that lean towards each other, 0.5 rad each, across each other: their rims touch in one point."""
    one = about((0, 1, 0), 0.5)
    two = product(about((1, 0, 0), np.pi / 2), about((0, 1, 0), -0.5))
    # How far the rim reaches along x, and how high it does.
    x, z = 0.5 * np.cos(0.5) + 0.5 * np.sin(0.5), 0.5 * np.cos(0.5) - 0.5 * np.sin(0.5)
    manifold = collide(Cylinder(0.5, 0.5), Cylinder(0.5, 0.5), ((0, 0, 0), one), ((2 * x + gap, z, z), two))
    assert len(manifold.gap) == 1
    np.testing.assert_allclose(manifold.gap, [gap], atol=1e-9)
    np.testing.assert_allclose(manifold.normal, [(1, 0, 0)], atol=1e-5)
    np.testing.assert_allclose(manifold.position, [(x + gap / 2, 0, z)], atol=1e-5)


@pytest.mark.parametrize("gap", [-1e-3, 0.0, 1e-3])
def test_a_vertex_on_the_axis(gap):
    """A cube on its corner on the middle of a cap; and against the side of a cylinder."""
    corner = about(np.cross((1, 1, 1), (0, 0, -1)), np.arccos(-1 / np.sqrt(3)))
    height = np.sqrt(3) * 0.3
    manifold = collide(Cylinder(0.5, 0.5), Box((0.3, 0.3, 0.3)), None, ((0, 0, 0.5 + height + gap), corner))
    np.testing.assert_allclose(manifold.gap.min(), gap, atol=1e-12)
    np.testing.assert_allclose(manifold.position[0], (0, 0, 0.5 + gap / 2), atol=1e-9)
    down = about(np.cross((1, 1, 1), (-1, 0, 0)), np.arccos(-1 / np.sqrt(3)))
    manifold = collide(Cylinder(0.5, 0.5), Box((0.3, 0.3, 0.3)), None, ((0.5 + height + gap, 0, 0), down))
    np.testing.assert_allclose(manifold.gap.min(), gap, atol=1e-9)
    np.testing.assert_allclose(manifold.normal[0], (1, 0, 0), atol=1e-5)


# ---- sheets


ROUND_IDS = ["can", "cone", "capsule"]
SHEETS = pytest.mark.parametrize(
    "sheet", [Box((1, 1, 0)), ConvexHull.from_points([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])]
)


@SHEETS
@pytest.mark.parametrize(
    "shape", [Cylinder(0.2, 0.3), Cone(0.2, 0.3), Capsule(0.2, 0.1)], ids=["can", "cone", "capsule"]
)
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("gap", [0.0, 1e-3, -1e-3, -0.1, -0.29])
def test_a_round_body_is_pushed_to_the_side_of_its_middle(sheet, shape, side, gap):
    """Standing on a sheet from either side; sunken ones come out where their middle is."""
    turn = IDENTITY if side > 0 else about((1, 0, 0), np.pi)
    manifold = collide(sheet, shape, None, ((0.3, 0.2, side * (0.3 + gap)), turn))
    np.testing.assert_allclose(manifold.gap.min(), gap, atol=1e-9)
    np.testing.assert_allclose(manifold.normal[0], (0, 0, side), atol=1e-9)


@SHEETS
def test_a_coin_pressed_through_a_sheet_stays_on_its_side(sheet):
    """A thin coin that lay on the sheet and whose middle others press below it still belongs above."""
    bodies = [{"shape": sheet, "kind": BodyKind.STATIC}, {"shape": Cylinder(0.2, 0.005), "position": (0, 0, 0.005)}]
    collider = Collider(bodies).step()
    collider.place(1, (0, 0, -0.004))
    manifold = collider.step().manifold()
    assert len(manifold.gap) == 8
    np.testing.assert_allclose(manifold.gap, -0.009, atol=1e-12)
    np.testing.assert_allclose(manifold.normal[0], (0, 0, 1), atol=1e-12)


# ---- a past


def test_a_rolling_log_keeps_its_two_contacts():
    """The line of touch wanders over both surfaces; impulses and ages go with it."""
    bodies = [
        {"shape": FLOOR, "position": (0, 0, -0.5), "kind": BodyKind.STATIC},
        {"shape": Cylinder(0.5, 0.5), "position": (0, 0, 0.5), "orientation": SIDEWAYS},
    ]
    collider = Collider(bodies).step()
    for step in range(1, 100):
        angle = 0.01 * step
        turned = rotation(about((0, 1, 0), angle)) @ rotation(SIDEWAYS)
        quaternion = about((0, 1, 0), angle)
        w, x = quaternion[0], quaternion[2]
        combined = (w * SIDEWAYS[0], w * SIDEWAYS[1], x * SIDEWAYS[0], -x * SIDEWAYS[1])
        np.testing.assert_allclose(rotation(combined), turned, atol=1e-12)
        collider.place(1, (0.5 * angle, 0, 0.5), combined)
        manifold = collider.step().manifold()
        np.testing.assert_array_equal(manifold.age, [step, step])
        np.testing.assert_allclose(manifold.position[:, 0], 0.5 * angle, atol=1e-9)


def test_two_equal_reference_faces_do_not_flicker():
    """Two cans on each other that slide and tilt to and fro by less than the hysteresis: one keeps the reference."""
    bodies = [{"shape": Cylinder(0.5, 0.5)}, {"shape": Cylinder(0.5, 0.5), "position": (0, 0, 1.0)}]
    collider = Collider(bodies).step()
    references = set()
    for step in range(20):
        tilt = 5e-5 if step % 2 else -5e-5
        collider.place(1, (0.01 * step + 0.01, 0, 1.0 + 0.4 * abs(tilt)), about((0, 1, 0), tilt))
        manifold = collider.step().manifold()
        assert not manifold.is_recycled
        assert len(manifold.gap) >= 7
        references.add(manifold.reference)
    assert len(references) == 1


# ---- invariances


PAIR = st.tuples(st.sampled_from(ROUND), st.sampled_from(KINDS), st.integers(0, 2**31), st.integers(0, 47))


def seeded_pair(pair):
    round_kind, kind, seed, case = pair
    return random_pair(np.random.default_rng(seed), (round_kind, kind), case)


def is_unique(a, pose_a, b, pose_b, gap, normal):
    """Whether normals a little aside are clearly worse, so that rounding does not choose another one."""
    rng = np.random.default_rng(0)
    around = normal + 0.02 * rng.normal(size=(64, 3))
    around /= np.linalg.norm(around, axis=1, keepdims=True)
    far = np.linalg.norm(around - normal, axis=1) > 0.01
    everywhere = rng.normal(size=(2000, 3))
    everywhere /= np.linalg.norm(everywhere, axis=1, keepdims=True)
    everywhere = everywhere[everywhere @ normal < 0.99]
    others = separations(a, pose_a, b, pose_b, np.concatenate([around[far], everywhere]))
    return others.max() < gap - 1e-4 * min(a.size, b.size)


def far_apart(one, two, size):
    """Whether nothing is to compare; bounds along the world's axes may find a pair only when turned, but a far one."""
    if len(one.gap) and len(two.gap):
        return False
    assert all(manifold.gap.min(initial=np.inf) > 0.1 * size for manifold in (one, two))
    return True


@given(PAIR)
@settings(max_examples=60, deadline=None)
def test_swapping_the_shapes_swaps_the_normal(pair):
    """And nothing else: gaps and points are the same."""
    a, pose_a, b, pose_b = seeded_pair(pair)
    one = collide(a, b, pose_a, pose_b, reach=0.8)
    two = collide(b, a, pose_b, pose_a, reach=0.8)
    size = min(a.size, b.size)
    if far_apart(one, two, size) or not is_unique(a, pose_a, b, pose_b, one.gap.min(), one.normal[0]):
        return
    assert two.gap.min() == pytest.approx(one.gap.min(), abs=1e-6 * size)
    np.testing.assert_allclose(two.normal[0], -one.normal[0], atol=2e-3)


@given(PAIR, st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_moving_the_pair_moves_the_contacts(pair, seed):
    """A common turn and shift."""
    a, pose_a, b, pose_b = seeded_pair(pair)
    rng = np.random.default_rng(seed)
    turn, shift = rng.normal(size=4), rng.normal(size=3)
    turn /= np.linalg.norm(turn)
    r = rotation(turn)
    one = collide(a, b, pose_a, pose_b, reach=0.8)
    moved = [(r @ np.asarray(p) + shift, product(turn, q)) for p, q in (pose_a, pose_b)]
    two = collide(a, b, *moved, reach=0.8)
    if far_apart(one, two, min(a.size, b.size)) or not is_unique(a, pose_a, b, pose_b, one.gap.min(), one.normal[0]):
        return
    size = min(a.size, b.size)
    assert two.gap.min() == pytest.approx(one.gap.min(), abs=1e-7 * size)
    np.testing.assert_allclose(two.normal[0], r @ one.normal[0], atol=1e-4)
    assert_same_points(two.position, one.position @ r.T + shift, 1e-4 * size)


def product(p, q):
    """Quaternion of the turn q, then p."""
    (a, b, c, d), (w, x, y, z) = p, q
    return np.array(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ]
    )


def scaled(shape, scale):
    if isinstance(shape, Box):
        return Box(scale * shape.half_extents)
    if isinstance(shape, Sphere):
        return Sphere(scale * shape.radius)
    if isinstance(shape, ConvexHull):
        return ConvexHull.from_points(scale * shape.vertices)
    return type(shape)(*(scale * shape.parameters[:2]))


@given(PAIR, st.sampled_from([1e-3, 1e3]))
@settings(max_examples=60, deadline=None)
def test_scaling_the_scene_scales_the_contacts(pair, scale):
    """No tolerance is a length."""
    a, pose_a, b, pose_b = seeded_pair(pair)
    one = collide(a, b, pose_a, pose_b, reach=0.8)
    poses = [(scale * np.asarray(p), q) for p, q in (pose_a, pose_b)]
    two = collide(scaled(a, scale), scaled(b, scale), *poses, reach=0.8 * scale)
    assert (len(one.gap) == 0) == (len(two.gap) == 0)
    if len(one.gap) == 0 or not is_unique(a, pose_a, b, pose_b, one.gap.min(), one.normal[0]):
        return
    size = scale * min(a.size, b.size)
    assert two.gap.min() == pytest.approx(scale * one.gap.min(), abs=1e-7 * size)
    np.testing.assert_allclose(two.normal[0], one.normal[0], atol=1e-4)
    assert_same_points(two.position, scale * one.position, 1e-4 * size)
