"""Shapes: mass properties against closed forms and sampling, hulls against Qhull's own facts, and bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_collision import rotation
from scipy.spatial import ConvexHull as Qhull

from cairn.solver_core.geometry.hulls import ConvexHull, pack_boxes, pack_hulls
from cairn.solver_core.geometry.shapes import Box, ShapeError, Sphere

CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def random_points(seed, count, stretch=(1.0, 0.7, 0.4)):
    return np.random.default_rng(seed).normal(size=(count, 3)) * stretch


def assert_polyhedron(hull):
    """Loops close, run counterclockwise seen from outside, share each edge with one other, and bound one body."""
    middle = hull.vertices.mean(axis=0)
    scale = hull.size
    for loop, normal, offset in zip(hull.loops, hull.normals, hull.offsets, strict=True):
        corners = hull.vertices[loop]
        area = np.cross(corners - corners[0], np.roll(corners, -1, axis=0) - corners[0]).sum(axis=0)
        assert area @ normal >= 0.0
        assert np.abs(corners @ normal - offset).max() <= 3e-6 * scale
        assert (hull.vertices @ normal).max() <= offset + 3e-6 * scale
        assert hull.is_flat or middle @ normal < offset
    assert len(hull.vertices) - len(hull.edges) + len(hull.loops) == 2
    for (a, b), (face, other) in zip(hull.edges.tolist(), hull.edge_faces.tolist(), strict=True):
        runs = [list(zip(loop, np.roll(loop, -1), strict=True)) for loop in (hull.loops[face], hull.loops[other])]
        assert (a, b) in runs[0]
        assert (b, a) in runs[1]


# ---- mass properties


def test_a_box_has_the_textbook_inertia():
    """Sides 2, 4, 6: volume 48, moments m (b^2 + c^2) / 12."""
    properties = Box((1, 2, 3), position=(5, 6, 7)).mass_properties()
    assert properties.volume == pytest.approx(48.0)
    np.testing.assert_allclose(properties.center, (5, 6, 7))
    np.testing.assert_allclose(properties.inertia, np.diag([208.0, 160.0, 80.0]))


def test_a_sphere_has_the_textbook_inertia():
    """2/5 m r^2 about every axis."""
    properties = Sphere(2.0, position=(1, 0, 0)).mass_properties()
    assert properties.volume == pytest.approx(32 / 3 * np.pi)
    np.testing.assert_allclose(properties.inertia, 0.4 * properties.volume * 4 * np.eye(3))


def test_a_turned_box_and_its_hull_agree():
    """The polyhedron's integrals give the box's closed form, off the origin and turned."""
    box = Box((0.3, 1.0, 0.1), position=(3, -2, 1), orientation=(0.5, 0.1, -0.7, 0.2))
    corners = ConvexHull.from_box(box.half_extents).vertices @ rotation(box.orientation).T + box.position
    of_box, of_hull = box.mass_properties(), ConvexHull.from_points(corners).mass_properties()
    assert of_hull.volume == pytest.approx(of_box.volume, rel=1e-12)
    np.testing.assert_allclose(of_hull.center, of_box.center, rtol=1e-12)
    np.testing.assert_allclose(of_hull.inertia, of_box.inertia, atol=1e-12 * of_box.inertia.max())
    np.testing.assert_allclose(box.bounding_box(), (corners.min(axis=0), corners.max(axis=0)), atol=1e-12)


def test_a_tetrahedron_has_its_closed_form():
    """Corners at the origin and the unit axes: volume 1/6, centroid 1/4, integral of x^2 = 1/60."""
    properties = ConvexHull.from_points(np.vstack([np.zeros(3), np.eye(3)])).mass_properties()
    assert properties.volume == pytest.approx(1 / 6)
    np.testing.assert_allclose(properties.center, np.full(3, 0.25))
    # About the centroid: integral of x^2 is 1/60 - 1/96 = 1/160, of xy 1/120 - 1/96 = -1/480.
    expected = np.full((3, 3), 1 / 480) + np.diag(np.full(3, 2 / 160 - 1 / 480))
    np.testing.assert_allclose(properties.inertia, expected, rtol=1e-12)


def test_a_hull_agrees_with_sampling():
    """Volume with Qhull's, centre and inertia with a million random points inside, within 5 standard errors."""
    hull = ConvexHull.from_points(random_points(1, 60))
    properties = hull.mass_properties()
    assert properties.volume == pytest.approx(Qhull(hull.vertices).volume, rel=1e-12)
    lower, upper = hull.bounding_box()
    points = np.random.default_rng(2).uniform(lower, upper, size=(1_000_000, 3))
    inside = points[np.all(points @ hull.normals.T <= hull.offsets, axis=1)]
    spread = inside.std(axis=0)
    assert np.all(np.abs(inside.mean(axis=0) - properties.center) < 5 * spread / np.sqrt(len(inside)))
    arms = inside - properties.center
    sampled = properties.volume * (np.mean(np.sum(arms**2, axis=1)) * np.eye(3) - arms.T @ arms / len(arms))
    np.testing.assert_allclose(properties.inertia, sampled, atol=0.02 * np.trace(sampled))


