"""Kinematic bodies whose scale is keyed: their surface is followed frame by frame."""

import bpy
import numpy as np
import pytest
from scene_maker import CUBE_CORNERS, model_points, same_points, world_vertices

from cairn.addon.read.faults import SceneError
from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.scene_export import export_scene
from cairn.solver_core.geometry import rotations
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

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
    radius = simulation._collision.workspace.shape_parameters.parameters[export.model.names.index("Growing"), 0]
    assert radius == pytest.approx(1.5, rel=1e-5)
    assert simulation.poses()[0][box, 2] == pytest.approx(2.0, abs=2e-2)


def test_keyed_scale_does_not_drag_and_a_wave_does(maker):
    """As in Blender: a plane that shrinks leaves a box where it is, also where its edge comes by."""
    plane = maker.mesh([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2, 3)])
    ground = maker.body("Ground", data=plane, type="PASSIVE", settings={"kinematic": True})
    maker.key(ground, "scale", {1: (10, 10, 10), 30: (4, 4, 4)})
    wave = maker.body("Wave", data=plane.copy(), shape="MESH", type="PASSIVE", location=(50, 0, 0))
    wave.modifiers.new("Wave", "WAVE")
    maker.body("Box", location=(3, 0, 0.5))
    export = export_scene(maker.scene)
    drags = dict(zip(export.model.names, export.model.arrays.surface_drags, strict=True))
    assert drags["Wave"]
    assert not drags["Ground"]
    simulation = Simulation(export.model, SimulationOptions(method="nncg", substeps=4))
    with simulation_paused(maker.scene):
        for frame in range(2, 31):
            simulation.advance_frame(sample_frame(maker.scene, export, frame).frame_input)
    box = simulation.poses()[0][export.model.names.index("Box")]
    np.testing.assert_allclose(box, (3, 0, 0.5), atol=1e-4)


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


def test_a_body_that_stands_still_does_not_grow_with_its_twin(maker):
    """Two bodies of one mesh, the scale of the first keyed: the second keeps its own."""
    growing(maker, "MESH")
    twin = maker.body(
        "Twin", data=maker.scene.objects["Growing"].data, shape="MESH", type="PASSIVE", location=(5, 0, 0)
    )
    export = export_scene(maker.scene)
    shapes = export.model.arrays.shapes
    first, second = (shapes.hull[shapes.body == export.model.names.index(name)][0] for name in ("Growing", twin.name))
    assert first != second


def test_moving_bodies_that_grow_say_that_they_do_not(maker):
    """Balls, boxes and compounds that move keep the start's size, with a warning that names them."""
    names = {"Thrown": "BOX", "Rolling": "SPHERE", "Parent": "COMPOUND"}
    for name, shape in names.items():
        ob = growing(maker, shape)
        ob.name = name
        ob.rigid_body.type = "ACTIVE"
    maker.body("Part", shape="BOX", parent=maker.scene.objects["Parent"])
    export = export_scene(maker.scene)
    noted = {note.object_name for note in export.notes if "scale is animated" in note.text}
    assert noted == set(names)


# ---- compounds


def seen_parts(maker, export, frame, names):
    """What the sample gives of a compound's parts, in the world, and the same parts as Blender shows them.

    Returns
    -------
    dict of str to (float64 [n, 3], float64 [n, 3])
        Vertices; of round parts the centre alone.
    """
    index = export.model.names.index("Parent")
    with simulation_paused(maker.scene):
        sample = sample_frame(maker.scene, export, frame)
        maker.scene.frame_set(frame)
        seen = {}
        for part, name in enumerate(names):
            if (index, part) in sample.vertices:
                given, shown = sample.vertices[index, part], world_vertices(name)
            else:
                given = np.array([sample.shapes[index, part].position])
                shown = np.array([maker.scene.objects[name].matrix_world.translation])
            seen[name] = given @ rotations.matrix(sample.orientation[index]).T + sample.position[index], shown
    return sample, seen


