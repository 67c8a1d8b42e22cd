"""Rolling and spinning friction by closed forms: what they take from balls, cylinders, wheels, tops and heaps."""

import math

import numpy as np
import pytest
from reference_collision import about

from cairn.solver_core import (
    BodyKind,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Hinge,
    ModelBuilder,
    Simulation,
    SimulationOptions,
    Sphere,
    TriangleMesh,
    diagnostics,
)

G = 9.81
SIDEWAYS = about((1, 0, 0), math.pi / 2)
QUALITIES = pytest.mark.parametrize("quality", ["preview", "production", "exact"])


def on_plane(slope=0.0, floor=None, **of_floor):
    """A builder with a floor, whose x leads down a slope of this tangent."""
    angle = math.atan(slope)
    builder = ModelBuilder(gravity=(G * math.sin(angle), 0.0, -G * math.cos(angle)))
    place = (0, 0, 0) if floor else (0, 0, -0.5)
    builder.add_body(
        shape=floor or Box((99, 99, 0.5)), position=place, kind=BodyKind.STATIC, **{"friction": 1.0, **of_floor}
    )
    return builder


def velocities(builder, seconds, quality="production"):
    """Of the last body after each frame; and the simulation."""
    simulation = Simulation(builder.build(), SimulationOptions(quality=quality))
    seen = []
    for _ in range(round(24 * seconds)):
        simulation.advance_frame()
        seen.append(simulation.velocities()[-1].copy())
    return np.array(seen), simulation


def rate(seen, column):
    """Mean acceleration from half a second on; contacts have pushed by then."""
    return (seen[-1, column] - seen[11, column]) * 24.0 / (len(seen) - 12)


def roller(shape, speed, turn=(1, 0, 0, 0)):
    return {
        "shape": shape, "position": (0, 0, 0.5), "orientation": turn, "friction": 1.0,
        "linear_velocity": (speed, 0, 0), "angular_velocity": (0, 2.0 * speed, 0),
    }  # fmt: skip


ROLLERS = pytest.mark.parametrize(
    ("shape", "turn", "ratio"),
    [
        (Sphere(0.5), (1, 0, 0, 0), 0.4),
        (Cylinder(0.5, 0.5), SIDEWAYS, 0.5),
        (Capsule(0.5, 0.5), SIDEWAYS, (0.5 + 2 / 3 * 0.4) / (1 + 2 / 3)),
    ],
    ids=["ball", "cylinder", "capsule"],
)


@QUALITIES
@ROLLERS
def test_what_rolls_loses_the_closed_form(shape, turn, ratio, quality):
    """The torque c m g r at the contact: c g / (1 + I / (m r^2)), whichever of the bodies has it; no drift sideways."""
    builder = on_plane(rolling_friction=0.05)
    builder.add_body(**roller(shape, 4.0, turn), rolling_friction=0.01)
    seen, _ = velocities(builder, 2.0, quality)
    assert rate(seen, 0) == pytest.approx(-0.05 * G / (1.0 + ratio), rel=1e-8)
    assert np.abs(seen[:, [1, 2, 3, 5]]).max() < 1e-6


@QUALITIES
def test_a_ball_stands_on_a_slope_below_it_and_rolls_on_one_above(quality):
    builder = on_plane(0.045)
    builder.add_body(**roller(Sphere(0.5), 0.0), rolling_friction=0.05)
    seen, simulation = velocities(builder, 10.0, quality)
    assert np.abs(seen[-1]).max() < 1e-8
    # what it has rolled before anything pressed
    assert simulation.poses()[0][-1, 0] < 1e-3
    angle = math.atan(0.06)
    builder = on_plane(0.06)
    builder.add_body(**roller(Sphere(0.5), 0.0), rolling_friction=0.05)
    seen, _ = velocities(builder, 2.0, quality)
    assert rate(seen, 0) == pytest.approx(5.0 / 7.0 * G * (math.sin(angle) - 0.05 * math.cos(angle)), rel=1e-8)


