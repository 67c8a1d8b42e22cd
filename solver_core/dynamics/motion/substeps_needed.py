"""How many substeps a frame needs, by what moves in it.

Three rules, of which the one that asks for most counts:

- *Travel.* No body moves by more than half of its size in a substep, or turns by more than half a radian.
- *Fall.* What lands, rocks or rolls on an edge goes by implicit Euler (``position_update``), which takes h g^2 / 2 a
  second and a kilogram, of an energy of g s / 2 or so for a body of the size s: so the motion is gone in s / (g h),
  whatever it would be in nature. That time is to be ``SECONDS_KEPT`` at least. A tenth of a metre has it with 4
  substeps at 24 frames a second, a coin of 24 mm with 18; what is larger needs fewer.
- *Rim.* Where a coin or a can rolls on its rim, the contact goes round it at a rate W that its spin does not tell, and
  at a substep's end the rim comes down into the surface with h W times its speed. Of a tenth of that the energy is
  counted rightly (``rolling_energy``), of three tenths it is not: h W is to be a tenth, by the share that the speed of
  the rim has of the body's. W is measured where a body touches nothing else that moves; it counts for those that are
  half as fast as a fall through their size.

A body that rests, or hardly moves (slower than by a fall through a two-hundredth of its size), asks for nothing.
"""

import math

from ...compiled.kernel import kernel, subkernel
from ...model.state import DYNAMIC, STATIC

# How far a body goes in a substep, as a share of its size, and how far it turns [rad].
_TRAVEL_A_SUBSTEP, _TURN_A_SUBSTEP = 0.5, 0.5
# How far a contact that goes on goes round its body in a substep [rad].
_CONTACT_TURN_A_SUBSTEP = 0.1
# How long a body is to keep its motion at least [s]: shorter than a second is seen to be wrong.
SECONDS_KEPT = 1.0
# A body moves, or rolls so fast that its energy matters, if it is faster than this share of sqrt(gravity size).
_RATIO_MOVES, _RATIO_ROLLS = 0.1, 0.5


@kernel
def substeps_needed(kind, velocity, size, contact_turn, gravity_norm, duration):
    """Substeps of a frame.

    Parameters
    ----------
    kind : int64 [body_count]
        ``BodyKind``.
    velocity : float64 [body_count, 6]
        [m/s, rad/s].
    size : float64 [body_count]
        [m].
    contact_turn : float64 [body_count]
        ``IslandMemory`` [rad/s].
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
        rim = 0.5 * size[body] * spin
        fastest = math.hypot(speed, rim)
        fall = math.sqrt(gravity_norm * size[body])
        if kind[body] == DYNAMIC and fastest > _RATIO_MOVES * fall:
            smallest = min(smallest, size[body])
            if fastest > _RATIO_ROLLS * fall:
                rate = max(rate, contact_turn[body] * rim / fastest / _CONTACT_TURN_A_SUBSTEP)
    return max(math.ceil(duration * max(rate, SECONDS_KEPT * gravity_norm / smallest)), 1)


@subkernel
def _norm(x, y, z):
    return math.sqrt(x * x + y * y + z * z)
