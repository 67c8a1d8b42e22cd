"""Triangles that pass through each other: known numbers, and what only touches is no crossing."""

import itertools

import numpy as np
import pytest
from concave_meshes import torus
from reference_collision import about, rotation
from sample_meshes import box_mesh, joined

from cairn.solver_core.geometry.self_crossings import crossing_pairs


def crossings(vertices, triangles):
    """Of all pairs."""
    return crossing_pairs(vertices, triangles, list(itertools.permutations(range(len(triangles)), 2)))


FLAT = np.array([(-1, -1, 0), (2, -1, 0), (-1, 2, 0)], float)


@pytest.mark.parametrize(
    ("other", "count"),
    [
        ([(0, 0, -1), (0, 0, 1), (3, 3, 1)], 1),  # an edge through the inside
        ([(5, 5, -1), (5, 5, 1), (8, 8, 1)], 0),  # beside it
        ([(0, 0, 0), (0, 0, 1), (0, 1, 1)], 0),  # a corner on it
        ([(0, 0, 0), (1, 0, 0), (0, 1, 1)], 0),  # an edge on it
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], 0),  # in its plane
        ([(-1, -1, -1), (-1, -1, 1), (-3, -3, 0)], 0),  # through its corner
    ],
)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_two_triangles(other, count, scale):
    """In every order, turned and at every size."""
    turned = rotation(about((1, 2, 3), 0.7))
    vertices = scale * np.concatenate([FLAT, other]) @ turned.T
    for order in ([0, 1, 2, 3, 4, 5], [4, 5, 3, 1, 2, 0]):
        assert len(crossings(vertices, np.array(order).reshape(2, 3))) == count


def test_sound_meshes_have_none():
    """A torus in single precision, and boxes that share a face, an edge and a corner."""
    vertices, triangles = torus(around=12, across=8)
    assert len(crossings(vertices.astype(np.float32).astype(float), triangles)) == 0
    for place in ((2, 0, 0), (2, 2, 0), (2, 2, 2), (2, 1, 0.5)):
        assert len(crossings(*joined(box_mesh((1, 1, 1)), box_mesh((1, 1, 1), place)))) == 0


def test_a_bar_through_a_box_crosses_its_two_faces():
    """The four sides of the bar cross the triangles under it, and no other pair."""
    found = crossings(*joined(box_mesh((1, 1, 1)), box_mesh((0.2, 0.1, 3.0), (0.5, 0.0, 0.0))))
    # Of the box only the triangles of the faces z = -1 and z = 1; of the bar all sides but its ends.
    vertices, triangles = box_mesh((1, 1, 1))
    of_box = np.unique(found[:, 0])
    np.testing.assert_array_equal(np.abs(vertices[triangles[of_box]][:, :, 2]), 1.0)
    assert set(np.sign(vertices[triangles[of_box]][:, 0, 2])) == {-1.0, 1.0}
    of_bar = np.unique(found[:, 1]) - 12
    assert len(of_bar) == 8
    assert len(crossings(vertices, np.zeros((0, 3), int))) == 0
