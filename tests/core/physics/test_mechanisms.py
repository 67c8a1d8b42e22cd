"""Closed linkages, impacts and long or heavy chains of joints, against conservation laws and closed forms."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.joints.axis import Axis, Spring
from cairn.solver_core.model.joints.fixed import Fixed
from cairn.solver_core.model.joints.hinge import Hinge
from cairn.solver_core.model.joints.point import Point
from cairn.solver_core.model.joints.slider import Slider
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

G = 9.81
MECHANISM = """<mujoco><option gravity="0 0 -9.81" integrator="RK4"><flag contact="disable"/></option><worldbody>
<body pos="0.5 0 0"><joint type="hinge" axis="0 1 0" pos="-0.5 0 0"/><geom type="box" size="0.5 0.1 0.05" mass="1"/>
<body pos="1 0 0"><joint type="ball" pos="-0.5 0 0"/><geom type="box" size="0.5 0.05 0.1" mass="2"/>
<body pos="1 0 0.2"><joint type="slide" axis="1 0 0" stiffness="50" damping="0.5"/>
<geom type="box" size="0.2 0.1 0.3" mass="1.5"/>
<body pos="0.5 0 0"><joint type="hinge" axis="0.6 0 0.8" pos="-0.2 0 0"/>
<geom type="box" size="0.3 0.1 0.2" mass="0.7"/>
</body></body></body></body></worldbody></mujoco>"""
# The joint's z axis along y of the world.
ABOUT_Y = (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)


def simulate(builder, **options):
    """A simulation in which nobody sleeps."""
    return Simulation(builder.build(), SimulationOptions(sleeping=False, **options))


def play(simulation, frames):
    """Energy after each frame [J], the largest opening of a joint [m], and the poses of the bodies."""
    energy, opening, places = [], 0.0, []
    for _ in range(frames):
        report = simulation.advance_frame()
        energy.append(report.kinetic_energy + report.potential_energy)
        opening = max(opening, report.joint_error)
        places.append(simulation.poses()[0])
    return np.array(energy), opening, np.array(places)


def turn_to(axis):
    """The quaternion that turns z to an axis of the world, given as (axis number, sign)."""
    number, sign = axis
    if number == 2:
        return (1.0, 0.0, 0.0, 0.0) if sign > 0 else (0.0, 1.0, 0.0, 0.0)
    half = math.sqrt(0.5)
    return (half, 0.0, sign * half, 0.0) if number == 0 else (half, -sign * half, 0.0, 0.0)


def add_rod(builder, number, start, end, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0)):
    """A thin rod of a kilogram a metre between two points, along an axis of the world, that collides with nothing."""
    start, end = np.array(start, float), np.array(end, float)
    half = np.maximum(0.5 * np.abs(end - start), 0.02)
    return builder.add_body(
        shape=Box(tuple(half)),
        mass=float(np.linalg.norm(end - start)),
        position=0.5 * (start + end),
        linear_velocity=velocity,
        angular_velocity=spin,
        collision_mask=1 << number,
    )


def test_a_four_bar_parallelogram_goes_through_its_singular_position():
    """Where all bars lie in one line the linkage may fold either way: nothing opens, and energy stays."""
    builder, speed = ModelBuilder(), 1.0
    for place in (0.0, 1.0):
        add_rod(builder, int(2 * place), (place, 0.0, 0.0), (place, 0.0, 1.0), (0.5 * speed, 0, 0), (0.0, speed, 0.0))
    coupler = add_rod(builder, 1, (0.0, 0.0, 1.0), (1.0, 0.0, 1.0), (speed, 0.0, 0.0))
    for crank in (0, 1):
        builder.add_joint(Hinge(), crank, position=(crank, 0.0, 0.0), orientation=ABOUT_Y)
        builder.add_joint(Hinge(), crank, coupler, position=(crank, 0.0, 1.0), orientation=ABOUT_Y)
    simulation = simulate(builder, substeps=8)
    start = simulation.poses()[0]
    energy, opening, places = play(simulation, 240)
    assert opening < 1e-6
    # two cranks and the coupler fall by one and two metres and 1 m
    fall = 4.0 * G
    assert np.diff(energy).max() < 1e-6 * fall
    assert np.ptp(energy) < 1e-3 * fall
    assert np.abs(places[:, :, 1] - start[:, 1]).max() < 1e-6
    # it stays a parallelogram and goes round five times as its cranks do: I theta'' = 2 g sin theta
    angles = np.unwrap([np.arctan2(places[:, crank, 0] - crank, places[:, crank, 2]) for crank in (0, 1)])
    assert np.abs(angles[0] - angles[1]).max() < 1e-9
    inertia = 2.0 * ((0.5**2 + 0.02**2) / 3.0 + 0.5**2) + 1.0
    times = np.arange(1, 241) / 24.0
    turning = solve_ivp(
        lambda _, y: (y[1], 2.0 * G * math.sin(y[0]) / inertia), (0.0, 10.0), (0.0, speed), rtol=1e-10, t_eval=times
    ).y[0]
    rounds = 2.0 * math.pi * np.arange(1, 6)
    assert np.interp(rounds, angles[0], times) == pytest.approx(np.interp(rounds, turning, times), rel=2e-4)


def test_a_mechanism_moves_as_in_mujoco():
    """Four bodies on a hinge, a ball joint, a slider with a spring and an oblique hinge, against its RK4 for 2 s."""
    mujoco = pytest.importorskip("mujoco")
    reference = mujoco.MjModel.from_xml_string(MECHANISM)
    reference.opt.timestep = 1.0 / 24.0 / 200.0
    data = mujoco.MjData(reference)
    data.qvel[:] = [0.5, 1.0, -0.5, 0.7, 0.3, -1.0]
    mujoco.mj_forward(reference, data)
    builder = ModelBuilder()
    places, turns = data.xpos[1:].copy(), data.xquat[1:].copy()
    for number, mass in enumerate((1.0, 2.0, 1.5, 0.7)):
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(reference, data, mujoco.mjtObj.mjOBJ_XBODY, number + 1, velocity, 0)
        builder.add_body(
            shape=Box(tuple(reference.geom_size[number])), mass=mass, position=places[number],
            orientation=turns[number], linear_velocity=velocity[3:], angular_velocity=velocity[:3],
            collision_mask=1 << number,
        )  # fmt: skip
    builder.add_joint(Hinge(), 0, position=(0.0, 0.0, 0.0), orientation=ABOUT_Y)
    builder.add_joint(Point(), 0, 1, position=(1.0, 0.0, 0.0))
    spring = Spring(stiffness=50.0, damping=0.5)
    builder.add_joint(Slider(Axis(spring=spring)), 1, 2, position=places[2], orientation=turns[2])
    oblique = np.array([1.8, 0.0, 0.6, 0.0]) / math.sqrt(3.6)
    builder.add_joint(Hinge(), 2, 3, position=places[3] - (0.2, 0.0, 0.0), orientation=oblique)
    simulation = simulate(builder, substeps=16)
    for _ in range(48):
        simulation.advance_frame()
        for _ in range(200):
            mujoco.mj_step(reference, data)
        mujoco.mj_forward(reference, data)
        assert np.abs(simulation.poses()[0] - data.xpos[1:]).max() < 2e-4
    assert np.abs(data.xpos[1:] - places).max() > 1.0


def test_the_linkage_of_bricard_moves_though_six_hinges_seem_too_many():
    """Six hinges and five rods leave one way to move: none opens in ten seconds, and energy stays."""
    builder = ModelBuilder()
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    for number in range(5):
        add_rod(builder, number, corners[number], corners[number + 1])
    for number in range(6):
        before = corners[number] - corners[number - 1]
        after = corners[(number + 1) % 6] - corners[number]
        axis = np.cross(before, after)
        along = int(np.argmax(np.abs(axis)))
        ends = (0,) if number == 0 else ((4,) if number == 5 else (number - 1, number))
        builder.add_joint(Hinge(), *ends, position=corners[number], orientation=turn_to((along, np.sign(axis[along]))))
    simulation = simulate(builder, substeps=8)
    start = simulation.poses()[0]
    potential = G * start[:, 2].sum()
    energy, opening, places = play(simulation, 240)
    assert opening < 1e-6
    assert np.abs(places - start).max() > 0.3
    assert np.diff(energy).max() < 1e-4 * G
    assert energy == pytest.approx(potential, abs=1e-2 * G)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_rod_on_a_hinge_bounces_off_a_wall(restitution):
    """It swings against a ball at its lowest point: the speed of its end is turned by the restitution."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(
        shape=Box((0.04, 0.04, 0.5)), position=(0.0, 0.0, -0.5), restitution=1.0, friction=0.0,
        linear_velocity=(0.5, 0.0, 0.0), angular_velocity=(0.0, -1.0, 0.0),
    )  # fmt: skip
    builder.add_body(
        shape=Sphere(0.1), kind=BodyKind.STATIC, position=(0.4, 0.0, -0.8), restitution=restitution, friction=0.0
    )
    builder.add_joint(Hinge(), 0, position=(0.0, 0.0, 0.0), orientation=ABOUT_Y)
    simulation = simulate(builder)
    assert simulation.velocities()[0, 4] == pytest.approx(-1.0)
    _, opening, _ = play(simulation, 24)
    assert opening < 1e-8
    assert simulation.velocities()[0, 4] == pytest.approx(restitution, abs=1e-4)


