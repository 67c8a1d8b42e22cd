"""What a frame calls, put into its table of kernels: compiled one by one, or loaded from the cache."""

from numba import types

from ...collision.data.workspace import PAIR_KERNELS
from ...collision.pair_dispatch import mesh_kernels_to_compile, pair_kernels_to_compile
from ...compiled.function_tables import Compilation, empty_table
from ...compiled.views import StepArrays
from ...parallel.workers import run_workers
from ..joints.held_contacts import run_leave_held_contacts
from ..joints.joint_stages import (
    run_build_joint_rows,
    run_correct_joints,
    run_end_joints,
    run_move_joint_rows,
    run_prepare_joints,
    run_wake_joined,
)
from ..motion.frame_impulses import run_keep_impulses
from ..outside.field_forces import run_apply_fields
from ..outside.guides import run_guide_bodies
from ..rest.activation import run_activate
from ..schedule.stage_names import (
    ACTIVATE,
    APPLY_FIELDS,
    APPLY_FORCES,
    BROAD_PHASE,
    BUILD_JOINT_ROWS,
    BUILD_ROWS,
    CORRECT_JOINTS,
    END_JOINTS,
    FALLBACK_SWEEPS,
    FIND_ISLANDS,
    GUIDE_BODIES,
    HELP_WITH_DOMAINS,
    INTEGRATE,
    JOIN_CONTACTS,
    KEEP_IMPULSES,
    KERNEL_NAMES,
    LEAVE_HELD_CONTACTS,
    MATCH_CONTACTS,
    MOVE_JOINT_ROWS,
    NARROW_PHASE,
    PREPARE_JOINTS,
    RUN_WORKERS,
    SMALL_STEPS,
    SOLVE_ISLAND,
    SOLVE_JOINTED,
    SOLVE_POSITIONS,
    SOLVE_VELOCITIES,
    SOLVER_OUTCOME,
    WAKE_JOINED,
)
from ..solving.jointed_solve import run_solve_jointed
from ..solving.position_solve import solve_positions
from ..solving.velocity_solve import solve_velocities
from .contact_generation import find_pair_contacts, join_runs
from .stages import (
    run_apply_forces,
    run_broad_phase,
    run_build_rows,
    run_fallback_sweeps,
    run_find_islands,
    run_help,
    run_integrate,
    run_match_contacts,
    run_small_steps,
)
from .step_data import KernelTables, StepMembers, island_problem, seen_by_stages


def empty_tables() -> KernelTables:
    """Tables of what a frame calls, of which nothing is there yet."""
    return KernelTables(empty_table(len(KERNEL_NAMES)), empty_table(PAIR_KERNELS))


def stages_to_compile(members: StepMembers, shape_kinds, method, worker_count: int) -> list[Compilation]:
    """What a frame calls by address; compiling it fills the tables of ``members.kernels``.

    Parameters
    ----------
    members : StepMembers
        Their types count.
    shape_kinds : int64 [any]
        Of the model that is to be stepped.
    method : Method
    worker_count : int
    """
    arrays, stages = StepArrays(seen_by_stages(members)), members.kernels.stages
    kernels = {
        **_first_stages(arrays, members),
        FIND_ISLANDS: (run_find_islands, types.none, (arrays,)),
        SOLVE_POSITIONS: (solve_positions, types.none, (arrays, 0)),
        SOLVE_VELOCITIES: (solve_velocities, types.none, (arrays, 0)),
        INTEGRATE: (run_integrate, types.none, (arrays,)),
        SOLVE_ISLAND: (method.island_kernel, SOLVER_OUTCOME, (StepArrays(island_problem(members)), 0)),
        FALLBACK_SWEEPS: (run_fallback_sweeps, SOLVER_OUTCOME, (arrays, 0, 0, 0)),
        SMALL_STEPS: (run_small_steps, SOLVER_OUTCOME, (arrays, 0)),
    }
    if _has_joints(members):
        kernels[CORRECT_JOINTS] = run_correct_joints, types.int64, (arrays, 0)
        kernels[MOVE_JOINT_ROWS] = run_move_joint_rows, types.none, (arrays, 0, 0)
        kernels[SOLVE_JOINTED] = run_solve_jointed, SOLVER_OUTCOME, (arrays, 0, 0, 0.0, 0.0)
        kernels[LEAVE_HELD_CONTACTS] = run_leave_held_contacts, types.none, (arrays, 0)
        kernels[END_JOINTS] = run_end_joints, types.int64, (arrays, 0)
    if members.waiting.waits.size > 0:
        kernels[ACTIVATE] = run_activate, types.int64, (arrays, 0)
    if members.impulses.substep.is_kept[0] == 1:
        kernels[KEEP_IMPULSES] = run_keep_impulses, types.none, (arrays, 0, 0)
    if worker_count > 1:
        kernels[JOIN_CONTACTS] = join_runs, types.none, (arrays, 0)
        kernels[HELP_WITH_DOMAINS] = run_help, types.none, (arrays, 0)
        kernels[RUN_WORKERS] = run_workers, types.none, (stages, 0, members.sharing.contexts)
    return detection_to_compile(members, shape_kinds) + _compilations(kernels, stages)


def detection_to_compile(members: StepMembers, shape_kinds) -> list[Compilation]:
    """What finds contacts; parameters as of ``stages_to_compile``."""
    arrays = StepArrays(seen_by_stages(members))
    kernels = {
        BROAD_PHASE: (run_broad_phase, types.int64, (arrays,)),
        NARROW_PHASE: (find_pair_contacts, types.none, (arrays, 0)),
    }
    workspace = members.collision.workspace
    pair_kernels = pair_kernels_to_compile(shape_kinds, workspace, members.kernels.pair_kernels)
    return (
        mesh_kernels_to_compile(shape_kinds, workspace) + pair_kernels + _compilations(kernels, members.kernels.stages)
    )


def first_stages_to_compile(members: StepMembers, shape_kinds) -> list[Compilation]:
    """What a substep calls up to its rows; parameters as of ``stages_to_compile``."""
    kernels = _first_stages(StepArrays(seen_by_stages(members)), members)
    return detection_to_compile(members, shape_kinds) + _compilations(kernels, members.kernels.stages)


def _first_stages(arrays, members) -> dict:
    kernels = {
        APPLY_FORCES: (run_apply_forces, types.none, (arrays,)),
        MATCH_CONTACTS: (run_match_contacts, types.none, (arrays,)),
        BUILD_ROWS: (run_build_rows, types.none, (arrays,)),
    }
    if members.fields.responds.size > 0:
        kernels[APPLY_FIELDS] = run_apply_fields, types.none, (arrays,)
    if members.guides.follow.size > 0:
        kernels[GUIDE_BODIES] = run_guide_bodies, types.none, (arrays,)
    if _has_joints(members):
        kernels[PREPARE_JOINTS] = run_prepare_joints, types.none, (arrays, 0)
        kernels[BUILD_JOINT_ROWS] = run_build_joint_rows, types.none, (arrays,)
        kernels[WAKE_JOINED] = run_wake_joined, types.int64, (arrays,)
    return kernels


def _has_joints(members) -> bool:
    """Whether the model has joints; without, nothing of theirs is compiled."""
    return len(members.model.joints.body_a) > 0


def _compilations(kernels, stages) -> list[Compilation]:
    """Of kernels by place: (kernel, what it returns, arguments)."""
    return [
        Compilation(KERNEL_NAMES[place], kernel, arguments, result, stages, place)
        for place, (kernel, result, arguments) in kernels.items()
    ]
