"""Friction impulses as sums of direction impulses that are not negative: the many ways, and the one that is taken.

    t = sum_k phi_k d_k,   phi >= 0,   d_k = (cos, sin)(2 pi k / K)

The smallest sum has t's two neighbouring directions alone. Where the contact's bound mu theta leaves a reserve above
that sum, half of it is spread evenly over all directions, which cancels in t: no phi is then 0 and the reserve is not
0 either, so a sticking contact has no pair that is zero twice, where Fischer's function has no derivative.
"""

import math

from ...compiled.kernel import kernel, subkernel


@subkernel
def fill_corners(corners):
    """d_k for k = 0 to K - 1, opposite ones equal to the bit.

    Parameters
    ----------
    corners : float64 [K, 2]
        Written; K even.
    """
    half = corners.shape[0] // 2
    for k in range(half):
        angle = math.pi * k / half
        corners[k, 0], corners[k, 1] = math.cos(angle), math.sin(angle)
        corners[half + k, 0], corners[half + k, 1] = -corners[k, 0], -corners[k, 1]


@subkernel
def spread_friction(corners, t1, t2, bound, x, first):
    """Direction impulses of (t1, t2).

    Parameters
    ----------
    corners : float64 [K, 2]
        Read.
    t1, t2, bound : float
        Friction, and mu theta.
    x : float64 [unknowns]
        Written from ``first`` on, K numbers.
    first : int

    Returns
    -------
    float
        The reserve ``bound`` - smallest sum; negative where the friction lies outside of the polygon.
    """
    count = corners.shape[0]
    sector = 2.0 * math.pi / count
    k = math.floor(math.atan2(t2, t1) / sector) % count
    after = (k + 1) % count
    sine = math.sin(sector)
    share = max((t1 * corners[after, 1] - t2 * corners[after, 0]) / sine, 0.0)
    share_after = max((t2 * corners[k, 0] - t1 * corners[k, 1]) / sine, 0.0)
    reserve = bound - share - share_after
    for place in range(first, first + count):
        x[place] = max(reserve, 0.0) / (2.0 * count)
    x[first + k] += share
    x[first + after] += share_after
    return reserve


@kernel
def start_unknowns(compact, first_unknown, corners, y, u, x):
    """Unknowns from impulses: theta, the direction impulses, and the slip where friction is at its bound.

    Parameters
    ----------
    compact : CompactRows
        Read.
    first_unknown : int64 [units + 1]
        Read.
    corners : float64 [K, 2]
        Read.
    y, u : float64 [rows]
        Impulses and speeds, read [m/s].
    x : float64 [unknowns]
        Written [m/s].
    """
    for unit in range(compact.count[0]):
        row, first = compact.first_row[unit], first_unknown[unit]
        mu = compact.friction[unit]
        if mu < 0.0:
            x[first] = min(compact.upper[row], max(compact.lower[row], y[row]))
            continue
        x[first] = max(y[row], 0.0)
        bound = mu * x[first]
        reserve = spread_friction(corners, y[row + 1], y[row + 2], bound, x, first + 1)
        slip = 0.0
        if reserve <= _RATIO_RESERVE * bound:
            for k in range(corners.shape[0]):
                slip = max(slip, -(corners[k, 0] * u[row + 1] + corners[k, 1] * u[row + 2]))
        x[first_unknown[unit + 1] - 1] = slip


# Friction whose reserve is below this share of its bound is at the bound.
_RATIO_RESERVE = 1e-9


@kernel
def project_unknowns(compact, first_unknown, corners, x):
    """Make all unknowns feasible: at least 0, or within the row's bounds.

    Where a direction impulse is negative, all of that contact are chosen anew for the same friction: cutting it off
    would change the friction that the step asked for.

    Parameters
    ----------
    compact, first_unknown, corners
        Read.
    x : float64 [unknowns]
        Written [m/s].
    """
    for unit in range(compact.count[0]):
        row, first = compact.first_row[unit], first_unknown[unit]
        mu = compact.friction[unit]
        if mu < 0.0:
            x[first] = min(compact.upper[row], max(compact.lower[row], x[first]))
            continue
        last = first_unknown[unit + 1] - 1
        x[first], x[last] = max(x[first], 0.0), max(x[last], 0.0)
        least, t1, t2 = 0.0, 0.0, 0.0
        for k in range(corners.shape[0]):
            phi = x[first + 1 + k]
            least = min(least, phi)
            t1 += corners[k, 0] * phi
            t2 += corners[k, 1] * phi
        if least < 0.0:
            spread_friction(corners, t1, t2, mu * x[first], x, first + 1)
