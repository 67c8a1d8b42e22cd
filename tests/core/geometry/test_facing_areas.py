"""Areas where pieces face each other: against rectangles, and exact intersections of convex polygons."""

import time

import numpy as np
import pytest
from scipy.spatial import ConvexHull, HalfspaceIntersection, Voronoi

from cairn.solver_core.geometry.facing_areas import facing_areas


def box(center, size, subdivide=1):
    """A box as triangles; each of its sides in as many squares along each edge."""
    steps = np.linspace(-0.5, 0.5, subdivide + 1)
    points, triangles = [], []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            for i in range(subdivide):
                for j in range(subdivide):
                    square = []
                    for u, v in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                        point = np.empty(3)
                        point[axis], point[(axis + 1) % 3], point[(axis + 2) % 3] = 0.5 * sign, steps[u], steps[v]
                        square.append(point)
                    if sign < 0.0:
                        square.reverse()
                    first = len(points)
                    points += square
                    triangles += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return np.array(points) * size + center, np.array(triangles)


def turned(piece, matrix, shift=(0.0, 0.0, 0.0)):
    return piece[0] @ np.asarray(matrix).T + shift, piece[1]


def random_turn(rng):
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return turn * np.sign(np.linalg.det(turn))


@pytest.mark.parametrize("subdivide", [1, 3])
@pytest.mark.parametrize("apart", [0.0, 0.015, -0.015])
def test_two_bricks(subdivide, apart):
    """0.3 by 0.2 m of their faces overlap, however finely they are cut, with a gap or an overlap, anyhow turned."""
    pieces = [
        box((0.0, 0.0, 0.0), (0.4, 0.2, 0.1), subdivide),
        box((0.1, 0.0, 0.1 + apart), (0.4, 0.2, 0.1), subdivide),
    ]
    turn = random_turn(np.random.default_rng(3))
    found = facing_areas([turned(piece, turn, (3.0, -2.0, 9.0)) for piece in pieces], 0.02)
    assert (found.first.tolist(), found.second.tolist()) == ([0], [1])
    assert found.area == pytest.approx([0.06], rel=1e-9)
    assert found.center[0] == pytest.approx(turn @ (0.05, 0.0, 0.05 + 0.5 * apart) + (3.0, -2.0, 9.0), abs=1e-9)
    assert found.normal[0] == pytest.approx(turn @ (0.0, 0.0, 1.0), abs=1e-9)
    assert abs(found.axis[0] @ turn @ (1.0, 0.0, 0.0)) == pytest.approx(1.0)
    assert found.bending_y == pytest.approx([0.3 * 0.2**2 / 6.0])
    assert found.bending_z == pytest.approx([0.2 * 0.3**2 / 6.0])
    polar = 0.06 * (0.3**2 + 0.2**2) / 12.0
    assert found.torsion == pytest.approx([polar / (0.5 * np.hypot(0.3, 0.2))])


def test_a_square_has_the_moduli_of_its_sides():
    """All axes are principal ones; along the diagonal the rim would be farther off."""
    turn = random_turn(np.random.default_rng(8))
    cubes = [turned(box((0.0, 0.0, z), (0.2, 0.2, 0.2)), turn) for z in (0.0, 0.2)]
    found = facing_areas(cubes, 0.01)
    assert found.bending_y == pytest.approx([0.2**3 / 6.0])
    assert found.bending_z == pytest.approx([0.2**3 / 6.0])


def test_what_is_farther_apart_or_only_beside_is_not_glued():
    """By a gap that is too wide, by an edge, by a corner; by faces that look the same way."""
    cube = box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    for at in ((0.0, 0.0, 1.03), (1.0, 1.0, 0.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.01)):
        assert len(facing_areas([cube, box(at, (1.0, 1.0, 1.0))], 0.02).area) == 0


def test_only_what_is_within_the_gap_counts():
    """A lid that opens by 0.1 is nearer than 0.04 over two fifths of its length, but for the tilt of the mean plane."""
    base = box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    angle = np.arctan(0.1)
    turn = np.array([[np.cos(angle), 0, -np.sin(angle)], [0, 1, 0], [np.sin(angle), 0, np.cos(angle)]])
    lid = turned(box((0.5, 0.0, 0.5), (1.0, 1.0, 1.0)), turn, (-0.5, 0.0, 0.5))
    found = facing_areas([base, lid], 0.04)
    assert found.area == pytest.approx([0.4], rel=5e-3)


def test_a_surface_that_is_inside_out_is_turned():
    first, (points, triangles) = box((0, 0, 0), (1, 1, 1)), box((0, 0, 1), (1, 1, 1))
    found = facing_areas([first, (points, triangles[:, ::-1])], 0.01)
    assert found.area == pytest.approx([1.0])


def test_a_piece_without_faces_has_no_area():
    nothing = np.zeros((0, 3)), np.zeros((0, 3), int)
    assert len(facing_areas([nothing, box((0, 0, 0), (1, 1, 1)), nothing], 0.1).area) == 0
    assert len(facing_areas([], 0.1).area) == 0


