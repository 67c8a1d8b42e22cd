"""What contacts do to each other through joints, against a dense solution with the joints as constraints."""

import numpy as np
import pytest
from test_joint_tree import one_island

from cairn.solver_core import BodyKind, Box, Hinge, ModelBuilder, Point, Simulation, SimulationOptions
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.problem.rows import CONE_FRICTION
from cairn.solver_core.solvers.joint_factor import factorize_joints, find_joints
from cairn.solver_core.solvers.joint_responses import (
    find_parts,
    list_rows,
    make_columns,
    measure_seats,
    push,
    speed_of,
)
from cairn.solver_core.solvers.jointed_arrays import allocate_jointed

pytestmark = pytest.mark.one_python


@kernel
def find_effects(rows, islands, velocity, workspace, found):
    """Push each listed row by 1 N s, and note by how much that changes the speeds of all; False without room."""
    island = np.int64(0)
    find_joints(rows, islands, island, workspace, False)
    factorize_joints(rows, workspace.islands, workspace.alm)
    find_parts(rows, workspace.islands, workspace)
    list_rows(rows, islands, island, workspace, np.int64(CONE_FRICTION))
    measure_seats(rows, velocity, workspace)
    for index in range(workspace.used[2]):
        row, block = workspace.listed_row[index], workspace.listed_block[index]
        a, b = rows.body_a[block], rows.body_b[block]
        is_missing = max(workspace.part[a], workspace.part[b]) >= 0 and workspace.column[row] < 0
        if is_missing and not make_columns(rows, velocity, workspace, np.int64(index), 0.0):
            return False
        push(rows, velocity, workspace, row, 1.0, a, b)
        for other in range(workspace.used[2]):
            other_row, other_block = workspace.listed_row[other], workspace.listed_block[other]
            ends = rows.body_a[other_block], rows.body_b[other_block]
            speed = speed_of(rows, velocity, workspace, other_row, ends[0], ends[1])
            found[other, index] = speed - rows.bias[other_row]
        push(rows, velocity, workspace, row, -1.0, a, b)
    return True


def scene(seed, chains):
    """Chains of boxes across each other on a floor, masses over four decades; two boxes that no joint holds."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder()
    builder.add_body(shape=Box((5.0, 5.0, 0.5)), position=(0.0, 0.0, -0.5), kind=BodyKind.STATIC)
    for height, turn in ((0.1, 0.0), (0.3, 1.0))[:chains]:
        last = None
        for place in range(4):
            # half of a single chain hangs in the air, so that there are fewer rows
            at, lift = 0.55 * (place - 1.5), 0.5 if chains == 1 and place < 2 else 0.0
            position = (0.0, at, height) if turn else (at, 0.0, height + lift)
            half = (0.1, 0.25, 0.1) if turn else (0.25, 0.1, 0.1)
            body = builder.add_body(shape=Box(half), position=position, mass=10.0 ** rng.uniform(-2.0, 2.0))
            if last is not None:
                joint = Hinge() if rng.integers(2) else Point()
                between = (0.0, at - 0.275, height) if turn else (at - 0.275, 0.0, height)
                builder.add_joint(joint, last, body, position=between)
            last = body
    for position in ((0.3 * (2 - chains), 0.0, 0.1 + 0.2 * chains), (2.0, 2.0, 0.1)):
        builder.add_body(shape=Box((0.1, 0.1, 0.1)), position=position, mass=3.0)
    return builder.build()


def dense(rows, bodies, which):
    """Jacobians of some rows [rows, 6 bodies]."""
    found = np.zeros((len(which), 6 * bodies))
    of_row = np.repeat(np.arange(int(rows.count[0])), np.diff(rows.block_row[: int(rows.count[0]) + 1]))
    for index, row in enumerate(which):
        for body, columns in (
            (rows.body_a[of_row[row]], slice(0, 6)),
            (rows.body_b[of_row[row]], slice(6, 12)),
        ):
            found[index, 6 * body : 6 * body + 6] += rows.jacobian[row, columns]
    return found


@pytest.mark.parametrize("chains", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_rows_change_each_other_s_speeds_as_in_a_dense_solution(seed, chains):
    """Both where lots have seats and where they keep their velocities."""
    simulation = Simulation(scene(seed, chains), SimulationOptions(sleeping=False))
    simulation.advance_frame()
    rows = simulation.contact_problem().rows
    bodies, islands = len(rows.body_mass), one_island(rows)
    count = int(rows.count[1])
    rows.impulse[:] = 0.0
    workspace = allocate_jointed(int(rows.count[0]), count, bodies, bodies)
    found = np.zeros((count, count))
    assert find_effects(rows, islands, np.zeros((bodies, 6)), workspace, found)
    assert workspace.used[4] == chains
    assert workspace.by_body[:chains].any() == (chains == 2)
    listed = workspace.listed_row[: workspace.used[2]]
    assert len(listed) > 40
    found = found[: len(listed), : len(listed)]

    inverse = np.zeros((6 * bodies, 6 * bodies))
    for body in range(1, bodies):
        inverse[6 * body : 6 * body + 6, 6 * body : 6 * body + 6] = np.linalg.inv(rows.body_mass[body])
    holding = [row for row in range(count) if np.isneginf(rows.lower[row]) and rows.normal_row[row] < 0]
    joints, others = dense(rows, bodies, holding), dense(rows, bodies, listed)
    through = inverse @ joints.T
    inverse -= through @ np.linalg.pinv(joints @ through, rcond=1e-12) @ through.T
    expected = others @ inverse @ others.T
    assert found == pytest.approx(expected, abs=1e-5 * np.abs(expected).max())
    assert workspace.diagonal[listed[0]] == pytest.approx(found[0, 0], rel=1e-6)
