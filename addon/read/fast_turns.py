"""How far driven bodies turn in a frame, where their poses at frames do not tell.

Poses tell a turn but for whole turns, and the shorter way round is not always the way: a disc keyed to turn by 200
degrees a frame would turn back by 160. What turns fast shows in the angles that are keyed or driven, of the body, of
its parents and of all that they follow, or in poses that are far apart. Then the frame is evaluated at so many places
that each turn between two of them is a small one, and these add up.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from .exported_scene import FrameSample, SceneExport
from .frame_samples import poses_at, view_layer_of
from .notes import Note
from .object_keys import find_object
from .scene_animation import action_curves
from .smooth_motion import turns_between

if TYPE_CHECKING:
    from collections.abc import Iterable

    import bpy

# Up to this turn a frame the shorter way round is the way [rad].
_TURN_PLAIN = 0.5 * math.pi
# A frame is evaluated at places with turns of about so much between them, and one of more than the second number
# between two of them is not known [rad].
_TURN_A_PLACE, _TURN_UNKNOWN = math.pi / 3.0, 0.75 * math.pi
# At no more places than this, and at so many where only the poses show that something is fast.
_MOST_PLACES, _PLACES_BY_POSE = 64, 16
# This share of a turn between two of so many places is a jump, as of a key that holds.
_RATIO_JUMP = 0.9


def keyed_turns(owners: "Iterable[bpy.types.ID]", frames: np.ndarray) -> np.ndarray:
    """The largest change of keyed angles of one object or bone, from each of ``frames`` to the next [len - 1, rad]."""
    largest = np.zeros(len(frames) - 1)
    for owner in owners:
        changes: dict[str, np.ndarray] = {}
        for curve in action_curves(owner):
            path = curve.data_path
            is_angle = path.endswith("rotation_euler") or (
                path.endswith("rotation_axis_angle") and curve.array_index == 0
            )
            if is_angle and not curve.mute:
                steps = np.abs(np.diff([curve.evaluate(frame) for frame in frames]))
                changes[path] = changes.get(path, 0.0) + steps
        largest = np.maximum(largest, sum(changes.values()))
    return largest


class FastTurns:
    """Watches the driven bodies of a bake, frame after frame.

    Parameters
    ----------
    export : SceneExport

    Attributes
    ----------
    unknown : dict of str to int
        The first frame in which a body turns so fast that nothing tells how far, by its name.
    """

    def __init__(self, export: SceneExport):
        self._export = export
        self._bodies = [body for body in export.bodies if body.follows]
        self._angles = [body.angles_start for body in self._bodies]
        self._orientation = export.default_sample.orientation
        self.unknown: dict[str, int] = {}

    def note(self, scene: "bpy.types.Scene", sample: FrameSample, shown: "bpy.types.Scene | None" = None) -> None:
        """Write ``sample.turns`` of the frame after the last one; call it right after ``sample_frame``."""
        shown = shown or scene
        depsgraph = view_layer_of(shown).depsgraph
        by_pose = np.linalg.norm(turns_between(self._orientation, sample.orientation), axis=1)
        step = sample.frame - self._export.frame_start - 1
        by_keys = self._export.keyed_turns[step] if step < len(self._export.keyed_turns) else 0.0
        fast, places = [], 1
        for row, body in enumerate(self._bodies):
            angles = angles_of(find_object(body.object_name, body.library).evaluated_get(depsgraph))
            turn = max(by_keys, _change(self._angles[row], angles))
            self._angles[row] = angles
            if max(turn, by_pose[body.index]) > _TURN_PLAIN:
                fast.append(body)
                needed = math.ceil(turn / _TURN_A_PLACE) if turn > _TURN_PLAIN else _PLACES_BY_POSE
                places = min(max(places, needed), _MOST_PLACES)
        if fast:
            self._add_up(scene, shown, fast, sample, places)
        self._orientation = sample.orientation

    def _add_up(self, scene, shown, bodies, sample, places):
        rows = [body.index for body in bodies]
        before, parts = self._orientation[rows], []
        for place in range(1, places + 1):
            after = sample.orientation[rows]
            if place < places:
                _, after = poses_at(scene, shown, bodies, sample.frame - 1 + place / places)
            parts.append(turns_between(before, after))
            before = after
        sizes = np.linalg.norm(parts, axis=2)
        for row, body in enumerate(bodies):
            if sizes[:, row].max() <= _TURN_UNKNOWN:
                sample.turns[body.index] = np.sum(parts, axis=0)[row]
            elif sizes[:, row].max() < _RATIO_JUMP * sizes[:, row].sum():
                self.unknown.setdefault(body.object_name, sample.frame)


def unknown_notes(unknown: dict[str, int]) -> list[Note]:
    """What is to be said of bodies whose turns nothing tells."""
    text = (
        "turns so fast from frame {} on that its animation does not tell how far: it is taken to go the shorter way "
        "round; key its rotation as Euler angles"
    )
    return [Note("warning", name, text.format(frame)) for name, frame in unknown.items()]


def angles_of(evaluated: "bpy.types.Object") -> list[float]:
    """Angles of an evaluated object and its parents: of keys, drivers and strips, and not taken modulo a turn [rad]."""
    angles, owner = [], evaluated
    while owner is not None:
        angles += [*owner.rotation_euler, owner.rotation_axis_angle[0]]
        owner = owner.parent
    return angles


def _change(before, after) -> float:
    if len(before) != len(after):
        return 0.0
    return sum(abs(one - other) for one, other in zip(before, after, strict=True))
