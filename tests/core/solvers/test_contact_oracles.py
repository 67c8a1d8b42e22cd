"""Every contact method against independent oracles, on contacts, joints, motors and limits at once.

Small problems: all states of all rows by enumeration (apart, sticks, slides along an edge or at a corner of the
polygon of friction; a row at a bound or between them), each a linear system. Frictionless ones of any size: Clarabel.
Others: the natural map on the explicit W.
"""

from functools import cache
from itertools import product

import numpy as np
import pytest
import scipy.sparse
from contact_problems import dense_form, natural_map_reference, random_problem
from nightly import in_turns
from scipy.optimize import brentq

from cairn.solver_core.problem.problem import ContactProblem, SolverOptions
from cairn.solver_core.problem.rows import allocate_rows
from cairn.solver_core.solve import solve_contacts
from cairn.solver_core.solvers.registry import METHODS, find_method

TOLERANCE = 1e-9
PAIRS = [(method, friction) for method in METHODS for friction in find_method(method).frictions]
each_method = pytest.mark.parametrize(("method", "friction"), PAIRS)

# kinds of blocks by their rows: along (0 to 2) or about (3 to 5) an axis of the block, lower and upper bound
_FREE, _MOTOR, _ONE_WAY = (-np.inf, np.inf), (-0.3, 0.3), (0.0, np.inf)
JOINT = [(axis, *_FREE) for axis in range(3)]
WELD = [(axis, *_FREE) for axis in range(6)]
HINGE = [*WELD[:5], (5, *_MOTOR)]
MOTOR, LIMIT = [(5, *_MOTOR)], [(0, *_ONE_WAY)]
CONTACT = None


def solve(problem, method, friction):
    options = SolverOptions(tolerance=TOLERANCE, max_iterations=20_000)
    return solve_contacts(problem, method, friction, options=options)


def mechanism(seed, blocks, body_count=3, friction=0.5, copies=1):
    """Blocks (kind, body a, body b) between random bodies, each ``copies`` times.

    Some motion obeys all rows, but motors, which may miss their speed.
    """
    rng = np.random.default_rng(seed)
    mass = random_problem(body_count, body_count, seed=seed).rows.body_mass[:body_count]
    inverse = np.zeros((body_count, 6, 6))
    inverse[1:] = np.linalg.inv(mass[1:])
    sizes = [3 if kind is CONTACT else len(kind) for kind, _, _ in blocks]
    rows = allocate_rows(copies * len(blocks), copies * sum(sizes), body_count)
    rows.count[:] = copies * len(blocks), copies * sum(sizes)
    rows.body_mass[:body_count] = mass
    allowed = rng.normal(size=(body_count, 6))
    allowed[0] = 0.0
    row = 0
    for place, ((kind, a, b), size) in enumerate(zip(blocks * copies, sizes * copies, strict=True)):
        span = slice(row, row + size)
        rows.body_a[place], rows.body_b[place] = a, b
        rows.block_row[place + 1] = row + size
        if place >= len(blocks):
            twin = rows.block_row[place % len(blocks)]
            for array in (rows.jacobian, rows.bias, rows.lower, rows.upper):
                array[span] = array[twin : twin + size]
        else:
            axes, (arm_a, arm_b) = np.linalg.qr(rng.normal(size=(3, 3)))[0], 0.5 * rng.normal(size=(2, 3))
            jacobian = np.vstack(
                [
                    np.hstack([-axes, -np.cross(arm_a, axes), axes, np.cross(arm_b, axes)]),
                    np.hstack([np.zeros((3, 3)), -axes, np.zeros((3, 3)), axes]),
                ]
            )
            if kind is CONTACT:
                rows.jacobian[span] = jacobian[:3]
                rows.upper[row] = np.inf
            else:
                order, rows.lower[span], rows.upper[span] = np.transpose(kind)
                rows.jacobian[span] = jacobian[order.astype(int)]
                speed = rows.jacobian[span, :6] @ allowed[a] + rows.jacobian[span, 6:] @ allowed[b]
                miss = np.array([rng.normal() if np.isfinite(upper) else 0.0 for _, _, upper in kind])
                rows.bias[span] = -speed + miss
        if kind is CONTACT:
            rows.normal_row[row + 1 : row + 3] = row
            rows.friction[row + 1 : row + 3] = friction
        rows.response[span, :6] = rows.jacobian[span, :6] @ inverse[a]
        rows.response[span, 6:] = rows.jacobian[span, 6:] @ inverse[b]
        row += size
    rows.diagonal[:] = np.sum(rows.jacobian * rows.response, axis=1)
    velocity = allowed + rng.normal(size=(body_count, 6))
    velocity[0] = 0.0
    return ContactProblem(rows, velocity)


