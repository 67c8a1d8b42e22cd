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
from .collision.looks import (
    end_looks,
    forget_ends,
    keep_look,
    nothing_turns,
    place_ends,
    remember_look,
    repeat_pairs,
    start_look,
)
from .collision.narrow_phase import LOOK_AT_ENDS, MAKE_CONTACTS
from .collision.new_ways import meet_on_new_ways
from .collision.pair_families import families_to_compile
from .collision.workspace import (
    FAMILIES,
    MOST_LOOKS,
    MOST_LOOKS_AT_ENDS,
    SURPLUS,
    CollisionWorkspace,
    allocate_collision_workspace,
)
from .constraints.contact_rows import (
    allocate_contact_rows,
    build_contact_rows,
    store_contact_impulses,
)
from .constraints.displacing import choose_displacing
from .contacts import (
    LAST,
    LOOKED,
    PRESENT,
    STATUS_OK,
    allocate_contacts,
    allocate_pairs,
    grown,
    match_contacts,
    take_looked_impulses,
)
from .entries import Compilation, call_for_count, caller, empty_entries
from .frame_record import (
    ENERGY,
    ITERATIONS,
    LOST,
    MISSED,
    RESIDUAL,
    SLEEPING,
    SUBSTEPS,
    WORST,
    allocate_record,
    go_back_to_solves,
    record_contacts,
    solves_of,
)
from .kernel import kernel, subkernel
from .lanes import contexts_of, run_alone, run_lanes
from .motion import allocate_motion, apply_forces, look_farther, measure_motion
from .problem_arrays import ROWS_PER_CONTACT, allocate_problem
from .rows import (
    SolverSettings,
    allocate_rows,
)
from .shared_stages import (
    APPLY_FORCES,
    BROAD_PHASE,
    BUILD_ROWS,
    FIND_ISLANDS,
    FIRST_LOOK,
    FOUND,
    HELP,
    INTEGRATE,
    JOIN_CONTACTS,
    LOOK,
    LOOK_AT_PAIRS,
    MATCH_CONTACTS,
    NEW_LOOK,
    PART,
    RUN_LANES,
    SAME_PAIRS,
    SAME_ROWS,
    SETTLE_ISLANDS,
    SOLVE,
    SOLVE_ISLANDS,
    SOLVE_ITERATIONS,
    SOLVE_MISSED,
    SOLVER_OUTCOME,
    TOUCH_UP,
    WORST_A,
    WORST_B,
    FrameEntries,
    StepSettings,
    allocate_shared,
    begin_sharing,
    end_sharing,
    give_orders,
    is_shared,
    join_runs,
    look_at_pairs,
    members_of_lane,
    order_runs,
    settle_islands,
    share_islands,
    share_pairs,
    solve_islands,
    step_of,
)
from .sleeping import (
    GROUP,
    allocate_sleep,
    fall_asleep,
    forget_stirred,
    wake_near_driven,
    wake_touched,
)
from .sleeping import (
    SLEEPING as SLEEPING_COUNT,
)
from .solvers.registry import find_method
from .stages import (
    play_apply_forces,
    play_broad_phase,
    play_build_rows,
    play_find_islands,
    play_help,
    play_integrate,
    play_match_contacts,
    play_touch_up,
    solver_of_step,
)
from .state import copy_state
from .step_arrays import StepArrays, StepMembers, views_of, without_solver

_ENTRY_NAMES = {
    APPLY_FORCES: "apply_forces",
    BROAD_PHASE: "broad_phase",
    MATCH_CONTACTS: "match_contacts",
    BUILD_ROWS: "build_rows",
    FIND_ISLANDS: "find_islands",
    INTEGRATE: "integrate",
    SOLVE: "solve_contacts",
    LOOK_AT_PAIRS: "look_at_pairs",
    JOIN_CONTACTS: "join_contacts",
    SOLVE_ISLANDS: "solve_islands",
    SETTLE_ISLANDS: "settle_islands",
    RUN_LANES: "run_lanes",
    HELP: "help_with_parts",
    TOUCH_UP: "touch_up",
}

_call_stage = caller(types.none)


