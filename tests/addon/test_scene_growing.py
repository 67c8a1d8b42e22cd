"""Kinematic bodies whose scale is keyed: their surface is followed frame by frame."""

import bpy
import numpy as np
import pytest
from scene_maker import CUBE_CORNERS, same_points, world_vertices

from cairn.addon.scene_export import export_scene, sample_frame, simulation_paused
from cairn.addon.scene_poses import SceneError
from cairn.solver_core.simulation import Simulation, SimulationOptions

SCALES = {1: (1.0, 1.0, 1.0), 13: (1.0, 1.0, 3.0)}


def growing(maker, shape, **values):
    """A passive unit cube about its origin that grows to three times its height by frame 13."""
    ob = maker.body("Growing", shape=shape, type="PASSIVE", **values)
    maker.key(ob, "scale", SCALES)
    return ob


def world_points(sample, index):
    turn = np.array(sample.orientation[index])
    w, vector = turn[0], turn[1:]
    points = sample.vertices[index]
    turned = points + 2.0 * np.cross(vector, np.cross(vector, points) + w * points)
    return turned + sample.position[index]


@pytest.mark.parametrize("shape", ["BOX", "CONVEX_HULL", "MESH"])
@pytest.mark.parametrize("place", [{}, {"location": (1, 2, 3), "rotation_euler": (0.3, 0.2, 0.5)}])
def test_a_body_that_grows_has_the_size_that_is_seen(maker, shape, place):
    """Its vertices are those that Blender shows at each frame, also where it is turned; nothing is noted as ignored."""
    growing(maker, shape, **place)
    maker.body("Ball", shape="SPHERE", location=(9, 0, 0))
    export = export_scene(maker.scene)
    index = export.model.names.index("Growing")
    assert not any("scale is animated" in note.text for note in export.notes)
    for frame in (2, 7, 13, 20):
        with simulation_paused(maker.scene):
            sample = sample_frame(maker.scene, export, frame)
            maker.scene.frame_set(frame)
            seen = world_vertices("Growing")
        assert same_points(world_points(sample, index), seen, 1e-5)


def round_sizes(kind, scale):
    """Radius and half height (of a capsule: of its axis) of the unit cube's shape by Blender's and Bullet's rule."""
    x, y, z = scale
    if kind == "SPHERE":
        return 0.5 * x, 0.0
    if kind == "CAPSULE":
        return 0.5 * y, 0.0
    return (0.5 * x if kind == "CYLINDER" else 0.25 * (x + y)), 0.5 * z


@pytest.mark.parametrize("kind", ["SPHERE", "CAPSULE", "CYLINDER", "CONE"])
def test_round_bodies_grow_as_blender_sizes_them(maker, kind):
    """Radius and height at each frame, scaled evenly or not; the mesh's middle goes along; the note says the rule."""
    ob = maker.body("Growing", data=maker.mesh(np.array(CUBE_CORNERS) + (0.0, 0.0, 0.5)), shape=kind, type="PASSIVE")
    maker.key(ob, "scale", {n: (1.0 + 0.1 * n, 1.0 + 0.2 * n, 1.0 + 0.05 * n) for n in range(1, 12)})
    maker.body("Ball", shape="SPHERE", location=(9, 0, 0))
    export = export_scene(maker.scene)
    index = export.model.names.index("Growing")
    assert not any("scale is animated" in note.text for note in export.notes)
    assert any("grows and pushes; its radius follows" in note.text for note in export.notes)
    for frame in (1, 6, 11, 20):
        with simulation_paused(maker.scene):
            sample = sample_frame(maker.scene, export, frame)
            scale = np.array(ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).scale)
        shape = sample.frame_input.shapes[index]
        assert shape.parameters[:2] == pytest.approx(round_sizes(kind, scale), rel=1e-5, abs=1e-6)
        assert shape.position == pytest.approx((0.0, 0.0, 0.5 * scale[2]), rel=1e-5)


def test_a_ball_that_grows_lifts_what_lies_on_it_in_a_bake(maker):
    """From scale 1 to 3 in a second, under a box: the simulation gets the same sizes and carries the box up."""
    ball = maker.body("Growing", shape="SPHERE", type="PASSIVE")
    maker.key(ball, "scale", {frame: [1.0 + (frame - 1) / 12.0] * 3 for frame in range(1, 26)})
    maker.body("Box", shape="BOX", location=(0, 0, 1.0), settings={"friction": 1.0})
    export = export_scene(maker.scene)
    box = export.model.names.index("Box")
    simulation = Simulation(export.model, SimulationOptions(method="nncg"))
    with simulation_paused(maker.scene):
        for frame in range(2, 26):
            simulation.advance_frame(sample_frame(maker.scene, export, frame).frame_input)
    radius = simulation._collision.workspace.form[export.model.names.index("Growing"), 0]
    assert radius == pytest.approx(1.5, rel=1e-5)
    assert simulation.poses()[0][box, 2] == pytest.approx(2.0, abs=2e-2)


def test_a_scale_that_changes_its_sign_is_refused(maker):
    """A cone would turn over from one frame to the next: the object, the frame, and what to do."""
    ob = maker.body("Growing", shape="CONE", type="PASSIVE")
    maker.key(ob, "scale", {1: (1.0, 1.0, 1.0), 3: (1.0, 1.0, -1.0)})
    maker.body("Ball", shape="SPHERE", location=(9, 0, 0))
    export = export_scene(maker.scene)
    with (
        simulation_paused(maker.scene),
        pytest.raises(SceneError, match="Growing: its scale changes its sign by frame 3"),
    ):
        sample_frame(maker.scene, export, 3)


def test_growing_compounds_and_moving_bodies_say_that_they_do_not(maker):
    """A compound, and balls and boxes that move, keep the start's size, with a warning that names them."""
    growing(maker, "BOX").name = "Thrown"
    growing(maker, "SPHERE").name = "Rolling"
    for name in ("Thrown", "Rolling"):
        maker.scene.objects[name].rigid_body.type = "ACTIVE"
    growing(maker, "COMPOUND").name = "Parent"
    export = export_scene(maker.scene)
    noted = {note.object_name for note in export.notes if "scale is animated" in note.text}
    assert noted == {"Thrown", "Rolling", "Parent"}
