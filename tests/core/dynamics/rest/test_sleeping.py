"""What rests falls asleep as a whole, and wakes for whatever would move it: nothing that should fall stays up."""

import math

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cairn.solver_core.dynamics.rest.sleeping import groups_that_touch
from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.activation import Activation
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.joints.point import Point
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.simulation import Simulation

G = 9.81
CUBE = Box((0.5, 0.5, 0.5))
SECOND = 24
# Frames after which everything that only has to settle sleeps: 1 s of rest, and a bit to come to rest.
ASLEEP = 32


def options(**changes):
    return SimulationOptions(**{"method": "nncg", **changes})


def scene(*, floor=BodyKind.STATIC, stacks=(0.0,), levels=2, gravity=G, **floor_values):
    """Stacks of unit boxes at these places along x on a wide box whose top is at 0; body 0 is the floor."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -gravity))
    builder.add_body(shape=Box((20.0, 5.0, 0.5)), position=(0, 0, -0.5), kind=floor, name="Floor", **floor_values)
    for x in stacks:
        for level in range(levels):
            builder.add_body(shape=CUBE, position=(x, 0.0, 0.5 + level))
    return builder


def run(simulation, frames, frame_input=None):
    for _ in range(frames):
        report = simulation.advance_frame(frame_input)
    return report


def driven(simulation, body, position, orientation=None):
    """Input that moves one kinematic body."""
    where, turned = simulation.poses()
    where[body] = position
    if orientation is not None:
        turned[body] = orientation
    return FrameInput(position=where, orientation=turned)


def test_what_rests_falls_asleep_and_costs_no_contact():
    """Two stacks at rest sleep after a second, keep their poses to the bit, and have no contacts any more."""
    simulation = Simulation(scene(stacks=(0.0, 4.0)).build(), options())
    assert run(simulation, SECOND - 1).sleeping == 0
    report = run(simulation, ASLEEP - SECOND + 1)
    assert report.sleeping == 4
    poses = simulation.poses()[0]
    report = run(simulation, 50)
    assert (report.contacts, report.islands, report.iterations) == (0, 0, 0)
    assert np.array_equal(simulation.poses()[0], poses)
    assert report.kinetic_energy == 0.0
    assert report.potential_energy == pytest.approx(G * np.sum(poses[1:, 2]))


def test_nobody_sleeps_where_it_is_switched_off():
    """Without sleeping the same stack keeps its contacts."""
    simulation = Simulation(scene().build(), options(sleeping=False))
    assert run(simulation, 3 * SECOND).contacts > 0
    assert not simulation.sleeping.any()


def test_an_island_sleeps_only_as_a_whole():
    """A body that may not sleep keeps its stack awake, and no other."""
    builder = scene(stacks=(0.0, 4.0))
    builder.add_body(shape=CUBE, position=(0.0, 0.0, 2.5), sleep_speed=(0.0, 0.5))
    simulation = Simulation(builder.build(), options())
    run(simulation, 3 * SECOND)
    assert simulation.sleeping.tolist() == [False, False, False, True, True, False]


@pytest.mark.parametrize(("speed", "sleeps"), [((0.4, 0.5), True), ((0.4, 0.0), False)])
def test_thresholds_are_followed(speed, sleeps):
    """Below both speeds it may sleep; a threshold of 0 is never undercut."""
    builder = scene(levels=0)
    builder.add_body(shape=CUBE, position=(0.0, 0.0, 0.5), sleep_speed=speed)
    simulation = Simulation(builder.build(), options())
    run(simulation, 2 * SECOND)
    assert simulation.sleeping[1] == sleeps


@pytest.mark.parametrize("kind", [BodyKind.KINEMATIC, BodyKind.STATIC])
def test_a_support_that_is_let_go_wakes_what_rests_on_it(kind):
    """A table that becomes dynamic falls, and what slept on it falls with it, as far as g t^2 / 2."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    builder.add_body(shape=Box((2.0, 2.0, 0.1)), position=(0, 0, 9.9), kind=kind)
    builder.add_body(shape=CUBE, position=(0, 0, 10.5))
    builder.add_body(shape=CUBE, position=(0, 0, 11.5))
    simulation = Simulation(builder.build(), options())
    run(simulation, ASLEEP)
    assert simulation.sleeping.tolist() == [False, True, True]
    before = simulation.poses()[0]
    run(simulation, 12, FrameInput(kind=np.full(3, BodyKind.DYNAMIC.value)))
    fallen = before - simulation.poses()[0]
    assert fallen[:, 2] == pytest.approx(np.full(3, 0.5 * G * 0.5**2), rel=1e-6)


