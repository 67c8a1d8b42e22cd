"""Deep in closed meshes: whatever touches one of its triangles and has its centre inside is led out, by one way.

Centres lie where several ways are equally near: in the middle, on diagonals, behind seams and hollow edges, and on the
surface itself, on its edges and corners.
"""

import itertools

import numpy as np
import pytest
from concave_meshes import prism, torus
from nightly import in_turns
from reference_collision import about, rotation
from reference_round import highest
from sample_meshes import box_mesh, divided, grid_mesh, hull_mesh
from test_mesh_pairs import PLANKS
from test_mesh_properties import touch
from test_round_contacts import product, scaled
from test_round_pairs import KINDS, random_shape

from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

pytestmark = pytest.mark.one_python

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
TETRAHEDRON = ConvexHull.from_points(np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1.0)]))
# An L whose hollow edge is the z axis, star-shaped about it; it reaches from z = 0 to 6.
ANGLE = prism(np.array([(0, 0), (0, 2), (-2, 2), (-2, -2), (2, -2), (2, 0)], float), 6.0)
CONVEX = {
    "cube": box_mesh((1.0, 1.0, 1.0)),
    "plate": box_mesh((1.0, 1.0, 0.1)),
    "tetrahedron": hull_mesh(TETRAHEDRON),
}
CLOSED = CONVEX | {"angle": ANGLE, "torus": torus(1.0, 0.4, 12, 8)}
THIN_PLATE = divided(*box_mesh((1.5, 1.5, 0.04)), 5)
PLACES = ["middle", "diagonal", "near a corner", "behind an edge", "behind a seam", "corner", "edge", "seam"]


def place_in(name, place):
    """A point in or on a mesh."""
    vertices, triangles = CLOSED[name]
    middle = {"angle": np.array([-1.0, -1.0, 3.0]), "torus": np.array([1.0, 0.0, 0.0])}.get(name, vertices.mean(axis=0))
    corner, after, last = vertices[triangles[0]]
    if name == "angle":
        # The hollow edge, and the seam at its top.
        corner, after, last = np.array([0.0, 0.0, 6.0]), np.array([0.0, 0.0, 0.0]), np.array([-2.0, -2.0, 6.0])
    points = {
        "corner": corner,
        "edge": 0.5 * (corner + after),
        "seam": 0.5 * (corner + last),
        "diagonal": 0.5 * (middle + corner),
        "near a corner": 0.1 * middle + 0.9 * corner,
        "behind an edge": 0.3 * middle + 0.35 * (corner + after),
        "behind a seam": 0.3 * middle + 0.35 * (corner + last),
    }
    return points.get(place, middle)


def distance_from(vertices, triangles, point):
    """Of a point from all triangles: from their planes, where it lies over them, and from their edges [m]."""
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    is_over, nearest = np.ones(len(a), bool), np.inf
    for tail, head in ((a, b), (b, c), (c, a)):
        side, arm = head - tail, point - tail
        is_over &= np.einsum("ni,ni->n", np.cross(side, arm), normals) >= 0.0
        share = np.clip(np.einsum("ni,ni->n", arm, side) / np.einsum("ni,ni->n", side, side), 0.0, 1.0)
        nearest = min(nearest, np.linalg.norm(arm - share[:, None] * side, axis=1).min())
    heights = np.abs(np.einsum("ni,ni->n", point - a, normals))
    return min(nearest, heights[is_over].min(initial=np.inf))


