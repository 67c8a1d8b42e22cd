"""The stages of a step that several cores share: contacts of pairs, and solving islands (``lanes``).

Pairs are taken in runs. Each lane writes the contacts of its runs to a buffer of its own; then they are moved to the
places that they have in the order of pairs. Islands are taken one by one. In a small scene there is one lane, which
takes all pairs in one run and writes their contacts where they belong.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import types

from .clock import now
from .collision.looks import has_deep_contacts, is_marked, note_unsolved
from .collision.narrow_phase import LOOK_AT_ENDS, narrow_phase
from .collision.workspace import RESTLESS, UNSOLVED
from .constraints.contact_rows import (
    RECOVERS,
    SAME,
    ask_for_velocities,
    forget_impulses,
    gains_energy,
    kinetic_energy,
    move_rows_along,
)
from .constraints.impacts import (
    MAX_IMPACTS,
    begin_from,
    begin_impacts,
    end_impact,
    end_impacts,
    energy_of_fall,
    let_approach,
    pick_impacts,
    threshold_of_impacts,
)
from .contacts import LAST, LOOKED, STATUS_OK, ContactArrays, allocate_contacts, clear_contacts, join_contacts
from .entries import caller
from .frame_record import FrameRecord
from .jobs import AMOUNTS, BOARD, add_shared, alone_until, be_patient, has_pieces, load_shared
from .kernel import entry, inlined, subkernel
from .lanes import empty_contexts, take_next
from .motion import take_turn_energy, turn_ahead, turn_back
from .rows import SolverSettings, allocate_solver_workspace, sharing_parts, sweeping_part, with_sweeping_part
from .solvers.contact.sweep import apply_impulses
from .step_arrays import StepMembers, views_of, whole

# (status, iterations, residual, scale, worst block), of every solver.
SOLVER_OUTCOME = types.Tuple((types.int64, types.int64, types.float64, types.float64, types.int64))
_call_solver = caller(SOLVER_OUTCOME)
_call_task = caller(types.none)
_apply_impulses = inlined(apply_impulses)

# Places in FrameEntries.stages.
APPLY_FORCES, BROAD_PHASE, LOOK_AT_PAIRS, MATCH_CONTACTS, BUILD_ROWS, FIND_ISLANDS, INTEGRATE, SOLVE = range(8)
JOIN_CONTACTS, SOLVE_ISLANDS, SETTLE_ISLANDS, RUN_LANES, HELP, TOUCH_UP = range(8, 14)

# Pairs of a run: enough work to be worth a turn at the counter, and little enough for all lanes to end together.
PAIRS_A_RUN = 32

# From so many pairs on they are shared; islands from so many contacts on that are not in the largest of them. Less is
# done in a millisecond or two; where the machine is busy otherwise, a wait for the other threads takes as long.
PAIRS_TO_SHARE, CONTACTS_TO_SHARE = 2_000, 1_000

# Entries of SharedArrays.orders: the narrow phase's ``part``, which look it is, the most contacts of a pair; whether
# the first lane does all; what a stage found; from how many on pairs and contacts are shared; and of ``StepSettings``
# the substeps and whether islands fall asleep; and whether the method solves what rests by sweeps, too.
PART, LOOK, MAXIMAL_POINTS, ALONE, FOUND, LEAST_PAIRS, LEAST_CONTACTS, SUBSTEPS_DUE, MAY_SLEEP, SWEEPS_AT_REST = range(
    10
)
# Values of LOOK: the first of a substep, another one, one at the same pairs as the last; and none, but the same rows
# once more for the islands that the first has only swept.
FIRST_LOOK, NEW_LOOK, SAME_PAIRS, SAME_ROWS = range(4)
# Entries of SharedArrays.lengths: a substep [s], gravity [m/s^2].
STEP, GRAVITY = range(2)
# Sweeps over an island that the last substep left unsolved, before its contacts are known; over one that was left so by
# the last look, where contacts are added, and for its velocities: at least, and at most where hits need more.
_SWEEPS_FIRST, _SWEEPS_AGAIN, _SWEEPS_MOST = np.int64(12), np.int64(10), np.int64(240)
# From so many contacts on an island that was left unsolved gets sweeps for its velocities.
_CONTACTS_TO_SWEEP = 500

# Columns of SharedArrays.runs.
LANE, FIRST, COUNT, PLACE = range(4)
# Columns of SharedArrays.outcome.
SOLVE_ITERATIONS, SOLVE_MISSED, WORST_A, WORST_B = range(4)


class SharedArrays(NamedTuple):
    """What lanes are told and tell, and what each has of its own.

    Attributes
    ----------
    stages, families : tables of entries
        Of the frame.
    next : int64 [1]
        Counter from which lanes take pieces.
    busy : int64 [1]
        Lanes that still take pieces, which others may help them with.
    orders : int64 [10]
        Columns above.
    lengths : float64 [2]
        Columns above.
    gravity : float64 [3]
        [m/s^2].
    amounts, counts : float64 [4], int64 [8]
        ``SolverSettings``, taken apart.
    contexts : int64 [lane_count]
        Of all lanes' arrays (``lanes.contexts_of``).
    record : FrameRecord
        Written.
    runs : int64 [pair_capacity // PAIRS_A_RUN + 1, 4]
        Written: the lane that made the contacts of a run of pairs, their first place in its buffer, how many they are;
        and their place among all.
    needed : int64 [lane_count]
        Written: contacts of each lane's runs.
    ended : int64 [lane_count + 1]
        Written: when each lane did its last piece of a task, 0 where it did none; until when one lane does all, since
        the others were waited for [ns].
    outcome : int64 [body_count, 4]
        Written, by island: iterations of its solves, how many missed their tolerance, and the bodies of the block with
        the largest residual.
    residual : float64 [body_count]
        Written, by island: the largest, relative to its problem's scale.
    block_first : int64 [body_count + 1]
        A copy of that of ``IslandArrays``, which all lanes see; impacts change that of their own.
    boards, board_amounts : int64 [lane_count, 16], float64 [lane_count, 2]
        What each lane does with the parts of an island (``jobs``).
    made : ContactArrays
        This lane's; of one lane without a place.
    """

    stages: np.ndarray
    families: np.ndarray
    next: np.ndarray
    busy: np.ndarray
    orders: np.ndarray
    lengths: np.ndarray
    gravity: np.ndarray
    amounts: np.ndarray
    counts: np.ndarray
    contexts: np.ndarray
    record: FrameRecord
    runs: np.ndarray
    needed: np.ndarray
    ended: np.ndarray
    outcome: np.ndarray
    residual: np.ndarray
    block_first: np.ndarray
    boards: np.ndarray
    board_amounts: np.ndarray
    made: ContactArrays


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


class FrameEntries(NamedTuple):
    """Tables of the kernels that a frame calls by address (``entries``).

    Attributes
    ----------
    stages : table of entries
    families : table of entries
        Of ``pair_families``.
    """

    stages: np.ndarray
    families: np.ndarray


def allocate_shared(
    tables: FrameEntries, settings: SolverSettings, gravity, record: FrameRecord, collision, islands, lane_count: int
) -> SharedArrays:
    """For so many lanes; ``made`` has no place yet, and ``contexts`` is empty.

    Parameters
    ----------
    tables : FrameEntries
    settings : SolverSettings
    gravity : float64 [3]
    record : FrameRecord
    collision : CollisionArrays
    islands : IslandArrays
    lane_count : int
    """
    body_count = len(islands.body_order)
    return SharedArrays(
        stages=tables.stages,
        families=tables.families,
        next=np.zeros(1, np.int64),
        busy=np.zeros(1, np.int64),
        orders=np.array([0, 0, 0, 0, 0, PAIRS_TO_SHARE, CONTACTS_TO_SHARE, 0, 0, 0], np.int64),
        lengths=np.zeros(2),
        gravity=gravity,
        amounts=np.array([settings[place] for place in _AMOUNTS], float),
        counts=np.array([settings[place] for place in _COUNTS], np.int64),
        contexts=empty_contexts(lane_count),
        record=record,
        runs=np.zeros((len(collision.pairs[0].shape_a) // PAIRS_A_RUN + 1, 4), np.int64),
        needed=np.zeros(lane_count, np.int64),
        ended=np.zeros(lane_count + 1, np.int64),
        outcome=np.zeros((body_count, 4), np.int64),
        residual=np.zeros(body_count),
        block_first=np.zeros_like(islands.block_first),
        boards=np.zeros((lane_count, BOARD), np.int64),
        board_amounts=np.zeros((lane_count, AMOUNTS)),
        made=allocate_contacts(0),
    )


# Places in SolverSettings of SharedArrays.amounts and counts.
_AMOUNTS = tuple(map(SolverSettings._fields.index, ("tolerance", "absolute_tolerance", "relaxation", "alpha")))
_COUNTS = tuple(place for place in range(len(SolverSettings._fields)) if place not in _AMOUNTS)


def give_orders(shared: SharedArrays, step: StepSettings) -> None:
    """Tell the kernels what holds for a frame."""
    shared.lengths[STEP], shared.lengths[GRAVITY] = step.h, step.gravity_norm
    orders = shared.orders
    orders[SUBSTEPS_DUE], orders[MAXIMAL_POINTS], orders[MAY_SLEEP] = step.substeps, step.maximal_points, step.sleeping


@subkernel(inline=True)
def step_of(shared):
    """The step's settings again."""
    lengths, orders = shared.lengths, shared.orders
    return StepSettings(
        orders[SUBSTEPS_DUE], lengths[STEP], lengths[GRAVITY], orders[MAXIMAL_POINTS], orders[MAY_SLEEP]
    )


@subkernel
def settings_of(amounts, counts):
    """The solver's settings again."""
    return SolverSettings(
        amounts[0],
        amounts[1],
        counts[0],
        counts[1],
        counts[2],
        amounts[2],
        amounts[3],
        counts[3],
        counts[4],
        counts[5],
        counts[6],
        counts[7],
    )


def members_of_lane(first: StepMembers, method, lane: int) -> StepMembers:
    """What one of several lanes sees: the first one's arrays, and memory of its own for its pieces on the way.

    Parameters
    ----------
    first : StepMembers
    method : Method
    lane : int
    """
    collision, problem = first.collision, first.problem
    shared = first.shared._replace(made=allocate_contacts(len(collision.contacts[0].gap)))
    board, amounts = shared.boards[lane], shared.board_amounts[lane]
    if lane == 0:
        sweep = sharing_parts(problem.sweep, problem.sweep, board, amounts)
        solver = with_sweeping_part(problem.solver, sweep)
        return first._replace(problem=problem._replace(solver=solver, sweep=sweep), shared=shared)
    workspace, meshes, polytopes = collision.workspace, collision.workspace.meshes, collision.workspace.polytopes
    if len(meshes.speed) > 0:
        # A triangle that is looked at stands for a moment among the polytopes.
        polytopes = polytopes._replace(vertex=polytopes.vertex.copy(), plane=polytopes.plane.copy())
        meshes = meshes._replace(
            candidate=np.zeros_like(meshes.candidate),
            probe=np.zeros_like(meshes.probe),
            contact=np.zeros_like(meshes.contact),
        )
    scratch = type(workspace.scratch)(*(np.zeros_like(array) for array in workspace.scratch))
    size = len(problem.rows.diagonal), len(problem.parent)
    solver = method.allocate(*size, 0)
    sweep = sharing_parts(sweeping_part(solver) or allocate_solver_workspace(*size), problem.sweep, board, amounts)
    return first._replace(
        collision=collision._replace(
            workspace=workspace._replace(polytopes=polytopes, meshes=meshes, scratch=scratch),
        ),
        problem=problem._replace(
            islands=problem.islands._replace(block_first=problem.islands.block_first.copy()),
            solver=with_sweeping_part(method.sharing(problem.solver, solver), sweep),
            sweep=sweep,
        ),
        shared=shared,
    )


@subkernel(inline=True)
def share_pairs(shared, pairs):
    """Decide whether several lanes look at the pairs."""
    shared.orders[ALONE] = 0 if pairs.count[0] >= shared.orders[LEAST_PAIRS] and _may_share(shared) else 1


@subkernel
def _may_share(shared):
    """Whether there are several lanes, and a core for each as far as is known."""
    lanes = len(shared.needed)
    return lanes > 1 and (shared.ended[lanes] == 0 or now() >= shared.ended[lanes])


@subkernel
def begin_sharing(shared):
    """Note that no lane has done anything of a task yet."""
    for lane in range(len(shared.needed)):
        shared.ended[lane] = 0


@subkernel
def end_sharing(shared, started):
    """Where other programs use the cores, lanes end late that have done nothing: then share nothing for a while."""
    time, last, lanes = now(), started, len(shared.needed)
    for lane in range(lanes):
        last = max(last, shared.ended[lane])
    shared.ended[lanes] = alone_until(time, time - last)


@subkernel(inline=True)
def share_islands(shared, islands):
    """Decide whether several lanes solve the islands."""
    largest = np.int64(0)
    for island in range(islands.count[0]):
        largest = max(largest, islands.block_first[island + 1] - islands.block_first[island])
    others = islands.block_first[islands.count[0]] - largest
    worth = others >= shared.orders[LEAST_CONTACTS] or islands.part_first[islands.count[0]] > 0
    shared.orders[ALONE] = 0 if worth and _may_share(shared) else 1
    if is_shared(shared):
        _copy_starts(islands.count[0], islands.block_first, shared.block_first)


@subkernel(inline=True)
def is_shared(shared):
    """Whether several lanes do the present task."""
    return shared.orders[ALONE] == 0


@entry
def look_at_pairs(arrays, lane):
    """Task: the narrow phase of the pairs, run by run.

    Parameters
    ----------
    arrays : StepArrays
        Read: what ``narrow_phase`` reads, and ``shared.orders``. Written: what it writes; of several lanes each writes
        its contacts to ``shared.made``. ``shared``: runs, needed, and FOUND in its orders, where a status is not
        STATUS_OK.
    lane : int64
    """
    members = views_of(arrays)
    collision, shared = members.collision, members.shared
    current, orders = collision.current[0], shared.orders
    part, ends = orders[PART], orders[PART] == LOOK_AT_ENDS
    pairs, contacts = collision.pairs[current], collision.contacts[current]
    # Nothing is recycled at the ends, so the present pairs and contacts stand for the last ones.
    previous = current if ends else collision.current[LAST]
    looked = collision.current[LOOKED]
    previous_pairs, previous_contacts = collision.pairs[previous], collision.contacts[previous]
    step = step_of(shared)
    several = is_shared(shared)
    made = shared.made if several and not ends else contacts
    if not ends:
        clear_contacts(made)
    length = PAIRS_A_RUN if several else pairs.count[0]
    while True:
        run = take_next(shared.next)
        first_pair = run * length
        if first_pair >= pairs.count[0] or (ends and orders[FOUND] != STATUS_OK):
            break
        first = made.count[0]
        status = narrow_phase(
            members.model,
            members.state,
            step,
            pairs,
            previous_pairs,
            collision.pairs[looked],
            made,
            previous_contacts,
            collision.contacts[looked],
            collision.workspace,
            shared.families,
            part,
            first_pair,
            first_pair + length,
        )
        if status != STATUS_OK:
            orders[FOUND] = status
        if several and not ends:
            row = shared.runs[run]
            row[LANE], row[FIRST], row[COUNT] = lane, first, made.count[0] - first
        shared.ended[lane] = now()
    if not ends:
        shared.needed[lane] = made.needed[0]


@subkernel(inline=True)
def order_runs(pairs, contacts, shared):
    """Find the places of the runs' contacts among all.

    Returns
    -------
    bool
        Whether there is room for them; else ``contacts.needed`` says how much they need.
    """
    clear_contacts(contacts)
    for lane in range(len(shared.needed)):
        contacts.needed[0] += shared.needed[lane]
    if contacts.needed[0] > len(contacts.gap):
        return False
    for run in range((pairs.count[0] + PAIRS_A_RUN - 1) // PAIRS_A_RUN):
        shared.runs[run, PLACE] = contacts.count[0]
        contacts.count[0] += shared.runs[run, COUNT]
    return True


@entry
def join_runs(arrays, lane):
    """Task: move the contacts that this lane made to their places among all."""
    members = views_of(arrays)
    collision, shared = members.collision, members.shared
    pairs, contacts = collision.pairs[collision.current[0]], collision.contacts[collision.current[0]]
    count = pairs.count[0]
    for run in range((count + PAIRS_A_RUN - 1) // PAIRS_A_RUN):
        made_by, first, length, place = shared.runs[run]
        if made_by == lane:
            first_pair = run * PAIRS_A_RUN
            end_pair = min(first_pair + PAIRS_A_RUN, count)
            join_contacts(pairs, first_pair, end_pair, shared.made, first, length, contacts, place)
            shared.ended[lane] = now()


@entry
def solve_islands(arrays, lane):
    """Task: ask where the bodies go, island by island.

    Where the last substep was not solved, in the middle of impacts, the first look mostly finds that contacts are
    missing: such islands get some sweeps then, and FOUND. Where none are, they are solved from there (SAME_ROWS).

    Parameters
    ----------
    arrays : StepArrays
        Written: impulses, velocities and outcomes of the islands, what the last look left of each (``looks``), and
        FOUND in ``shared.orders``: 1 where an island has been swept only.
    lane : int64
    """
    members = views_of(arrays)
    problem, shared, outlook = members.problem, members.shared, members.collision.workspace.outlook
    rows, islands = whole(problem.rows), whole(problem.islands)
    free_velocity, velocity = members.motion.free_velocity, members.state.velocity
    if is_shared(shared):
        _copy_starts(islands.count[0], shared.block_first, islands.block_first)
    add_shared(shared.busy, 0, 1)
    worked = False
    while True:
        island = take_next(shared.next)
        if island >= islands.count[0]:
            break
        worked = True
        _forget_outcome(shared, island)
        look = shared.orders[LOOK]
        restless = is_marked(islands, island, outlook, np.int64(RESTLESS))
        if look == SAME_ROWS and not restless:
            continue
        _apply_impulses(rows, islands, island, free_velocity, velocity)
        if look == FIRST_LOOK and restless:
            shared.orders[FOUND] = 1
            outcome = _call_solver(shared.stages, TOUCH_UP, arrays, island, _SWEEPS_FIRST, _SWEEPS_FIRST)
            shared.outcome[island, SOLVE_ITERATIONS] = outcome[1]
            continue
        if look == SAME_PAIRS and is_marked(islands, island, outlook, np.int64(UNSOLVED)):
            outcome = _call_solver(shared.stages, TOUCH_UP, arrays, island, _SWEEPS_AGAIN, _SWEEPS_MOST)
        else:
            outcome = _call_solver(shared.stages, SOLVE, arrays, island)
        note_unsolved(islands, island, outlook, outcome[0] > 1)
        _note_outcome(shared, island, rows, outcome)
    _help_others(arrays, shared, lane, worked)


@entry
def settle_islands(arrays, lane):
    """Task: ask how fast the bodies are then, island by island, where that is another question.

    Where the poses were left unsolved, in the middle of impacts, the velocities get some sweeps from their impulses.

    Parameters
    ----------
    arrays : StepArrays
        Written: rows, impulses, velocities and outcomes of such islands.
    lane : int64
    """
    members = views_of(arrays)
    problem, shared, motion, state = members.problem, members.shared, members.motion, members.state
    rows, islands, contact_rows = whole(problem.rows), whole(problem.islands), problem.contact_rows
    contacts = members.collision.contacts[members.collision.current[0]]
    free_velocity, velocity, contact_count = motion.free_velocity, state.velocity, contacts.count[0]
    h, gravity_speed = shared.lengths[STEP], shared.lengths[STEP] * shared.lengths[GRAVITY]
    outlook, sizes = members.collision.workspace.outlook, members.collision.workspace.size
    if is_shared(shared):
        _copy_starts(islands.count[0], shared.block_first, islands.block_first)
    add_shared(shared.busy, 0, 1)
    worked = False
    while True:
        island = take_next(shared.next)
        if island >= islands.count[0]:
            break
        worked = True
        _forget_outcome(shared, island)
        change = ask_for_velocities(islands, island, rows, contacts, contact_rows)
        if change == SAME:
            continue
        allowed = math.inf
        if change != RECOVERS:
            allowed = energy_of_fall(islands, island, rows, contacts, motion, velocity, shared.gravity, h)
            turn_ahead(islands, island, members.model, state, motion, h)
        move_rows_along(islands, island, rows, contacts, state, motion, h, change != RECOVERS)
        if change != RECOVERS:
            last = islands.block_first[island + 1]
            fastest = begin_impacts(islands, island, rows, contact_rows, velocity, free_velocity)
            threshold = threshold_of_impacts(fastest, gravity_speed)
            let_approach(islands, island, rows, contact_count, contact_rows)
            outcome = _call_solver(shared.stages, SOLVE, arrays, island)
            _note_outcome(shared, island, rows, outcome)
            begin_from(islands, island, rows, velocity, free_velocity)
            surplus = kinetic_energy(islands, island, rows, velocity) - allowed
            for impact in range(MAX_IMPACTS):
                if not pick_impacts(
                    islands, island, last, rows, contact_count, contact_rows, velocity, threshold, impact == 0
                ):
                    break
                outcome = _call_solver(shared.stages, SOLVE, arrays, island)
                _note_outcome(shared, island, rows, outcome)
                surplus = end_impact(islands, island, rows, velocity, free_velocity, surplus)
            end_impacts(islands, island, last, rows, contact_count, contact_rows)
        # Deep overlaps have been pushed apart, by impulses from which sweeps are slow to come back; in small islands it
        # costs little to ask to the end.
        unsolved = is_marked(islands, island, outlook, np.int64(UNSOLVED))
        large = islands.block_first[island + 1] - islands.block_first[island] >= _CONTACTS_TO_SWEEP
        if large and unsolved and not has_deep_contacts(islands, island, contacts, sizes):
            outcome = _call_solver(shared.stages, TOUCH_UP, arrays, island, _SWEEPS_AGAIN, _SWEEPS_MOST)
        else:
            outcome = _call_solver(shared.stages, SOLVE, arrays, island)
        if change == RECOVERS and gains_energy(islands, island, rows, contacts, free_velocity, velocity):
            # Overlaps that contradict each other have left impulses from which there is no way back.
            forget_impulses(islands, island, rows, free_velocity, velocity)
            outcome = _call_solver(shared.stages, SOLVE, arrays, island)
        if change != RECOVERS:
            turn_back(islands, island, members.model, state, motion, h)
        else:
            take_turn_energy(islands, island, members.model, state, motion, h)
        _note_outcome(shared, island, rows, outcome)
    _help_others(arrays, shared, lane, worked)


@subkernel
def _help_others(arrays, shared, lane, worked):
    """Where no island is left, help with the parts of those that other lanes are at."""
    since = now()
    if worked:
        shared.ended[lane] = since
    add_shared(shared.busy, 0, -1)
    while load_shared(shared.busy, 0) > 0:
        for other in range(len(shared.boards)):
            if has_pieces(shared.boards[other]):
                _call_task(shared.stages, HELP, arrays, other)
                since = shared.ended[lane] = now()
        be_patient(now() - since)


@subkernel
def _copy_starts(count, source, target):
    """Tell where islands begin; impacts move the ends for a while, and only in their own lane."""
    for island in range(count + 1):
        target[island] = source[island]


@subkernel(inline=True)
def _forget_outcome(shared, island):
    shared.outcome[island, SOLVE_ITERATIONS] = shared.outcome[island, SOLVE_MISSED] = 0
    shared.outcome[island, WORST_A] = shared.outcome[island, WORST_B] = -1
    shared.residual[island] = 0.0


@subkernel(inline=True)
def _note_outcome(shared, island, rows, outcome):
    """Add one solver call's outcome to the island's."""
    status, iterations, residual, scale, worst_block = outcome
    row = shared.outcome[island]
    row[SOLVE_ITERATIONS] += iterations
    if status > 1:
        row[SOLVE_MISSED] += 1
    relative = residual / scale if scale > 0.0 else residual
    if worst_block >= 0 and not relative <= shared.residual[island]:
        shared.residual[island] = relative
        row[WORST_A], row[WORST_B] = rows.body_a[worst_block], rows.body_b[worst_block]
