"""The scenes of Silcowitz-Hansen et al. 2010 come near to their table 1, and stand."""

import numpy as np
import pytest
from contact_problems import dense_form

from benchmarks.problems.silcowitz import FIGURE_4, SNAKES
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.problem import SolverOptions
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solve import solve_contacts


def simulation_of(figure):
    return Simulation((FIGURE_4 | SNAKES)[figure][0]().build_model(), SimulationOptions(frame_rate=60.0, substeps=1))


@pytest.mark.parametrize("figure", FIGURE_4)
def test_counts_come_near_to_the_table(figure):
    """The rank of W within two of the paper's, which is six times the bodies that move; rows within a third."""
    _, _, rows, rank = FIGURE_4[figure]
    problem = simulation_of(figure).contact_problem()
    eigenvalues = np.linalg.eigvalsh(dense_form(problem)[0])
    assert abs(np.sum(eigenvalues > 1e-9 * eigenvalues[-1]) - rank) <= 2
    assert 0.75 * rows <= problem.rows.count[1] <= 1.34 * rows


@pytest.mark.parametrize("figure", SNAKES)
def test_counts_of_the_snakes_are_those_of_the_table(figure):
    """Five rows a hinge and three a contact. All axes of our arch meet in its centre, so its rank is four less."""
    _, bodies, rows, rank = SNAKES[figure]
    simulation = simulation_of(figure)
    problem = simulation.contact_problem()
    eigenvalues = np.linalg.eigvalsh(dense_form(problem)[0])
    assert np.sum(eigenvalues > 1e-9 * eigenvalues[-1]) == rank - (4 if figure == "g" else 0)
    assert problem.rows.count[1] == rows
    assert simulation.model.body_count == bodies


@pytest.mark.parametrize("figure", [*FIGURE_4, "g"])
def test_it_stands(figure):
    """Nothing moves by more than 0.1 mm in a second."""
    simulation = simulation_of(figure)
    start = simulation.poses()[0]
    for _ in range(60):
        simulation.advance_frame()
    assert np.abs(simulation.poses()[0] - start).max() < 1e-4


@pytest.mark.parametrize("figure", FIGURE_4 | SNAKES)
def test_conjugate_directions_end_lower_than_gauss_seidel(figure):
    """After 150 sweeps from zero the calmest sweep of nncg has at most a tenth of the merit of that of pgs."""
    problem = simulation_of(figure).contact_problem()
    options = SolverOptions(tolerance=0.0, max_iterations=150)
    merit = {m: solve_contacts(problem, m, options=options).merit_history.min() for m in ("pgs", "nncg")}
    assert merit["nncg"] <= 0.1 * merit["pgs"]
