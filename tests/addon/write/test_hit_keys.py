"""Keys at hits: where a bounce between frames is, against the closed form, and that they come and go with the bake."""

import math

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import BakeStopped, bake_frames, bake_scene
from cairn.addon.checkpoints import in_window
from cairn.addon.settings import BakeSettings
from cairn.addon.wedge import targets
from cairn.addon.write import attach, fcurves

FRAMES = 24
GRAVITY, RATE = 9.81, 24.0
RADIUS, HIT = 0.5, 7.6  # frames after the start
FALL = 0.5 * GRAVITY * (HIT / RATE) ** 2
FREE = {"linear_damping": 0.0, "angular_damping": 0.0, "restitution": 1.0, "friction": 0.0}


@pytest.fixture
def scene(maker, tmp_path):
    """A ball that bounces 7.6 frames after the start without loss, its spin kept, and one that never does."""
    cairn.register()
    maker.body(
        "Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(40, 40, 1), settings={"restitution": 1.0}
    )
    maker.body("Ball", shape="SPHERE", location=(0, 0, RADIUS + FALL), settings=FREE)
    maker.body("Flying", shape="SPHERE", location=(5, 0, 30), settings=FREE)
    scene = maker.scene
    scene.gravity = (0, 0, -GRAVITY)
    scene.frame_end = maker.world.point_cache.frame_end = FRAMES
    scene.cairn.hit_keys = True
    maker.save(tmp_path / "shot.blend")
    return scene


def baked(scene, **given):
    return bake_scene(scene, BakeSettings.from_scene(scene, given))


def curves_of(name):
    data = bpy.data.objects[name].animation_data
    return {fcurves.key_of(curve): curve for curve in fcurves.channelbag(data.action, data.action_slot).fcurves}


def times_of(name, path="location", index=2):
    return [point.co[0] for point in curves_of(name)[path, index].keyframe_points]


def between_frames(times):
    return [time for time in times if time != round(time)]


def height(moment):
    """Of the ball so many frames after the start, which bounces without loss."""
    fall, period = HIT / RATE, moment / RATE
    at = (period + fall) % (2.0 * fall) - fall
    return RADIUS + FALL - 0.5 * GRAVITY * (abs(at)) ** 2 if moment > HIT else RADIUS + FALL - 0.5 * GRAVITY * period**2


def worst_error():
    """Largest distance of the curve from the closed form within two frames of the hit [m]."""
    curve = curves_of("Ball")["location", 2]
    moments = np.arange(HIT - 2.0, HIT + 2.0, 0.01)
    return max(abs(curve.evaluate(1.0 + moment) - height(moment)) for moment in moments)


def test_the_bounce_is_where_it_was(scene):
    """The corner at the floor, at the end of the substep of the hit; without keys there it is cut by the frame."""
    baked(scene)
    assert between_frames(times_of("Ball"))[0] == 1.0 + 7.75
    assert between_frames(times_of("Flying")) == []
    curve = curves_of("Ball")["location", 2]
    assert curve.evaluate(8.75) == pytest.approx(RADIUS, abs=1e-6)
    assert {point.interpolation for point in curve.keyframe_points} == {"LINEAR"}
    speed = GRAVITY * HIT / RATE
    with_keys = worst_error()
    assert with_keys <= 2.0 * speed * 0.25 / RATE + GRAVITY / RATE**2 / 8 + 1e-4
    baked(scene, hit_keys=False)
    assert between_frames(times_of("Ball")) == []
    assert worst_error() > 2.0 * with_keys


def test_whole_frames_are_the_same(scene):
    """To the bit, and so are the curves of what is not hit."""
    with_keys = baked(scene)
    kept = {name: {key: curve_values(curve) for key, curve in curves_of(name).items()} for name in ("Ball", "Flying")}
    without = baked(scene, hit_keys=False)
    assert with_keys.trajectory.digest() == without.trajectory.digest()
    for name in ("Ball", "Flying"):
        for key, curve in curves_of(name).items():
            assert curve_values(curve) == {
                at: kept[name][key][at] for at in curve_values(curve) if at in kept[name][key]
            }
    assert kept["Flying"] == {key: curve_values(curve) for key, curve in curves_of("Flying").items()}


def curve_values(curve):
    return {point.co[0]: point.co[1] for point in curve.keyframe_points}


def test_own_keys_come_back(scene, maker):
    """Delete Bake gives back what was keyed, and nothing between frames is left."""
    ball = bpy.data.objects["Ball"]
    maker.key(ball, "scale", {1: (1, 1, 1), 20: (1, 1, 1)})
    maker.key(ball, "location", {-5: (0, 0, 9), 1: tuple(ball.location)})
    before = {key: curve_values(curve) for key, curve in curves_of("Ball").items()}
    ball.rigid_body.kinematic = False
    baked(scene)
    assert between_frames(times_of("Ball"))
    attach.delete_bake(scene)
    assert {key: curve_values(curve) for key, curve in curves_of("Ball").items()} == before
    assert bpy.data.objects["Flying"].animation_data is None or bpy.data.objects["Flying"].animation_data.action is None


