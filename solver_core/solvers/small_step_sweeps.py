"""The sweeps of a small step (``small_steps``): how many, over what, and how.

Two over all contacts. Where these have moved many bodies, others follow over all of them, by conjugate gradients; where
they have moved few, as by a hit somewhere in a heap, others follow over the contacts of bodies that have been moved.
"""

import math

import numpy as np

from ..compiled.kernel import subkernel
from .batches.partitioned_sweep import follow_direction, is_partitioned, sweep_island, sweep_moved
from .shared.directions import remember_velocity

# Sweeps of a small step; more while they change gaps by more than this share of the slightest body, up to so many ...
_SWEEPS, _RATIO_LEFT, _MOST_SWEEPS = 2, 1e-3, 16
# ... and up to so many visits of a contact while by more than this share: what is light between heavy bodies would be
# led through one.
_RATIO_LEFT_OF_HIT, _MOST_VISITS_OF_HIT = 5e-3, 4000
# So many plain sweeps do as much as one by conjugate gradients: if more than one in so many bodies has been moved, all
# contacts are swept. Else most sweeps over what has been moved, which cost next to nothing.
_SWEEPS_OF_ONE, _MOST_SWEEPS_OF_FEW = 3, 128
# Plain sweeps after those by conjugate gradients.
_PLAIN_SWEEPS = 2


@subkernel
def sweep_until_settled(rows, islands, island, velocity, sweep, settings, tau, size, pays):
    """The sweeps of a small step.

    From the third one on over what has been moved, or by conjugate gradients (Silcowitz-Hansen, Niebe and Erleben
    2010), as in ``nncg``: what is light between heavy bodies takes hundreds of plain sweeps. What has not converged may
    have more energy, so the last sweeps are plain, and all are where the island does not pay for what it gains.

    Parameters
    ----------
    rows, islands, island, velocity, sweep, settings
        As of ``sweep_island``.
    tau : float
        Length of the step [s].
    size : float
        Side of the cube of the slightest body's volume [m]: what is long and thin is led through something by less.
    pays : bool
        Whether the island pays for energy that it gains (``pay_for_lifts``).

    Returns
    -------
    largest : float
        Largest change of a speed by the last sweep [m/s].
    sweeps : int
    """
    first_body, end_body = islands.body_first[island], islands.body_first[island + 1]
    blocks = islands.block_first[island + 1] - islands.block_first[island]
    most_sweeps = max(_MOST_SWEEPS, _MOST_VISITS_OF_HIT // max(blocks, 1))
    last_merit, largest, left = 0.0, math.inf, math.inf
    done, plain = np.int64(0), np.int64(0)
    if is_partitioned(islands, island):
        # what is pinched by something driven has no solution, and gets faster with each sweep
        most = _MOST_SWEEPS_OF_FEW if pays else _MOST_SWEEPS
        limits = _RATIO_LEFT * size / tau, _RATIO_LEFT_OF_HIT * size / tau, most, max(most_sweeps, most)
        largest, done, moves_many = _sweep_moved(rows, islands, island, velocity, sweep, settings, limits, pays)
        if not moves_many:
            return largest, done
        remember_velocity(islands.body_order, first_body, end_body, velocity, sweep)
    while True:
        largest, merit = sweep_island(rows, islands, island, velocity, sweep, settings, 1.0, 0.0)
        done += 1
        if done < _SWEEPS:
            continue
        left = _RATIO_LEFT if done < _MOST_SWEEPS else _RATIO_LEFT_OF_HIT
        if largest * tau <= left * size or done >= most_sweeps:
            plain += 1
            if done == _SWEEPS or plain > _PLAIN_SWEEPS or not pays:
                return largest, done
            continue
        if not pays:
            continue
        if done == _SWEEPS:
            remember_velocity(islands.body_order, first_body, end_body, velocity, sweep)
            continue
        if plain > 0:
            plain, last_merit = np.int64(0), 0.0
            remember_velocity(islands.body_order, first_body, end_body, velocity, sweep)
            continue
        beta = merit / last_merit if last_merit > 0.0 else 0.0
        follow_direction(rows, islands, island, velocity, sweep, beta if beta <= 1.0 else -1.0)
        last_merit = merit


@subkernel
def _sweep_moved(rows, islands, island, velocity, sweep, settings, limits, pays):
    """Those of a partitioned island: from the third one on only over contacts of bodies that have been moved.

    What a sweep changes by no more than is enough moves nobody. So where nobody has been moved, all contacts are as if
    the last sweep had visited them all, and had changed none by more.

    Parameters
    ----------
    limits : tuple of (float, float, int, int)
        The change of a speed that is enough, and the one that is so after some sweeps [m/s]; how many these are, and
        most sweeps.

    Returns
    -------
    largest : float
    sweeps : int
    moves_many : bool
        There were but two, and they have moved so many bodies that conjugate gradients cost less.
    """
    enough, enough_of_hit, some_sweeps, most_sweeps = limits
    forget_moved(islands, island, sweep)
    done, largest = np.int64(0), math.inf
    while done < _SWEEPS:
        done += 1
        largest = sweep_moved(rows, islands, island, velocity, sweep, settings, (np.int64(0), done, enough))
    if pays:
        moved = 0
        for index in range(islands.body_first[island], islands.body_first[island + 1]):
            moved += sweep.domains.moved_in[islands.body_order[index]] == done
        if _SWEEPS_OF_ONE * moved > islands.body_first[island + 1] - islands.body_first[island]:
            return largest, done, True
    while largest > enough and done < most_sweeps:
        if done >= some_sweeps and largest <= enough_of_hit:
            break
        since, done = done, done + 1
        largest = sweep_moved(rows, islands, island, velocity, sweep, settings, (since, done, enough))
    return largest, done, False


@subkernel
def forget_moved(islands, island, sweep):
    """No body of a partitioned island has been moved yet.

    Parameters
    ----------
    islands, island
        Read.
    sweep : SweepWorkspace
        Written: ``domains.moved_in``.
    """
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        sweep.domains.moved_in[islands.body_order[index]] = 0
