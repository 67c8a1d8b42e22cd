"""What reading a scene gives: the model, its objects, and what drives them from outside in a frame."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...solver_core.model.model import Model
from .growing_compounds import GrowingPart
from .joint_settings import JointDrive
from .notes import Note
from .surfaces import StartSurfaces

if TYPE_CHECKING:  # it loads Numba
    from ...solver_core import FrameInput, Pull

# So many objects are read in a step: some hundredths of a second.
A_STEP = 64


@dataclass(frozen=True)
class ActivationFrames:
    """Frames at whose beginning a body wakes, and waits again; None: at none."""

    wakes: int | None = None
    waits: int | None = None


@dataclass(frozen=True)
class JointFrame:
    """The last frame in which a joint holds, or in which it does not yet.

    Attributes
    ----------
    frame : int
    until : bool
        It holds until then; else from then on.
    """

    frame: int
    until: bool

    def holds(self, frame: int) -> bool:
        """Whether it holds in the step that ends at a frame."""
        return (frame <= self.frame) == self.until


@dataclass(frozen=True)
class ExportedBody:
    """One object of the model.

    Attributes
    ----------
    object_name : str
    library : str or None
        Path of the file from which the object is linked, as Blender has it: such a one may have a local one's name.
    index : int
        Row in the model's arrays.
    moves : bool
        Dynamic in some frame: gets keyframes.
    follows : bool
        Its pose may be animated, and matters in some frame, so that each frame is evaluated.
    flags_change : bool
        ``kinematic`` or ``enabled`` is animated.
    passive : bool
    matrix_world_start : float64 [4, 4]
        As evaluated at the first frame, with scale and mirror.
    rigid_start : float64 [4, 4]
        The pose that the model has.
    parent_matrix_start : float64 [4, 4]
        The parents' part P of ``matrix_world = P @ basis`` at the first frame, without constraints of the object's own.
    parent_animated : bool
        ``FrameSample.parent_matrix`` holds P in each frame.
    deforming_vertices : int
        Vertices of a mesh that changes its form from frame to frame: ``FrameSample.vertices`` holds them; else 0.
    grows : bool
        A round body that never moves by simulation and whose scale is animated: ``FrameSample.shapes`` holds its shape.
    growing_parts : tuple of GrowingPart
        Of a compound that never moves by simulation and that grows, or whose parts do: all its parts. Their vertices
        and shapes are in ``FrameSample`` by (body, part).
    carries_bodies : bool
        It moves, is animated, and has children that move: ``FrameSample.matrix_world`` holds its matrix in each frame.
    angles_start : list of float
        Angles of the object and its parents at the first frame (``fast_turns.py``) [rad].
    activation : ActivationFrames or None
        Frames at which it wakes, and waits again; None: at none.
    is_guided : bool
        It moves, and where its animation puts it is a target that it is pulled to.
    """

    object_name: str
    library: str | None
    index: int
    moves: bool
    follows: bool
    flags_change: bool
    passive: bool
    matrix_world_start: np.ndarray
    rigid_start: np.ndarray
    parent_matrix_start: np.ndarray
    parent_animated: bool
    deforming_vertices: int
    grows: bool
    growing_parts: tuple[GrowingPart, ...]
    carries_bodies: bool
    angles_start: list[float]
    activation: ActivationFrames | None = None
    is_guided: bool = False


@dataclass(frozen=True)
class ExportedJoint:
    """One joint of the model.

    Attributes
    ----------
    object_name : str
        Of the object that has the rigid body constraint.
    library : str or None
        As of ``ExportedBody``.
    index : int
        Row in the model's joints.
    kind : str
        Type of the constraint in Blender ("HINGE"), or the kind that Cairn puts in its place ("ROPE").
    first, second : str or None
        Names of its objects; None is the world.
    joint : object
        Of the core, such as ``Hinge``. Where ``first`` is None, it joins the second object to the world.
    position, orientation : tuple of float
        Its frame in the world at the start.
    breaking_load : float or None
        Force [N], and torque [N m], that it bears; None: it never breaks.
    enabled, enabled_changes : bool
        At the start; and whether it is animated.
    drives : tuple of JointDrive
        Numbers of its axes that are animated: of motors, servos, springs and friction.
    breaking_changes : bool
        Whether its threshold is animated.
    owner : str or None
        Of a bond: the name of its glue object.
    switch : JointFrame or None
        The frame until which it holds, or from which on.
    """

    object_name: str
    index: int
    kind: str
    first: str | None
    second: str | None
    joint: Any
    position: tuple[float, ...]
    orientation: tuple[float, ...]
    breaking_load: float | None
    enabled: bool
    enabled_changes: bool
    drives: tuple[JointDrive, ...]
    breaking_changes: bool = False
    library: str | None = None
    owner: str | None = None
    switch: JointFrame | None = None

    @property
    def is_sampled(self) -> bool:
        """Whether something of it is read in every frame."""
        return self.enabled_changes or self.drives != () or self.breaking_changes or self.switch is not None


@dataclass(frozen=True)
class ExportedField:
    """One force field of the model, in the model's order.

    Attributes
    ----------
    object_name : str
    library : str or None
        As of ``ExportedBody``.
    is_carried : bool
        By a body that moves.
    is_sampled : bool
        It is read in every frame: it moves, or its settings do, or the effector weights of the world.
    """

    object_name: str
    library: str | None
    is_carried: bool
    is_sampled: bool


@dataclass
class FrameSample:
    """What is given from outside for the step that ends at ``frame``.

    Attributes
    ----------
    frame : int
    duration : float
        Simulated time of the step [s]: World speed over frame rate.
    gravity : float64 [3]
        [m/s^2], with the world's effector weights.
    kind : int64 [body_count]
        ``BodyKind`` during the step: the flags as they are at ``frame``, as in Blender.
    position, orientation : float64 [body_count, 3], [body_count, 4]
        User-frame poses at ``frame``; they count where kind is KINEMATIC, and of guided bodies. Empty once released.
    parent_matrix : dict of str to float64 [4, 4]
        ``ExportedBody.parent_matrix_start`` at ``frame``, by object name, for moving bodies whose parents are animated.
    matrix_world : dict of str to float64 [4, 4]
        Where animation alone puts moving bodies that have moving children, at ``frame``, if they are animated.
    vertices : dict of int or (int, int) to float64 [vertex_count, 3]
        By body that deforms, or body and part: its vertices in the user frame at ``frame``.
    shapes : dict of int or (int, int) to Sphere, Capsule, Cylinder or Cone
        By body that grows, or body and part: its shape in the user frame at ``frame``.
    joint_enabled : bool [joint_count], or None
        None where nothing of joints is animated.
    joint_values : dict of str to float64 [joint_count, 6 or 2]
        What else of joints is animated, by fields of ``FrameInput``, in the core's coordinates; NaN: as before.
    jumps : bool [body_count], or None
        Driven bodies that jump (``jumps.py``); None: none does.
    turns : dict of int to float64 [3]
        By row of bodies that turn far in the frame before ``frame``: their rotation vectors (``fast_turns.py``) [rad].
    let_go : dict of int to float64 [6]
        By row of bodies that are driven up to ``frame`` and no longer after it: their velocity there (``let_go.py``)
        [m, rad a frame].
    activate, deactivate : bool [body_count], or None
        Bodies that wake, and that wait again, as the step begins; None where no frame says so.
    volumes : float64 [volume_count, 3, 4], or None
        Matrices of the volumes that wake bodies, at ``frame``.
    velocity, vertex_velocities, shape_rates
        As in ``FrameInput`` (``smooth_motion.py``).
    fields : tuple of Field, or None
    forces : float64 [body_count, 6], or None
        As in ``FrameInput``; None where nothing of them is animated.
    follow_at, follow : float64 [body_count], or None
        How much guided bodies follow at ``frame``, and during the step; None where that does not change.
    pull : Pull, or None
        What somebody drags in *Live* (``addon/live/drags.py``).
    """

    frame: int
    duration: float
    gravity: np.ndarray
    kind: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    parent_matrix: dict
    matrix_world: dict
    vertices: dict
    shapes: dict
    joint_enabled: np.ndarray | None = None
    joint_values: dict = field(default_factory=dict)
    jumps: np.ndarray | None = None
    turns: dict = field(default_factory=dict)
    let_go: dict = field(default_factory=dict)
    velocity: np.ndarray | None = None
    vertex_velocities: dict = field(default_factory=dict)
    shape_rates: dict = field(default_factory=dict)
    activate: np.ndarray | None = None
    deactivate: np.ndarray | None = None
    volumes: np.ndarray | None = None
    fields: tuple | None = None
    forces: np.ndarray | None = None
    follow_at: np.ndarray | None = None
    follow: np.ndarray | None = None
    pull: "Pull | None" = None

    @property
    def frame_input(self) -> "FrameInput":
        """The same as the simulation takes it (imports the simulation, and so Numba)."""
        from ...solver_core.options import FrameInput

        return FrameInput(
            duration=self.duration,
            gravity=self.gravity,
            kind=self.kind,
            position=self.position,
            orientation=self.orientation,
            velocity=self.velocity,
            vertices=self.vertices,
            vertex_velocities=self.vertex_velocities,
            shapes=self.shapes,
            shape_rates=self.shape_rates,
            joint_enabled=self.joint_enabled,
            jumps=self.jumps,
            activate=self.activate,
            deactivate=self.deactivate,
            volumes=self.volumes,
            fields=self.fields,
            forces=self.forces,
            follow=self.follow,
            pull=self.pull,
            **self.joint_values,
        )

    def release(self) -> None:
        """Forget what has driven the frame; what the keyframes need stays."""
        self.position, self.orientation, self.joint_enabled = np.zeros((0, 3)), np.zeros((0, 4)), None
        self.vertices, self.shapes, self.joint_values, self.jumps = {}, {}, {}, None
        self.velocity, self.vertex_velocities, self.shape_rates = None, {}, {}
        self.activate = self.deactivate = self.volumes = None
        self.fields = self.forces = self.follow = None


@dataclass(frozen=True)
class SceneExport:
    """A scene as the solver gets it.

    Attributes
    ----------
    model : Model
    bodies : list of ExportedBody
        In the model's order.
    joints : list of ExportedJoint
        In the model's order.
    frame_start, frame_end : int
        ``frame_start`` is the start pose; the first simulated frame follows it.
    frame_rate : float
        Frames per second of the scene.
    notes : list of Note
    samples_needed : bool
        Something is animated: ``sample_frame`` must be asked for every frame.
    default_sample : FrameSample
        Holds for every frame where ``samples_needed`` is False.
    pending : list of (str, Decomposition)
        Concave meshes, by the name of an object that has one, that stand as their hulls until they are decomposed
        (``concave_shapes.decompose``): export again then.
    surfaces : StartSurfaces
        What the bodies' shapes really look like.
    fingerprint : str
        Hash of everything physical that was read.
    keyed_turns : float64 [frame_count]
        The largest change of keyed angles that anything may turn by, in each frame after the first (``fast_turns.py``)
        [rad].
    volumes : tuple of (str, str or None)
        Objects of the model's volumes, in their order: names, and libraries as of ``ExportedBody``.
    fields : list of ExportedField
        In the model's order.
    forces_change, follow_changes : bool
        Constant forces or torques of bodies are animated; and how much they follow.
    """

    model: Model
    bodies: list[ExportedBody]
    joints: list[ExportedJoint]
    frame_start: int
    frame_end: int
    frame_rate: float
    notes: list[Note]
    samples_needed: bool
    default_sample: FrameSample
    pending: list
    surfaces: StartSurfaces
    fingerprint: str
    keyed_turns: np.ndarray
    volumes: tuple[tuple[str, str | None], ...] = ()
    fields: list[ExportedField] = field(default_factory=list)
    forces_change: bool = False
    follow_changes: bool = False
