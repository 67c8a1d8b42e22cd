"""Locks of location and rotation hold along and about the world's axes, as in Blender's own simulation."""

import numpy as np
import pytest

from cairn.addon.read.scene_export import export_scene
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation


def play(maker, frames=24):
    """Poses of "Box" in the world after some frames, and the export."""
    export = export_scene(maker.scene)
    simulation = Simulation(export.model, SimulationOptions(frame_rate=24, substeps=4))
    index = export.model.names.index("Box")
    for _ in range(frames):
        simulation.advance_frame()
    position, orientation = simulation.poses()
    return position[index], orientation[index], export


def blender_after(maker, frames=24):
    """Where Blender's own simulation puts "Box"."""
    for frame in range(1, frames + 2):
        maker.scene.frame_set(frame)
    return np.array(maker.scene.objects["Box"].matrix_world.translation)


@pytest.mark.parametrize("turned", [0.0, 0.7])
def test_a_locked_axis_of_location_is_the_worlds(maker, turned):
    """Gravity pulls along all three; a child's lock is along the world's x, too. As Bullet has it."""
    parent = maker.object("Parent", rotation_euler=(0, 0, turned))
    maker.scene.gravity = (3, 2, -9.81)
    box = maker.body("Box", shape="BOX", location=(0, 0, 5), parent=parent)
    box.rigid_body.linear_damping = box.rigid_body.angular_damping = 0.0
    box.lock_location[0] = True
    maker.body("Far", shape="BOX", type="PASSIVE", location=(0, 0, -50))
    position, _, export = play(maker)
    np.testing.assert_allclose(position, (0.0, 1.0, 5 - 0.5 * 9.81), atol=1e-6)
    np.testing.assert_allclose(position, blender_after(maker), atol=0.05)
    assert not [note for note in export.notes if "lock" in note.text]


def test_all_axes_of_location_need_no_other_body(maker):
    maker.body("Box", shape="BOX", location=(0, 0, 5)).lock_location = (True, True, True)
    position, _, export = play(maker)
    np.testing.assert_allclose(position, (0, 0, 5), atol=1e-6)
    assert [joint.kind for joint in export.joints] == ["LOCKED_AXES"]


@pytest.mark.parametrize("locks", [(True, True, True), (True, False, True)])
def test_locked_rotations(maker, locks):
    """A box that a corner of its floor tips about y: not at all, or about y alone."""
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5))
    box = maker.body("Box", shape="BOX", location=(0.7, 0.3, 0.5))
    box.lock_rotation = locks
    _, orientation, _ = play(maker, 12)
    turned = np.abs(orientation[1:])
    if all(locks):
        np.testing.assert_allclose(turned, 0.0, atol=1e-6)
    else:
        assert turned[1] > 0.05
        np.testing.assert_allclose(turned[[0, 2]], 0.0, atol=1e-6)


def test_a_wheel_without_an_axle(maker):
    """All of location, and rotation about x and z: a ball that falls on it askew turns it about y alone."""
    box = maker.body("Box", shape="BOX")
    box.lock_location = (True, True, True)
    box.lock_rotation = (True, False, True)
    maker.body("Hammer", shape="SPHERE", location=(0.3, -0.3, 1.1), settings={"mass": 5.0, "friction": 1.0})
    maker.scene.gravity = (0, 2, -9)
    position, orientation, export = play(maker)
    np.testing.assert_allclose(position, 0.0, atol=1e-6)
    np.testing.assert_allclose(orientation[[1, 3]], 0.0, atol=1e-6)
    assert abs(orientation[2]) > 0.01
    assert not [note for note in export.notes if "lock" in note.text]


def test_locks_that_do_not_hold_are_named(maker):
    """One axis of rotation alone; some of location with nothing still; and where Animated is keyed."""
    maker.body("Spins").lock_rotation[1] = True
    maker.body("Slides", location=(3, 0, 0)).lock_location[0] = True
    launched = maker.body("Launched", location=(6, 0, 0))
    launched.lock_location[0] = True
    maker.key(launched, "rigid_body.kinematic", {1: True, 10: False})
    notes = {note.object_name: note.text for note in export_scene(maker.scene).notes if "lock" in note.text}
    assert "rotation axis alone" in notes["Spins"]
    assert "never moves" in notes["Slides"]
    assert "keyed" in notes["Launched"]
