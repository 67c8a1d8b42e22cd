"""Collision shapes as triangles: closed, as large as the shapes are, in place, and within their budget."""

import numpy as np
import pytest

from cairn.addon.sight import shape_surfaces
from cairn.addon.sight.shape_surfaces import KIND_COLOURS, PART_COLOURS, surface_of
from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.compound import Compound
from cairn.solver_core.model.model import BodyKind

CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-1.0, 1.0) for z in (-0.25, 0.25)])
TURN = rotations.from_rotation_vector(np.array([0.3, -0.5, 0.8]))
SHAPES = {
    "box": Box([0.5, 1.0, 0.25], [0.1, 0.2, 0.3], TURN),
    "hull": ConvexHull.from_points(CORNERS @ rotations.matrix(TURN).T),
    "sphere": Sphere(0.7),
    "capsule": Capsule(0.3, 0.5, [0.0, 0.0, 0.2], TURN),
    "cylinder": Cylinder(0.4, 0.6, [0.0, 0.1, 0.0], TURN),
    "cone": Cone(0.5, 0.8, [0.0, 0.0, 0.3], TURN),
}


def model_of(shapes, kinds=None):
    builder = ModelBuilder()
    for number, shape in enumerate(shapes):
        kind = kinds[number] if kinds else BodyKind.DYNAMIC
        builder.add_body(name=f"Body {number}", shape=shape, mass=1.0, kind=kind, position=[3.0 * number, 0.0, 0.0])
    return builder.build()


def in_world(model, surface):
    body = surface.place[:, 3].astype(int)
    state = model.initial_state
    return state.position[body] + rotations.rotate(state.orientation[body], surface.place[:, :3].astype(float))


def volume(vertices, triangles):
    a, b, c = vertices[triangles].swapaxes(0, 1)
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_closed_and_as_large_as_it_is(name):
    """Each edge of two triangles, run both ways; the volume of the closed form, of round shapes a little less."""
    shape = SHAPES[name]
    surface = surface_of(model_of([shape]))
    directed = surface.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    # the two halves of balls have a ring each at their equator
    _, same = np.unique(np.round(surface.place[:, :3], 5), axis=0, return_inverse=True)
    directed = same.ravel()[directed]
    directed = directed[directed[:, 0] != directed[:, 1]]
    there, back = ({tuple(edge) for edge in edges} for edges in (directed, directed[:, ::-1]))
    assert there == back
    share = 1.0 if name in ("box", "hull") else 0.95
    found, exact = volume(surface.place[:, :3].astype(float), surface.triangles), shape.mass_properties().volume
    assert share * exact * 0.98 <= found <= exact * (1.0 + 1e-5)


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_where_it_is_simulated(name):
    """Within the bounding box of the shape in the user frame, which it reaches; the body's own frame is another one."""
    model = model_of([SHAPES[name]])
    vertices = in_world(model, surface_of(model))
    lower, upper = SHAPES[name].bounding_box()
    assert vertices.min(axis=0) == pytest.approx(lower, abs=0.03)
    assert vertices.max(axis=0) == pytest.approx(upper, abs=0.03)


def test_many_bodies_are_one_surface_that_names_them():
    model = model_of(SHAPES.values())
    surface = surface_of(model)
    vertices, body = in_world(model, surface), surface.place[:, 3]
    assert sorted(set(body)) == list(range(len(SHAPES)))
    for number, shape in enumerate(SHAPES.values()):
        lower, upper = shape.bounding_box()
        own = vertices[body == number] - [3.0 * number, 0.0, 0.0]
        assert own.min(axis=0) == pytest.approx(lower, abs=0.03)
        assert own.max(axis=0) == pytest.approx(upper, abs=0.03)
    assert surface.triangles.max() < len(vertices)
    of_triangle = body[surface.triangles]
    assert (of_triangle == of_triangle[:, :1]).all()
    assert surface.boxed == 0


