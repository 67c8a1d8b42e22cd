"""Motion on meshes: at rest, sliding and rolling over seams, down a slope, too fast to be seen, carried along."""

import numpy as np
import pytest
from sample_meshes import box_mesh, bumps, grid_mesh, joined

from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Capsule, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.simulation import Simulation

GRAVITY = 9.81


def simulation(bodies, *, gravity=(0.0, 0.0, -GRAVITY)):
    builder = ModelBuilder(gravity=gravity)
    for body in bodies:
        builder.add_body(**body)
    return Simulation(builder.build(), SimulationOptions(method="nncg"))


def play(bodies, frames, **options):
    """Positions of all bodies, frame by frame [frames + 1, bodies, 3], and the simulation."""
    run = simulation(bodies, **options)
    positions = [run.poses()[0].copy()]
    for _ in range(frames):
        run.advance_frame()
        positions.append(run.poses()[0].copy())
    return np.array(positions), run


def static(mesh, **options):
    return {"shape": mesh, "kind": BodyKind.STATIC, "friction": 1.0} | options


def flat_floor(size=12.0, cells=11):
    return TriangleMesh(*grid_mesh(cells, size, rng=np.random.default_rng(1)))


def bowl(radius, cells=24):
    """The lower half of a sphere as a sheet."""
    return TriangleMesh(
        *grid_mesh(
            cells, 1.3 * radius, height=lambda x, y: -np.sqrt(radius**2 - np.minimum(x**2 + y**2, 0.98 * radius**2))
        )
    )


def test_a_box_slides_over_seams_as_on_one_plane():
    """Way and speed on a floor of random triangles differ from those on a plane by less than 0.1 %."""
    ways = []
    for floor in (flat_floor(), Box((6.0, 6.0, 0.0))):
        box = {"shape": Box((0.5, 0.4, 0.3)), "position": (-4.0, 0.2, 0.3), "linear_velocity": (4.0, 0.3, 0.0)}
        positions, run = play([static(floor, friction=0.5), box | {"friction": 0.4}], 30)
        ways.append((positions[-1, 1] - positions[0, 1], run.velocities()[1]))
        assert abs(positions[:, 1, 2] - 0.3).max() < 1e-5
    np.testing.assert_allclose(ways[0][0][:2], ways[1][0][:2], rtol=1e-3)
    np.testing.assert_allclose(ways[0][1][0], ways[1][1][0], rtol=1e-3)


def strips(*patches):
    """Flat strips of triangles side by side along x, each with its own number of corners along y."""
    meshes = []
    for start, end, along, across in patches:
        x, y = np.meshgrid(np.linspace(start, end, along + 1), np.linspace(-2.0, 2.0, across + 1), indexing="ij")
        vertices = np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3)
        a = (np.arange(along)[:, None] * (across + 1) + np.arange(across)).ravel()
        b = a + across + 1
        meshes.append((vertices, np.concatenate([np.stack([a, b, b + 1], 1), np.stack([a, b + 1, a + 1], 1)])))
    return TriangleMesh(*joined(*meshes))


def test_a_box_slides_over_corners_that_lie_on_edges():
    """Where strips of other widths meet, and over one of 1 mm: without friction its speed stays within 0.1 %."""
    floor = strips((-6.0, -1.0, 3, 4), (-1.0, 2.0, 3, 7), (2.0, 2.001, 1, 5), (2.001, 6.0, 2, 3))
    box = {"shape": Box((0.5, 0.4, 0.3)), "position": (-4.0, 0.2, 0.3), "linear_velocity": (4.0, 0.3, 0.0)}
    positions, run = play([static(floor), box | {"friction": 0.0}], 40)
    np.testing.assert_allclose(run.velocities()[1][:3], (4.0, 0.3, 0.0), atol=4e-3)
    assert abs(positions[:, 1, 2] - 0.3).max() < 1e-5