@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_two_balls_that_are_fixed_to_each_other_bounce_as_one(restitution):
    """One of them hits: j = (1 + e) v / (1 / m + d^2 / I), as of one rigid body."""
    builder, radius = ModelBuilder(gravity=(0.0, 0.0, 0.0)), 0.1
    for place in (-0.5, 0.5):
        builder.add_body(
            shape=Sphere(radius), position=(place, 0.0, 0.2), linear_velocity=(0.0, 0.0, -1.0),
            restitution=1.0, friction=0.0,
        )  # fmt: skip
    builder.add_body(
        shape=Sphere(radius), kind=BodyKind.STATIC, position=(0.5, 0.0, -0.2), restitution=restitution, friction=0.0
    )
    builder.add_joint(Fixed(), 0, 1, position=(0.0, 0.0, 0.2))
    simulation = simulate(builder)
    _, opening, _ = play(simulation, 12)
    inertia = 2.0 * (0.4 * radius**2 + 0.25)
    impulse = (1.0 + restitution) / (0.5 + 0.25 / inertia)
    velocity = simulation.velocities()
    assert opening < 1e-8
    # rows are those of the substep's end, by when the pair has turned by 0.02: a share of 2e-4 of the arm squared
    assert velocity[:2, 2].mean() == pytest.approx(-1.0 + 0.5 * impulse, abs=5e-4 * impulse)
    assert abs(velocity[0, 4]) == pytest.approx(0.5 * impulse / inertia, rel=1e-3)


