"""A ball joint with limits, as shoulders have them."""

import math
from dataclasses import dataclass

from ..errors import ModelError
from .axis import Axis
from .coordinates import SWING, TWIST, Coordinate, held_point


@dataclass(frozen=True, kw_only=True)
class ConeTwist:
    """The two bodies turn about a common point; the z axis of b stays in a cone about that of a.

    Attributes
    ----------
    swing : float
        Half angle of the cone [rad].
    twist : float
        Largest angle about z to either side [rad].
    """

    swing: float = math.inf
    twist: float = math.inf
    may_end_at_world = True

    def __post_init__(self):
        for name, value in (("swing", self.swing), ("twist", self.twist)):
            if not value >= 0.0:
                raise ModelError(f"{name} is {value:g}; it must be at least 0")

    def coordinates(self) -> list[Coordinate]:
        """Three translations, locked; the angle between the z axes, and that about them."""
        twist = Axis(lower=-self.twist, upper=self.twist)
        return [
            *held_point(),
            Coordinate(SWING, 2, Axis(upper=self.swing), 3),
            Coordinate(TWIST, 2, twist, 5),
        ]
