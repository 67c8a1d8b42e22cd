"""Every button on every ready-made scene, in any order, at some frames: it works where it can be pressed.

Each press either ends well or says in a sentence why not, and none of these changes what a bake depends on. So the bake
stays up to date; all that moves carries it; and once it is deleted, all is as it was before the first press.
"""

import json
import random

import bpy
import pytest
from nightly import cases
from scene_state import visible_state

import cairn
from cairn.addon.demo import build_scene, demo_names, description_of
from cairn.addon.read.scene_digest import scene_digest
from cairn.addon.takes import showing
from cairn.addon.ui import watch
from cairn.addon.write import earlier_animation

DAILY = ("stack", "walker")
EVERY = [pytest.param(name, marks=() if name in DAILY else pytest.mark.nightly) for name in sorted(demo_names())]
PRESSES, BAKED = cases(15, 60), 8
# Buttons that belong to a note, a moment or a variant, and what they are given.
WITH_PLACE = ("select_noted", "go_to_moment")
PLAIN = (
    *("bake", "delete_bake", "continue_bake", "bake_from_current", "check_scene", "stop", "go_to_worst"),
    *("clear_error", "copy_system_information", "remove_checkpoints", "write_impact_sounds", "use_scene_range"),
)
# Those that make a bake or take it away: where they can be pressed they do so.
MAKES = ("bake", "delete_bake", "continue_bake", "bake_from_current")
# Those of takes, which bring a bake or take it off, and lose none.
TAKES = ("take_keep", "take_use", "take_remove", "take_rename")
SHOWN = ("CAIRN", "BULLET", "START")


class Presses:
    """A user who presses what there is, on a scene that was saved."""

    def __init__(self, scene, chance):
        self.scene, self.chance = scene, chance
        self.log: list = []

    def press(self, name, /, **arguments):
        """Press a button; returns what it ends with, or why it cannot be pressed or does nothing."""
        self.log.append((self.scene.frame_current, name, arguments))
        button = getattr(bpy.ops.cairn, name)
        if not button.poll() or not self.is_drawn(name):
            return "poll"
        try:
            return button("EXEC_DEFAULT", **arguments)
        except RuntimeError as error:
            ended = str(error)
        assert "Cairn has failed" not in ended, (self.log, ended)
        return ended

    def is_drawn(self, name):
        """Whether the panel has a button that is there only where there is something to go on with."""
        status = json.loads(bpy.context.window_manager.cairn.status or "{}")
        if name == "continue_bake":
            offer = status.get("checkpoint", {})
            return bool(status.get("fetch")) or bool(offer and offer["fits"] and offer["frame"] < offer["end"])
        if name == "bake_from_current":
            recorded = status.get("recorded", [])
            return bool(recorded) and recorded[0] < self.scene.frame_current <= recorded[1]
        return True

    def any_button(self):
        name = self.chance.choice([*PLAIN, *WITH_PLACE, *TAKES, "show", "select_object", "overlaps", "frame"])
        if name in TAKES:
            return self.press(name, **({"name": "Renamed"} if name == "take_rename" else {}))
        if name == "show":
            return self.press(name, motion=self.chance.choice(SHOWN))
        if name == "frame":
            self.scene.frame_set(self.scene.frame_start + self.chance.randint(0, BAKED + 3))
            return None
        if name == "overlaps":
            return self.press("check_scene", find_overlaps=True)
        if name == "select_object":
            return self.press(name, object_name=self.chance.choice(list(self.scene.objects)).name)
        return self.press(name, **({"place": 0} if name in WITH_PLACE else {}))


@pytest.mark.parametrize("name", EVERY)
def test_every_button_works_where_it_can_be_pressed(name, tmp_path, capsys):
    cairn.register()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = build_scene(description_of(name))
    bpy.context.window.scene = scene
    first = scene.frame_start
    scene.frame_end = scene.rigidbody_world.point_cache.frame_end = first + BAKED
    scene.rigidbody_world.point_cache.frame_start = first
    scene.frame_set(first)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    digest, before = scene_digest(scene), visible_state(scene)
    user = Presses(scene, random.Random(name))
    assert user.press("delete_bake") == user.press("continue_bake") == user.press("go_to_worst") == "poll"
    assert user.press("bake") == {"FINISHED"}
    moving = len(earlier_animation.baked_objects(scene))
    assert moving > 0
    for _ in range(PRESSES):
        was_baked = scene.cairn.is_baked
        ended = user.any_button()
        pressed = user.log[-1][1]
        if pressed in MAKES and ended is not None:
            can_be_pressed = {"bake": True, "delete_bake": was_baked}.get(pressed, ended != "poll")
            assert ended == ({"FINISHED"} if can_be_pressed else "poll"), (user.log, ended)
            is_baked = pressed != "delete_bake" if can_be_pressed else was_baked
            assert scene.cairn.is_baked == is_baked, user.log
        assert scene_digest(scene) == digest, user.log
        watch.look_at(scene, bpy.context.window_manager.cairn)
        assert json.loads(bpy.context.window_manager.cairn.status)["outdated"] == "", user.log
        carrying = len(earlier_animation.baked_objects(scene))
        assert carrying == (moving if scene.cairn.is_baked else 0), user.log
    if scene.cairn.is_baked:
        assert user.press("delete_bake") == {"FINISHED"}
    elif showing.shown(scene) == showing.START:
        assert user.press("show", motion=showing.BULLET) == {"FINISHED"}
    while len(scene.cairn.takes):
        assert user.press("take_remove", index=0) == {"FINISHED"}
    scene.frame_set(first)
    assert visible_state(scene) == before
    assert "Traceback" not in capsys.readouterr().err, user.log
