"""A body that is pulled at a point, as by a hand."""

from dataclasses import dataclass, fields

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Pull:
    """A damped spring from a point of a body to a place that moves during a frame, at constant velocity.

    It carries the body's weight, and swings with its frequency wherever the body is held.

    Attributes
    ----------
    body : int
    point : tuple of float [3]
        Where the body is held, in its user frame [m].
    begin, end : tuple of float [3]
        Where that point is to be at the frame's beginning and at its end [m].
    frequency : float
        Of the undamped oscillator [Hz].
    damping_ratio : float
        1 where it is critically damped.
    largest_force : float
        [N].
    """

    body: int
    point: tuple[float, float, float]
    begin: tuple[float, float, float]
    end: tuple[float, float, float]
    frequency: float = 3.0
    damping_ratio: float = 1.0
    largest_force: float = np.inf


def checked_pull(pull: Pull, body_count: int) -> None:
    """Raise a ValueError that says what is wrong, if anything is."""
    if not 0 <= pull.body < body_count:
        raise ValueError(f"the pulled body is {pull.body}; there are {body_count} bodies")
    for name in (field.name for field in fields(pull)):
        value = np.asarray(getattr(pull, name), float)
        if value.shape != ((3,) if name in ("point", "begin", "end") else ()) or np.isnan(value).any():
            raise ValueError(f"{name} of the pull is {getattr(pull, name)}; numbers are missing or too many")
    for name in ("frequency", "damping_ratio", "largest_force"):
        if getattr(pull, name) < 0.0:
            raise ValueError(f"{name} of the pull is {getattr(pull, name)}; it must be at least 0")
