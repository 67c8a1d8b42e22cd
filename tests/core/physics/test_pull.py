"""A body that is pulled at a point goes there as a damped oscillator does, wherever it is held, and gains nothing."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from cairn.solver_core import Box, FrameInput, ModelBuilder, Point, Pull, Simulation, SimulationOptions, Sphere

RATE = 24.0
GRAVITY = 9.81


def box(*, position=(0.0, 0.0, 5.0), gravity=(0.0, 0.0, -GRAVITY), floor=False, **options):
    """A box of 0.4 x 0.6 x 1 m and 3 kg, awake."""
    builder = ModelBuilder(gravity=gravity)
    if floor:
        builder.add_body(shape=Box((10.0, 10.0, 1.0)), kind=0, position=(0.0, 0.0, -1.0), friction=0.5)
    body = builder.add_body(shape=Box((0.2, 0.3, 0.5)), mass=3.0, position=position, friction=0.5)
    return Simulation(builder.build(), SimulationOptions(frame_rate=RATE, **options)), body


def held(simulation, pull):
    """Where the point is."""
    position, orientation = simulation.poses()
    w, x, y, z = orientation[pull.body]
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return position[pull.body] + turn @ np.array(pull.point)


@pytest.mark.parametrize("substeps", [1, 4, 16])
@pytest.mark.parametrize("ratio", [0.1, 0.5])
def test_it_swings_as_the_oscillator_of_its_numbers(substeps, ratio):
    """Pulled at its centre: x(t) = exp(-z w t) cos(..), of a body that stands at the distance 1 at first."""
    simulation, body = box(gravity=(0.0, 0.0, 0.0), substeps=substeps)
    start, frequency = np.array([0.0, 0.0, 5.0]), 1.0
    aim = tuple(start + (1.0, 0.0, 0.0))
    pull = Pull(body=body, point=(0.0, 0.0, 0.0), begin=aim, end=aim, frequency=frequency, damping_ratio=ratio)
    w = 2 * math.pi * frequency
    turned = w * math.sqrt(1 - ratio**2)
    for frame in range(1, 49):
        simulation.advance_frame(FrameInput(pull=pull))
        t = frame / RATE
        swing = math.cos(turned * t) + ratio * w / turned * math.sin(turned * t)
        # the first substep moves by the velocity that the spring gives in it, half a substep early or late
        bound = 0.6 * w / (substeps * RATE)
        assert abs(aim[0] - held(simulation, pull)[0] - math.exp(-ratio * w * t) * swing) < bound


@pytest.mark.parametrize("point", [(0.0, 0.0, 0.0), (0.2, 0.3, 0.5), (0.0, 0.0, -0.5)])
def test_the_point_comes_to_the_place_and_hangs_there_without_sagging(point):
    """Its weight is carried; the body hangs below the point, and swings out by its own damping alone."""
    simulation, body = box()
    aim = (1.0, 2.0, 6.0)
    pull = Pull(body=body, point=point, begin=aim, end=aim, frequency=2.0, damping_ratio=1.0)
    for _ in range(96):
        simulation.advance_frame(FrameInput(pull=pull))
    # a pendulum's own pull, m v^2 / l at most twice its weight, is borne by the spring: g / w^2
    assert np.linalg.norm(held(simulation, pull) - aim) < 4 * GRAVITY / (2 * math.pi * 2.0) ** 2
    if point == (0.0, 0.0, 0.0):
        assert np.linalg.norm(held(simulation, pull) - aim) < 1e-3


def test_it_follows_a_moving_place_without_lag():
    simulation, body = box(gravity=(0.0, 0.0, 0.0))
    places = [(0.1 * frame, 0.0, 5.0) for frame in range(80)]
    for begin, end in itertools.pairwise(places):
        pull = Pull(body=body, point=(0.0, 0.0, 0.0), begin=begin, end=end, frequency=3.0)
        simulation.advance_frame(FrameInput(pull=pull))
    assert np.linalg.norm(held(simulation, pull) - places[-1]) < 1e-3


def test_a_chain_hangs_from_the_place():
    """Joints take no energy away that the spring gives: it is lifted, and sags by what hangs on the first link."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    links = [builder.add_body(shape=Sphere(0.1), mass=1.0, position=(0.3 * link, 0.0, 0.2)) for link in range(4)]
    builder.add_body(shape=Box((10.0, 10.0, 1.0)), kind=0, position=(0.0, 0.0, -1.0))
    for a, b in itertools.pairwise(links):
        builder.add_joint(Point(), a, b, position=(0.3 * a + 0.15, 0.0, 0.2))
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=RATE))
    aim = (0.0, 0.0, 4.0)
    pull = Pull(body=links[0], point=(0.0, 0.0, 0.0), begin=aim, end=aim, frequency=3.0, damping_ratio=1.0)
    heights = []
    for _ in range(240):
        simulation.advance_frame(FrameInput(pull=pull))
        heights.append(held(simulation, pull)[2])
    # three links on a spring of one link's stiffness; they still swing a little about that
    sag = 3 * GRAVITY / (2 * math.pi * 3.0) ** 2
    assert np.mean(heights[120:]) == pytest.approx(4.0 - sag, abs=0.25 * sag)


