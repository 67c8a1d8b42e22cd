"""Capsules, cylinders and cones on triangle meshes: as on the box or hull that the mesh is, and no seam is felt."""

import numpy as np
import pytest
from reference_collision import Collider, about, collide
from reference_round import separations
from test_rolling import GRAVITY, OPTIONS

from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.simulation import Simulation

IDENTITY = (1.0, 0.0, 0.0, 0.0)
SIDEWAYS = about((1, 0, 0), np.pi / 2)


def flat_grid(size, cells):
    """A square of triangles, its diagonals this way and that."""
    steps = np.linspace(-size, size, cells + 1)
    vertices = np.array([(x, y, 0.0) for x in steps for y in steps])
    triangles = []
    for i in range(cells):
        for j in range(cells):
            a, b = i * (cells + 1) + j, (i + 1) * (cells + 1) + j
            if (i + j) % 2:
                triangles += [(a, b, b + 1), (a, b + 1, a + 1)]
            else:
                triangles += [(a, b, a + 1), (b, b + 1, a + 1)]
    return TriangleMesh(vertices, np.array(triangles))


def mesh_of(hull):
    """The surface of a convex hull as triangles."""
    triangles = [(loop[0], loop[i], loop[i + 1]) for loop in hull.loops for i in range(1, len(loop) - 1)]
    return TriangleMesh(hull.vertices, np.array(triangles))


def touch_mesh(mesh, shape, pose):
    """Contacts of a shape with a static mesh."""
    bodies = [{"shape": mesh, "kind": BodyKind.STATIC}, {"shape": shape, "position": pose[0], "orientation": pose[1]}]
    return Collider(bodies).step().manifold()


@pytest.mark.parametrize(
    ("shape", "ratio"),
    [(Cylinder(0.5, 0.5), 0.5), (Capsule(0.5, 0.5), (0.5 + 2 / 3 * 0.4) / (1 + 2 / 3))],
    ids=["cylinder", "capsule"],
)
def test_a_body_rolls_over_seams_as_over_a_plane(shape, ratio):
    """g sin(a) / (1 + I / (m r^2)) within 0.1 %, and straight on."""
    slope = 0.2
    builder = ModelBuilder(gravity=(GRAVITY * np.sin(slope), 0.0, -GRAVITY * np.cos(slope)))
    builder.add_body(shape=flat_grid(6.0, 23), kind=BodyKind.STATIC, friction=0.9)
    builder.add_body(shape=shape, position=(-4.03, 0.11, 0.5), orientation=SIDEWAYS, friction=0.9)
    simulation = Simulation(builder.build(), OPTIONS)
    velocities = []
    for _ in range(48):
        simulation.advance_frame()
        velocities.append(simulation.velocities()[1])
    velocities = np.array(velocities)
    acceleration = 24.0 * (velocities[-1, 0] - velocities[11, 0]) / 36.0
    assert acceleration == pytest.approx(GRAVITY * np.sin(slope) / (1.0 + ratio), rel=1e-3)
    assert np.abs(velocities[:, [1, 2, 3, 5]]).max() < 1e-3 * velocities[-1, 0]


@pytest.mark.parametrize("kind", ["box", "hull"])
def test_a_convex_mesh_touches_as_the_hull_does(kind):
    """Apart, down to touching: the gap is that of the pair with the hull, and a normal proves it."""
    rng = np.random.default_rng(3)
    still, found = ((0, 0, 0), IDENTITY), 0
    for case in range(60):
        hull = ConvexHull.from_box(rng.uniform(0.3, 1.0, 3))
        if kind == "hull":
            hull = ConvexHull.from_points(rng.normal(size=(12, 3)) * rng.uniform(0.4, 1.0, 3))
        shape = (Capsule, Cylinder, Cone)[case % 3](*rng.uniform(0.1, 0.6, 2))
        place, turn = 2.0 * rng.normal(size=3), rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        far = collide(hull, shape, still, (place, turn), reach=20.0)
        if len(far.gap) == 0 or far.gap.min() < 0.1:
            continue
        # Moved along the line between their closest points they come as near as is asked for.
        target = (1e-3, 1e-5, 1e-7)[case // 3 % 3]
        placed = (place + (target - far.gap.min()) * far.normal[0], turn)
        size = min(hull.size, shape.size)
        with_mesh, with_hull = touch_mesh(mesh_of(hull), shape, placed), collide(hull, shape, still, placed)
        assert len(with_mesh.gap) > 0, case
        deepest = np.argmin(with_mesh.gap)
        assert with_mesh.gap[deepest] == pytest.approx(target, abs=1e-6 * size), case
        assert with_hull.gap.min() == pytest.approx(target, abs=1e-6 * size), case
        # A face that an edge bounds may be touched as well, by what is beside it by less than RATIO_CLIP.
        proven = separations(hull, still, shape, placed, with_mesh.normal).max()
        assert proven == pytest.approx(target, abs=1e-6 * size), case
        found += 1
    assert found > 40


def test_a_can_stands_on_the_triangles_of_a_box():
    """Eight points around the rim at most, none off it, none deeper than the surface."""
    box = mesh_of(ConvexHull.from_box((1.0, 1.0, 0.5)))
    builder = ModelBuilder()
    builder.add_body(shape=box, kind=BodyKind.STATIC)
    builder.add_body(shape=Cylinder(0.4, 0.5), position=(0.1, 0.2, 1.0))
    simulation = Simulation(builder.build(), OPTIONS)
    for _ in range(120):
        simulation.advance_frame()
    np.testing.assert_allclose(simulation.state.position[1], (0.1, 0.2, 1.0), atol=1e-5)


def test_a_wheel_on_the_edge_of_a_mesh_touches_the_edge():
    """Over the rim of a table of triangles: one contact at the edge, towards the axis."""
    table = mesh_of(ConvexHull.from_box((1.0, 1.0, 0.5)))
    towards = np.array([0.6, 0.0, 0.8])
    place = np.array([1.0, 0.0, 0.5]) + 0.5 * towards
    manifold = touch_mesh(table, Cylinder(0.5, 0.2), (place, SIDEWAYS))
    assert len(manifold.gap) == 2
    np.testing.assert_allclose(manifold.gap, 0.0, atol=1e-9)
    np.testing.assert_allclose(manifold.normal, [towards] * 2, atol=1e-5)
    np.testing.assert_allclose(np.sort(manifold.position[:, 1]), (-0.2, 0.2), atol=1e-6)
