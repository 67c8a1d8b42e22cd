"""The simulation as its users call it: one model, one set of options, frame after frame."""

import copy
import hashlib
import math
from dataclasses import dataclass

import numpy as np

from . import diagnostics, forms, rotations
from .collision.pair_families import needed_families
from .frame_record import (
    CONTACTS,
    ENERGY,
    ISLANDS,
    ITERATIONS,
    LOST,
    MISSED,
    PENETRATION,
    RESIDUAL,
    SLEEPING,
    SUBSTEPS,
    WORST,
    FrameReport,
    allocate_record,
    clear_record,
)
from .island_parts import BLOCKS_TO_DIVIDE
from .kernel import direct_call
from .lanes import lane_count, threads
from .model import BodyKind, Model
from .motion import allocate_motion
from .problem import ContactProblem, SolverOptions, kernel_settings
from .problem_arrays import allocate_problem, may_divide, with_parts
from .rows import SolverWorkspace
from .shapes import ShapeKind
from .shared_stages import SWEEPS_AT_REST, StepSettings, allocate_shared, give_orders
from .sleeping import (
    GROUP,
    allocate_sleep,
    groups_that_touch,
    put_to_sleep,
    wake_all,
    wake_groups_of,
)
from .solvers.registry import METHODS, find_method, resolve_options
from .state import StateArrays, copy_state
from .step_arrays import StepMembers
from .stepper import (
    advance_frame,
    allocate_collision,
    contacts_at,
    empty_tables,
    gather_arrays,
    grow_collision,
    next_rows,
    present_contacts,
    stages_to_compile,
)

# With adaptive substeps: how far a body goes in one, as a share of its size, and how far it turns [rad].
_TRAVEL_A_SUBSTEP, _TURN_A_SUBSTEP = 0.5, 0.5

# Kernels that simulations of this process have called, by what they hang on: to look them up takes some ten
# milliseconds.
_tables_of_kernels = {}