class CollisionArrays(NamedTuple):
    """What the collision stages keep from substep to substep.

    Pairs and contacts have three buffers each, which change places: this look's, the last substep's, and those of the
    look before this one.

    Attributes
    ----------
    pairs : tuple of three PairArrays
    contacts : tuple of three ContactArrays
    current : int64 [3]
        Which of the three are which: entries PRESENT, which the next look writes, LAST and LOOKED.
    workspace : CollisionWorkspace
    """

    pairs: tuple
    contacts: tuple
    current: np.ndarray
    workspace: CollisionWorkspace


def stages_to_compile(members: StepMembers, shape_kinds, solver, lane_count: int) -> list[Compilation]:
    """What a frame calls by address; compiling it fills the tables of ``members.shared``.

    Parameters
    ----------
    members : StepMembers
        Their types count.
    shape_kinds : int64 [any]
        Of the model that is to be stepped.
    solver : Method
    lane_count : int
    """
    shared = members.shared
    arrays = StepArrays(without_solver(members))
    stages = {
        APPLY_FORCES: (play_apply_forces, types.none, (arrays,)),
        MATCH_CONTACTS: (play_match_contacts, types.none, (arrays,)),
        BUILD_ROWS: (play_build_rows, types.none, (arrays,)),
        FIND_ISLANDS: (play_find_islands, types.none, (arrays,)),
        SOLVE: (solver_of_step(solver.kernel), SOLVER_OUTCOME, (StepArrays(members), 0)),
        INTEGRATE: (play_integrate, types.none, (arrays,)),
        SOLVE_ISLANDS: (solve_islands, types.none, (arrays, 0)),
        SETTLE_ISLANDS: (settle_islands, types.none, (arrays, 0)),
        TOUCH_UP: (play_touch_up, SOLVER_OUTCOME, (arrays, 0, 0, 0)),
    }
    if lane_count > 1:
        stages[JOIN_CONTACTS] = join_runs, types.none, (arrays, 0)
        stages[HELP] = play_help, types.none, (arrays, 0)
        stages[RUN_LANES] = run_lanes, types.none, (shared.stages, 0, shared.contexts)
    return _looks_to_compile(members, shape_kinds) + _compilations(stages, shared)


def _looks_to_compile(members: StepMembers, shape_kinds) -> list[Compilation]:
    """What finds contacts."""
    shared, arrays = members.shared, StepArrays(without_solver(members))
    stages = {
        BROAD_PHASE: (play_broad_phase, types.int64, (arrays,)),
        LOOK_AT_PAIRS: (look_at_pairs, types.none, (arrays, 0)),
    }
    families = families_to_compile(shape_kinds, members.collision.workspace, shared.families)
    return families + _compilations(stages, shared)


def _compilations(stages, shared) -> list[Compilation]:
    """Of entries by place: (kernel, what it returns, arguments)."""
    return [
        Compilation(_ENTRY_NAMES[place], stage, arguments, result, shared.stages, place)
        for place, (stage, result, arguments) in stages.items()
    ]


def empty_tables() -> FrameEntries:
    """Tables of what a frame calls, of which nothing is there yet."""
    return FrameEntries(empty_entries(len(_ENTRY_NAMES)), empty_entries(FAMILIES))


def gather_arrays(members: StepMembers, method, lane_count: int) -> list[StepArrays]:
    """The arrays of a frame, as each lane sees them from now on; the first one's are ``members``.

    Parameters
    ----------
    members : StepMembers
    method : Method
    lane_count : int
    """
    if lane_count == 1:
        lanes = [StepArrays(members)]
    else:
        lanes = [StepArrays(members_of_lane(members, method, lane)) for lane in range(lane_count)]
    members.shared.contexts[:] = contexts_of(lanes)
    return lanes


def frame_to_compile(small_model, shape_kinds, method: str, friction: str, lane_count: int) -> list[Compilation]:
    """All that a simulation of frames calls.

    Parameters
    ----------
    small_model : Model
        Any; it is not stepped.
    shape_kinds : int64 [any]
        Of the model that is to be stepped.
    method, friction : str
    lane_count : int
    """
    solver = find_method(method, friction)
    members = _members_to_look_at(
        small_model.arrays, copy_state(small_model.initial_state), allocate_collision(small_model), solver, lane_count
    )
    arrays, look = StepArrays(members), StepArrays(without_solver(members))
    return [
        *stages_to_compile(members, shape_kinds, solver, lane_count),
        Compilation("find_contacts", find_contacts, (look,)),
        Compilation("frame", advance_frame, (arrays,)),
    ]


