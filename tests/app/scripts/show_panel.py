"""In a window: open the sidebar's Cairn tab, save a picture of the window to the path after ``--``, and quit."""

import json
import sys

import bpy

path = sys.argv[sys.argv.index("--") + 1]
# drawing goes on between the steps; a picture taken too early shows a half-drawn window
PAUSE = 1.0


def view():
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    return window, area, next(region for region in area.regions if region.type == "UI")


def open_sidebar():
    _, area, _ = view()
    area.spaces.active.show_region_ui = True
    bpy.context.view_layer.objects.active = bpy.data.objects["Upper"]
    bpy.app.timers.register(choose_tab, first_interval=PAUSE)


def choose_tab():
    _, area, sidebar = view()
    sidebar.active_panel_category = "Cairn"
    area.tag_redraw()
    bpy.app.timers.register(take_picture, first_interval=PAUSE)


def take_picture():
    window, _, sidebar = view()
    with bpy.context.temp_override(window=window):
        bpy.ops.screen.screenshot(filepath=path)
    print("cairn-test:" + json.dumps({"tab": sidebar.active_panel_category, "width": sidebar.width}), flush=True)
    bpy.ops.wm.quit_blender()


bpy.app.timers.register(open_sidebar, first_interval=PAUSE)
