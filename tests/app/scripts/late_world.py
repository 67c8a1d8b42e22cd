"""In a window: a bake is deleted, undone and reopened at late frames; bodies stand, and are moved, from their start.

Pictures go to the folder after ``--``.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))
from tour import in_view, nothing_runs, pause, picture_here, play, seen, until

FOLDER = Path(sys.argv[sys.argv.index("--") + 1])


def facts():
    scene = bpy.context.scene
    return {
        "frame": scene.frame_current,
        "world": scene.rigidbody_world.enabled,
        "waits": scene.cairn.world_waits,
        "baked": scene.cairn.is_baked,
        "shown": {ob.name: [round(value, 4) for value in ob.matrix_world.translation] for ob in bodies()},
        "place": {ob.name: [round(value, 4) for value in ob.location] for ob in bodies()},
    }


def bodies():
    return [ob for ob in bpy.context.scene.rigidbody_world.collection.objects if ob.rigid_body.type == "ACTIVE"][:3]


def note(name):
    def step():
        seen[name] = facts()

    return step


def add():
    with in_view():
        bpy.ops.cairn.add_demo(demo="wall")


def bake():
    bpy.context.scene.rigidbody_world.point_cache.frame_end = 30
    with in_view():
        assert bpy.ops.cairn.bake("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def go_to(frame):
    def step():
        bpy.context.scene.frame_set(frame)

    return step


def delete():
    with in_view():
        bpy.ops.cairn.delete_bake("EXEC_DEFAULT", True)


def move(x):
    """As with the key G."""

    def step():
        for ob in bpy.context.view_layer.objects:
            ob.select_set(ob == bodies()[0])
        bpy.context.view_layer.objects.active = bodies()[0]
        with in_view():
            bpy.ops.transform.translate("EXEC_DEFAULT", True, value=(x, 0, 0))

    return step


def undo():
    with in_view():
        bpy.ops.ed.undo()


def redo():
    with in_view():
        bpy.ops.ed.redo()


def save_and_reopen():
    path = str(FOLDER / "late.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)


def switch_on():
    bpy.context.scene.rigidbody_world.enabled = True


BAKE = (bake, until(nothing_runs))
play(
    [
        *(add, pause(), note("start"), *BAKE, go_to(20), delete, pause(), note("deleted"), *picture_here("late-world")),
        *(move(0.5), pause(), move(0.5), pause(), note("moved")),
        *(undo, pause(), undo, pause(), note("unmoved"), undo, pause(), redo, pause(), note("deleted_again")),
        *(go_to(1), pause(), note("at_start"), go_to(20), pause(), note("jumped")),
        *(move(0.5), pause(), note("moved_late"), undo, pause(), go_to(1), pause()),
        *(*BAKE, go_to(20), delete, pause(), save_and_reopen, pause(), note("reopened")),
        *(switch_on, pause(), note("switched_on")),
    ]
)
