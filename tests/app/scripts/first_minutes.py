"""In a window, with an empty profile: README from *Install it* to *Your first bake*, with the time of each step.

first_minutes.py ZIP
"""

import sys
import time
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tour

archive = sys.argv[sys.argv.index("--") + 1]
seen = {"seconds": {}}
began = time.perf_counter()


def done(step):
    """Note when a step has ended, counted from the window's first one [s]."""
    return lambda: seen["seconds"].update({step: round(time.perf_counter() - began, 2)})


def install():
    """What dropping the zip on the window, or Install from Disk, calls once the user has confirmed."""
    bpy.ops.extensions.package_install_files(
        "EXEC_DEFAULT", filepath=archive, repo="user_default", enable_on_install=True, overwrite=True
    )


def is_installed():
    return any(addon.module.endswith(".cairn") for addon in bpy.context.preferences.addons)


def add():
    with tour.in_view():
        bpy.ops.cairn.add_demo("EXEC_DEFAULT", True, demo="cards")
    tour.area("VIEW_3D").spaces.active.show_region_ui = True


def bake():
    with tour.in_view():
        bpy.ops.cairn.bake("INVOKE_DEFAULT")


def is_baked():
    return tour.window().scene.cairn.is_baked


def look():
    scene = tour.window().scene
    seen["summary"], seen["frames"] = scene.cairn.summary, scene.cairn.baked_end
    tops = []
    for frame in (scene.cairn.baked_start, scene.cairn.baked_end):
        scene.frame_set(frame)
        tops.append(max(ob.matrix_world.translation.z for ob in scene.objects if ob.rigid_body))
    seen["fallen"] = tops[0] - tops[1]


tour.play(
    [
        *(install, tour.until(is_installed), done("installed")),
        *(add, tour.drawn, tour.choose_tab, done("added")),
        *(bake, tour.until(is_baked), done("baked"), look),
    ],
    seen,
)