def test_a_floor_that_is_pulled_away_in_one_frame_wakes_what_rests_on_it():
    """A driven floor jumps aside: the box falls from the frame on."""
    simulation = Simulation(scene(floor=BodyKind.KINEMATIC, levels=1, friction=0.0).build(), options())
    run(simulation, ASLEEP)
    assert simulation.sleeping[1]
    height = simulation.poses()[0][1, 2]
    for _ in range(7):
        simulation.advance_frame(driven(simulation, 0, (100.0, 0.0, -0.5)))
    # in the frame of the jump the floor is under it for a part of the time
    fallen = height - simulation.poses()[0][1, 2]
    assert 0.5 * G * (6.0 / 24.0) ** 2 <= fallen <= 0.5 * G * (7.0 / 24.0) ** 2


@pytest.mark.parametrize("speed", [-0.02, -1e-3, 1e-3, 0.02])
def test_a_floor_that_sinks_or_rises_carries_what_slept_on_it(speed):
    """A lift at 1 mm/s or 2 cm/s: the box goes where the floor goes, within 0.1 mm."""
    simulation = Simulation(scene(floor=BodyKind.KINEMATIC, levels=2).build(), options())
    run(simulation, ASLEEP)
    assert simulation.sleeping[1:].all()
    for frame in range(1, 2 * SECOND + 1):
        simulation.advance_frame(driven(simulation, 0, (0.0, 0.0, -0.5 + speed * frame / 24.0)))
    assert simulation.poses()[0][1:, 2] == pytest.approx(np.array([0.5, 1.5]) + 2.0 * speed, abs=1e-4)
    assert not simulation.sleeping.any()
    for _ in range(ASLEEP + 8):
        simulation.advance_frame(driven(simulation, 0, (0.0, 0.0, -0.5 + 2.0 * speed)))
    assert simulation.sleeping[1:].all()


def test_a_floor_that_only_turns_wakes_what_rests_on_it():
    """A turntable takes its box round."""
    simulation = Simulation(scene(floor=BodyKind.KINEMATIC, stacks=(1.0,), levels=1).build(), options())
    run(simulation, ASLEEP)
    for frame in range(1, SECOND + 1):
        turn = rotations.from_rotation_vector([0.0, 0.0, 0.1 * (frame / 24.0) ** 2])
        simulation.advance_frame(driven(simulation, 0, (0.0, 0.0, -0.5), turn))
    assert simulation.poses()[0][1, :2] == pytest.approx([math.cos(0.1), math.sin(0.1)], abs=1e-3)


def test_a_slow_push_moves_what_sleeps():
    """A wall that creeps at 1 mm/s meets a sleeping box after a second, and pushes it on."""
    builder = scene(levels=1)
    builder.add_body(shape=Box((0.5, 0.5, 0.4)), position=(-1.001, 0, 0.5), kind=BodyKind.KINEMATIC)
    simulation = Simulation(builder.build(), options())
    for frame in range(1, 6 * SECOND + 1):
        time = max(frame / 24.0 - 2.0, 0.0)
        simulation.advance_frame(driven(simulation, 2, (-1.001 + 1e-3 * time, 0.0, 0.5)))
        if frame == 2 * SECOND:
            assert simulation.sleeping[1]
    assert simulation.poses()[0][1, 0] == pytest.approx(3e-3, abs=1e-4)


