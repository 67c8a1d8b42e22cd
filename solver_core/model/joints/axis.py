"""What may happen along or about an axis of a joint: its range, a spring, a motor, friction."""

import math
from dataclasses import dataclass

from ..errors import ModelError


@dataclass(frozen=True, kw_only=True)
class Spring:
    """Pulls a coordinate to its rest with -stiffness (x - rest) - damping dx/dt.

    Attributes
    ----------
    stiffness : float
        [N/m] or [N m/rad].
    damping : float
        [N s/m] or [N m s/rad].
    rest : float
        [m] or [rad].
    """

    stiffness: float
    damping: float = 0.0
    rest: float = 0.0

    def __post_init__(self):
        _check("spring stiffness", self.stiffness, lower=0.0)
        _check("spring damping", self.damping, lower=0.0)
        _check("spring rest", self.rest)


@dataclass(frozen=True, kw_only=True)
class Motor:
    """Drives a coordinate at a velocity, or to a position, with no more than its largest force.

    Attributes
    ----------
    velocity : float
        Of frame B as seen from frame A [m/s] or [rad/s].
    position : float, optional
        A servo: it drives the coordinate there by the end of a frame, if its force allows, and slows down in time.
    largest : float
        Force [N] or torque [N m].
    """

    velocity: float = 0.0
    position: float | None = None
    largest: float = math.inf

    def __post_init__(self):
        _check("motor velocity", self.velocity)
        if self.position is not None:
            _check("motor position", self.position)
        _check("largest force of the motor", self.largest, lower=0.0, may_be_infinite=True)


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One coordinate of a joint.

    Attributes
    ----------
    lower, upper : float
        Range [m] or [rad]. Equal: locked there. ``lower`` above ``upper``: free.
    spring : Spring, optional
    motor : Motor, optional
    friction : float
        Largest friction force [N] or torque [N m].
    limit_spring : Spring, optional
        Makes the limits soft: beyond one the coordinate is pushed back by this spring, never pulled; its rest is the
        limit.
    """

    lower: float = -math.inf
    upper: float = math.inf
    spring: Spring | None = None
    motor: Motor | None = None
    friction: float = 0.0
    limit_spring: Spring | None = None

    def __post_init__(self):
        for what, value in (("lower limit", self.lower), ("upper limit", self.upper)):
            if math.isnan(value):
                raise ModelError(f"{what} is {value}; it must be a number")
        if self.lower == self.upper and math.isinf(self.lower):
            raise ModelError(f"both limits are {self.lower}; a locked axis has a finite place")
        check_friction(self.friction)

    @property
    def is_locked(self) -> bool:
        """Whether the coordinate has one value."""
        return self.lower == self.upper

    @property
    def has_limits(self) -> bool:
        """Whether the coordinate has a limit that it may leave."""
        return self.lower < self.upper and not (math.isinf(self.lower) and math.isinf(self.upper))


def check_axis(name: str, axis) -> None:
    """Raise unless an ``Axis`` was given."""
    if not isinstance(axis, Axis):
        raise ModelError(f"{name} is {axis!r}; it must be an Axis")


def check_length(what: str, value: float) -> None:
    """Raise unless a length is finite and above 0."""
    _check(what, value, lower=0.0, lower_open=True)


def check_friction(value: float) -> None:
    """Raise unless a friction force or torque is at least 0; it may be infinite."""
    _check("friction", value, lower=0.0, may_be_infinite=True)


def check_strength(what: str, value: float) -> None:
    """Raise unless what a bond bears is at least 0; it may be infinite."""
    _check(what, value, lower=0.0, may_be_infinite=True)


def check_size(what: str, value: float) -> None:
    """Raise unless a size is finite and at least 0."""
    _check(what, value, lower=0.0)


def check_number(what: str, value: float) -> None:
    """Raise unless a number is finite."""
    _check(what, value)


def _check(what, value, *, lower=-math.inf, lower_open=False, may_be_infinite=False):
    if may_be_infinite and value == math.inf:
        return
    if not math.isfinite(value) or value < lower or (lower_open and value == lower):
        allowed = "finite" if math.isinf(lower) else f"finite and {'above' if lower_open else 'at least'} {lower:g}"
        raise ModelError(f"{what} is {value:g}; it must be {allowed}")


FREE = Axis()
LOCKED = Axis(lower=0.0, upper=0.0)
