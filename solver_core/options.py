"""The input of a simulation: its options, and frame by frame what drives it from outside."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .model.fields import Field
from .model.pull import Pull
from .problem.problem import CONTACT_OPTIONS, SolverOptions
from .problem.rows import SolverSettings
from .solvers.registry import METHODS, find_method, kernel_settings_of

# Small steps in a substep of what moves (``solvers.small_steps``).
SMALL_STEPS_OF_QUALITY = {"preview": 2, "production": 4, "exact": 0}


@dataclass(frozen=True, kw_only=True)
class SimulationOptions:
    """How a simulation steps and solves.

    Attributes
    ----------
    frame_rate : float
        [1/s].
    substeps : int
        Steps a frame.
    method : str
        Name of the solver, one of ``solvers.registry.METHODS``.
    friction : {"box", "cone", "polyhedral"}
        Model of friction; the method must know it.
    tolerance : float
        The solver stops at this share of the problem's scale.
    max_iterations : int or None
        A solve; None is the method's own limit.
    maximal_points : int
        Most contacts of a pair of shapes.
    sleeping : bool
        Islands at rest fall asleep (``dynamics.rest.sleeping``) and cost next to nothing until something wakes them.
    max_substeps : int or None
        With a number above ``substeps`` a frame gets as many substeps as its fastest body and its smallest body that
        moves need, up to this one (``dynamics/motion/substeps_needed``).
    threads : int
        Most threads that a scene of many bodies uses; 0: as many as the processor has cores. The result is the same
        to the bit with any number of them.
    quality : str
        Of the default method, in a name of ``SMALL_STEPS_OF_QUALITY``: how islands of bodies in motion are moved. What
        rests, and small groups of bodies, are always solved to the tolerance; "exact" solves all else to it, too.
    impact_time : float
        What hits joints breaks them if its impulse over this time is a force that they do not bear [s]. It is the same
        for any number of substeps.
    contacts : bool
        Frames note what pushes what (``Simulation.contacts``). The motion is the same to the bit.
    breaks : bool
        Frames note where within them motion breaks (``FrameReport.breaks``). The motion is the same to the bit.
    relaxation, alpha, conjugacy, line_search, strategy, warm_start_sweeps, directions, seed : optional
        Variants of the method, as in ``SolverOptions``; None is the method's own value, and what a method or a model of
        friction does not have must be None.

    Raises
    ------
    ValueError
        Names the option, its value and what it may be.
    """

    frame_rate: float = 24.0
    substeps: int = 4
    method: str = "auto"
    friction: str = "cone"
    tolerance: float = 1e-6
    max_iterations: int | None = None
    maximal_points: int = 8
    sleeping: bool = True
    max_substeps: int | None = None
    threads: int = 0
    quality: str = "production"
    impact_time: float = 1.0 / 240.0
    contacts: bool = False
    breaks: bool = False
    relaxation: float | None = None
    alpha: float | None = None
    conjugacy: str | None = None
    line_search: bool | None = None
    strategy: str | None = None
    warm_start_sweeps: int | None = None
    directions: int | None = None
    seed: int | None = None

    def __post_init__(self):
        if not (np.isfinite(self.frame_rate) and self.frame_rate > 0.0):
            raise ValueError(f"frame_rate is {self.frame_rate}; it must be above 0")
        if int(self.substeps) != self.substeps or self.substeps < 1:
            raise ValueError(f"substeps is {self.substeps}; it must be a whole number from 1 on")
        if not (np.isfinite(self.tolerance) and self.tolerance >= 0.0):
            raise ValueError(f"tolerance is {self.tolerance}; it must be at least 0")
        if not (np.isfinite(self.impact_time) and self.impact_time > 0.0):
            raise ValueError(f"impact_time is {self.impact_time}; it must be above 0")
        if self.max_iterations is not None and self.max_iterations < 1:
            raise ValueError(f"max_iterations is {self.max_iterations}; it must be at least 1, or None")
        if not 4 <= self.maximal_points <= 8:
            raise ValueError(f"maximal_points is {self.maximal_points}; it must be from 4 to 8")
        if self.max_substeps is not None and (
            int(self.max_substeps) != self.max_substeps or self.max_substeps < self.substeps
        ):
            raise ValueError(
                f"max_substeps is {self.max_substeps}; it must be a whole number from substeps on, or None"
            )
        if int(self.threads) != self.threads or self.threads < 0:
            raise ValueError(f"threads is {self.threads}; it must be a whole number from 0 on")
        if self.quality not in SMALL_STEPS_OF_QUALITY:
            raise ValueError(f"quality is {self.quality!r}; it must be one of {', '.join(SMALL_STEPS_OF_QUALITY)}")
        if self.method not in METHODS:
            raise ValueError(f"method is {self.method!r}; it must be one of {', '.join(METHODS)}")
        self.solver_settings()

    def solver_settings(self) -> SolverSettings:
        """These options as the solver's kernel reads them, with the method's own values where they are open."""
        variants = {name: getattr(self, name) for name in CONTACT_OPTIONS}
        options = SolverOptions(tolerance=self.tolerance, max_iterations=self.max_iterations, **variants)
        settings = kernel_settings_of(find_method(self.method, self.friction), options, self.friction)
        # where small steps take over, bodies pay for failures (``dynamics.islands.memory``)
        return settings._replace(waits=int(self.small_steps == 0))

    @property
    def small_steps(self) -> int:
        """Small steps in a substep of an island in motion; 0: there are none."""
        return SMALL_STEPS_OF_QUALITY[self.quality] if self.method == "auto" else 0


@dataclass(frozen=True, kw_only=True)
class FrameInput:
    """What drives one frame from outside; None leaves a thing as it was.

    Attributes
    ----------
    duration : float, optional
        Simulated time [s]; None is one over the frame rate. 0 is a frame in which only kinematic bodies change place.
    gravity : float64 [3], optional
        [m/s^2].
    kind : int64 [body_count], optional
        ``BodyKind`` during the frame. A body that becomes dynamic keeps the velocity it had.
    activate, deactivate : bool [body_count], optional
        Which bodies that wait wake now, and which wait from now on: they stop, and stay as if static. Only of a model
        that has bodies with an ``Activation``.
    volumes : float64 [volume_count, 3, 4], optional
        Matrices that lead from the volumes' frames to the world, at the end of the frame; a volume goes there on
        straight ways. Without it they stay.
    position, orientation : float64 [body_count, 3], [body_count, 4], optional
        Poses of the user frames at the end of the frame. Kinematic bodies move there at constant velocity; the rows
        of other bodies are not read, but for those that have a ``Guide``: there they are its targets. Without them
        kinematic bodies keep their velocities, and targets stay.
    velocity : float64 [2, body_count, 6], optional
        Velocities of the user frames of kinematic bodies at the beginning and at the end of the frame, linear [m/s] and
        angular [rad/s] in world axes: the body moves on the cubic path that has these, and has the last at the end.
        They also say by how many whole turns it turns. A body with NaN among its numbers moves at constant velocity,
        the shorter way round, and so do all without it.
    jumps : bool [body_count], optional
        Kinematic bodies, and targets of guides, that are at their poses from the frame's beginning on, and stand still
        there: they jump, and push nothing on the way. Without it none does.
    vertices : dict of int or (int, int) to float64 [given_vertex_count, 3], optional
        By body whose shape is a ``TriangleMesh``, or by body and part of a ``Compound``, from 0: where the vertices
        that the mesh was made of are at the end of the frame, in the user frame [m]. They go there at constant
        velocity, and push with it. Without it a mesh stays as it is.
    vertex_velocities : dict of int or (int, int) to float64 [2, given_vertex_count, 3], optional
        By the same keys: velocities of the vertices at the beginning and at the end of the frame, in the user frame
        [m/s]. They then move on the cubic paths that have these.
    shapes : dict of int or (int, int) to Sphere, Capsule, Cylinder or Cone, optional
        By body, or body and part, whose shape is one of these and that is not dynamic: the same shape as large as it
        is at the end of the frame, and where in the user frame. It grows at constant rates, and pushes with its
        surface. Without it a shape stays as it is.
    shape_rates : dict of int or (int, int) to float64 [2, 5], optional
        By the same keys: rates at the beginning and at the end of the frame of the radius, of the half length or half
        height (of a ball 0), and of the position in the user frame [m/s]. The shape then grows on the cubic path that
        has these.
    joint_enabled : bool [joint_count], optional
        Which joints act from this frame on. A broken joint stays broken.
    motor_velocity, motor_position : float64 [joint_count, 6], optional
        Of the motors of each joint's axes (along x, y, z, about x, y, z): the speed [m/s, rad/s], or where a servo is
        to be at the end of the frame [m, rad]. NaN leaves a motor as it was; axes without a motor are not read. A
        position makes a motor a servo.
    motor_largest, joint_friction, spring_stiffness, spring_damping : float64 [joint_count, 6], optional
        Likewise: the largest force or torque of motors, and of friction; stiffness and damping of springs. NaN leaves
        a value as it was; axes that have no motor, friction or spring are not read.
    joint_breaking : float64 [joint_count, 2], optional
        Largest force [N] and torque [N m] that each joint bears, infinite where it never breaks; NaN: as it was.
    fields : sequence of Field, optional
        The model's force fields, in its order, as they are at the end of the frame. They go there, and their numbers
        change, at constant rates.
    forces : float64 [body_count, 6], optional
        Constant force [N] and torque [N m] on each body at the end of the frame, along the axes that ``push_body`` has
        said. They change at constant rates; only of a model of which something is pushed.
    follow : float64 [body_count], optional
        How much bodies with a ``Guide`` follow their targets during the frame, from 0 to 1; others are not read. Only
        of a model with guides.
    pull : Pull, optional
        Pulls a body at a point during this frame; without it none is pulled.
    """

    duration: float | None = None
    gravity: np.ndarray | None = None
    kind: np.ndarray | None = None
    activate: np.ndarray | None = None
    deactivate: np.ndarray | None = None
    volumes: np.ndarray | None = None
    position: np.ndarray | None = None
    orientation: np.ndarray | None = None
    velocity: np.ndarray | None = None
    jumps: np.ndarray | None = None
    vertices: dict | None = None
    vertex_velocities: dict | None = None
    shapes: dict | None = None
    shape_rates: dict | None = None
    joint_enabled: np.ndarray | None = None
    motor_velocity: np.ndarray | None = None
    motor_position: np.ndarray | None = None
    motor_largest: np.ndarray | None = None
    joint_friction: np.ndarray | None = None
    spring_stiffness: np.ndarray | None = None
    spring_damping: np.ndarray | None = None
    joint_breaking: np.ndarray | None = None
    fields: Sequence[Field] | None = None
    forces: np.ndarray | None = None
    follow: np.ndarray | None = None
    pull: Pull | None = None
