"""The report as curves: what they say of each frame, another bake, and what Delete Bake leaves."""

import bpy
import pytest

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.write import fcurves, report_curves

FRAMES = 12


@pytest.fixture
def scene(maker):
    """A box that falls on the floor."""
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = FRAMES
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(10, 10, 1))
    maker.body("Falls", shape="BOX", location=(0, 0, 0.6))
    maker.scene.cairn.report_curves = True
    return maker.scene


def curve_of(ob, name):
    data = ob.animation_data
    return fcurves.channelbag(data.action, data.action_slot).fcurves.find(f'["{name}"]')


def test_each_frame_has_what_its_report_says(scene):
    result = bake_scene(scene, BakeSettings.from_scene(scene))
    ob = report_curves.curves_of(scene)
    assert len(result.reports) == FRAMES - 1
    for report in result.reports:
        at = scene.frame_start + report.frame
        for name, (_, value) in report_curves.QUANTITIES.items():
            assert curve_of(ob, name).evaluate(at) == pytest.approx(value(report), rel=1e-6, abs=1e-30)
    assert any(report.contacts for report in result.reports)
    scene.frame_set(FRAMES)
    assert ob.evaluated_get(bpy.context.evaluated_depsgraph_get())["contacts"] == result.reports[-1].contacts


def test_another_bake_fills_the_same_object(scene):
    """With what somebody has keyed on it beside."""
    bake_scene(scene, BakeSettings.from_scene(scene))
    ob = report_curves.curves_of(scene)
    ob.location.x = 3.0
    ob.keyframe_insert("location", index=0, frame=1)
    scene.frame_end = scene.rigidbody_world.point_cache.frame_end = 8
    bake_scene(scene, BakeSettings.from_scene(scene))
    assert report_curves.curves_of(scene) == ob
    assert len([one for one in scene.objects if one.get(report_curves.MARK)]) == 1
    assert curve_of(ob, "energy").range()[1] == 8
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    assert ob.location.x == 3.0
    assert "energy" not in ob
    data = ob.animation_data
    assert [curve.data_path for curve in fcurves.channelbag(data.action, data.action_slot).fcurves] == ["location"]


def test_nothing_is_left_of_it_without_its_bake(scene):
    objects, actions = set(bpy.data.objects.keys()), set(bpy.data.actions.keys())
    bake_scene(scene, BakeSettings.from_scene(scene))
    assert report_curves.curves_of(scene) is not None
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    assert (set(bpy.data.objects.keys()), set(bpy.data.actions.keys())) == (objects, actions)


def test_nothing_is_left_where_somebody_has_taken_its_keys_off(scene):
    objects, actions = set(bpy.data.objects.keys()), set(bpy.data.actions.keys())
    bake_scene(scene, BakeSettings.from_scene(scene))
    ob = report_curves.curves_of(scene)
    bpy.data.actions.remove(ob.animation_data.action)
    ob.animation_data_clear()
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    assert (set(bpy.data.objects.keys()), set(bpy.data.actions.keys())) == (objects, actions)


def test_without_the_option_there_is_none(scene):
    scene.cairn.report_curves = False
    bake_scene(scene, BakeSettings.from_scene(scene))
    assert report_curves.curves_of(scene) is None
