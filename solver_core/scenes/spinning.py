"""What spins: tops that precess on their tips, and a T-handle that tumbles about its middle axis."""

import colorsys
import math

import numpy as np

from ..geometry import rotations
from ..geometry.hulls import ConvexHull
from ..geometry.round_shapes import Cylinder
from ..model.compound import Compound
from .scene import Scene, SceneBody, floor

_GRAVITY = 9.81
_RADIUS, _HEIGHT, _SIDES = 0.5, 0.32, 32  # of a top: a flat cone on its tip [m]
_HANDLE = 0.1, 0.6, 0.35  # radius of its rods, half the lengths of bar and stem [m]


def tops(spins=(120.0, 60.0, 30.0), lean: float = math.radians(18.0)) -> Scene:
    """Tops with the velocities of their slow precession m g l / (I w): the slower one spins, the faster it goes round.

    Parameters
    ----------
    spins : sequence of float
        [rad/s].
    lean : float
        Of the axes [rad].
    """
    angles = 2.0 * math.pi * np.arange(_SIDES) / _SIDES
    rim = np.stack([_RADIUS * np.cos(angles), _RADIUS * np.sin(angles), np.full(_SIDES, _HEIGHT)], axis=1)
    handle = 0.09 * rim * [1.0, 1.0, 0.0] + [0.0, 0.0, _HEIGHT]
    shape = ConvexHull.from_points(np.vstack([[0.0, 0.0, 0.0], rim, handle]))
    properties = shape.mass_properties()
    distance, moment = properties.center[2], properties.inertia[2, 2] / properties.volume
    orientation = rotations.from_rotation_vector([0.0, lean, 0.0])
    axis = rotations.rotate(orientation, np.array([0.0, 0.0, 1.0]))
    bodies = []
    for number, spin in enumerate(spins):
        angular = spin * axis + [0.0, 0.0, _GRAVITY * distance / (moment * spin)]
        bodies.append(
            SceneBody(
                name=f"Top.{number + 1}",
                shape=shape,
                position=(1.6 * (number - 0.5 * (len(spins) - 1)), 0.0, 0.0),
                orientation=tuple(orientation),
                friction=1.0,
                linear_velocity=tuple(np.cross(angular, distance * axis)),
                angular_velocity=tuple(angular),
                color=colorsys.hsv_to_rgb(0.05 + 0.25 * number, 0.6, 0.85),
            )
        )
    return Scene(
        name="tops",
        title="Spinning tops precess",
        bodies=[floor(), *bodies],
        frame_count=120,
        camera=(0.0, -5.5, 2.8),
        target=(0.0, 0.0, 0.25),
    )


def tumbling_handle(spin: float = 6.0) -> Scene:
    """A weightless T-handle spun about its middle axis: it turns over again and again (Dzhanibekov's effect).

    Parameters
    ----------
    spin : float
        [rad/s].
    """
    across = rotations.from_rotation_vector([0.0, 0.5 * math.pi, 0.0])
    radius, bar, stem = _HANDLE
    shape = Compound(
        [Cylinder(radius, bar, orientation=across), Cylinder(radius, stem, position=(0.0, 0.0, -radius - stem))]
    )
    properties = shape.mass_properties()
    order = np.argsort(np.diag(properties.inertia))
    angular, center = np.zeros(3), np.array([0.0, 0.0, 1.6])
    angular[order] = 0.02 * spin, spin, 0.01 * spin
    handle = SceneBody(
        name="Handle",
        shape=shape,
        position=tuple(center - properties.center),
        angular_velocity=tuple(angular),
        color=(0.75, 0.3, 0.2),
    )
    return Scene(
        name="tumbling",
        title="A T-handle tumbles about its middle axis",
        bodies=[floor(), handle],
        frame_count=240,
        camera=(2.6, -4.2, 2.6),
        target=(0.0, 0.0, 1.4),
        gravity=(0.0, 0.0, 0.0),
    )
