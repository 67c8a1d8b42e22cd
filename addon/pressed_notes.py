"""What a bake says of bodies that something keyed presses where they have no way out, and so lie in it.

No motion is right then, and the animator can mend it: a press that stops higher, a way out, a smaller body.
"""

from itertools import groupby
from typing import TYPE_CHECKING

from ..solver_core.diagnostics import overlaps_at_start, overlaps_of_poses
from ..solver_core.model.model import BodyKind
from .read.exported_scene import SceneExport
from .read.notes import Note

if TYPE_CHECKING:  # it loads Numba
    from ..solver_core import Trajectory

# Bodies that lie deeper in something keyed than this share of their size are named: that is seen.
_RATIO_PRESSED = 0.1
# Of so many times at which overlaps are deep, the deepest, poses are looked at.
_MOST_TIMES = 8


def pressed_notes(export: SceneExport, trajectory: "Trajectory") -> list[Note]:
    """Notes on bodies that are pressed into something keyed, at the frame in which most of all was deep.

    What lay as deep in it at the start is the scene's own.
    """
    model = export.model
    kind, size = model.initial_state.kind, model.arrays.size
    if not (kind == BodyKind.KINEMATIC).any() or not (kind == BodyKind.DYNAMIC).any():
        return []
    least = _RATIO_PRESSED * size[kind == BodyKind.DYNAMIC].min()
    depths = [report.max_penetration for report in trajectory.reports]
    times = [list(run) for deep, run in groupby(range(len(depths)), lambda frame: depths[frame] > least) if deep]
    frames = sorted((max(run, key=depths.__getitem__) for run in times), key=depths.__getitem__, reverse=True)
    found: dict[int, Note] = {}
    begun = None
    for frame in frames[:_MOST_TIMES]:
        if begun is None:
            begun = {(overlap.body_a, overlap.body_b): overlap.depth for overlap in overlaps_at_start(model)}
        # of each frame the poses at its end, of which the first is the start
        for overlap in overlaps_of_poses(model, trajectory.position[frame + 1], trajectory.orientation[frame + 1]):
            pair = overlap.body_a, overlap.body_b
            moving, other = pair if kind[pair[0]] == BodyKind.DYNAMIC else pair[::-1]
            is_pressed = kind[moving] == BodyKind.DYNAMIC and kind[other] == BodyKind.KINEMATIC
            at = export.frame_start + frame + 1
            if is_pressed and overlap.share > _RATIO_PRESSED and overlap.depth > begun.get(pair, 0.0):
                text = (
                    f"is pressed {overlap.depth:.3g} into {model.names[other]} at frame {at}, "
                    f"{100.0 * overlap.share:.0f} % of its size: there is no room for it"
                )
                found.setdefault(moving, Note("warning", model.names[moving], text, (model.names[other],)))
    return list(found.values())
