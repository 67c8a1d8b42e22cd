"""Properties of pairs of a mesh with every shape, round ones too, and meshes of degenerate triangles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_collision import SUBSTEP, Collider, rotation
from reference_round import highest
from sample_meshes import box_mesh, bumps, grid_mesh
from test_round_contacts import product, scaled
from test_round_pairs import KINDS, random_shape

from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.model import BodyKind

ORIGIN, IDENTITY = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
PAIR = st.tuples(st.sampled_from(KINDS), st.integers(0, 100_000))


def touch(vertices, triangles, shape, pose, mesh_pose=(ORIGIN, IDENTITY), *, reach=0.0, mesh_first=True):
    """Contacts of a static mesh with a shape, normals out of the mesh."""
    bodies = [
        {
            "shape": TriangleMesh(vertices, triangles),
            "kind": BodyKind.STATIC,
            "position": mesh_pose[0],
            "orientation": mesh_pose[1],
        },
        {"shape": shape, "position": pose[0], "orientation": pose[1]},
    ]
    collider = Collider(bodies if mesh_first else bodies[::-1], gravity_norm=reach / SUBSTEP**2, contact_capacity=1024)
    manifold = collider.step().manifold()
    return manifold if mesh_first else manifold._replace(normal=-manifold.normal)


def hills_and(pair):
    """Hills with a shape that stands clear of them, so that no rounding decides who touches."""
    kind, seed = pair
    rng = np.random.default_rng(seed)
    vertices, triangles = grid_mesh(5, 3.0, height=bumps, rng=np.random.default_rng(0))
    shape, turn = random_shape(rng, kind), rng.normal(size=4)
    turn /= np.linalg.norm(turn)
    low = highest(shape, (np.array([0.0, 0.0, -1.0]) @ rotation(turn))[None])[0]
    return vertices, triangles, shape, (np.array([*rng.uniform(-0.5, 0.5, 2), 0.45 + low]), turn)


def least(manifold):
    """The least gap and its normal."""
    return manifold.gap.min(), manifold.normal[manifold.gap.argmin()]


@given(PAIR)
@settings(max_examples=40, deadline=None)
def test_the_order_of_the_bodies_changes_nothing_but_the_sign(pair):
    """Mesh first or last: the same gaps, points and, reversed, normals, to the bit."""
    vertices, triangles, shape, pose = hills_and(pair)
    first = touch(vertices, triangles, shape, pose, reach=1.0)
    last = touch(vertices, triangles, shape, pose, reach=1.0, mesh_first=False)
    np.testing.assert_array_equal(first.gap, last.gap)
    np.testing.assert_array_equal(first.normal, last.normal)
    np.testing.assert_array_equal(first.local_a, last.local_b)


@given(PAIR, st.sampled_from([1e-3, 1.0, 1e3]), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_moving_turning_and_scaling_both_moves_the_nearest_contact(pair, scale, seed):
    """Elsewhere, turned, and in another unit of length: the same distance and normal."""
    vertices, triangles, shape, (position, turn) = hills_and(pair)
    rng = np.random.default_rng(seed)
    move, whirl = rng.normal(size=3), rng.normal(size=4)
    whirl /= np.linalg.norm(whirl)
    turned = rotation(whirl)
    here = touch(vertices, triangles, shape, (position, turn), reach=1.0)
    there = touch(
        scale * vertices,
        triangles,
        scaled(shape, scale),
        (scale * (turned @ position + move), product(whirl, turn)),
        (scale * move, whirl),
        reach=scale,
    )
    assert len(here.gap) > 0
    gap, normal = least(here)
    assert there.gap.min() == pytest.approx(scale * gap, abs=1e-7 * scale)
    is_least = there.gap <= there.gap.min() + 1e-6 * scale
    assert np.linalg.norm(there.normal[is_least] - turned @ normal, axis=1).min() < 1e-3


# ---- degenerate triangles and shapes


def needles(count, width):
    """A floor of 4 x 4 m cut into slivers ``width`` wide and as long as the floor, and the rest in two triangles."""
    steps = np.concatenate([[-2.0], width * (np.arange(count + 1) - 0.5 * count), [2.0]])
    vertices = np.array([(x, y, 0.0) for x in steps for y in (-2.0, 2.0)])
    a = 2 * np.arange(len(steps) - 1)
    return vertices, np.concatenate([np.stack([a, a + 2, a + 3], 1), np.stack([a, a + 3, a + 1], 1)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [1e-2, 1e-4])
def test_every_shape_on_needles_has_the_floors_gap_and_normal(kind, width):
    """Triangles 40,000 times as long as wide: the support's gap, straight up."""
    rng = np.random.default_rng(9)
    vertices, triangles = needles(20, width)
    for case in range(6):
        shape, turn = random_shape(rng, kind), rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        height = highest(shape, (np.array([0.0, 0.0, -1.0]) @ rotation(turn))[None])[0]
        gap = (1e-4, 0.0, -1e-4)[case % 3] * shape.size
        contacts = touch(vertices, triangles, shape, (np.array([0.01, 0.02, height + gap]), turn))
        assert contacts.gap.min() == pytest.approx(gap, abs=1e-8 * shape.size), case
        np.testing.assert_allclose(least(contacts)[1], (0, 0, 1), atol=1e-6)


def test_a_hull_of_500_vertices_on_hills():
    """The nearest of the hull's vertices and the ground's triangles, as for a ball around it but for its facets."""
    rng = np.random.default_rng(10)
    points = rng.normal(size=(500, 3))
    ball = ConvexHull.from_points(0.4 * points / np.linalg.norm(points, axis=1, keepdims=True))
    vertices, triangles = grid_mesh(6, 4.0, rng=rng)
    for gap in (1e-3, 0.0, -1e-3):
        turn = rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        lowest = (ball.vertices @ rotation(turn).T)[:, 2].min()
        contacts = touch(vertices, triangles, ball, (np.array([0.1, 0.2, gap - lowest]), turn))
        assert contacts.gap.min() == pytest.approx(gap, abs=1e-12)
        np.testing.assert_allclose(contacts.normal, np.tile((0, 0, 1.0), (len(contacts.gap), 1)), atol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e-3])
def test_a_mesh_in_the_middle_of_a_shape_is_left(offset):
    """Coincident centres, exactly and nearly: every shape is pushed out of a closed mesh, by finite contacts."""
    rng = np.random.default_rng(11)
    for kind in KINDS:
        shape = random_shape(rng, kind)
        contacts = touch(*box_mesh((0.05, 0.05, 0.05)), shape, (offset * np.array([1.3, 0.7, 1.1]), IDENTITY))
        # The mesh reaches at least so far beyond the middle.
        assert contacts.gap.min() <= -0.04, kind
        assert np.all(np.isfinite(contacts.position))
        assert np.all(np.isfinite(contacts.normal))
