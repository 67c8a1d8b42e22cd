"""Memory for a step: allocated by Python before the frame, kept, and made larger if a frame has found it too small."""

import numpy as np

from ...collision.allocation import allocate_collision_workspace
from ...collision.data.contact_arrays import STATUS_OK, allocate_contacts, allocate_pairs, grown
from ...compiled.views import StepArrays, arrays_of
from ...constraints.contact_rows import ROWS_PER_CONTACT, allocate_contact_rows
from ...constraints.joints.joint_state import allocate_joint_state
from ...model.activation import IMPULSE, TOUCH, pack_activation
from ...model.fields import allocate_fields
from ...model.joints.joint_arrays import JointArrays
from ...parallel.work_queue import QUEUE
from ...parallel.workers import contexts_of, empty_contexts
from ...problem.rows import SolverSettings, allocate_islands, allocate_rows
from ...solvers.batches.domain_partition import allocate_contact_graph
from ...solvers.batches.sweep_workspace import (
    allocate_domain_jobs,
    allocate_sweep_workspace,
    sharing_domains,
    sweeping_workspace,
    with_room_for_domains,
    with_sweeping_workspace,
)
from ...solvers.jointed_arrays import allocate_jointed
from ...solvers.small_steps import allocate_small_steps
from ..islands.contact_selection import allocate_selection
from ..motion.frame_impulses import FrameImpulses, allocate_frame_impulses
from ..motion.integration import allocate_motion
from ..motion.position_update import allocate_step_rules
from ..motion.rolling_energy import allocate_rolling
from ..outside.guide_arrays import allocate_guides
from ..outside.pull import allocate_pull
from ..rest.sleeping import allocate_sleep
from ..rest.waiting import allocate_waiting
from ..schedule import sharing
from ..schedule.frame_record import allocate_record
from ..schedule.pass_kinds import FIRST_PASS
from .contact_generation import PAIRS_A_RUN
from .step_data import (
    BufferRoles,
    CollisionArrays,
    FrameSettings,
    IslandSolveArrays,
    PairRunArrays,
    ProblemArrays,
    SharingArrays,
    StepMembers,
    StepSettings,
    seen_by_stages,
    with_solver_input,
)


def allocate_members(model, state, collision, kernels, method=None, worker_count=1, forces=None) -> StepMembers:
    """All that a step sees of bodies without history.

    Parameters
    ----------
    model : ModelArrays
    state : StateArrays
    collision : CollisionArrays
    kernels : KernelTables
    method : Method, optional
        Without, there is no memory to solve anything.
    worker_count : int
    forces : tuple of FieldArrays and GuideArrays, optional
    """
    body_count = len(state.kind)
    fields, guides = forces or (allocate_fields(), allocate_guides(np.zeros((0, 5))))
    return StepMembers(
        model=model,
        state=state,
        motion=allocate_motion(body_count, fields.responds.size + guides.follow.size > 0),
        sleep=allocate_sleep(body_count),
        collision=collision,
        settings=allocate_settings(SolverSettings(), np.zeros(3)),
        kernels=kernels,
        record=allocate_record(),
        impulses=allocate_frame_impulses(0, 0, 0, False),
        sharing=allocate_sharing(worker_count),
        pair_runs=allocate_pair_runs(collision, worker_count),
        solves=allocate_solves(body_count),
        joint_state=allocate_joint_state(model.joints),
        waiting=allocate_waiting(pack_activation([], [])),
        fields=fields,
        guides=guides,
        pull=allocate_pull(),
        problem=allocate_problem(collision, model.joints, body_count, method),
    )


def allocate_settings(solver: SolverSettings, gravity) -> FrameSettings:
    """Settings of frames; those of the step are written frame by frame (``write_numbers``).

    Parameters
    ----------
    solver : SolverSettings
    gravity : float64 [3]
        [m/s^2]; kept.
    """
    step = StepSettings(substeps=0, h=0.0, gravity_norm=0.0, maximal_points=0)
    return FrameSettings(arrays_of(step), arrays_of(solver), gravity)


