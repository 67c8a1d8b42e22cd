"""What moves in small steps: overlaps, momentum and cost are bounded, and what comes to rest is solved to the end."""

import numpy as np
import pytest

from cairn.solver_core import (
    BodyKind,
    Box,
    Cone,
    FrameInput,
    ModelBuilder,
    Simulation,
    SimulationOptions,
    Sphere,
    diagnostics,
    scenes,
)
from cairn.solver_core.options import SMALL_STEPS_OF_QUALITY

AWAKE = {"sleeping": False, "threads": 1}
PRODUCTION = {"quality": "production", **AWAKE}


def unit(vector):
    return vector / np.linalg.norm(vector)


def momenta(model, state):
    """Linear and angular momentum of all bodies."""
    return diagnostics.linear_momentum(model, state), diagnostics.angular_momentum(model, state)


def cloud(seed, speed):
    """Forty turned boxes that fly together from all sides, in no gravity."""
    random = np.random.default_rng(seed)
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for place in np.ndindex(4, 5, 2):
        position = 1.3 * (np.array(place) - (1.5, 2.0, 0.5))
        builder.add_body(
            shape=Box((0.5, 0.4, 0.3)),
            mass=random.uniform(0.5, 4.0),
            position=position,
            orientation=unit(random.normal(size=4)),
            linear_velocity=-speed * position + (1.0, 2.0, 3.0),
            friction=0.6,
        )
    return builder.build()


def test_a_heap_overlaps_little_while_it_falls_and_is_solved_when_it_rests():
    """Sixty boxes: small steps while they tumble, none at the end, when nothing moves."""
    model = scenes.pile(60, 4).build_model()
    simulation = Simulation(model, SimulationOptions(**PRODUCTION))
    in_small_steps, depths = [], []
    for _ in range(240):
        report = simulation.advance_frame()
        in_small_steps.append(report.in_small_steps)
        depths.append(report.max_penetration / model.arrays.size[1:].min())
    assert sum(count > 0 for count in in_small_steps) > 20
    assert max(depths) < 0.05
    assert np.median(depths) < 5e-3
    assert in_small_steps[-12:] == [0] * 12
    assert np.abs(simulation.state.velocity).max() < 1e-6


