"""A pendulum clock: an escapement of pins and teeth that touch, and hands on gears.

Two round pins on the pendulum's anchor reach into the escape wheel by turns. A tooth that lies against a pin's side
pushes along the line from the pin to the pendulum's hinge, so it does nothing (the pins lie where these lines are
tangents of the wheel); as the pin leaves, the tooth's tip slides under it and pushes it outwards. The wheel then goes
on until another tooth meets the other pin: half of a tooth's pitch in each beat.
"""

import math

import numpy as np

from ..geometry import rotations
from ..geometry.hulls import ConvexHull
from ..geometry.round_shapes import Cylinder
from ..geometry.shapes import Box
from ..model.compound import Compound
from ..model.joints.axis import Axis, Motor
from ..model.joints.gear import Gear
from ..model.joints.hinge import Hinge
from ..model.joints.motor_joint import MotorJoint
from ..model.model import BodyKind
from .hanging import floats
from .scene import Scene, SceneBody, SceneJoint

TEETH = 15
_RADIUS, _ROOT, _HALF_WIDTH = 0.3, 0.72, 0.02  # of the wheel [m], of the tooth's root in it
_FLAT, _BACK = math.radians(1.5), math.radians(11.0)  # of a tooth: its tip, and its back at the root
_PIN_RADIUS = 0.06 * _RADIUS
# Where the pins are when the pendulum hangs: on this circle, at these angles to either side of the wheel's top. They
# are two and a half pitches apart, so one is amid a gap where a tooth lies against the other.
_PIN_CIRCLE, _PIN_ANGLE = _RADIUS + 0.3 * _PIN_RADIUS, math.radians(30.0)
_AXLE = (0.0, 0.0, 1.3)
_PIVOT = _AXLE[2] + _PIN_CIRCLE / math.cos(_PIN_ANGLE)
_ROD, _BOB_RADIUS, _BOB_MASS = 0.9, 0.13, 3.0
_BEHIND = 0.075  # of the pendulum behind the wheel's middle [m]
_TORQUE, _FASTEST = 0.15, 30.0  # of the drive [N m], [rad/s]
_WHEEL_START = 14.0  # so that a tooth is near the pin that reaches in at the start [degrees]
_RATIO = 12.0  # of the wheel to a hand, and of that to the other
# A hinge's z axis, and a motor's x axis, along y: they turn clockwise for who looks along y.
_ABOUT_Y = rotations.from_rotation_vector(np.array([-0.5 * math.pi, 0.0, 0.0]))
_X_TO_Y = rotations.from_rotation_vector(np.array([0.0, 0.0, 0.5 * math.pi]))
_BRASS, _STEEL, _WOOD = (0.8, 0.62, 0.25), (0.55, 0.57, 0.6), (0.4, 0.25, 0.14)


def clock(swing: float = 8.0) -> Scene:
    """The pendulum is let go on its right side.

    Parameters
    ----------
    swing : float
        From which it is let go [degrees]; about 5 are needed for the wheel to go on.
    """
    lean = floats(rotations.from_rotation_vector(np.array([0.0, -math.radians(swing), 0.0])))
    pendulum = SceneBody(
        name="Pendulum",
        shape=_pendulum_shape(),
        mass=_BOB_MASS,
        position=(0.0, 0.0, _PIVOT),
        orientation=lean,
        friction=0.2,
        color=_STEEL,
        part_colors=(_WOOD, _BRASS, _STEEL, _STEEL, _STEEL, _STEEL),
    )
    wheel = SceneBody(
        name="Escape Wheel",
        shape=escape_wheel(),
        mass=0.2,
        position=_AXLE,
        orientation=floats(rotations.from_rotation_vector(np.array([0.0, math.radians(_WHEEL_START), 0.0]))),
        friction=0.2,
        color=_BRASS,
        part_colors=(_BRASS, (0.7, 0.15, 0.1), *[_BRASS] * (TEETH - 1)),
    )
    back = SceneBody(
        name="Back",
        shape=Box((0.5, 0.02, 0.85)),
        kind=BodyKind.STATIC,
        position=(0.0, 0.16, 1.05),
        color=(0.3, 0.2, 0.13),
    )
    hands = [_hand("Minute Hand", 0.24, -0.06, 60.0), _hand("Hour Hand", 0.17, -0.085, -60.0)]
    return Scene(
        name="clock",
        title="A pendulum clock: the escapement works by contact",
        bodies=[back, wheel, pendulum, *hands],
        joints=_joints(),
        frame_count=288,
        camera=(0.5, -2.5, 1.35),
        target=(0.0, 0.0, 1.1),
        angular_damping=0.05,
    )


