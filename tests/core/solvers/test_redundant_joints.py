"""Impulses of redundant joints: the least ones, by a pseudo-inverse, whatever the order and what they bore before."""

import numpy as np
import pytest
from nightly import seeds

from benchmarks.problems import jointed
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.problem.rows import allocate_islands
from cairn.solver_core.solvers.jointed_arrays import allocate_jointed
from cairn.solver_core.solvers.redundant_joints import find_least_impulses, may_be_redundant

pytestmark = pytest.mark.one_python

KINDS = ("add_point", "add_hinge", "add_fixed")


@kernel
def find(rows, islands, workspace, impulse):
    return find_least_impulses(rows, islands, np.int64(0), workspace, impulse, impulse[:0], np.int64(0))


@kernel
def is_looped(rows, islands, parent):
    return may_be_redundant(rows, islands, np.int64(0), parent)


def one_island(rows):
    """All blocks and bodies that move, as one island."""
    blocks, bodies = int(rows.count[0]), len(rows.body_mass)
    islands = allocate_islands(blocks, bodies)
    islands.count[0], islands.block_first[1], islands.body_first[1] = 1, blocks, bodies - 1
    islands.block_order[:], islands.body_order[: bodies - 1] = np.arange(blocks), np.arange(1, bodies)
    return islands


def least_impulses(rows, impulse):
    """What the kernel finds, by row."""
    workspace = allocate_jointed(len(rows.body_a), len(rows.diagonal), len(rows.body_mass), len(rows.body_mass))
    assert find(rows, one_island(rows), workspace, impulse)
    holds = workspace.alm.by_row.weight < 0.0
    return np.where(holds, impulse + workspace.alm.by_row.shift, impulse), holds


def pushes(rows):
    """J': what impulses do to bodies; the world has no columns."""
    matrix = np.zeros((6 * len(rows.body_mass), len(rows.diagonal)))
    for block in range(int(rows.count[0])):
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            for body, columns in ((rows.body_a[block], slice(0, 6)), (rows.body_b[block], slice(6, 12))):
                if rows.body_mass[body, 0, 0] > 0.0:
                    matrix[6 * body : 6 * body + 6, row] += rows.jacobian[row, columns]
    return matrix


def reduced_masses(rows):
    """Of the two bodies of each row [kg]."""
    mass = rows.body_mass[:, 0, 0]
    inverse = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0.0)
    blocks = np.repeat(np.arange(rows.count[0]), np.diff(rows.block_row[: rows.count[0] + 1]))
    return 1.0 / (inverse[rows.body_a[blocks]] + inverse[rows.body_b[blocks]])


def mechanism(seed):
    """Boxes of masses of five decades, and joints between them: each by one or several, and some loops; a motor."""
    rng = np.random.default_rng(seed)
    made = jointed.Mechanism()
    bodies = [0]
    for _ in range(rng.integers(2, 7)):
        bodies.append(made.add_box(rng.normal(size=3), rng.uniform(0.1, 1.0, 3), 10.0 ** rng.uniform(-2.0, 3.0)))
    pairs = [(int(rng.choice(bodies[:body])), body) for body in bodies[1:]]
    pairs += [tuple(map(int, rng.choice(bodies, 2, replace=False))) for _ in range(rng.integers(0, 4))]
    made.add_motor(*pairs[0], rng.normal(size=(1, 3)), 1.0, 5.0)
    for a, b in pairs:
        for _ in range(rng.integers(1, 4)):
            kind = KINDS[rng.integers(3)]
            axis = (rng.normal(size=3),) if kind == "add_hinge" else ()
            getattr(made, kind)(a, b, rng.normal(size=3), *axis)
    return made