UNEVEN = {n: (1.0 + 0.1 * n, 1.0 + 0.2 * n, 1.0 + 0.05 * n) for n in range(1, 12)}
EVEN = {n: [1.0 + 0.1 * n] * 3 for n in range(1, 12)}


@pytest.mark.parametrize("scales", [UNEVEN, EVEN], ids=["uneven", "even"])
@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_parts_of_a_compound_that_grows_are_where_they_are_seen(maker, scales, mirror):
    """A turned box, a nested hull and a mesh that is scaled and goes its own way, on a parent that moves and turns."""
    parent = maker.body("Parent", shape="COMPOUND", type="PASSIVE", location=(1, 2, 3), rotation_euler=(0.3, 0.2, 0.5))
    maker.key(parent, "scale", {n: (mirror * x, y, z) for n, (x, y, z) in scales.items()})
    maker.key(parent, "rotation_euler", {1: (0.3, 0.2, 0.5), 11: (0.5, 0.2, 0.9)})
    maker.body("Turned", shape="BOX", parent=parent, location=(2, 0, 0), rotation_euler=(0.4, 0.1, 0.6))
    inner = maker.body("Inner", shape="COMPOUND", parent=parent, location=(0, 3, 0), rotation_euler=(0, 0, 1))
    maker.body("Far", shape="CONVEX_HULL", parent=inner, location=(0, 1, 0))
    mesh = maker.body("Own", shape="MESH", parent=parent, location=(0, 0, 4))
    maker.key(mesh, "scale", {n: (1.0, 1.0, 1.0 + 0.1 * n) for n in range(1, 12)})
    maker.key(mesh, "location", {1: (0, 0, 4), 11: (0, 1, 4)})
    maker.body("Free", shape="SPHERE", location=(99, 0, 0))
    export = export_scene(maker.scene)
    assert [note for note in export.notes if note.object_name == "Parent" and "they grow and push" in note.text]
    assert not [note for note in export.notes if "animated" in note.text and "keeps" in note.text]
    names = [part.object_name for body in export.bodies for part in body.growing_parts]
    assert sorted(names) == ["Far", "Own", "Turned"]
    for frame in (1, 6, 11, 20):
        _, seen = seen_parts(maker, export, frame, names)
        for given, shown in seen.values():
            assert same_points(given, shown, 2e-5)


def test_the_model_has_the_parts_of_the_start(maker):
    """Its tables hold the same vertices and the ball that the first frame shows."""
    parent = maker.body("Parent", shape="COMPOUND", type="PASSIVE", location=(1, 2, 3), rotation_euler=(0.3, 0.2, 0.5))
    maker.key(parent, "scale", EVEN)
    maker.body("Turned", shape="BOX", parent=parent, location=(2, 0, 0), rotation_euler=(0.4, 0.1, 0.6))
    maker.body("Ball", shape="SPHERE", parent=parent, location=(0, 0, 2))
    export = export_scene(maker.scene)
    maker.scene.frame_set(1)
    ball = np.array([maker.scene.objects["Ball"].matrix_world.translation])
    assert same_points(model_points(export, "Parent"), np.concatenate([world_vertices("Turned"), ball]), 1e-5)


def kinds_of_parts(export):
    return {part.object_name: type(part.shape).__name__ for body in export.bodies for part in body.growing_parts}