def test_a_sheet_has_the_mass_properties_of_its_area():
    """A flat hull and a flat box are plates: m a^2 / 12 in the plane, the sum across it."""
    for shape in (
        Box((0.5, 1.0, 0.0)),
        ConvexHull.from_points([(-0.5, -1, 0), (0.5, -1, 0), (0.5, 1, 0), (-0.5, 1, 0)]),
    ):
        assert shape.is_flat
        properties = shape.mass_properties()
        assert properties.volume == pytest.approx(2.0)
        np.testing.assert_allclose(properties.inertia, 2.0 / 12.0 * np.diag([4.0, 1.0, 5.0]), atol=1e-12)


@given(st.integers(0, 10_000), st.floats(-3, 3))
@settings(max_examples=30)
def test_mass_properties_scale_and_move_with_the_points(seed, exponent):
    """Volume goes with the cube of size, inertia with the fifth power, and the centre moves along."""
    points, scale = random_points(seed, 30), 10.0**exponent
    small, large = (ConvexHull.from_points(p).mass_properties() for p in (points, scale * (points + 3.0)))
    assert large.volume == pytest.approx(small.volume * scale**3, rel=1e-9)
    np.testing.assert_allclose(large.center, scale * (small.center + 3.0), rtol=1e-9)
    np.testing.assert_allclose(large.inertia, small.inertia * scale**5, atol=1e-8 * scale**5 * np.trace(small.inertia))


# ---- hulls


def test_a_cube_has_six_faces_of_four_corners():
    """Coplanar triangles merge, also where more points lie on faces, edges and inside, in single precision."""
    rng = np.random.default_rng(3)
    on_faces = rng.uniform(-1, 1, size=(300, 3))
    on_faces[np.arange(300), rng.integers(3, size=300)] = rng.choice([-1.0, 1.0], size=300)
    on_edges = np.array([(-1, -1, z) for z in np.linspace(-1, 1, 7)])
    turned = np.vstack([CUBE, on_faces, on_edges, 0.5 * CUBE]) @ rotation((0.9, 0.1, -0.3, 0.2)).T
    for points in (CUBE, turned, turned.astype(np.float32)):
        hull = ConvexHull.from_points(points)
        assert sorted(len(loop) for loop in hull.loops) == [4] * 6
        assert (len(hull.vertices), len(hull.edges)) == (8, 12)
        assert_polyhedron(hull)
        assert hull.mass_properties().volume == pytest.approx(8.0, rel=1e-5)


@pytest.mark.parametrize("distance", [0.0, 5.0, 30.0])
def test_a_single_precision_cube_far_from_its_origin_has_six_faces(distance):
    """Rounding grows with the coordinates, not with the size of the shape."""
    turned = CUBE @ rotation((0.9, 0.1, -0.3, 0.2)).T + distance * np.array([2.0, -1.0, 0.7])
    hull = ConvexHull.from_points(turned.astype(np.float32))
    assert sorted(len(loop) for loop in hull.loops) == [4] * 6


