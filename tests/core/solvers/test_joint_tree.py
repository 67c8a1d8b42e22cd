"""Trees of joints: the velocities that a dense solution has, whatever the masses; all else is left to others."""

from typing import NamedTuple

import numpy as np
import pytest
from nightly import seeds

from benchmarks.problems import jointed
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.problem.rows import allocate_islands
from cairn.solver_core.solvers.joint_tree import is_tree_of_joints, solve_tree_of_joints
from cairn.solver_core.solvers.jointed_arrays import allocate_jointed

pytestmark = pytest.mark.one_python

KINDS = ("add_point", "add_hinge", "add_fixed")


class Settings(NamedTuple):
    tolerance: float
    absolute_tolerance: float


@kernel
def solve(rows, islands, free_velocity, velocity, workspace, settings):
    return solve_tree_of_joints(rows, islands, np.int64(0), free_velocity, velocity, workspace, settings, (1e-4, 0.0))


@kernel
def is_tree(rows, islands, can_be_pushed):
    return is_tree_of_joints(rows, islands, np.int64(0), can_be_pushed)


def one_island(rows):
    """All blocks and bodies that move, as one island."""
    blocks, bodies = int(rows.count[0]), len(rows.body_mass)
    islands = allocate_islands(blocks, bodies)
    islands.count[0], islands.block_first[1], islands.body_first[1] = 1, blocks, bodies - 1
    islands.block_order[:], islands.body_order[: bodies - 1] = np.arange(blocks), np.arange(1, bodies)
    return islands


def tree(seed):
    """Boxes of masses of five decades that fly about, each joined to an earlier one or to the world; a spring."""
    rng = np.random.default_rng(seed)
    made = jointed.Mechanism()
    for body in range(1, int(rng.integers(3, 12))):
        velocity, spin = rng.normal(size=(2, 3))
        mass = 10.0 ** rng.uniform(-2.0, 3.0)
        made.add_box(rng.normal(size=3), rng.uniform(0.1, 1.0, 3), mass, velocity, spin)
        if body == 1:
            made.add_spring(0, body, rng.normal(size=3), (0.0, 0.0, 1.0), 0.1, 50.0)
            continue
        kind = KINDS[rng.integers(3)]
        axis = (rng.normal(size=3),) if kind == "add_hinge" else ()
        getattr(made, kind)(int(rng.integers(1, body)), body, rng.normal(size=3), *axis)
    return made.problem()


def dense_velocities(problem):
    """By M v - J' r = M v_free, J v + C r = -b."""
    rows, count, bodies = problem.rows, int(problem.rows.count[1]), len(problem.rows.body_mass)
    jacobian, mass = np.zeros((count, 6 * bodies)), np.eye(6 * bodies)
    for block in range(int(rows.count[0])):
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            for body, columns in ((rows.body_a[block], slice(0, 6)), (rows.body_b[block], slice(6, 12))):
                if body > 0:
                    jacobian[row, 6 * body : 6 * body + 6] += rows.jacobian[row, columns]
    for body in range(1, bodies):
        mass[6 * body : 6 * body + 6, 6 * body : 6 * body + 6] = rows.body_mass[body]
    free, compliance = problem.free_velocity.ravel(), np.diag(rows.compliance[:count])
    delassus = jacobian @ np.linalg.solve(mass, jacobian.T) + compliance
    impulse = np.linalg.solve(delassus, -(jacobian @ free + rows.bias[:count]))
    return (free + np.linalg.solve(mass, jacobian.T @ impulse)).reshape(-1, 6)


@pytest.mark.parametrize("seed", seeds(20, 300))
def test_velocities_are_those_of_a_dense_solution(seed):
    problem = tree(seed)
    rows, islands, bodies = problem.rows, one_island(problem.rows), len(problem.rows.body_mass)
    assert is_tree(rows, islands, np.arange(bodies) > 0)
    workspace = allocate_jointed(len(rows.body_a), len(rows.diagonal), bodies, bodies)
    rows.impulse[:] = 0.0
    velocity = problem.free_velocity.copy()
    settings = Settings(1e-6, 0.0)
    status, rounds, residual, scale, _ = solve(rows, islands, problem.free_velocity, velocity, workspace, settings)
    assert status <= 1
    assert rounds <= 3
    assert residual <= 1e-8 * scale
    assert velocity == pytest.approx(dense_velocities(problem), abs=1e-8 * max(1.0, np.abs(velocity).max()))
    # and the solution stands
    again = solve(rows, islands, problem.free_velocity, velocity, workspace, settings)
    assert again[1] <= 1


def test_loops_and_rows_that_may_let_go_are_left_to_others():
    """Two joints of one pair, a ring, two ends on the world, a motor, a contact."""
    for holds, joins, more in (
        (True, [(0, 1), (1, 2)], None),
        (True, [(1, 2), (1, 3)], None),
        (False, [(1, 2), (2, 1)], None),
        (False, [(1, 2), (2, 3), (3, 1)], None),
        (False, [(0, 1), (1, 2), (2, 0)], None),
        (False, [(0, 1), (1, 2)], "add_motor"),
        (False, [(0, 1), (1, 2)], "add_contact"),
    ):
        made = jointed.Mechanism()
        for place in range(max(map(max, joins))):
            made.add_box((float(place), 0.0, 0.0), (0.5, 0.5, 0.5))
        for a, b in joins:
            made.add_point(a, b, (0.0, 0.0, 0.0))
        if more == "add_motor":
            made.add_motor(1, 2, (0.0, 0.0, 1.0), 1.0, 1.0)
        elif more == "add_contact":
            made.add_contact(0, 2, (0.0, 0.0, 0.0))
        rows = made.problem().rows
        pushed = np.arange(len(rows.body_mass)) > 0
        assert is_tree(rows, one_island(rows), pushed) == holds
