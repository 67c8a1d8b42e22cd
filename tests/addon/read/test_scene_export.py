"""Blender scene to model: what is simulated is what is seen.

The truth is Blender's own evaluated scene: a shape's corners are the mesh's vertices where ``matrix_world`` puts them,
and flags, ranges, gravity and speed mean what Blender's manual and its source say.
"""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion
from placements import PLACEMENTS, place_on_bone
from scene_maker import CUBE_CORNERS, model_points, quaternion_matrix, same_points, world_vertices

from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.scene_export import export_scene

STATIC, KINEMATIC, DYNAMIC = 0, 1, 2
# Blender's matrices are single precision.
SINGLE = 2e-6


def body_of(export, name):
    return export.bodies[export.model.names.index(name)]


def kind_of(export, name):
    return export.model.initial_state.kind[export.model.names.index(name)]


def texts(export, name=None, level=None):
    return [note.text for note in export.notes if note.object_name == name and level in (None, note.level)]


def frame_kinds(maker, name, frames):
    export = export_scene(maker.scene)
    row = export.model.names.index(name)
    with simulation_paused(maker.scene):
        return [int(sample_frame(maker.scene, export, frame).kind[row]) for frame in frames]


# Poses and shapes


@pytest.fixture(params=PLACEMENTS, ids=lambda place: place.__name__.removeprefix("place_"))
def placement(request):
    return request.param


@pytest.mark.parametrize("shape", ["BOX", "CONVEX_HULL"])
def test_shape_stands_where_the_mesh_is_seen(maker, placement, shape, tmp_path):
    """Corners of the shape are the mesh's corners, also in a file that was just opened, at another frame."""
    placement(maker)
    bpy.data.objects["Body"].rigid_body.collision_shape = shape
    maker.scene.frame_set(13)
    maker.reopen(tmp_path / "scene.blend")
    export = export_scene(maker.scene)
    maker.scene.frame_set(1)
    expected = world_vertices("Body")
    size = np.ptp(expected, axis=0).max() + np.abs(expected).max()
    assert same_points(model_points(export, "Body"), expected, SINGLE * size)


def test_model_pose_is_proper_and_moves_the_mesh(maker, placement):
    """Moving the rigid pose and applying the motion to the start's matrix moves the mesh with the shape."""
    placement(maker)
    export = export_scene(maker.scene)
    body = body_of(export, "Body")
    rotation = body.rigid_start[:3, :3]
    assert np.linalg.det(rotation) == pytest.approx(1.0, abs=1e-12)
    assert rotation.T @ rotation == pytest.approx(np.eye(3), abs=1e-12)
    motion = np.array(
        Matrix.Translation((1, 2, 3)) @ Quaternion((0.3, 0.5, -0.2, 0.9)).normalized().to_matrix().to_4x4()
    )
    baked = (motion @ body.rigid_start) @ np.linalg.inv(body.rigid_start) @ body.matrix_world_start
    assert baked == pytest.approx(motion @ body.matrix_world_start, abs=1e-9)
    basis = np.linalg.inv(body.parent_matrix_start) @ body.matrix_world_start
    if not bpy.data.objects["Body"].constraints:
        maker.scene.frame_set(1)
        ob = bpy.data.objects["Body"].evaluated_get(bpy.context.evaluated_depsgraph_get())
        assert basis == pytest.approx(np.array(ob.matrix_basis), abs=1e-5)


def test_center_of_mass_is_the_volumes(maker):
    """A cube whose origin lies outside turns about its middle, with a cube's inertia, and that is said."""
    maker.body(data=maker.mesh(np.add(CUBE_CORNERS, (2.0, 0.0, 0.0))), settings={"mass": 3.0})
    export = export_scene(maker.scene)
    assert export.model.initial_state.position[0] == pytest.approx([2, 0, 0], abs=1e-9)
    assert export.model.arrays.inertia[0] == pytest.approx(3.0 / 6.0, rel=1e-6)
    assert any("centre of mass" in text for text in texts(export, "Body"))


