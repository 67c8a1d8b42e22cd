"""Convex parts of concave solids: they fill it, they are the same each time, and what is kept of them is checked."""

import functools
import sys
import time

import child_tasks
import numpy as np
import pytest
from concave_meshes import gear, prism, torus
from sample_meshes import box_mesh, joined

from cairn.solver_core.geometry import decomposition as module
from cairn.solver_core.geometry.decomposition import (
    Decomposition,
    DecompositionCache,
    DecompositionError,
    DecompositionSettings,
    hulls_of_parts,
)
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.solid_meshes import solid_mesh
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.compound import Compound, placed

needs_coacd = pytest.mark.skipif(module.coacd_version() is None, reason="CoACD is not installed")


@functools.cache
def torus_parts():
    vertices, triangles = torus(around=16, across=8)
    decomposition, center, size = Decomposition.of(vertices, triangles, DecompositionSettings())
    return decomposition, decomposition.run(), center, size


@needs_coacd
def test_parts_fill_the_solid_and_little_more():
    """Random points of the torus lie in some part; the volume is larger by less than the hollows that may be filled."""
    _, parts, center, size = torus_parts()
    hulls = hulls_of_parts(parts, center, size)
    solid = solid_mesh(*torus(around=16, across=8)).properties
    rng = np.random.default_rng(0)
    angle, across, depth = rng.uniform(0, 2 * np.pi, 500), rng.uniform(0, 2 * np.pi, 500), rng.uniform(0, 0.22, 500)
    distance = 0.98 * (1.0 + depth * np.cos(across))
    points = np.column_stack([distance * np.cos(angle), distance * np.sin(angle), depth * np.sin(across)])
    inside = [np.all(hull.normals @ points.T <= hull.offsets[:, None] + 0.01, axis=0) for hull in hulls]
    assert np.any(inside, axis=0).all()
    assert not np.any([np.all(hull.offsets > 0.0) for hull in hulls])  # the hole stays open
    volume = sum(hull.mass_properties().volume for hull in hulls)
    assert solid.volume * 0.999 <= volume <= 1.15 * solid.volume


@needs_coacd
def test_parts_are_the_same_each_time_and_at_every_size():
    """A second run gives the same bits; a mesh moved and scaled by 7 is the same to decompose."""
    decomposition, parts, _, _ = torus_parts()
    again = decomposition.run()
    assert len(again) == len(parts)
    assert all(np.array_equal(one, other) for one, other in zip(parts, again, strict=True))
    vertices, triangles = torus(around=16, across=8)
    other, _, size = Decomposition.of(7.0 * vertices + 3.0, triangles, DecompositionSettings())
    assert other.key == decomposition.key
    assert size == pytest.approx(7.0 * 2.5)
    finer, _, _ = Decomposition.of(vertices, triangles, DecompositionSettings(concavity=0.04))
    assert finer.key != decomposition.key


@pytest.mark.one_python
@needs_coacd
def test_maximal_parts_are_kept_to():
    """A gear in at most five parts."""
    decomposition, _, _ = Decomposition.of(*gear(), DecompositionSettings(maximal_parts=5))
    assert 2 <= len(decomposition.run()) <= 5


def small_decomposition():
    vertices = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)
    return Decomposition(vertices, np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]), DecompositionSettings())


# ---- in a process of its own


def open_dome(rings=24, around=48):
    """Half a sphere without a thickness: CoACD makes it anew from a grid and cuts it for many seconds."""
    u, v = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.linspace(0.02, np.pi / 2, rings), indexing="ij")
    vertices = np.stack([np.sin(v) * np.cos(u), np.sin(v) * np.sin(u), np.cos(v)], axis=-1).reshape(-1, 3)
    i, j = (index.ravel() for index in np.meshgrid(np.arange(around), np.arange(rings - 1), indexing="ij"))
    a, b = i * rings + j, (i + 1) % around * rings + j
    triangles = np.concatenate([np.stack([a, a + 1, b + 1], 1), np.stack([a, b + 1, b], 1)])
    return Decomposition.of(vertices, triangles, DecompositionSettings())[0]


def angle():
    """An L, which is two parts."""
    return Decomposition.of(*prism([(0, 0), (0, 1), (-1, 1), (-1, -1), (1, -1), (1, 0)], 0.5), DecompositionSettings())[
        0
    ]


