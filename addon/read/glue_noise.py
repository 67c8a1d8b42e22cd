"""Random numbers of bonds, of pieces and of places: each by what it belongs to alone, whatever else there is."""

import numpy as np

_WEYL = np.uint64(0x9E3779B97F4A7C15)


def random_of(first, second, seed: int) -> np.ndarray:
    """A number from 0 to 1 for each two whole numbers (Steele et al. 2014, *Fast splittable pseudorandom generators*).

    Parameters
    ----------
    first, second : int64 [n]
        From 0 to 2^32.
    seed : int
    """
    with np.errstate(over="ignore"):
        state = (first.astype(np.uint64) << np.uint64(32)) ^ second.astype(np.uint64)
        for salt in (np.uint64(seed), np.uint64(0)):
            state = _mixed(state ^ salt)
    return _share(state)


def noise_at(points, size: float, seed: int) -> np.ndarray:
    """Numbers from 0 to 1 that change smoothly over so much: random ones at the corners of a grid, and between them.

    Parameters
    ----------
    points : float64 [n, 3]
    size : float
        Of the grid's cells, in the unit of the points.
    seed : int
    """
    cell = np.floor(points / size)
    along = points / size - cell
    along = along * along * (3.0 - 2.0 * along)
    total = np.zeros(len(points))
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(corner, along, 1.0 - along), axis=1)
        total += weight * _random_of_cells((cell + corner).astype(np.int64), seed)
    return total


def _random_of_cells(cells, seed):
    with np.errstate(over="ignore"):
        state = np.full(len(cells), seed, np.uint64)
        for axis in range(3):
            state = _mixed(state ^ cells[:, axis].view(np.uint64))
        state = _mixed(state)
    return _share(state)


def _mixed(state):
    state = state + _WEYL
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def _share(state):
    return (state >> np.uint64(11)).astype(float) / 2.0**53
