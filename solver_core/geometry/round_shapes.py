"""Round collision shapes in the user frame: capsule, cylinder and cone about their own z axis.

Their mass properties are the closed forms of solids of revolution (any handbook of mechanics); ``position`` is the
middle of the height, so a cone's centre of mass lies a quarter of its height above its base, below ``position``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import rotations
from .keywords import names_keywords
from .shapes import ShapeKind, finite_vector, positive_length, unit_quaternion
from .small_matrices import product
from .volume_integrals import MassProperties


class _RoundShape:
    """What the three have in common: the pose, and bounds from a support function."""

    is_flat = False
    radius: float
    position: np.ndarray
    orientation: np.ndarray

    def _place(self, position: ArrayLike, orientation: ArrayLike) -> None:
        name = type(self).__name__.lower()
        object.__setattr__(self, "position", finite_vector(f"{name}: position", position, 3))
        object.__setattr__(self, "orientation", unit_quaternion(name, orientation))

    def _placed(self, volume, height, axial, across) -> MassProperties:
        """Mass properties with the centre at ``height`` along the axis and these moments about it and across it."""
        axes = rotations.matrix(self.orientation)
        inertia = product(axes * np.array([across, across, axial]), axes.T)
        return MassProperties(float(volume), self.position + height * axes[:, 2], inertia)

    def _disc_reach(self):
        """How far a disc of the radius across the axis reaches along each axis of the user frame [3]."""
        return self.radius * np.sqrt(np.maximum(1.0 - rotations.matrix(self.orientation)[:, 2] ** 2, 0.0))


@dataclass(frozen=True, eq=False, init=False)
class Capsule(_RoundShape):
    """All points within ``radius`` of a segment along z: a rod with round ends.

    Parameters
    ----------
    radius : float
        [m], above 0.
    half_length : float
        Half of the segment [m], without the round ends; at least 0.
    position, orientation : array-like [3], [4]
        Pose in the user frame; the quaternion (w, x, y, z) is normalised.

    Raises
    ------
    ShapeError
    """

    radius: float
    half_length: float
    position: np.ndarray
    orientation: np.ndarray

    @names_keywords
    def __init__(
        self,
        radius: float,
        half_length: float,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    ):
        object.__setattr__(self, "radius", positive_length("capsule: radius", radius))
        half_length = positive_length("capsule: half length", half_length, may_be_zero=True)
        object.__setattr__(self, "half_length", half_length)
        self._place(position, orientation)

    kind = ShapeKind.CAPSULE

    @property
    def parameters(self) -> np.ndarray:
        """Radius and half length [m]."""
        return np.array([self.radius, self.half_length, 0.0])

    @property
    def bounding_radius(self) -> float:
        """To the tip of a round end [m]."""
        return self.radius + self.half_length

    @property
    def size(self) -> float:
        """From tip to tip [m]."""
        return 2.0 * (self.radius + self.half_length)

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner in the user frame [m]."""
        reach = self.half_length * np.abs(rotations.matrix(self.orientation)[:, 2]) + self.radius
        return self.position - reach, self.position + reach

    def mass_properties(self) -> MassProperties:
        """A cylinder and two half balls, whose own centres lie 3/8 r beyond the ends of the segment."""
        r, half = self.radius, self.half_length
        rod, ball = 2.0 * np.pi * r**2 * half, 4.0 / 3.0 * np.pi * r**3
        axial = rod * r**2 / 2.0 + ball * 0.4 * r**2
        across = rod * (r**2 / 4.0 + half**2 / 3.0) + ball * (0.4 * r**2 + half**2 + 0.75 * r * half)
        return self._placed(rod + ball, 0.0, axial, across)


@dataclass(frozen=True, eq=False, init=False)
class _DiscShape(_RoundShape):
    """What cylinder and cone have in common: a disc of ``radius`` at ``-half_height``, whose rim is farthest out."""

    radius: float
    half_height: float
    position: np.ndarray
    orientation: np.ndarray

    @names_keywords
    def __init__(
        self,
        radius: float,
        half_height: float,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    ):
        name = type(self).__name__.lower()
        object.__setattr__(self, "radius", positive_length(f"{name}: radius", radius))
        object.__setattr__(self, "half_height", positive_length(f"{name}: half height", half_height))
        self._place(position, orientation)

    @property
    def parameters(self) -> np.ndarray:
        """Radius and half height [m]."""
        return np.array([self.radius, self.half_height, 0.0])

    @property
    def bounding_radius(self) -> float:
        """To the rim [m]."""
        return float(np.hypot(self.radius, self.half_height))

    @property
    def size(self) -> float:
        """Height or diameter, whichever is larger [m]."""
        return 2.0 * max(self.radius, self.half_height)


@dataclass(frozen=True, eq=False, init=False)
class Cylinder(_DiscShape):
    """A cylinder along z, with flat caps.

    Parameters
    ----------
    radius, half_height : float
        [m], above 0.
    position, orientation : array-like [3], [4]
        Pose in the user frame; the quaternion (w, x, y, z) is normalised.

    Raises
    ------
    ShapeError
    """

    kind = ShapeKind.CYLINDER

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner in the user frame [m]."""
        reach = self.half_height * np.abs(rotations.matrix(self.orientation)[:, 2]) + self._disc_reach()
        return self.position - reach, self.position + reach

    def mass_properties(self) -> MassProperties:
        """Closed form."""
        r, half = self.radius, self.half_height
        volume = 2.0 * np.pi * r**2 * half
        return self._placed(volume, 0.0, volume * r**2 / 2.0, volume * (r**2 / 4.0 + half**2 / 3.0))


@dataclass(frozen=True, eq=False, init=False)
class Cone(_DiscShape):
    """A cone along z: apex at ``+half_height``, base of ``radius`` at ``-half_height``.

    Parameters
    ----------
    radius, half_height : float
        [m], above 0.
    position, orientation : array-like [3], [4]
        Pose of the middle of the height in the user frame; the quaternion (w, x, y, z) is normalised.

    Raises
    ------
    ShapeError
    """

    kind = ShapeKind.CONE

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner in the user frame [m]."""
        rise, disc = self.half_height * rotations.matrix(self.orientation)[:, 2], self._disc_reach()
        apex, base = self.position + rise, self.position - rise
        return np.minimum(apex, base - disc), np.maximum(apex, base + disc)

    def mass_properties(self) -> MassProperties:
        """Closed form; the centre lies a quarter of the height above the base."""
        r, height = self.radius, 2.0 * self.half_height
        volume = np.pi * r**2 * height / 3.0
        return self._placed(volume, -height / 4.0, 0.3 * volume * r**2, 3.0 / 80.0 * volume * (4.0 * r**2 + height**2))