def test_a_ball_rolls_over_seams_without_a_bump():
    """It stays at its radius over the floor, and rolls as fast as after the closed form: 5/7 of the sliding speed."""
    ball = {"shape": Sphere(0.2), "position": (-5.0, 0.2, 0.2), "linear_velocity": (4.0, 0.3, 0.0), "friction": 1.0}
    positions, run = play([static(flat_floor()), ball], 60)
    assert abs(positions[:, 1, 2] - 0.2).max() < 1e-9
    np.testing.assert_allclose(run.velocities()[1, :2], 5.0 / 7.0 * np.array([4.0, 0.3]), rtol=1e-6)


def test_a_ball_rolls_down_a_triangulated_slope():
    """Acceleration 5/7 g sin a within 1 %."""
    slope = np.radians(20.0)
    down = GRAVITY * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    ball = {"shape": Sphere(0.2), "position": (-5.0, 0.3, 0.2), "friction": 1.0}
    positions, _ = play([static(flat_floor()), ball], 48, gravity=down)
    expected = 0.5 * 5.0 / 7.0 * GRAVITY * np.sin(slope) * 2.0**2
    np.testing.assert_allclose(positions[-1, 1, 0] - positions[0, 1, 0], expected, rtol=0.01)


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_bodies_rest_on_meshes_as_still_as_on_boxes(scale):
    """On a plane of random triangles, on the top of a closed box, in a bowl: 1e-4 of their size in 10 s at most."""
    rock = ConvexHull.from_points(scale * np.random.default_rng(3).normal(size=(24, 3)) * 0.25)
    low = min(rock.vertices[:, 2])
    bodies = [
        static(
            TriangleMesh(
                *[
                    scale * part if part.dtype == float else part
                    for part in grid_mesh(7, 6.0, rng=np.random.default_rng(1))
                ]
            )
        ),
        static(TriangleMesh(*box_mesh(scale * np.array([1.0, 1.0, 0.5]), scale * np.array([8.0, 0.0, -0.5])))),
        static(bowl(3.0 * scale), position=(16.0 * scale, 0.0, 3.0 * scale)),
    ]
    for x, y in ((-1.3, 0.2), (7.6, 0.2)):
        bodies.append({"shape": Box(scale * np.array([0.5, 0.4, 0.3])), "position": scale * np.array([x, y, 0.3])})
        bodies.append({"shape": Sphere(0.2 * scale), "position": scale * np.array([x + 0.9, y + 0.3, 0.2])})
    bodies.append({"shape": rock, "position": np.array([1.0 * scale, -1.0 * scale, -low])})
    bodies.append({"shape": Box(scale * np.array([0.3, 0.3, 0.2])), "position": scale * np.array([16.0, 0.1, 0.4])})
    positions, run = play(bodies, 192, gravity=(0.0, 0.0, -GRAVITY))
    settled = positions[192].copy()
    for _ in range(240):
        run.advance_frame()
    boxes, balls = [3, 5], [4, 6]
    assert np.abs(run.poses()[0][boxes] - positions[0, boxes]).max() < 1e-4 * scale
    # Nothing holds a ball where it lies: it keeps what rounding gives it.
    assert np.abs(run.poses()[0][balls] - positions[0, balls]).max() < 1e-4
    resting = [7, 8]
    assert np.abs(run.poses()[0][resting] - settled[resting]).max() < 1e-4 * scale


def test_a_ball_in_a_bowl_stays_there():
    """It rolls to and fro over hundreds of concave edges, never higher than it started."""
    ball = {"shape": Sphere(0.3), "position": (0.9, 0.3, 0.6), "friction": 1.0}
    positions, _ = play([static(bowl(3.0), position=(0.0, 0.0, 3.0)), ball], 120)
    assert positions[:, 1, 2].max() <= 0.6
    assert np.abs(positions[60:, 1, 0]).max() > 0.1
    from_middle = np.linalg.norm(positions[:, 1] - (0.0, 0.0, 3.0), axis=1)
    assert from_middle.max() < 2.71