@pytest.mark.parametrize(
    ("scale", "radius"), [((1, 1, 1), 1.5), ((2, 2, 2), 3.0), ((2, 1, 1), 3.0), ((1, 1, 2), 1.5), ((-2, 1, 1), 3.0)]
)
def test_sphere_has_blenders_radius(maker, scale, radius):
    """Largest half side before scaling, times the scale along X: where Bullet lets such a ball rest."""
    points = np.multiply(CUBE_CORNERS, (1, 2, 3)) + np.array([0.5, 0, 0])
    maker.body(data=maker.mesh(points), shape="SPHERE", scale=scale, location=(0, 0, 1))
    export = export_scene(maker.scene)
    assert export.model.arrays.shapes.parameters[0, 0] == pytest.approx(radius, rel=1e-6)
    assert model_points(export, "Body")[0] == pytest.approx([0.5 * scale[0], 0, 1], abs=1e-6)


def test_a_compound_parent_without_children_is_a_hull_with_a_warning(maker):
    """It has nothing but its own mesh."""
    maker.body(shape="COMPOUND", rotation_euler=(0.1, 0.2, 0.3))
    export = export_scene(maker.scene)
    maker.scene.frame_set(1)
    assert same_points(model_points(export, "Body"), world_vertices("Body"), SINGLE)
    assert any("convex hull" in text for text in texts(export, "Body", "warning"))


def test_compound_is_its_children(maker):
    """A compound parent's shape is its children's, and the children are no bodies of their own."""
    parent = maker.body("Parent", shape="COMPOUND", location=(1, 0, 5), rotation_euler=(0, 0, 0.5), scale=(2, 2, 2))
    for x in (-3, 3):
        maker.body(f"Part{x}", location=(x, 0, 0), scale=(1, 0.5, 1), parent=parent)
    export = export_scene(maker.scene)
    assert export.model.names == ("Parent",)
    maker.scene.frame_set(1)
    ends = np.concatenate([world_vertices("Part-3"), world_vertices("Part3")])
    points = model_points(export, "Parent")
    assert points.min(axis=0) == pytest.approx(ends.min(axis=0), abs=1e-5)
    assert points.max(axis=0) == pytest.approx(ends.max(axis=0), abs=1e-5)


@pytest.mark.parametrize(("source", "extent"), [("BASE", [1, 1, 1]), ("DEFORM", [1, 1, 3]), ("FINAL", [3, 1, 3])])
def test_hull_is_made_of_the_source(maker, source, extent):
    """BASE is before modifiers, DEFORM before modifiers that make vertices, FINAL after all."""
    ob = maker.body(settings={"mesh_source": source})
    stretch = ob.modifiers.new("Stretch", "SIMPLE_DEFORM")
    stretch.deform_method, stretch.deform_axis, stretch.factor = "STRETCH", "Z", 2.0
    export = export_scene(maker.scene)
    assert np.ptp(model_points(export, "Body"), axis=0)[2] == pytest.approx(extent[2], rel=1e-5)
    ob.modifiers.new("Array", "ARRAY").count = 3
    extents = np.ptp(model_points(export_scene(maker.scene), "Body"), axis=0)
    assert extents[0] / extents[1] == pytest.approx(extent[0], rel=1e-5)
    assert extents[2] == pytest.approx(extent[2], rel=1e-5)


@pytest.mark.parametrize(("source", "height"), [("BASE", 1), ("DEFORM", 3), ("FINAL", 3)])
def test_shape_keys_deform(maker, source, height):
    """Shape keys belong to the deformed mesh."""
    ob = maker.body(settings={"mesh_source": source})
    ob.shape_key_add(name="Basis")
    tall = ob.shape_key_add(name="Tall")
    for point in tall.data:
        point.co.z *= 3.0
    tall.value = 1.0
    assert np.ptp(model_points(export_scene(maker.scene), "Body"), axis=0) == pytest.approx([1, 1, height], rel=1e-5)
    ob.modifiers.new("Array", "ARRAY").count = 3
    assert np.ptp(model_points(export_scene(maker.scene), "Body"), axis=0)[2] == pytest.approx(height, rel=1e-5)


