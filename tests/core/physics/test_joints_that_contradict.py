"""Joints that contacts or other joints contradict: energy never grows, they stay closed, and cost what others do."""

import itertools
import math

import numpy as np
import pytest

from cairn.solver_core import (
    LOCKED,
    Axis,
    BodyKind,
    Box,
    Fixed,
    Generic,
    Hinge,
    ModelBuilder,
    Point,
    Simulation,
    SimulationOptions,
)
from cairn.solver_core.geometry import rotations

G = 9.81
ALONG_Y = np.array([math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0])


def about(axis, angle):
    axis = np.asarray(axis, float)
    return rotations.from_rotation_vector(axis / np.linalg.norm(axis) * angle)


def random_turn(random):
    turn = random.normal(size=4)
    return turn / np.linalg.norm(turn)


def ring(count, random):
    """Bars in a closed ring that hangs at a block, which the last bar overlaps; it is joined to the first one only."""
    builder, radius = ModelBuilder(), 0.5 / math.sin(math.pi / count)
    angles = 2 * math.pi * np.arange(count + 1) / count + math.pi / 2
    corners = radius * np.stack([np.cos(angles), 0 * angles, np.sin(angles)], axis=1)
    block = builder.add_body(kind=BodyKind.STATIC, shape=Box((0.05, 0.05, 0.05)), position=corners[0])
    bars = []
    for first, second in itertools.pairwise(corners):
        way = second - first
        bars.append(
            builder.add_body(
                shape=Box((0.45, 0.03, 0.03)),
                mass=10 ** random.uniform(-0.5, 1.0),
                position=0.5 * (first + second),
                orientation=about((0, 1, 0), -math.atan2(way[2], way[0])),
            )
        )
    for place in range(count):
        builder.add_joint(Hinge(), bars[place - 1], bars[place], position=corners[place], orientation=ALONG_Y)
    builder.add_joint(Hinge(), block, bars[0], position=corners[0], orientation=ALONG_Y)
    return builder, 2 * radius


def tree(count, random):
    """Bars of mixed joints and masses; some begin at one point without being joined to each other."""
    builder = ModelBuilder()
    root = builder.add_body(kind=BodyKind.STATIC, shape=Box((0.05, 0.05, 0.05)), position=(0, 0, 8))
    bodies, ends = [root], [np.array([0.0, 0.0, 8.0])]
    for _ in range(count):
        parent, turn, length = random.integers(min(len(bodies), 4)), random_turn(random), random.uniform(0.3, 0.8)
        way = length * rotations.rotate(turn, np.array([1.0, 0.0, 0.0]))
        bar = builder.add_body(
            shape=Box((length / 2, 0.03, 0.03)),
            mass=10 ** random.uniform(-1, 1),
            position=ends[parent] + way / 2,
            orientation=turn,
        )
        joint = (Point(), Hinge(), Fixed())[random.integers(3)]
        builder.add_joint(joint, bodies[parent], bar, position=ends[parent], orientation=turn)
        bodies.append(bar)
        ends.append(ends[parent] + way)
    return builder, 3.0


def glued(side, random):
    """Cubes glued face to face, dropped on an edge or a corner, with the damping of Blender's bodies."""
    builder, turn = ModelBuilder(), random_turn(random)
    builder.add_body(kind=BodyKind.STATIC, shape=Box((20, 20, 1)), position=(0, 0, -1), friction=0.8)
    places, cubes = list(np.ndindex(side, side, side)), {}
    middle = 0.25 * (side - 1) * np.ones(3)

    def placed(point):
        return rotations.rotate(turn, 0.5 * np.asarray(point) - middle) + (0, 0, side)

    for place in places:
        cubes[place] = builder.add_body(
            shape=Box((0.25, 0.25, 0.25)),
            mass=10 ** random.uniform(0, 1),
            position=placed(place),
            orientation=turn,
            friction=0.8,
            linear_damping=0.04,
            angular_damping=0.1,
        )
    for place in places:
        for other in places:
            if sum(other) == sum(place) + 1 and np.abs(np.subtract(other, place)).sum() == 1:
                at = placed(0.5 * np.add(place, other))
                builder.add_joint(Fixed(), cubes[place], cubes[other], position=at, orientation=turn)
    return builder, float(side)


def figure(_, random):
    """Boxes as limbs that overlap at the joints, thrown at stairs; arms and legs touch what they are not joined to."""
    builder = ModelBuilder()
    for step in range(6):
        builder.add_body(kind=BodyKind.STATIC, shape=Box((0.3, 2, 0.5)), position=(0.6 * step, 0, -0.2 * step - 0.5))
    drop = np.array([0.0, 0.0, 1.3])
    speed = np.array([random.uniform(1, 3), random.uniform(-1, 1), random.uniform(-1, 1)])

    def limb(half, at, mass):
        return builder.add_body(shape=Box(half), position=drop + at, mass=mass, linear_velocity=speed, friction=0.6)

    torso = limb((0.12, 0.2, 0.3), (0, 0, 0), 10 ** random.uniform(1, 1.5))
    head = limb((0.1, 0.1, 0.12), (0, 0, 0.4), 4.0)
    loose = Generic(linear=(LOCKED,) * 3, angular=(_within(1.0), _within(0.7), _within(0.5)))
    builder.add_joint(loose, torso, head, position=drop + (0, 0, 0.29))
    for side in (-1, 1):
        arm = limb((0.05, 0.16, 0.05), (0, 0.34 * side, 0.24), 2.0)
        hand = limb((0.05, 0.16, 0.05), (0, 0.64 * side, 0.24), 10 ** random.uniform(-1, 0.5))
        leg = limb((0.08, 0.08, 0.22), (0, 0.11 * side, -0.5), 5.0)
        builder.add_joint(Point(), torso, arm, position=drop + (0, 0.2 * side, 0.24))
        builder.add_joint(Hinge(), arm, hand, position=drop + (0, 0.49 * side, 0.24))
        builder.add_joint(loose, torso, leg, position=drop + (0, 0.11 * side, -0.28))
    return builder, 1.0


