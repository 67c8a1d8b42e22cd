"""*Matter* of a rigid body: what of its panel reaches the model, what is said and refused, and what a bake shows."""

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.read.scene_digest import changes, scene_digest
from cairn.addon.read.scene_export import export_scene
from cairn.addon.read.scene_poses import SceneError
from cairn.addon.settings import BakeSettings
from cairn.addon.wedge.targets import set_property

FREE = {"linear_damping": 0.0, "angular_damping": 0.0, "friction": 0.2, "mass": 3.0}


@pytest.fixture
def box(maker):
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = 48
    return maker.body("Box", shape="BOX", location=(0, 0, 0.5), settings=FREE)


def read(scene, name="Box"):
    """Arrays of the model, the body's place in them, and the notes on it."""
    export = export_scene(scene)
    texts = [note.text for note in export.notes if note.object_name == name]
    return export.model, export.model.names.index(name), texts


def test_who_uses_nothing_has_empty_tables(maker, box):
    """And Blender's own mass and friction."""
    model, index, _ = read(maker.scene)
    assert [array.size for array in model.arrays.matter] == [0, 0, 0, 0, 0]
    assert model.arrays.mass[index] == 3.0
    assert model.arrays.friction[index] == pytest.approx(0.2)


def test_density_is_of_the_shape_as_it_is_scaled(maker, box):
    """700 kg/m^3 times 2 x 1 x 1/2 m^3."""
    box.scale = (2.0, 1.0, 0.5)
    box.cairn.use_density, box.cairn.density = True, 700.0
    model, index, _ = read(maker.scene)
    assert model.arrays.mass[index] == pytest.approx(700.0)


def test_density_of_what_does_not_move_needs_no_volume(maker, box):
    """A passive plane has none, and its mass counts for nothing."""
    plane = maker.mesh([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2, 3)])
    floor = maker.body("Floor", data=plane, shape="MESH", type="PASSIVE")
    floor.cairn.use_density, floor.cairn.density = True, 2600.0
    model, index, _ = read(maker.scene, "Floor")
    assert model.arrays.mass[index] == 1.0


def test_a_center_of_mass_is_an_offset_from_the_origin_or_an_object(maker, box):
    """Along the object's axes, in metres also where it is scaled; the button takes the place of an empty."""
    box.scale, box.rotation_euler = (2.0, 2.0, 2.0), (0, 0, np.pi / 2)
    box.cairn.use_center_of_mass, box.cairn.center_of_mass = True, (0.3, 0.0, -0.2)
    model, index, _ = read(maker.scene)
    assert model.initial_state.position[index] == pytest.approx([0.0, 0.3, 0.3], abs=1e-6)
    empty = maker.object("Heavy", location=(0.0, 0.4, 0.25))
    maker.bpy.context.view_layer.update()
    for ob in (empty, box):
        ob.select_set(True)
    bpy.context.view_layer.objects.active = box
    assert bpy.ops.cairn.center_of_mass_from_object() == {"FINISHED"}
    assert tuple(box.cairn.center_of_mass) == pytest.approx((0.4, 0.0, -0.25), abs=1e-6)
    model, index, _ = read(maker.scene)
    assert model.initial_state.position[index] == pytest.approx([0.0, 0.4, 0.25], abs=1e-6)
    empty.select_set(False)
    assert bpy.ops.cairn.center_of_mass_from_object() == {"CANCELLED"}


def test_all_of_a_surface_reaches_the_model(maker, box):
    """Rules, the sliding friction, the belt in the body's axes, the largest speed."""
    own = box.cairn
    own.friction_rule, own.bounce_rule = "LARGEST", "MEAN"
    own.use_sliding_friction, own.sliding_friction = True, 0.1
    own.surface_velocity = (1.0, 2.0, 0.0)
    own.use_largest_speed, own.largest_speed = True, 7.0
    own.rolling_friction, own.spinning_friction = 0.05, 0.02
    model, index, _ = read(maker.scene)
    matter = model.arrays.matter
    assert list(matter.rules[index]) == [3, 1]
    assert matter.sliding_friction[index] == pytest.approx(0.1)
    assert matter.surface_velocity[index] == pytest.approx([1.0, 2.0, 0.0])
    assert matter.largest_speed[index] == pytest.approx(7.0)
    assert matter.rolling_friction[index] == pytest.approx([0.05, 0.02])


