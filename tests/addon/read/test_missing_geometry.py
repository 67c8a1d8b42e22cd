"""Meshes without vertices, faces or a size: every one bakes, as what Blender would take instead, and a note says so."""

import numpy as np
import pytest
from scene_maker import CUBE_CORNERS, model_points, same_points

import cairn
from cairn.addon.read.early_notes import early_notes
from cairn.addon.read.scene_export import export_scene

LINE = [(-1, 0, 0), (1, 0, 0)]
SLANTED_LINE = [(0, 0, 0), (1, 2, 2), (0.5, 1, 1)]
CORNER = [(0, 0, 0), (2, 0, 0), (0, 3, 0), (0, 0, 4)]
BOX_OF_CORNER = [(x, y, z) for x in (0, 2) for y in (0, 3) for z in (0, 4)]
CORNERED = ["BOX", "CONVEX_HULL", "MESH", "COMPOUND"]


def texts(export, name="Bad"):
    return [note.text for note in export.notes if note.object_name == name]


def bounds_of_round(export, name="Bad"):
    """Parameters of the body's only shape."""
    shapes = export.model.arrays.shapes
    (row,) = np.flatnonzero(shapes.body == export.model.names.index(name))
    return shapes.parameters[row]


@pytest.mark.parametrize("kind", CORNERED)
@pytest.mark.parametrize("type_", ["ACTIVE", "PASSIVE"])
def test_no_vertices_give_a_cube_of_side_one(maker, kind, type_):
    maker.body("Bad", data=maker.mesh([], []), shape=kind, type=type_, scale=(2, 1, 1), location=(0, 0, 3))
    export = export_scene(maker.scene)
    assert same_points(model_points(export, "Bad"), np.array(CUBE_CORNERS) * (2, 1, 1) + (0, 0, 3), 1e-6)
    assert any("has no vertices" in text for text in texts(export))


@pytest.mark.parametrize(
    ("kind", "sizes"), [("SPHERE", [0.5]), ("CAPSULE", [0.5, 0.0]), ("CYLINDER", [0.5, 0.5]), ("CONE", [0.5, 0.5])]
)
def test_round_shapes_without_vertices(maker, kind, sizes):
    """Radius and half height as Bullet has them: measured by where each comes to rest in Blender (5.0 and 5.2)."""
    maker.body("Bad", data=maker.mesh([], []), shape=kind)
    export = export_scene(maker.scene)
    assert bounds_of_round(export)[: len(sizes)] == pytest.approx(sizes)
    assert any("has no vertices" in text for text in texts(export))


@pytest.mark.parametrize("type_", ["ACTIVE", "PASSIVE"])
def test_a_mesh_without_faces_is_its_bounding_box(maker, type_):
    maker.body("Bad", data=maker.mesh(CORNER, []), shape="MESH", type=type_)
    export = export_scene(maker.scene)
    assert same_points(model_points(export, "Bad"), BOX_OF_CORNER, 1e-6)
    assert any("has no faces: simulated as its bounding box" in text for text in texts(export))


@pytest.mark.parametrize(("kind", "corners"), [("CONVEX_HULL", CORNER), ("BOX", BOX_OF_CORNER)])
def test_hulls_and_boxes_need_no_faces(maker, kind, corners):
    maker.body("Bad", data=maker.mesh(CORNER, []), shape=kind)
    export = export_scene(maker.scene)
    assert same_points(model_points(export, "Bad"), corners, 1e-6)
    assert not any("faces" in text for text in texts(export))


@pytest.mark.parametrize("kind", [*CORNERED, "SPHERE", "CAPSULE", "CYLINDER", "CONE"])
@pytest.mark.parametrize("type_", ["ACTIVE", "PASSIVE"])
@pytest.mark.parametrize("points", [[], [(1, 1, 1)], LINE, SLANTED_LINE, CORNER], ids=len)
def test_every_one_is_read(maker, kind, type_, points):
    """Whatever the shape: the body has a size, and a mass that it can be turned with."""
    maker.body("Bad", data=maker.mesh(points, []), shape=kind, type=type_)
    arrays = export_scene(maker.scene).model.arrays
    assert np.all((arrays.size > 0.0) & np.isfinite(arrays.size))
    assert np.all((arrays.inertia > 0.0) & np.isfinite(arrays.inertia))


