"""The settings of one rigid body constraint as a joint of the core.

Blender hands its constraints to Bullet, whose coordinates are not all counted alike. Measured with Blender's own
simulation (tests/addon/read/test_joints_like_bullet.py): along an axis, and about a piston's, Blender counts how far
the second object is ahead of the first; about a hinge's axis, about a generic joint's three, and for motors, how far
the first is ahead of the second. The core counts the second body's coordinate in the first one's frame throughout.
``motor_*_max_impulse`` is a largest force [N] or torque [N m], whatever its name says.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from ... import solver_core as core
from ..joint_kinds import OPEN_AXES, SERVO_AXES

# Sign of Blender's coordinate in the core's, by type of constraint: along the axes, and about them.
_SIGNS = {
    "HINGE": (1.0, -1.0),
    "SLIDER": (1.0, 1.0),
    "PISTON": (1.0, 1.0),
    "GENERIC": (1.0, -1.0),
    "GENERIC_SPRING": (1.0, -1.0),
    "MOTOR": (-1.0, -1.0),
}
_CONSTRAINT, _EXTRAS = "rigid_body_constraint.", "cairn.joint."
_FRICTION_FORCE, _FRICTION_TORQUE = _EXTRAS + "friction_force", _EXTRAS + "friction_torque"
# Limits of an angle that are so far apart leave no pose out, and Blender's hinge goes on; in single precision [rad].
_FULL_TURN = 2.0 * math.pi - 1e-5
AXIS_NAMES = ("lin_x", "lin_y", "lin_z", "ang_x", "ang_y", "ang_z")
# Fields of FrameInput that hold no negative numbers.
_NEVER_NEGATIVE = ("motor_largest", "joint_friction", "spring_stiffness", "spring_damping")
# A friction that keys are to change has a row from the start on [N, N m].
_SMALL_FRICTION = 1e-12
# Damping from which on Blender's older springs brake only. Below it they hardly lose any of their swing.
_BRAKING = 1.0


@dataclass(frozen=True)
class JointDrive:
    """A value of a joint that is read in every frame.

    Attributes
    ----------
    path : str
        Of the property, from the object on.
    axis : int
        Among x, y, z, rx, ry, rz.
    value : str
        What it is to the core: a field of ``FrameInput`` that has a number for each axis.
    sign : float
        Of Blender's coordinate in the core's.
    switch : str
        Path of the property that switches it on, where that may be animated as well: off, the value is 0.
    """

    path: str
    axis: int
    value: str
    sign: float = 1.0
    switch: str = ""

    @property
    def paths(self) -> frozenset[str]:
        """Of the properties whose animation changes the value."""
        return frozenset(path for path in (self.path, self.switch) if path)

    def read(self, ob) -> float:
        """The value of an evaluated object; NaN, which leaves it as it was, where the core has no use for the number.

        Parameters
        ----------
        ob : bpy.types.Object
        """
        number = float(ob.path_resolve(self.path))
        if self.switch and not ob.path_resolve(self.switch):
            return 0.0
        if not math.isfinite(number) or (number < 0.0 and self.value in _NEVER_NEGATIVE):
            return math.nan
        return self.sign * number


@dataclass(frozen=True)
class JointSettings:
    """One constraint, read.

    Attributes
    ----------
    joint : object
        One of the core's joints.
    kind : str
        What is counted: Blender's type, or the kind that Cairn puts in its place.
    drives : tuple of JointDrive
    notes : tuple of (str, str)
    """

    joint: Any
    kind: str
    drives: tuple[JointDrive, ...]
    notes: tuple[tuple[str, str], ...]


def read_joint_settings(
    constraint, extras, distance: float, *, swapped: bool = False, animated=frozenset()
) -> JointSettings:
    """What a constraint and Cairn's extras of it say.

    Parameters
    ----------
    constraint : bpy.types.RigidBodyConstraint
        Evaluated.
    extras : CairnJoint or None
        None where Cairn is not registered.
    distance : float
        Of a rope's two ends at the start [m].
    swapped : bool
        The core gets its second object as the first: all coordinates change their sign.
    animated : frozenset of str
        Paths of the object's properties that are; "*" where they cannot be told.
    """
    if extras is not None and extras.kind != "BLENDER":
        turns = tuple(JointDrive(_FRICTION_TORQUE, axis, "joint_friction") for axis in range(3, 6))
        drives = turns if extras.kind == "CONE_TWIST" else ()
        return JointSettings(_own_joint(extras, distance, animated), extras.kind, drives, ())
    reader = _SettingsReader(constraint, extras, swapped, animated)
    return JointSettings(reader.joint(), constraint.type, tuple(reader.drives), tuple(reader.notes))


def _own_joint(extras, distance, animated):
    """A joint that Blender lacks."""
    if extras.kind == "CONE_TWIST":
        friction = _keyed_friction(extras.friction_torque, _FRICTION_TORQUE, animated)
        # 180 degrees leave no pose out
        swing, twist = (
            math.inf if 2.0 * angle >= _FULL_TURN else angle for angle in (extras.cone_angle, extras.twist_angle)
        )
        return core.ConeTwist(swing=swing, twist=twist, friction=friction)
    if extras.kind == "ROPE":
        return core.Rope(length=extras.rope_length if extras.use_rope_length else distance)
    if extras.kind == "GEAR":
        return core.Gear(ratio=extras.gear_ratio)
    return core.RackAndPinion(radius=extras.rack_radius)


def _keyed_friction(friction, path, animated):
    return friction if animated.isdisjoint({path, "*"}) else max(friction, _SMALL_FRICTION)


class _SettingsReader:
    """Reads the axes of one constraint, with notes on what is odd about them."""

    def __init__(self, constraint, extras, swapped, animated):
        self.constraint, self.extras, self.swapped, self.animated = constraint, extras, swapped, animated
        self.drives: list[JointDrive] = []
        self.notes: list[tuple[str, str]] = []

    def joint(self):
        kind = self.constraint.type
        if kind == "FIXED":
            return core.Fixed()
        if kind == "POINT":
            return core.Point(friction=max(self._friction(axis) for axis in range(3, 6)))
        axes = {axis: self._axis(axis) for axis in OPEN_AXES[kind]}
        if kind == "HINGE":
            return core.Hinge(axis=axes[5])
        if kind == "SLIDER":
            return core.Slider(axis=axes[0])
        if kind == "PISTON":
            return core.Piston(linear=axes[0], angular=axes[3])
        if kind == "MOTOR":
            return core.MotorJoint(linear=axes[0], angular=axes[3])
        return core.Generic(linear=(axes[0], axes[1], axes[2]), angular=(axes[3], axes[4], axes[5]))

    def _axis(self, axis):
        sign = axis_sign(self.constraint.type, axis) * (-1.0 if self.swapped else 1.0)
        lower, upper = self._limits(axis, sign)
        read = core.Axis(lower=lower, upper=upper, spring=self._spring(axis), motor=self._motor(axis, sign))
        if lower == upper:
            return read
        return replace(read, friction=self._friction(axis), limit_spring=self._limit_spring(axis))

    def _limits(self, axis, sign):
        """Range of the core's coordinate; infinite where Blender leaves the axis free."""
        constraint, name = self.constraint, AXIS_NAMES[axis]
        free = -math.inf, math.inf
        if constraint.type == "MOTOR" or not getattr(constraint, f"use_limit_{name}"):
            return free
        lower, upper = getattr(constraint, f"limit_{name}_lower"), getattr(constraint, f"limit_{name}_upper")
        if not (math.isfinite(lower) and math.isfinite(upper)):
            self._note(f"its {axis_words(axis)} limits are {lower:g} and {upper:g}: the axis is free; set numbers")
            return free
        if lower > upper:
            self._note(
                f"its lower {axis_words(axis)} limit is above the upper one: the axis is free, as in Blender; "
                "swap the two to limit it"
            )
            return free
        if axis >= 3 and upper - lower >= _FULL_TURN:
            return free
        return (lower, upper) if sign > 0.0 else (-upper, -lower)

    def _spring(self, axis):
        constraint, name = self.constraint, AXIS_NAMES[axis].removeprefix("lin_")
        if constraint.type != "GENERIC_SPRING" or not getattr(constraint, f"use_spring_{name}"):
            return None
        stiffness = getattr(constraint, f"spring_stiffness_{name}")
        damping = getattr(constraint, f"spring_damping_{name}")
        for word, value in (("stiffness", stiffness), ("damping", damping)):
            if not (math.isfinite(value) and value >= 0.0):
                self._note(f"its {axis_words(axis)} {word} is {value:g}: it has no spring there; set 0 or more")
                return None
        path = f"{_CONSTRAINT}spring_{{}}_{name}"
        self.drives.append(JointDrive(path.format("stiffness"), axis, "spring_stiffness"))
        if constraint.spring_type == "SPRING1":
            damping = self._older_damping(axis, damping)
            if path.format("damping") in self.animated:
                self._note(
                    f"its {axis_words(axis)} damping is animated: the start frame's value is used throughout; choose "
                    "the Spring Type Blender 2.8"
                )
        else:
            self.drives.append(JointDrive(path.format("damping"), axis, "spring_damping"))
        return core.Spring(stiffness=stiffness, damping=damping)

    def _older_damping(self, axis, damping):
        """Damping of a spring of Blender 2.7, whose setting is no viscosity."""
        if damping < _BRAKING:
            return 0.0
        self._note(
            f"its {axis_words(axis)} damping of {damping:g} turns Blender's older spring into a brake; Cairn damps it "
            "by as many N s/m or N m s/rad; choose the Spring Type Blender 2.8"
        )
        return damping

    def _motor(self, axis, sign):
        constraint, extras = self.constraint, self.extras
        word = AXIS_NAMES[axis][:3]
        if extras is not None and axis in SERVO_AXES.get(constraint.type, ()) and getattr(extras, f"use_servo_{word}"):
            target = "servo_position" if word == "lin" else "servo_angle"
            strength = "servo_force" if word == "lin" else "servo_torque"
            self.drives.append(JointDrive(f"{_EXTRAS}{target}", axis, "motor_position", sign))
            self.drives.append(JointDrive(f"{_EXTRAS}{strength}", axis, "motor_largest"))
            return core.Motor(position=sign * getattr(extras, target), largest=getattr(extras, strength))
        switch = f"use_motor_{word}"
        may_run = constraint.type == "MOTOR" and (
            getattr(constraint, switch) or _CONSTRAINT + switch in self.animated or "*" in self.animated
        )
        if not may_run:
            return None
        path = f"motor_{word}_target_velocity"
        velocity, largest = getattr(constraint, path), getattr(constraint, f"motor_{word}_max_impulse")
        if not (math.isfinite(velocity) and largest >= 0.0):
            name = "linear" if word == "lin" else "angular"
            self._note(
                f"its {name} motor has a speed of {velocity:g} and a Max Impulse of {largest:g}: it is left out; "
                "set numbers, the second 0 or more"
            )
            return None
        self.drives.append(JointDrive(_CONSTRAINT + path, axis, "motor_velocity", sign))
        strength = f"{_CONSTRAINT}motor_{word}_max_impulse"
        self.drives.append(JointDrive(strength, axis, "motor_largest", switch=_CONSTRAINT + switch))
        return core.Motor(velocity=sign * velocity, largest=largest if getattr(constraint, switch) else 0.0)

    def _friction(self, axis):
        if self.extras is None or self.constraint.type == "MOTOR":
            return 0.0
        path = _FRICTION_FORCE if axis < 3 else _FRICTION_TORQUE
        self.drives.append(JointDrive(path, axis, "joint_friction"))
        return _keyed_friction(getattr(self.extras, path.removeprefix(_EXTRAS)), path, self.animated)

    def _limit_spring(self, axis):
        extras = self.extras
        if extras is None or self.constraint.type == "MOTOR" or not extras.use_soft_limits:
            return None
        if axis < 3:
            return core.Spring(stiffness=extras.limit_stiffness_lin, damping=extras.limit_damping_lin)
        return core.Spring(stiffness=extras.limit_stiffness_ang, damping=extras.limit_damping_ang)

    def _note(self, text):
        self.notes.append(("warning", text))


def axis_sign(kind: str, axis: int) -> float:
    """Sign of Blender's coordinate in the core's, for a type of constraint and an axis among x, y, z, rx, ry, rz."""
    return _SIGNS[kind][axis // 3]


def axis_words(axis: int) -> str:
    """An axis as Blender's panel calls it: "X", "Z angle"."""
    return "XYZ"[axis % 3] + (" angle" if axis >= 3 else "")
