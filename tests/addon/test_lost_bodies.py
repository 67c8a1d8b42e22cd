"""A body whose motion grows beyond all numbers: the bake goes on, and a note names it."""

import bpy

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.settings import BakeSettings

SETTINGS = BakeSettings(start=1, end=12)


def height_at(scene, name, frame):
    scene.frame_set(frame)
    return scene.objects[name].evaluated_get(bpy.context.view_layer.depsgraph).matrix_world.translation.z


def drive_beyond_numbers(maker):
    """A field of nearly the strongest that Blender takes, on one box; another falls beside it."""
    cairn.register()
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(10, 10, 1))
    maker.body("Lost", shape="BOX", location=(0, 0, 3))
    maker.body("Falling", shape="BOX", location=(8, 0, 3))
    bpy.ops.object.effector_add(type="FORCE", location=(0, 0, -1))
    field = bpy.context.object.field
    field.strength, field.use_max_distance, field.distance_max = 1e38, True, 4.5
    field.falloff_power = 0.0


def test_a_bake_goes_on_without_a_body_that_is_lost(maker):
    """The other falls as it would alone."""
    drive_beyond_numbers(maker)
    result = bake_scene(maker.scene, SETTINGS)
    assert result.error is None
    notes = [note for note in result.export.notes if "beyond all numbers" in note.text]
    assert [note.object_name for note in notes] == ["Lost"]
    assert notes[0].text.startswith("is held where it was before frame 2")
    heights = [height_at(maker.scene, "Lost", frame) for frame in (2, 6, 12)]
    assert max(heights) - min(heights) == 0.0
    assert heights[0] == 3.0
    assert height_at(maker.scene, "Falling", 12) < 2.5


def test_it_stays_held_where_a_bake_begins_anew_in_the_middle(maker, tmp_path):
    """With other friction from frame 6 on: it is not let go there, although the field would lose it once more."""
    drive_beyond_numbers(maker)
    maker.scene.frame_end = maker.world.point_cache.frame_end = 12
    maker.save(tmp_path / "shot.blend")
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    maker.scene.frame_set(1)
    maker.scene.objects["Falling"].rigid_body.friction = 0.1
    maker.scene.frame_set(6)
    assert bpy.ops.cairn.bake_from_current() == {"FINISHED"}
    assert {height_at(maker.scene, "Lost", frame) for frame in (2, 6, 7, 9, 12)} == {3.0}
    assert height_at(maker.scene, "Falling", 12) < 2.5
