"""Cleaning of triangle meshes, and what they are: closed or open, which way round, how heavy."""

import numpy as np
import pytest
from sample_meshes import box_mesh, grid_mesh, joined

from cairn.solver_core.collision.data.mesh_tables import CONCAVE, CONVEX, FLAGS, FLAT, RIM
from cairn.solver_core.collision.mesh.mesh_tree import allocate_mesh_tables, list_triangles
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.shapes import Box, ShapeError
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh, convex_sheet, nested_meshes, pack_meshes
from cairn.solver_core.model.builder import ModelBuilder, ModelError
from cairn.solver_core.model.model import BodyKind

HALF = np.array([0.5, 1.0, 1.5])


def outward_areas(mesh):
    corners = mesh.vertices[mesh.triangles]
    return 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def test_clean_box_has_nothing_to_note():
    """Twelve triangles, closed, every edge with its neighbour, the volume and inertia of the box."""
    mesh = TriangleMesh(*box_mesh(HALF, (3.0, 0.0, 0.0)))
    assert mesh.notes == ()
    assert mesh.is_solid.all()
    assert (mesh.neighbors >= 0).all()
    assert not mesh.is_flat
    expected, found = Box(HALF, position=(3.0, 0.0, 0.0)).mass_properties(), mesh.mass_properties()
    np.testing.assert_allclose(found.volume, expected.volume, rtol=1e-14)
    np.testing.assert_allclose(found.center, expected.center, atol=1e-14)
    np.testing.assert_allclose(found.inertia, expected.inertia, atol=1e-13)


def test_neighbours_are_mutual_and_share_the_edge():
    """Half edge 3 t + e and its neighbour name each other, and their ends are exchanged."""
    mesh = TriangleMesh(*grid_mesh(5, 2.0, rng=np.random.default_rng(1)))
    for triangle, edge in np.argwhere(mesh.neighbors >= 0):
        other, place = divmod(int(mesh.neighbors[triangle, edge]), 3)
        assert mesh.neighbors[other, place] == 3 * triangle + edge
        assert mesh.triangles[other, place] == mesh.triangles[triangle, (edge + 1) % 3]
        assert mesh.triangles[other, (place + 1) % 3] == mesh.triangles[triangle, edge]


def test_doubled_vertices_are_merged():
    """A box whose triangles share no vertex is the box again; the vertices know which given ones they were."""
    vertices, triangles = box_mesh(HALF)
    mesh = TriangleMesh(vertices[triangles].reshape(-1, 3), np.arange(36).reshape(-1, 3))
    assert len(mesh.vertices) == 8
    assert mesh.is_solid.all()
    assert any("28 doubled vertices" in note for note in mesh.notes)
    np.testing.assert_array_equal(vertices[triangles].reshape(-1, 3)[mesh.given_vertex], mesh.vertices)


def test_faces_without_area_and_doubled_faces_are_left_out():
    """Slivers on a line, a triangle with a corner twice, and a face that is there twice."""
    vertices, triangles = box_mesh(HALF)
    bad = [(0, 0, 1), (0, 1, 8), tuple(triangles[3][[1, 2, 0]])]
    vertices = np.vstack([vertices, 0.5 * (vertices[0] + vertices[1])])
    mesh = TriangleMesh(vertices, np.vstack([triangles, bad]))
    assert len(mesh.triangles) == 12
    assert mesh.is_solid.all()
    assert any("2 faces without area" in note for note in mesh.notes)
    assert any("1 faces that were there twice" in note for note in mesh.notes)


@pytest.mark.parametrize("turned", [range(12), [0], [2, 5, 7, 8]])
def test_closed_parts_look_outwards(turned):
    """However the faces of a box look, afterwards they look outwards, and it is said."""
    vertices, triangles = box_mesh(HALF)
    triangles = triangles.copy()
    triangles[list(turned)] = triangles[list(turned)][:, ::-1]
    mesh = TriangleMesh(vertices, triangles)
    centers = mesh.vertices[mesh.triangles].mean(axis=1)
    assert mesh.is_solid.all()
    assert np.all(np.einsum("ni,ni->n", outward_areas(mesh), centers) > 0.0)
    assert len(mesh.notes) == 1
    assert "turned" in mesh.notes[0]
    assert np.isclose(mesh.mass_properties().volume, 8 * HALF.prod())


def test_cavities_keep_looking_inwards():
    """A hollow box has the volume of its walls; another box beside it that is inside out is turned."""
    inner = box_mesh(0.5 * HALF)
    beside = box_mesh(HALF, (10.0, 0.0, 0.0))
    hollow = joined(box_mesh(HALF), (inner[0], inner[1][:, ::-1]))
    assert np.isclose(TriangleMesh(*hollow).mass_properties().volume, 8 * HALF.prod() * (1 - 0.125))
    both = TriangleMesh(*joined(hollow, (beside[0], beside[1][:, ::-1])))
    assert np.isclose(both.mass_properties().volume, 8 * HALF.prod() * (2 - 0.125))
    assert any("1 parts were inside out" in note for note in both.notes)