def test_a_pendulum_of_two_links_hits_and_energy_never_grows():
    """A chain of two links swings against a ball again and again, at a restitution of 0.8."""
    builder = ModelBuilder()
    for place in range(2):
        builder.add_body(shape=Box((0.4, 0.05, 0.05)), position=(place + 0.5, 0.0, 0.0), restitution=0.8, friction=0.0)
    builder.add_body(
        shape=Sphere(0.2), kind=BodyKind.STATIC, position=(-0.35, 0.0, -1.5), restitution=1.0, friction=0.0
    )
    builder.add_joint(Hinge(), 0, position=(0.0, 0.0, 0.0), orientation=ABOUT_Y)
    builder.add_joint(Hinge(), 0, 1, position=(1.0, 0.0, 0.0), orientation=ABOUT_Y)
    energy, opening, _ = play(simulate(builder), 120)
    assert opening < 1e-6
    assert np.diff(energy).max() < 1e-3 * G
    assert energy[-1] < -0.1 * G


def heavy_chain(links, length, load):
    """Links of a kilogram, let go level with a load at their end."""
    builder = ModelBuilder()
    for place in range(links):
        builder.add_body(
            shape=Box((0.43 * length, 0.1 * length, 0.1 * length)), position=((place + 0.5) * length, 0, 0)
        )
    builder.add_body(shape=Sphere(length), mass=load, position=((links + 1.1) * length, 0.0, 0.0))
    for place in range(links + 1):
        ends = (place, None) if place == 0 else (place - 1, place)
        builder.add_joint(Point(), *ends, position=(place * length, 0.0, 0.0))
    return builder


@pytest.mark.parametrize("load", [50_000.0, 1e6])
def test_a_chain_of_fifty_under_a_very_heavy_load_stays_closed(load):
    """To 1e-6 of its length, for a second and a half."""
    simulation = simulate(heavy_chain(50, 0.3, load))
    _, opening, _ = play(simulation, 36)
    assert opening < 1e-6 * 50 * 0.3
