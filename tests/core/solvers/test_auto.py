"""``auto`` on contacts: which attempt of the cascade solves what, seen by the iterations that were counted."""

import numpy as np
import pytest
from contact_problems import dense_form, natural_map_reference, random_problem

from cairn.solver_core import scenes
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.problem import SolverOptions, Status
from cairn.solver_core.problem.rows import single_island
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solve import solve_contacts
from cairn.solver_core.solvers.registry import find_method, kernel_settings_of

TOLERANCE = 1e-6


def solve(problem, method, friction):
    return solve_contacts(problem, method, friction, options=SolverOptions(tolerance=TOLERANCE))


@pytest.mark.parametrize("friction", ["cone", "box"])
def test_sweeps_are_given_up_in_a_stack(friction):
    """From zero: two sweeps, whose gain forecasts that 30 would not do, then Newton's method from the same start."""
    problem = Simulation(scenes.stack(10).build_model(), SimulationOptions(method="nncg")).contact_problem()
    exact, auto = solve(problem, "alm_newton", friction), solve(problem, "auto", friction)
    assert auto.status.converged
    assert auto.iterations == exact.iterations + 2
    assert np.array_equal(auto.r, exact.r)


@pytest.mark.parametrize("friction", ["cone", "box"])
@pytest.mark.parametrize("seed", range(6))
def test_sweeps_that_gain_go_on(seed, friction):
    """One to four contacts: as many sweeps as ``nncg`` alone needs where eight of them do; solved in any case."""
    problem = random_problem(3, 1 + seed % 4, friction=0.4, seed=seed)
    swept, auto = solve(problem, "nncg", friction), solve(problem, "auto", friction)
    assert auto.status.converged
    scale = np.abs(dense_form(problem)[1]).max()
    assert natural_map_reference(problem, auto.r, friction) <= 2.0 * TOLERANCE * scale
    if swept.iterations <= 8:
        assert auto.iterations == swept.iterations


def test_the_exact_method_waits_after_a_failure_until_things_calm_down():
    """Not tried while the start is as bad as it was when it failed; tried at once from a start that is much better."""
    problem = Simulation(scenes.arch().build_model(), SimulationOptions(method="nncg")).contact_problem()
    solver = find_method("auto", "cone")
    bodies, row_count = len(problem.free_velocity), int(problem.rows.count[1])
    workspace = solver.allocate(len(problem.rows.impulse), bodies, 0)
    solution = solve(problem, "alm_newton", "cone").r

    def call(start, tolerance):
        rows = problem.rows._replace(impulse=np.zeros(len(problem.rows.impulse)))
        rows.impulse[:row_count] = start
        velocity = solve_contacts(problem, "nncg", "cone", start, SolverOptions(max_iterations=0)).velocity
        options = SolverOptions(tolerance=tolerance, absolute_tolerance=0.0, max_iterations=200)
        settings = kernel_settings_of(solver, options, "cone")
        island = single_island(problem.rows, bodies)
        status, iterations, _, _, _ = solver.solve_island(
            rows, island, 0, problem.free_velocity, velocity, workspace, settings
        )
        return Status(status), iterations

    status, _ = call(0.0 * solution, 1e-18)  # nothing gets there
    assert not status.converged
    status, iterations = call(0.0 * solution, TOLERANCE)
    assert iterations >= 60  # sweeps only, of which an arch takes more
    status, iterations = call((1.0 + 1e-3) * solution, TOLERANCE)
    assert status.converged
    assert iterations < 30
