"""Bodies of convex parts that fit closely: a ring on a pin with half a millimetre of play, a nut on its bolt."""

import itertools

import numpy as np
import pytest

from cairn.solver_core import BodyKind, ConvexHull, Cylinder, ModelBuilder, Simulation, SimulationOptions
from cairn.solver_core.model.compound import Compound

RATE = 24.0


def sectors(inner, outer, half, corners=48):
    """A ring about z in as many convex parts as it has corners."""
    angles = 2 * np.pi / corners * np.arange(corners + 1)
    parts = []
    for pair in itertools.pairwise(angles):
        ends = [(r * np.cos(a), r * np.sin(a), z) for a in pair for r in (inner, outer) for z in (-half, half)]
        parts.append(ConvexHull.from_points(ends))
    return Compound(parts)


@pytest.mark.parametrize("quality", ["exact", "production"])
def test_a_ring_turns_on_a_pin_with_half_a_millimetre_of_play(quality):
    """It hangs on the pin, keeps most of its spin without friction, and nowhere jumps."""
    builder = ModelBuilder(gravity=(0, -9.81, 0))
    builder.add_body(kind=BodyKind.STATIC, shape=Cylinder(0.0245, 0.05), friction=0.0)
    ring = sectors(0.025, 0.04, 0.02)
    builder.add_body(shape=ring, mass=0.3, friction=0.0, angular_velocity=(0, 0, 6), position=(0, -4e-4, 0))
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=RATE, substeps=4, quality=quality))
    place = simulation.poses()[0][1]
    for _ in range(48):
        simulation.advance_frame()
        moved, place = np.linalg.norm(simulation.poses()[0][1] - place), simulation.poses()[0][1]
        assert moved <= 2.5e-4
        assert np.hypot(place[0], place[1]) <= 5.05e-4
    assert simulation.velocities()[1][5] > 3.0


PITCH, SEGMENTS = 0.02, 16


def ridge(inner, outer, widths, turns, start):
    """A thread in convex wedges, of which the widths are those at the inner and the outer radius."""
    wedges = []
    for segment in range(int(SEGMENTS * turns)):
        points = []
        for angle in 2 * np.pi / SEGMENTS * np.array([segment, segment + 1]):
            height = PITCH * angle / (2 * np.pi) + start
            for radius, width in zip((inner, outer), widths, strict=True):
                points += [
                    (radius * np.cos(angle), radius * np.sin(angle), height + side * width / 2) for side in (-1, 1)
                ]
        wedges.append(ConvexHull.from_points(points))
    return wedges


@pytest.mark.parametrize("quality", ["exact", "production"])
def test_a_nut_screws_down_its_bolt_by_its_weight(quality):
    """Steep and without friction: once it rests on the thread it sinks by a pitch a turn, and stays upright."""
    radius, depth = 0.02, 0.006
    builder = ModelBuilder(gravity=(0, 0, -9.81))
    bolt = ridge(0.8 * radius, radius + depth, (0.55 * PITCH, 0.25 * PITCH), 4, -2 * PITCH)
    angles = np.pi / 16 * np.arange(32)
    bolt.append(
        ConvexHull.from_points([(radius * np.cos(a), radius * np.sin(a), z) for a in angles for z in (-0.08, 0.08)])
    )
    builder.add_body(kind=BodyKind.STATIC, shape=Compound(bolt), friction=0.0)
    nut = ridge(radius + 8e-4, radius + depth + 0.012, (0.25 * PITCH, 0.55 * PITCH), 1.5, 0.5 * PITCH)
    builder.add_body(shape=Compound(nut), mass=0.3, friction=0.0)
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=RATE, substeps=4, quality=quality))
    turn, last, turns, heights = 0.0, 0.0, [], []
    for _ in range(24):
        simulation.advance_frame()
        position, orientation = simulation.poses()
        w, x, y, z = orientation[1]
        angle = 2 * np.arctan2(z, w)
        turn, last = turn + (angle - last + np.pi) % (2 * np.pi) - np.pi, angle
        turns.append(turn)
        heights.append(position[1][2])
        assert 1 - 2 * (x * x + y * y) > np.cos(np.radians(3.0))
    assert turns[-1] < -1.5
    sunk, screwed = np.array(heights[4:]) - heights[4], PITCH / (2 * np.pi) * (np.array(turns[4:]) - turns[4])
    assert np.abs(sunk - screwed).max() < 0.05 * PITCH
