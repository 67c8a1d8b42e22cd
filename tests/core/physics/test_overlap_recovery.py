"""Bodies that start in each other come apart gently: no kinetic energy, and a bounded speed."""

import numpy as np
import pytest

from cairn.solver_core.diagnostics import kinetic_energy
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.compound import Compound
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

SUBSTEPS = 4
RATE = 24.0
UNIT = Box((0.5, 0.5, 0.5))
# The most of an overlap that is taken out in a substep, as a share of size (contact_rows), as speed in sizes/s.
RECOVERY_SPEED = 0.01 * SUBSTEPS * RATE
# Of energies: what the stepper itself tolerates (contact_rows), and the rotation's rounding.
SLACK = 2e-3
# Overlaps below this share of size are left.
LEFT = 1.1e-5

TETRAHEDRON = ConvexHull.from_points([(0.5, 0, -0.35), (-0.5, 0, -0.35), (0, 0.5, 0.35), (0, -0.5, 0.35)])
CROSS = Compound([Box((0.5, 0.1, 0.1)), Box((0.1, 0.5, 0.1)), Box((0.1, 0.1, 0.5))])
TABLE = Compound(
    [Box((0.7, 0.5, 0.05), (0, 0, 0.45))]
    + [Box((0.05, 0.05, 0.4), (x, y, 0.0)) for x in (-0.6, 0.6) for y in (-0.4, 0.4)]
)


def play(builder, frames):
    """Kinetic energy of each substep, what it may be, the fastest displacement [sizes/s], and the simulation.

    It may be what free fall along the substep would have made of the last one: contacts give none.
    """
    model = builder.build()
    # A substep a frame, so that energies are seen at every substep.
    simulation = Simulation(model, SimulationOptions(method="nncg", frame_rate=RATE * SUBSTEPS, substeps=1))
    kinetic, allowed, fastest, before = [0.0], [0.0], 0.0, simulation.poses()[0]
    for _ in range(SUBSTEPS * frames):
        falling = simulation.state.velocity.copy()
        falling[:, :3] += np.asarray(model.gravity) / (RATE * SUBSTEPS)
        state = simulation.state
        allowed.append(max(kinetic_energy(model, state), kinetic_energy(model, state._replace(velocity=falling))))
        simulation.advance_frame()
        kinetic.append(kinetic_energy(model, simulation.state))
        position = simulation.poses()[0]
        speed = np.linalg.norm(position - before, axis=1) / model.arrays.size * RATE * SUBSTEPS
        fastest, before = max(fastest, speed.max()), position
    return np.array(kinetic), np.array(allowed), fastest, simulation


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("shape", [UNIT, Sphere(0.5), TETRAHEDRON, CROSS], ids=["box", "ball", "hull", "cross"])
def test_two_bodies_without_gravity_come_apart_at_rest(shape, share):
    """Nothing can give them energy, so they have none at any time; they move no faster than overlaps are taken out."""
    builder = ModelBuilder(gravity=(0, 0, 0))
    builder.add_body(shape=shape)
    builder.add_body(shape=shape, position=((1.0 - share) * shape.size, 0.02, 0.03), orientation=(1, 0.02, 0.03, 0.1))
    kinetic, _, fastest, simulation = play(builder, 48)
    assert kinetic.max() <= 1e-12
    assert fastest <= 1.5 * RECOVERY_SPEED
    overlaps = simulation.overlaps()
    assert not overlaps or overlaps[0].share <= LEFT


@pytest.mark.parametrize("share", [0.01, 0.1, 0.45])
def test_a_body_in_the_floor_comes_out_and_stays(share):
    """It rises to the surface and rests there."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((5.0, 5.0, 0.0)), kind=BodyKind.STATIC)
    builder.add_body(shape=UNIT, position=(0.0, 0.0, 0.5 - share))
    kinetic, _, fastest, simulation = play(builder, 24)
    assert kinetic.max() <= 1e-10
    assert fastest <= 1.01 * RECOVERY_SPEED
    assert simulation.poses()[0][1] == pytest.approx([0.0, 0.0, 0.5], abs=2e-5)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_a_stack_in_itself_rises(share):
    """Five boxes, each in the next and the lowest in the floor, end as a stack that stands, and never fall or fly."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((5.0, 5.0, 0.0)), kind=BodyKind.STATIC)
    for number in range(5):
        builder.add_body(shape=UNIT, position=(0.0, 0.0, 0.5 - share + number * (1.0 - share)), friction=1.0)
    kinetic, _, fastest, simulation = play(builder, 48)
    assert kinetic.max() <= 1e-9
    assert fastest <= 5.01 * RECOVERY_SPEED
    assert simulation.poses()[0][1:, 2] == pytest.approx(0.5 + np.arange(5), abs=1e-3)


