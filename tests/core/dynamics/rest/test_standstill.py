"""What stands still is solved once a frame, and answers to whatever moves all the same."""

import numpy as np
import pytest

from cairn.solver_core import (
    BodyKind,
    Box,
    FrameInput,
    Hinge,
    ModelBuilder,
    Point,
    Simulation,
    SimulationOptions,
    Sphere,
)
from cairn.solver_core import simulation as simulation_module
from cairn.solver_core.model.joints.axis import Axis, Motor

SUBSTEPS = 4
G = 9.81


def builder_with_floor():
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    builder.add_body(
        name="floor", kind=BodyKind.STATIC, shape=Box(half_extents=(20.0, 20.0, 0.5)), position=(0.0, 0.0, -0.5)
    )
    return builder


def add_stack(builder, count, x=0.0, y=0.0):
    for number in range(count):
        builder.add_body(
            name=f"box {x} {number}", shape=Box(half_extents=(0.5, 0.5, 0.5)), mass=1.0, position=(x, y, 0.5 + number)
        )


def simulate(builder, **options):
    return Simulation(builder.build(), SimulationOptions(substeps=SUBSTEPS, sleeping=False, **options))


@pytest.mark.parametrize("quality", ["production", "exact"])
def test_still_scenes_take_one_pass_a_frame(quality):
    """Three of four substeps would repeat the first, and after ten seconds a stack stands where it stood."""
    builder = builder_with_floor()
    add_stack(builder, 5)
    simulation = simulate(builder, quality=quality)
    start = simulation.poses()[0]
    reports = [simulation.advance_frame() for _ in range(240)]
    assert all(report.substeps == SUBSTEPS for report in reports)
    assert all(report.detection_passes == 1 for report in reports[5:])
    assert np.abs(simulation.poses()[0] - start).max() <= 1e-8


@pytest.mark.parametrize(("size", "offset"), [(0.032, 0.0), (0.032, 1e-7), (0.5, 1e-7), (4.0, 1e-7)])
def test_half_lapped_bricks_stand_over_the_very_edge(size, offset):
    """The middle of a course's last brick lies over the edge of the one below, off by the rounding of single precision.

    In theory it tips within a second or two; where wood and stone are laid so, it stands.
    """
    half = size * np.array([0.5, 0.25, 0.15])
    builder, random = builder_with_floor(), np.random.default_rng(3)
    for course in range(6):
        for column in range(3):
            place = (
                size * (column + 0.5 * (course % 2) + (offset if course == 5 else 0.0)),
                0.0,
                half[2] * (1 + 2 * course),
            )
            noise = size * offset * random.uniform(-0.1, 0.1, size=3)
            builder.add_body(shape=Box(half), mass=1.0, position=np.float32(place + noise))
    simulation = simulate(builder)
    start = simulation.poses()[0]
    for _ in range(72):
        simulation.advance_frame()
    assert np.abs(simulation.poses()[0] - start).max() <= 1e-6 * size


def test_what_is_out_of_balance_by_more_tips():
    """A brick whose middle is a thousandth of its length beyond the edge: m k^2 a'' = m g (d + r a), for a second."""
    builder = builder_with_floor()
    builder.add_body(name="below", shape=Box((0.5, 0.5, 0.5)), kind=BodyKind.STATIC, position=(0.0, 0.0, 0.5))
    builder.add_body(name="tips", shape=Box((0.5, 0.25, 0.05)), mass=1.0, position=(0.501, 0.0, 1.05))
    simulation = simulate(builder)
    for _ in range(24):
        simulation.advance_frame()
    off, height, square = 0.001, 0.05, (1.0 + 0.1**2) / 12.0 + 0.05**2
    angle = off / height * (np.cosh(np.sqrt(G * height / square)) - 1.0)
    assert 2.0 * np.arcsin(simulation.poses()[1][2, 2]) == pytest.approx(angle, rel=0.03)


def test_what_falls_beside_a_still_stack_falls_as_alone():
    """Free flight beside what stands is the exact parabola, substep by substep."""
    builder = builder_with_floor()
    add_stack(builder, 3)
    builder.add_body(name="ball", shape=Sphere(0.2), mass=1.0, position=(6.0, 0.0, 15.0))
    simulation = simulate(builder)
    for _ in range(24):
        report = simulation.advance_frame()
    assert report.detection_passes >= SUBSTEPS
    assert simulation.poses()[0][4, 2] == pytest.approx(15.0 - 0.5 * G, abs=1e-9)


