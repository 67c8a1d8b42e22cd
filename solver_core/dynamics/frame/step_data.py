"""What a step reads and writes, by name: ``StepMembers`` and the tuples of arrays in it.

A number that a kernel writes, or that changes from frame to frame, is an array of one entry: kernels see all of this
through one pointer (``compiled.views``).
"""

from typing import NamedTuple

import numpy as np

from ...collision.data.contact_arrays import ContactArrays
from ...collision.data.workspace import CollisionWorkspace
from ...constraints.contact_rows import ContactRowArrays
from ...constraints.joints.joint_state import JointStateArrays
from ...model.fields import FieldArrays
from ...model.state import StateArrays
from ...problem.rows import IslandArrays, IslandProblem, RowArrays, SolverSettings
from ...solvers.batches.domain_partition import ContactGraph
from ...solvers.batches.sweep_workspace import DomainJobs, SweepWorkspace
from ...solvers.jointed_arrays import JointedArrays
from ...solvers.small_steps import SmallStepArrays
from ..islands.contact_selection import ContactSelection
from ..motion.frame_impulses import FrameImpulses
from ..motion.integration import MotionArrays
from ..motion.position_update import StepRuleArrays
from ..motion.rolling_energy import RollingArrays
from ..outside.guide_arrays import GuideArrays
from ..outside.pull import PullArrays
from ..rest.sleeping import SleepArrays
from ..rest.waiting import WaitingArrays
from ..schedule.frame_record import FrameRecord


class StepSettings(NamedTuple):
    """Numbers that hold for a frame.

    Attributes
    ----------
    substeps : int
        Of the whole frame.
    h : float
        Length of a substep [s].
    gravity_norm : float
        [m/s^2].
    maximal_points : int
        Most contacts of a pair of shapes.
    sleeping : int
        1: islands at rest fall asleep.
    sweeps_at_rest : int
        1: the method solves also what rests by sweeps.
    small_steps : int
        In a substep of an island in motion (``solving.strategies``); 0: the method solves all islands.
    ends_at_rest : int
        1: the frame ends where nothing moves (``standstill``); 0: something may yet, as a mesh that deforms.
    impact_time : float
        Over which what hits joints counts as a force [s].
    until : int
        The call ends after so many of the frame's substeps.
    """

    substeps: int
    h: float
    gravity_norm: float
    maximal_points: int
    sleeping: int = 0
    sweeps_at_rest: int = 0
    small_steps: int = 0
    ends_at_rest: int = 0
    impact_time: float = 1.0
    until: int = 0


class FrameSettings(NamedTuple):
    """What holds for a frame; kernels get the numbers by ``numbers_of(settings.step)``.

    Attributes
    ----------
    step : StepSettings of arrays
    solver : SolverSettings of arrays
    gravity : float64 [3]
        [m/s^2].
    """

    step: StepSettings
    solver: SolverSettings
    gravity: np.ndarray


class KernelTables(NamedTuple):
    """Tables of the kernels that a frame calls by address.

    Attributes
    ----------
    stages : table of ``empty_table``
        By ``stage_table``.
    pair_kernels : table of ``empty_table``
        Of ``pair_dispatch``.
    """

    stages: np.ndarray
    pair_kernels: np.ndarray


class BufferRoles(NamedTuple):
    """Which of the three buffers of pairs and of contacts is which.

    Attributes
    ----------
    present, last_substep, previous_pass : int64 [1]
        Written by the next detection pass; left by the last substep; left by the previous pass of this substep.
    """

    present: np.ndarray
    last_substep: np.ndarray
    previous_pass: np.ndarray


class CollisionArrays(NamedTuple):
    """What the collision stages keep from substep to substep.

    Pairs and contacts have three buffers each, which change places: those of this detection pass, of the last substep,
    and of the pass before this one.

    Attributes
    ----------
    pairs : tuple of three PairArrays
    contacts : tuple of three ContactArrays
    roles : BufferRoles
        They change from pass to pass.
    workspace : CollisionWorkspace
    """

    pairs: tuple
    contacts: tuple
    roles: BufferRoles
    workspace: CollisionWorkspace


class SharingArrays(NamedTuple):
    """How workers share a task (``sharing``).

    Attributes
    ----------
    next : int64 [1]
        Counter from which workers take runs of pairs, or islands.
    busy : int64 [1]
        Workers that still take islands, which others may help with theirs.
    is_shared : int64 [1]
        0: the first worker does all.
    least_pairs, least_contacts : int64 [1]
        From how many on pairs and contacts are shared.
    finished : int64 [worker_count]
        When each worker last did something of the task, 0 if it did nothing [ns].
    alone_until : int64 [1]
        Until when the first worker does all, since the others were waited for [ns].
    contexts : int64 [worker_count]
        Of all workers' arrays (``workers.contexts_of``).
    queues : int64 [worker_count, 16]
        What each worker offers others to do (``work_queue``).
    jobs : DomainJobs
        What that is, with the domains of an island.
    """

    next: np.ndarray
    busy: np.ndarray
    is_shared: np.ndarray
    least_pairs: np.ndarray
    least_contacts: np.ndarray
    finished: np.ndarray
    alone_until: np.ndarray
    contexts: np.ndarray
    queues: np.ndarray
    jobs: DomainJobs