def test_a_hit_wakes_the_island_and_loses_nothing():
    """An elastic ball that hits a sleeping one of its mass stops, and the other leaves with its velocity."""
    builder = scene(levels=0, friction=0.0, restitution=1.0)
    builder.add_body(shape=Sphere(0.5), position=(0.0, 0.0, 0.5), friction=0.0, restitution=1.0)
    builder.add_body(shape=CUBE, position=(4.0, 0.0, 0.5))
    builder.add_body(
        shape=Sphere(0.5), position=(-6.0, 0, 0.5), linear_velocity=(3, 0, 0), friction=0.0, restitution=1.0
    )
    simulation = Simulation(builder.build(), options())
    run(simulation, ASLEEP)
    assert simulation.sleeping.tolist() == [False, True, True, False]
    run(simulation, 12)
    assert simulation.velocities()[[1, 3], 0] == pytest.approx([3.0, 0.0], abs=1e-5)
    assert simulation.sleeping.tolist() == [False, False, True, False]


def test_another_gravity_wakes_everybody():
    """Gravity that turns round lifts what slept on the floor."""
    simulation = Simulation(scene(levels=1).build(), options())
    run(simulation, ASLEEP)
    run(simulation, 12, FrameInput(gravity=np.array([0.0, 0.0, G])))
    assert simulation.poses()[0][1, 2] == pytest.approx(0.5 + 0.5 * G * 0.5**2, rel=1e-6)


@pytest.mark.parametrize("gravity", [G, 1e-3])
@pytest.mark.parametrize("above", [1.001, 1.1])
def test_what_slides_however_slowly_never_sleeps(above, gravity):
    """Just above the angle of friction a box slides as without sleeping, to the bit."""
    slope = math.atan(0.5 * above)
    tilt = rotations.from_rotation_vector([0.0, slope, 0.0])
    up = rotations.rotate(tilt, [0.0, 0.0, 1.0])
    builder = ModelBuilder(gravity=(0.0, 0.0, -gravity))
    builder.add_body(shape=Box((60.0, 5.0, 0.5)), position=-0.5 * up, orientation=tilt, kind=BodyKind.STATIC)
    builder.add_body(shape=CUBE, position=0.5 * up, orientation=tilt, friction=1.0)
    digests = []
    for sleeping in (True, False):
        simulation = Simulation(builder.build(), options(sleeping=sleeping))
        run(simulation, 4 * SECOND)
        digests.append(simulation.digest())
        assert not simulation.sleeping.any()
    assert digests[0] == digests[1]


def test_what_falls_slowly_never_sleeps():
    """A ball in a hundred-thousandth of gravity: at its apex and on its way it touches nothing, and does not sleep."""
    builder = scene(levels=0, gravity=1e-4)
    builder.add_body(shape=Sphere(0.5), position=(0.0, 0.0, 2.0))
    simulation = Simulation(builder.build(), options())
    run(simulation, 4 * SECOND)
    assert 2.0 - simulation.poses()[0][1, 2] == pytest.approx(0.5 * 1e-4 * 4.0**2, rel=1e-6)


def test_a_ball_that_spins_in_place_does_not_sleep():
    """Without friction a ball turns on for ever, though its centre rests."""
    builder = scene(levels=0, friction=0.0)
    builder.add_body(shape=Sphere(0.5), position=(0.0, 0.0, 0.5), angular_velocity=(0.0, 0.0, 0.01))
    simulation = Simulation(builder.build(), options())
    run(simulation, 3 * SECOND)
    assert simulation.velocities()[1, 5] == pytest.approx(0.01, rel=1e-6)


def test_what_starts_asleep_hangs_in_the_air_until_it_is_hit():
    """Three boxes start asleep, two of them touching: a ball wakes these two, and the third stays."""
    builder = scene(levels=0)
    for x in (0.0, 1.0, 5.0):
        builder.add_body(shape=CUBE, position=(x, 0.0, 5.0), starts_asleep=True)
    builder.add_body(shape=Sphere(0.3), position=(-3.0, 0.0, 5.3), linear_velocity=(2.5, 0.0, 4.0))
    simulation = Simulation(builder.build(), options())
    start = simulation.poses()[0]
    report = run(simulation, 12)
    assert report.sleeping == 3
    assert np.array_equal(simulation.poses()[0][1:4], start[1:4])
    run(simulation, 2 * SECOND)
    heights = simulation.poses()[0][1:4, 2]
    assert heights[:2].max() < 4.0
    assert heights[2] == 5.0
    assert simulation.sleeping[3]


