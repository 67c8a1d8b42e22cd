"""With which velocity a driven body is let go: that of its animation just before, whatever comes after it.

The derivative at a frame is taken from the poses before it by backward differences of all orders,

    x' = V x + V^2 x / 2 + V^3 x / 3 + ...,

whose last two terms say how large the next one would be. Frames come first: animation that was keyed at each frame is
meant as the curve through the keys, whatever Blender does between them. Where the frames do not tell, as of what was at
rest three frames ago, or is fast, quarters and sixteenths of the last frame do.
"""

from typing import TYPE_CHECKING

import numpy as np

from ...solver_core.model.model import BodyKind
from .exported_scene import FrameSample, SceneExport
from .frame_samples import poses_at
from .smooth_motion import turns_between

if TYPE_CHECKING:
    import bpy

# Of a frame, from one pose to the next.
_SPACINGS = (1.0, 0.25, 0.0625)
_POSES = 6
# The derivative counts as known if the next term would be less than this share of it.
_RATIO_CONVERGED = 2e-4


def note_let_go(
    scene: "bpy.types.Scene",
    export: SceneExport,
    before: FrameSample,
    sample: FrameSample,
    shown: "bpy.types.Scene | None" = None,
) -> None:
    """Write ``before.let_go``, of bodies that are driven in that frame and dynamic in the one after it, ``sample``.

    Call it as ``sample_frame``.
    """
    released = (before.kind == BodyKind.KINEMATIC) & (sample.kind == BodyKind.DYNAMIC)
    bodies = [export.bodies[row] for row in np.flatnonzero(released)]
    bodies = [body for body in bodies if body.follows]
    if not bodies or before.frame == export.frame_start:
        return
    velocity = np.zeros((len(bodies), 6))
    open_columns = np.ones((len(bodies), 2), bool)
    for spacing in _SPACINGS:
        times = before.frame - spacing * np.arange(_POSES)
        if spacing == 1.0 and times[-1] < export.frame_start:
            continue
        poses = [poses_at(scene, shown or scene, bodies, time) for time in times]
        places = np.array([position for position, _ in poses])
        turns = np.array([turns_between(poses[0][1], orientation) for _, orientation in poses])
        for part, values in enumerate((places, turns)):
            columns = slice(3 * part, 3 * part + 3)
            derivative, error = _backward(values)
            rows = open_columns[:, part]
            velocity[rows, columns] = derivative[rows] / spacing
            size = np.linalg.norm(derivative, axis=1)
            open_columns[:, part] &= error > _RATIO_CONVERGED * size
        if not open_columns.any():
            break
    before.let_go = {body.index: velocity[row] for row, body in enumerate(bodies)}


def _backward(values):
    """Derivative at the first of some values [m, n, k], the later ones one step earlier each, and its error [n]."""
    total, differences, terms = np.zeros(values.shape[1:]), values, []
    for order in range(1, len(values)):
        differences = differences[:-1] - differences[1:]
        terms.append(differences[0] / order)
        total += terms[-1]
    last, one_before = np.linalg.norm(terms[-1], axis=1), np.linalg.norm(terms[-2], axis=1)
    return total, last * last / np.maximum(one_before, np.finfo(float).tiny)
