"""Large islands: their parts share no body, and are solved to the same bits by any number of lanes."""

import numpy as np
import pytest
from numba import config, types

from cairn.solver_core import simulation
from cairn.solver_core.entries import caller, empty_entries, enter
from cairn.solver_core.island_packs import allocate_packs
from cairn.solver_core.island_parts import BLOCKS_TO_DIVIDE, allocate_body_graph, divide_islands
from cairn.solver_core.islands import find_islands
from cairn.solver_core.jobs import (
    BOARD,
    JOB,
    await_pieces,
    end_piece,
    load_shared,
    offer_pieces,
    store_shared,
    take_piece,
)
from cairn.solver_core.kernel import kernel
from cairn.solver_core.lanes import contexts_of, run_lanes, take_next, threads
from cairn.solver_core.model import BodyKind, ModelBuilder
from cairn.solver_core.problem import ContactProblem, SolverOptions, kernel_settings
from cairn.solver_core.rows import RowArrays, allocate_islands, allocate_rows, with_room_for_parts
from cairn.solver_core.scenes import wall
from cairn.solver_core.shapes import Box
from cairn.solver_core.simulation import Simulation, SimulationOptions
from cairn.solver_core.solvers.registry import find_method, resolve_options
from cairn.solver_core.step_arrays import StepArrays, StepMembers, views_of

compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="kernels run as plain Python")


def divided(rows, can_be_pushed, friction="box"):
    """Islands of some rows with their parts, the islands as they were, where rows are to be laid, and their packs."""
    block_count, body_count = int(rows.count[0]), len(can_be_pushed)
    laid_row, packs = np.zeros(block_count + 1, np.int64), allocate_packs(block_count, body_count)
    found = []
    for _ in range(2):
        islands = allocate_islands(block_count, body_count)
        find_islands(rows, can_be_pushed, islands, np.zeros(body_count, np.int64), np.zeros(body_count, np.int64))
        found.append(islands)
    graph, packable = allocate_body_graph(block_count, body_count), block_count if friction == "cone" else 0
    motion = np.ones((body_count, 6)), np.ones(body_count), 1e-3
    divide_islands(rows, can_be_pushed, found[0], graph, laid_row, packs, packable, motion)
    return *found, laid_row, packs


def rows_between(pairs, blocks_a_pair):
    """Blocks of three rows between bodies, of which only the pairs count."""
    pairs = np.repeat(pairs, blocks_a_pair, axis=0)
    rows = allocate_rows(len(pairs), 3 * len(pairs))
    rows.count[:] = len(pairs), 3 * len(pairs)
    rows.block_row[:] = 3 * np.arange(len(pairs) + 1)
    rows.body_a[:], rows.body_b[:] = pairs.T
    return rows


def check_parts(rows, can_be_pushed):
    """What holds of any division; returns how many parts there are."""
    islands, before, laid_row, _ = divided(rows, can_be_pushed)
    for island in range(islands.count[0]):
        first, second, end = islands.part_first[island], islands.second_part[island], islands.part_first[island + 1]
        run = slice(islands.block_first[island], islands.block_first[island + 1])
        if first == end:
            assert np.array_equal(islands.block_order[run], before.block_order[run])
            continue
        assert run.stop - run.start >= BLOCKS_TO_DIVIDE
        assert islands.part_block[first, 0] == run.start
        assert islands.part_block[end - 1, 1] == run.stop
        assert np.array_equal(islands.part_block[first + 1 : end, 0], islands.part_block[first : end - 1, 1])
        assert np.array_equal(np.sort(islands.block_order[run]), np.sort(before.block_order[run]))
        assert first < second
        for colour in (range(first, second), range(second, end)):
            seen = set()
            for part in colour:
                blocks = islands.block_order[slice(*islands.part_block[part])]
                assert np.all(np.diff(blocks) > 0)
                touched = {int(body) for bodies in (rows.body_a, rows.body_b) for body in bodies[blocks]}
                touched = {body for body in touched if can_be_pushed[body]}
                assert not touched & seen
                seen |= touched
        assert np.all(np.diff(laid_row[run.start : run.stop + 1]) == 3)
    return int(islands.part_first[islands.count[0]])


@pytest.mark.parametrize("seed", range(12))
def test_parts_of_a_colour_share_no_body(seed):
    """Heaps of points that touch where they are near, some of which cannot be pushed; every block is in one part."""
    random = np.random.default_rng(seed)
    count = int(random.integers(500, 1_000))
    sides = np.array((1.0, 1.0, random.uniform(1.0, 6.0)))
    points = random.random((count, 3)) * sides * np.cbrt(count / sides.prod())
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    reach = random.uniform(1.2, 1.6)
    pairs = np.argwhere(np.triu(distance < reach, 1))
    can_be_pushed = random.random(count) < random.choice([0.8, 1.0])
    pairs = random.permutation(pairs[can_be_pushed[pairs].any(axis=1)])
    assert check_parts(rows_between(pairs, int(random.integers(2, 5))), can_be_pushed) > 2


