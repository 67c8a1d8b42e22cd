"""A joint of which each axis is given."""

from dataclasses import dataclass

from ..errors import ModelError
from .axis import FREE, Axis, check_axis
from .coordinates import Coordinate, along, turns


@dataclass(frozen=True, kw_only=True)
class Generic:
    """Each of six axes has its range, spring, motor and friction.

    Attributes
    ----------
    linear : tuple of three Axis
        Along x, y, z of frame A.
    angular : tuple of three Axis
        Euler angles: Rz(c) Ry(b) Rx(a) turns A into B (``coordinates``). Where that about y is a quarter turn, the
        other two are about one axis: what their ranges let through there is a point.
    """

    linear: tuple[Axis, Axis, Axis] = (FREE, FREE, FREE)
    angular: tuple[Axis, Axis, Axis] = (FREE, FREE, FREE)
    may_end_at_world = True

    def __post_init__(self):
        for name, axes in (("linear", self.linear), ("angular", self.angular)):
            if len(axes) != 3:
                raise ModelError(f"{name} has {len(axes)} axes; it must have three")
            for place, axis in enumerate(axes):
                check_axis(f"{name} {'xyz'[place]}", axis)

    def coordinates(self) -> list[Coordinate]:
        """Those of six axes that are not free."""
        return [*(along(place, axis) for place, axis in enumerate(self.linear)), *turns(self.angular)]
