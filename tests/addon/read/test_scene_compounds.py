"""Bodies of several shapes: compound parents with their children, and concave meshes that move."""

import importlib.util
import json
import sys

import bpy
import numpy as np
import pytest
from scene_maker import CUBE_CORNERS, CUBE_FACES, model_points, same_points, world_vertices

import cairn
from cairn.addon.bake import BakeStopped, bake_frames, bake_scene
from cairn.addon.read import concave_shapes
from cairn.addon.read.faults import SceneError
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings
from cairn.solver_core.geometry.decomposition import DecompositionCache

SINGLE = 2e-6
BOX, SPHERE, HULL = 0, 1, 2
needs_coacd = pytest.mark.skipif(importlib.util.find_spec("coacd") is None, reason="CoACD is not installed")

# An L: three unit cubes' worth of a prism, 5/6 of its hull.
L_OUTLINE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
L_CORNERS = [(x, y, z) for z in (0.0, 1.0) for x, y in L_OUTLINE]
L_FACES = [tuple(reversed(range(6))), tuple(range(6, 12))] + [
    (i, (i + 1) % 6, 6 + (i + 1) % 6, 6 + i) for i in range(6)
]


@pytest.fixture(autouse=True)
def own_cache(monkeypatch):
    """Parts of this test only, and Cairn's properties."""
    cairn.register()
    monkeypatch.setattr(concave_shapes, "_cache", DecompositionCache(None))
    monkeypatch.setattr(concave_shapes, "_failures", {})


def texts(export, name, level=None):
    return [note.text for note in export.notes if note.object_name == name and level in (None, note.level)]


def shape_kinds(export, name):
    shapes = export.model.arrays.shapes
    return sorted(shapes.kind[shapes.body == export.model.names.index(name)].tolist())


def volume_and_center(export, name):
    """Mass properties of closed form are compared through the inertia and the centre, which the model holds."""
    index = export.model.names.index(name)
    return export.model.initial_state.position[index], export.model.arrays.inertia[index]


# Compound parents


def hammer(maker, **values):
    """A parent with a box, a ball and a wedge as children, all scaled and turned."""
    parent = maker.body("Hammer", shape="COMPOUND", location=(1, 2, 5), rotation_euler=(0.3, 0.2, 0.5), **values)
    maker.body("Handle", shape="BOX", parent=parent, location=(0, 0, 1), scale=(0.2, 0.2, 2.0))
    maker.body("Knob", shape="SPHERE", parent=parent, location=(0, 0, -0.2), scale=(0.4, 0.4, 0.4))
    wedge = maker.mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    maker.body("Head", data=wedge, parent=parent, location=(0.1, 0, 2), rotation_euler=(0, 1, 0.4), scale=(1, -1, 1))
    return parent


@pytest.mark.parametrize("kind", ["ACTIVE", "PASSIVE", "ANIMATED"])
def test_children_are_exact_parts_where_they_are_seen(maker, kind):
    """A box is a box, a ball a ball, a hull a hull, at the vertices that Blender shows; one body for all three."""
    parent = hammer(maker, scale=(-1.5, 1.5, 1.5), type="PASSIVE" if kind == "PASSIVE" else "ACTIVE")
    parent.rigid_body.kinematic = kind == "ANIMATED"
    export = export_scene(maker.scene)
    assert export.model.names == ("Hammer",)
    assert shape_kinds(export, "Hammer") == [BOX, SPHERE, HULL]
    maker.scene.frame_set(1)
    knob = np.array(bpy.data.objects["Knob"].matrix_world.translation)
    seen = np.concatenate([world_vertices("Handle"), world_vertices("Head"), [knob]])
    assert same_points(model_points(export, "Hammer"), seen, 1e-5)
    radius = export.model.arrays.shapes.parameters[export.model.arrays.shapes.kind == SPHERE, 0]
    assert radius == pytest.approx([0.5 * 0.4 * 1.5], rel=1e-5)
    assert any("as large as they look" in text for text in texts(export, "Hammer", "info"))


