"""Work that is shared among threads: every task once, and the same bits by any number of them."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import config, types
from reference_collision import about
from sample_meshes import bumps, grid_mesh

from cairn.solver_core import simulation
from cairn.solver_core.compiled.function_tables import caller, empty_table, enter, task_caller
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.compiled.views import StepArrays, views_of
from cairn.solver_core.dynamics.schedule import sharing
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.parallel import workers
from cairn.solver_core.parallel.workers import contexts_of, run_workers, take_next, threads, worker_count
from cairn.solver_core.scenes import boulders, pile
from cairn.solver_core.simulation import Simulation

TASK, RUN = range(2)
TABLES = 6
compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="kernels run as plain Python")


class Members(NamedTuple):
    """What a worker sees: stands for ``StepMembers``."""

    own: np.ndarray
    result: np.ndarray
    counter: np.ndarray


@kernel
def square(arrays, worker):
    """Write the square of every number, and which worker it was that did."""
    members = views_of(arrays)
    own, counter, result = members.own, members.counter, members.result
    while True:
        task = take_next(counter)
        if task >= result.shape[0]:
            return
        result[task, 0] += task * task
        result[task, 1] = worker
        own[0] += 1


call_stage = caller(types.none)
call_task = task_caller()


@kernel
def square_all(entries, contexts, is_shared):
    if is_shared:
        call_stage(entries, np.int64(RUN), entries, np.int64(TASK), contexts)
    else:
        call_task(entries, np.int64(TASK), contexts[0], np.int64(0))


@compiled_only
@pytest.mark.parametrize("worker_total", [1, 2, 7])
@pytest.mark.parametrize("tasks", [0, 1, 10_000])
def test_every_task_is_taken_once(worker_total, tasks):
    """By some worker; each counts its own."""
    result, counter = np.zeros((tasks, 2), np.int64), np.zeros(1, np.int64)
    own = [np.zeros(1, np.int64) for _ in range(worker_total)]
    members = [Members(mine, result, counter) for mine in own]
    arrays = [StepArrays(one) for one in members]
    contexts, entries = contexts_of(arrays), empty_table(2)
    enter(entries, TASK, square, types.none, arrays[0], 0)
    enter(entries, RUN, run_workers, types.none, entries, 0, contexts)
    with threads(min(worker_total, config.NUMBA_NUM_THREADS)):
        square_all(entries, contexts, True)
    assert np.array_equal(result[:, 0], np.arange(tasks) ** 2)
    assert sum(int(mine[0]) for mine in own) == tasks
    assert np.array_equal(np.bincount(result[:, 1], minlength=worker_total), [int(mine[0]) for mine in own])
    counter[0], result[:] = 0, 0
    square_all(entries, contexts, False)
    assert np.all(result[:, 1] == 0)


@compiled_only
def test_a_task_of_other_arrays_is_refused():
    """Their addresses would be read as something else."""
    arrays = StepArrays(Members(np.zeros(1), np.zeros((1, 2)), np.zeros(1)))
    entries = empty_table(2)
    with pytest.raises(TypeError, match="wrong address"):
        square_all(entries, contexts_of([arrays]), False)


def test_small_scenes_have_one_worker():
    """Others as many as they may, at most one a core."""
    assert worker_count(0, 100) == worker_count(8, 100) == 1
    if not config.DISABLE_JIT:
        assert worker_count(0, 10_000) == config.NUMBA_NUM_THREADS
        assert worker_count(1, 10_000) == 1
        assert worker_count(10_000, 10_000) == config.NUMBA_NUM_THREADS


def test_the_setting_of_others_comes_back():
    """Numba's number of threads belongs to all code in the process."""
    before = workers.numba.get_num_threads()
    with threads(1):
        pass
    with pytest.raises(KeyError), threads(config.NUMBA_NUM_THREADS):
        raise KeyError
    assert workers.numba.get_num_threads() == before


