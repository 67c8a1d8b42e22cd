"""In a window: rocks are settled from the menu's operator; first ESC on the way, then to the end, and one undo.

After ``--`` stand the folder for pictures, and a file that is copied there: the rocks of the guide.
"""

import shutil
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))
from tour import area, choose_tab, drawn, in_view, nothing_runs, part_of_cairn, picture_here, play, press, seen, until

FOLDER, SOURCE = map(Path, sys.argv[sys.argv.index("--") + 1 :])
SHOT = FOLDER / "rocks.blend"
bpy.context.preferences.view.show_splash = False


def open_copy():
    shutil.copy(SOURCE, SHOT)
    bpy.ops.wm.open_mainfile(filepath=str(SHOT))


def select():
    space = area("VIEW_3D").spaces.active
    space.show_region_ui = True
    for ob in bpy.context.scene.objects:
        ob.select_set(ob.name.startswith("Rock"))
    bpy.ops.ed.undo_push(message="Select")


def places():
    return {ob.name: [*ob.location, *ob.rotation_euler] for ob in bpy.context.scene.objects}


def note(name):
    def step():
        seen[name] = {"places": places(), "actions": len(bpy.data.actions), "baked": bpy.context.scene.cairn.is_baked}

    return step


def settle():
    with in_view():
        assert bpy.ops.cairn.settle("INVOKE_DEFAULT", True) == {"RUNNING_MODAL"}


def escape_on_the_way():
    """At once: fifty rocks lie after a second or two."""
    running = part_of_cairn("operators").running
    assert running is not None, "it has ended before it was seen"
    if not running["text"].startswith("Settling, "):
        return False
    seen["text"], seen["hint"] = running["text"], running["hint"]
    press("ESC")
    return True


def undo():
    bpy.ops.ed.undo()


def menu_has_it():
    functions = bpy.types.VIEW3D_MT_object_rigid_body.draw._draw_funcs
    seen["in_menu"] = any(function.__module__.endswith("settle_operator") for function in functions)


play(
    [
        *(open_copy, select, drawn, choose_tab, menu_has_it, note("before")),
        *(settle, until(escape_on_the_way), until(nothing_runs), note("escaped"), *picture_here("escaped")),
        *(settle, until(nothing_runs), note("settled"), *picture_here("settled"), undo, note("undone")),
    ]
)
