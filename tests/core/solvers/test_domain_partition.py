"""Large islands: their domains share no body, and are solved to the same bits by any number of workers."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import config, types

from cairn.solver_core import simulation
from cairn.solver_core.compiled.atomics import load_shared, store_shared
from cairn.solver_core.compiled.function_tables import caller, empty_table, enter
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.compiled.views import StepArrays, views_of
from cairn.solver_core.dynamics.islands.islands import find_islands, has_contacts
from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.parallel.work_queue import QUEUE, await_tasks, end_task, offer_tasks, take_task
from cairn.solver_core.parallel.workers import contexts_of, run_workers, take_next, threads
from cairn.solver_core.problem.problem import ContactProblem, SolverOptions
from cairn.solver_core.problem.rows import RowArrays, allocate_islands, allocate_rows
from cairn.solver_core.scenes import wall
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solvers.batches.domain_partition import (
    BLOCKS_TO_PARTITION,
    allocate_contact_graph,
    partition_islands,
)
from cairn.solver_core.solvers.batches.partitioned_sweep import lay_rows, sweep_island, sweep_moved
from cairn.solver_core.solvers.batches.simd_batches import allocate_batches
from cairn.solver_core.solvers.batches.sweep_workspace import with_room_for_domains
from cairn.solver_core.solvers.registry import find_method, kernel_settings_of

pytestmark = pytest.mark.one_python

compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="kernels run as plain Python")


def divided(rows, can_be_pushed, friction="box"):
    """Islands of some rows with their parts, the islands as they were, where rows are to be laid, and their batches."""
    block_count, body_count = int(rows.count[0]), len(can_be_pushed)
    laid_row, batches = np.zeros(block_count + 1, np.int64), allocate_batches(block_count, body_count)
    found = []
    for _ in range(2):
        islands = allocate_islands(block_count, body_count)
        find_islands(rows, can_be_pushed, islands, np.zeros(body_count, np.int64), np.zeros(body_count, np.int64))
        found.append(islands)
    graph, batchable = allocate_contact_graph(block_count, body_count), block_count if friction == "cone" else 0
    motion = np.ones((body_count, 6)), np.ones(body_count), 1e-3, np.zeros(body_count, np.bool_)
    partition_islands(rows, can_be_pushed, found[0], graph, laid_row, batches, batchable, motion)
    return *found, laid_row, batches


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
        first, second, end = (
            islands.domain_first[island],
            islands.second_domain[island],
            islands.domain_first[island + 1],
        )
        run = slice(islands.block_first[island], islands.block_first[island + 1])
        if first == end:
            assert np.array_equal(islands.block_order[run], before.block_order[run])
            continue
        assert run.stop - run.start >= BLOCKS_TO_PARTITION
        assert islands.domain_block[first, 0] == run.start
        assert islands.domain_block[end - 1, 1] == run.stop
        assert np.array_equal(islands.domain_block[first + 1 : end, 0], islands.domain_block[first : end - 1, 1])
        assert np.array_equal(np.sort(islands.block_order[run]), np.sort(before.block_order[run]))
        assert first < second
        for colour in (range(first, second), range(second, end)):
            seen = set()
            for part in colour:
                blocks = islands.block_order[slice(*islands.domain_block[part])]
                assert np.all(np.diff(blocks) > 0)
                touched = {int(body) for bodies in (rows.body_a, rows.body_b) for body in bodies[blocks]}
                touched = {body for body in touched if can_be_pushed[body]}
                assert not touched & seen
                seen |= touched
        assert np.all(np.diff(laid_row[run.start : run.stop + 1]) == 3)
    return int(islands.domain_first[islands.count[0]])


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


@kernel
def finds_contacts(islands, island, contact_count):
    return has_contacts(islands, island, contact_count)


def test_contacts_are_found_in_an_island_whose_first_part_has_joints_alone():
    """A chain of 2,000 bodies, half of which are in contact: the division begins at its other end."""
    pairs = np.stack((np.arange(1_999), np.arange(1, 2_000)), axis=1)
    islands, _, _, _ = divided(rows_between(pairs, 1), np.ones(2_000, np.bool_))
    contact_count = 1_000
    assert islands.block_order[0] >= contact_count
    assert finds_contacts(islands, 0, contact_count)
    assert not finds_contacts(islands, 0, 0)


def test_large_islands_have_parts_and_others_have_none():
    """A long chain has many; a body that touches all others leaves no more than three levels, which are one."""
    chain = np.column_stack([np.arange(600), np.arange(1, 601)])
    pushed = np.ones(601, bool)
    assert check_parts(rows_between(chain, 4), pushed) > 8
    assert check_parts(rows_between(chain[: BLOCKS_TO_PARTITION // 4 - 1], 4), pushed) == 0
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


def prepare(problem, method, friction, islands, laid_row, batches, sweeps, **options):
    """The largest island, with impulses of zero: what ``solve_island`` needs, in part copied."""
    solver = find_method(method, friction)
    options = SolverOptions(tolerance=1e-14, max_iterations=sweeps, **options)
    rows = RowArrays(*problem.rows[:-1], impulse=np.zeros(len(problem.rows.impulse)))
    velocity = problem.free_velocity.copy()
    workspace = solver.allocate(len(rows.impulse), len(velocity), 0)
    workspace = with_room_for_domains(workspace, len(rows.body_a), len(rows.impulse))
    workspace.domains.rows.block_row[: len(laid_row)] = laid_row
    workspace = workspace._replace(domains=workspace.domains._replace(batches=batches))
    island = int(np.argmax(np.diff(islands.block_first[: islands.count[0] + 1])))
    return rows, velocity, workspace, kernel_settings_of(solver, options, friction), island


def solve(problem, method, friction, islands, *where_and_sweeps, **options):
    """The largest island, from zero: rows, velocity and outcome."""
    found = prepare(problem, method, friction, islands, *where_and_sweeps, **options)
    rows, velocity, workspace, settings, island = found
    solve_island = find_method(method, friction).solve_island
    outcome = solve_island(rows, islands, island, problem.free_velocity, velocity, workspace, settings)
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
    """As by pgs in the parts' order, without any copy: to the bit, and to rounding what is swept in batches."""
    problem = problems[which]
    islands, _, *where = divided(problem.rows, problem.rows.body_mass[:, 0, 0] > 0.0, friction)
    rows, velocity, outcome, island = solve(problem, "pgs", friction, islands, *where, 25)
    assert islands.domain_first[island + 1] - islands.domain_first[island] > 4
    whole = islands._replace(domain_first=np.zeros_like(islands.domain_first))
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


