"""What a bake has given."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .read.exported_scene import SceneExport

if TYPE_CHECKING:  # they load Numba
    from ..solver_core import FrameReport, Trajectory


@dataclass(frozen=True)
class BakeResult:
    """What a bake has given.

    Attributes
    ----------
    trajectory : Trajectory
    reports : list of FrameReport
    summary : str
        The bake in a sentence.
    report : dict
        As the command line writes it (``cairn bake --report``).
    stopped : bool
        Ended by the user; the frames so far are kept.
    paused : bool
        Ended at a checkpoint, from which another bake goes on; nothing was written (``CheckpointPlan.until``).
    error : str or None
        Why the simulation failed; the frames before are kept.
    kept_earlier : bool
        It has ended early and the scene still has the bake before it, which has frames that this one lacks.
    frame_start, frame_end : int
        What was baked.
    checkpoint_frame : int or None
        Where a bake can go on: the last frame, or one before it, since a process beside Blender hands over a checkpoint
        every now and then. None if there is none.
    export : SceneExport
        The scene as it was read.
    digest : dict
        Of ``scene_digest``, of the scene as it was read.
    """

    trajectory: "Trajectory"
    reports: "list[FrameReport]"
    summary: str
    report: dict[str, Any]
    stopped: bool
    paused: bool
    error: str | None
    kept_earlier: bool
    frame_start: int
    frame_end: int
    checkpoint_frame: int | None
    export: SceneExport
    digest: dict[str, Any]
