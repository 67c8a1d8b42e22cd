"""In a window: *Live* of a wall, of which a box is dragged by the mouse, let go, dragged again and taken back.

The folder for pictures stands after ``--``; the guide's is a film of the first drag. Tells how long it takes from the
mouse to the picture, and how many pictures a second there are meanwhile.
"""

import subprocess
import sys
import time
from pathlib import Path

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tour

FRAMES, NAME = 250, "Box.024"  # the last one of the top row, next to the eye
live_mode = tour.part_of_cairn("live_mode")
FOLDER = Path(sys.argv[sys.argv.index("--") + 1])
# Width of the film [pixels], and how long each of its pictures stays [1/100 s].
WIDTH, DELAY = 560, 9
seen, lags, film = {}, [], []
bpy.context.preferences.view.show_splash = False
bpy.context.preferences.view.show_playback_fps = False


def scene():
    return tour.window().scene


def build():
    """A wall of boxes on a floor."""
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    with tour.in_view():
        bpy.ops.rigidbody.world_add()
        world = scene().rigidbody_world
        world.collection = bpy.data.collections.new("Bodies")
        bpy.ops.mesh.primitive_cube_add(size=1.0)
        cube = bpy.context.object
        mesh = cube.data

        def body(name, kind, location, scale=(1.0, 1.0, 1.0)):
            ob = bpy.data.objects.new(name, mesh)
            ob.location, ob.scale = location, scale
            scene().collection.objects.link(ob)
            world.collection.objects.link(ob)
            ob.rigid_body.type, ob.rigid_body.collision_shape = kind, "BOX"

        bpy.data.objects.remove(cube)
        body("Floor", "PASSIVE", (0, 0, -0.5), (30, 30, 1))
        for number in range(25):
            layer, column = divmod(number, 5)
            body(f"Box.{number:03}", "ACTIVE", (1.02 * (column - 2) + 0.3 * (layer % 2), 0, 0.5 + layer))
    world.enabled = True
    world.point_cache.frame_end = scene().frame_end = FRAMES
    scene().frame_set(1)
    space = tour.area("VIEW_3D").spaces.active
    space.region_3d.view_distance, space.region_3d.view_location = 16, (0, 0, 2.5)
    space.show_region_ui = True
    bpy.ops.ed.undo_push(message="Built")


def keys():
    """Keys by which bodies are dragged."""
    keymaps = bpy.context.window_manager.keyconfigs.addon.keymaps
    return sum(item.idname == "cairn.live_drag" for keymap in keymaps for item in keymap.keymap_items)


def show_tab():
    """Cairn's tab, with the panel open and those above it closed."""
    panels, live_panel = tour.part_of_cairn("panels"), tour.part_of_cairn("live_panel")
    for cls, options in (
        (panels.VIEW3D_PT_cairn_check, {"DEFAULT_CLOSED"}),
        (live_panel.VIEW3D_PT_cairn_live, set()),
        (live_panel.VIEW3D_PT_cairn_live_dragging, set()),
    ):
        bpy.utils.unregister_class(cls)
        cls.bl_options = options
        bpy.utils.register_class(cls)
    tour.choose_tab()


def begin():
    seen["keys_before"] = keys()
    with tour.in_view():
        bpy.ops.cairn.live("INVOKE_DEFAULT")
    seen["keys"] = keys()


def session():
    assert live_mode.mode is not None, "it has ended by itself"
    error = live_mode.mode.session.error
    assert error is None, error
    return live_mode.mode.session


def all_is_simulated():
    return session().is_done and session().frames[1] == FRAMES


def go_to(frame):
    return lambda: scene().frame_set(frame)


def place():
    """Where the box is in memory at the present frame."""
    shown = session().picture(scene().frame_current)
    row = shown.model.names.index(NAME)
    return shown.poses[0][row]


def pixel():
    region, space = tour.region("WINDOW"), tour.area("VIEW_3D").spaces.active
    at = location_3d_to_region_2d(region, space.region_3d, Vector(place()))
    return int(region.x + at.x), int(region.y + at.y)


def find_box():
    seen["at"] = pixel()


def move(by=(0, 0), kind="MOUSEMOVE", value="NOTHING"):
    def step():
        x, y = seen["at"]
        if session().drags.is_held:
            note_lag()
        tour.window().event_simulate(type=kind, value=value, x=x + by[0], y=y + by[1])
        seen["moved"] = time.perf_counter(), session().drags.held

    return step


def draws():
    """A picture is drawn: of a frame in which the hand was where the mouse had moved it?"""
    mode = live_mode.mode
    if mode is None or mode.session.drags.held is None or "moved" not in seen or mode.view._on_card[0] is None:
        return
    moved, before = seen["moved"]
    shown = mode.session.picture(scene().frame_current)
    dragged = mode.session.drags.frames.get(shown.frame)
    if before is not None and dragged is not None and dragged.end != before.end and "drawn" not in seen:
        seen["drawn"] = time.perf_counter() - moved


