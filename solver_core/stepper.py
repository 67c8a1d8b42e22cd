"""One frame of simulation: the only file that knows all stages of a step.

``advance_frame`` is the step as a list of named stages. It is one kernel, so that Python is asked once a frame. Large
stages and the solver it calls by address (``entries``), so each is compiled on its own, and only what a model needs.

Each substep asks two questions of the contacts. First: where do the bodies go? Gaps may close but not more, overlaps
are taken out a bit, and the answer moves the poses. Then, only where overlaps were taken out or bodies bounce: how
fast are they afterwards? That answer becomes the velocities, so that taking out an overlap adds no kinetic energy
and a bounce starts at the surface.
"""

import copy
from typing import NamedTuple

import numpy as np
from numba import types

from .clock import now
from .collision.broad_phase import broad_phase
from .collision.growth import grow_shapes
from .collision.looks import is_unsolved, note_unsolved, nothing_turns, start_look
from .collision.mesh_motion import move_meshes
from .collision.narrow_phase import LOOK_AT_ENDS, MAKE_CONTACTS, meet_on_new_ways, narrow_phase
from .collision.pair_families import families_to_compile, find_families
from .collision.workspace import (
    FAMILIES,
    MOST_LOOKS,
    MOST_LOOKS_AT_ENDS,
    SURPLUS,
    CollisionWorkspace,
    allocate_collision_workspace,
)
from .constraints.contact_rows import (
    RECOVERS,
    SAME,
    ContactRowArrays,
    allocate_contact_rows,
    ask_for_velocities,
    build_contact_rows,
    forget_impulses,
    gains_energy,
    move_rows_along,
    store_contact_impulses,
)
from .constraints.impacts import (
    MAX_IMPACTS,
    begin_impacts,
    end_impact,
    end_impacts,
    pick_impacts,
    threshold_of_impacts,
)
from .contacts import STATUS_OK, allocate_contacts, allocate_pairs, grown, match_contacts, take_looked_impulses
from .entries import Compilation, call_for_count, caller, empty_entries
from .islands import find_islands
from .kernel import borrowed, kernel, subkernel
from .motion import allocate_motion, apply_forces, integrate_poses, look_farther, measure_motion
from .rows import (
    IslandArrays,
    RowArrays,
    SolverSettings,
    allocate_islands,
    allocate_rows,
)
from .sleeping import (
    SLEEPING as SLEEPING_COUNT,
)
from .sleeping import (
    allocate_sleep,
    fall_asleep,
    forget_stirred,
    wake_near_driven,
    wake_touched,
)
from .solvers.contact.sweep import apply_impulses
from .solvers.contact.touch_up import touch_up_island
from .solvers.registry import find_method
from .state import copy_state
from .step_arrays import StepArrays, StepMembers, views_of

# The stages of a step, in their order; the names stand in reports and benchmarks.
STAGES = (
    "apply_forces",
    "broad_phase",
    "narrow_phase",
    "match_contacts",
    "build_rows",
    "find_islands",
    "solve_contacts",
    "solve_velocities",
    "integrate",
    "fall_asleep",
)

# Entries of FrameRecord.counts; WORST takes two.
SUBSTEPS, CONTACTS, ISLANDS, SLEEPING, ITERATIONS, MISSED, WORST = range(7)
# Entries of FrameRecord.measures.
RESIDUAL, PENETRATION = range(2)

ROWS_PER_CONTACT = 3

# Places in FrameEntries.stages.
APPLY_FORCES, BROAD_PHASE, NARROW_PHASE, MATCH_CONTACTS, BUILD_ROWS, FIND_ISLANDS, INTEGRATE, SOLVE = range(8)
_ENTRY_NAMES = (
    "apply_forces",
    "broad_phase",
    "narrow_phase",
    "match_contacts",
    "build_rows",
    "find_islands",
    "integrate",
    "solve_contacts",
)

# (status, iterations, residual, scale, worst block), of every solver.
SOLVER_OUTCOME = types.Tuple((types.int64, types.int64, types.float64, types.float64, types.int64))
call_stage, call_solver = caller(types.none), caller(SOLVER_OUTCOME)


