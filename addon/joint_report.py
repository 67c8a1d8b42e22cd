"""What a bake says of its joints: how far each is open and what it bears in every frame, and which broke, when."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .read.exported_scene import SceneExport
from .read.notes import Note

if TYPE_CHECKING:  # they load Numba
    from ..solver_core import FrameReport, Trajectory

# Of each number of a report: more would only make files longer.
_DIGITS = 4
# Broken joints that a command names one by one; a wall of glue breaks in hundreds of places.
NAMED_BREAKS = 20


@dataclass(frozen=True)
class JointBreak:
    """A joint that broke.

    Attributes
    ----------
    joint : str
    frame : int
        Of the scene, at whose end it was broken.
    force, torque : float
        What it bore in the substep in which it broke [N], [N m].
    """

    joint: str
    frame: int
    force: float
    torque: float


def frame_joints(report: "FrameReport", names: list[str]) -> dict[str, Any]:
    """The joints of one frame, as the report has them: a number a joint, in the order of ``names``."""
    joints = report.joints
    if joints is None:
        return {}
    # A broken joint bears nothing, but in the frame in which it broke it did.
    bears = ~joints.broken | np.isin(names, report.broke)
    return {
        "joints": {
            "error": _rounded(np.where(joints.broken, 0.0, joints.error_linear)),
            "error_angle": _rounded(np.where(joints.broken, 0.0, joints.error_angular)),
            "force": _rounded(np.where(bears, np.linalg.norm(joints.force, axis=1), 0.0)),
            "torque": _rounded(np.where(bears, np.linalg.norm(joints.torque, axis=1), 0.0)),
        }
    }


def breaks_of(export: SceneExport, trajectory: "Trajectory") -> list[JointBreak]:
    """Joints that broke, in the order in which they did."""
    breaks = []
    before = np.zeros(len(export.joints), bool)
    for report in trajectory.reports:
        if report.joints is None:
            continue
        for row in np.flatnonzero(report.joints.broken & ~before):
            force, torque = (np.linalg.norm(load[row]) for load in (report.joints.force, report.joints.torque))
            frame = export.frame_start + report.frame
            breaks.append(JointBreak(export.joints[row].object_name, frame, float(force), float(torque)))
        before = np.array(report.joints.broken)
    return breaks


def break_notes(breaks: list[JointBreak]) -> list[Note]:
    """Notes that say which joints broke, when and under what load; all loads in the same units, to be compared."""
    forces = in_prefix([entry.force for entry in breaks], "N")
    torques = in_prefix([entry.torque for entry in breaks], "N m")
    return [
        Note("info", entry.joint, f"broke at frame {entry.frame}, under {force} and {torque}")
        for entry, force, torque in zip(breaks, forces, torques, strict=True)
    ]


def in_prefix(values: list[float], unit: str) -> list[str]:
    """Numbers with three digits and one unit for all, in the prefix of the largest: "39.1 kN", "0.9 kN"."""
    largest = max(values, default=0.0)
    steps = next((step for step in (3, 2, 1) if largest >= 1000.0**step), 0)
    prefix = ("", "k", "M", "G")[steps]
    return [f"{_three_digits(value / 1000.0**steps)} {prefix}{unit}" for value in values]


def _three_digits(value):
    """Without an exponent."""
    return f"{float(f'{value:.3g}'):.10f}".rstrip("0").rstrip(".")


def break_lines(breaks: list[JointBreak]) -> list[str]:
    """The same as lines of a command's output: the first joints by name, the others counted."""
    lines = [f"{note.object_name} {note.text}" for note in break_notes(breaks[:NAMED_BREAKS])]
    rest = breaks[NAMED_BREAKS:]
    if rest:
        frames = f"frames {rest[0].frame} to {rest[-1].frame}" if len(rest) > 1 else f"frame {rest[0].frame}"
        more = f"{len(rest):,} more joint{'s' if len(rest) > 1 else ''}"
        lines.append(f"{more} broke, at {frames}; the report names {'them' if len(rest) > 1 else 'it'} (--report)")
    return lines


def _rounded(values) -> list[float]:
    return [float(f"{value:.{_DIGITS}g}") for value in values]
