"""Bodies that wait: what wakes them, in which substep, and how they move off."""

import math

import numpy as np
import pytest

from cairn.solver_core import (
    Activation,
    BodyKind,
    Box,
    FrameInput,
    ModelBuilder,
    ModelError,
    Point,
    Simulation,
    SimulationOptions,
    Sphere,
)

FRAME_RATE, SUBSTEPS = 24, 4
H = 1.0 / (FRAME_RATE * SUBSTEPS)
QUALITIES = ("exact", "production", "preview")
_CUBE = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
_CUBE_FACES = [
    *[(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)],
    *[(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)],
]


def simulation_of(builder, quality="exact") -> Simulation:
    options = SimulationOptions(frame_rate=FRAME_RATE, substeps=SUBSTEPS, quality=quality, friction="cone")
    return Simulation(builder.build(), options)


def woken(simulation, frames, inputs=None) -> dict:
    """When bodies wake, by name: (frame, substep), from 0."""
    found = {}
    for frame in range(frames):
        report = simulation.advance_frame(inputs[frame] if inputs else None)
        for name in report.activated:
            found[name] = frame, int(simulation._waiting.woke_in[simulation.model.names.index(name)])
    return found


def substep_at(time) -> tuple:
    number = math.floor(time / H)
    return number // SUBSTEPS, number % SUBSTEPS


def row_of_balls(count, gap, speed, activation=None):
    """A ball that flies along x at others in a row, which bounce fully, without gravity; and one that is beside."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for number in range(count + 1):
        builder.add_body(
            name=f"ball {number}",
            shape=Sphere(0.5),
            mass=2.0,
            restitution=1.0,
            position=(number * (1.0 + gap), 0.0, 0.0),
            linear_velocity=(0.0 if number else speed, 0.0, 0.0),
            activation=activation if number else None,
        )
    beside = 3.0 * (1.0 + gap), 1.001, 0.0
    builder.add_body(name="beside", shape=Sphere(0.5), position=beside, activation=activation)
    return builder


def test_a_row_of_fifty_wakes_ball_by_ball():
    gap, speed, count = 0.07, 3.0, 50
    waits, free = (simulation_of(row_of_balls(count, gap, speed, each)) for each in (Activation.touch(), None))
    # a frame is a substep
    one = FrameInput(duration=H)
    waits, free = (Simulation(each.model, SimulationOptions(frame_rate=1.0 / H, substeps=1)) for each in (waits, free))
    found, moved = {}, {}
    while len(moved) < count and free.frame < 1000:
        for name in waits.advance_frame(one).activated:
            found[name] = waits.frame
        free.advance_frame(one)
        for ball in np.flatnonzero(free.velocities()[1:-1, 0]) + 1:
            moved.setdefault(f"ball {ball}", free.frame)
        # to the bit: what wakes is dynamic from the substep's beginning
        assert np.array_equal(waits.poses()[0], free.poses()[0])
        assert np.array_equal(waits.velocities(), free.velocities())
    assert found == moved
    assert found["ball 1"] == math.floor(gap / speed / H) + 1
    assert waits.waiting.tolist() == [False] * (count + 1) + [True]


@pytest.mark.parametrize("quality", QUALITIES)
def test_what_touches_passes_a_push_on_in_the_same_substep(quality):
    def boxes(activation):
        builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
        box = Box((0.5, 0.5, 0.5))
        builder.add_body(shape=box, mass=3.0, position=(-0.05, 0.0, 0.0), linear_velocity=(2.0, 0.0, 0.0))
        for number in range(6):
            builder.add_body(
                name=f"box {number}", shape=box, position=(1.0 + number, 0.0, 0.0), activation=activation, friction=0.0
            )
        return simulation_of(builder, quality)

    waits, free = boxes(Activation.touch()), boxes(None)
    found = woken(waits, 6)
    assert set(found) == {f"box {number}" for number in range(6)}
    assert set(found.values()) == {substep_at(0.05 / 2.0)}
    for _ in range(6):
        free.advance_frame()
    # momentum 6 N s of 9 kg
    assert waits.velocities()[:, 0] == pytest.approx(6.0 / 9.0, rel=1e-4)
    assert waits.poses()[0] == pytest.approx(free.poses()[0], abs=1e-6)


def hit_on_a_box(threshold, *, restitution, gap, driven, shape, quality):
    """A mass of 2 kg at 2 m/s, or something driven, on a body of 3 kg."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(
        shape=shape,
        mass=2.0,
        restitution=1.0,
        linear_velocity=(2.0, 0.0, 0.0),
        kind=BodyKind.KINEMATIC if driven else BodyKind.DYNAMIC,
    )
    builder.add_body(
        name="waits",
        shape=shape,
        mass=3.0,
        restitution=restitution,
        position=(1.0 + gap, 0.0, 0.0),
        activation=Activation.impulse(threshold),
    )
    return simulation_of(builder, quality)


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("shape", [Sphere(0.5), Box((0.5, 0.5, 0.5))], ids=["ball", "box"])
@pytest.mark.parametrize("driven", [False, True], ids=["thrown", "driven"])
@pytest.mark.parametrize("gap", [0.3, 0.3172])
def test_a_hit_just_above_the_threshold_wakes_and_one_just_below_does_not(quality, restitution, shape, driven, gap):
    impulse = (3.0 if driven else 2.0) * 2.0 * (1.0 + restitution)
    kept = {"restitution": restitution, "gap": gap, "driven": driven, "shape": shape, "quality": quality}
    assert woken(hit_on_a_box(0.99 * impulse, **kept), 6) == {"waits": substep_at(gap / 2.0)}
    assert woken(hit_on_a_box(1.01 * impulse, **kept), 6) == {}