@pytest.mark.parametrize("seed", seeds(20, 300))
def test_impulses_are_those_of_a_pseudo_inverse(seed):
    """They do the same to all bodies, and have the least norm, by the bodies' masses; a motor's stay."""
    rows = mechanism(seed).problem().rows
    impulse = np.random.default_rng(seed).normal(size=len(rows.diagonal))
    found, holds = least_impulses(rows, impulse)
    matrix, root = pushes(rows)[:, holds], np.sqrt(reduced_masses(rows)[holds])
    expected = root * (np.linalg.pinv(matrix * root, rcond=1e-10) @ (matrix @ impulse[holds]))
    speeds = rows.diagonal[holds] * np.abs(found[holds] - expected)
    assert speeds.max() <= 1e-5 * (rows.diagonal[holds] * np.abs(expected)).max()
    force = matrix @ impulse[holds]
    assert np.abs(matrix @ found[holds] - force).max() <= 1e-6 * np.abs(force).max()
    assert not holds[0]
    assert found[0] == impulse[0]
    again, _ = least_impulses(rows, found)
    assert np.abs(again - found).max() <= 1e-6 * np.abs(found).max()


@pytest.mark.parametrize("seed", seeds(3, 30))
def test_the_order_of_joints_makes_no_difference(seed):
    made = mechanism(seed)
    order = np.random.default_rng(seed).permutation(len(made.blocks))
    rows = made.problem().rows
    impulse = np.random.default_rng(seed).normal(size=len(rows.diagonal))
    found, _ = least_impulses(rows, impulse)
    places = [np.arange(rows.block_row[block], rows.block_row[block + 1]) for block in order]
    made.blocks = [made.blocks[block] for block in order]
    places = np.concatenate(places)
    turned, _ = least_impulses(made.problem().rows, impulse[places])
    assert np.abs(turned - found[places]).max() <= 1e-6 * np.abs(found).max()


def test_joints_that_are_alike_bear_alike():
    """Whatever each bore before: two hinges of a door at the same place, and five points of a weight in a row."""
    made = jointed.Mechanism()
    door, weight = made.add_box((0.5, 0.0, 1.0), (1.0, 0.05, 2.0), 30.0), made.add_box((0.0, 0.0, -1.0), (1, 1, 1), 5.0)
    bolted = made.add_box((0.0, 1.0, 0.0), (1.0, 0.1, 0.1), 2.0)
    for _ in range(2):
        made.add_hinge(0, door, (0.0, 0.0, 0.2), (0.0, 0.0, 1.0))
    for _ in range(5):
        made.add_point(door, weight, (0.0, 0.0, 0.0))
    for place in range(-1, 2):
        made.add_point(0, bolted, (0.3 * place, 1.0, 0.0))
    rows = made.problem().rows
    impulse = np.random.default_rng(3).normal(size=len(rows.diagonal))
    bolts = pushes(rows)[18:, 25:]
    impulse[25:] = np.linalg.pinv(bolts) @ np.array([0.0, 0.0, 3.0, 0.0, 0.0, 0.0])
    impulse[25:] += np.tile([0.3, 0.0, 0.0], 3) * np.repeat([-1.0, 0.0, 1.0], 3)
    found, _ = least_impulses(rows, impulse)
    assert np.abs(found[25:] - np.tile([0.0, 0.0, 1.0], 3)).max() < 1e-9
    hinges, points = found[:10].reshape(2, 5), found[10:25].reshape(5, 3)
    assert np.abs(hinges - impulse[:10].reshape(2, 5).mean(0)).max() < 1e-9
    assert np.abs(points - impulse[10:25].reshape(5, 3).mean(0)).max() < 1e-9


def test_only_loops_may_be_redundant():
    """Trees are not, whatever hangs them on the world; motors close no loop."""
    for loop, joins in (
        (False, [(0, 1), (1, 2), (1, 3)]),
        (True, [(0, 1), (1, 2), (2, 0)]),
        (True, [(2, 3), (1, 2), (3, 1)]),
        (True, [(1, 2), (2, 1)]),
        (False, [(3, 2), (2, 1), (0, 3)]),
        (True, [(3, 2), (2, 1), (0, 3), (1, 0)]),
    ):
        made = jointed.Mechanism()
        for place in range(3):
            made.add_box((float(place), 0.0, 0.0), (0.5, 0.5, 0.5))
        for a, b in joins:
            made.add_point(a, b, (0.0, 0.0, 0.0))
        made.add_motor(1, 2, (0.0, 0.0, 1.0), 1.0, 1.0)
        rows = made.problem().rows
        assert is_looped(rows, one_island(rows), np.zeros(4, np.int64)) == loop