def test_hulls_that_differ_are_each_their_own():
    """Of as many corners as they have, some of them twice: each closed, with its volume."""
    rng = np.random.default_rng(5)
    hulls = [ConvexHull.from_points(rng.normal(size=(count, 3))) for count in (4, 9, 30)]
    model = model_of([hulls[0], SHAPES["box"], hulls[1], hulls[2], hulls[0]])
    surface = surface_of(model)
    body = surface.place[:, 3].astype(int)
    for number, hull in ((0, hulls[0]), (2, hulls[1]), (3, hulls[2]), (4, hulls[0])):
        own = surface.triangles[body[surface.triangles[:, 0]] == number]
        assert (body[own] == number).all()
        found = volume(surface.place[:, :3].astype(float), own)
        assert found == pytest.approx(hull.mass_properties().volume, rel=1e-5)
        edges = surface.edges[body[surface.edges[:, 0]] == number]
        assert len(edges) == len(hull.edges)
        lengths = np.linalg.norm(np.diff(surface.place[edges][:, :, :3].astype(float), axis=1)[:, 0], axis=1)
        exact = np.linalg.norm(np.diff(hull.vertices[hull.edges], axis=1)[:, 0], axis=1)
        assert np.sort(lengths) == pytest.approx(np.sort(exact), rel=1e-4)


def test_a_mesh_has_its_own_triangles():
    points = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 1]], float)
    model = model_of([TriangleMesh(points, [[0, 1, 2], [0, 2, 3]])], [BodyKind.STATIC])
    surface = surface_of(model)
    assert len(surface.triangles) == 2
    assert len(surface.edges) == 5
    found = in_world(model, surface)
    assert sorted(map(tuple, np.round(found, 5))) == sorted(map(tuple, points))


def test_colours_tell_parts_and_ways_of_moving():
    parts = Compound([Box([0.2, 0.2, 0.2]), Box([0.2, 0.2, 0.2], [1.0, 0, 0]), Sphere(0.3, [2.0, 0, 0])])
    kinds = [BodyKind.DYNAMIC, BodyKind.STATIC, BodyKind.KINEMATIC, BodyKind.DYNAMIC]
    model = model_of([Box([1, 1, 1]), Box([1, 1, 1]), Box([1, 1, 1]), parts], kinds)
    colours = shape_surfaces.colours_of(model)
    assert colours[:3] == pytest.approx(KIND_COLOURS[[2, 0, 1]])
    assert colours[3:] == pytest.approx(PART_COLOURS[:3])


def test_beyond_the_budget_the_largest_shapes_are_boxes():
    """Those with most vertices, in their bounding boxes; the others stay what they are."""
    angle = 2.0 * np.pi * np.arange(52) / 52
    ring = np.column_stack([np.cos(angle), 2.0 * np.sin(angle)])
    drum = ConvexHull.from_points(np.vstack([np.column_stack([ring, np.full(52, z)]) for z in (-1.0, 1.0)]))
    model = model_of([Box([0.5, 0.5, 0.5]), drum, SHAPES["hull"]])
    assert len(surface_of(model).place) == 8 + 104 + 8
    surface = surface_of(model, most_vertices=30)
    assert (surface.boxed, len(surface.place)) == (1, 24)
    vertices = in_world(model, surface)[surface.place[:, 3] == 1] - [3.0, 0.0, 0.0]
    assert vertices.max(axis=0) == pytest.approx([1.0, 2.0, 1.0], abs=1e-3)
    assert volume(surface.place[:8, :3].astype(float), surface.triangles[:12]) == pytest.approx(1.0)


@pytest.mark.parametrize("name", SHAPES)
def test_any_shape_has_a_box(name):
    model = model_of([SHAPES[name]])
    assert len(surface_of(model, most_vertices=1).place) == 8
    lower, upper = SHAPES[name].bounding_box()
    vertices = in_world(model, surface_of(model, most_vertices=1))
    assert (vertices.min(axis=0) <= lower + 1e-3).all()
    assert (vertices.max(axis=0) >= upper - 1e-3).all()