def test_round_parts_stay_round_where_the_scale_lets_them(maker):
    """Evenly scaled, turned ones too, in a compound that turns; a can that turns in it is its hull, a ball is not."""
    parent = maker.body("Parent", shape="COMPOUND", type="PASSIVE", location=(10, 20, 30))
    maker.key(parent, "scale", EVEN)
    maker.key(parent, "rotation_euler", {1: (0.3, 0.2, 0.5), 11: (0.5, 1.2, 2.9)})
    for shape in ("SPHERE", "CAPSULE", "CYLINDER", "CONE"):
        maker.body(shape, shape=shape, parent=parent, location=(len(shape), 0, 0), rotation_euler=(0.4, 0.1, 0.6))
    for shape in ("SPHERE", "CYLINDER"):
        turning = maker.body("Turning " + shape, shape=shape, parent=parent, location=(0, len(shape), 0))
        maker.key(turning, "rotation_euler", {1: (0, 0, 0), 11: (0, 0, 1)})
    export = export_scene(maker.scene)
    kinds = kinds_of_parts(export)
    assert kinds == {
        "SPHERE": "Sphere",
        "CAPSULE": "Capsule",
        "CYLINDER": "Cylinder",
        "CONE": "Cone",
        "Turning SPHERE": "Sphere",
        "Turning CYLINDER": "TriangleMesh",
    }
    assert [note.text for note in export.notes if "its part Turning CYLINDER may turn or be sheared" in note.text]
    for frame in (1, 6, 11):
        sample, seen = seen_parts(maker, export, frame, kinds)
        for given, shown in seen.values():
            assert same_points(given, shown, 2e-5)
        size = 1.0 + 0.1 * min(frame, 11)
        radii = {shape.parameters[0] for shape in sample.shapes.values()}
        assert np.allclose(list(radii), 0.5 * size, rtol=1e-5)


@pytest.mark.parametrize("first", [(1.0, 1.0, 1.0), UNEVEN[1]], ids=["even at first", "uneven"])
def test_round_parts_under_an_uneven_scale(maker, first):
    """Along the axes they are round by Blender's rule; what would be sheared is a hull, with a warning, and follows."""
    parent, scales = maker.body("Parent", shape="COMPOUND", type="PASSIVE"), UNEVEN | {1: first}
    maker.key(parent, "scale", scales)
    maker.body("Ball", shape="SPHERE", parent=parent)
    maker.body("Can", shape="CYLINDER", parent=parent, location=(3, 0, 0), rotation_euler=(0.5 * np.pi, 0, 0))
    maker.body("Slanted", shape="CYLINDER", parent=parent, location=(0, 3, 0), rotation_euler=(0.5, 0, 0))
    maker.body("Turned", shape="SPHERE", parent=parent, location=(0, 6, 0), rotation_euler=(0, 0, 0.6))
    export = export_scene(maker.scene)
    kinds = kinds_of_parts(export)
    assert kinds == {"Ball": "Sphere", "Can": "Cylinder", "Slanted": "TriangleMesh", "Turned": "TriangleMesh"}
    warned = [note.text for note in export.notes if "sheared" in note.text and note.level == "warning"]
    assert ["Slanted" in text for text in warned] == [True, False]
    assert ["Turned" in text for text in warned] == [False, True]
    for frame in (1, 6, 11):
        sample, seen = seen_parts(maker, export, frame, kinds)
        for given, shown in seen.values():
            assert same_points(given, shown, 2e-5)
        index, (x, y, _) = export.model.names.index("Parent"), scales[frame]
        parts = {name: sample.shapes.get((index, part)) for part, name in enumerate(kinds)}
        assert parts["Ball"].parameters[0] == pytest.approx(0.5 * x, rel=1e-5)
        assert parts["Can"].parameters[:2] == pytest.approx((0.5 * x, 0.5 * y), rel=1e-5)


