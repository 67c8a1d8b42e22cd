"""In a window: *Live* of 300 bodies, changed in the middle, undone, saved, ended by ESC, and kept.

The folder for pictures and a file stands after ``--``. Tells how long it takes from a change to the first picture and
from ESC to its end, and how many pictures a second there are.
"""

import subprocess
import sys
import time
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tour

FOLDER = Path(sys.argv[sys.argv.index("--") + 1])
BODIES, FRAMES = 300, 120
live_mode, operators = tour.part_of_cairn("live_mode"), tour.part_of_cairn("operators")
watch = tour.part_of_cairn("watch")
seen = {"handlers_before": None}
HANDLERS = ("depsgraph_update_post", "undo_post", "redo_post", "load_pre")
bpy.context.preferences.view.show_splash = False
bpy.context.preferences.view.show_playback_fps = False  # red here, where software draws


def scene():
    return tour.window().scene


def handlers():
    """How many of Live's handlers there are, with its keys and its timer."""
    own = {handler for _, handler in live_mode.HANDLERS}
    there = [one for name in HANDLERS for one in getattr(bpy.app.handlers, name) if one in own]
    items = bpy.context.window_manager.keyconfigs.addon.keymaps.get("Window")
    keys = [item for item in (items.keymap_items if items else ()) if item.idname == "cairn.live"]
    return len(there), len(keys), bpy.app.timers.is_registered(live_mode._tick)


def build():
    """Boxes in the air above a floor, and a keyed one that sweeps through them from frame 80 on."""
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
            return ob

        bpy.data.objects.remove(cube)
        body("Floor", "PASSIVE", (0, 0, -0.5), (60, 60, 1))
        for number in range(BODIES):
            layer, place = divmod(number, 100)
            row, column = divmod(place, 10)
            x, y = 1.3 * (column - 4.5) + 0.3 * layer, 1.3 * (row - 4.5) + 0.2 * layer
            body(f"Box.{number:03}", "ACTIVE", (x, y, 1.0 + 1.4 * layer))
        sweeper = body("Sweeper", "PASSIVE", (-12, 0, 1), (1, 12, 2))
        sweeper.rigid_body.kinematic = True
        for frame, x in ((1, -12), (80, -12), (110, 0)):
            sweeper.location.x = x
            sweeper.keyframe_insert("location", frame=frame)
    world.point_cache.frame_end = scene().frame_end = FRAMES
    scene().cairn.use_checkpoints = False
    scene().frame_set(1)
    space = tour.area("VIEW_3D").spaces.active
    space.region_3d.view_distance = 35
    space.show_region_ui = True
    bpy.ops.ed.undo_push(message="Built")
    seen["handlers_before"] = handlers()


def show_tab():
    """Cairn's tab, with the panel open and those above it closed."""
    panels, live_panel = tour.part_of_cairn("panels"), tour.part_of_cairn("live_panel")
    for cls, options in (
        (live_panel.VIEW3D_PT_cairn_live, set()),
        (live_panel.VIEW3D_PT_cairn_live_dragging, {"DEFAULT_CLOSED"}),
        (panels.VIEW3D_PT_cairn_check, {"DEFAULT_CLOSED"}),
    ):
        bpy.utils.unregister_class(cls)
        cls.bl_options = options
        bpy.utils.register_class(cls)
    tour.choose_tab()


def press_button():
    seen["pressed"] = time.perf_counter()
    with tour.in_view():
        bpy.ops.cairn.live("INVOKE_DEFAULT")
    seen["handlers_on"] = handlers()
    seen["plays"] = tour.window().screen.is_animation_playing


def first_picture(run, name, since):
    """A step that waits for the first picture of a run, and notes how long it took since something."""

    def is_there():
        if run in live_mode.mode.view.first_drawn:
            seen[name] = live_mode.mode.view.first_drawn[run] - seen.pop(since)
            return True
        return False

    return tour.until(is_there)


def all_is_simulated():
    assert live_mode.mode is not None, "it has ended by itself"
    error = live_mode.mode.session.error
    assert error is None, error
    if not live_mode.mode.session.is_done or live_mode.mode.session.frames[1] < FRAMES:
        return False
    seen.setdefault("seconds_to_simulate", time.perf_counter())
    return True


def picture():
    """The guide's picture of the window."""
    words = ["import", "-window", "root", "-resize", "1100", "-quality", "80"]
    subprocess.run([*words, FOLDER / "live-plays.webp"], check=True)


def begin_count(name):
    def step():
        mode = live_mode.mode
        seen[name] = [time.perf_counter(), mode.view.drawings, mode.session.runs, scene().frame_current]

    return step


