"""A chain of rings that swings from a fixed one: concave bodies that hold each other."""

import math

import numpy as np

from ..geometry.hulls import ConvexHull
from ..geometry.rotations import from_rotation_vector, multiply
from ..geometry.solid_meshes import solid_properties
from ..model.compound import Compound
from ..model.model import BodyKind
from .scene import Scene, SceneBody

# Of a ring's mesh.
_AROUND, _ACROSS = 24, 10
_RADIUS, _TUBE = 1.0, 0.22
# Distance of neighbours, as a share of that at which they touch.
_SLACK = 0.985


def chain(count: int = 9, angle: float = 60.0) -> Scene:
    """Rings in a straight line, the first one fixed, let go to swing.

    Parameters
    ----------
    count : int
        Rings that move.
    angle : float
        Of the line to the vertical [degrees].
    """
    vertices, quads = _ring()
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    # Cut along its meridians a ring falls into convex wedges.
    wedges = [
        ConvexHull.from_points(np.concatenate([vertices[_meridian(place)], vertices[_meridian(place + 1)]]))
        for place in range(_AROUND)
    ]
    shape = Compound(wedges, solid_properties(vertices, triangles))
    pitch = _SLACK * 2.0 * (_RADIUS - _TUBE)
    slope = math.radians(angle)
    bodies = []
    for number in range(count + 1):
        along = pitch * number
        bodies.append(
            SceneBody(
                name=f"Ring.{number:02d}",
                shape=shape,
                mesh=(vertices, quads),
                kind=BodyKind.DYNAMIC if number else BodyKind.STATIC,
                position=(along * math.sin(slope), 0.0, -along * math.cos(slope)),
                orientation=_orientation(slope, number),
                color=(0.75, 0.55, 0.25) if number % 2 else (0.55, 0.58, 0.62),
            )
        )
    length = pitch * count
    return Scene(
        name="chain",
        title=f"A chain of {count} rings swings",
        bodies=bodies,
        frame_count=120,
        camera=(0.0, -2.05 * length, -0.4 * length),
        target=(0.0, 0.0, -0.5 * length),
    )


def _ring():
    """Vertices [n, 3] and quads of a ring about the z axis; counterclockwise seen from outside."""
    u, v = np.meshgrid(*(np.arange(n) * 2.0 * np.pi / n for n in (_AROUND, _ACROSS)), indexing="ij")
    distance = _RADIUS + _TUBE * np.cos(v)
    vertices = np.stack([distance * np.cos(u), distance * np.sin(u), _TUBE * np.sin(v)], axis=-1).reshape(-1, 3)
    i, j = (index.ravel() for index in np.meshgrid(np.arange(_AROUND), np.arange(_ACROSS), indexing="ij"))
    after, above = (i + 1) % _AROUND, (j + 1) % _ACROSS
    corners = (i * _ACROSS + j, after * _ACROSS + j, after * _ACROSS + above, i * _ACROSS + above)
    return vertices, np.stack(corners, axis=1)


def _meridian(place):
    """Vertices of one cross-section."""
    return _ACROSS * (place % _AROUND) + np.arange(_ACROSS)


def _orientation(slope, number):
    """About y so that the ring's own x axis lies along the chain; every other ring turned by a quarter about that."""
    lean = from_rotation_vector(np.array([0.0, 0.5 * math.pi - slope, 0.0]))
    quarter = from_rotation_vector(np.array([0.5 * math.pi * (number % 2), 0.0, 0.0]))
    return tuple(map(float, multiply(lean, quarter)))