class CollisionArrays(NamedTuple):
    """What the collision stages keep from substep to substep.

    Pairs and contacts have two buffers each, this substep's and the last one's, which change places.

    Attributes
    ----------
    pairs : tuple of two PairArrays
    contacts : tuple of two ContactArrays
    current : int64 [1]
        Which of the two the next substep writes.
    workspace : CollisionWorkspace
    """

    pairs: tuple
    contacts: tuple
    current: np.ndarray
    workspace: CollisionWorkspace


class ProblemArrays(NamedTuple):
    """The rows of a substep, sorted into islands; workspace.

    Attributes
    ----------
    rows : RowArrays
    contact_rows : ContactRowArrays
    islands : IslandArrays
    parent, label : int64 [body_count]
        For ``find_islands``.
    solver : workspace of the method
    """

    rows: RowArrays
    contact_rows: ContactRowArrays
    islands: IslandArrays
    parent: np.ndarray
    label: np.ndarray
    solver: tuple


class StepSettings(NamedTuple):
    """Numbers that hold for a frame.

    Attributes
    ----------
    substeps : int
    h : float
        Length of a substep [s].
    gravity_norm : float
        [m/s^2].
    maximal_points : int
        Most contacts of a pair of shapes.
    sleeping : int
        1: islands at rest fall asleep.
    """

    substeps: int
    h: float
    gravity_norm: float
    maximal_points: int
    sleeping: int = 0


class FrameRecord(NamedTuple):
    """What a frame reports, written by its kernel.

    Attributes
    ----------
    nanoseconds : int64 [len(STAGES)]
    counts : int64 [8]
        SUBSTEPS done; CONTACTS, ISLANDS and SLEEPING bodies at the end; ITERATIONS of all solves and how many MISSED
        their tolerance; the two bodies of the contact with the largest residual, -1 without one (WORST).
    measures : float64 [2]
        Largest RESIDUAL of the frame, relative to its problem's scale; deepest overlap that a substep started with
        (PENETRATION [m]).
    """

    nanoseconds: np.ndarray
    counts: np.ndarray
    measures: np.ndarray


class FrameEntries(NamedTuple):
    """Tables of the kernels that a frame calls by address (``entries``).

    Attributes
    ----------
    stages : table of entries [SOLVE + 1]
    families : table of entries
        Of ``pair_families``.
    """

    stages: np.ndarray
    families: np.ndarray


def stages_to_compile(
    members: StepMembers, shape_kinds, solver, gravity, step, settings, entries: FrameEntries
) -> list[Compilation]:
    """What a frame calls by address; compiling it fills the tables.

    Parameters
    ----------
    members : StepMembers
        Their types count.
    shape_kinds : int64 [any]
        Of the model that is to be stepped.
    solver : Method
    gravity : float64 [3]
    step : StepSettings
    settings : SolverSettings
    entries : FrameEntries
        Of ``_empty_tables``.
    """
    model, state, motion, _, collision, problem = members
    rows, contact_rows, islands = problem.rows, problem.contact_rows, problem.islands
    (pairs, _), (contacts, _), workspace = collision.pairs, collision.contacts, collision.workspace
    narrow = model, state, step, *collision.pairs, *collision.contacts, workspace, entries.families, MAKE_CONTACTS
    build = model, state, motion, contacts, step.gravity_norm, step.h, rows, contact_rows
    solve = rows, islands, 0, motion.free_velocity, state.velocity, problem.solver, settings
    stages = {
        APPLY_FORCES: (apply_forces, types.none, (model, state, motion, gravity, step.h)),
        BROAD_PHASE: (broad_phase, types.int64, (model, state, step, pairs, workspace)),
        NARROW_PHASE: (narrow_phase, types.int64, narrow),
        MATCH_CONTACTS: (match_contacts, types.int64, (pairs, contacts, contacts, workspace)),
        BUILD_ROWS: (build_contact_rows, types.none, build),
        FIND_ISLANDS: (
            find_islands,
            types.none,
            (rows, motion.can_be_pushed, islands, problem.parent, problem.label),
        ),
        SOLVE: (solver.kernel, SOLVER_OUTCOME, solve),
        INTEGRATE: (integrate_poses, types.none, (model, state, motion, step.h)),
    }
    return families_to_compile(shape_kinds, workspace, entries.families) + [
        Compilation(_ENTRY_NAMES[place], stage, arguments, result, entries.stages, place)
        for place, (stage, result, arguments) in stages.items()
    ]


