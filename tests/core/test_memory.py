"""Long simulations take no more memory with time."""

import numpy as np
import pytest
from memory_in_use import memory_in_use, needs_statm
from nightly import at_night

from cairn.solver_core import BodyKind, Box, Cylinder, FrameInput, Hinge, ModelBuilder, SimulationOptions, Sphere
from cairn.solver_core.geometry import rotations
from cairn.solver_core.simulation import Simulation

# What an allocator keeps for itself, and buffers that are doubled late.
SLACK = 8 << 20


def stirred_bin():
    """Balls, cans and boxes in a bin that a paddle stirs, a chain that hangs into it; the paddle's number."""
    builder, random = ModelBuilder(), np.random.default_rng(4)
    builder.add_body(shape=Box((2.0, 2.0, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC)
    for x, y in ((1.1, 0), (-1.1, 0), (0, 1.1), (0, -1.1)):
        half = (0.1, 1.2, 1.0) if x else (1.2, 0.1, 1.0)
        builder.add_body(shape=Box(half), position=(x, y, 1.0), kind=BodyKind.STATIC)
    paddle = builder.add_body(shape=Box((0.9, 0.05, 0.3)), position=(0, 0, 0.3), kind=BodyKind.KINEMATIC)
    for number in range(24):
        shape = (Sphere(0.12), Cylinder(0.1, 0.1), Box((0.1, 0.12, 0.08)))[number % 3]
        place = (*random.uniform(-0.8, 0.8, 2), 0.8 + 0.1 * number)
        builder.add_body(shape=shape, position=place, rolling_friction=0.02, orientation=random.normal(size=4))
    links = [builder.add_body(shape=Box((0.04, 0.04, 0.1)), position=(0.5, 0.5, 1.8 - 0.2 * i)) for i in range(6)]
    for number, (link, last) in enumerate(zip(links, [paddle, *links], strict=False)):
        if number:
            builder.add_joint(Hinge(), last, link, position=(0.5, 0.5, 1.9 - 0.2 * number))
    builder.add_joint(Hinge(), links[0], position=(0.5, 0.5, 1.9))
    return builder.build(), paddle


@needs_statm
@pytest.mark.parametrize("frames", [600, at_night(10_000)])
def test_it_stays_the_same_over_many_frames(frames):
    """In motion throughout, with contacts told; measured after a third, when all buffers have grown."""
    model, paddle = stirred_bin()
    simulation = Simulation(model, SimulationOptions(contacts=True))
    start = model.initial_state.position.copy(), model.initial_state.orientation.copy()
    moving = 0
    for frame in range(frames):
        orientation = start[1].copy()
        orientation[paddle] = rotations.from_rotation_vector(np.array([0.0, 0.0, 2.0 * np.sin(frame / 15.0)]))
        report = simulation.advance_frame(FrameInput(position=start[0], orientation=orientation))
        moving += report.kinetic_energy > 1e-4
        if frame == frames // 3:
            before = memory_in_use()
    after = memory_in_use()
    assert moving > 0.9 * frames
    assert after[0] - before[0] < SLACK
    assert after[1] - before[1] < 2000
