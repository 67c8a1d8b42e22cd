"""Which driven bodies jump within a frame: by keys that hold (Constant), or by a Cycles modifier that begins anew.

What moves has a speed, so in half of the time it goes about half of its way. A jump is as long in any time. So the time
is halved, again and again, as long as nearly all of the way lies in one half; what has one speed or another ends that
at once. A body that jumps is at its new place from the frame's beginning on and pushes nothing on the way: the slat of
a belt that goes back to where it came from is not to take along what lies in between.
"""

from typing import TYPE_CHECKING

import numpy as np

from .exported_scene import FrameSample, SceneExport
from .frame_samples import poses_at

if TYPE_CHECKING:
    import bpy

# A shorter way than this share of the body's size is no jump that anything could be caught in.
_RATIO_SHORT = 0.5
# This share of the way in one half of the time, so many times one after the other: no speed does that.
_RATIO_OF_HALF, _HALVINGS = 0.75, 6


def note_jumps(
    scene: "bpy.types.Scene",
    export: SceneExport,
    before: np.ndarray,
    sample: FrameSample,
    shown: "bpy.types.Scene | None" = None,
) -> None:
    """Write ``sample.jumps``: which driven bodies jump from where they were a frame ``before`` [body_count, 3].

    Call it as ``sample_frame``. What a joint holds would be torn off by a jump,
    and is led there instead.
    """
    ways = np.linalg.norm(sample.position - before, axis=1)
    far = [export.bodies[row] for row in np.flatnonzero(ways > _RATIO_SHORT * export.model.arrays.size)]
    if far:
        held = {name for joint in export.joints for name in (joint.first, joint.second)}
        far = [body for body in far if body.follows and body.object_name not in held]
    if not far:
        return
    rows = [body.index for body in far]
    times, places = (sample.frame - 1, sample.frame), (before[rows], sample.position[rows])
    jumping = _jumping((scene, shown or scene), far, times, places, 0)
    if jumping:
        sample.jumps = np.zeros(len(export.bodies), bool)
        sample.jumps[[body.index for body in jumping]] = True


def _jumping(scenes, bodies, times, places, halvings):
    """Those of some bodies that jump between two times, from the first of two [body_count, 3] places to the second.

    ``scenes`` are the one that the bodies are in and the one whose frames are set.
    """
    if halvings == _HALVINGS or not bodies:
        return bodies
    middle = 0.5 * (times[0] + times[1])
    between, _ = poses_at(*scenes, bodies, middle)
    whole = np.linalg.norm(places[1] - places[0], axis=1)
    found = []
    for half, ends in ((times[0], middle), (places[0], between)), ((middle, times[1]), (between, places[1])):
        rows = np.flatnonzero(np.linalg.norm(ends[1] - ends[0], axis=1) > _RATIO_OF_HALF * whole)
        chosen = [bodies[row] for row in rows]
        found += _jumping(scenes, chosen, half, (ends[0][rows], ends[1][rows]), halvings + 1)
    return found
