"""Manifolds of hulls whose faces are flat but for noise and bumps: what lands first is a contact, whatever moves.

The gap of two convex bodies along a direction is a convex function over the plane across it, piecewise linear, so with
any linear function added to it the least value is at a corner of it. Linear programs over both hulls find that value.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_collision import about, collide, rotation
from scipy.optimize import linprog
from scipy.spatial import ConvexHull as Qhull

from cairn.solver_core.collision.data.workspace import RATIO_MARGIN
from cairn.solver_core.collision.manifold.face_manifold import RATIO_SAME_VERTEX
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box


def grid(along):
    """Points on the surface of a cube of 1 m, ``along`` of them on each edge."""
    places = np.array(list(np.ndindex(along, along, along))) / (along - 1) - 0.5
    return places[np.abs(places).max(axis=1) == 0.5]


def noisy_cube(along, noise, random):
    points = grid(along)
    return points + noise * random.uniform(-1.0, 1.0, points.shape)


def least_gap(points_a, points_b, normal, slope):
    """Least of the gap of b over a along ``normal``, less ``slope . x``: a linear program over points of both hulls."""
    across = np.linalg.svd(normal[None])[2][1:]
    ones_a, ones_b = np.ones(len(points_a)), np.ones(len(points_b))
    rows = np.vstack(
        [
            np.hstack([across @ points_a.T, -across @ points_b.T]),
            np.concatenate([ones_a, 0.0 * ones_b]),
            np.concatenate([0.0 * ones_a, ones_b]),
        ]
    )
    # The slope is across the normal, where a point of either hull is at the same place.
    cost = np.concatenate([-points_a @ normal, points_b @ (normal - slope)])
    result = linprog(cost, A_eq=rows, b_eq=[0.0, 0.0, 1.0, 1.0], bounds=(0.0, None))
    assert result.status == 0
    return result.fun


def touching_cubes(along, noise, seed):
    """Points of two noisy cubes, one on the other with a random shift and turn, and just apart."""
    random = np.random.default_rng(seed)
    below, above = (noisy_cube(along, noise, random) for _ in range(2))
    above = above @ rotation(about((0.0, 0.0, 1.0), random.uniform(-1.0, 1.0))).T + (*random.uniform(-0.3, 0.3, 2), 1.0)
    above[:, 2] -= least_gap(below, above, np.array([0.0, 0.0, 1.0]), np.zeros(3))
    return below, above, random


def contacts_of(below, above):
    return collide(ConvexHull.from_points(below), ConvexHull.from_points(above), reach=RATIO_MARGIN)


ALONG = pytest.mark.parametrize("along", [2, 3, 5, 10])
NOISE = pytest.mark.parametrize("noise", [0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2])


@ALONG
@NOISE
@pytest.mark.parametrize("seed", range(2))
def test_nothing_lands_before_a_contact_by_more_than_the_noise(along, noise, seed):
    """Whichever way the upper cube tilts, some contact is about as low as what is lowest.

    By as much as the cube can turn before contacts are made anew. With one pair of facets half of the cube sank in.
    """
    below, above, random = touching_cubes(along, noise, seed)
    manifold = contacts_of(below, above)
    normal = manifold.normal[0]
    assert len(manifold.gap) >= 3
    assert normal[2] > 0.9
    for tilt in (0.0, 0.1 * noise, noise, 0.002):
        for angle in random.uniform(0.0, 2.0 * np.pi, 4):
            slope = tilt * np.array([np.cos(angle), np.sin(angle), 0.0])
            slope -= (slope @ normal) * normal
            least = least_gap(below, above, normal, slope)
            ours = (manifold.gap - manifold.position @ slope).min()
            # Exact without a tilt. Of an octagon and what is lowest in it one corner is left out.
            assert ours >= least - 1e-6
            assert ours <= least + 2.0 * noise + 2e-6 + 0.1 * tilt, (tilt, angle)


@pytest.mark.parametrize("noise", [1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize("along", [2, 5])
def test_a_noisy_cube_is_held_all_around(along, noise):
    """Contacts reach about as far out as those of exact cubes."""
    below, above, _ = touching_cubes(along, noise, 7)
    exact = contacts_of(*touching_cubes(along, 0.0, 7)[:2])
    flawed = contacts_of(below, above)
    assert Qhull(flawed.position[:, :2]).volume >= 0.85 * Qhull(exact.position[:, :2]).volume


@pytest.mark.parametrize("bump", [1e-6, 1e-5, 1e-4, 1e-3])
def test_bumps_and_the_corners_beside_them_are_contacts(bump):
    """Two cubes with one more corner amid a face touch at the bumps, and their corners are as far apart as they are."""
    corners = grid(2)
    below, above = np.vstack([corners, (0.1, 0.05, 0.5 + bump)]), np.vstack([corners, (0.1, -0.05, -0.5 - bump)])
    above = above + (0.0, 0.0, 1.0 + 2.0 * bump)
    manifold = contacts_of(below, above)
    assert manifold.gap.min() == pytest.approx(least_gap(below, above, manifold.normal[0], np.zeros(3)), abs=1e-9)
    assert manifold.gap.max() <= 2.0 * bump * (1.0 + 0.5)
    reached = {tuple(np.sign(place)) for place in manifold.position[:, :2] if np.abs(place).min() > 0.45}
    assert len(reached) == 4


def test_a_noisy_cube_that_lies_half_over_an_edge_is_held_at_the_edge():
    """Where the sides of an exact face cut facets that are not flat, there are contacts, too."""
    above = noisy_cube(5, 1e-4, np.random.default_rng(3)) + (0.3, 0.0, 1.0)
    manifold = collide(Box((0.5, 0.5, 0.5)), ConvexHull.from_points(above), reach=RATIO_MARGIN)
    at_edge = np.abs(manifold.position[:, 0] - 0.5) < 1e-3
    assert np.ptp(manifold.position[at_edge, 1]) > 0.7
    assert (manifold.position[:, 0] < 0.5 + 1e-9).all()


@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-3, 1.0, 1e3]))
@settings(max_examples=10, deadline=None)
def test_contacts_scale_with_the_bodies(seed, scale):
    """Noise is judged by the size of the bodies, not in metres."""
    below, above, _ = touching_cubes(3, 1e-4, seed)
    one, other = (
        collide(ConvexHull.from_points(k * below), ConvexHull.from_points(k * above), reach=k * RATIO_MARGIN)
        for k in (1.0, scale)
    )
    assert len(one.gap) == len(other.gap)
    np.testing.assert_allclose(other.gap / scale, one.gap, atol=1e-9)


def test_few_points_are_kept_and_none_twice():
    """At most eight, no two of them at one place, all of them points of both surfaces."""
    below, above, _ = touching_cubes(10, 1e-3, 5)
    manifold = contacts_of(below, above)
    assert len(manifold.gap) <= 8
    apart = np.linalg.norm(manifold.position[:, None] - manifold.position, axis=2)
    assert apart[~np.eye(len(apart), dtype=bool)].min() > RATIO_SAME_VERTEX
    for points, sign in ((below, -0.5), (above, 0.5)):
        heights = Qhull(points).equations
        surface = manifold.position + sign * manifold.gap[:, None] * manifold.normal
        assert np.abs((surface @ heights[:, :3].T + heights[:, 3]).max(axis=1)).max() < 1e-9
