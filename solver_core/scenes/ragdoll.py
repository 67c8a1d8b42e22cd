"""A figure of fifteen bodies that tumbles down a flight of stairs; its joints have a person's limits."""

import math
from dataclasses import dataclass

import numpy as np

from ..geometry import rotations
from ..geometry.round_shapes import Capsule
from ..geometry.shapes import Box, Sphere
from ..model.joints.axis import Axis
from ..model.joints.cone_twist import ConeTwist
from ..model.joints.hinge import Hinge
from ..model.model import BodyKind
from .hanging import floats
from .scene import Scene, SceneBody, SceneJoint, floor

# Of a step [m].
_RISE, _RUN, _WIDTH = 0.17, 0.3, 2.4
_LANDING = 1.2
_SKIN, _SHIRT, _TROUSERS, _SHOES = (0.85, 0.62, 0.48), (0.2, 0.42, 0.62), (0.25, 0.27, 0.35), (0.2, 0.14, 0.1)


@dataclass(frozen=True)
class _Part:
    """A body of the standing figure, which looks along y; heights from its soles [m]."""

    shape: object
    mass: float
    place: tuple[float, float, float]
    color: tuple[float, float, float]


def ragdoll(steps: int = 12, lean: float = 16.0) -> Scene:
    """The figure starts upright at the edge of the landing, leaning forward.

    Parameters
    ----------
    steps : int
    lean : float
        [degrees].
    """
    turn = rotations.from_rotation_vector(np.array([-math.radians(lean), 0.0, 0.0]))
    # It leans about its toes, which stand at the edge.
    toes = np.array([0.0, 0.18, 0.0])
    base = np.array([0.0, -0.02, steps * _RISE + 0.002])

    def placed(point):
        return floats(base + rotations.rotate(turn, np.subtract(point, toes)))

    parts = _parts()
    bodies = [
        SceneBody(
            name=name,
            shape=part.shape,
            mass=part.mass,
            position=placed(part.place),
            orientation=floats(turn),
            friction=0.45,
            color=part.color,
        )
        for name, part in parts.items()
    ]
    joints = [
        SceneJoint(
            name=name,
            joint=joint,
            first=first,
            second=second,
            position=placed(place),
            orientation=floats(rotations.multiply(turn, axis)),
        )
        for name, joint, first, second, place, axis in _joints()
    ]
    run, height = steps * _RUN, steps * _RISE
    return Scene(
        name="ragdoll",
        title="A figure of 15 bodies falls down the stairs",
        bodies=[floor(), *_stairs(steps), *bodies],
        joints=joints,
        frame_count=144,
        camera=(6.0, run + 2.1, height + 1.3),
        target=(0.0, 0.42 * run, 0.5 * height + 0.75),
        linear_damping=0.04,
        angular_damping=0.1,
    )


def _parts():
    parts = {
        "Head": _Part(Sphere(0.115), 5.0, (0.0, 0.0, 1.645), _SKIN),
        "Chest": _Part(Box((0.18, 0.1, 0.21)), 24.0, (0.0, 0.0, 1.29), _SHIRT),
        "Pelvis": _Part(Box((0.16, 0.09, 0.085)), 11.0, (0.0, 0.0, 0.975), _TROUSERS),
    }
    for side, x in (("L", -1.0), ("R", 1.0)):
        parts |= {
            f"UpperArm.{side}": _Part(Capsule(0.05, 0.09), 2.1, (x * 0.255, 0.0, 1.325), _SHIRT),
            f"Forearm.{side}": _Part(Capsule(0.042, 0.08), 1.2, (x * 0.255, 0.0, 1.045), _SKIN),
            f"Hand.{side}": _Part(Box((0.02, 0.045, 0.085)), 0.5, (x * 0.255, 0.0, 0.82), _SKIN),
            f"Thigh.{side}": _Part(Capsule(0.072, 0.13), 7.7, (x * 0.095, 0.0, 0.705), _TROUSERS),
            f"Shin.{side}": _Part(Capsule(0.055, 0.14), 3.2, (x * 0.095, 0.0, 0.29), _TROUSERS),
            f"Foot.{side}": _Part(Box((0.048, 0.13, 0.04)), 1.0, (x * 0.095, 0.05, 0.04), _SHOES),
        }
    return parts


def _joints():
    """Name, joint, its two bodies, place and axes, of the standing figure."""
    # z along x: a positive angle swings what hangs below forward
    across = rotations.from_rotation_vector(np.array([0.0, 0.5 * math.pi, 0.0]))
    upright = rotations.IDENTITY
    joints = [
        ("Neck", _cone(35.0, 45.0), "Chest", "Head", (0.0, 0.0, 1.52), upright),
        ("Waist", _cone(28.0, 25.0), "Chest", "Pelvis", (0.0, 0.0, 1.07), upright),
    ]
    for side, x in (("L", -1.0), ("R", 1.0)):
        joints += [
            (
                f"Shoulder.{side}",
                _cone(95.0, 45.0),
                "Chest",
                f"UpperArm.{side}",
                (x * 0.255, 0.0, 1.46),
                upright,
            ),
            (
                f"Elbow.{side}",
                _hinge(0.0, 140.0),
                f"UpperArm.{side}",
                f"Forearm.{side}",
                (x * 0.255, 0.0, 1.178),
                across,
            ),
            (f"Wrist.{side}", _cone(40.0, 15.0), f"Forearm.{side}", f"Hand.{side}", (x * 0.255, 0.0, 0.915), upright),
            (f"Hip.{side}", _cone(65.0, 25.0), "Pelvis", f"Thigh.{side}", (x * 0.095, 0.0, 0.91), upright),
            (f"Knee.{side}", _hinge(-135.0, 0.0), f"Thigh.{side}", f"Shin.{side}", (x * 0.095, 0.0, 0.495), across),
            (f"Ankle.{side}", _hinge(-40.0, 25.0), f"Shin.{side}", f"Foot.{side}", (x * 0.095, 0.0, 0.085), across),
        ]
    return joints


def _cone(swing, twist):
    return ConeTwist(swing=math.radians(swing), twist=math.radians(twist))


def _hinge(lower, upper):
    return Hinge(Axis(lower=math.radians(lower), upper=math.radians(upper)))


def _stairs(steps):
    """Solid steps down along y, from a landing that ends at y = 0."""
    height = steps * _RISE
    stairs = [
        SceneBody(
            name="Landing",
            shape=Box((0.5 * _WIDTH, 0.5 * _LANDING, 0.5 * height)),
            kind=BodyKind.STATIC,
            position=(0.0, -0.5 * _LANDING, 0.5 * height),
            color=(0.5, 0.48, 0.45),
        )
    ]
    for number in range(1, steps):
        half_height = 0.5 * (steps - number) * _RISE
        stairs.append(
            SceneBody(
                name=f"Step.{number:02d}",
                shape=Box((0.5 * _WIDTH, 0.5 * _RUN, half_height)),
                kind=BodyKind.STATIC,
                position=(0.0, (number - 0.5) * _RUN, half_height),
                color=(0.58, 0.56, 0.52) if number % 2 else (0.52, 0.5, 0.47),
            )
        )
    return stairs