def find_entries(members: StepMembers, solver, gravity, step, settings) -> FrameEntries:
    """Tables of all that a frame of these calls; arguments as of ``stages_to_compile``."""
    entries = _empty_tables()
    for compilation in stages_to_compile(members, members.model.shapes.kind, solver, gravity, step, settings, entries):
        compilation.compile()
    return entries


def _empty_tables() -> FrameEntries:
    return FrameEntries(empty_entries(len(_ENTRY_NAMES)), empty_entries(FAMILIES))


def frame_to_compile(small_model, shape_kinds, method: str, friction: str) -> list[Compilation]:
    """All that a simulation of frames calls.

    Parameters
    ----------
    small_model : Model
        Any; it is not stepped.
    shape_kinds : int64 [any]
        Of the model that is to be stepped.
    method, friction : str
    """
    solver = find_method(method, friction)
    model, state = small_model.arrays, copy_state(small_model.initial_state)
    gravity, body_count = small_model.gravity, small_model.body_count
    motion, sleep, collision = allocate_motion(body_count), allocate_sleep(body_count), allocate_collision(small_model)
    problem = allocate_problem(collision, body_count, solver)
    members = StepMembers(model, state, motion, sleep, collision, problem)
    step = StepSettings(substeps=0, h=1e-2, gravity_norm=float(np.linalg.norm(gravity)), maximal_points=8, sleeping=0)
    settings, entries = SolverSettings(), _empty_tables()
    poses = state.kind, state.position, state.orientation, state.velocity
    measure = model.mass, model.inertia, gravity, *poses, motion.lag, motion.rests, np.zeros(2)
    frame = StepArrays(members), entries.stages, entries.families, gravity, step, settings, allocate_record()
    return [
        *stages_to_compile(members, shape_kinds, solver, gravity, step, settings, entries),
        Compilation("measure_motion", measure_motion, measure),
        Compilation("frame", advance_frame, frame),
    ]


def allocate_collision(model) -> CollisionArrays:
    """Buffers for a ``Model`` that has not been stepped."""
    # A resting box in a heap touches some six others; a guess that is too low costs a growth, no more.
    pair_capacity = 16 + 4 * len(model.arrays.shapes.body)
    contact_capacity = 4 * pair_capacity
    return CollisionArrays(
        pairs=(allocate_pairs(pair_capacity), allocate_pairs(pair_capacity)),
        contacts=(allocate_contacts(contact_capacity), allocate_contacts(contact_capacity)),
        current=np.zeros(1, np.int64),
        workspace=allocate_collision_workspace(model.arrays.shapes, model.hulls, model.meshes, model.body_count),
    )


def grow_collision(collision: CollisionArrays) -> CollisionArrays:
    """Buffers with half as much room again as the last substep asked for, with the same contents."""
    pairs, contacts = collision.pairs[collision.current[0]], collision.contacts[collision.current[0]]
    pair_capacity, contact_capacity = len(pairs.shape_a), len(contacts.shape_a)
    if pairs.needed[0] > pair_capacity:
        pair_capacity = 3 * int(pairs.needed[0]) // 2
    if contacts.needed[0] > contact_capacity:
        contact_capacity = 3 * int(contacts.needed[0]) // 2
    return collision._replace(
        pairs=tuple(grown(buffer, pair_capacity) for buffer in collision.pairs),
        contacts=tuple(grown(buffer, contact_capacity) for buffer in collision.contacts),
    )


def allocate_problem(collision: CollisionArrays, body_count: int, method) -> ProblemArrays:
    """Rows, islands and the solver's memory for as many contacts as ``collision`` has room for."""
    contact_capacity = len(collision.contacts[0].shape_a)
    row_capacity = ROWS_PER_CONTACT * contact_capacity
    return ProblemArrays(
        rows=allocate_rows(contact_capacity, row_capacity, body_count),
        contact_rows=allocate_contact_rows(contact_capacity),
        islands=allocate_islands(contact_capacity, body_count),
        parent=np.zeros(body_count, np.int64),
        label=np.zeros(body_count, np.int64),
        solver=method.allocate(row_capacity, body_count, 0),
    )