def keeps_impulses(model, options) -> bool:
    """Whether frames of a ``Model`` note their contacts: who wants them may also be bodies that wait for a push."""
    activation = model.arrays.activation
    triggers = np.concatenate([activation.trigger, activation.joint_trigger])
    return options.contacts or bool(np.isin(triggers, (TOUCH, IMPULSE)).any())


def allocate_impulses(collision: CollisionArrays, model, is_kept: bool) -> FrameImpulses:
    """For the contacts that there is room for, of a ``Model``; nothing where none are kept."""
    return allocate_frame_impulses(len(collision.contacts[0].gap), model.body_count, model.joint_count, is_kept)


def allocate_sharing(worker_count: int) -> SharingArrays:
    """For this many workers; ``contexts`` is empty."""
    return SharingArrays(
        next=np.zeros(1, np.int64),
        busy=np.zeros(1, np.int64),
        is_shared=np.zeros(1, np.int64),
        least_pairs=np.full(1, sharing.PAIRS_TO_SHARE, np.int64),
        least_contacts=np.full(1, sharing.CONTACTS_TO_SHARE, np.int64),
        finished=np.zeros(worker_count, np.int64),
        alone_until=np.zeros(1, np.int64),
        contexts=empty_contexts(worker_count),
        queues=np.zeros((worker_count, QUEUE), np.int64),
        jobs=allocate_domain_jobs(worker_count),
    )


def allocate_pair_runs(collision: CollisionArrays, worker_count: int) -> PairRunArrays:
    """For the pairs that there is room for; ``own_contacts`` has no place yet.

    Parameters
    ----------
    collision : CollisionArrays
    worker_count : int
    """
    run_capacity = len(collision.pairs[0].shape_a) // PAIRS_A_RUN + 1
    return PairRunArrays(
        only_checks=np.zeros(1, np.bool_),
        looks_again=np.zeros(1, np.bool_),
        status=np.full(1, STATUS_OK, np.int64),
        worker=np.zeros(run_capacity, np.int64),
        first=np.zeros(run_capacity, np.int64),
        count=np.zeros(run_capacity, np.int64),
        place=np.zeros(run_capacity, np.int64),
        needed=np.zeros(worker_count, np.int64),
        own_contacts=allocate_contacts(0),
    )


def allocate_solves(body_count: int) -> IslandSolveArrays:
    """For as many islands as there are bodies."""
    return IslandSolveArrays(
        pass_kind=np.full(1, FIRST_PASS),
        swept_only=np.zeros(1, np.int64),
        block_first=np.zeros(body_count + 1, np.int64),
        iterations=np.zeros(body_count, np.int64),
        missed=np.zeros(body_count, np.int64),
        in_small_steps=np.zeros(body_count, np.int64),
        budget=np.zeros(body_count),
        keeps_standing=np.zeros(body_count, np.bool_),
        worst_a=np.zeros(body_count, np.int64),
        worst_b=np.zeros(body_count, np.int64),
        residual=np.zeros(body_count),
    )


def allocate_collision(model) -> CollisionArrays:
    """Buffers for a ``Model`` that has not been stepped."""
    # A resting box in a heap touches some six others; a guess that is too low costs a growth, no more.
    pair_capacity = 16 + 4 * len(model.arrays.shapes.body)
    contact_capacity = 4 * pair_capacity
    return CollisionArrays(
        pairs=tuple(allocate_pairs(pair_capacity) for _ in range(3)),
        contacts=tuple(allocate_contacts(contact_capacity) for _ in range(3)),
        roles=BufferRoles(*(np.full(1, number, np.int64) for number in range(3))),
        workspace=allocate_collision_workspace(model.arrays.shapes, model.hulls, model.meshes, model.body_count),
    )


