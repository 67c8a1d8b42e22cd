"""Round bodies in motion and at rest: rolling by the closed form, standing on every floor, stacks and piles.

A body that rolls without slipping down a slope of angle a accelerates at g sin(a) / (1 + I / (m r^2)).
"""

import numpy as np
import pytest
from reference_collision import about

from cairn.solver_core.geometry.round_shapes import Capsule, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

GRAVITY = 9.81
SIDEWAYS = about((1, 0, 0), np.pi / 2)
OPTIONS = SimulationOptions(frame_rate=24, substeps=4, method="nncg", tolerance=1e-6)


def simulate(bodies, *, slope=0.0):
    """A simulation of bodies over a floor or slope; x leads down it."""
    builder = ModelBuilder(gravity=(GRAVITY * np.sin(slope), 0.0, -GRAVITY * np.cos(slope)))
    for body in bodies:
        builder.add_body(**{"friction": 0.9, **body})
    return Simulation(builder.build(), OPTIONS)


def floor(shape=None, top=0.0):
    return {"shape": shape or Box((50, 5, 0.5)), "position": (0, 0, top), "kind": BodyKind.STATIC}


ROLLERS = pytest.mark.parametrize(
    ("shape", "turn", "ratio"),
    [
        (Sphere(0.5), (1, 0, 0, 0), 0.4),
        (Cylinder(0.5, 0.5), SIDEWAYS, 0.5),
        (Cylinder(0.5, 0.03), SIDEWAYS, 0.5),
        (Capsule(0.5, 0.5), SIDEWAYS, (0.5 + 2 / 3 * 0.4) / (1 + 2 / 3)),
    ],
    ids=["ball", "cylinder", "wheel", "capsule"],
)


@ROLLERS
@pytest.mark.parametrize("slope", [0.02, 0.2])
def test_a_body_rolls_down_a_slope_by_the_closed_form(shape, turn, ratio, slope):
    """2/3 g sin(a) for a cylinder, 5/7 for a ball, the capsule's own inertia: to 1e-5."""
    simulation = simulate(
        [floor(top=-0.5), {"shape": shape, "position": (0, 0, 0.5), "orientation": turn}], slope=slope
    )
    velocities = []
    for _ in range(48):
        simulation.advance_frame()
        velocities.append(simulation.velocities()[1])
    velocities = np.array(velocities)
    acceleration = 24.0 * (velocities[-1, 0] - velocities[11, 0]) / 36.0
    assert acceleration == pytest.approx(GRAVITY * np.sin(slope) / (1.0 + ratio), rel=1e-5)
    # Straight on: no drift sideways, no turn about the vertical, no hopping, to the solver's tolerance.
    assert np.abs(velocities[:, [1, 2, 3, 5]]).max() < 1e-5


@ROLLERS
@pytest.mark.parametrize("speed", [0.5, 0.05, 0.005])
def test_nothing_brakes_or_drives_a_slow_roll(shape, turn, ratio, speed):
    """On a level floor the speed stays within 1e-4 of it, at any speed that recycled contacts could disturb."""
    body = {"shape": shape, "position": (0, 0, 0.5), "orientation": turn}
    simulation = simulate(
        [floor(top=-0.5), {**body, "linear_velocity": (speed, 0, 0), "angular_velocity": (0, 2 * speed, 0)}]
    )
    for _ in range(72):
        simulation.advance_frame()
    assert simulation.velocities()[1][0] == pytest.approx(speed, rel=1e-4)


# ---- at rest (each shape alone: test_rest)


def test_a_stack_of_five_cans_stands():
    """Turned and a little aside of each other: nothing moves by 0.1 mm in 10 s."""
    rng = np.random.default_rng(2)
    cans = [
        {
            "shape": Cylinder(0.33, 0.6),
            "position": (*(0.02 * rng.normal(size=2)), 0.6 + 1.2 * level),
            "orientation": about((0, 0, 1), rng.uniform(0, 6)),
        }
        for level in range(5)
    ]
    simulation = simulate([floor(top=-0.5), *cans])
    start = simulation.state.position.copy()
    for _ in range(240):
        simulation.advance_frame()
    assert np.abs(simulation.state.position - start).max() < 1e-4


def test_a_pile_of_logs_lies_still():
    """Three logs, the third on the other two (friction 0.81 holds, from 0.27 on): nothing rolls away in 5 s."""
    places = [(-0.3, 0, 0.3), (0.3, 0, 0.3), (0, 0.1, 0.3 + 0.6 * np.sqrt(0.75))]
    logs = [{"shape": Cylinder(0.3, 1.0), "position": place, "orientation": SIDEWAYS} for place in places]
    simulation = simulate([floor(top=-0.5), *logs])
    start = simulation.state.position.copy()
    for _ in range(120):
        simulation.advance_frame()
    assert np.abs(simulation.state.position - start).max() < 1e-3


