"""The same scene moves the same way: again, resumed in the middle, and with its bodies in another order."""

import io
from dataclasses import replace

import numpy as np
import pytest

from cairn.solver_core import simulation as simulation_module
from cairn.solver_core.checkpoint import Checkpoint
from cairn.solver_core.diagnostics import deepest_overlap
from cairn.solver_core.dynamics.islands.memory import allocate_island_memory, begin_substep, end_substep
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.scenes import pile, pyramid
from cairn.solver_core.scenes.cards import card_house
from cairn.solver_core.scenes.chain import chain
from cairn.solver_core.scenes.stacks import stack
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.trajectory import Trajectory

# Newton's method carries more from step to step than any other: its penalty, its order of elimination, its factors.
METHODS = ("nncg", "auto")


def trajectory(simulation, frames):
    path = Trajectory(*simulation.poses())
    for _ in range(frames):
        report = simulation.advance_frame()
        path.append(*simulation.poses(), report)
    return path


def stored(checkpoint):
    """The bytes of a checkpoint in a file of NumPy's."""
    file = io.BytesIO()
    np.savez_compressed(file, **checkpoint.arrays)
    return file.getvalue()


def loaded(file, frame):
    with np.load(io.BytesIO(file), allow_pickle=False) as arrays:
        return Checkpoint(frame, dict(arrays))


@pytest.mark.parametrize("method", METHODS)
def test_a_resumed_run_is_the_unbroken_one_to_the_bit(method):
    """A checkpoint in the middle of a falling pile, stored, taken up by another simulation and by the same one."""
    model, options = pile(12).build_model(), SimulationOptions(method=method)
    simulation = Simulation(model, options)
    trajectory(simulation, 30)
    file = stored(simulation.checkpoint())
    unbroken = trajectory(simulation, 15).digest()
    assert simulation.frame == 45
    resumed = Simulation(model, options)
    resumed.restore(loaded(file, 30))
    assert resumed.frame == 30
    assert trajectory(resumed, 15).digest() == unbroken
    simulation.restore(loaded(file, 30))
    assert trajectory(simulation, 15).digest() == unbroken
    assert simulation.digest() == resumed.digest()


