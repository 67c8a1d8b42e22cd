"""What scripts share that play steps in a window, one after the other, as a user's hands would.

A script that is in the folder of this one imports it after ``sys.path.insert``. Pictures go to the folder after ``--``.
ImageMagick takes them: where OpenGL is software, Blender's own are black.
"""

import importlib
import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

import bpy

folder = Path(sys.argv[sys.argv.index("--") + 1])
INTERVAL = 0.25
PATIENCE = 200.0  # to compile, where nothing is compiled yet [s]
# What a script tells at its end.
seen = {"progress": []}
waiting = {"since": 0.0}


def part_of_cairn(name):
    """One of the modules of Cairn's window, under the name that Blender gives it."""
    package = next(addon.module for addon in bpy.context.preferences.addons if addon.module.endswith(".cairn"))
    return importlib.import_module(f"{package}.addon.ui.{name}")


def status():
    return json.loads(bpy.context.window_manager.cairn.status or "{}")


def view():
    window = bpy.context.window_manager.windows[0]
    return window, next(area for area in window.screen.areas if area.type == "VIEW_3D")


def region(kind):
    return next(region for region in view()[1].regions if region.type == kind)


def in_view():
    window, area = view()
    return bpy.context.temp_override(window=window, area=area, region=region("WINDOW"))


def choose_tab():
    region("UI").active_panel_category = "Cairn"
    view()[1].tag_redraw()


def press(key, x=None, y=None):
    """Press and release a key or a button of the mouse, in the middle of the window or at a place."""
    window = bpy.context.window_manager.windows[0]
    x, y = (window.width // 2, window.height // 2) if x is None else (x, y)
    for value in ("PRESS", "RELEASE"):
        window.event_simulate(type=key, value=value, x=x, y=y)


def until(done):
    """A step that comes back until ``done()`` is true; the next one follows then."""

    def step():
        if not done():
            assert time.perf_counter() - waiting["since"] < PATIENCE, f"waited in vain for {done.__name__}: {status()}"
            return True
        return False

    return step


def pause(seconds=1.2):
    """A step that takes so long: Blender draws meanwhile."""
    return lambda: time.perf_counter() - waiting["since"] < seconds


def picture(name):
    """Two steps: time to draw, and the picture."""

    def take():
        subprocess.run(["import", "-window", "root", folder / f"{name}.png"], check=True)

    return [pause(), take]


def nothing_runs():
    """Whether what was running in the window has ended; notes how far it is."""
    running = part_of_cairn("operators").running
    if running is not None:
        seen["progress"].append((running["text"], running["factor"]))
    return running is None


def leave():
    print("cairn-test:" + json.dumps(seen), flush=True)
    bpy.ops.wm.quit_blender()


def play(steps):
    """Play steps; one that returns true has not ended."""

    def next_step():
        try:
            waiting["since"] = waiting["since"] or time.perf_counter()
            if steps[0]():
                return INTERVAL
            steps.pop(0)
            waiting["since"] = 0.0
        except Exception:
            # Blender would only take the timer away, and wait for a user
            traceback.print_exc()
            os._exit(1)
        # quitting takes a while, in which timers go on
        return INTERVAL if steps else None

    bpy.app.timers.register(next_step, first_interval=2.0, persistent=True)
