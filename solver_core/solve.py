"""The two ways to call a solver from Python: ``solve_lcp`` and ``solve_contacts``."""

from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from .problem.problem import (
    LCP,
    ContactProblem,
    ContactResult,
    LcpResult,
    ProblemError,
    SolverOptions,
    Status,
)
from .problem.residuals import measure_lcp
from .problem.rows import objection_to_compliances, single_island
from .solvers.registry import find_lcp_method, find_method, kernel_settings_of, resolve_options


def solve_lcp(
    lcp: LCP, method: str = "auto", x0: ArrayLike | None = None, options: SolverOptions | None = None
) -> LcpResult:
    """Solve w = A x + b, x >= 0, w >= 0, x' w = 0.

    Parameters
    ----------
    lcp : LCP
    method : str
        A name in ``solvers.registry.LCP_METHODS``.
    x0 : float64 [n], optional
        Where to start; zero without. Pivoting methods do not need one.
    options : SolverOptions, optional

    Returns
    -------
    LcpResult
        Also where nothing was found: then the best iterate, and a status that says so.

    Raises
    ------
    ValueError
        The method is unknown, cannot solve a problem of this kind, or does not have an option that is set; x0 has the
        wrong shape or holds NaN.
    """
    solver = find_lcp_method(method)
    options = resolve_options(solver, options or SolverOptions(tolerance=solver.tolerance), solver.limit(lcp))
    if lcp.form not in solver.forms:
        raise ProblemError(f"solver {method!r} needs the entries of A, which is a LinearOperator")
    objection = solver.requires(lcp)
    if objection:
        raise ProblemError(f"solver {method!r} cannot solve this: {objection}")
    _check_vectors(options, lcp.size)
    start = np.zeros(lcp.size) if x0 is None else np.array(x0, float)
    if start.shape != (lcp.size,):
        raise ProblemError(f"x0 has the shape {start.shape}; it must be ({lcp.size},)")
    if not np.all(np.isfinite(start)):
        raise ProblemError("x0 holds NaN or infinity")
    started = perf_counter()
    if lcp.size == 0:
        outcome = start, Status.CONVERGED_ABSOLUTE, 0, np.zeros(0), np.zeros(0)
    else:
        outcome = solver.function(lcp, start, options)
    finder: list[str]
    x, status, iterations, history, merits, *finder = outcome
    seconds = perf_counter() - started
    measures = measure_lcp(lcp, x)
    return LcpResult(
        x=x,
        status=Status(status),
        iterations=int(iterations),
        residual=measures.relative_residual,
        history=np.asarray(history) / measures.scale,
        seconds=seconds,
        measures=measures,
        merit_history=np.asarray(merits),
        method=finder[0] if finder else method,
    )


def _check_vectors(options, size) -> None:
    for name in ("omega", "covering_vector"):
        value = getattr(options, name)
        if value is None:
            continue
        vector = np.asarray(value, float)
        if vector.shape != (size,):
            raise ProblemError(f"{name} has the shape {vector.shape}; it must be ({size},)")
        if not np.all(np.isfinite(vector) & (vector > 0.0)):
            raise ProblemError(f"{name} must be positive and finite in every entry")


def solve_contacts(
    problem: ContactProblem,
    method: str = "auto",
    friction: str = "cone",
    r0: ArrayLike | None = None,
    options: SolverOptions | None = None,
) -> ContactResult:
    """Solve a contact problem as one island.

    Parameters
    ----------
    problem : ContactProblem
    method : str
        A name in ``solvers.registry.METHODS``; the default is that of ``SimulationOptions``, and of a bake.
    friction : {"box", "cone", "polyhedral"}
        Model of friction; the method must know it. The default likewise.
    r0 : float64 [row_count], optional
        Impulses to start from; zero without.
    options : SolverOptions, optional

    Returns
    -------
    ContactResult

    Raises
    ------
    ValueError
        The method is unknown, does not know this model of friction or does not have an option that is set; an array
        has the wrong shape; a compliance is negative, not part of ``diagonal``, or of a contact.
    """
    solver = find_method(method, friction)
    options = options or SolverOptions()
    settings = kernel_settings_of(solver, options, friction)
    started = perf_counter()
    if problem.rows is None:
        options = resolve_options(solver, options, solver.max_iterations)
        return _solve_explicit(problem.delassus, solver, friction, r0, options, started)
    objection = objection_to_compliances(problem.rows)
    if objection:
        raise ProblemError(objection)
    row_count = int(problem.rows.count[1])
    velocity = np.array(problem.free_velocity, float, order="C")
    rows = problem.rows._replace(impulse=np.zeros(len(problem.rows.impulse)))
    if r0 is not None:
        rows.impulse[:row_count] = _checked_start(r0, row_count)
        _apply_start(rows, velocity)
    workspace = solver.allocate(len(rows.impulse), len(velocity), settings.max_iterations)
    status, iterations, residual, scale, worst_block = solver.solve_island(
        rows,
        single_island(rows, len(velocity)),
        0,
        problem.free_velocity,
        velocity,
        workspace,
        settings,
    )
    unit = scale if scale > 0.0 else 1.0
    return ContactResult(
        r=rows.impulse[:row_count].copy(),
        velocity=velocity,
        status=Status(status),
        iterations=iterations,
        residual=residual / unit,
        worst_block=worst_block,
        history=workspace.history[:iterations] / unit,
        merit_history=getattr(workspace, "merit_history", np.zeros(0))[:iterations],
        seconds=perf_counter() - started,
    )


def _solve_explicit(delassus, solver, friction, r0, options, started) -> ContactResult:
    if solver.explicit is None:
        raise ProblemError(f"solver {solver.name!r} needs rows; it does not take an explicit W")
    start = np.zeros(len(delassus.b)) if r0 is None else _checked_start(r0, len(delassus.b))
    r, status, iterations, residual, scale, worst_block, history = solver.explicit(delassus, start, friction, options)
    unit = scale if scale > 0.0 else 1.0
    return ContactResult(
        r=r,
        velocity=None,
        status=Status(status),
        iterations=int(iterations),
        residual=residual / unit,
        worst_block=int(worst_block),
        history=np.asarray(history) / unit,
        seconds=perf_counter() - started,
    )


def _checked_start(r0, row_count) -> np.ndarray:
    start = np.array(r0, float)
    if start.shape != (row_count,):
        raise ProblemError(f"r0 has the shape {start.shape}; it must be ({row_count},)")
    return start


def _apply_start(rows, velocity) -> None:
    """v += M^-1 J' r."""
    block_count, row_count = (int(number) for number in rows.count)
    block = np.repeat(np.arange(block_count), np.diff(rows.block_row[: block_count + 1]))
    push = rows.impulse[:row_count, None] * rows.response[:row_count]
    np.add.at(velocity, rows.body_a[block], push[:, :6])
    np.add.at(velocity, rows.body_b[block], push[:, 6:])
