"""A motor yields to a limit and to what cannot move, whatever its strength, and pulls without making energy."""

import itertools
import math

import numpy as np
import pytest

from cairn.solver_core import (
    LOCKED,
    Axis,
    BodyKind,
    Box,
    ConvexHull,
    Cylinder,
    Fixed,
    FrameInput,
    Generic,
    Hinge,
    ModelBuilder,
    Motor,
    MotorJoint,
    Point,
    Simulation,
    SimulationOptions,
    Slider,
)
from cairn.solver_core.model.compound import Compound

ALONG_Y = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
STRENGTHS = (1e6, 1e9, 1e12, math.inf)


def played(builder, frames=120):
    """Positions by frame, and the reports."""
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24, substeps=4))
    reports, positions = [], []
    for _ in range(frames):
        reports.append(simulation.advance_frame())
        positions.append(simulation.poses()[0].copy())
    return np.array(positions), reports


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("has_motor_joint", [False, True])
def test_an_arm_stops_at_its_limit(strength, has_motor_joint):
    """Within 1e-3 degrees, and stands; also where the motor is a joint beside the hinge, as in Blender."""
    builder = ModelBuilder()
    base = builder.add_body(kind=BodyKind.STATIC, shape=Box((0.2, 0.2, 0.2)), position=(0, 0, 2))
    arm = builder.add_body(shape=Box((0.5, 0.1, 0.1)), position=(0.8, 0, 2))
    motor, limits = Motor(velocity=3.0, largest=strength), {"lower": math.radians(-45), "upper": math.radians(45)}
    hinge = Hinge(Axis(**limits) if has_motor_joint else Axis(**limits, motor=motor))
    builder.add_joint(hinge, base, arm, position=(0.2, 0, 2), orientation=ALONG_Y)
    if has_motor_joint:
        turned = (math.sqrt(0.5), 0, 0, -math.sqrt(0.5))
        builder.add_joint(MotorJoint(angular=Axis(motor=motor)), base, arm, position=(0.2, 0, 2), orientation=turned)
    positions, reports = played(builder)
    angles = np.degrees(np.arctan2(positions[:, arm, 2] - 2, positions[:, arm, 0] - 0.2))
    assert abs(angles[-1]) == pytest.approx(45, abs=1e-3)
    assert np.abs(angles).max() < 45.001
    assert np.abs(positions[-24:] - positions[-1]).max() < 1e-6
    assert max(report.joint_error for report in reports) < 1e-9


@pytest.mark.parametrize(("speed", "strength"), [(2, 100.0), (50, 1e5), (2, 1e12), (2, math.inf)])
def test_a_ram_stops_where_a_block_is_stuck_at_a_wall(speed, strength):
    """It presses, and neither of the three goes into another by a millimetre."""
    builder = ModelBuilder()
    builder.add_body(kind=BodyKind.STATIC, shape=Box((0.5, 3, 3)), position=(2, 0, 1))
    ram = builder.add_body(shape=Box((0.2, 0.2, 0.2)), position=(-1, 0, 1), mass=5, friction=0)
    cube = builder.add_body(shape=Box((0.2, 0.2, 0.2)), position=(0.5, 0, 1), mass=1, friction=0.9)
    builder.add_body(kind=BodyKind.STATIC, shape=Box((3, 3, 0.4)), position=(0, 0, 0.4), friction=0.5)
    base = builder.add_body(kind=BodyKind.STATIC, shape=Box((0.01, 0.01, 0.01)), position=(-2, 0, 1), collision_mask=2)
    slider = Slider(axis=Axis(lower=-0.1, upper=3, motor=Motor(velocity=speed, largest=strength)))
    builder.add_joint(slider, base, ram, position=(-1, 0, 1))
    positions, reports = played(builder)
    assert positions[-1, ram, 0] == pytest.approx(0.9, abs=1e-3)
    assert positions[-1, cube, 0] == pytest.approx(1.3, abs=1e-3)
    assert np.abs(positions[-24:] - positions[-1])[:, [ram, cube]].max() < 1e-5
    assert max(report.max_penetration for report in reports) < 1e-3


@pytest.mark.parametrize("seed", [0, 2, 3, 5, 6, 8])
def test_an_arm_that_its_motors_press_into_the_floor_is_not_thrown(seed):
    """Three links, driven without limit; none is ever faster than all motors together would lead it in the air.

    What one motor does another one or the floor takes. The ledger counted what it did alone: up to 49 m/s.
    """
    random, builder = np.random.default_rng(seed), ModelBuilder()
    builder.add_body(kind=BodyKind.STATIC, shape=Box((20, 20, 0.5)), position=(0, 0, -0.5), friction=0.6)
    at, above, lengths, speeds = np.array((0.0, 0.0, 1.0)), (), [], []
    for number in range(3):
        length, speed = random.uniform(0.6, 1.2), random.choice([-1, 1]) * random.uniform(0.3, 2)
        place = at + (length / 2, 0, 0)
        link = builder.add_body(shape=Box((length / 2, 0.1, 0.1)), position=place, mass=10 / (number + 1))
        builder.add_joint(Hinge(Axis(motor=Motor(velocity=speed))), *above, link, position=at, orientation=ALONG_Y)
        above, at = (link,), at + (length, 0, 0)
        lengths.append(length)
        speeds.append(abs(speed))
    simulation, fastest = Simulation(builder.build(), SimulationOptions(threads=1)), 0.0
    for _ in range(144):
        simulation.advance_frame()
        fastest = max(fastest, np.linalg.norm(simulation.velocities()[1:, :3], axis=1).max())
    assert 0.5 < fastest < sum(speed * sum(lengths[number:]) for number, speed in enumerate(speeds))


