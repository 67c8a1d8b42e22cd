"""What a bake does not follow of a body, or replaces: found without evaluating, so the panel can say it before a bake.

Of a baked body it is what the body had before: its own animation, and the constraints that the bake has muted.
"""

from collections.abc import Iterator

import bpy
import numpy as np

from ..write import earlier_animation as earlier
from ..write import fcurves
from ..write.channels import rotation_path
from .guides import has_guide
from .keyed import muted_by_bake
from .scene_animation import (
    FLAG_CHANNELS,
    SCALE_CHANNELS,
    AnimationSurvey,
    animated_paths,
    flag_values,
    largest_scale,
)
from .scene_poses import parents_part

# Ratio of the longest to the shortest axis of a parent above which it shears children that turn.
RATIO_UNEVEN = 1.001

# Step between neighbouring places in single precision, as a share of the body's size, that one sees as a jerk: of one
# that fills a picture of 2,000 pixels, two of them.
RATIO_STEP = 1e-3

# Blender's colliders ignore these curves, or read them live; here the first frame's value holds throughout.
_SETTINGS_READ_ONCE = {
    "rigid_body.mass": "Mass",
    "rigid_body.friction": "Friction",
    "rigid_body.restitution": "Bounciness",
    "rigid_body.linear_damping": "Damping Translation",
    "rigid_body.angular_damping": "Damping Rotation",
    "rigid_body.collision_collections": "Collision Collections",
    "cairn.density": "Density",
    "cairn.center_of_mass": "Center of Mass",
    "cairn.sliding_friction": "Sliding Friction",
    "cairn.surface_velocity": "Surface Velocity",
    "cairn.largest_speed": "Largest Speed",
    "cairn.rolling_friction": "Rolling Friction",
    "cairn.spinning_friction": "Spinning Friction",
    "cairn.activation": "Activation",
    "cairn.activation_impulse": "Activation's Impulse",
    "cairn.activation_frame": "Activation's Frame",
    "cairn.deactivation_frame": "Deactivate",
    "cairn.follow_frequency": "Follow's Frequency",
    "cairn.follow_damping": "Follow's Damping",
    "cairn.follow_force": "Follow's Largest Force",
    "cairn.follow_torque": "Follow's Largest Torque",
}

MESH_KEPT = "its mesh changes during the animation: the shape keeps the start frame's"


def scale_held(ob: bpy.types.Object, moves: bool, frames: range) -> Iterator[str]:
    """What is simulated of a scale that is animated."""
    largest = largest_scale(ob, frames) if moves else None
    if largest is None:
        yield "its scale is animated: the shape keeps the start frame's"
    else:
        yield f"its scale is animated: the shape is throughout that of frame {largest[0]}, the largest"


def settings_read_once(paths: set[str]) -> Iterator[str]:
    """Settings whose animation is not followed, of an object with these animated paths."""
    for path, label in _SETTINGS_READ_ONCE.items():
        if path in paths:
            yield f"{label} is animated: the start frame's value is used throughout"


def collisions_missing(ob: bpy.types.Object) -> Iterator[str]:
    """A body that moves and meets nothing."""
    if not any(ob.rigid_body.collision_collections):
        yield "is in no collision collection: it collides with nothing"


def replaced_by_bake(ob: bpy.types.Object, frames: range, flags_change: bool) -> Iterator[str]:
    """Constraints, drivers and keys of a body that moves, which have no effect in a bake of ``frames``.

    ``flags_change``: whether it is dynamic in some frames only. What follows them is led by them.
    """
    if has_guide(ob):
        return
    constraints = [constraint.name for constraint in ob.constraints if _acts(ob, constraint, frames, flags_change)]
    if constraints:
        yield f"object constraints ({', '.join(constraints)}) do not act on a simulated body: the bake mutes them"
    if not flags_change and _keyed_after(ob, frames[0]):
        yield "its keys of location or rotation do not act on a simulated body: the bake replaces them"
    if not flags_change and _is_driven(ob):
        yield "its drivers of location or rotation do not act on a simulated body: the bake mutes them"