@kernel
def lay_and_sweep(rows, islands, island, velocity, workspace, settings, sweeps):
    lay_rows(rows, islands, island, velocity, workspace)
    for _ in range(sweeps):
        sweep_island(rows, islands, island, velocity, workspace, settings, 1.0, 0.0)


@kernel
def sweep_once(rows, islands, island, velocity, workspace, settings):
    return sweep_island(rows, islands, island, velocity, workspace, settings, 1.0, 0.0)[0]


@kernel
def follow(rows, islands, island, velocity, workspace, settings, enough):
    """Sweeps over what is moved, until none is; how many."""
    done, largest = np.int64(1), 1.0
    while largest > enough and done < 2_000:
        since, done = done, done + 1
        largest = sweep_moved(rows, islands, island, velocity, workspace, settings, (since, done, enough))
    return done


@compiled_only
@pytest.mark.parametrize("friction", ["cone", "polyhedral"], ids=["in batches", "all loose"])
def test_sweeps_over_what_is_moved_leave_nothing_that_a_sweep_over_all_would_change(problems, friction):
    """A brick in a wall is hit: the sweeps follow the hit, end, and leave what it does not reach to the bit."""
    problem, enough = problems[0], 1e-3
    can_be_pushed = problem.rows.body_mass[:, 0, 0] > 0.0
    islands, _, *where = divided(problem.rows, can_be_pushed, friction)
    rows, velocity, workspace, settings, island = prepare(problem, "pgs", friction, islands, *where, 1)
    moved_in, given = workspace.domains.moved_in, (rows, islands, island, velocity, workspace, settings)
    lay_and_sweep(*given, 2_000)
    hit = len(velocity) // 2
    velocity[hit, 2] -= 1.0
    moved_in[hit] = 1
    before = velocity.copy()
    sweeps = follow(*given, enough)
    after, reached = velocity.copy(), moved_in > 0
    largest = sweep_once(*given)
    assert 2 < sweeps < 2_000
    assert 1 < reached.sum() < 0.8 * can_be_pushed.sum()
    assert not reached[~can_be_pushed].any()
    stays = (after == before).all(axis=1) & can_be_pushed
    assert stays.sum() > 0.1 * can_be_pushed.sum()
    # each of a brick's sixteen contacts may have left so much
    assert largest < 16.0 * enough


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
    settings = kernel_settings_of(solver, SolverOptions(max_iterations=1, tolerance=1e-300), friction)
    settings = settings._replace(max_iterations=0)
    workspace = solver.allocate(len(rows.impulse), len(velocity), 0)
    look = solver.solve_island(rows, before, island, problem.free_velocity, expected.copy(), workspace, settings)
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
    whole = islands._replace(domain_first=np.zeros_like(islands.domain_first))
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