@pytest.mark.parametrize(
    ("motor", "slips"), [(Motor(velocity=-300.0, largest=20.0), False), (Motor(velocity=-100.0), True)]
)
def test_a_car_is_driven_as_its_closed_form_says(motor, slips):
    """Four driven wheels: by their torque, a = 4 M / (R (m + 4 I / R^2)), or by sliding friction, a = mu g.

    What wheels that slip take of their motors is much of what these do, and none of it may be missing from the car.
    """
    mass, wheel, radius, friction = 200.0, 10.0, 0.3, 0.5
    builder = ModelBuilder()
    builder.add_body(kind=BodyKind.STATIC, shape=Box((100, 5, 0.5)), position=(0, 0, -0.5), friction=friction)
    car = builder.add_body(shape=Box((1, 0.4, 0.2)), position=(0, 0, radius + 0.3), mass=mass)
    for x, y in itertools.product((-0.7, 0.7), (-0.55, 0.55)):
        place = {"position": (x, y, radius), "orientation": ALONG_Y}
        shape = Cylinder(radius=radius, half_height=0.1)
        own = builder.add_body(shape=shape, mass=wheel, friction=friction, **place)
        builder.add_joint(Hinge(Axis(motor=motor)), car, own, **place)
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24, threads=1))
    for _ in range(48):
        simulation.advance_frame()
    rolling = 4 * motor.largest / radius / (mass + 4 * wheel + 4 * 0.5 * wheel)
    # friction of the pair is the product of both
    expected = 9.81 * friction**2 if slips else rolling
    assert abs(simulation.velocities()[car, 0]) == pytest.approx(2.0 * expected, rel=1e-3)


@pytest.mark.parametrize("load", [1.0, 100.0, 1000.0])
def test_a_motor_of_any_strength_lifts_what_hangs_on_it(load):
    """An arm of a kilogram with up to a thousand times its mass at its end keeps the motor's speed."""
    builder = ModelBuilder()
    arm = builder.add_body(shape=Box((0.5, 0.1, 0.1)), position=(0.5, 0, 0))
    weight = builder.add_body(shape=Box((0.1, 0.1, 0.1)), position=(1.2, 0, 0), mass=load)
    # at the world's end body a is the arm, so the motor turns the other way
    builder.add_joint(Hinge(Axis(motor=Motor(velocity=0.5))), arm, position=(0, 0, 0), orientation=ALONG_Y)
    builder.add_joint(Fixed(), arm, weight, position=(1.0, 0, 0))
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24))
    for _ in range(24):
        simulation.advance_frame()
    assert abs(simulation.velocities()[arm, 4]) == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize("joint", [Point(), Hinge(), Fixed(), Slider(), Generic(linear=(LOCKED,) * 3)])
@pytest.mark.parametrize("seed", range(3))
def test_a_joint_that_is_switched_on_over_a_gap_makes_no_energy(joint, seed):
    """Two boxes that fly apart are pulled together; no work is done from outside."""
    random, builder = np.random.default_rng(seed), ModelBuilder(gravity=(0, 0, 0))
    speed, bodies = random.uniform(0.2, 6), []
    for place, way in ((-0.31, -1), (0.31, 1)):
        bodies.append(
            builder.add_body(
                shape=Box((0.3, 0.2, 0.25)),
                mass=random.uniform(0.5, 5),
                position=(place, 0, 0),
                linear_velocity=way * speed * np.array((1, *random.uniform(-0.3, 0.3, 2))),
                angular_velocity=random.uniform(-3, 3, 3),
            )
        )
    builder.add_joint(joint, *bodies, position=(0, 0, 0), enabled=False, collide=bool(seed % 2))
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24))
    energy = []
    for frame in range(72):
        report = simulation.advance_frame(FrameInput(joint_enabled=np.array([frame >= 24])))
        energy.append(report.kinetic_energy)
    assert max(energy[24:]) <= energy[23] * (1.0 + 1e-9)


def sectors(inner, outer, count):
    """A ring of convex parts, 0.1 m thick."""
    angles = 2.0 * np.pi * np.arange(count + 1) / count
    parts = []
    for one, other in itertools.pairwise(angles):
        outline = [(radius * np.cos(at), radius * np.sin(at)) for at in (one, other) for radius in (inner, outer)]
        parts.append(ConvexHull.from_points([(x, y, z) for x, y in outline for z in (-0.05, 0.05)]))
    return Compound(parts)


@pytest.mark.parametrize("tight", [1e-4, 2e-4, 3e-4, 5e-4, 1e-3])
def test_a_motor_of_any_strength_throws_nothing_that_jams(tight):
    """A hub of 12 sides in a ring of 36 that is too tight for it, both free: they fall, and turn together at most.

    What the motor may give is ten thousand times what it needs; the ledger took that for work at whatever speed came
    of it, and two seconds later they turned with 14,000 rad/s. What friction has taken of it is not left to throw.
    """
    builder = ModelBuilder(gravity=(0.0, -9.81, 0.0))
    builder.add_body(shape=sectors(0.2 - tight, 0.26, 36), mass=2.0, friction=0.5)
    builder.add_body(shape=sectors(0.05, 0.2, 12), mass=2.0, friction=0.5)
    hinge = Hinge(axis=Axis(motor=Motor(velocity=3.0)))
    builder.add_joint(hinge, 1, 0, position=(0.0, 0.0, 0.0), collide=True)
    simulation = Simulation(builder.build(), SimulationOptions(threads=1))
    for frame in range(60):
        simulation.advance_frame()
        velocity = simulation.velocities()
        assert np.abs(velocity[:, 3:]).max() < 6.0
        assert velocity[:, 1] == pytest.approx(-9.81 * (frame + 1) / 24.0, abs=1e-3)