def test_a_hit_in_the_middle_of_a_frame_moves_what_stood():
    """A ball meets a still stack in whichever substep it does; momentum goes over to the box that it hits."""
    builder = builder_with_floor()
    add_stack(builder, 1)
    speed = 4.0
    # gap of two frames and a half: the first substeps of the third frame find nothing that moves beside the box
    gap = 2.6 * speed / 24.0
    builder.add_body(
        name="ball",
        shape=Sphere(0.3),
        mass=1.0,
        friction=0.0,
        position=(-0.8 - gap, 0.0, 0.5),
        linear_velocity=(speed, 0.0, 0.0),
    )
    simulation = simulate(builder)
    for _ in range(2):
        simulation.advance_frame()
    assert np.abs(simulation.velocities()[1]).max() < 1e-6
    simulation.advance_frame()
    box, ball = simulation.velocities()[1:3]
    # without a bounce both go on together, slowed by the friction on the floor for less than a frame
    assert box[0] > 0.5 * speed - 0.5 * G / 24.0 - 1e-6
    assert ball[0] <= box[0] + 1e-6


@pytest.mark.parametrize("quality", ["production", "exact"])
def test_a_ball_at_the_top_of_its_flight_does_not_stay_there(quality):
    """It is still for a moment while it touches a wall; a substep later it falls."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    builder.add_body(
        name="wall", kind=BodyKind.STATIC, shape=Box(half_extents=(0.5, 20.0, 20.0)), position=(-0.5, 0.0, 0.0)
    )
    # still at the end of the first substep exactly
    h = 1.0 / (24.0 * SUBSTEPS)
    builder.add_body(
        name="ball",
        shape=Sphere(0.5),
        mass=1.0,
        friction=0.0,
        position=(0.5, 0.0, 0.0),
        linear_velocity=(0.0, 0.0, G * h),
    )
    simulation = simulate(builder, quality=quality)
    simulation.advance_frame()
    time = 1.0 / 24.0
    assert simulation.velocities()[1, 2] == pytest.approx(G * h - G * time, abs=1e-9)


def test_a_driven_floor_carries_what_stood_on_it():
    """A tray that begins to move takes along at once what stood on it for a second."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    builder.add_body(
        name="tray", kind=BodyKind.KINEMATIC, shape=Box(half_extents=(5.0, 5.0, 0.5)), position=(0.0, 0.0, -0.5)
    )
    add_stack(builder, 2)
    simulation = simulate(builder)
    for _ in range(24):
        simulation.advance_frame()
    position, orientation = simulation.poses()
    speed = 0.05
    for frame in range(12):
        position[0, 0] = speed * (frame + 1) / 24.0
        report = simulation.advance_frame(FrameInput(position=position, orientation=orientation))
        assert report.detection_passes >= SUBSTEPS
    assert simulation.poses()[0][1:, 0] == pytest.approx(speed * 0.5, abs=1e-3)


def test_gravity_that_turns_moves_what_stood():
    """At the next frame's first substep already."""
    builder = builder_with_floor()
    add_stack(builder, 2)
    simulation = simulate(builder)
    for _ in range(12):
        simulation.advance_frame()
    simulation.advance_frame(FrameInput(gravity=(0.0, 0.0, 1.0)))
    assert simulation.velocities()[1:, 2] == pytest.approx(1.0 / 24.0, abs=1e-6)


def test_substep_by_substep_gives_the_same_bits(monkeypatch):
    """Also where a frame ends at rest after its first substep."""
    monkeypatch.setattr(simulation_module, "SECONDS_AT_ONCE", 0.0)
    whole, parts = builder_with_floor(), builder_with_floor()
    for builder in (whole, parts):
        add_stack(builder, 4)
    whole, parts = simulate(whole), simulate(parts)
    for _ in range(12):
        whole.advance_frame()
        assert list(parts.frame_steps()) == [1, 2, 3]
    assert whole.digest() == parts.digest()


def test_after_a_quick_frame_the_next_one_is_taken_at_once():
    """To come back after each substep takes longer than those of a few bodies; a frame that lasted is not quick."""
    builder = builder_with_floor()
    add_stack(builder, 2)
    simulation = simulate(builder)
    assert list(simulation.frame_steps()) == [1, 2, 3]
    simulation._seconds = 0.5 * simulation_module.SECONDS_AT_ONCE
    assert list(simulation.frame_steps()) == []
    simulation._seconds = 2.0 * simulation_module.SECONDS_AT_ONCE
    assert list(simulation.frame_steps()) == [1, 2, 3]
    assert simulation.frame == 3


