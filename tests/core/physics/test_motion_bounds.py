"""No substep moves a body by more than its motion and recovery allow, in any quality, whatever the solves gave."""

import numpy as np
import pytest

from cairn.solver_core import BodyKind, Box, ConvexHull, ModelBuilder, Simulation, SimulationOptions
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
