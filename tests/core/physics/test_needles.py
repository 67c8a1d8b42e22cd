"""Needles, and what spins by many turns a substep: no energy comes in, and nothing passes what was not looked for.

A needle's moments of inertia differ by 1e5: turned a little otherwise than it spins, its angular momentum, kept, is
that of a hundred times the energy. Scenes that random ones were taken apart to (``python -m benchmarks fuzz``).
"""

import numpy as np
import pytest

from cairn.solver_core import diagnostics
from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

FALLS, FLIES = (0.0, 0.0, -9.81), (0.0, 0.0, 0.0)
FALLEN_CONE = {
    "shape": Cone(radius=1.758330205e-4, half_height=0.09097055973),
    "position": (0.1365972640, 0.8932319068, 0.2617984361),
    "orientation": (1.376045043, -1.017873381, 0.3042171851, 1.589450569),
    "linear_velocity": (-3.453812444, -3.242491790, 2.463478453),
}
FAST_CAPSULE = {
    "shape": Capsule(5.040066650e-4, 0.1469117561),
    "position": (1.517907741, -1.939309025, 3.587339846),
    "orientation": (-0.9723071424, 1.031833667, -0.5271570222, 0.6204388768),
    "friction": 1.131218025,
    "linear_velocity": (-122.3975796, 22.86635328, -76.19741089),
}
CONE_THROUGH_THE_FLOOR = {
    "shape": Cone(0.06956, 40.45),
    "position": (3.464, -3.593, 1.708),
    "angular_velocity": (-2.230, 0.5343, 1.482),
}


def add_floor(builder):
    builder.add_body(shape=Box((500.0, 500.0, 5.0)), position=(0.0, 0.0, -5.0), kind=BodyKind.STATIC)


def energies(model, frames, **options):
    """At the start and after each frame [J]."""
    simulation = Simulation(model, SimulationOptions(frame_rate=24, threads=1, **options))
    found = [energy_of(model, simulation.state)]
    for _ in range(frames):
        simulation.advance_frame()
        found.append(energy_of(model, simulation.state))
    return np.array(found)


def energy_of(model, state):
    return diagnostics.kinetic_energy(model, state) + diagnostics.potential_energy(model, state, model.gravity)


@pytest.mark.parametrize(
    ("needle", "gravity", "substeps", "frames"),
    [(FALLEN_CONE, FALLS, 10, 24), (FAST_CAPSULE, FALLS, 4, 8), (CONE_THROUGH_THE_FLOOR, FLIES, 4, 8)],
    ids=["fallen", "fast", "through the floor"],
)
def test_a_needle_on_a_floor_gains_nothing(needle, gravity, substeps, frames):
    """Beside the lift of what it overlaps: before, up to ten times what it had within two frames."""
    builder = ModelBuilder(gravity)
    add_floor(builder)
    builder.add_body(**needle)
    model = builder.build()
    found = energies(model, frames, substeps=substeps)
    assert np.all(found <= found[0] * (1.0 + 1e-3))


def test_what_spins_in_flight_and_is_parted_gains_nothing():
    """A cone that turns by forty radians a substep begins in a can: before, they had 1.4 times what they began with."""
    builder = ModelBuilder(FLIES)
    can = Cylinder(0.07404419381, 0.2142058081)
    builder.add_body(shape=can, position=(1.753457251, 0.05900294188, 3.897989845), restitution=0.6479323051)
    builder.add_body(
        shape=Cone(0.1494650438, 0.3058285756),
        position=(1.787737250, -0.3153017567, 4.041390760),
        friction=1.961979845,
        restitution=0.5037827255,
        angular_velocity=(1775.410133, 1684.343444, 3106.901819),
    )
    model = builder.build()
    found = energies(model, 6)
    # free rotation at forty radians a substep swings by some 1e-4
    assert np.all(found <= found[0] * (1.0 + 1e-3))


def test_what_is_struck_in_the_last_pass_of_a_substep_stays_above_the_floor():
    """A blade at a kilometre a second strikes what strikes a bolt: no pass is left in which the floor would be seen."""
    builder = ModelBuilder(FALLS)
    add_floor(builder)
    builder.add_body(
        shape=Cone(0.08804231750, 0.1043323601),
        position=(0.9975605722, -1.480522612, 3.049848774),
        orientation=(-1.121432768, -1.219593948, 1.372645300, -0.3351218827),
        angular_velocity=(-11584.85285, -1738.004347, 5569.713607),
    )
    builder.add_body(
        shape=Cone(0.8178215814, 0.8317645315),
        position=(1.179980605, 1.857617579, 4.570886250),
        angular_velocity=(-1533.124649, 43.66256520, 457.9966052),
    )
    builder.add_body(
        shape=Cylinder(
            0.01416807033,
            0.02767813537,
            position=(-0.03341144896, -0.009067025717, -0.05111436297),
            orientation=(0.04229342022, -0.1965798585, 0.01145708943, -0.8599730544),
        ),
        position=(-2.165678195, 1.030365357, 0.7564404016),
    )
    model = builder.build()
    simulation = Simulation(model, SimulationOptions(frame_rate=24, substeps=1, threads=1))
    for _ in range(6):
        simulation.advance_frame()
        height, moving = simulation.state.position[:, 2], model.initial_state.kind == BodyKind.DYNAMIC
        assert np.all(height[moving] > -model.arrays.size[moving])


def test_what_only_the_last_solution_strikes_does_not_pass_what_it_was_not_led_to():
    """A block at a thousand kilometres a second strikes a ball: by the motions known until then that stood still."""
    builder = ModelBuilder(FALLS)
    add_floor(builder)
    builder.add_body(shape=Sphere(0.3), position=(2.69561072, 3.40569307, 1.73836239))
    builder.add_body(
        shape=Sphere(25.601985612767088, position=(-30.617674762921645, 5.2264268413803014, 122.54457383093737)),
        position=(1.67436908, 3.8125464, 104.28448571265602),
    )
    builder.add_body(
        shape=Box((247.96767403912958, 220.9318633423576, 175.54438800732402)),
        mass=20.76788589455637,
        position=(-3.77747186, 2.50965556, 499.28926039442933),
        orientation=(1.3715237574912038, 1.1764811898731669, 0.3456901074424022, 0.2928364237875982),
        angular_velocity=(-1219.128121498215, -2704.8440405596234, -2898.550069914196),
    )
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24, threads=1))
    for _ in range(3):
        simulation.advance_frame()
        assert simulation.state.position[1, 2] > 0.0