def allocate_record() -> FrameRecord:
    """A record of nothing."""
    record = FrameRecord(
        nanoseconds=np.zeros(len(STAGES), np.int64), counts=np.zeros(8, np.int64), measures=np.zeros(2)
    )
    clear_record(record)
    return record


def clear_record(record: FrameRecord) -> None:
    """Make it one of nothing again."""
    for array in record:
        array.fill(0)
    record.counts[WORST:] = -1


def contacts_at(model, state):
    """Contacts of a state by itself, without history.

    Parameters
    ----------
    model : Model
    state : StateArrays
        Velocities count: contacts are looked for as far as they lead in a thousandth of a second.

    Returns
    -------
    ContactArrays
        ``count`` of them are in use.
    """
    step = StepSettings(substeps=1, h=1e-3, gravity_norm=0.0, maximal_points=8, sleeping=0)
    return present_contacts(model, state, allocate_collision(model), step)


def next_rows(model, gravity, state, motion, collision: CollisionArrays, step: StepSettings):
    """The rows with which the next substep begins; plays its first stages on copies.

    Parameters
    ----------
    model : Model
    gravity, state, motion, collision, step
        As of the frame's kernel (read).

    Returns
    -------
    rows : RowArrays
        ``impulse`` holds the warm start.
    free_velocity : float64 [body_count, 6]
    """
    state, motion = copy.deepcopy((state, motion))
    arrays = model.arrays
    apply_forces(arrays, state, motion, gravity, step.h)
    collision = _collide_copies(arrays, state, collision, step)
    current, workspace = collision.current[0], collision.workspace
    pairs, contacts, previous_contacts = (
        collision.pairs[current],
        collision.contacts[current],
        collision.contacts[1 - current],
    )
    match_contacts(pairs, contacts, previous_contacts, workspace)
    contact_capacity = max(int(contacts.count[0]), 1)
    rows = allocate_rows(contact_capacity, ROWS_PER_CONTACT * contact_capacity, model.body_count)
    contact_rows = allocate_contact_rows(contact_capacity)
    build_contact_rows(arrays, state, motion, contacts, step.gravity_norm, step.h, rows, contact_rows)
    return rows, motion.free_velocity


def present_contacts(model, state, collision: CollisionArrays, step: StepSettings):
    """The contacts that the next substep would find, of the poses as they are.

    Parameters
    ----------
    model : Model
    state, collision, step
        As of the frame's kernel (read).

    Returns
    -------
    ContactArrays
        Arrays of its own.
    """
    collision = _collide_copies(model.arrays, state, collision, step)
    return collision.contacts[collision.current[0]]


def _collide_copies(arrays, state, collision, step) -> CollisionArrays:
    """Copies of the collision arrays, in which the current buffers hold the next substep's pairs and contacts."""
    collision = copy.deepcopy(collision)
    families = find_families(arrays.shapes.kind, collision.workspace)
    while True:
        current, workspace = collision.current[0], collision.workspace
        buffers = [both[which] for both in (collision.pairs, collision.contacts) for which in (current, 1 - current)]
        workspace.outlook[:, SURPLUS:] = 0.0
        if (
            broad_phase(arrays, state, step, buffers[0], workspace) == STATUS_OK
            and narrow_phase(arrays, state, step, *buffers, workspace, families, MAKE_CONTACTS) == STATUS_OK
        ):
            return collision
        collision = grow_collision(collision)


