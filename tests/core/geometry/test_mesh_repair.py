"""One repair for meshes that stand and meshes that move: both say the same of the same faults."""

import numpy as np
import pytest
from sample_meshes import box_mesh, joined

from cairn.solver_core.geometry.mesh_repair import clean, close_small_holes, count_edges, orient
from cairn.solver_core.geometry.solid_meshes import solid_mesh, solid_properties
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh

HALF = np.array([0.5, 1.0, 1.5])
VOLUME = 8.0 * HALF.prod()


def turned_inside_out(mesh):
    return mesh[0], mesh[1][:, ::-1]


def with_needle():
    """A box of which one triangle is split at a point on its edge, and the neighbour's gap is closed by a needle."""
    vertices, triangles = box_mesh(HALF)
    a, b, c = triangles[0]
    vertices = np.vstack([vertices, 0.5 * (vertices[a] + vertices[b])])
    middle = len(vertices) - 1
    return vertices, np.vstack([triangles[1:], [(a, middle, c), (middle, b, c), (a, b, middle)]])


def without_needle():
    vertices, triangles = with_needle()
    return vertices, triangles[:-1]


@pytest.mark.parametrize("mesh", [with_needle(), without_needle()], ids=["needle", "gap"])
def test_what_meets_an_edge_at_a_corner_only_is_closed(mesh):
    """With a triangle without area in between, or with nothing: neighbours on both sides, for both uses."""
    surface, solid = TriangleMesh(*mesh), solid_mesh(*mesh)
    assert surface.is_solid.all()
    assert solid.is_closed
    assert solid.properties.volume == pytest.approx(VOLUME, rel=1e-12)
    assert surface.mass_properties().volume == pytest.approx(VOLUME, rel=1e-12)
    assert surface.notes == solid.cleaning_notes
    assert "1 corners that lie on edges of other faces were joined with them" in surface.notes


def test_both_uses_say_the_same_of_what_was_cleaned():
    """Corners of its own for each face, a face that is there twice, and one without area."""
    vertices, triangles = box_mesh(HALF)
    own = vertices[triangles].reshape(-1, 3)
    faces = np.vstack([np.arange(36).reshape(-1, 3), [(0, 1, 2), (3, 4, 3)]])
    notes = (
        "28 doubled vertices were merged",
        "1 faces without area were left out",
        "1 faces that were there twice were left out",
    )
    assert TriangleMesh(own, faces).notes == notes
    assert solid_mesh(own, faces).cleaning_notes == notes


@pytest.mark.parametrize("inside_out", [False, True])
def test_a_cavity_stays_one_whichever_way_the_whole_looks(inside_out):
    """A hollow box, and the same with all of its faces turned: the volume of its walls."""
    hollow = joined(box_mesh(HALF), turned_inside_out(box_mesh(0.5 * HALF)))
    if inside_out:
        hollow = turned_inside_out(hollow)
    oriented = orient(*hollow)
    assert oriented.is_closed.all()
    assert oriented.parts_inside_out == (2 if inside_out else 0)
    assert solid_properties(hollow[0], oriented.triangles).volume == pytest.approx(VOLUME * (1.0 - 0.125), rel=1e-12)


def test_of_two_boxes_side_by_side_the_one_inside_out_is_turned():
    """The volumes add up, for a body that moves too: nothing counts as negative."""
    pair = joined(box_mesh(HALF), turned_inside_out(box_mesh(HALF, (5.0, 0.0, 0.0))))
    assert solid_mesh(*pair).properties.volume == pytest.approx(2.0 * VOLUME, rel=1e-12)
    assert solid_mesh(*pair).was_inverted
    assert TriangleMesh(*pair).mass_properties().volume == pytest.approx(2.0 * VOLUME, rel=1e-12)


def test_a_hole_is_closed_only_where_that_is_asked_for():
    """A small hole in a tall box: a body that stands has a border there, one that moves is covered."""
    tall = np.array([0.1, 0.1, 5.0])
    vertices, triangles = box_mesh(tall)
    corners = vertices[triangles]
    top = np.flatnonzero((corners[:, :, 2] > 4.9).all(axis=1))
    open_box = vertices, np.delete(triangles, top, axis=0)
    assert not TriangleMesh(*open_box).is_solid.any()
    covered, faces, count = close_small_holes(*open_box)
    assert count == 1
    assert count_edges(faces) == (0, 0)
    assert solid_mesh(*open_box).properties.volume == pytest.approx(8.0 * tall.prod(), rel=1e-12)
    assert len(covered) == len(vertices) + 1


def test_a_mesh_far_from_the_origin_is_merged_by_its_rounding():
    """Single precision rounds by the distance from the origin, not by the size."""
    vertices, triangles = box_mesh(0.01 * HALF, (300.0, 0.0, 0.0))
    apart = vertices[triangles].reshape(-1, 3)
    apart = np.nextafter(apart.astype(np.float32), np.float32(1e9), dtype=np.float32).astype(float)
    apart[::2] = vertices[triangles].reshape(-1, 3)[::2].astype(np.float32)
    mesh = clean(apart, np.arange(36).reshape(-1, 3))
    assert 8 <= len(mesh.vertices) < 16


def test_vertices_that_no_triangle_has_are_dropped():
    """They belong to faces that are gone, or to none; the others keep their order."""
    vertices, triangles = box_mesh(HALF)
    loose = np.vstack([[(9.0, 9.0, 9.0)], vertices, [(7.0, 7.0, 7.0)]])
    mesh = clean(loose, np.vstack([triangles + 1, [(0, 0, 1)]]))
    np.testing.assert_array_equal(mesh.given_vertex, np.arange(1, 9))
    np.testing.assert_array_equal(mesh.vertices, vertices)
    np.testing.assert_array_equal(mesh.triangles, triangles)
    assert len(clean(vertices, np.zeros((0, 3), int)).triangles) == 0
