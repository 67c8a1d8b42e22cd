"""What stays constant along a simulation: bodies, their masses, shapes and surface properties.

Two frames a body. The *user frame* is the one in which the caller places it (in Blender the object's origin and
rotation). The *body frame* has its origin at the centre of mass and the principal axes of inertia as axes, so that
the inertia is three numbers; the step knows only this one. ``Model.frame_position`` and ``Model.frame_orientation``
lead from one to the other.
"""

import functools
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from . import rotations
from .compound import Compound
from .round_shapes import Capsule, Cone, Cylinder
from .shapes import Box, ConvexHull, HullArrays, ShapeError, ShapeKind, Sphere, pack_hulls
from .state import StateArrays
from .triangle_mesh import MeshArrays, TriangleMesh, pack_meshes

# What a body's shape may be.
_SHAPES = (Box, Sphere, ConvexHull, Capsule, Cylinder, Cone, TriangleMesh, Compound)

# An inertia whose off-diagonal part is below this share of its trace counts as diagonal already: a turn of the axes
# would be rounding noise and would cost an axis-aligned box its exact axes.
_RATIO_DIAGONAL = 1e-12


class ModelError(ValueError):
    """A body that cannot be simulated; the message names it, the bad value and the allowed range."""


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
        [kg], [1/kg]; as if the body were dynamic, whatever its kind is at present.
    inertia, inverse_inertia : float64 [body_count, 3]
        About the principal axes [kg m^2]; likewise.
    size : float64 [body_count]
        Longest side of the shape's bounding box [m]: the length that tolerances compare with.
    friction, restitution, linear_damping, angular_damping : float64 [body_count]
        A pair's friction and restitution is the product of the two values. Damping is the share of velocity lost in
        a second.
    collision_mask : int64 [body_count]
        Two bodies can touch if they share a bit.
    excluded_pairs : int64 [excluded_count]
        Pairs of bodies that never touch all the same, ``a * body_count + b`` with a < b, ascending.
    sleep_speed : float64 [body_count, 2]
        Linear [m/s] and angular [rad/s] speed below which a body may fall asleep; 0: never.
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
    sleep_speed: np.ndarray
    shapes: ShapeArrays


