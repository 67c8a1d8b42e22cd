"""How a free body turns: Euler's equations, at an angular momentum L that stays exactly what it is in world axes.

With principal moments I_1, I_2, I_3, of which I_2 is neither the least nor the largest, the energy is that of a ball
and of two flywheels,

    E = |L|^2 / (2 I_2) + (1/I_1 - 1/I_2) L_1^2 / 2 + (1/I_3 - 1/I_2) L_3^2 / 2

The ball turns about L, fixed in the world, by h |L| / I_2. As |L| is all that it depends on, that commutes with the
rest: it is done in one, exactly. Each flywheel turns the body about its own axis by h (1/I_i - 1/I_2) L_i, in closed
form; the two are taken in turn, half of the first, the second, half of the first (McLachlan 1993; Reich 1994), which is
symmetric and of second order. A body with two equal moments, as rods, wheels and square bars have, has one flywheel
only, and is exact whatever it spins by. Of others E swings, by as much as the cycles are long, and stays between
|L|^2 / 2 I_max and |L|^2 / 2 I_min by construction.

The error of a cycle, over its length, is as (1/I_1 - 1/I_2) (1/I_3 - 1/I_2) (h |L|)^2 / 24: the root of that is what is
called a cycle's turn here. Of the three moments the middle one makes it least.
"""

import math

from ...compiled.kernel import subkernel
from ...geometry.rotation_kernels import from_rotation_vector, multiply, rotate, rotate_back

# A cycle's turn [rad]. Over random bodies and spins the energy swings by 3e-5 of it at most, and the direction is off
# by as much of the angle turned.
TURN_PER_CYCLE = 0.02
# ... and where a hundredth of a turn will do, as in derivatives that only lead somewhere.
TURN_PER_CYCLE_ROUGH = 0.2
# No more cycles than this a substep, so that a body thrown out of the scene cannot stall the bake.
_MAX_CYCLES = 1024
# Below this turn a substep [rad] one exponential does: what it neglects is of the order of its square.
_ANGLE_PLAIN = 1e-3
# Principal moments that differ by less than this share count as one.
_RATIO_ISOTROPIC = 1e-9
# Half angles [rad] up to which so many terms of the series are sine and cosine to rounding.
_ANGLE_SERIES = 0.05


@subkernel
def is_isotropic(inertia):
    """Whether a body turns like a ball: its angular velocity is constant at constant angular momentum."""
    i0, i1, i2 = inertia
    largest = max(i0, i1, i2)
    return largest - min(i0, i1, i2) <= _RATIO_ISOTROPIC * largest


@subkernel
def turned_freely(orientation, turning, inertia, h, turn_per_cycle):
    """The orientation of a dynamic body after h, free of torques.

    Parameters
    ----------
    orientation : float64 [4]
        Before (read).
    turning : float64 [6]
        A velocity, of which the angular part is what the body turns by at the start (read).
    inertia : float64 [3]
        Principal moments [kg m^2] (read).
    h : float
        [s].
    turn_per_cycle : float
        [rad]

    Returns
    -------
    tuple of four floats
        (w, x, y, z)
    """
    w, x, y, z = orientation
    angle = h * math.sqrt(turning[3] ** 2 + turning[4] ** 2 + turning[5] ** 2)
    if is_isotropic(inertia) or angle < _ANGLE_PLAIN:
        turn = from_rotation_vector(h * turning[3], h * turning[4], h * turning[5])
    else:
        i0, i1, i2 = inertia
        l0, l1, l2 = rotate_back(w, x, y, z, turning[3], turning[4], turning[5])
        l0, l1, l2 = i0 * l0, i1 * l1, i2 * l2
        turn = rotate(w, x, y, z, l0, l1, l2)
        # by so many places the axes are moved on for that of the middle moment to be the second
        places = 2 if (i0 - i1) * (i0 - i2) <= 0.0 else (1 if (i2 - i0) * (i2 - i1) <= 0.0 else 0)
        for _ in range(places):
            x, y, z, l0, l1, l2, i0, i1, i2 = y, z, x, l1, l2, l0, i1, i2, i0
        w, x, y, z = _turn_wheels(w, x, y, z, l0, l1, l2, 1.0 / i0 - 1.0 / i1, 1.0 / i2 - 1.0 / i1, h, turn_per_cycle)
        for _ in range(places, 3):
            x, y, z = y, z, x
        turn = from_rotation_vector(h / i1 * turn[0], h / i1 * turn[1], h / i1 * turn[2])
    w, x, y, z = multiply(turn[0], turn[1], turn[2], turn[3], w, x, y, z)
    factor = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    return factor * w, factor * x, factor * y, factor * z


@subkernel
def _turn_wheels(w, x, y, z, l0, l1, l2, rate0, rate2, h, turn_per_cycle):
    """What the flywheels about axes 0 and 2 do in h; ``rate0``, ``rate2``: 1/I_i - 1/I_1 [1/(kg m^2)].

    (w, x, y, z) is the orientation, (l0, l1, l2) the angular momentum in the body's frame.
    """
    turn = h * math.sqrt((l0 * l0 + l1 * l1 + l2 * l2) * abs(rate0 * rate2))
    cycles = int(turn / turn_per_cycle) + 1 if turn < (_MAX_CYCLES - 1) * turn_per_cycle else _MAX_CYCLES
    step0, step2 = h / cycles * rate0, h / cycles * rate2
    w, x, y, z, l1, l2 = _turn_about(w, x, y, z, l1, l2, 0.5 * step0 * l0)
    for cycle in range(cycles):
        w, z, x, y, l0, l1 = _turn_about(w, z, x, y, l0, l1, step2 * l2)
        # the second half of a cycle and the first of the next
        w, x, y, z, l1, l2 = _turn_about(w, x, y, z, l1, l2, (1.0 if cycle < cycles - 1 else 0.5) * step0 * l0)
    return w, x, y, z


@subkernel
def _turn_about(w, x, y, z, l1, l2, angle):
    """The body turns by ``angle`` about its axis of x, so its momentum, fixed in the world, turns back in its frame."""
    c, s = _cosine_and_sine(0.5 * angle)
    cosine, sine = c * c - s * s, 2.0 * c * s
    return c * w - s * x, c * x + s * w, c * y + s * z, c * z - s * y, cosine * l1 + sine * l2, cosine * l2 - sine * l1


@subkernel
def _cosine_and_sine(angle):
    """Cosine and sine; of small angles by their series, at a tenth of the price."""
    if not abs(angle) < _ANGLE_SERIES:
        return math.cos(angle), math.sin(angle)
    q = angle * angle
    cosine = 1.0 - q * (1.0 / 2.0 - q * (1.0 / 24.0 - q * (1.0 / 720.0 - q / 40320.0)))
    return cosine, angle * (1.0 - q * (1.0 / 6.0 - q * (1.0 / 120.0 - q / 5040.0)))
