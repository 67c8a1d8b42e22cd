"""What joints bring: redundant and contradicting rows, mass ratios of a million, motors, limits, with contacts."""

import numpy as np
import pytest
from contact_problems import natural_map_reference

from benchmarks.problems import jointed
from cairn.solver_core.problem.problem import SolverOptions, Status
from cairn.solver_core.solve import solve_contacts

TOLERANCE = 1e-9
CONFLICTS = {
    "door": lambda: jointed.door(1e-4),
    "plank": lambda: jointed.plank(1e-3),
    "ring": lambda: jointed.ring(conflict=1e-4),
}
# Ragdolls in the middle of a hit are beyond a few steps, as heaps are.
SOLVED = [name for name in jointed.PROBLEMS if " off" not in name and "ragdoll" not in name]
SMALL = [name for name in SOLVED if not any(word in name for word in ("chain", "cantilever", "bridge"))]


def solve(problem, method, friction="cone", r0=None, **options):
    return solve_contacts(problem, method, friction, r0, SolverOptions(**({"tolerance": TOLERANCE} | options)))


def least_squares(problem):
    """Velocities that miss bilateral rows by the least sum of u_i^2 / W_ii, and otherwise change the least energy."""
    rows, count, width = problem.rows, int(problem.rows.count[1]), problem.free_velocity.size
    jacobian = np.zeros((count, width))
    for block in range(int(rows.count[0])):
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            for body, columns in ((rows.body_a[block], slice(0, 6)), (rows.body_b[block], slice(6, 12))):
                jacobian[row, 6 * body : 6 * body + 6] += rows.jacobian[row, columns]
    root = np.zeros((width, width))
    for body, mass in enumerate(rows.body_mass):
        if mass[0, 0] > 0.0:
            here = slice(6 * body, 6 * body + 6)
            root[here, here] = np.linalg.inv(np.linalg.cholesky(mass)).T
    scale = 1.0 / np.sqrt(rows.diagonal[:count])
    b = jacobian @ problem.free_velocity.ravel() + rows.bias[:count]
    change, *_ = np.linalg.lstsq(scale[:, None] * jacobian @ root, -scale * b, rcond=1e-11)
    return problem.free_velocity + (root @ change).reshape(-1, 6)


@pytest.mark.parametrize("friction", ["cone", "box"])
@pytest.mark.parametrize("name", SOLVED)
def test_newton_solves_joints_in_few_steps(name, friction):
    """Also where a load is a million times as heavy as the links that hold it."""
    problem = jointed.PROBLEMS[name]()
    result = solve(problem, "alm_newton", friction)
    assert result.status.converged
    assert result.iterations <= 20
    scale = natural_map_reference(problem, np.zeros(len(result.r)), friction)
    assert natural_map_reference(problem, result.r, friction) <= 1e-8 * max(scale, 1.0)
    warm = solve(problem, "alm_newton", friction, result.r, tolerance=1.01 * TOLERANCE)
    assert warm.status.converged
    assert warm.iterations <= 1


@pytest.mark.parametrize("method", ["alm_newton", "auto"])
@pytest.mark.parametrize("name", CONFLICTS)
def test_contradicting_rows_are_missed_by_least_squares(name, method):
    """Few steps, impulses as they are without the contradiction, no bias changed to the bit."""
    problem = CONFLICTS[name]()
    bias = problem.rows.bias.copy()
    result = solve(problem, method)
    assert result.status == Status.CONFLICTING
    assert result.iterations <= 20
    assert result.velocity == pytest.approx(least_squares(problem), abs=1e-8)
    assert np.abs(result.r).max() < 10.0
    assert np.array_equal(problem.rows.bias, bias)
    assert result.residual > 1e-3
    warm = solve(problem, method, r0=result.r)
    assert warm.velocity == pytest.approx(result.velocity, abs=1e-8)


def test_contradictions_under_contacts():
    """A bridge whose seams do not fit, with a box on it: what is left is the bridge's own contradiction."""
    result = solve(jointed.bridge(conflict=1e-4), "alm_newton")
    assert result.status == Status.CONFLICTING
    assert result.iterations <= 20
    without = solve(jointed.bridge(conflict=1e-4, load=1e-3), "alm_newton")
    scales = [solve(jointed.bridge(conflict=1e-4, load=load), "alm_newton", max_iterations=0) for load in (100.0, 1e-3)]
    assert result.residual / scales[0].residual == pytest.approx(without.residual / scales[1].residual, rel=0.5)


@pytest.mark.parametrize("name", SMALL)
def test_methods_agree_on_joints(name):
    """Velocities agree to 1e-5 among the methods that know a model of friction."""
    problem = jointed.PROBLEMS[name]()
    for friction, exact, others in (
        ("polyhedral", "lemke", ("lemke_structural", "lemke_reduced", "fischer_newton", "auto", "nncg", "pgs")),
        ("cone", "alm_newton", ("auto", "nncg", "pgs")),
    ):
        expected = solve(problem, exact, friction).velocity
        for method in others:
            more = {"max_iterations": 50_000} if method in ("nncg", "pgs") else {}
            found = solve(problem, method, friction, **more)
            assert found.status.converged
            assert found.velocity == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    "name", ["chain of 50, 1e6 at the end", "chain of 50 hinges, 1e3 at the end", "cantilever of 40"]
)
def test_direct_methods_agree_on_long_chains(name):
    """Where sweeps would take millions."""
    problem = jointed.PROBLEMS[name]()
    expected = least_squares(problem)
    for method, friction in (
        ("alm_newton", "cone"),
        ("auto", "cone"),
        ("fischer_newton", "polyhedral"),
        ("lemke_reduced", "polyhedral"),
    ):
        found = solve(problem, method, friction)
        assert found.status.converged
        assert found.velocity == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    "method",
    ["alm_newton", "auto", "pgs", "nncg", "fischer_newton", "lemke", "lemke_structural", "lemke_reduced", "staggered"],
)
@pytest.mark.parametrize(
    "name", ["door, 1e-4 m off", "plank, 1e-4 m off", "bridge, seams 1e-4 m off", "ragdoll on stairs"]
)
def test_hard_problems_end_with_numbers(name, method):
    """Whatever a method reaches, it is finite and no worse than nothing."""
    problem = jointed.PROBLEMS[name]()
    friction = (
        "polyhedral"
        if method in ("fischer_newton", "lemke", "lemke_structural", "lemke_reduced", "staggered")
        else "box"
    )
    result = solve(problem, method, friction)
    assert np.all(np.isfinite(result.r))
    assert np.all(np.isfinite(result.velocity))
    assert result.residual <= 1.0