def test_what_lies_in_a_closed_part_is_a_mesh_of_its_own():
    """A room, a chest that stands through its wall and a ball in the chest are three; what lies beside stays."""
    room, chest, ball = box_mesh((3, 3, 3)), box_mesh((1, 1, 1), (2.5, 0, 0)), box_mesh((0.2, 0.2, 0.2), (2.5, 0, 0))
    beside = box_mesh((1, 1, 1), (10, 0, 0))
    levels = nested_meshes(TriangleMesh(*joined(ball, room, beside, chest)))
    assert [len(mesh.triangles) for mesh in levels] == [24, 12, 12]
    assert [mesh.size for mesh in levels] == pytest.approx([14.0, 2.0, 0.4])


def test_cavities_stay_with_what_they_are_in():
    """A hollow box is one mesh, also with something in it; so are boxes that only touch."""
    inner, thing = box_mesh(0.5 * HALF), box_mesh(0.1 * HALF)
    hollow = joined(box_mesh(HALF), (inner[0], inner[1][:, ::-1]))
    assert len(nested_meshes(TriangleMesh(*hollow))) == 1
    levels = nested_meshes(TriangleMesh(*joined(hollow, thing)))
    assert [len(mesh.triangles) for mesh in levels] == [24, 12]
    assert levels[0].mass_properties().volume == pytest.approx(8 * HALF.prod() * (1 - 0.125))
    row = joined(*(box_mesh(HALF, (2.0 * HALF[0] * k, 0, 0)) for k in range(5)))
    assert len(nested_meshes(TriangleMesh(*row))) == 1


def test_open_crowded_and_one_sided_meshes_are_told():
    """A sheet is flat, three faces at an edge make borders, a Moebius strip is cut."""
    sheet = TriangleMesh(*grid_mesh(3, 1.0))
    assert sheet.is_flat
    assert "12 border edges" in sheet.notes[0]
    assert np.isclose(sheet.mass_properties().volume, 1.0)
    fan = TriangleMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1)], [(0, 1, 2), (1, 0, 3), (0, 1, 4)])
    assert any("more than two faces" in note for note in fan.notes)
    assert (fan.neighbors < 0).all()
    turns = np.linspace(0.0, 2.0 * np.pi, 13)[:-1]
    middle = np.stack([2 * np.cos(turns), 2 * np.sin(turns), 0 * turns], 1)
    across = np.stack([np.cos(turns / 2) * np.cos(turns), np.cos(turns / 2) * np.sin(turns), np.sin(turns / 2)], 1)
    rows = np.stack([middle - 0.3 * across, middle + 0.3 * across], 1).reshape(-1, 3)
    quads = [(2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2) for i in range(11)] + [(22, 23, 0, 1)]
    strip = TriangleMesh(rows, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    assert any("one-sided" in note for note in strip.notes)
    assert not strip.is_solid.any()


@pytest.mark.parametrize(
    ("vertices", "triangles", "message"),
    [
        ([(0, 0, 0), (1, 0, 0), (0, np.nan, 0)], [(0, 1, 2)], "vertex 2"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 3)], "triangle 0"),
        ([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)], "has an area"),
        ([(0, 0, 0), (0, 0, 0), (0, 0, 0)], [(0, 1, 2)], "has an area"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], np.zeros((0, 3), int), "at least one"),
    ],
)
def test_impossible_meshes_are_refused_with_the_reason(vertices, triangles, message):
    """One line that names what is wrong."""
    with pytest.raises(ShapeError, match=message):
        TriangleMesh(vertices, triangles)


def test_a_dynamic_body_cannot_be_a_mesh():
    """The error names the body and the remedy."""
    with pytest.raises(ModelError, match="Rock: the shape is a mesh"):
        ModelBuilder().add_body(shape=TriangleMesh(*box_mesh(HALF)), name="Rock", kind=BodyKind.DYNAMIC)


def test_classes_of_edges():
    """A box has 12 convex edges and 6 flat diagonals; inside out they are concave; a sheet's border is its rim."""
    mesh = TriangleMesh(*joined(box_mesh(HALF), grid_mesh(1, 1.0), box_mesh(HALF, (10.0, 0.0, 0.0))))
    flags = allocate_mesh_tables(pack_meshes([mesh])).triangle[:, FLAGS]
    kinds = np.array([(flags >> shift) & 3 for shift in (0, 2, 4)])
    assert np.bincount(kinds.ravel(), minlength=4).tolist() == [
        {FLAT: 26, CONVEX: 48, CONCAVE: 0, RIM: 4}[kind] for kind in range(4)
    ]
    valley = TriangleMesh(*grid_mesh(2, 2.0, height=lambda x, y: np.abs(x)))
    flags = allocate_mesh_tables(pack_meshes([valley])).triangle[:, FLAGS]
    kinds = np.array([(flags >> shift) & 3 for shift in (0, 2, 4)])
    assert np.count_nonzero(kinds == CONCAVE) == 4
    assert np.count_nonzero(kinds == CONVEX) == 0


