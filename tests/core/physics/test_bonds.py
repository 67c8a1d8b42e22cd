"""Bonds of glue break at the loads of the strength of materials, whatever the substeps are."""

import math

import numpy as np
import pytest

from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder, ModelError
from cairn.solver_core.model.joints.bond import Bond
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

# Pieces are cubes of this size [m] and mass [kg].
SIDE, MASS, PIECES = 0.2, 1.0, 20
AREA = SIDE * SIDE
# W = b h^2 / 6, and J / r of a square with its half diagonal.
BENDING, TORSION = SIDE**3 / 6.0, (SIDE**4 / 6.0) / (SIDE * math.sqrt(0.5))
# What the glue bears [N/m^2].
SIGMA, TAU = 50e3, 30e3
NEVER = math.inf
# From the joint's x axis to z of the world.
UP = (math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0)


def glue(tension=NEVER, shear=NEVER):
    """A bond on the face of a cube."""
    return Bond(
        tension=tension * AREA,
        shear=shear * AREA,
        torsion=shear * TORSION,
        bending_y=tension * BENDING,
        bending_z=tension * BENDING,
        area=AREA,
        gyration_y=SIDE / math.sqrt(12.0),
        gyration_z=SIDE / math.sqrt(12.0),
    )


def bar(bond, mass=MASS):
    """Twenty cubes in a row along x, glued to each other, and the first one to the world."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for place in range(PIECES):
        at = (place + 0.5) * SIDE, 0.0, 0.0
        builder.add_body(shape=Box((0.5 * SIDE,) * 3), mass=mass, position=at)
    for place in range(1, PIECES):
        builder.add_joint(bond, place - 1, place, position=(place * SIDE, 0.0, 0.0), name=str(place))
    # a joint's normal leads from body a to b, and the world can only be b
    builder.add_joint(bond, 0, position=(0.0, 0.0, 0.0), orientation=(0.0, 0.0, 0.0, 1.0), name="0")
    return builder


def loaded(builder, forces, substeps, frames=2):
    """Names of the bonds that broke first, and the largest stress of each, under constant forces and torques."""
    for body, push in enumerate(forces):
        builder.push_body(body, push[:3], push[3:])
    simulation = Simulation(builder.build(), SimulationOptions(substeps=substeps, threads=1, sleeping=False))
    for _ in range(frames):
        report = simulation.advance_frame()
        if report.broke:
            break
    return report.broke, report.joints.peak_stress


def at_the_end(force, torque=(0.0, 0.0, 0.0), bodies=PIECES, body=PIECES - 1):
    pushes = np.zeros((bodies, 6))
    pushes[body] = *force, *torque
    return pushes


@pytest.mark.parametrize("substeps", [4, 8, 16])
@pytest.mark.parametrize("share", [0.98, 1.02])
class TestClosedForms:
    """Each just holds, and breaks, 2 % to either side of the load of the closed form."""

    def test_a_bar_in_tension(self, substeps, share):
        """F = sigma A, in each of its bonds."""
        load = share * SIGMA * AREA
        broke, stress = loaded(bar(glue(SIGMA, TAU)), at_the_end((load, 0.0, 0.0)), substeps)
        assert bool(broke) == (share > 1.0)
        assert share > 1.0 or stress == pytest.approx(np.full(PIECES, share), rel=2e-3)

    def test_a_bar_in_compression_bears_all(self, substeps, share):
        broke, _ = loaded(bar(glue(SIGMA, TAU)), at_the_end((-20.0 * share * SIGMA * AREA, 0.0, 0.0)), substeps)
        assert broke == []

    def test_a_cantilever(self, substeps, share):
        """F L = sigma W at its root, which breaks alone; the force acts at the middle of the last piece."""
        load = share * SIGMA * BENDING / ((PIECES - 0.5) * SIDE)
        broke, stress = loaded(bar(glue(SIGMA, TAU)), at_the_end((0.0, 0.0, -load)), substeps)
        assert broke == (["0"] if share > 1.0 else [])
        lever = PIECES - 0.5 - np.roll(np.arange(PIECES), -1)
        assert share > 1.0 or stress == pytest.approx(share * lever / (PIECES - 0.5), rel=2e-3)

    def test_a_bar_that_is_twisted(self, substeps, share):
        """T = tau J / r, in each of its bonds."""
        broke, _ = loaded(bar(glue(SIGMA, TAU)), at_the_end((0, 0, 0), (share * TAU * TORSION, 0, 0)), substeps)
        assert bool(broke) == (share > 1.0)

    def test_a_block_in_shear(self, substeps, share):
        """V = tau A on each of twenty pieces that are glued to each other and to the ground, pulled along it."""
        builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
        ground = builder.add_body(kind=BodyKind.STATIC, shape=Box((5.0, 5.0, 0.5)), position=(0.0, 0.0, -0.5))
        place = {}
        for row in range(4):
            for column in range(5):
                at = (column * SIDE, row * SIDE, 0.5 * SIDE)
                place[row, column] = builder.add_body(shape=Box((0.5 * SIDE,) * 3), mass=MASS, position=at)
        for (row, column), body in place.items():
            x, y = column * SIDE, row * SIDE
            builder.add_joint(glue(SIGMA, TAU), ground, body, position=(x, y, 0.0), orientation=UP, name="base")
            if (row, column + 1) in place:
                at = (x + 0.5 * SIDE, y, 0.5 * SIDE)
                builder.add_joint(glue(), body, place[row, column + 1], position=at)
            if (row + 1, column) in place:
                at, turn = (x, y + 0.5 * SIDE, 0.5 * SIDE), (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
                builder.add_joint(glue(), body, place[row + 1, column], position=at, orientation=turn)
        load = share * TAU * AREA
        # in the plane of the glue: a force at the middle, and its moment about it taken off
        pushes = np.zeros((1 + PIECES, 6))
        pushes[1:] = load, 0.0, 0.0, 0.0, -0.5 * SIDE * load, 0.0
        broke, _ = loaded(builder, pushes, substeps)
        assert broke == (["base"] * PIECES if share > 1.0 else [])

    def test_tension_and_bending_add_up(self, substeps, share):
        """N / A + M / W: a bar that hangs by its rim bears a quarter of what it does by its middle."""
        load = share * SIGMA * AREA / 4.0
        pushes = at_the_end((load, 0.0, 0.0), (0.0, 0.5 * SIDE * load, 0.0))
        broke, _ = loaded(bar(glue(SIGMA, TAU)), pushes, substeps)
        assert bool(broke) == (share > 1.0)

    def test_a_push_lets_glue_bear_more_bending(self, substeps, share):
        """M / W - N / A: as much again under a push of sigma A."""
        push, moment = SIGMA * AREA, share * 2.0 * SIGMA * BENDING
        pushes = at_the_end((-push, 0.0, 0.0), (0.0, moment, 0.0))
        broke, _ = loaded(bar(glue(SIGMA, TAU)), pushes, substeps)
        assert bool(broke) == (share > 1.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_second_body_is_pulled_off_along_the_normal(sign):
    """Whichever end is held: the same load breaks a bond in tension and none in compression."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(kind=BodyKind.STATIC, shape=Box((0.1,) * 3))
    builder.add_body(shape=Box((0.1,) * 3), position=(0.2, 0.0, 0.0))
    builder.add_joint(glue(SIGMA, TAU), 0, 1, position=(0.1, 0.0, 0.0), name="to the right")
    broke, _ = loaded(builder, at_the_end((sign * 1.1 * SIGMA * AREA, 0.0, 0.0), bodies=2, body=1), 4)
    assert bool(broke) == (sign > 0.0)
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(kind=BodyKind.STATIC, shape=Box((0.1,) * 3))
    builder.add_body(shape=Box((0.1,) * 3), position=(-0.2, 0.0, 0.0))
    builder.add_joint(glue(SIGMA, TAU), 1, 0, position=(-0.1, 0.0, 0.0), name="to the left")
    broke, _ = loaded(builder, at_the_end((-sign * 1.1 * SIGMA * AREA, 0.0, 0.0), bodies=2, body=1), 4)
    assert bool(broke) == (sign > 0.0)


