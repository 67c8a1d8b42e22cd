"""Impacts among many bodies: Newton's cradle, momentum, symmetry; and energy never grows, with any friction."""

import numpy as np
import pytest

from cairn.solver_core import diagnostics
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.constraints.contact_rows import allocate_contact_rows
from cairn.solver_core.constraints.restitution import begin_impacts, end_impacts, select_impacts
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.rows import allocate_rows, single_island
from cairn.solver_core.scenes import pile
from cairn.solver_core.simulation import Simulation


def row_of_balls(count=5, *, moving=1, gap=0.0, restitution=1.0, masses=None, on_floor=False, method="nncg"):
    """Velocities along the row before and after the first ones have hit the others, and the masses."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81 if on_floor else 0.0))
    if on_floor:
        builder.add_body(shape=Box((50.0, 5.0, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=0.0)
    masses = np.ones(count) if masses is None else np.asarray(masses, float)
    before = np.zeros(count)
    before[:moving] = 1.0
    for ball in range(count):
        builder.add_body(
            shape=Sphere(0.5),
            mass=masses[ball],
            position=(ball * (1.0 + gap) - (1.0 if ball < moving else 0.0), 0.0, 0.5),
            linear_velocity=(before[ball], 0.0, 0.0),
            restitution=restitution,
            friction=0.0,
        )
    simulation = Simulation(builder.build(), SimulationOptions(method=method))
    for _ in range(48):
        simulation.advance_frame()
    return before, simulation.velocities()[-count:, 0], masses


@pytest.mark.parametrize("on_floor", [False, True])
@pytest.mark.parametrize(("count", "moving"), [(5, 1), (5, 2), (5, 3), (12, 1)])
def test_as_many_balls_leave_a_cradle_as_come_in(count, moving, on_floor):
    """Touching elastic balls: one in, one out; two in, two out. The others stay."""
    _, after, _ = row_of_balls(count, moving=moving, on_floor=on_floor)
    expected = np.zeros(count)
    expected[-moving:] = 1.0
    # approaches below a thousandth of the first one do not count as impacts
    assert after == pytest.approx(expected, abs=1e-3)


def test_a_cradle_with_gaps_does_the_same():
    """A millimetre between the balls changes nothing."""
    _, after, _ = row_of_balls(gap=1e-3)
    assert after == pytest.approx([0.0, 0.0, 0.0, 0.0, 1.0], abs=1e-4)


def test_balls_that_lose_energy_leave_one_after_the_other():
    """With e = 0.9 the last ball gets ((1 + e) / 2)^4 of the velocity, as in four impacts of two balls each."""
    before, after, masses = row_of_balls(restitution=0.9**0.5, gap=1e-3)
    assert after[-1] == pytest.approx(0.95**4, rel=1e-3)
    assert np.all(np.diff(after) > -1e-9)
    assert masses @ after == pytest.approx(masses @ before, rel=1e-9)


def test_unequal_balls_keep_momentum_and_energy():
    """Elastic impacts in a row of different masses."""
    before, after, masses = row_of_balls(masses=[1.0, 2.0, 1.0, 3.0, 1.0])
    assert masses @ after == pytest.approx(masses @ before, rel=1e-9)
    assert masses @ after**2 == pytest.approx(masses @ before**2, rel=1e-4)
    assert np.all(np.diff(after) >= -1e-4)


def test_a_break_keeps_its_symmetry():
    """A ball between two others: what goes right is the mirror image of what goes left."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for x, y, speed in ((-2.0, 0.0, 1.0), (0.0, 0.5, 0.0), (0.0, -0.5, 0.0)):
        builder.add_body(
            shape=Sphere(0.5), position=(x, y, 0), linear_velocity=(speed, 0, 0), friction=0.0, restitution=1.0
        )
    simulation = Simulation(builder.build(), SimulationOptions(method="nncg"))
    for _ in range(72):
        report = simulation.advance_frame()
    velocity = simulation.velocities()
    # both at once: 6 sqrt(3) / 15 of the speed along each line of centres, and -1/5 of it back
    assert velocity[0, :2] == pytest.approx([-0.2, 0.0], abs=5e-3)
    assert velocity[1, :2] == pytest.approx(velocity[2, :2] * [1.0, -1.0], abs=1e-6)
    assert report.kinetic_energy == pytest.approx(0.5, rel=1e-5)