@QUALITIES
def test_what_spins_loses_the_closed_form(quality):
    """s m g r over 2/5 m r^2; and then it sleeps."""
    builder = on_plane()
    ball = roller(Sphere(0.5), 0.0) | {"angular_velocity": (0, 0, 3.0)}
    builder.add_body(**ball, spinning_friction=0.05)
    seen, _ = velocities(builder, 1.0, quality)
    assert rate(seen, 5) == pytest.approx(-0.05 * G / (0.4 * 0.5), rel=1e-8)
    seen, _ = velocities(builder, 4.0, quality)
    assert np.abs(seen[-1]).max() == 0.0


def test_a_ball_comes_to_rest_where_it_should():
    """v^2 / (2 5/7 c g), less than a substep's way before anything pressed."""
    builder = on_plane()
    builder.add_body(**roller(Sphere(0.5), 2.0), rolling_friction=0.1)
    seen, simulation = velocities(builder, 5.0)
    assert np.abs(seen[-1]).max() == 0.0
    way = 4.0 / (2.0 * 5.0 / 7.0 * 0.1 * G)
    assert way - 1e-3 <= simulation.poses()[0][-1, 0] <= way + 2.0 / 96.0 + 1e-3


def test_a_belt_takes_a_ball_along_by_its_rolling_friction_alone():
    """Up to the belt's speed by 5/7 c g; without, a ball that turns with the belt stays where it is."""
    for c, speed in ((0.0, 0.0), (0.05, 5.0 / 7.0 * 0.05 * G * 2.0)):
        builder = on_plane(surface_velocity=(1.0, 0.0, 0.0))
        ball = roller(Sphere(0.5), 0.0) | {"angular_velocity": (0, -2.0, 0)}
        builder.add_body(**ball, rolling_friction=c)
        seen, _ = velocities(builder, 2.0)
        assert seen[-1, 0] == pytest.approx(speed, abs=5e-3)
    seen, _ = velocities(builder, 6.0)
    assert seen[-1] == pytest.approx([1.0, 0, 0, 0, 0, 0], abs=1e-6)


def test_a_car_coasts_to_the_closed_form():
    """Four wheels of 10 kg under 100 kg: c m g over m and what turns of the wheels."""
    builder = on_plane()
    wheels = []
    for x in (-0.7, 0.7):
        for y in (-0.6, 0.6):
            wheel = roller(Cylinder(0.3, 0.1), 0.0, SIDEWAYS) | {"position": (x, y, 0.3), "mass": 10.0}
            wheel |= {"linear_velocity": (5, 0, 0), "angular_velocity": (0, 5 / 0.3, 0)}
            wheels.append((builder.add_body(**wheel, rolling_friction=0.03), (x, y, 0.3)))
    body = builder.add_body(shape=Box((1, 0.4, 0.2)), position=(0, 0, 0.6), mass=100.0, linear_velocity=(5, 0, 0))
    for wheel, place in wheels:
        builder.add_joint(Hinge(), body, wheel, position=place, orientation=SIDEWAYS)
    seen, _ = velocities(builder, 2.0)
    assert rate(seen, 0) == pytest.approx(-0.03 * G * 140.0 / (140.0 + 4 * 0.5 * 10.0), rel=1e-3)


