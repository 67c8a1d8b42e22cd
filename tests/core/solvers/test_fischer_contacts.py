"""The Fischer-Newton method on contacts solves the polyhedral LCP: its parts against dense algebra, its ends against
enumeration, Clarabel and closed forms.
"""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from contact_problems import dense_form, mixed_problem, natural_map_reference, random_problem

from cairn.solver_core import scenes
from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.problem import STRATEGIES, ContactProblem, SolverOptions, Status
from cairn.solver_core.problem.residuals import fischer_burmeister
from cairn.solver_core.problem.rows import FRICTION_MODELS, RowArrays, single_island
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solve import solve_contacts
from cairn.solver_core.solvers.fischer_newton import fischer_blocks
from cairn.solver_core.solvers.fischer_newton.block_gmres import (
    allocate_basis,
    allocate_hessenberg,
    solve_coupled_units,
)
from cairn.solver_core.solvers.fischer_newton.fischer_bodies import (
    FACTORED,
    FITS,
    allocate_body_system,
    factor_bodies,
    fill_stiffness,
    order_bodies,
)
from cairn.solver_core.solvers.linear_algebra.compact_explicit import gather_explicit
from cairn.solver_core.solvers.linear_algebra.compact_rows import (
    allocate_compact_rows,
    gather_island,
    multiply,
    multiply_transposed,
)
from cairn.solver_core.solvers.linear_algebra.compact_sweep import compact_residual
from cairn.solver_core.solvers.pivoting.polyhedral import friction_directions, polyhedral_lcp
from cairn.solver_core.solvers.registry import find_method, kernel_settings_of
from cairn.solver_core.solvers.shared.direction_impulses import project_unknowns, start_unknowns

pytestmark = pytest.mark.one_python

TOLERANCE = 1e-10
DIRECTIONS = 8


def solve(problem, **options):
    options = {"tolerance": TOLERANCE} | options
    return solve_contacts(problem, "fischer_newton", "polyhedral", options=SolverOptions(**options))


def explicit_form(problem):
    matrix, b = dense_form(problem)
    return ContactProblem.from_delassus(matrix, b, problem.rows.friction[1 : len(b) : 3])