# two bodies that move: rows of every kind, of which none is a combination of others
SMALL = {
    "joint, motor, two contacts": ((JOINT, 1, 2), (MOTOR, 0, 1), (CONTACT, 0, 1), (CONTACT, 0, 2)),
    "weld, motor, limit, contact": ((WELD, 1, 2), (MOTOR, 0, 1), (LIMIT, 0, 2), (CONTACT, 0, 2)),
    "hinge with motor, contact between": ((HINGE, 1, 2), (LIMIT, 0, 1), (CONTACT, 0, 1)),
}
SEEDS = range(3)


def corners_of(friction):
    """Corners of the set of friction impulses of a unit bound."""
    if friction == "box":
        return np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
    angles = 2.0 * np.pi * np.arange(8) / 8
    return np.column_stack([np.cos(angles), np.sin(angles)])


def row_states(rows, row):
    """States of a row with constant bounds: (equation in r, equation in u, right side, check)."""
    lower, upper = rows.lower[row], rows.upper[row]
    yield [0.0], [1.0], [0.0], lambda r, u: lower - 1e-9 <= r[0] <= upper + 1e-9
    if np.isfinite(lower):
        yield [1.0], [0.0], [lower], lambda r, u: u[0] >= -1e-9
    if np.isfinite(upper):
        yield [1.0], [0.0], [upper], lambda r, u: u[0] <= 1e-9


def contact_states(corners, mu):
    """States of a contact whose friction lies in a polygon: (3 equations in r, in u, right side, check)."""
    zero, unit = np.zeros((3, 3)), np.eye(3)
    yield unit, zero, np.zeros(3), lambda r, u: u[0] >= -1e-9

    edges = np.roll(corners, -1, axis=0) - corners
    edges /= np.linalg.norm(edges, axis=1)[:, None]
    outward = np.column_stack([edges[:, 1], -edges[:, 0]])
    reach = np.sum(outward * corners, axis=1)

    def inside(r):
        return r[0] >= -1e-9 and np.all(outward @ r[1:] <= mu * reach * r[0] + 1e-9)

    yield zero, unit, np.zeros(3), lambda r, u: inside(r)
    for k in range(len(corners)):
        # along edge k: on the edge's line, no slip along it, slip against its outward normal
        in_r = np.array([[0.0, 0.0, 0.0], [-mu * reach[k], *outward[k]], [0.0, 0.0, 0.0]])
        in_u = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, *edges[k]]])
        yield in_r, in_u, np.zeros(3), lambda r, u, k=k: outward[k] @ u[1:] <= 1e-9 and inside(r)
        # at corner k: slip against what lies between the normals of its two edges
        in_r = np.array([[0.0, 0.0, 0.0], [-mu * corners[k, 0], 1.0, 0.0], [-mu * corners[k, 1], 0.0, 1.0]])
        in_u = np.diag([1.0, 0.0, 0.0])
        sides = np.linalg.inv(np.column_stack([outward[k - 1], outward[k]]))
        yield in_r, in_u, np.zeros(3), lambda r, u, sides=sides: np.all(sides @ -u[1:] >= -1e-9) and r[0] >= -1e-9


