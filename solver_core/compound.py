"""A body of several shapes that move as one: compound parents, and concave meshes in convex parts."""

from dataclasses import dataclass, replace

import numpy as np

from . import rotations
from .shapes import ConvexHull, MassProperties, ShapeError
from .triangle_mesh import TriangleMesh


@dataclass(frozen=True, eq=False)
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

    parts: tuple
    properties: MassProperties | None = None

    def __post_init__(self):
        parts = tuple(self.parts)
        if not parts:
            raise ShapeError("compound: it has no part; it must have at least one")
        if any(isinstance(part, Compound) for part in parts):
            raise ShapeError("compound: a part is a compound itself; give its parts instead")
        object.__setattr__(self, "parts", parts)

    @property
    def is_flat(self) -> bool:
        """Whether it has no volume: all of its parts are sheets."""
        return all(part.is_flat for part in self.parts)

    @property
    def size(self) -> float:
        """Longest side of the bounding box [m]."""
        lower, upper = self.bounding_box()
        return float((upper - lower).max())

    def bounding_box(self):
        """Lower and upper corner in the user frame [m]."""
        boxes = [part.bounding_box() for part in self.parts]
        return np.min([lower for lower, _ in boxes], axis=0), np.max([upper for _, upper in boxes], axis=0)

    def mass_properties(self) -> MassProperties:
        """Sum over the parts at one density, by the theorem of parallel axes. Beside solids a sheet weighs none."""
        if self.properties is not None:
            return self.properties
        heavy = [part.mass_properties() for part in self.parts if self.is_flat or not part.is_flat]
        volume = sum(part.volume for part in heavy)
        center = sum(part.volume * part.center for part in heavy) / volume
        inertia = np.zeros((3, 3))
        for part in heavy:
            arm = part.center - center
            inertia += part.inertia + part.volume * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return MassProperties(float(volume), center, inertia)


def placed(shape, position, orientation):
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
    if isinstance(shape, Compound):
        parts = [placed(part, position, orientation) for part in shape.parts]
        return Compound(parts, shape.properties and _moved_properties(shape.properties, position, orientation))
    if isinstance(shape, ConvexHull | TriangleMesh):
        turn = np.broadcast_to(orientation, (len(shape.vertices), 4))
        vertices = np.asarray(position) + rotations.rotate(turn, shape.vertices)
        if isinstance(shape, TriangleMesh):
            return TriangleMesh(vertices, shape.triangles)
        turn = np.broadcast_to(orientation, (len(shape.normals), 4))
        return ConvexHull(vertices, shape.loops, rotations.rotate(turn, shape.normals), shape.flat_face)
    moved = {"position": np.asarray(position) + rotations.rotate(np.asarray(orientation, float), shape.position)}
    if "orientation" in shape.__dataclass_fields__:
        moved["orientation"] = rotations.multiply(np.asarray(orientation, float), shape.orientation)
    return replace(shape, **moved)


def _moved_properties(properties, position, orientation):
    axes = np.array([rotations.rotate(np.asarray(orientation, float), axis) for axis in np.eye(3)]).T
    return MassProperties(
        properties.volume, np.asarray(position) + axes @ properties.center, axes @ properties.inertia @ axes.T
    )
