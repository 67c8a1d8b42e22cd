"""Kinematic bodies whose scale is keyed: their surface is followed frame by frame."""

import numpy as np
import pytest
from scene_maker import same_points, world_vertices

from cairn.addon.scene_export import export_scene, sample_frame, simulation_paused

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


def test_growing_round_and_moving_bodies_say_that_they_do_not(maker):
    """A ball, a compound and a body that moves keep the start's size, with a warning that names them."""
    growing(maker, "SPHERE").name = "Round"
    growing(maker, "BOX").name = "Thrown"
    maker.scene.objects["Thrown"].rigid_body.type = "ACTIVE"
    export = export_scene(maker.scene)
    noted = {note.object_name for note in export.notes if "scale is animated" in note.text}
    assert noted == {"Round", "Thrown"}
