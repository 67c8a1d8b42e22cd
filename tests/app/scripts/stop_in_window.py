"""In a window: press ESC while the kernels of a solver that was never used are compiled. Blender makes the events."""

import importlib
import json
import os
import time
import traceback
from pathlib import Path

import bpy

INTERVAL = 0.1
seen = {"ticks": 0}


def operators():
    """Cairn's module, under the name that Blender gives it."""
    package = next(addon.module for addon in bpy.context.preferences.addons if addon.module.endswith(".cairn"))
    return importlib.import_module(f"{package}.addon.ui.operators")


def children():
    """Processes that this one has started and that still run."""
    stats = [path.read_text() for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
    fields = [stat.rpartition(")")[2].split() for stat in stats]
    return sum(1 for state, parent, *_ in fields if int(parent) == os.getpid() and state != "Z")


def start():
    scene, window = bpy.context.scene, bpy.context.window_manager.windows[0]
    scene.cairn.method, scene.cairn.friction = "lemke_reduced", "polyhedral"
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.cairn.bake("INVOKE_DEFAULT")


def press_escape():
    """Once the compilers are at work, and the window has lived on beside them for two seconds."""
    seen["ticks"] += 1
    running = operators().running
    assert running is not None, "the bake has ended by itself"
    if not running["text"].startswith("Preparing the solver") or seen["ticks"] * INTERVAL < 2.0 or not children():
        steps.insert(0, press_escape)
        return
    seen["text"], seen["hint"], seen["at_work"] = running["text"], running["hint"], children()
    window = bpy.context.window_manager.windows[0]
    for value in ("PRESS", "RELEASE"):
        window.event_simulate(type="ESC", value=value, x=window.width // 2, y=window.height // 2)
    seen["pressed"] = time.perf_counter()


def wait():
    if operators().running is not None:
        steps.insert(0, wait)
        return
    seen["seconds_to_end"] = time.perf_counter() - seen.pop("pressed")


def leave():
    seen["left_at_work"] = children()
    seen["baked"] = bpy.context.scene.cairn.is_baked
    print("cairn-test:" + json.dumps(seen), flush=True)
    bpy.ops.wm.quit_blender()


steps = [start, press_escape, wait, leave]


def next_step():
    try:
        steps.pop(0)()
    except Exception:
        # Blender would only take the timer away, and wait for a user
        traceback.print_exc()
        os._exit(1)
    return INTERVAL if steps else None


bpy.app.timers.register(next_step, first_interval=2.0, persistent=True)
