"""In a window: the animator's loop. Bake, move at the start frame, duplicate, look, bake again, undo, delete the bake.

The folder of the pictures stands after ``--``; ImageMagick takes them.
"""

import json
import os
import subprocess
import sys
import traceback

import bpy
from bl_ext.user_default.cairn.addon.ui import watch

folder = sys.argv[sys.argv.index("--") + 1]
# drawing goes on between the steps, and the panel looks at the scene a moment after a change [s]
PAUSE = 1.5
# Rounds that the tour waits altogether for the panel's looks.
WAITS = 12
seen, waits = {}, []


def view():
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    return window, area, next(region for region in area.regions if region.type == "UI")


def in_view():
    window, area, _ = view()
    region = next(region for region in area.regions if region.type == "WINDOW")
    return bpy.context.temp_override(window=window, area=area, region=region)


def place(name):
    return [round(value, 4) for value in bpy.data.objects[name].matrix_world.translation]


def status():
    return json.loads(bpy.context.window_manager.cairn.status or "{}")


def note(name):
    """A step that keeps what there is to see, and takes a picture."""

    def look():
        if bpy.app.timers.is_registered(watch._look_when_idle) and len(waits) < WAITS:
            waits.append(name)
            steps.insert(0, look)
            return
        copy = bpy.data.objects.get("Upper.001")
        seen[name] = {
            "upper": place("Upper"),
            "copy": place("Upper.001") if copy else None,
            "copy_is_baked": bool(copy and copy.cairn.is_baked),
            "baked": bpy.context.scene.cairn.is_baked,
            "outdated": status().get("outdated"),
            "warnings": [text for _, text, _ in status().get("notes", [])],
            "error": bpy.context.window_manager.cairn.error,
        }
        subprocess.run(["import", "-window", "root", os.path.join(folder, f"{name}.png")], check=True)

    return look


def open_sidebar():
    _, area, _ = view()
    area.spaces.active.show_region_ui = True
    select("Upper")


def choose_tab():
    _, area, sidebar = view()
    sidebar.active_panel_category = "Cairn"
    area.tag_redraw()


def select(name):
    for obj in bpy.data.objects:
        obj.select_set(obj.name == name)
    bpy.context.view_layer.objects.active = bpy.data.objects[name]


def bake():
    seen["baked_before"] = bpy.context.scene.cairn.summary
    bpy.context.scene.cairn.summary = ""
    with in_view():
        bpy.ops.cairn.bake("INVOKE_DEFAULT")
    steps.insert(0, wait)


def wait():
    """Come back until the bake has ended, however long compiling takes."""
    if not bpy.context.scene.cairn.summary:
        steps.insert(0, wait)


def move():
    with in_view():
        bpy.ops.transform.translate(value=(0.75, 0, 0))
        bpy.ops.ed.undo_push(message="Move")


def duplicate():
    with in_view():
        bpy.ops.object.duplicate_move(TRANSFORM_OT_translate={"value": (0, 3, 0)})
        bpy.ops.ed.undo_push(message="Duplicate")


def change_friction():
    bpy.data.objects["Lower"].rigid_body.friction = 0.125


def add_field():
    with in_view():
        bpy.ops.object.effector_add(type="WIND", location=(0, 0, 5))
        bpy.ops.ed.undo_push(message="Field")
    select("Upper")


def frame(number):
    return lambda: bpy.context.scene.frame_set(number)


def undo():
    with in_view():
        bpy.ops.ed.undo()


def delete():
    with in_view():
        bpy.ops.cairn.delete_bake()


def leave():
    print("cairn-test:" + json.dumps(seen), flush=True)
    bpy.ops.wm.quit_blender()


steps = [
    open_sidebar,
    choose_tab,
    note("start"),
    bake,
    note("baked"),
    move,
    note("moved"),
    duplicate,
    note("duplicated"),
    frame(30),
    frame(1),
    note("looked"),
    bake,
    note("again"),
    change_friction,
    add_field,
    note("changed"),
    bake,
    note("third"),
    undo,
    note("undone"),
    delete,
    note("deleted"),
    leave,
]


def next_step():
    try:
        steps.pop(0)()
    except Exception:
        # Blender would only take the timer away, and wait for a user
        traceback.print_exc()
        os._exit(1)
    # quitting takes a while, in which timers go on
    return PAUSE if steps else None


bpy.app.timers.register(next_step, first_interval=PAUSE, persistent=True)
