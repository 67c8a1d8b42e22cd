"""In a window: the arrow of *Initial Motion* is pulled at its tip; one undo takes it back.

The picture goes to the folder after ``--``.
"""

import sys
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).parent))
import tour
from tour import in_view, pause, picture_here, play, seen

# The arrow ends where the body comes to in this time [s].
SECONDS_SHOWN = 0.25
bpy.context.preferences.view.show_splash = False


def make():
    with in_view():
        bpy.ops.rigidbody.object_add(type="ACTIVE")
    bpy.context.object.cairn.start_velocity = (4.0, 0.0, 8.0)
    with in_view():
        bpy.ops.ed.undo_push(message="Set")


def tip():
    """Where the arrow's tip is in the window [pixels]."""
    from bpy_extras.view3d_utils import location_3d_to_region_2d

    region, ob = tour.region("WINDOW"), bpy.context.object
    place = ob.matrix_world.translation + Vector(ob.cairn.start_velocity) * SECONDS_SHOWN
    space = tour.area("VIEW_3D").spaces.active
    at = location_3d_to_region_2d(region, space.region_3d, place)
    return int(region.x + at.x), int(region.y + at.y)


def move(by=(0, 0), value="NOTHING", kind="MOUSEMOVE"):
    x, y = seen["tip"]
    tour.window().event_simulate(type=kind, value=value, x=x + by[0], y=y + by[1])


def find_tip():
    seen["tip"] = tip()
    note("before")()


def note(name):
    def step():
        seen[f"tip_{name}"] = tip()
        seen[name] = list(bpy.data.objects["Cube"].cairn.start_velocity)

    return step


def undo():
    with in_view():
        bpy.ops.ed.undo()


steps = [make, pause(), find_tip]
# over the tip, which is heard of in the next moment; press, pull up and to the right in some moves, let go
steps += [lambda: move((-40, -40)), pause(0.5), move, pause(0.5), lambda: move((1, 1)), pause(0.5)]
steps += [lambda: move((1, 1), "PRESS", "LEFTMOUSE"), pause(0.5)]
for share in range(1, 9):
    steps += [lambda share=share: move((10 * share, 8 * share)), pause(0.3)]
steps += [note("pulled"), picture_here("arrow")[1], lambda: move((80, 64), "RELEASE", "LEFTMOUSE"), pause(2.0)]
steps += [note("let_go"), undo, pause(0.5), note("undone")]
play(steps)