class SimulationError(RuntimeError):
    """The motion ran out of what doubles can hold; the message names the body."""


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
        Islands at rest fall asleep (``sleeping``) and cost next to nothing until something stirs them.
    max_substeps : int or None
        With a number above ``substeps`` a frame gets as many substeps as its fastest body needs, up to this one.
    threads : int
        Most threads that a scene of many bodies uses; 0: as many as the processor has cores. The result is the same
        to the bit with any number of them.

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

    def __post_init__(self):
        if not (np.isfinite(self.frame_rate) and self.frame_rate > 0.0):
            raise ValueError(f"frame_rate is {self.frame_rate}; it must be above 0")
        if int(self.substeps) != self.substeps or self.substeps < 1:
            raise ValueError(f"substeps is {self.substeps}; it must be a whole number from 1 on")
        if not (np.isfinite(self.tolerance) and self.tolerance >= 0.0):
            raise ValueError(f"tolerance is {self.tolerance}; it must be at least 0")
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
        if self.method not in METHODS:
            raise ValueError(f"method is {self.method!r}; it must be one of {', '.join(METHODS)}")
        find_method(self.method, self.friction)


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
    position, orientation : float64 [body_count, 3], [body_count, 4], optional
        Poses of the user frames at the end of the frame. Kinematic bodies move there at constant velocity; the rows
        of other bodies are not read. Without them kinematic bodies keep their velocities.
    vertices : dict of int or (int, int) to float64 [given_vertex_count, 3], optional
        By body whose shape is a ``TriangleMesh``, or by body and part of a ``Compound``, from 0: where the vertices
        that the mesh was made of are at the end of the frame, in the user frame [m]. They go there at constant
        velocity, and push with it. Without it a mesh stays as it is.
    shapes : dict of int or (int, int) to Sphere, Capsule, Cylinder or Cone, optional
        By body, or body and part, whose shape is one of these and that is not dynamic: the same shape as large as it
        is at the end of the frame, and where in the user frame. It grows at constant rates, and pushes with its
        surface. Without it a shape stays as it is.
    """

    duration: float | None = None
    gravity: np.ndarray | None = None
    kind: np.ndarray | None = None
    position: np.ndarray | None = None
    orientation: np.ndarray | None = None
    vertices: dict | None = None
    shapes: dict | None = None


_AS_BEFORE = FrameInput()


class Simulation:
    """Steps a model frame by frame.

    Parameters
    ----------
    model : Model
    options : SimulationOptions, optional

    Attributes
    ----------
    state : StateArrays
        At the end of the last frame, in the body frames.
    frame : int
        Frames done.
    """

    def __init__(self, model: Model, options: SimulationOptions | None = None):
        self.model = model
        self.options = options or SimulationOptions()
        self.state = copy_state(model.initial_state)
        self.frame = 0
        self._gravity = model.gravity.copy()
        self._motion = allocate_motion(model.body_count)
        self._sleep = allocate_sleep(model.body_count)
        # the same state with the kinds that the step sees: a sleeping body is static
        self._acting = self.state._replace(kind=self.state.kind.copy())
        self._collision = allocate_collision(model)
        self._method = find_method(self.options.method, self.options.friction)
        self._problem = allocate_problem(self._collision, model.body_count, self._method)
        self._settings = _solver_settings(self.options)
        self._record = allocate_record()
        self._lane_count = lane_count(self.options.threads, model.body_count)
        self._lanes = self._advance = self._told = None
        # kinds of all bodies where none of them is driven
        self._undriven_kinds = b""
        self._gravity_norm = _norm(self._gravity)
        if model.starts_asleep.any():
            self._start_asleep()

    def advance_frame(self, frame_input: FrameInput | None = None) -> FrameReport:
        """Simulate one frame.

        Parameters
        ----------
        frame_input : FrameInput, optional

        Returns
        -------
        FrameReport

        Raises
        ------
        ValueError
            An array of the input has the wrong shape or holds NaN.
        SimulationError
            A body's pose or velocity is no longer finite.
        """
        frame_input = frame_input or _AS_BEFORE
        duration = 1.0 / self.options.frame_rate if frame_input.duration is None else float(frame_input.duration)
        if not (math.isfinite(duration) and duration >= 0.0):
            raise ValueError(f"duration is {duration}; it must be at least 0")
        if frame_input.gravity is not None:
            self._change_gravity(frame_input.gravity)
        if frame_input.kind is not None:
            self._change_kinds(frame_input.kind)
        clear_record(self._record)
        self._fallbacks = 0
        target = self._kinematic_target(frame_input)
        meshes = forms.mesh_targets(self.model, frame_input.vertices or {})
        shapes = forms.shape_targets(self.model, self.state.kind, frame_input.shapes or {})
        if duration > 0.0:
            self._aim_kinematic_bodies(target, duration)
            if meshes or shapes:
                self._aim_forms(meshes, shapes, duration)
        elif target is not None:
            wake_all(self._sleep, self._acting.kind)
        self._step(self._step_settings(duration))
        self._place_kinematic_bodies(target)
        forms.place_meshes(self._collision.workspace, meshes)
        forms.place_shapes(self._collision.workspace, shapes)
        self.frame += 1
        report = self._report()
        if report.contacts >= BLOCKS_TO_DIVIDE and not may_divide(self._problem):
            self._problem, self._lanes = with_parts(self._problem), None
        return report

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses of the user frames.

        Returns
        -------
        position, orientation : float64 [body_count, 3], [body_count, 4]
            [m]; unit quaternions (w, x, y, z).
        """
        return self.model.user_poses(self.state.position, self.state.orientation)

    def contact_problem(self) -> ContactProblem:
        """What the solver is asked at the start of the next frame, by ``solve_contacts`` or by one's own code.

        Returns
        -------
        ContactProblem
            With arrays of its own; ``rows.impulse`` holds the impulses of the last substep, in the rows' directions.
        """
        rows, free_velocity = next_rows(
            self.model,
            self._gravity,
            self._acting,
            self._motion,
            self._collision,
            self._step_settings(1.0 / self.options.frame_rate),
        )
        return ContactProblem(rows, free_velocity)

    def overlaps(self) -> list[diagnostics.Overlap]:
        """Bodies that overlap at present, before the first frame: as they were placed.

        Returns
        -------
        list of Overlap
            One a pair of bodies of which one at least is dynamic, the largest share of size first.
        """
        step = self._step_settings(1.0 / self.options.frame_rate)
        return diagnostics.overlaps(self.model, present_contacts(self.model, self.state, self._collision, step))

    def velocities(self) -> np.ndarray:
        """Velocities of the centres of mass.

        Returns
        -------
        float64 [body_count, 6]
            Linear [m/s] and angular [rad/s], world axes.
        """
        return self.state.velocity.copy()

    @property
    def sleeping(self) -> np.ndarray:
        """Which bodies sleep, bool [body_count]."""
        return self._sleep.body[GROUP] >= 0

    def wake(self) -> None:
        """Wake all bodies, also those that started asleep."""
        wake_all(self._sleep, self._acting.kind)

    def memory(self) -> dict[str, int]:
        """Bytes that the simulation holds: of the model, the bodies, pairs and contacts, rows, the solver, and threads.

        Nothing grows from frame to frame but where more contacts than ever before need more room.
        """
        collision, problem = self._collision, self._problem
        lanes = [lane.members for lane in self._lanes or ()]
        return {
            "model": _bytes(self.model.arrays) + _bytes(self.model.hulls),
            "bodies": _bytes((self.state, self._acting.kind, self._motion, self._sleep, collision.workspace)),
            "pairs and contacts": _bytes((collision.pairs, collision.contacts)),
            "rows": _bytes(problem._replace(solver=())),
            "solver": _bytes(problem.solver),
            "threads": sum(_bytes(lane.shared.made) for lane in lanes)
            + sum(
                _bytes_apart(lane.problem.solver, lanes[0].problem.solver) + _bytes(lane.collision.workspace.scratch)
                for lane in lanes[1:]
            ),
        }

    def digest(self) -> str:
        """SHA-256 of poses, velocities and kinds, to the bit."""
        digest = hashlib.sha256()
        for array in self.state:
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def checkpoint(self) -> "Checkpoint":
        """All that a simulation carries from frame to frame, to go on from later, to the same bits."""
        return Checkpoint(
            frame=self.frame,
            arrays=copy.deepcopy(
                (
                    self.state,
                    self._gravity,
                    self._acting.kind,
                    self._motion,
                    self._sleep,
                    self._collision,
                    self._problem,
                )
            ),
        )

    def restore(self, checkpoint: "Checkpoint") -> None:
        """Go back, or on, to a checkpoint of a simulation of the same model with the same options.

        Raises
        ------
        ValueError
            The checkpoint has another number of bodies.
        """
        state, gravity, kind, motion, sleep, collision, problem = copy.deepcopy(checkpoint.arrays)
        if len(kind) != self.model.body_count:
            raise ValueError(f"the checkpoint has {len(kind)} bodies; the model has {self.model.body_count}")
        self.frame = checkpoint.frame
        self.state, self._gravity = state, gravity
        self._gravity_norm = _norm(gravity)
        self._acting = state._replace(kind=kind)
        self._motion, self._sleep, self._collision, self._problem = motion, sleep, collision, problem
        self._lanes = None

    def _start_asleep(self):
        """Let bodies sleep from the start, in groups of those that touch."""
        contacts = contacts_at(self.model, self._acting)
        used = slice(int(contacts.count[0]))
        groups = groups_that_touch(self.model, contacts.body_a[used], contacts.body_b[used])
        put_to_sleep(self._sleep, self._acting.kind, groups)

    def _change_gravity(self, gravity):
        """What sleeps may not stand in another gravity."""
        if np.asarray(gravity).tolist() != self._gravity.tolist():
            self._gravity[:] = self._checked("gravity", gravity, (3,))
            self._gravity_norm = _norm(self._gravity)
            wake_all(self._sleep, self._acting.kind)

    def _checked(self, what, value, shape) -> np.ndarray:
        array = np.asarray(value, float)
        if array.shape != shape:
            raise ValueError(f"{what} has the shape {array.shape}; it must be {shape}")
        if not np.all(np.isfinite(array)):
            raise ValueError(f"{what} holds NaN or infinity")
        return array

    def _change_kinds(self, kind):
        """A body that stood still keeps its pose and has no velocity; a kinematic one keeps its velocity."""
        kind = np.asarray(kind)
        if kind.tobytes() == self.state.kind.tobytes() or np.array_equal(kind, self.state.kind):
            return
        if kind.shape != self.state.kind.shape:
            raise ValueError(f"kind has the shape {kind.shape}; it must be {self.state.kind.shape}")
        if not np.isin(kind, list(BodyKind)).all():
            raise ValueError("kind holds a value that is no BodyKind")
        rigid = kind[self.model.arrays.shapes.body[self.model.arrays.shapes.kind == ShapeKind.MESH]]
        if np.any(rigid == BodyKind.DYNAMIC):
            raise ValueError(
                "kind makes a body dynamic whose shape is a mesh; it needs convex parts or the convex hull"
            )
        self.state.velocity[(kind == BodyKind.STATIC) | (self.state.kind == BodyKind.STATIC)] = 0.0
        changed = kind != self.state.kind
        wake_groups_of(self._sleep, self._acting.kind, changed)
        self.state.kind[:] = kind
        self._acting.kind[changed] = kind[changed]

    def _kinematic_target(self, frame_input):
        """Where the frame's input puts the kinematic bodies.

        Returns
        -------
        tuple or None
            (kinematic [body_count], position, orientation) of the body frames at the frame's end.
        """
        if frame_input.position is None:
            return None
        # Compared as bytes: of a few bodies, NumPy would take longer than the step.
        kinds = self.state.kind.tobytes()
        if kinds == self._undriven_kinds:
            return None
        kinematic = self.state.kind == BodyKind.KINEMATIC.value
        if not kinematic.any():
            self._undriven_kinds = kinds
            return None
        count = self.model.body_count
        position = np.array(frame_input.position, float)
        orientation = np.array(frame_input.orientation, float)
        if position.shape != (count, 3) or orientation.shape != (count, 4):
            raise ValueError(f"position and orientation must have the shapes ({count}, 3) and ({count}, 4)")
        lost = kinematic & ~(np.isfinite(position).all(axis=1) & np.isfinite(orientation).all(axis=1))
        if lost.any():
            raise ValueError(f"the pose given for {self.model.names[np.argmax(lost)]} holds NaN or infinity")
        present_position, present_orientation = self.poses()
        position[~kinematic] = present_position[~kinematic]
        orientation[~kinematic] = present_orientation[~kinematic]
        orientation /= np.linalg.norm(orientation, axis=1, keepdims=True)
        return kinematic, *self.model.body_poses(position, orientation)

    def _aim_kinematic_bodies(self, target, duration):
        """Give kinematic bodies the constant velocities that take them to their target in ``duration``."""
        if target is None:
            return
        kinematic, position, orientation = target
        turn = rotations.multiply(orientation, rotations.conjugate(self.state.orientation))
        self.state.velocity[kinematic, :3] = ((position - self.state.position) / duration)[kinematic]
        self.state.velocity[kinematic, 3:] = (rotations.to_rotation_vector(turn) / duration)[kinematic]

    def _place_kinematic_bodies(self, target):
        """Put driven bodies exactly where they are to be, so that rounding never parts them from their animation."""
        if target is None:
            return
        kinematic, position, orientation = target
        self.state.position[kinematic] = position[kinematic]
        self.state.orientation[kinematic] = orientation[kinematic]

    def _aim_forms(self, meshes, shapes, duration):
        """Let meshes deform and round shapes grow to their targets in ``duration``, and wake what is near."""
        workspace, h = self._collision.workspace, duration / self.options.substeps
        for changed, way in [
            *forms.aim_meshes(self.model, workspace, meshes, duration, h),
            *forms.aim_shapes(workspace, shapes, duration),
        ]:
            self._wake_near(changed, way)

    def _wake_near(self, changed, way):
        """Wake bodies whose bounds of the last substep come within ``way`` of those of some shapes."""
        shapes, bounds = self.model.arrays.shapes, self._collision.workspace.tree.bounds
        near = np.zeros(self.model.body_count, bool)
        for shape in changed:
            overlaps = (bounds[:, 0] <= bounds[shape, 1] + way) & (bounds[:, 1] >= bounds[shape, 0] - way)
            near[shapes.body[overlaps.all(axis=1)]] = True
        wake_groups_of(self._sleep, self._acting.kind, near)

    def _step(self, step):
        """Call the frame's kernel; where a buffer was full, make room and go on."""
        while True:
            if self._lanes is None:
                self._gather_arrays()
            if self._told != step:
                give_orders(self._lanes[0].members.shared, step)
                self._told = step
            if self._lane_count == 1:
                is_done = self._advance(self._lanes[0])
            else:
                with threads(self._lane_count):
                    is_done = self._advance(self._lanes[0])
            if is_done:
                return
            self._collision = grow_collision(self._collision)
            self._fallbacks += self._take_fallbacks()
            earlier = self._problem
            self._problem = allocate_problem(self._collision, self.model.body_count, self._method)
            if may_divide(earlier):
                self._problem = with_parts(self._problem)
            self._method.carry(earlier.solver, self._problem.solver)
            self._lanes = None

    def _gather_arrays(self):
        """Put the arrays and kernels of a frame together, as they are from now on."""
        kinds, options = self.model.arrays.shapes.kind, self.options
        key = options.method, options.friction, self._lane_count > 1, *needed_families(kinds)
        tables = _tables_of_kernels.get(key) or empty_tables()
        shared = allocate_shared(
            tables,
            self._settings,
            self._gravity,
            self._record,
            self._collision,
            self._problem.islands,
            self._lane_count,
        )
        shared.orders[SWEEPS_AT_REST] = isinstance(self._problem.solver, SolverWorkspace)
        members = StepMembers(
            self.model.arrays, self._acting, self._motion, self._sleep, self._collision, shared, self._problem
        )
        if key not in _tables_of_kernels:
            for compilation in stages_to_compile(members, kinds, self._method, self._lane_count):
                compilation.compile()
            _tables_of_kernels[key] = tables
        self._lanes = gather_arrays(members, self._method, self._lane_count)
        self._advance, self._told = direct_call(advance_frame, self._lanes[0]), None

    def _step_settings(self, duration) -> StepSettings:
        """Of a frame of that length; one of 0 has no substep, and nobody falls asleep in it."""
        options = self.options
        substeps = self._substeps(duration) if duration > 0.0 else 0
        return StepSettings(
            substeps,
            duration / substeps if substeps else 0.0,
            self._gravity_norm,
            options.maximal_points,
            int(options.sleeping and substeps > 0),
        )

    def _substeps(self, duration) -> int:
        """As many that no body goes farther in one than half its size, or turns farther than half a radian."""
        lowest, highest = self.options.substeps, self.options.max_substeps
        if highest is None or highest == lowest:
            return lowest
        moving = self.state.kind != BodyKind.STATIC.value
        velocity = self.state.velocity[moving]
        speed = np.linalg.norm(velocity[:, :3], axis=1) / self.model.arrays.size[moving]
        spin = np.linalg.norm(velocity[:, 3:], axis=1)
        needed = duration * max(speed.max(initial=0.0) / _TRAVEL_A_SUBSTEP, spin.max(initial=0.0) / _TURN_A_SUBSTEP)
        return int(np.clip(np.ceil(needed), lowest, highest))

    def _take_fallbacks(self) -> int:
        """Fallbacks since the last time this was asked."""
        if self._method.fallbacks is None:
            return 0
        count = 0
        for lane in self._lanes or ():
            counter = self._method.fallbacks(lane.members.problem.solver)
            count += int(counter[0])
            counter[0] = 0
        return count

    def _report(self) -> FrameReport:
        """What happened; raises where a body is no longer anywhere."""
        record = self._record
        counts, measures = record.counts.tolist(), record.measures.tolist()
        if counts[LOST] >= 0:
            name = self.model.names[counts[LOST]]
            raise SimulationError(f"{name}: its motion is no longer finite in frame {self.frame}")
        # the second body stands on the first, where one of them is a floor
        worst = [self.model.names[body] for body in counts[WORST:][::-1] if body >= 0]
        return FrameReport(
            frame=self.frame,
            substeps=counts[SUBSTEPS],
            contacts=counts[CONTACTS],
            islands=counts[ISLANDS],
            sleeping=counts[SLEEPING],
            iterations=counts[ITERATIONS],
            missed=counts[MISSED],
            fallbacks=self._fallbacks + self._take_fallbacks(),
            residual=measures[RESIDUAL],
            worst=" on ".join(worst),
            max_penetration=measures[PENETRATION],
            kinetic_energy=measures[ENERGY],
            potential_energy=measures[ENERGY + 1],
            nanoseconds=record.nanoseconds.tolist(),
        )


