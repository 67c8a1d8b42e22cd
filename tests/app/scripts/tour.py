"""Play steps in a window, one after the other, with pictures of it in between. For scripts that Blender runs.

A step is a function without arguments; one that returns true has not ended and is called again. ImageMagick takes the
pictures: where OpenGL is software, Blender's own are black.
"""

import json
import os
import subprocess
import time
import traceback
from pathlib import Path

import bpy

INTERVAL = 0.25
PATIENCE = 200.0  # to compile, where nothing is compiled yet [s]
TIME_TO_DRAW = 1.2  # a picture taken too early shows a half-drawn window [s]
_step = {"since": 0.0}


def window():
    return bpy.context.window_manager.windows[0]


def area(kind):
    return next(area for area in window().screen.areas if area.type == kind)


def region(kind, owner="VIEW_3D"):
    return next(region for region in area(owner).regions if region.type == kind)


def in_view():
    """As if the mouse were in the 3D view."""
    return bpy.context.temp_override(window=window(), area=area("VIEW_3D"), region=region("WINDOW"))


def until(done):
    """A step that ends when ``done()`` is true."""

    def step():
        if done():
            return False
        assert time.perf_counter() - _step["since"] < PATIENCE, f"waited in vain for {done.__name__}"
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
    return time.perf_counter() - _step["since"] < TIME_TO_DRAW


def picture(path: Path, width=None):
    """Two steps: time to draw, and the picture of the window, made narrower if a width is given [pixels]."""

    def take():
        smaller = ["-resize", str(width)] if width else []
        subprocess.run(["import", "-window", "root", *smaller, "-quality", "80", path], check=True)

    return [drawn, take]


def play(steps, seen):
    """Play the steps, print what was seen for the test, and quit."""
    steps = list(steps)

    def next_step():
        try:
            _step["since"] = _step["since"] or time.perf_counter()
            if steps[0]():
                return INTERVAL
            steps.pop(0)
            _step["since"] = 0.0
            if not steps:
                print("cairn-test:" + json.dumps(seen), flush=True)
                bpy.ops.wm.quit_blender()
        except Exception:
            # Blender would only take the timer away, and wait for a user
            traceback.print_exc()
            os._exit(1)
        # quitting takes a while, in which timers go on
        return INTERVAL if steps else None

    bpy.app.timers.register(next_step, first_interval=2.0, persistent=True)
