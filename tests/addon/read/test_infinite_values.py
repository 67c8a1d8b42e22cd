"""What is infinite, or no number, is refused with its value as people write it."""

import math

import bpy
import pytest

from cairn.addon.read.faults import SceneError
from cairn.addon.read.scene_export import export_scene


@pytest.mark.parametrize(
    ("mode", "channel", "value"),
    [
        ("XYZ", "rotation_euler", (math.inf, 0, 0)),
        ("XYZ", "rotation_euler", (1e30, 0, 0)),
        ("XYZ", "delta_rotation_euler", (0, -math.inf, 0)),
        ("QUATERNION", "rotation_quaternion", (1, math.inf, 0, 0)),
        ("AXIS_ANGLE", "rotation_axis_angle", (math.inf, 0, 0, 1)),
        ("XYZ", "location", (math.inf, 0, 0)),
    ],
)
def test_what_is_infinite_is_refused(maker, mode, channel, value):
    """Blender keeps the largest number of single precision for it, whose matrix is finite."""
    body = maker.body("Body", shape="BOX")
    body.rotation_mode = mode
    setattr(body, channel, value)
    bpy.context.view_layer.update()
    with pytest.raises(SceneError, match=rf"Body: its {channel} is \(.*(inf|1e\+30).*\) at frame 1; correct it"):
        export_scene(maker.scene)


def test_a_turn_of_many_times_is_none_of_these(maker):
    body = maker.body("Body", shape="BOX")
    body.rotation_euler.z = 1e5
    bpy.context.view_layer.update()
    export_scene(maker.scene)


def test_gravity_that_is_no_number_is_named_as_people_write_it(maker):
    maker.body("Body", shape="BOX")
    maker.scene.gravity = (0, 0, math.nan)
    with pytest.raises(SceneError, match=r"is \(0, 0, nan\); it must be finite"):
        export_scene(maker.scene)