@pytest.mark.parametrize("kind", ["CONVEX_HULL", "MESH", "BOX"])
def test_a_line_is_a_thin_rod(maker, kind):
    faces = [(0, 1, 2)]
    maker.body("Bad", data=maker.mesh([(0, 0, 0), (1, 0, 0), (2, 0, 0)], faces), shape=kind)
    export = export_scene(maker.scene)
    assert np.ptp(model_points(export, "Bad"), axis=0) == pytest.approx([2, 0.01, 0.01], rel=0.05)
    assert "is a line: simulated as a rod 0.01 thick" in texts(export)


def test_a_slanted_line_is_a_rod_along_it(maker):
    maker.body("Bad", data=maker.mesh(SLANTED_LINE, []))
    points = model_points(export_scene(maker.scene), "Bad")
    direction = np.array([1, 2, 2]) / 3
    assert np.ptp(points @ direction) == pytest.approx(3.0, rel=1e-6)
    across = points - np.outer(points @ direction, direction)
    assert np.linalg.norm(across, axis=1).max() == pytest.approx(0.5 * 2**0.5 * 3 / 200, rel=1e-5)


@pytest.mark.parametrize(("margin", "radius"), [(None, 0.04), (0.1, 0.1)])
def test_a_point_is_a_ball_of_its_margin(maker, margin, radius):
    settings = {} if margin is None else {"use_margin": True, "collision_margin": margin}
    maker.body("Bad", data=maker.mesh([(1, 1, 1)], []), shape="BOX", settings=settings)
    export = export_scene(maker.scene)
    assert bounds_of_round(export)[0] == pytest.approx(radius)
    assert any("in one point" in text for text in texts(export))


def test_faces_only_after_the_modifiers(maker):
    """The bounding box of what is seen stands in, and the note names the setting."""
    ob = maker.body("Bad", data=maker.mesh(LINE, []), shape="MESH", settings={"mesh_source": "BASE"})
    ob.data.edges.add(1)
    ob.data.edges[0].vertices = (0, 1)
    screw = ob.modifiers.new("Screw", "SCREW")
    screw.axis, screw.angle, screw.screw_offset, screw.use_merge_vertices = "Z", 0.0, 1.0, False
    export = export_scene(maker.scene)
    assert np.ptp(model_points(export, "Bad"), axis=0)[[0, 2]] == pytest.approx([2, 1], abs=1e-5)
    assert any("Source to Final" in text for text in texts(export))


def test_an_anchor_in_no_collision_collection_needs_no_shape(maker):
    """It meets nothing, so neither the check nor the panel says a word of its shape."""
    cairn.register()
    anchor = maker.body("Bad", data=maker.mesh([], []), type="PASSIVE", shape="MESH")
    anchor.rigid_body.collision_collections = [False] * 20
    assert texts(export_scene(maker.scene)) == []
    assert early_notes(maker.scene) == []


@pytest.mark.parametrize(("points", "kind"), [([], "BOX"), ([], "MESH"), (CORNER, "MESH"), (CORNER, "CONVEX_HULL")])
def test_the_panel_says_the_same_before_a_bake(maker, points, kind):
    cairn.register()
    maker.body("Bad", data=maker.mesh(points, []), shape=kind)
    early = [note.text for note in early_notes(maker.scene)]
    assert early == [note.text for note in export_scene(maker.scene).notes if note.level == "warning"]


def test_a_growing_box_without_vertices(maker):
    """Keyed scale: its surface is followed, and has as many vertices in every frame."""
    ob = maker.body("Bad", data=maker.mesh([], []), shape="BOX", type="PASSIVE")
    maker.key(ob, "scale", {1: (1, 1, 1), 20: (2, 2, 2)})
    export = export_scene(maker.scene)
    assert export.bodies[0].deforming_vertices == 8
    assert any("has no vertices" in text for text in texts(export))


@pytest.mark.parametrize(
    ("shape", "source", "noted"),
    [
        ("CONVEX_HULL", "DEFORM", True),
        ("MESH", "BASE", True),
        ("MESH", "FINAL", False),
        ("BOX", "DEFORM", False),
    ],
)
def test_a_mesh_that_is_seen_larger_than_it_collides(maker, shape, source, noted):
    """An Array comes after Source Deform, so only the first of four cubes collides, in Blender too."""
    ob = maker.body("Row", shape=shape, type="PASSIVE")
    ob.rigid_body.mesh_source = source
    ob.modifiers.new("Array", "ARRAY").count = 4
    export = export_scene(maker.scene)
    assert any("without modifiers that make it larger" in note.text for note in export.notes) == noted


def test_a_bevel_makes_nothing_larger(maker):
    ob = maker.body("Bevelled", shape="CONVEX_HULL")
    ob.modifiers.new("Bevel", "BEVEL").width = 0.05
    assert not any("without modifiers" in note.text for note in export_scene(maker.scene).notes)
