"""Contacts that joints hold are left out: bodies that overlap at their joint move as if they did not touch there."""

import numpy as np
import pytest

from cairn.solver_core import (
    BodyKind,
    Box,
    Fixed,
    Hinge,
    ModelBuilder,
    Simulation,
    SimulationOptions,
)
from cairn.solver_core.geometry import rotations
from cairn.solver_core.options import SMALL_STEPS_OF_QUALITY

HALF = (0.5, 0.04, 0.03)
UP = np.array([0.0, 0.0, 1.0])


def about(axis, angle):
    return np.append(np.cos(angle / 2), np.sin(angle / 2) * np.asarray(axis))


def add_bar(builder, turn, hub, **keywords):
    """A bar of a metre that begins at the hub."""
    way = rotations.rotate(turn, np.array([HALF[0], 0.0, 0.0]))
    return builder.add_body(shape=Box(HALF), position=hub + way, orientation=turn, **keywords)


def play(builder, frames, **options):
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24, sleeping=False, **options))
    poses, reports = [], []
    for _ in range(frames):
        reports.append(simulation.advance_frame())
        poses.append(simulation.poses())
    return poses, reports


def star(collides):
    """Two bars of different masses on a hinge each at one hub, which overlap there, swing in planes of their own."""
    builder, hub = ModelBuilder(), 2.0 * UP
    root = builder.add_body(kind=BodyKind.STATIC, shape=Box((0.01, 0.01, 0.01)), position=hub, collision_mask=1 << 5)
    for number, (plane, angle, mass) in enumerate(((0.0, 0.9, 1.0), (np.pi / 2, 0.3, 5.0))):
        turn = rotations.multiply(about(UP, plane), about((0, 1, 0), angle))
        bar = add_bar(builder, turn, hub, mass=mass, collision_mask=1 if collides else 1 << number)
        axis = rotations.multiply(turn, about((1, 0, 0), np.pi / 2))
        builder.add_joint(Hinge(), root, bar, position=hub, orientation=axis)
    return builder


@pytest.mark.parametrize("quality", SMALL_STEPS_OF_QUALITY)
def test_bars_that_overlap_at_their_hub_swing_as_if_they_did_not_touch(quality):
    """Until they meet below it: places to a ten-thousandth of a metre, and no solve is missed."""
    (free, _), (touching, reports) = (play(star(collides), 8, quality=quality) for collides in (False, True))
    assert sum(report.contacts for report in reports) > 0
    assert sum(report.missed for report in reports) == 0
    off = max(np.abs(a[0] - b[0]).max() for a, b in zip(free, touching, strict=True))
    assert off < 1e-4


def test_they_meet_away_from_the_hub():
    """A bar that folds down on another one, which is held, comes to lie on it and does not pass through."""
    builder, hub = ModelBuilder(), 2.0 * UP
    root = builder.add_body(kind=BodyKind.STATIC, shape=Box((0.01, 0.01, 0.01)), position=hub, collision_mask=1 << 5)
    level = add_bar(builder, np.array([1.0, 0.0, 0.0, 0.0]), hub)
    builder.add_joint(Fixed(), root, level, position=hub)
    above = add_bar(builder, about((0, 1, 0), -0.8), hub)
    builder.add_joint(Hinge(), level, above, position=hub, orientation=about((1, 0, 0), np.pi / 2), collide=True)
    poses, reports = play(builder, 72)
    directions = [rotations.rotate(orientation[above], np.array([1.0, 0.0, 0.0])) for _, orientation in poses]
    # from above, by the angle at which a bar's end lies on the other's upper edge or the whole on its face
    lowest = min(direction[2] for direction in directions)
    assert -1e-3 < lowest < 0.5
    assert abs(directions[-1][2] - directions[-13][2]) < 1e-4
    assert max(report.joint_error for report in reports) < 1e-5