def test_nested_compounds_give_their_children(maker):
    """A compound parent's child that is one itself adds its children, not its own mesh."""
    outer = maker.body("Outer", shape="COMPOUND", location=(0, 0, 3))
    inner = maker.body("Inner", shape="COMPOUND", parent=outer, location=(2, 0, 0), rotation_euler=(0, 0, 1))
    maker.body("Near", shape="BOX", parent=outer)
    maker.body("Far", shape="BOX", parent=inner, location=(0, 3, 0))
    export = export_scene(maker.scene)
    assert export.model.names == ("Outer",)
    maker.scene.frame_set(1)
    seen = np.concatenate([world_vertices("Near"), world_vertices("Far")])
    assert same_points(model_points(export, "Outer"), seen, 1e-5)
    # Two unit cubes of half the mass each, by the theorem of parallel axes.
    center, inertia = volume_and_center(export, "Outer")
    places = np.array([bpy.data.objects[name].matrix_world.translation for name in ("Near", "Far")])
    assert center == pytest.approx(places.mean(axis=0), abs=1e-5)
    distance = np.linalg.norm(places[1] - places[0])
    assert np.sort(inertia) == pytest.approx([1 / 6, 1 / 6 + distance**2 / 4, 1 / 6 + distance**2 / 4], rel=1e-5)


def test_only_children_that_are_bodies_of_the_world_count(maker):
    """A plain child, and one whose body is in no collection of the world, are no parts."""
    parent = maker.body("Parent", shape="COMPOUND")
    maker.body("Part", shape="BOX", parent=parent, location=(0, 0, 2))
    maker.object("Plain", maker.mesh(), parent=parent, location=(5, 0, 0))
    outsider = maker.body("Outsider", shape="BOX", parent=parent, location=(9, 0, 0))
    maker.world.collection.objects.unlink(outsider)
    export = export_scene(maker.scene)
    maker.scene.frame_set(1)
    assert same_points(model_points(export, "Parent"), world_vertices("Part"), SINGLE)


def test_a_compound_without_children_says_so(maker):
    """It stands as the hull of its own mesh."""
    maker.body("Alone", shape="COMPOUND")
    export = export_scene(maker.scene)
    assert same_points(model_points(export, "Alone"), world_vertices("Alone"), SINGLE)
    assert any("without children" in text for text in texts(export, "Alone", "warning"))


@pytest.mark.parametrize(("type_", "flat"), [("PASSIVE", True), ("ACTIVE", False)])
def test_compounds_of_sheets(maker, type_, flat):
    """Two planes make a two-sided corner where they do not move, and two plates where they do."""
    plane = maker.mesh([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2, 3)])
    parent = maker.body("Corner", shape="COMPOUND", type=type_)
    maker.body("Ground", data=plane, shape="BOX", parent=parent)
    maker.body(
        "Wall", data=plane, shape="CONVEX_HULL", parent=parent, location=(1, 0, 1), rotation_euler=(0, 1.570796, 0)
    )
    export = export_scene(maker.scene)
    thickness = np.ptp(model_points(export, "Corner")[:8], axis=0)[2]
    assert thickness == pytest.approx(0.0 if flat else 2.0 / 200.0, abs=1e-6)
    assert sum("is flat" in text for text in texts(export, "Corner")) == 2


def test_sheared_children_are_hulls_of_what_is_seen(maker):
    """An uneven parent's turned children: a box is the exact slanted block, a ball its mesh's hull with a warning."""
    parent = maker.body("Parent", shape="COMPOUND", scale=(3, 1, 1))
    maker.body("Block", shape="BOX", parent=parent, rotation_euler=(0, 0, 0.6))
    maker.body("Ball", shape="SPHERE", parent=parent, location=(2, 0, 0), rotation_euler=(0, 0, 0.6))
    export = export_scene(maker.scene)
    maker.scene.frame_set(1)
    seen = np.concatenate([world_vertices("Block"), world_vertices("Ball")])
    assert same_points(model_points(export, "Parent"), seen, 1e-5)
    assert [text for text in texts(export, "Parent", "warning") if "Ball is sheared" in text]
    assert not [text for text in texts(export, "Parent", "warning") if "Block" in text]


def test_children_that_move_in_their_parent_are_noted(maker):
    """The shape keeps the start's place; a parent that is animated as a whole is no reason."""
    parent = maker.body("Parent", shape="COMPOUND", settings={"kinematic": True})
    maker.key(parent, "location", {1: (0, 0, 0), 20: (0, 0, 5)})
    maker.body("Still", shape="BOX", parent=parent)
    maker.key(maker.body("Lid", shape="BOX", parent=parent), "location", {1: (0, 0, 2), 20: (0, 0, 4)})
    found = texts(export_scene(maker.scene), "Parent", "warning")
    assert [text for text in found if "its part Lid is animated" in text]
    assert not [text for text in found if "Still" in text]


