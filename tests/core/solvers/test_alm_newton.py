"""alm_newton solves contacts with exact friction: closed forms, independent solvers, equivalences, failures."""

import numpy as np
import pytest
from contact_problems import dense_form, random_problem

from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.problem import ContactProblem, SolverOptions, Status, kernel_settings
from cairn.solver_core.problem.residuals import cone_natural_map
from cairn.solver_core.problem.rows import BOX_FRICTION, CONE_FRICTION, RowArrays, allocate_rows, single_island
from cairn.solver_core.scenes import pyramid
from cairn.solver_core.scenes.cards import card_house
from cairn.solver_core.scenes.stacks import stack
from cairn.solver_core.scenes.wall import standing_wall
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solve import solve_contacts
from cairn.solver_core.solvers.linear_algebra.body_graph import build_body_graph
from cairn.solver_core.solvers.linear_algebra.elimination import find_elimination
from cairn.solver_core.solvers.newton.alm_hessian import assemble, multiply_hessian
from cairn.solver_core.solvers.newton.alm_newton import solve_alm_newton
from cairn.solver_core.solvers.newton.alm_system import (
    fill_stiffness,
    group_rows,
    measure_speeds,
    project_rows,
    settle_speeds,
    subtract_stiffness,
)
from cairn.solver_core.solvers.newton.alm_workspace import allocate_alm_workspace
from cairn.solver_core.solvers.newton.cone import project_contacts
from cairn.solver_core.solvers.registry import find_method, kernel_settings_of

pytestmark = pytest.mark.one_python

TOLERANCE = 1e-9
each_friction = pytest.mark.parametrize("friction", ["cone", "box"])


def solve(problem, friction="cone", r0=None, **options):
    return solve_contacts(
        problem,
        "alm_newton",
        friction,
        r0,
        SolverOptions(**({"tolerance": TOLERANCE, "max_iterations": 300} | options)),
    )


def run_kernel(problem, friction="cone", workspace=None, start=None, **options):
    """Call the kernel itself; returns its outcome, impulses, velocities and workspace."""
    options = {"tolerance": TOLERANCE, "max_iterations": 300} | options
    method = find_method("alm_newton", friction)
    settings = kernel_settings_of(method, SolverOptions(**options), friction)
    rows = RowArrays(*(array.copy() for array in problem.rows))
    count = int(rows.count[1])
    rows.impulse[:] = 0.0
    velocity = problem.free_velocity.copy()
    if start is not None:
        rows.impulse[:count] = start
        for row in range(count):
            block = row // 3
            velocity[rows.body_a[block]] += rows.response[row, :6] * start[row]
            velocity[rows.body_b[block]] += rows.response[row, 6:] * start[row]
    workspace = workspace or allocate_alm_workspace(len(rows.impulse), len(velocity), 300)
    islands = single_island(rows, len(velocity))
    outcome = solve_alm_newton(rows, islands, 0, problem.free_velocity, velocity, workspace, settings)
    return outcome, rows.impulse[:count], velocity, workspace


def standing_stack(count=5, top_mass=1.0, frames=0):
    simulation = Simulation(
        stack(count, top_mass=top_mass).build_model(), SimulationOptions(method="alm_newton", friction="cone")
    )
    for _ in range(frames):
        simulation.advance_frame()
    return simulation.contact_problem()


def cone_residual(problem, r):
    """Residual of exact Coulomb friction on the explicit W, by a formula of its own."""
    matrix, b = dense_form(problem)
    explicit = ContactProblem.from_delassus(matrix, b, problem.rows.friction[1 : len(b) : 3])
    return cone_natural_map(explicit.delassus, r)


# Trivial cases and closed forms


def test_no_contact_takes_no_step():
    """Bodies in free flight: done before the first step."""
    problem = random_problem(3, 2)
    problem.rows.count[:] = 0
    outcome, *_, workspace = run_kernel(problem)
    assert outcome[0] == Status.CONVERGED_ABSOLUTE
    assert outcome[1] == 0
    assert workspace.progress.steps[0] == workspace.progress.factorisations[0] == 0