@kernel
def advance_frame(arrays, stages, families, gravity, step, settings, record):
    """Advance the state from the substep that ``record`` says to ``step.substeps``.

    Parameters
    ----------
    arrays : StepArrays
        Of these ``model`` is read; ``state`` is read and written, its kinds as the step is to see them (a sleeping body
        is static); ``motion.lag``, ``sleep`` and ``collision`` are carried from frame to frame; ``problem`` and the
        rest of ``motion`` are workspace.
    stages, families : tables of entries
        As in ``FrameEntries`` (read).
    gravity : float64 [3]
        Read [m/s^2].
    step : StepSettings
    settings : SolverSettings
    record : FrameRecord
        Written.

    Returns
    -------
    bool
        False where a buffer of pairs or contacts was full. Nothing of that substep has been done to the state then:
        the caller makes room and calls again, to the same bits.
    """
    members = views_of(arrays)
    model, state, motion, sleep = members.model, members.state, members.motion, members.sleep
    collision, problem, record = members.collision, members.problem, borrowed(record)
    rows, contact_rows, islands = problem.rows, problem.contact_rows, problem.islands
    velocity, free_velocity, outlook = state.velocity, motion.free_velocity, collision.workspace.outlook
    shape_body, form = model.shapes.body, collision.workspace.form
    local_pose, shape_size = collision.workspace.local_pose, collision.workspace.size
    started = now()
    while record.counts[SUBSTEPS] < step.substeps:
        current = collision.current[0]
        pairs, previous_pairs = collision.pairs[current], collision.pairs[1 - current]
        contacts, previous_contacts = collision.contacts[current], collision.contacts[1 - current]

        call_stage(stages, APPLY_FORCES, model, state, motion, gravity, step.h)
        started = _stage_done(record.nanoseconds, np.int64(0), started)

        look, same_pairs = np.int64(0), False
        while True:
            start_look(outlook, look)
            if not same_pairs:
                if call_for_count(stages, BROAD_PHASE, model, state, step, pairs, collision.workspace) != STATUS_OK:
                    return False
                if wake_near_driven(model, state, sleep, collision.workspace.tree, step.h):
                    call_stage(stages, APPLY_FORCES, model, state, motion, gravity, step.h)
                    continue
            started = _stage_done(record.nanoseconds, np.int64(1), started)

            status = call_for_count(
                stages,
                NARROW_PHASE,
                model,
                state,
                step,
                pairs,
                previous_pairs,
                contacts,
                previous_contacts,
                collision.workspace,
                families,
                np.int64(MAKE_CONTACTS),
            )
            if status != STATUS_OK:
                return False
            if wake_touched(contacts, state.kind, sleep):
                call_stage(stages, APPLY_FORCES, model, state, motion, gravity, step.h)
                same_pairs = False
                continue
            started = _stage_done(record.nanoseconds, np.int64(2), started)

            call_for_count(stages, MATCH_CONTACTS, pairs, contacts, previous_contacts, collision.workspace)
            if same_pairs:
                take_looked_impulses(pairs, contacts, rows)
            started = _stage_done(record.nanoseconds, np.int64(3), started)

            call_stage(
                stages,
                BUILD_ROWS,
                model,
                state,
                motion,
                contacts,
                step.gravity_norm,
                step.h,
                rows,
                contact_rows,
            )
            started = _stage_done(record.nanoseconds, np.int64(4), started)

            call_stage(stages, FIND_ISLANDS, rows, motion.can_be_pushed, islands, problem.parent, problem.label)
            started = _stage_done(record.nanoseconds, np.int64(5), started)

            _copy_velocities(free_velocity, velocity)
            for island in range(islands.count[0]):
                apply_impulses(rows, islands, island, free_velocity, velocity)
                if same_pairs and is_unsolved(islands, island, outlook):
                    outcome = touch_up_island(
                        rows, islands, island, free_velocity, velocity, contact_rows.change, settings
                    )
                else:
                    outcome = _solve(stages, rows, islands, island, free_velocity, velocity, problem.solver, settings)
                note_unsolved(islands, island, outlook, outcome[0] > 1)
                _record_solve(record, rows, outcome)
            started = _stage_done(record.nanoseconds, np.int64(6), started)

            look += 1
            # A body that is hit goes farther than its first velocity could tell, or another way.
            same_pairs = look >= MOST_LOOKS or (
                not look_farther(model.size, motion, velocity, step.gravity_norm, step.h, outlook)
                and not meet_on_new_ways(model, state, motion.start_velocity, step, pairs, collision.workspace)
            )
            if look == MOST_LOOKS_AT_ENDS or (
                same_pairs and nothing_turns(shape_body, form, local_pose, shape_size, velocity, step.h)
            ):
                break
            if same_pairs:
                # Nothing is recycled then, so the present pairs and contacts stand for the last ones.
                status = call_for_count(
                    stages,
                    NARROW_PHASE,
                    model,
                    state,
                    step,
                    pairs,
                    pairs,
                    contacts,
                    contacts,
                    collision.workspace,
                    families,
                    np.int64(LOOK_AT_ENDS),
                )
                if status == STATUS_OK:
                    break
            _copy_velocities(velocity, outlook)
            _copy_velocities(motion.start_velocity, velocity)
            started = _stage_done(record.nanoseconds, np.int64(2), started)
        started = _stage_done(record.nanoseconds, np.int64(2), started)

        forget_stirred(sleep)
        _copy_velocities(velocity, motion.displacing_velocity)
        store_contact_impulses(rows, contacts)
        started = _stage_done(record.nanoseconds, np.int64(6), started)

        for island in range(islands.count[0]):
            change = ask_for_velocities(islands, island, rows, contacts, contact_rows, motion)
            if change == SAME:
                continue
            move_rows_along(islands, island, rows, contacts, state, motion, step.h, change != RECOVERS)
            if change != RECOVERS:
                last, contact_count = islands.block_first[island + 1], contacts.count[0]
                fastest = begin_impacts(islands, island, rows, contact_rows, velocity, free_velocity)
                threshold = threshold_of_impacts(fastest, step.gravity_norm * step.h)
                for impact in range(MAX_IMPACTS):
                    if not pick_impacts(
                        islands, island, last, rows, contact_count, contact_rows, velocity, threshold, impact == 0
                    ):
                        break
                    outcome = _solve(stages, rows, islands, island, free_velocity, velocity, problem.solver, settings)
                    _record_solve(record, rows, outcome)
                    end_impact(islands, island, rows, velocity, free_velocity)
                end_impacts(islands, island, last, rows, contact_count, contact_rows)
            outcome = _solve(stages, rows, islands, island, free_velocity, velocity, problem.solver, settings)
            if change == RECOVERS and gains_energy(islands, island, rows, contacts, free_velocity, velocity):
                # Overlaps that contradict each other have left impulses from which there is no way back.
                forget_impulses(islands, island, rows, free_velocity, velocity)
                outcome = _solve(stages, rows, islands, island, free_velocity, velocity, problem.solver, settings)
            _record_solve(record, rows, outcome)
        started = _stage_done(record.nanoseconds, np.int64(7), started)

        call_stage(stages, INTEGRATE, model, state, motion, step.h)
        move_meshes(collision.workspace.meshes, collision.workspace.polytopes, step.h)
        grow_shapes(collision.workspace.form, collision.workspace.local_pose, step.h)
        started = _stage_done(record.nanoseconds, np.int64(8), started)

        _record_contacts(record, contacts, islands)
        collision.current[0] = 1 - current
        record.counts[SUBSTEPS] += 1

    if step.sleeping:
        fall_asleep(model, state, sleep, rows, islands, step.gravity_norm, step.substeps * step.h, step.h)
    record.counts[SLEEPING] = sleep.count[SLEEPING_COUNT]
    _stage_done(record.nanoseconds, np.int64(9), started)
    return True