class Parts:
    """A problem of contacts in compact form beside its dense LCP, with the unknowns in the same order and units."""

    def __init__(self, problem, directions=DIRECTIONS, explicit=False):
        self.rows = rows = problem.rows
        count = int(rows.count[1])
        matrix, b = dense_form(problem)
        self.contacts = contacts = count // 3
        self.system = allocate_body_system(count, len(problem.free_velocity))
        if explicit:
            self.compact = gather_explicit(explicit_form(problem).delassus)
        else:
            self.compact = allocate_compact_rows(count, len(problem.free_velocity))
            islands = single_island(rows, len(problem.free_velocity))
            gather_island(rows, islands, 0, problem.free_velocity, self.compact)
            order_bodies(rows, islands, 0, self.compact, self.system)
        self.corners = friction_directions(directions)
        self.first_unknown = np.zeros(contacts + 1, np.int64)
        self.size = fischer_blocks.number_unknowns(self.compact, directions, self.first_unknown)
        self.unit = np.repeat(1.0 / np.diag(matrix)[0::3], 3)
        self.scaled = matrix * self.unit
        lcp = polyhedral_lcp(self.scaled, b, rows.friction[1:count:3], directions)
        # from theta, phi, lambda in groups to the unknowns of a contact together
        first_phi, first_lambda = contacts, contacts * (1 + directions)
        order = [
            [i, *range(first_phi + directions * i, first_phi + directions * (i + 1)), first_lambda + i]
            for i in range(contacts)
        ]
        order = np.ravel(order)
        self.A, self.b = lcp.dense[np.ix_(order, order)], lcp.b[order]

    def random_unknowns(self, seed):
        return np.random.default_rng(seed).normal(size=self.size)

    def impulses(self, x):
        y = np.zeros(3 * self.contacts)
        fischer_blocks.combine_directions(self.compact, self.first_unknown, self.corners, x, y)
        return y

    def slacks(self, x, with_offset=True):
        u, w = np.zeros(3 * self.contacts), np.zeros(self.size)
        multiply(self.compact, self.impulses(x), u)
        u += self.compact.offset[: len(u)] * with_offset
        fischer_blocks.compute_slacks(self.compact, self.first_unknown, self.corners, x, u, w)
        return w

    def slopes(self, x, strategy="perturbation", smoothing=1e-3, seed=1):
        p, q = np.zeros(self.size), np.zeros(self.size)
        state = np.array([seed])
        fischer_blocks.differentiate_equations(
            self.compact,
            self.first_unknown,
            x,
            self.slacks(x),
            smoothing,
            1.0,
            STRATEGIES.index(strategy),
            state,
            p,
            q,
        )
        return p, q

    def newton_step(self, x, epsilon, ratio=1e-13, factored=False):
        """The change of the unknowns, by the method's own parts; and F, P, Q, and the products that it took."""
        p, q = self.slopes(x)
        value = np.zeros(self.size)
        fischer_blocks.evaluate_equations(self.compact, self.first_unknown, x, self.slacks(x), 1e-3, value)
        rows, width = 3 * self.contacts, len(self.corners) + 2
        answer, step, gain = np.zeros((self.size, 3)), np.zeros(self.size), np.zeros((rows, 3))
        goal, y, u, work, change = np.zeros(rows), np.zeros(rows), np.zeros(rows), np.zeros(rows), np.zeros(self.size)
        block = np.zeros((width, width + 4))
        fischer_blocks.factor_units(
            self.compact, self.first_unknown, self.corners, p, q, value, epsilon, block, answer, step, gain, goal
        )
        if factored:
            factor_bodies(self.compact, self.first_unknown, self.corners, p, q, epsilon, self.system)
            assert self.system.count[FACTORED] == 1
        basis, hessenberg = allocate_basis(rows), allocate_hessenberg()
        self.products, reached = solve_coupled_units(
            self.compact, gain, goal, self.system, ratio, 1000, basis, hessenberg, work, y
        )
        assert self.products <= 1000
        assert reached <= ratio
        multiply(self.compact, y, u)
        fischer_blocks.recover_unknowns(self.compact, self.first_unknown, answer, step, y, u, change)
        return change, value, p, q, gain, goal, y


@pytest.mark.parametrize("explicit", [False, True])
def test_products_are_those_of_the_dense_matrix(explicit):
    """A x + b through the bodies' velocities, and the transposed product, against the dense LCP."""
    parts = Parts(random_problem(6, 12, friction=0.4, seed=3, redundant=4), explicit=explicit)
    for seed in range(3):
        x = parts.random_unknowns(seed)
        assert parts.slacks(x) == pytest.approx(parts.A @ x + parts.b, abs=1e-12)
        t, out = np.random.default_rng(seed).normal(size=36), np.zeros(36)
        multiply_transposed(parts.compact, t, out)
        assert out == pytest.approx(parts.scaled.T @ t, abs=1e-12)


def test_equations_are_fischers_function():
    """Without smoothing F is the shared Fischer-Burmeister function; with it, its root has x w = m^2."""
    parts = Parts(random_problem(4, 6, seed=1))
    x, value = parts.random_unknowns(5), np.zeros(parts.size)
    w = parts.slacks(x)
    merit = fischer_blocks.evaluate_equations(parts.compact, parts.first_unknown, x, w, 0.0, value)
    assert value == pytest.approx(fischer_burmeister(x, w), abs=1e-14)
    assert merit == pytest.approx(0.5 * value @ value)
    positive = np.exp(x)
    fischer_blocks.evaluate_equations(parts.compact, parts.first_unknown, positive, 0.04 / positive, 0.2, value)
    assert np.abs(value).max() < 1e-14