def test_a_tiny_hull_far_from_its_origin_keeps_its_shape():
    """A crumb of 10 micrometres, 10 m away, in double precision."""
    points = random_points(8, 30)
    plain, crumb = (ConvexHull.from_points(p) for p in (points, 1e-5 * points + 10.0))
    assert crumb.mass_properties().volume == pytest.approx(plain.mass_properties().volume * 1e-15, rel=1e-3)


def test_a_cylinder_keeps_its_caps_as_single_faces():
    """A 64-sided prism has two faces of 64 corners and 64 of four."""
    angles = np.arange(64) * 2 * np.pi / 64
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(64)])
    hull = ConvexHull.from_points(np.vstack([ring, ring + (0, 0, 2)]).astype(np.float32))
    assert sorted(len(loop) for loop in hull.loops) == [4] * 64 + [64] * 2
    assert_polyhedron(hull)


@pytest.mark.parametrize("count", [4, 12, 100, 5000])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_random_hulls_are_closed_polyhedra(count, scale):
    """Of few points and of thousands, of any size, anywhere."""
    hull = ConvexHull.from_points(scale * (random_points(count, count) + 2.0))
    assert_polyhedron(hull)
    assert hull.mass_properties().volume > 0.0


def test_a_smooth_hull_does_not_melt_into_large_faces():
    """4,000 points on a sphere: neighbours are nearly coplanar and stay faces of their own."""
    points = random_points(5, 4000, stretch=(1, 1, 1))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    hull = ConvexHull.from_points(points)
    assert len(hull.vertices) == 4000
    assert hull.mass_properties().volume == pytest.approx(4 / 3 * np.pi, rel=0.01)
    assert_polyhedron(hull)


def test_duplicates_and_interior_points_change_nothing():
    """The hull is that of the distinct extreme points."""
    points = random_points(6, 20)
    plain = ConvexHull.from_points(points)
    noisy = ConvexHull.from_points(np.vstack([points, points, points + 1e-9, 0.3 * points + 0.7 * points.mean(axis=0)]))
    assert len(noisy.loops) == len(plain.loops)
    assert noisy.mass_properties().volume == pytest.approx(plain.mass_properties().volume, rel=1e-7)


def test_needles_and_slivers_are_hulls():
    """A needle of 1 : 1000 and a thin wedge have positive volume and proper faces."""
    for stretch in ((1.0, 1e-3, 1e-3), (1.0, 1.0, 1e-4)):
        hull = ConvexHull.from_points(CUBE * stretch)
        assert sorted(len(loop) for loop in hull.loops) == [4] * 6
        assert hull.mass_properties().volume == pytest.approx(8 * np.prod(stretch), rel=1e-6)


def test_a_plane_set_gives_a_two_sided_sheet():
    """Flat points, tilted, with points inside and on the outline: one polygon, seen from both sides."""
    square = np.array(
        [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 0), (0.5, 0, 0), (0.2, 0.7, 0)], np.float32
    )
    hull = ConvexHull.from_points(square @ rotation((0.7, 0.3, 0.2, -0.4)).T)
    assert hull.is_flat
    top, bottom = hull.loops[hull.flat_face], hull.loops[hull.flat_face + 1]
    assert len(top) == len(bottom) == 4
    np.testing.assert_allclose(hull.normals[hull.flat_face], -hull.normals[hull.flat_face + 1])
    np.testing.assert_allclose(np.sort(hull.vertices[top], axis=0), np.sort(hull.vertices[bottom], axis=0))
    assert_polyhedron(hull)


def test_a_plane_set_with_a_thickness_gives_a_plate():
    """A prism, half of the thickness to either side."""
    hull = ConvexHull.from_points([(0, 0, 5), (2, 0, 5), (0, 2, 5)], thickness=0.1)
    assert not hull.is_flat
    assert hull.mass_properties().volume == pytest.approx(0.2)
    np.testing.assert_allclose(hull.bounding_box(), ((0, 0, 4.95), (2, 2, 5.05)), atol=1e-12)
    assert_polyhedron(hull)


