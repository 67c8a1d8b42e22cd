"""Lemke's three methods on contacts: they solve the polyhedral problem, and alike where it has one solution.

Solutions are judged by the plain natural map on the explicit W, by all complementary bases of small problems, and by
closed forms. Impulses of redundant contacts are not unique, so motions are compared, where those are.
"""

from itertools import product

import numpy as np
import pytest
from contact_problems import dense_form, mixed_problem, natural_map_reference, random_problem
from nightly import in_turns
from numba import njit

from benchmarks.problems.lloyd_cases import SINGLE_BODY_CASES, STACKS, block_stack, single_body_case
from benchmarks.problems.peg_in_hole import peg_in_hole
from cairn.solver_core.compiled.kernel import borrowed
from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.problem import ContactProblem, SolverOptions, Status
from cairn.solver_core.problem.rows import RowArrays
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solve import solve_contacts
from cairn.solver_core.solvers.pivoting import explicit_lemke
from cairn.solver_core.solvers.pivoting.polyhedral import delassus_of, polyhedral_lcp

METHODS = ("lemke", "lemke_structural", "lemke_reduced")
# Residual that a direct method reaches in doubles, relative to |b|.
TOLERANCE = 1e-11
each_method = pytest.mark.parametrize("method", METHODS)


def solve(problem, method, directions=8, **options):
    options = SolverOptions(**({"tolerance": TOLERANCE, "directions": directions} | options))
    return solve_contacts(problem, method, "polyhedral", options=options)


def scale_of(problem):
    _, b = dense_form(problem)
    normal = problem.rows.normal_row[: len(b)] < 0
    return np.abs(np.where(normal, np.minimum(b, 0.0), b)).max()


def cases():
    """Name -> problem: pegs, single bodies, stacks, and bodies in random touch with half of the contacts twice."""
    yield from ((f"peg {count} {seed}", peg_in_hole(count, seed)) for count in (8, 16, 32) for seed in range(4))
    yield from ((f"{name} {seed}", single_body_case(name, seed)) for name in SINGLE_BODY_CASES for seed in range(4))
    yield from ((f"stack {levels} {seed}", block_stack(levels, seed)) for levels in STACKS for seed in range(2))
    yield from ((f"random {seed}", random_problem(8, 20, 0.4, seed, redundant=10)) for seed in range(6))


CASES = dict(cases())


@pytest.mark.parametrize(("name", "method"), in_turns(CASES, METHODS, 1))
def test_redundant_contacts_are_solved_to_rounding(method, name):
    """The residual is that of the plain natural map on the explicit W, and rounding.

    Motions may differ: where normal impulses are not unique, friction with a coefficient for each contact is not.
    """
    problem = CASES[name]
    result = solve(problem, method)
    assert result.status.converged
    assert natural_map_reference(problem, result.r, "polyhedral") <= TOLERANCE * scale_of(problem)


@pytest.mark.parametrize("name", CASES)
def test_motion_without_friction_is_the_same(name):
    """Without friction the problem is convex and its motion unique, whatever contacts are redundant."""
    problem = CASES[name]
    rows = problem.rows._replace(friction=np.zeros_like(problem.rows.friction))
    velocities = [solve(ContactProblem(rows, problem.free_velocity), method).velocity for method in METHODS]
    speed = np.abs(problem.free_velocity).max()
    for velocity in velocities[1:]:
        assert velocity == pytest.approx(velocities[0], abs=1e-9 * speed)


@pytest.mark.parametrize("seed", range(10))
def test_motion_with_little_friction_is_the_same(seed):
    """In a tree of bodies, one contact each, W has full rank; with small friction impulses and motion are unique."""
    problem = random_problem(15, 14, friction=0.1, seed=seed)
    assert np.linalg.matrix_rank(dense_form(problem)[0]) == 42
    results = [solve(problem, method) for method in METHODS]
    for result in results[1:]:
        assert result.r == pytest.approx(results[0].r, abs=1e-9 * np.abs(results[0].r).max())
        assert result.velocity == pytest.approx(results[0].velocity, abs=1e-9)