def shape_over(rng, kind, radius):
    """A shape of some kind that holds a ball of that radius about its middle, and its place that puts that at 0."""
    shape = random_shape(rng, kind)
    directions = rng.normal(size=(400, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    inner = (highest(shape, directions) - directions @ np.asarray(shape.position, float)).min()
    # reaching out by little, it may be in a room
    return scaled(shape, 2.0 * radius / inner)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CLOSED)
def test_a_ball_is_pushed_out_by_the_nearest_place(name, place):
    """Depth |p - c| + r for the nearest place p of the surface, along p - c; exact in every mesh."""
    vertices, triangles = CLOSED[name]
    center = place_in(name, place)
    distance = distance_from(vertices, triangles, center)
    for factor in (1.2, 1.5, 4.0):  # reaching out by less, a ball may be in a room
        radius = max(factor * distance, 0.05 * factor)
        contacts = touch(vertices, triangles, Sphere(radius), (center, IDENTITY))
        assert len(contacts.gap) > 0, factor
        depths = -contacts.gap
        assert depths.max() == pytest.approx(distance + radius, abs=1e-9), factor
        deepest = depths > depths.max() - 1e-9
        if distance > 1e-9:
            # One of the equally near places.
            reached = center + contacts.normal[deepest] * distance
            assert min(distance_from(vertices, triangles, point) for point in reached) < 1e-9, factor


@pytest.mark.parametrize(("kind", "name", "place"), in_turns(itertools.product(KINDS, CLOSED), PLACES, 3))
def test_every_shape_that_holds_the_nearest_place_is_pushed_out(kind, name, place):
    """Turned at random and not at all; contacts overlap, and from inside of a convex mesh one leads all the way out.

    Along its normal n, by its depth d: the shape moved by d n lies beyond all of the mesh.
    """
    rng = np.random.default_rng(len(kind) + 10 * len(name) + 100 * len(place))
    vertices, triangles = CLOSED[name]
    center = place_in(name, place)
    distance = distance_from(vertices, triangles, center)
    size = np.ptp(vertices, axis=0).max()
    for case in range(3):
        shape = shape_over(rng, kind, max(distance, 0.03 * size))
        turn = rng.normal(size=4) if case else IDENTITY
        turn = turn / np.linalg.norm(turn)
        position = center - rotation(turn) @ np.asarray(shape.position, float)
        contacts = touch(vertices, triangles, shape, (position, turn))
        assert len(contacts.gap) > 0, case
        assert contacts.gap.min() < -1e-3 * size, (case, contacts.gap)
        assert np.all(np.isfinite(contacts.position)), case
        if name in CONVEX and distance > 1e-9:
            local = contacts.normal @ rotation(turn)
            lowest = contacts.normal @ position - highest(shape, -local)
            beyond = lowest - (contacts.normal @ vertices.T).max(axis=1)
            leads_out = contacts.gap <= beyond + 1e-9 * size
            assert leads_out.any(), (case, contacts.gap, beyond)
            # No contact opposes it.
            assert (contacts.normal @ contacts.normal[leads_out].T).max(axis=1).min() >= -1e-12, case


@pytest.mark.parametrize("kind", KINDS)
def test_what_reaches_out_of_a_closed_box_by_little_is_kept_in(kind):
    """Shapes turned at random that stand in its floor by a share of their size; from a twentieth on they go out."""
    rng, room = np.random.default_rng(len(kind)), box_mesh((3.0, 3.0, 3.0))
    looked_at = 0
    for _ in range(8):
        shape = random_shape(rng, kind)
        shape = scaled(shape, 1.0 / shape.size)
        turn = rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        lowest = highest(shape, np.array([(0.0, 0.0, -1.0)]) @ rotation(turn))[0]
        for share in (0.0, 0.02, 0.04, 0.08, 0.25):
            position = np.array([*rng.uniform(-1.0, 1.0, 2), lowest - 3.0 - share])
            if (position + rotation(turn) @ np.asarray(shape.position, float))[2] < -3.0 + 0.06:
                # its middle is hardly inside
                continue
            contacts = touch(*room, shape, (position, turn))
            assert (contacts.normal[contacts.gap.argmin(), 2] > 0.5) == (share < 0.05), (share, contacts.normal)
            looked_at += 1
    assert looked_at >= 25


@pytest.mark.parametrize(
    "shape",
    [Capsule(0.1, 1.2), Cylinder(0.1, 1.2), Box((0.1, 0.1, 1.2))],
    ids=["capsule", "cylinder", "box"],
)
def test_a_rod_through_a_cube_leaves_across_itself(shape):
    """It pokes out at both ends; the way out along itself is longer than the one across."""
    contacts = touch(*CONVEX["cube"], shape, (np.zeros(3), IDENTITY))
    assert contacts.gap.min() == pytest.approx(-1.1, abs=1e-9)
    assert np.abs(contacts.normal[contacts.gap.argmin()] @ (0, 0, 1)) < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_what_lies_wholly_inside_is_in_a_room(kind):
    """Without touching the walls: nothing pushes but walls that are near, and those inwards."""
    rng = np.random.default_rng(2)
    for case in range(8):
        shape, turn = random_shape(rng, kind), rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        directions = np.concatenate([np.eye(3), -np.eye(3)])
        reach = highest(shape, directions @ rotation(turn))
        # The room fits it but for a thousandth: its bounding ball would poke out.
        upper, lower = reach[:3] + 1e-3, reach[3:] + 1e-3
        room = box_mesh(0.5 * (upper + lower), 0.5 * (upper - lower))
        contacts = touch(*room, shape, (np.zeros(3), turn))
        assert len(contacts.gap) > 0, case
        np.testing.assert_allclose(contacts.gap.min(), 1e-3, atol=1e-9, err_msg=str(case))
        towards = np.einsum("ij,ij->i", contacts.normal, contacts.position - 0.5 * (upper - lower))
        assert np.all(towards < 0.0), case


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_in_the_middle_of_a_cube_comes_out_slowly(kind):
    """Simulated: exactly in the middle, out within 10 s, and never at a speed that flings it."""
    rng = np.random.default_rng(1)
    shape = shape_over(rng, kind, 0.2)
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(shape=TriangleMesh(*box_mesh((0.2, 0.2, 0.2))), kind=BodyKind.STATIC)
    builder.add_body(shape=shape, position=-np.asarray(shape.position, float))
    simulation = Simulation(builder.build(), SimulationOptions(method="nncg", sleeping=False))
    fastest = 0.0
    for _ in range(240):
        report = simulation.advance_frame()
        fastest = max(fastest, np.linalg.norm(simulation.velocities()[1, :3]))
    assert report.max_penetration < 0.01 * shape.size
    assert fastest < 5.0


def test_a_held_ball_is_pushed_up_through_a_seam_of_an_open_floor():
    """Its centre has come below the floor, right behind a seam: what is nearest there is no face alone."""
    vertices, triangles = grid_mesh(2, 2.0)
    builder = ModelBuilder()
    builder.add_body(shape=TriangleMesh(vertices, triangles), kind=BodyKind.STATIC)
    ball = builder.add_body(shape=Sphere(0.1), position=(0.5, 0.5, 0.0999))
    simulation = Simulation(builder.build(), SimulationOptions(method="nncg", sleeping=False))
    simulation.advance_frame()
    state = simulation.state
    state.position[ball] = (0.5, 0.5, -0.02)
    state.velocity[ball] = 0.0
    for _ in range(96):
        simulation.advance_frame()
    assert simulation.state.position[ball, 2] > 0.095


def test_a_turned_rod_in_an_angle_is_pushed_out_of_the_hollow_edge():
    """Behind the hollow edge no face is nearest; the way out leads through the edge."""
    turn = about((1, 0, 0), 0.4)
    center = np.array([-0.2, -0.2, 3.0])
    contacts = touch(*ANGLE, Capsule(0.3, 0.4), (center, turn))
    deepest = contacts.gap.argmin()
    assert contacts.gap[deepest] < -0.3
    assert contacts.normal[deepest] @ (1.0, 1.0, 0.0) > 0.9


def slopes(x, y):
    """Gentle hills."""
    return 0.1 * np.sin(2.0 * x) * np.cos(1.7 * y)


def bowl(x, y):
    """The inside of a bowl."""
    return 0.12 * (x * x + y * y)


def dome(x, y):
    """The top of a large ball, about."""
    return -0.12 * (x * x + y * y)


def middle_of(shape):
    """What has to be above a mesh for it to push a shape up; in the shape's frame."""
    return shape.mass_properties().center if isinstance(shape, ConvexHull) else np.zeros(3)


def surface_points(shape, rng):
    """Points that are dense at the ends of a shape that is long along x, or of a round one, along z; own frame."""
    if isinstance(shape, Box):
        return shape.half_extents * np.array([[1 if i >> axis & 1 else -1 for axis in range(3)] for i in range(8)])
    if isinstance(shape, ConvexHull):
        return shape.vertices
    if isinstance(shape, Capsule):
        ways = rng.normal(size=(4000, 3))
        ways *= shape.radius / np.linalg.norm(ways, axis=1)[:, None]
        return ways + np.where(ways[:, 2:] > 0.0, shape.half_length, -shape.half_length) * (0.0, 0.0, 1.0)
    angles, ends = rng.uniform(0.0, 2.0 * np.pi, 1000), rng.choice([-1.0, 1.0], 1000)
    radii = np.where((ends > 0.0) & isinstance(shape, Cone), 0.0, shape.radius)
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles), shape.half_height * ends])