@each_friction
def test_started_at_the_solution_it_takes_no_step(friction):
    """A solution as start is returned as it is."""
    problem = random_problem(8, 12, seed=1)
    first = solve(problem, friction)
    again = solve(problem, friction, r0=first.r, tolerance=2.0 * TOLERANCE)
    assert again.iterations == 0
    assert np.array_equal(again.r, first.r)


def point_on_plane(mu, tangential, mass=2.0):
    """A point mass that hits a plane at 3 m/s and slips at ``tangential`` along the first tangent."""
    problem = random_problem(2, 1, friction=mu)
    rows = problem.rows
    rows.jacobian[:3] = 0.0
    rows.jacobian[:3, 6:9] = np.eye(3)[[2, 0, 1]]
    rows.response[:3] = rows.jacobian[:3] / mass
    rows.diagonal[:3] = 1.0 / mass
    rows.body_mass[1] = mass * np.eye(6)
    problem.free_velocity[1] = [tangential, 0.0, -3.0, 0.0, 0.0, 0.0]
    return problem


@each_friction
@pytest.mark.parametrize("tangential", [0.5, 5.0])
def test_a_point_that_hits_a_plane(friction, tangential):
    """It stops dead where friction suffices, else it loses mu times its approach."""
    result = solve(point_on_plane(0.3, tangential), friction)
    braked = min(tangential, 0.3 * 3.0)
    # the residual [m/s] is at most tolerance times scale, and W is 1/2
    allowed = 2.0 * TOLERANCE * max(3.0, tangential)
    assert result.r == pytest.approx([6.0, -2.0 * braked, 0.0], abs=2.0 * allowed)
    assert result.velocity[1] == pytest.approx([tangential - braked, 0.0, 0.0, 0.0, 0.0, 0.0], abs=2.0 * allowed)


def test_friction_has_no_preferred_direction():
    """The cone brakes a slip at any angle alike and straight; the box brakes the diagonal sqrt(2) times as much."""
    for angle in np.linspace(0.0, 2.0 * np.pi, 13):
        problem = point_on_plane(0.3, 0.0)
        problem.free_velocity[1, :2] = 5.0 * np.cos(angle), 5.0 * np.sin(angle)
        friction = solve(problem).r[1:]
        assert friction == pytest.approx([-1.8 * np.cos(angle), -1.8 * np.sin(angle)], abs=1e-7)
    problem.free_velocity[1, :2] = 5.0 * np.sqrt(0.5), 5.0 * np.sqrt(0.5)
    assert np.linalg.norm(solve(problem, "box").r[1:]) == pytest.approx(1.8 * np.sqrt(2.0), rel=1e-7)


def test_a_stack_bears_its_weight():
    """Five boxes of 1 kg: the contacts below the k-th box bear (5 - k) g h in sum, and nothing moves."""
    problem = standing_stack(5)
    result = solve(problem)
    step = 9.81 / 96.0
    below = np.maximum(problem.rows.body_a[:20], problem.rows.body_b[:20])
    # free flight of the first substep lasts half of it: no body has moved before
    share = -problem.free_velocity[1, 2] / step
    for box in range(1, 6):
        assert result.r[0::3][below[:20] == box].sum() == pytest.approx((6 - box) * step * share, rel=1e-7)
    assert np.abs(result.velocity).max() <= 20.0 * TOLERANCE * step


# Against independent solvers


