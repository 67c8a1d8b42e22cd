"""What moves by itself in a scene: keys, drivers, parents, constraints and the armatures behind them.

An object's pose must be read in every frame if anything that it depends on may change. Evaluating all frames to find
out would cost as much as the bake's own sampling, so this file reads the reasons instead: it follows parents and
constraint targets and looks for animation at each of them. It errs on the side of reading a pose too often.
"""

import bpy
import numpy as np

from ..write import fcurves
from .keyed import muted_by_bake, user_curves
from .scene_poses import matrix_with_scale

# Channels of an object that only change how it looks.
CHANNELS_OF_LOOKS = ("hide_", "color", "show_", "pass_index", "visible_", "cycles", "display")
# Channels of an object that never change where it is or what it weighs.
_CHANNELS_WITHOUT_MOTION = (*CHANNELS_OF_LOOKS, "rigid_body", "modifiers", "cairn")
# Channels of a scene that matter to a simulation.
SCENE_CHANNELS = ("rigidbody_world", "gravity", "use_gravity", "render.fps")
SCALE_CHANNELS = ("scale", "delta_scale")
# Of whether a body is dynamic; "*" may be any.
FLAG_CHANNELS = ("rigid_body.kinematic", "rigid_body.enabled", "*")
_PLACE_CHANNELS = ("location", "delta_location")
# What stands for a keyed scale of 0, as a share of the longest axis. Dimensionless.
_RATIO_OF_NOTHING = 1e-3
# Ratios of scales that differ by less are equal: keys are float32.
_SAME_RATIO = 1e-5

# Constraints that may move an object without a target that is seen to move.
_CONSTRAINTS_OF_TIME = {
    "FOLLOW_PATH",
    "FOLLOW_TRACK",
    "CAMERA_SOLVER",
    "OBJECT_SOLVER",
    "TRANSFORM_CACHE",
    "GEOMETRY_ATTRIBUTE",
}


# Modifiers that change a mesh in time with no key of their own.
_MODIFIERS_OF_TIME = {
    "BUILD",
    "CLOTH",
    "DYNAMIC_PAINT",
    "EXPLODE",
    "FLUID",
    "MESH_CACHE",
    "MESH_SEQUENCE_CACHE",
    "OCEAN",
    "PARTICLE_INSTANCE",
    "SOFT_BODY",
    "WAVE",
}
# Shapes that Blender makes of the mesh that the body's Source names; all others of the final mesh's bounding box.
_SHAPES_OF_SOURCE = {"CONVEX_HULL", "MESH"}


def action_curves(owner) -> list:
    """F-curves that ``owner`` (an object, a scene, an armature) plays from its own action and slot without a bake."""
    if getattr(owner, "animation_data", None) is None:
        return []
    return list(user_curves(owner).values())


def animated_paths(owner) -> set[str]:
    """Data paths that an action's curves or drivers change; ``"*"`` stands for the NLA's, which may be any."""
    animation = getattr(owner, "animation_data", None)
    if animation is None:
        return set()
    paths = {curve.data_path for curve in action_curves(owner)}
    if animation.drivers:
        muted = muted_by_bake(owner)
        paths.update(one.data_path for one in animation.drivers if not one.mute or fcurves.key_of(one) in muted)
    if any(not track.mute and track.strips for track in animation.nla_tracks):
        paths.add("*")
    return paths


def flag_values(ob, flag: str, frames: np.ndarray) -> np.ndarray | None:
    """Values of ``ob.rigid_body.<flag>`` at ``frames``; None where only an evaluation can tell (driver, NLA)."""
    path = f"rigid_body.{flag}"
    if "*" in animated_paths(ob):
        return None
    if any(driver.data_path == path for driver in ob.animation_data.drivers) if ob.animation_data else False:
        return None
    curve = next((curve for curve in action_curves(ob) if curve.data_path == path and not curve.mute), None)
    if curve is None:
        return np.full(len(frames), getattr(ob.rigid_body, flag))
    # Blender's animation system reads a flag as on from 1 up: 0.99 is off.
    return np.array([curve.evaluate(frame) > 1.0 - np.finfo(np.float32).eps for frame in frames])


