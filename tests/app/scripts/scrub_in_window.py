"""In a window: a bake during which the timeline is moved by the mouse and by keys, and its view follows.

The folder for pictures stands after ``--``.
"""

import importlib
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tour

FRAMES = 2000  # it is stopped
operators = tour.part_of_cairn("operators")
bake_view = importlib.import_module(f"{operators.__package__.rpartition('.')[0]}.sight.bake_view")
seen, views = {}, []
bpy.context.preferences.view.show_splash = False


class NotedView(bake_view.BakeView):
    """Tells the script that it is there."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        views.append(self)


bake_view.BakeView = NotedView


def scene():
    return tour.window().scene


def build():
    """Boxes that fall on each other, enough of them for a bake of many seconds."""
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    with tour.in_view():
        bpy.ops.rigidbody.world_add()
        world = scene().rigidbody_world
        world.collection = bpy.data.collections.new("Bodies")
        bpy.ops.mesh.primitive_cube_add(size=1.0)
        cube = bpy.context.object
        mesh = cube.data
        bpy.data.objects.remove(cube)
        for number in range(251):
            ob = bpy.data.objects.new("Floor" if number == 0 else f"Box.{number:03}", mesh)
            layer, place = divmod(number - 1, 25)
            row, column = divmod(place, 5)
            ob.location = (1.3 * column + 0.3 * layer, 1.3 * row + 0.2 * layer, 1.0 + 1.4 * layer)
            if number == 0:
                ob.location, ob.scale = (3, 3, -0.5), (40, 40, 1)
            scene().collection.objects.link(ob)
            world.collection.objects.link(ob)
            ob.rigid_body.type, ob.rigid_body.collision_shape = ("PASSIVE" if number == 0 else "ACTIVE"), "BOX"
    world.point_cache.frame_end = scene().frame_end = FRAMES
    scene().cairn.use_checkpoints = False
    scene().frame_set(1)
    with bpy.context.temp_override(
        window=tour.window(), area=tour.area("DOPESHEET_EDITOR"), region=tour.region("WINDOW", "DOPESHEET_EDITOR")
    ):
        bpy.ops.action.view_all()
    space = tour.area("VIEW_3D").spaces.active
    space.region_3d.view_distance, space.region_3d.view_location = 26, (4, 4, 4)


def bake():
    with tour.in_view():
        bpy.ops.cairn.bake("INVOKE_DEFAULT")


def simulated(frames):
    def are_there():
        assert operators.running is not None, "the bake has ended by itself"
        return bool(views) and views[0]._frame >= frames and views[0]._on_card[0] is not None

    return tour.until(are_there)


def press_time(frame):
    """Click on the timeline at a frame, in the strip along its top."""

    def step():
        region = tour.region("WINDOW", "DOPESHEET_EDITOR")
        x = region.x + region.view2d.view_to_region(frame, 0, clip=False)[0]
        tour.press("LEFTMOUSE", x, region.y + region.height - 8)

    return step


def press_arrow():
    region = tour.region("WINDOW")
    tour.press("RIGHT_ARROW", region.x + region.width // 3, region.y + region.height // 2)


def note(name):
    def step():
        view = views[0]
        seen[name] = [scene().frame_current, view.shown()[0], view._on_card[0], view._frame, view.text()]

    return step


def stop():
    tour.press("ESC")


def note_end():
    facts = scene().cairn
    seen["end"] = [facts.is_baked, facts.baked_end > 40, scene().frame_current]


steps = [build, tour.drawn, bake, simulated(45), note("newest"), press_time(20), tour.pause(4.0), note("clicked")]
steps += [tour.picture_here("scrubbed")[1], press_arrow, tour.pause(4.0), note("arrow"), press_time(1900)]
steps += [tour.pause(4.0)]
steps += [note("beyond"), stop, tour.until(tour.nothing_runs), tour.pause(), note_end]
tour.play(steps, seen)
