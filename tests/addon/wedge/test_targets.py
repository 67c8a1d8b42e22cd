"""Properties that can be varied: found by name, set, read back; what cannot be is said in a line."""

import bpy
import numpy as np
import pytest
from joint_scenes import joint
from wedge_scenes import make_slope

import cairn
from cairn.addon.read.faults import SceneError
from cairn.addon.wedge.targets import jitter, rigid_bodies, set_properties, set_property, try_properties


@pytest.fixture
def scene(maker, tmp_path):
    cairn.register()
    make_slope(maker, tmp_path / "slope.blend")
    joint(maker, "Rope", None, maker.scene.objects["Ball"], location=(0, 0, 2))
    return maker.scene


def ball(scene):
    return scene.objects["Ball"].rigid_body


SET = [
    ("solver", "nncg", lambda scene: scene.cairn.method),
    ("substeps", 7, lambda scene: scene.cairn.substeps),
    ("substeps", 6.0, lambda scene: scene.cairn.substeps),
    ("concavity", 0.2, lambda scene: scene.objects["Ball"].cairn.concavity),
    ("object:Ball.maximal_parts", 3, lambda scene: scene.objects["Ball"].cairn.maximal_parts),
    ("collision_collections[2]", "on", lambda scene: scene.objects["Ball"].rigid_body.collision_collections[2]),
    (
        "object:Ball.collision_collections[3]",
        "on",
        lambda scene: scene.objects["Ball"].rigid_body.collision_collections[3],
    ),
    ("friction_model", "box", lambda scene: scene.cairn.friction),
    ("friction", "box", lambda scene: scene.cairn.friction),
    ("friction", 0.25, lambda scene: {body.rigid_body.friction for body in rigid_bodies(scene)}.pop()),
    ("mass", 3, lambda scene: scene.objects["Box.001"].rigid_body.mass),
    ("use_deactivation", "off", lambda scene: scene.objects["Ball"].rigid_body.use_deactivation),
    ("object:Box.001.mass", 2.5, lambda scene: scene.objects["Box.001"].rigid_body.mass),
    ("object:Box.001.location.z", 1.5, lambda scene: scene.objects["Box.001"].location.z),
    ("object:Box.001.location[0]", 4, lambda scene: scene.objects["Box.001"].location.x),
    ('object:Ball["glow"]', 2.5, lambda scene: scene.objects["Ball"]["glow"]),
    ("object:Rope.breaking_threshold", 5, lambda scene: scene.objects["Rope"].rigid_body_constraint.breaking_threshold),
    ("object:Rope.friction_torque", 5, lambda scene: scene.objects["Rope"].cairn.joint.friction_torque),
    ("world:time_scale", 0.5, lambda scene: scene.rigidbody_world.time_scale),
    ("scene:gravity[2]", -1.62, lambda scene: scene.gravity[2]),
]


@pytest.mark.parametrize(("name", "value", "read"), SET, ids=[f"{name}={value}" for name, value, _ in SET])
def test_what_can_be_set(scene, name, value, read):
    set_property(scene, name, value)
    assert read(scene) == (
        pytest.approx(value) if isinstance(value, (int, float)) else {"off": False, "on": True}.get(value, value)
    )


REFUSED = [
    ("magic", 1, "no property 'magic'"),
    ("solver", "magic", "magic"),
    ("mass", -1, "must be from 0.001"),
    ("substeps", 2.5, "a whole number"),
    ("seed", 1, "--seeds"),
    ("threads", 1, "does not change the motion"),
    ("frame_end", 20, "use_custom_range"),
    ("is_baked", "on", "no property"),
    ("object:Ball.name", "x", "name"),
    ("substeps", 0, "must be from 1"),
    ("object:Nobody.mass", 1, "no such object"),
    ("object:Ball.magic", 1, "magic"),
    ("object:Ball.location[7]", 1, "location"),
    ('object:Ball["none"]', 1, "none"),
    ("object:Keyed.location.x", 1, "keyed"),
    ("object:Keyed.kinematic", "on", "keyed"),
    ("kinematic", "on", "keyed"),
    ("use_deactivation", "perhaps", "on or off"),
    ("scene:", 1, "no property"),
    ("fricton", 0.5, "perhaps 'friction'"),
    ("substep", 4, "perhaps 'substeps'"),
    ("object:Ball.mas", 1, "perhaps 'mass'"),
    ("object:Ball.rigid_body.masss", 1, "object:Ball.rigid_body.masss: there is no property 'masss', perhaps 'mass'"),
    ("object:Bal.mass", 1, "perhaps 'Ball'"),
    ("world:time_scal", 1, "perhaps 'time_scale'"),
]


