"""An arch of loose stones along a catenary, the curve in which a hanging chain turned upside down stands.

The line z(x) = rise - a (cosh(x / a) - 1), with a such that it meets the ground at +-span / 2. Every joint is cut
across it, and only the two feet are cut level, for the ground. Friction and pressure hold the stones, nothing else.
"""

import colorsys
import math

import numpy as np

from ..geometry.hulls import ConvexHull
from .scene import Scene, SceneBody, floor

_DENSITY = 1.0  # [kg/m^3]; only the ratio of masses matters


def arch(stones: int = 25, span: float = 10.0, rise: float = 6.0, thickness: float = 0.6, depth: float = 1.0) -> Scene:
    """Stones of equal length along the line.

    Parameters
    ----------
    stones : int
    span, rise : float
        Of the middle line [m].
    thickness, depth : float
        Of a stone, across the line in its plane and out of it [m].
    """
    joints = _joints(stones, span, rise, thickness)
    bodies = []
    for stone in range(stones):
        corners = np.array([*joints[stone], *joints[stone + 1][::-1]])  # inner, outer; outer, inner
        area, centre = _area_and_centre(corners)
        flat = corners - centre
        points = [(x, y, z) for y in (-0.5 * depth, 0.5 * depth) for x, z in flat]
        bodies.append(
            SceneBody(
                name=f"Stone.{stone + 1:03d}",
                shape=ConvexHull.from_points(points),
                mass=_DENSITY * area * depth,
                position=(float(centre[0]), 0.0, float(centre[1])),
                color=colorsys.hsv_to_rgb(0.09, 0.25, 0.55 + 0.3 * ((7 * stone) % 5) / 4.0),
            )
        )
    return Scene(
        name="arch",
        title=f"An arch of {stones} loose stones",
        bodies=[floor(), *bodies],
        frame_count=120,
        camera=(0.9 * span, -1.9 * span, 0.7 * rise),
        target=(0.0, 0.0, 0.48 * rise),
    )


def _joints(stones, span, rise, thickness) -> np.ndarray:
    """Inner and outer end (x, z) of each joint, from the left foot to the right one [stones + 1, 2, 2]."""
    from scipy.optimize import brentq  # a scene can be described without SciPy

    half = 0.5 * span
    # a chain that only just sags has a large parameter, one that hangs deep a small one
    parameter = brentq(lambda a: a * (math.cosh(half / a) - 1.0) - rise, half / 50.0, 1e3 * half)
    length = parameter * math.sinh(half / parameter)  # of half the line
    # by Python's own functions: those of NumPy round otherwise in another version
    place = [math.asinh(along / parameter) for along in np.linspace(-length, length, stones + 1)]
    x = parameter * np.array(place)
    z = rise - parameter * (np.array([math.cosh(at) for at in place]) - 1.0)
    slope = -np.array([math.sinh(at) for at in place])
    outward = np.stack([-slope, np.ones_like(slope)], axis=1) / np.sqrt(1.0 + slope**2)[:, None]
    middle = np.stack([x, z], axis=1)
    joints = np.stack([middle - 0.5 * thickness * outward, middle + 0.5 * thickness * outward], axis=1)
    # the feet stand on the ground: as wide as the level cut through the line there
    for foot, side in ((0, -1.0), (-1, 1.0)):
        width = 0.5 * thickness / abs(outward[foot, 0])
        joints[foot] = [[side * (half - width), 0.0], [side * (half + width), 0.0]]
    return joints


def _area_and_centre(corners):
    """Area and centroid of a polygon (x, z), by the shoelace formula."""
    x, z = corners.T
    following_x, following_z = np.roll(x, -1), np.roll(z, -1)
    cross = x * following_z - following_x * z
    area = 0.5 * cross.sum()
    centre = np.array([((x + following_x) * cross).sum(), ((z + following_z) * cross).sum()]) / (6.0 * area)
    return abs(area), centre
