"""What bodies are made of, beyond a mass, a friction and a restitution: what few have, and what costs nothing without.

Each array of ``MatterArrays`` has a place a body, or none where no body differs from what all have: kernels ask for the
length first, once a loop, and are then where they were.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np


class CombineRule(IntEnum):
    """How a pair's value comes of its two bodies' values. Of two bodies' rules the later one in this list counts."""

    PRODUCT = 0
    MEAN = 1
    LEAST = 2
    LARGEST = 3


# As kernels read them: Numba would take a member of the enumeration for a type of its own.
PRODUCT, MEAN, LEAST, LARGEST = range(4)


@dataclass(frozen=True)
class Matter:
    """What one body has, checked, in the user frame.

    Attributes
    ----------
    friction_rule, restitution_rule : CombineRule
    sliding_friction : float
        Coefficient while surfaces slide; equal to the friction where there is one for both.
    surface_velocity : float64 [3]
        Of the surface against the body [m/s].
    largest_speed : float
        [m/s].
    rolling_friction, spinning_friction : float
        Largest torque at a contact across and along its normal, over the normal force and the distance of the surface
        from the centre along the normal.
    """

    friction_rule: CombineRule
    restitution_rule: CombineRule
    sliding_friction: float
    surface_velocity: np.ndarray
    largest_speed: float
    rolling_friction: float
    spinning_friction: float


class MatterArrays(NamedTuple):
    """Of all bodies, or empty where none needs it.

    Attributes
    ----------
    rules : int64 [body_count or 0, 2]
        ``CombineRule`` of friction and of restitution.
    sliding_friction : float64 [body_count or 0]
        Friction of surfaces that slide; ``ModelArrays.friction`` is that of surfaces that stick.
    surface_velocity : float64 [body_count or 0, 3]
        Of a body's surface against the body, as of a belt; in the body frame [m/s].
    largest_speed : float64 [body_count or 0]
        Of the centre of mass [m/s]; infinite: none.
    rolling_friction : float64 [body_count or 0, 2]
        Against rolling and against spinning; a pair has the larger one of its two bodies.
    """

    rules: np.ndarray
    sliding_friction: np.ndarray
    surface_velocity: np.ndarray
    largest_speed: np.ndarray
    rolling_friction: np.ndarray


def pack_matter(bodies: list[Matter], friction: np.ndarray, surface_velocity: np.ndarray) -> MatterArrays:
    """Tables of what bodies have.

    Parameters
    ----------
    bodies : list of Matter
    friction : float64 [body_count]
    surface_velocity : float64 [body_count, 3]
        In the body frames [m/s].
    """
    rules = np.array([(body.friction_rule, body.restitution_rule) for body in bodies], np.int64)
    sliding_friction = np.array([body.sliding_friction for body in bodies])
    largest_speed = np.array([body.largest_speed for body in bodies])
    rolling_friction = np.array([(body.rolling_friction, body.spinning_friction) for body in bodies], np.float64)
    return MatterArrays(
        rules=rules if rules.any() else rules[:0],
        sliding_friction=sliding_friction if np.any(sliding_friction != friction) else sliding_friction[:0],
        surface_velocity=np.ascontiguousarray(
            surface_velocity if surface_velocity.any() else surface_velocity[:0], np.float64
        ),
        largest_speed=largest_speed if np.isfinite(largest_speed).any() else largest_speed[:0],
        rolling_friction=(rolling_friction if rolling_friction.any() else rolling_friction[:0]).reshape(-1, 2),
    )
