"""What redundant joints bear: of all that would do, what is least, so it is the same for joints that are alike."""

import numpy as np
import pytest

from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.joints.fixed import Fixed
from cairn.solver_core.model.joints.hinge import Hinge
from cairn.solver_core.model.joints.point import Point
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.simulation import Simulation

G = 9.81
CUBE = Box((0.1, 0.1, 0.1))
# The joint's z axis along y of the world.
ABOUT_Y = (np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0)


def simulate(builder, **options):
    return Simulation(builder.build(), SimulationOptions(sleeping=False, threads=1, **options))


def test_a_joint_that_is_switched_on_bears_like_the_one_at_its_place():
    """A gate swings about one hinge, and from the sixth frame on about two that are alike."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((0.5, 0.05, 0.3)), mass=20.0, position=(0.5, 0.0, 0.0))
    for _ in range(2):
        builder.add_joint(Hinge(), 0, position=(0.0, 0.0, 0.0), orientation=ABOUT_Y)
    simulation = simulate(builder)
    for frame in range(30):
        joints = simulation.advance_frame(FrameInput(joint_enabled=np.array([True, frame > 5]))).joints
        if frame > 5:
            assert np.abs(joints.force[0] - joints.force[1]).max() < 1e-6 * np.abs(joints.force).max()
            assert np.abs(joints.torque[0] - joints.torque[1]).max() < 1e-6 * np.abs(joints.force).max()
    assert simulation.poses()[0][0, 0] < 0.0, "nothing swung"


@pytest.mark.parametrize("kind", [Point, Fixed])
@pytest.mark.parametrize("limit", [0.995, 1.005])
def test_joints_that_are_alike_break_by_what_each_of_them_bears(kind, limit):
    """A weight hangs on three of them at one place, then on seven: a seventh of it."""
    builder = ModelBuilder()
    builder.add_body(shape=CUBE, mass=3.0)
    for number in range(7):
        builder.add_joint(kind(), 0, position=(0.0, 0.0, 0.3), name=f"hook {number}")
    simulation = simulate(builder)
    simulation.advance_frame(FrameInput(joint_enabled=np.arange(7) < 3))
    strong = np.full((7, 2), np.inf)
    strong[:, 0] = limit * 3.0 * G / 7.0
    report = simulation.advance_frame(FrameInput(joint_enabled=np.full(7, True), joint_breaking=strong))
    assert len(report.broke) == (7 if limit < 1.0 else 0)
    assert np.abs(np.linalg.norm(report.joints.force, axis=1) - 3.0 * G / 7.0).max() < 1e-6


def hanging_beams(order):
    """Five beams in a row, each tied to the next by three balls, and the ends to the world."""
    builder = ModelBuilder()
    for place in range(5):
        builder.add_body(shape=Box((0.2, 0.4, 0.05)), mass=2.0, position=(0.5 * place, 0.0, 0.0))
    ties = [(place, side) for place in range(6) for side in (-0.3, 0.0, 0.3)]
    for place, side in (ties[number] for number in order):
        ends = (max(place - 1, 0),) if place in (0, 5) else (place - 1, place)
        builder.add_joint(Point(), *ends, position=(0.5 * place - 0.25, side, 0.0))
    return simulate(builder)


def test_what_joints_bear_depends_neither_on_their_order_nor_on_what_they_bore():
    """The ball in the middle of each tie is switched on on the way."""
    order = np.random.default_rng(4).permutation(18)
    first, second, middle = hanging_beams(range(18)), hanging_beams(order), np.arange(18) % 3 == 1
    for frame in range(24):
        acts = ~middle | (frame > 7)
        loads = first.advance_frame(FrameInput(joint_enabled=acts)).joints.force
        turned = second.advance_frame(FrameInput(joint_enabled=acts[order])).joints.force
    largest = np.abs(loads).max()
    assert np.abs(turned - loads[order]).max() < 1e-4 * largest
    assert np.abs(2.0 * loads[1::3] - loads[0::3] - loads[2::3]).max() < 1e-4 * largest


def test_what_a_joint_gives_under_its_load_does_not_gather():
    """1e8 kg on a link of a kilogram: h^2 1e-10 (1 / m_a + 1 / m_b) times the force, more than 1e-5 of its size."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((0.02, 0.02, 0.15)), mass=1.0, position=(0.0, 0.0, -0.15))
    builder.add_body(shape=CUBE, mass=1e8, position=(0.0, 0.0, -0.4))
    builder.add_joint(Point(), 0, position=(0.0, 0.0, 0.0))
    builder.add_joint(Point(), 0, 1, position=(0.0, 0.0, -0.3))
    simulation = simulate(builder)
    for _ in range(24):
        report = simulation.advance_frame()
    # the world's end counts as the body's once more
    given = (1.0 / 96.0) ** 2 * 1e-10 * np.array([2.0, 1.0]) * 1e8 * G
    assert report.joints.error_linear == pytest.approx(given, rel=1e-4)
