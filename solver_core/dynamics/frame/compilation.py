"""What a frame calls, put into its table of kernels: compiled one by one, or loaded from the cache.

What there is to call, and with what, is told in ``schedule.stage_table``.
"""

from importlib import import_module

from ...collision.data.workspace import PAIR_KERNELS
from ...collision.pair_dispatch import mesh_kernels_to_compile, pair_kernels_to_compile
from ...compiled.function_tables import Compilation, empty_table
from ...compiled.views import StepArrays
from ..schedule.stage_table import (
    ARRAYS,
    CONTACTS,
    CONTEXTS,
    END,
    FIELDS,
    GUIDES,
    IMPULSES,
    JOINTS,
    KERNELS,
    METHOD,
    PULL,
    ROLLING_FRICTION,
    ROWS,
    SOLVER_INPUT,
    TABLE,
    WAITING,
    WORKERS,
)
from .step_data import KernelTables, StepMembers, island_problem, seen_by_stages


def empty_tables() -> KernelTables:
    """Tables of what a frame calls, of which nothing is there yet."""
    return KernelTables(empty_table(len(TABLE)), empty_table(PAIR_KERNELS))


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
    return _pairs_to_compile(members, shape_kinds) + _compilations(members, END, method, worker_count)


def detection_to_compile(members: StepMembers, shape_kinds) -> list[Compilation]:
    """What finds contacts; parameters as of ``stages_to_compile``."""
    return _pairs_to_compile(members, shape_kinds) + _compilations(members, CONTACTS)


def first_stages_to_compile(members: StepMembers, shape_kinds) -> list[Compilation]:
    """What a substep calls up to its rows; parameters as of ``stages_to_compile``."""
    return _pairs_to_compile(members, shape_kinds) + _compilations(members, ROWS)


def _pairs_to_compile(members, shape_kinds) -> list[Compilation]:
    """What makes the contacts of these kinds of shapes."""
    workspace = members.collision.workspace
    pair_kernels = pair_kernels_to_compile(shape_kinds, workspace, members.kernels.pair_kernels)
    return mesh_kernels_to_compile(shape_kinds, workspace) + pair_kernels


def what_it_has(members: StepMembers, worker_count: int = 1) -> dict[str | None, bool]:
    """Whether the simulation has what lines of the table need; tables of kernels depend on it."""
    return {
        None: True,
        JOINTS: len(members.model.joints.body_a) > 0,
        FIELDS: members.fields.responds.size > 0,
        GUIDES: members.guides.follow.size > 0,
        PULL: members.pull.body.size > 0,
        WAITING: members.waiting.waits.size > 0,
        IMPULSES: bool(members.impulses.substep.is_kept[0]),
        WORKERS: worker_count > 1,
        ROLLING_FRICTION: members.model.matter.rolling_friction.shape[0] > 0,
    }


def _compilations(members, until, method=None, worker_count=1) -> list[Compilation]:
    """The lines of the table up to CONTACTS, ROWS or END, of what the simulation has."""
    has = what_it_has(members, worker_count)
    kernels = members.kernels.stages
    given = {
        ARRAYS: StepArrays(seen_by_stages(members)),
        SOLVER_INPUT: method and StepArrays(island_problem(members)),
        KERNELS: kernels,
        CONTEXTS: members.sharing.contexts,
    }
    return [
        Compilation(
            stage.name,
            method.island_kernel if stage.entry == METHOD else _found(stage.entry),
            tuple(given.get(argument, argument) for argument in stage.arguments),
            stage.result,
            kernels,
            place,
        )
        for place, stage in enumerate(TABLE)
        if stage.entry and stage.until <= until and has[stage.needs]
    ]


def _found(entry):
    """An entry, where it is told by its file and name below ``dynamics``."""
    if not isinstance(entry, str):
        return entry
    file, _, name = entry.rpartition(".")
    return getattr(import_module(f"..{file}", __package__), name)
