"""In a window: bake by the operator's timer, picture the panel, undo and redo, delete the bake, and quit.

The path of the picture stands after ``--``. ImageMagick takes it: where OpenGL is software, Blender's own is black.
"""

import json
import os
import subprocess
import sys
import traceback

import bpy

path = sys.argv[sys.argv.index("--") + 1]
# drawing goes on between the steps; a picture taken too early shows a half-drawn window [s]
PAUSE = 2.0
seen = {}


def view():
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    return window, area, next(region for region in area.regions if region.type == "UI")


def in_view():
    window, area, _ = view()
    region = next(region for region in area.regions if region.type == "WINDOW")
    return bpy.context.temp_override(window=window, area=area, region=region)


def facts():
    """What a bake changes, and Delete Bake and Undo bring back."""
    scene = bpy.context.scene
    upper = bpy.data.objects["Upper"]
    return {
        "baked": scene.cairn.is_baked,
        "world": scene.rigidbody_world.enabled,
        "action": upper.animation_data.action.name if upper.animation_data and upper.animation_data.action else "",
        "frame": scene.frame_current,
    }


def open_sidebar():
    _, area, _ = view()
    area.spaces.active.show_region_ui = True
    bpy.context.view_layer.objects.active = bpy.data.objects["Upper"]


def choose_tab():
    _, area, sidebar = view()
    sidebar.active_panel_category = "Cairn"
    area.tag_redraw()
    seen["before"] = facts()


def start():
    with in_view():
        seen["started"] = list(bpy.ops.cairn.bake("INVOKE_DEFAULT"))


def wait():
    """Come back until the bake has ended, however long compiling takes."""
    if not bpy.context.scene.cairn.is_baked:
        steps.insert(0, wait)


def look():
    scene, upper = bpy.context.scene, bpy.data.objects["Upper"]
    seen["after"] = facts()
    seen["summary"] = scene.cairn.summary
    scene.frame_set(scene.cairn.baked_end)
    seen["height"] = upper.matrix_world.translation.z
    scene.frame_set(seen["before"]["frame"])


def take_picture():
    subprocess.run(["import", "-window", "root", path], check=True)


def undo():
    with in_view():
        bpy.ops.ed.undo()
    seen["undone"] = facts()


def redo():
    with in_view():
        bpy.ops.ed.redo()
    seen["redone"] = facts()


def delete():
    with in_view():
        bpy.ops.cairn.delete_bake()
    seen["deleted"] = facts()


def leave():
    print("cairn-test:" + json.dumps(seen), flush=True)
    bpy.ops.wm.quit_blender()


steps = [open_sidebar, choose_tab, start, wait, look, take_picture, undo, redo, delete, leave]


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
