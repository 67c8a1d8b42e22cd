"""Joints that hold until something happens, or from then on: in which substep, and how their bodies move off."""

import math

import numpy as np
import pytest

from cairn.solver_core import (
    Activation,
    BodyKind,
    Box,
    Fixed,
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
_CUBE = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
_CUBE_FACES = [
    *[(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)],
    *[(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)],
]


def simulation_of(builder, **options) -> Simulation:
    return Simulation(builder.build(), SimulationOptions(frame_rate=FRAME_RATE, substeps=SUBSTEPS, **options))


def changed(simulation, frames, inputs=None) -> dict:
    """When joints change, by name: (frame, substep), from 0."""
    found = {}
    for frame in range(frames):
        report = simulation.advance_frame(inputs[frame] if inputs else None)
        for name in report.let_go + report.joined:
            row = simulation.model.joint_names.index(name)
            found[name] = frame, int(simulation._waiting.joint_woke_in[row])
    return found


def substep_at(time) -> tuple:
    number = math.floor(time / H)
    return number // SUBSTEPS, number % SUBSTEPS


def pinned_row(speed, gap=0.5, count=3, **held):
    """Balls in a row without gravity, fixed to the world, and one that flies at them; they bounce fully."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for number in range(count + 1):
        builder.add_body(
            name=f"ball {number}",
            shape=Sphere(0.5),
            mass=2.0,
            restitution=1.0,
            position=(number * (1.0 + gap), 0.0, 0.0),
            linear_velocity=(0.0 if number else speed, 0.0, 0.0),
        )
    for number in range(1, count + 1):
        place = number * (1.0 + gap), 0.0, 0.0
        builder.add_joint(Fixed(), number, position=place, name=f"pin {number}", **held)
    return builder


@pytest.mark.parametrize("quality", ["exact", "production"])
def test_a_pinned_row_is_let_go_ball_by_ball(quality):
    """Each in the substep in which it is hit, with all of the hit's momentum: the pin takes none."""
    simulation = simulation_of(pinned_row(3.0, holds_until=Activation.touch()), quality=quality)
    found = changed(simulation, 16)
    assert found["pin 1"] == substep_at(0.5 / 3.0)
    assert sorted(found, key=found.get) == ["pin 1", "pin 2", "pin 3"]
    velocity = simulation.velocities()[:, 0]
    assert velocity == pytest.approx([0.0, 0.0, 0.0, 3.0], abs=1e-6)


@pytest.mark.parametrize(("share", "goes"), [(0.99, False), (1.01, True)])
def test_a_hit_lets_go_above_its_threshold(share, goes):
    """A ball of 2 kg at 3 m/s that is thrown back by what is held gives it 12 N s."""
    builder = pinned_row(3.0, count=1, holds_until=Activation.impulse(12.0 / share))
    simulation = simulation_of(builder, quality="exact")
    found = changed(simulation, 12)
    assert found == ({"pin 1": substep_at(0.5 / 3.0)} if goes else {})
    expected = [0.0, 3.0] if goes else [-3.0, 0.0]
    assert simulation.velocities()[:, 0] == pytest.approx(expected, abs=1e-5)


def test_what_lies_on_each_other_touches_nobody():
    """A wall of bricks, each pinned until it is touched, stands; the one that is hit falls out, and what it frees."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((5.0, 5.0, 0.5)), position=(0.0, 0.0, -0.5), kind=BodyKind.STATIC, name="Floor")
    for layer in range(3):
        place = 0.0, 0.0, 0.2 + 0.4 * layer
        brick = builder.add_body(shape=Box((0.3, 0.2, 0.2)), position=place, name=f"brick {layer}")
        builder.add_joint(Fixed(), brick, position=place, name=f"pin {layer}", holds_until=Activation.touch())
    builder.add_body(shape=Sphere(0.1), mass=5.0, position=(0.0, -12.0, 1.6), linear_velocity=(0.0, 12.0, 4.0))
    simulation = simulation_of(builder)
    assert changed(simulation, 20) == {}
    found = changed(simulation, 10)
    assert "pin 2" in found


def test_a_volume_lets_go_what_it_comes_to_hold():
    builder, speed, half = ModelBuilder(gravity=(0.0, 0.0, 0.0)), 100.0, 0.05
    matrix = np.array([[2.0 * half, 0.0, 0.0, -1.013], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    volume = builder.add_volume(_CUBE, _CUBE_FACES, matrix=matrix)
    arrival = {}
    for number in range(20):
        for side, y in (("in", 0.49), ("out", 0.51)):
            place = 0.777 * number, y, 0.0
            body = builder.add_body(shape=Sphere(0.1), position=place, collision_mask=0)
            given = {"holds_until": Activation.in_volume(volume)} if number % 2 else {}
            given = given or {"holds_from": Activation.in_volume(volume)}
            builder.add_joint(Fixed(), body, position=place, name=f"{side} {number}", **given)
        arrival[f"in {number}"] = (0.777 * number + 1.013 - half) / speed
    simulation, inputs = simulation_of(builder), []
    for frame in range(8):
        moved = matrix.copy()
        moved[0, 3] += speed * (frame + 1) / FRAME_RATE
        inputs.append(FrameInput(volumes=moved[None]))
    assert changed(simulation, 8, inputs) == {name: substep_at(time) for name, time in arrival.items()}


def test_what_sleeps_on_a_joint_falls_in_the_substep_in_which_it_is_let_go():
    builder = ModelBuilder()
    volume = builder.add_volume(_CUBE, _CUBE_FACES, matrix=np.eye(4)[:3] + [0.0, 0.0, 0.0, 50.0])
    body = builder.add_body(shape=Box((0.2, 0.2, 0.2)))
    builder.add_joint(Fixed(), body, position=(0.0, 0.0, 0.0), holds_until=Activation.in_volume(volume))
    simulation = simulation_of(builder)
    for _ in range(40):
        simulation.advance_frame()
    assert simulation.sleeping[0]
    simulation.advance_frame(FrameInput(volumes=np.eye(4)[None, :3]))
    fallen = int(SUBSTEPS - simulation._waiting.joint_woke_in[0])
    assert not simulation.sleeping[0]
    assert simulation.velocities()[0, 2] == pytest.approx(-9.81 * H * fallen, rel=1e-9)


def test_what_stood_on_a_joint_falls_in_the_substep_in_which_it_is_let_go():
    """Two boxes that are glued hang still, while a ball flies; the volume comes in the middle of a frame."""
    builder = ModelBuilder()
    matrix = np.eye(4)[:3].copy()
    matrix[2, 3] = -50.0
    volume = builder.add_volume(_CUBE, _CUBE_FACES, matrix=matrix)
    above = builder.add_body(shape=Box((0.2, 0.2, 0.2)))
    below = builder.add_body(shape=Box((0.2, 0.2, 0.2)), position=(0.0, 0.0, -0.4))
    builder.add_joint(Fixed(), above, position=(0.0, 0.0, 0.1), holds_until=Activation.in_volume(volume))
    builder.add_joint(Fixed(), above, below, position=(0.0, 0.0, -0.2))
    builder.add_body(shape=Sphere(0.1), position=(9.0, 0.0, 0.0), linear_velocity=(1.0, 0.0, 9.0))
    simulation = Simulation(builder.build(), SimulationOptions(substeps=SUBSTEPS, sleeping=False, threads=1))
    for _ in range(6):
        simulation.advance_frame()
    matrix[2, 3] = 40.0
    simulation.advance_frame(FrameInput(volumes=matrix[None]))
    fallen = int(SUBSTEPS - simulation._waiting.joint_woke_in[0])
    assert 0 < fallen < SUBSTEPS
    assert simulation.velocities()[:2, 2] == pytest.approx(-9.81 * H * fallen, rel=1e-9)


@pytest.mark.parametrize("activation", [Activation.touch(), Activation.impulse(1.0)])
def test_a_joint_holds_from_where_its_bodies_meet(activation):
    """A ball that meets another is one with it from there on: half the speed, and no turn."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for number in range(2):
        builder.add_body(
            shape=Sphere(0.5), mass=2.0, position=(1.5 * number, 0.0, 0.0), linear_velocity=(3.0 - 3.0 * number, 0, 0)
        )
    builder.add_joint(
        Point(), 0, 1, position=(0.5, 0.0, 0.0), anchor_b=(1.0, 0.0, 0.0), name="catch", holds_from=activation
    )
    simulation = simulation_of(builder, quality="exact")
    assert not simulation._joint_state.enabled[0]
    found = changed(simulation, 24)
    first = substep_at(0.5 / 3.0)
    assert found["catch"] in (first, (first[0] + (first[1] + 1) // SUBSTEPS, (first[1] + 1) % SUBSTEPS))
    assert simulation.velocities()[:, 0] == pytest.approx([1.5, 1.5], abs=1e-5)


def test_a_keyed_switch_does_not_switch_a_trigger():
    """What has a trigger listens to nothing else."""
    simulation = simulation_of(pinned_row(3.0, count=1, holds_until=Activation.touch()))
    given = [FrameInput(joint_enabled=np.ones(1, bool))] * 12
    assert list(changed(simulation, 12, given)) == ["pin 1"]
    assert not simulation._joint_state.enabled[0]


@pytest.mark.parametrize("at", [3, 9])
def test_a_checkpoint_goes_on_to_the_same_bits(at):
    def begun():
        return simulation_of(pinned_row(3.0, holds_until=Activation.touch()), quality="production")

    whole, resumed = begun(), begun()
    for _ in range(at):
        whole.advance_frame()
    resumed.restore(whole.checkpoint())
    for _ in range(10):
        reports = whole.advance_frame(), resumed.advance_frame()
        assert reports[0].let_go == reports[1].let_go
        assert resumed.digest() == whole.digest()


def test_a_joint_has_one_trigger():
    builder = ModelBuilder()
    body = builder.add_body(shape=Sphere(0.1))
    touch = Activation.touch()
    with pytest.raises(ModelError, match="one of them"):
        builder.add_joint(Fixed(), body, position=(0, 0, 0), name="pin", holds_until=touch, holds_from=touch)
    with pytest.raises(ModelError, match="pin: there is no volume 3"):
        builder.add_joint(Fixed(), body, position=(0, 0, 0), name="pin", holds_until=Activation.in_volume(3))