def test_on_a_mesh_of_triangles_it_is_the_same():
    """Flat, of 2 x 2 m squares: contacts with several triangles press as one."""
    x, y = np.meshgrid(np.linspace(-40, 40, 41), np.linspace(-40, 40, 41))
    vertices, corner = np.stack([x.ravel(), y.ravel(), 0.0 * x.ravel()], 1), np.arange(1640)
    corner = corner[corner % 41 != 40]
    sides = [np.stack([corner, corner + 1, corner + 42], 1), np.stack([corner, corner + 42, corner + 41], 1)]
    builder = on_plane(floor=TriangleMesh(vertices=vertices, triangles=np.concatenate(sides)))
    builder.add_body(**roller(Sphere(0.5), 4.0), rolling_friction=0.05)
    seen, _ = velocities(builder, 2.0)
    assert rate(seen, 0) == pytest.approx(-0.05 * G * 5.0 / 7.0, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_heap_loses_energy_alone_and_lies_sooner(seed):
    """Balls, cans, capsules and boxes in small steps: none is driven, and what rolls away does not come as far."""
    far, energies = [], []
    for c in (0.0, 0.1):
        random = np.random.default_rng(seed)
        builder = on_plane()
        for i in range(20):
            r = random.uniform(0.05, 0.15)
            shape = (Sphere(r), Cylinder(r, 0.6 * r), Capsule(0.7 * r, 0.5 * r), Box((r, 0.7 * r, 0.5 * r)))[i % 4]
            builder.add_body(
                shape=shape, position=(*random.uniform(-0.3, 0.3, 2), 0.3 + 0.12 * i), density=500.0, friction=0.6,
                orientation=random.normal(size=4), rolling_friction=c, spinning_friction=c,
            )  # fmt: skip
        model = builder.build()
        simulation = Simulation(model, SimulationOptions(max_substeps=16))
        reports = [simulation.advance_frame() for _ in range(120)]
        energies.append([report.kinetic_energy + report.potential_energy for report in reports])
        far.append(np.linalg.norm(simulation.poses()[0][1:, :2], axis=1).max())
    # overlaps that are led out lift what lies on them, at most all by the deepest
    weight = G * model.arrays.mass[1:].sum()
    lifted = weight * np.array([report.max_penetration for report in reports[1:]])
    assert (np.diff(energies[1]) - lifted).max() <= 1e-8 * energies[1][0]
    # and give what moves nothing
    moving = [report.kinetic_energy > 1e-3 * energies[1][0] for report in reports[:-1]]
    assert np.diff(energies[1])[moving].max() <= 1e-8 * energies[1][0]
    assert reports[-1].kinetic_energy < 0.02 * (energies[1][0] - energies[1][-1])
    assert far[1] < 0.75 * far[0]


def test_what_one_body_loses_the_other_gets():
    """Two balls that meet in free space, one of which spins about their line: the other one turns, momentum stays."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    ball = {"shape": Sphere(0.5), "friction": 1.0, "spinning_friction": 0.1}
    builder.add_body(**ball, angular_velocity=(5, 0, 0), linear_velocity=(1, 0, 0), mass=2.0)
    builder.add_body(**ball, position=(1.01, 0, 0), linear_velocity=(-1, 0, 0), mass=1.0)
    _, simulation = velocities(builder, 1.0)
    spin = 0.4 * 0.25 * np.array([2.0, 1.0]) * simulation.velocities()[:, 3]
    assert spin.sum() == pytest.approx(0.4 * 0.25 * 2.0 * 5.0, abs=1e-12)
    # what pressed once was the momentum of the meeting
    assert 0.0 < spin[1] <= 0.1 * 0.5 * (2.0 * 1.0 * 2.0 / 3.0) * (1.0 + 1e-9)


def test_what_has_bounced_off_is_braked_as_in_flight():
    """A cone that strikes a floor of coefficient 5 by its tip: before, it turned back with 1.7 of its energy."""
    builder = on_plane(rolling_friction=5.0, restitution=1.0)
    builder.add_body(shape=Cone(0.0213, 0.0635), position=(0, 0, 1), friction=0.8, angular_velocity=(-140, 14, -115))
    model = builder.build()
    simulation = Simulation(model, SimulationOptions(substeps=16))
    energies = []
    for _ in range(48):
        simulation.advance_frame()
        potential = diagnostics.potential_energy(model, simulation.state, model.gravity)
        energies.append(diagnostics.kinetic_energy(model, simulation.state) + potential)
    assert max(energies) <= energies[0] * (1.0 + 1e-3)
    assert energies[-1] < 0.9 * energies[0]