@pytest.mark.parametrize("height", [slopes, bowl, dome])
@pytest.mark.parametrize("plank", PLANKS.values(), ids=PLANKS)
def test_a_plank_deep_in_curved_ground_is_as_deep_as_its_deepest_point(plank, height):
    """Beside dense samples of its ends: the greatest distance of those below the ground from its small triangles.

    The corner of a box or hull that is found is lowest along its own way out; another one may be deeper. Contacts along
    normals of other triangles than the nearest count as right up to a ratio of 0.9.
    """
    rng = np.random.default_rng(11)
    points = surface_points(plank, rng)
    for case in range(6):
        vertices, triangles = grid_mesh(60, 4.0, height=height, rng=rng)
        turn = product(about((0, 0, 1), rng.uniform(0.0, 2.0 * np.pi)), about((0, 1, 0), rng.uniform(0.4, 1.2)))
        if isinstance(plank, Capsule | Cylinder | Cone):
            turn = product(turn, about((0, 1, 0), 0.5 * np.pi))
        axes, place = rotation(turn), rng.uniform(-0.4, 0.4, 2)
        position = np.array([*place, height(*place) + rng.uniform(0.03, 0.1)]) - axes @ middle_of(plank)
        placed = position + points @ axes.T
        heights = placed[:, 2] - height(placed[:, 0], placed[:, 1])
        lowest = placed[np.argsort(heights)[: min(40, np.count_nonzero(heights < 0.0))]]
        deepest = max(distance_from(vertices, triangles, point) for point in lowest)
        contacts = touch(vertices, triangles, plank, (position, turn))
        assert deepest > 0.05, case
        assert 0.9 * deepest <= -contacts.gap.min() <= deepest / 0.9, (case, deepest, contacts.gap.min())
        if isinstance(plank, Capsule | Cylinder | Cone):
            assert -contacts.gap.min() == pytest.approx(deepest, rel=1e-3), case


@pytest.mark.parametrize("plank", PLANKS.values(), ids=PLANKS)
def test_a_plank_through_a_thin_plate_of_small_triangles_is_led_back(plank):
    """Its end is out again on the other side, in nothing; where that alone holds it, it is led up and not on."""
    vertices, triangles = THIN_PLATE
    for tilt in (0.5, 0.9, 1.2):
        turn = about((0.1, 1.0, 0.0), tilt)
        if isinstance(plank, Capsule | Cylinder | Cone):
            turn = product(turn, about((0, 1, 0), 0.5 * np.pi))
        position = (0.03, 0.02, 0.12) - rotation(turn) @ middle_of(plank)
        contacts = touch(vertices, triangles, plank, (position, turn))
        assert contacts.gap.min() < -1e-3, tilt
        assert contacts.normal[contacts.gap.argmin()] @ (0, 0, 1) > 0.99, tilt
        # Beyond the plate nothing is deeper than the plate is thick, unless it alone holds.
        assert (contacts.gap < 0.0).sum() == 1 or contacts.gap.min() >= -0.2, (tilt, contacts.gap)
