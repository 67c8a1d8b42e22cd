"""A simulation in a process of its own: the same bits as one here, an end at any time, and why it is lost."""

import json
import time

import numpy as np
import pytest

from cairn.solver_core import (
    Activation,
    BodyKind,
    Box,
    Fixed,
    FrameInput,
    Guide,
    ModelBuilder,
    Pull,
    Simulation,
    SimulationError,
    SimulationOptions,
    Sphere,
    Turbulence,
    Wind,
    simulation_beside,
)
from cairn.solver_core.simulation_beside import BesideLost, SimulationBeside

OPTIONS = SimulationOptions(substeps=2, contacts=True, breaks=True)
# for a Python to start, and to load or compile what it needs [s]
PATIENCE = 240.0


def scene():
    """A box that is driven, one that lies on it, and a ball on a joint, in wind; all are named."""
    builder = ModelBuilder()
    builder.add_body(shape=Box(half_extents=(2, 2, 0.5)), kind=BodyKind.KINEMATIC, name="Lift")
    low = builder.add_body(shape=Box(half_extents=(0.5, 0.5, 0.5)), position=(0, 0, 1.0), name="Box")
    ball = builder.add_body(shape=Sphere(radius=0.3), position=(0, 0, 2.0), name="Ball")
    builder.add_joint(Fixed(), low, ball, position=(0, 0, 1.5), name="Joint")
    for field in fields(0):
        builder.add_field(field)
    builder.push_body(ball, (0.1, 0.0, 0.0), along_body=True)
    return builder.build()


def fields(frame):
    """What blows, with numbers that no text of a few digits holds."""
    wind = Wind(strength=0.1 * frame / 3.0, axis=(1.0, 0.1, 0.0), by_area=True)
    return wind, Turbulence(strength=0.2, noise=0.1, size=1.0 / 3.0)


def inputs(count):
    for frame in range(1, count + 1):
        position = np.array([[0, 0, 0.02 * frame], [0, 0, 0], [0, 0, 0]], float)
        forces, orientation = np.full((3, 6), 0.01 * frame), np.tile([1.0, 0, 0, 0], (3, 1))
        yield FrameInput(position=position, orientation=orientation, fields=fields(frame), forces=forces)


