"""alm_newton on steps of the scenes that are to stand still: factorisations, residual, what a step costs and where.

Each scene is taken at its first step, which starts from zero, and at the first substep of some later frames, which
starts from the last impulses of a run with the same tolerance. Factorisations are counted by the solver; times are
those of kernels that repeat one stage on a warm step.
"""

from statistics import median

import numpy as np

from cairn.solver_core import scenes
from cairn.solver_core.compiled.clock import now
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.problem import SolverOptions
from cairn.solver_core.problem.rows import CONE_FRICTION, RowArrays, single_island
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solve import solve_contacts
from cairn.solver_core.solvers.linear_algebra.block_cholesky import factorize
from cairn.solver_core.solvers.newton.alm_hessian import assemble
from cairn.solver_core.solvers.newton.alm_linear import solve_with_factor
from cairn.solver_core.solvers.newton.alm_newton import solve_alm_newton
from cairn.solver_core.solvers.newton.alm_workspace import allocate_alm_workspace
from cairn.solver_core.solvers.registry import find_method, kernel_settings_of

from .report import Claim, Report

TOLERANCE = 1e-8
_FRAMES_BEFORE_WARM = 4
_WARM_STEPS = 6
_REPETITIONS = 15
# The last two Newton steps of a cold start bring the residual down by this factor at least.
_GAIN = 1e4

# name, scene, factorisations allowed cold, those of the prototype cold, its us a factorisation
SCENES = (
    ("stack of 10", lambda: scenes.stack(10), 40, 14, 2),
    ("stack of 30", lambda: scenes.stack(30), 40, None, 5),
    ("stack of 10, top x 100", scenes.heavy_stack, 40, 15, 2),
    ("stack of 10, top x 1000", lambda: scenes.heavy_stack(1000.0), 40, 23, 2),
    ("arch of 25", scenes.arch, 40, 18, 5),
    ("arch of 101", lambda: scenes.arch(101), 100, 83, 17),
    ("cards, 3 storeys", scenes.card_house, 100, 122, 7),
    ("pyramid of 120", scenes.pyramid, 40, 11, 151),
    ("wall of 174", scenes.standing_wall, 40, None, 661),
)
QUICK = (0, 2, 4, 6)


@kernel
def time_parts(rows, islands, workspace, nanoseconds):
    """Assemble, factorise and solve as often as ``nanoseconds`` [n, 3] has rows."""
    graph, elimination, factor = workspace.graph, workspace.elimination, workspace.factor
    for repetition in range(nanoseconds.shape[0]):
        begun = now()
        assemble(
            rows,
            islands,
            0,
            workspace.group,
            graph,
            elimination,
            factor,
            True,
            workspace.stiffness,
            workspace.factored,
        )
        assembled = now()
        factorize(graph.count[0], elimination.column_start, elimination.row, factor)
        factorised = now()
        solve_with_factor(graph.body[: graph.count[0]], workspace)
        nanoseconds[repetition, 0] = assembled - begun
        nanoseconds[repetition, 1] = factorised - assembled
        nanoseconds[repetition, 2] = now() - factorised


@kernel
def time_steps(rows, islands, free_velocity, start, start_velocity, velocity, workspace, settings, nanoseconds):
    """Solve from the same start as often as ``nanoseconds`` has entries."""
    for repetition in range(nanoseconds.size):
        for row in range(rows.impulse.size):
            rows.impulse[row] = start[row]
        for body in range(velocity.shape[0]):
            for column in range(6):
                velocity[body, column] = start_velocity[body, column]
        begun = now()
        solve_alm_newton(rows, islands, 0, free_velocity, velocity, workspace, settings)
        nanoseconds[repetition] = now() - begun


class Step:
    """One contact problem and its start."""

    def __init__(self, problem, warm):
        self.rows = RowArrays(*(array.copy() for array in problem.rows))
        self.free_velocity = np.ascontiguousarray(problem.free_velocity)
        self.islands = single_island(self.rows, len(self.free_velocity))
        self.start = self.rows.impulse.copy() if warm else np.zeros_like(self.rows.impulse)
        count, nothing = int(self.rows.count[1]), SolverOptions(max_iterations=0)
        self.start_velocity = solve_contacts(problem, "pgs", "cone", self.start[:count], nothing).velocity

    def solve(self, repetitions=1, **options):
        """Solve it; returns (outcome, workspace, seconds a solve)."""
        method = find_method("alm_newton", "cone")
        settings = kernel_settings_of(method, SolverOptions(**options), "cone")
        assert settings.friction == CONE_FRICTION
        workspace = allocate_alm_workspace(len(self.start), len(self.free_velocity), 100)
        self.rows.impulse[:] = self.start
        velocity = self.start_velocity.copy()
        arguments = (self.rows, self.islands, 0, self.free_velocity, velocity, workspace, settings)
        outcome = solve_alm_newton(*arguments)
        nanoseconds = np.zeros(repetitions, np.int64)
        time_steps(
            self.rows,
            self.islands,
            self.free_velocity,
            self.start,
            self.start_velocity,
            velocity,
            workspace,
            settings,
            nanoseconds,
        )
        return outcome, workspace, 1e-9 * median(nanoseconds)