def contacts_to_compile(small_model, shape_kinds) -> list[Compilation]:
    """All that ``present_contacts`` calls; arguments as of ``frame_to_compile``."""
    members = _members_to_look_at(
        small_model.arrays, copy_state(small_model.initial_state), allocate_collision(small_model)
    )
    look = StepArrays(without_solver(members))
    return [*_looks_to_compile(members, shape_kinds), Compilation("find_contacts", find_contacts, (look,))]


def _members_to_look_at(arrays, state, collision, solver=None, lane_count=1) -> StepMembers:
    """All that a step sees of some bodies without history; without ``solver``, what stages see that solve nothing."""
    body_count = len(state.kind)
    problem = allocate_problem(collision, body_count, solver)
    shared = allocate_shared(
        empty_tables(), SolverSettings(), np.zeros(3), allocate_record(), collision, problem.islands, lane_count
    )
    return StepMembers(
        arrays, state, allocate_motion(body_count), allocate_sleep(body_count), collision, shared, problem
    )


def allocate_collision(model) -> CollisionArrays:
    """Buffers for a ``Model`` that has not been stepped."""
    # A resting box in a heap touches some six others; a guess that is too low costs a growth, no more.
    pair_capacity = 16 + 4 * len(model.arrays.shapes.body)
    contact_capacity = 4 * pair_capacity
    return CollisionArrays(
        pairs=tuple(allocate_pairs(pair_capacity) for _ in range(3)),
        contacts=tuple(allocate_contacts(contact_capacity) for _ in range(3)),
        current=np.array([0, 1, 2], np.int64),
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
        collision.contacts[collision.current[LAST]],
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
    while True:
        members = _members_to_look_at(arrays, state, collision)
        give_orders(members.shared, step)
        members.shared.orders[PART] = MAKE_CONTACTS
        collision.workspace.outlook[:, SURPLUS:] = 0.0
        for compilation in _looks_to_compile(members, arrays.shapes.kind):
            compilation.compile()
        (look,) = gather_arrays(members, None, 1)
        if find_contacts(look):
            return collision
        collision = grow_collision(collision)


@kernel
def find_contacts(arrays):
    """Broad and narrow phase by themselves; False where there is no room for what they find."""
    members = views_of(arrays)
    shared, collision = members.shared, members.collision
    current = collision.current[0]
    if call_for_count(shared.stages, BROAD_PHASE, arrays) != STATUS_OK:
        return False
    return _make_contacts(shared, collision.pairs[current], collision.contacts[current])


@kernel
def advance_frame(arrays):
    """Advance the state from the substep that the record says to the last one of the frame.

    Parameters
    ----------
    arrays : StepArrays
        Of the first lane. Of these ``model`` is read; ``state`` is read and written, its kinds as the step is to see
        them (a sleeping body is static); ``sleep`` and ``collision`` are carried from frame to frame; ``shared`` says
        what the frame is to be (``give_orders``), and ``shared.record`` what it was; ``motion``, ``problem`` and the
        rest of ``shared`` are workspace.

    Returns
    -------
    bool
        False where a buffer of pairs or contacts was full. Nothing of that substep has been done to the state then: the
        caller makes room and calls again. What a solver remembers may be of a look that the substep had already solved,
        so the bits hang on the room that there was; a checkpoint has the same.
    """
    members = views_of(arrays)
    model, state, motion, sleep, collision = (
        members.model,
        members.state,
        members.motion,
        members.sleep,
        members.collision,
    )
    problem, shared, record, step = members.problem, members.shared, members.shared.record, step_of(members.shared)
    rows, islands, stages = problem.rows, problem.islands, shared.stages
    workspace, velocity, outlook = collision.workspace, state.velocity, collision.workspace.outlook
    shape_body, form, local_pose, sizes = model.shapes.body, workspace.form, workspace.local_pose, workspace.size
    started = now()
    while record.counts[SUBSTEPS] < step.substeps:
        _call_stage(stages, APPLY_FORCES, arrays)
        started = _stage_done(record.nanoseconds, np.int64(0), started)

        look, same_pairs = np.int64(0), False
        earlier = solves_of(record)
        while True:
            current, looked = collision.current[PRESENT], collision.current[LOOKED]
            pairs, contacts = collision.pairs[current], collision.contacts[current]
            start_look(outlook, look)
            if not same_pairs:
                if call_for_count(stages, BROAD_PHASE, arrays) != STATUS_OK:
                    go_back_to_solves(record, earlier)
                    return False
                if wake_near_driven(model, state, sleep, workspace.tree, step.h):
                    _call_stage(stages, APPLY_FORCES, arrays)
                    continue
                forget_ends(pairs)
            else:
                repeat_pairs(collision.pairs[looked], pairs)
            started = _stage_done(record.nanoseconds, np.int64(1), started)

            if look > 0:
                place_ends(
                    shape_body,
                    workspace.body_pose,
                    local_pose,
                    outlook,
                    step.h,
                    workspace.body_end,
                    workspace.shape_end,
                )
            if not _make_contacts(shared, pairs, contacts):
                go_back_to_solves(record, earlier)
                return False
            if wake_touched(contacts, state.kind, sleep):
                _call_stage(stages, APPLY_FORCES, arrays)
                same_pairs = False
                continue
            started = _stage_done(record.nanoseconds, np.int64(2), started)

            _call_stage(stages, MATCH_CONTACTS, arrays)
            if look > 0:
                take_looked_impulses(pairs, contacts, rows)
            started = _stage_done(record.nanoseconds, np.int64(3), started)

            _call_stage(stages, BUILD_ROWS, arrays)
            started = _stage_done(record.nanoseconds, np.int64(4), started)

            _call_stage(stages, FIND_ISLANDS, arrays)
            started = _stage_done(record.nanoseconds, np.int64(5), started)

            shared.orders[LOOK] = FIRST_LOOK if look == 0 else (SAME_PAIRS if same_pairs else NEW_LOOK)
            look += 1
            # What the last look has solved, or not, is asked once more.
            go_back_to_solves(record, earlier)
            _copy_velocities(motion.free_velocity, velocity)
            while True:
                _solve(shared, islands, record)
                started = _stage_done(record.nanoseconds, np.int64(6), started)

                # A body that is hit goes farther than its first velocity could tell, or another way.
                same_pairs = look >= MOST_LOOKS or not (
                    look_farther(model.size, motion, velocity, step.gravity_norm, step.h, outlook)
                    or meet_on_new_ways(model, state, motion.start_velocity, step, pairs, workspace)
                )
                if not same_pairs or shared.orders[FOUND] == 0:
                    break
                # Islands have been swept only, but there are no more contacts to be found.
                shared.orders[LOOK] = SAME_ROWS
                started = _stage_done(record.nanoseconds, np.int64(2), started)
            choose_displacing(
                rows,
                islands,
                contacts,
                motion,
                problem.paces,
                model.size,
                model.shapes.kind,
                velocity,
                shared.gravity,
                step.h * step.gravity_norm,
                step.h,
            )
            # What moves the poses is the state's for a while: looks at ends see where that leads.
            _swap_velocities(velocity, motion.displacing_velocity)
            started = _stage_done(record.nanoseconds, np.int64(6), started)
            if look == MOST_LOOKS_AT_ENDS or (
                same_pairs and nothing_turns(shape_body, form, local_pose, sizes, velocity, step.h)
            ):
                break
            remember_look(pairs, contacts, sizes, state.kind, outlook)
            if same_pairs and _is_clear_at_ends(shared, pairs, shape_body, state, workspace, step.h):
                break
            _copy_velocities(velocity, outlook)
            _copy_velocities(motion.start_velocity, velocity)
            keep_look(collision.current)
            started = _stage_done(record.nanoseconds, np.int64(2), started)
        started = _stage_done(record.nanoseconds, np.int64(2), started)

        forget_stirred(sleep)
        _swap_velocities(velocity, motion.displacing_velocity)
        store_contact_impulses(rows, contacts)
        started = _stage_done(record.nanoseconds, np.int64(6), started)

        share_islands(shared, islands)
        _over_lanes(shared, np.int64(SETTLE_ISLANDS))
        _record_solves(record, shared, islands)
        started = _stage_done(record.nanoseconds, np.int64(7), started)

        _call_stage(stages, INTEGRATE, arrays)
        started = _stage_done(record.nanoseconds, np.int64(8), started)

        record_contacts(record, contacts, islands)
        end_looks(outlook)
        collision.current[PRESENT], collision.current[LAST] = collision.current[LAST], collision.current[PRESENT]
        record.counts[SUBSTEPS] += 1

    if step.sleeping:
        fall_asleep(model, state, sleep, rows, islands, step.gravity_norm, step.substeps * step.h, step.h)
    record.counts[SLEEPING] = sleep.count[SLEEPING_COUNT]
    record.counts[LOST] = measure_motion(
        model.mass,
        model.inertia,
        shared.gravity,
        state.kind,
        sleep.body[GROUP],
        state.position,
        state.orientation,
        state.velocity,
        record.measures[ENERGY:],
    )
    _stage_done(record.nanoseconds, np.int64(9), started)
    return True


@subkernel(inline=True)
def _solve(shared, islands, record):
    """Ask where the bodies go; ``shared.orders[FOUND]`` is 1 where an island has been swept only."""
    shared.orders[FOUND] = 0
    share_islands(shared, islands)
    _over_lanes(shared, np.int64(SOLVE_ISLANDS))
    _record_solves(record, shared, islands)


@subkernel(inline=True)
def _over_lanes(shared, task):
    """Do a task piece by piece: in all lanes, if it is shared."""
    shared.next[0] = shared.busy[0] = 0
    if not is_shared(shared):
        run_alone(shared.stages, task, shared.contexts)
    else:
        begin_sharing(shared)
        started = now()
        _call_stage(shared.stages, RUN_LANES, shared.stages, task, shared.contexts)
        end_sharing(shared, started)


@subkernel(inline=True)
def _make_contacts(shared, pairs, contacts):
    """Narrow phase of all pairs; False where there is no room for the contacts."""
    shared.orders[PART], shared.orders[FOUND] = MAKE_CONTACTS, STATUS_OK
    share_pairs(shared, pairs)
    _over_lanes(shared, np.int64(LOOK_AT_PAIRS))
    if not is_shared(shared):
        return shared.orders[FOUND] == STATUS_OK
    if not order_runs(pairs, contacts, shared):
        return False
    _over_lanes(shared, np.int64(JOIN_CONTACTS))
    return True


@subkernel(inline=True)
def _is_clear_at_ends(shared, pairs, shape_body, state, workspace, h):
    """Whether the last solution leads no shapes into each other unseen."""
    place_ends(
        shape_body,
        workspace.body_pose,
        workspace.local_pose,
        state.velocity,
        h,
        workspace.body_end,
        workspace.shape_end,
    )
    shared.orders[PART], shared.orders[FOUND] = LOOK_AT_ENDS, STATUS_OK
    share_pairs(shared, pairs)
    _over_lanes(shared, np.int64(LOOK_AT_PAIRS))
    return shared.orders[FOUND] == STATUS_OK


@subkernel
def _stage_done(nanoseconds, stage, started):
    """Add the time since ``started`` to a stage and start the next.

    ``stage`` is not a plain number: Numba would compile this once for each.
    """
    time = now()
    nanoseconds[stage] += time - started
    return time


@subkernel
def _copy_velocities(source, target):
    for body in range(source.shape[0]):
        for column in range(6):
            target[body, column] = source[body, column]


@subkernel
def _swap_velocities(one, two):
    for body in range(one.shape[0]):
        for column in range(6):
            one[body, column], two[body, column] = two[body, column], one[body, column]


@subkernel(inline=True)
def _record_solves(record, shared, islands):
    """Add the outcomes of all islands to the frame's record."""
    counts, measures, outcome = record.counts, record.measures, shared.outcome
    for island in range(islands.count[0]):
        counts[ITERATIONS] += outcome[island, SOLVE_ITERATIONS]
        counts[MISSED] += outcome[island, SOLVE_MISSED]
        if outcome[island, WORST_A] >= 0 and not shared.residual[island] <= measures[RESIDUAL]:
            measures[RESIDUAL] = shared.residual[island]
            counts[WORST] = outcome[island, WORST_A]
            counts[WORST + 1] = outcome[island, WORST_B]
