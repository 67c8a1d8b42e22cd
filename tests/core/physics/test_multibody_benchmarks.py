"""Published benchmarks of multibody dynamics against reference solutions.

Three problems of the IFToMM library (Gonzalez, Dopico, Lugris and Cuadrado 2006, "A benchmarking system for MBS
simulation software", Multibody System Dynamics 16; lim.ii.udc.es/mbsbenchmark): A02, the N-four-bar mechanism; A03,
Andrews' squeezer, whose solution at 0.03 s is that of the test set for IVP solvers (Mazzia and Magherini, CWI and Bari;
Hairer and Wanner, "Solving Ordinary Differential Equations II", VI.9); A05, the stiff flyball governor. Bricard's, A04,
is in ``test_mechanisms``. References of A02 and A05 are solved here in minimal coordinates to 1e-12: the sources give
drawings, masses and lengths; that the governor starts with a turn a second is our choice.

The library's error: each number's relative error, below a threshold of 1e-3 to that; the root of the mean square over
numbers and times. It allows 1e-1 (low precision) and 1e-3 (high).
"""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.joints.axis import Axis, Motor, Spring
from cairn.solver_core.model.joints.coordinates import DISTANCE, Coordinate
from cairn.solver_core.model.joints.fixed import Fixed
from cairn.solver_core.model.joints.hinge import Hinge
from cairn.solver_core.model.joints.slider import Slider
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

G = 9.81
LOW, HIGH = 1e-1, 1e-3
# The joint's z axis along y of the world.
ABOUT_Y = (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)


class Strut:
    """A spring and damper between two points."""

    may_end_at_world = True

    def __init__(self, stiffness, damping, length):
        self.spring = Spring(stiffness=stiffness, damping=damping, rest=length)

    def coordinates(self):
        return [Coordinate(DISTANCE, 0, Axis(spring=self.spring), 0)]


def error_of(found, truth, threshold=1e-3):
    """As the library has it, of arrays [time, number]."""
    relative = np.abs(found - truth) / np.maximum(np.abs(truth), threshold)
    return math.sqrt(np.mean(relative**2))


def simulate(builder, **options):
    return Simulation(builder.build(), SimulationOptions(sleeping=False, **options))


def add_rod(builder, start, end, velocity, spin=(0.0, 0.0, 0.0)):
    """A thin rod of a kilogram between two points, along an axis of the world; it collides with nothing."""
    start, end = np.array(start, float), np.array(end, float)
    half = np.maximum(0.5 * np.abs(end - start), 0.0005)
    middle = 0.5 * (start + end)
    return builder.add_body(
        shape=Box(tuple(half)), position=middle, linear_velocity=velocity, angular_velocity=spin, collision_mask=0
    )


def four_bars(count):
    """N + 1 cranks that stand on the ground, with couplers between their ends, which move at 1 m/s."""
    builder = ModelBuilder()
    cranks = [
        add_rod(builder, (place, 0.0, 0.0), (place, 0.0, 1.0), (0.5, 0.0, 0.0), (0.0, 1.0, 0.0))
        for place in range(count + 1)
    ]
    for place, crank in enumerate(cranks):
        builder.add_joint(Hinge(), crank, position=(place, 0.0, 0.0), orientation=ABOUT_Y)
    for place in range(count):
        coupler = add_rod(builder, (place, 0.0, 1.0), (place + 1.0, 0.0, 1.0), (1.0, 0.0, 0.0))
        for crank in (place, place + 1):
            builder.add_joint(Hinge(), cranks[crank], coupler, position=(crank, 0.0, 1.0), orientation=ABOUT_Y)
    return builder


def four_bar_error(count, seconds, substeps):
    """Of position and velocity of the first crank's end, at 20 times a second as the library measures."""
    inertia, moment = (count + 1.0) / 3.0 + count, 0.5 * (count + 1.0) + count
    # a rod of 1 mm by 1 mm
    inertia += (count + 1.0) * 0.001**2 / 12.0
    times = np.arange(1, round(20 * seconds) + 1) / 20.0
    truth = solve_ivp(
        lambda _, state: (state[1], G * math.sin(state[0]) * moment / inertia),
        (0.0, seconds), (0.0, 1.0), "DOP853", times, rtol=1e-12, atol=1e-12,
    ).y  # fmt: skip
    sine, cosine = np.sin(truth[0]), np.cos(truth[0])
    expected = np.column_stack([sine, cosine, cosine * truth[1], -sine * truth[1]])
    simulation, found, opening = simulate(four_bars(count), frame_rate=20.0, substeps=substeps), [], 0.0
    for _ in times:
        opening = max(opening, simulation.advance_frame().joint_error)
        turn, spin = simulation.poses()[1][0], simulation.velocities()[0, 4]
        end = rotations.rotate(turn, np.array([0.0, 0.0, 1.0]))
        found.append((end[0], end[2], end[2] * spin, -end[0] * spin))
    return error_of(np.array(found), expected), opening