@pytest.mark.parametrize("seed", range(5))
def test_groups_that_touch_are_connected_components(seed):
    """Compared with SciPy's, for random contacts among bodies some of which are awake."""
    random, count = np.random.default_rng(seed), 60
    builder = ModelBuilder()
    asleep = random.random(count) < 0.9
    for starts_asleep in asleep:
        builder.add_body(shape=CUBE, starts_asleep=bool(starts_asleep))
    body_a, body_b = random.integers(0, count, (2, 50))
    groups = groups_that_touch(builder.build(), body_a, body_b)
    joined = asleep[body_a] & asleep[body_b]
    edges = coo_array((np.ones(joined.sum()), (body_a[joined], body_b[joined])), shape=(count, count))
    _, label = connected_components(edges, directed=False)
    for body in range(count):
        others = np.flatnonzero(label == label[body])
        assert groups[body] == (others[0] if asleep[body] else -1)


def test_what_starts_asleep_can_be_woken_from_outside():
    """``wake`` lets it fall."""
    builder = scene(levels=0)
    builder.add_body(shape=CUBE, position=(0.0, 0.0, 5.0), starts_asleep=True)
    simulation = Simulation(builder.build(), options(sleeping=False))
    run(simulation, 5)
    simulation.wake()
    run(simulation, 12)
    assert simulation.poses()[0][1, 2] == pytest.approx(5.0 - 0.5 * G * 0.5**2, rel=1e-9)


def test_what_starts_asleep_has_no_velocity():
    """Also where it was given one, beyond its largest speed: it stands, and woken falls from rest."""
    builder = scene(levels=0)
    thrown = {"linear_velocity": (30.0, 0.0, 20.0), "angular_velocity": (0.0, 5.0, 0.0)}
    builder.add_body(shape=CUBE, position=(0.0, 0.0, 5.0), starts_asleep=True, largest_speed=2.0, **thrown)
    simulation = Simulation(builder.build(), options(sleeping=False))
    report = run(simulation, 2)
    assert np.array_equal(simulation.velocities()[1], np.zeros(6))
    assert report.kinetic_energy == 0.0
    simulation.wake()
    run(simulation, 2)
    assert simulation.poses()[0][1] == pytest.approx((0.0, 0.0, 5.0), abs=0.5 * G * 0.1**2)
    assert simulation.velocities()[1, :2].max() == 0.0


def test_what_starts_asleep_reaches_for_nothing():
    """Its velocity, which it does not have, joins it with no neighbour: who is woken wakes alone."""
    builder = scene(levels=0)
    builder.add_body(shape=CUBE, position=(0.0, 0.0, 5.0), starts_asleep=True, linear_velocity=(500.0, 0.0, 0.0))
    builder.add_body(shape=CUBE, position=(1.2, 0.0, 5.0), starts_asleep=True)
    simulation = Simulation(builder.build(), options())
    assert simulation._sleep.group.tolist() == [-1, 1, 2]


def test_what_waits_does_not_sleep_also():
    """Its trigger alone wakes it: a body on a joint, which wakes what sleeps, does not; and it is none that sleeps."""
    builder = scene(levels=0)
    given = {"starts_asleep": True, "activation": Activation.impulse(1e6)}
    waiting = builder.add_body(shape=CUBE, position=(0.0, 0.0, 5.0), **given)
    swings = builder.add_body(shape=CUBE, position=(2.0, 0.0, 5.0))
    builder.add_joint(Point(), waiting, swings, position=(1.0, 0.0, 5.0))
    simulation = Simulation(builder.build(), options())
    report = run(simulation, 2)
    checkpoint = simulation.checkpoint()
    run(simulation, 2)
    assert report.sleeping == 0
    assert np.array_equal(simulation.poses()[0][waiting], (0.0, 0.0, 5.0))
    again = Simulation(simulation.model, options())
    again.restore(checkpoint)
    run(again, 2)
    assert again.digest() == simulation.digest()
