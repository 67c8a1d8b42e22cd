"""Bodies that turn by more than half a turn in a frame: the way that their keys take from pose to pose.

Two poses say how a body has turned but for whole turns, and of all ways the shortest is the wrong one where it spins
fast: 270 degrees a frame look like -90. With the angular velocities w0 and w1 at both ends the true turn is about

    t = (w0 + w1) / 2 * duration ,

and what is missing to the second pose, c = log(R1 (exp(t) R0)^-1), is small. So the body is taken to turn as

    R(s) = exp(s c) exp(s t) R0 ,    0 <= s <= 1 ,

which is exact for a steady turn, and has no axis to find where a frame has whole turns.

Euler angles and the angle of an axis count on. Where straight lines between their keys at whole frames turn as the body
does (it spins about an axis of its channels), these keys suffice; else, and for quaternions, which know no whole turns,
there are keys in between.
"""

import itertools

import numpy as np

from ...solver_core.geometry import rotations

# From this turn in a frame on the shorter way may be the wrong one, as the velocities say it but roughly [rad].
LEAST_TURN = 0.8 * np.pi
# Keys in between are so far apart at most [rad] ...
PIECE = np.pi / 6
# ... and there are so many at most in a frame; who turns faster is shown by its poses alone.
MOST_PIECES = 128
TOO_FAST = (
    f"turns more than {MOST_PIECES * PIECE / (2 * np.pi):.0f} times in a frame: its pose in each frame is right, but "
    "between frames, as for motion blur, its keys turn the short way"
)
# Channels that are off by less than this from a straight line need no key in between [rad].
STRAIGHT = 1e-3


def fast_turns(before: np.ndarray, after: np.ndarray, duration: float) -> dict[int, np.ndarray]:
    """Bodies that turn far in a frame, and about how.

    Parameters
    ----------
    before, after : float64 [body_count, 6]
        Velocities at the frame's ends (``Simulation.velocities``).
    duration : float
        Of the frame [s].

    Returns
    -------
    dict of int to float64 [3]
        By body the turn as a vector [rad], in world axes.
    """
    turn = 0.5 * duration * (before[:, 3:] + after[:, 3:])
    fast = np.flatnonzero(np.sum(turn * turn, axis=1) > LEAST_TURN**2)
    return {int(body): turn[body] for body in fast}


def broken_turns(before: np.ndarray, after: np.ndarray, duration: float, breaks) -> dict[int, np.ndarray]:
    """The same of a frame in which the motion of some bodies breaks; of each of these the turns up to its breaks.

    Parameters
    ----------
    before, after, duration
        As of ``fast_turns``.
    breaks : FrameBreaks
        Of the frame.

    Returns
    -------
    dict of int to float64 [3] or [breaks of the body + 1, 3]
    """
    turns = fast_turns(before, after, duration)
    for body in np.unique(breaks.body):
        rows = breaks.body == body
        spins = np.concatenate([before[None, body, 3:], breaks.spin[rows]])
        # up to a hit a body spins about as it did before
        spins[-1] = 0.5 * (spins[-1] + after[body, 3:])
        parts = np.diff(np.concatenate([[0.0], breaks.share[rows], [1.0]]))
        parts = duration * parts[:, None] * spins
        turns.pop(int(body), None)
        if np.sum(parts * parts, axis=1).max() > LEAST_TURN**2:
            turns[int(body)] = parts
    return turns


def is_too_fast(turn: np.ndarray) -> bool:
    """Whether a turn in a frame, or one of several, is more than keys in between can show."""
    return float(np.linalg.norm(turn, axis=-1).max()) > MOST_PIECES * PIECE


def between(before: np.ndarray, after: np.ndarray, turn: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Rotations [k, 3, 3] at shares [k] of the way between two [3, 3] that are about this turn [3] [rad] apart."""
    missing = after @ (_turned(turn) @ before).T
    correction = rotations.to_rotation_vector(rotations.from_matrix(missing))
    return _turned(share[:, None] * correction) @ _turned(share[:, None] * turn) @ before


def _turned(vector):
    return rotations.matrix(rotations.from_rotation_vector(vector))


def spread(rotation: np.ndarray, turns: dict[int, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Rotations with others in between where they turn far.

    Parameters
    ----------
    rotation : float64 [n, 3, 3]
    turns : dict of int to float64 [3]
        By index of a rotation the expected turn that leads to it, in the axes of these rotations.

    Returns
    -------
    at : float64 [m]
        Indices with fractions.
    rotation : float64 [m, 3, 3]
    """
    at, pieces = [np.zeros(1)], [rotation[:1]]
    for index in range(1, len(rotation)):
        turn = turns.get(index)
        if turn is not None and not is_too_fast(turn):
            count = int(np.ceil(np.linalg.norm(turn) / PIECE))
            share = np.arange(1, count) / count
            at.append(index - 1 + share)
            pieces.append(between(rotation[index - 1], rotation[index], turn, share))
        at.append(np.array([float(index)]))
        pieces.append(rotation[index : index + 1])
    return np.concatenate(at), np.concatenate(pieces)


def needed(at: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Which keys are needed, bool [m]: those at whole indices, and those between where lines are not what is meant.

    Parameters
    ----------
    at : float64 [m]
    values : float64 [m, k]
        Channels that count on.
    """
    whole = at == np.round(at)
    keep = whole.copy()
    for first, last in itertools.pairwise(np.flatnonzero(whole)):
        if last - first > 1:
            inner = slice(first + 1, last)
            share = (at[inner] - at[first])[:, None]
            straight = values[first] + share * (values[last] - values[first])
            keep[inner] = np.abs(values[inner] - straight).max() > STRAIGHT
    return keep
