"""Bodies of many parts that turn in each other: hundreds of contacts between two bodies, of which few are solved."""

import itertools
import math

import numpy as np
import pytest

from cairn.solver_core import Axis, BodyKind, Box, ConvexHull, Hinge, ModelBuilder, Motor, Simulation, SimulationOptions
from cairn.solver_core.dynamics.islands.policy import MOST_CONTACTS
from cairn.solver_core.model.compound import Compound

LEVELS = (0.03, 0.13)
PLAY = 5e-4


def prism(corners, levels):
    """The hull of points (radius, angle) between two levels."""
    return ConvexHull.from_points([(r * math.cos(a), r * math.sin(a), z) for r, a in corners for z in levels])


def sectors(inner, outer, levels, count, start=0.0):
    """A ring about z in so many parts."""
    angles = start + 2.0 * math.pi / count * np.arange(count + 1)
    return [prism([(r, a) for a in pair for r in (inner, outer)], levels) for pair in itertools.pairwise(angles)]


def teeth(foot, tip, levels, count, widths, start=0.0):
    """So many teeth, as wide at foot and tip as these shares of the pitch."""
    half = [math.pi / count * width for width in widths]
    middles = start + 2.0 * math.pi / count * np.arange(count)
    sides = list(zip((foot, tip), half, strict=True))
    return [prism([(r, middle + sign * w) for r, w in sides for sign in (-1, 1)], levels) for middle in middles]


def rotor_in_a_cup(play):
    """12 sectors that turn in 36: a floor, a wall and a lid, all of which are near them."""
    cup = sectors(0.05, 0.3, (0.0, LEVELS[0]), 12) + sectors(0.25, 0.3, LEVELS, 12, 0.03)
    cup += sectors(0.1, 0.3, (LEVELS[1], LEVELS[1] + 0.02), 12, 0.02)
    widest = (0.25 - play) * math.cos(math.pi / 12)
    return Compound(cup), Compound(sectors(0.03, widest, (LEVELS[0] + play, LEVELS[1] - play), 12, 0.1))


def star_in_a_ring():
    """6 teeth on 6 sectors between 12 teeth within a ring, with a play of some 2 degrees, on its floor."""
    ring = sectors(0.05, 0.36, (0.0, LEVELS[0]), 12) + sectors(0.3, 0.36, LEVELS, 12)
    ring += teeth(0.31, 0.255, LEVELS, 12, (0.5, 0.4))
    levels = LEVELS[0] + PLAY, 0.12
    star = sectors(0.03, 0.24, levels, 6) + teeth(0.2, 0.29, levels, 6, (0.3, 0.2), math.pi / 12)
    return Compound(ring), Compound(star)


def driven(outer, inner, speed, joined, quality="production"):
    """A table, a body on it, and one within that: turned against it, or against the world, by a motor."""
    builder = ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body(kind=BodyKind.STATIC, shape=Box((2, 2, 0.1)), position=(0, 0, -0.1), friction=0.8)
    outside = builder.add_body(shape=outer, mass=5.0, friction=0.3)
    inside = builder.add_body(shape=inner, mass=2.0, friction=0.3)
    axis = Axis(motor=Motor(velocity=speed, largest=200.0))
    first, second = (outside, inside) if joined else (inside, None)
    builder.add_joint(Hinge(axis=axis), first, second, position=(0, 0, 0.07), collide=True)
    return Simulation(builder.build(), SimulationOptions(frame_rate=24.0, quality=quality, sleeping=False))


def solved_contacts(simulation):
    """Of the bodies outside and inside with each other: those that there are, and those that are solved."""
    contacts = simulation._collision.contacts[simulation._collision.roles.last_substep[0]]
    count = contacts.count[0]
    is_theirs = (contacts.body_a[:count] == 1) & (contacts.body_b[:count] == 2)
    is_left_out = simulation._problem.islands.is_left_out[:count]
    return np.count_nonzero(is_theirs), np.count_nonzero(is_theirs & ~is_left_out)


@pytest.mark.parametrize("quality", ["exact", "production"])
def test_a_rotor_turns_in_its_cup_at_the_motors_speed(quality):
    """All surfaces are near each other; few contacts are solved, and the rotor stays within its play."""
    simulation = driven(*rotor_in_a_cup(1e-3), 5.0, True, quality)
    for _ in range(24):
        report = simulation.advance_frame()
        there, solved = solved_contacts(simulation)
        assert there > 200
        assert solved <= MOST_CONTACTS
        assert report.max_penetration < 1e-4
    velocity = simulation.velocities()
    assert velocity[2, 5] - velocity[1, 5] == pytest.approx(5.0, rel=1e-3)
    # upright but for its play in the cup
    assert 2.0 * np.hypot(*simulation.poses()[1][2, 1:3]) < 0.01


def test_teeth_drive_teeth():
    """The ring is taken along at the star's speed, one to one, no tooth slips, and none is pressed into another."""
    simulation = driven(*star_in_a_ring(), 3.0, False)
    turns, last = np.zeros(3), np.zeros(3)
    for frame in range(48):
        report = simulation.advance_frame()
        assert report.max_penetration < 5e-4
        there, solved = solved_contacts(simulation)
        if frame > 12:
            assert there > MOST_CONTACTS
            assert solved <= MOST_CONTACTS
        orientation = simulation.poses()[1]
        angle = 2.0 * np.arctan2(orientation[:, 3], orientation[:, 0])
        turns, last = turns + (angle - last + np.pi) % (2.0 * np.pi) - np.pi, angle
    assert abs(turns[2]) == pytest.approx(6.0, rel=0.01)
    assert abs(turns[2] - turns[1]) < math.radians(4.0)
    assert simulation.velocities()[1, 5] == pytest.approx(simulation.velocities()[2, 5], rel=0.02)


@pytest.mark.parametrize("seed", range(6))
def test_a_rotor_that_is_thrown_about_in_its_cup_stays_within_its_play(seed):
    """Whatever it is met by, also where that was left out of the solve."""
    outer, inner = rotor_in_a_cup(2e-3)
    random = np.random.default_rng(seed)
    builder = ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body(kind=BodyKind.STATIC, shape=outer, friction=0.3)
    builder.add_body(
        shape=inner,
        mass=2.0,
        friction=0.3,
        linear_velocity=random.normal(0.0, 0.5, 3),
        angular_velocity=random.normal(0.0, (1.0, 1.0, 10.0)),
    )
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24.0, sleeping=False))
    start = simulation.poses()[0][1]
    # to the sides it has the play of a corner in a corner
    aside = 0.25 - (0.25 - 2e-3) * math.cos(math.pi / 12)
    for _ in range(24):
        assert simulation.advance_frame().max_penetration < 2e-4
        x, y, z = simulation.poses()[0][1] - start
        assert np.hypot(x, y) < aside + 5e-4
        assert abs(z) < 2e-3 + 5e-4
