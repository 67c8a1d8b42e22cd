"""Steps of ready-made scenes, taken out and solved again and again: the same problem for every method."""

from dataclasses import dataclass
from statistics import median

import numpy as np

from cairn.solver_core.compiled.clock import now
from cairn.solver_core.compiled.function_tables import caller, empty_table, enter
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.dynamics.schedule.stage_table import SOLVER_OUTCOME
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.problem import ContactProblem, SolverOptions, Status
from cairn.solver_core.problem.rows import RowArrays, single_island
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solve import solve_contacts
from cairn.solver_core.solvers.registry import find_method, kernel_settings_of

_call_solver = caller(SOLVER_OUTCOME)


@dataclass(frozen=True)
class FrozenStep:
    """One contact problem and where a solver starts.

    Attributes
    ----------
    name : str
    problem : ContactProblem
    start : float64 [row_count] or None
        Impulses; None is a cold start.
    """

    name: str
    problem: ContactProblem
    start: np.ndarray | None


@dataclass(frozen=True)
class Timing:
    """How one method did on one step.

    Attributes
    ----------
    status : Status
    iterations : int
    residual : float
        Relative.
    seconds : float
        Median of the repetitions, of the kernel alone.
    """

    status: Status
    iterations: int
    residual: float
    seconds: float


def freeze(name: str, scene, frames: int, warm: bool, options: SimulationOptions | None = None) -> FrozenStep:
    """The step that follows ``frames`` frames of a scene.

    Parameters
    ----------
    name : str
    scene : Scene
    frames : int
    warm : bool
        Start from the impulses of the step before.
    options : SimulationOptions, optional
        With which the scene comes there.
    """
    simulation = Simulation(scene.build_model(), options)
    for _ in range(frames):
        simulation.advance_frame()
    problem = simulation.contact_problem()
    start = problem.rows.impulse[: problem.rows.count[1]].copy() if warm else None
    return FrozenStep(name, problem, start)


@kernel
def _time_solves(entries, rows, islands, free_velocity, velocity, workspace, settings, start, nanoseconds):
    """Solve from the same start as often as ``nanoseconds`` has entries; ``start``: impulses and velocities."""
    for repetition in range(nanoseconds.size):
        for row in range(rows.impulse.size):
            rows.impulse[row] = start[0][row]
        for body in range(velocity.shape[0]):
            for column in range(6):
                velocity[body, column] = start[1][body, column]
        begun = now()
        _call_solver(entries, 0, rows, islands, 0, free_velocity, velocity, workspace, settings)
        nanoseconds[repetition] = now() - begun


def time_kernel(step: FrozenStep, method: str, friction: str, options: SolverOptions, repetitions: int) -> Timing:
    """Solve a frozen step several times, after one solve that compiles.

    The solver is called as a frame calls it, from a kernel: a call from Python would add 10 to 20 microseconds for the
    arrays of its workspace, as much as a small solve.

    Parameters
    ----------
    step : FrozenStep
    method, friction : str
    options : SolverOptions
    repetitions : int
    """
    first = solve_contacts(step.problem, method, friction, step.start, options)
    solver = find_method(method, friction)
    settings = kernel_settings_of(solver, options, friction)
    rows = RowArrays(*step.problem.rows[:-1], impulse=np.zeros_like(step.problem.rows.impulse))
    free_velocity = np.ascontiguousarray(step.problem.free_velocity)
    islands = single_island(rows, len(free_velocity))
    impulse = np.zeros_like(rows.impulse)
    if step.start is not None:
        impulse[: len(step.start)] = step.start
    nothing = SolverOptions(max_iterations=0)
    start = impulse, solve_contacts(step.problem, "pgs", "box", step.start, nothing).velocity
    workspace = solver.allocate(len(rows.impulse), len(free_velocity), 0)
    velocity = np.zeros_like(free_velocity)
    arguments = rows, islands, 0, free_velocity, velocity, workspace, settings
    entries = empty_table(1)
    enter(entries, 0, solver.kernel, SOLVER_OUTCOME, *arguments)
    nanoseconds = np.zeros(repetitions, np.int64)
    _time_solves(entries, *arguments[:2], *arguments[3:], start, nanoseconds)
    return Timing(first.status, first.iterations, first.residual, 1e-9 * float(median(nanoseconds)))