@pytest.mark.parametrize("seed", [1, 5, 10])
def test_bodies_come_to_rest_on_a_hilly_ground(seed):
    """Boxes and rocks dropped on it stay on top, overlap by less than 5 % of their size on impact, and stop."""
    rng = np.random.default_rng(seed)
    ground = TriangleMesh(*grid_mesh(24, 6.0, height=bumps))
    bodies = [static(ground, friction=0.8)]
    for x in (-1.5, 0.0, 1.5):
        for y in (-1.0, 1.0):
            rock = ConvexHull.from_points(rng.normal(size=(16, 3)) * 0.15)
            bodies.append({"shape": rock, "position": (x, y, 1.0), "friction": 0.8})
            bodies.append({"shape": Box((0.2, 0.15, 0.1)), "position": (x + 0.6, y, 1.3), "friction": 0.8})
    run = simulation(bodies)
    deepest = max(run.advance_frame().max_penetration for _ in range(240))
    before = run.poses()[0].copy()
    for _ in range(48):
        run.advance_frame()
    after = run.poses()[0]
    assert deepest < 0.05 * 0.4
    assert np.all(after[1:, 2] > bumps(after[1:, 0], after[1:, 1]))
    assert np.abs(after - before)[1:].max() < 1e-4


@pytest.mark.parametrize("scale", [1.0, 0.01])
@pytest.mark.parametrize("start", [0.0, 1e-7, 1e-3, 2.5e-3])
def test_a_corner_that_slides_into_a_crease_stops_at_the_slope_behind_it(start, scale):
    """It goes 3.1 mm a substep from ``start`` before the crease: without a stop by up to 2.2 mm into the slope."""
    corners = np.array([(x, y, max(0.0, -x)) for x in (-2.0, 0.0, 2.0) for y in (-2.0, 2.0)])
    ground = TriangleMesh(scale * corners, np.array([(0, 2, 3), (0, 3, 1), (2, 4, 5), (2, 5, 3)]))
    half_extents, turn = np.array([0.2, 0.15, 0.1]), np.array([0.9, 0.25, -0.3, 0.1])
    turn /= np.linalg.norm(turn)
    signs = np.array([[1.0 if i >> axis & 1 else -1.0 for axis in range(3)] for i in range(8)])
    arms = rotate(turn, signs * half_extents)
    lowest = arms[:, 2].argmin()
    box = {
        "shape": Box(scale * half_extents),
        "position": scale * (np.array([start, 0.1, 0.0]) - arms[lowest]),
        "orientation": turn,
        "linear_velocity": (-0.3 * scale, 0.0, 0.0),
        "friction": 0.0,
    }
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY * scale))
    for body in (static(ground), box):
        builder.add_body(**body)
    run = Simulation(builder.build(), SimulationOptions(method="nncg", frame_rate=96.0, substeps=1))
    for _ in range(3):
        run.advance_frame()
        position, orientation = run.poses()
        x, _, z = (position[1] + scale * rotate(orientation[1], signs * half_extents)).T
        # What is left is what the turn of a substep leads off its tangent.
        assert (z - np.maximum(0.0, -x)).min() > -1e-4 * scale


@pytest.mark.parametrize("substeps", [1, 4])
def test_hulls_that_tumble_onto_a_floor_stay_above_it(substeps):
    """Their corners leave their tangents in a substep: of 12 hulls the worst sank by 0.03 and 0.2 of its size."""
    half = 20.0
    corners = np.array([(-half, -half, 0.0), (half, -half, 0.0), (half, half, 0.0), (-half, half, 0.0)])
    floor = TriangleMesh(corners, np.array([(0, 1, 2), (0, 2, 3)]))
    for seed in range(1, 13):
        rng = np.random.default_rng(seed)
        points = rng.uniform(-1.0, 1.0, (12, 3)) * (0.35, 0.45, 0.07)
        turn, spin = rng.normal(size=4), rng.normal(size=3)
        hull = {
            "shape": ConvexHull.from_points(points),
            "position": (0.0, 0.0, 1.0),
            "orientation": turn / np.linalg.norm(turn),
            "linear_velocity": (2.0, 0.0, -3.0),
            "angular_velocity": 10.0 * spin / np.linalg.norm(spin),
        }
        builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
        for body in (static(floor), hull):
            builder.add_body(**body)
        options = SimulationOptions(method="nncg", frame_rate=24.0, substeps=substeps, max_substeps=substeps)
        run = Simulation(builder.build(), options)
        for _ in range(20):
            run.advance_frame()
            position, orientation = run.poses()
            assert (position[1] + rotate(orientation[1], points))[:, 2].min() > -0.01 * 0.9


