"""What contacts do to each other through joints, against a dense solution with the joints as constraints."""

import numpy as np
import pytest
from test_joint_tree import one_island

from cairn.solver_core import BodyKind, Box, Hinge, ModelBuilder, Point, Simulation, SimulationOptions
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.problem.rows import CONE_FRICTION
from cairn.solver_core.solvers.joint_factor import factorize_joints, find_joints
from cairn.solver_core.solvers.joint_responses import find_parts, list_rows, make_columns
from cairn.solver_core.solvers.jointed_arrays import allocate_jointed

pytestmark = pytest.mark.one_python


@kernel
def columns_of(rows, islands, velocity, workspace):
    """Make all columns; returns how many there are, or -1 without room."""
    island = np.int64(0)
    find_joints(rows, islands, island, workspace, False)
    factorize_joints(rows, workspace.islands, workspace.alm)
    find_parts(rows, workspace.islands, workspace)
    list_rows(rows, islands, island, workspace, np.int64(CONE_FRICTION))
    for index in range(workspace.used[2]):
        row = workspace.listed_row[index]
        is_missing = max(workspace.seat[row, 0], workspace.seat[row, 1]) >= 0 and workspace.column[row] < 0
        if is_missing and not make_columns(rows, velocity, workspace, np.int64(index), 0.0):
            return -1
    return workspace.used[1]


def scene(seed):
    """Two chains of boxes across each other on a floor, masses over four decades; two boxes that no joint holds."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder()
    builder.add_body(shape=Box((5.0, 5.0, 0.5)), position=(0.0, 0.0, -0.5), kind=BodyKind.STATIC)
    for height, turn in ((0.1, 0.0), (0.3, 1.0)):
        last = None
        for place in range(4):
            at = 0.55 * (place - 1.5)
            position = (0.0, at, height) if turn else (at, 0.0, height)
            half = (0.1, 0.25, 0.1) if turn else (0.25, 0.1, 0.1)
            body = builder.add_body(shape=Box(half), position=position, mass=10.0 ** rng.uniform(-2.0, 2.0))
            if last is not None:
                joint = Hinge() if rng.integers(2) else Point()
                between = (0.0, at - 0.275, height) if turn else (at - 0.275, 0.0, height)
                builder.add_joint(joint, last, body, position=between)
            last = body
    for position in ((0.0, 0.0, 0.5), (2.0, 2.0, 0.1)):
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


def lots_of(rows, workspace, row):
    """The lots that a row acts on, that of body a first."""
    block = np.searchsorted(rows.block_row[: int(rows.count[0]) + 1], row, side="right") - 1
    lots = [workspace.part[body] for body in (rows.body_a[block], rows.body_b[block])]
    return list(dict.fromkeys(lot for lot in lots if lot >= 0))


@pytest.mark.parametrize("seed", range(6))
def test_columns_are_those_of_a_dense_solution(seed):
    simulation = Simulation(scene(seed), SimulationOptions(sleeping=False))
    simulation.advance_frame()
    rows = simulation.contact_problem().rows
    bodies, islands = len(rows.body_mass), one_island(rows)
    count = int(rows.count[1])
    workspace = allocate_jointed(int(rows.count[0]), count, bodies, bodies)
    assert columns_of(rows, islands, np.zeros((bodies, 6)), workspace) > 30
    listed = [row for row in workspace.listed_row[: workspace.used[2]] if workspace.seat[row].max() >= 0]
    assert workspace.used[2] > len(listed)  # a box on the floor
    assert workspace.used[4] == 2
    found = np.zeros((len(listed), len(listed)))
    for index, row in enumerate(listed):
        place = workspace.column[row]
        for lot in lots_of(rows, workspace, row):
            first, end = workspace.seat_first[lot : lot + 2]
            for seat, number in zip(range(first, end), workspace.columns[place:], strict=False):
                if workspace.seat_row[seat] >= 0:
                    found[listed.index(workspace.seat_row[seat]), index] += number
            place += end - first

    inverse = np.zeros((6 * bodies, 6 * bodies))
    held = [body for body in range(bodies) if workspace.part[body] >= 0]
    for body in held:
        inverse[6 * body : 6 * body + 6, 6 * body : 6 * body + 6] = np.linalg.inv(rows.body_mass[body])
    holding = [row for row in range(count) if np.isneginf(rows.lower[row]) and rows.normal_row[row] < 0]
    joints, others = dense(rows, bodies, holding), dense(rows, bodies, listed)
    through = inverse @ joints.T
    inverse -= through @ np.linalg.pinv(joints @ through, rcond=1e-12) @ through.T
    expected = others @ inverse @ others.T
    assert found == pytest.approx(expected, abs=1e-5 * np.abs(expected).max())
    own = workspace.diagonal[listed] - found.diagonal()
    assert own.min() >= -1e-12
    assert own.max() > 0.0  # of the box on a chain
