"""Bodies that joints hold in all six ways are one piece, and do not touch each other."""

import numpy as np
import pytest

from cairn.solver_core import (
    LOCKED,
    Axis,
    BodyKind,
    Box,
    Fixed,
    FrameInput,
    Generic,
    Hinge,
    ModelBuilder,
    Simulation,
    SimulationOptions,
    Slider,
)


def row(joint, count=4, gravity=(0, 0, 0), **settings):
    """Cubes that overlap by a millimetre, each joined to the next but one, which it does not touch otherwise."""
    builder = ModelBuilder(gravity=gravity)
    for place in range(count):
        builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=(0.999 * place, 0, 0))
    for place in range(count - 1):
        builder.add_joint(joint, place, place + 1, position=(0.999 * place + 0.5, 0, 0), collide=True, **settings)
    return builder


def played(builder, frames=4, **inputs):
    simulation = Simulation(builder.build(), SimulationOptions(sleeping=False))
    reports = [simulation.advance_frame(FrameInput(**inputs)) for _ in range(frames)]
    return simulation, reports


@pytest.mark.parametrize("joint", [Fixed(), Generic(linear=(LOCKED,) * 3, angular=(LOCKED,) * 3)])
def test_what_is_glued_does_not_touch_itself(joint):
    """Though its joints let their own two bodies collide, and the overlap stays."""
    simulation, reports = played(row(joint))
    assert [report.contacts for report in reports] == [0] * 4
    assert simulation.poses()[0][:, 0] == pytest.approx(0.999 * np.arange(4), abs=1e-12)


@pytest.mark.parametrize("joint", [Hinge(), Slider(), Generic(linear=(LOCKED,) * 3, angular=(LOCKED, LOCKED, Axis()))])
def test_what_may_move_does(joint):
    """One free coordinate is enough."""
    assert played(row(joint))[1][-1].contacts > 0


def test_pieces_are_found_through_others_and_fall_apart_as_joints_do():
    """Numbers are those of the lowest body; a joint that is switched off, or has broken, parts them."""
    builder = row(Fixed(), 5)
    simulation, _ = played(builder, 1)
    assert simulation._arrays.glued.tolist() == [0] * 5
    simulation, reports = played(builder, 2, joint_enabled=np.array([True, True, False, True]))
    assert simulation._arrays.glued.tolist() == [0, 0, 0, 3, 3]
    assert reports[-1].contacts > 0


def test_a_joint_that_breaks_parts_the_piece_in_the_same_frame():
    """Else what was one piece would pass through itself until the next one."""
    builder = row(Fixed(), 2, gravity=(0, 0, -9.81), breaking_force=1.0)
    builder.add_body(shape=Box((0.2, 0.2, 0.2)), kind=BodyKind.STATIC, position=(0, 0, -0.7))
    simulation, reports = played(builder, 1)
    assert reports[0].broke
    assert simulation._arrays.glued.tolist() == [0, 1, 2]


def test_what_is_glued_to_what_stands_does_not_touch_that():
    """The floor that the first brick of a wall is glued to is part of the piece."""
    builder = ModelBuilder()
    floor = builder.add_body(shape=Box((5, 5, 1)), kind=BodyKind.STATIC, position=(0, 0, -1))
    bricks = [builder.add_body(shape=Box((0.5, 0.2, 0.1)), position=(place, 0, 0.0999)) for place in range(3)]
    builder.add_joint(Fixed(), floor, bricks[0], position=(0, 0, 0))
    builder.add_joint(Fixed(), bricks[0], bricks[1], position=(0.5, 0, 0.1))
    _, reports = played(builder)
    # the third one is not glued to anything
    assert {report.contacts for report in reports[1:]} <= {4, 8}
