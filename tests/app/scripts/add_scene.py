"""In a window: a scene of Add > Cairn beside the user's own, baked and played; Undo brings the user's scene back.

Tells what is there after each step.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tour

seen = {}


def facts():
    scene = tour.window().scene
    names = sorted(bpy.data.scenes.keys())
    return {"shown": scene.name, "scenes": names, "objects": len(scene.objects), "baked": scene.cairn.is_baked}


def begin():
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    seen["before"] = facts()


def add():
    with tour.in_view():
        seen["added"] = list(bpy.ops.cairn.add_demo("EXEC_DEFAULT", True, demo="cards"))
    seen["after"] = facts()
    tour.window().scene.rigidbody_world.point_cache.frame_end = 30
    seen["camera"] = tour.area("VIEW_3D").spaces.active.region_3d.view_perspective


def bake():
    with tour.in_view():
        seen["bake"] = list(bpy.ops.cairn.bake("INVOKE_DEFAULT"))


def is_baked():
    return tour.window().scene.cairn.is_baked


def play():
    bpy.ops.screen.animation_play()


def has_played():
    return tour.window().scene.frame_current > 3


def stop():
    bpy.ops.screen.animation_play()
    seen["summary"] = tour.window().scene.cairn.summary


def undo():
    with tour.in_view():
        bpy.ops.ed.undo()
    seen.setdefault("undone", []).append(facts())
    return facts() != seen["before"]


tour.play(
    [
        *(begin, add, tour.choose_tab, bake, tour.until(is_baked)),
        *(play, tour.until(has_played), stop, undo),
    ],
    seen,
)
