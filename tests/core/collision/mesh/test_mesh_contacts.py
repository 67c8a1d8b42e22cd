"""Contacts of meshes with convex shapes: brute force over all triangles, hulls, invariances, seams, sides.

Contacts reach as far as bodies may fall in a substep: a large gravity shows the distance of shapes that are apart.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_collision import SUBSTEP, Collider, about, rotation
from sample_meshes import box_mesh, bumps, grid_mesh, hull_mesh
from scipy.optimize import nnls

from cairn.solver_core.collision.manifold.polytope_contacts import RATIO_FACE_PREFERRED
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.model import BodyKind

REACH_3M = 3.0 / SUBSTEP**2


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def random_shape(rng, kind):
    """A shape, the points whose hull it is, and the radius around them."""
    if kind == "sphere":
        radius = rng.uniform(0.05, 0.4)
        return Sphere(radius), np.zeros((1, 3)), radius
    if kind == "box":
        half_extents = rng.uniform(0.05, 0.5, 3)
        return Box(half_extents), ConvexHull.from_box(half_extents).vertices, 0.0
    points = rng.normal(size=(14, 3)) * 0.2
    return ConvexHull.from_points(points), points, 0.0


def distance(points_a, points_b):
    """Distance of two hulls of points: of their Minkowski difference from the origin, by least squares."""
    differences = (points_b[None, :, :] - points_a[:, None, :]).reshape(-1, 3)
    scale = np.abs(differences).max()
    system = np.vstack([differences.T / scale, np.ones(len(differences))])
    weights, _ = nnls(system, np.array([0.0, 0.0, 0.0, 1.0]), maxiter=30 * len(differences))
    return np.linalg.norm(differences.T @ (weights / weights.sum()))


def touch(mesh, shape, position, orientation=(1.0, 0.0, 0.0, 0.0), *, mesh_first=True, mesh_pose=None, **options):
    """Contacts of a static mesh with a body, normals out of the mesh."""
    place, turn = mesh_pose or ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    bodies = [
        {"shape": mesh, "kind": BodyKind.STATIC, "position": place, "orientation": turn},
        {"shape": shape, "position": position, "orientation": orientation},
    ]
    manifold = Collider(bodies if mesh_first else bodies[::-1], **options).step().manifold()
    return manifold if mesh_first else manifold._replace(normal=-manifold.normal)


def _ground_height(corners, point):
    """Height of triangles [n, 3, 3] that are a ground under or over a point [m]."""
    for triangle in corners:
        weights = np.linalg.solve(np.vstack([triangle[:, :2].T, np.ones(3)]), np.append(point[:2], 1.0))
        if weights.min() >= -1e-9:
            return weights @ triangle[:, 2]
    raise AssertionError(f"{point} is not over the ground")


@pytest.mark.parametrize("kind", ["sphere", "box", "hull"])
def test_distance_from_a_ground_is_that_of_the_nearest_triangle(kind):
    """The smallest gap is the least distance over all triangles, to 1e-9.

    Contacts lie on the mesh, or, for what may move on into a crease, under it in the plane of the triangle there.
    """
    rng = np.random.default_rng(5)
    vertices, triangles = grid_mesh(5, 3.0, height=bumps, rng=rng)
    mesh = TriangleMesh(vertices, triangles)
    compared = 0
    for _ in range(10):
        shape, points, radius = random_shape(rng, kind)
        position, turn = rng.uniform(-1.0, 1.0, 3) + (0.0, 0.0, 1.0), random_quaternion(rng)
        placed = points @ rotation(turn).T + position
        expected = min(distance(vertices[triangle], placed) for triangle in triangles) - radius
        if expected < 1e-6:
            continue
        contacts = touch(mesh, shape, position, turn, gravity_norm=REACH_3M)
        np.testing.assert_allclose(contacts.gap.min(), expected, atol=1e-9)
        np.testing.assert_allclose(np.linalg.norm(contacts.normal, axis=1), 1.0, atol=1e-12)
        on_mesh = contacts.position - 0.5 * contacts.gap[:, None] * contacts.normal
        for point, normal in zip(on_mesh[:6], contacts.normal, strict=False):
            if min(distance(vertices[triangle], point[None]) for triangle in triangles) > 1e-9:
                heights = (vertices[triangles] - point) @ normal
                assert np.abs(heights).max(axis=1).min() < 1e-9
                assert _ground_height(vertices[triangles], point) > point[2]
        compared += 1
    assert compared >= 5


@pytest.mark.parametrize("kind", ["sphere", "box", "hull"])
def test_a_convex_mesh_is_its_hull(kind):
    """Gap and normal of the nearest contact, apart and a little overlapping, as for the hull of the same points."""
    rng = np.random.default_rng(11)
    compared = 0
    for _ in range(60):
        hull = ConvexHull.from_points(rng.normal(size=(20, 3)) * 0.5)
        shape, _, _ = random_shape(rng, kind)
        direction, turn = rng.normal(size=3), random_quaternion(rng)
        position = direction / np.linalg.norm(direction) * rng.uniform(0.8, 1.6)
        as_hull = touch(hull, shape, position, turn, gravity_norm=0.2 * REACH_3M)
        as_mesh = touch(TriangleMesh(*hull_mesh(hull)), shape, position, turn, gravity_norm=0.2 * REACH_3M)
        if len(as_hull.gap) == 0 or as_hull.gap.min() < -0.01:
            continue
        gap = as_hull.gap.min()
        assert abs(as_mesh.gap.min() - gap) <= RATIO_FACE_PREFERRED * abs(gap) + 1e-6
        cosine = as_mesh.normal[np.argmin(as_mesh.gap)] @ as_hull.normal[np.argmin(as_hull.gap)]
        assert cosine > (1.0 - 1e-9 if kind == "sphere" else 0.985)
        compared += 1
    assert compared >= 20


def test_the_order_of_the_two_bodies_does_not_matter():
    """Mesh first or last: the same gaps, normals and points, to the bit."""
    rng = np.random.default_rng(2)
    mesh = TriangleMesh(*grid_mesh(6, 3.0, height=bumps, rng=rng))
    for kind in ("sphere", "box", "hull"):
        shape, _, _ = random_shape(rng, kind)
        position, turn = (0.3, -0.2, 0.4), random_quaternion(rng)
        first = touch(mesh, shape, position, turn, gravity_norm=REACH_3M)
        last = touch(mesh, shape, position, turn, gravity_norm=REACH_3M, mesh_first=False)
        np.testing.assert_array_equal(first.gap, last.gap)
        np.testing.assert_array_equal(first.normal, last.normal)
        np.testing.assert_array_equal(first.local_a, last.local_b)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([1e-3, 1.0, 1e3]))
def test_moving_turning_and_scaling_the_scene_moves_turns_and_scales_the_contacts(seed, scale):
    """The same contacts in another place, turned, and in another unit of length."""
    rng = np.random.default_rng(seed)
    vertices, triangles = grid_mesh(4, 3.0, height=bumps, rng=np.random.default_rng(0))
    shape, points, _ = random_shape(rng, "hull")
    position, turn = np.array([*rng.uniform(-0.6, 0.6, 2), 0.6]), random_quaternion(rng)
    here = touch(TriangleMesh(vertices, triangles), shape, position, turn, gravity_norm=REACH_3M)
    move, whirl = rng.uniform(-2.0, 2.0, 3), random_quaternion(rng)
    turned = rotation(whirl)
    w, v = whirl[0] * turn[0] - whirl[1:] @ turn[1:], whirl[0] * turn[1:] + turn[0] * whirl[1:]
    there = touch(
        TriangleMesh(scale * vertices, triangles),
        ConvexHull.from_points(scale * points),
        scale * (turned @ position + move),
        np.concatenate([[w], v + np.cross(whirl[1:], turn[1:])]),
        mesh_pose=(scale * move, whirl),
        gravity_norm=scale * REACH_3M,
    )
    # A hull's vertices are numbered otherwise in another unit, and so are the contacts.
    expected = scale * (here.position @ turned.T + move)
    assert len(there.gap) == len(here.gap)
    order = np.argmin(np.linalg.norm(there.position[None] - expected[:, None], axis=2), axis=1)
    np.testing.assert_allclose(there.position[order], expected, atol=1e-7 * scale)
    np.testing.assert_allclose(there.gap[order], scale * here.gap, atol=1e-9 * scale)
    np.testing.assert_allclose(there.normal[order], here.normal @ turned.T, atol=1e-7)


@pytest.mark.parametrize("sink", [0.0, 1e-5, -1e-3])
def test_a_box_on_a_triangulated_floor_has_its_four_corners_as_contacts(sink):
    """Whatever the triangles: the contacts are those on one plane, and all look up."""
    rng = np.random.default_rng(7)
    for cells in (1, 2, 7, 40):
        mesh = TriangleMesh(*grid_mesh(cells, 4.0, rng=rng))
        turn = about((0, 0, 1), rng.uniform(0.0, 1.5))
        contacts = touch(mesh, Box((0.5, 0.4, 0.3)), (0.13, -0.21, 0.3 - sink), turn)
        assert len(contacts.gap) == 4
        np.testing.assert_allclose(contacts.normal, np.tile([0.0, 0.0, 1.0], (4, 1)), atol=1e-12)
        np.testing.assert_allclose(contacts.gap, -sink, atol=1e-12)
        np.testing.assert_allclose(np.abs(contacts.local_b), np.tile([0.5, 0.4, 0.3], (4, 1)), atol=1e-12)


def test_a_box_over_the_edge_of_a_table_is_held_by_its_top_alone():
    """Half over the edge of a closed box, sunk in a little: no side pushes, the contacts end at the edge."""
    table = TriangleMesh(*box_mesh((1.0, 1.0, 0.5), (0.0, 0.0, -0.5)))
    contacts = touch(table, Box((0.5, 0.4, 0.3)), (1.2, 0.1, 0.3 - 1e-5))
    np.testing.assert_allclose(contacts.normal, np.tile([0.0, 0.0, 1.0], (len(contacts.gap), 1)), atol=1e-9)
    np.testing.assert_allclose(contacts.gap, -1e-5, atol=1e-9)
    assert np.isclose(contacts.position[:, 0].max(), 1.0)
    assert np.isclose(contacts.position[:, 0].min(), 0.7)


def test_a_box_on_a_ridge_touches_along_it():
    """The face that lies on an edge gives the edge's two ends under it, straight up."""
    roof = TriangleMesh(*grid_mesh(4, 4.0, height=lambda x, y: -np.abs(x)))
    contacts = touch(roof, Box((0.5, 0.4, 0.3)), (0.05, 0.1, 0.3 + 1e-4))
    np.testing.assert_allclose(contacts.normal, np.tile([0.0, 0.0, 1.0], (len(contacts.gap), 1)), atol=1e-9)
    np.testing.assert_allclose(contacts.gap, 1e-4, atol=1e-9)
    assert np.isclose(np.ptp(contacts.position[:, 1]), 0.8)


