"""What a ready-made scene consists of."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from ..model.builder import ModelBuilder
from ..model.model import BodyKind, Model

# Blender multiplies the two bodies' values, so this makes 0.5 of a pair.
FRICTION_HALF = 0.5**0.5


@dataclass(frozen=True)
class SceneBody:
    """One body; units and meaning as in ``ModelBuilder.add_body``.

    A kinematic body keeps its velocities for the whole scene.

    Attributes
    ----------
    mesh : tuple of float64 [vertex_count, 3] and int64 [face_count, corner_count], optional
        Of a concave body, whose convex parts ``shape`` holds: what is seen, and what Blender is given.
    color : tuple of float
        Red, green, blue in [0, 1], for pictures.
    part_colors : tuple of such colors, optional
        Of a compound's parts, where they differ.
    """

    name: str
    shape: object
    mass: float = 1.0
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    friction: float = FRICTION_HALF
    restitution: float = 0.0
    kind: BodyKind = BodyKind.DYNAMIC
    linear_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    angular_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    mesh: tuple | None = None
    color: tuple[float, float, float] = (0.6, 0.6, 0.6)
    part_colors: tuple | None = None


@dataclass(frozen=True, kw_only=True)
class SceneJoint:
    """One joint; units and meaning as in ``ModelBuilder.add_joint``.

    Attributes
    ----------
    joint : object
        One of the core's joints, such as ``Hinge``.
    first : str
    second : str or None
        Names of its bodies; None is the world.
    position, orientation : tuple of float
        The joint's frame in the world.
    breaking_load : float, optional
        Force [N], and torque [N m], that it bears; Blender knows one number for both.
    collide : bool
        Whether its two bodies may touch.
    targets : tuple of (int, float)
        Where its servo is led: frame, from 0, and angle or way; on straight lines between.
    """

    name: str
    joint: Any
    first: str
    second: str | None
    position: tuple[float, float, float]
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    breaking_load: float | None = None
    collide: bool = False
    targets: tuple[tuple[int, float], ...] = ()

    def target_at(self, frame: int) -> float:
        """Where its servo is to be at the end of a frame, counted from 1."""
        frames, places = zip(*self.targets, strict=True)
        return float(np.interp(frame, frames, places))


@dataclass(frozen=True)
class Scene:
    """A scene as data.

    Attributes
    ----------
    name, title : str
    bodies : list of SceneBody
    joints : list of SceneJoint
    frame_count : int
        Frames that show what it is about.
    frame_rate : float
        [1/s].
    gravity : tuple of float
        [m/s^2].
    camera, target : tuple of float
        Where the camera stands, and the point it looks at.
    """

    name: str
    title: str
    bodies: list[SceneBody]
    frame_count: int
    camera: tuple[float, float, float]
    target: tuple[float, float, float]
    frame_rate: float = 24.0
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    linear_damping: float = field(default=0.0)
    angular_damping: float = field(default=0.0)
    joints: list[SceneJoint] = field(default_factory=list)

    def build_model(self) -> Model:
        """The scene as a model."""
        builder = ModelBuilder(gravity=self.gravity)
        for body in self.bodies:
            builder.add_body(
                shape=body.shape,
                mass=body.mass,
                position=body.position,
                orientation=body.orientation,
                kind=body.kind,
                name=body.name,
                friction=body.friction,
                restitution=body.restitution,
                linear_damping=self.linear_damping,
                angular_damping=self.angular_damping,
                linear_velocity=body.linear_velocity,
                angular_velocity=body.angular_velocity,
            )
        index = {body.name: number for number, body in enumerate(self.bodies)}
        for joint in self.joints:
            builder.add_joint(
                joint.joint,
                index[joint.first],
                None if joint.second is None else index[joint.second],
                name=joint.name,
                position=joint.position,
                orientation=joint.orientation,
                breaking_force=joint.breaking_load,
                breaking_torque=joint.breaking_load,
                collide=joint.collide,
            )
        return builder.build()

    def servo_targets(self, frame: int) -> np.ndarray | None:
        """Where servos are led in a frame, counted from 1: ``FrameInput.motor_position``; None without any."""
        if not any(joint.targets for joint in self.joints):
            return None
        places = np.full((len(self.joints), 6), np.nan)
        for number, joint in enumerate(self.joints):
            if joint.targets:
                axis = next(found.number for found in joint.joint.coordinates() if found.range.motor is not None)
                places[number, axis] = joint.target_at(frame)
        return places


def smooth_targets(keys, step: int = 2) -> tuple[tuple[int, float], ...]:
    """Targets of a servo that starts and stops gently between keys: with 3 s^2 - 2 s^3.

    Parameters
    ----------
    keys : sequence of (int, float)
        Frames, and places.
    step : int
        Frames from target to target.
    """
    found = [keys[0]]
    for (start, first), (end, last) in pairwise(keys):
        for frame in range(start + step, end, step):
            share = (frame - start) / (end - start)
            found.append((frame, first + (last - first) * share * share * (3.0 - 2.0 * share)))
        found.append((end, last))
    return tuple(found)


def floor(half_width: float = 20.0) -> SceneBody:
    """A static sheet at z = 0."""
    from ..geometry.shapes import Box

    return SceneBody(
        name="Floor",
        shape=Box((half_width, half_width, 0.0)),
        kind=BodyKind.STATIC,
        color=(0.32, 0.34, 0.37),
    )
