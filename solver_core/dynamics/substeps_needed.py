"""How many substeps a frame needs, by what moves in it.

Two rules, of which the one that asks for more counts:

- *Travel.* No body moves by more than half of its size in a substep, or turns by more than half a radian.
- *Fall.* Gravity g and the size s of a body have a time of their own, sqrt(s / g), in which it falls by half its size,
  tips over, or rocks. What lands, rocks or rolls on an edge goes by implicit Euler (``position_update``), which loses
  h g^2 / 2 of g s a second: half of its energy in s / (g h), so what is small dies too soon. At
  ``STEPS_A_FALL`` steps in that time it keeps its motion for ``STEPS_A_FALL`` times that time. A tenth of a metre needs
  4 substeps at 24 frames a second, a coin of 24 mm needs 9; lengths above a tenth of a metre need no more than 4.

A body that rests, or hardly moves (slower than by a fall through a two-hundredth of its size), asks for nothing.
"""

import numpy as np

from ..model.model import BodyKind

# How far a body goes in a substep, as a share of its size, and how far it turns [rad].
_TRAVEL_A_SUBSTEP, _TURN_A_SUBSTEP = 0.5, 0.5
# Substeps in the time sqrt(size / gravity).
STEPS_A_FALL = 10.0
# A body moves if it is faster than this share of sqrt(gravity size).
_RATIO_MOVES = 0.1


def substeps_needed(kind, velocity, size, gravity_norm: float, duration: float) -> int:
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
    moving = kind != BodyKind.STATIC.value
    speed = np.linalg.norm(velocity[moving, :3], axis=1)
    spin = np.linalg.norm(velocity[moving, 3:], axis=1)
    sizes = size[moving]
    rates = [(speed / sizes).max(initial=0.0) / _TRAVEL_A_SUBSTEP, spin.max(initial=0.0) / _TURN_A_SUBSTEP]
    falls = (kind[moving] == BodyKind.DYNAMIC.value) & (
        np.hypot(speed, 0.5 * sizes * spin) > _RATIO_MOVES * np.sqrt(gravity_norm * sizes)
    )
    if falls.any():
        rates.append(STEPS_A_FALL * float(np.sqrt(gravity_norm / sizes[falls].min())))
    return max(int(np.ceil(duration * max(rates))), 1)
