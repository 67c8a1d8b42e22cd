"""The distance of a triangle mesh and a convex solid apart from it, from closed forms: nothing iterates on directions.

The solid's nearest point to a given point has a closed form, and the distance of a point that runs along an edge is a
convex function, whose minimum is bisected by the sign of its slope. What is nearest to the inside of a triangle is the
solid's highest point against the triangle's normal. So distance and normal are right to rounding however near the two
are: the normal to some 1e-16 over the distance, where an iteration with support points knows it to the square root of
its tolerance. Nothing here shares code with Cairn's kernels.
"""

import numpy as np
from reference_collision import rotation

from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere

# Halvings of an edge: as many as a double has bits, and some.
BISECTIONS = 60


def _around_axis(points):
    """Distances [n] of points [n, 3] from the z axis, and the directions [n, 2] from there (any on it)."""
    across = np.hypot(points[:, 0], points[:, 1])
    outwards = np.where(across[:, None] > 0.0, points[:, :2] / np.where(across > 0.0, across, 1.0)[:, None], (1.0, 0.0))
    return across, outwards


def nearest_in_core(shape, points) -> np.ndarray:
    """Point of a shape's core nearest to each point [n, 3]; own frame. A ball's is its centre, a capsule's its axis."""
    if isinstance(shape, Sphere):
        return np.zeros_like(points)
    if isinstance(shape, Box):
        return np.clip(points, -shape.half_extents, shape.half_extents)
    across, outwards = _around_axis(points)
    z = points[:, 2]
    if isinstance(shape, Capsule):
        across, z = np.zeros_like(z), np.clip(z, -shape.half_length, shape.half_length)
    elif isinstance(shape, Cylinder):
        across, z = np.minimum(across, shape.radius), np.clip(z, -shape.half_height, shape.half_height)
    else:
        assert isinstance(shape, Cone)
        # In the half-plane of axis and point the cone is a triangle: a point out of it is nearest to cap or ruling.
        radius, half = shape.radius, shape.half_height
        here = np.stack([across, z], axis=1)
        on_cap = np.stack([np.minimum(across, radius), np.full_like(z, -half)], axis=1)
        ruling = np.array([-radius, 2.0 * half])
        share = np.clip((here - (radius, -half)) @ ruling / (ruling @ ruling), 0.0, 1.0)
        on_ruling = (radius, -half) + share[:, None] * ruling
        is_inside = (z >= -half) & ((across - radius) * 2.0 * half + (z + half) * radius <= 0.0)
        is_cap_nearer = np.linalg.norm(here - on_cap, axis=1) <= np.linalg.norm(here - on_ruling, axis=1)
        nearest = np.where(is_cap_nearer[:, None], on_cap, on_ruling)
        across, z = np.where(is_inside[:, None], here, nearest).T
    return np.column_stack([outwards * across[:, None], z])


def highest_in_core(shape, directions) -> np.ndarray:
    """Point of a shape's core that is highest along each direction [n, 3]; own frame."""
    if isinstance(shape, Sphere):
        return np.zeros_like(directions)
    if isinstance(shape, Box):
        return np.where(directions > 0.0, shape.half_extents, -shape.half_extents)
    across, outwards = _around_axis(directions)
    z = directions[:, 2]
    if isinstance(shape, Capsule):
        return np.column_stack([0.0 * outwards, np.where(z > 0.0, shape.half_length, -shape.half_length)])
    on_rim = np.full_like(z, shape.radius)
    if isinstance(shape, Cylinder):
        return np.column_stack([outwards * on_rim[:, None], np.where(z > 0.0, shape.half_height, -shape.half_height)])
    assert isinstance(shape, Cone)
    is_apex = 2.0 * shape.half_height * z >= shape.radius * across
    on_rim[is_apex] = 0.0
    return np.column_stack(
        [outwards * on_rim[:, None], np.where(is_apex, shape.half_height, -shape.half_height)],
    )


def mesh_distance(vertices, triangles, shape, position, turn, reach):
    """Distance of a mesh and a shape apart from it, and the unit normal out of the mesh.

    Parameters
    ----------
    vertices, triangles : float64 [v, 3], int [t, 3]
        [m]
    shape : Sphere, Box, Capsule, Cylinder or Cone
        Without a pose of its own.
    position, turn : float [3], [4]
        Of the shape.
    reach : float
        The distance is no more than that [m].

    Returns
    -------
    distance : float
        [m]
    normal : float64 [3]
    """
    radius = shape.radius if isinstance(shape, (Sphere, Capsule)) else 0.0
    axes = rotation(turn)
    corners = ((np.asarray(vertices) - position) @ axes)[np.asarray(triangles)]
    middles = corners.mean(axis=1)
    extents = np.linalg.norm(corners - middles[:, None], axis=2).max(axis=1)
    heights = np.linalg.norm(middles - nearest_in_core(shape, middles), axis=1)
    corners = corners[heights - extents <= reach + radius]

    tails = corners.reshape(-1, 3)
    edges = np.roll(corners, -1, axis=1).reshape(-1, 3) - tails
    low, high = np.zeros(len(tails)), np.ones(len(tails))
    for _ in range(BISECTIONS):
        share = 0.5 * (low + high)
        points = tails + share[:, None] * edges
        falls = np.einsum("ni,ni->n", points - nearest_in_core(shape, points), edges) < 0.0
        low, high = np.where(falls, share, low), np.where(falls, high, share)
    # An end is exact where the bisection only comes near it.
    points = np.concatenate([tails + (0.5 * (low + high))[:, None] * edges, tails])
    ways = nearest_in_core(shape, points) - points

    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normals = np.cross(u, v)
    for side in (1.0, -1.0):
        lowest = highest_in_core(shape, -side * normals) - corners[:, 0]
        squares = np.einsum("ni,ni->n", normals, normals)
        height = np.einsum("ni,ni->n", lowest, normals) / squares
        first = np.einsum("ni,ni->n", np.cross(lowest, v), normals) / squares
        second = np.einsum("ni,ni->n", np.cross(u, lowest), normals) / squares
        is_over = (side * height > 0.0) & (first >= 0.0) & (second >= 0.0) & (first + second <= 1.0)
        ways = np.concatenate([ways, (height[:, None] * normals)[is_over]])
    lengths = np.linalg.norm(ways, axis=1)
    nearest = lengths.argmin()
    return lengths[nearest] - radius, axes @ (ways[nearest] / lengths[nearest])