def test_a_part_that_gives_no_shape_names_both(maker):
    """The error names the compound, the part and the reason."""
    parent = maker.body("Parent", shape="COMPOUND")
    maker.body("Torn", data=maker.mesh([(0, 0, 0), (float("nan"), 0, 0)], []), parent=parent)
    with pytest.raises(SceneError, match=r"Parent: its part Torn: vertex 1 of its mesh"):
        export_scene(maker.scene)


# Concave meshes


@needs_coacd
@pytest.mark.parametrize("scale", [(1, 1, 1), (-1, 1, 1), (2, 0.5, 3), (-2, 0.5, 1)])
def test_a_concave_mesh_is_its_parts(maker, scale):
    """The parts of an L fill it and leave its corner free, mirrored and unevenly scaled; its mass is the solid's."""
    maker.body("Ell", data=maker.mesh(L_CORNERS, L_FACES), shape="MESH", scale=scale, rotation_euler=(0, 0, 0.4))
    export = export_scene(maker.scene)
    maker.scene.frame_set(1)
    assert set(shape_kinds(export, "Ell")) == {HULL}
    assert 2 <= len(shape_kinds(export, "Ell")) <= 4
    points, seen = model_points(export, "Ell"), world_vertices("Ell")
    size = np.ptp(seen, axis=0).max()
    nearest = np.linalg.norm(seen[:, None] - points[None], axis=2).min(axis=1)
    assert nearest.max() <= 1e-3 * size  # every corner of the mesh is one of some part
    # Centre of area of an L of a 2 x 1 and a 1 x 1 block.
    local = np.array([(2 * 1.0 + 1 * 0.5) / 3, (2 * 0.5 + 1 * 1.5) / 3, 0.5])
    matrix = np.array(bpy.data.objects["Ell"].matrix_world)
    center, _ = volume_and_center(export, "Ell")
    assert center == pytest.approx(matrix[:3, :3] @ local + matrix[:3, 3], abs=1e-5 * size)
    assert any("convex parts" in text for text in texts(export, "Ell", "info"))
    assert not texts(export, "Ell", "warning")


@needs_coacd
def test_a_mesh_that_is_convex_stays_one_hull(maker):
    """A cube with shape Mesh is decomposed by nobody, in either direction of its faces."""
    maker.body("Cube", shape="MESH")
    maker.body("Inside", data=maker.mesh(faces=[face[::-1] for face in CUBE_FACES]), shape="MESH", location=(5, 0, 0))
    export = export_scene(maker.scene, decompose=False)
    assert shape_kinds(export, "Cube") == shape_kinds(export, "Inside") == [HULL]
    assert export.pending == []
    assert any("inside out" in text for text in texts(export, "Inside", "info"))


@needs_coacd
def test_decomposing_waits_until_it_is_asked_for(maker):
    """Without it the hull stands for the mesh and is said; instances and copies of one mesh are one to decompose."""
    mesh = maker.mesh(L_CORNERS, L_FACES)
    for number, scale in enumerate((1.0, 2.0, -3.0)):
        maker.body(f"Ell{number}", data=mesh, shape="MESH", scale=(scale,) * 3, location=(0, 0, 9 * number))
    maker.body("Copy", data=mesh.copy(), shape="MESH", location=(50, 0, 0))
    export = export_scene(maker.scene, decompose=False)
    # The mirrored one is another form.
    assert [name for name, _ in export.pending] == ["Ell0", "Ell2"]
    assert shape_kinds(export, "Ell1") == [HULL]
    list(concave_shapes.decompose([decomposition for _, decomposition in export.pending]))
    export = export_scene(maker.scene, decompose=False)
    assert export.pending == []
    assert len(shape_kinds(export, "Ell1")) == len(shape_kinds(export, "Copy")) >= 2


@needs_coacd
def test_a_bake_decomposes_first_and_shows_it(maker):
    """Steps of their own that name the mesh, between reading and compiling; closing there leaves nothing behind."""
    maker.body("Ell", data=maker.mesh(L_CORNERS, L_FACES), shape="MESH", location=(0, 0, 3))
    steps = bake_frames(maker.scene, BakeSettings(start=1, end=3, method="nncg"))
    progress = next(steps)
    assert progress.stage == "export"
    while progress.stage == "export":
        progress = next(steps)
    assert (progress.stage, progress.done, progress.total) == ("decompose", 0, 1)
    assert "Ell" in progress.text
    while progress.stage == "decompose":
        progress = next(steps)
    assert progress.stage == "export"
    assert len(concave_shapes.cache()._parts) == 1
    steps.close()
    assert not bpy.data.objects["Ell"].cairn.is_baked