@pytest.mark.parametrize("epsilon", [0.0, 1e-3])
def test_blocks_are_the_diagonal_blocks_of_the_dense_jacobian(epsilon):
    """P + Q (A + epsilon I) of each contact, and how it answers its own speeds."""
    parts = Parts(random_problem(5, 9, friction=0.7, seed=2))
    p, q = parts.slopes(parts.random_unknowns(1))
    jacobian = np.diag(p) + q[:, None] * (parts.A + epsilon * np.eye(parts.size))
    width = DIRECTIONS + 2
    block = np.zeros((width, width + 4))
    lift = np.zeros((width, 3))
    lift[0, 0] = 1.0
    lift[1:-1, 1:] = parts.corners
    for contact in range(parts.contacts):
        span = slice(width * contact, width * (contact + 1))
        fischer_blocks.fill_block(parts.compact, contact, width * contact, parts.corners, p, q, epsilon, block)
        assert block[:, :width] == pytest.approx(jacobian[span, span], abs=1e-12)
        assert block[:, width : width + 3] == pytest.approx(q[span, None] * lift, abs=1e-14)


@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize("directions", [4, 8])
def test_newton_step_solves_the_dense_newton_equation(explicit, directions):
    """The step from blocks and GMRES solves (P + Q (A + epsilon I)) dx = -F of the whole problem."""
    parts = Parts(random_problem(6, 12, friction=0.4, seed=4, redundant=3), directions, explicit)
    change, value, p, q, *_ = parts.newton_step(parts.random_unknowns(2), 1e-4)
    jacobian = np.diag(p) + q[:, None] * (parts.A + 1e-4 * np.eye(parts.size))
    assert change == pytest.approx(np.linalg.solve(jacobian, -value), rel=1e-7, abs=1e-7 * np.abs(change).max())


@pytest.mark.parametrize("directions", [4, 8])
def test_factor_over_bodies_solves_the_dense_newton_equation(directions):
    """With the factor GMRES needs no more than four products for thirteen digits, redundant contacts or not."""
    parts = Parts(random_problem(12, 30, friction=0.4, seed=4, redundant=10), directions)
    change, value, p, q, *_ = parts.newton_step(parts.random_unknowns(2), 1e-6, factored=True)
    assert parts.products <= 4
    jacobian = np.diag(p) + q[:, None] * (parts.A + 1e-6 * np.eye(parts.size))
    assert change == pytest.approx(np.linalg.solve(jacobian, -value), rel=1e-7, abs=1e-7 * np.abs(change).max())


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3])
def test_stiffness_is_how_a_contact_answers_its_speeds(epsilon):
    """K s = R (P + Q (A_0 + epsilon I))^-1 Q E s, A_0 the LCP's matrix without W, by a dense solve of each contact."""
    parts = Parts(random_problem(5, 9, friction=0.7, seed=2))
    p, q = parts.slopes(parts.random_unknowns(1))
    stiffness, turned = np.zeros((27, 3)), np.zeros((27, 3))
    fill_stiffness(parts.compact, parts.first_unknown, parts.corners, p, q, epsilon, stiffness, turned)
    own = np.zeros((10, 10))
    own[1:9, 9], own[9, 1:9], own[9, 0] = 1.0, -1.0, 0.7
    lift = np.zeros((10, 3))
    lift[0, 0], lift[1:9, 1:] = 1.0, parts.corners
    for contact in range(parts.contacts):
        span = slice(10 * contact, 10 * contact + 10)
        block = np.diag(p[span]) + q[span, None] * (own + epsilon * np.eye(10))
        expected = lift.T @ np.linalg.solve(block, q[span, None] * lift) * parts.unit[3 * contact]
        rows = slice(3 * contact, 3 * contact + 3)
        assert stiffness[rows] == pytest.approx(expected, rel=1e-6, abs=1e-7 * np.abs(expected).max())
        assert np.array_equal(turned[rows], stiffness[rows].T)


def test_gmres_agrees_with_a_dense_solve():
    """(I + G (W S - D)) y = g on more rows than a cycle has iterations, by NumPy."""
    parts = Parts(random_problem(30, 60, friction=0.4, seed=6))
    *_, gain, goal, y = parts.newton_step(parts.random_unknowns(3), 1e-3, ratio=1e-11)
    rows = 3 * parts.contacts
    matrix, coupling = np.eye(rows), parts.scaled.copy()
    for first in range(0, rows, 3):
        span = slice(first, first + 3)
        coupling[span, span] = 0.0
        matrix[span] += gain[span] @ coupling[span]
    assert y == pytest.approx(np.linalg.solve(matrix, goal), abs=1e-8 * np.abs(y).max())


