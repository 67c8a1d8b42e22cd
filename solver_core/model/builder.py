"""Bodies as the caller describes them -> a ``Model``: what is given is checked here, and nowhere below."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..geometry import rotations
from ..geometry.hulls import ConvexHull, HullArrays, pack_hulls
from ..geometry.round_shapes import Capsule, Cone, Cylinder
from ..geometry.shapes import Box, ShapeKind, Sphere
from ..geometry.triangle_mesh import MeshArrays, TriangleMesh, pack_meshes
from .activation import Activation, Volume, checked_activation, checked_trigger, checked_volume, pack_activation
from .compound import Compound, PartShape
from .errors import ModelError
from .fields import Field
from .given_values import breaking, combine_rule, finite_vector, mass_of, number_in, own_center, unit_quaternion
from .guides import Guide, checked_guide, pack_guides
from .joints.coordinates import Joint
from .joints.joint_arrays import WORLD, PlacedJoint, pack_joints
from .joints.shared_axes import share_axes
from .mass_properties import principal_frames
from .matter import Matter, pack_matter
from .model import BodyKind, Model, ModelArrays, ShapeArrays, body_poses
from .state import StateArrays

# What a body's shape may be.
BodyShape: TypeAlias = Box | Sphere | ConvexHull | Capsule | Cylinder | Cone | TriangleMesh | Compound
_SHAPES = (Box, Sphere, ConvexHull, Capsule, Cylinder, Cone, TriangleMesh, Compound)


@dataclass
class _Body:
    """One body as the builder keeps it: checked, still in the user frame."""

    name: str
    shape: BodyShape
    mass: float
    kind: BodyKind
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    surface: tuple[float, float]
    damping: tuple[float, float]
    collision_mask: int
    center_of_mass: np.ndarray
    sleep_speed: tuple[float, float]
    starts_asleep: bool
    surface_drags: bool
    matter: Matter
    activation: Activation | None


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

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81)):
        self.gravity = finite_vector("the scene", "gravity", gravity, 3)
        self._bodies: list[_Body] = []
        self._joints: list[PlacedJoint] = []
        self._volumes: list[Volume] = []
        self._triggers: list[tuple[Activation | None, bool]] = []  # of joints, and whether they hold until then
        self._excluded_pairs: set[tuple[int, int]] = set()
        self._fields: list[tuple[Field, int]] = []
        self._responses: dict[int, tuple[bool, float]] = {}
        self._pushes: dict[int, tuple[tuple[float, ...], bool]] = {}
        self._guides: dict[int, tuple[float, ...]] = {}

    def add_body(
        self,
        *,
        shape: BodyShape,
        mass: float | None = None,
        density: float | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        kind: BodyKind | int = BodyKind.DYNAMIC,
        name: str | None = None,
        friction: float = 0.5,
        restitution: float = 0.0,
        linear_damping: float = 0.0,
        angular_damping: float = 0.0,
        linear_velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        collision_mask: int = 1,
        center_of_mass: str | ArrayLike = "volume",
        sleep_speed: tuple[float, float] = (np.inf, np.inf),
        starts_asleep: bool = False,
        surface_drags: bool = True,
        sliding_friction: float | None = None,
        friction_rule: str = "product",
        restitution_rule: str = "product",
        surface_velocity: ArrayLike = (0.0, 0.0, 0.0),
        largest_speed: float = np.inf,
        rolling_friction: float = 0.0,
        spinning_friction: float = 0.0,
        activation: Activation | None = None,
    ) -> int:
        """Add a body and return its index.

        Parameters
        ----------
        shape : Box, Sphere, ConvexHull, Capsule, Cylinder, Cone, TriangleMesh or Compound
            In the user frame. Meshes are for bodies that never become dynamic.
        mass : float, optional
            [kg], above 0; 1 if there is no density either. A static or kinematic body may become dynamic later, so it
            has a mass too.
        density : float, optional
            [kg/m^3], above 0, in place of ``mass``: that is the density times the volume of the shape.
        position, orientation : array-like [3], [4]
            Pose of the user frame in the world; the quaternion (w, x, y, z) is normalised.
        kind : BodyKind
        name : str, optional
            For reports and errors.
        friction, restitution : float
            Friction >= 0, restitution in [0, 1]; a pair's value is the product of its two bodies', or what their rules
            make of them.
        linear_damping, angular_damping : float
            Share of the velocity lost per second, in [0, 1].
        linear_velocity, angular_velocity : array-like [3]
            Of the centre of mass [m/s], and [rad/s], in world axes, at time 0.
        collision_mask : int
            Two bodies can touch if their masks share a bit.
        center_of_mass : {"volume", "origin"} or array-like [3]
            Of the shape's volume, at the user frame's origin, or at a point of the user frame [m].
        sleep_speed : array-like [2]
            Linear [m/s] and angular [rad/s] speed below which the body may fall asleep; 0: never.
        starts_asleep : bool
            It stays where it is, even in the air, until something wakes it; then it begins from rest, whatever velocity
            it was given.
        surface_drags : bool
            Whether a surface that deforms or grows drags along what touches it (a wave, a belt). Without it the surface
            pushes along its normal alone: what is scaled does not take along what lies on it.
        sliding_friction : float, optional
            Friction while surfaces slide, at least 0; ``friction`` is then that of surfaces that stick. One for both if
            it is not given.
        friction_rule, restitution_rule : {"product", "mean", "least", "largest"}
            How a pair's value comes of its two bodies' values. Of two bodies' rules the later one in this list counts.
        surface_velocity : array-like [3]
            How the surface runs over the body, as a belt does, in the user frame [m/s]. At a contact the part across
            the normal counts, and it turns with the body.
        largest_speed : float
            The centre of mass is not faster at the end of a substep [m/s], above 0.
        rolling_friction, spinning_friction : float
            What resists rolling, as the slope (its tangent) on which a ball begins to roll; and what resists spinning
            about the normal, as a share of the normal force at the distance of the surface from the centre. At least 0;
            of two bodies that touch the larger one counts.
        activation : Activation, optional
            The body waits, as if static, until this wakes it. Only for dynamic bodies.

        Returns
        -------
        int
        """
        name = f"body {len(self._bodies)}" if name is None else str(name)
        kind = BodyKind(kind)
        _check_shape(name, shape, kind)
        quaternion = unit_quaternion(name, orientation)
        self._bodies.append(
            _Body(
                name=name,
                shape=shape,
                mass=mass_of(name, shape, mass, density),
                kind=kind,
                position=finite_vector(name, "position", position, 3),
                orientation=quaternion,
                velocity=np.concatenate(
                    [
                        finite_vector(name, "linear velocity", linear_velocity, 3),
                        finite_vector(name, "angular velocity", angular_velocity, 3),
                    ]
                ),
                surface=(
                    number_in(name, "friction", friction, lower=0.0),
                    number_in(name, "restitution", restitution, lower=0.0, upper=1.0),
                ),
                damping=(
                    number_in(name, "linear damping", linear_damping, lower=0.0, upper=1.0),
                    number_in(name, "angular damping", angular_damping, lower=0.0, upper=1.0),
                ),
                collision_mask=int(collision_mask),
                center_of_mass=own_center(name, center_of_mass),
                sleep_speed=(
                    number_in(name, "sleep speed", sleep_speed[0], lower=0.0, may_be_infinite=True),
                    number_in(name, "sleep speed", sleep_speed[1], lower=0.0, may_be_infinite=True),
                ),
                starts_asleep=bool(starts_asleep),
                surface_drags=bool(surface_drags),
                matter=Matter(
                    friction_rule=combine_rule(name, "friction rule", friction_rule),
                    restitution_rule=combine_rule(name, "restitution rule", restitution_rule),
                    sliding_friction=number_in(
                        name, "sliding friction", friction if sliding_friction is None else sliding_friction, lower=0.0
                    ),
                    surface_velocity=finite_vector(name, "surface velocity", surface_velocity, 3),
                    largest_speed=number_in(
                        name, "largest speed", largest_speed, lower=0.0, lower_open=True, may_be_infinite=True
                    ),
                    rolling_friction=number_in(name, "rolling friction", rolling_friction, lower=0.0),
                    spinning_friction=number_in(name, "spinning friction", spinning_friction, lower=0.0),
                ),
                activation=checked_activation(name, activation, kind == BodyKind.DYNAMIC, len(self._volumes)),
            )
        )
        return len(self._bodies) - 1

    def add_joint(
        self,
        joint: Joint,
        body_a: int,
        body_b: int | None = None,
        *,
        position: ArrayLike,
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        anchor_b: ArrayLike | None = None,
        name: str | None = None,
        enabled: bool = True,
        breaking_force: float | None = None,
        breaking_torque: float | None = None,
        collide: bool = False,
        holds_until: Activation | None = None,
        holds_from: Activation | None = None,
    ) -> int:
        """Add a joint and return its index.

        Parameters
        ----------
        joint : Fixed, Bond, Point, Hinge, Slider, Piston, Generic, MotorJoint, Rope, Gear, RackAndPinion or ConeTwist
        body_a, body_b : int
            Indices that ``add_body`` has returned; without ``body_b`` the world.
        position, orientation : array-like [3], [4]
            The joint's frame in the world at the start; the quaternion (w, x, y, z) is normalised.
        anchor_b : array-like [3], optional
            Where it holds body b at the start, if not at ``position``: a rope's other end.
        name : str, optional
            For reports and errors.
        enabled : bool
            Whether it acts at the start.
        breaking_force, breaking_torque : float, optional
            Largest force [N] and torque [N m] that it bears: it breaks in the substep in which its impulse over the
            substep's length is larger. Without, it never breaks.
        collide : bool
            Whether the two bodies collide while the joint holds.
        holds_until, holds_from : Activation, optional
            It acts until what is given happens to its bodies, or from then on (``dynamics.rest.joint_activation``).

        Returns
        -------
        int

        Raises
        ------
        ModelError
            Names the joint, the value and the allowed range.
        """
        name = f"joint {len(self._joints)}" if name is None else str(name)
        if not hasattr(joint, "coordinates"):
            raise ModelError(f"{name}: the joint is {joint!r}; it must be a joint's type, such as Hinge()")
        for body in (body_a,) if body_b is None else (body_a, body_b):
            if not isinstance(body, int | np.integer) or not 0 <= body < len(self._bodies):
                raise ModelError(f"{name}: there is no body {body!r}; there are {len(self._bodies)}")
        if body_a == body_b:
            raise ModelError(f"{name}: both ends are {self._bodies[body_a].name}; they must be different bodies")
        if body_b is None and not joint.may_end_at_world:
            raise ModelError(f"{name}: one end is the world; a {type(joint).__name__} joins two bodies")
        origin = finite_vector(name, "position", position, 3)
        self._triggers.append((checked_trigger(name, holds_until, holds_from, len(self._volumes)), holds_from is None))
        self._joints.append(
            PlacedJoint(
                name=name,
                joint=joint,
                body_a=int(body_a),
                body_b=WORLD if body_b is None else int(body_b),
                position=origin,
                orientation=unit_quaternion(name, orientation),
                anchor_b=origin if anchor_b is None else finite_vector(name, "anchor_b", anchor_b, 3),
                breaking=(
                    breaking(name, "breaking force", breaking_force),
                    breaking(name, "breaking torque", breaking_torque),
                ),
                enabled=bool(enabled) and holds_from is None,
                collide=bool(collide),
            )
        )
        return len(self._joints) - 1

    def add_volume(
        self,
        vertices: ArrayLike,
        triangles: ArrayLike,
        *,
        matrix: ArrayLike = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)),
        name: str | None = None,
    ) -> int:
        """Add a volume that wakes bodies (``Activation.in_volume``), and return its index. Nothing touches it.

        Parameters
        ----------
        vertices : array-like [vertex_count, 3]
            Of a closed surface, in the volume's frame.
        triangles : array-like [triangle_count, 3]
        matrix : array-like [3, 4]
            Leads from there to the world, at the start; ``FrameInput.volumes`` moves it.
        name : str, optional
            For errors.

        Returns
        -------
        int

        Raises
        ------
        ModelError
            It has no faces, or its numbers are not finite.
        """
        name = f"volume {len(self._volumes)}" if name is None else str(name)
        self._volumes.append(checked_volume(name, vertices, triangles, matrix))
        return len(self._volumes) - 1

    def exclude_pair(self, body_a: int, body_b: int) -> None:
        """Let two bodies pass through each other, whatever their masks say. Repeating it changes nothing.

        Parameters
        ----------
        body_a, body_b : int
            Indices that ``add_body`` has returned.

        Raises
        ------
        ModelError
            There is no such body, or both are the same one.
        """
        for body in (body_a, body_b):
            if not 0 <= body < len(self._bodies):
                raise ModelError(f"excluded pair: there is no body {body}; there are {len(self._bodies)}")
        if body_a == body_b:
            raise ModelError(f"{self._bodies[body_a].name}: excluded pair: a body does not collide with itself anyway")
        self._excluded_pairs.add((min(body_a, body_b), max(body_a, body_b)))

    def add_field(self, field: Field, carrier: int | None = None) -> int:
        """Add a force field and return its index.

        Parameters
        ----------
        field : Force, Wind, Vortex, Harmonic, Drag, Charge, Magnetic or Turbulence
        carrier : int, optional
            The body that carries it, as ``add_body`` has returned: the field does not act on it, and its position and
            axis are in the user frame of that body.

        Returns
        -------
        int

        Raises
        ------
        ModelError
            It is no field, or there is no such body.
        """
        if not isinstance(field, Field) or type(field) is Field:
            raise ModelError(f"field {len(self._fields)}: it is {field!r}; it must be a kind of field, such as Wind()")
        if carrier is not None:
            self._check_body(f"field {len(self._fields)}", carrier)
        self._fields.append((field, -1 if carrier is None else int(carrier)))
        return len(self._fields) - 1

    def respond_to_fields(self, body: int, responds: bool = True, charge: float = 0.0) -> None:
        """Say what fields do to a body: all move it and it has no charge unless this says otherwise.

        Parameters
        ----------
        body : int
            As ``add_body`` has returned.
        responds : bool
            Whether fields other than those of charges move it.
        charge : float
            What fields of charges push it by.

        Raises
        ------
        ModelError
            There is no such body, or the charge is not finite.
        """
        self._check_body("response to fields", body)
        charge = number_in(self._bodies[body].name, "charge", charge, lower=-np.inf)
        self._responses[body] = bool(responds), charge

    def push_body(
        self,
        body: int,
        force: ArrayLike = (0.0, 0.0, 0.0),
        torque: ArrayLike = (0.0, 0.0, 0.0),
        *,
        along_body: bool = False,
    ) -> None:
        """Let a constant force and torque act on a body; ``FrameInput.forces`` changes them.

        Parameters
        ----------
        body : int
            As ``add_body`` has returned.
        force, torque : array-like [3]
            On the centre of mass [N], [N m].
        along_body : bool
            Along the axes of its user frame, with which they turn, and not of the world.

        Raises
        ------
        ModelError
            There is no such body, or a number is not finite.
        """
        self._check_body("push", body)
        name = self._bodies[body].name
        both = (*finite_vector(name, "force", force, 3), *finite_vector(name, "torque", torque, 3))
        self._pushes[body] = tuple(map(float, both)), bool(along_body)

    def guide_body(self, body: int, guide: Guide) -> None:
        """Lead a body, while it is dynamic, to the poses that ``FrameInput`` gives it.

        Raises
        ------
        ModelError
            There is no such body, or a number is not allowed.
        """
        self._check_body("guide", body)
        self._guides[body] = checked_guide(self._bodies[body].name, guide)

    def _responses_to_fields(self) -> dict:
        if not (self._fields or self._pushes):
            return {}
        responses = [self._responses.get(body, (True, 0.0)) for body in range(len(self._bodies))]
        return {
            "field_responds": tuple(responds for responds, _ in responses),
            "charges": tuple(charge for _, charge in responses),
            **self._pushes_of_all(),
        }

    def _pushes_of_all(self) -> dict:
        if not self._pushes:
            return {}
        pushes = [self._pushes.get(body, ((0.0,) * 6, False)) for body in range(len(self._bodies))]
        return {"pushes": tuple(push for push, _ in pushes), "pushes_along": tuple(along for _, along in pushes)}

    def _check_body(self, what, body):
        if not isinstance(body, int | np.integer) or not 0 <= body < len(self._bodies):
            raise ModelError(f"{what}: there is no body {body!r}; there are {len(self._bodies)}")

    def build(self) -> Model:
        """Validate and freeze what was added."""
        if not self._bodies:
            raise ModelError("the scene has no body")
        bodies = self._bodies
        mass = np.array([body.mass for body in bodies])
        centers, axes, inertia, size = _principal_frames(bodies, mass)
        shapes, hulls, meshes = _pack_shapes(bodies, centers, axes)
        frame_orientation = rotations.conjugate(axes)
        frame_position = -rotations.rotate(frame_orientation, centers)
        position, orientation = body_poses(
            np.array([body.position for body in bodies]),
            np.array([body.orientation for body in bodies]),
            frame_position,
            frame_orientation,
        )
        stands = [body.kind == BodyKind.STATIC for body in bodies]
        joints = pack_joints(share_axes(self._joints, stands, size), position, orientation, size)
        excluded = {a * len(bodies) + b for a, b in self._excluded_pairs}
        # A joint holds its pair apart as long as it is whole, unless the pair is excluded anyway.
        joints.excluded_key[np.isin(joints.excluded_key, sorted(excluded))] = -1
        excluded.update(joints.excluded_key[joints.excluded_key >= 0].tolist())
        friction = np.array([body.surface[0] for body in bodies])
        belts = np.array([body.matter.surface_velocity for body in bodies])
        arrays = ModelArrays(
            mass=mass,
            inverse_mass=1.0 / mass,
            inertia=inertia,
            inverse_inertia=1.0 / inertia,
            size=size,
            friction=friction,
            restitution=np.array([body.surface[1] for body in bodies]),
            linear_damping=np.array([body.damping[0] for body in bodies]),
            angular_damping=np.array([body.damping[1] for body in bodies]),
            collision_mask=np.array([body.collision_mask for body in bodies], np.int64),
            excluded_pairs=np.array(sorted(excluded), np.int64),
            glued=np.arange(len(bodies)),
            sleep_speed=np.array([body.sleep_speed for body in bodies]),
            # a belt takes along what touches it
            surface_drags=np.array([body.surface_drags for body in bodies]) | belts.any(axis=1),
            matter=pack_matter([body.matter for body in bodies], friction, rotations.rotate(frame_orientation, belts)),
            activation=pack_activation([body.activation for body in bodies], self._volumes, self._triggers),
            shapes=shapes,
            joints=joints,
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
            joint_names=tuple(joint.name for joint in self._joints),
            fields=tuple(field for field, _ in self._fields),
            field_carriers=tuple(carrier for _, carrier in self._fields),
            guides=pack_guides(self._guides, len(bodies)),
            **self._responses_to_fields(),
        )


def _check_shape(name, shape, kind):
    """Raise ModelError unless it is a shape, and one that a body of this kind may have."""
    if not isinstance(shape, _SHAPES):
        allowed = ", ".join(shape_class.__name__ for shape_class in _SHAPES)
        raise ModelError(f"{name}: shape is {shape!r}; it must be one of {allowed}")
    if _is_mesh(shape) and kind is BodyKind.DYNAMIC:
        raise ModelError(f"{name}: the shape is a mesh; a dynamic body needs convex parts or the convex hull")
    if shape.is_flat and kind is BodyKind.DYNAMIC:
        raise ModelError(f"{name}: the shape is flat and has no volume; a dynamic body needs a thickness")


def _is_mesh(shape) -> bool:
    """Whether a mesh is among a body's shapes."""
    return any(part.kind == ShapeKind.MESH for part in (shape.parts if isinstance(shape, Compound) else (shape,)))


