"""Concave bodies in convex parts behave as the solids they stand for: they ring, hold, hang and interlock."""

import functools

import numpy as np
import pytest
from concave_meshes import bowl, gear, torus

from cairn.solver_core.geometry.decomposition import Decomposition, DecompositionSettings, coacd_version, hulls_of_parts
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.solid_meshes import solid_mesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.compound import Compound
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

pytestmark = pytest.mark.skipif(coacd_version() is None, reason="CoACD is not installed")

GRAVITY = 9.81
# Blender multiplies the two bodies' values, so this makes 0.5 of a pair.
FRICTION = 0.5**0.5
FLOOR = {"shape": Box((20.0, 20.0, 0.0)), "kind": BodyKind.STATIC, "friction": FRICTION}
ON_EDGE, ACROSS = (0.5**0.5, 0.5**0.5, 0.0, 0.0), (0.5, 0.5, 0.5, 0.5)


@functools.cache
def concave(make, **settings):
    """A mesh of ``concave_meshes`` as a compound with the exact mass properties of the mesh."""
    solid = solid_mesh(*make())
    decomposition, center, size = Decomposition.of(solid.vertices, solid.triangles, DecompositionSettings(**settings))
    return Compound(hulls_of_parts(decomposition.run(), center, size), solid.properties)


def link():
    return torus(around=16, across=8)


def small_bowl():
    return bowl(around=16, steps=4)


def simulate(builder, frames):
    simulation = Simulation(builder.build(), SimulationOptions(method="nncg"))
    energies = []
    for _ in range(frames):
        report = simulation.advance_frame()
        energies.append(report.kinetic_energy + report.potential_energy)
    return simulation, energies


def test_a_ring_thrown_over_a_pole_stays_on_it():
    """It comes down around the pole and lies flat, its hole about the pole."""
    builder = ModelBuilder()
    builder.add_body(**FLOOR)
    builder.add_body(shape=Box((0.12, 0.12, 1.0)), position=(0, 0, 1.0), kind=BodyKind.STATIC, friction=FRICTION)
    builder.add_body(
        shape=concave(link),
        position=(-1.5, 0.0, 3.2),
        linear_velocity=(1.6, 0.0, 1.0),
        angular_velocity=(0.0, 0.4, 2.0),
        friction=FRICTION,
    )
    simulation, energies = simulate(builder, 60)
    position, _ = simulation.poses()
    assert np.linalg.norm(position[2, :2]) <= 0.75 - 0.12
    assert position[2, 2] == pytest.approx(0.25, abs=1e-3)
    assert np.abs(simulation.velocities()[2]).max() <= 1e-3
    assert np.all(np.diff(energies) <= 1e-6 * energies[0])


def test_a_bowl_holds_a_ball():
    """A ball let fall into it off its middle stays inside, above its bottom, and the bowl stays upright."""
    builder = ModelBuilder()
    builder.add_body(**FLOOR)
    builder.add_body(shape=concave(small_bowl, concavity=0.08), position=(0, 0, 0.96), friction=FRICTION, mass=3.0)
    builder.add_body(shape=Sphere(0.3), position=(0.2, 0.1, 1.3), friction=FRICTION, mass=0.5)
    simulation, energies = simulate(builder, 72)
    position, orientation = simulation.poses()
    ball = position[2] - position[1]
    assert np.linalg.norm(ball) <= 0.8 - 0.3 + 0.01
    assert ball[2] <= -0.2
    assert 1.0 - 2.0 * (orientation[1, 1] ** 2 + orientation[1, 2] ** 2) >= 0.9  # its axis points up
    # Steps of finite length along a curved wall gain or lose in the order of h v.
    assert np.all(np.diff(energies) <= 1e-3 * energies[0])


def test_a_chain_of_tori_hangs():
    """Five links below a fixed one: each hangs in the one above after 5 s, and they have come to rest, nearly."""
    builder = ModelBuilder()
    for number in range(6):
        builder.add_body(
            shape=concave(link),
            position=(0.0, 0.0, -1.45 * number),
            orientation=ON_EDGE if number % 2 else ACROSS,
            kind=BodyKind.DYNAMIC if number else BodyKind.STATIC,
            friction=FRICTION,
        )
    simulation, energies = simulate(builder, 120)
    position, _ = simulation.poses()
    steps = np.linalg.norm(np.diff(position, axis=0), axis=1)
    # Two rings in each other touch at a distance of 2 (R - r) = 1.5; parts fill hollows by up to 0.05 of 2.5.
    assert np.all((steps >= 1.5 - 0.125) & (steps <= 1.5 + 1e-3))
    assert position[-1, 2] <= -5 * (1.5 - 0.125)
    assert np.abs(simulation.velocities()[1:, :3]).max() <= 0.3
    # What the links have fallen by: no energy comes from the contacts.
    assert max(energies) <= energies[0] + 1e-6 * abs(energies[0])


def test_gears_drive_each_other():
    """A gear turned by hand turns another on an axle backwards, tooth by tooth, with the play of the teeth."""
    axle = [(0.28 * np.cos(a), 0.28 * np.sin(a), z) for a in np.arange(16) * np.pi / 8 for z in (0.0, 0.6)]
    builder = ModelBuilder()
    builder.add_body(**(FLOOR | {"friction": 0.0}))
    builder.add_body(shape=ConvexHull.from_points(axle), position=(2.0, 0.0, 0.0), kind=BodyKind.STATIC, friction=0.0)
    builder.add_body(
        shape=concave(gear, concavity=0.03),
        position=(0.0, 0.0, 0.01),
        kind=BodyKind.KINEMATIC,
        angular_velocity=(0.0, 0.0, 1.0),
        friction=0.0,
    )
    half = 0.5 * np.pi / 8
    builder.add_body(
        shape=concave(gear, concavity=0.03),
        position=(2.0, 0.0, 0.0),
        orientation=(np.cos(half), 0.0, 0.0, np.sin(half)),
        friction=0.0,
    )
    simulation = Simulation(builder.build(), SimulationOptions(method="nncg"))
    angle, before = 0.0, 2.0 * half
    for frame in range(1, 73):
        report = simulation.advance_frame()
        position, orientation = simulation.poses()
        now = 2.0 * np.arctan2(orientation[3, 3], orientation[3, 0])
        angle, before = angle + (now - before + np.pi) % (2.0 * np.pi) - np.pi, now
        # A tooth has 2 / 5 of its pitch of play at most, for it takes two parts of five; and it is 1 rad/s.
        assert abs(angle + frame / 24) <= 0.4 * 2.0 * np.pi / 8
        assert report.max_penetration <= 0.02
    assert position[3] == pytest.approx([2.0, 0.0, 0.0], abs=0.03)