def test_a_bake_shows_a_belt_that_carries(maker, box):
    """Up to the belt's speed by mu g, then with it: 2 s in metres; Delete Bake leaves the settings."""
    maker.world.point_cache.frame_end = maker.scene.frame_end = 49
    belt = maker.body("Belt", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(20, 4, 1))
    belt.rigid_body.friction = 1.0
    belt.cairn.surface_velocity = (1.0, 0.0, 0.0)
    bake_scene(maker.scene, BakeSettings())
    maker.scene.frame_set(49)
    assert box.matrix_world.translation.x == pytest.approx(2.0 - 0.5 / (0.2 * 9.81), rel=0.005)
    bpy.ops.cairn.delete_bake()
    assert tuple(belt.cairn.surface_velocity) == (1.0, 0.0, 0.0)


def test_a_bake_shows_a_ball_that_stops(maker):
    """One with 2 m/s and a rolling friction of 0.05 after 5.7 m; the one without goes on."""
    maker.world.point_cache.frame_end = maker.scene.frame_end = 200
    floor = maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(60, 60, 1))
    floor.cairn.spinning_friction = 0.05
    balls = [maker.body(name, shape="SPHERE", location=(0, y, 0.5)) for name, y in (("Ball", -5), ("Other", 5))]
    for ball in balls:
        ball.cairn.start_velocity, ball.cairn.start_spin = (2.0, 0.0, 0.0), (0.0, 4.0, 0.0)
        ball.rigid_body.linear_damping = ball.rigid_body.angular_damping = 0.0
        ball.rigid_body.use_margin, ball.rigid_body.collision_margin = True, 0.0
    balls[0].cairn.rolling_friction = 0.05
    bake_scene(maker.scene, BakeSettings())
    maker.scene.frame_set(200)
    stopped, other = (ball.matrix_world.translation.x for ball in balls)
    assert stopped == pytest.approx(2.0**2 / (2.0 * 5.0 / 7.0 * 0.05 * 9.81), rel=0.01)
    assert other == pytest.approx(2.0 * 199 / 24, rel=0.01)


@pytest.mark.parametrize(
    ("switch", "name", "text"),
    [
        ("use_density", "density", "density is nan"),
        ("use_sliding_friction", "sliding_friction", "sliding friction is nan"),
        ("use_largest_speed", "largest_speed", "largest speed is nan"),
        ("use_center_of_mass", "center_of_mass", "center of mass is"),
        (None, "surface_velocity", "surface velocity is"),
        (None, "rolling_friction", "rolling friction is nan"),
        (None, "spinning_friction", "spinning friction is nan"),
    ],
)
def test_what_is_no_number_is_refused(maker, box, switch, name, text):
    """In one line that names the object."""
    if switch:
        setattr(box.cairn, switch, True)
    is_vector = len(np.shape(getattr(box.cairn, name))) == 1
    setattr(box.cairn, name, (float("nan"), 0, 0) if is_vector else float("nan"))
    with pytest.raises(SceneError, match=text) as caught:
        export_scene(maker.scene)
    assert "Box" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_keyed_is_told(maker, box):
    """Its values of the start frame hold throughout."""
    maker.key(box, "cairn.surface_velocity", {1: (1, 0, 0), 20: (0, 0, 0)})
    _, _, texts = read(maker.scene)
    assert "Surface Velocity is animated: the start frame's value is used throughout" in texts


def test_a_change_is_told_and_a_bake_without_it_stays_up_to_date(maker, box):
    """Digests of bodies without any matter are as they were before there was one."""
    before = scene_digest(maker.scene)
    assert "matter" not in before["bodies"]["Box"]
    box.cairn.density = 5.0
    assert changes(before, scene_digest(maker.scene)) == []
    box.cairn.use_density = True
    with_density = scene_digest(maker.scene)
    assert changes(before, with_density) == ["matter of Box"]
    box.cairn.density = 6.0
    assert changes(with_density, scene_digest(maker.scene)) == ["matter of Box"]


def test_it_can_be_varied(maker, box):
    """As any property of an object."""
    set_property(maker.scene, "object:Box.cairn.surface_velocity[0]", 4)
    set_property(maker.scene, "object:Box.cairn.friction_rule", "LEAST")
    assert tuple(box.cairn.surface_velocity) == (4, 0, 0)
    assert box.cairn.friction_rule == "LEAST"
