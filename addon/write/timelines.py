"""When a body has keys: at each frame of a trajectory, and between frames where its motion breaks."""

from typing import TYPE_CHECKING

import numpy as np

from ...solver_core.geometry import rotations
from . import channels

if TYPE_CHECKING:  # they load Numba
    from ...solver_core import Trajectory


class Timelines:
    """Poses of the bodies of a trajectory, with those at their breaks.

    Parameters
    ----------
    trajectory : Trajectory
    at_hits : bool
        Whether breaks count.
    """

    def __init__(self, trajectory: "Trajectory", at_hits: bool):
        self.position, self.orientation = trajectory.position, trajectory.orientation
        self._whole = np.arange(len(self.position))
        # by body: (frames with their shares, positions, orientations)
        self._between: dict[int, list[tuple]] = {}
        for frame, report in enumerate(trajectory.reports if at_hits else ()):
            if report.breaks is None:
                continue
            poses = report.breaks.share, report.breaks.position, report.breaks.orientation
            for body, share, position, orientation in zip(report.breaks.body, *poses, strict=True):
                self._between.setdefault(int(body), []).append((frame + share, position, orientation))

    def breaks(self, body: int) -> bool:
        """Whether the motion of a body breaks between frames."""
        return body in self._between

    def at(self, body: int) -> np.ndarray:
        """Places of a body's keys [n], in frames from 0 on."""
        if body not in self._between:
            return self._whole
        return np.sort(np.concatenate([self._whole, [entry[0] for entry in self._between[body]]]))

    def poses(self, body: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions [n, 3] and orientations [n, 4] of a body there."""
        position, orientation = self.position[:, body], self.orientation[:, body]
        if body not in self._between:
            return position, orientation
        at, *between = zip(*self._between[body], strict=True)
        order = np.argsort(np.concatenate([self._whole, at]), kind="stable")
        parts = zip((position, orientation), between, strict=True)
        position, orientation = (np.concatenate([whole, np.array(part)])[order] for whole, part in parts)
        return position, orientation

    def turns(self, body: int, of_frames: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
        """Turns that lead to a body's keys, by their index, from those of frames (``spin.broken_turns``)."""
        if body not in self._between:
            return of_frames
        at, found = self.at(body), {}
        for frame, parts in of_frames.items():
            last = int(np.searchsorted(at, frame))
            parts = np.atleast_2d(parts)
            found |= {last - len(parts) + 1 + row: turn for row, turn in enumerate(parts)}
        return found


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
        stretch = [np.swapaxes(turn, -1, -2) @ part[inner, :3, :3] for turn, part in zip(axes, (before, after))]
        way = rotations.to_rotation_vector(rotations.from_matrix(axes[1] @ np.swapaxes(axes[0], -1, -2)))
        turned = rotations.matrix(rotations.from_rotation_vector(share[inner, 0] * way)) @ axes[0]
        found[inner, :3, :3] = turned @ (stretch[0] + share[inner] * (stretch[1] - stretch[0]))
    exact = share[:, 0, 0] == 1.0
    found[exact] = after[exact]
    return found


def _unit(matrices):
    """The same with a volume of 1, the sign kept."""
    return matrices / np.cbrt(np.linalg.det(matrices))[:, None, None]
