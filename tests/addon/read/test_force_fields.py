"""Blender's force fields: what of them reaches the model, what changes from frame to frame, and what is said."""

import math

import bpy
import pytest

import cairn
from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.scene_digest import changes, scene_digest
from cairn.addon.read.scene_export import export_scene
from cairn.solver_core.model import fields


@pytest.fixture
def box(maker):
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = 20
    return maker.body("Box", shape="BOX", location=(0, 0, 0.5))


def add(maker, kind, name="Field", location=(0, 0, 0), rotation=(0, 0, 0), **settings):
    """An object with a field."""
    bpy.ops.object.effector_add(type=kind, location=location, rotation=rotation)
    ob = bpy.context.object
    ob.name = name
    for setting, value in settings.items():
        setattr(ob.field, setting, value)
    return ob


def texts(export, name):
    return [note.text for note in export.notes if note.object_name == name]


def test_a_scene_without_fields_has_none(maker, box):
    model = export_scene(maker.scene).model
    assert model.fields == ()
    assert "force fields" not in scene_digest(maker.scene)["scene"]


@pytest.mark.parametrize(
    ("kind", "settings", "expected"),
    [
        ("FORCE", {"use_gravity_falloff": True}, fields.Force(inverse_square=True)),
        ("WIND", {"noise": 0.5, "seed": 7, "flow": 0.25}, fields.Wind(noise=0.5, seed=7, flow=0.25, shape="plane")),
        ("VORTEX", {"shape": "PLANE"}, fields.Vortex(shape="plane")),
        (
            "HARMONIC",
            {"harmonic_damping": 0.5, "rest_length": 2.0},
            fields.Harmonic(damping=0.5, rest_length=2.0),
        ),
        ("DRAG", {"linear_drag": 0.25, "quadratic_drag": 0.5}, fields.Drag(damping=0.5, strength=0.25)),
        ("CHARGE", {"shape": "PLANE"}, fields.Charge(shape="plane")),
        ("MAGNET", {"z_direction": "NEGATIVE"}, fields.Magnetic(side="negative")),
        (
            "TURBULENCE",
            {"size": 2.0, "use_global_coords": True},
            fields.Turbulence(size=2.0, is_global=True),
        ),
    ],
)
def test_each_kind_is_read(maker, box, kind, settings, expected):
    base = {"strength": 3.0, "flow": 0.0, "falloff_power": 0.0, "seed": 1}
    add(maker, kind, **{**base, **settings})
    (found,) = export_scene(maker.scene).model.fields
    assert type(found) is type(expected)
    same = {name: getattr(expected, name) for name in vars(expected) if name not in {"strength", "axis"}}
    assert {name: getattr(found, name) for name in same} == same
    assert found.strength == (0.25 if kind == "DRAG" else 3.0)


def test_falloff_place_axis_and_weights_are_read(maker, box):
    weights = maker.world.effector_weights
    weights.all, weights.wind = 0.5, 0.5
    add(
        maker, "WIND", location=(1, 2, 3), rotation=(math.pi / 2, 0, 0), falloff_type="CONE", falloff_power=2.0,
        use_min_distance=True, distance_min=0.5, use_max_distance=True, distance_max=8.0, radial_falloff=1.0,
        use_radial_min=True, radial_min=10.0, use_radial_max=True, radial_max=45.0,
    )  # fmt: skip
    (found,) = export_scene(maker.scene).model.fields
    assert found.position == (1.0, 2.0, 3.0)
    assert found.axis == pytest.approx((0.0, -1.0, 0.0), abs=1e-6)
    assert (found.falloff, found.power, found.least_distance, found.most_distance) == ("cone", 2.0, 0.5, 8.0)
    assert (found.radial_power, found.least_radius, found.most_radius) == (1.0, 10.0, 45.0)
    assert found.weight == 0.25


def test_numbers_that_are_switched_off_do_not_count(maker, box):
    add(maker, "WIND", use_min_distance=False, distance_min=3.0, use_max_distance=False, distance_max=1.0)
    (found,) = export_scene(maker.scene).model.fields
    assert (found.least_distance, found.most_distance) == (0.0, math.inf)


def test_only_fields_of_the_effector_collection_act(maker, box):
    add(maker, "WIND", "Outside")
    inside = add(maker, "DRAG", "Inside")
    collection = bpy.data.collections.new("Fields")
    collection.objects.link(inside)
    maker.world.effector_weights.collection = collection
    assert [type(field) for field in export_scene(maker.scene).model.fields] == [fields.Drag]


def test_keyed_strengths_and_moving_fields_are_sampled(maker, box):
    wind = add(maker, "WIND", "Wind")
    wind.field.strength = 1.0
    wind.field.keyframe_insert("strength", frame=1)
    wind.field.strength = 20.0
    wind.field.keyframe_insert("strength", frame=20)
    maker.key(add(maker, "FORCE", "Force"), "location", {1: (0, 0, 0), 20: (19, 0, 0)})
    export = export_scene(maker.scene)
    assert export.samples_needed
    assert [field.is_sampled for field in export.fields] == [True, True]
    with simulation_paused(maker.scene):
        force, wind = sample_frame(maker.scene, export, 20).frame_input.fields
    assert force.position == pytest.approx((19.0, 0.0, 0.0))
    assert wind.strength == pytest.approx(20.0)


