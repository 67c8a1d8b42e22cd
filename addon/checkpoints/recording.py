"""What a bake has recorded so far, as arrays: poses, velocities and reports of some frames, and back."""

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # they load Numba
    from ...solver_core import FrameReport, Trajectory

_REPORTS = "reports"
# What frames have of contacts and breaks lies one after the other; and how much of it is each frame's.
_CONTACTS, _BREAKS, _LENGTHS = "frame_contacts.", "breaks.", "lengths."


@dataclass(frozen=True)
class Recording:
    """Frames of a bake; index 0 is the start pose.

    Attributes
    ----------
    position, orientation : float64 [frame_count + 1, body_count, 3], [frame_count + 1, body_count, 4]
        As in ``Trajectory``.
    velocity : float64 [frame_count + 1, body_count, 6]
        As ``Simulation.velocities`` gives them.
    reports : list of FrameReport
        One a frame after the start.
    """

    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    reports: "list[FrameReport]"

    @property
    def frame_count(self) -> int:
        """Frames simulated; there is one pose more."""
        return len(self.position) - 1

    def up_to(self, frame_count: int) -> "Recording":
        """Its first frames."""
        poses = slice(frame_count + 1)
        return Recording(
            self.position[poses], self.orientation[poses], self.velocity[poses], self.reports[:frame_count]
        )

    def trajectory(self) -> "Trajectory":
        """The same as the writer of keyframes takes it, and a simulation goes on with it."""
        from ...solver_core.trajectory import Trajectory

        trajectory = Trajectory(self.position[0], self.orientation[0])
        for frame, report in enumerate(self.reports, 1):
            trajectory.append(self.position[frame], self.orientation[frame], report)
        return trajectory


def piece_of(trajectory: "Trajectory", velocities: list[np.ndarray], first: int, last: int) -> dict[str, np.ndarray]:
    """Frames of a trajectory from ``first`` to ``last``, as arrays.

    Parameters
    ----------
    trajectory : Trajectory
    velocities : list of float64 [body_count, 6]
        Of all frames, the start pose first.
    first, last : int
        0 is the start pose.
    """
    frames = slice(first, last + 1)
    reports = trajectory.reports[max(first - 1, 0) : last]
    plain = [{name: getattr(report, name) for name in _plain_fields(report)} for report in reports]
    arrays = {
        "position": trajectory.position[frames],
        "orientation": trajectory.orientation[frames],
        "velocity": np.array(velocities[frames], float),
        _REPORTS: np.frombuffer(json.dumps(plain).encode(), np.uint8),
    }
    if reports and reports[0].joints is not None:
        for entry in fields(reports[0].joints):
            arrays[f"joints.{entry.name}"] = np.stack([getattr(report.joints, entry.name) for report in reports])
    if reports and reports[0].frame_contacts is not None:
        for entry in fields(reports[0].frame_contacts):
            parts = [getattr(report.frame_contacts, entry.name) for report in reports]
            arrays[f"{_CONTACTS}{entry.name}"] = np.concatenate(parts)
            arrays[f"{_LENGTHS}{entry.name}"] = np.array([len(part) for part in parts], np.int64)
    breaks = [report.breaks for report in reports]
    if any(of_frame is not None for of_frame in breaks):
        from ...solver_core.report import FrameBreaks

        parts = [FrameBreaks.joined([of_frame] if of_frame is not None else []) for of_frame in breaks]
        whole = FrameBreaks.joined(parts)
        arrays |= {f"{_BREAKS}{entry.name}": getattr(whole, entry.name) for entry in fields(whole)}
        arrays[f"{_LENGTHS}{_BREAKS}"] = np.array([len(part.body) for part in parts], np.int64)
    return arrays


def recording_of(pieces: list[dict[str, np.ndarray]]) -> Recording:
    """The frames of pieces that follow each other, the first of which begins with the start pose."""
    reports = [report for piece in pieces for report in _reports_of(piece)]
    poses = {
        name: np.concatenate([piece[name] for piece in pieces]) for name in ("position", "orientation", "velocity")
    }
    return Recording(**poses, reports=reports)


def _reports_of(piece) -> "list[FrameReport]":
    from ...solver_core.report import FrameBreaks, FrameContacts, FrameReport, JointReport

    joints: dict[str, Any] = {
        name.removeprefix("joints."): array for name, array in piece.items() if name.startswith("joints.")
    }
    reports, contacts, breaks = [], _contacts_of(piece), _breaks_of(piece)
    for index, plain in enumerate(json.loads(piece[_REPORTS].tobytes())):
        of_frame = JointReport(**{name: array[index] for name, array in joints.items()}) if joints else None
        touching = FrameContacts(**{name: parts[index] for name, parts in contacts.items()}) if contacts else None
        broken = FrameBreaks(**{name: parts[index] for name, parts in breaks.items()}) if breaks else None
        reports.append(FrameReport(**plain, joints=of_frame, frame_contacts=touching, breaks=broken))
    return reports


def _contacts_of(piece) -> dict[str, list[np.ndarray]]:
    """By name what each frame has of contacts."""
    return {
        name.removeprefix(_CONTACTS): np.split(
            array, np.cumsum(piece[f"{_LENGTHS}{name.removeprefix(_CONTACTS)}"])[:-1]
        )
        for name, array in piece.items()
        if name.startswith(_CONTACTS)
    }


def _breaks_of(piece) -> dict[str, list[np.ndarray]]:
    """By name what each frame has of breaks."""
    return {
        name.removeprefix(_BREAKS): np.split(array, np.cumsum(piece[f"{_LENGTHS}{_BREAKS}"])[:-1])
        for name, array in piece.items()
        if name.startswith(_BREAKS)
    }


def _plain_fields(report):
    from ...solver_core.report import PARTS

    return [entry.name for entry in fields(report) if entry.name not in PARTS]
