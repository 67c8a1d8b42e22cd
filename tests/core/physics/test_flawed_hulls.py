"""Hulls whose corners carry the noise of scans, imports and remeshing stand as boxes do, and hit as their like do."""

import numpy as np
import pytest

from cairn.solver_core import (
    BodyKind,
    Box,
    ConvexHull,
    ModelBuilder,
    Simulation,
    SimulationOptions,
    TriangleMesh,
)

OPTIONS = SimulationOptions(frame_rate=24, substeps=4)
DAMPING = {"linear_damping": 0.04, "angular_damping": 0.1}


def grid(along):
    """Points on the surface of a cube of 1 m, ``along`` of them on each edge."""
    places = np.array(list(np.ndindex(along, along, along))) / (along - 1) - 0.5
    return places[np.abs(places).max(axis=1) == 0.5]


def noisy_cube(along, noise, random, size=1.0):
    points = grid(along)
    return ConvexHull.from_points(size * (points + noise * random.uniform(-1.0, 1.0, points.shape)))


def stack(shapes, size=1.0, ground=None, lift=0.0):
    """A simulation of bodies of about this height on each other, and their numbers."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    ground = ground or Box(half_extents=(10.0 * size, 10.0 * size, size), position=(0.0, 0.0, -size))
    builder.add_body(kind=BodyKind.STATIC, shape=ground)
    places = [(0.0, 0.0, size * (0.5 + lift + level)) for level in range(len(shapes))]
    bodies = [builder.add_body(shape=shape, position=at, **DAMPING) for shape, at in zip(shapes, places, strict=True)]
    return Simulation(builder.build(), OPTIONS), bodies


def play(simulation, bodies, frames):
    """Positions at the start and after each frame, the deepest overlap, and the frame from which all sleep."""
    places, deepest, asleep = [simulation.poses()[0][bodies].copy()], 0.0, None
    for frame in range(1, frames + 1):
        report = simulation.advance_frame()
        places.append(simulation.poses()[0][bodies].copy())
        deepest = max(deepest, report.max_penetration)
        if asleep is None and report.sleeping == len(bodies):
            asleep = frame
    return np.array(places), deepest, asleep


@pytest.mark.parametrize("noise", [0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize(("along", "count"), [(2, 10), (5, 5), (10, 3)])
def test_a_stack_of_noisy_cubes_stands(along, count, noise):
    """It moves by what its bumps let it lean by, and 1e-4; it does not sink, and sleeps after a second.

    Each joint leans by up to 4 times the noise, and what is on top goes along by that times its height over the joint.
    With more noise a column stands on the ridges of its joints, like a palm that holds a broom, until it has come off.
    """
    random = np.random.default_rng(0)
    simulation, bodies = stack([noisy_cube(along, noise, random) for _ in range(count)])
    places, deepest, asleep = play(simulation, bodies, 96)
    assert np.linalg.norm(places - places[0], axis=2).max() <= 1e-4 + 4.0 * noise * 0.5 * count**2
    # The stack starts with overlaps of up to twice the noise.
    assert deepest <= 1e-4 + 2.0 * noise
    assert places[-1, -1, 2] >= places[0, -1, 2] - 1e-4 - 2.0 * noise * count
    if noise <= 1e-5:
        assert asleep <= 27


@pytest.mark.parametrize("size", [0.01, 10.0])
def test_noise_is_judged_by_the_size_of_the_bodies(size):
    """Cubes of 1 cm and of 10 m stand, too."""
    random = np.random.default_rng(1)
    simulation, bodies = stack([noisy_cube(5, 1e-5, random, size) for _ in range(4)], size)
    places, _, asleep = play(simulation, bodies, 48)
    assert np.linalg.norm(places - places[0], axis=2).max() <= size * 5e-4
    assert asleep is not None


@pytest.mark.parametrize("bump", [1e-6, 1e-5, 1e-4, 1e-3])
def test_cubes_with_a_bump_amid_their_faces_stand(bump):
    """They rock on their bumps until a corner touches, and lean by no more than that."""
    middle = [(0.1, 0.05, -0.5 - bump), (0.1, -0.05, 0.5 + bump)]
    shape = ConvexHull.from_points([*grid(2), *middle])
    simulation, bodies = stack([shape] * 4, 1.0 + 2.0 * bump)
    places, deepest, asleep = play(simulation, bodies, 240)
    assert asleep is not None
    assert np.linalg.norm(places - places[0], axis=2).max() <= 1e-4 + 40.0 * bump
    assert deepest <= 1e-3


@pytest.mark.parametrize("noise", [1e-6, 1e-4, 1e-2])
@pytest.mark.parametrize("of_floor", [0.0, 1e-5, 1e-3])
@pytest.mark.parametrize("cells", [1, 8])
def test_noisy_cubes_stand_on_a_mesh(noise, of_floor, cells):
    """One on another, on triangles whose corners are off, too."""
    random = np.random.default_rng(0)
    lines = np.linspace(-2.0, 2.0, cells + 1)
    corners = np.array([(x, y, of_floor * random.uniform(-1.0, 1.0)) for x in lines for y in lines])
    first = np.array([column * (cells + 1) + row for column in range(cells) for row in range(cells)])
    quad = np.stack([first, first + cells + 1, first + cells + 2, first + 1], axis=1)
    ground = TriangleMesh(corners, np.concatenate([quad[:, :3], quad[:, [0, 2, 3]]]))
    shapes = [noisy_cube(5, noise, random) for _ in range(2)]
    simulation, bodies = stack(shapes, ground=ground, lift=noise + of_floor)
    places, _, _ = play(simulation, bodies, 144)
    assert np.linalg.norm(places - places[0], axis=2).max() <= 1e-4 + 8.0 * (noise + of_floor)
    assert np.linalg.norm(places[-1] - places[-24], axis=1).max() <= 1e-4


@pytest.mark.parametrize("seed", [1, 3, 11])
def test_a_prism_hits_alike_if_it_starts_a_nanometre_higher(seed):
    """Of sixteen corners of a face, eight are contacts: which ones is not left to rounding."""
    random = np.random.default_rng(seed)
    angle = np.arange(16) * np.pi / 8.0
    points = [(0.5 * np.cos(a), 0.5 * np.sin(a), z) for a in angle for z in (-0.3, 0.3)]
    random.normal(size=(32, 3))
    orientation = random.normal(size=4)
    height, spin = random.uniform(1.0, 2.0), random.normal(size=3) * (seed % 3)
    ends = []
    for lift in (0.0, 1e-9):
        builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
        builder.add_body(kind=BodyKind.STATIC, shape=Box(half_extents=(10.0, 10.0, 1.0)), position=(0.0, 0.0, -1.0))
        body = builder.add_body(
            shape=ConvexHull.from_points(points),
            position=(0.0, 0.0, height + lift),
            orientation=orientation / np.linalg.norm(orientation),
            angular_velocity=spin,
            **DAMPING,
        )
        places, _, _ = play(Simulation(builder.build(), OPTIONS), [body], 20)
        ends.append(places)
    assert np.abs(ends[1] - ends[0]).max() <= 1e-5
