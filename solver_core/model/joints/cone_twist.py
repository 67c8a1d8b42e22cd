"""A ball joint with limits, as shoulders have them."""

import math
from dataclasses import dataclass

from ..errors import ModelError
from .axis import Axis, check_friction
from .coordinates import SWING, TWIST, Coordinate, friction_of_turns, held_point


@dataclass(frozen=True, kw_only=True)
class ConeTwist:
    """The two bodies turn about a common point; the z axis of b stays in a cone about that of a.

    Attributes
    ----------
    swing : float
        Half angle of the cone [rad].
    twist : float
        Largest angle about z to either side [rad].
    friction : float
        Largest torque with which it resists turning, about each axis [N m].
    """

    swing: float = math.inf
    twist: float = math.inf
    friction: float = 0.0
    may_end_at_world = True

    def __post_init__(self):
        for name, value in (("swing", self.swing), ("twist", self.twist)):
            if not value >= 0.0:
                raise ModelError(f"{name} is {value:g}; it must be at least 0")
        check_friction(self.friction)

    def coordinates(self) -> list[Coordinate]:
        """Three translations, locked; the angle between the z axes, and that about them."""
        twist = Axis(lower=-self.twist, upper=self.twist)
        return [
            *held_point(),
            Coordinate(SWING, 2, Axis(upper=self.swing), 3),
            Coordinate(TWIST, 2, twist, 5),
            *friction_of_turns(self.friction),
        ]
