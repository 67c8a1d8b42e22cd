"""In a window: what is drawn while a bake runs, and the overlay of three scenes after one; takes the guide's pictures.

The folder for the pictures stands after ``--``. Tells how long drawing took, and what was left of it.
"""

import importlib
import subprocess
import sys
import time
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tour

folder = Path(sys.argv[sys.argv.index("--") + 1])
WIDTH = 900  # of the pictures [pixels]
seen = {"views": []}
bpy.context.preferences.view.show_splash = False

operators, overlay_view = tour.part_of_cairn("operators"), tour.part_of_cairn("overlay_view")
package = operators.__package__.rpartition(".")[0]
bake_view = importlib.import_module(f"{package}.sight.bake_view")
# pictures of all, however slow the machine is
overlay_view.FRAME = 10.0
views = []


class NotedView(bake_view.BakeView):
    """Tells the script that it is there."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        views.append(self)


bake_view.BakeView = NotedView


def picture(name):
    """A picture of the 3D view alone."""

    def take():
        area = tour.area("VIEW_3D")
        top = tour.window().height - area.y - area.height
        crop = f"{area.width}x{area.height}+{area.x}+{top}"
        words = ["import", "-window", "root", "-crop", crop, "+repage", "-resize", str(WIDTH), "-quality", "80"]
        subprocess.run([*words, folder / f"{name}.webp"], check=True)

    return take


def add(demo, end, *parts):
    """A ready-made scene in which some parts of the overlay are on."""

    def step():
        with tour.in_view():
            bpy.ops.cairn.add_demo(demo=demo)
        scene = tour.window().scene
        scene.cairn.use_checkpoints = False
        scene.rigidbody_world.point_cache.frame_end = end
        for name in parts:
            setattr(scene.cairn.overlay, name, True)
        space = tour.area("VIEW_3D").spaces.active
        space.show_region_toolbar = space.show_region_ui = space.show_gizmo = False
        space.overlay.show_relationship_lines = space.overlay.show_cursor = space.overlay.show_extras = False
        space.region_3d.view_matrix = scene.camera.matrix_world.inverted()
        space.region_3d.view_perspective = "PERSP"
        space.lens = 75
        scene.camera.hide_set(True)

    return step


def bake(share=None, draws=True):
    """Steps that bake; drawing may take more of the time, so that there is a picture in a short bake."""

    def start():
        seen["began"] = time.perf_counter()
        if share is not None:
            bake_view.LARGEST_SHARE = share
        tour.window().scene.cairn.overlay.newest = draws
        with tour.in_view():
            bpy.ops.cairn.bake("INVOKE_DEFAULT")

    def ended():
        if operators.running is not None:
            return False
        scene, view = tour.window().scene, views[-1] if views and draws else None
        seen["views"].append(
            {
                "bake": time.perf_counter() - seen["began"],
                "share": bake_view.LARGEST_SHARE,
                "drawings": view.drawings if view else 0,
                "drawing": view.seconds if view else 0.0,
                "handlers": len(view._handlers) if view else 0,
                "summary": scene.cairn.summary,
            }
        )
        return True

    return start, tour.until(ended)


def taken_at(name, first, last):
    """A step that takes a picture once a frame of these is shown."""

    def shown():
        if not operators.running:
            return True
        if views and first <= (views[-1]._on_card[0] or 0) <= last:
            picture(name)()
            seen[name] = views[-1]._on_card[0]
            return True
        return False

    return tour.until(shown)


def show(frame):
    def step():
        tour.window().scene.frame_set(frame)

    return [step, tour.drawn]


def note(name):
    def step():
        seen[name] = dict(overlay_view.left_out), len(overlay_view._handlers)

    return step


def change(**values):
    def step():
        for name, value in values.items():
            setattr(tour.window().scene.cairn.overlay, name, value)

    return step


def no_overlay():
    for scene in bpy.data.scenes:
        for name in ("shapes", "contacts", "joints", "centres", "at_rest"):
            setattr(scene.cairn.overlay, name, False)
    seen["left"] = len(overlay_view._handlers)


def open_panel():
    with tour.in_view():
        bpy.ops.wm.call_panel(name="VIEW3D_PT_overlay_cairn", keep_open=True)


start, ended = bake(share=1.0)
ragdoll = [add("ragdoll", 400, "joints", "shapes"), tour.drawn, start, taken_at("see-baking", 60, 110), ended]
ragdoll += [*show(68), picture("see-joints"), note("joints"), change(joints=False, shapes=False)]
start, ended = bake(share=0.05)
wall = [add("wall", 77, "contacts"), tour.drawn, start, ended, *show(36), picture("see-contacts"), note("contacts")]
wall += [change(contacts=False)]
start, ended = bake(draws=False)
heap = [
    add("pile", 140, "at_rest", "contacts"),
    tour.drawn,
    start,
    ended,
    *show(125),
    picture("see-rest"),
    note("rest"),
]
heap += [open_panel, tour.drawn, picture("see-panel")]
tour.play([*ragdoll, *wall, *heap, no_overlay, tour.drawn], told=seen)