def escape_wheel() -> Compound:
    """A disc and pointed teeth; the leading side of each is radial, that of the first one at the wheel's top."""
    disc = Cylinder(_ROOT * _RADIUS + 0.005, _HALF_WIDTH, orientation=floats(_ABOUT_Y))
    outline = ((_ROOT, 0.0), (1.0, 0.0), (1.0, -_FLAT), (_ROOT, -_BACK))
    teeth = []
    for number in range(TEETH):
        angles = [(radius * _RADIUS, angle + 2.0 * math.pi * number / TEETH) for radius, angle in outline]
        corners = [
            (radius * math.sin(angle), y, radius * math.cos(angle))
            for y in (-_HALF_WIDTH, _HALF_WIDTH)
            for radius, angle in angles
        ]
        teeth.append(ConvexHull.from_points(np.array(corners)))
    return Compound([disc, *teeth])


def _pendulum_shape():
    """Rod, bob, and the anchor's two arms with their pins; the hinge is the origin."""
    arm = _PIN_CIRCLE * math.tan(_PIN_ANGLE)
    pins = [
        np.array(
            [side * _PIN_CIRCLE * math.sin(_PIN_ANGLE), 0.0, _AXLE[2] + _PIN_CIRCLE * math.cos(_PIN_ANGLE) - _PIVOT]
        )
        for side in (-1.0, 1.0)
    ]
    arms = []
    for side, pin in zip((-1.0, 1.0), pins, strict=True):
        turn = rotations.from_rotation_vector(np.array([0.0, -side * (0.5 * math.pi - _PIN_ANGLE), 0.0]))
        middle = 0.5 * pin + [0.0, _BEHIND, 0.0]
        arms.append(Box((0.015, 0.012, 0.5 * arm + 0.015), position=floats(middle), orientation=floats(turn)))
    across = floats(_ABOUT_Y)
    return Compound(
        [
            Box((0.012, 0.01, 0.5 * _ROD), position=(0.0, _BEHIND, -0.5 * _ROD)),
            Cylinder(_BOB_RADIUS, 0.025, position=(0.0, _BEHIND, -_ROD), orientation=across),
            *arms,
            *(Cylinder(_PIN_RADIUS, 0.05, position=floats(pin + [0.0, 0.02, 0.0]), orientation=across) for pin in pins),
        ]
    )


def _hand(name, length, y, angle):
    """A hand in front of the wheel that points away from its axle."""
    turn = rotations.from_rotation_vector(np.array([0.0, math.radians(angle), 0.0]))
    shape = Box((0.014, 0.006, 0.5 * length), position=(0.0, 0.0, 0.42 * length))
    return SceneBody(
        name=name,
        shape=shape,
        mass=0.02,
        position=(0.0, y, _AXLE[2]),
        orientation=floats(turn),
        color=(0.08, 0.08, 0.1),
    )


def _joints():
    across = floats(_ABOUT_Y)
    joints = [
        SceneJoint(name=f"Axle.{body}", joint=Hinge(), first="Back", second=body, position=place, orientation=across)
        for body, place in (
            ("Escape Wheel", _AXLE),
            ("Minute Hand", _AXLE),
            ("Hour Hand", _AXLE),
            ("Pendulum", (0.0, 0.0, _PIVOT)),
        )
    ]
    drive = MotorJoint(angular=Axis(motor=Motor(velocity=_FASTEST, largest=_TORQUE)))
    joints.append(
        SceneJoint(
            name="Drive", joint=drive, first="Back", second="Escape Wheel", position=_AXLE, orientation=floats(_X_TO_Y)
        )
    )
    for first, second in (("Escape Wheel", "Minute Hand"), ("Minute Hand", "Hour Hand")):
        gear = Gear(ratio=-_RATIO)
        joints.append(
            SceneJoint(
                name=f"Gear.{second}", joint=gear, first=first, second=second, position=_AXLE, orientation=across
            )
        )
    return joints