def test_box_is_sized_after_all_modifiers(maker):
    """As Blender's bounding box, whatever the source."""
    ob = maker.body(shape="BOX", settings={"mesh_source": "BASE"})
    ob.modifiers.new("Array", "ARRAY").count = 3
    assert np.ptp(model_points(export_scene(maker.scene), "Body"), axis=0) == pytest.approx([3, 1, 1], rel=1e-5)


def test_instances_share_one_hull(maker):
    """Copies of a mesh, however turned, are one hull in the model."""
    mesh = maker.mesh()
    parent = maker.object("Parent", scale=(1.7, 1.7, 1.7), rotation_euler=(0.3, 0.4, 0.5))
    for place in range(20):
        maker.body(
            f"B{place}", data=mesh, location=(3 * place, 0, 0), rotation_euler=(place, 2 * place, 3), parent=parent
        )
    hulls = export_scene(maker.scene).model.hulls
    assert len(hulls.start) == 2


PLANE = ([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2, 3)])


@pytest.mark.parametrize("shape", ["BOX", "CONVEX_HULL", "MESH"])
@pytest.mark.parametrize("turn", [(0, 0, 0), (0.4, 0.3, 0.2)])
def test_flat_floor_is_a_sheet(maker, shape, turn):
    """A plane as a floor has no thickness."""
    maker.body("Floor", data=maker.mesh(*PLANE), type="PASSIVE", shape=shape, rotation_euler=turn, scale=(5, 3, 1))
    export = export_scene(maker.scene)
    maker.scene.frame_set(1)
    assert same_points(model_points(export, "Floor"), world_vertices("Floor"), 1e-5)
    assert any("sheet" in text for text in texts(export, "Floor"))


@pytest.mark.parametrize("shape", ["BOX", "CONVEX_HULL"])
@pytest.mark.parametrize("settings", [{}, {"kinematic": True}, {"enabled": False}])
def test_flat_active_body_is_a_plate_if_it_ever_moves(maker, shape, settings):
    """Longest side / 200 thick, half of it on either side; a sheet where it stays kinematic or disabled."""
    maker.body("Card", data=maker.mesh(*PLANE), shape=shape, settings=settings, scale=(5, 3, 1))
    points = model_points(export_scene(maker.scene), "Card")
    thickness = 0.0 if settings else 10.0 / 200.0
    assert np.ptp(points, axis=0) == pytest.approx([10, 6, thickness], abs=1e-6)
    assert points.mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-6)


def test_card_released_later_has_a_thickness(maker):
    """A flat body that is keyed loose later needs a volume from the start."""
    ob = maker.body("Card", data=maker.mesh(*PLANE))
    maker.key(ob, "rigid_body.kinematic", {1: True, 10: False})
    export = export_scene(maker.scene)
    assert kind_of(export, "Card") == KINEMATIC
    assert np.ptp(model_points(export, "Card"), axis=0)[2] == pytest.approx(2.0 / 200.0, rel=1e-6)


# Settings


def test_settings_are_read(maker):
    """Mass, surface, damping and collision collections."""
    ob = maker.body(
        settings={"mass": 7.5, "friction": 0.25, "restitution": 0.75, "linear_damping": 0.125, "angular_damping": 0.5}
    )
    ob.rigid_body.collision_collections = [bit in (0, 3, 19) for bit in range(20)]
    arrays = export_scene(maker.scene).model.arrays
    assert (arrays.mass[0], arrays.friction[0], arrays.restitution[0]) == (7.5, 0.25, 0.75)
    assert (arrays.linear_damping[0], arrays.angular_damping[0]) == (0.125, 0.5)
    assert arrays.collision_mask[0] == 2**0 + 2**3 + 2**19