def end_count(name):
    def step():
        mode, (begun, drawings, runs, frame) = live_mode.mode, seen[name]
        passed = time.perf_counter() - begun
        seen[name] = {
            "pictures a second": (mode.view.drawings - drawings) / passed,
            "runs": mode.session.runs - runs,
            "frames shown": [frame, scene().frame_current],
        }

    return step


def change_friction():
    bpy.data.objects["Box.007"].rigid_body.friction = 0.1
    scene().update_tag()
    seen["changed"] = time.perf_counter()


def change_last_key():
    ob = bpy.data.objects["Sweeper"]
    for layer in ob.animation_data.action.layers:
        for strip in layer.strips:
            curve = next(curve for curve in strip.channelbag(ob.animation_data.action_slot).fcurves)
            curve.keyframe_points[-1].co[1] = -4.0
            curve.update()
    ob.animation_data.action.update_tag()
    seen["key_changed"] = time.perf_counter()


def note_restart():
    run = live_mode.mode.session._run
    seen["begun_again_from"] = run.kept[1] + 1 if run.kept else run.export.frame_start + 1


def pause_playing():
    with tour.in_view():
        bpy.ops.screen.animation_cancel(restore_frame=False)


def move_and_undo():
    """A step of Undo while it is on."""
    with tour.in_view():
        seen["place_before"] = bpy.data.objects["Box.299"].location.x
        bpy.data.objects["Box.299"].location.x += 3.0
        bpy.ops.ed.undo_push(message="Moved")


def undo():
    with tour.in_view():
        bpy.ops.ed.undo()


def note_after_undo():
    seen["after_undo"] = [bpy.data.objects["Box.299"].location.x, live_mode.mode is not None, len(bpy.data.scenes)]


def save_copy():
    path = FOLDER / "while_live.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    with bpy.data.libraries.load(str(path)) as (there, _):
        seen["saved"] = [len(there.scenes), len(there.objects), len(there.actions)]


def press_escape():
    tour.press("ESC")
    seen["escaped"] = time.perf_counter()


def has_ended():
    if live_mode.mode is not None:
        return False
    seen["seconds_from_escape"] = time.perf_counter() - seen.pop("escaped")
    seen["handlers_after"] = handlers()
    seen["plays_after"] = tour.window().screen.is_animation_playing
    seen["frame_after"] = scene().frame_current
    return True


def keep():
    with tour.in_view():
        bpy.ops.cairn.live_keep("INVOKE_DEFAULT")


def bake():
    with tour.in_view():
        bpy.ops.cairn.bake("INVOKE_DEFAULT")


def note_keys(name):
    def step():
        import hashlib

        import numpy as np

        digest = hashlib.sha256()
        for ob in sorted(scene().objects, key=lambda ob: ob.name):
            if ob.animation_data and ob.animation_data.action:
                for layer in ob.animation_data.action.layers:
                    for strip in layer.strips:
                        for curve in strip.channelbag(ob.animation_data.action_slot).fcurves:
                            points = np.empty(2 * len(curve.keyframe_points), np.float32)
                            curve.keyframe_points.foreach_get("co", points)
                            digest.update(f"{ob.name} {curve.data_path} {curve.array_index}".encode())
                            digest.update(points.tobytes())
        seen[name] = digest.hexdigest()
        seen[f"{name}_summary"] = scene().cairn.summary

    return step


def delete_scene():
    """Another scene in the window, and the one that is simulated is deleted."""
    simulated = scene()
    tour.window().scene = bpy.data.scenes.new("Empty")
    bpy.data.scenes.remove(simulated)


tour.play(
    [
        build,
        show_tab,
        tour.drawn,
        press_button,
        first_picture(1, "seconds_to_first_picture", "pressed"),
        tour.until(all_is_simulated),
        begin_count("playing"),
        tour.pause(6.0),
        end_count("playing"),
        tour.drawn,
        picture,
        change_friction,
        first_picture(2, "seconds_from_change", "changed"),
        tour.until(all_is_simulated),
        pause_playing,
        begin_count("standing"),
        tour.pause(3.0),
        end_count("standing"),
        change_last_key,
        first_picture(3, "seconds_from_key", "key_changed"),
        tour.until(all_is_simulated),
        note_restart,
        move_and_undo,
        tour.pause(1.5),
        undo,
        tour.pause(1.0),
        tour.until(all_is_simulated),
        note_after_undo,
        save_copy,
        press_escape,
        tour.until(has_ended),
        press_button,
        tour.pause(1.0),
        keep,
        tour.until(tour.nothing_runs),
        note_keys("kept"),
        bake,
        tour.until(tour.nothing_runs),
        note_keys("baked"),
        press_button,
        tour.pause(3.0),
        delete_scene,
        tour.pause(1.0),
        lambda: seen.update(after_deletion=[live_mode.mode is None, handlers()]),
    ],
    told=seen,
)
