"""A body whose motion is no number any more is held and named, and the shot goes on."""

import numpy as np
import pytest

from cairn.solver_core import BodyKind, Box, FrameInput, ModelBuilder, Point, Simulation, SimulationOptions
from cairn.solver_core.model.fields import Force


def scene(speed=0.0, strength=0.0):
    """A stack on a floor, and a body far away that is fast, or that a field drives."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((4.0, 4.0, 0.5)), kind=BodyKind.STATIC, position=(0.0, 0.0, -0.5))
    for box in range(3):
        builder.add_body(shape=Box((0.2, 0.2, 0.2)), position=(0.01 * box, 0.0, 0.25 + 0.4 * box), name=f"Box {box}")
    builder.add_body(
        shape=Box((0.2, 0.2, 0.2)), position=(50.0, 0.0, 9.0), linear_velocity=(speed, 0.0, 0.0), name="Far"
    )
    if strength:
        builder.add_field(Force(strength=strength), carrier=0)
        for body in range(1, 4):
            builder.respond_to_fields(body, responds=False)
    return builder.build()


def play(model, frames=24):
    simulation = Simulation(model, SimulationOptions(threads=1))
    reports = [simulation.advance_frame() for _ in range(frames)]
    return simulation, reports


@pytest.mark.parametrize("what", [{"speed": 4e30}, {"strength": 1e300}, {"strength": 1e308}], ids=str)
def test_what_is_lost_is_held_and_named_once(what):
    """Where it was before, at rest; and the others move as they do without it, to the bit."""
    simulation, reports = play(scene(**what))
    assert [name for report in reports for name in report.lost] == ["Far"]
    position, orientation = simulation.poses()
    assert np.isfinite(position).all()
    assert np.abs(position).max() <= 1e30
    assert simulation.velocities()[4].tolist() == [0.0] * 6
    assert orientation[4] == pytest.approx([1.0, 0.0, 0.0, 0.0])
    alone, _ = play(scene())
    assert position[:4].tolist() == alone.poses()[0][:4].tolist()
    held = simulation.poses()[0][4].tolist()
    simulation.advance_frame()
    assert simulation.poses()[0][4].tolist() == held


def test_what_flies_off_stays_where_it_was_last():
    """Just before the frame in which it would have passed what a key can hold."""
    simulation, reports = play(scene(speed=2e29), 5 * 24 + 12)
    lost = [report.frame for report in reports if report.lost]
    assert len(lost) == 1
    assert simulation.poses()[0][4, 0] == pytest.approx(2e29 * lost[0] / 24.0, rel=0.05)
    assert 0.5e30 < simulation.poses()[0][4, 0] < 1e30


def test_a_lost_body_stays_lost_after_a_resume_and_moves_again_if_told_to():
    model = scene(strength=1e300)
    simulation, _ = play(model, 3)
    later = Simulation(model, SimulationOptions(threads=1))
    later.restore(simulation.checkpoint())
    reports = [(simulation.advance_frame(), later.advance_frame()) for _ in range(3)]
    assert all(not one.lost and not other.lost for one, other in reports)
    assert simulation.digest() == later.digest()
    kind = simulation.state.kind.copy()
    kind[4] = BodyKind.KINEMATIC.value
    position, orientation = simulation.poses()
    position[4] = 51.0, 0.0, 9.0
    simulation.advance_frame(FrameInput(kind=kind, position=position, orientation=orientation))
    assert simulation.poses()[0][4].tolist() == [51.0, 0.0, 9.0]
    kind[4] = BodyKind.DYNAMIC.value
    assert simulation.advance_frame(FrameInput(kind=kind)).lost == ["Far"], "the field drives it anew"


def test_what_lies_beside_a_lost_body_goes_on():
    """It falls on, or lies on, what is held now."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((4.0, 4.0, 0.5)), kind=BodyKind.STATIC, position=(0.0, 0.0, -0.5))
    builder.add_body(shape=Box((0.5, 0.5, 0.2)), position=(0.0, 0.0, 0.2), name="Below")
    builder.add_body(shape=Box((0.2, 0.2, 0.2)), position=(0.0, 0.0, 0.6), name="Above")
    builder.add_field(Force(strength=-1e300), carrier=0)
    builder.respond_to_fields(2, responds=False)
    simulation, reports = play(builder.build())
    assert [name for report in reports for name in report.lost] == ["Below"]
    assert simulation.poses()[0][2] == pytest.approx([0.0, 0.0, 0.6], abs=1e-6)


@pytest.mark.parametrize("strength", [1e300, 1e308])
def test_joints_of_a_lost_body_stay_numbers(strength):
    """What hangs on it hangs on, and no report says that a joint is open by no number."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((0.2, 0.2, 0.2)), kind=BodyKind.STATIC, position=(0.0, 0.0, -9.0))
    builder.add_body(shape=Box((0.2, 0.2, 0.2)), position=(0.0, 0.0, 3.0), name="Lost")
    builder.add_body(shape=Box((0.2, 0.2, 0.2)), position=(0.0, 0.0, 2.0), name="Hung")
    builder.add_joint(Point(), 1, 2, position=(0.0, 0.0, 2.5))
    builder.add_field(Force(strength=strength), carrier=0)
    builder.respond_to_fields(2, responds=False)
    simulation, reports = play(builder.build())
    assert [name for report in reports for name in report.lost if name == "Lost"] == ["Lost"]
    for report in reports:
        assert np.isfinite([report.joint_error, report.kinetic_energy, report.potential_energy]).all()
        for name in ("error_linear", "error_angular", "force", "torque"):
            assert np.isfinite(getattr(report.joints, name)).all(), name
    assert np.isfinite(simulation.poses()[0]).all()
