"""Meshes as solids: volumes and inertia of closed form, and what is mended and what is only said."""

import numpy as np
import pytest
from concave_meshes import bowl, gear, prism, torus
from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.geometry.solid_meshes import solid_mesh, solid_properties

BOX_HALF = np.array([1.0, 0.5, 0.25])


def box(center=(0.0, 0.0, 0.0), half=BOX_HALF):
    """A box as 12 triangles."""
    outline = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * half[:2]
    vertices, triangles = prism(outline, 2.0 * half[2])
    return vertices - (0.0, 0.0, half[2]) + center, triangles


def assert_same_properties(properties, expected, rel=1e-12):
    scale = np.trace(expected.inertia)
    assert properties.volume == pytest.approx(expected.volume, rel=rel)
    assert properties.center == pytest.approx(expected.center, abs=rel * 10)
    assert properties.inertia == pytest.approx(expected.inertia, abs=10 * rel * scale)


def test_properties_of_a_torus_tend_to_the_closed_form():
    """2 pi^2 R r^2 and m (R^2 + 3/4 r^2) about the axis; a fine mesh is off by its steps squared."""
    radius, tube = 1.0, 0.25
    found = solid_mesh(*torus(radius, tube, 128, 64)).properties
    volume = 2.0 * np.pi**2 * radius * tube**2
    assert found.volume == pytest.approx(volume, rel=3e-3)
    assert found.center == pytest.approx(np.zeros(3), abs=1e-12)
    about_axis = volume * (radius**2 + 0.75 * tube**2)
    across = volume * (0.5 * radius**2 + 0.625 * tube**2)
    assert np.diag(found.inertia) == pytest.approx([across, across, about_axis], rel=5e-3)


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_properties_of_convex_solids_are_those_of_their_hull(seed):
    """Two ways to integrate the same polyhedron, far from the origin too."""
    rng = np.random.default_rng(seed)
    hull = ConvexHull.from_points(rng.normal(size=(12, 3)) * rng.uniform(0.2, 3.0, 3) + rng.normal(size=3) * 5.0)
    fans = [(loop[0], loop[i], loop[i + 1]) for loop in hull.loops for i in range(1, len(loop) - 1)]
    assert_same_properties(solid_properties(hull.vertices, np.array(fans)), hull.mass_properties(), rel=1e-10)


def test_a_hollow_weighs_less():
    """A box with a smaller box inside that is turned inwards is the difference of the two."""
    outer, inner = box(), box((0.1, 0.0, 0.0), 0.5 * BOX_HALF)
    vertices = np.concatenate([outer[0], inner[0]])
    found = solid_mesh(vertices, np.concatenate([outer[1], len(outer[0]) + inner[1][:, ::-1]]))
    whole, hole = Box(BOX_HALF).mass_properties(), Box(0.5 * BOX_HALF, (0.1, 0, 0)).mass_properties()
    assert not found.was_mixed
    assert found.properties.volume == pytest.approx(whole.volume - hole.volume, rel=1e-12)
    moment = -hole.volume * np.array([0.1, 0.0, 0.0]) / (whole.volume - hole.volume)
    assert found.properties.center == pytest.approx(moment, abs=1e-12)


@pytest.mark.parametrize("mesh", [box(), torus(), bowl(), gear()], ids=["box", "torus", "bowl", "gear"])
def test_faces_are_turned_outwards(mesh):
    """Inside out, and with a random third of the faces turned: the same solid, and it is said which it was."""
    vertices, triangles = mesh
    sound = solid_mesh(vertices, triangles)
    assert (sound.was_inverted, sound.was_mixed, sound.open_edges, sound.crowded_edges) == (False, False, 0, 0)
    inverted = solid_mesh(vertices, triangles[:, ::-1])
    turned = np.random.default_rng(1).random(len(triangles)) < 0.3
    mixed = solid_mesh(vertices, np.where(turned[:, None], triangles[:, ::-1], triangles))
    assert (inverted.was_inverted, inverted.was_mixed) == (True, False)
    assert (mixed.was_inverted, mixed.was_mixed) == (False, True)
    for found in (inverted, mixed):
        assert_same_properties(found.properties, sound.properties)


def test_double_vertices_and_faces_without_area_are_joined():
    """Every face with corners of its own, in single precision, and faces that are points and lines."""
    vertices, triangles = torus()
    split = vertices[triangles].reshape(-1, 3).astype(np.float32).astype(float)
    own = np.arange(3 * len(triangles)).reshape(-1, 3)
    extra = np.array([(0, 0, 0), (0, 1, 1), (2, 5, 2)])
    found = solid_mesh(split, np.concatenate([own, extra]))
    assert (found.open_edges, found.crowded_edges, len(found.triangles)) == (0, 0, len(triangles))
    merged = f"{3 * len(triangles) - len(vertices)} doubled vertices were merged"
    assert found.cleaning_notes == (merged, "3 faces without area were left out")
    assert found.properties.volume == pytest.approx(solid_mesh(vertices, triangles).properties.volume, rel=1e-6)


def test_small_holes_are_covered_and_large_ones_are_not():
    """A missing quad of a torus is flat, so its cover gives the volume back; a bowl's mouth stays open."""
    vertices, triangles = torus(around=32, across=12)
    whole = solid_mesh(vertices, triangles).properties
    count = len(triangles) // 2
    found = solid_mesh(vertices, np.delete(triangles, [5, 5 + count, 100, 100 + count], axis=0))
    assert (found.holes_filled, found.open_edges, found.is_closed) == (2, 0, True)
    assert found.properties.volume == pytest.approx(whole.volume, rel=1e-3)
    half = np.flatnonzero(vertices[triangles][:, :, 2].max(axis=1) < 1e-9)
    opened = solid_mesh(vertices, triangles[half])
    assert (opened.holes_filled, opened.is_closed) == (0, False)
    assert opened.open_edges == 64


def test_edges_of_three_faces_and_sheets_are_no_solid():
    """Two boxes that share a face's edge, a mesh of one sheet back to back, and no triangle at all."""
    vertices, triangles = box()
    fin = np.concatenate([triangles, [(0, 1, len(vertices))]])
    assert solid_mesh(np.concatenate([vertices, [(0, 0, 9.0)]]), fin).crowded_edges == 1
    sheet = np.array([(0, 1, 2), (0, 2, 1)])
    assert not solid_mesh(np.eye(3), sheet).is_closed
    assert not solid_mesh(np.eye(3), np.zeros((0, 3), int)).is_closed