@subkernel
def _stage_done(nanoseconds, stage, started):
    """Add the time since ``started`` to a stage and start the next.

    ``stage`` is not a plain number: Numba would compile this once for each.
    """
    time = now()
    nanoseconds[stage] += time - started
    return time


@subkernel
def _solve(stages, rows, islands, island, free_velocity, velocity, workspace, settings):
    """Solve an island by the frame's method."""
    return call_solver(stages, SOLVE, rows, islands, island, free_velocity, velocity, workspace, settings)


@subkernel
def _copy_velocities(source, target):
    for body in range(source.shape[0]):
        for column in range(6):
            target[body, column] = source[body, column]


@subkernel
def _record_solve(record, rows, outcome):
    """Add one solver call's outcome to the frame's record."""
    status, iterations, residual, scale, worst_block = outcome
    counts, measures = record.counts, record.measures
    counts[ITERATIONS] += iterations
    if status > 1:
        counts[MISSED] += 1
    relative = residual / scale if scale > 0.0 else residual
    if worst_block >= 0 and not relative <= measures[RESIDUAL]:
        measures[RESIDUAL] = relative
        counts[WORST] = rows.body_a[worst_block]
        counts[WORST + 1] = rows.body_b[worst_block]


@subkernel
def _record_contacts(record, contacts, islands):
    counts, measures = record.counts, record.measures
    counts[CONTACTS] = contacts.count[0]
    counts[ISLANDS] = islands.count[0]
    for contact in range(contacts.count[0]):
        measures[PENETRATION] = max(measures[PENETRATION], -contacts.gap[contact])