@pytest.mark.parametrize("where", ["parent", "parts"])
def test_a_compound_that_grows_lifts_and_pushes(maker, where):
    """A box on its block and one on its ball rise at the speed of the surface, half a metre a second; none sinks in."""
    parent = maker.body("Parent", shape="COMPOUND", type="PASSIVE", settings={"friction": 1.0})
    block = maker.body("Block", shape="BOX", parent=parent, location=(-1, 0, 0))
    ball = maker.body("Ball", shape="SPHERE", parent=parent)
    scales = {frame: [1.0 + (frame - 1) / 24.0] * 3 for frame in range(1, 26)}
    for ob in [parent] if where == "parent" else [block, ball]:
        maker.key(ob, "scale", scales)
    settings = {"friction": 1.0, "use_deactivation": False}
    maker.body("On Block", shape="BOX", location=(-1.3, 0, 0.6), scale=(0.5, 0.5, 0.2), settings=settings)
    maker.body("On Ball", shape="BOX", location=(0, 0, 0.6), scale=(0.5, 0.5, 0.2), settings=settings)
    export = export_scene(maker.scene)
    loads = [export.model.names.index(name) for name in ("On Block", "On Ball")]
    simulation = Simulation(export.model, SimulationOptions(method="nncg"))
    heights, deepest = [], 0.0
    with simulation_paused(maker.scene):
        for frame in range(2, 26):
            report = simulation.advance_frame(sample_frame(maker.scene, export, frame).frame_input)
            heights.append(simulation.poses()[0][loads, 2])
            deepest = max(deepest, report.max_penetration)
    tops = 0.5 * (1.0 + np.arange(1, 25)[:, None] / 24.0)
    np.testing.assert_allclose(np.array(heights) - 0.1, tops * np.ones(2), atol=1e-3)
    np.testing.assert_allclose(simulation.velocities()[loads, 2], 0.5, atol=5e-3)
    assert deepest < 1e-3
    # It is lifted off its place, and dragged nowhere, although the block moves outwards where the parent is scaled.
    np.testing.assert_allclose(simulation.poses()[0][loads[0], :2], (-1.3, 0.0), atol=1e-4)


def test_a_part_whose_scale_changes_its_sign_is_refused(maker):
    """The compound, the part, the frame."""
    parent = maker.body("Parent", shape="COMPOUND", type="PASSIVE")
    part = maker.body("Part", shape="BOX", parent=parent)
    maker.key(part, "scale", {1: (1.0, 1.0, 1.0), 3: (1.0, 1.0, -1.0)})
    maker.body("Free", shape="SPHERE", location=(9, 0, 0))
    export = export_scene(maker.scene)
    with (
        simulation_paused(maker.scene),
        pytest.raises(SceneError, match="Parent: the scale of its part Part changes its sign by frame 3"),
    ):
        sample_frame(maker.scene, export, 3)


def test_a_can_that_is_turned_after_all_is_refused(maker):
    """Someone turns it after the scene was read: the compound, the part, the frame, and what to do."""
    parent = maker.body("Parent", shape="COMPOUND", type="PASSIVE")
    maker.key(parent, "scale", EVEN)
    can = maker.body("Can", shape="CYLINDER", parent=parent)
    maker.body("Free", shape="SPHERE", location=(9, 0, 0))
    export = export_scene(maker.scene)
    can.rotation_euler = (0.5, 0.0, 0.0)
    with (
        simulation_paused(maker.scene),
        pytest.raises(SceneError, match=r"Parent: at frame 3, its part Can: it is turned or sheared .* Convex Hull"),
    ):
        sample_frame(maker.scene, export, 3)


def test_a_compound_whose_meshes_change_keeps_its_size(maker):
    """A part whose hull would get other corners from frame to frame: both are said, and the part keeps its place."""
    parent = growing(maker, "COMPOUND")
    part = maker.body("Part", shape="CONVEX_HULL", parent=parent, settings={"mesh_source": "FINAL"})
    part.modifiers.new("Wave", "WAVE")
    maker.key(part, "location", {1: (0, 0, 0), 11: (0, 0, 1)})
    found = [note.text for note in export_scene(maker.scene).notes if note.object_name == "Growing"]
    for text in ("its scale is animated", "its mesh changes during", "its part Part is animated"):
        assert [note for note in found if text in note]


def test_a_compound_without_children_grows_as_its_hull(maker):
    """Its vertices are those of its own mesh; that it has no children is still said."""
    growing(maker, "COMPOUND")
    maker.body("Free", shape="SPHERE", location=(9, 0, 0))
    export = export_scene(maker.scene)
    index = export.model.names.index("Growing")
    assert [note for note in export.notes if "without children" in note.text]
    assert not [note for note in export.notes if "scale is animated" in note.text]
    with simulation_paused(maker.scene):
        sample = sample_frame(maker.scene, export, 13)
        maker.scene.frame_set(13)
        assert same_points(world_points(sample, index), world_vertices("Growing"), 1e-5)