def test_two_four_bars_follow_their_reference():
    """For 10 s, through singular positions in which all bars lie in a line, to the library's high precision."""
    error, opening = four_bar_error(2, 10.0, 128)
    assert error < HIGH
    assert opening < 1e-6


@pytest.mark.nightly
def test_forty_four_bars_follow_their_reference():
    """As the library asks, for 20 s, to its low precision."""
    error, opening = four_bar_error(40, 20.0, 32)
    assert error < LOW
    assert opening < 1e-6


# Andrews' squeezer: masses [kg] and inertias [kg m^2] of its seven bodies, and lengths [m].
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
RR, RA, D, DA, E, EA = 7e-3, 92e-5, 28e-3, 115e-4, 2e-2, 1421e-5
SS, SA, SB, SC, SD = 35e-3, 1874e-5, 1043e-5, 18e-3, 2e-2
TA, TB, U, UA, UB, ZF, ZT, FA = 2308e-5, 916e-5, 4e-2, 1228e-5, 449e-5, 2e-2, 4e-2, 1421e-5
TORQUE, STIFFNESS, REST = 0.033, 4530.0, 0.07785
# beta, theta, gamma, phi, delta, omega, epsilon at the start and at 0.03 s, and there the first one's rate.
SQUEEZER_START = (
    -0.0617138900142764, 0.0, 0.455279819163070, 0.222668390165886, 0.487364979543843, -0.222668390165886,
    1.23054744454982,
)  # fmt: skip
SQUEEZER_END = (
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
    0.5347301163226948, 1.048080741042263,
)  # fmt: skip
SQUEEZER_RATE = 1139.920302151208


def turned(angle, x, y):
    return np.array([x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)])


def squeezer():
    """Seven bodies in the plane z = 0, driven by a torque at the first, with a spring at the third."""
    beta, theta, gamma, phi, delta, omega, epsilon = SQUEEZER_START
    angles = (beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon)
    crank = turned(beta, RR, 0.0)
    joint_e = crank - turned(beta + theta, D, 0.0)
    joint_g, joint_h = A + turned(delta, ZT, 0.0), A + turned(epsilon, 0.0, -U)
    centers = (
        turned(beta, RA, 0.0),
        crank - turned(beta + theta, DA, 0.0),
        B + turned(gamma, SB, -SA),
        joint_g + turned(phi + delta, 0.0, -(E - EA)),
        A + turned(delta, TA, TB),
        joint_h + turned(omega + epsilon, ZF - FA, 0.0),
        A + turned(epsilon, -UB, -UA),
    )
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for mass, inertia, center, angle in zip(MASSES, INERTIAS, centers, angles, strict=True):
        half = math.sqrt(1.5 * inertia / mass)
        builder.add_body(
            shape=Box((half, half, half)), mass=mass, position=(*center, 0.0), collision_mask=0,
            orientation=(math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)),
        )  # fmt: skip
    # the world's end counts backwards; the speed is out of reach, so the torque is all there is
    motor = Axis(motor=Motor(velocity=-1e6, largest=TORQUE))
    for joint, bodies, place in (
        (Hinge(motor), (0,), np.zeros(2)), (Hinge(), (0, 1), crank), (Hinge(), (1, 2), joint_e),
        (Hinge(), (1, 3), joint_e), (Hinge(), (1, 5), joint_e), (Hinge(), (2,), B), (Hinge(), (3, 4), joint_g),
        (Hinge(), (4,), A), (Hinge(), (5, 6), joint_h), (Hinge(), (6,), A),
    ):  # fmt: skip
        builder.add_joint(joint, *bodies, position=(*place, 0.0))
    tied = B + turned(gamma, SD, -SC)
    builder.add_joint(Strut(STIFFNESS, 0.0, REST), 2, position=(*tied, 0.0), anchor_b=(*C, 0.0))
    return builder


def angle_between(first, second):
    return (first - second + math.pi) % (2.0 * math.pi) - math.pi


@pytest.mark.parametrize(("substeps", "most"), [(8, 5e-3), (64, 1e-4)])
def test_andrews_squeezer_ends_where_it_should(substeps, most):
    """After 0.03 s and two and a half turns of its crank: all seven angles, and the crank's speed."""
    simulation, opening = simulate(squeezer(), frame_rate=1000.0, substeps=substeps), 0.0
    for _ in range(30):
        opening = max(opening, simulation.advance_frame().joint_error)
    beta, theta, gamma, phi, delta, omega, epsilon = SQUEEZER_END
    turns = simulation.poses()[1]
    found = 2.0 * np.arctan2(turns[:, 3], turns[:, 0])
    expected = (beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon)
    off = [angle_between(*pair) for pair in zip(found, expected, strict=True)]
    assert np.abs(off).max() < most
    assert simulation.velocities()[0, 5] == pytest.approx(SQUEEZER_RATE, rel=most)
    assert opening < 1e-6 * RR