@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder"])
@pytest.mark.parametrize(("facets", "speed", "substeps"), [(16, 7.0, 1), (16, 3.0, 1), (16, 7.0, 4)])
def test_what_rolls_in_a_gutter_of_flat_strips_does_not_sink_into_the_next_one(kind, facets, speed, substeps):
    """Lengthwise a roller, or a ball, up to half its size a substep: it sank by up to 0.07 of its size."""
    angles = np.linspace(-np.pi, 0.0, facets + 1)
    corners = np.array([(np.cos(angle), y, np.sin(angle)) for angle in angles for y in (-1.0, 1.0)])
    quads = np.array([[(a, a + 1, a + 3), (a, a + 3, a + 2)] for a in range(0, 2 * facets, 2)])
    middles = 0.5 * (angles[1:] + angles[:-1])
    normals = -np.stack([np.cos(middles), 0.0 * middles, np.sin(middles)], axis=1)
    apothem, radius = np.cos(0.5 * np.pi / facets), 0.3
    shape = {"sphere": Sphere(radius), "capsule": Capsule(radius, 0.25), "cylinder": Cylinder(radius, 0.25)}[kind]
    roller = {
        "shape": shape,
        "position": (0.0, 0.0, 0.05 + radius - apothem),
        "orientation": (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0),
        "linear_velocity": (speed, 0.0, 0.0),
    }
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    for body in (static(TriangleMesh(corners, quads.reshape(-1, 3))), roller):
        builder.add_body(**body)
    options = SimulationOptions(method="nncg", frame_rate=24.0, substeps=substeps, max_substeps=substeps)
    run = Simulation(builder.build(), options)
    for _ in range(24):
        run.advance_frame()
        position, orientation = run.poses()
        if position[1, 2] > 0.0:
            break  # it has left the gutter
        axis = rotate(orientation[1], np.array([(0.0, 0.0, 1.0)]))[0]
        along = np.abs(normals @ axis)
        reach = {
            "sphere": radius,
            "capsule": radius + 0.25 * along,
            "cylinder": radius * np.sqrt(1.0 - along**2) + 0.25 * along,
        }[kind]
        assert (normals @ position[1] + apothem - reach).min() > -0.005 * 2.0 * radius


@pytest.mark.parametrize("kind", ["box", "hull"])
@pytest.mark.parametrize(("roll", "yaw", "substeps"), [(0.05, 0.3, 4), (0.1, 0.2, 2), (0.03, -0.4, 1)])
def test_what_is_laid_askew_on_two_ridges_comes_to_rest_on_them(kind, roll, yaw, substeps):
    """Its face lies along both ridges: with a contact at one end of each at a time it would rock, and sink in."""
    profile = [(-1.0, -0.75), (-0.25, 0.0), (0.0, -0.25), (0.25, 0.0), (1.0, -0.75)]
    corners = np.array([(x, y, z) for x, z in profile for y in (-1.0, 1.0)])
    quads = np.array([[(a, a + 2, a + 3), (a, a + 3, a + 1)] for a in range(0, 8, 2)])
    half_extents = (0.4, 0.3, 0.1)
    box = {
        "shape": Box(half_extents) if kind == "box" else ConvexHull.from_box(half_extents),
        "position": (0.02, 0.03, 0.1 + 0.4 * roll),
        "orientation": np.array(
            [
                np.cos(0.5 * yaw) * np.cos(0.5 * roll),
                np.cos(0.5 * yaw) * np.sin(0.5 * roll),
                np.sin(0.5 * yaw) * np.sin(0.5 * roll),
                np.sin(0.5 * yaw) * np.cos(0.5 * roll),
            ]
        ),
        "friction": 0.8,
    }
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    for body in (static(TriangleMesh(corners, quads.reshape(-1, 3))), box):
        builder.add_body(**body)
    options = SimulationOptions(method="nncg", sleeping=False, frame_rate=24.0, substeps=substeps)
    run = Simulation(builder.build(), options)
    for frame in range(24):
        deepest = run.advance_frame().max_penetration
        assert frame < 6 or (deepest < 1e-4 and np.abs(run.state.velocity[1]).max() < 1e-4)
    assert np.isclose(run.poses()[0][1, 2], 0.1, atol=1e-4)