@kernel
def listed(tables):
    return list_triangles(tables.vertex, tables.triangle, tables.node, tables.box, tables.probe, tables.candidate)


def test_the_tree_finds_what_a_search_of_all_triangles_finds():
    """Boxes of all sizes, in a mesh of 800 triangles, some far outside."""
    rng = np.random.default_rng(3)
    mesh = TriangleMesh(*grid_mesh(20, 4.0, height=lambda x, y: np.sin(x + y), rng=rng))
    tables = allocate_mesh_tables(pack_meshes([mesh]))
    corners = tables.vertex[tables.triangle[:, :3]]
    for _ in range(200):
        center, half = rng.uniform(-2.5, 2.5, 3), rng.uniform(0.0, 1.0, 3) ** 3
        tables.probe.lower[:], tables.probe.upper[:] = center - half, center + half
        found = np.sort(tables.candidate.listed[: listed(tables)])
        overlaps = (corners.min(axis=1) <= center + half) & (corners.max(axis=1) >= center - half)
        np.testing.assert_array_equal(found, np.flatnonzero(overlaps.all(axis=1)))


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_corners_on_edges_of_others_are_joined(scale):
    """A triangle over three of half its width: neighbours along the edge, the same area, and only the outline open."""
    points = [(0, 0, 0), (2, 0, 0), (1, 1, 0), (0.5, 0, 0), (1.5, 0, 0), (1, -1, 0), (0, -1, 0), (2, -1, 0)]
    faces = [(0, 1, 2), (0, 6, 3), (3, 6, 5), (3, 5, 4), (4, 5, 7), (4, 7, 1)]
    mesh = TriangleMesh(scale * np.array(points), faces)
    corners = mesh.vertices[mesh.triangles]
    areas = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
    assert len(mesh.triangles) == 8
    assert areas.min() > 0.0
    assert areas.sum() == pytest.approx(3.0 * scale**2)
    # Two slanted sides, two short ends, and the two halves of the base.
    assert np.count_nonzero(mesh.neighbors < 0) == 6
    assert "2 corners that lie on edges" in mesh.notes[0]


def turned_grid(cells, kept=lambda x, y: True, rise=0.0):
    """A grid of 4 by 4 m, turned and 30 m away, in single precision: squares by their middles, one vertex raised."""
    side = np.linspace(-2.0, 2.0, cells + 1)
    points = np.array([(x, y, 0.0) for x in side for y in side])
    points[len(points) // 2, 2] = rise
    triangles = []
    for i in range(cells):
        for j in range(cells):
            if kept(side[i] + 2.0 / cells, side[j] + 2.0 / cells):
                a = i * (cells + 1) + j
                triangles += [(a, a + cells + 1, a + cells + 2), (a, a + cells + 2, a + 1)]
    turn = rotations.matrix(np.array([0.8, 0.2, -0.4, 0.4]))
    return np.float32(points @ turn.T + (30.0, 0.0, 0.0)), np.array(triangles)


@pytest.mark.parametrize("cells", [1, 7])
def test_a_flat_convex_mesh_is_one_sheet(cells):
    """Of a grid the four corners are left, in two faces that look both ways along its normal."""
    mesh = TriangleMesh(*turned_grid(cells))
    sheet = convex_sheet(mesh)
    assert sheet.is_flat
    assert len(sheet.loops[sheet.flat_face]) == 4
    assert sheet.mass_properties().volume == pytest.approx(16.0, rel=1e-5)
    np.testing.assert_allclose(sheet.mass_properties().center, (30.0, 0.0, 0.0), atol=1e-5)
    across = outward_areas(mesh).sum(axis=0)
    assert abs(sheet.normals[sheet.flat_face] @ across) == pytest.approx(16.0, rel=1e-5)


@pytest.mark.parametrize(
    "mesh",
    [
        turned_grid(7, lambda x, y: abs(x) + abs(y) > 0.1),
        turned_grid(6, lambda x, y: x < 1.0 or y < 1.0),
        turned_grid(6, lambda x, y: x < -0.7 or x > 0.7),
        turned_grid(4, rise=1e-3),
        joined(turned_grid(2), (turned_grid(2)[0] + np.float32([0.0, 0.0, 8.0]), turned_grid(2)[1])),
        box_mesh(HALF),
    ],
    ids=["hole", "notch", "two strips", "dented", "two planes", "box"],
)
def test_any_other_mesh_is_no_sheet(mesh):
    """What is not flat, or does not fill its outline."""
    assert convex_sheet(TriangleMesh(*mesh)) is None
