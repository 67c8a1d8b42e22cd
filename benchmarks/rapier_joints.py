"""Jointed scenes in Rapier, at its defaults: 60 steps a second, on one thread, with bodies kept awake.

Joints are its impulse joints, by two frames and the axes that are locked. Its limits are those of three angles, so a
cone is a limit of the same size about each of two axes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from time import process_time, thread_time

import numpy as np

from cairn.solver_core import ConeTwist, Fixed, Hinge, Point
from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.round_shapes import Capsule
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.scenes.scene import Scene

_STEP_RATE = 60.0
# A sheet becomes a box of this half thickness [m].
_HALF_THICKNESS = 0.25
# Our joints turn and twist about z, Rapier's about x.
_X_TO_Z = rotations.from_rotation_vector(np.array([0.0, -0.5 * np.pi, 0.0]))
_KNOWN = (Point, Fixed, Hinge, ConeTwist)


@dataclass
class RapierMotion:
    """How a scene moves in Rapier.

    Attributes
    ----------
    motion : list of tuple
        Positions [body_count, 3] and orientations (w, x, y, z) [body_count, 4], of the start and of each frame.
    seconds : float
        Processor time of all frames.
    """

    motion: list
    seconds: float


def can_play(scene: Scene) -> bool:
    """Whether a scene has only joints and shapes that are the same in Rapier."""
    shapes = all(isinstance(body.shape, Box | Sphere | Capsule) for body in scene.bodies)
    return shapes and all(isinstance(tie.joint, _KNOWN) and tie.breaking_load is None for tie in scene.joints)


def play_in_rapier(scene: Scene, frames: int) -> RapierMotion:
    """Simulate a scene. What is timed is a world of its own, as reading poses wakes Rapier's worker.

    Parameters
    ----------
    scene : Scene
    frames : int
        Each takes as many steps as bring the time nearest below its end.
    """
    ends = [int(frame * _STEP_RATE / scene.frame_rate + 1e-9) for frame in range(frames + 1)]
    timed, _ = _world(scene)
    # the steps run in the one worker, so this thread's time is that of handing them to it
    started = process_time() - thread_time()
    for _ in range(ends[-1]):
        timed.step()
    seconds = process_time() - thread_time() - started
    world, handles = _world(scene)
    motion = [_poses(world, handles)]
    for first, last in pairwise(ends):
        for _ in range(first, last):
            world.step()
        motion.append(_poses(world, handles))
    return RapierMotion(motion, seconds)


def _world(scene):
    import rapier3d

    world = rapier3d.PhysicsWorld(gravity=scene.gravity)
    world.set_num_threads(1)
    world.integration_parameters.dt = 1.0 / _STEP_RATE
    bodies = [_with_thickness(body) for body in scene.bodies]
    handles = [world.add_body(_rigid_body(rapier3d, scene, body), [_collider(rapier3d, body)]) for body in bodies]
    index = {body.name: number for number, body in enumerate(bodies)}
    for tie in scene.joints:
        first, second = index[tie.first], index[tie.second]
        joint = _joint(rapier3d, tie, bodies[first], bodies[second])
        world.impulse_joints.insert(handles[first], handles[second], joint, True)
    return world, handles


def _with_thickness(body):
    if not isinstance(body.shape, Box) or body.shape.half_extents[2] > 0.0:
        return body
    x, y, _ = body.shape.half_extents
    place = np.array(body.position) - [0.0, 0.0, _HALF_THICKNESS]
    return replace(body, shape=Box((x, y, _HALF_THICKNESS)), position=tuple(place))


def _rigid_body(rapier3d, scene, body):
    is_static = body.kind == BodyKind.STATIC
    builder = rapier3d.RigidBody.fixed() if is_static else rapier3d.RigidBody.dynamic()
    builder = builder.position(_pose(rapier3d, body.position, body.orientation)).can_sleep(False)
    return builder.linear_damping(scene.linear_damping).angular_damping(scene.angular_damping)


def _collider(rapier3d, body):
    shape, shapes = body.shape, rapier3d.SharedShape
    if isinstance(shape, Box):
        made = shapes.cuboid(*_numbers(shape.half_extents))
    elif isinstance(shape, Sphere):
        made = shapes.ball(float(shape.radius))
    else:
        made = shapes.capsule_z(float(shape.half_length), float(shape.radius))
    product = rapier3d.CoefficientCombineRule.MULTIPLY
    builder = rapier3d.Collider.new(made).mass(float(body.mass)).friction(float(body.friction))
    builder = builder.restitution(float(body.restitution))
    return builder.friction_combine_rule(product).restitution_combine_rule(product)


def _joint(rapier3d, tie, first, second):
    mask, axes, joint = rapier3d.JointAxesMask, rapier3d.JointAxis, tie.joint
    locked = mask.LOCKED_SPHERICAL_AXES
    limits: Sequence = ()
    if isinstance(joint, Fixed):
        locked = mask.LOCKED_FIXED_AXES
    elif isinstance(joint, Hinge):
        locked, limits = mask.LOCKED_REVOLUTE_AXES, [(axes.ANG_X, joint.axis.lower, joint.axis.upper)]
    elif isinstance(joint, ConeTwist):
        swing, twist = joint.swing, joint.twist
        limits = [(axes.ANG_X, -twist, twist), (axes.ANG_Y, -swing, swing), (axes.ANG_Z, -swing, swing)]
    frames = [_frame_in(rapier3d, body, tie) for body in (first, second)]
    builder = rapier3d.GenericJointBuilder(locked).local_frame1(frames[0]).local_frame2(frames[1])
    builder = builder.contacts_enabled(tie.collide)
    for axis, lower, upper in limits:
        if np.isfinite(lower) and np.isfinite(upper):
            builder = builder.limits(axis, float(lower), float(upper))
    return builder.build()


def _frame_in(rapier3d, body, tie):
    back = rotations.conjugate(np.array(body.orientation))
    place = rotations.rotate(back, np.subtract(tie.position, body.position))
    turn = rotations.multiply(rotations.multiply(back, np.array(tie.orientation)), _X_TO_Z)
    return _pose(rapier3d, place, turn)


def _poses(world, handles):
    bodies = [world.rigid_bodies[handle] for handle in handles]
    position = np.array([body.translation.to_tuple() for body in bodies])
    orientation = np.roll([body.rotation.to_tuple() for body in bodies], 1, axis=1)
    # single precision leaves quaternions of a length of 1 within 1e-7
    return position, orientation / np.linalg.norm(orientation, axis=1, keepdims=True)


def _pose(rapier3d, position, orientation):
    return rapier3d.Isometry3(_numbers(position), rapier3d.Rotation3(*_numbers(orientation)))


def _numbers(values):
    return tuple(float(value) for value in values)