def test_large_islands_have_parts_and_others_have_none():
    """A long chain has many; a body that touches all others leaves no more than three levels, which are one."""
    chain = np.column_stack([np.arange(600), np.arange(1, 601)])
    pushed = np.ones(601, bool)
    assert check_parts(rows_between(chain, 4), pushed) > 8
    assert check_parts(rows_between(chain[: BLOCKS_TO_DIVIDE // 4 - 1], 4), pushed) == 0
    star = np.column_stack([np.zeros(600, np.int64), np.arange(1, 601)])
    assert check_parts(rows_between(star, 4), pushed) == 1


def packed():
    """Boxes that are wedged into each other, slightly turned: one island of many contacts from the start."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((20.0, 20.0, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC)
    random = np.random.default_rng(1)
    for place in np.ndindex(4, 4, 9):
        builder.add_body(
            shape=Box((0.5, 0.5, 0.5)),
            position=np.array(place) * (0.998, 0.998, 0.999) + (0, 0, 0.4995),
            orientation=(1.0, *random.normal(scale=2e-3, size=3)),
            mass=random.uniform(0.5, 3.0),
            friction=0.8,
        )
    return builder.build()


def with_own_arms(problem):
    """The contacts otherwise: each body touches at a point of its own, tangents lean a little, and the floor moves."""
    random = np.random.default_rng(2)
    rows = RowArrays(*(array.copy() for array in problem.rows))
    inverse = np.array([np.linalg.inv(mass) if mass[0, 0] > 0.0 else mass for mass in rows.body_mass])
    for block in range(rows.count[0]):
        three = slice(rows.block_row[block], rows.block_row[block + 1])
        directions = rows.jacobian[three, 6:9].copy()
        # from arm x d of three directions at right angles
        turning = -rows.jacobian[three, 3:6], rows.jacobian[three, 9:]
        arms = [0.5 * np.cross(directions, side).sum(axis=0) for side in turning]
        directions[1] += 1e-7 * directions[0]
        directions[2] = np.cross(directions[0], directions[1])
        first, second = (np.cross(arm + random.normal(scale=0.05, size=3), directions) for arm in arms)
        rows.jacobian[three] = np.hstack([-directions, -first, directions, second])
        a, b = inverse[rows.body_a[block]], inverse[rows.body_b[block]]
        rows.response[three] = np.hstack([rows.jacobian[three, :6] @ a, rows.jacobian[three, 6:] @ b])
        rows.diagonal[three] = np.sum(rows.jacobian[three] * rows.response[three], axis=1)
        rows.bias[three] += random.normal(scale=1e-2, size=3)
    free_velocity = problem.free_velocity.copy()
    free_velocity[rows.body_mass[:, 0, 0] == 0.0] = 0.1, 0.0, 0.05, 0.02, 0.0, 0.3
    return ContactProblem(rows, free_velocity)


@pytest.fixture(scope="module")
def problems():
    """Rows of a wall, of packed boxes, and of these with arms of their own."""
    found = [Simulation(model).contact_problem() for model in (wall(14, 14).build_model(), packed())]
    return [*found, with_own_arms(found[1])]


def solve(problem, method, friction, islands, laid_row, packs, sweeps, **options):
    """The largest island, from zero: rows, velocity and outcome."""
    solver = find_method(method, friction)
    options = resolve_options(solver, SolverOptions(tolerance=1e-14, max_iterations=sweeps, **options), sweeps)
    rows = RowArrays(*problem.rows[:-1], impulse=np.zeros(len(problem.rows.impulse)))
    velocity = problem.free_velocity.copy()
    workspace = solver.allocate(len(rows.impulse), len(velocity), 0)
    workspace = with_room_for_parts(workspace, len(rows.body_a), len(rows.impulse))
    workspace.laid.block_row[: len(laid_row)] = laid_row
    workspace = workspace._replace(packs=packs)
    island = int(np.argmax(np.diff(islands.block_first[: islands.count[0] + 1])))
    settings = kernel_settings(options, friction)
    outcome = solver.kernel(rows, islands, island, problem.free_velocity, velocity, workspace, settings)
    return rows, velocity, outcome, island


def velocity_of(problem, impulse, blocks):
    """v_free + M^-1 J' r, block by block."""
    rows, velocity = problem.rows, problem.free_velocity.copy()
    for block in blocks:
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            velocity[rows.body_a[block]] += rows.response[row, :6] * impulse[row]
            velocity[rows.body_b[block]] += rows.response[row, 6:] * impulse[row]
    return velocity


@compiled_only
@pytest.mark.parametrize("friction", ["box", "cone", "polyhedral"])
@pytest.mark.parametrize("which", [0, 1, 2], ids=["wall", "packed", "own arms"])
def test_a_divided_island_is_swept_part_by_part(problems, which, friction):
    """As by pgs in the parts' order, without any copy: to the bit, and to rounding what is swept in packs."""
    problem = problems[which]
    islands, _, *where = divided(problem.rows, problem.rows.body_mass[:, 0, 0] > 0.0, friction)
    rows, velocity, outcome, island = solve(problem, "pgs", friction, islands, *where, 25)
    assert islands.part_first[island + 1] - islands.part_first[island] > 4
    whole = islands._replace(part_first=np.zeros_like(islands.part_first))
    plain, plain_velocity, plain_outcome, _ = solve(problem, "pgs", friction, whole, *where, 25)
    assert rows.impulse.any()
    if friction == "cone":
        largest = np.abs(plain.impulse).max()
        np.testing.assert_allclose(rows.impulse, plain.impulse, rtol=0.0, atol=1e-10 * largest)
        np.testing.assert_allclose(velocity, plain_velocity, rtol=0.0, atol=1e-10 * np.abs(plain_velocity).max())
        assert outcome[:2] == plain_outcome[:2]
        assert outcome[2] == pytest.approx(plain_outcome[2], rel=1e-6)
    else:
        assert np.array_equal(rows.impulse, plain.impulse)
        assert np.array_equal(velocity, plain_velocity)
        assert outcome == plain_outcome


@compiled_only
@pytest.mark.parametrize(
    ("method", "friction"),
    [("nncg", "box"), ("nncg", "cone"), ("nncg", "polyhedral"), ("psor", "cone"), ("amgs", "box")],
)
@pytest.mark.parametrize("which", [0, 1, 2], ids=["wall", "packed", "own arms"])
def test_a_divided_island_is_solved_as_well(problems, which, method, friction):
    """Velocities are those of the impulses, the residual is the one of an undivided look, and not much worse."""
    problem = problems[which]
    islands, before, *where = divided(problem.rows, problem.rows.body_mass[:, 0, 0] > 0.0, friction)
    rows, velocity, outcome, island = solve(problem, method, friction, islands, *where, 150)
    run = slice(islands.block_first[island], islands.block_first[island + 1])
    expected = velocity_of(problem, rows.impulse, islands.block_order[run])
    bodies = islands.body_order[islands.body_first[island] : islands.body_first[island + 1]]
    scale = np.abs(expected[bodies]).max()
    np.testing.assert_allclose(velocity[bodies], expected[bodies], atol=1e-11 * max(scale, 1.0))
    # the same rows, impulses as start, and no iteration: the residual of where it ended, and its worst block
    solver = find_method(method, friction)
    settings = kernel_settings(resolve_options(solver, SolverOptions(max_iterations=1, tolerance=1e-300), 1), friction)
    settings = settings._replace(max_iterations=0)
    workspace = solver.allocate(len(rows.impulse), len(velocity), 0)
    look = solver.kernel(rows, before, island, problem.free_velocity, expected.copy(), workspace, settings)
    assert outcome[2] == pytest.approx(look[2], rel=1e-6, abs=1e-11)
    if outcome[2] > 1e-8:
        assert outcome[4] == look[4]
    natural = solve(problem, method, friction, before, *where, 150)[2]
    assert outcome[2] < 3.0 * natural[2] + 1e-12


@compiled_only
@pytest.mark.parametrize("which", [0, 1, 2], ids=["wall", "packed", "own arms"])
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("psor", {}),
        ("nncg", {}),
        ("nncg", {"conjugacy": "polak_ribiere"}),
        ("nncg", {"line_search": True}),
    ],
)
def test_packs_change_rounding_only(problems, which, method, options):
    """Beside the same sweeps one contact at a time, in the same order."""
    problem = problems[which]
    islands, _, *where = divided(problem.rows, problem.rows.body_mass[:, 0, 0] > 0.0, "cone")
    _, velocity, outcome, _ = solve(problem, method, "cone", islands, *where, 40, **options)
    whole = islands._replace(part_first=np.zeros_like(islands.part_first))
    _, plain_velocity, plain_outcome, _ = solve(problem, method, "cone", whole, *where, 40, **options)
    assert outcome[:2] == plain_outcome[:2]
    assert outcome[2] == pytest.approx(plain_outcome[2], rel=1e-6)
    np.testing.assert_allclose(velocity, plain_velocity, rtol=0.0, atol=1e-6 * np.abs(plain_velocity).max())


def falling_wall():
    """A wall that is pushed over: one that stands is not divided."""
    model = wall(14, 14).build_model()
    start = model.initial_state
    start.velocity[start.kind == BodyKind.DYNAMIC, 1] = 0.5
    return model


def play(model, lane_total, monkeypatch, **options):
    """Some frames by so many lanes: the digest, the reports but for times, and how many parts there were."""
    monkeypatch.setattr(simulation, "lane_count", lambda threads, bodies: lane_total)
    monkeypatch.setattr(simulation, "threads", lambda count: threads(min(count, config.NUMBA_NUM_THREADS)))
    played = Simulation(model, SimulationOptions(**options))
    reports = [played.advance_frame() for _ in range(2)]
    islands = played._lanes[0].members.problem.islands
    told = [[getattr(report, name) for name in report.__slots__ if name != "nanoseconds"] for report in reports]
    return played.digest(), told, int(islands.part_first[islands.count[0]])


@compiled_only
@pytest.mark.parametrize(
    ("method", "friction"),
    [("nncg", "box"), ("nncg", "cone"), ("nncg", "polyhedral"), ("pgs", "cone"), ("auto", "cone")],
)
@pytest.mark.parametrize("make", [falling_wall, packed])
def test_one_large_island_moves_alike_by_any_number_of_lanes(monkeypatch, make, method, friction):
    """To the bit, and with the same reports."""
    model = make()
    options = {"method": method, "friction": friction, "max_iterations": 40}
    alone = play(model, 1, monkeypatch, **options)
    assert alone[2] > 4
    for lane_total in (2, 3, 5):
        assert play(model, lane_total, monkeypatch, **options) == alone


@compiled_only
@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_divided_island_is_resumed_to_the_bit(first):
    """Before its first frame, after the one that finds so many contacts, and after one that has parts."""
    model, options = packed(), SimulationOptions(method="nncg", friction="box", max_iterations=40, threads=1)
    unbroken = Simulation(model, options)
    for _ in range(first):
        unbroken.advance_frame()
    checkpoint = unbroken.checkpoint()
    resumed = Simulation(model, options)
    resumed.restore(checkpoint)
    for played in (unbroken, resumed):
        while played.frame < 3:
            played.advance_frame()
        islands = played._lanes[0].members.problem.islands
        assert islands.part_first[islands.count[0]] > 4
    assert resumed.digest() == unbroken.digest()


TASK, RUN = range(2)
_call_stage = caller(types.none)


@kernel
def count_pieces(arrays, lane):
    """The first lane to come offers job after job; it and all others write down what they do."""
    members = views_of(arrays)
    board, done, counter, sizes = members.model, members.state, members.motion, members.sleep
    if take_next(counter) > 0:
        while load_shared(counter, 1) == 0:
            piece = take_piece(board)
            if piece >= 0:
                done[board[JOB], piece] += 1
                end_piece(board)
        return
    for job in range(done.shape[0]):
        board[JOB] = job
        if offer_pieces(board, sizes[job]):
            while True:
                piece = take_piece(board)
                if piece < 0:
                    break
                done[job, piece] += 1
                end_piece(board)
            await_pieces(board, sizes[job])
        else:
            for piece in range(sizes[job]):
                done[job, piece] += 1
    store_shared(counter, 1, 1)


@kernel
def count_in_all_lanes(entries, contexts):
    _call_stage(entries, np.int64(RUN), entries, np.int64(TASK), contexts)


@compiled_only
@pytest.mark.parametrize("lane_total", [1, 2, 5])
def test_every_piece_of_every_job_is_done_once(lane_total):
    """Whoever comes late takes nothing of a job that it has not seen."""
    random = np.random.default_rng(2)
    sizes = random.integers(0, 7, 20_000)
    done, board, counter = np.zeros((len(sizes), 7), np.int64), np.zeros(BOARD, np.int64), np.zeros(2, np.int64)
    arrays = [StepArrays(StepMembers(board, done, counter, sizes, (), (), ())) for _ in range(lane_total)]
    contexts, entries = contexts_of(arrays), empty_entries(2)
    enter(entries, TASK, count_pieces, types.none, arrays[0], 0)
    enter(entries, RUN, run_lanes, types.none, entries, 0, contexts)
    with threads(min(lane_total, config.NUMBA_NUM_THREADS)):
        count_in_all_lanes(entries, contexts)
    assert np.array_equal(done, np.arange(7) < sizes[:, None])
