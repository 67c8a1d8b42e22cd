"""Meshes of passive bodies: read as they are, from every source and scale, cleaned, and followed where they deform."""

import numpy as np
import pytest
from scene_maker import CUBE_CORNERS, CUBE_FACES, model_points, same_points, world_vertices

from cairn.addon.read.faults import SceneError
from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.scene_export import export_scene
from cairn.solver_core.geometry.shapes import ShapeKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

SINGLE = 2e-5
# An L-shaped prism: concave.
L_POINTS = [(x, y, z) for z in (0.0, 1.0) for x, y in ((0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2))]
L_FACES = [(5, 4, 3, 2, 1, 0), (6, 7, 8, 9, 10, 11)] + [(i, (i + 1) % 6, (i + 1) % 6 + 6, i + 6) for i in range(6)]
SHEET = [(x, y, 0.0) for x in (-2.0, 0.0, 2.0) for y in (-2.0, 0.0, 2.0)]
SHEET_FACES = [(0, 3, 4, 1), (1, 4, 5, 2), (3, 6, 7, 4), (4, 7, 8, 5)]


def floor(maker, points=SHEET, faces=SHEET_FACES, **values):
    return maker.body("Floor", data=maker.mesh(points, faces), type="PASSIVE", shape="MESH", **values)


def signed_volume(export):
    meshes = export.model.meshes
    corners = meshes.vertex[meshes.triangle]
    return np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0


@pytest.mark.parametrize("scale", [(1, 1, 1), (2, 0.5, 3), (-1, 1, 1), (-1, -2, -1), (1, -1, -1)])
def test_a_passive_mesh_is_its_triangles(maker, scale):
    """A concave solid with any scale, mirrored too: the vertices that are seen, looking outwards."""
    floor(maker, L_POINTS, L_FACES, scale=scale, rotation_euler=(0.4, 0.3, 0.2), location=(1, 2, 3))
    export = export_scene(maker.scene)
    maker.scene.frame_set(1)
    assert export.model.arrays.shapes.kind[0] == ShapeKind.MESH
    assert len(export.model.meshes.triangle) == 20
    assert same_points(model_points(export, "Floor"), world_vertices("Floor"), SINGLE)
    assert signed_volume(export) == pytest.approx(3.0 * abs(np.prod(scale)), rel=1e-5)
    assert not [note for note in export.notes if "Floor" in (note.object_name or "")]


@pytest.mark.parametrize("scale", [(1, 1, 1), (2, 0.5, 3), (-1, 1, 1)])
def test_a_passive_plane_is_a_sheet(maker, scale):
    """Its corners alone; where it deforms it stays the triangles that it has."""
    plane = floor(maker, scale=scale, rotation_euler=(0.4, 0.3, 0.2), location=(1, 2, 3))
    export = export_scene(maker.scene)
    maker.scene.frame_set(1)
    assert export.model.arrays.shapes.kind[0] == ShapeKind.HULL
    assert export.model.hulls.flat_face[0] >= 0
    corners = world_vertices("Floor")[[0, 2, 6, 8]]
    assert same_points(np.unique(model_points(export, "Floor").round(5), axis=0), corners, SINGLE)
    wave = plane.modifiers.new("Wave", "WAVE")
    assert wave is not None
    assert export_scene(maker.scene).model.arrays.shapes.kind[0] == ShapeKind.MESH


@pytest.mark.parametrize(("source", "vertices", "height"), [("BASE", 8, 1.0), ("DEFORM", 8, 2.0), ("FINAL", 16, 2.0)])
def test_the_source_says_which_mesh(maker, source, vertices, height):
    """The mesh itself, with deforming modifiers, or with all."""
    ob = maker.body("Floor", type="PASSIVE", shape="MESH", settings={"mesh_source": source})
    cast = ob.modifiers.new("Stretch", "SIMPLE_DEFORM")
    cast.deform_method, cast.factor, cast.deform_axis = "STRETCH", 1.0, "Z"
    array = ob.modifiers.new("Array", "ARRAY")
    array.count, array.use_merge_vertices = 2, False
    array.relative_offset_displace = (3.0, 0.0, 0.0)
    export = export_scene(maker.scene)
    assert len(export.model.meshes.vertex) == vertices
    assert np.ptp(export.model.meshes.vertex[:, 2]) == pytest.approx(height, rel=0.05)