@dataclass(frozen=True)
class Model:
    """A scene ready to be simulated; made by ``ModelBuilder.build``.

    Attributes
    ----------
    names : tuple of str
        One a body, used in reports and errors.
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
        The body stays where it is until something stirs it.
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

    @property
    def body_count(self) -> int:
        """Number of bodies."""
        return len(self.names)

    def user_poses(self, position, orientation):
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

    def body_poses(self, position, orientation):
        """Poses of the body frames for poses of the user frames; the inverse of ``user_poses``."""
        return _body_poses(position, orientation, self.frame_position, self.frame_orientation)


@dataclass
class _Body:
    """One body as the builder keeps it: checked, still in the user frame."""

    name: str
    shape: object
    mass: float
    kind: BodyKind
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    surface: tuple[float, float]
    damping: tuple[float, float]
    collision_mask: int
    center_of_mass: str
    sleep_speed: tuple[float, float]
    starts_asleep: bool


class ModelBuilder:
    """Collects bodies and turns them into a ``Model``.

    Parameters
    ----------
    gravity : array-like [3]
        [m/s^2].

    Raises
    ------
    ModelError
        From ``add_body``: names the body, the value and the allowed range. From ``build``: there is no body.
    """

    def __init__(self, gravity=(0.0, 0.0, -9.81)):
        self.gravity = _finite_vector("the scene", "gravity", gravity, 3)
        self._bodies: list[_Body] = []
        self._excluded_pairs: set[tuple[int, int]] = set()

    def add_body(
        self,
        *,
        shape,
        mass=1.0,
        position=(0.0, 0.0, 0.0),
        orientation=(1.0, 0.0, 0.0, 0.0),
        kind=BodyKind.DYNAMIC,
        name=None,
        friction=0.5,
        restitution=0.0,
        linear_damping=0.0,
        angular_damping=0.0,
        linear_velocity=(0.0, 0.0, 0.0),
        angular_velocity=(0.0, 0.0, 0.0),
        collision_mask=1,
        center_of_mass="volume",
        sleep_speed=(np.inf, np.inf),
        starts_asleep=False,
    ) -> int:
        """Add a body and return its index.

        Parameters
        ----------
        shape : Box, Sphere, ConvexHull, Capsule, Cylinder, Cone, TriangleMesh or Compound
            In the user frame. Meshes are for bodies that never become dynamic.
        mass : float
            [kg], above 0. A static or kinematic body may become dynamic later, so it has a mass too.
        position, orientation : array-like [3], [4]
            Pose of the user frame in the world; the quaternion (w, x, y, z) is normalised.
        kind : BodyKind
        name : str, optional
            For reports and errors.
        friction, restitution : float
            Friction >= 0, restitution in [0, 1]; a pair's value is the product of its two bodies'.
        linear_damping, angular_damping : float
            Share of velocity lost in a second, in [0, 1].
        linear_velocity, angular_velocity : array-like [3]
            Of the centre of mass [m/s], and [rad/s], in world axes, at time 0.
        collision_mask : int
            Two bodies can touch if their masks share a bit.
        center_of_mass : {"volume", "origin"}
            Of the shape's volume, or at the user frame's origin.
        sleep_speed : array-like [2]
            Linear [m/s] and angular [rad/s] speed below which the body may fall asleep (``sleeping``); 0: never.
        starts_asleep : bool
            It stays where it is, even in the air, until something stirs it.

        Returns
        -------
        int
        """
        name = f"body {len(self._bodies)}" if name is None else str(name)
        if not isinstance(shape, _SHAPES):
            allowed = ", ".join(kind.__name__ for kind in _SHAPES)
            raise ModelError(f"{name}: shape is {shape!r}; it must be one of {allowed}")
        kind = BodyKind(kind)
        if _is_mesh(shape) and kind is BodyKind.DYNAMIC:
            raise ModelError(f"{name}: the shape is a mesh; a dynamic body needs convex parts or the convex hull")
        if shape.is_flat and kind is BodyKind.DYNAMIC:
            raise ModelError(f"{name}: the shape is flat and has no volume; a dynamic body needs a thickness")
        if center_of_mass not in ("volume", "origin"):
            raise ModelError(f"{name}: center_of_mass is {center_of_mass!r}; it must be 'volume' or 'origin'")
        quaternion = _finite_vector(name, "orientation", orientation, 4)
        length = np.linalg.norm(quaternion)
        if length == 0.0:
            raise ModelError(f"{name}: orientation is zero; it must be a quaternion (w, x, y, z)")
        self._bodies.append(
            _Body(
                name=name,
                shape=shape,
                mass=_number_in(name, "mass", mass, lower=0.0, lower_open=True),
                kind=kind,
                position=_finite_vector(name, "position", position, 3),
                orientation=quaternion / length,
                velocity=np.concatenate(
                    [
                        _finite_vector(name, "linear velocity", linear_velocity, 3),
                        _finite_vector(name, "angular velocity", angular_velocity, 3),
                    ]
                ),
                surface=(
                    _number_in(name, "friction", friction, lower=0.0),
                    _number_in(name, "restitution", restitution, lower=0.0, upper=1.0),
                ),
                damping=(
                    _number_in(name, "linear damping", linear_damping, lower=0.0, upper=1.0),
                    _number_in(name, "angular damping", angular_damping, lower=0.0, upper=1.0),
                ),
                collision_mask=int(collision_mask),
                center_of_mass=center_of_mass,
                sleep_speed=tuple(
                    _number_in(name, "sleep speed", speed, lower=0.0, may_be_infinite=True) for speed in sleep_speed
                ),
                starts_asleep=bool(starts_asleep),
            )
        )
        return len(self._bodies) - 1

    def exclude_pair(self, body_a: int, body_b: int) -> None:
        """Let two bodies pass through each other, whatever their masks say; twice is as good as once.

        Parameters
        ----------
        body_a, body_b : int
            Indices that ``add_body`` has returned.

        Raises
        ------
        ModelError
            There is no such body, or it is one and the same.
        """
        for body in (body_a, body_b):
            if not 0 <= body < len(self._bodies):
                raise ModelError(f"excluded pair: there is no body {body}; there are {len(self._bodies)}")
        if body_a == body_b:
            raise ModelError(f"{self._bodies[body_a].name}: excluded pair: a body does not collide with itself anyway")
        self._excluded_pairs.add((min(body_a, body_b), max(body_a, body_b)))

    def build(self) -> Model:
        """Validate and freeze what was added."""
        if not self._bodies:
            raise ModelError("the scene has no body")
        bodies = self._bodies
        principal = [_principal_frame(body) for body in bodies]
        centers = np.array([center for center, _, _ in principal])
        axes = np.array([quaternion for _, quaternion, _ in principal])
        inertia = np.array([moments for _, _, moments in principal])
        mass = np.array([body.mass for body in bodies])
        shapes, hulls, meshes = _pack_shapes(bodies, centers, axes)
        arrays = ModelArrays(
            mass=mass,
            inverse_mass=1.0 / mass,
            inertia=inertia,
            inverse_inertia=1.0 / inertia,
            size=np.array([body.shape.size for body in bodies], float),
            friction=np.array([body.surface[0] for body in bodies]),
            restitution=np.array([body.surface[1] for body in bodies]),
            linear_damping=np.array([body.damping[0] for body in bodies]),
            angular_damping=np.array([body.damping[1] for body in bodies]),
            collision_mask=np.array([body.collision_mask for body in bodies], np.int64),
            excluded_pairs=np.array([a * len(bodies) + b for a, b in sorted(self._excluded_pairs)], np.int64),
            sleep_speed=np.array([body.sleep_speed for body in bodies]),
            shapes=shapes,
        )
        frame_orientation = rotations.conjugate(axes)
        frame_position = -rotations.rotate(frame_orientation, centers)
        position, orientation = _body_poses(
            np.array([body.position for body in bodies]),
            np.array([body.orientation for body in bodies]),
            frame_position,
            frame_orientation,
        )
        return Model(
            names=tuple(body.name for body in bodies),
            gravity=self.gravity,
            arrays=arrays,
            hulls=hulls,
            meshes=meshes,
            initial_state=StateArrays(
                position=np.ascontiguousarray(position),
                orientation=np.ascontiguousarray(orientation),
                velocity=np.array([body.velocity for body in bodies]),
                kind=np.array([body.kind for body in bodies], np.int64),
            ),
            frame_position=frame_position,
            frame_orientation=frame_orientation,
            starts_asleep=np.array([body.starts_asleep for body in bodies]),
        )


def _is_mesh(shape) -> bool:
    """Whether a mesh is among a body's shapes."""
    return any(part.kind == ShapeKind.MESH for part in (shape.parts if isinstance(shape, Compound) else (shape,)))


