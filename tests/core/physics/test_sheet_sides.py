"""On which side of sheets and open meshes bodies stay: as their own last contacts say, or else against gravity."""

import numpy as np
import pytest

from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

CORNERS = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]
SHEETS = {
    "hull": lambda: ConvexHull.from_points(CORNERS),
    "mesh": lambda: TriangleMesh(CORNERS, [(0, 1, 2), (0, 2, 3)]),
}
UPRIGHT = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)


def bar(x, angle, closed, half=0.2, length=12.0, slope=0.1, segments=24):
    """A square bar along y that slopes down, turned about y by ``angle``; a tube without ends unless it is closed."""
    directions = [(np.cos(angle + quarter * np.pi / 2), np.sin(angle + quarter * np.pi / 2)) for quarter in range(4)]
    profile = half * 2**0.5 * np.array(directions)
    vertices = [(x + p, y, q - slope * y) for y in np.linspace(-0.5, 0.5, segments + 1) * length for p, q in profile]
    triangles = []
    for ring in range(0, 4 * segments, 4):
        for corner in range(4):
            a, b = ring + corner, ring + (corner + 1) % 4
            triangles += [(a, b, b + 4), (a, b + 4, a + 4)]
    if closed:
        last = 4 * segments
        triangles += [(0, 2, 1), (0, 3, 2), (last, last + 1, last + 2), (last, last + 2, last + 3)]
    return np.array(vertices), np.array(triangles)


def roll_on_rails(half_gap, closed, substeps):
    """Where a ball of 1 m is after three seconds on two bars whose edges look at it."""
    lean = np.arcsin(half_gap / 1.2)
    rails = [bar(-half_gap, np.pi / 2 - lean, closed), bar(half_gap, np.pi / 2 + lean, closed)]
    vertices = np.concatenate([points for points, _ in rails])
    triangles = np.concatenate([rails[0][1], rails[1][1] + len(rails[0][0])])
    builder = ModelBuilder()
    builder.add_body(kind=BodyKind.STATIC, shape=TriangleMesh(vertices, triangles))
    builder.add_body(shape=Sphere(1.0), position=(0, -4.0, 1.35 * np.cos(lean) + 0.45))
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24, substeps=substeps))
    for _ in range(72):
        simulation.advance_frame()
    return simulation.poses()[0][1]


@pytest.mark.parametrize("half_gap", [0.7, 0.9, 1.0])
@pytest.mark.parametrize("substeps", [1, 4, 16])
def test_a_marble_rolls_on_open_rails_as_on_closed_ones(half_gap, substeps):
    """One rail does not take the side that the other one's contacts have."""
    on_open, on_closed = (roll_on_rails(half_gap, closed, substeps) for closed in (False, True))
    assert on_closed[1] > -2.5
    np.testing.assert_allclose(on_open, on_closed, atol=1e-6)


def settle(sheet, shape, height, *, upright=False, floor=None):
    """Height over the sheet's plane (x for an upright one) of a body after a second."""
    builder = ModelBuilder()
    orientation = UPRIGHT if upright else (1, 0, 0, 0)
    builder.add_body(kind=BodyKind.STATIC, shape=SHEETS[sheet](), orientation=orientation, friction=0.0)
    place = (0, -height, 0) if upright else (0, 0, height)
    builder.add_body(shape=shape, position=place, friction=0.0)
    if floor is not None:
        builder.add_body(kind=BodyKind.STATIC, shape=Box((1, 1, 0.1)), position=(0, 0, floor - 0.1))
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24, substeps=4))
    for _ in range(24):
        simulation.advance_frame()
    position = simulation.poses()[0][1]
    return -position[1] if upright else position[2]


SLAB = Box((0.1, 0.1, 0.025))
ASTRIDE = {"slab": (SLAB, 0.025), "can": (Cylinder(0.1, 0.05), 0.05), "ball": (Sphere(0.1), 0.1)}


@pytest.mark.parametrize("sheet", SHEETS)
@pytest.mark.parametrize("name", ASTRIDE)
@pytest.mark.parametrize("share", [0.0, -0.2, 0.2])
def test_what_starts_astride_is_taken_out_against_gravity(sheet, name, share):
    """Its centre a fifth of its half height below the sheet, in it, and above."""
    shape, half = ASTRIDE[name]
    assert settle(sheet, shape, share * half) == pytest.approx(half, abs=2e-3 * half)


@pytest.mark.parametrize("sheet", SHEETS)
@pytest.mark.parametrize("name", ASTRIDE)
def test_what_hangs_through_falls(sheet, name):
    """Four fifths of it are below: it is pushed out there, and falls."""
    shape, half = ASTRIDE[name]
    assert settle(sheet, shape, -0.8 * half) < -1.0


@pytest.mark.parametrize("sheet", SHEETS)
def test_a_thin_plate_under_a_sheet_stays_there(sheet):
    """Nearer to the sheet than its width, not than its thickness: on a floor a millimetre below it."""
    assert settle(sheet, Box((0.1, 0.1, 0.002)), -0.003, floor=-0.005) == pytest.approx(-0.003, abs=1e-4)


@pytest.mark.parametrize("sheet", SHEETS)
@pytest.mark.parametrize("sign", [1, -1])
def test_an_upright_sheet_pushes_to_the_centres_side(sheet, sign):
    """It has no upper side."""
    assert sign * settle(sheet, SLAB, sign * 0.005, upright=True) > 0.02


def hourglass(segments=32):
    """A glass with a floor and a neck of radius 0.16, open above, as one mesh."""
    rings = [(0.8, 0.0), (0.8, 0.7), (0.16, 1.5), (0.8, 2.3), (0.8, 3.4)]
    angles = 2 * np.pi * np.arange(segments) / segments
    vertices = [(0.0, 0.0, 0.0)] + [(r * np.cos(angle), r * np.sin(angle), z) for r, z in rings for angle in angles]
    triangles = [(0, 1 + (step + 1) % segments, 1 + step) for step in range(segments)]
    for ring in range(len(rings) - 1):
        for step in range(segments):
            a, b = (1 + ring * segments + place % segments for place in (step, step + 1))
            triangles += [(a, b, b + segments), (a, b + segments, a + segments)]
    return TriangleMesh(np.array(vertices), np.array(triangles))


@pytest.mark.parametrize("seed", [4, 5, 6])
def test_marbles_run_through_an_hourglass(seed):
    """In the neck, pressed from all around, none is taken to the other side of a wall that it has not touched yet."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder()
    builder.add_body(kind=BodyKind.STATIC, shape=hourglass())
    for place in range(20):
        angle, radius = rng.uniform(0.0, 2 * np.pi), rng.uniform(0.0, 0.45)
        position = (radius * np.cos(angle), radius * np.sin(angle), 2.3 + 0.06 * place)
        builder.add_body(shape=Sphere(0.07), mass=0.01, position=position, friction=0.2)
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24))
    for _ in range(72):
        simulation.advance_frame()
        positions = simulation.poses()[0][1:]
        assert np.hypot(positions[:, 0], positions[:, 1]).max() < 0.8
        assert positions[:, 2].min() > 0.0
