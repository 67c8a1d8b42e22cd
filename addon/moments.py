"""The moments of a bake at which a look pays: what was missed, lay deep, stood open, and broke."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..solver_core.diagnostics import overlaps_of_poses
from .joint_report import breaks_of
from .read.exported_scene import SceneExport

if TYPE_CHECKING:  # it loads Numba
    from ..solver_core import FrameReport, Trajectory

# So many moments of a kind at most, and so many frames at least between two of them.
_MOST, _APART = 3, 6
# Of the smaller body's size: overlaps and openings below are not seen.
_RATIO_SEEN = 0.01


def moments_of(export: SceneExport, trajectory: "Trajectory") -> list[dict[str, Any]]:
    """The worst moments of each kind, in the order of their frames.

    Parameters
    ----------
    export : SceneExport
    trajectory : Trajectory

    Returns
    -------
    list of dict
        ``kind``, ``frame`` (of the scene), ``object`` and ``other`` (names, or None), and ``value``: of "missed" the
        residual of the worst contact of a frame with missed solves, as a share of the speed that it had to stop; of
        "overlap" how deep [m] the two bodies are that lie deepest for their size, in the frame of the deepest overlap;
        of "opening" how far [m] the joint is open that is open farthest; of "breaks" how many joints broke.
    """
    reports = trajectory.reports
    found = [_missed(export, report) for report in _worst(reports, _residual)]
    found += [_breaks(entries) for entries in _worst(_broken_by_frame(export, trajectory), len)]
    if reports:
        found += _deepest(export, trajectory) + _widest(export, reports)
    return sorted(found, key=lambda moment: (moment["frame"], moment["kind"]))


def _moment(kind, frame, value, name=None, other=None):
    return {"kind": kind, "frame": int(frame), "value": float(f"{value:.4g}"), "object": name, "other": other}


def _worst(frames, size):
    """The largest of a list of frames, as far apart as a look shows others; none of size 0."""
    chosen: list[int] = []
    for place in sorted(range(len(frames)), key=lambda place: (-size(frames[place]), place)):
        if len(chosen) == _MOST or not size(frames[place]) > 0:
            break
        if all(abs(place - other) >= _APART for other in chosen):
            chosen.append(place)
    return [frames[place] for place in chosen]


def _residual(report):
    return report.residual if report.missed else 0.0


def _missed(export, report):
    first, _, other = report.worst.partition(" on ")
    known = {body.object_name for body in export.bodies}
    named = (first, other) if first in known and other in known else (report.worst or None, None)
    return _moment("missed", export.frame_start + report.frame, report.residual, *named)


def _broken_by_frame(export, trajectory):
    """Of each frame, those joints that broke in it."""
    broken: list[list] = [[] for _ in trajectory.reports]
    for entry in breaks_of(export, trajectory):
        broken[entry.frame - export.frame_start - 1].append(entry)
    return broken


def _breaks(entries):
    return _moment("breaks", entries[0].frame, len(entries), entries[0].glue or entries[0].joint)


def _deepest(export, trajectory):
    """The overlap that is deepest for its size, in the frame of the deepest one; none that nobody sees."""
    depths = [report.max_penetration for report in trajectory.reports]
    moves = [body.index for body in export.bodies if body.moves]
    place, model = int(np.argmax(depths)), export.model
    if not moves or not depths[place] > _RATIO_SEEN * model.arrays.size[moves].min():
        return []
    found = overlaps_of_poses(model, trajectory.position[place + 1], trajectory.orientation[place + 1])
    if not found or not found[0].share > _RATIO_SEEN:
        return []
    deepest, names = found[0], model.names
    at = export.frame_start + place + 1
    return [_moment("overlap", at, deepest.depth, names[deepest.body_a], names[deepest.body_b])]


def _widest(export: SceneExport, reports: "list[FrameReport]"):
    """The joint that is open farthest of all frames, where that is seen."""
    sizes = dict(zip(export.model.names, export.model.arrays.size.tolist(), strict=True))
    worst: tuple[float, int, int] = (0.0, 0, 0)
    for report in reports:
        if report.joints is not None and export.joints:
            open_by = np.where(report.joints.broken, 0.0, report.joints.error_linear)[: len(export.joints)]
            worst = max(worst, (float(open_by.max()), -report.frame, int(np.argmax(open_by))))
    value, frame, row = worst
    if not value > 0.0:
        return []
    joint = export.joints[row]
    least = min(sizes.get(name, np.inf) for name in (joint.first, joint.second))
    if not value > _RATIO_SEEN * least:
        return []
    return [_moment("opening", export.frame_start - frame, value, joint.owner or joint.object_name)]