def test_what_was_cleaned_is_said_with_the_objects_name(maker):
    """Doubled vertices and a face without area in a cube that is inside out."""
    points = [*CUBE_CORNERS, CUBE_CORNERS[0]]
    faces = [tuple(reversed(face)) for face in CUBE_FACES] + [(0, 8, 1)]
    floor(maker, points, faces)
    texts = " ".join(note.text for note in export_scene(maker.scene).notes if note.object_name == "Floor")
    for expected in ("1 doubled vertices", "1 faces without area", "inside out"):
        assert expected in texts


def test_a_disabled_active_body_is_a_mesh_and_a_moving_one_is_not(maker):
    """What never moves keeps its triangles; a convex body that moves is a hull."""
    maker.body("Still", shape="MESH", settings={"enabled": False})
    maker.body("Moving", shape="MESH", location=(5, 0, 0))
    export = export_scene(maker.scene)
    kinds = dict(zip(export.model.names, export.model.arrays.shapes.kind.tolist(), strict=True))
    assert kinds["Still"] == ShapeKind.MESH
    assert kinds["Moving"] == ShapeKind.HULL


def test_a_ball_rides_on_a_sheet_that_a_shape_key_lifts(maker):
    """The vertices are sampled every frame, and the ball goes up with them."""
    ob = floor(maker)
    ob.shape_key_add(name="Basis")
    lifted = ob.shape_key_add(name="Lifted")
    for point in lifted.data:
        point.co.z += 1.0
    for frame, value in ((1, 0.0), (13, 1.0)):
        lifted.value = value
        lifted.keyframe_insert("value", frame=frame)
    ob.rigid_body.mesh_source = "DEFORM"
    maker.body("Ball", shape="SPHERE", location=(0.3, 0.2, 0.5))
    export = export_scene(maker.scene, frame_end=25)
    assert export.samples_needed
    run = Simulation(export.model, SimulationOptions(method="nncg"))
    with simulation_paused(maker.scene):
        for frame in range(2, 26):
            sample = sample_frame(maker.scene, export, frame)
            run.advance_frame(sample.frame_input)
            if frame == 7:
                assert sample.vertices[0][:, 2] == pytest.approx(0.5, abs=0.05)
    assert run.poses()[0][export.model.names.index("Ball"), 2] == pytest.approx(1.5, abs=2e-3)


def test_keyed_scale_is_followed(maker):
    """A passive mesh that grows: its vertices are scaled in each frame."""
    ob = floor(maker, L_POINTS, L_FACES)
    maker.key(ob, "scale", {1: (1, 1, 1), 10: (2, 2, 3)})
    export = export_scene(maker.scene)
    with simulation_paused(maker.scene):
        sample = sample_frame(maker.scene, export, 10)
    np.testing.assert_allclose(sample.vertices[0], np.multiply(L_POINTS, (2, 2, 3)), atol=1e-5)
    assert not any("scale is animated" in note.text for note in export.notes)


def test_a_mesh_that_gains_vertices_is_refused(maker):
    """Only places may change: the error names the object, the frame and the remedy."""
    ob = floor(maker)
    ob.rigid_body.mesh_source = "FINAL"
    ob.modifiers.new("Array", "ARRAY").count = 1
    maker.key(ob, 'modifiers["Array"].count', {1: 1, 10: 3})
    export = export_scene(maker.scene)
    with simulation_paused(maker.scene), pytest.raises(SceneError, match="Floor: its mesh has 9 vertices"):
        sample_frame(maker.scene, export, 12)


def test_a_furnished_room_holds_what_is_in_it_and_its_chest_keeps_it_out(maker):
    """A room and a chest in it, joined into one mesh: a ball stays in the one and rests on the other."""
    chest = [(2.0 * x, 2.0 * y, 2.0 * z - 1.5) for x, y, z in CUBE_CORNERS]
    points = [(5.0 * x, 5.0 * y, 5.0 * z) for x, y, z in CUBE_CORNERS] + chest
    faces = [*CUBE_FACES, *(tuple(8 + corner for corner in face) for face in CUBE_FACES)]
    maker.body("Room", data=maker.mesh(points, faces), type="PASSIVE", shape="MESH")
    for index, x in enumerate((0.0, 1.8)):
        ball = maker.body(f"Ball{index}", location=(x, 0.1, 0.5), scale=(0.4, 0.4, 0.4), shape="SPHERE")
        ball.rigid_body.friction = 1.0
    export = export_scene(maker.scene)
    simulation = Simulation(export.model, SimulationOptions(frame_rate=24))
    for _ in range(48):
        simulation.advance_frame(export.default_sample.frame_input)
    heights = [simulation.poses()[0][export.model.names.index(f"Ball{index}"), 2] for index in range(2)]
    assert heights == pytest.approx([-0.5 + 0.2, -2.5 + 0.2], abs=1e-3)
