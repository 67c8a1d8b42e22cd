"""A ball joint."""

from dataclasses import dataclass

from .axis import check_friction
from .coordinates import Coordinate, friction_of_turns, held_point


@dataclass(frozen=True, kw_only=True)
class Point:
    """The two bodies turn freely about a common point.

    Attributes
    ----------
    friction : float
        Largest torque with which it resists turning, about each axis [N m].
    """

    friction: float = 0.0
    may_end_at_world = True

    def __post_init__(self):
        check_friction(self.friction)

    def coordinates(self) -> list[Coordinate]:
        """Three translations, locked; three turns where there is friction."""
        return [*held_point(), *friction_of_turns(self.friction)]