def test_gradient_is_that_of_the_merit():
    """(P + Q A)' F against the dense product and central differences of 1/2 |F|^2."""
    parts = Parts(random_problem(4, 6, friction=0.6, seed=7))
    x = parts.random_unknowns(8)

    def merit(point):
        return fischer_blocks.evaluate_equations(
            parts.compact, parts.first_unknown, point, parts.slacks(point), 1e-3, value
        )

    value = np.zeros(parts.size)
    p, q = parts.slopes(x)
    merit(x)
    t, turned, gradient = np.zeros(18), np.zeros(18), np.zeros(parts.size)
    for _ in range(2):
        fischer_blocks.spread_gradient(
            parts.compact, parts.first_unknown, parts.corners, p, q, value, t, turned, gradient
        )
        multiply_transposed(parts.compact, t, turned)
    assert gradient == pytest.approx((np.diag(p) + q[:, None] * parts.A).T @ value, abs=1e-11)
    steps = 1e-6 * np.eye(parts.size)
    differences = [(merit(x + step) - merit(x - step)) / 2e-6 for step in steps]
    # rounding of a merit of some 100 over a step of 2e-6
    assert gradient == pytest.approx(differences, abs=1e-5)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_strategies_choose_from_the_generalised_jacobian(strategy):
    """At x = w = 0 (p + 1, q + 1) lies in the unit disc; elsewhere all have the derivative (eqs. 97 and 98)."""
    problem = random_problem(4, 40, seed=9)
    problem.free_velocity[:] = 0.0
    parts = Parts(problem)
    p, q = parts.slopes(np.zeros(parts.size), strategy, smoothing=0.0, seed=12345)
    assert np.all(np.hypot(p + 1.0, q + 1.0) <= 1.0 + 1e-12)
    if strategy == "random":
        assert len(np.unique(p)) == parts.size
        assert abs(np.mean(p) + 1.0) < 0.1
    if strategy == "zero":
        assert np.all(p == -1.0)
        assert np.all(q == -1.0)
    x = parts.random_unknowns(10)
    w = parts.slacks(x)
    root = np.hypot(x, w)
    p, q = parts.slopes(x, strategy, smoothing=0.0)
    # finite differences with a step of 1e-8 lose half of the digits
    tolerance = 1e-5 if strategy == "approximation" else 1e-14
    assert p == pytest.approx(x / root - 1.0, abs=tolerance)
    assert q == pytest.approx(w / root - 1.0, abs=tolerance)


def test_slopes_keep_what_a_pair_hangs_on_its_large_number():
    """Of f(0, w) with smoothing m, q = w / sqrt(w^2 + 2 m^2) - 1 is -m^2 / w^2 where rounding would leave 0.

    Were q 0 for all directions of a contact, its part of the factor over the bodies would be 0 / 0.
    """
    parts = Parts(random_problem(4, 6, seed=1))
    x, w = np.zeros(parts.size), np.full(parts.size, 0.5)
    p, q, state = np.zeros(parts.size), np.zeros(parts.size), np.array([1])
    for m in (1e-9, 1e-15):
        fischer_blocks.differentiate_equations(parts.compact, parts.first_unknown, x, w, m, 1.0, 0, state, p, q)
        assert p == pytest.approx(np.full(parts.size, -1.0))
        assert q == pytest.approx(np.full(parts.size, -((m / 0.5) ** 2)), rel=1e-12, abs=0.0)
        factor_bodies(parts.compact, parts.first_unknown, parts.corners, p, q, 1e-11, parts.system)
        assert np.all(np.isfinite(parts.system.factor.diagonal))
        assert np.all(np.isfinite(parts.system.stiffness))