def disc_states(mu):
    """States of a contact with Coulomb's disc that are systems of linear equations: apart, and sticking."""
    zero, unit = np.zeros((3, 3)), np.eye(3)
    yield unit, zero, np.zeros(3), lambda r, u: u[0] >= -1e-9
    yield zero, unit, np.zeros(3), lambda r, u: np.hypot(r[1], r[2]) <= mu * r[0] + 1e-9


def slide(mu, angle):
    """Equations of a contact whose friction points to ``angle`` at the disc's rim; slip is checked by the caller."""
    in_r = np.array([[0.0, 0.0, 0.0], [-mu * np.cos(angle), 1.0, 0.0], [-mu * np.sin(angle), 0.0, 1.0]])
    return in_r, np.diag([1.0, 0.0, 0.0]), np.zeros(3)


def solve_state(W, b, groups, states):
    """The impulses at which each group is in its state; None where there are none, or many."""
    matrix, right = np.zeros_like(W), np.zeros_like(b)
    for span, (in_r, in_u, target, *_) in zip(groups, states, strict=True):
        matrix[span, span] = in_r
        matrix[span] += np.atleast_2d(in_u) @ W[span]
        right[span] = target - np.atleast_2d(in_u) @ b[span]
    return None if np.linalg.cond(matrix) > 1e12 else np.linalg.solve(matrix, right)


def row_groups(problem):
    """Slices of the rows that have states together, and the normal rows among their starts."""
    rows, groups, row = problem.rows, [], 0
    normals = set(rows.normal_row[rows.normal_row >= 0])
    while row < rows.count[1]:
        groups.append(slice(row, row + (3 if row in normals else 1)))
        row = groups[-1].stop
    return groups, normals


@cache
def solutions_by_enumeration(name, seed, friction):
    """The problem, and the impulses of all states that hold."""
    problem = mechanism(seed, SMALL[name])
    W, b = dense_form(problem)
    groups, normals = row_groups(problem)
    mu = problem.rows.friction.max()
    if friction == "cone":
        of_contact = list(disc_states(mu))
    else:
        of_contact = list(contact_states(corners_of(friction), mu))
    choices = [of_contact if span.start in normals else list(row_states(problem.rows, span.start)) for span in groups]
    found = []
    for states in product(*choices):
        r = solve_state(W, b, groups, states)
        if r is not None and all(
            state[3](r[span], W[span] @ r + b[span]) for span, state in zip(groups, states, strict=True)
        ):
            found.append(r)
    if friction == "cone":
        found.extend(sliding_solutions(W, b, groups, normals, choices, mu))
    assert found
    return problem, np.array(found)


def sliding_solutions(W, b, groups, normals, choices, mu):
    """Impulses at which one contact, the only one, slides at the rim of Coulomb's disc: an angle to be found."""
    (contact,) = [place for place, span in enumerate(groups) if span.start in normals]
    span = groups[contact]
    for states in product(*[[None] if place == contact else choice for place, choice in enumerate(choices)]):

        def impulses(angle, states=states):
            chosen = [*states[:contact], slide(mu, angle), *states[contact + 1 :]]
            return solve_state(W, b, groups, chosen)

        def across(angle, impulses=impulses):
            slip = (W[span] @ impulses(angle) + b[span])[1:]
            return slip[0] * np.sin(angle) - slip[1] * np.cos(angle)

        angles = np.linspace(0.0, 2.0 * np.pi, 181)
        values = [across(angle) for angle in angles]
        for low, high, first, second in zip(angles, angles[1:], values, values[1:], strict=False):
            if first * second > 0.0:
                continue
            angle = brentq(across, low, high, xtol=1e-14)
            r = impulses(angle)
            u = W @ r + b
            holds = all(place == contact or states[place][3](r[part], u[part]) for place, part in enumerate(groups))
            against = u[span][1] * np.cos(angle) + u[span][2] * np.sin(angle)
            if holds and r[span.start] >= 0.0 and against <= 1e-9 and abs(across(angle)) < 1e-9:
                yield r