class PairRunArrays(NamedTuple):
    """Runs of pairs, of each of which one worker makes the contacts (``contact_generation``).

    Attributes
    ----------
    only_checks : bool [1]
        The narrow phase makes no contacts, but checks whether the solution leads shapes into each other.
    looks_again : bool [1]
        It makes none, but sees whether those of pairs that meet after others stand; one worker does.
    status : int64 [1]
        STATUS_OK, or what the narrow phase of some pair returned instead.
    worker, first, count, place : int64 [run_capacity]
        Who made the contacts of a run, where they begin in that worker's buffer, how many they are, and their place
        among all.
    needed : int64 [worker_count]
        Contacts that each worker's runs need.
    own_contacts : ContactArrays
        Of this worker.
    """

    only_checks: np.ndarray
    looks_again: np.ndarray
    status: np.ndarray
    worker: np.ndarray
    first: np.ndarray
    count: np.ndarray
    place: np.ndarray
    needed: np.ndarray
    own_contacts: ContactArrays


class IslandSolveArrays(NamedTuple):
    """How islands are solved, and how that ended (``solving``).

    Attributes
    ----------
    pass_kind : int64 [1]
        FIRST_PASS, NEW_PAIRS, SAME_PAIRS or SAME_ROWS.
    swept_only : int64 [1]
        1: some island has only got a few sweeps.
    block_first : int64 [body_count + 1]
        A copy of that of ``IslandArrays``, which all workers see; impacts change that of their own.
    iterations, missed : int64 [body_count]
        By island: iterations of its solves, and how many missed their tolerance.
    in_small_steps : int64 [body_count]
        By island: 1 where it moved in small steps.
    budget : float64 [body_count]
        By island: what each of this substep's solves by the method may cost, in sweeps over the island.
    keeps_standing : bool [body_count]
        By island: it stands still, as it did before in this frame, and is not solved (``standstill``).
    worst_a, worst_b : int64 [body_count]
        The bodies of the block with the largest residual; -1 without one.
    residual : float64 [body_count]
        The largest, relative to its problem's scale.
    """

    pass_kind: np.ndarray
    swept_only: np.ndarray
    block_first: np.ndarray
    iterations: np.ndarray
    missed: np.ndarray
    in_small_steps: np.ndarray
    budget: np.ndarray
    keeps_standing: np.ndarray
    worst_a: np.ndarray
    worst_b: np.ndarray
    residual: np.ndarray


class ProblemArrays(NamedTuple):
    """The rows of a substep, sorted into islands, and the memory to solve them.

    Attributes
    ----------
    rows : RowArrays
    contact_rows : ContactRowArrays
    step_rules : StepRuleArrays
    rolling : RollingArrays
    selection : ContactSelection
    islands : IslandArrays
    parent, label : int64 [body_count]
        For ``find_islands``.
    graph : ContactGraph
        For ``partition_islands``.
    sweep : SweepWorkspace
        The one within ``solver``, or one beside it.
    small_steps : SmallStepArrays
    jointed : JointedArrays
    solver : workspace of the method
        Empty where nothing is solved.
    """

    rows: RowArrays
    contact_rows: ContactRowArrays
    step_rules: StepRuleArrays
    rolling: RollingArrays
    selection: ContactSelection
    islands: IslandArrays
    parent: np.ndarray
    label: np.ndarray
    graph: ContactGraph
    sweep: SweepWorkspace
    small_steps: SmallStepArrays
    jointed: JointedArrays
    solver: tuple


class StepMembers(NamedTuple):
    """All that a step reads and writes.

    The memory of the method comes last, so what does not read it is the same code for all methods
    (``seen_by_stages``).

    Attributes
    ----------
    model : ModelArrays
        Read.
    state : StateArrays
        Read and written; the kinds as the step is to see them: a sleeping body is static.
    motion : MotionArrays
        Of a substep.
    sleep : SleepArrays
        Carried from frame to frame.
    collision : CollisionArrays
        Carried from frame to frame.
    settings : FrameSettings
        Read.
    kernels : KernelTables
        Read.
    record : FrameRecord
        Written: what the frame was.
    impulses : FrameImpulses
        Written where somebody asks for contacts: what they have given in the frame.
    sharing : SharingArrays
    pair_runs : PairRunArrays
    solves : IslandSolveArrays
    joint_state : JointStateArrays
        Carried from frame to frame.
    waiting : WaitingArrays
        Carried from frame to frame.
    fields : FieldArrays
        Changed from frame to frame.
    guides : GuideArrays
        Carried from frame to frame.
    pull : PullArrays
        Of the frame.
    problem : ProblemArrays
    solver_input : IslandProblem
        What the method gets; empty until it is gathered (``with_solver_input``), and then ``problem.solver`` is.
    """

    model: tuple
    state: StateArrays
    motion: MotionArrays
    sleep: SleepArrays
    collision: CollisionArrays
    settings: FrameSettings
    kernels: KernelTables
    record: FrameRecord
    impulses: FrameImpulses
    sharing: SharingArrays
    pair_runs: PairRunArrays
    solves: IslandSolveArrays
    joint_state: JointStateArrays
    waiting: WaitingArrays
    fields: FieldArrays
    guides: GuideArrays
    pull: PullArrays
    problem: ProblemArrays
    solver_input: IslandProblem | tuple = ()


def island_problem(members: StepMembers) -> IslandProblem:
    """What the method gets of a step."""
    problem, motion = members.problem, members.motion
    velocity, settings = members.state.velocity, members.settings.solver
    work = np.zeros(1)
    return IslandProblem(problem.rows, problem.islands, motion.free_velocity, velocity, settings, work, problem.solver)


def with_solver_input(members: StepMembers) -> StepMembers:
    """The same members, with what the method gets, its memory with it, as the last of them."""
    return members._replace(problem=members.problem._replace(solver=()), solver_input=island_problem(members))


def seen_by_stages(members: StepMembers) -> StepMembers:
    """As ``with_solver_input``, without the method's memory: what stages see, whatever the method."""
    return with_solver_input(members._replace(problem=members.problem._replace(solver=())))
