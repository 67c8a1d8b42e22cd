"""Objects whose scale is keyed from 0, as what pops in is: such files bake."""

import numpy as np
import pytest
from scene_maker import model_points, same_points

from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.scene_export import export_scene

TURN = (0.3, 0.2, 0.5)


def pops_in(maker, shape="CONVEX_HULL", **values):
    """A unit cube, turned, that grows from nothing to (0.5, 0.5, 1) by frame 10."""
    ob = maker.body("Pops", shape=shape, location=(1, 2, 3), rotation_euler=TURN, **values)
    maker.key(ob, "scale", {1: (0, 0, 0), 10: (0.5, 0.5, 1)})
    return ob


def turned_cube(half):
    """Corners in the world of what ``pops_in`` shows."""
    from mathutils import Euler

    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    return corners @ np.array(Euler(TURN).to_matrix()).T + (1, 2, 3)


@pytest.mark.parametrize("shape", ["CONVEX_HULL", "BOX"])
def test_an_active_body_that_pops_in_is_as_large_as_it_becomes(maker, shape):
    """And turned as its channels say, which a matrix of zeros does not tell. A note names the frame."""
    pops_in(maker, shape)
    export = export_scene(maker.scene)
    assert same_points(model_points(export, "Pops"), turned_cube((0.25, 0.25, 0.5)), 1e-6)
    assert any("frame 10, the largest" in note.text for note in export.notes)


def test_what_shrinks_keeps_its_first_size(maker):
    ob = maker.body("Shrinks")
    maker.key(ob, "scale", {1: (1, 1, 1), 10: (0, 0, 0)})
    export = export_scene(maker.scene)
    assert any("frame 1, the largest" in note.text for note in export.notes)


def test_a_passive_body_grows_from_a_point(maker):
    pops_in(maker, type="PASSIVE")
    maker.body("Ball", shape="SPHERE", location=(9, 0, 0))
    export = export_scene(maker.scene)
    index = export.model.names.index("Pops")
    with simulation_paused(maker.scene):
        sample = sample_frame(maker.scene, export, 10)
    assert np.ptp(sample.vertices[index], axis=0) == pytest.approx((0.5, 0.5, 1.0), abs=1e-5)