def complementary_solutions(matrix, b):
    """All basic solutions of an LCP: every choice of which variable of each pair is zero."""
    size = len(b)
    for choice in product((False, True), repeat=size):
        basic = np.array(choice)
        core = matrix[np.ix_(basic, basic)]
        if basic.any() and np.linalg.cond(core) > 1e10:
            continue
        x = np.zeros(size)
        x[basic] = np.linalg.solve(core, -b[basic]) if basic.any() else 0.0
        if x.min() >= -1e-10 and (matrix @ x + b).min() >= -1e-10:
            yield x


@each_method
@pytest.mark.parametrize(("contacts", "seed"), [(1, seed) for seed in range(8)] + [(2, seed) for seed in range(4)])
def test_solution_is_one_of_all_bases(method, contacts, seed):
    """With four directions a contact has six pairs: the velocities of the rows are those of one of all bases."""
    problem = random_problem(2, contacts, friction=0.7, seed=seed)
    matrix, b, friction = delassus_of(problem)
    lcp = polyhedral_lcp(matrix, b, friction, directions=4)
    velocities = [lcp.A[:contacts] @ x for x in complementary_solutions(lcp.A, lcp.b)]
    result = solve(problem, method, directions=4)
    assert result.status.converged
    found = (matrix @ result.r)[0::3]
    assert min(np.abs(found - other).max() for other in velocities) <= 1e-9 * max(np.abs(b).max(), 1.0)


def slope(friction, angle, push=0.0):
    """A block of 1 kg on four contacts, falling at 1 m/s under a slope's gravity; the first tangent points uphill."""
    problem = single_body_case("block on a plane", 0)
    rows = RowArrays(*(array.copy() for array in problem.rows))
    rows.friction[rows.normal_row >= 0] = friction
    uphill = rows.jacobian[1, 6:9]
    velocity = np.zeros((2, 6))
    velocity[1, :3] = (push - np.sin(angle)) * uphill - np.cos(angle) * np.array([0.0, 0.0, 1.0])
    return ContactProblem(rows, velocity), uphill


@each_method
def test_block_on_a_slope_sticks_below_the_friction_angle(method):
    """tan 20 degrees < 0.5: no motion is left."""
    problem, _ = slope(0.5, np.radians(20.0))
    assert solve(problem, method).velocity == pytest.approx(np.zeros((2, 6)), abs=1e-12)


@each_method
def test_block_on_a_slope_slides_above_the_friction_angle(method):
    """tan 30 degrees > 0.3: downhill at sin a - mu cos a, in the direction of a corner of the polygon.

    The block does not tip: contacts lie at the corners of a cube, whose centre is over them up to 45 degrees.
    """
    angle = np.radians(30.0)
    problem, uphill = slope(0.3, angle)
    result = solve(problem, method)
    expected = np.zeros((2, 6))
    expected[1, :3] = -(np.sin(angle) - 0.3 * np.cos(angle)) * uphill
    assert result.velocity == pytest.approx(expected, abs=1e-12)
    assert result.r[0::3].sum() == pytest.approx(np.cos(angle), abs=1e-12)


@each_method
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_face_that_falls_straight_on_sixteen_contacts(method, friction):
    """All slips are zero and all contacts alike, so nearly all pivots tie: the block stops, its weight on the face."""
    problem = single_body_case("face on face", 0)
    problem.rows.friction[problem.rows.normal_row >= 0] = friction
    problem.free_velocity[1] = [0.0, 0.0, -1.0, 0.0, 0.0, 0.0]
    result = solve(problem, method)
    assert result.status.converged
    assert result.velocity == pytest.approx(np.zeros((2, 6)), abs=1e-12)
    assert result.r[0::3].sum() == pytest.approx(1.0, abs=1e-12)


@each_method
@pytest.mark.parametrize("seed", range(6))
def test_joints_motors_and_contacts_at_once(method, seed):
    """Bilateral, bounded and redundant rows: solved with friction, and to the same motion without."""
    problem = mixed_problem(seed)
    result = solve(problem, method)
    assert result.status.converged
    assert natural_map_reference(problem, result.r, "polyhedral") <= TOLERANCE * scale_of(problem)
    rows = problem.rows._replace(friction=np.zeros_like(problem.rows.friction))
    smooth = ContactProblem(rows, problem.free_velocity)
    speed = np.abs(problem.free_velocity).max()
    assert solve(smooth, method).velocity == pytest.approx(solve(smooth, "lemke").velocity, abs=1e-8 * speed)