def grow_collision(collision: CollisionArrays) -> CollisionArrays:
    """Buffers with twice the room that the last pass needed, with the same contents."""
    present = collision.roles.present[0]
    pairs, contacts = collision.pairs[present], collision.contacts[present]
    pair_capacity, contact_capacity = len(pairs.shape_a), len(contacts.shape_a)
    if pairs.needed[0] > pair_capacity:
        pair_capacity = 2 * int(pairs.needed[0])
    if contacts.needed[0] > contact_capacity:
        contact_capacity = 2 * int(contacts.needed[0])
    return collision._replace(
        pairs=tuple(grown(buffer, pair_capacity) for buffer in collision.pairs),
        contacts=tuple(grown(buffer, contact_capacity) for buffer in collision.contacts),
    )


def allocate_problem(collision: CollisionArrays, joints: JointArrays, body_count: int, method) -> ProblemArrays:
    """Rows, islands and the solver's memory, if there is one.

    Parameters
    ----------
    collision : CollisionArrays
        There are as many contacts as it has room for.
    joints : JointArrays
    body_count : int
    method : Method or None
    """
    contact_capacity = len(collision.contacts[0].shape_a)
    block_capacity = contact_capacity + joints.joint_count
    row_capacity = ROWS_PER_CONTACT * contact_capacity + joints.row_count
    solver = method.allocate(row_capacity, body_count, 0) if method else ()
    sweep = sweeping_workspace(solver) or allocate_sweep_workspace(row_capacity if method else 0, body_count)
    return ProblemArrays(
        rows=allocate_rows(block_capacity, row_capacity, body_count),
        contact_rows=allocate_contact_rows(contact_capacity, block_capacity, joints.row_count),
        step_rules=allocate_step_rules(contact_capacity, body_count),
        rolling=allocate_rolling(body_count),
        selection=allocate_selection(contact_capacity, body_count),
        islands=allocate_islands(block_capacity, body_count),
        parent=np.zeros(body_count, np.int64),
        label=np.zeros(body_count, np.int64),
        graph=allocate_contact_graph(0, 0),
        sweep=sweep,
        small_steps=allocate_small_steps(block_capacity if method else 0, body_count, False),
        jointed=_jointed(joints, block_capacity, row_capacity, body_count, method),
        solver=solver,
    )


def _jointed(joints, block_capacity, row_capacity, body_count, method):
    jointed_bodies = int(joints.is_jointed.sum()) if method else 0
    return allocate_jointed(block_capacity, row_capacity, body_count, jointed_bodies)


def may_partition(problem: ProblemArrays) -> bool:
    """Whether there is room for the domains of large islands."""
    return len(problem.sweep.domains.order) > 0


def with_domains(problem: ProblemArrays) -> ProblemArrays:
    """The same arrays with room for the domains of large islands, which others do without."""
    block_capacity, row_capacity = len(problem.rows.body_a), len(problem.rows.diagonal)
    sweep = with_room_for_domains(problem.sweep, block_capacity, row_capacity)
    graph = allocate_contact_graph(block_capacity, len(problem.parent))
    return problem._replace(
        graph=graph,
        sweep=sweep,
        small_steps=allocate_small_steps(block_capacity, len(problem.parent), True),
        solver=with_sweeping_workspace(problem.solver, sweep),
    )


def gather_arrays(members: StepMembers, method=None) -> list[StepArrays]:
    """The arrays of a frame, as each worker sees them from now on; the first one's are ``members``.

    Parameters
    ----------
    members : StepMembers
        Written: ``sharing.contexts``.
    method : Method, optional
        Needed for several workers.
    """
    worker_count = len(members.sharing.contexts)
    if worker_count == 1:
        workers = [members]
    else:
        workers = [members_of_worker(members, method, worker) for worker in range(worker_count)]
    workers = [StepArrays(with_solver_input(worker), seen_by_stages(worker)) for worker in workers]
    members.sharing.contexts[:] = contexts_of(workers)
    return workers