def test_a_stop_ends_the_decomposition_in_the_middle(maker, monkeypatch):
    """What ESC throws in reaches the work that goes on beside, and nothing is kept of it."""
    ended = []

    def endless(decompositions):
        try:
            while True:
                yield None
        finally:
            ended.append(True)

    monkeypatch.setattr(concave_shapes, "decompose_beside", endless)
    monkeypatch.setattr(concave_shapes, "coacd_version", lambda: "1.0")
    maker.body("Ell", data=maker.mesh(L_CORNERS, L_FACES), shape="MESH", location=(0, 0, 3))
    steps = bake_frames(maker.scene, BakeSettings(start=1, end=3, method="nncg"))
    next(progress for progress in steps if progress.stage == "decompose")
    assert [next(steps).stage for _ in range(4)] == 4 * ["decompose"]
    assert ended == []
    with pytest.raises(BakeStopped):
        steps.throw(BakeStopped())
    assert ended == [True]
    assert concave_shapes.cache()._parts == {}


def refused(decompositions):
    """In place of ``decompose_beside`` where no child can be started."""
    raise OSError("this Python does not know its own executable")
    yield


def test_where_no_process_can_be_started_blender_does_it_and_says_so(maker, monkeypatch):
    """The parts are the same; a note tells why the window stood still."""
    cube = np.array(CUBE_CORNERS, float) / 2.0
    monkeypatch.setattr(concave_shapes, "decompose_beside", refused)
    monkeypatch.setattr(concave_shapes, "coacd_version", lambda: "1.0")
    monkeypatch.setattr(concave_shapes.Decomposition, "run", lambda self: [0.5 * cube, 0.25 * cube])
    maker.body("Ell", data=maker.mesh(L_CORNERS, L_FACES), shape="MESH", location=(0, 0, 3))
    result = bake_scene(maker.scene, BakeSettings(start=1, end=2, method="nncg"))
    assert len(concave_shapes.cache()._parts) == 1
    assert "its own executable" in json.dumps(result.report)


def test_without_coacd_the_hull_stands_with_a_warning(maker, monkeypatch):
    """The object is named, and where to read on; also where the package is there but does not load."""
    maker.body("Ell", data=maker.mesh(L_CORNERS, L_FACES), shape="MESH")
    monkeypatch.setattr(concave_shapes, "coacd_version", lambda: None)
    export = export_scene(maker.scene)
    assert shape_kinds(export, "Ell") == [HULL]
    assert any("CoACD is not installed" in text and "docs/" in text for text in texts(export, "Ell", "warning"))
    monkeypatch.setattr(concave_shapes, "coacd_version", lambda: "0.0.1")
    monkeypatch.setitem(sys.modules, "coacd", None)
    # A child of its own would find what this process does not.
    monkeypatch.setattr(concave_shapes, "decompose_beside", refused)
    assert any("cannot be loaded" in text for text in texts(export_scene(maker.scene), "Ell", "warning"))


@needs_coacd
def test_settings_of_the_object_count(maker):
    """Maximum Parts bounds the number; other settings are another decomposition."""
    comb = [(0, 0), (9, 0), (9, 1)]
    for tooth in range(8, 0, -2):
        comb += [(tooth, 1), (tooth, 3), (tooth - 1, 3), (tooth - 1, 1)]
    comb += [(0, 1)]
    count = len(comb)
    corners = [(x, y, z) for z in (0.0, 1.0) for x, y in comb]
    faces = [tuple(reversed(range(count))), tuple(range(count, 2 * count))]
    faces += [(i, (i + 1) % count, count + (i + 1) % count, count + i) for i in range(count)]
    ob = maker.body("Comb", data=maker.mesh(corners, faces), shape="MESH")
    assert len(shape_kinds(export_scene(maker.scene), "Comb")) >= 5
    ob.cairn.maximal_parts = 3
    assert 2 <= len(shape_kinds(export_scene(maker.scene), "Comb")) <= 3


# Shapes that change


def change_by_shape_key(maker, ob):
    ob.shape_key_add(name="Basis")
    key = ob.shape_key_add(name="Grown")
    key.data[0].co.x += 1.0
    key.value = 1.0
    key.keyframe_insert("value", frame=5)


def change_by_modifier_key(maker, ob):
    modifier = ob.modifiers.new("Bend [1]", "SIMPLE_DEFORM")
    modifier.keyframe_insert("factor", frame=5)


