"""When a body has keys: at each frame of a trajectory, and between frames where its motion breaks."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from ...solver_core.geometry import rotations
from . import channels, spin

if TYPE_CHECKING:  # they load Numba
    from ...solver_core import Trajectory


@dataclasses.dataclass
class Line:
    """The keys of a body: where they are, in frames from 0 on, and its poses there.

    Attributes
    ----------
    at : float64 or int64 [n]
    position, orientation : float64 [n, 3], [n, 4]
    turns : dict of float to float64 [3]
        Far turns that lead to a key, by where that is.
    """

    at: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    turns: dict[float, np.ndarray]

    def insert(self, place: float) -> None:
        """Add a key on the way from one to the next."""
        row = int(np.searchsorted(self.at, place))
        share = (place - self.at[row - 1]) / (self.at[row] - self.at[row - 1])
        position = self.position[row - 1] + share * (self.position[row] - self.position[row - 1])
        turn = self.turns.get(self.at[row], np.zeros(3))
        ends = channels.quaternion_matrices(self.orientation[row - 1 : row + 1])
        orientation = rotations.from_matrix(spin.between(*ends, turn, np.array([share])))[0]
        if turn.any():
            self.turns |= {place: share * turn, self.at[row]: (1.0 - share) * turn}
        self.at = np.insert(self.at.astype(float), row, place)
        self.position = np.insert(self.position, row, position, axis=0)
        self.orientation = np.insert(self.orientation, row, orientation, axis=0)


class Timelines:
    """The keys of the bodies of a trajectory.

    Parameters
    ----------
    trajectory : Trajectory
    turns : dict of int to dict
        By frame the bodies that turn far in it (``spin.broken_turns``).
    at_hits : bool
        Whether there are keys at breaks.
    """

    def __init__(self, trajectory: "Trajectory", turns: dict[int, dict], at_hits: bool):
        self._position, self._orientation = trajectory.position, trajectory.orientation
        self._frames = np.arange(len(self._position))
        self._turns: dict[int, dict[int, np.ndarray]] = {}
        for frame, of_frame in turns.items():
            for body, turn in of_frame.items():
                self._turns.setdefault(body, {})[frame] = turn
        # by body: (places, positions, orientations)
        self._breaks: dict[int, list[tuple]] = {}
        for frame, report in enumerate(trajectory.reports if at_hits else ()):
            if report.breaks is not None:
                poses = report.breaks.share, report.breaks.position, report.breaks.orientation
                for body, share, position, orientation in zip(report.breaks.body, *poses, strict=True):
                    self._breaks.setdefault(int(body), []).append((frame + share, position, orientation))
        self._lines = {body: self._broken(body) for body in self._breaks}

    def _broken(self, body) -> Line:
        """Of a body whose motion breaks."""
        places, *between = zip(*self._breaks[body], strict=True)
        order = np.argsort(np.concatenate([self._frames, places]), kind="stable")
        whole = self._frames, self._position[:, body], self._orientation[:, body]
        parts = zip(whole, (places, *between), strict=True)
        at, position, orientation = (np.concatenate([one, np.array(other)])[order] for one, other in parts)
        turns = {}
        for frame, parts in self._turns.get(body, {}).items():
            inner = at[(at > frame - 1) & (at <= frame)]
            turns |= dict(zip(inner.tolist(), np.atleast_2d(parts), strict=True))
        return Line(at, position, orientation, turns)

    def is_whole(self, body: int) -> bool:
        """Whether a body has keys at whole frames alone."""
        return body not in self._lines

    def line(self, body: int) -> Line:
        """The keys of a body."""
        found = self._lines.get(body)
        if found is None:
            found = Line(self._frames, self._position[:, body], self._orientation[:, body], self._turns.get(body, {}))
        return found

    def follow(self, body: int, ancestors: list[int]) -> None:
        """Give a body keys where those that it is a child of break: its channels are told from them."""
        places = {place for ancestor in ancestors for place, *_ in self._breaks.get(ancestor, ())}
        line = self.line(body)
        places = sorted(places.difference(line.at.tolist()))
        if places:
            line = self._lines[body] = dataclasses.replace(line, turns=dict(line.turns))
        for place in places:
            line.insert(place)


def between(matrices: np.ndarray, known: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Matrices at places between known ones: they go straight on, turn steadily the short way, and stretch steadily.

    Parameters
    ----------
    matrices : float64 [k, 4, 4]
    known : float64 [k]
        Where these are; they grow.
    at : float64 [n]
        From the first to the last of ``known``.

    Returns
    -------
    float64 [n, 4, 4]
    """
    first = np.clip(np.searchsorted(known, at, side="right") - 1, 0, len(known) - 2) if len(known) > 1 else 0 * at
    first = first.astype(int)
    last = np.minimum(first + 1, len(known) - 1)
    length = np.maximum(known[last] - known[first], 1e-30)
    share = np.clip((at - known[first]) / length, 0.0, 1.0)[:, None, None]
    before, after = matrices[first], matrices[last]
    found = before + share * (after - before)
    inner = (share[:, 0, 0] > 0.0) & (share[:, 0, 0] < 1.0)
    if inner.any():
        axes = [channels.nearest_rotations(_unit(part[inner, :3, :3])) for part in (before, after)]
        stretch = [
            np.swapaxes(turn, -1, -2) @ part[inner, :3, :3] for turn, part in zip(axes, (before, after), strict=True)
        ]
        way = rotations.to_rotation_vector(rotations.from_matrix(axes[1] @ np.swapaxes(axes[0], -1, -2)))
        turned = rotations.matrix(rotations.from_rotation_vector(share[inner, 0] * way)) @ axes[0]
        found[inner, :3, :3] = turned @ (stretch[0] + share[inner] * (stretch[1] - stretch[0]))
    exact = share[:, 0, 0] == 1.0
    found[exact] = after[exact]
    return found


def _unit(matrices):
    """The same with a volume of 1, the sign kept."""
    return matrices / np.cbrt(np.linalg.det(matrices))[:, None, None]
