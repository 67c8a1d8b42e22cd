"""In a window: open the sidebar's Cairn tab, save a picture of the screen to the path after ``--``, and quit.

ImageMagick takes the picture: where OpenGL is software, Blender's own screenshot is black.
"""

import json
import os
import subprocess
import sys
import traceback

import bpy
import numpy as np

path = sys.argv[sys.argv.index("--") + 1]
# drawing goes on between the steps; a picture taken too early shows a half-drawn window
PAUSE = 2.0


def view():
    area = next(area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")
    return area, next(region for region in area.regions if region.type == "UI")


def open_sidebar():
    area, _ = view()
    area.spaces.active.show_region_ui = True
    bpy.context.view_layer.objects.active = bpy.data.objects["Upper"]


def choose_tab():
    area, sidebar = view()
    sidebar.active_panel_category = "Cairn"
    area.tag_redraw()


def take_picture():
    _, sidebar = view()
    subprocess.run(["import", "-window", "root", path], check=True)
    image = bpy.data.images.load(path)
    pixels = np.array(image.pixels[:]).reshape(image.size[1], image.size[0], image.channels)
    drawn = pixels[sidebar.y : sidebar.y + sidebar.height, sidebar.x : sidebar.x + sidebar.width]
    colours = len(np.unique(drawn.reshape(-1, image.channels), axis=0))
    print("cairn-test:" + json.dumps({"tab": sidebar.active_panel_category, "colours": colours}), flush=True)
    bpy.ops.wm.quit_blender()


steps = [open_sidebar, choose_tab, take_picture]


def next_step():
    try:
        steps.pop(0)()
    except Exception:
        # Blender would only take the timer away, and wait for a user
        traceback.print_exc()
        os._exit(1)
    # quitting takes a while, in which timers go on
    return PAUSE if steps else None


bpy.app.timers.register(next_step, first_interval=PAUSE)
