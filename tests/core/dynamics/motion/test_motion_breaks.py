"""Breaks within frames: where a bounce is, by closed forms, and what goes on is none."""

import pytest

from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.joints.hinge import Hinge
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

G = 9.81
DURATION = 1.0 / 24.0
FALL = 0.5 * G * (10.6 * DURATION) ** 2


def with_floor(**options):
    builder = ModelBuilder(**options)
    builder.add_body(
        shape=Box((20.0, 20.0, 0.5)), position=(0.0, 0.0, -0.5), kind=BodyKind.STATIC, restitution=1.0, name="Floor"
    )
    return builder


def bouncing(scale=1.0):
    """A ball that meets the floor after 10.6 frames; all lengths times a scale, and gravity, too."""
    builder = with_floor(gravity=(0.0, 0.0, -G * scale))
    builder.add_body(shape=Sphere(0.1 * scale), position=(0.0, 0.0, (0.1 + FALL) * scale), restitution=0.8)
    return builder.build()


def played(model, frames, **options):
    """A simulation that notes breaks, and (frame with its share, break) of each."""
    simulation = Simulation(model, SimulationOptions(breaks=True, **options))
    found = []
    for frame in range(frames):
        breaks = simulation.advance_frame().breaks
        found += [(frame + share, row, breaks) for row, share in enumerate(breaks.share)]
    return simulation, found


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_a_bounce_is_where_it_was(scale):
    """At the end of the substep of the closed form's moment, at the floor, whatever a metre is."""
    _, found = played(bouncing(scale), 14)
    assert [moment for moment, _, _ in found] == [10.75]
    _, row, breaks = found[0]
    assert breaks.body[row] == 1
    assert breaks.position[row] == pytest.approx([0.0, 0.0, 0.1 * scale], abs=1e-9 * scale)
    assert breaks.orientation[row] == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-12)


def test_the_motion_is_the_same_to_the_bit():
    simulation, found = played(bouncing(), 40)
    other = Simulation(bouncing(), SimulationOptions())
    reports = [other.advance_frame() for _ in range(40)]
    assert found
    assert simulation.digest() == other.digest()
    assert all(report.breaks is None for report in reports)
    assert "breaks.push" not in other.checkpoint().arrays


def swinging(spin):
    """A ball that turns about the world by an arm, pulled by far more than its weight."""
    builder = ModelBuilder()
    builder.add_body(
        shape=Sphere(0.1), position=(1.0, 0.0, 0.0), linear_velocity=(0.0, spin, 0.0), angular_velocity=(0.0, 0.0, spin)
    )
    builder.add_joint(Hinge(), 0, position=(0.0, 0.0, 0.0))
    return builder.build()


def sliding():
    builder = with_floor()
    builder.add_body(shape=Box((0.2, 0.2, 0.2)), position=(0.0, 0.0, 0.2), linear_velocity=(6.0, 0.0, 0.0))
    return builder.build()


def tumbling():
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(shape=Box((0.1, 0.3, 0.8)), linear_velocity=(1.0, 0.0, 0.0), angular_velocity=(9.0, 9.0, 0.1))
    return builder.build()


@pytest.mark.parametrize("model", [swinging(12.0), sliding(), tumbling()], ids=["swings", "slides", "tumbles"])
def test_what_goes_on_is_no_break(model):
    """But where it begins: the arm holds from the first substep on."""
    _, found = played(model, 30)
    assert [moment for moment, _, _ in found if moment > 0.5] == []


def test_what_lands_breaks_once():
    builder = with_floor()
    builder.add_body(shape=Box((0.2, 0.2, 0.2)), position=(0.0, 0.0, 0.2 + 0.5 * G * (7.6 * DURATION) ** 2))
    _, found = played(builder.build(), 40)
    assert len(found) == 1
    assert found[0][2].position[0] == pytest.approx([0.0, 0.0, 0.2], abs=1e-4)


def test_a_simulation_goes_on_with_what_pushed_before():
    """The first substep after a checkpoint is compared with the last one before it."""
    whole, found = played(swinging(12.0), 12)
    first, _ = played(swinging(12.0), 6)
    on = Simulation(swinging(12.0), SimulationOptions(breaks=True))
    on.restore(first.checkpoint())
    later = [on.advance_frame().breaks for _ in range(6)]
    assert on.digest() == whole.digest()
    assert sum(len(breaks.body) for breaks in later) == len([moment for moment, _, _ in found if moment > 6])
    without = Simulation(swinging(12.0), SimulationOptions())
    with pytest.raises(ValueError, match=r"has no breaks\.push"):
        on.restore(without.checkpoint())
    without.restore(first.checkpoint())
    assert without.advance_frame().breaks is None