def started_children(monkeypatch, function=None):
    """What children are started from now on; ``function`` runs in the place of theirs."""
    children, start = [], module.child_process.start

    def remember(own, *arguments):
        children.append(start(function or own, *arguments))
        return children[-1]

    monkeypatch.setattr(module.child_process, "start", remember)
    return children


@needs_coacd
def test_a_child_finds_the_same_parts(monkeypatch):
    """One child for all meshes; parts to the bit, in the order of the meshes; the parent is not kept waiting."""
    children = started_children(monkeypatch)
    meshes, longest, before = [torus_parts()[0], angle()], 0.0, time.perf_counter()
    outcomes = []
    for outcome in module.decompose_beside(meshes):
        longest = max(longest, time.perf_counter() - before)
        before = time.perf_counter()
        outcomes += [outcome] if outcome is not None else []
    assert len(children) == 1
    assert [len(parts) for parts in outcomes] == [len(torus_parts()[1]), len(angle().run())]
    assert all(np.array_equal(one, other) for one, other in zip(outcomes[0], torus_parts()[1], strict=True))
    # The first step starts the child; on a busy machine that may take a while.
    assert longest < 2.0


@needs_coacd
def test_a_child_is_ended_in_the_middle_of_a_mesh(monkeypatch, tmp_path):
    """Leaving the generator ends the child at once and leaves no file."""
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    children = started_children(monkeypatch)
    steps = module.decompose_beside([open_dome()])
    for _ in range(20):
        assert next(steps) is None
    assert children[0].returncode is None
    started = time.perf_counter()
    steps.close()
    assert children[0].returncode is not None
    assert time.perf_counter() - started < 5.0
    assert list(tmp_path.iterdir()) == []


@needs_coacd
def test_a_crash_costs_one_mesh(monkeypatch):
    """A library that aborts ends its child and no more; the next child goes on behind the mesh."""
    children = started_children(monkeypatch, child_tasks.crash_at_the_second)
    meshes = [angle(), small_decomposition(), angle()]
    outcomes = [outcome for outcome in module.decompose_beside(meshes) if outcome is not None]
    assert len(children) == 2
    assert isinstance(outcomes[1], DecompositionError)
    assert "crashed" in str(outcomes[1])
    assert len(outcomes[0]) == len(outcomes[2]) == len(angle().run())


def test_what_coacd_says_comes_back_from_the_child():
    """A mesh of which nothing can be made, or a package that is missing: the error, in one line."""
    flat = Decomposition(np.zeros((3, 3)), np.array([(0, 1, 2)]), DecompositionSettings())
    outcomes = [outcome for outcome in module.decompose_beside([flat]) if outcome is not None]
    assert len(outcomes) == 1
    assert isinstance(outcomes[0], DecompositionError)
    assert "CoACD" in str(outcomes[0])


def test_a_child_that_cannot_work_is_an_error(monkeypatch):
    """So the caller can do it itself."""
    started_children(monkeypatch, child_tasks.fail)
    with pytest.raises(OSError, match="could not"):
        list(module.decompose_beside([small_decomposition()]))


# ---- the cache


