"""*Initial Motion* of a rigid body: closed forms, axes, random differences, and what is said where it is not used."""

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.read.scene_digest import changes, scene_digest
from cairn.addon.read.scene_export import export_scene
from cairn.addon.read.scene_poses import SceneError
from cairn.addon.read.start_motion import NEVER_MOVED, NOT_MOVED_YET
from cairn.addon.settings import BakeSettings
from cairn.addon.wedge.targets import set_property
from cairn.solver_core import Simulation

FREE = {"linear_damping": 0.0, "angular_damping": 0.0}
SPIN = np.array([0.0, 6.0, 8.0])


@pytest.fixture
def ball(maker):
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = 24
    return maker.body("Ball", shape="SPHERE", location=(1, 0, 5), settings=FREE)


def begun(scene, name="Ball"):
    """The velocity that the model begins with, and the notes on the body."""
    export = export_scene(scene)
    index = export.model.names.index(name)
    texts = [note.text for note in export.notes if note.object_name == name]
    return export.model.initial_state.velocity[index], texts


def test_a_throw_is_a_parabola_and_keeps_its_spin(maker, ball):
    """(3, 0, 4) m/s and 10 rad/s: the parabola to 1e-6 m, the spin to 1e-9."""
    ball.cairn.start_velocity, ball.cairn.start_spin = (3, 0, 4), SPIN
    simulation = Simulation(export_scene(maker.scene).model)
    for frame in range(1, 25):
        simulation.advance_frame()
        t = frame / 24.0
        place = np.array([1.0 + 3.0 * t, 0.0, 5.0 + 4.0 * t - 0.5 * 9.81 * t * t])
        assert simulation.poses()[0][0] == pytest.approx(place, abs=1e-6)
        assert simulation.velocities()[0, 3:] == pytest.approx(SPIN, abs=1e-9)


def test_a_bake_plays_it(maker, ball):
    """In Blender's own numbers, and Delete Bake leaves the settings."""
    ball.cairn.start_velocity = (2, 0, 0)
    maker.scene.gravity = (0, 0, 0)
    bake_scene(maker.scene, BakeSettings())
    maker.scene.frame_set(13)
    assert ball.matrix_world.translation.x == pytest.approx(2.0, abs=1e-5)
    bpy.ops.cairn.delete_bake()
    assert tuple(ball.cairn.start_velocity) == (2, 0, 0)


def test_local_axes_are_those_of_the_object_at_the_start(maker, ball):
    """Turned by a quarter about z, with a parent that is scaled and turned."""
    parent = maker.object("Parent", scale=(2, 2, 2), rotation_euler=(0, 0, np.pi / 2))
    ball.parent = parent
    ball.cairn.start_velocity, ball.cairn.start_spin, ball.cairn.start_space = (1, 0, 0), (0, 2, 0), "LOCAL"
    velocity, _ = begun(maker.scene)
    assert velocity == pytest.approx([0, 1, 0, -2, 0, 0], abs=1e-6)


def test_random_is_a_share_and_the_same_again(maker, ball):
    """Each body has its own difference, of at most the share; another seed changes it, and the same one does not."""
    other = maker.body("Other", shape="SPHERE", location=(4, 0, 5))
    for ob in (ball, other):
        ob.cairn.start_velocity, ob.cairn.start_spin, ob.cairn.start_random = (0, 0, 5), (0, 0, 2), 0.2
    first, second = begun(maker.scene)[0], begun(maker.scene, "Other")[0]
    for velocity in (first, second):
        assert 0.0 < np.linalg.norm(velocity[:3] - [0, 0, 5]) <= 1.0
        assert 0.0 < np.linalg.norm(velocity[3:] - [0, 0, 2]) <= 0.4
    assert not np.allclose(first, second)
    ball.cairn.start_seed = 1
    assert not np.allclose(begun(maker.scene)[0], first)
    ball.cairn.start_seed = 0
    assert np.array_equal(begun(maker.scene)[0], first)


def test_what_does_not_move_says_so(maker, ball):
    """A passive body, and one that its animation holds at the start; one that starts deactivated moves all the same."""
    floor = maker.body("Floor", shape="BOX", type="PASSIVE")
    floor.cairn.start_velocity = ball.cairn.start_velocity = (1, 0, 0)
    ball.rigid_body.use_deactivation = ball.rigid_body.use_start_deactivated = True
    export = export_scene(maker.scene)
    assert not export.model.starts_asleep.any()
    assert begun(maker.scene, "Floor")[1].count(NEVER_MOVED) == 1
    assert np.all(begun(maker.scene, "Floor")[0] == 0.0)
    ball.rigid_body.kinematic = True
    assert NEVER_MOVED in begun(maker.scene)[1]
    maker.key(ball, "rigid_body.kinematic", {1: True, 6: False})
    velocity, texts = begun(maker.scene)
    assert np.all(velocity == 0.0)
    assert NOT_MOVED_YET in texts


def test_what_is_no_number_is_refused(maker, ball):
    """Named, with what to do; what is infinite is as large as the property may be."""
    ball.cairn.start_velocity = (float("inf"), 0, 0)
    assert ball.cairn.start_velocity[0] == 1e6
    ball.cairn.start_spin = (float("nan"), 0, 0)
    with pytest.raises(SceneError, match=r"Ball.*initial spin is no number"):
        export_scene(maker.scene)


def test_a_change_is_told_and_a_bake_without_it_stays_up_to_date(maker, ball):
    """Also where it is taken away again; digests of bodies without any are as they were before there was one."""
    before = scene_digest(maker.scene)
    assert "initial motion" not in before["bodies"]["Ball"]
    ball.cairn.start_seed = 5
    assert changes(before, scene_digest(maker.scene)) == []
    ball.cairn.start_velocity = (1, 0, 0)
    with_motion = scene_digest(maker.scene)
    assert changes(before, with_motion) == ["initial motion of Ball"]
    assert changes(with_motion, before) == ["initial motion of Ball"]
    ball.cairn.start_random = 0.5
    assert changes(with_motion, scene_digest(maker.scene)) == ["initial motion of Ball"]


def test_it_can_be_varied(maker, ball):
    """As any property of an object."""
    set_property(maker.scene, "object:Ball.cairn.start_velocity[2]", 4)
    set_property(maker.scene, "object:Ball.cairn.start_space", "LOCAL")
    assert tuple(ball.cairn.start_velocity) == (0, 0, 4)
    assert ball.cairn.start_space == "LOCAL"


def test_from_animation(maker, ball):
    """What keys before the start say, of each selected body about its centre of mass; the shown frame stays."""
    maker.world.point_cache.frame_start = 5
    maker.key(ball, "location", {4: (0, 0, 5), 5: (0.25, 0, 5)})
    maker.key(ball, "rotation_euler", {4: (0, 0, 0), 5: (0, 0, np.radians(10.0))})
    still = maker.body("Still", shape="BOX", location=(5, 0, 0))
    maker.scene.frame_set(9)
    for ob in (ball, still):
        ob.select_set(True)
    bpy.context.view_layer.objects.active = ball
    assert bpy.ops.cairn.start_from_animation() == {"FINISHED"}
    assert maker.scene.frame_current == 9
    assert tuple(ball.cairn.start_velocity) == pytest.approx((6, 0, 0), abs=1e-4)
    assert tuple(ball.cairn.start_spin) == pytest.approx((0, 0, np.radians(240.0)), abs=1e-4)
    assert not any(still.cairn.start_velocity)
