"""A motor without a bearing, as Blender has it."""

from dataclasses import dataclass

from .axis import FREE, Axis, check_axis
from .coordinates import TWIST, Coordinate, along


@dataclass(frozen=True, kw_only=True)
class MotorJoint:
    """Drives b along the frame's x axis, and about it, and holds nothing else.

    Attributes
    ----------
    linear, angular : Axis
    """

    linear: Axis = FREE
    angular: Axis = FREE
    may_end_at_world = True

    def __post_init__(self):
        check_axis("linear", self.linear)
        check_axis("angular", self.angular)

    def coordinates(self) -> list[Coordinate]:
        """The way and the angle."""
        return [along(0, self.linear), Coordinate(TWIST, 0, self.angular, 3)]