def flags_animated(ob) -> bool:
    """Whether ``kinematic`` or ``enabled`` may change in time."""
    return not animated_paths(ob).isdisjoint(FLAG_CHANNELS)


def scene_animated(scene) -> bool:
    """Whether gravity, the frame rate or something of the Rigid Body World has keys or drivers."""
    return any(path == "*" or path.startswith(SCENE_CHANNELS) for path in animated_paths(scene))


def scale_animated(ob) -> bool:
    """Whether the object's own scale has keys or drivers."""
    return not animated_paths(ob).isdisjoint(SCALE_CHANNELS)


def scales_evenly(ob, frames: np.ndarray) -> bool:
    """Whether the object's own scale keeps its three ratios at ``frames``; False where only an evaluation can tell."""
    if not animated_paths(ob).isdisjoint({"*", "delta_scale"}):
        return False
    if ob.animation_data and any(driver.data_path == "scale" for driver in ob.animation_data.drivers):
        return False
    values = np.tile(np.array(ob.scale, float)[:, None], len(frames))
    for curve in action_curves(ob):
        if curve.data_path == "scale" and not curve.mute:
            values[curve.array_index] = [curve.evaluate(frame) for frame in frames]
    if not values.all():
        return False
    ratios = values / values[:, :1]
    return bool(np.ptp(ratios, axis=0).max() <= _SAME_RATIO * np.abs(ratios).max())


def largest_scale(ob, frames):
    """The frame of ``frames`` (a range) at which the object's own keyed scale has the largest volume, and that scale.

    None if it is not keyed, or where only an evaluation can tell: constraints, drivers, strips and delta scales.
    """
    if not scale_animated(ob) or len(ob.constraints) or not animated_paths(ob).isdisjoint({"*", "delta_scale"}):
        return None
    if ob.animation_data and any(driver.data_path == "scale" for driver in ob.animation_data.drivers):
        return None
    values = np.tile(np.array(ob.scale, float)[:, None], len(frames))
    for curve in action_curves(ob):
        if curve.data_path == "scale" and not curve.mute:
            values[curve.array_index] = [curve.evaluate(frame) for frame in frames]
    largest = int(np.argmax(np.abs(values.prod(axis=0))))
    return frames[largest], values[:, largest]


def give_least_scale(evaluated, matrices):
    """Give objects whose scale is keyed, and is 0 along some axis, a thousandth of the longest axis there, or of 1.

    What pops in has directions that a matrix of zeros does not tell. ``matrices`` [n, 4, 4] are written.
    """
    for row in np.flatnonzero((matrices[:, :3, :3] == 0.0).all(axis=1).any(axis=1)):
        ob, scale = evaluated[row], np.array(evaluated[row].scale, float)
        if not scale.all() and scale_animated(ob.original) and not len(ob.constraints):
            least = _RATIO_OF_NOTHING * (np.abs(scale).max() or 1.0)
            matrices[row] = matrix_with_scale(ob, np.where(scale == 0.0, least, scale))


