"""No substep moves a body by more than its motion and recovery allow, in any quality, whatever the solves gave."""

import numpy as np
import pytest

from cairn.solver_core import (
    BodyKind,
    Box,
    Cone,
    ConvexHull,
    Cylinder,
    FrameInput,
    ModelBuilder,
    Simulation,
    SimulationOptions,
    Sphere,
)
from cairn.solver_core.model.compound import Compound

RATE, GRAVITY = 24.0, 9.81


def hole_on_a_pin(overlap):
    """A loose block with a square hole, which is too small for the pin that it hangs on."""
    radius, half = 0.0245, 0.05
    side = radius - overlap
    parts = [
        Box(half_extents=((half - side) / 2, 0.0125, half), position=(sign * (half + side) / 2, 0, 0))
        for sign in (-1, 1)
    ]
    parts += [
        Box(half_extents=(side, 0.0125, (half - side) / 2), position=(0, 0, sign * (half + side) / 2))
        for sign in (-1, 1)
    ]
    parts.append(Box(half_extents=(0.2, 0.0125, 0.05), position=(-0.25, 0, 0)))
    angles = np.arange(24) * np.pi / 12
    pin = [(radius * np.cos(a), y, radius * np.sin(a)) for a in angles for y in (-0.0126, 0.0126)]
    builder = ModelBuilder(gravity=(0, 0, -GRAVITY))
    builder.add_body(kind=BodyKind.STATIC, shape=ConvexHull.from_points(pin))
    builder.add_body(shape=Compound(parts), mass=1.15, friction=0.0)
    return builder.build()


@pytest.mark.parametrize("overlap", [0.001, 0.0037, 0.007])
@pytest.mark.parametrize("quality", ["exact", "production"])
@pytest.mark.parametrize("substeps", [1, 4, 16])
def test_overlaps_that_contradict_each_other_throw_nothing(quality, substeps, overlap):
    """A frame's way is at most that of a free fall so far, and recovery, 2 % of the 0.5 m a substep."""
    simulation = Simulation(
        hole_on_a_pin(overlap), SimulationOptions(frame_rate=RATE, substeps=substeps, quality=quality)
    )
    place = simulation.poses()[0][1]
    for frame in range(1, 9):
        simulation.advance_frame()
        moved, place = np.linalg.norm(simulation.poses()[0][1] - place), simulation.poses()[0][1]
        assert moved <= GRAVITY * frame / RATE**2 + min(0.02 * 0.5 * substeps, 0.04)


def about(axis, angle):
    """Unit quaternion (w, x, y, z) of a turn."""
    return np.r_[np.cos(0.5 * angle), np.sin(0.5 * angle) * np.asarray(axis) / np.linalg.norm(axis)]


