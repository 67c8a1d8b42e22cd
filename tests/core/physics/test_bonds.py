"""Bonds of glue break at the loads of the strength of materials, whatever the substeps are."""

import math

import numpy as np
import pytest

from cairn.solver_core.geometry.shapes import Box
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