def convex_prism(rng, top):
    """A prism below (or on) z = 0 over random points of a plane, and its outline's half planes."""
    hull = ConvexHull(rng.normal(size=(12, 2)))
    outline = hull.points[hull.vertices]
    points = np.concatenate([np.column_stack([outline, np.full(len(outline), z)]) for z in (0.0, 1.0 if top else -1.0)])
    return (points, ConvexHull(points).simplices), hull.equations


@pytest.mark.parametrize("seed", range(12))
def test_random_polygons_beside_an_exact_intersection(seed):
    """Area, middle and moduli of the intersection of two convex polygons by SciPy's hulls."""
    rng = np.random.default_rng(seed)
    (low, low_planes), (high, high_planes) = convex_prism(rng, False), convex_prism(rng, True)
    pieces = [_outward(low), _outward(high)]
    turn, shift = random_turn(rng), rng.normal(size=3)
    found = facing_areas([turned(piece, turn, shift) for piece in pieces], 0.01)
    planes = np.concatenate([low_planes, high_planes])
    corners = HalfspaceIntersection(planes, np.zeros(2)).intersections
    hull = ConvexHull(corners)
    outline = hull.points[hull.vertices]
    assert found.area == pytest.approx([hull.volume], rel=1e-9)
    x, y = outline.T
    ahead_x, ahead_y = np.roll(x, -1), np.roll(y, -1)
    cross = x * ahead_y - ahead_x * y
    middle = np.array([np.sum((x + ahead_x) * cross), np.sum((y + ahead_y) * cross)]) / (6.0 * hull.volume)
    assert found.center[0] == pytest.approx(turn @ (*middle, 0.0) + shift, abs=1e-9)
    xx = np.sum((x * x + x * ahead_x + ahead_x**2) * cross) / 12.0 - hull.volume * middle[0] ** 2
    yy = np.sum((y * y + y * ahead_y + ahead_y**2) * cross) / 12.0 - hull.volume * middle[1] ** 2
    far = np.linalg.norm(outline - middle, axis=1).max()
    assert found.torsion == pytest.approx([(xx + yy) / far], rel=1e-9)
    axis = (turn.T @ found.axis[0])[:2]
    across = np.array([-axis[1], axis[0]])
    xy = np.sum((x * ahead_y + 2 * x * y + 2 * ahead_x * ahead_y + ahead_x * y) * cross) / 24.0
    xy -= hull.volume * middle[0] * middle[1]
    moments = np.array([[xx, xy], [xy, yy]])
    assert axis @ moments @ across == pytest.approx(0.0, abs=1e-9 * (xx + yy))
    assert found.bending_z == pytest.approx([axis @ moments @ axis / np.abs((outline - middle) @ axis).max()])
    assert found.bending_y == pytest.approx([across @ moments @ across / np.abs((outline - middle) @ across).max()])


def _outward(piece):
    points, triangles = piece
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    flip = np.einsum("ni,ni->n", np.cross(b - a, c - a), a - points.mean(axis=0)) < 0.0
    triangles = triangles.copy()
    triangles[flip] = triangles[flip][:, ::-1]
    return points, triangles


def voronoi_cells(count, seed):
    """Cells of random points in a block of 5 x 1 x 3 m, and the faces between them by Qhull: area of each pair."""
    rng, size = np.random.default_rng(seed), np.array([5.0, 1.0, 3.0])
    points = rng.uniform(size=(count, 3)) * size
    mirrors = [points]
    for axis in range(3):
        for wall in (0.0, size[axis]):
            other = points.copy()
            other[:, axis] = 2.0 * wall - other[:, axis]
            mirrors.append(other)
    diagram = Voronoi(np.concatenate(mirrors))
    cells = []
    for site in range(count):
        corners = diagram.vertices[diagram.regions[diagram.point_region[site]]]
        cells.append(_outward((corners, ConvexHull(corners).simplices)))
    areas = {}
    for (one, two), ridge in zip(diagram.ridge_points, diagram.ridge_vertices, strict=True):
        if one < count and two < count:
            corners = diagram.vertices[ridge]
            normal = points[two] - points[one] if two < len(points) else None
            normal = normal / np.linalg.norm(normal)
            side = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
            side /= np.linalg.norm(side)
            flat = np.column_stack([corners @ side, corners @ np.cross(normal, side)])
            areas[tuple(sorted((int(one), int(two))))] = ConvexHull(flat).volume
    return cells, areas


def test_all_faces_of_voronoi_cells():
    """500 cells: the faces of the diagram, those that are more than slivers all, and no others; in seconds."""
    cells, areas = voronoi_cells(500, 5)
    started = time.perf_counter()
    found = facing_areas(cells, 1e-4)
    assert time.perf_counter() - started < 10.0
    got = dict(zip(zip(found.first.tolist(), found.second.tolist(), strict=True), found.area, strict=True))
    large = {pair for pair, area in areas.items() if area > 2e-3}
    assert large <= got.keys() <= areas.keys()
    assert len(large) > 2000
    # a gap of 1e-4 m at the rims of faces that lean towards each other
    for pair in large:
        assert got[pair] == pytest.approx(areas[pair], abs=1e-3)
