"""What a family's scenes are put together with: bodies, joints between them, and what is led along a path."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from cairn.solver_core import LOCKED, Axis, Box, Capsule, Generic, Hinge, Slider
from cairn.solver_core.geometry import rotations
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.scenes.scene import Scene, SceneBody, SceneJoint

STATIC, KINEMATIC = BodyKind.STATIC, BodyKind.KINEMATIC
# Damping of a body that was made in Blender [share a second].
BLENDERS_DAMPING = 0.04, 0.1
# Poses of one body: seconds -> position [m] and orientation.
Path = Callable[[float], tuple[np.ndarray, np.ndarray]]


@dataclass
class Assembly:
    """A scene on its way.

    Attributes
    ----------
    reach : float
        The size that its energy is told in: how far its parts may fall or swing, about [m].
    damped : bool
        Whether its bodies have Blender's own damping.
    driven : bool
        Whether something does work on it: a motor, a spring, or what is led.
    paths : dict of str to Path
        Of kinematic bodies.
    """

    reach: float = 1.0
    damped: bool = False
    driven: bool = False
    bodies: list[SceneBody] = field(default_factory=list)
    joints: list[SceneJoint] = field(default_factory=list)
    paths: dict[str, Path] = field(default_factory=dict)

    def body(self, shape, at, *, turn=(1.0, 0.0, 0.0, 0.0), path: Path | None = None, name="Body", **settings) -> str:
        """Add a body; returns its name."""
        name = f"{name}.{len(self.bodies):03d}"
        if path is not None:
            at, turn = path(0.0)
            settings["kind"] = KINEMATIC
            self.paths[name], self.driven = path, True
        self.bodies.append(SceneBody(name, shape, position=_plain(at), orientation=_plain(turn), **settings))
        return name

    def joint(self, joint, first, second, at, *, turn=(1.0, 0.0, 0.0, 0.0), **settings) -> None:
        """Join two bodies, or the first one and the world."""
        name = f"{type(joint).__name__}.{len(self.joints):03d}"
        position, orientation = _plain(at), _plain(turn)
        self.joints.append(
            SceneJoint(
                name=name,
                joint=joint,
                first=first,
                second=second,
                position=position,
                orientation=orientation,
                **settings,
            )
        )

    def floor(self, height=0.0, friction=0.7) -> str:
        """Add a floor of two sizes' thickness."""
        return self.body(Box((30, 30, 1)), (0, 0, height - 1), kind=STATIC, friction=friction, name="Floor")

    def scene(self, name: str, frames: int) -> Scene:
        """What was put together."""
        linear, angular = BLENDERS_DAMPING if self.damped else (0.0, 0.0)
        return Scene(
            name,
            name,
            self.bodies,
            frame_count=frames,
            camera=(0.0, -20.0, 5.0),
            target=(0.0, 0.0, 0.0),
            linear_damping=linear,
            angular_damping=angular,
            joints=self.joints,
        )


def scaled(assembly: Assembly, factor: float) -> Assembly:
    """The same, so many times as large; masses, angles and speeds stay, springs keep their frequencies."""
    bodies = [
        replace(body, shape=_scaled_shape(body.shape, factor), position=_plain(np.multiply(body.position, factor)))
        for body in assembly.bodies
    ]
    joints = [
        replace(joint, joint=_scaled_joint(joint.joint, factor), position=_plain(np.multiply(joint.position, factor)))
        for joint in assembly.joints
    ]
    paths = {name: _scaled_path(path, factor) for name, path in assembly.paths.items()}
    return replace(assembly, reach=factor * assembly.reach, bodies=bodies, joints=joints, paths=paths)


def _scaled_shape(shape, factor):
    if isinstance(shape, Box):
        return Box(tuple(factor * half for half in shape.half_extents))
    numbers = {
        name: factor * getattr(shape, name) for name in ("radius", "half_length", "half_height") if hasattr(shape, name)
    }
    return replace(shape, **numbers)


def _scaled_joint(joint, factor):
    if isinstance(joint, Slider):
        return replace(joint, axis=_longer(joint.axis, factor))
    if isinstance(joint, Hinge):
        return replace(joint, axis=_stronger(joint.axis, factor))
    if isinstance(joint, Generic):
        linear = tuple(_longer(axis, factor) for axis in joint.linear)
        return Generic(linear=linear, angular=tuple(_stronger(axis, factor) for axis in joint.angular))
    return joint


def _longer(axis, factor):
    """The range of a way; locked and free ones stay."""
    return replace(axis, lower=factor * axis.lower, upper=factor * axis.upper)


def _stronger(axis, factor):
    """Torques as weights and arms ask for them: of a motor by the size, of a spring by its square, as inertia is."""
    motor, spring = axis.motor, axis.spring
    if motor is not None:
        motor = replace(motor, largest=factor * motor.largest)
    if spring is not None:
        stiffness, damping = factor**2 * spring.stiffness, factor**2 * spring.damping
        spring = replace(spring, stiffness=stiffness, damping=damping)
    return replace(axis, motor=motor, spring=spring)


def _scaled_path(path, factor):
    def led(seconds):
        position, orientation = path(seconds)
        return factor * np.asarray(position), orientation

    return led


def about(axis, angle) -> np.ndarray:
    """The turn by an angle [rad] about an axis."""
    axis = np.asarray(axis, float)
    return rotations.from_rotation_vector(axis / np.linalg.norm(axis) * angle)


def turn_of(z_axis, about_it=0.0) -> np.ndarray:
    """A turn that leads z to an axis."""
    z, way = np.array([0.0, 0.0, 1.0]), np.asarray(z_axis, float) / np.linalg.norm(z_axis)
    across = np.cross(z, way)
    sine = np.linalg.norm(across)
    if sine < 1e-12:
        turn = about((1, 0, 0), 0.0 if way[2] > 0 else math.pi)
    else:
        turn = about(across, math.atan2(sine, way[2]))
    return rotations.multiply(turn, about(z, about_it))


def random_turn(random) -> np.ndarray:
    """Any turn, all alike."""
    turn = random.normal(size=4)
    return turn / np.linalg.norm(turn)


def within(angle, spring=None) -> Axis:
    """An axis that may turn by so much to either side [rad]."""
    return Axis(lower=-angle, upper=angle, spring=spring)


def limited(*angles, spring=None) -> Generic:
    """A joint that holds a point, and lets it turn by so much about x, y and z [rad]."""
    return Generic(linear=(LOCKED,) * 3, angular=tuple(within(angle, spring) for angle in angles))


def rod(length, radius, capsule=False):
    """A bar along its z axis, or a capsule."""
    if capsule:
        return Capsule(radius=radius, half_length=max(length / 2 - radius, 0.1 * radius))
    return Box((radius, radius, length / 2))


def _plain(values):
    """Rounded as Blender keeps them, so that both engines start from the same poses."""
    return tuple(map(float, np.asarray(values, np.float32)))