def test_gravity_is_weighed(maker):
    """Gravity times the effector weights; none if the scene's switch is off."""
    maker.body()
    maker.scene.gravity = (1, 2, -300)
    maker.world.effector_weights.gravity = 0.5
    maker.world.effector_weights.all = 0.5
    assert export_scene(maker.scene).model.gravity == pytest.approx([0.25, 0.5, -75])
    maker.scene.use_gravity = False
    assert export_scene(maker.scene).model.gravity == pytest.approx([0, 0, 0])


def test_world_speed_and_frame_rate_make_the_duration(maker):
    """A frame lasts World speed x base / fps."""
    maker.body()
    maker.scene.render.fps, maker.scene.render.fps_base = 30, 1.001
    maker.world.time_scale = 7.0
    export = export_scene(maker.scene)
    assert export.frame_rate == pytest.approx(30 / 1.001)
    assert not export.samples_needed
    assert export.default_sample.duration == pytest.approx(7 * 1.001 / 30)


def test_keyed_world_speed_and_gravity_are_sampled(maker):
    """The scene's own curves count frame by frame."""
    maker.body()
    maker.key(maker.scene, "rigidbody_world.time_scale", {1: 1.0, 5: 2.0})
    maker.key(maker.scene, "gravity", {1: (0, 0, -1), 5: (0, 0, -5)})
    export = export_scene(maker.scene)
    assert export.samples_needed
    with simulation_paused(maker.scene):
        samples = [sample_frame(maker.scene, export, frame) for frame in (4, 5)]
    assert [sample.duration * 24 for sample in samples] == pytest.approx([1, 2])
    assert [sample.gravity[2] for sample in samples] == pytest.approx([-1, -5])


def test_range_is_the_caches(maker):
    """The cache's range, not the scene's; arguments come first."""
    maker.body()
    maker.world.point_cache.frame_end = 80
    maker.world.point_cache.frame_start = 11
    export = export_scene(maker.scene)
    assert (export.frame_start, export.frame_end) == (11, 80)
    export = export_scene(maker.scene, frame_start=20, frame_end=30)
    assert (export.frame_start, export.frame_end) == (20, 30)


def test_start_pose_is_that_of_the_start_frame(maker):
    """What was keyed before the first simulated frame is the start pose."""
    ob = maker.body()
    maker.key(ob, "location", {1: (0, 0, 0), 11: (10, 0, 0)})
    export = export_scene(maker.scene, frame_start=6)
    assert export.bodies[0].matrix_world_start[0, 3] == pytest.approx(5.0)
    assert not export.samples_needed


# Kinds


@pytest.mark.parametrize(
    ("type", "settings", "animated", "kind"),
    [
        ("PASSIVE", {}, False, STATIC),
        ("PASSIVE", {}, True, KINEMATIC),
        ("PASSIVE", {"kinematic": True}, True, KINEMATIC),
        ("ACTIVE", {}, False, DYNAMIC),
        ("ACTIVE", {}, True, DYNAMIC),
        ("ACTIVE", {"kinematic": True}, False, KINEMATIC),
        ("ACTIVE", {"enabled": False}, False, STATIC),
        ("ACTIVE", {"enabled": False}, True, KINEMATIC),
        ("ACTIVE", {"enabled": False, "kinematic": True}, True, KINEMATIC),
    ],
)
def test_kind(maker, type, settings, animated, kind):
    """Type, Dynamic, Animated and animation make a body's kind; only dynamic ones get keys."""
    ob = maker.body(type=type, settings=settings)
    if animated:
        maker.key(ob, "location", {1: (0, 0, 0), 11: (10, 0, 0)})
    export = export_scene(maker.scene)
    assert kind_of(export, "Body") == kind
    assert export.bodies[0].moves == (kind == DYNAMIC)