@pytest.mark.parametrize("kind", ["box", "hull"])
@pytest.mark.parametrize("angle", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("height", [-1e-4, 1e-5])
def test_a_face_tilted_along_a_ridge_touches_at_both_ends(kind, angle, height):
    """The gaps are the heights of the face over the ridge, at the first and the last point of it under the face."""
    roof = TriangleMesh(*grid_mesh(2, 4.0, height=lambda x, y: -np.abs(x)))
    half_extents = np.array([0.5, 0.4, 0.3])
    shape = Box(half_extents) if kind == "box" else ConvexHull.from_box(half_extents)
    middle = np.array([0.05, 1.0, 0.3 + height + 0.4 * angle])
    turn = (np.cos(0.5 * angle), np.sin(0.5 * angle), 0.0, 0.0)
    contacts = touch(roof, shape, middle, turn)
    np.testing.assert_allclose(contacts.normal, np.tile([0.0, 0.0, 1.0], (len(contacts.gap), 1)), atol=1e-9)
    # The bottom face's plane over the ridge, and its ends there, whose distance from the middle one is 0.4.
    y = np.sort(contacts.position[:, 1])
    center = 1.0 + 0.3 * np.sin(angle)
    np.testing.assert_allclose(y[[0, -1]], center + 0.4 * np.cos(angle) * np.array([-1.0, 1.0]), atol=1e-4)
    bottom = middle[2] - 0.3 * np.cos(angle) + (contacts.position[:, 1] - center) * np.tan(angle)
    np.testing.assert_allclose(contacts.gap, bottom, atol=1e-4 * angle + 1e-9)


def test_a_ball_in_a_corner_touches_all_three_walls():
    """One contact a wall, straight out of it; none at the edges between them."""
    vertices = np.array([(0, 0, 0), (4, 0, 0), (0, 4, 0), (0, 0, 4)], float)
    corner = TriangleMesh(vertices, [(0, 1, 2), (0, 2, 3), (0, 3, 1)])
    contacts = touch(corner, Sphere(0.5), (0.5, 0.5, 0.5))
    assert sorted(map(tuple, np.round(contacts.normal, 12) + 0.0)) == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    np.testing.assert_allclose(contacts.gap, 0.0, atol=1e-12)


def test_sheets_push_to_the_side_of_the_centre():
    """Above and below a wavy sheet, touching and sunk in, whichever way its normals look."""
    vertices, triangles = grid_mesh(8, 4.0, height=lambda x, y: 0.05 * np.sin(3 * x))
    for order in (slice(None), slice(None, None, -1)):
        mesh = TriangleMesh(vertices, triangles[:, order])
        for side in (1.0, -1.0):
            for shape in (Sphere(0.5), Box((0.4, 0.4, 0.4))):
                contacts = touch(mesh, shape, (0.1, 0.2, side * 0.4))
                assert len(contacts.gap) > 0
                assert np.all(side * contacts.normal[:, 2] > 0.7)


def test_a_closed_mesh_pushes_out_what_overlaps_it_and_keeps_in_what_is_within():
    """A ball deep in the wall of a box leaves by the nearest face; one in the middle of a room stands on its floor."""
    box = TriangleMesh(*box_mesh((2.0, 2.0, 2.0)))
    sunk = touch(box, Sphere(0.5), (0.3, 0.2, 1.7))
    np.testing.assert_allclose(sunk.normal, [(0.0, 0.0, 1.0)], atol=1e-12)
    np.testing.assert_allclose(sunk.gap, [-0.8], atol=1e-12)
    within = touch(box, Sphere(0.5), (0.3, 0.2, -1.499))
    np.testing.assert_allclose(within.normal, [(0.0, 0.0, 1.0)], atol=1e-12)
    np.testing.assert_allclose(within.gap, [0.001], atol=1e-12)


@pytest.mark.parametrize(
    "shape",
    [Sphere(0.5), Box((0.5, 0.4, 0.3)), Cylinder(0.5, 0.4), ConvexHull.from_box((0.3, 0.4, 0.5))],
    ids=["ball", "box", "can", "hull"],
)
@pytest.mark.parametrize("corner", [False, True])
@pytest.mark.parametrize("overlap", [0.0, 0.03])
def test_what_stands_on_the_floor_of_a_closed_box_is_kept_in(shape, corner, overlap):
    """Touching the floor, and two walls as well, or a little in them: all contacts push into the room."""
    box = TriangleMesh(*box_mesh((2.0, 2.0, 2.0)))
    lower = -2.0 - shape.bounding_box()[0] - overlap
    contacts = touch(box, shape, lower if corner else (0.3, 0.2, lower[2]))
    assert len(contacts.gap) > 0
    middle = -contacts.position
    assert np.all(np.einsum("ci,ci->c", contacts.normal, middle) > 0.0)
    np.testing.assert_allclose(contacts.gap.min(), -overlap, atol=1e-9)


def test_very_many_triangles_under_a_box_give_few_contacts():
    """A box that falls fast on 5,000 rough triangles: at most eight contacts a direction, the nearest among them."""
    rng = np.random.default_rng(4)
    vertices, triangles = grid_mesh(50, 2.0, rng=rng)
    vertices[:, 2] = rng.uniform(0.0, 0.05, len(vertices))
    mesh = TriangleMesh(vertices, triangles)
    contacts = touch(mesh, Box((0.8, 0.8, 0.3)), (0.0, 0.0, 0.36), gravity_norm=0.1 * REACH_3M, contact_capacity=2048)
    under = np.abs(vertices[:, :2]).max(axis=1) < 0.8
    np.testing.assert_allclose(contacts.gap.min(), 0.06 - vertices[under, 2].max(), atol=1e-12)
    assert len(contacts.gap) <= 1024
    for normal in contacts.normal:
        assert np.count_nonzero(contacts.normal @ normal > 0.999) <= 40


def test_full_buffers_are_told_and_nothing_is_written_beyond():
    """With room for two contacts the stage says how many it needs."""
    mesh = TriangleMesh(*grid_mesh(3, 4.0))
    bodies = [{"shape": mesh, "kind": BodyKind.STATIC}, {"shape": Box((0.5, 0.5, 0.5)), "position": (0, 0, 0.5)}]
    collider = Collider(bodies, contact_capacity=2).step()
    assert collider.status[1] == 1
    assert collider.contacts[0].needed[0] == 4
    assert collider.contacts[0].count[0] == 0
