"""Joints of ready-made scenes as Blender's rigid body constraints: the way back of ``read.joint_settings``."""

import math

import bpy
import numpy as np

from ..solver_core import ConeTwist, Fixed, Gear, Generic, Hinge, MotorJoint, Piston, Point, RackAndPinion, Rope, Slider
from .joint_kinds import OPEN_AXES
from .read.joint_settings import AXIS_NAMES, axis_sign
from .read.scene_animation import action_curves
from .write.fcurves import LINEAR

_TYPES = {
    Fixed: "FIXED",
    Point: "POINT",
    Hinge: "HINGE",
    Slider: "SLIDER",
    Piston: "PISTON",
    Generic: "GENERIC",
    MotorJoint: "MOTOR",
}
# What Blender lacks, and the type that is nearest to it.
_KINDS = {
    ConeTwist: ("CONE_TWIST", "POINT"),
    Rope: ("ROPE", "MOTOR"),
    Gear: ("GEAR", "MOTOR"),
    RackAndPinion: ("RACK_AND_PINION", "MOTOR"),
}
# Of the empty that stands for a joint [m].
_EMPTY_SIZE = 0.12


def add_joint(
    scene: bpy.types.Scene, description, objects: dict[str, bpy.types.Object], frame_start: int
) -> bpy.types.Object:
    """An empty with a constraint that is the described joint.

    Parameters
    ----------
    scene : bpy.types.Scene
        With a collection of constraints.
    description : solver_core.scenes.SceneJoint
    objects : dict
        The scene's bodies by their names in the description.
    frame_start : int
        Which is frame 0 of the description.
    """
    ob = bpy.data.objects.new(description.name, None)
    ob.empty_display_type, ob.empty_display_size = "ARROWS", _EMPTY_SIZE
    ob.rotation_mode = "QUATERNION"
    ob.location, ob.rotation_quaternion = description.position, description.orientation
    scene.collection.objects.link(ob)
    scene.rigidbody_world.constraints.objects.link(ob)  # and Blender makes it a constraint
    constraint = ob.rigid_body_constraint
    constraint.object1, constraint.object2 = objects.get(description.first), objects.get(description.second)
    constraint.disable_collisions = not description.collide
    if description.breaking_load is not None:
        world, render = scene.rigidbody_world, scene.render
        substep = world.time_scale * render.fps_base / (render.fps * world.substeps_per_frame)
        constraint.use_breaking, constraint.breaking_threshold = True, description.breaking_load * substep
    if type(description.joint) in _KINDS:
        _set_kind(ob, description.joint)
    else:
        _set_type(ob, description.joint)
    if description.targets:
        _key_servo(ob, description, frame_start)
    return ob


def _set_kind(ob, joint):
    extras = ob.cairn.joint
    extras.kind, ob.rigid_body_constraint.type = _KINDS[type(joint)]
    if isinstance(joint, ConeTwist):
        extras.cone_angle, extras.twist_angle = min(joint.swing, math.pi), min(joint.twist, math.pi)
        extras.friction_torque = joint.friction
    elif isinstance(joint, Rope):
        extras.use_rope_length, extras.rope_length = True, joint.length
    elif isinstance(joint, Gear):
        extras.gear_ratio = joint.ratio
    else:
        extras.rack_radius = joint.radius


def _set_type(ob, joint):
    constraint = ob.rigid_body_constraint
    constraint.type = _TYPES[type(joint)]
    if isinstance(joint, Point):
        ob.cairn.joint.friction_torque = joint.friction
    axes = _axes(joint)
    if any(axis.spring is not None for axis in axes.values()):
        constraint.type = "GENERIC_SPRING"
    for number, axis in axes.items():
        sign = axis_sign(constraint.type, number)
        _set_range(constraint, number, axis, sign)
        _set_spring(constraint, number, axis.spring)
        _set_motor(ob, number, axis.motor, sign)
        if axis.friction:
            setattr(ob.cairn.joint, "friction_force" if number < 3 else "friction_torque", axis.friction)


def _axes(joint) -> dict:
    """The joint's open axes by their place among x, y, z, rx, ry, rz."""
    if isinstance(joint, Hinge | Slider):
        given = (joint.axis,)
    elif isinstance(joint, Piston | MotorJoint):
        given = (joint.linear, joint.angular)
    elif isinstance(joint, Generic):
        given = (*joint.linear, *joint.angular)
    else:
        return {}
    return dict(zip(OPEN_AXES[_TYPES[type(joint)]], given, strict=True))


def _set_range(constraint, number, axis, sign):
    if constraint.type == "MOTOR" or axis.lower > axis.upper or (math.isinf(axis.lower) and math.isinf(axis.upper)):
        return
    lower, upper = (axis.lower, axis.upper) if sign > 0.0 else (-axis.upper, -axis.lower)
    name = AXIS_NAMES[number]
    setattr(constraint, f"use_limit_{name}", True)
    setattr(constraint, f"limit_{name}_lower", lower)
    setattr(constraint, f"limit_{name}_upper", upper)


def _set_spring(constraint, number, spring):
    if spring is None:
        return
    name = AXIS_NAMES[number].removeprefix("lin_")
    setattr(constraint, f"use_spring_{name}", True)
    setattr(constraint, f"spring_stiffness_{name}", spring.stiffness)
    setattr(constraint, f"spring_damping_{name}", spring.damping)


def _set_motor(ob, number, motor, sign):
    if motor is None:
        return
    word, target, largest = (
        ("lin", "servo_position", "servo_force") if number < 3 else ("ang", "servo_angle", "servo_torque")
    )
    constraint = ob.rigid_body_constraint
    if motor.position is not None:
        extras = ob.cairn.joint
        setattr(extras, f"use_servo_{word}", True)
        setattr(extras, target, sign * motor.position)
        setattr(extras, largest, motor.largest)
    else:
        setattr(constraint, f"use_motor_{word}", True)
        setattr(constraint, f"motor_{word}_target_velocity", sign * motor.velocity)
        setattr(constraint, f"motor_{word}_max_impulse", motor.largest)


def _key_servo(ob, description, frame_start):
    """Lead its servo along straight lines."""
    number, _ = next(item for item in _axes(description.joint).items() if item[1].motor is not None)
    name = "servo_position" if number < 3 else "servo_angle"
    sign = axis_sign(ob.rigid_body_constraint.type, number)
    for frame, place in description.targets:
        setattr(ob.cairn.joint, name, sign * place)
        ob.keyframe_insert(f"cairn.joint.{name}", frame=frame_start + frame)
    for curve in action_curves(ob):
        curve.keyframe_points.foreach_set("interpolation", np.full(len(curve.keyframe_points), LINEAR, np.int32))
        curve.update()
    setattr(ob.cairn.joint, name, sign * description.targets[0][1])
