"""A hinge."""

from dataclasses import dataclass

from .axis import FREE, Axis, check_axis
from .coordinates import Coordinate, about_only, held_point


@dataclass(frozen=True)
class Hinge:
    """The two bodies turn about the frame's z axis.

    Attributes
    ----------
    axis : Axis
        The angle: positive where b turns counterclockwise about z as seen from a, beyond full turns; 0 at the start.
    """

    axis: Axis = FREE
    may_end_at_world = True

    def __post_init__(self):
        check_axis("axis", self.axis)

    def coordinates(self) -> list[Coordinate]:
        """Three translations and two turns, locked, and the angle."""
        return [*held_point(), *about_only(2, self.axis)]
