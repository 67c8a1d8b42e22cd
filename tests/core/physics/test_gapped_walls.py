"""Free-standing walls whose bricks start apart land and stand still, in each quality."""

import numpy as np
import pytest

from cairn.solver_core import BodyKind, Box, ModelBuilder, Simulation, SimulationOptions

SIZE = np.array([0.2, 0.1, 0.06])


def gapped_wall(courses, gap):
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(name="floor", kind=BodyKind.STATIC, shape=Box((5.0, 5.0, 0.5)), position=(0.0, 0.0, -0.5))
    for course in range(courses):
        for brick in range(5):
            builder.add_body(
                name=f"brick {course} {brick}",
                shape=Box(0.5 * SIZE),
                mass=2.5,
                position=((brick + 0.3 * (course % 2)) * (SIZE[0] + gap), 0.0, (course + 0.5) * SIZE[2] + gap * course),
                friction=0.5,
            )
    return builder.build()


@pytest.mark.parametrize(("courses", "gap"), [(11, 0.004), (15, 0.006)])
@pytest.mark.parametrize("quality", ["exact", "production"])
def test_a_wall_with_gaps_lands_and_stands(quality, courses, gap):
    """Two seconds later no brick moves by a millionth of its size a frame, and no solve has been missed."""
    simulation = Simulation(gapped_wall(courses, gap), SimulationOptions(quality=quality, sleeping=False))
    for _ in range(48):
        simulation.advance_frame()
    before, missed = simulation.poses()[0], 0
    for _ in range(12):
        missed += simulation.advance_frame().missed
    assert np.abs(simulation.poses()[0] - before).max() <= 12e-6 * SIZE[2]
    assert missed == 0