def _body_poses(position, orientation, frame_position, frame_orientation):
    """Poses of the body frames from the poses of the user frames."""
    body_orientation = rotations.multiply(orientation, rotations.conjugate(frame_orientation))
    return position - rotations.rotate(
        body_orientation, np.broadcast_to(frame_position, position.shape)
    ), body_orientation


def _finite_vector(name, what, value, length) -> np.ndarray:
    try:
        vector = np.array(value, float)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (length,) or not np.all(np.isfinite(vector)):
        raise ModelError(f"{name}: {what} is {value!r}; it must be {length} finite numbers")
    return vector


def _number_in(name, what, value, *, lower, upper=np.inf, lower_open=False, may_be_infinite=False) -> float:
    number = float(value)
    if may_be_infinite and number == np.inf:
        return number
    if not np.isfinite(number) or number > upper or number < lower or (lower_open and number == lower):
        allowed = f"above {lower:g}" if lower_open else f"at least {lower:g}"
        if np.isfinite(upper):
            allowed = f"from {lower:g} to {upper:g}"
        raise ModelError(f"{name}: {what} is {number:g}; it must be finite and {allowed}")
    return number


def _principal_frame(body: _Body):
    """Centre of mass and principal axes in the user frame, and the principal moments [kg m^2]."""
    properties = body.shape.mass_properties()
    center = np.asarray(properties.center, float)
    if properties.volume == 0.0:
        # A sheet: never dynamic, so its inertia is never used; a solid sphere of its size keeps the numbers finite.
        return center, rotations.IDENTITY.copy(), np.full(3, 0.1 * body.mass * body.shape.size**2)
    tensor = np.asarray(properties.inertia, float) * (body.mass / properties.volume)
    if body.center_of_mass == "origin":
        tensor = tensor + body.mass * (center @ center * np.eye(3) - np.outer(center, center))
        center = np.zeros(3)
    off_diagonal = np.abs(tensor - np.diag(np.diag(tensor))).max()
    if off_diagonal <= _RATIO_DIAGONAL * np.trace(tensor):
        return center, rotations.IDENTITY.copy(), np.diag(tensor).copy()
    moments, axes = np.linalg.eigh(tensor)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    if moments[0] <= 0.0:
        raise ModelError(f"{body.name}: the shape's inertia is {moments}; it must be positive about every axis")
    return center, rotations.from_matrix(axes), moments


def _pack_shapes(bodies, centers, axes) -> tuple[ShapeArrays, HullArrays, MeshArrays]:
    """All shapes, those of a compound one after the other, moved into the body frames."""
    owners, shapes = [], []
    for index, body in enumerate(bodies):
        parts = body.shape.parts if isinstance(body.shape, Compound) else (body.shape,)
        owners.extend([index] * len(parts))
        shapes.extend(parts)
    owner = np.array(owners, np.int64)
    # Shapes that bodies share are in the tables once.
    hulls: dict[int, ConvexHull] = {}
    meshes: dict[int, TriangleMesh] = {}
    for shape in shapes:
        if shape.kind in (ShapeKind.HULL, ShapeKind.MESH):
            (hulls if shape.kind == ShapeKind.HULL else meshes).setdefault(id(shape), shape)
    table_row = {key: row for table in (hulls, meshes) for row, key in enumerate(table)}
    to_body = rotations.conjugate(axes)[owner]
    return (
        ShapeArrays(
            body=owner,
            kind=np.array([shape.kind for shape in shapes], np.int64),
            position=rotations.rotate(to_body, np.array([shape.position for shape in shapes]) - centers[owner]),
            orientation=rotations.multiply(to_body, np.array([shape.orientation for shape in shapes], float)),
            parameters=np.array([shape.parameters for shape in shapes], float),
            hull=np.array([table_row.get(id(shape), -1) for shape in shapes], np.int64),
            bounding_radius=np.array([shape.bounding_radius for shape in shapes]),
        ),
        pack_hulls(hulls.values()),
        pack_meshes(meshes.values()),
    )


__all__ = ["BodyKind", "Model", "ModelArrays", "ModelBuilder", "ModelError", "ShapeArrays", "ShapeError", "ShapeKind"]