def _acts(ob, constraint, frames, flags_change):
    """Whether a constraint would act on the body in a frame in which it is simulated.

    What holds it and lets it go in time is followed. An influence that is keyed is read from its keys: the value is
    that of the frame that is shown.
    """
    if constraint.mute and constraint.name not in muted_by_bake(ob):
        return False
    curves = fcurves.curves_of(fcurves.channelbag(*earlier.earlier_action(ob)))
    name = bpy.utils.escape_identifier(constraint.name)
    influence = curves.get((f'constraints["{name}"].influence', 0))
    if influence is None or influence.mute:
        return constraint.influence > 0.0
    steps = np.array(frames[1:])  # the flags of a step are those of its last frame
    enabled, kinematic = flag_values(ob, "enabled", steps), flag_values(ob, "kinematic", steps)
    if flags_change and enabled is not None and kinematic is not None:
        steps = steps[enabled & ~kinematic]
    return any(influence.evaluate(frame) > 0.0 for frame in steps)


def _is_driven(ob):
    """Whether drivers say where it is or how it is turned, without a bake."""
    data = ob.animation_data
    if data is None or not data.drivers:
        return False
    muted = muted_by_bake(ob)
    return bool(earlier.acting_drivers(ob)) or any(fcurves.key_of(curve) in muted for curve in data.drivers)


def _keyed_after(ob, frame):
    """Whether location or rotation have keys after a frame."""
    paths = {"location", rotation_path(ob.rotation_mode)}
    curves = fcurves.curves_of(fcurves.channelbag(*earlier.earlier_action(ob)))
    return any(path in paths and not curve.mute and curve.range()[1] > frame for (path, _), curve in curves.items())


def sheared_by_parent(ob: bpy.types.Object, parent_matrix: np.ndarray) -> Iterator[str]:
    """A parent under which a body that turns looks sheared; ``parent_matrix`` is the parents' part of its pose."""
    if ob.parent is None:
        return
    scale = np.linalg.norm(parent_matrix[:3, :3], axis=0)
    if scale.max() > RATIO_UNEVEN * scale.min():
        yield f"its parent {ob.parent.name} is scaled unevenly: it will look sheared; apply the parent's scale"


def far_off(place: np.ndarray, size: float) -> Iterator[str]:
    """A place [3] at which Blender cannot put a body of a size as finely as one sees."""
    farthest = float(np.abs(place).max())
    step = float(np.spacing(np.float32(farthest)))
    if step > RATIO_STEP * size:
        yield (
            f"starts {farthest:.3g} from the scene's origin, where Blender knows places to {step:.2g} only, "
            f"{100.0 * step / size:.2g} % of its size: it will jerk; move the scene nearer to the origin"
        )


def stays_behind(ancestor: bpy.types.Object) -> str:
    """Of a body that does not move, with a parent that does."""
    return f"its parent {ancestor.name} is simulated: it collides where it stood at the start"


def early_texts(ob: bpy.types.Object, moves: bool, frames: range, survey: AnimationSurvey) -> Iterator[str]:
    """All of these that can be said of a body at once, in the order of the notes of a bake of ``frames``."""
    # to list the curves takes longest, also those that the bake has made
    paths = animated_paths(ob)
    if moves and not paths.isdisjoint(SCALE_CHANNELS):
        yield from scale_held(ob, moves, frames)
    yield from settings_read_once(paths)
    if not moves:
        return
    yield from collisions_missing(ob)
    yield from replaced_by_bake(ob, frames, not paths.isdisjoint(FLAG_CHANNELS))
    yield from sheared_by_parent(ob, parents_part(ob))
    if survey.shape_may_change(ob):
        yield MESH_KEPT