def run(quick, plots) -> Report:
    """Solve and time every scene; ``quick`` takes four small ones."""
    rows = [_measure(*SCENES[index]) for index in (QUICK if quick else range(len(SCENES)))]
    return Report(
        name="alm_newton",
        rows=rows,
        claims=list(_claims(rows)),
        notes=[
            f"Cone friction, residual relative to {TOLERANCE:g}. Cold: the first step, from zero. Warm: the most of "
            f"{_WARM_STEPS} steps, each the first of a frame, after {_FRAMES_BEFORE_WARM} frames.",
            "A whole warm step: one Newton step from the warm start: residuals, assembly, factorisation, solve.",
        ],
    )


def _measure(name, make, allowed, prototype, prototype_us):
    simulation = Simulation(
        make().build_model(), SimulationOptions(method="alm_newton", friction="cone", tolerance=TOLERANCE)
    )
    cold = Step(simulation.contact_problem(), warm=False)
    outcome, workspace, seconds = cold.solve(tolerance=TOLERANCE)
    history = workspace.history[: outcome[1]]
    for _ in range(_FRAMES_BEFORE_WARM):
        simulation.advance_frame()
    warm_factorisations, warm_residual = 0, 0.0
    for _ in range(_WARM_STEPS):
        warm = Step(simulation.contact_problem(), warm=True)
        warm_outcome, warm_workspace, _ = warm.solve(tolerance=TOLERANCE)
        warm_factorisations = max(warm_factorisations, int(warm_workspace.progress.factorisations[0]))
        warm_residual = max(warm_residual, warm_outcome[2] / warm_outcome[3])
        simulation.advance_frame()
    _, last, whole = warm.solve(_REPETITIONS, tolerance=0.0, max_iterations=1)
    parts = np.zeros((_REPETITIONS, 3), np.int64)
    time_parts(warm.rows, warm.islands, last, parts)
    assembly, factorisation, solve = 1e-3 * np.median(parts, axis=0)
    return {
        "scene": name,
        "contacts": int(cold.rows.count[0]),
        "blocks of L": int(last.elimination.column_start[last.graph.count[0]]),
        "cold steps": int(outcome[1]),
        "factorisations": int(workspace.progress.factorisations[0]),
        "allowed": allowed,
        "prototype": prototype,
        "residual": outcome[2] / outcome[3],
        "gain of 2 steps": history[-3] / history[-1],
        "cold ms": 1e3 * seconds,
        "warm factorisations": warm_factorisations,
        "warm residual": warm_residual,
        "us assembly": assembly,
        "us factorisation": factorisation,
        "prototype us": prototype_us,
        "us solve": solve,
        "us whole step": 1e6 * whole,
    }


def _claims(rows):
    worst = max(rows, key=lambda row: max(row["residual"], row["warm residual"]))
    yield Claim(
        "cone residual, cold and warm",
        f"{TOLERANCE:g} on all {len(rows)}",
        f"{max(worst['residual'], worst['warm residual']):.1e} at worst ({worst['scene']})",
        max(worst["residual"], worst["warm residual"]) <= TOLERANCE,
    )
    for row in rows:
        yield Claim(
            f"{row['scene']}: factorisations, cold",
            f"at most {row['allowed']}",
            row["factorisations"],
            row["factorisations"] <= row["allowed"],
        )
    most = max(rows, key=lambda row: row["warm factorisations"])
    yield Claim(
        "factorisations a step, warm",
        "at most 2",
        f"{most['warm factorisations']} at most ({most['scene']})",
        most["warm factorisations"] <= 2,
    )
    least = min(rows, key=lambda row: row["gain of 2 steps"])
    yield Claim(
        "gain of the last two Newton steps",
        f"{_GAIN:g} or more",
        f"{least['gain of 2 steps']:.1e} at least ({least['scene']})",
        least["gain of 2 steps"] >= _GAIN,
    )
    for row in rows:
        if row["scene"] == "stack of 10":
            yield Claim(
                "stack of 10: a whole warm step",
                "25 us",
                row["us whole step"],
                row["us whole step"] <= 25.0,
                timed=True,
            )
        elif row["scene"] in ("pyramid of 120", "wall of 174"):
            for what, reference in (("ours", "us factorisation"), ("the prototype's", "prototype us")):
                ratio = row["us whole step"] / row[reference]
                yield Claim(
                    f"{row['scene']}: a whole warm step over a factorisation, {what}",
                    "at most 3",
                    ratio,
                    ratio <= 3.0,
                    timed=True,
                )