def run_frames(model, workers, monkeypatch, **options):
    """Some frames by so many workers: the digest, the reports but for times, and how many parts there were."""
    monkeypatch.setattr(simulation, "worker_count", lambda threads, bodies: workers)
    monkeypatch.setattr(simulation, "threads", lambda count: threads(min(count, config.NUMBA_NUM_THREADS)))
    played = Simulation(model, SimulationOptions(**options))
    reports = [played.advance_frame() for _ in range(2)]
    islands = played._workers[0].members.problem.islands
    told = [[getattr(report, name) for name in report.__slots__ if name != "nanoseconds"] for report in reports]
    return played.digest(), told, int(islands.domain_first[islands.count[0]])


@compiled_only
@pytest.mark.parametrize(
    ("method", "friction"),
    [("nncg", "box"), ("nncg", "cone"), ("nncg", "polyhedral"), ("pgs", "cone"), ("auto", "cone")],
)
@pytest.mark.parametrize("make", [falling_wall, packed])
def test_one_large_island_moves_alike_by_any_number_of_lanes(monkeypatch, make, method, friction):
    """To the bit, and with the same reports."""
    model = make()
    options = {"method": method, "friction": friction, "max_iterations": 40, "quality": "exact"}
    alone = run_frames(model, 1, monkeypatch, **options)
    assert alone[2] > 4
    for workers in (2, 3, 5):
        assert run_frames(model, workers, monkeypatch, **options) == alone


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
        islands = played._workers[0].members.problem.islands
        assert islands.domain_first[islands.count[0]] > 4
    assert resumed.digest() == unbroken.digest()


TASK, RUN = range(2)
_call_stage = caller(types.none)


class Members(NamedTuple):
    """What a worker sees: stands for ``StepMembers``."""

    queue: np.ndarray
    job: np.ndarray
    done: np.ndarray
    counter: np.ndarray
    sizes: np.ndarray


@kernel
def count_pieces(arrays, worker):
    """The first lane to come offers job after job; it and all others write down what they do."""
    members = views_of(arrays)
    queue, present, done, counter, sizes = members.queue, members.job, members.done, members.counter, members.sizes
    if take_next(counter) > 0:
        while load_shared(counter, 1) == 0:
            task = take_task(queue)
            if task >= 0:
                done[present[0], task] += 1
                end_task(queue)
        return
    for job in range(done.shape[0]):
        present[0] = job
        if offer_tasks(queue, sizes[job]):
            while True:
                task = take_task(queue)
                if task < 0:
                    break
                done[job, task] += 1
                end_task(queue)
            await_tasks(queue, sizes[job])
        else:
            for task in range(sizes[job]):
                done[job, task] += 1
    store_shared(counter, 1, 1)


@kernel
def count_in_all_lanes(entries, contexts):
    _call_stage(entries, np.int64(RUN), entries, np.int64(TASK), contexts)


@compiled_only
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_piece_of_every_job_is_done_once(workers):
    """Whoever comes late takes nothing of a job that it has not seen."""
    random = np.random.default_rng(2)
    sizes = random.integers(0, 7, 20_000)
    done, queue, counter = np.zeros((len(sizes), 7), np.int64), np.zeros(QUEUE, np.int64), np.zeros(2, np.int64)
    job = np.zeros(1, np.int64)
    arrays = [StepArrays(Members(queue, job, done, counter, sizes)) for _ in range(workers)]
    contexts, entries = contexts_of(arrays), empty_table(2)
    enter(entries, TASK, count_pieces, types.none, arrays[0], 0)
    enter(entries, RUN, run_workers, types.none, entries, 0, contexts)
    with threads(min(workers, config.NUMBA_NUM_THREADS)):
        count_in_all_lanes(entries, contexts)
    assert np.array_equal(done, np.arange(7) < sizes[:, None])
