"""*Constant Force* of a rigid body, and *By Exposed Area* of a field: what reaches the model, what a digest says."""

import bpy
import pytest

import cairn
from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.scene_digest import changes, scene_digest
from cairn.addon.read.scene_export import export_scene
from cairn.addon.ui import forces
from cairn.addon.ui.kept_digest import KeptDigest


@pytest.fixture
def box(maker):
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = 20
    return maker.body("Box", shape="BOX", location=(0, 0, 0.5))


def kept_digest(scene):
    return [step for step in KeptDigest().steps(scene.name) if step is not None][-1]


def test_without_a_force_nothing_is_pushed(maker, box):
    export = export_scene(maker.scene)
    assert export.model.pushes == ()
    assert not export.samples_needed
    assert "constant force" not in scene_digest(maker.scene)["bodies"]["Box"]


def test_force_torque_and_axes_are_read(maker, box):
    box.cairn.constant_force, box.cairn.constant_torque, box.cairn.force_space = (1, 2, 3), (4, 5, 6), "LOCAL"
    export = export_scene(maker.scene)
    assert export.model.pushes == ((1.0, 2.0, 3.0, 4.0, 5.0, 6.0),)
    assert export.model.pushes_along == (True,)
    assert not export.samples_needed


def test_a_script_that_sets_a_force_is_heard(maker, box):
    """Blender is not told of it: what it evaluated before must not count."""
    box.cairn.constant_force.z = 1.0
    export_scene(maker.scene)
    for value in (2.0, 3.0):
        box.cairn.constant_force.z = value
        assert export_scene(maker.scene).model.pushes[0][2] == value


def test_keys_of_a_force_are_sampled(maker, box):
    maker.body("Other", shape="BOX", location=(3, 0, 0))
    for frame, value in ((1, 0.0), (20, 19.0)):
        box.cairn.constant_force.x = value
        box.keyframe_insert("cairn.constant_force", frame=frame)
    export = export_scene(maker.scene)
    assert export.samples_needed
    index = export.model.names.index("Box")
    with simulation_paused(maker.scene):
        given = sample_frame(maker.scene, export, 20).frame_input.forces
    assert given[index] == pytest.approx([19.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert not given[1 - index].any()


def test_a_changed_force_puts_a_bake_out_of_date(maker, box):
    before = scene_digest(maker.scene)
    assert kept_digest(maker.scene) == before
    box.cairn.constant_force.z = 3.0
    assert changes(before, scene_digest(maker.scene)) == ["constant force of Box"]
    assert kept_digest(maker.scene) == scene_digest(maker.scene)


def test_by_exposed_area_is_read_of_wind_and_drag_alone(maker, box):
    for kind in ("WIND", "DRAG", "FORCE"):
        bpy.ops.object.effector_add(type=kind)
        bpy.context.object.name = kind
        bpy.context.object.cairn.field_by_area = True
    found = {type(field).__name__: getattr(field, "by_area", None) for field in export_scene(maker.scene).model.fields}
    assert found == {"Wind": True, "Drag": True, "Force": None}
    before = scene_digest(maker.scene)
    assert kept_digest(maker.scene) == before
    maker.scene.objects["WIND"].cairn.field_by_area = False
    assert changes(before, scene_digest(maker.scene)) == ["force field of WIND"]


def test_panels_show_nothing_to_who_does_not_use_them(maker, box):
    bpy.ops.object.effector_add(type="FORCE")
    assert not forces.PHYSICS_PT_cairn_field.poll(bpy.context)
    assert not forces.PHYSICS_PT_cairn_forces.poll(bpy.context)
    bpy.context.object.field.type = "WIND"
    assert forces.PHYSICS_PT_cairn_field.poll(bpy.context)
