"""A piston."""

from dataclasses import dataclass

from .axis import FREE, Axis, check_axis
from .coordinates import Coordinate, about_only, along


@dataclass(frozen=True, kw_only=True)
class Piston:
    """The two bodies slide along the frame's x axis and turn about it.

    Attributes
    ----------
    linear, angular : Axis
        How far b is along it; its angle about it.
    """

    linear: Axis = FREE
    angular: Axis = FREE
    may_end_at_world = True

    def __post_init__(self):
        check_axis("linear", self.linear)
        check_axis("angular", self.angular)

    def coordinates(self) -> list[Coordinate]:
        """The way, the angle, two translations and two turns, locked."""
        return [along(0, self.linear), along(1), along(2), *about_only(0, self.angular)]
