"""How many substeps a frame needs, by what moves in it.

Two rules, of which the one that asks for more counts:

- *Travel.* No body moves by more than half of its size in a substep, or turns by more than half a radian.
- *Fall.* What lands, rocks or rolls on an edge goes by implicit Euler (``position_update``), which takes h g^2 / 2 a
  second and a kilogram, of an energy of g s / 2 or so for a body of the size s: so the motion is gone in s / (g h),
  whatever it would be in nature. That time is to be ``SECONDS_KEPT`` at least. A tenth of a metre has it with 4
  substeps at 24 frames a second, a coin of 24 mm with 18; what is larger needs fewer.

A body that rests, or hardly moves (slower than by a fall through a two-hundredth of its size), asks for nothing.
"""

import math

from ...compiled.kernel import kernel, subkernel
from ...model.state import DYNAMIC, STATIC

# How far a body goes in a substep, as a share of its size, and how far it turns [rad].
_TRAVEL_A_SUBSTEP, _TURN_A_SUBSTEP = 0.5, 0.5
# How long a body is to keep its motion at least [s]: shorter than a second is seen to be wrong.
SECONDS_KEPT = 1.0
# A body moves if it is faster than this share of sqrt(gravity size).
_RATIO_MOVES = 0.1


@kernel
def substeps_needed(kind, velocity, size, gravity_norm, duration):
    """Substeps of a frame.

    Parameters
    ----------
    kind : int64 [body_count]
        ``BodyKind``.
    velocity : float64 [body_count, 6]
        [m/s, rad/s].
    size : float64 [body_count]
        [m].
    gravity_norm, duration : float
        [m/s^2], [s].

    Returns
    -------
    int
        At least 1.
    """
    rate, smallest = 0.0, math.inf
    for body in range(len(kind)):
        if kind[body] == STATIC:
            continue
        speed = _norm(velocity[body, 0], velocity[body, 1], velocity[body, 2])
        spin = _norm(velocity[body, 3], velocity[body, 4], velocity[body, 5])
        rate = max(rate, speed / size[body] / _TRAVEL_A_SUBSTEP, spin / _TURN_A_SUBSTEP)
        fastest = math.hypot(speed, 0.5 * size[body] * spin)
        if kind[body] == DYNAMIC and fastest > _RATIO_MOVES * math.sqrt(gravity_norm * size[body]):
            smallest = min(smallest, size[body])
    return max(math.ceil(duration * max(rate, SECONDS_KEPT * gravity_norm / smallest)), 1)


@subkernel
def _norm(x, y, z):
    return math.sqrt(x * x + y * y + z * z)
