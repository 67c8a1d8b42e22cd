"""The one way to call a solver on rows from Python."""

import numpy as np

from .problem import (
    ContactProblem,
    RowArrays,
    SolverOptions,
    SolverResult,
    SolverSettings,
    Status,
    allocate_solver_workspace,
    single_island,
)
from .solvers.registry import find_method


def solve_contacts(
    problem: ContactProblem, method: str = "nncg", friction: str = "box", r0=None, options: SolverOptions | None = None
) -> SolverResult:
    """Solve a contact problem as one island.

    Parameters
    ----------
    problem : ContactProblem
    method : str
        A name in ``solvers.registry.METHODS``.
    friction : {"box"}
        Model of friction; the method must know it.
    r0 : float64 [row_count], optional
        Impulses to start from; zero without.
    options : SolverOptions, optional

    Returns
    -------
    SolverResult

    Raises
    ------
    ValueError
        The method is unknown or does not know this model of friction; an array has the wrong shape.
    """
    options = options or SolverOptions()
    solver = find_method(method, friction)
    limit = solver.max_iterations if options.max_iterations is None else int(options.max_iterations)
    block_count, row_count = (int(number) for number in problem.rows.count)
    velocity = np.array(problem.free_velocity, float, order="C")
    rows = RowArrays(*problem.rows[:-1], impulse=np.zeros(len(problem.rows.impulse)))
    if r0 is not None:
        start = np.asarray(r0, float)
        if start.shape != (row_count,):
            raise ValueError(f"r0 has the shape {start.shape}; it must be ({row_count},)")
        rows.impulse[:row_count] = start
        for block in range(block_count):
            span = slice(rows.block_row[block], rows.block_row[block + 1])
            push = rows.impulse[span] @ rows.response[span]
            velocity[rows.body_a[block]] += push[:6]
            velocity[rows.body_b[block]] += push[6:]
    workspace = allocate_solver_workspace(len(rows.impulse), len(velocity), limit)
    status, iterations, residual, scale, worst_block = solver.kernel(
        rows,
        single_island(rows, len(velocity)),
        0,
        np.ascontiguousarray(problem.free_velocity, float),
        velocity,
        workspace,
        SolverSettings(float(options.tolerance), float(options.absolute_tolerance), limit),
    )
    unit = scale if scale > 0.0 else 1.0
    return SolverResult(
        r=rows.impulse[:row_count].copy(),
        velocity=velocity,
        status=Status(status),
        iterations=iterations,
        residual=residual / unit,
        worst_block=worst_block,
        history=workspace.history[:iterations] / unit,
    )
