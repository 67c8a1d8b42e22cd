"""A scene in Rapier: at its defaults, 60 steps a second, on one thread, with bodies kept awake.

``length_unit`` is the size of the scene's bodies, as Rapier's manual asks for: its margins are shares of it. Friction
and restitution of a pair are products, as in Cairn. Masses and inertias are Cairn's: in single precision Rapier's own
inertias of hulls and compounds of a few centimetres are off by up to 80 %, for which nobody should be blamed here.
"""

from itertools import pairwise
from time import process_time, thread_time

import numpy as np

from .cairn_engine import build_model, inertias
from .scene import GRAVITY, matrix, product, quaternion, turn

STEP_RATE = 60.0
VERSION = "0.36.1"

# Rapier's capsules, cylinders and cones lie along y.
_Y_TO_Z = turn("x", 0.5 * np.pi)
_UPRIGHT = (1.0, 0.0, 0.0, 0.0)


class RapierEngine:
    """One scene.

    Parameters
    ----------
    scene : Scene
    frame_rate : float
        [1/s]; each frame takes as many steps as bring the time nearest below its end.
    """

    name = "Rapier"

    def __init__(self, scene, frame_rate=24.0):
        import rapier3d

        # two worlds that move alike to the bit: the first is timed, and the state of the second is read
        self._worlds = [_world(rapier3d, scene) for _ in range(2)]
        self._handles = [handle for handle, _ in self._worlds[1].rigid_bodies]
        self._steps_a_frame = STEP_RATE / frame_rate
        self._frames = 0

    def play(self, frames) -> tuple[np.ndarray, list]:
        """Some frames.

        Rapier's one worker is a thread of its own, which looks for work for a while after each step. What it does so
        while a state is read would count for the next step, so these steps follow each other at once, and what is
        counted is the worker's time, without that of handing steps to it.

        Parameters
        ----------
        frames : int

        Returns
        -------
        seconds : float64 [frames]
            Processor time, the mean of all.
        states : list
            Position [body_count, 3], orientation [body_count, 4] and velocities [body_count, 6] at each frame's end.
        """
        ends = [int((self._frames + frame) * self._steps_a_frame + 1e-9) for frame in range(frames + 1)]
        timed, watched = self._worlds
        started = process_time() - thread_time()
        for _ in range(ends[0], ends[-1]):
            timed.step()
        seconds = process_time() - thread_time() - started
        states = []
        for first, last in pairwise(ends):
            for _ in range(first, last):
                watched.step()
            states.append(self._state())
        self._frames += frames
        return np.full(frames, seconds / frames), states

    def _state(self):
        count = len(self._handles)
        position, orientation, velocity = np.empty((count, 3)), np.empty((count, 4)), np.empty((count, 6))
        bodies = self._worlds[1].rigid_bodies
        for number, handle in enumerate(self._handles):
            body = bodies[handle]
            position[number] = body.translation.to_tuple()
            orientation[number] = np.roll(body.rotation.to_tuple(), 1)
            velocity[number] = *body.linvel.to_tuple(), *body.angvel.to_tuple()
        # single precision leaves quaternions of a length of 1 within 1e-7
        return position, orientation / np.linalg.norm(orientation, axis=1, keepdims=True), velocity

    def masses(self):
        """Mass [body_count] and inertia about the centre of mass in the body's frame [body_count, 3, 3]."""
        mass, inertia = [], []
        for handle in self._handles:
            properties = self._worlds[1].rigid_bodies[handle].mass_properties
            frame = properties.principal_inertia_local_frame.to_tuple()
            axes = matrix(np.roll(frame, 1))
            mass.append(properties.mass)
            inertia.append((axes * properties.principal_inertia.to_tuple()) @ axes.T)
        return np.array(mass), np.array(inertia)


def _world(rapier3d, scene):
    world = rapier3d.PhysicsWorld(gravity=(0.0, 0.0, -GRAVITY))
    world.set_num_threads(1)
    world.integration_parameters.dt = 1.0 / STEP_RATE
    world.integration_parameters.length_unit = scene.size
    for body, inertia in zip(scene.bodies, inertias(build_model(scene)), strict=True):
        handle = world.add_body(_rigid_body(rapier3d, body), [_collider(rapier3d, body, inertia)])
        # else the first step sets the mass
        world.rigid_bodies[handle].recompute_mass_properties_from_colliders(world.colliders)
    return world


def _rigid_body(rapier3d, body):
    builder = rapier3d.RigidBody.fixed() if body.static else rapier3d.RigidBody.dynamic()
    builder = builder.position(_pose(rapier3d, body.position, body.orientation)).can_sleep(False)
    return builder.linvel(_numbers(body.velocity)).angvel(_numbers(body.spin))


def _collider(rapier3d, body, inertia):
    """One of all parts. It brings the mass: Rapier adds up inertias of several colliders in single precision."""
    shapes = [_shape(rapier3d, part) for part in body.parts]
    poses = [
        (part.position, product(part.orientation, along)) for part, (_, along) in zip(body.parts, shapes, strict=True)
    ]
    if len(shapes) == 1:
        (position, orientation), shape = poses[0], shapes[0][0]
    else:
        position, orientation = (0.0, 0.0, 0.0), _UPRIGHT
        shape = rapier3d.SharedShape.compound(
            [(_pose(rapier3d, *pose), part) for pose, (part, _) in zip(poses, shapes, strict=True)]
        )
    axes = matrix(orientation)
    moments, principal = np.linalg.eigh(axes.T @ inertia @ axes)
    principal[:, 0] *= np.linalg.det(principal)
    frame = rapier3d.Rotation3(*_numbers(quaternion(principal)))
    center = _numbers(-axes.T @ np.asarray(position))
    multiply = rapier3d.CoefficientCombineRule.MULTIPLY
    builder = rapier3d.Collider.new(shape).position(_pose(rapier3d, position, orientation))
    builder = builder.mass_properties(rapier3d.MassProperties(center, float(body.mass), _numbers(moments), frame))
    builder = builder.friction(float(body.friction)).restitution(float(body.restitution))
    return builder.friction_combine_rule(multiply).restitution_combine_rule(multiply)


def _shape(rapier3d, part):
    """The part's shape, and how the shape lies in the part's frame."""
    shape, numbers = rapier3d.SharedShape, _numbers(part.numbers)
    if part.kind == "hull":
        return shape.convex_hull(np.asarray(part.points, np.float32)), _UPRIGHT
    if part.kind == "sphere":
        return shape.ball(*numbers), _UPRIGHT
    if part.kind == "box":
        return shape.cuboid(*numbers), _UPRIGHT
    if part.kind == "capsule":
        return shape.capsule_z(numbers[1], numbers[0]), _UPRIGHT
    return {"cylinder": shape.cylinder, "cone": shape.cone}[part.kind](numbers[1], numbers[0]), _Y_TO_Z


def _pose(rapier3d, position, orientation):
    return rapier3d.Isometry3(_numbers(position), rapier3d.Rotation3(*_numbers(orientation)))


def _numbers(values):
    return tuple(float(value) for value in values)
