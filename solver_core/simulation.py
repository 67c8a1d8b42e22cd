"""The simulation as its users call it: one model, one set of options, frame after frame."""

import hashlib
import math
from collections.abc import Generator
from typing import Any

import numpy as np

from . import diagnostics
from .checkpoint import Carried, Checkpoint, restored, stored_arrays
from .collision.pair_dispatch import needed_pair_kernels
from .compiled.kernel import direct_call
from .compiled.views import write_numbers
from .constraints.joints.joint_state import allocate_joint_state
from .dynamics.frame.allocation import (
    allocate_collision,
    allocate_impulses,
    allocate_pair_runs,
    allocate_problem,
    allocate_settings,
    allocate_sharing,
    allocate_solves,
    gather_arrays,
    grow_collision,
    keeps_impulses,
    may_partition,
    memory_of,
    with_domains,
)
from .dynamics.frame.compilation import empty_tables, stages_to_compile, what_it_has
from .dynamics.frame.next_substep import next_rows, present_contacts, start_asleep
from .dynamics.frame.step import advance_frame
from .dynamics.frame.step_data import StepMembers, StepSettings
from .dynamics.motion.frame_impulses import begin_frame_impulses, grown_frame_impulses
from .dynamics.motion.integration import allocate_motion
from .dynamics.motion.motion_breaks import MotionBreaks
from .dynamics.motion.substeps_needed import substeps_needed
from .dynamics.outside import frame_checks, shape_parameters
from .dynamics.outside.field_input import change_fields, fields_of, wake_where_forces_change
from .dynamics.outside.frame_paths import FramePaths
from .dynamics.outside.frame_poses import aim_driven, find_driven_poses, place_driven, write_user_poses
from .dynamics.outside.guide_arrays import allocate_guides
from .dynamics.outside.guide_input import change_guides
from .dynamics.outside.joint_input import change_joints, exclude_joined, with_own_pairs
from .dynamics.outside.pull import allocate_pull, take_pull
from .dynamics.outside.waiting_input import change_waiting, report_waiting
from .dynamics.rest.sleeping import allocate_sleep, wake_all, wake_groups_of, wake_near_shapes
from .dynamics.rest.waiting import allocate_waiting, begin_waiting, end_waiting
from .dynamics.schedule.frame_record import allocate_record, clear_record
from .model.model import BodyKind, Model
from .model.state import copy_state
from .options import FrameInput, SimulationOptions
from .parallel.workers import threads, worker_count
from .problem.problem import ContactProblem
from .report import FrameContacts, FrameReport, add_joints, add_lost, frame_contacts, frame_report
from .solvers.batches.domain_partition import BLOCKS_TO_PARTITION
from .solvers.batches.sweep_workspace import SweepWorkspace
from .solvers.registry import find_method

# Tables of kernels that have been called, by what they depend on: to look the kernels up takes some ten milliseconds.
_tables_of_kernels: dict[tuple, Any] = {}

# After a frame that took less [s], ``frame_steps`` takes all substeps of the next one at once: to come back after each
# takes longer than those of a few bodies.
SECONDS_AT_ONCE = 0.02

# Speeds below this share of what gravity gives in a substep are rounding of the speeds that bodies fall with. A larger
# share, as the tolerance itself, lets boxes at rest slide off by what the velocity solve leaves.
_RATIO_ROUNDING = 1e-12