def test_bonds_share_a_load_by_their_areas_and_second_moments():
    """A weight on three bonds in one place, of 1, 2 and 5 parts of an area: each has its part of force and moment."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(kind=BodyKind.STATIC, shape=Box((0.1,) * 3))
    builder.add_body(shape=Box((0.1,) * 3), mass=8.0, position=(0.2, 0.0, 0.0))
    for part in (1.0, 2.0, 5.0):
        builder.add_joint(
            Bond(
                tension=NEVER,
                shear=NEVER,
                torsion=NEVER,
                bending_y=NEVER,
                bending_z=NEVER,
                area=0.01 * part,
                gyration_y=0.05,
                gyration_z=0.03,
            ),
            0,
            1,
            position=(0.1, 0.0, 0.0),
        )
    simulation = Simulation(builder.build(), SimulationOptions(substeps=4, threads=1, sleeping=False))
    for _ in range(3):
        report = simulation.advance_frame()
    shares = np.array([1.0, 2.0, 5.0]) / 8.0
    assert report.joints.force[:, 2] == pytest.approx(shares * 8.0 * 9.81, rel=1e-5)
    assert np.abs(report.joints.torque[:, 1]) == pytest.approx(shares * 8.0 * 9.81 * 0.1, rel=1e-5)


def test_two_bonds_at_a_distance_share_a_moment_as_a_layer_does():
    """On two areas at +-a along y, bent about z by M: N = M a / (2 (a^2 + r^2)), M_z = M r^2 / (2 (a^2 + r^2))."""
    apart, gyration, moment = 0.3, 0.05, 40.0
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(kind=BodyKind.STATIC, shape=Box((0.1, 0.5, 0.1)))
    builder.add_body(shape=Box((0.1, 0.5, 0.1)), mass=8.0, position=(0.2, 0.0, 0.0))
    for side in (-1.0, 1.0):
        bond = Bond(
            tension=NEVER,
            shear=NEVER,
            torsion=NEVER,
            bending_y=NEVER,
            bending_z=NEVER,
            area=0.01,
            gyration_y=0.02,
            gyration_z=gyration,
        )
        builder.add_joint(bond, 0, 1, position=(0.1, side * apart, 0.0))
    builder.push_body(1, torque=(0.0, 0.0, moment))
    simulation = Simulation(builder.build(), SimulationOptions(substeps=4, threads=1, sleeping=False))
    for _ in range(3):
        report = simulation.advance_frame()
    whole = 2.0 * (apart**2 + gyration**2)
    assert np.abs(report.joints.force[:, 0]) == pytest.approx(np.full(2, moment * apart / whole), rel=1e-4)
    assert np.abs(report.joints.torque[:, 2]) == pytest.approx(np.full(2, moment * gyration**2 / whole), rel=1e-4)


def test_what_bears_nothing_breaks_at_once_and_what_never_breaks_bears_all():
    broke, _ = loaded(bar(glue(0.0, TAU)), at_the_end((1e-3, 0.0, 0.0)), 4)
    assert broke
    broke, stress = loaded(bar(glue()), at_the_end((1e9, 1e9, 0.0)), 4)
    assert broke == []
    assert np.all(stress == 0.0)


@pytest.mark.parametrize("value", [-1.0, math.nan])
def test_a_strength_is_at_least_zero(value):
    with pytest.raises(ModelError, match="bending_z is"):
        Bond(tension=1.0, shear=1.0, torsion=1.0, bending_y=1.0, bending_z=value)


def wall(strength, rows=10, columns=12):
    """Bricks of 0.4 x 0.3 x 0.2 m that are glued to each other and to the ground; the middles of their bonds."""
    builder = ModelBuilder()
    builder.add_body(kind=BodyKind.STATIC, shape=Box((20.0, 20.0, 0.5)), position=(0.0, 0.0, -0.5), friction=0.6)
    bricks, places = {}, []
    for row in range(rows):
        for column in range(columns):
            x = (column - 0.5 * columns + 0.5 * (row % 2)) * 0.4
            shape, at = Box((0.2, 0.15, 0.1)), (x, 0.0, 0.1 + 0.2 * row)
            bricks[row, column] = builder.add_body(shape=shape, mass=48.0, position=at, friction=0.6), x

    def bond(first, second, at, width, height, turn=(1.0, 0.0, 0.0, 0.0)):
        area, radius = width * height, 0.5 * math.hypot(width, height)
        builder.add_joint(
            Bond(
                tension=strength * area,
                shear=2.0 * strength * area,
                torsion=2.0 * strength * area * (width**2 + height**2) / 12.0 / radius,
                bending_y=strength * width * height**2 / 6.0,
                bending_z=strength * height * width**2 / 6.0,
                area=area,
                gyration_y=height / math.sqrt(12.0),
                gyration_z=width / math.sqrt(12.0),
            ),
            first,
            second,
            position=at,
            orientation=turn,
            name=str(len(places)),
        )
        places.append(at)

    for (row, column), (brick, x) in bricks.items():
        z = 0.1 + 0.2 * row
        if (row, column + 1) in bricks:
            bond(brick, bricks[row, column + 1][0], (x + 0.2, 0.0, z), 0.3, 0.2)
        if row == 0:
            bond(0, brick, (x, 0.0, 0.0), 0.3, 0.4, UP)
        for other in range(columns):
            above, u = bricks.get((row + 1, other), (None, np.inf))
            if abs(u - x) < 0.3:
                bond(brick, above, (0.5 * (x + u), 0.0, z + 0.1), 0.3, 0.4 - abs(u - x), UP)
    return builder, np.array(places)


@pytest.mark.parametrize("substeps", [4, 8])
def test_a_wall_breaks_where_it_is_hit_and_the_stronger_it_is_the_less(substeps):
    """By a tonne at 2 m/s; far off the hit is spread over the time in which bending gets there."""
    counts = []
    for strength in (3.6e6, 5.2e6, 1.3e7):
        builder, places = wall(strength)
        builder.add_body(
            shape=Sphere(0.45), mass=1000.0, position=(0.0, -0.75, 1.2), linear_velocity=(0.0, 2.0, 0.0), friction=0.4
        )
        simulation = Simulation(builder.build(), SimulationOptions(substeps=substeps, threads=1))
        broke = [name for _ in range(18) for name in simulation.advance_frame().broke]
        away = np.linalg.norm(places[[int(name) for name in broke]] - [0.0, 0.0, 1.2], axis=1)
        assert np.all(away < 0.8)
        counts.append(len(broke))
    assert counts[0] > counts[1] > counts[2] == 0


def test_a_glued_wall_falls_asleep_and_costs_nothing_then():
    """All bricks in one frame, a second after they stand; then no contacts, no rows, no loads."""
    builder, _ = wall(1e6)
    simulation = Simulation(builder.build(), SimulationOptions(substeps=4, threads=1))
    start = simulation.poses()[0].copy()
    for _ in range(40):
        report = simulation.advance_frame()
    assert report.broke == []
    assert np.all(report.joints.peak_stress == 0.0)
    assert np.all(simulation.velocities() == 0.0)
    assert np.abs(simulation.poses()[0] - start).max() < 1e-6


def test_a_checkpoint_between_two_hits_goes_on_to_the_same_bits():
    """Taken as the wall has just been hit: what hits have given counts in the next substeps."""

    def begin():
        builder, _ = wall(3.6e6, rows=5, columns=6)
        builder.add_body(shape=Sphere(0.3), mass=800.0, position=(0.0, -0.5, 0.6), linear_velocity=(0.0, 2.0, 0.0))
        return Simulation(builder.build(), SimulationOptions(substeps=4, threads=1))

    whole = begin()
    stored, broke = [], []
    for _ in range(6):
        stored.append(whole.checkpoint())
        broke.append(whole.advance_frame().broke)
    assert any(broke)
    for frame in (next(number for number, names in enumerate(broke) if names), 5):
        other = begin()
        other.restore(stored[frame])
        for later in range(frame, 6):
            assert other.advance_frame().broke == broke[later]
        assert np.array_equal(other.poses()[0], whole.poses()[0])
        assert np.array_equal(other.velocities(), whole.velocities())