def test_keyed_weights_are_sampled(maker, box):
    add(maker, "WIND", "Wind")
    weights = maker.world.effector_weights
    for frame, value in ((1, 1.0), (20, 0.0)):
        weights.wind = value
        maker.scene.keyframe_insert("rigidbody_world.effector_weights.wind", frame=frame)
    export = export_scene(maker.scene)
    assert export.fields[0].is_sampled
    with simulation_paused(maker.scene):
        assert sample_frame(maker.scene, export, 20).fields[0].weight == 0.0


def test_fields_that_stay_are_read_once(maker, box):
    add(maker, "WIND")
    export = export_scene(maker.scene)
    assert not export.samples_needed
    assert export.default_sample.frame_input.fields is None


def test_a_body_with_a_field_carries_it_and_is_moved_by_none(maker, box):
    other = maker.body("Planet", shape="SPHERE", location=(5, 0, 0))
    bpy.context.view_layer.objects.active = other
    bpy.ops.object.forcefield_toggle()
    export = export_scene(maker.scene)
    model = export.model
    planet = model.names.index("Planet")
    assert model.field_carriers == (planet,)
    assert model.fields[0].position == (0.0, 0.0, 0.0)
    assert [model.field_responds[planet], model.field_responds[1 - planet]] == [False, True]
    assert any("fields do not move it" in text for text in texts(export, "Planet"))
    assert not export.samples_needed


def test_a_body_with_a_charge_is_charged(maker, box):
    bpy.context.view_layer.objects.active = box
    bpy.ops.object.forcefield_toggle()
    box.field.type, box.field.strength = "CHARGE", -2.0
    add(maker, "CHARGE", "Other", strength=5.0)
    model = export_scene(maker.scene).model
    assert model.charges == (-2.0,)
    assert sorted(model.field_carriers) == [-1, 0]


@pytest.mark.parametrize(("kind", "shown"), [("BOID", "Boid"), ("LENNARDJ", "Lennard-Jones"), ("TEXTURE", "Texture")])
def test_kinds_that_are_left_out_are_named_once(maker, box, kind, shown):
    add(maker, kind, "Odd")
    export = export_scene(maker.scene)
    assert export.model.fields == ()
    assert len([text for text in texts(export, "Odd") if shown in text]) == 1


def test_shapes_that_are_left_out_are_named(maker, box):
    odd = maker.object("Odd", bpy.data.meshes.new("Odd"))
    bpy.context.view_layer.objects.active = odd
    bpy.ops.object.forcefield_toggle()
    odd.field.shape = "SURFACE"
    export = export_scene(maker.scene)
    assert export.model.fields == ()
    assert any("Surface" in text and "choose Point" in text for text in texts(export, "Odd"))


def test_weights_of_zero_and_location_off_are_as_nothing(maker, box):
    add(maker, "WIND", "Wind", apply_to_location=False)
    assert export_scene(maker.scene).model.fields[0].weight == 0.0
    maker.world.effector_weights.all = 0.0
    assert export_scene(maker.scene).model.fields == ()


def test_a_changed_field_puts_a_bake_out_of_date(maker, box):
    wind = add(maker, "WIND", "Wind")
    before = scene_digest(maker.scene)
    assert changes(before, scene_digest(maker.scene)) == []
    wind.field.strength = 9.0
    assert changes(before, scene_digest(maker.scene)) == ["force field of Wind"]
    wind.field.strength = 1.0
    wind.location.x = 1.0
    assert changes(before, scene_digest(maker.scene)) == ["start pose of Wind"]
    wind.location.x = 0.0
    maker.world.effector_weights.wind = 0.5
    assert changes(before, scene_digest(maker.scene)) == ["force fields"]
    maker.world.effector_weights.wind = 1.0
    wind.field.strength = 2.0
    wind.field.keyframe_insert("strength", frame=5)
    assert "animation of Wind" in changes(before, scene_digest(maker.scene))
    wind.animation_data_clear()
    wind.field.strength = 1.0
    add(maker, "DRAG", "Drag")
    assert changes(before, scene_digest(maker.scene)) == ["force fields"]


def test_the_fingerprint_knows_fields(maker, box):
    wind = add(maker, "WIND", "Wind")
    before = export_scene(maker.scene).fingerprint
    assert export_scene(maker.scene).fingerprint == before
    wind.field.strength = 9.0
    assert export_scene(maker.scene).fingerprint != before


def test_how_strong_fields_are_in_blenders_own_simulation_is_said(maker, box):
    """Blender divides what fields give rigid bodies by the frame rate (measured)."""
    maker.scene.render.fps = 25
    add(maker, "WIND")
    notes = [note.text for note in export_scene(maker.scene).notes if note.object_name is None]
    assert any("feel 1/25" in text and "Strength by 25" in text for text in notes)
