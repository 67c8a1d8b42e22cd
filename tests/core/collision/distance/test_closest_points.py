"""The nearest point of a thin triangle, as simplices at rims are, beside exact fractions; where searches start."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from cairn.solver_core import ConvexHull, ModelBuilder, Simulation
from cairn.solver_core.collision.distance.closest_points import closest_points, nearest_of_triangle
from cairn.solver_core.collision.swept_motion import place_pair
from cairn.solver_core.compiled.kernel import kernel


@kernel
def nearest(simplex, i, j, k, found):
    share_j, share_k, x, y, z = nearest_of_triangle(simplex, i, j, k)
    found[0], found[1], found[2], found[3], found[4] = share_j, share_k, x, y, z


def exact_point(corners):
    """Point nearest to the origin of the plane of three corners, of which no digit is lost."""
    p, q, r = ([Fraction(value) for value in corner] for corner in corners)
    u, v = [b - a for a, b in zip(p, q, strict=True)], [b - a for a, b in zip(p, r, strict=True)]
    n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    share = sum(a * b for a, b in zip(n, p, strict=True)) / sum(a * a for a in n)
    return np.array([float(share * a) for a in n])


@pytest.mark.parametrize("apart", [1e-4, 1e-6, 1e-8])
def test_the_nearest_point_of_a_thin_triangle_is_exact(apart):
    """Two corners almost in one place, the third far away, in any order: to rounding of the coordinates.

    Of the two long sides' normal so little is left that the point would be off by their length times 1e-16 / ``apart``.
    """
    rng = np.random.default_rng(3)
    found = np.empty(5)
    for _ in range(100):
        normal, along, across = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        height, far, near = 1e-7 * rng.uniform(1.0, 2.0), rng.uniform(1.0, 3.0), rng.uniform(0.05, 3.0)
        foot = height * normal
        simplex = np.zeros((4, 10))
        simplex[0, :3] = foot - far * along
        simplex[1, :3] = foot + near * along + rng.uniform(0.2, 1.0) * apart * across
        simplex[2, :3] = foot + near * along - rng.uniform(0.2, 1.0) * apart * across
        exact = exact_point(simplex[:3, :3])
        for i, j, k in permutations(range(3)):
            nearest(simplex, i, j, k, found)
            np.testing.assert_allclose(found[2:], exact, rtol=0.0, atol=4e-15)
            # The same point as a mean of the corners.
            shares = np.array([1.0 - found[0] - found[1], found[0], found[1]])
            assert np.linalg.norm(shares @ simplex[[i, j, k], :3] - exact) <= 1e-12 + 1e-15 / apart
            assert np.all(shares > 0.0)


def test_a_triangle_without_area_has_no_shares():
    """Three corners on a line, in any order: one share at least is not above 0."""
    simplex, found = np.zeros((4, 10)), np.empty(5)
    simplex[:3, :3] = [(1.0, 2.0, 3.0), (2.0, 2.0, 3.0), (4.0, 2.0, 3.0)]
    for i, j, k in permutations(range(3)):
        nearest(simplex, i, j, k, found)
        assert not (found[0] > 0.0 and found[1] > 0.0 and found[0] + found[1] < 1.0)


@kernel
def distance_from(polytopes, scratch, pose_a, pose_b, x, y, z):
    place_pair(pose_a, pose_b, scratch.pose)
    return closest_points(polytopes, 0, 1, x, y, z, 1e9, 1e-12, scratch)


@pytest.mark.parametrize("corners", [8, 60])
def test_where_the_search_starts_does_not_change_the_distance(corners):
    """From any direction, also none and the opposite one; hulls that are scanned, and such that are climbed."""
    rng = np.random.default_rng(corners)
    builder = ModelBuilder()
    for place in range(2):
        builder.add_body(shape=ConvexHull.from_points(rng.normal(size=(corners, 3))), position=(9.0 * place, 0.0, 0.0))
    workspace = Simulation(builder.build())._collision.workspace
    for _ in range(30):
        turns = np.linalg.qr(rng.normal(size=(2, 3, 3)))[0]
        way = rng.normal(size=3)
        way *= rng.uniform(0.0, 9.0) / np.linalg.norm(way)
        poses = [np.vstack([turns[0], np.zeros(3)]), np.vstack([turns[1], way])]
        starts = [np.zeros(3), turns[0].T @ way, -turns[0].T @ way, *rng.normal(size=(3, 3)), 1e-9 * rng.normal(size=3)]
        found = [distance_from(workspace.polytopes, workspace.scratch, *poses, *start) for start in starts]
        np.testing.assert_allclose(found, found[0], rtol=1e-10, atol=1e-11)