def rotate(quaternion, vectors):
    """Vectors [n, 3] turned by a unit quaternion (w, x, y, z)."""
    w, axis = quaternion[0], quaternion[1:]
    once = np.cross(axis, vectors)
    return vectors + 2.0 * (w * once + np.cross(axis, once))


@pytest.mark.parametrize("height", [0.0, 0.3, 0.95])
def test_a_fast_ball_does_not_pass_a_thin_wall(height):
    """A 2 cm ball at 100 m/s, a closed wall of 1 cm and a single sheet, 24 fps and 4 substeps."""
    sheet = np.array([(0, -1, -1), (0, 1, -1), (0, 1, 1), (0, -1, 1)], float), np.array([(0, 1, 2), (0, 2, 3)])
    for wall, thickness in ((box_mesh((0.005, 1.0, 1.0)), 0.005), (sheet, 0.0)):
        ball = {"shape": Sphere(0.01), "position": (-3.3, height, 0.0), "linear_velocity": (100.0, 0.0, 0.0)}
        positions, _ = play([static(TriangleMesh(*wall)), ball], 6, gravity=(0.0, 0.0, 0.0))
        assert positions[:, 1, 0].max() <= -thickness - 0.01 + 1e-9
        # ... and one that flies by is not stopped.
        ball = ball | {"position": (-3.3, 1.02, 0.0)}
        positions, run = play([static(TriangleMesh(*wall)), ball], 6, gravity=(0.0, 0.0, 0.0))
        np.testing.assert_allclose(run.velocities()[1, 0], 100.0)


def test_a_thin_plate_does_not_fall_through():
    """1 m wide and 1 mm thick, from 2 m; and pressed by a weight ten thousand times its own it stays above."""
    plate = {"shape": Box((0.5, 0.5, 0.0005)), "mass": 0.1}
    positions, _ = play([static(flat_floor()), plate | {"position": (0.1, 0.2, 2.0)}], 60)
    assert abs(positions[-1, 1, 2] - 0.0005) < 1e-5
    assert positions[:, 1, 2].min() > 0.0
    weight = {"shape": Box((0.4, 0.4, 0.4)), "position": (0.1, 0.2, 0.402), "mass": 1000.0}
    positions, _ = play([static(flat_floor()), plate | {"position": (0.1, 0.2, 0.0005)}, weight], 60)
    assert positions[-1, 1, 2] > -0.0005
    assert positions[-1, 2, 2] > 0.39


def test_a_kinematic_mesh_carries_what_stands_on_it():
    """A lift that turns: the box goes with it, as on a box of the same form."""
    form = (1.0, 1.0, 0.1), (0.0, 0.0, -0.1)
    ends = []
    for table in (TriangleMesh(*box_mesh(*form)), Box(form[0], position=form[1])):
        box = {"shape": Box((0.2, 0.2, 0.2)), "position": (0.5, 0.0, 0.2), "friction": 1.0}
        run = simulation([{"shape": table, "kind": BodyKind.KINEMATIC, "friction": 1.0}, box])
        for frame in range(1, 49):
            angle = 0.5 * np.radians(90.0) * (frame / 48.0) ** 2
            run.advance_frame(
                FrameInput(
                    position=np.array([(0.0, 0.0, 0.5 * (frame / 48.0) ** 2), (0.0, 0.0, 0.0)]),
                    orientation=np.array([(np.cos(angle), 0.0, 0.0, np.sin(angle)), (1.0, 0.0, 0.0, 0.0)]),
                )
            )
        ends.append(run.poses()[0][1])
    np.testing.assert_allclose(ends[0], (0.0, 0.5, 0.7), atol=0.01)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)


def test_a_mesh_body_cannot_become_dynamic():
    """The frame's input is refused, with the remedy."""
    run = simulation([static(flat_floor()), {"shape": Sphere(0.2), "position": (0.0, 0.0, 1.0)}])
    with pytest.raises(ValueError, match="shape is a mesh"):
        run.advance_frame(FrameInput(kind=np.array([BodyKind.DYNAMIC, BodyKind.DYNAMIC])))
