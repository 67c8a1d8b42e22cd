"""Recorded motion: the poses of all user frames at the start and after every frame, with the frames' reports."""

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .report import FrameReport

# Frames that a new trajectory has room for; it doubles when they are used up.
_FIRST_CAPACITY = 64


class Trajectory:
    """Poses frame by frame; index 0 is the start.

    Parameters
    ----------
    position, orientation : float64 [body_count, 3], [body_count, 4]
        Start poses of the user frames, as ``Simulation.poses`` gives them.
    """

    def __init__(self, position: np.ndarray, orientation: np.ndarray):
        body_count = len(position)
        self._position = np.empty((_FIRST_CAPACITY, body_count, 3))
        self._orientation = np.empty((_FIRST_CAPACITY, body_count, 4))
        self._count = 0
        self.reports: list[FrameReport] = []
        self._store(position, orientation)

    def append(self, position: np.ndarray, orientation: np.ndarray, report: "FrameReport") -> None:
        """Add the poses after one more frame, and its ``FrameReport``."""
        self._store(position, orientation)
        self.reports.append(report)

    @property
    def joint_force(self) -> np.ndarray | None:
        """Forces of the joints on their bodies b, float64 [frame_count, joint_count, 3] [N]; None without joints."""
        return self._of_joints("force")

    @property
    def joint_torque(self) -> np.ndarray | None:
        """Likewise their torques [N m]."""
        return self._of_joints("torque")

    @property
    def joint_broken(self) -> np.ndarray | None:
        """Which joints were broken at the end of each frame, bool [frame_count, joint_count]; None without joints."""
        return self._of_joints("broken")

    def _of_joints(self, name):
        joints = [report.joints for report in self.reports]
        return None if not joints or joints[0] is None else np.stack([getattr(joint, name) for joint in joints])

    def _store(self, position, orientation):
        if self._count == len(self._position):
            self._position = np.concatenate([self._position, np.empty_like(self._position)])
            self._orientation = np.concatenate([self._orientation, np.empty_like(self._orientation)])
        self._position[self._count] = position
        self._orientation[self._count] = orientation
        self._count += 1

    @property
    def frame_count(self) -> int:
        """Frames simulated; there is one pose more."""
        return self._count - 1

    @property
    def position(self) -> np.ndarray:
        """Positions of the user frames, float64 [frame_count + 1, body_count, 3]."""
        return self._position[: self._count]

    @property
    def orientation(self) -> np.ndarray:
        """Unit quaternions (w, x, y, z) of the user frames, float64 [frame_count + 1, body_count, 4]."""
        return self._orientation[: self._count]

    def digest(self) -> str:
        """SHA-256 of all poses, to the bit: equal digests are equal motions."""
        digest = hashlib.sha256()
        digest.update(np.ascontiguousarray(self.position).tobytes())
        digest.update(np.ascontiguousarray(self.orientation).tobytes())
        return digest.hexdigest()
