"""A slider."""

from dataclasses import dataclass

from .axis import FREE, LOCKED, Axis, check_axis
from .coordinates import Coordinate, along, turns


@dataclass(frozen=True)
class Slider:
    """The two bodies slide along the frame's x axis, which body a carries, and do not turn.

    Attributes
    ----------
    axis : Axis
        How far b is along it; 0 at the start.
    """

    axis: Axis = FREE
    may_end_at_world = True

    def __post_init__(self):
        check_axis("axis", self.axis)

    def coordinates(self) -> list[Coordinate]:
        """The way, two translations and three turns, locked."""
        return [along(0, self.axis), along(1), along(2), *turns((LOCKED, LOCKED, LOCKED))]