def test_a_tilted_can_falls_back_or_over():
    """Tilted less than its diagonal it stands again, at rest on its rim's plane; tilted more it lies on its side."""
    for tilt, height in ((0.3, 0.5), (0.9, 0.25)):
        shape = Cylinder(0.25, 0.5)
        lowest = 0.5 * np.cos(tilt) + 0.25 * np.sin(tilt)
        body = {"shape": shape, "position": (0, 0, lowest), "orientation": about((0.6, 0.8, 0), tilt)}
        simulation = simulate([floor(top=-0.5), {**body, "angular_damping": 0.5, "linear_damping": 0.2}])
        for _ in range(240):
            simulation.advance_frame()
        assert simulation.state.position[1, 2] == pytest.approx(height, abs=2e-3)


@pytest.mark.parametrize(("radius", "degrees", "kept"), [(0.5, 25.0, 0.95), (0.5, 40.0, 0.95), (0.0375, 40.0, 0.8)])
def test_a_disk_rolls_on_upon_its_rim(radius, degrees, kept):
    """Euler's disk: thin, centre at rest, it turns at W^2 = 4 g / (r sin a), and rolling takes no energy."""
    angle, thickness, mass = np.radians(degrees), 0.01 * radius, 0.4
    down = np.array((np.cos(angle), 0.0, -np.sin(angle)))
    rate = np.sqrt(4.0 * GRAVITY / (radius * np.sin(angle)))
    height = -radius * down[2] + 0.5 * thickness * np.cos(angle)
    disk = {"shape": Cylinder(radius, 0.5 * thickness), "mass": mass, "friction": 1.0, "position": (0, 0, height)}
    disk["orientation"] = about((0, 1, 0), angle)
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    floor = Box((20 * radius, 20 * radius, radius))
    builder.add_body(shape=floor, kind=BodyKind.STATIC, position=(0, 0, -radius), friction=1.0)
    builder.add_body(**disk, angular_velocity=tuple(-rate * np.sin(angle) * down))
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24, max_substeps=16))
    reports = [simulation.advance_frame() for _ in range(24)]
    energies = np.array([report.kinetic_energy + report.potential_energy for report in reports])
    start = mass * GRAVITY * height + 0.125 * mass * (radius * rate * np.sin(angle)) ** 2
    assert energies[-1] >= kept * start
    assert max(energies.max() / start, np.max(energies[1:] / energies[:-1])) <= 1.0 + 2e-3


def round_pipe(faces, radius, length):
    """The inside of a pipe along y, of flat faces."""
    angle = (np.arange(faces) + 0.5) * 2.0 * np.pi / faces
    ring = np.stack([radius * np.cos(angle), np.zeros(faces), radius * np.sin(angle)], axis=1)
    vertices = np.concatenate([ring - (0, length, 0), ring + (0, length, 0)])
    one = np.arange(faces)
    two = (one + 1) % faces
    triangles = np.concatenate([np.stack([one, faces + one, faces + two], 1), np.stack([one, faces + two, two], 1)])
    return TriangleMesh(vertices=vertices, triangles=triangles)


@pytest.mark.parametrize("faces", [256, 1024])
@pytest.mark.parametrize(("radius", "ball", "speed"), [(0.15, 0.016, 3.0), (1.0, 0.1, 8.0), (10.0, 0.5, 25.0)])
def test_once_round_a_loop_only_the_edges_of_its_faces_take_energy(radius, ball, speed, faces):
    """Each of n edges takes (2 pi / n)^2 of the energy, as a hit does; the time steps take no more than a twentieth."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(shape=round_pipe(faces, radius, radius), kind=BodyKind.STATIC, friction=0.0)
    place = (0.0, 0.0, ball - radius * np.cos(np.pi / faces) + 1e-6)
    builder.add_body(shape=Sphere(ball), position=place, linear_velocity=(speed, 0.0, 0.0), friction=0.0)
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24, max_substeps=16))
    turned, last, energies = 0.0, -0.5 * np.pi, []
    while turned < 2.0 * np.pi and len(energies) < 240:
        energies.append(simulation.advance_frame().kinetic_energy)
        x, _, z = simulation.poses()[0][1]
        angle = np.arctan2(z, x)
        turned, last = turned + (angle - last + np.pi) % (2.0 * np.pi) - np.pi, angle
    start = 0.5 * simulation.model.arrays.mass[1] * speed**2
    assert energies[-1] >= 0.95 * start * np.exp(-2.0 * np.pi / faces * turned)
    assert max(energies) <= start * (1.0 + 1e-6)