def _norm(vector) -> float:
    return float(vector @ vector) ** 0.5


def _bytes(arrays) -> int:
    """Size of an array, or of all in nested tuples."""
    return arrays.nbytes if isinstance(arrays, np.ndarray) else sum(map(_bytes, arrays))


def _bytes_apart(arrays, others) -> int:
    """The same without the arrays that ``others``, nested alike, has in the same places."""
    if isinstance(arrays, np.ndarray):
        return 0 if arrays is others else arrays.nbytes
    return sum(map(_bytes_apart, arrays, others))


@dataclass(frozen=True)
class Checkpoint:
    """A simulation in the middle; it can be pickled.

    Attributes
    ----------
    frame : int
        Frames done.
    arrays : tuple
        What the simulation carries.
    """

    frame: int
    arrays: tuple


def deepest_overlap(model: Model, position, orientation) -> float:
    """Depth of the deepest overlap of all pairs of bodies of which one is dynamic [m]; 0 without one.

    Parameters
    ----------
    model : Model
    position, orientation : float64 [body_count, 3], [body_count, 4]
        Poses of the user frames, of any origin: so another engine's motion is measured alike.
    """
    centers, axes = model.body_poses(np.asarray(position, float), np.asarray(orientation, float))
    state = StateArrays(
        position=np.ascontiguousarray(centers),
        orientation=np.ascontiguousarray(axes / np.linalg.norm(axes, axis=1, keepdims=True)),
        velocity=np.zeros((model.body_count, 6)),
        kind=model.initial_state.kind.copy(),
    )
    contacts = contacts_at(model, state)
    return float(max(0.0, -contacts.gap[: contacts.count[0]].min(initial=0.0)))


def _solver_settings(options):
    """What the solver's kernel is told."""
    method = find_method(options.method, options.friction)
    solver_options = SolverOptions(tolerance=options.tolerance, max_iterations=options.max_iterations)
    return kernel_settings(resolve_options(method, solver_options, method.max_iterations), options.friction)
