"""A body of several shapes that move as one: compound parents, and concave meshes in convex parts."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..geometry import rotations
from ..geometry.hulls import ConvexHull
from ..geometry.round_shapes import Capsule, Cone, Cylinder
from ..geometry.shapes import Box, ShapeError, Sphere
from ..geometry.triangle_mesh import TriangleMesh
from ..geometry.volume_integrals import MassProperties
from .mass_properties import moved, sum_of_parts

# What a part of a compound may be.
PartShape: TypeAlias = Box | Sphere | ConvexHull | Capsule | Cylinder | Cone | TriangleMesh


@dataclass(frozen=True, eq=False, init=False)
class Compound:
    """Several shapes, rigidly joined. They do not collide with each other.

    Parameters
    ----------
    parts : sequence of shapes
        All in one user frame; at least one, none of them a ``Compound``.
    properties : MassProperties, optional
        Of the whole, where it is known better than as the parts' sum: parts that overlap count twice in the sum.

    Raises
    ------
    ShapeError
    """

    parts: tuple[PartShape, ...]
    properties: MassProperties | None

    def __init__(self, parts: Iterable[PartShape], properties: MassProperties | None = None):
        parts = tuple(parts)
        if not parts:
            raise ShapeError("compound: it has no part; it must have at least one")
        if any(isinstance(part, Compound) for part in parts):
            raise ShapeError("compound: a part is a compound itself; give its parts instead")
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "properties", properties)

    @property
    def is_flat(self) -> bool:
        """Whether it has no volume: all of its parts are sheets."""
        return all(part.is_flat for part in self.parts)

    @property
    def size(self) -> float:
        """Longest side of the bounding box [m]."""
        lower, upper = self.bounding_box()
        return float((upper - lower).max())

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner in the user frame [m]."""
        boxes = [part.bounding_box() for part in self.parts]
        return np.min([lower for lower, _ in boxes], axis=0), np.max([upper for _, upper in boxes], axis=0)

    def mass_properties(self) -> MassProperties:
        """Sum over the parts at one density, by the theorem of parallel axes. Beside solids a sheet weighs none."""
        if self.properties is not None:
            return self.properties
        heavy = [part.mass_properties() for part in self.parts if self.is_flat or not part.is_flat]
        return sum_of_parts(heavy)


# Any shape; what goes in comes out.
AnyShape = TypeVar("AnyShape", bound="PartShape | Compound")


def placed(shape: AnyShape, position: ArrayLike, orientation: ArrayLike) -> AnyShape:
    """A shape moved rigidly, as a part of a compound has its place in the whole.

    Parameters
    ----------
    shape : any shape, also a ``Compound``
    position, orientation : float64 [3], [4]
        Pose of the shape's user frame in the whole's.

    Returns
    -------
    A shape of the same class.
    """
    return _placed(shape, np.asarray(position, float), np.asarray(orientation, float))


def _placed(shape, position, orientation) -> Any:
    if isinstance(shape, Compound):
        parts = [_placed(part, position, orientation) for part in shape.parts]
        return Compound(parts, shape.properties and moved(shape.properties, position, orientation))
    if isinstance(shape, ConvexHull | TriangleMesh):
        turn = np.broadcast_to(orientation, (len(shape.vertices), 4))
        vertices = position + rotations.rotate(turn, shape.vertices)
        if isinstance(shape, TriangleMesh):
            return TriangleMesh(vertices, shape.triangles)
        turn = np.broadcast_to(orientation, (len(shape.normals), 4))
        return ConvexHull(vertices, shape.loops, rotations.rotate(turn, shape.normals), shape.flat_face)
    pose = {"position": position + rotations.rotate(orientation, shape.position)}
    if "orientation" in shape.__dataclass_fields__:
        pose["orientation"] = rotations.multiply(orientation, shape.orientation)
    return replace(shape, **pose)