def hanging_chain(links):
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    ceiling = builder.add_body(
        name="ceiling", kind=BodyKind.STATIC, shape=Box(half_extents=(1.0, 1.0, 0.1)), position=(0.0, 0.0, 0.1)
    )
    above = ceiling
    for number in range(links):
        link = builder.add_body(
            name=f"link {number}",
            shape=Box(half_extents=(0.05, 0.05, 0.2)),
            mass=1.0,
            position=(0.0, 0.0, -0.5 * number - 0.3),
        )
        builder.add_joint(Point(), above, link, position=(0.0, 0.0, -0.5 * number - 0.05))
        above = link
    return builder


def test_what_hangs_still_ends_the_frame_too():
    """A chain at rest: what its joints bear is its weight."""
    links = 5
    simulation = simulate(hanging_chain(links))
    for _ in range(24):
        report = simulation.advance_frame()
    assert report.detection_passes == 1
    assert np.linalg.norm(report.joints.force, axis=1) == pytest.approx(G * np.arange(links, 0, -1), rel=1e-6)


def test_joints_of_what_stands_bear_what_they_bore_while_something_flies():
    """The chain is solved once a frame, its loads stay, its impulses add up; the ball that hits it moves it."""
    links, builder = 5, hanging_chain(5)
    ball = builder.add_body(name="ball", shape=Sphere(0.1), position=(2.0, 0.0, -2.2), linear_velocity=(-2.0, 0.0, 5.0))
    simulation = simulate(builder, contacts=True)
    mass, joints = simulation.model.arrays.mass, simulation.model.arrays.joints
    for frame in range(16):
        before = simulation.velocities()[:, :3]
        report = simulation.advance_frame()
        if frame < 2:
            continue
        assert report.iterations <= 2, "a solve of each of the four substeps takes two"
        assert np.linalg.norm(report.joints.force, axis=1) == pytest.approx(G * np.arange(links, 0, -1), rel=1e-6)
        contacts = simulation.contacts()
        total = contacts.forces + contacts.rest
        for side, bodies in enumerate((joints.body_a, joints.body_b)):
            np.add.at(total, bodies, contacts.joint_impulse[:, side])
        gained = mass[:, None] * (simulation.velocities()[:, :3] - before)
        assert gained[1:] == pytest.approx(total[1:], abs=1e-9)
    assert simulation.poses()[0][ball, 0] > 0.3
    assert np.abs(simulation.velocities()[1:ball]).max() == pytest.approx(0.0, abs=1e-9)
    for _ in range(24):
        simulation.advance_frame()
    assert np.abs(simulation.velocities()[1:ball]).max() > 0.1, "it was hit"


def test_joints_that_share_a_load_share_it_where_they_come_to_stand():
    """A chain on one hook gets two more at its place, and stands again within that frame: each hook bears a third."""
    links, builder = 3, hanging_chain(3)
    hooks = [0] + [builder.add_joint(Point(), 0, 1, position=(0.0, 0.0, -0.05)) for _ in range(2)]
    builder.add_body(name="ball", shape=Sphere(0.1), position=(2.0, 0.0, -2.2), linear_velocity=(2.0, 0.0, 5.0))
    simulation = simulate(builder)
    for frame in range(16):
        acts = np.ones(links + 2, bool)
        acts[hooks[1:]] = frame >= 4
        report = simulation.advance_frame(FrameInput(joint_enabled=acts))
        loads = np.linalg.norm(report.joints.force[hooks], axis=1)
        if frame >= 4:
            assert loads == pytest.approx(links * G / 3.0, rel=1e-6), frame
    assert report.iterations <= 2, "it does not stand"


def test_a_servo_that_is_keyed_moves_what_stood():
    """Its target stands in the first frames and then goes on."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    post = builder.add_body(kind=BodyKind.STATIC, shape=Box((0.1, 0.1, 0.1)))
    arm = builder.add_body(shape=Box((0.1, 0.1, 0.4)), mass=1.0, position=(0.0, 0.0, -0.5))
    builder.add_joint(Hinge(Axis(motor=Motor(velocity=0.0, largest=1e4))), post, arm, position=(0.0, 0.0, 0.0))
    builder.add_body(shape=Sphere(0.1), position=(3.0, 0.0, 0.0))
    simulation = simulate(builder)
    for _ in range(6):
        simulation.advance_frame()
    speed = np.zeros((1, 6))
    speed[0, 5] = 1.0
    for _ in range(6):
        simulation.advance_frame(FrameInput(motor_velocity=speed))
    assert abs(simulation.velocities()[arm, 5]) == pytest.approx(1.0, rel=1e-6)