def _principal_frames(bodies: list[_Body], mass: np.ndarray):
    """Centres of mass and principal axes in the user frames, principal moments [kg m^2], and sizes [m]."""
    # Shapes that bodies share are measured once.
    shapes = {id(body.shape): body.shape for body in bodies}
    measured = {key: (shape.mass_properties(), shape.size) for key, shape in shapes.items()}
    properties = [measured[id(body.shape)][0] for body in bodies]
    size = np.array([measured[id(body.shape)][1] for body in bodies], float)
    centers = np.array([known.center for known in properties], float)
    axes = np.tile(rotations.IDENTITY, (len(bodies), 1))
    # A sheet is never dynamic, so its inertia is never used; a solid sphere of its size keeps the numbers finite.
    inertia = np.repeat((0.1 * mass * size**2)[:, None], 3, axis=1)
    solid = np.flatnonzero([known.volume != 0.0 for known in properties])
    own_center = np.array([bodies[index].center_of_mass for index in solid], float).reshape(-1, 3)
    of_solids = principal_frames([properties[index] for index in solid], mass[solid], own_center)
    centers[solid], axes[solid], inertia[solid] = of_solids
    lowest = inertia.min(axis=1)
    if lowest.min() <= 0.0:
        bad = int(np.argmax(lowest <= 0.0))
        text = f"the shape's inertia is {inertia[bad]}; it must be positive about every axis"
        raise ModelError(f"{bodies[bad].name}: {text}")
    return centers, axes, inertia, size