def animate_parent(maker):
    parent = maker.object("Parent")
    maker.key(parent, "location", {1: (0, 0, 0), 11: (10, 0, 0)})
    maker.body(type="PASSIVE", parent=maker.object("Between", parent=parent))


def animate_constraint_target(maker):
    target = maker.object("Target")
    maker.key(target, "location", {1: (0, 0, 0), 11: (10, 0, 0)})
    maker.body(type="PASSIVE").constraints.new("COPY_LOCATION").target = target


def animate_driver(maker):
    curve = maker.body(type="PASSIVE").driver_add("location", 0)
    curve.driver.type = "SCRIPTED"
    curve.driver.expression = "frame - 1"


def animate_bone(maker):
    place_on_bone(maker)
    bpy.data.objects["Body"].rigid_body.type = "PASSIVE"
    maker.key(bpy.data.objects["Rig"], 'pose.bones["Bone"].location', {1: (0, 0, 0), 11: (10, 0, 0)})


def animate_bone_target(maker):
    place_on_bone(maker)
    bpy.data.objects["Body"].rigid_body.type = "PASSIVE"
    target = maker.object("Target")
    maker.key(target, "location", {1: (0, 0, 0), 11: (10, 0, 0)})
    bpy.data.objects["Rig"].pose.bones["Bone"].constraints.new("COPY_LOCATION").target = target


def animate_path(maker):
    path = bpy.data.curves.new("Path", "CURVE")
    path.dimensions, path.use_path, path.path_duration = "3D", True, 100
    spline = path.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (100, 0, 0, 1)
    maker.key(path, "eval_time", {1: 0.0, 11: 10.0})
    maker.body(type="PASSIVE").constraints.new("FOLLOW_PATH").target = maker.object("Path", path)


ANIMATIONS = [value for name, value in list(globals().items()) if name.startswith("animate_")]


@pytest.mark.parametrize("animate", ANIMATIONS, ids=lambda animate: animate.__name__.removeprefix("animate_"))
def test_animated_passive_body_is_followed(maker, animate, tmp_path):
    """Whatever moves a passive body, its sampled pose is the one that Blender shows."""
    animate(maker)
    maker.reopen(tmp_path / "scene.blend")
    export = export_scene(maker.scene)
    assert kind_of(export, "Body") == KINEMATIC
    assert export.samples_needed
    shown = []
    for frame in (4, 11):
        maker.scene.frame_set(frame)
        matrix = bpy.data.objects["Body"].evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world
        shown.append(np.array(matrix))
        with simulation_paused(maker.scene):
            sample = sample_frame(maker.scene, export, frame)
        assert sample.position[0] == pytest.approx(shown[-1][:3, 3], abs=1e-5)
        assert quaternion_matrix(sample.orientation[0]) == pytest.approx(shown[-1][:3, :3], abs=1e-5)
    assert np.linalg.norm(shown[1] - shown[0]) > 1.0


@pytest.mark.parametrize("hide", ["viewport", "excluded", "not in the scene"])
def test_hidden_bodies_take_part(maker, hide):
    """As in Blender: what the world's collection holds is simulated and followed, seen or not."""
    ob = maker.body(type="PASSIVE")
    maker.key(ob, "location", {1: (0, 0, 0), 11: (10, 0, 0)})
    if hide == "viewport":
        ob.hide_viewport = True
    else:
        collection = bpy.data.collections.new("Hidden")
        collection.objects.link(ob)
        maker.scene.collection.objects.unlink(ob)
        if hide == "excluded":
            maker.scene.collection.children.link(collection)
            bpy.context.view_layer.layer_collection.children["Hidden"].exclude = True
    export = export_scene(maker.scene)
    with simulation_paused(maker.scene):
        assert sample_frame(maker.scene, export, 11).position[0] == pytest.approx([10, 0, 0], abs=1e-5)