def note_lag():
    if "drawn" in seen:
        lags.append(seen.pop("drawn"))


def begin_count():
    mode = live_mode.mode
    seen["count"] = time.perf_counter(), mode.view.drawings, scene().frame_current


def end_count(name):
    def step():
        begun, drawings, frame = seen.pop("count")
        passed = time.perf_counter() - begun
        seen[name] = (live_mode.mode.view.drawings - drawings) / passed
        seen[f"{name}_frames"] = (scene().frame_current - frame) / passed

    return step


def note(name):
    def step():
        drags = session().drags
        seen[name] = {
            "held": drags.is_held,
            "frames": len(drags.frames),
            "frame": scene().frame_current,
            "place": place().tolist(),
            "selected": [ob.name for ob in bpy.data.objects if ob.select_get()],
        }

    return step


def note_motion(name):
    def step():
        seen[name] = float(np.abs(session()._run.memory.trajectory.position).sum())

    return step


def filmed():
    """Wait for the next picture of the view, and take it."""
    mode = live_mode.mode
    if mode.view.drawings == seen.setdefault("filmed", mode.view.drawings):
        return True
    del seen["filmed"]
    area = tour.area("VIEW_3D")
    top = tour.window().height - area.y - area.height
    # without the bar above and the sidebar
    width, height = int(0.737 * area.width), area.height - 60
    crop = f"{width}x{height}+{area.x + 60}+{top + 60}"
    film.append(FOLDER / f"film-{len(film):03}.png")
    words = ["import", "-window", "root", "-crop", crop, "+repage", "-resize", str(WIDTH), film[-1]]
    subprocess.run(words, check=True)
    return False


def make_film():
    words = ["convert", "-delay", str(DELAY), "-loop", "0", *film, "-quality", "75", FOLDER / "live-drag.webp"]
    subprocess.run(words, check=True)
    for path in film:
        path.unlink()


def stop_playing():
    if tour.window().screen.is_animation_playing:
        with tour.in_view():
            bpy.ops.screen.animation_cancel(restore_frame=False)


def press_escape():
    tour.press("ESC", *seen["at"])


def keep():
    with tour.in_view():
        bpy.ops.cairn.live_keep("INVOKE_DEFAULT")


def note_kept():
    seen["kept"] = scene().cairn.is_baked
    seen["keys_after"] = keys()
    run = seen.pop("run")
    scene().frame_set(60)
    row = run.export.model.names.index(NAME)
    moved = np.array(bpy.data.objects[NAME].location) - run.trajectory.position[59, row]
    seen["kept_differs_by"] = float(np.abs(moved).max())
    seen.pop("moved")


def hold_run():
    seen["run"] = session()._run


def drag(wait, end):
    """Press on the box, and pull it up and to the right; ``end`` is how."""
    steps = [move(), tour.pause(0.5), move(kind="LEFTMOUSE", value="PRESS"), tour.pause(0.3)]
    steps += [part for share in range(1, 13) for part in (move((10 * share, 9 * share)), wait)]
    return [*steps, *end]


bpy.types.SpaceView3D.draw_handler_add(draws, (), "WINDOW", "POST_PIXEL")
steps = [
    build,
    show_tab,
    tour.drawn,
    begin,
    tour.until(all_is_simulated),
    stop_playing,
    go_to(20),
    tour.pause(),
    find_box,
]
steps += [note_motion("undragged"), note("before")]
# a click selects, as always
steps += [move(), tour.pause(0.5), move(kind="LEFTMOUSE", value="PRESS"), move(kind="LEFTMOUSE", value="RELEASE")]
steps += [tour.pause(), note("clicked")]
away = [part for share in range(1, 9) for part in (move((120 - 45 * share, 108 - 3 * share)), filmed)]
steps += drag(filmed, [note("dragged"), tour.picture_here("dragging")[1], begin_count, *away, end_count("pictures")])
steps += [move((-240, 84), "LEFTMOUSE", "RELEASE"), *[filmed] * 12, note("let_go"), make_film]
steps += [tour.until(all_is_simulated)]
steps += [note_motion("after_drag"), stop_playing, go_to(20), tour.pause(), find_box]
again = [note("dragged_again"), move((120, 108), "ESC", "PRESS"), move((120, 108), "ESC", "RELEASE")]
steps += drag(tour.pause(0.3), again)
steps += [tour.pause(1.0), move((120, 108), "LEFTMOUSE", "RELEASE"), note("taken_back"), tour.until(all_is_simulated)]
steps += [note_motion("after_taking_back"), hold_run, keep, tour.until(tour.nothing_runs), tour.pause(), note_kept]
steps += [lambda: seen.update(lags=sorted(lags))]
tour.play(steps, seen)