def members_of_worker(first: StepMembers, method, worker: int) -> StepMembers:
    """What one of several workers sees: the first one's arrays, and scratch memory of its own.

    Parameters
    ----------
    first : StepMembers
    method : Method
    worker : int
    """
    problem = first.problem
    own_contacts = allocate_contacts(len(first.collision.contacts[0].gap))
    pair_runs = first.pair_runs._replace(own_contacts=own_contacts)
    queue, jobs = first.sharing.queues[worker], first.sharing.jobs
    if worker == 0:
        sweep = sharing_domains(problem.sweep, problem.sweep, worker, queue, jobs)
        solver = with_sweeping_workspace(problem.solver, sweep)
        return first._replace(problem=problem._replace(solver=solver, sweep=sweep), pair_runs=pair_runs)
    size = len(problem.rows.diagonal), len(problem.parent)
    solver = method.allocate(*size, 0)
    sweep = sweeping_workspace(solver) or allocate_sweep_workspace(*size)
    sweep = sharing_domains(sweep, problem.sweep, worker, queue, jobs)
    own_settings = SolverSettings(*(number.copy() for number in first.settings.solver))
    # it changes with the length of the substep
    own_settings = own_settings._replace(absolute_tolerance=first.settings.solver.absolute_tolerance)
    return first._replace(
        settings=first.settings._replace(solver=own_settings),
        collision=first.collision._replace(workspace=_with_own_scratch(first.collision.workspace)),
        problem=problem._replace(
            islands=problem.islands._replace(block_first=problem.islands.block_first.copy()),
            solver=with_sweeping_workspace(method.sharing(problem.solver, solver), sweep),
            sweep=sweep,
            jointed=_jointed(first.model.joints, len(problem.rows.body_a), *size, method),
        ),
        pair_runs=pair_runs,
    )


def _with_own_scratch(workspace):
    """A ``CollisionWorkspace`` for one more worker, which shares all that lasts longer than a pair."""
    meshes, polytopes = workspace.meshes, workspace.polytopes
    if len(meshes.speed) > 0:
        # A triangle that is tested stands for a moment among the polytopes.
        polytopes = polytopes._replace(vertex=polytopes.vertex.copy(), plane=polytopes.plane.copy())
        meshes = meshes._replace(
            candidate=_empty_like(meshes.candidate),
            probe=_empty_like(meshes.probe),
            contact=_empty_like(meshes.contact),
        )
    return workspace._replace(polytopes=polytopes, meshes=meshes, scratch=_empty_like(workspace.scratch))


def _empty_like(arrays):
    """An array of zeros of the same shape and type; of a NamedTuple, however nested, one of such arrays."""
    if isinstance(arrays, np.ndarray):
        return np.zeros_like(arrays)
    return type(arrays)(*map(_empty_like, arrays))


def bytes_of(arrays) -> int:
    """Size of an array, or of all in nested tuples."""
    return arrays.nbytes if isinstance(arrays, np.ndarray) else sum(map(bytes_of, arrays))


def memory_of(model, parts: tuple, workers: list[StepMembers]) -> dict[str, int]:
    """Bytes that a simulation holds, by what they are for.

    Parameters
    ----------
    model : Model
    parts : tuple
        What there is of bodies, CollisionArrays, FrameImpulses, ProblemArrays, JointStateArrays.
    workers : list of StepMembers
    """
    bodies, collision, impulses, problem, joint_state = parts
    return {
        "model": bytes_of(model.arrays) + bytes_of(model.hulls),
        "bodies": bytes_of((bodies, collision.workspace)),
        "pairs and contacts": bytes_of((collision.pairs, collision.contacts, impulses)),
        "rows": bytes_of(problem._replace(solver=())),
        "joints": bytes_of(joint_state),
        "solver": bytes_of(problem.solver),
        "threads": bytes_of_workers(workers),
    }


def bytes_apart(arrays, others) -> int:
    """The same without the arrays that ``others``, nested alike, has in the same places."""
    if isinstance(arrays, np.ndarray):
        return 0 if arrays is others else arrays.nbytes
    return sum(map(bytes_apart, arrays, others))


def bytes_of_workers(workers: list[StepMembers]) -> int:
    """What the members of several workers hold beside those of the first one."""
    own = sum(bytes_of(worker.pair_runs.own_contacts) for worker in workers)
    for worker in workers[1:]:
        own += bytes_apart(worker.solver_input.workspace, workers[0].solver_input.workspace)
        own += bytes_of(worker.collision.workspace.scratch)
    return own