def test_keyed_kinematic_is_read_at_the_steps_last_frame(maker):
    """Keyed off at 10: the step 8 -> 9 is led, the step 9 -> 10 is free, as in Blender."""
    ob = maker.body()
    maker.key(ob, "rigid_body.kinematic", {1: True, 10: False, 20: True})
    assert frame_kinds(maker, "Body", [2, 9, 10, 19, 20, 21]) == [
        KINEMATIC,
        KINEMATIC,
        DYNAMIC,
        DYNAMIC,
        KINEMATIC,
        KINEMATIC,
    ]


def test_keyed_enabled_freezes_the_body_in_place(maker):
    """Dynamic keyed off later: the body stands where the simulation left it, as in Blender."""
    ob = maker.body()
    maker.key(ob, "location", {1: (0, 0, 0), 11: (10, 0, 0)})
    maker.key(ob, "rigid_body.enabled", {1: False, 10: True, 20: False})
    assert frame_kinds(maker, "Body", [2, 9, 10, 19, 20]) == [STATIC, STATIC, DYNAMIC, DYNAMIC, STATIC]


@pytest.mark.parametrize(("frames", "moves"), [((1, 5), False), ((1, 250), True), ((10, 20), True)])
def test_moves_is_about_the_baked_range(maker, frames, moves):
    """A body that comes loose after the end gets no keys."""
    ob = maker.body()
    maker.key(ob, "rigid_body.kinematic", {1: True, 10: False})
    export = export_scene(maker.scene, frame_start=frames[0], frame_end=frames[1])
    assert export.bodies[0].moves == moves


def test_driven_flag_is_sampled(maker):
    """A flag that depends on a driver is known only by evaluation."""
    ob = maker.body()
    curve = ob.driver_add("rigid_body.kinematic")
    curve.driver.type = "SCRIPTED"
    curve.driver.expression = "frame < 10"
    assert frame_kinds(maker, "Body", [9, 10]) == [KINEMATIC, DYNAMIC]


def test_parents_matrices_are_sampled_for_moving_children(maker):
    """P of world = P @ basis at later frames, and where animation has the parent if that moves too."""
    carrier = maker.object("Carrier")
    maker.key(carrier, "location", {1: (0, 0, 0), 11: (10, 0, 0)})
    first = maker.body("First", parent=carrier, location=(0, 0, 3))
    maker.body("Second", parent=first, location=(0, 0, 3))
    export = export_scene(maker.scene)
    with simulation_paused(maker.scene):
        sample = sample_frame(maker.scene, export, 11)
    assert sample.parent_matrix["First"] == pytest.approx(np.array(Matrix.Translation((10, 0, 0))), abs=1e-5)
    assert sample.parent_matrix["Second"] == pytest.approx(np.array(Matrix.Translation((10, 0, 3))), abs=1e-5)
    assert sample.matrix_world["First"] == pytest.approx(np.array(Matrix.Translation((10, 0, 3))), abs=1e-5)


def test_deactivation_is_read(maker):
    """Thresholds, Start Deactivated and its switch; without Deactivation a body never sleeps."""
    thresholds = {"deactivate_linear_velocity": 0.25, "deactivate_angular_velocity": 0.75}
    maker.body("Hanging", settings={"use_deactivation": True, "use_start_deactivated": True, **thresholds})
    maker.body("Plain", settings={"use_deactivation": True, **thresholds})
    maker.body("Restless", settings={"use_deactivation": False, "use_start_deactivated": True, **thresholds})
    model = export_scene(maker.scene).model
    rows = [model.names.index(name) for name in ("Hanging", "Plain", "Restless")]
    assert model.arrays.sleep_speed[rows] == pytest.approx(np.array([[0.25, 0.75], [0.25, 0.75], [0.0, 0.0]]))
    assert model.starts_asleep[rows].tolist() == [True, False, False]