def crates(counts, pitch, seed):
    """Boxes of 0.8 m in layers, each turned about the vertical, so that they overlap where pitches are below 1.13 m."""
    random = np.random.default_rng(seed)
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(shape=Box((20.0, 20.0, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=0.6)
    for x, y, z in np.ndindex(*counts):
        angle = random.uniform(0.0, np.pi)
        builder.add_body(
            shape=Box((0.4, 0.4, 0.4)),
            mass=random.uniform(1.0, 50.0),
            position=(pitch * x, pitch * y, 0.4 + 0.8 * z),
            orientation=(np.cos(angle), 0.0, 0.0, np.sin(angle)),
            friction=0.6,
        )
    return builder.build()


@pytest.mark.parametrize(("counts", "pitch"), [((3, 3, 2), 0.85), ((7, 7, 2), 0.9)], ids=["few", "in batches"])
@pytest.mark.parametrize("seed", range(2))
def test_crates_that_overlap_come_apart_and_rest(counts, pitch, seed):
    """Overlaps that contradict each other; what is left of them keeps nothing from coming to rest."""
    model = crates(counts, pitch, seed)
    simulation = Simulation(model, SimulationOptions(**PRODUCTION))
    size, depths, fastest = model.arrays.size[1:].min(), [], 0.0
    for _ in range(144):
        depths.append(simulation.advance_frame().max_penetration / size)
        fastest = max(fastest, np.abs(simulation.state.velocity[:, :3]).max())
    assert depths[0] > 0.05
    assert max(depths[48:]) < 5e-3
    assert fastest < 1.0
    assert np.abs(simulation.state.velocity).max() < 1e-6


@pytest.mark.parametrize("courses", [8, 12, 20])
@pytest.mark.parametrize("gap", [0.006, 0.002])
def test_a_wall_with_gaps_lands_and_rests(courses, gap):
    """Bricks that begin some millimetres above those below: the wall is solved soon, before it creeps sideways."""
    length, height = 0.2, 0.06
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(shape=Box((5, 5, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=0.8)
    for course, place in np.ndindex(courses, 5):
        x, z = (place + 0.3 * (course % 2)) * (length + gap), height / 2 + gap * (course + 1) + course * height
        builder.add_body(shape=Box((length / 2, 0.05, height / 2)), mass=2.5, position=(x, 0.0, z), friction=0.5)
    simulation = Simulation(builder.build(), SimulationOptions(**PRODUCTION))
    for _ in range(48):
        simulation.advance_frame()
    before = simulation.poses()[0]
    missed = sum(simulation.advance_frame().missed for _ in range(24))
    assert np.abs(simulation.poses()[0] - before).max() < 1e-7
    assert missed == 0


@pytest.mark.parametrize("quality", SMALL_STEPS_OF_QUALITY)
def test_quality_decides_whether_there_are_small_steps(quality):
    simulation = Simulation(cloud(0, 4.0), SimulationOptions(quality=quality, **AWAKE))
    count = sum(simulation.advance_frame().in_small_steps for _ in range(12))
    assert (count > 0) == (quality != "exact")


def test_other_methods_have_no_small_steps():
    simulation = Simulation(cloud(0, 4.0), SimulationOptions(method="nncg", **PRODUCTION))
    assert sum(simulation.advance_frame().in_small_steps for _ in range(6)) == 0


def test_an_unknown_quality_is_refused():
    with pytest.raises(ValueError, match=r"quality is 'perfect'; it must be one of preview, production, exact"):
        SimulationOptions(quality="perfect")


@pytest.mark.parametrize("seed", range(3))
def test_what_flies_keeps_its_momentum(seed):
    """Linear and angular momentum of all bodies, to rounding, in each substep that moves them all in small steps."""
    model = cloud(seed, 4.0)
    simulation = Simulation(model, SimulationOptions(frame_rate=96.0, substeps=1, **PRODUCTION))
    before = momenta(model, simulation.state)
    scale, checked = np.abs(before[0]).max(), 0
    for _ in range(96):
        report = simulation.advance_frame()
        after = momenta(model, simulation.state)
        assert np.abs(after[0] - before[0]).max() < 1e-12 * scale
        if report.islands == 1 and report.in_small_steps == 1:
            assert np.abs(after[1] - before[1]).max() < 1e-12 * scale
            checked += 1
        before = after
    assert checked >= 10


@pytest.mark.parametrize("seed", [1, 3, 4, 5, 6, 23])
def test_what_flies_gains_no_energy(seed):
    """Masses over three orders: the sweeps of a hit end before they have converged."""
    random = np.random.default_rng(seed)
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for place in np.ndindex(4, 5, 2):
        position = 1.3 * (np.array(place) - (1.5, 2.0, 0.5))
        builder.add_body(
            shape=Box((0.5, 0.4, 0.3)),
            orientation=unit(random.normal(size=4)),
            mass=1e3 ** random.uniform(),
            position=position,
            linear_velocity=-4.0 * position + (1.0, 2.0, 3.0),
            friction=0.6,
        )
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=96.0, substeps=1, **PRODUCTION))
    energies = np.array([simulation.advance_frame().kinetic_energy for _ in range(96)])
    assert (np.diff(energies) < 1e-6 * energies[:-1]).all()
    assert energies[-1] < 0.5 * energies[0]


@pytest.mark.parametrize(
    ("lift", "spin"), [(0.02, (15, 0, 0)), (0.06, (15, 0, 0)), (0.02, (15, 0, 5)), (0.06, (15, 0, 5))]
)
def test_a_cone_does_not_sink_as_it_rolls(lift, spin):
    """It is round, and turns by a tenth of a radian a substep: no row of a substep tells where its side will be."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(shape=Box((5, 5, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=0.9)
    tilt = 0.5 * (0.5 * np.pi + np.arctan2(0.02, 0.03))
    builder.add_body(
        shape=Cone(0.02, 0.03),
        position=(0, 0, lift),
        orientation=(np.cos(tilt), 0, np.sin(tilt), 0),
        angular_velocity=spin,
        friction=0.9,
    )
    simulation = Simulation(builder.build(), SimulationOptions(**PRODUCTION))
    depths = [simulation.advance_frame().max_penetration for _ in range(96)]
    assert max(depths[24:]) < 5e-3 * 0.04


@pytest.mark.parametrize("quality", SMALL_STEPS_OF_QUALITY)
def test_what_is_pinched_is_not_shot_away(quality):
    """A press comes down through two layers of boxes: no motion obeys it, and impulses might grow without end."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(shape=Box((9, 9, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC)
    for x, y, z in np.ndindex(3, 3, 2):
        builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=(1.02 * x - 1.02, 1.02 * y - 1.02, 0.5 + z), friction=0.6)
    builder.add_body(
        shape=Box((2, 2, 0.5)), position=(0, 0, 2.6), kind=BodyKind.KINEMATIC, linear_velocity=(0, 0, -1.5)
    )
    simulation = Simulation(builder.build(), SimulationOptions(quality=quality, **AWAKE))
    fastest = 0.0
    for _ in range(24):
        simulation.advance_frame()
        fastest = max(fastest, np.abs(simulation.state.velocity[1:-1, :3]).max())
    assert fastest < 25.0


@pytest.mark.parametrize("quality", ["production", "exact"])
@pytest.mark.parametrize("overlap", [0.001, 0.02])
@pytest.mark.parametrize("shape", [Box((0.2, 0.2, 0.2)), Sphere(0.2)], ids=["box", "ball"])
def test_jaws_that_have_closed_on_something_lift_it(shape, overlap, quality):
    """They are driven a little into it from both sides, lift it, carry it, and hold it when they stand.

    No exact solution has both jaws; solved exactly, a box slips on the way in by as much as both are driven into it, to
    one side or another: by which millionth of a metre it is off decides.
    """
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(kind=BodyKind.STATIC, shape=Box((5, 5, 0.5)), position=(0, 0, -0.5), friction=0.5)
    builder.add_body(shape=shape, position=(0, 0, 0.2), mass=1, friction=0.8)
    for side in (-1, 1):
        builder.add_body(kind=BodyKind.KINEMATIC, shape=Box((0.15, 0.05, 0.15)), position=(0, 0.5 * side, 0.25))
    simulation = Simulation(builder.build(), SimulationOptions(quality=quality, threads=1))
    for frame in range(2, 101):
        position, orientation = (poses.copy() for poses in simulation.poses())
        apart = np.interp(frame, [1, 15], [0.5, 0.25 - overlap])
        along, height = np.interp(frame, [40, 75], [0.0, 2.0]), np.interp(frame, [15, 40], [0.25, 1.2])
        for jaw, side in ((2, -1), (3, 1)):
            position[jaw] = along, side * apart, height
        simulation.advance_frame(FrameInput(position=position, orientation=orientation))
    slip = 2.0 * overlap if isinstance(shape, Box) and quality == "exact" else 0.0
    np.testing.assert_allclose(simulation.poses()[0][1], (2.0, 0.0, 1.15), atol=0.03 + slip)


def test_the_cost_of_what_never_rests_is_bounded():
    """A paddle stirs a heap for ever: no substep costs many times the sweeps of its small steps."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(shape=Box((9, 9, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC)
    for x, y, z in np.ndindex(4, 4, 3):
        builder.add_body(shape=Box((0.3, 0.3, 0.3)), position=(0.7 * x - 1.0, 0.7 * y - 1.0, 0.3 + 0.65 * z))
    builder.add_body(
        shape=Box((2.0, 0.1, 0.3)), position=(0, 0, 0.35), kind=BodyKind.KINEMATIC, angular_velocity=(0, 0, 3.0)
    )
    simulation = Simulation(builder.build(), SimulationOptions(**PRODUCTION))
    sweeps, solves = [], []
    for _ in range(120):
        report = simulation.advance_frame()
        sweeps.append(report.iterations)
        solves.append(report.detection_passes * max(report.islands, 1))
    # small steps take at most 4 (8 + 1) sweeps, and the method no more than it has earned
    assert sum(sweeps[24:]) < 3 * 36 * sum(solves[24:])
