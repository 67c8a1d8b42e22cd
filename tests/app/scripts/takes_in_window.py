"""In a window: two takes of a wall that is hit, ghosts, Blender's own simulation, the start, and the way back by Undo.

Pictures go to the folder after ``--``.
"""

import subprocess
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tour
from tour import in_view, nothing_runs, seen, until

folder = Path(sys.argv[sys.argv.index("--") + 1])
WIDTH, FRAME, LAST = 900, 40, 60
bpy.context.preferences.view.show_splash = False
takes_panel, ghost_view = tour.part_of_cairn("takes_panel"), tour.part_of_cairn("ghost_view")


def scene():
    return tour.window().scene


def begin():
    """A ready-made scene, seen by its camera, and the panel Takes open, as a click on its title would."""
    with in_view():
        bpy.ops.cairn.add_demo(demo="wall")
    scene().cairn.use_checkpoints = False
    scene().rigidbody_world.point_cache.frame_end = scene().frame_end = LAST
    panel = takes_panel.VIEW3D_PT_cairn_takes
    bpy.utils.unregister_class(panel)
    panel.bl_options, panel.bl_order = set(), -1
    bpy.utils.register_class(panel)
    space = tour.area("VIEW_3D").spaces.active
    space.show_region_ui, space.show_region_toolbar, space.show_gizmo = True, False, False
    space.overlay.show_cursor = space.overlay.show_relationship_lines = space.overlay.show_extras = False
    space.region_3d.view_matrix = scene().camera.matrix_world.inverted()
    space.region_3d.view_perspective, space.lens = "PERSP", 75
    scene().camera.hide_set(True)


def press(name, /, **arguments):
    """A step that presses a button, and one that waits until it has done its work."""

    def start():
        with in_view():
            seen.setdefault("answers", []).append(list(getattr(bpy.ops.cairn, name)("INVOKE_DEFAULT", **arguments)))

    return [start, until(nothing_runs)]


def show(frame):
    def step():
        scene().frame_set(frame)

    return [step, tour.drawn]


def lighter():
    """The ball has a tenth of its mass in the second take."""
    ball = max((ob for ob in scene().objects if ob.rigid_body), key=lambda ob: ob.rigid_body.mass)
    seen["ball"] = ball.name
    ball.rigid_body.mass *= 0.1


def ghosts(*names, bullet=False):
    def step():
        for take in scene().cairn.takes:
            take.ghost = take.name in names
        scene().cairn.bullet_ghost = bullet

    return step


def note(name):
    """A step that notes what the scene shows, and what is drawn."""

    def step():
        showing = takes_panel.showing.shown(scene())
        names = [take.name for take in scene().cairn.takes]
        place = [round(value, 4) for value in scene().objects[seen["ball"]].matrix_world.translation]
        drawn, frame = len(ghost_view._surfaces), scene().frame_current
        seen[name] = {"shown": showing, "takes": names, "ball": place, "ghosts": drawn, "frame": frame}

    return step


def picture(name, kind="VIEW_3D"):
    def take():
        area = tour.area(kind)
        top = tour.window().height - area.y - area.height
        crop = f"{area.width}x{area.height}+{area.x}+{top}"
        words = ["import", "-window", "root", "-crop", crop, "+repage", "-resize", str(WIDTH), "-quality", "80"]
        subprocess.run([*words, folder / f"{name}.webp"], check=True)

    return [tour.drawn, take]


def undo():
    with in_view():
        bpy.ops.ed.undo()


def save_and_open():
    """As in another session: numbers of objects are others, and Undo knows nothing of before."""
    path = str(folder / "shown.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)


tour.play(
    [
        *(begin, tour.drawn, tour.choose_tab, *press("bake"), lighter),
        *(*press("take_keep"), *press("bake"), *press("take_keep", name="Light ball")),
        *(ghosts("Take 1"), *show(FRAME), *picture("takes-ghost"), note("ghost")),
        *(*press("show", motion="BULLET"), ghosts(), *picture("takes-bullet"), note("bullet")),
        *(*press("show", motion="START"), *picture("takes-start"), note("start")),
        *(*press("show", motion="CAIRN"), ghosts(bullet=True), *picture("takes-bullet-ghost"), note("cairn")),
        *(*press("take_use", index=0), note("used"), undo, tour.drawn, note("undone"), undo, tour.drawn, note("twice")),
        *(*press("show", motion="BULLET"), save_and_open, tour.drawn, note("opened")),
        *(*press("show", motion="CAIRN"), note("again"), *press("delete_bake"), note("deleted")),
    ]
)
