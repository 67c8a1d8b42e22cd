"""Boulders that slide and roll down a gully: rocks as convex hulls on a mesh of some ten thousand triangles."""

import colorsys
import math

import numpy as np

from ..geometry.hulls import ConvexHull
from ..geometry.triangle_mesh import TriangleMesh
from ..model.model import BodyKind
from .scene import Scene, SceneBody

# The ground's half length along and across the slope [m], and the width of its cells [m].
_HALF_LENGTH, _HALF_WIDTH, _CELL = 15.0, 7.5, 0.3
# Rocks have different masses at one density [kg/m^3].
_DENSITY = 2600.0


def boulders(count: int = 40, seed: int = 0) -> Scene:
    """Rocks dropped at the top of a slope of 31 degrees that runs out in a plain.

    Parameters
    ----------
    count : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    ground = SceneBody(
        name="Ground",
        shape=TriangleMesh(*_ground_mesh()),
        kind=BodyKind.STATIC,
        friction=0.8,
        color=(0.36, 0.33, 0.27),
    )
    rocks = []
    for number in range(count):
        row, column = divmod(number, 5)
        x, y = -14.0 + 1.45 * (row % 4) + rng.uniform(-0.1, 0.1), 1.5 * (column - 2) + rng.uniform(-0.1, 0.1)
        z = ground_height(x, y) + 1.5 + 1.5 * (row // 4)
        shape = _rock(rng, rng.uniform(0.3, 0.6))
        turn = rng.normal(size=4)
        rocks.append(
            SceneBody(
                name=f"Rock.{number + 1:03d}",
                shape=shape,
                mass=_DENSITY * shape.mass_properties().volume,
                position=(x, y, float(z)),
                orientation=tuple(turn / math.sqrt(turn @ turn)),
                friction=0.8,
                restitution=0.3,
                color=colorsys.hsv_to_rgb(0.07 + 0.02 * (number % 4), 0.25, 0.55 + 0.08 * (number % 3)),
            )
        )
    return Scene(
        name="boulders",
        title=f"{count} boulders slide down a gully",
        bodies=[ground, *rocks],
        frame_count=168,
        camera=(17.0, -20.0, 15.0),
        target=(-2.5, 0.0, 3.0),
    )


def ground_height(x, y):
    """Height of the ground [m]: a slope that ends in a plain, a gully along it, and bumps."""
    along = np.asarray(x) - 1.0
    slope = 0.3 * (np.sqrt(along**2 + 9.0) - along)
    gully = 0.045 * np.asarray(y) ** 2
    bumps = 0.2 * np.sin(1.3 * x + 0.7 * y) * np.cos(1.1 * y - 0.4 * x) + 0.06 * np.sin(3.1 * x - 2.3 * y)
    return slope + gully + bumps


def _ground_mesh():
    """Vertices and triangles of the ground."""
    x = np.arange(-_HALF_LENGTH, _HALF_LENGTH + 0.5 * _CELL, _CELL)
    y = np.arange(-_HALF_WIDTH, _HALF_WIDTH + 0.5 * _CELL, _CELL)
    grid_x, grid_y = np.meshgrid(x, y, indexing="ij")
    vertices = np.stack([grid_x, grid_y, ground_height(grid_x, grid_y)], axis=-1).reshape(-1, 3)
    first = np.arange(len(vertices)).reshape(len(x), len(y))[:-1, :-1].ravel()
    a, b, c, d = first, first + len(y), first + len(y) + 1, first + 1
    return vertices, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def _rock(rng, size):
    """The hull of points near an ellipsoid whose longest half axis is ``size`` [m]."""
    points = rng.normal(size=(22, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    points *= rng.uniform(0.85, 1.0, (22, 1)) * size * np.array([1.0, rng.uniform(0.7, 1.0), rng.uniform(0.55, 0.9)])
    hull = ConvexHull.from_points(points)
    return ConvexHull.from_points(hull.vertices - hull.position)