@each_method
def test_joints_that_repeat_each_other(method):
    """Bilateral rows twice: S is singular, one of each twins bears, and u = 0 on both."""
    problem = random_problem(4, 6, friction=0.4, seed=1, redundant=2)
    rows = problem.rows
    for block in (0, 1, 4, 5):
        span = slice(3 * block, 3 * block + 3)
        rows.normal_row[span], rows.friction[span] = -1, 0.0
        rows.lower[span], rows.upper[span] = -np.inf, np.inf
    result = solve(problem, method)
    matrix, b = dense_form(problem)
    joints = rows.lower == -np.inf
    assert result.status.converged
    assert (matrix @ result.r + b)[joints] == pytest.approx(np.zeros(12), abs=1e-11 * np.abs(b).max())


@each_method
def test_rod_in_painleve_configuration_is_solved(method):
    """A long rod slides on its tip, so that friction presses it on: W_nn < mu W_nt, and no force would do.

    Impulses solve it, as Stewart and Trinkle showed: the tip stops dead.
    """
    angle, friction = np.radians(72.0), 3.0
    problem = random_problem(2, 1, friction)
    rows = problem.rows
    arm = np.array([-np.cos(angle), 0.0, -np.sin(angle)])
    axes = np.eye(3)[[2, 0, 1]]
    rows.body_a[:], rows.body_b[:] = 0, 1
    rows.jacobian[:] = np.hstack([-axes, np.zeros((3, 3)), axes, np.cross(arm, axes)])
    rows.response[:] = 0.0
    rows.response[:, 6:] = rows.jacobian[:, 6:] * [1.0, 1.0, 1.0, 3.0, 3.0, 3.0]
    rows.diagonal[:] = np.sum(rows.jacobian * rows.response, axis=1)
    problem.free_velocity[1] = [-1.0, 0.0, -0.01, 0.0, 0.0, 0.0]
    matrix, _ = dense_form(problem)
    assert matrix[0, 0] + friction * matrix[0, 1] < 0.0 or matrix[0, 0] - friction * matrix[0, 1] < 0.0
    result = solve(problem, method)
    assert result.status.converged
    assert natural_map_reference(problem, result.r, "polyhedral") <= TOLERANCE * scale_of(problem)


@each_method
def test_squeezed_body_ends_on_a_ray(method):
    """Two contacts push one body against each other faster than it can yield: no solution, a status that says so."""
    problem = random_problem(2, 2, friction=0.3)
    rows = problem.rows
    axes = np.eye(3)
    rows.body_a[:], rows.body_b[:] = 0, 1
    rows.jacobian[:] = 0.0
    rows.jacobian[:3, 6:9], rows.jacobian[3:6, 6:9] = axes, -axes
    rows.response[:] = rows.jacobian
    rows.diagonal[:] = 1.0
    rows.bias[[0, 3]] = -1.0
    problem.free_velocity[:] = 0.0
    result = solve(problem, method)
    assert result.status is Status.RAY_TERMINATION
    assert np.all(np.isfinite(result.r))
    # without any impulse both contacts miss their speed by 1 m/s
    assert natural_map_reference(problem, result.r, "polyhedral") <= 1.0
    assert result.residual == pytest.approx(natural_map_reference(problem, result.r, "polyhedral"), abs=1e-12)


def test_reduced_needs_few_pivots():
    """On pegs of 32 contacts: at most a third of the pivots that all friction from the start takes (Lloyd, 5.3)."""
    pivots = {
        method: sum(solve(peg_in_hole(32, seed), method).iterations for seed in range(10)) for method in METHODS[1:]
    }
    assert pivots["lemke_reduced"] <= pivots["lemke_structural"] / 3


@pytest.mark.parametrize("method", METHODS[1:])
def test_history_is_z0_down_to_zero(method):
    """The artificial variable starts as the worst of b and ends at zero, one entry a pivot."""
    result = solve(peg_in_hole(16, 1), method)
    assert len(result.history) == result.iterations
    assert result.history[-1] == 0.0
    assert np.all(result.history[:-1] > 0.0)


