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
_OF_BONDS = frozenset({"glue", "pieces", "place"})


@dataclass(frozen=True)
class JointBreak:
    """A joint that broke.

    Attributes
    ----------
    joint : str
    frame : int
        Of the scene, at whose end it was broken.
    force, torque : float
        The load that broke it, as it counts for breaking: what hits, over the time of Blender's substep [N], [N m].
    bears : float or None
        The force [N], and the torque [N m], at which it breaks by its threshold; None where that is animated.
    glue : str or None
        Of a bond: the name of its glue object.
    pieces : tuple of str
        Of a bond: the names of its pieces.
    place : tuple of float
        Of a bond: where it was at that frame [m].
    """

    joint: str
    frame: int
    force: float
    torque: float
    bears: float | None = None
    glue: str | None = None
    pieces: tuple[str, ...] = ()
    place: tuple[float, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As reports hold it: what is said of bonds alone is left out of other joints."""
        return {name: value for name, value in vars(self).items() if self.glue or name not in _OF_BONDS}


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
            force, torque = report.joints.peak_force[row], report.joints.peak_torque[row]
            frame = export.frame_start + report.frame
            joint = export.joints[row]
            bears = None if joint.breaking_changes else joint.breaking_load
            bond = {} if joint.owner is None else _bond_break(export, trajectory, joint, report.frame)
            breaks.append(JointBreak(joint.object_name, frame, float(force), float(torque), bears, **bond))
        before = np.array(report.joints.broken)
    return breaks


def _bond_break(export, trajectory, joint, frame):
    """What else is said of a bond that broke: of which pieces, and where."""
    from ..solver_core.geometry import rotations

    row = next(body.index for body in export.bodies if body.object_name == joint.first)
    start, turn = trajectory.position[0, row], trajectory.orientation[0, row]
    local = rotations.rotate(rotations.conjugate(turn), np.array(joint.position) - start)
    place = trajectory.position[frame, row] + rotations.rotate(trajectory.orientation[frame, row], local)
    return {"glue": joint.owner, "pieces": (joint.first, joint.second), "place": tuple(_rounded(place))}


def peak_loads(export: SceneExport, trajectory: "Trajectory") -> dict[str, dict[str, Any]]:
    """The largest force [N] and torque [N m] of each joint that can break, by its object: what it must bear to hold.

    Of bonds also the largest load over what it bears ("stress"), and the name of the glue object.
    """
    reports = [report.joints for report in trajectory.reports if report.joints is not None]
    if not reports:
        return {}
    force = np.max([joints.peak_force for joints in reports], axis=0)
    torque = np.max([joints.peak_torque for joints in reports], axis=0)
    stress = np.max([joints.peak_stress for joints in reports], axis=0)
    peaks: dict[str, dict[str, Any]] = {}
    for row, joint in enumerate(export.joints):
        if joint.breaking_changes or joint.breaking_load is not None or joint.owner is not None:
            bore, turned, of_strength = _rounded([force[row], torque[row], stress[row]])
            peaks[joint.object_name] = {"force": bore, "torque": turned}
            if joint.owner is not None:
                peaks[joint.object_name] |= {"stress": of_strength, "glue": joint.owner}
    return peaks


def break_notes(breaks: list[JointBreak]) -> list[Note]:
    """Notes that say which joints broke, when, under what load, and what each bears; all in one unit."""
    loads = [load for entry in breaks for load in (entry.force, entry.torque, entry.bears or 0.0)]
    forces, torques = in_prefix(loads, "N"), in_prefix(loads, "N m")
    notes = []
    for number, entry in enumerate(breaks):
        text = f"broke at frame {entry.frame}, under {forces[3 * number]} and {torques[3 * number + 1]}"
        if entry.glue is not None:
            first, second = entry.pieces
            notes.append(Note("info", entry.glue, f"its bond of {first} and {second} {text}", entry.pieces))
            continue
        if entry.bears is not None:
            text += f"; by its Breaking Threshold it bears {bears_text(forces[3 * number + 2])}"
        notes.append(Note("info", entry.joint, text))
    return notes


def bears_text(force: str) -> str:
    """A load that is a force and a torque of the same number: "4.8 kN, or 4.8 kN m"."""
    return f"{force}, or {force} m"


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
