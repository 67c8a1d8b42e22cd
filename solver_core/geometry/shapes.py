"""What all collision shapes share, and the two simplest: box and sphere, in the user frame.

A box without extent along one axis is a sheet: two-sided, for bodies that are not dynamic.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike

from . import rotations
from .keywords import names_keywords
from .small_matrices import product
from .volume_integrals import MassProperties


class ShapeError(ValueError):
    """A shape that cannot exist; one line with the bad value and what is allowed."""


class ShapeKind(IntEnum):
    """What the kernels tell shapes apart by.

    Shape classes say how they are given to the kernels: ``kind``; ``parameters`` [3]; ``position`` and
    ``orientation`` of the shape's own frame in the user frame; ``bounding_radius`` about ``position`` [m].
    """

    BOX = 0
    SPHERE = 1
    HULL = 2
    CAPSULE = 3
    CYLINDER = 4
    CONE = 5
    MESH = 6


@dataclass(frozen=True, eq=False, init=False)
class Box:
    """A box.

    Parameters
    ----------
    half_extents : array-like [3]
        Half of each side [m], above 0; one may be 0, which makes a sheet for bodies that are not dynamic.
    position, orientation : array-like [3], [4]
        Pose in the user frame; the quaternion (w, x, y, z) is normalised.

    Raises
    ------
    ShapeError
    """

    half_extents: np.ndarray
    position: np.ndarray
    orientation: np.ndarray

    @names_keywords
    def __init__(
        self,
        half_extents: ArrayLike,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    ):
        extents = finite_vector("box: half extents", half_extents, 3)
        if np.any(extents < 0.0) or np.sum(extents > 0.0) < 2:
            raise ShapeError(f"box: half extents are {describe(extents)}; they must be above 0, or one of them 0")
        object.__setattr__(self, "half_extents", extents)
        object.__setattr__(self, "position", finite_vector("box: position", position, 3))
        object.__setattr__(self, "orientation", unit_quaternion("box", orientation))

    kind = ShapeKind.BOX

    @property
    def parameters(self) -> np.ndarray:
        """Half extents [m]."""
        return self.half_extents

    @property
    def bounding_radius(self) -> float:
        """Half of the diagonal [m]."""
        return float(np.linalg.norm(self.half_extents))

    @property
    def is_flat(self) -> bool:
        """Whether it is a sheet."""
        return bool(np.any(self.half_extents == 0.0))

    @property
    def size(self) -> float:
        """Longest side [m]."""
        return float(2.0 * self.half_extents.max())

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner in the user frame [m]."""
        reach = np.abs(rotations.matrix(self.orientation)) @ self.half_extents
        return self.position - reach, self.position + reach

    def mass_properties(self) -> MassProperties:
        """Closed form; a sheet's for its area."""
        sides = 2.0 * self.half_extents
        volume = float(np.prod(sides[sides > 0.0]))
        squares = sides**2
        moments = volume / 12.0 * (squares.sum() - squares)
        axes = rotations.matrix(self.orientation)
        return MassProperties(volume, self.position.copy(), product(axes * moments, axes.T))


@dataclass(frozen=True, eq=False, init=False)
class Sphere:
    """A ball.

    Parameters
    ----------
    radius : float
        [m], above 0.
    position : array-like [3]
        Centre in the user frame.

    Raises
    ------
    ShapeError
    """

    radius: float
    position: np.ndarray

    @names_keywords
    def __init__(self, radius: float, position: ArrayLike = (0.0, 0.0, 0.0)):
        object.__setattr__(self, "radius", positive_length("sphere: radius", radius))
        object.__setattr__(self, "position", finite_vector("sphere: position", position, 3))

    kind = ShapeKind.SPHERE
    orientation = (1.0, 0.0, 0.0, 0.0)
    is_flat = False

    @property
    def parameters(self) -> np.ndarray:
        """Radius [m] in the first."""
        return np.array([self.radius, 0.0, 0.0])

    @property
    def bounding_radius(self) -> float:
        """Radius [m]."""
        return self.radius

    @property
    def size(self) -> float:
        """Diameter [m]."""
        return 2.0 * self.radius

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner in the user frame [m]."""
        return self.position - self.radius, self.position + self.radius

    def mass_properties(self) -> MassProperties:
        """Closed form."""
        volume = 4.0 / 3.0 * np.pi * self.radius**3
        return MassProperties(float(volume), self.position.copy(), 0.4 * volume * self.radius**2 * np.eye(3))


# ---- for the shapes of other files as well


def finite_vector(what: str, value: ArrayLike, length: int) -> np.ndarray:
    """``value`` as float64 [length]; raises a ShapeError that names ``what`` it is."""
    try:
        vector = np.array(value, float)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (length,) or not np.all(np.isfinite(vector)):
        raise ShapeError(f"{what} must be {length} finite numbers, not {describe(value)}")
    return vector


def positive_length(what: str, value: float, *, may_be_zero: bool = False) -> float:
    """``value`` [m]; raises a ShapeError that names ``what`` it is."""
    length = float(finite_vector(what, [value], 1)[0])
    if length < 0.0 or (length == 0.0 and not may_be_zero):
        raise ShapeError(f"{what} is {length:g}; it must be {'at least' if may_be_zero else 'above'} 0")
    return length


def unit_quaternion(shape: str, value: ArrayLike) -> np.ndarray:
    """``value`` (w, x, y, z) normalised; raises a ShapeError that names the ``shape``."""
    orientation = finite_vector(f"{shape}: orientation", value, 4)
    length = np.linalg.norm(orientation)
    if length == 0.0:
        raise ShapeError(f"{shape}: orientation is zero; it must be a quaternion (w, x, y, z)")
    return orientation / length


def describe(value: object) -> str:
    """A value as it stands in an error message."""
    if isinstance(value, np.ndarray | list | tuple):
        return "(" + ", ".join(f"{number:g}" if isinstance(number, float) else str(number) for number in value) + ")"
    return repr(value)