def test_parts_are_found_again_in_a_new_session(tmp_path):
    """What one cache has written another one reads, to the bit; without a folder it stays in memory."""
    decomposition = small_decomposition()
    parts = [decomposition.vertices, 0.5 * np.concatenate([decomposition.vertices, [(0.3, 0.3, 0.3)]])]
    DecompositionCache(tmp_path / "new").keep(decomposition, parts)
    found = DecompositionCache(tmp_path / "new").find(decomposition)
    assert [part.tobytes() for part in found] == [part.tobytes() for part in parts]
    assert [path.suffix for path in (tmp_path / "new").iterdir()] == [".npz"]
    assert DecompositionCache(None).find(decomposition) is None


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "nan", "far", "starts", "pickle", "integers"])
def test_damaged_files_count_as_none(tmp_path, damage):
    """A cache's file may hold anything; only finite points within the mesh's box are taken, and nothing is run."""
    decomposition = small_decomposition()
    cache = DecompositionCache(tmp_path)
    cache.keep(decomposition, [decomposition.vertices])
    (path,) = tmp_path.iterdir()
    points, starts = decomposition.vertices.copy(), np.array([0, 4])
    if damage in ("empty", "text", "cut"):
        whole = path.read_bytes()
        path.write_bytes({"empty": b"", "text": b"no zip", "cut": whole[: len(whole) // 2]}[damage])
    else:
        points[1, 1] = {"nan": np.nan, "far": 5.0}.get(damage, 0.0)
        starts = np.array([0, 9]) if damage == "starts" else starts
        kinds = {"pickle": object, "integers": int}
        points = points.astype(kinds[damage]) if damage in kinds else points
        np.savez(path, points=points, starts=starts)
    assert DecompositionCache(tmp_path).find(decomposition) is None


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path):
    """The parts stay in memory."""
    (tmp_path / "file").write_text("")
    cache = DecompositionCache(tmp_path / "file" / "folder")
    cache.keep(small_decomposition(), [small_decomposition().vertices])
    assert len(cache.find(small_decomposition())) == 1


def test_without_coacd_a_line_says_so(monkeypatch):
    """A package that is missing, and one that does not load."""
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(DecompositionError, match="CoACD cannot be loaded"):
        small_decomposition().run()


def test_open_meshes_are_searched_less(monkeypatch):
    """A shell bends everywhere: its cuts are looked for in a third of the steps, so that it does not block for long."""
    asked = []

    class Recorder:
        Mesh = staticmethod(lambda vertices, triangles: None)

        @staticmethod
        def run_coacd(mesh, **settings):
            asked.append(settings["mcts_iterations"])
            return [(small_decomposition().vertices, None)]

    monkeypatch.setattr(module, "load_coacd", lambda: Recorder)
    closed = small_decomposition()
    for triangles in (closed.triangles, closed.triangles[1:]):
        Decomposition(closed.vertices, triangles, closed.settings).run()
    assert asked[1] <= asked[0] / 3


def test_what_was_joined_of_boxes_is_in_parts_already():
    """A table of a top and four legs, which reach into it or only touch: its boxes come back, without CoACD."""
    legs = [box_mesh((0.05, 0.05, 0.5), (x, y, -0.5)) for x in (-0.9, 0.9) for y in (-0.4, 0.4)]
    vertices, triangles = joined(box_mesh((1.0, 0.5, 0.05)), *legs)
    table, center, size = Decomposition.of(vertices, triangles, DecompositionSettings())
    hulls = hulls_of_parts(table.convex_pieces(), center, size)
    assert [hull.mass_properties().volume for hull in hulls] == pytest.approx([0.2] + [0.01] * 4, rel=1e-5)
    fewer, _, _ = Decomposition.of(vertices, triangles, DecompositionSettings(maximal_parts=3))
    assert len(fewer.convex_pieces()) == 3


def test_what_has_a_concave_part_a_cavity_or_a_hole_is_left_to_coacd():
    """One part that is no piece sends all to CoACD; so does a single one, however convex."""
    box, inner = box_mesh((1.0, 1.0, 1.0)), box_mesh((0.5, 0.5, 0.5))
    beside = torus(around=16, across=8)
    for mesh in (
        box,
        joined(box, (beside[0] + (5.0, 0.0, 0.0), beside[1])),
        joined(box, (inner[0], inner[1][:, ::-1])),
        joined(box, (inner[0] + (5.0, 0.0, 0.0), inner[1][:-1])),
    ):
        assert Decomposition.of(*mesh, DecompositionSettings())[0].convex_pieces() is None


def test_parts_without_volume_are_left_out():
    """Slivers that are lines or sheets go; if nothing is left that is an error."""
    vertices = small_decomposition().vertices
    flat = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], float)
    line = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0)], float)
    assert len(hulls_of_parts([flat, vertices, line])) == 1
    with pytest.raises(DecompositionError, match="no part with a volume"):
        hulls_of_parts([flat, line])


def test_placed_shapes_weigh_the_same_elsewhere():
    """A turned and moved part has the moved centre and the turned inertia, whatever its class."""
    corners = np.random.default_rng(3).normal(size=(9, 3))
    angle = 0.7
    orientation = np.array([np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle)])
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])
    position = np.array([1.0, -2.0, 3.0])
    shapes = [Box((1.0, 0.5, 0.2), (0.3, 0, 0)), Sphere(0.4, (0, 1, 0)), ConvexHull.from_points(corners)]
    shapes.append(TriangleMesh(*gear()))
    shapes.append(Compound(shapes[:2], properties=shapes[2].mass_properties()))
    for shape in shapes:
        before, after = shape.mass_properties(), placed(shape, position, orientation).mass_properties()
        assert after.volume == pytest.approx(before.volume, rel=1e-12)
        assert after.center == pytest.approx(position + turn @ before.center, abs=1e-12)
        assert after.inertia == pytest.approx(turn @ before.inertia @ turn.T, abs=1e-10 * np.trace(before.inertia))