# The governor: lengths [m], masses [kg], a turn a second.
LENGTH, WIDTH, SLIDER, RADIUS = 1.0, 0.01, 0.1, 0.01
ROD_MASS, SLIDER_MASS, BALL_MASS = 3000.0 * LENGTH * WIDTH**2, 3000.0 * SLIDER**3, 5.0
GOVERNOR_STIFFNESS, GOVERNOR_DAMPING, COUPLER = 8e5, 4e4, 0.5
SPIN, LEAN = 2.0 * math.pi, math.radians(60.0)  # of the rods from the vertical


def governor():
    """A shaft with two hinged rods, balls at their ends, and a slider that struts from their middles hold."""
    builder, spin, top = ModelBuilder(), (0.0, 0.0, SPIN), np.array([0.0, 0.0, LENGTH])
    upright = (math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0)

    def add(shape, mass, place, orientation=(1.0, 0.0, 0.0, 0.0)):
        return builder.add_body(
            shape=shape, mass=mass, position=place, orientation=orientation, collision_mask=0,
            linear_velocity=np.cross(spin, place), angular_velocity=spin,
        )  # fmt: skip

    shaft = add(Box((0.5 * WIDTH, 0.5 * WIDTH, 0.5 * LENGTH)), ROD_MASS, 0.5 * top)
    slider_place = top - (0.0, 0.0, 0.5)
    slider = add(Box((0.5 * SLIDER,) * 3), SLIDER_MASS, slider_place)
    builder.add_joint(Hinge(), shaft, position=(0.0, 0.0, 0.0))
    builder.add_joint(Slider(), shaft, slider, position=slider_place, orientation=upright)
    for side in (1.0, -1.0):
        half = side * 0.5 * (0.5 * math.pi - LEAN)
        along = np.array([side * math.sin(LEAN), 0.0, -math.cos(LEAN)])
        middle, end = top + 0.5 * LENGTH * along, top + LENGTH * along
        turn = (math.cos(half), 0.0, math.sin(half), 0.0)
        rod = add(Box((0.5 * LENGTH, 0.5 * WIDTH, 0.5 * WIDTH)), ROD_MASS, middle, turn)
        ball = add(Sphere(RADIUS), BALL_MASS, end)
        builder.add_joint(Hinge(), shaft, rod, position=top, orientation=ABOUT_Y)
        builder.add_joint(Fixed(), rod, ball, position=end)
        strut = Strut(GOVERNOR_STIFFNESS, GOVERNOR_DAMPING, COUPLER)
        builder.add_joint(strut, rod, slider, position=middle, anchor_b=slider_place)
    return builder


def governor_reference(times):
    """How far the slider is below the top: angle of the rods, way of the slider, and the spin by its momentum."""
    across, axial = ROD_MASS * (LENGTH**2 + WIDTH**2) / 12.0, ROD_MASS * WIDTH**2 / 6.0
    ball = 0.4 * BALL_MASS * RADIUS**2
    swinging = 2.0 * (across + 0.25 * ROD_MASS * LENGTH**2 + BALL_MASS * LENGTH**2 + ball)
    upright = axial + SLIDER_MASS * SLIDER**2 / 6.0 + 2.0 * (axial + ball)
    changing = 2.0 * (across - axial + 0.25 * ROD_MASS * LENGTH**2 + BALL_MASS * LENGTH**2)
    moment = 2.0 * LENGTH * (0.5 * ROD_MASS + BALL_MASS) * G
    momentum = SPIN * (upright + changing * math.sin(LEAN) ** 2)

    def rates(_, state):
        lean, way, lean_rate, way_rate = state
        sine, cosine = math.sin(lean), math.cos(lean)
        length = math.sqrt(0.25 + way**2 - way * cosine)
        by_lean, by_way = 0.5 * way * sine / length, (way - 0.5 * cosine) / length
        force = GOVERNOR_STIFFNESS * (length - COUPLER)
        force += GOVERNOR_DAMPING * (by_lean * lean_rate + by_way * way_rate)
        spin = momentum / (upright + changing * sine**2)
        torque = changing * sine * cosine * spin**2 - moment * sine - 2.0 * force * by_lean
        return lean_rate, way_rate, torque / swinging, G - 2.0 * force * by_way / SLIDER_MASS

    solved = solve_ivp(rates, (0.0, times[-1]), (LEAN, 0.5, 0.0, 0.0), "Radau", times, rtol=1e-11, atol=1e-12)
    return solved.y[1]


@pytest.mark.parametrize(("seconds", "substeps"), [(3.0, 16), pytest.param(10.0, 64, marks=pytest.mark.nightly)])
def test_the_stiff_governor_follows_its_reference(seconds, substeps):
    """The slider's way, to the library's high precision; its struts have frequencies of 700 rad/s, overdamped."""
    times = np.arange(1, round(24 * seconds) + 1) / 24.0
    simulation, found = simulate(governor(), substeps=substeps), []
    for _ in times:
        simulation.advance_frame()
        found.append(LENGTH - simulation.poses()[0][1, 2])
    assert error_of(np.array(found), governor_reference(times)) < HIGH
