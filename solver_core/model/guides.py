"""Servos that pull dynamic bodies to poses from outside: ``Guide`` is what one body is given."""

import math
from dataclasses import dataclass

import numpy as np

from .given_values import number_in

# Columns of ``Model.guides``: frequency [Hz], damping ratio, largest force [N] and torque [N m]; follow at the start.
FREQUENCY, DAMPING_RATIO, LARGEST_FORCE, LARGEST_TORQUE, FOLLOW = range(5)
COLUMNS = 5


@dataclass(frozen=True, kw_only=True)
class Guide:
    """A servo of six axes that pulls a body to the pose that ``FrameInput.position`` and ``orientation`` give it.

    Attributes
    ----------
    frequency : float
        At which the body alone would swing about its pose if nothing damped it, along and about every axis [Hz]; above
        0. What is faster than a fifth of the substeps a second is as fast as that.
    damping_ratio : float
        1: as fast as it comes back without swinging over; 0: it swings for ever.
    largest_force, largest_torque : float
        That the servo gives [N], [N m]; above 0.
    follow : float
        From 0 (the body is free) to 1 (it is led, and its weight carried), at the start; ``FrameInput.follow`` changes
        it.
    """

    frequency: float = 5.0
    damping_ratio: float = 1.0
    largest_force: float = math.inf
    largest_torque: float = math.inf
    follow: float = 1.0


def checked_guide(name: str, guide: Guide) -> tuple[float, ...]:
    """The numbers of a guide, in the order of the columns; a ModelError where one cannot be.

    Parameters
    ----------
    name : str
        Of the body.
    guide : Guide
    """
    above_zero = {"lower": 0.0, "lower_open": True}
    return (
        number_in(name, "frequency of its guide", guide.frequency, **above_zero),
        number_in(name, "damping ratio of its guide", guide.damping_ratio, lower=0.0),
        number_in(name, "largest force of its guide", guide.largest_force, may_be_infinite=True, **above_zero),
        number_in(name, "largest torque of its guide", guide.largest_torque, may_be_infinite=True, **above_zero),
        number_in(name, "follow", guide.follow, lower=0.0, upper=1.0),
    )


def pack_guides(guides: dict[int, tuple[float, ...]], body_count: int) -> np.ndarray:
    """All guides [body_count, 5], or none [0, 5] where no body has one; a frequency of 0 is none.

    Parameters
    ----------
    guides : dict of int to tuple of float
        By body.
    body_count : int
    """
    packed = np.zeros((body_count if guides else 0, COLUMNS))
    for body, numbers in guides.items():
        packed[body] = numbers
    return packed
