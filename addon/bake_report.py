"""What is said of a bake: its report for programs, and the sentence for people."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import bpy

from .. import __version__
from .joint_kinds import joint_counts
from .joint_report import breaks_of, frame_joints, peak_loads
from .moments import moments_of
from .read.exported_scene import ExportedBody, SceneExport
from .read.notes import note_dictionary
from .settings import BakeSettings

if TYPE_CHECKING:  # it loads Numba
    from ..solver_core import Trajectory

# Compilation that takes longer [s] is named apart from a bake's time; it comes once.
LONG_COMPILATION = 2.0
# A contact that is off by less than this share of the speed that it had to stop is not seen: hits in a heap stay some
# per cent off (docs/baking.md).
RATIO_VISIBLE = 0.05


def report_dictionary(
    export: SceneExport, trajectory: "Trajectory", settings: BakeSettings, totals: dict[str, Any]
) -> dict[str, Any]:
    """A bake's report, as ``cairn bake --report`` writes it."""
    names = [joint.object_name for joint in export.joints]
    asked = replace(settings, start=export.frame_start, end=export.frame_end)
    return {
        "cairn": __version__,
        "blender": bpy.app.version_string,
        "scene": bpy.data.filepath,
        "options": {**asdict(asked), "frame_rate": export.frame_rate},
        "notes": [note_dictionary(note) for note in export.notes],
        "joints": names,
        "breaks": [broken.as_dict() for broken in breaks_of(export, trajectory)],
        "peaks": peak_loads(export, trajectory),
        "moments": moments_of(export, trajectory),
        "frames": [
            {**report.as_dict(), "frame": export.frame_start + report.frame, **frame_joints(report, names)}
            for report in trajectory.reports
        ],
        "totals": totals,
    }


def totals_of(
    export: SceneExport, trajectory: "Trajectory", seconds_by_part: dict[str, float], seconds: float
) -> dict[str, Any]:
    """What a bake's report says of all frames together.

    Parameters
    ----------
    export : SceneExport
    trajectory : Trajectory
    seconds_by_part : dict of str to float
        Time of each part of the bake [s].
    seconds : float
        All of it [s].
    """
    reports = trajectory.reports
    worst = max(reports, key=lambda report: report.residual, default=None)
    stages: dict[str, float] = {}
    for report in reports:
        for stage, spent in report.seconds.items():
            stages[stage] = stages.get(stage, 0.0) + spent
    return {
        "frames": len(reports),
        "bodies": export.model.body_count,
        "moving": sum(body.moves for body in export.bodies),
        "joints": joint_counts(joint.kind for joint in export.joints),
        "seconds": seconds,
        "seconds_by_part": dict(seconds_by_part),
        "seconds_by_stage": stages,
        "contacts": max((report.contacts for report in reports), default=0),
        "iterations": sum(report.iterations for report in reports),
        "missed": sum(report.missed for report in reports),
        "max_penetration": max((report.max_penetration for report in reports), default=0.0),
        "worst": {
            "residual": worst.residual if worst else 0.0,
            "contact": worst.worst if worst else "",
            "object": _object_of(worst.worst, export.bodies) if worst else None,
            "frame": export.frame_start + worst.frame if worst else None,
        },
        "digest": trajectory.digest(),
    }


def _object_of(contact: str, bodies: list[ExportedBody]) -> str | None:
    """The first object of "Cube.014 on Floor" that moves; a name may itself hold " on "."""
    moves = {body.object_name: body.moves for body in bodies}
    parts = contact.split(" on ")
    for count in range(1, len(parts)):
        first, second = " on ".join(parts[:count]), " on ".join(parts[count:])
        if first in moves and second in moves:
            return first if moves[first] else second
    return contact if contact in moves else None


def summary_sentence(
    totals: dict[str, Any],
    kept: tuple[int, int] | None = None,
    kept_settings: bool = False,
    *,
    stopped: bool = False,
    error: str | None = None,
) -> str:
    """A bake in two sentences, from the totals of its report: whether it is good, and what was baked.

    Parameters
    ----------
    totals : dict
        Of ``totals_of``.
    kept : (int, int), optional
        First and last frame that an earlier bake has left.
    kept_settings : bool
        These have the settings that were set then.
    stopped : bool
    error : str, optional
    """
    compiling = totals["seconds_by_part"]["compile"]
    if compiling < LONG_COMPILATION:
        compiling = 0.0
    # the start pose is a frame too
    baked = f"{totals['frames'] + 1:,} frames"
    is_fetched = False
    if kept is not None:
        first, of_before = kept
        is_fetched = of_before >= first + totals["frames"]
        baked = (
            f"frames {first} to {of_before}" if is_fetched else f"frames {of_before + 1} to {first + totals['frames']}"
        )
    text = f"{'Fetched back' if is_fetched else 'Baked'} {baked} in {duration_text(totals['seconds'] - compiling)}"
    if compiling:
        text += f" after compiling for {duration_text(compiling)}"
    if kept and not is_fetched:
        text += f"; frames {kept[0]} to {kept[1]} are those of before" + (
            ", with their settings" if kept_settings else ""
        )
    sentences = [f"Failed: {error}"] if error else ["Stopped"] if stopped else []
    return ". ".join([*sentences, *_judgement(totals), text])


def _judgement(totals) -> list[str]:
    """The verdict and its reason, or nothing where nothing was solved."""
    worst = totals["worst"]
    if not totals["missed"]:
        return ["Good: all contacts within tolerance"] if totals["contacts"] else []
    solves, the_worst = f"{totals['missed']:,} solves", "the worst "
    if totals["missed"] == 1:
        solves, the_worst = "1 solve", ""
    reason = f"{solves} above tolerance, {the_worst}off by {percent_text(worst['residual'])} of the contact speed"
    reason += f" ({worst['contact']}, frame {worst['frame']})"
    if worst["residual"] < RATIO_VISIBLE:
        return [f"Good: {reason}, too little to see"]
    return [f"May be seen: {reason}; more Iterations or Substeps make it smaller"]


def percent_text(share: float) -> str:
    """A share with two digits, "0.034 %", "3.4 %", "190 %"."""
    percent = 100.0 * share
    if percent < 0.01:
        return "less than 0.01 %"
    if percent < 99.5:  # 100 in two digits would be 1e+02
        return f"{percent:.2g} %"
    return f"{float(f'{percent:.2g}'):,.0f} %"


def duration_text(seconds: float) -> str:
    """A duration as people say it: "0.4 s", "41 s", "3 min 20 s", "2 h 5 min"."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"
