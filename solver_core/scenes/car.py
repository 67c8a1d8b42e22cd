"""A car with sprung wheels, driven by motors at its rear ones, over bumps and into boxes."""

import math

import numpy as np

from ..geometry import rotations
from ..geometry.round_shapes import Cylinder
from ..geometry.shapes import Box
from ..model.compound import Compound
from ..model.joints.axis import FREE, LOCKED, Axis, Motor, Spring
from ..model.joints.generic import Generic
from ..model.joints.motor_joint import MotorJoint
from ..model.model import BodyKind
from .hanging import floats
from .scene import Scene, SceneBody, SceneJoint, floor

_RADIUS, _HALF_WIDTH = 0.38, 0.12  # of a wheel [m]
_TRACK, _WHEELBASE = 0.86, 1.1  # half of each [m]
_STIFFNESS, _DAMPING, _TRAVEL = 18000.0, 1300.0, 0.17  # of a wheel's spring [N/m], [N s/m], either way [m]
_TORQUE = 330.0  # of a motor [N m]
_CYLINDER_ACROSS = rotations.from_rotation_vector(np.array([0.0, 0.5 * math.pi, 0.0]))


def car(mass: float = 800.0, speed: float = 5.5) -> Scene:
    """It drives along y.

    Parameters
    ----------
    mass : float
        Of the body on its four wheels of 20 kg [kg].
    speed : float
        That the motors drive to [m/s].
    """
    # so far the weight presses the springs
    sag = mass * 9.81 / (4.0 * _STIFFNESS)
    lower = Box((0.72, 1.75, 0.2), position=(0.0, 0.0, 0.0))
    cabin = Box((0.62, 0.8, 0.22), position=(0.0, -0.3, 0.42))
    paint = (0.72, 0.14, 0.12)
    body = SceneBody(
        name="Car",
        shape=Compound([lower, cabin]),
        mass=mass,
        position=(0.0, 0.0, _RADIUS + 0.14 + sag),
        color=paint,
        part_colors=(paint, (0.25, 0.3, 0.36)),
    )
    wheels, joints = [], []
    for name, x, y in (("FL", -1, 1), ("FR", 1, 1), ("RL", -1, -1), ("RR", 1, -1)):
        wheel, ties = _wheel(name, (x * _TRACK, y * _WHEELBASE, _RADIUS + sag), speed if y < 0 else None)
        wheels.append(wheel)
        joints += ties
    return Scene(
        name="car",
        title="A car with springs and motors drives over bumps into boxes",
        bodies=[floor(30.0), *_bumps(), *_boxes(), body, *wheels],
        joints=joints,
        frame_count=118,
        camera=(13.0, 19.5, 6.4),
        target=(0.0, 9.4, 0.0),
        angular_damping=0.02,
    )


def _wheel(name, place, speed):
    """A wheel, its suspension, and its motor if it has a speed; the axle lies along x."""
    wheel = SceneBody(
        name=f"Wheel.{name}",
        shape=Cylinder(_RADIUS, _HALF_WIDTH),
        mass=20.0,
        position=floats(place),
        orientation=floats(_CYLINDER_ACROSS),
        friction=1.0,
        color=(0.12, 0.12, 0.13),
    )
    spring = Axis(lower=-_TRAVEL, upper=_TRAVEL, spring=Spring(stiffness=_STIFFNESS, damping=_DAMPING))
    suspension = Generic(linear=(LOCKED, LOCKED, spring), angular=(FREE, LOCKED, LOCKED))
    tie = {"first": "Car", "second": wheel.name, "position": floats(place)}
    joints = [SceneJoint(name=f"Suspension.{name}", joint=suspension, **tie)]
    if speed is not None:
        motor = Motor(velocity=-speed / _RADIUS, largest=_TORQUE)
        joints.append(SceneJoint(name=f"Motor.{name}", joint=MotorJoint(angular=Axis(motor=motor)), **tie))
    return wheel, joints


def _bumps():
    """Round sills across the way, on either side and then on both."""
    bumps = []
    for number, (x, y) in enumerate(((-0.9, 4.0), (0.9, 5.4), (-0.9, 6.8), (0.0, 8.6))):
        bumps.append(
            SceneBody(
                name=f"Bump.{number + 1}",
                shape=Cylinder(0.4, 0.7 if x else 1.7),
                kind=BodyKind.STATIC,
                position=(x, y, -0.27),
                orientation=floats(_CYLINDER_ACROSS),
                friction=0.9,
                color=(0.75, 0.68, 0.25),
            )
        )
    return bumps


def _boxes():
    """A wall of light boxes at the end of the way."""
    half = 0.25
    return [
        SceneBody(
            name=f"Carton.{row + 1}.{place + 1}",
            shape=Box((half, half, half)),
            mass=4.0,
            position=((place - 0.5 * (5 - row % 2)) * 2.02 * half + half, 12.0, half * (2 * row + 1)),
            color=(0.72, 0.56, 0.36) if (row + place) % 2 else (0.66, 0.5, 0.3),
        )
        for row in range(4)
        for place in range(6 - row % 2)
    ]
