"""A walker on spoked wheels, which servos turn, over a bridge that hangs."""

import math

import numpy as np

from ..geometry import rotations
from ..geometry.round_shapes import Capsule
from ..geometry.shapes import Box
from ..model.compound import Compound
from ..model.joints.axis import Axis, Motor
from ..model.joints.hinge import Hinge
from ..model.joints.motor_joint import MotorJoint
from .bridge import BANK_LEVEL, hanging_planks
from .hanging import floats
from .scene import Scene, SceneBody, SceneJoint

_REACH, _FOOT_RADIUS, _LEGS = 0.32, 0.045, 6  # of a leg from its hip [m]
_HALF_BASE, _HALF_TRACK = 0.4, 0.42  # from hip to hip [m]
# Walking along chords, it comes this far in a radian [m].
_STEP = 2.0 * (_REACH + _FOOT_RADIUS) * math.sin(math.pi / _LEGS) / (2.0 * math.pi / _LEGS)
_SPEED, _TORQUE = 0.9, 150.0  # of walking [m/s], of each servo [N m]
_BEGINNING, _CALM = 12, 72  # frames before it walks, and for the bridge to come to rest
_DAMPING = 6.0  # of the planks' turns against each other [N m s/rad]
# A hinge's z axis, and a servo's x axis, along y.
_ABOUT_Y = rotations.from_rotation_vector(np.array([-0.5 * math.pi, 0.0, 0.0]))
_X_TO_Y = rotations.from_rotation_vector(np.array([0.0, 0.0, 0.5 * math.pi]))


def walker(count: int = 16, slack: float = 0.03) -> Scene:
    """It starts on one bank and walks along x to the other.

    Parameters
    ----------
    count : int
        Planks.
    slack : float
        By how much the line of planks is longer than the way between the banks, as a share of the line.
    """
    bodies, joints, span = hanging_planks(count, slack, damping=_DAMPING)
    # its legs are less than a step away from the edge at the start, and more at the end
    away = 0.5 * span + _HALF_BASE + _REACH + 0.15
    way = 2.0 * away + 0.3
    walks = round(24.0 * way / _SPEED)
    targets = ((0, 0.0), (_BEGINNING, 0.0), (_BEGINNING + walks, way / _STEP))
    place = np.array([-away, 0.0, BANK_LEVEL + _REACH * math.cos(math.pi / _LEGS) + _FOOT_RADIUS + 0.002])
    body = SceneBody(
        name="Walker",
        shape=Box((0.6, 0.24, 0.09)),
        mass=40.0,
        position=floats(place),
        color=(0.75, 0.45, 0.15),
    )
    legs, ties = [], []
    for name, x, y in (("FL", 1, 1), ("FR", 1, -1), ("RL", -1, 1), ("RR", -1, -1)):
        hip = place + [x * _HALF_BASE, y * _HALF_TRACK, 0.0]
        leg, own = _legs(name, hip, targets)
        legs.append(leg)
        ties += own
    return Scene(
        name="walker",
        title="A walker crosses a hanging bridge",
        bodies=[*bodies, body, *legs],
        joints=[*joints, *ties],
        frame_count=_BEGINNING + walks + _CALM,
        camera=(0.2 * span, -1.95 * span, BANK_LEVEL + 0.55 * span),
        target=(0.0, 0.0, BANK_LEVEL - 0.03 * span),
        linear_damping=0.04,
        angular_damping=0.3,
    )


def _legs(name, hip, targets):
    """Six legs on a hip, its hinge and its servo."""
    angles = (0.5 + np.arange(_LEGS // 2)) * 2.0 * math.pi / _LEGS
    turns = [floats(rotations.from_rotation_vector(np.array([0.0, angle, 0.0]))) for angle in angles]
    spokes = [Capsule(_FOOT_RADIUS, _REACH, orientation=turn) for turn in turns]
    legs = SceneBody(
        name=f"Legs.{name}",
        shape=Compound(spokes),
        mass=5.0,
        position=floats(hip),
        friction=1.0,
        color=(0.25, 0.3, 0.36),
        part_colors=((0.25, 0.3, 0.36), (0.25, 0.3, 0.36), (0.6, 0.62, 0.65)),
    )
    servo = MotorJoint(angular=Axis(motor=Motor(position=0.0, largest=_TORQUE)))
    tie = {"first": "Walker", "second": legs.name, "position": floats(hip)}
    return legs, [
        SceneJoint(name=f"Hip.{name}", joint=Hinge(), orientation=floats(_ABOUT_Y), **tie),
        SceneJoint(name=f"Servo.{name}", joint=servo, orientation=floats(_X_TO_Y), targets=targets, **tie),
    ]