@pytest.mark.parametrize("directions", [4, 8, 14])
def test_direction_impulses_add_up(directions):
    """Start and projection keep friction, are feasible, and spread a reserve over all directions."""
    parts = Parts(random_problem(4, 30, friction=0.5, seed=11), directions)
    rng = np.random.default_rng(1)
    y = rng.normal(size=(30, 3))
    y[:, 0] = 3.0 + np.abs(y[:, 0])
    y[:, 1:] *= np.linspace(0.0, 1.0, 30)[:, None]
    x = np.zeros(parts.size)
    start_unknowns(parts.compact, parts.first_unknown, parts.corners, y.ravel(), rng.normal(size=90), x)
    assert parts.impulses(x) == pytest.approx(y.ravel(), abs=1e-13)
    phi = x.reshape(30, -1)[:, 1:-1]
    reserve = 0.5 * y[:, 0] - phi.sum(axis=1)
    assert np.all(phi >= 0.0)
    inside = reserve > 0.0
    assert inside.any()
    assert np.all(phi[inside].min(axis=1) > 0.0)
    x = rng.normal(size=parts.size)
    friction = parts.impulses(x).reshape(30, 3)[:, 1:]
    project_unknowns(parts.compact, parts.first_unknown, parts.corners, x)
    assert np.all(x >= 0.0)
    assert parts.impulses(x).reshape(30, 3)[:, 1:] == pytest.approx(friction, abs=1e-13)


def enumerate_solutions(A, b):
    """All basic solutions of the LCP: for each set of positive x, the one with A_ss x_s = -b_s, if it is feasible."""
    size = len(b)
    for basis in itertools.product([False, True], repeat=size):
        chosen = np.flatnonzero(basis)
        x = np.zeros(size)
        if len(chosen):
            matrix = A[np.ix_(chosen, chosen)]
            if np.linalg.cond(matrix) > 1e10:
                continue
            x[chosen] = np.linalg.solve(matrix, -b[chosen])
        if x.min() >= -1e-11 and (A @ x + b).min() >= -1e-11:
            yield np.maximum(x, 0.0)


@pytest.mark.parametrize("seed", range(8))
def test_natural_map_is_zero_exactly_at_solutions_of_the_lcp(seed):
    """Two contacts, four directions: every enumerated solution of the LCP has no residual, every other point has one.

    And the impulses that the method finds come from a solution of the LCP.
    """
    problem = random_problem(3, 2, friction=[0.3, 0.9][seed % 2], seed=seed)
    problem.free_velocity[:] *= -1.0 if seed % 3 == 0 else 1.0
    parts = Parts(problem, 4)
    found = 0
    for x in enumerate_solutions(parts.A, parts.b):
        found += 1
        r = parts.impulses(x) * parts.unit
        assert natural_map_reference(problem, r, "polyhedral", 4) < 1e-10
        assert natural_map_reference(problem, r + 0.05, "polyhedral", 4) > 1e-4
    assert found
    result = solve(problem, directions=4, tolerance=1e-12)
    assert result.status.converged
    y, x, u = result.r / parts.unit, np.zeros(parts.size), np.zeros(6)
    multiply(parts.compact, y, u)
    start_unknowns(parts.compact, parts.first_unknown, parts.corners, y, u + parts.compact.offset[:6], x)
    assert np.abs(np.minimum(x, parts.A @ x + parts.b)).max() < 1e-9


