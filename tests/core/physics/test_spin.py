"""Spinning bodies against closed forms: the tumbling T-handle, the precessing top."""

import math

import numpy as np
import pytest
from scipy.special import ellipk

from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.compound import Compound
from cairn.solver_core.model.joints.point import Point
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

FRAMES = 240


def t_handle():
    """A bar with a stem in its middle."""
    return Compound([Box((0.5, 0.08, 0.08)), Box((0.08, 0.08, 0.25), position=(0.0, 0.0, -0.33))])


@pytest.mark.parametrize("speed", [3.0, 8.0])
def test_a_t_handle_flips_as_jacobis_elliptic_functions_say(speed):
    """Spun about its middle axis it turns over again and again; the time between two flips is half of 4 K(k) / tau'.

    Landau and Lifshitz, Mechanics, section 37: I1 < I2 < I3, M the angular momentum, E the energy.
    """
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(shape=t_handle())
    model = builder.build()
    moments = model.arrays.inertia[0]
    order = np.argsort(moments)
    spin = np.zeros(3)
    spin[order] = 0.02 * speed, speed, 0.03 * speed
    state = model.initial_state
    state.velocity[0, 3:] = rotations.rotate(state.orientation[0], spin)
    simulation = Simulation(model, SimulationOptions(method="nncg"))
    middle = []
    for _ in range(FRAMES):
        simulation.advance_frame()
        turned = rotations.rotate(
            rotations.conjugate(simulation.state.orientation[0]), simulation.state.velocity[0, 3:]
        )
        middle.append(turned[order[1]])
    middle = np.array(middle)
    before = np.flatnonzero(np.diff(np.sign(middle)))
    flips = (before + middle[before] / (middle[before] - middle[before + 1])) / 24.0
    i1, i2, i3 = moments[order]
    energy2, momentum2 = moments @ spin**2, (moments * spin) @ (moments * spin)
    if momentum2 < energy2 * i2:
        i1, i3 = i3, i1
    modulus = (i2 - i1) * (energy2 * i3 - momentum2) / ((i3 - i2) * (momentum2 - energy2 * i1))
    period = 4.0 * ellipk(modulus) * math.sqrt(i1 * i2 * i3 / ((i3 - i2) * (momentum2 - energy2 * i1)))
    assert len(flips) >= 2
    assert np.diff(flips) == pytest.approx(np.full(len(flips) - 1, 0.5 * period), rel=0.02)


def spinning_top(spin, lean):
    """A flat cone of 32 sides on its tip, leaning about y, with the velocities of its slow precession."""
    radius, height = 0.5, 0.3
    angles = 2.0 * math.pi * np.arange(32) / 32
    rim = np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(32, height)], axis=1)
    shape = ConvexHull.from_points(np.vstack([[0.0, 0.0, 0.0], rim]))
    tilt = rotations.from_rotation_vector([0.0, lean, 0.0])
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(shape=Box((2.0, 2.0, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=1.0)
    top = builder.add_body(shape=shape, orientation=tilt, friction=1.0)
    model = builder.build()
    axis = rotations.rotate(tilt, [0.0, 0.0, 1.0])
    arm = np.array(model.initial_state.position[top])
    moment = model.arrays.inertia[top].max()
    precession = 9.81 * np.linalg.norm(arm) / (moment * spin)
    angular = spin * axis + np.array([0.0, 0.0, precession])
    model.initial_state.velocity[top] = np.concatenate([np.cross(angular, arm), angular])
    return model, top, precession


@pytest.mark.parametrize("lean", [10.0, 25.0])
def test_a_top_precesses_as_its_spin_says(lean):
    """Over 10 s it goes round at m g l / (I w) within 2 %, and keeps its lean and its tip on the floor."""
    model, top, precession = spinning_top(120.0, math.radians(lean))
    simulation = Simulation(model, SimulationOptions(method="nncg"))
    headings, leans = [], []
    for _ in range(FRAMES):
        simulation.advance_frame()
        position, orientation = simulation.poses()
        axis = rotations.rotate(orientation[top], [0.0, 0.0, 1.0])
        headings.append(math.atan2(axis[1], axis[0]))
        leans.append(math.degrees(math.acos(axis[2])))
    time = np.arange(1, FRAMES + 1) / 24.0
    rate = np.polyfit(time, np.unwrap(headings), 1)[0]
    assert rate == pytest.approx(precession, rel=0.02)
    assert np.abs(np.array(leans) - lean).max() < 1.0
    assert abs(position[top][2]) < 2e-3


@pytest.mark.parametrize("radius", [0.003, 0.5])
@pytest.mark.parametrize("friction", [0.0, 0.7])
def test_a_floor_takes_an_overlap_out_without_turning_a_ball(radius, friction):
    """A smooth ball that overlaps the floor keeps its spin, since the floor's push goes through its centre.

    With friction its energy only falls.
    """
    builder = ModelBuilder()
    builder.add_body(shape=Box((5.0, 5.0, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=friction)
    spin = np.array([27.0, 0.0, 36.0])
    ball = builder.add_body(
        shape=Sphere(radius), position=(0, 0, 0.96 * radius), angular_velocity=spin, friction=friction
    )
    simulation = Simulation(builder.build(), SimulationOptions(method="nncg"))
    energy = 0.2 * radius**2 * spin @ spin
    for _ in range(24):
        assert simulation.advance_frame().kinetic_energy <= energy * (1.0 + 1e-9)
    if friction == 0.0:
        np.testing.assert_allclose(simulation.velocities()[ball, 3:], spin, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("spin", [100.0, 200.0, 320.0, 400.0, 604.0, 900.0, 3000.0])
def test_a_gyroscope_precesses_at_any_spin(spin):
    """A wheel at the end of its axle, on a point: m g a = I w W, also where it turns by more than pi a substep."""
    mass, radius, axle = 1.0, 0.1, 0.1
    rate = mass * 9.81 * axle / (0.5 * mass * radius**2 * spin)
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    wheel = builder.add_body(
        shape=Cylinder(radius=radius, half_height=0.01),
        position=(axle, 0.0, 1.0),
        orientation=(math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0),
        linear_velocity=(0.0, rate * axle, 0.0),
        angular_velocity=(spin, 0.0, rate),
        mass=mass,
    )
    builder.add_joint(Point(), wheel, position=(0.0, 0.0, 1.0))
    simulation, angles, energies = Simulation(builder.build(), SimulationOptions()), [0.0], []
    for _ in range(48):
        report = simulation.advance_frame()
        x, y, z = simulation.poses()[0][wheel]
        angles.append(math.atan2(y, x))
        energies.append(report.kinetic_energy + report.potential_energy)
        assert abs(z - 1.0) < 0.05 * axle
    angle = np.unwrap(angles)
    assert angle[-1] / 2.0 == pytest.approx(rate, rel=0.04)
    assert abs(energies[-1] - energies[0]) < 2e-3 * energies[0]