@pytest.mark.parametrize("seed", range(4))
def test_frictionless_agrees_with_clarabel(seed):
    """Velocities minimise 1/2 |v - v_free|^2 in M with J v + bias >= 0, a convex problem."""
    clarabel = pytest.importorskip("clarabel")
    sparse = pytest.importorskip("scipy.sparse")
    problem = random_problem(6, 12, friction=0.0, seed=seed, redundant=4)
    rows, bodies = problem.rows, len(problem.free_velocity)
    mass = np.zeros((6 * bodies, 6 * bodies))
    for body in range(1, bodies):
        mass[6 * body : 6 * body + 6, 6 * body : 6 * body + 6] = rows.body_mass[body]
    jacobian = np.zeros((12, 6 * bodies))
    for contact in range(12):
        for body, columns in ((rows.body_a[contact], slice(0, 6)), (rows.body_b[contact], slice(6, 12))):
            jacobian[contact, 6 * body : 6 * body + 6] = rows.jacobian[3 * contact, columns]
    free = slice(6, 6 * bodies)
    v_free = problem.free_velocity.ravel()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(mass[free, free])),
        -mass[free, free] @ v_free[free],
        sparse.csc_matrix(-jacobian[:, free]),
        rows.bias[0:36:3].copy(),
        [clarabel.NonnegativeConeT(12)],
        settings,
    ).solve()
    result = solve(problem)
    assert result.status.converged
    assert result.velocity.ravel()[free] == pytest.approx(np.array(solution.x), abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_solutions_obey_exact_friction_on_the_explicit_matrix(seed):
    """De Saxce's residual on J M^-1 J' is small, on chains with redundant contacts and much slip."""
    problem = random_problem(8, 14, friction=0.6, seed=seed, redundant=4)
    result = solve(problem)
    assert result.status.converged
    # two measures of one error: norms over 42 rows, and weights that differ from contact to contact
    assert cone_residual(problem, result.r) <= 100.0 * TOLERANCE


@pytest.mark.parametrize("seed", range(3))
def test_explicit_matrix_and_rows_give_the_same_motion(seed):
    """u is the same from rows and from their Delassus matrix; forces need not be."""
    problem = random_problem(8, 14, friction=0.4, seed=seed)
    matrix, b = dense_form(problem)
    explicit = ContactProblem.from_delassus(matrix, b, problem.rows.friction[1:42:3])
    by_rows, by_matrix = solve(problem, tolerance=1e-11), solve(explicit, tolerance=1e-11)
    assert by_matrix.status.converged
    assert matrix @ by_matrix.r == pytest.approx(matrix @ by_rows.r, abs=1e-8)


@each_friction
@pytest.mark.parametrize(("redundant", "asymmetry"), [(6, 0.0), (0, 1e-3)], ids=["singular", "asymmetric"])
def test_an_explicit_matrix_may_be_singular_or_asymmetric(friction, redundant, asymmetry):
    """Twice the same contacts; and W disturbed above its diagonal: both are solved as they are."""
    problem = random_problem(8, 12, friction=0.5, seed=3, redundant=redundant)
    matrix, b = dense_form(problem)
    matrix += asymmetry * np.triu(np.random.default_rng(0).normal(size=matrix.shape), 1) * np.abs(matrix).max()
    explicit = ContactProblem.from_delassus(matrix, b, np.full(12, 0.5))
    result = solve(explicit, friction, tolerance=1e-11)
    assert result.status.converged
    if friction == "cone":
        assert cone_natural_map(explicit.delassus, result.r) <= 1e-9


# Gradient and Hessian


@kernel
def system_at(rows, islands, workspace, model, penalty, velocity, vector, product, projected):
    """Projected impulses, H in the factor's place and H times a vector, at these velocities."""
    build_body_graph(rows, islands, 0, workspace.graph)
    find_elimination(workspace.graph, workspace.elimination)
    group_rows(rows, islands, 0, workspace.group, workspace.by_row.weight, 0.0)
    measure_speeds(rows, islands, 0, workspace.group, velocity, 1.0, workspace.by_row.speed)
    project_rows(rows, islands, 0, workspace.group, model, 0.0, penalty, workspace.by_row, 0.0, projected)
    fill_stiffness(
        rows, islands, 0, workspace.group, model, penalty, workspace.by_row, workspace.factored, workspace.stiffness
    )
    assemble(
        rows,
        islands,
        0,
        workspace.group,
        workspace.graph,
        workspace.elimination,
        workspace.factor,
        True,
        workspace.stiffness,
        workspace.factored,
    )
    multiply_hessian(rows, islands, 0, workspace.group, workspace.graph, workspace.stiffness, vector, product)


class SystemAt:
    """phi, its gradient and its Hessian of a random problem at random multipliers, by kernels and by NumPy."""

    def __init__(self, model, seed, penalty=7.0):
        self.problem = random_problem(6, 12, friction=0.5, seed=seed)
        self.model, self.penalty = model, penalty
        rng = np.random.default_rng(seed)
        rows = self.problem.rows
        # the last contact becomes a bilateral row, a row with two bounds and a row with one
        rows.normal_row[33:36] = -1
        rows.lower[33:36] = [-np.inf, -0.3, 0.0]
        rows.upper[33:36] = [np.inf, 0.2, np.inf]
        self.islands = single_island(rows, 6)
        self.workspace = allocate_alm_workspace(36, 6)
        self.workspace.by_row.multiplier[:] = rng.normal(size=36)
        self.workspace.by_row.multiplier[0:33:3] = rng.uniform(0.0, 3.0, 11)
        self.workspace.by_row.shift[0:33:3] = rng.uniform(0.0, 0.3, 11)
        self.velocity = 0.3 * rng.normal(size=(6, 6))
        self.velocity[0] = 0.0
        self.mass = np.zeros((36, 36))
        self.jacobian = np.zeros((36, 36))
        for body in range(1, 6):
            self.mass[6 * body : 6 * body + 6, 6 * body : 6 * body + 6] = rows.body_mass[body]
        for row in range(36):
            for body, columns in ((rows.body_a[row // 3], slice(0, 6)), (rows.body_b[row // 3], slice(6, 12))):
                if body > 0:
                    self.jacobian[row, 6 * body : 6 * body + 6] = rows.jacobian[row, columns]

    def at(self, velocity, vector=None):
        """(p, H as a dense matrix, H vector) by the kernels."""
        vector = np.zeros((6, 6)) if vector is None else vector
        product, projected = np.zeros((6, 6)), np.zeros(36)
        system_at(
            self.problem.rows,
            self.islands,
            self.workspace,
            self.model,
            self.penalty,
            velocity,
            vector,
            product,
            projected,
        )
        return projected, self._dense_hessian(), product

    def energy(self, velocity):
        """phi, from its formula; rows that are no contact have the Moreau envelope of their interval."""
        rows, workspace = self.problem.rows, self.workspace
        u = self.jacobian @ velocity.ravel() + rows.bias[:36]
        weight = np.repeat(3.0 / rows.diagonal.reshape(-1, 3).sum(axis=1), 3)
        weight[33:] = 1.0 / rows.diagonal[33:36]
        rho = self.penalty * weight
        z = workspace.by_row.multiplier - rho * (u + workspace.by_row.shift)
        p, derivative = np.empty(33), np.empty((33, 3))
        project_contacts(self.model, True, rows.friction[1:33:3].copy(), z[:33].copy(), p, derivative)
        clipped = np.clip(z[33:], rows.lower[33:36], rows.upper[33:36])
        envelope = np.sum(p**2 / (2.0 * rho[:33])) + np.sum((z[33:] ** 2 - (z[33:] - clipped) ** 2) / (2.0 * rho[33:]))
        moved = (velocity - self.problem.free_velocity).ravel()
        return 0.5 * moved @ self.mass @ moved + envelope

    def gradient(self, velocity):
        """M (v - v_free) - J' p."""
        projected, _, _ = self.at(velocity)
        return self.mass @ (velocity - self.problem.free_velocity).ravel() - self.jacobian.T @ projected

    def _dense_hessian(self):
        graph, elimination, factor = self.workspace.graph, self.workspace.elimination, self.workspace.factor
        hessian = np.zeros((36, 36))
        bodies = graph.body[elimination.order[: graph.count[0]]]
        for place, body in enumerate(bodies):
            own = slice(6 * body, 6 * body + 6)
            block = factor.diagonal[36 * place : 36 * place + 36].reshape(6, 6).T
            hessian[own, own] = block
            for entry in range(elimination.column_start[place], elimination.column_start[place + 1]):
                row = bodies[elimination.row[entry]]
                block = factor.blocks[36 * entry : 36 * entry + 36].reshape(6, 6).T
                hessian[6 * row : 6 * row + 6, own] = block
                hessian[own, 6 * row : 6 * row + 6] = block.T
        return hessian


@pytest.mark.parametrize("model", [CONE_FRICTION, BOX_FRICTION], ids=["cone", "box"])
@pytest.mark.parametrize("seed", range(4))
def test_impulses_are_minus_the_gradient_of_the_energy(model, seed):
    """M (v - v_free) - J' p agrees with central differences of phi, for all kinds of rows."""
    system = SystemAt(model, seed)
    gradient = system.gradient(system.velocity)
    step = 1e-5
    for column in range(6, 36):
        ahead, behind = system.velocity.copy(), system.velocity.copy()
        ahead.ravel()[column] += step
        behind.ravel()[column] -= step
        slope = (system.energy(ahead) - system.energy(behind)) / (2.0 * step)
        assert slope == pytest.approx(gradient[column], abs=1e-5 * np.abs(gradient).max())


@pytest.mark.parametrize("model", [CONE_FRICTION, BOX_FRICTION], ids=["cone", "box"])
@pytest.mark.parametrize("seed", range(4))
def test_hessian_is_the_derivative_of_the_gradient(model, seed):
    """The assembled blocks and the product without assembly agree with differences of the gradient."""
    system = SystemAt(model, seed)
    rng = np.random.default_rng(seed)
    vector = rng.normal(size=(6, 6))
    vector[0] = 0.0
    _, hessian, product = system.at(system.velocity, vector)
    assert product.ravel()[6:] == pytest.approx((hessian @ vector.ravel())[6:], abs=1e-11 * np.abs(hessian).max())
    step = 1e-7
    difference = system.gradient(system.velocity + step * vector) - system.gradient(system.velocity - step * vector)
    expected = (hessian @ vector.ravel())[6:]
    assert difference[6:] / (2.0 * step) == pytest.approx(expected, abs=1e-5 * np.abs(expected).max())


# Equivalences


@each_friction
@pytest.mark.parametrize("seed", range(3))
def test_without_room_for_the_factor_conjugate_gradients_give_the_same_motion(friction, seed):
    """Block-diagonal preconditioner instead of the whole factor: slower, the same velocities."""
    problem = random_problem(12, 20, friction=0.4, seed=seed)
    whole_outcome, _, by_factor, whole = run_kernel(problem, friction)
    small = allocate_alm_workspace(60, 12, 300)
    small = small._replace(elimination=small.elimination._replace(row=np.zeros(1, np.int64)))
    outcome, _, by_gradients, small = run_kernel(problem, friction, workspace=small, max_iterations=2000)
    assert whole_outcome[0] == outcome[0] == Status.CONVERGED_RELATIVE
    assert whole.elimination.column_start[11] > 0
    assert small.elimination.column_start[11] == 0
    assert by_gradients == pytest.approx(by_factor, abs=1e-6)


def test_a_used_workspace_gives_the_same_bits():
    """What another problem left in the workspace, its graph and its factor, changes nothing."""
    problem, other = random_problem(10, 20, seed=5), random_problem(10, 20, seed=6)
    _, fresh, _, workspace = run_kernel(problem)
    run_kernel(other, workspace=workspace)
    _, used, _, _ = run_kernel(problem, workspace=workspace)
    _, again, _, _ = run_kernel(problem, workspace=workspace)
    assert fresh.tobytes() == used.tobytes() == again.tobytes()


@each_friction
@pytest.mark.parametrize(("bodies", "blocks", "seed"), [(10, 20, 7), (6, 4, 1), (6, 3, 2), (6, 2, 3)])
def test_what_an_earlier_solve_has_left_means_nothing(friction, bodies, blocks, seed):
    """Other numbers all over the workspace: the same bits, also where some of the island's bodies touch nothing."""
    problem = random_problem(bodies, blocks, seed=seed, friction=0.4)
    _, fresh, velocity, workspace = run_kernel(problem, friction)
    random = np.random.default_rng(8)
    for array in floats_in(workspace):
        array[...] = random.normal(scale=10.0, size=array.shape)
    workspace.progress.work[0] = 1000.0
    _, used, other_velocity, _ = run_kernel(problem, friction, workspace=workspace)
    assert fresh.tobytes() == used.tobytes()
    assert velocity.tobytes() == other_velocity.tobytes()


def floats_in(arrays):
    """All arrays of floats in nested tuples."""
    if isinstance(arrays, tuple):
        return [found for part in arrays for found in floats_in(part)]
    return [arrays] if arrays.dtype == float else []


def test_room_for_more_rows_gives_the_same_bits():
    """Buffers that have grown during a bake change nothing."""
    problem = random_problem(10, 20, seed=5)
    _, tight, _, _ = run_kernel(problem, workspace=allocate_alm_workspace(60, 10))
    _, wide, _, _ = run_kernel(problem, workspace=allocate_alm_workspace(600, 10))
    assert tight.tobytes() == wide.tobytes()


@each_friction
def test_order_of_bodies_does_not_matter(friction):
    """Bodies renumbered: the same motion to the tolerance."""
    problem = random_problem(9, 15, seed=2, friction=0.3)
    order = np.random.default_rng(0).permutation(9)
    place = np.argsort(order)
    rows = RowArrays(*(array.copy() for array in problem.rows))
    rows.body_a[:], rows.body_b[:] = place[rows.body_a], place[rows.body_b]
    rows.body_mass[:] = problem.rows.body_mass[order]
    renumbered = ContactProblem(rows, problem.free_velocity[order])
    plain, other = solve(problem, friction), solve(renumbered, friction)
    assert other.velocity[place] == pytest.approx(plain.velocity, abs=1e-6)


def test_an_island_is_solved_as_if_it_were_alone():
    """Two problems in one set of rows: each island's impulses are those of its own problem, to the bit."""
    parts = [random_problem(5, 8, seed=seed) for seed in (0, 1)]
    rows = allocate_rows(16, 48, 10)
    for number, part in enumerate(parts):
        span, blocks = slice(24 * number, 24 * number + 24), slice(8 * number, 8 * number + 8)
        for name in ("jacobian", "response", "diagonal", "bias", "lower", "upper", "friction"):
            getattr(rows, name)[span] = getattr(part.rows, name)[:24]
        normal = part.rows.normal_row[:24]
        rows.normal_row[span] = np.where(normal >= 0, normal + 24 * number, -1)
        rows.body_a[blocks], rows.body_b[blocks] = part.rows.body_a + 5 * number, part.rows.body_b + 5 * number
        rows.body_mass[5 * number : 5 * number + 5] = part.rows.body_mass
    rows.block_row[:] = 3 * np.arange(17)
    rows.count[:] = 16, 48
    both = ContactProblem(rows, np.vstack([part.free_velocity for part in parts]))
    islands = single_island(rows, 10)
    islands.block_first[:3], islands.body_first[:3], islands.count[0] = (0, 8, 16), (0, 5, 10), 2
    settings = kernel_settings(SolverOptions(tolerance=TOLERANCE, max_iterations=300), "cone")
    workspace, velocity = allocate_alm_workspace(48, 10), both.free_velocity.copy()
    for island in range(2):
        solve_alm_newton(rows, islands, island, both.free_velocity, velocity, workspace, settings)
    for number, part in enumerate(parts):
        _, alone, _, _ = run_kernel(part)
        assert rows.impulse[24 * number : 24 * number + 24].tobytes() == alone.tobytes()


def test_rows_of_all_kinds_at_once():
    """Contacts beside a ball joint, a motor at its limit and one within: each row obeys its own law."""
    problem = random_problem(6, 12, friction=0.5, seed=8)
    rows = problem.rows
    rows.normal_row[27:36] = -1
    rows.lower[27:36] = [-np.inf] * 6 + [-0.01, -100.0, -np.inf]
    rows.upper[27:36] = [np.inf] * 6 + [0.01, 100.0, 0.0]
    rows.bias[33] = 50.0
    result = solve(problem)
    matrix, b = dense_form(problem)
    u = matrix @ result.r + b
    allowed = TOLERANCE * np.abs(b).max()
    assert result.status.converged
    assert np.abs(u[27:33]).max() <= allowed
    assert result.r[33] == -0.01
    assert u[33] > 1.0
    assert abs(u[34]) <= allowed
    assert result.r[35] <= 0.0
    assert u[35] <= allowed
    normal, slip = result.r[0:27:3], np.linalg.norm(result.r[:27].reshape(-1, 3)[:, 1:], axis=1)
    assert np.all(slip <= 0.5 * normal * (1.0 + 1e-12))


def test_a_friction_row_without_its_twin_follows_its_normal_row():
    """One friction row in a block of two: its bound is mu times the normal impulse at the solution."""
    rows = allocate_rows(1, 2, 2)
    rows.count[:] = 1, 2
    rows.block_row[:] = 0, 2
    rows.body_b[0] = 1
    rows.jacobian[0, 8] = rows.jacobian[1, 6] = 1.0
    rows.response[:] = rows.jacobian
    rows.diagonal[:] = 1.0
    rows.upper[0] = np.inf
    rows.normal_row[1] = 0
    rows.friction[1] = 0.25
    rows.body_mass[1] = np.eye(6)
    result = solve(ContactProblem(rows, np.array([[0.0] * 6, [5.0, 0.0, -3.0, 0.0, 0.0, 0.0]])))
    assert result.status.converged
    assert result.r == pytest.approx([3.0, -0.75], abs=1e-7)


# How it converges, and how it fails


def test_a_loose_tolerance_needs_fewer_steps():
    """1e-2 against 1e-9, from a cold start."""
    problem = random_problem(20, 40, seed=4)
    assert solve(problem, tolerance=1e-2).iterations < solve(problem).iterations


@pytest.mark.parametrize(("count", "top_mass", "allowed"), [(10, 1.0, 8), (10, 1000.0, 12), (30, 1.0, 10)])
def test_stacks_take_few_factorisations(count, top_mass, allowed):
    """From a cold start to 1e-8, also with a top a thousand times heavier."""
    _, _, _, workspace = run_kernel(standing_stack(count, top_mass), tolerance=1e-8)
    assert 0 < workspace.progress.factorisations[0] <= allowed


def test_a_warm_start_needs_at_most_two_factorisations():
    """The step after a frame, from the impulses of the last one."""
    problem = standing_stack(10, 100.0, frames=1)
    start = problem.rows.impulse[:120].copy()
    outcome, _, _, workspace = run_kernel(problem, start=start, tolerance=1e-8)
    assert outcome[0] <= Status.CONVERGED_RELATIVE
    assert workspace.progress.factorisations[0] <= 2


def first_step(scene):
    """The contacts that a scene begins with."""
    return Simulation(scene.build_model(), SimulationOptions(method="alm_newton", friction="cone")).contact_problem()


SCENES = {
    "card house": lambda: first_step(card_house()),
    "pyramid": lambda: first_step(pyramid(8)),
    "wall": lambda: first_step(standing_wall(6, 6)),
}


@pytest.mark.parametrize("make", SCENES.values(), ids=list(SCENES))
def test_a_disturbed_solution_is_found_again_with_two_factorisations(make):
    """All impulses off by up to 1e-9 of the largest, as at rest: contacts do not open and close at random."""
    problem = make()
    solution = solve(problem, tolerance=1e-9).r
    rng = np.random.default_rng(0)
    start = solution + 1e-9 * np.abs(solution).max() * rng.uniform(-1.0, 1.0, len(solution)) * (solution != 0.0)
    outcome, _, _, workspace = run_kernel(problem, start=start, tolerance=1e-8)
    assert outcome[0] == Status.CONVERGED_RELATIVE
    assert 0 < workspace.progress.factorisations[0] <= 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: standing_stack(10, 100.0),
        lambda: random_problem(8, 14, friction=0.6, seed=3),
        *SCENES.values(),
    ],
    ids=["heavy top", "sliding", *SCENES],
)
def test_the_last_two_steps_gain_four_digits(make):
    """Newton's method ends superlinearly, also where contacts are redundant or slide."""
    history = solve(make()).history
    assert history[-1] <= 1e-4 * history[-3]


@kernel
def settle(rows, islands, workspace, noise, speed, settled, impulse):
    """Settle speeds, and subtract the stiffness times what was settled."""
    group_rows(rows, islands, 0, workspace.group, workspace.by_row.weight, 0.0)
    settle_speeds(rows, islands, 0, workspace.group, noise, workspace.by_row.multiplier, settled)
    subtract_stiffness(rows.block_row, islands, 0, workspace.group, workspace.stiffness, speed, settled, impulse)


def test_speeds_below_the_noise_settle_as_the_impulses_say():
    """Contacts that push stand still, others open, and what is faster stays, as in plain Python; so do bounded rows."""
    problem = random_problem(4, 80, seed=2)
    rows = problem.rows
    rows.normal_row[237:240] = -1
    rows.lower[237:240], rows.upper[237:240] = [-np.inf, 0.0, -1.0], [np.inf, np.inf, 1.0]
    rng = np.random.default_rng(2)
    workspace = allocate_alm_workspace(len(rows.impulse), 4)
    workspace.by_row.multiplier[:240:3] = rng.integers(0, 2, 80)
    workspace.stiffness[:240] = rng.normal(size=(240, 3))
    speed = rng.uniform(-3.0, 3.0, len(rows.impulse))
    workspace.by_row.multiplier[237:240] = 0.0
    speed[237:240] = 0.7, 0.4, -1.2
    settled, impulse = speed.copy(), np.zeros(len(rows.impulse))
    settle(rows, single_island(rows, 4), workspace, 1.5, speed, settled, impulse)
    kinds = set()
    for row in range(0, 237, 3):
        normal, *slip = speed[row : row + 3]
        pushes = workspace.by_row.multiplier[row] > 0.0
        stays, sticks = abs(normal) <= 1.5, np.hypot(*slip) <= 1.5
        if pushes:
            expected = [0.0 if stays else normal, *([0.0, 0.0] if sticks else slip)]
        else:
            expected = [max(normal, 1.5), 0.0, 0.0] if normal >= -1.5 else [normal, *slip]
        kinds.add((pushes, stays, sticks))
        assert settled[row : row + 3].tolist() == expected
        change = workspace.stiffness[row : row + 3] @ (speed[row : row + 3] - expected)
        assert impulse[row : row + 3] == pytest.approx(-change, abs=1e-12)
    assert len(kinds) == 8
    # bilateral, at its lower bound, between its bounds
    assert settled[237:240].tolist() == [0.7, 1.5, 0.0]
    assert impulse[237:240] == pytest.approx(-workspace.stiffness[237:240, 0] * (speed - settled)[237:240], abs=1e-12)


def test_too_few_steps_are_told():
    """Two steps: max_iterations, with an iterate that is no worse than the start, and consistent velocities."""
    problem = random_problem(20, 40, seed=4)
    result = solve(problem, max_iterations=2)
    assert result.status is Status.MAX_ITERATIONS
    assert result.iterations == 2
    assert result.residual <= solve(problem, max_iterations=0).residual
    matrix, b = dense_form(problem)
    rows = problem.rows
    u = [rows.jacobian[i] @ result.velocity[[rows.body_a[i // 3], rows.body_b[i // 3]]].ravel() for i in range(120)]
    assert u == pytest.approx(matrix @ result.r + b, abs=1e-9)


def test_a_tolerance_below_rounding_ends_without_nan():
    """Nothing is exact: it stops by itself and returns its best."""
    result = solve(random_problem(8, 14, seed=3), tolerance=0.0, max_iterations=2000)
    assert result.status in (Status.STAGNATED, Status.CONVERGED_ABSOLUTE)
    assert result.residual <= 1e-11
    assert np.all(np.isfinite(result.r))


@each_friction
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_numbers_are_a_failure_without_nan(friction, value):
    """NaN or infinity in a bias: status failed, impulses zero, velocities those of free flight."""
    problem = random_problem(4, 6)
    problem.rows.bias[4] = value
    result = solve(problem, friction)
    assert result.status is Status.FAILED
    assert not result.r.any()
    assert np.array_equal(result.velocity, problem.free_velocity)