def test_what_rests_on_a_body_is_no_hit():
    def dropped(height):
        builder = ModelBuilder(gravity=(0.0, 0.0, -10.0))
        builder.add_body(name="shelf", shape=Box((2.0, 0.5, 0.5)), mass=9.0, activation=Activation.impulse(5.0))
        builder.add_body(shape=Box((0.5, 0.5, 0.5)), mass=500.0, position=(0.0, 0.0, 1.0))
        builder.add_body(shape=Sphere(0.2), mass=2.0, position=(1.5, 0.0, 0.7 + height))
        return simulation_of(builder)

    # m sqrt(2 g h) = 5 N s of 2 kg is a fall from 0.3125 m; the 500 kg weigh 52 N s a substep
    assert woken(dropped(0.98**2 * 0.3125), 24) == {}
    assert set(woken(dropped(1.02**2 * 0.3125), 24)) == {"shelf"}


def sampled(simulation, row, path, frames):
    """Inputs that drive a body through the positions of ``path(time)``."""
    count = simulation.model.body_count
    inputs = []
    for frame in range(frames):
        position, orientation = np.zeros((count, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
        position[row] = path((frame + 1) / FRAME_RATE)
        inputs.append(FrameInput(position=position, orientation=orientation))
    return inputs


def test_what_is_driven_wakes_what_it_touches_and_nothing_that_it_passes():
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    shape = Box((0.5, 0.5, 0.5))
    pusher = builder.add_body(shape=shape, kind=BodyKind.KINEMATIC, position=(-2.0, 0.0, 0.0))
    builder.add_body(name="in the way", shape=shape, position=(0.0, 0.0, 0.0), activation=Activation.touch())
    # within a tenth of a millimetre of the pusher's way
    builder.add_body(name="below", shape=shape, position=(-1.0, 0.0, -1.0001), activation=Activation.touch())
    builder.add_body(name="aside", shape=Sphere(0.5), position=(-1.0, 1.0001, 0.0), activation=Activation.touch())
    simulation = simulation_of(builder)
    before = simulation.poses()[0][2:]
    found = woken(simulation, 8, sampled(simulation, pusher, lambda time: (-2.0 + 3.3 * time, 0.0, 0.0), 8))
    assert found == {"in the way": substep_at(1.0 / 3.3)}
    assert np.array_equal(simulation.poses()[0][2:], before)


def test_a_driven_body_that_stands_wakes_nobody():
    builder = ModelBuilder()
    shape = Box((0.5, 0.5, 0.5))
    builder.add_body(shape=shape, kind=BodyKind.KINEMATIC)
    builder.add_body(shape=shape, kind=BodyKind.STATIC, position=(3.0, 0.0, 0.0))
    for x in (0.0, 3.0):
        builder.add_body(shape=shape, position=(x, 0.0, 1.0), activation=Activation.touch())
    assert woken(simulation_of(builder), 12) == {}


def test_a_volume_at_a_hundred_metres_a_second_wakes_each_in_its_substep():
    builder, speed, count, half = ModelBuilder(gravity=(0.0, 0.0, -9.81)), 100.0, 40, 0.05
    matrix = np.array([[2.0 * half, 0.0, 0.0, -1.013], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    volume = builder.add_volume(_CUBE, _CUBE_FACES, matrix=matrix)
    for number in range(count):
        for side, y in (("in", 0.49), ("out", 0.51)):
            builder.add_body(
                name=f"{side} {number}",
                shape=Sphere(0.1),
                position=(0.777 * number, y, 0.0),
                collision_mask=0,
                activation=Activation.in_volume(volume),
            )
    simulation, inputs = simulation_of(builder), []
    for frame in range(12):
        moved = matrix.copy()
        moved[0, 3] += speed * (frame + 1) / FRAME_RATE
        inputs.append(FrameInput(volumes=moved[None]))
    arrival = {f"in {number}": (0.777 * number + 1.013 - half) / speed for number in range(count)}
    assert woken(simulation, 12, inputs) == {name: substep_at(time) for name, time in arrival.items()}


def test_a_volume_that_grows_from_nothing_wakes_what_it_reaches():
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    volume = builder.add_volume(_CUBE, _CUBE_FACES, matrix=np.zeros((3, 4)))
    for number in range(8):
        place = 0.01 + 0.3 * number
        builder.add_body(
            name=f"{number}", shape=Sphere(0.1), position=(place, 0.0, 0.0), activation=Activation.in_volume(volume)
        )
    simulation = simulation_of(builder)
    # its half grows by 1 m/s
    inputs = [
        FrameInput(volumes=np.hstack([2.0 * (frame + 1) / FRAME_RATE * np.eye(3), np.zeros((3, 1))])[None])
        for frame in range(40)
    ]
    found = woken(simulation, 40, inputs)
    assert found == {f"{number}": substep_at(0.01 + 0.3 * number) for number in range(6)}


def leaning_wall(angle=0.2):
    """A wall of boxes that leans by ``angle``, in the air, and a ball that flies at it later."""
    builder = ModelBuilder()
    shape = Box((0.5, 0.25, 0.25))
    builder.add_body(shape=Box((20.0, 20.0, 0.5)), kind=BodyKind.STATIC, position=(0.0, 0.0, -0.5))
    turn = math.cos(angle / 2), math.sin(angle / 2), 0.0, 0.0
    for layer in range(6):
        for column in range(4):
            along, up = column + 0.5 * (layer % 2), 0.3 + 0.5 * layer
            place = along, -up * math.sin(angle), up * math.cos(angle)
            builder.add_body(shape=shape, position=place, orientation=turn, activation=Activation.touch())
    fast = {"linear_velocity": (0.0, 8.0, 3.0), "position": (1.7, -12.0, 1.0)}
    builder.add_body(name="ball", shape=Sphere(0.3), mass=4.0, **fast)
    return builder


def test_a_wall_that_leans_stays_until_it_is_touched():
    simulation = simulation_of(leaning_wall(), "production")
    start, first = simulation.poses()[0], None
    for frame in range(72):
        report = simulation.advance_frame()
        if report.activated:
            first = frame
            break
        assert np.abs(simulation.poses()[0][1:-1] - start[1:-1]).max() <= 1e-6
    assert first is not None
    assert first > 24
    for _ in range(48):
        simulation.advance_frame()
    assert not simulation.waiting.any()
    assert np.abs(simulation.poses()[0][1:-1] - start[1:-1]).max(axis=1).min() > 0.01


def test_a_waiting_body_holds_what_leans_on_it():
    builder = ModelBuilder()
    shape = Box((0.5, 0.5, 0.5))
    builder.add_body(name="holds", shape=shape, position=(0.0, 0.0, 3.0), activation=Activation.told())
    builder.add_body(shape=shape, position=(0.0, 0.0, 4.0))
    simulation = simulation_of(builder)
    assert woken(simulation, 48) == {}
    assert simulation.poses()[0][:, 2] == pytest.approx([3.0, 4.0], abs=1e-4)
    report = simulation.advance_frame(FrameInput(activate=np.array([True, False])))
    assert report.activated == ["holds"]
    for _ in range(11):
        simulation.advance_frame()
    # both fall together, which wakes what slept on it
    fallen = 0.5 * 9.81 * (12 / FRAME_RATE) ** 2
    assert simulation.poses()[0][:, 2] == pytest.approx([3.0 - fallen, 4.0 - fallen], abs=1e-4)


def test_a_body_that_is_put_to_waiting_stops_and_waits_for_its_trigger():
    builder = ModelBuilder()
    builder.add_body(name="falls", shape=Sphere(0.5), activation=Activation(Activation.touch().trigger, waits=False))
    builder.add_body(shape=Sphere(0.5), position=(0.0, 0.0, 6.0), collision_mask=1)
    simulation = simulation_of(builder)
    for _ in range(6):
        simulation.advance_frame()
    simulation.advance_frame(FrameInput(deactivate=np.array([True, False])))
    height = simulation.poses()[0][0, 2]
    assert height == pytest.approx(-0.5 * 9.81 * (6 / FRAME_RATE) ** 2, abs=1e-9)
    found = woken(simulation, 30)
    # the other one reaches it where both surfaces meet, and it is as it was until then
    way = 6.0 - height - 1.0
    assert found["falls"][0] + 7 == math.floor(math.sqrt(2.0 * way / 9.81) * FRAME_RATE)


def test_what_hangs_on_a_waiting_body_hangs_and_falls_with_it_once_it_is_hit():
    """The joint's pull is no touch; after the hit all three have the momentum of the hit."""
    builder = ModelBuilder()
    box = Box((0.5, 0.5, 0.5))
    hook = builder.add_body(name="hook", shape=box, position=(0.0, 0.0, 5.0), activation=Activation.touch())
    hung = builder.add_body(shape=box, position=(0.0, 0.0, 3.5))
    builder.add_joint(Point(), hook, hung, position=(0.0, 0.0, 4.3))
    # after seven frames the ball is at the top of its flight
    rise = 9.81 * 7 / FRAME_RATE
    place = -4.0, 0.0, 5.0 - 0.5 * rise**2 / 9.81
    builder.add_body(shape=Sphere(0.2), position=place, linear_velocity=(6.0, 0.0, rise), restitution=1.0)
    simulation = simulation_of(builder)
    pull = FrameInput(gravity=np.array([0.0, 0.0, -9.81]))
    report = simulation.advance_frame(pull)
    assert report.joints.force[0, 2] == pytest.approx(9.81, rel=1e-3)
    for _ in range(6):
        assert simulation.advance_frame(pull).activated == []
    assert simulation.poses()[0][:2] == pytest.approx(np.array([[0.0, 0.0, 5.0], [0.0, 0.0, 3.5]]), abs=1e-4)
    free = FrameInput(gravity=np.zeros(3))
    before = simulation.velocities()[2]
    assert before[:3] == pytest.approx([6.0, 0.0, 0.0], abs=1e-9)
    found = {}
    for frame in range(12):
        for name in simulation.advance_frame(free).activated:
            found[name] = frame
    assert set(found) == {"hook"}
    after = simulation.velocities()
    # all three have one kilogram
    assert after[:, :3].sum(axis=0) == pytest.approx(before[:3], abs=1e-6)


def test_a_checkpoint_of_waiting_bodies_goes_on_to_the_same_bits():
    def begun():
        return simulation_of(leaning_wall(), "production")

    whole = begun()
    for _ in range(40):
        whole.advance_frame()
    stored = whole.checkpoint()
    assert whole.waiting.any() or "waiting.waits" in stored.arrays
    resumed = begun()
    resumed.restore(stored)
    for _ in range(20):
        whole.advance_frame()
        resumed.advance_frame()
        assert resumed.digest() == whole.digest()
    assert resumed.waiting.tolist() == whole.waiting.tolist()


def test_a_frame_in_steps_is_the_same_frame():
    whole, stepped = (simulation_of(row_of_balls(10, 0.05, 3.0, Activation.touch())) for _ in range(2))
    stepped._seconds = np.inf
    for _ in range(6):
        whole.advance_frame()
        steps = stepped.frame_steps()
        while True:
            try:
                next(steps)
            except StopIteration as end:
                report = end.value
                break
        assert report.frame == whole.frame
        assert stepped.digest() == whole.digest()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"kind": BodyKind.STATIC, "activation": Activation.touch()}, "it is not dynamic and has an activation"),
        ({"activation": Activation.impulse(0.0)}, "the activation's impulse is 0; it must be finite and above 0"),
        ({"activation": Activation.in_volume(0)}, "there is no volume 0; there are 0"),
    ],
)
def test_what_cannot_wait_is_named(arguments, text):
    with pytest.raises(ModelError, match=f"^Box: {text}"):
        ModelBuilder().add_body(name="Box", shape=Box((1.0, 1.0, 1.0)), **arguments)


def test_a_volume_without_faces_is_named():
    with pytest.raises(ModelError, match=r"^Trigger: it has no faces"):
        ModelBuilder().add_volume(_CUBE, [], name="Trigger")