def steps_of(scene, plan):
    return bake_frames(scene, BakeSettings.from_scene(scene), plan, keeps_earlier=True)


def all_keys():
    return {name: {key: curve_values(curve) for key, curve in curves_of(name).items()} for name in ("Ball", "Flying")}


def run(steps, stop_after=None):
    try:
        for progress in steps:
            if stop_after is not None and progress.frame == stop_after:
                steps.throw(BakeStopped())
                break
        for _ in steps:
            pass
    except StopIteration:
        pass


def test_continue_and_from_current_frame_have_the_same_keys(scene):
    """What was recorded keeps its keys between frames, also where they lie before the frame from which it goes on."""
    run(steps_of(scene, in_window.plan_of(scene)))
    whole = all_keys()
    assert between_frames(whole["Ball"]["location", 2])
    attach.delete_bake(scene)
    run(steps_of(scene, in_window.plan_of(scene)), stop_after=12)
    run(steps_of(scene, in_window.plan_of(scene, resume=True)))
    assert all_keys() == whole
    scene.frame_set(14)
    run(steps_of(scene, in_window.plan_of(scene, from_frame=14)))
    keys = all_keys()
    assert between_frames(keys["Ball"]["location", 2])[0] == 8.75
    for name in ("Ball", "Flying"):
        for key, values in whole[name].items():
            assert {at: value for at, value in keys[name][key].items() if at <= 14} == {
                at: value for at, value in values.items() if at <= 14
            }


def test_a_checkpoint_without_them_is_no_beginning(scene):
    scene.cairn.hit_keys = False
    run(steps_of(scene, in_window.plan_of(scene)), stop_after=12)
    scene.cairn.hit_keys = True
    with pytest.raises(Exception, match="without keys at hits"):
        run(steps_of(scene, in_window.plan_of(scene, resume=True)))


def test_a_body_beside_the_window_has_the_same(scene):
    baked(scene)
    kept = all_keys()
    bake_scene(scene, BakeSettings.from_scene(scene), beside=True)
    assert all_keys() == kept


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ"])
def test_a_spin_goes_on_through_a_hit(scene, mode):
    """A frictionless ball that turns three quarters of a turn a frame keeps its spin: its keys count on, or have no
    jump of sign.
    """
    ball, speed = bpy.data.objects["Ball"], 1.5 * math.pi * RATE
    ball.rotation_mode = mode
    ball.cairn.start_velocity, ball.cairn.start_spin = (0, 0, 0), (0, 0, speed)
    ball.cairn.use_start = True
    baked(scene)
    assert between_frames(times_of("Ball"))
    for moment in (6.9, 7.3, 7.75, 7.9, 8.4):
        scene.frame_set(math.floor(1 + moment), subframe=(1 + moment) % 1.0)
        shown = ball.evaluated_get(bpy.context.view_layer.depsgraph).matrix_world.to_quaternion()
        turn = shown.to_euler("XYZ").z
        off = (turn - 1.5 * math.pi * moment + math.pi) % (2 * math.pi) - math.pi
        assert abs(off) < 0.03, moment


def test_a_child_of_what_bounces(scene, maker):
    """A body that flies free of its parent, which bounces, is where it flies, also between the parent's keys."""
    child = maker.body("Child", shape="SPHERE", location=(3, 0, 20), settings=FREE)
    bpy.context.view_layer.update()
    child.parent = bpy.data.objects["Ball"]
    child.matrix_parent_inverse = child.parent.matrix_world.inverted()
    baked(scene)
    for moment in (7.5, 7.75, 7.9):
        scene.frame_set(math.floor(1 + moment), subframe=(1 + moment) % 1.0)
        place = child.evaluated_get(bpy.context.view_layer.depsgraph).matrix_world.translation
        assert place.z == pytest.approx(20 - 0.5 * GRAVITY * (moment / RATE) ** 2, abs=0.01), moment


def test_variants_may_have_them(scene):
    targets.set_property(scene, "hit_keys", False)
    assert not scene.cairn.hit_keys


def test_undo_takes_them_away_and_redo_brings_them_back(scene):
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="baked")
    keys = times_of("Ball")
    assert between_frames(keys) == [8.75]
    bpy.ops.ed.undo()
    animation = bpy.data.objects["Ball"].animation_data
    assert animation is None or animation.action is None
    assert not bpy.context.scene.cairn.is_baked
    bpy.ops.ed.redo()
    assert times_of("Ball") == keys
    bpy.ops.cairn.delete_bake()
    assert not bpy.data.actions
