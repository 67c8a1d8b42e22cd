"""The rows of a substep and what solves them: memory that a simulation keeps."""

from typing import NamedTuple

import numpy as np

from .constraints.contact_rows import ContactRowArrays, allocate_contact_rows
from .constraints.displacing import PaceArrays, allocate_paces
from .island_parts import BodyGraph, allocate_body_graph
from .rows import (
    IslandArrays,
    RowArrays,
    SolverWorkspace,
    allocate_islands,
    allocate_rows,
    allocate_solver_workspace,
    sweeping_part,
    with_room_for_parts,
    with_sweeping_part,
)

ROWS_PER_CONTACT = 3


class ProblemArrays(NamedTuple):
    """The rows of a substep, sorted into islands; workspace.

    Attributes
    ----------
    rows : RowArrays
    contact_rows : ContactRowArrays
    paces : PaceArrays
    islands : IslandArrays
    parent, label : int64 [body_count]
        For ``find_islands``.
    graph : BodyGraph
        For ``divide_islands``.
    sweep : SolverWorkspace
        The one within ``solver``, or one beside it.
    solver : workspace of the method
    """

    rows: RowArrays
    contact_rows: ContactRowArrays
    paces: PaceArrays
    islands: IslandArrays
    parent: np.ndarray
    label: np.ndarray
    graph: BodyGraph
    sweep: SolverWorkspace
    solver: tuple


def allocate_problem(collision, body_count: int, method) -> ProblemArrays:
    """Rows, islands and the solver's memory, if there is one.

    Parameters
    ----------
    collision : CollisionArrays
        There are as many contacts as it has room for.
    body_count : int
    method : Method or None
    """
    contact_capacity = len(collision.contacts[0].shape_a)
    row_capacity = ROWS_PER_CONTACT * contact_capacity
    solver = method.allocate(row_capacity, body_count, 0) if method else ()
    sweep = sweeping_part(solver) or allocate_solver_workspace(row_capacity if method else 0, body_count)
    return ProblemArrays(
        rows=allocate_rows(contact_capacity, row_capacity, body_count),
        contact_rows=allocate_contact_rows(contact_capacity),
        paces=allocate_paces(contact_capacity, body_count),
        islands=allocate_islands(contact_capacity, body_count),
        parent=np.zeros(body_count, np.int64),
        label=np.zeros(body_count, np.int64),
        graph=allocate_body_graph(0, 0),
        sweep=sweep,
        solver=solver,
    )


def may_divide(problem: ProblemArrays) -> bool:
    """Whether there is room for the parts of large islands."""
    return len(problem.sweep.laid_order) > 0


def with_parts(problem: ProblemArrays) -> ProblemArrays:
    """The same arrays with room for the parts of large islands, which others do without."""
    contact_capacity, row_capacity = len(problem.rows.body_a), len(problem.rows.diagonal)
    sweep = with_room_for_parts(problem.sweep, contact_capacity, row_capacity)
    graph = allocate_body_graph(contact_capacity, len(problem.parent))
    return problem._replace(graph=graph, sweep=sweep, solver=with_sweeping_part(problem.solver, sweep))