@pytest.mark.parametrize("method", METHODS[1:])
def test_limit_of_pivots_is_reported(method):
    """Stop after five pivots with what was no worse than the start."""
    problem = peg_in_hole(16, 2)
    result = solve(problem, method, max_iterations=5)
    assert result.status is Status.MAX_ITERATIONS
    assert result.iterations == 5
    assert natural_map_reference(problem, result.r, "polyhedral") <= natural_map_reference(
        problem, np.zeros(48), "polyhedral"
    )


def test_island_that_is_too_large_is_refused():
    """Above the limit of memory nothing is done: status capacity, the start unchanged."""
    result = solve(random_problem(100, 450, seed=3), "lemke")
    assert result.status is Status.CAPACITY
    assert result.iterations == 0
    assert np.array_equal(result.r, np.zeros(1350))


@each_method
def test_explicit_matrix_that_is_too_large_is_refused(method, monkeypatch):
    """The same for a W that is given."""
    monkeypatch.setattr(explicit_lemke, "MOST_DOUBLES", 100)
    problem = ContactProblem.from_delassus(*delassus_of(random_problem(4, 6)))
    result = solve(problem, method)
    assert result.status is Status.CAPACITY
    assert np.array_equal(result.r, np.zeros(18))


@each_method
@pytest.mark.parametrize("asymmetry", [0.0, 1e-3])
def test_explicit_matrix_of_low_rank_is_solved(method, asymmetry):
    """W of one body under 16 contacts, rank 6 of 48, and somewhat asymmetric: residual at rounding."""
    matrix, b, friction = delassus_of(single_body_case("face on face", 3))
    rng = np.random.default_rng(0)
    skew = rng.normal(size=(6, 6))
    values, vectors = np.linalg.eigh(matrix)
    basis = vectors[:, -6:]
    matrix = matrix + asymmetry * values[-1] * basis @ (skew - skew.T) @ basis.T
    result = solve(ContactProblem.from_delassus(matrix, b, friction), method)
    assert result.status.converged
    assert result.residual <= TOLERANCE


def test_box_stays_on_a_slope_in_the_stepper():
    """A box on a plane of 20 degrees with friction 0.5, stepped by lemke_reduced: it drifts by less than 1e-6 m."""
    angle = np.radians(20.0)
    turn = (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)
    builder = ModelBuilder()
    builder.add_body(shape=Box((5.0, 5.0, 0.5)), kind=BodyKind.STATIC, orientation=turn, friction=1.0)
    up = np.array([np.sin(angle), 0.0, np.cos(angle)])
    box = builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=tuple(1.0 * up), orientation=turn, friction=0.5)
    options = SimulationOptions(method="lemke_reduced", friction="polyhedral")
    simulation = Simulation(builder.build(), options)
    start = simulation.poses()[0][box].copy()
    reports = [simulation.advance_frame() for _ in range(12)]
    assert np.linalg.norm(simulation.poses()[0][box] - start) < 1e-6
    assert all(report.missed == 0 for report in reports)


@pytest.mark.parametrize("name", SINGLE_BODY_CASES)
def test_cases_have_the_contacts_that_they_say(name):
    """Rows are J (v, omega) = axis . (v + omega x arm): a turn about the contact point does not move it."""
    problem = single_body_case(name, 0)
    count = SINGLE_BODY_CASES[name]
    assert problem.rows.count[0] == count
    for contact in range(count):
        rows = problem.rows.jacobian[3 * contact : 3 * contact + 3, 6:]
        axes = rows[:, :3]
        assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-12)
        arm = sum(np.cross(axis, moment) for axis, moment in zip(axes, rows[:, 3:], strict=True)) / 2.0
        omega = np.array([0.3, -0.2, 0.5])
        assert rows @ np.concatenate([np.cross(arm, omega), omega]) == pytest.approx(np.zeros(3), abs=1e-12)


def test_borrowed_arrays_are_the_same_memory():
    """What is written through a borrowed view stands in the original, also in a function that loops over calls."""

    @njit
    def fill(pair):
        first, second = borrowed(pair)
        for place in range(first.size):
            first[place] = place
            second[place] += first[place]
        return pair[0].sum() + pair[1].sum()

    arrays = np.zeros(5), np.ones(5)
    assert fill(arrays) == 25.0
    assert np.array_equal(arrays[0], np.arange(5.0))
    assert np.array_equal(arrays[1], 1.0 + np.arange(5.0))