@pytest.mark.parametrize(("name", "value", "word"), REFUSED, ids=[f"{name}={value}" for name, value, _ in REFUSED])
def test_what_cannot_be_set(scene, name, value, word):
    with pytest.raises(SceneError) as error:
        set_property(scene, name, value)
    assert word in str(error.value)
    assert "\n" not in str(error.value)
    assert not ("perhaps '" in str(error.value) and "it cannot be" in str(error.value))  # the name is at fault alone


def test_one_object_wins_over_all(scene):
    """Whatever the order in which they are given."""
    set_properties(scene, {"object:Ball.friction": 0.9, "friction": 0.1})
    assert scene.objects["Ball"].rigid_body.friction == pytest.approx(0.9)
    assert scene.objects["Floor"].rigid_body.friction == pytest.approx(0.1)


def test_jitter_does_not_depend_on_the_frame_that_is_shown(scene, maker):
    """A parent that turns and grows is taken as it is at the start."""
    outer = bpy.data.objects.new("Outer", None)
    scene.collection.objects.link(outer)
    maker.key(outer, "rotation_euler", {1: (0, 0, 0), 10: (0, 0, 1.5)})
    maker.key(outer, "scale", {1: (1, 1, 1), 10: (4, 4, 4)})
    scene.objects["Box.001"].parent = outer
    start = np.array(scene.objects["Box.001"].location)
    moved = []
    for frame in (1, 10):
        scene.frame_set(frame)
        scene.objects["Box.001"].location = start
        jitter(scene, 1, 0.1)
        assert scene.frame_current == frame
        moved.append(np.array(scene.objects["Box.001"].location) - start)
    assert np.array_equal(*moved)
    assert 0 < np.linalg.norm(moved[0]) <= 0.1000001


def test_jitter(scene):
    """Active bodies move by at most so much, each its own way, and a seed gives the same again; keyed ones stay."""
    outer = bpy.data.objects.new("Outer", None)
    outer.scale, outer.rotation_euler = (2, 3, 4), (0.1, 0.2, 0.3)
    scene.collection.objects.link(outer)
    scene.objects["Box.001"].parent = outer
    starts = {}
    for seed in (1, 1, 2):
        before = places(scene)
        jitter(scene, seed, 0.01)
        after = places(scene)
        moved = {name: after[name] - before[name] for name in before}
        for name in ("Ball", "Box.001"):
            assert 0 < np.linalg.norm(moved[name]) <= 0.0100001
        assert not np.allclose(moved["Ball"], moved["Box.001"])
        assert not moved["Floor"].any()
        assert not moved["Keyed"].any()
        starts.setdefault(seed, []).append(moved["Ball"])
    assert starts[1][0] == pytest.approx(starts[1][1], abs=1e-6)
    assert not np.allclose(starts[1][0], starts[2][0])


def places(scene):
    bpy.context.view_layer.update()
    return {ob.name: np.array(ob.matrix_world.translation) for ob in rigid_bodies(scene)}


def test_a_trial_leaves_all_as_it_was(scene):
    """Also where it is refused half way."""
    ball = scene.objects["Ball"]
    before = ball.rigid_body.mass, ball.rigid_body.friction, tuple(ball.location), scene.cairn.substeps
    try_properties(scene, {"mass": 3.0, "object:Ball.location[2]": 9.0, "substeps": 7, "friction": 0.125})
    with pytest.raises(SceneError, match="perhaps 'friction'"):
        try_properties(scene, {"mass": 3.0, "fricton": 0.5, "substeps": 7})
    assert before == (ball.rigid_body.mass, ball.rigid_body.friction, tuple(ball.location), scene.cairn.substeps)
