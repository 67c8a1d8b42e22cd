"""In a window with two thousand baked boxes: how long until an edit turns the button red, and until ESC is heard.

Software draws such a window in a second, several times after each change. So what Cairn takes is told by itself, and
beside it how long the window waited for one drawing.
"""

import re
import sys
import time
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))
import tour
from tour import in_view, nothing_runs, part_of_cairn, pause, play, press, seen, status, until

COUNT, FRAMES = 2000, 3
tour.INTERVAL = 0.02
bpy.context.preferences.view.show_splash = False
beats = {"last": time.perf_counter(), "longest": 0.0}
look = {"steps": [], "edited": 0.0}


def beat():
    """A timer that always goes on: what lies between two beats is drawing, or a step of Cairn."""
    now = time.perf_counter()
    beats["longest"], beats["last"] = max(beats["longest"], now - beats["last"]), now
    return 0.01


def make():
    scene = bpy.context.scene
    mesh = bpy.data.objects["Cube"].data
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    bpy.ops.rigidbody.world_add()
    world = scene.rigidbody_world
    world.collection = bpy.data.collections.new("RigidBodyWorld")
    world.point_cache.frame_end = FRAMES
    for index in range(COUNT):
        box = bpy.data.objects.new(f"Box{index}", mesh)
        box.location = (5.0 * (index % 60), 5.0 * (index // 60), 5.0)
        scene.collection.objects.link(box)
        world.collection.objects.link(box)
        box.rigid_body.collision_shape = "BOX"
    space = tour.area("VIEW_3D").spaces.active
    space.show_region_ui = True
    space.show_object_viewport_mesh = False
    bpy.app.timers.register(beat)


def time_looks():
    """Note the processor time of each step in which the panel looks for what has changed."""
    watch = part_of_cairn("watch")
    steps_of = watch.look_steps

    def timed(*arguments):
        steps = steps_of(*arguments)
        while True:
            start = time.thread_time()
            try:
                next(steps)
            except StopIteration:
                return
            finally:
                look["steps"].append(time.thread_time() - start)
            yield

    watch.look_steps = timed


def start_bake():
    with in_view():
        assert bpy.ops.cairn.bake("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def edit(change):
    def step():
        look["steps"].clear()
        beats["longest"] = 0.0
        change()
        look["edited"] = time.perf_counter()

    return step


def is_red():
    return bool(status().get("outdated"))


def note(name):
    def step():
        seen[name] = {
            "says": status()["outdated"],
            "after": time.perf_counter() - look["edited"],
            "ours": sum(look["steps"]),
            "longest_step": max(look["steps"]),
            "longest_wait": beats["longest"],
        }

    return step


def change_mass():
    bpy.data.objects["Box7"].rigid_body.mass += 1.0


def change_all():
    for index in range(COUNT):
        bpy.data.objects[f"Box{index}"].rigid_body.friction = 0.25


def lengthen():
    bpy.context.scene.rigidbody_world.point_cache.frame_end = 4000


def has_frames():
    running = part_of_cairn("operators").running
    assert running is not None, "the bake has ended by itself"
    found = re.match(r"Frame (\d+)", running["text"])
    return bool(found) and int(found[1]) > 5


def escape():
    seen["longest_before_escape"], beats["longest"] = beats["longest"], 0.0
    press("ESC")
    look["edited"] = time.perf_counter()


def is_heard():
    return part_of_cairn("operators").running["text"].startswith("Stopping")


def note_heard():
    seen["heard"] = time.perf_counter() - look["edited"]


def note_stopped():
    facts = bpy.context.scene.cairn
    seen["stopped"] = facts.is_baked, facts.baked_end, facts.summary


steps = [make, time_looks, pause(), tour.choose_tab, pause(), start_bake, until(nothing_runs), pause(12.0)]
steps += [edit(change_mass), until(is_red), note("one"), pause(6.0)]
steps += [edit(change_all), pause(12.0), note("all")]
steps += [
    lengthen,
    start_bake,
    until(has_frames),
    escape,
    until(is_heard),
    note_heard,
    until(nothing_runs),
    note_stopped,
]
play(steps)
