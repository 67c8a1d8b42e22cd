"""Gears, and rack and pinion: they couple motions that other joints leave free."""

from dataclasses import dataclass

from .axis import LOCKED, check_number
from .coordinates import GEAR, RACK, Coordinate


@dataclass(frozen=True)
class Gear:
    """Two bodies turn about the frame's z axis so that (angle of a) + ratio * (angle of b) = 0.

    Both angles are those turned in the world since the start, so the axes are to keep their direction.

    Attributes
    ----------
    ratio : float
        Teeth of b over teeth of a.
    """

    ratio: float
    may_end_at_world = False

    def __post_init__(self):
        check_number("ratio", self.ratio)

    def coordinates(self) -> list[Coordinate]:
        """The coupled angles."""
        return [Coordinate(GEAR, 2, LOCKED, 5, factor=float(self.ratio))]


@dataclass(frozen=True)
class RackAndPinion:
    """Body b, the rack, moves along the frame's first x axis by radius * (angle of the pinion a about z).

    Attributes
    ----------
    radius : float
        [m]; of a pinion on the rack's side of positive y it is negative.
    """

    radius: float
    may_end_at_world = False

    def __post_init__(self):
        check_number("radius", self.radius)

    def coordinates(self) -> list[Coordinate]:
        """The coupled way and angle."""
        return [Coordinate(RACK, 0, LOCKED, 0, factor=float(self.radius))]