# angles of two contacts that slide on discs are no finite number of states
ENUMERABLE = [
    (method, friction, name)
    for name, blocks in SMALL.items()
    for method, friction in PAIRS
    if friction != "cone" or sum(kind is CONTACT for kind, _, _ in blocks) == 1
]


@pytest.mark.parametrize(("method", "friction", "name", "seed"), in_turns(ENUMERABLE, SEEDS, 1))
def test_solution_is_one_of_all_states(method, friction, name, seed):
    """Impulses are those of one of all combinations of states that hold."""
    problem, solutions = solutions_by_enumeration(name, seed, friction)
    result = solve(problem, method, friction)
    assert result.status.converged
    error = np.abs(result.r - solutions).max(axis=1).min()
    # a residual of 1e-9 leaves impulses as exact as W's condition, some 1e2 here, lets it
    assert error <= 1e-6 * np.abs(result.r).max()


# three bodies that move: more rows than the bodies have degrees of freedom
LARGE = {
    "joints and contacts": ((JOINT, 0, 1), (JOINT, 1, 2), (CONTACT, 0, 3), (CONTACT, 2, 3), (CONTACT, 1, 3)),
    "weld, motor, contacts": ((WELD, 1, 2), (MOTOR, 0, 1), (CONTACT, 0, 2), (CONTACT, 0, 1), (CONTACT, 2, 3)),
    "hinges, limit, contacts": ((HINGE, 0, 1), (HINGE, 1, 2), (LIMIT, 0, 2), (CONTACT, 2, 3), (CONTACT, 0, 3)),
}


@pytest.mark.parametrize(
    ("method", "friction", "name", "copies", "seed"), in_turns(PAIRS, product(LARGE, (1, 2), SEEDS), 3)
)
def test_rows_that_repeat_each_other_are_solved(method, friction, name, seed, copies):
    """The natural map of all rows on the explicit W vanishes, once and with every row twice: W singular."""
    problem = mechanism(seed, LARGE[name], body_count=4, friction=0.4, copies=copies)
    result = solve(problem, method, friction)
    assert result.status.converged
    W, b = dense_form(problem)
    assert natural_map_reference(problem, result.r, friction) <= 2.0 * TOLERANCE * np.abs(b).max()
    bilateral = np.isinf(problem.rows.lower) & (problem.rows.normal_row < 0)
    assert (W @ result.r + b)[bilateral] == pytest.approx(np.zeros(bilateral.sum()), abs=1e-8 * np.abs(b).max())


@pytest.mark.parametrize(("method", "friction", "name", "copies"), in_turns(PAIRS, product(LARGE, (1, 2)), 2))
def test_frictionless_motion_is_that_of_a_quadratic_program(method, friction, name, copies):
    """Without friction min r' W r / 2 + b' r within the bounds has one motion (Clarabel)."""
    clarabel = pytest.importorskip("clarabel")
    problem = mechanism(7, LARGE[name], body_count=4, friction=0.0, copies=copies)
    W, b = dense_form(problem)
    lower, upper = problem.rows.lower.copy(), problem.rows.upper.copy()
    tangential = problem.rows.normal_row >= 0
    lower[tangential] = upper[tangential] = 0.0
    below, above = np.isfinite(lower), np.isfinite(upper)
    bounds = scipy.sparse.csc_matrix(np.vstack([-np.eye(len(b))[below], np.eye(len(b))[above]]))
    offsets = np.concatenate([-lower[below], upper[above]])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.NonnegativeConeT(len(offsets))]
    hessian = scipy.sparse.csc_matrix(np.triu(W))
    reference = np.array(clarabel.DefaultSolver(hessian, b, bounds, offsets, cones, settings).solve().x)
    result = solve(problem, method, friction)
    assert result.status.converged
    assert W @ result.r == pytest.approx(W @ reference, abs=1e-6 * np.abs(b).max())