@pytest.mark.parametrize(("share", "seed"), [(0.1, 0), (0.5, 1)])
def test_a_heap_in_itself_has_no_more_energy_than_falling_gives(share, seed):
    """Twelve turned boxes: what has been lifted out of others may fall, and nothing more."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder()
    builder.add_body(shape=Box((9.0, 9.0, 0.0)), kind=BodyKind.STATIC, friction=0.7)
    for number in range(12):
        place = np.array([number % 2, number // 2 % 2, number // 4]) * (1.0 - share) + (0.0, 0.0, 0.5)
        turn = (1.0, *rng.normal(size=3) * 0.05)
        builder.add_body(shape=UNIT, position=place + rng.normal(size=3) * 0.02, orientation=turn, friction=0.7)
    kinetic, allowed, _, simulation = play(builder, 48)
    assert np.all(kinetic <= (1.0 + SLACK) * allowed + 1e-9)
    assert kinetic[-1] <= 1e-3
    # It has grown to its full size, and nothing was thrown out of it.
    assert np.abs(simulation.poses()[0][1:] - (0.5, 0.5, 1.5)).max() <= 3.5


@pytest.mark.parametrize("seed", [0, 14, 27, 54, 58])
def test_overlaps_that_contradict_each_other_do_not_pop(seed):
    """Tables pushed half into each other: their parts ask for opposite ways out, so some stay; none flies off.

    They slide out sideways and tip, in two seconds no farther than overlaps are taken out. What turns them about, out
    of each other, gives their spins no energy.
    """
    aside = np.random.default_rng(seed).normal(size=(3, 3)) * (0.01, 0.01, 0.0) * (seed > 0)
    builder = ModelBuilder()
    builder.add_body(shape=Box((9.0, 9.0, 0.0)), kind=BodyKind.STATIC, friction=0.7)
    for number in range(3):
        position = aside[number] + (0.05 * number, 0.02 * number, 0.4 + 0.5 * number)
        builder.add_body(shape=TABLE, position=position, friction=0.7)
    kinetic, allowed, _, simulation = play(builder, 48)
    assert np.all(kinetic <= (1.0 + SLACK) * allowed + 1e-9)
    travel = simulation.poses()[0][1:, :2] - simulation.model.initial_state.position[1:, :2]
    assert np.linalg.norm(travel, axis=1).max() <= RECOVERY_SPEED * TABLE.size * 2.0


def prism(radius, half, sides=24):
    """A pin about y."""
    angles = 2.0 * np.pi * np.arange(sides) / sides
    return ConvexHull.from_points(
        [(radius * np.cos(angle), y, radius * np.sin(angle)) for angle in angles for y in (-half, half)]
    )


@pytest.mark.parametrize("overlap", [0.0005, 0.001, 0.002, 0.003, 0.007])
@pytest.mark.parametrize("substeps", [1, 4, 16])
def test_a_pin_too_thick_for_its_hole_is_never_thrown(overlap, substeps):
    """Overlaps that contradict each other: an arm of 5 cm to 45 cm with a square hole of boxes about a fixed pin.

    It stays or comes apart gently: a frame takes it no farther than it falls, and 1 % of its size in each substep.
    """
    radius, width = 0.0245, 0.05
    hole = radius - overlap
    wide, high = 0.5 * (width - hole), 0.5 * (width + hole)
    frame = [Box((wide, 0.0125, width), position=(sign * high, 0, 0)) for sign in (-1, 1)]
    frame += [Box((hole, 0.0125, wide), position=(0, 0, sign * high)) for sign in (-1, 1)]
    builder = ModelBuilder()
    builder.add_body(kind=BodyKind.STATIC, shape=prism(radius, 0.0126))
    arm = Compound([*frame, Box((0.2, 0.0125, 0.05), position=(-0.25, 0, 0))])
    builder.add_body(shape=arm, mass=1.15, friction=0.0)
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24, substeps=substeps))
    place = simulation.poses()[0][1]
    for frame_number in range(1, 9):
        simulation.advance_frame()
        before, place = place, simulation.poses()[0][1]
        fall = 9.81 * frame_number / 24**2
        assert np.linalg.norm(place - before) <= 0.01 * arm.size * substeps + fall
