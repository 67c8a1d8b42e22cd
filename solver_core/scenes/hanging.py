"""Lines of equal links that hang: between two points at rest, or straight."""

import math

import numpy as np

from ..geometry.rotations import from_rotation_vector


def hanging_nodes(first, last, count: int, length: float) -> np.ndarray:
    """Where ``count`` equal links that hang at rest between two points are tied to each other [count + 1, 3].

    At rest the horizontal pull H is the same everywhere, and the vertical one grows by a link's weight w from link to
    link: the slope of link i is (w / H) (i - i0). The two unknowns are found from where the line ends.

    Parameters
    ----------
    first, last : array-like [3]
        Neither one above the other.
    count : int
    length : float
        Of a link [m]; the line must be longer than the distance.
    """
    from scipy.optimize import fsolve  # a scene can be described without SciPy

    first, last = np.asarray(first, float), np.asarray(last, float)
    span = math.hypot(*(last - first)[:2])
    direction = (last - first)[:2] / span
    place = np.arange(count)

    def offsets(unknown):
        steepness, lowest = math.exp(unknown[0]), unknown[1]
        # by Python's own function: NumPy's rounds otherwise in another version
        angle = np.array([math.atan(steepness * (at - lowest)) for at in place.tolist()])
        return np.concatenate([[[0.0, 0.0]], np.cumsum(length * np.column_stack([np.cos(angle), np.sin(angle)]), 0)])

    def miss(unknown):
        return offsets(unknown)[-1] - (span, last[2] - first[2])

    start = (math.log(4.0 / count), 0.5 * (count - 1) - 0.5 * count * (last[2] - first[2]) / span)
    along, up = offsets(fsolve(miss, start, xtol=1e-13)).T
    return np.column_stack([first[:2] + np.outer(along, direction), first[2] + up])


def link_pose(start, end):
    """Middle of a link, and the turn that lays its z axis along it."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    along = (end - start) / np.linalg.norm(end - start)
    axis = np.cross((0.0, 0.0, 1.0), along)
    sine = np.linalg.norm(axis)
    angle = math.atan2(sine, along[2])
    turn = axis / sine * angle if sine > 0.0 else np.array([angle, 0.0, 0.0])
    return floats(0.5 * (start + end)), floats(from_rotation_vector(turn))


def floats(values) -> tuple:
    """Plain numbers of an array."""
    return tuple(float(value) for value in values)