def test_a_thickness_is_for_flat_sets_only():
    """A solid keeps its shape, whatever thickness is given."""
    assert ConvexHull.from_points(CUBE, thickness=0.1).mass_properties().volume == pytest.approx(8.0)


def test_packed_hulls_keep_their_numbers():
    """Tables of several hulls: own frames, counts, planes and neighbours."""
    hulls = [ConvexHull.from_points(CUBE + 5.0), ConvexHull.from_points(random_points(7, 30))]
    tables = pack_hulls(hulls)
    np.testing.assert_array_equal(tables.start[1], (8, 6, 12))
    for index, hull in enumerate(hulls):
        (vertex, face, edge), (vertex_end, face_end, edge_end) = tables.start[index], tables.start[index + 1]
        vertices = tables.vertex[vertex:vertex_end]
        np.testing.assert_allclose(vertices, hull.vertices - hull.mass_properties().center)
        planes = tables.plane[face:face_end]
        np.testing.assert_allclose((vertices @ planes[:, :3].T).max(axis=0), planes[:, 3])
        for a, b in tables.edge[edge:edge_end, :2]:
            row = slice(tables.neighbor_start[vertex + a], tables.neighbor_start[vertex + a + 1])
            assert b in tables.neighbor[row]


# ---- bad input


@pytest.mark.parametrize(
    ("make", "value"),
    [
        (lambda: Box((1, 1)), "(1, 1)"),
        (lambda: Box((1, -2, 1)), "-2"),
        (lambda: Box((0, 0, 1)), "0"),
        (lambda: Box((1, np.nan, 1)), "nan"),
        (lambda: Box((1, 1, 1), orientation=(0, 0, 0, 0)), "zero"),
        (lambda: Sphere(0.0), "0"),
        (lambda: Sphere(np.inf), "inf"),
        (lambda: ConvexHull.from_points([]), "(0,)"),
        (lambda: ConvexHull.from_points([(1, 2)]), "(1, 2)"),
        (lambda: ConvexHull.from_points("abc"), "numbers"),
        (lambda: ConvexHull.from_points([(1, 2, 3)] * 9), "(1, 2, 3)"),
        (lambda: ConvexHull.from_points([(0, 0, 0), (1, 1, 1), (2, 2, 2)]), "line"),
        (lambda: ConvexHull.from_points([(0, 0, 0), (1, 0, np.nan), (0, 1, 0)]), "nan"),
        (lambda: ConvexHull.from_points([(0, 0, 0), (1, 0, 0), (0, 1, 0)], thickness=0.0), "0.0"),
        (lambda: ConvexHull.from_points([(0, 0, 0), (1, 0, 0), (0, 1, 0)], thickness=np.nan), "nan"),
        (lambda: ConvexHull.from_points(CUBE * 1e308), "finite"),
    ],
)
def test_bad_shapes_say_the_value_in_one_line(make, value):
    """A ShapeError is one line that holds what was wrong."""
    with pytest.raises(ShapeError) as error:
        make()
    assert value in str(error.value)
    assert "\n" not in str(error.value)


@given(st.integers(0, 10_000))
@settings(max_examples=60)
def test_degenerate_point_sets_give_a_hull_or_a_shape_error(seed):
    """Small integer grids, which are full of coplanar, collinear and equal points, squeezed along an axis."""
    rng = np.random.default_rng(seed)
    points = rng.integers(-2, 3, size=(rng.integers(1, 30), 3)) * rng.choice([1.0, 1e-4, 1e-7, 0.0], size=3)
    try:
        hull = ConvexHull.from_points(points + rng.normal(size=3))
    except ShapeError:
        return
    assert_polyhedron(hull)
    assert np.isfinite(hull.mass_properties().inertia).all()


@pytest.mark.parametrize("count", [0, 1, 6])
def test_tables_of_many_boxes_are_those_of_their_hulls(count):
    """To the bit, flat ones too."""
    half_extents = np.random.default_rng(count).uniform(0.1, 2.0, (count, 3))
    half_extents[1:3, 1] = 0.0
    found, expected = pack_boxes(half_extents), pack_hulls([ConvexHull.from_box(half) for half in half_extents])
    for name in expected._fields:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name, strict=True)