def received(beside):
    """The next report; a test that waits for ever would tell nothing."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        report = beside.receive()
        if report is not None:
            return report
        time.sleep(0.005)
    raise AssertionError("no frame came")


def test_a_pull_is_told_to_the_bit():
    """With numbers that no text of a few digits holds, and a force without a bound."""
    pull = Pull(body=2, point=(0.1 / 3, 0.0, 1e-300), begin=(0.0, 1 / 7, 1.0), end=(0.0, 2 / 3, 1 / 3), frequency=2 / 3)
    text, arrays = simulation_beside._frame_text(FrameInput(pull=pull))
    given = simulation_beside._frame_input(json.loads(json.dumps(text)), arrays)
    assert given.pull == pull
    assert simulation_beside._frame_input(*simulation_beside._frame_text(FrameInput())).pull is None


def test_frames_are_the_same_to_the_bit():
    """From a checkpoint in the middle on: poses, velocities and reports; and the last one comes with a checkpoint."""
    model = scene()
    here = Simulation(model, OPTIONS)
    frames = list(inputs(8))
    for frame_input in frames[:2]:
        here.advance_frame(frame_input)
    with SimulationBeside() as beside:
        beside.load(model, OPTIONS, here.checkpoint())
        for frame_input in frames[2:]:
            beside.send(frame_input, wants_checkpoint=frame_input is frames[-1])
        assert beside.waiting == 6
        for frame_input in frames[2:]:
            expected, report = here.advance_frame(frame_input), received(beside)
            assert all(np.array_equal(own, other) for own, other in zip(here.poses(), beside.poses(), strict=True))
            assert np.array_equal(here.velocities(), beside.velocities())
            ours, theirs = expected.as_dict(), report.as_dict()
            assert ours.pop("seconds").keys() == theirs.pop("seconds").keys()
            assert ours == theirs
            assert np.array_equal(expected.joints.force, report.joints.force)
            assert len(report.frame_contacts.impulse) > 0
            for part in ("frame_contacts", "breaks"):
                for name in getattr(report, part).__dataclass_fields__:
                    ours, theirs = (getattr(getattr(one, part), name) for one in (expected, report))
                    assert np.array_equal(ours, theirs)
                    assert ours.dtype == theirs.dtype
        checkpoint = beside.checkpoint()
    assert checkpoint.frame == 8
    later = Simulation(model, OPTIONS)
    later.restore(checkpoint)
    for _ in range(5):
        here.advance_frame()
        later.advance_frame()
    assert here.digest() == later.digest()


@pytest.mark.parametrize("received_before", [0, 3])
def test_it_takes_another_simulation_in_the_middle_of_frames(received_before):
    """What was sent for the one before it is taken back, and never answered as if it were of this one."""
    model = scene()
    frames = list(inputs(12))
    other = [FrameInput(gravity=np.array([0.0, 0.0, 3.0])) for _ in range(5)]
    here = Simulation(model, OPTIONS)
    begin = here.checkpoint()
    with SimulationBeside() as beside:
        beside.load(model, OPTIONS, begin)
        for frame_input in frames:
            beside.send(frame_input)
        for _ in range(received_before):
            received(beside)
        beside.load(model, OPTIONS, begin)
        assert (beside.frame, beside.waiting) == (0, 0)
        assert beside.receive() is None
        for frame_input in other:
            beside.send(frame_input, wants_checkpoint=frame_input is other[-1])
        for _ in other:
            received(beside)
        assert (beside.frame, beside.waiting) == (5, 0)
        for frame_input in other:
            here.advance_frame(frame_input)
        assert all(np.array_equal(own, theirs) for own, theirs in zip(here.poses(), beside.poses(), strict=True))
        assert beside.checkpoint().frame == 5


def test_bodies_are_led_there_as_here():
    """To a target that moves, and let go."""
    builder = ModelBuilder()
    builder.add_body(shape=Sphere(0.3), name="Free", position=(2.0, 0, 0))
    builder.guide_body(builder.add_body(shape=Sphere(0.3), name="Led"), Guide(frequency=3.0, largest_force=1e4 / 3.0))
    model = builder.build()
    here, turn = Simulation(model, OPTIONS), np.tile([1.0, 0, 0, 0], (2, 1))
    with SimulationBeside() as beside:
        beside.load(model, OPTIONS, here.checkpoint())
        for frame in range(1, 7):
            place, follow = np.array([[2.0, 0, 0], [0.1 * frame / 3.0, 0, 0]]), np.full(2, float(frame < 4))
            given = FrameInput(position=place, orientation=turn, follow=follow)
            beside.send(given)
            here.advance_frame(given)
            received(beside)
            assert all(np.array_equal(own, other) for own, other in zip(here.poses(), beside.poses(), strict=True))
    assert here.poses()[0][1, 0] > 0.1


def test_bodies_that_wait_wake_there_as_here():
    """By a touch, a volume and a frame; and one is put to waiting."""
    builder = ModelBuilder()
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)]
    faces += [(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
    volume = builder.add_volume(corners, faces)
    kinds = {"touched": Activation.touch(), "met": Activation.in_volume(volume), "told": Activation.told()}
    for number, (name, activation) in enumerate(kinds.items()):
        builder.add_body(shape=Sphere(0.3), position=(3.0 + 2.0 * number, 0, 0), activation=activation, name=name)
    fast = {"linear_velocity": (8.0, 0, 0.5), "position": (1.9, 0, 0)}
    builder.add_body(shape=Sphere(0.3), activation=Activation(waits=False), name="ball", **fast)
    model, none, frames = builder.build(), np.zeros(4, bool), []
    for frame in range(8):
        matrix = np.hstack([np.eye(3), [[1.0 + frame], [0.0], [0.0]]])[None]
        activate, deactivate = none.copy(), none.copy()
        activate[2], deactivate[3] = frame == 3, frame == 5
        frames.append(FrameInput(volumes=matrix, activate=activate, deactivate=deactivate))
    here, woken = Simulation(model, OPTIONS), []
    with SimulationBeside() as beside:
        beside.load(model, OPTIONS, here.checkpoint())
        for frame_input in frames:
            beside.send(frame_input, wants_checkpoint=frame_input is frames[-1])
        for frame_input in frames:
            expected, report = here.advance_frame(frame_input), received(beside)
            assert np.array_equal(here.poses()[0], beside.poses()[0])
            assert (expected.activated, expected.deactivated) == (report.activated, report.deactivated)
            woken += report.activated + report.deactivated
        later = Simulation(model, OPTIONS)
        later.restore(beside.checkpoint())
    assert sorted(woken) == ["ball", "met", "told", "touched"]
    assert later.digest() == here.digest()


def test_what_is_not_finite_is_said_as_here():
    model = scene()
    with SimulationBeside() as beside:
        beside.load(model, OPTIONS, Simulation(model, OPTIONS).checkpoint())
        beside.send(FrameInput(gravity=np.array([np.nan, 0.0, 0.0])))
        with pytest.raises((SimulationError, ValueError), match="gravity"):
            received(beside)


def test_it_ends_in_the_middle_of_a_frame():
    """Within a fraction of a second, however long the frame is."""
    model = scene()
    slow = SimulationOptions(substeps=10_000_000)
    with SimulationBeside() as beside:
        beside.load(model, slow, Simulation(model, slow).checkpoint())
        # a frame whose motors are driven does not end where all stands
        beside.send(FrameInput(motor_velocity=np.full((1, 6), np.nan)))
        end = time.monotonic() + PATIENCE
        while not beside.has_started and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.5)
        assert beside.receive() is None
        begun = time.monotonic()
    assert time.monotonic() - begun < 2.0


def test_a_process_that_is_killed_is_lost_with_a_reason():
    with SimulationBeside() as beside:
        beside._process.kill()
        model = scene()
        beside.load(model, OPTIONS, Simulation(model, OPTIONS).checkpoint())
        beside.send(FrameInput())
        with pytest.raises(BesideLost, match="exit code"):
            received(beside)