def change_by_moving_target(maker, ob):
    target = maker.object("Target")
    maker.key(target, "location", {1: (0, 0, 0), 9: (0, 0, 4)})
    modifier = ob.modifiers.new("Hook", "HOOK")
    modifier.object = target


def change_by_time(maker, ob):
    ob.modifiers.new("Wave", "WAVE")


CHANGES = [change_by_shape_key, change_by_modifier_key, change_by_moving_target, change_by_time]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize(
    ("shape", "source", "noted"),
    [
        ("CONVEX_HULL", "DEFORM", True),
        ("CONVEX_HULL", "BASE", False),
        ("BOX", "BASE", True),
        ("COMPOUND", "BASE", True),
    ],
)
def test_shapes_that_change_are_noted(maker, change, shape, source, noted):
    """What the shape is made of may change by keys, targets and time; a box is about the final mesh, a base is not."""
    ob = maker.body("Body", shape=shape if shape != "COMPOUND" else "BOX", settings={"mesh_source": source})
    if shape == "COMPOUND":
        ob.parent = maker.body("Parent", shape="COMPOUND")
    change(maker, ob)
    export = export_scene(maker.scene)
    found = texts(export, export.model.names[0], "warning")
    assert any("its mesh changes" in text for text in found) == bool(noted)


def test_a_still_modifier_is_no_change(maker):
    """A bevel, and a mirror about an object that stands still."""
    ob = maker.body("Body")
    ob.modifiers.new("Bevel", "BEVEL")
    ob.modifiers.new("Mirror", "MIRROR").mirror_object = maker.object("Center")
    assert not any("its mesh changes" in text for text in texts(export_scene(maker.scene), "Body"))


# Overlaps at the start


def test_overlaps_are_listed_before_a_bake(maker):
    """The check names both objects and the depth, worst first, of what is deeper than a share of its size."""
    maker.body("Floor", data=maker.mesh(np.multiply(CUBE_CORNERS, (20, 20, 1))), type="PASSIVE", location=(0, 0, -0.5))
    maker.body("Sunk", shape="BOX", location=(0, 0, 0.4))
    maker.body("Deep", shape="BOX", location=(4, 0, 0.2))
    maker.body("Standing", shape="BOX", location=(-4, 0, 0.4999))
    assert bpy.ops.cairn.check_scene(find_overlaps=True) == {"FINISHED"}
    check = bpy.context.window_manager.cairn.check
    for name in ("Sunk", "Deep"):
        assert name in check
    assert "Standing" not in check
    assert check.index('"Deep"') < check.index('"Sunk"')
    assert "0.1 to 0.3 deep in Floor, 10 to 30 %" in check


@pytest.mark.parametrize(("height", "percent"), [(0.493, "0.7"), (0.4, "10"), (-0.5, "100")])
def test_the_share_of_an_overlap_is_written_plainly(maker, height, percent):
    """Also where it has three digits, as for a box that sits in the floor as deep as it is high."""
    maker.body("Floor", data=maker.mesh(np.multiply(CUBE_CORNERS, (20, 20, 4))), type="PASSIVE", location=(0, 0, -2))
    maker.body("Sunk", shape="BOX", location=(0, 0, height))
    assert bpy.ops.cairn.check_scene(find_overlaps=True) == {"FINISHED"}
    assert f" deep in Floor, {percent} % of" in bpy.context.window_manager.cairn.check


def test_many_overlaps_are_counted():
    """They make one line with their number and depths; without overlap there is nothing, and no kernel is asked."""
    from cairn.addon.read.notes import grouped_notes
    from cairn.addon.read.scene_notes import starting_overlaps
    from cairn.solver_core.geometry.shapes import Sphere
    from cairn.solver_core.model.builder import ModelBuilder

    builder = ModelBuilder()
    for number in range(13):
        position = 0.9 * number + 0.05 * (number > 6)
        builder.add_body(shape=Sphere(0.5), position=(position, 0, 0), name=f"Ball{number}")
    notes = starting_overlaps(builder.build())
    assert len(notes) == 12
    ((level, text, names),) = grouped_notes(notes)
    assert (level, len(names)) == ("warning", 12)
    assert text.startswith("starts 0.05 to 0.1 deep in Ball")
    assert " and 11 more, 5 to 10 % of the smaller one's size" in text
    apart = ModelBuilder()
    for number in range(3):
        apart.add_body(shape=Sphere(0.5), position=(1.0 * number, 0, 0))
    assert starting_overlaps(apart.build()) == []