class SimulationError(RuntimeError):
    """The motion of a driven body is not finite; the message names the body."""


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
        self._motion = allocate_motion(model.body_count, model.has_forces)
        self._sleep = allocate_sleep(model.body_count)
        # the same state with the kinds that the step sees: a sleeping body is static
        self._acting = self.state._replace(kind=self.state.kind.copy())
        self._collision = allocate_collision(model)
        self._method = find_method(self.options.method, self.options.friction)
        self._waiting = allocate_waiting(model.arrays.activation)
        begin_waiting(self._waiting, self.state, self._acting.kind)
        self._joint_state = allocate_joint_state(model.arrays.joints)
        self._broken, self._lost = self._joint_state.broken.copy(), self._motion.memory.is_lost.copy()
        self._fields = fields_of(model)
        self._guides, self._pull = allocate_guides(model.guides, *self.state[:2]), allocate_pull()
        self._arrays = model.arrays
        if model.joint_count:
            self._arrays = with_own_pairs(model.arrays)
            exclude_joined(model.arrays, self._arrays, self._joint_state)
        self._problem = allocate_problem(self._collision, model.arrays.joints, model.body_count, self._method)
        self._settings = allocate_settings(self.options.solver_settings(), self._gravity)
        self._step_settings = None
        self._sweeps_at_rest = int(isinstance(self._problem.solver, SweepWorkspace))
        self._small_steps = self.options.small_steps
        self._record = allocate_record()
        self._notes_contacts = keeps_impulses(model, self.options)
        self._impulses = allocate_impulses(self._collision, self.model, self._notes_contacts)
        self._breaks = MotionBreaks(model.arrays) if self.options.breaks else None
        self._worker_count = worker_count(self.options.threads, model.body_count)
        # gathered at the first step, and anew after arrays have grown
        self._workers: Any = None
        self._advance: Any = None
        self._undriven_kinds = b""  # kinds of all bodies where none of them is driven
        self._gravity_norm = frame_checks.norm_of(self._gravity)
        # that the last frame took; nothing is known of the first one
        self._seconds = math.inf
        if model.starts_asleep.any():
            start_asleep(model, self._acting, self._sleep)

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
            What a driven body does is not finite. Others that come to that are held (``FrameReport.lost``).
        """
        target, (meshes, shapes), step, paths = self._begin_frame(frame_input or _AS_BEFORE)
        for _ in self._substep_by_substep(step, paths) if paths or self._breaks else ():
            pass
        self._step(step)
        return self._end_frame(target, meshes, shapes, paths)

    def frame_steps(self, frame_input: FrameInput | None = None) -> Generator[int, None, FrameReport]:
        """Simulate one frame, to the same bits, as a generator that comes back after each substep but the last.

        After a frame that was over in no time (``SECONDS_AT_ONCE``) it does not come back at all. Between two of them
        the simulation is within the frame: the generator must be run to its end before anything but ``poses`` and
        ``velocities`` is asked, and closed only to give the simulation up. It raises what ``advance_frame`` does.

        Parameters
        ----------
        frame_input : FrameInput, optional

        Yields
        ------
        int
            Substeps done.

        Returns
        -------
        FrameReport
        """
        target, (meshes, shapes), step, paths = self._begin_frame(frame_input or _AS_BEFORE)
        comes_back = self._seconds > SECONDS_AT_ONCE
        for substeps in self._substep_by_substep(step, paths) if comes_back or paths or self._breaks else ():
            if comes_back:
                yield substeps
        self._step(step)
        return self._end_frame(target, meshes, shapes, paths)

    def _substep_by_substep(self, step, paths):
        """Simulate all substeps of a frame but the last, and aim that; yields how many are done."""
        for substep in range(step.substeps):
            if paths:
                paths.aim(substep, step.substeps, step.h)
            if substep + 1 < step.substeps:
                # bodies fall asleep at the frame's end
                self._step(step._replace(until=substep + 1, sleeping=0))
                yield substep + 1

    def _begin_frame(self, frame_input):
        """Take over what drives the frame.

        Returns target of the kinematic bodies, (meshes, shapes) at the frame's end, StepSettings, FramePaths or None.
        """
        duration = frame_checks.checked_duration(frame_input.duration, self.options.frame_rate)
        if frame_input.gravity is not None:
            self._change_gravity(frame_input.gravity)
        if frame_input.kind is not None:
            self._change_kinds(frame_input.kind)
        if self._waiting.waits.size:
            change_waiting(self._waiting, self._sleep, self.state, self._acting.kind, frame_input)
        if self.model.joint_count:
            self._change_joints(frame_input, duration)
        clear_record(self._record)
        if self._notes_contacts:
            begin_frame_impulses(self._impulses, self.state.velocity)
        self._joint_state.peak[:], self._fallbacks = 0.0, 0
        self._joint_state.peak_stress[:] = 0.0
        target = self._kinematic_target(frame_input)
        meshes = shape_parameters.mesh_targets(self.model, frame_input.vertices or {})
        shapes = shape_parameters.shape_targets(self.model, self.state.kind, frame_input.shapes or {})
        if frame_input.jumps is not None and target is not None:
            self._jump(frame_input.jumps, target)
        paths = None
        if duration > 0.0:
            if target is not None:
                aim_driven(self.state.kind, *self.state[:3], *target, duration)
            paths = self._aim_surfaces(frame_input, target, meshes, shapes, duration)
        elif target is not None:
            wake_all(self._sleep, self._acting.kind)
        if self.model.has_fields:
            change_fields(self._fields, frame_input.fields, frame_input.forces, self.model, self.frame)
            wake_where_forces_change(self._fields, self._arrays, self.state, self._sleep, self._acting.kind, duration)
        if self._guides.follow.size:
            change_guides(self._guides, self.model, frame_input, self._sleep, self._acting, duration)
        if frame_input.pull is not None or self._pull.body.size:
            self._pull, self._motion = take_pull(frame_input.pull, self.model, self._motion, self._sleep, self._acting)
            self._workers = None
        given = frame_input.volumes, frame_input.motor_position, frame_input.motor_velocity, frame_input.pull
        is_driven = bool(meshes or shapes or paths or self._fields.changes[0] or self._guides.moves[0]) or any(
            each is not None for each in given
        )
        return target, (meshes, shapes), self._settings_of_step(duration, is_driven), paths

    def _end_frame(self, target, meshes, shapes, paths) -> FrameReport:
        """Put what is driven exactly where it is to be, and report."""
        if target is not None:
            # so that rounding never parts them from their animation
            place_driven(self.state.kind, self.state.position, self.state.orientation, *target)
        if paths:
            paths.end()
        shape_parameters.place_meshes(self._collision.workspace, meshes)
        shape_parameters.place_shapes(self._collision.workspace, shapes)
        self.frame += 1
        report = self._report()
        self._seconds = 1e-9 * sum(report.nanoseconds)
        if report.contacts >= BLOCKS_TO_PARTITION and not may_partition(self._problem):
            self._problem, self._workers = with_domains(self._problem), None
        return report

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses of the user frames.

        Returns
        -------
        position, orientation : float64 [body_count, 3], [body_count, 4]
            [m]; unit quaternions (w, x, y, z).
        """
        model, state = self.model, self.state
        position, orientation = np.empty_like(state.position), np.empty_like(state.orientation)
        write_user_poses(
            model.frame_position, model.frame_orientation, state.position, state.orientation, position, orientation
        )
        return position, orientation

    def contact_problem(self) -> ContactProblem:
        """The problem that the next frame's first position solve starts with, for ``solve_contacts`` or one's own code.

        Returns
        -------
        ContactProblem
            With arrays of its own; ``rows.impulse`` holds the impulses of the last substep, in the rows' directions.
        """
        held = self._gravity, self._acting, self._sleep, self._collision, self._joint_state
        step = self._settings_of_step(1.0 / self.options.frame_rate)
        rows, free_velocity = next_rows(self.model, *held, (self._fields, self._guides), step)
        return ContactProblem(rows, free_velocity)

    def overlaps(self) -> list[diagnostics.Overlap]:
        """Bodies that overlap at present, before the first frame: as they were placed.

        Returns
        -------
        list of Overlap
            One a pair of bodies of which one at least is dynamic, the largest share of size first.
        """
        step = self._settings_of_step(1.0 / self.options.frame_rate)
        return diagnostics.overlaps(self.model, present_contacts(self.model, self.state, self._collision, step))

    def contacts(self) -> FrameContacts:
        """What has pushed what in the last frame, and what joints have borne: ``FrameReport.frame_contacts``.

        Returns
        -------
        FrameContacts
            With arrays of its own; empty before the first frame.

        Raises
        ------
        ValueError
            The simulation was made without ``SimulationOptions.contacts``.
        """
        if not self.options.contacts:
            raise ValueError("the simulation does not note contacts; SimulationOptions(contacts=True) lets it")
        return frame_contacts(self._impulses)

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
        return self._sleep.group >= 0

    @property
    def waiting(self) -> np.ndarray:
        """Which bodies wait for their activation, bool [body_count]."""
        return self._waiting.waits.copy() if self._waiting.waits.size else np.zeros(self.model.body_count, bool)

    @property
    def joint_count(self) -> int:
        """Number of joints."""
        return self.model.joint_count

    def wake(self) -> None:
        """Wake all bodies, also those that started asleep."""
        wake_all(self._sleep, self._acting.kind)

    def memory(self) -> dict[str, int]:
        """Bytes that the simulation holds: of the model, the bodies, pairs and contacts, rows, the solver, and threads.

        Nothing grows from frame to frame but where more contacts than ever before need more room.
        """
        bodies = self.state, self._acting.kind, self._motion, self._sleep
        parts = bodies, self._collision, self._impulses, self._problem, self._joint_state
        return memory_of(self.model, parts, [worker.members for worker in self._workers or ()])

    def digest(self) -> str:
        """SHA-256 of poses, velocities and kinds, and of which joints act, to the bit."""
        digest = hashlib.sha256()
        for array in (*self.state, self._joint_state.enabled, self._joint_state.broken, self._waiting.waits):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def checkpoint(self) -> "Checkpoint":
        """All that a simulation carries from frame to frame, to go on from later, to the same bits."""
        carried = Carried(
            self.state,
            self._gravity,
            self._acting.kind,
            self._motion,
            self._sleep,
            self._joint_state,
            self._waiting,
            self._fields,
            self._guides,
            self._collision,
            self._problem,
        )
        breaks = self._breaks.stored() if self._breaks else {}
        return Checkpoint(self.frame, stored_arrays(carried, self.model, self._method) | breaks)

    def restore(self, checkpoint: "Checkpoint") -> None:
        """Go back, or on, to a checkpoint of a simulation of the same model with the same options.

        Raises
        ------
        ValueError
            The checkpoint is not one of this model; the simulation is as it was.
        """
        carried = restored(checkpoint, self.model, self._method)
        if self._breaks:
            self._breaks.push = self._breaks.restored_push(checkpoint.arrays)
        self.frame = checkpoint.frame
        self.state, self._gravity = carried.state, carried.gravity
        self._gravity_norm = frame_checks.norm_of(carried.gravity)
        self._settings = self._settings._replace(gravity=carried.gravity)
        self._acting = carried.state._replace(kind=carried.acting_kind)
        self._motion, self._sleep, self._collision = carried.motion, carried.sleep, carried.collision
        self._problem, self._joint_state = carried.problem, carried.joint_state
        self._waiting, self._fields, self._guides = carried.waiting, carried.fields, carried.guides
        self._broken, self._lost = carried.joint_state.broken.copy(), carried.motion.memory.is_lost.copy()
        self._impulses = allocate_impulses(self._collision, self.model, self._notes_contacts)
        if self.model.joint_count:
            exclude_joined(self.model.arrays, self._arrays, self._joint_state)
        self._workers = None

    def _change_gravity(self, gravity):
        """What sleeps may not stand in another gravity."""
        if np.asarray(gravity).tolist() != self._gravity.tolist():
            self._gravity[:] = frame_checks.checked_numbers("gravity", gravity, (3,))
            self._gravity_norm = frame_checks.norm_of(self._gravity)
            wake_all(self._sleep, self._acting.kind)

    def _change_joints(self, frame_input, duration):
        """What is keyed of joints; wakes the bodies of those that change."""
        bodies = change_joints(self.model.arrays, self._joint_state, frame_input, duration)
        if bodies.any():
            wake_groups_of(self._sleep, self._acting.kind, bodies)
            if frame_input.joint_enabled is not None:
                exclude_joined(self.model.arrays, self._arrays, self._joint_state)

    def _change_kinds(self, kind):
        """A body that stood still keeps its pose and has no velocity; a kinematic one keeps its velocity."""
        if np.asarray(kind).tobytes() == self.state.kind.tobytes() or np.array_equal(kind, self.state.kind):
            return
        kind = frame_checks.checked_kinds(kind, self.state.kind, self.model.arrays.shapes)
        self.state.velocity[(kind == BodyKind.STATIC) | (self.state.kind == BodyKind.STATIC)] = 0.0
        changed = kind != self.state.kind
        end_waiting(self._waiting, changed)
        wake_groups_of(self._sleep, self._acting.kind, changed)
        self.state.kind[:] = kind
        self._acting.kind[changed] = kind[changed]
        self._motion.memory.is_lost[changed] = self._lost[changed] = False

    def _kinematic_target(self, frame_input):
        """Where the frame's input puts the kinematic bodies.

        Returns
        -------
        tuple or None
            (position, orientation) of all body frames at the frame's end; those of kinematic bodies count.
        """
        if frame_input.position is None:
            return None
        # Compared as bytes: of a few bodies, NumPy would take longer than the step.
        kinds = self.state.kind.tobytes()
        if kinds == self._undriven_kinds:
            return None
        if BodyKind.KINEMATIC.value not in self.state.kind:
            self._undriven_kinds = kinds
            return None
        count, model = self.model.body_count, self.model
        position, orientation = frame_checks.checked_poses(frame_input.position, frame_input.orientation, count)
        lost = find_driven_poses(self.state.kind, model.frame_position, model.frame_orientation, position, orientation)
        if lost >= 0:
            raise ValueError(f"the pose given for {model.names[lost]} holds NaN or infinity")
        return position, orientation

    def _jump(self, jumps, target):
        """Put kinematic bodies where they are to be, before anything moves."""
        jumps = frame_checks.checked_flags("jumps", jumps, self.state.kind.shape)
        jumps = jumps & (self.state.kind == BodyKind.KINEMATIC)
        if jumps.any():
            self.state.position[jumps], self.state.orientation[jumps] = target[0][jumps], target[1][jumps]
            wake_all(self._sleep, self._acting.kind)

    def _aim_surfaces(self, frame_input, target, meshes, shapes, duration) -> FramePaths:
        """Let meshes deform and round shapes grow to their targets in ``duration``, and wake what is near."""
        workspace, h = self._collision.workspace, duration / self.options.substeps
        aimed = list(shape_parameters.aim_meshes(self.model, workspace, meshes, duration, h))
        aimed += shape_parameters.aim_shapes(workspace, shapes, duration)
        paths = FramePaths(self.model, self.state, workspace, frame_input, target, meshes, shapes, duration)
        for changed, reach in aimed + paths.reaches:
            wake_near_shapes(self._sleep, self._acting.kind, self.model.arrays.shapes, workspace.tree, changed, reach)
        return paths

    def _step(self, step):
        """Call the frame's kernel, with more room where a buffer was full; note whose motion breaks at the end."""
        before, stands = self.state.orientation.copy(), self._record.stands[0] == 1
        if self._step_settings != step:
            write_numbers(self._settings.step, step)
            # where nothing has to be stopped, as by the joints of what falls freely, the scale of a problem is rounding
            least = _RATIO_ROUNDING * step.gravity_norm * step.h
            write_numbers([self._settings.solver.absolute_tolerance], [least])
            self._step_settings = step
        while True:
            if self._workers is None:
                self._gather_arrays()
            if self._worker_count == 1:
                is_done = self._advance(self._workers[0])
            else:
                with threads(self._worker_count):
                    is_done = self._advance(self._workers[0])
            if is_done:
                break
            self._make_room()
        if self._breaks and step.substeps and not stands:
            self._breaks.note(self.state, self._motion, before, step, self.poses)

    def _make_room(self):
        """Grow the buffers of which one was full: those of a frame's impulses, or those of pairs and contacts."""
        self._workers = None
        if self._impulses.needed[0] > len(self._impulses.weight):
            self._impulses = grown_frame_impulses(self._impulses, len(self._collision.contacts[0].gap))
            return
        self._collision = grow_collision(self._collision)
        if self._notes_contacts:
            self._impulses = grown_frame_impulses(self._impulses, len(self._collision.contacts[0].gap))
        self._fallbacks += self._take_fallbacks()
        earlier, model = self._problem, self.model
        self._problem = allocate_problem(self._collision, model.arrays.joints, model.body_count, self._method)
        if may_partition(earlier):
            self._problem = with_domains(self._problem)
        self._method.carry(earlier.solver, self._problem.solver)

    def _gather_arrays(self):
        """Put the arrays and kernels of a frame together, as they are from now on."""
        kinds, options = self.model.arrays.shapes.kind, self.options
        members = StepMembers(
            model=self._arrays,
            state=self._acting,
            motion=self._motion,
            sleep=self._sleep,
            collision=self._collision,
            settings=self._settings,
            kernels=empty_tables(),
            record=self._record,
            impulses=self._impulses,
            sharing=allocate_sharing(self._worker_count),
            pair_runs=allocate_pair_runs(self._collision, self._worker_count),
            solves=allocate_solves(self.model.body_count),
            joint_state=self._joint_state,
            waiting=self._waiting,
            fields=self._fields,
            guides=self._guides,
            pull=self._pull,
            problem=self._problem,
        )
        has = what_it_has(members, self._worker_count)
        key = options.method, options.friction, *has.values(), *needed_pair_kernels(kinds)
        if key not in _tables_of_kernels:
            for compilation in stages_to_compile(members, kinds, self._method, self._worker_count):
                compilation.compile()
            _tables_of_kernels[key] = members.kernels
        members = members._replace(kernels=_tables_of_kernels[key])
        self._workers = gather_arrays(members, self._method)
        self._advance = direct_call(advance_frame, self._workers[0])

    def _settings_of_step(self, duration, is_driven=True) -> StepSettings:
        """Of a frame of that length; one of 0 has no substep, and nobody falls asleep in it."""
        options = self.options
        substeps = self._substeps(duration) if duration > 0.0 else 0
        return StepSettings(
            substeps=substeps,
            until=substeps,
            h=duration / substeps if substeps else 0.0,
            gravity_norm=self._gravity_norm,
            maximal_points=options.maximal_points,
            sleeping=int(options.sleeping and substeps > 0),
            sweeps_at_rest=self._sweeps_at_rest,
            small_steps=self._small_steps,
            impact_time=options.impact_time,
            ends_at_rest=int(not is_driven),
        )

    def _substeps(self, duration) -> int:
        """As many as the bodies need now, within the options' bounds."""
        lowest, highest = self.options.substeps, self.options.max_substeps
        if highest is None or highest == lowest:
            return lowest
        state, size = self.state, self.model.arrays.size
        turn = self._motion.memory.contact_turn
        needed = substeps_needed(state.kind, state.velocity, size, turn, self._gravity_norm, duration)
        return min(max(needed, lowest), highest)

    def _take_fallbacks(self) -> int:
        """Fallbacks since the last call."""
        if self._method.fallbacks is None:
            return 0
        count = 0
        for worker in self._workers or ():
            counter = self._method.fallbacks(worker.members.solver_input.workspace)
            count += int(counter[0])
            counter[0] = 0
        return count

    def _report(self) -> FrameReport:
        """What happened; raises if a driven body's state is not finite."""
        lost = int(self._record.not_finite[0])
        if lost >= 0:
            raise SimulationError(f"{self.model.names[lost]}: its motion is no longer finite in frame {self.frame}")
        report = frame_report(self._record, self.model.names, self.frame, self._fallbacks + self._take_fallbacks())
        self._lost = add_lost(report, self._motion.memory.is_lost, self.model.names, self._lost)
        if self.model.joint_count:
            self._broken = add_joints(report, self._joint_state, self.model.joint_names, self._broken)
        if self._waiting.waits.size:
            report_waiting(report, self._waiting, self.model, self._arrays, self._joint_state)
        if self.options.contacts:
            report.frame_contacts = frame_contacts(self._impulses)
        report.breaks = self._breaks.of_frame() if self._breaks else None
        return report