def test_no_force_beyond_the_largest():
    """Where the spring would tear it along, it accelerates by what the largest force gives."""
    simulation, body = box(gravity=(0.0, 0.0, 0.0))
    aim = (1000.0, 0.0, 5.0)
    pull = Pull(body=body, point=(0.0, 0.0, 0.0), begin=aim, end=aim, frequency=5.0, largest_force=6.0)
    for _ in range(24):
        simulation.advance_frame(FrameInput(pull=pull))
    assert simulation.velocities()[body, 0] == pytest.approx(6.0 / 3.0, rel=1e-9)


@pytest.mark.parametrize(
    ("frequency", "point"),
    [
        *((frequency, (0.2, 0.3, 0.5)) for frequency in (0.5, 3.0, 30.0, 1e4)),
        # far outside, where a substep of the fastest spring would turn the body by more than is linear
        *((frequency, (3.0, 0.0, 0.0)) for frequency in (0.5, 3.0)),
    ],
)
def test_it_gains_nothing(frequency, point):
    """A heavy ball rests on the box that is held at a corner; at a place that stands, energy only goes."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body(shape=Box((10.0, 10.0, 1.0)), kind=0, position=(0.0, 0.0, -1.0), friction=0.5)
    body = builder.add_body(shape=Box((0.2, 0.3, 0.5)), mass=3.0, position=(0.0, 0.0, 0.5), friction=0.5)
    builder.add_body(shape=Sphere(0.3), mass=300.0, position=(0.0, 0.0, 1.3), friction=0.5)
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=RATE))
    aim = (0.3, 0.2, 1.2)
    pull = Pull(body=body, point=point, begin=aim, end=aim, frequency=frequency, damping_ratio=0.2)
    # what can be there at most: the spring's own, and the ball's and the box's fall to the floor
    w = 2 * math.pi * min(frequency, 96 / 5)
    reach = np.linalg.norm(np.array(aim) - held(simulation, pull))
    bound = 0.5 * 3.0 * (w * reach) ** 2 + 303.0 * GRAVITY * 1.4
    for _ in range(120):
        report = simulation.advance_frame(FrameInput(pull=pull))
        assert report.kinetic_energy < bound
    assert report.kinetic_energy < 0.05 * bound


def test_a_pull_wakes_and_one_that_ends_lets_go():
    """The velocity that it has given stays; and without a pull all is as if there had never been one."""
    simulation, body = box(position=(0.0, 0.0, 0.5), floor=True)
    for _ in range(60):
        simulation.advance_frame()
    assert simulation.sleeping[body]
    aim = (0.0, 0.0, 3.0)
    pull = Pull(body=body, point=(0.0, 0.0, 0.0), begin=aim, end=aim)
    simulation.advance_frame(FrameInput(pull=pull))
    assert not simulation.sleeping[body]
    speed = simulation.velocities()[body, 2]
    assert speed > 1.0
    simulation.advance_frame()
    assert simulation.velocities()[body, 2] == pytest.approx(speed - GRAVITY / RATE, rel=1e-9)


@pytest.mark.parametrize("at", [10, 20, 30])
def test_from_a_checkpoint_on_it_is_the_same_to_the_bit(at):
    """Before, within and after a pull of frames 15 to 25."""
    aim = (0.5, 0.0, 2.0)

    def given(frame):
        return FrameInput(pull=pull if 15 <= frame < 25 else None)

    simulation, body = box(position=(0.0, 0.0, 0.6), floor=True)
    pull = Pull(body=body, point=(0.2, 0.0, 0.5), begin=aim, end=aim, largest_force=200.0)
    for frame in range(at):
        simulation.advance_frame(given(frame))
    checkpoint = simulation.checkpoint()
    other, _ = box(position=(0.0, 0.0, 0.6), floor=True)
    other.restore(checkpoint)
    for frame in range(at, 40):
        simulation.advance_frame(given(frame))
        other.advance_frame(given(frame))
        assert other.digest() == simulation.digest()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"body": 7}, "the pulled body is 7; there are 1 bodies"),
        ({"point": (0.0, math.nan, 0.0)}, "point of the pull"),
        ({"end": (0.0, 0.0)}, "end of the pull"),
        ({"frequency": -1.0}, "frequency of the pull is -1.0"),
        ({"largest_force": math.nan}, "largest_force of the pull"),
    ],
)
def test_what_is_wrong_is_said(changes, said):
    simulation, body = box()
    pull = Pull(body=body, point=(0.0, 0.0, 0.0), begin=(0.0, 0.0, 0.0), end=(0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match=said):
        simulation.advance_frame(FrameInput(pull=replace(pull, **changes)))
