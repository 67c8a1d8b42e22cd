"""Checkpoints lie in one folder beside the file; those of no use go by themselves, the others by a button."""

import os
import time
from pathlib import Path

import bpy
import pytest

import cairn
from cairn.addon.checkpoints import folder as files
from cairn.addon.checkpoints import housekeeping, in_window
from cairn.addon.checkpoints.identity import FORMAT
from cairn.addon.ui.continue_bake import usage_text

WEEKS = 30 * 24 * 3600.0


@pytest.fixture
def scene(maker, tmp_path):
    cairn.register()
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5))
    maker.body("Box", shape="BOX", location=(0, 0, 0.5))
    maker.scene.frame_end = maker.world.point_cache.frame_end = 4
    maker.save(tmp_path / "shot.1.blend")
    housekeeping.forget()
    return maker.scene


def leave(place, number=FORMAT, age=0.0):
    """A checkpoint of a bake, as old as that."""
    place.mkdir(parents=True)
    files.write_file(place / files.STATE, {"identity": {"format": number}}, {}, compress=False)
    os.utime(place / files.STATE, (time.time() - age,) * 2)


def test_all_checkpoints_of_a_folder_lie_in_one(scene, tmp_path):
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    outer = tmp_path / "cairn checkpoints"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cairn checkpoints", "shot.1.blend"]
    assert [path.name for path in outer.iterdir()] == ["shot.1.Scene.checkpoint"]
    assert housekeeping.usage_of(Path(bpy.data.filepath)).count == 1


def test_what_nothing_can_go_on_from_goes_when_a_bake_begins(scene, tmp_path):
    """Of files that are gone for long, and of other versions; not what a file has, or had last week."""
    outer = tmp_path / housekeeping.FOLDER
    (tmp_path / "other.blend").touch()
    leave(outer / "other.Scene.checkpoint", age=WEEKS)
    leave(outer / "gone.Scene.checkpoint", age=WEEKS)
    leave(outer / "renamed.Scene.checkpoint", age=60.0)
    leave(outer / "shot.1.Old.checkpoint", number=FORMAT - 1)
    (outer / "mine").mkdir()
    in_window.tidy(scene)
    left = sorted(path.name for path in outer.iterdir())
    assert left == ["mine", "other.Scene.checkpoint", "renamed.Scene.checkpoint"]


def test_a_button_says_how_much_they_take_and_removes_them(scene, tmp_path):
    """And the folder, unless something else lies there; the bake stays."""
    bpy.ops.cairn.bake()
    housekeeping.forget()
    usage = housekeeping.usage_of(Path(bpy.data.filepath))
    assert usage.size == sum(path.stat().st_size for path in in_window.folder_of(scene).iterdir())
    assert bpy.ops.cairn.remove_checkpoints() == {"FINISHED"}
    assert not (tmp_path / housekeeping.FOLDER).exists()
    assert scene.cairn.is_baked
    assert housekeeping.usage_of(Path(bpy.data.filepath)).count == 0


def test_usage_reads_as_people_say_it():
    forms = "{:,d} scene, {} MB", "{:,d} scenes, {} MB"
    assert [usage_text(housekeeping.Usage(*values), *forms) for values in ((1, 2000), (3, 3.4e7), (2, 4.56e6))] == [
        "1 scene, 0.1 MB", "3 scenes, 34 MB", "2 scenes, 4.6 MB"
    ]  # fmt: skip
