"""Notes on what has happened in a bake, which are known once its frames are simulated."""

import itertools
from typing import TYPE_CHECKING

from .joint_report import break_notes, breaks_of
from .pressed_notes import pressed_notes
from .read.exported_scene import SceneExport
from .read.notes import Note
from .write import spin

if TYPE_CHECKING:  # it loads Numba
    from ..solver_core import Trajectory


_LOST = "its motion grew beyond all numbers; look for what drives it, such as a field, a motor or a speed at the start"


def add_late_notes(export: SceneExport, trajectory: "Trajectory", turns: dict[int, dict]) -> None:
    """Add to the notes of a scene what has happened: before all else, since the rest was known before.

    Parameters
    ----------
    export : SceneExport
    trajectory : Trajectory
    turns : dict of int to dict
        By frame of the trajectory, the bodies that turn far in it.
    """
    breaks = break_notes(breaks_of(export, trajectory))
    lost = _lost_notes(export, trajectory)
    export.notes[:0] = [*lost, *pressed_notes(export, trajectory), *breaks, *_woken_notes(export, trajectory)]
    every = itertools.chain.from_iterable(of_frame.items() for of_frame in turns.values())
    names = [body.object_name for body in export.bodies]
    for body in sorted({body for body, turn in every if spin.is_too_fast(turn)}):
        export.notes.append(Note("warning", names[body], spin.TOO_FAST))


def _lost_notes(export, trajectory):
    """Bodies whose motion was no number any more."""
    return [
        Note("warning", name, f"is held where it was before frame {export.frame_start + report.frame}: {_LOST}")
        for report in trajectory.reports
        for name in report.lost
    ]


def _woken_notes(export, trajectory):
    """Bodies that have waited, and when each woke first; joints that were let go, and that hold since."""
    first: dict[str, int] = {}
    for report in trajectory.reports:
        for name in report.activated:
            first.setdefault(name, export.frame_start + report.frame)
    notes = [Note("info", name, f"is awake from frame {frame} on") for name, frame in first.items()]
    for report in trajectory.reports:
        frame = export.frame_start + report.frame
        notes += [Note("info", name, f"let its bodies go in frame {frame}") for name in report.let_go]
        notes += [Note("info", name, f"holds from frame {frame} on") for name in report.joined]
    return notes