@pytest.mark.parametrize("quality", ["exact", "production"])
@pytest.mark.parametrize("seed", [96])
def test_a_cone_that_turns_into_the_floor_throws_nothing(quality, seed):
    """14 degrees a frame, on and beside it five bodies: what it presses on the floor left at 15 m/s and more."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body(shape=Box((5.0, 5.0, 0.5), position=(0.0, 0.0, -0.5)), kind=BodyKind.STATIC)
    axis, radius, half = rng.normal(size=3), rng.uniform(0.3, 0.6), rng.uniform(0.3, 0.7)
    place, turn = np.array([0.0, 0.0, half + 0.3]), np.radians(14.0)
    builder.add_body(shape=Cone(radius, half), kind=BodyKind.KINEMATIC, position=place, friction=0.8)
    for k in range(5):
        shape = (Box((0.15, 0.15, 0.15)), Sphere(0.15), Cylinder(0.15, 0.15), Cone(0.15, 0.15))[rng.integers(4)]
        angle = rng.uniform(0.0, 6.28)
        x, y = rng.uniform(0.1, 0.8) * np.cos(angle), rng.uniform(0.1, 0.8) * np.sin(angle)
        builder.add_body(
            shape=shape,
            position=(x, y, 2.0 * half + 0.6 + 0.4 * k),
            orientation=about(rng.normal(size=3), rng.uniform(0.0, 3.0)),
            mass=rng.uniform(0.2, 3.0),
            friction=0.8,
        )
    run = Simulation(builder.build(), SimulationOptions(frame_rate=RATE, quality=quality))
    top = 2.0 * half + 2.6
    for frame in range(1, 41):
        position, orientation = (poses.copy() for poses in run.poses())
        position[1], orientation[1] = place, about(axis, turn * frame)
        run.advance_frame(FrameInput(position=position, orientation=orientation))
        falls = np.sqrt(2.0 * GRAVITY * np.maximum(top - run.poses()[0][2:, 2], 0.0))
        speed = np.linalg.norm(run.velocities()[2:, :3], axis=1)
        assert (speed <= 2.0 * turn * RATE * np.hypot(radius, half) + falls).all()


@pytest.mark.parametrize("substeps", [4, 16])
def test_a_row_of_balls_that_a_press_bends_throws_none_out(substeps):
    """Twelve balls, nearly in line with a wall: no speed out of the line would be too large for the press."""
    speed, radius = 1.0, 0.15
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body(kind=BodyKind.STATIC, shape=Box((5.0, 5.0, 0.5)), position=(0.0, 0.0, -0.5), friction=0.5)
    builder.add_body(kind=BodyKind.STATIC, shape=Box((0.5, 5.0, 2.0)), position=(3.85, 0.0, 2.0), friction=0.5)
    press = builder.add_body(kind=BodyKind.KINEMATIC, shape=Box((0.5, 0.5, 1.0)), position=(-0.77, 0.0, 1.01))
    for k in range(11):
        place = (-0.1 + 0.31 * k, 0.002 * (-1) ** k, radius)
        builder.add_body(shape=Sphere(radius), position=place, mass=0.1, friction=0.5, restitution=0.5)
    run = Simulation(builder.build(), SimulationOptions(frame_rate=RATE, substeps=substeps))
    fastest = 0.0
    for frame in range(1, 25):
        position, orientation = (poses.copy() for poses in run.poses())
        before = position[3:]
        position[press, 0] = -0.77 + speed * frame / RATE
        run.advance_frame(FrameInput(position=position, orientation=orientation))
        moved = np.linalg.norm((run.poses()[0][3:] - before)[:, :2], axis=1) * RATE
        fastest = max(fastest, moved.max(), np.linalg.norm(run.velocities()[3:, :2], axis=1).max())

    assert fastest <= 2.0 * speed + np.sqrt(GRAVITY * 2.0 * radius)


@pytest.mark.parametrize("substeps", [4, 16, 64])
def test_what_overlaps_both_sides_of_a_narrow_wedge_does_not_shoot_out(substeps):
    """A ball of 0.2 m, deep in two walls that open upwards by 14 degrees."""
    angle, radius = np.radians(7.0), 0.2
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    for side in (-1, 1):
        normal = np.array([-side * np.cos(angle), 0.0, np.sin(angle)])
        builder.add_body(
            kind=BodyKind.STATIC,
            shape=Box((0.5, 2.0, 3.0)),
            position=(0.0, 0.0, 1.0) - normal * (0.5 + 0.6 * radius),
            orientation=about((0, 1, 0), side * angle),
        )
    builder.add_body(shape=Sphere(radius), position=(0.0, 0.0, 1.0), friction=0.5)
    run = Simulation(builder.build(), SimulationOptions(frame_rate=RATE, substeps=substeps))
    place, fastest = run.poses()[0][2], 0.0
    for _ in range(24):
        run.advance_frame()
        fastest, place = max(fastest, np.linalg.norm(run.poses()[0][2] - place) * RATE), run.poses()[0][2]

    assert fastest <= np.sqrt(GRAVITY * 2.0 * radius) * (1.0 + 1e-6)


@pytest.mark.parametrize("quality", ["exact", "production"])
@pytest.mark.parametrize("substeps", [4, 16])
def test_hulls_that_are_nested_part_no_faster_than_two_of_them(quality, substeps):
    """Six bowls as hulls, each in the next by six sevenths: with each pair's speed on the one below's the top flew.

    Nothing rises faster than by the recovery of one overlap, and what gravity gives in a frame.
    """
    angles = np.arange(12) * np.pi / 6
    ring = np.c_[np.cos(angles), np.sin(angles)]
    bowl = ConvexHull.from_points(np.r_[np.c_[0.3 * ring, np.zeros(12)], np.c_[0.7 * ring, np.full(12, 0.5)]])
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body(kind=BodyKind.STATIC, shape=Box((5.0, 5.0, 0.5)), position=(0.0, 0.0, -0.5))
    for number in range(6):
        builder.add_body(shape=bowl, position=(0.0, 0.0, 0.07 * number), mass=0.5)
    model = builder.build()
    run = Simulation(model, SimulationOptions(frame_rate=RATE, substeps=substeps, quality=quality))
    height, fastest = run.poses()[0][1:, 2], 0.0
    for _ in range(36):
        run.advance_frame()
        now = run.poses()[0][1:, 2]
        fastest, height = max(fastest, (now - height).max() * RATE), now
    assert fastest <= np.sqrt(GRAVITY * model.arrays.size[1:].max()) + GRAVITY / RATE


def _pressed(shape, count, height, floor, quality, substeps):
    """Bodies on one another under a press, which comes down to a third of their height and goes up again.

    Returns the lowest that a body's middle comes, over half of its height, the fastest speed, and the press's.
    """
    down, frames, radius = 0.35 * count * height, 24, 0.5 * height
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body(kind=BodyKind.STATIC, shape=floor, friction=0.5)
    press = builder.add_body(
        kind=BodyKind.KINEMATIC, shape=Box((1.0, 1.0, 2.0)), position=(0.0, 0.0, 2.0 + count * height)
    )
    for number in range(count):
        builder.add_body(shape=shape, position=(0.0, 0.0, height * (number + 0.5)), friction=0.5)
    run = Simulation(builder.build(), SimulationOptions(frame_rate=RATE, substeps=substeps, quality=quality))
    before = run.poses()[0][2:]
    lowest = fastest = 0.0
    for frame in range(1, 3 * frames + 1):
        position, orientation = (poses.copy() for poses in run.poses())
        share = frame / frames if frame <= frames else max(2.0 - frame / frames, -1.0)
        position[press, 2] = 2.0 + count * height + share * (down - count * height)
        run.advance_frame(FrameInput(position=position, orientation=orientation))
        now = run.poses()[0][2:]
        lowest, fastest = min(lowest, now[:, 2].min() - radius), max(fastest, np.abs(now - before).max() * RATE)
        before = now
    return lowest, fastest, (count * height - down) * RATE / frames


@pytest.mark.parametrize("quality", ["exact", "production"])
@pytest.mark.parametrize("substeps", [1, 4, 16])
@pytest.mark.parametrize("floor", ["solid", "sheet"])
@pytest.mark.parametrize(("kind", "count"), [("box", 1), ("box", 3), ("ball", 1), ("can", 1)])
def test_what_a_press_crushes_stays_on_the_floor(kind, count, floor, substeps, quality):
    """It goes into the press or out beside it, not through the floor, and no faster than any pinch and recovery."""
    height = 0.6
    shape = {"box": Box((0.3, 0.3, 0.3)), "ball": Sphere(0.3), "can": Cylinder(0.2, 0.3)}[kind]
    ground = Box((5.0, 5.0, 0.5), position=(0.0, 0.0, -0.5)) if floor == "solid" else Box((5.0, 5.0, 0.0))
    lowest, fastest, speed = _pressed(shape, count, height, ground, quality, substeps)
    assert lowest >= -0.01 * height
    assert fastest <= 2.0 * speed + np.sqrt(GRAVITY * height)
