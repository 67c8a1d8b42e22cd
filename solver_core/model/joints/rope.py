"""A rope."""

from dataclasses import dataclass

from .axis import Axis, check_length
from .coordinates import DISTANCE, Coordinate


@dataclass(frozen=True)
class Rope:
    """Two points of the bodies are no farther apart than its length.

    Attributes
    ----------
    length : float
        [m]
    """

    length: float
    may_end_at_world = True

    def __post_init__(self):
        check_length("length", self.length)

    def coordinates(self) -> list[Coordinate]:
        """The distance."""
        return [Coordinate(DISTANCE, 0, Axis(upper=self.length), 0)]