def test_what_rolls_and_slides_goes_on_to_the_bit_from_each_frame():
    """What a contact has left of its speeds is carried on, too: of round bodies, hulls and compounds that turn."""
    builder, random = ModelBuilder(), np.random.default_rng(4)
    builder.add_body(shape=Box((20.0, 20.0, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC)
    hull = ConvexHull.from_points(random.normal(size=(14, 3)) * 0.3)
    for place, shape in enumerate((Cone(0.3, 0.3), Capsule(0.2, 0.3), Cylinder(0.3, 0.3), Sphere(0.3), hull)):
        builder.add_body(
            shape=shape,
            position=(2.0 * place, 0, 0.6),
            orientation=random.normal(size=4),
            linear_velocity=(0, 2, 0),
            angular_velocity=random.normal(size=3),
        )
    model, options = builder.build(), SimulationOptions()
    simulation = Simulation(model, options)
    checkpoints, digests = [], []
    for _ in range(30):
        checkpoints.append(simulation.checkpoint())
        simulation.advance_frame()
        digests.append(simulation.digest())
    for checkpoint, expected in zip(checkpoints, digests, strict=True):
        resumed = Simulation(model, options)
        resumed.restore(checkpoint)
        resumed.advance_frame()
        assert resumed.digest() == expected, checkpoint.frame


def test_a_resumed_run_begins_its_search_as_the_unbroken_one():
    """In a heap that falls, half of what bodies were pushed farther is a guess for the next substep."""
    model, options = pile(40).build_model(), SimulationOptions()
    simulation = Simulation(model, options)
    trajectory(simulation, 17)
    checkpoint = simulation.checkpoint()
    assert checkpoint.arrays["surplus"].max() > 0.01
    without = {**checkpoint.arrays, "surplus": np.zeros(model.body_count)}
    digests = [trajectory(simulation, 15).digest()]
    for arrays in (checkpoint.arrays, without):
        simulation.restore(Checkpoint(17, arrays))
        digests.append(trajectory(simulation, 15).digest())
    assert digests[1] == digests[0]
    assert digests[2] != digests[0]


def frames_in_steps(simulation, frames):
    """As ``trajectory``, with somebody who looks at the poses after each substep."""
    path = Trajectory(*simulation.poses())
    for _ in range(frames):
        steps, seen = simulation.frame_steps(), []
        while True:
            try:
                seen.append(next(steps))
                simulation.poses()
            except StopIteration as end:
                report = end.value
                break
        assert seen == list(range(1, report.substeps))
        path.append(*simulation.poses(), report)
    return path


@pytest.mark.parametrize(
    ("scene", "options"),
    [
        (pile(30), {}),
        (pile(30), {"quality": "exact"}),
        (pile(30), {"substeps": 1, "max_substeps": 8}),
        (stack(4), {}),
        (chain(6), {}),
    ],
    ids=["pile", "exact", "substeps", "stack", "chain"],
)
def test_a_frame_in_steps_is_the_same_frame_to_the_bit(scene, options, monkeypatch):
    """Bodies fall asleep at the same time, too, and the reports are the same but for their times."""
    monkeypatch.setattr(simulation_module, "SECONDS_AT_ONCE", 0.0)
    model, options = scene.build_model(), SimulationOptions(**options)
    at_once, in_steps = Simulation(model, options), Simulation(model, options)
    first, second = trajectory(at_once, 40), frames_in_steps(in_steps, 40)
    assert first.digest() == second.digest()
    assert at_once.digest() == in_steps.digest()
    for one, other in zip(first.reports, second.reports, strict=True):
        assert {**one.as_dict(), "seconds": None} == {**other.as_dict(), "seconds": None}
    assert stored(at_once.checkpoint()) == stored(in_steps.checkpoint())


def test_a_substep_may_start_twice():
    """Where buffers were full or bodies woke, it still knows which bodies the last one left unsolved."""
    start, end = (getattr(function, "py_func", function) for function in (begin_substep, end_substep))
    flags = allocate_island_memory(3)
    flags.is_unsolved[1] = True
    end(flags)
    for _ in range(2):
        start(flags)
        assert flags.was_unsolved.tolist() == [False, True, False]
        assert not flags.is_unsolved.any()
        flags.is_unsolved[2] = True
    end(flags)
    assert flags.was_unsolved.tolist() == [False, False, True]


def test_a_checkpoint_is_left_alone_by_what_follows():
    """It can be gone back to twice, and sleep is part of it."""
    simulation = Simulation(stack(3).build_model(), SimulationOptions(method="nncg"))
    trajectory(simulation, 40)
    assert simulation.sleeping[1:].all()
    checkpoint = simulation.checkpoint()
    digests = set()
    for _ in range(2):
        simulation.restore(checkpoint)
        assert simulation.sleeping[1:].all()
        simulation.advance_frame(FrameInput(gravity=np.array([0.0, 1.0, -9.81])))
        digests.add(trajectory(simulation, 12).digest())
    assert len(digests) == 1
    with pytest.raises(ValueError, match="4 bodies"):
        Simulation(stack(2).build_model(), SimulationOptions(method="nncg")).restore(checkpoint)


def leaning_bodies():
    """Stacks that lean on each other, and a ball that bounces beside them."""
    cube = Box((0.5, 0.5, 0.5))
    bodies = [{"shape": Box((9.0, 9.0, 0.5)), "position": (0, 0, -0.5), "kind": BodyKind.STATIC, "name": "Floor"}]
    for column in range(3):
        for level in range(3):
            place = (1.0005 * column + 0.1 * level, 0.05 * level, 0.5 + level)
            bodies.append({"shape": cube, "position": place, "name": f"Box {column} {level}", "mass": 1.0 + column})
    ball = {"shape": Sphere(0.4), "position": (-3.0, 0.1, 0.8), "linear_velocity": (1.0, 2.0, 0.0), "restitution": 0.5}
    return [*bodies, ball | {"name": "Ball"}]


def test_a_checkpoint_of_a_mesh_that_deforms():
    """A sheet that waves under boxes goes on from where it is, and lies flat in a simulation that goes back."""
    x, y = np.meshgrid(np.linspace(-3.0, 3.0, 9), np.linspace(-3.0, 3.0, 9), indexing="ij")
    corner = (np.arange(8)[:, None] * 9 + np.arange(8)).ravel()
    faces = np.concatenate(
        [np.stack([corner, corner + 9, corner + 10], 1), np.stack([corner, corner + 10, corner + 1], 1)]
    )
    builder = ModelBuilder()
    builder.add_body(
        shape=TriangleMesh(np.stack([x, y, 0.0 * x], -1).reshape(-1, 3), faces), kind=BodyKind.STATIC, name="Sheet"
    )
    for place in range(3):
        builder.add_body(shape=Box((0.3, 0.3, 0.3)), position=(place - 1.0, 0.1 * place, 0.35))
    model = builder.build()

    def play(simulation, frames):
        for _ in range(frames):
            height = 0.2 * np.sin(x + 0.3 * simulation.frame) * min(1.0, simulation.frame / 10)
            simulation.advance_frame(FrameInput(vertices={0: np.stack([x, y, height], -1).reshape(-1, 3)}))
        return simulation.digest()

    simulation = Simulation(model, SimulationOptions(method="nncg"))
    beginning = simulation.checkpoint()
    play(simulation, 6)
    middle = simulation.checkpoint()
    end = play(simulation, 6)
    resumed = Simulation(model, SimulationOptions(method="nncg"))
    resumed.restore(middle)
    assert play(resumed, 6) == end
    simulation.restore(beginning)
    assert play(simulation, 12) == end


def test_a_checkpoint_is_small():
    """At most 2,000 bytes a body in a heap of boxes that lie on each other: 2 MB for a thousand."""
    model = pile(60).build_model()
    simulation = Simulation(model, SimulationOptions(method="nncg"))
    trajectory(simulation, 60)
    assert len(stored(simulation.checkpoint())) < 2000 * model.body_count


def test_a_damaged_checkpoint_changes_nothing():
    """An array that is missing, or has another shape, is named."""
    simulation = Simulation(stack(3).build_model(), SimulationOptions(method="nncg"))
    trajectory(simulation, 5)
    before, checkpoint = simulation.digest(), simulation.checkpoint()
    for damage, message in (
        ({name: array for name, array in checkpoint.arrays.items() if name != "pairs.pose"}, "no pairs.pose"),
        (checkpoint.arrays | {"state.position": np.zeros((2, 3))}, r"state.position .* \(2, 3\)"),
    ):
        with pytest.raises(ValueError, match=message):
            simulation.restore(Checkpoint(5, damage))
    assert simulation.digest() == before


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_creation_does_not_matter(seed):
    """Bodies in another order move alike within 1e-9 m, where the solver is asked for that much.

    Only where the law itself decides: the forces between two faces that slide on each other are not unique, nor is then
    the turn that friction gives.
    """
    paths = []
    for shuffled in (False, True):
        bodies = leaning_bodies()
        if shuffled:
            bodies = [bodies[place] for place in np.random.default_rng(seed).permutation(len(bodies))]
        builder = ModelBuilder()
        for body in bodies:
            builder.add_body(**{"restitution": 1.0} | body)
        simulation = Simulation(builder.build(), SimulationOptions(method="auto", tolerance=1e-11))
        path = trajectory(simulation, 24).position
        paths.append({body["name"]: path[:, index] for index, body in enumerate(bodies)})
    worst = {name: np.abs(paths[0][name] - paths[1][name]).max() for name in paths[0]}
    assert max(worst.values()) < 1e-9, max(worst, key=worst.get)


@pytest.mark.parametrize("scene", [pyramid(7), card_house(3)], ids=["pyramid", "cards"])
@pytest.mark.parametrize("sleeping", [False, True])
def test_the_order_of_creation_does_not_matter_at_rest(scene, sleeping):
    """What stands moves alike within 1e-9 m in two seconds at the default tolerance, where other orders round apart."""
    paths = []
    for seed in (None, 0, 1):
        order = np.arange(len(scene.bodies))
        if seed is not None:
            order = np.random.default_rng(seed).permutation(order)
        model = replace(scene, bodies=[scene.bodies[place] for place in order]).build_model()
        path = trajectory(Simulation(model, SimulationOptions(sleeping=sleeping)), 48).position
        paths.append(path[:, np.argsort(order)])
    assert np.ptp(paths, axis=0).max() < 1e-9


def test_substeps_follow_the_fastest_body():
    """Between the limits a body goes at most half its size a substep; a slow scene takes the least."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(shape=Box((0.5, 0.5, 0.5)), linear_velocity=(96.0, 0.0, 0.0))
    options = SimulationOptions(method="nncg", substeps=2, max_substeps=20)
    simulation = Simulation(builder.build(), options)
    # 4 m a frame: 8 substeps of half a metre
    assert simulation.advance_frame().substeps == 8
    assert simulation.poses()[0][0, 0] == pytest.approx(4.0, rel=1e-12)
    assert Simulation(stack(2).build_model(), options).advance_frame().substeps == 2
    with pytest.raises(ValueError, match="max_substeps"):
        SimulationOptions(substeps=4, max_substeps=3)


def test_the_deepest_overlap_of_given_poses():
    """Of two pairs of boxes pushed into each other the deeper one counts; without any it is 0."""
    builder = ModelBuilder()
    for _ in range(4):
        builder.add_body(shape=Box((0.5, 0.5, 0.5), position=(0.2, 0.0, 0.0)))
    model = builder.build()
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (4, 1))
    places = np.array([[0.0, 0.0, 0.0], [0.97, 0.1, 0.0], [5.0, 0.0, 0.0], [5.0, 0.0, 0.93]])
    assert deepest_overlap(model, places, upright) == pytest.approx(0.07, rel=1e-9)
    assert deepest_overlap(model, 2.0 * places, upright) == 0.0


def test_memory_is_bounded():
    """A body and its contacts take kilobytes, and nothing grows while a stack stands."""
    simulation = Simulation(stack(20).build_model(), SimulationOptions(method="nncg", sleeping=False))
    simulation.advance_frame()
    simulation.advance_frame()  # by now there is room for SIMD batches
    before = simulation.memory()
    for _ in range(24):
        simulation.advance_frame()
    assert simulation.memory() == before
    assert set(before) == {"model", "bodies", "joints", "pairs and contacts", "rows", "solver", "threads"}
    # Room for 16 contacts a body, whose three rows take some 300 bytes each; and they lie in three buffers of some 250.
    tall = Simulation(stack(200).build_model(), SimulationOptions(method="nncg", sleeping=False)).memory()
    a_body = (sum(tall.values()) - sum(before.values())) / 180
    assert a_body < 35_000
    assert sum(before.values()) - before["solver"] - 21 * a_body < 2_200_000  # scratch, however many bodies