def _within(angle):
    return Axis(lower=-angle, upper=angle)


SCENES = {"ring": (ring, (3, 4, 7, 10)), "tree": (tree, (10, 6)), "glued": (glued, (2,)), "figure": (figure, (0,))}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SCENES)
def test_energy_does_not_grow_and_joints_stay_closed(name, seed):
    """By 1e-5 of the sum of m g size in any frame, and by 1e-4 of the smallest body in openings, a twentieth in trees.

    What lies still deeper in the floor than what counts as touching, 1e-5 of a size, is lifted by so much. How many
    trees are lifted by more as their joints close is asked below: which ones hangs on the last digits.
    """
    make, counts = SCENES[name]
    builder, size = make(counts[seed % len(counts)], np.random.default_rng([seed, len(name)]))
    model = builder.build()
    moves = model.initial_state.kind == BodyKind.DYNAMIC
    scale = G * size * model.arrays.mass[moves].sum()
    simulation = Simulation(model, SimulationOptions(frame_rate=24))
    reports = [simulation.advance_frame() for _ in range(96)]
    energy = np.array([report.kinetic_energy + report.potential_energy for report in reports])
    assert name == "tree" or np.diff(energy).max() < 1e-5 * scale
    assert energy.max() <= energy[0] + 1e-9 * scale
    most = 0.05 if name == "tree" else 1e-4
    assert max(report.joint_error for report in reports) < most * model.arrays.size[moves].min()
    assert np.isfinite(simulation.poses()[0]).all()


def test_few_trees_are_lifted_as_their_joints_close():
    """One in fifteen by more than 1e-5 of the sum of m g size in a frame (it was one in four), none over its start.

    An island in which even rest would cost energy that is not there stays where the substep began.
    """
    lifted = 0
    for seed in range(100, 116):
        builder, size = tree(10, np.random.default_rng([seed, 4]))
        model = builder.build()
        scale = G * size * model.arrays.mass[model.initial_state.kind == BodyKind.DYNAMIC].sum()
        simulation = Simulation(model, SimulationOptions(frame_rate=24))
        reports = [simulation.advance_frame() for _ in range(48)]
        energy = np.array([report.kinetic_energy + report.potential_energy for report in reports])
        assert energy.max() <= energy[0] + 1e-9 * scale
        lifted += np.diff(energy).max() > 1e-5 * scale
    assert lifted <= 4


def test_glued_cubes_rest_and_sleep_as_a_box_does():
    """Once they have come to rest they take no more frames."""
    builder, _ = glued(2, np.random.default_rng(7))
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24))
    reports = [simulation.advance_frame() for _ in range(144)]
    assert reports[-1].sleeping == 8
    assert reports[-1].kinetic_energy == 0.0


@pytest.mark.parametrize(("misplaced", "start"), [(0.0, 150.0), (1e-5, 150.0), (1e-3, 60.0)])
def test_a_door_on_two_hinges_swings(misplaced, start):
    """Placed in single precision, or by hand, on a leaning axis: its period is that of the one hinge between."""
    periods = []
    for hinges in ((-0.8, 0.8), (0.0,)):
        random, builder = np.random.default_rng(1), ModelBuilder()
        lean = about((1, 0, 0), math.radians(12))
        up = rotations.rotate(lean, np.array([0.0, 0.0, 1.0]))
        turn = rotations.multiply(about(up, math.radians(start)), lean)
        at = rotations.rotate(turn, np.array([0.5, 0.0, 0.0]))
        door = builder.add_body(
            shape=Box((0.5, 0.025, 1)),
            mass=20,
            position=at.astype(np.float32).astype(float),
            orientation=turn.astype(np.float32).astype(float),
        )
        off = misplaced if len(hinges) > 1 else 0.0
        for z in hinges:
            place = (up * z + random.uniform(-off, off, 3)).astype(np.float32).astype(float)
            builder.add_joint(Hinge(), door, position=place, orientation=lean.astype(np.float32).astype(float))
        simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24))
        speeds = []
        for _ in range(240):
            simulation.advance_frame()
            speeds.append(simulation.velocities()[0, 3:] @ up)
        speeds = np.array(speeds)
        turns = np.flatnonzero(speeds[1:] * speeds[:-1] < 0.0)
        times = turns + speeds[turns] / (speeds[turns] - speeds[turns + 1])
        assert len(times) >= 3, "it stands still"
        periods.append(np.diff(times).mean())
    assert periods[0] == pytest.approx(periods[1], rel=0.02)
