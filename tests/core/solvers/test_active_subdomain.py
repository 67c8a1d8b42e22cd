"""Active subdomains of large islands: the problem of their rows, and what ``auto`` makes of them."""

import numpy as np
import pytest
from contact_problems import dense_form, natural_map_reference, random_problem

from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.problem import ContactProblem, SolverOptions, Status
from cairn.solver_core.problem.residuals import block_errors, natural_map, problem_scale
from cairn.solver_core.problem.rows import single_island
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solve import solve_contacts
from cairn.solver_core.solvers.active_subdomain import allocate_subdomain, cut_subdomain, put_back
from cairn.solver_core.solvers.policy import RATIO_SETTLED
from cairn.solver_core.solvers.registry import find_method, kernel_settings_of

pytestmark = pytest.mark.one_python

TOLERANCE = 1e-6


def settings_of(friction, tolerance=TOLERANCE):
    solver = find_method("auto", friction)
    return kernel_settings_of(solver, SolverOptions(tolerance=tolerance), friction)


def started(problem, r):
    """Rows and velocities at the impulses ``r``."""
    rows = problem.rows._replace(impulse=np.zeros(len(problem.rows.impulse)))
    rows.impulse[: len(r)] = r
    return rows, velocities(problem, r)


def velocities(problem, r):
    """v_free + M^-1 J' r."""
    return solve_contacts(problem, "nncg", "cone", r, SolverOptions(max_iterations=0)).velocity


def random_start(seed):
    """A random problem of 300 bodies and impulses of which a third are zero."""
    problem = random_problem(300, 700, seed=seed)
    rng = np.random.default_rng(seed)
    r = rng.normal(size=2100) * np.repeat(rng.random(700) > 0.3, 3)
    return problem, r, rng


def around(problem, r, seeds, rings):
    """Blocks among the bodies of some blocks and those that push on them, ring by ring; the plain way."""
    a, b = problem.rows.body_a, problem.rows.body_b
    pushes = np.any(r.reshape(-1, 3) != 0.0, axis=1)
    bodies = {body for block in seeds for body in (a[block], b[block])} - {0}
    for _ in range(rings):
        near = [block for block in np.flatnonzero(pushes) if a[block] in bodies or b[block] in bodies]
        bodies |= {body for block in near for body in (a[block], b[block])} - {0}
    inside = bodies | {0}
    return [block for block in range(len(pushes)) if a[block] in inside and b[block] in inside]


