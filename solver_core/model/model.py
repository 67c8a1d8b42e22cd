"""What stays constant along a simulation: bodies, their masses, shapes and surface properties.

Each body has two frames. The *user frame* is the one in which the caller places it (in Blender the object's origin and
rotation). The *body frame* has its origin at the centre of mass and the principal axes of inertia as axes, so that
the inertia is three numbers; the step knows only this one. ``Model.frame_position`` and ``Model.frame_orientation``
lead from one to the other.
"""

import functools
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ..geometry import rotations
from ..geometry.hulls import HullArrays
from ..geometry.triangle_mesh import MeshArrays
from .activation import ActivationArrays
from .fields import Field
from .joints.joint_arrays import JointArrays
from .matter import MatterArrays
from .state import StateArrays


class BodyKind(IntEnum):
    """How a body moves."""

    STATIC = 0
    KINEMATIC = 1
    DYNAMIC = 2


class ShapeArrays(NamedTuple):
    """The collision shapes, each fixed in the body frame of its body.

    Attributes
    ----------
    body : int64 [shape_count]
    kind : int64 [shape_count]
        ``ShapeKind``.
    position, orientation : float64 [shape_count, 3], [shape_count, 4]
        Pose of the shape's frame in the body frame.
    parameters : float64 [shape_count, 3]
        Box: half extents [m]. Sphere: radius. Capsule, cylinder, cone: radius, half length or height. Hull: unused.
    hull : int64 [shape_count]
        Row of the hull tables, of a mesh of the mesh tables; -1 for other shapes.
    bounding_radius : float64 [shape_count]
        Radius about ``position`` that holds the shape [m].
    """

    body: np.ndarray
    kind: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    parameters: np.ndarray
    hull: np.ndarray
    bounding_radius: np.ndarray


class ModelArrays(NamedTuple):
    """What kernels read of a model.

    Attributes
    ----------
    mass, inverse_mass : float64 [body_count]
        [kg], [1/kg]; as if the body were dynamic, whatever its kind at present.
    inertia, inverse_inertia : float64 [body_count, 3]
        About the principal axes [kg m^2]; likewise.
    size : float64 [body_count]
        Longest side of the shape's bounding box [m]: the length that tolerances compare with.
    friction, restitution, linear_damping, angular_damping : float64 [body_count]
        A pair's friction and restitution is the product of the two values, unless ``matter`` has another rule. Damping
        is the share of velocity lost in a second.
    collision_mask : int64 [body_count]
        Two bodies can touch if they share a bit.
    excluded_pairs : int64 [excluded_count]
        Pairs of bodies that never touch although they share a bit: ``a * body_count + b`` with a < b, ascending.
    glued : int64 [body_count]
        Of bodies that joints hold in all six ways, through whatever others, the same number; else each has its own.
        They are one piece, so they never touch each other.
    sleep_speed : float64 [body_count, 2]
        Linear [m/s] and angular [rad/s] speed below which a body may fall asleep; 0: never.
    surface_drags : bool [body_count]
        Whether a surface that moves by itself drags along what touches it; else it pushes along its normal alone.
    matter : MatterArrays
    activation : ActivationArrays
    shapes : ShapeArrays
    joints : JointArrays
    """

    mass: np.ndarray
    inverse_mass: np.ndarray
    inertia: np.ndarray
    inverse_inertia: np.ndarray
    size: np.ndarray
    friction: np.ndarray
    restitution: np.ndarray
    linear_damping: np.ndarray
    angular_damping: np.ndarray
    collision_mask: np.ndarray
    excluded_pairs: np.ndarray
    glued: np.ndarray
    sleep_speed: np.ndarray
    surface_drags: np.ndarray
    matter: MatterArrays
    activation: ActivationArrays
    shapes: ShapeArrays
    joints: JointArrays


@dataclass(frozen=True)
class Model:
    """A scene ready to be simulated; made by ``ModelBuilder.build``.

    Attributes
    ----------
    names : tuple of str
        One name per body, for reports and errors.
    gravity : float64 [3]
        [m/s^2].
    arrays : ModelArrays
    hulls : HullArrays
        Tables of the convex hulls, in their own frames; ``ShapeArrays.hull`` names their rows.
    meshes : MeshArrays
        Tables of the triangle meshes, likewise.
    initial_state : StateArrays
        Start poses, velocities and kinds.
    frame_position, frame_orientation : float64 [body_count, 3], [body_count, 4]
        Pose of each user frame in the body frame.
    starts_asleep : bool [body_count]
        The body stays where it is until something wakes it.
    joint_names : tuple of str
        One name per joint.
    fields : tuple of Field
        Force fields at the start.
    field_carriers : tuple of int
        The body that carries each field; -1: none.
    field_responds, charges : tuple
        By body: whether fields move it, and its charge; empty without fields and pushes.
    pushes, pushes_along : tuple
        By body: constant force [N] and torque [N m] at the start, and whether they are along the body's own axes; empty
        where nothing is pushed.
    guides : float64 [body_count or 0, 5]
        Servos that lead bodies, in the columns of ``model.guides``; empty where there is none.
    """

    names: tuple[str, ...]
    gravity: np.ndarray
    arrays: ModelArrays
    hulls: HullArrays
    meshes: MeshArrays
    initial_state: StateArrays
    frame_position: np.ndarray
    frame_orientation: np.ndarray
    starts_asleep: np.ndarray
    joint_names: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    field_carriers: tuple[int, ...] = ()
    field_responds: tuple[bool, ...] = ()
    charges: tuple[float, ...] = ()
    pushes: tuple[tuple[float, ...], ...] = ()
    pushes_along: tuple[bool, ...] = ()
    guides: np.ndarray = field(default_factory=lambda: np.zeros((0, 5)))

    @property
    def body_count(self) -> int:
        """Number of bodies."""
        return len(self.names)

    @property
    def has_forces(self) -> bool:
        """Whether anything but gravity acts on bodies: fields, pushes or servos."""
        return self.has_fields or len(self.guides) > 0

    @property
    def has_fields(self) -> bool:
        """Whether fields or pushes do."""
        return bool(self.fields or self.pushes)

    @property
    def joint_count(self) -> int:
        """Number of joints."""
        return len(self.joint_names)

    def user_poses(self, position: np.ndarray, orientation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses of the user frames for poses of the body frames.

        Parameters
        ----------
        position, orientation : float64 [..., body_count, 3], [..., body_count, 4]

        Returns
        -------
        tuple of float64 arrays of the same shapes
        """
        if self._frames_coincide:
            return position.copy(), orientation.copy()
        return (
            position + rotations.rotate(orientation, np.broadcast_to(self.frame_position, position.shape)),
            rotations.multiply(orientation, self.frame_orientation),
        )

    @functools.cached_property
    def _frames_coincide(self) -> bool:
        """Whether all user frames are body frames, as those of centred boxes are."""
        return not self.frame_position.any() and bool(np.all(self.frame_orientation == rotations.IDENTITY))

    def body_poses(self, position: np.ndarray, orientation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses of the body frames for poses of the user frames; the inverse of ``user_poses``."""
        return body_poses(position, orientation, self.frame_position, self.frame_orientation)


def body_poses(
    position: np.ndarray, orientation: np.ndarray, frame_position: np.ndarray, frame_orientation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Poses of the body frames from the poses of the user frames."""
    body_orientation = rotations.multiply(orientation, rotations.conjugate(frame_orientation))
    return position - rotations.rotate(
        body_orientation, np.broadcast_to(frame_position, position.shape)
    ), body_orientation
