"""Slow, plain reference for pairs of convex shapes with round ones: signed distance from support functions by search.

The signed distance of convex shapes is the largest separation s(n) = min over b of n . x - max over a of n . x of all
unit normals n. A cloud of directions covers the sphere; then smaller and smaller clouds follow the best of them. The
result is a lower bound of the truth whatever the search missed. Nothing here shares code with Cairn's kernels.
"""

import numpy as np
from reference_collision import rotation
from scipy.optimize import minimize

from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere

_CLOUD = np.random.default_rng(0).normal(size=(3000, 3))
_CLOUD /= np.linalg.norm(_CLOUD, axis=1, keepdims=True)
_SMALL_CLOUD = np.random.default_rng(1).normal(size=(48, 3))


def highest(shape, directions) -> np.ndarray:
    """Support function of a shape in its user frame [n] for directions [n, 3]."""
    if isinstance(shape, ConvexHull):
        return (directions @ shape.vertices.T).max(axis=1)
    offset = directions @ np.asarray(shape.position, float)
    local = directions @ rotation(shape.orientation)
    across, along = np.linalg.norm(local[:, :2], axis=1), local[:, 2]
    if isinstance(shape, Box):
        return offset + np.abs(local) @ shape.half_extents
    if isinstance(shape, Sphere):
        return offset + shape.radius * np.linalg.norm(directions, axis=1)
    if isinstance(shape, Capsule):
        return offset + shape.half_length * np.abs(along) + shape.radius * np.linalg.norm(directions, axis=1)
    if isinstance(shape, Cylinder):
        return offset + shape.half_height * np.abs(along) + shape.radius * across
    assert isinstance(shape, Cone)
    return offset + np.maximum(shape.half_height * along, shape.radius * across - shape.half_height * along)


def separations(shape_a, pose_a, shape_b, pose_b, normals) -> np.ndarray:
    """Gap between the slabs of two placed shapes [n] along normals [n, 3] from a to b."""
    (position_a, turn_a), (position_b, turn_b) = pose_a, pose_b
    upper = highest(shape_a, normals @ rotation(turn_a)) + normals @ np.asarray(position_a, float)
    lower = -highest(shape_b, -normals @ rotation(turn_b)) + normals @ np.asarray(position_b, float)
    return lower - upper


def search_signed_distance(shape_a, pose_a, shape_b, pose_b, starts=6):
    """Signed distance and a normal from a to b that has it."""

    def measure(normals):
        return separations(shape_a, pose_a, shape_b, pose_b, normals)

    values = measure(_CLOUD)
    best_value, best_normal = -np.inf, None
    taken = []
    for index in np.argsort(-values):
        normal = _CLOUD[index]
        if any(normal @ other > 0.95 for other in taken):
            continue
        taken.append(normal)
        value, radius = values[index], 0.1
        while radius > 1e-10:
            cloud = normal + radius * _SMALL_CLOUD
            cloud /= np.linalg.norm(cloud, axis=1, keepdims=True)
            found = measure(cloud)
            here = np.argmax(found)
            if found[here] > value:
                normal, value = cloud[here], found[here]
            else:
                radius *= 0.6
        # Clouds stall on narrow ridges.
        simplex = minimize(
            lambda v: -measure((v / np.linalg.norm(v))[None])[0],
            normal,
            method="Nelder-Mead",
            options={"xatol": 1e-12, "fatol": 1e-15, "maxiter": 2000},
        )
        if -simplex.fun > value:
            normal, value = simplex.x / np.linalg.norm(simplex.x), -simplex.fun
        if value > best_value:
            best_value, best_normal = value, normal
        if len(taken) == starts:
            break
    return best_value, best_normal
