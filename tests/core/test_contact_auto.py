"""``auto`` on contacts: which turn solves what, told by the iterations that were counted."""

import numpy as np
import pytest
from contact_problems import dense_form, natural_map_reference, random_problem

from cairn.solver_core import scenes
from cairn.solver_core.problem import SolverOptions
from cairn.solver_core.simulation import Simulation, SimulationOptions
from cairn.solver_core.solve import solve_contacts

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
