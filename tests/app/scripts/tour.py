"""Play steps in a window, one after the other, as a user's hands would. For scripts that Blender runs.

A step is a function without arguments; one that returns true has not ended and is called again. ImageMagick takes the
pictures: where OpenGL is software, Blender's own are black.
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

INTERVAL = 0.25
PATIENCE = 200.0  # to compile, where nothing is compiled yet [s]
TIME_TO_DRAW = 1.2  # a picture taken too early shows a half-drawn window [s]
# When the present step began, and what a script tells at its end.
waiting = {"since": 0.0}
seen = {"progress": []}


def part_of_cairn(name):
    """One of the modules of Cairn's window, under the name that Blender gives it."""
    package = next(addon.module for addon in bpy.context.preferences.addons if addon.module.endswith(".cairn"))
    return importlib.import_module(f"{package}.addon.ui.{name}")


def status():
    return json.loads(bpy.context.window_manager.cairn.status or "{}")


def window():
    return bpy.context.window_manager.windows[0]


def area(kind):
    return next(area for area in window().screen.areas if area.type == kind)


def region(kind, owner="VIEW_3D"):
    return next(region for region in area(owner).regions if region.type == kind)


def in_view():
    """As if the mouse were in the 3D view."""
    return bpy.context.temp_override(window=window(), area=area("VIEW_3D"), region=region("WINDOW"))


def press(key, x=None, y=None):
    """Press and release a key or a button of the mouse, in the middle of the window or at a place."""
    x, y = (window().width // 2, window().height // 2) if x is None else (x, y)
    for value in ("PRESS", "RELEASE"):
        window().event_simulate(type=key, value=value, x=x, y=y)


def nothing_runs():
    """Whether what was running in the window has ended; notes how far it is."""
    running = part_of_cairn("operators").running
    if running is not None:
        seen["progress"].append((running["text"], running["factor"]))
    return running is None


def pause(seconds=TIME_TO_DRAW):
    """A step that takes so long: Blender draws meanwhile."""
    return lambda: time.perf_counter() - waiting["since"] < seconds


def until(done):
    """A step that ends when ``done()`` is true."""

    def step():
        if done():
            return False
        assert time.perf_counter() - waiting["since"] < PATIENCE, f"waited in vain for {done.__name__}: {status()}"
        return True

    return step


def choose_tab(name="Cairn"):
    """A tab of the 3D view's sidebar, which must have been drawn before."""
    region("UI").active_panel_category = name
    area("VIEW_3D").tag_redraw()


def drawn():
    """A step that gives the window time to draw."""
    for part in window().screen.areas:
        part.tag_redraw()
    return time.perf_counter() - waiting["since"] < TIME_TO_DRAW


def picture(path: Path, width=None):
    """Two steps: time to draw, and the picture of the window, made narrower if a width is given [pixels]."""

    def take():
        smaller = ["-resize", str(width)] if width else []
        subprocess.run(["import", "-window", "root", *smaller, "-quality", "80", path], check=True)

    return [drawn, take]


def picture_here(name):
    """Two steps as of ``picture``, to the folder after ``--`` in the command."""
    return picture(Path(sys.argv[sys.argv.index("--") + 1]) / f"{name}.png")


def play(steps, told=seen):
    """Play the steps, print for the test what is told, and quit."""
    steps = list(steps)

    def next_step():
        try:
            waiting["since"] = waiting["since"] or time.perf_counter()
            if steps[0]():
                return INTERVAL
            steps.pop(0)
            waiting["since"] = 0.0
            if not steps:
                print("cairn-test:" + json.dumps(told), flush=True)
                bpy.ops.wm.quit_blender()
        except Exception:
            # Blender would only take the timer away, and wait for a user
            traceback.print_exc()
            os._exit(1)
        # quitting takes a while, in which timers go on
        return INTERVAL if steps else None

    bpy.app.timers.register(next_step, first_interval=2.0, persistent=True)
