"""In a window: the bake of thousands of boxes is deleted; a picture of that, ESC meanwhile, and one undo.

The picture goes to the folder after ``--``.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))
import tour
from tour import in_view, nothing_runs, part_of_cairn, pause, picture_here, play, press, seen, until

COUNT, FRAMES = 2000, 3
# A deletion takes a second or two, of which none is to be missed [s].
tour.INTERVAL = 0.02
bpy.context.preferences.view.show_splash = False


def make():
    """Boxes in the air, in rows, over no floor: nothing touches."""
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
    # where software draws, the bake takes as long as a drawing for itself: it would be over in one go
    space.show_object_viewport_mesh = False


def bake():
    with in_view():
        assert bpy.ops.cairn.bake("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def facts():
    scene = bpy.context.scene
    return {
        "baked": scene.cairn.is_baked,
        "world": scene.rigidbody_world.enabled,
        "carrying": sum(ob.cairn.is_baked for ob in scene.objects),
        "actions": len(bpy.data.actions),
        "hidden": "hidden" in scene.cairn.report,
    }


def note(name):
    def step():
        seen[name] = facts()

    return step


def delete():
    with in_view():
        seen["started"] = list(bpy.ops.cairn.delete_bake("INVOKE_DEFAULT", True))


def is_seen_in_its_middle():
    """Look at once: the next tick may be its last."""
    running = part_of_cairn("operators").running
    assert running is not None, "the deletion has ended before it was seen"
    if not running["text"].startswith("Deleting the bake, ") or not 0.0 < running["factor"] < 1.0:
        return False
    seen["middle"], seen["hint"] = facts(), running["hint"]
    with in_view():
        seen["stop_can_be_pressed"] = bpy.ops.cairn.stop.poll()
    picture_here("deleting")[1]()
    press("ESC")
    return True


def undo():
    with in_view():
        bpy.ops.ed.undo()


steps = [make, pause(), tour.choose_tab, pause(), bake, until(nothing_runs), note("before")]
steps += [delete, until(is_seen_in_its_middle), until(nothing_runs), note("deleted")]
steps += [undo, note("undone")]
play(steps)
