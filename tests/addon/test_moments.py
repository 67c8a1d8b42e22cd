"""The worst moments of a bake: found in its report, listed in the panel, and each leads there."""

import json

import bpy
import pytest
from test_joint_report import hung  # noqa: F401 - a fixture

import cairn
from cairn.addon import moments
from cairn.addon.bake import bake_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.ui.moments_panel import moment_text, moments_of


@pytest.fixture
def boxes(maker):
    """One box deep in another that stands on the floor, and one that falls beside them."""
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = 12
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(10, 10, 1))
    for name, place in (("Low", (0, 0, 0.5)), ("Deep", (0.1, 0, 1.2)), ("Side", (3, 0, 0.6))):
        maker.body(name, shape="BOX", location=place)
    return maker.scene


def test_the_largest_are_taken_and_what_is_near_them_is_not():
    sizes = [0, 5, 9, 8, 1, 0, 0, 0, 7, 0, 3, 0, 0, 0, 0, 2, 0]
    assert moments._worst(sizes, lambda size: size) == [9, 7, 2]
    assert moments._worst([0, 0], lambda size: size) == []
    assert moments._worst([], lambda size: size) == []


def test_what_lies_deep_is_named_and_gone_to(boxes):
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    (place, moment), *_ = [(place, one) for place, one in enumerate(moments_of(boxes)) if one["kind"] == "overlap"]
    assert {moment["object"], moment["other"]} == {"Low", "Deep"}
    assert moment["frame"] == 2  # from which on they are led out
    assert 0.2 < moment["value"] < 0.31
    assert "deep in" in moment_text(moment)
    boxes.frame_set(9)
    assert bpy.ops.cairn.go_to_moment(place=place) == {"FINISHED"}
    assert boxes.frame_current == 2
    assert {ob.name for ob in bpy.context.selected_objects} == {"Low", "Deep"}
    assert bpy.ops.cairn.go_to_moment(place=90) == {"CANCELLED"}
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    assert moments_of(boxes) == []
    assert not bpy.ops.cairn.go_to_moment.poll()


def test_a_solve_that_is_missed_is_one(boxes):
    result = bake_scene(boxes, BakeSettings(quality="exact", max_iterations=1))
    missed = [moment for moment in result.report["moments"] if moment["kind"] == "missed"]
    assert 1 <= len(missed) <= 3
    worst = max(missed, key=lambda moment: moment["value"])
    frame = max(result.report["frames"], key=lambda frame: frame["residual"] if frame["missed"] else 0.0)
    assert worst["frame"] == frame["frame"]
    assert worst["value"] == pytest.approx(frame["residual"], rel=1e-3)
    assert [moment["frame"] for moment in missed] == sorted(moment["frame"] for moment in missed)


def test_what_breaks_is_one(hung):  # noqa: F811
    cairn.register()
    result = bake_scene(bpy.context.scene, BakeSettings(end=4))
    assert [(one["kind"], one["frame"], one["object"], one["value"]) for one in result.report["moments"]] == [
        ("breaks", 2, "Weak Tie", 1.0)
    ]
    assert json.loads(json.dumps(result.report["moments"])) == result.report["moments"]
    assert moment_text(result.report["moments"][0]) == "2: Weak Tie breaks"