class AnimationSurvey:
    """Answers whether the pose of an object may change in time, and remembers what it has looked at.

    Attributes
    ----------
    owners : dict
        Everything animated that was met, by name; their keys belong to the scene's fingerprint.
    """

    def __init__(self):
        self.owners = {}
        self._answers: dict[str, bool] = {}

    def may_move(self, ob) -> bool:
        """Whether ``ob.matrix_world`` may change in time, Cairn's and Blender's simulation aside."""
        key = ob.name_full
        if key not in self._answers:
            # A cycle of parents or targets adds nothing to what its members answer themselves.
            self._answers[key] = False
            self._answers[key] = self._moves_itself(ob) or self.parent_may_move(ob) or self._constraints_move(ob)
        return self._answers[key]

    def moves_within_parent(self, ob) -> bool:
        """Whether the pose relative to the parent may change in time, or the object's own scale."""
        return self._moves_itself(ob) or self._constraints_move(ob)

    def turns_within_parent(self, ob) -> bool:
        """Whether the rotation relative to the parent may change in time."""
        still = (*_CHANNELS_WITHOUT_MOTION, *SCALE_CHANNELS, *_PLACE_CHANNELS)
        return any(not path.startswith(still) for path in animated_paths(ob)) or self._constraints_move(ob)

    def shape_may_change(self, ob) -> bool:
        """Whether the mesh that the body's shape is made of may change in time, the object's scale aside.

        A compound parent counts as what it is without children: its own mesh's hull.
        """
        if animated_paths(ob.data):
            return True
        if ob.rigid_body.collision_shape in _SHAPES_OF_SOURCE and ob.rigid_body.mesh_source == "BASE":
            return False
        keys = getattr(ob.data, "shape_keys", None)
        return (keys is not None and bool(animated_paths(keys))) or any(
            modifier.show_viewport and self._modifier_changes(ob, modifier) for modifier in ob.modifiers
        )

    def _modifier_changes(self, ob, modifier) -> bool:
        start = f'modifiers["{bpy.utils.escape_identifier(modifier.name)}"]'
        if modifier.type in _MODIFIERS_OF_TIME or any(path.startswith(start) for path in animated_paths(ob)):
            return True
        pointers = [prop for prop in modifier.bl_rna.properties if prop.type == "POINTER"]
        targets = [getattr(modifier, prop.identifier) for prop in pointers]
        return any(isinstance(target, bpy.types.Object) and self._target_moves(target) for target in targets)

    def parent_may_move(self, ob) -> bool:
        """Whether the parents' part of the pose may change in time."""
        if ob.parent is None:
            return False
        if self._target_moves(ob.parent):
            return True
        # Vertices may move by modifiers and physics that leave no trace in any action.
        return ob.parent_type in {"VERTEX", "VERTEX_3"} and bool(ob.parent.modifiers)

    def _moves_itself(self, ob) -> bool:
        paths = animated_paths(ob)
        moving = any(not path.startswith(_CHANNELS_WITHOUT_MOTION) for path in paths)
        if paths:
            self.owners[ob.name_full] = ob
        return moving

    def _constraints_move(self, owner) -> bool:
        muted = muted_by_bake(owner) if len(owner.constraints) else ()
        return any(
            self._constraint_moves(constraint)
            for constraint in owner.constraints
            if not constraint.mute or constraint.name in muted
        )

    def _constraint_moves(self, constraint) -> bool:
        if constraint.type in _CONSTRAINTS_OF_TIME:
            return True
        targets = [getattr(constraint, "target", None), getattr(constraint, "pole_target", None)]
        targets += [entry.target for entry in getattr(constraint, "targets", ())]
        return any(self._target_moves(target) for target in targets if target is not None)

    def _target_moves(self, target) -> bool:
        """Whether anything that a child or a constraint takes from ``target`` may change: pose, bones or shape."""
        if self.may_move(target):
            return True
        data = target.data
        for owner in (data, getattr(data, "shape_keys", None)):
            if owner is not None and animated_paths(owner):
                self.owners[owner.name_full] = owner
                return True
        pose = target.pose
        if pose is None:
            return False
        key = target.name_full + " bones"
        if key not in self._answers:
            self._answers[key] = False
            self._answers[key] = any(self._constraints_move(bone) for bone in pose.bones)
        return self._answers[key]


def curves_digest(owners) -> bytes:
    """Bytes that change when a key of one of ``owners`` changes that may matter; part of the scene's fingerprint."""
    parts = []
    for name in sorted(owners):
        for curve in action_curves(owners[name]):
            if not _may_matter(owners[name], curve.data_path):
                continue
            keys = np.empty(2 * len(curve.keyframe_points), np.float32)
            curve.keyframe_points.foreach_get("co", keys)
            parts.append(f"{name} {curve.data_path} {curve.array_index} ".encode() + keys.tobytes())
    return b"".join(parts)


def _may_matter(owner, path) -> bool:
    """Whether keys of a property may change a simulation."""
    if isinstance(owner, bpy.types.Scene):
        return path.startswith(SCENE_CHANNELS)
    return not (isinstance(owner, bpy.types.Object) and path.startswith(CHANNELS_OF_LOOKS))