def _pack_shapes(bodies, centers, axes) -> tuple[ShapeArrays, HullArrays, MeshArrays]:
    """All shapes, those of a compound one after the other, moved into the body frames."""
    owners: list[int] = []
    shapes: list[PartShape] = []
    for index, body in enumerate(bodies):
        parts = body.shape.parts if isinstance(body.shape, Compound) else (body.shape,)
        owners.extend([index] * len(parts))
        shapes.extend(parts)
    owner = np.array(owners, np.int64)
    # Shapes that bodies share are in the tables once, and measured once.
    radius = {key: shape.bounding_radius for key, shape in {id(shape): shape for shape in shapes}.items()}
    hulls: dict[int, ConvexHull] = {}
    meshes: dict[int, TriangleMesh] = {}
    for shape in shapes:
        if isinstance(shape, ConvexHull):
            hulls.setdefault(id(shape), shape)
        elif isinstance(shape, TriangleMesh):
            meshes.setdefault(id(shape), shape)
    table_row = {key: row for table in (list(hulls), list(meshes)) for row, key in enumerate(table)}
    to_body = rotations.conjugate(axes)[owner]
    return (
        ShapeArrays(
            body=owner,
            kind=np.array([shape.kind for shape in shapes], np.int64),
            position=rotations.rotate(to_body, np.array([shape.position for shape in shapes]) - centers[owner]),
            orientation=rotations.multiply(to_body, np.array([shape.orientation for shape in shapes], float)),
            parameters=np.array([shape.parameters for shape in shapes], float),
            hull=np.array([table_row.get(id(shape), -1) for shape in shapes], np.int64),
            bounding_radius=np.array([radius[id(shape)] for shape in shapes]),
        ),
        pack_hulls(hulls.values()),
        pack_meshes(meshes.values()),
    )
