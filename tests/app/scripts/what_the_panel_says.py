"""In a window: what the panel says and offers after a bake, a stop, a file that was not saved, and edits. Tells each.

After ``--`` stand the folder for pictures, and a file that is copied there: the throw of the guide.
"""

import shutil
import sys
import time
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))
from tour import (
    area,
    choose_tab,
    drawn,
    in_view,
    nothing_runs,
    part_of_cairn,
    picture_here,
    play,
    press,
    seen,
    status,
    until,
)

FOLDER, SOURCE = map(Path, sys.argv[sys.argv.index("--") + 1 :])
SHOT = FOLDER / "shot.blend"


def facts():
    scene = bpy.context.scene.cairn
    check = part_of_cairn("operators").check_of(bpy.context)
    said = {name: status().get(name) for name in ("outdated", "recorded", "fetch", "why_not")}
    notes = [[names, text] for _, text, names in check.get("notes", [])]
    return {"baked": [scene.baked_start, scene.baked_end] if scene.is_baked else [], "check": notes, **said}


def tell(name):
    def step():
        seen[name] = facts()

    return step


def copy():
    shutil.copy(SOURCE, SHOT)


def open_file():
    bpy.ops.wm.open_mainfile(filepath=str(SHOT))


def open_sidebar():
    """In a step of its own: the window of a file that was just opened is not whole yet."""
    area("VIEW_3D").spaces.active.show_region_ui = True


def press_button(name):
    def step():
        with in_view():
            assert getattr(bpy.ops.cairn, name)("INVOKE_DEFAULT", True) == {"RUNNING_MODAL"}

    return step


def has_looked():
    """Whether the panel has been told what there is since the file was opened or a change was made."""
    return status().get("scene") == bpy.context.scene.name and "fetch" in status()


def is_outdated():
    return bool(status().get("outdated"))


def save():
    bpy.ops.wm.save_mainfile()


def make_long():
    scene = bpy.context.scene
    scene.cairn.substeps = scene.cairn.max_substeps = 600
    scene.rigidbody_world.point_cache.frame_end = 400
    scene.update_tag()  # as where these are typed in


def take_time():
    """Let each frame take a while, so that the bake is stopped before it has more frames than the finished one."""
    bake = sys.modules[part_of_cairn("operators").__name__.replace(".ui.operators", ".bake")].Bake
    simulate_frame = bake._simulate_frame

    def simulate_slowly(self, *words):
        time.sleep(0.2)
        return (yield from simulate_frame(self, *words))

    bake._simulate_frame = simulate_slowly
    return lambda: setattr(bake, "_simulate_frame", simulate_frame)


def begin_slowly():
    make_long()
    seen["at_speed"] = take_time()


def go_at_speed():
    seen.pop("at_speed")()


def frames_are_under_way():
    running = part_of_cairn("operators").running
    return running is not None and running["text"].startswith("Frame ")


def right_click():
    press("RIGHTMOUSE")


def was_answered():
    running = part_of_cairn("operators").running
    seen["answer"] = running and running["remark"]
    return bool(seen["answer"])


def escape():
    press("ESC")


def unlink():
    """Out of the scene, as the outliner does it; it stays in the Rigid Body World's collection."""
    ob, world = bpy.data.objects["Box.2"], bpy.context.scene.rigidbody_world.collection
    for collection in ob.users_collection:
        if collection != world:
            collection.objects.unlink(ob)


def outsiders():
    return [place for place, (_, text, _) in enumerate(status().get("notes", [])) if "not in the scene" in text]


def is_noted():
    return bool(outsiders())


def leave_out():
    seen["outside"] = status()["notes"][outsiders()[0]]
    with in_view():
        bpy.ops.cairn.leave_out("EXEC_DEFAULT", True, source="status", place=outsiders()[0])
    # at once, before anybody looks
    seen["left_out"] = [outsiders(), "Box.2" in bpy.context.scene.rigidbody_world.collection.objects]


def shift_range():
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1001, 1050


def is_range_noted():
    seen["range"] = [text for _, text, _ in status().get("notes", []) if "1001" in text]
    return bool(seen["range"])


OPEN = (open_file, open_sidebar, drawn, choose_tab)
play(
    [
        *(copy, *OPEN, until(has_looked), press_button("bake"), until(nothing_runs), tell("baked")),
        *(*picture_here("panel-baked"), save, *OPEN, until(has_looked), tell("reopened")),
        *(begin_slowly, until(is_outdated), press_button("bake"), until(frames_are_under_way)),
        *(right_click, until(was_answered), escape, until(nothing_runs), go_at_speed),
        *(until(has_looked), tell("escaped")),
        *picture_here("panel-escaped"),
        # a bake that was not saved
        *(copy, *OPEN, until(has_looked), tell("unsaved"), *picture_here("panel-unsaved")),
        *(press_button("continue_bake"), until(nothing_runs), tell("fetched")),
        *(unlink, until(is_noted), *picture_here("panel-outside"), leave_out),
        *(shift_range, until(is_range_noted), *picture_here("panel-range")),
    ]
)