@pytest.mark.parametrize("rings", [0, 1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_a_subdomain_is_the_problem_of_its_rows(seed, rings):
    """Its W is that of its rows, and its b what the impulses of all others leave."""
    problem, r, rng = random_start(seed)
    rows, velocity = started(problem, r)
    subdomain, error = allocate_subdomain(2100, 300), rng.random(700)
    above = np.sort(error)[-4]
    assert cut_subdomain(rows, single_island(rows, 300), 0, velocity, error, above, rings, subdomain)
    count = subdomain.rows.count[0]
    blocks = subdomain.block[:count]
    assert list(blocks) == around(problem, r, np.flatnonzero(error > above), rings)
    assert 3 <= count < 700
    own = (3 * blocks[:, None] + np.arange(3)).ravel()
    matrix, b = dense_form(problem)
    cut = ContactProblem(_in_use(subdomain.rows), subdomain.free_velocity)
    own_matrix, own_b = dense_form(cut)
    assert np.allclose(own_matrix, matrix[np.ix_(own, own)], rtol=0.0, atol=1e-13)
    assert np.allclose(own_b, (matrix @ r + b)[own] - own_matrix @ r[own], rtol=0.0, atol=1e-11)
    normals = np.where(problem.rows.normal_row[own] < 0, -1, 3 * (np.arange(len(own)) // 3))
    assert np.array_equal(cut.rows.normal_row, normals)


def _in_use(rows):
    """The part of a subdomain's rows that is in use."""
    blocks, count = rows.count
    used = {
        name: getattr(rows, name)[:count] for name in ("jacobian", "response", "diagonal", "bias", "lower", "upper")
    }
    used |= {name: getattr(rows, name)[:count] for name in ("normal_row", "friction", "impulse")}
    used |= {name: getattr(rows, name)[:blocks] for name in ("body_a", "body_b")}
    return rows._replace(block_row=rows.block_row[: blocks + 1], **used)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_put_back(seed):
    """Impulses of a subdomain's rows change and no others; velocities go with them."""
    problem, r, rng = random_start(seed)
    rows, velocity = started(problem, r)
    subdomain, error = allocate_subdomain(2100, 300), rng.random(700)
    assert cut_subdomain(rows, single_island(rows, 300), 0, velocity, error, np.sort(error)[-4], 1, subdomain)
    count, row_count = subdomain.rows.count
    solved = solve_contacts(
        ContactProblem(_in_use(subdomain.rows), subdomain.free_velocity.copy()),
        "alm_newton",
        "cone",
        subdomain.rows.impulse[:row_count],
    )
    subdomain.rows.impulse[:row_count] = solved.r
    subdomain.velocity[:] = solved.velocity
    put_back(rows, velocity, subdomain)
    own = (3 * subdomain.block[:count, None] + np.arange(3)).ravel()
    others = np.setdiff1d(np.arange(2100), own)
    assert np.array_equal(rows.impulse[others], r[others])
    assert np.array_equal(rows.impulse[own], solved.r)
    assert np.allclose(velocity, velocities(problem, rows.impulse), rtol=0.0, atol=1e-11)
    errors = np.zeros(700)
    block_errors(rows, single_island(rows, 300), 0, velocity, settings_of("cone"), errors)
    assert solved.status.converged
    assert errors[subdomain.block[:count]].max() < 1e-5


def test_no_subdomain_without_errors_or_room():
    problem, r, _ = random_start(0)
    rows, velocity = started(problem, r)
    islands, subdomain = single_island(rows, 300), allocate_subdomain(1200, 300)
    assert not cut_subdomain(rows, islands, 0, velocity, np.zeros(700), 0.0, 1, subdomain)
    assert subdomain.rows.impulse.size == 1200
    assert not cut_subdomain(rows, islands, 0, velocity, np.ones(700), 0.5, 0, subdomain)


@pytest.mark.parametrize("friction", ["box", "cone", "polyhedral"])
def test_the_largest_error_of_a_block_is_the_natural_map(friction):
    problem, r, _ = random_start(1)
    rows, velocity = started(problem, r)
    islands, errors = single_island(rows, 300), np.zeros(700)
    block_errors(rows, islands, 0, velocity, settings_of(friction), errors)
    assert (errors.max(), errors.argmax()) == natural_map(rows, islands, 0, velocity, settings_of(friction))
    assert errors.max() == pytest.approx(natural_map_reference(problem, r, friction), rel=1e-10)


@pytest.fixture(scope="module")
def still_towers():
    """The problem of a row of 60 towers of three boxes that touch but do not push each other, and its solution.

    The top of the tower in the middle, body 90, is slippery.
    """
    builder = ModelBuilder()
    builder.add_body(shape=Box((100.0, 100.0, 1.0)), position=(0.0, 0.0, -1.0), kind=BodyKind.STATIC)
    for tower in range(60):
        for storey in range(3):
            friction = 0.1 if (tower, storey) == (29, 2) else 0.5
            builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=(tower, 0.0, 0.5 + storey), friction=friction)
    problem = Simulation(builder.build(), SimulationOptions(method="nncg")).contact_problem()
    solved = solve_contacts(problem, "alm_newton", "cone", None, SolverOptions(tolerance=1e-13))
    assert solved.status.converged
    return problem, solved.r


def pushed(problem):
    """The same problem, in which the top of the tower in the middle is pushed across the row."""
    free_velocity = problem.free_velocity.copy()
    free_velocity[90, 1] += 0.01
    return ContactProblem(problem.rows, free_velocity)


def solve_pushed(still_towers, settings, workspace):
    """Solve the pushed problem by ``auto``; how it ended, the residual of the start, rows, velocities and islands."""
    problem, r = still_towers
    problem = pushed(problem)
    rows, velocity = started(problem, r)
    islands = single_island(rows, len(velocity))
    start, _ = natural_map(rows, islands, 0, velocity, settings)
    scale = problem_scale(rows, islands, 0, problem.free_velocity)
    assert 0.05 * scale < start < RATIO_SETTLED * scale  # as subdomains are for
    solver = find_method("auto", "cone")
    outcome = solver.solve_island(rows, islands, 0, problem.free_velocity, velocity, workspace, settings)
    return outcome, start, rows, velocity, islands


def workspace_of(problem):
    return find_method("auto", "cone").allocate(len(problem.rows.impulse), len(problem.free_velocity), 0)


def test_a_push_on_a_tower_is_solved_in_subdomains(still_towers):
    """One box of 180 slides, and is braked by friction on the one below; the exact method solves for few bodies."""
    problem, r = still_towers
    workspace = workspace_of(problem)
    outcome, _, rows, velocity, _ = solve_pushed(still_towers, settings_of("cone"), workspace)
    status, _, residual, scale, _ = outcome
    assert Status(status).converged
    assert natural_map_reference(pushed(problem), rows.impulse[: len(r)], "cone") == pytest.approx(residual, rel=1e-6)
    assert residual <= TOLERANCE * scale
    assert velocity[90, 1] == pytest.approx(0.01 - 0.05 * 9.81 / 96, rel=0.02)
    assert not any(np.any(values) for values in workspace.memory)
    assert 0 < workspace.exact.graph.count[0] <= 20


def test_subdomains_that_fail_are_not_tried_for_some_solves(still_towers):
    """They do not get there in ten steps; after the second failure solves do without them, after the third more."""
    workspace = workspace_of(still_towers[0])
    settings = settings_of("cone", 1e-10)._replace(absolute_tolerance=0.0, max_iterations=10)
    waits, tried = [], []
    for _ in range(9):
        workspace.exact.graph.count[:] = 0
        outcome, start, _, _, islands = solve_pushed(still_towers, settings, workspace)
        status, _, residual, _, _ = outcome
        assert not Status(status).converged
        waits.append(int(workspace.memory.subdomain_wait[islands.body_order].max()))
        tried.append(0 < workspace.exact.graph.count[0] <= 20)
        assert residual < (1e-3 if tried[-1] else 1.0) * start
    assert waits == [0, 1, 0, 3, 2, 1, 0, 7, 6]
    assert [number for number, was in enumerate(tried) if was] == [0, 1, 3, 7]


def test_an_island_whose_subdomains_have_no_room_is_solved_all_the_same(still_towers):
    """As a heap on a tray that touches all of it."""
    problem, r = still_towers
    free_velocity = problem.free_velocity.copy()
    free_velocity[90, 1] += 0.01
    problem = ContactProblem(problem.rows, free_velocity)
    rows, velocity = started(problem, r)
    start, _ = natural_map(rows, single_island(rows, len(velocity)), 0, velocity, settings_of("cone"))
    solver = find_method("auto", "cone")
    workspace = solver.allocate(len(rows.impulse), len(velocity), 0)._replace(
        subdomain=allocate_subdomain(6, len(velocity))
    )
    status, iterations, _, scale, _ = solver.solve_island(
        rows, single_island(rows, len(velocity)), 0, problem.free_velocity, velocity, workspace, settings_of("cone")
    )
    assert 10.0 * TOLERANCE * scale < start < 0.1 * scale  # as subdomains are for
    assert iterations > 0
    assert Status(status).converged
    assert natural_map_reference(problem, rows.impulse[: len(r)], "cone") <= 1.001 * TOLERANCE * scale