def field():
    """Pillars that touch no other, some of which a ball hits: more than 300 pairs, and 140 islands with impacts."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((60.0, 60.0, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC, restitution=0.5)
    random = np.random.default_rng(5)
    for column in range(12):
        for row in range(12):
            turn = random.normal(scale=0.02, size=3)
            for level in range(3):
                place = (3.0 * column - 20.0, 3.0 * row - 20.0, 0.51 + 1.02 * level)
                pose = {"position": place, "orientation": (1.0, *(turn * level))}
                builder.add_body(
                    shape=Box((0.5, 0.5, 0.5)), mass=1.0 + 3.0 * level, restitution=0.4 * (row % 2), **pose
                )
            if (column + row) % 3 == 0:
                place = (3.0 * column - 20.0 + 1.2, 3.0 * row - 20.0, 2.0)
                builder.add_body(shape=Sphere(0.3), position=place, linear_velocity=(-8.0, 0, 0), restitution=0.6)
    return builder.build()


def share_again(played):
    """Forget that other programs have the cores, for which one worker does all for a while."""
    for worker in played._workers or ():
        worker.members.sharing.alone_until[0] = 0


def play(model, frames, **options):
    """The simulation at its end, and all that its reports say but times."""
    played = Simulation(model, SimulationOptions(**options))
    reports = []
    for _ in range(frames):
        share_again(played)
        report = played.advance_frame()
        reports.append([getattr(report, name) for name in report.__slots__ if name != "nanoseconds"])
    return played, reports


@pytest.fixture
def shares_early(monkeypatch):
    """A setter of the number of workers, in which also small scenes are shared."""
    monkeypatch.setattr(sharing, "PAIRS_TO_SHARE", 300)
    monkeypatch.setattr(sharing, "CONTACTS_TO_SHARE", 100)
    monkeypatch.setattr(simulation, "threads", lambda count: threads(min(count, config.NUMBA_NUM_THREADS)))
    return lambda total: monkeypatch.setattr(simulation, "worker_count", lambda threads, bodies: total)


def was_shared(played):
    """Whether several workers have taken runs of pairs."""
    return bool(played._workers[0].members.pair_runs.count.any())


@pytest.mark.one_python
@compiled_only
@pytest.mark.parametrize("method", ["auto", "nncg"])
def test_a_scene_moves_alike_by_any_number_of_threads(shares_early, method):
    """To the bit, and with the same reports: with one worker, with two, and with more than this machine has cores."""
    model = field()
    alone, reports = play(model, 24, method=method, threads=1)
    assert not was_shared(alone)
    for worker_total in (2, 5):
        shares_early(worker_total)
        shared, shared_reports = play(model, 24, method=method)
        assert was_shared(shared)
        assert shared_reports == reports
        assert shared.digest() == alone.digest()


@compiled_only
@pytest.mark.parametrize("make", [lambda: pile(400), lambda: boulders(200)], ids=["pile", "boulders on a mesh"])
def test_heaps_and_meshes_too(shares_early, make):
    """One large island, buffers that have to grow on the way, and triangles that each worker tests by itself."""
    model = make().build_model()
    alone, reports = play(model, 32, threads=1)
    shares_early(3)
    shared, shared_reports = play(model, 32)
    assert was_shared(shared)
    assert shared_reports == reports
    assert shared.digest() == alone.digest()


def turntables():
    """Six hilly grounds that turn, with fifty bodies of all kinds on each."""
    builder, random = ModelBuilder(), np.random.default_rng(3)
    ground = TriangleMesh(*grid_mesh(12, 6.0, height=lambda x, y: 0.5 * bumps(x, y), rng=random))
    for table in range(TABLES):
        builder.add_body(shape=ground, position=(8.0 * table, 0.0, 0.0), kind=BodyKind.KINEMATIC, friction=0.8)
    hull = ConvexHull.from_points(random.normal(size=(12, 3)) * 0.15)
    shapes = [Box((0.2, 0.15, 0.1)), Cylinder(0.15, 0.12), Cone(0.2, 0.15), Capsule(0.1, 0.15), hull]
    for number in range(50 * TABLES):
        table, place = divmod(number, 50)
        level, row, column = place // 25, place // 5 % 5, place % 5
        builder.add_body(
            shape=shapes[(row + column) % 5],
            position=(8.0 * table + 0.6 * column - 1.2, 0.6 * row - 1.2, 0.5 + 0.5 * level),
            orientation=random.normal(size=4),
            friction=0.6,
        )
    return builder.build()


def turn_tables(played, frames):
    """Advance while every table turns and tilts about an axis of its own; what the reports say but times.

    Last in each is whether the narrow phase was last run to check end poses.
    """
    reports = []
    places, turns = (values.copy() for values in played.poses())
    for frame in range(1, frames + 1):
        for table in range(TABLES):
            turns[table] = about((np.cos(table), np.sin(table), 0.5), np.radians(6.0 * frame))
        share_again(played)
        report = played.advance_frame(FrameInput(position=places, orientation=turns))
        reports.append([getattr(report, name) for name in report.__slots__ if name != "nanoseconds"])
        # after the frame that finds so many contacts that islands are divided, there are no workers for a moment
        if played._workers:
            reports[-1].append(bool(played._workers[0].members.pair_runs.only_checks[0]))
    return reports


@compiled_only
def test_what_lies_on_meshes_that_turn_moves_alike_too(shares_early):
    """To the bit by 1, 2, 3 and 5 workers, with contacts of the poses at the substeps' ends."""
    model = turntables()
    alone = Simulation(model, SimulationOptions(threads=1))
    reports = turn_tables(alone, 8)
    assert not was_shared(alone)
    assert any(report[-1] for report in reports)
    for worker_total in (2, 3, 5):
        shares_early(worker_total)
        shared = Simulation(model, SimulationOptions())
        assert turn_tables(shared, 8) == reports
        assert was_shared(shared)
        assert shared.digest() == alone.digest()


CONTACT_FIELDS = (
    "position",
    "normal",
    "gap",
    "local_a",
    "local_b",
    "local_normal",
    "surface_velocity",
    "toi_offset",
    "unrelaxed_gap",
    "impulse",
)


def arrays_in(members):
    """All arrays in nested tuples."""
    return [members] if isinstance(members, np.ndarray) else [array for part in members for array in arrays_in(part)]


def spoil(played):
    """Overwrite what no stage may read: contacts that are there no more, and the scratch of the narrow phase."""
    for worker in played._workers or ():
        collision, made = worker.members.collision, worker.members.pair_runs.own_contacts
        last = collision.contacts[collision.roles.last_substep[0]]
        for contacts in (*collision.contacts, made):
            first = int(last.count[0]) if contacts is last else 0
            for name in CONTACT_FIELDS:
                getattr(contacts, name)[first:] = np.nan
        for scratch in arrays_in((collision.workspace.scratch, collision.workspace.meshes.contact)):
            scratch[:] = np.nan if scratch.dtype == float else -7


@pytest.mark.parametrize("make", [lambda: pile(60), lambda: boulders(60)], ids=["pile", "boulders on a mesh"])
def test_nothing_is_read_that_others_have_left(make):
    """Which worker makes which contacts depends on chance, and so does what was in their places before."""
    model = make().build_model()
    alone, reports = play(model, 1 if config.DISABLE_JIT else 40, threads=1)
    spoiled = Simulation(model, SimulationOptions(threads=1))
    for expected in reports:
        report = spoiled.advance_frame()
        assert [getattr(report, name) for name in report.__slots__ if name != "nanoseconds"] == expected
        spoil(spoiled)
    assert spoiled.digest() == alone.digest()
