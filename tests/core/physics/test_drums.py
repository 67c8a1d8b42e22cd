"""A drum that turns keeps what lies in it, whatever its speed: its wall goes along a circle, not along tangents."""

import math

import numpy as np
import pytest

from cairn.solver_core import (
    BodyKind,
    Box,
    Cylinder,
    FrameInput,
    ModelBuilder,
    Simulation,
    SimulationOptions,
    Sphere,
    TriangleMesh,
)
from cairn.solver_core.model.compound import Compound, placed

FRAME_RATE = 24.0


def tube(count, radius, thickness, length):
    """A closed mesh round the y axis."""
    angles = 2.0 * np.pi * np.arange(count) / count
    rings = ((radius, -length), (radius, length), (radius + thickness, length), (radius + thickness, -length))
    vertices = [(r * math.cos(at), y, r * math.sin(at)) for r, y in rings for at in angles]
    triangles = []
    for ring in range(4):
        for side in range(count):
            p, q, after = ring * count, (ring + 1) % 4 * count, (side + 1) % count
            triangles += [(p + side, q + side, q + after), (p + side, q + after, p + after)]
    return TriangleMesh(vertices=np.array(vertices), triangles=np.array(triangles))


def staves(count, radius, thickness, length):
    """Flush boxes, as a barrel has them."""
    half = (0.5 * thickness, length, (radius + thickness) * math.tan(math.pi / count))
    middle = radius + 0.5 * thickness
    return Compound(
        [
            placed(
                Box(half_extents=half),
                (middle * math.cos(at), 0.0, middle * math.sin(at)),
                (math.cos(-0.5 * at), 0.0, math.sin(-0.5 * at), 0.0),
            )
            for at in 2.0 * np.pi * np.arange(count) / count
        ]
    )


def turning(shape, inside, radius, speed, frames, friction=0.8, gravity=-9.81):
    """Bodies in a drum that comes to its speed in a second; their distances from the axis, overlaps and velocities."""
    builder = ModelBuilder(gravity=(0.0, 0.0, gravity))
    builder.add_body(kind=BodyKind.KINEMATIC, shape=shape, friction=friction)
    for y in (-0.27, 0.27):
        end = Box((1.1 * radius, 0.02 * radius, 1.1 * radius))
        builder.add_body(kind=BodyKind.STATIC, shape=end, position=(0.0, y * radius, 0.0), friction=0.0)
    size = np.ptp(inside.vertices[:, 0]) if hasattr(inside, "vertices") else 2.0 * np.max(size_of(inside))
    for place in (-1, 0, 1):
        position = (1.2 * place * size, 0.0, -0.92 * radius + 0.5 * size)
        builder.add_body(shape=inside, position=position, friction=friction)
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=FRAME_RATE, max_substeps=16, threads=1))
    angle, deepest, away = 0.0, 0.0, []
    for frame in range(frames):
        angle += speed * min(1.0, (frame + 1) / FRAME_RATE) / FRAME_RATE
        position, orientation = simulation.poses()
        position[0], orientation[0] = 0.0, (math.cos(0.5 * angle), 0.0, math.sin(0.5 * angle), 0.0)
        report = simulation.advance_frame(FrameInput(position=position, orientation=orientation))
        deepest = max(deepest, report.max_penetration)
        away.append(np.hypot(*simulation.poses()[0][3:, ::2].T))
    return np.array(away), deepest / size, simulation


def size_of(shape):
    return shape.half_extents if isinstance(shape, Box) else (shape.radius,)


@pytest.mark.parametrize("kind", ["mesh", "staves"])
@pytest.mark.parametrize(
    ("radius", "size", "speed"), [(0.3, 0.01, 20.0), (0.3, 0.036, 40.0), (10.0, 0.3, 20.0), (0.3, 0.01, 70.0)]
)
def test_nothing_leaves_a_drum_that_turns(kind, radius, size, speed):
    """At 12 to 400 g and up to half a turn a frame boxes lay more than a size in the wall, and fell out."""
    shape = (tube if kind == "mesh" else staves)(48, radius, 0.05 * radius, 0.25 * radius)
    away, deepest, _ = turning(shape, Box((0.5 * size,) * 3), radius, speed, 72)
    assert deepest < 0.1
    assert away.max() < radius


def test_what_a_drum_carries_goes_round_at_its_speed():
    """Pressed to the wall by 50 g, as far from the axis as it is thick."""
    radius, size, speed = 0.3, 0.02, 40.0
    away, _, simulation = turning(staves(48, radius, 0.015, 0.075), Box((0.5 * size,) * 3), radius, speed, 96)
    assert away[-24:] == pytest.approx(radius - 0.5 * size, rel=0.01)
    assert np.ptp(away[-24:], axis=0).max() < 0.002 * radius
    velocity = simulation.velocities()[3:]
    assert np.hypot(velocity[:, 0], velocity[:, 2]) == pytest.approx(speed * away[-1], rel=0.01)
    # they rock on the staves' flats
    assert np.mean(np.abs(velocity[:, 4])) == pytest.approx(speed, rel=0.02)


def test_a_ball_in_a_drum_without_friction_stays_at_the_bottom():
    """The wall slips below it, round an axis of its own: it neither lifts nor drags."""
    away, deepest, simulation = turning(tube(256, 0.3, 0.015, 0.075), Sphere(0.02), 0.3, 30.0, 72, friction=0.0)
    assert deepest < 0.02
    assert np.abs(simulation.velocities()[3:]).max() < 0.7
    assert away.max() < 0.3


@pytest.mark.parametrize("speed", [5.0, 20.0, 40.0])
def test_what_lies_on_rollers_does_not_sink_into_them(speed):
    """Their surface bends away from a ball that turns on two of them."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    lying = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
    for x in (-0.12, 0.12):
        roller = Cylinder(0.1, 0.5)
        builder.add_body(kind=BodyKind.KINEMATIC, shape=roller, position=(x, 0.0, 0.0), orientation=lying, friction=0.9)
    top = math.sqrt(0.2**2 - 0.12**2)
    builder.add_body(shape=Sphere(0.1), position=(0.0, 0.0, top), friction=0.9)
    simulation = Simulation(builder.build(), SimulationOptions(sleeping=False, threads=1))
    start, deepest = simulation.poses(), 0.0
    for frame in range(96):
        position, orientation = start[0].copy(), start[1].copy()
        half = 0.5 * speed * (frame + 1) / FRAME_RATE
        for roller in range(2):
            w, x = lying[0], lying[1]
            turned = (math.cos(half), 0.0, math.sin(half), 0.0)
            # about the world's y axis, after it was laid down
            orientation[roller] = (turned[0] * w, turned[0] * x, turned[2] * w, -turned[2] * x)
        report = simulation.advance_frame(FrameInput(position=position, orientation=orientation))
        deepest = max(deepest, report.max_penetration)
    assert deepest < 1e-3 * 0.2
    assert simulation.poses()[0][2] == pytest.approx([0.0, 0.0, top], abs=2e-3)
    assert abs(simulation.velocities()[2, 4]) == pytest.approx(speed, rel=0.02)


def test_a_ball_that_turns_in_its_place_is_not_lifted():
    """With friction it takes the wall's speed at once and goes nowhere: the wall is no nearer for that."""
    away, _, _ = turning(tube(256, 0.3, 0.015, 0.075), Sphere(0.02), 0.3, 3.0, 96, friction=0.1)
    assert away[-1] == pytest.approx(0.28, abs=2e-4)