def tumbling(restitution, friction, gravity=9.81):
    """Four bodies of all shapes fall on each other and on a floor, spinning."""
    rng = np.random.default_rng(0)
    builder = ModelBuilder(gravity=(0.0, 0.0, -gravity))
    builder.add_body(
        shape=Box((10, 10, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=friction, restitution=1.0
    )
    shapes = [Box((0.5, 0.3, 0.4)), Sphere(0.4), ConvexHull.from_points(rng.normal(size=(20, 3)) * 0.35)]
    for index in range(4):
        builder.add_body(
            shape=shapes[index % 3],
            mass=rng.uniform(0.5, 3.0),
            position=(0.7 * (index % 2), 0.3 * (index % 3), 1.2 + 1.1 * index),
            orientation=rng.normal(size=4),
            linear_velocity=rng.normal(size=3),
            angular_velocity=4.0 * rng.normal(size=3),
            friction=friction,
            restitution=restitution,
        )
    return builder.build()


HEAPS = {
    "dull": lambda: tumbling(0.0, 0.7),
    "lively": lambda: tumbling(0.6, 0.7),
    "elastic": lambda: tumbling(1.0, 0.7),
    "elastic, smooth": lambda: tumbling(1.0, 0.0),
    "weightless": lambda: tumbling(0.6, 0.7, gravity=0.0),
    "pile": lambda: pile(5).build_model(),
}


@pytest.mark.parametrize("friction", ["box", "cone", "polyhedral"])
@pytest.mark.parametrize("make", HEAPS.values(), ids=list(HEAPS))
def test_energy_never_grows(make, friction):
    """In 1.5 s of tumbling the energy is never above the start's, or the last frame's, by more than 1e-6 of it.

    But for the overlaps that are taken out: an edge that rolls over a ball is led into it by half of the turn's square,
    and comes out again. That lifts no body by more than the deepest overlap.
    """
    model = make()
    start = diagnostics.kinetic_energy(model, model.initial_state)
    start += diagnostics.potential_energy(model, model.initial_state, model.gravity)
    weight = np.linalg.norm(model.gravity) * model.arrays.mass[model.arrays.inverse_mass > 0.0].sum()
    simulation = Simulation(model, SimulationOptions(method="nncg", friction=friction))
    energies, overlaps = [start], []
    for _ in range(36):
        report = simulation.advance_frame()
        energies.append(report.kinetic_energy + report.potential_energy)
        overlaps.append(report.max_penetration)
    assert max(energies) <= start * (1.0 + 1e-6)
    lifts = weight * np.maximum(overlaps, [0.0, *overlaps[:-1]])
    assert np.all(np.diff(energies) <= start * 1e-6 + lifts)
    assert max(overlaps) <= 5e-3
    assert energies[-1] < energies[1] or model.arrays.friction[0] == 0.0


@kernel
def blocks_of_impacts(rows, islands, contact_rows, velocity, free_velocity, chosen):
    """Order of the island's blocks at its first impact, and how many these are; then all are put back."""
    island, contact_count, last = np.int64(0), np.int64(1), islands.block_first[1]
    begin_impacts(islands, island, rows, contact_rows, velocity, free_velocity)
    select_impacts(islands, island, last, rows, contact_count, contact_rows, velocity, 0.0, np.bool_(False))
    count = islands.block_first[1]
    for index in range(count):
        chosen[index] = islands.block_order[index]
    end_impacts(islands, island, last, rows, contact_count, contact_rows)
    return count


@pytest.mark.parametrize(("impulse", "expected"), [(1.0, [0, 1, 2, 3]), (0.0, [1, 2, 3])])
def test_blocks_that_are_no_contacts_take_part_in_each_impact(impulse, expected):
    """One contact of two bodies that approach, and three rows of other kinds: only the contact may be left out."""
    rows, contact_rows = allocate_rows(4, 6, 2), allocate_contact_rows(1, 4, 3)
    rows.count[:], rows.block_row[:], rows.body_b[:] = (4, 6), (0, 3, 4, 5, 6), 1
    rows.jacobian[0, 0], rows.jacobian[0, 6], rows.impulse[0] = -1.0, 1.0, impulse
    islands, velocity, chosen = single_island(rows, 2), np.zeros((2, 6)), np.full(4, -1)
    velocity[0, 0] = 1.0
    count = blocks_of_impacts(rows, islands, contact_rows, velocity, velocity.copy(), chosen)
    assert chosen[:count].tolist() == expected
    assert islands.block_order.tolist() == [0, 1, 2, 3]
    assert islands.block_first[1] == 4