@pytest.mark.parametrize("friction", FRICTION_MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_compact_residual_is_the_natural_map(seed, friction):
    """The measure that steers the method is the one that judges it."""
    problem = random_problem(5, 9, friction=0.7, seed=seed)
    parts = Parts(problem)
    r = np.random.default_rng(seed).normal(size=27)
    r[0::3] = np.abs(r[0::3])
    u = np.zeros(27)
    multiply(parts.compact, r / parts.unit, u)
    u += parts.compact.offset[:27]
    model = FRICTION_MODELS.index(friction)
    residual = compact_residual(parts.compact, model, DIRECTIONS, r / parts.unit, u)
    assert residual == pytest.approx(natural_map_reference(problem, r, friction), rel=1e-12)


def block_on_slope(angle, direction):
    """A point mass of 2 kg on a plane of friction 0.5: gravity's speed of 1 m/s tilted by ``angle``."""
    problem = random_problem(2, 1, friction=0.5)
    rows = problem.rows
    rows.jacobian[:3] = 0.0
    rows.jacobian[:3, 6:9] = np.eye(3)[[2, 0, 1]]
    rows.response[:3] = rows.jacobian[:3] / 2.0
    rows.diagonal[:3] = 0.5
    slip = np.sin(angle)
    problem.free_velocity[1] = [slip * np.cos(direction), slip * np.sin(direction), -np.cos(angle), 0.0, 0.0, 0.0]
    return problem


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("corner", range(8))
def test_block_on_a_slope(strategy, corner):
    """At 20 degrees it sticks; at 40, downhill along a corner, it keeps sin - mu cos (friction angle 26.6)."""
    direction = 2.0 * np.pi * corner / 8
    sticking = solve(block_on_slope(np.radians(20.0), direction), strategy=strategy)
    assert sticking.velocity[1] == pytest.approx(np.zeros(6), abs=1e-9)
    sliding = solve(block_on_slope(np.radians(40.0), direction), strategy=strategy)
    speed = np.sin(np.radians(40.0)) - 0.5 * np.cos(np.radians(40.0))
    assert sliding.velocity[1, :3] == pytest.approx(
        [speed * np.cos(direction), speed * np.sin(direction), 0.0], abs=1e-9
    )
    assert sliding.r[0] == pytest.approx(2.0 * np.cos(np.radians(40.0)), abs=1e-8)


def test_slip_between_corners_takes_the_corner_that_brakes_most():
    """Downhill 10 degrees off a corner: friction is mu times the weight along the opposite corner, to the digit."""
    problem = block_on_slope(np.radians(60.0), np.radians(10.0))
    result = solve(problem)
    normal = 2.0 * np.cos(np.radians(60.0))
    assert result.r == pytest.approx([normal, -0.5 * normal, 0.0], abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_frictionless_velocities_are_clarabels(seed):
    """mu = 0, half of the contacts redundant: the convex program's velocities, by an interior-point method."""
    clarabel = pytest.importorskip("clarabel")
    problem = random_problem(6, 12, friction=0.0, seed=seed, redundant=6)
    matrix, b = dense_form(problem)
    normal = np.arange(0, 36, 3)
    matrix, b = matrix[np.ix_(normal, normal)], b[normal]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solution = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix(np.triu(matrix)),
        b,
        scipy.sparse.csc_matrix(-np.eye(12)),
        np.zeros(12),
        [clarabel.NonnegativeConeT(12)],
        settings,
    ).solve()
    result = solve(problem)
    assert result.status.converged
    assert matrix @ result.r[normal] == pytest.approx(matrix @ np.array(solution.x), abs=1e-6)


@pytest.mark.parametrize("sweeps", [0, 10])
def test_random_and_degenerate_problems_are_solved(sweeps):
    """Up to 60 contacts, up to half of them redundant, mu up to 1: 1e-8 in at most 40 steps, from zero or swept.

    Where it takes more than three steps the last two gain a factor 1e4: the end is quadratic.
    """
    rng = np.random.default_rng(0)
    for seed in range(30):
        bodies = int(rng.integers(3, 25))
        contacts = int(bodies * rng.uniform(1.0, 3.0))
        redundant = int(contacts * rng.uniform(0.0, 0.5))
        problem = random_problem(bodies, contacts, rng.uniform(0.1, 1.0), seed, redundant)
        result = solve(problem, warm_start_sweeps=sweeps, tolerance=1e-12)
        assert result.status.converged, seed
        reached = np.flatnonzero(result.history <= 1e-8)
        assert len(reached) == 0 or reached[0] < 40, seed
        scale = np.abs(dense_form(problem)[1]).max()
        assert natural_map_reference(problem, result.r, "polyhedral") <= 1e-8 * scale, seed
        if len(result.history) > 3:
            assert result.history[-1] <= max(1e-4 * result.history[-3], 1e-15), seed


@pytest.mark.parametrize("seed", range(4))
def test_strategies_agree_in_velocities(seed):
    """The four elements of the generalised Jacobian lead to the same motion."""
    problem = random_problem(8, 14, friction=0.3, seed=seed, redundant=4)
    results = [solve(problem, strategy=strategy, seed=3) for strategy in STRATEGIES]
    for result in results:
        assert result.status.converged
        assert result.velocity == pytest.approx(results[0].velocity, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_all_kinds_at_once(seed):
    """Contacts, bilateral rows, a motor and limits in one system: each obeys its own law."""
    problem = mixed_problem(seed)
    result = solve(problem)
    assert result.status.converged
    assert natural_map_reference(problem, result.r, "polyhedral") <= 1e-9 * np.abs(dense_form(problem)[1]).max()


def test_more_directions_than_there_is_room_for():
    """24 directions: closer to the disc than 8, with the same sticking contacts."""
    problem = random_problem(8, 14, friction=0.6, seed=1)
    result = solve(problem, directions=24)
    assert result.status.converged
    assert natural_map_reference(problem, result.r, "polyhedral", 24) <= 1e-9


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_masses_and_speeds_have_no_unit(factor):
    """Scaling masses or speeds scales impulses and changes no step."""
    plain = solve(random_problem(8, 14, seed=2))
    heavy = random_problem(8, 14, seed=2)
    heavy.rows.response[:] /= factor
    heavy.rows.diagonal[:] /= factor
    fast = random_problem(8, 14, seed=2)
    fast.free_velocity[:] *= factor
    for other in (heavy, fast):
        result = solve(other)
        assert result.iterations == plain.iterations
        assert result.r / factor == pytest.approx(plain.r, rel=1e-6, abs=1e-9)


def test_explicit_w_has_the_same_motion():
    """The operator does not matter: rows, by the factor, and the explicit W, by sweeps, end alike in as many steps."""
    problem = random_problem(8, 14, friction=0.5, seed=2, redundant=3)
    matrix, b = dense_form(problem)
    on_rows, on_matrix = solve(problem), solve(explicit_form(problem))
    assert on_matrix.status.converged
    assert abs(on_matrix.iterations - on_rows.iterations) <= 3
    assert matrix @ on_matrix.r == pytest.approx(matrix @ on_rows.r, abs=1e-7 * np.abs(b).max())


def test_one_step_says_that_it_was_too_few():
    """Report max_iterations, and the better of start and iterate."""
    problem = random_problem(20, 40, seed=4)
    result = solve(problem, max_iterations=1)
    assert result.status is Status.MAX_ITERATIONS
    assert result.iterations == 1
    assert natural_map_reference(problem, result.r, "polyhedral") <= natural_map_reference(
        problem, np.zeros(120), "polyhedral"
    )


def test_a_tolerance_that_doubles_cannot_meet_stagnates():
    """Tolerance 0: ends by itself with what rounding leaves."""
    problem = random_problem(6, 12, friction=0.4, seed=1, redundant=4)
    result = solve(problem, tolerance=0.0, max_iterations=1000)
    assert result.status in (Status.STAGNATED, Status.CONVERGED_ABSOLUTE)
    assert result.iterations < 1000
    assert result.residual < 1e-12


@pytest.mark.parametrize("name", ["bias", "free_velocity"])
def test_nan_is_a_failure_without_nan(name):
    """Status failed, impulses zero."""
    problem = random_problem(4, 6)
    target = problem.rows.bias[:1] if name == "bias" else problem.free_velocity[2]
    target[:] = np.nan
    result = solve(problem)
    assert result.status is Status.FAILED
    assert np.array_equal(result.r, np.zeros(18))


FOLDER = Path(os.environ.get("CAIRN_PROBLEMS", Path(__file__).resolve().parents[4] / "shared" / "problems"))


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the published problems are not here")
def test_published_friction_problems():
    """All with W given are solved to 1e-8 of their polyhedral residual, singular and asymmetric ones too."""
    solved = 0
    for file in sorted(FOLDER.glob("*.npz")):
        with np.load(file, allow_pickle=False) as data:
            if str(data["kind"]) != "fc":
                continue
            matrix = scipy.sparse.csr_array((data["W_data"], data["W_indices"], data["W_indptr"]), shape=data["shape"])
            problem = ContactProblem.from_delassus(matrix, data["q"], data["mu"])
        result = solve(problem, tolerance=1e-8)
        assert result.status.converged, file.name
        solved += 1
    assert solved == 11


SCENES = {
    "stack of 10": lambda: scenes.stack(10),
    "stack of 30": lambda: scenes.stack(30),
    "top 100 times heavier": scenes.heavy_stack,
    "top 1000 times heavier": lambda: scenes.heavy_stack(1000.0),
    "pyramid": scenes.pyramid,
    "wall": scenes.standing_wall,
    "arch of 25": scenes.arch,
    "cards, 3 storeys": scenes.card_house,
}


def frozen_step(name):
    """The first step of a scene."""
    return Simulation(SCENES[name]().build_model(), SimulationOptions(method="nncg", friction="box")).contact_problem()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", SCENES)
def test_what_is_to_stand_is_solved_from_zero(name, strategy):
    """1e-8 of the scale in at most 20 steps, where redundant contacts are the rule and a sweep reaches 1e-3.

    The last two steps gain a factor 1e4 and more: the end is quadratic, on the cards, too.
    """
    result = solve(frozen_step(name), tolerance=1e-8, strategy=strategy)
    assert result.status.converged
    assert result.iterations <= 20
    assert result.history[-1] <= 1e-4 * result.history[-3]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_pairs_of_the_cards_keep_a_positive_number(strategy):
    """The slip of a contact that parts may be anything; were it to end at 0, all nine pairs of its friction would be
    zero twice, and the end linear.
    """
    problem = frozen_step("cards, 3 storeys")
    method = find_method("fischer_newton", "polyhedral")
    settings = kernel_settings_of(method, SolverOptions(tolerance=1e-10, strategy=strategy), "polyhedral")
    rows = RowArrays(*(array.copy() for array in problem.rows))
    rows.impulse[:] = 0.0
    velocity = problem.free_velocity.copy()
    islands = single_island(rows, len(velocity))
    workspace = method.allocate(len(rows.impulse), len(velocity), 0)
    status, _, _, scale, _ = method.solve_island(rows, islands, 0, problem.free_velocity, velocity, workspace, settings)
    assert Status(status).converged
    # in the order of fischer_state.prepare_state
    unknowns, slacks = workspace.unknowns[0], workspace.unknowns[3]
    used = workspace.first_unknown[int(rows.count[0])]
    assert np.maximum(unknowns, slacks)[:used].min() > 1e-8 * scale


def test_without_room_for_the_factor_sweeps_precondition():
    """The same step by more products, where ``elimination`` found no room."""
    parts = Parts(random_problem(12, 30, friction=0.4, seed=4))
    x = parts.random_unknowns(2)
    with_factor = parts.newton_step(x, 1e-4, factored=True)[0]
    few = parts.products
    parts.system.count[FITS] = 0
    p, q = parts.slopes(x)
    factor_bodies(parts.compact, parts.first_unknown, parts.corners, p, q, 1e-4, parts.system)
    assert parts.system.count[FACTORED] == 0
    without = parts.newton_step(x, 1e-4)[0]
    assert parts.products > 5 * few
    assert without == pytest.approx(with_factor, rel=1e-6, abs=1e-7 * np.abs(without).max())


@pytest.mark.nightly  # compiles a step of its own
def test_a_stack_stands_still_in_the_stepper():
    """A stack of three in the stepper stands still; iterations stay few once the start is warm."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(shape=Box((5.0, 5.0, 0.0)), kind=BodyKind.STATIC, friction=0.7)
    for level in range(3):
        builder.add_body(shape=Box((0.5,) * 3), position=(0.0, 0.0, 0.5 + level), friction=0.7)
    simulation = Simulation(builder.build(), SimulationOptions(method="fischer_newton", friction="polyhedral"))
    start = simulation.poses()[0]
    reports = [simulation.advance_frame() for _ in range(24)]
    assert np.abs(simulation.poses()[0] - start).max() < 1e-5
    assert sum(report.missed for report in reports) == 0
    assert reports[-1].iterations <= 8
